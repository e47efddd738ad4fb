//! Block types and their data.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{TableData, VerticalAlign};
use crate::{ContentRef, Timestamp};

/// The alignment of a paragraph or heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TextAlign {
    /// At the start of the line.
    Start,
    /// Centred.
    Center,
    /// At the end of the line.
    End,
}

/// The alignment of images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ImageAlign {
    /// Left.
    Left,
    /// Centred.
    Center,
    /// Right.
    Right,
}

/// The style of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum HintStyle {
    /// Information.
    Info,
    /// A warning.
    Warning,
    /// A warning of damage or data loss.
    Danger,
    /// A success.
    Success,
}

/// The display mode of code lines that exceed the available width.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CodeOverflow {
    /// Long lines scroll.
    Scroll,
    /// Long lines wrap.
    Wrap,
}

/// A length in pixels or another unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Length {
    /// A number of pixels.
    Pixels(f64),
    /// A number with a unit, for example `%`.
    Unit {
        /// The unit.
        unit: String,
        /// The number.
        value: f64,
    },
}

/// The part of a prompt that is initially visible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum PromptExpansion {
    /// Nothing.
    Hidden,
    /// The beginning.
    Partial,
    /// Everything.
    Full,
}

/// The format of the dates of updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum UpdatesFormat {
    /// In digits.
    Numeric,
    /// With the name of the month.
    #[default]
    Full,
    /// With the abbreviated name of the month.
    Short,
}

/// A reference to a tag of a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TagRef {
    pub kind: TagRefKind,
    /// The slug of the tag.
    pub tag: String,
    /// The space that defines the tag; absent for that of the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
}

/// Always `tag`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum TagRefKind {
    #[default]
    Tag,
}

/// The type of a block and its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum BlockKind {
    /// A paragraph of text.
    Paragraph {
        /// The alignment of the text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<TextAlign>,
    },
    /// A heading of the highest level, directly below the page title.
    #[serde(rename = "heading-1")]
    Heading1(HeadingData),
    /// A heading of the second level.
    #[serde(rename = "heading-2")]
    Heading2(HeadingData),
    /// A heading of the third level.
    #[serde(rename = "heading-3")]
    Heading3(HeadingData),
    /// A bulleted list.
    ListUnordered {},
    /// A numbered list.
    ListOrdered {
        /// The number of the first item, if it is not 1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        start: Option<u64>,
    },
    /// A task list with checkboxes.
    ListTasks {},
    /// A list item.
    ListItem {
        /// The state of the task's checkbox.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        checked: Option<bool>,
    },
    /// A horizontal rule.
    Divider {},
    /// A quotation.
    Blockquote {},
    /// A highlighted note.
    Hint {
        /// The style of the note.
        style: HintStyle,
        /// An icon that replaces the icon of the style.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
    },
    /// A text for an AI assistant: a description and one code block.
    Prompt {
        description: String,
        /// An icon before the description.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
        /// `true` if assistants can be opened with the text. It is stored, but has no effect on sites.
        #[serde(rename = "openInAIProviders", default, skip_serializing_if = "Option::is_none")]
        open_in_ai_providers: Option<bool>,
        /// The part of the text that is initially visible. It is stored, but sites show the whole text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_expanded: Option<PromptExpansion>,
    },
    /// A list of dated updates.
    Updates {
        /// The format of the dates. It is stored, but sites show the date in one format.
        #[serde(default)]
        format: UpdatesFormat,
    },
    /// An update in a list of updates.
    Update {
        date: Timestamp,
        /// The tags of the update. They are stored only.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tags: Vec<TagRef>,
    },
    /// A code block.
    Code {
        /// The programming language.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        syntax: Option<String>,
        /// A title above the code, for example a file name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The display mode of long lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        overflow: Option<CodeOverflow>,
        /// `true` if lines are numbered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        line_numbers: Option<bool>,
        /// `true` if the block takes the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
        /// `true` if a long block is initially collapsed. It is stored, but sites show all lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expandable: Option<bool>,
        /// The number of lines of a collapsed block.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        collapsed_line_count: Option<u32>,
    },
    /// A line of a code block.
    CodeLine {
        /// `true` if the line is highlighted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        highlighted: Option<bool>,
    },
    /// A formula in a block of its own.
    Math {
        /// The formula in TeX.
        formula: String,
    },
    /// A group of one or more images.
    Images {
        /// The alignment of the images.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        align: Option<ImageAlign>,
        /// `true` if the images take the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
        /// `true` if the images have a frame.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        with_frame: Option<bool>,
    },
    /// An image.
    Image(Box<ImageData>),
    /// A file to download.
    File {
        /// The file.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// A drawing.
    Drawing {
        /// The image of the drawing.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        target: Option<ContentRef>,
    },
    /// Content embedded from another site.
    Embed {
        /// The URL of the content.
        url: String,
        /// `true` if the content takes the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A card that links to other content.
    ContentRef {
        /// The target of the card.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// A collapsible section with the fragments `expandable-title` and `expandable-body`.
    Expandable {
        /// `true` if the section is initially open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        default_expanded: Option<bool>,
    },
    /// A set of tabs.
    Tabs {
        /// `true` if the tabs take the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A tab of a set of tabs.
    TabsItem {
        /// The title of the tab.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// The icon of the tab.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
        /// The name under which tabs are selected together. It is stored, but sites select tabs with equal titles.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slug: Option<String>,
    },
    /// A sequence of steps.
    Stepper {},
    /// A step of a sequence.
    StepperStep {
        /// The icon of the step.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
    },
    /// Columns side by side.
    Columns {
        /// `true` if the columns take the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// A column of a set of columns.
    Column {
        /// The width of the column.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width: Option<Length>,
        /// The vertical alignment of the content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vertical_alignment: Option<VerticalAlign>,
    },
    /// A table or a set of cards. The text of each cell is a fragment.
    Table(Box<TableData>),
    /// Content for visitors who meet a condition.
    If {
        /// The condition. Only visitors for whom it is `true` see the content.
        expression: String,
    },
    /// A reference to a reusable content block, which is rendered in place.
    ReusableContent {
        /// The reusable content block.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// A block rendered by an integration. It is preserved unchanged.
    Integration(Box<IntegrationData>),
    /// An operation from an OpenAPI document in a file or at a URL.
    Swagger {
        /// The path of the operation.
        path: String,
        /// The HTTP method of the operation.
        method: String,
        /// The document.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
        /// `true` if the operation is initially open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expanded: Option<bool>,
        /// `true` if the operation takes the full width.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        full_width: Option<bool>,
    },
    /// An operation from an OpenAPI specification of the organization.
    OpenapiOperation {
        /// The path of the operation.
        path: String,
        /// The HTTP method of the operation.
        method: String,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
    /// Schemas from an OpenAPI specification of the organization.
    OpenapiSchemas {
        /// The names of the schemas.
        schemas: Vec<String>,
        /// `true` (the default) if the schemas share one frame.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grouped: Option<bool>,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
    /// A webhook from an OpenAPI specification of the organization.
    OpenapiWebhook {
        /// The name of the webhook.
        name: String,
        /// The HTTP method of the webhook.
        method: String,
        /// The specification.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
    },
}

impl BlockKind {
    /// Returns the level (starting at 1) and the data if the block is a heading.
    #[must_use]
    pub const fn heading(&self) -> Option<(u8, &HeadingData)> {
        match self {
            Self::Heading1(data) => Some((1, data)),
            Self::Heading2(data) => Some((2, data)),
            Self::Heading3(data) => Some((3, data)),
            _ => None,
        }
    }

    /// Creates a code block without options.
    #[must_use]
    pub const fn plain_code(syntax: Option<String>) -> Self {
        Self::Code {
            syntax,
            title: None,
            overflow: None,
            line_numbers: None,
            full_width: None,
            expandable: None,
            collapsed_line_count: None,
        }
    }

    /// Returns `true` for a code block with options other than the programming language.
    #[must_use]
    pub const fn has_code_options(&self) -> bool {
        let Self::Code {
            title, overflow, line_numbers, full_width, expandable, collapsed_line_count, ..
        } = self
        else {
            return false;
        };
        title.is_some()
            || overflow.is_some()
            || line_numbers.is_some()
            || full_width.is_some()
            || expandable.is_some()
            || collapsed_line_count.is_some()
    }

    /// Returns `true` for lists of any type.
    #[must_use]
    pub const fn is_list(&self) -> bool {
        matches!(self, Self::ListUnordered {} | Self::ListOrdered { .. } | Self::ListTasks {})
    }

    /// Iterates over the references in the block's data, with the image for the dark theme last. References in table
    /// cells are not included.
    pub fn targets(&self) -> impl Iterator<Item = &ContentRef> {
        let (first, dark) = match self {
            Self::Image(data) => (Some(&data.target), data.dark.as_ref()),
            Self::Drawing { target } => (target.as_ref(), None),
            Self::File { target } | Self::ContentRef { target } | Self::ReusableContent { target } => {
                (Some(target), None)
            }
            Self::Swagger { target, .. }
            | Self::OpenapiOperation { target, .. }
            | Self::OpenapiSchemas { target, .. }
            | Self::OpenapiWebhook { target, .. } => (Some(&**target), None),
            _ => (None, None),
        };
        first.into_iter().chain(dark)
    }

    /// Like [`Self::targets`], with mutable references.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut ContentRef> {
        let (first, dark) = match self {
            Self::Image(data) => (Some(&mut data.target), data.dark.as_mut()),
            Self::Drawing { target } => (target.as_mut(), None),
            Self::File { target } | Self::ContentRef { target } | Self::ReusableContent { target } => {
                (Some(target), None)
            }
            Self::Swagger { target, .. }
            | Self::OpenapiOperation { target, .. }
            | Self::OpenapiSchemas { target, .. }
            | Self::OpenapiWebhook { target, .. } => (Some(&mut **target), None),
            _ => (None, None),
        };
        first.into_iter().chain(dark)
    }
}

/// The data of a heading.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct HeadingData {
    /// A custom anchor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub align: Option<TextAlign>,
    /// The Markdown level if it is not the default one: 1 for `#`, 5 for `#####`, 6 for `######`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<u8>,
}

/// The data of an image. The fragment `caption` contains the caption.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImageData {
    /// The image.
    #[serde(rename = "ref")]
    pub target: ContentRef,
    /// The image for the dark theme.
    #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
    pub dark: Option<ContentRef>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<Length>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height: Option<Length>,
    /// The alternative text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alt: Option<String>,
}

/// The data of an integration block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct IntegrationData {
    /// The name of the integration.
    pub integration: String,
    /// The name of the block within the integration.
    pub block: String,
    /// The properties that the integration renders.
    #[serde(default)]
    pub props: Map<String, Value>,
    /// The most recent action on the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Value>,
    /// The URL from which the block was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `true` if the block takes the full width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_width: Option<bool>,
}
