//! The parts of specifications that content shows, with a cache.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ShownSpec, SpecDetail, SpecSubject,
    detail::{self, OperationDetail},
    find,
};
use crate::{
    Result,
    model::{BlockKind, ContentRef, Document, DocumentPart, OpenApiSpecVersionId, OrgId},
    platform::kernel::platform::Platform,
    store::records::OpenApiSpecVersionRecord,
};

/// Maximum number of operations, webhooks and schemas of a document that are shown.
pub(in crate::platform) const MAX_SHOWN_SUBJECTS: usize = 200;
/// The capacity of the cache in bytes.
const DETAIL_CACHE_BYTES: u64 = 8 << 20;
/// Maximum size of the name of a cached subject in bytes. Longer names are looked up every time.
const MAX_NAME: usize = 1_000;

/// A cache of looked-up subjects. Versions are immutable, so entries never become stale.
pub(in crate::platform) struct SpecDetailCache(
    quick_cache::sync::Cache<SpecDetailKey, Option<Arc<SpecDetail>>, ByBytes>,
);

type SpecDetailKey = (OpenApiSpecVersionId, SpecSubject);

#[derive(Clone)]
struct ByBytes;

impl quick_cache::Weighter<SpecDetailKey, Option<Arc<SpecDetail>>> for ByBytes {
    fn weight(&self, (_, subject): &SpecDetailKey, detail: &Option<Arc<SpecDetail>>) -> u64 {
        (256 + subject.size() + detail.as_ref().map_or(0, |detail| detail.weight())) as u64
    }
}

impl Default for SpecDetailCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::with_weighter(100, DETAIL_CACHE_BYTES, ByBytes))
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
        for (slug, subjects) in SpecSubject::from_document(document) {
            let tx = self.read().await?;
            let Some(record) = find(&tx, org, &slug).await? else { continue };
            let Some(version) = record.last_version.clone() else { continue };
            let cache = self.inner.memory.get_or_default::<SpecDetailCache>();
            let kept = &cache.0;
            let key = |subject: &SpecSubject| (version.clone(), subject.clone());
            let missing: Vec<&SpecSubject> =
                subjects.iter().filter(|subject| kept.get(&key(subject)).is_none()).collect();
            let mut found = Vec::new();
            if !missing.is_empty() {
                let version: Option<Arc<OpenApiSpecVersionRecord>> =
                    tx.get(&OpenApiSpecVersionRecord::key_for(&version)).await?;
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

impl SpecSubject {
    /// Returns the subjects that a document shows, by the slug of their specification: the first ones, up to the limit
    /// of a page.
    #[must_use]
    pub fn from_document(document: &Document) -> BTreeMap<String, Vec<Self>> {
        let blocks = document.parts().filter_map(|part| match part {
            DocumentPart::Block(block) => Self::from_block(&block.kind),
            DocumentPart::Inline(_) => None,
        });
        // The parts of a document are in reverse order.
        let blocks: Vec<(&ContentRef, Vec<Self>)> = blocks.collect();
        let mut found: BTreeMap<String, Vec<Self>> = BTreeMap::new();
        let mut count = 0;
        for (target, subjects) in blocks.into_iter().rev() {
            let ContentRef::OpenApi { spec } = target else { continue };
            for subject in subjects {
                if count >= MAX_SHOWN_SUBJECTS {
                    return found;
                }
                let of = found.entry(spec.clone()).or_default();
                if !of.contains(&subject) {
                    count += 1;
                    of.push(subject);
                }
            }
        }
        found
    }

    /// Returns the target and subjects of a block that shows a specification, `None` for all other blocks.
    #[must_use]
    pub fn from_block(kind: &BlockKind) -> Option<(&ContentRef, Vec<Self>)> {
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
        let block = |name: &str| {
            format!(
                "{{% openapi-schemas spec=\"pets\" schemas=\"{name}\" %}}\n[OpenAPI pets](/openapi/pets)\n\
                 {{% endopenapi-schemas %}}\n\n"
            )
        };
        let count = |blocks: usize| {
            let document = crate::content::document::parse(
                &(0..blocks).map(|number| block(&format!("A{number}"))).collect::<String>(),
            );
            SpecSubject::from_document(&document).values().map(Vec::len).sum::<usize>()
        };
        assert_eq!([MAX_SHOWN_SUBJECTS, MAX_SHOWN_SUBJECTS + 1].map(count), [MAX_SHOWN_SUBJECTS; 2]);
        let text = ["First", "Second"].map(block).concat() + &block("Other").repeat(2);
        let shown = SpecSubject::from_document(&crate::content::document::parse(&text));
        let names = ["First", "Second", "Other"].map(|name| SpecSubject::Schema(name.to_owned()));
        assert_eq!(shown.values().flatten().collect::<Vec<_>>(), names.iter().collect::<Vec<_>>());
    }

    #[test]
    fn specifications_beyond_the_bound_are_not_looked_up() {
        let block = |number: usize| {
            format!(
                "{{% openapi-schemas spec=\"s{number}\" schemas=\"A\" %}}\n[OpenAPI s{number}](/openapi/s{number})\n\
                 {{% endopenapi-schemas %}}\n\n"
            )
        };
        let document =
            crate::content::document::parse(&(0..MAX_SHOWN_SUBJECTS + 9).map(block).collect::<String>());
        assert_eq!(SpecSubject::from_document(&document).len(), MAX_SHOWN_SUBJECTS);
    }
}
