//! Jobs that harm their own worker process.

use docs_ports::{ConvertError, Converter as _};

use super::*;

#[tokio::test]
async fn unbounded_allocation_exceeds_the_memory_limit() {
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
async fn endless_computation_exceeds_the_cpu_time_limit() {
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
async fn sleeping_job_exceeds_the_wall_time_limit() {
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
async fn oversized_worker_response_is_refused() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let error = render(&pool, book("large answer")).await.expect_err("refused");
    assert_eq!(error, PdfError::TooLarge("the PDF must be at most 4 MiB".to_owned()));
    all_is_well(&pool).await;
}

#[tokio::test]
async fn large_stderr_output_does_not_block_the_worker() {
    let _alone = alone().await;
    assert_eq!(render(&pool(WIDE), book("loud")).await.expect("an answer"), "%PDF loud");
}
