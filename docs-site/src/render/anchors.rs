//! The anchors of operations, and the colours of their methods.

use docs_core::platform::SpecSubject;
use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::encode::SEGMENT;

/// The characters of an anchor that are encoded in an address.
const ANCHOR: &AsciiSet = &SEGMENT.remove(b'/');

/// The anchor of an operation or webhook on a page. The anchors of headings contain no slash.
pub(crate) fn operation_anchor(subject: &SpecSubject) -> String {
    let anchor = match subject {
        SpecSubject::Operation { method, path } if path.starts_with('/') => format!("{method}{path}"),
        SpecSubject::Operation { method, path: name } => format!("{method}/{name}"),
        SpecSubject::Webhook { method, name } => format!("webhook/{method}/{name}"),
        SpecSubject::Schema(name) => format!("schema/{name}"),
        _ => String::new(),
    };
    anchor.chars().map(|c| if c.is_whitespace() || c.is_control() { '-' } else { c }).collect()
}

/// The address of an anchor on the same page.
pub(crate) fn fragment(anchor: &str) -> String {
    format!("#{}", utf8_percent_encode(anchor, ANCHOR))
}

/// The class of the colour of a method.
pub(crate) fn method_class(method: &str) -> &'static str {
    match method {
        "get" => "get",
        "post" => "post",
        "put" => "put",
        "patch" => "patch",
        "delete" => "delete",
        _ => "other",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anchors_of_operations_are_one_word() {
        let operation =
            |path: &str| SpecSubject::Operation { method: "get".to_owned(), path: path.to_owned() };
        let webhook = SpecSubject::Webhook { method: "post".to_owned(), name: "new pet".to_owned() };
        assert_eq!(operation_anchor(&operation("/pets/{id}")), "get/pets/{id}");
        assert_eq!(fragment(&operation_anchor(&operation("/pets/{id}/"))), "#get/pets/%7Bid%7D/");
        assert_eq!(operation_anchor(&operation("a\tb")), "get/a-b");
        assert_eq!(operation_anchor(&webhook), "webhook/post/new-pet");
    }
}
