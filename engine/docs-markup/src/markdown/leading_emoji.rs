//! Detection of an emoji at the beginning of a title.

/// Splits `text` into a leading emoji, with all of its code points, and the rest.
///
/// ```
/// use docs_markup::markdown::leading_emoji;
/// assert_eq!(leading_emoji("🚀 Start"), Some(("🚀", " Start")));
/// assert_eq!(leading_emoji("1️⃣ First"), Some(("1️⃣", " First")));
/// assert_eq!(leading_emoji("1 First"), None);
/// ```
#[must_use]
pub fn leading_emoji(text: &str) -> Option<(&str, &str)> {
    let mut end = element(text)?;
    // A joiner combines several emoji into one.
    while let Some(next) = text[end..].strip_prefix('\u{200d}').and_then(element) {
        end += '\u{200d}'.len_utf8() + next;
    }
    Some(text.split_at(end))
}

/// Returns the length of one emoji with its modifiers, excluding joined emoji.
fn element(text: &str) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    let (_, first) = chars.next()?;
    if is_flag_letter(first) {
        let (at, second) = chars.next().filter(|(_, c)| is_flag_letter(*c))?;
        return Some(at + second.len_utf8());
    }
    let shown_as_picture = chars.next_if(|(_, c)| *c == EMOJI_SELECTOR).is_some();
    if matches!(first, '0'..='9' | '#' | '*') {
        let (at, keycap) = chars.next().filter(|(_, c)| *c == KEYCAP)?;
        return Some(at + keycap.len_utf8());
    }
    let is_emoji = is_picture(first) || (shown_as_picture && may_be_picture(first));
    if !is_emoji {
        return None;
    }
    while chars.next_if(|(_, c)| matches!(c, SKIN_FIRST..=SKIN_LAST | TAG_FIRST..=TAG_LAST)).is_some() {}
    Some(chars.peek().map_or(text.len(), |(at, _)| *at))
}

/// The variation selector for emoji presentation.
const EMOJI_SELECTOR: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const SKIN_FIRST: char = '\u{1f3fb}';
const SKIN_LAST: char = '\u{1f3ff}';
const TAG_FIRST: char = '\u{e0020}';
const TAG_LAST: char = '\u{e007f}';

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

/// Returns `true` for characters with emoji presentation by default.
fn is_picture(c: char) -> bool {
    matches!(c,
        '\u{231a}'..='\u{231b}' | '\u{23e9}'..='\u{23ec}' | '\u{23f0}' | '\u{23f3}' | '\u{25fd}'..='\u{25fe}'
        | '\u{2614}'..='\u{2615}' | '\u{2648}'..='\u{2653}' | '\u{267f}' | '\u{2693}' | '\u{26a1}'
        | '\u{26aa}'..='\u{26ab}' | '\u{26bd}'..='\u{26be}' | '\u{26c4}'..='\u{26c5}' | '\u{26ce}' | '\u{26d4}'
        | '\u{26ea}' | '\u{26f2}'..='\u{26f3}' | '\u{26f5}' | '\u{26fa}' | '\u{26fd}' | '\u{2705}'
        | '\u{270a}'..='\u{270b}' | '\u{2728}' | '\u{274c}' | '\u{274e}' | '\u{2753}'..='\u{2755}' | '\u{2757}'
        | '\u{2795}'..='\u{2797}' | '\u{27b0}' | '\u{27bf}' | '\u{2b1b}'..='\u{2b1c}' | '\u{2b50}' | '\u{2b55}'
        | '\u{1f004}' | '\u{1f0cf}' | '\u{1f18e}' | '\u{1f191}'..='\u{1f19a}' | '\u{1f201}' | '\u{1f21a}'
        | '\u{1f22f}' | '\u{1f232}'..='\u{1f236}' | '\u{1f238}'..='\u{1f23a}' | '\u{1f250}'..='\u{1f251}'
        | '\u{1f300}'..='\u{1f64f}' | '\u{1f680}'..='\u{1f6ff}' | '\u{1f7e0}'..='\u{1f7eb}' | '\u{1f7f0}'
        | '\u{1f90c}'..='\u{1f93a}' | '\u{1f93c}'..='\u{1f945}' | '\u{1f947}'..='\u{1f9ff}'
        | '\u{1fa70}'..='\u{1faff}')
}

/// Returns `true` for characters with text presentation by default that support emoji presentation.
fn may_be_picture(c: char) -> bool {
    matches!(c,
        '\u{a9}' | '\u{ae}' | '\u{203c}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{2190}'..='\u{21ff}'
        | '\u{2300}'..='\u{23ff}' | '\u{24c2}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{3030}' | '\u{303d}' | '\u{3297}' | '\u{3299}'
        | '\u{1f100}'..='\u{1f2ff}')
}
