//! How a published site looks: the values readers of a published site need, with their defaults.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A value for light and one for dark surroundings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Themed{T}")]
pub struct Themed<T> {
    /// For light surroundings.
    pub light: T,
    /// For dark surroundings.
    pub dark: T,
}

impl Themed<String> {
    fn both(value: &str) -> Self {
        Self { light: value.to_owned(), dark: value.to_owned() }
    }
}

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $first:ident $(, $rest:ident)* $(,)? }),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "kebab-case")]
        #[expect(missing_docs, reason = "each name says what it is")]
        pub enum $name { #[default] $first, $($rest),* }
    )*};
}

choices! {
    /// The theme of a site.
    Theme { Clean, Muted, Bold, Gradient },
    /// Corners of boxes.
    Corners { Rounded, Straight, Circular },
    /// Depth of boxes.
    Depth { Subtle, Flat },
    /// How links look.
    LinksStyle { Default, Accent },
    /// The background; deprecated, still sent.
    Background { Plain, Match },
    /// How icons look.
    IconsStyle { Regular, Solid, Duotone, Light, Thin },
    /// How the search field looks.
    SearchStyle { Subtle, Prominent },
    /// Background of the side bar.
    SidebarBackground { Default, Filled },
    /// List of the side bar.
    SidebarList { Default, Pill, Line },
    /// The language of the site's own words.
    Locale { En, Fr, Es, Zh, Ja, De, Nl, No, PtBr, Ru },
    /// The header; deprecated, still sent.
    HeaderPreset { Default, Bold, Contrast, Custom, None },
    /// Light or dark.
    ThemeMode { Light, Dark },
    /// What artificial intelligence does on the site.
    AiMode { None, Search, Assistant },
}

/// Where external links open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExternalLinksTarget {
    /// In the same tab.
    #[default]
    #[serde(rename = "self")]
    Own,
    /// In a new tab.
    Blank,
}

/// A switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Enabled {
    /// On.
    pub enabled: bool,
}

/// How a published site looks (SPEC 2.8).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the names are those of the wire format, grouped as there")]
pub struct Customization {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub styling: Styling,
    pub internationalization: Internationalization,
    pub favicon: Favicon,
    pub header: Header,
    pub footer: Footer,
    pub themes: Themes,
    pub pdf: Enabled,
    pub feedback: Enabled,
    pub ai: Ai,
    pub advanced_customization: Enabled,
    pub git: GitLinks,
    pub page_actions: PageActions,
    pub external_links: ExternalLinks,
    pub pagination: Enabled,
    pub trademark: Enabled,
    pub privacy_policy: OptionalUrl,
    pub social_preview: OptionalUrl,
    pub insights: Insights,
}

/// Colours, fonts and shapes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Styling {
    pub theme: Theme,
    pub primary_color: Themed<String>,
    pub info_color: Themed<String>,
    pub success_color: Themed<String>,
    pub warning_color: Themed<String>,
    pub danger_color: Themed<String>,
    pub corners: Corners,
    pub depth: Depth,
    pub links: LinksStyle,
    pub font: String,
    pub monospace_font: String,
    pub background: Background,
    pub icons: IconsStyle,
    pub sidebar: Sidebar,
    pub search: SearchStyle,
}

/// The side bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Sidebar {
    pub background: SidebarBackground,
    pub list: SidebarList,
}

/// The language of the site's own words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Internationalization {
    pub locale: Locale,
}

/// The icon of the site: the reader's own where it is empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Favicon {}

/// The header.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Header {
    pub preset: HeaderPreset,
    pub links: Vec<HeaderLink>,
}

/// A link of the header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct HeaderLink {
    pub title: String,
    pub to: Option<super::ContentRef>,
    pub links: Vec<TitledLink>,
}

/// A link with a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct TitledLink {
    pub title: String,
    pub to: super::ContentRef,
}

/// The footer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Footer {
    pub groups: Vec<FooterGroup>,
}

/// A group of links in the footer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct FooterGroup {
    pub title: String,
    pub links: Vec<TitledLink>,
}

/// Light and dark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is; `toggeable` is spelt so on the wire")]
pub struct Themes {
    pub default: ThemeMode,
    pub toggeable: bool,
}

/// Artificial intelligence on the site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Ai {
    pub mode: AiMode,
}

/// Links to the repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct GitLinks {
    pub show_edit_link: bool,
}

/// What readers may do with a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct PageActions {
    #[serde(rename = "externalAI")]
    pub external_ai: bool,
    pub markdown: bool,
    pub mcp: bool,
}

/// External links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct ExternalLinks {
    pub target: ExternalLinksTarget,
}

/// An address that may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct OptionalUrl {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<super::Url>,
}

/// Measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "each name says what it is")]
pub struct Insights {
    pub tracking_cookie: bool,
}

impl Default for Styling {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            primary_color: Themed::both("#346DDB"),
            info_color: Themed::both("#787878"),
            success_color: Themed::both("#00C950"),
            warning_color: Themed::both("#FE9A00"),
            danger_color: Themed::both("#FB2C36"),
            corners: Corners::default(),
            depth: Depth::default(),
            links: LinksStyle::default(),
            font: "Inter".to_owned(),
            monospace_font: "IBMPlexMono".to_owned(),
            background: Background::default(),
            icons: IconsStyle::default(),
            sidebar: Sidebar::default(),
            search: SearchStyle::default(),
        }
    }
}

impl Default for Customization {
    fn default() -> Self {
        let on = Enabled { enabled: true };
        Self {
            title: None,
            styling: Styling::default(),
            internationalization: Internationalization::default(),
            favicon: Favicon::default(),
            header: Header::default(),
            footer: Footer::default(),
            themes: Themes { default: ThemeMode::Light, toggeable: true },
            pdf: on,
            feedback: Enabled { enabled: false },
            ai: Ai::default(),
            advanced_customization: on,
            git: GitLinks::default(),
            page_actions: PageActions { external_ai: true, markdown: true, mcp: true },
            external_links: ExternalLinks::default(),
            pagination: on,
            trademark: on,
            privacy_policy: OptionalUrl::default(),
            social_preview: OptionalUrl::default(),
            insights: Insights { tracking_cookie: true },
        }
    }
}
