//! The glossary of an organization: entries in the source language of any translation, and terms in several languages.

mod terms;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, Result,
    model::{
        Glossary, GlossaryEntries, GlossaryEntry, GlossaryObject, JobId, OrgId, SetGlossary, TermTexts,
        Timestamp, TranslationId, TranslationLanguage,
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
        records::{GlossaryRecord, GlossaryTermRecord, TranslationRecord},
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
        check_term(&format!("entries[{at}].term"), &entry.term)?;
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
    Ok(())
}

/// Checks a text that is searched for in content.
fn check_term(field: &str, term: &str) -> Result<()> {
    if term.trim() != term || term.contains(['⟦', '⟧', '\n', '\r']) {
        let why = "must not begin or end with white space, or contain line breaks, `⟦` or `⟧`";
        return Err(Error::invalid(field, why));
    }
    Ok(())
}

/// Returns the rules of a glossary for translations from one language to another. Entries for any source language take
/// precedence over terms in several languages.
pub(super) fn all_rules(
    glossary: &GlossaryRecord,
    from: TranslationLanguage,
    to: TranslationLanguage,
) -> Vec<TermRule> {
    let mut all = rules(&glossary.entries, to);
    let mut known: BTreeSet<String> = all.iter().map(|rule| rule.term.to_lowercase()).collect();
    for term in &glossary.terms {
        if let (Some(text), Some(translation)) = (term.texts.get(&from), term.texts.get(&to))
            && known.insert(text.to_lowercase())
        {
            all.push(TermRule {
                term: text.to_string(),
                translation: translation.to_string(),
                case_sensitive: false,
                note: String::new(),
            });
        }
    }
    all
}

/// Returns the rules of entries for translations to a language.
fn rules(entries: &[GlossaryEntry], language: TranslationLanguage) -> Vec<TermRule> {
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
    let old = find(tx, org).await?;
    let terms = old.as_ref().map(|old| old.terms.clone()).unwrap_or_default();
    let new = GlossaryRecord { organization: org.clone(), entries: entries.clone(), terms, updated_at: now };
    store(tx, old, new, "entries", (job, now)).await
}

async fn find(tx: &Tx, org: &OrgId) -> Result<Option<Arc<GlossaryRecord>>> {
    Ok(tx.get(&GlossaryRecord::key_for(org)).await?)
}

/// Stores a changed glossary, and translates the sentences again that its changes concern. `field` is the field of the
/// request with the changes.
async fn store(
    tx: &mut Tx,
    old: Option<Arc<GlossaryRecord>>,
    mut new: GlossaryRecord,
    field: &str,
    (job, now): (&JobId, Timestamp),
) -> Result<()> {
    let before = old.as_ref().map_or_else(empty_entries, |old| old.entries.clone());
    let terms_before = old.as_ref().map_or(&[][..], |old| &old.terms);
    if before == new.entries && terms_before == new.terms {
        return Ok(());
    }
    let mut size = serde_json::to_vec(&new.entries).map_err(Error::internal)?.len();
    if !new.terms.is_empty() {
        size += serde_json::to_vec(&new.terms).map_err(Error::internal)?.len();
    }
    if size > MAX_GLOSSARY_BYTES {
        let why = format_args!(
            "must be at most {MAX_GLOSSARY_BYTES} bytes as JSON with the rest of the glossary, has {size}"
        );
        return Err(Error::invalid(field, why));
    }
    let languages = TranslationLanguage::ALL.iter().copied();
    let mut languages: BTreeSet<TranslationLanguage> =
        languages.filter(|language| rules(&before, *language) != rules(&new.entries, *language)).collect();
    languages.extend(changed_languages(terms_before, &new.terms));
    let org = new.organization.clone();
    match old {
        Some(old) => {
            new.updated_at = now.later_than(old.updated_at);
            tx.put(&*old, new)?;
        }
        None => drop(tx.create(new)),
    }
    let follow = FollowGlossary { organization: org.clone(), languages };
    jobs::enqueue(tx, now, follow.to_new_job(job, &org, now)?).await
}

/// Returns the languages of the terms that are in only one of the lists.
fn changed_languages(
    before: &[GlossaryTermRecord],
    after: &[GlossaryTermRecord],
) -> BTreeSet<TranslationLanguage> {
    let texts = |terms: &[GlossaryTermRecord]| -> BTreeSet<TermTexts> {
        terms.iter().map(|term| term.texts.clone()).collect()
    };
    let (before, after) = (texts(before), texts(after));
    before.symmetric_difference(&after).flat_map(|texts| texts.keys().copied()).collect()
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
