//! Inline elements (links, images, formulas) and text marks.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

use crate::{ContentRef, Length, list::constants};

constants! {
    /// `mark`.
    MarkObject = "mark",
}

/// The type of an inline element.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum InlineKind {
    /// A link.
    Link {
        /// The target of the link.
        #[serde(rename = "ref")]
        target: ContentRef,
        /// The tooltip.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// A mention of a page, a space or a user, shown by name.
    Mention {
        /// The mentioned page, space or user.
        #[serde(rename = "ref")]
        target: ContentRef,
    },
    /// An emoji.
    Emoji {
        /// The code points in hexadecimal, separated by `-`.
        code: String,
    },
    /// An icon.
    Icon {
        /// The name of the icon.
        icon: String,
        /// The colour of the icon. It is stored, but sites do not draw icons in texts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        color: Option<MarkColor>,
    },
    /// An inline image.
    InlineImage {
        /// The image.
        #[serde(rename = "ref")]
        target: Box<ContentRef>,
        /// The image for the dark theme.
        #[serde(rename = "refDark", default, skip_serializing_if = "Option::is_none")]
        dark: Option<Box<ContentRef>>,
        /// The caption.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        caption: Option<String>,
        /// The alternative text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<String>,
        /// The display size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<InlineImageSize>,
        /// The width of an image without a display size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        width: Option<Box<Length>>,
        /// The height of an image without a display size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        height: Option<Box<Length>>,
    },
    /// An inline formula.
    InlineMath {
        /// The formula in TeX.
        formula: String,
    },
    /// The value of an expression.
    Expression {
        /// The expression.
        expression: String,
    },
    /// Annotated text. The fragment `annotation-body` contains the annotation.
    Annotation {},
    /// A button.
    Button {
        /// The text of the button.
        label: String,
        /// The style of the button.
        kind: ButtonKind,
        /// Its icon.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        icon: Option<String>,
        /// The target of the button. Without a target the button is disabled.
        #[serde(rename = "ref", default, skip_serializing_if = "Option::is_none")]
        target: Option<Box<ContentRef>>,
        /// The size of the button. It is stored, but sites have buttons of one size.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        size: Option<ButtonSize>,
        /// The action of a button without a target. It is stored, but the button is disabled on sites.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        action: Option<Box<ButtonAction>>,
    },
}

impl InlineKind {
    /// Returns `true` if elements of this type have no child nodes.
    #[must_use]
    pub const fn is_void(&self) -> bool {
        !matches!(self, Self::Link { .. } | Self::Annotation {})
    }

    /// Iterates over the references in the element's data, with the image for the dark theme last.
    pub fn targets(&self) -> impl Iterator<Item = &ContentRef> {
        let (first, dark) = match self {
            Self::Link { target, .. } | Self::Mention { target } => (Some(target), None),
            Self::InlineImage { target, dark, .. } => (Some(&**target), dark.as_deref()),
            Self::Button { target, .. } => (target.as_deref(), None),
            _ => (None, None),
        };
        first.into_iter().chain(dark)
    }

    /// Like [`Self::targets`], with mutable references.
    pub fn targets_mut(&mut self) -> impl Iterator<Item = &mut ContentRef> {
        let (first, dark) = match self {
            Self::Link { target, .. } | Self::Mention { target } => (Some(target), None),
            Self::InlineImage { target, dark, .. } => (Some(&mut **target), dark.as_deref_mut()),
            Self::Button { target, .. } => (target.as_deref_mut(), None),
            _ => (None, None),
        };
        first.into_iter().chain(dark)
    }
}

/// The display size of an inline image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum InlineImageSize {
    /// The size of the image file.
    Original,
    /// The line height.
    Line,
}

/// The size of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ButtonSize {
    Small,
    Medium,
    Large,
}

/// The action of a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum ButtonAction {
    /// Opens the search.
    Search {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
    },
    /// Asks the assistant.
    Ask {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        query: Option<String>,
    },
    /// Selects the option with this slug, such as a tab.
    Select { slug: String },
}

/// The style of a button.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ButtonKind {
    /// The main action.
    Primary,
    /// A secondary action.
    Secondary,
}

/// A text mark, for example bold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Mark {
    /// Always `mark`.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub object: MarkObject,
    /// The type and data of the mark.
    #[serde(flatten)]
    pub kind: MarkKind,
    /// The first character of the mark's Markdown notation if it is not the default one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub spelling: Option<char>,
}

impl<'de> Deserialize<'de> for Mark {
    /// Accepts empty data for the types that have none.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct RawMark {
            #[serde(default)]
            object: MarkObject,
            #[serde(rename = "type")]
            kind: String,
            #[serde(default)]
            data: Option<Map<String, Value>>,
            #[serde(default)]
            spelling: Option<char>,
        }
        let RawMark { object, kind, data, spelling } = RawMark::deserialize(from)?;
        let data = data.filter(|data| !data.is_empty());
        let is_plain = kind != "color";
        if is_plain && data.is_some() {
            return Err(D::Error::custom(format_args!(
                "data: must be empty for a mark of the type `{kind}`"
            )));
        }
        let mut typed = Map::from_iter([("type".to_owned(), Value::from(kind))]);
        if !is_plain {
            typed.insert("data".to_owned(), data.unwrap_or_default().into());
        }
        let kind = serde_json::from_value(Value::Object(typed)).map_err(D::Error::custom)?;
        Ok(Self { object, kind, spelling })
    }
}

impl From<MarkKind> for Mark {
    fn from(kind: MarkKind) -> Self {
        Self { object: MarkObject::Is, kind, spelling: None }
    }
}

/// The type of a text mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", content = "data", rename_all = "lowercase")]
pub enum MarkKind {
    /// Bold.
    Bold,
    /// Italic.
    Italic,
    /// Struck through.
    Strikethrough,
    /// Inline code.
    Code,
    /// A keyboard key.
    Keyboard,
    /// Raised.
    Superscript,
    /// Lowered.
    Subscript,
    /// Coloured text or background.
    Color {
        /// The colour of the text.
        text: MarkColor,
        /// The colour of the background.
        background: MarkColor,
    },
}

/// A text or background colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum MarkColor {
    /// The default colour.
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
    /// Pink.
    Pink,
    /// Violet.
    Violet,
    /// Cyan.
    Cyan,
    /// The primary colour of the site.
    #[serde(rename = "$primary")]
    Primary,
    /// The tint colour of the site, which is the primary colour unless one is set.
    #[serde(rename = "$tint")]
    Tint,
    /// The `info` colour of the site.
    #[serde(rename = "$info")]
    Info,
    /// The `success` colour of the site.
    #[serde(rename = "$success")]
    Success,
    /// The `warning` colour of the site.
    #[serde(rename = "$warning")]
    Warning,
    /// The `danger` colour of the site.
    #[serde(rename = "$danger")]
    Danger,
}
