//! Schemas with their references resolved and their parts merged.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    files::{SpecValue, reference_name},
    json::Json,
    model::{MAX_DEFINITIONS, MAX_FIELDS, MAX_SCHEMA_DEPTH, MAX_VALUES},
    reader::{DetailReader, text, title},
};

/// A schema with its references resolved and its parts merged.
pub(super) struct MergedSchema {
    /// The origin of the schema, if a reference led to it.
    pub(super) origin: Option<Rc<str>>,
    /// The name in the reference.
    name: Option<String>,
    /// The keywords next to the reference, the schema itself, and the schemas that apply in addition.
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

    /// Returns `true` if a keyword of the schema itself is `true`.
    pub(super) fn is(&self, keyword: &str) -> bool {
        self.own().iter().any(|part| part.is(keyword))
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

    /// The title or the name.
    pub(super) fn title(&self) -> Option<String> {
        let own = self.own().iter().find_map(|part| title(part.text("title")?));
        own.or_else(|| title(self.name.as_deref()?))
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
            let definition = definition.clone();
            self.count_schema();
            let name = definition.text("$ref").map(|reference| reference_name(reference).to_owned());
            let part = self.files.follow_references(definition);
            if part.origin.as_ref().is_none_or(|origin| seen.insert(Rc::clone(origin))) {
                whole.name = whole.name.take().or(name);
                whole.origin = whole.origin.take().or_else(|| part.origin.clone());
                whole.own += 1;
                self.add_part(&mut whole, part, 0, &mut seen);
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
        self.count_schema();
        let name = schema.text("$ref").map(|reference| reference_name(reference).to_owned());
        let beside = name.is_some() && schema.value.fields().len() > 1;
        let beside = beside.then(|| schema.clone());
        let found = self.files.follow_references(schema);
        let mut whole = MergedSchema {
            origin: found.origin.clone(),
            name,
            parts: Vec::new(),
            own: 0,
            properties: Vec::new(),
            required: HashSet::new(),
            places: HashMap::new(),
            groups: Vec::new(),
            has_null: false,
        };
        let mut seen: HashSet<Rc<str>> = found.origin.clone().into_iter().collect();
        for part in beside.into_iter().chain([found]) {
            whole.own += 1;
            self.add_part(&mut whole, part, 0, &mut seen);
        }
        (whole, seen)
    }

    /// Adds the keywords of a schema, and of the schemas that apply in addition.
    fn add_part(&self, whole: &mut MergedSchema, part: SpecValue, depth: usize, seen: &mut HashSet<Rc<str>>) {
        if depth == 0 {
            // The own parts are before those that apply in addition.
            whole.parts.insert(whole.own.saturating_sub(1).min(whole.parts.len()), part.clone());
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
        if depth >= MAX_SCHEMA_DEPTH {
            return;
        }
        if let [only] = also.as_slice()
            && depth == 0
            && whole.properties.is_empty()
        {
            // A reference with further keywords has the name of its target.
            let name = only.text("$ref").map(|reference| reference_name(reference).to_owned());
            whole.name = whole.name.take().or(name);
        }
        for part in also {
            if !self.has_room() {
                return;
            }
            self.count_schema();
            let part = self.files.follow_references(part);
            if part.origin.as_ref().is_none_or(|origin| seen.insert(Rc::clone(origin))) {
                self.add_part(whole, part, depth + 1, seen);
            }
        }
    }
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
