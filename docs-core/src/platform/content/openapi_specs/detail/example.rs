//! Examples that are generated from schemas.

use std::{collections::HashMap, rc::Rc};

use serde_json::Number;

use super::{
    choices::Alternative,
    files::SpecValue,
    json::Json,
    merged::MergedSchema,
    model::{ExampleDetail, MAX_EXAMPLE, MAX_SCHEMA_DEPTH},
    reader::{DetailReader, Direction, line},
};

/// Maximum number of fields of an object in an example.
pub(super) const MAX_EXAMPLE_FIELDS: usize = 60;
/// Maximum number of items of a list in an example.
pub(super) const MAX_EXAMPLE_ITEMS: u64 = 3;
/// Maximum length of a text that is extended to the minimum of its schema.
pub(super) const MAX_EXAMPLE_TEXT: u64 = 100;

impl DetailReader<'_, '_> {
    /// Returns a plausible value of a schema. It is not validated against the schema. `None` if the schema contains
    /// itself, or at a limit.
    pub(super) fn example(&self, whole: &MergedSchema, depth: usize, direction: Direction) -> Option<Json> {
        let given = [whole.value("example"), whole.value("examples").and_then(|all| all.items().first())];
        let given = given.into_iter().chain([whole.value("default"), whole.value("const")]).flatten().next();
        if let Some(given) = given.or_else(|| whole.values().into_iter().next()) {
            return Some(given.clone());
        }
        let is_end = depth >= MAX_SCHEMA_DEPTH || self.is_enclosing(&whole.origins);
        if is_end || !self.has_room() {
            return None;
        }
        self.within(&whole.origins, || self.generated(whole, depth, direction))
    }

    fn generated(&self, whole: &MergedSchema, depth: usize, direction: Direction) -> Option<Json> {
        let choice = self.choices(whole).into_iter().find_map(|(_, all)| all.into_iter().next());
        let of_choice = choice.as_ref().map(|choice| self.example(&choice.schema, depth + 1, direction));
        let is_object = !whole.properties.is_empty() || whole.types().contains(&"object");
        if is_object || matches!(of_choice, Some(Some(Json::Map(_)))) {
            return Some(self.object(whole, choice.as_ref(), of_choice.flatten(), (depth, direction)));
        }
        if let Some(example) = of_choice {
            return example;
        }
        match whole.types().first().copied() {
            Some("array") => Some(self.list(whole, depth, direction)),
            Some("integer" | "number") => Some(number(whole)),
            Some("boolean") => Some(Json::Bool(true)),
            Some("string") => Some(Json::Text(sample_text(whole).into())),
            _ if whole.value("items").is_some() => Some(self.list(whole, depth, direction)),
            _ if whole.value("additionalProperties").is_some() => {
                Some(self.object(whole, None, None, (depth, direction)))
            }
            _ => Some(Json::Null),
        }
    }

    /// Returns an object with the fields of a schema and those of its first alternative.
    fn object(
        &self,
        whole: &MergedSchema,
        choice: Option<&Alternative>,
        of_choice: Option<Json>,
        (depth, direction): (usize, Direction),
    ) -> Json {
        let (mut fields, mut positions) = (Vec::<(Rc<str>, Json)>::new(), HashMap::<Rc<str>, usize>::new());
        for (name, property) in
            whole.properties.iter().take(MAX_EXAMPLE_FIELDS).take_while(|_| self.has_room())
        {
            let property = self.merge_definitions(property);
            // Clients should not begin to send deprecated fields.
            let is_outdated = property.is("deprecated") && !whole.required.contains(name);
            if !is_outdated
                && !property.is_left_out(direction)
                && let Some(value) = self.example(&property, depth + 1, direction)
            {
                let name: Rc<str> = name.as_str().into();
                positions.insert(Rc::clone(&name), fields.len());
                fields.push((name, value));
            }
        }
        for (name, value) in of_choice.iter().flat_map(Json::fields) {
            match positions.get(name).and_then(|at| fields.get_mut(*at)) {
                Some(known) => known.1 = value.clone(),
                None => fields.push((Rc::clone(name), value.clone())),
            }
        }
        if let (Some(name), Some(value)) =
            (whole.discriminator(), choice.and_then(|choice| choice.value.as_deref()))
        {
            let value = Json::Text(value.into());
            match fields.iter_mut().find(|(known, _)| **known == *name) {
                Some(known) => known.1 = value,
                None => fields.insert(0, (name.into(), value)),
            }
        }
        let other =
            whole.get("additionalProperties").filter(|of| fields.is_empty() && !of.value.fields().is_empty());
        if let Some(value) = other.and_then(|of| self.example(&self.merge(of), depth + 1, direction)) {
            fields.push(("key".into(), value));
        }
        Json::Map(fields.into())
    }

    fn list(&self, whole: &MergedSchema, depth: usize, direction: Direction) -> Json {
        let several: Vec<SpecValue> =
            whole.get("prefixItems").map(|all| all.items(MAX_EXAMPLE_ITEMS as usize)).unwrap_or_default();
        if !several.is_empty() {
            let items =
                several.into_iter().filter_map(|item| self.example(&self.merge(item), depth + 1, direction));
            return Json::List(items.collect());
        }
        let Some(items) = whole.get("items") else { return Json::List(Rc::from([])) };
        let item = self.example(&self.merge(items), depth + 1, direction).filter(|item| *item != Json::Null);
        let count = whole.value("minItems").and_then(Json::as_u64).unwrap_or(1).clamp(1, MAX_EXAMPLE_ITEMS);
        let is_unique = whole.is("uniqueItems");
        let count = if is_unique { 1 } else { count };
        Json::List(item.into_iter().flat_map(|item| std::iter::repeat_n(item, count as usize)).collect())
    }
}

/// Returns a number within the limits of a schema.
fn number(whole: &MergedSchema) -> Json {
    let of = |keyword| whole.value(keyword);
    let is_exclusive = |keyword| of(keyword).is_some_and(Json::is_true);
    let is_integer = whole.types().first() == Some(&"integer");
    let step = of("multipleOf").and_then(Json::as_f64).filter(|step| *step > 0.0);
    let step = step.unwrap_or(if is_integer { 1.0 } else { 0.5 });
    let exclusive = |keyword| of(keyword).and_then(Json::as_f64);
    let lower = exclusive("exclusiveMinimum").map(|least| (least, true));
    let lower = lower.or_else(|| Some((exclusive("minimum")?, is_exclusive("exclusiveMinimum"))));
    let upper = exclusive("exclusiveMaximum").map(|most| (most, true));
    let upper = upper.or_else(|| Some((exclusive("maximum")?, is_exclusive("exclusiveMaximum"))));
    // The limits are kept as they are written if no calculation is needed.
    match (lower, upper) {
        (Some((least, false)), _) if is_multiple(least, step) || of("multipleOf").is_none() => {
            of("minimum").cloned().unwrap_or(Json::Null)
        }
        (Some((least, is_beyond)), _) => {
            let first = (least / step).ceil() * step;
            written(if is_beyond && first <= least { first + step } else { first }, is_integer)
        }
        (None, Some((most, is_below))) if most < 0.0 || (most == 0.0 && is_below) => {
            let last = (most / step).floor() * step;
            written(if is_below && last >= most { last - step } else { last }, is_integer)
        }
        _ => Json::Number(0.into()),
    }
}

fn is_multiple(value: f64, step: f64) -> bool {
    (value / step).fract() == 0.0
}

/// Returns a calculated number.
fn written(value: f64, is_integer: bool) -> Json {
    /// The integers that a number represents exactly.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if is_integer && value.abs() < EXACT {
        return Json::Number((value as i64).into());
    }
    Number::from_f64(value).map_or(Json::Null, Json::Number)
}

/// Returns a text of the format of a schema, within its limits.
fn sample_text(whole: &MergedSchema) -> String {
    let text = match whole.value("format").and_then(Json::as_text) {
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("duration") => "P1D",
        Some("email" | "idn-email") => "name@example.com",
        Some("uuid") => "123e4567-e89b-12d3-a456-426614174000",
        Some("uri" | "url" | "iri") => "https://example.com",
        Some("uri-reference" | "iri-reference") => "/path",
        Some("hostname" | "idn-hostname") => "example.com",
        Some("ipv4") => "192.0.2.1",
        Some("ipv6") => "2001:db8::1",
        Some("byte") => "dGV4dA==",
        Some("json-pointer") => "/field",
        _ => "text",
    };
    let limit = |keyword| whole.value(keyword).and_then(Json::as_u64);
    let mut text = text.to_owned();
    if whole.value("format").is_none() {
        let least = limit("minLength").unwrap_or(0).min(MAX_EXAMPLE_TEXT);
        while (text.len() as u64) < least {
            text.push_str("text");
        }
        let longest = limit("minLength").filter(|least| *least > 4).or(limit("maxLength"));
        text.truncate(
            longest.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX).min(text.len()),
        );
    }
    text
}

/// Returns a value as an XML document. Lists become repeated elements.
pub(super) fn xml(value: &Json, root: &str) -> ExampleDetail {
    let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
    let is_cut = !write_element(&mut out, root, value, 0);
    let length = out.trim_end().len();
    out.truncate(length);
    ExampleDetail { value: out, is_cut, ..ExampleDetail::default() }
}

/// Writes an element; returns `false` if it is left out because the document is too long.
fn write_element(out: &mut String, name: &str, value: &Json, depth: usize) -> bool {
    if out.len() > MAX_EXAMPLE {
        return false;
    }
    if let Json::List(items) = value {
        return items.iter().all(|item| write_element(out, name, item, depth));
    }
    let is_name_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let name: String = name.chars().map(|c| if is_name_part(c) { c } else { '_' }).collect();
    let indent = "  ".repeat(depth);
    match value {
        Json::Map(fields) => {
            out.push_str(&format!("{indent}<{name}>\n"));
            let is_whole = fields.iter().all(|(name, value)| write_element(out, name, value, depth + 1));
            out.push_str(&format!("{indent}</{name}>\n"));
            is_whole
        }
        Json::Null => {
            out.push_str(&format!("{indent}<{name}/>\n"));
            true
        }
        value => {
            let text = line(value).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            out.push_str(&format!("{indent}<{name}>{text}</{name}>\n"));
            true
        }
    }
}
