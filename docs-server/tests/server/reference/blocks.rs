//! Fields of a page, and the blocks, elements and marks of its text.

use docs_core::model::{Block, BlockContent, BlockTag, Role, WhenEmpty};
use serde_json::{Map, Value, json};

use super::{Table, code};

const PAGE: &str = "formats.md";

pub(super) fn tables(document: &Value) -> Vec<Table> {
    let kinds = |schema: &str, heading: &str| {
        let rows: Vec<_> =
            variants(document, schema).map(|(name, meaning, _)| vec![code(name), meaning]).collect();
        Table::new(PAGE, heading, &["Type", "Description"], &rows)
    };
    vec![
        fields(document),
        blocks(document),
        tags(),
        kinds("Inline", "Elements within text"),
        kinds("Mark", "Marks"),
    ]
}

/// Returns the table of page fields in a comparison. A column marks those that a content change can set.
fn fields(document: &Value) -> Table {
    let schemas = &document["components"]["schemas"];
    let properties = |schema: &str| schemas[schema]["properties"].as_object().expect("properties");
    let set = properties("UpdatePageChange");
    let rows: Vec<_> = properties("RevisionPageChangeAttributes")
        .iter()
        .map(|(name, field)| {
            let meaning = field["description"].as_str().expect("a description").to_owned();
            let by = if set.contains_key(name) { "yes" } else { "" };
            vec![code(name), meaning, by.to_owned()]
        })
        .collect();
    Table::new(PAGE, "Fields of a page", &["Field", "Description", "Set by a change"], &rows)
}

/// Returns the variants of a schema whose objects are tagged by `type`.
fn variants<'a>(document: &'a Value, schema: &str) -> impl Iterator<Item = (&'a str, String, &'a Value)> {
    let all = document["components"]["schemas"][schema]["oneOf"].as_array();
    all.unwrap_or_else(|| panic!("{schema} has kinds")).iter().map(|kind| {
        let name = kind["properties"]["type"]["enum"][0].as_str().expect("a type");
        (name, kind["description"].as_str().expect("a description").to_owned(), kind)
    })
}

fn blocks(document: &Value) -> Table {
    let rows: Vec<_> = variants(document, "Block")
        .map(|(name, meaning, kind)| {
            let mut block = sample(document, kind);
            block["object"] = json!("block");
            block["isVoid"] = json!(false);
            let block: Block =
                serde_json::from_value(block.clone()).unwrap_or_else(|e| panic!("{name}: {e}: {block}"));
            let form = block.kind.form();
            let holds = match form.content {
                BlockContent::Text => "text",
                BlockContent::Blocks => "blocks",
                BlockContent::Parts => "structured parts",
                BlockContent::Nothing => "",
            };
            let left = match form.when_empty {
                WhenEmpty::Removed => "nothing",
                WhenEmpty::Paragraph => "an empty paragraph",
                WhenEmpty::Text => "the block",
            };
            vec![
                code(name),
                meaning,
                form.tag.map(tag).unwrap_or_default(),
                holds.to_owned(),
                left.to_owned(),
            ]
        })
        .collect();
    let head = ["Type", "Description", "Tag in Markdown", "Content", "Rest when its content is hidden"];
    Table::new(PAGE, "Blocks", &head, &rows)
}

fn tag(tag: BlockTag) -> String {
    let more = if tag == BlockTag::Integration { "…" } else { "" };
    code(format_args!("{{% {}{more} %}}", tag.name()))
}

fn tags() -> Table {
    let rows: Vec<_> = BlockTag::names().map(|(name, of)| vec![code(name), tag(of)]).collect();
    Table::new(PAGE, "Tags", &["Accepted", "Written as"], &rows)
}

/// Returns a minimal value of a schema.
fn sample(document: &Value, schema: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|to| to.rsplit('/').next()) {
        return sample(document, &document["components"]["schemas"][name]);
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    let mut fields = Map::new();
    for part in schema["allOf"].as_array().into_iter().flatten().chain(schema["oneOf"].get(0)) {
        match sample(document, part) {
            Value::Object(more) => fields.extend(more),
            other => return other,
        }
    }
    match schema["type"].as_str() {
        Some("string") if schema["format"] == "date-time" => json!("2026-01-31T12:00:00Z"),
        Some("string") => json!(Role::Read.as_str()),
        Some("boolean") => json!(false),
        Some("integer" | "number") => json!(1),
        Some("array") => json!([]),
        _ => {
            for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                fields.insert(name.to_owned(), sample(document, &schema["properties"][name]));
            }
            Value::Object(fields)
        }
    }
}
