//! Workers that succeed or fail, as seen by the server.

mod hostile;
mod impostors;
mod lives;
mod right;

use std::{collections::BTreeMap, num::NonZeroUsize, sync::Arc, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::ContentRef;
use docs_ports::{Book, BookImage, Document, DocumentFormat, ImageSource, Pdf as _, PdfError};
use docs_worker::{Program, WorkerLimits, WorkerOptions, WorkerPool};
use tokio::sync::{Mutex, MutexGuard};

/// The worker program of all tests.
const PROGRAM: &str = env!("CARGO_BIN_EXE_docs-worker-test-program");

/// Serializes the tests, because each of them inspects the child processes of this process.
static ALONE: Mutex<()> = Mutex::const_new(());

async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

/// Limits that no valid job comes close to.
const WIDE: WorkerLimits = WorkerLimits {
    memory: 512 << 20,
    cpu: Duration::from_secs(60),
    wall: Duration::from_secs(120),
    answer: 4 << 20,
};

fn options(limits: WorkerLimits) -> WorkerOptions {
    WorkerOptions {
        at_once: NonZeroUsize::new(2).expect("two"),
        start: Duration::from_secs(60),
        render: limits,
        convert: limits,
        unpack: limits,
        read_spec: limits,
    }
}

/// Creates a pool that runs an impostor.
fn playing(part: &str, limits: WorkerLimits) -> WorkerPool {
    WorkerPool::new(Program::from_path(PROGRAM).arg(part), options(limits))
}

fn pool(limits: WorkerLimits) -> WorkerPool {
    playing("worker", limits)
}

/// Returns a book whose title selects the action.
fn book(title: &str) -> Book {
    Book { title: title.to_owned(), ..Book::default() }
}

fn picture(number: usize) -> ContentRef {
    ContentRef::Url { url: format!("https://example.com/{number}") }
}

/// Returns a book with one image that is loaded on demand.
fn book_with(title: &str, image: impl ImageSource) -> Book {
    let images = BTreeMap::from([(picture(0), BookImage::Stored(Arc::new(image)))]);
    Book { images, ..book(title) }
}

async fn render(pool: &WorkerPool, book: Book) -> Result<String, PdfError> {
    let file = pool.render(Arc::new(book)).await?;
    Ok(String::from_utf8(file.to_vec()).expect("text"))
}

/// Returns a document whose name selects the action.
fn document(name: &str) -> Document {
    Document {
        format: DocumentFormat::Html,
        bytes: Bytes::from_static(b"bytes"),
        name: name.to_owned(),
        url: None,
        charset: None,
    }
}

/// Returns the child processes of a process, including zombies.
fn children_of(parent: u32) -> Vec<i32> {
    let processes = std::fs::read_dir("/proc").expect("processes").filter_map(Result::ok);
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let is_child = |pid: &i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after_name = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
        after_name.split(' ').nth(1).and_then(|parent| parent.parse().ok()) == Some(parent)
    };
    pids.filter(is_child).collect()
}

fn children() -> Vec<i32> {
    children_of(std::process::id())
}

/// Checks that a job left no process behind, and that the next job succeeds.
async fn all_is_well(pool: &WorkerPool) {
    assert_eq!(children(), Vec::<i32>::new(), "a process is left behind");
    assert_eq!(render(pool, book("next")).await.expect("the next job works"), "%PDF next");
    assert_eq!(children(), Vec::<i32>::new(), "a process is left behind");
}

/// An image that loads only when a test permits it.
struct Gate {
    asked: Arc<tokio::sync::Semaphore>,
    open: Arc<tokio::sync::Semaphore>,
}

#[async_trait]
impl ImageSource for Gate {
    async fn load(&self) -> Result<Option<Bytes>, PdfError> {
        self.asked.add_permits(1);
        self.open.acquire().await.expect("open").forget();
        Ok(Some(Bytes::from_static(b"picture")))
    }
}
