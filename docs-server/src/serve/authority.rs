//! Validation of the requested host.
//!
//! A request with an invalid host, several hosts or no host is rejected, so that a proxy and the server cannot disagree
//! about the host (RFC 9112, 3.2; RFC 9113, 8.3.1).

use std::net::Ipv6Addr;

use docs_http::wire::error::ApiError;
use hyper::{
    Method, Version,
    header::HOST,
    http::{request::Parts, uri::Scheme},
};

/// Checks that a request specifies exactly one host. HTTP/1.0 requests may omit it.
///
/// # Errors
/// 400 with a message that names the invalid part.
pub(super) fn check(request: &Parts) -> Result<(), ApiError> {
    let scheme = request.uri.scheme();
    let target = request.uri.authority();
    if target.is_some() && scheme.is_none() && request.method != Method::CONNECT {
        let message = "the request target: must be a path or a URL, unless the method is CONNECT";
        return Err(ApiError::invalid(message));
    }
    let part = if request.version < Version::HTTP_2 { "the request target" } else { ":authority" };
    let target = target.map(|target| parse(part, target.as_str(), scheme)).transpose()?;
    let mut hosts = request.headers.get_all(HOST).iter();
    let host = hosts.next();
    let others = hosts.count();
    if others > 0 {
        return Err(ApiError::invalid(format!("Host: must be sent once, was sent {} times", 1 + others)));
    }
    let host = host.map(|host| parse("Host", host.to_str().unwrap_or_default(), scheme)).transpose()?;
    let is_missing = match request.version {
        Version::HTTP_09 | Version::HTTP_10 => false,
        Version::HTTP_11 => host.is_none(),
        _ => host.is_none() && target.is_none(),
    };
    if is_missing {
        return Err(ApiError::invalid("Host: is required; send the host of the URL"));
    }
    match (host, target) {
        (Some(host), Some(target)) if host != target => {
            Err(ApiError::invalid(format!("Host: must be the same as the host of {part}")))
        }
        _ => Ok(()),
    }
}

fn parse<'t>(part: &str, text: &'t str, scheme: Option<&Scheme>) -> Result<Authority<'t>, ApiError> {
    Authority::parse(text, scheme).ok_or_else(|| {
        let message = "must have a host name or an address, and at most a port, such as `example.com:8080`";
        ApiError::invalid(format!("{part}: {message}"))
    })
}

/// A host and a port, without the default port of the scheme. Names are compared without regard to case.
#[derive(Debug)]
struct Authority<'t> {
    host: &'t str,
    port: Option<u16>,
}

impl<'t> Authority<'t> {
    /// Parses `host` or `host:port`. Accepts only the characters of host names and addresses: user information, percent
    /// escapes and the delimiters that URLs also permit in a host are rejected.
    fn parse(text: &'t str, scheme: Option<&Scheme>) -> Option<Self> {
        // The last colon of an IPv6 address is within its brackets.
        let after_address = text.rfind(']').map_or(0, |end| end + 1);
        let (host, port) = match text[after_address..].find(':') {
            Some(colon) => text.split_at(after_address + colon),
            None => (text, ""),
        };
        let is_valid = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.bytes().all(is_of_name),
        };
        let digits = port.trim_start_matches(':');
        let is_number = port.len() <= digits.len() + 1 && digits.bytes().all(|byte| byte.is_ascii_digit());
        let number = if digits.is_empty() { None } else { Some(digits.parse::<u16>().ok()?) };
        let default = match scheme.map(Scheme::as_str) {
            Some("http") => Some(80),
            Some("https") => Some(443),
            _ => None,
        };
        let port = number.filter(|_| number != default);
        (is_valid && is_number).then_some(Self { host, port })
    }
}

impl PartialEq for Authority<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.port == other.port && self.host.eq_ignore_ascii_case(other.host)
    }
}

const fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
