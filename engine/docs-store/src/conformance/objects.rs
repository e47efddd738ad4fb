//! Object stores.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    super::{Hash, Objects, StoreError},
    Factory,
};

const HOUR: Duration = Duration::from_secs(3_600);
const NO_MIN_AGE: Duration = Duration::ZERO;

/// Putting existing bytes succeeds and does not affect reads.
pub async fn obj_put_idempotent(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let one = object("one");
    for _ in 0..3 {
        put(&*objects, "d", std::slice::from_ref(&one)).await;
    }
    put(&*objects, "d", &[one.clone(), object("two"), one.clone()]).await;
    put(&*objects, "d", &[]).await;
    assert_eq!(get(&*objects, "d", &[one.0]).await, [Some(one.1)]);
    assert_eq!(list(&*objects, "d", NO_MIN_AGE).await, sorted(&["one", "two"]));
}

/// A read returns objects in request order, including duplicates, and `None` for missing objects.
pub async fn obj_get_order(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let (one, two, empty) = (object("one"), object("two"), object(""));
    put(&*objects, "d", &[one.clone(), two.clone(), empty.clone()]).await;
    let found = get(&*objects, "d", &[two.0, Hash::compute(b"none"), one.0, two.0, empty.0]).await;
    assert_eq!(found, [Some(two.1.clone()), None, Some(one.1), Some(two.1), Some(Bytes::new())]);
    assert_eq!(get(&*objects, "d", &[]).await, []);
}

/// The same bytes in two domains are two objects: operations on one do not affect the other.
pub async fn obj_domains_isolated(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let one = object("one");
    put(&*objects, "a", std::slice::from_ref(&one)).await;
    assert_eq!(get(&*objects, "b", &[one.0]).await, [None]);
    assert_eq!(list(&*objects, "b", NO_MIN_AGE).await, []);
    put(&*objects, "b", std::slice::from_ref(&one)).await;
    delete(&*objects, "a", &[one.0], NO_MIN_AGE).await;
    assert_eq!(get(&*objects, "a", &[one.0]).await, [None]);
    assert_eq!(get(&*objects, "b", &[one.0]).await, [Some(one.1)]);
}

/// Putting existing bytes marks the object as touched.
pub async fn obj_touch_on_reput(factory: &dyn Factory) {
    let objects = factory.objects().await;
    put(&*objects, "d", &[object("old"), object("again")]).await;
    assert_eq!(list(&*objects, "d", NO_MIN_AGE).await, sorted(&["old", "again"]));
    assert_eq!(list(&*objects, "d", 24 * HOUR).await, []);
    factory.pass(48 * HOUR).await;
    put(&*objects, "d", &[object("again")]).await;
    assert_eq!(list(&*objects, "d", 24 * HOUR).await, sorted(&["old"]));
    factory.pass(24 * HOUR).await;
    assert_eq!(list(&*objects, "d", 24 * HOUR).await, sorted(&["old", "again"]));
}

/// Only objects untouched for the given time are deleted. Deleting a missing object succeeds.
pub async fn obj_delete_respects_touch(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let hashes = ["old", "again", "new", "none"].map(|text| Hash::compute(text.as_bytes()));
    put(&*objects, "d", &[object("old"), object("again")]).await;
    factory.pass(48 * HOUR).await;
    put(&*objects, "d", &[object("again"), object("new")]).await;
    factory.pass(HOUR).await;
    delete(&*objects, "d", &hashes, 24 * HOUR).await;
    let there: Vec<bool> = get(&*objects, "d", &hashes).await.iter().map(Option::is_some).collect();
    assert_eq!(there, [false, true, true, false]);
    delete(&*objects, "d", &hashes[1..2], HOUR).await;
    assert_eq!(list(&*objects, "d", NO_MIN_AGE).await, sorted(&["new"]));
    put(&*objects, "d", &[object("old")]).await;
    assert_eq!(get(&*objects, "d", &hashes[..1]).await, [Some(object("old").1)]);
}

/// Domains with objects are listed in order, in pages of any size. Domains without objects are not listed.
pub async fn obj_domains_are_listed(factory: &dyn Factory) {
    let objects = factory.objects().await;
    assert_eq!(objects.domains(None, 9).await, Ok(Vec::new()));
    let mut all: Vec<String> = ["a", "ab", "b", "Zoe", "é", "a-b"].map(str::to_owned).to_vec();
    for domain in &all {
        put(&*objects, domain, &[object("one"), object("two")]).await;
    }
    all.sort_unstable();
    for size in [1, 2, 9] {
        let (mut after, mut found) = (None::<String>, Vec::new());
        loop {
            let page = objects.domains(after.as_deref(), size).await.expect("listing succeeds");
            assert!(page.len() <= size as usize);
            let Some(last) = page.last() else { break };
            after = Some(last.clone());
            found.extend(page);
            assert!(found.len() <= all.len(), "the listing does not end");
        }
        assert_eq!(found, all);
    }
    assert_eq!(objects.domains(None, 0).await, Ok(Vec::new()));
    let hashes = ["one", "two"].map(|text| Hash::compute(text.as_bytes()));
    delete(&*objects, "ab", &hashes, NO_MIN_AGE).await;
    let found = objects.domains(None, 9).await.expect("listing succeeds");
    assert!(!found.contains(&"ab".to_owned()), "{found:?}");
}

/// Acknowledged bytes are never listed as leftovers, regardless of their age, and paging through leftovers terminates.
pub async fn obj_acknowledged_is_no_leftover(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let large = Bytes::from(vec![7; 200 << 10]);
    put(&*objects, "d", &[object("one"), (Hash::compute(&large), large)]).await;
    factory.pass(48 * HOUR).await;
    let (mut after, mut pages) = (None, 0);
    loop {
        let page = objects.leftovers("store", after.as_deref(), HOUR).await.expect("listing succeeds");
        assert_eq!(page.names, [""; 0]);
        pages += 1;
        assert!(pages < 10_000, "the listing does not end");
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    objects.delete_leftovers(&[]).await.expect("removing nothing succeeds");
}

/// A listing can be resumed after any hash. It is in hash order, with pages of any size.
pub async fn obj_list_pages_in_hash_order(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let texts: Vec<String> = (0..50).map(|n| format!("object {n}")).collect();
    let all: Vec<(Hash, Bytes)> = texts.iter().map(|text| object(text)).collect();
    put(&*objects, "d", &all).await;
    let mut sorted: Vec<Hash> = all.iter().map(|(hash, _)| *hash).collect();
    sorted.sort_unstable();
    for size in [1, 7, 50] {
        let (mut after, mut pages) = (None, Vec::new());
        loop {
            let page = objects.list("d", after, NO_MIN_AGE, size).await.expect("listing succeeds");
            assert!(page.len() <= size as usize);
            let Some(last) = page.last() else { break };
            after = Some(*last);
            pages.extend(page);
            assert!(pages.len() <= sorted.len(), "the listing does not end");
        }
        assert_eq!(pages, sorted);
    }
    assert_eq!(objects.list("d", None, NO_MIN_AGE, 0).await, Ok(Vec::new()));
    assert_eq!(objects.list("d", Some(Hash::from_bytes([0xff; 32])), NO_MIN_AGE, 9).await, Ok(Vec::new()));
}

/// Large objects can be stored like small ones, including by concurrent puts.
pub async fn obj_stream_large(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let large = |seed: usize, size: usize| {
        let bytes: Bytes = (0..size).map(|n| ((n * 31 + seed) ^ (n >> 8)).to_le_bytes()[0]).collect();
        (Hash::compute(&bytes), bytes)
    };
    let all = [large(1, 8 << 20), large(2, (128 << 10) - 1), large(3, 128 << 10), large(4, (128 << 10) + 1)];
    put(&*objects, "d", &all).await;
    let tasks: Vec<_> = all
        .into_iter()
        .map(|(hash, bytes)| {
            let objects: Arc<dyn Objects> = objects.clone();
            tokio::spawn(
                async move { assert!(get(&*objects, "d", &[hash]).await == [Some(bytes)], "{hash}") },
            )
        })
        .collect();
    super::kit::join(tasks).await;
}

/// Bytes that do not match their hash are reported as corrupt and never returned.
pub async fn obj_corrupt_bytes_detected(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let (one, two) = (object("one"), object("two"));
    put(&*objects, "d", &[one.clone(), two.clone()]).await;
    factory.damage("d", one.0).await;
    let read = objects.get("d", &[two.0, one.0]).await;
    assert!(matches!(read, Err(StoreError::Corrupt(_))), "{read:?}");
    assert_eq!(get(&*objects, "d", &[two.0]).await, [Some(two.1)]);
}

/// A put with a wrong hash is rejected as a whole.
pub async fn obj_wrong_hash_is_misuse(factory: &dyn Factory) {
    let objects = factory.objects().await;
    let (one, wrong) = (object("one"), (Hash::compute(b"two"), Bytes::from_static(b"three")));
    let refused = objects.put("d", &[one.clone(), wrong.clone()]).await;
    assert!(matches!(refused, Err(StoreError::Misuse(_))), "{refused:?}");
    assert_eq!(get(&*objects, "d", &[one.0, wrong.0]).await, [None, None]);
}

fn object(text: &str) -> (Hash, Bytes) {
    (Hash::compute(text.as_bytes()), Bytes::copy_from_slice(text.as_bytes()))
}

fn sorted(texts: &[&str]) -> Vec<Hash> {
    let mut hashes: Vec<Hash> = texts.iter().map(|text| Hash::compute(text.as_bytes())).collect();
    hashes.sort_unstable();
    hashes
}

async fn put(objects: &dyn Objects, domain: &str, all: &[(Hash, Bytes)]) {
    objects.put(domain, all).await.expect("putting succeeds");
}

async fn get(objects: &dyn Objects, domain: &str, hashes: &[Hash]) -> Vec<Option<Bytes>> {
    objects.get(domain, hashes).await.expect("reading succeeds")
}

async fn list(objects: &dyn Objects, domain: &str, untouched_for: Duration) -> Vec<Hash> {
    objects.list(domain, None, untouched_for, 1_000).await.expect("listing succeeds")
}

async fn delete(objects: &dyn Objects, domain: &str, hashes: &[Hash], untouched_for: Duration) {
    objects.delete(domain, hashes, untouched_for).await.expect("deleting succeeds");
}
