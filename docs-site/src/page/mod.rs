//! Page rendering: layout and content.

mod article;
mod body;
mod cache;
mod compare;
mod context;
mod document;
mod entry_label;
mod error_page;
mod head;
mod list_part;
mod listing;
mod load;
mod lookup;
mod page_cache;
mod page_key;
mod parts;
mod rendered_page;
mod search;
mod shell;
mod template;
mod tree;
mod written_tree;

pub(crate) use self::{
    cache::{AnonymousPageKey, Caches},
    compare::compare_page,
    context::PageContext,
    document::{document_page, document_page_of},
    error_page::{bare_page, not_found_page, redirect_page, sign_in_page},
    list_part::ListPart,
    listing::list_page,
    lookup::{FoundPage, find_page},
    page_cache::PageForm,
    page_key::{PageKey, SpaceKey},
    rendered_page::RenderedPage,
    search::{SearchHit, SearchOutcome, results_as_json, search, search_page},
    tree::is_listed_in_parts,
};
