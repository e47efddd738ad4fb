//! Names of ignored parameters and fields, formatted for a header.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use poem::http::HeaderValue;

/// Maximum number of names in a header.
pub(super) const MAX_NAMES: usize = 16;

/// Maximum number of characters of a name.
pub(super) const MAX_NAME_CHARS: usize = 128;

/// The ellipsis for a truncated name or list.
pub(super) const ELLIPSIS: &str = "...";

/// The characters to escape in names: all that could be read as part of a path or of the header syntax.
pub(super) const ESCAPE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'~');

/// Distinct names in order of occurrence.
#[derive(Default)]
pub(super) struct IgnoredNames {
    names: Vec<String>,
    /// Additional names were dropped.
    has_more: bool,
}

impl IgnoredNames {
    pub(super) fn add(&mut self, mut name: String) {
        if name.len() > MAX_NAME_CHARS {
            // The name is ASCII, so it can be truncated at any byte.
            name.truncate(MAX_NAME_CHARS - ELLIPSIS.len());
            name.push_str(ELLIPSIS);
        }
        if self.names.contains(&name) {
            return;
        }
        if self.names.len() < MAX_NAMES {
            self.names.push(name);
        } else {
            self.has_more = true;
        }
    }

    pub(super) fn header(mut self) -> Option<HeaderValue> {
        self.names.extend(self.has_more.then(|| ELLIPSIS.to_owned()));
        let text = self.names.join(", ");
        HeaderValue::try_from(text).ok().filter(|text| !text.is_empty())
    }
}

/// Escapes a name for a header.
pub(super) fn escape_name(name: &[u8]) -> String {
    percent_encode(name, ESCAPE_SET).to_string()
}
