//! The addresses of the anchors of operations, and the colours of their methods.

use percent_encoding::{AsciiSet, utf8_percent_encode};

use crate::encode::SEGMENT;

/// The characters of an anchor that are encoded in an address.
const ANCHOR: &AsciiSet = &SEGMENT.remove(b'/');

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
    use docs_core::platform::SpecSubject;

    use super::*;

    #[test]
    fn anchors_of_operations_are_one_word() {
        let operation =
            |path: &str| SpecSubject::Operation { method: "get".to_owned(), path: path.to_owned() };
        let webhook = SpecSubject::Webhook { method: "post".to_owned(), name: "new pet".to_owned() };
        assert_eq!(operation("/pets/{id}").anchor(), "get/pets/{id}");
        assert_eq!(fragment(&operation("/pets/{id}/").anchor()), "#get/pets/%7Bid%7D/");
        assert_eq!(operation("a\tb").anchor(), "get/a-b");
        assert_eq!(webhook.anchor(), "webhook/post/new-pet");
    }
}
