//! Resources, their requests, ids and limits, as whoever uses the crate has them.

mod addresses;
mod documents;
mod names;
mod ranks;
#[cfg(feature = "schema")]
mod schemas;
mod values;
