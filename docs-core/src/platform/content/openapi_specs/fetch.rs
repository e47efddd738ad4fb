//! Fetches the document of a specification and the files it references.

use bytes::Bytes;
use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::join_all;

use super::process::Failure;
use crate::{
    Error, ErrorKind, Result,
    model::SpecErrorCode,
    platform::{jobs::catch_panic, kernel::platform::Platform},
    ports::{MAX_SPEC_BYTES, ReadSpec, SpecError, SpecFile, SpecFiles, WebError, WebResponse},
    store::records::{OpenApiSpecRecord, StoredSpecSource},
};

/// Maximum number of files that a specification references directly or indirectly.
pub(in crate::platform) const MAX_FILES: usize = 5_000;
/// Maximum depth of references between fetched files.
const MAX_FILE_DEPTH: usize = 16;
/// Maximum number of concurrent fetches.
const MAX_CONCURRENT_FETCHES: usize = 4;
/// The time limit for fetching one specification with all its files.
pub(in crate::platform) const FETCH_WINDOW: TimeDelta = TimeDelta::seconds(120);

/// The result of a fetch or read, or a failure to report on the specification.
type FetchResult<T> = Result<std::result::Result<T, Failure>>;

impl Platform {
    /// Returns the files of a specification and the result of reading them.
    pub(super) async fn gather_spec(&self, spec: &OpenApiSpecRecord) -> FetchResult<(SpecFiles, ReadSpec)> {
        let until = self.clock().now() + FETCH_WINDOW;
        let entry = match &spec.source {
            StoredSpecSource::Text(stored) => {
                let bytes = self.spec_bytes(&spec.id, stored).await?;
                SpecFile { bytes, ..SpecFile::default() }
            }
            StoredSpecSource::Url(url) => match self.fetch_file(url.as_str(), until).await? {
                Ok(found) => SpecFile { location: found.url, base: None, bytes: found.bytes },
                Err(failure) => return Ok(Err(failure)),
            },
        };
        let mut files = SpecFiles { entry, others: Vec::new() };
        let mut read = match self.read_spec(spec, files.clone()).await? {
            Ok(read) if read.missing.is_empty() => return Ok(Ok((files, read))),
            Ok(read) => read,
            Err(failure) => return Ok(Err(failure)),
        };
        // Each level reads only the files that it adds, and the last reading all of them. Each file is therefore read
        // twice, whatever the number of levels.
        for _ in 0..MAX_FILE_DEPTH {
            let new = match self.fetch_files(&files, &read.missing, until).await? {
                Ok(new) => new,
                Err(failure) => return Ok(Err(failure)),
            };
            read = match self.read_spec(spec, SpecFiles { entry: placeholder(), others: new.clone() }).await?
            {
                Ok(read) => read,
                Err(failure) => return Ok(Err(failure)),
            };
            files.others.extend(new);
            files.others.sort_by(|one, other| one.location.cmp(&other.location));
            read.missing.retain(|url| !has_file(&files, url));
            if read.missing.is_empty() {
                return Ok(self.read_spec(spec, files.clone()).await?.map(|read| (files, read)));
            }
        }
        parse_error(format!(
            "the references between files must be at most {MAX_FILE_DEPTH} levels deep; \
                             combine some files"
        ))
    }

    /// Reads files. A specification with problems is a failure.
    async fn read_spec(&self, spec: &OpenApiSpecRecord, files: SpecFiles) -> FetchResult<ReadSpec> {
        let reader = self.spec_reader()?;
        let _turn = self.worker_turn(&spec.organization).await?;
        match catch_panic(async { Ok(reader.read(files).await) }).await {
            Ok(Ok(read)) if read.problems.is_empty() => Ok(Ok(read)),
            Ok(Ok(read)) => Ok(Err(Failure::parse(read.problems))),
            Ok(Err(SpecError::TooLarge(why))) => parse_error(why),
            Ok(Err(error)) => reader_error(spec, &error),
            Err(error) => reader_error(spec, &error),
        }
    }

    /// Fetches the files that `files` lack, a few at a time.
    async fn fetch_files(
        &self,
        files: &SpecFiles,
        missing: &[String],
        until: DateTime<Utc>,
    ) -> FetchResult<Vec<SpecFile>> {
        if files.others.len() + missing.len() > MAX_FILES {
            return parse_error(format!(
                "the specification must refer to at most {MAX_FILES} files; combine \
                                        some files"
            ));
        }
        let size = |bytes: &SpecFile| bytes.bytes.len();
        let mut bytes = size(&files.entry) + files.others.iter().map(size).sum::<usize>();
        let mut new = Vec::with_capacity(missing.len());
        for urls in missing.chunks(MAX_CONCURRENT_FETCHES) {
            let fetched = join_all(urls.iter().map(|url| self.fetch_file(url, until))).await;
            for (url, found) in urls.iter().zip(fetched) {
                let found = match found? {
                    Ok(found) => found,
                    Err(failure) => return Ok(Err(failure)),
                };
                bytes += found.bytes.len();
                if bytes > MAX_SPEC_BYTES {
                    return parse_error(format!(
                        "the files of the specification must be at most {MAX_SPEC_BYTES} bytes together; \
                         remove unused parts"
                    ));
                }
                // Other files reference this file by the requested URL. Relative references in it are resolved against
                // its final URL.
                let base = (found.url != *url).then_some(found.url);
                new.push(SpecFile { location: url.clone(), base, bytes: found.bytes });
            }
        }
        Ok(Ok(new))
    }

    /// Fetches a file. Fails when the time limit is reached.
    async fn fetch_file(&self, url: &str, until: DateTime<Utc>) -> FetchResult<WebResponse> {
        let missing = || Error::new(ErrorKind::Precondition, "this server does not fetch files");
        let web = self.ports().web.as_ref().ok_or_else(missing)?;
        let late = || WebError::TimedOut(FETCH_WINDOW.to_std().unwrap_or_default());
        let found = tokio::select! {
            biased;
            found = web.get(url) => found,
            () = self.clock().wait_until(until) => Err(late()),
        };
        Ok(found.map_err(|error| {
            let code = match error {
                WebError::TimedOut(_) => SpecErrorCode::FetchTimeout,
                _ => SpecErrorCode::FetchError,
            };
            Failure::new(code, format_args!("{url}: {error}"))
        }))
    }
}

/// Returns an entry document without references, for reading other files alone.
fn placeholder() -> SpecFile {
    const DOCUMENT: &[u8] = br#"{"openapi":"3.1.0","info":{"title":"-","version":"-"},"paths":{}}"#;
    SpecFile { bytes: Bytes::from_static(DOCUMENT), ..SpecFile::default() }
}

/// Returns `true` if a file was fetched from this URL. The files are sorted by location.
fn has_file(files: &SpecFiles, url: &str) -> bool {
    files.entry.location == url
        || files.others.binary_search_by(|file| file.location.as_str().cmp(url)).is_ok()
}

/// Returns the error that a specification reports when the reader fails. The document is not the cause, so the details
/// are only logged.
fn reader_error<T>(spec: &OpenApiSpecRecord, error: &dyn std::error::Error) -> FetchResult<T> {
    tracing::warn!(spec = %spec.id, error = ?error, "specification reader failed");
    parse_error(
        "the specification reader of this server failed; see its log, then send the specification again"
            .to_owned(),
    )
}

fn parse_error<T>(why: String) -> FetchResult<T> {
    Ok(Err(Failure::new(SpecErrorCode::ParseError, why)))
}
