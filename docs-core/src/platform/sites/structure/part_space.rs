//! The spaces of new parts of a site: existing ones, or new ones that are created with the part.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{CreateSpace, SiteTitle, SpaceId, SpaceTitle},
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, write_window::WriteWindow},
        library::head::create_space,
        nouns::SiteRef,
        sites::manage::{SiteTarget, require_manageable_space},
    },
    policy::OrgAction,
    store::{Tx, records::SpaceRecord},
};

/// The space of a new section or site space.
pub(super) enum PartSpace {
    Existing(SpaceId),
    /// An empty space that is created together with the part, and the time frame of its objects.
    New(Box<SpaceRecord>, WriteWindow),
}

impl Platform {
    /// Returns the space that a request selects by `spaceId`. Without an id, it is a new space with this title.
    pub(super) async fn part_space(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        id: Option<&String>,
        title: Option<&SiteTitle>,
    ) -> Result<PartSpace> {
        if let Some(id) = id {
            return id
                .parse()
                .map(PartSpace::Existing)
                .map_err(|_| Error::invalid("spaceId", "no such space"));
        }
        let domain = {
            let tx = self.read().await?;
            let access = access::org(&tx, actor, of.org).await?;
            access.require(OrgAction::CreateContent)?;
            access.org().domain.clone()
        };
        let storing = self.begin_write_window();
        let root = self.content().empty_root(&domain).await?;
        let title = title.and_then(|title| SpaceTitle::from_truncated(title));
        let space = CreateSpace { title, ..CreateSpace::default() };
        let record = self.new_space(actor, of.org, &space, domain, root)?;
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
