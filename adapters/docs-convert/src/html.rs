//! HTML as a page.

use std::borrow::Cow;

use docs_ports::{ConvertError, ConvertedPage, Document};
use html5gum::{DefaultEmitter, StartTag, Token};

use crate::{
    charset,
    clean::Content,
    dom::{Dom, Id, MAX_DEPTH, MAX_NODES, ROOT, is_block},
    link::Links,
    render,
    text::collapse,
    tokens::tokens,
};

/// Longest attribute that is kept, in bytes: addresses are the longest that mean anything.
const MAX_ATTRIBUTE: usize = 8 * 1024;

pub(crate) fn page(document: &Document) -> Result<ConvertedPage, ConvertError> {
    let dom = parse(&charset::html(document))?;
    let mut links = Links::new(document.url.as_deref());
    let head = Head::read(&dom);
    if let Some(base) = &head.base {
        links.rebase(base);
    }
    let content = Content::of(&dom);
    let title = content.title().or(head.title).unwrap_or_else(|| document.name.clone());
    let markdown = render::markdown(&content, &mut links);
    Ok(ConvertedPage {
        title: titled(&title),
        markdown,
        links: links.found,
        images: links.images,
        files: Vec::new(),
    })
}

/// A title, never empty.
pub(crate) fn titled(title: &str) -> String {
    let title = collapse(title);
    if title.is_empty() { "Untitled".to_owned() } else { title }
}

/// What the head says.
struct Head {
    title: Option<String>,
    base: Option<String>,
}

impl Head {
    fn read(dom: &Dom) -> Self {
        let (mut title, mut shared, mut base) = (None, None, None);
        for id in dom.below(ROOT, |id| matches!(dom.name(id), "svg" | "body")) {
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

/// Reads HTML into a tree, as forgiving as readers of the web are used to. The work grows with the bytes alone: the
/// rules of the standard for tags that do not match are left out, which cost more the deeper a document is.
pub(crate) fn parse(html: &str) -> Result<Dom, ConvertError> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    let dom = Dom::with_room(most_nodes(html), html.len());
    let mut builder = Builder { dom, open: vec![ROOT], beyond: 0 };
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

/// At most how many nodes a text is, as far as they are not too many.
fn most_nodes(html: &str) -> usize {
    let pairs = html.bytes().zip(html.bytes().skip(1));
    let count = pairs.filter(|pair| match pair {
        // A tag, and text behind one.
        (b'<', next) => next.is_ascii_alphabetic() || *next == b'/',
        (b'>', next) => !matches!(next, b'<' | b'>'),
        _ => false,
    });
    count.take(MAX_NODES).count() + 1
}

struct Builder {
    dom: Dom,
    /// The elements that are open, from the outermost.
    open: Vec<Id>,
    /// Elements that are open and too deep to be in the tree.
    beyond: usize,
}

impl Builder {
    fn top(&self) -> Id {
        self.open.last().copied().unwrap_or(ROOT)
    }

    fn start(&mut self, tag: &StartTag<()>) {
        let name = String::from_utf8_lossy(&tag.name);
        // There is one of each, whatever the text says.
        if matches!(&*name, "html" | "head") {
            return;
        }
        self.close_implied(&name);
        if self.open.len() >= MAX_DEPTH {
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
            self.open.push(id);
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
        // What marks text ends within its block; a block ends within its cell.
        let is_stopped = |open: &str| match is_block(name) {
            true => is_cell(open) && !is_table(name),
            false => is_block(open),
        };
        for at in (1..self.open.len()).rev() {
            let open = self.open.get(at).map(|id| self.dom.name(*id)).unwrap_or_default();
            if open == name {
                self.open.truncate(at);
                return;
            }
            if is_stopped(open) {
                return;
            }
        }
    }

    /// Ends the elements that an element of a name ends without saying so.
    fn close_implied(&mut self, name: &str) {
        match name {
            "li" => self.close(&["li"], &["ul", "ol", "menu"]),
            "dt" | "dd" => self.close(&["dt", "dd"], &["dl"]),
            "td" | "th" => self.close(&["td", "th"], &["tr", "table"]),
            "tr" => self.close(&["tr"], &["thead", "tbody", "tfoot", "table"]),
            "thead" | "tbody" | "tfoot" => self.close(&["thead", "tbody", "tfoot"], &["table"]),
            "option" => self.close(&["option"], &["select"]),
            "a" => self.close(&["a"], &["td", "th", "li", "table", "div", "p", "section", "article"]),
            "body" => self.close(&["title"], &[]),
            _ => {}
        }
        if is_block(name) && !matches!(name, "iframe" | "summary") {
            self.close(&["p"], &["td", "th", "li", "table", "button", "details"]);
        }
        let is_heading = |name: &str| matches!(name, "h1" | "h2" | "h3" | "h4" | "h5" | "h6");
        if is_heading(name) && is_heading(self.dom.name(self.top())) {
            self.open.pop();
        }
    }

    /// Ends the innermost open element of these names, unless one of those is around it.
    fn close(&mut self, names: &[&str], within: &[&str]) {
        for at in (1..self.open.len()).rev() {
            let open = self.open.get(at).map(|id| self.dom.name(*id)).unwrap_or_default();
            if names.contains(&open) {
                self.open.truncate(at);
                return;
            }
            if within.contains(&open) {
                return;
            }
        }
    }
}

fn is_cell(name: &str) -> bool {
    matches!(name, "td" | "th" | "caption")
}

fn is_table(name: &str) -> bool {
    matches!(name, "table" | "thead" | "tbody" | "tfoot" | "tr" | "td" | "th" | "body" | "html")
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

/// The attributes that mean something here.
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
            | "aria-hidden"
            | "checked"
            | "class"
            | "colspan"
            | "content"
            | "data-lang"
            | "data-language"
            | "data-src"
            | "hidden"
            | "href"
            | "id"
            | "lang"
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
