//! Files uploaded to the storage of an organization: issued URLs, uploads, and their content.
//!
//! A user requests a URL for a file of a declared size, sends the bytes to it, and names the file by its key in a later
//! request. The content consists of unreferenced objects. It can be used for [`UPLOAD_RETENTION`], which is shorter
//! than the time after which such objects are garbage-collected.

use std::{fmt, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use chrono::TimeDelta;
use docs_macros::{boxed, operation};
use serde::{Deserialize, Serialize};

use crate::{
    Error, ErrorKind, Result,
    content::check_file_name,
    model::{
        ImportContentSource as Source, MAX_FILE_BYTES, NewStorageUpload, OrgId, StorageUploadKind,
        StorageUploadUrl, StorageUploadUrlObject, Timestamp, UploadId, UserId,
    },
    platform::{
        access,
        content::files::{Bearer, FilePlace, FileWriter},
        kernel::{
            actor::Actor,
            platform::Platform,
            request::Right,
            write::ready_answer,
            write_window::{OBJECT_GRACE_PERIOD, WRITE_WINDOW},
        },
        nouns::OrgHandle,
    },
    policy::OrgAction,
    store::{
        Hash, Key, Operation, Tx,
        records::{StoredBytes, UploadRecord},
    },
};

/// The lifetime of the URL of an upload.
pub(in crate::platform) const UPLOAD_WINDOW: TimeDelta = TimeDelta::hours(1);
/// The period after the request for its URL in which a file can be used.
pub(in crate::platform) const UPLOAD_RETENTION: TimeDelta = TimeDelta::hours(24);
/// Maximum number of uploads of a user in an organization that have not expired.
pub(in crate::platform) const MAX_UPLOADS: u32 = 100;

// An object is touched while the URL is valid, or within the write window after that. Then it is retained.
const _: () =
    assert!(OBJECT_GRACE_PERIOD.num_seconds() > UPLOAD_RETENTION.num_seconds() + WRITE_WINDOW.num_seconds());

/// File name extensions of documents and archives, with their source.
const EXTENSIONS: [(&str, Source); 7] = [
    ("zip", Source::Zip),
    ("docx", Source::Docx),
    ("md", Source::Markdown),
    ("markdown", Source::Markdown),
    ("html", Source::Html),
    ("htm", Source::Html),
    ("xhtml", Source::Html),
];

/// Returns the source of a file by the extension of its name. `field` is the field with the name.
///
/// # Errors
/// `Invalid` for another extension.
pub(super) fn source_of(field: &str, name: &str) -> Result<Source> {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let found = EXTENSIONS.iter().find(|(known, _)| *known == ending);
    found.map(|(_, source)| *source).ok_or_else(|| {
        let known = EXTENSIONS.map(|(ending, _)| ending).join(", ");
        Error::invalid(field, format_args!("must have a name with one of the extensions {known}"))
    })
}

/// Names the uploaded file in an error about the address of a document.
pub(super) fn name_file(error: Error) -> Error {
    match error.message().strip_prefix("url: ") {
        Some(why) => Error::invalid("file", why.to_owned()),
        None => error,
    }
}

/// The sealed content of the URL of an upload. It is not stored.
#[derive(Serialize, Deserialize)]
struct UploadTicket {
    upload: UploadId,
    until: Timestamp,
    /// The user that the URL was issued to.
    bearer: Bearer,
}

/// Sealing purpose of the URL of an upload. It binds the URL to its organization.
fn purpose(org: &OrgId) -> String {
    format!("upload to {org}")
}

impl<'p> OrgHandle<'p> {
    /// Issues a URL to which a file can be uploaded, and the key of the file for
    /// [`start_import`](Self::start_import).
    ///
    /// The URL is valid for an hour, for one upload of the declared size. The file can be used for 24 hours, by the
    /// same user only.
    ///
    /// # Errors
    /// `Forbidden` without the `edit` role in the organization; `Invalid` for a name, a size or a purpose that is not
    /// supported; `Conflict` for a user with too many uploads.
    #[boxed]
    pub async fn upload_url(self, new: NewStorageUpload) -> Result<StorageUploadUrl> {
        let (platform, ref actor, org) = self.parts();
        let right = Right::Org(org.clone(), OrgAction::UploadFiles);
        let done = platform.idempotent(actor, right, async move {
            let by = actor.require_user()?.clone();
            let tx = platform.read().await?;
            let access = access::org(&tx, actor, org).await?;
            access.require(OrgAction::UploadFiles)?;
            drop(tx);
            check_upload(&new)?;
            let now = platform.now();
            let record = UploadRecord {
                id: platform.id(),
                organization: org.clone(),
                by,
                name: new.file.name.to_string(),
                size: new.file.size,
                domain: access.org().domain.clone(),
                created_at: now,
                expires_at: (now.time() + UPLOAD_RETENTION).into(),
                content: None,
            };
            let ticket = UploadTicket {
                upload: record.id.clone(),
                until: (now.time() + UPLOAD_WINDOW).into(),
                bearer: Bearer::for_member(actor)?,
            };
            let ticket = serde_json::to_string(&ticket).map_err(Error::internal)?;
            let sealed = platform.secrets().seal(&purpose(org), &ticket, platform.ids().next());
            let answer = StorageUploadUrl {
                object: StorageUploadUrlObject::Is,
                url: platform.urls().upload(org, &sealed.map_err(Error::internal)?),
                key: record.id.clone(),
            };
            let create = UploadCreation { actor, record };
            platform.write_and_show(actor, &create, |_| ready_answer(Ok(answer.clone()))).await
        });
        done.await
    }
}

/// Checks the metadata of a file to upload.
fn check_upload(new: &NewStorageUpload) -> Result<()> {
    if new.kind != StorageUploadKind::ImportFile {
        let why = "must be `import_file`; a font is set by its URL, and an image is uploaded to a space";
        return Err(Error::invalid("kind", why));
    }
    check_file_name(&new.file.name).map_err(|why| Error::invalid("file.name", why))?;
    source_of("file.name", &new.file.name)?;
    if new.file.size > MAX_FILE_BYTES {
        return Err(Error::invalid("file.size", format!("must be at most {MAX_FILE_BYTES} bytes")));
    }
    Ok(())
}

/// Creates the record of an upload.
struct UploadCreation<'a> {
    actor: &'a Actor,
    record: UploadRecord,
}

#[async_trait]
impl Operation for UploadCreation<'_> {
    type Output = ();
    const NAME: &'static str = "storage_upload_create";

    async fn apply(&self, tx: &mut Tx) -> Result<()> {
        let UploadRecord { organization, by, created_at, .. } = &self.record;
        access::org(tx, self.actor, organization).await?.require(OrgAction::UploadFiles)?;
        let mut scan = UploadRecord::by_user(organization, by).scan(MAX_UPLOADS);
        (_, scan.from) = UploadRecord::by_user(organization, by).time(created_at.time()).prefix_range();
        if tx.scan(&scan).await?.len() >= MAX_UPLOADS as usize {
            let hours = UPLOAD_RETENTION.num_hours();
            return Err(Error::conflict(format!(
                "at most {MAX_UPLOADS} files can be uploaded within {hours} hours; try again later"
            )));
        }
        tx.create(self.record.clone());
        Ok(())
    }
}

/// An upload in progress. [`write`](Self::write) the content in order, then call [`finish`](Self::finish).
///
/// An upload that is dropped before it is finished has no effect. Its stored parts are garbage-collected.
pub struct StorageUpload {
    platform: Platform,
    actor: Actor,
    record: Arc<UploadRecord>,
    writer: FileWriter,
}

impl fmt::Debug for StorageUpload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StorageUpload")
            .field("id", &self.record.id)
            .field("size", &self.writer.size())
            .finish_non_exhaustive()
    }
}

impl Platform {
    /// Starts the upload to a URL, given the sealed part of the URL. The upload is checked again when it is finished.
    ///
    /// # Errors
    /// `NotFound` after the URL has expired, and if the user that it was issued to may no longer upload files.
    #[boxed('a)]
    pub async fn open_upload<'a>(&'a self, org: &'a OrgId, sealed: &'a str) -> Result<StorageUpload> {
        let missing = || Error::not_found("upload");
        let ticket = self.secrets().open(&purpose(org), sealed).map_err(|_| missing())?;
        let ticket: UploadTicket = serde_json::from_str(&ticket).map_err(|_| missing())?;
        if self.now() >= ticket.until {
            let why = "the URL of this upload has expired; request a new one";
            return Err(Error::new(ErrorKind::NotFound, why));
        }
        let actor = self.member_actor(&ticket.bearer).ok_or_else(missing)?;
        let tx = self.read().await?;
        require_uploader(&tx, &actor, org).await?;
        let record: Option<Arc<UploadRecord>> = tx.get(&UploadRecord::key_for(&ticket.upload)).await?;
        let record = record.ok_or_else(missing)?;
        // The content of a completed upload is only compared.
        let place = match &record.content {
            None => Some((Arc::clone(&self.inner.objects), record.domain.clone())),
            Some(_) => None,
        };
        Ok(StorageUpload { platform: self.clone(), actor, record, writer: FileWriter::new(place, "") })
    }

    /// Reads the content of a stored file.
    ///
    /// # Errors
    /// `NotFound` if it is no longer stored.
    pub(super) async fn uploaded_bytes(&self, file: &UploadedFile) -> Result<Bytes> {
        let place = FilePlace::from_stored(&file.content);
        let found = place.read(self.objects(), &file.domain, 0..file.content.size).await?;
        found.ok_or_else(|| Error::not_found("uploaded file"))
    }
}

/// Checks that the recipient of a URL may still upload files.
///
/// # Errors
/// `NotFound`.
async fn require_uploader(tx: &Tx, actor: &Actor, org: &OrgId) -> Result<()> {
    let found = access::org(tx, actor, org).await.and_then(|access| {
        access.require(OrgAction::UploadFiles)?;
        Ok(())
    });
    found.map_err(|error| match error.kind() {
        ErrorKind::Forbidden => Error::not_found("upload"),
        _ => error,
    })
}

impl StorageUpload {
    /// Checks a length of the file against the declared size.
    ///
    /// # Errors
    /// `TooLarge` for more bytes than declared.
    pub fn check_length(&self, length: u64) -> Result<()> {
        if length <= self.record.size { Ok(()) } else { Err(self.too_long_error(length)) }
    }

    fn too_long_error(&self, has: impl fmt::Display) -> Error {
        let what = format!("the body: must have {} bytes, as declared, has {has}", self.record.size);
        Error::new(ErrorKind::TooLarge, what)
    }

    /// Appends a chunk of any length. The future completes when more can be accepted.
    ///
    /// # Errors
    /// `TooLarge` for more bytes than declared; errors of the store. The upload cannot continue after an error.
    ///
    /// # Cancel safety
    /// Dropping the future may lose bytes. Drop the upload as well.
    #[boxed('a)]
    pub async fn write<'a>(&'a mut self, bytes: Bytes) -> Result<()> {
        if self.writer.size() + bytes.len() as u64 > self.record.size {
            return Err(self.too_long_error("more"));
        }
        self.writer.write(bytes).await
    }

    /// Completes the upload. Succeeds if the same content was uploaded already.
    ///
    /// # Errors
    /// Those of [`open_upload`](Platform::open_upload), checked again; `Invalid` for fewer bytes than declared;
    /// `Conflict` if other content was uploaded to the URL.
    #[boxed('static)]
    pub async fn finish(self) -> Result<()> {
        let Self { platform, actor, record, writer } = self;
        let (size, declared) = (writer.size(), record.size);
        if size != declared {
            let why = format!("must have {declared} bytes, as declared, has {size}");
            return Err(Error::invalid("the body", why));
        }
        if let Some(content) = &record.content {
            return require_same(content, &writer.blob());
        }
        let content = writer.finish().await?.to_stored_bytes();
        let store = upload_store(&actor, &record, &content, platform.now());
        platform.write(&actor, &store).await
    }
}

/// Rejects other content than that which is stored.
fn require_same(stored: &StoredBytes, blob: &Hash) -> Result<()> {
    if stored.blob == *blob {
        return Ok(());
    }
    Err(Error::conflict("another file was uploaded to this URL already; request a new one"))
}

#[operation("storage_upload_store")]
async fn upload_store(
    tx: &mut Tx,
    actor: &Actor,
    upload: &UploadRecord,
    content: &StoredBytes,
    now: Timestamp,
) -> Result<()> {
    require_uploader(tx, actor, &upload.organization).await?;
    let record: Option<Arc<UploadRecord>> = tx.get(&UploadRecord::key_for(&upload.id)).await?;
    let record = record.filter(|record| now < record.expires_at).ok_or_else(|| Error::not_found("upload"))?;
    if let Some(stored) = &record.content {
        return require_same(stored, &content.blob);
    }
    tx.put(&*record, UploadRecord { content: Some(content.clone()), ..UploadRecord::clone(&record) })?;
    Ok(())
}

/// A file of an import run.
pub(super) struct UploadedFile {
    pub(super) name: String,
    domain: String,
    pub(super) content: StoredBytes,
}

/// Rejects the key of a file that cannot be used.
pub(super) fn unusable_upload_error(key: &str) -> Error {
    Error::invalid("source.files", format!("`{key}` does not exist or has expired; upload the file again"))
}

/// Finds the files with these keys that a user uploaded to an organization.
///
/// # Errors
/// `Invalid` naming `source.files` for a key of another user or organization, and for a file that has expired or was
/// not uploaded.
pub(super) async fn find_uploads(
    tx: &Tx,
    org: &OrgId,
    by: &UserId,
    ids: &[UploadId],
    now: Timestamp,
) -> Result<Vec<UploadedFile>> {
    let keys: Vec<Key> = ids.iter().map(UploadRecord::key_for).collect();
    let found = tx.get_many::<UploadRecord>(&keys).await?;
    let files = ids.iter().zip(found).map(|(id, record)| {
        let is_usable = |record: &Arc<UploadRecord>| {
            record.organization == *org && record.by == *by && now < record.expires_at
        };
        let record = record.filter(is_usable).ok_or_else(|| unusable_upload_error(id.as_str()))?;
        let content = record.content.clone().ok_or_else(|| {
            Error::invalid(
                "source.files",
                format!("`{id}` was not uploaded; send its bytes to its URL first"),
            )
        })?;
        Ok(UploadedFile { name: record.name.clone(), domain: record.domain.clone(), content })
    });
    files.collect()
}
