//! Pipe tables: `| a | b |`.

use docs_model::CellAlign;

use super::lines::SPACE;

/// Parses the delimiter row below a table header into column alignments.
pub(super) fn alignments(text: &str) -> Option<Vec<CellAlign>> {
    let text = text.trim_matches(SPACE);
    let is_rule = text.bytes().all(|b| matches!(b, b'|' | b':' | b'-') || SPACE.contains(&char::from(b)));
    if !is_rule || (!text.contains('|') && !text.contains(':') && text.trim_matches('-').is_empty()) {
        return None;
    }
    let inside = text.strip_prefix('|').unwrap_or(text);
    inside.strip_suffix('|').unwrap_or(inside).split('|').map(alignment).collect()
}

/// Parses a cell of the delimiter row.
fn alignment(cell: &str) -> Option<CellAlign> {
    let cell = cell.trim_matches(SPACE);
    let (left, rest) = cell.strip_prefix(':').map_or((false, cell), |rest| (true, rest));
    let (right, rest) = rest.strip_suffix(':').map_or((false, rest), |rest| (true, rest));
    if rest.is_empty() || rest.bytes().any(|b| b != b'-') {
        return None;
    }
    Some(match (left, right) {
        (true, true) => CellAlign::Center,
        (false, true) => CellAlign::Right,
        _ => CellAlign::Left,
    })
}

/// Returns the number of cells in a line.
pub(super) fn count(text: &str) -> usize {
    let text = text.trim_matches(SPACE);
    let inside = text.strip_prefix('|').unwrap_or(text).as_bytes();
    let is_pipe = |at: usize| at.checked_sub(1).and_then(|at| inside.get(at)) != Some(&b'\\');
    let pipes = (0..inside.len()).filter(|at| inside.get(*at) == Some(&b'|') && is_pipe(*at)).count();
    let is_closed = inside.last() == Some(&b'|') && is_pipe(inside.len() - 1);
    // The trailing pipe closes the last cell.
    pipes + usize::from(!is_closed)
}

/// Splits a line into cells, and unescapes pipes.
pub(super) fn cells(text: &str) -> Vec<String> {
    let text = text.trim_matches(SPACE);
    let inside = text.strip_prefix('|').unwrap_or(text);
    let mut out = vec![String::new()];
    let mut is_escaped = false;
    for c in inside.chars() {
        let Some(cell) = out.last_mut() else { break };
        match c {
            '|' if is_escaped => {
                cell.pop();
                cell.push('|');
            }
            '|' => out.push(String::new()),
            c => cell.push(c),
        }
        is_escaped = c == '\\';
    }
    // The trailing pipe closes the last cell.
    if out.len() > 1
        && out.last().is_some_and(|cell| cell.trim_matches(SPACE).is_empty())
        && inside.ends_with('|')
    {
        out.pop();
    }
    out.into_iter().map(|cell| cell.trim_matches(SPACE).to_owned()).collect()
}

/// Shortens a delimiter row to the minimum number of hyphens.
pub(super) fn short(rule: &str) -> String {
    let mut out = String::new();
    let mut hyphens = 0;
    for c in rule.trim_matches(SPACE).chars() {
        hyphens = if c == '-' { hyphens + 1 } else { 0 };
        let is_second_space = c.is_whitespace() && out.ends_with(' ');
        if hyphens <= 3 && !is_second_space {
            out.push(if c.is_whitespace() { ' ' } else { c });
        }
    }
    out
}

pub(super) fn escape_pipes(cell: &str) -> String {
    cell.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_rows_are_split_at_unescaped_pipes() {
        for (line, expected) in [
            ("| a | b |", vec!["a", "b"]),
            ("a|b", vec!["a", "b"]),
            ("| `a \\| b` | |", vec!["`a | b`", ""]),
            ("|", vec![""]),
            ("| a", vec!["a"]),
            ("||", vec![""]),
            ("|a|b\\|", vec!["a", "b|"]),
            ("", vec![""]),
        ] {
            assert_eq!(cells(line), expected, "{line}");
            assert_eq!(count(line), expected.len(), "{line}");
        }
        assert_eq!(
            alignments("| :-: | -: | --- |").unwrap(),
            [CellAlign::Center, CellAlign::Right, CellAlign::Left]
        );
        assert!(
            alignments("---").is_none() && alignments("| a |").is_none() && alignments("| - | |").is_none()
        );
    }
}
