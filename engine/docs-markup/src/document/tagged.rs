//! Parsing of blocks in tag notation.

use std::ops::Range;

use docs_model::{Block, BlockKind, BlockTag, IntegrationData};
use serde_json::{Map, Value};

use super::{
    chunks::{self, Chunk, ChunkKind},
    escape,
    figures::{length, read_word},
    lines::{self, Line, SPACE},
    print,
    read::{self, Reader, nodes, verbatim},
    spelling,
    tags::Tag,
    targets,
};

/// Parses a tag and its content to blocks. An unknown tag becomes verbatim text before and after its content.
pub(super) fn blocks(
    reader: &mut Reader<'_>,
    (text, inside): (&str, Option<Range<usize>>),
    (all, chunk): (&[Line<'_>], &Chunk<'_>),
) -> Vec<Block> {
    let inner = inside.clone().map(|inside| &all[inside]);
    let own = &all[chunk.lines.clone()];
    if let Some(tag) = Tag::read(text)
        && let Some(mut block) = block(reader, &tag, inner)
    {
        if block.kind.form().is_container() {
            let usual = print::opening(&block);
            block.spelling = (!usual.is_some_and(|usual| escape::is_alike(&usual, text)))
                .then(|| text.trim_matches(SPACE).to_owned());
        } else {
            let written = lines::join(own);
            let usual = print::block_alone(&spelling::bare(&block));
            block.spelling = (!usual.is_some_and(|usual| escape::is_alike(&usual, &written)))
                .then(|| written.trim_matches(SPACE).to_owned());
        }
        return vec![block];
    }
    // The tag of a block without required content would be that block on its own.
    let is_whole = Tag::read(text).and_then(|tag| kind(&tag)).is_some_and(|kind| !kind.form().is_container());
    let Some(inside) = inside.filter(|_| !is_whole) else { return vec![verbatim(own)] };
    let mut out = vec![verbatim(&all[chunk.lines.start..inside.start])];
    out.extend(reader.inside(&all[inside.clone()]));
    // With more indentation it would be code on its own.
    let closing: Vec<Line<'_>> =
        all[inside.end..chunk.lines.end].iter().map(|line| line.without(line.indent())).collect();
    out.push(verbatim(&closing));
    out
}

fn block(reader: &mut Reader<'_>, tag: &Tag<'_>, inner: Option<&[Line<'_>]>) -> Option<Block> {
    let kind = kind(tag)?;
    let Some(inner) = inner else {
        return (!kind.form().is_container()).then(|| Block::new(kind, Vec::new()));
    };
    match &kind {
        BlockKind::Code { .. } => code(reader, kind, inner),
        BlockKind::Tabs { .. } => parts(reader, kind, (BlockTag::Tab, inner)),
        BlockKind::Stepper {} => parts(reader, kind, (BlockTag::Step, inner)),
        BlockKind::Columns { .. } => parts(reader, kind, (BlockTag::Column, inner)),
        BlockKind::Hint { .. } | BlockKind::If { .. } => {
            let inside = reader.inside(inner);
            Some(Block::new(kind, nodes(inside)))
        }
        BlockKind::File { .. } | BlockKind::Embed { .. } => {
            let blocks = reader.inside(inner);
            let is_caption = blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. }));
            is_caption.then(|| Block::with_fragments(kind, vec![read::caption(blocks)]))
        }
        // The content repeats the target.
        BlockKind::ContentRef { .. }
        | BlockKind::Swagger { .. }
        | BlockKind::OpenapiOperation { .. }
        | BlockKind::OpenapiSchemas { .. }
        | BlockKind::OpenapiWebhook { .. } => {
            (inner.iter().filter(|line| !line.is_blank()).count() <= 1).then(|| Block::new(kind, Vec::new()))
        }
        // Blocks without content.
        BlockKind::ReusableContent { .. } | BlockKind::Integration(_) => None,
        // Blocks that are valid only within tabs, a stepper or columns.
        BlockKind::TabsItem { .. } | BlockKind::StepperStep { .. } | BlockKind::Column { .. } => None,
        // Blocks without a tag.
        BlockKind::Paragraph { .. }
        | BlockKind::Heading1(_)
        | BlockKind::Heading2(_)
        | BlockKind::Heading3(_)
        | BlockKind::ListUnordered {}
        | BlockKind::ListOrdered { .. }
        | BlockKind::ListTasks {}
        | BlockKind::ListItem { .. }
        | BlockKind::Divider {}
        | BlockKind::Blockquote {}
        | BlockKind::CodeLine { .. }
        | BlockKind::Math { .. }
        | BlockKind::Images { .. }
        | BlockKind::Image(_)
        | BlockKind::Drawing { .. }
        | BlockKind::Expandable { .. }
        | BlockKind::Table(_) => None,
    }
}

/// Returns the block kind of a tag, or `None` for an unknown tag or a missing required attribute.
pub(super) fn kind(tag: &Tag<'_>) -> Option<BlockKind> {
    let target = |name| tag.get(name).map(targets::read);
    Some(match BlockTag::named(tag.name)? {
        BlockTag::Hint => BlockKind::Hint { style: read_word(tag.get("style")?)?, icon: tag.text("icon") },
        BlockTag::Code => BlockKind::Code {
            syntax: None,
            title: tag.text("title"),
            overflow: tag.get("overflow").map(read_word).map_or(Some(None), |it| it.map(Some))?,
            line_numbers: tag.flag("lineNumbers"),
            full_width: tag.flag("fullWidth"),
        },
        BlockTag::Tabs => BlockKind::Tabs { full_width: tag.flag("fullWidth") },
        BlockTag::Tab => BlockKind::TabsItem { title: tag.text("title"), icon: tag.text("icon") },
        BlockTag::Stepper => BlockKind::Stepper {},
        BlockTag::Step => BlockKind::StepperStep { icon: tag.text("icon") },
        BlockTag::Columns => BlockKind::Columns { full_width: tag.flag("fullWidth") },
        BlockTag::Column => BlockKind::Column {
            width: tag.get("width").map(length).map_or(Some(None), |it| it.map(Some))?,
            vertical_alignment: tag.get("valign").map(read_word).map_or(Some(None), |it| it.map(Some))?,
        },
        BlockTag::If => BlockKind::If { expression: tag.bare.clone()?.into_owned() },
        BlockTag::Include => BlockKind::ReusableContent { target: targets::read(tag.bare.as_deref()?) },
        BlockTag::File => BlockKind::File { target: target("src")? },
        BlockTag::Embed => BlockKind::Embed { url: tag.text("url")?, full_width: tag.flag("fullWidth") },
        BlockTag::ContentRef if tag.name == "page-ref" => BlockKind::ContentRef { target: target("page")? },
        BlockTag::ContentRef => BlockKind::ContentRef { target: target("url")? },
        BlockTag::Openapi => BlockKind::Swagger {
            path: tag.text("path")?,
            method: tag.text("method")?,
            target: Box::new(target("src")?),
            expanded: tag.flag("expanded"),
            full_width: tag.flag("fullWidth"),
        },
        BlockTag::OpenapiOperation => BlockKind::OpenapiOperation {
            path: tag.text("path")?,
            method: tag.text("method")?,
            target: Box::new(spec(tag)?),
        },
        BlockTag::OpenapiWebhook => BlockKind::OpenapiWebhook {
            name: tag.text("name")?,
            method: tag.text("method")?,
            target: Box::new(spec(tag)?),
        },
        BlockTag::OpenapiSchemas => BlockKind::OpenapiSchemas {
            schemas: tag.get("schemas")?.split(',').map(str::to_owned).collect(),
            grouped: tag.flag("grouped"),
            target: Box::new(spec(tag)?),
        },
        BlockTag::Integration => return integration(tag.name.strip_prefix('@')?, tag),
    })
}

fn spec(tag: &Tag<'_>) -> Option<docs_model::ContentRef> {
    Some(docs_model::ContentRef::OpenApi { spec: tag.text("spec")? })
}

fn integration(name: &str, tag: &Tag<'_>) -> Option<BlockKind> {
    let (integration, block) = name.split_once('/')?;
    let mut data = IntegrationData {
        integration: integration.to_owned(),
        block: block.to_owned(),
        props: Map::new(),
        action: None,
        url: None,
        full_width: None,
    };
    for (name, value) in &tag.attributes {
        let value = value.as_deref().unwrap_or("true");
        match *name {
            "url" => data.url = Some(value.to_owned()),
            "fullWidth" if value.parse::<bool>().is_ok() => data.full_width = value.parse().ok(),
            name => {
                data.props.insert(name.to_owned(), property(value));
            }
        }
    }
    (!integration.is_empty() && !block.is_empty() && tag.bare.is_none())
        .then_some(BlockKind::Integration(Box::new(data)))
}

/// Parses a property as JSON if printing the value yields the same text, otherwise as a string.
fn property(text: &str) -> Value {
    let json = serde_json::from_str::<Value>(text).ok();
    json.filter(|value| value.to_string().as_str() == text).unwrap_or_else(|| Value::from(text))
}

/// Formats a property.
pub(super) fn property_text(value: &Value) -> String {
    match value {
        Value::String(text) if property(text) == *value => text.clone(),
        value => value.to_string(),
    }
}

/// Parses options around one code block.
fn code(reader: &mut Reader<'_>, options: BlockKind, inner: &[Line<'_>]) -> Option<Block> {
    let chunks = chunks::read(inner);
    let [Chunk { kind: ChunkKind::Fence(..), .. }] = chunks.as_slice() else { return None };
    let [mut block] = <[Block; 1]>::try_from(reader.level(inner)).ok()?;
    let BlockKind::Code { syntax, .. } = block.kind else { return None };
    let BlockKind::Code { title, overflow, line_numbers, full_width, .. } = options else { return None };
    // A tag without options would be lost.
    if title.is_none() && overflow.is_none() && line_numbers.is_none() && full_width.is_none() {
        return None;
    }
    block.spelling.is_none().then_some(())?;
    block.kind = BlockKind::Code { syntax, title, overflow, line_numbers, full_width };
    Some(block)
}

/// Parses a tag that contains only tags of one name.
fn parts(reader: &mut Reader<'_>, whole: BlockKind, (own, inner): (BlockTag, &[Line<'_>])) -> Option<Block> {
    let chunks = chunks::read(inner);
    let is_part = |chunk: &Chunk<'_>| match &chunk.kind {
        ChunkKind::Tag(text, Some(_)) => {
            Tag::read(text).is_some_and(|tag| BlockTag::named(tag.name) == Some(own) && kind(&tag).is_some())
        }
        _ => false,
    };
    if !chunks.iter().all(is_part) {
        return None;
    }
    let mut out = Vec::new();
    for chunk in &chunks {
        let ChunkKind::Tag(text, Some(inside)) = &chunk.kind else { return None };
        let kind = kind(&Tag::read(text)?)?;
        reader.left = reader.left.saturating_sub(1);
        let mut block = Block::new(kind, nodes(reader.inside(&inner[inside.clone()])));
        let usual = print::opening(&block);
        block.spelling = (!usual.is_some_and(|usual| escape::is_alike(&usual, text)))
            .then(|| text.trim_matches(SPACE).to_owned());
        out.push(block);
    }
    Some(Block::new(whole, nodes(out)))
}
