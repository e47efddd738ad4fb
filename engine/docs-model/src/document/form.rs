//! The properties of each block type: its Markdown tag, its content model, and how it is reduced if its content is
//! hidden.

use super::BlockKind;

/// The Markdown tag of a block type, for example `{% hint %}`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockTag {
    /// `hint`.
    Hint,
    /// `prompt`.
    Prompt,
    /// `updates`.
    Updates,
    /// `update`.
    Update,
    /// `code`, which encloses a fenced code block.
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
    /// `content-ref`; `page-ref` is accepted as an alias.
    ContentRef,
    /// `openapi`; `swagger` is accepted as an alias.
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

/// The tag names that the parser accepts. If a tag has two names, the serializer writes the first.
const NAMES: [(&str, BlockTag); 23] = [
    ("hint", BlockTag::Hint),
    ("prompt", BlockTag::Prompt),
    ("updates", BlockTag::Updates),
    ("update", BlockTag::Update),
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
    /// Returns the tag for a name, or `None` if the name is unknown. Names of integration tags begin with `@`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let name = if name.starts_with('@') { "@" } else { name };
        NAMES.iter().find(|(own, _)| *own == name).map(|(_, tag)| *tag)
    }

    /// Returns the accepted tag names and their tags. If a tag has two names, the serializer writes the first. The name
    /// of an integration continues after the `@`.
    pub fn names() -> impl Iterator<Item = (&'static str, Self)> {
        NAMES.into_iter()
    }

    /// Returns the name that the serializer writes, or the prefix `@` for integrations.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, tag)| *tag == self).map_or("", |(name, _)| name)
    }
}

/// The content that a block type may have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockContent {
    /// Text and inline elements.
    Text,
    /// Blocks of any type.
    Blocks,
    /// Blocks of types that occur only in this parent, for example list items.
    Parts,
    /// No child nodes. The block may have fragments.
    Nothing,
}

/// The reduced form of a block whose content is hidden from the reader.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WhenEmpty {
    /// The block is removed, because it only wraps its content.
    Removed,
    /// The block keeps an empty paragraph, because it has a title or a position of its own.
    Paragraph,
    /// The block is kept with empty text.
    Text,
}

/// The properties common to all blocks of a type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockForm {
    /// The Markdown tag, or `None` if the block is written in Markdown or HTML notation.
    pub tag: Option<BlockTag>,
    /// The permitted content.
    pub content: BlockContent,
    /// The reduced form if all of the content is hidden.
    pub when_empty: WhenEmpty,
}

impl BlockForm {
    /// Returns `true` if blocks of the type have no child nodes.
    #[must_use]
    pub const fn is_void(self) -> bool {
        matches!(self.content, BlockContent::Nothing)
    }

    /// Returns `true` if blocks of the type are written as an opening and a closing tag around their content.
    #[must_use]
    pub const fn is_container(self) -> bool {
        self.tag.is_some() && !self.is_void()
    }
}

impl BlockKind {
    /// Returns the properties of the block type.
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
            Self::ListUnordered {} => (None, Parts, WhenEmpty::Removed),
            Self::ListOrdered { .. } => (None, Parts, WhenEmpty::Removed),
            Self::ListTasks {} => (None, Parts, WhenEmpty::Removed),
            Self::ListItem { .. } => (None, Blocks, WhenEmpty::Removed),
            Self::Divider {} => (None, Nothing, WhenEmpty::Text),
            Self::Blockquote {} => (None, Blocks, WhenEmpty::Removed),
            Self::Hint { .. } => (Some(BlockTag::Hint), Blocks, WhenEmpty::Removed),
            Self::Prompt { .. } => (Some(BlockTag::Prompt), Blocks, WhenEmpty::Removed),
            Self::Updates { .. } => (Some(BlockTag::Updates), Parts, WhenEmpty::Removed),
            Self::Update { .. } => (Some(BlockTag::Update), Blocks, WhenEmpty::Paragraph),
            Self::Code { .. } => (Some(BlockTag::Code), Parts, WhenEmpty::Removed),
            Self::CodeLine { .. } => (None, Text, WhenEmpty::Text),
            Self::Math { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Images { .. } => (None, Parts, WhenEmpty::Removed),
            Self::Image(_) => (None, Nothing, WhenEmpty::Text),
            Self::File { .. } => (Some(BlockTag::File), Nothing, WhenEmpty::Text),
            Self::Drawing { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Embed { .. } => (Some(BlockTag::Embed), Nothing, WhenEmpty::Text),
            Self::ContentRef { .. } => (Some(BlockTag::ContentRef), Nothing, WhenEmpty::Text),
            Self::Expandable { .. } => (None, Nothing, WhenEmpty::Text),
            Self::Tabs { .. } => (Some(BlockTag::Tabs), Parts, WhenEmpty::Removed),
            Self::TabsItem { .. } => (Some(BlockTag::Tab), Blocks, WhenEmpty::Paragraph),
            Self::Stepper {} => (Some(BlockTag::Stepper), Parts, WhenEmpty::Removed),
            Self::StepperStep { .. } => (Some(BlockTag::Step), Blocks, WhenEmpty::Paragraph),
            Self::Columns { .. } => (Some(BlockTag::Columns), Parts, WhenEmpty::Removed),
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
