//! A translator that fails in every way at every request, and a server that crashes after every commit. The status and
//! statistics of a translation show its progress. In the end everything is translated, and nothing is sent more often
//! than necessary.

use docs_core::model::TranslationStats;
use docs_memstore::{FaultPlan, FaultStore};

use super::*;

/// The fault of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The service is unavailable, optionally with a retry delay in seconds.
    Away(Option<u64>),
    Refused,
    Malformed,
    /// The translation of one segment is missing.
    Short,
    /// Placeholders are lost.
    Careless,
    /// All translations are empty.
    Silent,
}

pub(super) const ERRORS: [Fault; 3] = [Fault::Away(None), Fault::Away(Some(600)), Fault::Refused];
const ANSWERS: [Fault; 4] = [Fault::Malformed, Fault::Short, Fault::Careless, Fault::Silent];

impl Fault {
    /// Returns the error of the translator, if the fault is an error.
    pub(super) fn error(self) -> Option<TranslateError> {
        match self {
            Self::Away(after) => Some(TranslateError::Unavailable { reason: "busy".to_owned(), after }),
            Self::Refused => Some(TranslateError::Refused("no".to_owned())),
            Self::Malformed => Some(TranslateError::Malformed("it is no JSON".to_owned())),
            Self::Short | Self::Careless | Self::Silent => None,
        }
    }

    /// Returns the response with the fault.
    pub(super) fn spoilt(self, mut texts: Vec<String>) -> Vec<String> {
        match self {
            Self::Short => drop(texts.pop()),
            Self::Silent => texts.iter_mut().for_each(String::clear),
            Self::Careless => texts = texts.into_iter().map(|text| text.replace("⟦1⟧", "")).collect(),
            Self::Away(_) | Self::Refused | Self::Malformed => {}
        }
        texts
    }
}

/// Returns enough sentences for several batches.
fn sentences(word: &str) -> String {
    (0..90).map(|n| format!("{word} {n} says `code` here.\n\n")).collect()
}

/// Returns the titles and texts of the pages of a space.
async fn said(d: &Desk, space: &SpaceId) -> Vec<(String, String)> {
    d.pages(space).await.into_iter().map(|(_, title, text)| (title, text)).collect()
}

/// Returns the expected page with translated sentences.
fn translated(word: &str) -> Vec<(String, String)> {
    let text: String = (0..90).map(|n| format!("\\[{word} {n} sáýs `code` héré.]\n\n")).collect();
    vec![("[Stárt]".to_owned(), format!("{}\n", text.trim_end()))]
}

pub(super) fn words(segments: &[String]) -> u64 {
    let is_word = |word: &&str| word.chars().any(char::is_alphanumeric);
    segments.iter().map(|segment| segment.split_whitespace().filter(is_word).count() as u64).sum()
}

/// Creates a page of sentences with a translation whose first run is pending.
async fn waiting(store: Arc<dyn Store>) -> (Desk, TranslationId) {
    let d = Desk::new(store).await;
    d.edit(&d.source, json!([insert("Start", &sentences("Line"))])).await;
    d.w.platform.settle().await.expect("settled");
    let id = d.translate_to("fr").await.id;
    (d, id)
}

/// Number of requests in a run without faults.
const REQUESTS: usize = 3;

/// Checks that a pending run with a fault at a request, after a number of unanswered requests, finally succeeds.
async fn meets(d: &Desk, id: &TranslationId, (fault, at, unanswered): (Fault, usize, usize)) {
    let told = format!("{fault:?} at {at}");
    let before = d.get(id).await;
    let sent = d.translator.requests();
    d.translator.fail_at(at, fault);
    d.w.platform.settle().await.expect("settled");
    let met = d.get(id).await;
    let runs = before.stats.runs;
    let (status, has_ended) = match (fault, &before.result) {
        (Fault::Away(_) | Fault::Refused, None) => (TranslationStatus::Pending, false),
        // The last result is preserved, and another run is planned if the fault is transient.
        (Fault::Away(_), Some(_)) => (TranslationStatus::Running, false),
        (Fault::Refused, Some(_)) => (TranslationStatus::Completed, false),
        _ => (TranslationStatus::Completed, true),
    };
    assert_eq!((met.status, met.stats.runs), (status, runs + u64::from(has_ended)), "{told}");
    if !has_ended {
        assert_eq!(met.result, before.result, "{told}");
        assert_eq!(
            TranslationStats { total_words: 0, ..met.stats },
            TranslationStats { total_words: 0, ..before.stats },
            "{told}"
        );
    }
    let spent = |d: &Desk| held(&d.translator.asked)[sent..].iter().map(|of| words(of)).sum::<u64>();
    assert_eq!(met.stats.total_words, before.stats.total_words + spent(d), "{told}: {:?}", met.stats);
    if fault == Fault::Refused {
        d.settle().await;
        assert_eq!(d.get(id).await, met, "{told}: what was refused is not tried again by itself");
        d.w.as_admin().org(&d.w.org).translation(id).run().await.expect("run");
    }
    d.settle().await;
    let done = d.get(id).await;
    assert_eq!((done.status, done.stats.runs), (TranslationStatus::Completed, runs + 1), "{told}");
    assert_eq!((done.stats.latest_pages, done.stats.latest_words), (1, spent(d)), "{told}");
    // Translated segments are not sent again.
    let asked = held(&d.translator.asked);
    let (fine, rest) = asked[sent..].split_at(at - 1);
    let is_again = |segment: &String| rest.iter().any(|batch| batch.contains(segment));
    assert!(!fine.iter().skip(unanswered).flatten().any(is_again), "{told}");
}

/// Every segment is translated exactly once.
#[tokio::test]
async fn all_faults_at_all_requests_end_in_full_translation() {
    let (d, id) = waiting(Arc::new(MemStore::new())).await;
    d.settle().await;
    assert_eq!(d.translator.requests(), REQUESTS);
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(said(&d, &target).await, translated("Líñé"));
    for fault in ERRORS.into_iter().chain(ANSWERS) {
        for at in 1..=REQUESTS {
            let (d, id) = waiting(Arc::new(MemStore::new())).await;
            meets(&d, &id, (fault, at, 0)).await;
            let target = d.get(&id).await.result.expect("a result").space;
            assert_eq!(said(&d, &target).await, translated("Líñé"), "{fault:?} at {at}");
            // The same applies if there already is a result.
            let start = d.pages(&d.source).await[0].0.clone();
            d.edit(&d.source, json!([set(&start, &sentences("Row"))])).await;
            meets(&d, &id, (fault, at, 0)).await;
            assert_eq!(said(&d, &target).await, translated("Rów"), "{fault:?} at {at}, later");
            d.w.check().await;
        }
    }
}

#[tokio::test]
async fn errors_of_single_texts_keep_earlier_responses() {
    // The response to the first batch is invalid, so each of its texts is sent separately.
    let alone = 40;
    for fault in ERRORS {
        for at in (2..=alone + REQUESTS).step_by(6) {
            let (d, id) = waiting(Arc::new(MemStore::new())).await;
            d.translator.fail_at(1, Fault::Malformed);
            meets(&d, &id, (fault, at, 1)).await;
            let target = d.get(&id).await.result.expect("a result").space;
            assert_eq!(said(&d, &target).await, translated("Líñé"), "{fault:?} at {at}");
        }
    }
}

#[tokio::test]
async fn interrupted_run_is_retried_and_applied_once() {
    for commits in 0.. {
        let store = Arc::new(FaultStore::new(Arc::new(MemStore::new()), FaultPlan::none()));
        let (d, id) = waiting(store.clone()).await;
        store.set_plan(FaultPlan::none().with_outage_after(store.applied() + commits));
        let was_killed = d.w.platform.settle().await.is_err();
        store.set_plan(FaultPlan::none());
        let told = format!("after {commits} commits, {was_killed}");
        let met = d.get(&id).await;
        let expected = match (commits, met.stats.runs) {
            (0, _) => TranslationStatus::Pending,
            (_, 0) => TranslationStatus::Running,
            _ => TranslationStatus::Completed,
        };
        assert_eq!((met.status, met.result.is_some()), (expected, met.stats.runs == 1), "{told}");
        // The lease of the crashed server expires.
        d.w.clock.advance(std::time::Duration::from_secs(60));
        d.w.platform.settle().await.expect("settled");
        let done = d.get(&id).await;
        assert_eq!((done.status, done.stats.runs), (TranslationStatus::Completed, 1), "{told}");
        let target = done.result.expect("a result").space;
        assert_eq!(said(&d, &target).await, translated("Líñé"), "{told}");
        // Only the batch whose response was lost is sent again. Words are counted when the response arrives.
        let asked = held(&d.translator.asked).clone();
        assert!(asked.len() <= REQUESTS + 1, "{told}: {} requests", asked.len());
        let sent: u64 = asked.iter().map(|of| words(of)).sum();
        let once: BTreeSet<String> = asked.into_iter().flatten().collect();
        let least = words(&once.into_iter().collect::<Vec<_>>());
        assert!(
            (least..=sent).contains(&done.stats.total_words),
            "{told}: {} of {sent}",
            done.stats.total_words
        );
        d.w.check().await;
        if !was_killed {
            assert!(commits >= 8, "{told}");
            return;
        }
    }
}
