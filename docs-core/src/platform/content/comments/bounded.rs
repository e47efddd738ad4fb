//! The bound of the texts of comments, replies and reviews in one response.

use std::sync::Arc;

use crate::{
    Result,
    store::{Indexed, Key, Tx, records::Post},
};

/// Maximum total size, in bytes, of the texts of the comments, replies or reviews in a list response. The response ends
/// before the item that exceeds it, and `next` continues with that item. The first item is always returned.
const MAX_LISTED_TEXT_BYTES: usize = 1024 * 1024;
/// Number of records that are read at a time.
const RECORD_BATCH: usize = 20;

/// Reads records, in order, until their texts exceed [`MAX_LISTED_TEXT_BYTES`]. Reads at least the first. The result
/// has an item per key: `None` for a missing record or without a key.
pub(in crate::platform) async fn read_bounded<R: Indexed>(
    tx: &Tx,
    keys: impl Iterator<Item = Option<Key>>,
    posted: impl Fn(&R) -> &Post,
) -> Result<Vec<Option<Arc<R>>>> {
    let keys: Vec<Option<Key>> = keys.collect();
    let (mut found, mut bytes) = (Vec::with_capacity(keys.len()), 0);
    for batch in keys.chunks(RECORD_BATCH) {
        let present: Vec<Key> = batch.iter().flatten().cloned().collect();
        let mut records = tx.get_many::<R>(&present).await?.into_iter();
        for key in batch {
            let record = key.as_ref().and_then(|_| records.next().flatten());
            bytes += record.as_ref().map_or(0, |record| posted(record).text.len());
            if bytes > MAX_LISTED_TEXT_BYTES && !found.is_empty() {
                return Ok(found);
            }
            found.push(record);
        }
    }
    Ok(found)
}
