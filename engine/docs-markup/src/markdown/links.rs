//! Where a text leads: finding the destinations of links and pictures, and rewriting them in place.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    ops::Range,
};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

use super::scan;
use crate::syntax::{
    entity,
    html::{self, TagKind},
    tag,
};

/// How a destination is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkKind {
    /// `[label](destination)`, or a definition `[label]: destination`.
    Link,
    /// `![text](destination)`.
    Image,
    /// An attribute of HTML: `href`, `src`, or an address in `srcset`.
    Html,
    /// A value of a `{% tag %}`: `url`, `src`, or the `page` of a `page-ref`.
    Tag,
    /// The path of an `{% include %}`.
    Include,
}

/// What a text does with what stands at a destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkRole {
    /// It leads there.
    Leads,
    /// It shows it in place: a picture, a file, an `include`, an embedded address.
    Embeds,
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
    /// The quote around a value that has one.
    quote: Option<char>,
    /// Whether it is one of several in a `srcset`.
    is_in_set: bool,
}

impl LinkSite {
    /// A destination as it is written in this place, with the escapes it needs there.
    pub(crate) fn written(&self, destination: &str) -> String {
        match self.kind {
            LinkKind::Html if self.is_in_set => {
                scan::attribute(&destination.replace(' ', "%20").replace(',', "%2C"), self.quote)
            }
            LinkKind::Html => scan::attribute(destination, self.quote),
            LinkKind::Tag | LinkKind::Include => scan::value(destination, self.quote),
            LinkKind::Link | LinkKind::Image => scan::destination(destination),
        }
    }
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

/// The destinations in a text as [`links`] answers them, and the slugs of the OpenAPI specifications that its tags
/// name.
#[must_use]
pub fn links_and_specs(markdown: &str) -> (Vec<LinkSite>, Vec<String>) {
    let mut finder = Finder {
        text: markdown,
        sites: Vec::new(),
        uses: HashMap::new(),
        pictured: HashSet::new(),
        specs: Vec::new(),
        silent: Vec::new(),
    };
    finder.walk();
    finder.tags();
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
    let sites = links(markdown);
    rewrite_sites(markdown, sites.iter().map(|site| (site, resolve(site))))
}

/// Rewrites the destinations of a text at their places.
pub(crate) fn rewrite_sites<'s>(
    markdown: &str,
    sites: impl Iterator<Item = (&'s LinkSite, Resolution)>,
) -> Cow<'_, str> {
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    for (site, resolution) in sites {
        match resolution {
            Resolution::Keep => {}
            Resolution::To(destination) => changes.push((site.range.clone(), site.written(&destination))),
            Resolution::Plain => {
                changes.extend(site.around.iter().map(|range| (range.clone(), String::new())));
            }
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
    /// What is code or a comment, in order.
    silent: Vec<Range<usize>>,
}

impl Finder<'_> {
    /// Finds links, pictures and HTML, and what is code or a comment.
    fn walk(&mut self) {
        let options = Options::ENABLE_TABLES
            | Options::ENABLE_FOOTNOTES
            | Options::ENABLE_STRIKETHROUGH
            | Options::ENABLE_TASKLISTS;
        let mut events = Parser::new_ext(self.text, options).into_offset_iter();
        let mut open: Vec<Open> = Vec::new();
        let mut html: Vec<Range<usize>> = Vec::new();
        for (event, range) in events.by_ref() {
            let own_end = matches!(event, Event::End(TagEnd::Link | TagEnd::Image));
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
                Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => self.silent.push(range),
                Event::Html(_) => html.push(range),
                Event::End(TagEnd::HtmlBlock) => self.html_block(&std::mem::take(&mut html)),
                Event::InlineHtml(_) => self.html(self.text, range, &|range| Some(range)),
                _ => {}
            }
        }
        let definitions: Vec<(String, Range<usize>, String)> = events
            .reference_definitions()
            .iter()
            .map(|(name, def)| (name.to_lowercase(), def.span.clone(), def.dest.to_string()))
            .collect();
        for (name, span, destination) in definitions {
            self.definition(&name, span, destination);
        }
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
                self.sites.push(LinkSite {
                    kind,
                    role,
                    range: found,
                    destination,
                    around,
                    quote: None,
                    is_in_set: false,
                });
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
            self.sites.push(LinkSite {
                kind: LinkKind::Link,
                role,
                range,
                destination,
                around,
                quote: None,
                is_in_set: false,
            });
        }
    }

    /// Finds the destinations in a block of HTML, given its lines without what belongs to the blocks around it.
    fn html_block(&mut self, lines: &[Range<usize>]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        if lines.windows(2).all(|pair| pair[0].end == pair[1].start) {
            return self.html(self.text, first.start..last.end, &|range| Some(range));
        }
        let joined: String = lines.iter().map(|line| &self.text[line.clone()]).collect();
        let mut starts = Vec::with_capacity(lines.len());
        let mut length = 0;
        for line in lines {
            starts.push(length);
            length += line.len();
        }
        let place = |at: usize| {
            let line = starts.partition_point(|start| *start <= at) - 1;
            (line, lines[line].start + at - starts[line])
        };
        // What goes on behind the mark of a quotation cannot be written in one piece.
        self.html(&joined, 0..joined.len(), &|range| {
            let ((first, start), (last, end)) = (place(range.start), place(range.end));
            (first == last).then_some(start..end)
        });
    }

    /// Finds the destinations in HTML; `place` tells where a part of it stands in the text.
    fn html(
        &mut self,
        html: &str,
        range: Range<usize>,
        place: &dyn Fn(Range<usize>) -> Option<Range<usize>>,
    ) {
        for token in html::tokens(html, range) {
            let tag = match token {
                html::Token::Comment(range) => {
                    self.silent.extend(place(range));
                    continue;
                }
                html::Token::Tag(tag) if tag.kind == TagKind::Opening => tag,
                html::Token::Tag(_) | html::Token::Text(_) => continue,
            };
            for (name, role) in
                [("href", LinkRole::Leads), ("src", LinkRole::Embeds), ("srcset", LinkRole::Embeds)]
            {
                let Some(found) = tag.attribute(name) else { continue };
                let Some(range) = found.value.clone() else { continue };
                let value = &html[range.clone()];
                let parts = match name {
                    "srcset" => set(value, found.quote),
                    _ => std::iter::once(0..value.len()).collect(),
                };
                for part in parts {
                    let part = range.start + part.start..range.start + part.end;
                    let destination = entity::decode_attribute(&html[part.clone()]).into_owned();
                    if let Some(range) = place(part).filter(|part| found.quote.is_some() || !part.is_empty())
                    {
                        let (kind, around, quote) = (LinkKind::Html, Vec::new(), found.quote);
                        let is_in_set = name == "srcset";
                        self.sites.push(LinkSite {
                            kind,
                            role,
                            range,
                            destination,
                            around,
                            quote,
                            is_in_set,
                        });
                    }
                }
            }
        }
    }

    /// Finds the destinations of `{% tags %}` outside of code and comments.
    fn tags(&mut self) {
        let text = self.text;
        for tag in tag::tags(text, &self.silent) {
            let mut seen = Vec::new();
            for value in tag.values().unwrap_or_default() {
                let Some(named) = named(tag.name, value.name) else { continue };
                // Of several values of a name the first counts.
                if seen.contains(&value.name) {
                    continue;
                }
                seen.push(value.name);
                let destination = value.text(text).into_owned();
                let Some(range) = value.range.filter(|range| value.quote.is_some() || !range.is_empty())
                else {
                    continue;
                };
                match named {
                    Named::Spec => self.specs.push(destination),
                    Named::Target(kind, role) => {
                        let (around, quote) = (Vec::new(), value.quote);
                        self.sites.push(LinkSite {
                            kind,
                            role,
                            range,
                            destination,
                            around,
                            quote,
                            is_in_set: false,
                        });
                    }
                }
            }
        }
    }
}

/// What the value of a tag names.
enum Named {
    /// A page, a file, a reusable content, or an address.
    Target(LinkKind, LinkRole),
    /// An OpenAPI specification of the organization.
    Spec,
}

/// What a value of a tag names, by the names of both.
fn named(tag: &str, value: &str) -> Option<Named> {
    Some(match (tag, value) {
        ("include", "") => Named::Target(LinkKind::Include, LinkRole::Embeds),
        ("include", _) => return None,
        ("embed", "url") | (_, "src") => Named::Target(LinkKind::Tag, LinkRole::Embeds),
        ("page-ref", "page") | (_, "url") => Named::Target(LinkKind::Tag, LinkRole::Leads),
        (tag, "spec") if tag.starts_with("openapi") => Named::Spec,
        _ => return None,
    })
}

/// The addresses in a `srcset`. Without quotes, none is written that a comma stands beside: there is no place for
/// quotes.
fn set(value: &str, quote: Option<char>) -> Vec<Range<usize>> {
    let mut found = html::candidates(value);
    found.retain(|range| quote.is_some() || *range == (0..value.len()));
    found
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
