//! The audit log, written in the same transactions as the changes.
//!
//! An audited transaction tracks the owners of the records that it reads and writes, and adds an [`AuditRecord`] before
//! it commits. An entry therefore exists if and only if the change was committed, regardless of the number of attempts.

mod record;

use std::collections::{BTreeMap, BTreeSet};

use docs_model::{
    OrgId,
    error::{Error, Result},
    id_text,
};

pub use self::record::{AuditRecord, MAX_AUDITED};
use super::{AuditMode, Key, Owner, Receipt, RecordKind, StoreResult, Tx};

/// Maximum number of owner steps from a record to its organization. The longest chain is review, change request, space,
/// organization.
const MAX_OWNER_STEPS: usize = 4;

/// Adds an audit entry to a transaction that is about to commit, unless it changed no record of `kinds`.
///
/// # Errors
/// Any error of the store.
pub(super) async fn log(
    tx: &mut Tx,
    kinds: &[RecordKind],
    receipt: &Receipt,
    operation: &str,
    detail: Option<&str>,
) -> Result<()> {
    let AuditMode::Actor(user) = &receipt.logged else { return Ok(()) };
    let (records, changed) = sample_keys(kinds, tx.changed_keys());
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

/// Returns the record keys among `keys`, at most [`MAX_AUDITED`], and their total count. If there are more, the first
/// keys of every kind are selected.
fn sample_keys<'a>(kinds: &[RecordKind], keys: impl Iterator<Item = &'a Key>) -> (Vec<Key>, u32) {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let mut records: Vec<(usize, &Key)> = Vec::new();
    for key in keys.filter(|key| find_kind(kinds, key).is_some()) {
        let nth = seen.entry(class_of(key)).or_default();
        records.push((*nth, key));
        *nth += 1;
    }
    let changed = u32::try_from(records.len()).unwrap_or(u32::MAX);
    records.sort();
    (records.into_iter().take(MAX_AUDITED).map(|(_, key)| Key::clone(key)).collect(), changed)
}

/// Returns the organizations of the changed records, at most [`MAX_AUDITED`].
async fn organizations(tx: &Tx, kinds: &[RecordKind]) -> StoreResult<Vec<OrgId>> {
    let Some(trail) = tx.trail() else { return Ok(Vec::new()) };
    let mut found = BTreeSet::new();
    for owner in &trail.changed {
        let mut owner = owner.clone();
        for _ in 0..MAX_OWNER_STEPS {
            owner = match owner {
                Owner::As(key) => match trail.owner(&key) {
                    Some(owner) => owner,
                    None => read(tx, kinds, &key).await?,
                },
                Owner::NoOrganization | Owner::Organization(_) => break,
            };
        }
        if let Owner::Organization(organization) = owner {
            found.insert(organization);
        }
    }
    Ok(found.into_iter().take(MAX_AUDITED).collect())
}

/// Returns the owner of a record that the operation has not read.
async fn read(tx: &Tx, kinds: &[RecordKind], key: &Key) -> StoreResult<Owner> {
    match (find_kind(kinds, key), tx.get_value(key).await?) {
        (Some(kind), Some(value)) => (kind.owner)(value),
        _ => Ok(Owner::NoOrganization),
    }
}

fn find_kind<'k>(kinds: &'k [RecordKind], key: &str) -> Option<&'k RecordKind> {
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
    fn audit_sample_takes_the_first_keys_of_every_kind() {
        let kinds = [RecordKind::of::<AuditRecord>(), RecordKind::of::<JobRecord>()];
        let mut keys: Vec<Key> = (0..40).map(|n| format!("job!{n:02}").into()).collect();
        keys.extend(["aud!a".into(), "ctr!a!b".into(), "op!1!2".into(), "aud!b".into()]);
        let (records, changed) = sample_keys(&kinds, keys.iter());
        assert_eq!((records.len(), changed), (MAX_AUDITED, 42));
        assert_eq!(
            records[..4].iter().map(|key| &**key).collect::<Vec<_>>(),
            ["aud!a", "job!00", "aud!b", "job!01"]
        );
        assert_eq!(sample_keys(&kinds, [&"ctr!a".into(), &"job.s!a!b".into()].into_iter()), (Vec::new(), 0));
    }
}
