//! Id generation: [`Ids`].

use std::str::FromStr;

use docs_model::NotAnId;
pub use docs_model::id_text;
use uuid::Uuid;

/// A generator of unguessable, unique ids.
pub trait Ids: Send + Sync + 'static {
    /// Returns a random UUID (version 4).
    fn next(&self) -> Uuid;
}

/// An id generator that uses the random number generator of the system.
#[derive(Clone, Copy, Default, Debug)]
pub struct RandomIds;

impl Ids for RandomIds {
    #[expect(clippy::disallowed_methods, reason = "this port is the only source of ids")]
    fn next(&self) -> Uuid {
        Uuid::new_v4()
    }
}

/// Generates an id of the given type, for example a `SpaceId`.
///
/// An id that consists only of digits is discarded and generated again, so that an id never looks like a number.
///
/// ```
/// use docs_model::SpaceId;
/// use docs_ports::{RandomIds, new_id};
/// let space: SpaceId = new_id(&RandomIds);
/// assert_eq!(space.as_str().len(), 26);
/// ```
#[must_use]
pub fn new_id<T: FromStr<Err = NotAnId>>(ids: &dyn Ids) -> T {
    loop {
        let text = id_text(ids.next());
        if text.bytes().all(|b| b.is_ascii_digit()) {
            continue;
        }
        return text.parse().expect("26 characters of base32 are a valid id");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use docs_model::{BASE32, PageId};

    use super::*;

    /// Returns a UUID whose text consists of digits, and then one whose text does not.
    #[derive(Default)]
    struct DigitsFirst(AtomicUsize);

    impl Ids for DigitsFirst {
        fn next(&self) -> Uuid {
            let first = self.0.fetch_add(1, Ordering::Relaxed) == 0;
            let text = if first { "2".repeat(25) + "4" } else { "a".repeat(26) };
            let bytes = BASE32.decode(text.as_bytes()).expect("base32");
            Uuid::from_bytes(bytes.try_into().expect("16 bytes"))
        }
    }

    #[test]
    fn an_id_is_never_all_digits() {
        let ids = DigitsFirst::default();
        assert_eq!(new_id::<PageId>(&ids).as_str(), "a".repeat(26));
        assert_eq!(ids.0.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn ids_are_26_characters_and_version_4() {
        let id = RandomIds.next();
        assert_eq!(id.get_version_num(), 4);
        assert_eq!(id_text(id).len(), 26);
        assert_ne!(RandomIds.next(), id);
    }
}
