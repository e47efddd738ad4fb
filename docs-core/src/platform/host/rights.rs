//! Permissions checked before a stored response is replayed.

use crate::{
    Result,
    platform::{
        access,
        exchange::translations,
        kernel::{actor::Actor, platform::Platform, request::Right},
        library::{permissions, tree},
        nouns::{SiteRef, addresses::SharedSiteRef},
        people::{joining, orgs},
    },
    policy::{OrgAction, SiteAction, SpaceAction},
    store::Tx,
};

impl Right {
    /// Checks that the actor still has the permission.
    ///
    /// # Errors
    /// Same as the operation: `NotFound` or `Forbidden`, and `Invalid` for a parent collection that is not visible.
    pub(super) async fn prove(&self, platform: &Platform, tx: &Tx, actor: &Actor) -> Result<()> {
        match self {
            Self::Org(org, action) => access::org(tx, actor, org).await?.require(*action).map(drop),
            Self::FoundOrg => orgs::require_founder(actor).map(drop),
            Self::CreateIn(org, parent) => match parent {
                Some(parent) => {
                    access::org(tx, actor, org).await?;
                    tree::resolve_named_parent(tx, actor, org, parent).await.map(drop)
                }
                None => access::org(tx, actor, org).await?.require(OrgAction::CreateContent).map(drop),
            },
            Self::Site(org, site) => {
                access::require_site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await.map(drop)
            }
            Self::ReadSite(org, site, share_key) => {
                let of = SharedSiteRef { org, site, share_key: share_key.as_deref() };
                platform.published_site(tx, actor, of).await.map(drop)
            }
            Self::Space(space, action) => access::space(tx, actor, space).await?.require(*action).map(drop),
            Self::Permissions(content) => permissions::require_manager(tx, actor, content).await,
            Self::Link(org, gives) => joining::require_link_manager(tx, actor, org, gives).await,
            Self::Translate(org, source) => {
                access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
                access::space(tx, actor, source).await?.require(SpaceAction::Manage).map(drop)
            }
            Self::Translation(org, id) => translations::require_editor(tx, actor, org, id).await,
        }
    }
}
