//! Conversion between Markdown and documents: parsing the text of a page to a tree, and printing the tree as text.
//!
//! Markdown is the stored form. [`parse`] converts it to a [`Document`](docs_model::Document), [`print()`] writes a
//! document as Markdown in the default style, and [`update`] writes a changed document so that unchanged blocks keep
//! their bytes.
//!
//! - Lossless: unsupported syntax (unknown or unbalanced tags and HTML) is preserved as text and printed unchanged. A
//!   paragraph of that kind has the spelling `verbatim`.
//! - Noncanonical notations of content are recorded in fields named `spelling`. A spelling never changes the content:
//!   an inapplicable one is ignored.
//! - The key of a block is derived from its content, including its descendants: 16 characters of the hash, or, for the
//!   second and later equal blocks, of the hash combined with a number. Editing a block only changes the keys of the
//!   block and its ancestors.
//! - Parsing is linear and never fails. At most 20 levels and 20,000 blocks are parsed; the rest is preserved verbatim.
//!   The same applies to a block whose bytes would have to be parsed too often, and to blocks whose trees together
//!   would exceed 20 times the size of the text. Any text is granted some additional megabytes, so only thousands of
//!   very small blocks reach this limit.
//! - A parsed document can be printed, and the output parses to the same document. Blocks for which this fails in their
//!   context are preserved verbatim, as one paragraph together with the lines they would merge with; all other blocks
//!   are unaffected.

mod anchors;
mod atoms;
mod attributes;
mod bare_addresses;
mod block_texts;
mod blocks;
mod builder;
mod cells;
mod chunks;
mod comparison;
mod definitions;
mod emoji_names;
mod escape;
mod figures;
mod filled;
mod html;
mod html_blocks;
mod inlines;
mod invalid;
mod keys;
mod labels;
mod limits;
mod lines;
mod marks;
mod memory;
mod memory_budget;
mod minimal_edit;
mod nesting;
mod normalize;
mod notes;
mod opening;
mod pipes;
mod print;
mod read;
mod reader;
mod reading_view;
mod revert;
mod rich;
mod settling;
mod simple_blocks;
mod source;
mod spelling;
mod tables;
mod tag_kinds;
mod tag_pairs;
mod tagged;
mod tags;
mod targets;
#[cfg(test)]
mod tests;
mod texts;
mod update;
mod weight;
mod work_budget;
mod write;

pub use self::{
    anchors::{Anchors, decode_anchor},
    block_texts::{block_text, block_texts},
    comparison::is_same,
    filled::fill_empty_blocks,
    invalid::Invalid,
    labels::{card_label, mention_label},
    memory::memory,
    reading_view::{into_reading_view, reading_view},
    revert::revert_blocks,
    source::{DocumentSource, parse},
    spelling::is_verbatim,
    texts::{OutlineItem, Section, outline, plain_text, sections},
    update::{update, update_blocks},
    write::{check, print},
};
pub(crate) use self::{
    emoji_names::emoji_at,
    escape::is_balanced,
    lines::fence,
    marks::{heading, is_divider, may_have_attributes, underline},
    reading_view::{code_ranges, is_within},
    update::{block_fingerprints, edited},
};
