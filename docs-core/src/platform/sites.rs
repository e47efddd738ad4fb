//! Site management: structure, settings and publishing.

pub(super) mod agent_feedback;
pub(super) mod events;
pub(super) mod manage;
mod reader;
pub(super) mod settings;
pub(super) mod site;
pub(super) mod structure;
pub(super) mod view;
