//! Schemas in a form for readers: fields, alternatives, limits and permitted values.

use super::{
    choices::Alternative,
    files::SpecValue,
    json::Json,
    merged::{FieldDefinitions, MergedSchema},
    model::{
        AlternativeDetail, ChoiceDetail, FieldDetail, FieldName, MAX_SCHEMA_DEPTH, MAX_VALUES, SchemaDetail,
        SchemaLimit, ValueDetail,
    },
    reader::{DetailReader, Direction, line, text},
};

/// Maximum number of examples of a field.
pub(super) const MAX_EXAMPLES_OF_FIELD: usize = 10;
/// Maximum number of characters of a short description of the permitted values.
pub(super) const MAX_KIND: usize = 300;

impl DetailReader<'_, '_> {
    /// Returns a schema and a plausible value of it.
    pub(super) fn schema_with_example(
        &self,
        schema: SpecValue,
        direction: Direction,
    ) -> (SchemaDetail, Option<Json>) {
        let whole = self.merge(schema);
        (self.schema(&whole, 0, direction), self.example(&whole, 0, direction))
    }

    /// Returns a schema with its alternatives, its items and the fields that bodies of a direction contain.
    fn schema(&self, whole: &MergedSchema, depth: usize, direction: Direction) -> SchemaDetail {
        let mut detail = self.schema_without_children(whole);
        if self.is_enclosing(&whole.origins) {
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
        self.within(&whole.origins, || {
            self.add_fields(whole, (depth, direction), &mut detail);
            self.add_choices(whole, (depth, direction), &mut detail);
            if let Some(items) = whole.get("items").filter(is_item_schema)
                && self.has_room()
            {
                detail.items = Some(Box::new(self.schema(&self.merge(items), depth + 1, direction)));
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

    fn add_fields(
        &self,
        whole: &MergedSchema,
        (depth, direction): (usize, Direction),
        detail: &mut SchemaDetail,
    ) {
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
            let property = self.merge_definitions(&property);
            if property.is_left_out(direction) {
                continue;
            }
            self.fields_left.set(left);
            let required = matches!(&name, FieldName::Exact(name) if whole.required.contains(name));
            let schema = self.schema(&property, depth + 1, direction);
            detail.fields.push(FieldDetail { name, required, schema });
        }
    }

    fn add_choices(
        &self,
        whole: &MergedSchema,
        (depth, direction): (usize, Direction),
        detail: &mut SchemaDetail,
    ) {
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
                shown.push(AlternativeDetail {
                    title,
                    value,
                    schema: self.schema(&schema, depth + 1, direction),
                });
            }
            detail.choices.push(ChoiceDetail { is_any, discriminator, alternatives: shown });
        }
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

/// The keywords that limit values by another schema or by other fields. They are shown as they are written.
const KEYWORDS: [&str; 10] = [
    "not",
    "if",
    "then",
    "else",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
];

/// The keywords that limit values, and the limits.
const LIMITS: [(&str, SchemaLimit); 11] = [
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
            (SchemaLimit::UniqueItems, Some(Json::Bool(true))) => all.push((limit, String::new())),
            (_, Some(value @ (Json::Number(_) | Json::Text(_)))) => all.push((limit, line(value))),
            _ => {}
        }
    }
    let is_closed = |keyword| whole.value(keyword) == Some(&Json::Bool(false));
    if is_closed("additionalProperties") || is_closed("unevaluatedProperties") {
        all.push((SchemaLimit::NoOtherFields, String::new()));
    }
    let written = KEYWORDS.into_iter().filter_map(|keyword| Some((keyword, whole.value(keyword)?)));
    all.extend(written.map(|(keyword, value)| (SchemaLimit::Keyword(keyword), line(value))));
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
