//! Bytes of documents as text.

/// Bytes as text: UTF-8, UTF-16 with its mark, else what old pages are in.
pub(crate) fn decode(bytes: &[u8]) -> String {
    if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
        return String::from_utf8_lossy(rest).into_owned();
    }
    let wide = |rest: &[u8], unit: fn([u8; 2]) -> u16| {
        let (pairs, _) = rest.as_chunks::<2>();
        let units = pairs.iter().map(|pair| unit(*pair));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
    };
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        return wide(rest, u16::from_le_bytes);
    }
    if let Some(rest) = bytes.strip_prefix(b"\xfe\xff") {
        return wide(rest, u16::from_be_bytes);
    }
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        // A few broken bytes in a text of UTF-8 are damage, and not another encoding.
        Err(_) if is_mostly_utf8(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Err(_) => bytes.iter().map(|byte| windows_1252(*byte)).collect(),
    }
}

/// Tells whether more characters beyond ASCII are right than wrong.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    right > wrong
}

/// The characters of Windows where Latin-1 has none that can be seen.
const C1: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => C1[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

/// Text with every run of white space as one space, and none at its ends.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
