//! Page templates: markup that is rendered once per space, with slots for the parts that differ between pages.

use maud::{Markup, PreEscaped, Render};

use crate::html::{Html, NamedMarkup};

/// A part that differs between pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The title in the head.
    Title,
    /// The metadata for browsers and search engines.
    MetadataTags,
    /// The Open Graph title.
    Name,
    /// The other Open Graph metadata.
    OpenGraph,
    /// The JSON-LD data.
    LinkedData,
    /// The variants of the space.
    Variants,
    /// The class of the page.
    Class,
    /// The page tree.
    Tree,
    /// The content.
    Main,
    /// The outline.
    Aside,
}

/// The slots with their markers. Escaped text contains no `<`, so no other markup begins like a marker.
const MARKS: [(Slot, &str); 10] = [
    (Slot::Title, "<?0>"),
    (Slot::MetadataTags, "<?1>"),
    (Slot::Name, "<?2>"),
    (Slot::OpenGraph, "<?3>"),
    (Slot::LinkedData, "<?4>"),
    (Slot::Variants, "<?5>"),
    (Slot::Class, "<?6>"),
    (Slot::Tree, "<?7>"),
    (Slot::Main, "<?8>"),
    (Slot::Aside, "<?9>"),
];

impl Render for Slot {
    fn render_to(&self, buffer: &mut String) {
        MARKS.iter().filter(|(slot, _)| slot == self).for_each(|(_, mark)| buffer.push_str(mark));
    }
}

#[derive(Debug)]
pub(crate) struct PageTemplate {
    /// Segments of markup, each with the slot that follows it.
    pieces: Vec<(NamedMarkup, Slot)>,
    end: NamedMarkup,
}

impl PageTemplate {
    /// Splits markup at its slots.
    pub(super) fn from_markup(markup: Markup) -> Self {
        let (mut pieces, mut rest) = (Vec::new(), markup.0.as_str());
        while let Some((at, (slot, mark))) = rest.find("<?").and_then(|at| {
            let found =
                MARKS.iter().find(|(_, mark)| rest.get(at..).is_some_and(|rest| rest.starts_with(mark)));
            Some((at, found?))
        }) {
            let (piece, behind) = rest.split_at(at);
            pieces.push((NamedMarkup::new(PreEscaped(piece.to_owned())), *slot));
            rest = behind.strip_prefix(mark).unwrap_or_default();
        }
        Self { pieces, end: NamedMarkup::new(PreEscaped(rest.to_owned())) }
    }

    /// Writes a page, calling `fill` for each slot in order.
    pub(super) fn fill(&self, html: &mut Html, mut fill: impl FnMut(&mut Html, Slot)) {
        for (piece, slot) in &self.pieces {
            html.write_named(piece);
            fill(html, *slot);
        }
        html.write_named(&self.end);
    }

    /// Returns the size in bytes.
    pub(super) fn weight(&self) -> usize {
        let pieces = self.pieces.iter().map(|(piece, _)| piece.as_str().len() + 128);
        self.end.as_str().len() + pieces.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn slots_are_filled_in_order_and_slot_like_text_is_escaped() {
        let template = PageTemplate::from_markup(html! {
            h1 class=(Slot::Class) title="<?1>" { "<?8>" (Slot::Main) }
            p { (Slot::Title) }
        });
        let mut seen = Vec::new();
        let html = Html::build_markup(|html| {
            template.fill(html, |html, slot| {
                seen.push(slot);
                html.text(&format!("{slot:?}"));
            });
        });
        assert_eq!(seen, [Slot::Class, Slot::Main, Slot::Title]);
        assert_eq!(html.0, "<h1 class=\"Class\" title=\"&lt;?1&gt;\">&lt;?8&gt;Main</h1><p>Title</p>");
    }
}
