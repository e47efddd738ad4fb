//! The handbook as a PDF file.

use std::{sync::Arc, time::Duration};

use docs_core::platform::{ContentVersion, PdfAnswer, PdfPart};
use docs_pdf::Typesetter;

use super::Handbook;

/// If `DOCS_PDF_OUT` is set, the test writes the PDF file to that folder for inspection.
#[tokio::test]
async fn handbook_renders_to_a_pdf_file() {
    let Handbook { platform, setup, space } =
        Handbook::with(|builder| builder.pdf(Arc::new(Typesetter::default()))).await;
    let of = ContentVersion::space(space.clone());
    let link =
        platform.as_actor(&setup.admin).content(&of).pdf_url(&PdfPart::default()).await.expect("an address");
    let sealed = link.url.rsplit('/').nth(1).expect("the sealed part");
    let asking = platform.pdf_file(&space, sealed, Duration::from_secs(300));
    let (asked, settled) = tokio::join!(asking, async {
        // The job is created when the URL is requested.
        while platform.settle().await? == 0 {
            tokio::task::yield_now().await;
        }
        docs_core::Result::Ok(())
    });
    settled.expect("settled");
    let PdfAnswer::Ready(file) = asked.expect("a file") else { panic!("it is made") };
    assert_eq!(file.name, "handbook.pdf");
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < file.size {
        bytes.extend(platform.pdf_piece(&file, bytes.len() as u64).await.expect("a piece"));
    }
    assert!(bytes.starts_with(b"%PDF-"));
    if let Some(folder) = std::env::var_os("DOCS_PDF_OUT") {
        std::fs::write(std::path::Path::new(&folder).join(&file.name), &bytes).expect("a file");
    }
}
