//! The answer where there is no page.

use docs_core::Result;
use maud::{DOCTYPE, Markup, html};

use super::{Rendered, Scene, head::Head, shell};
use crate::{cache::Caches, visit::Visit, words::Words};

/// The answer where a site has no page, with the way to those that it has.
///
/// # Errors
/// The platform's.
pub(crate) async fn missing_page(visit: &Visit, caches: &Caches) -> Result<Rendered> {
    let scene = Scene::of(visit, caches).await?;
    let head = Head { title: scene.words.not_found.to_owned(), ..Head::default() };
    let main = html! {
        article.missing {
            h1 { (scene.words.not_found) }
            p { (scene.words.not_found_why) }
            p { a.button.primary href=(scene.base()) { (scene.words.home) } }
        }
    };
    let html = shell::shell(&scene, &head, &main, &Markup::default()).into_string();
    Ok(Rendered::new(html, false).await)
}

/// An answer that tells nothing of any site.
pub(crate) fn bare_page(title: &str, text: &str) -> String {
    let words = Words::of(docs_core::model::Locale::En);
    html! {
        (DOCTYPE)
        html lang=(words.language) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (title) }
            }
            body { h1 { (title) } p { (text) } }
        }
    }
    .into_string()
}
