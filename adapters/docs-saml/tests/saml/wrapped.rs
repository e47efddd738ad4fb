//! Signature wrapping attacks: the signed content remains in the document, but other content is presented in its place
//! (Somorovsky et al., "On Breaking SAML", 2012). Other attacks are in `attacks.rs`.

use crate::{
    attacks::{cut_addresses, known_wrappings, other_wrappings},
    idp::{Asked, EMAIL, ENVELOPED, EXCLUSIVE, HERE, Parts, Scheme, refused, sign, verify},
};

/// The victim.
const ADMIN: &str = "admin@example.com";

/// Returns the content that the attacker presents.
fn evil() -> Parts {
    Parts::of(&Asked::default(), ADMIN)
}

#[test]
fn eight_known_signature_wrapping_attacks_are_refused() {
    let all = known_wrappings(&Parts::default(), &evil());
    assert_eq!(all.len(), 8);
    for (what, xml, said) in all {
        refused(what, &xml, said);
    }
}

#[test]
fn other_signature_wrapping_attacks_are_refused() {
    for (what, xml, said) in other_wrappings(&Parts::default(), &evil()) {
        refused(what, &xml, said);
    }
}

#[test]
fn every_signature_is_verified_and_two_assertions_are_refused() {
    let (parts, own) = (Parts::default(), Scheme::default());
    let other = Scheme { key: "other", ..Scheme::default() };
    let (good, forged) = (parts.signed_assertion(), sign(&parts.assertion("_a"), "_a", &other));
    let in_response = |content: &str, scheme: &Scheme| sign(&parts.around("_r", content), "_r", scheme);
    let not_ours = "does not verify with the key";
    refused("a response by another key around a good assertion", &in_response(&good, &other), not_ours);
    refused("a good response around an assertion by another key", &in_response(&forged, &own), not_ours);
    let changed = good.replace(EMAIL, ADMIN);
    let said = "changed after it was signed";
    refused("a good response around an assertion that was changed", &in_response(&changed, &own), said);
    let both = format!("{good}{}", sign(&parts.assertion("_b"), "_b", &own));
    let alone = parts.around("_r", &both).replace(HERE, "");
    refused("two good assertions", &alone, "more than one assertion");
    refused("two good assertions in a good response", &in_response(&both, &own), "more than one assertion");
    assert!(verify(&in_response(&good, &own)).is_ok(), "all of it is right");
}

#[test]
fn signature_with_extra_elements_is_refused_despite_valid_key() {
    let parts = Parts::default();
    let with =
        |scheme: Scheme| parts.around("_r", &sign(&parts.assertion("_a"), "_a", &scheme)).replace(HERE, "");
    let transforms = |all: &[&str]| Scheme {
        transforms: all.iter().map(|name| format!("<ds:Transform Algorithm=\"{name}\"/>")).collect(),
        ..Scheme::default()
    };
    let two = "two transforms";
    for (what, scheme, said) in [
        (
            "the whole document",
            Scheme { uri: Some(String::new()), ..Scheme::default() },
            "the element that contains it",
        ),
        (
            "an address",
            Scheme { uri: Some("https://evil.example/a".to_owned()), ..Scheme::default() },
            "the element that contains it",
        ),
        (
            "an XPointer",
            Scheme { uri: Some("#xpointer(id('_a'))".to_owned()), ..Scheme::default() },
            "the element that contains it",
        ),
        ("a path", transforms(&[ENVELOPED, "http://www.w3.org/TR/1999/REC-xpath-19991116", EXCLUSIVE]), two),
        ("a stylesheet", transforms(&[ENVELOPED, "http://www.w3.org/TR/1999/REC-xslt-19991116"]), two),
        ("the other order", transforms(&[EXCLUSIVE, ENVELOPED]), two),
        ("comments", transforms(&[ENVELOPED, "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"]), two),
        ("nothing left out", transforms(&[EXCLUSIVE]), two),
        ("nothing at all", transforms(&[]), two),
        (
            "another form of SignedInfo",
            Scheme {
                form: "http://www.w3.org/TR/2001/REC-xml-c14n-20010315".to_owned(),
                ..Scheme::default()
            },
            "exclusive canonical XML",
        ),
        (
            "two references",
            Scheme {
                more_references:
                    "<ds:Reference URI=\"#_r\"><ds:Transforms/><ds:DigestMethod Algorithm=\"\"/>\
                                  <ds:DigestValue/></ds:Reference>"
                        .to_owned(),
                ..Scheme::default()
            },
            "must have exactly",
        ),
    ] {
        refused(what, &with(scheme), said);
    }
    assert!(verify(&with(Scheme::default())).is_ok(), "the plain one is right");
}

#[test]
fn comments_cannot_truncate_the_email_address() {
    let longer = Parts::of(&Asked::default(), &format!("{ADMIN}.evil.example"));
    let signed = longer.signed();
    assert_eq!(verify(&signed).expect("it is right").email, "admin@example.com.evil.example");
    // Canonical XML omits comments, so the signature stays valid.
    for (what, xml, said) in cut_addresses(&longer, ADMIN) {
        refused(what, &xml, said);
    }
    let name = Parts::default().name.replace(EMAIL, "admin@example.com<a/>.evil.example");
    let nested = Parts { name, ..Parts::default() };
    refused("an element in the address", &nested.signed(), "must have text content only");
}
