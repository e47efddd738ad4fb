//! Unique names within a scope: slugs of siblings, heading ids, file names.

use std::collections::{HashMap, HashSet};

use crate::slug::append_number;

/// The names in a scope. A duplicate gets a number.
///
/// Stores the next number for each base, so that no number is tried twice: `n` equal names cost `O(n log n)` in total.
///
/// # Example
/// ```
/// use docs_markup::UniqueNames;
///
/// let mut names = UniqueNames::default();
/// let slugs: Vec<String> = (0..3).map(|_| names.take_slug("a".into(), 2)).collect();
/// assert_eq!(slugs, ["a", "a-2", "a-3"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct UniqueNames {
    taken: HashSet<String>,
    /// The next number to try. Numbers of the same width share a stem, even if long names are truncated, so the key is
    /// the name with the lowest number of that width.
    next: HashMap<String, u64>,
    tried: u64,
}

impl UniqueNames {
    /// Reserves a name unchanged. Returns `false` if it is in use.
    pub fn insert(&mut self, name: String) -> bool {
        self.taken.insert(name)
    }

    /// Returns the number of names tried so far, as a measure of the work.
    #[must_use]
    pub const fn tried(&self) -> u64 {
        self.tried
    }

    /// Reserves a slug, numbered from `first` if it is in use.
    pub fn take_slug(&mut self, slug: String, first: u64) -> String {
        self.take(slug, first, append_number)
    }

    /// Reserves a name, or the first unused name that `numbered` returns for it, counting from `first`.
    ///
    /// The length of the stem that `numbered` keeps must only depend on the number of digits.
    pub fn take(&mut self, name: String, first: u64, numbered: impl Fn(&str, u64) -> String) -> String {
        self.tried += 1;
        if self.taken.insert(name.clone()) {
            return name;
        }
        let mut lowest = 1_u64;
        loop {
            let end = lowest.saturating_mul(10);
            let next = self.next.entry(numbered(&name, lowest)).or_insert(lowest.max(first));
            while *next < end {
                let unique = numbered(&name, *next);
                *next += 1;
                self.tried += 1;
                if self.taken.insert(unique.clone()) {
                    return unique;
                }
            }
            lowest = end;
        }
    }
}

impl Extend<String> for UniqueNames {
    fn extend<T: IntoIterator<Item = String>>(&mut self, names: T) {
        self.taken.extend(names);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_names_are_tried_about_once_each() {
        let mut names = UniqueNames::default();
        for _ in 0..20_000 {
            names.take_slug("a".to_owned(), 2);
        }
        assert_eq!(names.tried(), 39_999, "each name, and one number for each after the first");
        assert!(!names.insert("a-20000".to_owned()) && names.insert("a-20001".to_owned()));
    }

    #[test]
    fn long_names_with_a_common_stem_are_tried_about_once_each() {
        let mut names = UniqueNames::default();
        for number in 0..10_000 {
            let title = format!("{}{number:05}", "x".repeat(95));
            names.take_slug(title.clone(), 2);
            names.take_slug(title, 2);
        }
        assert!(names.tried() < 40_000, "{} tries", names.tried());
    }

    #[test]
    fn taken_numbers_are_skipped() {
        let mut names = UniqueNames::default();
        names.extend(["a", "a-2", "a-4"].map(String::from));
        let taken: Vec<String> = (0..3).map(|_| names.take_slug("a".to_owned(), 2)).collect();
        assert_eq!(taken, ["a-3", "a-5", "a-6"]);
    }
}
