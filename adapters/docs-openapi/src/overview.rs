//! The parts of an outline that describe a specification as a whole.

use docs_ports::{SpecLink, SpecScheme, SpecTagGroup};

use crate::{
    node::JsonNode,
    short_text::{one_line, text_within},
    validation::MAX_TAGS,
};

/// Maximum length of an address in bytes. Longer ones are left out.
const MAX_ADDRESS: usize = 2_000;
/// Maximum number of security schemes.
const MAX_SCHEMES: usize = 20;
/// Maximum length of the description of a security scheme in bytes.
const MAX_SCHEME_TEXT: usize = 5_000;
/// Maximum number of scopes of a security scheme.
const MAX_SCOPES: usize = 100;
/// Maximum number of groups of tags.
const MAX_GROUPS: usize = 100;

/// The fields of a security scheme or of a flow that are shown with their names.
const FIELDS: [&str; 10] = [
    "in",
    "name",
    "scheme",
    "bearerFormat",
    "openIdConnectUrl",
    "flow",
    "authorizationUrl",
    "deviceAuthorizationUrl",
    "tokenUrl",
    "refreshUrl",
];

/// Returns the contact, the license, the terms of service and further documentation of a specification.
pub(crate) fn links(root: &JsonNode) -> Vec<SpecLink> {
    let info = root.get("info");
    let of_info = |name: &str| info.and_then(|info| info.get(name));
    let contact = of_info("contact");
    let of_contact = |name: &str| contact.and_then(|contact| line(contact, name));
    let named = |of: Option<&JsonNode>, what: &str, address: &str| {
        let name = of.and_then(|of| line(of, "name"));
        let address = of.and_then(|of| address_of(of, address));
        let text = name.map_or_else(|| what.to_owned(), |name| format!("{what}: {name}"));
        (text != what || address.is_some()).then_some(SpecLink { text, address })
    };
    let email = of_contact("email");
    let email = email.map(|email| SpecLink { address: Some(format!("mailto:{email}")), text: email });
    let terms = info.and_then(|info| address_of(info, "termsOfService"));
    let terms = terms.map(|address| SpecLink { text: "Terms of service".to_owned(), address: Some(address) });
    let all = [
        named(contact, "Contact", "url"),
        email,
        named(of_info("license"), "License", "url"),
        terms,
        docs_link(root),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the page with further documentation of a specification or a tag.
pub(crate) fn docs_link(of: &JsonNode) -> Option<SpecLink> {
    let docs = of.get("externalDocs")?;
    let address = address_of(docs, "url")?;
    Some(SpecLink {
        text: line(docs, "description").unwrap_or_else(|| one_line(&address)),
        address: Some(address),
    })
}

/// Returns the security schemes of a specification.
pub(crate) fn schemes(root: &JsonNode) -> Vec<SpecScheme> {
    let named = root.get("components").and_then(|components| components.get("securitySchemes"));
    let named = named.or_else(|| root.get("securityDefinitions")).map(JsonNode::fields).unwrap_or_default();
    named.iter().take(MAX_SCHEMES).map(|(name, scheme)| self::scheme(name, scheme)).collect()
}

fn scheme(name: &str, of: &JsonNode) -> SpecScheme {
    let fields = |of: &JsonNode, prefix: &str| -> Vec<(String, String)> {
        let value = |field: &&str| Some((format!("{prefix}{field}"), line(of, field)?));
        FIELDS.iter().filter_map(value).collect()
    };
    let mut shown = SpecScheme {
        name: one_line(name),
        kind: line(of, "type").unwrap_or_default(),
        description: text_within(of, "description", MAX_SCHEME_TEXT),
        fields: fields(of, ""),
        scopes: Vec::new(),
    };
    let flows = of.get("flows").map(JsonNode::fields).unwrap_or_default();
    for (name, flow) in flows.iter().filter(|(name, _)| !name.starts_with("x-")).take(FIELDS.len()) {
        shown.fields.extend(fields(flow, &format!("{} ", one_line(name))));
    }
    let scopes = std::iter::once(of).chain(flows.iter().map(|(_, flow)| flow));
    let scopes = scopes.flat_map(|of| of.get("scopes").map(JsonNode::fields).unwrap_or_default());
    for (name, description) in scopes.take(MAX_SCOPES * FIELDS.len()) {
        let name = one_line(name);
        if shown.scopes.len() < MAX_SCOPES && !shown.scopes.iter().any(|(known, _)| *known == name) {
            shown.scopes.push((name, description.text().map(one_line).unwrap_or_default()));
        }
    }
    shown
}

/// Returns the groups of tags.
pub(crate) fn groups(root: &JsonNode) -> Vec<SpecTagGroup> {
    let all = root.get("x-tagGroups").map(JsonNode::items).unwrap_or_default();
    let group = |of: &JsonNode| {
        let tags = of.get("tags").map(JsonNode::items).unwrap_or_default();
        let tags = tags.iter().take(MAX_TAGS).filter_map(JsonNode::text).map(str::to_owned);
        Some(SpecTagGroup { name: line(of, "name")?, tags: tags.collect() })
    };
    all.iter().take(MAX_GROUPS).filter_map(group).collect()
}

fn line(of: &JsonNode, name: &str) -> Option<String> {
    let text = of.get(name)?.text().filter(|text| !text.trim().is_empty())?;
    Some(one_line(text))
}

fn address_of(of: &JsonNode, name: &str) -> Option<String> {
    let address = of.get(name)?.text()?.trim();
    (!address.is_empty() && address.len() <= MAX_ADDRESS).then(|| address.to_owned())
}
