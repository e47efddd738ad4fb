//! Jobs that harm their worker process.

use docs_ports::{ConvertError, Converter as _};

use super::*;

#[tokio::test]
async fn a_job_without_end_of_memory_is_too_large() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let error = render(&pool, book("allocate")).await.expect_err("refused");
    assert_eq!(
        error,
        PdfError::TooLarge("rendering this PDF exceeded its memory limit of 512 MiB".to_owned())
    );
    let error = pool.convert(document("allocate")).await.expect_err("refused");
    assert!(
        matches!(&error, ConvertError::TooLarge(text) if text.contains("memory limit of 512 MiB")),
        "{error}"
    );
    all_is_well(&pool).await;
}

#[tokio::test]
async fn a_job_without_end_of_computing_is_too_slow() {
    let _alone = alone().await;
    let pool = pool(WorkerLimits { cpu: Duration::from_millis(1), ..WIDE });
    let error = render(&pool, book("spin")).await.expect_err("refused");
    assert_eq!(
        error,
        PdfError::TooSlow("rendering this PDF exceeded its CPU time limit of 0.001 seconds".to_owned())
    );
    all_is_well(&pool).await;
}

#[tokio::test]
async fn a_job_that_sleeps_for_ever_is_too_slow() {
    let _alone = alone().await;
    let short = pool(WorkerLimits { wall: Duration::from_millis(50), ..WIDE });
    let error = render(&short, book("sleep")).await.expect_err("refused");
    assert_eq!(
        error,
        PdfError::TooSlow("rendering this PDF exceeded its time limit of 0.05 seconds".to_owned())
    );
    let error = short.convert(document("sleep")).await.expect_err("refused");
    assert!(matches!(&error, ConvertError::TooLarge(text) if text.contains("time limit of 0.05")), "{error}");
    all_is_well(&pool(WIDE)).await;
}

#[tokio::test]
async fn crashing_jobs_are_unreadable_and_the_server_survives() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    for what in ["overflow", "abort", "panic"] {
        let error = render(&pool, book(what)).await.expect_err("refused");
        assert!(
            matches!(&error, PdfError::Unprocessable(text) if text.contains("crashed the PDF renderer")),
            "{what}: {error}"
        );
        let error = pool.convert(document(what)).await.expect_err("refused");
        assert!(
            matches!(&error, ConvertError::Unreadable(text) if text.contains("crashed its parser")),
            "{what}: {error}"
        );
        let error = pool.unpack(Bytes::from(what)).await.expect_err("refused");
        assert!(
            matches!(&error, ConvertError::Unreadable(text) if text.contains("archive")),
            "{what}: {error}"
        );
        all_is_well(&pool).await;
    }
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused_while_it_is_read() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let error = render(&pool, book("large answer")).await.expect_err("refused");
    assert_eq!(error, PdfError::TooLarge("the PDF must be at most 4 MiB".to_owned()));
    all_is_well(&pool).await;
}

#[tokio::test]
async fn a_worker_that_complains_a_lot_is_not_held_up() {
    let _alone = alone().await;
    assert_eq!(render(&pool(WIDE), book("loud")).await.expect("an answer"), "%PDF loud");
}
