//! Filtering of the ref advertisement that libgit2 receives.
//!
//! libgit2 holds all advertised refs in memory. It receives only the line with the capabilities and the lines of the
//! wanted ref.

use bytes::{Bytes, BytesMut};
use docs_ports::GitError;
use git2::Oid;

use crate::{
    clone::CommitSelector,
    packet::{Packet, Packets, put_line},
};

/// The capability that is hidden from libgit2: thin packs, which omit the bases of deltas. Deltas with a base given by
/// id are rejected, see [`Scan`](super::Scan).
const THIN_PACK: &[u8] = b"thin-pack";
/// A meaningless replacement of the same length.
const MASKED_CAPABILITY: &[u8] = b"thin-none";

/// A ref advertisement while it arrives.
pub(crate) struct Offer {
    wanted: CommitSelector,
    packets: Packets,
    /// The kinds of lines forwarded so far. libgit2 needs one of each.
    passed: Vec<Kind>,
}

/// A kind of line that libgit2 needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// The name of the service, before the refs.
    Service,
    /// The reason for a rejection.
    Refusal,
    /// The first ref, with the capabilities.
    First,
    /// The wanted ref.
    Wanted,
    /// The peeled object of the wanted ref, if that points at an annotated tag.
    Peeled,
}

impl Offer {
    pub(crate) fn new(wanted: CommitSelector) -> Self {
        Self { wanted, packets: Packets::default(), passed: Vec::new() }
    }

    /// Returns the bytes to pass to libgit2.
    pub(crate) fn pass(&mut self, piece: &[u8]) -> Result<Bytes, GitError> {
        self.packets.add(piece);
        let mut passed = BytesMut::new();
        while let Some(packet) = self.packets.next()? {
            match packet {
                Packet::Flush => passed.extend_from_slice(b"0000"),
                Packet::Line(line) => self.line(&line, &mut passed),
            }
        }
        Ok(passed.freeze())
    }

    fn line(&mut self, line: &[u8], to: &mut BytesMut) {
        let Some(kind) = self.kind(line).filter(|kind| !self.passed.contains(kind)) else { return };
        self.passed.push(kind);
        let mut line = BytesMut::from(line);
        if kind == Kind::First
            && let Some(start) = line.iter().position(|byte| *byte == 0)
        {
            hide_thin(line.get_mut(start..).unwrap_or_default());
        }
        put_line(to, &line);
    }

    fn kind(&self, line: &[u8]) -> Option<Kind> {
        if line.starts_with(b"# service=") {
            return Some(Kind::Service);
        }
        if line.starts_with(b"ERR ") {
            return Some(Kind::Refusal);
        }
        if !self.passed.contains(&Kind::First) {
            return Some(Kind::First);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let (id, name) = line.split_at_checked(40)?;
        let name = name.strip_prefix(b" ")?;
        let peeled = name.strip_suffix(b"^{}");
        match &self.wanted {
            CommitSelector::Ref(reference) if name == reference.as_bytes() => Some(Kind::Wanted),
            CommitSelector::Ref(reference) if peeled == Some(reference.as_bytes()) => Some(Kind::Peeled),
            CommitSelector::Commit(wanted) if peeled.is_none() => {
                let id = std::str::from_utf8(id).ok().and_then(|id| Oid::from_str(id).ok());
                (id == Some(*wanted)).then_some(Kind::Wanted)
            }
            _ => None,
        }
    }
}

fn hide_thin(capabilities: &mut [u8]) {
    for at in 0..capabilities.len() {
        if let Some(word) = capabilities.get_mut(at..at + THIN_PACK.len()).filter(|word| **word == *THIN_PACK)
        {
            word.copy_from_slice(MASKED_CAPABILITY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{MAX_LINE, line};

    fn passed(wanted: &CommitSelector, list: &str, size: usize) -> Result<String, GitError> {
        let mut offer = Offer::new(wanted.clone());
        let mut passed = Vec::new();
        for piece in list.as_bytes().chunks(size) {
            passed.extend_from_slice(&offer.pass(piece)?);
        }
        Ok(String::from_utf8(passed).unwrap())
    }

    fn lines(lines: &[String]) -> String {
        let lines: String = lines.iter().map(|text| line(text)).collect();
        format!("{}0000{lines}0000", line("# service=git-upload-pack\n"))
    }

    fn oid(digit: &str) -> String {
        digit.repeat(40)
    }

    #[test]
    fn only_the_wanted_ref_is_passed_and_thin_packs_are_hidden() {
        let (a, b) = (oid("a"), oid("b"));
        let first = |thin| format!("{a} refs/heads/thin-pack\0multi_ack {thin} ofs-delta\n");
        let list = lines(&[
            first("thin-pack"),
            format!("{b} refs/heads/main2\n"),
            format!("{b} refs/heads/main\n"),
            format!("{a} refs/heads/main^{{}}\n"),
            format!("{a} refs/heads/main\n"),
            format!("{b} refs/heads/other\n"),
            format!("shallow {b}\n"),
        ]);
        let main = CommitSelector::Ref("refs/heads/main".to_owned());
        let main_lines = [format!("{b} refs/heads/main\n"), format!("{a} refs/heads/main^{{}}\n")];
        let commit = CommitSelector::Commit(Oid::from_str(&b).unwrap());
        let commit_lines = [format!("{b} refs/heads/main2\n")];
        for (wanted, rest) in [(main, &main_lines[..]), (commit, &commit_lines[..])] {
            let expected = lines(&[&[first("thin-none")], rest].concat());
            for size in 1..=list.len() {
                assert_eq!(passed(&wanted, &list, size), Ok(expected.clone()), "pieces of {size}");
            }
        }
    }

    #[test]
    fn unwanted_refs_take_no_memory() {
        let mut offer = Offer::new(CommitSelector::Ref("refs/heads/main".to_owned()));
        offer
            .pass(lines(&[format!("{} HEAD\0ofs-delta\n", oid("a"))]).trim_end_matches("0000").as_bytes())
            .unwrap();
        let piece: String = (0..1000).map(|number| line(&format!("{} refs/{number}\n", oid("1")))).collect();
        for _ in 0..1000 {
            assert_eq!(offer.pass(piece.as_bytes()), Ok(Bytes::new()));
        }
        assert_eq!(offer.pass(line("ERR late").as_bytes()), Ok(Bytes::from(line("ERR late"))));
        assert_eq!(offer.pass(line("ERR later").as_bytes()), Ok(Bytes::new()));
    }

    #[test]
    fn lines_of_an_advertisement_have_a_limit() {
        let wanted = CommitSelector::Ref("refs/heads/main".to_owned());
        let fits = line(&"x".repeat(MAX_LINE - 4));
        assert_eq!(passed(&wanted, &fits, 1000), Ok(fits));
        let error = passed(&wanted, &line(&"x".repeat(MAX_LINE - 3)), 1000).unwrap_err();
        assert!(matches!(error, GitError::Broken(_)), "{error:?}");
    }
}
