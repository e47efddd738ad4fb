//! Blocks that are written as tags.

use docs_model::{Block, BlockKind, ContentRef};

use super::{
    super::{
        Invalid,
        escape::Place,
        figures::{length_text, word},
        normal, tagged,
        tags::{self, Tag},
        targets,
    },
    Printer,
};

/// The opening tag of a block, the usual way; `None` when it has none.
pub(in super::super) fn opening(block: &Block) -> Option<String> {
    let mut out = String::from("{% ");
    match &block.kind {
        BlockKind::Hint { style, icon } => {
            out.push_str("hint");
            tags::attribute(&mut out, "style", &word(style));
            optional(&mut out, "icon", icon.as_deref());
        }
        BlockKind::Code { title, overflow, line_numbers, full_width, .. } => {
            out.push_str("code");
            optional(&mut out, "title", title.as_deref());
            optional(&mut out, "overflow", overflow.map(word).as_deref());
            flag(&mut out, "lineNumbers", *line_numbers);
            flag(&mut out, "fullWidth", *full_width);
        }
        BlockKind::Tabs { full_width } => {
            out.push_str("tabs");
            flag(&mut out, "fullWidth", *full_width);
        }
        BlockKind::TabsItem { title, icon } => {
            out.push_str("tab");
            optional(&mut out, "title", title.as_deref());
            optional(&mut out, "icon", icon.as_deref());
        }
        BlockKind::Stepper {} => out.push_str("stepper"),
        BlockKind::StepperStep { icon } => {
            out.push_str("step");
            optional(&mut out, "icon", icon.as_deref());
        }
        BlockKind::Columns { full_width } => {
            out.push_str("columns");
            flag(&mut out, "fullWidth", *full_width);
        }
        BlockKind::Column { width, vertical_alignment } => {
            out.push_str("column");
            optional(&mut out, "width", width.as_ref().map(length_text).as_deref());
            optional(&mut out, "valign", vertical_alignment.map(word).as_deref());
        }
        BlockKind::If { expression } => {
            out.push_str("if ");
            out.push_str(expression);
        }
        kind => return void(kind, out),
    }
    Some(out + " %}")
}

fn optional(out: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        tags::attribute(out, name, value);
    }
}

fn flag(out: &mut String, name: &str, value: Option<bool>) {
    optional(out, name, value.map(|value| value.to_string()).as_deref());
}

/// The tag of a block that holds no blocks.
fn void(kind: &BlockKind, mut out: String) -> Option<String> {
    match kind {
        BlockKind::ReusableContent { target } => {
            out.push_str(&format!("include \"{}\"", tags::escaped(&targets::write(target))));
        }
        BlockKind::File { target } => {
            out.push_str("file");
            tags::attribute(&mut out, "src", &targets::write(target));
        }
        BlockKind::Embed { url, full_width } => {
            out.push_str("embed");
            tags::attribute(&mut out, "url", url);
            flag(&mut out, "fullWidth", *full_width);
        }
        BlockKind::ContentRef { target } => {
            out.push_str("content-ref");
            tags::attribute(&mut out, "url", &targets::write(target));
        }
        BlockKind::Swagger { path, method, target, expanded, full_width } => {
            out.push_str("openapi");
            tags::attribute(&mut out, "src", &targets::write(target));
            tags::attribute(&mut out, "path", path);
            tags::attribute(&mut out, "method", method);
            flag(&mut out, "expanded", *expanded);
            flag(&mut out, "fullWidth", *full_width);
        }
        BlockKind::OpenapiOperation { path, method, target } => {
            out.push_str("openapi-operation");
            tags::attribute(&mut out, "spec", spec(target)?);
            tags::attribute(&mut out, "path", path);
            tags::attribute(&mut out, "method", method);
        }
        BlockKind::OpenapiWebhook { name, method, target } => {
            out.push_str("openapi-webhook");
            tags::attribute(&mut out, "spec", spec(target)?);
            tags::attribute(&mut out, "name", name);
            tags::attribute(&mut out, "method", method);
        }
        BlockKind::OpenapiSchemas { schemas, grouped, target } => {
            out.push_str("openapi-schemas");
            tags::attribute(&mut out, "spec", spec(target)?);
            tags::attribute(&mut out, "schemas", &schemas.join(","));
            flag(&mut out, "grouped", *grouped);
        }
        BlockKind::Integration(data) => {
            out.push_str(&format!("@{}/{}", data.integration, data.block));
            for (name, value) in &data.props {
                tags::attribute(&mut out, name, &tagged::property_text(value));
            }
            optional(&mut out, "url", data.url.as_deref());
            flag(&mut out, "fullWidth", data.full_width);
        }
        _ => return None,
    }
    Some(out + " %}")
}

fn spec(target: &ContentRef) -> Option<&str> {
    match target {
        ContentRef::OpenApi { spec } => Some(spec),
        _ => None,
    }
}

impl Printer {
    /// A block that is written as a tag.
    pub(super) fn tag(&mut self, block: &Block) -> Result<String, Invalid> {
        let opening = self.opening(block)?;
        let name = opening[2..].split_whitespace().next().unwrap_or_default().to_owned();
        match &block.kind {
            BlockKind::Hint { .. } | BlockKind::If { .. } => self.around(block, (&opening, &name)),
            BlockKind::Tabs { .. } => {
                self.parts(block, (&opening, &name), |kind| matches!(kind, BlockKind::TabsItem { .. }))
            }
            BlockKind::Stepper {} => {
                self.parts(block, (&opening, &name), |kind| matches!(kind, BlockKind::StepperStep { .. }))
            }
            BlockKind::Columns { .. } => {
                self.parts(block, (&opening, &name), |kind| matches!(kind, BlockKind::Column { .. }))
            }
            BlockKind::TabsItem { .. } => Err(self.invalid("a tabs-item stands only in tabs")),
            BlockKind::StepperStep { .. } => Err(self.invalid("a stepper-step stands only in a stepper")),
            BlockKind::Column { .. } => Err(self.invalid("a column stands only in columns")),
            BlockKind::File { .. } | BlockKind::Embed { .. } => self.captioned(block, (&opening, &name)),
            BlockKind::ContentRef { target } => {
                let url = targets::write(target);
                let label = self.label(url.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
                Ok(format!(
                    "{opening}\n[{label}]({})\n{{% end{name} %}}",
                    super::super::escape::destination(&url)
                ))
            }
            BlockKind::Swagger { target, .. } => {
                let url = targets::write(target);
                let label = self.label(&url);
                Ok(format!(
                    "{opening}\n[{label}]({})\n{{% end{name} %}}",
                    super::super::escape::destination(&url)
                ))
            }
            BlockKind::OpenapiOperation { target, .. }
            | BlockKind::OpenapiSchemas { target, .. }
            | BlockKind::OpenapiWebhook { target, .. } => {
                let label = self.label(spec(target).unwrap_or_default());
                let url = super::super::escape::destination(&targets::write(target));
                Ok(format!("{opening}\n[OpenAPI {label}]({url})\n{{% end{name} %}}"))
            }
            _ => Ok(opening),
        }
    }

    fn label(&self, text: &str) -> String {
        super::title(text, Place::Line).unwrap_or_default().replace(']', "\\]").replace("\\\\]", "\\]")
    }

    /// The opening tag: as the block says, if that means the same.
    pub(super) fn opening(&mut self, block: &Block) -> Result<String, Invalid> {
        let usual =
            opening(block).ok_or_else(|| self.invalid("its reference is of another kind than it needs"))?;
        let reads = |text: &str| {
            let mut own = Block::new(block.kind.clone(), Vec::new());
            if let BlockKind::Code { syntax, .. } = &mut own.kind {
                *syntax = None;
            }
            let read = Tag::read(text)
                .filter(|tag| tag.end == text.len() && !text.contains("\n\n"))
                .and_then(|tag| tagged::kind(&tag));
            read.is_some_and(|kind| normal::block(&Block::new(kind, Vec::new())) == normal::block(&own))
        };
        if let Some(spelling) = block.spelling.as_deref()
            && tagged::is_container(&block.kind)
            && reads(spelling)
        {
            return Ok(spelling.to_owned());
        }
        if reads(&usual) { Ok(usual) } else { Err(self.invalid("its data cannot be written as a tag")) }
    }

    fn around(&mut self, block: &Block, (opening, name): (&str, &str)) -> Result<String, Invalid> {
        let inside = self.inside(block)?;
        Ok(wrapped(opening, &inside, name))
    }

    fn parts(
        &mut self,
        block: &Block,
        (opening, name): (&str, &str),
        is_part: fn(&BlockKind) -> bool,
    ) -> Result<String, Invalid> {
        let mut parts = Vec::new();
        for (index, part) in self.children(block)?.into_iter().enumerate() {
            self.path.push(format!("nodes[{index}]"));
            if !is_part(&part.kind) {
                return Err(self.invalid(format!("{name} holds blocks of its own kind of parts only")));
            }
            let own = self.opening(part)?;
            let own_name = own[2..].split_whitespace().next().unwrap_or_default().to_owned();
            let inside = self.inside(part)?;
            parts.push(wrapped(&own, &inside, &own_name));
            self.path.pop();
        }
        Ok(wrapped(opening, &parts.join("\n\n"), name))
    }

    fn captioned(&mut self, block: &Block, (opening, name): (&str, &str)) -> Result<String, Invalid> {
        let Some(caption) = block.fragment("caption") else { return Ok(opening.to_owned()) };
        let blocks: Vec<&Block> = caption.nodes.iter().collect();
        if !blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. })) {
            return Err(self.invalid("a caption holds paragraphs only"));
        }
        let inside = self.sequence(&blocks, "fragments[0].nodes")?;
        Ok(wrapped(opening, &inside, name))
    }
}

fn wrapped(opening: &str, inside: &str, name: &str) -> String {
    let gap = if inside.is_empty() { "" } else { "\n" };
    format!("{opening}\n{inside}{gap}{{% end{name} %}}")
}
