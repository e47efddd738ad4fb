//! The caller of an operation.

use std::sync::LazyLock;

use docs_core::{
    Actor, Platform,
    platform::{Caller, Visitor},
};

/// The authenticated caller.
pub(super) type Auth = crate::auth::RequestActor<Actor>;

/// The caller of an operation that reads published content; anonymous if the request has no token.
pub(super) type MaybeAuth = crate::auth::MaybeRequestActor<Actor>;

/// The sender of a request.
pub(super) trait AsCaller {
    /// Returns the platform as seen by the caller.
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p>;
}

impl AsCaller for Auth {
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p> {
        platform.as_actor(&self.0)
    }
}

impl AsCaller for MaybeAuth {
    fn caller<'p>(&'p self, platform: &'p Platform) -> Caller<'p> {
        static ANONYMOUS: LazyLock<Visitor> = LazyLock::new(Visitor::anonymous);
        match &self.0 {
            Some(actor) => platform.as_actor(actor),
            None => platform.as_visitor(&ANONYMOUS),
        }
    }
}
