//! Selection of lines of an included file: by number, or between the comments of an anchor.

/// The lines that a directive includes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Selection<'a> {
    /// Lines from the first to before the second, counted from 0.
    Lines(usize, usize),
    /// The lines between `ANCHOR: name` and `ANCHOR_END: name`.
    Anchor(&'a str),
}

/// Splits the argument of a directive into the path and the selected lines.
pub(super) fn split(argument: &str) -> (&str, Selection<'_>) {
    let Some((path, rest)) = argument.split_once(':') else {
        return (argument, Selection::Lines(0, usize::MAX));
    };
    let mut parts = rest.splitn(3, ':');
    let first = parts.next().unwrap_or_default();
    let start = first.parse::<usize>().ok().map(|line| line.saturating_sub(1));
    if start.is_none() && !first.is_empty() {
        return (path, Selection::Anchor(first));
    }
    let end = parts.next().map(|end| end.parse::<usize>().unwrap_or(usize::MAX));
    let lines = match (start, end) {
        (Some(start), None) => Selection::Lines(start, start.saturating_add(1)),
        (start, end) => Selection::Lines(start.unwrap_or_default(), end.unwrap_or(usize::MAX)),
    };
    (path, lines)
}

/// Returns the selected lines, without a line break after the last one. Returns `None` if the anchor does not exist.
pub(super) fn select(text: &str, selection: &Selection<'_>) -> Option<String> {
    let lines: Vec<&str> = match selection {
        Selection::Lines(start, end) => text.lines().skip(*start).take(end.saturating_sub(*start)).collect(),
        Selection::Anchor(name) => {
            let mut lines = text.lines();
            lines.find(|line| marked(line, "ANCHOR:") == Some(name))?;
            lines
                .take_while(|line| marked(line, "ANCHOR_END:") != Some(name))
                .filter(|line| marked(line, "ANCHOR:").is_none() && marked(line, "ANCHOR_END:").is_none())
                .collect()
        }
    };
    Some(lines.join("\n"))
}

/// Returns the name of an anchor after a mark.
fn marked<'l>(line: &'l str, mark: &str) -> Option<&'l str> {
    let rest = line[line.find(mark)? + mark.len()..].trim_start();
    let end = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-')).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}
