//! The fields of operations on a page: their order, their types and their examples, as readers see them.

use crate::world::World;

/// Returns the visible text of a page with the operation `GET /x`, with single spaces.
async fn text_of(spec: &str) -> String {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.public_spec("fields", spec.to_owned()).await;
    w.platform.settle().await.expect("settled");
    let page = "{% openapi-operation spec=\"fields\" path=\"/x\" method=\"get\" %}\n[API](/openapi/fields)\n\
                {% endopenapi-operation %}\n";
    w.page(&space, "Fields", page).await;
    let (_, site) = w.site("Docs", &space).await;
    let html = w.html(&site).await;
    let article = html.split("<article>").nth(1).and_then(|rest| rest.split("</article>").next());
    let mut text = String::new();
    for part in article.expect("an article").split('<') {
        text.push_str(part.split_once('>').map_or("", |(_, text)| text));
        text.push(' ');
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace("&quot;", "\"")
}

#[tokio::test]
async fn fields_are_shown_in_order_with_their_types() {
    let openapi = |media: &str| {
        format!(
            "openapi: 3.0.3\ninfo: {{title: A, version: '1'}}\npaths: {{/x: {{get: {{responses: {{'200': {{description: ok, content: \
             {{application/json: {media}}}}}}}}}}}}}\n"
        )
    };
    let swagger = "swagger: '2.0'\ninfo: {title: A, version: '1'}\nproduces: [application/json]\npaths: {/x: {get: {responses: \
                   {'200': {description: ok, schema: {type: object, properties: {name: {type: string, x-nullable: true}}}}}}}}\n";
    let string = "{type: string}";
    for (spec, parts) in [
        (
            openapi(&format!(
                "{{schema: {{type: object, properties: {{zip: {string}, street: {string}, apartment: {string}}}}}}}"
            )),
            &[
                "zip string street string apartment string",
                "\"zip\" : \"text\" , \"street\" : \"text\" , \"apartment\" :",
            ][..],
        ),
        (
            openapi(
                "{schema: {type: object, properties: {tags: {type: array, nullable: true, items: {type: string}}}}}",
            ),
            &["tags array of string or null"],
        ),
        (
            openapi(
                "{schema: {type: object, properties: {owner: {type: object, nullable: true, properties: {id: {type: string}}}}}}",
            ),
            &["owner object or null", "id string"],
        ),
        (
            openapi(
                "{schema: {type: object}, examples: {b: {summary: Found, value: {ok: true}}, a: {summary: Nothing found, value: {ok: false}}}}",
            ),
            &["Found { \"ok\" : true }", "Nothing found { \"ok\" : false }"],
        ),
        (swagger.to_owned(), &["name string or null"]),
    ] {
        let text = text_of(&spec).await;
        let mut rest = text.as_str();
        for part in parts {
            let at = rest.find(part).unwrap_or_else(|| panic!("the page lacks {part}:\n{text}"));
            rest = &rest[at + part.len()..];
        }
    }
}

/// Asserts that the page of a field with a schema shows all parts, in this order.
async fn shows_fields(cases: &[(&str, &[&str])]) {
    let fields: String = (0..).zip(cases).map(|(at, (schema, _))| format!("f{at}: {schema}, ")).collect();
    let text = text_of(&format!(
        "openapi: 3.1.0\ninfo: {{title: A, version: '1'}}\npaths: {{/x: {{get: {{responses: {{'200': {{description: ok, content: \
         {{application/json: {{schema: {{type: object, required: [f0], properties: {{{fields}end: {{}}}}}}}}}}}}}}}}}}}}\n\
         components: {{schemas: {{\
         Pet: {{type: object, discriminator: {{propertyName: petType, mapping: {{cat: '#/components/schemas/Cat'}}}}, \
         properties: {{petType: {{type: string}}}}}}, \
         Cat: {{allOf: [{{$ref: '#/components/schemas/Pet'}}, {{properties: {{huntingSkill: {{type: string}}}}}}]}}, \
         Tag: {{type: object, properties: {{id: {{type: integer, format: int64, readOnly: true}}, name: {{type: string, minLength: 1}}}}}}}}}}\n"
    ))
    .await;
    let mut wrong = String::new();
    for (at, (schema, parts)) in cases.iter().enumerate() {
        let next = if at + 1 == cases.len() { "end".to_owned() } else { format!("f{}", at + 1) };
        let own =
            text.split(&format!(" f{at} ")).nth(1).and_then(|rest| rest.split(&format!(" {next} ")).next());
        let own = own.unwrap_or_default();
        let mut rest = own;
        for part in *parts {
            match rest.split_once(part) {
                Some((_, after)) => rest = after,
                None => wrong.push_str(&format!("\n{schema} lacks {part:?}: {own}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Fields of the kinds that the demos of Redoc and Swagger UI contain.
#[tokio::test]
async fn fields_of_demos_are_complete() {
    shows_fields(&[
        ("{type: integer, format: int64, readOnly: true, examples: [7]}", &["integer", "int64", "required", "read-only", "7"]),
        ("{type: array, maxItems: 20, items: {type: string, format: uri}}", &["array of string", "20"]),
        ("{type: array, minItems: 1, uniqueItems: true, items: {$ref: '#/components/schemas/Tag'}}", &["array of Tag", "unique items", "id", "read-only", "name"]),
        ("{$ref: '#/components/schemas/Pet'}", &["Cat", "cat", "huntingSkill"]),
        ("{type: string, enum: [available, pending, sold], default: available, description: Status in the store}", &["string", "Status in the store", "Default: available", "available", "pending", "sold"]),
        ("{type: string, format: password, minLength: 8, pattern: '(?=.*[a-z])'}", &["string", "password", "8", "(?=.*[a-z])"]),
        ("{type: object, additionalProperties: {type: integer, format: int32}}", &["other fields", "integer"]),
        ("{type: object, properties: {prop1: {type: string, description: Dumb property}}, additionalProperties: false}", &["no other fields", "prop1", "string", "Dumb property"]),
        ("{type: number, exclusiveMinimum: 0, maximum: 10, multipleOf: 0.5}", &["number", "0", "10", "0.5"]),
        ("{type: [string, 'null'], format: date-time, deprecated: true}", &["string (date-time) or null", "deprecated"]),
        ("{oneOf: [{type: string}, {type: integer}, {type: 'null'}]}", &["string", "integer", "null"]),
        ("{anyOf: [{$ref: '#/components/schemas/Tag'}, {title: Note, type: object, properties: {text: {type: string}}}]}", &["Tag", "Note", "text"]),
        ("{type: array, items: {type: array, items: {type: number}}}", &["array of array of number"]),
        ("{const: bee, description: Always a bee}", &["bee"]),
        ("{type: string, contentEncoding: base64, contentMediaType: image/png}", &["string", "base64"]),
        ("{type: object, externalDocs: {url: 'https://a.test/more', description: Find more}}", &["object", "Find more"]),
        ("{type: array, prefixItems: [{type: string}, {type: number}]}", &["[0]", "string", "[1]", "number"]),
        ("{type: object, patternProperties: {'^x-': {type: string}}}", &["/^x-/", "string"]),
        ("{type: integer, enum: [1, 2], x-enumNames: [One, Two]}", &["1", "One", "2", "Two"]),
        ("{type: boolean, default: false}", &["boolean", "Default: false"]),
        ("{type: object, minProperties: 1, maxProperties: 3}", &["object", "1", "3"]),
        ("{not: {type: string}}", &["not : {\"type\":\"string\"}"]),
        ("{if: {const: 1}, then: {maximum: 2}, else: false}", &["if : {\"const\":1}", "then : {\"maximum\":2}", "else : false"]),
        ("{type: array, items: {}, contains: {const: a}, minContains: 2}", &["contains : {\"const\":\"a\"}", "minContains : 2"]),
        ("{type: object, dependentRequired: {a: [b]}, unevaluatedProperties: false}", &["no other fields", "dependentRequired : {\"a\":[\"b\"]}"]),
        ("{description: 'Text with *Markdown* and `code`'}", &["Text with Markdown and code"]),
    ])
    .await;
}
