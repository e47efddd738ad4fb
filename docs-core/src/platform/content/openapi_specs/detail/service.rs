//! Servers and security schemes.

use std::collections::HashMap;

use super::{
    files::SpecValue,
    json::Json,
    model::{
        FlowDetail, MAX_ITEMS, MAX_VALUES, SchemeDetail, SchemeKind, ScopeDetail, ServerDetail,
        VariableDetail,
    },
    reader::{DetailReader, line, text},
};

/// Maximum number of servers of an operation.
pub(super) const MAX_SERVERS: usize = 20;
/// Maximum number of bytes of an address, for example that of a server with its variables filled in.
pub(super) const MAX_ADDRESS: usize = 2_000;

impl DetailReader<'_, '_> {
    /// Returns the servers of the innermost object that has some, or those of the specification.
    pub(super) fn servers(&self, within: &[&SpecValue]) -> Vec<ServerDetail> {
        let own =
            within.iter().find_map(|found| found.get("servers").filter(|of| !of.value.items().is_empty()));
        let found = own.or_else(|| self.files.entry_at(&["servers"]));
        let listed = found.map(|all| all.items(MAX_SERVERS)).unwrap_or_default();
        if !listed.is_empty() {
            return listed.iter().filter_map(|server| self.server(server)).collect();
        }
        if self.files.entry_at(&["swagger"]).is_some() {
            return self.swagger_2_servers();
        }
        // Without servers, a specification describes the host that it is read from.
        let is_known = self.files.has_address();
        is_known
            .then(|| ServerDetail { url: self.files.resolve_address("/"), ..ServerDetail::default() })
            .into_iter()
            .collect()
    }

    fn server(&self, of: &SpecValue) -> Option<ServerDetail> {
        let template = of.text("url")?.trim();
        let named = of.get("variables").map(|all| all.fields(MAX_VALUES)).unwrap_or_default();
        let variables: Vec<VariableDetail> = named
            .into_iter()
            .map(|(name, variable)| {
                let values = variable.value.get("enum").map(Json::items).unwrap_or_default();
                let default = variable.value.get("default").or_else(|| values.first());
                VariableDetail {
                    name,
                    default: default.map(line).unwrap_or_default(),
                    values: values.iter().take(MAX_VALUES).map(line).collect(),
                    description: text(variable.value.get("description")),
                }
            })
            .collect();
        let filled = fill_variables(template, &variables);
        let url = match filled.starts_with("//") && !self.files.has_address() {
            true => format!("https:{filled}"),
            false if filled.contains("://") => filled,
            false => self.files.resolve_address(&filled),
        };
        let is_named = !variables.is_empty() && template.len() <= MAX_ADDRESS;
        let template = is_named.then(|| template.to_owned());
        Some(ServerDetail { url, template, description: text(of.value.get("description")), variables })
    }

    /// Returns the servers of Swagger 2.0, one for each scheme.
    fn swagger_2_servers(&self) -> Vec<ServerDetail> {
        let of = |name| self.files.entry_at(&[name]);
        let base = of("basePath").and_then(|base| text(Some(&base.value))).unwrap_or_default();
        let base = base.trim_end_matches('/');
        let Some(host) = of("host").and_then(|host| text(Some(&host.value))) else {
            let url = self.files.resolve_address(if base.is_empty() { "/" } else { base });
            let is_known = self.files.has_address() || !base.is_empty();
            return is_known.then(|| ServerDetail { url, ..ServerDetail::default() }).into_iter().collect();
        };
        let listed = of("schemes").map(|all| all.items(MAX_SERVERS)).unwrap_or_default();
        let mut schemes: Vec<String> = listed.iter().filter_map(|scheme| text(Some(&scheme.value))).collect();
        if schemes.is_empty() {
            schemes.push("https".to_owned());
        }
        let server = |scheme: String| ServerDetail {
            url: format!("{scheme}://{host}{base}"),
            ..ServerDetail::default()
        };
        schemes.into_iter().map(server).collect()
    }

    /// Returns the alternatives for authentication of an operation. An empty list in the specification means that no
    /// authentication is required.
    pub(super) fn security(&self, operation: &SpecValue) -> Vec<Vec<SchemeDetail>> {
        let Some(found) = operation.get("security").or_else(|| self.files.entry_at(&["security"])) else {
            return Vec::new();
        };
        let alternatives = found.items(MAX_ITEMS);
        if alternatives.is_empty() {
            return if matches!(found.value, Json::List(_)) { vec![Vec::new()] } else { Vec::new() };
        }
        let schemes = |of: &SpecValue| {
            of.fields(MAX_VALUES).into_iter().map(|(name, scopes)| self.scheme(name, &scopes)).collect()
        };
        alternatives.iter().map(schemes).collect()
    }

    fn scheme(&self, name: String, scopes: &SpecValue) -> SchemeDetail {
        let scopes: Vec<String> = scopes.value.items().iter().take(MAX_ITEMS).map(line).collect();
        let found = self
            .files
            .entry_at(&["components", "securitySchemes", &name])
            .or_else(|| self.files.entry_at(&["securityDefinitions", &name]));
        let Some(found) = found.map(|found| self.files.follow_references(found)) else {
            let scopes = scopes.into_iter().map(|name| ScopeDetail { name, description: None }).collect();
            return SchemeDetail { name, scopes, ..SchemeDetail::default() };
        };
        let of = |field| text(found.value.get(field)).unwrap_or_default();
        let kind = match found.text("type") {
            Some("apiKey") => SchemeKind::ApiKey { location: of("in"), name: of("name") },
            Some("http") => SchemeKind::Http(of("scheme").to_lowercase()),
            Some("basic") => SchemeKind::Http("basic".to_owned()),
            Some("oauth2") => SchemeKind::OAuth2,
            Some("openIdConnect") => SchemeKind::OpenIdConnect,
            Some("mutualTLS") => SchemeKind::MutualTls,
            _ => SchemeKind::Unknown,
        };
        let flows = if kind == SchemeKind::OAuth2 { flows_of(&found.value) } else { Vec::new() };
        SchemeDetail {
            name,
            kind,
            scopes: described_scopes(scopes, &flows),
            description: text(found.value.get("description")),
            flows: flows.iter().map(|(name, flow)| self.flow(name, flow)).collect(),
            token_format: text(found.value.get("bearerFormat")),
            discovery: self.address(found.value.get("openIdConnectUrl")),
            deprecated: found.is("deprecated"),
        }
    }

    fn flow(&self, name: &str, of: &Json) -> FlowDetail {
        let address = |field: &&str| Some(((*field).to_owned(), self.address(of.get(field))?));
        FlowDetail { name: name.to_owned(), addresses: FLOW_ADDRESSES.iter().filter_map(address).collect() }
    }
}

/// The flows of OAuth 2, with the names of Swagger 2.0.
const FLOWS: [&str; 7] = [
    "authorizationCode",
    "clientCredentials",
    "deviceAuthorization",
    "implicit",
    "password",
    "accessCode",
    "application",
];
/// The fields of a flow with addresses.
const FLOW_ADDRESSES: [&str; 4] = ["authorizationUrl", "deviceAuthorizationUrl", "tokenUrl", "refreshUrl"];

/// Returns the flows of a scheme. In Swagger 2.0, the scheme itself is its only flow.
fn flows_of(scheme: &Json) -> Vec<(&str, &Json)> {
    if let Some(flow) = scheme.get("flow").and_then(Json::as_text) {
        return vec![(flow, scheme)];
    }
    let named = scheme.get("flows").map(Json::fields).unwrap_or_default();
    named
        .iter()
        .map(|(name, flow)| (&**name, flow))
        .filter(|(name, _)| FLOWS.contains(name))
        .take(FLOWS.len())
        .collect()
}

/// Returns scopes with their descriptions in the flows of their scheme.
fn described_scopes(names: Vec<String>, flows: &[(&str, &Json)]) -> Vec<ScopeDetail> {
    if names.is_empty() {
        return Vec::new();
    }
    let known = flows.iter().filter_map(|(_, flow)| flow.get("scopes")).flat_map(Json::fields);
    let known: HashMap<&str, &Json> = known.map(|(name, description)| (&**name, description)).collect();
    let described = |name: String| ScopeDetail { description: text(known.get(name.as_str()).copied()), name };
    names.into_iter().map(described).collect()
}

/// Replaces the variables of an address by their defaults. A value is not searched for further variables.
fn fill_variables(template: &str, variables: &[VariableDetail]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let named = after.split_once('}');
        let found = named.and_then(|(name, _)| variables.iter().find(|variable| variable.name == name));
        match (found, named) {
            (Some(variable), Some((_, behind))) if filled.len() + variable.default.len() <= MAX_ADDRESS => {
                filled.push_str(&variable.default);
                rest = behind;
            }
            _ => {
                filled.push('{');
                rest = after;
            }
        }
    }
    filled.push_str(rest);
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_an_address_are_filled_once() {
        let variable = |name: &str, default: &str| VariableDetail {
            name: name.to_owned(),
            default: default.to_owned(),
            ..VariableDetail::default()
        };
        let variables = [variable("a", "{b}"), variable("b", "2"), variable("", "none")];
        for (template, filled) in [
            ("https://{b}.test/{a}", "https://2.test/{b}"),
            ("{c}/{b}{", "{c}/2{"),
            ("{{b}}", "{2}"),
            ("", ""),
            ("{}", "none"),
        ] {
            assert_eq!(fill_variables(template, &variables), filled, "{template}");
        }
        let long = variable("a", &"x".repeat(200));
        assert!(fill_variables(&"{a}".repeat(1_000), &[long]).len() < MAX_ADDRESS + 3_001);
    }
}
