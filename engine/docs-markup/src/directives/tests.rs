use std::collections::HashMap;

use proptest::prelude::*;

use super::*;
use crate::gitsync::{RepoConfig, RepoPath};

fn files(files: &[(&str, &str)]) -> HashMap<RepoPath, IncludedFile> {
    let file =
        |(path, text): &(&str, &str)| (RepoPath::new(path).unwrap(), IncludedFile::Text((*text).to_owned()));
    let mut all: HashMap<_, _> = files.iter().map(file).collect();
    all.insert(RepoPath::new("gone.rs").unwrap(), IncludedFile::Missing("does not exist"));
    all
}

const LISTING: &str = "use std::fs;\n// ANCHOR: all\nfn main() {\n    // ANCHOR: body\n    run();\n    // ANCHOR_END: body\n}\n\
                       // ANCHOR_END: all\n";

fn mdbook() -> RepoConfig {
    RepoConfig::from_mdbook("", &RepoPath::default())
}

/// Resolves the directives of `src/page.md`. Returns the text that readers see, and the warnings.
fn shown(config: &RepoConfig, text: &str, known: &[(&str, &str)]) -> (String, Vec<String>) {
    let page = RepoPath::new("src/page.md").unwrap();
    let found = resolve(text, &page, config, &files(known), &mut IncludeBudget::default());
    let found = found.unwrap_or_default();
    assert!(found.unread.is_empty(), "{:?}", found.unread);
    let stored: Expansions =
        serde_json::from_str(&serde_json::to_string(&found.expansions).unwrap()).unwrap();
    (stored.expand(text).into_owned(), found.warnings)
}

#[test]
fn includes_select_lines_and_anchors() {
    for (argument, expected) in [
        ("include ../a.rs", LISTING.trim_end()),
        ("include ../a.rs:1", "use std::fs;"),
        ("include ../a.rs:3:5", "fn main() {\n    // ANCHOR: body\n    run();"),
        ("include ../a.rs:7:", "}\n// ANCHOR_END: all"),
        ("include ../a.rs::1", "use std::fs;"),
        ("include ../a.rs:0", "use std::fs;"),
        ("include ../a.rs:90:95", ""),
        ("include ../a.rs:5:3", ""),
        ("include ../a.rs:all", "fn main() {\n    run();\n}"),
        ("include ../a.rs:body", "    run();"),
        ("rustdoc_include ../a.rs:5", "    run();"),
        ("include  ../a.rs:body  ", "    run();"),
        ("include x/../../a.rs:1", "use std::fs;"),
        ("include /../a.rs:1", "use std::fs;"),
    ] {
        let text = format!("Before\n\n```rust\n{{{{#{argument}}}}}\n```\n");
        let expected = format!("Before\n\n```rust\n{expected}\n```\n");
        assert_eq!(shown(&mdbook(), &text, &[("a.rs", LISTING)]), (expected, vec![]), "{argument}");
    }
}

#[test]
fn playgrounds_become_code_blocks() {
    let listing = "fn a() {\n    // ```\n}\n";
    assert_eq!(
        shown(
            &mdbook(),
            "* x\n\n  {{#playground ../a.rs editable}}\n{{ #playpen ../b.rs }}",
            &[("a.rs", listing), ("b.rs", "b")]
        )
        .0,
        "* x\n\n  ````rust,editable\n  fn a() {\n      // ```\n  }\n  ````\n```rust\nb\n```"
    );
}

#[test]
fn fences_after_list_numbers_are_code() {
    let files = [("a.rs", "# use a;\nrun();\n")];
    for (text, expected) in [
        ("1. ```rust\n   {{#include ../a.rs}}\n   ```\n", "1. ```rust\n   run();\n   ```\n"),
        ("10) ```rust\n    # b\n    c\n    ```\n", "10) ```rust\n    c\n    ```\n"),
        (
            "> 2. - ```rust\n>      # b\n>      c\n>      ```\n# d\n",
            "> 2. - ```rust\n>      c\n>      ```\n# d\n",
        ),
        ("1. ```js\n   {{#quiz x}}\n   ```\n", "1. ```js\n   {{#quiz x}}\n   ```\n"),
        (
            "1. ```admonish bug\n   b\n   ```\n",
            "1. {% hint style=\"danger\" %}\n   **Bug**\n\n   b\n   {% endhint %}\n",
        ),
        // These are not list items.
        ("1.```rust\n# b\n", "1.```rust\n# b\n"),
        ("-```rust\n# b\n", "-```rust\n# b\n"),
    ] {
        assert_eq!(shown(&mdbook(), text, &files).0, expected, "{text}");
    }
}

#[test]
fn included_lines_keep_the_indentation_of_the_directive() {
    assert_eq!(
        shown(
            &mdbook(),
            "1. x\n   ```\n   {{#include a.txt}}\n   ```\n> {{#include a.txt}}\n",
            &[("src/a.txt", "a\n\nb\n")]
        )
        .0,
        "1. x\n   ```\n   a\n\n   b\n   ```\n> a\n>\n> b\n"
    );
}

#[test]
fn escaped_and_unknown_directives_are_text() {
    for (text, expected) in [
        ("\\{{#include a.rs}}", "{{#include a.rs}}"),
        ("`\\{{#include a.rs:1:2}}` and `\\{{#title x}}`", "`{{#include a.rs:1:2}}` and `\\{{#title x}}`"),
        ("```hbs\n{{#each items}}\n{{/each}}\n```\n", "```hbs\n{{#each items}}\n{{/each}}\n```\n"),
        ("an {{#if x}} and {{ x }} and {{#}} {{# x}}", "an {{#if x}} and {{ x }} and {{#}} {{# x}}"),
        ("{{#quiz ../q.toml}}\n{{#endtab}}\n{{#title A}}x\n", "\n\nx\n"),
        ("{{%course outline}}\n`{{%course outline}}` {{% x }}\n", "\n`{{%course outline}}` {\\{% x }}\n"),
        ("{{#include a", "{{#include a"),
        ("{{#include}}", "{{#include}}"),
        ("$\\frac{{a}}{{b}}$", "$\\frac{{a}}{{b}}$"),
    ] {
        assert_eq!(shown(&mdbook(), text, &[]).0, expected, "{text}");
    }
    let long = format!("{{{{#include {}}}}}", "a".repeat(500));
    assert_eq!(shown(&mdbook(), &long, &[]).0, long);
}

// HonKit escapes code before it evaluates templates.
#[test]
fn code_of_honkit_is_unchanged() {
    let config = RepoConfig::from_honkit("{ \"variables\": { \"v\": 3 } }", &RepoPath::default());
    let text = "```html\n{% include '../plus.svg' %} {{ book.v }} {% set v = 1 %}\n{% raw %}a{% endraw %}\n```\n\n\
                    `{{ book.v }} {% raw %}` ";
    assert_eq!(shown(&config, text, &[("plus.svg", "<svg/>")]), (text.to_owned(), vec![]));
    assert_eq!(shown(&config, &format!("{text}{{{{ book.v }}}}"), &[]).0, format!("{text}3"));
    let (text, warnings) = shown(&config, "a {% include '../gone.rs' %} b\n", &[]);
    assert_eq!((text.as_str(), warnings.len()), ("a  b\n", 1));
}

#[test]
fn signs_of_tags_are_text_in_mdbook() {
    for (text, expected) in [
        ("{% if a %}b{% endif %}\n", "\\{% if a %}b\\{% endif %}\n"),
        ("`{% a %}` {% b %}\n", "`{% a %}` \\{% b %}\n"),
        ("```\n{% a %}\n```\n", "```\n{% a %}\n```\n"),
        ("Use {{ #playground }} and {{#include}}.\n", "Use {{ #playground }} and {{#include}}.\n"),
    ] {
        assert_eq!(shown(&mdbook(), text, &[]).0, expected, "{text}");
    }
}

#[test]
fn missing_files_are_reported_and_not_shown() {
    for (text, warning) in [
        ("a {{#include ../gone.rs}} b", "the included file `../gone.rs` does not exist"),
        (
            "a {{#include ../../../etc/passwd}} b",
            "the included file `../../../etc/passwd` must be within the repository",
        ),
        ("a {{#include page.md}} b", "the included file `page.md` includes itself"),
        ("a {{#include b.md:none}} b", "the included file `b.md:none` has no such anchor"),
    ] {
        let (text, warnings) = shown(&mdbook(), text, &[("src/b.md", "b")]);
        assert_eq!((text.as_str(), warnings), ("a  b", vec![warning.to_owned()]));
    }
}

#[test]
fn included_files_may_include_others() {
    let known = [
        ("src/a/one.md", "One {{#include two.md}} {{#title x}}\n\\{{#include x}}"),
        ("src/a/two.md", "two {{#include ../page.md}}{{#include one.md}}"),
    ];
    let (text, warnings) = shown(&mdbook(), "{{#include a/one.md}}!", &known);
    assert_eq!(text, "One two  \n{{#include x}}!");
    assert_eq!(warnings.len(), 2, "{warnings:?}");
    let chain: Vec<(String, String)> =
        (0..20).map(|n| (format!("src/{n}.md"), format!("{n} {{{{#include {}.md}}}}", n + 1))).collect();
    let known: Vec<(&str, &str)> = chain.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let (text, warnings) = shown(&mdbook(), "{{#include 0.md}}", &known);
    assert_eq!(text, "0 1 2 3 4 5 6 7 8 9 ");
    assert_eq!(warnings, ["the included file `10.md` is nested too deeply"]);
}

#[test]
fn unread_files_are_requested_until_all_are_known() {
    let (text, page) = ("{{#include a.md}}{{#include b.md}}", RepoPath::new("src/page.md").unwrap());
    let first = files(&[("src/a.md", "{{#include c.md}}")]);
    let mut all = first.clone();
    all.extend(files(&[("src/b.md", "B"), ("src/c.md", "C")]));
    let found = |known| resolve(text, &page, &mdbook(), known, &mut IncludeBudget::default()).unwrap();
    let names = |paths: &std::collections::BTreeSet<RepoPath>| -> Vec<String> {
        paths.iter().map(ToString::to_string).collect()
    };
    assert_eq!(names(&found(&first).unread), ["src/b.md", "src/c.md"]);
    let found = found(&all);
    assert_eq!(names(&found.included), ["src/a.md", "src/b.md", "src/c.md"]);
    assert_eq!((found.unread.len(), found.expansions.expand(text)), (0, "CB".into()));
}

#[test]
fn results_have_a_bounded_size_and_number() {
    let long = "x".repeat(MAX_EXPANDED_BYTES / 4);
    let text = "{{#include a.txt}}{{#include ./a.txt}}{{#include .//a.txt}}{{#include ././a.txt}}{{#include ./././a.txt}}!";
    let (shown_text, warnings) = shown(&mdbook(), text, &[("src/a.txt", &long)]);
    assert_eq!(shown_text.len(), MAX_EXPANDED_BYTES / 4 * 3 + 1);
    assert_eq!(warnings, ["the results of its directives are too long; the rest is not shown"]);
    // An edit may repeat a directive.
    let repeated = "{{#include a.txt}}".repeat(1_000);
    assert_eq!(shown(&mdbook(), &repeated, &[("src/a.txt", &long)]).0.len(), MAX_EXPANDED_BYTES / 4 * 3);
    let many: String = (0..2_000).map(|n| format!("{{{{#include {n}/../a.txt}}}}")).collect();
    let (text, warnings) = shown(&mdbook(), &many, &[("src/a.txt", "x")]);
    assert_eq!((text.len(), warnings.len()), (MAX_INCLUDES, 1));
    // Every file includes the next one ten times.
    let chain: Vec<(String, String)> = (0..10)
        .map(|n| (format!("src/{n}.md"), format!("{{{{#include {}.md}}}} ", n + 1).repeat(10)))
        .collect();
    let known: Vec<(&str, &str)> = chain.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let found = resolve(
        "{{#include 0.md}}",
        &RepoPath::new("src/page.md").unwrap(),
        &mdbook(),
        &files(&known),
        &mut IncludeBudget::default(),
    );
    assert!(
        found.unwrap().warnings.contains(&"it has too many directives; the rest is not shown".to_owned())
    );
}

#[test]
fn a_template_has_at_most_2000_bytes() {
    for (length, is_text) in [(1_986, false), (1_987, true)] {
        let path = "a".repeat(length);
        let text = format!("{{% x {{% include \"{path}\" %}}");
        let page = RepoPath::new("page.md").unwrap();
        let config = RepoConfig::from_honkit("", &RepoPath::default());
        let found = resolve(&text, &page, &config, &files(&[]), &mut IncludeBudget::default());
        assert_eq!(found.is_none_or(|found| found.unread.is_empty()), is_text, "{length}");
    }
}

/// Takes minutes if the result is searched for each directive.
#[test]
fn results_that_do_not_fit_cost_no_search() {
    let long = "x".repeat(MAX_EXPANDED_BYTES - 1_000);
    let text = "{{#include a.txt}}\n".repeat(50_000);
    assert_eq!(shown(&mdbook(), &text, &[("src/a.txt", &long)]).0, "\n".repeat(50_000));
}

#[test]
fn copied_book_values_count_as_read() {
    let page = RepoPath::new("page.md").unwrap();
    let config = RepoConfig::from_honkit(r#"{"variables": {"v": "0123456789"}}"#, &RepoPath::default());
    let known = files(&[("a.md", &"{{book.v}}".repeat(20))]);
    let mut budget = IncludeBudget { read_bytes: 350, ..IncludeBudget::default() };
    let found = resolve("{% include \"a.md\" %}", &page, &config, &known, &mut budget).unwrap();
    // The file has 200 bytes, and the rest suffices for 15 of the 20 values.
    assert_eq!(found.expansions.expand("{% include \"a.md\" %}"), "0123456789".repeat(15));
    assert_eq!(found.warnings, ["the repository has too many directives; the rest is not shown"]);
    assert_eq!(budget.read_bytes, 0);
}

#[test]
fn budget_of_an_import_is_shared_by_its_pages() {
    let known = files(&[("src/a.txt", "0123456789")]);
    let read = |budget: IncludeBudget| {
        let (mut budget, page) = (budget, RepoPath::new("src/page.md").unwrap());
        let text = "{{#include a.txt}}";
        let mut shown = || {
            let found = resolve(text, &page, &mdbook(), &known, &mut budget).unwrap();
            (found.expansions.expand(text).into_owned(), found.warnings.len())
        };
        [shown(), shown(), shown()]
    };
    let found = ("0123456789".to_owned(), 0);
    for budget in [
        IncludeBudget { result_bytes: 25, ..IncludeBudget::default() },
        IncludeBudget { read_bytes: 25, ..IncludeBudget::default() },
    ] {
        assert_eq!(read(budget), [found.clone(), found.clone(), (String::new(), 1)]);
    }
}

#[test]
fn honkit_templates_are_evaluated() {
    let config =
        RepoConfig::from_honkit("{\"title\": \"T\", \"variables\": {\"v\": 2}}", &RepoPath::default());
    let known = [("src/a.md", "A {{ book.v }}"), ("b.md", "B")];
    for (text, expected) in [
        ("{% include \"./a.md\" %} {%- include '/b.md' -%}\n", "A 2 B\n"),
        (
            "{{ book.title }} {{book.v}} {{ book[\"v\"] }} {{ book.v | upper }} {{ book.none }}{{ page.title }}",
            "T 2 2 2 ",
        ),
        ("a{### hidden {{ book.v }} ###}b {# c #}", "ab {# c #}"),
        ("{% raw %}{{ book.v }}{% endraw %} {{ book.v }}", "{{ book.v }} 2"),
        ("{% raw %}\n```js\n{{ x }} {% if %}\n```\n{% endraw %}\n", "\n```js\n{{ x }} {% if %}\n```\n\n"),
        ("{% raw %}a {% tag %} `{% code %}`{% endraw %}", "a \\{% tag %} `{% code %}`"),
        ("{% raw %}a {% tag %}{% endraw %}", "a \\{% tag %}"),
        ("{% hint %} {% include x %} {{#include a.md}}", "{% hint %} {% include x %} {{#include a.md}}"),
    ] {
        assert_eq!(shown(&config, text, &known), (expected.to_owned(), vec![]), "{text}");
    }
}

#[test]
fn conditions_of_honkit_select_a_branch() {
    let config = RepoConfig::from_honkit(
        "{\"variables\": {\"edition\": \"web\", \"beta\": false}}",
        &RepoPath::default(),
    );
    let known = [("src/a.md", "{% if book.beta %}x{% else %}included{% endif %}")];
    for (text, expected) in [
        ("{% if book.edition == 'web' %}a{% else %}b{% endif %}\n", "a\n"),
        ("{% if book.beta %}\na\n{% elif book.edition %}\nb\n{% else %}\nc\n{% endif %}\nd\n", "\nb\n\nd\n"),
        ("{%- if book.none -%}a{%- endif -%}b", "b"),
        ("{% set v = 2 %}{% if v > 1 %}a{% endif %}", "a"),
        // Only what is shown counts.
        (
            "{% if book.none %}{% set v = 2 %}{% include '/gone.rs' %}{% endif %}{% if v %}a{% else %}b{% endif %}",
            "b",
        ),
        (
            "{% if book.edition %}{% if book.beta %}a{% endif %}b{% else %}{% if book.edition %}c{% endif %}{% endif %}",
            "b",
        ),
        ("{% if book.none %}a{% include './a.md' %}{% else %}{% include './a.md' %}{% endif %}", "included"),
        // Code is unchanged.
        ("`{% if book.none %}` a {% endif %}", "`{% if book.none %}` a "),
        ("```\n{% if book.none %}\n{% endif %}\n```\n", "```\n{% if book.none %}\n{% endif %}\n```\n"),
        ("``x ` y`` {% if book.none %}a{% else %}b{% endif %}", "``x ` y`` b"),
        ("Press \\` {% if book.none %}a{% else %}b{% endif %}", "Press \\` b"),
        ("`a\nb` {% if book.none %}a{% else %}b{% endif %}", "`a\nb` b"),
        ("* ```\n  a\n\n{% if book.none %}a{% else %}b{% endif %}\n", "* ```\n  a\n\nb\n"),
        // A tag without its counterpart is not shown, and hides nothing.
        ("{% if book.none %}\na\n\nb\n", "\na\n\nb\n"),
        ("{% if book.none %}{% if book.edition %}a{% endif %}b", "ab"),
        ("{% else %} a {% endif %}", " a "),
        ("{% if book.none\n and book.edition %}a{% else %}b{% endif %}", "b"),
        ("{% raw %}{% if a %}{% endraw %}{% if true %}b{% endif %}", "\\{% if a %}b"),
        ("{% if book.none %}{{ book.edition }}{% endif %}{% if f(1) %}c{% else %}d{% endif %}", "c"),
    ] {
        assert_eq!(shown(&config, text, &known), (expected.to_owned(), vec![]), "{text}");
    }
}

#[test]
fn values_of_a_page_of_honkit_are_shown() {
    let config = RepoConfig::from_honkit("{\"variables\": {\"v\": 2}}", &RepoPath::default());
    let known = [("src/a.md", "{% set x = 'own' %}{{ x }} {{ y }}")];
    for (text, expected) in [
        ("{% set x = \"1.0\" %}\n[a](b/{{ x }}) {{x}} `{{- x -}}`\n", "\n[a](b/1.0) 1.0 `{{- x -}}`\n"),
        ("{{ x }} {% set x = 'a' %}{{ x }} {% set x = 'b' %}{{ x }}", " a b"),
        (
            "{%- set a_1 = -1.5 -%}{%set b = a_1%}{% set c = true %}{{ a_1 }} {{ b }} {{ c }}",
            "-1.5 -1.5 true",
        ),
        ("{% set x = 'a' %}{% set x = y + 1 %}{{ x }}b", "b"),
        ("{% set x = book.v %}{{ x }} {{ 'c' }} {{ output.name }}", "2 c website"),
        ("{% set x = 'a\\'b' %} {% set %} {% setx = 1 %}", " {% set %} {% setx = 1 %}"),
        ("{% raw %}{% set x = 1 %}{{ x }}{% endraw %}", "\\{% set x = 1 %}{{ x }}"),
        ("{% set x = 1 %}\n```\n{{ x }} {{ x | title }}\n```\n", "\n```\n{{ x }} {{ x | title }}\n```\n"),
        ("{% set y = 'page' %}{% include \"./a.md\" %} {{ y }} {{ x }}", "own  page "),
        (
            "{% set i = '<b>!</b>' %}{% filename %}{{ i }} a.py{% endfilename %}",
            "{% filename %}<b>!</b> a.py{% endfilename %}",
        ),
    ] {
        assert_eq!(shown(&config, text, &known), (expected.to_owned(), vec![]), "{text}");
    }
    assert_eq!(shown(&mdbook(), "{% set x = 1 %}{{ x }}", &[]).0, "\\{% set x = 1 %}{{ x }}");
}

#[test]
fn values_of_a_page_have_a_bounded_size() {
    let config = RepoConfig::from_honkit("", &RepoPath::default());
    let text = format!("{{% set x = \"{}\" %}}{}", "a".repeat(400), "{{x}}".repeat(MAX_EXPANDED_BYTES / 8));
    let (page, _) = shown(&config, &text, &[]);
    assert!(page.len() + text.len() <= MAX_EXPANDED_BYTES && page.len() > 300_000, "{}", page.len());
    let (included, warnings) = shown(&config, "{% include \"a.md\" %}", &[("src/a.md", &text)]);
    assert!(included.len() <= MAX_EXPANDED_BYTES);
    assert_eq!(warnings, ["the results of its directives are too long; the rest is not shown"]);
    let known = files(&[("src/a.md", &text)]);
    let mut budget = IncludeBudget { read_bytes: text.len() + 1_000, ..IncludeBudget::default() };
    let page = RepoPath::new("src/page.md").unwrap();
    let found = resolve("{% include \"a.md\" %}", &page, &config, &known, &mut budget).unwrap();
    assert_eq!((found.expansions.expand("{% include \"a.md\" %}").len(), budget.read_bytes), (800, 200));
}

#[test]
fn other_repositories_have_no_directives() {
    let config = RepoConfig::read(None, &RepoPath::default()).unwrap();
    assert_eq!(shown(&config, "{{#include a.md}} {% raw %}", &[]).0, "{{#include a.md}} {% raw %}");
}

#[test]
fn title_line_sets_the_title() {
    assert_eq!(title_line("{{#title  My page }}\n# Heading\n"), Some(("My page", 21)));
    for text in ["{{#title}}\n", "x {{#title a}}", "{{#title a}} b", "{{#titled a}}", "\n{{#title a}}"] {
        assert_eq!(title_line(text), None, "{text}");
    }
}

#[test]
fn hidden_lines_of_rust_code_are_not_shown() {
    let listing =
        "# use a;\n#[test]\nfn main() {\n    # let x = 1;\n    run(x);\n}\n#\n#![allow(a)]\n## not hidden";
    let visible = "#[test]\nfn main() {\n    run(x);\n}\n#![allow(a)]\n# not hidden";
    let known = [("src/a.rs", listing)];
    for info in ["rust", "rust,ignore", "rust should_panic"] {
        let text =
            |code: &str| format!("# Title\n\n> ~~~{info}\n> {}\n> ~~~\n# a\n", code.replace('\n', "\n> "));
        let expected = text(visible);
        let quoted = |code: &str| format!("# Title\n\n```{info}\n{code}\n```\n# a\n");
        assert_eq!(shown(&mdbook(), &quoted(listing), &known).0, quoted(visible));
        assert_eq!(shown(&mdbook(), &quoted("{{#include a.rs}}"), &known).0, quoted(visible));
        assert_eq!(shown(&mdbook(), &text("{{#include a.rs}}"), &known).0, expected);
        assert_eq!(shown(&mdbook(), &text(listing), &known).0, expected);
    }
    for other in ["```toml\n# comment\n```\n", "```\n# comment\n```\n", "```rusty\n# a\n```\n"] {
        assert_eq!(shown(&mdbook(), other, &[]).0, other);
    }
    assert!(!shown(&mdbook(), "{{#playground a.rs}}", &known).0.contains("use a"));
    assert_eq!(
        shown(&mdbook(), "{{#include b.md}}", &[("src/b.md", "```rust\n# a\nb\n```")]).0,
        "```rust\nb\n```"
    );
}

#[test]
fn admonitions_of_mdbook_become_hints() {
    for (text, expected) in [
        ("```admonish\nText\n```\n", "{% hint style=\"info\" %}\nText\n{% endhint %}\n"),
        (
            "````admonish warning \"My *title*\"\n```rust\n# a\nb\n```\nSome `code`\n````\nEnd\n",
            "{% hint style=\"warning\" %}\n**My *title***\n\n```rust\nb\n```\nSome `code`\n{% endhint %}\nEnd\n",
        ),
        (
            "* a\n\n  ~~~admonish bug collapsible=true\n  b\n  ~~~\n",
            "* a\n\n  {% hint style=\"danger\" %}\n  **Bug**\n\n  b\n  {% endhint %}\n",
        ),
        (
            "> ```admonish tip title=\"\"\n> b\n> ```\n",
            "> {% hint style=\"success\" %}\n> b\n> {% endhint %}\n",
        ),
        ("```admonish danger title='x' id=\"y\"\nopen", "{% hint style=\"danger\" %}\nopen\n{% endhint %}\n"),
    ] {
        assert_eq!(shown(&mdbook(), text, &[]).0, expected, "{text}");
    }
    // A text whose hints would exceed the limit is unchanged.
    let many = "```admonish tip\n```\n".repeat(MAX_EXPANDED_BYTES / 30);
    assert_eq!(shown(&mdbook(), &many, &[]).0, many);
    let honkit = RepoConfig::from_honkit("", &RepoPath::default());
    let text = "```admonish\n# x\n```\n```rust\n# x\n```\n";
    assert_eq!(shown(&honkit, text, &[]).0, text);
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(
        text in "(\\{\\{|\\}\\}|#|include |a\\.md|\\\\|\\{%|%\\}|raw|endraw|book\\.v|set |x|=| |\n|```|> |ä|\"|:|admonish|rust|# |\\PC){0,60}"
    ) {
        for config in [mdbook(), RepoConfig::from_honkit("{}", &RepoPath::default())] {
            let known = files(&[("src/a.md", &text)]);
            let page = RepoPath::new("src/page.md").unwrap();
            if let Some(found) = resolve(&text, &page, &config, &known, &mut IncludeBudget::default()) {
                let shown = found.expansions.expand(&text);
                prop_assert!(shown.len() <= MAX_EXPANDED_BYTES);
            }
        }
    }
}
