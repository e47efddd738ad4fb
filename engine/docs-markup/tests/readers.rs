//! Documents, links and the Git format must recognize the same tags and the same HTML, with the same meaning.

use std::collections::BTreeSet;

use docs_markup::{
    document::{parse, print},
    gitsync::{ReferenceKind, RepoPath, references},
    markdown::{LinkKind, Resolution, links, rewrite_links},
};
use proptest::prelude::*;
use serde_json::Value;

/// Returns the link targets in the document of `text`.
fn in_document(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect(&serde_json::to_value(parse(text).nodes).expect("JSON"), &mut found);
    found
}

fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("url").and_then(Value::as_str).map(str::to_owned));
            map.values().for_each(|value| collect(value, found));
        }
        Value::Array(values) => values.iter().for_each(|value| collect(value, found)),
        _ => {}
    }
}

/// Returns the destinations of the links in `text`.
fn in_links(text: &str) -> BTreeSet<String> {
    links(text).into_iter().map(|site| site.destination).collect()
}

/// Returns the files that `text` references, as a page at the root of a repository.
fn in_repository(text: &str) -> BTreeSet<String> {
    let (page, root) = (RepoPath::new("page.md").expect("a path"), RepoPath::default());
    references(text, &page, &root).into_iter().map(|reference| reference.path.to_string()).collect()
}

#[track_caller]
fn all_read(text: &str, destinations: &[&str]) {
    let expected: BTreeSet<String> = destinations.iter().map(|it| (*it).to_owned()).collect();
    assert_eq!(in_document(text), expected, "document: {text}");
    assert_eq!(in_links(text), expected, "links: {text}");
    assert_eq!(in_repository(text), expected, "repository: {text}");
}

#[test]
fn all_parsers_accept_the_same_tag_spellings() {
    for text in [
        "{% include \"a.md\" %}",
        "{% include 'a.md' %}",
        "{%include 'a.md'%}",
        "{%- include 'a.md' -%}",
        "{%-include \"a.md\"-%}",
        "{%\ninclude 'a.md'\n%}",
        "{%\tinclude\t'a.md' %}",
        "text\n\n   {% include 'a.md' %}  \n\ntext",
        "> {% include 'a.md' %}",
        "* a\n\n  {% include 'a.md' %}",
    ] {
        all_read(text, &["a.md"]);
        assert_eq!(links(text)[0].kind, LinkKind::Include, "{text}");
        let (page, root) = (RepoPath::new("page.md").expect("a path"), RepoPath::default());
        assert_eq!(references(text, &page, &root)[0].kind, ReferenceKind::Include, "{text}");
    }
    for (text, destination) in [
        ("{% file src='a.pdf' %}", "a.pdf"),
        ("{% file src=a.pdf %}", "a.pdf"),
        ("{% file title=\"50 %} off\" src=\"a.pdf\" %}", "a.pdf"),
        ("{% content-ref url=\"a.md\" %}", "a.md"),
        ("{% page-ref page=\"a.md\" %}", "a.md"),
        ("{% embed url='a.html' %}", "a.html"),
        ("<div>\n{% file src='a.pdf' %}\n</div>", "a.pdf"),
        ("{% openapi src='a.yaml' path=\"/a\" method='get' %}", "a.yaml"),
    ] {
        all_read(text, &[destination]);
    }
}

#[test]
fn all_parsers_reject_the_same_invalid_tags() {
    for text in [
        "{% include \"a.md\" \"b.md\" %}",
        "{% include a.md %}",
        "{% include path='a.md' %}",
        "{% include\n\n'a.md' %}",
        "{% include 'a.md'",
        "{% include 'a.md %}",
        "\\{% include 'a.md' %}",
        "{% file src %}",
        "`{% include 'a.md' %}`",
        "    {% include 'a.md' %}",
        "<!-- {% include 'a.md' %} -->",
        "<!--\n\n{% include 'a.md' %}\n\n-->",
    ] {
        all_read(text, &[]);
    }
}

#[test]
fn tag_values_use_backslash_escapes_not_entities() {
    for (text, destination) in [
        ("{% file src=\"a&amp;b.pdf\" %}", "a&amp;b.pdf"),
        ("{% embed url=\"a?x=1&copy=2\" %}", "a?x=1&copy=2"),
        ("{% file src='a\\'b.pdf' %}", "a'b.pdf"),
        ("{% file src=\"a\\\\b.pdf\" %}", "a\\b.pdf"),
        ("{% file src=\"a'b.pdf\" %}", "a'b.pdf"),
    ] {
        let one: BTreeSet<String> = [destination.to_owned()].into();
        assert_eq!((in_document(text), in_links(text)), (one.clone(), one), "{text}");
    }
}

#[test]
fn first_of_duplicate_attributes_wins() {
    all_read("{% file src=\"a.pdf\" src=\"b.pdf\" %}", &["a.pdf"]);
    all_read("x <a href=\"a.md\" href='b.md'>y</a>", &["a.md"]);
}

#[test]
fn all_parsers_find_the_same_links_in_html() {
    for text in [
        "<figure><img src=\"a.png\" alt=\"\"><figcaption></figcaption></figure>",
        "<FIGURE><IMG SRC='a.png' ALT=''></FIGURE>",
        "<figure><img\n  src = \"a.png\"\n  alt=\"\" /></figure>",
        "x <img src=a.png> y",
        "x <a HREF = 'a.png'>y</a>",
        "<table><thead><tr><th>x</th></tr></thead><tbody><tr><td><a href=a.png>x</a></td></tr></tbody></table>",
        "<p align=\"center\"><a href='a.png'>x</a></p>",
        "> <figure>\n> <img src='a.png' alt=''>\n> </figure>",
    ] {
        all_read(text, &["a.png"]);
    }
    all_read("x <a href='a&amp;b&ouml;.md'>y</a>", &["a&bö.md"]);
    all_read(
        "<figure><picture><source srcset=\"a.png\" media=\"(prefers-color-scheme: dark)\"><img src=\"b.png\" alt=\"\">\
         </picture></figure>",
        &["a.png", "b.png"],
    );
    for text in [
        "<script>x = \"<img src='a.png'>\"</script>",
        "<!-- <img src='a.png'> -->",
        "> <!--\n> <img src='a.png'>\n> -->",
        "<textarea>\n<img src='a.png'>\n</textarea>",
        "<?php echo \"<img src='a.png'>\" ?>",
        "<1 src='a.png'>",
        "<img src='a.png'",
        "<p>a <!-- <a href='a.png'>x</a> --></p>",
    ] {
        all_read(text, &[]);
    }
}

#[test]
fn links_in_verbatim_markup_are_found() {
    // Browsers recognize these elements; a document preserves them as Markdown.
    for text in [
        "<div><img src='a.png'></div>",
        "<div>\n<img src='a.png'alt=''>\n</div>",
        "<div>\n<a/href=a.png>\n</div>",
        "{% unknown src='a.png' %}",
        "text {% include 'a.png' %} text",
    ] {
        let one: BTreeSet<String> = ["a.png".to_owned()].into();
        assert_eq!((in_document(text), in_links(text)), (BTreeSet::new(), one), "{text}");
        assert_eq!(print(&parse(text)).unwrap().trim_end(), text);
    }
}

#[test]
fn each_srcset_candidate_is_a_separate_link() {
    let text = "<picture><source srcset=\"a.png 1x,b,c.png 2x, d.png\" media=\"(x)\"></picture>";
    assert_eq!(in_links(text), in_repository(text));
    let new = rewrite_links(text, |site| Resolution::To(format!("/files/{} x", site.destination.len())));
    assert_eq!(
        new,
        "<picture><source srcset=\"/files/5%20x 1x,/files/7%20x 2x, /files/5%20x\" media=\"(x)\"></picture>"
    );
}

#[test]
fn opening_tags_keep_hyphens_and_closing_tags_drop_them() {
    for text in [
        "{%- include \"a.md\" -%}",
        "{%- hint style=\"info\" -%}\na\n{% endhint %}",
        "{% tabs %}\n{%- tab title=\"a\" -%}\nb\n{% endtab %}\n{% endtabs %}",
    ] {
        let document = parse(text);
        assert_eq!(document.nodes.len(), 1, "{text}");
        assert!(document.nodes[0].spelling.as_deref() != Some("verbatim"), "{text}");
        let written = print(&document).unwrap();
        assert_eq!(parse(&written), document, "{written}");
        assert!(!written.contains("end-"), "{written}");
    }
    // The closing tag is recognized too, and is printed in canonical form.
    let document = parse("{%- hint style=\"info\" -%}\na\n{%- endhint -%}");
    assert_eq!(print(&document).unwrap(), "{%- hint style=\"info\" -%}\na\n{% endhint %}\n");
}

#[test]
fn details_tags_match_case_insensitively() {
    for text in [
        "<details>\n\n<summary>a</summary>\n\nb\n\n</details>",
        "<Details open>\n\n<SUMMARY>a</Summary >\n\nb\n\n</DETAILS>",
    ] {
        let kind = serde_json::to_value(&parse(text).nodes[0]).expect("JSON")["type"].clone();
        assert_eq!(kind, "expandable", "{text}");
    }
}

proptest! {
    #[test]
    fn links_and_documents_parse_rewritten_destinations(
        destination in "[a-z.&;\"'\\\\<>{}%=äé?(),]{1,12}",
        text in proptest::sample::select(vec![
            "{% include \"x\" %}", "{% include 'x' %}", "{%- file src=x -%}", "{% embed url='x' %}",
            "a <a href=\"x\">b</a>", "a <a href='x'>b</a>", "a <a href=x>b</a>",
        ]),
    ) {
        let new = rewrite_links(text, |_| Resolution::To(destination.clone()));
        let one: BTreeSet<String> = [destination].into();
        prop_assert_eq!(in_links(&new), one, "{}", new);
        prop_assert_eq!(in_links(&new), in_document(&new), "{}", new);
    }

    #[test]
    fn document_link_targets_are_a_subset_of_links(
        text in "(\\{% |\\{%- ?|include |file |src=|href=|url=|page-ref |page=|'a'|\"b\"|c| ?%\\}|-%\\}|<img |<a |>|</a>|\n|\n\n| |<!--|-->|<p>|</p>|> |\\\\){0,24}"
    ) {
        let (document, links) = (in_document(&text), in_links(&text));
        prop_assert!(document.is_subset(&links), "{:?}\n{:?}\n{:?}", text, document, links);
    }
}
