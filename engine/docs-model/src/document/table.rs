//! Tables: views, columns and rows.

use std::collections::BTreeMap;

#[cfg(feature = "schema")]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

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
    /// Merged cells. They are stored, but sites show each cell.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cell_merges: Vec<CellMerge>,
    /// `true` if the table has a search field. It is stored, but sites show none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<bool>,
}

/// A range of merged cells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CellMerge {
    /// The cell at the top left of the range.
    pub anchor: CellAnchor,
    /// The number of rows.
    pub row_span: CellSpan,
    /// The number of columns.
    pub col_span: CellSpan,
}

/// The position of a cell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct CellAnchor {
    /// The id of the row.
    pub record: String,
    /// The id of the column.
    pub column: String,
}

/// The number of rows or columns of a range of cells, from 1 to 50.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CellSpan(u8);

impl CellSpan {
    /// A single row or column.
    pub const ONE: Self = Self(1);

    /// Creates a number, or returns `None` if it is outside the range.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 50 { Some(Self(number)) } else { None }
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }
}

impl<'de> Deserialize<'de> for CellSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u8::deserialize(deserializer)?;
        Self::new(number).ok_or_else(|| serde::de::Error::custom("must be a whole number from 1 to 50"))
    }
}

#[cfg(feature = "schema")]
impl JsonSchema for CellSpan {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "CellSpan".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": 50 })
    }
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
        /// `true` if the header remains visible while the page scrolls. It is stored, but has no effect on sites.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sticky_header: Option<bool>,
        /// `true` if the first column remains visible while the table scrolls. It has no effect on sites either.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sticky_first_column: Option<bool>,
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
        /// `false` if the cards are in a single row that scrolls. It is stored, but sites show several rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wrap: Option<bool>,
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
        /// The alternative text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        alt: Option<String>,
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
