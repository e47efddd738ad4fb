//! Memory limits for untrusted input, measured by counting heap allocations.
//!
//! The tests count live bytes on the heap of the process, so they run one at a time.

mod small_imports;

use std::{
    fmt::Write as _,
    io::{Cursor, Write as _},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use docs_convert::DocumentConverter;
use docs_core::{
    Actor, ErrorKind, Platform, Result,
    content::{Evaluated, document::parse, markdown::MAX_FRONT_MATTER_BYTES},
    model::{
        Block, BlockKind, EditMode, ImportContent, ImportContentResult, ImportGitRepository, JobState,
        MAX_PAGE_BYTES, OrgId, RevisionPage, SpaceId, UpdateSpace,
    },
    platform::{CollectMode, ContentOptions, FileUpload, NewUpload, NewUser, RESTORE_WINDOW},
    store::{Hash, Objects, OrphanPage, PageRequest, StoreResult},
};
use docs_memstore::{ManualClock, MemGit, MemObjects, MemStore, MemWeb, SeededIds};
use docs_openapi::OpenApiReader;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

const MB: usize = 1_000_000;

/// The URL of imported documents.
const SERVED: &str = "https://files.example/a";

/// The heap usage of a test.
struct Measured {
    before: usize,
    _alone: MutexGuard<'static, ()>,
}

impl Measured {
    fn begin() -> Self {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        MEMORY.reset_peak_usage();
        Self { before: MEMORY.current_usage(), _alone: alone }
    }

    /// Restarts the measurement.
    fn restart(&mut self) {
        MEMORY.reset_peak_usage();
        self.before = MEMORY.current_usage();
    }

    /// Returns the peak of live bytes.
    fn peak(&self) -> usize {
        MEMORY.peak_usage().saturating_sub(self.before)
    }

    /// Returns the bytes that are still live.
    fn kept(&self) -> usize {
        MEMORY.current_usage().saturating_sub(self.before)
    }
}

struct Setting {
    platform: Platform,
    clock: ManualClock,
    admin: Actor,
    org: OrgId,
    space: SpaceId,
    git: MemGit,
    web: MemWeb,
}

impl Setting {
    async fn new() -> Self {
        let clock = ManualClock::default();
        Self::over(Arc::new(MemObjects::with_clock(Arc::new(clock.clone()))), clock).await
    }

    async fn over(objects: Arc<dyn Objects>, clock: ManualClock) -> Self {
        let (git, web) = (MemGit::new(), MemWeb::new());
        let platform = Platform::builder(Arc::new(MemStore::new()), objects)
            .clock(clock.clone())
            .ids(SeededIds::new(7))
            .git(Arc::new(git.clone()))
            .web(Arc::new(web.clone()))
            .converter(Arc::new(DocumentConverter))
            .spec_reader(Arc::new(OpenApiReader))
            .build();
        let new = NewUser {
            display_name: "Ada".parse().expect("a name"),
            email: "ada@example.com".parse().expect("an address"),
        };
        let user = platform.as_platform().users().create(new).await.expect("a user").id;
        let title = "Organization".parse().expect("a title");
        let org: OrgId =
            platform.as_platform().orgs().create(title, &user).await.expect("an organization").id;
        let admin = Actor::User(user);
        let space = platform
            .as_actor(&admin)
            .org(&org)
            .spaces()
            .create(Default::default())
            .await
            .expect("a space")
            .id;
        let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        platform.as_actor(&admin).space(&space).update(change).await.expect("open for edits");
        Self { platform, clock, admin, org, space, git, web }
    }

    /// Imports the repository and returns the final state of the job with its log and error.
    async fn import_repository(&self) -> (JobState, String) {
        let request: ImportGitRepository =
            serde_json::from_value(json!({ "url": "https://git.example/docs", "ref": "refs/heads/main" }))
                .expect("a request");
        let space = || self.platform.as_actor(&self.admin).space(&self.space);
        space().import_git(request).await.expect("enqueued");
        self.platform.settle().await.expect("settled");
        let job = space().list_jobs(&PageRequest::default()).await.expect("listed").items.remove(0);
        let job = space().get_job(&job.id).await.expect("a job");
        let lines: Vec<&str> = job.log.iter().map(|line| line.text.as_str()).collect();
        (job.state, lines.join("\n") + job.error.as_deref().unwrap_or_default())
    }

    /// Serves a document at the import URL.
    fn serve(&self, kind: &str, bytes: Vec<u8>) {
        self.web.put(SERVED, kind, bytes);
    }

    async fn import(&self, source: &str) -> Result<ImportContentResult> {
        let request: ImportContent =
            serde_json::from_value(json!({ "url": SERVED, "source": source })).expect("a request");
        self.platform.as_actor(&self.admin).space(&self.space).content().import(request).await
    }

    async fn pages(&self) -> Vec<RevisionPage> {
        let content = self.platform.as_actor(&self.admin).space(&self.space).content();
        content.list_pages(ContentOptions::default()).await.expect("read").pages
    }
}

/// Creates an archive of files with a compression method.
fn archive(files: &[(String, Vec<u8>)], method: zip::CompressionMethod) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        let options = zip::write::SimpleFileOptions::default().compression_method(method);
        writer.start_file(path, options).expect("an entry");
        writer.write_all(bytes).expect("bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

/// Memory that is not used by caches is released after the import.
#[tokio::test]
async fn import_memory_is_proportional_to_links() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let (pages, links) = (200, 50);
    for page in 0..pages {
        let mut text = format!("# Page {page}\n\n");
        for link in 0..links {
            let to = (page + link + 1) % pages;
            let _ = writeln!(text, "See [page {to}](p{to}.md).");
        }
        setting.git.put(&format!("p{page}.md"), text.into_bytes());
    }
    setting.git.put("README.md", b"# Start\n".to_vec());
    measured.restart();
    let (state, said) = setting.import_repository().await;
    assert_eq!(state, JobState::Done, "{said}");
    let count = pages * links;
    assert!(measured.peak() / count <= 1_000, "{} bytes a link at once", measured.peak() / count);
    assert!(measured.kept() / count <= 600, "{} bytes a link are kept", measured.kept() / count);
}

#[tokio::test]
async fn memory_of_a_deleted_space_is_released_after_collection() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let (pages, links) = (200, 50);
    for page in 0..pages {
        let text: String =
            (0..links).map(|link| format!("[l](p{}.md) ", (page + link + 1) % pages)).collect();
        setting.git.put(&format!("p{page}.md"), text.into_bytes());
    }
    measured.restart();
    let (state, said) = setting.import_repository().await;
    assert_eq!(state, JobState::Done, "{said}");
    let full = measured.kept();
    setting.platform.as_actor(&setting.admin).space(&setting.space).delete().await.expect("deleted");
    for _ in 0..3 {
        setting.clock.advance(RESTORE_WINDOW.to_std().expect("a time"));
        setting.platform.settle().await.expect("settled");
        setting.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    }
    eprintln!("{} bytes while there was the space, {} after it", full, measured.kept());
    assert!(measured.kept() < full / 5, "{} of {full} bytes are kept", measured.kept());
}

/// A table of contents whose aliases repeat a string only takes memory for its own bytes.
#[tokio::test]
async fn yaml_aliases_are_not_expanded_in_memory() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    // Each block would expand a string of 20 KB 900 times. The blocks differ, because equal ones compress too well.
    let aliases = vec!["*a"; 900].join(",");
    let mut contents = String::from("* [Start](README.md)\n");
    for number in 0..150_u32 {
        let noise: String =
            (0..8_u32).map(|part| Hash::compute(&(8 * number + part).to_be_bytes()).to_string()).collect();
        let text = format!("{noise}{}", "x".repeat(20_000));
        let _ = write!(contents, "* ```yaml\n  type: &a {text}\n  b: [{aliases}]\n  ```\n");
    }
    let files =
        [("README.md".to_owned(), b"# Start\n".to_vec()), ("SUMMARY.md".to_owned(), contents.into_bytes())];
    let packed = archive(&files, zip::CompressionMethod::Deflated);
    assert!(packed.len() < 100_000, "{} bytes", packed.len());
    setting.serve("application/zip", packed);
    measured.restart();
    let done = setting.import("zip").await.expect("imported");
    assert_eq!(done.imported_resources, 1);
    assert!(measured.peak() < 40 * MB, "{} MB", measured.peak() / MB);
}

#[tokio::test]
async fn total_size_of_pages_is_checked_before_copying() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let page = "Some words in a line.\n".repeat(MB / 22);
    let files: Vec<(String, Vec<u8>)> =
        (0..190).map(|number| (format!("p{number}.md"), page.clone().into_bytes())).collect();
    let packed = archive(&files, zip::CompressionMethod::Deflated);
    drop(files);
    setting.serve("application/zip", packed);
    measured.restart();
    let error = setting.import("zip").await.expect_err("too much");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains("must be at most 50000000 bytes together"), "{error}");
    // The sizes in the archive directory suffice to reject it, so nothing is unpacked.
    assert!(measured.peak() < 5 * MB, "{} MB", measured.peak() / MB);
    assert!(measured.kept() < 5 * MB, "{} MB", measured.kept() / MB);
}

/// Returns an endless sequence of letters that compresses less than the bound of archives.
fn letters() -> impl Iterator<Item = char> {
    let mut state = 1_u32;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b'a' + state.to_be_bytes()[0] / 16)
    })
}

/// Lists repeat their prefix for each line, so a small document becomes a large page.
#[tokio::test]
async fn converted_pages_are_summed_while_they_are_converted() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let lines: String = letters().take(60_000).map(|letter| format!("{letter}<br>")).collect();
    let page = format!("{}{lines}", "<ol start=999999999><li>".repeat(8));
    let files: Vec<(String, Vec<u8>)> =
        (0..60).map(|number| (format!("p{number}.html"), page.clone().into_bytes())).collect();
    setting.serve("application/zip", archive(&files, zip::CompressionMethod::Deflated));
    drop(files);
    measured.restart();
    let error = setting.import("zip").await.expect_err("too much");
    assert!(error.to_string().contains("must be at most 50000000 bytes together"), "{error}");
    assert!(measured.peak() < 100 * MB, "{} MB", measured.peak() / MB);
    assert!(measured.kept() < 5 * MB, "{} MB", measured.kept() / MB);
}

/// Databases that are larger than a table, with rows that are larger as Markdown than in their source.
#[tokio::test]
async fn exported_databases_take_memory_that_follows_their_tables() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let lines: String = letters().take(450_000).map(|letter| format!("{letter}\n")).collect();
    let rows = format!("{}\n{lines}", ",".repeat(49));
    let mut files: Vec<(String, Vec<u8>)> =
        (0..20).map(|number| (format!("T {number:032x}.csv"), rows.clone().into_bytes())).collect();
    files.push(("README.md".to_owned(), b"# Start\n".to_vec()));
    setting.serve("application/zip", archive(&files, zip::CompressionMethod::Deflated));
    drop(files);
    measured.restart();
    let done = setting.import("zip").await.expect("imported");
    assert_eq!(done.imported_resources, 21);
    assert!(done.warnings[0].contains("rows are left out, the table is too large"), "{:?}", done.warnings);
    assert!(measured.peak() < 100 * MB, "{} MB", measured.peak() / MB);
}

/// Paths of an archive in an archive compress to a few bytes.
#[tokio::test]
async fn names_of_an_archive_take_memory_that_follows_their_paths() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let deep = |at: usize| (format!("{at:05}/{}b {at:032x}.txt", "a/".repeat(63)), Vec::new());
    let mut files: Vec<(String, Vec<u8>)> = (0..5_000).map(deep).collect();
    files.push(("README.md".to_owned(), b"# Start\n".to_vec()));
    let inner = archive(&files, zip::CompressionMethod::Stored);
    drop(files);
    let packed = archive(&[("x.zip".to_owned(), inner)], zip::CompressionMethod::Deflated);
    assert!(packed.len() < 300_000, "{} bytes", packed.len());
    setting.serve("application/zip", packed);
    measured.restart();
    let done = setting.import("zip").await.expect("imported");
    assert_eq!(done.imported_resources, 1);
    assert!(measured.peak() < 100 * MB, "{} MB", measured.peak() / MB);
}

/// The page is imported without its text, and the rest of the repository is imported.
#[tokio::test]
async fn oversized_repository_page_is_reported_and_emptied() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    setting.git.put("README.md", b"# Start\n\nWords.\n".to_vec());
    setting.git.put("fits.md", [b"# Fits\n\n".to_vec(), vec![b'a'; MAX_PAGE_BYTES]].concat());
    setting.git.put("long.md", [b"# Long\n\n".to_vec(), vec![b'a'; MAX_PAGE_BYTES + 1]].concat());
    setting.git.put("huge.md", vec![b'a'; 99 * MB]);
    // Front matter of the maximum size, and larger front matter.
    let with_front = |title: &str, bytes: usize| {
        let front = format!("---\nnote: {}\n---\n\n# {title}\n\n", "b".repeat(bytes - 7));
        [front.into_bytes(), vec![b'a'; MAX_PAGE_BYTES]].concat()
    };
    setting.git.put("full.md", with_front("Full", MAX_FRONT_MATTER_BYTES));
    setting.git.put("fronted.md", with_front("Fronted", 200 << 10));
    // Text within the limit, whose links become longer in the import.
    let links = "[a](fits.md)\n\n".repeat(15_000) + &"Some words.\n\n".repeat(MAX_PAGE_BYTES / 20);
    setting.git.put("links.md", format!("# Links\n\n{links}").into_bytes());
    measured.restart();
    let (state, said) = setting.import_repository().await;
    assert_eq!(state, JobState::Done, "{said}");
    for file in ["long.md", "huge.md", "links.md", "fronted.md"] {
        let line = format!("{file}: must be at most 1000000 bytes of Markdown, has ");
        assert!(said.contains(&line), "{said}");
    }
    assert!(!said.contains("fits.md") && !said.contains("full.md") && !said.contains("README.md:"), "{said}");
    assert!(measured.kept() < 20 * MB, "{} MB", measured.kept() / MB);
    let mut texts = Vec::new();
    for page in setting.pages().await {
        let RevisionPage::Document(page) = page else { panic!("{page:?}") };
        texts.push((page.base.title.clone(), page.document_id.is_some()));
    }
    let named = |title: &str| texts.iter().find(|(own, _)| own.starts_with(title)).map(|(_, has)| *has);
    assert_eq!(
        (named("Start"), named("Fits"), named("Full"), named("Fronted")),
        (Some(true), Some(true), Some(true), Some(false)),
        "{texts:?}"
    );
    assert_eq!(
        (named("Long"), named("Huge"), named("Links")),
        (Some(false), Some(false), Some(false)),
        "{texts:?}"
    );
}

/// The rest of the archive is imported. A single oversized document is an error.
#[tokio::test]
async fn oversized_archive_page_is_emptied() {
    let _alone = Measured::begin();
    let setting = Setting::new().await;
    let files = [
        ("README.md".to_owned(), b"# Start\n\nWords.\n".to_vec()),
        ("long.md".to_owned(), vec![b'a'; MAX_PAGE_BYTES + 1]),
    ];
    setting.serve("application/zip", archive(&files, zip::CompressionMethod::Stored));
    let done = setting.import("zip").await.expect("imported");
    assert_eq!((done.imported_resources, done.total_resources), (1, 2));
    assert_eq!(setting.pages().await.len(), 2);
    setting.serve("text/markdown", vec![b'a'; MAX_PAGE_BYTES + 1]);
    let error = setting.import("markdown").await.expect_err("too long");
    assert!(error.to_string().contains("must be at most 1000000 bytes of Markdown, has 1000001"), "{error}");
}

#[tokio::test]
async fn memory_is_proportional_to_input_for_nested_quotes() {
    let mut measured = Measured::begin();
    let setting = Setting::new().await;
    let mut text = String::from("# Quotes\n\n");
    let mut depth = 0;
    while text.len() < MAX_PAGE_BYTES / 4 {
        depth = (depth + 1) % 40;
        let _ = writeln!(text, "{}a", "> ".repeat(depth));
    }
    setting.serve("text/markdown", text.clone().into_bytes());
    setting.import("markdown").await.expect("imported");
    let pages = setting.pages().await;
    let RevisionPage::Document(page) = &pages[0] else { panic!("{pages:?}") };
    let content = || setting.platform.as_actor(&setting.admin).space(&setting.space).content();
    measured.restart();
    let document = content().get_page_document(&page.base.id, Evaluated::No.into()).await.expect("read");
    let first = measured.peak();
    assert!(first < 40 * text.len(), "{first} bytes for {}", text.len());
    let is_kept = |block: &Block| matches!(block.kind, BlockKind::Paragraph { .. });
    assert!(document.nodes.iter().all(is_kept), "what takes too many readings is kept as it is");
    measured.restart();
    let again = content().get_page_document(&page.base.id, Evaluated::No.into()).await.expect("read");
    assert_eq!(again, document);
    assert!(measured.peak() < first / 4, "it is not read again: {} MB", measured.peak() / MB);
}

#[test]
fn memory_is_proportional_to_input_for_unused_footnotes() {
    for text in ["[^a]: b\n[a]: b\n", "[^a]: b\n\nc\n\n", "[^a]: b\n"] {
        let text = text.repeat(128 * 1_024 / text.len());
        let measured = Measured::begin();
        let document = parse(&text);
        let peak = measured.peak();
        assert!(peak < 50 * text.len(), "{peak} bytes for {}", text.len());
        drop(document);
    }
}

/// Tests every source that accepts HTML.
#[tokio::test]
async fn tag_with_thousands_of_attributes_is_imported() {
    let _alone = Measured::begin();
    let distinct: String = (0..7_500).map(|number| format!(" a{number}=\"v\"")).collect();
    let same = " a=\"v\"".repeat(7_500);
    for attributes in [distinct, same] {
        for html in [
            format!("<h1>Title</h1><p>Text <a href=\"b\"{attributes}>x</a></p>"),
            format!("<h1>Title</h1><p>Text <a href=\"b\">x</a{attributes}></p>"),
        ] {
            for source in ["html", "website", "zip"] {
                let setting = Setting::new().await;
                match source {
                    "zip" => {
                        let files = [("a.html".to_owned(), html.clone().into_bytes())];
                        setting.serve("application/zip", archive(&files, zip::CompressionMethod::Deflated));
                    }
                    _ => setting.serve("text/html", html.clone().into_bytes()),
                }
                setting.import(source).await.expect(source);
                let pages = setting.pages().await;
                let RevisionPage::Document(page) = &pages[0] else { panic!("{pages:?}") };
                assert_eq!(page.base.title, "Title", "{source}");
                assert!(page.document_id.is_some(), "{source}");
            }
        }
    }
}

/// An object store that discards large values, so that only the memory of the platform is measured.
struct Passing(MemObjects);

#[async_trait::async_trait]
impl Objects for Passing {
    async fn put(&self, domain: &str, objects: &[(Hash, Bytes)]) -> StoreResult<()> {
        let small: Vec<_> = objects.iter().filter(|(_, bytes)| bytes.len() < MB).cloned().collect();
        self.0.put(domain, &small).await
    }
    async fn get(&self, domain: &str, hashes: &[Hash]) -> StoreResult<Vec<Option<Bytes>>> {
        self.0.get(domain, hashes).await
    }
    async fn list(
        &self,
        domain: &str,
        after: Option<Hash>,
        untouched_for: Duration,
        max: u32,
    ) -> StoreResult<Vec<Hash>> {
        self.0.list(domain, after, untouched_for, max).await
    }
    async fn delete(&self, domain: &str, hashes: &[Hash], untouched_for: Duration) -> StoreResult<()> {
        self.0.delete(domain, hashes, untouched_for).await
    }
    async fn domains(&self, after: Option<&str>, max: u32) -> StoreResult<Vec<String>> {
        self.0.domains(after, max).await
    }
    async fn leftovers(&self, owner: &str, after: Option<&str>, by: Duration) -> StoreResult<OrphanPage> {
        self.0.leftovers(owner, after, by).await
    }
    async fn delete_leftovers(&self, names: &[String]) -> StoreResult<()> {
        self.0.delete_leftovers(names).await
    }
}

#[tokio::test]
async fn upload_of_maximum_size_holds_a_few_megabytes() {
    let mut measured = Measured::begin();
    let s = Setting::over(Arc::new(Passing(MemObjects::new())), ManualClock::default()).await;
    let new = NewUpload { name: "film.mp4".parse().expect("a name"), content_type: None };
    let content = s.platform.as_actor(&s.admin).space(&s.space).content();
    measured.restart();
    let mut upload = content.upload_file(new).await.expect("begun");
    for n in 0..FileUpload::MAX_BYTES / 50_000 {
        upload.write(vec![n as u8; 50_000].into()).await.expect("taken");
    }
    let file = upload.finish().await.expect("uploaded");
    let peak = measured.peak();
    assert_eq!(file.size, FileUpload::MAX_BYTES);
    eprintln!("an upload of {} MB held at most {:.1} MB", file.size / MB as u64, peak as f64 / MB as f64);
    assert!(peak < 12 * MB, "{peak} bytes");
}
