//! Decorator for the API, and its OpenAPI document.

mod client_operations;
mod document;
pub(crate) mod document_cache;
mod finish;
mod info;
mod operation;
mod operation_layer;
mod problems;

pub use client_operations::{ClientOperation, client_operations};
pub use finish::finish_document;
pub use info::ApiInfo;
pub(crate) use operation::{known_methods, panic_error};
pub use operation_layer::OperationLayer;
pub use problems::{Problems, check_api};
