//! Places in the change feed of a store.

use std::sync::Arc;

/// A position in the feed of a topic: opaque to everyone but the store that gave it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FeedPos(pub Arc<str>);
