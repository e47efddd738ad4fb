//! People as requests name them: by the id of a user, or by an e-mail address.

use std::sync::Arc;

use crate::{
    Error, Result,
    model::{BoundedText, OrgId, UserId},
    store::{
        Key, Tx,
        records::{MemberRecord, UserRecord, linked_id},
    },
};

/// A name in a request, and the field that it is in.
pub(super) struct Named<'a> {
    pub(super) field: String,
    pub(super) name: &'a str,
}

/// The names in a list of a request.
pub(super) fn listed<'a>(field: &str, names: Option<&'a [String]>) -> Vec<Named<'a>> {
    let names = names.unwrap_or_default().iter().enumerate();
    names.map(|(at, name)| Named { field: format!("{field}[{at}]"), name }).collect()
}

/// The users of these names, in their order; `None` for a name that nobody has.
pub(super) async fn users(tx: &Tx, named: &[Named<'_>]) -> Result<Vec<Option<UserId>>> {
    // What cannot be an address is nobody's.
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

/// The members of an organization that these names are of, in their order.
///
/// # Errors
/// `Invalid`, naming the field, for a name that no member has.
pub(super) async fn members(tx: &Tx, org: &OrgId, named: &[Named<'_>]) -> Result<Vec<UserId>> {
    let unknown = |named: &Named<'_>| Error::invalid(&named.field, "no member of the organization");
    let users = users(tx, named).await?;
    let users: Vec<UserId> = users
        .into_iter()
        .zip(named)
        .map(|(user, named)| user.ok_or_else(|| unknown(named)))
        .collect::<Result<_>>()?;
    let keys: Vec<Key> = users.iter().map(|user| MemberRecord::at(org, user)).collect();
    let found: Vec<Option<Arc<MemberRecord>>> = tx.get_many(&keys).await?;
    match found.iter().zip(named).find(|(member, _)| member.is_none()) {
        Some((_, named)) => Err(unknown(named)),
        None => Ok(users),
    }
}
