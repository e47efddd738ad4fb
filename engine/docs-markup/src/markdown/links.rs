//! Where a text leads: finding the destinations of links and pictures, and rewriting them in place.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag};

use super::scan;
use crate::tag;

/// How a destination is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkKind {
    /// `[label](destination)`, or a definition `[label]: destination`.
    Link,
    /// `![text](destination)`.
    Image,
    /// An attribute of HTML: `href`, `src` or `srcset`.
    Html,
    /// An attribute of a `{% tag %}`: `url`, `src`, or the path of an `include`.
    Tag,
}

/// What a text does with what stands at a destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkRole {
    /// It leads there.
    Leads,
    /// It shows it in place: a picture, a file, an `include`, an embedded address.
    Embeds,
    /// The same for a `srcset`, which may name several.
    EmbedsSet,
}

/// A destination in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSite {
    /// How it is written.
    pub kind: LinkKind,
    /// What the text does with it.
    pub role: LinkRole,
    /// The bytes that are the destination.
    pub range: Range<usize>,
    /// The destination, with escapes resolved.
    pub destination: String,
    /// What to take out to leave only the label.
    around: Vec<Range<usize>>,
    /// The quote around an attribute that has one.
    quote: Option<char>,
}

/// What becomes of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// It stays as it is.
    Keep,
    /// It becomes this one.
    To(String),
    /// The link becomes its label. What has no label (pictures, attributes) stays as it is.
    Plain,
}

/// The destinations in a text, in the order they stand in it. Code has none, and neither have bare addresses.
#[must_use]
pub fn links(markdown: &str) -> Vec<LinkSite> {
    links_and_specs(markdown).0
}

/// The destinations in a text as [`links`] answers them, and the slugs of the OpenAPI specifications that its tags name.
#[must_use]
pub fn links_and_specs(markdown: &str) -> (Vec<LinkSite>, Vec<String>) {
    let mut finder = Finder {
        text: markdown,
        sites: Vec::new(),
        uses: HashMap::new(),
        pictured: HashSet::new(),
        specs: Vec::new(),
    };
    let code = finder.walk();
    finder.tags(&code);
    let (mut sites, specs) = (finder.sites, finder.specs);
    sites.sort_by_key(|site| (site.range.start, site.range.end));
    // Of two readings of the same bytes the one that starts first stands.
    let mut end = 0;
    sites.retain(|site| {
        let stands = site.range.start >= end;
        if stands {
            end = site.range.end;
        }
        stands
    });
    (sites, specs)
}

/// Rewrites destinations as `resolve` says. No other byte changes; code is left alone.
///
/// ```
/// use docs_markup::markdown::{Resolution, rewrite_links};
/// let text = "See [the guide](guide.md \"read\"), [gone](gone.md) and `[code](guide.md)`.";
/// let out = rewrite_links(text, |site| match site.destination.as_str() {
///     "guide.md" => Resolution::To("/pages/p1".to_owned()),
///     _ => Resolution::Plain,
/// });
/// assert_eq!(out, "See [the guide](/pages/p1 \"read\"), gone and `[code](guide.md)`.");
/// ```
#[must_use]
pub fn rewrite_links(markdown: &str, mut resolve: impl FnMut(&LinkSite) -> Resolution) -> Cow<'_, str> {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for site in links(markdown) {
        match resolve(&site) {
            Resolution::Keep => {}
            Resolution::To(destination) => {
                let written = match site.kind {
                    LinkKind::Html | LinkKind::Tag => scan::attribute(&destination, site.quote),
                    LinkKind::Link | LinkKind::Image => scan::destination(&destination),
                };
                changes.push((site.range, written));
            }
            Resolution::Plain => changes.extend(site.around.into_iter().map(|range| (range, String::new()))),
        }
    }
    if changes.is_empty() {
        return Cow::Borrowed(markdown);
    }
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let mut out = String::with_capacity(markdown.len());
    let mut at = 0;
    for (range, text) in changes {
        // What was taken out with a label around it is gone.
        if range.start < at {
            continue;
        }
        out.push_str(&markdown[at..range.start]);
        out.push_str(&text);
        at = range.end;
    }
    out.push_str(&markdown[at..]);
    Cow::Owned(out)
}

/// A link whose end was not reached yet.
struct Open {
    range: Range<usize>,
    kind: LinkKind,
    link_type: LinkType,
    destination: String,
    /// The name of the definition a reference link uses.
    name: String,
    /// Where what was seen of the label ends.
    label_end: usize,
}

struct Finder<'a> {
    text: &'a str,
    sites: Vec<LinkSite>,
    /// What to take out of the links that use a definition, by its name.
    uses: HashMap<String, Vec<Range<usize>>>,
    /// The definitions that pictures use.
    pictured: HashSet<String>,
    /// The specifications that tags name.
    specs: Vec<String>,
}

impl Finder<'_> {
    /// Finds links, pictures and HTML; answers the ranges that are code.
    fn walk(&mut self) -> Vec<Range<usize>> {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS;
        let mut events = Parser::new_ext(self.text, options).into_offset_iter();
        let mut code = Vec::new();
        let mut open: Vec<Open> = Vec::new();
        let mut html: Option<Range<usize>> = None;
        for (event, range) in events.by_ref() {
            if !matches!(event, Event::Html(_) | Event::InlineHtml(_)) {
                self.html(html.take());
            }
            let own_end =
                matches!(event, Event::End(pulldown_cmark::TagEnd::Link | pulldown_cmark::TagEnd::Image));
            if let Some(link) = open.last_mut().filter(|_| !own_end) {
                link.label_end = link.label_end.max(range.end.min(link.range.end));
            }
            match event {
                Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                    open.push(Open::new(self.text, (range, LinkKind::Link), link_type, (&dest_url, &id)));
                }
                Event::Start(Tag::Image { link_type, dest_url, id, .. }) => {
                    open.push(Open::new(self.text, (range, LinkKind::Image), link_type, (&dest_url, &id)));
                }
                Event::End(_) if own_end => {
                    if let Some(link) = open.pop() {
                        self.close(link);
                    }
                }
                Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => code.push(range),
                Event::Html(_) | Event::InlineHtml(_) => match &mut html {
                    // The lines of one tag come one by one.
                    Some(before) if before.end == range.start => before.end = range.end,
                    _ => self.html(html.replace(range)),
                },
                _ => {}
            }
        }
        self.html(html);
        let definitions: Vec<(String, Range<usize>, String)> = events
            .reference_definitions()
            .iter()
            .map(|(name, def)| (name.to_lowercase(), def.span.clone(), def.dest.to_string()))
            .collect();
        for (name, span, destination) in definitions {
            self.definition(&name, span, destination);
        }
        code
    }

    /// A link is complete: finds the bytes of its destination.
    fn close(&mut self, link: Open) {
        let Open { range, kind, link_type, destination, name, label_end } = link;
        let label_start = range.start + if kind == LinkKind::Image { 2 } else { 1 };
        // Only the closing bracket can follow what was seen of the label.
        let Some(bracket) = self.text[label_end..range.end].find(']').map(|at| label_end + at) else {
            return;
        };
        // The parser leaves the empty brackets of `[label][]` out of the link.
        let collapsed = link_type == LinkType::Collapsed && self.text[range.end..].starts_with("[]");
        let end = if collapsed { range.end + 2 } else { range.end };
        let around =
            if kind == LinkKind::Link { vec![range.start..label_start, bracket..end] } else { Vec::new() };
        let role = if kind == LinkKind::Image { LinkRole::Embeds } else { LinkRole::Leads };
        match link_type {
            LinkType::Inline => {
                let inside = &self.text[..range.end];
                let Some(found) = inside[bracket..]
                    .strip_prefix("](")
                    .and_then(|_| scan::destination_at(inside, bracket + 2))
                else {
                    return;
                };
                self.sites.push(LinkSite { kind, role, range: found, destination, around, quote: None });
            }
            LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut => {
                if kind == LinkKind::Image {
                    self.pictured.insert(name.to_lowercase());
                }
                self.uses.entry(name.to_lowercase()).or_default().extend(around);
            }
            _ => {}
        }
    }

    fn definition(&mut self, name: &str, span: Range<usize>, destination: String) {
        let Some(text) = self.text.get(..span.end) else { return };
        let Some(colon) = text[span.start..].find("]:").map(|at| span.start + at + 2) else { return };
        if let Some(range) = scan::destination_at(text, colon) {
            let role = if self.pictured.contains(name) { LinkRole::Embeds } else { LinkRole::Leads };
            let around = self.uses.remove(name).unwrap_or_default();
            self.sites.push(LinkSite { kind: LinkKind::Link, role, range, destination, around, quote: None });
        }
    }

    fn html(&mut self, range: Option<Range<usize>>) {
        let Some(range) = range else { return };
        for found in scan::html_attributes(self.text, range) {
            let role = match found.name {
                "href" => LinkRole::Leads,
                "src" => LinkRole::Embeds,
                "srcset" => LinkRole::EmbedsSet,
                _ => continue,
            };
            self.attribute((LinkKind::Html, role), &found);
        }
    }

    /// Finds the destinations of `{% tags %}` outside of code.
    fn tags(&mut self, code: &[Range<usize>]) {
        let text = self.text;
        for tag in tag::tags(text, code).into_iter().filter(|tag| tag.name != "if") {
            for value in tag.values().unwrap_or_default() {
                let role = match (tag.name, value.name) {
                    ("include", "") | ("embed", "url") => LinkRole::Embeds,
                    ("include", _) => continue,
                    (_, "src") => LinkRole::Embeds,
                    (_, "url") => LinkRole::Leads,
                    (name, "spec") if name.starts_with("openapi") => {
                        self.specs.push(value.text(text).into_owned());
                        continue;
                    }
                    _ => continue,
                };
                let Some(range) = value.range.filter(|range| value.quote.is_some() || !range.is_empty())
                else {
                    continue;
                };
                let found = scan::Attribute { name: value.name, value: range, quote: value.quote };
                self.attribute((LinkKind::Tag, role), &found);
            }
        }
    }

    fn attribute(&mut self, (kind, role): (LinkKind, LinkRole), found: &scan::Attribute<'_>) {
        let Some(value) = self.text.get(found.value.clone()) else { return };
        self.sites.push(LinkSite {
            kind,
            role,
            range: found.value.clone(),
            destination: htmlize::unescape_attribute(value).into_owned(),
            around: Vec::new(),
            quote: found.quote,
        });
    }
}

impl Open {
    fn new(
        text: &str,
        (range, kind): (Range<usize>, LinkKind),
        link_type: LinkType,
        (destination, name): (&str, &str),
    ) -> Self {
        let opening = if kind == LinkKind::Image { 2 } else { 1 };
        let label_end = (range.start + opening).min(text.len());
        Self { range, kind, link_type, destination: destination.to_owned(), name: name.to_owned(), label_end }
    }
}
