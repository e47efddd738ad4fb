//! Filtering of the capabilities that a server offers to libgit2.

use bytes::{Bytes, BytesMut};

/// The capability hidden from libgit2: thin packs, which omit the bases of deltas. Deltas with a base given by id are
/// rejected, see [`Scan`](super::Scan).
const THIN: &[u8] = b"thin-pack";
/// A meaningless replacement of the same length.
const NOTHING: &[u8] = b"thin-none";

/// Maximum size of the capabilities in bytes.
const MAX_OFFER: usize = 64 * 1024;

/// The state of a ref advertisement while it arrives. The capabilities are in the first line, after the ref.
pub(crate) enum Offer {
    Before,
    In(BytesMut),
    Over,
}

impl Offer {
    pub(crate) const fn new() -> Self {
        Self::Before
    }

    /// Returns the bytes to pass to libgit2. The capabilities are held back until they are complete.
    pub(crate) fn pass(&mut self, mut piece: Bytes) -> Bytes {
        let held = match self {
            Self::Over => return piece,
            Self::In(held) => {
                held.extend_from_slice(&piece);
                held
            }
            Self::Before => {
                let Some(start) = piece.iter().position(|byte| *byte == 0) else { return piece };
                let before = piece.split_to(start);
                let mut held = BytesMut::from(&before[..]);
                held.extend_from_slice(&piece);
                *self = Self::In(held);
                return self.pass(Bytes::new());
            }
        };
        let start = held.iter().position(|byte| *byte == 0).unwrap_or_default();
        let end = held.iter().skip(start).position(|byte| *byte == b'\n').map(|end| start + end);
        if end.is_none() && held.len() < MAX_OFFER {
            return Bytes::new();
        }
        let end = end.unwrap_or(held.len());
        for at in start..end.saturating_sub(THIN.len() - 1) {
            if let Some(word) = held.get_mut(at..at + THIN.len()).filter(|word| **word == *THIN) {
                word.copy_from_slice(NOTHING);
            }
        }
        let all = held.split().freeze();
        *self = Self::Over;
        all
    }

    /// Returns the bytes held back at the end of the stream.
    pub(crate) fn end(&mut self) -> Bytes {
        match std::mem::replace(self, Self::Over) {
            Self::In(held) => held.freeze(),
            Self::Before | Self::Over => Bytes::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thin_packs_are_not_offered_however_the_list_arrives() {
        let list = b"001e# service=git-upload-pack\n00000065aa refs/heads/thin-pack\0multi_ack thin-pack ofs-delta\n\
                     003dbb refs/heads/thin-pack\n0000";
        let expected =
            String::from_utf8_lossy(list).replacen("multi_ack thin-pack", "multi_ack thin-none", 1);
        for size in 1..list.len() + 1 {
            let mut offer = Offer::new();
            let mut passed: Vec<u8> = list
                .chunks(size)
                .flat_map(|piece| offer.pass(Bytes::copy_from_slice(piece)).to_vec())
                .collect();
            passed.extend_from_slice(&offer.end());
            assert_eq!(String::from_utf8_lossy(&passed), expected, "pieces of {size}");
        }
        let mut offer = Offer::new();
        assert_eq!(offer.pass(Bytes::from_static(b"x\0a thin-pack")), Bytes::new());
        assert_eq!(offer.end(), "x\0a thin-pack", "what has no end is libgit2's to refuse");
    }

    #[test]
    fn offers_beyond_the_bound_are_not_held_back() {
        let mut offer = Offer::new();
        let begin = Bytes::from(format!("\0{}", "x".repeat(MAX_OFFER - 2)));
        assert_eq!(offer.pass(begin), Bytes::new());
        assert_eq!(offer.pass(Bytes::from_static(b"x")).len(), MAX_OFFER);
        assert_eq!(offer.pass(Bytes::from_static(b"y")), "y");
    }
}
