//! Operations, webhooks and schemas of a specification in a form for readers.
//!
//! The files of a specification may be large, so they are never parsed as a whole: a value is located in the text, and
//! only that value is parsed. References are followed on use, with bounds on depth and number, so that cycles end.

mod choices;
mod example;
mod files;
mod json;
mod merged;
mod model;
mod operation;
mod reader;
mod related;
mod schema;
mod service;

pub use self::model::{
    AlternativeDetail, BodyDetail, CallbackDetail, ChoiceDetail, CodeSampleDetail, ExampleDetail,
    ExternalDocsDetail, FieldDetail, FieldName, FlowDetail, FormFieldDetail, LinkDetail, LinkedOperation,
    OperationDetail, ParameterDetail, RequestDetail, ResponseDetail, SampleDetails, SchemaDetail,
    SchemaLimit, SchemeDetail, SchemeKind, ScopeDetail, ServerDetail, ShownSpec, SpecDetail, SpecSubject,
    ValueDetail, VariableDetail,
};
use self::{
    files::SpecDocument,
    reader::{DetailReader, Direction},
};

/// Looks up subjects in the files of a specification, given as a version stores them.
///
/// A subject is `None` if it is missing or too large to be shown. The result is shorter than `subjects` if reading all
/// of them would exceed the limit, but it has at least one element. Each element is independent of the other subjects.
pub(super) fn find(filesystem: &[u8], subjects: &[&SpecSubject]) -> Vec<Option<SpecDetail>> {
    let Some(files) = SpecDocument::new(filesystem) else { return subjects.iter().map(|_| None).collect() };
    subjects
        .iter()
        .take_while(|_| files.begin_subject())
        .map(|subject| find_subject(&files, subject))
        .collect()
}

fn find_subject(files: &SpecDocument<'_>, subject: &SpecSubject) -> Option<SpecDetail> {
    let reader = DetailReader::new(files);
    match subject {
        SpecSubject::Operation { method, path } => {
            let operation =
                reader.operation(files.entry_at(&["paths", path])?, method, Direction::Request)?;
            Some(SpecDetail::Operation(Box::new(operation)))
        }
        SpecSubject::Webhook { method, name } => {
            let item =
                files.entry_at(&["webhooks", name]).or_else(|| files.entry_at(&["x-webhooks", name]))?;
            let webhook = reader.operation(item, method, Direction::Response)?;
            // The receiver of a webhook has its own address.
            let webhook = OperationDetail { servers: Vec::new(), ..webhook };
            Some(SpecDetail::Operation(Box::new(webhook)))
        }
        SpecSubject::Schema(name) => {
            let found = files
                .entry_at(&["components", "schemas", name])
                .or_else(|| files.entry_at(&["definitions", name]))?;
            let body = reader.body(name, Some(&found), Vec::new(), Direction::Both);
            Some(SpecDetail::Schema(Box::new(body)))
        }
    }
}

#[cfg(test)]
mod tests;
