//! The spaces of new parts of a site: existing ones, or new ones that are created with the part.

use std::sync::Arc;

use crate::{
    Result,
    model::{CreateSpace, OrgId, SiteTitle, SpaceId, SpaceTitle},
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, write_window::WriteWindow},
        library::head::create_space,
        nouns::SiteRef,
        sites::manage::{SiteTarget, require_manageable_space},
    },
    policy::{OrgAction, SiteAction},
    store::{Hash, Tx, records::SpaceRecord},
};

/// The space of a new section or site space.
pub(in crate::platform) enum PartSpace {
    Existing(SpaceId),
    /// A space that is created together with the part, and the time frame of its objects.
    New(Box<SpaceRecord>, WriteWindow),
}

impl Platform {
    /// Returns the storage domain of a new space for a part of a site, if the actor may create it and manage the site.
    pub(in crate::platform) async fn part_space_domain(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
    ) -> Result<String> {
        let tx = self.read().await?;
        let (org, _) = access::require_site(&tx, actor, of, SiteAction::Manage).await?;
        org.require(OrgAction::CreateContent)?;
        Ok(org.org().domain.clone())
    }

    /// Returns a new space for a part of a site, with this title and stored content.
    pub(in crate::platform) fn new_part_space(
        &self,
        actor: &Actor,
        org: &OrgId,
        title: Option<&SiteTitle>,
        domain: String,
        root: Hash,
        storing: WriteWindow,
    ) -> Result<PartSpace> {
        let title = title.and_then(|title| SpaceTitle::from_truncated(title));
        let space = CreateSpace { title, ..CreateSpace::default() };
        let record = self.new_space(actor, org, &space, domain, root)?;
        Ok(PartSpace::New(Box::new(record), storing))
    }

    /// Rejects a new space that was prepared too long ago. The caller commits right after this check.
    pub(super) fn check_part_space(&self, space: &PartSpace) -> Result<()> {
        match space {
            PartSpace::Existing(_) => Ok(()),
            PartSpace::New(_, storing) => self.check_write_window(*storing),
        }
    }
}

impl PartSpace {
    /// Returns the space if the actor may publish it, or creates it.
    pub(super) async fn obtain(&self, tx: &mut Tx, on: &SiteTarget) -> Result<Arc<SpaceRecord>> {
        match self {
            Self::Existing(id) => require_manageable_space(tx, &on.actor, &on.org, id, "spaceId").await,
            Self::New(record, _) => {
                access::org(tx, &on.actor, &on.org).await?.require(OrgAction::CreateContent)?;
                Ok(create_space(tx, SpaceRecord::clone(record), on.actor.require_user()?))
            }
        }
    }
}
