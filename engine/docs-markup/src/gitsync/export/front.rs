//! The front matter and title of a page's file. They are only rewritten if their content changes.

use std::collections::{BTreeMap, BTreeSet};

use docs_model::{CoverMask, CoverSize, JsonText, PageLayout, PagePatch, PageWidth};
use serde_json::{Map, Value, json};

use super::yaml_entries;
use crate::markdown::CoverSource;

/// Front matter as keys and values.
pub(super) type Keys = BTreeMap<String, Value>;

/// The order of keys in new front matter. Other keys follow.
const KEY_ORDER: [&str; 11] = [
    "title",
    "description",
    "icon",
    "hidden",
    "noIndex",
    "noRobotsIndex",
    "cover",
    "coverDark",
    "coverY",
    "layout",
    "vars",
];

/// Returns the front matter keys for the fields of a page, without default values.
///
/// The title is not included, because it is in a heading or in the table of contents.
pub(super) fn keys(fields: &PagePatch, cover: Option<&CoverSource>) -> Keys {
    let mut keys: Keys = fields.extra.as_ref().map(JsonText::value).unwrap_or_default();
    let rest = keys.remove("layout");
    let mut text = |key: &str, value: &Option<Option<String>>| {
        if let Some(Some(value)) = value {
            keys.insert(key.to_owned(), Value::from(value.clone()));
        }
    };
    text("description", &fields.description);
    text("icon", &fields.icon);
    text("if", &fields.condition);
    let flags =
        [("hidden", fields.hidden), ("noIndex", fields.no_index), ("noRobotsIndex", fields.no_robots_index)];
    for (key, _) in flags.into_iter().filter(|(_, value)| *value == Some(true)) {
        keys.insert(key.to_owned(), Value::Bool(true));
    }
    if let Some(variables) = fields.variables.as_ref().filter(|variables| !variables.is_default()) {
        keys.insert("vars".to_owned(), json!(variables));
    }
    if let Some(layout) = layout(fields.layout.flatten().unwrap_or_default(), rest) {
        keys.insert("layout".to_owned(), layout);
    }
    if let Some(cover) = cover {
        let pictures = [("cover", &cover.light), ("coverDark", &cover.dark)];
        for (key, path) in pictures.into_iter().filter_map(|(key, path)| Some((key, path.as_ref()?))) {
            keys.insert(key.to_owned(), Value::from(path.clone()));
        }
        if cover.y_pos != 0.0 {
            keys.insert("coverY".to_owned(), number(cover.y_pos));
        }
    }
    keys
}

/// Formats a number, without a decimal point if it is whole.
#[expect(clippy::cast_possible_truncation, reason = "the value is checked below")]
fn number(value: f64) -> Value {
    let whole = value as i64;
    // Above this, `f64` cannot represent every whole number.
    if value.fract() == 0.0 && value.abs() < 9e15 { json!(whole) } else { json!(value) }
}

/// Returns the `layout` key, including the values that no field represents.
fn layout(layout: PageLayout, rest: Option<Value>) -> Option<Value> {
    let rest = match rest {
        Some(Value::Object(rest)) => rest,
        // A value that is not a map was retained. A layout replaces it.
        Some(other) if layout == PageLayout::default() => return Some(other),
        _ => Map::new(),
    };
    if layout == PageLayout::default() && rest.is_empty() {
        return None;
    }
    let width = if layout.width == PageWidth::Wide { "wide" } else { "default" };
    let size = if layout.cover_size == CoverSize::Full { "full" } else { "hero" };
    let shown = |visible: bool| json!({ "visible": visible });
    let Value::Object(mut map) = json!({
        "width": width,
        "cover": { "visible": layout.cover, "size": size },
        "title": shown(layout.title),
        "description": shown(layout.description),
        "tableOfContents": shown(layout.table_of_contents),
        "outline": shown(layout.outline),
        "pagination": shown(layout.pagination),
        "metadata": shown(layout.metadata),
        "tags": shown(layout.tags),
        "actions": shown(layout.actions),
        "anchors": shown(layout.anchors),
    }) else {
        return None;
    };
    if layout.cover_mask == CoverMask::Radial {
        map["cover"]["mask"] = "radial".into();
    }
    for (key, value) in rest {
        match (map.get_mut(&key), value) {
            (Some(Value::Object(part)), Value::Object(more)) => part.extend(more),
            (Some(Value::Object(_)), _) => {}
            (_, value) => drop(map.insert(key, value)),
        }
    }
    Some(Value::Object(map))
}

/// Returns the YAML of new front matter.
pub(super) fn fresh(keys: &Keys, eol: &str) -> String {
    let known = KEY_ORDER.iter().filter_map(|key| Some((*key, keys.get(*key)?)));
    let others =
        keys.iter().map(|(key, value)| (key.as_str(), value)).filter(|(key, _)| !KEY_ORDER.contains(key));
    known.chain(others).map(|(key, value)| yaml_entries::entry(key, value, eol)).collect()
}

/// Returns YAML where the keys that differ between `before` and `after` are set or removed. Every other line is
/// unchanged.
pub(super) fn edit_yaml(yaml: &str, before: &Keys, after: &Keys, eol: &str) -> String {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let changed: BTreeSet<&str> =
        names.into_iter().filter(|key| before.get(*key) != after.get(*key)).map(String::as_str).collect();
    let mut out = String::with_capacity(yaml.len());
    let mut written = BTreeSet::new();
    for (key, lines) in entries(yaml) {
        match key.filter(|key| changed.contains(key.as_str())) {
            None => out.push_str(lines),
            Some(key) => {
                if let Some(value) = after.get(&key).filter(|_| written.insert(key.clone())) {
                    out.push_str(&yaml_entries::entry(&key, value, eol));
                }
            }
        }
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out.push_str(eol);
    }
    let new: Keys = changed
        .iter()
        .filter(|key| !written.contains(**key))
        .filter_map(|key| Some(((*key).to_owned(), after.get(*key)?.clone())))
        .collect();
    out.push_str(&fresh(&new, eol));
    out
}

/// Splits YAML into its top-level keys with the lines of their values. Comments and blank lines between them have no
/// key.
fn entries(yaml: &str) -> Vec<(Option<String>, &str)> {
    let mut parts: Vec<(Option<String>, usize, usize)> = Vec::new();
    let mut at = 0;
    for line in yaml.split_inclusive('\n') {
        let end = at + line.len();
        let is_gap = line.trim().is_empty() || line.starts_with('#');
        match (key_of(line), parts.last_mut()) {
            (Some(key), _) => parts.push((Some(key), at, end)),
            (None, _) if is_gap => parts.push((None, at, end)),
            // Add the preceding gap to the value, because both belong to the same key.
            (None, Some(_)) => {
                while parts.len() > 1 && parts.last().is_some_and(|(key, ..)| key.is_none()) {
                    parts.pop();
                }
                if let Some((_, _, last)) = parts.last_mut() {
                    *last = end;
                }
            }
            (None, None) => parts.push((None, at, end)),
        }
        at = end;
    }
    parts.into_iter().map(|(key, from, to)| (key, &yaml[from..to])).collect()
}

/// Parses the key at the beginning of a top-level line.
fn key_of(line: &str) -> Option<String> {
    let line = line.trim_end();
    let first =
        line.chars().next().filter(|c| !c.is_whitespace() && !matches!(c, '#' | '-' | '?' | '}' | ']'))?;
    if matches!(first, '"' | '\'') {
        let end = line[1..].find(first)? + 1;
        let behind = line[end + 1..].trim_start();
        return (behind == ":" || behind.starts_with(": ")).then(|| line[1..end].to_owned());
    }
    match line.split_once(": ") {
        Some((key, _)) => Some(key.trim_end().to_owned()),
        None => line.strip_suffix(':').map(|key| key.trim_end().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys_from(value: Value) -> Keys {
        let Value::Object(map) = value else { panic!("a map") };
        map.into_iter().collect()
    }

    #[test]
    fn edit_changes_only_the_lines_of_changed_keys() {
        let yaml =
            "# about\ntitle: \"A\" # why\ndescription: >-\n  long\n\n  text\n\nvars:\n- a\n# end\nicon: x\n";
        let before = keys_from(json!({ "title": "A", "description": "long\ntext", "icon": "x" }));
        let after = keys_from(json!({ "title": "A", "description": "short", "hidden": true }));
        assert_eq!(
            edit_yaml(yaml, &before, &after, "\n"),
            "# about\ntitle: \"A\" # why\ndescription: short\n\nvars:\n- a\n# end\nhidden: true\n"
        );
        assert_eq!(edit_yaml(yaml, &before, &before, "\n"), yaml);
    }

    #[test]
    fn new_front_matter_has_an_order() {
        let keys =
            keys_from(json!({ "zeta": 1, "alpha": [1], "hidden": true, "description": "d", "if": "a" }));
        assert_eq!(fresh(&keys, "\n"), "description: d\nhidden: true\nalpha:\n  - 1\nif: a\nzeta: 1\n");
    }
}
