//! Packets of the Git protocol: lines prefixed with their length.

use bytes::{Buf as _, Bytes, BytesMut};
use docs_ports::GitError;

/// Splits received bytes into packets.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    buffer: BytesMut,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Packet {
    /// A line, including its terminator.
    Line(Bytes),
    /// A flush packet, which ends a list.
    Flush,
}

/// Size in bytes of the length prefix.
const LENGTH_PREFIX_BYTES: usize = 4;

/// Maximum size in bytes of a packet with its length prefix, as specified by Git.
pub(crate) const MAX_LINE: usize = 65_520;

impl Packets {
    /// Adds received bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Returns the next complete packet. At most [`MAX_LINE`] bytes of a packet are buffered.
    pub(crate) fn next(&mut self) -> Result<Option<Packet>, GitError> {
        let Some(prefix) = self.buffer.get(..LENGTH_PREFIX_BYTES) else { return Ok(None) };
        let digits =
            std::str::from_utf8(prefix).ok().filter(|text| text.bytes().all(|b| b.is_ascii_hexdigit()));
        let length = digits.and_then(|text| usize::from_str_radix(text, 16).ok());
        match length {
            Some(0) => {
                self.buffer.advance(LENGTH_PREFIX_BYTES);
                Ok(Some(Packet::Flush))
            }
            Some(length) if (LENGTH_PREFIX_BYTES..=MAX_LINE).contains(&length) => {
                if self.buffer.len() < length {
                    return Ok(None);
                }
                let mut packet = self.buffer.split_to(length).freeze();
                packet.advance(LENGTH_PREFIX_BYTES);
                Ok(Some(Packet::Line(packet)))
            }
            _ => Err(malformed_packet()),
        }
    }

    /// Returns `true` if no partial packet is buffered.
    pub(crate) fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }
}

/// Returns a line with its length prefix.
pub(crate) fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + LENGTH_PREFIX_BYTES)
}

/// Adds a line with its length prefix.
pub(crate) fn put_line(to: &mut BytesMut, line: &[u8]) {
    to.extend_from_slice(format!("{:04x}", line.len() + LENGTH_PREFIX_BYTES).as_bytes());
    to.extend_from_slice(line);
}

pub(crate) fn malformed_packet() -> GitError {
    GitError::Broken("the response is not from a Git server".to_owned())
}

pub(crate) fn broken_off() -> GitError {
    GitError::Unreachable("the server closed the connection early".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_parse_equally_for_every_chunk_size() {
        let bytes = [line("hello\n").as_bytes(), b"0000", line("").as_bytes(), line("x").as_bytes()].concat();
        let expected = [
            Packet::Line("hello\n".into()),
            Packet::Flush,
            Packet::Line("".into()),
            Packet::Line("x".into()),
        ];
        for size in 1..=bytes.len() {
            let (mut packets, mut found) = (Packets::default(), Vec::new());
            for piece in bytes.chunks(size) {
                packets.add(piece);
                while let Some(packet) = packets.next().unwrap() {
                    found.push(packet);
                }
            }
            assert_eq!(found, expected, "{size}");
            assert!(packets.is_empty());
        }
    }

    #[test]
    fn invalid_packet_length_is_refused() {
        for bytes in [b"zzzz", b"0001", b"0003", b"+0ff", b" 10x"] {
            let mut packets = Packets::default();
            packets.add(bytes);
            assert!(matches!(packets.next(), Err(GitError::Broken(_))), "{bytes:?}");
        }
    }
}
