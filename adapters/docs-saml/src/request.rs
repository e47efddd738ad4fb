//! Authentication requests (HTTP-Redirect binding) and metadata.

use std::io::Write as _;

use chrono::SecondsFormat;
use data_encoding::BASE64;
use docs_model::SamlService;
use docs_ports::{SamlRefused, SamlRequest};
use flate2::{Compression, write::DeflateEncoder};
use url::Url;

use crate::{
    refusal::refuse,
    xml::{ASSERTION, PROTOCOL},
};

/// Binding for responses.
const POST: &str = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST";
/// Name id format for e-mail addresses.
const EMAIL: &str = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress";
/// XML namespace of metadata.
const METADATA: &str = "urn:oasis:names:tc:SAML:2.0:metadata";

/// Returns the URL that redirects a browser to the provider with a request.
pub(crate) fn redirect_url(request: &SamlRequest) -> Result<String, SamlRefused> {
    let no_address = || refuse("the address of the provider must begin with http:// or https://");
    let mut address = Url::parse(&request.destination).map_err(|_| no_address())?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err(no_address());
    }
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::default());
    // Writing to memory never fails.
    let deflated = deflated.write_all(xml(request).as_bytes()).and_then(|()| deflated.finish());
    let deflated = deflated.map_err(|error| refuse(error.to_string()))?;
    address.query_pairs_mut().append_pair("SAMLRequest", &BASE64.encode(&deflated));
    Ok(address.into())
}

fn xml(request: &SamlRequest) -> String {
    let SamlRequest { id, at, destination, issuer, recipient } = request;
    format!(
        "<samlp:AuthnRequest xmlns:samlp=\"{PROTOCOL}\" xmlns:saml=\"{ASSERTION}\" ID=\"{}\" Version=\"2.0\" \
         IssueInstant=\"{}\" Destination=\"{}\" AssertionConsumerServiceURL=\"{}\" ProtocolBinding=\"{POST}\">\
         <saml:Issuer>{}</saml:Issuer>\
         <samlp:NameIDPolicy Format=\"{EMAIL}\" AllowCreate=\"true\"/></samlp:AuthnRequest>",
        escape_xml(id),
        at.time().to_rfc3339_opts(SecondsFormat::Secs, true),
        escape_xml(destination),
        escape_xml(recipient),
        escape_xml(issuer),
    )
}

/// Returns the metadata of a service provider.
pub(crate) fn metadata(service: &SamlService) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <md:EntityDescriptor xmlns:md=\"{METADATA}\" entityID=\"{}\">\n\
         \x20 <md:SPSSODescriptor AuthnRequestsSigned=\"false\" WantAssertionsSigned=\"true\" \
         protocolSupportEnumeration=\"{PROTOCOL}\">\n\
         \x20   <md:NameIDFormat>{EMAIL}</md:NameIDFormat>\n\
         \x20   <md:AssertionConsumerService Binding=\"{POST}\" Location=\"{}\" index=\"0\" isDefault=\"true\"/>\n\
         \x20 </md:SPSSODescriptor>\n\
         </md:EntityDescriptor>\n",
        escape_xml(&service.entity_id),
        escape_xml(&service.acs_url),
    )
}

/// Escapes text for XML attributes and elements.
fn escape_xml(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&apos;"),
            c if c.is_control() => {}
            c => escaped.push(c),
        }
    }
    escaped
}
