//! Attack responses. Each starts from a validly signed response of the attacker, tries to sign in as another user, and
//! is paired with the expected reason for its rejection.

use super::idp::{HERE, Parts, Scheme, sign};

/// Description of the attack, response, and a part of the expected error message.
pub(crate) type Attack = (&'static str, String, &'static str);

/// Splits a signed element into the element without its signature, and the signature.
fn apart(signed: &str) -> (String, String) {
    let start = signed.find("<ds:Signature ").expect("its signature");
    let end = signed.find("</ds:Signature>").expect("its end") + "</ds:Signature>".len();
    (format!("{}{}", &signed[..start], &signed[end..]), signed[start..end].to_owned())
}

/// Inserts an element into another one, before the text `before`.
fn within(element: &str, outer: &str, before: &str) -> String {
    let at = outer.find(before).expect("a place");
    format!("{}{element}{}", &outer[..at], &outer[at..])
}

fn without_declaration(xml: &str) -> &str {
    xml.split_once("?>\n").expect("a declaration").1
}

/// Returns the known wrapping attacks.
pub(crate) fn known_wrappings(own: &Parts, evil: &Parts) -> Vec<Attack> {
    let whole = sign(&own.around("_r", &own.assertion("_a").replace(HERE, "")), "_r", &Scheme::default());
    let (bare_whole, of_whole) = apart(without_declaration(&whole));
    let assertion = own.signed_assertion();
    let (bare, signature) = apart(&assertion);
    let fake = |id: &str| evil.assertion(id).replace(HERE, "");
    let faking = |content: &str| evil.around("_e", content).replace(HERE, "");
    let place = "</ds:Signature>";
    let evil_whole = |signature: &str| evil.around("_e", &fake("_b")).replace(HERE, signature);
    vec![
        (
            "1: the signed response within the signature of another",
            evil_whole(&within(&bare_whole, &of_whole, place)),
            "an assertion at an unexpected position",
        ),
        (
            "2: the signed response beside its signature, in another",
            evil_whole(&format!("{bare_whole}{of_whole}")),
            "an assertion at an unexpected position",
        ),
        (
            "3: another assertion before the signed one",
            faking(&format!("{}{assertion}", fake("_b"))),
            "more than one assertion",
        ),
        (
            "4: the signed assertion within another",
            faking(&within(&assertion, &fake("_b"), "</saml:Assertion>")),
            "an assertion at an unexpected position",
        ),
        (
            "5: the signature in another assertion, the signed one behind it",
            faking(&format!("{}{bare}", evil.assertion("_b").replace(HERE, &signature))),
            "more than one assertion",
        ),
        (
            "6: the signed assertion within the signature, which is in another",
            faking(&evil.assertion("_b").replace(HERE, &within(&bare, &signature, place))),
            "an assertion at an unexpected position",
        ),
        (
            "7: the signed assertion within an extension",
            faking(&format!("<samlp:Extensions>{assertion}</samlp:Extensions>{}", fake("_b"))),
            "an assertion at an unexpected position",
        ),
        (
            "8: the signed assertion within an object of the signature",
            faking(
                &evil
                    .assertion("_b")
                    .replace(HERE, &within(&format!("<ds:Object>{bare}</ds:Object>"), &signature, place)),
            ),
            "an assertion at an unexpected position",
        ),
    ]
}

/// Returns more attacks that present content other than the signed content.
#[expect(clippy::too_many_lines, reason = "a table, a row an attack")]
pub(crate) fn other_wrappings(own: &Parts, evil: &Parts) -> Vec<Attack> {
    let assertion = own.signed_assertion();
    let (bare, signature) = apart(&assertion);
    let fake = |id: &str| evil.assertion(id).replace(HERE, "");
    let faking = |content: &str| evil.around("_e", content).replace(HERE, "");
    vec![
        (
            "another assertion behind the signed one",
            faking(&format!("{assertion}{}", fake("_b"))),
            "more than one assertion",
        ),
        ("the same id twice", faking(&format!("{}{assertion}", fake("_a"))), "a duplicate ID"),
        (
            "the signature moved into another assertion alone",
            faking(&evil.assertion("_b").replace(HERE, &signature)),
            "must refer to the element that contains it",
        ),
        (
            "the signature moved into another assertion with the same id",
            faking(&evil.assertion("_a").replace(HERE, &signature)),
            "changed after it was signed",
        ),
        (
            "the signature of the assertion as that of the response",
            evil.around("_e", &fake("_b")).replace(HERE, &signature),
            "must refer to the element that contains it",
        ),
        (
            "the signed assertion within the status",
            faking(&fake("_b")).replace(
                "</samlp:Status>",
                &format!("<samlp:StatusDetail>{assertion}</samlp:StatusDetail></samlp:Status>"),
            ),
            "an assertion at an unexpected position",
        ),
        (
            "the signed assertion within an attribute of another",
            faking(&fake("_b").replace("Ada &amp; Ärger", &assertion)),
            "an assertion at an unexpected position",
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
            "an assertion at an unexpected position",
        ),
        (
            "the signature within the subject",
            faking(&within(&signature, &fake("_a"), "</saml:Subject>")),
            "a signature at an unexpected position",
        ),
        (
            "two signatures, the right one second",
            faking(&own.assertion("_a").replace(
                HERE,
                &format!(
                    "{}{signature}",
                    apart(&sign(&evil.assertion("_b"), "_b", &Scheme { key: "other", ..Scheme::default() })).1
                ),
            )),
            "more than one Signature",
        ),
        (
            "an object in the signature",
            faking(&within("<ds:Object/>", &assertion, "</ds:Signature>")),
            "must have exactly",
        ),
        ("another root", format!("<a>{}</a>", without_declaration(&own.signed())), "not a SAML 2.0 Response"),
        ("an assertion alone", bare, "not a SAML 2.0 Response"),
    ]
}

/// Returns responses with a longer e-mail address that starts with the victim's address and is split after it by a
/// comment. Canonical XML omits comments, so the signature stays valid.
pub(crate) fn cut_addresses(longer: &Parts, target: &str) -> Vec<Attack> {
    let signed = longer.signed();
    let cut = |with: &str| signed.replacen(target, &format!("{target}{with}"), 1);
    vec![
        ("a comment in the address", cut("<!---->"), "comments"),
        (
            "a section in the address",
            cut("<![CDATA[]]>"),
            "comments, CDATA sections or processing instructions",
        ),
        (
            "an instruction in the address",
            cut("<?a?>"),
            "comments, CDATA sections or processing instructions",
        ),
    ]
}

/// Returns responses with a document type, which a naive parser would process.
pub(crate) fn entities(signed: &str) -> Vec<Attack> {
    let with = |declarations: &str| {
        let document = without_declaration(signed).replace("Lovelace", "&a;");
        format!("<?xml version=\"1.0\"?><!DOCTYPE a [{declarations}]>{document}")
    };
    let laughs: String =
        (1..10).map(|n| format!("<!ENTITY a{n} \"{}\">", format!("&a{};", n - 1).repeat(10))).collect();
    let said = "a document type";
    vec![
        ("an external entity", with("<!ENTITY a SYSTEM \"file:///etc/passwd\">"), said),
        ("an external entity of the web", with("<!ENTITY a SYSTEM \"http://127.0.0.1/\">"), said),
        ("a parameter entity", with("<!ENTITY % a SYSTEM \"http://127.0.0.1/a.dtd\"> %a;"), said),
        ("billion laughs", with(&format!("<!ENTITY a0 \"ha\">{laughs}<!ENTITY a \"&a9;\">")), said),
        ("quadratic blowup", with(&format!("<!ENTITY a \"{}\">", "a".repeat(50_000))), said),
        ("an entity of nobody", signed.replace("Lovelace", "&a;"), "it is not XML"),
    ]
}
