//! Known SSRF techniques. Each is a named case that must be refused.

use super::*;

/// Internal addresses in notations that attackers use. `PORT` is replaced by the port of a server on the loopback
/// interface.
const ADDRESSES: [(&str, &str); 62] = [
    ("plain", "http://127.0.0.1:PORT/"),
    ("another address of loopback", "http://127.8.9.10:PORT/"),
    ("one decimal number", "http://2130706433:PORT/"),
    ("one octal number", "http://017700000001:PORT/"),
    ("one hexadecimal number", "http://0x7f000001:PORT/"),
    ("octal parts", "http://0177.0.0.01:PORT/"),
    ("hexadecimal parts", "http://0x7f.0x0.0x0.0x1:PORT/"),
    ("parts of several bases", "http://0x7f.0.00.1:PORT/"),
    ("two parts", "http://127.1:PORT/"),
    ("three parts", "http://127.0.1:PORT/"),
    ("zero", "http://0:PORT/"),
    ("the address of none", "http://0.0.0.0:PORT/"),
    ("a dot at the end", "http://127.0.0.1.:PORT/"),
    ("percent-encoded", "http://%31%32%37.%30.0.1:PORT/"),
    ("wide digits", "http://\u{ff11}\u{ff12}\u{ff17}.0.0.1:PORT/"),
    ("digits in circles", "http://\u{2460}\u{2461}\u{2466}.0.0.1:PORT/"),
    ("wide dots", "http://127\u{3002}0\u{3002}0\u{3002}1:PORT/"),
    ("private, 10", "http://10.0.0.1/"),
    ("private, 172.16", "http://172.31.255.254/"),
    ("private, 192.168", "http://192.168.0.1/"),
    ("private, as a number", "http://3232235521/"),
    ("shared by a provider", "http://100.64.0.1/"),
    ("link-local", "http://169.254.1.1/"),
    ("metadata of a cloud", "http://169.254.169.254/latest/meta-data/"),
    ("metadata as a number", "http://2852039166/"),
    ("metadata, hexadecimal", "http://0xa9fea9fe/"),
    ("metadata, another cloud", "http://100.100.100.200/"),
    ("metadata, a third cloud", "http://168.63.129.16/"),
    ("metadata over IPv6", "http://[fd00:ec2::254]/"),
    ("many receivers", "http://224.0.0.1/"),
    ("everybody", "http://255.255.255.255/"),
    ("for benchmarks", "http://198.18.0.1/"),
    ("for examples", "http://192.0.2.1/"),
    ("reserved", "http://240.0.0.1/"),
    ("IPv6 loopback", "http://[::1]:PORT/"),
    ("IPv6 loopback in full", "http://[0:0:0:0:0:0:0:1]:PORT/"),
    ("IPv6 none", "http://[::]:PORT/"),
    ("IPv6 mapped", "http://[::ffff:127.0.0.1]:PORT/"),
    ("IPv6 mapped, hexadecimal", "http://[::ffff:7f00:1]:PORT/"),
    ("IPv6 mapped metadata", "http://[::ffff:a9fe:a9fe]/"),
    ("IPv6 of old, with IPv4 in it", "http://[::127.0.0.1]:PORT/"),
    ("IPv6 translated", "http://[64:ff9b::7f00:1]:PORT/"),
    ("IPv6 translated, local", "http://[64:ff9b:1::1]:PORT/"),
    ("IPv6 tunnel", "http://[2002:7f00:1::]:PORT/"),
    ("IPv6 tunnel of another kind", "http://[2001:0:1::1]/"),
    ("IPv6 private", "http://[fc00::1]/"),
    ("IPv6 link-local", "http://[fe80::1]/"),
    ("IPv6 link-local with a zone", "http://[fe80::1%25eth0]/"),
    ("IPv6 many receivers", "http://[ff02::1]/"),
    ("IPv6 site-local", "http://[fec0::1]/"),
    ("another host in front of an at sign", "http://example.com@127.0.0.1:PORT/"),
    ("another host and port in front of it", "http://example.com:80@127.0.0.1:PORT/"),
    ("two at signs", "http://a@example.com@127.0.0.1:PORT/"),
    ("another host behind a place", "http://127.0.0.1:PORT#@example.com/"),
    ("another host behind a question", "http://127.0.0.1:PORT?@example.com/"),
    ("another host behind a backslash", "http://127.0.0.1:PORT\\@example.com/"),
    ("slashes too many", "http:////127.0.0.1:PORT/"),
    ("slashes too few", "http:127.0.0.1:PORT/"),
    ("a tab within", "http://127.0\t.0.1:PORT/"),
    ("a line end within", "ht\ntp://127.0.0.1:PORT/"),
    ("spaces around", "  http://127.0.0.1:PORT/  "),
    ("letters of any case", "HtTp://127.0.0.1:PORT/"),
];

/// Names that resolve to internal addresses.
const NAMES: [(&str, &str); 17] = [
    ("the name of this machine", "localhost"),
    ("in capitals", "LOCALHOST"),
    ("with a dot at the end", "localhost."),
    ("loopback", "here.test"),
    ("loopback, with a dot at the end", "here.test."),
    ("loopback over IPv6", "loopback6.test"),
    ("the address of none", "any.test"),
    ("private", "inside.test"),
    ("private over IPv6", "inside6.test"),
    ("shared by a provider", "shared.test"),
    ("link-local", "link.test"),
    ("metadata", "metadata.test"),
    ("many receivers", "many.test"),
    ("mapped", "mapped.test"),
    ("translated", "translated.test"),
    ("tunnel", "tunnel.test"),
    ("wide letters", "\u{ff48}ere.test"),
];

/// Names that resolve both to public addresses and to an internal one.
const MIXED: [(&str, &str); 3] = [
    ("public first", "both.test"),
    ("public first, of both kinds", "behind.test"),
    ("inside first", "before.test"),
];

/// URLs with unsupported schemes.
const SCHEMES: [(&str, &str); 16] = [
    ("file", "file:///etc/passwd"),
    ("file with a host", "file://127.0.0.1/etc/passwd"),
    ("file in capitals", "FILE:///etc/passwd"),
    ("gopher", "gopher://127.0.0.1:PORT/_GET%20/"),
    ("ftp", "ftp://127.0.0.1:PORT/x"),
    ("sftp", "sftp://127.0.0.1:PORT/x"),
    ("dict", "dict://127.0.0.1:PORT/d:x"),
    ("ldap", "ldap://127.0.0.1:PORT/"),
    ("tftp", "tftp://127.0.0.1:PORT/x"),
    ("websocket", "ws://127.0.0.1:PORT/"),
    ("jar", "jar:http://127.0.0.1:PORT/x.jar!/"),
    ("data", "data:text/html,<p>x"),
    ("script", "javascript:alert(1)"),
    ("blob", "blob:http://127.0.0.1:PORT/x"),
    ("view-source", "view-source:http://127.0.0.1:PORT/"),
    ("without a scheme", "//127.0.0.1:PORT/"),
];

async fn inside() -> Server {
    Server::new(|_| ok("", "inside")).await
}

fn filled(url: &str, server: &Server) -> String {
    url.replace("PORT", &server.address.port().to_string())
}

/// Asserts that each URL is refused and that the server receives no request.
async fn refuses(cases: Vec<(&str, String)>, server: &Server) {
    for (name, url) in cases {
        let error = client(Outbound::Public).get(&url).await.expect_err(name);
        assert!(matches!(error, WebError::Refused(_)), "{name}: {url}: {error:?}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn internal_addresses_are_refused_in_every_spelling() {
    let server = inside().await;
    let cases = ADDRESSES.iter().flat_map(|(name, url)| {
        let url = filled(url, &server);
        [(*name, url.clone()), (*name, url.replacen("http:", "https:", 1))]
    });
    refuses(cases.collect(), &server).await;
}

#[tokio::test]
async fn names_resolving_to_non_public_addresses_are_refused() {
    let server = inside().await;
    let all = NAMES.iter().chain(&MIXED);
    let cases = all.map(|(name, host)| (*name, filled(&format!("http://{host}:PORT/"), &server)));
    refuses(cases.collect(), &server).await;
}

#[tokio::test]
async fn other_schemes_are_refused() {
    let server = inside().await;
    refuses(SCHEMES.iter().map(|(name, url)| (*name, filled(url, &server))).collect(), &server).await;
}

#[tokio::test]
async fn redirects_to_blocked_urls_are_refused() {
    let server = inside().await;
    let hosts = NAMES.iter().chain(&MIXED).map(|(name, host)| (*name, format!("http://{host}:PORT/")));
    let addresses = ADDRESSES.iter().chain(&SCHEMES).map(|(name, url)| (*name, (*url).to_owned()));
    for (name, url) in addresses.chain(hosts) {
        let to = filled(url.trim(), &server);
        // Skip cases that do not apply to redirects. A header can contain neither line breaks nor non-ASCII characters.
        // A URL without slashes, relative to a page with the same scheme, is a path on that page's host.
        if !to.is_ascii() || to.contains(['\n', '\t']) || name == "slashes too few" {
            continue;
        }
        let location = to.clone();
        let outside = Server::new(move |_| moved(302, &location)).await;
        let error = public_but_for(&outside).get(&outside.url("/")).await.expect_err(name);
        assert!(matches!(error, WebError::Refused(_)), "{name}: {to}: {error:?}");
        assert_eq!(outside.requests().len(), 1, "{name}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn ssrf_cases_reach_the_server_with_private_addresses_allowed() {
    // Verify that the cases are refused because of their target, not because of a typing error.
    let server = inside().await;
    for name in
        ["plain", "one decimal number", "a dot at the end", "two at signs", "IPv6 mapped", "wide digits"]
    {
        let (_, url) = ADDRESSES.iter().find(|(of, _)| *of == name).unwrap();
        let found = client(Outbound::Private).get(&filled(url, &server)).await;
        assert_eq!(&found.expect(name).bytes[..], b"inside", "{name}");
    }
}
