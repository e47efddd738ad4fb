//! What the outside does for the platform. Nothing above this module asks the machine for the time or for chance.

mod clock;
mod git;
mod ids;
mod pdf;
mod secrets;
mod web;

pub use clock::{Clock, SystemClock};
pub use git::*;
pub use ids::{Ids, RandomIds, id_text, new_id};
pub use pdf::*;
pub use secrets::{NotSealed, SealingKey, Secrets};
pub use web::{Fetched, Web, WebError};
