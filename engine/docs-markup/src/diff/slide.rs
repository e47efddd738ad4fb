//! Placement of changes: a change with several equivalent positions is moved to the last one, or to one where the other
//! text changes too.

use super::marked_lines::MarkedLines;

/// A possibly empty run of changed lines. There is one group between any two matching lines.
#[derive(Clone, Copy)]
struct Group {
    start: usize,
    end: usize,
}

impl Group {
    const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

impl MarkedLines<'_> {
    fn first(&self) -> Group {
        Group { start: 0, end: self.run(0) }
    }

    fn next(&self, group: Group) -> Option<Group> {
        let start = group.end + 1;
        (group.end < self.lines.len()).then(|| Group { start, end: start + self.run(start) })
    }

    fn previous(&self, group: Group) -> Option<Group> {
        let end = group.start.checked_sub(1)?;
        Some(Group { start: self.joined_start(end), end })
    }

    fn joined_start(&self, start: usize) -> usize {
        start - self.changed[..start].iter().rev().take_while(|changed| **changed).count()
    }

    /// Moves a group up by one line if the result is equivalent. It may merge with the previous group.
    fn slide_up(&mut self, group: Group) -> Option<Group> {
        let before = group.start.checked_sub(1)?;
        if self.lines[before] != self.lines[group.end - 1] {
            return None;
        }
        self.changed[before] = true;
        self.changed[group.end - 1] = false;
        Some(Group { start: self.joined_start(before), end: group.end - 1 })
    }

    /// Moves a group down by one line if the result is equivalent. It may merge with the next group.
    fn slide_down(&mut self, group: Group) -> Option<Group> {
        if self.lines.get(group.end) != Some(&self.lines[group.start]) {
            return None;
        }
        self.changed[group.start] = false;
        self.changed[group.end] = true;
        Some(Group { start: group.start + 1, end: group.end + 1 + self.run(group.end + 1) })
    }
}

/// Moves every group of `text` down as far as possible, or to the last position where the other text changes too.
pub(super) fn slide_groups(text: &mut MarkedLines<'_>, other: &mut MarkedLines<'_>) {
    let (mut group, mut beside) = (text.first(), other.first());
    loop {
        if !group.is_empty() {
            (group, beside) = slide_group(text, other, group, beside);
        }
        // Both texts have one group between any two matching lines, so either both have another group or both are at
        // the end.
        match (text.next(group), other.next(beside)) {
            (Some(next), Some(next_beside)) => (group, beside) = (next, next_beside),
            _ => return,
        }
    }
}

fn slide_group(
    text: &mut MarkedLines<'_>,
    other: &MarkedLines<'_>,
    mut group: Group,
    mut beside: Group,
) -> (Group, Group) {
    let (earliest, meets) = loop {
        let size = group.end - group.start;
        while let Some(moved) = text.slide_up(group) {
            group = moved;
            beside = other.previous(beside).unwrap_or(beside);
        }
        let earliest = group.end;
        let mut meets = !beside.is_empty();
        while let Some(moved) = text.slide_down(group) {
            group = moved;
            beside = other.next(beside).unwrap_or(beside);
            meets |= !beside.is_empty();
        }
        if group.end - group.start == size {
            break (earliest, meets);
        }
    };
    if group.end != earliest && meets {
        while beside.is_empty() {
            let (Some(moved), Some(before)) = (text.slide_up(group), other.previous(beside)) else { break };
            (group, beside) = (moved, before);
        }
    }
    (group, beside)
}
