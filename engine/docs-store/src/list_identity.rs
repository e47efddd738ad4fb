//! List identities, which bind cursors to lists.

use std::fmt::Write as _;

/// The identity of a list: its tag, its parent and its filters. A cursor is valid only for the list for which it was
/// created.
///
/// Clients keep cursors across upgrades, so tags are part of the public contract and must not change, unlike the names
/// of Rust types, fields and variants. An unset filter does not change the identity, so existing cursors remain valid
/// when a filter is added to the code.
///
/// ```
/// use docs_store::ListIdentity;
///
/// let all = ListIdentity::new("teams").with_part("organization", "analytical");
/// let owned = all.clone().filter("owner", Some("ada"));
/// assert_ne!(owned.fingerprint(), all.fingerprint());
/// assert_eq!(all.clone().filter("owner", None::<&str>).fingerprint(), all.fingerprint());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListIdentity(String);

impl ListIdentity {
    /// Creates an identity from the tag of a list. The tag must be unique.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        Self(String::new()).with_part("list", tag)
    }

    /// Adds a tagged component, for example the parent of the list or its order.
    #[must_use]
    pub fn with_part(mut self, tag: &str, value: impl AsRef<str>) -> Self {
        let value = value.as_ref();
        // Length prefixes make the encoding injective. Writing to a `String` never fails.
        let _ = write!(self.0, "{}:{tag}{}:{value}", tag.len(), value.len());
        self
    }

    /// Adds the values of a filter in the given order. Without values, the identity is unchanged.
    #[must_use]
    pub fn filter<V: AsRef<str>>(self, tag: &str, values: impl IntoIterator<Item = V>) -> Self {
        values.into_iter().fold(self, |identity, value| identity.with_part(tag, value))
    }

    /// Returns the identity as a string slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Computes the fingerprint that cursors contain.
    #[must_use]
    pub fn fingerprint(&self) -> CursorFingerprint {
        let mut out = [0; 8];
        out.copy_from_slice(&blake3::hash(self.0.as_bytes()).as_bytes()[..8]);
        CursorFingerprint(out)
    }
}

/// A truncated hash of a list [identity](ListIdentity), contained in cursors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CursorFingerprint([u8; 8]);

impl CursorFingerprint {
    /// Returns the bytes to encode in a cursor.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 8] {
        &self.0
    }
}

impl From<[u8; 8]> for CursorFingerprint {
    fn from(bytes: [u8; 8]) -> Self {
        Self(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::{KeyBuf, ListSpec};

    fn hex(fingerprint: CursorFingerprint) -> String {
        data_encoding::HEXLOWER.encode(fingerprint.as_bytes())
    }

    #[test]
    fn cursor_fingerprints_are_stable() {
        let plain = ListIdentity::new("teams");
        let filtered = plain.clone().with_part("organization", "o").filter("owner", ["ada", "bob"]);
        let spec = |rev| ListSpec { prefix: KeyBuf::new("team").part("o"), rev, identity: filtered.clone() };
        let known = [
            (plain.fingerprint(), "2753c69967f4e078"),
            (filtered.fingerprint(), "b1c9f08d1e74c268"),
            (spec(false).fingerprint(), "45ee8993104389fb"),
            (spec(true).fingerprint(), "cee43a9917e15d39"),
        ];
        let now = known.map(|(fingerprint, _)| hex(fingerprint));
        assert_eq!(now, known.map(|(_, hex)| hex.to_owned()), "clients' cursors would be refused");
    }

    proptest! {
        #[test]
        fn different_identities_have_different_fingerprints(
            lists in prop::collection::vec(
                ("[a:1]{0,3}", prop::collection::vec(("[a:1]{0,2}", "[a:1]{0,3}"), 0..3)), 2..20),
        ) {
            let mut known = BTreeMap::new();
            for (tag, parts) in lists {
                let identity = parts.iter().fold(ListIdentity::new(&tag), |list, (tag, value)| list.with_part(tag, value));
                let before = known.insert(hex(identity.fingerprint()), (tag.clone(), parts.clone()));
                prop_assert!(before.is_none_or(|before| before == (tag, parts)));
            }
        }
    }
}
