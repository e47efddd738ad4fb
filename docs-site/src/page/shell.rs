//! The layout of every page of a site: header, sections, page tree and footer.

use std::borrow::Cow;

use docs_core::model::{
    AnnouncementStyle, ContentRef, HeaderLinkStyle, SiteStructure, SiteStructureNode, SocialDisplay,
    ThemeMode, TitledLink,
};
use maud::{DOCTYPE, Markup, html};

use super::{
    PageContext,
    head::{self, PageHead},
    parts::{CONTENT, LINKS, link_to, logo},
    template::{PageTemplate, Slot},
    tree,
};
use crate::{
    address::{SectionOrLink, sections_and_links},
    assets::SITE_SEGMENT,
    html::Html,
    preview::COMPARE,
    social,
};

/// Writes a complete page. `main` writes the content and `aside` the outline. `room` is the expected size of both in
/// bytes.
pub(super) fn shell(
    scene: &PageContext<'_>,
    head: &PageHead,
    room: usize,
    main: impl Fn(&mut Html),
    aside: impl Fn(&mut Html),
) -> Html {
    let template = scene.template();
    let mut html = Html::with_capacity(template.weight() + room);
    template.fill(&mut html, |html, slot| match slot {
        Slot::Title => head::write_title(html, scene, head),
        Slot::MetadataTags => html.markup(&head::metadata_tags(scene, head)),
        Slot::Name => head::write_name(html, scene, head),
        Slot::OpenGraph => html.markup(&head::open_graph_tags(head)),
        Slot::LinkedData => html.markup(&head::linked_data_script(head)),
        Slot::Variants => html.markup(&variants(scene)),
        Slot::Class => {
            html.tags(if head.is_wide { "page wide" } else { "page" });
        }
        Slot::Tree if head.is_without_tree => {}
        Slot::Tree => tree::write_navigation(html, scene, head.current, head.operations.as_ref()),
        Slot::Main => main(html),
        Slot::Aside => aside(html),
    });
    html
}

/// Writes a complete page around existing markup.
pub(super) fn shell_with_markup(scene: &PageContext<'_>, head: &PageHead, main: &Markup) -> Html {
    shell(scene, head, main.0.len(), |html: &mut Html| html.markup(main), |_: &mut Html| {})
}

impl PageContext<'_> {
    /// Returns the page template.
    pub(super) fn template(&self) -> &PageTemplate {
        self.around.template.get_or_init(|| template(self))
    }
}

/// Builds the template of all pages of a space.
fn template(scene: &PageContext<'_>) -> PageTemplate {
    let words = scene.words;
    let themes = scene.look.themes;
    // Unless the site follows it, the color scheme of the visitor's system does not count as a choice: the default of
    // the site applies until the visitor selects a scheme.
    let theme = match themes.default.shown() {
        ThemeMode::Light => "light",
        ThemeMode::Dark => "dark",
        ThemeMode::System => "system",
    };
    let search = scene.visit.is_searched().then(|| format!("{}{SITE_SEGMENT}/search", scene.base()));
    PageTemplate::from_markup(html! {
        (DOCTYPE)
        html lang=(words.language) dir="ltr" data-theme=(theme) data-choose[themes.toggeable] {
            head { (head::head_template(scene)) }
            body data-site=(scene.site_base()) data-search=[search] data-copy=(words.copy) data-copied=(words.copied)
                data-none=(words.nothing_found) {
                a.skip href={ "#" (CONTENT) } { (words.skip) }
                (preview_bar(scene))
                (announcement(scene))
                (header(scene))
                (section_bar(scene))
                div class=(Slot::Class) {
                    (Slot::Tree)
                    main id=(CONTENT) tabindex="-1" { (Slot::Main) }
                    (Slot::Aside)
                }
                (footer(scene))
            }
        }
    })
}

/// Renders the notice on preview pages, with a link to the live site.
fn preview_bar(scene: &PageContext<'_>) -> Markup {
    let Some(preview) = &scene.visit.preview else { return Markup::default() };
    let live = scene.base().strip_suffix(preview.path.as_str()).unwrap_or(scene.base());
    html! {
        div.preview role="status" {
            span { "Preview of " b { (preview.name()) } }
            a href=(scene.base()) { "Pages" }
            a href={ (scene.base()) (COMPARE) } { "What changed" }
            a href=(live) { "Live site" }
        }
    }
}

fn announcement(scene: &PageContext<'_>) -> Markup {
    let Some(it) = scene.look.announcement.as_ref().filter(|it| it.enabled) else { return Markup::default() };
    let style = match it.style {
        AnnouncementStyle::Info => "info",
        AnnouncementStyle::Warning => "warning",
        AnnouncementStyle::Danger => "danger",
        AnnouncementStyle::Success => "success",
    };
    html! {
        div class={ "announcement " (style) } {
            (scene.localized(it.message.as_str(), &it.localized_message))
            @if let Some(link) = &it.link {
                " " (link_to(scene, &link.to, scene.localized(link.title.as_str(), &link.localized_title), None))
            }
        }
    }
}

fn header(scene: &PageContext<'_>) -> Markup {
    let words = scene.words;
    html! {
        header.top {
            a.brand href=(primary_address(scene)) {
                @match &scene.look.header.logo {
                    Some(picture) => (logo(scene, picture, scene.title())),
                    None => span.title { (scene.title()) },
                }
            }
            (Slot::Variants)
            @if scene.visit.is_searched() {
                form.find role="search" action={ (scene.base()) (SITE_SEGMENT) "/search" } {
                    input type="search" name="q" maxlength="512" placeholder=(words.search) aria-label=(words.search)
                        autocomplete="off";
                    div.found hidden {}
                }
            }
            (header_links(scene))
            (social_links(scene, |display| display.header))
            @if scene.look.themes.toggeable {
                button.theme type="button" hidden aria-label=(words.theme) title=(words.theme) {}
            }
        }
    }
}

/// Renders the header links. On narrow screens, they are shown while they are the target of the URL fragment.
fn header_links(scene: &PageContext<'_>) -> Markup {
    let links = &scene.look.header.links;
    if links.is_empty() {
        return Markup::default();
    }
    html! {
        a.open-links href={ "#" (LINKS) } aria-label=(scene.words.menu) { "⋯" }
        nav.links id=(LINKS) aria-label=(scene.words.menu) {
            @for link in links.iter() {
                @let class = match link.style {
                    None | Some(HeaderLinkStyle::Link) => None,
                    Some(HeaderLinkStyle::ButtonPrimary) => Some("button primary"),
                    Some(HeaderLinkStyle::ButtonSecondary) => Some("button"),
                };
                @match &link.to {
                    Some(to) => (link_to(scene, to, scene.localized(link.title.as_str(), &link.localized_title), class)),
                    None => details.menu {
                        summary { (scene.localized(link.title.as_str(), &link.localized_title)) }
                        (titled_links(scene, &link.links))
                    },
                }
            }
            a.close-links href={ "#" (CONTENT) } aria-label=(scene.words.skip) { "✕" }
        }
    }
}

/// Renders the menu of the variants of a space.
fn variants(scene: &PageContext<'_>) -> Markup {
    let beside: Vec<_> = scene.shown_variants().collect();
    if beside.len() < 2 {
        return Markup::default();
    }
    html! {
        details.menu.variants {
            summary { (scene.place.space.title) }
            ul {
                @for (number, place) in beside {
                    @let is_here = place.space.id == scene.place.space.id;
                    li { a href={ (scene.site_base()) (scene.variant_path(number, place)) } aria-current=[is_here.then_some("true")] {
                        (place.space.title)
                    } }
                }
            }
        }
    }
}

/// Renders the section bar of a site, with a menu for each group.
fn section_bar(scene: &PageContext<'_>) -> Markup {
    let SiteStructure::Sections(items) = &scene.visit.site.structure else { return Markup::default() };
    if sections_and_links(items).len() < 2 {
        return Markup::default();
    }
    html! {
        nav.sections {
            @for item in items {
                @match item {
                    SiteStructureNode::Section(section) => (section_link(scene, section)),
                    SiteStructureNode::Link(link) => (external_link(scene, link)),
                    SiteStructureNode::Group(group) => details.menu {
                        summary { (scene.localized(group.title.as_str(), &group.localized_title)) }
                        ul {
                            @for entry in sections_and_links(&group.children) {
                                li {
                                    @match entry {
                                        SectionOrLink::Section(section) => (section_link(scene, section)),
                                        SectionOrLink::Link(link) => (external_link(scene, link)),
                                    }
                                }
                            }
                        }
                    },
                }
            }
        }
    }
}

fn section_link(scene: &PageContext<'_>, section: &docs_core::model::SiteSection) -> Markup {
    let of = |place: &&crate::address::SitePlace<'_>| {
        place.section.is_some_and(|of| of.id == section.id) && place.space.default
    };
    let is_here = scene.place.section.is_some_and(|here| here.id == section.id);
    let Some(place) = scene.places.iter().find(of) else { return Markup::default() };
    let description = section.description.as_ref().map_or("", |text| text.as_str());
    let description = scene.localized(description, &section.localized_description);
    html! {
        a href={ (scene.site_base()) (place.path) } aria-current=[is_here.then_some("true")]
            title=[Some(description).filter(|text| !text.is_empty())] {
            (scene.localized(section.title.as_str(), &section.localized_title))
        }
    }
}

/// Renders an external link of the structure of a site.
fn external_link(scene: &PageContext<'_>, link: &docs_core::model::SiteExternalLink) -> Markup {
    let to = ContentRef::Url { url: link.url.to_string() };
    let anchor = link_to(scene, &to, scene.localized(link.title.as_str(), &link.localized_title), None);
    let description = link.description.as_ref().map_or("", |text| text.as_str());
    match scene.localized(description, &link.localized_description) {
        "" => anchor,
        description => html! { span title=(description) { (anchor) } },
    }
}

fn titled_links(scene: &PageContext<'_>, links: &[TitledLink]) -> Markup {
    html! {
        ul {
            @for link in links {
                li { (link_to(scene, &link.to, scene.localized(link.title.as_str(), &link.localized_title), None)) }
            }
        }
    }
}

/// Returns the target of the title: the primary link if the visitor can open it, or the start of the site.
fn primary_address<'p>(scene: &'p PageContext<'_>) -> Cow<'p, str> {
    let target = scene.look.header.primary_link.as_ref().map(|to| scene.addresses.target(to));
    target.and_then(|target| target.href).map_or(Cow::Borrowed(scene.site_base()), Cow::Owned)
}

/// Renders links to the social accounts that a part of the page shows.
fn social_links(scene: &PageContext<'_>, is_shown: impl Fn(&SocialDisplay) -> bool) -> Markup {
    let shown = scene.look.social_accounts.iter().filter(|account| is_shown(&account.display));
    let links: Vec<_> =
        shown.filter_map(|account| Some((social::name(account.platform), social::url(account)?))).collect();
    if links.is_empty() {
        return Markup::default();
    }
    html! {
        ul.social { @for (name, url) in links { li { a href=(url) rel="noopener me" { (name) } } } }
    }
}

fn footer(scene: &PageContext<'_>) -> Markup {
    let footer = &scene.look.footer;
    let privacy = scene.look.privacy_policy.url.as_ref();
    let is_empty = footer.groups.is_empty()
        && footer.copyright.is_none()
        && footer.logo.is_none()
        && privacy.is_none()
        && !scene.look.social_accounts.iter().any(|account| account.display.footer);
    if is_empty {
        return Markup::default();
    }
    html! {
        footer.bottom {
            @if let Some(picture) = &footer.logo { div { (logo(scene, picture, scene.title())) } }
            @for group in footer.groups.iter() {
                div.group {
                    p.head { (scene.localized(group.title.as_str(), &group.localized_title)) }
                    (titled_links(scene, &group.links))
                }
            }
            (social_links(scene, |display| display.footer))
            @if let Some(text) = &footer.copyright { p.copyright { (text.as_str()) } }
            @if let Some(url) = privacy { p { a href=(url.as_str()) rel="noopener" { (scene.words.privacy) } } }
        }
    }
}
