//! Schemas with their references resolved and their parts merged.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    files::{SpecValue, reference_name},
    json::Json,
    model::{MAX_DEFINITIONS, MAX_FIELDS, MAX_SCHEMA_DEPTH, MAX_VALUES},
    reader::{DetailReader, Direction, text, title},
};

/// A schema with its references resolved and its parts merged.
pub(super) struct MergedSchema {
    /// The origins of the schema, if references led to it: its own, and those of the schemas that it wraps.
    pub(super) origins: Vec<Rc<str>>,
    /// The name in the outermost reference.
    name: Option<String>,
    /// The keywords next to the reference, the schema itself with the schemas that it wraps, and the schemas that apply
    /// in addition.
    parts: Vec<SpecValue>,
    /// The number of parts before those that apply in addition.
    own: usize,
    pub(super) properties: Vec<(String, FieldDefinitions)>,
    pub(super) required: HashSet<String>,
    /// The index of each field in `properties`.
    places: HashMap<String, usize>,
    /// The alternatives of `oneOf` (`false`) and `anyOf` (`true`).
    pub(super) groups: Vec<(bool, Vec<SpecValue>)>,
    /// `true` if one of the alternatives is `null`.
    has_null: bool,
}

/// The definitions of a field in the parts of a schema, with the depths of the parts. Those that take precedence are
/// first: the field of the schema itself, then the ones of the last part that applies in addition.
#[derive(Clone)]
pub(super) struct FieldDefinitions {
    first: (usize, SpecValue),
    others: Vec<(usize, SpecValue)>,
}

impl FieldDefinitions {
    pub(super) const fn new(depth: usize, definition: SpecValue) -> Self {
        Self { first: (depth, definition), others: Vec::new() }
    }

    /// Adds the definition of a part. Returns `false` if it is left out because of the limit.
    fn add(&mut self, depth: usize, definition: SpecValue) -> bool {
        if self.others.len() + 1 >= MAX_DEFINITIONS {
            return false;
        }
        let is_behind = |known: usize| known > depth || (known == depth && depth > 0);
        if is_behind(self.first.0) {
            let first = std::mem::replace(&mut self.first, (depth, definition));
            self.others.insert(0, first);
        } else {
            let at = self.others.iter().position(|(known, _)| is_behind(*known)).unwrap_or(self.others.len());
            self.others.insert(at, (depth, definition));
        }
        true
    }
}

impl MergedSchema {
    /// Returns the first value of a keyword.
    pub(super) fn get(&self, keyword: &str) -> Option<SpecValue> {
        self.parts.iter().find_map(|part| part.get(keyword))
    }

    /// Returns the first value of a keyword without its file.
    pub(super) fn value(&self, keyword: &str) -> Option<&Json> {
        self.parts.iter().find_map(|part| part.value.get(keyword))
    }

    pub(super) fn own(&self) -> &[SpecValue] {
        self.parts.get(..self.own).unwrap_or_default()
    }

    /// Returns `true` if a keyword of the schema itself, or of a schema that it wraps, is `true`.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.own().iter().any(|part| part.is(keyword))
    }

    /// Returns `true` for a field that bodies of a direction do not contain.
    pub(super) fn is_left_out(&self, direction: Direction) -> bool {
        match direction {
            Direction::Request => self.is("readOnly"),
            Direction::Response => self.is("writeOnly"),
            Direction::Both => false,
        }
    }

    /// The types, without `null`.
    pub(super) fn types(&self) -> Vec<&str> {
        let listed = match self.value("type") {
            Some(Json::List(types)) => types.iter().filter_map(Json::as_text).collect(),
            Some(Json::Text(one)) => vec![&**one],
            _ => Vec::new(),
        };
        listed.into_iter().filter(|name| *name != "null").collect()
    }

    pub(super) fn is_nullable(&self) -> bool {
        let has_null_type = self.value("type").is_some_and(|types| types.items().iter().any(is_null_name));
        let has_null_value = self.value("enum").is_some_and(|values| values.items().contains(&Json::Null));
        self.has_null || has_null_type || has_null_value || self.is("nullable") || self.is("x-nullable")
    }

    /// The permitted values without `null`, from `enum` and `const`.
    pub(super) fn values(&self) -> Vec<&Json> {
        let constant = self.value("const");
        let listed = self.value("enum").map(Json::items).unwrap_or_default();
        let all: Vec<&Json> = constant.map_or_else(|| listed.iter().collect(), |one| vec![one]);
        all.into_iter().filter(|value| **value != Json::Null).collect()
    }

    /// The title or the name. A named schema that wraps another one has its own name.
    pub(super) fn title(&self) -> Option<String> {
        let own = self.own();
        let named = own.iter().position(|part| part.origin.is_some()).map_or(own.len(), |at| at + 1);
        let titled = |parts: &[SpecValue]| parts.iter().find_map(|part| title(part.text("title")?));
        let (outer, wrapped) = own.split_at(named);
        titled(outer).or_else(|| title(self.name.as_deref()?)).or_else(|| titled(wrapped))
    }

    /// The name of the field whose value selects an alternative.
    pub(super) fn discriminator(&self) -> Option<String> {
        match self.value("discriminator")? {
            Json::Text(name) => Some(name.to_string()),
            of => text(of.get("propertyName")),
        }
    }
}

impl DetailReader<'_, '_> {
    /// Resolves the references of all definitions of a field and merges their parts.
    pub(super) fn merge_definitions(&self, all: &FieldDefinitions) -> MergedSchema {
        let (mut whole, mut seen) = self.merge_with_origins(all.first.1.clone());
        for (_, definition) in all.others.iter().take_while(|_| self.has_room()) {
            let known = whole.origins.len();
            self.add_own_part(&mut whole, definition.clone(), &mut seen);
            if known > 0 {
                // The schema is that of the first definition.
                whole.origins.truncate(known);
            }
        }
        whole
    }

    /// Resolves the references of a schema and merges its parts.
    pub(super) fn merge(&self, schema: SpecValue) -> MergedSchema {
        self.merge_with_origins(schema).0
    }

    /// Returns a merged schema, and the origins of its parts.
    fn merge_with_origins(&self, schema: SpecValue) -> (MergedSchema, HashSet<Rc<str>>) {
        let mut whole = MergedSchema {
            origins: Vec::new(),
            name: None,
            parts: Vec::new(),
            own: 0,
            properties: Vec::new(),
            required: HashSet::new(),
            places: HashMap::new(),
            groups: Vec::new(),
            has_null: false,
        };
        let mut seen = HashSet::new();
        self.add_own_part(&mut whole, schema, &mut seen);
        (whole, seen)
    }

    /// Resolves the references of a schema and adds its keywords as those of the whole schema. A schema that only
    /// wraps another one is that other schema: references to itself are recursive, and its marks apply.
    fn add_own_part(&self, whole: &mut MergedSchema, schema: SpecValue, seen: &mut HashSet<Rc<str>>) {
        let mut next = schema;
        for level in 0..=MAX_SCHEMA_DEPTH {
            self.count_schema();
            let reference = next.text("$ref").map(|reference| reference_name(reference).to_owned());
            let beside = reference.is_some() && next.value.fields().len() > 1;
            let beside = beside.then(|| next.clone());
            let found = self.files.follow_references(next);
            if found.origin.as_ref().is_some_and(|origin| !seen.insert(Rc::clone(origin))) {
                return;
            }
            whole.name = whole.name.take().or(reference);
            whole.origins.extend(found.origin.clone());
            let mut also = Vec::new();
            for part in beside.iter().chain([&found]) {
                also.extend(self.add_keywords(whole, part, 0));
            }
            let is_wrapper = level < MAX_SCHEMA_DEPTH
                && whole.properties.is_empty()
                && whole.groups.is_empty()
                && !has_content(&found.value);
            match wrapped_schema(&also).filter(|_| is_wrapper && self.has_room()) {
                Some(at) => {
                    next = also.remove(at);
                    for annotations in &also {
                        self.add_keywords(whole, annotations, 0);
                    }
                }
                None => {
                    if let [only] = also.as_slice()
                        && whole.properties.is_empty()
                    {
                        // A reference with further keywords has the name of its target.
                        let name = only.text("$ref").map(|reference| reference_name(reference).to_owned());
                        whole.name = whole.name.take().or(name);
                    }
                    return self.add_parts(whole, also, 1, seen);
                }
            }
        }
    }

    /// Adds the keywords of schemas that apply in addition, and of the ones within them.
    fn add_parts(
        &self,
        whole: &mut MergedSchema,
        parts: Vec<SpecValue>,
        depth: usize,
        seen: &mut HashSet<Rc<str>>,
    ) {
        if depth > MAX_SCHEMA_DEPTH {
            return;
        }
        for part in parts {
            if !self.has_room() {
                return;
            }
            self.count_schema();
            let part = self.files.follow_references(part);
            if part.origin.as_ref().is_none_or(|origin| seen.insert(Rc::clone(origin))) {
                let also = self.add_keywords(whole, &part, depth);
                self.add_parts(whole, also, depth + 1, seen);
            }
        }
    }

    /// Adds the keywords of a schema. Returns the schemas that apply in addition.
    fn add_keywords(&self, whole: &mut MergedSchema, part: &SpecValue, depth: usize) -> Vec<SpecValue> {
        if depth == 0 {
            // The own parts are before those that apply in addition.
            whole.parts.insert(whole.own, part.clone());
            whole.own += 1;
        } else {
            whole.parts.push(part.clone());
        }
        for (name, property) in
            part.get("properties").map(|all| all.fields(MAX_FIELDS + 1)).unwrap_or_default()
        {
            if let Some(&at) = whole.places.get(&name) {
                let known = whole.properties.get_mut(at);
                if known.is_some_and(|(_, known)| !known.add(depth, property)) {
                    self.mark_cut();
                }
            } else if whole.properties.len() < MAX_FIELDS {
                whole.places.insert(name.clone(), whole.properties.len());
                whole.properties.push((name, FieldDefinitions::new(depth, property)));
            } else {
                self.mark_cut();
            }
        }
        let required = part.value.get("required").map(Json::items).unwrap_or_default();
        whole.required.extend(required.iter().filter_map(Json::as_text).map(str::to_owned));
        let mut also = part.get("allOf").map(|all| all.items(MAX_VALUES)).unwrap_or_default();
        for (is_any, keyword) in [(false, "oneOf"), (true, "anyOf")] {
            let listed = part.get(keyword).map(|all| all.items(MAX_VALUES)).unwrap_or_default();
            let count = listed.len();
            let mut alternatives: Vec<SpecValue> =
                listed.into_iter().filter(|of| !is_null(&of.value)).collect();
            whole.has_null |= alternatives.len() < count;
            match alternatives.len() {
                0 => {}
                // A single alternative applies as a whole.
                1 => also.append(&mut alternatives),
                _ => whole.groups.push((is_any, alternatives)),
            }
        }
        also
    }
}

/// The keywords that define values on their own. A schema without them only describes or limits another one.
const CONTENT: [&str; 13] = [
    "properties",
    "patternProperties",
    "additionalProperties",
    "unevaluatedProperties",
    "items",
    "prefixItems",
    "enum",
    "const",
    "not",
    "if",
    "contains",
    "dependentSchemas",
    "propertyNames",
];

fn has_content(schema: &Json) -> bool {
    // `additionalProperties: false` is common in schemas that otherwise only wrap another one.
    CONTENT.iter().any(|keyword| schema.get(keyword).is_some_and(|value| !matches!(value, Json::Bool(_))))
}

/// Returns the index of the only schema in a list, or of the only one that does not just describe or limit another.
fn wrapped_schema(all: &[SpecValue]) -> Option<usize> {
    if all.len() == 1 {
        return Some(0);
    }
    let combines = |schema: &Json| {
        ["$ref", "allOf", "oneOf", "anyOf"].iter().any(|keyword| schema.get(keyword).is_some())
    };
    let mut found = (0..).zip(all).filter(|(_, of)| combines(&of.value) || has_content(&of.value));
    let (at, _) = found.next()?;
    found.next().is_none().then_some(at)
}

fn is_null_name(name: &Json) -> bool {
    name.as_text() == Some("null")
}

/// Returns `true` for a schema that permits only `null`.
fn is_null(schema: &Json) -> bool {
    let is_null_type = schema.get("type").is_some_and(is_null_name);
    is_null_type
        || schema.get("const") == Some(&Json::Null)
        || schema.get("enum").is_some_and(|all| all.items() == [Json::Null])
}
