mod archives;
mod attributes;
mod bounds;
mod hostile;
mod pages;
mod readers;
mod words;

use bytes::Bytes;
use docs_ports::{ConvertError, ConvertedPage, Document, DocumentFormat};

use crate::convert;

pub(crate) fn document(format: DocumentFormat, bytes: impl Into<Bytes>) -> Document {
    Document { format, bytes: bytes.into(), name: "the name".to_owned(), url: None, charset: None }
}

fn html(text: &str) -> ConvertedPage {
    convert(&document(DocumentFormat::Html, text.to_owned())).expect(text)
}

fn at(url: &str, format: DocumentFormat, text: &str) -> ConvertedPage {
    let document = Document { url: Some(url.to_owned()), ..document(format, text.to_owned()) };
    convert(&document).expect(text)
}

/// Creates an archive with compressed files.
pub(crate) fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    use std::io::{Cursor, Write as _};
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        let options =
            zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        writer.start_file(*path, options).unwrap();
        writer.write_all(bytes).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

#[track_caller]
fn refused<T: std::fmt::Debug>(result: Result<T, ConvertError>) -> String {
    result.expect_err("it is refused").to_string()
}
