//! Random histories of a translated space, compared with a naive model that translates every page from scratch.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use docs_core::{
    content::{document, translate},
    model::{PageId, TranslationId, TranslationLanguage, TranslationStatus},
    ports::{PseudoTranslator, TermRule, Terms, TranslationBatch, Translator},
    store::Store,
};
use docs_memstore::MemStore;
use proptest::prelude::*;
use serde_json::json;

use super::{
    Desk,
    faults::{ERRORS, Fault, words},
    held, set, told,
};
use crate::support::{block_on, failing, insert};

/// A step of a history.
#[derive(Clone, Debug)]
enum Step {
    Insert(usize, usize),
    SetText(usize, usize),
    Rename(usize, usize),
    Hide(usize),
    Delete(usize),
    Instruct(usize),
    Glossary(usize),
    Run,
    Work,
    Wait(u64),
    /// Plans a fault of a later request.
    Fail(usize, Fault),
    Recreate,
}

const TEXTS: [&str; 6] = [
    "",
    "One sentence.\n",
    "One sentence.\n\nRead the **bold** [guide](https://example.com) and `code`.\n",
    "# Heading\n\nThe space is {{ space.vars.x }} here.\n\n```\ncode stays\n```\n",
    "| A table | of cells |\n| --- | --- |\n| The space | `x` |\n\nOne sentence.\n",
    "- An item\n- Another\n\n{% hint style=\"info\" %}\nMind the space.\n{% endhint %}\n\n<!-- no -->\n",
];
const TITLES: [&str; 3] = ["Start", "The space", "Next page"];
const INSTRUCTIONS: [&str; 3] = ["", "Be formal.\n", "Be kind.\n"];
const TERMS: [&[(&str, &str)]; 3] = [&[], &[("space", "espace")], &[("space", "local"), ("item", "item")]];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3_usize, 0..6_usize).prop_map(|(title, text)| Step::Insert(title, text)),
        5 => (0..8_usize, 0..6_usize).prop_map(|(page, text)| Step::SetText(page, text)),
        2 => (0..8_usize, 0..3_usize).prop_map(|(page, title)| Step::Rename(page, title)),
        1 => (0..8_usize).prop_map(Step::Hide),
        1 => (0..8_usize).prop_map(Step::Delete),
        1 => (0..3_usize).prop_map(Step::Instruct),
        1 => (0..3_usize).prop_map(Step::Glossary),
        1 => Just(Step::Run),
        3 => Just(Step::Work),
        2 => (1..5_000_u64).prop_map(Step::Wait),
        2 => (1..4_usize, prop::sample::select(ERRORS.to_vec())).prop_map(|(at, fault)| Step::Fail(at, fault)),
        1 => Just(Step::Recreate),
    ];
    prop::collection::vec(step, 1..24)
}

struct Model {
    d: Desk,
    id: TranslationId,
    instructions: usize,
    terms: usize,
    /// The segments of all texts and titles written since the last settled state.
    offered: BTreeSet<String>,
    /// `true` if a later step affects all segments.
    is_whole: bool,
    /// `true` if a run may have been rejected and must be requested again.
    is_refused: bool,
    /// Number of requests before the translation was created.
    before: usize,
}

impl Model {
    async fn new(store: Arc<dyn Store>) -> Self {
        let d = Desk::new(store).await;
        d.edit(&d.source, json!([insert("Start", TEXTS[1])])).await;
        let id = d.translate_to("fr").await.id;
        let offered = BTreeSet::new();
        Self { d, id, instructions: 0, terms: 0, offered, is_whole: true, is_refused: false, before: 0 }
    }

    async fn page(&self, n: usize) -> Option<PageId> {
        let pages = self.d.pages(&self.d.source).await;
        pages.get(n % pages.len().max(1)).map(|(id, ..)| id.clone())
    }

    async fn step(&mut self, step: &Step) {
        if let Step::Insert(_, text) | Step::SetText(_, text) = step {
            self.offered.extend(translate::segments(&document::parse(TEXTS[*text])));
        }
        if let Step::Insert(title, _) | Step::Rename(_, title) = step {
            self.offered.extend(translate::text_segment(TITLES[*title]));
        }
        match self.edits(step).await {
            Some(changes) => self.d.edit(&self.d.source, changes).await,
            None => return self.act(step).await,
        };
    }

    /// Returns the change of the source for a step, or `None` for steps without a change or a target page.
    async fn edits(&self, step: &Step) -> Option<serde_json::Value> {
        let change = |page: PageId, operation: &str| json!({ "operation": operation, "page": page });
        let with = |mut change: serde_json::Value, field: &str, value: serde_json::Value| {
            change[field] = value;
            change
        };
        let change = match step {
            Step::Insert(title, text) => insert(TITLES[*title], TEXTS[*text]),
            Step::SetText(n, text) => set(&self.page(*n).await?, TEXTS[*text]),
            Step::Rename(n, title) => {
                with(change(self.page(*n).await?, "update_page"), "title", json!(TITLES[*title]))
            }
            Step::Hide(n) => with(change(self.page(*n).await?, "update_page"), "hidden", json!(true)),
            Step::Delete(n) => change(self.page(*n).await?, "delete_page"),
            _ => return None,
        };
        Some(json!([change]))
    }

    async fn act(&mut self, step: &Step) {
        let (d, org) = (&self.d, self.d.w.org.clone());
        match step {
            Step::Instruct(n) => {
                let change = told(INSTRUCTIONS[*n]);
                d.w.as_admin().org(&org).translation(&self.id).update(change).await.expect("changed");
                self.instructions = *n;
                self.is_whole = true;
            }
            Step::Glossary(n) => {
                let entries: Vec<_> = TERMS[*n]
                    .iter()
                    .map(|(term, french)| json!({ "term": term, "translations": { "fr": french } }))
                    .collect();
                let new = serde_json::from_value(json!({ "entries": entries })).expect("a glossary");
                d.w.as_admin().org(&org).translations().set_glossary(new).await.expect("set");
                self.terms = *n;
                self.is_whole = true;
            }
            Step::Run => d.w.as_admin().org(&org).translation(&self.id).run().await.expect("run"),
            Step::Work => drop(d.w.platform.settle().await.expect("settled")),
            Step::Wait(seconds) => d.w.clock.advance(std::time::Duration::from_secs(*seconds)),
            Step::Fail(at, fault) => {
                d.translator.fail_at(*at, *fault);
                self.is_refused |= *fault == Fault::Refused;
            }
            Step::Recreate => {
                d.w.as_admin().org(&org).translation(&self.id).delete().await.expect("deleted");
                self.before = d.translator.requests();
                self.id = d.translate_to("fr").await.id;
                if self.instructions != 0 {
                    let change = told(INSTRUCTIONS[self.instructions]);
                    d.w.as_admin().org(&org).translation(&self.id).update(change).await.expect("changed");
                }
                self.is_whole = true;
            }
            // There is no page to edit.
            Step::Insert(..) | Step::SetText(..) | Step::Rename(..) | Step::Hide(_) | Step::Delete(_) => {}
        }
    }

    fn rules(&self) -> Vec<TermRule> {
        let rule = |(term, translation): &(&str, &str)| TermRule {
            term: (*term).to_owned(),
            translation: (*translation).to_owned(),
            case_sensitive: false,
            note: String::new(),
        };
        TERMS[self.terms].iter().map(rule).collect()
    }

    async fn translated(&self, segment: &str) -> Option<String> {
        let rules = self.rules();
        let occurring = Terms::new(&rules).occurring_in(segment);
        let glossary = occurring.into_iter().map(|rule| rules[rule].clone()).collect();
        let batch = TranslationBatch {
            source: TranslationLanguage::English,
            target: TranslationLanguage::French,
            instructions: INSTRUCTIONS[self.instructions].to_owned(),
            glossary,
            segments: vec![segment.to_owned()],
        };
        PseudoTranslator.translate(&batch).await.expect("translated").pop()
    }

    /// Checks that all sent words are counted, regardless of the results.
    async fn count(&self) {
        let stats = self.d.get(&self.id).await.stats;
        let sent: u64 = held(&self.d.translator.asked)[self.before..].iter().map(|of| words(of)).sum();
        assert_eq!(stats.total_words, sent, "{stats:?}");
    }

    /// Runs all jobs, and checks that the target equals the naive translation of the source.
    async fn settle(&mut self) {
        self.d.settle().await;
        if std::mem::take(&mut self.is_refused) {
            held(&self.d.translator.faults).clear();
            let org = self.d.w.org.clone();
            self.d.w.as_admin().org(&org).translation(&self.id).run().await.expect("run");
            self.d.settle().await;
        }
        let translation = self.d.get(&self.id).await;
        assert_eq!(translation.status, TranslationStatus::Completed);
        let target = translation.result.expect("a result").space;
        let source = self.d.pages(&self.d.source).await;
        let mut expected = Vec::new();
        for (id, title, text) in &source {
            let mut own: BTreeSet<String> = translate::segments(&document::parse(text)).into_iter().collect();
            own.extend(translate::text_segment(title));
            let mut all = BTreeMap::new();
            for segment in &own {
                all.insert(segment.clone(), self.translated(segment).await);
            }
            let known = |segment: &str| all.get(segment).cloned().flatten();
            let text =
                if text.is_empty() { String::new() } else { translate::translated_markdown(text, known) };
            expected.push((id.clone(), translate::translated_text(title, known), text));
        }
        assert_eq!(self.d.pages(&target).await, expected);
        let sent = self.d.translator.take();
        if !self.is_whole {
            let again: BTreeSet<&String> = sent.difference(&self.offered).collect();
            assert!(again.is_empty(), "sent again, though nothing of it has changed: {again:?}");
        }
        self.offered.clear();
        self.is_whole = false;
        self.d.w.check().await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn settled_translation_equals_full_translation(steps in steps()) {
        block_on(run(steps, Arc::new(MemStore::new())));
    }
}

proptest! {
    // Each fault causes a delay of several milliseconds.
    #![proptest_config(ProptestConfig { cases: 6, ..ProptestConfig::default() })]

    #[test]
    fn settled_equals_full_translation_under_commit_faults(steps in steps()) {
        block_on(run(steps, failing()));
    }
}

async fn run(steps: Vec<Step>, store: Arc<dyn Store>) {
    let mut model = Model::new(store).await;
    for step in &steps {
        model.step(step).await;
        model.count().await;
        if matches!(step, Step::Wait(_)) {
            model.settle().await;
        }
    }
    model.settle().await;
}
