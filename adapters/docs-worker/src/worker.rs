//! The process side: [`Worker`].

use std::{
    error::Error,
    fmt,
    io::{self, Read, Write as _},
    process::ExitCode,
    sync::Arc,
};

use bytes::Bytes;
use docs_ports::{Book, BookImage, Converter, Document, Pdf, SpecFiles, SpecReader};
use tokio::runtime::{Builder, Runtime};

use crate::{
    contain::contain,
    frames::{answer_file, answer_json, receive_file, receive_json},
    job::{ArchiveHeader, Bounds, Job, JobAnswer, PROTOCOL, PageHeader, Ready},
    refusal::AdapterRefusal,
    spec::SpecReading,
};

/// Stack sizes of the runtime's threads, and of the thread that watches for the end of the server.
const STACK: usize = 8 << 20;
const WATCH_STACK: usize = 64 << 10;
/// Exit code of a process whose server has ended.
const ORPHANED_EXIT_CODE: i32 = 3;

/// Creates an adapter on demand.
type Make<T> = Box<dyn FnOnce() -> Result<Arc<T>, Box<dyn Error + Send + Sync>> + Send>;

/// A process that performs one job for a [`WorkerPool`](crate::WorkerPool) and then exits.
///
/// A program runs it in an internal command before anything else, such as starting a runtime, opening a store or
/// reading the server's secrets. Standard input and output are reserved for the pool, so nothing else may print to
/// standard output.
#[derive(Default)]
pub struct Worker {
    pdf: Option<Make<dyn Pdf>>,
    converter: Option<Make<dyn Converter>>,
    spec_reader: Option<Make<dyn SpecReader>>,
}

impl fmt::Debug for Worker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker")
            .field("pdf", &self.pdf.is_some())
            .field("converter", &self.converter.is_some())
            .field("spec_reader", &self.spec_reader.is_some())
            .finish()
    }
}

/// A job with its documents and files.
enum ReceivedJob {
    Render(Box<Book>),
    Convert(Document),
    Unpack(Bytes),
    ReadSpec(SpecFiles),
}

impl Worker {
    /// Creates a worker without adapters.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the adapter that renders PDF files. It is created on demand, when the limits are already in effect.
    #[must_use]
    pub fn pdf(
        mut self,
        make: impl FnOnce() -> Result<Arc<dyn Pdf>, Box<dyn Error + Send + Sync>> + Send + 'static,
    ) -> Self {
        self.pdf = Some(Box::new(make));
        self
    }

    /// Sets the adapter that parses OpenAPI specifications. It is created on demand, when the limits are already in
    /// effect.
    #[must_use]
    pub fn spec_reader(
        mut self,
        make: impl FnOnce() -> Result<Arc<dyn SpecReader>, Box<dyn Error + Send + Sync>> + Send + 'static,
    ) -> Self {
        self.spec_reader = Some(Box::new(make));
        self
    }

    /// Sets the adapter that converts documents and unpacks archives. It is created on demand, when the limits are
    /// already in effect.
    #[must_use]
    pub fn converter(
        mut self,
        make: impl FnOnce() -> Result<Arc<dyn Converter>, Box<dyn Error + Send + Sync>> + Send + 'static,
    ) -> Self {
        self.converter = Some(Box::new(make));
        self
    }

    /// Reads a job from standard input, and writes the answer to standard output.
    ///
    /// The limits are received first. They are set before the job is read, and remain in effect until the process
    /// exits. The process exits immediately when standard input closes, for example because the server ends.
    ///
    /// This method starts a runtime, so it must not be called from within one.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match self.serve_jobs() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("the worker received no job: {error}");
                ExitCode::FAILURE
            }
        }
    }

    fn serve_jobs(self) -> io::Result<()> {
        let mut input = io::stdin().lock();
        let bounds: Bounds = receive_json(&mut input)?;
        if bounds.protocol != PROTOCOL {
            return Err(io::Error::other(format!(
                "the protocol version of the server is {}",
                bounds.protocol
            )));
        }
        contain(bounds)?;
        let mut output = io::stdout();
        answer_json(&mut output, &Ready { protocol: PROTOCOL })?;
        output.flush()?;
        let job = receive(&mut input)?;
        // From here on, the watcher thread reads standard input.
        drop(input);
        end_with_the_server()?;
        let runtime = Builder::new_current_thread().enable_time().thread_stack_size(STACK).build()?;
        match self.execute(job, &runtime) {
            Err(refusal) => answer_json(&mut output, &JobAnswer::Refused(refusal))?,
            Ok((answer, files)) => {
                answer_json(&mut output, &answer)?;
                for file in files {
                    answer_file(&mut output, &file)?;
                }
            }
        }
        output.flush()
    }

    fn execute(self, job: ReceivedJob, runtime: &Runtime) -> Result<(JobAnswer, Vec<Bytes>), AdapterRefusal> {
        match job {
            ReceivedJob::Render(book) => {
                let pdf = make_adapter(self.pdf, "does not render PDF files")?;
                let file = runtime.block_on(pdf.render(Arc::from(book)))?;
                Ok((JobAnswer::Rendered, vec![file]))
            }
            ReceivedJob::Convert(document) => {
                let converter = make_adapter(self.converter, "does not convert documents")?;
                let (page, files) = PageHeader::split(runtime.block_on(converter.convert(document))?);
                Ok((JobAnswer::Converted(page), files))
            }
            ReceivedJob::Unpack(archive) => {
                let converter = make_adapter(self.converter, "does not unpack archives")?;
                let archive = runtime.block_on(converter.unpack(archive))?;
                let (paths, files) = archive.files.into_iter().map(|file| (file.path, file.bytes)).unzip();
                Ok((JobAnswer::Unpacked(ArchiveHeader { paths, warnings: archive.warnings }), files))
            }
            ReceivedJob::ReadSpec(files) => {
                let reader = make_adapter(self.spec_reader, "does not read specifications")?;
                let (reading, json) = SpecReading::from_spec(runtime.block_on(reader.read(files))?);
                Ok((JobAnswer::SpecRead(Box::new(reading)), json))
            }
        }
    }
}

fn make_adapter<T: ?Sized>(make: Option<Make<T>>, lacks: &str) -> Result<Arc<T>, AdapterRefusal> {
    let make = make.ok_or_else(|| AdapterRefusal::failed(format!("this worker {lacks}")))?;
    make().map_err(AdapterRefusal::failed)
}

/// Receives a job with its documents and files.
fn receive(input: &mut impl Read) -> io::Result<ReceivedJob> {
    let missing = || io::Error::new(io::ErrorKind::InvalidData, "the file of the job is missing");
    Ok(match receive_json(input)? {
        Job::Convert(outline) => {
            ReceivedJob::Convert(outline.into_document(receive_file(input)?.ok_or_else(missing)?))
        }
        Job::Unpack => ReceivedJob::Unpack(receive_file(input)?.ok_or_else(missing)?),
        Job::ReadSpec(locations) => {
            ReceivedJob::ReadSpec(locations.into_files(|| receive_file(input)?.ok_or_else(missing))?)
        }
        Job::Render(mut outline) => {
            let images = std::mem::take(&mut outline.images);
            let mut book = outline.into_book(|| receive_json(input))?;
            for name in images {
                if let Some(image) = receive_file(input)? {
                    book.images.insert(name, BookImage::Loaded(image));
                }
            }
            ReceivedJob::Render(Box::new(book))
        }
    })
}

/// Exits this process when the server closes standard input, which happens at the latest when the server ends.
///
/// The Linux parent-death signal is unsuitable: it is sent when the thread that started the process ends, which may
/// happen at any time in a runtime.
fn end_with_the_server() -> io::Result<()> {
    let watch = || {
        // The server sends nothing more. Whatever the read returns, the process is no longer needed.
        let _ = io::stdin().lock().read(&mut [0]);
        std::process::exit(ORPHANED_EXIT_CODE);
    };
    std::thread::Builder::new().name("watch".to_owned()).stack_size(WATCH_STACK).spawn(watch)?;
    Ok(())
}
