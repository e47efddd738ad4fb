//! Responses of identity providers: which are taken, and for what the others are refused.

mod attacks;
mod hostile;
mod idp;
mod messages;
mod taken;
mod untrue;
mod wrapped;
