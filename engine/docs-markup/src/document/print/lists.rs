//! Printing of lists.

use docs_model::{Block, BlockKind};

use super::{
    super::{invalid::Invalid, lines::SPACE, marks, simple_blocks::is_list, spelling::is_verbatim},
    indentation::indented,
    printer::Printer,
};

impl Printer {
    pub(super) fn list(&mut self, block: &Block) -> Result<String, Invalid> {
        let spelling = block.spelling.as_deref().unwrap_or_default();
        let (is_ordered, start) = match &block.kind {
            BlockKind::ListOrdered { start } => (true, start.unwrap_or(1)),
            _ => (false, 1),
        };
        let marks: &[char] = if is_ordered { &['.', ')'] } else { &['*', '-', '+'] };
        let wanted = spelling.chars().next().filter(|mark| marks.contains(mark)).unwrap_or(marks[0]);
        let last = self.list_marks.last().copied().flatten();
        // Adjacent lists of the same kind are distinguished by their markers.
        let mark = if last == Some(wanted) {
            marks.iter().copied().find(|mark| Some(*mark) != last).unwrap_or(wanted)
        } else {
            wanted
        };
        if let Some(last) = self.list_marks.last_mut() {
            *last = Some(mark);
        }
        let numbers = numbers(spelling, start, block.nodes.len());
        if block.nodes.is_empty() {
            return Err(self.invalid("must have at least one item"));
        }
        if start > 999_999_999 - block.nodes.len() as u64 {
            return Err(self.invalid("`start` is too large"));
        }
        let mut out = Vec::new();
        for (index, item) in self.children(block)?.into_iter().enumerate() {
            self.path.push(format!("nodes[{index}]"));
            let number = numbers.get(index).copied().unwrap_or(start + index as u64);
            let bullet = if is_ordered { format!("{number}{mark}") } else { mark.to_string() };
            out.push(self.item(item, &bullet, block)?);
            self.path.pop();
        }
        Ok(out.join("\n"))
    }

    fn item(&mut self, item: &Block, bullet: &str, list: &Block) -> Result<String, Invalid> {
        let BlockKind::ListItem { checked } = &item.kind else {
            return Err(self.invalid("must contain list-items only"));
        };
        let is_task = matches!(list.kind, BlockKind::ListTasks {});
        let checked = checked.or(is_task.then_some(false));
        let blocks = self.children(item)?;
        let text = self.item_blocks(&blocks)?;
        let boxed = match checked {
            Some(true) => "[x] ",
            Some(false) => "[ ] ",
            None => "",
        };
        let indent = " ".repeat(bullet.len() + 1);
        let body = indented(&text, &indent, "");
        let out = format!("{bullet} {boxed}{body}");
        // If the content cannot begin on the line of the marker, it begins on the next line.
        let is_divider = marks::is_divider(out.split('\n').next().unwrap_or_default());
        let begins_apart = checked.is_none() && (is_divider || text.starts_with("    "));
        Ok(match (text.is_empty(), begins_apart) {
            (true, _) => out.trim_end_matches(SPACE).to_owned(),
            (false, true) => format!("{bullet}\n{indent}{body}"),
            (false, false) => out,
        })
    }

    /// Prints the blocks of an item. A list follows its paragraph without an empty line.
    fn item_blocks(&mut self, blocks: &[&Block]) -> Result<String, Invalid> {
        let is_text =
            |block: &Block| matches!(block.kind, BlockKind::Paragraph { align: None }) && !is_verbatim(block);
        let text = self.sequence(blocks, "nodes")?;
        let starts_at_one = |list: &Block| {
            matches!(list.kind, BlockKind::ListOrdered { start: None | Some(1) })
                || !matches!(list.kind, BlockKind::ListOrdered { .. })
        };
        let is_close = matches!(blocks, [first, second, ..] if is_text(first) && is_list(second) && starts_at_one(second));
        Ok(match text.split_once("\n\n").filter(|_| is_close) {
            // A list that begins with an empty item, or with a number other than one, would become part of the
            // paragraph.
            Some((first, rest)) if begins_with_text(rest) && !first.starts_with(['<', '$', '|']) => {
                format!("{first}\n{rest}")
            }
            _ => text,
        })
    }
}

/// Returns `true` if the first item of a list has text on its first line.
fn begins_with_text(list: &str) -> bool {
    let line = list.split('\n').next().unwrap_or_default();
    let (mark, text) = line.split_once(' ').unwrap_or_default();
    !text.trim_matches(SPACE).is_empty() && (mark.len() == 1 || matches!(mark, "1." | "1)"))
}

/// Returns the item numbers in a spelling, or an empty list if they are consecutive.
fn numbers(spelling: &str, start: u64, count: usize) -> Vec<u64> {
    let Some((_, list)) = spelling.split_once(':') else {
        return if spelling.ends_with('=') { vec![start; count] } else { Vec::new() };
    };
    let numbers: Vec<u64> = list.split(',').filter_map(|number| number.parse().ok()).collect();
    let fits =
        numbers.len() == count && numbers[0] == start && numbers.iter().all(|number| *number < 1_000_000_000);
    if fits { numbers } else { Vec::new() }
}
