//! Operations, webhooks and schemas of OpenAPI specifications. Their descriptions are Markdown from an
//! untrusted source.

mod samples;
mod schema;

use docs_core::{
    model::{BlockKind, ContentRef},
    platform::{
        BodyDetail, CallbackDetail, ExampleDetail, OperationDetail, ResponseDetail, SchemeDetail, SchemeKind,
        ServerDetail, SpecDetail, SpecSubject,
    },
};
use maud::{Markup, PreEscaped, html};
use percent_encoding::{AsciiSet, utf8_percent_encode};

use self::samples::SampleRequest;
use super::{NodePosition, Renderer};
use crate::encode::SEGMENT;

/// The maximum number of characters of a description in the summary of a response.
const MAX_SUMMARY: usize = 160;

/// The characters of an anchor that are encoded in an address.
const ANCHOR: &AsciiSet = &SEGMENT.remove(b'/');

/// An operation in its place on a page.
struct ShownOperation<'o> {
    method: &'o str,
    /// The path, the name of a webhook, or the expression of a callback.
    name: &'o str,
    /// The anchor; `None` for callbacks, and for operations that the page showed before.
    anchor: Option<String>,
    /// `true` for requests to the service, which have samples.
    is_called: bool,
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
                drawn.get_or_insert_default().push_str(&self.left_out_subject(&subject, target).0);
                break;
            }
            let own = match &**detail {
                SpecDetail::Operation(of) => self.subject(&subject, of, at),
                SpecDetail::Schema(of) => self.named_schema(of, at),
                _ => Markup::default(),
            };
            drawn.get_or_insert_default().push_str(&self.counter.add_described(own).0);
        }
        drawn.map(PreEscaped)
    }

    fn subject(&self, subject: &SpecSubject, of: &OperationDetail, at: NodePosition) -> Markup {
        let anchor = operation_anchor(subject);
        let anchor = Some(anchor).filter(|anchor| self.counter.is_first_use(anchor));
        let (method, name, is_called) = match subject {
            SpecSubject::Operation { method, path } => (method, path, true),
            SpecSubject::Webhook { method, name } => (method, name, false),
            _ => return Markup::default(),
        };
        self.operation_detail(&ShownOperation { method, name, anchor, is_called }, of, at)
    }

    /// The name of an operation, webhook or schema beyond the limits of the page. The first one has a notice.
    fn left_out_subject(&self, subject: &SpecSubject, target: &ContentRef) -> Markup {
        let anchor = Some(operation_anchor(subject)).filter(|anchor| self.counter.is_first_use(anchor));
        html! {
            div id=[anchor] {
                @if self.counter.is_first_left_out() { (self.left_out()) }
                @match subject {
                    SpecSubject::Operation { method, path: name } | SpecSubject::Webhook { method, name } => {
                        (self.operation(method, name, target))
                    }
                    SpecSubject::Schema(name) => (self.card(target, Some(name), None)),
                    _ => {}
                }
            }
        }
    }

    /// A notice that parts are missing.
    fn left_out(&self) -> Markup {
        html! { p.about.left-out { (self.words.api.left_out) } }
    }

    fn operation_detail(&self, shown: &ShownOperation<'_>, of: &OperationDetail, at: NodePosition) -> Markup {
        let words = &self.words.api;
        let href = shown.anchor.as_deref().map(fragment);
        html! {
            section.api id=[shown.anchor.as_deref()] {
                @if let Some(summary) = &of.summary {
                    p.api-summary {
                        strong { (summary) }
                        @if let Some(href) = &href { " " a.anchor href=(href) aria-label=(self.words.link_here) { "#" } }
                    }
                }
                p.api-name {
                    span class={ "method " (method_class(shown.method)) } { (shown.method.to_uppercase()) } " "
                    code { (shown.name) }
                    @if of.deprecated { " " span.tag { (words.deprecated) } }
                }
                (self.description(of.description.as_deref(), at))
                (self.security(&of.security, at))
                (self.servers(&of.servers, at))
                @if !of.parameters.is_empty() {
                    p.head { (words.parameters) }
                    (self.parameters(&of.parameters, at))
                }
                @if let Some(request) = &of.request {
                    p.head { (words.body) @if request.required { " " span.tag { (words.required) } } }
                    (self.description(request.description.as_deref(), at))
                    (self.bodies(&request.bodies, shown.is_called, at))
                }
                @if shown.is_called {
                    p.head { (words.request) }
                    (self.samples(&SampleRequest::new(shown.method, shown.name, of)))
                }
                @if !of.responses.is_empty() { p.head { (words.responses) } }
                @for response in &of.responses { (self.response(response, at)) }
                @if !of.callbacks.is_empty() { p.head { (words.callbacks) } }
                @for callback in &of.callbacks { (self.callback(callback, at)) }
                @if of.is_cut { (self.left_out()) }
            }
        }
    }

    fn samples(&self, request: &SampleRequest) -> Markup {
        let code = |text: String, syntax: &str| self.code_text(&text, syntax, None);
        self.tab_group(vec![
            ("curl".to_owned(), code(request.curl(), "bash")),
            ("JavaScript".to_owned(), code(request.javascript(), "javascript")),
            ("Python".to_owned(), code(request.python(), "python")),
            ("Go".to_owned(), code(request.go(), "go")),
        ])
    }

    /// The alternatives for authentication, with the descriptions and scopes of the schemes.
    fn security(&self, alternatives: &[Vec<SchemeDetail>], at: NodePosition) -> Markup {
        let schemes = || alternatives.iter().flatten();
        let is_told = |of: &&SchemeDetail| of.description.is_some() || !of.scopes.is_empty();
        let line = match alternatives {
            [] => return Markup::default(),
            all => self.security_line(all),
        };
        if !schemes().any(|of| is_told(&of)) {
            return html! { p.about { (line) } };
        }
        html! {
            details.api-more {
                summary { span.about { (line) } }
                dl.api-fields {
                    @for scheme in schemes().filter(is_told) {
                        dt { (scheme_name(scheme)) }
                        dd {
                            (self.description(scheme.description.as_deref(), at))
                            @if !scheme.scopes.is_empty() {
                                p.about { @for scope in &scheme.scopes { code { (scope) } " " } }
                            }
                        }
                    }
                }
            }
        }
    }

    fn security_line(&self, alternatives: &[Vec<SchemeDetail>]) -> Markup {
        let words = &self.words.api;
        if let [only] = alternatives
            && only.is_empty()
        {
            return html! { (words.no_authorization) };
        }
        html! {
            (words.authorization) ": "
            @for (index, alternative) in alternatives.iter().enumerate() {
                @if index > 0 { ", " (words.or) " " }
                @if alternative.is_empty() { (words.none) }
                @for (index, scheme) in alternative.iter().enumerate() {
                    @if index > 0 { " + " }
                    (scheme_name(scheme))
                }
            }
        }
    }

    /// The servers, if there is a choice.
    fn servers(&self, all: &[ServerDetail], at: NodePosition) -> Markup {
        let words = &self.words.api;
        let has_choice = all.len() > 1 || all.iter().any(|server| !server.variables.is_empty());
        if !has_choice {
            return Markup::default();
        }
        html! {
            details.api-more {
                summary {
                    span.about { (words.servers) ": " code { (all.first().map_or("", |server| server.url.as_str())) } }
                }
                dl.api-fields {
                    @for server in all {
                        dt { code { (server.url) } }
                        dd {
                            (self.description(server.description.as_deref(), at))
                            @for variable in &server.variables {
                                p.about {
                                    code { (variable.name) } " " (words.default) ": " code { (variable.default) }
                                    @if !variable.values.is_empty() {
                                        " · " (words.values) ": "
                                        @for value in &variable.values { code { (value) } " " }
                                    }
                                }
                                (self.description(variable.description.as_deref(), at))
                            }
                        }
                    }
                }
            }
        }
    }

    fn response(&self, of: &ResponseDetail, at: NodePosition) -> Markup {
        let text = of.description.as_deref().unwrap_or_default();
        let is_whole = fits_heading(text);
        let heading = html! {
            code class={ "status " (status_class(&of.status)) } { (of.status) }
            @if is_whole && !text.is_empty() { " " span.api-about { (text) } }
        };
        if is_whole && of.headers.is_empty() && of.bodies.is_empty() {
            return html! { p.response { (heading) } };
        }
        html! {
            details.expandable.response {
                summary { (heading) }
                div {
                    @if !is_whole { (self.description(of.description.as_deref(), at)) }
                    @if !of.headers.is_empty() {
                        p.head { (self.words.api.headers) }
                        (self.parameters(&of.headers, at))
                    }
                    (self.bodies(&of.bodies, false, at))
                }
            }
        }
    }

    fn callback(&self, of: &CallbackDetail, at: NodePosition) -> Markup {
        let shown = ShownOperation { method: &of.method, name: &of.address, anchor: None, is_called: false };
        html! {
            details.expandable.callback {
                summary { (of.name) }
                div { (self.operation_detail(&shown, &of.operation, at)) }
            }
        }
    }

    fn named_schema(&self, of: &BodyDetail, at: NodePosition) -> Markup {
        html! {
            details.expandable.api {
                summary { code { (of.name) } }
                div {
                    (self.schema_of_body(of.schema.as_ref(), at))
                    (self.examples(std::slice::from_ref(of)))
                }
            }
        }
    }

    /// The body in each media type. Media types with the same schema share its description. The only example of a
    /// request is part of its samples.
    fn bodies(&self, all: &[BodyDetail], is_sampled: bool, at: NodePosition) -> Markup {
        let mut groups: Vec<&[BodyDetail]> = Vec::new();
        let mut rest = all;
        while let Some(first) = rest.first() {
            let end = rest.iter().position(|body| body.schema != first.schema).unwrap_or(rest.len());
            let (group, behind) = rest.split_at(end);
            groups.push(group);
            rest = behind;
        }
        let is_shown = !is_sampled || all.iter().map(|body| body.examples.len()).sum::<usize>() > 1;
        html! {
            @for group in groups {
                p.about {
                    @for (index, body) in group.iter().enumerate() { @if index > 0 { ", " } code { (body.name) } }
                    @if let Some(schema) = group.first().and_then(|body| body.schema.as_ref()) {
                        " " (schema.kind)
                        @if let Some(title) = schema.title.as_ref().filter(|title| **title != schema.kind) { " · " (title) }
                    }
                }
                (self.schema_of_body(group.first().and_then(|body| body.schema.as_ref()), at))
                @let examples = if is_shown { self.examples(group) } else { Markup::default() };
                @if is_sampled && is_shown {
                    details.api-more { summary { span.about { (self.words.api.example) } } (examples) }
                } @else { (examples) }
            }
        }
    }

    /// The examples of bodies, as tabs if there are several.
    fn examples(&self, bodies: &[BodyDetail]) -> Markup {
        let word = self.words.api.example;
        let count: usize = bodies.iter().map(|body| body.examples.len()).sum();
        let mut tabs = Vec::new();
        for (body, example) in bodies.iter().flat_map(|body| body.examples.iter().map(move |of| (body, of))) {
            let title = match (&example.title, bodies.len()) {
                (Some(title), 1) => title.clone(),
                (Some(title), _) => format!("{title} ({})", body.name),
                (None, 1) => word.to_owned(),
                (None, _) => body.name.clone(),
            };
            let caption = (count == 1)
                .then_some(title.as_str())
                .filter(|_| bodies.len() == 1 || example.title.is_some());
            let drawn = self.example(body, example, caption.or((count == 1).then_some(word)));
            tabs.push((title, drawn));
        }
        match tabs.len() {
            0 | 1 => tabs.pop().map(|(_, drawn)| drawn).unwrap_or_default(),
            _ => self.tab_group(tabs),
        }
    }

    fn example(&self, body: &BodyDetail, of: &ExampleDetail, caption: Option<&str>) -> Markup {
        let syntax = if body.name.contains("xml") { "xml" } else { "json" };
        html! {
            @if let Some(text) = &of.description { p.about { (text) } }
            @match &of.address {
                Some(address) => p { code { (address) } },
                None => (self.code_text(&of.value, syntax, caption)),
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

/// The anchor of an operation or webhook on a page. The anchors of headings contain no slash.
pub(crate) fn operation_anchor(subject: &SpecSubject) -> String {
    let anchor = match subject {
        SpecSubject::Operation { method, path } if path.starts_with('/') => format!("{method}{path}"),
        SpecSubject::Operation { method, path: name } => format!("{method}/{name}"),
        SpecSubject::Webhook { method, name } => format!("webhook/{method}/{name}"),
        SpecSubject::Schema(name) => format!("schema/{name}"),
        _ => String::new(),
    };
    anchor.chars().map(|c| if c.is_whitespace() || c.is_control() { '-' } else { c }).collect()
}

/// The address of an anchor on the same page.
pub(crate) fn fragment(anchor: &str) -> String {
    format!("#{}", utf8_percent_encode(anchor, ANCHOR))
}

/// The class of the colour of a method.
pub(crate) fn method_class(method: &str) -> &'static str {
    match method {
        "get" => "get",
        "post" => "post",
        "put" => "put",
        "patch" => "patch",
        "delete" => "delete",
        _ => "other",
    }
}

/// The class of the colour of a status.
fn status_class(status: &str) -> &'static str {
    match status.as_bytes().first() {
        Some(b'2') => "s2",
        Some(b'3') => "s3",
        Some(b'4') => "s4",
        Some(b'5') => "s5",
        _ => "s1",
    }
}

/// Returns `true` for a short line without Markdown, which is shown next to the status of a response.
fn fits_heading(text: &str) -> bool {
    let marks = ['*', '_', '`', '[', '<', '#', '\\', '&', '~', '|', '$', '{', '!', ':', '\n'];
    !text.contains(marks) && text.chars().count() <= MAX_SUMMARY
}

/// The name of a scheme, and how its credentials are sent.
fn scheme_name(of: &SchemeDetail) -> Markup {
    let way = match &of.kind {
        SchemeKind::ApiKey { location, name } => format!("{location} {name}"),
        SchemeKind::Http(scheme) => format!("HTTP {scheme}"),
        SchemeKind::OAuth2 => "OAuth 2".to_owned(),
        SchemeKind::OpenIdConnect => "OpenID Connect".to_owned(),
        SchemeKind::MutualTls => "mutual TLS".to_owned(),
        _ => String::new(),
    };
    html! { (of.name) @if !way.is_empty() { " (" (way) ")" } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_descriptions_of_responses_are_below_the_heading() {
        let fits = |characters: usize| fits_heading(&"ä".repeat(characters));
        assert_eq!([MAX_SUMMARY, MAX_SUMMARY + 1].map(fits), [true, false]);
        assert!(
            fits_heading("")
                && fits_heading("The pet, if any.")
                && !fits_heading("*a*")
                && !fits_heading("a\nb")
        );
    }

    #[test]
    fn anchors_of_operations_are_one_word() {
        let operation =
            |path: &str| SpecSubject::Operation { method: "get".to_owned(), path: path.to_owned() };
        let webhook = SpecSubject::Webhook { method: "post".to_owned(), name: "new pet".to_owned() };
        assert_eq!(operation_anchor(&operation("/pets/{id}")), "get/pets/{id}");
        assert_eq!(fragment(&operation_anchor(&operation("/pets/{id}/"))), "#get/pets/%7Bid%7D/");
        assert_eq!(operation_anchor(&operation("a\tb")), "get/a-b");
        assert_eq!(operation_anchor(&webhook), "webhook/post/new-pet");
    }
}
