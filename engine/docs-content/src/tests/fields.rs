//! Tests of every row in the table of page fields, with all code generated from it.

use docs_model::{ContentRef, PageAttributes, PageCover, PageLayout, PageWidth, VariableValue, Variables};
use serde_json::{Value, json};

use super::*;
use crate::{clash_field, edit::patch};

trait Sample {
    fn sample() -> Self;
}

impl Sample for String {
    fn sample() -> Self {
        "sample".to_owned()
    }
}

impl Sample for bool {
    fn sample() -> Self {
        true
    }
}

impl Sample for PageLayout {
    fn sample() -> Self {
        Self { width: PageWidth::Wide, ..Self::default() }
    }
}

impl Sample for PageCover {
    fn sample() -> Self {
        Self { y_pos: 1.0, ..Self::default() }
    }
}

impl Sample for JsonText<Variables> {
    fn sample() -> Self {
        Variables::from([("v".to_owned(), VariableValue::Boolean(true))]).into()
    }
}

impl Sample for ContentRef {
    fn sample() -> Self {
        Self::Url { url: "https://example.com".to_owned() }
    }
}

impl Sample for JsonText<Value> {
    fn sample() -> Self {
        json!({ "type": "sample" }).into()
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample() -> Self {
        Some(T::sample())
    }
}

/// A field of the table, and a page with only this field set.
struct Field {
    name: &'static str,
    attribute: Attribute,
    page: PageEntry,
    patch: PagePatch,
    is_shown: bool,
}

macro_rules! fields {
    ($(
        $(#[$doc:meta])*
        $name:ident: $type:ty = $json:literal $attribute:ident
        $(change { $(#[$change:meta])* $changed:ty })?
        $(request { $(#[$request:meta])* $input:ty })?;
    )*) => {
        fn fields() -> Vec<Field> {
            vec![$(Field {
                name: $json,
                attribute: Attribute::$attribute,
                page: PageEntry { $name: Sample::sample(), ..plain() },
                patch: PagePatch { $name: Some(Sample::sample()), ..PagePatch::default() },
                is_shown: !concat!($(stringify!($changed))?).is_empty(),
            }),*]
        }
    };
}

docs_model::page_fields!(fields);

fn plain() -> PageEntry {
    PageEntry::new(PageKind::Document, "T", Rank::nth(0))
}

fn keys_of(value: impl serde::Serialize) -> Vec<String> {
    let Value::Object(object) = serde_json::to_value(value).unwrap() else { panic!("an object") };
    object.into_iter().map(|(key, _)| key).collect()
}

#[test]
fn each_field_is_stored_under_its_name() {
    let plain = keys_of(plain());
    for field in fields() {
        let mut keys = keys_of(&field.page);
        keys.retain(|key| !plain.contains(key));
        assert_eq!(keys, [field.name]);
    }
}

#[test]
fn diff_reports_each_changed_field() {
    for Field { name, attribute, page, is_shown, .. } in fields() {
        assert_eq!(plain().differences(&page), [attribute], "{name}");
        assert_eq!(page.differences(&plain()), [attribute], "{name}");
        assert_eq!(page.differences(&page), [], "{name}");
        let shown = if is_shown { vec![name.to_owned()] } else { Vec::new() };
        assert_eq!(keys_of(plain().changes(&page)), shown);
        assert_eq!(page.changes(&page), PageAttributes::default(), "{name}");
    }
}

// Clashes of other fields must remain.
#[test]
fn patching_a_field_sets_it_and_resolves_its_clashes() {
    let clash = || FieldClash { other: json!(1), base: json!(2), request: json!(3) };
    let all =
        || -> FieldClashes { fields().into_iter().map(|field| (field.name.to_owned(), clash())).collect() };
    for Field { name, page: wanted, patch: fields, .. } in fields() {
        assert_eq!(fields.names(), [name]);
        assert_eq!(PagePatch::default().overlaid(fields.clone()), fields, "{name}");
        assert_eq!(fields.clone().overlaid(PagePatch::default()), fields, "{name}");
        let mut clashes = all();
        clashes.insert(format!("{name}.part"), clash());
        clashes.insert(clash_field::EXISTENCE.to_owned(), clash());
        let mut page = PageEntry { clash: clashes.into(), ..plain() };
        if name == "target" {
            page.kind = PageKind::Link;
        }
        patch::apply(&fields, &mut page).unwrap();
        let left: FieldClashes = all().into_iter().filter(|(field, _)| field != name).collect();
        assert_eq!(std::mem::take(&mut page.clash).value(), left, "{name}");
        // The slug depends on siblings, which are unknown here.
        let kind = page.kind;
        let slug = if name == "slug" { String::new() } else { wanted.slug.clone() };
        assert_eq!(page, PageEntry { kind, slug, ..wanted }, "{name}");
    }
}

#[test]
fn reusable_patch_resolves_clashes_of_the_fields_it_sets() {
    let clash = || FieldClash { other: json!(1), base: json!(2), request: json!(3) };
    let names = ["title", "computed", "computedSeed", "extra.key", "existence"];
    let cases: [(ReusablePatch, &[&str]); 5] = [
        (ReusablePatch { title: Some("New".into()), ..Default::default() }, &["title"]),
        (ReusablePatch { computed: Some(Some(json!({}).into())), ..Default::default() }, &["computed"]),
        (ReusablePatch { computed: Some(None), ..Default::default() }, &["computed"]),
        (ReusablePatch { computed_seed: Some(None), ..Default::default() }, &["computedSeed"]),
        (ReusablePatch { extra: Some(Default::default()), ..Default::default() }, &["extra.key"]),
    ];
    for (fields, decided) in cases {
        let mut entry = ReusableEntry::new("Old");
        let clashes: FieldClashes = names.iter().map(|name| ((*name).to_owned(), clash())).collect();
        entry.clash = clashes.into();
        fields.apply(&mut entry).unwrap();
        let clashes = entry.clash.value();
        let left: Vec<&str> = clashes.keys().map(String::as_str).collect();
        let mut expected: Vec<&str> =
            names.into_iter().filter(|name| *name != "existence" && !decided.contains(name)).collect();
        expected.sort_unstable();
        assert_eq!(left, expected, "{fields:?}");
    }
}

#[test]
fn clearing_link_target_or_computed_source_is_rejected() {
    let refused = |kind, fields: &PagePatch| {
        let mut page = PageEntry { kind, ..plain() };
        patch::apply(fields, &mut page).map_err(|error| match error {
            ContentError::Invalid { field, .. } => field,
            other => panic!("{other}"),
        })
    };
    let no_target = PagePatch { target: Some(None), ..PagePatch::default() };
    let no_source = PagePatch { computed: Some(None), ..PagePatch::default() };
    assert_eq!(refused(PageKind::Link, &no_target), Err("target"));
    assert_eq!(refused(PageKind::Document, &no_target), Err("target"));
    assert_eq!(refused(PageKind::Computed, &no_source), Err("computed"));
    assert_eq!(refused(PageKind::Group, &no_source), Err("computed"));
    assert_eq!(refused(PageKind::Document, &no_source), Ok(()));
}

#[test]
fn fields_of_a_page_apply_to_pages_of_the_same_kind() {
    let link = PageEntry { target: Sample::sample(), ..PageEntry::new(PageKind::Link, "T", Rank::nth(0)) };
    let computed =
        PageEntry { computed: Sample::sample(), ..PageEntry::new(PageKind::Computed, "T", Rank::nth(0)) };
    let group = PageEntry::new(PageKind::Group, "T", Rank::nth(0));
    for page in [plain(), group, link, computed] {
        let mut other = page.clone();
        patch::apply(&page.fields(), &mut other).unwrap();
        assert_eq!(other, page);
        assert_eq!(page.fields().target.is_some(), page.kind == PageKind::Link);
        assert_eq!(page.fields().computed.is_some(), page.kind == PageKind::Computed);
    }
}
