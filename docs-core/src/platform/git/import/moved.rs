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
/// A line that so many of the new texts have tells nothing of any of them.
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
        for (at, page) in self.alike(&new, gone).await? {
            self.name_as(&new[at], page);
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

    /// Of the files that are new, those that most of a page that is gone is in, each with that page: the most alike
    /// come first. In the time that the lines of all of them take.
    async fn alike(
        &self,
        new: &[PlannedFile],
        mut gone: Vec<(PageId, PageEntry)>,
    ) -> Result<Vec<(usize, (PageId, PageEntry))>> {
        gone.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut with_line: HashMap<Hash, Vec<(usize, u64)>> = HashMap::new();
        let mut sizes = Vec::new();
        for (at, file) in new.iter().enumerate() {
            let text = self.texts.get(&file.path).map_or("", String::as_str);
            let lines = lines_of(parse_page(text).body);
            sizes.push(lines.values().sum::<u64>());
            for (line, bytes) in lines {
                with_line.entry(line).or_default().push((at, bytes));
            }
        }
        with_line.retain(|_, texts| texts.len() <= COMMON_LINE);
        let view = self.platform.content().view(&self.space.domain, self.space.root);
        let mut pairs: Vec<Alike> = Vec::new();
        for (old, (_, entry)) in gone.iter().enumerate() {
            let text = view.text(&entry.body, Rendering::Request).await?;
            let lines = lines_of(&text);
            let size = lines.values().sum::<u64>();
            let mut shared: HashMap<usize, u64> = HashMap::new();
            for (line, bytes) in &lines {
                for (at, others) in with_line.get(line).into_iter().flatten() {
                    *shared.entry(*at).or_default() += bytes.min(others);
                }
            }
            pairs.extend(shared.into_iter().filter_map(|(at, shared)| {
                let alike = 200 * shared / (size + sizes[at]).max(1);
                (alike >= LEAST_ALIKE).then_some((alike, at, old))
            }));
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

/// The lines of a text by their hashes, with the bytes of all that are the same.
fn lines_of(text: &str) -> HashMap<Hash, u64> {
    let mut lines = HashMap::new();
    for line in text.lines().map(str::trim).filter(|line| line.len() >= SHORT_LINE) {
        *lines.entry(Hash::of(line.as_bytes())).or_default() += line.len() as u64;
    }
    lines
}
