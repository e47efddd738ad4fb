//! Marks the references of OpenAPI specifications and their versions. Each specification has its own storage domain.

use std::sync::Arc;

use super::{CollectionPass, READ_BATCH};
use crate::{
    Result,
    content::{Marks as _, listed_parts},
    store::{
        Batches, Entity as _, Key,
        records::{OpenApiSpecRecord, OpenApiSpecVersionRecord, StoredBytes, StoredSpecSource},
    },
};

impl CollectionPass<'_> {
    /// Marks the references of the specifications in these domains. The domain of a deleted specification has no marks,
    /// so all its objects are removed.
    pub(super) async fn mark_specs(&mut self) -> Result<()> {
        for domain in self.domains.keys().cloned().collect::<Vec<_>>() {
            let Some(id) = OpenApiSpecRecord::id_from_domain(&domain) else { continue };
            let tx = self.platform.read().await?;
            let spec: Option<Arc<OpenApiSpecRecord>> = tx.get(&OpenApiSpecRecord::key_for(&id)).await?;
            drop(tx);
            let Some(spec) = spec else { continue };
            if let StoredSpecSource::Text(text) = &spec.source {
                self.mark_bytes(&domain, text).await?;
            }
            let mut versions = Batches::of(OpenApiSpecVersionRecord::by_spec(&id).scan(READ_BATCH));
            loop {
                let tx = self.platform.read().await?;
                let Some(rows) = versions.next(&tx).await? else { break };
                let keys: Vec<Key> = OpenApiSpecVersionRecord::named_by_all(&rows);
                let versions = tx.get_many::<OpenApiSpecVersionRecord>(&keys).await?;
                drop(tx);
                for version in versions.into_iter().flatten() {
                    self.done.roots += 1;
                    for stored in version.objects() {
                        self.mark_bytes(&domain, stored).await?;
                    }
                }
            }
        }
        Ok(())
    }

    async fn mark_bytes(&mut self, domain: &str, stored: &StoredBytes) -> Result<()> {
        self.check_time()?;
        let Some(number) = self.domains.get(domain) else { return Ok(()) };
        let Some(list) = stored.parts else {
            self.marks.select_domain(*number).mark(stored.blob);
            return Ok(());
        };
        if !self.marks.select_domain(*number).enter(list) {
            return Ok(());
        }
        let found = self.platform.objects().get(domain, &[list]).await?.pop().flatten();
        match found.as_deref().map(listed_parts) {
            Some(Ok(parts)) => {
                parts.into_iter().for_each(|part| self.marks.select_domain(*number).mark(part));
            }
            // The references of the list are unknown, so the whole domain is retained.
            Some(Err(_)) | None => {
                tracing::error!(domain, %list, "skip storage area with an unreadable parts list");
                self.unreadable.insert(domain.to_owned());
            }
        }
        Ok(())
    }
}
