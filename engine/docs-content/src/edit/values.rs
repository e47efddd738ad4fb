//! Edits of files, reusable content blocks and variables.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;
use docs_model::{FileId, JsonText, PageId, ReusableId, VariableValue};
use docs_store::Key;

use super::{
    super::{
        FileEntry, PageEntry, ReusableEntry, VariableEntry, bounds,
        entry::{decode, encode},
        error::invalid,
        file_name::append_number as numbered_file_name,
        keys,
        load::PassResult,
        map, read,
        redirects::{GitRedirect, MAX_MOVED},
        tree::normal_path,
    },
    EditChanges, EditState, GitFile, GitThing, ReusablePatch, check_variables,
};

impl EditState<'_, '_> {
    pub(super) fn put_file(&self, file: &FileId, entry: &FileEntry) -> PassResult<EditChanges> {
        if entry.name.trim().is_empty() {
            return Err(invalid("name", "is empty").into());
        }
        let before = self.file(file)?;
        let mut entry = entry.clone();
        let mut plan = EditChanges::default();
        if before.as_ref().is_none_or(|before| before.name != entry.name) {
            let base = keys::file_name_prefix(&entry.name).key();
            let wanted = std::mem::take(&mut entry.name);
            let numbered = |number| numbered_file_name(&wanted, number);
            let is_free = |name: &str| self.is_free_for(name, file);
            (entry.name, plan.numbered) = self.free_name(base, &wanted, 1, numbered, is_free)?;
        }
        if let Some(before) = before {
            plan.changes.remove(keys::derived_of_file(file, &before));
        } else {
            let files = self.count_with_new(keys::FILE)?;
            bounds::check_files(files).map_err(|what| invalid("file", what))?;
            plan.new_record = Some(keys::FILE);
        }
        plan.changes.put(keys::derived_of_file(file, &entry), Bytes::new());
        plan.changes.put(keys::file(file), encode(&entry)?);
        Ok(plan)
    }

    fn file(&self, id: &FileId) -> PassResult<Option<FileEntry>> {
        let key = keys::file(id);
        Ok(self.get(&key)?.map(|value| decode(&key, &value)).transpose()?)
    }

    /// Returns `true` if no file other than `file` has the name.
    fn is_free_for(&self, name: &str, file: &FileId) -> PassResult<bool> {
        let mut holders = HashSet::new();
        for id in read::files_named(self.session, &self.root, name)? {
            holders.insert(id);
        }
        for (key, change) in self.pending.range(keys::file_name_prefix(name).prefix_range()) {
            let id = keys::id(key)?;
            if change.is_some() {
                holders.insert(id)
            } else {
                holders.remove(&id)
            };
        }
        Ok(holders.iter().all(|id| id == file))
    }

    pub(super) fn delete_file(&self, file: &FileId) -> PassResult<EditChanges> {
        let Some(before) = self.file(file)? else {
            return Err(invalid("file", format!("is `{file}`, which does not exist")).into());
        };
        let mut plan = EditChanges::default();
        plan.changes.remove(keys::derived_of_file(file, &before));
        plan.changes.remove(keys::file(file));
        Ok(plan)
    }

    fn reusable(&self, id: &ReusableId) -> PassResult<Option<ReusableEntry>> {
        let key = keys::reusable(id);
        Ok(self.get(&key)?.map(|value| decode(&key, &value)).transpose()?)
    }

    pub(super) fn put_reusable(
        &self,
        reusable: &ReusableId,
        fields: &ReusablePatch,
    ) -> PassResult<EditChanges> {
        let known = self.reusable(reusable)?;
        let is_new = known.is_none();
        let mut entry = match (known, &fields.title) {
            (Some(entry), _) => entry,
            (None, Some(title)) => ReusableEntry::new(title),
            (None, None) => return Err(invalid("title", "is missing").into()),
        };
        fields.apply(&mut entry)?;
        let mut plan = EditChanges::default();
        if is_new {
            let reusables = self.count_with_new(keys::REUSABLE)?;
            bounds::check_reusables(reusables).map_err(|what| invalid("reusable", what))?;
            plan.new_record = Some(keys::REUSABLE);
        }
        if let Some(body) = &fields.body {
            entry.body = self.next_body(&entry.body, body, &mut plan.texts)?;
        }
        plan.changes.put(keys::reusable(reusable), encode(&entry)?);
        Ok(plan)
    }

    pub(super) fn delete_reusable(&self, reusable: &ReusableId) -> PassResult<EditChanges> {
        if self.reusable(reusable)?.is_none() {
            return Err(invalid("reusable", format!("is `{reusable}`, which does not exist")).into());
        }
        let mut plan = EditChanges::default();
        plan.changes.remove(keys::reusable(reusable));
        Ok(plan)
    }

    pub(super) fn set_git(&self, files: &[GitFile]) -> PassResult<EditChanges> {
        let key = |thing: &GitThing| match thing {
            GitThing::Page(page) => keys::page(page),
            GitThing::File(file) => keys::file(file),
            GitThing::Reusable(reusable) => keys::reusable(reusable),
        };
        let wanted: Vec<Key> = files.iter().map(|file| key(&file.thing)).collect();
        let found = map::get_many(self.session, &self.root, &wanted)?;
        let mut plan = EditChanges::default();
        for ((GitFile { thing, blob, source }, key), value) in files.iter().zip(wanted).zip(found) {
            let (Some(value), git, source) = (value, Some(blob.clone()), *source) else { continue };
            match thing {
                GitThing::Page(page) => {
                    let before: PageEntry = decode(&key, &value)?;
                    let after = PageEntry { git, source, ..before.clone() };
                    plan.changes.set_page(page, Some(&before), Some(&after))?;
                }
                GitThing::File(_) => {
                    let before: FileEntry = decode(&key, &value)?;
                    plan.changes.put(key, encode(&FileEntry { git, ..before })?);
                }
                GitThing::Reusable(_) => {
                    let before: ReusableEntry = decode(&key, &value)?;
                    plan.changes.put(key, encode(&ReusableEntry { git, source, ..before })?);
                }
            }
        }
        Ok(plan)
    }

    pub(super) fn add_redirects(
        &self,
        redirects: &[(String, PageId, Option<String>)],
    ) -> PassResult<EditChanges> {
        let (from, to) = keys::git_redirects().prefix_range();
        let most = usize::try_from(MAX_MOVED).unwrap_or(usize::MAX);
        let there = map::range(self.session, &self.root, &map::Range::new(from, to).limit(most))?.len();
        let mut plan = EditChanges::default();
        for (path, page, anchor) in redirects.iter().take(most - there) {
            let key = keys::git_redirect(&normal_path(path));
            if self.get(&key)?.is_none() {
                let redirect = GitRedirect { page: page.clone(), anchor: anchor.clone() };
                plan.changes.put(key, encode(&redirect)?);
            }
        }
        Ok(plan)
    }

    pub(super) fn set_variables(
        &self,
        variables: &BTreeMap<String, Option<VariableValue>>,
    ) -> PassResult<EditChanges> {
        let set: BTreeMap<String, VariableValue> =
            variables.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))).collect();
        check_variables(&set)?;
        let mut plan = EditChanges::default();
        for (name, value) in variables {
            let key = keys::variable(name);
            match value {
                Some(value) => {
                    let entry = VariableEntry { value: value.clone(), clash: JsonText::default() };
                    plan.changes.put(key, encode(&entry)?);
                }
                None => plan.changes.remove(key),
            }
        }
        Ok(plan)
    }
}
