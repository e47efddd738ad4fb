//! The fields that exist only for clients, as listed in the handbook, compared with the OpenAPI document.

use serde_json::Value;

use crate::server::Server;

const PAGE: &str = include_str!("../../../examples/handbook/reference/kept-for-clients.md");

/// Schemas by their noun in the page.
const SCHEMAS: &[(&str, &str)] = &[
    ("organization", "Organization"),
    ("site", "Site"),
    ("site space", "SiteSpace"),
    ("member", "Member"),
    ("user", "User"),
    ("change request", "CreateChangeRequest"),
    ("Git repository of a space", "GitSync"),
    ("customization", "Customization"),
    ("page actions of a customization", "PageAction"),
    ("visitor authentication", "PublishingAuth"),
    ("table", "TableData"),
    ("view of a table", "TableView"),
    ("tab", "Block"),
    ("prompt", "Block"),
    ("list of updates", "Block"),
    ("update", "Block"),
    ("code block", "Block"),
    ("button", "Inline"),
    ("icon", "Inline"),
];
/// Schemas whose fields are within `data`.
const WITH_DATA: [&str; 2] = ["Block", "Inline"];

/// Returns `true` if a schema has a property, or permits a value. Names of nested properties are separated by dots.
fn declares(document: &Value, schema: &Value, name: &str) -> bool {
    let parts =
        ["allOf", "anyOf", "oneOf"].iter().flat_map(|key| schema[*key].as_array().into_iter().flatten());
    let target = schema["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
    if parts.chain(target).any(|part| declares(document, part, name)) {
        return true;
    }
    match name.split_once('.') {
        Some((outer, inner)) => declares(document, &schema["properties"][outer], inner),
        None => {
            let values = schema["enum"].as_array();
            !schema["properties"][name].is_null()
                || values.is_some_and(|values| values.contains(&name.into()))
        }
    }
}

#[tokio::test]
async fn fields_for_clients_are_those_of_the_document() {
    let s = Server::new().await;
    let schemas = &s.document["components"]["schemas"];
    let rows = PAGE.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut fields = 0;
    for row in rows {
        let cells: Vec<&str> = row.split(" | ").collect();
        let (names, noun) = cells[0].rsplit_once("` of ").unwrap_or_else(|| panic!("{row}"));
        let noun =
            ["an ", "a ", "the "].iter().find_map(|article| noun.strip_prefix(article)).unwrap_or(noun);
        let schema = SCHEMAS.iter().find(|(known, _)| *known == noun);
        let (_, schema) = schema.unwrap_or_else(|| panic!("`{noun}` needs its schema in this test"));
        assert!(schemas[*schema].is_object(), "{schema}");
        for name in names.split("`, `") {
            let data = if WITH_DATA.contains(schema) { "data." } else { "" };
            let is_declared = declares(s.document, &schemas[*schema], &format!("{data}{name}"));
            assert_eq!(is_declared, cells[1] != "not returned", "{name} of {schema}");
            fields += 1;
        }
    }
    assert!(fields > 15, "{fields}");
}
