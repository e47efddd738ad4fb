//! The `<head>` of a page: metadata for browsers, search engines and link previews.

use std::borrow::Cow;

use docs_core::model::{SiteVisibility, Timestamp};
use maud::{Markup, PreEscaped, html};
use serde::Serialize;

use super::{PageContext, entry_label::brief, parts::BreadcrumbPath, template::Slot};
use crate::{
    address::to_markdown_address,
    assets::{Asset, SITE_SEGMENT},
    html::{Html, NamedMarkup, write_escaped},
};

/// The metadata of a page.
#[derive(Debug, Default)]
pub(super) struct PageHead {
    pub(super) title: String,
    pub(super) description: Option<String>,
    pub(super) canonical: Option<String>,
    /// The URL of the Markdown version.
    pub(super) markdown: Option<String>,
    pub(super) is_indexed: bool,
    /// The JSON-LD data.
    pub(super) linked_data: Option<String>,
    /// The index of the current page in the page tree.
    pub(super) current: Option<usize>,
    /// The list below the current page in the page tree.
    pub(super) operations: Option<NamedMarkup>,
    /// `true` if the page tree is omitted.
    pub(super) is_without_tree: bool,
    pub(super) is_wide: bool,
}

/// Returns the metadata of a page with content.
pub(super) fn page_head(scene: &PageContext<'_>, at: usize) -> PageHead {
    let page = &scene.frame.entries[at];
    let canonical = scene.canonical(at);
    let linked_data = linked_data(scene, canonical.as_deref(), at);
    PageHead {
        title: page.title.to_string(),
        description: page.description.as_deref().map(str::to_owned),
        markdown: markdown_address(scene, at),
        canonical,
        is_indexed: scene.visit.site.site.visibility == SiteVisibility::Public
            && !page.is_unindexed
            && scene.visit.preview.is_none(),
        linked_data: Some(linked_data),
        current: Some(at),
        operations: None,
        is_without_tree: !page.layout.table_of_contents,
        is_wide: page.layout.width == docs_core::model::PageWidth::Wide,
    }
}

/// The JSON-LD data of a page and its breadcrumbs.
#[derive(Serialize)]
struct LinkedData<'p>(Article<'p>, Crumbs<'p>);

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Article<'p> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    kind: &'static str,
    date_modified: Option<Timestamp>,
    description: Option<&'p str>,
    headline: &'p str,
    in_language: &'static str,
    is_part_of: WebSite<'p>,
    url: Option<&'p str>,
}

#[derive(Serialize)]
struct WebSite<'p> {
    #[serde(rename = "@type")]
    kind: &'static str,
    name: &'p str,
    url: Option<&'p str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Crumbs<'p> {
    #[serde(rename = "@context")]
    context: &'static str,
    #[serde(rename = "@type")]
    kind: &'static str,
    item_list_element: Vec<Crumb<'p>>,
}

#[derive(Serialize)]
struct Crumb<'p> {
    #[serde(rename = "@type")]
    kind: &'static str,
    item: Option<String>,
    name: Cow<'p, str>,
    position: usize,
}

const SCHEMA: &str = "https://schema.org";

fn linked_data(scene: &PageContext<'_>, canonical: Option<&str>, at: usize) -> String {
    let page = &scene.frame.entries[at];
    let way = BreadcrumbPath::new(&scene.frame, at);
    let crumb = |(index, at): (usize, usize)| Crumb {
        kind: "ListItem",
        item: scene.canonical(at),
        name: brief(&scene.frame.entries[at].title),
        position: index + 1,
    };
    let article = Article {
        context: SCHEMA,
        kind: "TechArticle",
        date_modified: page.changed_at(),
        description: page.description.as_deref(),
        headline: &page.title,
        in_language: scene.words.language,
        is_part_of: WebSite {
            kind: "WebSite",
            name: scene.title(),
            url: scene.visit.has_address().then_some(&scene.canonical_base),
        },
        url: canonical,
    };
    let crumbs = way.start.into_iter().chain(way.end).chain([at]).enumerate().map(crumb).collect();
    let crumbs = Crumbs { context: SCHEMA, kind: "BreadcrumbList", item_list_element: crumbs };
    // Serializing strings and numbers cannot fail.
    serde_json::to_string(&LinkedData(article, crumbs)).unwrap_or_default()
}

/// Returns the URL of the Markdown version of a page.
pub(super) fn markdown_address(scene: &PageContext<'_>, at: usize) -> Option<String> {
    let own = scene.addresses.entry_address(&scene.addresses.space, &scene.frame, at)?;
    Some(to_markdown_address(&own))
}

/// Renders the head as HTML, with slots for the metadata of a page.
pub(super) fn head_template(scene: &PageContext<'_>) -> Markup {
    let site = scene.title();
    let own = |name: &str| format!("{}{SITE_SEGMENT}/{name}", scene.site_base());
    let theme = scene.visit.site.style_sheet(&scene.place.space.id).name;
    let loaded = |url| scene.addresses.allowed_image_url(url);
    let icon = scene.look.favicon.icon.as_ref();
    let icon = icon.and_then(|icon| loaded(icon.light.as_str()).zip(loaded(icon.dark.as_str())));
    let picture = scene.look.social_preview.url.as_ref();
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        title { (Slot::Title) }
        link rel="stylesheet" href=(own(&Asset::style_sheet().name));
        link rel="stylesheet" href={ (scene.base()) (SITE_SEGMENT) "/" (theme) };
        script src=(own(&Asset::script().name)) {}
        @match icon {
            Some((light, dark)) => {
                link rel="icon" href=(light) media="(prefers-color-scheme: light)";
                link rel="icon" href=(dark) media="(prefers-color-scheme: dark)";
            }
            None => link rel="icon" type="image/svg+xml" href={ (scene.base()) (SITE_SEGMENT) "/icon.svg" };
        }
        (Slot::MetadataTags)
        @if scene.visit.has_address() {
            link rel="alternate" type="application/rss+xml" title=(site) href={ (scene.site_base()) "rss.xml" };
        }
        meta property="og:site_name" content=(site);
        meta property="og:title" content=(Slot::Name);
        meta property="og:type" content="article";
        (Slot::OpenGraph)
        @if let Some(url) = picture {
            meta property="og:image" content=(url.as_str());
            meta name="twitter:card" content="summary_large_image";
        }
        (Slot::LinkedData)
    }
}

/// Writes the title of a page, followed by the title of its site.
pub(super) fn write_title(html: &mut Html, scene: &PageContext<'_>, head: &PageHead) {
    if !head.title.is_empty() {
        html.text(&head.title).tags(" | ");
    }
    html.text(scene.title());
}

/// Writes the title of a page, or the title of its site if the page has none.
pub(super) fn write_name(html: &mut Html, scene: &PageContext<'_>, head: &PageHead) {
    html.text(if head.title.is_empty() { scene.title() } else { &head.title });
}

/// Renders the metadata for browsers and search engines.
pub(super) fn metadata_tags(scene: &PageContext<'_>, head: &PageHead) -> Markup {
    html! {
        @if let Some(text) = &head.description { meta name="description" content=(text); }
        @if !head.is_indexed { meta name="robots" content="noindex"; }
        @if let Some(url) = &head.canonical { link rel="canonical" href=(url); }
        @if head.current.is_some() {
            @for (language, url) in scene.alternates() { link rel="alternate" hreflang=(language) href=(url); }
        }
        @if let Some(url) = &head.markdown { link rel="alternate" type="text/markdown" href=(url); }
    }
}

/// Renders the Open Graph metadata, except the title.
pub(super) fn open_graph_tags(head: &PageHead) -> Markup {
    html! {
        @if let Some(text) = &head.description { meta property="og:description" content=(text); }
        @if let Some(url) = &head.canonical { meta property="og:url" content=(url); }
    }
}

pub(super) fn linked_data_script(head: &PageHead) -> Markup {
    html! {
        @if let Some(data) = &head.linked_data {
            script type="application/ld+json" { (PreEscaped(within_script(data))) }
        }
    }
}

/// Escapes JSON for a `script` element, so that the content cannot end the element.
fn within_script(data: &str) -> String {
    let mut out = String::with_capacity(data.len() + 64);
    write_escaped(&mut out, data, |byte| match byte {
        b'<' => Some("\\u003c"),
        b'>' => Some("\\u003e"),
        b'&' => Some("\\u0026"),
        _ => None,
    });
    out
}
