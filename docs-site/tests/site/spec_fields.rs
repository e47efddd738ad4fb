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
