//! HTTP representation of requests and responses: bodies, parameters, ignored input, errors, and schemas.

pub mod budget;
pub(crate) mod cacheable;
pub(crate) mod chunks;
pub mod error;
mod fault;
mod form;
pub(crate) mod ignored;
mod media_type;
pub mod params;
pub mod payload;
pub mod reply;
pub(crate) mod rison;
pub mod schema;
mod shares;
pub(crate) mod upload;
