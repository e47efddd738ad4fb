//! The files of a space as seen by an audience.

use std::{collections::HashMap, sync::Arc};

use docs_core::model::{FileId, RevisionFile};
use quick_cache::Weighter;

use crate::{cache::EntryWeigher, page_tree_cache::PageTreeKey};

/// The estimated size in bytes of a file record, excluding its strings.
const FILE_BYTES: usize = 384;

/// The files of a space. Their URLs are those of one audience, so audiences with equal page trees do not share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpaceFiles(HashMap<FileId, RevisionFile>);

impl SpaceFiles {
    pub(crate) fn new(files: Vec<RevisionFile>) -> Self {
        Self(files.into_iter().map(|file| (file.id.clone(), file)).collect())
    }

    pub(crate) fn get(&self, id: &FileId) -> Option<&RevisionFile> {
        self.0.get(id)
    }

    /// Returns the estimated memory in bytes.
    fn weight(&self) -> usize {
        self.0.values().map(|file| FILE_BYTES + file.name.len() + file.download_url.len()).sum()
    }
}

impl Weighter<PageTreeKey, Arc<SpaceFiles>> for EntryWeigher {
    fn weight(&self, _: &PageTreeKey, files: &Arc<SpaceFiles>) -> u64 {
        files.weight() as u64 + 512
    }
}

#[cfg(test)]
mod tests {
    use docs_hostile::assert_weight;
    use serde_json::json;

    use super::*;

    #[test]
    fn weights_of_files_are_their_memory() {
        let key = PageTreeKey {
            audience: "all".into(),
            space: "space".parse().expect("an id"),
            revision: "r1".parse().expect("an id"),
            computed: None,
        };
        let file = |at: usize| {
            json!({ "id": format!("f{at}"), "name": format!("file-{at}.png"), "contentType": "image/png", "size": 3,
                "downloadURL": format!("https://docs.test/files/space/{}/file-{at}.png", "a".repeat(200)) })
        };
        for files in [20, 2_000] {
            let build = || {
                let files = (0..files).map(file).collect();
                Arc::new(SpaceFiles::new(serde_json::from_value(files).expect("files")))
            };
            assert_weight(&format!("{files} files"), build, |files| EntryWeigher.weight(&key, files));
        }
    }
}
