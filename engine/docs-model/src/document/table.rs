//! Tables: views, columns and rows.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ContentRef;

/// The data of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TableData {
    /// The view: a grid or a set of cards.
    pub view: TableView,
    /// The rows by id, ordered by [`TableRecord::order_index`].
    pub records: BTreeMap<String, TableRecord>,
    /// The columns by id. The view defines their order.
    pub definition: BTreeMap<String, TableColumn>,
    /// `true` if the table takes the full width.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_width: Option<bool>,
}

impl TableData {
    /// Returns the rows, sorted by order index and then by id.
    #[must_use]
    pub fn rows(&self) -> Vec<(&String, &TableRecord)> {
        let mut rows: Vec<_> = self.records.iter().collect();
        rows.sort_by(|a, b| (&a.1.order_index, a.0).cmp(&(&b.1.order_index, b.0)));
        rows
    }
}

/// The view of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum TableView {
    /// Rows and columns.
    Grid {
        /// The ids of the visible columns in display order.
        columns: Vec<String>,
        /// Column widths in pixels, by column id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        column_widths: Option<BTreeMap<String, f64>>,
        /// `true` if the column titles are hidden.
        #[serde(default)]
        hide_header: bool,
        /// `true` if column widths follow the newer sizing rules.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        use_new_sizing: Option<bool>,
    },
    /// Cards.
    Cards {
        /// The size of the cards.
        card_size: CardSize,
        /// The ids of the visible columns in display order.
        columns: Vec<String>,
        /// The column that contains the link target of a card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        target_definition: Option<String>,
        /// The column that contains the cover image of a card.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cover_definition: Option<String>,
        /// The column that contains the cover image for the dark theme.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cover_definition_dark: Option<String>,
        /// `true` if the column titles are hidden.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hide_column_title: Option<bool>,
    },
}

impl TableView {
    /// Returns the ids of the visible columns in display order.
    #[must_use]
    pub fn columns(&self) -> &[String] {
        match self {
            Self::Grid { columns, .. } | Self::Cards { columns, .. } => columns,
        }
    }
}

/// The size of cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CardSize {
    /// Three cards in a row.
    Medium,
    /// Two cards in a row.
    Large,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TableColumn {
    pub id: String,
    pub title: String,
    /// The type of the column.
    #[serde(flatten)]
    pub kind: TableColumnKind,
    /// The Markdown source of the title if it has formatting. Ignored if it parses to a different title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
}

/// The type of a column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum TableColumnKind {
    /// Text. The cell value is the name of a fragment of the table.
    Text {
        /// The horizontal alignment.
        text_alignment: CellAlign,
        /// The vertical alignment.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vertical_alignment: Option<VerticalAlign>,
    },
    /// A number.
    Number,
    /// A checkbox.
    Checkbox,
    /// Files. The cell value is a list of ids.
    Files,
    /// Users. The cell value is a list of ids.
    Users {
        /// `true` if a cell can have more than one user.
        multiple: bool,
    },
    /// A star rating.
    Rating {
        /// The maximum number of stars.
        max: f64,
    },
    /// A selection from predefined options.
    Select {
        /// `true` if a cell can have more than one option.
        multiple: bool,
        /// The available options.
        options: Vec<SelectOption>,
    },
    /// A reference to content.
    ContentRef,
    /// An image.
    Image,
}

/// The horizontal alignment of text in a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CellAlign {
    /// Left.
    #[default]
    Left,
    /// Centred.
    Center,
    /// Right.
    Right,
}

/// An option of a select column.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SelectOption {
    /// The id of the option.
    pub value: String,
    /// The displayed text.
    pub label: String,
    pub color: String,
}

/// A row of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TableRecord {
    /// The sort key of the row.
    pub order_index: String,
    /// The cell values by column id.
    pub values: BTreeMap<String, CellValue>,
    /// The Markdown notation of cells by column id, if it is not the default one: the label of a link. Text cells have
    /// none. Ignored if it parses to a different value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub spelling: BTreeMap<String, String>,
}

/// The value of a table cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum CellValue {
    /// The value of a number or rating column.
    Number(f64),
    /// The state of a checkbox.
    Checked(bool),
    /// The name of the fragment that contains the text.
    Text(String),
    /// The ids of files or users, or the selected options.
    Ids(Vec<String>),
    /// A reference to content, or an image.
    Reference(ContentRef),
    /// An image with its scaling mode.
    Image {
        /// The image.
        #[serde(rename = "ref")]
        target: ContentRef,
        /// The scaling mode of the image: `contain`, `fill` or `cover`.
        #[serde(rename = "objectFit", default, skip_serializing_if = "Option::is_none")]
        object_fit: Option<String>,
    },
    /// An empty cell.
    Empty(()),
}

/// The vertical alignment of content in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum VerticalAlign {
    /// Top.
    Top,
    /// Middle.
    Middle,
    /// Bottom.
    Bottom,
}
