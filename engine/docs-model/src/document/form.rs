//! The table of block kinds: the tag each is written as, what it holds, and what is left of it without content.

use super::BlockKind;

/// The tag that a kind of block is written as in Markdown: `{% hint %}`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockTag {
    /// `hint`.
    Hint,
    /// `code`, around a fence.
    Code,
    /// `tabs`.
    Tabs,
    /// `tab`.
    Tab,
    /// `stepper`.
    Stepper,
    /// `step`.
    Step,
    /// `columns`.
    Columns,
    /// `column`.
    Column,
    /// `if`.
    If,
    /// `include`.
    Include,
    /// `file`.
    File,
    /// `embed`.
    Embed,
    /// `content-ref`; `page-ref` is read as one.
    ContentRef,
    /// `openapi`; `swagger` is read as one.
    Openapi,
    /// `openapi-operation`.
    OpenapiOperation,
    /// `openapi-schemas`.
    OpenapiSchemas,
    /// `openapi-webhook`.
    OpenapiWebhook,
    /// `@integration/block`.
    Integration,
}

/// The names of tags as they are read. Where a tag has two, the first is the one that is written.
const NAMES: [(&str, BlockTag); 20] = [
    ("hint", BlockTag::Hint),
    ("code", BlockTag::Code),
    ("tabs", BlockTag::Tabs),
    ("tab", BlockTag::Tab),
    ("stepper", BlockTag::Stepper),
    ("step", BlockTag::Step),
    ("columns", BlockTag::Columns),
    ("column", BlockTag::Column),
    ("if", BlockTag::If),
    ("include", BlockTag::Include),
    ("file", BlockTag::File),
    ("embed", BlockTag::Embed),
    ("content-ref", BlockTag::ContentRef),
    ("page-ref", BlockTag::ContentRef),
    ("openapi", BlockTag::Openapi),
    ("swagger", BlockTag::Openapi),
    ("openapi-operation", BlockTag::OpenapiOperation),
    ("openapi-schemas", BlockTag::OpenapiSchemas),
    ("openapi-webhook", BlockTag::OpenapiWebhook),
    ("@", BlockTag::Integration),
];

impl BlockTag {
    /// The tag of a name; `None` when no block has it. Those of integrations all begin with `@`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let name = if name.starts_with('@') { "@" } else { name };
        NAMES.iter().find(|(own, _)| *own == name).map(|(_, tag)| *tag)
    }

    /// The names of tags as they are read, with the tag of each. Where a tag has two, the first is the one that is
    /// written; those of integrations go on behind theirs.
    pub fn names() -> impl Iterator<Item = (&'static str, Self)> {
        NAMES.into_iter()
    }

    /// The name it is written with; that of an integration goes on with its own.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, tag)| *tag == self).map_or("", |(name, _)| name)
    }
}

/// What a kind of block holds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockContent {
    /// Text and elements within text.
    Text,
    /// Blocks of any kind.
    Blocks,
    /// Blocks that stand nowhere else, such as the items of a list.
    Parts,
    /// Nothing of its own; there may be fragments.
    Nothing,
}

/// What is left of a block that has lost all it held, because nobody may see it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WhenEmpty {
    /// The block goes: it is only a frame.
    Gone,
    /// The block with an empty paragraph: it has a title or a place of its own.
    Paragraph,
    /// The block with empty text.
    Text,
}

/// What is the same for all blocks of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockForm {
    /// The tag it is written as; none when Markdown or HTML has a way of its own.
    pub tag: Option<BlockTag>,
    /// What it holds.
    pub content: BlockContent,
    /// What is left of it without content.
    pub when_empty: WhenEmpty,
}

impl BlockForm {
    /// Tells whether blocks of the kind have no nodes of their own.
    #[must_use]
    pub const fn is_void(self) -> bool {
        matches!(self.content, BlockContent::Nothing)
    }

    /// Tells whether blocks of the kind are written as an opening and a closing tag around what they hold.
    #[must_use]
    pub const fn is_container(self) -> bool {
        self.tag.is_some() && !self.is_void()
    }
}

impl BlockKind {
    /// The row of this kind in the table of block kinds.
    ///
    /// ```
    /// use docs_model::{BlockKind, BlockTag};
    /// let form = BlockKind::Stepper {}.form();
    /// assert_eq!(form.tag.map(BlockTag::name), Some("stepper"));
    /// assert!(form.is_container() && !form.is_void());
    /// ```
    #[must_use]
    pub const fn form(&self) -> BlockForm {
        use BlockContent::{Blocks, Nothing, Parts, Text};
        let (tag, content, when_empty) = match self {
            Self::Paragraph { .. } => (None, Text, WhenEmpty::Text),
            Self::Heading1(_) | Self::Heading2(_) | Self::Heading3(_) => (None, Text, WhenEmpty::Text),
            Self::ListUnordered {} => (None, Parts, WhenEmpty::Gone),
            Self::ListOrdered { .. } => (None, Parts, WhenEmpty::Gone),
            Self::ListTasks {} => (None, Parts, WhenEmpty::Gone),
            Self::ListItem { .. } => (None, Blocks, WhenEmpty::Gone),
            Self::Divider {} => (None, Nothing, WhenEmpty::Text),
            Self::Blockquote {} => (None, Blocks, WhenEmpty::Gone),
            Self::Hint { .. } => (Some(BlockTag::Hint), Blocks, WhenEmpty::Gone),
            Self::Code { .. } => (Some(BlockTag::Code), Parts, WhenEmpty::Gone),
            Self::CodeLine { .. } => (None, Text, WhenEmpty::Text),
            Self::Math { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Images { .. } => (None, Parts, WhenEmpty::Gone),
            Self::Image(_) => (None, Nothing, WhenEmpty::Text),
            Self::File { .. } => (Some(BlockTag::File), Nothing, WhenEmpty::Text),
            Self::Drawing { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Embed { .. } => (Some(BlockTag::Embed), Nothing, WhenEmpty::Text),
            Self::ContentRef { .. } => (Some(BlockTag::ContentRef), Nothing, WhenEmpty::Text),
            Self::Expandable { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Tabs { .. } => (Some(BlockTag::Tabs), Parts, WhenEmpty::Gone),
            Self::TabsItem { .. } => (Some(BlockTag::Tab), Blocks, WhenEmpty::Paragraph),
            Self::Stepper {} => (Some(BlockTag::Stepper), Parts, WhenEmpty::Gone),
            Self::StepperStep { .. } => (Some(BlockTag::Step), Blocks, WhenEmpty::Paragraph),
            Self::Columns { .. } => (Some(BlockTag::Columns), Parts, WhenEmpty::Gone),
            Self::Column { .. } => (Some(BlockTag::Column), Blocks, WhenEmpty::Paragraph),
            Self::Table(_) => (None, Nothing, WhenEmpty::Text),
            Self::If { .. } => (Some(BlockTag::If), Blocks, WhenEmpty::Text),
            Self::ReusableContent { .. } => (Some(BlockTag::Include), Nothing, WhenEmpty::Text),
            Self::Integration(_) => (Some(BlockTag::Integration), Nothing, WhenEmpty::Text),
            Self::Swagger { .. } => (Some(BlockTag::Openapi), Nothing, WhenEmpty::Text),
            Self::OpenapiOperation { .. } => (Some(BlockTag::OpenapiOperation), Nothing, WhenEmpty::Text),
            Self::OpenapiSchemas { .. } => (Some(BlockTag::OpenapiSchemas), Nothing, WhenEmpty::Text),
            Self::OpenapiWebhook { .. } => (Some(BlockTag::OpenapiWebhook), Nothing, WhenEmpty::Text),
        };
        BlockForm { tag, content, when_empty }
    }
}
