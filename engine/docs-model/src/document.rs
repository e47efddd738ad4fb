//! The content of a page as a tree: a [`Document`] of [`Block`]s, which hold [`Inline`]s and [`TextNode`]s.
//!
//! What is stored is Markdown; a document is made from it, and written as it again, by
//! `content::document`.

mod form;
mod inline;
mod kinds;
mod table;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::{Map, Value};

pub use self::{form::*, inline::*, kinds::*, table::*};
use super::list::constants;

constants! {
    /// `document`.
    DocumentObject = "document",
    /// `block`.
    BlockObject = "block",
    /// `inline`.
    InlineObject = "inline",
    /// `text`.
    TextObject = "text",
    /// `leaf`.
    LeafObject = "leaf",
    /// `fragment`.
    FragmentObject = "fragment",
}

/// The content of a page as a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Document {
    /// Always `document`.
    pub object: DocumentObject,
    /// What is known of it as a whole.
    #[serde(default)]
    pub data: DocumentData,
    /// Its blocks.
    pub nodes: Vec<Block>,
}

impl Document {
    /// A document of these blocks.
    #[must_use]
    pub fn new(nodes: Vec<Block>) -> Self {
        Self { object: DocumentObject::Is, data: DocumentData::default(), nodes }
    }

    /// All of its blocks and inlines, however deep and those of fragments among them, in no promised order. Depth costs
    /// memory and no stack.
    ///
    /// ```
    /// use docs_model::{Block, BlockKind, Document, Node, Part};
    ///
    /// let inner = Block::new(BlockKind::Divider {}, Vec::new());
    /// let quote = Block::new(BlockKind::Blockquote {}, vec![Node::Block(inner)]);
    /// let document = Document::new(vec![quote]);
    /// assert_eq!(document.parts().filter(|part| matches!(part, Part::Block(_))).count(), 2);
    /// ```
    pub fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let mut blocks: Vec<&Block> = self.nodes.iter().collect();
        let mut nodes: Vec<&Node> = Vec::new();
        std::iter::from_fn(move || {
            let (part, below, fragments) = loop {
                match nodes.pop() {
                    Some(Node::Inline(inline)) => {
                        break (Part::Inline(inline), &inline.nodes, inline.fragments());
                    }
                    Some(Node::Block(block)) => blocks.push(block),
                    Some(Node::Text(_)) => {}
                    None => {
                        let block = blocks.pop()?;
                        break (Part::Block(block), &block.nodes, block.fragments());
                    }
                }
            };
            nodes.extend(below);
            blocks.extend(fragments.iter().flat_map(|fragment| &fragment.nodes));
            Some(part)
        })
    }
}

/// A part of a [`Document`] that has a kind.
#[derive(Clone, Copy, Debug)]
pub enum Part<'d> {
    /// A block.
    Block(&'d Block),
    /// An inline.
    Inline(&'d Inline),
}

/// What is known of a document as a whole.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentData {
    /// The version of the schema; the latest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u32>,
}

/// A block: a paragraph, a table, a set of tabs …
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Always `block`.
    pub object: BlockObject,
    /// Names the block for as long as it says the same: comments point at it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub key: Option<String>,
    /// What it is, and its own data.
    #[serde(flatten)]
    pub kind: BlockKind,
    /// Whether it has no nodes of its own.
    pub is_void: bool,
    /// What it holds; absent for a void block.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub nodes: Vec<Node>,
    /// Texts that are part of its data, such as a caption or the cells of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub fragments: Option<Vec<Fragment>>,
    /// What the server computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub meta: Option<BlockMeta>,
    /// How it is written in Markdown, where that is not the usual way. It never changes what is said: one that does
    /// not fit the block is passed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub spelling: Option<String>,
}

impl Block {
    /// A block without a key.
    #[must_use]
    pub fn new(kind: BlockKind, nodes: Vec<Node>) -> Self {
        let is_void = kind.form().is_void();
        Self {
            object: BlockObject::Is,
            key: None,
            kind,
            is_void,
            nodes,
            fragments: None,
            meta: None,
            spelling: None,
        }
    }

    /// A block with fragments.
    #[must_use]
    pub fn with_fragments(kind: BlockKind, fragments: Vec<Fragment>) -> Self {
        Self { fragments: Some(fragments), ..Self::new(kind, Vec::new()) }
    }

    /// The fragments, none when it has none.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.fragments.as_deref().unwrap_or_default()
    }

    /// The fragment of a name.
    #[must_use]
    pub fn fragment(&self, name: &str) -> Option<&Fragment> {
        self.fragments().iter().find(|fragment| fragment.fragment.as_deref() == Some(name))
    }
}

impl<'de> Deserialize<'de> for Block {
    /// Whether a block is void follows from its type, and data that says nothing may be left out.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Raw {
            object: BlockObject,
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
            meta: Option<BlockMeta>,
            #[serde(default)]
            spelling: Option<String>,
        }
        let raw = Raw::deserialize(from)?;
        let kind: BlockKind = typed(raw.kind, raw.data).map_err(D::Error::custom)?;
        let is_void = kind.form().is_void();
        Ok(Self {
            object: raw.object,
            key: raw.key,
            kind,
            is_void,
            nodes: raw.nodes,
            fragments: raw.fragments,
            meta: raw.meta,
            spelling: raw.spelling,
        })
    }
}

/// A type and its data, from their JSON.
fn typed<T: serde::de::DeserializeOwned>(kind: String, data: Map<String, Value>) -> serde_json::Result<T> {
    let pair: Map<String, Value> =
        [("type".to_owned(), Value::from(kind)), ("data".to_owned(), Value::from(data))]
            .into_iter()
            .collect();
    serde_json::from_value(Value::Object(pair))
}

/// What the server computed of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockMeta {
    /// The anchor by which an address leads to it.
    pub id: String,
}

/// What a block, an inline or a fragment holds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Node {
    /// A block.
    Block(Block),
    /// An element within text.
    Inline(Inline),
    /// Text.
    Text(TextNode),
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let node = match value.get("object").and_then(Value::as_str) {
            Some("block") => serde_json::from_value(value).map(Self::Block),
            Some("inline") => serde_json::from_value(value).map(Self::Inline),
            Some("text") => serde_json::from_value(value).map(Self::Text),
            _ => return Err(D::Error::custom("a node has `object` `block`, `inline` or `text`")),
        };
        node.map_err(D::Error::custom)
    }
}

/// A named part of a block: the caption of an image, the text of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Fragment {
    /// Always `fragment`.
    pub object: FragmentObject,
    /// Names the fragment as a block's key does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its name within the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// What it is for.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Its blocks.
    pub nodes: Vec<Block>,
}

impl Fragment {
    /// A fragment of a name.
    #[must_use]
    pub fn new(name: &str, nodes: Vec<Block>) -> Self {
        Self { object: FragmentObject::Is, key: None, fragment: Some(name.to_owned()), kind: None, nodes }
    }

    /// The same, saying what it is for.
    #[must_use]
    pub fn of_kind(self, kind: &str) -> Self {
        Self { kind: Some(kind.to_owned()), ..self }
    }
}

/// Text and the marks on its parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TextNode {
    /// Always `text`.
    pub object: TextObject,
    /// Names the text as a block's key does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Its parts, each with its marks.
    pub leaves: Vec<Leaf>,
}

impl TextNode {
    /// Text of these parts.
    #[must_use]
    pub const fn new(leaves: Vec<Leaf>) -> Self {
        Self { object: TextObject::Is, key: None, leaves }
    }
}

/// A run of text with the same marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Leaf {
    /// Always `leaf`.
    pub object: LeafObject,
    /// The text.
    pub text: String,
    /// The marks on all of it.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// How the text is written in Markdown, where that is not the usual way. Passed over when it reads as another text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
}

impl Leaf {
    /// A run of text.
    #[must_use]
    pub fn new(text: impl Into<String>, marks: Vec<Mark>) -> Self {
        Self { object: LeafObject::Is, text: text.into(), marks, spelling: None }
    }
}
