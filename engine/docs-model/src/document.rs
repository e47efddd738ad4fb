//! Page content as a tree: a [`Document`] of [`Block`]s, which contain [`Inline`]s and [`TextNode`]s.
//!
//! Pages are stored as Markdown. `docs_markup::document` parses Markdown into a document and serializes a document to
//! Markdown.

mod form;
mod inline;
mod kinds;
mod table;

use std::collections::HashMap;

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

/// Page content as a tree.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Document {
    /// Always `document`.
    pub object: DocumentObject,
    #[serde(default)]
    pub data: DocumentData,
    pub nodes: Vec<Block>,
}

impl Document {
    /// Creates a document from its blocks.
    #[must_use]
    pub fn new(nodes: Vec<Block>) -> Self {
        Self { object: DocumentObject::Is, data: DocumentData::default(), nodes }
    }

    /// Iterates over all blocks and inlines at any depth, including those in fragments, in unspecified order. The
    /// traversal is iterative, so a deep document cannot overflow the stack.
    ///
    /// ```
    /// use docs_model::{Block, BlockKind, Document, Node, DocumentPart};
    ///
    /// let inner = Block::new(BlockKind::Divider {}, Vec::new());
    /// let quote = Block::new(BlockKind::Blockquote {}, vec![Node::Block(inner)]);
    /// let document = Document::new(vec![quote]);
    /// assert_eq!(document.parts().filter(|part| matches!(part, DocumentPart::Block(_))).count(), 2);
    /// ```
    pub fn parts(&self) -> impl Iterator<Item = DocumentPart<'_>> {
        let mut blocks: Vec<&Block> = self.nodes.iter().collect();
        let mut nodes: Vec<&Node> = Vec::new();
        std::iter::from_fn(move || {
            let (part, below, fragments) = loop {
                match nodes.pop() {
                    Some(Node::Inline(inline)) => {
                        break (DocumentPart::Inline(inline), &inline.nodes, inline.fragments());
                    }
                    Some(Node::Block(block)) => blocks.push(block),
                    Some(Node::Text(_)) => {}
                    None => {
                        let block = blocks.pop()?;
                        break (DocumentPart::Block(block), &block.nodes, block.fragments());
                    }
                }
            };
            nodes.extend(below);
            blocks.extend(fragments.iter().flat_map(|fragment| &fragment.nodes));
            Some(part)
        })
    }
}

/// A block or an inline of a [`Document`].
#[derive(Clone, Copy, Debug)]
pub enum DocumentPart<'d> {
    /// A block.
    Block(&'d Block),
    /// An inline.
    Inline(&'d Inline),
}

/// Properties of the whole document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DocumentData {
    /// The version of the document schema; the latest version if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u32>,
}

/// A block, for example a paragraph, a table or a set of tabs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Block {
    /// Always `block`.
    pub object: BlockObject,
    /// The key of the block. It stays the same as long as the text is unchanged. Comments refer to blocks by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub key: Option<String>,
    /// The type of the block and its data.
    #[serde(flatten)]
    pub kind: BlockKind,
    /// `true` if the type has no child nodes.
    pub is_void: bool,
    /// The child nodes; empty for a void block.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub nodes: Vec<Node>,
    /// Text in the block's data, for example a caption or the cells of a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub fragments: Option<Vec<Fragment>>,
    /// Properties computed by the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub meta: Option<BlockMeta>,
    /// The Markdown notation of the block if it is not the default one. It never affects the content: a notation that
    /// does not match the block is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub spelling: Option<String>,
}

impl Block {
    /// Creates a block without a key.
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

    /// Creates a block whose content is in fragments.
    #[must_use]
    pub fn with_fragments(kind: BlockKind, fragments: Vec<Fragment>) -> Self {
        Self { fragments: Some(fragments), ..Self::new(kind, Vec::new()) }
    }

    /// Returns the fragments, or an empty slice if there are none.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.fragments.as_deref().unwrap_or_default()
    }

    /// Iterates over the child blocks: first those in `nodes`, then those in fragments.
    pub fn children(&self) -> impl Iterator<Item = &Self> {
        let nodes = self.nodes.iter().filter_map(Node::as_block);
        nodes.chain(self.fragments().iter().flat_map(|fragment| &fragment.nodes))
    }

    /// Like [`Self::children`], with mutable references.
    pub fn children_mut(&mut self) -> impl Iterator<Item = &mut Self> {
        let nodes = self.nodes.iter_mut().filter_map(|node| match node {
            Node::Block(block) => Some(block),
            Node::Inline(_) | Node::Text(_) => None,
        });
        nodes.chain(self.fragments.iter_mut().flatten().flat_map(|fragment| &mut fragment.nodes))
    }

    /// Calls a function for the block and its descendants, in document order.
    pub fn visit<'b>(&'b self, act: &mut impl FnMut(&'b Self)) {
        act(self);
        for block in self.children() {
            block.visit(act);
        }
    }

    /// Like [`Self::visit`], with mutable references.
    pub fn visit_mut(&mut self, act: &mut impl FnMut(&mut Self)) {
        act(self);
        for block in self.children_mut() {
            block.visit_mut(act);
        }
    }

    /// Returns the fragment with the given name.
    #[must_use]
    pub fn fragment(&self, name: &str) -> Option<&Fragment> {
        self.fragments().iter().find(|fragment| fragment.fragment.as_deref() == Some(name))
    }

    /// Returns the named fragments by name. Reading all cells of a table with [`Self::fragment`] would take quadratic
    /// time.
    #[must_use]
    pub fn named_fragments(&self) -> HashMap<&str, &Fragment> {
        let fragments = self.fragments().iter().rev();
        fragments.filter_map(|fragment| Some((fragment.fragment.as_deref()?, fragment))).collect()
    }
}

impl<'de> Deserialize<'de> for Block {
    /// Derives `is_void` from the type; empty data may be omitted.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct RawBlock {
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
        let raw = RawBlock::deserialize(from)?;
        let kind: BlockKind = deserialize_typed(raw.kind, raw.data).map_err(D::Error::custom)?;
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

/// Deserializes a type with its data.
fn deserialize_typed<T: serde::de::DeserializeOwned>(
    kind: String,
    data: Map<String, Value>,
) -> serde_json::Result<T> {
    let pair: Map<String, Value> =
        [("type".to_owned(), Value::from(kind)), ("data".to_owned(), Value::from(data))]
            .into_iter()
            .collect();
    serde_json::from_value(Value::Object(pair))
}

/// Block properties computed by the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct BlockMeta {
    /// The anchor of the block in a URL.
    pub id: String,
}

/// A child of a block, an inline or a fragment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(untagged)]
pub enum Node {
    /// A block.
    Block(Block),
    /// An inline element.
    Inline(Inline),
    /// Text.
    Text(TextNode),
}

impl Node {
    /// Creates a text node without marks.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self::Text(TextNode::new(vec![Leaf::new(text, Vec::new())]))
    }

    /// Returns the block, or `None` if the node is text or an inline element.
    #[must_use]
    pub const fn as_block(&self) -> Option<&Block> {
        match self {
            Self::Block(block) => Some(block),
            Self::Inline(_) | Self::Text(_) => None,
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(from)?;
        let node = match value.get("object").and_then(Value::as_str) {
            Some("block") => serde_json::from_value(value).map(Self::Block),
            Some("inline") => serde_json::from_value(value).map(Self::Inline),
            Some("text") => serde_json::from_value(value).map(Self::Text),
            _ => return Err(D::Error::custom("a node must have `object` `block`, `inline` or `text`")),
        };
        node.map_err(D::Error::custom)
    }
}

/// A named part of a block, for example the caption of an image or the text of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Fragment {
    /// Always `fragment`.
    pub object: FragmentObject,
    /// The key of the fragment, stable like the key of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The name of the fragment within the block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fragment: Option<String>,
    /// The purpose of the fragment.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    pub nodes: Vec<Block>,
}

impl Fragment {
    /// Creates a fragment with a name.
    #[must_use]
    pub fn new(name: &str, nodes: Vec<Block>) -> Self {
        Self { object: FragmentObject::Is, key: None, fragment: Some(name.to_owned()), kind: None, nodes }
    }

    /// Sets the purpose of the fragment.
    #[must_use]
    pub fn with_kind(self, kind: &str) -> Self {
        Self { kind: Some(kind.to_owned()), ..self }
    }
}

/// Text, split into runs with the same marks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TextNode {
    /// Always `text`.
    pub object: TextObject,
    /// The key of the text, stable like the key of a block.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The runs of the text.
    pub leaves: Vec<Leaf>,
}

impl TextNode {
    /// Creates a text node from its runs.
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
    pub text: String,
    /// The marks that apply to the whole run.
    #[serde(default)]
    pub marks: Vec<Mark>,
    /// The Markdown notation of the text if it is not the default one. Ignored if it parses to different text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spelling: Option<String>,
}

impl Leaf {
    /// Creates a run of text.
    #[must_use]
    pub fn new(text: impl Into<String>, marks: Vec<Mark>) -> Self {
        Self { object: LeafObject::Is, text: text.into(), marks, spelling: None }
    }
}

/// An inline element: part of a line of text.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Inline {
    /// Always `inline`.
    pub object: InlineObject,
    /// The key of the element, stable like the key of a block.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub key: Option<String>,
    /// The type of the element and its data.
    #[serde(flatten)]
    pub kind: InlineKind,
    /// `true` if the type has no child nodes.
    pub is_void: bool,
    /// The child nodes; empty for a void element.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub nodes: Vec<Node>,
    /// Text in the element's data: the body of an annotation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub fragments: Option<Vec<Fragment>>,
    /// The Markdown notation of the element if it is not the default one. Ignored if it does not match the element.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub spelling: Option<String>,
}

impl Inline {
    /// Creates an element without a key.
    #[must_use]
    pub fn new(kind: InlineKind, nodes: Vec<Node>) -> Self {
        let is_void = kind.is_void();
        Self { object: InlineObject::Is, key: None, kind, is_void, nodes, fragments: None, spelling: None }
    }

    /// Returns the fragments, or an empty slice if there are none.
    #[must_use]
    pub fn fragments(&self) -> &[Fragment] {
        self.fragments.as_deref().unwrap_or_default()
    }
}

impl<'de> Deserialize<'de> for Inline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct RawInline {
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
        let raw = RawInline::deserialize(from)?;
        let kind: InlineKind = deserialize_typed(raw.kind, raw.data).map_err(D::Error::custom)?;
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
