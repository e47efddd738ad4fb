//! Blocks that are written as tags.

use std::ops::Range;

use docs_model::{Block, BlockKind, IntegrationData};
use serde_json::{Map, Value};

use super::{
    chunks::{self, Chunk, ChunkKind},
    escape::squash,
    figures::{length, read_word},
    lines::{self, Line, SPACE},
    print,
    read::{self, Reader, nodes, verbatim},
    spelling,
    tags::Tag,
    targets,
};

/// The blocks that a tag and what it holds are. A tag that is not known is text, before and behind what it holds.
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
        if is_container(&block.kind) {
            let usual = print::opening(&block);
            block.spelling = (usual.as_deref().map(squash) != Some(squash(text)))
                .then(|| text.trim_matches(SPACE).to_owned());
        } else {
            let written = lines::join(own);
            let usual = print::block_alone(&spelling::bare(&block));
            block.spelling = (usual.as_deref().map(squash) != Some(squash(&written)))
                .then(|| written.trim_matches(SPACE).to_owned());
        }
        return vec![block];
    }
    // The tag of a block that needs nothing inside would be that block on its own.
    let is_whole = Tag::read(text).and_then(|tag| kind(&tag)).is_some_and(|kind| !is_container(&kind));
    let Some(inside) = inside.filter(|_| !is_whole) else { return vec![verbatim(own)] };
    let mut out = vec![verbatim(&all[chunk.lines.start..inside.start])];
    out.extend(reader.inside(&all[inside.clone()]));
    // Behind more space it would be code on its own.
    let closing: Vec<Line<'_>> =
        all[inside.end..chunk.lines.end].iter().map(|line| line.without(line.indent())).collect();
    out.push(verbatim(&closing));
    out
}

/// Tells whether blocks of a kind are written as tags around other blocks.
pub(super) const fn is_container(kind: &BlockKind) -> bool {
    matches!(
        kind,
        BlockKind::Hint { .. }
            | BlockKind::Code { .. }
            | BlockKind::Tabs { .. }
            | BlockKind::TabsItem { .. }
            | BlockKind::Stepper {}
            | BlockKind::StepperStep { .. }
            | BlockKind::Columns { .. }
            | BlockKind::Column { .. }
            | BlockKind::If { .. }
    )
}

fn block(reader: &mut Reader<'_>, tag: &Tag<'_>, inner: Option<&[Line<'_>]>) -> Option<Block> {
    let kind = kind(tag)?;
    match (&kind, inner) {
        (BlockKind::Code { .. }, Some(inner)) => code(reader, kind, inner),
        (BlockKind::Tabs { .. }, Some(inner)) => parts(reader, kind, ("tab", inner)),
        (BlockKind::Stepper {}, Some(inner)) => parts(reader, kind, ("step", inner)),
        (BlockKind::Columns { .. }, Some(inner)) => parts(reader, kind, ("column", inner)),
        // These stand only within the ones above.
        (BlockKind::TabsItem { .. } | BlockKind::StepperStep { .. } | BlockKind::Column { .. }, _) => None,
        (BlockKind::Hint { .. } | BlockKind::If { .. }, Some(inner)) => {
            let inside = reader.inside(inner);
            Some(Block::new(kind, nodes(inside)))
        }
        (kind, None) if is_container(kind) => None,
        (BlockKind::File { .. } | BlockKind::Embed { .. }, Some(inner)) => {
            let blocks = reader.inside(inner);
            let is_caption = blocks.iter().all(|block| matches!(block.kind, BlockKind::Paragraph { .. }));
            is_caption.then(|| Block::with_fragments(kind, vec![read::caption(blocks)]))
        }
        (BlockKind::ReusableContent { .. } | BlockKind::Integration(_), Some(_)) => None,
        // What stands in the others repeats where they lead.
        (_, Some(inner)) => {
            (inner.iter().filter(|line| !line.is_blank()).count() <= 1).then(|| Block::new(kind, Vec::new()))
        }
        (_, None) => Some(Block::new(kind, Vec::new())),
    }
}

/// What a tag is; `None` when it is not known, or lacks what it needs.
pub(super) fn kind(tag: &Tag<'_>) -> Option<BlockKind> {
    if let Some(name) = tag.name.strip_prefix('@') {
        return integration(name, tag);
    }
    let target = |name| tag.get(name).map(targets::read);
    Some(match tag.name {
        "hint" => BlockKind::Hint { style: read_word(tag.get("style")?)?, icon: tag.text("icon") },
        "code" => BlockKind::Code {
            syntax: None,
            title: tag.text("title"),
            overflow: tag.get("overflow").map(read_word).map_or(Some(None), |it| it.map(Some))?,
            line_numbers: tag.flag("lineNumbers"),
            full_width: tag.flag("fullWidth"),
        },
        "tabs" => BlockKind::Tabs { full_width: tag.flag("fullWidth") },
        "tab" => BlockKind::TabsItem { title: tag.text("title"), icon: tag.text("icon") },
        "stepper" => BlockKind::Stepper {},
        "step" => BlockKind::StepperStep { icon: tag.text("icon") },
        "columns" => BlockKind::Columns { full_width: tag.flag("fullWidth") },
        "column" => BlockKind::Column {
            width: tag.get("width").map(length).map_or(Some(None), |it| it.map(Some))?,
            vertical_alignment: tag.get("valign").map(read_word).map_or(Some(None), |it| it.map(Some))?,
        },
        "if" => BlockKind::If { expression: tag.bare.clone()?.into_owned() },
        "include" => BlockKind::ReusableContent { target: targets::read(tag.bare.as_deref()?) },
        "file" => BlockKind::File { target: target("src")? },
        "embed" => BlockKind::Embed { url: tag.text("url")?, full_width: tag.flag("fullWidth") },
        "content-ref" => BlockKind::ContentRef { target: target("url")? },
        "page-ref" => BlockKind::ContentRef { target: target("page")? },
        "openapi" | "swagger" => BlockKind::Swagger {
            path: tag.text("path")?,
            method: tag.text("method")?,
            target: Box::new(target("src")?),
            expanded: tag.flag("expanded"),
            full_width: tag.flag("fullWidth"),
        },
        "openapi-operation" => BlockKind::OpenapiOperation {
            path: tag.text("path")?,
            method: tag.text("method")?,
            target: Box::new(spec(tag)?),
        },
        "openapi-webhook" => BlockKind::OpenapiWebhook {
            name: tag.text("name")?,
            method: tag.text("method")?,
            target: Box::new(spec(tag)?),
        },
        "openapi-schemas" => BlockKind::OpenapiSchemas {
            schemas: tag.get("schemas")?.split(',').map(str::to_owned).collect(),
            grouped: tag.flag("grouped"),
            target: Box::new(spec(tag)?),
        },
        _ => return None,
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
        match *name {
            "url" => data.url = Some(value.clone().into_owned()),
            "fullWidth" if value.parse::<bool>().is_ok() => data.full_width = value.parse().ok(),
            name => {
                data.props.insert(name.to_owned(), property(value));
            }
        }
    }
    (!integration.is_empty() && !block.is_empty() && tag.bare.is_none())
        .then_some(BlockKind::Integration(Box::new(data)))
}

/// A property as JSON, where its text is just that, and else a text.
fn property(text: &str) -> Value {
    let json = serde_json::from_str::<Value>(text).ok();
    json.filter(|value| value.to_string().as_str() == text).unwrap_or_else(|| Value::from(text))
}

/// The text of a property.
pub(super) fn property_text(value: &Value) -> String {
    match value {
        Value::String(text) if property(text) == *value => text.clone(),
        value => value.to_string(),
    }
}

/// Options around one block of code.
fn code(reader: &mut Reader<'_>, options: BlockKind, inner: &[Line<'_>]) -> Option<Block> {
    let chunks = chunks::read(inner);
    let [Chunk { kind: ChunkKind::Fence(..), .. }] = chunks.as_slice() else { return None };
    let [mut block] = <[Block; 1]>::try_from(reader.level(inner)).ok()?;
    let BlockKind::Code { syntax, .. } = block.kind else { return None };
    let BlockKind::Code { title, overflow, line_numbers, full_width, .. } = options else { return None };
    // A tag that says nothing would be lost.
    if title.is_none() && overflow.is_none() && line_numbers.is_none() && full_width.is_none() {
        return None;
    }
    block.spelling.is_none().then_some(())?;
    block.kind = BlockKind::Code { syntax, title, overflow, line_numbers, full_width };
    Some(block)
}

/// Tags that hold only tags of one name.
fn parts(reader: &mut Reader<'_>, whole: BlockKind, (name, inner): (&str, &[Line<'_>])) -> Option<Block> {
    let chunks = chunks::read(inner);
    let is_part = |chunk: &Chunk<'_>| match &chunk.kind {
        ChunkKind::Tag(text, Some(_)) => {
            Tag::read(text).is_some_and(|tag| tag.name == name && kind(&tag).is_some())
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
        block.spelling =
            (usual.as_deref().map(squash) != Some(squash(text))).then(|| text.trim_matches(SPACE).to_owned());
        out.push(block);
    }
    Some(Block::new(whole, nodes(out)))
}
