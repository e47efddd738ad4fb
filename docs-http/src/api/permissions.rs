//! Operations on explicit roles, defined once and mounted for spaces and collections.

use docs_core::{
    Platform,
    model::{
        CollectionId, ContentTarget, Grantee, Invite, List, Role, SpaceId, TeamPermission, UpdatePermission,
        UserPermission,
    },
};
use poem_openapi::OpenApi;

use super::{
    ApiResult, ApiTag, AsCaller as _, Auth, Deleted, Empty, Idempotency, NoContent, PageQuery, Path, Query,
    Reply, Strict, TeamRole, UserRole,
};

pub(super) type Permissions = (SpacePermissions, CollectionPermissions);

/// Creates the operations on explicit roles.
pub(super) fn permissions(platform: &Platform) -> Permissions {
    (SpacePermissions(platform.clone()), CollectionPermissions(platform.clone()))
}

/// Declares the operations on explicit roles for one kind of content.
///
/// An invocation specifies the path prefix, the name and type of the parameter that identifies the content, its variant
/// of `ContentTarget`, and the id and summary of each operation.
macro_rules! mount {
    (
        $(#[$doc:meta])*
        $Mount:ident at $prefix:tt with $name:tt as $Id:ident in $target:expr;
        $invite:tt $invite_title:tt;
        $users:tt $users_title:tt;
        $update_user:tt $update_user_title:tt;
        $remove_user:tt $remove_user_title:tt;
        $teams:tt $teams_title:tt;
        $update_team:tt $update_team_title:tt;
        $remove_team:tt $remove_team_title:tt;
        $aggregate:tt $aggregate_title:tt;
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
                #[oai(name = $name)] content: Path<$Id>,
                invite: Strict<Invite>,
            ) -> ApiResult<NoContent> {
                auth.caller(&idempotency.platform(&self.0)).permissions(&$target(content.0)).invite(invite.0).await?;
                Ok(Empty)
            }

            #[doc = $users_title]
            ///
            /// Returns only users with an explicit role.
            #[oai(path = "/users", method = "get", operation_id = $users)]
            async fn users(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                page: PageQuery,
            ) -> ApiResult<Reply<List<UserPermission>>> {
                let content = $target(content.0);
                Ok(Reply(auth.caller(&self.0).permissions(&content).list_users(&page.0).await?.into()))
            }

            #[doc = $update_user_title]
            ///
            /// Changes an explicit role; `null` removes it.
            #[oai(path = "/users/:userId", method = "patch", operation_id = $update_user)]
            async fn update_user(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                #[oai(name = "userId")] of: Path<UserRole>,
                change: Strict<UpdatePermission>,
            ) -> ApiResult<NoContent> {
                auth.caller(&self.0).permissions(&$target(content.0)).update(&Grantee::User(of.0), change.0).await?;
                Ok(Empty)
            }

            #[doc = $remove_user_title]
            ///
            /// Succeeds if the user has no explicit role. Access through the content's levels and through teams does
            /// not change.
            #[oai(path = "/users/:userId", method = "delete", operation_id = $remove_user)]
            async fn remove_user(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id, Deleted>,
                #[oai(name = "userId")] of: Path<UserRole, Deleted>,
            ) -> ApiResult<NoContent> {
                auth.caller(&self.0).permissions(&$target(content.0)).remove(&Grantee::User(of.0)).await?;
                Ok(Empty)
            }

            #[doc = $teams_title]
            ///
            /// Returns only teams with an explicit role.
            #[oai(path = "/teams", method = "get", operation_id = $teams)]
            async fn teams(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                page: PageQuery,
            ) -> ApiResult<Reply<List<TeamPermission>>> {
                let content = $target(content.0);
                Ok(Reply(auth.caller(&self.0).permissions(&content).list_teams(&page.0).await?.into()))
            }

            #[doc = $update_team_title]
            ///
            /// `null` removes the role.
            #[oai(path = "/teams/:teamId", method = "patch", operation_id = $update_team)]
            async fn update_team(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                #[oai(name = "teamId")] of: Path<TeamRole>,
                change: Strict<UpdatePermission>,
            ) -> ApiResult<NoContent> {
                auth.caller(&self.0).permissions(&$target(content.0)).update(&Grantee::Team(of.0), change.0).await?;
                Ok(Empty)
            }

            #[doc = $remove_team_title]
            ///
            /// Succeeds if the team has no explicit role.
            #[oai(path = "/teams/:teamId", method = "delete", operation_id = $remove_team)]
            async fn remove_team(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id, Deleted>,
                #[oai(name = "teamId")] of: Path<TeamRole, Deleted>,
            ) -> ApiResult<NoContent> {
                auth.caller(&self.0).permissions(&$target(content.0)).remove(&Grantee::Team(of.0)).await?;
                Ok(Empty)
            }

            #[doc = $aggregate_title]
            ///
            /// Returns the users who have a role from any source. A page can contain fewer items than requested and
            /// still have a `next` page.
            #[oai(path = "/aggregate", method = "get", operation_id = $aggregate)]
            async fn aggregate(
                &self,
                auth: Auth,
                #[oai(name = $name)] content: Path<$Id>,
                page: PageQuery,
                /// Restricts the list to users with this role.
                role: Query<Role>,
            ) -> ApiResult<Reply<List<UserPermission>>> {
                let content = $target(content.0);
                Ok(Reply(auth.caller(&self.0).permissions(&content).list(role.0, &page.0).await?.into()))
            }
        }
    };
}

mount! {
    /// Roles on a space.
    SpacePermissions at "/spaces/:spaceId/permissions" with "spaceId" as SpaceId in ContentTarget::Space;
    "inviteToSpace" "Grant users and teams a role on a space";
    "listUserPermissionsInSpace" "List the users who have a role on a space";
    "updateUserPermissionInSpace" "Change the role of a user on a space";
    "removeUserFromSpace" "Remove the role of a user on a space";
    "listTeamPermissionsInSpace" "List the teams that have a role on a space";
    "updateTeamPermissionInSpace" "Change the role of a team on a space";
    "removeTeamFromSpace" "Remove the role of a team on a space";
    "listPermissionsAggregateInSpace" "List all members who have a role on a space";
}

mount! {
    /// Roles on a collection and its content.
    CollectionPermissions at "/collections/:collectionId/permissions" with "collectionId" as CollectionId in ContentTarget::Collection;
    "inviteToCollection" "Grant users and teams a role on a collection";
    "listUserPermissionsInCollection" "List the users who have a role on a collection";
    "updateUserPermissionInCollection" "Change the role of a user on a collection";
    "removeUserFromCollection" "Remove the role of a user on a collection";
    "listTeamPermissionsInCollection" "List the teams that have a role on a collection";
    "updateTeamPermissionInCollection" "Change the role of a team on a collection";
    "removeTeamFromCollection" "Remove the role of a team on a collection";
    "listPermissionsAggregateInCollection" "List all members who have a role on a collection";
}
