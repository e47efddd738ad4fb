//! Content: what a space says, with its history. From the crates `docs-content` (revisions, edits, merges, links),
//! `docs-markup` (documents, Markdown, the Git format) and `docs-expression`.

pub(crate) use docs_content::{
    AllBacklinks, ENDLESS, MAX_MOVED, MAX_VALUE_BYTES, Marks, Parts, Undecided, check_file_name,
    clean_file_name, evaluate_for_visitor_within, listed_parts, off_thread, parts_list, yield_to_others,
};
pub use docs_content::{
    Attribute, Body, BuildItem, BuildPage, Built, CacheLimits, CacheStats, ChangedPage, Clash, Clashes,
    Conflict, ConflictNote, Content, ContentError, ContentResult, Cost, Counts, Edit, Edited, Evaluated,
    FileEntry, Follow, FollowTexts, GitFile, GitThing, Hunk, LineMerger, Link, LinkCounts, LinkRange,
    LinkSource, LinkTarget, MAX_RANK, Merged, Moved, NewBody, NewPage, NotARank, NotTerms, PART_BYTES,
    PageEntry, PageKind, PagePatch, PageTexts, PageTree, Rank, Rendering, ReusableEntry, ReusablePatch,
    ReusableTexts, RevisionChange, SharedDocument, Standing, Subject, Term, Terms, TextMerger, ThreeWay,
    Touch, TreePage, VariableEntry, View, clash_field, document_allowance, evaluate, evaluate_for_visitor,
    is_numbered, map, parse_document, templates, work_on,
};
pub use docs_expression as expression;
pub(crate) use docs_markup::UniqueNames;
pub use docs_markup::{MAX_SLUG, diff, document, gitsync, markdown, reference, slugify, translate};
