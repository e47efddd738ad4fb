//! Uploads to the storage of an organization: files that are used by later requests.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BoundedText, UploadId, list::constants};

constants! {
    /// `storage-signed-url`.
    StorageUploadUrlObject = "storage-signed-url",
}

/// A request for a URL to which a file can be uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct NewStorageUpload {
    /// The file to upload.
    pub file: StorageFileMetadata,
    /// The purpose of the file.
    pub kind: StorageUploadKind,
}

/// A file to upload.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StorageFileMetadata {
    /// The name of the file without a folder. Its extension is `zip`, `docx`, `md`, `markdown`, `html`, `htm` or
    /// `xhtml`.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::schema::FILE_NAME)))]
    pub name: BoundedText<1, 256>,
    /// The media type of the file. It has no effect: the extension of the name determines the format.
    #[serde(rename = "type")]
    pub media_type: BoundedText<0, 256>,
    /// The size in bytes. The upload must have this size.
    #[cfg_attr(feature = "schema", schemars(range(max = super::MAX_FILE_BYTES)))]
    pub size: u64,
}

/// The purpose of an uploaded file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StorageUploadKind {
    /// A font of a site. Not supported.
    CustomizationFont,
    /// The source of an import run.
    ImportFile,
    /// A file of an organization, such as a logo. Not supported.
    OrganizationFile,
}

/// A URL to which a file can be uploaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct StorageUploadUrl {
    /// Always `storage-signed-url`.
    pub object: StorageUploadUrlObject,
    /// The URL for a `PUT` request with the bytes of the file as its body. It requires no token, and is valid for an
    /// hour.
    pub url: String,
    /// The key of the file for later requests.
    pub key: UploadId,
}
