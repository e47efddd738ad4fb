//! Storage for large objects outside the database: [`ObjectBlobs`] stores them in a folder, or in a bucket of Amazon S3
//! or a compatible service.
//!
//! A store with blob storage writes objects above its inline size there and records their location. A backup has to
//! copy the database first and then the blobs, because the database never references a blob that does not exist yet.

mod s3;

use std::{fmt, path::Path as FsPath, str::FromStr, sync::Arc};

use async_trait::async_trait;
use bytes::Bytes;
use docs_store::{Blob, Blobs, StoreError, StoreResult};
use futures_util::TryStreamExt as _;
use object_store::{
    Error, ObjectStore, ObjectStoreExt as _, PutPayload, local::LocalFileSystem, path::Path,
    prefix::PrefixStore,
};

/// [`Blobs`] in a folder or a bucket. Clones refer to the same storage.
///
/// ```
/// use docs_blobs::ObjectBlobs;
/// use docs_store::Blobs as _;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let folder = tempfile::TempDir::new()?;
/// let blobs = ObjectBlobs::folder(folder.path())?;
/// blobs.put("ab/one", "bytes".into()).await?;
/// assert_eq!(blobs.get("ab/one").await?.as_deref(), Some(&b"bytes"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(()) })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ObjectBlobs {
    store: Arc<dyn ObjectStore>,
    /// The folder of the blobs, or `None` for a bucket.
    folder: Option<Arc<FsPath>>,
}

/// The error of opening a folder or bucket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobsError {
    /// The folder cannot be created or written.
    #[error("the folder {place} cannot store blobs: {why}")]
    Folder {
        /// Path of the folder.
        place: String,
        /// Error reported by the operating system.
        why: String,
    },
    /// The URL of the bucket is malformed, or the environment is incomplete.
    #[error("cannot open the bucket {place}: {why}")]
    Bucket {
        /// URL of the bucket.
        place: String,
        /// The problem with the URL or the environment.
        why: String,
    },
}

impl ObjectBlobs {
    /// Opens a folder, and creates it if it does not exist. A blob is durable on disk before it is acknowledged.
    /// Created folders and files are accessible only to the user of this process.
    ///
    /// # Errors
    ///
    /// [`BlobsError::Folder`].
    pub fn folder(path: impl AsRef<FsPath>) -> Result<Self, BlobsError> {
        let path = path.as_ref();
        let unusable = |why: &dyn fmt::Display| BlobsError::Folder {
            place: path.display().to_string(),
            why: why.to_string(),
        };
        docs_disk::create_folder(path).map_err(|error| unusable(&error))?;
        let store = LocalFileSystem::new_with_prefix(path).map_err(|error| unusable(&error))?;
        let folder = std::path::absolute(path).map_err(|error| unusable(&error))?;
        Ok(Self { store: Arc::new(store.with_fsync(true)), folder: Some(folder.into()) })
    }

    /// Opens a bucket: `s3://BUCKET` or `s3://BUCKET/PREFIX`.
    ///
    /// Credentials and the endpoint come from the environment variables commonly used by S3 clients:
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`, `AWS_REGION`, and for other providers
    /// `AWS_ENDPOINT` and `AWS_ALLOW_HTTP`.
    ///
    /// # Errors
    ///
    /// [`BlobsError::Bucket`]. A missing bucket is detected only on first use.
    pub fn bucket(url: &str) -> Result<Self, BlobsError> {
        // Do not repeat a malformed URL, because it may contain a secret.
        let (bucket, prefix) = s3::parse(url)
            .map_err(|why| BlobsError::Bucket { place: "with this address".to_owned(), why })?;
        let store = s3::open_bucket(&bucket).map_err(|why| BlobsError::Bucket { place: bucket, why })?;
        let store: Arc<dyn ObjectStore> = match prefix {
            None => Arc::new(store),
            Some(prefix) => Arc::new(PrefixStore::new(store, prefix)),
        };
        Ok(Self { store, folder: None })
    }

    fn path(name: &str) -> StoreResult<Path> {
        let path = Path::parse(name).ok().filter(|path| path.as_ref() == name && !name.is_empty());
        path.ok_or(StoreError::Misuse("a blob name must be a relative path"))
    }
}

impl FromStr for ObjectBlobs {
    type Err = BlobsError;

    /// Opens a bucket by its URL, or a folder by its path.
    fn from_str(text: &str) -> Result<Self, BlobsError> {
        if text.contains("://") { Self::bucket(text) } else { Self::folder(text) }
    }
}

impl fmt::Debug for ObjectBlobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectBlobs({})", self.store)
    }
}

#[async_trait]
impl Blobs for ObjectBlobs {
    async fn put(&self, name: &str, bytes: Bytes) -> StoreResult<()> {
        let path = Self::path(name)?;
        let place = self.folder.as_ref().map(|folder| folder.join(name));
        let unwritten = |error: std::io::Error| away("written", name, &error);
        // Create the folder first, so that no other user can open the file before its permissions are set.
        if let Some(folder) = place.as_deref().and_then(FsPath::parent) {
            docs_disk::create_durable_folder(folder).map_err(unwritten)?;
        }
        let put = self.store.put(&path, PutPayload::from(bytes)).await;
        put.map_err(|error| away("written", name, &error))?;
        place.map_or(Ok(()), |place| docs_disk::restrict(&place)).map_err(unwritten)
    }

    async fn get(&self, name: &str) -> StoreResult<Option<Bytes>> {
        let path = Self::path(name)?;
        let found = match self.store.get(&path).await {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(away("read", name, &error)),
        };
        found.bytes().await.map(Some).map_err(|error| away("read", name, &error))
    }

    async fn delete(&self, name: &str) -> StoreResult<()> {
        let path = Self::path(name)?;
        match self.store.delete(&path).await {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(away("removed", name, &error)),
        }
    }

    async fn list(&self, folder: &str) -> StoreResult<Vec<Blob>> {
        let path = Self::path(folder)?;
        let listed: Result<Vec<_>, _> = self.store.list(Some(&path)).try_collect().await;
        let listed = listed.map_err(|error| away("listed", folder, &error))?;
        let blob = |found: object_store::ObjectMeta| Blob {
            name: found.location.to_string(),
            stored_at: found.last_modified,
        };
        // Objects in nested folders are not blobs of this folder.
        let direct =
            |blob: &Blob| blob.name.strip_prefix(folder).is_some_and(|rest| rest.rfind('/') == Some(0));
        Ok(listed.into_iter().map(blob).filter(direct).collect())
    }
}

fn away(what: &str, name: &str, error: &dyn fmt::Display) -> StoreError {
    StoreError::Unavailable(format!("the blob `{name}` cannot be {what}: {error}"))
}
