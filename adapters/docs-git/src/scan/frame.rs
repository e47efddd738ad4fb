//! Framing of a pack in the packets of a response.

use docs_ports::GitError;

/// The position in the packets of a response.
pub(super) enum PacketState {
    Length(Vec<u8>),
    /// At the first byte of a packet. Contains the remaining length.
    First(usize),
    /// In a packet with pack data. Contains the remaining length.
    Pack(usize),
    /// In a packet with other data.
    Other(usize),
    /// In a pack sent without packets.
    Raw,
}

/// The side band of pack data.
const PACK_SIDE_BAND: u8 = 1;

impl PacketState {
    pub(super) const fn new() -> Self {
        Self::Length(Vec::new())
    }

    /// Returns `true` if no packet has begun.
    pub(super) const fn is_between_packets(&self) -> bool {
        matches!(self, Self::Length(length) if length.is_empty())
    }

    /// Takes the next bytes of the pack from the received bytes. Returns `None` if no bytes are left.
    pub(super) fn next<'b>(&mut self, bytes: &mut &'b [u8]) -> Result<Option<&'b [u8]>, GitError> {
        while let Some(first) = bytes.first() {
            match self {
                Self::Raw => return Ok(Some(std::mem::take(bytes))),
                Self::Length(length) => {
                    length.push(*first);
                    *bytes = bytes.get(1..).unwrap_or_default();
                    if length.len() == 4 {
                        let (next, packed) = after_length(length)?;
                        *self = next;
                        if packed.is_some() {
                            return Ok(packed);
                        }
                    }
                }
                Self::First(left) => {
                    *bytes = bytes.get(1..).unwrap_or_default();
                    *self = match (*first, *left - 1) {
                        (_, 0) => Self::new(),
                        (PACK_SIDE_BAND, left) => Self::Pack(left),
                        (_, left) => Self::Other(left),
                    };
                }
                Self::Pack(left) | Self::Other(left) => {
                    let (now, rest) = bytes.split_at((*left).min(bytes.len()));
                    *bytes = rest;
                    *left -= now.len();
                    let (is_pack, is_over) = (matches!(self, Self::Pack(_)), rest.is_empty());
                    if matches!(self, Self::Pack(0) | Self::Other(0)) {
                        *self = Self::new();
                    }
                    if is_pack {
                        return Ok(Some(now));
                    }
                    if is_over {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }
}

/// Returns the state after four bytes: either a packet length, or the beginning of a pack without packets.
fn after_length(length: &[u8]) -> Result<(PacketState, Option<&'static [u8]>), GitError> {
    if length == b"PACK" {
        return Ok((PacketState::Raw, Some(b"PACK")));
    }
    let number = std::str::from_utf8(length).ok().and_then(|text| u16::from_str_radix(text, 16).ok());
    let number =
        number.ok_or_else(|| GitError::Broken("the response is not from a Git server".to_owned()))?;
    // Lengths below 4 are special packets without content.
    Ok(match usize::from(number).saturating_sub(4) {
        0 => (PacketState::new(), None),
        left => (PacketState::First(left), None),
    })
}
