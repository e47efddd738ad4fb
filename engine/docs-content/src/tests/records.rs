//! Tests of record serialization. Stored records must remain readable, so the expected texts must never change.

use docs_model::{
    ContentRef, Dimensions, ExtraFields, GitBlob, PageCover, PageLayout, VariableValue, Variables,
};
use serde_json::json;

use super::*;
use crate::{
    entry::{decode, encode},
    keys,
};

fn written<T: serde::Serialize>(record: &T) -> String {
    String::from_utf8(encode(record).unwrap().to_vec()).unwrap()
}

/// Asserts that the record serializes to the given text and that the text parses to the record.
fn golden<T>(record: &T, text: &str)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    assert_eq!(written(record), text);
    assert_eq!(&decode::<T>("key", text.as_bytes()).unwrap(), record);
}

fn hash() -> Hash {
    Hash::compute(b"text")
}

const HASH: &str = "qmogqmp5zgrqtjggntb4wl5doqfbadnixbww72dotosa322qvimq";

fn clash() -> JsonText<FieldClashes> {
    let clash = FieldClash { other: json!("a"), base: json!(null), request: json!({ "b": 1, "a": [2] }) };
    FieldClashes::from([("title".to_owned(), clash)]).into()
}

const CLASH: &str = r#""clash":{"title":{"other":"a","base":null,"request":{"a":[2],"b":1}}}"#;

#[test]
fn a_document_is_stored_with_all_its_fields() {
    let entry = PageEntry {
        parent: Some(id(1)),
        slug: "start".into(),
        emoji: Some("🚀".into()),
        icon: Some("rocket".into()),
        description: Some("How to".into()),
        layout: Some(PageLayout::default()),
        cover: Some(PageCover {
            reference: Some(ContentRef::File { file: "f1".parse().unwrap() }),
            reference_dark: None,
            y_pos: 12.345678901234567,
        }),
        hidden: true,
        no_index: true,
        no_robots_index: true,
        variables: Variables::from([("v".to_owned(), VariableValue::Boolean(true))]).into(),
        condition: Some("visitor.claims.x".into()),
        created_at: Some(time(0)),
        updated_at: Some(time(1)),
        git: Some(GitBlob { oid: "0a".into(), path: "start.md".into(), executable: false }),
        extra: ExtraFields::from([("tags".to_owned(), json!({ "z": 1, "a": 2 }))]).into(),
        body: Body::Text(hash()),
        clash: clash(),
        ..PageEntry::new(PageKind::Document, "Start", Rank::nth(0))
    };
    let expected = [
        r#"{"kind":"document","parent":"page00001","rank":"V001","title":"Start","slug":"start","emoji":"🚀","#,
        r#""icon":"rocket","description":"How to","layout":{"width":"default","cover":true,"coverSize":"hero","coverMask":"none","#,
        r#""title":true,"description":true,"tableOfContents":true,"outline":true,"pagination":true,"metadata":true,"#,
        r#""tags":true,"actions":true,"anchors":true},"#,
        r#""cover":{"ref":{"kind":"file","file":"f1"},"yPos":12.345678901234567},"hidden":true,"noIndex":true,"#,
        r#""noRobotsIndex":true,"variables":{"v":true},"condition":"visitor.claims.x","#,
        r#""createdAt":"2023-11-14T22:13:20Z","updatedAt":"2023-11-14T22:13:21Z","#,
        r#""git":{"oid":"0a","path":"start.md"},"extra":{"tags":{"a":2,"z":1}},"body":""#,
        HASH,
        r#"","#,
        CLASH,
        "}",
    ];
    golden(&entry, &expected.concat());
}

#[test]
fn stored_form_of_groups_links_and_computed_pages_is_stable() {
    let page = |kind| PageEntry::new(kind, "T", Rank::nth(60));
    let group = PageEntry { slug: "t".into(), ..page(PageKind::Group) };
    golden(&group, r#"{"kind":"group","rank":"V00z","title":"T","slug":"t"}"#);
    let target = Some(ContentRef::Url { url: "https://example.com".into() });
    golden(
        &PageEntry { target, ..page(PageKind::Link) },
        r#"{"kind":"link","rank":"V00z","title":"T","target":{"kind":"url","url":"https://example.com"}}"#,
    );
    let computed = Some(json!({ "type": "builtin:openapi", "props": { "models": true } }).into());
    let seed = Some("s".to_owned());
    golden(
        &PageEntry { computed, computed_seed: seed, ..page(PageKind::Computed) },
        concat!(
            r#"{"kind":"computed","rank":"V00z","title":"T","computed":{"props":{"models":true},"#,
            r#""type":"builtin:openapi"},"computedSeed":"s"}"#
        ),
    );
}

#[test]
fn body_is_stored_as_null_hash_or_conflict_terms() {
    golden(&Body::Empty, "null");
    golden(&Body::Text(hash()), &format!("\"{HASH}\""));
    let terms = vec![Some(hash()), None, Some(hash())];
    golden(&Body::Conflict(terms.try_into().unwrap()), &format!("[\"{HASH}\",null,\"{HASH}\"]"));
    for wrong in ["[]", "[null]", "[null,null]", "\"abc\"", "1", "{}"] {
        assert!(decode::<Body>("key", wrong.as_bytes()).is_err(), "{wrong}");
    }
}

#[test]
fn a_file_is_stored_with_all_its_fields() {
    let entry = FileEntry {
        name: "a.png".into(),
        content_type: "image/png".into(),
        size: 7,
        dimensions: Some(Dimensions { width: 2.0, height: 3.5 }),
        blob: hash(),
        parts: None,
        git: Some(GitBlob { oid: "0b".into(), path: ".gitbook/assets/a.png".into(), executable: false }),
        clash: clash(),
    };
    let expected = [
        r#"{"name":"a.png","contentType":"image/png","size":7,"dimensions":{"width":2.0,"height":3.5},"blob":""#,
        HASH,
        r#"","git":{"oid":"0b","path":".gitbook/assets/a.png"},"#,
        CLASH,
        "}",
    ];
    golden(&entry, &expected.concat());
}

#[test]
fn a_reusable_content_is_stored_with_all_its_fields() {
    let entry = ReusableEntry {
        body: Body::Text(hash()),
        git: Some(GitBlob { oid: "0c".into(), path: "x.md".into(), executable: false }),
        extra: ExtraFields::from([("a".to_owned(), json!(null))]).into(),
        clash: clash(),
        ..ReusableEntry::new("Shared")
    };
    let expected = [
        r#"{"title":"Shared","body":""#,
        HASH,
        r#"","git":{"oid":"0c","path":"x.md"},"extra":{"a":null},"#,
        CLASH,
        "}",
    ];
    golden(&entry, &expected.concat());
}

#[test]
fn variable_is_stored_as_an_object_with_its_value() {
    let entry = VariableEntry { value: VariableValue::Text("x".into()), clash: JsonText::default() };
    golden(&entry, r#"{"value":"x"}"#);
}

#[test]
fn keys_escape_the_part_separator() {
    assert_eq!(&*keys::page(&id(1)), "p!page00001");
    assert_eq!(&*keys::child(None, &Rank::nth(0), &id(1)), "k!!V001!page00001");
    assert_eq!(&*keys::slug(Some(&id(2)), "a!b"), "s!page00002!a\"!b");
    assert_eq!(&*keys::variable("v"), "v!v");
    assert_eq!(&*keys::conflict_key(&id(1)), "c!page00001");
}

#[test]
fn malformed_record_is_reported_as_corrupt() {
    for wrong in [
        "",
        "[]",
        "{}",
        r#"{"kind":"page","rank":"V","title":"T"}"#,
        r#"{"kind":"link","rank":"0","title":""}"#,
    ] {
        assert!(
            matches!(decode::<PageEntry>("key", wrong.as_bytes()), Err(ContentError::Corrupt(_))),
            "{wrong}"
        );
    }
}

#[test]
fn futures_of_operations_are_send() {
    fn spawnable<T: Send>(_: T) {}
    let content = content();
    let root = hash();
    let view = content.view(DOMAIN, root);
    spawnable(content.edit(DOMAIN, root, time(0), &[]));
    spawnable(content.build(DOMAIN, time(0), Vec::new()));
    spawnable(content.merge(DOMAIN, ThreeWay { base: root, ours: root, theirs: root }));
    spawnable(content.diff(DOMAIN, root, root));
    spawnable(content.check(DOMAIN, root));
    spawnable(content.mark(DOMAIN, root, &mut std::collections::HashSet::new()));
    spawnable(content.text(DOMAIN, root));
    spawnable(content.body_text(DOMAIN, &Body::Empty, Rendering::Markers));
    spawnable(view.tree());
    spawnable(view.find("a/b"));
    spawnable(view.counts());
    spawnable(view.children(None));
}

#[test]
fn content_works_with_caches_of_one_byte() {
    let limits = CacheLimits { node_bytes: 1, text_bytes: 1, tree_bytes: 1, document_bytes: 1 };
    let content = Content::with_config(Arc::new(MemObjects::new()), limits, Arc::new(LineMerger));
    let root = now(content.build(DOMAIN, time(0), many_pages(500))).unwrap().root;
    let edited = apply(&content, root, &[Edit::SetBody { page: id(7), body: "new".into() }]);
    let other = apply(&content, root, &[Edit::DeletePage { page: id(40) }]);
    let merged = now(content.merge(DOMAIN, ThreeWay { base: root, ours: edited, theirs: other })).unwrap();
    assert_eq!(merged.conflicts, []);
    sound(&content, merged.root);
    assert_eq!(now(content.view(DOMAIN, merged.root).tree()).unwrap().len(), 460);
}

#[test]
fn concurrent_callers_read_a_document_once() {
    let content = Content::new(Arc::new(MemObjects::new()));
    let text: Arc<str> = "Some *words* of a text.\n\n".repeat(20_000).into();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let read = |_| {
            let (view, text) = (content.view(DOMAIN, hash()), Arc::clone(&text));
            tokio::spawn(async move { view.document_of(&text).await })
        };
        for task in (0..8).map(read).collect::<Vec<_>>() {
            task.await.unwrap();
        }
    });
    assert_eq!(content.cost().documents_read, 1);
}

// Domains must not share documents.
#[test]
fn document_cache_is_keyed_by_text_hash_and_bounded_in_bytes() {
    let limits = CacheLimits { document_bytes: 1 << 20, ..CacheLimits::default() };
    let content = Content::with_config(Arc::new(MemObjects::new()), limits, Arc::new(LineMerger));
    let view = content.view(DOMAIN, hash());
    let text = |number: usize| format!("# {number}\n\n{}", "Some *words* of a text.\n\n".repeat(50));
    let first = now(view.document_of(&text(0)));
    assert!(std::ptr::eq(&*first, &*now(view.document_of(&text(0)))), "it is not read again");
    assert_eq!(content.cost().documents_read, 1);
    let other = now(content.view("another domain", hash()).document_of(&text(0)));
    assert!(!std::ptr::eq(&*first, &*other) && *first == *other, "domains share nothing");
    for number in 0..60 {
        drop(now(view.document_of(&text(number))));
    }
    let read = content.cost().documents_read;
    for number in (0..60).rev() {
        drop(now(view.document_of(&text(number))));
    }
    let again = content.cost().documents_read - read;
    assert!((1..60).contains(&again), "some are kept and some are not: {again} of 60 are read again");
}
