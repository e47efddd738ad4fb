//! Platform operation: construction, first start, maintenance, metrics and limits.

pub(super) mod audit;
pub(super) mod audit_events;
pub(super) mod authenticate;
pub(super) mod builder;
pub(super) mod cache_budget;
pub(super) mod collect;
pub(super) mod git_installations;
pub(super) mod health;
pub(super) mod integrations;
pub(super) mod kinds;
pub(super) mod layout;
pub(super) mod limits;
pub(super) mod measure;
pub(super) mod purge;
pub(super) mod rights;
pub(super) mod setup;
pub(super) mod site_findings;
pub(super) mod site_templates;
pub(super) mod tidy;
pub(super) mod turns;
pub(super) mod worker;
