//! Problems of a text that its author may not expect.

use docs_model::BlockTag;

use crate::{document::fence, syntax::tag};

/// Maximum number of problems of a text.
const MAX_PROBLEMS: usize = 100;
/// Tags within blocks.
const PARTS: [&str; 4] = ["else", "elseif", "raw", "endraw"];

/// Returns the problems of a text: unknown blocks, and tables whose delimiter row has another number of columns than
/// their head, which are read as text.
#[must_use]
pub fn text_problems(text: &str) -> Vec<String> {
    let mut problems = Vec::new();
    let mut open: Option<(char, usize)> = None;
    let mut before = "";
    for line in text.lines() {
        let start = line.trim_start();
        match (open, fence(start)) {
            (None, Some((mark, length, _))) => open = Some((mark, length)),
            (Some((mark, least)), Some((own, length, ""))) if own == mark && length >= least => open = None,
            (None, None) => {
                let found = unknown_block(start).or_else(|| broken_table(before, line));
                let found = found.filter(|found| !problems.contains(found));
                problems.extend(found);
            }
            _ => {}
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
        before = if open.is_none() { line } else { "" };
    }
    problems
}

fn unknown_block(line: &str) -> Option<String> {
    let inside = line.strip_prefix("{%")?.trim_start_matches(['-', ' ']);
    let name = tag::name_of(inside);
    let own = name.strip_prefix("end").filter(|own| !own.is_empty()).unwrap_or(name);
    let is_known = BlockTag::from_name(own).is_some() || PARTS.contains(&name);
    (!is_known && !name.is_empty() && name.len() <= 50 && name == own)
        .then(|| format!("the block `{{% {name} %}}` is unknown"))
}

fn broken_table(head: &str, delimiters: &str) -> Option<String> {
    let cells = delimiters.trim().trim_matches('|').split('|').map(str::trim);
    let is_delimiter = |cell: &str| {
        let dashes = cell.trim_start_matches(':').trim_end_matches(':');
        !dashes.is_empty() && dashes.bytes().all(|byte| byte == b'-')
    };
    if !delimiters.contains('|') || !head.contains('|') || !cells.clone().all(is_delimiter) {
        return None;
    }
    let (has, wanted) = (cells.count(), columns(head));
    let shown: String = head.trim().chars().take(60).collect();
    (has != wanted).then(|| {
        format!("the table `{shown}` is text: its head has {wanted} columns, its delimiter row has {has}")
    })
}

/// Returns the number of columns of a row.
fn columns(row: &str) -> usize {
    let row = row.trim();
    let row = row.strip_prefix('|').unwrap_or(row);
    let mut columns = 1;
    let mut is_escaped = false;
    for (at, c) in row.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '|' if row[at + 1..].trim().is_empty() => break,
            '|' => columns += 1,
            _ => {}
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_blocks_and_broken_tables_are_problems() {
        for (text, expected) in [
            ("{% hint style=\"info\" %}\nx\n{% endhint %}\n", vec![]),
            ("{% @figma/embed url=\"x\" %}\n", vec![]),
            ("```\n{% nope %}\n```\n", vec![]),
            ("````md\n```\n{% nope %}\n```\n````\n", vec![]),
            ("~~~\n```\n~~~\n{% nope %}\n", vec!["the block `{% nope %}` is unknown"]),
            ("```js\n```js\n{% nope %}\n```\n", vec![]),
            ("``` a`b\n{% nope %}\n", vec!["the block `{% nope %}` is unknown"]),
            ("{% if a %}\nx\n{% else %}\ny\n{% endif %}\n", vec![]),
            ("{% nope %}\nx\n{% endnope %}\n{% nope %}\n", vec!["the block `{% nope %}` is unknown"]),
            ("| a | b |\n| --- | --- |\n", vec![]),
            ("| a \\| c | b |\n| :-- | --: |\n", vec![]),
            ("a | b\n--- | ---\n", vec![]),
            ("text\n---\n", vec![]),
            (
                "| a | b |\n| --- |\n",
                vec!["the table `| a | b |` is text: its head has 2 columns, its delimiter row has 1"],
            ),
        ] {
            assert_eq!(text_problems(text), expected, "{text}");
        }
    }

    #[test]
    fn problems_beyond_the_bound_are_left_out() {
        let text: String = (0..=MAX_PROBLEMS).map(|at| format!("{{% unknown{at} %}}\n")).collect();
        assert_eq!(text_problems(&text).len(), MAX_PROBLEMS);
    }
}
