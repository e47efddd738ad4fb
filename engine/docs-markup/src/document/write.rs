//! Conversion of documents to Markdown, checked by parsing the result.

use docs_model::Document;

use super::{
    invalid::Invalid,
    normalize,
    print::{self, VerbatimMode},
    source::parse,
    spelling::is_verbatim,
};

/// Prints a document as Markdown that parses to the document.
///
/// # Errors
///
/// [`Invalid`] with the first block that is in an invalid position or whose data cannot be represented.
pub fn print(document: &Document) -> Result<String, Invalid> {
    let has_kept = document.nodes.iter().any(is_verbatim);
    if has_kept
        && let Ok(written) = print::document(&document.nodes, VerbatimMode::Unchanged)
        && verify(&written, document).is_ok()
    {
        return Ok(written);
    }
    let written = print::document(&document.nodes, VerbatimMode::Checked)?;
    verify(&written, document)?;
    Ok(written)
}

/// Checks that a document can be printed.
///
/// # Errors
///
/// The errors of [`print()`].
pub fn check(document: &Document) -> Result<(), Invalid> {
    print(document).map(|_| ())
}

/// Checks that the printed text parses to the document.
fn verify(written: &str, document: &Document) -> Result<(), Invalid> {
    let read = parse(written).nodes;
    let (read, own) = (normalize::non_empty_blocks(&read), normalize::non_empty_blocks(&document.nodes));
    let same = own.iter().zip(&read).take_while(|(own, read)| normalize::is_same(own, read)).count();
    if same == own.len() && same == read.len() {
        return Ok(());
    }
    let first = same;
    Err(Invalid { place: format!("nodes[{first}]"), message: "cannot be represented as Markdown".to_owned() })
}
