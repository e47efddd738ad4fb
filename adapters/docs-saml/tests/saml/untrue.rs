//! Responses that are not signed by the provider, not intended for this service, or not valid now.

use docs_ports::{Saml as _, SamlTrust};
use docs_saml::XmlSaml;

use crate::idp::{
    AUDIENCE, HERE, Parts, RECIPIENT, REQUEST, Scheme, at, certificate, conditions, confirmation, now,
    refused, sign, trust, verify, verify_with,
};

#[test]
fn response_without_a_valid_provider_signature_is_refused() {
    let parts = Parts::default();
    let unsigned = parts.around("_r", &parts.assertion("_a")).replace(HERE, "");
    refused("unsigned", &unsigned, "it is not signed");
    let with = |scheme: Scheme| {
        parts
            .around("_r", "{assertion}")
            .replace(HERE, "")
            .replace("{assertion}", &sign(&parts.assertion("_a"), "_a", &scheme))
    };
    refused(
        "another key",
        &with(Scheme { key: "other", ..Scheme::default() }),
        "does not verify with the key",
    );
    let of = |signature: &str| Scheme { signature: signature.to_owned(), ..Scheme::default() };
    for weak in [
        "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
        "http://www.w3.org/2000/09/xmldsig#hmac-sha1",
        "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256",
        "http://www.w3.org/2001/04/xmldsig-more#rsa-md5",
        "none",
        "",
    ] {
        refused(weak, &with(of(weak)), "signature algorithm is not supported");
    }
    let other = of("http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256");
    refused("a signature of another kind", &with(other), "does not match the key");
    for weak in
        ["http://www.w3.org/2000/09/xmldsig#sha1", "http://www.w3.org/2001/04/xmldsig-more#md5", "none"]
    {
        refused(
            weak,
            &with(Scheme { digest: weak.to_owned(), ..Scheme::default() }),
            "digest algorithm is not supported",
        );
    }
    let signed = parts.signed();
    refused("changed", &signed.replace("ada@", "eve@"), "changed after it was signed");
    let info = signed.replace("Id=\"signed-_a", "Id=\"signed-_b");
    refused("a changed SignedInfo", &info, "does not verify with the key");
    let empty = signed.split("<ds:SignatureValue>").collect::<Vec<_>>();
    let empty = format!(
        "{}<ds:SignatureValue></ds:SignatureValue>{}",
        empty[0],
        empty[1].split_once("</ds:SignatureValue>").expect("its end").1
    );
    refused("an empty signature", &empty, "does not verify with the key");
}

#[test]
fn key_embedded_in_the_response_is_ignored() {
    let parts = Parts::default();
    let own: String = certificate("other").lines().filter(|line| !line.contains("---")).collect();
    let more = format!(
        "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{own}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
    );
    let scheme = Scheme { key: "other", more, ..Scheme::default() };
    let forged = parts.around("_r", &sign(&parts.assertion("_a"), "_a", &scheme)).replace(HERE, "");
    refused("a key that it brings along", &forged, "does not verify with the key");
}

#[test]
fn weak_or_unsupported_certificates_are_refused() {
    let signed = Parts::default().signed();
    for (name, said) in [
        ("weak", "at least 2048"),
        ("short", "at least 2048"),
        ("long", "at most 8192"),
        ("edwards", "must be RSA"),
    ] {
        assert!(verify_with(&trust(name), &signed).expect_err(name).contains(said), "{name}");
    }
    let garbage = SamlTrust { certificate: "MAQwAgUA".to_owned(), ..trust("provider") };
    assert!(verify_with(&garbage, &signed).expect_err("garbage").contains("is not readable"));
    for (name, is_taken) in [
        ("provider", true),
        ("curve", true),
        ("curve384", true),
        ("weak", false),
        ("short", false),
        ("long", false),
        ("edwards", false),
    ] {
        let certificate = trust(name).certificate;
        assert_eq!(XmlSaml.check_certificate(&certificate).is_ok(), is_taken, "{name}");
    }
    assert!(XmlSaml.check_certificate("MAQwAgUA").is_err());
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a refusal")]
fn assertion_for_another_service_or_provider_is_refused() {
    let parts = Parts::default();
    for (what, parts, said) in [
        (
            "another audience",
            Parts { conditions: conditions(&at(-60), &at(60), "https://other.example"), ..parts.clone() },
            "its Audience is `https://other.example`",
        ),
        (
            "an audience that begins alike",
            Parts { conditions: conditions(&at(-60), &at(60), &format!("{AUDIENCE}0")), ..parts.clone() },
            "its Audience is",
        ),
        (
            "no audience",
            Parts { conditions: "<saml:Conditions/>".to_owned(), ..parts.clone() },
            "has no Audience",
        ),
        ("no conditions", Parts { conditions: String::new(), ..parts.clone() }, "has no Conditions"),
        (
            "an unknown condition",
            Parts {
                conditions: parts.conditions.replace("</saml:Conditions>", "<saml:Condition/></saml:Conditions>"),
                ..parts.clone()
            },
            "its condition `Condition` is not supported",
        ),
        (
            "another recipient",
            Parts {
                confirmation: confirmation("https://other.example/acs", &format!("InResponseTo=\"{REQUEST}\""), &at(60)),
                ..parts.clone()
            },
            "its Recipient is `https://other.example/acs`",
        ),
        (
            "another destination",
            Parts { destination: "Destination=\"https://other.example/acs\"".to_owned(), ..parts.clone() },
            "its Destination must be",
        ),
        ("no destination", Parts { destination: String::new(), ..parts.clone() }, "has no Destination"),
        (
            "another request",
            Parts { answers: Some("_other".to_owned()), ..parts.clone() },
            "the InResponseTo of the response and of its assertion differ",
        ),
        (
            "a request in the assertion only",
            Parts { answers: None, ..parts.clone() },
            "the InResponseTo of the response and of its assertion differ",
        ),
        (
            "a request in the response only",
            Parts { confirmation: confirmation(RECIPIENT, "", &at(60)), ..parts.clone() },
            "the InResponseTo of the response and of its assertion differ",
        ),
        ("another issuer", Parts { issuer: "https://evil.example".to_owned(), ..parts.clone() }, "its Issuer must be"),
        (
            "a holder of a key",
            Parts { confirmation: parts.confirmation.replace("cm:bearer", "cm:holder-of-key"), ..parts.clone() },
            "has no bearer confirmation",
        ),
        ("nobody confirmed", Parts { confirmation: String::new(), ..parts.clone() }, "no bearer confirmation"),
        ("nobody signed in", Parts { statements: String::new(), ..parts.clone() }, "AuthnStatement"),
        ("no name", Parts { name: String::new(), ..parts.clone() }, "has no NameID"),
        (
            "a name that is not an address",
            Parts {
                name: "<saml:NameID Format=\"urn:oasis:names:tc:SAML:2.0:nameid-format:persistent\">a@b.c</saml:NameID>"
                    .to_owned(),
                ..parts.clone()
            },
            "must be emailAddress",
        ),
        (
            "two names",
            Parts { name: parts.name.repeat(2), ..parts.clone() },
            "more than one NameID",
        ),
    ] {
        refused(what, &parts.signed(), said);
    }
}

#[test]
fn expired_or_early_response_is_refused_beyond_clock_skew() {
    let answers = format!("InResponseTo=\"{REQUEST}\"");
    let valid = |from: i64, until: i64| Parts {
        conditions: conditions(&at(from), &at(until), AUDIENCE),
        ..Parts::default()
    };
    let confirmed = |until: i64| Parts {
        confirmation: confirmation(RECIPIENT, &answers, &at(until)),
        ..Parts::default()
    };
    for within in [valid(60, 300), valid(-300, -59), confirmed(-59)] {
        assert!(verify(&within.signed()).is_ok(), "clocks may differ");
    }
    refused("expired", &valid(-300, -60).signed(), "it has expired: its NotOnOrAfter is");
    refused("confirmed too long ago", &confirmed(-60).signed(), "it has expired");
    refused("not yet valid", &valid(61, 300).signed(), "it is not valid yet: its NotBefore is");
    let early = confirmation(RECIPIENT, &format!("{answers} NotBefore=\"{}\"", at(61)), &at(300));
    refused(
        "confirmed too early",
        &Parts { confirmation: early, ..Parts::default() }.signed(),
        "not valid yet",
    );
    let open = confirmation(RECIPIENT, &answers, "").replace(" NotOnOrAfter=\"\"", "");
    refused("for ever", &Parts { confirmation: open, ..Parts::default() }.signed(), "no NotOnOrAfter");
    let odd = confirmation(RECIPIENT, &answers, "tomorrow");
    refused("no time", &Parts { confirmation: odd, ..Parts::default() }.signed(), "is not a valid time");
    let over = format!("<saml:AuthnStatement AuthnInstant=\"{0}\" SessionNotOnOrAfter=\"{0}\"/>", at(-3_600));
    let over = Parts { statements: over, ..Parts::default() };
    refused("a session that is over", &over.signed(), "the session at the provider has ended");
    let just = Parts { statements: over.statements.replace(&at(-3_600), &at(0)), ..Parts::default() };
    refused("a session that ends now", &just.signed(), "the session at the provider has ended");
}

#[test]
fn response_valid_for_over_a_day_is_refused_unlike_a_session() {
    const DAY: i64 = 86_400;
    let answers = format!("InResponseTo=\"{REQUEST}\"");
    let valid = |until: &str| Parts { conditions: conditions(&at(-60), until, AUDIENCE), ..Parts::default() };
    let confirmed =
        |until: &str| Parts { confirmation: confirmation(RECIPIENT, &answers, until), ..Parts::default() };
    let until_day = |parts: Parts| verify(&parts.signed()).expect("a day").until.time();
    assert_eq!((until_day(valid(&at(DAY))) - now()).num_seconds(), 360, "what is confirmed is less");
    let whole = Parts { conditions: valid(&at(DAY)).conditions, ..confirmed(&at(DAY)) };
    assert_eq!((until_day(whole) - now()).num_seconds(), DAY + 60);
    for far in
        [at(DAY + 1).as_str(), "2099-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "9999-12-31T23:59:59-23:59"]
    {
        refused(far, &valid(far).signed(), "its validity is too long: its NotOnOrAfter");
        refused(far, &confirmed(far).signed(), "its validity is too long: its NotOnOrAfter");
        let session =
            format!("<saml:AuthnStatement AuthnInstant=\"{}\" SessionNotOnOrAfter=\"{far}\"/>", at(-5));
        let session = Parts { statements: session, ..Parts::default() };
        let identity = verify(&session.signed()).expect("a session has its own longest time");
        assert!(identity.session_until.is_some_and(|until| until.time() > now()), "{far}");
    }
    let made = |instant: &str| {
        let assertion = Parts::default().assertion("_a").replacen(&at(-5), instant, 1);
        Parts::default().around("_r", &sign(&assertion, "_a", &Scheme::default())).replace(HERE, "")
    };
    for within in [at(-DAY), at(DAY)] {
        assert!(verify(&made(&within)).is_ok(), "{within}");
    }
    for beyond in
        [at(-DAY - 1), at(DAY + 1), "0001-01-01T00:00:00Z".to_owned(), "9999-12-31T23:59:59Z".to_owned()]
    {
        refused(&beyond, &made(&beyond), "its IssueInstant is");
    }
    let none = Parts::default().assertion("_a").replacen(&format!("IssueInstant=\"{}\"", at(-5)), "", 1);
    let none = Parts::default().around("_r", &sign(&none, "_a", &Scheme::default())).replace(HERE, "");
    refused("no time of issue", &none, "its assertion has no IssueInstant");
}

#[test]
fn multiple_bearer_confirmations_are_refused() {
    let answers = format!("InResponseTo=\"{REQUEST}\"");
    let (early, late) =
        (confirmation(RECIPIENT, &answers, &at(60)), confirmation(RECIPIENT, &answers, &at(3_600)));
    for both in [format!("{early}{late}"), format!("{late}{early}")] {
        let parts = Parts { confirmation: both, ..Parts::default() };
        refused("two", &parts.signed(), "more than one bearer confirmation");
    }
    let holder = early.replace("cm:bearer", "cm:holder-of-key");
    let parts = Parts { confirmation: format!("{holder}{late}"), ..Parts::default() };
    assert!(verify(&parts.signed()).is_ok(), "the other is not for the bearer");
}

#[test]
fn refusal_of_the_provider_is_reported_by_status_code_only() {
    let failed = |outer: &str, inner: &str, message: &str| Parts {
        status: format!(
            "<samlp:Status><samlp:StatusCode Value=\"{outer}\"><samlp:StatusCode Value=\"{inner}\"/>\
             </samlp:StatusCode><samlp:StatusMessage>{message}</samlp:StatusMessage></samlp:Status>"
        ),
        ..Parts::default()
    };
    let urn = |name: &str| format!("urn:oasis:names:tc:SAML:2.0:status:{name}");
    let call = "Call +1 900 555 0100 to sign in";
    for (parts, said) in [
        (
            failed(&urn("Responder"), &urn("AuthnFailed"), call),
            "the provider rejected the sign-in: Responder, AuthnFailed; its log",
        ),
        (failed(&urn("Requester"), call, ""), "the provider rejected the sign-in: Requester; its log"),
        (failed(&urn(call), call, call), "the provider rejected the sign-in; its log"),
    ] {
        for xml in [parts.around("_r", "").replace(HERE, ""), parts.signed()] {
            refused("a failure", &xml, said);
            assert!(!verify(&xml).expect_err(said).contains("900"), "nobody signed it");
        }
    }
    for unsigned in [
        Parts { destination: format!("Destination=\"{call}\""), ..Parts::default() },
        Parts { issuer: call.to_owned(), ..Parts::default() },
    ] {
        let why =
            verify(&unsigned.around("_r", "<saml:Assertion/>").replace(HERE, "")).expect_err("unsigned");
        assert!(why.contains("its Destination must be") || why.contains("its Issuer must be"), "{why}");
        assert!(!why.contains("900"), "{why}");
    }
    assert_eq!(verify("<a></call-me>").expect_err("no XML"), "it is not XML (line 1, column 4)");
}
