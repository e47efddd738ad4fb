//! The in-memory repository that other tests use accepts the same pushes as a real one.

use std::collections::BTreeMap;

use docs_memstore::MemGit;
use docs_ports::{Checkout, Commit, GitError, GitRemote, PushFile, PushRequest, RepoEntryKind};
use proptest::{collection::vec, prelude::*, sample::select};

use crate::fixture::{FILE, Files, Fixture, LINK, SUBMODULE, client, file, push_on, request};

/// Paths that conflict with each other.
const PATHS: [&str; 13] =
    ["a", "a/b", "a/b/c", "a-b", "a.b", "b", "b/c", "link", "link/c", "z/y/x/w", "z", "../a", "a//b"];

/// One push: removed paths, added files, and the expected tip of the ref.
#[derive(Clone, Debug)]
struct Step {
    removed: Vec<&'static str>,
    /// Each with its path, its content and the executable bit.
    files: Vec<(&'static str, u8, bool)>,
    tip: Tip,
}

/// The tip that a push expects.
#[derive(Clone, Copy, Debug)]
enum Tip {
    Now,
    Before,
    Nothing,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let tip = prop_oneof![8 => Just(Tip::Now), 1 => Just(Tip::Before), 1 => Just(Tip::Nothing)];
    // Mostly valid paths.
    let path = prop_oneof![12 => select(&PATHS[..11]), 1 => select(&PATHS[..])];
    let step = (vec(path.clone(), 0..4), vec((path, 0_u8..3, any::<bool>()), 0..4), tip)
        .prop_map(|(removed, files, tip)| Step { removed, files, tip });
    vec(step, 1..6)
}

/// Returns the outcome of a push, with the kind of its error.
fn outcome(result: &Result<Commit, GitError>) -> Result<&str, String> {
    match result {
        Ok(commit) => Ok(&commit.message),
        Err(GitError::Path(_)) => Err("path".to_owned()),
        Err(error) => Err(format!("{error:?}")),
    }
}

/// Returns all files and links by path.
async fn state(remote: &dyn GitRemote, url: &str) -> Option<BTreeMap<String, (String, RepoEntryKind)>> {
    let checkout = remote.fetch(&request(url, "refs/heads/main")).await.ok()?;
    Some(listed(&*checkout))
}

fn listed(checkout: &dyn Checkout) -> BTreeMap<String, (String, RepoEntryKind)> {
    checkout.entries().iter().map(|it| (it.path.clone(), (it.oid.clone(), it.kind.clone()))).collect()
}

/// Applies a step to one of the two remotes, on top of the remote's current tip.
async fn push(
    remote: &dyn GitRemote,
    url: &str,
    step: &Step,
    tips: &mut Vec<String>,
) -> Result<Commit, GitError> {
    let tip = match step.tip {
        Tip::Now => tips.last(),
        Tip::Before => tips.len().checked_sub(2).and_then(|place| tips.get(place)),
        Tip::Nothing => None,
    };
    let removed = step.removed.iter().map(|path| (*path).to_owned()).collect();
    let request = PushRequest { removed, ..push_on(url, tip.map(String::as_str)) };
    let new = |path, byte, is_executable| PushFile { is_executable, ..file(path, vec![byte]) };
    let files = step.files.iter().map(|(path, byte, mode)| Ok(new(path, *byte, *mode))).collect();
    let result = remote.push(&request, &mut Files(files)).await;
    if let Ok(commit) = &result {
        tips.push(commit.oid.clone());
    }
    result
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn in_memory_repository_accepts_the_same_pushes_as_git(steps in steps(), is_new: bool) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (memory, real, fixture) = (MemGit::empty(), client(), Fixture::new());
        let url = fixture.file_url();
        let (mut memory_tips, mut real_tips) = (Vec::new(), Vec::new());
        if !is_new {
            let files: &[(&[u8], u32, &[u8])] = &[(b"a/b/c", FILE, b"c"), (b"b", 0o100_755, b"b"), (b"link", LINK, b"a")];
            real_tips.push(fixture.commit("refs/heads/main", files, &[]).to_string());
            let first = Step { removed: vec![], files: vec![("a/b/c", b'c', false), ("b", b'b', true)], tip: Tip::Now };
            runtime.block_on(push(&memory, &url, &first, &mut memory_tips)).unwrap();
            memory.edit(|repository| repository.links.insert("link".to_owned(), "a".to_owned()));
            let tip = runtime.block_on(memory.fetch(&request(&url, "refs/heads/main"))).unwrap();
            memory_tips = vec![tip.commit().oid.clone()];
        }
        for step in &steps {
            let in_memory = runtime.block_on(push(&memory, &url, step, &mut memory_tips));
            let on_disk = runtime.block_on(push(&real, &url, step, &mut real_tips));
            prop_assert_eq!(outcome(&in_memory), outcome(&on_disk), "{:?}", step);
            let states = (runtime.block_on(state(&memory, &url)), runtime.block_on(state(&real, &url)));
            prop_assert_eq!(&states.0, &states.1, "{:?}", step);
        }
    }
}

#[tokio::test]
async fn push_preserves_and_removes_submodules_like_files() {
    let fixture = Fixture::new();
    let files: &[(&[u8], u32, &[u8])] = &[(b"a", FILE, b"a"), (b"lib", SUBMODULE, b"")];
    let tip = fixture.commit("refs/heads/main", files, &[]).to_string();
    let url = fixture.file_url();
    let made =
        client().push(&push_on(&url, Some(&tip)), &mut Files([Ok(file("b", "b"))].into())).await.unwrap();
    let kept = state(&client(), &url).await.unwrap();
    assert_eq!(kept["lib"].1, RepoEntryKind::Submodule);
    let request = PushRequest { removed: vec!["lib".to_owned()], ..push_on(&url, Some(&made.oid)) };
    client().push(&request, &mut Files([Ok(file("lib/x", "x"))].into())).await.unwrap();
    let paths: Vec<_> = state(&client(), &url).await.unwrap().into_keys().collect();
    assert_eq!(paths, ["a", "b", "lib/x"]);
}
