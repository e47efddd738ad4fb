//! The side of the server: [`WorkerPool`].

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use docs_ports::{
    Book, ConvertError, ConvertedPage, Converter, Document, Pdf, PdfError, PdfSink, ReadSpec, SpecError,
    SpecFiles, SpecReader, UnpackedFile,
};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::{
    fault::Fault,
    options::{JobKind, WorkerOptions},
    process::{Process, Reply, Request},
    program::Program,
};

/// Parts of a file that wait to be taken.
const PARTS_WAITING: usize = 4;

/// Does jobs in processes of their own, one process for each. Cheap to clone; all clones share the limit of processes
/// at once.
///
/// A process ends with its job, when its job takes more than it may, when nobody waits for the answer any more, and
/// when the server ends. It has been waited for before the answer is given, so that none is left behind.
#[derive(Clone)]
pub struct WorkerPool(Arc<Shared>);

struct Shared {
    program: Program,
    options: WorkerOptions,
    places: Arc<Semaphore>,
}

impl fmt::Debug for WorkerPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerPool")
            .field("program", &self.0.program)
            .field("options", &self.0.options)
            .finish_non_exhaustive()
    }
}

impl WorkerPool {
    /// A pool of processes of a program. None is started before there is a job.
    #[must_use]
    pub fn new(program: Program, options: WorkerOptions) -> Self {
        let places = Arc::new(Semaphore::new(options.at_once.get().min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(Shared { program, options, places }))
    }

    /// Waits until no process runs and no job waits for one, which a host may want before it ends.
    ///
    /// # Cancel safety
    /// Nothing is left behind.
    pub async fn idle(&self) {
        let all = u32::try_from(self.0.options.at_once.get()).unwrap_or(u32::MAX);
        // It is never closed.
        drop(self.0.places.acquire_many(all).await);
    }

    async fn run(&self, kind: JobKind, request: Request) -> Result<Reply, Fault> {
        let stopped = || Fault::NotStarted("the runtime of the server has ended".to_owned());
        let place = Arc::clone(&self.0.places).acquire_owned().await.map_err(|_| stopped())?;
        let shared = Arc::clone(&self.0);
        let (mut done, answer) = oneshot::channel();
        // A task of its own, which outlives whoever waits: the process is waited for in any case, and its place is
        // free only then.
        tokio::spawn(async move {
            let limits = shared.options.limits(kind);
            let answer = match Process::start(&shared.program, kind) {
                Err(fault) => Err(fault),
                Ok(mut process) => {
                    let ended = tokio::select! {
                        ended = process.exchange(request, limits, shared.options.start) => ended,
                        () = done.closed() => Err(crate::process::Stop::Unwanted),
                    };
                    process.end(ended, &shared.program).await
                }
            };
            drop(place);
            // Nobody may wait any more.
            let _ = done.send(answer);
        });
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }

    async fn documents(&self, kind: JobKind, request: Request) -> Result<Reply, ConvertError> {
        let limits = self.0.options.limits(kind);
        self.run(kind, request).await.map_err(|fault| fault.into_convert_error(kind, limits))
    }
}

/// # Cancel safety
/// Dropping the future ends the process.
#[async_trait]
impl Pdf for WorkerPool {
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError> {
        let mut whole = Whole::default();
        self.render_into(book, &mut whole).await?;
        Ok(whole.0.freeze())
    }

    async fn render_into(&self, book: Arc<Book>, out: &mut dyn PdfSink) -> Result<(), PdfError> {
        let (file, mut parts) = mpsc::channel(PARTS_WAITING);
        let running = self.run(JobKind::Render, Request::Render(book, file));
        // A sink that fails takes no more parts, which ends the process.
        let taking = async move {
            while let Some(part) = parts.recv().await {
                out.write(part).await?;
            }
            Ok::<_, PdfError>(())
        };
        let (reply, taken) = tokio::join!(running, taking);
        taken?;
        match reply.map_err(|fault| fault.into_pdf_error(&self.0.options.render))? {
            Reply::Rendered => Ok(()),
            Reply::Page(_) | Reply::Files(_) | Reply::Spec(_) => {
                Err(PdfError::Failed("another answer".to_owned()))
            }
        }
    }
}

/// A file in memory.
#[derive(Default)]
struct Whole(BytesMut);

#[async_trait]
impl PdfSink for Whole {
    async fn write(&mut self, part: Bytes) -> Result<(), PdfError> {
        self.0.extend_from_slice(&part);
        Ok(())
    }
}

/// # Cancel safety
/// Dropping a future ends the process.
#[async_trait]
impl Converter for WorkerPool {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        match self.documents(JobKind::Convert, Request::Convert(document)).await? {
            Reply::Page(page) => Ok(page),
            Reply::Rendered | Reply::Files(_) | Reply::Spec(_) => {
                Err(ConvertError::Failed("another answer".to_owned()))
            }
        }
    }

    async fn unpack(&self, archive: Bytes) -> Result<Vec<UnpackedFile>, ConvertError> {
        match self.documents(JobKind::Unpack, Request::Unpack(archive)).await? {
            Reply::Files(files) => Ok(files),
            Reply::Rendered | Reply::Page(_) | Reply::Spec(_) => {
                Err(ConvertError::Failed("another answer".to_owned()))
            }
        }
    }
}

/// # Cancel safety
/// Dropping the future ends the process.
#[async_trait]
impl SpecReader for WorkerPool {
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError> {
        let limits = self.0.options.limits(JobKind::ReadSpec);
        let reply = self.run(JobKind::ReadSpec, Request::ReadSpec(files)).await;
        match reply.map_err(|fault| fault.into_spec_error(limits))? {
            Reply::Spec(spec) => Ok(*spec),
            Reply::Rendered | Reply::Page(_) | Reply::Files(_) => {
                Err(SpecError::Failed("another answer".to_owned()))
            }
        }
    }
}
