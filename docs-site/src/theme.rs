//! The theme of a site, as a separate style sheet and icon. The content security policy forbids inline styles, so pages
//! cannot contain colors.

use std::fmt::Write as _;

use docs_core::model::{
    Background, Color, Corners, Customization, DefaultFont, DefaultMonospaceFont, Depth, Font, FontOr,
    HeaderPreset, LinksStyle, SearchStyle, SidebarBackground, SidebarList, Theme, Themed,
};
use serde::Serialize;

use crate::{assets::hashed_name, tagged_bytes::TaggedBytes, xml::escape};

/// The rendered style sheet of a site's customization.
#[derive(Clone, Debug)]
pub(crate) struct StyleSheet {
    /// The last segment of the style sheet's URL. It depends on the content.
    pub(crate) name: String,
    pub(crate) body: TaggedBytes,
}

impl StyleSheet {
    pub(crate) fn new(look: &Customization) -> Self {
        let body = TaggedBytes::new(style_sheet(look));
        Self { name: hashed_name("theme", "css", &body), body }
    }
}

/// Returns the style sheet of a customization.
fn style_sheet(look: &Customization) -> String {
    let styling = &look.styling;
    let mut light = String::new();
    let mut dark = String::new();
    let mut add = |name: &str, colors: &Themed<Color>| {
        // Writing to a `String` cannot fail.
        let _ = write!(light, "--{name}:{};", colors.light.as_str());
        let _ = write!(dark, "--{name}:{};", colors.dark.as_str());
    };
    add("primary", &styling.primary_color);
    add("info", &styling.info_color);
    add("success", &styling.success_color);
    add("warning", &styling.warning_color);
    add("danger", &styling.danger_color);
    if let Some(tint) = &styling.tint {
        add("tint", &tint.color);
    }
    let _ = write!(light, "--on-primary:{};", text_on(&styling.primary_color.light));
    let _ = write!(dark, "--on-primary:{};", text_on(&styling.primary_color.dark));
    let radius = match styling.corners {
        Corners::Rounded => "8px",
        Corners::Straight => "0",
        Corners::Circular => "16px",
    };
    let shadow = match styling.depth {
        Depth::Subtle => "0 1px 2px rgb(0 0 0/.06)",
        Depth::Flat => "none",
    };
    let _ = write!(light, "--radius:{radius};--shadow:{shadow};");
    let mut css = format!(
        ":root{{{light}}}html[data-theme=dark]{{{dark}}}\n\
         @media(prefers-color-scheme:dark){{html[data-theme=system]{{{dark}}}}}\n"
    );
    if styling.links == LinksStyle::Accent {
        css.push_str("article a:not(.button):not(.card){font-weight:600}\n");
    }
    if styling.sidebar.background == SidebarBackground::Filled {
        css.push_str(".tree{background:var(--soft)}\n");
    }
    match styling.sidebar.list {
        SidebarList::Default => {}
        SidebarList::Pill => css.push_str(".tree a[aria-current]{border-radius:99px}\n"),
        SidebarList::Line => {
            css.push_str(".tree a[aria-current]{background:none;border-radius:0;");
            css.push_str("box-shadow:inset 2px 0 var(--primary)}\n");
        }
    }
    if styling.search == SearchStyle::Prominent {
        css.push_str(
            ".find{width:min(460px,46vw)}.find input{border-color:var(--primary);box-shadow:var(--shadow)}\n",
        );
    }
    css.push_str(background_color(look));
    header(look, &mut css);
    fonts(look, &mut css);
    css
}

/// Returns the background of a theme, tinted if the site has a tint.
fn background_color(look: &Customization) -> &'static str {
    let is_tinted = look.styling.tint.is_some();
    match (look.styling.theme, look.styling.background, is_tinted) {
        (Theme::Gradient, _, _) => {
            "body{background:linear-gradient(color-mix(in srgb,var(--primary) 12%,var(--back)),var(--back) 420px)}\n"
        }
        (Theme::Muted, _, true) => {
            "body,.side .tree{background:color-mix(in srgb,var(--tint) 6%,var(--soft))}.top{background:var(--back)}\n"
        }
        (Theme::Muted, _, false) => "body{background:var(--soft)}.top{background:var(--back)}\n",
        (_, Background::Match, _) => "body{background:color-mix(in srgb,var(--primary) 4%,var(--back))}\n",
        (_, Background::Plain, true) => "body{background:color-mix(in srgb,var(--tint) 3%,var(--back))}\n",
        (_, Background::Plain, false) => "",
    }
}

/// Writes the colors of the header.
fn header(look: &Customization, css: &mut String) {
    const INNER: &str = ".top .brand,.top .open-links,.top .links>a:not(.button),.top .menu>summary";
    let preset = match (look.header.preset, look.styling.theme) {
        (HeaderPreset::Default, Theme::Bold) => HeaderPreset::Bold,
        (preset, _) => preset,
    };
    // Writing to a `String` cannot fail.
    let _ = match preset {
        HeaderPreset::Default => Ok(()),
        HeaderPreset::Bold => {
            writeln!(css, ".top{{background:var(--primary)}}{INNER}{{color:var(--on-primary)}}")
        }
        HeaderPreset::Contrast => writeln!(css, ".top{{background:var(--text)}}{INNER}{{color:var(--back)}}"),
        HeaderPreset::None => writeln!(css, ".top .brand,.top .links,.top .open-links{{display:none}}"),
        HeaderPreset::Custom => {
            let own = |colors: &Option<Themed<Color>>, fall_back: &str| match colors {
                Some(of) => format!("light-dark({},{})", of.light.as_str(), of.dark.as_str()),
                None => fall_back.to_owned(),
            };
            let back = own(&look.header.background_color, "var(--back)");
            let front = own(&look.header.link_color, "inherit");
            writeln!(css, ".top{{background:{back}}}{INNER}{{color:{front}}}")
        }
    };
}

/// Writes the font families. Only fonts installed on the reader's device are used; pages load no external fonts.
fn fonts(look: &Customization, css: &mut String) {
    let (text, rest) = text_family(&look.styling.font);
    let code = match &look.styling.monospace_font {
        FontOr::Named(font) => font_family_name::<DefaultMonospaceFont>(font),
        FontOr::Defined(font) => font.font_family.as_str().to_owned(),
    };
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        css,
        ":root{{--sans:\"{}\",{rest};--mono:\"{}\",{MONO}}}",
        sanitize_family(&text),
        sanitize_family(&code)
    );
    if let Some(font) = &look.styling.heading_font {
        let (text, rest) = text_family(font);
        let _ = writeln!(css, "h1,h2,h3,h4,h5,h6{{font-family:\"{}\",{rest}}}", sanitize_family(&text));
    }
}

/// Returns the name of a text font and its fallback fonts.
fn text_family(font: &Font) -> (String, &'static str) {
    let serif = [DefaultFont::RobotoSlab, DefaultFont::Merriweather, DefaultFont::IbmPlexSerif];
    match font {
        FontOr::Named(font) if serif.contains(font) => {
            (font_family_name(font), "Georgia,\"Noto Serif\",serif")
        }
        FontOr::Named(font) => (font_family_name(font), SANS),
        FontOr::Defined(font) => (font.font_family.as_str().to_owned(), SANS),
    }
}

/// The fallback fonts.
const SANS: &str = "system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",\"Noto Sans\",sans-serif";
/// The fallback fonts for code.
const MONO: &str = "ui-monospace,SFMono-Regular,Menlo,Consolas,\"Liberation Mono\",monospace";

/// Returns the name of a font family with spaces: `IBMPlexMono` becomes `IBM Plex Mono`.
fn font_family_name<F: Serialize>(font: &F) -> String {
    let name =
        serde_json::to_value(font).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default();
    let chars: Vec<char> = name.chars().collect();
    let mut out = String::new();
    for (at, c) in chars.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| chars.get(at));
        let behind = chars.get(at + 1);
        let begins = c.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || behind.is_some_and(|behind| behind.is_lowercase())
            });
        if begins {
            out.push(' ');
        }
        out.push(*c);
    }
    out
}

/// Removes characters that cannot occur within a quoted font name.
fn sanitize_family(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect()
}

/// Returns the icon of a site without an icon image: its emoji, otherwise the first letter of its title on the primary
/// color.
pub(crate) fn icon(look: &Customization, title: &str) -> String {
    let start = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\">";
    match &look.favicon.emoji {
        Some(emoji) => format!(
            "{start}<text x=\"16\" y=\"25\" font-size=\"26\" text-anchor=\"middle\">{}</text></svg>",
            escape(emoji.as_str())
        ),
        None => {
            let letter = title.chars().find(|c| c.is_alphanumeric()).unwrap_or('·');
            let color = &look.styling.primary_color.light;
            format!(
                "{start}<rect width=\"32\" height=\"32\" rx=\"7\" fill=\"{}\"/><text x=\"16\" y=\"23\" \
                 font-family=\"system-ui,sans-serif\" font-size=\"20\" font-weight=\"700\" text-anchor=\"middle\" \
                 fill=\"{}\">{}</text></svg>",
                color.as_str(),
                text_on(color),
                escape(&letter.to_uppercase().to_string())
            )
        }
    }
}

/// Returns a text color with sufficient contrast to a background.
fn text_on(color: &Color) -> &'static str {
    let digits = color.as_str().trim_start_matches('#');
    let channel = |at: usize| {
        let hex = match digits.len() {
            3 => digits.get(at..=at).map(|digit| digit.repeat(2)),
            _ => digits.get(2 * at..2 * at + 2).map(str::to_owned),
        };
        let value = hex.and_then(|hex| u8::from_str_radix(&hex, 16).ok()).unwrap_or_default();
        let value = f64::from(value) / 255.0;
        // Relative luminance as defined by WCAG.
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2);
    // The contrast that WCAG requires for large text.
    let contrast_of_white = 1.05 / (luminance + 0.05);
    if contrast_of_white >= 3.0 { "#fff" } else { "#111" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_color_contrasts_with_its_background() {
        for (color, on) in
            [("#fff", "#111"), ("#000", "#fff"), ("#346DDB", "#fff"), ("#FE9A00", "#111"), ("#ff0", "#111")]
        {
            assert_eq!(text_on(&Color::new(color).expect("a colour")), on, "{color}");
        }
    }

    #[test]
    fn font_names_are_spaced_and_sanitized() {
        assert_eq!(font_family_name(&DefaultMonospaceFont::IbmPlexMono), "IBM Plex Mono");
        assert_eq!(font_family_name(&DefaultFont::SourceSansPro), "Source Sans Pro");
        assert_eq!(font_family_name(&DefaultFont::Inter), "Inter");
        assert_eq!(sanitize_family("x\"}body{display:none"), "xbodydisplaynone");
    }

    #[test]
    fn every_styling_option_changes_the_style_sheet() {
        let plain = style_sheet(&Customization::default());
        let color = Color::new("#123456").expect("a colour");
        let both = Themed { light: color.clone(), dark: color };
        let changes: [fn(&mut Customization, &Themed<Color>); 14] = [
            |look, both| look.styling.primary_color = both.clone(),
            |look, both| look.styling.tint = Some(docs_core::model::Tint { color: both.clone() }),
            |look, _| look.styling.theme = Theme::Muted,
            |look, _| look.styling.theme = Theme::Bold,
            |look, _| look.styling.theme = Theme::Gradient,
            |look, _| look.styling.background = Background::Match,
            |look, _| look.styling.corners = Corners::Straight,
            |look, _| look.styling.depth = Depth::Flat,
            |look, _| look.styling.links = LinksStyle::Accent,
            |look, _| look.styling.search = SearchStyle::Prominent,
            |look, _| look.styling.sidebar.list = SidebarList::Pill,
            |look, _| look.header.preset = HeaderPreset::Contrast,
            |look, _| look.styling.font = FontOr::Named(DefaultFont::Merriweather),
            |look, both| {
                look.header.preset = HeaderPreset::Custom;
                look.header.background_color = Some(both.clone());
            },
        ];
        let mut sheets = vec![plain];
        for change in changes {
            let mut look = Customization::default();
            change(&mut look, &both);
            let sheet = style_sheet(&look);
            assert!(!sheets.contains(&sheet), "{sheet}");
            sheets.push(sheet);
        }
    }

    #[test]
    fn site_icon_contains_no_markup_from_the_title() {
        let icon = icon(&Customization::default(), "<script>");
        assert!(icon.contains(">S</text>") && !icon.contains("<script"), "{icon}");
    }
}
