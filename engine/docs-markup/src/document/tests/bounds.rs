//! Limits of a document: a construct at the limit is part of the tree; one beyond it is preserved as text.

use super::*;

/// Returns the number of blocks and inline elements of a type in a document.
fn count(markdown: &str, kind: &str) -> usize {
    fn walk(value: &Value, kind: &str) -> usize {
        let own = usize::from(value["type"] == kind);
        let children: usize = match value {
            Value::Array(items) => items.iter().map(|item| walk(item, kind)).sum(),
            Value::Object(fields) => fields.values().map(|field| walk(field, kind)).sum(),
            _ => 0,
        };
        own + children
    }
    walk(&serde_json::to_value(parse(markdown).nodes).unwrap(), kind)
}

#[test]
fn a_table_wider_than_its_bound_is_text() {
    let table = |columns: usize| {
        let row = |cell: &str| format!("|{}\n", format!(" {cell} |").repeat(columns));
        row("a") + &row("---") + &row("b")
    };
    assert_eq!((count(&table(200), "table"), count(&table(201), "table")), (1, 0));
}

#[test]
fn notes_beyond_their_bound_are_text() {
    let text = |notes: usize| {
        let used: String = (0..notes).map(|note| format!("a word[^{note}] of a text\n\n")).collect();
        used + &(0..notes).map(|note| format!("[^{note}]: Some words.\n\n")).collect::<String>()
    };
    assert_eq!((count(&text(1_000), "annotation"), count(&text(1_001), "annotation")), (1_000, 0));
}

#[test]
fn a_formula_longer_than_its_bound_is_text() {
    // The delimiter bytes count towards the limit.
    let text = |bytes: usize| format!("a $${}$$ b", "x".repeat(bytes - 4));
    assert_eq!((count(&text(4_096), "inline-math"), count(&text(4_097), "inline-math")), (1, 0));
}

#[test]
fn a_summary_of_more_lines_than_its_bound_is_text() {
    let text =
        |lines: usize| format!("<details>{}<summary>a</summary>\n\nb\n\n</details>", "\n".repeat(lines - 1));
    assert_eq!((count(&text(16), "expandable"), count(&text(17), "expandable")), (1, 0));
}
