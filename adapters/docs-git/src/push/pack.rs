//! The pack of a push, in an unnamed file. It contains the new objects without deltas.

use std::{
    collections::HashSet,
    fs::File,
    io::{self, BufWriter, Read as _, Seek as _, Write},
};

use docs_ports::GitError;
use flate2::{Compression, write::ZlibEncoder};
use git2::{ObjectType, Oid};
use sha1::{Digest as _, Sha1};

use crate::failure::{git_failure, no_room};

/// Collects the objects of a push.
pub(super) struct PackWriter {
    file: BufWriter<File>,
    written: HashSet<Oid>,
}

/// A complete pack.
pub(super) struct Pack {
    file: File,
    /// Size of the objects in bytes.
    body: u64,
    count: u32,
}

/// Size of read buffers in bytes.
pub(super) const READ_BYTES: usize = 64 * 1024;

/// Size in bytes of the pack header and trailer.
const HEADER: u64 = 12;
const TRAILER: u64 = 20;

impl PackWriter {
    pub(super) fn new() -> Result<Self, GitError> {
        let file = tempfile::tempfile().map_err(|error| no_room(&error.to_string()))?;
        Ok(Self { file: BufWriter::new(file), written: HashSet::new() })
    }

    /// Adds an object and returns its id. Duplicates are ignored.
    pub(super) fn add(&mut self, kind: ObjectType, bytes: &[u8]) -> Result<Oid, GitError> {
        let id = Oid::hash_object(kind, bytes).map_err(|error| git_failure(&error))?;
        if self.written.insert(id) {
            self.write(kind, bytes).map_err(|error| no_room(&error.to_string()))?;
        }
        Ok(id)
    }

    fn write(&mut self, kind: ObjectType, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(&prefix(kind, bytes.len()))?;
        let mut encoder = ZlibEncoder::new(&mut self.file, Compression::default());
        encoder.write_all(bytes)?;
        encoder.finish().map(drop)
    }

    pub(super) fn finish(self) -> Result<Pack, GitError> {
        let count = u32::try_from(self.written.len())
            .map_err(|_| GitError::TooLarge("the push has too many files".to_owned()))?;
        let no_room = |error: io::Error| no_room(&error.to_string());
        let mut file = self.file.into_inner().map_err(|error| no_room(error.into_error()))?;
        let body = file.stream_position().map_err(no_room)?;
        Ok(Pack { file, body, count })
    }
}

impl Pack {
    /// Total size in bytes.
    pub(super) const fn len(&self) -> u64 {
        HEADER + self.body + TRAILER
    }

    /// Passes the bytes to `take` in chunks until it fails.
    pub(super) fn read(mut self, mut take: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut hasher = Sha1::new();
        let mut header = *b"PACK\0\0\0\x02\0\0\0\0";
        header[8..].copy_from_slice(&self.count.to_be_bytes());
        hasher.update(header);
        take(&header)?;
        self.file.rewind()?;
        let mut left = self.body;
        let mut piece = vec![0; READ_BYTES];
        while left > 0 {
            let wanted = usize::try_from(left).map_or(READ_BYTES, |left| left.min(READ_BYTES));
            self.file.read_exact(&mut piece[..wanted])?;
            hasher.update(&piece[..wanted]);
            take(&piece[..wanted])?;
            left -= wanted as u64;
        }
        take(&hasher.finalize())
    }
}

/// Returns the header of an object in a pack: its type and its size, least significant bits first.
fn prefix(kind: ObjectType, size: usize) -> Vec<u8> {
    let kind = match kind {
        ObjectType::Commit => 1,
        ObjectType::Tree => 2,
        ObjectType::Tag => 4,
        ObjectType::Blob | ObjectType::Any => 3,
    };
    let (mut size, mut low) = (size >> 4, kind << 4 | (size & 0x0f) as u8);
    let mut bytes = Vec::new();
    while size > 0 {
        bytes.push(low | 0x80);
        (low, size) = ((size & 0x7f) as u8, size >> 7);
    }
    bytes.push(low);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_header_encodes_type_and_size() {
        assert_eq!(prefix(ObjectType::Blob, 0), [0x30]);
        assert_eq!(prefix(ObjectType::Commit, 15), [0x1f]);
        assert_eq!(prefix(ObjectType::Tree, 16), [0xa0, 0x01]);
        assert_eq!(prefix(ObjectType::Blob, 0x7ff), [0xbf, 0x7f]);
        assert_eq!(prefix(ObjectType::Blob, 0x800), [0xb0, 0x80, 0x01]);
    }

    #[test]
    fn written_pack_is_deduplicated_and_readable_by_libgit2() {
        let mut writer = PackWriter::new().unwrap();
        let large = vec![7; 300_000];
        let ids = [b"hello\n".as_slice(), b"", &large, b"hello\n"]
            .map(|bytes| (writer.add(ObjectType::Blob, bytes).unwrap(), bytes));
        let pack = writer.finish().unwrap();
        assert_eq!(pack.count, 3);
        let length = pack.len();
        let folder = tempfile::tempdir().unwrap();
        let repository = git2::Repository::init_bare(folder.path()).unwrap();
        let odb = repository.odb().unwrap();
        let mut reader = odb.packwriter().unwrap();
        let mut count = 0;
        pack.read(|piece| {
            count += piece.len() as u64;
            reader.write_all(piece)
        })
        .unwrap();
        reader.commit().unwrap();
        assert_eq!(count, length);
        for (id, bytes) in ids {
            assert_eq!(odb.read(id).unwrap().data(), bytes);
        }
    }
}
