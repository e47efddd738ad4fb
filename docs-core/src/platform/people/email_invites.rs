//! Invites to an organization by e-mail address.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{EmailInvite, InviteEmail, InviteId, InviteUsers, InvitedUsers, Patch, Role, Timestamp, UserId},
    platform::{
        access,
        kernel::{actor::Actor, request::Right, write::ready_answer},
        nouns::{Invites, list_identities::tag},
        people::{
            members::join,
            users::{check_email, find_user},
        },
    },
    policy::OrgAction,
    store::{
        ListSpec, Lister, Page, PageRequest, Tx,
        records::{EmailInviteRecord, MemberRecord, UserRecord, linked_id},
    },
};

/// Validity period of an e-mail invitation.
pub const INVITE_WINDOW: TimeDelta = TimeDelta::days(30);
/// Maximum number of e-mail addresses per request.
pub(in crate::platform) const MAX_EMAILS: usize = 100;

impl<'p> Invites<'p> {
    /// Invites people by e-mail address.
    ///
    /// A user with one of the addresses becomes a member immediately. An existing member is left unchanged. Other
    /// addresses are invited for [`INVITE_WINDOW`] (30 days): a user later created with such an address joins
    /// automatically. Inviting an address again renews its invitation.
    ///
    /// If single sign-on is requested, an address fails if its user signs in another way. An administrator first adds
    /// such a user as a member, then [enables single sign-on for them](crate::platform::MemberHandle::set_sso).
    ///
    /// The platform sends no e-mail. The embedding application reads [the invited
    /// addresses](crate::platform::Invites::list_emails).
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization; `Invalid` for a malformed address, or if
    /// there are no or too many addresses.
    ///
    /// # Cancel safety
    /// Addresses are invited one by one, in order. Retrying the request continues with the rest.
    #[boxed]
    pub async fn send(self, new: InviteUsers) -> Result<InvitedUsers> {
        let (platform, ref actor, org) = self.parts();
        let done = platform.idempotent(actor, Right::Org(org.clone(), OrgAction::Administrate), async move {
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
                let operation = invite_creation(actor, &invite, &role);
                // The stored response is that of the last address. A retry before that point invites the earlier
                // addresses again, which changes nothing.
                done = if at < last {
                    add_outcome(done, &email, platform.write(actor, &operation).await?)
                } else {
                    let show = platform.write_and_show(actor, &operation, |invited| {
                        ready_answer(Ok(add_outcome(done.clone(), &email, invited.out)))
                    });
                    show.await?
                };
            }
            Ok(done)
        });
        done.await
    }

    /// Lists the invited e-mail addresses of an organization that do not belong to a user yet, oldest invitation first.
    ///
    /// # Errors
    /// `Forbidden` unless the actor is an administrator of the organization.
    #[boxed]
    pub async fn list_emails(self, page: &'p PageRequest) -> Result<Page<EmailInvite>> {
        let (platform, ref actor, org) = self.parts();
        let tx = platform.read().await?;
        access::org(&tx, actor, org).await?.require(OrgAction::Administrate)?;
        let prefix = EmailInviteRecord::by_org(org);
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
    }
}

/// Returns the distinct e-mail addresses in a request with their roles.
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

/// Adds the outcome for one address to the result.
fn add_outcome(mut done: InvitedUsers, email: &str, invited: InviteOutcome) -> InvitedUsers {
    match invited {
        InviteOutcome::User(user) => done.users.push(user),
        InviteOutcome::Address => done.invited += 1,
        InviteOutcome::OtherSignIn => done.failed_sso_emails.push(email.to_owned()),
    }
    done
}

/// Outcome of inviting an address.
#[derive(Serialize, Deserialize)]
enum InviteOutcome {
    /// The address belongs to this user, who is now a member.
    User(UserId),
    /// The address was invited.
    Address,
    /// The address belongs to a user who does not sign in through the organization.
    OtherSignIn,
}

#[operation("invite")]
async fn invite_creation(
    tx: &mut Tx,
    actor: &Actor,
    invite: &EmailInviteRecord,
    role: &Patch<Role>,
) -> Result<InviteOutcome> {
    let org = &invite.organization;
    let access = access::org(tx, actor, org).await?;
    let default = access.require(OrgAction::Administrate)?.org().default_role;
    let new = EmailInviteRecord { role: role.apply(default), ..invite.clone() };
    if let Some(user) = tx.get_value(&UserRecord::by_email(&new.email)).await? {
        let user: UserId = linked_id(&user)?;
        let member = tx.get::<MemberRecord>(&MemberRecord::key_for(org, &user)).await?;
        if new.sso && member.is_none_or(|member| !member.sso) {
            return Ok(InviteOutcome::OtherSignIn);
        }
        let record = find_user(tx, &user).await?;
        join(tx, MemberRecord::new(org, &record, new.role, new.created_at)).await?;
        return Ok(InviteOutcome::User(user));
    }
    let known = tx.get_value(&EmailInviteRecord::by_email(org, &new.email)).await?;
    let known: Option<InviteId> = known.map(|id| linked_id(&id)).transpose()?;
    let old = match known {
        Some(id) => tx.get::<EmailInviteRecord>(&EmailInviteRecord::key_for(&id)).await?,
        None => None,
    };
    match old {
        // The id is reused, so that e-mails already sent link to the same invitation.
        Some(old) => drop(tx.put(&*old, EmailInviteRecord { id: old.id.clone(), ..new })?),
        None => drop(tx.create(new)),
    }
    Ok(InviteOutcome::Address)
}
