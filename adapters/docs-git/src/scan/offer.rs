//! What a server offers before anything is sent: one thing of it is kept from libgit2.

use bytes::{Bytes, BytesMut};

/// What libgit2 must not ask for: packs that leave out what they differ from. Whatever is named by its id and not by
/// its place is refused, see [`Scan`](super::Scan).
const THIN: &[u8] = b"thin-pack";
/// A word of the same length that means nothing.
const NOTHING: &[u8] = b"thin-none";

/// Most bytes of an offer.
const MAX_OFFER: usize = 64 * 1024;

/// The list of refs while it arrives. What a server offers stands behind the first ref, up to the end of its line.
pub(crate) enum Offer {
    Before,
    In(BytesMut),
    Over,
}

impl Offer {
    pub(crate) const fn new() -> Self {
        Self::Before
    }

    /// What libgit2 gets of what has arrived. An offer is held back until its end is there.
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

    /// What was held back when nothing more arrives.
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
}
