//! Bounds of imports: time, and the files and databases of archives.

use std::{
    num::NonZeroUsize,
    sync::{
        OnceLock,
        atomic::{AtomicUsize, Ordering},
    },
};

use docs_core::ports::EmbeddedFile;
use docs_memstore::ManualClock;
use futures_util::FutureExt as _;

use super::{archives::Unpacking, *};

/// Text of any encoding is decoded as part of unpacking.
#[tokio::test]
async fn markdown_of_an_archive_is_not_converted_file_by_file() {
    let s = Setting::with(Unpacking).await;
    let latin: &[u8] = b"# Caf\xe9\n\nCaf\xe9\n";
    let files = [("README.md", latin), ("binary.md", b"\xff\0"), ("b.md", b"# B\n")];
    s.web.put("https://example.com/a.zip", "application/zip", archive(&files));
    assert_eq!(s.import("https://example.com/a.zip", "zip").await, (3, 3));
    assert_eq!(s.tree().await[0].1, "Café");
}

/// A converter whose conversions take a minute, and return 600 files.
#[derive(Clone, Default)]
struct Slow(Arc<OnceLock<ManualClock>>);

#[async_trait]
impl Converter for Slow {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        let clock = self.0.get().expect("a clock");
        clock.advance(std::time::Duration::from_secs(60));
        if document.name.starts_with("endless") {
            clock.advance(std::time::Duration::from_secs(3_600));
            std::future::pending::<()>().await;
        }
        let file = |number: usize| EmbeddedFile {
            destination: format!("f{number}"),
            name: format!("{number}.png"),
            bytes: Bytes::from_static(b"png"),
        };
        let markdown = (0..600).map(|number| format!("![](f{number})\n\n")).collect();
        let files = (0..600).map(file).collect();
        Ok(ConvertedPage { title: document.name, markdown, files, ..ConvertedPage::default() })
    }

    async fn unpack(&self, bytes: Bytes) -> Result<UnpackedArchive, ConvertError> {
        DocumentConverter.unpack(bytes).await
    }
}

impl Slow {
    async fn import(names: &[&str]) -> docs_core::Result<ImportContentResult> {
        let slow = Self::default();
        let s = Setting::with(slow.clone()).await;
        slow.0.set(s.w.clock.clone()).expect("once");
        let files: Vec<_> = names.iter().map(|name| (*name, b"<p>a".as_slice())).collect();
        s.web.put("https://example.com/a.zip", "application/zip", archive(&files));
        s.try_import("https://example.com/a.zip", "zip").await
    }
}

#[tokio::test]
async fn all_conversions_of_an_import_have_one_time_limit() {
    let late = "url: the import exceeded its limit of 180 seconds for conversions";
    assert!(Slow::import(&["a.html", "b.html"]).await.is_ok());
    let error = Slow::import(&["a.html", "b.html", "c.html"]).await.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), late);
    let error = Slow::import(&["a.html", "endless.html"]).await.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), late);
}

/// A converter that counts concurrent conversions.
#[derive(Clone, Default)]
struct Crowded(Arc<[AtomicUsize; 2]>);

#[async_trait]
impl Converter for Crowded {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        let [running, most] = &*self.0;
        most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
        running.fetch_sub(1, Ordering::SeqCst);
        DocumentConverter.convert(document).await
    }

    async fn unpack(&self, bytes: Bytes) -> Result<UnpackedArchive, ConvertError> {
        DocumentConverter.unpack(bytes).await
    }
}

#[tokio::test]
async fn conversions_of_one_organization_leave_a_place_to_others() {
    let crowded = Crowded::default();
    let s = Setting::with(crowded.clone()).await;
    let places = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let urls: Vec<String> = (0..=places).map(|at| format!("https://example.com/{at}.html")).collect();
    for url in &urls {
        s.web.put(url, "text/html", "<p>a");
    }
    let imports = urls.iter().map(|url| s.try_import(url, "html"));
    for done in futures_util::future::join_all(imports).await {
        done.expect("imported");
    }
    let most = crowded.0[1].load(Ordering::SeqCst);
    assert!(most <= places.saturating_sub(1).max(1), "{most} conversions at a time on {places} places");
}

#[tokio::test]
async fn files_of_all_documents_of_an_archive_are_bounded() {
    let done = Slow::import(&["a.html", "b.html"]).await.expect("imported");
    assert_eq!((done.imported_resources, done.total_resources), (1_002, 1_202));
    let left = "`b.html`: 200 files are left out: they exceed the limits of an import";
    assert!(done.warnings.iter().any(|warning| warning == left), "{:?}", done.warnings);
}

/// Each database counts up to its own bound.
#[tokio::test]
async fn databases_of_an_archive_beyond_their_total_size_are_left_out() {
    let s = Setting::new().await;
    let database = format!("a\nb\n{}", "c".repeat(5_500_000));
    let names: Vec<String> = (0..11).map(|number| format!("{number} {number:032x}.csv")).collect();
    let mut files = vec![("README.md", &b"# Start\n"[..])];
    files.extend(names.iter().map(|name| (name.as_str(), database.as_bytes())));
    s.web.put("https://example.com/a.zip", "application/zip", archive(&files));
    let warnings = s.try_import("https://example.com/a.zip", "zip").await.expect("imported").warnings;
    let beyond: Vec<&String> = warnings.iter().filter(|warning| warning.contains("not imported")).collect();
    assert_eq!(beyond.len(), 1, "{warnings:?}");
    assert!(beyond[0].ends_with("the databases exceed the size of an import"), "{warnings:?}");
    let cut = warnings.iter().filter(|warning| warning.contains(": at least 2 rows are left out, the table"));
    assert_eq!(cut.count(), 10, "{warnings:?}");
}

#[tokio::test]
async fn a_stalled_upload_ends_while_another_one_waits_for_memory() {
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(Arc::new(MemWeb::new())).converter(Arc::new(DocumentConverter)).import_memory(1 << 20)
    })
    .await;
    let space = w.space().await;
    let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(change).await.expect("open for edits");
    let of = ContentVersion::space(space);
    let upload =
        async || w.as_admin().content(&of).import_file("a.md".parse().expect("a name")).await.expect("begun");
    let (mut slow, mut other) = (upload().await, upload().await);
    let text = |bytes: usize| Bytes::from(vec![b'a'; bytes]);
    slow.write(text(240_000)).await.expect("it fits");
    {
        let mut waits = Box::pin(other.write(text(200_000)));
        assert!((&mut waits).now_or_never().is_none(), "not enough is left");
        assert!(slow.stalled().now_or_never().is_none(), "it is not late yet");
        w.clock.advance(std::time::Duration::from_secs(3));
        assert!((&mut waits).now_or_never().is_none());
        slow.stalled().now_or_never().expect("it has not grown for three seconds");
        drop(slow);
        waits.await.expect("free");
    }
    other.finish().await.expect("imported");
}
