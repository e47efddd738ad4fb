//! Members who preview a site.

use std::sync::Arc;

use chrono::TimeDelta;
use serde_json::{Map, Value};

use super::UNSIGNED;
use crate::{
    Error, ErrorKind, Result,
    model::{OrgId, SpaceId},
    platform::{
        access::{self, AccessResolver},
        kernel::{
            actor::{Actor, Pass, Signer, SitePreview, Visitor},
            platform::Platform,
            token_user::TokenUser,
            urls::Urls,
        },
        nouns::SiteRef,
        publishing::outline::LiveSpaces,
    },
    policy::OrgAccess,
    store::{Tx, records::SiteRecord},
};

/// The lifetime of a preview.
pub(in crate::platform) const PREVIEW_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The settings of a preview.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::platform) struct PreviewOptions {
    /// `true` shows drafts of sections and spaces.
    pub(in crate::platform) drafts: bool,
    /// The claims of the visitor whose view is previewed. Unsigned claims are under `unsigned`.
    pub(in crate::platform) claims: Map<String, Value>,
}

impl SitePreview {
    /// Returns the member as an actor.
    ///
    /// # Errors
    /// `NotFound` for the key of a site, which belongs to no member.
    pub(in crate::platform) fn actor(&self, org: &OrgId, urls: &Urls) -> Result<Actor> {
        match &self.member {
            Signer::Key(_) => Err(Error::not_found("site")),
            Signer::Member(user) => Ok(Actor::Token(TokenUser::new(user.clone(), None, urls))),
            Signer::Session(user) => Ok(Actor::Token(TokenUser::new(user.clone(), Some(org.clone()), urls))),
            Signer::Host(user) => Ok(Actor::User(user.clone())),
        }
    }
}

impl Platform {
    /// Returns a site, and the visitor for its preview by a member. Access is checked again when the visitor reads.
    ///
    /// # Errors
    /// `NotFound` without access to the site; `Forbidden` for an actor without a user.
    pub(in crate::platform) async fn preview_visitor(
        &self,
        tx: &Tx,
        actor: &Actor,
        at: SiteRef<'_>,
        options: PreviewOptions,
    ) -> Result<(Arc<SiteRecord>, Visitor)> {
        // The session of another organization is not one of the organization of the site.
        let (_, access) = access::site(tx, actor, at).await?;
        let signer = Signer::from_actor(actor);
        let member = signer.ok_or_else(|| Error::forbidden("only a user can preview a site"))?;
        let PreviewOptions { drafts, claims: mut signed } = options;
        let unsigned = signed.remove(UNSIGNED).unwrap_or_else(|| Value::Object(Map::new()));
        let visitor = Visitor {
            site: Some(at.site.clone()),
            pass: Pass::None,
            signed_by: None,
            until: Some((self.now().time() + PREVIEW_WINDOW).timestamp()),
            signed: Value::Object(signed).to_string().into(),
            unsigned: unsigned.to_string().into(),
            is_user: false,
            preview: Some(SitePreview { member, drafts }),
        };
        Ok((Arc::clone(access.site()), visitor))
    }

    /// Returns `true` if the member of a preview has access to the site.
    pub(super) async fn may_preview(
        &self,
        tx: &Tx,
        preview: &SitePreview,
        site: &SiteRecord,
    ) -> Result<bool> {
        let actor = preview.actor(&site.organization, self.urls())?;
        let at = SiteRef { org: &site.organization, site: &site.id };
        Ok(accessible(access::site(tx, &actor, at).await)?.is_some())
    }

    /// Keeps the spaces that the member of a preview may read.
    pub(super) async fn previewed_spaces(
        &self,
        tx: &Tx,
        preview: &SitePreview,
        site: &SiteRecord,
        spaces: LiveSpaces,
    ) -> Result<LiveSpaces> {
        let actor = preview.actor(&site.organization, self.urls())?;
        let org: Option<OrgAccess> = accessible(access::org(tx, &actor, &site.organization).await)?;
        let Some(org) = org else { return Ok(LiveSpaces::new()) };
        let spaces = spaces.into_values().map(Some).collect();
        let seen = AccessResolver::new(org, &actor).spaces(tx, spaces).await?.into_iter().flatten();
        Ok(seen.map(|access| (access.space().id.clone(), Arc::clone(access.space()))).collect())
    }

    /// Returns the actor whose roles decide on the change requests and revisions that the caller may read in a space:
    /// for a preview whose site shows the space, its member; otherwise the caller.
    pub(in crate::platform) async fn reader_of_history(
        &self,
        tx: &Tx,
        actor: &Actor,
        space: &SpaceId,
    ) -> Result<Actor> {
        let Actor::Visitor(visitor) = actor else { return Ok(actor.clone()) };
        let Some(preview) = &visitor.preview else { return Ok(actor.clone()) };
        let admitted = self.admit(tx, visitor, space).await?;
        preview.actor(&admitted.access.space().organization, self.urls())
    }
}

/// Returns the access, or `None` if it was rejected.
fn accessible<T>(access: Result<T>) -> Result<Option<T>> {
    match access {
        Ok(access) => Ok(Some(access)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Forbidden) => Ok(None),
        Err(error) => Err(error),
    }
}
