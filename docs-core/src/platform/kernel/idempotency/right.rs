//! Rights that are checked before a stored response is replayed.

use crate::{
    Result,
    model::{ContentTarget, OrgId, SiteId, SpaceId, TranslationId},
    platform::{
        Actor, access,
        exchange::translations,
        library::{invites, permissions, tree},
        nouns::SiteRef,
    },
    policy::{OrgAction, SiteAction, SpaceAction},
    store::{Tx, records::LinkGives},
};

/// The right that an operation needs, checked again before its stored response is replayed.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::platform) enum Right {
    Org(OrgId, OrgAction),
    /// The right to create content in an organization, or in the collection that the request names.
    CreateIn(OrgId, Option<Box<str>>),
    Site(OrgId, SiteId),
    Space(SpaceId, SpaceAction),
    /// The right to grant roles on content.
    Permissions(ContentTarget),
    /// The right to manage invite links of an organization with this grant.
    Link(OrgId, LinkGives),
    /// The right to have a space of an organization translated.
    Translate(OrgId, SpaceId),
    Translation(OrgId, TranslationId),
}

impl Right {
    /// The right to manage a site.
    pub(in crate::platform) fn of_site(at: SiteRef<'_>) -> Self {
        Self::Site(at.org.clone(), at.site.clone())
    }

    /// Checks that the actor holds the right now.
    ///
    /// # Errors
    /// Same as the operation: `NotFound` or `Forbidden`, and `Invalid` for a parent collection that is not visible.
    pub(super) async fn prove(&self, tx: &Tx, actor: &Actor) -> Result<()> {
        match self {
            Self::Org(org, action) => access::org(tx, actor, org).await?.require(*action).map(drop),
            Self::CreateIn(org, parent) => match parent {
                Some(parent) => {
                    access::org(tx, actor, org).await?;
                    tree::named_parent(tx, actor, org, parent).await.map(drop)
                }
                None => access::org(tx, actor, org).await?.require(OrgAction::CreateContent).map(drop),
            },
            Self::Site(org, site) => {
                access::site(tx, actor, SiteRef { org, site }, SiteAction::Manage).await.map(drop)
            }
            Self::Space(space, action) => access::space(tx, actor, space).await?.require(*action).map(drop),
            Self::Permissions(content) => permissions::require_manager(tx, actor, content).await,
            Self::Link(org, gives) => invites::require_link_manager(tx, actor, (org, gives)).await,
            Self::Translate(org, source) => {
                access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
                access::space(tx, actor, source).await?.require(SpaceAction::Manage).map(drop)
            }
            Self::Translation(org, id) => translations::require_editor(tx, actor, (org, id)).await,
        }
    }
}
