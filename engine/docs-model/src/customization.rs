//! Customization of published sites: layout, colours, fonts and features, with their defaults.

mod actions;
mod code_theme;
mod completed_request;
mod font;
mod overrides;
mod social;
mod themed;

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use self::{actions::*, code_theme::*, font::*, overrides::*, social::*, themed::*};
use super::{
    BoundedText, BoundedVec, Color, Condition, ContentRef, Emoji, LocalizedText, LocalizedTitle, SiteTitle,
    TranslationLanguage, Url, condition, patch::deserialize_non_null,
};

/// Title of a header link or of a footer group.
pub type MenuTitle = BoundedText<0, 256>;
/// The variants of a [`MenuTitle`] by language.
pub type LocalizedMenuTitle = LocalizedText<256>;
/// Title of a link in a header menu or a footer group.
pub type LinkTitle = BoundedText<0, 64>;
/// Copyright notice.
pub type Copyright = BoundedText<0, 512>;
/// Message of an announcement.
pub type AnnouncementMessage = BoundedText<2, 128>;

macro_rules! choices {
    ($($(#[$doc:meta])* $name:ident { $first:ident $(, $rest:ident)* $(,)? }),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { #[default] $first, $($rest),* }
    )*};
}

choices! {
    /// The theme of a site.
    Theme { Clean, Muted, Bold, Gradient },
    /// The corner style of boxes.
    Corners { Rounded, Straight, Circular },
    /// The depth effect of boxes.
    Depth { Subtle, Flat },
    /// The style of links.
    LinksStyle { Default, Accent },
    /// The background. Deprecated, but still accepted and returned.
    Background { Plain, Match },
    /// The style of icons.
    IconsStyle { Regular, Solid, Duotone, Light, Thin },
    /// The style of the search field.
    SearchStyle { Subtle, Prominent },
    /// The background of the sidebar.
    SidebarBackground { Default, Filled },
    /// The style of the page list in the sidebar.
    SidebarList { Default, Pill, Line },
    /// The user interface language of a site.
    Locale { En, Fr, Es, Zh, Ja, De, Nl, No, PtBr, Ru },
    /// The header preset. Deprecated, but still accepted and returned.
    HeaderPreset { Default, Bold, Contrast, Custom, None },
    /// The colour scheme: one of the two, or that of the visitor's system.
    ThemeMode { Light, Dark, System },
    /// The AI features of a site.
    AiMode { None, Search, Assistant },
    /// The style of a header link.
    HeaderLinkStyle { Link, ButtonPrimary, ButtonSecondary },
    /// The kind of an announcement.
    AnnouncementStyle { Info, Warning, Danger, Success },
}

impl Locale {
    /// Returns the language of the variants of texts that readers with this interface language see.
    #[must_use]
    pub const fn language(self) -> TranslationLanguage {
        match self {
            Self::En => TranslationLanguage::English,
            Self::Fr => TranslationLanguage::French,
            Self::Es => TranslationLanguage::Spanish,
            Self::Zh => TranslationLanguage::Chinese,
            Self::Ja => TranslationLanguage::Japanese,
            Self::De => TranslationLanguage::German,
            Self::Nl => TranslationLanguage::Dutch,
            Self::No => TranslationLanguage::Norwegian,
            Self::PtBr => TranslationLanguage::BrazilianPortuguese,
            Self::Ru => TranslationLanguage::Russian,
        }
    }
}

/// The browser tab in which external links open.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExternalLinksTarget {
    /// In the current tab.
    #[default]
    #[serde(rename = "self")]
    Own,
    /// In a new tab.
    Blank,
}

/// An on/off setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Enabled {
    pub enabled: bool,
}

/// The customization of a published site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Customization {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<SiteTitle>,
    /// The title by language; in other languages, `title` is shown. If omitted from a request, it is unchanged.
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub localized_title: Option<LocalizedTitle>,
    pub styling: Styling,
    pub internationalization: Internationalization,
    pub favicon: Favicon,
    pub header: Header,
    pub footer: Footer,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announcement: Option<Announcement>,
    pub themes: Themes,
    /// `true` if pages can be exported as PDF files, like the page action `pdf`. Always present in responses.
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub pdf: Option<Enabled>,
    pub feedback: Enabled,
    pub ai: Ai,
    pub advanced_customization: Enabled,
    /// The link to edit a page in its repository, like the page action `git`. Always present in responses.
    #[serde(default, deserialize_with = "deserialize_non_null", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(transform = crate::schema::not_null))]
    pub git: Option<GitLinks>,
    pub page_actions: PageActions,
    pub external_links: ExternalLinks,
    pub pagination: Enabled,
    pub trademark: Enabled,
    #[serde(default)]
    pub privacy_policy: OptionalUrl,
    #[serde(default)]
    pub social_preview: OptionalUrl,
    /// The accounts of the site on social platforms.
    #[serde(default)]
    pub social_accounts: SocialAccounts,
    pub insights: Insights,
}

/// Colours, fonts and shapes of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Styling {
    pub theme: Theme,
    pub primary_color: Themed<Color>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tint: Option<Tint>,
    pub info_color: Themed<Color>,
    pub success_color: Themed<Color>,
    pub warning_color: Themed<Color>,
    pub danger_color: Themed<Color>,
    pub corners: Corners,
    pub depth: Depth,
    pub links: LinksStyle,
    pub font: Font,
    /// The font of headings; the main font by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading_font: Option<Font>,
    pub monospace_font: MonospaceFont,
    /// The themes of code blocks.
    #[serde(default)]
    pub code_theme: CodeThemes,
    #[serde(default)]
    pub background: Background,
    pub icons: IconsStyle,
    pub sidebar: Sidebar,
    pub search: SearchStyle,
}

/// A colour that tints the whole site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Tint {
    pub color: Themed<Color>,
}

/// The style of the sidebar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Sidebar {
    pub background: SidebarBackground,
    pub list: SidebarList,
}

/// The language settings of a site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Internationalization {
    pub locale: Locale,
}

/// The icon of a site: an image or an emoji. Without either, clients show a default icon.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("anyOf" = crate::schema::not_both("icon", "emoji"))))]
pub struct Favicon {
    /// The icon as an image.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub icon: Option<Themed<Url>>,
    /// The icon as an emoji.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emoji: Option<Emoji>,
}

/// The header of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Header {
    #[serde(default)]
    pub preset: HeaderPreset,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Themed<Url>>,
    /// The target of the title or logo; the start of the site by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub primary_link: Option<ContentRef>,
    /// Deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub background_color: Option<Themed<Color>>,
    /// Deprecated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link_color: Option<Themed<Color>>,
    pub links: HeaderLinks,
}

/// The links of a header.
pub type HeaderLinks = BoundedVec<HeaderLink, 0, 50>;

/// A link or a menu in the header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeaderLink {
    pub title: MenuTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedMenuTitle,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub style: Option<HeaderLinkStyle>,
    /// The target of the link; `null` for a menu.
    pub to: Option<ContentRef>,
    /// The links of the menu.
    pub links: TitledLinks,
    /// A condition; only visitors who meet it see the link. An empty string is no condition.
    #[serde(
        default,
        deserialize_with = "condition::deserialize_non_empty",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "schema", schemars(with = "Option<condition::ConditionText>"))]
    pub condition: Option<Condition>,
}

/// The links of a header menu or a footer group.
pub type TitledLinks = BoundedVec<TitledLink, 0, 100>;

/// A link with a title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TitledLink {
    pub title: LinkTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedText<64>,
    pub to: ContentRef,
}

/// The footer of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Footer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logo: Option<Themed<Url>>,
    pub groups: FooterGroups,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copyright: Option<Copyright>,
}

/// The link groups of a footer.
pub type FooterGroups = BoundedVec<FooterGroup, 0, 20>;

/// A link group in the footer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FooterGroup {
    pub title: MenuTitle,
    /// The title by language; in other languages, `title` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_title: LocalizedMenuTitle,
    pub links: TitledLinks,
}

/// An announcement shown on every page of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Announcement {
    pub enabled: bool,
    pub message: AnnouncementMessage,
    /// The message by language; in other languages, `message` is shown.
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_message: LocalizedText<128>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<TitledLink>,
    pub style: AnnouncementStyle,
}

/// The light and dark theme settings of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct Themes {
    #[cfg_attr(feature = "schema", schemars(with = "ThemeMode"))]
    pub default: DefaultTheme,
    pub toggeable: bool,
}

/// The colour scheme for visitors who have not selected one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ThemeMode", into = "ThemeMode")]
pub enum DefaultTheme {
    /// The site has never set a scheme, so that of the visitor's system is shown. In JSON, this is `light`, because
    /// earlier clients know only `light` and `dark`.
    #[default]
    Unset,
    Set(ThemeMode),
}

impl DefaultTheme {
    /// Returns the scheme that visitors see.
    #[must_use]
    pub const fn shown(self) -> ThemeMode {
        match self {
            Self::Unset => ThemeMode::System,
            Self::Set(mode) => mode,
        }
    }
}

impl From<ThemeMode> for DefaultTheme {
    fn from(mode: ThemeMode) -> Self {
        Self::Set(mode)
    }
}

impl From<DefaultTheme> for ThemeMode {
    fn from(theme: DefaultTheme) -> Self {
        match theme {
            DefaultTheme::Unset => Self::Light,
            DefaultTheme::Set(mode) => mode,
        }
    }
}

/// The greeting of the assistant.
pub type AiGreeting = BoundedText<0, 256>;
/// A suggested question.
pub type AiSuggestion = BoundedText<3, 64>;
/// Instructions for the assistant.
pub type AiInstructions = BoundedText<0, 10_000>;

/// The AI settings of a site. They are stored for clients; the platform has no assistant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Ai {
    /// The mode. Published data always contains `none`.
    pub mode: AiMode,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub greeting: Option<AiGreeting>,
    #[serde(default, skip_serializing_if = "LocalizedText::is_empty")]
    pub localized_greeting: LocalizedText<128>,
    /// Suggested questions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggestions: Option<BoundedVec<AiSuggestion, 0, 5>>,
    /// Instructions, which are never published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<AiInstructions>,
}

/// Settings for links to the Git repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct GitLinks {
    pub show_edit_link: bool,
}

/// Settings for external links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct ExternalLinks {
    pub target: ExternalLinksTarget,
}

/// An optional URL.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct OptionalUrl {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<Url>,
}

/// The analytics settings of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Insights {
    pub tracking_cookie: bool,
}

impl Default for Styling {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            primary_color: Themed::same_for_both(Color::rgb(0x34, 0x6D, 0xDB)),
            tint: None,
            info_color: Themed::same_for_both(Color::rgb(0x78, 0x78, 0x78)),
            success_color: Themed::same_for_both(Color::rgb(0x00, 0xC9, 0x50)),
            warning_color: Themed::same_for_both(Color::rgb(0xFE, 0x9A, 0x00)),
            danger_color: Themed::same_for_both(Color::rgb(0xFB, 0x2C, 0x36)),
            corners: Corners::default(),
            depth: Depth::default(),
            links: LinksStyle::default(),
            font: Font::default(),
            heading_font: None,
            monospace_font: MonospaceFont::default(),
            code_theme: CodeThemes::default(),
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
            localized_title: None,
            styling: Styling::default(),
            internationalization: Internationalization::default(),
            favicon: Favicon::default(),
            header: Header::default(),
            footer: Footer::default(),
            announcement: None,
            themes: Themes { default: DefaultTheme::Unset, toggeable: true },
            pdf: Some(on),
            feedback: Enabled { enabled: false },
            ai: Ai::default(),
            advanced_customization: on,
            git: Some(GitLinks::default()),
            page_actions: PageActions::default(),
            external_links: ExternalLinks::default(),
            pagination: on,
            trademark: on,
            privacy_policy: OptionalUrl::default(),
            social_preview: OptionalUrl::default(),
            social_accounts: SocialAccounts::default(),
            insights: Insights { tracking_cookie: true },
        }
    }
}
