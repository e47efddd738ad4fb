//! Changes of a user, and the copies of their name in their memberships.

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use super::{find_user, visibility::can_see_user};
use crate::{
    Error, Result,
    model::{JobId, OrgId, Timestamp, UpdateUser, User, UserId},
    platform::{
        jobs::{Effect, Job, JobRun, Payload},
        kernel::{actor::Actor, platform::Platform},
        nouns::UserHandle,
    },
    store::{
        Key, Scan, Tx, ids_of, jobs, key,
        records::{MemberRecord, UserRecord},
    },
};

/// Number of memberships that receive a new name per transaction. Each has a row for every n-gram of the name.
const NAME_BATCH: u32 = 5;

/// Job that copies the name of a user into their memberships.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct FollowName {
    user: UserId,
}

impl Payload for FollowName {
    const KIND: &'static str = "user_name_follow";
}

#[async_trait]
impl Job for FollowName {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        let mut after = None;
        loop {
            let batch = memberships(&platform.read().await?, &self.user, after.take()).await?;
            platform.upkeep(&name_copy(&self.user, &batch.orgs)).await?;
            after = batch.next;
            if after.is_none() {
                return Ok(Effect::Done);
            }
        }
    }
}

impl<'p> UserHandle<'p> {
    /// Changes the name and the picture of a user. Omitted fields are left unchanged.
    ///
    /// A user in many organizations is found by the new name in all of them once a job has updated their memberships.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is the user or the platform, and for single sign-on sessions; `NotFound` for a user
    /// who is not visible to the actor.
    #[boxed]
    pub async fn update(self, change: UpdateUser) -> Result<User> {
        let (platform, ref actor, id) = self.parts();
        let (job, now) = (platform.id(), platform.now());
        let update = user_update(actor, id, &change, &job, now);
        platform.change_and_show(actor, &update, |done| Box::pin(platform.read_user(done.tx, id))).await
    }
}

impl Platform {
    async fn read_user(&self, tx: &Tx, id: &UserId) -> Result<User> {
        Ok(self.user_view(&*find_user(tx, id).await?))
    }
}

/// Checks that the actor may change a user.
async fn require_self(tx: &Tx, actor: &Actor, id: &UserId) -> Result<()> {
    match actor {
        Actor::Platform => Ok(()),
        Actor::Token(token) if token.user() == id && token.session_org().is_some() => {
            Err(Error::forbidden("a single sign-on session cannot change its user"))
        }
        _ if actor.user() == Some(id) => Ok(()),
        _ if can_see_user(tx, actor, id).await? => {
            Err(Error::forbidden("only the user can change their account"))
        }
        _ => Err(Error::not_found("user")),
    }
}

#[operation("user_update")]
async fn user_update(
    tx: &mut Tx,
    actor: &Actor,
    id: &UserId,
    change: &UpdateUser,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    require_self(tx, actor, id).await?;
    let old = find_user(tx, id).await?;
    let mut new = UserRecord::clone(&old);
    if let Some(name) = &change.display_name {
        new.display_name = name.to_string();
    }
    new.photo = change.photo_url.clone().apply(new.photo);
    if new == *old {
        return Ok(());
    }
    let is_renamed = new.display_name != old.display_name;
    tx.put(&*old, new)?;
    if is_renamed {
        let batch = memberships(tx, id, None).await?;
        copy_name(tx, id, &batch.orgs).await?;
        if batch.next.is_some() {
            let job = FollowName { user: id.clone() }.to_new_job(job, id, now)?;
            jobs::enqueue(tx, now, job).await?;
        }
    }
    Ok(())
}

/// A batch of a user's organizations.
struct MembershipBatch {
    orgs: Vec<OrgId>,
    /// The last key of the batch if more follow.
    next: Option<Key>,
}

async fn memberships(tx: &Tx, user: &UserId, after: Option<Key>) -> Result<MembershipBatch> {
    let (from, to) = MemberRecord::by_user(user).prefix_range();
    let from = after.map_or(from, |after| key::successor(&after));
    let rows = tx.scan(&Scan { from, to, rev: false, limit: NAME_BATCH }).await?;
    let next = rows.last().filter(|_| rows.len() == NAME_BATCH as usize).map(|(row, _)| Key::clone(row));
    Ok(MembershipBatch { orgs: ids_of(&rows)?, next })
}

/// Copies the current name of a user into these memberships.
async fn copy_name(tx: &mut Tx, user: &UserId, orgs: &[OrgId]) -> Result<()> {
    let name = find_user(tx, user).await?.display_name.clone();
    let keys: Vec<Key> = orgs.iter().map(|org| MemberRecord::key_for(org, user)).collect();
    for old in tx.get_many::<MemberRecord>(&keys).await?.into_iter().flatten() {
        if old.display_name != name {
            tx.put(&*old, MemberRecord { display_name: name.clone(), ..MemberRecord::clone(&old) })?;
        }
    }
    Ok(())
}

#[operation("user_name_copy")]
async fn name_copy(tx: &mut Tx, user: &UserId, orgs: &[OrgId]) -> Result<()> {
    copy_name(tx, user, orgs).await
}
