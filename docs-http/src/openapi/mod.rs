//! The decorator of the API and the OpenAPI document that describes the API.

mod about;
mod document;
mod finish;
pub(crate) mod made;
mod operation;
mod operation_layer;
mod problems;

pub use about::About;
pub use finish::finished;
pub(crate) use operation::{known_methods, panicked};
pub use operation_layer::OperationLayer;
pub use problems::{Problems, problems};
