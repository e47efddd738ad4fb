//! Operations on users.

use docs_core::{
    Platform,
    model::{User, UserId},
};
use poem_openapi::OpenApi;

use super::{ApiResult, ApiTag, AsCaller as _, Auth, Path, Reply};

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
    /// Available to the user, and to members (not guests) of an organization of the user.
    #[oai(path = "/users/:userId", method = "get", operation_id = "getUserById")]
    async fn get(&self, auth: Auth, #[oai(name = "userId")] user: Path<UserId>) -> ApiResult<Reply<User>> {
        Ok(Reply(auth.caller(&self.0).user(&user).get().await?))
    }
}
