//! The identity of lists, by which a cursor of one is told from those of all others.

use std::fmt::Write as _;

/// The identity of a list: its tag, what it is a list of, and its filters. A cursor goes on only in the list whose
/// identity it was made with.
///
/// Clients keep cursors over an upgrade, so tags are part of what is promised: types, fields and variants are renamed
/// freely in Rust, a tag is not. A filter that is not set leaves no trace: a new filter keeps the cursors that were
/// made before it.
///
/// ```
/// use docs_store::ListIdentity;
///
/// let all = ListIdentity::new("teams").with("organization", "analytical");
/// let owned = all.clone().filter("owner", Some("ada"));
/// assert_ne!(owned.fingerprint(), all.fingerprint());
/// assert_eq!(all.clone().filter("owner", None::<&str>).fingerprint(), all.fingerprint());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListIdentity(String);

impl ListIdentity {
    /// Begins with the tag of the list, which no other list has.
    #[must_use]
    pub fn new(tag: &str) -> Self {
        Self(String::new()).with("list", tag)
    }

    /// Adds what the list is of, or how it is ordered, under a tag.
    #[must_use]
    pub fn with(mut self, tag: &str, value: impl AsRef<str>) -> Self {
        let value = value.as_ref();
        // With their lengths: no two identities have one text. Writing to a text never fails.
        let _ = write!(self.0, "{}:{tag}{}:{value}", tag.len(), value.len());
        self
    }

    /// Adds the values of a filter, in their order; nothing when there are none.
    #[must_use]
    pub fn filter<V: AsRef<str>>(self, tag: &str, values: impl IntoIterator<Item = V>) -> Self {
        values.into_iter().fold(self, |identity, value| identity.with(tag, value))
    }

    /// The identity as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a cursor keeps of the identity.
    #[must_use]
    pub fn fingerprint(&self) -> CursorFingerprint {
        let mut out = [0; 8];
        out.copy_from_slice(&blake3::hash(self.0.as_bytes()).as_bytes()[..8]);
        CursorFingerprint(out)
    }
}

/// What a cursor keeps of the [identity](ListIdentity) of its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CursorFingerprint([u8; 8]);

impl CursorFingerprint {
    /// The bytes, as a cursor has them.
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
    fn fingerprints_stay_as_clients_have_them() {
        let plain = ListIdentity::new("teams");
        let filtered = plain.clone().with("organization", "o").filter("owner", ["ada", "bob"]);
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
        fn two_identities_have_one_fingerprint_only_when_they_are_alike(
            lists in prop::collection::vec(
                ("[a:1]{0,3}", prop::collection::vec(("[a:1]{0,2}", "[a:1]{0,3}"), 0..3)), 2..20),
        ) {
            let mut known = BTreeMap::new();
            for (tag, parts) in lists {
                let identity = parts.iter().fold(ListIdentity::new(&tag), |list, (tag, value)| list.with(tag, value));
                let before = known.insert(hex(identity.fingerprint()), (tag.clone(), parts.clone()));
                prop_assert!(before.is_none_or(|before| before == (tag, parts)));
            }
        }
    }
}
