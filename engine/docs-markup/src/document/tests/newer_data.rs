//! Blocks and fields of newer clients: they are kept in Markdown, or rejected with the name of the field.

use super::*;

#[test]
fn prompts_and_updates_round_trip() {
    both_ways(
        "{% prompt description=\"Write a test\" icon=\"robot\" openInAIProviders=\"false\" defaultExpanded=\"partial\" %}\n\
         ```md\nTest *this*.\n```\n{% endprompt %}",
        json!({
            "type": "prompt",
            "data": {
                "description": "Write a test", "icon": "robot", "openInAIProviders": false, "defaultExpanded": "partial",
            },
            "nodes": [{
                "type": "code", "data": { "syntax": "md" },
                "nodes": [{ "type": "code-line", "nodes": [text("Test *this*.")] }],
            }],
        }),
    );
    let tag = |tag: &str, space: Option<&str>| match space {
        Some(space) => json!({ "kind": "tag", "tag": tag, "space": space }),
        None => json!({ "kind": "tag", "tag": tag }),
    };
    both_ways(
        "{% updates format=\"short\" %}\n{% update date=\"2026-01-02\" tags=\"fix,s1/new\" %}\nMended.\n{% endupdate %}\n\n\
         {% update date=\"2026-01-01T10:30:00.000Z\" %}\nNew.\n{% endupdate %}\n{% endupdates %}",
        json!({
            "type": "updates",
            "data": { "format": "short" },
            "nodes": [
                {
                    "type": "update",
                    "data": { "date": "2026-01-02T00:00:00.000Z", "tags": [tag("fix", None), tag("new", Some("s1"))] },
                    "nodes": [paragraph("Mended.")],
                },
                {
                    "type": "update", "data": { "date": "2026-01-01T10:30:00.000Z" },
                    "nodes": [paragraph("New.")],
                },
            ],
        }),
    );
}

#[test]
fn buttons_icons_and_tabs_keep_their_options() {
    let button = |data: Value| json!({ "type": "button", "data": data });
    let within = |inline: Value| json!({ "type": "paragraph", "nodes": [text("a "), inline] });
    for (markdown, data) in [
        (
            "<button type=\"button\" class=\"button primary\" data-action=\"ask\" data-query=\"Why?\" data-icon=\"robot\">Ask</button>",
            json!({ "label": "Ask", "kind": "primary", "icon": "robot", "action": { "action": "ask", "query": "Why?" } }),
        ),
        (
            "<button type=\"button\" class=\"button secondary\" data-action=\"search\" data-size=\"small\">Find</button>",
            json!({ "label": "Find", "kind": "secondary", "size": "small", "action": { "action": "search" } }),
        ),
        (
            "<button type=\"button\" class=\"button primary\" data-action=\"select\" data-slug=\"npm\">npm</button>",
            json!({ "label": "npm", "kind": "primary", "action": { "action": "select", "slug": "npm" } }),
        ),
    ] {
        both_ways(&format!("a {markdown}"), within(button(data)));
    }
    both_ways(
        "a <i class=\"fa-leaf\" style=\"color:$primary;\">:leaf:</i>",
        within(json!({ "type": "icon", "data": { "icon": "leaf", "color": "$primary" } })),
    );
    both_ways(
        "{% tabs %}\n{% tab title=\"npm\" slug=\"package-manager\" %}\na\n{% endtab %}\n{% endtabs %}",
        json!({
            "type": "tabs",
            "nodes": [{
                "type": "tabs-item",
                "data": { "title": "npm", "slug": "package-manager" },
                "meta": { "id": "npm" },
                "nodes": [paragraph("a")],
            }],
        }),
    );
}

/// Returns a table with two columns and two rows.
fn table(view: &Value, others: &[(&str, Value)]) -> Value {
    let column =
        |id: &str, title: &str| json!({ "id": id, "title": title, "type": "text", "textAlignment": "left" });
    let record = |id: &str| {
        let cell = |column: &str| (column.to_owned(), json!(format!("{id}-{column}")));
        let values: serde_json::Map<_, _> = ["c000", "c001"].map(cell).into_iter().collect();
        json!({ "orderIndex": id, "values": values })
    };
    let mut data = json!({
        "view": view,
        "definition": { "c000": column("c000", "A"), "c001": column("c001", "B") },
        "records": { "r000000": record("r000000"), "r000001": record("r000001") },
    });
    for (name, value) in others {
        data[*name] = value.clone();
    }
    let cells = ["r000000-c000", "r000000-c001", "r000001-c000", "r000001-c001"];
    let cells = cells.map(|name| json!({ "fragment": name, "nodes": [paragraph(name)] }));
    json!({ "type": "table", "data": data, "fragments": cells })
}

fn merge(record: &str, column: &str, spans: [u64; 2]) -> Value {
    json!({ "anchor": { "record": record, "column": column }, "rowSpan": spans[0], "colSpan": spans[1] })
}

#[test]
fn tables_keep_merged_cells_search_and_sticky_parts() {
    let cell = |at: &str, options: &str| format!("<td{options}>{at}</td>");
    let rows = |options: [&str; 4]| {
        let cells: Vec<String> = ["r000000-c000", "r000000-c001", "r000001-c000", "r000001-c001"]
            .iter()
            .zip(options)
            .map(|(at, o)| cell(at, o))
            .collect();
        format!("<tbody><tr>{}{}</tr><tr>{}{}</tr></tbody></table>", cells[0], cells[1], cells[2], cells[3])
    };
    let head = "<thead><tr><th>A</th><th>B</th></tr></thead>";
    let columns = json!(["c000", "c001"]);
    both_ways(
        &format!(
            "<table data-sticky-header=\"true\" data-sticky-first-column=\"false\" data-search=\"false\">{head}{}",
            rows([" data-colspan=\"2\"", "", "", " data-rowspan=\"1\""])
        ),
        table(
            &json!({
                "type": "grid", "columns": columns, "hideHeader": false, "stickyHeader": true, "stickyFirstColumn": false,
            }),
            &[
                ("search", json!(false)),
                ("cellMerges", json!([merge("r000000", "c000", [1, 2]), merge("r000001", "c001", [1, 1])])),
            ],
        ),
    );
    both_ways(
        &format!("<table data-view=\"cards\" data-wrap=\"false\">{head}{}", rows(["", "", "", ""])),
        table(&json!({ "type": "cards", "cardSize": "medium", "columns": columns, "wrap": false }), &[]),
    );
    let image = "<table data-view=\"cards\"><thead><tr><th>A</th><th data-hidden data-card-cover data-type=\"image\"></th></tr></thead>\
        <tbody><tr><td>a</td><td><a href=\"/files/f\" data-object-fit=\"cover\" data-alt=\"A &amp; B\">f</a></td></tr></tbody></table>";
    let (document, written) = stable(image);
    assert_eq!(written.trim_end(), image);
    let value = serde_json::to_value(&document).unwrap();
    let cell = &value["nodes"][0]["data"]["records"]["r000000"]["values"]["c001"];
    assert_eq!((&cell["objectFit"], &cell["alt"]), (&json!("cover"), &json!("A & B")));
}

/// Parses Markdown, changes the JSON of its first block, and returns the error of printing it.
#[track_caller]
fn rejected(markdown: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut value = serde_json::to_value(parse(markdown)).unwrap();
    change(&mut value["nodes"][0]);
    match serde_json::from_value::<Document>(value) {
        Ok(document) => print(&document).expect_err("no notation").to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn data_without_a_notation_is_rejected_with_its_field() {
    let table = "<table data-search=\"true\"><thead><tr><th>A</th></tr></thead>\
        <tbody><tr><td>a</td></tr><tr><td>b</td></tr></tbody></table>";
    let merges = |merges: Value| rejected(table, |block| block["data"]["cellMerges"] = merges);
    let (twice, unknown) = (merge("r000000", "c000", [2, 1]), merge("r9", "c000", [2, 1]));
    let wide = merge("r000000", "c000", [51, 1]);
    let button = "a <button type=\"button\" class=\"button primary\" data-action=\"search\">Find</button>";
    let link = json!({ "kind": "url", "url": "https://a.test" });
    let prompt = "{% prompt description=\"a\" %}\n```\nb\n```\n{% endprompt %}";
    for (error, message) in [
        (merges(json!([unknown])), "cellMerges[0].anchor: the table has no such cell"),
        (merges(json!([twice, twice])), "cellMerges[1].anchor: must not be repeated"),
        (merges(json!([wide])), "must be a whole number from 1 to 50"),
        (rejected(button, |block| block["nodes"][1]["data"]["ref"] = link), "button"),
        (rejected(prompt, |block| block["nodes"] = json!([])), "a prompt must contain one code block"),
    ] {
        assert!(error.contains(message), "{error}");
    }
}
