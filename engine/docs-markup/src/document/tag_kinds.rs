//! The kinds of blocks in tag notation.

use docs_model::{BlockKind, BlockTag, IntegrationData, TagRef, TagRefKind};
use serde_json::{Map, Value};

use super::{
    attributes::{count, date, length, optional, read_word},
    tags::TemplateTag,
    targets,
};

/// Returns the block kind of a tag, or `None` for an unknown tag or a missing required attribute.
#[expect(clippy::too_many_lines, reason = "a flat table from tags to block kinds")]
pub(super) fn kind(tag: &TemplateTag<'_>) -> Option<BlockKind> {
    let target = |name| tag.get(name).map(targets::read);
    Some(match BlockTag::from_name(tag.name)? {
        BlockTag::Hint => BlockKind::Hint { style: read_word(tag.get("style")?)?, icon: tag.text("icon") },
        BlockTag::Code => BlockKind::Code {
            syntax: None,
            title: tag.text("title"),
            overflow: optional(tag.get("overflow"), read_word)?,
            line_numbers: tag.flag("lineNumbers"),
            full_width: tag.flag("fullWidth"),
            expandable: tag.flag("expandable"),
            collapsed_line_count: optional(tag.get("collapsedLineCount"), count)?,
        },
        BlockTag::Tabs => BlockKind::Tabs { full_width: tag.flag("fullWidth") },
        BlockTag::Tab => {
            BlockKind::TabsItem { title: tag.text("title"), icon: tag.text("icon"), slug: tag.text("slug") }
        }
        BlockTag::Prompt => BlockKind::Prompt {
            description: tag.text("description")?,
            icon: tag.text("icon"),
            open_in_ai_providers: tag.flag("openInAIProviders"),
            default_expanded: optional(tag.get("defaultExpanded"), read_word)?,
        },
        BlockTag::Updates => {
            BlockKind::Updates { format: optional(tag.get("format"), read_word)?.unwrap_or_default() }
        }
        BlockTag::Update => BlockKind::Update {
            date: date(tag.get("date")?)?,
            tags: tag.get("tags").map_or_else(Vec::new, |tags| tags.split(',').map(tag_ref).collect()),
        },
        BlockTag::Stepper => BlockKind::Stepper {},
        BlockTag::Step => BlockKind::StepperStep { icon: tag.text("icon") },
        BlockTag::Columns => BlockKind::Columns { full_width: tag.flag("fullWidth") },
        BlockTag::Column => BlockKind::Column {
            width: optional(tag.get("width"), length)?,
            vertical_alignment: optional(tag.get("valign"), read_word)?,
        },
        BlockTag::If => BlockKind::If { expression: tag.bare.clone()?.into_owned() },
        BlockTag::Include => BlockKind::ReusableContent { target: targets::read(tag.bare.as_deref()?) },
        BlockTag::File => BlockKind::File { target: target("src")? },
        // Older exports escape punctuation in URLs.
        BlockTag::Embed => {
            let escapes = [("\\_", "_"), ("\\#", "#"), ("\\*", "*"), ("\\~", "~")];
            let url = tag.get("url")?.to_owned();
            let url = escapes.into_iter().fold(url, |url, (escape, plain)| url.replace(escape, plain));
            BlockKind::Embed { url, full_width: tag.flag("fullWidth") }
        }
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

fn spec(tag: &TemplateTag<'_>) -> Option<docs_model::ContentRef> {
    Some(docs_model::ContentRef::OpenApi { spec: tag.text("spec")? })
}

/// Reads a reference to a tag: its slug, after its space and a slash if it is of another space.
fn tag_ref(text: &str) -> TagRef {
    let text = text.trim();
    let (space, tag) = match text.split_once('/') {
        Some((space, tag)) => (Some(space.to_owned()), tag),
        None => (None, text),
    };
    TagRef { kind: TagRefKind::Tag, tag: tag.to_owned(), space }
}

/// Formats references to tags.
pub(super) fn tag_refs_text(tags: &[TagRef]) -> String {
    let one = |tag: &TagRef| match &tag.space {
        Some(space) => format!("{space}/{}", tag.tag),
        None => tag.tag.clone(),
    };
    tags.iter().map(one).collect::<Vec<_>>().join(",")
}

fn integration(name: &str, tag: &TemplateTag<'_>) -> Option<BlockKind> {
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

/// Parses a property as JSON if printing the value returns the same text, otherwise as a string.
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
