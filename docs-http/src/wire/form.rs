//! Streaming parser for `multipart/form-data` (RFC 7578). It buffers at most [`CHUNK_BYTES`] bytes and the head of a
//! part.

use bytes::{Bytes, BytesMut};
use percent_encoding::percent_decode_str;

use super::{chunks::Chunks, error::ApiError};

/// Number of bytes processed at once.
const CHUNK_BYTES: usize = 64 * 1024;
/// Maximum number of bytes before the first boundary, and in the head of a part.
const MAX_HEAD_BYTES: usize = 8 * 1024;
/// Maximum length of a boundary (RFC 2046, 5.1.1).
const MAX_BOUNDARY: usize = 70;
const LINE_END: &[u8] = b"\r\n";

/// The head of a part.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct FormPart {
    /// Name of the field.
    pub(crate) name: String,
    /// File name, if the field contains a file.
    pub(crate) file_name: Option<String>,
    pub(crate) content_type: Option<String>,
}

/// A form being read: the head of a part, its bytes, then the next part.
pub(crate) struct Form {
    chunks: Chunks,
    /// Received bytes that are not yet buffered.
    incoming: Bytes,
    buffer: BytesMut,
    /// The delimiter that ends a part.
    delimiter: Vec<u8>,
    /// The bytes of a part have been read, and a delimiter follows.
    is_at_delimiter: bool,
}

impl Form {
    pub(crate) fn new(chunks: Chunks, boundary: &str) -> Self {
        // The first boundary may be at the beginning of the body, so prepend the line break that is part of the
        // delimiter.
        let buffer = BytesMut::from(LINE_END);
        let delimiter = [b"\r\n--", boundary.as_bytes()].concat();
        Self { chunks, incoming: Bytes::new(), buffer, delimiter, is_at_delimiter: false }
    }

    /// Returns the head of the next part, or `None` after the last one. Unread bytes of the previous part are skipped.
    ///
    /// # Errors
    ///
    /// 400 for a malformed or truncated form.
    pub(crate) async fn next_part(&mut self) -> Result<Option<FormPart>, ApiError> {
        let mut skipped = 0;
        while let Some(bytes) = self.next_bytes().await? {
            skipped += bytes.len();
            if skipped > MAX_HEAD_BYTES {
                return Err(ApiError::invalid("the form: must begin with its boundary"));
            }
        }
        let delimiter = self.delimiter.len();
        while self.buffer.len() < delimiter + LINE_END.len() {
            self.fill_buffer().await?;
        }
        if self.buffer[delimiter..].starts_with(b"--") {
            return Ok(None);
        }
        // The rest of the boundary line, the head, and the empty line after it.
        let end = loop {
            let line = find(&self.buffer[delimiter..], LINE_END).map(|at| at + delimiter);
            if let Some(end) = line.and_then(|line| Some(find(&self.buffer[line..], b"\r\n\r\n")? + line)) {
                break end;
            }
            if self.buffer.len() > delimiter + MAX_HEAD_BYTES {
                return Err(ApiError::invalid("the form: the header of a part is too long"));
            }
            self.fill_buffer().await?;
        };
        let head = self.buffer.split_to(end + 2 * LINE_END.len());
        self.is_at_delimiter = false;
        let wrong = || ApiError::invalid("the form: the header of a part is malformed");
        let head = std::str::from_utf8(&head[delimiter..]).map_err(|_| wrong())?;
        parse_part(head).map(Some).ok_or_else(wrong)
    }

    /// Returns the next bytes of the part, or `None` at its end.
    ///
    /// # Errors
    ///
    /// 400 for a truncated form.
    pub(crate) async fn next_bytes(&mut self) -> Result<Option<Bytes>, ApiError> {
        while !self.is_at_delimiter {
            let found = find(&self.buffer, &self.delimiter);
            self.is_at_delimiter = found.is_some();
            // The buffer may end with a prefix of the delimiter.
            let done = found.unwrap_or_else(|| (self.buffer.len() + 1).saturating_sub(self.delimiter.len()));
            if done > 0 {
                return Ok(Some(self.buffer.split_to(done).freeze()));
            }
            if !self.is_at_delimiter {
                self.fill_buffer().await?;
            }
        }
        Ok(None)
    }

    /// Receives and buffers more bytes of the form.
    async fn fill_buffer(&mut self) -> Result<(), ApiError> {
        while self.incoming.is_empty() {
            let more = self.chunks.next().await?;
            self.incoming = more.ok_or_else(|| ApiError::invalid("the form: must end with its boundary"))?;
        }
        let step = self.incoming.split_to(self.incoming.len().min(CHUNK_BYTES));
        self.buffer.extend_from_slice(&step);
        Ok(())
    }
}

/// Returns the offset of a byte sequence.
fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    let first = wanted.first()?;
    let mut at = 0;
    while let Some(found) = bytes.get(at..)?.iter().position(|byte| byte == first) {
        at += found;
        if bytes[at..].starts_with(wanted) {
            return Some(at);
        }
        at += 1;
    }
    None
}

/// Returns the boundary parameter of a media type.
pub(crate) fn boundary(media_type: &str) -> Option<String> {
    let boundary = parse_parameters(media_type).into_iter().find(|(name, _)| name == "boundary")?.1;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&byte);
    let fits = (1..=MAX_BOUNDARY).contains(&boundary.len()) && !boundary.ends_with(' ');
    (fits && boundary.bytes().all(is_plain)).then_some(boundary)
}

/// Parses the head of a part, from its boundary to the empty line.
fn parse_part(head: &str) -> Option<FormPart> {
    let mut lines = head.split("\r\n");
    // Only white space may follow a boundary.
    lines.next().filter(|rest| rest.trim().is_empty())?;
    let (mut part, mut is_named) = (FormPart::default(), false);
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':')?;
        if name.eq_ignore_ascii_case("content-disposition") {
            let kind = value.split(';').next().unwrap_or_default().trim();
            if !kind.eq_ignore_ascii_case("form-data") || is_named {
                return None;
            }
            is_named = true;
            for (name, value) in parse_parameters(value) {
                match name.as_str() {
                    "name" => part.name = unescape(&value),
                    // The extended form, which states a character set, takes precedence.
                    "filename" if part.file_name.is_none() => part.file_name = Some(unescape(&value)),
                    "filename*" => part.file_name = Some(decode_extended(&value)?),
                    _ => {}
                }
            }
        } else if name.eq_ignore_ascii_case("content-type") {
            if part.content_type.is_some() {
                return None;
            }
            part.content_type = Some(value.trim().to_owned());
        }
    }
    is_named.then_some(part)
}

/// Parses the parameters of a header value, with names in lower case. Malformed parameters are dropped.
fn parse_parameters(header: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = header.split_once(';').map_or("", |(_, rest)| rest);
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_start_matches([';', ' ', '\t']).trim_end().to_ascii_lowercase();
        let (value, after) = match after.trim_start().strip_prefix('"') {
            Some(quoted) => parse_quoted(quoted),
            None => {
                let (value, after) = after.split_once(';').unwrap_or((after, ""));
                (value.trim().to_owned(), after)
            }
        };
        found.push((name, value));
        rest = after;
    }
    found
}

/// Parses a quoted string after its opening quote, and returns the remaining text. A backslash escapes only a quote or
/// a backslash; elsewhere it is literal, as in the Windows paths that some clients send.
fn parse_quoted(text: &str) -> (String, &str) {
    let (mut value, mut chars) = (String::new(), text.char_indices().peekable());
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return (value, &text[at + 1..]),
            '\\' => match chars.next_if(|(_, next)| matches!(next, '"' | '\\')) {
                Some((_, escaped)) => value.push(escaped),
                None => value.push(c),
            },
            _ => value.push(c),
        }
    }
    (value, "")
}

/// Decodes the characters that browsers escape: quotes and line breaks.
fn unescape(value: &str) -> String {
    value.replace("%22", "\"").replace("%0D", "\r").replace("%0A", "\n")
}

/// Decodes an extended value in UTF-8 (RFC 8187): `UTF-8''na%C3%AFve.txt`.
fn decode_extended(value: &str) -> Option<String> {
    let (alphabet, rest) = value.split_once('\'')?;
    let text = rest.split_once('\'')?.1;
    let text = percent_decode_str(text).decode_utf8().ok()?;
    alphabet.eq_ignore_ascii_case("utf-8").then(|| text.into_owned())
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, stream};
    use poem::Body;
    use proptest::prelude::*;

    use super::*;

    /// Reads a form received in these chunks. Returns all parts with their bytes, or the error.
    fn read(boundary: &str, pieces: Vec<Vec<u8>>) -> Result<Vec<(FormPart, Vec<u8>)>, String> {
        let pieces = pieces.into_iter().map(|piece| Ok::<_, std::io::Error>(Bytes::from(piece)));
        let chunks = Chunks::new(Body::from_bytes_stream(stream::iter(pieces)));
        let reading = async {
            let (mut form, mut parts) = (Form::new(chunks, boundary), Vec::new());
            while let Some(part) = form.next_part().await? {
                let mut bytes = Vec::new();
                while let Some(more) = form.next_bytes().await? {
                    assert!(
                        form.buffer.len() + more.len() <= CHUNK_BYTES + MAX_HEAD_BYTES + 200,
                        "little is held"
                    );
                    bytes.extend(more);
                }
                parts.push((part, bytes));
            }
            Ok(parts)
        };
        let read: Result<_, ApiError> = reading.now_or_never().expect("bytes in memory are ready");
        read.map_err(|error| error.message().to_owned())
    }

    fn form(boundary: &str, parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut form = Vec::new();
        for (head, bytes) in parts {
            form.extend(format!("--{boundary}\r\n{head}\r\n\r\n").bytes());
            form.extend(*bytes);
            form.extend(LINE_END);
        }
        form.extend(format!("--{boundary}--\r\n").bytes());
        form
    }

    #[test]
    fn part_header_yields_name_and_file_name() {
        let disposition = |rest: &str| format!("\r\nContent-Disposition: form-data; {rest}\r\n\r\n");
        for (rest, name, file_name) in [
            (r#"name="file"; filename="a b.png""#, "file", Some("a b.png")),
            (r#"name=file; filename=a.png"#, "file", Some("a.png")),
            (r#"filename="a;b=c.png"; name="file""#, "file", Some("a;b=c.png")),
            (r#"name="file"; filename="a\"b\\c.png""#, "file", Some("a\"b\\c.png")),
            (r#"name="file"; filename="C:\dir\a.png""#, "file", Some("C:\\dir\\a.png")),
            (r#"name="file"; filename="a%22b.png""#, "file", Some("a\"b.png")),
            (r#"name="file"; filename="100%25.png""#, "file", Some("100%25.png")),
            (r#"name="file"; filename="schöne.png""#, "file", Some("schöne.png")),
            (r#"name="file"; filename="x.png"; filename*=UTF-8''sch%C3%B6n.png"#, "file", Some("schön.png")),
            (r#"name="file"; filename*=utf-8'de'a.png; filename="x.png""#, "file", Some("a.png")),
            (r#"name="text""#, "text", None),
            ("", "", None),
        ] {
            let part = parse_part(&disposition(rest)).unwrap_or_else(|| panic!("{rest}"));
            assert_eq!((part.name.as_str(), part.file_name.as_deref()), (name, file_name), "{rest}");
        }
        for wrong in [
            "\r\n\r\n".to_owned(),
            "\r\nContent-Type: image/png\r\n\r\n".to_owned(),
            "\r\nContent-Disposition: attachment; name=\"file\"\r\n\r\n".to_owned(),
            "\r\nno header\r\n\r\n".to_owned(),
            format!("x{}", disposition("name=file")),
            disposition("name=file; filename*=latin1''a.png"),
            disposition("name=file; filename*=UTF-8''%ff"),
        ] {
            assert_eq!(parse_part(&wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn boundary_parses_as_in_rfc_2046() {
        for (text, expected) in [
            ("multipart/form-data; boundary=abc", Some("abc")),
            ("multipart/form-data;charset=utf-8; BOUNDARY=\"a b?\"", Some("a b?")),
            (
                "multipart/form-data; boundary=----WebKitFormBoundary7MA4YWxk",
                Some("----WebKitFormBoundary7MA4YWxk"),
            ),
            ("multipart/form-data", None),
            ("multipart/form-data; boundary=", None),
            ("multipart/form-data; boundary=\"a \"", None),
            ("multipart/form-data; boundary=a\u{e9}", None),
        ] {
            assert_eq!(boundary(text).as_deref(), expected, "{text}");
        }
        assert_eq!(boundary(&format!("x; boundary={}", "a".repeat(71))), None);
    }

    #[test]
    fn malformed_form_is_rejected_with_a_reason() {
        let right = form("b", &[("Content-Disposition: form-data; name=\"file\"", b"x")]);
        for (bytes, said) in [
            (b"".to_vec(), "must end with its boundary"),
            (b"no form".to_vec(), "must end with its boundary"),
            (vec![b'x'; 1 << 20], "must begin with its boundary"),
            (right[..right.len() - 6].to_vec(), "must end with its boundary"),
            (right[..20].to_vec(), "must end with its boundary"),
            ([b"--b\r\n".as_slice(), &vec![b'x'; 1 << 20]].concat(), "too long"),
            (
                b"--b\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\nx\r\n--b--".to_vec(),
                "is malformed",
            ),
            (b"--b\r\n\r\nx\r\n--b--".to_vec(), "is malformed"),
        ] {
            let refused = read("b", vec![bytes.clone()]).expect_err("refused");
            assert!(refused.contains(said), "{said}: {refused}");
        }
    }

    proptest! {
        #[test]
        fn parts_parse_equally_for_every_chunk_size(
            contents in proptest::collection::vec(proptest::collection::vec(
                prop_oneof![Just(b'\r'), Just(b'\n'), Just(b'-'), Just(b'b'), any::<u8>()], 0..200), 0..4),
            step in 1usize..40,
            preamble in prop_oneof![Just(""), Just("a preamble\r\n")],
        ) {
            // A boundary must not occur in the content of a part.
            let boundary = "bbb-b";
            let clean: Vec<Vec<u8>> = contents.into_iter()
                .filter(|bytes| find(bytes, b"--bbb-b").is_none()).collect();
            let heads: Vec<String> = (0..clean.len())
                .map(|n| format!("Content-Disposition: form-data; name=\"{n}\"\r\nContent-Type: text/x{n}")).collect();
            let parts: Vec<(&str, &[u8])> =
                heads.iter().zip(&clean).map(|(head, bytes)| (head.as_str(), bytes.as_slice())).collect();
            let whole = [preamble.as_bytes(), &form(boundary, &parts)].concat();
            let read = read(boundary, whole.chunks(step).map(<[u8]>::to_vec).collect()).expect("a form");
            prop_assert_eq!(read.len(), clean.len());
            for (n, ((part, bytes), expected)) in read.iter().zip(&clean).enumerate() {
                prop_assert_eq!((&part.name, part.content_type.as_deref()), (&n.to_string(), Some(&*format!("text/x{n}"))));
                prop_assert_eq!(bytes, expected);
            }
        }

        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(prop_oneof![
            Just(b"\r\n--b".to_vec()), Just(b"Content-Disposition: form-data".to_vec()), Just(b"\r\n\r\n".to_vec()),
            Just(b"; filename*=\"".to_vec()), proptest::collection::vec(any::<u8>(), 0..9)], 0..30)) {
            let _ = read("b", bytes);
        }
    }
}
