//! Worker processes of the server, which process untrusted documents.

use std::sync::Arc;

use bytes::Bytes;
use docs_core::{
    model::{Block, BlockKind, Document as PageDocument, Leaf, Node, TextNode},
    ports::{Book, BookPage, ConvertError, Converter as _, Document, DocumentFormat, Pdf as _},
};
use docs_pdf::Typesetter;
use docs_worker::{Program, WorkerOptions, WorkerPool};

fn pool() -> WorkerPool {
    WorkerPool::new(
        Program::from_path(env!("CARGO_BIN_EXE_docs-server")).arg("worker"),
        WorkerOptions::default(),
    )
}

fn book() -> Book {
    let leaf = Leaf::new("Some words.", Vec::new());
    let paragraph =
        Block::new(BlockKind::Paragraph { align: None }, vec![Node::Text(TextNode::new(vec![leaf]))]);
    let page = BookPage {
        id: "start".parse().expect("an id"),
        title: "Start".to_owned(),
        description: None,
        depth: 0,
        document: Some(Arc::new(PageDocument::new(vec![paragraph]))),
    };
    Book { title: "Guide".to_owned(), pages: vec![page], ..Book::default() }
}

#[tokio::test]
async fn worker_pdf_is_byte_identical_to_in_process_pdf() {
    let book = Arc::new(book());
    let here = Typesetter::default().render(Arc::clone(&book)).await.expect("a file");
    let there = pool().render(book).await.expect("a file");
    assert!(here == there, "{} bytes and {} bytes", here.len(), there.len());
}

#[tokio::test]
async fn a_document_is_converted_in_another_process() {
    let many: String = (0..7_500).map(|number| format!(" a{number}=\"v\"")).collect();
    let document = Document {
        format: DocumentFormat::Html,
        bytes: format!("<h1>Title</h1><p{many}>Text</p>").into(),
        name: "name".to_owned(),
        url: None,
        charset: None,
    };
    let page = pool().convert(document).await.expect("a page");
    assert_eq!((page.title.as_str(), page.markdown.as_str()), ("Title", "Text\n"));
    let error = pool().unpack(Bytes::from_static(b"no archive")).await.expect_err("it is none");
    assert!(matches!(&error, ConvertError::Unreadable(why) if why.contains("zip archive")), "{error}");
}
