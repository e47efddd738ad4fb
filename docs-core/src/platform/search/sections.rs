//! A page's Markdown as sections of plain text.

use std::collections::HashMap;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::{content::slugify, ports::search::Section};

/// The sections of a Markdown text: what stands before the first heading, then each heading with what is below it.
pub(super) fn sections_of(markdown: &str) -> Vec<Section> {
    let mut out = Sections::default();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in Parser::new_ext(markdown, options) {
        match event {
            Event::Start(Tag::Heading { .. }) => out.begin(),
            Event::End(TagEnd::Heading(_)) => out.name(),
            Event::Text(text) | Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                out.text(&text);
            }
            Event::Html(html) | Event::InlineHtml(html) => out.html(&html),
            Event::SoftBreak | Event::HardBreak | Event::End(_) | Event::Start(Tag::Image { .. }) => {
                out.end_of_word(&event);
            }
            _ => {}
        }
    }
    out.done()
}

#[derive(Default)]
struct Sections {
    done: Vec<Section>,
    current: Section,
    /// The heading in the making.
    heading: Option<String>,
    /// How often each anchor was made from a heading.
    anchors: HashMap<String, usize>,
}

impl Sections {
    fn begin(&mut self) {
        let before = std::mem::take(&mut self.current);
        self.keep(before);
        self.heading = Some(String::new());
    }

    fn keep(&mut self, section: Section) {
        let text = section.text.trim().to_owned();
        if section.heading.is_some() || !text.is_empty() {
            self.done.push(Section { text, ..section });
        }
    }

    fn name(&mut self) {
        let heading = self.heading.take().unwrap_or_default().trim().to_owned();
        let anchor = self.current.anchor.take().or_else(|| self.anchor(&heading));
        self.current = Section { anchor, heading: Some(heading), text: String::new() };
    }

    /// The anchor of a heading that names none itself.
    fn anchor(&mut self, heading: &str) -> Option<String> {
        let slug = slugify(heading);
        if slug.is_empty() {
            return None;
        }
        let times = self.anchors.entry(slug.clone()).or_default();
        *times += 1;
        Some(if *times == 1 { slug } else { format!("{slug}-{}", *times - 1) })
    }

    fn text(&mut self, text: &str) {
        // Blocks and expressions of templates are no text.
        let mut rest = text;
        while let Some((before, tag)) = rest.split_once("{%") {
            self.push(before);
            match tag.split_once("%}") {
                Some((_, after)) => rest = after,
                None => return,
            }
        }
        self.push(rest);
    }

    fn push(&mut self, text: &str) {
        self.heading.as_mut().unwrap_or(&mut self.current.text).push_str(text);
    }

    /// Keeps the text between tags, and the id of a heading.
    fn html(&mut self, html: &str) {
        let mut rest = html;
        while let Some((before, tag)) = rest.split_once('<') {
            self.text(before);
            let Some((tag, after)) = tag.split_once('>') else { return };
            if self.heading.is_some()
                && let Some(id) = tag.split_once("id=\"").and_then(|(_, id)| id.split('"').next())
                && !id.is_empty()
            {
                self.current.anchor = Some(id.to_owned());
            }
            self.push(" ");
            rest = after;
        }
        self.text(rest);
    }

    fn end_of_word(&mut self, event: &Event<'_>) {
        let is_inside = matches!(
            event,
            Event::End(TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough | TagEnd::Link)
        );
        if !is_inside {
            self.push(if self.heading.is_some() { " " } else { "\n" });
        }
    }

    fn done(mut self) -> Vec<Section> {
        if self.heading.is_some() {
            self.name();
        }
        let last = std::mem::take(&mut self.current);
        self.keep(last);
        self.done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(markdown: &str) -> Vec<(Option<String>, Option<String>, String)> {
        let flat = |section: Section| {
            let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
            (section.anchor, section.heading, text)
        };
        sections_of(markdown).into_iter().map(flat).collect()
    }

    #[test]
    fn a_text_is_cut_at_its_headings() {
        let markdown = "Intro *with* `code`.\n\n## Set up\n\n1. one\n2. two\n\n## Set up\n\n| a | b |\n|---|---|\n| c | d |\n\n### Own <a href=\"#x\" id=\"own-id\"></a>\n\n```sh\nrun it\n```\n";
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(
            shown(markdown),
            [
                (None, None, "Intro with code.".to_owned()),
                (some("set-up"), some("Set up"), "one two".to_owned()),
                (some("set-up-1"), some("Set up"), "a b c d".to_owned()),
                (some("own-id"), some("Own"), "run it".to_owned()),
            ]
        );
    }

    #[test]
    fn marks_of_blocks_and_tags_are_no_text() {
        let markdown = "{% hint style=\"info\" %}\nRead **this**.\n{% endhint %}\n\n<details>\n\n<summary>More</summary>\n\nHidden text.\n\n</details>\n";
        assert_eq!(shown(markdown), [(None, None, "Read this. More Hidden text.".to_owned())]);
        assert!(sections_of("").is_empty());
        assert_eq!(shown("a < b and {% open").len(), 1);
    }
}
