//! Users.

use docs_core::{Platform, model::User};
use poem_openapi::{OpenApi, param::Path};

use super::{AsCaller as _, Auth, Tag, id};
use crate::wire::{error::Answer, reply::Reply};

/// Operations of this noun.
#[derive(Debug)]
pub struct Users(pub(super) Platform);

#[OpenApi(tag = "Tag::Users")]
impl Users {
    /// Get the user whose token it is
    ///
    /// Every token is one user's. Tokens of visitors of a site are nobody's.
    #[oai(path = "/user", method = "get", operation_id = "getAuthenticatedUser")]
    async fn me(&self, auth: Auth) -> Answer<Reply<User>> {
        Ok(Reply(auth.caller(&self.0).current_user().await?))
    }

    /// Get a user
    ///
    /// Oneself, or somebody in an organization of which one is a member and no guest.
    #[oai(path = "/users/:userId", method = "get", operation_id = "getUserById")]
    async fn get(&self, auth: Auth, #[oai(name = "userId")] user: Path<String>) -> Answer<Reply<User>> {
        Ok(Reply(auth.caller(&self.0).user(&id(&user, "user")?).get().await?))
    }
}
