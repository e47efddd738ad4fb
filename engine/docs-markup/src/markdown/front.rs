//! Front matter: conversion of YAML to the fields of a page.

use std::{borrow::Cow, collections::BTreeMap};

use docs_model::{
    ContentRef, CoverMask, CoverSize, JsonText, PageCover, PageLayout, PageWidth, VariableValue,
    web_url::web_url, without_nul,
};
use serde_json::{Map, Value};
use serde_saphyr::NonFiniteFloatPolicy;

use crate::{
    PagePatch, check_variables,
    syntax::yaml::{self, Booleans, YamlLimits},
    variables::variable,
};

/// Maximum length of front matter, in bytes.
pub const MAX_BYTES: usize = 32 * 1024;
/// Maximum number of nodes in front matter, and maximum total size of its strings in bytes, with aliases resolved.
const MAX_NODES: usize = 2_000;
const MAX_TEXT_BYTES: usize = 2 * MAX_BYTES;
/// The number of nodes and the total size of strings that any front matter may have. Longer front matter has at most as
/// many nodes as bytes, and strings of at most twice its size, so that aliases cannot multiply the size of an import.
const SHORT_NODES: usize = 64;
const SHORT_TEXT_BYTES: usize = 2 * 1024;

/// The YAML limits and dialect of front matter.
const LIMITS: YamlLimits = YamlLimits {
    nodes: MAX_NODES,
    text_bytes: MAX_TEXT_BYTES,
    depth: 64,
    aliases: MAX_NODES,
    booleans: Booleans::Words,
    non_finite: NonFiniteFloatPolicy::Reject,
};

/// The location of a cover in front matter: a path in the repository or a URL.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CoverSource {
    /// The image.
    pub light: Option<String>,
    /// The image for the dark theme.
    pub dark: Option<String>,
    /// The vertical offset.
    pub y_pos: f64,
}

/// The content of front matter. Missing keys are `None`.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FrontMatter {
    /// The fields of the page that require no lookup. Unknown keys and values of the wrong type are in `extra`, so that
    /// the next export preserves them. `extra` is `None` if there are no such keys.
    pub fields: PagePatch,
    /// The cover, which must be looked up among the files.
    pub cover: Option<CoverSource>,
}

/// Returns the cover of front matter. `find` looks up its images.
pub fn cover_of(source: &CoverSource, mut find: impl FnMut(&str) -> Option<ContentRef>) -> Option<PageCover> {
    let reference = source.light.as_deref().and_then(&mut find);
    let reference_dark = source.dark.as_deref().and_then(&mut find);
    if reference.is_none() && reference_dark.is_none() {
        return None;
    }
    Some(PageCover { reference, reference_dark, y_pos: source.y_pos })
}

/// Converts a destination that is a web URL.
#[must_use]
pub fn web_reference(destination: &str) -> Option<ContentRef> {
    web_url(destination).map(|_| ContentRef::Url { url: destination.to_owned() })
}

/// The result of parsing the lines between front matter fences.
pub(super) enum FrontBlock {
    Map(Box<FrontMatter>),
    /// The lines resemble a map, but cannot be parsed.
    Unreadable,
    /// The text between two horizontal rules.
    Text,
}

/// Parses the lines between front matter fences. Reports invalid parts in `warnings`.
pub(super) fn parse(yaml: &str, warnings: &mut Vec<String>) -> FrontBlock {
    let keys = match read_map(yaml) {
        Ok(Some(keys)) => keys,
        Err(problem) if resembles_map(yaml) => {
            warnings.push(format!("The front matter {problem}. It is part of the text."));
            return FrontBlock::Unreadable;
        }
        Ok(None) | Err(_) => return FrontBlock::Text,
    };
    let (keys, replaced) = remove_nul(keys);
    if replaced {
        warnings.push("The NUL characters of the front matter were replaced.".to_owned());
    }
    let mut reader = FrontMatterReader { keys, warnings };
    FrontBlock::Map(Box::new(reader.read()))
}

/// Returns `true` if the YAML is a map, including an empty one.
pub(super) fn is_map(yaml: &str) -> bool {
    matches!(read_map(yaml), Ok(Some(_)))
}

/// Parses a map. Returns `None` for another type. The error completes a sentence that starts with "The front matter".
fn read_map(yaml: &str) -> Result<Option<Map<String, Value>>, String> {
    if yaml.trim().is_empty() {
        return Ok(Some(Map::new()));
    }
    if yaml.len() > MAX_BYTES {
        return Err(format!("has more than {} KiB", MAX_BYTES / 1024));
    }
    let nodes = yaml.len().clamp(SHORT_NODES, MAX_NODES);
    let text_bytes = (2 * yaml.len()).clamp(SHORT_TEXT_BYTES, MAX_TEXT_BYTES);
    match yaml::read_within(yaml, YamlLimits { nodes, text_bytes, ..LIMITS }) {
        Ok(Value::Object(keys)) => Ok(Some(keys)),
        Ok(_) => Ok(None),
        Err(error) => Err(format!("is not valid YAML: {error}")),
    }
}

/// Returns `true` if the first line other than comments begins with a key.
fn resembles_map(yaml: &str) -> bool {
    let mut lines = yaml.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
    let Some((key, rest)) = lines.next().and_then(|line| line.split_once(':')) else { return false };
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' ' | '"' | '\'');
    !key.is_empty()
        && !key.starts_with(' ')
        && key.chars().all(is_key)
        && !rest.starts_with(|c: char| !c.is_whitespace())
}

/// Removes NUL characters, which YAML can escape and the platform rejects in text.
fn remove_nul(keys: Map<String, Value>) -> (Map<String, Value>, bool) {
    fn clean(text: String, replaced: &mut bool) -> String {
        match without_nul(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(clean) => {
                *replaced = true;
                clean
            }
        }
    }
    fn remove_nul_from(value: Value, replaced: &mut bool) -> Value {
        match value {
            Value::String(text) => Value::String(clean(text, replaced)),
            Value::Array(items) => items.into_iter().map(|item| remove_nul_from(item, replaced)).collect(),
            Value::Object(keys) => Value::Object(walk_keys(keys, replaced)),
            other => other,
        }
    }
    fn walk_keys(keys: Map<String, Value>, replaced: &mut bool) -> Map<String, Value> {
        keys.into_iter()
            .map(|(key, value)| (clean(key, replaced), remove_nul_from(value, replaced)))
            .collect()
    }
    let mut replaced = false;
    let keys = walk_keys(keys, &mut replaced);
    (keys, replaced)
}

/// Removes known keys from front matter. The remaining keys are preserved.
struct FrontMatterReader<'a> {
    keys: Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl FrontMatterReader<'_> {
    fn read(&mut self) -> FrontMatter {
        let mut front = FrontMatter::default();
        let fields = &mut front.fields;
        fields.title = self.take("title", text).filter(|title| !title.trim().is_empty());
        fields.description = self.take("description", text).map(non_empty);
        fields.icon = self.take("icon", text).map(non_empty);
        fields.hidden = self.take("hidden", flag);
        fields.no_index = self.take("noIndex", flag);
        fields.no_robots_index = self.take("noRobotsIndex", flag);
        fields.condition = self.take("if", condition).map(non_empty);
        fields.variables = self.take("vars", variables).map(JsonText::from);
        fields.layout = self.layout().map(Some);
        front.cover = self.cover();
        if !self.keys.is_empty() {
            let rest = std::mem::take(&mut self.keys);
            front.fields.extra = Some(JsonText::new(&rest.into_iter().collect()));
        }
        front
    }

    /// Removes a key and returns its value. A value of the wrong type is not removed and causes a warning.
    fn take<T>(&mut self, key: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.keys.get(key)?;
        let found = read(value);
        if found.is_some() {
            self.keys.remove(key);
        } else if !value.is_null() {
            self.warnings.push(format!("The front matter key `{key}` has an invalid value."));
        }
        found
    }

    fn cover(&mut self) -> Option<CoverSource> {
        let light = self.take("cover", text);
        let dark = self.take("coverDark", text);
        if light.is_none() && dark.is_none() {
            return None;
        }
        let y_pos = self.take("coverY", Value::as_f64).unwrap_or_default();
        Some(CoverSource { light, dark, y_pos })
    }

    /// Removes the layout and returns it. Unknown parts of it remain in `extra`.
    fn layout(&mut self) -> Option<PageLayout> {
        let Some(Value::Object(mut parts)) =
            self.take("layout", |value| value.is_object().then(|| value.clone()))
        else {
            return None;
        };
        let mut layout = PageLayout::default();
        match parts.get("width").and_then(Value::as_str) {
            Some("wide") => layout.width = PageWidth::Wide,
            Some("default") => layout.width = PageWidth::Default,
            _ => {}
        }
        if matches!(parts.get("width").and_then(Value::as_str), Some("wide" | "default")) {
            parts.remove("width");
        }
        let shown = [
            ("cover", &mut layout.cover),
            ("title", &mut layout.title),
            ("description", &mut layout.description),
            ("tableOfContents", &mut layout.table_of_contents),
            ("outline", &mut layout.outline),
            ("pagination", &mut layout.pagination),
            ("metadata", &mut layout.metadata),
            ("tags", &mut layout.tags),
            ("actions", &mut layout.actions),
            ("anchors", &mut layout.anchors),
        ];
        for (name, field) in shown {
            let Some(Value::Object(part)) = parts.get_mut(name) else { continue };
            if let Some(visible) = part.get("visible").and_then(Value::as_bool) {
                *field = visible;
                part.remove("visible");
            }
            if name == "cover" {
                layout.cover_size = match part.get("size").and_then(Value::as_str) {
                    Some("full") => CoverSize::Full,
                    _ => CoverSize::Hero,
                };
                if matches!(part.get("size").and_then(Value::as_str), Some("full" | "hero")) {
                    part.remove("size");
                }
                if part.get("mask").and_then(Value::as_str) == Some("radial") {
                    layout.cover_mask = CoverMask::Radial;
                    part.remove("mask");
                }
            }
            if part.is_empty() {
                parts.remove(name);
            }
        }
        if !parts.is_empty() {
            self.keys.insert("layout".to_owned(), Value::Object(parts));
        }
        Some(layout)
    }
}

/// Treats an empty string as missing.
fn non_empty(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}

/// Converts a value to a string. YAML parses some strings as numbers.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim_end_matches('\n').to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn flag(value: &Value) -> Option<bool> {
    value.as_bool()
}

/// Converts a value to an expression. `true` and `false` are valid expressions.
fn condition(value: &Value) -> Option<String> {
    match value {
        Value::Bool(constant) => Some(constant.to_string()),
        other => text(other),
    }
}

fn variables(value: &Value) -> Option<BTreeMap<String, VariableValue>> {
    let fields = value.as_object()?;
    let variable = |(name, value): (&String, &Value)| Some((name.clone(), variable(value.clone())?));
    let variables = fields.iter().map(variable).collect::<Option<BTreeMap<_, _>>>()?;
    check_variables(&variables).ok().map(|()| variables)
}
