//! The handbook as a PDF file.

use std::sync::Arc;

use docs_core::{
    Platform,
    platform::{ContentOf, PdfPart},
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
    let file = platform.pdf_file(&space, sealed).await.expect("a file");
    assert_eq!(file.name, "handbook.pdf");
    assert!(file.bytes.starts_with(b"%PDF-"));
    if let Some(folder) = std::env::var_os("DOCS_PDF_OUT") {
        std::fs::write(std::path::Path::new(&folder).join(&file.name), &file.bytes).expect("a file");
    }
}
