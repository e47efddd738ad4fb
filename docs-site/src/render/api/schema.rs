//! Schemas and parameters of specifications.

use docs_core::platform::{
    ChoiceDetail, ExampleDetail, FieldDetail, FieldName, ParameterDetail, SchemaDetail, SchemaLimit,
    ValueDetail,
};
use maud::{Markup, html};

use crate::render::{NodePosition, Renderer};

/// The maximum number of fields and alternatives of a nested object that is open.
const OPEN_FIELDS: usize = 5;
/// The number of values of an enumeration that are shown on one line.
const INLINE_VALUES: usize = 12;

impl Renderer<'_> {
    pub(super) fn parameters(&self, all: &[ParameterDetail], at: NodePosition) -> Markup {
        let words = &self.words.api;
        let mut all: Vec<&ParameterDetail> = all.iter().collect();
        all.sort_by_key(|of| location_rank(&of.location));
        html! {
            dl.api-fields {
                @for of in all {
                    @let is_deprecated = of.deprecated || of.schema.deprecated;
                    dt class=[is_deprecated.then_some("deprecated")] {
                        code { (of.name) } " "
                        span.about { @if !of.location.is_empty() { (of.location) ", " } (of.schema.kind) }
                        @if of.required { " " span.tag.required { (words.required) } }
                        @if is_deprecated { " " span.tag { (words.deprecated) } }
                    }
                    dd {
                        (self.description(of.description.as_deref().or(of.schema.description.as_deref()), at))
                        (self.facts(&of.schema))
                        (self.parameter_examples(&of.examples, &of.schema.examples))
                        (self.nested(&of.schema, at, 1))
                    }
                }
            }
        }
    }

    /// The examples of a parameter, collapsed if there are several.
    fn parameter_examples(&self, all: &[ExampleDetail], own: &[String]) -> Markup {
        let word = self.words.api.example;
        let value = |of: &ExampleDetail| {
            html! {
                @if let Some(title) = of.title.as_ref() { (title) " " }
                code { (of.address.as_deref().unwrap_or(&of.value)) }
                @if let Some(text) = &of.description { " " (text) }
            }
        };
        match (all, own) {
            ([], own) => self.value_examples(own),
            ([only], _) => html! { p.about { (word) ": " (value(only)) } },
            (all, _) => html! {
                details.api-nested {
                    summary { span.about { (word) " (" (all.len()) ")" } }
                    ul.api-values { @for of in all { li { (value(of)) } } }
                }
            },
        }
    }

    /// The examples of a value on one line.
    fn value_examples(&self, all: &[String]) -> Markup {
        if all.is_empty() {
            return Markup::default();
        }
        html! { p.about { (self.words.api.example) ": " @for example in all { code { (example) } " " } } }
    }

    /// The schema of a body: its description, limits, fields and alternatives.
    pub(super) fn schema_of_body(&self, of: Option<&SchemaDetail>, at: NodePosition) -> Markup {
        let Some(of) = of else { return Markup::default() };
        html! {
            (self.description(of.description.as_deref(), at))
            (self.external_docs(of.external_docs.as_ref()))
            (self.facts(of))
            (self.children_of_schema(of, at, 0))
        }
    }

    /// The fields and alternatives of a schema and of its items.
    fn children_of_schema(&self, of: &SchemaDetail, at: NodePosition, depth: usize) -> Markup {
        html! {
            @if !of.fields.is_empty() { (self.fields(&of.fields, at, depth)) }
            @for choice in &of.choices { (self.choice(choice, at, depth)) }
            @if let Some(items) = &of.items {
                @if items.is_recursive { p.about { (items.kind) " " span.tag { (self.words.api.recursive) } } }
                (self.description(items.description.as_deref(), at))
                (self.facts(items))
                (self.children_of_schema(items, at, depth))
            }
            @if of.is_cut { p.about { "…" } }
        }
    }

    /// The fields and alternatives of a field. They are collapsed, except few plain fields of the first level.
    fn nested(&self, of: &SchemaDetail, at: NodePosition, depth: usize) -> Markup {
        let inner = self.children_of_schema(of, at, depth);
        if inner.0.is_empty() {
            return Markup::default();
        }
        // The items of a list of plain values have only limits.
        if !has_fields(of) {
            return inner;
        }
        let title = innermost(of).title.as_deref().unwrap_or(&of.kind);
        html! {
            details.api-nested open[depth == 1 && is_short(of)] {
                summary { code { (title) } }
                div { (inner) }
            }
        }
    }

    fn fields(&self, all: &[FieldDetail], at: NodePosition, depth: usize) -> Markup {
        let words = &self.words.api;
        html! {
            dl.api-fields {
                @for field in all {
                    @let of = &field.schema;
                    dt class=[of.deprecated.then_some("deprecated")] {
                        @match &field.name {
                            FieldName::Exact(name) => code { (name) },
                            FieldName::Pattern(pattern) => code { "/" (pattern) "/" },
                            FieldName::Position(number) => code { "[" (number) "]" },
                            _ => span.about { (words.other_fields) },
                        }
                        " " span.about {
                            (of.kind)
                            @if let Some(title) = of.title.as_ref().filter(|title| **title != of.kind) { " · " (title) }
                        }
                        @if field.required { " " span.tag.required { (words.required) } }
                        @for (is, word) in [
                            (of.deprecated, words.deprecated), (of.read_only, words.read_only),
                            (of.write_only, words.write_only), (of.is_recursive, words.recursive),
                        ] {
                            @if is { " " span.tag { (word) } }
                        }
                    }
                    dd {
                        (self.description(of.description.as_deref(), at))
                        (self.external_docs(of.external_docs.as_ref()))
                        (self.facts(of))
                        (self.value_examples(&of.examples))
                        (self.nested(of, at, depth + 1))
                    }
                }
            }
        }
    }

    /// The alternatives of a schema. The first one is open.
    fn choice(&self, of: &ChoiceDetail, at: NodePosition, depth: usize) -> Markup {
        let words = &self.words.api;
        if of.alternatives.iter().all(|of| is_plain(&of.schema)) {
            return Markup::default();
        }
        html! {
            p.about {
                (if of.is_any { words.any_of } else { words.one_of })
                @if let Some(name) = &of.discriminator { " · " code { (name) } }
            }
            @for (index, alternative) in of.alternatives.iter().enumerate() {
                details.api-nested.alternative open[index == 0 && depth == 0] {
                    summary {
                        code { (alternative.title) }
                        @if let (Some(name), Some(value)) = (&of.discriminator, &alternative.value) {
                            " " span.about { (name) ": " code { (value) } }
                        }
                        @if alternative.schema.is_recursive { " " span.tag { (words.recursive) } }
                    }
                    div {
                        @if alternative.schema.kind != alternative.title { p.about { (alternative.schema.kind) } }
                        (self.schema_of_alternative(&alternative.schema, at, depth + 1))
                    }
                }
            }
        }
    }

    fn schema_of_alternative(&self, of: &SchemaDetail, at: NodePosition, depth: usize) -> Markup {
        html! {
            (self.description(of.description.as_deref(), at))
            (self.external_docs(of.external_docs.as_ref()))
            (self.facts(of))
            (self.children_of_schema(of, at, depth))
        }
    }

    /// The default, the limits and the permitted values of a schema.
    fn facts(&self, of: &SchemaDetail) -> Markup {
        let words = &self.words.api;
        html! {
            @if of.default.is_some() || !of.limits.is_empty() {
                p.about.facts {
                    @if let Some(default) = &of.default { span { (words.default) ": " code { (default) } } " " }
                    @for (limit, value) in &of.limits { span { (self.limit(*limit, value)) } " " }
                }
            }
            (self.values(&of.values))
        }
    }

    fn values(&self, all: &[ValueDetail]) -> Markup {
        let word = self.words.api.values;
        let is_told = all.iter().any(|of| of.description.is_some() || of.name.is_some());
        html! {
            @if !all.is_empty() && !is_told && all.len() <= INLINE_VALUES {
                p.about { (word) ": " @for of in all { code { (of.value) } " " } }
            } @else if !all.is_empty() {
                details.api-nested open[all.len() <= INLINE_VALUES] {
                    summary { (word) }
                    ul.api-values {
                        @for of in all {
                            li {
                                code { (of.value) }
                                @if let Some(name) = &of.name { " " span.about { (name) } }
                                @if let Some(text) = &of.description { " " (text) }
                            }
                        }
                    }
                }
            }
        }
    }

    fn limit(&self, limit: SchemaLimit, value: &str) -> Markup {
        let words = &self.words.api;
        match limit {
            SchemaLimit::Minimum => html! { "≥ " (value) },
            SchemaLimit::ExclusiveMinimum => html! { "> " (value) },
            SchemaLimit::Maximum => html! { "≤ " (value) },
            SchemaLimit::ExclusiveMaximum => html! { "< " (value) },
            SchemaLimit::MultipleOf => html! { (words.multiple_of) " " (value) },
            SchemaLimit::MinLength => html! { (words.length) " ≥ " (value) },
            SchemaLimit::MaxLength => html! { (words.length) " ≤ " (value) },
            SchemaLimit::Pattern => html! { (words.pattern) ": " code { (value) } },
            SchemaLimit::MinItems => html! { (words.items) " ≥ " (value) },
            SchemaLimit::MaxItems => html! { (words.items) " ≤ " (value) },
            SchemaLimit::UniqueItems => html! { (words.unique_items) },
            SchemaLimit::MinProperties => html! { (words.fields) " ≥ " (value) },
            SchemaLimit::MaxProperties => html! { (words.fields) " ≤ " (value) },
            SchemaLimit::NoOtherFields => html! { (words.no_other_fields) },
            SchemaLimit::Keyword(keyword) => html! { code { (keyword) } ": " code { (value) } },
            _ => html! { (value) },
        }
    }
}

/// The position of a location in the list of parameters. The parameters of the path are first.
fn location_rank(location: &str) -> usize {
    ["path", "query", "header", "cookie"].iter().position(|known| *known == location).unwrap_or(usize::MAX)
}

/// The schema of the innermost items.
fn innermost(of: &SchemaDetail) -> &SchemaDetail {
    let mut of = of;
    while let Some(items) = &of.items {
        of = items;
    }
    of
}

/// Returns `true` if a schema or its items have fields or alternatives.
fn has_fields(of: &SchemaDetail) -> bool {
    let of = innermost(of);
    !of.fields.is_empty() || !of.choices.is_empty()
}

/// Returns `true` for a schema with few fields and alternatives. Its fields have no fields themselves; alternatives are
/// collapsed.
fn is_short(of: &SchemaDetail) -> bool {
    let of = innermost(of);
    let alternatives = of.choices.iter().map(|choice| choice.alternatives.len()).sum::<usize>();
    of.fields.len() + alternatives <= OPEN_FIELDS && !of.fields.iter().any(|field| has_fields(&field.schema))
}

/// Returns `true` for an alternative that its kind describes completely.
fn is_plain(of: &SchemaDetail) -> bool {
    let has_text = of.description.is_some() || of.default.is_some() || of.title.is_some();
    let has_parts =
        !of.fields.is_empty() || !of.choices.is_empty() || !of.limits.is_empty() || !of.values.is_empty();
    !has_text && !has_parts && of.items.as_deref().is_none_or(is_plain)
}

#[cfg(test)]
mod tests {
    use docs_core::platform::AlternativeDetail;

    use super::*;

    /// A schema with plain fields.
    fn object(fields: usize) -> SchemaDetail {
        let mut of = SchemaDetail::default();
        of.fields = vec![FieldDetail::default(); fields];
        of
    }

    /// A schema with one field.
    fn with_field(schema: SchemaDetail) -> SchemaDetail {
        let mut of = object(1);
        of.fields[0].schema = schema;
        of
    }

    /// A list of a schema.
    fn list(items: SchemaDetail) -> SchemaDetail {
        let mut of = SchemaDetail::default();
        of.items = Some(Box::new(items));
        of
    }

    #[test]
    fn nested_objects_are_open_if_they_are_short() {
        let choice = |fields: usize, alternatives: usize| {
            let mut choice = ChoiceDetail::default();
            choice.alternatives = vec![AlternativeDetail::default(); alternatives];
            let mut of = object(fields);
            of.choices = vec![choice];
            of
        };
        for (schema, is_open) in [
            (object(1), true),
            (object(OPEN_FIELDS), true),
            (object(OPEN_FIELDS + 1), false),
            (list(object(OPEN_FIELDS)), true),
            (list(list(object(OPEN_FIELDS + 1))), false),
            (with_field(list(SchemaDetail::default())), true),
            (with_field(object(1)), false),
            (with_field(list(object(1))), false),
            (with_field(choice(0, 1)), false),
            (choice(0, OPEN_FIELDS), true),
            (choice(1, OPEN_FIELDS), false),
            (choice(0, OPEN_FIELDS + 1), false),
        ] {
            assert_eq!(is_short(&schema), is_open, "{schema:?}");
        }
    }
}
