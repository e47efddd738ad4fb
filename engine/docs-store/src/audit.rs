//! The audit log: who changed what, written by the transaction that changed it.
//!
//! A transaction that is logged notes to whom the records belong that it reads and writes. At its end it writes one
//! [`AuditRecord`], so that there is an entry exactly where there is a change, however often the operation was tried.

mod record;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{Mutex, PoisonError},
};

use docs_model::{
    OrgId, UserId,
    error::{Error, Result},
    id_text,
};

pub use self::record::{AuditRecord, MAX_AUDITED};
use super::{Key, Kind, Receipt, StoreResult, Tx};

/// Whether an operation is told of in the audit log, and who is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Logged {
    /// Upkeep that no one asked for, such as the claim of a job: no entry.
    No,
    /// An entry by this user; by the platform itself where there is none.
    By(Option<UserId>),
}

/// To whom a record belongs, as far as it knows itself.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Owner {
    /// To no organization.
    Nobody,
    /// To this organization.
    Organization(OrgId),
    /// To whom the record with this key belongs.
    As(Key),
}

/// Steps from a record to its organization: a review, its change request, the space, the organization.
const MAX_OWNER_STEPS: usize = 4;

/// What a transaction notes of the records that it sees.
#[derive(Debug, Default)]
pub(super) struct Trail {
    /// To whom records belong that were read or written: so that they need not be read again at the end.
    known: Mutex<HashMap<Key, Owner>>,
    /// To whom the changed records belong.
    changed: BTreeSet<Owner>,
}

impl Trail {
    pub(super) fn saw(&self, key: Key, owner: Owner) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(key, owner);
    }

    pub(super) fn wrote(&mut self, key: Key, owner: Owner) {
        self.saw(key, owner.clone());
        self.changed.insert(owner);
    }

    fn known(&self, key: &Key) -> Option<Owner> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
    }
}

/// Writes the entry of a transaction that is about to be committed; nothing where no record of these kinds was changed.
///
/// # Errors
/// The store's.
pub(super) async fn log(
    tx: &mut Tx,
    kinds: &[Kind],
    receipt: &Receipt,
    (operation, detail): (&str, Option<&str>),
) -> Result<()> {
    let Logged::By(user) = &receipt.logged else { return Ok(()) };
    let (records, changed) = some_of(kinds, tx.written());
    if records.is_empty() {
        return Ok(());
    }
    let entry = AuditRecord {
        id: id_text(receipt.id).parse().map_err(Error::internal)?,
        at: receipt.at.into(),
        user: user.clone(),
        operation: operation.to_owned(),
        detail: detail.map(str::to_owned),
        organizations: organizations(tx, kinds).await?,
        records,
        changed,
    };
    tx.create(entry);
    Ok(())
}

/// The records among the keys, and how many there are. Of many, the first ones of every kind.
fn some_of<'a>(kinds: &[Kind], keys: impl Iterator<Item = &'a Key>) -> (Vec<Key>, u32) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut records: Vec<(usize, &Key)> = Vec::new();
    for key in keys.filter(|key| kind_of(kinds, key).is_some()) {
        let nth = seen.entry(class_of(key)).or_default();
        records.push((*nth, key));
        *nth += 1;
    }
    let changed = u32::try_from(records.len()).unwrap_or(u32::MAX);
    records.sort();
    (records.into_iter().take(MAX_AUDITED).map(|(_, key)| Key::clone(key)).collect(), changed)
}

/// The organizations of the changed records.
async fn organizations(tx: &Tx, kinds: &[Kind]) -> StoreResult<Vec<OrgId>> {
    let Some(trail) = tx.trail() else { return Ok(Vec::new()) };
    let mut found = BTreeSet::new();
    for owner in &trail.changed {
        let mut owner = owner.clone();
        for _ in 0..MAX_OWNER_STEPS {
            owner = match owner {
                Owner::As(key) => match trail.known(&key) {
                    Some(owner) => owner,
                    None => read(tx, kinds, &key).await?,
                },
                Owner::Nobody | Owner::Organization(_) => break,
            };
        }
        if let Owner::Organization(organization) = owner {
            found.insert(organization);
        }
    }
    Ok(found.into_iter().take(MAX_AUDITED).collect())
}

/// To whom a record belongs that the operation had no need to read.
async fn read(tx: &Tx, kinds: &[Kind], key: &Key) -> StoreResult<Owner> {
    match (kind_of(kinds, key), tx.get_value(key).await?) {
        (Some(kind), Some(value)) => (kind.owner)(value),
        _ => Ok(Owner::Nobody),
    }
}

fn kind_of<'k>(kinds: &'k [Kind], key: &str) -> Option<&'k Kind> {
    let class = class_of(key);
    kinds.iter().find(|kind| kind.name == class)
}

fn class_of(key: &str) -> &str {
    key.split('!').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::JobRecord;

    #[test]
    fn of_many_records_the_first_of_every_kind_are_named() {
        let kinds = [Kind::of::<AuditRecord>(), Kind::of::<JobRecord>()];
        let mut keys: Vec<Key> = (0..40).map(|n| format!("job!{n:02}").into()).collect();
        keys.extend(["aud!a".into(), "ctr!a!b".into(), "op!1!2".into(), "aud!b".into()]);
        let (records, changed) = some_of(&kinds, keys.iter());
        assert_eq!((records.len(), changed), (MAX_AUDITED, 42));
        assert_eq!(
            records[..4].iter().map(|key| &**key).collect::<Vec<_>>(),
            ["aud!a", "job!00", "aud!b", "job!01"]
        );
        assert_eq!(some_of(&kinds, [&"ctr!a".into(), &"job.s!a!b".into()].into_iter()), (Vec::new(), 0));
    }
}
