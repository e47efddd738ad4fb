//! Schemas: references resolved, parts merged, alternatives listed.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::{
    files::{SpecValue, reference_name},
    json::Json,
    model::{
        AlternativeDetail, ChoiceDetail, FieldDetail, FieldName, MAX_DEFINITIONS, MAX_FIELDS,
        MAX_SCHEMA_DEPTH, MAX_VALUES, SchemaDetail, SchemaLimit, ValueDetail,
    },
    reader::{DetailReader, Direction, line, text, title},
};

/// Maximum number of examples of a field.
pub(super) const MAX_EXAMPLES_OF_FIELD: usize = 10;
/// Maximum number of characters of a short description of the permitted values.
pub(super) const MAX_KIND: usize = 300;

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
    groups: Vec<(bool, Vec<SpecValue>)>,
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
    const fn new(depth: usize, definition: SpecValue) -> Self {
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

    fn own(&self) -> &[SpecValue] {
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

/// An alternative of a schema, before it is shown.
pub(super) struct Alternative {
    pub(super) schema: MergedSchema,
    /// The value of the discriminator.
    pub(super) value: Option<String>,
}

impl DetailReader<'_, '_> {
    /// Returns a schema and a plausible value of it.
    pub(super) fn schema_with_example(
        &self,
        schema: SpecValue,
        direction: Direction,
    ) -> (SchemaDetail, Option<Json>) {
        let whole = self.merge(schema);
        (self.schema(&whole, 0), self.example(&whole, 0, direction))
    }

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

    /// Returns a schema with its fields, alternatives and items.
    pub(super) fn schema(&self, whole: &MergedSchema, depth: usize) -> SchemaDetail {
        let mut detail = self.schema_without_children(whole);
        if self.is_enclosing(whole.origin.as_ref()) {
            let has_children =
                !whole.properties.is_empty() || !whole.groups.is_empty() || whole.get("items").is_some();
            detail.is_recursive = has_children;
            return detail;
        }
        let has_children = !whole.properties.is_empty() || !whole.groups.is_empty();
        if depth >= MAX_SCHEMA_DEPTH {
            detail.is_cut = has_children;
            return detail;
        }
        self.within(whole.origin.as_ref(), || {
            self.add_fields(whole, depth, &mut detail);
            self.add_choices(whole, depth, &mut detail);
            if let Some(items) = whole.get("items").filter(is_item_schema)
                && self.has_room()
            {
                detail.items = Some(Box::new(self.schema(&self.merge(items), depth + 1)));
            }
        });
        detail
    }

    fn schema_without_children(&self, whole: &MergedSchema) -> SchemaDetail {
        let value = |keyword| whole.value(keyword);
        let examples = match value("example") {
            Some(example) => std::slice::from_ref(example),
            None => value("examples").map(Json::items).unwrap_or_default(),
        };
        SchemaDetail {
            kind: self.kind(whole, 0),
            title: whole.title(),
            description: text(value("description")),
            limits: limits(whole),
            default: value("default").map(line),
            values: values(whole),
            deprecated: whole.is("deprecated"),
            read_only: whole.is("readOnly"),
            write_only: whole.is("writeOnly"),
            examples: examples.iter().take(MAX_EXAMPLES_OF_FIELD).map(line).collect(),
            external_docs: whole.own().iter().find_map(|part| self.external_docs(&part.value)),
            is_cut: whole.values().len() > MAX_VALUES,
            ..SchemaDetail::default()
        }
    }

    fn add_fields(&self, whole: &MergedSchema, depth: usize, detail: &mut SchemaDetail) {
        let positions =
            whole.get("prefixItems").or_else(|| whole.get("items")).map(|all| all.items(MAX_VALUES));
        let positions = positions.unwrap_or_default().into_iter().enumerate();
        let positions = positions.map(|(at, of)| (FieldName::Position(at), FieldDefinitions::new(0, of)));
        let named = whole.properties.iter().map(|(name, of)| (FieldName::Exact(name.clone()), of.clone()));
        let patterns = whole.get("patternProperties").map(|all| all.fields(MAX_VALUES)).unwrap_or_default();
        let patterns = patterns
            .into_iter()
            .map(|(pattern, of)| (FieldName::Pattern(pattern), FieldDefinitions::new(0, of)));
        let other = whole.get("additionalProperties").filter(|of| match &of.value {
            Json::Bool(is) => *is && whole.properties.is_empty(),
            _ => true,
        });
        let other = other.map(|of| (FieldName::Other, FieldDefinitions::new(0, of)));
        for (name, property) in positions.chain(named).chain(patterns).chain(other) {
            let left = self.fields_left.get().checked_sub(1).filter(|_| self.has_room());
            let Some(left) = left else {
                self.mark_cut();
                detail.is_cut = true;
                return;
            };
            self.fields_left.set(left);
            let required = matches!(&name, FieldName::Exact(name) if whole.required.contains(name));
            let schema = self.schema(&self.merge_definitions(&property), depth + 1);
            detail.fields.push(FieldDetail { name, required, schema });
        }
    }

    fn add_choices(&self, whole: &MergedSchema, depth: usize, detail: &mut SchemaDetail) {
        for (is_any, alternatives) in self.choices(whole) {
            if let Some(values) = constants(&alternatives) {
                detail.values.extend(values);
                continue;
            }
            let discriminator = whole.discriminator();
            let mut shown = Vec::new();
            for Alternative { schema, value } in alternatives {
                if !self.has_room() {
                    detail.is_cut = true;
                    break;
                }
                let title = schema.title().unwrap_or_else(|| self.kind(&schema, 0));
                shown.push(AlternativeDetail { title, value, schema: self.schema(&schema, depth + 1) });
            }
            detail.choices.push(ChoiceDetail { is_any, discriminator, alternatives: shown });
        }
    }

    /// The alternatives of a schema: those of `oneOf` and `anyOf`, or else those that its discriminator names.
    pub(super) fn choices(&self, whole: &MergedSchema) -> Vec<(bool, Vec<Alternative>)> {
        let mapping = whole.value("discriminator").and_then(|of| of.get("mapping")).map(Json::fields);
        let mapping = mapping.unwrap_or_default();
        let has_discriminator = whole.discriminator().is_some();
        let targets = mapping.iter().enumerate().rev();
        let targets: HashMap<&str, usize> =
            targets.filter_map(|(at, (_, target))| Some((target.as_text()?, at))).collect();
        let alternative = |of: &SpecValue| {
            let reference = of.text("$ref").unwrap_or_default();
            let name = reference_name(reference);
            let known = [reference, name].map(|target| targets.get(target).filter(|_| !reference.is_empty()));
            let named = known.into_iter().flatten().min().and_then(|at| mapping.get(*at));
            let value = named.map(|(value, _)| value.to_string());
            let value = value.or_else(|| Some(name.to_owned()).filter(|name| !name.is_empty()));
            Alternative { schema: self.merge(of.clone()), value: value.filter(|_| has_discriminator) }
        };
        if whole.groups.is_empty() && !mapping.is_empty() {
            let own = whole.own().iter().find(|part| part.value.get("discriminator").is_some());
            let Some(own) = own else { return Vec::new() };
            let named = mapping.iter().take(MAX_VALUES).take_while(|_| self.has_room());
            let named = named.filter_map(|(value, target)| {
                let target = target.as_text()?;
                let is_name = !target.contains(['/', '#', '.']);
                let target =
                    if is_name { format!("#/components/schemas/{target}") } else { target.to_owned() };
                let reference = Json::Map([("$ref".into(), Json::Text(target.into()))].into());
                let schema = self.merge(own.with_value(&reference));
                Some(Alternative { schema, value: Some(value.to_string()) })
            });
            let named = named.filter(|of| of.schema.origin.is_some() && of.schema.origin != whole.origin);
            return vec![(false, named.collect())];
        }
        let groups = whole.groups.iter();
        let listed = |of: &SpecValue| self.has_room().then(|| alternative(of));
        groups.map(|(is_any, all)| (*is_any, all.iter().map_while(listed).collect())).collect()
    }

    /// Returns a short description of the permitted values.
    fn kind(&self, whole: &MergedSchema, depth: usize) -> String {
        let mut kind = whole.types().join(" or ");
        if kind.is_empty() {
            kind = self.derived_kind(whole, depth);
        }
        if kind == "array"
            && depth < MAX_SCHEMA_DEPTH
            && let Some(items) = whole.get("items").filter(is_item_schema)
            && self.has_room()
        {
            let items = self.merge(items);
            kind = format!("array of {}", items.title().unwrap_or_else(|| self.kind(&items, depth + 1)));
        }
        if let Some(format) = whole.value("format").and_then(Json::as_text) {
            kind = format!("{kind} ({format})");
        }
        let kind = match kind.trim() {
            "" => whole.title().unwrap_or_else(|| "any".to_owned()),
            kind => kind.chars().take(MAX_KIND).collect(),
        };
        let is_only_null = kind == "null" || whole.value("type").and_then(Json::as_text) == Some("null");
        match whole.is_nullable() {
            _ if is_only_null => "null".to_owned(),
            true => format!("{kind} or null"),
            false => kind,
        }
    }

    /// Returns the kind of a schema without a type.
    fn derived_kind(&self, whole: &MergedSchema, depth: usize) -> String {
        if let Some(first) = whole.values().first() {
            return kind_of_value(first).to_owned();
        }
        let is_map =
            || whole.value("additionalProperties").or_else(|| whole.value("patternProperties")).is_some();
        if !whole.properties.is_empty() {
            return "object".to_owned();
        }
        if !whole.groups.is_empty() && depth < MAX_SCHEMA_DEPTH {
            let mut names: Vec<String> = Vec::new();
            for Alternative { schema, .. } in self.choices(whole).into_iter().take(1).flat_map(|(_, all)| all)
            {
                let name = schema.title().unwrap_or_else(|| self.kind(&schema, depth + 1));
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            return names.join(" or ");
        }
        match whole.value("items") {
            Some(_) => "array".to_owned(),
            None if is_map() => "object".to_owned(),
            None => String::new(),
        }
    }
}

/// Returns `true` for the schema of all items of a list, unlike a list of schemas or a prohibition of further items.
const fn is_item_schema(items: &SpecValue) -> bool {
    !matches!(items.value, Json::List(_) | Json::Bool(false))
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

fn kind_of_value(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::Text(_) => "string",
        Json::List(_) => "array",
        Json::Map(_) => "object",
    }
}

/// The keywords that limit values, and the limits.
const LIMITS: [(&str, SchemaLimit); 12] = [
    ("multipleOf", SchemaLimit::MultipleOf),
    ("minLength", SchemaLimit::MinLength),
    ("maxLength", SchemaLimit::MaxLength),
    ("pattern", SchemaLimit::Pattern),
    ("minItems", SchemaLimit::MinItems),
    ("maxItems", SchemaLimit::MaxItems),
    ("uniqueItems", SchemaLimit::UniqueItems),
    ("minProperties", SchemaLimit::MinProperties),
    ("maxProperties", SchemaLimit::MaxProperties),
    ("contentMediaType", SchemaLimit::ContentMediaType),
    ("contentEncoding", SchemaLimit::ContentEncoding),
    ("additionalProperties", SchemaLimit::NoOtherFields),
];

fn limits(whole: &MergedSchema) -> Vec<(SchemaLimit, String)> {
    let mut all = Vec::new();
    for (keyword, exclusive, limits) in [
        ("minimum", "exclusiveMinimum", (SchemaLimit::Minimum, SchemaLimit::ExclusiveMinimum)),
        ("maximum", "exclusiveMaximum", (SchemaLimit::Maximum, SchemaLimit::ExclusiveMaximum)),
    ] {
        let limit = whole.value(keyword).filter(|of| matches!(of, Json::Number(_)));
        match whole.value(exclusive) {
            // In OpenAPI 3.0, `exclusiveMinimum` states if the minimum is permitted.
            Some(Json::Bool(true)) => all.extend(limit.map(|limit| (limits.1, line(limit)))),
            Some(own @ Json::Number(_)) => all.push((limits.1, line(own))),
            _ => all.extend(limit.map(|limit| (limits.0, line(limit)))),
        }
    }
    for (keyword, limit) in LIMITS {
        match (limit, whole.value(keyword)) {
            (SchemaLimit::UniqueItems, Some(Json::Bool(true)))
            | (SchemaLimit::NoOtherFields, Some(Json::Bool(false))) => all.push((limit, String::new())),
            (_, Some(value @ (Json::Number(_) | Json::Text(_)))) => all.push((limit, line(value))),
            _ => {}
        }
    }
    all
}

/// Returns the permitted values with their names and descriptions.
fn values(whole: &MergedSchema) -> Vec<ValueDetail> {
    let find = |keywords: [&str; 3]| keywords.into_iter().find_map(|keyword| whole.value(keyword));
    let descriptions = find(["x-enumDescriptions", "x-enum-descriptions", "x-enum-description"]);
    let names = find(["x-enum-varnames", "x-enumNames", "x-enum-names"]);
    // The lists of descriptions and names have an item for `null` too.
    let listed = whole.value("enum").map(Json::items).unwrap_or_default();
    let place = |value: &Json| listed.iter().position(|of| of == value);
    let told = |of: Option<&Json>, value: &Json| match of? {
        Json::List(items) => text(items.get(place(value)?)),
        of => text(of.get(&line(value))),
    };
    let shown = whole.values().into_iter().take(MAX_VALUES);
    shown
        .map(|value| {
            let name = told(names, value).filter(|name| *name != line(value));
            ValueDetail { value: line(value), name, description: told(descriptions, value) }
        })
        .collect()
}

/// Returns the alternatives as values if each permits a single one.
fn constants(alternatives: &[Alternative]) -> Option<Vec<ValueDetail>> {
    let value = |of: &Alternative| {
        let values = of.schema.values();
        let [value] = values.as_slice() else { return None };
        let name = of.schema.title().filter(|name| *name != line(value));
        Some(ValueDetail { value: line(value), name, description: text(of.schema.value("description")) })
    };
    let is_scalar = |of: &Alternative| of.schema.properties.is_empty();
    alternatives.iter().all(is_scalar).then(|| alternatives.iter().map(value).collect())?
}
