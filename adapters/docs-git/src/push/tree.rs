//! Trees of a push. Only trees on the path of a change are rewritten.

use std::collections::{BTreeMap, btree_map::Entry};

use docs_ports::{GitError, check_push_path};
use git2::{ObjectType, Oid, Repository};

use super::pack::PackWriter;
use crate::{failure::git_failure, objects::check_folder};

#[derive(Debug, Default)]
pub(super) struct FolderChanges {
    names: BTreeMap<String, EntryChange>,
}

/// The changes under one name: to the entry itself, and to its descendants.
#[derive(Debug, Default)]
struct EntryChange {
    is_removed: bool,
    file: Option<NewFile>,
    below: FolderChanges,
}

/// A pushed file.
#[derive(Clone, Copy, Debug)]
pub(super) struct NewFile {
    pub(super) id: Oid,
    pub(super) is_executable: bool,
}

/// The entries of a folder.
type Entries = BTreeMap<Vec<u8>, (i32, Oid)>;

const FILE: i32 = 0o100_644;
const EXECUTABLE: i32 = 0o100_755;
const FOLDER: i32 = 0o040_000;
const KIND: i32 = 0o170_000;
const REGULAR: i32 = 0o100_000;

impl FolderChanges {
    /// Removes an entry that is not a folder.
    pub(super) fn remove(&mut self, path: &str) -> Result<(), GitError> {
        check_push_path(path)?;
        self.entry_mut(path).is_removed = true;
        Ok(())
    }

    pub(super) fn put(&mut self, path: &str, file: NewFile) -> Result<(), GitError> {
        match self.entry_mut(path).file.replace(file) {
            None => Ok(()),
            Some(_) => Err(GitError::Path(format!("`{path}` is a duplicate"))),
        }
    }

    fn entry_mut(&mut self, path: &str) -> &mut EntryChange {
        match path.split_once('/') {
            None => self.names.entry(path.to_owned()).or_default(),
            Some((name, rest)) => self.names.entry(name.to_owned()).or_default().below.entry_mut(rest),
        }
    }

    fn has_files(&self) -> bool {
        self.names.values().any(|change| change.file.is_some() || change.below.has_files())
    }
}

/// Applies changes to the trees of a repository, and adds new trees to a pack.
pub(super) struct TreeEditor<'a> {
    pub(super) repository: Option<&'a Repository>,
    pub(super) pack: &'a mut PackWriter,
    /// Maximum size of a folder in bytes.
    pub(super) limit: u64,
}

impl TreeEditor<'_> {
    /// Returns the id of a folder after its changes, or `None` if it is empty.
    pub(super) fn edit(
        &mut self,
        base: Option<Oid>,
        changes: &FolderChanges,
        path: &str,
    ) -> Result<Option<Oid>, GitError> {
        let mut entries = self.entries(base)?;
        for (name, change) in &changes.names {
            let path = if path.is_empty() { name.clone() } else { format!("{path}/{name}") };
            self.change(&mut entries, name.as_bytes(), change, &path)?;
        }
        if entries.is_empty() {
            return Ok(None);
        }
        let bytes = serialize_tree(&entries);
        let id = Oid::hash_object(ObjectType::Tree, &bytes).map_err(|error| git_failure(&error))?;
        if Some(id) != base {
            self.pack.add(ObjectType::Tree, &bytes)?;
        }
        Ok(Some(id))
    }

    fn change(
        &mut self,
        entries: &mut Entries,
        name: &[u8],
        change: &EntryChange,
        path: &str,
    ) -> Result<(), GitError> {
        let before = entries.get(name).copied();
        if change.is_removed && before.is_some_and(|(mode, _)| !is_folder(mode)) {
            entries.remove(name);
        }
        if !change.below.names.is_empty() {
            let folder = match entries.get(name) {
                Some((mode, id)) if is_folder(*mode) => Some(*id),
                None => None,
                // The entry has no descendants, so there is nothing to remove below it.
                Some(_) if !change.below.has_files() => {
                    return put(entries, name, change, before, path);
                }
                Some(_) => return Err(GitError::Path(format!("`{path}` is not a folder in the repository"))),
            };
            match self.edit(folder, &change.below, path)? {
                Some(id) => entries.insert(name.to_owned(), (FOLDER, id)),
                None => entries.remove(name),
            };
        }
        put(entries, name, change, before, path)
    }

    fn entries(&self, base: Option<Oid>) -> Result<Entries, GitError> {
        let mut entries = Entries::new();
        let (Some(id), Some(repository)) = (base, self.repository) else { return Ok(entries) };
        let odb = repository.odb().map_err(|error| git_failure(&error))?;
        check_folder(&odb, id, self.limit)?;
        let tree = repository.find_tree(id).map_err(|error| git_failure(&error))?;
        for entry in &tree {
            match entries.entry(entry.name_bytes().to_owned()) {
                Entry::Vacant(vacant) => _ = vacant.insert((entry.filemode_raw(), entry.id())),
                Entry::Occupied(_) => {
                    return Err(GitError::Broken(
                        "a folder of the commit contains a duplicate name".to_owned(),
                    ));
                }
            }
        }
        Ok(entries)
    }
}

/// Adds a file if permitted. It keeps the mode of the entry that it replaces.
fn put(
    entries: &mut Entries,
    name: &[u8],
    change: &EntryChange,
    before: Option<(i32, Oid)>,
    path: &str,
) -> Result<(), GitError> {
    let Some(NewFile { id, is_executable }) = change.file else { return Ok(()) };
    if entries.get(name).is_some_and(|(mode, _)| is_folder(*mode)) {
        return Err(GitError::Path(format!("`{path}` is both a file and a folder")));
    }
    let new = if is_executable { EXECUTABLE } else { FILE };
    let mode = before.map(|(mode, _)| mode).filter(|mode| mode & KIND == REGULAR).unwrap_or(new);
    entries.insert(name.to_owned(), (mode, id));
    Ok(())
}

fn is_folder(mode: i32) -> bool {
    mode & KIND == FOLDER
}

/// Serializes a tree. Git sorts folders as if their names ended with `/`.
fn serialize_tree(entries: &Entries) -> Vec<u8> {
    let mut ordered: Vec<_> = entries.iter().collect();
    let key = |name: &[u8], mode: i32| {
        let mut key = name.to_owned();
        if is_folder(mode) {
            key.push(b'/');
        }
        key
    };
    ordered.sort_by_cached_key(|(name, (mode, _))| key(name, *mode));
    let mut bytes = Vec::new();
    for (name, (mode, id)) in ordered {
        bytes.extend_from_slice(format!("{mode:o} ").as_bytes());
        bytes.extend_from_slice(name);
        bytes.push(0);
        bytes.extend_from_slice(id.as_bytes());
    }
    bytes
}
