//! Rendering of the tree as Markdown of the platform.

mod blocks;
mod escape;
mod formula;
mod inline;
mod list;
mod table;
mod tabs;

use self::{
    blocks::{BlockKind, Blocks},
    inline::{InlineContext, LineWriter, Marks},
};
use crate::{
    dom::{Id, NodeKind},
    hint::{hint_style, style_of},
    link::PageLinks,
    main_content::MainContent,
    text::{collapse, is_full, longest_run},
};

/// Maximum nesting of lists and quotations. Deeper ones are rendered on the last level. The limit exists because each
/// level adds a prefix to every line.
const MAX_NESTED: usize = 8;
/// Classes of the title line of a hint.
const HINT_TITLES: [&str; 4] =
    ["admonition-title", "admonition-heading", "custom-block-title", "markdown-alert-title"];

/// Renders the content of a page as Markdown.
pub(crate) fn markdown(content: &MainContent<'_>, links: &mut PageLinks) -> String {
    let mut renderer = Renderer { content, links, nested: 0, language: None };
    let mut blocks = Blocks::default();
    renderer.children(content.top, &mut blocks);
    blocks.join()
}

struct Renderer<'a, 'l> {
    content: &'a MainContent<'a>,
    links: &'l mut PageLinks,
    /// Number of enclosing lists and quotations.
    nested: usize,
    /// The code language stated by an enclosing element.
    language: Option<String>,
}

impl Renderer<'_, '_> {
    /// Renders the children of an element as blocks.
    fn children(&mut self, parent: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        let mut line = LineWriter::new(InlineContext::Paragraph);
        for child in dom.children(parent) {
            if out.is_full() || line.is_full() {
                break;
            }
            if self.content.is_dropped(child) {
                continue;
            }
            let mut formula = Blocks::default();
            if self.display_formula(child, &mut formula) {
                out.push_block(BlockKind::Paragraph, |text| line.finish(text));
                formula.iter().for_each(|(text, kind)| out.push(text, kind));
                continue;
            }
            // A link around blocks stays one link, so its blocks are rendered as one line.
            if dom.is_block(child) || (dom.has_block(child) && dom.name(child) != "a") {
                out.push_block(BlockKind::Paragraph, |text| line.finish(text));
                self.block(child, out);
            } else {
                self.runs(child, Marks::default(), &mut line);
            }
        }
        out.push_block(BlockKind::Paragraph, |text| line.finish(text));
    }

    fn paragraph(&mut self, id: Id, out: &mut Blocks) {
        let text = self.line(std::iter::once(id), InlineContext::Paragraph);
        out.push(&text, BlockKind::Paragraph);
    }

    /// Renders inline elements as one line.
    fn line(&mut self, ids: impl Iterator<Item = Id>, context: InlineContext) -> String {
        let mut line = LineWriter::new(context);
        for id in ids {
            self.runs(id, Marks::default(), &mut line);
        }
        let mut out = String::new();
        line.finish(&mut out);
        out
    }

    fn block(&mut self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        let name = dom.name(id);
        match name {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(id, name, out),
            "ul" | "ol" | "menu" if self.nested < MAX_NESTED => self.list(id, out),
            "blockquote" if self.nested < MAX_NESTED => self.quote(id, out),
            "pre" => self.code(id, out),
            "table" => self.table(id, out),
            "hr" => out.push_other("***"),
            "details" => self.details(id, out),
            "figure" => self.figure(id, out),
            "iframe" => self.embed(id, out),
            "dt" => {
                let title = self.line(dom.children(id), InlineContext::Cell);
                if !title.is_empty() {
                    out.push_other(&format!("**{}**", title.trim_matches('*')));
                }
            }
            "note" => self.note(id, out),
            _ if self.tabs(id, out) => {}
            _ => match hint_style(&dom.classes(id)) {
                Some(style) if dom.has_block(id) => self.hint(id, style, out),
                _ => {
                    let told = self.language(id).or_else(|| self.language.clone());
                    let around = std::mem::replace(&mut self.language, told);
                    self.children(id, out);
                    self.language = around;
                }
            },
        }
    }

    fn heading(&mut self, id: Id, name: &str, out: &mut Blocks) {
        let dom = self.content.dom;
        let text = self.line(dom.children(id), InlineContext::Heading);
        if text.is_empty() {
            return;
        }
        let level = name.bytes().last().map_or(2, |digit| usize::from(digit.saturating_sub(b'0')));
        // Level 1 is reserved for the title.
        let level = (level + self.content.shift).clamp(2, 6);
        let plain = collapse(&dom.text_of(id, |id| self.content.is_dropped(id)));
        let anchor = self.anchor(id).filter(|anchor| *anchor != docs_markup::heading_anchor(&plain));
        let anchor =
            anchor.map(|anchor| format!(" <a href=\"#{anchor}\" id=\"{anchor}\"></a>")).unwrap_or_default();
        out.push_other(&format!("{} {text}{anchor}", "#".repeat(level)));
    }

    /// Returns the anchor of a heading: its own id, or that of an element in it.
    fn anchor(&self, id: Id) -> Option<String> {
        let dom = self.content.dom;
        let own = std::iter::once(id).chain(dom.descendants(id, |_| false).take(20));
        let anchor = own.filter_map(|id| dom.attribute(id, "id")).find(|id| !id.is_empty())?;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._+".contains(c);
        (anchor.len() <= 200 && anchor.chars().all(is_plain)).then(|| anchor.to_owned())
    }

    fn quote(&mut self, id: Id, out: &mut Blocks) {
        let mut blocks = Blocks::default();
        self.nested += 1;
        self.children(id, &mut blocks);
        self.nested -= 1;
        let text = blocks.join();
        if !text.is_empty() {
            out.push_block(BlockKind::Other, |out| prefixed(&text, "> ", "> ", out));
        }
    }

    /// Renders a code block with its language.
    fn code(&self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        let mut code = String::new();
        self.raw(id, &mut code);
        let code = code.strip_prefix('\n').unwrap_or(&code).trim_end();
        if code.trim().is_empty() {
            return;
        }
        let inner = dom.descendants(id, |_| false).take(5);
        let own = std::iter::once(id).chain(inner).find_map(|id| self.language(id));
        let language = own.or_else(|| self.language.clone()).unwrap_or_default();
        let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
        out.push_other(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    fn raw(&self, id: Id, out: &mut String) {
        let dom = self.content.dom;
        for id in dom.descendants(id, |id| self.content.is_dropped(id)) {
            match dom.kind(id) {
                NodeKind::Text(text) => {
                    for (at, part) in text.split("\r\n").enumerate() {
                        out.push_str(if at > 0 { "\n" } else { "" });
                        out.push_str(part);
                    }
                }
                NodeKind::Element("br") => out.push('\n'),
                // Some pages wrap each line in an element instead of using line breaks.
                NodeKind::Element("div" | "p") => {
                    if !out.is_empty() && !out.ends_with('\n') {
                        out.push('\n');
                    }
                }
                NodeKind::Element(_) => {}
            }
        }
    }

    /// Returns the language stated by the attributes or classes of an element.
    fn language(&self, id: Id) -> Option<String> {
        let dom = self.content.dom;
        let told = dom.attribute(id, "data-lang").or_else(|| dom.attribute(id, "data-language"));
        let classes = dom.classes(id);
        let prefixes = ["language-", "lang-", "highlight-source-", "highlight-", "brush:"];
        let by_class =
            || classes.iter().find_map(|class| prefixes.iter().find_map(|prefix| class.strip_prefix(prefix)));
        let language = told.or_else(by_class)?;
        let is_word = |c: char| c.is_ascii_alphanumeric() || "+-#._".contains(c);
        let fits = !language.is_empty() && language.len() <= 30 && language.chars().all(is_word);
        (fits && !matches!(language, "none" | "text" | "plaintext")).then(|| language.to_ascii_lowercase())
    }

    fn details(&mut self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        let summary = dom.children(id).find(|child| dom.name(*child) == "summary");
        let title = summary.map(|summary| collapse(&dom.text_of(summary, |id| self.content.is_dropped(id))));
        let title = title.filter(|title| !title.is_empty()).unwrap_or_else(|| "Details".to_owned());
        let mut blocks = Blocks::default();
        for child in dom.children(id).filter(|child| Some(*child) != summary) {
            match dom.is_block(child) || dom.has_block(child) {
                true if !self.content.is_dropped(child) => self.block(child, &mut blocks),
                true => {}
                false => self.paragraph(child, &mut blocks),
            }
        }
        let (title, body) = (escape::html(&title), blocks.join());
        out.push_other(&format!("<details>\n\n<summary>{title}</summary>\n\n{body}\n</details>"));
    }

    fn hint(&mut self, id: Id, style: &str, out: &mut Blocks) {
        let dom = self.content.dom;
        let mut blocks = Blocks::default();
        let is_title =
            |child: &Id| dom.classes(*child).iter().any(|class| HINT_TITLES.contains(&class.as_str()));
        let title = dom.descendants(id, |_| false).take(10).find(is_title);
        let says_kind = title.is_none_or(|title| {
            let plain = collapse(&dom.text_of(title, |_| false));
            plain.is_empty() || style_of(&plain.to_lowercase()).is_some()
        });
        self.children(id, &mut blocks);
        let skipped = usize::from(title.is_some());
        let titles = blocks.range(0..skipped.min(blocks.len()));
        let mut body = String::new();
        for (text, _) in titles.filter(|_| !says_kind) {
            body = format!("**{}**\n", text.trim_matches('*'));
        }
        if !body.is_empty() && blocks.len() > skipped {
            body.push('\n');
        }
        blocks::join(blocks.range(skipped.min(blocks.len())..blocks.len()), &mut body);
        if !body.is_empty() {
            out.push_other(&format!("{{% hint style=\"{style}\" %}}\n{body}{{% endhint %}}"));
        }
    }

    /// Renders an image with its caption. Other figures are rendered as their content.
    fn figure(&mut self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        // The descendants are not collected, because figures may be nested.
        let (mut image, mut caption, mut is_more) = (None, None, false);
        for below in dom.descendants(id, |id| self.content.is_dropped(id)) {
            match dom.name(below) {
                "img" => is_more |= image.replace(below).is_some(),
                "figcaption" if caption.is_none() => caption = Some(below),
                "pre" | "table" | "ul" | "ol" | "blockquote" => is_more = true,
                _ => {}
            }
            if is_more {
                break;
            }
        }
        let own = image.zip(caption).filter(|_| !is_more);
        if !own.is_some_and(|(image, caption)| self.picture(image, caption, out)) {
            self.children(id, out);
        }
    }

    /// Renders an image with its caption. Returns `false` if the caption is empty.
    fn picture(&mut self, image: Id, caption: Id, out: &mut Blocks) -> bool {
        let dom = self.content.dom;
        let caption = collapse(&dom.text_of(caption, |id| self.content.is_dropped(id)));
        if caption.is_empty() {
            return false;
        }
        let Some(source) = self.source(image) else { return true };
        let alt = escape::html(&collapse(dom.attribute(image, "alt").unwrap_or_default()));
        let (source, caption) = (escape::html(&source), escape::html(&caption));
        out.push_other(&format!(
            "<figure><img src=\"{source}\" alt=\"{alt}\"><figcaption><p>{caption}</p></figcaption></figure>"
        ));
        true
    }

    fn embed(&mut self, id: Id, out: &mut Blocks) {
        let source = self.content.dom.attribute(id, "src").unwrap_or_default();
        if let Some(url) = self.links.link(source).filter(|url| url.starts_with("https://")) {
            out.push_other(&format!("{{% embed url=\"{url}\" %}}"));
        }
    }

    /// Renders a footnote definition.
    fn note(&mut self, id: Id, out: &mut Blocks) {
        let name = self.content.dom.attribute(id, "name").unwrap_or_default().to_owned();
        let mut blocks = Blocks::default();
        self.children(id, &mut blocks);
        let text = blocks.join();
        if !text.is_empty() {
            let first = format!("[^{name}]: ");
            out.push_block(BlockKind::Other, |out| prefixed(&text, &first, "    ", out));
        }
    }

    /// Returns the destination of an image.
    fn source(&mut self, id: Id) -> Option<String> {
        let dom = self.content.dom;
        let candidates = [dom.attribute(id, "src"), dom.attribute(id, "data-src")];
        // Lazily loaded images have an inline placeholder as `src`.
        candidates.into_iter().flatten().find_map(|source| self.links.image(source))
    }

    /// Renders an inline element.
    fn runs(&mut self, id: Id, marks: Marks, out: &mut LineWriter) {
        let dom = self.content.dom;
        if self.content.is_dropped(id) {
            return;
        }
        let name = match dom.kind(id) {
            NodeKind::Element(name) => name,
            NodeKind::Text(text) => return out.text(text, marks),
        };
        if let Some(tex) = self.formula(id) {
            return out.formula(&tex);
        }
        match name {
            "br" => out.line_break(),
            "img" => {
                let alt = collapse(dom.attribute(id, "alt").unwrap_or_default());
                match self.source(id) {
                    Some(source) => out.image(&source, &alt),
                    None => out.text(&alt, marks),
                }
            }
            "input" => out.text("", marks),
            "code" | "tt" | "samp" => {
                out.code(&collapse(&dom.text_of(id, |id| self.content.is_dropped(id))));
            }
            "note-mark" => out.note(dom.attribute(id, "name").unwrap_or_default()),
            "a" => self.link(id, marks, out),
            "iframe" | "table" | "hr" => out.text(" ", marks),
            name => {
                let marks = marks.with_element(name);
                let is_block = dom.is_block(id);
                for child in dom.children(id) {
                    self.runs(child, marks, out);
                }
                if is_block {
                    out.text(" ", marks);
                }
            }
        }
    }

    fn link(&mut self, id: Id, marks: Marks, out: &mut LineWriter) {
        let dom = self.content.dom;
        let href = dom.attribute(id, "href").unwrap_or_default();
        // The label is dropped immediately, because links may be nested.
        let (is_sign, is_empty) = {
            let label = collapse(&dom.text_of(id, |id| self.content.is_dropped(id)));
            (matches!(label.as_str(), "" | "#" | "¶" | "§" | "🔗" | "\u{200b}"), label.is_empty())
        };
        // A permalink symbol next to a heading.
        if href.starts_with('#') && is_sign {
            return;
        }
        let is_empty = is_empty && !self.has_image(id);
        let to = self.links.link(href).filter(|_| !is_empty);
        let mut inside = to.as_ref().map(|_| out.inside_link());
        for child in dom.children(id) {
            self.runs(child, marks, inside.as_mut().unwrap_or(out));
        }
        if let (Some(to), Some(inside)) = (to, inside) {
            out.link(&to, inside);
        }
    }

    /// Returns `true` if an element contains a visible image.
    fn has_image(&mut self, id: Id) -> bool {
        let dom = self.content.dom;
        let content = self.content;
        let images = dom.descendants(id, |id| content.is_dropped(id)).filter(|id| dom.name(*id) == "img");
        images.into_iter().any(|image| self.source(image).is_some())
    }
}

/// Writes text with one prefix for the first line and another for the rest. Blank lines get the prefix without trailing
/// spaces.
fn prefixed(text: &str, first: &str, rest: &str, out: &mut String) {
    for (at, line) in text.trim_end().lines().enumerate() {
        if is_full(out) {
            break;
        }
        if at > 0 {
            out.push('\n');
        }
        let prefix = if at == 0 { first } else { rest };
        out.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        out.push_str(line);
    }
}
