//! Tables of pipes: `| a | b |`.

use docs_model::CellAlign;

use super::lines::SPACE;

/// How the columns of a table are aligned, from the line below its header.
pub(super) fn alignments(text: &str) -> Option<Vec<CellAlign>> {
    let text = text.trim_matches(SPACE);
    if !text.contains('|') && !text.contains(':') && text.trim_matches('-').is_empty() {
        return None;
    }
    cells(text)
        .iter()
        .map(|cell| {
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
        })
        .collect()
}

/// The cells of a line, with escaped pipes as pipes.
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
    // The pipe at the end closes the last cell.
    if out.len() > 1
        && out.last().is_some_and(|cell| cell.trim_matches(SPACE).is_empty())
        && inside.ends_with('|')
    {
        out.pop();
    }
    out.into_iter().map(|cell| cell.trim_matches(SPACE).to_owned()).collect()
}

/// The line below a header with no more hyphens than it needs.
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

/// A cell as it stands between pipes.
pub(super) fn escaped(cell: &str) -> String {
    cell.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_pipes_that_are_not_escaped() {
        for (line, expected) in [
            ("| a | b |", vec!["a", "b"]),
            ("a|b", vec!["a", "b"]),
            ("| `a \\| b` | |", vec!["`a | b`", ""]),
            ("|", vec![""]),
            ("| a", vec!["a"]),
            ("||", vec![""]),
        ] {
            assert_eq!(cells(line), expected, "{line}");
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
