//! Tests of front matter and links.

mod titles;

use docs_model::{CoverMask, CoverSize, PageLayout, PageWidth, VariableValue};
use proptest::prelude::*;
use serde_json::json;

use super::{heading::MAX_HEADING_BYTES, *};

#[test]
fn front_matter_becomes_fields() {
    let page = parse_page(
        "---\ndescription: >-\n  A long\n  description\nicon: rocket\nhidden: true\nnoIndex: false\ncover: .gitbook/assets/a.png\n\
         coverY: -12.5\nif: visitor.claims.beta\nvars:\n  version: 1.5\n  name: x\n  on: true\ntags:\n  - a\nlayout:\n  \
         width: wide\n  title:\n    visible: false\n  cover:\n    visible: true\n    size: full\n  later:\n    visible: true\n---\n# T\n",
    );
    assert_eq!(page.warnings, Vec::<String>::new());
    let fields = &page.front.fields;
    assert_eq!(fields.description, Some(Some("A long description".into())));
    assert_eq!(fields.icon, Some(Some("rocket".into())));
    assert_eq!((fields.hidden, fields.no_index, fields.no_robots_index), (Some(true), Some(false), None));
    assert_eq!(fields.condition, Some(Some("visitor.claims.beta".into())));
    let variables = fields.variables.as_ref().unwrap().value();
    assert_eq!(variables["name"], VariableValue::Text("x".into()));
    assert_eq!(variables["on"], VariableValue::Boolean(true));
    assert_eq!(serde_json::to_value(&variables["version"]).unwrap(), json!(1.5));
    let layout = PageLayout {
        width: PageWidth::Wide,
        title: false,
        cover_size: CoverSize::Full,
        ..PageLayout::default()
    };
    assert_eq!(fields.layout, Some(Some(layout)));
    let extra = serde_json::to_value(fields.extra.as_ref().unwrap()).unwrap();
    assert_eq!(extra, json!({ "tags": ["a"], "layout": { "later": { "visible": true } } }));
    let cover = page.front.cover.unwrap();
    assert_eq!(
        (cover.light.as_deref(), cover.dark, cover.y_pos),
        (Some(".gitbook/assets/a.png"), None, -12.5)
    );
}

#[test]
fn layout_parts_of_newer_files_are_fields() {
    let page = parse_page(
        "---\nlayout:\n  cover:\n    visible: true\n    mask: radial\n  tags:\n    visible: false\n  \
         actions:\n    visible: false\n  anchors:\n    visible: false\n---\n",
    );
    let layout = PageLayout {
        cover_mask: CoverMask::Radial,
        tags: false,
        actions: false,
        anchors: false,
        ..PageLayout::default()
    };
    assert_eq!(page.front.fields.layout, Some(Some(layout)));
    assert_eq!(page.front.fields.extra, None);
}

#[test]
fn unreadable_front_matter_is_text_with_a_warning() {
    for text in [
        "---\ntitle: [unclosed\n---\n\nText\n",
        "---\n# a comment\n\nown key: {\n---\n",
        "---\n\"a\": b: c\n---\n",
    ] {
        let page = parse_page(text);
        assert_eq!((&*page.body, page.warnings.len(), page.yaml), (text, 1, None));
        assert_eq!(page.front, FrontMatter::default());
        assert!(page.warnings[0].ends_with("It is part of the text."), "{:?}", page.warnings);
    }
    let page = parse_page("---\ntitle: a: b\n---\n# Title\n\nText\n");
    assert_eq!(page.body, "---\ntitle: a: b\n---\n\nText\n");
    assert_eq!(page.heading.map(|heading| heading.title).as_deref(), Some("Title"));
    let page = parse_page("---\nhidden: maybe\n---\n");
    assert_eq!((&*page.body, page.warnings.len()), ("", 1));
    assert_eq!(page.front.fields.extra.unwrap().value()["hidden"], json!("maybe"));
}

#[test]
fn a_rule_at_the_beginning_of_a_page_is_text() {
    for text in [
        "---\n\nAn introduction.\n\n---\n\nMore text.\n",
        "---\n- a\n- b\n---\nText\n",
        "---\n# Heading\n---\nText\n",
        "---\n\n![x](y.png)\n\n...\n",
        "---\n**a**: [b\n---\n",
        "---\nSee https://a.example/ [\n---\n",
        "---\n{% hint %}\na\n{% endhint %}\n---\n",
    ] {
        let page = parse_page(text);
        assert_eq!((&*page.body, page.yaml, page.heading), (text, None, None));
        assert_eq!(page.warnings, Vec::<String>::new(), "{text}");
        assert_eq!(parse_include(text).body, text);
        assert_eq!(split_front(text), (None, text));
        let marked = format!("\u{feff}{text}");
        assert_eq!((&*parse_page(&marked).body, split_front(&marked)), (text, (None, text)));
    }
}

#[test]
fn front_matter_must_start_at_the_first_byte() {
    assert_eq!(split_front("\u{feff}---\r\na: 1\r\n---\r\nText"), (Some("a: 1\r\n"), "Text"));
    assert_eq!(split_front("---\na: 1\n...\nText"), (Some("a: 1\n"), "Text"));
    assert_eq!(split_front("---\n---\n"), (Some(""), ""));
    for text in ["", "---", "---\n", "\n---\na: 1\n---\n", "--- a\n---\n", "---\na: 1\n", "----\na\n----\n"] {
        assert_eq!(split_front(text), (None, text));
    }
}

#[test]
fn heading_and_front_matter_make_one_set_of_fields() {
    let fields = parse_page("---\ntitle: Long title\nhidden: true\n---\n# 🚀 Start\n").fields();
    assert_eq!((fields.title.as_deref(), fields.hidden), (Some("Start"), Some(true)));
    assert_eq!(fields.emoji, Some(Some("🚀".into())));
    assert_eq!(fields.extra.unwrap().value()["title"], json!("Long title"));
    let fields = parse_page("---\nicon: rocket\n---\n# 🚀 Start\n").fields();
    assert_eq!((fields.title.as_deref(), fields.emoji), (Some("🚀 Start"), None));
    let fields = parse_page("---\ntitle: Start\n---\nText\n").fields();
    assert_eq!((fields.title.as_deref(), fields.extra), (Some("Start"), None));
}

#[test]
fn invalid_variables_are_preserved_as_extra_fields() {
    for yaml in ["vars:\n  1a: x\n", "vars:\n  a: [1]\n", "vars: text\n"] {
        let text = format!("---\n{yaml}---\n");
        let page = parse_page(&text);
        assert_eq!((page.front.fields.variables.as_ref(), page.warnings.len()), (None, 1), "{yaml}");
        assert!(page.front.fields.extra.unwrap().value().contains_key("vars"));
    }
}

fn destinations(text: &str) -> Vec<(LinkKind, String)> {
    links(text).into_iter().map(|site| (site.kind, site.destination)).collect()
}

/// Rewrites every destination to `NEW`.
fn renewed(text: &str) -> String {
    rewrite_links(text, |_| Resolution::To("NEW".into())).into_owned()
}

#[test]
fn destinations_are_rewritten_in_place() {
    for (text, expected) in [
        ("[a](b)", "[a](NEW)"),
        ("[a]( b 'title' )", "[a]( NEW 'title' )"),
        ("[a](<b c> \"t\")", "[a](<NEW> \"t\")"),
        ("[a](b(c)d) e", "[a](NEW) e"),
        ("[a](b\\)c) e", "[a](NEW) e"),
        ("[a \\] `]` *b*](c)", "[a \\] `]` *b*](NEW)"),
        ("[](b)", "[](NEW)"),
        ("![a](b.png)", "![a](NEW)"),
        ("[![a](b.png)](c.md)", "[![a](NEW)](NEW)"),
        ("[a][b]\n\n[b]: c.md 'title'\n", "[a][b]\n\n[b]: NEW 'title'\n"),
        ("| [a](b) |\n|---|\n| [c](d) |\n", "| [a](NEW) |\n|---|\n| [c](NEW) |\n"),
        ("> * [a](b)\n>   more", "> * [a](NEW)\n>   more"),
        ("<a href=\"b.md\" class='x'>c</a>", "<a href=\"NEW\" class='x'>c</a>"),
        (
            "<figure><img src='a.png' alt=\"b\">\n<figcaption></figcaption></figure>",
            "<figure><img src='NEW' alt=\"b\">\n<figcaption></figcaption></figure>",
        ),
        (
            "<table><tr><td><a\nhref=\"b\">c</a></td></tr></table>",
            "<table><tr><td><a\nhref=\"NEW\">c</a></td></tr></table>",
        ),
        (
            "{% content-ref url=\"a_b_c.md\" %}\n[a](b)\n{% endcontent-ref %}",
            "{% content-ref url=\"NEW\" %}\n[a](NEW)\n{% endcontent-ref %}",
        ),
        ("{% include \"../x.md\" %}", "{% include \"NEW\" %}"),
        ("{% file src=\"a.pdf\" %}x{% endfile %}", "{% file src=\"NEW\" %}x{% endfile %}"),
        // An unquoted value is quoted.
        ("<a href=b.md class=x>c</a>", "<a href=\"NEW\" class=x>c</a>"),
        ("<img src=a.png>", "<img src=\"NEW\">"),
        ("<img src= >", "<img src= >"),
        ("{% file src=a.pdf %}x{% endfile %}", "{% file src=\"NEW\" %}x{% endfile %}"),
    ] {
        assert_eq!(renewed(text), expected, "{text}");
    }
}

#[test]
fn destination_ranges_are_exact() {
    for (text, written, destination) in [
        ("[a](b.md)", "b.md", "b.md"),
        ("ä [a *b* `](x` c](b.md \"t](u\")", "b.md", "b.md"),
        ("[a](<b c.md> 't')", "b c.md", "b c.md"),
        ("[a](  b\\(1\\).md  )", "b\\(1\\).md", "b(1).md"),
        ("[a]((b).md)", "(b).md", "(b).md"),
        ("![](b.png)", "b.png", "b.png"),
        ("[a\\]](b.md)", "b.md", "b.md"),
        ("> - [a\n>   b](b.md)", "b.md", "b.md"),
        ("[a](\nb.md)", "b.md", "b.md"),
        ("[a][r]\n\n[r]: <b c.md> \"t\"\n", "b c.md", "b c.md"),
        ("[r]\n\n  [r]:\n  b.md", "b.md", "b.md"),
        ("| a |\n| --- |\n| [x](b.md) |\n", "b.md", "b.md"),
        ("word[^1]\n\n[^1]: [x](b.md)\n", "b.md", "b.md"),
        ("> <div>\n> <img src='b&amp;c.png'>", "b&amp;c.png", "b&c.png"),
        ("<img srcset='b.png'>", "b.png", "b.png"),
    ] {
        let sites = links(text);
        let [site] = sites.as_slice() else { panic!("{text}: {sites:?}") };
        assert_eq!((&text[site.range.clone()], site.destination.as_str()), (written, destination), "{text}");
    }
}

#[test]
fn code_and_bare_addresses_have_no_destinations() {
    for text in [
        "`[a](b)`",
        "```\n[a](b)\n{% file src=\"a\" %}\n<a href=\"b\">\n```\n",
        "    [a](b)\n",
        "`{% file src=\"a\" %}`",
        "{%}",
        "<https://example.com> and https://example.com",
        "<!-- <a href=\"b\"> -->",
        "\\[a](b)",
        "[a] (b)",
        "{% hint style=\"info\" %}",
    ] {
        assert_eq!(destinations(text), [], "{text}");
        assert_eq!(renewed(text), text);
    }
}

#[test]
fn destinations_are_returned_unescaped() {
    assert_eq!(
        destinations("[a](b\\_c&amp;d) <a href=\"e&amp;f\">"),
        [(LinkKind::Link, "b_c&d".to_owned()), (LinkKind::Html, "e&f".to_owned())]
    );
}

#[test]
fn plain_resolution_replaces_a_link_with_its_label() {
    let plain = |text| rewrite_links(text, |_| Resolution::Plain).into_owned();
    assert_eq!(plain("a [*b* `c`](d \"t\") e"), "a *b* `c` e");
    assert_eq!(plain("[![i](p.png)](x.md)"), "![i](p.png)");
    assert_eq!(
        plain("[one][x] [two][] [x]\n\n[X]: gone.md\n\n[two]: gone.md\n"),
        "one two x\n\n[X]: gone.md\n\n[two]: gone.md\n"
    );
    assert_eq!(plain("![a](b)"), "![a](b)");
    assert_eq!(plain("<a href=\"b\">c</a>"), "<a href=\"b\">c</a>");
}

#[test]
fn rewritten_destinations_round_trip() {
    for destination in ["a b", "a(b", "a)b(", "a(b)c", "<x>", "a\\b", "ä/ö#ü", "a|b", "a\"b'c&d"] {
        for text in [
            "[l](x)",
            "[l](<x>)",
            "![l](x 't')",
            "[l][r]\n\n[r]: x\n",
            "<a href=\"x\">l</a>",
            "<a href='x'>l</a>",
            "<a href=x>l</a>",
        ] {
            let out = rewrite_links(text, |_| Resolution::To(destination.to_owned()));
            let found = destinations(&out);
            assert_eq!(found.len(), 1, "{out}");
            let decoded =
                found[0].1.replace("%20", " ").replace("%28", "(").replace("%29", ")").replace("%3C", "<");
            let decoded =
                decoded.replace("%3E", ">").replace("%5C", "\\").replace("%7C", "|").replace("&#39;", "'");
            assert_eq!(decoded, destination, "{out}");
        }
    }
}

fn markdown() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "[a](b)",
        "![a](b)",
        "[a][b]",
        "\n\n[b]: c\n",
        "`",
        "```\n",
        "\n",
        "\n\n",
        "    ",
        "# ",
        "> ",
        "* ",
        "<a href=\"x\">",
        "<a href=x>",
        "</a>",
        "<",
        ">",
        "{% file src=\"a\" %}",
        "{%",
        "%}",
        "\\",
        "](",
        "[",
        "]",
        "(",
        ")",
        "*",
        "_",
        "ä",
        "🚀",
        "|",
        "---\n",
        "<!--",
        "-->",
        "&amp;",
        "\"",
        "'",
        "\r\n",
        "<div>\n",
        "</div>",
    ]);
    proptest::collection::vec(part, 0..40).prop_map(|parts| parts.concat())
}

/// Generates texts whose blocks end, continue and interrupt each other in many ways.
fn blocks() -> impl Strategy<Value = String> {
    let part = proptest::sample::select(vec![
        "[a](b)\n",
        "[x][a]\n",
        "[a]",
        "![a][]\n",
        "[a]: u\n",
        "[a]: v\n\n",
        "[b]:\n",
        "[b]: w 'x\n",
        "y'\n",
        "[^n]",
        "[^n](d)\n",
        "[^n]: [c](d)\n",
        "\n",
        "\n\n",
        "\n \t\n",
        "```\n",
        "````js\n",
        "~~~\n",
        "  ",
        "    ",
        "\t",
        "> ",
        "* ",
        "- a\n",
        "* [l](m)\n",
        "1. a\n",
        "7. [o](p)\n",
        "-\n",
        "# h\n",
        "a\n",
        "---\n",
        "===\n",
        "| a | b |\n",
        "| [q](r) | `c` | d |\n",
        "|-|-|\n",
        "<div>\n",
        "<a href=\"s\">\n",
        "</div>\n",
        "<!-- ",
        "-->\n",
        "<pre>\n",
        "</pre>\n",
        "<?\n",
        "?>\n",
        "`{% file src=\"t\" %}`",
        "{% file src=\"t\" %}\n",
        "\r\n",
    ]);
    proptest::collection::vec(part, 0..30).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8000))]

    #[test]
    fn chunked_link_search_equals_the_whole_text_search(
        text in prop_oneof![blocks(), markdown()],
        piece in prop_oneof![Just(1_usize), 1..60_usize],
    ) {
        prop_assert_eq!(super::links::find_links(&text, piece), super::links::find_links(&text, text.len() + 1));
    }
}

/// In contrast, links after dense text are not found.
#[test]
fn links_after_dense_code_are_found() {
    let signs = r"\n[`*_|<&".repeat(4_000);
    let found = |text: &str| links(text).len();
    for (before, behind) in
        [("```json\n", "\n```\n"), ("~~~~\n\n```\n", "\n```\n~~~\n~~~~~\n"), ("``` x\n", "\n   ````  \n")]
    {
        assert_eq!(
            found(&format!("<mark>[a](b)</mark>\n\n{before}{signs}{behind}\n# H\n\n[c](d)\n")),
            2,
            "{before}"
        );
        assert_eq!(
            found(&format!("{before}{signs}{behind}\n# H\n\n{signs}\n\n# H\n\n[c](d)\n")),
            1,
            "{before}"
        );
    }
    // An apparent fence may be within an open block, or end one.
    for before in [
        "``` `\n",
        "<!--\n\n```\n-->\n",
        "  ```\n```\n",
        "<div>\n```\n\n",
        "<pre>\n```\n</pre>\n\n",
        "    ```\n",
        "[a]: b '\n```\n'\n\n",
        "<mark>a</mark>\n```\n\n```\n",
        "- <!--\n\n```\n",
    ] {
        assert_eq!(found(&format!("{before}{signs}\n\n# H\n\n[c](d)\n")), 0, "{before}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn keeping_all_links_changes_no_byte(text in prop_oneof![markdown(), any::<String>()]) {
        prop_assert_eq!(&*rewrite_links(&text, |_| Resolution::Keep), text.as_str());
        let same = rewrite_links(&text, |site| Resolution::To(text[site.range.clone()].to_owned()));
        // Destinations that need escapes change. All surrounding bytes are preserved.
        let mut outside = (text.clone(), same.into_owned());
        for site in links(&text).into_iter().rev() {
            outside.0.replace_range(site.range, "");
        }
        for site in links(&outside.1).into_iter().rev() {
            outside.1.replace_range(site.range, "");
        }
        prop_assert!(outside.0.len() <= text.len());
        let _ = rewrite_links(&text, |_| Resolution::Plain);
    }

    #[test]
    fn the_parts_of_any_page_contain_its_whole_text(text in prop_oneof![markdown(), any::<String>()]) {
        let page = parse_page(&text);
        let PageParts { yaml, front_end, prelude, heading, body } = PageParts::from_source(&text, &page);
        prop_assert_eq!(yaml.map(|range| &text[range]), page.yaml);
        prop_assert!(page.yaml.is_some() || without_mark(&text[..front_end]).is_empty());
        let heading = heading.unwrap_or(prelude.end..prelude.end);
        prop_assert_eq!(prelude.end, heading.start);
        prop_assert!(text[front_end..prelude.start].trim().is_empty());
        prop_assert!(text[heading.end..body].trim().is_empty());
        let stored = stored_prelude(&text[prelude]);
        prop_assert_eq!(format!("{stored}{}", &text[body..]), page.body);
    }
}

#[test]
fn escaped_nul_in_front_matter_is_replaced() {
    let page = parse_page("---\ndescription: \"a\\0b\"\nvars:\n  k: \"v\\0\"\nown: [\"\\0\"]\n---\ntext\n");
    let json = serde_json::to_string(&format!("{:?}", page.front)).unwrap();
    assert!(json.contains("a\u{fffd}b") && json.contains("v\u{fffd}") && !json.contains("\\\\0"), "{json}");
    assert_eq!(page.warnings.len(), 1);
}

#[test]
fn all_links_of_a_long_paragraph_are_found() {
    assert_eq!(links(&"[Title](folder/page.md) ".repeat(1_800)).len(), 1_800);
    // Text that is too dense has no links.
    assert_eq!(links(&"[".repeat(100_000)), []);
}

#[test]
fn links_beyond_their_bound_are_text() {
    let text = |links: usize| "[a](b.md)\n\n".repeat(links);
    assert_eq!(links(&text(MAX_LINKS)).len(), MAX_LINKS);
    assert_eq!(links(&text(MAX_LINKS + 1)).len(), MAX_LINKS);
}

#[test]
fn front_matter_beyond_its_bound_is_text() {
    const FRONT: usize = MAX_FRONT_MATTER_BYTES;
    let text = |bytes: usize| {
        let description = "a".repeat(bytes - "description: \n".len());
        format!("---\ndescription: {description}\n---\n\nText.\n")
    };
    let read = |text: &str| {
        let page = parse_page(text);
        let body = if page.yaml.is_some() { "Text.\n" } else { text };
        assert!(page.body == body, "the text is incomplete");
        (page.front.fields.description.is_some(), page.warnings.len())
    };
    assert_eq!((read(&text(FRONT)), read(&text(FRONT + 1))), ((true, 0), (false, 1)));
}

#[test]
fn aliases_at_most_double_the_text_of_front_matter() {
    let warnings = |yaml: &str| parse_page(&format!("---\n{yaml}---\n\nText.\n")).warnings.len();
    let text = |uses: usize| format!("a: &a {}\nb: [{}]\n", "x".repeat(2_000), vec!["*a"; uses].join(", "));
    assert_eq!((warnings(&text(1)), warnings(&text(2))), (0, 1));
    let maps = |uses: usize| {
        let (map, aliases) = (vec!["{}"; 100].join(","), vec!["*a"; uses].join(","));
        format!("a: &a [{map}]\nb: [{aliases}]\n")
    };
    assert_eq!((warnings(&maps(1)), warnings(&maps(5))), (0, 1));
    let plain = format!("a: [{}]\n", vec!["[]"; 900].join(","));
    assert_eq!((warnings(&plain), warnings("a: &a {}\nb: *a\n")), (0, 0));
}

#[test]
fn a_file_with_parts_of_the_maximum_size_is_within_the_limit() {
    let yaml = format!("description: {}\n", "a".repeat(MAX_FRONT_MATTER_BYTES - "description: \n".len()));
    let heading = format!("# {}\n", "b".repeat(MAX_HEADING_BYTES - 3));
    let body = "c".repeat(MAX_PAGE_BYTES);
    let file = format!("\u{feff}---\r\n{yaml}---\r\n\r\n{heading}\r\n{body}");
    let page = parse_page(&file);
    assert_eq!(page.body.len(), MAX_PAGE_BYTES);
    assert!(page.heading.is_some() && page.front.fields.description.is_some());
    let spare = MAX_PAGE_FILE_BYTES - file.len() as u64;
    assert!(spare < 1 << 10, "{spare}");
}
