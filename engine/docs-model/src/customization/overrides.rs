//! Overrides of a site's customization for one of its spaces.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{Color, ContentRef, LocalizedTitle, Patch, SiteTitle, Url},
    Announcement, Background, CodeTheme, Copyright, Corners, Customization, Depth, ExternalLinksTarget,
    Favicon, Font, FooterGroups, HeaderLinks, HeaderPreset, IconsStyle, LinksStyle, Locale, MonospaceFont,
    SearchStyle, SidebarBackground, SidebarList, Theme, ThemeMode, Themed, Tint,
};

/// A part of a customization that an override covers. A part that a customization may omit has its default then.
trait WholePart<W> {
    fn part(&mut self) -> &mut W;
}

impl<W> WholePart<W> for W {
    fn part(&mut self) -> &mut W {
        self
    }
}

impl<W: Default> WholePart<W> for Option<W> {
    fn part(&mut self) -> &mut W {
        self.get_or_insert_default()
    }
}

/// Declares override types. Each value of an override is absent, `null` or set.
macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $name:ident of $whole:ty { values: { $($value:ident: $type:ty),* $(,)? }, parts: { $($part:ident: $of:ty),* $(,)? } }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase", default)]
        pub struct $name {
            $(#[serde(skip_serializing_if = "Patch::is_keep")]
            pub $value: Patch<$type>,)*
            $(#[serde(skip_serializing_if = "is_default")]
            pub $part: $of,)*
        }

        impl $name {
            /// Merges a later update: omitted values are unchanged, `null` removes the override of a value.
            fn change(&mut self, later: Self) {
                $(match later.$value {
                    Patch::Keep => {}
                    Patch::Clear => self.$value = Patch::Keep,
                    given @ Patch::Set(_) => self.$value = given,
                })*
                $(self.$part.change(later.$part);)*
            }

            /// Replaces the values of the site that this override sets.
            fn cover(&self, whole: &mut $whole) {
                $(if let Patch::Set(value) = &self.$value {
                    whole.$value = value.clone().into();
                })*
                $(self.$part.cover(WholePart::part(&mut whole.$part));)*
            }
        }
    )*};
}

parts! {
    /// Overrides of a site's customization for one space. Omitted values are unchanged; `null` removes an override.
    CustomizationOverride of Customization {
        values: {
            title: SiteTitle, localized_title: LocalizedTitle, favicon: Favicon, announcement: Announcement,
        },
        parts: {
            styling: StylingOverride, internationalization: LocaleOverride, header: HeaderOverride,
            footer: FooterOverride, themes: ThemesOverride, pdf: EnabledOverride, feedback: EnabledOverride,
            git: GitOverride, external_links: ExternalLinksOverride, pagination: EnabledOverride,
            trademark: EnabledOverride, privacy_policy: UrlOverride, social_preview: UrlOverride,
        }
    }
    /// Overrides of colours, fonts and shapes.
    StylingOverride of super::Styling {
        values: {
            theme: Theme, primary_color: Themed<Color>, tint: Tint, info_color: Themed<Color>,
            success_color: Themed<Color>, warning_color: Themed<Color>, danger_color: Themed<Color>,
            corners: Corners, depth: Depth, links: LinksStyle, font: Font, monospace_font: MonospaceFont,
            background: Background, icons: IconsStyle, search: SearchStyle,
        },
        parts: { sidebar: SidebarOverride, code_theme: CodeThemesOverride }
    }
    /// Overrides of the themes of code blocks.
    CodeThemesOverride of super::CodeThemes {
        values: { default: Themed<CodeTheme>, openapi: Themed<CodeTheme> }, parts: {}
    }
    /// Overrides of the sidebar.
    SidebarOverride of super::Sidebar {
        values: { background: SidebarBackground, list: SidebarList }, parts: {}
    }
    /// Overrides of the language settings.
    LocaleOverride of super::Internationalization { values: { locale: Locale }, parts: {} }
    /// Overrides of the header.
    HeaderOverride of super::Header {
        values: {
            preset: HeaderPreset, logo: Themed<Url>, primary_link: ContentRef, background_color: Themed<Color>,
            link_color: Themed<Color>, links: HeaderLinks,
        },
        parts: {}
    }
    /// Overrides of the footer.
    FooterOverride of super::Footer {
        values: { logo: Themed<Url>, groups: FooterGroups, copyright: Copyright }, parts: {}
    }
    /// Overrides of the light and dark theme settings.
    ThemesOverride of super::Themes { values: { default: ThemeMode, toggeable: bool }, parts: {} }
    /// Override of an on/off setting.
    EnabledOverride of super::Enabled { values: { enabled: bool }, parts: {} }
    /// Overrides of the Git repository links.
    GitOverride of super::GitLinks { values: { show_edit_link: bool }, parts: {} }
    /// Overrides of the external link settings.
    ExternalLinksOverride of super::ExternalLinks { values: { target: ExternalLinksTarget }, parts: {} }
    /// Override of a URL.
    UrlOverride of super::OptionalUrl { values: { url: Url }, parts: {} }
}

impl CustomizationOverride {
    /// Returns the override merged with a later update.
    #[must_use]
    pub fn updated_by(mut self, later: Self) -> Self {
        self.change(later);
        self
    }

    /// Returns the customization of the site with the overrides applied.
    #[must_use]
    pub fn apply_to(&self, mut site: Customization) -> Customization {
        let before = site.clone();
        self.cover(&mut site);
        site.completed(&before)
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
