//! Invites: ways into an organization.

mod links;
mod redeem;

use std::collections::BTreeSet;

use async_trait::async_trait;
use chrono::TimeDelta;
use serde::{Deserialize, Serialize};

pub(super) use links::{drop_links, require_link_manager};
pub(super) use redeem::{DropInvites, RedeemInvites};

use super::{
    Actor, Right, access, at_once,
    members::{join, user_of},
    nouns::Invites,
    people::check_email,
};
use crate::{
    BoxFuture, Error, Result,
    model::{EmailInvite, InviteEmail, InviteId, InviteUsers, InvitedUsers, Patch, Role, Timestamp, UserId},
    platform::list_identities::tag,
    policy::OrgAction,
    store::{
        ListSpec, Lister, Operation, Page, PageRequest, Tx,
        records::{EmailInviteRecord, MemberRecord, UserRecord, linked_id},
    },
};

/// How long the invitation of an address is good.
pub const INVITE_WINDOW: TimeDelta = TimeDelta::days(30);
/// Most addresses of one request.
pub(super) const MAX_EMAILS: usize = 100;

impl<'p> Invites<'p> {
    /// Invites people by their e-mail addresses. Users who have one of them become members at once; one who is a member
    /// stays as they are. Other addresses are invited for [`INVITE_WINDOW`]: whoever is created as a user with such an
    /// address joins by it. An address that was invited before is invited anew.
    ///
    /// Where single sign-on is asked for, an address whose user signs in otherwise fails: an administrator makes such
    /// a user a member first, and then [one with single sign-on](crate::platform::MemberHandle::set_sso).
    ///
    /// No mail is sent: the program that embeds the platform reads [whom to write
    /// to](crate::platform::Invites::list_emails).
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor administrates the organization; `Invalid` for what is no address, and
    /// for none or too many of them.
    ///
    /// # Cancel safety
    /// Each address is invited whole or not at all, in their order: asking again goes on with the rest.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{InviteEmail, InviteUsers, OrgId, Patch, Role}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let emails = vec![InviteEmail::Plain("grace@example.com".parse()?)];
    /// let new = InviteUsers { emails, role: Patch::Set(Role::Edit), sso: None };
    /// let invited = me.org(org).invites().send(new).await?;
    /// println!("{} members, {} invited", invited.users.len(), invited.invited);
    /// # Ok(())
    /// # }
    /// ```
    pub fn send(self, new: InviteUsers) -> BoxFuture<'p, Result<InvitedUsers>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let done = platform.once(actor, Right::Org(org.clone(), OrgAction::Administrate), async move {
                let addresses = addresses(&new)?;
                let by = actor.require_user()?;
                let mut done = InvitedUsers::default();
                let last = addresses.len() - 1;
                for (at, (email, role)) in addresses.into_iter().enumerate() {
                    let now = platform.now();
                    let invite = EmailInviteRecord {
                        id: platform.id(),
                        organization: org.clone(),
                        role: None,
                        email: email.to_lowercase(),
                        sso: new.sso == Some(true),
                        created_by: by.clone(),
                        created_at: now,
                        expires_at: Timestamp::new(now.time() + INVITE_WINDOW),
                    };
                    let operation = InviteCreation { actor: actor.clone(), invite, role };
                    // The answer is that of the last one. A request that is sent again before it came so far invites
                    // those again who were invited, which changes nothing.
                    done = if at < last {
                        with(done, &email, platform.write(actor, &operation).await?)
                    } else {
                        let show = platform.write_and_show(actor, &operation, |invited| {
                            at_once(Ok(with(done.clone(), &email, invited.out)))
                        });
                        show.await?
                    };
                }
                Ok(done)
            });
            done.await
        })
    }

    /// Lists the addresses that are invited to an organization and that no user has yet, the oldest invitation first.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` unless the actor administrates the organization; `Invalid` for a wrong page or limit.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// for invite in me.org(org).invites().list_emails(&PageRequest::default()).await?.items {
    ///     println!("{} until {}", invite.email, invite.expires_at);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_emails(self, page: &'p PageRequest) -> BoxFuture<'p, Result<Page<EmailInvite>>> {
        Box::pin(async move {
            let Self { caller, org } = self;
            let (platform, actor) = (caller.platform, &caller.actor());
            let tx = platform.read().await?;
            access::org(&tx, actor, org).await?.require(OrgAction::Administrate)?;
            let prefix = EmailInviteRecord::of_org(org);
            let mut list = Lister::new(ListSpec::new(tag::EMAIL_INVITES, prefix), page)?;
            let now = platform.now();
            list.fill(&tx, |invite: &EmailInviteRecord| invite.expires_at > now).await?;
            let page = list.finish(&tx, None).await?;
            Ok(page.map(|invite| EmailInvite {
                id: invite.id.clone(),
                email: invite.email.clone(),
                role: invite.role,
                sso: invite.sso,
                created_at: invite.created_at,
                expires_at: invite.expires_at,
            }))
        })
    }
}

/// The addresses of a request, each once, with the role beside it.
fn addresses(new: &InviteUsers) -> Result<Vec<(String, Patch<Role>)>> {
    let has = new.emails.len();
    if has == 0 || has > MAX_EMAILS {
        return Err(Error::invalid("emails", format_args!("must be 1 to {MAX_EMAILS} addresses, has {has}")));
    }
    let mut seen = BTreeSet::new();
    let mut addresses = Vec::new();
    for (at, email) in new.emails.iter().enumerate() {
        let (field, email, role) = match email {
            InviteEmail::Plain(email) => (format!("emails[{at}]"), email, new.role),
            InviteEmail::WithRole(own) => {
                let role = own.role.map_or(Patch::Clear, Patch::Set);
                (format!("emails[{at}].email"), &own.email, role)
            }
        };
        check_email(&field, email)?;
        if seen.insert(email.to_lowercase()) {
            addresses.push((email.to_string(), role));
        }
    }
    Ok(addresses)
}

struct InviteCreation {
    actor: Actor,
    /// The invitation but for its role.
    invite: EmailInviteRecord,
    /// The role; the organization's default where the request leaves it out.
    role: Patch<Role>,
}

/// What became of addresses, one more among them.
fn with(mut done: InvitedUsers, email: &str, invited: Invited) -> InvitedUsers {
    match invited {
        Invited::User(user) => done.users.push(user),
        Invited::Address => done.invited += 1,
        Invited::OtherSignIn => done.failed_sso_emails.push(email.to_owned()),
    }
    done
}

/// What became of an address.
#[derive(Serialize, Deserialize)]
enum Invited {
    /// It is of this user, who is a member now.
    User(UserId),
    /// It is invited.
    Address,
    /// It is of a user who does not sign in through the organization.
    OtherSignIn,
}

#[async_trait]
impl Operation for InviteCreation {
    type Out = Invited;
    const NAME: &'static str = "invite";

    async fn apply(&self, tx: &mut Tx) -> Result<Invited> {
        let org = &self.invite.organization;
        let access = access::org(tx, &self.actor, org).await?;
        let default = access.require(OrgAction::Administrate)?.org().default_role;
        let new = EmailInviteRecord { role: self.role.apply(default), ..self.invite.clone() };
        if let Some(user) = tx.get_value(&UserRecord::by_email(&new.email)).await? {
            let user: UserId = linked_id(&user)?;
            let member = tx.get::<MemberRecord>(&MemberRecord::at(org, &user)).await?;
            if new.sso && member.is_none_or(|member| !member.sso) {
                return Ok(Invited::OtherSignIn);
            }
            let record = user_of(tx, &user).await?;
            join(tx, MemberRecord::joining(org, &record, new.role, new.created_at)).await?;
            return Ok(Invited::User(user));
        }
        let known = tx.get_value(&EmailInviteRecord::by_email(org, &new.email)).await?;
        let known: Option<InviteId> = known.map(|id| linked_id(&id)).transpose()?;
        let old = match known {
            Some(id) => tx.get::<EmailInviteRecord>(&EmailInviteRecord::at(&id)).await?,
            None => None,
        };
        match old {
            // Mail that was sent leads to the same invitation.
            Some(old) => drop(tx.put(&*old, EmailInviteRecord { id: old.id.clone(), ..new })?),
            None => drop(tx.create(new)),
        }
        Ok(Invited::Address)
    }
}
