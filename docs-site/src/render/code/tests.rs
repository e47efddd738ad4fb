use std::time::{Duration, Instant};

use docs_core::model::Leaf;
use proptest::prelude::*;

use super::{Cursor, lexer, write_highlighted};
use crate::html::Html;

/// Formats code with each token in brackets, preceded by the letter of its kind.
fn shown(language: &str, code: &str) -> String {
    let mut out = String::new();
    let mut done = 0;
    for run in lexer::tokenize(code, language) {
        out.push_str(&code[done..run.start]);
        let class = super::class(run.kind);
        out.push_str(&format!("{}[{}]", class.trim_start_matches("c-"), &code[run.start..run.end]));
        done = run.end;
    }
    out + &code[done..]
}

#[test]
fn tokens_are_classified_by_language() {
    for (language, code, expected) in [
        (
            "rust",
            "fn f<'a>(x: &'a str) -> char { 'x' } // y",
            "k[fn] f<'a>(x: &'a str) -> char { s['x'] } c[// y]",
        ),
        ("rs", "#[test]\nlet s = \"a\\\"b\";", "m[#[test]]\nk[let] s = s[\"a\\\"b\"];"),
        ("python", "def f():\n  \"\"\"a\nb\"\"\"  # c", "k[def] f[f]():\n  s[\"\"\"a\nb\"\"\"]  c[# c]"),
        ("js", "const a = `x${1}`; a.class", "k[const] a = s[`x${1}`]; a.class"),
        ("ts", "fetch('https://a.test') /* b */", "f[fetch](s['https://a.test']) c[/* b */]"),
        ("bash", "echo \"$A\" $HOME --flag # c", "k[echo] s[\"$A\"] n[$HOME] n[--flag] c[# c]"),
        ("console", "$ curl https://a.test/x#y", "m[$] curl https://a.test/x#y"),
        ("json", "{\"a\": [1, true, \"b\"]}", "{n[\"a\"]: [v[1], v[true], s[\"b\"]]}"),
        (
            "yaml",
            "a: 1\n- b: \"c\" # d\nurl: http://x",
            "n[a]: v[1]\n- n[b]: s[\"c\"] c[# d]\nn[url]: http://x",
        ),
        ("toml", "[a]\nb = 1", "k[[a]]\nn[b] = v[1]"),
        ("css", ".a{\n  color: #fff;\n}", ".a{\n  n[color]: v[#fff];\n}"),
        ("html", "<a href=\"x\">&amp; y</a>", "k[<a] n[href]=s[\"x\"]k[>]v[&amp;] yk[</a]k[>]"),
        ("diff", "@@ 1\n+a\n-b\n c", "m[@@ 1]\na[+a]\nr[-b]\n c"),
        ("SQL", "select * from t -- c", "k[select] * k[from] t c[-- c]"),
        ("unknown", "let x", "let x"),
    ] {
        assert_eq!(shown(language, code), expected, "{language}");
    }
}

#[test]
fn tokenizing_pathological_code_is_fast() {
    let most = 40_000;
    for language in ["rust", "js", "python", "bash", "json", "yaml", "toml", "css", "html", "diff", "lua"] {
        for unit in
            ["${", "#[", "- ", "-", " ", "&", "'", "\"", "`", "<", "/*", "\\", "a:", "=", "@", "#", "[", "é"]
        {
            let code = unit.repeat(most / unit.len());
            let since = Instant::now();
            let runs = lexer::tokenize(&code, language);
            assert!(since.elapsed() < Duration::from_secs(10), "{language} {unit:?}: {:?}", since.elapsed());
            assert!(runs.len() <= code.len());
        }
    }
}

proptest! {
    #[test]
    fn token_runs_are_ordered_and_do_not_overlap(
        language in prop::sample::select(vec!["rust", "js", "python", "bash", "yaml", "json", "toml", "css", "html",
            "diff", "sql", "haskell", "powershell"]),
        code in "([a-z0-9 \n\"'`#/*{}$@<>&:=\\[\\]é-]|0x|//|/\\*|\\*/|\"\"\"|<!--|-->|\\$\\{){0,60}",
    ) {
        let mut done = 0;
        for run in lexer::tokenize(&code, language) {
            prop_assert!(run.start >= done && run.end > run.start && code.get(run.start..run.end).is_some());
            done = run.end;
        }
        prop_assert!(done <= code.len());
    }

    #[test]
    fn highlighting_preserves_the_text(code in "[a-z0-9 \"'/*{}$@&<>é-]{0,60}", cut in 0_usize..60) {
        let runs = lexer::tokenize(&code, "rust");
        let cut = code.floor_char_boundary(cut.min(code.len()));
        let mut cursor = Cursor { at: 0, runs: &runs };
        let mut text = String::new();
        for part in [&code[..cut], &code[cut..]] {
            let leaf: Leaf = serde_json::from_value(serde_json::json!({ "object": "leaf", "text": part, "marks": [] }))
                .expect("a leaf");
            text.push_str(&Html::build_markup(|html| write_highlighted(html, &leaf, &mut cursor)).into_string());
        }
        let mut plain = String::new();
        let mut is_tag = false;
        for c in text.chars() {
            match c {
                '<' => is_tag = true,
                '>' => is_tag = false,
                c if !is_tag => plain.push(c),
                _ => {}
            }
        }
        let plain = plain.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&");
        prop_assert_eq!(plain, code);
    }
}
