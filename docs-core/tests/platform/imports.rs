//! Imports of documents from a mock web defined by each test, and templates.

mod archives;
mod bounds;
mod pages;
mod runs;

use std::{
    io::{Cursor, Write as _},
    sync::Arc,
};

use async_trait::async_trait;
use bytes::Bytes;
use docs_convert::DocumentConverter;
use docs_core::{
    ErrorKind,
    content::templates::TEMPLATES,
    model::{
        ApplySpaceTemplate, ContentRef, CreateChangeRequest, EditMode, ImportContent, ImportContentResult,
        PageId, RevisionPage, Role, SpaceId, UpdateSpace,
    },
    platform::{ContentOptions, ContentVersion},
    ports::{
        ConvertError, ConvertedPage, Converter, Document, FetchMeter, UnpackedArchive, Web, WebError,
        WebResponse,
    },
    store::PageRequest,
};
use docs_memstore::{MemGit, MemStore, MemWeb};
use serde_json::{Value, json};

use crate::support::{Refused, World, page};

struct Setting {
    w: World,
    web: MemWeb,
    git: MemGit,
    of: ContentVersion,
}

impl Setting {
    /// Creates a space whose live content is editable.
    async fn new() -> Self {
        Self::with(DocumentConverter).await
    }

    async fn with(converter: impl Converter) -> Self {
        let (web, git) = (MemWeb::new(), MemGit::new());
        let (for_web, for_git) = (Arc::new(web.clone()), Arc::new(git.clone()));
        let w = World::build(Arc::new(MemStore::new()), |builder| {
            builder.web(for_web).git(for_git).converter(Arc::new(converter))
        })
        .await;
        let space = w.space().await;
        let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        w.as_admin().space(&space).update(change).await.expect("open for edits");
        Self { w, web, git, of: ContentVersion::space(space) }
    }

    fn space(&self) -> &SpaceId {
        &self.of.space
    }

    async fn try_import(&self, url: &str, source: &str) -> docs_core::Result<ImportContentResult> {
        let request: ImportContent =
            serde_json::from_value(json!({ "url": url, "source": source })).expect("a request");
        self.w.as_admin().content(&self.of).import(request).await
    }

    /// Imports. Returns the numbers of imported and found resources.
    async fn import(&self, url: &str, source: &str) -> (u64, u64) {
        let done = self.try_import(url, source).await.expect("imported");
        (done.imported_resources, done.total_resources)
    }

    /// Returns the paths and titles of all pages, in order.
    async fn tree(&self) -> Vec<(String, String)> {
        let pages =
            self.w.as_admin().content(&self.of).list_pages(ContentOptions::default()).await.expect("read");
        let mut out = Vec::new();
        let mut stack: Vec<&RevisionPage> = pages.pages.iter().rev().collect();
        while let Some(page) = stack.pop() {
            let (path, title, below) = match page {
                RevisionPage::Document(page) => (page.path.clone(), &page.base.title, &page.pages),
                RevisionPage::Group(group) => (format!("{}/", group.path), &group.base.title, &group.pages),
                other => panic!("{other:?}"),
            };
            out.push((path, title.clone()));
            stack.extend(below.iter().rev());
        }
        out
    }

    async fn paths(&self) -> Vec<String> {
        self.tree().await.into_iter().map(|(path, _)| path).collect()
    }

    async fn at(&self, path: &str) -> (PageId, String) {
        let platform = &self.w.platform;
        let page = platform
            .as_actor(&self.w.admin)
            .content(&self.of)
            .get_page_by_path(path, ContentOptions::default())
            .await
            .expect(path);
        match page {
            RevisionPage::Document(page) => (page.base.id, page.markdown.expect("markdown")),
            other => panic!("{other:?}"),
        }
    }

    async fn title(&self, path: &str) -> String {
        let content = self.w.as_admin().content(&self.of);
        match content.get_page_by_path(path, ContentOptions::default()).await.expect(path) {
            RevisionPage::Document(page) => page.base.title.to_string(),
            other => panic!("{other:?}"),
        }
    }

    async fn files(&self) -> Vec<(String, String)> {
        let all = PageRequest { page: None, limit: None };
        let files = self
            .w
            .as_admin()
            .content(&self.of)
            .list_files(ContentOptions::default(), &all)
            .await
            .expect("read");
        files.items.into_iter().map(|file| (file.id.to_string(), file.name)).collect()
    }

    /// Checks that all derived rows are consistent with records and content.
    async fn check(&self) {
        self.w.check().await;
    }
}

fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        let stored =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        writer.start_file(*path, stored).expect("an entry");
        writer.write_all(bytes).expect("bytes");
    }
    writer.finish().expect("an archive").into_inner()
}

const HTML: &str = "text/html";

#[tokio::test]
async fn website_import_creates_a_tree_of_linked_pages() {
    let s = Setting::new().await;
    s.web.redirect("https://a.test/docs", "https://a.test/docs/");
    s.web.put(
        "https://a.test/docs/",
        HTML,
        "<nav><a href=hidden>no</a></nav><main><h1>Start</h1><a href=guide/>Guide</a> <a href='guide/first.html#top'>First</a> \
         <a href=/blog>Blog</a> <a href=gone>Gone</a> <a href=file.pdf>File</a> <a href='?print=1'>Print</a> \
         <img src=a.png> <img src=gone.png></main>",
    );
    s.web.put("https://a.test/docs/guide/", HTML, "<h1>Guide</h1><a href='../index.html'>Back</a>");
    s.web.put(
        "https://a.test/docs/guide/first.html",
        HTML,
        "<h1>First</h1><img src=../a.png><a href=../old>Old</a>",
    );
    s.web.redirect("https://a.test/docs/old", "https://a.test/docs/guide/");
    s.web.put("https://a.test/docs/a.png", "image/png", "png");
    // Three pages and an image. The missing page and image count as found.
    assert_eq!(s.import("https://a.test/docs", "website").await, (4, 6));
    assert_eq!(s.paths().await, ["start", "guide", "guide/first"]);
    let ((start, text), (guide, back), (first, picture)) =
        (s.at("start").await, s.at("guide").await, s.at("guide/first").await);
    let file = &s.files().await[0];
    assert_eq!(file.1, "a.png");
    assert_eq!(
        text,
        format!(
            "[Guide](/pages/{guide}) [First](/pages/{first}#top) [Blog](https://a.test/blog) [Gone](https://a.test/docs/gone) \
             [File](https://a.test/docs/file.pdf) [Print](https://a.test/docs/?print=1) ![](/files/{}) \
             ![](https://a.test/docs/gone.png)\n",
            file.0
        )
    );
    assert_eq!(back, format!("[Back](/pages/{start})\n"));
    assert_eq!(picture, format!("![](/files/{})[Old](/pages/{guide})\n", file.0));
    let asked = s.web.urls();
    assert!(
        !asked.iter().any(|url| url.contains("blog") || url.contains("pdf") || url.contains("hidden")),
        "{asked:?}"
    );
    s.check().await;
}

#[tokio::test]
async fn a_website_stops_at_twenty_pages_and_twenty_files() {
    let s = Setting::new().await;
    let links: String = (0..50).map(|n| format!("<a href=/p{n}>{n}</a> <img src=/i{n}.png>")).collect();
    s.web.put("https://a.test/", HTML, format!("<h1>Start</h1>{links}"));
    for n in 0..50 {
        s.web.put(&format!("https://a.test/p{n}"), HTML, format!("<h1>Page {n}</h1>"));
        s.web.put(&format!("https://a.test/i{n}.png"), "image/png", format!("{n}"));
    }
    assert_eq!(s.import("https://a.test/", "website").await, (40, 51 + 50));
    assert_eq!((s.paths().await.len(), s.files().await.len()), (20, 20));
    assert_eq!(s.web.urls().len(), 40);
    assert_eq!(s.paths().await[..3], ["start", "p0", "p1"], "breadth first, in the order of the page");
}

#[tokio::test]
async fn pictures_of_an_import_beyond_their_total_size_are_left_out() {
    let s = Setting::new().await;
    // Equal images share their bytes in the test, and their parts in the store.
    let bytes = Bytes::from(vec![0; 100_000_000]);
    let images: String = (0..3).map(|n| format!("<img src=/i{n}.png>")).collect();
    s.web.put("https://a.test/", HTML, format!("<h1>Start</h1>{images}<img src=/small.png>"));
    for n in 0..3 {
        s.web.put(&format!("https://a.test/i{n}.png"), "image/png", bytes.clone());
    }
    s.web.put("https://a.test/small.png", "image/png", "small");
    assert_eq!(s.import("https://a.test/", "html").await, (3, 5));
    assert_eq!(s.files().await.len(), 2, "200 MB are full");
}

#[tokio::test]
async fn page_that_redirects_off_site_is_not_imported() {
    let s = Setting::new().await;
    s.web.put("https://a.test/docs/", HTML, "<h1>Start</h1><a href=x>x</a>");
    s.web.redirect("https://a.test/docs/x", "https://b.test/");
    s.web.put("https://b.test/", HTML, "<h1>Elsewhere</h1>");
    s.import("https://a.test/docs/", "website").await;
    assert_eq!(s.paths().await, ["start"]);
    assert_eq!(s.at("start").await.1, "[x](https://a.test/docs/x)\n");
}

#[tokio::test]
async fn import_decodes_other_character_sets() {
    let s = Setting::new().await;
    // "Настройка" with the charset from the header and from the page, and "設定" in an archive.
    let koi8 = b"\xee\xc1\xd3\xd4\xd2\xcf\xca\xcb\xc1";
    let told = [&b"<h1>"[..], koi8, b"</h1><a href=second>2</a>"].concat();
    s.web.put("https://a.test/", "text/html; charset=koi8-r", told);
    let windows = b"<meta charset=windows-1251><h1>\xcd\xe0\xf1\xf2\xf0\xee\xe9\xea\xe0 2</h1>";
    s.web.put("https://a.test/second", HTML, &windows[..]);
    s.web.put("https://a.test/x.md", "text/markdown; charset=koi8-r", [&b"# "[..], koi8, b" 3\n"].concat());
    let japanese =
        b"<meta http-equiv=content-type content='text/html; charset=Shift_JIS'><h1>\x90\xdd\x92\xe8</h1>";
    let wide: Vec<u8> = "\u{feff}# Größe\n".encode_utf16().flat_map(u16::to_be_bytes).collect();
    let files: [(&str, &[u8]); 3] =
        [("a.html", japanese), ("b.md", b"# Gr\xfc\xdfe\n"), ("c.md", wide.as_slice())];
    s.web.put("https://a.test/x.zip", "application/zip", archive(&files));
    s.import("https://a.test/", "website").await;
    s.import("https://a.test/x.md", "markdown").await;
    s.import("https://a.test/x.zip", "zip").await;
    let titles: Vec<String> = s.tree().await.into_iter().map(|(_, title)| title).collect();
    assert_eq!(titles, ["Настройка", "Настройка 2", "Настройка 3", "設定", "Grüße", "Größe"]);
    s.check().await;
}

#[tokio::test]
async fn single_documents_become_single_pages() {
    let s = Setting::new().await;
    s.web.put(
        "https://a.test/x.md",
        "text/markdown",
        "---\ndescription: About it\n---\n# 🚀 Title\n\n![i](i.svg) [y](y.md)\n",
    );
    s.web.put("https://a.test/i.svg", "image/svg+xml", "<svg/>");
    s.web.put("https://a.test/my-page.html", HTML, "<p>text</p>");
    assert_eq!(s.import("https://a.test/x.md", "markdown").await, (2, 2));
    assert_eq!(s.import("https://a.test/my-page.html", "html").await, (1, 1));
    assert_eq!(
        s.tree().await,
        [("title", "Title"), ("my-page", "my page")].map(|(a, b)| (a.into(), b.into()))
    );
    let (id, text) = s.at("title").await;
    assert_eq!(text, format!("![i](/files/{}) [y](https://a.test/y.md)\n", s.files().await[0].0));
    let RevisionPage::Document(shown) = page(&s.w, &s.of, &id).await else { panic!("a document") };
    assert_eq!(shown.description.as_deref(), Some("About it"));
    assert_eq!(shown.base.emoji.map(|emoji| emoji.to_string()).as_deref(), Some("1f680"));
    let body = "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"Heading1\"/></w:pPr><w:r><w:t>Letter</w:t></w:r></w:p>\
                <w:p><w:r><w:t>Dear all</w:t></w:r><w:r><w:drawing><a:blip r:embed=\"r1\"/></w:drawing></w:r></w:p></w:body>\
                </w:document>";
    let relations = "<Relationships><Relationship Id=\"r1\" Target=\"media/a.png\"/></Relationships>";
    let letter = archive(&[
        ("word/document.xml", body.as_bytes()),
        ("word/_rels/document.xml.rels", relations.as_bytes()),
        ("word/media/a.png", b"png"),
    ]);
    s.web.put("https://a.test/letter.docx", "application/octet-stream", letter);
    assert_eq!(s.import("https://a.test/letter.docx", "docx").await, (2, 2));
    let picture = s.files().await.into_iter().find(|(_, name)| name == "a.png").expect("the picture").0;
    assert_eq!(s.at("letter").await.1, format!("Dear all![](/files/{picture})\n"));
    s.check().await;
}

#[tokio::test]
async fn imported_files_keep_no_tricky_type_of_a_web_server() {
    let s = Setting::new().await;
    let tricks =
        ["image/png; x=\"\",text/html;y=\"", "image/png,text/html", "image/png\u{b}text/html", "image/"];
    let mut text = "# Title\n\n".to_owned();
    for (n, trick) in tricks.iter().enumerate() {
        s.web.put(&format!("https://a.test/{n}.png"), trick, format!("{n}"));
        text.push_str(&format!("![{n}]({n}.png)\n"));
    }
    s.web.put("https://a.test/x.md", "text/markdown", text);
    assert_eq!(s.import("https://a.test/x.md", "markdown").await, (5, 5));
    let url = |n: usize| json!({ "name": format!("{n}.jpg"), "url": format!("https://a.test/{n}.png") });
    let files: Vec<Value> = (0..tricks.len()).map(url).collect();
    let change = json!({ "changes": [{ "operation": "insert_files", "files": files }] });
    let change = serde_json::from_value(change).expect("a change");
    let request =
        s.w.as_admin().space(s.space()).change_requests().create(CreateChangeRequest::default()).await;
    let request = request.expect("a change request");
    let content = || s.w.as_admin().space(s.space()).change_request(request.id.as_str());
    content().edit(change).await.expect("inserted");
    let all = PageRequest { page: None, limit: None };
    let files = content().content().list_files(ContentOptions::default(), &all).await.expect("read");
    let mut types: Vec<String> = files.items.into_iter().map(|file| file.content_type).collect();
    types.sort();
    assert_eq!(types, [["image/jpeg"; 4], ["image/png"; 4]].concat());
    s.check().await;
}

#[tokio::test]
async fn wiki_import_fails_at_its_time_limit() {
    let s = Setting::new().await;
    s.git.put("Home.md", "Home.\n");
    s.git.hold();
    let import = s.try_import("https://github.com/o/r/wiki", "github-wiki");
    let (done, ()) = tokio::join!(import, async {
        s.git.wait_until_held(1).await;
        s.w.clock.advance(std::time::Duration::from_secs(121));
    });
    let error = done.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), "url: the import exceeded its limit of 120 seconds");
}

#[tokio::test]
async fn wiki_over_the_page_limit_is_rejected_before_reading() {
    let s = Setting::new().await;
    for n in 0..1_001 {
        s.git.put(&format!("Page-{n}.md"), "text\n");
    }
    let error = s.try_import("https://github.com/o/r/wiki", "github-wiki").await.refused(ErrorKind::Invalid);
    assert_eq!(error.message(), "url: the wiki must have at most 1000 pages");
    assert_eq!(s.git.reads(), 0);
}

#[tokio::test]
async fn wiki_import_follows_the_sidebar() {
    let s = Setting::new().await;
    s.git.put("Home.md", "Welcome. [[Getting Started]] and ![i](images/i.png)\n");
    s.git.put("Getting-Started.md", "See [home](https://github.com/o/r/wiki/Home).\n");
    s.git.put("Unlisted.md", "text\n");
    s.git.put("_Sidebar.md", "* [[Home]]\n  * [[Start here|Getting Started]]\n");
    s.git.put("_Footer.md", "no page\n");
    s.git.put("images/i.png", "png");
    assert_eq!(s.import("https://github.com/o/r/wiki", "github-wiki").await, (4, 4));
    assert_eq!(s.git.urls(), ["https://github.com/o/r.wiki.git"]);
    let titles: Vec<String> = s.tree().await.into_iter().map(|(_, title)| title).collect();
    assert_eq!(titles, ["Home", "Start here", "Unlisted"]);
    let paths = s.paths().await;
    let ((home, welcome), (start, back)) = (s.at(&paths[0]).await, s.at(&paths[1]).await);
    let file = &s.files().await[0].0;
    assert_eq!(welcome, format!("Welcome. [Getting Started](/pages/{start}) and ![i](/files/{file})\n"));
    assert_eq!(back, format!("See [home](/pages/{home}).\n"));
    s.check().await;
}

#[tokio::test]
async fn import_does_not_change_existing_pages() {
    let s = Setting::new().await;
    s.web.put("https://a.test/x", HTML, "<h1>Same</h1><p>first</p>");
    s.import("https://a.test/x", "html").await;
    s.web.put("https://a.test/x", HTML, "<h1>Same</h1><p>second</p>");
    let revision = s.w.as_admin().space(s.space()).get().await.expect("read").revision;
    let done = s.try_import("https://a.test/x", "html").await.expect("imported");
    assert_eq!(s.paths().await, ["same", "same-2"]);
    assert_eq!((s.at("same").await.1.as_str(), s.at("same-2").await.1.as_str()), ("first\n", "second\n"));
    let now = s.w.as_admin().content(&s.of).get(ContentOptions::default()).await.expect("read");
    assert_eq!((now.id, now.parents), (done.revision, vec![revision]), "one revision, on the one before");
}

#[tokio::test]
async fn import_requires_edit_permission_before_fetching() {
    let s = Setting::new().await;
    s.web.put("https://a.test/x", HTML, "<h1>Title</h1>");
    let request = || -> ImportContent {
        serde_json::from_value(json!({ "url": "https://a.test/x", "source": "html" })).expect("a request")
    };
    let platform = &s.w.platform;
    let mine = platform.as_actor(&s.w.admin).space(s.space());
    for (name, role, kind) in
        [("Rob", Some(Role::Comment), ErrorKind::Forbidden), ("Gus", None, ErrorKind::NotFound)]
    {
        let actor = s.w.member(name, role).await;
        platform.as_actor(&actor).content(&s.of).import(request()).await.refused(kind);
    }
    platform.as_platform().content(&s.of).import(request()).await.refused(ErrorKind::Forbidden);
    let change = UpdateSpace { edit_mode: Some(EditMode::Locked), ..UpdateSpace::default() };
    mine.update(change).await.expect("locked");
    platform.as_actor(&s.w.admin).content(&s.of).import(request()).await.refused(ErrorKind::Conflict);
    assert_eq!(s.web.urls(), [""; 0]);
    let draft = mine.change_requests().create(Default::default()).await.expect("created");
    let of = ContentVersion::request(s.space().clone(), draft.id.as_str());
    let editor = s.w.member("Eve", Some(Role::Edit)).await;
    let done = platform.as_actor(&editor).content(&of).import(request()).await.expect("imported");
    let draft = mine.change_request(draft.id.as_str()).get().await.expect("read");
    assert_eq!(draft.revision, done.revision);
    assert_eq!(s.paths().await, [""; 0], "live content is as it was");
    let without = World::new().await;
    let space = without.space().await;
    let draft =
        without.as_admin().space(&space).change_requests().create(Default::default()).await.expect("created");
    let of = ContentVersion::request(space, draft.id.as_str());
    without.as_admin().content(&of).import(request()).await.refused(ErrorKind::Precondition);
}

#[tokio::test]
async fn links_of_every_template_resolve() {
    for template in TEMPLATES {
        let s = Setting::new().await;
        let request = ApplySpaceTemplate {
            id: template.id.parse().expect("an id"),
            params: None,
            change_request_id: None,
        };
        s.w.as_admin().space(s.space()).apply_template(request).await.expect(template.id);
        let paths = s.paths().await;
        let documents: Vec<&String> = paths.iter().filter(|path| !path.ends_with('/')).collect();
        assert_eq!(documents.len(), template.files.len() - 1, "{}: each file is a page", template.id);
        for path in documents {
            let (_, text) = s.at(path).await;
            assert!(
                !text.contains(".md)") && !text.contains("href=\"../") && !text.contains("/refs/"),
                "{path}: {text}"
            );
            assert!(!text.contains(".md\""), "{path}: {text}");
        }
        s.check().await;
    }
}

#[tokio::test]
async fn template_uses_the_content_refs_of_the_request() {
    let s = Setting::new().await;
    let apply = |refs: serde_json::Value| {
        let request = json!({ "id": "product-docs", "params": { "contentRefs": refs } });
        let request: ApplySpaceTemplate = serde_json::from_value(request).expect("a request");
        s.w.as_admin().space(s.space()).apply_template(request)
    };
    let support = ContentRef::Url { url: "https://help.test/".to_owned() };
    apply(json!({ "support": support, "other": support })).await.expect("applied");
    let text = s.at("help/troubleshooting").await.1;
    assert!(text.contains("[Ask us](https://help.test/)"), "{text}");
    apply(json!({ "support": { "kind": "url", "url": "javascript:alert(1)" } })).await.expect("applied");
    let text = s.at("help-2/troubleshooting").await.1;
    assert!(text.contains("\nAsk us. Tell us"), "{text}");
    let unknown =
        ApplySpaceTemplate { id: "nothing".parse().expect("an id"), params: None, change_request_id: None };
    s.w.as_admin().space(s.space()).apply_template(unknown).await.refused(ErrorKind::NotFound);
}

/// A converter whose program is missing.
struct Broken;

#[async_trait]
impl Converter for Broken {
    async fn convert(&self, _: Document) -> Result<ConvertedPage, ConvertError> {
        Err(ConvertError::Failed("no program".to_owned()))
    }

    async fn unpack(&self, _: Bytes) -> Result<UnpackedArchive, ConvertError> {
        Err(ConvertError::Failed("no program".to_owned()))
    }
}

#[tokio::test]
async fn converter_failure_is_an_error_of_the_platform() {
    let s = Setting::with(Broken).await;
    s.web.put("https://example.com/a", "text/html", "<h1>A</h1>");
    for source in ["website", "html", "zip"] {
        let done = s.try_import("https://example.com/a", source).await;
        let error = done.refused(ErrorKind::Internal);
        assert!(!error.message().contains("program"), "{source}: {error}");
    }
}

/// A mock web whose host `slow.example` sends a kilobyte and then nothing.
struct SlowWeb(MemWeb);

#[async_trait]
impl Web for SlowWeb {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        self.0.get(url).await
    }

    async fn get_metered(&self, url: &str, meter: &dyn FetchMeter) -> Result<WebResponse, WebError> {
        if url.starts_with("https://slow.example/") {
            meter.keep(1_000).await?;
            return std::future::pending().await;
        }
        let fetched = self.get(url).await?;
        meter.keep(fetched.bytes.len()).await?;
        Ok(fetched)
    }
}

#[tokio::test]
async fn slow_hosts_do_not_delay_other_imports() {
    let web = MemWeb::new();
    web.put("https://a.example/page.md", "text/markdown", "# Page");
    web.put("https://a.example/all.zip", "application/zip", archive(&[("README.md", b"# Home")]));
    let slow = Arc::new(SlowWeb(web));
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(slow).converter(Arc::new(DocumentConverter))
    })
    .await;
    let mut spaces = Vec::new();
    for _ in 0..15 {
        let space = w.space().await;
        let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
        w.as_admin().space(&space).update(change).await.expect("open for edits");
        spaces.push(ContentVersion::space(space));
    }
    let import = async |of: &ContentVersion, url: &str, source: &str| {
        let request = serde_json::from_value(json!({ "url": url, "source": source })).expect("a request");
        w.as_admin().content(of).import(request).await
    };
    let (other, slow) = spaces.split_first().expect("spaces");
    let waits = futures_util::future::join_all(
        slow.iter().map(|of| import(of, "https://slow.example/all.zip", "zip")),
    );
    let others = async {
        for (url, source) in [("page.md", "markdown"), ("all.zip", "zip")] {
            import(other, &format!("https://a.example/{url}"), source).await.expect("imported");
        }
    };
    tokio::select! {
        biased;
        _ = waits => panic!("a host that sends nothing ends no import"),
        () = others => {}
    }
}

/// A mock web whose responses have the size given in their path. The response at `/open/` never ends.
struct SizedWeb(MemWeb);

#[async_trait]
impl Web for SizedWeb {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        self.0.get(url).await
    }

    async fn get_metered(&self, url: &str, meter: &dyn FetchMeter) -> Result<WebResponse, WebError> {
        let size = url.rsplit('/').next().and_then(|size| size.parse().ok()).expect("a size");
        meter.keep(size).await?;
        if url.contains("/open/") {
            return std::future::pending().await;
        }
        self.get(url).await
    }
}

#[tokio::test]
async fn an_import_without_memory_in_time_can_be_tried_again() {
    let web = MemWeb::new();
    web.put("https://a.example/50000000", "text/markdown", "# Page");
    let sized = Arc::new(SizedWeb(web));
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(sized).converter(Arc::new(DocumentConverter))
    })
    .await;
    let space = w.space().await;
    let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(change).await.expect("open for edits");
    let draft = w.as_admin().space(&space).change_requests().create(CreateChangeRequest::default()).await;
    let draft = draft.expect("created").number.to_string();
    let of = ContentVersion::space(space.clone());
    let content = || w.as_admin().content(&of);
    let before = content().get(ContentOptions::default()).await.expect("read").id;
    let files = json!([{ "name": "a.bin", "url": "https://a.example/open/200000000" }]);
    let edit =
        serde_json::from_value(json!({ "changes": [{ "operation": "insert_files", "files": files }] }));
    let holds = w.as_admin().space(&space).change_request(&draft).edit(edit.expect("an edit"));
    let request = || {
        serde_json::from_value(json!({ "url": "https://a.example/50000000", "source": "markdown" }))
            .expect("a request")
    };
    let waits = async {
        let import = content().import(request());
        let later = async {
            tokio::task::yield_now().await;
            w.clock.advance(std::time::Duration::from_secs(119));
            tokio::task::yield_now().await;
            w.clock.advance(std::time::Duration::from_secs(2));
        };
        tokio::join!(import, later).0
    };
    let refused = tokio::select! {
        biased;
        _ = holds => panic!("an open response ends no fetch"),
        done = waits => done.refused(ErrorKind::Unavailable),
    };
    assert_eq!(refused.message(), "the memory for imports is in use; try again later");
    assert_eq!(
        content().get(ContentOptions::default()).await.expect("read").id,
        before,
        "nothing is changed"
    );
    content().import(request()).await.expect("imported, because the memory is free");
}
