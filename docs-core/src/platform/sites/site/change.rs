//! The write operations of sites.

use std::sync::Arc;

use async_trait::async_trait;

use super::default_title;
use crate::{
    Error, Result,
    model::{
        CreateSite, JobId, OrgId, SectionId, SiteId, SiteSpaceId, SpaceId, Timestamp, UpdateSite, UserId,
    },
    platform::{
        access,
        kernel::actor::Actor,
        library::head::create_in,
        nouns::SiteRef,
        publishing::outline::{Node, Outline},
        sites::{
            manage::{manageable, parse_place},
            settings,
            structure::{
                mount, order,
                paths::{free_basename, free_place_path},
            },
        },
    },
    policy::{OrgAction, SiteAction},
    store::{
        Key, Operation, Tx,
        records::{SectionRecord, SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

pub(super) struct SiteCreation {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
    pub(super) spaces: Vec<(SpaceId, SiteSpaceId)>,
    /// A space to create for the site.
    pub(super) fresh: Option<(SpaceRecord, SiteSpaceId)>,
    pub(super) new: CreateSite,
    pub(super) now: Timestamp,
    /// The salt that makes a base name unique if its title does not.
    pub(super) salt: uuid::Uuid,
}

#[async_trait]
impl Operation for SiteCreation {
    type Out = ();
    const NAME: &'static str = "site_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let org = access::org(tx, &self.actor, &self.org).await?;
        org.require(OrgAction::CreateContent)?;
        let mut spaces = Vec::new();
        for (at, (space, place)) in self.spaces.iter().enumerate() {
            let field = format!("spaces[{at}]");
            spaces.push((manageable(tx, &self.actor, &self.org, space, &field).await?, place.clone()));
        }
        if let Some((space, place)) = &self.fresh {
            spaces.push((create_in(tx, space.clone(), &self.by), place.clone()));
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
                rank: order::nth(at as u64),
                condition: None,
                space_deleted: space.deleted_at.is_some(),
            });
        }
        Ok(())
    }
}

pub(super) struct SiteUpdate {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
    pub(super) change: UpdateSite,
}

#[async_trait]
impl Operation for SiteUpdate {
    type Out = ();
    const NAME: &'static str = "site_update";

    fn taken(&self, key: &Key) -> Error {
        let basename = self.change.basename.as_ref();
        if basename.is_some_and(|name| SiteRecord::by_basename(name.as_str()) == *key) {
            return Error::conflict("basename: is in use by another site");
        }
        Error::conflict("proxy: is in use by another site")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, old) =
            access::site(tx, &self.actor, SiteRef { org: &self.org, site: &self.id }, SiteAction::Manage)
                .await?;
        let change = self.change.clone();
        let mut new = SiteRecord::clone(&old);
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
            section = Some(section_of(tx, &self.id, &wanted).await?.id.clone());
            new.default_section.clone_from(&section);
        }
        let wanted = change.default_site_space;
        let place = match &wanted {
            None => None,
            Some(wanted) => Some(place_of_site(tx, &self.id, wanted).await?),
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
        if new != *old {
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

pub(super) struct PublishSite {
    actor: Actor,
    org: OrgId,
    id: SiteId,
    published: bool,
}

impl PublishSite {
    pub(super) fn on(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { actor: actor.clone(), org: org.clone(), id: id.clone(), published: true }
    }

    pub(super) fn off(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { published: false, ..Self::on(actor, org, id) }
    }
}

#[async_trait]
impl Operation for PublishSite {
    type Out = ();
    const NAME: &'static str = "site_publish";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, old) =
            access::site(tx, &self.actor, SiteRef { org: &self.org, site: &self.id }, SiteAction::Manage)
                .await?;
        if old.published != self.published {
            let new = SiteRecord { published: self.published, ..SiteRecord::clone(&old) };
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

pub(super) struct SiteDeletion {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
    pub(super) job: JobId,
    pub(super) now: Timestamp,
}

#[async_trait]
impl Operation for SiteDeletion {
    type Out = ();
    const NAME: &'static str = "site_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (org, site) =
            access::site(tx, &self.actor, SiteRef { org: &self.org, site: &self.id }, SiteAction::Delete)
                .await?;
        let outline = Outline::load(tx, &site).await?;
        for place in outline.all_places() {
            tx.delete(&**place);
        }
        for node in outline.nodes() {
            match node {
                Node::Section(section) => tx.delete(&**section),
                Node::Group(group) => tx.delete(&**group),
            }
        }
        settings::drop_all(tx, &site.id, &self.job, self.now).await?;
        let org = org.org();
        if org.default_content.as_ref().is_some_and(|content| content.site == self.id) {
            let new = crate::store::records::OrgRecord { default_content: None, ..(**org).clone() };
            tx.put(&**org, new)?;
        }
        tx.delete(&*site);
        Ok(())
    }
}

/// Returns the section that a request names as the default.
async fn section_of(tx: &Tx, site: &SiteId, id: &str) -> Result<Arc<SectionRecord>> {
    let unknown = || Error::invalid("defaultSiteSection", "the site has no such section");
    let id = id.parse().map_err(|_| unknown())?;
    let section: Option<Arc<SectionRecord>> = tx.get(&SectionRecord::at(&id)).await?;
    section.filter(|section| section.site == *site).ok_or_else(unknown)
}

/// Returns the site space that a request names as the default.
async fn place_of_site(tx: &Tx, site: &SiteId, id: &str) -> Result<Arc<SiteSpaceRecord>> {
    let id = parse_place("defaultSiteSpace", id)?;
    let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::at(&id)).await?;
    let unknown = || Error::invalid("defaultSiteSpace", "the site has no such site space");
    place.filter(|place| place.site == *site).ok_or_else(unknown)
}

/// Sets the default space of a section.
async fn set_default_in(tx: &mut Tx, section: &SectionId, place: &SiteSpaceId) -> Result<()> {
    if let Some(old) = tx.get::<SectionRecord>(&SectionRecord::at(section)).await?
        && old.default_site_space.as_ref() != Some(place)
    {
        let new = SectionRecord { default_site_space: Some(place.clone()), ..SectionRecord::clone(&old) };
        tx.put(&*old, new)?;
    }
    Ok(())
}
