//! Positions in the change feed of a store.

use std::sync::Arc;

/// A position in the feed of a topic. Its content is opaque to all but the store that created it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FeedPos(pub Arc<str>);
