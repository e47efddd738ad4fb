//! The operations of the platform.
