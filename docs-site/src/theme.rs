//! How a site looks, as a style sheet and an icon of its own: colours may not stand in pages, where the policy of
//! pages refuses styles.

use std::fmt::Write as _;

use docs_core::model::{
    Color, Corners, Customization, Depth, LinksStyle, SidebarBackground, SidebarList, Themed,
};

use crate::xml::escaped;

/// The style sheet of a site's settings.
pub(crate) fn style_sheet(look: &Customization) -> String {
    let styling = &look.styling;
    let mut light = String::new();
    let mut dark = String::new();
    let mut add = |name: &str, colors: &Themed<Color>| {
        // Writing to a String cannot fail.
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
        ":root{{{light}}}html[data-theme=dark]{{{dark}}}\
         @media(prefers-color-scheme:dark){{html[data-theme=auto]{{{dark}}}}}\n"
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
    css
}

/// The icon of a site that has no picture: its emoji, else the first letter of its title on its colour.
pub(crate) fn icon(look: &Customization, title: &str) -> String {
    let start = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 32 32\">";
    match &look.favicon.emoji {
        Some(emoji) => format!(
            "{start}<text x=\"16\" y=\"25\" font-size=\"26\" text-anchor=\"middle\">{}</text></svg>",
            escaped(emoji.as_str())
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
                escaped(&letter.to_uppercase().to_string())
            )
        }
    }
}

/// The colour of text that can be read on another.
fn text_on(color: &Color) -> &'static str {
    let digits = color.as_str().trim_start_matches('#');
    let channel = |at: usize| {
        let hex = match digits.len() {
            3 => digits.get(at..=at).map(|digit| digit.repeat(2)),
            _ => digits.get(2 * at..2 * at + 2).map(str::to_owned),
        };
        let value = hex.and_then(|hex| u8::from_str_radix(&hex, 16).ok()).unwrap_or_default();
        let value = f64::from(value) / 255.0;
        // Relative luminance, as WCAG has it.
        if value <= 0.039_28 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * channel(0) + 0.7152 * channel(1) + 0.0722 * channel(2);
    // The contrast that WCAG asks of large letters.
    let contrast_of_white = 1.05 / (luminance + 0.05);
    if contrast_of_white >= 3.0 { "#fff" } else { "#111" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_can_be_read_on_its_colour() {
        for (color, on) in
            [("#fff", "#111"), ("#000", "#fff"), ("#346DDB", "#fff"), ("#FE9A00", "#111"), ("#ff0", "#111")]
        {
            assert_eq!(text_on(&Color::new(color).expect("a colour")), on, "{color}");
        }
    }

    #[test]
    fn the_icon_of_a_site_holds_no_markup_of_its_title() {
        let icon = icon(&Customization::default(), "<script>");
        assert!(icon.contains(">S</text>") && !icon.contains("<script"), "{icon}");
    }
}
