//! Rename detection. A page whose file has moved keeps its id if the bytes are identical or most of the text is
//! similar, as in `git log --follow`. Comments and links to the page are kept with the id.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet, hash_map::Entry},
};

use super::read::Importer;
use crate::{
    Result,
    content::{PageEntry, Rendering, gitsync::PlannedFile, markdown::parse_page},
    model::PageId,
    store::Hash,
};

/// Minimum similarity of two texts: the percentage of their bytes on common lines.
const MIN_SIMILARITY: u64 = 50;
/// Lines that occur in more texts than this are ignored.
const MAX_TEXTS_PER_LINE: usize = 50;
/// Maximum number of distinct lines in an index, and of bytes of the texts that are compared with each other. Pages
/// beyond these limits receive new ids.
const MAX_INDEXED_LINES: usize = 500_000;
const MAX_COMPARED_BYTES: usize = 64_000_000;
/// Minimum length of a compared line in bytes. Shorter lines, such as brackets and rules, are ignored.
const MIN_LINE_BYTES: usize = 4;

/// A pair of similar texts: the percentage, the index of the new text, the index of the old text.
type Similarity = (u64, usize, usize);

impl Importer<'_> {
    /// Assigns ids of deleted pages to pages at new paths.
    pub(super) async fn match_moved(&mut self, mut new: Vec<PlannedFile>) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let taken: HashSet<&str> = self.pages.keys().map(|path| path.as_str()).collect();
        // A page that still exists must not lose its id to a copy.
        let (kept, mut gone): (HashMap<_, _>, HashMap<_, _>) = std::mem::take(&mut self.before.pages)
            .into_iter()
            .partition(|(path, _)| taken.contains(path.as_str()));
        self.before.pages = kept;
        let of_oid: HashMap<String, String> = gone
            .iter()
            .filter_map(|(path, (_, entry))| Some((entry.git.as_ref()?.oid.clone(), path.clone())))
            .collect();
        new.retain(|file| {
            let oid = self.git_blob(file).map(|git| git.oid).unwrap_or_default();
            match of_oid.get(&oid).and_then(|path| gone.remove(path)) {
                Some(page) => {
                    self.reuse_page(file, page);
                    false
                }
                None => true,
            }
        });
        let gone: Vec<(PageId, PageEntry)> = gone.into_values().collect();
        if !gone.is_empty() {
            for (at, page) in self.match_similar(&new, gone).await? {
                self.reuse_page(&new[at], page);
            }
        }
        for file in new {
            self.pages.entry(file.path).or_insert_with(|| self.platform.id());
        }
        Ok(())
    }

    fn reuse_page(&mut self, file: &PlannedFile, (id, entry): (PageId, PageEntry)) {
        self.pages.insert(file.path.clone(), id.clone());
        self.before.pages.insert(file.path.to_string(), (id, entry));
    }

    /// Returns the body of the page for a new file.
    fn text_at_path(&self, file: &PlannedFile) -> Cow<'_, str> {
        parse_page(self.texts.get(&file.path).map_or("", |text| text)).body
    }

    /// Matches new files with deleted pages of similar text, the most similar first. Time is proportional to the number
    /// of lines in all texts, memory to the number in the smaller set.
    async fn match_similar(
        &self,
        new: &[PlannedFile],
        mut gone: Vec<(PageId, PageEntry)>,
    ) -> Result<Vec<(usize, (PageId, PageEntry))>> {
        gone.sort_by(|(a, _), (b, _)| a.cmp(b));
        let view = self.platform.content().view(&self.space.domain, self.space.root);
        let mut pairs: Vec<Similarity> = Vec::new();
        // Only the lines of the smaller set are held in memory.
        if gone.len() < new.len() {
            let mut lines = Lines::default();
            for (_, entry) in &gone {
                lines.add(&view.text(&entry.body, Rendering::Request).await?);
            }
            let mut lines = lines.without_common_lines();
            for (at, file) in new.iter().enumerate() {
                let found = lines.find_similar(&self.text_at_path(file));
                pairs.extend(found.into_iter().map(|(alike, old)| (alike, at, old)));
            }
        } else {
            let mut lines = Lines::default();
            new.iter().for_each(|file| lines.add(&self.text_at_path(file)));
            let mut lines = lines.without_common_lines();
            for (old, (_, entry)) in gone.iter().enumerate() {
                let found = lines.find_similar(&view.text(&entry.body, Rendering::Request).await?);
                pairs.extend(found.into_iter().map(|(alike, at)| (alike, at, old)));
            }
        }
        pairs.sort_by_key(|(alike, at, old)| (std::cmp::Reverse(*alike), *at, *old));
        let (mut named, mut used, mut found) = (HashSet::new(), HashSet::new(), Vec::new());
        for (_, at, old) in pairs {
            if !named.contains(&at) && used.insert(old) {
                named.insert(at);
                found.push((at, gone[old].clone()));
            }
        }
        Ok(found)
    }
}

/// An index of the lines in a set of texts.
struct Lines {
    /// The texts that contain each line, with the total size of its occurrences in bytes.
    texts: HashMap<Hash, Vec<(usize, u64)>>,
    /// The size of each text in bytes.
    sizes: Vec<u64>,
    bytes_left: usize,
}

impl Default for Lines {
    fn default() -> Self {
        Self { texts: HashMap::new(), sizes: Vec::new(), bytes_left: MAX_COMPARED_BYTES }
    }
}

impl Lines {
    /// Adds `text` under the next index. Beyond the limits, the index lacks its lines.
    fn add(&mut self, text: &str) {
        let lines = if self.take(text.len()) { line_sizes(text) } else { HashMap::new() };
        let at = self.sizes.len();
        self.sizes.push(lines.values().sum());
        for (line, bytes) in lines {
            let is_full = self.texts.len() >= MAX_INDEXED_LINES;
            match self.texts.entry(line) {
                Entry::Vacant(_) if is_full => {}
                // One more than the maximum marks a line as too common.
                Entry::Occupied(texts) if texts.get().len() > MAX_TEXTS_PER_LINE => {}
                texts => texts.or_default().push((at, bytes)),
            }
        }
    }

    /// Deducts bytes from the limit. Returns `false` if it is exceeded.
    fn take(&mut self, bytes: usize) -> bool {
        let left = self.bytes_left.checked_sub(bytes);
        left.inspect(|left| self.bytes_left = *left).is_some()
    }

    /// Removes lines that occur in too many texts to be significant.
    fn without_common_lines(mut self) -> Self {
        self.texts.retain(|_, texts| texts.len() <= MAX_TEXTS_PER_LINE);
        self
    }

    /// Returns the texts similar to `text`, with their percentages.
    fn find_similar(&mut self, text: &str) -> Vec<(u64, usize)> {
        if !self.take(text.len()) {
            return Vec::new();
        }
        let lines = line_sizes(text);
        let size: u64 = lines.values().sum();
        let mut shared: HashMap<usize, u64> = HashMap::new();
        for (line, bytes) in &lines {
            for (at, others) in self.texts.get(line).into_iter().flatten() {
                *shared.entry(*at).or_default() += bytes.min(others);
            }
        }
        let alike = |(at, shared): (usize, u64)| (200 * shared / (size + self.sizes[at]).max(1), at);
        shared.into_iter().map(alike).filter(|(alike, _)| *alike >= MIN_SIMILARITY).collect()
    }
}

/// Returns the lines of `text` by hash, with the total size of their occurrences in bytes.
fn line_sizes(text: &str) -> HashMap<Hash, u64> {
    let mut lines = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| line.len() >= MIN_LINE_BYTES) {
        *lines.entry(Hash::compute(line.as_bytes())).or_default() += line.len() as u64;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_symmetric() {
        let texts = [
            "# One\n\nThe first line.\nThe second line.\n",
            "The second line.\nThe first line.\nAnd a third.\n",
            "Nothing of it.\n",
            "",
        ];
        let alike = |of: usize| {
            let mut lines = Lines::default();
            lines.add(texts[of]);
            let mut lines = lines.without_common_lines();
            texts.map(|text| lines.find_similar(text).first().map(|(alike, _)| *alike))
        };
        for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 1), (3, 0), (3, 3)] {
            assert_eq!(alike(a)[b], alike(b)[a], "{a} and {b}");
        }
        assert_eq!((alike(0)[0], alike(0)[2], alike(3)[3]), (Some(100), None, None));
        assert!(alike(0)[1] > Some(60));
    }

    #[test]
    fn common_lines_do_not_count_as_similarity() {
        let mut lines = Lines::default();
        (0..=MAX_TEXTS_PER_LINE).for_each(|_| lines.add("Licensed to everybody.\n"));
        assert_eq!(lines.without_common_lines().find_similar("Licensed to everybody.\n"), []);
    }

    #[test]
    fn lines_and_bytes_of_an_index_are_bounded() {
        let mut lines = Lines::default();
        let text = |from: usize| (from..from + 400_000).map(|n| format!("line {n}\n")).collect::<String>();
        (0..3).for_each(|n| lines.add(&text(n * 400_000)));
        assert_eq!(lines.texts.len(), MAX_INDEXED_LINES);
        let mut lines = lines.without_common_lines();
        assert_eq!(lines.find_similar(&text(0)), [(100, 0)]);
        let long = "x".repeat(MAX_COMPARED_BYTES / 2);
        let mut lines = Lines::default();
        (0..3).for_each(|_| lines.add(&long));
        let sizes: Vec<bool> = lines.sizes.iter().map(|size| *size > 0).collect();
        assert_eq!(sizes, [true, true, false]);
        assert_eq!(lines.find_similar(&long), []);
    }
}
