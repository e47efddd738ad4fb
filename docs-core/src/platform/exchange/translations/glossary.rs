//! The glossary of an organization.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{
        Glossary, GlossaryEntries, GlossaryEntry, GlossaryObject, JobId, OrgId, SetGlossary, Timestamp,
        TranslationId, TranslationLanguage,
    },
    platform::{
        access,
        jobs::{Effect, Job, JobRun, Payload, Urgency},
        kernel::{actor::Actor, platform::Platform},
        library::follow::translations::request_run,
        nouns::Translations,
    },
    policy::OrgAction,
    ports::TermRule,
    store::{
        Batches, Entity as _, Tx, jobs,
        records::{GlossaryRecord, TranslationRecord},
    },
};

/// Maximum size of a glossary as JSON in bytes.
pub(in crate::platform) const MAX_GLOSSARY_BYTES: usize = 192 << 10;
/// Number of translations that are read per batch.
const TRANSLATION_BATCH: u32 = 100;

impl<'p> Translations<'p> {
    /// Reads the glossary of an organization, which applies to all its translations.
    ///
    /// # Errors
    ///
    /// `NotFound` unless the actor is a member; `Forbidden` for guests.
    #[boxed]
    pub async fn get_glossary(self) -> Result<Glossary> {
        let tx = self.caller.platform.read().await?;
        read_glossary(&tx, &self.caller.actor(), self.org).await
    }

    /// Replaces the glossary of an organization. In every translation, sentences that contain an added, changed or
    /// removed term are translated again.
    ///
    /// # Errors
    ///
    /// `Forbidden` without the `create` role in the organization; `Invalid` for a duplicate term, an empty entry, and a
    /// glossary above the size limit.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = serde_json::json!({ "entries": [
    ///     { "term": "API", "keep": true, "caseSensitive": true },
    ///     { "term": "change request", "translations": { "de": "Änderungsantrag" } },
    /// ] });
    /// me.org(org).translations().set_glossary(serde_json::from_value(new)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn set_glossary(self, new: SetGlossary) -> Result<Glossary> {
        let (platform, ref actor, org) = self.parts();
        check(&new.entries)?;
        let (job, now) = (platform.id(), platform.now());
        let set = glossary_update(actor, org, &new.entries, &job, now);
        platform.change_and_show(actor, &set, |done| Box::pin(read_glossary(done.tx, actor, org))).await
    }
}

async fn read_glossary(tx: &Tx, actor: &Actor, org: &OrgId) -> Result<Glossary> {
    access::org(tx, actor, org).await?.require(OrgAction::ListPeople)?;
    let record: Option<Arc<GlossaryRecord>> = tx.get(&GlossaryRecord::key_for(org)).await?;
    Ok(Glossary {
        object: GlossaryObject::Is,
        entries: record.as_ref().map_or_else(empty_entries, |record| record.entries.clone()),
        updated_at: record.map(|record| record.updated_at),
    })
}

fn empty_entries() -> GlossaryEntries {
    GlossaryEntries::new(Vec::new()).unwrap_or_else(|_| unreachable!())
}

fn check(entries: &GlossaryEntries) -> Result<()> {
    let mut terms = BTreeSet::new();
    for (at, entry) in entries.iter().enumerate() {
        let refused = |field: &str, why: &str| Err(Error::invalid(&format!("entries[{at}].{field}"), why));
        if entry.term.trim() != &*entry.term || entry.term.contains(['⟦', '⟧', '\n']) {
            return refused(
                "term",
                "must not begin or end with white space, or contain line breaks, `⟦` or `⟧`",
            );
        }
        if entry.translations.values().any(|text| text.trim().is_empty() || text.contains(['⟦', '⟧'])) {
            return refused("translations", "must not be blank, or contain `⟦` or `⟧`");
        }
        if entry.translations.is_empty() && !entry.keep {
            return refused("translations", "must have at least one entry, unless `keep` is set");
        }
        if !terms.insert(entry.term.to_lowercase()) {
            return refused("term", "is a duplicate");
        }
    }
    let size = serde_json::to_vec(entries).map_err(Error::internal)?.len();
    if size > MAX_GLOSSARY_BYTES {
        return Err(Error::invalid(
            "entries",
            format_args!("must be at most {MAX_GLOSSARY_BYTES} bytes as JSON, has {size}"),
        ));
    }
    Ok(())
}

/// Returns the glossary rules for a language.
pub(super) fn rules(entries: &[GlossaryEntry], language: TranslationLanguage) -> Vec<TermRule> {
    let rule = |entry: &GlossaryEntry| {
        let told = entry.translations.get(&language).map(ToString::to_string);
        Some(TermRule {
            term: entry.term.to_string(),
            translation: told.or_else(|| entry.keep.then(|| entry.term.to_string()))?,
            case_sensitive: entry.case_sensitive,
            note: entry.note.as_ref().map(ToString::to_string).unwrap_or_default(),
        })
    };
    entries.iter().filter_map(rule).collect()
}

#[operation("glossary_update")]
async fn glossary_update(
    tx: &mut Tx,
    actor: &Actor,
    org: &OrgId,
    entries: &GlossaryEntries,
    job: &JobId,
    now: Timestamp,
) -> Result<()> {
    access::org(tx, actor, org).await?.require(OrgAction::CreateContent)?;
    let old: Option<Arc<GlossaryRecord>> = tx.get(&GlossaryRecord::key_for(org)).await?;
    let before = old.as_ref().map_or_else(empty_entries, |old| old.entries.clone());
    if before == *entries {
        return Ok(());
    }
    let mut new = GlossaryRecord { organization: org.clone(), entries: entries.clone(), updated_at: now };
    match old {
        Some(old) => {
            new.updated_at = now.later_than(old.updated_at);
            tx.put(&*old, new)?;
        }
        None => drop(tx.create(new)),
    }
    let languages = TranslationLanguage::ALL
        .iter()
        .filter(|language| rules(&before, **language) != rules(entries, **language));
    let follow = FollowGlossary { organization: org.clone(), languages: languages.copied().collect() };
    jobs::enqueue(tx, now, follow.to_new_job(job, org, now)?).await
}

/// The job that updates the translations of an organization after a glossary change.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct FollowGlossary {
    organization: OrgId,
    /// The languages with changed rules.
    languages: BTreeSet<TranslationLanguage>,
}

impl Payload for FollowGlossary {
    const KIND: &'static str = "glossary_follow";
}

#[async_trait]
impl Job for FollowGlossary {
    async fn run(self, platform: &Platform, _: &mut JobRun) -> Result<Effect> {
        let of_org = TranslationRecord::by_org(&self.organization);
        let mut batches = Batches::of(of_org.scan(TRANSLATION_BATCH));
        loop {
            let tx = platform.read().await?;
            let Some(rows) = batches.next(&tx).await? else { return Ok(Effect::Done) };
            let found = tx.get_many::<TranslationRecord>(&TranslationRecord::named_by_all(&rows)).await?;
            drop(tx);
            for record in found.into_iter().flatten() {
                if self.languages.contains(&record.language) {
                    let (job, now) = (platform.id(), platform.now());
                    platform.upkeep(&enqueue_run(&record.id, &job, now)).await?;
                }
            }
        }
    }
}

#[operation("translation_run")]
async fn enqueue_run(tx: &mut Tx, translation: &TranslationId, job: &JobId, now: Timestamp) -> Result<()> {
    let record: Option<Arc<TranslationRecord>> = tx.get(&TranslationRecord::key_for(translation)).await?;
    let Some(record) = record else { return Ok(()) };
    let new = request_run(tx, &record, (job.clone(), now), Urgency::FollowUp).await?;
    if new != *record {
        tx.put(&*record, new)?;
    }
    Ok(())
}
