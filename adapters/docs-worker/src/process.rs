//! The server side of a worker process and its job.

use std::{io, pin::pin, process::ExitStatus, sync::Arc, time::Duration};

use bytes::Bytes;
use docs_ports::{
    Book, ConvertedPage, Document, PdfError, ReadSpec, SpecFiles, UnpackedArchive, UnpackedFile,
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::mpsc,
    task::JoinHandle,
    time::timeout,
};

use crate::{
    fault::Fault,
    frames::{FrameError, FrameReader, send_file, send_json},
    job::{ArchiveHeader, BookOutline, Bounds, DocumentOutline, Job, JobAnswer, PROTOCOL, Ready},
    options::{JobKind, WorkerLimits},
    program::Program,
    refusal::AdapterRefusal,
    spec::SpecLocations,
};

/// Maximum size in bytes of the frame that reports readiness.
const MAX_READY: u64 = 1_024;
/// Maximum number of bytes retained from the end of standard error.
const MAX_STDERR: usize = 8 * 1024;
/// Maximum wait for a process to exit after it closes its output, to obtain its exit status.
const LAST_BREATH: Duration = Duration::from_secs(2);
/// Maximum length of a refusal message in characters.
const MAX_REFUSAL: usize = 1_000;
/// Messages printed when memory is exhausted, by the standard library and others.
const NO_MEMORY: [&str; 2] = ["memory allocation of", "Cannot allocate memory"];

/// A job to send.
#[derive(Debug)]
pub(crate) enum Request {
    /// A book, and the channel for the PDF file.
    Render(Arc<Book>, mpsc::Sender<Bytes>),
    Convert(Document),
    Unpack(Bytes),
    ReadSpec(SpecFiles),
}

/// The answer to a job.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The PDF file was forwarded.
    Rendered,
    Page(ConvertedPage),
    Files(UnpackedArchive),
    Spec(Box<ReadSpec>),
}

/// The reason that an exchange ended without an answer.
#[derive(Debug)]
pub(crate) enum ExchangeStop {
    /// The process is not a worker, or was not ready in time.
    NotReady(String),
    /// The process closed its output before it was ready.
    EndedEarly,
    /// The process closed its output.
    Ended,
    /// The process sent a malformed answer.
    Malformed(String),
    /// The answer exceeds its size limit.
    TooLong,
    /// The wall-clock time limit was exceeded.
    Late,
    /// An image could not be loaded.
    Image(PdfError),
    /// The adapter returned an error.
    Refused(AdapterRefusal),
    /// The caller no longer waits for the answer.
    Unwanted,
}

impl From<FrameError> for ExchangeStop {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Ended => Self::Ended,
            FrameError::TooLong => Self::TooLong,
            FrameError::Malformed(what) => Self::Malformed(what),
            FrameError::Unwanted => Self::Unwanted,
        }
    }
}

/// A running worker process.
#[derive(Debug)]
pub(crate) struct Process {
    kind: JobKind,
    child: Child,
    /// Open until the end, because a process exits when its input closes.
    input: ChildStdin,
    output: ChildStdout,
    errors: JoinHandle<Vec<u8>>,
}

impl Process {
    /// Starts a process.
    ///
    /// # Errors
    /// [`Fault::NotStarted`].
    pub(crate) fn start(program: &Program, kind: JobKind) -> Result<Self, Fault> {
        let failed = |error: io::Error| {
            let path = program.path().display();
            tracing::error!(%path, %error, "failed to start worker process");
            Fault::NotStarted(format!("failed to start the worker process {path}: {error}"))
        };
        let mut child = program.command().spawn().map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(io::Error::other("its standard streams are missing")));
        };
        Ok(Self { kind, child, input, output, errors: tokio::spawn(drain_last(errors)) })
    }

    /// Sends the job and reads the answer.
    ///
    /// # Errors
    /// Every kind of [`ExchangeStop`].
    pub(crate) async fn exchange(
        &mut self,
        request: Request,
        limits: &WorkerLimits,
        start: Duration,
    ) -> Result<Reply, ExchangeStop> {
        let seconds = start.as_secs_f32();
        let late = |_| Err(ExchangeStop::NotReady(format!("it was not ready within {seconds} seconds")));
        timeout(start, self.greet(limits)).await.unwrap_or_else(late)?;
        timeout(limits.wall, self.exchange_job(request, limits)).await.unwrap_or(Err(ExchangeStop::Late))
    }

    /// Sends the limits to the process and waits for the confirmation.
    async fn greet(&mut self, limits: &WorkerLimits) -> Result<(), ExchangeStop> {
        let cpu = limits.cpu;
        let cpu_seconds = cpu.as_secs() + u64::from(cpu.subsec_nanos() > 0);
        let bounds = Bounds { protocol: PROTOCOL, memory: limits.memory, cpu_seconds: cpu_seconds.max(1) };
        // A process that does not read its input will not report readiness either.
        drop(send_json(&mut self.input, bounds).await);
        let ready: Result<Ready, FrameError> = FrameReader::new(&mut self.output, MAX_READY).json().await;
        match ready {
            Ok(Ready { protocol: PROTOCOL }) => Ok(()),
            Ok(Ready { protocol }) => {
                Err(ExchangeStop::NotReady(format!("its protocol version is {protocol}")))
            }
            Err(FrameError::Ended) => Err(ExchangeStop::EndedEarly),
            Err(FrameError::TooLong) => {
                Err(ExchangeStop::NotReady("its first message is malformed".to_owned()))
            }
            Err(FrameError::Malformed(what)) => Err(ExchangeStop::NotReady(what)),
            Err(FrameError::Unwanted) => Err(ExchangeStop::Unwanted),
        }
    }

    async fn exchange_job(&mut self, request: Request, limits: &WorkerLimits) -> Result<Reply, ExchangeStop> {
        let file = match &request {
            Request::Render(_, file) => Some(file.clone()),
            Request::Convert(_) | Request::Unpack(_) | Request::ReadSpec(_) => None,
        };
        let frames = FrameReader::new(&mut self.output, limits.answer);
        let mut read = pin!(read_reply(frames, self.kind, file));
        let written = tokio::select! {
            // A worker that answers early does not need the rest of the job.
            reply = &mut read => return reply,
            written = send_request(&mut self.input, request) => written,
        };
        match written {
            // A worker that stops reading has answered or exited. Its output shows which of the two.
            Ok(()) | Err(SendFailure::Pipe) => read.await,
            Err(SendFailure::Image(error)) => Err(ExchangeStop::Image(error)),
        }
    }

    /// Ends the process, waits for its exit, and returns the result of the job.
    ///
    /// # Errors
    /// Every kind of [`Fault`].
    pub(crate) async fn end(
        mut self,
        ended: Result<Reply, ExchangeStop>,
        program: &Program,
    ) -> Result<Reply, Fault> {
        let mut status = None;
        if matches!(ended, Err(ExchangeStop::Ended | ExchangeStop::EndedEarly)) {
            status = timeout(LAST_BREATH, self.child.wait()).await.ok().and_then(Result::ok);
        }
        if status.is_none() {
            // The process may have exited already.
            let _ = self.child.start_kill();
            if let Err(error) = self.child.wait().await {
                tracing::error!(%error, "failed to wait for worker process");
            }
        }
        // The process has exited, and no other process holds the write end of the pipe, so the output is complete.
        let errors = timeout(LAST_BREATH, &mut self.errors).await;
        self.errors.abort();
        let errors = errors.ok().and_then(Result::ok).unwrap_or_default();
        let errors = String::from_utf8_lossy(&errors);
        let stop = match ended {
            Ok(reply) => {
                tracing::debug!(kind = ?self.kind, %errors, "worker process responded");
                return Ok(reply);
            }
            Err(stop) => stop,
        };
        if let ExchangeStop::Malformed(what) = &stop {
            tracing::warn!(what, "worker process sent a malformed response");
        }
        let fault = fault_of(stop, status, &errors, program);
        match &fault {
            Fault::NotStarted(why) => tracing::error!(why, %errors, "worker process did not start"),
            Fault::Refused(_) | Fault::Unwanted => {
                tracing::debug!(kind = ?self.kind, ?fault, %errors, "worker process failed");
            }
            fault => {
                tracing::warn!(kind = ?self.kind, ?fault, ?status, %errors, "worker process failed");
            }
        }
        Err(fault)
    }
}

/// Determines the fault from the way the exchange ended and from the exit status. There is a status only if the process
/// exited by itself.
fn fault_of(stop: ExchangeStop, status: Option<ExitStatus>, errors: &str, program: &Program) -> Fault {
    let not_started = |why: &str| {
        let path = program.path().display();
        Fault::NotStarted(format!("the worker process {path} did not start: {why}"))
    };
    match stop {
        ExchangeStop::NotReady(why) => not_started(&why),
        ExchangeStop::EndedEarly => not_started("it exited early"),
        ExchangeStop::Ended if status.is_some_and(is_over_cpu) => Fault::Cpu,
        // Killed, but not by this server: the system has run out of memory.
        ExchangeStop::Ended if status.is_some_and(is_killed) => Fault::Memory,
        ExchangeStop::Ended if NO_MEMORY.iter().any(|said| errors.contains(said)) => Fault::Memory,
        ExchangeStop::Ended | ExchangeStop::Malformed(_) => Fault::Crashed,
        ExchangeStop::TooLong => Fault::Answer,
        ExchangeStop::Late => Fault::Wall,
        ExchangeStop::Image(error) => Fault::Image(error),
        ExchangeStop::Refused(mut refusal) => {
            refusal.text = refusal.text.chars().take(MAX_REFUSAL).collect();
            Fault::Refused(refusal)
        }
        ExchangeStop::Unwanted => Fault::Unwanted,
    }
}

#[cfg(unix)]
fn is_over_cpu(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::XCPU.as_raw())
}

#[cfg(unix)]
fn is_killed(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    status.signal() == Some(rustix::process::Signal::KILL.as_raw())
}

#[cfg(not(unix))]
fn is_over_cpu(_: ExitStatus) -> bool {
    false
}

#[cfg(not(unix))]
fn is_killed(_: ExitStatus) -> bool {
    false
}

/// The reason that a job could not be sent.
enum SendFailure {
    /// The process does not read its input.
    Pipe,
    /// An image could not be loaded.
    Image(PdfError),
}

impl From<io::Error> for SendFailure {
    fn from(_: io::Error) -> Self {
        Self::Pipe
    }
}

async fn send_request(input: &mut ChildStdin, request: Request) -> Result<(), SendFailure> {
    match request {
        Request::Render(book, _) => send_book(input, &book).await?,
        Request::Convert(document) => {
            send_json(input, Job::Convert(DocumentOutline::new(&document))).await?;
            send_file(input, Some(&document.bytes)).await?;
        }
        Request::Unpack(archive) => {
            send_json(input, Job::Unpack).await?;
            send_file(input, Some(&archive)).await?;
        }
        Request::ReadSpec(files) => {
            send_json(input, Job::ReadSpec(SpecLocations::new(&files))).await?;
            for file in std::iter::once(&files.entry).chain(&files.others) {
                send_file(input, Some(&file.bytes)).await?;
            }
        }
    }
    Ok(input.flush().await?)
}

/// Sends a book, one page or image at a time, so that at most one of them is in memory in serialized form.
async fn send_book(input: &mut ChildStdin, book: &Book) -> Result<(), SendFailure> {
    send_json(input, Job::Render(BookOutline::new(book))).await?;
    let documents = book.pages.iter().filter_map(|page| page.document.as_ref());
    for document in documents.chain(book.reusables.values()) {
        send_json(input, Arc::clone(document)).await?;
    }
    for image in book.images.values() {
        let image = image.load().await.map_err(SendFailure::Image)?;
        send_file(input, image.as_ref()).await?;
    }
    Ok(())
}

async fn read_reply(
    mut frames: FrameReader<&mut ChildStdout>,
    kind: JobKind,
    file: Option<mpsc::Sender<Bytes>>,
) -> Result<Reply, ExchangeStop> {
    Ok(match (frames.json().await?, kind, file) {
        (JobAnswer::Refused(refusal), ..) => return Err(ExchangeStop::Refused(refusal)),
        (JobAnswer::Rendered, JobKind::Render, Some(file)) => {
            frames.file_into(&file).await?;
            Reply::Rendered
        }
        (JobAnswer::Converted(page), JobKind::Convert, _) => {
            let mut files = Vec::new();
            for _ in &page.files {
                files.push(frames.file().await?);
            }
            Reply::Page(page.with_files(files))
        }
        (JobAnswer::Unpacked(ArchiveHeader { paths, warnings }), JobKind::Unpack, _) => {
            let mut files = Vec::new();
            for path in paths {
                files.push(UnpackedFile { path, bytes: frames.file().await? });
            }
            Reply::Files(UnpackedArchive { files, warnings })
        }
        (JobAnswer::SpecRead(reading), JobKind::ReadSpec, _) => {
            let mut json = Vec::new();
            for _ in reading.files.iter().filter(|file| file.has_json) {
                json.push(frames.file().await?);
            }
            Reply::Spec(Box::new(reading.with_json(json)))
        }
        _ => return Err(ExchangeStop::Malformed("the response belongs to another job".to_owned())),
    })
}

/// Drains standard error, so that the process never blocks on it, and returns the end of the output.
async fn drain_last(mut errors: ChildStderr) -> Vec<u8> {
    let mut kept = Vec::new();
    loop {
        match errors.read_buf(&mut kept).await {
            Ok(0) | Err(_) => break,
            Ok(_) if kept.len() > 2 * MAX_STDERR => {
                kept.drain(..kept.len() - MAX_STDERR);
            }
            Ok(_) => {}
        }
    }
    kept.drain(..kept.len().saturating_sub(MAX_STDERR));
    kept
}
