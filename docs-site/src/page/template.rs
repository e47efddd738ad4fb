//! What is written once for all pages of a space, with slots for what differs from page to page.

use maud::{Markup, PreEscaped, Render};

use crate::html::{Html, Named};

/// What differs from page to page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    /// The title in the head.
    Title,
    /// What browsers and search engines are told of the page.
    Told,
    /// Its title for other sites.
    Name,
    /// What else other sites are told.
    Shared,
    /// What is told in JSON-LD.
    Data,
    /// The spaces to choose from.
    Variants,
    /// The class of the page.
    Class,
    /// The tree of pages.
    Tree,
    /// The content.
    Main,
    /// What stands beside the content.
    Aside,
}

/// The slots with their marks in markup: nothing else begins so, as what is text in a page has no `<`.
const MARKS: [(Slot, &str); 10] = [
    (Slot::Title, "<?0>"),
    (Slot::Told, "<?1>"),
    (Slot::Name, "<?2>"),
    (Slot::Shared, "<?3>"),
    (Slot::Data, "<?4>"),
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

/// A page with slots.
#[derive(Debug)]
pub(crate) struct Template {
    /// Pieces, with the slot behind each.
    pieces: Vec<(Named, Slot)>,
    end: Named,
}

impl Template {
    /// The template that markup with slots makes.
    pub(super) fn of(markup: Markup) -> Self {
        let (mut pieces, mut rest) = (Vec::new(), markup.0.as_str());
        while let Some((at, (slot, mark))) = rest.find("<?").and_then(|at| {
            let found =
                MARKS.iter().find(|(_, mark)| rest.get(at..).is_some_and(|rest| rest.starts_with(mark)));
            Some((at, found?))
        }) {
            let (piece, behind) = rest.split_at(at);
            pieces.push((Named::new(PreEscaped(piece.to_owned())), *slot));
            rest = behind.strip_prefix(mark).unwrap_or_default();
        }
        Self { pieces, end: Named::new(PreEscaped(rest.to_owned())) }
    }

    /// Writes a page, whose slots are filled one after the other.
    pub(super) fn fill(&self, html: &mut Html, mut fill: impl FnMut(&mut Html, Slot)) {
        for (piece, slot) in &self.pieces {
            html.named(piece);
            fill(html, *slot);
        }
        html.named(&self.end);
    }

    /// How many bytes it takes.
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
    fn slots_are_filled_in_their_order_and_text_is_no_slot() {
        let template = Template::of(html! {
            h1 class=(Slot::Class) title="<?1>" { "<?8>" (Slot::Main) }
            p { (Slot::Title) }
        });
        let mut seen = Vec::new();
        let html = Html::markup_of(|html| {
            template.fill(html, |html, slot| {
                seen.push(slot);
                html.text(&format!("{slot:?}"));
            });
        });
        assert_eq!(seen, [Slot::Class, Slot::Main, Slot::Title]);
        assert_eq!(html.0, "<h1 class=\"Class\" title=\"&lt;?1&gt;\">&lt;?8&gt;Main</h1><p>Title</p>");
    }
}
