//! The lines in which a server sends a pack.

use docs_ports::GitError;

/// Where in the lines of the protocol the bytes are.
pub(super) enum Frame {
    /// In the length of a line.
    Length(Vec<u8>),
    /// At the first byte of a line, which has so many.
    First(usize),
    /// In a line of a pack, with so many bytes left.
    Pack(usize),
    /// In a line of something else.
    Other(usize),
    /// In a pack that is sent without lines.
    Raw,
}

/// The band of a line that holds a piece of a pack.
const BAND: u8 = 1;

impl Frame {
    pub(super) const fn new() -> Self {
        Self::Length(Vec::new())
    }

    /// The next bytes of the pack, taken from what has arrived; `None` when it holds no more of them.
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
                        (BAND, left) => Self::Pack(left),
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

/// What comes after four bytes that are a length, or the begin of a pack without lines.
fn after_length(length: &[u8]) -> Result<(Frame, Option<&'static [u8]>), GitError> {
    if length == b"PACK" {
        return Ok((Frame::Raw, Some(b"PACK")));
    }
    let number = std::str::from_utf8(length).ok().and_then(|text| u16::from_str_radix(text, 16).ok());
    let number =
        number.ok_or_else(|| GitError::Broken("the server does not answer as a Git server".to_owned()))?;
    // Those below four are marks without a line.
    Ok(match usize::from(number).saturating_sub(4) {
        0 => (Frame::new(), None),
        left => (Frame::First(left), None),
    })
}
