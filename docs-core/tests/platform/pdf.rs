//! PDF files, with a typesetter that prints its input.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_core::{
    Actor, ErrorKind,
    model::{
        ContentRef, ContentUpdateChange, CreateChangeRequest, CreateSpace, Job, JobStage, JobState, PageId,
        Role, SpaceId, UpdateContent,
    },
    platform::{CollectMode, ContentOptions, ContentVersion, PDF_WINDOW, PdfAnswer, PdfFile, PdfPart},
    ports::{Book, Pdf, PdfError},
    store::{Mode, PageRequest, Tx, records::UserRecord},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Refused, World, person};

/// A typesetter that records its books and prints their titles.
struct Press {
    books: Mutex<Vec<Arc<Book>>>,
    refuses: Mutex<Option<PdfError>>,
    /// Output to return instead of the titles.
    says: Mutex<Option<String>>,
    /// A book completes once a permit is available.
    go: Semaphore,
    begun: AtomicUsize,
}

impl Press {
    fn new() -> Arc<Self> {
        let go = Semaphore::new(1_000);
        let (books, refuses, says) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { books, refuses, says, go, begun: AtomicUsize::new(0) })
    }

    fn refuse(&self, error: Option<PdfError>) {
        *self.refuses.lock().unwrap_or_else(PoisonError::into_inner) = error;
    }

    fn says(&self, what: Option<String>) {
        *self.says.lock().unwrap_or_else(PoisonError::into_inner) = what;
    }

    fn books(&self) -> Vec<Arc<Book>> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn last(&self) -> Arc<Book> {
        self.books().pop().expect("a book")
    }
}

#[async_trait]
impl Pdf for Press {
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        self.go.acquire().await.expect("open").forget();
        self.books.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&book));
        if let Some(error) = self.refuses.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Err(error);
        }
        if let Some(what) = self.says.lock().unwrap_or_else(PoisonError::into_inner).clone() {
            return Ok(what.into());
        }
        let titles: Vec<String> =
            book.pages.iter().map(|page| format!("{}{}", "-".repeat(page.depth), page.title)).collect();
        Ok(titles.join("|").into())
    }
}

struct Desk {
    w: World,
    press: Arc<Press>,
    space: SpaceId,
    start: PageId,
    below: PageId,
    hidden: PageId,
}

impl Desk {
    /// Creates a space with nested pages, one of them hidden.
    async fn new() -> Self {
        let press = Press::new();
        let w = World::with_pdf(Arc::clone(&press) as Arc<dyn Pdf>).await;
        let new = CreateSpace { title: Some("Guide".parse().expect("a title")), ..CreateSpace::default() };
        let space = w.as_admin().org(&w.org).spaces().create(new).await.expect("created").id;
        let insert = |name: &str, more: Value| {
            let mut change = json!({
                "operation": "insert_page", "title": name, "ref": name, "document": { "markdown": format!("Text of {name}.\n") },
            });
            change.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            change
        };
        let changes = json!([
            insert("Start", json!({ "description": "Where it begins" })),
            insert("Below", json!({ "into": "Start" })),
            insert("Lowest", json!({ "into": "Below" })),
            insert("Hidden", json!({ "hidden": true })),
            insert("Within", json!({ "into": "Hidden" })),
            insert("End", json!({ "emoji": "🚀" })),
        ]);
        let (number, ids) = request(&w, &space, changes).await;
        w.as_admin().space(&space).change_request(&number).merge().await.expect("merged");
        let [start, below, hidden] = [0, 1, 3].map(|at| ids[at].clone());
        Self { w, press, space, start, below, hidden }
    }

    fn of(&self) -> ContentVersion {
        ContentVersion::space(self.space.clone())
    }

    async fn url(&self, of: &ContentVersion, part: &PdfPart) -> String {
        self.w.as_admin().content(of).pdf_url(part).await.expect("an address").url
    }

    /// Resolves a URL without waiting.
    async fn ask(&self, url: &str) -> docs_core::Result<PdfAnswer> {
        self.w.platform.pdf_file(&self.space, sealed(url), Duration::ZERO).await
    }

    /// Loads a file while a worker typesets it.
    async fn load(&self, url: &str) -> docs_core::Result<Loaded> {
        if let PdfAnswer::Ready(file) = self.ask(url).await? {
            return self.read(&file).await;
        }
        let asking = self.w.platform.pdf_file(&self.space, sealed(url), Duration::from_secs(20));
        let (answer, settled) = tokio::join!(asking, self.w.platform.settle());
        settled?;
        match answer? {
            PdfAnswer::Ready(file) => self.read(&file).await,
            other => panic!("{other:?}"),
        }
    }

    async fn read(&self, file: &PdfFile) -> docs_core::Result<Loaded> {
        let mut bytes = Vec::new();
        while (bytes.len() as u64) < file.size {
            bytes.extend(self.w.platform.pdf_piece(file, bytes.len() as u64).await?);
        }
        assert!(self.w.platform.pdf_piece(file, file.size + (5 << 20)).await?.is_empty());
        Ok(Loaded { name: file.name.clone(), bytes })
    }

    /// Returns the PDF jobs, newest first.
    async fn jobs(&self) -> Vec<Job> {
        let jobs = self.w.as_admin().space(&self.space).list_jobs(&PageRequest::default()).await;
        jobs.expect("listed").items
    }

    fn wait(&self) {
        self.w.clock.advance(Duration::from_millis(1));
    }

    /// Returns the titles of the pages in a part, as printed by the typesetter.
    async fn titles(&self, of: &ContentVersion, part: PdfPart) -> String {
        let url = self.url(of, &part).await;
        let file = self.load(&url).await.expect("a file");
        String::from_utf8(file.bytes).expect("text")
    }
}

/// A file with all its bytes.
#[derive(Debug, PartialEq, Eq)]
struct Loaded {
    name: String,
    bytes: Vec<u8>,
}

fn sealed(url: &str) -> &str {
    url.rsplit('/').nth(1).expect("the sealed part")
}

/// Creates a change request with these changes. Returns its number and the added pages.
async fn request(w: &World, space: &SpaceId, changes: Value) -> (String, Vec<PageId>) {
    let new = CreateChangeRequest {
        subject: Some("Better words".parse().expect("a subject")),
        ..Default::default()
    };
    let request = w.as_admin().space(space).change_requests().create(new).await.expect("created");
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    let number = request.number.to_string();
    let done = w.as_admin().space(space).change_request(&number).edit(update).await.expect("edited");
    let added = done.changes.iter().filter_map(|change| match change {
        ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
        _ => None,
    });
    (number, added.collect())
}

fn part(page: &PageId, only: bool) -> PdfPart {
    PdfPart { page: Some(page.clone()), only }
}

#[tokio::test]
async fn part_selects_all_pages_a_subtree_or_a_single_page() {
    let desk = Desk::new().await;
    let of = desk.of();
    assert_eq!(desk.titles(&of, PdfPart::default()).await, "Start|-Below|--Lowest|🚀 End");
    assert_eq!(desk.titles(&of, part(&desk.start, false)).await, "Start|-Below|--Lowest");
    assert_eq!(desk.titles(&of, part(&desk.below, false)).await, "Below|-Lowest");
    assert_eq!(desk.titles(&of, part(&desk.start, true)).await, "Start");
    // A hidden page can be requested explicitly.
    assert_eq!(desk.titles(&of, part(&desk.hidden, false)).await, "Hidden|-Within");
    desk.w.check().await;
}

#[tokio::test]
async fn book_has_the_titles_and_text_of_its_pages() {
    let desk = Desk::new().await;
    desk.titles(&desk.of(), part(&desk.start, true)).await;
    let book = desk.press.last();
    assert_eq!((book.title.as_str(), book.subtitle.as_deref()), ("Start", Some("Guide")));
    desk.titles(&desk.of(), PdfPart::default()).await;
    let whole = desk.press.last();
    assert_eq!((whole.title.as_str(), whole.subtitle.as_deref()), ("Guide", None));
    assert_eq!(book.pages[0].description.as_deref(), Some("Where it begins"));
    let shown = serde_json::to_string(&book.pages[0].document).expect("JSON");
    assert!(shown.contains("Text of Start."), "{shown}");
}

#[tokio::test]
async fn url_expires_after_an_hour_of_the_platform_clock() {
    let desk = Desk::new().await;
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    desk.w.clock.advance(Duration::from_secs(59 * 60 + 59));
    desk.load(&url).await.expect("within the hour");
    desk.w.clock.advance(Duration::from_secs(2));
    let error = desk.load(&url).await.refused(ErrorKind::NotFound);
    assert!(error.message().contains("request a new one"), "{error}");
    assert_eq!(PDF_WINDOW, Duration::from_secs(3_600));
    // A newly issued URL is valid again.
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    desk.load(&url).await.expect("a file");
}

#[tokio::test]
async fn url_refers_to_the_revision_at_its_creation() {
    let desk = Desk::new().await;
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    let change = json!([{ "operation": "update_page", "page": desk.start, "title": "Renamed" }]);
    let (number, _) = request(&desk.w, &desk.space, change).await;
    let draft = ContentVersion::request(desk.space.clone(), &number);
    assert!(desk.titles(&draft, PdfPart::default()).await.starts_with("Renamed|"));
    assert_eq!(desk.press.last().subtitle.as_deref(), Some(format!("#{number} Better words").as_str()));
    desk.w.as_admin().space(&desk.space).change_request(&number).merge().await.expect("merged");
    assert!(desk.load(&url).await.expect("a file").bytes.starts_with(b"Start|"));
    assert!(desk.titles(&desk.of(), PdfPart::default()).await.starts_with("Renamed|"));
}

#[tokio::test]
async fn concurrent_requests_typeset_a_file_once() {
    let desk = Desk::new().await;
    let (first, second) =
        (desk.url(&desk.of(), &PdfPart::default()).await, desk.url(&desk.of(), &PdfPart::default()).await);
    assert_ne!(first, second);
    let (a, b, c) = tokio::join!(desk.load(&first), desk.load(&second), desk.load(&first));
    assert_eq!(a.expect("a file"), b.expect("a file"));
    c.expect("a file");
    desk.load(&second).await.expect("a file");
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 1);
    // Another part is a different file, and so is the same part after the space was renamed.
    desk.titles(&desk.of(), part(&desk.start, true)).await;
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn file_shows_the_current_names_of_members() {
    let desk = Desk::new().await;
    let bob = person(&desk.w.platform, "Bob").await.user().expect("a user").clone();
    let mention = format!("Ask <a href=\"/users/{bob}\">@Bob</a>.\n");
    let changes =
        json!([{ "operation": "insert_page", "title": "Who", "document": { "markdown": mention } }]);
    let (number, pages) = request(&desk.w, &desk.space, changes).await;
    let of = ContentVersion::request(desk.space.clone(), &number);
    let shown = async || {
        desk.titles(&of, part(&pages[0], true)).await;
        let link = desk.press.last().links.get(&ContentRef::User { user: bob.clone() }).cloned();
        link.and_then(|link| link.title)
    };
    assert_eq!(shown().await, None, "no member");
    let role = Some(Role::Read);
    desk.w.platform.as_platform().org(&desk.w.org).member(&bob).put(role).await.expect("a member");
    assert_eq!(shown().await.as_deref(), Some("Bob"));
    shown().await;
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 2, "nothing has changed");
    let mut tx = Tx::new(desk.w.platform.store().begin(Mode::Write, &[]).await.expect("begins"));
    let record: Arc<UserRecord> = tx.get(&UserRecord::key_for(&bob)).await.expect("read").expect("the user");
    let renamed = UserRecord { display_name: "Robert".to_owned(), ..UserRecord::clone(&record) };
    tx.put(&*record, renamed).expect("put");
    tx.commit().await.expect("stored");
    assert_eq!(shown().await.as_deref(), Some("Robert"));
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn url_is_bound_to_its_space_and_rejects_tampering() {
    let desk = Desk::new().await;
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    let other =
        desk.w.as_admin().org(&desk.w.org).spaces().create(Default::default()).await.expect("created").id;
    desk.w.platform.pdf_file(&other, sealed(&url), Duration::ZERO).await.refused(ErrorKind::NotFound);
    let sealed = sealed(&url);
    for wrong in ["", "x", &sealed[1..], &format!("{sealed}a"), &sealed.to_uppercase()] {
        desk.w.platform.pdf_file(&desk.space, wrong, Duration::ZERO).await.refused(ErrorKind::NotFound);
    }
    assert!(desk.press.books().is_empty());
    desk.w.as_admin().space(&desk.space).delete().await.expect("deleted");
    desk.load(&url).await.refused(ErrorKind::NotFound);
}

#[tokio::test]
async fn pdf_requires_read_access() {
    let desk = Desk::new().await;
    let reader = desk.w.member("Rob", Some(Role::Read)).await;
    let stranger = crate::support::person(&desk.w.platform, "Zoe").await;
    let ask = async |actor: &Actor| {
        desk.w.platform.as_actor(actor).content(&desk.of()).pdf_url(&PdfPart::default()).await
    };
    ask(&reader).await.expect("an address");
    ask(&stranger).await.refused(ErrorKind::NotFound);
    ask(&Actor::Platform).await.expect("an address");
}

#[tokio::test]
async fn unavailable_content_is_rejected_when_requesting_the_url() {
    let desk = Desk::new().await;
    let ask = async |of: &ContentVersion, part: PdfPart| desk.w.as_admin().content(of).pdf_url(&part).await;
    let error = ask(&desk.of(), PdfPart { page: None, only: true }).await.refused(ErrorKind::Invalid);
    assert!(error.message().starts_with("only: "), "{error}");
    ask(&desk.of(), part(&"nosuchpage".parse().expect("an id"), false)).await.refused(ErrorKind::NotFound);
    ask(&ContentVersion::request(desk.space.clone(), "99"), PdfPart::default())
        .await
        .refused(ErrorKind::NotFound);
    let plain = World::new().await;
    let space = plain.space().await;
    let none = plain.as_admin().space(&space).content().pdf_url(&PdfPart::default()).await;
    none.refused(ErrorKind::Precondition);
}

#[tokio::test]
async fn failure_is_returned_to_waiters_and_retried_later() {
    let desk = Desk::new().await;
    for (failure, kind, told) in [
        (PdfError::Failed("broken".to_owned()), ErrorKind::Internal, "an internal error occurred"),
        (PdfError::TooSlow("too slow".to_owned()), ErrorKind::TooLarge, "too slow; select fewer pages"),
        (PdfError::Unprocessable("it stopped".to_owned()), ErrorKind::TooLarge, "it stopped; select fewer"),
        (PdfError::TooLarge("too much".to_owned()), ErrorKind::TooLarge, "too much; select fewer pages"),
    ] {
        let begun = desk.press.begun.load(Ordering::SeqCst);
        desk.press.refuse(Some(failure));
        let url = desk.url(&desk.of(), &PdfPart::default()).await;
        let error = desk.load(&url).await.refused(kind);
        assert!(error.message().starts_with(told), "{error}");
        desk.ask(&url).await.refused(kind);
        assert_eq!(
            desk.press.begun.load(Ordering::SeqCst),
            begun + 1,
            "the same address tries nothing again"
        );
        let job = &desk.jobs().await[0];
        assert_eq!((job.state, job.error.as_deref()), (JobState::Failed, Some(error.message())));
        assert_eq!((job.kind.as_str(), job.stage), ("pdf", Some(JobStage::Typeset)));
        desk.wait();
        if kind == ErrorKind::TooLarge {
            let new = desk.url(&desk.of(), &PdfPart::default()).await;
            desk.load(&new).await.refused(kind);
            assert_eq!(desk.press.begun.load(Ordering::SeqCst), begun + 1, "a new address tries it again");
            desk.w.clock.advance(Duration::from_secs(60 * 60));
        }
    }
    desk.press.refuse(None);
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    desk.load(&url).await.expect("a file");
    assert_eq!(desk.jobs().await.len(), 5);
    desk.w.check().await;
}

#[tokio::test]
async fn transient_failure_is_retried_automatically() {
    let desk = Desk::new().await;
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    desk.press.refuse(Some(PdfError::Unavailable("the disk is away".to_owned())));
    assert!(matches!(desk.ask(&url).await, Ok(PdfAnswer::Pending(_))));
    desk.w.platform.settle().await.expect("settled");
    assert!(matches!(desk.ask(&url).await, Ok(PdfAnswer::Pending(_))));
    let job = desk.w.as_admin().space(&desk.space).get_job(&desk.jobs().await[0].id).await.expect("a job");
    assert_eq!(job.state, JobState::Queued);
    assert!(!format!("{job:?}").contains("disk"), "{job:?}");
    desk.press.refuse(None);
    desk.w.clock.advance(Duration::from_secs(2));
    desk.load(&url).await.expect("a file");
    assert_eq!(desk.jobs().await.len(), 1);
}

#[tokio::test]
async fn file_of_a_crashed_worker_is_created_by_another() {
    let desk = Desk::new().await;
    let url = desk.url(&desk.of(), &PdfPart::default()).await;
    assert!(matches!(desk.ask(&url).await, Ok(PdfAnswer::Pending(_))));
    desk.press.go.forget_permits(1_000);
    tokio::select! {
        biased;
        _ = desk.w.platform.settle() => panic!("nothing can be done yet"),
        () = async { while desk.press.begun.load(Ordering::SeqCst) == 0 { tokio::task::yield_now().await; } } => {}
    }
    assert_eq!(desk.jobs().await[0].state, JobState::Running);
    assert!(matches!(desk.ask(&url).await, Ok(PdfAnswer::Pending(_))));
    desk.press.go.add_permits(1);
    desk.w.clock.advance(Duration::from_secs(31));
    desk.load(&url).await.expect("a file");
    assert_eq!((desk.jobs().await[0].state, desk.jobs().await[0].attempt), (JobState::Done, 2));
}

#[tokio::test]
async fn chunked_file_is_cached_for_a_day_and_then_regenerated() {
    let desk = Desk::new().await;
    let long: String = (0..400_000).map(|n| format!("{n} ")).collect();
    desk.press.says(Some(long.clone()));
    let load = async || {
        let url = desk.url(&desk.of(), &PdfPart::default()).await;
        desk.load(&url).await.expect("a file").bytes
    };
    assert_eq!(load().await, long.as_bytes());
    assert!(long.len() > 2 << 20, "several pieces");
    desk.w.clock.advance(Duration::from_secs(23 * 3_600));
    assert_eq!(load().await, long.as_bytes());
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 1);
    desk.w.clock.advance(Duration::from_secs(2 * 3_600));
    assert_eq!(load().await, long.as_bytes());
    assert_eq!(desk.press.begun.load(Ordering::SeqCst), 2);
    // The chunks are unreferenced, so they are garbage-collected and created again.
    desk.w.clock.advance(Duration::from_secs(100 * 3_600));
    desk.w.platform.as_platform().collect(CollectMode::Remove).await.expect("collected");
    assert_eq!(load().await, long.as_bytes());
    desk.w.check().await;
}

#[tokio::test]
async fn access_revoked_during_creation_returns_no_file() {
    let desk = Desk::new().await;
    let reader = desk.w.member("Rob", Some(Role::Read)).await;
    let platform = &desk.w.platform;
    let link = platform.as_actor(&reader).content(&desk.of()).pdf_url(&PdfPart::default()).await;
    let url = link.expect("an address").url;
    assert!(matches!(desk.ask(&url).await, Ok(PdfAnswer::Pending(_))));
    let user = reader.user().expect("a user");
    desk.w.as_admin().org(&desk.w.org).member(user).remove().await.expect("removed");
    desk.ask(&url).await.refused(ErrorKind::NotFound);
    platform.settle().await.expect("settled");
    desk.ask(&url).await.refused(ErrorKind::NotFound);
    assert!(desk.press.books().is_empty(), "nothing is made for them");
    assert_eq!(desk.jobs().await[0].state, JobState::Failed);
}

#[tokio::test]
async fn book_contains_the_images_and_links_of_its_pages() {
    let desk = Desk::new().await;
    let user = desk.w.admin.user().expect("a user").clone();
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>";
    let encoded = data_encoding::BASE64.encode(svg.as_bytes());
    let text = format!(
        "![a picture](/files/pic)\n\n[a file](/files/doc) and [a page](/pages/{}) and [a place](/pages/{}#x) and \
         [a user](/users/{user}) and [a space](/spaces/elsewhere/pages/secret)\n",
        desk.below, desk.below
    );
    let changes = json!([
        { "operation": "insert_files", "files": [
            { "name": "pic.svg", "base64": encoded, "contentType": "image/svg+xml", "ref": "pic" },
            { "name": "doc.txt", "base64": "YQ==", "contentType": "text/plain", "ref": "doc" },
        ] },
        { "operation": "insert_page", "title": "Linked", "document": { "markdown": text } },
    ]);
    let (number, pages) = request(&desk.w, &desk.space, changes).await;
    let of = ContentVersion::request(desk.space.clone(), &number);
    assert_eq!(desk.titles(&of, part(&pages[0], true)).await, "Linked");
    let book = desk.press.last();
    assert!(
        book.images.values().all(|image| image.bytes().is_none()),
        "pictures are read when they are needed"
    );
    let loaded = Arc::clone(&book).with_images_loaded().await.expect("they are there");
    let images: Vec<&[u8]> = loaded.images.values().filter_map(|image| Some(&image.bytes()?[..])).collect();
    assert_eq!(images, [svg.as_bytes()]);
    let link = |target: &ContentRef| book.links.get(target).cloned().unwrap_or_default();
    let page = link(&ContentRef::Page { page: desk.below.clone(), space: None });
    assert_eq!(page.title.as_deref(), Some("Below"));
    assert!(page.url.expect("an address").ends_with("/start/below"));
    assert_eq!(link(&ContentRef::User { user }).title.as_deref(), Some("Ada"));
    let file = book.links.iter().find(|(target, link)| {
        matches!(target, ContentRef::File { .. }) && link.title.as_deref() == Some("doc.txt")
    });
    assert!(file.is_some_and(|(_, link)| link.url.as_ref().is_some_and(|url| url.contains("/files/"))));
    // Only the URL of a page in another space is included.
    let elsewhere = "elsewhere".parse().expect("an id");
    let secret = link(&ContentRef::Page { page: "secret".parse().expect("an id"), space: Some(elsewhere) });
    assert_eq!(secret.title, None);
    assert!(secret.url.expect("an address").ends_with("/s/elsewhere"));
}

#[tokio::test]
async fn variables_are_resolved_except_visitor_expressions() {
    let desk = Desk::new().await;
    let expression = |text: &str| format!("<code class=\"expression\">{text}</code>");
    let text = format!(
        "---\nvars:\n  version: \"2.4\"\n---\n\nThis is {}, {} for {}.\n",
        expression("page.vars.version"),
        expression("page.vars.version + 'x'"),
        expression("visitor.claims.name"),
    );
    let changes = json!([{ "operation": "insert_page", "title": "Said", "document": { "markdown": text } }]);
    let (number, pages) = request(&desk.w, &desk.space, changes).await;
    desk.titles(&ContentVersion::request(desk.space.clone(), &number), part(&pages[0], true)).await;
    let shown = serde_json::to_value(&desk.press.last().pages[0].document).expect("JSON").to_string();
    for said in ["\"2.4\"", "\"2.4x\"", "visitor.claims.name"] {
        assert!(shown.contains(said), "{said}: {shown}");
    }
    assert!(!shown.contains("page.vars"), "{shown}");
}

#[tokio::test]
async fn reusable_contents_beyond_the_bound_are_left_out() {
    let desk = Desk::new().await;
    let include = |number| format!("{{% include \"/reusable-content/r{number}\" %}}\n\n");
    let text: String = (0..=1_000).map(include).collect();
    let changes =
        json!([{ "operation": "insert_page", "title": "Reuses", "document": { "markdown": text } }]);
    let (number, pages) = request(&desk.w, &desk.space, changes).await;
    let of = ContentVersion::request(desk.space.clone(), &number);
    assert_eq!(desk.titles(&of, part(&pages[0], true)).await, "Reuses");
    assert_eq!(desk.press.last().reusables.len(), 1_000);
}

/// Inserts reusable content blocks that embed each other, and a page that embeds the first. Returns its PDF. Each text
/// is followed by a number of embeds of another block, given by index.
async fn pdf_of_embeds(texts: &[(&str, usize, usize)]) -> (Desk, docs_core::Result<Loaded>) {
    let desk = Desk::new().await;
    let new = |at: usize| json!({ "operation": "insert_reusable_content", "title": format!("R{at}"), "document": { "markdown": "x" } });
    let (number, _) = request(&desk.w, &desk.space, (0..texts.len()).map(new).collect()).await;
    let of = ContentVersion::request(desk.space.clone(), &number);
    let revision = desk.w.as_admin().content(&of).get(ContentOptions::default()).await.expect("content");
    let mut ids: Vec<_> =
        revision.reusable_contents.iter().map(|r| (r.title.clone(), r.id.clone())).collect();
    ids.sort();
    let embed = |at: usize, places: usize| {
        format!("{{% include \"/reusable-content/{}\" %}}\n\n", ids[at].1).repeat(places)
    };
    let mut changes: Vec<Value> = texts.iter().zip(&ids).map(|((text, to, places), (_, id))| {
        let text = format!("{text}\n\n{}", embed(*to, *places));
        json!({ "operation": "update_reusable_content", "reusableContent": id, "document": { "markdown": text } })
    }).collect();
    changes.push(json!({ "operation": "insert_page", "title": "Embeds", "ref": "p", "document": { "markdown": embed(0, 1) } }));
    let update: UpdateContent = serde_json::from_value(json!({ "changes": changes })).expect("changes");
    let done =
        desk.w.as_admin().space(&desk.space).change_request(&number).edit(update).await.expect("edited");
    let page = done.changes.iter().find_map(|change| match change {
        ContentUpdateChange::CreatedPage { page, .. } => Some(page.id.clone()),
        _ => None,
    });
    let url = desk.url(&of, &part(&page.expect("a page"), true)).await;
    let done = desk.load(&url).await;
    (desk, done)
}

#[tokio::test]
async fn reusable_contents_count_at_each_place_of_a_pdf() {
    let large = "some words of a text ".repeat(10_000);
    let expression = "<code class=\"expression\">'x'.repeat(20000)</code>\n\n".repeat(20);
    // 20 MB of text from 210 kB; 2 MB of text from nine blocks of 30 bytes; 20 MB of values.
    let levels: Vec<(&str, usize, usize)> = (1..8).map(|next| ("", next, 10)).chain([("x", 0, 0)]).collect();
    let refused: [&[(&str, usize, usize)]; 3] =
        [&[("", 1, 100), (&large, 0, 0)], &levels, &[("", 1, 50), (&expression, 0, 0)]];
    for texts in refused {
        let (desk, done) = pdf_of_embeds(texts).await;
        let error = done.refused(ErrorKind::TooLarge);
        assert!(error.to_string().contains("too much text"), "{error}");
        assert_eq!(desk.press.begun.load(Ordering::SeqCst), 0, "nothing is laid out");
    }
    // 10 MB of text; blocks that embed themselves, which are shown once.
    let shown: [&[(&str, usize, usize)]; 2] =
        [&[("", 1, 50), (&large, 0, 0)], &[(&large, 1, 20), ("x", 0, 2_000)]];
    for texts in shown {
        pdf_of_embeds(texts).await.1.expect("a file");
    }
}
