//! Printing of blocks.

use docs_model::{
    Block, BlockKind, BlockTag, ContentRef, Document, Fragment, HeadingData, Inline, InlineKind, Node,
};

use super::{
    super::{
        chunks, definitions,
        escape::InlineContext,
        invalid::Invalid,
        limits::MAX_BLOCK_DEPTH,
        lines::{self, Line, SPACE},
        normalize,
        notes::Notes,
        opening::Opening,
        reader::BlockReader,
        simple_blocks::{heading, is_anchor, is_list, is_nothing, verbatim},
        spelling::{self, is_verbatim},
        targets, texts, weight, work_budget,
    },
    indentation::indented,
    inlines::{self, Labels, Notation, write},
    printer::{Printer, UnwritableMode, VerbatimMode},
};

/// Prints a document.
pub(in super::super) fn document(blocks: &[Block], raw: VerbatimMode) -> Result<String, Invalid> {
    Printer { raw, ..Printer::new(blocks) }.document(blocks)
}

/// Prints a document for readers. A block that cannot be represented in Markdown is printed as plain text.
pub(in super::super) fn readable(blocks: &[Block]) -> String {
    let printer =
        Printer { raw: VerbatimMode::Unchanged, rest: UnwritableMode::Plain, ..Printer::new(blocks) };
    printer.document(blocks).unwrap_or_else(|_| blocks.iter().map(plain).collect::<Vec<_>>().join("\n\n"))
}

/// Prefixes the lines of a quotation with `>`.
fn quoted(text: &str) -> String {
    let lines =
        text.split('\n').map(|line| if line.is_empty() { ">".to_owned() } else { format!("> {line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// Returns the plain text of a block as Markdown, one paragraph per line.
fn plain(block: &Block) -> String {
    let text = texts::plain_text(&Document::new(vec![block.clone()]));
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let written = |line: &str| inlines::title(line, InlineContext::Lines).unwrap_or_else(|| line.to_owned());
    lines.map(written).collect::<Vec<_>>().join("\n\n")
}

/// Prints a single block in canonical form.
pub(in super::super) fn block_alone(block: &Block) -> Option<String> {
    unchecked(block, &Printer::new(std::slice::from_ref(block)).labels)
}

/// Prints a single block with its spelling.
pub(in super::super) fn unchecked(block: &Block, labels: &Labels) -> Option<String> {
    let mut printer = Printer::with_labels(labels.clone()).outside_sequence();
    printer.is_checked = false;
    printer.block(block, None).ok()
}

/// Prints a single block so that parsing returns an equal block.
pub(in super::super) fn print_checked(block: &Block, labels: &Labels) -> Option<String> {
    Printer::with_labels(labels.clone()).outside_sequence().block(block, None).ok()
}

/// Returns `true` if two blocks are equal, including their spellings. Bodies of annotations are ignored.
pub(in super::super) fn is_alike(a: &Block, b: &Block) -> bool {
    let is_alike_fragment = |a: &Fragment, b: &Fragment| {
        a.fragment == b.fragment && a.kind == b.kind && normalize::each_same(&a.nodes, &b.nodes, is_alike)
    };
    a.kind == b.kind
        && a.spelling == b.spelling
        && a.fragments.is_some() == b.fragments.is_some()
        && normalize::each_same(a.fragments(), b.fragments(), is_alike_fragment)
        && match (normalize::holds_blocks(a), normalize::holds_blocks(b)) {
            (true, true) => normalize::each_same(&a.nodes, &b.nodes, |a, b| match (a, b) {
                (Node::Block(a), Node::Block(b)) => is_alike(a, b),
                _ => false,
            }),
            _ => spelling::without_notes(&a.nodes) == spelling::without_notes(&b.nodes),
        }
}

impl Printer {
    pub(in super::super) fn new(blocks: &[Block]) -> Self {
        let mut numbers = Labels::default();
        blocks.iter().for_each(|block| numbers.number(block));
        let definitions = definitions::in_blocks(blocks);
        Self::with_labels(Labels::from_document(definitions, numbers.into_assigned()))
    }

    /// Prepares the printer for a block that is not part of a sequence.
    fn outside_sequence(mut self) -> Self {
        self.list_marks.push(None);
        self
    }

    /// Prints the blocks of a document and its footnotes.
    fn document(mut self, blocks: &[Block]) -> Result<String, Invalid> {
        let (mut blocks, mut end) = (blocks, String::new());
        // If the last block extends to the end of the text, it would absorb the footnotes, so they are printed before
        // it.
        if let [before @ .., last] = blocks
            && is_verbatim(last)
            && absorbs_rest(&spelling::text_of_nodes(&last.nodes))
        {
            (blocks, end) = (before, spelling::text_of_nodes(&last.nodes));
        }
        let mut out = self.top(blocks)?;
        let notes = self.notes()?;
        for part in [notes, end] {
            if !out.is_empty() && !part.is_empty() {
                out.push_str("\n\n");
            }
            out.push_str(&part);
        }
        if !out.is_empty() {
            out.push('\n');
        }
        if out.starts_with('\u{feff}') {
            // At the beginning of the output, the character would be a byte order mark.
            out.insert(0, '\n');
        }
        Ok(out)
    }

    /// Prints the blocks of the document.
    pub(in super::super) fn top(&mut self, blocks: &[Block]) -> Result<String, Invalid> {
        self.sequence(&blocks.iter().collect::<Vec<_>>(), "nodes")
    }

    /// Prints the footnotes of the printed annotations, including nested ones.
    pub(in super::super) fn notes(&mut self) -> Result<String, Invalid> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some((label, body)) = self.labels.notes.get(at).cloned() {
            at += 1;
            let before = self.labels.notes.len();
            // Footnotes cannot be nested.
            let known = std::mem::take(&mut self.labels.known);
            self.list_marks.push(None);
            let text = self.sequence(&body.iter().collect::<Vec<_>>(), "annotation");
            self.list_marks.pop();
            self.labels.known = known;
            let text = text?;
            if self.labels.notes.len() > before && self.rest == UnwritableMode::Refused {
                return Err(self.invalid("must not contain an annotation within the note of another"));
            }
            let mut text = indented(&text, "    ", "");
            text.insert_str(0, &format!("[^{label}]: "));
            out.push(text.trim_end_matches('\n').to_owned());
        }
        Ok(out.join("\n\n"))
    }

    /// Prints sibling blocks, separated by empty lines.
    pub(in super::super) fn sequence(&mut self, blocks: &[&Block], field: &str) -> Result<String, Invalid> {
        let mut out = String::new();
        let mut before = None;
        self.list_marks.push(None);
        for (index, block) in blocks.iter().enumerate() {
            if is_nothing(block) {
                continue;
            }
            self.path.push(format!("{field}[{index}]"));
            let text = self.block_or_plain(block, before)?;
            self.path.pop();
            if before.is_some() {
                out.push_str("\n\n");
            }
            out.push_str(&text);
            before = Some(*block);
        }
        self.list_marks.pop();
        work_budget::step(out.len());
        Ok(out)
    }

    /// Prints the child blocks of a block.
    pub(super) fn print_children(&mut self, block: &Block) -> Result<String, Invalid> {
        let blocks = self.children(block)?;
        self.sequence(&blocks, "nodes")
    }

    pub(super) fn children<'b>(&self, block: &'b Block) -> Result<Vec<&'b Block>, Invalid> {
        let mut blocks = Vec::new();
        for node in &block.nodes {
            match node {
                Node::Block(block) => blocks.push(block),
                _ => return Err(self.invalid("must contain blocks only")),
            }
        }
        Ok(blocks)
    }

    /// Prints a block after its previous sibling. A block that cannot be printed is printed as plain text, unless the
    /// printer reports such blocks as errors.
    fn block_or_plain(&mut self, block: &Block, before: Option<&Block>) -> Result<String, Invalid> {
        if self.rest == UnwritableMode::Refused {
            return self.block(block, before);
        }
        let (labels, names, marks) = (self.labels.clone(), self.path.len(), self.list_marks.len());
        Ok(self.block(block, before).unwrap_or_else(|_| {
            self.labels = labels;
            self.path.truncate(names);
            self.list_marks.truncate(marks);
            plain(block)
        }))
    }

    /// Prints a block, with its spelling if the result parses to an equal block.
    pub(super) fn block(&mut self, block: &Block, before: Option<&Block>) -> Result<String, Invalid> {
        if !is_list(block)
            && let Some(mark) = self.list_marks.last_mut()
        {
            *mark = None;
        }
        if is_verbatim(block) {
            let text = spelling::text_of_nodes(&block.nodes);
            // Verbatim text that parses to a different block is printed as text.
            let is_as_it_is = !self.is_checked || (self.raw == VerbatimMode::Unchanged && self.depth() == 0);
            if is_as_it_is || self.can_stay_verbatim(&text, block) {
                return Ok(text);
            }
        }
        if self.depth() > MAX_BLOCK_DEPTH {
            return Err(self.invalid(format!("blocks are nested {} deep at most", MAX_BLOCK_DEPTH)));
        }
        if let Some(written) = block.spelling.as_deref().filter(|_| Self::is_spelled_whole(block)) {
            let is_same = || self.reads_as(written, block, &self.labels);
            if self.is_checked && is_same() {
                return Ok(written.to_owned());
            }
        }
        self.print_canonical(block, before)
    }

    /// Returns `true` for blocks whose spelling is their complete text.
    fn is_spelled_whole(block: &Block) -> bool {
        let form = block.kind.form();
        let is_whole_tag = form.tag.is_some() && form.is_void();
        is_whole_tag
            || matches!(
                block.kind,
                BlockKind::Images { .. }
                    | BlockKind::Drawing { .. }
                    | BlockKind::Math { .. }
                    | BlockKind::Divider {}
            )
    }

    fn print_canonical(&mut self, block: &Block, before: Option<&Block>) -> Result<String, Invalid> {
        let spelling = block.spelling.as_deref().unwrap_or_default();
        match &block.kind {
            BlockKind::Paragraph { align: None } => self.paragraph(block),
            BlockKind::Paragraph { align: Some(align) } => {
                self.aligned("p", Some(*align), None, &block.nodes)
            }
            BlockKind::Heading1(data) | BlockKind::Heading2(data) | BlockKind::Heading3(data) => {
                self.heading(block, data)
            }
            BlockKind::ListUnordered {} | BlockKind::ListOrdered { .. } | BlockKind::ListTasks {} => {
                self.list(block)
            }
            BlockKind::ListItem { .. } => Err(self.invalid("a list-item must be in a list")),
            BlockKind::Divider {} => Ok("***".to_owned()),
            BlockKind::Blockquote {} => self.quote(block, spelling),
            BlockKind::Code { .. } => self.code(block, before),
            BlockKind::CodeLine { .. } => Err(self.invalid("a code-line must be in a code block")),
            BlockKind::Math { formula } => self.math(formula),
            BlockKind::Images { .. } => self.images(block),
            BlockKind::Image(_) => Err(self.invalid("an image must be in images")),
            BlockKind::Drawing { target } => Ok(drawing(target.as_ref())),
            BlockKind::Expandable { default_expanded } => self.expandable(block, *default_expanded, spelling),
            BlockKind::Table(data) => self.table(block, data),
            BlockKind::Hint { .. } | BlockKind::If { .. } => self.wrap_in_tag(block),
            BlockKind::Prompt { .. } => self.prompt(block),
            BlockKind::Updates { .. } => self.parts(block, BlockTag::Update),
            BlockKind::Update { .. } => Err(self.invalid("an update must be in updates")),
            BlockKind::Tabs { .. } => self.parts(block, BlockTag::Tab),
            BlockKind::Stepper {} => self.parts(block, BlockTag::Step),
            BlockKind::Columns { .. } => self.parts(block, BlockTag::Column),
            BlockKind::TabsItem { .. } => Err(self.invalid("a tabs-item must be in tabs")),
            BlockKind::StepperStep { .. } => Err(self.invalid("a stepper-step must be in a stepper")),
            BlockKind::Column { .. } => Err(self.invalid("a column must be in columns")),
            BlockKind::File { .. } | BlockKind::Embed { .. } => self.captioned(block),
            BlockKind::ContentRef { target } => self.content_ref(block, target),
            BlockKind::Swagger { target, .. } => self.swagger(block, target),
            BlockKind::OpenapiOperation { target, .. }
            | BlockKind::OpenapiSchemas { target, .. }
            | BlockKind::OpenapiWebhook { target, .. } => self.openapi(block, target),
            BlockKind::ReusableContent { .. } | BlockKind::Integration(_) => self.opening(block),
        }
    }

    /// Prints a quotation. If its spelling is `tight` and the result is equal, its blocks are not separated by empty
    /// lines.
    fn quote(&mut self, block: &Block, spelling: &str) -> Result<String, Invalid> {
        let inside = self.print_children(block)?;
        if spelling == "tight" && self.is_checked {
            let close = quoted(&inside.replace("\n\n", "\n"));
            if self.reads_as(&close, block, &self.labels) {
                return Ok(close);
            }
        }
        Ok(quoted(&inside))
    }

    /// Prints a paragraph. A paragraph that would be parsed as another kind of block is printed as HTML.
    fn paragraph(&mut self, block: &Block) -> Result<String, Invalid> {
        let is_html = block.spelling.as_deref() == Some("<p>");
        let before = self.labels.clone();
        if !is_html {
            let text = self.text(&block.nodes, InlineContext::Lines)?;
            let is_plain = |line: &str| line.starts_with(char::is_alphabetic);
            if !self.is_checked || text.split('\n').all(is_plain) || self.reads_as(&text, block, &before) {
                return Ok(text);
            }
            self.labels = before.clone();
        }
        let text = self.text(&block.nodes, InlineContext::Html)?;
        let text = format!("<p>{text}</p>");
        if !self.is_checked || self.reads_as(&text, block, &before) {
            return Ok(text);
        }
        Err(self.invalid("its text cannot be represented as Markdown"))
    }

    /// Returns the nesting depth of the current block.
    pub(in super::super) fn depth(&self) -> usize {
        self.list_marks.len().saturating_sub(2)
    }

    /// Returns `true` if `text`, parsed separately, results in an equal block.
    pub(in super::super) fn reads_as(&self, text: &str, block: &Block, labels: &Labels) -> bool {
        parse_detached(text, labels, self.depth()).is_some_and(|read| {
            let [read] = read.as_slice() else { return false };
            normalize::is_same(read, block)
        })
    }

    /// Prints inline nodes.
    pub(super) fn text(&mut self, nodes: &[Node], context: InlineContext) -> Result<String, Invalid> {
        let written = if self.is_checked {
            inlines::print(nodes, context, &mut self.labels)
        } else {
            // Unchecked text was just parsed. It is printed with its spelling for comparison.
            write(nodes, Notation::Spelled, context, &mut self.labels)
        };
        written.ok_or_else(|| {
            self.invalid(match nodes.iter().any(is_ambiguous_button) {
                true => "a button must have `ref` or `action`, not both",
                false => "its text must consist of text and inline elements only",
            })
        })
    }

    fn heading(&mut self, block: &Block, data: &HeadingData) -> Result<String, Invalid> {
        let usual = block.kind.heading().map_or(4, |(level, _)| level + 1);
        let level = data.level.filter(|level| matches!(level, 1 | 5 | 6)).unwrap_or(usual);
        if heading(level, data.clone()) != block.kind {
            return Err(self.invalid("`level` must be 1 for heading-1, and 5 or 6 for heading-3"));
        }
        if let Some(id) = data.id.as_deref().filter(|id| !is_anchor(id)) {
            return Err(self.invalid(format!("`{id}` is not a valid id of a heading")));
        }
        if data.align.is_some() {
            return self.aligned(&format!("h{level}"), data.align, data.id.as_deref(), &block.nodes);
        }
        let anchor = data.id.as_ref().map(|id| format!("<a href=\"#{id}\" id=\"{id}\"></a>"));
        if let (Some(line), None) = (&block.spelling, &anchor)
            && self.is_checked
        {
            let mut labels = self.labels.clone();
            let written = inlines::print(&block.nodes, InlineContext::Lines, &mut labels)
                .map(|text| format!("{text}\n{line}"));
            let same = |text: &String| self.reads_as(text, block, &self.labels);
            if let Some(text) = written.filter(same) {
                self.labels = labels;
                return Ok(text);
            }
        }
        let text = self.text(&block.nodes, InlineContext::Line)?;
        let mut out = "#".repeat(level.into());
        for part in
            [Some(text.as_str()).filter(|text| !text.is_empty()), anchor.as_deref()].into_iter().flatten()
        {
            out.push(' ');
            out.push_str(part);
        }
        // A trailing number sign would be removed by parsing.
        if out.ends_with('#') && !text.is_empty() && anchor.is_none() && !text.ends_with("\\#") {
            out.push_str(" #");
        }
        Ok(out)
    }

    fn math(&self, formula: &str) -> Result<String, Invalid> {
        let is_fit = !formula.trim_matches(SPACE).is_empty()
            && !formula.contains("$$")
            && !formula.lines().any(|line| line.trim_matches(SPACE).is_empty());
        if is_fit && !formula.ends_with('\n') && !formula.contains('\r') {
            Ok(format!("$$\n{formula}\n$$"))
        } else {
            Err(self.invalid("`formula` must not have empty lines or `$$`"))
        }
    }
}

/// Prints a drawing: an image with a class that identifies it as a drawing.
fn drawing(target: Option<&ContentRef>) -> String {
    let image = Opening::html("img").optional("src", target.map(targets::write));
    image.value("alt", "").value("class", "gitbook-drawing").end()
}

/// Returns `true` if `text` absorbs all following text, such as an unclosed comment.
fn absorbs_rest(text: &str) -> bool {
    let count = |text: &str| chunks::scan_chunks(&lines::split(text)).count();
    count(&format!("{text}\n\nx")) == count(text)
}

/// Parses the blocks of a separate text.
pub(in super::super) fn parse_detached(text: &str, labels: &Labels, depth: usize) -> Option<Vec<Block>> {
    let lines: Vec<Line<'_>> = lines::split(text);
    let mut scanner = chunks::scan_chunks(&lines);
    if !weight::fits(&mut scanner) {
        return Some(vec![verbatim(&lines)]);
    }
    let mut reader =
        BlockReader::new_detached(&labels.definitions, Notes::from_labels(&labels.known, &labels.notes));
    reader.depth = depth;
    let blocks = reader.read_chunks(scanner.restart());
    (!blocks.is_empty()).then_some(blocks)
}

/// Returns `true` for a button with a target and an action, which has no notation.
fn is_ambiguous_button(node: &Node) -> bool {
    matches!(
        node,
        Node::Inline(Inline { kind: InlineKind::Button { target: Some(_), action: Some(_), .. }, .. })
    )
}
