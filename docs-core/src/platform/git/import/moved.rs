//! Pages whose files have other paths than before: they keep their ids where the bytes are the same, or most of the
//! text is, as `git log --follow` would find them. With the id, comments and links to the page stay.

use std::collections::{HashMap, HashSet};

use super::read::Importer;
use crate::{
    Result,
    content::{PageEntry, Rendering, gitsync::PlannedFile, markdown::parse_page},
    model::PageId,
    store::Hash,
};

/// Of a hundred bytes of two texts, how many at least are on lines that both have.
const LEAST_ALIKE: u64 = 50;
/// A line that more of some texts have tells nothing of any of them.
const COMMON_LINE: usize = 50;
/// Lines of fewer bytes, such as brackets and rules, tell nothing.
const SHORT_LINE: usize = 4;

/// Two texts that are alike: how many bytes of a hundred, the new text, the old one.
type Alike = (u64, usize, usize);

impl Importer<'_> {
    /// Gives the pages whose paths are new the ids of pages whose paths are gone.
    pub(super) async fn name_moved(&mut self, mut new: Vec<PlannedFile>) -> Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let taken: HashSet<&str> = self.pages.keys().map(|path| path.as_str()).collect();
        // A page that is still there would lose its id to a copy.
        let (kept, mut gone): (HashMap<_, _>, HashMap<_, _>) = std::mem::take(&mut self.before.pages)
            .into_iter()
            .partition(|(path, _)| taken.contains(path.as_str()));
        self.before.pages = kept;
        let of_oid: HashMap<String, String> = gone
            .iter()
            .filter_map(|(path, (_, entry))| Some((entry.git.as_ref()?.oid.clone(), path.clone())))
            .collect();
        new.retain(|file| {
            let oid = self.git_of(file).map(|git| git.oid).unwrap_or_default();
            match of_oid.get(&oid).and_then(|path| gone.remove(path)) {
                Some(page) => {
                    self.name_as(file, page);
                    false
                }
                None => true,
            }
        });
        let gone: Vec<(PageId, PageEntry)> = gone.into_values().collect();
        if !gone.is_empty() {
            for (at, page) in self.alike(&new, gone).await? {
                self.name_as(&new[at], page);
            }
        }
        for file in new {
            self.pages.entry(file.path).or_insert_with(|| self.platform.id());
        }
        Ok(())
    }

    fn name_as(&mut self, file: &PlannedFile, (id, entry): (PageId, PageEntry)) {
        self.pages.insert(file.path.clone(), id.clone());
        self.before.pages.insert(file.path.to_string(), (id, entry));
    }

    /// The text of the page of a new file.
    fn text_at_path(&self, file: &PlannedFile) -> &str {
        parse_page(self.texts.get(&file.path).map_or("", String::as_str)).body
    }

    /// Of the files that are new, those that most of a page that is gone is in, each with that page: the most alike
    /// come first. In the time that the lines of all of them take, and the room of those of the fewer.
    async fn alike(
        &self,
        new: &[PlannedFile],
        mut gone: Vec<(PageId, PageEntry)>,
    ) -> Result<Vec<(usize, (PageId, PageEntry))>> {
        gone.sort_by(|(a, _), (b, _)| a.cmp(b));
        let view = self.platform.content().view(&self.space.domain, self.space.root);
        let mut pairs: Vec<Alike> = Vec::new();
        // The lines of the fewer texts are held, those of the others pass by.
        if gone.len() < new.len() {
            let mut lines = Lines::default();
            for (_, entry) in &gone {
                lines.add(&view.text(&entry.body, Rendering::Request).await?);
            }
            let lines = lines.telling();
            for (at, file) in new.iter().enumerate() {
                let found = lines.alike(self.text_at_path(file));
                pairs.extend(found.into_iter().map(|(alike, old)| (alike, at, old)));
            }
        } else {
            let mut lines = Lines::default();
            new.iter().for_each(|file| lines.add(self.text_at_path(file)));
            let lines = lines.telling();
            for (old, (_, entry)) in gone.iter().enumerate() {
                let found = lines.alike(&view.text(&entry.body, Rendering::Request).await?);
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

/// The lines of some texts.
#[derive(Default)]
struct Lines {
    /// The texts that have a line, each with the bytes of all that are the same.
    texts: HashMap<Hash, Vec<(usize, u64)>>,
    /// The bytes of each text.
    sizes: Vec<u64>,
}

impl Lines {
    /// Adds a text, which gets the next number.
    fn add(&mut self, text: &str) {
        let (at, lines) = (self.sizes.len(), lines_of(text));
        self.sizes.push(lines.values().sum());
        for (line, bytes) in lines {
            self.texts.entry(line).or_default().push((at, bytes));
        }
    }

    /// The same without lines that so many texts have that they tell nothing.
    fn telling(mut self) -> Self {
        self.texts.retain(|_, texts| texts.len() <= COMMON_LINE);
        self
    }

    /// The texts that another one is like, with how many bytes of a hundred are on lines that both have.
    fn alike(&self, text: &str) -> Vec<(u64, usize)> {
        let lines = lines_of(text);
        let size: u64 = lines.values().sum();
        let mut shared: HashMap<usize, u64> = HashMap::new();
        for (line, bytes) in &lines {
            for (at, others) in self.texts.get(line).into_iter().flatten() {
                *shared.entry(*at).or_default() += bytes.min(others);
            }
        }
        let alike = |(at, shared): (usize, u64)| (200 * shared / (size + self.sizes[at]).max(1), at);
        shared.into_iter().map(alike).filter(|(alike, _)| *alike >= LEAST_ALIKE).collect()
    }
}

/// The lines of a text by their hashes, with the bytes of all that are the same.
fn lines_of(text: &str) -> HashMap<Hash, u64> {
    let mut lines = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| line.len() >= SHORT_LINE) {
        *lines.entry(Hash::of(line.as_bytes())).or_default() += line.len() as u64;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_alike_texts_are_is_the_same_from_either_side() {
        let texts = [
            "# One\n\nThe first line.\nThe second line.\n",
            "The second line.\nThe first line.\nAnd a third.\n",
            "Nothing of it.\n",
            "",
        ];
        let alike = |of: usize| {
            let mut lines = Lines::default();
            lines.add(texts[of]);
            let lines = lines.telling();
            texts.map(|text| lines.alike(text).first().map(|(alike, _)| *alike))
        };
        for (a, b) in [(0, 1), (1, 0), (0, 2), (2, 1), (3, 0), (3, 3)] {
            assert_eq!(alike(a)[b], alike(b)[a], "{a} and {b}");
        }
        assert_eq!((alike(0)[0], alike(0)[2], alike(3)[3]), (Some(100), None, None));
        assert!(alike(0)[1] > Some(60));
    }

    #[test]
    fn a_line_that_most_texts_have_makes_none_of_them_alike() {
        let mut lines = Lines::default();
        (0..=COMMON_LINE).for_each(|_| lines.add("Licensed to everybody.\n"));
        assert_eq!(lines.telling().alike("Licensed to everybody.\n"), []);
    }
}
