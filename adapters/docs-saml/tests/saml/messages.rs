//! Requests and metadata.

use std::io::Read as _;

use data_encoding::BASE64;
use docs_model::SamlService;
use docs_ports::{Saml as _, SamlRequest};
use docs_saml::XmlSaml;
use flate2::read::DeflateDecoder;
use roxmltree::Document;
use url::Url;

use crate::idp::now;

fn request(destination: &str) -> SamlRequest {
    SamlRequest {
        id: "_abc".to_owned(),
        at: now().into(),
        destination: destination.to_owned(),
        issuer: "https://docs.example.com/saml/1?a=\"<&>".to_owned(),
        recipient: "https://docs.example.com/saml/1/acs".to_owned(),
    }
}

#[test]
fn authn_request_is_encoded_in_the_redirect_url() {
    let address = XmlSaml.request(&request("https://id.example.com/sso?tenant=1&x=%20")).expect("an address");
    let url = Url::parse(&address).expect("an address");
    assert!(address.starts_with("https://id.example.com/sso?tenant=1&x=%20&SAMLRequest="), "{address}");
    let pairs: Vec<_> = url.query_pairs().collect();
    let deflated = BASE64.decode(pairs[2].1.as_bytes()).expect("base64");
    let mut xml = String::new();
    DeflateDecoder::new(&deflated[..]).read_to_string(&mut xml).expect("deflated");
    let document = Document::parse(&xml).expect("XML");
    let root = document.root_element();
    assert_eq!(root.tag_name().name(), "AuthnRequest");
    for (name, value) in [
        ("ID", "_abc"),
        ("Version", "2.0"),
        ("IssueInstant", "2026-09-21T14:13:20Z"),
        ("Destination", "https://id.example.com/sso?tenant=1&x=%20"),
        ("AssertionConsumerServiceURL", "https://docs.example.com/saml/1/acs"),
        ("ProtocolBinding", "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"),
    ] {
        assert_eq!(root.attribute(name), Some(value), "{name}");
    }
    let issuer = root.first_element_child().expect("an issuer");
    assert_eq!(issuer.text(), Some("https://docs.example.com/saml/1?a=\"<&>"));
}

#[test]
fn authn_request_requires_a_web_url() {
    for wrong in ["", "id.example.com", "javascript:alert(1)", "file:///etc/passwd", "data:text/html,x"] {
        assert!(XmlSaml.request(&request(wrong)).is_err(), "{wrong}");
    }
}

#[test]
fn metadata_contains_entity_id_and_acs_url() {
    let service = SamlService {
        acs_url: "https://docs.example.com/saml/1/acs".to_owned(),
        start_url: "https://docs.example.com/saml/1/start".to_owned(),
        entity_id: "https://docs.example.com/saml/1".to_owned(),
    };
    let xml = XmlSaml.metadata(&service);
    let document = Document::parse(&xml).expect("XML");
    assert_eq!(document.root_element().attribute("entityID"), Some(service.entity_id.as_str()));
    let acs = document
        .descendants()
        .find(|node| node.has_tag_name(("urn:oasis:names:tc:SAML:2.0:metadata", "AssertionConsumerService")));
    let acs = acs.expect("where answers go");
    assert_eq!(acs.attribute("Location"), Some(service.acs_url.as_str()));
    assert_eq!(acs.attribute("Binding"), Some("urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"));
}
