//! What a server answers to a push: first what it has, then what became of it.

use docs_ports::GitError;
use git2::Oid;

use super::packet::{Packet, Packets};

/// What a repository says before a push.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Advertisement {
    /// What the ref points at.
    pub(super) tip: Option<Oid>,
    /// A ref that cannot be there at the same time: one is a folder of the other.
    pub(super) clash: Option<String>,
    capabilities: String,
}

/// What became of a push.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The ref has moved.
    Done,
    /// The ref is as it was, for this reason.
    Refused(String),
}

/// Most bytes of the text of a host that are kept.
pub(super) const MAX_TEXT: usize = 8 * 1024;

impl Advertisement {
    /// Tells whether the server knows a capability.
    pub(super) fn can(&self, capability: &str) -> bool {
        self.capabilities.split(' ').any(|one| one == capability)
    }

    /// The hash that makes its object ids, where it says so.
    pub(super) fn format(&self) -> Option<&str> {
        self.capabilities.split(' ').find_map(|one| one.strip_prefix("object-format="))
    }
}

/// Reads the list of refs, and keeps what matters to one of them.
pub(super) struct AdvertisementReader<'a> {
    reference: &'a str,
    packets: Packets,
    state: State,
    found: Advertisement,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the line that names the service, and the flush behind it.
    Service,
    First,
    Refs,
    Over,
}

impl<'a> AdvertisementReader<'a> {
    pub(super) fn new(reference: &'a str) -> Self {
        Self {
            reference,
            packets: Packets::default(),
            state: State::Service,
            found: Advertisement::default(),
        }
    }

    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), GitError> {
        self.packets.add(piece);
        while let Some(packet) = self.packets.next()? {
            self.packet(&packet)?;
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Advertisement, GitError> {
        match self.state == State::Over && self.packets.is_empty() {
            true => Ok(self.found),
            false => Err(broken_off()),
        }
    }

    fn packet(&mut self, packet: &Packet) -> Result<(), GitError> {
        let line = match (packet, self.state) {
            (_, State::Over) => return Err(strange()),
            (Packet::Line(line), _) => line.strip_suffix(b"\n").unwrap_or(line),
            (Packet::Flush, State::Service) => {
                self.state = State::First;
                return Ok(());
            }
            (Packet::Flush, _) => {
                self.state = State::Over;
                return Ok(());
            }
        };
        if let Some(reason) = line.strip_prefix(b"ERR ") {
            return Err(GitError::rejected(&String::from_utf8_lossy(reason)));
        }
        match self.state {
            State::Service if line.starts_with(b"# service=") => Ok(()),
            State::Service | State::Over => Err(strange()),
            State::First => {
                self.state = State::Refs;
                let end = line.iter().position(|byte| *byte == 0).ok_or_else(strange)?;
                self.found.capabilities = String::from_utf8_lossy(&line[end + 1..]).trim().to_owned();
                self.reference(&line[..end])
            }
            State::Refs => self.reference(line),
        }
    }

    fn reference(&mut self, line: &[u8]) -> Result<(), GitError> {
        if line.starts_with(b"shallow ") {
            return Ok(());
        }
        let (id, name) = line.split_at_checked(40).ok_or_else(strange)?;
        let id = std::str::from_utf8(id).ok().and_then(|id| Oid::from_str(id).ok()).ok_or_else(strange)?;
        let name = name.strip_prefix(b" ").ok_or_else(strange)?;
        let is_below =
            |name: &[u8], folder: &[u8]| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"));
        let wanted = self.reference.as_bytes();
        if name == wanted {
            self.found.tip = Some(id);
        } else if is_below(name, wanted) || is_below(wanted, name) {
            self.found.clash = Some(String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }
}

/// Reads what became of a push, and what hooks say.
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
                // It says that it is still there.
                None => {}
                Some(_) => return Err(strange()),
            }
        }
        Ok(())
    }

    /// The report, and what hooks have said.
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
            let (word, rest) = line.split_once(' ').ok_or_else(strange)?;
            match word {
                "unpack" if rest == "ok" => self.unpacked = Some(Report::Done),
                "unpack" => self.unpacked = Some(Report::Refused(rest.to_owned())),
                "ok" if rest == self.reference => self.moved = Some(Report::Done),
                "ng" => {
                    let reason = rest.strip_prefix(self.reference).ok_or_else(strange)?;
                    self.moved = Some(Report::Refused(reason.trim().to_owned()));
                }
                _ => return Err(strange()),
            }
        }
        Ok(())
    }

    fn keep(&mut self, text: &[u8]) {
        let room = MAX_TEXT.saturating_sub(self.text.len()).min(text.len());
        self.text.extend_from_slice(&text[..room]);
    }
}

fn strange() -> GitError {
    GitError::Broken("the server does not answer as a Git server".to_owned())
}

fn broken_off() -> GitError {
    GitError::Unreachable("the server broke off".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::push::packet::line;

    const MAIN: &str = "refs/heads/main";

    fn advertised(lines: &[&str]) -> Result<Advertisement, GitError> {
        let mut reader = AdvertisementReader::new(MAIN);
        let lines: String = lines.iter().map(|text| line(text)).collect();
        let all = format!("{}0000{lines}0000", line("# service=git-receive-pack\n"));
        for piece in all.as_bytes().chunks(7) {
            reader.add(piece)?;
        }
        reader.finish()
    }

    fn oid(digit: &str) -> String {
        digit.repeat(40)
    }

    #[test]
    fn a_list_of_refs_tells_where_the_ref_is() {
        let (first, second) = (oid("1"), oid("2"));
        let found = advertised(&[
            &format!("{first} .have\0report-status side-band-64k object-format=sha1\n"),
            &format!("{second} {MAIN}\n"),
            &format!("shallow {first}\n"),
        ])
        .unwrap();
        assert_eq!(found.tip, Some(Oid::from_str(&second).unwrap()));
        assert!(found.can("report-status") && !found.can("report") && found.clash.is_none());
        assert_eq!(found.format(), Some("sha1"));

        let empty = advertised(&[&format!("{} capabilities^{{}}\0report-status\n", oid("0"))]).unwrap();
        assert_eq!((empty.tip, empty.format()), (None, None));
        for (name, clash) in [("refs/heads/main/x", true), ("refs/heads", true), ("refs/heads/maine", false)]
        {
            let found = advertised(&[&format!("{first} {name}\0report-status\n")]).unwrap();
            assert_eq!(found.clash.as_deref(), clash.then_some(name));
        }
    }

    #[test]
    fn a_list_of_refs_that_is_none_is_refused() {
        let cut = AdvertisementReader::new(MAIN).finish().unwrap_err();
        assert!(cut.may_pass());
        for lines in [["short"], ["zz"], [&oid("1")], [&format!("{}{MAIN}\0", oid("1"))]] {
            assert!(matches!(advertised(&lines), Err(GitError::Broken(_))), "{lines:?}");
        }
        let archived = advertised(&["ERR this repository is archived\n"]);
        assert_eq!(archived, Err(GitError::Rejected("this repository is archived".to_owned())));
    }

    fn report(has_side_band: bool, bytes: &[u8]) -> Result<(Report, String), GitError> {
        let mut reader = ReportReader::new(has_side_band, MAIN);
        for piece in bytes.chunks(5) {
            reader.add(piece)?;
        }
        reader.finish()
    }

    #[test]
    fn a_report_tells_what_became_of_the_push() {
        let refused = |reason: &str| Report::Refused(reason.to_owned());
        for (lines, expected) in [
            (["unpack ok\n", "ok refs/heads/main\n"], Report::Done),
            (["unpack ok", "ng refs/heads/main hook declined"], refused("hook declined")),
            (["unpack no room\n", "ng refs/heads/main unpacker error\n"], refused("no room")),
        ] {
            let inner = lines.map(line).concat() + "0000";
            assert_eq!(report(false, inner.as_bytes()), Ok((expected, String::new())));
        }
        // The bands cut lines where they like.
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
    fn a_report_that_is_cut_is_none() {
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
    fn what_hooks_say_is_bounded() {
        let mut reader = ReportReader::new(true, MAIN);
        for _ in 0..100 {
            reader.add(line(&format!("\u{2}{}", "x".repeat(1000))).as_bytes()).unwrap();
        }
        assert_eq!(reader.text.len(), MAX_TEXT);
    }
}
