//! What stands within text: links, pictures, formulas, and the marks on text.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use super::{Fragment, InlineObject, Node, typed};
use crate::{ContentRef, list::constants};

constants! {
    /// `mark`.
    MarkObject = "mark",
}

/// An element within text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Inline {
    /// Always `inline`.
    pub object: InlineObject,
    /// Names the element as a block's key does.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub key: Option<String>,
    /// What it is, and its own data.
    #[serde(flatten)]
    pub kind: InlineKind,
    /// Whether it has no nodes of its own.
    pub is_void: bool,
    /// What it holds; absent for a void element.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub nodes: Vec<Node>,
    /// Texts that are part of its data: the body of an annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub fragments: Option<Vec<Fragment>>,
    /// How it is written in Markdown, where that is not the usual way. Passed over when it does not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub spelling: Option<String>,
}

impl Inline {
    /// An element without a key.
    #[must_use]
    pub fn new(kind: InlineKind, nodes: Vec<Node>) -> Self {
        let is_void = kind.is_void();
        Self { object: InlineObject::Is, key: None, kind, is_void, nodes, fragments: None, spelling: None }
    }

    /// The fragments, none when it has none.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.fragments.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Inline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            object: InlineObject,
            #[serde(rename = "type")]
            kind: String,
            #[serde(default)]
            key: Option<String>,
            #[serde(default)]
            data: Map<String, Value>,
            #[serde(default)]
            nodes: Vec<Node>,
            #[serde(default)]
            fragments: Option<Vec<Fragment>>,
            #[serde(default)]
            spelling: Option<String>,
        }
        let raw = Raw::deserialize(from)?;
        let kind: InlineKind = typed(raw.kind, raw.data).map_err(D::Error::custom)?;
        let is_void = kind.is_void();
        Ok(Self {
            object: raw.object,
            key: raw.key,
            kind,
            is_void,
            nodes: raw.nodes,
            fragments: raw.fragments,
            spelling: raw.spelling,
        })
    }
}

/// What an element within text is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum InlineKind {
    /// A link.
    Link {
        /// Where it leads.
        #[serde(rename = "ref")]
        target: ContentRef,
        /// What is shown when one points at it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A page, a space or a user by its name.
    Mention {
        /// Which.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// An emoji.
    Emoji {
        /// Its code points in hexadecimal, with `-` between them.
        code: String,
    },
    /// An icon.
    Icon {
        /// Its name.
        icon: String,
    },
    /// A picture within text.
    InlineImage {
        /// The picture.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
        /// The picture for a dark background.
        #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
        dark: Option<Box<ContentRef>>,
        /// What stands below it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
        /// What it shows, for those who cannot see it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<String>,
        /// How large it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<InlineImageSize>,
    },
    /// A formula within text.
    InlineMath {
        /// In TeX.
        formula: String,
    },
    /// The value of an expression.
    Expression {
        /// The expression.
        expression: String,
    },
    /// Text with a note. Its fragment `annotation-body` is the note.
    Annotation {},
    /// A button.
    Button {
        /// What is written on it.
        label: String,
        /// How it looks.
        kind: ButtonKind,
        /// Its icon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
        /// Where it leads; a button without is disabled.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        target: Option<Box<ContentRef>>,
    },
}

impl InlineKind {
    /// Tells whether elements of this kind have no nodes of their own.
    #[must_use]
    pub const fn is_void(&self) -> bool {
        !matches!(self, Self::Link { .. } | Self::Annotation {})
    }
}

/// How large a picture within text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InlineImageSize {
    /// As large as it is.
    Original,
    /// As high as the line.
    Line,
}

/// How a button looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ButtonKind {
    /// The one to press.
    Primary,
    /// Another one.
    Secondary,
}

/// A mark on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Mark {
    /// Always `mark`.
    #[serde(default)]
    pub object: MarkObject,
    /// Which.
    #[serde(flatten)]
    pub kind: MarkKind,
    /// How it is written in Markdown, where that is not the usual way: the character it begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<char>,
}

impl From<MarkKind> for Mark {
    fn from(kind: MarkKind) -> Self {
        Self { object: MarkObject::Is, kind, spelling: None }
    }
}

/// Which mark is on text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
pub enum MarkKind {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Crossed out.
    Strikethrough,
    /// Code.
    Code,
    /// A key to press.
    Keyboard,
    /// Raised.
    Superscript,
    /// Lowered.
    Subscript,
    /// Coloured.
    Color {
        /// Of the text.
        text: MarkColor,
        /// Behind the text.
        background: MarkColor,
    },
}

/// A colour of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MarkColor {
    /// The usual one.
    #[default]
    Default,
    /// Green.
    Green,
    /// Blue.
    Blue,
    /// Red.
    Red,
    /// Orange.
    Orange,
    /// Yellow.
    Yellow,
    /// Purple.
    Purple,
    /// The primary colour of the site.
    #[serde(rename = "$primary")]
    Primary,
    /// The site's colour of information.
    #[serde(rename = "$info")]
    Info,
    /// The site's colour of success.
    #[serde(rename = "$success")]
    Success,
    /// The site's colour of warning.
    #[serde(rename = "$warning")]
    Warning,
    /// The site's colour of danger.
    #[serde(rename = "$danger")]
    Danger,
}
