//! Responses of a server to a push.

use docs_ports::GitError;

use crate::{
    pace::Phase,
    packet::{Packet, Packets, broken_off, malformed_packet},
};

/// The outcome of a push.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The ref was updated.
    Done,
    /// The ref was not updated. Contains the reason.
    Refused(String),
}

/// Maximum number of bytes of server messages that are retained.
pub(super) const MAX_TEXT: usize = 8 * 1024;

/// Reads the report of a push and the output of hooks.
pub(super) struct ReportReader<'a> {
    reference: &'a str,
    has_side_band: bool,
    packets: Packets,
    lines: Packets,
    text: Vec<u8>,
    unpacked: Option<Report>,
    moved: Option<Report>,
}

impl<'a> ReportReader<'a> {
    pub(super) fn new(has_side_band: bool, reference: &'a str) -> Self {
        let (packets, lines) = (Packets::default(), Packets::default());
        Self { reference, has_side_band, packets, lines, text: Vec::new(), unpacked: None, moved: None }
    }

    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), GitError> {
        if !self.has_side_band {
            self.lines.add(piece);
            return self.read_lines();
        }
        self.packets.add(piece);
        while let Some(packet) = self.packets.next()? {
            let Packet::Line(line) = packet else { continue };
            match line.split_first() {
                Some((1, report)) => {
                    self.lines.add(report);
                    self.read_lines()?;
                }
                Some((2, text)) => self.keep(text),
                Some((3, reason)) => return Err(GitError::rejected(&String::from_utf8_lossy(reason))),
                // A keep-alive packet.
                None => {}
                Some(_) => return Err(malformed_packet()),
            }
        }
        Ok(())
    }

    /// Returns the state of the transfer after the last received byte.
    pub(super) fn phase(&self) -> Phase {
        if self.packets.is_empty() && self.lines.is_empty() { Phase::Processing } else { Phase::Transfer }
    }

    /// Returns the report and the output of hooks.
    pub(super) fn finish(self) -> Result<(Report, String), GitError> {
        let text = String::from_utf8_lossy(&self.text).into_owned();
        match (self.unpacked, self.moved) {
            (Some(Report::Done), Some(moved)) => Ok((moved, text)),
            (Some(refused), _) if refused != Report::Done => Ok((refused, text)),
            _ => Err(broken_off()),
        }
    }

    fn read_lines(&mut self) -> Result<(), GitError> {
        while let Some(packet) = self.lines.next()? {
            let Packet::Line(line) = packet else { continue };
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end();
            let (word, rest) = line.split_once(' ').ok_or_else(malformed_packet)?;
            match word {
                "unpack" if rest == "ok" => self.unpacked = Some(Report::Done),
                "unpack" => self.unpacked = Some(Report::Refused(rest.to_owned())),
                "ok" if rest == self.reference => self.moved = Some(Report::Done),
                "ng" => {
                    let reason = rest.strip_prefix(self.reference).ok_or_else(malformed_packet)?;
                    self.moved = Some(Report::Refused(reason.trim().to_owned()));
                }
                _ => return Err(malformed_packet()),
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &[u8]) {
        let room = MAX_TEXT.saturating_sub(self.text.len()).min(text.len());
        self.text.extend_from_slice(&text[..room]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::line;

    const MAIN: &str = "refs/heads/main";

    fn report(has_side_band: bool, bytes: &[u8]) -> Result<(Report, String), GitError> {
        let mut reader = ReportReader::new(has_side_band, MAIN);
        for piece in bytes.chunks(5) {
            reader.add(piece)?;
        }
        reader.finish()
    }

    #[test]
    fn push_report_is_parsed_with_and_without_side_band() {
        let refused = |reason: &str| Report::Refused(reason.to_owned());
        for (lines, expected) in [
            (["unpack ok\n", "ok refs/heads/main\n"], Report::Done),
            (["unpack ok", "ng refs/heads/main hook declined"], refused("hook declined")),
            (["unpack no room\n", "ng refs/heads/main unpacker error\n"], refused("no room")),
        ] {
            let inner = lines.map(line).concat() + "0000";
            assert_eq!(report(false, inner.as_bytes()), Ok((expected, String::new())));
        }
        // Bands may split lines anywhere.
        let inner = line("unpack ok\n") + &line("ng refs/heads/main no\n") + "0000";
        let (head, tail) = inner.split_at(9);
        let bands = [
            "\u{2}one ".to_owned(),
            format!("\u{1}{head}"),
            String::new(),
            "\u{2}two".to_owned(),
            format!("\u{1}{tail}"),
        ];
        let bytes = bands.map(|band| line(&band)).concat() + "0000";
        assert_eq!(report(true, bytes.as_bytes()), Ok((refused("no"), "one two".to_owned())));
    }

    #[test]
    fn truncated_mismatched_or_fatal_push_report_is_an_error() {
        for lines in [vec![], vec!["unpack ok\n"], vec!["ok refs/heads/main\n"]] {
            let bytes: String = lines.iter().map(|text| line(text)).collect();
            assert!(report(false, bytes.as_bytes()).unwrap_err().may_pass(), "{lines:?}");
        }
        let other = line("unpack ok\n") + &line("ok refs/heads/other\n");
        assert!(matches!(report(false, other.as_bytes()), Err(GitError::Broken(_))));
        let fatal = report(true, line("\u{3}quota exceeded\n").as_bytes());
        assert_eq!(fatal, Err(GitError::Rejected("quota exceeded".to_owned())));
    }

    #[test]
    fn hook_output_is_truncated_at_its_limit() {
        let mut reader = ReportReader::new(true, MAIN);
        for _ in 0..100 {
            reader.add(line(&format!("\u{2}{}", "x".repeat(1000))).as_bytes()).unwrap();
        }
        assert_eq!(reader.text.len(), MAX_TEXT);
    }
}
