//! Users.

use docs_core::{Platform, model::User};
use poem_openapi::OpenApi;

use super::{Auth, Tag};
use crate::wire::{error::Answer, reply::Reply};

/// Operations of this noun.
#[derive(Debug)]
pub struct Users(pub(super) Platform);

#[OpenApi(tag = "Tag::Users")]
impl Users {
    /// Get the user whose token it is
    #[oai(path = "/user", method = "get", operation_id = "getAuthenticatedUser")]
    async fn me(&self, auth: Auth) -> Answer<Reply<User>> {
        Ok(Reply(self.0.current_user(&auth.0).await?))
    }
}
