//! The server side: [`WorkerPool`].

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use docs_ports::{
    Book, ConvertError, ConvertedPage, Converter, Document, Pdf, PdfError, PdfSink, ReadSpec, SpecError,
    SpecFiles, SpecReader, UnpackedArchive,
};
use tokio::sync::{Semaphore, mpsc, oneshot};

use crate::{
    fault::Fault,
    options::{JobKind, WorkerOptions},
    process::{Process, Reply, Request},
    program::Program,
};

/// Maximum number of buffered file chunks.
const PARTS_WAITING: usize = 4;

/// Runs each job in a separate process. Clones are cheap and share the limit on concurrent processes.
///
/// The process ends with the job, when the job exceeds a limit, when the caller drops the future, and when the server
/// ends. The pool returns the answer only after the process has exited, so no process is left behind.
#[derive(Clone)]
pub struct WorkerPool(Arc<PoolState>);

struct PoolState {
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
    /// Creates a pool that runs this program. Processes are started on demand.
    #[must_use]
    pub fn new(program: Program, options: WorkerOptions) -> Self {
        let places = Arc::new(Semaphore::new(options.at_once.get().min(Semaphore::MAX_PERMITS)));
        Self(Arc::new(PoolState { program, options, places }))
    }

    /// Waits until no process is running and no job is waiting, for example before shutdown.
    ///
    /// # Cancel safety
    /// This method is cancel safe.
    pub async fn wait_until_idle(&self) {
        let all = u32::try_from(self.0.options.at_once.get()).unwrap_or(u32::MAX);
        // The semaphore is never closed.
        drop(self.0.places.acquire_many(all).await);
    }

    async fn run(&self, kind: JobKind, request: Request) -> Result<Reply, Fault> {
        let stopped = || Fault::NotStarted("the runtime of the server has shut down".to_owned());
        let place = Arc::clone(&self.0.places).acquire_owned().await.map_err(|_| stopped())?;
        let shared = Arc::clone(&self.0);
        let (mut done, answer) = oneshot::channel();
        // A separate task outlives the caller: it always waits for the process, and only then releases the permit.
        tokio::spawn(async move {
            let limits = shared.options.limits(kind);
            let answer = match Process::start(&shared.program, kind) {
                Err(fault) => Err(fault),
                Ok(mut process) => {
                    let ended = tokio::select! {
                        ended = process.exchange(request, limits, shared.options.start) => ended,
                        () = done.closed() => Err(crate::process::ExchangeStop::Unwanted),
                    };
                    process.end(ended, &shared.program).await
                }
            };
            drop(place);
            // Sending fails if the caller no longer waits.
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
        let mut whole = PdfBytes::default();
        self.render_into(book, &mut whole).await?;
        Ok(whole.0.freeze())
    }

    async fn render_into(&self, book: Arc<Book>, out: &mut dyn PdfSink) -> Result<(), PdfError> {
        let (file, mut parts) = mpsc::channel(PARTS_WAITING);
        let running = self.run(JobKind::Render, Request::Render(book, file));
        // If the sink fails, the receiver is dropped, which ends the process.
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
                Err(PdfError::Failed("the response belongs to another job".to_owned()))
            }
        }
    }
}

/// Collects a PDF file in memory.
#[derive(Default)]
struct PdfBytes(BytesMut);

#[async_trait]
impl PdfSink for PdfBytes {
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

    async fn unpack(&self, archive: Bytes) -> Result<UnpackedArchive, ConvertError> {
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
