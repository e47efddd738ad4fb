//! Operations on sites.

mod hostname;
mod listing;

use std::{slice, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};

use crate::{
    Error, Result,
    content::{Edit, NewBody, NewPage, PageKind, PagePatch},
    model::{
        CreateSite, CreateSpace, DefaultLevel, JobId, NewSpace, OrgId, Patch, PublishedSite,
        PublishedSiteObject, SectionId, Site, SiteId, SitePermissions, SiteSpaceId, SiteSpacesInput,
        SiteTitle, SpaceId, SpaceTitle, Timestamp, UpdateSite, UserId,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, request::Right, site_hosts, write_window::WriteWindow},
        library::head::create_space,
        nouns::{SiteHandle, SiteRef, Sites, addresses::SharedSiteRef},
        publishing::{
            outline::{OutlineNode, SiteOutline, live_spaces},
            share_links::SharedLink,
            visitors::Visit,
        },
        sites::{
            manage::{parse_place, require_manageable_space, title_error},
            reader::SiteReader,
            settings::{self, customizations},
            structure::{
                mount, order,
                paths::{free_basename, free_place_path},
            },
            view::{SiteView, Viewer, VisibleSite, default_spaces},
        },
    },
    policy::{OrgAction, SiteAction},
    store::{
        Hash, Key, Operation, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Maximum number of spaces that a new site can be created with.
pub(in crate::platform) const MAX_FIRST_SPACES: usize = 100;
/// The text of the page in the sample space.
const SAMPLE_PAGE: &str = "This is the first page of a new space.\n\nOpen a change request to edit it, and merge the request: \
                      every site with this space then shows the new content.\n";

impl<'p> Sites<'p> {
    /// Creates an unpublished site with existing spaces or with a new space.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role; `Invalid` for unknown spaces, or for existing spaces combined with a new
    /// one.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::{CreateSite, OrgId, SiteSpacesInput, SpaceId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, space: &SpaceId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let spaces = Some(SiteSpacesInput::Existing(vec![space.to_string()]));
    /// let new = CreateSite { title: Some("Engines for all".parse()?), spaces, ..Default::default() };
    /// let site = me.org(org).sites().create(new).await?;
    /// assert!(!site.published);
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn create(self, new: CreateSite) -> Result<Site> {
        let (platform, ref actor, org) = self.parts();
        let done =
            platform.idempotent(actor, Right::Org(org.clone(), OrgAction::CreateContent), async move {
                let by = actor.require_user()?.clone();
                let (ids, fresh) = requested_spaces(&new)?;
                let access = {
                    let tx = platform.read().await?;
                    access::org(&tx, actor, org).await?
                };
                access.require(OrgAction::CreateContent)?;
                let now = platform.now();
                let space = match fresh {
                    None => None,
                    Some(kind) => {
                        let domain = access.org().domain.clone();
                        let root = match kind {
                            NewSpace::Empty => platform.content().empty_root(&domain).await?,
                            NewSpace::Sample => platform.sample_content(&domain).await?,
                        };
                        let title = new.title.as_ref().and_then(|title| SpaceTitle::from_truncated(title));
                        let space = CreateSpace { title, ..CreateSpace::default() };
                        Some(platform.new_space(actor, org, &space, domain, root)?)
                    }
                };
                let operation = SiteCreation {
                    actor: actor.clone(),
                    by,
                    org: org.clone(),
                    id: platform.id(),
                    spaces: ids.into_iter().map(|id| (id, platform.id())).collect(),
                    fresh: space.map(|space| (space, platform.id())),
                    new,
                    now,
                    salt: platform.ids().next(),
                };
                platform.check_write_window(WriteWindow::from_start(now))?;
                platform.write_site(actor, &operation, org, &operation.id).await
            });
        done.await
    }
}

impl<'p> SiteHandle<'p> {
    #[boxed]
    pub async fn get(self) -> Result<Site> {
        let (platform, ref actor, at, share_key) = self.parts();
        let (tx, opened) = platform.open_site(actor, at.with_share_key(share_key)).await?;
        platform.whole_site_view(&tx, &opened).await
    }

    /// Changes a site. Omitted fields stay unchanged.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site; `Conflict` if the base name or proxy origin belongs to another
    /// site, or if the origin is an ancestor or descendant of another organization's origin; `Invalid` for a default
    /// that is not on the site, and for an origin on the platform's own host, on a host not allowed by
    /// [`SiteHosts`](crate::platform::SiteHosts), or at a path reserved for the platform.
    #[boxed]
    pub async fn update(self, change: UpdateSite) -> Result<Site> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        if let Patch::Set(origin) = &change.proxy {
            mount::check_host("proxy", origin.as_str(), platform.urls().base(), platform.site_hosts())?;
            site_hosts::check_proxy(platform.site_hosts(), org, origin.as_str())?;
        }
        let update = SiteUpdate { actor: actor.clone(), org: org.clone(), id: id.clone(), change };
        platform.write_site(actor, &update, org, id).await
    }

    /// Deletes a site, but not its spaces. Returns `true` if it existed.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role.
    #[boxed]
    pub async fn delete(self) -> Result<bool> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let (job, now) = (platform.id(), platform.now());
        let operation = site_deletion(actor, org, id, &job, now);
        let done = platform
            .change(actor, &operation, |seen| Box::pin(platform.read_site_view(seen.tx, actor, org, id)));
        Error::ignore_not_found(done.await)
    }

    /// Publishes a site to its audience.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn publish(self) -> Result<Site> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        platform.write_site(actor, &PublishSite::publish(actor, org, id), org, id).await
    }

    /// Unpublishes a site.
    ///
    /// # Errors
    ///
    /// `Forbidden` unless the actor manages the site.
    #[boxed]
    pub async fn unpublish(self) -> Result<Site> {
        let Self { caller, at: SiteRef { org, site: id }, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        platform.write_site(actor, &PublishSite::unpublish(actor, org, id), org, id).await
    }

    /// Reads all data needed to render a published site, or the preview of a site. If a share link key is given, URLs
    /// contain it.
    ///
    /// # Errors
    ///
    /// `NotFound` if the site is not published and the actor is not the visitor of its preview.
    #[boxed]
    pub async fn published(self) -> Result<PublishedSite> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let (tx, mut opened) = platform.open_site(actor, of).await?;
        if !opened.is_rendered() {
            return Err(Error::not_found("published site"));
        }
        if !opened.is_preview {
            // Members see the site as published too.
            let outline = &opened.outline;
            opened.outline = outline.filter(|part| !outline.is_draft(part));
        }
        let places = opened.outline.all_places();
        let ids: Vec<SiteSpaceId> = places.iter().map(|place| place.id.clone()).collect();
        let seen = platform.view_places(&tx, &opened, &ids).await?.without_hidden();
        let mut looks = customizations(&tx, &opened.site.id, seen.visible_places()).await?;
        let site = platform.linked_site_view(&tx, &opened, &seen).await?;
        // The conditions of header links may wait for those of other requests, so close the transaction first.
        drop(tx);
        if let Viewer::Visitor(visitor) = &opened.viewer {
            looks = visitor.clear(looks).await?;
        }
        Ok(PublishedSite {
            object: PublishedSiteObject::Is,
            site,
            structure: seen.structure(),
            customizations: looks,
            scripts: Vec::new(),
        })
    }
}

impl Platform {
    async fn read_site_view(&self, tx: &Tx, actor: &Actor, org: &OrgId, id: &SiteId) -> Result<Site> {
        let opened = self.load_visible_site(tx, actor, SiteRef { org, site: id }.into()).await?;
        self.whole_site_view(tx, &opened).await
    }

    /// Runs a write and returns the updated site.
    async fn write_site<O: Operation>(
        &self,
        actor: &Actor,
        operation: &O,
        org: &OrgId,
        id: &SiteId,
    ) -> Result<Site> {
        self.change_and_show(actor, operation, |done| Box::pin(self.read_site_view(done.tx, actor, org, id)))
            .await
    }

    /// Builds the view of a site, with the number of site spaces that the reader sees.
    async fn whole_site_view(&self, tx: &Tx, opened: &VisibleSite) -> Result<Site> {
        let ids: Vec<SiteSpaceId> =
            opened.outline.all_places().iter().map(|place| place.id.clone()).collect();
        let seen = self.view_places(tx, opened, &ids).await?;
        self.linked_site_view(tx, opened, &seen).await
    }

    /// Builds the view of a site. Its published URL contains the share link key of the request.
    async fn linked_site_view(&self, tx: &Tx, opened: &VisibleSite, seen: &SiteView<'_>) -> Result<Site> {
        let sites = [(Arc::clone(&opened.site), opened.permissions)];
        let mut shown = self.site_views(tx, &sites).await?;
        let mut site = shown.pop().ok_or_else(|| Error::not_found("site"))?;
        opened.link.add_key(&mut site.urls.published);
        if opened.is_preview {
            site.urls.published = Some(site.urls.preview.clone());
        }
        // Spaces that are deleted or hidden from the reader are not counted.
        site.site_spaces = seen.visible_places().count() as u64;
        site.default_space = match &opened.viewer {
            Viewer::Member(org, actor) => {
                let sites = slice::from_ref(&opened.site);
                default_spaces(tx, org.clone(), actor, sites).await?.pop().flatten()
            }
            Viewer::Visitor(_) => opened.outline.default_place().map(|place| place.space.clone()),
        };
        Ok(site)
    }
}

/// Returns the existing spaces for a new site, or the kind of space to create for it.
fn requested_spaces(new: &CreateSite) -> Result<(Vec<SpaceId>, Option<NewSpace>)> {
    let wants_new = new.create_space == Some(true);
    match &new.spaces {
        None => Ok((Vec::new(), wants_new.then_some(NewSpace::Empty))),
        Some(SiteSpacesInput::New(kind)) => Ok((Vec::new(), Some(*kind))),
        Some(SiteSpacesInput::Existing(ids)) if ids.len() > MAX_FIRST_SPACES => {
            Err(Error::invalid("spaces", format_args!("must have at most {MAX_FIRST_SPACES} spaces")))
        }
        Some(SiteSpacesInput::Existing(ids)) if wants_new && !ids.is_empty() => {
            Err(Error::invalid("createSpace", "must not be set together with `spaces`"))
        }
        Some(SiteSpacesInput::Existing(ids)) => {
            let unknown = |at| Error::invalid(&format!("spaces[{at}]"), "no such space");
            let ids = ids.iter().enumerate().map(|(at, id)| id.parse().map_err(|_| unknown(at)));
            Ok((ids.collect::<Result<_>>()?, wants_new.then_some(NewSpace::Empty)))
        }
    }
}

/// Returns the title of a site created without one.
fn default_title(space: Option<&SpaceRecord>, org: &str) -> Result<SiteTitle> {
    let from_space = space.and_then(|space| SiteTitle::from_truncated(&space.title));
    from_space.or_else(|| SiteTitle::from_truncated(org)).ok_or_else(title_error)
}

impl Platform {
    /// Begins a read transaction and loads a site if the actor may view it.
    pub(in crate::platform) async fn open_site(
        &self,
        actor: &Actor,
        of: SharedSiteRef<'_>,
    ) -> Result<(Tx, VisibleSite)> {
        let tx = self.read().await?;
        let opened = self.load_visible_site(&tx, actor, of).await?;
        Ok((tx, opened))
    }

    /// Returns the parts of a site that are visible to a member or visitor.
    pub(in crate::platform) async fn load_visible_site(
        &self,
        tx: &Tx,
        actor: &Actor,
        of: SharedSiteRef<'_>,
    ) -> Result<VisibleSite> {
        let SharedSiteRef { org, site, share_key } = of;
        let link = SharedLink::find(self, tx, share_key).await?;
        let visitor = match SiteReader::load(tx, actor, of).await? {
            SiteReader::Visitor(visitor) => visitor,
            SiteReader::Member(access, seen) => {
                let (site, permissions) = (Arc::clone(seen.site()), seen.permissions());
                let outline = SiteOutline::load(tx, &site).await?;
                let spaces = live_spaces(tx, &outline).await?;
                let outline = outline.without_places(|place| spaces.contains_key(&place.space));
                let viewer = Viewer::Member(access, actor.clone());
                return Ok(VisibleSite {
                    site,
                    outline,
                    spaces,
                    viewer,
                    permissions,
                    link,
                    is_preview: false,
                });
            }
        };
        let Visit { site, outline, spaces, claims, .. } =
            self.visit_site(tx, &visitor, SiteRef { org, site }).await?;
        let (viewer, permissions) = (Viewer::Visitor(claims), SitePermissions::VISITOR);
        let is_preview = visitor.preview.is_some();
        Ok(VisibleSite { site, outline, spaces, viewer, permissions, link, is_preview })
    }

    /// Creates the content of a sample space: one page that explains the next steps.
    async fn sample_content(&self, domain: &str) -> Result<Hash> {
        let root = self.content().empty_root(domain).await?;
        let mut page = NewPage::new(self.id(), PageKind::Document, PagePatch::from_title("Welcome"));
        page.body = NewBody::Text(SAMPLE_PAGE.to_owned());
        let insert = Edit::InsertPage(Box::new(page));
        Ok(self.content().edit(domain, root, self.now().time(), &[insert]).await?.root)
    }
}

struct SiteCreation {
    actor: Actor,
    by: UserId,
    org: OrgId,
    id: SiteId,
    spaces: Vec<(SpaceId, SiteSpaceId)>,
    /// A space to create for the site.
    fresh: Option<(SpaceRecord, SiteSpaceId)>,
    new: CreateSite,
    now: Timestamp,
    /// A salt to make the base name unique if the title is not.
    salt: uuid::Uuid,
}

#[async_trait]
impl Operation for SiteCreation {
    type Output = ();
    const NAME: &'static str = "site_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let org = access::org(tx, &self.actor, &self.org).await?;
        org.require(OrgAction::CreateContent)?;
        let mut spaces = Vec::new();
        for (at, (space, place)) in self.spaces.iter().enumerate() {
            let field = format!("spaces[{at}]");
            spaces.push((
                require_manageable_space(tx, &self.actor, &self.org, space, &field).await?,
                place.clone(),
            ));
        }
        if let Some((space, place)) = &self.fresh {
            spaces.push((create_space(tx, space.clone(), &self.by), place.clone()));
        }
        let first = spaces.first().map(|(space, _)| &**space);
        let title = match &self.new.title {
            Some(title) => title.clone(),
            None => default_title(first, &org.org().title)?,
        };
        let basename = free_basename(tx, &title, self.salt).await?;
        let site = tx.create(SiteRecord {
            id: self.id.clone(),
            organization: self.org.clone(),
            kind: self.new.kind.unwrap_or_default(),
            title,
            basename,
            icon: None,
            proxy: None,
            hostname: None,
            visibility: self.new.visibility.unwrap_or_default(),
            published: false,
            default_level: DefaultLevel::default(),
            created_by: self.by.clone(),
            created_at: self.now,
            adaptive_content: Default::default(),
            agents_context: Default::default(),
            default_site_space: spaces.first().map(|(_, place)| place.clone()),
            default_section: None,
        });
        for (at, (space, place)) in spaces.iter().enumerate() {
            let path = free_place_path(tx, &site.id, None, &space.title, place.as_str()).await?;
            tx.create(SiteSpaceRecord {
                id: place.clone(),
                site: site.id.clone(),
                section: None,
                space: space.id.clone(),
                path,
                former_paths: Vec::new(),
                rank: order::nth_rank(at as u64),
                condition: None,
                space_deleted: space.deleted_at.is_some(),
                title: None,
                draft: false,
                hidden: false,
            });
        }
        Ok(())
    }
}

struct SiteUpdate {
    actor: Actor,
    org: OrgId,
    id: SiteId,
    change: UpdateSite,
}

#[async_trait]
impl Operation for SiteUpdate {
    type Output = ();
    const NAME: &'static str = "site_update";

    fn taken_error(&self, key: &Key) -> Error {
        let basename = self.change.basename.as_ref();
        if basename.is_some_and(|name| SiteRecord::by_basename(name.as_str()) == *key) {
            return Error::conflict("basename: is in use by another site");
        }
        Error::conflict("proxy: is in use by another site")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let of = SiteRef { org: &self.org, site: &self.id };
        let (_, before) = access::site(tx, &self.actor, of).await?;
        let old = before.require(SiteAction::Manage)?;
        let change = self.change.clone();
        let mut new = SiteRecord::clone(old);
        new.default_level = new.default_level.patched(&change.default_level);
        new.title = change.title.unwrap_or(new.title);
        new.visibility = change.visibility.unwrap_or(new.visibility);
        new.basename = change.basename.unwrap_or(new.basename);
        new.adaptive_content = change.adaptive_content.unwrap_or(new.adaptive_content);
        new.agents_context = change.agents_context.unwrap_or(new.agents_context);
        new.proxy = change.proxy.apply(new.proxy);
        if let Some(origin) = new.proxy.as_ref().filter(|_| new.proxy != old.proxy) {
            mount::check(tx, &self.org, "proxy", origin.as_str()).await?;
        }
        let mut section = new.default_section.clone();
        if let Some(wanted) = change.default_site_section {
            section = Some(find_section(tx, &self.id, &wanted).await?.id.clone());
            new.default_section.clone_from(&section);
        }
        let wanted = change.default_site_space;
        let place = match &wanted {
            None => None,
            Some(wanted) => Some(find_site_space(tx, &self.id, wanted).await?),
        };
        if let Some(place) = place {
            if place.section != section {
                return Err(Error::invalid("defaultSiteSpace", "must be in the default section"));
            }
            match &section {
                None => new.default_site_space = Some(place.id.clone()),
                Some(section) => set_default_in(tx, section, &place.id).await?,
            }
        }
        let is_new_level = new.default_level != old.default_level;
        if new != **old {
            tx.put(&**old, new)?;
        }
        if is_new_level {
            let after = access::site(tx, &self.actor, of).await;
            access::check_site_level(&before, after.map(|(_, after)| after))?;
        }
        Ok(())
    }
}

struct PublishSite {
    actor: Actor,
    org: OrgId,
    id: SiteId,
    published: bool,
}

impl PublishSite {
    fn publish(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { actor: actor.clone(), org: org.clone(), id: id.clone(), published: true }
    }

    fn unpublish(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { published: false, ..Self::publish(actor, org, id) }
    }
}

#[async_trait]
impl Operation for PublishSite {
    type Output = ();
    const NAME: &'static str = "site_publish";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, old) = access::require_site(
            tx,
            &self.actor,
            SiteRef { org: &self.org, site: &self.id },
            SiteAction::Manage,
        )
        .await?;
        if old.published != self.published {
            let new = SiteRecord { published: self.published, ..SiteRecord::clone(&old) };
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

#[operation("site_delete")]
async fn site_deletion(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    id: &SiteId,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    let (org, site) = access::require_site(tx, actor, SiteRef { org, site: id }, SiteAction::Delete).await?;
    let outline = SiteOutline::load(tx, &site).await?;
    for place in outline.all_places() {
        tx.delete(&**place);
    }
    for node in outline.nodes() {
        match node {
            OutlineNode::Section(section) => tx.delete(&**section),
            OutlineNode::Group(group) => tx.delete(&**group),
            OutlineNode::Link(link) => tx.delete(&**link),
        }
    }
    settings::delete_settings(tx, &site.id, job, now).await?;
    let org = org.org();
    if org.default_content.as_ref().is_some_and(|content| content.site == *id) {
        let new = crate::store::records::OrgRecord { default_content: None, ..(**org).clone() };
        tx.put(&**org, new)?;
    }
    tx.delete(&*site);
    Ok(())
}

/// Returns the section that a request selects as the default.
async fn find_section(tx: &Tx, site: &SiteId, id: &str) -> Result<Arc<SectionRecord>> {
    let unknown = || Error::invalid("defaultSiteSection", "the site has no such section");
    let id = id.parse().map_err(|_| unknown())?;
    let section: Option<Arc<SectionRecord>> = tx.get(&SectionRecord::key_for(&id)).await?;
    section.filter(|section| section.site == *site).ok_or_else(unknown)
}

/// Returns the site space that a request selects as the default.
async fn find_site_space(tx: &Tx, site: &SiteId, id: &str) -> Result<Arc<SiteSpaceRecord>> {
    let id = parse_place("defaultSiteSpace", id)?;
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::key_for(&id)).await?;
    let unknown = || Error::invalid("defaultSiteSpace", "the site has no such site space");
    place.filter(|place| place.site == *site).ok_or_else(unknown)
}

async fn set_default_in(tx: &mut Tx, section: &SectionId, place: &SiteSpaceId) -> Result<()> {
    if let Some(old) = tx.get::<SectionRecord>(&SectionRecord::key_for(section)).await?
        && old.default_site_space.as_ref() != Some(place)
    {
        let new = SectionRecord { default_site_space: Some(place.clone()), ..SectionRecord::clone(&old) };
        tx.put(&*old, new)?;
    }
    Ok(())
}
