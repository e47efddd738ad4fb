//! Adapters whose behaviour is selected by the name of the job.

use std::{hint::black_box, io::Write as _, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_ports::{
    Book, ConvertError, ConvertedPage, Converter, Document, EmbeddedFile, FoundFile, Pdf, PdfError, ReadSpec,
    ReadSpecFile, SpecError, SpecFiles, SpecFormat, SpecOutline, SpecProblem, SpecReader, UnpackedArchive,
    UnpackedFile,
};

/// An adapter whose behaviour is selected by the title of a book, the name of a document, or the bytes of an archive.
pub(crate) struct Actor;

#[async_trait]
impl Pdf for Actor {
    async fn render(&self, book: Arc<Book>) -> Result<Bytes, PdfError> {
        match book.title.as_str() {
            "too large" => Err(PdfError::TooLarge("the actor finds it too large".to_owned())),
            "too slow" => Err(PdfError::TooSlow("the actor finds it too slow".to_owned())),
            "failed" => Err(PdfError::Failed("the actor failed".to_owned())),
            "debug" => Ok(format!("{book:?}").into()),
            "pictures" => {
                let bytes: usize =
                    book.images.values().filter_map(|image| image.bytes()).map(Bytes::len).sum();
                Ok(format!("{} pages, {} pictures, {bytes} bytes", book.pages.len(), book.images.len())
                    .into())
            }
            "limits" => Ok(read("/proc/self/limits")),
            "status" => Ok(read("/proc/self/status")),
            "environment" => Ok(std::env::vars().map(|(name, _)| name + "\n").collect::<String>().into()),
            "large answer" => Ok(vec![b'x'; 8 << 20].into()),
            other => act(other).map(|()| Bytes::from(format!("%PDF {other}"))),
        }
    }
}

#[async_trait]
impl Converter for Actor {
    async fn convert(&self, document: Document) -> Result<ConvertedPage, ConvertError> {
        match document.name.as_str() {
            "unreadable" => Err(ConvertError::Unreadable("the actor cannot read it".to_owned())),
            "files" => {
                let file = |name: &str| EmbeddedFile {
                    destination: format!("file:{name}"),
                    name: name.to_owned(),
                    bytes: document.bytes.clone(),
                };
                Ok(ConvertedPage {
                    title: format!("{:?}", document.format),
                    markdown: document.url.clone().unwrap_or_default(),
                    links: vec!["https://example.com/".to_owned()],
                    images: vec![FoundFile { url: "https://example.com/i".to_owned(), name: "i".to_owned() }],
                    files: vec![file("a"), file("b")],
                    warnings: vec!["no chart".to_owned()],
                })
            }
            other => act(other)
                .map(|()| ConvertedPage { title: other.to_owned(), ..ConvertedPage::default() })
                .map_err(|error| ConvertError::Failed(error.to_string())),
        }
    }

    async fn unpack(&self, archive: Bytes) -> Result<UnpackedArchive, ConvertError> {
        let names = String::from_utf8_lossy(&archive).into_owned();
        act(&names).map_err(|error| ConvertError::Failed(error.to_string()))?;
        let file = |name: &str| UnpackedFile { path: name.to_owned(), bytes: vec![b'x'; 1 << 20].into() };
        let files = names.split(' ').map(file).collect();
        Ok(UnpackedArchive { files, warnings: vec!["no link".to_owned()] })
    }
}

/// The behaviour is selected by the location of the entry file. Returns the input.
#[async_trait]
impl SpecReader for Actor {
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError> {
        if files.entry.location == "too large" {
            return Err(SpecError::TooLarge("the actor finds it too large".to_owned()));
        }
        act(&files.entry.location).map_err(|error| SpecError::Failed(error.to_string()))?;
        let file = |json| ReadSpecFile { format: SpecFormat::Yaml, json, references: vec!["b".to_owned()] };
        let problem = SpecProblem { message: "m".to_owned(), pointer: "/p".to_owned(), line: Some(3) };
        let told = std::iter::once(&files.entry).chain(&files.others);
        let at = |base: &Option<String>| base.iter().map(|base| format!(" at {base}")).collect::<String>();
        let told = told.map(|file| format!("{} {:?}{}", file.location, file.bytes, at(&file.base)));
        let told: Vec<String> = told.collect();
        Ok(ReadSpec {
            outline: SpecOutline { title: told.join(", "), ..SpecOutline::default() },
            problems: vec![problem],
            missing: vec!["gone".to_owned()],
            files: vec![file(None), file(Some(Bytes::from_static(b"{}")))],
        })
    }
}

fn read(path: &str) -> Bytes {
    std::fs::read(path).unwrap_or_default().into()
}

/// Performs the action with this name. Unknown names return immediately.
fn act(what: &str) -> Result<(), PdfError> {
    match what {
        "allocate" => {
            let mut all = Vec::new();
            loop {
                all.push(black_box(vec![1_u8; 1 << 20]));
            }
        }
        "spin" => loop {
            black_box(());
        },
        "sleep" => loop {
            std::thread::park();
        },
        "overflow" => {
            black_box(deeper(0));
            Ok(())
        }
        "abort" => std::process::abort(),
        "panic" => panic!("the actor panics"),
        "loud" => {
            let line = format!("{}\n", "noise ".repeat(1_000));
            for _ in 0..4_000 {
                std::io::stderr().write_all(line.as_bytes()).map_err(|e| PdfError::Failed(e.to_string()))?;
            }
            Ok(())
        }
        "write" => match std::fs::write(std::env::temp_dir().join("docs-worker-test"), "x") {
            Ok(()) => Ok(()),
            Err(error) => Err(PdfError::Failed(error.to_string())),
        },
        _ => Ok(()),
    }
}

#[expect(unconditional_recursion, reason = "it fills the stack")]
fn deeper(depth: u64) -> u64 {
    let kept = black_box([depth; 64]);
    deeper(depth + 1) + kept.iter().sum::<u64>()
}
