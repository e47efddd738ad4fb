use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::document::parse;

/// Adds brackets around a segment, and accents to some letters outside of placeholders.
fn pseudo(segment: &str) -> Option<String> {
    let mut out = String::from("[");
    let mut within = false;
    for c in segment.chars() {
        within = c == '⟦' || (within && c != '⟧');
        out.push(match c {
            'a' if !within => 'á',
            'e' if !within => 'é',
            other => other,
        });
    }
    out.push(']');
    Some(out)
}

fn made(markdown: &str) -> String {
    translated_markdown(markdown, pseudo)
}

#[test]
fn text_is_translated_and_code_and_markup_are_preserved() {
    for (markdown, translated) in [
        ("Read `make` here.\n", "\\[Réád `make` héré.]\n"),
        ("See [the **guide**](a.md \"Title\").\n", "\\[Séé [thé **guidé**](a.md \"[Titlé]\").]\n"),
        ("```js title=\"a.js\"\nlet a = 1;\n```\n", "```js title=\"a.js\"\nlet a = 1;\n```\n"),
        (
            "{{ space.vars.a }} is set at https://a.example/b.\n",
            "\\[{{ space.vars.a }} is sét át https://a.example/b.]\n",
        ),
        ("a <span class=\"a\">b</span> <!-- a -->\n", "\\[á <span class=\"a\">b</span> <!-- a -->]\n"),
        ("| a | b |\n|---|---|\n| e | `e` |\n", "| \\[á] | \\[b] |\n|---|---|\n| \\[é] | `e` |\n"),
        (
            "{% tabs %}\n{% tab title=\"One\" %}\n1\n{% endtab %}\n{% endtabs %}\n",
            "{% tabs %}\n{% tab title=\"[Oné]\" %}\n1\n{% endtab %}\n{% endtabs %}\n",
        ),
        ("# Start here\n", "# \\[Stárt héré] <a href=\"#start-here\" id=\"start-here\"></a>\n"),
        ("12 + 3\n", "12 + 3\n"),
        ("{% unknown a %}\n", "{% unknown a %}\n"),
        ("$$a$$ and a\\\nb\n", "\\[$$a$$ ánd á\\\nb]\n"),
        ("", ""),
    ] {
        assert_eq!(made(markdown), translated, "{markdown}");
    }
}

#[test]
fn image_text_is_translated_and_its_url_is_not() {
    let made = made("![An alt](a.png \"a caption\")\n");
    for part in ["src=\"a.png\"", "alt=\"[An ált]\"", "[á cáption]"] {
        assert!(made.contains(part), "{made}");
    }
}

#[test]
fn translation_must_have_the_placeholders_of_its_segment() {
    let segment = "see ⟦1⟧ and ⟦2⟧the ⟦3⟧guide⟦/3⟧⟦/2⟧";
    for (translation, fits) in [
        ("⟦2⟧die ⟦3⟧Anleitung⟦/3⟧⟦/2⟧ und ⟦1⟧", true),
        ("⟦2⟧⟦3⟧x⟦/3⟧ ⟦1⟧⟦/2⟧", true),
        ("⟦1⟧ ⟦ 2 ⟧x ⟦3⟧y⟦/3⟧⟦/2⟧", true),
        ("⟦1⟧ ⟦2⟧die⟦/2⟧ ⟦3⟧Anleitung⟦/3⟧", false),
        ("⟦2⟧die ⟦3⟧Anleitung⟦/3⟧⟦/2⟧", false),
        ("⟦1⟧⟦1⟧ ⟦2⟧die ⟦3⟧Anleitung⟦/3⟧⟦/2⟧", false),
        ("⟦1⟧ ⟦2⟧die ⟦3⟧⟦/3⟧⟦/2⟧", false),
        ("⟦1⟧ ⟦2⟧die ⟦3⟧x⟦/2⟧⟦/3⟧", false),
        ("⟦1⟧ ⟦2⟧die ⟦3⟧x⟦/3⟧⟦/2⟧ ⟦4⟧", false),
        ("⟦1⟧ ⟦2⟧die ⟦3⟧x⟦/3⟧⟦/2⟧ ⟦", false),
        ("", false),
    ] {
        assert_eq!(is_translation_of(segment, translation), fits, "{translation}");
    }
    assert!(is_translation_of("a", "b") && !is_translation_of("a", " ") && !is_translation_of("a", "b⟦1⟧"));
}

#[test]
fn untranslated_text_is_preserved_verbatim() {
    let odd = "* one\n* two\n\nText   with\n  odd breaks\n\n> quote\n";
    assert_eq!(translated_markdown(odd, |_| None), odd);
    // Only one of two paragraphs changes.
    let two = "An   odd\n  one\n\nAnother\n";
    let made = translated_markdown(two, |segment| (segment == "Another").then(|| "Eine".to_owned()));
    assert_eq!(made, "An   odd\n  one\n\nEine\n");
    // A translation without the placeholder is invalid.
    assert_eq!(translated_markdown("Run `a`.\n", |_| Some("Starte.".to_owned())), "Run `a`.\n");
}

#[test]
fn unclosed_openers_are_scanned_once() {
    // Searching for the end from each beginning would take minutes.
    for opener in ["{", "{%", "<a"] {
        let text = format!("{}word", opener.repeat(400_000));
        assert_eq!(text_segment(&text), Some(text));
    }
    let one = format!("{{{{ a }} and {}", "{{".repeat(400_000));
    assert_eq!(text_segment(&one), Some(one.replacen("{{ a }}", "⟦1⟧", 1)));
}

#[test]
fn translation_with_thousands_of_placeholders_is_rejected() {
    let many =
        |what: &str| (1..=20_000).map(|number| what.replace('n', &number.to_string())).collect::<String>();
    let deep = format!("{}a{}", many("⟦n⟧"), many("⟦/n⟧"));
    assert!(!is_translation_of("a", &deep) && !is_translation_of("a", &many("⟦n⟧a⟦/n⟧")));
}

/// The parts of a document that a translation must not change, in text order.
#[derive(Debug, Default, PartialEq)]
struct Kept {
    kinds: Vec<String>,
    code: Vec<Value>,
    targets: Vec<Value>,
    anchors: Vec<Value>,
}

impl Kept {
    fn of(markdown: &str) -> Self {
        let mut kept = Self::default();
        kept.visit(&serde_json::to_value(&parse(markdown).nodes).expect("JSON"));
        kept
    }

    fn visit(&mut self, value: &Value) {
        match value {
            Value::Array(items) => items.iter().for_each(|item| self.visit(item)),
            Value::Object(fields) => {
                let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
                if fields.get("object").is_some_and(|object| object == "block") {
                    self.kinds.push(kind.to_owned());
                    if kind.starts_with("heading") {
                        self.anchors.push(fields["meta"]["id"].clone());
                    }
                    if kind == "code" {
                        self.code.push(fields["key"].clone());
                        self.code.push(value.clone());
                    }
                }
                self.targets.extend(["ref", "refDark"].iter().filter_map(|name| fields.get(*name).cloned()));
                fields.values().for_each(|field| self.visit(field));
            }
            _ => {}
        }
    }
}

/// Collects the text of the `.md` files in a folder.
fn files(folder: &Path, out: &mut Vec<(String, String)>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|end| end == "md") && !path.ends_with("SUMMARY.md") {
            let text = std::fs::read_to_string(&path).expect("a file");
            let body = text
                .strip_prefix("---\n")
                .and_then(|rest| rest.split_once("\n---\n"))
                .map(|(_, body)| body.to_owned());
            out.push((path.display().to_string(), body.unwrap_or(text)));
        }
    }
}

/// Blocks, code, targets and anchors are unchanged.
#[test]
fn translation_of_the_handbook_keeps_its_structure() {
    let mut pages = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/handbook"), &mut pages);
    assert!(pages.len() > 25, "{}", pages.len());
    let mut translated = 0;
    for (name, text) in &pages {
        let new = made(text);
        assert_eq!(Kept::of(&new), Kept::of(text), "{name}:\n{new}");
        translated += usize::from(new != *text);
        // Every segment of the original was translated.
        let before = segments(&parse(text));
        let after = segments(&parse(&new));
        assert_eq!(before.len(), after.len(), "{name}");
    }
    assert!(translated > 25, "{translated}");
}

proptest! {
    #[test]
    fn translator_output_cannot_change_document_structure(
        text in prop::collection::vec(prop::sample::select(vec![
            "One `a` two.", "# Head", "- item\n- [link](a.md)", "> quote **b**", "| a | b |\n|---|---|\n| c | d |",
            "```\ncode\n```", "{% hint style=\"info\" %}\nMind it.\n{% endhint %}", "![alt](a.png)", "a  \nb",
        ]), 1..5),
        answers in prop::collection::vec(prop::option::of("[ a-zé⟦⟧/12*_#>|`\\[\\]<\n{}%()!&:\"$~-]{0,20}"), 12),
    ) {
        let text = format!("{}\n", text.join("\n\n"));
        let mut answers = answers.into_iter().cycle();
        let new = translated_markdown(&text, |_| answers.next().flatten());
        let (before, after) = (Kept::of(&text), Kept::of(&new));
        prop_assert_eq!(before.kinds, after.kinds, "{}", new);
        prop_assert_eq!(before.code, after.code);
        prop_assert_eq!(before.targets, after.targets);
    }

    #[test]
    fn segment_and_its_joined_pieces_are_translations_of_itself(text in "[a-z *`\\[\\]()⟦⟧\n<>/]{0,60}") {
        for segment in segments(&parse(&text)) {
            prop_assert!(is_translation_of(&segment, &segment), "{}", segment);
            let (texts, join) = placeholder_free(&segment);
            prop_assert_eq!(join(&texts), segment);
        }
    }
}
