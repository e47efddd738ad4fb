//! A documentation platform as a library.

pub mod content;
pub mod model;
pub mod ports;
pub mod store;
