//! Changes of sites: one operation each.

use std::sync::Arc;

use async_trait::async_trait;

use super::{MAX_SPACES, default_title, parse_place, place_of};
use crate::{
    Error, ErrorKind, Result,
    content::slugify,
    model::{
        Basename, CreateSite, OrgId, SiteId, SiteSpaceId, SiteSpacePath, SpaceId, Timestamp, UpdateSite,
        UserId,
    },
    platform::{Actor, access, spaces::create_in},
    policy::{OrgAction, SiteAction, SpaceAction},
    store::{
        Key, MAX_SCAN, Operation, Scan, Tx,
        records::{SiteRecord, SiteSpaceRecord, SpaceRecord},
    },
};

/// Room between two neighbours in a site's order.
const RANK_STEP: u64 = 1 << 32;
/// Names tried before chance decides.
const NAMES_TRIED: usize = 20;

pub(super) struct Create {
    pub(super) actor: Actor,
    pub(super) by: UserId,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
    pub(super) spaces: Vec<(SpaceId, SiteSpaceId)>,
    /// A space to create for the site.
    pub(super) fresh: Option<(SpaceRecord, SiteSpaceId)>,
    pub(super) new: CreateSite,
    pub(super) now: Timestamp,
    /// What makes a base name unique where its title does not.
    pub(super) salt: uuid::Uuid,
}

#[async_trait]
impl Operation for Create {
    type Out = ();
    const NAME: &'static str = "site_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let org = access::org(tx, &self.actor, &self.org).await?;
        org.require(OrgAction::CreateContent)?;
        let mut spaces = Vec::new();
        for (at, (space, place)) in self.spaces.iter().enumerate() {
            let field = format!("spaces[{at}]");
            spaces.push((manageable(tx, &self.actor, (&self.org, space), &field).await?, place.clone()));
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
            proxy: None,
            visibility: self.new.visibility.unwrap_or_default(),
            published: false,
            created_by: self.by.clone(),
            created_at: self.now,
            adaptive_content: Default::default(),
            agents_context: Default::default(),
            default_site_space: spaces.first().map(|(_, place)| place.clone()),
        });
        for (at, (space, place)) in spaces.iter().enumerate() {
            let path = free_path(tx, &site.id, &space.title, place).await?;
            let rank = (at as u64 + 1) * RANK_STEP;
            tx.create(SiteSpaceRecord {
                id: place.clone(),
                site: site.id.clone(),
                space: space.id.clone(),
                path,
                rank,
                condition: None,
            });
        }
        Ok(())
    }
}

pub(super) struct Add {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) site: SiteId,
    pub(super) space: SpaceId,
    pub(super) id: SiteSpaceId,
}

#[async_trait]
impl Operation for Add {
    type Out = ();
    const NAME: &'static str = "site_space_add";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, site) = access::site(tx, &self.actor, (&self.org, &self.site), SiteAction::Manage).await?;
        let space = manageable(tx, &self.actor, (&self.org, &self.space), "spaceId").await?;
        if u64::try_from(tx.number(&SiteSpaceRecord::count_in(&site.id)).await?).unwrap_or(0) >= MAX_SPACES {
            return Err(Error::conflict(format!("a site has at most {MAX_SPACES} spaces")));
        }
        let (from, to) = SiteSpaceRecord::of_site(&site.id).below();
        let last = tx.scan(&Scan { from, to, rev: true, limit: 1 }).await?;
        let last = match last.first() {
            Some((row, _)) => tx.get::<SiteSpaceRecord>(&place_of(row)).await?,
            None => None,
        };
        let path = free_path(tx, &site.id, &space.title, &self.id).await?;
        tx.create(SiteSpaceRecord {
            id: self.id.clone(),
            site: site.id.clone(),
            space: space.id.clone(),
            path,
            rank: last.map_or(0, |last| last.rank) + RANK_STEP,
            condition: None,
        });
        if site.default_site_space.is_none() {
            let new = SiteRecord { default_site_space: Some(self.id.clone()), ..SiteRecord::clone(&site) };
            tx.put(&*site, new)?;
        }
        Ok(())
    }
}

pub(super) struct Update {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
    pub(super) change: UpdateSite,
}

#[async_trait]
impl Operation for Update {
    type Out = ();
    const NAME: &'static str = "site_update";

    fn taken(&self, key: &Key) -> Error {
        let basename = self.change.basename.as_ref();
        if basename.is_some_and(|name| SiteRecord::by_basename(name.as_str()) == *key) {
            return Error::conflict("basename: another site has it");
        }
        Error::conflict("proxy: another site is mounted there")
    }

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, old) = access::site(tx, &self.actor, (&self.org, &self.id), SiteAction::Manage).await?;
        let change = self.change.clone();
        let mut new = SiteRecord::clone(&old);
        new.title = change.title.unwrap_or(new.title);
        new.visibility = change.visibility.unwrap_or(new.visibility);
        new.basename = change.basename.unwrap_or(new.basename);
        new.adaptive_content = change.adaptive_content.unwrap_or(new.adaptive_content);
        new.agents_context = change.agents_context.unwrap_or(new.agents_context);
        new.proxy = change.proxy.apply(new.proxy);
        if change.default_site_section.is_some() {
            return Err(Error::invalid("defaultSiteSection", "the site has no such section"));
        }
        if let Some(wanted) = change.default_site_space {
            let id = parse_place("defaultSiteSpace", &wanted)?;
            let place: Option<Arc<SiteSpaceRecord>> = tx.get(&SiteSpaceRecord::at(&id)).await?;
            if place.is_none_or(|place| place.site != self.id) {
                return Err(Error::invalid("defaultSiteSpace", "the site has no such site space"));
            }
            new.default_site_space = Some(id);
        }
        if new != *old {
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

pub(super) struct Publish {
    actor: Actor,
    org: OrgId,
    id: SiteId,
    published: bool,
}

impl Publish {
    pub(super) fn on(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { actor: actor.clone(), org: org.clone(), id: id.clone(), published: true }
    }

    pub(super) fn off(actor: &Actor, org: &OrgId, id: &SiteId) -> Self {
        Self { published: false, ..Self::on(actor, org, id) }
    }
}

#[async_trait]
impl Operation for Publish {
    type Out = ();
    const NAME: &'static str = "site_publish";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (_, old) = access::site(tx, &self.actor, (&self.org, &self.id), SiteAction::Manage).await?;
        if old.published != self.published {
            let new = SiteRecord { published: self.published, ..SiteRecord::clone(&old) };
            tx.put(&*old, new)?;
        }
        Ok(())
    }
}

pub(super) struct Delete {
    pub(super) actor: Actor,
    pub(super) org: OrgId,
    pub(super) id: SiteId,
}

#[async_trait]
impl Operation for Delete {
    type Out = ();
    const NAME: &'static str = "site_delete";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let (org, site) = access::site(tx, &self.actor, (&self.org, &self.id), SiteAction::Manage).await?;
        let (from, to) = SiteSpaceRecord::of_site(&site.id).below();
        // A site has at most as many spaces as one transaction takes.
        let rows = tx.scan(&Scan { from, to, rev: false, limit: MAX_SCAN }).await?;
        for (row, _) in rows {
            if let Some(place) = tx.get::<SiteSpaceRecord>(&place_of(&row)).await? {
                tx.delete(&*place);
            }
        }
        let org = org.org();
        if org.default_content.as_ref().is_some_and(|content| content.site == self.id) {
            let new = crate::store::records::OrgRecord { default_content: None, ..(**org).clone() };
            tx.put(&**org, new)?;
        }
        tx.delete(&*site);
        Ok(())
    }
}

/// Takes a space off its site; the default passes to the first that remains.
pub(in crate::platform) async fn remove_place(
    tx: &mut Tx,
    site: &SiteRecord,
    place: &SiteSpaceRecord,
) -> Result<()> {
    tx.delete(place);
    if site.default_site_space.as_ref() == Some(&place.id) {
        let first = tx.below(&SiteSpaceRecord::of_site(&site.id), 1).await?;
        let first = match first.first() {
            Some((row, _)) => tx.get::<SiteSpaceRecord>(&place_of(row)).await?,
            None => None,
        };
        let new = SiteRecord { default_site_space: first.map(|first| first.id.clone()), ..site.clone() };
        tx.put(site, new)?;
    }
    Ok(())
}

/// A space that the actor may put on a site.
async fn manageable(
    tx: &Tx,
    actor: &Actor,
    (org, space): (&OrgId, &SpaceId),
    field: &str,
) -> Result<Arc<SpaceRecord>> {
    let access = access::space(tx, actor, space).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::invalid(field, "no such space"),
        _ => error,
    })?;
    if access.space().organization != *org {
        return Err(Error::invalid(field, "the space belongs to another organization"));
    }
    Ok(Arc::clone(access.require(SpaceAction::Manage)?.space()))
}

/// A path for a space that its site does not have yet: the slug of its title, with a number where that is taken.
async fn free_path(tx: &Tx, site: &SiteId, title: &str, id: &SiteSpaceId) -> Result<SiteSpacePath> {
    let slug = slugify(title);
    let slug = if slug.is_empty() { "space".to_owned() } else { slug };
    let names = candidates(&slug, 100);
    let keys: Vec<Key> = names.iter().map(|name| SiteSpaceRecord::by_path(site, name)).collect();
    let taken = tx.get_values(&keys).await?;
    let free = names.into_iter().zip(taken).find(|(_, taken)| taken.is_none()).map(|(name, _)| name);
    SiteSpacePath::new(free.unwrap_or_else(|| id.to_string())).map_err(Error::internal)
}

/// A base name that no site has yet.
async fn free_basename(tx: &Tx, title: &str, salt: uuid::Uuid) -> Result<Basename> {
    let slug: String =
        slugify(title).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "docs" } else { slug };
    let names = candidates(slug, 100);
    let keys: Vec<Key> = names.iter().map(|name| SiteRecord::by_basename(name)).collect();
    let taken = tx.get_values(&keys).await?;
    let free = names.into_iter().zip(taken).find(|(_, taken)| taken.is_none()).map(|(name, _)| name);
    let name = free.unwrap_or_else(|| format!("docs-{}", crate::ports::id_text(salt)));
    Basename::new(name).map_err(Error::internal)
}

/// A name, and the name with 2, 3 … behind it, each within a number of characters.
fn candidates(name: &str, longest: usize) -> Vec<String> {
    (1..=NAMES_TRIED)
        .map(|number| {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let kept: String = name.chars().take(longest - suffix.len()).collect();
            format!("{}{suffix}", kept.trim_end_matches('-'))
        })
        .collect()
}
