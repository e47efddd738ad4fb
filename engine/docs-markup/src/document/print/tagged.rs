//! Printing of blocks in tag notation.

use docs_model::{Block, BlockKind, BlockTag, ContentRef};

use super::{
    super::{
        attributes::{date_text, length_text, word},
        escape::{self, InlineContext},
        invalid::Invalid,
        normalize,
        opening::Opening,
        tag_kinds,
        tags::TemplateTag,
        targets,
    },
    inlines::title,
    printer::Printer,
};
use crate::syntax::tag;

/// Returns the canonical opening tag of a block, or `None` for a block without a tag.
pub(in super::super) fn opening(block: &Block) -> Option<String> {
    let name = block.kind.form().tag?.name();
    let tag = match &block.kind {
        BlockKind::Integration(data) => Opening::tag(&format!("{name}{}/{}", data.integration, data.block)),
        _ => Opening::tag(name),
    };
    values(&block.kind, tag).map(Opening::end)
}

/// Writes the attributes of a block after its tag name. Returns `None` for a block without a tag, or with a reference
/// of the wrong kind.
#[expect(clippy::too_many_lines, reason = "a flat table from block kinds to attributes")]
fn values(kind: &BlockKind, out: Opening) -> Option<Opening> {
    Some(match kind {
        BlockKind::Hint { style, icon } => out.value("style", word(style)).optional("icon", icon.as_ref()),
        BlockKind::Code {
            title,
            overflow,
            line_numbers,
            full_width,
            expandable,
            collapsed_line_count,
            ..
        } => out
            .optional("title", title.as_ref())
            .optional("overflow", overflow.map(word))
            .flag("lineNumbers", *line_numbers)
            .flag("fullWidth", *full_width)
            .flag("expandable", *expandable)
            .optional("collapsedLineCount", collapsed_line_count.map(|count| count.to_string())),
        BlockKind::Tabs { full_width } | BlockKind::Columns { full_width } => {
            out.flag("fullWidth", *full_width)
        }
        BlockKind::TabsItem { title, icon, slug } => out
            .optional("title", title.as_ref())
            .optional("icon", icon.as_ref())
            .optional("slug", slug.as_ref()),
        BlockKind::Prompt { description, icon, open_in_ai_providers, default_expanded } => out
            .value("description", description)
            .optional("icon", icon.as_ref())
            .flag("openInAIProviders", *open_in_ai_providers)
            .optional("defaultExpanded", default_expanded.map(word)),
        BlockKind::Updates { format } => out.value("format", word(format)),
        BlockKind::Update { date, tags } => {
            let tags = (!tags.is_empty()).then(|| tag_kinds::tag_refs_text(tags));
            out.value("date", date_text(*date)).optional("tags", tags)
        }
        BlockKind::Stepper {} => out,
        BlockKind::StepperStep { icon } => out.optional("icon", icon.as_ref()),
        BlockKind::Column { width, vertical_alignment } => out
            .optional("width", width.as_ref().map(length_text))
            .optional("valign", vertical_alignment.map(word)),
        BlockKind::If { expression } => out.bare(expression),
        BlockKind::ReusableContent { target } => {
            out.bare(&format!("\"{}\"", tag::escaped(&targets::write(target), '"')))
        }
        BlockKind::File { target } => out.target("src", target),
        BlockKind::Embed { url, full_width } => out.value("url", url).flag("fullWidth", *full_width),
        BlockKind::ContentRef { target } => out.target("url", target),
        BlockKind::Integration(data) => {
            let properties = data.props.iter();
            let out =
                properties.fold(out, |out, (name, value)| out.value(name, tag_kinds::property_text(value)));
            out.optional("url", data.url.as_ref()).flag("fullWidth", data.full_width)
        }
        BlockKind::Swagger { path, method, target, expanded, full_width } => out
            .target("src", target)
            .value("path", path)
            .value("method", method)
            .flag("expanded", *expanded)
            .flag("fullWidth", *full_width),
        BlockKind::OpenapiOperation { path, method, target } => {
            out.value("spec", spec(target)?).value("path", path).value("method", method)
        }
        BlockKind::OpenapiWebhook { name, method, target } => {
            out.value("spec", spec(target)?).value("name", name).value("method", method)
        }
        BlockKind::OpenapiSchemas { schemas, grouped, target } => {
            out.value("spec", spec(target)?).value("schemas", schemas.join(",")).flag("grouped", *grouped)
        }
        _ => return None,
    })
}

fn spec(target: &ContentRef) -> Option<&str> {
    match target {
        ContentRef::OpenApi { spec } => Some(spec),
        _ => None,
    }
}

impl Printer {
    /// Prints a tag with a target, which encloses a link to the same target for renderers that do not support tags.
    pub(super) fn card(
        &mut self,
        block: &Block,
        label: &str,
        target: &ContentRef,
    ) -> Result<String, Invalid> {
        let opening = self.opening(block)?;
        let (name, url) = (tag::name_of(&opening[2..]), escape::destination(&targets::write(target)));
        Ok(format!("{opening}\n[{label}]({url})\n{{% end{name} %}}"))
    }

    /// Prints the card of a page or URL. Its label is the last segment of the path.
    pub(super) fn content_ref(&mut self, block: &Block, target: &ContentRef) -> Result<String, Invalid> {
        let url = targets::write(target);
        let label = self.label(url.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
        self.card(block, &label, target)
    }

    /// Prints the card of an OpenAPI document given by a file or URL.
    pub(super) fn swagger(&mut self, block: &Block, target: &ContentRef) -> Result<String, Invalid> {
        let label = self.label(&targets::write(target));
        self.card(block, &label, target)
    }

    /// Prints the card of an OpenAPI specification of the organization.
    pub(super) fn openapi(&mut self, block: &Block, target: &ContentRef) -> Result<String, Invalid> {
        let label = format!("OpenAPI {}", self.label(spec(target).unwrap_or_default()));
        self.card(block, &label, target)
    }

    fn label(&self, text: &str) -> String {
        title(text, InlineContext::Line).unwrap_or_default().replace(']', "\\]").replace("\\\\]", "\\]")
    }

    /// Returns the opening tag, in the block's spelling if that parses to the same tag.
    pub(super) fn opening(&mut self, block: &Block) -> Result<String, Invalid> {
        let usual = opening(block).ok_or_else(|| self.invalid("its target has an unsupported kind"))?;
        let reads = |text: &str| {
            let mut own = Block::new(block.kind.clone(), Vec::new());
            if let BlockKind::Code { syntax, .. } = &mut own.kind {
                *syntax = None;
            }
            let read = TemplateTag::read(text)
                .filter(|tag| tag.end == text.len())
                .and_then(|tag| tag_kinds::kind(&tag));
            read.is_some_and(|kind| normalize::block(&Block::new(kind, Vec::new())) == normalize::block(&own))
        };
        if let Some(spelling) = block.spelling.as_deref()
            && block.kind.form().is_container()
            && reads(spelling)
        {
            return Ok(spelling.to_owned());
        }
        if reads(&usual) { Ok(usual) } else { Err(self.invalid("its data cannot be represented as a tag")) }
    }

    /// Prints a tag that contains blocks of any kind.
    pub(super) fn wrap_in_tag(&mut self, block: &Block) -> Result<String, Invalid> {
        let opening = self.opening(block)?;
        let inside = self.print_children(block)?;
        Ok(join_tag(&opening, &inside))
    }

    /// Prints a prompt, which contains one code block.
    pub(super) fn prompt(&mut self, block: &Block) -> Result<String, Invalid> {
        match self.children(block)?.as_slice() {
            [code] if matches!(code.kind, BlockKind::Code { .. }) => self.wrap_in_tag(block),
            _ => Err(self.invalid("a prompt must contain one code block")),
        }
    }

    /// Prints a tag that contains tags of one kind.
    pub(super) fn parts(&mut self, block: &Block, own: BlockTag) -> Result<String, Invalid> {
        let opening = self.opening(block)?;
        let mut parts = Vec::new();
        for (index, part) in self.children(block)?.into_iter().enumerate() {
            self.path.push(format!("nodes[{index}]"));
            if part.kind.form().tag != Some(own) {
                let name = tag::name_of(&opening[2..]);
                return Err(self.invalid(format!("{name} must contain blocks of its own kind only")));
            }
            parts.push(self.wrap_in_tag(part)?);
            self.path.pop();
        }
        Ok(join_tag(&opening, &parts.join("\n\n")))
    }

    /// Prints a tag that contains a caption.
    pub(super) fn captioned(&mut self, block: &Block) -> Result<String, Invalid> {
        let opening = self.opening(block)?;
        let Some(caption) = block.fragment("caption") else { return Ok(opening) };
        let blocks: Vec<&Block> = caption.nodes.iter().collect();
        if !blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. })) {
            return Err(self.invalid("a caption must contain paragraphs only"));
        }
        let inside = self.sequence(&blocks, "fragments[0].nodes")?;
        Ok(join_tag(&opening, &inside))
    }
}

/// Joins an opening tag, its content, and its closing tag.
fn join_tag(opening: &str, inside: &str) -> String {
    let name = tag::name_of(&opening[2..]);
    let gap = if inside.is_empty() { "" } else { "\n" };
    format!("{opening}\n{inside}{gap}{{% end{name} %}}")
}
