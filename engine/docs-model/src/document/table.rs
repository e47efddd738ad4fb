//! Tables: how they are shown, what their columns are, and what stands in their rows.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::VerticalAlign;
use crate::ContentRef;

/// The data of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TableData {
    /// How it is shown.
    pub view: TableView,
    /// The rows by their ids; [`TableRecord::order_index`] tells their order.
    pub records: BTreeMap<String, TableRecord>,
    /// The columns by their ids; the view tells their order.
    pub definition: BTreeMap<String, TableColumn>,
    /// Whether it takes the whole width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_width: Option<bool>,
}

impl TableData {
    /// The rows in their order.
    #[must_use]
    pub fn rows(&self) -> Vec<(&String, &TableRecord)> {
        let mut rows: Vec<_> = self.records.iter().collect();
        rows.sort_by(|a, b| (&a.1.order_index, a.0).cmp(&(&b.1.order_index, b.0)));
        rows
    }
}

/// How a table is shown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum TableView {
    /// As rows and columns.
    Grid {
        /// The columns that are shown, in their order.
        columns: Vec<String>,
        /// Widths of columns, in pixels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column_widths: Option<BTreeMap<String, f64>>,
        /// Whether the titles of columns are left out.
        #[serde(default)]
        hide_header: bool,
        /// Whether widths are measured in the newer way.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        use_new_sizing: Option<bool>,
    },
    /// As cards.
    Cards {
        /// How large they are.
        card_size: CardSize,
        /// The columns that are shown, in their order.
        columns: Vec<String>,
        /// The column that tells where a card leads.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_definition: Option<String>,
        /// The column of the pictures above.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cover_definition: Option<String>,
        /// The column of the pictures above, for a dark background.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cover_definition_dark: Option<String>,
        /// Whether the titles of columns are left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hide_column_title: Option<bool>,
    },
}

impl TableView {
    /// The columns that are shown, in their order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        match self {
            Self::Grid { columns, .. } | Self::Cards { columns, .. } => columns,
        }
    }
}

/// How large cards are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CardSize {
    /// Three in a row.
    Medium,
    /// Two in a row.
    Large,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TableColumn {
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What stands in it.
    #[serde(flatten)]
    pub kind: TableColumnKind,
    /// How the title is written, where it is more than text. Passed over when it reads as another title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
}

/// What stands in a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum TableColumnKind {
    /// Text: the value names a fragment of the table.
    Text {
        /// How it is aligned.
        text_alignment: CellAlign,
        /// Where it stands in the row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vertical_alignment: Option<VerticalAlign>,
    },
    /// A number.
    Number,
    /// A box to check.
    Checkbox,
    /// Files: the value lists them.
    Files,
    /// Users: the value lists them.
    Users {
        /// Whether there can be several.
        multiple: bool,
    },
    /// A number of stars.
    Rating {
        /// The most.
        max: f64,
    },
    /// Choices.
    Select {
        /// Whether there can be several.
        multiple: bool,
        /// What there is to choose from.
        options: Vec<SelectOption>,
    },
    /// A reference.
    ContentRef,
    /// A picture.
    Image,
}

/// How the text of a column is aligned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellAlign {
    /// To the left.
    #[default]
    Left,
    /// In the middle.
    Center,
    /// To the right.
    Right,
}

/// One of the choices of a column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SelectOption {
    /// Its id.
    pub value: String,
    /// What is written on it.
    pub label: String,
    /// Its colour.
    pub color: String,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TableRecord {
    /// Sorts the rows.
    pub order_index: String,
    /// What stands in each column.
    pub values: BTreeMap<String, CellValue>,
    /// How cells that are no text are written, by their columns, where it is not the usual way: the label of a link.
    /// Passed over when it reads as another value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spelling: BTreeMap<String, String>,
}

/// What stands in a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum CellValue {
    /// A number of a number or rating column.
    Number(f64),
    /// Whether a box is checked.
    Checked(bool),
    /// The name of a fragment, for text.
    Text(String),
    /// Files, users or choices.
    Ids(Vec<String>),
    /// A reference, or a picture.
    Reference(ContentRef),
    /// A picture and how it fills its place.
    Image {
        /// The picture.
        #[serde(rename = "ref")]
        target: ContentRef,
        /// How it fills its place: `contain`, `fill` or `cover`.
        #[serde(rename = "objectFit", default, skip_serializing_if = "Option::is_none")]
        object_fit: Option<String>,
    },
    /// Nothing.
    Empty(()),
}
