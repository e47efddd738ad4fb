//! Processing of untrusted documents: rendering PDF files, converting documents and parsing specifications. It runs in
//! contained worker processes or in the server process.

#[cfg(feature = "worker")]
use std::{path::Path, sync::Arc};

use docs_core::platform::Builder;
#[cfg(feature = "worker")]
use docs_worker::{Program, Worker, WorkerOptions, WorkerPool};

#[cfg(feature = "worker")]
use crate::WorkerProgram;
use crate::{ServerConfig, ServerError};

/// The subcommand that runs a program as a worker.
#[cfg(feature = "worker")]
const WORKER_COMMAND: &str = "worker";

/// Adds the adapters for untrusted documents, which run in the process selected by `--worker`.
#[cfg(feature = "worker")]
pub(crate) fn add_worker_adapters(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    let fonts = config.fonts.as_deref();
    #[cfg(not(feature = "pdf"))]
    super::missing_feature::refuse(fonts.is_some(), "--fonts", "pdf")?;
    // Report invalid fonts at startup instead of at the first PDF file.
    #[cfg(feature = "pdf")]
    let typesetter = typesetter(fonts)?;
    let program = match &config.worker {
        WorkerProgram::InProcess => {
            #[cfg(feature = "pdf")]
            let builder = builder.pdf(Arc::new(typesetter));
            #[cfg(feature = "convert")]
            let builder = builder.converter(Arc::new(docs_convert::DocumentConverter));
            #[cfg(feature = "openapi")]
            let builder = builder.spec_reader(Arc::new(docs_openapi::OpenApiReader));
            return Ok(builder);
        }
        WorkerProgram::Current => Program::current().map_err(|why| ServerError::for_flag("--worker", why))?,
        WorkerProgram::At(path) => Program::from_path(path),
    };
    let program = match fonts {
        Some(fonts) => program.arg("--fonts").arg(absolute(fonts)?),
        None => program,
    };
    let pool = Arc::new(WorkerPool::new(program.arg(WORKER_COMMAND), WorkerOptions::default()));
    #[cfg(feature = "pdf")]
    let builder = builder.pdf(Arc::clone(&pool) as _);
    #[cfg(feature = "convert")]
    let builder = builder.converter(Arc::clone(&pool) as _);
    #[cfg(feature = "openapi")]
    let builder = builder.spec_reader(Arc::clone(&pool) as _);
    drop(pool);
    Ok(builder)
}

/// Without these features, no adapters are added, and `--fonts` is rejected.
#[cfg(not(feature = "worker"))]
pub(crate) fn add_worker_adapters(builder: Builder, config: &ServerConfig) -> Result<Builder, ServerError> {
    super::missing_feature::refuse(config.fonts.is_some(), "--fonts", "pdf")?;
    Ok(builder)
}

/// Builds the worker that the `worker` subcommand runs.
#[cfg(feature = "worker")]
pub(crate) fn worker(config: &ServerConfig) -> Worker {
    let worker = Worker::new();
    #[cfg(feature = "pdf")]
    let worker = {
        let fonts = config.fonts.clone();
        worker.pdf(move || Ok(Arc::new(typesetter(fonts.as_deref())?) as _))
    };
    #[cfg(not(feature = "pdf"))]
    let _ = config;
    #[cfg(feature = "convert")]
    let worker = worker.converter(|| Ok(Arc::new(docs_convert::DocumentConverter) as _));
    #[cfg(feature = "openapi")]
    let worker = worker.spec_reader(|| Ok(Arc::new(docs_openapi::OpenApiReader) as _));
    worker
}

/// Makes a path absolute, because workers run in another working directory.
#[cfg(feature = "worker")]
fn absolute(fonts: &Path) -> Result<std::path::PathBuf, ServerError> {
    std::path::absolute(fonts)
        .map_err(|why| ServerError::for_flag("--fonts", format_args!("{}: {why}", fonts.display())))
}

/// Returns a typesetter with the built-in fonts and those of a folder.
#[cfg(feature = "pdf")]
fn typesetter(fonts: Option<&Path>) -> Result<docs_pdf::Typesetter, ServerError> {
    use docs_pdf::{Fonts, Limits, Typesetter};
    let all = match fonts {
        None => Fonts::default(),
        Some(folder) => Fonts::default()
            .folder(folder)
            .map_err(|why| ServerError::for_flag("--fonts", format_args!("{}: {why}", folder.display())))?,
    };
    Ok(Typesetter::new(all, Limits::default()))
}
