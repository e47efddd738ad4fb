//! The worker program of the tests, whose behaviour is selected by the name of the job, and several impostors.

mod adapters;
mod impostor;

use std::{io::Write as _, process::ExitCode, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_model::ContentRef;
use docs_ports::{Book, BookImage, ImageSource, Pdf as _, PdfError};
use docs_worker::{Program, Worker, WorkerOptions, WorkerPool};

use crate::adapters::Actor;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("worker") => Worker::new()
            .pdf(|| Ok(Arc::new(Actor)))
            .converter(|| Ok(Arc::new(Actor)))
            .spec_reader(|| Ok(Arc::new(Actor)))
            .run(),
        Some("unable") => Worker::new().pdf(|| Err("there are no fonts".into())).run(),
        Some("server") => server(),
        Some(other) => impostor::run(other),
        None => ExitCode::FAILURE,
    }
}

/// Runs a server that starts an endless job, reports it, and waits for it.
fn server() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let program = Program::current().expect("this program").arg("worker");
    let pool = WorkerPool::new(program, WorkerOptions::default());
    let name = ContentRef::Url { url: "https://example.com/picture".to_owned() };
    let images = [(name, BookImage::Stored(Arc::new(Announced)))].into();
    let book = Book { title: "sleep".to_owned(), images, ..Book::default() };
    match runtime.block_on(pool.render(Arc::new(book))) {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// An image that prints a line when the worker loads it.
struct Announced;

#[async_trait]
impl ImageSource for Announced {
    async fn load(&self) -> Result<Option<Bytes>, PdfError> {
        let mut output = std::io::stdout();
        let told = writeln!(output, "begun").and_then(|()| output.flush());
        told.map_err(|error| PdfError::Failed(error.to_string()))?;
        Ok(Some(Bytes::from_static(b"picture")))
    }
}
