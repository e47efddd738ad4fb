//! The head of a page: what browsers, search engines and other sites are told of it.

use docs_core::model::{DocumentPage, SiteVisibility};
use maud::{Markup, PreEscaped, html};
use serde_json::json;

use super::Scene;
use crate::assets::{Asset, OWN};

/// What is told of a page.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) canonical: Option<String>,
    /// The page as Markdown.
    pub(super) markdown: Option<String>,
    pub(super) is_indexed: bool,
    /// What is told in JSON-LD.
    pub(super) linked_data: Option<serde_json::Value>,
    /// The page that is shown, of the entries of its space.
    pub(super) current: Option<usize>,
    /// Whether the tree of pages is left out.
    pub(super) is_without_tree: bool,
    pub(super) is_wide: bool,
}

/// What is told of a page with content.
pub(super) fn page_head(scene: &Scene<'_>, page: &DocumentPage, at: usize) -> Head {
    let canonical = scene.canonical(at);
    let crumbs: Vec<_> = scene.frame.above(at).collect();
    let items: Vec<serde_json::Value> = crumbs
        .iter()
        .rev()
        .chain([&at])
        .enumerate()
        .map(|(index, at)| {
            let entry = &scene.frame.entries[*at];
            json!({ "@type": "ListItem", "position": index + 1, "name": entry.title, "item": scene.canonical(*at) })
        })
        .collect();
    let linked_data = json!([
        { "@context": "https://schema.org", "@type": "TechArticle", "headline": page.base.title,
          "description": page.description, "url": canonical, "dateModified": page.base.updated_at,
          "inLanguage": scene.words.language,
          "isPartOf": { "@type": "WebSite", "name": scene.title(), "url": scene.visit.has_address().then_some(&scene.canonical_base) } },
        { "@context": "https://schema.org", "@type": "BreadcrumbList", "itemListElement": items },
    ]);
    Head {
        title: page.base.title.clone(),
        description: page.description.clone(),
        markdown: markdown_address(scene, at),
        canonical,
        is_indexed: scene.visit.site.site.visibility == SiteVisibility::Public
            && !page.no_robots_index
            && scene.visit.preview.is_none(),
        linked_data: Some(linked_data),
        current: Some(at),
        is_without_tree: !page.layout.table_of_contents,
        is_wide: page.layout.width == docs_core::model::PageWidth::Wide,
    }
}

/// The address of a page as Markdown.
pub(super) fn markdown_address(scene: &Scene<'_>, at: usize) -> Option<String> {
    let own = scene.addresses.of_entry(&scene.addresses.space, &scene.frame, at)?;
    Some(if own.ends_with('/') { format!("{own}index.md") } else { format!("{own}.md") })
}

/// The head as HTML.
pub(super) fn markup(scene: &Scene<'_>, head: &Head) -> Markup {
    let site = scene.title();
    let title = if head.title.is_empty() { site.to_owned() } else { format!("{} | {site}", head.title) };
    let own = |name: &str| format!("{}{OWN}/{name}", scene.site_base());
    let theme = scene.visit.site.sheet(&scene.place.space.id).name;
    let loaded = |url| scene.addresses.loaded(url);
    let icon = scene.look.favicon.icon.as_ref();
    let icon = icon.and_then(|icon| loaded(icon.light.as_str()).zip(loaded(icon.dark.as_str())));
    let picture = scene.look.social_preview.url.as_ref();
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        title { (title) }
        link rel="stylesheet" href=(own(&Asset::style_sheet().name));
        link rel="stylesheet" href={ (scene.base()) (OWN) "/" (theme) };
        script src=(own(&Asset::script().name)) {}
        @match icon {
            Some((light, dark)) => {
                link rel="icon" href=(light) media="(prefers-color-scheme: light)";
                link rel="icon" href=(dark) media="(prefers-color-scheme: dark)";
            }
            None => link rel="icon" type="image/svg+xml" href={ (scene.base()) (OWN) "/icon.svg" };
        }
        @if let Some(text) = &head.description { meta name="description" content=(text); }
        @if !head.is_indexed { meta name="robots" content="noindex"; }
        @if let Some(url) = &head.canonical { link rel="canonical" href=(url); }
        @if head.current.is_some() {
            @for (language, url) in scene.alternates() { link rel="alternate" hreflang=(language) href=(url); }
        }
        @if let Some(url) = &head.markdown { link rel="alternate" type="text/markdown" href=(url); }
        @if scene.visit.has_address() {
            link rel="alternate" type="application/rss+xml" title=(site) href={ (scene.site_base()) "rss.xml" };
        }
        meta property="og:site_name" content=(site);
        meta property="og:title" content=(if head.title.is_empty() { site } else { &head.title });
        meta property="og:type" content="article";
        @if let Some(text) = &head.description { meta property="og:description" content=(text); }
        @if let Some(url) = &head.canonical { meta property="og:url" content=(url); }
        @if let Some(url) = picture {
            meta property="og:image" content=(url.as_str());
            meta name="twitter:card" content="summary_large_image";
        }
        @if let Some(data) = &head.linked_data {
            script type="application/ld+json" { (PreEscaped(within_script(data))) }
        }
    }
}

/// JSON that can stand in a script: nothing in it ends the script.
fn within_script(data: &serde_json::Value) -> String {
    data.to_string().replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}
