//! The job that processes a specification: fetches the document and the files it references, reads them, and stores
//! them as a version if they differ from the latest version.
//!
//! A round begins with a `POST`, a `PUT`, or the scheduled time of the next fetch, which the previous round sets. The
//! result of a round is stored in the same transaction as the end of its job, and only if no later round has begun. A
//! failure or crash before that leaves the specification unchanged, and the job runs again.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use docs_macros::operation;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::feed::feed_spec;
use crate::{
    Error, ErrorKind, Result,
    model::{
        JobId, OpenApiSpecId, SpecErrorCode, SpecProcessingError, SpecProcessingState, Timestamp,
        redact_credentials, without_nul,
    },
    platform::{
        jobs::{Effect, Job, JobRun, Payload, catch_panic},
        kernel::platform::Platform,
    },
    ports::{ReadSpec, ReadSpecFile, SpecFiles, SpecFormat, SpecProblem},
    store::{
        Entity as _, Hash, Tx,
        jobs::{self, FinishJob, JobOutcome, NewJob},
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord, StoredSpecSource},
    },
};

/// The interval between fetches of a specification with a URL.
pub(in crate::platform) const FETCH_INTERVAL: TimeDelta = TimeDelta::hours(6);
/// Maximum number of attempts of a job. After the last one, its round ends with an error, because its process crashed
/// each time or its store failed.
const MAX_ATTEMPTS: u32 = 4;

/// Maximum number of versions per specification. A new version replaces the oldest one.
pub(in crate::platform) const MAX_VERSIONS: i64 = 100;

/// The payload of the processing job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(in crate::platform) struct ProcessSpec {
    pub(super) spec: OpenApiSpecId,
    pub(super) round: u64,
}

/// The reason why a round produced no version.
pub(super) struct Failure {
    code: SpecErrorCode,
    errors: Vec<SpecProcessingError>,
}

impl Failure {
    pub(super) fn new(code: SpecErrorCode, message: impl std::fmt::Display) -> Self {
        Self { code, errors: vec![to_stored_error(&message.to_string(), code)] }
    }

    pub(super) fn parse(problems: Vec<SpecProblem>) -> Self {
        let code = SpecErrorCode::ParseError;
        Self {
            code,
            errors: problems
                .into_iter()
                .map(|problem| to_stored_error(&format_problem(&problem), code))
                .collect(),
        }
    }
}

/// The outcome of reading a specification.
type ProcessResult = std::result::Result<VersionComparison, Failure>;

/// The content of a specification compared with its latest version.
enum VersionComparison {
    /// Equal to the latest version.
    Unchanged,
    New(Box<OpenApiSpecVersionRecord>),
}

impl ProcessSpec {
    /// Returns the job of a round. Its id is derived from the round, so each round has exactly one job.
    pub(super) fn job(&self, due: Timestamp) -> Result<NewJob> {
        let name = Hash::compute(format!("round {} of {}", self.round, self.spec).as_bytes()).to_string();
        let id: JobId = name.get(..26).unwrap_or(&name).parse().map_err(Error::internal)?;
        self.to_new_job(&id, &self.spec, due)
    }
}

impl Payload for ProcessSpec {
    const KIND: &'static str = "openapi_spec_process";
}

#[async_trait]
impl Job for ProcessSpec {
    async fn run(self, platform: &Platform, run: &mut JobRun) -> Result<Effect> {
        let start = round_start(&self, platform.now());
        let Some(spec) = platform.upkeep(&start).await? else { return Ok(Effect::Done) };
        let storing = platform.begin_write_window();
        let code = match &spec.source {
            StoredSpecSource::Url(_) => SpecErrorCode::FetchError,
            StoredSpecSource::Text(_) => SpecErrorCode::ParseError,
        };
        let gave_up = |why: &str| {
            Failure::new(code, format_args!("processing failed: {why}; send the specification again"))
        };
        let processed = if run.job.attempt > MAX_ATTEMPTS {
            Err(gave_up("the server was interrupted several times"))
        } else {
            match catch_panic(platform.process_spec(&spec)).await {
                Ok(processed) => processed,
                // Transient failures are retried, up to the limit.
                Err(error) if error.kind() == ErrorKind::Unavailable && run.job.attempt < MAX_ATTEMPTS => {
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!(spec = %spec.id, error = ?error, "failed to process specification");
                    Err(match error.kind() {
                        ErrorKind::Internal => gave_up("an internal error of the server; see its log"),
                        ErrorKind::Unavailable => gave_up("the store of the server is unavailable"),
                        _ => gave_up(error.message()),
                    })
                }
            }
        };
        // If the write window has passed, the job fails as transient and runs again: every round needs a result.
        platform
            .check_write_window(storing)
            .map_err(|late| Error::new(ErrorKind::Unavailable, late.message().to_owned()))?;
        let finish = run.finish(platform, JobOutcome::default());
        platform.upkeep(&round_end(&self, &finish, &processed)).await?;
        Ok(Effect::Finished)
    }
}

impl Platform {
    /// Fetches and reads a specification, and stores the files of a new version.
    async fn process_spec(&self, spec: &OpenApiSpecRecord) -> Result<ProcessResult> {
        let (files, read) = match self.gather_spec(spec).await? {
            Ok(all) => all,
            Err(failure) => return Ok(Err(failure)),
        };
        let digest = hash_files(&files);
        let latest: Option<Arc<OpenApiSpecVersionRecord>> = match &spec.last_version {
            Some(id) => self.read().await?.get(&OpenApiSpecVersionRecord::key_for(id)).await?,
            None => None,
        };
        if latest.is_some_and(|latest| latest.digest == digest) {
            return Ok(Ok(VersionComparison::Unchanged));
        }
        let version = self.store_version(spec, files, read, digest).await?;
        Ok(Ok(VersionComparison::New(Box::new(version))))
    }

    /// Stores the files of a version and its outline. The caller writes the references to them afterwards.
    async fn store_version(
        &self,
        spec: &OpenApiSpecRecord,
        files: SpecFiles,
        read: ReadSpec,
        digest: Hash,
    ) -> Result<OpenApiSpecVersionRecord> {
        let format = read.files.first().map_or(SpecFormat::Json, |file| file.format);
        let outline = Bytes::from(serde_json::to_vec(&read.outline).map_err(Error::internal)?);
        let filesystem = Bytes::from(filesystem(&files, &read.files)?);
        Ok(OpenApiSpecVersionRecord {
            id: self.id(),
            organization: spec.organization.clone(),
            spec: spec.id.clone(),
            digest,
            format,
            document: self.store_spec_bytes(&spec.id, files.entry.bytes).await?,
            filesystem: self.store_spec_bytes(&spec.id, filesystem).await?,
            outline: self.store_spec_bytes(&spec.id, outline).await?,
            created_at: self.now(),
        })
    }
}

/// The envelope of a file in the content of a version.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FileView<'a> {
    filename: &'a str,
    dir: &'a str,
    is_entrypoint: bool,
    references: &'a [String],
    specification: &'a RawValue,
}

/// Serializes all files by name as one JSON object, the entry file first.
fn filesystem(files: &SpecFiles, read: &[ReadSpecFile]) -> Result<Vec<u8>> {
    let mut all = Vec::from(*b"{");
    for (at, (file, read)) in std::iter::once(&files.entry).chain(&files.others).zip(read).enumerate() {
        if at > 0 {
            all.push(b',');
        }
        let bytes = read.json.as_ref().unwrap_or(&file.bytes);
        let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let name = if file.location.is_empty() { file_name(read.format) } else { file.location.as_str() };
        let view = FileView {
            filename: name,
            dir: base_address(file.base.as_deref().unwrap_or(name)),
            is_entrypoint: at == 0,
            references: &read.references,
            specification: serde_json::from_slice(json).map_err(Error::internal)?,
        };
        serde_json::to_writer(&mut all, name).map_err(Error::internal)?;
        all.push(b':');
        serde_json::to_writer(&mut all, &view).map_err(Error::internal)?;
    }
    all.push(b'}');
    Ok(all)
}

/// Returns the base URL of relative references in a file, without the trailing slash.
pub(super) fn base_address(address: &str) -> &str {
    let path = address.split(['?', '#']).next().unwrap_or(address);
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Hashes all files. The hash depends only on their bytes, not on the final URL of the document.
fn hash_files(files: &SpecFiles) -> Hash {
    let mut hasher = blake3::Hasher::new_derive_key("docs-platform files of an OpenAPI specification");
    let entry = std::iter::once(("", &files.entry.bytes));
    for (name, bytes) in entry.chain(files.others.iter().map(|file| (file.location.as_str(), &file.bytes))) {
        hasher.update(&(name.len() as u64).to_be_bytes()).update(name.as_bytes());
        hasher.update(&(bytes.len() as u64).to_be_bytes()).update(bytes);
    }
    Hash::from_bytes(*hasher.finalize().as_bytes())
}

/// Formats a problem with its position first.
fn format_problem(problem: &SpecProblem) -> String {
    let place = match (problem.line, problem.pointer.as_str()) {
        (Some(line), "") => format!("line {line}: "),
        (Some(line), pointer) => format!("line {line}, {pointer}: "),
        (None, "") => String::new(),
        (None, pointer) => format!("{pointer}: "),
    };
    format!("{place}{}", problem.message)
}

/// Converts an error for storage in a record. The message quotes external text, so secrets and NUL are removed.
fn to_stored_error(message: &str, code: SpecErrorCode) -> SpecProcessingError {
    SpecProcessingError { message: without_nul(&redact_credentials(message)).into_owned(), code: Some(code) }
}

/// Starts or restarts a round. `Output` is the specification, or `None` if a later round has begun.
#[operation("openapi_spec_round_start")]
async fn round_start(tx: &mut Tx, round: &ProcessSpec, now: Timestamp) -> Result<Option<OpenApiSpecRecord>> {
    let Some(old) = find_round_spec(tx, round).await? else { return Ok(None) };
    if old.state == SpecProcessingState::Progress {
        return Ok(Some(OpenApiSpecRecord::clone(&old)));
    }
    let (state, updated_at) = (SpecProcessingState::Progress, now);
    let new = OpenApiSpecRecord { state, updated_at, ..OpenApiSpecRecord::clone(&old) };
    Ok(Some(OpenApiSpecRecord::clone(&*tx.put(&*old, new)?)))
}

/// Ends a round, and enqueues the next one if the specification has a URL.
#[operation("openapi_spec_round_end")]
async fn round_end(
    tx: &mut Tx,
    round: &ProcessSpec,
    finish: &FinishJob,
    processed: &ProcessResult,
) -> Result<()> {
    // Another worker has taken over the job and ends the round.
    if !jobs::finish(tx, finish).await? {
        return Ok(());
    }
    let Some(old) = find_round_spec(tx, round).await? else { return Ok(()) };
    let now = finish.now;
    let mut new = OpenApiSpecRecord {
        state: SpecProcessingState::Complete,
        last_processed_at: Some(now),
        updated_at: now,
        error_code: None,
        errors: Vec::new(),
        ..OpenApiSpecRecord::clone(&old)
    };
    match processed {
        Ok(VersionComparison::Unchanged) => {}
        Ok(VersionComparison::New(version)) => {
            remove_oldest_version(tx, &old.id).await?;
            tx.create(OpenApiSpecVersionRecord::clone(version));
            new.last_version = Some(version.id.clone());
            feed_spec(tx, &old.organization);
        }
        Err(failure) => {
            new.error_code = Some(failure.code);
            new.errors.clone_from(&failure.errors);
        }
    }
    if matches!(old.source, StoredSpecSource::Url(_)) {
        new.round += 1;
        let next = ProcessSpec { spec: old.id.clone(), round: new.round };
        let job = next.job(Timestamp::new(now.time() + FETCH_INTERVAL))?;
        let owner = Some(old.organization.to_string());
        jobs::enqueue(tx, now, NewJob { owner, ..job }).await?;
    }
    tx.put(&*old, new)?;
    Ok(())
}

/// Returns the specification of a round, unless a later round has begun.
async fn find_round_spec(tx: &Tx, round: &ProcessSpec) -> Result<Option<Arc<OpenApiSpecRecord>>> {
    let spec: Option<Arc<OpenApiSpecRecord>> = tx.get(&OpenApiSpecRecord::key_for(&round.spec)).await?;
    Ok(spec.filter(|spec| spec.round == round.round))
}

/// Returns the file name of a document without a URL.
pub(super) const fn file_name(format: SpecFormat) -> &'static str {
    match format {
        SpecFormat::Json => "openapi.json",
        SpecFormat::Yaml => "openapi.yaml",
    }
}

/// Removes the oldest version if [`MAX_VERSIONS`] are stored.
async fn remove_oldest_version(tx: &mut Tx, spec: &OpenApiSpecId) -> Result<()> {
    if tx.number(&OpenApiSpecVersionRecord::count_of(spec)).await? < MAX_VERSIONS {
        return Ok(());
    }
    let rows = tx.scan_prefix(&OpenApiSpecVersionRecord::by_spec(spec), 1).await?;
    tx.delete_all::<OpenApiSpecVersionRecord>(&OpenApiSpecVersionRecord::named_by_all(&rows)).await?;
    Ok(())
}
