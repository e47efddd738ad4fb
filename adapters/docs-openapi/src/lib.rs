//! Reader for OpenAPI specifications: Swagger 2.0, OpenAPI 3.0 and 3.1, in JSON and YAML.
//!
//! [`OpenApiReader`] implements the port [`SpecReader`]. A specification is parsed into a tree that preserves field
//! order. The parts that pages and clients rely on are validated; each problem has a JSON pointer, and a line number if
//! it can be determined. Formats, extensions and examples are not validated.
//!
//! Specifications are untrusted: bytes, nesting, nodes and YAML aliases are limited, no reference is followed more than
//! once, and nothing is fetched. The result lists the files that a specification references, for the caller to fetch.

mod findings;
mod line_numbers;
mod node;
mod outline;
mod overview;
mod parsed_file;
mod references;
mod short_text;
mod text;
mod validation;

use std::sync::Arc;

use async_trait::async_trait;
use docs_ports::{
    MAX_SPEC_BYTES, ReadSpec, ReadSpecFile, SpecError, SpecFiles, SpecFormat, SpecOutline, SpecReader,
};

use crate::{
    findings::Findings,
    parsed_file::ParsedFile,
    references::{SpecFileMap, referred_files},
    text::parse,
};

/// Reads specifications in the current process.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenApiReader;

#[async_trait]
impl SpecReader for OpenApiReader {
    async fn read(&self, files: SpecFiles) -> Result<ReadSpec, SpecError> {
        tokio::task::spawn_blocking(move || read(&files)).await.unwrap_or_else(|error| {
            // The task does not panic, but a runtime that shuts down cancels it.
            tracing::error!(%error, "failed to read specification");
            Err(SpecError::Failed(error.to_string()))
        })
    }
}

/// Stack size of the reader thread. Nesting is limited, but at the limit an unoptimised build needs several megabytes,
/// more than the thread of the caller may have.
const STACK: usize = 32 << 20;

/// Reads a specification from the available files, on a separate thread.
///
/// # Errors
/// [`SpecError`]. Problems of a document that can be parsed are part of the result.
pub fn read(files: &SpecFiles) -> Result<ReadSpec, SpecError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("openapi".to_owned()).stack_size(STACK);
        let reading = thread.spawn_scoped(scope, || read_here(files));
        let reading = reading.map_err(|error| SpecError::Failed(error.to_string()))?;
        reading
            .join()
            .unwrap_or_else(|_| Err(SpecError::Failed("the specification reader panicked".to_owned())))
    })
}

fn read_here(files: &SpecFiles) -> Result<ReadSpec, SpecError> {
    let all = || std::iter::once(&files.entry).chain(&files.others);
    let size: usize = all().map(|file| file.bytes.len()).sum();
    if size > MAX_SPEC_BYTES {
        return Err(SpecError::TooLarge(format!(
            "the files of a specification must be at most {MAX_SPEC_BYTES} bytes together, have {size}"
        )));
    }
    let mut findings = Findings::new(&files.entry);
    let mut parsed: Vec<ParsedFile<'_>> = Vec::with_capacity(files.others.len() + 1);
    for file in all() {
        match parse(&file.bytes) {
            Ok((format, root)) => parsed.push(ParsedFile { file, format, root: Arc::new(root) }),
            Err(problem) => {
                findings.report_unreadable(file, problem);
                return Ok(unparsed_spec(findings));
            }
        }
    }
    let at_hand = SpecFileMap::new(&parsed);
    let mut told: Vec<ReadSpecFile> = Vec::with_capacity(parsed.len());
    let mut missing: Vec<String> = Vec::new();
    for file in &parsed {
        let referred = referred_files(file, &mut findings);
        missing.extend(referred.iter().filter(|url| !at_hand.has(url)).cloned());
        let json = match file.format {
            SpecFormat::Json => None,
            SpecFormat::Yaml => {
                Some(file.root.to_json().map_err(|error| SpecError::Failed(error.to_string()))?)
            }
        };
        told.push(ReadSpecFile { format: file.format, json, references: referred });
    }
    missing.sort();
    missing.dedup();
    let Some(entry) = parsed.first() else { return Ok(unparsed_spec(findings)) };
    let Some(version) = validation::check(entry, &at_hand, &mut findings) else {
        return Ok(unparsed_spec(findings));
    };
    let outline = outline::outline(entry, &at_hand, version);
    Ok(ReadSpec { outline, problems: findings.into_problems(), missing, files: told })
}

/// Returns the result for a specification that cannot be parsed at all.
fn unparsed_spec(findings: Findings<'_>) -> ReadSpec {
    let (problems, outline) = (findings.into_problems(), SpecOutline::default());
    ReadSpec { outline, problems, missing: Vec::new(), files: Vec::new() }
}
