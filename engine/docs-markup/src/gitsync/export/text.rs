//! The file of a page or reusable content block. The formatting of an existing file is preserved.

use std::{collections::HashMap, ops::Range};

use docs_model::{ContentRef, PagePatch, check_page_size};

use super::{
    super::{BookFormat, ReferenceKind, RepoPath},
    front::{self, Keys},
    item_paths::{ExportItem, ItemPaths, plain_relative},
};
use crate::{
    diff::{Lines, changes},
    document::emoji_at,
    markdown::{
        CoverSource, LinkSite, PageParts, PageSource, cover_of, links, parse_include, parse_page,
        stored_prelude, web_reference, without_blank_lines,
    },
    reference::parse_exact,
};

/// The content that an export writes to a file.
#[derive(Clone, Copy, Debug)]
pub struct PageContent<'a> {
    /// All fields of the record of the page.
    pub fields: &'a PagePatch,
    pub body: &'a str,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenPage {
    pub text: String,
    /// `true` if the text contains the title. Otherwise, the table of contents must contain it.
    pub is_titled: bool,
}

/// The type of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    Page,
    Include,
}

/// The handling of a file without a heading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heading {
    AsItIs,
    New,
}

pub(super) struct TextWriter<'a> {
    pub(super) kind: TextKind,
    pub(super) format: BookFormat,
    /// The locations of items in the commit of the template, and after the export.
    pub(super) before: &'a ItemPaths,
    pub(super) after: &'a ItemPaths,
    /// The folder of the template, and the folder of the new file.
    pub(super) from: RepoPath,
    pub(super) to: RepoPath,
    /// The default title of a reusable content block, for a file without a title.
    pub(super) plain_title: Option<String>,
    /// Returns `true` if a page is in the space. A page without a file is only identified by its id.
    pub(super) is_page: &'a dyn Fn(&docs_model::PageId) -> bool,
}

/// The parsed existing file.
struct ParsedTemplate<'t> {
    text: &'t str,
    source: PageSource<'t>,
    parts: PageParts,
}

impl TextWriter<'_> {
    /// Returns the text of a file. Parts with the same content as in the template keep its bytes.
    pub(super) fn write(&self, template: Option<&str>, page: PageContent<'_>) -> WrittenPage {
        let template = template.map(|text| {
            let source = self.parse(text);
            let parts = PageParts::from_source(text, &source);
            ParsedTemplate { text, source, parts }
        });
        let body = self.body(template.as_ref().map(|it| &*it.source.body), page.body);
        let keys = self.keys(page.fields);
        if let Some(template) = &template {
            let is_untitled = self.kind == TextKind::Page && template.source.heading.is_none();
            for heading in [Heading::AsItIs, Heading::New].into_iter().take(1 + usize::from(is_untitled)) {
                let text = self.edit_template(template, page.fields, &keys, &body, heading);
                // Only parsing the text again verifies that it has the intended content.
                if let Some(is_titled) = self.imports_same_content(&text, page.fields, &keys, &body) {
                    return WrittenPage { text, is_titled };
                }
            }
        }
        self.fresh(page.fields, &keys, &body)
    }

    fn parse<'t>(&self, text: &'t str) -> PageSource<'t> {
        match self.kind {
            TextKind::Page => parse_page(text),
            TextKind::Include => parse_include(text),
        }
    }

    /// Returns the front matter keys for new fields.
    fn keys(&self, fields: &PagePatch) -> Keys {
        let cover = fields.cover.clone().flatten();
        let path = |target: &ContentRef| match ExportItem::from_ref(target) {
            Some((thing, _)) => self.after.paths.get(&thing).map(|path| plain_relative(&self.to, path)),
            None => match target {
                ContentRef::Url { url } => Some(url.clone()),
                _ => None,
            },
        };
        let cover = cover.map(|cover| CoverSource {
            light: cover.reference.as_ref().and_then(path),
            dark: cover.reference_dark.as_ref().and_then(path),
            y_pos: cover.y_pos,
        });
        front::keys(fields, cover.filter(|it| it.light.is_some() || it.dark.is_some()).as_ref())
    }

    /// Returns the recognized front matter keys of a file. For the cover, the value is its target after the export.
    fn keys_of(&self, source: &PageSource<'_>, folder: &RepoPath, places: &ItemPaths) -> Keys {
        let find = |destination: &str| {
            let local = folder.join(destination).ok().and_then(|path| places.things.get(&path).cloned());
            match local {
                Some(ExportItem::File(file)) => Some(ContentRef::File { file }),
                _ => web_reference(destination),
            }
        };
        let cover = source.front.cover.as_ref().and_then(|cover| cover_of(cover, find));
        let fields = source.fields();
        self.keys(&PagePatch { cover: Some(cover), ..fields })
    }

    /// Returns the template, with front matter, heading and body replaced where their content differs.
    fn edit_template(
        &self,
        template: &ParsedTemplate<'_>,
        fields: &PagePatch,
        keys: &Keys,
        body: &str,
        heading: Heading,
    ) -> String {
        let ParsedTemplate { text, source, parts } = template;
        let eol = if text[..parts.body].contains("\r\n") { "\r\n" } else { "\n" };
        let (before, after) = self.with_title(source, fields, keys);
        let mut rest = parts.front_end;
        let mut head = text[..rest].to_owned();
        if before != after {
            let yaml = parts.yaml.clone().unwrap_or(rest..rest);
            let new = front::edit_yaml(&text[yaml.clone()], &before, &after, eol);
            let mark = text.len() - text.strip_prefix('\u{feff}').unwrap_or(text).len();
            head = match &parts.yaml {
                // Removing the front matter also removes the blank lines after it.
                _ if new.trim().is_empty() => {
                    rest = text.len() - without_blank_lines(&text[rest..]).len();
                    text[..mark].to_owned()
                }
                Some(_) => format!("{}{new}{}", &text[..yaml.start], &text[yaml.end..rest]),
                None => format!("{head}---{eol}{new}---{eol}{eol}"),
            };
        }
        let prelude = &text[parts.prelude.clone()];
        let (prelude, body) = match body.strip_prefix(&*stored_prelude(prelude)) {
            Some(after) => (prelude, after),
            None => ("", body),
        };
        let between = match (&parts.heading, heading) {
            (Some(range), _) => {
                let heading = self.heading(source, fields, &text[range.clone()], eol);
                let before = &text[rest..parts.prelude.start];
                format!("{before}{prelude}{heading}{}", &text[range.end..parts.body])
            }
            (None, Heading::AsItIs) => text[rest..parts.body].to_owned(),
            (None, Heading::New) => {
                format!("{}# {}{eol}{eol}", &text[rest..parts.body], escape(&heading_text(fields)))
            }
        };
        // If nothing followed the heading, there is no separator between heading and body.
        let mut gap = String::new();
        if parts.body == text.len() && !body.is_empty() && !between.is_empty() {
            let lines = between.len() - between.trim_end_matches(['\n', '\r']).len();
            gap = eol.repeat(2_usize.saturating_sub(lines / eol.len()));
        }
        format!("{head}{between}{gap}{body}")
    }

    /// Returns the heading of the template, or a new one if the title differs.
    fn heading(&self, source: &PageSource<'_>, fields: &PagePatch, written: &str, eol: &str) -> String {
        let now = source.heading.as_ref().map(|heading| match &heading.emoji {
            Some(emoji) => format!("{emoji} {}", heading.title),
            None => heading.title.clone(),
        });
        let new = heading_text(fields);
        if now.as_ref() == Some(&new) {
            return written.to_owned();
        }
        let end = written.trim_end_matches(['\r', '\n']).len();
        let end = if end == written.len() { eol } else { &written[end..] };
        format!("{}{end}", title_line(&new))
    }

    /// Returns the current and the new front matter, with the title if the template's front matter has one.
    fn with_title(&self, source: &PageSource<'_>, fields: &PagePatch, keys: &Keys) -> (Keys, Keys) {
        let mut before = self.keys_of(source, &self.from, self.before);
        let mut after = keys.clone();
        if let Some(title) = &source.front.fields.title
            && !before.contains_key("title")
        {
            before.insert("title".to_owned(), title.clone().into());
            if !after.contains_key("title") {
                after.insert("title".to_owned(), fields.title.clone().unwrap_or_default().into());
            }
        }
        let is_new = self.kind == TextKind::Include && !before.contains_key("title");
        if is_new && fields.title != self.plain_title {
            after.insert("title".to_owned(), fields.title.clone().unwrap_or_default().into());
        }
        // A path that still resolves to the same image is preserved.
        for key in ["cover", "coverDark"] {
            let written = source.front.cover.as_ref().and_then(|cover| match key {
                "cover" => cover.light.as_deref(),
                _ => cover.dark.as_deref(),
            });
            let path = |folder: &RepoPath| written.and_then(|written| folder.join(written).ok());
            if written.is_some_and(|written| web_reference(written).is_none())
                && before.get(key) == after.get(key)
                && path(&self.to).and_then(|path| self.after.things.get(&path))
                    != path(&self.from).and_then(|path| self.before.things.get(&path))
            {
                before.remove(key);
            }
        }
        (before, after)
    }

    /// Returns `None` if an import of the text does not return this content. Otherwise returns `true` if the text
    /// contains the title.
    fn imports_same_content(&self, text: &str, fields: &PagePatch, keys: &Keys, body: &str) -> Option<bool> {
        let source = self.parse(text);
        let read = match self.kind {
            TextKind::Page => source.repository_fields(self.format),
            TextKind::Include => source.fields(),
        };
        let is_titled = read.title.is_some();
        let has_title = match self.kind {
            TextKind::Page => !is_titled || read.title == fields.title,
            TextKind::Include => read.title.as_ref().or(self.plain_title.as_ref()) == fields.title.as_ref(),
        };
        let emoji = fields.emoji.clone().flatten().filter(|_| fields.icon.clone().flatten().is_none());
        let says = has_title
            && source.body == without_blank_lines(body)
            && read.emoji.flatten() == emoji
            && self.keys_of(&source, &self.to, self.after) == *keys;
        says.then_some(is_titled)
    }

    fn fresh(&self, fields: &PagePatch, keys: &Keys, body: &str) -> WrittenPage {
        let title = fields.title.clone().unwrap_or_default();
        let with_heading = || {
            let gap = if body.is_empty() { "" } else { "\n" };
            format!("{}# {}\n{gap}{body}", front_matter_block(keys), escape(&heading_text(fields)))
        };
        let with_key = || {
            let mut keys = keys.clone();
            keys.insert("title".to_owned(), title.clone().into());
            format!("{}{body}", front_matter_block(&keys))
        };
        let mut forms: Vec<String> = Vec::with_capacity(2);
        if self.kind == TextKind::Page {
            forms.push(with_heading());
        }
        let said = |text: &String| self.imports_same_content(text, fields, keys, body).is_some();
        if !forms.first().is_some_and(said) {
            forms.push(with_key());
        }
        // No form represents the page completely. Keeping the heading preserves the most.
        let at = forms.iter().position(said).unwrap_or_default();
        WrittenPage { text: forms.swap_remove(at), is_titled: true }
    }

    /// Returns the body with id-based destinations replaced by paths, in the notation of the template.
    fn body(&self, template: Option<&str>, body: &str) -> String {
        let template = template.unwrap_or_default();
        // A page that exceeds the size limit was imported without its text.
        if body.is_empty() && check_page_size(template).is_err() {
            return template.to_owned();
        }
        let known = DestinationSpellings::new(template, body, self);
        let mut out = String::with_capacity(body.len());
        let mut at = 0;
        for site in links(body) {
            let (range, text) = match known.destination_at(&site) {
                Some((range, old)) if self.resolves_to_same(&old.site.destination, &old.lasting) => {
                    (range, template[old.site.range.clone()].to_owned())
                }
                _ => match self.destination(&site, &known) {
                    Some(destination) => (site.range.clone(), site.escape_destination(&destination)),
                    None => continue,
                },
            };
            if range.start < at {
                continue;
            }
            out.push_str(&body[at..range.start]);
            out.push_str(&text);
            at = range.end;
        }
        out.push_str(&body[at..]);
        out
    }

    /// Returns `true` if a destination of the template resolves to the same item from the new location.
    fn resolves_to_same(&self, written: &str, lasting: &str) -> bool {
        let is_same = |found: Option<String>| found.as_deref() == Some(lasting);
        is_same(self.after.stored_destination(written, &self.to))
            || is_same(self.after.hosted_destination(written, &self.to))
    }

    /// Returns the destination that an import stores for a destination of the template.
    fn stored_destination(&self, site: &LinkSite) -> Option<String> {
        let (written, places) = (&site.destination, self.before);
        let hosted = || {
            ReferenceKind::from_site(site)
                .is_link()
                .then(|| places.hosted_destination(written, &self.from))
                .flatten()
        };
        places.stored_destination(written, &self.from).or_else(hosted)
    }

    /// Formats an id-based destination: in a notation from the template, as a path, or as a broken link.
    fn destination(&self, site: &LinkSite, known: &DestinationSpellings) -> Option<String> {
        let spelled =
            known.spellings(&site.destination).find(|old| self.resolves_to_same(old, &site.destination));
        if let Some(spelled) = spelled {
            return Some(spelled.to_owned());
        }
        let target = parse_exact(&site.destination)?;
        let (thing, _) = ExportItem::from_ref(&target)?;
        match (self.after.relative_path(&target, &self.to), thing) {
            (Some(path), _) => Some(path),
            // Pages without a file can only be referenced by id.
            (None, ExportItem::Page(page)) if (self.is_page)(&page) => None,
            (None, _) => Some(format!("/broken{}", site.destination)),
        }
    }
}

/// A destination in the template that an import replaces by an id, or by a URL on the Git host.
struct OldDestination {
    site: LinkSite,
    lasting: String,
}

/// The original notations of the destinations in the template that are stored by id.
struct DestinationSpellings {
    olds: Vec<OldDestination>,
    /// The positions of these destinations in the new body, within equal lines: the byte range and the index.
    places: HashMap<usize, (Range<usize>, usize)>,
    by_destination: HashMap<String, Vec<usize>>,
}

impl DestinationSpellings {
    fn new(template: &str, body: &str, writer: &TextWriter<'_>) -> Self {
        let mut olds = Vec::new();
        // The template in the form that an import stores, and the ranges of the destinations in it.
        let mut kept = String::with_capacity(template.len());
        let mut stand = Vec::new();
        let mut at = 0;
        for site in links(template) {
            let lasting =
                match site.destination.strip_prefix("/broken").filter(|it| parse_exact(it).is_some()) {
                    Some(broken) => Some(broken.to_owned()),
                    None => writer.stored_destination(&site),
                };
            let Some(lasting) = lasting else { continue };
            kept.push_str(&template[at..site.range.start]);
            let start = kept.len();
            kept.push_str(&site.escape_destination(&lasting));
            stand.push(start..kept.len());
            at = site.range.end;
            olds.push(OldDestination { site, lasting });
        }
        kept.push_str(&template[at..]);
        let mut by_destination: HashMap<String, Vec<usize>> = HashMap::new();
        for (number, old) in olds.iter().enumerate() {
            by_destination.entry(old.lasting.clone()).or_default().push(number);
        }
        let places = if olds.is_empty() { HashMap::new() } else { same_places(&kept, body, &stand) };
        Self { olds, places, by_destination }
    }

    /// Returns the destination of the template at the same position.
    fn destination_at(&self, site: &LinkSite) -> Option<(Range<usize>, &OldDestination)> {
        // A destination that needs no quotes now may have been quoted before.
        let before = site.range.start.checked_sub(1);
        let near = |start: &usize| self.places.get(start);
        let (range, number) = near(&site.range.start).or_else(|| near(&before?))?;
        let old = self.olds.get(*number).filter(|old| old.lasting == site.destination)?;
        Some((range.clone(), old))
    }

    /// Returns all notations of a destination in the template, in order.
    fn spellings<'s>(&'s self, lasting: &str) -> impl Iterator<Item = &'s str> {
        let numbers = self.by_destination.get(lasting).map_or([].as_slice(), Vec::as_slice);
        numbers.iter().filter_map(|number| Some(self.olds.get(*number)?.site.destination.as_str()))
    }
}

/// Maps ranges of one text to another, within equal lines.
fn same_places(old: &str, new: &str, ranges: &[Range<usize>]) -> HashMap<usize, (Range<usize>, usize)> {
    let mut lines = Lines::default();
    let (old_lines, new_lines) = (lines.number(old), lines.number(new));
    let (old_ends, new_ends) = (starts(old), starts(new));
    let mut places = HashMap::new();
    let mut ranges = ranges.iter().enumerate().peekable();
    let mut from = (0, 0);
    let ends = (old_lines.len(), new_lines.len());
    let changes = changes(&old_lines, &new_lines);
    let gaps = changes.iter().map(|change| (change.old.clone(), change.new.clone()));
    for (old_gap, new_gap) in gaps.chain([(ends.0..ends.0, ends.1..ends.1)]) {
        let (start, end) = (old_ends[from.0], old_ends[old_gap.start]);
        let other = new_ends[from.1];
        while let Some((number, range)) = ranges.peek().filter(|(_, range)| range.start < end).cloned() {
            ranges.next();
            if range.start >= start {
                let here = range.start - start + other;
                places.insert(here, (here..here + range.len(), number));
            }
        }
        from = (old_gap.end, new_gap.end);
    }
    places
}

/// Returns the start offset of each line of `text`, and the end of the text.
fn starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let mut starts = vec![0];
    starts.extend(text.split_inclusive('\n').map(|line| {
        at += line.len();
        at
    }));
    starts
}

fn front_matter_block(keys: &Keys) -> String {
    if keys.is_empty() { String::new() } else { format!("---\n{}---\n\n", front::fresh(keys, "\n")) }
}

/// Returns the title as a heading, preceded by the emoji unless there is an icon.
fn heading_text(fields: &PagePatch) -> String {
    let title = fields.title.clone().unwrap_or_default();
    let has_icon = fields.icon.clone().flatten().is_some();
    match fields.emoji.clone().flatten().filter(|_| !has_icon) {
        Some(emoji) => format!("{emoji} {title}"),
        None => title,
    }
}

/// Returns a title as the heading of a page file, without a line end.
#[must_use]
pub fn title_line(title: &str) -> String {
    format!("# {}", escape(title))
}

/// Escapes `text` as inline Markdown.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    let mut at = 0;
    while let Some(c) = rest.next() {
        let here = &text[at..];
        at += c.len_utf8();
        let inside_word = before.is_alphanumeric() && rest.peek().is_some_and(|next| next.is_alphanumeric());
        let is_special = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '~' => true,
            '_' => !inside_word,
            '&' => rest.peek().is_some_and(|next| next.is_alphanumeric() || *next == '#'),
            // At the end, it would close a heading.
            '#' => before.is_whitespace() || before == '#',
            ':' => emoji_at(here).is_some(),
            _ => false,
        };
        if is_special {
            out.push('\\');
        }
        out.push(if c == '\n' || c == '\r' { ' ' } else { c });
        before = c;
    }
    out
}
