//! The arenas of the allocator. Each of them keeps the memory that its threads freed.

use std::fs;

use serde_json::json;

use crate::{
    client::{Client, id},
    process::{Process, TOKEN},
};

/// Size and alignment of the address space that glibc reserves for an arena other than the first.
const ARENA_BYTES: usize = 64 << 20;

/// Returns the number of arenas of a process other than the first, from its memory map. Assumes that none has grown
/// beyond its first 64 MiB.
fn arenas(process: u32) -> usize {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).expect("a memory map");
    let is_arena = |line: &&str| {
        let mut fields = line.split_whitespace();
        let range = fields.next().and_then(|range| range.split_once('-'));
        let start = range.and_then(|(start, _)| usize::from_str_radix(start, 16).ok());
        let (access, inode) = (fields.next(), fields.nth(2));
        access == Some("rw-p") && inode == Some("0") && start.is_some_and(|start| start % ARENA_BYTES == 0)
    };
    maps.lines().filter(is_arena).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn server_threads_share_a_bounded_number_of_arenas() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = format!("sqlite:{}", folder.path().join("docs.db").display());
    let server = Process::with(&["--bind", "127.0.0.1:0", "--store", &store]).await;
    let client = Client::new(&server.base, TOKEN);
    let org = id(&client.get("/orgs").await["items"][0]);
    // Requests, jobs, the store and the search index use different threads.
    for _ in 0..10 {
        client.post(&format!("/orgs/{org}/spaces"), json!({ "title": "Docs" })).await;
    }
    let processors = std::thread::available_parallelism().expect("a number").get();
    let most = (processors / 2).clamp(2, 8);
    let found = arenas(server.child.id());
    assert!(found < most, "{found} arenas besides the first, at most {most} with it");
}
