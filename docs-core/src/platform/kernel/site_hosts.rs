//! The hosts and paths on which organizations may mount sites.

use std::{fmt, str::FromStr};

use crate::{
    Error, Result,
    model::{OrgId, web_url},
    platform::kernel::own_paths,
};

/// The hosts on which organizations may mount sites with `proxy`.
///
/// On every host, the first segments of the platform's own paths ([`own_paths`](crate::platform::own_paths)) are
/// reserved. The explorer's segment is available on hosts named by a rule, since `example.com/docs` is a common mount
/// point, but stays reserved where any host is allowed. A stored mount that is no longer allowed is not served. Hosts
/// set by the embedding application with [`set_hostname`](crate::platform::SiteHandle::set_hostname) need no rule.
///
/// # Example
///
/// ```
/// use docs_core::platform::SiteHosts;
///
/// let hosts = SiteHosts::from_rules(["www.example.com".parse()?, "*.docs.example.com".parse()?]);
/// # let _ = hosts.with_excluded_host("files.example.com");
/// # Ok::<(), docs_core::platform::NotASiteHost>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SiteHosts {
    /// The rules, or `None` to allow every host.
    rules: Option<Vec<SiteHostRule>>,
    /// Other hosts of the platform, in lower case.
    own: Vec<String>,
    /// Additional first segments of the platform's own paths.
    segments: Vec<String>,
}

/// A rule for hosts on which sites may be mounted: `docs.example.com`, `*.example.com` for all subdomains, or `*` for
/// any host. A suffix of `=` and an organization id restricts the rule to that organization.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteHostRule {
    pattern: Pattern,
    organization: Option<OrgId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Pattern {
    Any,
    Host(String),
    /// All hosts with this suffix. It begins with a dot.
    Below(String),
}

/// The error for a malformed rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be a host like `docs.example.com`, `*.example.com` or `*`, optionally followed by `=` and the id \
     of an organization"
)]
pub struct NotASiteHost;

impl SiteHosts {
    /// Allows every host. For embedding applications whose proxies forward only requests to hosts of sites and their
    /// own.
    #[must_use]
    pub fn any() -> Self {
        Self::default()
    }

    /// Allows the hosts that match a rule.
    #[must_use]
    pub fn from_rules(rules: impl IntoIterator<Item = SiteHostRule>) -> Self {
        Self { rules: Some(rules.into_iter().collect()), ..Self::default() }
    }

    /// Excludes another host of the platform, such as its file host.
    #[must_use]
    pub fn with_excluded_host(mut self, host: &str) -> Self {
        self.own.push(normalize_host(host));
        self
    }

    /// Reserves another first path segment, such as that of an API mounted elsewhere than at `/v1`. The first segment
    /// of the platform's base URL is already reserved.
    #[must_use]
    pub fn with_reserved_segment(mut self, segment: &str) -> Self {
        self.segments.extend((!segment.is_empty()).then(|| segment.to_owned()));
        self
    }

    /// Excludes the host and reserves the first path segment of the platform's base URL.
    pub(in crate::platform) fn with_base(self, base: &str) -> Self {
        let Some(url) = web_url(base) else { return self };
        let host = url.host_str().unwrap_or_default();
        let segment = url.path_segments().and_then(|mut path| path.next()).unwrap_or_default();
        self.with_excluded_host(host).with_reserved_segment(segment)
    }

    /// Returns `true` for an excluded host of the platform. The port is ignored.
    pub(in crate::platform) fn is_own(&self, host: &str) -> bool {
        self.own.contains(&normalize_host(host))
    }

    /// Checks a mount, given its host and first path segment.
    ///
    /// # Errors
    ///
    /// [`MountError`].
    pub(in crate::platform) fn check(
        &self,
        org: &OrgId,
        host: &str,
        segment: &str,
    ) -> std::result::Result<(), MountError> {
        let host = normalize_host(host);
        let is_named = match &self.rules {
            None => Some(false),
            Some(rules) => rules
                .iter()
                .filter(|rule| rule.organization.as_ref().is_none_or(|only| only == org))
                .filter_map(|rule| rule.match_host(&host))
                .max(),
        };
        let Some(is_named) = is_named.filter(|_| !self.own.contains(&host)) else {
            return Err(MountError::Host);
        };
        let own = own_paths::ALL.iter().copied().chain(self.segments.iter().map(String::as_str));
        let is_reserved = own
            .filter(|own| !is_named || *own != own_paths::EXPLORER)
            .any(|own| own.eq_ignore_ascii_case(segment));
        if is_reserved { Err(MountError::Segment) } else { Ok(()) }
    }
}

/// The reason for rejecting a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::platform) enum MountError {
    /// No rule allows the host.
    Host,
    /// The path is reserved for the platform.
    Segment,
}

impl SiteHostRule {
    /// Returns `None` if the host does not match, `Some(true)` if the rule matches it by name, and `Some(false)` for
    /// the `*` wildcard.
    fn match_host(&self, host: &str) -> Option<bool> {
        match &self.pattern {
            Pattern::Any => Some(false),
            Pattern::Host(name) => (name == host).then_some(true),
            Pattern::Below(suffix) => host.ends_with(suffix.as_str()).then_some(true),
        }
    }
}

impl FromStr for SiteHostRule {
    type Err = NotASiteHost;

    fn from_str(text: &str) -> std::result::Result<Self, NotASiteHost> {
        let (host, organization) = match text.split_once('=') {
            Some((host, org)) => (host, Some(org.parse().map_err(|_| NotASiteHost)?)),
            None => (text, None),
        };
        let pattern = match host.strip_prefix("*.") {
            _ if host == "*" => Pattern::Any,
            Some(name) => Pattern::Below(format!(".{}", host_name(name).ok_or(NotASiteHost)?)),
            None => Pattern::Host(host_name(host).ok_or(NotASiteHost)?),
        };
        Ok(Self { pattern, organization })
    }
}

impl fmt::Display for SiteHostRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.pattern {
            Pattern::Any => f.write_str("*"),
            Pattern::Host(name) => f.write_str(name),
            Pattern::Below(suffix) => write!(f, "*{suffix}"),
        }?;
        self.organization.as_ref().map_or(Ok(()), |org| write!(f, "={org}"))
    }
}

/// Rejects a mount that the rules do not allow.
///
/// # Errors
///
/// `Invalid`.
pub(in crate::platform) fn check_proxy(hosts: &SiteHosts, org: &OrgId, origin: &str) -> Result<()> {
    let (host, path) = origin.split_once('/').unwrap_or((origin, ""));
    let segment = path.split('/').next().unwrap_or_default();
    hosts.check(org, host, segment).map_err(|refused| match refused {
        MountError::Host => Error::invalid(
            "proxy",
            format_args!(
                "the host `{host}` is not available to this organization; ask the operator of the \
                          server"
            ),
        ),
        MountError::Segment => Error::invalid(
            "proxy",
            format_args!("must not begin with `/{segment}`, which is a path of the platform"),
        ),
    })
}

/// Normalizes a host to lower case, without port and trailing dot.
fn normalize_host(host: &str) -> String {
    let url = web_url(&format!("https://{host}/"));
    let name = url.as_ref().and_then(|url| url.host_str()).unwrap_or(host);
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// Normalizes a host name. Returns `None` if it is malformed or has no dot.
fn host_name(text: &str) -> Option<String> {
    let is_plain = !text.is_empty() && !text.contains(['/', ':', '@', '*', '?', '#', ' ', '%', '\\']);
    let url = web_url(&format!("https://{text}/")).filter(|_| is_plain)?;
    let name = url.host_str()?.trim_end_matches('.');
    name.contains('.').then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn org(text: &str) -> OrgId {
        text.parse().expect("an id")
    }

    #[test]
    fn rules_allow_the_hosts_that_they_name() {
        let (mine, other) = (org("aaaaaaaaaaaaaaaaaaaa"), org("bbbbbbbbbbbbbbbbbbbb"));
        let bound = format!("own.example.org={mine}");
        let rules = ["www.example.com", "*.Docs.example.com", bound.as_str()];
        let hosts = SiteHosts::from_rules(rules.map(|rule| rule.parse().expect("a rule")));
        let hosts = hosts.with_excluded_host("files.docs.example.com");
        for (host, allowed) in [
            ("www.example.com", [true, true]),
            ("WWW.example.COM", [true, true]),
            ("example.com", [false, false]),
            ("x.www.example.com", [false, false]),
            ("docs.example.com", [false, false]),
            ("a.docs.example.com", [true, true]),
            ("a.b.docs.example.com", [true, true]),
            ("files.docs.example.com", [false, false]),
            ("evildocs.example.com", [false, false]),
            ("own.example.org", [true, false]),
        ] {
            let found = [&mine, &other].map(|org| hosts.check(org, host, "guide").is_ok());
            assert_eq!(found, allowed, "{host}");
        }
        assert_eq!(SiteHosts::from_rules([]).check(&mine, "www.example.com", "guide"), Err(MountError::Host));
    }

    #[test]
    fn own_paths_are_reserved_on_every_host() {
        let mine = org("aaaaaaaaaaaaaaaaaaaa");
        let named = SiteHosts::from_rules(["www.example.com".parse().expect("a rule")]);
        let all = SiteHosts::from_rules(["*".parse().expect("a rule")]);
        for own in own_paths::ALL {
            for segment in [(*own).to_owned(), own.to_uppercase()] {
                let check = |hosts: &SiteHosts| hosts.check(&mine, "www.example.com", &segment);
                assert_eq!(
                    (check(&SiteHosts::any()), check(&all)),
                    (Err(MountError::Segment), Err(MountError::Segment))
                );
                assert_eq!(check(&named).is_ok(), *own == own_paths::EXPLORER, "{segment}");
            }
        }
        assert_eq!(SiteHosts::any().check(&mine, "www.example.com", "v12"), Ok(()));
        let below = named.with_base("https://docs.example.com:4000/Platform/x").with_reserved_segment("api");
        assert!(below.is_own("DOCS.example.com") && !below.is_own("www.example.com"));
        for (segment, expected) in
            [("platform", Err(MountError::Segment)), ("API", Err(MountError::Segment)), ("x", Ok(()))]
        {
            assert_eq!(below.check(&mine, "www.example.com", segment), expected, "{segment}");
        }
    }

    #[test]
    fn rule_is_read_and_shown_alike() {
        for rule in ["docs.example.com", "*.example.com", "*", "a.example=aaaaaaaaaaaaaaaaaaaa"] {
            assert_eq!(rule.parse::<SiteHostRule>().map(|it| it.to_string()), Ok(rule.to_owned()));
        }
        for wrong in [
            "",
            "localhost",
            "*.",
            "**.a.example",
            "a.*.example",
            "a.example/x",
            "a.example:80",
            "a.example=",
        ] {
            assert_eq!(wrong.parse::<SiteHostRule>(), Err(NotASiteHost), "{wrong}");
        }
    }
}
