//! Links in Markdown: finding the destinations of links and images, and rewriting them in place.

use std::{
    borrow::{Borrow, Cow},
    ops::Range,
};

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::{
    pieces::{self, PIECE_BYTES, TextDefinitions, TextPart},
    scan,
};
use crate::syntax::{
    entity,
    html::{self, TagKind},
    tag,
};

/// The notation of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkKind {
    /// `[label](destination)`, or a definition `[label]: destination`.
    Link,
    /// `![text](destination)`.
    Image,
    /// An HTML attribute: `href`, `src`, or a URL in `srcset`.
    Html,
    /// An attribute of a `{% tag %}`: `url`, `src`, or the `page` of a `page-ref`.
    Tag,
    /// The path of an `{% include %}`.
    Include,
}

/// The effect of a destination.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum LinkRole {
    /// A link to the target.
    Leads,
    /// The target is embedded: an image, a file, an `include` or an embedded URL.
    Embeds,
}

/// A link destination and its position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LinkSite {
    pub kind: LinkKind,
    pub role: LinkRole,
    /// The byte range of the destination.
    pub range: Range<usize>,
    /// The destination, with escapes resolved.
    pub destination: String,
    /// The ranges to remove when only the label is kept.
    around: Box<[ByteRange]>,
    /// The quotation mark around the value, if any.
    quote: Option<char>,
    /// `true` for one of several URLs in a `srcset`.
    is_in_set: bool,
}

/// A byte range. It is compact, because there may be many of them.
type ByteRange = Range<u32>;

/// Converts a range, saturating. Text with larger offsets exceeds the maximum length.
fn place(range: &Range<usize>) -> ByteRange {
    let small = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    small(range.start)..small(range.end)
}

fn range(place: &ByteRange) -> Range<usize> {
    let large = |at: u32| usize::try_from(at).unwrap_or_default();
    large(place.start)..large(place.end)
}

impl LinkSite {
    fn new(kind: LinkKind, role: LinkRole, range: Range<usize>, destination: String) -> Self {
        Self { kind, role, range, destination, around: Box::default(), quote: None, is_in_set: false }
    }

    /// Escapes a destination for its position.
    pub(crate) fn escape_destination(&self, destination: &str) -> String {
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

/// The replacement of a destination.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// The destination remains unchanged.
    Keep,
    /// The destination is replaced.
    To(String),
    /// The link is replaced by its label. Images and attributes, which have no label, remain unchanged.
    Plain,
}

/// Maximum number of destinations, and of link definitions. Further ones are treated as text.
pub const MAX_LINKS: usize = 20_000;

/// Returns the destinations in `markdown`, in text order. Destinations in code, bare URLs, and blocks with an excessive
/// number of delimiters are not included.
#[must_use]
pub fn links(markdown: &str) -> Vec<LinkSite> {
    links_and_specs(markdown).0
}

/// Returns the [`links`] in `markdown`, and the slugs of the OpenAPI specifications that its tags reference.
#[must_use]
pub fn links_and_specs(markdown: &str) -> (Vec<LinkSite>, Vec<String>) {
    find_links(markdown, PIECE_BYTES)
}

/// Returns the links in `markdown`, which is parsed in pieces of at least this length.
pub(super) fn find_links(markdown: &str, piece: usize) -> (Vec<LinkSite>, Vec<String>) {
    let known = TextDefinitions::collect(markdown, MAX_LINKS, piece);
    let mut finder = Finder {
        text: markdown,
        known: &known,
        sites: Vec::new(),
        open: Vec::new(),
        html: Vec::new(),
        definitions: vec![None; known.len()],
        uses: Vec::new(),
        pictured: vec![false; known.len()],
        specs: Vec::new(),
        silent: Vec::new(),
    };
    pieces::each(markdown, piece, &known, &mut |part| finder.part(part));
    finder.define();
    finder.tags();
    let (mut sites, specs) = (finder.sites, finder.specs);
    // Destinations with equal ranges are ordered by kind.
    sites.sort_unstable_by_key(|site| (site.range.start, site.range.end, site.kind as u8));
    // Of two overlapping destinations, the one that begins first takes precedence.
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

/// Replaces destinations with the results of `resolve`. Code and all other bytes remain unchanged.
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
    let sites = links(markdown).into_iter();
    rewrite_sites(
        markdown,
        sites.map(|site| {
            let resolution = resolve(&site);
            (site, resolution)
        }),
    )
}

/// Rewrites the given destinations in `markdown`.
pub(crate) fn rewrite_sites(
    markdown: &str,
    sites: impl Iterator<Item = (impl Borrow<LinkSite>, Resolution)>,
) -> Cow<'_, str> {
    let mut changes = Replacements::default();
    // Destinations that the iterator yields by value are freed before the text is assembled.
    for (site, resolution) in sites {
        let site: &LinkSite = site.borrow();
        match resolution {
            Resolution::Keep => {}
            Resolution::To(destination) => {
                changes.add(place(&site.range), &site.escape_destination(&destination));
            }
            Resolution::Plain => site.around.iter().for_each(|place| changes.add(place.clone(), "")),
        }
    }
    changes.apply_to(markdown)
}

/// The replacements of byte ranges. There may be many, each as long as a URL, so they share one string.
#[derive(Default)]
struct Replacements {
    /// Ranges of the text, each with the range of its replacement in `new`.
    parts: Vec<(ByteRange, ByteRange)>,
    new: String,
}

impl Replacements {
    fn add(&mut self, part: ByteRange, text: &str) {
        if self.parts.len() == self.parts.capacity() {
            self.parts.reserve_exact(16 + self.parts.len() / 4);
        }
        if self.new.capacity() - self.new.len() < text.len() {
            self.new.reserve_exact(text.len() + self.new.len() / 4);
        }
        let start = self.new.len();
        self.new.push_str(text);
        self.parts.push((part, place(&(start..self.new.len()))));
    }

    fn apply_to(mut self, markdown: &str) -> Cow<'_, str> {
        if self.parts.is_empty() {
            return Cow::Borrowed(markdown);
        }
        // The first of several changes to the same range takes precedence.
        self.parts.sort_unstable_by_key(|(part, new)| (part.start, part.end, new.start, new.end));
        let mut out = String::with_capacity(markdown.len() + self.new.len());
        let mut at = 0;
        for (part, new) in self.parts {
            let part = range(&part);
            // The range was removed together with an enclosing label.
            if part.start < at {
                continue;
            }
            out.push_str(&markdown[at..part.start]);
            out.push_str(&self.new[range(&new)]);
            at = part.end;
        }
        out.push_str(&markdown[at..]);
        Cow::Owned(out)
    }
}

/// A link whose end has not been reached yet.
struct UnclosedLink {
    range: Range<usize>,
    kind: LinkKind,
    link_type: LinkType,
    destination: String,
    /// The name of the definition of a reference link.
    name: String,
    /// The end of the part of the label that was processed.
    label_end: usize,
}

struct Finder<'a> {
    text: &'a str,
    known: &'a TextDefinitions,
    sites: Vec<LinkSite>,
    /// Links whose end has not been reached yet.
    open: Vec<UnclosedLink>,
    /// The lines of HTML whose end has not been reached yet.
    html: Vec<Range<usize>>,
    /// The indices of the definitions in `sites`.
    definitions: Vec<Option<usize>>,
    /// The ranges to remove from links that use a definition, each with the number of the definition.
    uses: Vec<(u32, ByteRange)>,
    /// A flag for each definition: `true` if an image uses it.
    pictured: Vec<bool>,
    /// The slugs of the specifications that tags reference.
    specs: Vec<String>,
    /// Sorted ranges of code and comments that contain the beginning of a tag.
    silent: Vec<Range<usize>>,
}

impl Finder<'_> {
    /// Processes links, images and HTML, and records code and comments.
    fn part(&mut self, part: TextPart<'_>) {
        let (event, range) = match part {
            TextPart::Event(event, range) => (event, range),
            TextPart::Definition { name, span, destination } => {
                return self.definition(name, span, destination);
            }
        };
        let own_end = matches!(event, Event::End(TagEnd::Link | TagEnd::Image));
        if let Some(link) = self.open.last_mut().filter(|_| !own_end) {
            link.label_end = link.label_end.max(range.end.min(link.range.end));
        }
        match event {
            Event::Start(Tag::Link { link_type, dest_url, id, .. }) => {
                self.open(range, LinkKind::Link, link_type, &dest_url, &id);
            }
            Event::Start(Tag::Image { link_type, dest_url, id, .. }) => {
                self.open(range, LinkKind::Image, link_type, &dest_url, &id);
            }
            Event::End(_) if own_end => {
                if let Some(link) = self.open.pop() {
                    self.close(link);
                }
            }
            Event::Start(Tag::CodeBlock(_)) | Event::Code(_) => self.exclude_range(range),
            Event::Html(_) => self.html.push(range),
            Event::End(TagEnd::HtmlBlock) => {
                let lines = std::mem::take(&mut self.html);
                self.html_block(&lines);
            }
            Event::InlineHtml(_) => self.html(self.text, range, &|range| Some(range)),
            _ => {}
        }
    }

    fn open(
        &mut self,
        range: Range<usize>,
        kind: LinkKind,
        link_type: LinkType,
        destination: &str,
        name: &str,
    ) {
        let opening = if kind == LinkKind::Image { 2 } else { 1 };
        let label_end = (range.start + opening).min(self.text.len());
        let (destination, name) = (destination.to_owned(), name.to_owned());
        self.open.push(UnclosedLink { range, kind, link_type, destination, name, label_end });
    }

    /// Marks a range where no tag begins.
    fn exclude_range(&mut self, range: Range<usize>) {
        let text = self.text;
        let begins = |range: Range<usize>| {
            // A tag may begin in a range that ends between the two characters of `{%`.
            let end = text.floor_char_boundary(range.end + 1);
            text.get(range.start..end).is_some_and(|text| text.contains("{%"))
        };
        if !begins(range.clone()) {
            return;
        }
        match self.silent.last_mut().filter(|last| last.end <= range.start) {
            Some(last) if !begins(last.end..range.start) => last.end = range.end,
            _ => self.silent.push(range),
        }
    }

    /// Adds a destination, up to [`MAX_LINKS`].
    fn site(&mut self, site: LinkSite) {
        if self.sites.len() + self.uses.len() < MAX_LINKS {
            if self.sites.len() == self.sites.capacity() {
                self.sites.reserve_exact(16 + self.sites.len() / 4);
            }
            self.sites.push(site);
        }
    }

    /// Completes a link by determining the range of its destination.
    fn close(&mut self, link: UnclosedLink) {
        let UnclosedLink { range, kind, link_type, destination, name, label_end } = link;
        let label_start = range.start + if kind == LinkKind::Image { 2 } else { 1 };
        // Only the closing bracket can follow the processed part of the label.
        let Some(bracket) = self.text[label_end..range.end].find(']').map(|at| label_end + at) else {
            return;
        };
        // The parser excludes the empty brackets of `[label][]` from the link.
        let is_collapsed = matches!(link_type, LinkType::Collapsed | LinkType::CollapsedUnknown);
        let collapsed = is_collapsed && self.text[range.end..].starts_with("[]");
        let end = if collapsed { range.end + 2 } else { range.end };
        let around = || match kind {
            LinkKind::Link => vec![place(&(range.start..label_start)), place(&(bracket..end))],
            _ => Vec::new(),
        };
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
                self.site(LinkSite {
                    around: around().into(),
                    ..LinkSite::new(kind, role, found, destination)
                });
            }
            LinkType::Autolink | LinkType::Email | LinkType::WikiLink { .. } => {}
            _ => {
                let Some(number) = self.known.link(&name) else { return };
                let index = usize::try_from(number).unwrap_or_default();
                if let Some(pictured) = self.pictured.get_mut(index).filter(|_| kind == LinkKind::Image) {
                    *pictured = true;
                }
                if self.sites.len() + self.uses.len() < MAX_LINKS {
                    self.uses.extend(around().into_iter().map(|place| (number, place)));
                }
            }
        }
    }

    fn definition(&mut self, name: &str, span: Range<usize>, destination: &str) {
        let Some(number) = self.known.link(name).and_then(|number| usize::try_from(number).ok()) else {
            return;
        };
        let Some(text) = self.text.get(..span.end) else { return };
        let Some(colon) = text[span.start..].find("]:").map(|at| span.start + at + 2) else { return };
        let Some(range) = scan::destination_at(text, colon) else { return };
        // The first definition with a name takes precedence.
        if self.definitions.get(number).is_none_or(Option::is_some) {
            return;
        }
        let index = self.sites.len();
        self.site(LinkSite::new(LinkKind::Link, LinkRole::Leads, range, destination.to_owned()));
        if let Some(own) = self.definitions.get_mut(number).filter(|_| index < self.sites.len()) {
            *own = Some(index);
        }
    }

    /// Assigns the uses to their definitions.
    fn define(&mut self) {
        let mut uses = std::mem::take(&mut self.uses);
        uses.sort_unstable_by_key(|(number, place)| (*number, place.start));
        for (number, index) in self.definitions.iter().enumerate() {
            let Some(site) = index.and_then(|index| self.sites.get_mut(index)) else { continue };
            let is_of =
                |(other, _): &(u32, ByteRange)| usize::try_from(*other).is_ok_and(|other| other == number);
            let start = uses.partition_point(|(other, _)| usize::try_from(*other).is_ok_and(|o| o < number));
            let own = uses[start..].iter().take_while(|one| is_of(one));
            site.around = own.map(|(_, place)| place.clone()).collect();
            if self.pictured.get(number).copied().unwrap_or_default() {
                site.role = LinkRole::Embeds;
            }
        }
    }

    /// Finds the destinations in an HTML block, given its lines without the markers of enclosing blocks.
    fn html_block(&mut self, lines: &[Range<usize>]) {
        let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return };
        // The parser drops the first character of `\r\n`.
        let is_end = |between: &str| matches!(between, "" | "\r");
        if lines.windows(2).all(|pair| self.text.get(pair[0].end..pair[1].start).is_some_and(is_end)) {
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
        // A value that continues after a quotation marker cannot be replaced as a single range.
        self.html(&joined, 0..joined.len(), &|range| {
            let ((first, start), (last, end)) = (place(range.start), place(range.end));
            (first == last).then_some(start..end)
        });
    }

    /// Finds the destinations in HTML. `place` maps a range of the HTML to a range of the text.
    fn html(
        &mut self,
        html: &str,
        range: Range<usize>,
        place: &dyn Fn(Range<usize>) -> Option<Range<usize>>,
    ) {
        for token in html::tokens(html, range) {
            let tag = match token {
                html::HtmlToken::Comment(range) => {
                    place(range).into_iter().for_each(|range| self.exclude_range(range));
                    continue;
                }
                html::HtmlToken::Tag(tag) if tag.kind == TagKind::Opening => tag,
                html::HtmlToken::Tag(_) | html::HtmlToken::Text(_) => continue,
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
                        let site = LinkSite::new(LinkKind::Html, role, range, destination);
                        self.site(LinkSite { quote: found.quote, is_in_set: name == "srcset", ..site });
                    }
                }
            }
        }
    }

    /// Finds the destinations of `{% tags %}` outside of code and comments.
    fn tags(&mut self) {
        let text = self.text;
        let silent = std::mem::take(&mut self.silent);
        for tag in tag::tags(text, &silent) {
            let mut seen = Vec::new();
            for value in tag.values().unwrap_or_default() {
                let Some(named) = attribute_target(tag.name, value.name) else { continue };
                // The first of several values with the same name takes precedence.
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
                    AttributeTarget::Spec if self.specs.len() < MAX_LINKS => self.specs.push(destination),
                    AttributeTarget::Spec => {}
                    AttributeTarget::Target(kind, role) => {
                        let site = LinkSite::new(kind, role, range, destination);
                        self.site(LinkSite { quote: value.quote, ..site });
                    }
                }
            }
        }
    }
}

/// The target of a tag attribute.
enum AttributeTarget {
    /// A page, a file, a reusable content block, or a URL.
    Target(LinkKind, LinkRole),
    /// An OpenAPI specification of the organization.
    Spec,
}

/// Returns the target of a tag attribute, by the names of the tag and the attribute.
fn attribute_target(tag: &str, value: &str) -> Option<AttributeTarget> {
    Some(match (tag, value) {
        ("include", "") => AttributeTarget::Target(LinkKind::Include, LinkRole::Embeds),
        ("include", _) => return None,
        ("embed", "url") | (_, "src") => AttributeTarget::Target(LinkKind::Tag, LinkRole::Embeds),
        ("page-ref", "page") | (_, "url") => AttributeTarget::Target(LinkKind::Tag, LinkRole::Leads),
        (tag, "spec") if tag.starts_with("openapi") => AttributeTarget::Spec,
        _ => return None,
    })
}

/// Returns the URLs in a `srcset`. In an unquoted value, URLs next to a comma are omitted, because they cannot be
/// quoted.
fn set(value: &str, quote: Option<char>) -> Vec<Range<usize>> {
    let mut found = html::candidates(value);
    found.retain(|range| quote.is_some() || *range == (0..value.len()));
    found
}
