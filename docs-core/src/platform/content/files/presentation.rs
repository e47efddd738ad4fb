//! Media types of file responses.
//!
//! Files are uploaded by users and share an origin with the platform unless
//! [`files_origin`](crate::platform::Builder::files_origin) sets another one. A response therefore never uses the
//! stored type directly, but a type of the lists below.

use crate::model::MediaType;

/// Presentation of a file in browsers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Disposition {
    /// Displayed inline. The type cannot contain scripts.
    Inline,
    /// Downloaded when opened as a page.
    Attachment,
}

/// Types that browsers display inline. None can contain scripts, which rules out SVG and every other XML type.
const INLINE: &[&str] = &[
    "application/pdf",
    "audio/aac",
    "audio/flac",
    "audio/mp3",
    "audio/mp4",
    "audio/mpeg",
    "audio/ogg",
    "audio/opus",
    "audio/wav",
    "audio/wave",
    "audio/webm",
    "audio/x-flac",
    "audio/x-m4a",
    "audio/x-wav",
    "image/apng",
    "image/avif",
    "image/bmp",
    "image/gif",
    "image/heic",
    "image/heif",
    "image/jpeg",
    "image/jpg",
    "image/jxl",
    "image/png",
    "image/tiff",
    "image/vnd.microsoft.icon",
    "image/webp",
    "image/x-icon",
    "text/plain",
    "video/3gpp",
    "video/mp4",
    "video/mpeg",
    "video/ogg",
    "video/quicktime",
    "video/webm",
    "video/x-m4v",
    "video/x-matroska",
    "video/x-msvideo",
];

/// Types served unchanged but as attachments. Types that browsers execute, such as HTML, XML and JavaScript, are in
/// neither list and are served as `application/octet-stream`. SVG is included because images on pages need its type.
const ATTACHMENT: &[&str] = &[
    "application/epub+zip",
    "application/gzip",
    "application/json",
    "application/msword",
    "application/rtf",
    "application/toml",
    "application/vnd.ms-excel",
    "application/vnd.ms-powerpoint",
    "application/vnd.oasis.opendocument.presentation",
    "application/vnd.oasis.opendocument.spreadsheet",
    "application/vnd.oasis.opendocument.text",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "application/x-7z-compressed",
    "application/x-tar",
    "application/yaml",
    "application/zip",
    "font/otf",
    "font/ttf",
    "font/woff",
    "font/woff2",
    "image/svg+xml",
    "text/calendar",
    "text/csv",
    "text/markdown",
    "text/tab-separated-values",
    "text/vtt",
    "text/yaml",
];

/// Returns the media type and disposition for a stored type. A stored type that is no longer accepted, or that is in
/// neither list, becomes `application/octet-stream`.
pub(super) fn presentation(stored: &str) -> (String, Disposition) {
    let bytes = || (MediaType::octet_stream().to_string(), Disposition::Attachment);
    let Ok(parsed) = stored.parse::<MediaType>() else { return bytes() };
    let listed = |list: &[&'static str]| list.iter().copied().find(|known| *known == parsed.essence());
    let (essence, disposition) = match (listed(INLINE), listed(ATTACHMENT)) {
        (Some(essence), _) => (essence, Disposition::Inline),
        (None, Some(essence)) => (essence, Disposition::Attachment),
        (None, None) => return bytes(),
    };
    // Without a charset, browsers decode text in a legacy encoding that depends on the user's language.
    let charset = parsed.charset().or_else(|| essence.starts_with("text/").then_some("utf-8"));
    let content_type = match charset {
        Some(charset) => format!("{essence}; charset={charset}"),
        None => essence.to_owned(),
    };
    (content_type, disposition)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_hold_accepted_types_and_no_active_ones() {
        for essence in INLINE.iter().chain(ATTACHMENT) {
            assert_eq!(essence.parse::<MediaType>().map(|it| it.to_string()).as_deref(), Ok(*essence));
        }
        assert!(INLINE.iter().all(|essence| !essence.contains("xml") && !essence.contains("html")));
        assert!(INLINE.iter().all(|essence| !ATTACHMENT.contains(essence)));
        for (stored, content_type, disposition) in [
            ("image/PNG", "image/png", Disposition::Inline),
            ("text/plain", "text/plain; charset=utf-8", Disposition::Inline),
            ("text/plain; charset=latin1", "text/plain; charset=latin1", Disposition::Inline),
            ("image/svg+xml", "image/svg+xml", Disposition::Attachment),
            ("text/html", "application/octet-stream", Disposition::Attachment),
            ("video/x+xml", "application/octet-stream", Disposition::Attachment),
            ("application/pdf; x=\"\",text/html;y=\"", "application/octet-stream", Disposition::Attachment),
        ] {
            assert_eq!(presentation(stored), (content_type.to_owned(), disposition), "{stored}");
        }
    }

    proptest! {
        #[test]
        fn answers_carry_listed_types_whatever_is_stored(stored in "\\PC{0,60}|[a-z]{1,6}/[a-z]{1,6}(;.{0,40})?") {
            let (content_type, disposition) = presentation(&stored);
            let essence = content_type.split("; charset=").next().unwrap_or_default();
            match disposition {
                Disposition::Inline => prop_assert!(INLINE.contains(&essence)),
                Disposition::Attachment => {
                    prop_assert!(ATTACHMENT.contains(&essence) || essence == "application/octet-stream");
                }
            }
        }
    }
}
