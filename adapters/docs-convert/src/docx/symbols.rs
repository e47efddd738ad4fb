//! Characters of symbol fonts.

use super::xml::Element;

/// First character of the range in which symbol fonts are encoded in Unicode.
const SYMBOL_RANGE: u32 = 0xf000;

/// Returns the Unicode character of a symbol element, or `None` if it is not known.
pub(super) fn symbol(symbol: Element<'_>) -> Option<char> {
    let font = symbol.attribute("font").unwrap_or_default();
    let code = u32::from_str_radix(symbol.attribute("char")?, 16).ok()?;
    of_font(font, code)
}

/// Returns text with the characters of a symbol font replaced, or `None` if the font is not one.
pub(super) fn text_in_font(font: &str, text: &str) -> Option<String> {
    is_symbol_font(font).then_some(())?;
    Some(text.chars().map(|c| of_font(font, u32::from(c)).unwrap_or(c)).collect())
}

fn is_symbol_font(font: &str) -> bool {
    matches!(font.to_ascii_lowercase().as_str(), "symbol" | "wingdings" | "wingdings 2" | "webdings")
}

fn of_font(font: &str, code: u32) -> Option<char> {
    let place = match code {
        SYMBOL_RANGE..=0xf0ff => code - SYMBOL_RANGE,
        0..=0xff => code,
        _ => return char::from_u32(code),
    };
    let table: &[(u32, &str)] = match font.to_ascii_lowercase().as_str() {
        "symbol" => &SYMBOL,
        "wingdings" => &WINGDINGS,
        "wingdings 2" => &WINGDINGS_2,
        "webdings" => &WEBDINGS,
        _ if code < SYMBOL_RANGE => return char::from_u32(code),
        _ => return None,
    };
    let (start, characters) = table.iter().rev().find(|(start, _)| *start <= place)?;
    let found = characters.chars().nth(usize::try_from(place - start).ok()?)?;
    Some(found).filter(|c| *c != '\u{fffd}')
}

/// Characters of the font Symbol: the code of the first character, and consecutive characters. U+FFFD marks unknown
/// ones.
const SYMBOL: [(u32, &str); 2] = [
    (0x20, " !∀#∃%&∍()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"),
    (
        0xa0,
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑⎛⎜⎝⎡⎢⎣⎧⎨⎩⎪\u{fffd}⟩∫⌠⎮⌡⎞⎟⎠⎤⎥⎦⎫⎬⎭",
    ),
];

/// Characters of the font Wingdings.
const WINGDINGS: [(u32, &str); 17] = [
    (0x20, " ✏✂✁👓🔔📖🕯☎✆✉📨📪📫📬📭📁📂📄📃📑🗄⌛⌨🖰🖲💻🖴💾🖬✇✍"),
    (0x40, "🖎✌👌👍👎☜☞☝☟✋☺😐☹💣☠🏳"),
    (0x50, "🏱✈☼💧❄🕆✞🕈✠✡☪☯ॐ☸♈♉"),
    (0x60, "♊♋♌♍♎♏♐♑♒♓&&●❍■□"),
    (0x70, "□❑❒⬧◆◆❖⬥☒⍓⌘🏵🏶❝❞"),
    (0x80, "⓪①②③④⑤⑥⑦⑧⑨⑩⓿❶❷❸❹"),
    (0x90, "❺❻❼❽❾❿"),
    (0x9e, "·•"),
    (0xa1, "○"),
    (0xa4, "◉◎"),
    (0xa7, "▪◻"),
    (0xaa, "✦★✶✴✹✵"),
    (0xb7, "🕐🕑🕒🕓🕔🕕🕖🕗🕘🕙🕚🕛"),
    (0xd5, "⌫⌦\u{fffd}➢"),
    (0xdf, "←→↑↓↖↗↙↘⬅➔⬆⬇"),
    (0xef, "⇦⇨⇧⇩⬄⇳"),
    (0xfb, "✗✔☒☑"),
];

/// Characters of the font Wingdings 2.
const WINGDINGS_2: [(u32, &str); 2] = [(0x4f, "✗✓☒☑"), (0xa3, "☐")];

/// Characters of the font Webdings.
const WEBDINGS: [(u32, &str); 2] = [(0x61, "✔"), (0x72, "✗")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_of_symbol_fonts_are_unicode() {
        for (font, code, expected) in [
            ("Symbol", 0xf061, Some('α')),
            ("Symbol", 0xf0b3, Some('≥')),
            ("Symbol", 0xf0fe, Some('⎭')),
            ("Symbol", 0x7e, Some('∼')),
            ("Symbol", 0xf0f0, None),
            ("Wingdings", 0xf0fc, Some('✔')),
            ("Wingdings", 0xf0e0, Some('→')),
            ("Wingdings", 0xf0c3, None),
            ("Wingdings 2", 0xf050, Some('✓')),
            ("Arial", 0x2265, Some('≥')),
            ("Other", 0xf041, None),
        ] {
            assert_eq!(of_font(font, code), expected, "{font} {code:x}");
        }
        assert_eq!(text_in_font("Symbol", "\u{f061}b").as_deref(), Some("αβ"));
        assert_eq!(text_in_font("Arial", "ab"), None);
    }
}
