//! Versioned content of a space.
//!
//! A revision of a space is a single [Merkle map](map). It contains records of pages, files, reusable content blocks
//! and variables by id; derived entries for the order of children, paths, conflicts and links; and redirects. Texts are
//! separate objects. The root hash of the map identifies the revision: equal content has equal roots, a space is copied
//! by copying its root, and the cost of comparing or merging two revisions is proportional to their differences.
//!
//! The algorithms are pure and synchronous; [`Content`] runs them over an object store.

mod bounds;
mod build;
mod check;
mod content;
mod diff;
mod edit;
mod entry;
mod error;
mod evaluate;
mod file_name;
mod file_parts;
mod follow;
mod keys;
mod link_batches;
mod links;
mod load;
mod lookup;
pub mod map;
mod mark;
mod merge;
mod offload;
mod read;
mod redirects;
mod rendering;
mod shared_document;
pub mod templates;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod view;

pub use build::{BuildItem, BuildOutcome, BuildPage};
pub use content::Content;
pub use diff::{ChangedPage, RevisionChange, RevisionDiff};
pub use docs_model::{MAX_RANK, NotARank, PagePatch, Rank};
pub use edit::{Edit, EditOutcome, GitFile, GitThing, NewBody, NewPage, PageEffect, ReusablePatch};
pub use entry::{
    Attribute, Body, FieldClash, FieldClashes, FileEntry, NotTerms, PageEntry, PageKind, ReusableEntry, Term,
    Terms, VariableEntry, clash_field,
};
pub use error::{ContentError, ContentResult};
pub use evaluate::{
    Evaluated, MAX_VALUE_BYTES, UndecidedConditions, document_allowance, evaluate, evaluate_for_visitor,
    evaluate_for_visitor_within, evaluate_within,
};
pub use file_name::{check_file_name, clean_file_name, is_numbered};
pub use file_parts::{PART_BYTES, listed_parts, parts_list};
pub use follow::{FollowTexts, FollowUpdate, PageTexts, ReusableTexts};
pub use links::{
    AllBacklinks, ConditionalTargets, Link, LinkCounts, LinkRange, LinkSource, LinkState, LinkTarget,
};
pub use load::{CacheLimits, CacheStats, Cost};
pub use lookup::Lineage;
pub use mark::Marks;
pub use merge::{Conflict, ConflictNote, ContentMerge, Subject, ThreeWay};
pub use offload::{
    Cancelled, parse_document, run_blocking, run_cancellable, run_in_place, run_on_text, yield_after_each,
    yield_to_others,
};
pub use read::CYCLE_DEPTH;
pub use redirects::{ConfiguredRedirect, MAX_MOVED, MovedPage};
pub use rendering::Rendering;
pub use shared_document::SharedDocument;
pub use text::{LineMerger, MergeHunk, TextMerger};
pub use tree::{PageTree, TreePage};
pub use view::{Counts, View};
