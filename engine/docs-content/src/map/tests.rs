//! Tests that compare the map with a sorted map, a rebuild and a full traversal.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use bytes::Bytes;
use docs_store::{Hash, Key};
use proptest::prelude::*;

use super::*;

/// A set of loaded nodes.
#[derive(Default, Clone)]
struct Memory(HashMap<Hash, Arc<MapNode>>);

impl Nodes for Memory {
    fn node(&self, hash: &Hash) -> Option<Arc<MapNode>> {
        self.0.get(hash).cloned()
    }
}

impl Memory {
    fn add(&mut self, nodes: Vec<NewNode>) {
        for fresh in nodes {
            assert_eq!(Hash::compute(&fresh.bytes), fresh.hash);
            let decoded = MapNode::decode(&fresh.bytes).unwrap();
            assert_eq!(decoded.level(), fresh.node.level());
            assert!(decoded.entries().eq(fresh.node.entries()), "a node reads back as written");
            assert_eq!(decoded.size(), fresh.node.size());
            self.0.insert(fresh.hash, fresh.node);
        }
    }

    fn build(&mut self, model: &Model) -> Hash {
        let built = build(model.iter().map(|(k, v)| (k.clone(), v.clone())).collect());
        self.add(built.nodes);
        built.root
    }

    /// Runs a map operation, loading missing nodes from `store`. Also returns the number of calls and the number of
    /// loaded nodes.
    fn run<T>(store: &Self, step: impl Fn(&Self) -> MapResult<T>) -> (T, usize, usize) {
        let mut loaded = Self::default();
        for passes in 1.. {
            match step(&loaded) {
                Ok(value) => return (value, passes, loaded.0.len()),
                Err(Fault::Missing(hashes)) => {
                    let before = loaded.0.len();
                    for hash in hashes {
                        loaded.0.insert(hash, Arc::clone(&store.0[&hash]));
                    }
                    assert!(loaded.0.len() > before, "a pass asks for what it lacks");
                }
                Err(fault) => panic!("{fault}"),
            }
        }
        unreachable!()
    }
}

type Model = BTreeMap<Key, Bytes>;

fn key(n: u32) -> Key {
    format!("p!{n:06}").into()
}

fn value(n: u32) -> Bytes {
    Bytes::from(format!("{{\"value\":{n}}}"))
}

fn model(n: u32) -> Model {
    (0..n).map(|i| (key(i), value(i))).collect()
}

fn batch(limit: u32) -> impl Strategy<Value = BTreeMap<Key, ValueChange>> {
    let change = (0..limit, proptest::option::weighted(0.6, 0u32..5));
    proptest::collection::vec(change, 0..40)
        .prop_map(|ops| ops.into_iter().map(|(k, v)| (key(k), v.map(value))).collect())
}

/// Batches that remove or set long ranges of keys. Removing a range removes nodes.
fn stretch(limit: u32) -> impl Strategy<Value = BTreeMap<Key, ValueChange>> {
    (0..limit, 1u32..200, any::<bool>())
        .prop_map(|(from, n, put)| (from..from + n).map(|k| (key(k), put.then(|| value(k)))).collect())
}

fn change(model: &mut Model, batch: &BTreeMap<Key, ValueChange>) {
    for (key, change) in batch {
        match change {
            Some(value) => model.insert(key.clone(), value.clone()),
            None => model.remove(key),
        };
    }
}

#[test]
fn the_empty_map_holds_nothing() {
    let mut memory = Memory::default();
    let root = memory.build(&Model::new());
    assert_eq!(root, empty().hash);
    assert_eq!(get(&memory, &root, "a").unwrap(), None);
    assert_eq!(nth(&memory, &root, 0).unwrap(), None);
    let all = Range { from: "".into(), to: None, rev: false, limit: 10 };
    assert!(range(&memory, &root, &all).unwrap().is_empty());
}

#[test]
fn map_encoding_is_stable() {
    // A change of the format gives equal content of stores before and after it two roots.
    let mut memory = Memory::default();
    assert_eq!(empty().bytes.as_ref(), br#"{"entries":[]}"#);
    let two: Model = [("p!a".into(), Bytes::from("1")), ("p!b\"c".into(), Bytes::new())].into();
    let built = build(two.into_iter().collect());
    assert_eq!(built.nodes[0].bytes.as_ref(), br#"{"entries":[["p!a",1],["p!b\"c",null]]}"#);
    let (hash, size) = (empty().hash, MapSize { count: 7, bytes: 90 });
    let child = MapItem::Child(Child { hash, size });
    let (_, inner) = MapNode::from_entries(1, &[(Key::from(""), child)]);
    assert_eq!(inner, format!("{{\"level\":1,\"children\":[[\"\",\"{hash}\",7,90]]}}"));
    let root = memory.build(&model(2_000));
    assert_eq!(root.to_string(), "amfoad3cfpqjxuu55nywazsm7cjyeaemwbwobta5pt55kmmjqzua");
}

#[test]
fn children_without_the_size_of_their_values_are_read() {
    let old = format!(r#"{{"level":1,"children":[["","{}",7]]}}"#, empty().hash);
    let node = MapNode::decode(&old.into()).unwrap();
    assert_eq!(node.size(), MapSize { count: 7, bytes: 0 });
}

#[test]
fn single_change_loads_and_writes_one_node_per_level() {
    let mut memory = Memory::default();
    let root = memory.build(&model(60_000));
    let levels = usize::from(memory.0[&root].level()) + 1;
    assert!((3..=5).contains(&levels), "{levels}");
    let changes = BTreeMap::from([(key(31_415), Some(Bytes::from("\"new\"")))]);
    let (applied, passes, loaded) = Memory::run(&memory, |m| apply(m, &root, &changes));
    assert_eq!((applied.nodes.len(), loaded), (levels, levels));
    assert!(passes <= levels + 1);
    memory.add(applied.nodes);
    let (found, _, loaded) =
        Memory::run(&memory, |m| diff(m, &root, &applied.root, &[("p!".into(), "p\"".into())]));
    assert_eq!(found.len(), 1);
    assert_eq!(loaded, 2 * levels);
}

#[test]
fn reads_load_nodes_in_one_batch_per_level() {
    let mut memory = Memory::default();
    let root = memory.build(&model(20_000));
    let levels = usize::from(memory.0[&root].level()) + 1;
    let keys: Vec<Key> = (0..500).map(|i| key(i * 37)).collect();
    let (_, passes, _) = Memory::run(&memory, |m| get_many(m, &root, &keys));
    assert_eq!(passes, levels + 1);
    let all = Range { from: "".into(), to: None, rev: false, limit: usize::MAX };
    let (found, passes, _) = Memory::run(&memory, |m| range(m, &root, &all));
    assert_eq!((found.len(), passes), (20_000, levels + 1));
    let (_, _, loaded) = Memory::run(&memory, |m| range(m, &root, &all.clone().limit(10)));
    assert!(loaded <= levels + 2, "{loaded}");
}

#[test]
fn damaged_nodes_do_not_panic_and_truncated_ones_fail() {
    let built = build(model(100).into_iter().collect());
    for fresh in &built.nodes {
        for at in 0..fresh.bytes.len() {
            let mut bytes = fresh.bytes.to_vec();
            bytes[at] ^= 0x41;
            // Many corruptions still parse as a node. None of them may panic.
            let _ = MapNode::decode(&bytes.into());
            assert!(MapNode::decode(&fresh.bytes.slice(..at)).is_err(), "a cut node is refused");
        }
    }
}

proptest! {
    #[test]
    fn decoding_arbitrary_bytes_does_not_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = MapNode::decode(&[&br#"{"entries":["#[..], &bytes, b"]}"].concat().into());
        let _ = MapNode::decode(&[&br#"{"level":1,"children":["#[..], &bytes, b"]}"].concat().into());
    }

    #[test]
    fn any_edit_path_gives_the_root_of_a_rebuild(
        start in 0u32..600,
        batches in proptest::collection::vec(prop_oneof![batch(900), stretch(900)], 1..8),
    ) {
        let mut memory = Memory::default();
        let mut model = model(start);
        let mut root = memory.build(&model);
        for batch in batches {
            let (applied, ..) = Memory::run(&memory, |m| apply(m, &root, &batch));
            memory.add(applied.nodes);
            root = applied.root;
            change(&mut model, &batch);
            let rebuilt = build(model.iter().map(|(k, v)| (k.clone(), v.clone())).collect());
            prop_assert_eq!(root, rebuilt.root);
        }
    }

    #[test]
    fn reads_match_a_sorted_map(
        n in 0u32..800,
        holes in batch(800),
        from in 0u32..820,
        length in 0u32..820,
        limit in prop_oneof![0usize..30, Just(usize::MAX)],
        rev in any::<bool>(),
    ) {
        let mut memory = Memory::default();
        let mut model = model(n);
        change(&mut model, &holes);
        let root = memory.build(&model);
        let (from, to) = (key(from), key(from + length));
        let mut expected: Vec<(Key, Bytes)> =
            model.range(from.clone()..to.clone()).map(|(k, v)| (k.clone(), v.clone())).collect();
        let (counted, ..) = Memory::run(&memory, |m| count(m, &root, &from, &to));
        prop_assert_eq!(counted, expected.len() as u64);
        let (sized, ..) = Memory::run(&memory, |m| size(m, &root, &from, &to));
        prop_assert_eq!(sized.bytes, expected.iter().map(|(_, value)| value.len() as u64).sum::<u64>());
        if rev {
            expected.reverse();
        }
        expected.truncate(limit);
        let asked = Range { from, to: Some(to), rev, limit };
        let (found, ..) = Memory::run(&memory, |m| range(m, &root, &asked));
        prop_assert_eq!(found, expected);
        for (position, (k, v)) in model.iter().enumerate().step_by(97) {
            let position = position as u64;
            prop_assert_eq!(nth(&memory, &root, position).unwrap(), Some((k.clone(), v.clone())));
            prop_assert_eq!(rank(&memory, &root, k).unwrap(), position);
            prop_assert_eq!(get(&memory, &root, k).unwrap(), Some(v.clone()));
        }
        prop_assert_eq!(nth(&memory, &root, model.len() as u64).unwrap(), None);
    }

    #[test]
    fn diff_equals_the_model_difference(
        n in 0u32..600,
        first in prop_oneof![batch(800), stretch(800)],
        second in prop_oneof![batch(800), stretch(800)],
        low in 0u32..800,
        length in 0u32..800,
    ) {
        let mut memory = Memory::default();
        let (mut a, mut b) = (model(n), model(n));
        change(&mut a, &first);
        change(&mut b, &second);
        let (ra, rb) = (memory.build(&a), memory.build(&b));
        let (low, high) = (key(low), key(low + length));
        let keys: std::collections::BTreeSet<&Key> = a.keys().chain(b.keys()).collect();
        let expected: Vec<Difference> = keys
            .into_iter()
            .filter(|k| **k >= low && **k < high && a.get(*k) != b.get(*k))
            .map(|k| Difference { key: k.clone(), before: a.get(k).cloned(), after: b.get(k).cloned() })
            .collect();
        let (found, ..) = Memory::run(&memory, |m| diff(m, &ra, &rb, &[(low.clone(), high.clone())]));
        prop_assert_eq!(found, expected);
    }
}
