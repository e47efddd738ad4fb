//! Content as it is read: the same operations for a space, for a change request and for any revision.

mod changes;
mod documents;
mod view;

pub(super) use self::view::page_base;

use std::sync::Arc;

use super::{
    Actor, Platform, access, change_requests,
    sites::Placement,
    visitors::{Admitted, Eyes, Lens, Visitor},
};
use crate::{
    BoxFuture, Error, ErrorKind, Result,
    content::{Evaluated, FileEntry, LinkTarget, PageEntry, Rendering, ReusableEntry, View, document},
    model::{
        ContentFormat, FileId, PageId, Pages, ReusableContent, ReusableId, Revision, RevisionFile,
        RevisionId, RevisionPage, SpaceId,
    },
    policy::SpaceAccess,
    store::{
        Page, PageRequest, Tx, checked_limit, cursor_fingerprint, open_cursor,
        records::{RevisionRecord, SpaceRecord},
        seal_cursor,
    },
};

/// Most levels of pages that are shown below one another; content has fewer.
const MAX_DEPTH: usize = 128;

/// Whose content, and which state of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentOf {
    /// The space.
    pub space: SpaceId,
    /// Which of its revisions.
    pub version: Version,
}

/// Which of a space's revisions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Version {
    /// The current one.
    Live,
    /// The latest of a change request, by id or number.
    Request(String),
    /// This one, whether of the space or of one of its change requests. It never changes.
    Revision(RevisionId),
}

impl ContentOf {
    /// The live content of a space.
    #[must_use]
    pub const fn space(space: SpaceId) -> Self {
        Self { space, version: Version::Live }
    }

    /// The content of a change request, by id or number.
    #[must_use]
    pub fn request(space: SpaceId, request: &str) -> Self {
        Self { space, version: Version::Request(request.to_owned()) }
    }

    /// The content of a revision.
    #[must_use]
    pub const fn revision(space: SpaceId, revision: RevisionId) -> Self {
        Self { space, version: Version::Revision(revision) }
    }

    /// The change request whose content it is, by id or number.
    pub(super) fn request_name(&self) -> Option<&str> {
        match &self.version {
            Version::Request(name) => Some(name),
            Version::Live | Version::Revision(_) => None,
        }
    }

    /// What tells the lists of one content from those of another.
    pub(super) fn names(&self) -> [&str; 3] {
        match &self.version {
            Version::Live => [self.space.as_str(), "", ""],
            Version::Request(name) => [self.space.as_str(), "request", name],
            Version::Revision(id) => [self.space.as_str(), "revision", id.as_str()],
        }
    }
}

/// What to show of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// With what Git knows of pages and files.
    pub git: bool,
    /// How the content of a page is written.
    pub format: ContentFormat,
    /// What of the content of a page is evaluated.
    pub evaluated: Evaluated,
}

impl Default for Shown {
    fn default() -> Self {
        Self { git: true, format: ContentFormat::default(), evaluated: Evaluated::default() }
    }
}

/// One revision, found and allowed.
pub(super) struct Located {
    pub(super) access: SpaceAccess,
    pub(super) revision: RevisionId,
    pub(super) view: View,
    eyes: Eyes,
    /// Where a visitor reads it.
    placement: Option<Placement>,
}

impl Located {
    pub(super) fn space(&self) -> &SpaceRecord {
        self.access.space()
    }

    /// What its reader sees it through.
    async fn lens(&self) -> Result<Lens> {
        self.eyes.lens(&self.view).await
    }

    /// A reusable content that the reader sees, and what they see it through.
    async fn reusable(&self, id: &ReusableId) -> Result<(ReusableEntry, Lens)> {
        let missing = || Error::not_found("reusable content");
        let entry = self.view.reusable(id).await?.ok_or_else(missing)?;
        let lens = self.lens().await?;
        if lens.sees(LinkTarget::Reusable(id.clone())).await? { Ok((entry, lens)) } else { Err(missing()) }
    }
}

impl Platform {
    /// Finds the content that a member's request is about.
    pub(super) async fn locate(&self, tx: &Tx, actor: &Actor, of: &ContentOf) -> Result<Located> {
        let access = access::space(tx, actor, &of.space).await?;
        self.locate_in(tx, access, of).await
    }

    /// Finds the content that a request is about, which may be that of a visitor of a site.
    async fn locate_read(&self, tx: &Tx, actor: &Actor, of: &ContentOf) -> Result<Located> {
        let visitor = match Visitor::of(actor, None) {
            Some(visitor) => visitor,
            None => match access::space(tx, actor, &of.space).await {
                Ok(access) => return self.locate_in(tx, access, of).await,
                Err(error) if error.kind() == ErrorKind::NotFound => Visitor::stranger(None),
                Err(error) => return Err(error),
            },
        };
        let Admitted { access, sighted, placement } = self.admit(tx, &visitor, &of.space).await?;
        // What was published before may have been taken back with good reason.
        let is_published = match &of.version {
            Version::Live => true,
            Version::Request(_) => false,
            Version::Revision(id) => *id == access.space().head,
        };
        if !is_published {
            return Err(Error::not_found("revision"));
        }
        let at = self.locate_in(tx, access, of).await?;
        Ok(Located { eyes: Eyes::Visitor(sighted), placement: Some(placement), ..at })
    }

    async fn locate_in(&self, tx: &Tx, access: SpaceAccess, of: &ContentOf) -> Result<Located> {
        let space = access.space();
        let (revision, root) = match &of.version {
            Version::Live => (space.head.clone(), space.root),
            Version::Request(name) => {
                let request = change_requests::find(tx, &of.space, name).await?;
                (request.head.clone(), request.root)
            }
            Version::Revision(id) => {
                let record: Option<Arc<RevisionRecord>> = tx.get(&RevisionRecord::at(&of.space, id)).await?;
                (id.clone(), record.ok_or_else(|| Error::not_found("revision"))?.root)
            }
        };
        let view = self.content().view(&space.domain, root);
        Ok(Located { access, revision, view, eyes: Eyes::Member, placement: None })
    }

    /// The same, with a snapshot of its own: none is held while objects are read, as they may come through the same
    /// connections.
    async fn located(&self, actor: &Actor, of: &ContentOf) -> Result<Located> {
        let tx = self.read().await?;
        self.locate_read(&tx, actor, of).await
    }

    /// Reads a revision: the current one of a space, the latest of a change request (SPEC 4.7), or one by its id.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_revision<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        shown: Shown,
    ) -> BoxFuture<'a, Result<Revision>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let at = self.locate_read(&tx, actor, of).await?;
            let record: Option<Arc<RevisionRecord>> =
                tx.get(&RevisionRecord::at(&of.space, &at.revision)).await?;
            let record = record.ok_or_else(|| Error::not_found("revision"))?;
            let frame = match &at.placement {
                None => self.bare_revision(&tx, at.space(), &record).await?,
                Some(placement) => self.visited_revision(at.space(), &record, placement),
            };
            // Objects may come through the same connections as the transaction, so none is held meanwhile.
            drop(tx);
            let lens = at.lens().await?;
            let tree = at.view.tree().await?;
            let variables = at.view.variables().await?;
            lens.prepare().await?;
            let reusable = at.view.reusables(None, usize::MAX).await?;
            let reusable = seen(&lens, reusable, LinkTarget::Reusable).await?;
            let files = at.view.files(None, usize::MAX).await?;
            let files = seen(&lens, files, LinkTarget::File).await?;
            Ok(Revision {
                pages: self.tree_view(at.space(), (&tree, &lens), shown)?,
                files: self.file_views(at.space(), files, shown)?,
                reusable_contents: reusable
                    .into_iter()
                    .map(|(id, entry)| self.reusable_view(at.space(), id, entry, shown))
                    .collect::<Result<_>>()?,
                variables: (!variables.is_empty())
                    .then(|| variables.into_iter().map(|(name, variable)| (name, variable.value)).collect()),
                git: frame.git.filter(|_| shown.git),
                ..frame
            })
        })
    }

    /// Lists all pages, as a tree without their content (SPEC 4.7).
    ///
    /// # Errors
    /// `NotFound`.
    pub fn list_pages<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        shown: Shown,
    ) -> BoxFuture<'a, Result<Pages>> {
        Box::pin(async move {
            let at = self.located(actor, of).await?;
            let tree = at.view.tree().await?;
            Ok(Pages { pages: self.tree_view(at.space(), (&tree, &at.lens().await?), shown)? })
        })
    }

    /// Reads a page with its content and the pages below it (SPEC 4.7).
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_page<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        page: &'a PageId,
        shown: Shown,
    ) -> BoxFuture<'a, Result<RevisionPage>> {
        Box::pin(async move {
            let at = self.located(actor, of).await?;
            let entry = at.view.page(page).await?.ok_or_else(|| Error::not_found("page"))?;
            self.whole_page(&at, page, entry, shown).await
        })
    }

    /// Reads a page by its path, in any case.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_page_by_path<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        path: &'a str,
        shown: Shown,
    ) -> BoxFuture<'a, Result<RevisionPage>> {
        Box::pin(async move {
            let at = self.located(actor, of).await?;
            let (id, entry) = at.view.find(path).await?.ok_or_else(|| Error::not_found("page"))?;
            self.whole_page(&at, &id, entry, shown).await
        })
    }

    async fn whole_page(
        &self,
        at: &Located,
        id: &PageId,
        entry: PageEntry,
        shown: Shown,
    ) -> Result<RevisionPage> {
        let lens = at.lens().await?;
        lens.require(id, &entry).await?;
        let path = at.view.path_of(id).await?.unwrap_or_default();
        let below = self.pages_below((at, &lens), (id, &path), shown).await?;
        let mut page = self.page_view(at.space(), (id, &entry, &path), below, shown)?;
        if lens.hides() {
            without_conflicts(&mut page);
        }
        if let RevisionPage::Document(page) = &mut page {
            match shown.format {
                ContentFormat::Markdown if shown.evaluated == Evaluated::No && !lens.hides() => {
                    page.markdown = Some(at.view.text(&entry.body, Rendering::Markers).await?.to_string());
                }
                ContentFormat::Markdown => {
                    let text = at.view.text(&entry.body, Rendering::Request).await?;
                    let document = document::parse(&text);
                    let document = lens.document(document, &entry.variables, shown.evaluated).await?;
                    // Blocks in which there was nothing to evaluate stay as they were written.
                    page.markdown = Some(document::update(&text, &document).map_err(Error::internal)?);
                }
                ContentFormat::Document if entry.body.is_empty() => {}
                ContentFormat::Document => {
                    let text = at.view.text(&entry.body, Rendering::Request).await?;
                    let document = document::parse(&text);
                    let document = lens.document(document, &entry.variables, shown.evaluated).await?;
                    page.document = Some(document);
                }
            }
        }
        Ok(page)
    }

    /// The pages below one: costs what it answers, not what the space holds.
    async fn pages_below(
        &self,
        (at, lens): (&Located, &Lens),
        (top, path): (&PageId, &str),
        shown: Shown,
    ) -> Result<Vec<RevisionPage>> {
        struct Level {
            page: Option<(PageId, PageEntry, String)>,
            path: String,
            left: std::vec::IntoIter<(PageId, PageEntry)>,
            done: Vec<RevisionPage>,
        }
        let first = at.view.children(Some(top)).await?.into_iter();
        let mut stack = vec![Level { page: None, path: path.to_owned(), left: first, done: Vec::new() }];
        loop {
            let depth = stack.len();
            let Some(level) = stack.last_mut() else { return Ok(Vec::new()) };
            if let Some((id, entry)) = level.left.next() {
                if !lens.meets(&id, &entry) {
                    continue;
                }
                let path = join(&level.path, &entry.slug);
                let below = if depth < MAX_DEPTH { at.view.children(Some(&id)).await? } else { Vec::new() }
                    .into_iter();
                stack.push(Level {
                    page: Some((id, entry, path.clone())),
                    path,
                    left: below,
                    done: Vec::new(),
                });
                continue;
            }
            let Some(finished) = stack.pop() else { return Ok(Vec::new()) };
            let Some((id, entry, path)) = finished.page else { return Ok(finished.done) };
            let shown = self.page_view(at.space(), (&id, &entry, &path), finished.done, shown)?;
            if let Some(above) = stack.last_mut() {
                above.done.push(shown);
            }
        }
    }

    /// Lists the files (SPEC 4.7). Cursors are bound to the revision they began with.
    ///
    /// # Errors
    /// `NotFound`; `Invalid` for a wrong page or limit.
    pub fn list_files<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        shown: Shown,
        page: &'a PageRequest,
    ) -> BoxFuture<'a, Result<Page<RevisionFile>>> {
        Box::pin(async move {
            let tx = self.read().await?;
            let at = self.locate_read(&tx, actor, of).await?;
            let limit = checked_limit(page)?;
            let [space, version, name] = of.names();
            let fingerprint = cursor_fingerprint(&["files", space, version, name], false);
            let (revision, view, after) = match &page.page {
                None => (at.revision.clone(), at.view.clone(), None),
                Some(token) => {
                    let position = open_cursor(token, fingerprint)?;
                    let wrong = || Error::invalid("page", "not a cursor of this list");
                    let (revision, after) = position.split_once('!').ok_or_else(wrong)?;
                    let revision: RevisionId = revision.parse().map_err(|_| wrong())?;
                    let after: FileId = after.parse().map_err(|_| wrong())?;
                    // Only revisions of this space can be named, whoever made the cursor.
                    let record: Option<Arc<RevisionRecord>> =
                        tx.get(&RevisionRecord::at(&of.space, &revision)).await?;
                    let root = record.ok_or_else(wrong)?.root;
                    if at.placement.is_some() && revision != at.revision {
                        let why = "the content has changed since; start from the first page";
                        return Err(Error::invalid("page", why));
                    }
                    (revision, self.content().view(&at.space().domain, root), Some(after))
                }
            };
            drop(tx);
            let lens = at.eyes.lens(&view).await?;
            let found = files_after(&lens, after, limit + 1).await;
            let mut found = found.map_err(|error| match error.kind() {
                ErrorKind::NotFound if page.page.is_some() => {
                    Error::invalid("page", "the revision of this cursor is gone; start from the first page")
                }
                _ => error,
            })?;
            let more = found.len() > limit;
            found.truncate(limit);
            let next = found
                .last()
                .filter(|_| more)
                .map(|(last, _)| seal_cursor(&format!("{revision}!{last}"), fingerprint));
            // How many a visitor sees is known when all have been looked at.
            let count = match lens.hides() {
                true => None,
                false => Some(view.counts().await?.files),
            };
            let items = self.file_views(at.space(), found, shown)?;
            Ok(Page { items, next, count })
        })
    }

    /// Reads what is known of a file (SPEC 4.7).
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_file<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        file: &'a FileId,
        shown: Shown,
    ) -> BoxFuture<'a, Result<RevisionFile>> {
        Box::pin(async move {
            let at = self.located(actor, of).await?;
            let missing = || Error::not_found("file");
            let entry = at.view.file(file).await?.ok_or_else(missing)?;
            if !at.lens().await?.sees(LinkTarget::File(file.clone())).await? {
                return Err(missing());
            }
            self.file_view(at.space(), file.clone(), entry, shown)
        })
    }

    /// Reads a reusable content.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn get_reusable_content<'a>(
        &'a self,
        actor: &'a Actor,
        of: &'a ContentOf,
        reusable: &'a ReusableId,
        shown: Shown,
    ) -> BoxFuture<'a, Result<ReusableContent>> {
        Box::pin(async move {
            let at = self.located(actor, of).await?;
            let (entry, _) = at.reusable(reusable).await?;
            self.reusable_view(at.space(), reusable.clone(), entry, shown)
        })
    }
}

/// What merges left undecided is for those who decide it.
fn without_conflicts(page: &mut RevisionPage) {
    let below = match page {
        RevisionPage::Document(page) => {
            page.base.conflicts.clear();
            &mut page.pages
        }
        RevisionPage::Group(page) => {
            page.base.conflicts.clear();
            &mut page.pages
        }
        RevisionPage::Link(page) => return page.base.conflicts.clear(),
        RevisionPage::Computed(page) => return page.base.conflicts.clear(),
    };
    below.iter_mut().for_each(without_conflicts);
}

/// Those of some things that a reader sees.
async fn seen<Id: Clone, T>(
    lens: &Lens,
    things: Vec<(Id, T)>,
    target: fn(Id) -> LinkTarget,
) -> Result<Vec<(Id, T)>> {
    let mut seen = Vec::with_capacity(things.len());
    for (id, thing) in things {
        if lens.sees(target(id.clone())).await? {
            seen.push((id, thing));
        }
    }
    Ok(seen)
}

/// Files that are looked at together where not all are seen.
const FILES_AT_ONCE: usize = 200;

/// The first files after one that a reader sees.
async fn files_after(
    lens: &Lens,
    mut after: Option<FileId>,
    most: usize,
) -> Result<Vec<(FileId, FileEntry)>> {
    // A visitor may see few of them.
    let chunk = if lens.hides() { most.max(FILES_AT_ONCE) } else { most };
    let mut files = Vec::new();
    loop {
        let found = lens.view().files(after.as_ref(), chunk).await?;
        let is_last = found.len() < chunk;
        after = found.last().map(|(id, _)| id.clone());
        files.extend(seen(lens, found, LinkTarget::File).await?);
        if is_last || files.len() >= most {
            files.truncate(most);
            return Ok(files);
        }
    }
}

fn join(path: &str, slug: &str) -> String {
    match (path, slug) {
        (_, "") => String::new(),
        ("", slug) => slug.to_owned(),
        (path, slug) => format!("{path}/{slug}"),
    }
}
