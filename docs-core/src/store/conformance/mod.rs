//! The conformance suite every store runs.
