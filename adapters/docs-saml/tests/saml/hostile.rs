//! Resource exhaustion attacks: each is rejected quickly and with little memory.

use std::time::{Duration, Instant};

use data_encoding::BASE64;
use docs_ports::Saml as _;
use docs_saml::{MAX_RESPONSE_BYTES, XmlSaml};
use flate2::{Compression, write::DeflateEncoder};
use proptest::prelude::*;

use crate::{
    attacks::entities,
    idp::{ENVELOPED, EXCLUSIVE, HERE, Parts, Scheme, now, refused, sign, trust, verify},
};

#[test]
fn document_types_and_entities_are_refused() {
    for (what, xml, said) in entities(&Parts::default().signed()) {
        refused(what, &xml, said);
    }
}

#[test]
fn response_above_size_or_structure_limits_is_refused() {
    let padded = |bytes: usize| {
        let signed = Parts::default().around("_r", "").replace(HERE, "");
        signed.replace("</samlp:Response>", &format!("{}</samlp:Response>", " ".repeat(bytes)))
    };
    refused("ten megabytes", &padded(10 << 20), "at most 262144 bytes");
    refused("a little too much", &padded(MAX_RESPONSE_BYTES), "at most 262144 bytes");
    refused("much, and allowed", &padded(MAX_RESPONSE_BYTES - 2_000), "no assertion");
    refused("depth", &format!("{}{}", "<a>".repeat(20_000), "</a>".repeat(20_000)), "levels");
    refused("breadth", &format!("<a>{}</a>", "<a/>".repeat(50_000)), "at most 4000 elements");
    refused(
        "attributes",
        &format!("<a {}/>", (0..9_000).map(|n| format!("a{n}='' ")).collect::<String>()),
        "attributes",
    );
    refused("namespaces", &format!("<a>{}</a>", "<a xmlns:b='c'/>".repeat(3_000)), "namespaces");
}

#[test]
fn deflated_response_is_refused_without_inflating() {
    use std::io::Write as _;
    let mut bomb = DeflateEncoder::new(Vec::new(), Compression::best());
    bomb.write_all(&vec![b' '; 100 << 20]).expect("written");
    let bomb = BASE64.encode(&bomb.finish().expect("written"));
    let began = Instant::now();
    let said = XmlSaml.verify(&trust("provider"), &bomb, now().into()).expect_err("it is not XML");
    assert_eq!(said.to_string(), "it is not XML in UTF-8", "the bytes are read as they came");
    assert!(began.elapsed() < Duration::from_secs(5), "nothing was inflated");
}

/// The most expensive canonicalization within the limits: a prefix list retains namespaces that are in scope of many
/// elements. The document is modified after signing, which is detected only after both canonicalizations.
#[test]
fn canonicalization_accepts_its_bound_and_refuses_more() {
    let heavy = |prefixes: usize, namespaces: usize, uri: usize| {
        let declared: String =
            (0..namespaces).map(|n| format!(" xmlns:n{n:02}=\"{}\"", "u".repeat(uri))).collect();
        let elements: String = (0..3_900).map(|n| format!("<n{:02}:a/>", n % namespaces)).collect();
        let list: Vec<String> = (0..prefixes).map(|n| format!("n{n:02}")).collect();
        let more = format!("<saml:Advice{declared}>{elements}</saml:Advice>");
        let told =
            format!("<ec:InclusiveNamespaces xmlns:ec=\"{EXCLUSIVE}\" PrefixList=\"{}\"/>", list.join(" "));
        let scheme = Scheme {
            transforms: format!(
                "<ds:Transform Algorithm=\"{ENVELOPED}\"/><ds:Transform Algorithm=\"{EXCLUSIVE}\">{told}</ds:Transform>"
            ),
            ..Scheme::default()
        };
        let own = Parts::default();
        let parts = Parts { statements: format!("{more}{}", own.statements), ..own };
        parts.around("_r", &sign(&parts.assertion("_a"), "_a", &scheme)).replace(HERE, "")
    };
    refused("the most", &heavy(16, 28, 30), "it was changed after it was signed");
    refused("long URIs", &heavy(16, 28, 230), "its canonical form is too long");
    refused("prefixes", &heavy(17, 28, 230), "at most 16 prefixes");
    refused("namespaces", &heavy(16, 31, 230), "at most 32 namespaces in scope");
    refused("a long URI", &heavy(16, 28, 256), "a namespace declaration must be at most 256 bytes");
}

#[test]
fn invalid_xml_or_base64_is_refused() {
    for (response, said) in
        [("", "it is not XML"), ("ä", "not valid base64"), ("%%%%", "not valid base64"), ("/w==", "UTF-8")]
    {
        let refused = XmlSaml.verify(&trust("provider"), response, now().into()).expect_err(response);
        assert!(refused.to_string().contains(said), "{response}: {refused}");
    }
    for xml in ["<", "<a", "<a>", "<a></b>", "a", "<a/><b/>", "<a b=c/>", "<a:b/>", "\0", "<a>&#0;</a>"] {
        refused(xml, xml, "");
    }
}

#[test]
fn encrypted_assertion_is_refused_with_its_own_message() {
    let encrypted = Parts::default().around("_r", "<saml:EncryptedAssertion/>").replace(HERE, "");
    refused("encrypted", &encrypted, "turn off encryption at the provider");
}

/// Applies mutations to text, which stays valid UTF-8.
fn mutated(text: &str, edits: &[(usize, u8, usize)]) -> String {
    /// Fragments that are difficult to parse.
    const PIECES: [&str; 24] = [
        "<",
        ">",
        "/",
        "\"",
        "'",
        "&",
        "&#x41;",
        "&lt;",
        "=",
        " ",
        "\0",
        "<!--",
        "-->",
        "<![CDATA[",
        "]]>",
        "<?",
        "?>",
        "<!DOCTYPE",
        "xmlns:a='b'",
        "ID=\"_a\"",
        "</saml:Assertion>",
        "<saml:Assertion>",
        "ä",
        "{",
    ];
    let mut text: Vec<char> = text.chars().collect();
    for (at, kind, length) in edits {
        let at = at % (text.len() + 1);
        let end = (at + length).min(text.len());
        match kind % 4 {
            0 => drop(text.drain(at..end)),
            1 => {
                let piece: Vec<char> = text[at..end].to_vec();
                let to = (at * 7 + length) % (text.len() + 1);
                text.splice(to..to, piece);
            }
            _ => drop(text.splice(at..at, PIECES[(*kind as usize + length) % PIECES.len()].chars())),
        }
    }
    text.into_iter().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// A mutated response is rejected, or yields the signed data.
    #[test]
    fn mutated_response_is_refused_or_yields_the_signed_data(
        edits in prop::collection::vec((any::<usize>(), any::<u8>(), 0_usize..200), 1..6),
    ) {
        let xml = mutated(&Parts::default().signed(), &edits);
        if let Ok(identity) = verify(&xml) {
            prop_assert_eq!(identity.email, "ada@example.com");
            prop_assert_eq!(identity.assertion, "_a");
        }
    }

    #[test]
    fn any_text_is_refused(text in "\\PC{0,200}") {
        prop_assert!(verify(&text).is_err());
    }
}
