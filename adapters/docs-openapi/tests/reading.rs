//! Parsing of valid specifications, and the problems reported for invalid ones.

use bytes::Bytes;
use docs_openapi::read;
use docs_ports::{ReadSpec, SpecFile, SpecFiles, SpecFormat, SpecOperation};
use serde_json::json;

fn file(location: &str, text: &str) -> SpecFile {
    SpecFile { location: location.to_owned(), base: None, bytes: Bytes::copy_from_slice(text.as_bytes()) }
}

fn read_text(text: &str) -> ReadSpec {
    read(&SpecFiles { entry: file("", text), others: Vec::new() }).expect("it can be read")
}

/// Returns the problems as text, with line and pointer.
fn problems(text: &str) -> Vec<String> {
    let told = read_text(text).problems.into_iter();
    told.map(|it| format!("{} {}: {}", it.line.unwrap_or_default(), it.pointer, it.message)).collect()
}

#[test]
fn every_version_is_read_from_json_and_yaml() {
    let operation =
        json!({ "summary": "List\n all", "tags": ["b", "a", "b"], "deprecated": true, "responses": {} });
    let paths =
        json!({ "/z": { "get": operation }, "/a": { "parameters": [], "post": { "responses": {} } } });
    let tags = json!([{ "name": "a", "x-page-title": " T ", "x-parent": "b" }]);
    let info = json!({ "title": "A", "version": "1", "description": "Says" });
    let versions = [
        (
            "swagger",
            "2.0",
            json!({ "definitions": { "Z": {}, "A": {} }, "host": "x.example", "basePath": "/v", "schemes": ["https"] }),
        ),
        (
            "openapi",
            "3.0.4",
            json!({ "components": { "schemas": { "Z": {}, "A": {} } }, "servers": [{ "url": "https://x.example/v" }] }),
        ),
        (
            "openapi",
            "3.1.1",
            json!({ "components": { "schemas": { "Z": {}, "A": {} } }, "servers": [{ "url": "https://x.example/v" }] }),
        ),
    ];
    for (name, version, more) in versions {
        let mut value = json!({ name: version, "info": info, "tags": tags, "paths": paths });
        value.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        // `serde_json::Value` sorts fields, so document order is alphabetical here.
        let text = value.to_string();
        for (text, format) in
            [(text.clone(), SpecFormat::Json), (format!("# YAML\n{text}\n"), SpecFormat::Yaml)]
        {
            let spec = read_text(&text);
            assert_eq!(spec.problems, [], "{version}");
            assert_eq!(
                (spec.files[0].format, spec.files[0].json.is_some()),
                (format, format == SpecFormat::Yaml)
            );
            let outline = spec.outline;
            assert_eq!(
                (outline.openapi.as_str(), outline.title.as_str(), outline.version.as_str()),
                (version, "A", "1")
            );
            assert_eq!(outline.servers, ["https://x.example/v"]);
            assert_eq!(outline.schemas, ["A", "Z"]);
            let tags: Vec<_> = outline
                .tags
                .iter()
                .map(|tag| (tag.name.as_str(), tag.title.as_deref(), tag.parent.as_deref()))
                .collect();
            assert_eq!(tags, [("a", Some("T"), Some("b")), ("b", None, None)], "listed first, then used");
            let listed = SpecOperation {
                method: "get".to_owned(),
                path: "/z".to_owned(),
                operation_id: None,
                summary: Some("List all".to_owned()),
                tags: vec!["b".to_owned(), "a".to_owned()],
                deprecated: true,
            };
            assert_eq!((outline.operations[0].path.as_str(), &outline.operations[1]), ("/a", &listed));
        }
    }
}

#[test]
fn document_order_is_preserved() {
    let text = "openapi: 3.1.0\ninfo: {title: A, version: 1.0}\npaths:\n  /z: {put: {}, get: {}}\n  /a: {get: {}}\n\
                webhooks:\n  w: {post: {}}\n";
    let outline = read_text(text).outline;
    let order: Vec<_> = outline.operations.iter().map(|it| format!("{} {}", it.method, it.path)).collect();
    assert_eq!(order, ["put /z", "get /z", "get /a"]);
    assert_eq!(outline.version, "1.0", "a number of YAML is meant as a text");
    assert_eq!(outline.webhooks[0].path, "w");
}

#[test]
fn webhooks_of_the_extension_are_read() {
    let one = "w: {post: {summary: S, tags: [t]}}";
    for (version, rest, found) in [
        ("openapi: 3.0.3", format!("paths: {{}}\nx-webhooks: {{{one}}}"), &["post w"][..]),
        ("openapi: 3.0.3", format!("x-webhooks: {{{one}}}"), &["post w"]),
        ("openapi: 3.1.0", format!("x-webhooks: {{{one}}}"), &["post w"]),
        ("swagger: '2.0'", format!("paths: {{}}\nx-webhooks: {{{one}}}"), &["post w"]),
        (
            "openapi: 3.1.0",
            format!("webhooks: {{{one}}}\nx-webhooks: {{w: {{put: {{}}, post: {{}}}}}}"),
            &["post w", "put w"],
        ),
        (
            "openapi: 3.0.3",
            "paths: {}\nx-webhooks: {w: {$ref: '#/x-webhooks/v'}, v: {get: {}}}".to_owned(),
            &["get w", "get v"],
        ),
        // An extension of another shape is ignored, with its references.
        ("openapi: 3.0.3", "paths: {}\nx-webhooks: [{$ref: '#/gone'}]".to_owned(), &[]),
        ("openapi: 3.0.3", "paths: {}\nx-webhooks: {count: 1, w: {$ref: '#/gone'}}".to_owned(), &[]),
    ] {
        let text = format!("{version}\ninfo: {{title: A, version: '1'}}\n{rest}\n");
        let spec = read_text(&text);
        let webhooks = spec.outline.webhooks.iter().map(|of| format!("{} {}", of.method, of.path));
        assert_eq!(
            (webhooks.collect::<Vec<_>>().join(", "), spec.problems),
            (found.join(", "), Vec::new()),
            "{text}"
        );
    }
    let start = "openapi: 3.0.3\ninfo: {title: A, version: '1'}\n";
    for (text, expected) in [
        ("x-webhooks: [1]", "0 : must have `paths`"),
        (
            "paths: {}\nx-webhooks: {w: {post: {tags: x}}}",
            "/x-webhooks/w/post/tags: must be a list of strings",
        ),
        (
            "paths: {}\nx-webhooks: {w: {$ref: '#/gone'}}",
            "/x-webhooks/w/$ref: refers to `#/gone`, which does not",
        ),
    ] {
        let told = problems(&format!("{start}{text}\n"));
        assert!(told.iter().any(|told| told.contains(expected)), "{text}\n{told:#?}");
    }
}

#[test]
fn problems_contain_line_pointer_and_message() {
    let start = "openapi: 3.0.0\ninfo: {title: A, version: '1'}\n";
    for (text, expected) in [
        ("", "0 : must be an object, is null"),
        ("[]", "0 : must be an object, is a list"),
        ("{\n \"openapi\": \"3.0.0\",\n \"a\": }", "3 : must be valid JSON: expected value"),
        ("a: 1\nb: [\n", "must be valid YAML: "),
        ("a: 1\na: 2\n", "must be valid YAML: duplicate mapping key: a not allowed here"),
        ("{\"a\": 1, \"a\": 2}", "1 : must be valid JSON: the field `a` is a duplicate"),
        ("title: A\n", "0 : must be an OpenAPI specification with `openapi`"),
        (
            "info: {}\nopenapi: 4.0.0\n",
            "2 /openapi: must be a supported version (2.0, 3.0 or 3.1), is `4.0.0`",
        ),
        ("swagger: '1.2'\n", "1 /swagger: must be a supported version"),
        ("openapi: 3.0.0\n", "0 : must have `info`"),
        ("openapi: 3.0.0\ninfo: x\n", "2 /info: must be an object, is a string"),
        ("openapi: 3.0.0\ninfo: {title: [], version: 1}\n", "2 /info/title: must be a string, is a list"),
        (
            "openapi: 3.1.0\ninfo: {title: a, version: 1}\n",
            "0 : must have `paths`, `webhooks` or `components`",
        ),
        (&format!("{start}paths: []\n"), "3 /paths: must be an object, is a list"),
        (&format!("{start}paths:\n  a: {{}}\n"), "4 /paths/a: the path `a` must begin with `/`"),
        (&format!("{start}paths:\n  /a: 1\n"), "4 /paths/~1a: must be an object, is a number"),
        (&format!("{start}paths:\n  /a:\n    get: no\n"), "5 /paths/~1a/get: must be an object, is a string"),
        (
            &format!("{start}paths:\n  /a:\n    get: {{tags: x}}\n"),
            "5 /paths/~1a/get/tags: must be a list of strings",
        ),
        (
            &format!(
                "{start}paths:\n  /a:\n    get:\n      parameters:\n        - in: nowhere\n          name: a\n"
            ),
            "7 /paths/~1a/get/parameters/0: must have `in`",
        ),
        (
            &format!("{start}paths:\n  /a:\n    get: {{operationId: x}}\n    put: {{operationId: x}}\n"),
            "6 /paths/~1a/put/operationId: `x` is already the operationId of /paths/~1a/get",
        ),
        (&format!("{start}paths: {{}}\ntags:\n  - {{}}\n"), "5 /tags/0: must have `name`, a string"),
        (
            &format!(
                "{start}paths: {{}}\ncomponents:\n  schemas:\n    A:\n      $ref: '#/components/schemas/B'\n"
            ),
            "7 /components/schemas/A/$ref: refers to `#/components/schemas/B`, which does not exist",
        ),
        (
            &format!("{start}paths: {{}}\ncomponents: {{schemas: {{A: {{$ref: other.yaml}}}}}}\n"),
            "/components/schemas/A/$ref: refers to the file `other.yaml`, which cannot be resolved from `text`",
        ),
        (
            &format!("{start}paths: {{}}\ncomponents: {{schemas: {{A: {{$ref: 'file:///etc/passwd'}}}}}}\n"),
            "/components/schemas/A/$ref: refers to `file:///etc/passwd`; the scheme must be http or https",
        ),
    ] {
        let told = problems(text);
        assert!(told.iter().any(|told| told.contains(expected)), "{text}\n{expected}\n{told:#?}");
    }
}

#[test]
fn a_specification_that_is_not_utf_8_is_refused() {
    let latin = SpecFiles {
        entry: SpecFile { bytes: Bytes::from_static(b"a: \xe4\n"), ..SpecFile::default() },
        others: Vec::new(),
    };
    assert!(read(&latin).expect("told").problems[0].message.contains("must be UTF-8"));
}

#[test]
fn references_in_data_and_named_keys_are_ignored() {
    let text = r#"
openapi: 3.1.0
info: { title: A, version: '1' }
paths: {}
x-more: { $ref: '#/gone' }
components:
  schemas:
    A:
      example: { $ref: '#/gone' }
      default: { $ref: '#/gone' }
      enum: [{ $ref: '#/gone' }]
      properties:
        example: { $ref: '#/components/schemas/A' }
        $ref: { type: string }
    default: { $ref: '#/components/schemas/A' }
  examples:
    one: { value: { $ref: '#/gone' } }
"#;
    assert_eq!(problems(text), Vec::<String>::new());
    let right = "example: { $ref: '#/components/schemas/A' }";
    let wrong = text.replace(right, "example: { $ref: '#/components/schemas/B' }");
    assert_eq!(problems(&wrong).len(), 1);
}

#[test]
fn missing_referenced_files_are_listed_until_provided() {
    let entry = file(
        "https://x.example/v1/openapi.yaml",
        "openapi: 3.0.0\ninfo: {title: A, version: '1'}\n\
         paths:\n  /a: {$ref: 'a.yaml#/one'}\n  /b: {$ref: '/b.json'}\n  /c:\n    get: {$ref: 'a.yaml#/get'}\n",
    );
    let spec = read(&SpecFiles { entry: entry.clone(), others: Vec::new() }).expect("read");
    assert_eq!(spec.missing, ["https://x.example/b.json", "https://x.example/v1/a.yaml"]);
    assert_eq!(spec.outline.operations.len(), 1, "what is known of it so far is that it is there");
    let others = vec![
        file("https://x.example/b.json", "{\"get\": {\"responses\": {}}}"),
        file(
            "https://x.example/v1/a.yaml",
            "one:\n  put: {responses: {'200': {$ref: '#/two'}}}\nget: {tags: [t]}\n",
        ),
    ];
    let spec = read(&SpecFiles { entry, others }).expect("read");
    assert_eq!(spec.missing, Vec::<String>::new());
    let order: Vec<_> =
        spec.outline.operations.iter().map(|it| format!("{} {}", it.method, it.path)).collect();
    assert_eq!(order, ["put /a", "get /b", "get /c"]);
    assert_eq!(spec.outline.operations[2].tags, ["t"], "an operation may be in another file too");
    assert_eq!(spec.problems.len(), 1);
    assert!(spec.problems[0].message.starts_with("in https://x.example/v1/a.yaml: refers to `#/two`"));
}

#[test]
fn relative_references_resolve_against_the_base_url() {
    let entry = file(
        "https://x.example/openapi.yaml",
        "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths:\n  /a: {$ref: 'a.yaml#/one'}\n",
    );
    let moved = "one:\n  put: {responses: {'200': {$ref: 'parts.yaml#/ok'}}}\n";
    let moved = SpecFile {
        base: Some("https://y.example/v2/b.yaml".to_owned()),
        ..file("https://x.example/a.yaml", moved)
    };
    let spec = read(&SpecFiles { entry, others: vec![moved] }).expect("read");
    assert_eq!(spec.outline.operations.len(), 1, "it is found by the name that others have for it");
    assert_eq!(spec.missing, ["https://y.example/v2/parts.yaml"]);
    assert_eq!(spec.files[0].references, ["https://x.example/a.yaml"]);
    assert_eq!(spec.files[1].references, ["https://y.example/v2/parts.yaml"]);
}

#[test]
fn invalid_referenced_file_is_reported_with_url_and_line() {
    let entry = file(
        "https://x.example/openapi.yaml",
        "openapi: 3.0.0\ninfo: {title: A, version: '1'}\npaths:\n  /a: {$ref: 'a.json'}\n",
    );
    for (text, line, why) in [
        ("{\n  \"get\": {\n    \"tags\": [}\n", 3, "must be valid JSON: "),
        ("get:\n  tags: [a]\n  tags: [b]\n", 3, "must be valid YAML: "),
    ] {
        let others = vec![file("https://x.example/a.json", text)];
        let problems = read(&SpecFiles { entry: entry.clone(), others }).expect("told").problems;
        let told = format!("the file https://x.example/a.json {why}");
        assert!(problems[0].message.starts_with(&told), "{problems:?}");
        assert_eq!(problems[0].line, Some(line), "{problems:?}");
    }
}
