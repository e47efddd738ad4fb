//! Operations on explicit roles, defined once and mounted for spaces, collections and sites.

use docs_core::{
    Platform,
    model::{
        BoundedText, CollectionId, Grantee, Invite, List, MemberRole, OrgId, Role, SiteId, SpaceId,
        TeamPermission, UpdatePermission, UserPermission, UserSitePermission,
    },
    platform::SitePermissionFilter,
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Deleted, Empty, Idempotency, NoContent, PageQuery, Path, Query,
    Reply, Strict, TeamRole, UserRole,
};

pub(super) type Permissions = (
    SpacePermissions,
    AllSpacePermissions,
    CollectionPermissions,
    AllCollectionPermissions,
    SitePermissions,
    AllSitePermissions,
);

/// Creates the operations on explicit roles.
pub(super) fn permissions(platform: &Platform) -> Permissions {
    (
        SpacePermissions(platform.clone()),
        AllSpacePermissions(platform.clone()),
        CollectionPermissions(platform.clone()),
        AllCollectionPermissions(platform.clone()),
        SitePermissions(platform.clone()),
        AllSitePermissions(platform.clone()),
    )
}

/// Declares the operations on explicit roles for one kind of resource.
///
/// An invocation specifies the path prefix, the path parameters that identify the resource, the handle of its
/// permissions, and the id and summary of each operation.
macro_rules! mount {
    (
        $(#[$doc:meta])*
        $Mount:ident at $prefix:tt with $($arg:ident: $Id:ident = $name:tt),+;
        |$caller:ident| $handle:expr;
        $invite:tt $invite_title:tt;
        $users:tt $users_title:tt;
        $update_user:tt $update_user_title:tt;
        $remove_user:tt $remove_user_title:tt;
        $teams:tt $teams_title:tt;
        $update_team:tt $update_team_title:tt;
        $remove_team:tt $remove_team_title:tt;
    ) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Mount(Platform);

        #[OpenApi(prefix_path = $prefix, tag = "ApiTag::Permissions")]
        impl $Mount {
            #[doc = $invite_title]
            ///
            /// Replaces previous roles; `null` removes a role. Callers can neither grant nor remove a role above their
            /// own.
            #[oai(path = "/", method = "post", operation_id = $invite)]
            async fn invite(
                &self,
                auth: Auth,
                #[oai(name = "Idempotency-Key")] idempotency: Idempotency,
                $(#[oai(name = $name)] $arg: Path<$Id>,)+
                invite: Strict<Invite>,
            ) -> ApiResult<NoContent> {
                let platform = idempotency.platform(&self.0);
                let $caller = auth.caller(&platform);
                $handle.invite(invite.0).await?;
                Ok(Empty)
            }

            #[doc = $users_title]
            ///
            /// Returns only users with an explicit role.
            #[oai(path = "/users", method = "get", operation_id = $users)]
            async fn users(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id>,)+
                page: PageQuery,
            ) -> ApiResult<Reply<List<UserPermission>>> {
                let $caller = auth.caller(&self.0);
                Ok(Reply($handle.list_users(&page.0).await?.into()))
            }

            #[doc = $update_user_title]
            ///
            /// Changes an explicit role; `null` removes it.
            #[oai(path = "/users/:userId", method = "patch", operation_id = $update_user)]
            async fn update_user(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id>,)+
                #[oai(name = "userId")] of: Path<UserRole>,
                change: Strict<UpdatePermission>,
            ) -> ApiResult<NoContent> {
                let $caller = auth.caller(&self.0);
                $handle.update(&Grantee::User(of.0), change.0).await?;
                Ok(Empty)
            }

            #[doc = $remove_user_title]
            ///
            /// Succeeds if the user has no explicit role. Access through default levels and through teams does not
            /// change.
            #[oai(path = "/users/:userId", method = "delete", operation_id = $remove_user)]
            async fn remove_user(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id, Deleted>,)+
                #[oai(name = "userId")] of: Path<UserRole, Deleted>,
            ) -> ApiResult<NoContent> {
                let $caller = auth.caller(&self.0);
                $handle.remove(&Grantee::User(of.0)).await?;
                Ok(Empty)
            }

            #[doc = $teams_title]
            ///
            /// Returns only teams with an explicit role.
            #[oai(path = "/teams", method = "get", operation_id = $teams)]
            async fn teams(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id>,)+
                page: PageQuery,
            ) -> ApiResult<Reply<List<TeamPermission>>> {
                let $caller = auth.caller(&self.0);
                Ok(Reply($handle.list_teams(&page.0).await?.into()))
            }

            #[doc = $update_team_title]
            ///
            /// `null` removes the role.
            #[oai(path = "/teams/:teamId", method = "patch", operation_id = $update_team)]
            async fn update_team(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id>,)+
                #[oai(name = "teamId")] of: Path<TeamRole>,
                change: Strict<UpdatePermission>,
            ) -> ApiResult<NoContent> {
                let $caller = auth.caller(&self.0);
                $handle.update(&Grantee::Team(of.0), change.0).await?;
                Ok(Empty)
            }

            #[doc = $remove_team_title]
            ///
            /// Succeeds if the team has no explicit role.
            #[oai(path = "/teams/:teamId", method = "delete", operation_id = $remove_team)]
            async fn remove_team(
                &self,
                auth: Auth,
                $(#[oai(name = $name)] $arg: Path<$Id, Deleted>,)+
                #[oai(name = "teamId")] of: Path<TeamRole, Deleted>,
            ) -> ApiResult<NoContent> {
                let $caller = auth.caller(&self.0);
                $handle.remove(&Grantee::Team(of.0)).await?;
                Ok(Empty)
            }
        }
    };
}

/// Declares the list of all members who have a role on one kind of content.
macro_rules! aggregate {
    ($(#[$doc:meta])* $Mount:ident at $prefix:tt with $name:tt as $Id:ident in $handle:ident; $id:tt $title:tt;) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $Mount(Platform);

        #[OpenApi(prefix_path = $prefix, tag = "ApiTag::Permissions")]
        impl $Mount {
            #[doc = $title]
            ///
            /// Returns the users who have a role from any source. A page can contain fewer items than requested and
            /// still have a `next` page.
            #[oai(path = "/aggregate", method = "get", operation_id = $id)]
            async fn aggregate(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                page: PageQuery,
                /// Restricts the list to users with this role.
                role: Query<Role>,
            ) -> ApiResult<Reply<List<UserPermission>>> {
                let permissions = auth.caller(&self.0).$handle(&content).permissions();
                Ok(Reply(permissions.list(role.0, &page.0).await?.into()))
            }
        }
    };
}

mount! {
    /// Roles on a space.
    SpacePermissions at "/spaces/:spaceId/permissions" with space: SpaceId = "spaceId";
    |caller| caller.space(&space).permissions();
    "inviteToSpace" "Grant users and teams a role on a space";
    "listUserPermissionsInSpace" "List the users who have a role on a space";
    "updateUserPermissionInSpace" "Change the role of a user on a space";
    "removeUserFromSpace" "Remove the role of a user on a space";
    "listTeamPermissionsInSpace" "List the teams that have a role on a space";
    "updateTeamPermissionInSpace" "Change the role of a team on a space";
    "removeTeamFromSpace" "Remove the role of a team on a space";
}

aggregate! {
    /// Members with a role on a space.
    AllSpacePermissions at "/spaces/:spaceId/permissions" with "spaceId" as SpaceId in space;
    "listPermissionsAggregateInSpace" "List all members who have a role on a space";
}

mount! {
    /// Roles on a collection and its content.
    CollectionPermissions at "/collections/:collectionId/permissions" with collection: CollectionId = "collectionId";
    |caller| caller.collection(&collection).permissions();
    "inviteToCollection" "Grant users and teams a role on a collection";
    "listUserPermissionsInCollection" "List the users who have a role on a collection";
    "updateUserPermissionInCollection" "Change the role of a user on a collection";
    "removeUserFromCollection" "Remove the role of a user on a collection";
    "listTeamPermissionsInCollection" "List the teams that have a role on a collection";
    "updateTeamPermissionInCollection" "Change the role of a team on a collection";
    "removeTeamFromCollection" "Remove the role of a team on a collection";
}

aggregate! {
    /// Members with a role on a collection.
    AllCollectionPermissions at "/collections/:collectionId/permissions" with "collectionId" as CollectionId in collection;
    "listPermissionsAggregateInCollection" "List all members who have a role on a collection";
}

mount! {
    /// Roles on a site.
    SitePermissions at "/orgs/:organizationId/sites/:siteId/permissions"
        with org: OrgId = "organizationId", site: SiteId = "siteId";
    |caller| caller.org(&org).site(&site).permissions();
    "inviteToSite" "Grant users and teams a role on a site";
    "listUserPermissionsInSite" "List the users who have a role on a site";
    "updateUserPermissionInSite" "Change the role of a user on a site";
    "removeUserFromSite" "Remove the role of a user on a site";
    "listTeamPermissionsInSite" "List the teams that have a role on a site";
    "updateTeamPermissionInSite" "Change the role of a team on a site";
    "removeTeamFromSite" "Remove the role of a team on a site";
}

/// Members with a role on a site.
#[derive(Debug)]
pub struct AllSitePermissions(Platform);

#[OpenApi(prefix_path = "/orgs/:organizationId/sites/:siteId/permissions", tag = "ApiTag::Permissions")]
impl AllSitePermissions {
    /// List all members who have a role on a site
    ///
    /// Returns the members who have a role from any source, with the source. A page can contain fewer items than
    /// requested and still have a `next` page.
    #[oai(path = "/aggregate", method = "get", operation_id = "listPermissionsAggregateInSite")]
    async fn aggregate(
        &self,
        auth: Auth,
        #[oai(name = "organizationId")] org: Path<OrgId>,
        #[oai(name = "siteId")] site: Path<SiteId>,
        page: PageQuery,
        /// Restricts the list to members with this role on the site. `guest` selects no members.
        role: Query<MemberRole>,
        /// Restricts the list to members whose name or e-mail address contains this text, ignoring case.
        search: Query<BoundedText<0, 512>>,
        /// Restricts the list to members of this team.
        team: Query<String>,
    ) -> ApiResult<Reply<List<UserSitePermission>>> {
        let filter = SitePermissionFilter { role: role.0, search: search.0, team: team.0 };
        let site = auth.caller(&self.0).org(&org).site(&site);
        Ok(Reply(site.list_permissions(&filter, &page.0).await?.into()))
    }
}
