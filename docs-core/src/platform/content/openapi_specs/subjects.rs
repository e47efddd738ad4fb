//! Operations, webhooks and schemas of specifications that are shown in content, with a cache.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    ShownSpec, SpecAudience, SpecDetail, SpecSubject,
    detail::{self, OperationDetail},
    find,
};
use crate::{
    Result,
    content::run_in_place,
    model::{BlockKind, ContentRef, Document, DocumentPart, OpenApiSpecVersionId, OrgId},
    platform::kernel::platform::Platform,
    store::records::OpenApiSpecVersionRecord,
};

/// Maximum number of operations, webhooks and schemas shown per document.
pub(in crate::platform) const MAX_SHOWN_SUBJECTS: usize = 200;
/// Maximum size in bytes of the name of a cached subject. Longer names are not cached.
const MAX_NAME: usize = 1_000;

/// A cache of looked-up subjects. Versions are immutable, so entries never become stale. Stores nothing unless the
/// builder sets a size.
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
        Self::new(0)
    }
}

impl SpecDetailCache {
    pub(in crate::platform) fn new(bytes: u64) -> Self {
        Self(quick_cache::sync::Cache::with_weighter(100, bytes, ByBytes))
    }
}

impl Platform {
    /// Returns the operations, webhooks and schemas that a document shows to an audience, if they exist in the latest
    /// versions of their specifications.
    pub(in crate::platform) async fn shown_specs(
        &self,
        org: &OrgId,
        document: &Document,
        audience: SpecAudience,
    ) -> Result<Vec<ShownSpec>> {
        let mut shown = Vec::new();
        for (slug, subjects) in SpecSubject::from_document(document) {
            let tx = self.read().await?;
            let record = find(&tx, org, &slug).await?.filter(|record| audience.sees(record.visibility));
            let Some(record) = record else { continue };
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
                // Object reads may use the connection pool of the transaction, so the transaction is closed first.
                drop(tx);
                let files = self.spec_bytes(&record.id, &version.filesystem).await?;
                let details = run_in_place(|| detail::find(&files, &missing));
                found = missing.iter().copied().zip(details).collect();
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
    /// Returns the subjects that a document shows, keyed by the slug of their specification, up to the limit of a page.
    #[must_use]
    pub fn from_document(document: &Document) -> BTreeMap<String, Vec<Self>> {
        let blocks = document.parts().filter_map(|part| match part {
            DocumentPart::Block(block) => Self::from_block(&block.kind),
            DocumentPart::Inline(_) => None,
        });
        // `parts` iterates over the document in reverse order.
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

    /// Returns the target and subjects of a block that shows a specification, or `None` for all other blocks.
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
    /// Returns the length of the identifying names in bytes.
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
    /// Returns the approximate memory in bytes.
    fn weight(&self) -> usize {
        match self {
            Self::Schema(of) => body_weight(of),
            Self::Operation(of) => operation_weight(of),
        }
    }
}

fn text_weight(text: &Option<String>) -> usize {
    text.as_ref().map_or(0, String::len)
}

fn operation_weight(of: &OperationDetail) -> usize {
    let OperationDetail { operation_id, summary, description, servers, security, parameters, .. } = of;
    let OperationDetail { request, responses, callbacks, external_docs, samples, .. } = of;
    let variables = |of: &detail::ServerDetail| {
        let size = |of: &detail::VariableDetail| {
            let values = of.values.iter().map(|value| 32 + value.len()).sum::<usize>();
            128 + of.name.len() + of.default.len() + values + text_weight(&of.description)
        };
        of.variables.iter().map(size).sum::<usize>()
    };
    let servers = servers.iter().map(|of| {
        let texts = text_weight(&of.template) + text_weight(&of.description);
        160 + of.url.len() + texts + variables(of)
    });
    let schemes = security.iter().flatten().map(|of| {
        let scopes = of.scopes.iter().map(|of| 64 + of.name.len() + text_weight(&of.description));
        let flows = of.flows.iter().map(|flow| {
            let addresses = flow.addresses.iter().map(|(field, address)| 64 + field.len() + address.len());
            64 + flow.name.len() + addresses.sum::<usize>()
        });
        let texts = [&of.description, &of.token_format, &of.discovery].map(text_weight);
        256 + of.name.len() + scopes.sum::<usize>() + flows.sum::<usize>() + texts.iter().sum::<usize>()
    });
    let request = request.iter().map(|of| text_weight(&of.description) + bodies_weight(&of.bodies));
    let responses = responses.iter().map(|of| {
        let headers = of.headers.iter().map(parameter_weight).sum::<usize>();
        let links = of.links.iter().map(link_weight).sum::<usize>();
        160 + of.status.len() + text_weight(&of.description) + headers + bodies_weight(&of.bodies) + links
    });
    let samples = match samples {
        detail::SampleDetails::Given(all) => all.as_slice(),
        detail::SampleDetails::Off => &[],
    };
    let samples = samples.iter().map(|of| 96 + of.language.len() + text_weight(&of.label) + of.source.len());
    let callbacks = callbacks
        .iter()
        .map(|of| of.name.len() + of.method.len() + of.address.len() + operation_weight(&of.operation));
    let texts = [operation_id, summary, description].map(text_weight);
    600 + texts.iter().sum::<usize>()
        + docs_weight(external_docs)
        + samples.sum::<usize>()
        + servers.sum::<usize>()
        + schemes.sum::<usize>()
        + parameters.iter().map(parameter_weight).sum::<usize>()
        + request.sum::<usize>()
        + responses.sum::<usize>()
        + callbacks.sum::<usize>()
}

fn docs_weight(of: &Option<detail::ExternalDocsDetail>) -> usize {
    of.as_ref().map_or(0, |of| of.address.len() + text_weight(&of.description))
}

fn link_weight(of: &detail::LinkDetail) -> usize {
    let operation = match &of.operation {
        Some(detail::LinkedOperation::Id(name) | detail::LinkedOperation::Reference(name)) => name.len(),
        Some(detail::LinkedOperation::Subject(subject)) => subject.size(),
        None => 0,
    };
    let parameters = of.parameters.iter().map(|(name, value)| 64 + name.len() + value.len());
    let texts = [&of.description, &of.body, &of.server].map(text_weight);
    256 + of.name.len() + operation + parameters.sum::<usize>() + texts.iter().sum::<usize>()
}

fn parameter_weight(of: &detail::ParameterDetail) -> usize {
    let samples = of.sample.iter().map(|sample| 32 + sample.len()).sum::<usize>();
    let query = of.query.iter().map(|(name, value)| 64 + name.len() + value.len()).sum::<usize>();
    let texts = of.name.len() + of.location.len() + text_weight(&of.description) + samples + query;
    288 + texts + schema_weight(&of.schema) + of.examples.iter().map(example_weight).sum::<usize>()
}

fn bodies_weight(all: &[detail::BodyDetail]) -> usize {
    all.iter().map(body_weight).sum()
}

fn body_weight(of: &detail::BodyDetail) -> usize {
    let form = of.form.iter().map(|field| 64 + field.name.len() + field.value.len()).sum::<usize>();
    let examples = of.examples.iter().map(example_weight).sum::<usize>();
    256 + of.name.len() + of.schema.as_ref().map_or(0, schema_weight) + examples + form
}

fn example_weight(of: &detail::ExampleDetail) -> usize {
    let texts = [&of.title, &of.description, &of.address].map(text_weight);
    128 + of.value.len() + texts.iter().sum::<usize>()
}

fn schema_weight(of: &detail::SchemaDetail) -> usize {
    let texts = [&of.title, &of.description, &of.default].map(text_weight);
    let examples = of.examples.iter().map(|example| 32 + example.len()).sum::<usize>();
    let limits = of.limits.iter().map(|(_, value)| 32 + value.len()).sum::<usize>();
    let values = of
        .values
        .iter()
        .map(|value| 96 + value.value.len() + text_weight(&value.name) + text_weight(&value.description));
    let fields = of.fields.iter().map(|field| {
        let name = match &field.name {
            detail::FieldName::Exact(name) | detail::FieldName::Pattern(name) => name.len(),
            detail::FieldName::Other | detail::FieldName::Position(_) => 0,
        };
        64 + name + schema_weight(&field.schema)
    });
    let alternatives = of.choices.iter().flat_map(|choice| &choice.alternatives);
    let alternatives =
        alternatives.map(|of| 96 + of.title.len() + text_weight(&of.value) + schema_weight(&of.schema));
    size_of::<detail::SchemaDetail>()
        + of.kind.len()
        + texts.iter().sum::<usize>()
        + examples
        + docs_weight(&of.external_docs)
        + limits
        + values.sum::<usize>()
        + fields.sum::<usize>()
        + alternatives.sum::<usize>()
        + of.items.as_deref().map_or(0, schema_weight)
}

#[cfg(test)]
mod tests {
    use docs_hostile::assert_weight;
    use serde_json::json;

    use super::*;

    #[test]
    fn weights_of_details_are_their_memory() {
        for (name, path, operation) in [
            ("small", "/a", json!({})),
            ("long texts", "/a", json!({ "summary": "a".repeat(2_000), "description": "b".repeat(8_000) })),
            (
                "parameters",
                "/a",
                json!({ "parameters": (0..40).map(|at| json!({ "name": format!("p{at}"), "in": "query",
                    "schema": { "type": "string" } })).collect::<Vec<_>>() }),
            ),
            (
                "responses",
                "/a",
                json!({ "responses": (200..240).map(|at| (at.to_string(), json!({ "description": "Done.",
                    "content": { "application/json": { "schema": { "type": "object", "properties":
                        { "a": { "type": "string" }, "b": { "type": "integer" } } } } } })))
                    .collect::<serde_json::Map<_, _>>() }),
            ),
            (
                "security",
                "/a",
                json!({ "security": (0..10).map(|at| json!({ (format!("s{at}")): [] })).collect::<Vec<_>>() }),
            ),
            ("a long path", &"/abc".repeat(200), json!({})),
        ] {
            let document = json!({ "openapi": "3.1.0", "info": { "title": "Pets", "version": "1" },
                "paths": { path: { "get": operation } } });
            let file =
                json!({ "specification": document, "isEntrypoint": true, "dir": "", "filename": "a.json" });
            let files = serde_json::to_vec(&json!({ "a.json": file })).expect("JSON");
            let subject = SpecSubject::Operation { method: "get".to_owned(), path: path.to_owned() };
            let build = || {
                let detail = detail::find(&files, &[&subject]).pop().flatten();
                Arc::new(detail.expect("an operation"))
            };
            assert_weight(name, build, |detail| detail.weight() as u64);
        }
    }

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
