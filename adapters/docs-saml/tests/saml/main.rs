//! Identity provider responses: accepted ones, and the reasons for rejecting others.

mod attacks;
mod hostile;
mod idp;
mod messages;
mod taken;
mod untrue;
mod wrapped;
