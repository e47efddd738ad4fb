//! Rendering of pages: layout and content.

mod around;
mod body;
mod cache;
mod compare;
mod document;
mod head;
mod list_part;
mod listing;
mod load;
mod lookup;
mod missing;
mod page_cache;
mod page_key;
mod parts;
mod rendered;
mod scene;
mod search;
mod shell;
mod template;
mod tree;
mod written_tree;

pub(crate) use self::{
    cache::{Caches, StrangerKey},
    compare::compare_page,
    document::{document_page, document_page_of},
    list_part::Part,
    listing::list_page,
    lookup::{FoundPage, find_page},
    missing::{bare_page, missing_page, moved_page, sign_in_page},
    page_cache::PageForm,
    page_key::{PageKey, SpaceKey},
    rendered::Rendered,
    scene::Scene,
    search::{Found, Outcome, results_as_json, search, search_page},
    tree::is_listed_in_parts,
};
