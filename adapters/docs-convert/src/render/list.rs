//! Lists.

use super::{Block, BlockKind, Renderer, join, prefixed};
use crate::dom::{Id, Kind};

impl Renderer<'_, '_> {
    pub(super) fn list(&mut self, id: Id, out: &mut Vec<Block>) {
        let dom = self.content.dom;
        let is_ordered = dom.name(id) == "ol";
        let first = dom.attribute(id, "start").and_then(|start| start.trim().parse::<u32>().ok());
        let mut number = first.unwrap_or(1).min(999_999_999);
        self.nested += 1;
        let mut items: Vec<(String, Vec<Block>)> = Vec::new();
        for child in dom.children(id).iter().copied() {
            if self.content.dropped.contains(&child) || is_blank(dom.kind(child)) {
                continue;
            }
            let mut blocks = Vec::new();
            if dom.name(child) == "li" {
                self.children(child, &mut blocks);
                let mark = if is_ordered { format!("{number}. ") } else { "* ".to_owned() };
                number = number.saturating_add(1);
                items.push((format!("{mark}{}", self.tick(child)), blocks));
                continue;
            }
            // What is between items belongs to the one before: older pages have their inner lists there.
            self.block_or_line(child, &mut blocks);
            match items.last_mut() {
                Some((_, before)) => before.append(&mut blocks),
                None => items.push(("* ".to_owned(), blocks)),
            }
        }
        self.nested -= 1;
        items.retain(|(_, blocks)| blocks.iter().any(|block| !block.text.is_empty()));
        if items.is_empty() {
            return;
        }
        let is_loose = items.iter().any(|(_, blocks)| !is_tight(blocks));
        let mut text = String::new();
        for (mark, blocks) in &items {
            if !text.is_empty() {
                text.push_str(if is_loose { "\n\n" } else { "\n" });
            }
            let inside = if is_loose { join(blocks) } else { close(blocks) };
            // What follows the first line stands below its text, and a box to tick is part of that.
            let bullet = mark.find(' ').map_or(2, |at| at + 1);
            text.push_str(&prefixed(&inside, mark, &" ".repeat(bullet)));
        }
        // Two lists in a row would be one.
        if out.last().is_some_and(|before| before.kind == BlockKind::List) {
            out.push(Block::other("<!-- -->".to_owned()));
        }
        out.push(Block { text, kind: BlockKind::List });
    }

    fn block_or_line(&mut self, id: Id, out: &mut Vec<Block>) {
        let dom = self.content.dom;
        if dom.is_block(id) || dom.has_block(id) {
            self.block(id, out);
        } else {
            self.paragraph(&[id], out);
        }
    }

    /// The box in front of an item that is something to do.
    fn tick(&self, item: Id) -> &'static str {
        let dom = self.content.dom;
        let below = dom.below(item, |id| self.content.dropped.contains(&id)).take(4);
        let mut boxes = below.filter(|id| dom.attribute(*id, "type") == Some("checkbox"));
        match boxes.next() {
            Some(tick) if dom.attribute(tick, "checked").is_some() => "[x] ",
            Some(_) => "[ ] ",
            None => "",
        }
    }
}

fn is_blank(kind: &Kind) -> bool {
    matches!(kind, Kind::Text(text) if text.trim().is_empty())
}

/// Tells whether an item is a paragraph, and lists below it.
fn is_tight(blocks: &[Block]) -> bool {
    let mut blocks = blocks.iter().filter(|block| !block.text.is_empty());
    let first = blocks.next();
    first.is_none_or(|block| block.kind != BlockKind::Other)
        && blocks.all(|block| block.kind == BlockKind::List)
}

/// Blocks right below each other.
fn close(blocks: &[Block]) -> String {
    let texts = blocks.iter().map(|block| block.text.as_str()).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join("\n")
}
