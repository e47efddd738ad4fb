//! Space content and its history. Re-exports of the crates `docs-content` (revisions, edits, merges, links),
//! `docs-markup` (documents, Markdown, the Git format) and `docs-expression`.

pub(crate) use docs_content::{
    AllBacklinks, CYCLE_DEPTH, Cancelled, ConditionalTargets, Lineage, MAX_MOVED, MAX_VALUE_BYTES, Marks,
    UndecidedConditions, check_file_name, clean_file_name, evaluate_for_visitor_within, evaluate_within,
    listed_parts, parts_list, run_blocking, run_cancellable, yield_after_each, yield_to_others,
};
pub use docs_content::{
    Attribute, Body, BuildItem, BuildOutcome, BuildPage, CacheLimits, CacheStats, ChangedPage,
    ConfiguredRedirect, Conflict, ConflictNote, Content, ContentError, ContentMerge, ContentResult, Cost,
    Counts, Edit, EditOutcome, Evaluated, FieldClash, FieldClashes, FileEntry, FollowTexts, FollowUpdate,
    GitFile, GitThing, LineMerger, Link, LinkCounts, LinkRange, LinkSource, LinkState, LinkTarget, MAX_RANK,
    MergeHunk, MovedPage, NewBody, NewPage, NotARank, NotTerms, PART_BYTES, PageEffect, PageEntry, PageKind,
    PagePatch, PageTexts, PageTree, Rank, Rendering, ReusableEntry, ReusablePatch, ReusableTexts,
    RevisionChange, RevisionDiff, SharedDocument, Subject, Term, Terms, TextMerger, ThreeWay, TreePage,
    VariableEntry, View, clash_field, document_allowance, evaluate, evaluate_for_visitor, is_numbered, map,
    parse_document, run_in_place, run_on_text, templates,
};
pub use docs_expression as expression;
pub use docs_markup::{
    MAX_SLUG, diff, directives, document, gitsync, markdown, reference, slugify, translate,
};
pub(crate) use docs_markup::{UniqueNames, syntax};
