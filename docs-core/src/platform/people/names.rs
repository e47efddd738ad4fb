//! Resolves users named in requests by user id or e-mail address.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{BoundedText, OrgId, UserId},
    store::{
        Key, Tx,
        records::{MemberRecord, UserRecord, linked_id},
    },
};

/// A user name in a request, with its field.
pub(in crate::platform) struct RequestedName<'a> {
    pub(in crate::platform) field: String,
    pub(in crate::platform) name: &'a str,
}

/// Returns the names in a list field of a request.
pub(in crate::platform) fn names_in_list<'a>(
    field: &str,
    names: Option<&'a [String]>,
) -> Vec<RequestedName<'a>> {
    let names = names.unwrap_or_default().iter().enumerate();
    names.map(|(at, name)| RequestedName { field: format!("{field}[{at}]"), name }).collect()
}

/// Resolves names to users in order, with `None` for unknown names.
pub(in crate::platform) async fn users(tx: &Tx, named: &[RequestedName<'_>]) -> Result<Vec<Option<UserId>>> {
    // A malformed address belongs to no user.
    let address = |name: &str| name.contains('@') && BoundedText::<3, 254>::new(name).is_ok();
    let addresses: Vec<Key> = named
        .iter()
        .filter(|named| address(named.name))
        .map(|named| UserRecord::by_email(named.name))
        .collect();
    let mut found = tx.get_values(&addresses).await?.into_iter();
    let mut users = Vec::with_capacity(named.len());
    for named in named {
        users.push(if address(named.name) {
            found.next().flatten().map(|value| linked_id(&value)).transpose()?
        } else {
            named.name.parse().ok()
        });
    }
    Ok(users)
}

/// Resolves names to members of an organization, in order.
///
/// # Errors
/// `Invalid` with the field, for a name that does not belong to a member.
pub(in crate::platform) async fn members(
    tx: &Tx,
    org: &OrgId,
    named: &[RequestedName<'_>],
) -> Result<Vec<UserId>> {
    let unknown =
        |named: &RequestedName<'_>| Error::invalid(&named.field, "must be a member of the organization");
    let users = users(tx, named).await?;
    let users: Vec<UserId> = users
        .into_iter()
        .zip(named)
        .map(|(user, named)| user.ok_or_else(|| unknown(named)))
        .collect::<Result<_>>()?;
    let keys: Vec<Key> = users.iter().map(|user| MemberRecord::key_for(org, user)).collect();
    let found: Vec<Option<Arc<MemberRecord>>> = tx.get_many(&keys).await?;
    match found.iter().zip(named).find(|(member, _)| member.is_none()) {
        Some((_, named)) => Err(unknown(named)),
        None => Ok(users),
    }
}
