//! Rendering of lists.

use super::{
    Renderer,
    blocks::{self, BlockKind, Blocks},
    prefixed,
};
use crate::{
    dom::{Id, NodeKind},
    text::is_full,
};

struct ListItem {
    /// The item number, or [`BULLET`].
    number: u32,
    /// The end index of the item's blocks within the blocks of the list.
    end: u32,
    tick: Checkbox,
}

/// The value of `number` in bulleted items.
const BULLET: u32 = u32::MAX;

/// The checkbox before an item.
#[derive(Clone, Copy)]
enum Checkbox {
    None,
    Open,
    Done,
}

impl ListItem {
    fn end(&self) -> usize {
        usize::try_from(self.end).unwrap_or(usize::MAX)
    }
}

impl Renderer<'_, '_> {
    pub(super) fn list(&mut self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        let is_ordered = dom.name(id) == "ol";
        let first = dom.attribute(id, "start").and_then(|start| start.trim().parse::<u32>().ok());
        let mut number = first.unwrap_or(1).min(999_999_999);
        self.nested += 1;
        let mut items: Vec<ListItem> =
            Vec::with_capacity(dom.children(id).filter(|child| dom.name(*child) == "li").count());
        let mut blocks = Blocks::default();
        for child in dom.children(id) {
            if blocks.is_full() {
                break;
            }
            if self.content.is_dropped(child) || is_blank(dom.kind(child)) {
                continue;
            }
            let is_item = dom.name(child) == "li";
            match is_item {
                true => self.children(child, &mut blocks),
                // Content between items belongs to the previous item: old pages have nested lists there.
                false => self.block_or_line(child, &mut blocks),
            }
            let end = u32::try_from(blocks.len()).unwrap_or(u32::MAX);
            match items.last_mut().filter(|_| !is_item) {
                Some(before) => before.end = end,
                None if is_item => {
                    let own = if is_ordered { number } else { BULLET };
                    items.push(ListItem { number: own, end, tick: self.tick(child) });
                    number = number.saturating_add(1);
                }
                None => items.push(ListItem { number: BULLET, end, tick: Checkbox::None }),
            }
        }
        self.nested -= 1;
        if blocks.is_empty() {
            return;
        }
        // Two consecutive lists would be merged.
        if out.last() == Some(BlockKind::List) {
            out.push_other("<!-- -->");
        }
        out.push_block(BlockKind::List, |out| write(&items, &blocks, out));
    }

    fn block_or_line(&mut self, id: Id, out: &mut Blocks) {
        let dom = self.content.dom;
        if dom.is_block(id) || dom.has_block(id) {
            self.block(id, out);
        } else {
            self.paragraph(id, out);
        }
    }

    /// Returns the checkbox state of a task list item.
    fn tick(&self, item: Id) -> Checkbox {
        let dom = self.content.dom;
        let below = dom.descendants(item, |id| self.content.is_dropped(id)).take(4);
        let mut boxes = below.filter(|id| dom.attribute(*id, "type") == Some("checkbox"));
        match boxes.next() {
            Some(tick) if dom.attribute(tick, "checked").is_some() => Checkbox::Done,
            Some(_) => Checkbox::Open,
            None => Checkbox::None,
        }
    }
}

fn is_blank(kind: NodeKind<'_>) -> bool {
    matches!(kind, NodeKind::Text(text) if text.trim().is_empty())
}

fn write(items: &[ListItem], blocks: &Blocks, out: &mut String) {
    // Items without blocks are skipped.
    let items = || {
        let starts = std::iter::once(0).chain(items.iter().map(ListItem::end));
        starts.zip(items).filter(|(start, item)| *start < item.end())
    };
    let is_loose = items().any(|(start, item)| !is_tight(blocks.range(start..item.end())));
    let mut inside = String::new();
    for (at, (start, item)) in items().enumerate() {
        if is_full(out) {
            break;
        }
        if at > 0 {
            out.push_str(if is_loose { "\n\n" } else { "\n" });
        }
        inside.clear();
        let own = blocks.range(start..item.end());
        match is_loose {
            true => blocks::join(own, &mut inside),
            false => own.for_each(|(text, _)| {
                inside.push_str(text);
                inside.push('\n');
            }),
        }
        let bullet = if item.number == BULLET { "* ".to_owned() } else { format!("{}. ", item.number) };
        let tick = match item.tick {
            Checkbox::None => "",
            Checkbox::Open => "[ ] ",
            Checkbox::Done => "[x] ",
        };
        // Continuation lines are indented to the text after the bullet. The checkbox is part of that text.
        prefixed(&inside, &format!("{bullet}{tick}"), &" ".repeat(bullet.len()), out);
    }
}

/// Returns `true` if an item is a paragraph followed by lists only.
fn is_tight<'t>(mut blocks: impl Iterator<Item = (&'t str, BlockKind)>) -> bool {
    let first = blocks.next();
    first.is_none_or(|(_, kind)| kind != BlockKind::Other) && blocks.all(|(_, kind)| kind == BlockKind::List)
}
