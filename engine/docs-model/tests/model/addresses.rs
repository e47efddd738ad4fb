//! Tests of URL validation, normalization and redaction.

use docs_model::{ProxyOrigin, RedirectSource, SiteHostname, Url, redact_credentials, web_url::web_url};
use proptest::prelude::*;

#[test]
fn url_must_be_http_or_https_with_a_valid_host() {
    for right in [
        "https://example.com",
        "HTTP://Example.com/a?b#c",
        "https://bücher.example/ä",
        "http://[::1]:8080/",
        "http://localhost:4000",
    ] {
        assert!(Url::new(right).is_ok(), "{right}");
    }
    for wrong in [
        "example.com",
        "//example.com",
        "ftp://example.com",
        "https://",
        "https://?x",
        "https:///example.com",
        "https://a b",
        "https://example.com/a b",
        "https://[::1",
        "https://example.com:port/",
        "https://user:pa/ss@example.com/",
    ] {
        assert!(Url::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn equivalent_urls_are_normalized() {
    for (text, expected) in [
        ("HTTPS://Docs.Example:443/A", "https://docs.example/A"),
        ("http://docs.example:80", "http://docs.example/"),
        ("http://docs.example:443/", "http://docs.example:443/"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://[0:0::1]:8443/", "https://[::1]:8443/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("https://a.example/x/../y", "https://a.example/y"),
    ] {
        assert_eq!(web_url(text).map(String::from).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn malformed_and_non_http_urls_are_rejected() {
    for text in [
        "",
        "docs.example",
        "//docs.example/",
        "https:docs.example",
        "https:/docs.example",
        "https:///docs.example",
        "https://\\docs.example",
        "https:\\\\docs.example",
        " https://docs.example",
        "https://docs.example\n",
        "https://docs\t.example",
        "https://",
        "https://?x",
        "https://a b/",
        "https://a.example:99999/",
        "https://[::1/",
        "https://user:pa/ss@host/x",
        "javascript:https://x",
        "mailto:a@b.example",
        "ftp://a.example/",
        "x:https://a.example",
    ] {
        assert_eq!(web_url(text), None, "{text:?}");
    }
}

#[test]
fn site_hostname_has_at_least_three_valid_labels() {
    let long = |n: usize| "a".repeat(n);
    for right in
        ["docs.engines.example", "a.b.cd", "a-b.c-d.e-f", "1.2.34", &format!("{0}.{0}.{0}", long(63))]
    {
        assert!(SiteHostname::new(right).is_ok(), "{right}");
    }
    for wrong in [
        "engines.example",
        "docs.engines.e",
        "Docs.engines.example",
        "-a.engines.example",
        "a-.engines.example",
        "docs..example",
        ".docs.example",
        "docs.example.",
        "docs.engines.example:443",
        "docs.engines.example/x",
        "döcs.engines.example",
        &format!("{}.b.cd", long(64)),
        &format!("{0}.{0}.{0}.{0}.{0}.{0}.{0}.{0}.cd", long(63)),
    ] {
        assert!(SiteHostname::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_proxy_origin_is_a_host_with_a_path() {
    for right in ["example.com/docs", "a.b-c.example.org/x/y_z"] {
        assert!(ProxyOrigin::new(right).is_ok(), "{right}");
    }
    for wrong in
        ["example.com", "example.com/", "https://example.com/docs", "example.c/docs", "localhost/docs"]
    {
        assert!(ProxyOrigin::new(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn redirect_source_is_a_path_of_segments() {
    for right in ["/a", "/a/b-c.d_e~f", "/%20", "/A/%c3%A4"] {
        assert!(RedirectSource::new(right).is_ok(), "{right}");
    }
    for wrong in ["", "/", "a", "/a/", "//a", "/a//b", "/a b", "/ä", "/%2", "/%", "/%zz", "/a?b", "/a#b"] {
        assert!(RedirectSource::new(wrong).is_err(), "{wrong}");
    }
    assert!(RedirectSource::new(format!("/{}", "a".repeat(511))).is_ok());
    assert!(RedirectSource::new(format!("/{}", "a".repeat(512))).is_err());
}

#[test]
fn redirect_sources_normalize_case_and_percent_encoding() {
    for (source, normal) in [
        ("/Old/Page", "/old/page"),
        ("/%6Fld/%50age", "/old/page"),
        ("/a%2Fb", "/a%2fb"),
        ("/%C3%84", "/%c3%84"),
        ("/a%2e%7E", "/a.~"),
    ] {
        assert_eq!(RedirectSource::new(source).expect(source).normalized(), normal);
    }
}

#[test]
fn credentials_in_urls_are_redacted() {
    for (text, expected) in [
        ("", ""),
        ("no address", "no address"),
        ("https://host/a", "https://host/a"),
        ("https://me@host/a", "https://…@host/a"),
        ("https://me:s3cret@host/a: gone", "https://…@host/a: gone"),
        ("a git://x:y@h and `http://p:q@[::1]:80/`", "a git://…@h and `http://…@[::1]:80/`"),
        ("https://me@mail.example:pw@host", "https://…@host"),
        ("https://@host/", "https://@host/"),
        ("mail me@host.example", "mail me@host.example"),
        ("https://host/path@x?y=a@b", "https://host/path@x?y=a@b"),
        ("proxy=http://a:b@c/https://d:e@f/", "proxy=http://…@c/https://…@f/"),
        ("HTTPS://ME:PW@HOST", "HTTPS://…@HOST"),
        ("https://ä:ö@ü/", "https://…@ü/"),
    ] {
        assert_eq!(redact_credentials(text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn redaction_removes_passwords_and_is_idempotent(
        before in "[ a-z`\"]{0,20}", scheme in "(https?|git|ftp)", user in "[a-zA-Z0-9.%@:+]{0,8}",
        after in "[/?# ][ -~]{0,20}",
    ) {
        let text = format!("{before}{scheme}://{user}:S-E-C-R-E-T@host.example{after}");
        let shown = redact_credentials(&text).into_owned();
        prop_assert!(!shown.contains("S-E-C-R-E-T"), "{}", shown);
        prop_assert!(shown.contains("@host.example"), "{}", shown);
        prop_assert_eq!(redact_credentials(&shown), shown.as_str(), "what is redacted stays as it is");
    }

    #[test]
    fn redaction_adds_at_most_three_bytes_per_url(text in any::<String>()) {
        prop_assert!(redact_credentials(&text).len() <= text.len() + 3 * text.matches("://").count());
    }
}
