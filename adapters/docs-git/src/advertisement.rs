//! The ref advertisement: the first response of a server, with its refs and capabilities.

use docs_ports::GitError;
use git2::Oid;

use crate::packet::{Packet, Packets, broken_off, malformed_packet};

/// The advertised state of one ref, and the capabilities of the server.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Advertisement {
    /// The object that the ref points at.
    pub(crate) tip: Option<Oid>,
    /// The peeled object, if the ref points at an annotated tag.
    peeled: Option<Oid>,
    /// An existing ref that conflicts with this ref, because one of the names is a parent folder of the other.
    pub(crate) clash: Option<String>,
    capabilities: String,
}

impl Advertisement {
    /// Returns the commit that the ref resolves to.
    pub(crate) fn commit(&self) -> Option<Oid> {
        self.peeled.or(self.tip)
    }

    /// Returns `true` if the server has a capability.
    pub(crate) fn can(&self, capability: &str) -> bool {
        self.capabilities.split(' ').any(|one| one == capability)
    }

    /// Returns the object hash algorithm, if the server states it.
    pub(crate) fn format(&self) -> Option<&str> {
        self.capabilities.split(' ').find_map(|one| one.strip_prefix("object-format="))
    }
}

/// Reads a ref advertisement, and retains the data about one ref.
pub(crate) struct AdvertisementReader<'a> {
    reference: &'a str,
    packets: Packets,
    state: AdvertisementState,
    found: Advertisement,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum AdvertisementState {
    /// Before the line with the service name and the flush packet after it.
    Service,
    First,
    Refs,
    Over,
}

impl<'a> AdvertisementReader<'a> {
    /// Reads an advertisement over HTTP.
    pub(crate) fn new(reference: &'a str) -> Self {
        Self {
            reference,
            packets: Packets::default(),
            state: AdvertisementState::Service,
            found: Advertisement::default(),
        }
    }

    pub(crate) fn add(&mut self, piece: &[u8]) -> Result<(), GitError> {
        self.packets.add(piece);
        while let Some(packet) = self.packets.next()? {
            self.packet(&packet)?;
        }
        Ok(())
    }

    pub(crate) fn finish(self) -> Result<Advertisement, GitError> {
        match self.state == AdvertisementState::Over && self.packets.is_empty() {
            true => Ok(self.found),
            false => Err(broken_off()),
        }
    }

    fn packet(&mut self, packet: &Packet) -> Result<(), GitError> {
        let line = match (packet, self.state) {
            (_, AdvertisementState::Over) => return Err(malformed_packet()),
            (Packet::Line(line), _) => line.strip_suffix(b"\n").unwrap_or(line),
            (Packet::Flush, AdvertisementState::Service) => {
                self.state = AdvertisementState::First;
                return Ok(());
            }
            (Packet::Flush, _) => {
                self.state = AdvertisementState::Over;
                return Ok(());
            }
        };
        if let Some(reason) = line.strip_prefix(b"ERR ") {
            return Err(GitError::rejected(&String::from_utf8_lossy(reason)));
        }
        match self.state {
            AdvertisementState::Service if line.starts_with(b"# service=") => Ok(()),
            AdvertisementState::Service | AdvertisementState::Over => Err(malformed_packet()),
            AdvertisementState::First => {
                self.state = AdvertisementState::Refs;
                let end = line.iter().position(|byte| *byte == 0).ok_or_else(malformed_packet)?;
                self.found.capabilities = String::from_utf8_lossy(&line[end + 1..]).trim().to_owned();
                self.reference(&line[..end])
            }
            AdvertisementState::Refs => self.reference(line),
        }
    }

    fn reference(&mut self, line: &[u8]) -> Result<(), GitError> {
        if line.starts_with(b"shallow ") {
            return Ok(());
        }
        let (id, name) = line.split_at_checked(40).ok_or_else(malformed_packet)?;
        let id = std::str::from_utf8(id)
            .ok()
            .and_then(|id| Oid::from_str(id).ok())
            .ok_or_else(malformed_packet)?;
        let name = name.strip_prefix(b" ").ok_or_else(malformed_packet)?;
        let is_below =
            |name: &[u8], folder: &[u8]| name.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"));
        let wanted = self.reference.as_bytes();
        if name == wanted {
            self.found.tip = Some(id);
        } else if name.strip_suffix(b"^{}") == Some(wanted) {
            self.found.peeled = Some(id);
        } else if is_below(name, wanted) || is_below(wanted, name) {
            self.found.clash = Some(String::from_utf8_lossy(name).into_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::line;

    const MAIN: &str = "refs/heads/main";

    fn parse_lines(lines: &[&str]) -> Result<Advertisement, GitError> {
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
    fn advertisement_yields_tip_capabilities_and_name_clash() {
        let (first, second) = (oid("1"), oid("2"));
        let found = parse_lines(&[
            &format!("{first} .have\0report-status side-band-64k object-format=sha1\n"),
            &format!("{second} {MAIN}\n"),
            &format!("shallow {first}\n"),
        ])
        .unwrap();
        assert_eq!(found.tip, Some(Oid::from_str(&second).unwrap()));
        assert!(found.can("report-status") && !found.can("report") && found.clash.is_none());
        assert_eq!(found.format(), Some("sha1"));

        let empty = parse_lines(&[&format!("{} capabilities^{{}}\0report-status\n", oid("0"))]).unwrap();
        assert_eq!((empty.tip, empty.format()), (None, None));
        for (name, clash) in [("refs/heads/main/x", true), ("refs/heads", true), ("refs/heads/maine", false)]
        {
            let found = parse_lines(&[&format!("{first} {name}\0report-status\n")]).unwrap();
            assert_eq!(found.clash.as_deref(), clash.then_some(name));
        }
    }

    #[test]
    fn malformed_advertisement_is_refused() {
        let cut = AdvertisementReader::new(MAIN).finish().unwrap_err();
        assert!(cut.may_pass());
        for lines in [["short"], ["zz"], [&oid("1")], [&format!("{}{MAIN}\0", oid("1"))]] {
            assert!(matches!(parse_lines(&lines), Err(GitError::Broken(_))), "{lines:?}");
        }
        let archived = parse_lines(&["ERR this repository is archived\n"]);
        assert_eq!(archived, Err(GitError::Rejected("this repository is archived".to_owned())));
    }

    #[test]
    fn annotated_tag_resolves_to_its_peeled_commit() {
        let (tag, commit) = (oid("1"), oid("2"));
        let mut reader = AdvertisementReader::new("refs/tags/v1");
        let lines = [format!("{tag} refs/tags/v1\0agent=git\n"), format!("{commit} refs/tags/v1^{{}}\n")];
        let service = line("# service=git-upload-pack\n");
        let all = format!("{service}0000{}0000", lines.map(|text| line(&text)).concat());
        reader.add(all.as_bytes()).unwrap();
        let found = reader.finish().unwrap();
        assert_eq!((found.tip, found.commit()), (Oid::from_str(&tag).ok(), Oid::from_str(&commit).ok()));
    }
}
