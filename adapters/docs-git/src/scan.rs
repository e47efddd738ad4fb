//! A look at a pack while it arrives: what libgit2 would unpack in memory is bounded before it gets it.
//!
//! libgit2 takes a file that is stored whole piece by piece, however large it is. Folders, commits and tags it unpacks
//! in memory, and so whatever is stored as a difference, with all that it differs from: a few kilobytes of a pack can
//! stand for gigabytes there.
//!
//! Nor does libgit2 come to an end with a pack in which an object is there twice and one of the two differs from what
//! it names by its id (`resolve_deltas` of its `indexer.c`): it tries again for ever, and each time it keeps memory.
//! Whether an object is there twice shows when all are unpacked. So no difference may name what it differs from:
//! servers that are asked for the place of it, as libgit2 asks them, have no need to, unless they send less than a
//! whole pack, for which they are not asked ([`Offer`]).

mod frame;
#[cfg(test)]
mod hostile;
mod offer;

use std::collections::HashSet;

use docs_ports::GitError;
use flate2::{Decompress, FlushDecompress, Status};

use self::frame::Frame;
pub(crate) use self::offer::Offer;
use crate::{Limits, meter::object_too_large};

/// Most objects of a pack: libgit2 makes room for as many as a pack says that it has.
const MAX_OBJECTS: u32 = 20_000_000;

/// Bytes that are unpacked at once, and forgotten.
const PIECE: usize = 64 * 1024;

/// Bytes that are looked at before others may work.
const SHARE: usize = 16 * PIECE;

/// The sizes at the front of a difference: two numbers of seven bits a byte.
const MAX_SIZES: usize = 20;

/// The bytes of a number of 64 bits, seven a byte.
const MAX_NUMBER: u32 = 63;

/// What has arrived of an answer that may hold a pack.
pub(crate) struct Scan {
    frame: Frame,
    pack: Pack,
}

impl Scan {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { frame: Frame::new(), pack: Pack::new(limits.object_bytes()) }
    }

    /// Looks at what has arrived, and lets others work in between.
    ///
    /// # Errors
    /// [`GitError::TooLarge`] for an object that would have to be held in memory, [`GitError::Broken`] for what is no
    /// pack.
    ///
    /// # Cancel safety
    /// None: what was looked at in part cannot be gone on with.
    pub(crate) async fn look(&mut self, mut bytes: &[u8]) -> Result<(), GitError> {
        let mut done = 0;
        while let Some(mut packed) = self.frame.next(&mut bytes)? {
            while !packed.is_empty() {
                done += self.pack.step(&mut packed)?;
                if done >= SHARE {
                    done = 0;
                    tokio::task::yield_now().await;
                }
            }
        }
        Ok(())
    }
}

/// Where in a pack the bytes are.
enum At {
    /// Its first twelve bytes.
    Start(Vec<u8>),
    /// The kind and the size of an object.
    Head(Head),
    /// How far before it the object is that it differs from.
    Offset(u64),
    /// What is compressed.
    Body(Box<Body>),
    /// The checksum, and whatever comes then: libgit2 looks at it.
    End,
}

#[derive(Default)]
struct Head {
    kind: u8,
    size: u64,
    shift: u32,
}

/// An object that is unpacked.
struct Body {
    stream: Decompress,
    size: u64,
    /// The front of a difference.
    front: Option<Vec<u8>>,
}

struct Pack {
    at: At,
    /// Most bytes of what is held in memory.
    limit: u64,
    /// Where in the pack the next byte is, and the object that is looked at.
    place: u64,
    begun: u64,
    left: u32,
    head: Head,
    /// Where the files begin that are stored whole and are larger than that.
    large: HashSet<u64>,
    scratch: Box<[u8]>,
}

const BLOB: u8 = 3;
const BY_OFFSET: u8 = 6;
const BY_NAME: u8 = 7;

impl Pack {
    fn new(limit: u64) -> Self {
        Self {
            at: At::Start(Vec::new()),
            limit,
            place: 0,
            begun: 0,
            left: 0,
            head: Head::default(),
            large: HashSet::new(),
            scratch: vec![0; PIECE].into_boxed_slice(),
        }
    }

    /// Looks at some of the bytes; answers how much work it was.
    fn step(&mut self, bytes: &mut &[u8]) -> Result<usize, GitError> {
        if let At::Body(_) = &self.at {
            return self.unpack(bytes);
        }
        if let At::End = &self.at {
            *bytes = &[];
            return Ok(1);
        }
        let Some(byte) = self.take(bytes) else { return Ok(0) };
        match &mut self.at {
            At::Start(start) => {
                start.push(byte);
                if start.len() == 12 {
                    self.left = count(start)?;
                    self.begin();
                }
            }
            At::Head(head) => {
                if head.shift == 0 {
                    head.kind = byte >> 4 & 7;
                    head.size = u64::from(byte & 15);
                    head.shift = 4;
                } else if head.shift > MAX_NUMBER - 7 {
                    return Err(broken("the size of an object has too many digits"));
                } else {
                    head.size |= u64::from(byte & 127) << head.shift;
                    head.shift += 7;
                }
                if byte < 128 {
                    self.head = std::mem::take(head);
                    self.check_head()?;
                }
            }
            At::Offset(offset) => {
                *offset = offset.checked_mul(128).ok_or_else(|| broken("an offset has too many digits"))?;
                *offset += u64::from(byte & 127);
                match byte < 128 {
                    true => self.check_offset()?,
                    false => *offset += 1,
                }
            }
            At::Body(_) | At::End => {}
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
                At::Head(Head::default())
            }
            None => At::End,
        };
    }

    fn check_head(&mut self) -> Result<(), GitError> {
        let Head { kind, size, .. } = self.head;
        if size > self.limit {
            if kind != BLOB {
                return Err(object_too_large(self.limit));
            }
            self.large.insert(self.begun);
        }
        match kind {
            1..=4 => self.body(),
            BY_OFFSET => self.at = At::Offset(0),
            BY_NAME => {
                let why = "the server sends objects that name what they differ from, which are not taken";
                return Err(GitError::Broken(why.to_owned()));
            }
            _ => return Err(broken("an object is of no kind that is known")),
        }
        Ok(())
    }

    fn check_offset(&mut self) -> Result<(), GitError> {
        let At::Offset(offset) = self.at else { return Ok(()) };
        let base = self.begun.checked_sub(offset).filter(|_| offset > 0);
        let base = base.ok_or_else(|| broken("an object differs from what is not in the pack"))?;
        if self.large.contains(&base) {
            return Err(object_too_large(self.limit));
        }
        self.body();
        Ok(())
    }

    fn body(&mut self) {
        let is_difference = self.head.kind == BY_OFFSET;
        let front = is_difference.then(Vec::new);
        self.at = At::Body(Box::new(Body { stream: Decompress::new(true), size: self.head.size, front }));
    }

    /// Unpacks some of an object.
    fn unpack(&mut self, bytes: &mut &[u8]) -> Result<usize, GitError> {
        let At::Body(body) = &mut self.at else { return Ok(0) };
        let (read, made) = (body.stream.total_in(), body.stream.total_out());
        let done = body.stream.decompress(bytes, &mut self.scratch, FlushDecompress::None);
        let status = done.map_err(|_| broken("an object cannot be unpacked"))?;
        let read = usize::try_from(body.stream.total_in() - read).unwrap_or(bytes.len());
        let made = usize::try_from(body.stream.total_out() - made).unwrap_or(PIECE);
        *bytes = bytes.get(read..).unwrap_or_default();
        self.place += read as u64;
        let is_over = matches!(status, Status::StreamEnd);
        if let Some(front) = &mut body.front {
            let room = MAX_SIZES - front.len();
            front.extend(self.scratch.iter().take(made.min(room)));
            if (is_over || front.len() == MAX_SIZES) && sizes(front).is_none_or(|most| most > self.limit) {
                return Err(object_too_large(self.limit));
            }
        }
        if body.stream.total_out() > body.size || is_over && body.stream.total_out() < body.size {
            return Err(broken("an object has another size than it says"));
        }
        if is_over {
            self.begin();
        } else if read == 0 && made == 0 && !bytes.is_empty() {
            return Err(broken("an object cannot be unpacked"));
        }
        Ok(read + made + 1)
    }
}

/// How many objects there are.
fn count(start: &[u8]) -> Result<u32, GitError> {
    let number =
        |at: usize| start.get(at..at + 4).and_then(|four| four.try_into().ok()).map(u32::from_be_bytes);
    match (start.starts_with(b"PACK"), number(4), number(8)) {
        (true, Some(2 | 3), Some(count)) if count > MAX_OBJECTS => {
            Err(GitError::TooLarge(format!("at most {MAX_OBJECTS} objects are allowed in a repository")))
        }
        (true, Some(2 | 3), Some(count)) => Ok(count),
        _ => Err(broken("it is no pack of a version that is known")),
    }
}

/// The larger of the two sizes at the front of a difference: of what it differs from, and of what it makes.
fn sizes(front: &[u8]) -> Option<u64> {
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
    Some(number()?.max(number()?))
}

fn broken(why: &str) -> GitError {
    GitError::Broken(format!("the pack is damaged: {why}"))
}
