//! What goes over the wire: request bodies, parameters, answers, errors, and the schemas that describe them.

pub mod budget;
pub mod error;
mod fault;
mod form;
pub(crate) mod kept;
pub mod params;
pub mod payload;
pub mod reply;
pub mod schema;
pub(crate) mod upload;
