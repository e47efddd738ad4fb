//! Entries of the feed of heads for changes of specifications, whose generated pages the search index contains.

use crate::{
    model::OrgId,
    store::{KeyBuf, Tx, topic},
};

/// The first segment of the key of an entry. The second one is the organization.
pub(in crate::platform) const SPEC_FEED: &str = "spec";

/// Records that a specification of an organization has another version or visibility, or was deleted.
pub(super) fn feed_spec(tx: &mut Tx, org: &OrgId) {
    tx.feed(topic::HEAD, KeyBuf::new(SPEC_FEED).part(org.as_str()).key());
}
