//! The parts of specifications that content shows, with a cache.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ShownSpec, SpecDetail, SpecSubject,
    detail::{self, OperationDetail},
    find,
};
use crate::{
    Result,
    model::{BlockKind, ContentRef, Document, OpenApiSpecVersionId, OrgId, Part},
    platform::kernel::platform::Platform,
    store::records::OpenApiSpecVersionRecord,
};

/// Maximum number of operations, webhooks and schemas of a document that are shown.
pub(in crate::platform) const MAX_SHOWN: usize = 200;
/// The capacity of the cache in bytes.
const KEPT_BYTES: u64 = 8 << 20;
/// Maximum size of the name of a cached subject in bytes. Longer names are looked up every time.
const MAX_NAME: usize = 1_000;

/// A cache of looked-up subjects. Versions are immutable, so entries never become stale.
pub(in crate::platform) struct SpecDetailCache(
    quick_cache::sync::Cache<Key, Option<Arc<SpecDetail>>, ByBytes>,
);

type Key = (OpenApiSpecVersionId, SpecSubject);

#[derive(Clone)]
struct ByBytes;

impl quick_cache::Weighter<Key, Option<Arc<SpecDetail>>> for ByBytes {
    fn weight(&self, (_, subject): &Key, detail: &Option<Arc<SpecDetail>>) -> u64 {
        (256 + subject.size() + detail.as_ref().map_or(0, |detail| detail.weight())) as u64
    }
}

impl Default for SpecDetailCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::with_weighter(100, KEPT_BYTES, ByBytes))
    }
}

impl Platform {
    /// Returns the parts of specifications that a document shows, as far as the latest versions contain them.
    pub(in crate::platform) async fn shown_specs(
        &self,
        org: &OrgId,
        document: &Document,
    ) -> Result<Vec<ShownSpec>> {
        let mut shown = Vec::new();
        for (slug, subjects) in subjects(document) {
            let tx = self.read().await?;
            let Some(record) = find(&tx, org, &slug).await? else { continue };
            let Some(version) = record.last_version.clone() else { continue };
            let cache = self.inner.memory.of::<SpecDetailCache>();
            let kept = &cache.0;
            let key = |subject: &SpecSubject| (version.clone(), subject.clone());
            let missing: Vec<&SpecSubject> =
                subjects.iter().filter(|subject| kept.get(&key(subject)).is_none()).collect();
            let mut found = Vec::new();
            if !missing.is_empty() {
                let version: Option<Arc<OpenApiSpecVersionRecord>> =
                    tx.get(&OpenApiSpecVersionRecord::at(&version)).await?;
                let Some(version) = version else { continue };
                // Objects may use the same connections as the transaction, so the transaction is closed first.
                drop(tx);
                let files = self.spec_bytes(&record.id, &version.filesystem).await?;
                found = missing.iter().copied().zip(detail::find(&files, &missing)).collect();
            }
            let mut new: BTreeMap<usize, Option<Arc<SpecDetail>>> = BTreeMap::new();
            for (subject, detail) in found {
                let detail = detail.map(Arc::new);
                if subject.size() <= MAX_NAME {
                    kept.insert(key(subject), detail.clone());
                }
                new.extend(subjects.iter().position(|of| of == subject).map(|at| (at, detail)));
            }
            for (at, subject) in subjects.into_iter().enumerate() {
                let detail = new.remove(&at).or_else(|| kept.get(&key(&subject))).flatten();
                shown.extend(detail.map(|detail| ShownSpec { spec: slug.clone(), subject, detail }));
            }
        }
        Ok(shown)
    }
}

/// The subjects that a document shows, by specification.
fn subjects(document: &Document) -> BTreeMap<String, Vec<SpecSubject>> {
    let mut found: BTreeMap<String, Vec<SpecSubject>> = BTreeMap::new();
    let mut count = 0;
    for part in document.parts() {
        let Part::Block(block) = part else { continue };
        let Some((target, subjects)) = SpecSubject::of(&block.kind) else { continue };
        let ContentRef::OpenApi { spec } = target else { continue };
        let of = found.entry(spec.clone()).or_default();
        for subject in subjects {
            if count < MAX_SHOWN && !of.contains(&subject) {
                count += 1;
                of.push(subject);
            }
        }
    }
    found
}

impl SpecSubject {
    /// Returns the target and subjects of a block that shows a specification, `None` for all other blocks.
    #[must_use]
    pub fn of(kind: &BlockKind) -> Option<(&ContentRef, Vec<Self>)> {
        match kind {
            BlockKind::OpenapiOperation { path, method, target } => {
                Some((target, vec![Self::Operation { method: method.to_lowercase(), path: path.clone() }]))
            }
            BlockKind::OpenapiWebhook { name, method, target } => {
                Some((target, vec![Self::Webhook { method: method.to_lowercase(), name: name.clone() }]))
            }
            BlockKind::OpenapiSchemas { schemas, target, .. } => {
                Some((target, schemas.iter().cloned().map(Self::Schema).collect()))
            }
            _ => None,
        }
    }
}

impl SpecSubject {
    /// The length of the name in bytes.
    fn size(&self) -> usize {
        match self {
            Self::Operation { method, path: name } | Self::Webhook { method, name } => {
                method.len() + name.len()
            }
            Self::Schema(name) => name.len(),
        }
    }
}

impl SpecDetail {
    /// The approximate size in bytes.
    fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let body = |body: &detail::BodyDetail| {
            let fields =
                body.fields.iter().map(|of| 128 + of.name.len() + of.kind.len() + text(&of.description));
            256 + body.name.len()
                + body.kind.len()
                + text(&body.description)
                + text(&body.example)
                + fields.sum::<usize>()
        };
        match self {
            Self::Schema(of) => body(of),
            Self::Operation(of) => {
                let OperationDetail { summary, description, server, security, parameters, .. } = &**of;
                let OperationDetail { request, responses, .. } = &**of;
                let security = security.iter().flatten().map(|scheme| 64 + scheme.len());
                let parameters = parameters.iter().map(|of| {
                    let texts = of.name.len() + of.location.len() + of.kind.len();
                    256 + texts + text(&of.description) + text(&of.example)
                });
                let responses = responses.iter().map(|of| {
                    128 + of.status.len() + text(&of.description) + of.body.as_ref().map_or(0, body)
                });
                512 + text(summary)
                    + text(description)
                    + text(server)
                    + security.sum::<usize>()
                    + request.as_ref().map_or(0, body)
                    + parameters.sum::<usize>()
                    + responses.sum::<usize>()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subjects_beyond_the_bound_are_not_shown() {
        let block = |name| {
            format!(
                "{{% openapi-schemas spec=\"pets\" schemas=\"{name}\" %}}\n[OpenAPI pets](/openapi/pets)\n\
                 {{% endopenapi-schemas %}}\n\n"
            )
        };
        let count = |blocks: usize| {
            let document = crate::content::document::parse(&(0..blocks).map(block).collect::<String>());
            subjects(&document).values().map(Vec::len).sum::<usize>()
        };
        assert_eq!([MAX_SHOWN, MAX_SHOWN + 1].map(count), [MAX_SHOWN; 2]);
    }
}
