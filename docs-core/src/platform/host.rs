//! The operation of a platform: construction, first start, maintenance, measurements and limits.

pub(super) mod audit;
pub(super) mod builder;
pub(super) mod collect;
pub(super) mod layout;
pub(super) mod limits;
pub(super) mod purge;
pub(super) mod setup;
pub(super) mod tidy;
pub(super) mod turns;
