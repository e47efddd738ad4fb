//! Inspection of a pack while it arrives. It limits the memory that libgit2 needs to unpack the pack.
//!
//! libgit2 streams undeltified blobs of any size. Trees, commits and tags are unpacked in memory, and so are deltas
//! with all their bases: a pack of a few kilobytes can expand to gigabytes.
//!
//! In addition, libgit2 loops forever on a pack that contains an object twice if one of the two is a delta with a base
//! given by id (`resolve_deltas` in its `indexer.c`), and allocates more memory in each iteration. Duplicates can be
//! detected only after unpacking. Deltas with a base given by id are therefore rejected. A server only needs them for
//! clients that do not support offset deltas, as libgit2 does, and in thin packs, which are not requested ([`Offer`]).

mod frame;
#[cfg(test)]
mod hostile;
mod offer;

use std::collections::HashSet;

use docs_ports::GitError;
use flate2::{Decompress, FlushDecompress, Status};

use self::frame::PacketState;
pub(crate) use self::offer::Offer;
use crate::{
    Limits,
    meter::{UnpackedMeter, chain_too_long, chains_too_large, object_too_large, objects_too_large},
    pace::Phase,
};

/// Maximum number of objects in a pack. libgit2 takes about 130 bytes of memory for each. The whole history of Git
/// itself has 407,061 objects.
const MAX_OBJECTS: u32 = 1_000_000;

/// Maximum length of a delta chain. Git itself creates chains of at most this length, and of 50 by default. libgit2
/// reads the whole chain for each read of an object.
const MAX_CHAIN: u32 = 4095;

/// Size in bytes of the buffer for unpacked data, which is discarded.
const DISCARD_BYTES: usize = 64 * 1024;

/// Number of bytes inspected before yielding to other tasks.
const YIELD_BYTES: usize = 16 * DISCARD_BYTES;

/// Maximum encoded length in bytes of the two sizes at the beginning of a delta, with seven bits per byte.
const MAX_SIZES: usize = 20;

/// Maximum number of bits in a size: nine bytes with seven bits each.
const MAX_NUMBER: u32 = 63;

/// The state of the inspection of a response that may contain a pack.
pub(crate) struct Scan {
    frame: PacketState,
    pack: Pack,
}

impl Scan {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { frame: PacketState::new(), pack: Pack::new(limits) }
    }

    /// Returns the state of the transfer after the last inspected byte.
    pub(crate) const fn phase(&self) -> Phase {
        if self.frame.is_between_packets() { Phase::Processing } else { Phase::Transfer }
    }

    /// Inspects received bytes, and yields to other tasks in between.
    ///
    /// # Errors
    /// [`GitError::TooLarge`] for an object that would need too much memory, [`GitError::Broken`] for an invalid pack.
    ///
    /// # Cancel safety
    /// This method is not cancel safe: a partial inspection cannot be resumed.
    pub(crate) async fn inspect(&mut self, mut bytes: &[u8]) -> Result<(), GitError> {
        let mut done = 0;
        while let Some(mut packed) = self.frame.next(&mut bytes)? {
            while !packed.is_empty() {
                done += self.pack.step(&mut packed)?;
                if done >= YIELD_BYTES {
                    done = 0;
                    tokio::task::yield_now().await;
                }
            }
        }
        Ok(())
    }
}

enum PackPosition {
    /// In the 12-byte header.
    Start(Vec<u8>),
    /// In the type and size of an object.
    Head(ObjectHeader),
    /// In the base offset of a delta.
    Offset(u64),
    /// In compressed data.
    Body(Box<ObjectBody>),
    /// In the checksum or after it, which libgit2 checks.
    End,
}

#[derive(Default)]
struct ObjectHeader {
    kind: u8,
    size: u64,
    shift: u32,
}

/// An object being unpacked.
struct ObjectBody {
    stream: Decompress,
    size: u64,
    /// The first bytes of a delta, which encode its sizes.
    front: Option<Vec<u8>>,
}

/// An object that can be the base of a delta.
#[derive(Clone, Copy)]
struct Known {
    /// The offset in the pack.
    place: u64,
    /// The number of deltas between the object and its undeltified base.
    chain: u32,
    /// The total size of the object and its bases, in units of [`UNIT`] bytes.
    units: u32,
}

/// Minimum size charged per object, to account for its fixed overhead. Chain sizes are multiples of it.
const UNIT: u64 = 256;

impl Known {
    fn total_bytes(&self) -> u64 {
        u64::from(self.units) * UNIT
    }
}

fn units(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(u32::MAX)
}

struct Pack {
    at: PackPosition,
    /// Maximum size in bytes of objects that must fit in memory.
    limit: u64,
    /// Meters for the total size of all objects and deltas, and of all objects including their bases.
    unpacked: UnpackedMeter,
    chains: UnpackedMeter,
    /// Offset of the next byte in the pack, and of the current object.
    place: u64,
    begun: u64,
    left: u32,
    head: ObjectHeader,
    /// All objects up to the current one, by offset. A base at another offset would not be inspected.
    known: Vec<Known>,
    /// Offsets of undeltified blobs larger than the limit.
    large: HashSet<u64>,
    scratch: Box<[u8]>,
}

const BLOB: u8 = 3;
const BY_OFFSET: u8 = 6;
const BY_NAME: u8 = 7;

impl Pack {
    fn new(limits: Limits) -> Self {
        Self {
            at: PackPosition::Start(Vec::new()),
            limit: limits.object_bytes(),
            unpacked: UnpackedMeter::new(limits.unpacked(), objects_too_large),
            chains: UnpackedMeter::new(limits.chains(), chains_too_large),
            place: 0,
            begun: 0,
            left: 0,
            head: ObjectHeader::default(),
            known: Vec::new(),
            large: HashSet::new(),
            scratch: vec![0; DISCARD_BYTES].into_boxed_slice(),
        }
    }

    /// Inspects a prefix of the bytes and removes it. Returns the cost, roughly in bytes.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<usize, GitError> {
        if let PackPosition::Body(_) = &self.at {
            return self.unpack(bytes);
        }
        if let PackPosition::End = &self.at {
            *bytes = &[];
            return Ok(1);
        }
        let Some(byte) = self.take(bytes) else { return Ok(0) };
        match &mut self.at {
            PackPosition::Start(start) => {
                start.push(byte);
                if start.len() == 12 {
                    self.left = count(start)?;
                    self.begin();
                }
            }
            PackPosition::Head(head) => {
                if head.shift == 0 {
                    head.kind = byte >> 4 & 7;
                    head.size = u64::from(byte & 15);
                    head.shift = 4;
                } else if head.shift > MAX_NUMBER - 7 {
                    return Err(broken_pack("the size of an object has too many digits"));
                } else {
                    head.size |= u64::from(byte & 127) << head.shift;
                    head.shift += 7;
                }
                if byte < 128 {
                    self.head = std::mem::take(head);
                    self.check_head()?;
                }
            }
            PackPosition::Offset(offset) => {
                *offset =
                    offset.checked_mul(128).ok_or_else(|| broken_pack("an offset has too many digits"))?;
                *offset += u64::from(byte & 127);
                match byte < 128 {
                    true => self.check_offset()?,
                    false => *offset += 1,
                }
            }
            PackPosition::Body(_) | PackPosition::End => {}
        }
        Ok(1)
    }

    fn take(&mut self, bytes: &mut &[u8]) -> Option<u8> {
        let (byte, rest) = bytes.split_first()?;
        *bytes = rest;
        self.place += 1;
        Some(*byte)
    }

    /// Begins the next object.
    fn begin(&mut self) {
        self.begun = self.place;
        self.at = match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                PackPosition::Head(ObjectHeader::default())
            }
            None => PackPosition::End,
        };
    }

    fn check_head(&mut self) -> Result<(), GitError> {
        let ObjectHeader { kind, size, .. } = self.head;
        if size > self.limit {
            if kind != BLOB {
                return Err(object_too_large(self.limit));
            }
            self.large.insert(self.begun);
        }
        match kind {
            1..=4 => {
                self.known.push(Known { place: self.begun, chain: 0, units: units(size) });
                self.body();
            }
            BY_OFFSET => self.at = PackPosition::Offset(0),
            BY_NAME => {
                let why = "the server sends reference deltas, which are not supported";
                return Err(GitError::Broken(why.to_owned()));
            }
            _ => return Err(broken_pack("an object has an unknown type")),
        }
        Ok(())
    }

    fn check_offset(&mut self) -> Result<(), GitError> {
        let PackPosition::Offset(offset) = self.at else { return Ok(()) };
        let base = self.begun.checked_sub(offset).filter(|_| offset > 0);
        let base = base.ok_or_else(|| broken_pack("the base of a delta is missing"))?;
        if self.large.contains(&base) {
            return Err(object_too_large(self.limit));
        }
        let at = self.known.binary_search_by_key(&base, |known| known.place).ok();
        let base = at.and_then(|at| self.known.get(at));
        let Known { chain, units, .. } =
            *base.ok_or_else(|| broken_pack("the base of a delta is not an object"))?;
        if chain == MAX_CHAIN {
            return Err(chain_too_long(MAX_CHAIN));
        }
        self.known.push(Known { place: self.begun, chain: chain + 1, units });
        self.body();
        Ok(())
    }

    /// Adds the result size of the current delta.
    fn add_result(&mut self, size: u64) -> Result<(), GitError> {
        self.unpacked.add(size, self.place)?;
        if let Some(known) = self.known.last_mut() {
            known.units = known.units.saturating_add(units(size));
        }
        Ok(())
    }

    /// Ends the current object.
    fn end(&mut self) -> Result<(), GitError> {
        if let Some(known) = self.known.last() {
            self.chains.add(known.total_bytes(), self.place)?;
        }
        self.begin();
        Ok(())
    }

    fn body(&mut self) {
        let is_difference = self.head.kind == BY_OFFSET;
        let front = is_difference.then(Vec::new);
        self.at = PackPosition::Body(Box::new(ObjectBody {
            stream: Decompress::new(true),
            size: self.head.size,
            front,
        }));
    }

    /// Unpacks a part of an object.
    fn unpack(&mut self, bytes: &mut &[u8]) -> Result<usize, GitError> {
        let PackPosition::Body(body) = &mut self.at else { return Ok(0) };
        let (read, made) = (body.stream.total_in(), body.stream.total_out());
        let done = body.stream.decompress(bytes, &mut self.scratch, FlushDecompress::None);
        let status = done.map_err(|_| broken_pack("failed to decompress an object"))?;
        let read = usize::try_from(body.stream.total_in() - read).unwrap_or(bytes.len());
        let made = usize::try_from(body.stream.total_out() - made).unwrap_or(DISCARD_BYTES);
        *bytes = bytes.get(read..).unwrap_or_default();
        self.place += read as u64;
        self.unpacked.add(made as u64, self.place)?;
        let is_over = matches!(status, Status::StreamEnd);
        let mut result = None;
        if let Some(front) = &mut body.front {
            let room = MAX_SIZES - front.len();
            front.extend(self.scratch.iter().take(made.min(room)));
            if is_over || front.len() == MAX_SIZES {
                let sizes = sizes(front).filter(|(base, result)| *base.max(result) <= self.limit);
                result = Some(sizes.ok_or_else(|| object_too_large(self.limit))?.1);
                body.front = None;
            }
        }
        if body.stream.total_out() > body.size || is_over && body.stream.total_out() < body.size {
            return Err(broken_pack("the size of an object differs from its declared size"));
        }
        if !is_over && read == 0 && made == 0 && !bytes.is_empty() {
            return Err(broken_pack("failed to decompress an object"));
        }
        if let Some(result) = result {
            self.add_result(result)?;
        }
        if is_over {
            self.end()?;
        }
        Ok(read + made + 1)
    }
}

/// Parses the header, and returns the number of objects.
fn count(start: &[u8]) -> Result<u32, GitError> {
    let number =
        |at: usize| start.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    match (start.starts_with(b"PACK"), number(4), number(8)) {
        (true, Some(2 | 3), Some(count)) if count > MAX_OBJECTS => {
            Err(GitError::TooLarge(format!("a repository must have at most {MAX_OBJECTS} objects")))
        }
        (true, Some(2 | 3), Some(count)) => Ok(count),
        _ => Err(broken_pack("its version is not supported")),
    }
}

/// Returns the base size and the result size at the beginning of a delta.
fn sizes(front: &[u8]) -> Option<(u64, u64)> {
    let mut bytes = front.iter();
    let mut number = || {
        let (mut number, mut shift) = (0_u64, 0);
        loop {
            let byte = bytes.next()?;
            if shift > MAX_NUMBER - 7 {
                return None;
            }
            number |= u64::from(byte & 127) << shift;
            if *byte < 128 {
                return Some(number);
            }
            shift += 7;
        }
    };
    Some((number()?, number()?))
}

fn broken_pack(why: &str) -> GitError {
    GitError::Broken(format!("the pack is damaged: {why}"))
}
