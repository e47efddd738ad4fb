//! Translations: a space follows another one in another language.

mod failures;
mod faults;
mod model;
mod neighbours;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use docs_core::{
    Actor, ErrorKind,
    model::{
        Document, Job, JobState, PageId, RevisionPage, RevisionType, Role, SpaceId, Translation,
        TranslationId, TranslationStatus, UpdateTranslation,
    },
    platform::{ContentOptions, ContentVersion},
    ports::{PseudoTranslator, TranslateError, TranslationBatch, Translator},
    store::{PageRequest, Store},
};
use docs_memstore::MemStore;
use serde_json::{Value, json};
use tokio::sync::Notify;

use self::faults::Fault;
use crate::support::{Refused, World, insert};

/// A pseudo-translator that records its input and fails on request.
#[derive(Default)]
pub(super) struct Noting {
    sent: Mutex<Vec<String>>,
    /// All requests.
    asked: Mutex<Vec<Vec<String>>>,
    /// The faults by request number, starting from 1.
    faults: Mutex<BTreeMap<usize, Fault>>,
    failures: Mutex<Vec<TranslateError>>,
    /// `true` to drop placeholders.
    careless: Mutex<bool>,
    /// Segments that contain this text are not translated.
    silent: Mutex<Option<&'static str>>,
    /// The gate that blocks requests.
    gate: Mutex<Option<Gate>>,
}

/// A gate that blocks a translator, signals the block, and continues on request.
#[derive(Clone, Default)]
struct Gate {
    /// The number of requests that pass before one is blocked.
    passes: usize,
    asked: Arc<Notify>,
    go: Arc<Notify>,
}

#[async_trait]
impl Translator for Noting {
    fn name(&self) -> String {
        "noting".to_owned()
    }

    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError> {
        self.wait().await;
        let number = {
            let mut asked = held(&self.asked);
            asked.push(batch.segments.clone());
            asked.len()
        };
        let fault = held(&self.faults).remove(&number);
        if let Some(error) = fault.and_then(Fault::error).or_else(|| held(&self.failures).pop()) {
            return Err(error);
        }
        held(&self.sent).extend(batch.segments.iter().cloned());
        let mut texts = PseudoTranslator.translate(batch).await?;
        if let Some(silent) = *held(&self.silent) {
            for (text, segment) in texts.iter_mut().zip(&batch.segments) {
                text.retain(|_| !segment.contains(silent));
            }
        }
        if *held(&self.careless) {
            return Ok(texts.into_iter().map(|text| text.replace("⟦1⟧", "")).collect());
        }
        Ok(match fault {
            Some(fault) => fault.spoilt(texts),
            None => texts,
        })
    }
}

impl Noting {
    /// Plans a fault of a later request.
    fn fail_at(&self, requests: usize, fault: Fault) {
        let number = held(&self.asked).len() + requests;
        held(&self.faults).insert(number, fault);
    }

    /// Returns the number of requests.
    fn requests(&self) -> usize {
        held(&self.asked).len()
    }

    async fn wait(&self) {
        let gate = match &mut *held(&self.gate) {
            Some(gate) if gate.passes > 0 => {
                gate.passes -= 1;
                return;
            }
            gate => gate.take(),
        };
        if let Some(gate) = gate {
            gate.asked.notify_one();
            gate.go.notified().await;
        }
    }

    /// Blocks a request after `passes` other requests.
    fn wait_after(&self, passes: usize) -> Gate {
        let gate = Gate { passes, ..Gate::default() };
        *held(&self.gate) = Some(gate.clone());
        gate
    }

    fn take(&self) -> BTreeSet<String> {
        std::mem::take(&mut *held(&self.sent)).into_iter().collect()
    }
}

pub(super) fn held<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A world with a translator.
pub(super) struct Desk {
    pub(super) w: World,
    pub(super) translator: Arc<Noting>,
    pub(super) source: SpaceId,
}

impl Desk {
    pub(super) async fn new(store: Arc<dyn Store>) -> Self {
        let translator = Arc::new(Noting::default());
        let w = World::build(store, |builder| builder.translator(translator.clone())).await;
        let source = w.space().await;
        Self { w, translator, source }
    }

    pub(super) async fn translate_to(&self, language: &str) -> Translation {
        let new = json!({ "source": { "space": self.source, "language": "en" }, "language": language });
        let new = serde_json::from_value(new).expect("a translation");
        self.w.as_admin().org(&self.w.org).translations().create(new).await.expect("created")
    }

    pub(super) async fn get(&self, id: &TranslationId) -> Translation {
        self.w.as_admin().org(&self.w.org).translation(id).get().await.expect("there")
    }

    /// Changes the live content of a space.
    pub(super) async fn edit(&self, space: &SpaceId, changes: Value) {
        let request = self.w.request(space).await;
        let update = serde_json::from_value(json!({ "changes": changes })).expect("changes");
        let at = self.w.as_admin().space(space);
        at.change_request(&request).edit(update).await.expect("edited");
        self.w.as_admin().space(space).change_request(&request).merge().await.expect("merged");
    }

    /// Runs all due jobs, including those that become due.
    pub(super) async fn settle(&self) {
        for _ in 0..12 {
            self.w.platform.settle().await.expect("settled");
            self.w.clock.advance(std::time::Duration::from_secs(4_000));
        }
        self.w.platform.settle().await.expect("settled");
    }

    /// Returns the pages of a space in reading order: id, title and Markdown.
    pub(super) async fn pages(&self, space: &SpaceId) -> Vec<(PageId, String, String)> {
        fn walk(pages: &[RevisionPage], out: &mut Vec<PageId>) {
            for page in pages {
                if let RevisionPage::Document(page) = page {
                    out.push(page.base.id.clone());
                    walk(&page.pages, out);
                }
            }
        }
        let of = ContentVersion::space(space.clone());
        let content = self.w.as_admin();
        let mut ids = Vec::new();
        walk(
            &content.content(&of).list_pages(ContentOptions::default()).await.expect("read").pages,
            &mut ids,
        );
        let mut out = Vec::new();
        for id in ids {
            let page = content.content(&of).get_page(&id, ContentOptions::default()).await.expect("read");
            let RevisionPage::Document(page) = page else { panic!("a document") };
            out.push((id, page.base.title.clone(), page.markdown.unwrap_or_default()));
        }
        out
    }

    async fn jobs(&self, space: &SpaceId) -> Vec<Job> {
        self.w.as_admin().space(space).list_jobs(&PageRequest::default()).await.expect("listed").items
    }
}

pub(super) fn set(page: &PageId, text: &str) -> Value {
    json!({ "operation": "update_page", "page": page, "document": { "markdown": text } })
}

fn strings(texts: &[&str]) -> BTreeSet<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn told(text: &str) -> UpdateTranslation {
    UpdateTranslation { instructions: docs_core::content::document::parse(text) }
}

#[tokio::test]
async fn translation_follows_and_sends_only_changed_segments() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "Read `code` now.\n\nA second one.\n"), insert("Next", "")]))
        .await;
    let made = d.translate_to("de").await;
    assert_eq!((made.status, &made.result), (TranslationStatus::Pending, &None));
    assert!(d.translator.take().is_empty(), "a request waits for no translator");
    d.settle().await;
    let done = d.get(&made.id).await;
    let result = done.result.clone().expect("a result");
    assert_eq!(done.status, TranslationStatus::Completed);
    assert_eq!((done.stats.runs, done.stats.latest_pages, done.stats.latest_words), (1, 2, 8));
    assert_eq!(d.translator.take(), strings(&["Start", "Next", "Read ⟦1⟧ now.", "A second one."]));
    let (before, after) = (d.pages(&d.source).await, d.pages(&result.space).await);
    assert_eq!(after[0].0, before[0].0, "pages keep their ids");
    assert_eq!(after[0].1, "[Stárt]");
    assert_eq!(after[0].2, "\\[Réád `code` ñów.]\n\n\\[Á séçóñd óñé.]\n");
    let space = d.w.as_admin().space(&result.space).get().await.expect("there");
    assert_eq!((space.revision, &*space.title), (result.revision, "Untitled (German)"));
    // Only the changed block is sent.
    d.edit(&d.source, json!([set(&before[0].0, "Read `code` now.\n\nA third one.\n")])).await;
    assert_eq!(d.get(&made.id).await.status, TranslationStatus::Running);
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["A third one."]));
    let done = d.get(&made.id).await;
    assert_eq!((done.stats.runs, done.stats.latest_pages, done.stats.latest_words), (2, 1, 3));
    assert_eq!((done.stats.total_pages, done.stats.total_words), (3, 11));
    assert_eq!(d.pages(&result.space).await[0].2, "\\[Réád `code` ñów.]\n\n\\[Á thírd óñé.]\n");
    let history = d.w.as_admin().space(&result.space).revisions().list(&PageRequest::default()).await;
    let source_revision = d.w.as_admin().space(&d.source).get().await.expect("found").revision;
    assert_eq!(history.expect("listed").items[0].kind, RevisionType::Computed { source_revision });
    d.w.check().await;
}

#[tokio::test]
async fn manual_corrections_persist_until_their_source_changes() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n\nTwo.\n\nThree.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    let page = d.pages(&target).await[0].0.clone();
    d.edit(&target, json!([set(&page, "\\[Óñé.]\n\nDeux.\n\nTrois.\n")])).await;
    d.edit(&d.source, json!([set(&page, "One more.\n\nTwo.\n\nThree.\n")])).await;
    d.settle().await;
    assert_eq!(d.pages(&target).await[0].2, "\\[Óñé móré.]\n\nDeux.\n\nTrois.\n");
    d.edit(&d.source, json!([set(&page, "One more.\n\nTwo.\n\nThree times.\n")])).await;
    d.settle().await;
    assert_eq!(d.pages(&target).await[0].2, "\\[Óñé móré.]\n\nDeux.\n\n\\[Thréé tímés.]\n");
    // A page deleted from the source is deleted, unless a user has edited its translation.
    d.edit(&d.source, json!([insert("More", "Four.\n")])).await;
    d.settle().await;
    let more = d.pages(&target).await[1].0.clone();
    d.edit(&d.source, json!([{ "operation": "delete_page", "page": more }])).await;
    d.settle().await;
    assert_eq!(d.pages(&target).await.len(), 1);
    d.edit(&d.source, json!([insert("More", "Four.\n")])).await;
    d.settle().await;
    let more = d.pages(&target).await[1].0.clone();
    d.edit(&target, json!([set(&more, "Quatre.\n")])).await;
    d.edit(&d.source, json!([{ "operation": "delete_page", "page": more }])).await;
    d.settle().await;
    assert_eq!(d.pages(&target).await[1], (more, "[Móré]".to_owned(), "Quatre.\n".to_owned()));
    d.w.check().await;
}

/// Instructions and terms are passed to the translator.
#[tokio::test]
async fn changed_terms_only_affect_segments_that_contain_them() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "The space.\n\nAnother.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    d.translator.take();
    let translations = d.w.as_admin();
    let glossary = json!({ "entries": [{ "term": "space", "translations": { "fr": "espace" } }] });
    let glossary = serde_json::from_value(glossary).expect("a glossary");
    let org = d.w.org.clone();
    translations.org(&org).translations().set_glossary(glossary).await.expect("set");
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["The space."]));
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, "\\[Thé espace.]\n\n\\[Áñóthér.]\n");
    let changed =
        translations.org(&org).translation(&id).update(told("Be **formal**.\n")).await.expect("set");
    assert_eq!(changed.status, TranslationStatus::Running);
    assert_eq!(changed.instructions, docs_core::content::document::parse("Be **formal**.\n"));
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["Start", "The space.", "Another."]));
    // A full run does not send cached segments again.
    translations.org(&org).translation(&id).run().await.expect("run");
    d.settle().await;
    assert!(d.translator.take().is_empty());
    assert_eq!(d.get(&id).await.stats.runs, 4);
}

/// A term in several languages applies to translations between two of them.
#[tokio::test]
async fn multilingual_terms_apply_between_their_languages() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "The space.\n\nA page.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    d.translator.take();
    let org = d.w.org.clone();
    let change = async |operations: serde_json::Value| {
        let change = serde_json::from_value(json!({ "operations": operations })).expect("a change");
        d.w.as_admin().org(&org).translations().update_glossary_terms(change).await.expect("changed");
        d.settle().await;
        d.translator.take()
    };
    let german = json!([{ "type": "insert", "translations": { "en": "page", "de": "Seite" } }]);
    assert!(change(german).await.is_empty(), "another target language");
    let from_german = json!([{ "type": "insert", "translations": { "de": "The", "fr": "Le" } }]);
    assert!(change(from_german).await.is_empty(), "another source language");
    let french = json!([{ "type": "insert", "translations": { "en": "space", "fr": "espace" } }]);
    assert_eq!(change(french).await, strings(&["The space."]));
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, "\\[Thé espace.]\n\n\\[Á págé.]\n");
    // An entry for any source language takes precedence.
    let entries = json!({ "entries": [{ "term": "Space", "translations": { "fr": "lieu" } }] });
    let entries = serde_json::from_value(entries).expect("a glossary");
    d.w.as_admin().org(&org).translations().set_glossary(entries).await.expect("set");
    d.settle().await;
    assert_eq!(d.pages(&target).await[0].2, "\\[Thé lieu.]\n\n\\[Á págé.]\n");
    let all = PageRequest::default();
    let terms = d.w.as_admin().org(&org).translations().list_glossary_terms(None, &all);
    assert_eq!(terms.await.expect("listed").items.len(), 3, "the terms are unchanged");
}

#[tokio::test]
async fn failure_keeps_the_last_result_and_reports_the_reason() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n")])).await;
    let id = d.translate_to("fr").await.id;
    *held(&d.translator.failures) = vec![TranslateError::Refused("the key is wrong".to_owned())];
    d.settle().await;
    let failed = d.get(&id).await;
    assert_eq!((failed.status, failed.result), (TranslationStatus::Pending, None));
    let spaces = d.w.as_admin().org(&d.w.org).spaces().list(&PageRequest::default()).await.expect("listed");
    let target = spaces.items.iter().find(|space| space.id != d.source).expect("the target").id.clone();
    let jobs = d.jobs(&target).await;
    assert_eq!(jobs[0].state, JobState::Failed);
    assert_eq!(jobs[0].error.as_deref(), Some("the translator rejected the request: the key is wrong"));
    // A transient failure is retried, but not before the time that the service requests.
    let busy = TranslateError::Unavailable { reason: "busy".to_owned(), after: Some(600) };
    *held(&d.translator.failures) = vec![busy];
    d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
    d.w.platform.settle().await.expect("settled");
    let waiting = &d.jobs(&target).await[0];
    assert_eq!(waiting.state, JobState::Queued);
    assert!(waiting.due_at.expect("due").time() - d.w.clock_now().time() >= chrono::TimeDelta::seconds(600));
    d.settle().await;
    assert_eq!(d.get(&id).await.status, TranslationStatus::Completed);
    let result = d.get(&id).await.result.expect("a result");
    // A later failure preserves the result.
    *held(&d.translator.failures) = vec![TranslateError::Refused("gone".to_owned())];
    d.edit(&d.source, json!([insert("More", "Two.\n")])).await;
    d.settle().await;
    let after = d.get(&id).await;
    assert_eq!((after.status, after.result), (TranslationStatus::Completed, Some(result)));
}

#[tokio::test]
async fn segments_whose_placeholders_get_lost_are_sent_without_them() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    *held(&d.translator.careless) = true;
    d.edit(&d.source, json!([insert("Start", "Read the `code` now.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, "\\[Réád thé] `code` \\[ñów.]\n");
}

#[tokio::test]
async fn deleting_a_translation_keeps_its_space_without_updates() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    let me = d.w.as_admin();
    assert!(me.org(&d.w.org).translation(&id).delete().await.expect("deleted"));
    assert!(!me.org(&d.w.org).translation(&id).delete().await.expect("gone already"));
    me.org(&d.w.org).translation(&id).get().await.refused(ErrorKind::NotFound);
    me.org(&d.w.org).translation(&id).run().await.refused(ErrorKind::NotFound);
    d.translator.take();
    d.edit(&d.source, json!([insert("More", "Two.\n")])).await;
    d.settle().await;
    assert!(d.translator.take().is_empty());
    assert_eq!(d.pages(&target).await.len(), 1);
    d.w.check().await;
}

#[tokio::test]
async fn readers_see_and_managers_change_translations() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let id = d.translate_to("fr").await.id;
    let org = d.w.org.clone();
    let reader = d.w.member("Rea", Some(Role::Read)).await;
    let editor = d.w.member("Edo", Some(Role::Review)).await;
    let creator = d.w.member("Cem", Some(Role::Create)).await;
    let guest = d.w.member("Gus", None).await;
    let seen = |actor: &Actor| {
        let (platform, actor, org, id) = (d.w.platform.clone(), actor.clone(), org.clone(), id.clone());
        async move { platform.as_actor(&actor).org(&org).translation(&id).get().await }
    };
    for (actor, edit) in [(&reader, false), (&editor, false), (&creator, true), (&d.w.admin, true)] {
        assert_eq!(seen(actor).await.expect("seen").permissions.edit, edit);
    }
    seen(&guest).await.refused(ErrorKind::NotFound);
    let listed = d.w.platform.as_actor(&guest).org(&org).translations();
    assert!(listed.list(&PageRequest::default()).await.expect("listed").items.is_empty());
    let as_editor = d.w.platform.as_actor(&editor);
    as_editor.org(&org).translation(&id).update(told("x")).await.refused(ErrorKind::Forbidden);
    as_editor.org(&org).translation(&id).run().await.refused(ErrorKind::Forbidden);
    as_editor.org(&org).translation(&id).delete().await.refused(ErrorKind::Forbidden);
    let new = json!({ "source": { "space": d.source, "language": "en" }, "language": "de" });
    let new: docs_core::model::CreateTranslation = serde_json::from_value(new).expect("a translation");
    as_editor.org(&org).translations().create(new.clone()).await.refused(ErrorKind::Forbidden);
    d.w.platform.as_actor(&creator).org(&org).translations().create(new).await.expect("created");
}

#[tokio::test]
async fn lists_of_translations_end_at_a_bounded_size_of_instructions() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let me = d.w.as_admin();
    let instructions: Document = docs_core::content::document::parse(&"a".repeat(16_000));
    for source in [d.source.clone(), d.w.space().await] {
        for _ in 0..35 {
            d.w.clock.advance(std::time::Duration::from_millis(1));
            let source = json!({ "space": source, "language": "en" });
            let new = json!({ "source": source, "language": "de", "instructions": instructions });
            let new = serde_json::from_value(new).expect("a translation");
            me.org(&d.w.org).translations().create(new).await.expect("created");
        }
    }
    let mut next = None;
    let mut sizes = Vec::new();
    loop {
        let page = PageRequest { page: next, limit: Some(1_000) };
        let page = me.org(&d.w.org).translations().list(&page).await.expect("listed");
        sizes.push(page.items.len());
        next = page.next;
        if next.is_none() {
            break;
        }
    }
    let json = serde_json::to_string(&instructions).expect("JSON").len();
    let first = (1 << 20) / json;
    assert_eq!(sizes, [first, 70 - first], "1 MiB of instructions as JSON");
}

#[tokio::test]
async fn bad_input_is_refused_with_its_field() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let me = d.w.as_admin();
    let create = |body: Value| {
        let new = serde_json::from_value(body).expect("a translation");
        me.org(&d.w.org).translations().create(new)
    };
    let source = json!({ "space": d.source, "language": "en" });
    for (body, field) in [
        (json!({ "source": { "space": "nowhere", "language": "en" }, "language": "de" }), "source.space: "),
        (json!({ "source": { "space": "no id!", "language": "en" }, "language": "de" }), "source.space: "),
        (json!({ "source": source, "language": "en" }), "language: "),
    ] {
        let error = create(body).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(field), "{error}");
    }
    let long: Document = docs_core::content::document::parse(&"word ".repeat(10_000));
    let body = json!({ "source": source, "language": "de", "instructions": long });
    assert!(create(body).await.refused(ErrorKind::Invalid).message().starts_with("instructions: "));
    for (entry, field) in [
        (json!({ "term": "a" }), "entries[0].translations: "),
        (json!({ "term": " a", "keep": true }), "entries[0].term: "),
        (json!({ "term": "a⟦", "keep": true }), "entries[0].term: "),
        (json!({ "term": "a", "translations": { "de": " " } }), "entries[0].translations: "),
    ] {
        let new = serde_json::from_value(json!({ "entries": [entry] })).expect("a glossary");
        let error = me.org(&d.w.org).translations().set_glossary(new).await.refused(ErrorKind::Invalid);
        assert!(error.message().starts_with(field), "{error}");
    }
    let twice = json!({ "entries": [{ "term": "a", "keep": true }, { "term": "A", "keep": true }] });
    let twice = serde_json::from_value(twice).expect("a glossary");
    let error = me.org(&d.w.org).translations().set_glossary(twice).await.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), "entries[1].term: is a duplicate");
}
