//! Accepted responses.

use docs_ports::{Saml as _, SamlTrust};
use docs_saml::XmlSaml;

use crate::idp::{
    EMAIL, HERE, Parts, REQUEST, Scheme, at, certificate, now, refused, sign, trust, verify, verify_with,
};

#[test]
fn signed_assertion_yields_the_identity() {
    let identity = verify(&Parts::default().signed()).expect("it is right");
    assert_eq!((identity.email.as_str(), identity.assertion.as_str()), (EMAIL, "_a"));
    assert_eq!(identity.first_name.as_deref(), Some("Ada & Ärger"));
    assert_eq!(identity.last_name.as_deref(), Some("Lovelace"));
    assert_eq!(identity.in_response_to.as_deref(), Some(REQUEST));
    // One minute of clock skew is added to the validity, but not to the session.
    assert_eq!((identity.until.time() - now()).num_seconds(), 360);
    assert_eq!(identity.session_until.map(|until| (until.time() - now()).num_seconds()), Some(3_600));
}

#[test]
fn signature_of_the_response_or_of_both_levels_is_accepted() {
    let parts = Parts::default();
    let whole = parts.around("_r", &parts.assertion("_a").replace(HERE, ""));
    assert_eq!(verify(&sign(&whole, "_r", &Scheme::default())).expect("it is right").email, EMAIL);
    let both = parts.around("_r", &parts.signed_assertion());
    assert_eq!(verify(&sign(&both, "_r", &Scheme::default())).expect("it is right").email, EMAIL);
}

#[test]
fn ecdsa_keys_and_certificates_without_pem_are_accepted() {
    let curve = Scheme {
        key: "curve",
        signature: "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256".to_owned(),
        ..Scheme::default()
    };
    let parts = Parts::default();
    let response = parts.around("_r", &sign(&parts.assertion("_a"), "_a", &curve)).replace(HERE, "");
    assert_eq!(verify_with(&trust("curve"), &response).expect("it is right").email, EMAIL);
    let plain: String = certificate("provider").lines().filter(|line| !line.contains("---")).collect();
    let plain = SamlTrust { certificate: plain, ..trust("provider") };
    assert_eq!(verify_with(&plain, &parts.signed()).expect("it is right").email, EMAIL);
}

#[test]
fn algorithms_verify_with_all_digests_and_matching_keys_only() {
    let keys = ["provider", "curve", "curve384"];
    for (key, signature) in [
        ("provider", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"),
        ("provider", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha384"),
        ("provider", "http://www.w3.org/2001/04/xmldsig-more#rsa-sha512"),
        ("provider", "http://www.w3.org/2007/05/xmldsig-more#sha256-rsa-MGF1"),
        ("curve", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"),
        ("curve384", "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384"),
    ] {
        for digest in [
            "http://www.w3.org/2001/04/xmlenc#sha256",
            "http://www.w3.org/2001/04/xmldsig-more#sha384",
            "http://www.w3.org/2001/04/xmlenc#sha512",
        ] {
            let (parts, own) = (Parts::default(), Scheme::default());
            let scheme = Scheme { key, signature: signature.to_owned(), digest: digest.to_owned(), ..own };
            let signed = sign(&parts.assertion("_a"), "_a", &scheme);
            let response = parts.around("_r", &signed).replace(HERE, "");
            let identity = verify_with(&trust(key), &response);
            assert_eq!(identity.expect(signature).email, EMAIL, "{signature} {digest}");
            for other in keys.into_iter().filter(|other| *other != key) {
                let why = verify_with(&trust(other), &response).expect_err(other);
                assert!(why.contains("does not match the key"), "{signature} and {other}: {why}");
            }
        }
    }
}

#[test]
fn name_id_format_is_email_unspecified_or_absent() {
    let of = |format: &str| Parts {
        name: format!("<saml:NameID{format}>{EMAIL}</saml:NameID>"),
        ..Parts::default()
    };
    let named = |name: &str| format!(" Format=\"urn:oasis:names:tc:SAML:{name}\"");
    let unspecified = named("1.1:nameid-format:unspecified");
    for format in [named("1.1:nameid-format:emailAddress"), unspecified, String::new()] {
        assert_eq!(verify(&of(&format).signed()).expect(&format).email, EMAIL);
    }
    for format in [
        named("2.0:nameid-format:persistent"),
        named("2.0:nameid-format:transient"),
        named("2.0:nameid-format:unspecified"),
        named("1.1:nameid-format:X509SubjectName"),
        " Format=\"\"".to_owned(),
    ] {
        refused(&format, &of(&format).signed(), "must be emailAddress");
    }
}

#[test]
fn optional_response_fields_may_be_missing() {
    let parts = Parts {
        answers: None,
        name: "<saml:NameID> Ada@Example.com\n</saml:NameID>".to_owned(),
        confirmation: crate::idp::confirmation(crate::idp::RECIPIENT, "", &at(300)),
        statements: format!("<saml:AuthnStatement AuthnInstant=\"{}\"/>", at(-5)),
        ..Parts::default()
    };
    let identity = verify(&parts.signed()).expect("it is right");
    assert_eq!((identity.email.as_str(), identity.in_response_to), ("Ada@Example.com", None));
    assert_eq!((identity.first_name, identity.session_until), (None, None));
}

/// Created by xmlsec1, an independent implementation of canonical XML, with the test key and certificate.
#[test]
fn responses_signed_by_xmlsec_are_verified() {
    for (name, text) in [
        ("assertion", include_str!("signed/assertion.xml")),
        ("response", include_str!("signed/response.xml")),
        ("prefixes", include_str!("signed/prefixes.xml")),
    ] {
        let identity = verify(text).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(identity.email, "ada@example.com", "{name}");
        assert_eq!(identity.last_name.as_deref(), Some("Lovelace\t\"ä\" <&> \u{1d4b6}"), "{name}");
        let changed = text.replace("ada@example.com", "eve@example.com");
        assert_eq!(verify(&changed).expect_err(name), "it was changed after it was signed");
    }
}

#[test]
fn single_leading_byte_order_mark_is_ignored() {
    let signed = Parts::default().signed();
    assert_eq!(verify(&format!("\u{feff}{signed}")).expect("it is right").email, EMAIL);
    refused("two of them", &format!("\u{feff}\u{feff}{signed}"), "");
    refused("one behind the declaration", &signed.replacen("?>\n", "?>\n\u{feff}", 1), "it is not XML");
}

#[test]
fn base64_with_line_breaks_is_accepted() {
    let encoded = data_encoding::BASE64.encode(Parts::default().signed().as_bytes());
    let lines: Vec<String> =
        encoded.as_bytes().chunks(76).map(|line| String::from_utf8_lossy(line).into_owned()).collect();
    let identity =
        XmlSaml.verify(&trust("provider"), &lines.join("\r\n"), now().into()).expect("it is right");
    assert_eq!(identity.email, EMAIL);
}
