//! Responses of identity providers: accepted ones, and the rejection reasons of others.

mod attacks;
mod hostile;
mod idp;
mod messages;
mod taken;
mod untrue;
mod wrapped;
