//! The search page and search results.

use docs_core::{ErrorKind, Result, model::SearchSite, store::PageRequest};
use maud::{Markup, html};
use serde_json::{Value, json};

use super::{Caches, Scene, head::Head, shell};
use crate::{assets::OWN, encode::encoded, visit::Visit};

/// The maximum number of pages in the results.
const MAX_FOUND: u32 = 30;
/// The maximum number of matching sections per page.
const MAX_PLACES: usize = 3;

/// A page in the results.
pub(crate) struct Found {
    pub(crate) title: String,
    /// The title of its space, if the site has several.
    pub(crate) of: Option<String>,
    pub(crate) href: String,
    /// The matching sections: heading, excerpt and address.
    pub(crate) places: Vec<(String, String, String)>,
}

/// The result of a search.
pub(crate) enum Outcome {
    /// The query is blank or invalid.
    Unasked,
    Found(Vec<Found>),
    /// The index is not up to date yet.
    NotNow,
}

/// Searches a site.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn search(visit: &Visit, query: &str) -> Result<Outcome> {
    let Ok(query) = query.trim().parse() else { return Ok(Outcome::Unasked) };
    let search = SearchSite { query, scope: None, mode: None, site_space_id: None, site_space_ids: None };
    let page = PageRequest { limit: Some(MAX_FOUND), ..PageRequest::default() };
    let spaces = match visit.search(&search, &page).await {
        Ok(spaces) => spaces,
        Err(error) if error.kind() == ErrorKind::Unavailable => return Ok(Outcome::NotNow),
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
            let anchor = anchor.map(|anchor| format!("#{}", encoded(anchor))).unwrap_or_default();
            format!("{base}{}{}{anchor}", place.path, encoded(path))
        };
        found.extend(space.pages.into_iter().map(|page| {
            Found {
                href: address(&page.path),
                title: page.title,
                of: (places.len() > 1).then(|| place.space.title.clone()),
                places: page
                    .sections
                    .into_iter()
                    .take(MAX_PLACES)
                    .map(|section| (section.title, section.body, address(&section.path)))
                    .collect(),
            }
        }));
    }
    Ok(Outcome::Found(found))
}

/// The page with the search results.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn search_page(visit: &Visit, caches: &Caches, query: &str) -> Result<String> {
    let scene = Scene::of(visit, caches).await?;
    let outcome = search(visit, query).await?;
    let head = Head { title: scene.words.search.to_owned(), ..Head::default() };
    let main = html! {
        article.search {
            h1 { (scene.words.search) }
            form action={ (scene.base()) (OWN) "/search" } {
                input type="search" name="q" value=(query) maxlength="512" aria-label=(scene.words.search);
                button.button.primary type="submit" { (scene.words.search) }
            }
            @match &outcome {
                Outcome::Unasked => {}
                Outcome::NotNow => p { (scene.words.not_now) },
                Outcome::Found(found) if found.is_empty() => p { (scene.words.nothing_found) },
                Outcome::Found(found) => ol.results { @for page in found { (result(page)) } },
            }
        }
    };
    Ok(shell::shell_around(&scene, &head, &main).into_string())
}

fn result(page: &Found) -> Markup {
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

/// The search results as JSON, for the script of pages.
///
/// # Errors
/// Those of the platform.
pub(crate) async fn results_as_json(visit: &Visit, query: &str) -> Result<String> {
    let found = match search(visit, query).await? {
        Outcome::Found(found) => found,
        Outcome::Unasked | Outcome::NotNow => Vec::new(),
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
