//! The not-found page, and pages without a site: sign-in, redirect and error pages.

use docs_core::Result;
use maud::{DOCTYPE, Markup, html};

use super::{Caches, PageContext, RenderedPage, head::PageHead, shell};
use crate::{
    assets::{Asset, SITE_SEGMENT},
    visit::Visit,
    words::Words,
};

/// Returns the not-found page of a site, with a link to an existing page.
///
/// # Errors
/// Errors of the platform.
pub(crate) async fn not_found_page(visit: &Visit, caches: &Caches) -> Result<RenderedPage> {
    let scene = PageContext::load(visit, caches).await?;
    let head = PageHead { title: scene.words.not_found.to_owned(), ..PageHead::default() };
    // A space without pages links to the site. There is no link if the space is the whole site.
    let home = match scene.frame.first() {
        Some(_) => Some(scene.base()),
        None => Some(scene.site_base()).filter(|site| *site != scene.base()),
    };
    let main = html! {
        article.missing {
            h1 { (scene.words.not_found) }
            p { (scene.words.not_found_why) }
            @if let Some(home) = home { p { a.button.primary href=(home) { (scene.words.home) } } }
        }
    };
    let html = shell::shell_with_markup(&scene, &head, &main);
    Ok(RenderedPage::new(html, false))
}

/// Renders the sign-in page for members who open a preview. It reveals nothing about any site.
pub(crate) fn sign_in_page(action: &str, to: &str, refusal: Option<&str>) -> String {
    let style_sheet = Asset::style_sheet();
    let head = html! {
        (viewport())
        title { "Sign in" }
        link rel="stylesheet" href={ (action.trim_end_matches("~/sign-in")) (SITE_SEGMENT) "/" (style_sheet.name) };
    };
    let body = html! {
        main.sign-in {
            h1 { "Sign in to preview" }
            p { "Previews are available to members of the organization only." }
            @if let Some(why) = refusal { p.refused role="alert" { (why) } }
            form method="post" action=(action) {
                input type="hidden" name="to" value=(to);
                label for="token" { "API token" }
                input type="password" id="token" name="token" required autocomplete="current-password";
                button.button.primary type="submit" { "Sign in" }
            }
        }
    };
    page_without_site(&head, &body)
}

/// Renders a page that redirects to another one, for servers that cannot send redirects.
pub(crate) fn redirect_page(to: &str) -> String {
    let head = html! {
        meta http-equiv="refresh" content={ "0;url=" (to) };
        link rel="canonical" href=(to);
        title { "Moved" }
    };
    page_without_site(&head, &html! { p { a href=(to) { "Moved here" } } })
}

/// Renders an error page that reveals nothing about any site.
pub(crate) fn bare_page(title: &str, text: &str) -> String {
    let head = html! {
        (viewport())
        title { (title) }
    };
    page_without_site(&head, &html! { h1 { (title) } p { (text) } })
}

fn viewport() -> Markup {
    html! { meta name="viewport" content="width=device-width, initial-scale=1"; }
}

/// Renders a page without the layout of a site, excluded from search engines.
fn page_without_site(head: &Markup, body: &Markup) -> String {
    let words = Words::for_locale(docs_core::model::Locale::En);
    html! {
        (DOCTYPE)
        html lang=(words.language) {
            head {
                meta charset="utf-8";
                meta name="robots" content="noindex";
                (head)
            }
            body { (body) }
        }
    }
    .into_string()
}
