//! The members who have a role on a site, with the source of the role.

use std::sync::Arc;

use docs_macros::boxed;

use super::authorize_view;
use crate::{
    Error, Result,
    model::{
        MemberRole, OrgId, PermissionFromOrganization, PermissionFromSite, Role, SiteId,
        SitePermissionOrigin, SitePermissionReason, TeamId, UserSitePermission,
    },
    platform::{
        access::{Audience, HeldLayer},
        nouns::{GrantTarget, SiteHandle, filters::SitePermissionFilter, list_identities},
    },
    policy::{SiteRoleSource, site_role},
    store::{
        Entity as _, Key, KeyBuf, ListSpec, Lister, Page, PageRequest, Tx, decode,
        grams::GramQuery,
        records::{MemberRecord, TeamMemberRecord, TeamRecord},
    },
};

/// A member with a role on a site.
struct SiteMember {
    member: Arc<MemberRecord>,
    role: Role,
    origin: SitePermissionOrigin,
}

impl<'p> SiteHandle<'p> {
    /// Lists all members with a role on the site, with the source of the role.
    ///
    /// A page examines a limited number of members and may be short.
    ///
    /// # Errors
    /// `Forbidden` for guests, who must not see each other; `Invalid` for an unknown team.
    #[boxed]
    pub async fn list_permissions(
        self,
        filter: &'p SitePermissionFilter,
        page: &'p PageRequest,
    ) -> Result<Page<UserSitePermission>> {
        let Self { caller, at, .. } = self;
        let (platform, actor) = (caller.platform, &caller.actor());
        let tx = platform.read().await?;
        let seen = authorize_view(&tx, actor, GrantTarget::Site(at)).await?;
        let target = GrantTarget::Site(at).to_target();
        let audience = Audience::load(&tx, &target).await?;
        let team = find_team(&tx, at.org, filter.team.as_deref()).await?;
        let searched = filter.search.as_deref().and_then(GramQuery::new);
        let prefix = KeyBuf::new(MemberRecord::KIND).part(seen.org.org().id.as_str());
        let identity = list_identities::site_permissions(at.site, filter);
        let mut list = Lister::new(ListSpec { prefix, rev: false, identity }, page)?;
        while let Some(rows) = list.rows(&tx).await? {
            let mut members: Vec<Arc<MemberRecord>> = Vec::with_capacity(rows.len());
            for (_, value) in &rows {
                members.push(decode(value.clone())?);
            }
            let in_team = team_members(&tx, team.as_ref(), &members).await?;
            let held = audience.held(&tx, &members).await?;
            let found = members.into_iter().zip(held).zip(in_team).map(|((member, held), in_team)| {
                let fits = in_team && searched.as_ref().is_none_or(|wanted| member.matches(wanted));
                let found = site_member(at.org, at.site, member, &held)?;
                let has_role = filter.role.is_none_or(|role| role == MemberRole::from(found.role));
                (fits && has_role).then_some(found)
            });
            list.offer_all(&rows, found);
        }
        let page = list.finish(&tx, None).await?;
        let users: Vec<_> = page.items.iter().map(|found| found.member.user.clone()).collect();
        let users = platform.user_views(&tx, &users).await?;
        let items = page.items.into_iter().zip(users).map(|(found, user)| UserSitePermission {
            permission: found.role,
            user,
            origin: found.origin,
            disabled: false,
            last_seen_at: found.member.last_seen_at,
        });
        Ok(Page { items: items.collect(), next: page.next, count: page.count })
    }
}

/// Returns the role of a member on a site and its source.
fn site_member(
    org: &OrgId,
    site: &SiteId,
    member: Arc<MemberRecord>,
    held: &[HeldLayer<'_>],
) -> Option<SiteMember> {
    let held = held.first()?;
    let (role, source) = site_role(member.role, held.layer)?;
    let (reason, team) = match source {
        SiteRoleSource::Member => (SitePermissionReason::Member, None),
        SiteRoleSource::Team => (SitePermissionReason::Team, held.team.cloned()),
        SiteRoleSource::Level => (SitePermissionReason::Default, None),
        SiteRoleSource::Organization => {
            let (kind, organization) = (PermissionFromOrganization::Is, org.clone());
            let origin = SitePermissionOrigin::Organization { kind, organization };
            return Some(SiteMember { member, role, origin });
        }
    };
    let (kind, site) = (PermissionFromSite::Is, site.clone());
    Some(SiteMember { member, role, origin: SitePermissionOrigin::Site { kind, site, reason, team } })
}

/// Returns the team that a filter selects.
async fn find_team(tx: &Tx, org: &OrgId, id: Option<&str>) -> Result<Option<TeamId>> {
    let Some(id) = id else { return Ok(None) };
    let unknown = || Error::invalid("team", "the organization has no such team");
    let id: TeamId = id.parse().map_err(|_| unknown())?;
    let team: Option<Arc<TeamRecord>> = tx.get(&TeamRecord::key_for(&id)).await?;
    team.filter(|team| team.organization == *org).map(|_| Some(id)).ok_or_else(unknown)
}

/// Returns for each member if they are in the team. Without a team, all are.
async fn team_members(tx: &Tx, team: Option<&TeamId>, members: &[Arc<MemberRecord>]) -> Result<Vec<bool>> {
    let Some(team) = team else { return Ok(vec![true; members.len()]) };
    let keys: Vec<Key> = members.iter().map(|member| TeamMemberRecord::key_for(team, &member.user)).collect();
    Ok(tx.get_values(&keys).await?.iter().map(Option::is_some).collect())
}
