//! Operations, webhooks and schemas of OpenAPI specifications. Their descriptions are Markdown from an
//! untrusted source.

use docs_core::{
    model::{BlockKind, ContentRef},
    platform::{BodyDetail, FieldDetail, OperationDetail, ParameterDetail, SpecDetail, SpecSubject},
};
use maud::{Markup, PreEscaped, html};

use super::{NodePosition, Renderer};

/// The maximum length of a line of a sample request, in characters.
const MAX_LINE: usize = 2_000;

/// The position of the example request body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sample {
    /// Next to its fields.
    Shown,
    /// In the sample request above.
    Above,
}

impl Renderer<'_> {
    /// Renders a block from its specification. Returns `None` if the specification is unknown, and within
    /// descriptions of a specification: a description that references its own operation would recurse
    /// forever.
    pub(super) fn spec_block(&self, kind: &BlockKind, at: NodePosition) -> Option<Markup> {
        let (target, subjects) = SpecSubject::from_block(kind)?;
        let ContentRef::OpenApi { spec } = target else { return None };
        self.gaps.inspect(|gaps| gaps.record_missing_data());
        if at.is_told {
            return None;
        }
        let known =
            |subject: SpecSubject| Some((self.specs.details.get(&(spec.clone(), subject.clone()))?, subject));
        let mut drawn: Option<String> = None;
        // Rendered lazily, because the size of each item decides if the next one is rendered.
        for (detail, subject) in subjects.into_iter().filter_map(known) {
            if !self.counter.try_count_described() {
                break;
            }
            let own = match (&**detail, &subject) {
                (SpecDetail::Operation(of), SpecSubject::Operation { method, path }) => {
                    self.operation_detail(method, path, of, at)
                }
                (SpecDetail::Operation(of), SpecSubject::Webhook { method, name }) => {
                    self.operation_detail(method, name, of, at)
                }
                (SpecDetail::Schema(of), _) => self.schema(of, at),
                _ => Markup::default(),
            };
            drawn.get_or_insert_default().push_str(&self.counter.add_described(own).0);
        }
        drawn.map(PreEscaped)
    }

    fn operation_detail(&self, method: &str, path: &str, of: &OperationDetail, at: NodePosition) -> Markup {
        let words = &self.words.api;
        let server = of.server.as_deref().unwrap_or_default();
        let is_called = path.starts_with('/');
        html! {
            section.api {
                p.api-name {
                    code class={ "method " (method) } { (method.to_uppercase()) " " (path) }
                    @if of.deprecated { " " span.tag { (words.deprecated) } }
                }
                @if let Some(summary) = &of.summary { p.api-summary { strong { (summary) } } }
                (self.description(of.description.as_deref(), at))
                @if !of.security.is_empty() {
                    @let ways: Vec<String> = of.security.iter().map(|way| way.join(" + ")).collect();
                    p.about { (words.authorization) ": " (ways.join(", ")) }
                }
                @if !of.parameters.is_empty() {
                    p.head { (words.parameters) }
                    (self.parameters(&of.parameters, at))
                }
                @if is_called {
                    p.head { (words.request) }
                    (self.code_text(&sample_request((method, path), server, of), "bash", None))
                }
                @if let Some(body) = &of.request {
                    (self.body(body, if is_called { Sample::Above } else { Sample::Shown }, at))
                }
                @if !of.responses.is_empty() { p.head { (words.responses) } }
                @for (index, response) in of.responses.iter().enumerate() {
                    details.expandable open[index == 0] {
                        summary { code { (response.status) } }
                        div {
                            (self.description(response.description.as_deref(), at))
                            @if let Some(body) = &response.body { (self.body(body, Sample::Shown, at)) }
                        }
                    }
                }
            }
        }
    }

    fn schema(&self, of: &BodyDetail, at: NodePosition) -> Markup {
        html! {
            details.expandable.api {
                summary { code { (of.name) } }
                div { (self.body(of, Sample::Shown, at)) }
            }
        }
    }

    /// A body: its fields, and an example if requested.
    fn body(&self, of: &BodyDetail, sample: Sample, at: NodePosition) -> Markup {
        let syntax = if of.name.contains("xml") { "xml" } else { "json" };
        html! {
            p.about { code { (of.name) } @if of.kind != of.name { " " (of.kind) } }
            (self.description(of.description.as_deref(), at))
            @if !of.fields.is_empty() { (self.fields(&of.fields, at)) }
            @if sample == Sample::Shown {
                @if let Some(example) = &of.example { (self.code_text(example, syntax, Some(self.words.api.example))) }
            }
        }
    }

    fn parameters(&self, all: &[ParameterDetail], at: NodePosition) -> Markup {
        html! {
            dl.api-fields {
                @for of in all {
                    dt {
                        code { (of.name) } " " span.about { (of.location) ", " (of.kind) }
                        @if of.required { " " span.tag { (self.words.api.required) } }
                    }
                    dd {
                        (self.description(of.description.as_deref(), at))
                        @if let Some(example) = &of.example {
                            p.about { (self.words.api.example) ": " code { (example) } }
                        }
                    }
                }
            }
        }
    }

    fn fields(&self, all: &[FieldDetail], at: NodePosition) -> Markup {
        html! {
            dl.api-fields {
                @for of in all {
                    dt class={ "depth-" (of.depth.min(6)) } {
                        code { (of.name) } " " span.about { (of.kind) }
                        @if of.required { " " span.tag { (self.words.api.required) } }
                    }
                    dd class={ "depth-" (of.depth.min(6)) } { (self.description(of.description.as_deref(), at)) }
                }
            }
        }
    }

    /// A description. It is rendered without reusable content and without specifications, and as plain text if it was
    /// not parsed.
    fn description(&self, text: Option<&str>, at: NodePosition) -> Markup {
        let Some(text) = text else { return Markup::default() };
        let Some(document) = self.specs.descriptions.get(text) else {
            return html! { div.api-text { p { (text) } } };
        };
        let at = NodePosition { reuses: super::position::MAX_REUSE_DEPTH, is_told: true, ..at.child() };
        html! { div.api-text { (self.blocks(&document.nodes, at)) } }
    }
}

/// The sample request as a curl command.
fn sample_request((method, path): (&str, &str), server: &str, of: &OperationDetail) -> String {
    let line = |text: &str| text.chars().take(MAX_LINE).collect::<String>();
    // Single quotes are escaped, so no content can end the shell string.
    let quoted = |text: &str| format!("'{}'", line(text).replace('\'', "'\\''"));
    let query: Vec<String> = of
        .parameters
        .iter()
        .filter(|of| of.location == "query" && of.required)
        .map(|of| format!("{}={}", of.name, of.example.as_deref().unwrap_or("…")))
        .collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let mut lines = vec![format!(
        "curl -X {} {}",
        method.to_uppercase(),
        quoted(&format!("{}{path}{query}", server.trim_end_matches('/')))
    )];
    for header in of.parameters.iter().filter(|of| of.location == "header" && of.required) {
        let value = header.example.as_deref().unwrap_or("…");
        lines.push(format!("  -H {}", quoted(&format!("{}: {value}", header.name))));
    }
    if let Some(body) = &of.request {
        lines.push(format!("  -H {}", quoted(&format!("Content-Type: {}", body.name))));
        if let Some(example) = &body.example {
            lines.push(format!("  -d '{}'", example.replace('\'', "'\\''")));
        }
    }
    lines.join(" \\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_request_longer_than_the_bound_are_cut() {
        let length = |characters: usize| {
            let request = sample_request(("get", &"/".repeat(characters)), "", &OperationDetail::default());
            request.len() - "curl -X GET ''".len()
        };
        assert_eq!([MAX_LINE - 1, MAX_LINE, MAX_LINE + 1].map(length), [MAX_LINE - 1, MAX_LINE, MAX_LINE]);
    }
}
