//! What blocks there are, each with the data of its own.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::TableData;
use crate::ContentRef;

/// How a paragraph or heading is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextAlign {
    /// At the start of the line.
    Start,
    /// In the middle.
    Center,
    /// At the end of the line.
    End,
}

/// How pictures are aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ImageAlign {
    /// To the left.
    Left,
    /// In the middle.
    Center,
    /// To the right.
    Right,
}

/// Where content stands in its column or cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VerticalAlign {
    /// At the top.
    Top,
    /// In the middle.
    Middle,
    /// At the bottom.
    Bottom,
}

/// What a hint tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HintStyle {
    /// Something to know.
    Info,
    /// Something to mind.
    Warning,
    /// Something that can do harm.
    Danger,
    /// Something that went well.
    Success,
}

/// What becomes of lines of code that are too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CodeOverflow {
    /// They scroll.
    Scroll,
    /// They wrap.
    Wrap,
}

/// A length: pixels, or a number with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Length {
    /// Pixels.
    Pixels(f64),
    /// A number and its unit, such as `%`.
    Unit {
        /// The unit.
        unit: String,
        /// How many of it.
        value: f64,
    },
}

/// What a block is, with the data of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum BlockKind {
    /// Text.
    Paragraph {
        /// How it is aligned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<TextAlign>,
    },
    /// A heading of the first level below the page's title.
    #[serde(rename = "heading-1")]
    Heading1(HeadingData),
    /// A heading of the second level.
    #[serde(rename = "heading-2")]
    Heading2(HeadingData),
    /// A heading of the third level.
    #[serde(rename = "heading-3")]
    Heading3(HeadingData),
    /// A list with bullets.
    ListUnordered {},
    /// A list with numbers.
    ListOrdered {
        /// The first number, where the list does not begin with one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
    },
    /// A list with boxes to check.
    ListTasks {},
    /// An item of a list.
    ListItem {
        /// Whether its box is checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checked: Option<bool>,
    },
    /// A line across.
    Divider {},
    /// A quotation.
    Blockquote {},
    /// A framed note.
    Hint {
        /// What it tells.
        style: HintStyle,
        /// The icon instead of the style's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
    },
    /// Code.
    Code {
        /// The language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        syntax: Option<String>,
        /// A title above it, such as a file's name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// What becomes of long lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overflow: Option<CodeOverflow>,
        /// Whether lines have numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line_numbers: Option<bool>,
        /// Whether it takes the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A line of code.
    CodeLine {
        /// Whether it stands out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        highlighted: Option<bool>,
    },
    /// A formula.
    Math {
        /// In TeX.
        formula: String,
    },
    /// One picture or several.
    Images {
        /// How they are aligned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<ImageAlign>,
        /// Whether they take the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
        /// Whether there is a frame around them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        with_frame: Option<bool>,
    },
    /// A picture.
    Image(Box<ImageData>),
    /// A file to download.
    File {
        /// The file.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// A drawing.
    Drawing {
        /// Its picture.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        target: Option<ContentRef>,
    },
    /// Something shown from another site.
    Embed {
        /// Its address.
        url: String,
        /// Whether it takes the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A card that leads elsewhere.
    ContentRef {
        /// Where it leads.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// Content that opens. Its fragments are `expandable-title` and `expandable-body`.
    Expandable {
        /// Whether it is open at first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_expanded: Option<bool>,
    },
    /// Tabs.
    Tabs {
        /// Whether they take the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A tab.
    TabsItem {
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// Its icon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
    },
    /// Steps.
    Stepper {},
    /// A step.
    StepperStep {
        /// Its icon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
    },
    /// Columns side by side.
    Columns {
        /// Whether they take the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A column.
    Column {
        /// Its width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width: Option<Length>,
        /// Where its content stands.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vertical_alignment: Option<VerticalAlign>,
    },
    /// A table, or cards. The text of a cell is a fragment.
    Table(Box<TableData>),
    /// Content for some visitors only.
    If {
        /// Who sees it.
        expression: String,
    },
    /// A reusable content.
    ReusableContent {
        /// Which.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// A block of an integration, kept as it is.
    Integration(Box<IntegrationData>),
    /// An operation of an OpenAPI document that is a file or an address.
    Swagger {
        /// The operation's path.
        path: String,
        /// The operation's method.
        method: String,
        /// The document.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
        /// Whether it is open at first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expanded: Option<bool>,
        /// Whether it takes the whole width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// An operation of an OpenAPI specification of the organization.
    OpenapiOperation {
        /// The operation's path.
        path: String,
        /// The operation's method.
        method: String,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
    /// Schemas of an OpenAPI specification of the organization.
    OpenapiSchemas {
        /// Their names.
        schemas: Vec<String>,
        /// Whether they stand in one frame; they do when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grouped: Option<bool>,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
    /// A webhook of an OpenAPI specification of the organization.
    OpenapiWebhook {
        /// The webhook's name.
        name: String,
        /// Its method.
        method: String,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
}

impl BlockKind {
    /// The level of a heading, from 1, and its data.
    #[must_use]
    pub const fn heading(&self) -> Option<(u8, &HeadingData)> {
        match self {
            Self::Heading1(data) => Some((1, data)),
            Self::Heading2(data) => Some((2, data)),
            Self::Heading3(data) => Some((3, data)),
            _ => None,
        }
    }
}

/// The data of a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HeadingData {
    /// The anchor that was given to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How it is aligned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<TextAlign>,
    /// The level it has in Markdown, where that is not the usual one: 1 for `#`, 5 for `#####`, 6 for `######`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
}

/// The data of a picture. Its fragment `caption` is what stands below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImageData {
    /// The picture.
    #[serde(rename = "ref")]
    pub target: ContentRef,
    /// The picture for a dark background.
    #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
    pub dark: Option<ContentRef>,
    /// Its width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Length>,
    /// Its height.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Length>,
    /// What it shows, for those who cannot see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// The data of a block that an integration draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IntegrationData {
    /// The integration.
    pub integration: String,
    /// The kind of block.
    pub block: String,
    /// What the integration needs to draw it.
    #[serde(default)]
    pub props: Map<String, Value>,
    /// What was done to it last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    /// The address it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Whether it takes the whole width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_width: Option<bool>,
}
