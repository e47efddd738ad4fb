//! Server memory while a book with many images is rendered.

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::{Block, BlockKind, ContentRef, Document, Leaf, Node, TextNode};
use docs_ports::{Book, BookImage, BookPage, ImageSource, Pdf as _, PdfError};
use docs_worker::{Program, WorkerLimits, WorkerOptions, WorkerPool};
use peak_alloc::PeakAlloc;

#[global_allocator]
static PEAK: PeakAlloc = PeakAlloc;

const PICTURES: usize = 100;
const PICTURE: usize = 2_500_000;

/// An image that is generated when loaded.
struct Stored;

#[async_trait]
impl ImageSource for Stored {
    async fn load(&self) -> Result<Option<Bytes>, PdfError> {
        Ok(Some(vec![7; PICTURE].into()))
    }
}

fn book() -> Book {
    let leaf = Leaf::new("Some words of a page. ".repeat(200), Vec::new());
    let paragraph =
        Block::new(BlockKind::Paragraph { align: None }, vec![Node::Text(TextNode::new(vec![leaf]))]);
    let document = Arc::new(Document::new(vec![paragraph; 10]));
    let pages = (0..200).map(|number| BookPage {
        id: format!("p{number}").parse().expect("an id"),
        title: "Page".to_owned(),
        description: None,
        depth: 0,
        document: Some(Arc::clone(&document)),
    });
    let image = |number| {
        let name = ContentRef::Url { url: format!("https://example.com/{number}") };
        (name, BookImage::Stored(Arc::new(Stored)))
    };
    let images: BTreeMap<_, _> = (0..PICTURES).map(image).collect();
    Book { title: "pictures".to_owned(), pages: pages.collect(), images, ..Book::default() }
}

#[tokio::test]
async fn server_holds_one_image_at_a_time_and_worker_each_once() {
    // The worker holds all images. The limit leaves less than that amount for everything else.
    let limits = WorkerLimits { memory: 400 << 20, ..WorkerOptions::default().render };
    let options = WorkerOptions { render: limits, at_once: NonZeroUsize::MIN, ..WorkerOptions::default() };
    let program = Program::from_path(env!("CARGO_BIN_EXE_docs-worker-test-program")).arg("worker");
    let pool = WorkerPool::new(program, options);
    let book = Arc::new(book());
    PEAK.reset_peak_usage();
    let before = PEAK.current_usage();
    let told = pool.render(book).await.expect("an answer");
    let taken = PEAK.peak_usage() - before;
    assert_eq!(told, format!("200 pages, {PICTURES} pictures, {} bytes", PICTURES * PICTURE));
    assert!(taken < 4 * PICTURE, "{taken} bytes");
}
