//! The files that pages show, as seen by an audience.

use std::{collections::HashMap, sync::Arc};

use docs_core::model::{FileId, RevisionFile};
use quick_cache::Weighter;

use crate::{cache::EntryWeigher, page_tree_cache::PageTreeKey};

/// The estimated size in bytes of a file record, excluding its strings.
const FILE_BYTES: usize = 384;

/// A file, or `None` if it does not exist or is hidden from the audience.
pub(crate) type VisibleFile = Option<Arc<RevisionFile>>;

/// The files of a space that have been looked up.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpaceFiles(HashMap<FileId, VisibleFile>);

impl SpaceFiles {
    /// Returns a file that has been looked up and is visible.
    pub(crate) fn get(&self, id: &FileId) -> Option<&RevisionFile> {
        self.0.get(id)?.as_deref()
    }

    /// Returns `true` if the file has been looked up.
    pub(crate) fn is_known(&self, id: &FileId) -> bool {
        self.0.contains_key(id)
    }

    /// Returns the number of files that have been looked up.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn insert(&mut self, id: FileId, file: VisibleFile) {
        self.0.insert(id, file);
    }

    /// Adds other files of the same space.
    pub(crate) fn extend(&mut self, others: Self) {
        self.0.extend(others.0);
    }
}

/// The key of a file. Its URL is that of one audience, so audiences with equal page trees do not share files.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FileKey {
    pub(crate) content: PageTreeKey,
    pub(crate) file: FileId,
}

impl Weighter<FileKey, VisibleFile> for EntryWeigher {
    fn weight(&self, _: &FileKey, file: &VisibleFile) -> u64 {
        let file = file.as_ref().map_or(0, |file| FILE_BYTES + file.name.len() + file.download_url.len());
        file as u64 + 256
    }
}

#[cfg(test)]
mod tests {
    use docs_hostile::assert_weight;
    use serde_json::json;

    use super::*;

    #[test]
    fn weights_of_files_are_their_memory() {
        let entry = |at: usize, url: usize| {
            let content = PageTreeKey {
                audience: "all".into(),
                space: "space".parse().expect("an id"),
                revision: "r1".parse().expect("an id"),
                computed: None,
            };
            let file = json!({ "id": format!("f{at}"), "name": format!("file-{at}.png"),
                "contentType": "image/png", "size": 3,
                "downloadURL": format!("https://docs.test/files/space/{}/file-{at}.png", "a".repeat(url)) });
            let file = serde_json::from_value(file).expect("a file");
            (FileKey { content, file: format!("f{at}").parse().expect("an id") }, Some(Arc::new(file)))
        };
        for url in [200, 4_000] {
            let build = || (0..100).map(|at| entry(at, url)).collect::<Vec<_>>();
            let weight = |files: &Vec<(FileKey, VisibleFile)>| {
                files.iter().map(|(key, file)| EntryWeigher.weight(key, file)).sum()
            };
            assert_weight(&format!("URLs of {url} characters"), build, weight);
        }
    }
}
