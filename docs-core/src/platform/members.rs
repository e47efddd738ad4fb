//! Members of organizations.

use std::sync::Arc;

use super::Platform;
use crate::{
    Result,
    model::{Member, MemberObject, UserId},
    store::{
        Key, Tx,
        records::{GrantRecord, MemberRecord, TeamMemberRecord},
    },
};

impl Platform {
    /// Shows members, in two reads.
    pub(super) async fn member_views(&self, tx: &Tx, members: &[Arc<MemberRecord>]) -> Result<Vec<Member>> {
        let users: Vec<UserId> = members.iter().map(|member| member.user.clone()).collect();
        let users = self.user_views(tx, &users).await?;
        let of = |member: &MemberRecord| -> [Key; 2] {
            let (org, user) = (&member.organization, &member.user);
            [GrantRecord::spaces_of(org, user), TeamMemberRecord::count_of(org, user)]
        };
        let counters: Vec<Key> = members.iter().flat_map(|member| of(member)).collect();
        let counts = tx.numbers(&counters).await?;
        let shown = members.iter().zip(users).zip(counts.chunks(2)).map(|((member, user), counts)| Member {
            object: MemberObject::Is,
            id: member.user.clone(),
            role: member.role,
            user,
            disabled: false,
            joined_at: member.joined_at,
            last_seen_at: None,
            sso: false,
            spaces: u64::try_from(counts[0]).unwrap_or(0),
            teams: u64::try_from(counts[1]).unwrap_or(0),
        });
        Ok(shown.collect())
    }
}
