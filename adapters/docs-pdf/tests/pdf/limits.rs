//! Exceeded limits are reported as errors.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use docs_pdf::{Fonts, Limits, Typesetter};
use docs_ports::{Pdf as _, PdfError};

use crate::{book, page, paragraph};

fn with(limits: Limits) -> Typesetter {
    Typesetter::new(Fonts::default(), limits)
}

#[tokio::test]
async fn page_limit_error_contains_limit_and_actual_count() {
    let pages = (0..21).map(|at| page(&format!("p{at}"), "A page", Vec::new())).collect();
    let done = with(Limits { pages: 20, ..Limits::default() }).render(Arc::new(book("Many", pages))).await;
    let Err(PdfError::TooLarge(why)) = done else { panic!("{done:?}") };
    assert!(why.contains("20") && why.contains("21"), "{why}");
}

#[tokio::test]
async fn twenty_thousand_pages_exceed_the_default_limit() {
    let pages = (0..20_000).map(|at| page(&format!("p{at}"), "A page", vec![paragraph("x")])).collect();
    let done = Typesetter::default().render(Arc::new(book("Many", pages))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn more_parts_than_the_limit_are_refused() {
    let blocks = (0..100).map(|_| paragraph("x")).collect();
    let typesetter = with(Limits { parts: 90, ..Limits::default() });
    let done = typesetter.render(Arc::new(book("Much", vec![page("p1", "A page", blocks)]))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn a_file_larger_than_the_limit_is_refused() {
    let typesetter = with(Limits { bytes: 1_000, ..Limits::default() });
    let done = typesetter.render(Arc::new(book("A book", vec![page("p1", "A page", Vec::new())]))).await;
    assert!(matches!(done, Err(PdfError::TooLarge(_))), "{done:?}");
}

#[tokio::test]
async fn render_timeout_does_not_panic_the_typesetter() {
    let (before, panicked) = (std::panic::take_hook(), Arc::new(AtomicBool::new(false)));
    let seen = Arc::clone(&panicked);
    std::panic::set_hook(Box::new(move |info| {
        let is_typesetter = std::thread::current().name() == Some("typesetter");
        seen.fetch_or(is_typesetter, Ordering::SeqCst);
        before(info);
    }));
    let text = |at: usize| (0..1_000).map(|n| paragraph(&format!("some words {at} {n}"))).collect();
    let pages = (0..400).map(|at| page(&format!("p{at}"), "A page", text(at))).collect();
    let slow = Arc::new(book("Slow", pages));
    for milliseconds in [1, 50, 200] {
        let time = Duration::from_millis(milliseconds);
        let begun = Instant::now();
        let done = with(Limits { time, ..Limits::default() }).render(Arc::clone(&slow)).await;
        assert!(matches!(done, Err(PdfError::TooSlow(_))), "{milliseconds}: {done:?}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{milliseconds}: {:?}", begun.elapsed());
    }
    assert!(!panicked.load(Ordering::SeqCst), "time that is over is no fault");
}

#[tokio::test]
async fn concurrent_renders_above_the_limit_all_complete() {
    let typesetter = with(Limits { at_once: 1, ..Limits::default() });
    let one = Arc::new(book("A book", vec![page("p1", "A page", vec![paragraph("x")])]));
    let (a, b, c) = tokio::join!(
        typesetter.render(Arc::clone(&one)),
        typesetter.render(Arc::clone(&one)),
        typesetter.render(one)
    );
    let a = a.expect("a file");
    // The output is deterministic.
    assert_eq!((Ok(a.clone()), Ok(a)), (b, c));
}
