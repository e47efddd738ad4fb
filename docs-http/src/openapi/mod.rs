//! The decorator of the API and the OpenAPI document that describes the API.

mod document;
mod finish;
pub(crate) mod made;
mod operation;
mod operation_layer;

pub use document::{Problems, problems};
pub use finish::finished;
pub(crate) use operation::{known_methods, panicked};
pub use operation_layer::OperationLayer;
