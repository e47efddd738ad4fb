//! Encoding of posting lists: the pages that contain a word, with the positions of the word on each.
//!
//! A list is split into blocks, so that changing one page does not rewrite a long list. A block starts with the number
//! of its first page; further page numbers are delta-encoded.

use crate::failure::{Failure, IndexResult};

/// Maximum size of a block in bytes, unless a single page needs more. Rows of this size fit into SQLite's pages.
const BLOCK_BYTES: usize = 900;

/// A page in a posting list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Posting<'b> {
    pub(crate) page: u32,
    /// Encoded positions, see [`PositionEncoder`].
    pub(crate) places: &'b [u8],
}

/// A change to a page in a posting list: its new positions, or `None` to remove it.
pub(crate) type PostingChange = (u32, Option<Vec<u8>>);

/// Delta encoder for the positions of a word on a page.
#[derive(Default)]
pub(crate) struct PositionEncoder {
    bytes: Vec<u8>,
    last: u32,
}

impl PositionEncoder {
    /// Appends a position.
    pub(crate) fn push(&mut self, place: u32) {
        put_number(&mut self.bytes, place.saturating_sub(self.last));
        self.last = place;
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

impl Posting<'_> {
    /// Returns the number of positions.
    pub(crate) fn count(&self) -> u32 {
        // The last byte of a number has no continuation bit.
        u32::try_from(self.places.iter().filter(|byte| **byte < CONTINUATION_BIT).count()).unwrap_or(u32::MAX)
    }

    /// Decodes the positions into a buffer, whose content is replaced.
    pub(crate) fn read_places(&self, into: &mut Vec<u32>) -> IndexResult<()> {
        into.clear();
        let (mut left, mut last) = (self.places, 0_u32);
        while !left.is_empty() {
            last = last.checked_add(number(&mut left)?).ok_or_else(corrupt_block)?;
            into.push(last);
        }
        Ok(())
    }
}

/// Calls `each` for each page of a block, in order.
pub(crate) fn each_posting<'b>(
    mut block: &'b [u8],
    mut each: impl FnMut(Posting<'b>) -> IndexResult<()>,
) -> IndexResult<()> {
    let mut page = 0_u32;
    while !block.is_empty() {
        page = page.checked_add(number(&mut block)?).ok_or_else(corrupt_block)?;
        let length = number(&mut block)? as usize;
        let (places, rest) = block.split_at_checked(length).ok_or_else(corrupt_block)?;
        block = rest;
        each(Posting { page, places })?;
    }
    Ok(())
}

/// Applies changes to a block. Changes are in page order, and may remove pages that are not in the block. Returns the
/// resulting blocks with their first pages; none if no page remains.
pub(crate) fn apply_changes(block: &[u8], changes: &[PostingChange]) -> IndexResult<Vec<(u32, Vec<u8>)>> {
    let mut blocks = Blocks::default();
    let mut changes = changes.iter().peekable();
    each_posting(block, |posting| {
        while let Some((page, places)) = changes.next_if(|(page, _)| *page < posting.page) {
            blocks.put(*page, places.as_deref());
        }
        match changes.next_if(|(page, _)| *page == posting.page) {
            Some((page, places)) => blocks.put(*page, places.as_deref()),
            None => blocks.put(posting.page, Some(posting.places)),
        }
        Ok(())
    })?;
    for (page, places) in changes {
        blocks.put(*page, places.as_deref());
    }
    Ok(blocks.done)
}

/// Writes blocks.
#[derive(Default)]
struct Blocks {
    done: Vec<(u32, Vec<u8>)>,
    last: u32,
}

impl Blocks {
    fn put(&mut self, page: u32, places: Option<&[u8]>) {
        let Some(places) = places else { return };
        if self.done.last().is_none_or(|(_, block)| block.len() + places.len() >= BLOCK_BYTES) {
            self.done.push((page, Vec::new()));
            self.last = 0;
        }
        if let Some((_, block)) = self.done.last_mut() {
            put_number(block, page.saturating_sub(self.last));
            put_number(block, u32::try_from(places.len()).unwrap_or(u32::MAX));
            block.extend_from_slice(places);
        }
        self.last = page;
    }
}

/// Set in each byte of a number except the last one.
const CONTINUATION_BIT: u8 = 0x80;

/// Appends a number with seven bits per byte, least significant first.
fn put_number(out: &mut Vec<u8>, mut number: u32) {
    while number >= u32::from(CONTINUATION_BIT) {
        out.push(number as u8 | CONTINUATION_BIT);
        number >>= 7;
    }
    out.push(number as u8);
}

fn number(bytes: &mut &[u8]) -> IndexResult<u32> {
    let mut number = 0_u64;
    for shift in [0, 7, 14, 21, 28] {
        let (byte, rest) = bytes.split_first().ok_or_else(corrupt_block)?;
        *bytes = rest;
        number |= u64::from(byte & !CONTINUATION_BIT) << shift;
        if *byte < CONTINUATION_BIT {
            return u32::try_from(number).map_err(|_| corrupt_block());
        }
    }
    Err(corrupt_block())
}

fn corrupt_block() -> Failure {
    Failure::invalid_content("a postings list is malformed")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    type ExpectedList = BTreeMap<u32, Vec<u32>>;

    fn bytes(places: &[u32]) -> Vec<u8> {
        let mut all = PositionEncoder::default();
        places.iter().for_each(|place| all.push(*place));
        all.into_bytes()
    }

    fn read(block: &[u8]) -> IndexResult<ExpectedList> {
        let mut list = ExpectedList::new();
        each_posting(block, |posting| {
            let mut places = Vec::new();
            posting.read_places(&mut places)?;
            assert_eq!(posting.count() as usize, places.len());
            assert_eq!(list.insert(posting.page, places), None);
            Ok(())
        })?;
        Ok(list)
    }

    fn lists() -> impl Strategy<Value = ExpectedList> {
        let places = prop::collection::btree_set(0..100_000_u32, 1..40);
        let places = places.prop_map(|places| places.into_iter().collect());
        prop::collection::btree_map(prop_oneof![0..200_u32, any::<u32>()], places, 0..80)
    }

    proptest! {
        #[test]
        fn posting_list_changes_match_the_model(
            before in lists(),
            put in lists(),
            gone in prop::collection::btree_set(0..200_u32, 0..40),
        ) {
            let all: Vec<PostingChange> = before.iter().map(|(page, places)| (*page, Some(bytes(places)))).collect();
            let mut expected = before;
            let mut changes: BTreeMap<u32, Option<Vec<u8>>> = gone.iter().map(|page| (*page, None)).collect();
            expected.retain(|page, _| !gone.contains(page));
            changes.extend(put.iter().map(|(page, places)| (*page, Some(bytes(places)))));
            expected.extend(put);
            let changes: Vec<PostingChange> = changes.into_iter().collect();

            let mut found = ExpectedList::new();
            let old = apply_changes(&[], &all).expect("blocks");
            for (at, (first, block)) in old.iter().enumerate() {
                let end = old.get(at + 1).map_or(u64::from(u32::MAX) + 1, |(first, _)| u64::from(*first));
                let from = if at == 0 { 0 } else { *first };
                let ours = |page: u32| page >= from && u64::from(page) < end;
                let ours: Vec<PostingChange> = changes.iter().filter(|(page, _)| ours(*page)).cloned().collect();
                for (first, block) in apply_changes(block, &ours).expect("blocks") {
                    let block = read(&block).expect("a block");
                    prop_assert_eq!(block.keys().next(), Some(&first));
                    found.extend(block);
                }
            }
            if old.is_empty() {
                for (_, block) in apply_changes(&[], &changes).expect("blocks") {
                    found.extend(read(&block).expect("a block"));
                }
            }
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn arbitrary_bytes_decode_or_are_reported_as_damage(block in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Err(failure) = each_posting(&block, |posting| posting.read_places(&mut Vec::new())) {
                prop_assert!(failure.is_damage());
            }
        }
    }

    #[test]
    fn full_blocks_are_split_and_oversized_postings_accepted() {
        let long: Vec<u32> = (0..5_000).collect();
        let changes: Vec<PostingChange> =
            (0..1_000).map(|page| (page, Some(bytes(if page == 500 { &long } else { &[1, 2] })))).collect();
        let blocks = apply_changes(&[], &changes).expect("blocks");
        assert!(blocks.len() > 3, "{}", blocks.len());
        assert_eq!(blocks.iter().filter(|(_, block)| block.len() > BLOCK_BYTES + 12).count(), 1);
    }
}
