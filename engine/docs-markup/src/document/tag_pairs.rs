//! Pairing of opening and closing tags.

use std::collections::HashMap;

use super::{
    html::{self, DETAILS},
    lines::{self, Line, SPACE},
    marks::{CODE_INDENT, heading, html_end, is_closing, is_divider, item},
};
use crate::syntax::{html::TagKind, tag};

/// Returns the pairs of tags at one level: the line of each opening tag mapped to the line of its closing tag. Code,
/// open HTML, and the content of lists and quotations are skipped.
pub(super) fn matches(lines: &[Line<'_>]) -> HashMap<usize, usize> {
    let mut level = LevelScan::default();
    for (index, line) in lines.iter().enumerate() {
        level.line(line, lines.get(index + 1));
    }
    level.finder.found
}

/// The state of the scan over the lines of one level.
#[derive(Default)]
struct LevelScan<'s> {
    finder: Finder<'s>,
    fence: Option<(char, usize)>,
    /// The end marker of the open HTML.
    html: Option<&'static str>,
    /// The column at which the lines of the list item start.
    item: Option<usize>,
    /// `true` if the previous line was blank.
    after_blank: bool,
}

impl<'s> LevelScan<'s> {
    fn line(&mut self, line: &'s Line<'_>, next: Option<&'s Line<'_>>) {
        let text = &*line.text;
        if let Some((mark, length)) = self.fence {
            if lines::closes_fence(text, mark, length) {
                self.fence = None;
            }
            return;
        }
        if let Some(end) = self.html {
            if text.to_ascii_lowercase().contains(end) {
                self.html = None;
            }
            return;
        }
        let after_blank = std::mem::replace(&mut self.after_blank, line.is_blank());
        let indent = line.indent();
        if line.is_blank() || self.item.is_some_and(|width| indent >= width) {
            return;
        }
        if indent >= CODE_INDENT {
            if after_blank {
                self.item = None;
            }
            return;
        }
        self.start(line, next, after_blank);
    }

    /// Processes a line outside of any block.
    fn start(&mut self, line: &'s Line<'_>, next: Option<&'s Line<'_>>, after_blank: bool) {
        let text = line.text.trim_start_matches(SPACE);
        if let Some(item) = item(&line.text).filter(|_| !is_divider(text)) {
            self.item = Some(item.width);
            return;
        }
        let is_block = text.starts_with(['>', '<', '|'])
            || text.starts_with("{%")
            || heading(text).is_some()
            || is_divider(text);
        self.fence = lines::fence(text).map(|(mark, length, _)| (mark, length));
        if after_blank || is_block || self.fence.is_some() {
            self.item = None;
        }
        if self.fence.is_some() || text.starts_with('>') {
            return;
        }
        if text.starts_with('<') {
            self.html = html_end(text).filter(|end| !text.to_ascii_lowercase().contains(end));
        }
        self.finder.line(line.at, text, next.map_or("", |next| &*next.text));
    }
}

#[derive(Default)]
struct Finder<'s> {
    found: HashMap<usize, usize>,
    open: Vec<(usize, &'s str)>,
    /// The positions of the open tags by name. Positions of closed tags are skipped.
    places: HashMap<&'s str, Vec<(usize, usize)>>,
}

impl<'s> Finder<'s> {
    fn line(&mut self, at: usize, text: &'s str, next: &'s str) {
        if let Some(inside) = text.strip_prefix("{%") {
            // The name of a tag may be on its second line.
            let name = Some(tag::name_of(inside)).filter(|name| !name.is_empty());
            match name.unwrap_or_else(|| tag::name_of(next)) {
                "" => {}
                name => match name.strip_prefix("end") {
                    Some(name) if !name.is_empty() && is_closing(text) => self.close(at, name),
                    Some(name) if !name.is_empty() => {}
                    _ => self.open(at, name),
                },
            }
            return;
        }
        if html::begins(text, TagKind::Opening, DETAILS) && html::closing(text, 1, DETAILS).is_none() {
            self.open(at, "<details");
        } else if html::begins(text, TagKind::Closing, DETAILS) || html::ends_with_closing(text, DETAILS) {
            self.close(at, "<details");
        }
    }

    fn open(&mut self, at: usize, name: &'s str) {
        self.places.entry(name).or_default().push((self.open.len(), at));
        self.open.push((at, name));
    }

    fn close(&mut self, at: usize, name: &str) {
        let Some(places) = self.places.get_mut(name) else { return };
        while let Some((place, line)) = places.pop() {
            if self.open.get(place).is_some_and(|open| *open == (line, name)) {
                self.open.truncate(place);
                self.found.insert(line, at);
                return;
            }
        }
    }
}
