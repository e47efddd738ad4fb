//! Packs with repeated constructs: the process does not crash, and memory is proportional to the input.
//!
//! `DOCS_FUZZ_INPUTS=1000000 cargo test --release -p docs-git --lib packs_with -- --nocapture` tests a million inputs.

use std::{collections::HashMap, io::Write as _, sync::LazyLock};

use docs_hostile::{CONSTANT_MEMORY, Parser, ParserFn, Random};
use flate2::{Compression, write::ZlibEncoder};

use super::*;

#[test]
fn packs_with_repeats_take_memory_proportional_to_size() {
    docs_hostile::run_among_others(PARSERS);
}

const PARSERS: &[Parser] = &[Parser {
    name: "packs",
    pieces: PIECES,
    frames: &[("", ""), ("b", ""), ("", "xx")],
    most: 100_000,
    own: CONSTANT_MEMORY,
    read: ParserFn::Bytes { make: pack, read },
}];

/// One letter per object, see [`object`].
const PIECES: &[&str] = &["b", "t", "c", "z", "d", "D", "f", "F", "o", "n", "l", "L", "s", "u", "x", "0"];

/// Generates the response of a server with a pack of these objects, and changes some of its bytes. The framing and the
/// packet length depend on the number of objects.
fn pack(objects: &str) -> Vec<u8> {
    let mut random = Random::new(objects.len() as u64);
    let mut pack = Vec::from(*b"PACK\0\0\0\x02");
    let count =
        u32::try_from(objects.len()).unwrap_or_default().wrapping_add(u32::from(random.next_below(9) == 0));
    pack.extend(count.to_be_bytes());
    for letter in objects.chars() {
        // Other letters map to the last kind.
        pack.extend_from_slice(OBJECTS.get(&letter).map_or(&[0], Vec::as_slice));
    }
    if random.next_below(3) == 0 {
        random.change(&mut pack);
    }
    if random.next_below(4) == 0 {
        return pack;
    }
    let most = 1 + random.next_below(65_000);
    let mut out = Vec::new();
    for piece in pack.chunks(most) {
        out.extend(format!("{:04x}", piece.len() + 5).bytes());
        out.push(if random.next_below(50) == 0 { 2 } else { 1 });
        out.extend_from_slice(piece);
    }
    out.extend(*b"0000");
    out
}

/// The objects by letter, created once, because compressing one takes longer than reading it.
static OBJECTS: LazyLock<HashMap<char, Vec<u8>>> = LazyLock::new(|| {
    let made = |letter| {
        let mut out = Vec::new();
        object(letter, &mut out);
        (letter, out)
    };
    PIECES.iter().flat_map(|piece| piece.chars()).map(made).collect()
});

fn object(letter: char, out: &mut Vec<u8>) {
    let sizes = |base: u64, made: u64| [number(base), number(made), b"\x90\x01".to_vec()].concat();
    match letter {
        'b' => stored(3, 1, b"a", out),
        't' => stored(2, 1, b"a", out),
        'c' => stored(1, 1, b"a", out),
        'z' => stored(3, 1 << 16, &[0; 1 << 16], out),
        // The declared size is smaller or larger than the actual size.
        's' => stored(3, 1, &[0; 1 << 10], out),
        'l' => stored(3, 1 << 40, b"a", out),
        'L' => stored(2, 1 << 40, b"a", out),
        'd' => difference(1, &sizes(1, 1), out),
        'D' => difference(1, &sizes(1 << 40, 1), out),
        'f' => difference(1, &sizes(1, 1 << 40), out),
        'F' => difference(1, &[0xff; 40], out),
        'o' => difference(u64::MAX >> 8, &sizes(1, 1), out),
        'n' => head(7, 1, out),
        'u' => head(5, 1, out),
        'x' => out.push(0xff),
        _ => out.push(0),
    }
}

fn stored(kind: u8, size: u64, bytes: &[u8], out: &mut Vec<u8>) {
    head(kind, size, out);
    compressed(bytes, out);
}

/// Writes a delta whose base is `offset` bytes before it.
fn difference(offset: u64, bytes: &[u8], out: &mut Vec<u8>) {
    head(6, bytes.len() as u64, out);
    let mut digits = vec![(offset & 127) as u8];
    let mut rest = offset >> 7;
    while rest > 0 {
        rest -= 1;
        digits.insert(0, 128 | (rest & 127) as u8);
        rest >>= 7;
    }
    out.extend(digits);
    compressed(bytes, out);
}

fn head(kind: u8, size: u64, out: &mut Vec<u8>) {
    let more = |rest: u64| if rest > 0 { 128 } else { 0 };
    let mut rest = size >> 4;
    out.push(more(rest) | kind << 4 | (size & 15) as u8);
    while rest > 0 {
        let byte = (rest & 127) as u8;
        rest >>= 7;
        out.push(more(rest) | byte);
    }
}

fn number(mut number: u64) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let byte = (number & 127) as u8;
        number >>= 7;
        if number == 0 {
            out.push(byte);
            return out;
        }
        out.push(128 | byte);
    }
}

fn compressed(bytes: &[u8], out: &mut Vec<u8>) {
    let mut encoder = ZlibEncoder::new(out, Compression::fast());
    encoder.write_all(bytes).expect("bytes");
    encoder.finish().expect("bytes");
}

/// Inspects the bytes in chunks.
fn read(bytes: &[u8]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut scan = Scan::new(Limits::default());
    runtime.block_on(async {
        for piece in bytes.chunks(16 * 1024) {
            if scan.inspect(piece).await.is_err() {
                break;
            }
        }
    });
}

/// Returns the header of a pack.
fn header(objects: u32) -> Vec<u8> {
    [b"PACK\0\0\0\x02".as_slice(), &objects.to_be_bytes()].concat()
}

#[test]
fn packs_at_the_object_limit_take_bounded_memory() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let mut scan = Scan::new(Limits::default());
    let mut objects = Vec::new();
    (0..1_000).for_each(|_| object('b', &mut objects));
    let (done, bytes) = docs_hostile::own_peak_of(|| {
        runtime.block_on(async {
            scan.inspect(&header(MAX_OBJECTS)).await?;
            for _ in 0..MAX_OBJECTS / 1_000 {
                scan.inspect(&objects).await?;
            }
            Ok::<_, GitError>(())
        })
    });
    done.expect("a valid pack");
    assert!(matches!(scan.pack.at, PackPosition::End));
    assert!(bytes < 64 << 20, "{bytes}");
}

#[tokio::test]
async fn packs_with_more_objects_than_the_limit_are_refused() {
    let error = Scan::new(Limits::default()).inspect(&header(MAX_OBJECTS + 1)).await;
    let error = error.expect_err("too many objects");
    assert!(matches!(&error, GitError::TooLarge(said) if said.contains("1000000 objects")), "{error}");
}

/// libgit2 receives no bytes after the rejected ones.
#[tokio::test]
async fn a_kilobyte_with_a_chain_of_gigabytes_is_refused_early() {
    let size = 100_000_000;
    let mut pack = Vec::from(*b"PACK\0\0\0\x02\0\0\0\x29");
    let mut begun = pack.len();
    object('b', &mut pack);
    for number in 0..40 {
        let offset = (pack.len() - begun) as u64;
        begun = pack.len();
        let base = if number == 0 { 1 } else { size };
        let sizes = [super::hostile::number(base), super::hostile::number(size)].concat();
        difference(offset, &[sizes, b"\x90\x01".to_vec()].concat(), &mut pack);
    }
    assert!(pack.len() < 1_206, "{}", pack.len());
    let mut scan = Scan::new(Limits::default());
    let error = scan.inspect(&pack).await.expect_err("a chain of 82 GB");
    assert!(matches!(error, GitError::TooLarge(_)), "{error}");
    let (unpacked, chains) = (scan.pack.unpacked.used(), scan.pack.chains.used());
    assert!(unpacked <= 4 * size && chains <= 10 * size, "{unpacked} {chains}");
}
