//! Operations, webhooks and schemas of OpenAPI specifications. Their descriptions are Markdown from an
//! untrusted source.

mod related;
mod samples;
mod schema;

use docs_core::{
    model::{BlockKind, ContentRef},
    platform::{
        BodyDetail, CallbackDetail, ExampleDetail, OperationDetail, ResponseDetail, SampleDetails,
        SchemeDetail, ServerDetail, SpecDetail, SpecSubject,
    },
};
use maud::{Markup, PreEscaped, html};

use self::{
    related::{has_details, scheme_name},
    samples::{LANGUAGES, SampleRequest, contains_example},
};
use super::{
    NodePosition, Renderer,
    anchors::{fragment, method_class},
    plain::plain_text,
};

/// The maximum number of characters of a description in the summary of a response.
const MAX_SUMMARY: usize = 160;

/// An operation in its place on a page.
struct ShownOperation<'o> {
    /// The slug of the specification.
    spec: &'o str,
    method: &'o str,
    /// The path, the name of a webhook, or the expression of a callback.
    name: &'o str,
    /// The anchor; `None` for callbacks, and for operations that the page showed before.
    anchor: Option<String>,
    role: OperationRole,
}

/// The sender of the requests of an operation.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OperationRole {
    /// A client calls the service. The operation has samples.
    Called,
    /// The service calls an address that is registered with it.
    Webhook,
    /// The service calls an address as a result of another operation.
    Callback,
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
                SpecDetail::Operation(of) => self.subject(spec, &subject, of, at),
                SpecDetail::Schema(of) => self.named_schema(&subject, of, at),
                _ => Markup::default(),
            };
            drawn.get_or_insert_default().push_str(&self.counter.add_described(own).0);
        }
        drawn.map(PreEscaped)
    }

    fn subject(&self, spec: &str, subject: &SpecSubject, of: &OperationDetail, at: NodePosition) -> Markup {
        let anchor = subject.anchor();
        let anchor = Some(anchor).filter(|anchor| self.counter.is_first_use(anchor));
        let (method, name, role) = match subject {
            SpecSubject::Operation { method, path } => (method, path, OperationRole::Called),
            SpecSubject::Webhook { method, name } => (method, name, OperationRole::Webhook),
            _ => return Markup::default(),
        };
        self.operation_detail(&ShownOperation { spec, method, name, anchor, role }, of, at)
    }

    /// The name of an operation, webhook or schema beyond the limits of the page. The first one has a notice.
    fn left_out_subject(&self, subject: &SpecSubject, target: &ContentRef) -> Markup {
        let anchor = Some(subject.anchor()).filter(|anchor| self.counter.is_first_use(anchor));
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
                    @if shown.role == OperationRole::Webhook { " " span.tag { "Webhook" } }
                    @if of.deprecated { " " span.tag { (words.deprecated) } }
                }
                (self.description(of.description.as_deref(), at))
                (self.external_docs(of.external_docs.as_ref()))
                (self.security(&of.security, at))
                (self.servers(&of.servers, at))
                @if !of.parameters.is_empty() {
                    p.head { (words.parameters) }
                    (self.parameters(&of.parameters, at))
                }
                @if let Some(request) = &of.request {
                    p.head { (words.body) @if request.required { " " span.tag { (words.required) } } }
                    (self.description(request.description.as_deref(), at))
                    (self.bodies(&request.bodies, shown.role == OperationRole::Called && has_only_generated_samples(of), at))
                }
                (self.samples(shown, of))
                @if !of.responses.is_empty() { p.head { (words.responses) } }
                @for response in &of.responses { (self.response(shown.spec, response, at)) }
                @if !of.callbacks.is_empty() { p.head { (words.callbacks) } }
                @for callback in &of.callbacks { (self.callback(shown.spec, callback, at)) }
                @if of.is_cut { (self.left_out()) }
            }
        }
    }

    /// The samples of the specification, followed by generated ones in other languages.
    fn samples(&self, shown: &ShownOperation<'_>, of: &OperationDetail) -> Markup {
        let SampleDetails::Given(given) = &of.samples else { return Markup::default() };
        let mut tabs: Vec<(String, Markup)> = Vec::new();
        for sample in given {
            let title = sample.label.as_ref().unwrap_or(&sample.language).clone();
            tabs.push((title, self.code_text(&sample.source, &sample.language.to_lowercase(), None)));
        }
        if shown.role == OperationRole::Called {
            let request = SampleRequest::new(shown.method, shown.name, of);
            for language in &LANGUAGES {
                if !given.iter().any(|sample| language.has_name(&sample.language)) {
                    let code = self.code_text(&(language.print)(&request), language.syntax, None);
                    tabs.push((language.title.to_owned(), code));
                }
            }
        }
        if tabs.is_empty() {
            return Markup::default();
        }
        html! { p.head { (self.words.api.request) } (self.tab_group(tabs)) }
    }

    /// The alternatives for authentication, with the descriptions and scopes of the schemes.
    fn security(&self, alternatives: &[Vec<SchemeDetail>], at: NodePosition) -> Markup {
        let schemes = || alternatives.iter().flatten();
        let is_told = |of: &&SchemeDetail| has_details(of);
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
                        dt {
                            (scheme_name(scheme))
                            @if scheme.deprecated { " " span.tag { (self.words.api.deprecated) } }
                        }
                        dd { (self.scheme(scheme, at)) }
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
                        dt { code { (server.template.as_ref().unwrap_or(&server.url)) } }
                        dd {
                            (self.description(server.description.as_deref(), at))
                            @for variable in &server.variables {
                                p.about {
                                    code { (variable.name) }
                                    @if !variable.default.is_empty() { " " (words.default) ": " code { (variable.default) } }
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

    fn response(&self, spec: &str, of: &ResponseDetail, at: NodePosition) -> Markup {
        let text = of.description.as_deref().unwrap_or_default();
        let is_whole = fits_heading(text);
        let short = if is_whole { text.to_owned() } else { self.first_line(text) };
        let heading = html! {
            code class={ "status " (status_class(&of.status)) } { (of.status) }
            @if !short.is_empty() { " " span.api-about { (short) } }
        };
        if is_whole && of.headers.is_empty() && of.bodies.is_empty() && of.links.is_empty() {
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
                    (self.links(spec, &of.links, at))
                }
            }
        }
    }

    /// The first line of a description as plain text, for the heading of a response.
    fn first_line(&self, text: &str) -> String {
        let document = self.specs.descriptions.get(text);
        let line = match document.and_then(|document| document.nodes.first()) {
            Some(first) => plain_text(&first.nodes),
            None => text.lines().next().unwrap_or_default().to_owned(),
        };
        match line.char_indices().nth(MAX_SUMMARY) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
            None => line.trim().to_owned(),
        }
    }

    fn callback(&self, spec: &str, of: &CallbackDetail, at: NodePosition) -> Markup {
        let (method, name) = (of.method.as_str(), of.address.as_str());
        let described = || of.operation.description.as_deref().map(|text| self.first_line(text));
        let short = of.operation.summary.clone().or_else(described);
        let shown = ShownOperation { spec, method, name, anchor: None, role: OperationRole::Callback };
        html! {
            details.expandable.callback {
                summary {
                    span class={ "method " (method_class(&of.method)) } { (of.method.to_uppercase()) } " " (of.name)
                    @if let Some(short) = short { " " span.api-about { (short) } }
                    @if of.operation.deprecated { " " span.tag { (self.words.api.deprecated) } }
                }
                div { (self.operation_detail(&shown, &of.operation, at)) }
            }
        }
    }

    fn named_schema(&self, subject: &SpecSubject, of: &BodyDetail, at: NodePosition) -> Markup {
        let anchor = Some(subject.anchor()).filter(|anchor| self.counter.is_first_use(anchor));
        html! {
            details.expandable.api id=[anchor] {
                summary { code { (of.name) } }
                div {
                    (self.schema_of_body(of.schema.as_ref(), at))
                    (self.examples(std::slice::from_ref(of)))
                }
            }
        }
    }

    /// The body in each media type. Media types with the same schema share its description. The examples of a request
    /// are left out if its samples contain the only one, and collapsed if they contain the first one.
    fn bodies(&self, all: &[BodyDetail], is_sampled: bool, at: NodePosition) -> Markup {
        let mut groups: Vec<&[BodyDetail]> = Vec::new();
        let mut rest = all;
        while let Some(first) = rest.first() {
            let end = rest.iter().position(|body| body.schema != first.schema).unwrap_or(rest.len());
            let (group, behind) = rest.split_at(end);
            groups.push(group);
            rest = behind;
        }
        let is_sampled = is_sampled && all.first().is_none_or(contains_example);
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

/// Returns `true` if the samples of an operation contain its example in each language. Those of a specification may
/// read it from a file.
fn has_only_generated_samples(of: &OperationDetail) -> bool {
    matches!(&of.samples, SampleDetails::Given(given) if given.is_empty())
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
}
