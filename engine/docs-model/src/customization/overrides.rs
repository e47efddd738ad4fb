//! How a space on a site differs from its site.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    super::{Color, Patch, SiteTitle, Url},
    Announcement, Background, Copyright, Corners, Customization, Depth, ExternalLinksTarget, Favicon, Font,
    FooterGroups, HeaderLinks, HeaderPreset, IconsStyle, LinksStyle, Locale, MonospaceFont, SearchStyle,
    SidebarBackground, SidebarList, Theme, ThemeMode, Themed, Tint,
};

/// Declares the parts of an override: every value may be left out, `null`, or given.
macro_rules! parts {
    ($(
        $(#[$doc:meta])*
        $name:ident of $whole:ty { values: { $($value:ident: $type:ty),* $(,)? }, parts: { $($part:ident: $of:ty),* $(,)? } }
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        #[serde(rename_all = "camelCase", default)]
        #[expect(missing_docs, reason = "the names are those of the customization that it changes")]
        pub struct $name {
            $(#[serde(skip_serializing_if = "Patch::is_keep")]
            pub $value: Patch<$type>,)*
            $(#[serde(skip_serializing_if = "is_default")]
            pub $part: $of,)*
        }

        impl $name {
            /// Adds a later change: what it leaves out stays, what it says `null` of is as on the site again.
            fn change(&mut self, later: Self) {
                $(match later.$value {
                    Patch::Keep => {}
                    Patch::Clear => self.$value = Patch::Keep,
                    given @ Patch::Set(_) => self.$value = given,
                })*
                $(self.$part.change(later.$part);)*
            }

            /// Puts what is given in place of what the site says.
            fn cover(&self, whole: &mut $whole) {
                $(if let Patch::Set(value) = &self.$value {
                    whole.$value = value.clone().into();
                })*
                $(self.$part.cover(&mut whole.$part);)*
            }
        }
    )*};
}

parts! {
    /// How a space on a site differs from its site: `null` for what is as on the site again, what is left out stays.
    CustomizationOverride of Customization {
        values: { title: SiteTitle, favicon: Favicon, announcement: Announcement },
        parts: {
            styling: StylingOverride, internationalization: LocaleOverride, header: HeaderOverride,
            footer: FooterOverride, themes: ThemesOverride, pdf: EnabledOverride, feedback: EnabledOverride,
            git: GitOverride, external_links: ExternalLinksOverride, pagination: EnabledOverride,
            trademark: EnabledOverride, privacy_policy: UrlOverride, social_preview: UrlOverride,
        }
    }
    /// Other colours, fonts and shapes.
    StylingOverride of super::Styling {
        values: {
            theme: Theme, primary_color: Themed<Color>, tint: Tint, info_color: Themed<Color>,
            success_color: Themed<Color>, warning_color: Themed<Color>, danger_color: Themed<Color>,
            corners: Corners, depth: Depth, links: LinksStyle, font: Font, monospace_font: MonospaceFont,
            background: Background, icons: IconsStyle, search: SearchStyle,
        },
        parts: { sidebar: SidebarOverride }
    }
    /// Another side bar.
    SidebarOverride of super::Sidebar {
        values: { background: SidebarBackground, list: SidebarList }, parts: {}
    }
    /// Another language.
    LocaleOverride of super::Internationalization { values: { locale: Locale }, parts: {} }
    /// Another header.
    HeaderOverride of super::Header {
        values: {
            preset: HeaderPreset, logo: Themed<Url>, background_color: Themed<Color>,
            link_color: Themed<Color>, links: HeaderLinks,
        },
        parts: {}
    }
    /// Another footer.
    FooterOverride of super::Footer {
        values: { logo: Themed<Url>, groups: FooterGroups, copyright: Copyright }, parts: {}
    }
    /// Other surroundings.
    ThemesOverride of super::Themes { values: { default: ThemeMode, toggeable: bool }, parts: {} }
    /// Another position of a switch.
    EnabledOverride of super::Enabled { values: { enabled: bool }, parts: {} }
    /// Other links to the repository.
    GitOverride of super::GitLinks { values: { show_edit_link: bool }, parts: {} }
    /// Another place for external links.
    ExternalLinksOverride of super::ExternalLinks { values: { target: ExternalLinksTarget }, parts: {} }
    /// Another address.
    UrlOverride of super::OptionalUrl { values: { url: Url }, parts: {} }
}

impl CustomizationOverride {
    /// The override with a later change in it.
    #[must_use]
    pub fn changed(mut self, later: Self) -> Self {
        self.change(later);
        self
    }

    /// What the site's customization is with the override over it.
    #[must_use]
    pub fn over(&self, mut site: Customization) -> Customization {
        self.cover(&mut site);
        site
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
