//! The search page and search results.

use docs_core::{ErrorKind, Result, model::SearchSite, store::PageRequest};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Caches, PageContext, head::PageHead, shell};
use crate::{assets::SITE_SEGMENT, encode::encode_path, visit::Visit};

/// The maximum number of pages in the results.
const MAX_HITS: u32 = 30;
/// The maximum number of matching sections per page.
const MAX_SECTIONS: usize = 3;

/// A page in the results.
pub(crate) struct SearchHit {
    pub(crate) title: String,
    /// The title of the space, if the site has several.
    pub(crate) of: Option<String>,
    pub(crate) href: String,
    /// The matching sections: heading, excerpt and URL.
    pub(crate) places: Vec<(String, String, String)>,
}

/// The result of a search.
pub(crate) enum SearchOutcome {
    /// The query is blank or invalid.
    InvalidQuery,
    Hits(Vec<SearchHit>),
    /// The index is not up to date yet.
    IndexOutdated,
}

/// Searches a site.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn search(visit: &Visit, query: &str) -> Result<SearchOutcome> {
    let Ok(query) = query.trim().parse() else { return Ok(SearchOutcome::InvalidQuery) };
    let search = SearchSite { query, scope: None, mode: None, site_space_id: None, site_space_ids: None };
    let page = PageRequest { limit: Some(MAX_HITS), ..PageRequest::default() };
    let spaces = match visit.search(&search, &page).await {
        Ok(spaces) => spaces,
        Err(error) if error.kind() == ErrorKind::Unavailable => return Ok(SearchOutcome::IndexOutdated),
        Err(error) => return Err(error),
    };
    let places = visit.places();
    let base = &visit.found.site_base_path;
    let mut found = Vec::new();
    for space in spaces {
        let Some(place) = places.iter().find(|place| place.space.space.id == space.id) else { continue };
        let address = |path: &str| {
            let (path, anchor) =
                path.split_once('#').map_or((path, None), |(path, anchor)| (path, Some(anchor)));
            let anchor = anchor.map(|anchor| format!("#{}", encode_path(anchor))).unwrap_or_default();
            format!("{base}{}{}{anchor}", place.path, encode_path(path))
        };
        found.extend(space.pages.into_iter().map(|page| {
            SearchHit {
                href: address(&page.path),
                title: page.title,
                of: (places.len() > 1).then(|| place.space.title.clone()),
                places: page
                    .sections
                    .into_iter()
                    .take(MAX_SECTIONS)
                    .map(|section| (section.title, section.body, address(&section.path)))
                    .collect(),
            }
        }));
    }
    Ok(SearchOutcome::Hits(found))
}

/// Returns the page with the search results.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn search_page(visit: &Visit, caches: &Caches, query: &str) -> Result<String> {
    let scene = PageContext::load(visit, caches).await?;
    let outcome = search(visit, query).await?;
    let head = PageHead { title: scene.words.search.to_owned(), ..PageHead::default() };
    let main = html! {
        article.search {
            h1 { (scene.words.search) }
            form action={ (scene.base()) (SITE_SEGMENT) "/search" } {
                input type="search" name="q" value=(query) maxlength="512" aria-label=(scene.words.search);
                button.button.primary type="submit" { (scene.words.search) }
            }
            @match &outcome {
                SearchOutcome::InvalidQuery => {}
                SearchOutcome::IndexOutdated => p { (scene.words.not_now) },
                SearchOutcome::Hits(found) if found.is_empty() => p { (scene.words.nothing_found) },
                SearchOutcome::Hits(found) => ol.results { @for page in found { (result(page)) } },
            }
        }
    };
    Ok(shell::shell_with_markup(&scene, &head, &main).into_string())
}

fn result(page: &SearchHit) -> Markup {
    html! {
        li dir="auto" {
            a.name href=(page.href) { (page.title) }
            @if let Some(of) = &page.of { span.of { (of) } }
            @for (title, body, href) in &page.places {
                p { a href=(href) { (title) } " " (body) }
            }
        }
    }
}

/// Returns the search results as JSON, for the page script.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn results_as_json(visit: &Visit, query: &str) -> Result<String> {
    let found = match search(visit, query).await? {
        SearchOutcome::Hits(found) => found,
        SearchOutcome::InvalidQuery | SearchOutcome::IndexOutdated => Vec::new(),
    };
    let pages: Vec<Value> = found
        .iter()
        .map(|page| {
            let place = page.places.first();
            json!({ "title": page.title, "of": page.of, "href": place.map_or(&page.href, |(_, _, href)| href),
                "text": place.map(|(_, body, _)| body) })
        })
        .collect();
    Ok(json!({ "pages": pages }).to_string())
}
