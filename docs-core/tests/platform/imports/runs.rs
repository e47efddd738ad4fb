//! Import runs that are cancelled while they fetch.

use docs_core::model::{ImportRunStatus, JobId, StartImportRun};
use tokio::sync::Notify;

use super::*;

/// A mock web that waits before each response.
struct HeldWeb {
    web: MemWeb,
    started: Notify,
    released: Notify,
}

#[async_trait]
impl Web for HeldWeb {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        self.started.notify_one();
        self.released.notified().await;
        self.web.get(url).await
    }
}

/// A platform whose web waits, and a space with editable live content.
async fn held() -> (World, Arc<HeldWeb>, ContentVersion) {
    let web = MemWeb::new();
    web.put("https://a.test/", HTML, "<h1>Start</h1>");
    let held = Arc::new(HeldWeb { web, started: Notify::new(), released: Notify::new() });
    let for_platform = Arc::clone(&held);
    let w = World::build(Arc::new(MemStore::new()), |builder| {
        builder.web(for_platform).converter(Arc::new(DocumentConverter))
    })
    .await;
    let space = w.space().await;
    let change = UpdateSpace { edit_mode: Some(EditMode::Live), ..UpdateSpace::default() };
    w.as_admin().space(&space).update(change).await.expect("open for edits");
    (w, held, ContentVersion::space(space))
}

async fn cancel_after_start(w: &World, held: &HeldWeb, run: &JobId) {
    held.started.notified().await;
    let cancelled = w.as_admin().org(&w.org).cancel_import(run).await.expect("cancelled");
    assert_eq!(cancelled.status, ImportRunStatus::Cancelled);
    held.released.notify_one();
}

async fn check_unchanged(w: &World, of: &ContentVersion, run: &JobId) {
    let pages = w.as_admin().content(of).list_pages(ContentOptions::default()).await.expect("read");
    assert!(pages.pages.is_empty());
    let run = w.as_admin().org(&w.org).get_import(run).await.expect("read");
    assert_eq!((run.status, run.reason), (ImportRunStatus::Cancelled, None));
    w.check().await;
}

#[tokio::test]
async fn run_cancelled_in_progress_stores_no_pages() {
    let (w, held, of) = held().await;
    let request = json!({
        "source": { "type": "website", "url": "https://a.test/" }, "target": { "space": of.space },
    });
    let request: StartImportRun = serde_json::from_value(request).expect("a request");
    let run = w.as_admin().org(&w.org).start_import(request).await.expect("started").id;
    let (worked, ()) = tokio::join!(w.platform.settle(), cancel_after_start(&w, &held, &run));
    worked.expect("settled");
    check_unchanged(&w, &of, &run).await;
}

#[tokio::test]
async fn import_of_a_request_can_be_cancelled_as_a_run() {
    let (w, held, of) = held().await;
    let request = json!({ "url": "https://a.test/", "source": "html" });
    let request: ImportContent = serde_json::from_value(request).expect("a request");
    let cancel = async {
        held.started.notified().await;
        held.started.notify_one();
        let runs = w.as_admin().org(&w.org);
        let runs = runs.list_imports(&Default::default(), &PageRequest::default()).await.expect("listed");
        assert_eq!(runs.items[0].status, ImportRunStatus::InProgress);
        cancel_after_start(&w, &held, &runs.items[0].id).await;
        runs.items[0].id.clone()
    };
    let (imported, run) = tokio::join!(w.as_admin().content(&of).import(request), cancel);
    imported.refused(ErrorKind::Conflict);
    check_unchanged(&w, &of, &run).await;
}
