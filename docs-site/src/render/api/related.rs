//! Links to other operations and pages, and authentication.

use docs_core::platform::{
    ExternalDocsDetail, LinkDetail, LinkedOperation, SchemeDetail, SchemeKind, SpecDetail, SpecSubject,
};
use maud::{Markup, html};

use crate::{
    address::safe_link,
    render::{NodePosition, Renderer, anchors::fragment},
};

impl Renderer<'_> {
    /// A link to further documentation, with its description or its address as text.
    pub(super) fn external_docs(&self, of: Option<&ExternalDocsDetail>) -> Markup {
        let Some(of) = of else { return Markup::default() };
        html! { p.about { (outside_link(&of.address, of.description.as_deref().unwrap_or(&of.address))) } }
    }

    /// The operations that can follow a response.
    pub(super) fn links(&self, spec: &str, all: &[LinkDetail], at: NodePosition) -> Markup {
        let words = &self.words.api;
        html! {
            @if !all.is_empty() { p.head { (words.links) } }
            dl.api-fields {
                @for of in all {
                    dt {
                        code { (of.name) }
                        @if let Some(operation) = &of.operation { " → " (self.linked_operation(spec, operation)) }
                    }
                    dd {
                        (self.description(of.description.as_deref(), at))
                        @for (name, value) in &of.parameters { p.about { code { (name) } ": " code { (value) } } }
                        @if let Some(body) = &of.body { p.about { (words.body) ": " code { (body) } } }
                        @if let Some(server) = &of.server { p.about { (words.servers) ": " code { (server) } } }
                    }
                }
            }
        }
    }

    /// The operation of a link: a link to its place if the page shows it.
    fn linked_operation(&self, spec: &str, of: &LinkedOperation) -> Markup {
        let subject = match of {
            LinkedOperation::Id(id) => self.specs.operations.get(&(spec.to_owned(), id.clone())),
            LinkedOperation::Subject(subject) => Some(subject),
            _ => None,
        };
        let is_shown = |subject: &&SpecSubject| {
            let key = (spec.to_owned(), (*subject).clone());
            matches!(self.specs.details.get(&key).map(|detail| &**detail), Some(SpecDetail::Operation(_)))
        };
        if let Some(subject) = subject.filter(is_shown) {
            let name = match of {
                LinkedOperation::Id(id) => id.clone(),
                _ => subject_name(subject),
            };
            return html! { a href=(fragment(&subject.anchor())) { code { (name) } } };
        }
        match of {
            LinkedOperation::Id(name) | LinkedOperation::Reference(name) => html! { code { (name) } },
            LinkedOperation::Subject(subject) => html! { code { (subject_name(subject)) } },
            _ => Markup::default(),
        }
    }

    /// The description of a security scheme, its flows and its scopes.
    pub(super) fn scheme(&self, of: &SchemeDetail, at: NodePosition) -> Markup {
        html! {
            (self.description(of.description.as_deref(), at))
            @for flow in &of.flows {
                p.about { code { (flow.name) } }
                @for (field, address) in &flow.addresses {
                    p.about { (field) ": " (outside_link(address, address)) }
                }
            }
            @if let Some(address) = &of.discovery { p.about { (outside_link(address, address)) } }
            @if of.scopes.iter().any(|scope| scope.description.is_some()) {
                ul.api-values {
                    @for scope in &of.scopes {
                        li { code { (scope.name) } @if let Some(text) = &scope.description { " " (text) } }
                    }
                }
            } @else if !of.scopes.is_empty() {
                p.about { @for scope in &of.scopes { code { (scope.name) } " " } }
            }
        }
    }
}

/// Returns `true` for a scheme with more than a name.
pub(super) const fn has_details(of: &SchemeDetail) -> bool {
    of.description.is_some() || !of.scopes.is_empty() || !of.flows.is_empty() || of.discovery.is_some()
}

/// The name of a scheme, and how its credentials are sent.
pub(super) fn scheme_name(of: &SchemeDetail) -> Markup {
    let way = match &of.kind {
        SchemeKind::ApiKey { location, name } => format!("{location} {name}"),
        SchemeKind::Http(scheme) => format!("HTTP {scheme}"),
        SchemeKind::OAuth2 => "OAuth 2".to_owned(),
        SchemeKind::OpenIdConnect => "OpenID Connect".to_owned(),
        SchemeKind::MutualTls => "mutual TLS".to_owned(),
        _ => String::new(),
    };
    let way = [Some(way).filter(|way| !way.is_empty()), of.token_format.clone()];
    let way = way.into_iter().flatten().collect::<Vec<_>>().join(", ");
    html! { (of.name) @if !way.is_empty() { " (" (way) ")" } }
}

fn subject_name(of: &SpecSubject) -> String {
    match of {
        SpecSubject::Operation { method, path: name } | SpecSubject::Webhook { method, name } => {
            format!("{} {name}", method.to_uppercase())
        }
        SpecSubject::Schema(name) => name.clone(),
        _ => String::new(),
    }
}

/// A link to another site, or its text if pages may not link to the address.
fn outside_link(address: &str, text: &str) -> Markup {
    match safe_link(address) {
        Some(href) => html! { a href=(href) rel="noopener" { (text) } },
        None => html! { (text) },
    }
}
