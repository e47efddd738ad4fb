//! The source of a specification, and its bytes in the storage area of the specification.

use std::sync::Arc;

use bytes::Bytes;

use crate::{
    Error, ErrorKind, Result,
    model::{OpenApiSpecId, SpecSource, web_url},
    platform::{
        content::files::{FilePlace, FileWriter},
        kernel::platform::Platform,
    },
    ports::SpecReader,
    store::{
        StoreError,
        records::{OpenApiSpecRecord, StoredBytes, StoredSpecSource},
    },
};

impl Platform {
    pub(super) fn spec_reader(&self) -> Result<&Arc<dyn SpecReader>> {
        self.ports().spec_reader.as_ref().ok_or_else(|| {
            Error::new(
                ErrorKind::Precondition,
                "this server does not read OpenAPI \
                                                                specifications",
            )
        })
    }

    /// Stores a source. The caller writes the reference to it afterwards.
    pub(super) async fn store_source(
        &self,
        spec: &OpenApiSpecId,
        source: SpecSource,
    ) -> Result<StoredSpecSource> {
        match source {
            SpecSource::Text(text) => {
                Ok(StoredSpecSource::Text(self.store_spec_bytes(spec, text.into()).await?))
            }
            SpecSource::Url(url) => {
                let parsed = web_url::web_url(url.as_str());
                if parsed.as_ref().is_some_and(web_url::has_credentials) {
                    let why = "must not contain credentials, because all members can read it";
                    return Err(Error::invalid("source.url", why));
                }
                if self.ports().web.is_none() {
                    let why = "this server does not fetch specifications; send `text`";
                    return Err(Error::new(ErrorKind::Precondition, why));
                }
                Ok(StoredSpecSource::Url(url))
            }
        }
    }

    /// Stores bytes in the storage area of a specification, as one object or in parts.
    pub(super) async fn store_spec_bytes(&self, spec: &OpenApiSpecId, bytes: Bytes) -> Result<StoredBytes> {
        let domain = OpenApiSpecRecord::domain(spec);
        let place = Some((Arc::clone(&self.inner.objects), domain));
        let mut writer = FileWriter::new(place, "");
        writer.write(bytes).await?;
        Ok(writer.finish().await?.to_stored_bytes())
    }

    /// Reads all bytes of a stored source or version.
    ///
    /// # Errors
    ///
    /// `Corrupt` if the bytes are missing.
    pub(in crate::platform) async fn spec_bytes(
        &self,
        spec: &OpenApiSpecId,
        stored: &StoredBytes,
    ) -> Result<Bytes> {
        let domain = OpenApiSpecRecord::domain(spec);
        let found = FilePlace::from_stored(stored).read(self.objects(), &domain, 0..stored.size).await?;
        let gone =
            || StoreError::Corrupt(format!("{} of the specification {spec} no longer exists", stored.blob));
        Ok(found.ok_or_else(gone)?)
    }
}
