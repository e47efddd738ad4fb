//! Signature wrapping: what is signed stays in the document somewhere, and something else is offered in its place
//! (Somorovsky and others, "On Breaking SAML", 2012). Each begins with what an attacker can have: a response of their
//! own, rightly signed.

use crate::idp::{EMAIL, ENVELOPED, EXCLUSIVE, HERE, Parts, Scheme, refused, sign, verify};

/// Whom the attacker wants to be.
fn evil() -> Parts {
    let own = Parts::default();
    Parts { name: own.name.replace(EMAIL, "admin@example.com"), ..own }
}

/// A signed thing without its signature, and the signature.
fn apart(signed: &str) -> (String, String) {
    let start = signed.find("<ds:Signature ").expect("its signature");
    let end = signed.find("</ds:Signature>").expect("its end") + "</ds:Signature>".len();
    (format!("{}{}", &signed[..start], &signed[end..]), signed[start..end].to_owned())
}

/// Something within another element.
fn within(element: &str, outer: &str, before: &str) -> String {
    let at = outer.find(before).expect("a place");
    format!("{}{element}{}", &outer[..at], &outer[at..])
}

fn without_declaration(xml: &str) -> &str {
    xml.split_once("?>\n").expect("a declaration").1
}

#[test]
fn eight_known_ways_of_wrapping_end_in_a_refusal() {
    let (own, evil) = (Parts::default(), evil());
    let whole = sign(&own.around("_r", &own.assertion("_a").replace(HERE, "")), "_r", &Scheme::default());
    let (bare_whole, of_whole) = apart(without_declaration(&whole));
    let assertion = own.signed_assertion();
    let (bare, signature) = apart(&assertion);
    let fake = |id: &str| evil.assertion(id).replace(HERE, "");
    let faking = |content: &str| evil.around("_e", content).replace(HERE, "");
    let place = "</ds:Signature>";
    let evil_whole = |signature: &str| evil.around("_e", &fake("_b")).replace(HERE, signature);
    for (what, xml, said) in [
        (
            "1: the signed response within the signature of another",
            evil_whole(&within(&bare_whole, &of_whole, place)),
            "an assertion where none belongs",
        ),
        (
            "2: the signed response beside its signature, in another",
            evil_whole(&format!("{bare_whole}{of_whole}")),
            "an assertion where none belongs",
        ),
        (
            "3: another assertion before the signed one",
            faking(&format!("{}{assertion}", fake("_b"))),
            "more than one assertion",
        ),
        (
            "4: the signed assertion within another",
            faking(&within(&assertion, &fake("_b"), "</saml:Assertion>")),
            "an assertion where none belongs",
        ),
        (
            "5: the signature in another assertion, the signed one behind it",
            faking(&format!("{}{bare}", evil.assertion("_b").replace(HERE, &signature))),
            "more than one assertion",
        ),
        (
            "6: the signed assertion within the signature, which is in another",
            faking(&evil.assertion("_b").replace(HERE, &within(&bare, &signature, place))),
            "an assertion where none belongs",
        ),
        (
            "7: the signed assertion within an extension",
            faking(&format!("<samlp:Extensions>{assertion}</samlp:Extensions>{}", fake("_b"))),
            "an assertion where none belongs",
        ),
        (
            "8: the signed assertion within an object of the signature",
            faking(
                &evil
                    .assertion("_b")
                    .replace(HERE, &within(&format!("<ds:Object>{bare}</ds:Object>"), &signature, place)),
            ),
            "an assertion where none belongs",
        ),
    ] {
        refused(what, &xml, said);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a refusal")]
fn and_so_do_others() {
    let (own, evil) = (Parts::default(), evil());
    let assertion = own.signed_assertion();
    let (bare, signature) = apart(&assertion);
    let fake = |id: &str| evil.assertion(id).replace(HERE, "");
    let faking = |content: &str| evil.around("_e", content).replace(HERE, "");
    for (what, xml, said) in [
        (
            "another assertion behind the signed one",
            faking(&format!("{assertion}{}", fake("_b"))),
            "more than one assertion",
        ),
        ("the same id twice", faking(&format!("{}{assertion}", fake("_a"))), "the same ID"),
        (
            "the signature moved into another assertion alone",
            faking(&evil.assertion("_b").replace(HERE, &signature)),
            "of something else than what it stands in",
        ),
        (
            "the signature moved into another assertion with the same id",
            faking(&evil.assertion("_a").replace(HERE, &signature)),
            "changed after it was signed",
        ),
        (
            "the signature of the assertion as that of the response",
            evil.around("_e", &fake("_b")).replace(HERE, &signature),
            "of something else than what it stands in",
        ),
        (
            "the signed assertion within the status",
            faking(&fake("_b")).replace(
                "</samlp:Status>",
                &format!("<samlp:StatusDetail>{assertion}</samlp:StatusDetail></samlp:Status>"),
            ),
            "an assertion where none belongs",
        ),
        (
            "the signed assertion within an attribute of another",
            faking(&fake("_b").replace("Ada &amp; Ärger", &assertion)),
            "an assertion where none belongs",
        ),
        (
            "an assertion of another namespace",
            faking(&format!(
                "{}{assertion}",
                fake("_b").replace(
                    "urn:oasis:names:tc:SAML:2.0:assertion",
                    "urn:oasis:names:tc:SAML:1.0:assertion"
                )
            )),
            "an assertion where none belongs",
        ),
        (
            "the signature within the subject",
            faking(&within(&signature, &fake("_a"), "</saml:Subject>")),
            "a signature where none belongs",
        ),
        (
            "two signatures, the right one second",
            faking(&own.assertion("_a").replace(
                HERE,
                &format!(
                    "{}{signature}",
                    apart(&sign(&fake_signed(&evil), "_b", &Scheme { key: "other", ..Scheme::default() })).1
                ),
            )),
            "more than one Signature",
        ),
        (
            "an object in the signature",
            faking(&within("<ds:Object/>", &assertion, "</ds:Signature>")),
            "and nothing else",
        ),
        ("another root", format!("<a>{}</a>", without_declaration(&own.signed())), "not a SAML 2.0 Response"),
        ("an assertion alone", bare, "not a SAML 2.0 Response"),
    ] {
        refused(what, &xml, said);
    }
}

fn fake_signed(evil: &Parts) -> String {
    evil.assertion("_b")
}

#[test]
fn a_signature_that_says_more_than_it_may_is_refused_even_by_the_right_key() {
    let parts = Parts::default();
    let with =
        |scheme: Scheme| parts.around("_r", &sign(&parts.assertion("_a"), "_a", &scheme)).replace(HERE, "");
    let transforms = |all: &[&str]| Scheme {
        transforms: all.iter().map(|name| format!("<ds:Transform Algorithm=\"{name}\"/>")).collect(),
        ..Scheme::default()
    };
    let two = "two transforms";
    for (what, scheme, said) in [
        ("the whole document", Scheme { uri: Some(String::new()), ..Scheme::default() }, "something else"),
        (
            "an address",
            Scheme { uri: Some("https://evil.example/a".to_owned()), ..Scheme::default() },
            "something else",
        ),
        (
            "an XPointer",
            Scheme { uri: Some("#xpointer(id('_a'))".to_owned()), ..Scheme::default() },
            "something else",
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
            "and nothing else",
        ),
    ] {
        refused(what, &with(scheme), said);
    }
    assert!(verify(&with(Scheme::default())).is_ok(), "the plain one is right");
}

#[test]
fn a_comment_cuts_no_address() {
    let signed = Parts {
        name: Parts::default().name.replace(EMAIL, "admin@example.com.evil.example"),
        ..Parts::default()
    };
    let signed = signed.signed();
    assert_eq!(verify(&signed).expect("it is right").email, "admin@example.com.evil.example");
    // Canonical XML has no comments: the signature is as good as before.
    let commented = signed.replace("admin@example.com.evil", "admin@example.com<!---->.evil");
    refused("a comment in the address", &commented, "comments");
    for (with, what) in [("<![CDATA[.evil]]>", "a section"), ("<?a?>.evil", "an instruction")] {
        let cut = signed.replace("com.evil.example", &format!("com{with}.example"));
        refused(what, &cut, "comments, sections or instructions");
    }
    let nested = Parts {
        name: Parts::default().name.replace(EMAIL, "admin@example.com<a/>.evil.example"),
        ..Parts::default()
    };
    refused("an element in the address", &nested.signed(), "must have text only");
}
