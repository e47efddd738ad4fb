//! Conversion of HTML pages.

use std::borrow::Cow;

use docs_ports::{ConvertError, ConvertedPage, Document};
use html5gum::{DefaultEmitter, StartTag, Token};

use crate::{
    charset,
    dom::{Dom, Id, MAX_DOM_DEPTH, MAX_NODES, ROOT, is_block},
    link::PageLinks,
    main_content::MainContent,
    render,
    text::collapse,
    tokens::tokens,
    warnings::Warnings,
};

/// Maximum stored length of an attribute in bytes. URLs are the longest values in use.
pub(crate) const MAX_ATTRIBUTE: usize = 8 * 1024;
/// Maximum length of the title of a converted page in characters. It exceeds that of a page, because an export may put
/// the name of its space before the title.
const MAX_TITLE: usize = 1_000;

pub(crate) fn page(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let dom = parse(&charset::html(document))?;
    let mut links = PageLinks::new(document.url.as_deref());
    let head = HtmlHead::read(&dom);
    if let Some(base) = &head.base {
        links.rebase(base);
    }
    let mut warnings = Warnings::default();
    let content = MainContent::find(&dom, &mut warnings);
    let title = content.title().or(head.title).unwrap_or_else(|| document.name.clone());
    let markdown = render::markdown(&content, &mut links);
    Ok(ConvertedPage {
        title: normalize_title(&title),
        markdown,
        links: links.found,
        images: links.images,
        files: Vec::new(),
        warnings: warnings.into_messages(),
    })
}

/// Normalizes a title, and cuts it at [`MAX_TITLE`]. The result is never empty.
pub(crate) fn normalize_title(title: &str) -> String {
    let mut title = collapse(title);
    if let Some((end, _)) = title.char_indices().nth(MAX_TITLE) {
        title.truncate(end);
        title.shrink_to_fit();
    }
    if title.is_empty() { "Untitled".to_owned() } else { title }
}

/// Title and base URL from the document head.
struct HtmlHead {
    title: Option<String>,
    base: Option<String>,
}

impl HtmlHead {
    fn read(dom: &Dom) -> Self {
        let (mut title, mut shared, mut base) = (None, None, None);
        for id in dom.descendants(ROOT, |id| matches!(dom.name(id), "svg" | "body")) {
            match dom.name(id) {
                "title" if title.is_none() => title = Some(collapse(&dom.text_of(id, |_| false))),
                "base" if base.is_none() => base = dom.attribute(id, "href").map(str::to_owned),
                "meta" if dom.attribute(id, "property") == Some("og:title") => {
                    shared = dom.attribute(id, "content").map(collapse);
                }
                _ => {}
            }
        }
        let title = shared.into_iter().chain(title).find(|title| !title.is_empty());
        Self { title, base }
    }
}

/// Parses HTML into a tree, as leniently as browsers do. The work is linear in the input: the standard's rules for
/// mismatched tags are omitted, because their cost grows with the depth of the document.
pub(crate) fn parse(html: &str) -> Result<Dom, ConvertError> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let dom = Dom::with_room(most_nodes(html), html.len());
    let mut builder = DomBuilder { dom, open: Vec::new(), all: 0, counts: Vec::new(), beyond: 0 };
    for token in tokens(html, emitter) {
        match token {
            Token::StartTag(tag) => builder.start(&tag),
            Token::EndTag(tag) => builder.end(&String::from_utf8_lossy(&tag.name)),
            Token::String(text) => {
                let text = String::from_utf8_lossy(&text);
                builder.dom.text(builder.top(), &text);
            }
            Token::Comment(_) | Token::Doctype(_) | Token::Error(_) => {}
        }
        if builder.dom.is_full() {
            let what = format!("an HTML page must have at most {MAX_NODES} elements");
            return Err(ConvertError::TooLarge(what));
        }
    }
    builder.dom.finish();
    Ok(builder.dom)
}

/// Returns an upper bound on the number of nodes in `html`, capped at [`MAX_NODES`].
fn most_nodes(html: &str) -> usize {
    let pairs = html.bytes().zip(html.bytes().skip(1));
    let count = pairs.filter(|pair| match pair {
        // A tag, or text after one.
        (b'<', next) => next.is_ascii_alphabetic() || *next == b'/',
        (b'>', next) => !matches!(next, b'<' | b'>'),
        _ => false,
    });
    count.take(MAX_NODES).count() + 1
}

struct DomBuilder {
    dom: Dom,
    /// Open elements, outermost first.
    open: Vec<OpenElement>,
    /// The union of the flags of all open elements.
    all: u32,
    /// Number of open elements by name number.
    counts: Vec<u16>,
    /// Number of open elements that are too deep to be stored.
    beyond: usize,
}

#[derive(Clone, Copy)]
struct OpenElement {
    id: Id,
    /// The name number of the element.
    name: u16,
    /// Flags that determine which tags close the element, and the union of the flags of its ancestors.
    is: u32,
    around: u32,
}

// Element flags. They make the search of open elements cheap, which runs for every tag.
const LI: u32 = 1;
const LIST: u32 = 1 << 1;
const TERM: u32 = 1 << 2;
const TERMS: u32 = 1 << 3;
const CELL: u32 = 1 << 4;
const CAPTION: u32 = 1 << 5;
const ROW: u32 = 1 << 6;
const ROWS: u32 = 1 << 7;
const TABLE: u32 = 1 << 8;
const OPTION: u32 = 1 << 9;
const SELECT: u32 = 1 << 10;
const LINK: u32 = 1 << 11;
const PART: u32 = 1 << 12;
const PARAGRAPH: u32 = 1 << 13;
const BUTTON: u32 = 1 << 14;
const DETAILS: u32 = 1 << 15;
const TITLE: u32 = 1 << 16;
const HEADING: u32 = 1 << 17;
const BODY: u32 = 1 << 18;
const BLOCK: u32 = 1 << 19;

/// Returns the flags of elements with a name.
fn element_flags(name: &str) -> u32 {
    let own = match name {
        "li" => LI,
        "ul" | "ol" | "menu" => LIST,
        "dt" | "dd" => TERM,
        "dl" => TERMS,
        "td" | "th" => CELL,
        "caption" => CAPTION,
        "tr" => ROW,
        "thead" | "tbody" | "tfoot" => ROWS,
        "table" => TABLE,
        "option" => OPTION,
        "select" => SELECT,
        "a" => LINK,
        "div" | "section" | "article" => PART,
        "p" => PARAGRAPH,
        "button" => BUTTON,
        "details" => DETAILS,
        "title" => TITLE,
        "body" => BODY,
        "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => HEADING,
        _ => 0,
    };
    own | if is_block(name) { BLOCK } else { 0 }
}

impl DomBuilder {
    fn top(&self) -> Id {
        self.open.last().map_or(ROOT, |open| open.id)
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        // A document has at most one of each, so further tags are ignored.
        if matches!(&*name, "html" | "head") {
            return;
        }
        let is = element_flags(&name);
        self.close_implied(&name, is);
        // The root counts as a level.
        if self.open.len() + 1 >= MAX_DOM_DEPTH {
            if !is_void(&name) {
                self.beyond += 1;
            }
            return;
        }
        let id = self.dom.element(self.top(), &name);
        for (name, value) in attributes(tag) {
            self.dom.set(name, &value);
        }
        let is_closed = is_void(&name) || (tag.self_closing && matches!(&*name, "path" | "svg" | "use"));
        if !is_closed {
            let name = self.dom.number_at(id);
            self.open.push(OpenElement { id, name, is, around: self.all });
            self.all |= is;
            let place = usize::from(name);
            if self.counts.len() <= place {
                self.counts.resize(place + 1, 0);
            }
            self.counts[place] += 1;
        }
    }

    fn end(&mut self, name: &str) {
        if name == "br" {
            self.dom.element(self.top(), "br");
            return;
        }
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let Some(number) = self.dom.number_of(name) else { return };
        if self.counts.get(usize::from(number)).is_none_or(|count| *count == 0) {
            return;
        }
        // An end tag of inline formatting closes nothing outside its block, and an end tag of a block nothing outside
        // its cell.
        let is = element_flags(name);
        let stops = match is & BLOCK > 0 {
            true if is & (TABLE | ROWS | ROW | CELL | BODY) > 0 => 0,
            true => CELL | CAPTION,
            false => BLOCK,
        };
        for at in (0..self.open.len()).rev() {
            let open = self.open[at];
            if open.name == number {
                return self.truncate(at);
            }
            if open.is & stops > 0 {
                return;
            }
        }
    }

    /// Closes the elements that a start tag closes implicitly.
    fn close_implied(&mut self, name: &str, is: u32) {
        let (ended, within) = match is & !BLOCK {
            LI => (LI, LIST),
            TERM => (TERM, TERMS),
            CELL => (CELL, ROW | TABLE),
            ROW => (ROW, ROWS | TABLE),
            ROWS => (ROWS, TABLE),
            OPTION => (OPTION, SELECT),
            LINK => (LINK, CELL | LI | TABLE | PART | PARAGRAPH),
            BODY => (TITLE, 0),
            _ => (0, 0),
        };
        self.close(ended, within);
        if is & BLOCK > 0 && !matches!(name, "iframe" | "summary") {
            self.close(PARAGRAPH, CELL | LI | TABLE | BUTTON | DETAILS);
        }
        if is & HEADING > 0 && self.open.last().is_some_and(|open| open.is & HEADING > 0) {
            self.truncate(self.open.len() - 1);
        }
    }

    /// Closes the innermost open element with one of the `ended` flags, unless an element with one of the `within`
    /// flags is nested deeper.
    fn close(&mut self, ended: u32, within: u32) {
        if self.all & ended == 0 {
            return;
        }
        for at in (0..self.open.len()).rev() {
            let is = self.open[at].is;
            if is & ended > 0 {
                return self.truncate(at);
            }
            if is & within > 0 {
                return;
            }
        }
    }

    /// Closes all elements except the outermost `at`.
    fn truncate(&mut self, at: usize) {
        for open in self.open.drain(at..).rev() {
            self.all = open.around;
            self.counts[usize::from(open.name)] -= 1;
        }
    }
}

fn is_void(name: &str) -> bool {
    matches!(
        name,
        "area"
            | "base"
            | "br"
            | "col"
            | "embed"
            | "hr"
            | "img"
            | "input"
            | "link"
            | "meta"
            | "param"
            | "source"
            | "track"
            | "wbr"
    )
}

/// Returns the attributes that the conversion uses.
fn attributes(tag: &StartTag<()>) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
    tag.attributes.iter().filter_map(|(name, value)| {
        let name = str::from_utf8(name).ok().filter(|name| is_wanted(name))?;
        let value: &[u8] = value;
        let value = value.get(..MAX_ATTRIBUTE.min(value.len())).unwrap_or_default();
        Some((name, String::from_utf8_lossy(value)))
    })
}

fn is_wanted(name: &str) -> bool {
    matches!(
        name,
        "alt"
            | "alttext"
            | "aria-hidden"
            | "checked"
            | "class"
            | "colspan"
            | "content"
            | "data-lang"
            | "data-language"
            | "data-src"
            | "display"
            | "encoding"
            | "hidden"
            | "href"
            | "id"
            | "lang"
            | "mathvariant"
            | "name"
            | "property"
            | "role"
            | "rowspan"
            | "src"
            | "start"
            | "title"
            | "type"
    )
}
