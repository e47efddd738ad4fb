//! Programs that are not workers, or broken ones.

use docs_ports::{ConvertError, Converter as _};

use super::*;

/// Returns a book that does not fit into a pipe buffer.
fn large() -> Book {
    Book { images: BTreeMap::from([(picture(0), vec![7; 1 << 20].into())]), ..book("large") }
}

#[tokio::test]
async fn start_failure_contains_the_program_path() {
    let _alone = alone().await;
    let missing = WorkerPool::new(Program::from_path("/no/such/program"), options(WIDE));
    let error = render(&missing, book("right")).await.expect_err("it cannot be started");
    assert!(matches!(&error, PdfError::Failed(why) if why.contains("/no/such/program")), "{error}");
    let error = missing.convert(document("right")).await.expect_err("it cannot be started");
    assert!(matches!(&error, ConvertError::Failed(why) if why.contains("/no/such/program")), "{error}");
}

#[tokio::test]
async fn failure_of_an_invalid_worker_contains_the_program_path() {
    let _alone = alone().await;
    for part in ["ends", "noise", "another version", "no such part"] {
        let error = render(&playing(part, WIDE), book("right")).await.expect_err(part);
        assert!(matches!(&error, PdfError::Failed(why) if why.contains(PROGRAM)), "{part}: {error}");
        all_is_well(&pool(WIDE)).await;
    }
}

#[tokio::test]
async fn worker_that_is_never_ready_times_out() {
    let _alone = alone().await;
    let options = WorkerOptions { start: Duration::from_millis(50), ..options(WIDE) };
    let pool = WorkerPool::new(Program::from_path(PROGRAM).arg("silent"), options);
    let error = render(&pool, book("right")).await.expect_err("it is not ready");
    assert!(
        matches!(&error, PdfError::Failed(why) if why.contains("not ready within 0.05 seconds")),
        "{error}"
    );
    assert_eq!(children(), Vec::<i32>::new());
}

#[tokio::test]
async fn missing_or_failing_adapter_is_reported() {
    let _alone = alone().await;
    let unable = playing("unable", WIDE);
    let error = render(&unable, book("right")).await.expect_err("no fonts");
    assert_eq!(error, PdfError::Failed("there are no fonts".to_owned()));
    let error = unable.convert(document("right")).await.expect_err("no converter");
    assert_eq!(error, ConvertError::Failed("this worker does not convert documents".to_owned()));
}

#[tokio::test]
async fn malformed_worker_responses_are_refused() {
    let _alone = alone().await;
    for part in ["garbage", "garbage as JSON", "another answer", "half a frame", "half a file"] {
        for book in [book("right"), large()] {
            let error = render(&playing(part, WIDE), book).await.expect_err(part);
            assert!(matches!(error, PdfError::Unprocessable(_)), "{part}: {error}");
            all_is_well(&pool(WIDE)).await;
        }
    }
}

#[tokio::test]
async fn oversized_frames_are_refused() {
    let _alone = alone().await;
    for part in ["too large a frame", "too large an outline"] {
        let error = render(&playing(part, WIDE), book("right")).await.expect_err(part);
        assert_eq!(error, PdfError::TooLarge("the PDF must be at most 4 MiB".to_owned()), "{part}");
        all_is_well(&pool(WIDE)).await;
    }
    let error = playing("too many files", WIDE).unpack(Bytes::from_static(b"a")).await.expect_err("too many");
    assert!(matches!(&error, ConvertError::TooLarge(why) if why.contains("at most 4 MiB")), "{error}");
    all_is_well(&pool(WIDE)).await;
}

#[tokio::test]
async fn stalled_worker_is_ended_by_the_wall_time_limit() {
    let _alone = alone().await;
    let limits = WorkerLimits { wall: Duration::from_millis(50), ..WIDE };
    for part in ["deaf", "half a frame, and waits"] {
        let error = render(&playing(part, limits), large()).await.expect_err(part);
        assert!(matches!(error, PdfError::TooSlow(_)), "{part}: {error}");
        all_is_well(&pool(WIDE)).await;
    }
}

#[tokio::test]
async fn response_before_reading_the_request_is_accepted() {
    let _alone = alone().await;
    let pool = playing("deaf, and answers", WIDE);
    assert_eq!(render(&pool, large()).await.expect("an answer"), "%PDF");
    assert_eq!(children(), Vec::<i32>::new());
}
