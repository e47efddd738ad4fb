//! Character encoding detection and decoding.

use docs_ports::Document;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};
use html5gum::{DefaultEmitter, StartTag, Token, Tokenizer};

/// Number of bytes of a page that are searched for an encoding declaration, as in the HTML standard.
const DECLARATION_BYTES: usize = 1024;

/// Decodes an HTML page. The encoding is taken from the byte order mark, the charset of the response, or the page's own
/// declaration, in this order. Otherwise it is UTF-8, or windows-1252 if the page is not UTF-8.
pub(crate) fn html(document: &Document) -> String {
    decode_bytes(
        &document.bytes,
        declared_encoding(document).or_else(|| find_declaration(&document.bytes, in_page)),
    )
}

/// Decodes any other text. The encoding is taken from the byte order mark or the charset of the response. Otherwise it
/// is UTF-8, or windows-1252 if the text is not UTF-8.
pub(crate) fn decode_text(document: &Document) -> String {
    decode_bytes(&document.bytes, declared_encoding(document))
}

/// Converts Markdown to UTF-8. Returns `None` if it already is, if it exceeds a number of bytes, or if it is not text.
pub(crate) fn to_utf8(bytes: &[u8], most: usize) -> Option<String> {
    if bytes.len() > most || str::from_utf8(bytes).is_ok() {
        return None;
    }
    // Text never contains NUL, while binary image and archive files do.
    Some(decode_bytes(bytes, None)).filter(|text| !text.contains('\0'))
}

/// Decodes an XML part of a document. The encoding is taken from the byte order mark or the XML declaration, otherwise
/// it is UTF-8.
pub(crate) fn xml(bytes: &[u8]) -> String {
    decode_bytes(bytes, find_declaration(bytes, in_declaration))
}

fn decode_bytes(bytes: &[u8], encoding: Option<&'static Encoding>) -> String {
    if let Some((marked, length)) = Encoding::for_bom(bytes) {
        let body = bytes.get(length..).unwrap_or_default();
        return marked.decode_without_bom_handling(body).0.into_owned();
    }
    let encoding = match encoding.unwrap_or(UTF_8) {
        // A few invalid bytes indicate damaged UTF-8, not another encoding.
        encoding if encoding == UTF_8 && !is_mostly_utf8(bytes) => WINDOWS_1252,
        encoding => encoding,
    };
    encoding.decode_without_bom_handling(bytes).0.into_owned()
}

/// Returns `true` if the text has no invalid sequences, or fewer of them than valid non-ASCII characters.
fn is_mostly_utf8(bytes: &[u8]) -> bool {
    let (mut right, mut wrong) = (0_usize, 0_usize);
    for chunk in bytes.utf8_chunks() {
        right += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        wrong += usize::from(!chunk.invalid().is_empty());
    }
    wrong == 0 || right > wrong
}

/// Returns the encoding for a label, or `None` for unknown and obsolete encodings.
fn encoding_for_label(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

fn declared_encoding(document: &Document) -> Option<&'static Encoding> {
    document.charset.as_deref().and_then(encoding_for_label)
}

/// Returns the encoding that a document declares in its first [`DECLARATION_BYTES`] bytes.
fn find_declaration(bytes: &[u8], find: fn(&str) -> Option<&'static Encoding>) -> Option<&'static Encoding> {
    let head = bytes.get(..DECLARATION_BYTES.min(bytes.len())).unwrap_or_default();
    // An XML declaration in UTF-16.
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    // The declaration is ASCII in every remaining encoding.
    let (head, _) = WINDOWS_1252.decode_without_bom_handling(head);
    Some(match find(&head)? {
        // A declaration that is readable as ASCII cannot be in UTF-16.
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        encoding if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    })
}

/// Returns the encoding in a `meta` element or an XML declaration.
fn in_page(head: &str) -> Option<&'static Encoding> {
    in_meta(head).or_else(|| in_declaration(head))
}

fn in_meta(head: &str) -> Option<&'static Encoding> {
    let mut emitter = DefaultEmitter::default();
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(head, emitter).find_map(|token| match token {
        Ok(Token::StartTag(tag)) if &tag.name[..] == b"meta" => meta_encoding(&tag),
        _ => None,
    })
}

fn meta_encoding(tag: &StartTag<()>) -> Option<&'static Encoding> {
    let attribute = |wanted: &[u8]| {
        let mut own = tag.attributes.iter();
        own.find(|(name, _)| &name[..] == wanted).map(|(_, value)| String::from_utf8_lossy(value))
    };
    if let Some(encoding) = attribute(b"charset").and_then(|label| encoding_for_label(&label)) {
        return Some(encoding);
    }
    let is_type = attribute(b"http-equiv")?.trim().eq_ignore_ascii_case("content-type");
    let content = attribute(b"content").filter(|_| is_type)?;
    encoding_for_label(assigned_value(&content, "charset")?)
}

fn in_declaration(head: &str) -> Option<&'static Encoding> {
    let (declaration, _) = head.strip_prefix("<?xml")?.split_once('>')?;
    encoding_for_label(assigned_value(declaration, "encoding")?)
}

/// Returns the value after a name and `=`, with or without quotation marks.
fn assigned_value<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let lower = text.to_ascii_lowercase();
    lower.match_indices(name).find_map(|(at, _)| {
        let value = text.get(at + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
        match value.chars().next()? {
            mark @ ('"' | '\'') => value.get(1..)?.split_once(mark).map(|(value, _)| value),
            _ => value.split(|c: char| c == ';' || c.is_whitespace()).next(),
        }
    })
}

#[cfg(test)]
mod tests {
    use docs_ports::DocumentFormat;
    use encoding_rs::{BIG5, EUC_JP, GB18030, GBK, ISO_2022_JP, KOI8_R, SHIFT_JIS, WINDOWS_1251};
    use proptest::prelude::*;

    use super::*;

    fn page(bytes: impl Into<Vec<u8>>, charset: Option<&str>) -> Document {
        Document {
            format: DocumentFormat::Html,
            bytes: bytes.into().into(),
            name: String::new(),
            url: None,
            charset: charset.map(str::to_owned),
        }
    }

    #[test]
    fn page_is_decoded_with_its_declared_charset() {
        for (encoding, label, words) in [
            (SHIFT_JIS, "Shift_JIS", "設定ガイド"),
            (EUC_JP, "euc-jp", "設定ガイド"),
            (ISO_2022_JP, "iso-2022-jp", "設定ガイド"),
            (KOI8_R, "KOI8-R", "Настройка"),
            (WINDOWS_1251, "windows-1251", "Настройка"),
            (GBK, "GBK", "设置指南"),
            (GB18030, "gb18030", "设置指南"),
            (BIG5, "big5", "設定指南"),
            (WINDOWS_1252, "iso-8859-1", "Größe – 5 €"),
            (UTF_8, "utf-8", "Größe – 設定"),
        ] {
            for text in [
                format!("<!DOCTYPE html><META CHARSET={label}><title>{words}</title>"),
                format!("<head><!-- <meta charset=koi8-u> --><meta charset=' {label} '>{words}"),
                format!("<meta http-equiv='Content-Type' content='text/html; charset={label}'>{words}"),
                format!("<meta content='text/html;charset=\"{label}\"' http-equiv=content-type>{words}"),
                format!("<?xml version=\"1.0\" encoding=\"{label}\"?><html><p>{words}"),
            ] {
                let (bytes, used, broken) = encoding.encode(&text);
                assert!(used == encoding && !broken, "{text}");
                assert_eq!(html(&page(&*bytes, None)), text, "{label}");
            }
            let bytes = encoding.encode(words).0;
            assert_eq!(html(&page(&*bytes, Some(label))), words, "{label}");
            assert_eq!(decode_text(&page(&*bytes, Some(label))), words, "{label}");
        }
    }

    #[test]
    fn bom_precedes_response_charset_precedes_page_declaration() {
        let text = "<meta charset=koi8-r>ж";
        let utf_8 = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert_eq!(html(&page(utf_8, Some("shift_jis"))), text);
        let little: Vec<u8> = "\u{feff}ж".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = "\u{feff}ж".encode_utf16().flat_map(u16::to_be_bytes).collect();
        for wide in [little, big] {
            assert_eq!(html(&page(wide.clone(), Some("utf-8"))), "ж");
            assert_eq!(decode_text(&page(wide, Some("windows-1252"))), "ж");
        }
        let (bytes, ..) = WINDOWS_1251.encode(text);
        assert_eq!(html(&page(&*bytes, Some("windows-1251"))), text);
        // Unknown and obsolete labels are ignored.
        let (bytes, ..) = KOI8_R.encode(text);
        assert_eq!(html(&page(&*bytes, Some("klingon"))), text);
        assert_eq!(html(&page(&*bytes, Some("iso-2022-kr"))), text);
    }

    #[test]
    fn utf16_is_detected_by_xml_declaration_or_content_type() {
        let text = "<?xml version=\"1.0\" encoding=\"utf-16\"?><p>ж</p>";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for wide in [little, big] {
            assert_eq!(html(&page(wide.clone(), None)), text);
            assert_eq!(xml(&wide), text);
        }
        let text = "<?xml version='1.0' encoding='windows-1251'?><w:t>ж <meta charset=koi8-r></w:t>";
        assert_eq!(xml(&WINDOWS_1251.encode(text).0), text);
        let wide: Vec<u8> = "ж".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(html(&page(wide, Some("utf-16"))), "ж");
        // A page whose declaration is readable as ASCII is not UTF-16.
        assert_eq!(html(&page("<meta charset=utf-16>ж", None)), "<meta charset=utf-16>ж");
        assert_eq!(
            html(&page(b"<meta charset=x-user-defined>\x80".to_vec(), None)),
            "<meta charset=x-user-defined>€"
        );
    }

    #[test]
    fn late_or_invalid_charset_declarations_are_ignored() {
        let word = WINDOWS_1252.encode("Größe").0;
        for before in [
            format!("{}<meta charset=koi8-r>", " ".repeat(DECLARATION_BYTES)),
            format!("{}<meta charset=koi8-r>", " ".repeat(DECLARATION_BYTES - 10)),
            "<p title='<meta charset=koi8-r>'>".to_owned(),
            "<script>'<meta charset=koi8-r>'</script>".to_owned(),
            "<!-- <meta charset=koi8-r> -->".to_owned(),
            "<meta name=charset content='charset=koi8-r'>".to_owned(),
            "<meta http-equiv=refresh content='charset=koi8-r'>".to_owned(),
            "<meta http-equiv=content-type content='charset'>".to_owned(),
            "<meta http-equiv=content-type content='charset=\"koi8-r'>".to_owned(),
            "<meta charset=klingon>".to_owned(),
            " <?xml encoding='koi8-r'?>".to_owned(),
        ] {
            let bytes = [before.as_bytes(), &*word].concat();
            assert_eq!(html(&page(bytes, None)), format!("{before}Größe"));
        }
    }

    #[test]
    fn invalid_byte_in_utf8_text_does_not_change_the_encoding() {
        let bytes = [&b"Gr\xc3\xb6\xc3\x9fe \xff"[..], "äöü".as_bytes()].concat();
        for told in [None, Some("utf-8")] {
            assert_eq!(decode_text(&page(bytes.clone(), told)), "Größe \u{fffd}äöü");
            assert_eq!(decode_text(&page(b"Gr\xf6\xdfe 5 \x80".to_vec(), told)), "Größe 5 €");
        }
    }

    proptest! {
        #[test]
        fn decoding_arbitrary_bytes_has_bounded_output(
            bytes in prop::collection::vec(any::<u8>(), 0..300),
            label in prop::sample::select(&["utf-8", "utf-16", "shift_jis", "gb18030", "iso-2022-jp", "x"][..]),
        ) {
            let document = page(bytes, Some(label));
            let (text, _) = (html(&document), decode_text(&document));
            prop_assert!(text.len() <= 3 * document.bytes.len() + 3);
        }
    }
}
