//! Percent-encoding of paths.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Characters that are percent-encoded in a path segment.
pub(crate) const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Percent-encodes each segment of a path.
pub(crate) fn encode_path(path: &str) -> String {
    encode_segments(path.split('/').filter(|segment| !segment.is_empty()))
}

/// Percent-encodes segments and joins them into a path. A slash within a segment is encoded.
pub(crate) fn encode_segments(segments: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let segments = segments.into_iter();
    let written = segments.map(|segment| utf8_percent_encode(segment.as_ref(), SEGMENT).to_string());
    written.collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_percent_encoded_by_segment() {
        assert_eq!(encode_path("/a b//ü\"<>/c/"), "a%20b/%C3%BC%22%3C%3E/c");
        assert_eq!(encode_segments(["a/b", "", "c"]), "a%2Fb//c");
    }
}
