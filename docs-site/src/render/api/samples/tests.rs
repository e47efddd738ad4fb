use std::process::Command;

use docs_core::platform::{RequestDetail, ServerDetail};

use super::*;

/// Texts with characters that have a meaning in one of the languages.
const HOSTILE: [&str; 16] = [
    "",
    "plain",
    "it's",
    "'; rm -rf / #",
    "$(id)",
    "`id`",
    "a\\",
    "\\'",
    "\"",
    "two\nlines",
    "</code><script>",
    "ä 日本 🦀",
    "%41%20",
    "{x}",
    "@file",
    "tab\tand\u{1}control\u{7f}\u{2028}",
];

/// The words of a command, as a shell splits them.
fn words(command: &str) -> Vec<String> {
    let (mut all, mut word, mut is_word) = (Vec::new(), String::new(), false);
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        match c {
            '\'' => {
                is_word = true;
                word.extend(rest.by_ref().take_while(|c| *c != '\''));
            }
            '\\' => match rest.next() {
                Some('\n') | None => {}
                Some(c) => {
                    is_word = true;
                    word.push(c);
                }
            },
            ' ' | '\n' => {
                if std::mem::take(&mut is_word) {
                    all.push(std::mem::take(&mut word));
                }
            }
            '$' | '`' | '"' | ';' | '&' | '|' | '<' | '>' | '(' | ')' | '#' => {
                panic!("{c} outside of quotes: {command}")
            }
            c => {
                is_word = true;
                word.push(c);
            }
        }
    }
    all.extend(is_word.then_some(word));
    all
}

/// An operation with a text in every place that a sample shows.
fn operation(text: &str, body: BodyDetail) -> OperationDetail {
    let mut of = OperationDetail::default();
    let mut server = ServerDetail::default();
    server.url = format!("https://api.test/{text}");
    of.servers = vec![server];
    of.parameters = ["query", "header", "cookie", "path"]
        .map(|location| {
            let mut parameter = ParameterDetail::default();
            (parameter.name, parameter.location) = (format!("n{text}"), location.to_owned());
            parameter.required = true;
            parameter.sample = vec![text.to_owned()];
            parameter.schema.default = Some(text.to_owned());
            parameter
        })
        .into();
    let mut request = RequestDetail::default();
    request.bodies = vec![body];
    of.request = Some(request);
    of
}

fn body(name: &str, value: &str) -> BodyDetail {
    let mut example = docs_core::platform::ExampleDetail::default();
    example.value = value.to_owned();
    let mut body = BodyDetail::default();
    body.name = name.to_owned();
    body.examples = vec![example];
    let mut field = FormFieldDetail::default();
    (field.name, field.value) = (format!("f{value}"), value.to_owned());
    body.form = vec![field];
    body
}

#[test]
fn quoted_texts_of_a_shell_round_trip() {
    for text in HOSTILE {
        assert_eq!(words(&shell(text)), [text], "{text:?}");
        let printed = Command::new("sh").arg("-c").arg(format!("printf %s {}", shell(text))).output();
        let printed = printed.expect("a shell").stdout;
        assert_eq!(String::from_utf8(printed).as_deref(), Ok(text), "{text:?}");
    }
    // Any combination of the texts.
    let mut state = 1_usize;
    for _ in 0..2_000 {
        let text: String = (0..state % 6).map(|at| HOSTILE[(state >> (4 * at)) % HOSTILE.len()]).collect();
        assert_eq!(words(&shell(&text)), [text.as_str()], "{text:?}");
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
}

#[test]
fn curl_commands_contain_only_quoted_values() {
    for text in HOSTILE {
        for name in ["application/json", "multipart/form-data", "application/x-www-form-urlencoded", text] {
            let request = SampleRequest::new("post", "/a/{id}", &operation(text, body(name, text)));
            let found = words(&request.curl());
            assert_eq!(found[..3], ["curl", "-X", "POST"], "{text:?}");
            let options = ["-H", "--data-raw", "-d", "--form-string", "-F"];
            assert!(
                found[4..].chunks(2).all(|pair| pair.len() == 2 && options.contains(&pair[0].as_str())),
                "{found:?}"
            );
            if name == "multipart/form-data" {
                assert_eq!(found.last(), Some(&format!("f{text}={text}")));
            }
        }
        let text_body = SampleRequest::new("post", "/a", &operation("", body("text/plain", text)));
        assert_eq!(words(&text_body.curl()).last().map(String::as_str), Some(text));
    }
}

#[test]
fn samples_contain_examples_that_they_can_send() {
    let (multipart, pairs) = ("multipart/form-data; boundary=x", "application/x-www-form-urlencoded");
    for (name, value, is_contained) in [
        ("application/json", "{\"a\": 1}", true),
        ("application/json", "[1]", true),
        ("text/plain", "raw", true),
        (multipart, "{\"a\": 1}", true),
        (multipart, "{}", true),
        (multipart, "[{\"a\": 1}]", false),
        (multipart, "raw", false),
        (pairs, "{\"a\": [1, {}]}", true),
        (pairs, "a=1", false),
        (pairs, "7", false),
    ] {
        assert_eq!(contains_example(&body(name, value)), is_contained, "{name} {value}");
    }
    assert!(contains_example(&BodyDetail::default()));
    let mut elsewhere = body("application/json", "");
    elsewhere.examples[0].address = Some("https://a.test/example.json".to_owned());
    let mut long = body("application/json", "[1");
    long.examples[0].is_cut = true;
    assert!(!contains_example(&elsewhere) && !contains_example(&long));
}

#[test]
fn literals_of_programs_round_trip() {
    for text in HOSTILE {
        assert_eq!(serde_json::from_str::<String>(&literal(text)).as_deref().ok(), Some(text));
        let go = go_literal(text);
        match go.strip_prefix('`').and_then(|rest| rest.strip_suffix('`')) {
            Some(raw) => assert_eq!(raw, text),
            None => assert_eq!(serde_json::from_str::<String>(&go).as_deref().ok(), Some(text)),
        }
    }
    let json = "{\n  \"true\": [true, false, null, -1.5e3],\n  \"a\\\"null\\\\\": \"null true\"\n}";
    let python = "{\n  \"true\": [True, False, None, -1.5e3],\n  \"a\\\"null\\\\\": \"null true\"\n}";
    assert_eq!(python_literal(json), python);
}

#[test]
fn headers_of_samples_have_one_line() {
    let request = SampleRequest::new("get", "/a", &operation("x\r\nEvil: 1", BodyDetail::default()));
    for sample in [request.javascript(), request.python(), request.go()] {
        assert!(!sample.contains("\\r") && !sample.contains("\\n"), "{sample}");
    }
    assert!(request.headers.iter().all(|(name, value)| !format!("{name}{value}").contains(['\r', '\n'])));
}

#[test]
fn samples_contain_the_credentials_of_the_first_alternative() {
    let scheme = |kind: SchemeKind| {
        let mut scheme = SchemeDetail::default();
        scheme.kind = kind;
        scheme
    };
    let mut of = OperationDetail::default();
    let key = |location: &str| SchemeKind::ApiKey { location: location.to_owned(), name: "k y".to_owned() };
    of.security = vec![vec![
        scheme(SchemeKind::Http("bearer".to_owned())),
        scheme(key("query")),
        scheme(key("cookie")),
        scheme(key("header")),
    ]];
    let request = SampleRequest::new("get", "/a", &of);
    assert_eq!(request.url, "/a?k%20y=YOUR_API_KEY");
    let headers: Vec<String> =
        request.headers.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    assert_eq!(
        headers,
        ["Authorization: Bearer YOUR_TOKEN", "k y: YOUR_API_KEY", "Cookie: k y=YOUR_API_KEY"]
    );
    of.security.insert(0, Vec::new());
    assert!(SampleRequest::new("get", "/a", &of).headers.is_empty());
}

#[test]
fn lines_of_a_request_longer_than_the_bound_are_cut() {
    let length = |characters: usize| {
        let request = SampleRequest::new("get", &"/".repeat(characters), &OperationDetail::default()).curl();
        request.len() - "curl -X GET ''".len()
    };
    assert_eq!([MAX_LINE - 1, MAX_LINE, MAX_LINE + 1].map(length), [MAX_LINE - 1, MAX_LINE, MAX_LINE]);
}
