//! The branch and commit of a push, parsed while the delivery is received.

/// Maximum length of the branch and of the commit in a delivery, in bytes of JSON. A delivery with a longer value
/// counts as unreadable.
pub(super) const MAX_VALUE: usize = 4 * 1024;

/// The relevant fields of a push event. Both are `None` if the format is not recognized.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Push {
    pub(super) reference: Option<String>,
    pub(super) after: Option<String>,
}

/// Parses a [`Push`] from the chunks of a body, and stores only the relevant fields. The sender is not authenticated
/// until the end of the body, so anyone could otherwise make the server hold large bodies in memory.
#[derive(Debug)]
pub(super) struct PushReader {
    body: Body,
    /// Number of objects and lists that are open at the current byte.
    depth: usize,
    /// The state within a string, or `None` outside of strings.
    string: Option<Escape>,
    role: Role,
    /// The relevant field whose value follows or is being read, if any.
    field: Option<Field>,
    /// The current string with its quotation marks, truncated to a limit.
    text: Vec<u8>,
    push: Push,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Body {
    Begins,
    IsOpen,
    IsComplete,
    /// The body is not an object, or a field has the wrong type.
    IsUnreadable,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Escape {
    None,
    /// The previous byte is a backslash.
    Begun,
}

/// The meaning of the next string in the outermost object.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    Name,
    Value,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Field {
    Reference,
    After,
}

impl PushReader {
    pub(super) const fn new() -> Self {
        Self {
            body: Body::Begins,
            depth: 0,
            string: None,
            role: Role::Name,
            field: None,
            text: Vec::new(),
            push: Push { reference: None, after: None },
        }
    }

    /// Reads a chunk of the body.
    pub(super) fn read(&mut self, part: &[u8]) {
        for &byte in part {
            match self.string {
                _ if self.body == Body::IsUnreadable => return,
                Some(escape) => self.string_byte(byte, escape),
                None => self.plain_byte(byte),
            }
        }
    }

    /// Returns the push, without fields if the body is not an object with these fields.
    pub(super) fn end(self) -> Push {
        match self.body {
            Body::IsComplete => self.push,
            _ => Push::default(),
        }
    }

    fn plain_byte(&mut self, byte: u8) {
        match (byte, self.depth) {
            (b' ' | b'\t' | b'\n' | b'\r', _) => {}
            (b'{', 0) if self.body == Body::Begins => {
                self.body = Body::IsOpen;
                self.depth = 1;
            }
            (_, 0) => self.body = Body::IsUnreadable,
            (b'"', _) => {
                self.string = Some(Escape::None);
                self.text.clear();
                self.store(byte);
            }
            (b'}' | b']', _) => {
                self.depth -= 1;
                if self.depth == 0 {
                    self.body = Body::IsComplete;
                }
            }
            (b',', 1) => (self.role, self.field) = (Role::Name, None),
            (b':', 1) => self.role = Role::Value,
            _ => {
                if self.depth == 1 {
                    self.other_value(byte);
                }
                self.depth += usize::from(matches!(byte, b'{' | b'['));
            }
        }
    }

    fn string_byte(&mut self, byte: u8, escape: Escape) {
        self.store(byte);
        self.string = match (escape, byte) {
            (Escape::None, b'\\') => Some(Escape::Begun),
            (Escape::None, b'"') => {
                if self.depth == 1 {
                    self.end_string();
                }
                None
            }
            _ => Some(Escape::None),
        };
    }

    /// Stores a byte of a name, or of the value of a used field. At most one byte beyond the limit is stored, which
    /// marks a longer string.
    fn store(&mut self, byte: u8) {
        let is_used = self.depth == 1 && (self.role == Role::Name || self.field.is_some());
        if is_used && self.text.len() <= MAX_VALUE {
            self.text.push(byte);
        }
    }

    fn end_string(&mut self) {
        let text = match self.text.len() {
            ..=MAX_VALUE => serde_json::from_slice::<String>(&self.text).ok(),
            _ => None,
        };
        match (self.role, self.field.take()) {
            (Role::Name, _) => {
                self.field = match text.as_deref() {
                    Some("ref") => Some(Field::Reference),
                    Some("after") => Some(Field::After),
                    _ => None,
                }
            }
            (Role::Value, None) => {}
            (Role::Value, Some(field)) => {
                let value = match field {
                    Field::Reference => &mut self.push.reference,
                    Field::After => &mut self.push.after,
                };
                if text.is_none() || value.is_some() {
                    self.body = Body::IsUnreadable;
                }
                *value = text;
            }
        }
    }

    /// Reads the first byte of a non-string value. Only `null` is valid for a used field.
    fn other_value(&mut self, byte: u8) {
        if self.role == Role::Name || (self.field.take().is_some() && byte != b'n') {
            self.body = Body::IsUnreadable;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Push {
        let whole = {
            let mut reader = PushReader::new();
            reader.read(text.as_bytes());
            reader.end()
        };
        let mut reader = PushReader::new();
        for byte in text.as_bytes().chunks(1) {
            reader.read(byte);
        }
        assert_eq!(reader.end(), whole, "{text}");
        whole
    }

    fn push(reference: &str, after: &str) -> Push {
        Push { reference: Some(reference.to_owned()), after: Some(after.to_owned()) }
    }

    #[test]
    fn other_formats_have_no_fields() {
        for other in [
            "",
            "[]",
            "payload=%7B%7D",
            r#"{"push":{"changes":[]}}"#,
            r#"{"ref":5}"#,
            r#"{"ref":["a"],"after":"b"}"#,
            r#"{"ref":"a","ref":"b"}"#,
            r#"{"ref":"a""#,
            r#"{"ref":"a"} x"#,
            r#"{"ref":"\x"}"#,
            r#"{"commits":[{"ref":"a","after":"b"}]}"#,
            r#"{"x":{"ref":"a"}}"#,
            r#"{"message":"\",\"ref\":\"a"}"#,
            r#"{"ref":null}"#,
            r#"["ref","a"]"#,
            r#"{5}"#,
            "}",
        ] {
            assert_eq!(read(other), Push::default(), "{other}");
        }
    }

    #[test]
    fn fields_are_read_at_any_position_of_a_body() {
        let commits: Vec<_> =
            (0..20).map(|n| json!({ "id": n, "message": "a \"ref\": \\ {[", "added": ["}]"] })).collect();
        let head = json!({ "ref": "refs/heads/a", "before": "0", "after": "b", "commits": commits });
        let tail = json!({ "object_kind": "push", "commits": commits, "z": { "after": "c" } }).to_string();
        let tail = tail.trim_end_matches('}').to_owned() + r#"}, "after" : "b", "ref": "refs/heads/a" }"#;
        for text in [head.to_string(), serde_json::to_string_pretty(&head).expect("JSON"), tail] {
            assert_eq!(read(&text), push("refs/heads/a", "b"), "{text}");
        }
        let escaped = r#"{"\u0072ef":"refs/heads/\u00fc\"","after":"b","n":-1.5e3,"t":true,"o":null}"#;
        assert_eq!(read(escaped), push("refs/heads/ü\"", "b"));
    }

    #[test]
    fn long_branches_are_not_stored() {
        let most = "x".repeat(MAX_VALUE - 2);
        assert_eq!(read(&json!({ "ref": most, "after": "b" }).to_string()), push(&most, "b"));
        let more = "x".repeat(MAX_VALUE - 1);
        assert_eq!(read(&json!({ "ref": more, "after": "b" }).to_string()), Push::default());
        let mut reader = PushReader::new();
        for _ in 0..3 {
            for part in ["{\"ref\":\"", "\",\"", "\":\""] {
                reader.read(part.as_bytes());
                reader.read(&[b'x'; 100_000]);
                assert!(reader.text.capacity() <= 2 * (MAX_VALUE + 1), "{}", reader.text.capacity());
            }
        }
    }

    #[test]
    fn complete_bodies_are_read_as_by_serde() {
        for text in [
            r#"{"a":"\\","ref":"x\\\"y","after":""}"#,
            r#"{ "after" : "b" , "ref" : "a" }"#,
            r#"{"after":"😀","ref":"\ud83d\ude00"}"#,
            r#"{"":{"":[[{}]]},"ref":"a","b":[1,"]","}"]}"#,
        ] {
            let value: serde_json::Value = serde_json::from_str(text).expect("JSON");
            let field = |name: &str| value.get(name).and_then(|it| it.as_str()).map(str::to_owned);
            assert_eq!(read(text), Push { reference: field("ref"), after: field("after") }, "{text}");
        }
    }
}
