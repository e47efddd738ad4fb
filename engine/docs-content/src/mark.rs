//! Marking of the objects that a revision references, for garbage collection: [`Marks`].

use std::collections::{BTreeSet, HashSet};

use docs_store::Hash;

use super::{
    Body, Content, ContentError, ContentResult, FileEntry, PageEntry, ReusableEntry,
    entry::decode,
    keys, listed_parts,
    load::MissingCollector,
    map::{MapNode, load},
    text::texts_of,
};

/// A set of objects marked as referenced.
pub trait Marks: Send {
    /// Marks a node or a list of file parts. Returns `false` if all of its references are already marked or are being
    /// marked.
    fn enter(&mut self, node: Hash) -> bool;

    /// Marks an object without references.
    fn mark(&mut self, object: Hash);
}

impl Marks for HashSet<Hash> {
    fn enter(&mut self, node: Hash) -> bool {
        self.insert(node)
    }

    fn mark(&mut self, object: Hash) {
        self.insert(object);
    }
}

impl Content {
    /// Marks all objects reachable from a root: nodes, including the root, texts and file contents.
    ///
    /// The references of a marked node are assumed to be marked, so the cost of marking successive revisions of a space
    /// is proportional to their differences.
    ///
    /// # Errors
    /// [`ContentError`](super::ContentError) if the content cannot be read. `marked` is then incomplete.
    ///
    /// # Cancel safety
    /// If the future is dropped, `marked` is incomplete: it may lack objects reachable from nodes that it contains.
    pub async fn mark(&self, domain: &str, root: Hash, marked: &mut impl Marks) -> ContentResult<()> {
        let mut level = vec![root];
        while !level.is_empty() {
            level.retain(|hash| marked.enter(*hash));
            let mut session = self.session(domain);
            let nodes = session
                .run(|session| {
                    let mut gather = MissingCollector::default();
                    let mut nodes = Vec::with_capacity(level.len());
                    for hash in &level {
                        nodes.extend(gather.ask(load(session, hash, None).map_err(Into::into))?);
                    }
                    gather.finish()?;
                    Ok(nodes)
                })
                .await?;
            level.clear();
            let mut lists = BTreeSet::new();
            for node in nodes {
                level.extend(node.children());
                let referred = leaf_references(&node)?;
                referred.objects.into_iter().for_each(|object| marked.mark(object));
                lists.extend(referred.lists);
            }
            for list in lists {
                if marked.enter(list) {
                    self.parts(domain, list).await?.into_iter().for_each(|part| marked.mark(part));
                }
            }
        }
        Ok(())
    }

    /// Returns the parts of a file, given the object that lists them.
    async fn parts(&self, domain: &str, list: Hash) -> ContentResult<Vec<Hash>> {
        let mut found = self.shared().objects().get(domain, &[list]).await?;
        let missing = || ContentError::NotFound(list);
        listed_parts(&found.pop().flatten().ok_or_else(missing)?)
    }
}

/// The objects that the records of a leaf reference.
#[derive(Default)]
struct LeafReferences {
    objects: BTreeSet<Hash>,
    /// Objects that list the parts of files.
    lists: BTreeSet<Hash>,
}

fn leaf_references(node: &MapNode) -> ContentResult<LeafReferences> {
    let mut out = LeafReferences::default();
    for (key, value) in node.values() {
        let texts: Option<(Body, Vec<Hash>)> = match key.split('!').next() {
            Some(keys::PAGE) => {
                let page = decode::<PageEntry>(key, value)?;
                Some((page.body, page.source.into_iter().chain(page.expansions).collect()))
            }
            Some(keys::REUSABLE) => {
                let reusable = decode::<ReusableEntry>(key, value)?;
                Some((reusable.body, reusable.source.into_iter().collect()))
            }
            Some(keys::FILE) => {
                let file = decode::<FileEntry>(key, value)?;
                match file.parts {
                    Some(list) => out.lists.insert(list),
                    None => out.objects.insert(file.blob),
                };
                None
            }
            _ => None,
        };
        if let Some((body, others)) = texts {
            texts_of(&body, &mut out.objects);
            out.objects.extend(others);
        }
    }
    Ok(out)
}
