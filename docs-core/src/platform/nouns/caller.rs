//! The platform as used by one caller.

use std::fmt;

use crate::{
    model::UserId,
    platform::kernel::{actor::Visitor, platform::Platform, token_user::TokenUser},
};

/// The platform as used by one caller. Every operation starts here.
///
/// # Example
/// ```
/// # async fn example(platform: &docs_core::Platform, ada: &docs_core::model::UserId) -> docs_core::Result<()> {
/// let me = platform.as_user(ada);
/// println!("{}", me.current_user().await?.display_name);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
pub struct Caller<'p> {
    pub(in crate::platform) platform: &'p Platform,
    pub(super) who: ActorRef<'p>,
}

/// Borrowed form of [`Actor`](crate::platform::Actor).
#[derive(Clone, Copy, Debug)]
pub(super) enum ActorRef<'p> {
    User(&'p UserId),
    Token(&'p TokenUser),
    Platform,
    Visitor(&'p Visitor),
}

impl fmt::Debug for Caller<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Caller").field(&self.who).finish()
    }
}
