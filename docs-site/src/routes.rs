//! The routes of a site: all URLs below it other than those of pages.

use crate::{assets::MCP, machine::SiteList};

/// The routes below [`SITE_SEGMENT`](crate::assets::SITE_SEGMENT). `*` matches any text.
const SITE_ROUTES: [(&str, SiteRoute); 6] = [
    (MCP, SiteRoute::Mcp),
    ("search", SiteRoute::Search),
    ("search.json", SiteRoute::SearchResults),
    ("icon.svg", SiteRoute::Icon),
    ("theme.*", SiteRoute::StyleSheet),
    ("pages.*", SiteRoute::PageList),
];

/// Returns a route for the number in its path.
type MakeRoute = fn(usize) -> RootRoute;

/// The routes at the root of a site. `*` matches a number, which becomes the argument of the route.
const ROOT_ROUTES: [(&str, MakeRoute); 7] = [
    ("robots.txt", |_| RootRoute::Robots),
    ("sitemap.xml", |_| RootRoute::List(SiteList::Sitemap(None))),
    ("sitemap-*.xml", |part| RootRoute::List(SiteList::Sitemap(Some(part)))),
    ("rss.xml", |_| RootRoute::List(SiteList::Feed)),
    ("llms.txt", |_| RootRoute::List(SiteList::Short)),
    ("llms-full.txt", |_| RootRoute::FullText(1)),
    ("llms-full.txt/*", RootRoute::FullText),
];

/// A route below [`SITE_SEGMENT`](crate::assets::SITE_SEGMENT).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SiteRoute {
    /// The endpoint for agents.
    Mcp,
    /// The search page.
    Search,
    /// The search results as JSON.
    SearchResults,
    Icon,
    StyleSheet,
    /// A part of the complete page list of a space.
    PageList,
}

impl SiteRoute {
    /// Finds the route of a path below [`SITE_SEGMENT`](crate::assets::SITE_SEGMENT).
    pub(crate) fn find(path: &str) -> Option<Self> {
        SITE_ROUTES
            .into_iter()
            .find_map(|(pattern, route)| match_pattern(pattern, path).is_some().then_some(route))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootRoute {
    Robots,
    List(SiteList),
    /// A part of the full text of all pages, numbered from 1.
    FullText(usize),
}

impl RootRoute {
    /// Finds the route of a path below the site.
    pub(crate) fn find(path: &str) -> Option<Self> {
        ROOT_ROUTES.into_iter().find_map(|(pattern, route)| match match_pattern(pattern, path)? {
            "" if !pattern.contains('*') => Some(route(0)),
            number => number.parse().ok().map(route),
        })
    }
}

/// Returns the text matched by the `*` in a pattern, or an empty string for a pattern without `*`. Returns `None` if
/// the path does not match.
fn match_pattern<'p>(pattern: &str, path: &'p str) -> Option<&'p str> {
    match pattern.split_once('*') {
        Some((prefix, suffix)) => path.strip_prefix(prefix)?.strip_suffix(suffix),
        None => (pattern == path).then_some(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_the_routes_of_the_tables() {
        let site =
            [("mcp", Some(SiteRoute::Mcp)), ("theme.0f.css", Some(SiteRoute::StyleSheet)), ("mcp/a", None)];
        for (path, route) in site {
            assert_eq!(SiteRoute::find(path), route, "{path}");
        }
        let root = [
            ("sitemap.xml", Some(RootRoute::List(SiteList::Sitemap(None)))),
            ("sitemap-2.xml", Some(RootRoute::List(SiteList::Sitemap(Some(2))))),
            ("sitemap-a.xml", None),
            ("sitemap-.xml", None),
            ("llms-full.txt", Some(RootRoute::FullText(1))),
            ("llms-full.txt/3", Some(RootRoute::FullText(3))),
            ("llms-full.txt/", None),
            ("a/robots.txt", None),
        ];
        for (path, route) in root {
            assert_eq!(RootRoute::find(path), route, "{path}");
        }
    }
}
