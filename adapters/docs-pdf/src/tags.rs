//! Structure tags for accessibility: headings, paragraphs, lists, tables, figures, links.

use std::num::NonZeroU16;

use krilla::tagging::{Identifier, ListNumbering, Node, TableHeaderScope, Tag, TagGroup, TagKind, TagTree};

/// Index of a tag.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TagId(u32);

impl TagId {
    /// Root of the tag tree.
    pub(crate) const BOOK: Self = Self(0);
    /// An artifact: decoration that is not part of the text.
    pub(crate) const DECOR: Self = Self(u32::MAX);
    /// The footer of a sheet, which is an artifact.
    pub(crate) const FOOTER: Self = Self(u32::MAX - 1);

    /// Returns `true` for an artifact.
    pub(crate) fn is_artifact(self) -> bool {
        self == Self::DECOR || self == Self::FOOTER
    }

    const fn at(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    Book,
    Division,
    Paragraph,
    Heading(usize, String),
    List(bool),
    Item,
    ItemLabel,
    ItemBody,
    Table,
    Row,
    HeadCell,
    Cell,
    Figure(String),
    Formula(String),
    Caption,
    Link,
    Note,
    Quote,
    Code,
    Contents,
    ContentsItem,
}

impl Role {
    fn kind(self) -> TagKind {
        match self {
            Self::Book | Self::Division => Tag::Div.into(),
            Self::Paragraph => Tag::P.into(),
            Self::Heading(level, title) => {
                let level = u16::try_from(level).ok().and_then(NonZeroU16::new).unwrap_or(NonZeroU16::MIN);
                Tag::Hn(level, Some(title)).into()
            }
            Self::List(numbered) => {
                Tag::L(if numbered { ListNumbering::Decimal } else { ListNumbering::Disc }).into()
            }
            Self::Item => Tag::LI.into(),
            Self::ItemLabel => Tag::Lbl.into(),
            Self::ItemBody => Tag::LBody.into(),
            Self::Table => Tag::Table.into(),
            Self::Row => Tag::TR.into(),
            Self::HeadCell => Tag::TH(TableHeaderScope::Column).into(),
            Self::Cell => Tag::TD.into(),
            Self::Figure(alt) => Tag::Figure(Some(alt)).into(),
            Self::Formula(alt) => Tag::Formula(Some(alt)).into(),
            Self::Caption => Tag::Caption.into(),
            Self::Link => Tag::Link.into(),
            Self::Note => Tag::Note.into(),
            Self::Quote => Tag::BlockQuote.into(),
            Self::Code => Tag::Code.into(),
            Self::Contents => Tag::TOC.into(),
            Self::ContentsItem => Tag::TOCI.into(),
        }
    }
}

#[derive(Debug)]
struct TagEntry {
    role: Role,
    above: TagId,
    /// `true` if the tag has been added to the children of its parent.
    placed: bool,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Part(TagId),
    Drawn(Identifier),
}

/// Tags of a book. Tags of discarded layouts are not included in the tree.
#[derive(Debug)]
pub(crate) struct Tags {
    all: Vec<TagEntry>,
}

impl Tags {
    pub(crate) fn new() -> Self {
        Self {
            all: vec![TagEntry { role: Role::Book, above: TagId::BOOK, placed: true, children: Vec::new() }],
        }
    }

    /// Adds a tag. A child of an artifact is the artifact itself.
    pub(crate) fn add(&mut self, above: TagId, role: Role) -> TagId {
        if above.is_artifact() {
            return above;
        }
        let id = u32::try_from(self.all.len()).unwrap_or(TagId::DECOR.0);
        self.all.push(TagEntry { role, above, placed: false, children: Vec::new() });
        TagId(id)
    }

    /// Returns the number of tags.
    pub(crate) const fn len(&self) -> usize {
        self.all.len()
    }

    /// Removes the tags from this index on, because their layout was discarded.
    pub(crate) fn forget(&mut self, after: usize) {
        self.all.truncate(after);
    }

    /// Records content of a tag. Tags are ordered by their first content.
    pub(crate) fn add_content(&mut self, id: TagId, what: Identifier) {
        let Some(entry) = self.all.get_mut(id.at()) else { return };
        entry.children.push(Child::Drawn(what));
        let mut id = id;
        while let Some(entry) = self.all.get_mut(id.at())
            && !entry.placed
        {
            entry.placed = true;
            let above = entry.above;
            if let Some(above) = self.all.get_mut(above.at()) {
                above.children.push(Child::Part(id));
            }
            id = above;
        }
    }

    /// Builds the tag tree. Each tag is released when it is part of the tree.
    pub(crate) fn tree(mut self, language: &str) -> TagTree {
        let mut tree = TagTree::new().with_lang(Some(language.to_owned()));
        tree.children = self.nodes(TagId::BOOK);
        tree
    }

    /// Returns the content of a tag. The nesting of tags is that of the blocks, which is limited.
    fn nodes(&mut self, id: TagId) -> Vec<Node> {
        let children = self.all.get_mut(id.at()).map(|entry| std::mem::take(&mut entry.children));
        let mut nodes = Vec::with_capacity(children.as_ref().map_or(0, Vec::len));
        for child in children.unwrap_or_default() {
            nodes.push(match child {
                Child::Drawn(what) => what.into(),
                Child::Part(id) => {
                    let Some(entry) = self.all.get_mut(id.at()) else { continue };
                    let kind = std::mem::replace(&mut entry.role, Role::Division).kind();
                    TagGroup::with_children(kind, self.nodes(id)).into()
                }
            });
        }
        nodes
    }
}
