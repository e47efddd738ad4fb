//! Unpacking of archives.

use std::io::{Cursor, Write as _};

use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

use super::{refused, zip};
use crate::{MAX_PACKED_BYTES, unpack};

fn paths(archive: &[u8]) -> Vec<String> {
    unpack(archive).unwrap().files.into_iter().map(|file| file.path).collect()
}

#[test]
fn files_are_unpacked_with_normalized_paths() {
    let archive = zip(&[("README.md", b"# Hello"), ("a/b.png", b"png"), ("./c//d.md", b"d")]);
    let files = unpack(&archive).unwrap().files;
    assert_eq!(paths(&archive), ["README.md", "a/b.png", "c/d.md"]);
    assert_eq!(&files[0].bytes[..], b"# Hello");
}

#[test]
fn directories_symlinks_and_nested_archives_are_skipped() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default();
    writer.add_directory("folder", options).unwrap();
    writer.add_symlink("link", "/etc/passwd", options).unwrap();
    writer.start_file("a.md", options).unwrap();
    writer.write_all(b"a").unwrap();
    writer.start_file("inner.ZIP", options).unwrap();
    writer.write_all(&zip(&[("x", b"x")])).unwrap();
    let archive = writer.finish().unwrap().into_inner();
    assert_eq!(paths(&archive), ["a.md"]);
}

#[test]
fn path_traversal_and_overlong_paths_are_refused() {
    for path in ["../a.md", "a/../../b.md", "/etc/a.md", "..\\a.md", "C:\\a.md", "a/..", "a\0b"] {
        let message = refused(unpack(&zip(&[("fine.md", b"x"), (path, b"x")])));
        assert_eq!(message, "the archive has a path that leaves the archive", "{path:?}");
    }
    let long = "a/".repeat(600);
    assert!(refused(unpack(&zip(&[(&format!("{long}b.md"), b"x")]))).contains("1024 bytes"));
}

#[test]
fn excessive_compression_ratio_is_refused() {
    let zeros = vec![0; 3_000_000];
    let message = refused(unpack(&zip(&[("bomb", &zeros)])));
    assert!(message.contains("must unpack to at most"), "{message}");
    // Large text that compresses well is accepted.
    let text: String = (0..200_000).map(|n| format!("line {n}\n")).collect();
    assert_eq!(unpack(&zip(&[("a.md", text.as_bytes())])).unwrap().files[0].bytes.len(), text.len());
}

/// Returns bytes of at least 0xe0. One in 16 is random, so that the bound of the compression ratio is not reached.
fn hardly_compressible(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut bytes = vec![0xff; length];
    for byte in &mut bytes[..length / 16] {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = 0xe0 | state.to_be_bytes()[0];
    }
    bytes
}

#[test]
fn total_unpacked_size_is_limited_across_entries() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let content = hardly_compressible(1_000_000);
    for at in 0..220 {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(format!("{at}"), options).unwrap();
        writer.write_all(&content).unwrap();
    }
    let message = refused(unpack(&writer.finish().unwrap().into_inner()));
    assert!(message.contains("200 MB in total"), "{message}");
}

/// Files below the size from which each is checked must not add up to far more than the archive.
#[test]
fn compression_ratio_is_limited_across_entries() {
    let archive = |files: usize| {
        let text = "# a\n".repeat(12_500);
        let names: Vec<String> = (0..files).map(|at| format!("{at}.md")).collect();
        let files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), text.as_bytes())).collect();
        unpack(&zip(&files))
    };
    assert_eq!(archive(200).unwrap().files.len(), 200);
    let message = refused(archive(201));
    assert!(message.ends_with("50 times its own size"), "{message}");
}

#[test]
fn archive_with_too_many_entries_is_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..10_001 {
        writer.start_file(format!("{at}"), SimpleFileOptions::default()).unwrap();
    }
    let message = refused(unpack(&writer.finish().unwrap().into_inner()));
    assert_eq!(message, "the archive must have at most 10000 entries");
}

#[test]
fn an_encrypted_archive_is_refused() {
    let mut archive = zip(&[("a.md", b"secret")]);
    // The lowest flag bit of an entry marks it as encrypted, in the local header and in the directory.
    for (signature, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let at = archive.windows(4).position(|window| window == signature).unwrap();
        archive[at + flags] |= 1;
    }
    assert_eq!(refused(unpack(&archive)), "the archive must not be encrypted");
}

#[test]
fn invalid_empty_and_oversized_archives_are_refused() {
    let whole = zip(&[("a.md", b"some text that is long enough"), ("b.md", b"more")]);
    for bytes in [&b""[..], b"PK\x03\x04", b"<html>", &whole[..whole.len() / 2], &whole[..whole.len() - 1]] {
        let message = refused(unpack(bytes));
        assert!(message.starts_with("must be a zip archive: "), "{message}");
    }
    assert_eq!(refused(unpack(&zip(&[]))), "the archive must contain at least one file");
    let mut damaged = whole;
    damaged[40] ^= 0xff;
    assert!(refused(unpack(&damaged)).starts_with("cannot read the archive: "));
    assert!(refused(unpack(&vec![0; MAX_PACKED_BYTES + 1])).contains("must have at most 100000000 bytes"));
}

#[test]
fn archives_within_an_archive_are_unpacked() {
    let inner = zip(&[("a/b.md", b"b"), ("c.md", b"c")]);
    let other = zip(&[("c.md", b"other"), ("d.md", b"d")]);
    let archive = zip(&[("x/Part-1.zip", &inner), ("x/Part-2.zip", &other), ("__MACOSX/._x", b"litter")]);
    assert_eq!(paths(&archive), ["x/a/b.md", "x/c.md", "x/Part-2/c.md", "x/d.md"]);
    // Archives next to other files are downloads of a page.
    let mixed = unpack(&zip(&[("a.md", b"a"), ("b.zip", &inner), ("c.tar.gz", b"x")])).unwrap();
    assert_eq!(mixed.files.len(), 1);
    assert_eq!(
        mixed.warnings,
        [
            "left out: `b.zip`, an archive within the archive",
            "left out: `c.tar.gz`, an archive within the archive"
        ]
    );
}

#[test]
fn archives_in_each_other_beyond_the_bound_are_left_out() {
    let nested = |depth: usize| (0..depth).fold(zip(&[("a.md", b"a")]), |inner, _| zip(&[("i.zip", &inner)]));
    assert_eq!(paths(&nested(2)), ["a.md"]);
    let message = refused(unpack(&nested(3)));
    assert_eq!(
        message,
        "the archive must contain at least one file; left out: `i.zip`, an archive within the archive"
    );
}

#[test]
fn archives_within_an_archive_share_its_limits() {
    let stored = |files: Vec<(String, Vec<u8>)>| {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, bytes) in files {
            let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
            writer.start_file(path, options).unwrap();
            writer.write_all(&bytes).unwrap();
        }
        writer.finish().unwrap().into_inner()
    };
    let many = zip(&(0..6_000)
        .map(|_| ("", &b""[..]))
        .enumerate()
        .map(|(at, (_, bytes))| (&*at.to_string().leak(), bytes))
        .collect::<Vec<_>>());
    let message = refused(unpack(&zip(&[("1.zip", &many), ("2.zip", &many)])));
    assert_eq!(message, "the archive must have at most 10000 entries");
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for at in 0..60 {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        writer.start_file(format!("{at}"), options).unwrap();
        writer.write_all(&vec![0; 1_000_000]).unwrap();
    }
    let inner = writer.finish().unwrap().into_inner();
    let archive = stored((0..4).map(|at| (format!("{at}.zip"), inner.clone())).collect());
    assert!(refused(unpack(&archive)).contains("200 MB in total"));
    // A damaged archive does not stop the others.
    let fine = zip(&[("a.md", b"a")]);
    let unpacked = unpack(&zip(&[("1.zip", b"no archive"), ("2.zip", &fine)])).unwrap();
    assert_eq!((unpacked.files.len(), unpacked.warnings.len()), (1, 1));
}

#[test]
fn warnings_of_an_archive_beyond_the_bound_are_counted() {
    let names: Vec<String> =
        (0..=docs_ports::MAX_CONVERSION_WARNINGS).map(|at| format!("{at}.tar")).collect();
    let mut files: Vec<(&str, &[u8])> = names.iter().map(|name| (name.as_str(), &b"x"[..])).collect();
    files.push(("a.md", b"a"));
    let warnings = unpack(&zip(&files)).unwrap().warnings;
    assert_eq!(warnings.len(), docs_ports::MAX_CONVERSION_WARNINGS);
    assert_eq!(warnings.last().unwrap(), "left out: 2 other entries");
}

#[test]
fn a_path_with_more_folders_than_the_bound_is_refused() {
    let deep = |folders: usize| zip(&[(&*format!("{}a.txt", "d/".repeat(folders)), b"a")]);
    assert_eq!(unpack(&deep(64)).unwrap().files.len(), 1);
    let message = "a path in the archive must have at most 64 folders";
    assert_eq!(refused(unpack(&deep(65))), message);
    // The folders around a nested archive count.
    let nested = |folders: usize| zip(&[(&*format!("{}i.zip", "d/".repeat(folders)), &*deep(32))]);
    assert_eq!(unpack(&nested(32)).unwrap().files.len(), 1);
    assert!(refused(unpack(&nested(33))).contains(message));
}

#[test]
fn markdown_of_an_archive_is_converted_to_utf_8() {
    let latin = [b"# Caf".as_slice(), &[0xe9; 3]].concat();
    let binary = b"\xff\0".as_slice();
    let archive = zip(&[("a.md", &latin), ("b.MD", b"\xff\xfex\0"), ("c.md", binary), ("d.txt", &latin)]);
    let files = unpack(&archive).unwrap().files;
    let bytes: Vec<&[u8]> = files.iter().map(|file| &file.bytes[..]).collect();
    assert_eq!(bytes, ["# Caf\u{e9}\u{e9}\u{e9}".as_bytes(), b"x", binary, &latin]);
}

/// Bytes that are not UTF-8 become up to three times as many.
#[test]
fn the_total_size_of_pages_is_that_of_their_utf_8() {
    let page = hardly_compressible(500_000);
    let names: Vec<String> = (0..60).map(|at| format!("{at}.md")).collect();
    let of = |count: usize| {
        zip(&names.iter().take(count).map(|name| (name.as_str(), page.as_slice())).collect::<Vec<_>>())
    };
    // The compression ratio of larger files is limited.
    assert_eq!(unpack(&of(50)).unwrap().files.len(), 50);
    let message = refused(unpack(&of(60)));
    assert_eq!(message, "the pages of the archive must be at most 50000000 bytes together, have 50500000");
}

#[test]
fn an_archive_with_many_end_records_is_refused() {
    let zip64_end = b"PK\x06\x06".iter().chain(&[0; 52]).copied();
    let mut bytes: Vec<u8> = std::iter::repeat_n(zip64_end, 5_000).flatten().collect();
    for _ in 0..500 {
        bytes.extend_from_slice(b"PK\x06\x07");
        bytes.extend([0; 16]);
        bytes.extend_from_slice(b"PK\x05\x06");
        bytes.extend([0; 4]);
        bytes.extend([0xff; 12]);
        bytes.extend([0; 2]);
    }
    let message = refused(unpack(&bytes));
    assert!(message.contains("must have one directory"), "{message}");
}
