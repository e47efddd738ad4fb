//! Failing translators, stopped servers, and subsequent recovery.

use super::*;

/// Returns more segments than fit into one request.
fn long() -> String {
    (0..60).map(|n| format!("Sentence {n}.\n\n")).collect()
}

/// Returns the state and error of the latest run.
async fn last_job(d: &Desk) -> (JobState, String) {
    let spaces = d.w.as_admin().org(&d.w.org).spaces().list(&PageRequest::default()).await.expect("listed");
    let target = spaces.items.iter().find(|space| space.id != d.source).expect("the target").id.clone();
    let job = d.jobs(&target).await.remove(0);
    (job.state, job.error.unwrap_or_default())
}

const NO_ANSWER: &str = "the response of the translator is malformed: it contains no valid translation";

#[tokio::test]
async fn segments_translated_before_a_crash_are_not_resent() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", &long())])).await;
    let id = d.translate_to("fr").await.id;
    let gate = d.translator.wait_after(1);
    tokio::select! {
        _ = d.w.platform.settle() => panic!("the translator waits"),
        () = gate.asked.notified() => {}
    }
    let before = d.translator.take();
    assert!(before.len() >= 30, "{before:?}");
    d.settle().await;
    assert_eq!(d.get(&id).await.status, TranslationStatus::Completed);
    let after = d.translator.take();
    assert_eq!((before.len() + after.len(), before.intersection(&after).count()), (61, 0));
    let target = d.get(&id).await.result.expect("a result").space;
    assert!(d.pages(&target).await[0].2.contains("\\[Séñtéñçé 59.]"));
    // Every part is complete, so a full run sends nothing.
    d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
    d.settle().await;
    assert!(d.translator.take().is_empty());
    d.w.check().await;
}

#[tokio::test]
async fn requested_run_does_not_wait_for_a_delayed_one() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n")])).await;
    let id = d.translate_to("fr").await.id;
    let busy = TranslateError::Unavailable { reason: "busy".to_owned(), after: Some(3_000) };
    *held(&d.translator.failures) = vec![busy];
    let gate = d.translator.wait_after(0);
    // The source changes during the run, so another run is queued after it. Then the run is delayed.
    let change = async {
        gate.asked.notified().await;
        d.edit(&d.source, json!([insert("More", "Two.\n")])).await;
        gate.go.notify_one();
    };
    let (settled, ()) = tokio::join!(d.w.platform.settle(), change);
    settled.expect("settled");
    assert_eq!(d.get(&id).await.result, None);
    d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
    d.w.platform.settle().await.expect("settled");
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await.len(), 2);
    d.w.check().await;
}

#[tokio::test]
async fn useless_responses_create_no_translation() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n\nTwo.\n\nThree.\n\nFour.\n")])).await;
    let id = d.translate_to("fr").await.id;
    let failed = || last_job(&d);
    *held(&d.translator.failures) = vec![TranslateError::Malformed("it is no JSON".to_owned()); 100];
    d.settle().await;
    let why = "the response of the translator is malformed: it is no JSON";
    assert_eq!(failed().await, (JobState::Failed, why.to_owned()));
    assert_eq!(held(&d.translator.failures).len(), 96, "one batch, and three texts of it alone");
    held(&d.translator.failures).clear();
    *held(&d.translator.silent) = Some("");
    d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
    d.settle().await;
    assert_eq!(failed().await, (JobState::Failed, NO_ANSWER.to_owned()));
    assert_eq!((d.get(&id).await.status, d.get(&id).await.result), (TranslationStatus::Pending, None));
}

#[tokio::test]
async fn small_run_without_responses_creates_no_translation() {
    for (text, sent) in [("", 1), ("One.\n", 2)] {
        let d = Desk::new(Arc::new(MemStore::new())).await;
        *held(&d.translator.silent) = Some("");
        d.edit(&d.source, json!([insert("Start", text)])).await;
        let id = d.translate_to("fr").await.id;
        d.settle().await;
        assert_eq!(last_job(&d).await, (JobState::Failed, NO_ANSWER.to_owned()), "{sent}");
        let failed = d.get(&id).await;
        assert_eq!((failed.status, failed.result), (TranslationStatus::Pending, None), "{sent}");
        assert_eq!(failed.stats.runs, 0, "{sent}");
        assert_eq!(d.translator.take().len(), sent);
        *held(&d.translator.silent) = None;
        d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
        d.settle().await;
        let done = d.get(&id).await;
        assert_eq!((done.status, done.stats.runs), (TranslationStatus::Completed, 1), "{sent}");
        let target = done.result.expect("a result").space;
        assert_eq!(d.pages(&target).await[0].1, "[Stárt]");
        d.w.check().await;
    }
}

#[tokio::test]
async fn missing_responses_keep_the_last_result() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n\nTwo.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let before = d.get(&id).await.result.expect("a result");
    let start = d.pages(&d.source).await[0].0.clone();
    *held(&d.translator.silent) = Some("");
    // Nothing of the new page is cached. Of the changed page, all segments except one are cached.
    for change in [insert("More", "Four.\n"), set(&start, "One.\n\nThree.\n")] {
        d.edit(&d.source, json!([change])).await;
        d.settle().await;
        assert_eq!(last_job(&d).await, (JobState::Failed, NO_ANSWER.to_owned()));
        assert_eq!(d.get(&id).await.result.as_ref(), Some(&before));
    }
    *held(&d.translator.silent) = None;
    d.w.as_admin().org(&d.w.org).translation(&id).run().await.expect("run");
    d.settle().await;
    let texts: Vec<String> = d.pages(&before.space).await.into_iter().map(|(_, _, text)| text).collect();
    assert_eq!(texts, ["\\[Óñé.]\n\n\\[Thréé.]\n", "\\[Fóúr.]\n"]);
    assert_eq!(d.get(&id).await.stats.runs, 2);
}

#[tokio::test]
async fn untranslatable_texts_do_not_block_others() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    *held(&d.translator.silent) = Some("odd");
    // This long text is sent first, in a separate request. The other texts show that it is the cause.
    let long = format!("An odd one, {}.", "and on ".repeat(1_400));
    d.edit(&d.source, json!([insert("Start", &format!("{long}\n\nOne.\n"))])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let done = d.get(&id).await;
    assert_eq!((done.status, done.stats.runs), (TranslationStatus::Completed, 1));
    let target = done.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, format!("{long}\n\n\\[Óñé.]\n"));
    let start = d.pages(&d.source).await[0].0.clone();
    // Three changes: one untranslatable text among cached texts, more such texts than the sample size, and a page with
    // nothing else.
    let many: String = (0..5).map(|n| format!("An odd one, {n}.\n\n")).collect();
    let changes = [
        set(&start, "An odd one.\n\nOne.\n"),
        set(&start, &format!("One.\n\n{}\n", many.trim_end())),
        insert("An odd page", "An odd text.\n"),
    ];
    for (runs, change) in (2..).zip(changes) {
        d.edit(&d.source, json!([change])).await;
        d.settle().await;
        let (state, why) = last_job(&d).await;
        assert_eq!((state, why.as_str()), (JobState::Done, ""));
        assert_eq!(d.get(&id).await.stats.runs, runs);
    }
    let pages = d.pages(&target).await;
    assert_eq!(pages[0].2, format!("\\[Óñé.]\n\n{}\n", many.trim_end()));
    assert_eq!((pages[1].1.as_str(), pages[1].2.as_str()), ("An odd page", "An odd text.\n"));
    d.w.check().await;
}

#[tokio::test]
async fn untranslatable_page_keeps_its_source_title() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    d.edit(&d.source, json!([insert("Start", "One.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    *held(&d.translator.silent) = Some("odd");
    d.translator.take();
    d.edit(&d.source, json!([insert("An odd page", "")])).await;
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["An odd page", "One."]), "what is known tells that it works");
    let done = d.get(&id).await;
    assert_eq!((done.status, done.stats.runs), (TranslationStatus::Completed, 2));
    assert_eq!(d.pages(&done.result.expect("a result").space).await[1].1, "An odd page");
}

#[tokio::test]
async fn untranslated_segments_are_retried_by_the_next_run() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    *held(&d.translator.silent) = Some("odd");
    d.edit(&d.source, json!([insert("Start", "One.\n\nAn odd one.\n\nThree.\n")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, "\\[Óñé.]\n\nAn odd one.\n\n\\[Thréé.]\n");
    *held(&d.translator.silent) = None;
    d.translator.take();
    d.edit(&d.source, json!([insert("More", "")])).await;
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["More", "An odd one."]));
    assert_eq!(d.pages(&target).await[0].2, "\\[Óñé.]\n\n\\[Áñ ódd óñé.]\n\n\\[Thréé.]\n");
    // One attempt suffices.
    d.edit(&d.source, json!([insert("Last", "")])).await;
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["Last"]));
}

#[tokio::test]
async fn title_with_an_overlong_translation_stays_untranslated() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let (longest, fits) = ("x".repeat(999), "x".repeat(998));
    d.edit(&d.source, json!([insert(&longest, ""), insert(&fits, "")])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    let target = d.get(&id).await.result.expect("a result").space;
    let titles: Vec<String> = d.pages(&target).await.into_iter().map(|(_, title, _)| title).collect();
    assert_eq!(titles, [longest, format!("[{fits}]")]);
}

#[tokio::test]
async fn segments_larger_than_the_bound_are_not_translated() {
    let d = Desk::new(Arc::new(MemStore::new())).await;
    let [at_bound, beyond] = [16 << 10, (16 << 10) + 1].map(|bytes| "b".repeat(bytes));
    d.edit(&d.source, json!([insert("Start", &format!("{at_bound}\n\n{beyond}\n"))])).await;
    let id = d.translate_to("fr").await.id;
    d.settle().await;
    assert_eq!(d.translator.take(), strings(&["Start", &at_bound]));
    let target = d.get(&id).await.result.expect("a result").space;
    assert_eq!(d.pages(&target).await[0].2, format!("\\[{at_bound}]\n\n{beyond}\n"));
}
