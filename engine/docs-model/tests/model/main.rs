//! Tests of resources, requests, ids and limits through the public API.

mod addresses;
mod documents;
mod names;
mod ranks;
#[cfg(feature = "schema")]
mod schemas;
mod values;
