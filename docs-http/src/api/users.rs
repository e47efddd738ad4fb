//! Operations on users.

use docs_core::{
    Platform,
    model::{UpdateUser, User, UserId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Condition, Path, Reply, Strict};

#[derive(Debug)]
pub struct Users(pub(super) Platform);

#[OpenApi(tag = "ApiTag::Users")]
impl Users {
    /// Get the authenticated user
    ///
    /// Returns the user of the token. Visitor tokens of sites have no user.
    #[oai(path = "/user", method = "get", operation_id = "getAuthenticatedUser")]
    async fn me(&self, auth: Auth) -> ApiResult<Reply<User>> {
        Ok(Reply(auth.caller(&self.0).current_user().await?))
    }

    /// Get a user
    ///
    /// Available to the user, and to members (not guests) of an organization of the user. With the token of a visitor
    /// of a site, the members of the site's organization are available without their e-mail addresses, because pages
    /// can mention them.
    #[oai(path = "/users/:userId", method = "get", operation_id = "getUserById")]
    async fn get(&self, auth: Auth, #[oai(name = "userId")] user: Path<UserId>) -> ApiResult<Reply<User>> {
        Ok(Reply(auth.caller(&self.0).user(&user).get().await?))
    }

    /// Change a user
    ///
    /// Users can only change themselves. Omitted fields are unchanged; `null` removes the picture.
    #[oai(path = "/users/:userId", method = "patch", operation_id = "updateUserById")]
    async fn update(
        &self,
        auth: Auth,
        #[oai(name = "If-Match")] condition: Condition,
        #[oai(name = "userId")] user: Path<UserId>,
        change: Strict<UpdateUser>,
    ) -> ApiResult<Reply<User>> {
        Ok(Reply(auth.caller(&condition.platform(&self.0)).user(&user).update(change.0).await?))
    }
}
