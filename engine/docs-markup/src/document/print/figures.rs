//! Printing of code, and of blocks in HTML notation.

use docs_model::{Block, BlockKind, Fragment, ImageData, Node, TextAlign};

use super::{
    super::{
        atoms::picture,
        attributes::{length_text, word},
        escape::InlineContext,
        figures::is_plain_line,
        html,
        invalid::Invalid,
        lines::{self, SPACE},
        normalize,
        opening::Opening,
        simple_blocks::{is_list, is_nothing},
        spelling,
    },
    inlines,
    printer::Printer,
};

impl Printer {
    /// Prints text in an HTML element.
    pub(super) fn aligned(
        &mut self,
        name: &str,
        align: Option<TextAlign>,
        id: Option<&str>,
        nodes: &[Node],
    ) -> Result<String, Invalid> {
        let align = align.map(|align| match align {
            TextAlign::Start => "left",
            TextAlign::Center => "center",
            TextAlign::End => "right",
        });
        let opening = Opening::html(name).optional("align", align).optional("id", id).end();
        let text = self.text(nodes, InlineContext::Html)?;
        Ok(format!("{opening}{text}</{name}>"))
    }

    pub(super) fn images(&mut self, block: &Block) -> Result<String, Invalid> {
        let BlockKind::Images { align, full_width, with_frame } = &block.kind else {
            return Ok(String::new());
        };
        let mut figures = String::new();
        let children = self.children(block)?;
        if children.is_empty() {
            return Err(self.invalid("must contain at least one image"));
        }
        for (index, image) in children.into_iter().enumerate() {
            self.path.push(format!("nodes[{index}]"));
            let BlockKind::Image(data) = &image.kind else {
                return Err(self.invalid("must contain images only"));
            };
            if !figures.is_empty() {
                figures.push(' ');
            }
            figures.push_str(&self.figure(data, image)?);
            self.path.pop();
        }
        if align.is_none() && full_width.is_none() && with_frame.is_none() {
            return Ok(figures);
        }
        let opening = Opening::html("div").optional("align", align.map(word));
        let opening = opening.flag("data-full-width", *full_width).flag("data-with-frame", *with_frame).end();
        Ok(format!("{opening}{figures}</div>"))
    }

    fn figure(&mut self, data: &ImageData, block: &Block) -> Result<String, Invalid> {
        let image = Opening::html("img")
            .target("src", &data.target)
            .value("alt", data.alt.as_deref().unwrap_or_default())
            .optional("width", data.width.as_ref().map(length_text))
            .optional("height", data.height.as_ref().map(length_text));
        let mut out = format!("<figure>{}<figcaption>", picture(data.dark.as_ref(), image.end()));
        for paragraph in block.fragment("caption").map_or(&[][..], |fragment| &fragment.nodes) {
            out.push_str(&self.rich_block(paragraph)?);
        }
        Ok(out + "</figcaption></figure>")
    }

    /// Prints the blocks of a cell. A single paragraph is printed as text.
    pub(super) fn rich_blocks(&mut self, fragment: &Fragment) -> Result<String, Invalid> {
        let blocks: Vec<&Block> = fragment.nodes.iter().collect();
        if let [block] = blocks.as_slice()
            && matches!(block.kind, BlockKind::Paragraph { align: None })
            && block.spelling.as_deref() != Some("p")
        {
            return self.text(&block.nodes, InlineContext::Html);
        }
        blocks.into_iter().map(|block| self.rich_block(block)).collect()
    }

    fn rich_block(&mut self, block: &Block) -> Result<String, Invalid> {
        match &block.kind {
            BlockKind::Paragraph { align: None } if block.spelling.as_deref() == Some("bare") => {
                self.text(&block.nodes, InlineContext::Html)
            }
            BlockKind::Paragraph { align } => self.aligned("p", *align, None, &block.nodes),
            BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
                let level = data.level.unwrap_or(block.kind.heading().map_or(4, |(level, _)| level + 1));
                self.aligned(&format!("h{level}"), data.align, data.id.as_deref(), &block.nodes)
            }
            BlockKind::ListUnordered {} => Ok(format!("<ul>{}</ul>", self.rich_items(block)?)),
            BlockKind::ListOrdered { start: None } => Ok(format!("<ol>{}</ol>", self.rich_items(block)?)),
            BlockKind::ListOrdered { start: Some(start) } => {
                Ok(format!("<ol start=\"{start}\">{}</ol>", self.rich_items(block)?))
            }
            BlockKind::Images { align: None, full_width: None, with_frame: None } => self.images(block),
            BlockKind::Code { .. } => self.pre(block),
            _ => Err(self.invalid("must be a paragraph, heading, list, image or code at this position")),
        }
    }

    fn rich_items(&mut self, block: &Block) -> Result<String, Invalid> {
        let mut out = String::new();
        for item in self.children(block)? {
            if !matches!(item.kind, BlockKind::ListItem { checked: None }) {
                return Err(
                    self.invalid("a list at this position must contain list-items without boxes only")
                );
            }
            out.push_str("<li>");
            let blocks: Vec<&Block> =
                self.children(item)?.into_iter().filter(|block| !is_nothing(block)).collect();
            let is_text = |block: &&Block| {
                matches!(block.kind, BlockKind::Paragraph { align: None })
                    && block.spelling.as_deref() != Some("p")
            };
            match blocks.as_slice() {
                [first, rest @ ..]
                    if is_text(first)
                        && rest.iter().all(|block| {
                            matches!(block.kind, BlockKind::ListUnordered {} | BlockKind::ListOrdered { .. })
                        }) =>
                {
                    out.push_str(&self.text(&first.nodes, InlineContext::Html)?);
                    for block in rest {
                        out.push_str(&self.rich_block(block)?);
                    }
                }
                blocks => {
                    for block in blocks {
                        out.push_str(&self.rich_block(block)?);
                    }
                }
            }
            out.push_str("</li>");
        }
        Ok(out)
    }

    pub(super) fn expandable(
        &mut self,
        block: &Block,
        expanded: Option<bool>,
        spelling: &str,
    ) -> Result<String, Invalid> {
        let is_open = expanded == Some(true);
        let mut opening = if is_open { "<details open>" } else { "<details>" };
        if let Some((html::TagToken::Open(open), length)) = html::tag_at(spelling)
            && length == spelling.len()
            && open.name == "details"
            && open.has_only(&["open"])
            && open.has("open") == is_open
        {
            opening = spelling;
        }
        let title = match block.fragment("expandable-title").map_or(&[][..], |fragment| &fragment.nodes) {
            [] => String::new(),
            [title] if matches!(title.kind, BlockKind::Paragraph { align: None }) => {
                self.text(&title.nodes, InlineContext::Html)?
            }
            _ => return Err(self.invalid("expandable-title must be one paragraph")),
        };
        if title.contains('\n') {
            return Err(self.invalid("expandable-title must be one line"));
        }
        let body = match block.fragment("expandable-body") {
            Some(body) => self.sequence(&body.nodes.iter().collect::<Vec<_>>(), "fragments[1].nodes")?,
            None => String::new(),
        };
        let gap = if body.is_empty() { "" } else { "\n\n" };
        Ok(format!("{opening}\n\n<summary>{title}</summary>\n\n{body}{gap}</details>"))
    }

    pub(super) fn code(&mut self, block: &Block, before: Option<&Block>) -> Result<String, Invalid> {
        let BlockKind::Code { syntax, .. } = &block.kind else {
            return Ok(String::new());
        };
        let spelling = block.spelling.as_deref().unwrap_or_default();
        let lines = self.children(block)?;
        for line in &lines {
            if !matches!(line.kind, BlockKind::CodeLine { .. }) {
                return Err(self.invalid("must contain code-lines only"));
            }
        }
        let is_marked = |line: &&Block| {
            matches!(line.kind, BlockKind::CodeLine { highlighted: Some(true) }) || !is_plain_line(line)
        };
        let syntax_text = syntax.as_deref().unwrap_or_default();
        if syntax_text.contains(['\n', '\r']) || syntax_text.trim() != syntax_text {
            return Err(self.invalid("`syntax` must be one line without surrounding spaces"));
        }
        if spelling == "<pre" || lines.iter().any(is_marked) {
            return self.pre(block);
        }
        let text: Vec<String> = lines.iter().map(|line| spelling::text_of_nodes(&line.nodes)).collect();
        if text.iter().any(|line| line.contains(['\n', '\r'])) {
            return Err(self.invalid("a code-line must be one line"));
        }
        let has_options = block.kind.has_code_options();
        let follows_list = before.is_some_and(is_list);
        let is_indented = spelling == "    " && !has_options && syntax.is_none() && !follows_list;
        let has_edges = text.first().is_none_or(|line| line.trim_matches(SPACE).is_empty())
            || text.last().is_none_or(|line| line.trim_matches(SPACE).is_empty());
        if is_indented && !has_edges {
            let lines =
                text.iter().map(|line| if line.is_empty() { line.clone() } else { format!("    {line}") });
            return Ok(lines.collect::<Vec<_>>().join("\n"));
        }
        let fenced = fenced(&text, syntax_text, spelling, spelling::fence_length(block));
        if !has_options {
            return Ok(fenced);
        }
        let opening = self.opening(block)?;
        Ok(format!("{opening}\n{fenced}\n{{% endcode %}}"))
    }

    fn pre(&mut self, block: &Block) -> Result<String, Invalid> {
        let BlockKind::Code {
            syntax,
            title,
            overflow,
            line_numbers,
            full_width,
            expandable,
            collapsed_line_count,
        } = &block.kind
        else {
            return Ok(String::new());
        };
        let class = |prefix: &str| syntax.as_ref().map(|syntax| format!("{prefix}-{syntax}"));
        let opening = Opening::html("pre")
            .optional("class", class("language"))
            .optional("data-title", title.as_ref())
            .optional("data-overflow", overflow.map(word));
        let opening = match line_numbers {
            Some(true) => opening.bare("data-line-numbers"),
            other => opening.flag("data-line-numbers", *other),
        };
        let code = Opening::html("code").optional("class", class("lang"));
        let opening = opening
            .flag("data-full-width", *full_width)
            .flag("data-expandable", *expandable)
            .optional("data-collapsed-line-count", collapsed_line_count.map(|count| count.to_string()));
        let mut out = opening.end() + &code.end();
        for (index, line) in self.children(block)?.into_iter().enumerate() {
            self.path.push(format!("nodes[{index}]"));
            let BlockKind::CodeLine { highlighted } = &line.kind else {
                return Err(self.invalid("must contain code-lines only"));
            };
            let marked = *highlighted == Some(true);
            let text = self.code_text(line)?;
            out.push_str(&if marked { format!("<strong>{text}\n</strong>") } else { format!("{text}\n") });
            self.path.pop();
        }

        Ok(out + "</code></pre>")
    }

    fn code_text(&mut self, line: &Block) -> Result<String, Invalid> {
        let nodes = spelling::remove_spellings(&line.nodes);
        let written =
            inlines::write(&nodes, inlines::Notation::Canonical, InlineContext::Html, &mut self.labels);
        let has_break =
            |node: &Node| spelling::text_of_nodes(std::slice::from_ref(node)).contains(['\n', '\r']);
        let is_plain = normalize::inlines(&line.nodes).iter().all(|node| match node {
            Node::Text(text) => text.leaves.iter().all(|leaf| leaf.marks.is_empty()),
            Node::Inline(_) => true,
            Node::Block(_) => false,
        });
        let is_fit = is_plain && !line.nodes.iter().any(has_break);
        written.filter(|_| is_fit).ok_or_else(|| {
            self.invalid(
                "a code-line must consist of text, annotations and expressions on \
                                         one line",
            )
        })
    }
}

/// Prints code between fences, with the original fences if they are long enough.
fn fenced(lines: &[String], info: &str, spelling: &str, length: usize) -> String {
    let fits = |opening: &&str| {
        lines::fence(opening).is_some_and(|(mark, length, own)| {
            own == info
                && !opening.starts_with(' ')
                && !lines.iter().any(|line| lines::closes_fence(line, mark, length))
        })
    };
    let usual =
        format!("{}{info}", if info.contains('`') { "~".repeat(length.max(3)) } else { "`".repeat(length) });
    let opening = Some(spelling).filter(fits).unwrap_or(&usual);
    let mark = if opening.starts_with('~') { '~' } else { '`' };
    let count = opening.chars().take_while(|c| *c == mark).count();
    let mut out = format!("{opening}\n");
    for line in lines {
        out.push_str(line);
        out.push('\n');
    }
    out + &mark.to_string().repeat(count)
}
