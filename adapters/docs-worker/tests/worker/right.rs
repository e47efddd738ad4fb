//! Jobs that succeed.

use docs_model::{Block, BlockKind, Document as PageDocument, Leaf, Node, PageId, TextNode};
use docs_ports::{
    BookLink, BookPage, ConvertError, Converter as _, EmbeddedFile, PdfSink, SpecError, SpecFile, SpecFiles,
    SpecReader as _, UnpackedFile,
};

use super::*;

fn id<T: std::str::FromStr>(text: &str) -> T
where
    T::Err: std::fmt::Debug,
{
    text.parse().expect("an id")
}

fn text(text: &str) -> Arc<PageDocument> {
    let leaf = Leaf::new(text, Vec::new());
    let nodes = vec![Node::Text(TextNode::new(vec![leaf]))];
    Arc::new(PageDocument::new(vec![Block::new(BlockKind::Paragraph { align: None }, nodes)]))
}

/// Returns a document with blocks nested deeper than the parser for user input permits.
fn deep() -> Arc<PageDocument> {
    let mut block = Block::new(BlockKind::Paragraph { align: None }, Vec::new());
    for _ in 0..60 {
        block = Block::new(BlockKind::Blockquote {}, vec![Node::Block(block)]);
    }
    Arc::new(PageDocument::new(vec![block]))
}

fn page(name: &str, document: Option<Arc<PageDocument>>) -> BookPage {
    BookPage {
        id: id::<PageId>(name),
        title: format!("Title of {name}"),
        description: Some("about".to_owned()),
        depth: 3,
        document,
    }
}

#[tokio::test]
async fn book_is_transferred_to_the_worker_unchanged() {
    let _alone = alone().await;
    let whole = Book {
        title: "debug".to_owned(),
        subtitle: Some("below".to_owned()),
        language: Some("de".to_owned()),
        space: Some(id("space")),
        pages: vec![page("a", Some(text("first"))), page("b", None), page("c", Some(deep()))],
        images: [(picture(1), b"one".to_vec().into()), (picture(2), Bytes::new().into())].into(),
        links: [(picture(3), BookLink { title: Some("t".to_owned()), url: None })].into(),
        reusables: [(id("r"), text("again"))].into(),
    };
    let seen = render(&pool(WIDE), whole.clone()).await.expect("an answer");
    assert_eq!(seen, format!("{whole:?}"));
}

/// A sink that records the sizes of the chunks of a file, and optionally fails after some of them.
struct Parts {
    lengths: Vec<usize>,
    most: usize,
}

#[async_trait]
impl PdfSink for Parts {
    async fn write(&mut self, part: Bytes) -> Result<(), PdfError> {
        self.lengths.push(part.len());
        match self.lengths.len() < self.most {
            true => Ok(()),
            false => Err(PdfError::Unavailable("the disk is full".to_owned())),
        }
    }
}

#[tokio::test]
async fn rendered_file_is_streamed_in_bounded_chunks() {
    let _alone = alone().await;
    let pool = pool(WorkerLimits { answer: 16 << 20, ..WIDE });
    let mut parts = Parts { lengths: Vec::new(), most: usize::MAX };
    pool.render_into(Arc::new(book("large answer")), &mut parts).await.expect("a file");
    assert_eq!(parts.lengths.iter().sum::<usize>(), 8 << 20);
    assert!(parts.lengths.iter().all(|length| *length <= 256 << 10));
    all_is_well(&pool).await;
}

#[tokio::test]
async fn sink_error_aborts_the_render() {
    let _alone = alone().await;
    let pool = pool(WorkerLimits { answer: 16 << 20, ..WIDE });
    let mut parts = Parts { lengths: Vec::new(), most: 3 };
    let error = pool.render_into(Arc::new(book("large answer")), &mut parts).await.expect_err("it failed");
    assert_eq!(error, PdfError::Unavailable("the disk is full".to_owned()));
    assert_eq!(parts.lengths.len(), 3);
    all_is_well(&pool).await;
}

#[tokio::test]
async fn missing_image_is_omitted() {
    struct Gone;
    #[async_trait]
    impl ImageSource for Gone {
        async fn load(&self) -> Result<Option<Bytes>, PdfError> {
            Ok(None)
        }
    }
    let _alone = alone().await;
    let seen = render(&pool(WIDE), book_with("pictures", Gone)).await.expect("an answer");
    assert_eq!(seen, "0 pages, 0 pictures, 0 bytes");
}

#[tokio::test]
async fn image_load_error_fails_the_render() {
    struct Away;
    #[async_trait]
    impl ImageSource for Away {
        async fn load(&self) -> Result<Option<Bytes>, PdfError> {
            Err(PdfError::Unavailable("the disk is away".to_owned()))
        }
    }
    let _alone = alone().await;
    let pool = pool(WIDE);
    let error = render(&pool, book_with("sleep", Away)).await.expect_err("no answer");
    assert_eq!(error, PdfError::Unavailable("the disk is away".to_owned()));
    all_is_well(&pool).await;
}

#[tokio::test]
async fn adapter_errors_are_returned_unchanged() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let error = render(&pool, book("too large")).await.expect_err("refused");
    assert_eq!(error, PdfError::TooLarge("the actor finds it too large".to_owned()));
    let error = render(&pool, book("too slow")).await.expect_err("refused");
    assert_eq!(error, PdfError::TooSlow("the actor finds it too slow".to_owned()));
    let error = render(&pool, book("failed")).await.expect_err("refused");
    assert_eq!(error, PdfError::Failed("the actor failed".to_owned()));
    let error = pool.convert(document("unreadable")).await.expect_err("refused");
    assert_eq!(error, ConvertError::Unreadable("the actor cannot read it".to_owned()));
    all_is_well(&pool).await;
}

#[tokio::test]
async fn document_converts_to_a_page_with_files() {
    let _alone = alone().await;
    let url = Some("https://example.com/from".to_owned());
    let page = pool(WIDE).convert(Document { url, ..document("files") }).await.expect("a page");
    let file = |name: &str| EmbeddedFile {
        destination: format!("file:{name}"),
        name: name.to_owned(),
        bytes: Bytes::from_static(b"bytes"),
    };
    assert_eq!((page.title.as_str(), page.markdown.as_str()), ("Html", "https://example.com/from"));
    assert_eq!(page.links, ["https://example.com/"]);
    assert_eq!((page.images.len(), page.files), (1, vec![file("a"), file("b")]));
    assert_eq!(page.warnings, ["no chart"]);
}

#[tokio::test]
async fn archive_is_unpacked_within_the_size_limit() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let archive = pool.unpack(Bytes::from_static(b"a b/c")).await.expect("files");
    let file = |path: &str| UnpackedFile { path: path.to_owned(), bytes: vec![b'x'; 1 << 20].into() };
    assert_eq!(archive.files, [file("a"), file("b/c")]);
    assert_eq!(archive.warnings, ["no link"]);
    let error = pool.unpack(Bytes::from_static(b"1 2 3 4 5")).await.expect_err("too much");
    assert_eq!(
        error,
        ConvertError::TooLarge(
            "the archive must be at most 4 MiB when unpacked; put fewer files into it".to_owned()
        )
    );
    all_is_well(&pool).await;
}

#[tokio::test]
async fn worker_has_limits_before_its_job_and_no_server_secrets() {
    let _alone = alone().await;
    let pool = pool(WIDE);
    let limits = render(&pool, book("limits")).await.expect("an answer");
    let limit = |name: &str| {
        let line = limits.lines().find(|line| line.starts_with(name)).expect(name);
        line.strip_prefix(name).expect(name).split_whitespace().take(2).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(limit("Max data size"), "536870912 536870912");
    assert_eq!(limit("Max cpu time"), "60 61");
    assert_eq!(limit("Max core file size"), "0 0");
    assert_eq!(limit("Max file size"), "0 0");
    assert_eq!(limit("Max open files"), "64 64");
    let status = render(&pool, book("status")).await.expect("an answer");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let environment = render(&pool, book("environment")).await.expect("an answer");
    assert!(
        std::env::var_os("CARGO_MANIFEST_DIR").is_some() && !environment.contains("CARGO"),
        "{environment}"
    );
    render(&pool, book("write")).await.expect_err("nothing is written");
    all_is_well(&pool).await;
}

#[tokio::test]
async fn specification_files_and_results_pass_the_worker_unchanged() {
    let _alone = alone().await;
    let file = |location: &str, bytes: &'static [u8]| SpecFile {
        location: location.to_owned(),
        base: (location == "b").then(|| "c".to_owned()),
        bytes: Bytes::from_static(bytes),
    };
    let files = SpecFiles { entry: file("entry", b"one"), others: vec![file("b", b"")] };
    let spec = pool(WIDE).read(files).await.expect("an answer");
    assert_eq!(spec.outline.title, "entry b\"one\", b b\"\" at c");
    assert_eq!((spec.problems[0].line, spec.missing.as_slice()), (Some(3), &["gone".to_owned()][..]));
    assert_eq!(spec.files[0].json, None);
    assert_eq!(spec.files[1].json.as_deref(), Some(&b"{}"[..]));
    assert_eq!(spec.files[1].references, ["b"]);
}

#[tokio::test]
async fn harmful_specifications_are_rejected_with_advice() {
    let _alone = alone().await;
    let computing = WorkerLimits { cpu: Duration::from_secs(1), ..WIDE };
    let waiting = WorkerLimits { wall: Duration::from_millis(50), ..WIDE };
    for (what, limits, told) in [
        ("too large", WIDE, "the actor finds it too large"),
        ("overflow", WIDE, "the specification crashed its parser; "),
        ("spin", computing, "the specification exceeded the CPU time limit of 1 seconds; "),
        ("sleep", waiting, "the specification exceeded the time limit of 0.05 seconds; "),
    ] {
        let entry = SpecFile { location: what.to_owned(), ..SpecFile::default() };
        let error = pool(limits).read(SpecFiles { entry, others: Vec::new() }).await.expect_err("refused");
        assert!(matches!(&error, SpecError::TooLarge(why) if why.starts_with(told)), "{what}: {error:?}");
    }
    all_is_well(&pool(WIDE)).await;
}
