//! References of an operation to other operations and pages, and its sample requests.

use super::{
    SpecSubject,
    files::SpecValue,
    json::Json,
    model::{
        CodeSampleDetail, ExternalDocsDetail, LinkDetail, LinkedOperation, MAX_EXAMPLE, MAX_VALUES,
        SampleDetails,
    },
    reader::{DetailReader, line, text, title},
    service::MAX_ADDRESS,
};

/// The fields with the sample requests of an operation or of a whole specification.
const CODE_SAMPLES: [&str; 3] = ["x-codeSamples", "x-code-samples", "x-codesamples"];

impl DetailReader<'_, '_> {
    /// Returns the page with further documentation of an object.
    pub(super) fn external_docs(&self, of: &Json) -> Option<ExternalDocsDetail> {
        let docs = of.get("externalDocs")?;
        let address = self.address(docs.get("url"))?;
        Some(ExternalDocsDetail { address, description: text(docs.get("description")) })
    }

    /// Returns an address, resolved against that of the specification. `None` for addresses that are too long.
    pub(super) fn address(&self, of: Option<&Json>) -> Option<String> {
        let address = text(of).filter(|address| address.len() <= MAX_ADDRESS)?;
        Some(self.files.resolve_address(&address))
    }

    /// Returns the links of a response.
    pub(super) fn links(&self, response: &SpecValue) -> Vec<LinkDetail> {
        let all = response.get("links").map(|all| all.fields(MAX_VALUES + 1)).unwrap_or_default();
        if all.len() > MAX_VALUES {
            self.mark_cut();
        }
        let shown = all.into_iter().take(MAX_VALUES);
        shown.map(|(name, link)| self.link(name, &self.files.follow_references(link))).collect()
    }

    fn link(&self, name: String, of: &SpecValue) -> LinkDetail {
        let id = of.text("operationId").map(|id| LinkedOperation::Id(id.trim().to_owned()));
        let operation = id.or_else(|| of.text("operationRef").map(linked_operation));
        let parameters = of.value.get("parameters").map(Json::fields).unwrap_or_default();
        LinkDetail {
            name,
            description: text(of.value.get("description")),
            operation,
            parameters: parameters
                .iter()
                .take(MAX_VALUES)
                .map(|(name, value)| (name.to_string(), line(value)))
                .collect(),
            body: of.value.get("requestBody").map(line),
            server: self.address(of.value.get("server").and_then(|server| server.get("url"))),
        }
    }

    /// Returns the sample requests of an operation. `false` in the operation or the specification turns all samples
    /// off.
    pub(super) fn code_samples(&self, operation: &SpecValue) -> SampleDetails {
        let own = CODE_SAMPLES.into_iter().find_map(|name| operation.get(name));
        let found = own.or_else(|| CODE_SAMPLES.into_iter().find_map(|name| self.files.entry_at(&[name])));
        let Some(found) = found else { return SampleDetails::default() };
        if found.value == Json::Bool(false) {
            return SampleDetails::Off;
        }
        let all = found.items(MAX_VALUES + 1);
        if all.len() > MAX_VALUES {
            self.mark_cut();
        }
        let shown = all.iter().take(MAX_VALUES);
        SampleDetails::Given(shown.filter_map(|sample| self.code_sample(&sample.value)).collect())
    }

    fn code_sample(&self, of: &Json) -> Option<CodeSampleDetail> {
        let of_line = |name: &str| title(of.get(name)?.as_text()?);
        let label = of_line("label");
        let language = of_line("lang").or_else(|| label.clone())?;
        let (source, is_cut) =
            of.get("source").filter(|source| source.as_text().is_some())?.to_sent_text(MAX_EXAMPLE);
        if is_cut {
            self.mark_cut();
        }
        self.count_text(&source)?;
        Some(CodeSampleDetail { label: label.filter(|label| *label != language), language, source })
    }
}

/// Returns the operation of a reference.
fn linked_operation(reference: &str) -> LinkedOperation {
    let unescape = |name: &str| {
        let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy().into_owned();
        name.replace("~1", "/").replace("~0", "~")
    };
    let path = reference.strip_prefix("#/paths/").and_then(|rest| rest.split_once('/'));
    match path {
        Some((path, method)) if !method.contains('/') => LinkedOperation::Subject(SpecSubject::Operation {
            method: method.to_lowercase(),
            path: unescape(path),
        }),
        _ => LinkedOperation::Reference(line(&Json::Text(reference.trim().into()))),
    }
}
