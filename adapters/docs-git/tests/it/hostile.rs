//! Malicious repositories, on disk and served by malicious servers.

use std::{io::Write as _, time::Duration};

use docs_git::{GitClient, Limits, Outbound};
use docs_ports::{GitError, GitRemote as _};
use git2::{ObjectType, Oid};

use crate::{
    fixture::{Fixture, LINK, client, error_of, fetch, file, files, paths, push_on, request},
    server::{Server, has_git, web},
};

/// A pack with arbitrary content, as sent by a malicious server.
struct Pack {
    bytes: Vec<u8>,
    count: u32,
}

const COMMIT: u8 = 1;
const TREE: u8 = 2;
const BLOB: u8 = 3;
const TAG: u8 = 4;
const BY_OFFSET: u8 = 6;
const BY_NAME: u8 = 7;

impl Pack {
    fn new() -> Self {
        Self { bytes: b"PACK\0\0\0\x02\0\0\0\0".to_vec(), count: 0 }
    }

    /// Adds an object with a declared size, and returns its offset.
    fn add(&mut self, kind: u8, size: u64, before: &[u8], content: &[u8]) -> usize {
        let place = self.bytes.len();
        self.count += 1;
        let (mut byte, mut rest) = (kind << 4 | (size & 15) as u8, size >> 4);
        while rest > 0 {
            self.bytes.push(byte | 128);
            (byte, rest) = ((rest & 127) as u8, rest >> 7);
        }
        self.bytes.push(byte);
        self.bytes.extend_from_slice(before);
        self.bytes.extend_from_slice(&deflated(content));
        place
    }

    fn whole(&mut self, kind: u8, content: &[u8]) -> usize {
        self.add(kind, content.len() as u64, &[], content)
    }

    /// Finishes the pack with a declared number of objects.
    fn finish_with(mut self, count: u32) -> Vec<u8> {
        self.bytes[8..12].copy_from_slice(&count.to_be_bytes());
        let sum = <sha1::Sha1 as sha1::Digest>::digest(&self.bytes);
        self.bytes.extend_from_slice(&sum);
        self.bytes
    }

    fn finish(self) -> Vec<u8> {
        let count = self.count;
        self.finish_with(count)
    }
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns the beginning of a delta: the base size and the result size.
fn difference(base: u64, result: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut size in [base, result] {
        while size > 127 {
            bytes.push((size & 127) as u8 | 128);
            size >>= 7;
        }
        bytes.push(size as u8);
    }
    bytes
}

fn line(text: &[u8]) -> Vec<u8> {
    [format!("{:04x}", text.len() + 4).as_bytes(), text].concat()
}

/// The framing of a pack.
#[derive(Clone, Copy, Debug)]
enum Lines {
    Banded,
    Raw,
}

/// Starts a server that advertises an object as `main`, and sends this pack to every client.
fn liar(tip: Oid, pack: Vec<u8>, lines: Lines) -> Server {
    Server::new(move |mut stream| {
        let Some(request) = crate::server::read_request(&stream) else { return };
        let (kind, body) = if request.line.starts_with("GET") {
            let with = if matches!(lines, Lines::Banded) { "side-band-64k ofs-delta" } else { "ofs-delta" };
            let mut body = line(b"# service=git-upload-pack\n");
            body.extend_from_slice(b"0000");
            body.extend(line(format!("{tip} refs/heads/main\0{with}\n").as_bytes()));
            body.extend_from_slice(b"0000");
            ("advertisement", body)
        } else {
            let mut body = line(b"NAK\n");
            match lines {
                Lines::Raw => body.extend_from_slice(&pack),
                Lines::Banded => {
                    for piece in pack.chunks(999) {
                        body.extend(line(&[&[1], piece].concat()));
                    }
                    body.extend_from_slice(b"0000");
                }
            }
            ("result", body)
        };
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-{kind}\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n",
            body.len()
        );
        // The client closes the connection when it has read enough.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    })
}

/// Limit for objects in memory, in bytes.
const LIMIT: u64 = 1_000_000;

fn limited() -> GitClient {
    GitClient::new(Outbound::Private).unwrap().with_limits(Limits { file_bytes: LIMIT, ..Limits::default() })
}

fn id(kind: ObjectType, bytes: &[u8]) -> Oid {
    Oid::hash_object(kind, bytes).unwrap()
}

fn commit_of(tree: Oid) -> Vec<u8> {
    format!("tree {tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n\nx\n").into_bytes()
}

fn tree_of(entries: &[(&str, &str, Oid)]) -> Vec<u8> {
    let entry = |(mode, name, id): &(&str, &str, Oid)| {
        [format!("{mode} {name}\0").as_bytes(), id.as_bytes()].concat()
    };
    entries.iter().flat_map(entry).collect()
}

/// Creates a pack of a commit with one file, and adds further objects before the commit. Returns the commit and the
/// pack.
fn pack_with(blob: &[u8], more: impl FnOnce(&mut Pack, usize)) -> (Oid, Vec<u8>) {
    let tree = tree_of(&[("100644", "a.md", id(ObjectType::Blob, blob))]);
    let commit = commit_of(id(ObjectType::Tree, &tree));
    let mut pack = Pack::new();
    let place = pack.whole(BLOB, blob);
    more(&mut pack, place);
    pack.whole(TREE, &tree);
    pack.whole(COMMIT, &commit);
    (id(ObjectType::Commit, &commit), pack.finish())
}

/// Encodes the distance from an offset to the end of a pack as a base offset.
fn offset(pack: &Pack, place: usize) -> Vec<u8> {
    let mut left = pack.bytes.len() - place;
    let mut bytes = vec![(left & 127) as u8];
    left >>= 7;
    while left > 0 {
        left -= 1;
        bytes.push((left & 127) as u8 | 128);
        left >>= 7;
    }
    bytes.reverse();
    bytes
}

async fn fetched_from(server: &Server) -> Result<Box<dyn docs_ports::Checkout>, GitError> {
    limited().fetch(&request(&format!("http://{}/repo.git", server.address()), "refs/heads/main")).await
}

#[tokio::test]
async fn valid_packs_with_deltas_and_large_files_are_fetched() {
    let zeros = vec![0; 3 * LIMIT as usize];
    for lines in [Lines::Banded, Lines::Raw] {
        let text = b"# A\n";
        let (tip, pack) = pack_with(text, |pack, place| {
            // Another file as a delta against the first one: its bytes plus one more.
            let more = [difference(4, 5), vec![0b1001_0000, 4, 1, b'!']].concat();
            pack.add(BY_OFFSET, more.len() as u64, &offset(pack, place), &more);
        });
        let checkout = fetched_from(&liar(tip, pack, lines)).await.unwrap();
        assert_eq!(paths(&*checkout), ["a.md"]);
        assert_eq!(&checkout.read("a.md").await.unwrap()[..], text);
        // A file that is too large to be read does not affect the others, because it is never held in memory.
        let (tip, pack) = pack_with(&zeros, |_, _| {});
        let checkout = fetched_from(&liar(tip, pack, lines)).await.unwrap();
        assert_eq!(checkout.entries()[0].size, zeros.len() as u64);
        assert!(matches!(checkout.read("a.md").await, Err(GitError::TooLarge(_))));
    }
}

/// Creates a pack with a delta chain. Its last object is the file at `width` paths in each of `width` folders, all of
/// which are the same tree. Returns the commit and the pack.
fn deep_pack(depth: u32, width: usize) -> (Oid, Vec<u8>) {
    let blob = |number: u32| format!("{number:08}# hello world\n").into_bytes();
    let mut pack = Pack::new();
    let size = blob(0).len() as u64;
    let mut last = pack.whole(BLOB, &blob(0));
    for number in 1..=depth {
        // Eight new bytes, and the rest of the base.
        let bytes = [
            difference(size, size),
            vec![8],
            blob(number)[..8].to_vec(),
            vec![0b1001_0001, 8, size as u8 - 8],
        ];
        let bytes = bytes.concat();
        last = pack.add(BY_OFFSET, bytes.len() as u64, &offset(&pack, last), &bytes);
    }
    let end = id(ObjectType::Blob, &blob(depth));
    let names: Vec<_> = (0..width).map(|number| format!("f{number:04}.md")).collect();
    let inner: Vec<_> = names.iter().map(|name| ("100644", name.as_str(), end)).collect();
    let inner = tree_of(&inner);
    let folder = id(ObjectType::Tree, &inner);
    let root: Vec<_> = names.iter().map(|name| ("40000", name.as_str(), folder)).collect();
    let root = tree_of(&root);
    let commit = commit_of(id(ObjectType::Tree, &root));
    pack.whole(TREE, &inner);
    pack.whole(TREE, &root);
    pack.whole(COMMIT, &commit);
    (id(ObjectType::Commit, &commit), pack.finish())
}

/// Reading the header of each of the 160,400 entries would take 40 seconds, because each read covers the whole chain.
#[tokio::test]
async fn an_object_at_many_paths_is_read_once() {
    let (tip, pack) = deep_pack(4095, 400);
    let server = liar(tip, pack, Lines::Banded);
    let url = format!("http://{}/repo.git", server.address());
    let client = limited().with_limits(Limits { time: Duration::from_secs(15), ..Limits::default() });
    let checkout = client.fetch(&request(&url, "refs/heads/main")).await.unwrap();
    assert_eq!(checkout.entries().len(), 400 * 400);
    assert_eq!(&checkout.read("f0399.md/f0399.md").await.unwrap()[..], b"00004095# hello world\n");
}

#[tokio::test]
async fn chains_of_deltas_have_a_limit() {
    let (tip, pack) = deep_pack(4096, 1);
    for lines in [Lines::Banded, Lines::Raw] {
        let error = error_of(fetched_from(&liar(tip, pack.clone(), lines)).await);
        let is_told = matches!(&error, GitError::TooLarge(why) if why.contains("more than 4095 deltas"));
        assert!(is_told, "{error:?}");
    }
}

/// Creates a pack with a file of 64 KiB, and deltas that each result in 900,000 bytes and differ in the first byte. The
/// base of each is the file or the previous delta. Returns the commit and the pack.
fn wide_pack(count: u8, chain: Chain) -> (Oid, Vec<u8>) {
    let zeros = vec![0; 65_536];
    let size = 900_000;
    pack_with(&zeros, |pack, mut base| {
        for number in 0..count {
            let (has, copy) = match (chain, number) {
                // Copy instructions of at most 65,536 bytes.
                (Chain::No, _) | (_, 0) => {
                    let rest = (size - 1) % 65_536;
                    let whole = vec![0x80; (size - 1) / 65_536];
                    (zeros.len(), [whole, vec![0b1011_0000, rest as u8, (rest >> 8) as u8]].concat())
                }
                (Chain::Yes, _) => {
                    let length = (size - 1).to_le_bytes();
                    (size, [&[0b1111_0000][..], &length[..3]].concat())
                }
            };
            let bytes = [difference(has as u64, size as u64), vec![1, number + 1], copy].concat();
            let place = pack.add(BY_OFFSET, bytes.len() as u64, &offset(pack, base), &bytes);
            if matches!(chain, Chain::Yes) {
                base = place;
            }
        }
    })
}

#[derive(Clone, Copy, Debug)]
enum Chain {
    Yes,
    No,
}

#[tokio::test]
async fn unpacked_objects_have_a_limit_in_total() {
    for (chain, limits, told) in [
        (Chain::No, Limits { unpacked_bytes: 9_100_000, ..Limits::default() }, None),
        (Chain::No, Limits { unpacked_bytes: 9_000_000, ..Limits::default() }, Some("at most 9 MB in total")),
        (Chain::No, Limits { chain_bytes: 9_800_000, ..Limits::default() }, None),
        // 10 + 9 + … + 1 times 900,000 bytes, and ten times the base of 65,536 bytes and the base itself.
        (Chain::Yes, Limits { chain_bytes: 50_300_000, ..Limits::default() }, None),
        (Chain::Yes, Limits { chain_bytes: 50_000_000, ..Limits::default() }, Some("each with the bases")),
    ] {
        let (tip, pack) = wide_pack(10, chain);
        for lines in [Lines::Banded, Lines::Raw] {
            let server = liar(tip, pack.clone(), lines);
            let url = format!("http://{}/repo.git", server.address());
            let client = limited().with_limits(limits);
            let result = client.fetch(&request(&url, "refs/heads/main")).await;
            match told {
                None => assert_eq!(paths(&*result.unwrap()), ["a.md"]),
                Some(told) => {
                    let error = error_of(result);
                    let is_told = matches!(&error, GitError::TooLarge(why) if why.contains(told));
                    assert!(is_told, "{chain:?} {lines:?}: {error:?}");
                }
            }
        }
    }
}

/// The limits for a repository of any size would permit 50 GB of work for this pack of a few kilobytes.
#[tokio::test]
async fn a_small_pack_of_gigabytes_is_refused() {
    for (chain, count, told) in [
        (Chain::No, 220, None),
        (Chain::No, 250, Some("at most 200 MB plus 200 times the received bytes in total")),
        (Chain::Yes, 70, None),
        (Chain::Yes, 90, Some("at most 3000 MB plus 1000 times the received bytes in total")),
    ] {
        let (tip, pack) = wide_pack(count, chain);
        assert!(pack.len() < 20_000, "{}", pack.len());
        let result = fetched_from(&liar(tip, pack, Lines::Banded)).await;
        match told {
            None => assert_eq!(paths(&*result.unwrap()), ["a.md"]),
            Some(told) => {
                let error = error_of(result);
                let is_told = matches!(&error, GitError::TooLarge(why) if why.contains(told));
                assert!(is_told, "{chain:?}: {error:?}");
            }
        }
    }
}

#[tokio::test]
async fn the_reference_advertisement_has_a_limit() {
    let server = Server::new(|mut stream| {
        let Some(_) = crate::server::read_request(&stream) else { return };
        let tip = Oid::from_bytes(&[7; 20]).unwrap();
        let mut body = line(b"# service=git-upload-pack\n");
        body.extend_from_slice(b"0000");
        body.extend(line(format!("{tip} refs/heads/main\0ofs-delta\n").as_bytes()));
        for number in 0..20_000 {
            body.extend(line(format!("{tip} refs/heads/{number}\n").as_bytes()));
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\
                    Connection: close\r\n\r\n";
        // The client closes the connection when it has read enough.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
    });
    let url = format!("http://{}/repo.git", server.address());
    let client = limited().with_limits(Limits { total_bytes: LIMIT, ..Limits::default() });
    let request = request(&url, "refs/heads/main");
    let fetched = error_of(client.fetch(&request).await);
    let resolved = client.resolve(&request).await.unwrap_err();
    for error in [fetched, resolved] {
        assert_eq!(error.to_string(), "a repository must be at most 1 MB");
    }
}

/// A delta inside the content of a file would not be inspected.
#[tokio::test]
async fn a_delta_of_something_inside_an_object_is_refused() {
    let same = [difference(4, 4), vec![0b1001_0000, 4]].concat();
    let (tip, pack) = pack_with(b"# A\n", |pack, place| {
        pack.add(BY_OFFSET, same.len() as u64, &offset(pack, place + 1), &same);
    });
    let error = error_of(fetched_from(&liar(tip, pack, Lines::Banded)).await);
    assert!(matches!(&error, GitError::Broken(why) if why.contains("not an object")), "{error:?}");
}

/// A name, a file, and the objects added to the pack after the file.
type Bomb = (&'static str, Vec<u8>, Box<dyn FnOnce(&mut Pack, usize)>);

/// Returns more bytes than the limit.
fn zeros() -> Vec<u8> {
    vec![0; LIMIT as usize + 1]
}

/// Creates a large object without delta compression.
fn whole(name: &'static str, kind: u8) -> Bomb {
    (name, b"a".to_vec(), Box::new(move |pack, _| _ = pack.whole(kind, &zeros())))
}

/// Creates a file, and a delta with this file as its base.
fn differing(name: &'static str, file: Vec<u8>, bytes: Vec<u8>) -> Bomb {
    let add = move |pack: &mut Pack, place| {
        pack.add(BY_OFFSET, bytes.len() as u64, &offset(pack, place), &bytes);
    };
    (name, file, Box::new(add))
}

fn bombs() -> Vec<Bomb> {
    let much = 2_000_000_000;
    let small = || b"a".to_vec();
    vec![
        whole("a folder", TREE),
        whole("a commit", COMMIT),
        whole("a tag", TAG),
        ("a folder that says so", small(), Box::new(move |pack, _| _ = pack.add(TREE, much, &[], b"x"))),
        differing("a large result", small(), difference(1, much)),
        differing("a large base", small(), difference(much, 1)),
        differing("a base that is larger than it is said", zeros(), difference(1, 1)),
        differing("a large difference", small(), [difference(1, 1), vec![0; LIMIT as usize]].concat()),
    ]
}

#[tokio::test]
async fn decompression_and_delta_bombs_in_packs_are_refused() {
    for (name, blob, add) in bombs() {
        let (tip, pack) = pack_with(&blob, add);
        for lines in [Lines::Banded, Lines::Raw] {
            let error = error_of(fetched_from(&liar(tip, pack.clone(), lines)).await);
            let GitError::TooLarge(said) = &error else { panic!("{name}, {lines:?}: {error:?}") };
            assert!(said.contains("must be at most 1 MB each"), "{name}: {said}");
        }
    }
}

#[tokio::test]
async fn malformed_packs_are_refused() {
    let tip = Oid::from_bytes(&[7; 20]).unwrap();
    let honest = || pack_with(b"a", |_, _| {}).1;
    let cut = |at: usize| honest()[..at].to_vec();
    let lies: Vec<(&str, Vec<u8>)> = vec![
        ("more bytes than it says", pack_with(b"a", |pack, _| _ = pack.add(BLOB, 3, &[], b"four")).1),
        ("fewer bytes than it says", pack_with(b"a", |pack, _| _ = pack.add(BLOB, 5, &[], b"four")).1),
        ("a kind that nobody knows", pack_with(b"a", |pack, _| _ = pack.add(5, 1, &[], b"a")).1),
        (
            "a base before the pack",
            pack_with(b"a", |pack, _| _ = pack.add(BY_OFFSET, 2, &[0xff, 0x7f], b"aa")).1,
        ),
        ("itself as its base", pack_with(b"a", |pack, _| _ = pack.add(BY_OFFSET, 2, &[0], b"aa")).1),
        ("a size without an end", [&b"PACK\0\0\0\x02\0\0\0\x01"[..], &[0xff; 40]].concat()),
        ("what is not compressed", [&b"PACK\0\0\0\x02\0\0\0\x01\x31"[..], &[0xee; 40]].concat()),
        ("another version", [&b"PACK\0\0\0\x09"[..], &[0; 40]].concat()),
        ("another checksum", [cut(honest().len() - 1), vec![0]].concat()),
        ("an end too soon", cut(honest().len() - 30)),
        ("no pack at all", b"0008NAK\n".to_vec()),
    ];
    for (name, pack) in lies {
        for lines in [Lines::Banded, Lines::Raw] {
            let error = error_of(fetched_from(&liar(tip, pack.clone(), lines)).await);
            let is_told = matches!(error, GitError::Broken(_) | GitError::Unreachable(_));
            assert!(is_told, "{name}, {lines:?}: {error:?}");
        }
    }
    let many = Pack::new().finish_with(u32::MAX);
    let error = error_of(fetched_from(&liar(tip, many, Lines::Raw)).await);
    assert!(matches!(&error, GitError::TooLarge(said) if said.contains("objects")), "{error:?}");
}

/// libgit2 would loop forever on such a pack, and allocate more memory in each iteration.
#[tokio::test]
async fn pack_with_duplicate_objects_is_refused() {
    let text = b"# A\n";
    let same = [difference(4, 4), vec![0b1001_0000, 4]].concat();
    let by_name = |pack: &mut Pack, _| {
        pack.add(BY_NAME, same.len() as u64, id(ObjectType::Blob, text).as_bytes(), &same);
    };
    let by_place = |pack: &mut Pack, place| {
        pack.add(BY_OFFSET, same.len() as u64, &offset(pack, place), &same);
    };
    let whole = |pack: &mut Pack, _| _ = pack.whole(BLOB, text);
    for (tip, pack) in [pack_with(text, by_name), pack_with(text, by_place), pack_with(text, whole)] {
        for lines in [Lines::Banded, Lines::Raw] {
            let error = error_of(fetched_from(&liar(tip, pack.clone(), lines)).await);
            assert!(matches!(error, GitError::Broken(_)), "{error:?}");
        }
    }
}

#[tokio::test]
async fn refs_to_non_commits_and_oversized_objects_are_refused() {
    let fixture = Fixture::new();
    let zeros = vec![0; LIMIT as usize + 1];
    git2::opts::strict_object_creation(false);
    let blob = fixture.raw(ObjectType::Blob, &zeros);
    let mut tip = blob;
    let mut tags = vec![blob];
    for number in 0..40 {
        let kind = if number == 0 { "blob" } else { "tag" };
        let text = format!("object {tip}\ntype {kind}\ntag t{number}\ntagger A <a@b> 0 +0000\n\nx\n");
        tip = fixture.raw(ObjectType::Tag, text.as_bytes());
        tags.push(tip);
    }
    for (tip, name) in [(tags[0], "a file"), (tags[1], "a tag of a file"), (tags[40], "tags of tags")] {
        fixture.repository.reference("refs/heads/main", tip, true, "").unwrap();
        let client = client().with_limits(Limits { file_bytes: LIMIT, ..Limits::default() });
        let error = error_of(client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await);
        assert_eq!(
            error,
            GitError::Broken("`refs/heads/main` does not resolve to a commit".to_owned()),
            "{name}"
        );
    }
    for (kind, name) in [(ObjectType::Commit, "a commit"), (ObjectType::Tree, "a folder")] {
        let large = fixture.raw(kind, &zeros);
        let tip = match kind {
            ObjectType::Commit => large,
            _ => fixture.raw(ObjectType::Commit, &commit_of(large)),
        };
        fixture.repository.reference("refs/heads/main", tip, true, "").unwrap();
        let client = client().with_limits(Limits { file_bytes: LIMIT, ..Limits::default() });
        let error = error_of(client.fetch(&request(&fixture.file_url(), "refs/heads/main")).await);
        assert!(matches!(error, GitError::TooLarge(_)), "{name}: {error:?}");
    }
}

/// Returns the URLs of a repository: on disk, and over HTTP if git is installed.
fn urls(fixture: &Fixture) -> Vec<(Option<Server>, String)> {
    let mut urls = vec![(None, fixture.file_url())];
    if has_git() {
        let (server, _) = web(fixture.path(), |_| None);
        let url = format!("http://{}/repo.git", server.address());
        urls.push((Some(server), url));
    }
    urls
}

/// Creates a commit with a chain of nested folders and a file in the innermost one.
fn chain(fixture: &Fixture, depth: usize) -> Oid {
    let blob = fixture.repository.blob(b"x").unwrap();
    let mut tree = fixture.raw(ObjectType::Tree, &tree_of(&[("100644", "a.md", blob)]));
    for _ in 0..depth {
        tree = fixture.raw(ObjectType::Tree, &tree_of(&[("40000", "d", tree)]));
    }
    fixture.raw(ObjectType::Commit, &commit_of(tree))
}

#[tokio::test]
async fn folder_depth_is_limited_by_the_path_length() {
    let fixture = Fixture::new();
    for (depth, fits) in [(2_000, true), (3_000, false)] {
        let commit = chain(&fixture, depth);
        fixture.repository.reference("refs/heads/main", commit, true, "").unwrap();
        let urls = urls(&fixture);
        for (_server, url) in &urls {
            let result =
                GitClient::new(Outbound::Files).unwrap().fetch(&request(url, "refs/heads/main")).await;
            assert_eq!(result.is_ok(), fits, "{depth} {url}");
            if !fits {
                // git itself limits the depth to 2,048 folders, and closes the connection.
                let is_host = url.starts_with("http");
                let error = error_of(result);
                assert!(
                    matches!(error, GitError::TooLarge(_))
                        || (is_host && matches!(error, GitError::Unreachable(_))),
                    "{error}"
                );
            }
        }
    }
}

/// Names with a special meaning for programs or file systems, which are ordinary names in a repository.
const NAMES: [&str; 13] = [
    ".GIT",
    ".git",
    ".git ",
    ".git.",
    ".gitmodules",
    "A.md",
    "CON",
    "a.md",
    "a:b",
    "a\\..\\b",
    "e\u{301}.md",
    "git~1",
    "\u{e9}.md",
];

#[tokio::test]
async fn names_differ_by_bytes_and_unsafe_paths_are_not_pushed() {
    let fixture = Fixture::new();
    git2::opts::strict_object_creation(false);
    let mut names: Vec<(String, Oid)> = NAMES
        .iter()
        .map(|name| ((*name).to_owned(), fixture.repository.blob(name.as_bytes()).unwrap()))
        .collect();
    names.sort();
    let entries: Vec<(&str, &str, Oid)> =
        names.iter().map(|(name, id)| ("100644", name.as_str(), *id)).collect();
    let tree = fixture.raw(ObjectType::Tree, &tree_of(&entries));
    let commit = fixture.raw(ObjectType::Commit, &commit_of(tree));
    fixture.repository.reference("refs/heads/main", commit, true, "").unwrap();
    let urls = urls(&fixture);
    for (_server, url) in &urls {
        let checkout = fetch(url, "refs/heads/main").await.unwrap();
        assert_eq!(paths(&*checkout), names.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
        for (name, _) in &names {
            assert_eq!(checkout.read(name).await.unwrap(), name.as_bytes(), "{name}");
        }
    }
    // In the base of a push they are preserved, but no such names can be added.
    let tip = commit.to_string();
    let client = client();
    for wrong in ["../a.md", "a/../b.md", ".git/config", "x/.GIT/config", "/a.md", "a//b.md", "a.md/b.md"] {
        let mut one = crate::fixture::Files([Ok(file(wrong, "x"))].into());
        let error = client.push(&push_on(&fixture.file_url(), Some(&tip)), &mut one).await.unwrap_err();
        assert!(matches!(error, GitError::Path(_)), "{wrong}: {error:?}");
        assert_eq!(fixture.tip().as_deref(), Some(tip.as_str()));
    }
    let made =
        client.push(&push_on(&fixture.file_url(), Some(&tip)), &mut files(&[("new.md", "x")])).await.unwrap();
    let checkout = fetch(&fixture.file_url(), "refs/heads/main").await.unwrap();
    assert_eq!(checkout.commit().oid, made.oid);
    assert_eq!(checkout.entries().len(), NAMES.len() + 1);
}

#[tokio::test]
async fn push_onto_malformed_commit_leaves_the_branch_unchanged() {
    git2::opts::strict_object_creation(false);
    let zeros = vec![0; LIMIT as usize + 1];
    type Make = fn(&Fixture, &[u8]) -> Oid;
    let harms: [(&str, Make); 4] = [
        ("a large folder", |fixture, zeros| {
            let tree = fixture.raw(ObjectType::Tree, zeros);
            fixture.raw(ObjectType::Commit, &commit_of(tree))
        }),
        ("a name that leads elsewhere", |fixture, _| {
            let blob = fixture.repository.blob(b"x").unwrap();
            let tree = fixture.raw(ObjectType::Tree, &tree_of(&[("100644", "..", blob)]));
            fixture.raw(ObjectType::Commit, &commit_of(tree))
        }),
        ("a folder that is not there", |fixture, _| {
            fixture.raw(ObjectType::Commit, &commit_of(Oid::from_bytes(&[9; 20]).unwrap()))
        }),
        ("a duplicate name", |fixture, _| {
            let blob = fixture.repository.blob(b"x").unwrap();
            let tree = tree_of(&[("100644", "a.md", blob), ("100644", "a.md", blob)]);
            let tree = fixture.raw(ObjectType::Tree, &tree);
            fixture.raw(ObjectType::Commit, &commit_of(tree))
        }),
    ];
    for (name, make) in harms {
        let fixture = Fixture::new();
        let tip = make(&fixture, &zeros);
        fixture.repository.reference("refs/heads/main", tip, true, "").unwrap();
        let client = client().with_limits(Limits { file_bytes: LIMIT, ..Limits::default() });
        let request = push_on(&fixture.file_url(), Some(&tip.to_string()));
        let result = client.push(&request, &mut files(&[("new.md", "x")])).await;
        if name == "a name that leads elsewhere" {
            // Existing files are preserved. A fetch reports the error.
            error_of(client.fetch(&crate::fixture::request(&fixture.file_url(), "refs/heads/main")).await);
            continue;
        }
        let error = result.expect_err(name);
        assert!(matches!(error, GitError::TooLarge(_) | GitError::Broken(_)), "{name}: {error:?}");
        assert_eq!(fixture.tip(), Some(tip.to_string()), "{name}");
    }
}

#[tokio::test]
async fn symbolic_links_longer_than_the_bound_are_refused() {
    let fetched = async |bytes: usize| {
        let fixture = Fixture::new();
        fixture.commit("refs/heads/main", &[(b"a", LINK, "x".repeat(bytes).as_bytes())], &[]);
        client().fetch(&request(&fixture.file_url(), "refs/heads/main")).await
    };
    assert_eq!(paths(&*fetched(4_096).await.unwrap()), ["a"]);
    let why = "the symbolic link `a` must be at most 4096 bytes";
    assert_eq!(error_of(fetched(4_097).await), GitError::Broken(why.to_owned()));
}
