//! The location at which another host proxies a site: [`ProxyOrigin`].

use super::formed_text::formed_text;

formed_text! {
    /// The location at which another host proxies a site: `host/path`.
    ProxyOrigin(1, 512, is_proxy_origin, "a host with a path, like example.com/docs",
        { "pattern": r"^([\w-]+\.)*[\w-]+\.[a-zA-Z]{2,}(\/[\w-]+)+$" }),
}

fn is_proxy_origin(text: &str) -> bool {
    let word =
        |w: &str| !w.is_empty() && w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let mut parts = text.split('/');
    let host = parts.next().unwrap_or_default();
    let top = host.rsplit('.').next().unwrap_or_default();
    let has_path = text.contains('/');
    host.contains('.')
        && host.split('.').all(word)
        && top.len() >= 2
        && top.bytes().all(|b| b.is_ascii_alphabetic())
        && has_path
        && parts.all(word)
}
