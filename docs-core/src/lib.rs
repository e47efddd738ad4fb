//! A documentation platform as a library.

pub mod content;
mod error;
pub mod model;
pub mod platform;
pub mod policy;
pub mod ports;
pub mod store;

pub use error::{Error, ErrorKind, Result};
pub use platform::{Actor, Platform};
