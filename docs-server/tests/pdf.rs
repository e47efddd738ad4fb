//! The handbook as a PDF file.

use std::{sync::Arc, time::Duration};

use docs_core::{
    Platform,
    platform::{ContentOf, PdfAnswer, PdfPart},
};
use docs_git::LocalRemote;
use docs_memstore::{MemObjects, MemStore};
use docs_pdf::Typesetter;
use docs_server::{HANDBOOK_URL, MAIN, create_site, first_start, handbook, import, imported};

/// With `DOCS_PDF_OUT` as the name of a folder the file is left there, to be looked at.
#[tokio::test]
async fn the_handbook_is_a_pdf_file_of_all_its_pages() {
    let remote = LocalRemote::new().with(HANDBOOK_URL, MAIN, handbook().expect("the handbook"));
    let builder = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()));
    let platform = builder.git(Arc::new(remote)).pdf(Arc::new(Typesetter::default())).build();
    let setup = first_start(&platform, None).await.expect("set up").expect("a new store");
    let space = create_site(&platform, &setup, "Handbook").await.expect("published").space;
    import(&platform, &setup, &space, HANDBOOK_URL).await.expect("accepted");
    platform.settle().await.expect("settled");
    imported(&platform, &setup, &space).await.expect("imported");
    let of = ContentOf::space(space.clone());
    let link =
        platform.as_actor(&setup.admin).content(&of).pdf_url(&PdfPart::default()).await.expect("an address");
    let sealed = link.url.rsplit('/').nth(1).expect("the sealed part");
    let asking = platform.pdf_file(&space, sealed, Duration::from_secs(300));
    let (asked, settled) = tokio::join!(asking, async {
        // The job is there once the address was asked.
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
