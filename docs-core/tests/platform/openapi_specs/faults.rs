//! Faults and concurrent changes while a specification is processed: unresponsive hosts, failing readers, crashing
//! servers, and users who update and delete the specification.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use docs_core::ports::{ReadSpec, SpecError, SpecFiles, SpecReader, Web, WebResponse};
use tokio::sync::Notify;

use super::*;

/// A gate that blocks a task, signals the block, and lets the task continue on request.
#[derive(Clone, Default)]
pub(super) struct Gate(Arc<Waiting>);

#[derive(Default)]
struct Waiting {
    /// The number of tasks that pass before one is blocked, or `None` for an open gate.
    passes: Mutex<Option<usize>>,
    asked: Notify,
    go: Notify,
}

impl Gate {
    /// Blocks one task after `passes` tasks have passed.
    pub(super) fn close_after(&self, passes: usize) {
        *held(&self.0.passes) = Some(passes);
    }

    /// Stops blocking further tasks.
    pub(super) fn open(&self) {
        *held(&self.0.passes) = None;
    }

    /// Waits until a task is blocked.
    pub(super) async fn asked(&self) {
        self.0.asked.notified().await;
    }

    /// Releases the blocked task.
    pub(super) fn go(&self) {
        self.0.go.notify_one();
    }

    async fn pass(&self) {
        let waits = {
            let mut passes = held(&self.0.passes);
            match *passes {
                None => false,
                Some(0) => {
                    *passes = None;
                    true
                }
                Some(more) => {
                    *passes = Some(more - 1);
                    false
                }
            }
        };
        if waits {
            self.0.asked.notify_one();
            self.0.go.notified().await;
        }
    }
}

fn held<T>(of: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fault of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReaderFault {
    Fails,
    FindsTooLarge,
    Panics,
}

pub(super) const READER_FAULTS: [ReaderFault; 3] =
    [ReaderFault::Fails, ReaderFault::FindsTooLarge, ReaderFault::Panics];

impl ReaderFault {
    /// Returns the reported error.
    fn told(self) -> &'static str {
        match self {
            Self::FindsTooLarge => "it is too large here",
            Self::Fails | Self::Panics => "the specification reader of this server failed; see its log",
        }
    }
}

/// A mock web and a reader, each with a gate. Faults of the reader are planned for a read, counting from 1, or for all
/// reads.
#[derive(Clone, Default)]
pub(super) struct Outside {
    pub(super) web: MemWeb,
    pub(super) gate: Gate,
    reader: Arc<Mutex<ReaderPlan>>,
}

#[derive(Default)]
struct ReaderPlan {
    readings: usize,
    always: Option<ReaderFault>,
    at: BTreeMap<usize, ReaderFault>,
    /// The number of times that each file was read, by location.
    of_file: BTreeMap<String, usize>,
}

impl Outside {
    /// Sets the fault of all following reads.
    pub(super) fn read_with(&self, fault: Option<ReaderFault>) {
        held(&self.reader).always = fault;
    }

    /// Sets the fault of a later read.
    fn read_at(&self, readings: usize, fault: ReaderFault) {
        let mut plan = held(&self.reader);
        let number = plan.readings + readings;
        plan.at.insert(number, fault);
    }
}

#[async_trait]
impl Web for Outside {
    async fn get(&self, url: &str) -> Result<WebResponse, WebError> {
        self.gate.pass().await;
        self.web.get(url).await
    }
}

#[async_trait]
impl SpecReader for Outside {
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError> {
        self.gate.pass().await;
        let fault = {
            let mut plan = held(&self.reader);
            plan.readings += 1;
            for file in std::iter::once(&files.entry).chain(&files.others) {
                *plan.of_file.entry(file.location.clone()).or_default() += 1;
            }
            let number = plan.readings;
            plan.at.remove(&number).or(plan.always)
        };
        match fault {
            None => OpenApiReader.read(files).await,
            Some(ReaderFault::Fails) => Err(SpecError::Failed("it cannot be started".to_owned())),
            Some(ReaderFault::FindsTooLarge) => Err(SpecError::TooLarge("it is too large here".to_owned())),
            Some(ReaderFault::Panics) => panic!("a reader that panics, as a test wants it"),
        }
    }
}

/// Creates a world with this web and reader.
pub(super) async fn rigged(store: Arc<dyn Store>) -> (World, Outside) {
    let outside = Outside::default();
    let (web, reader) = (Arc::new(outside.clone()), Arc::new(outside.clone()));
    let w = World::build(store, |builder| builder.web(web).spec_reader(reader)).await;
    (w, outside)
}

async fn rig() -> (World, Outside) {
    rigged(Arc::new(MemStore::new())).await
}

const PART: &str = "https://api.example/part.json";

/// Returns a specification with a path item in another file.
fn with_part(title: &str) -> String {
    let info = json!({ "title": title, "version": "1" });
    json!({ "openapi": "3.1.0", "info": info, "paths": { "/a": { "$ref": "part.json" } } }).to_string()
}

/// A concurrent action while processing is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meanwhile {
    Nothing,
    PutAddress,
    PutText,
    Publish,
    Delete,
    DeleteAndPut,
}

async fn act(w: &World, web: &MemWeb, meanwhile: Meanwhile) {
    let delete = async || {
        let spec = w.as_admin().org(&w.org).openapi_spec("pets").delete().await;
        assert!(spec.expect("deleted"));
    };
    match meanwhile {
        Meanwhile::Nothing => {}
        Meanwhile::PutAddress => {
            web.put("https://api.example/two.json", "application/json", titled("Two"));
            w.put_spec("pets", url("https://api.example/two.json")).await;
        }
        Meanwhile::PutText => drop(w.put_spec("pets", SpecSource::Text(titled("Two"))).await),
        Meanwhile::Publish => {
            let public = UpdateOpenApiSpec { visibility: SpecVisibility::Public };
            w.as_admin().org(&w.org).openapi_spec("pets").update(public).await.expect("public");
        }
        Meanwhile::Delete => delete().await,
        Meanwhile::DeleteAndPut => {
            delete().await;
            w.put_spec("pets", SpecSource::Text(titled("Two"))).await;
        }
    }
}

/// Meanwhile, the processing state is reported as in progress.
#[tokio::test]
async fn changes_during_processing_take_precedence() {
    use Meanwhile::{Delete, DeleteAndPut, Nothing, Publish, PutAddress, PutText};
    // Blocked at the document, its read, the referenced file, its read, and the read of both files.
    for waits_at in 0..5 {
        for meanwhile in [Nothing, PutAddress, PutText, Publish, Delete, DeleteAndPut] {
            let told = format!("{meanwhile:?} at {waits_at}");
            let (w, outside) = rig().await;
            outside.web.put(SOURCE, "application/json", with_part("One"));
            outside.web.put(PART, "application/json", "{\"get\": {\"tags\": [\"a\"]}}");
            w.put_spec("pets", url(SOURCE)).await;
            assert_eq!(w.spec("pets").await.processing_state, SpecProcessingState::Pending);
            outside.gate.close_after(waits_at);
            let (settled, ()) = tokio::join!(w.platform.settle(), async {
                outside.gate.asked().await;
                let spec = w.spec("pets").await;
                assert_eq!(spec.processing_state, SpecProcessingState::Progress, "{told}");
                assert_eq!((spec.last_version, spec.last_processed_at), (None, None), "{told}");
                act(&w, &outside.web, meanwhile).await;
                let is_again = matches!(meanwhile, PutAddress | PutText | DeleteAndPut);
                if is_again {
                    let state = w.spec("pets").await.processing_state;
                    assert_eq!(state, SpecProcessingState::Pending, "{told}");
                }
                outside.gate.go();
            });
            settled.expect("settled");
            if meanwhile == Delete {
                let gone = w.as_admin().org(&w.org).openapi_spec("pets").get().await;
                gone.refused(ErrorKind::NotFound);
            } else {
                let spec = w.spec("pets").await;
                assert_eq!(spec.processing_state, SpecProcessingState::Complete, "{told}");
                assert_eq!(spec.last_processed_errors, None, "{told}");
                assert_eq!(w.spec_versions("pets").await, 1, "{told}");
                let title = if matches!(meanwhile, Nothing | Publish) { "One" } else { "Two" };
                let content = w.spec_content("pets").await;
                let entry =
                    content.as_object().expect("files").values().find(|it| it["isEntrypoint"] == true);
                assert_eq!(entry.expect("an entry")["specification"]["info"]["title"], title, "{told}");
                assert_eq!(spec.urls.published.is_some(), meanwhile == Publish, "{told}");
            }
            w.check().await;
        }
    }
}

#[tokio::test]
async fn unresponsive_host_fails_processing_at_the_time_limit() {
    // The document, or the referenced file after it. Both share one time limit.
    for (waits_at, at) in [(0, SOURCE), (2, PART)] {
        let (w, outside) = rig().await;
        outside.web.put(SOURCE, "application/json", with_part("One"));
        outside.web.put(PART, "application/json", "{\"get\": {}}");
        w.put_spec("pets", url(SOURCE)).await;
        outside.gate.close_after(waits_at);
        let (settled, ()) = tokio::join!(w.platform.settle(), async {
            outside.gate.asked().await;
            w.clock.advance(Duration::from_secs(119));
            assert_eq!(w.spec("pets").await.processing_state, SpecProcessingState::Progress);
            w.clock.advance(Duration::from_secs(1));
        });
        settled.expect("settled");
        let spec = w.spec("pets").await;
        assert_eq!(spec.processing_state, SpecProcessingState::Complete);
        assert_eq!(spec.last_process_error_code, Some(SpecErrorCode::FetchTimeout));
        let errors = spec.last_processed_errors.expect("errors");
        assert_eq!(errors[0].message, format!("{at}: cannot be fetched within 120s"));
        // The next attempt succeeds.
        w.clock.advance(SIX_HOURS);
        w.settled().await;
        assert_eq!((w.spec("pets").await.last_process_error_code, w.spec_versions("pets").await), (None, 1));
    }
}

#[tokio::test]
async fn fetch_errors_are_reported_with_the_url() {
    let failures = [
        (WebError::Refused("leads to a private address".to_owned()), SpecErrorCode::FetchError),
        (WebError::Unreachable("it broke off".to_owned()), SpecErrorCode::FetchError),
        (WebError::TimedOut(Duration::from_secs(30)), SpecErrorCode::FetchTimeout),
        (WebError::Status(500), SpecErrorCode::FetchError),
        (WebError::TooLarge(20_000_000), SpecErrorCode::FetchError),
    ];
    for at in [SOURCE, PART] {
        for (failure, code) in &failures {
            let (w, outside) = rig().await;
            outside.web.put(SOURCE, "application/json", with_part("One"));
            outside.web.fail(at, failure.clone());
            let spec = failed(&w, *code, &format!("{at}: {failure}")).await;
            assert_eq!(spec.last_version, None, "{at}: {failure}");
            outside.web.put(SOURCE, "application/json", with_part("One"));
            outside.web.put(PART, "application/json", "{\"get\": {}}");
            w.clock.advance(SIX_HOURS);
            w.settled().await;
            assert_eq!(w.spec("pets").await.last_processed_errors, None, "{at}: {failure}");
            assert_eq!(w.spec_versions("pets").await, 1, "{at}: {failure}");
        }
    }
}

#[tokio::test]
async fn reader_failure_is_not_reported_as_document_error() {
    // Faults at the read of the document, of the referenced file, and of both files.
    for at in 1..=3 {
        for fault in READER_FAULTS {
            let (w, outside) = rig().await;
            outside.web.put(SOURCE, "application/json", with_part("One"));
            outside.web.put(PART, "application/json", "{\"get\": {}}");
            w.put_spec("pets", url(SOURCE)).await;
            w.settled().await;
            let before = w.spec("pets").await.last_version;
            outside.web.put(SOURCE, "application/json", with_part("Two"));
            outside.read_at(at, fault);
            let spec = failed(&w, SpecErrorCode::ParseError, fault.told()).await;
            assert_eq!(spec.last_version, before, "{fault:?} at {at}");
            w.clock.advance(SIX_HOURS);
            w.settled().await;
            let spec = w.spec("pets").await;
            assert_eq!((spec.last_processed_errors, w.spec_versions("pets").await), (None, 2), "{fault:?}");
        }
    }
}

#[tokio::test]
async fn files_of_a_chain_are_read_twice_whatever_its_length() {
    let (w, outside) = rig().await;
    let of_chain = |number: usize| format!("https://api.example/{number}.json");
    let length = 16;
    for number in 1..=length {
        let next =
            if number < length { format!("{{\"$ref\": \"{}.json\"}}", number + 1) } else { "{}".to_owned() };
        outside.web.put(
            &of_chain(number),
            "application/json",
            format!("{{\"get\": {{\"responses\": {{\"200\": {next}}}}}}}"),
        );
    }
    outside.web.put(SOURCE, "application/json", with_part("One").replace("part.json", "1.json"));
    w.put_spec("pets", url(SOURCE)).await;
    w.settled().await;
    assert_eq!(w.spec("pets").await.last_processed_errors, None);
    assert_eq!(w.spec_content("pets").await.as_object().map(serde_json::Map::len), Some(length + 1));
    let plan = held(&outside.reader);
    for location in (1..=length).map(of_chain).chain(std::iter::once(SOURCE.to_owned())) {
        assert_eq!(plan.of_file.get(&location), Some(&2), "{location}");
    }
}

#[tokio::test]
async fn too_many_files_are_rejected_before_fetching() {
    let (w, outside) = rig().await;
    let mut entry = String::from("openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n");
    for n in 0..=5_000 {
        entry += &format!("  /{n}: {{$ref: 'paths/{n}.yaml'}}\n");
    }
    outside.web.put(SOURCE, "text/yaml", entry);
    failed(
        &w,
        SpecErrorCode::ParseError,
        "the specification must refer to at most 5000 files; combine some files",
    )
    .await;
    assert_eq!(outside.web.urls(), [SOURCE]);
}

#[tokio::test]
async fn processing_fails_after_repeated_crashes() {
    for source in [url(SOURCE), SpecSource::Text(titled("One"))] {
        let (w, outside) = rig().await;
        outside.web.put(SOURCE, "application/json", titled("One"));
        w.put_spec("pets", source.clone()).await;
        for death in 1..=4 {
            outside.gate.close_after(0);
            tokio::select! {
                _ = w.platform.settle() => panic!("it waits"),
                () = outside.gate.asked() => {}
            }
            let state = w.spec("pets").await.processing_state;
            assert_eq!(state, SpecProcessingState::Progress, "after {death}");
            // The lease of the crashed server expires.
            w.clock.advance(Duration::from_secs(60));
        }
        w.settled().await;
        let spec = w.spec("pets").await;
        assert_eq!((spec.processing_state, spec.last_version), (SpecProcessingState::Complete, None));
        let errors = spec.last_processed_errors.expect("errors");
        let told =
            "processing failed: the server was interrupted several times; send the specification again";
        assert_eq!(errors[0].message, told);
        w.put_spec("pets", source).await;
        w.settled().await;
        assert_eq!((w.spec("pets").await.last_processed_errors, w.spec_versions("pets").await), (None, 1));
        w.check().await;
    }
}

#[tokio::test]
async fn relative_refs_resolve_against_the_redirected_url() {
    let (w, web) = world().await;
    let entry = "openapi: 3.1.0\ninfo: {title: A, version: '1'}\npaths:\n  /a: {$ref: 'paths/a.yaml'}\n";
    web.put(SOURCE, "text/yaml", entry);
    web.redirect("https://api.example/paths/a.yaml", "https://cdn.example/v2/moved/a.yaml");
    let item = "get:\n  summary: Says\n  parameters: [{$ref: '../parts.json#/id'}]\n  responses: {}\n";
    web.put("https://cdn.example/v2/moved/a.yaml", "text/yaml", item);
    let part = json!({ "id": { "name": "id", "in": "query", "description": "Which one" } });
    web.put("https://cdn.example/v2/parts.json", "application/json", part.to_string());
    w.put_spec("pets", url(SOURCE)).await;
    w.settled().await;
    assert_eq!(w.spec("pets").await.last_processed_errors, None);
    let content = w.spec_content("pets").await;
    let names: Vec<&String> = content.as_object().expect("files").keys().collect();
    let [moved, part] = ["https://api.example/paths/a.yaml", "https://cdn.example/v2/parts.json"];
    assert_eq!(names, [SOURCE, moved, part]);
    assert_eq!(content[moved]["dir"], "https://cdn.example/v2/moved");
    assert_eq!(content[moved]["references"], json!([part]));
    assert_eq!(content[SOURCE]["references"], json!([moved]));
}
