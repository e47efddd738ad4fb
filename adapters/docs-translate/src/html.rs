//! Conversion between segments and HTML.

use docs_ports::{FoundTerm, PLACEHOLDER_CLOSE, PLACEHOLDER_OPEN, TermRule, Terms};

/// A glossary with its term matcher.
pub(crate) struct Glossary<'a> {
    rules: &'a [TermRule],
    terms: Terms,
}

impl<'a> Glossary<'a> {
    pub(crate) fn new(rules: &'a [TermRule]) -> Self {
        Self { rules, terms: Terms::new(rules) }
    }
}

/// A segment converted to HTML.
pub(crate) struct HtmlSegment {
    pub(crate) html: String,
    /// Translations of the terms, which are represented by the elements `t0`, `t1` ….
    terms: Vec<String>,
    /// Placeholders that enclose text.
    pairs: Vec<String>,
}

/// Converts a segment to HTML, with elements for placeholders and terms.
pub(crate) fn write(segment: &str, glossary: &Glossary<'_>) -> HtmlSegment {
    let mut written = HtmlSegment { html: String::new(), terms: Vec::new(), pairs: Vec::new() };
    let mut rest = segment;
    while let Some(at) = rest.find(PLACEHOLDER_OPEN) {
        let (text, after) = rest.split_at(at);
        written.text(text, glossary);
        let inner = &after[PLACEHOLDER_OPEN.len_utf8()..];
        let Some(end) = inner.find(PLACEHOLDER_CLOSE) else {
            rest = after;
            break;
        };
        let number = &inner[..end];
        match number.strip_prefix('/') {
            Some(_) => written.html.push_str("</span>"),
            None if segment.contains(&format!("{PLACEHOLDER_OPEN}/{number}{PLACEHOLDER_CLOSE}")) => {
                written.html.push_str(&format!("<span id=\"p{number}\">"));
                written.pairs.push(number.to_owned());
            }
            None => written.html.push_str(&format!("<span id=\"p{number}\" translate=\"no\"></span>")),
        }
        rest = &inner[end + PLACEHOLDER_CLOSE.len_utf8()..];
    }
    written.text(rest, glossary);
    written
}

impl HtmlSegment {
    fn text(&mut self, text: &str, glossary: &Glossary<'_>) {
        let mut done = 0;
        for FoundTerm { range, rule } in glossary.terms.find_all(text) {
            self.push_escaped(&text[done..range.start]);
            self.html.push_str(&format!("<span id=\"t{}\" translate=\"no\"></span>", self.terms.len()));
            self.terms.push(glossary.rules[rule].translation.clone());
            done = range.end;
        }
        self.push_escaped(&text[done..]);
    }

    fn push_escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.html.push_str("&amp;"),
                '<' => self.html.push_str("&lt;"),
                '>' => self.html.push_str("&gt;"),
                other => self.html.push(other),
            }
        }
    }

    /// Returns the segment text for the start tag and for the end tag of an element.
    fn element(&self, id: &str) -> (String, String) {
        let marker = |text: String| format!("{PLACEHOLDER_OPEN}{text}{PLACEHOLDER_CLOSE}");
        if let Some(number) = id.strip_prefix('p') {
            let end = self.pairs.iter().any(|pair| pair == number).then(|| marker(format!("/{number}")));
            return (marker(number.to_owned()), end.unwrap_or_default());
        }
        let term = id.strip_prefix('t').and_then(|number| self.terms.get(number.parse::<usize>().ok()?));
        (term.cloned().unwrap_or_default(), String::new())
    }
}

/// Converts translated HTML back to a segment. Unknown markup is kept as text.
pub(crate) fn read(html: &str, written: &HtmlSegment) -> String {
    let mut out = String::new();
    let mut open: Vec<String> = Vec::new();
    let mut rest = html;
    // No tag can end after the last `>`, so the rest need not be scanned.
    let last_end = html.rfind('>').unwrap_or_default();
    while let Some(c) = rest.chars().next() {
        let may_be_tag = c == '<' && html.len() - rest.len() < last_end;
        let tag = may_be_tag.then(|| rest.find('>')).flatten().map(|end| &rest[..=end]);
        if let Some(tag) = tag {
            rest = &rest[tag.len()..];
            if tag.starts_with("</") {
                out.push_str(&open.pop().unwrap_or_default());
            } else if let Some((_, id)) = tag.split_once("id=\"").or_else(|| tag.split_once("id='")) {
                let id: String = id.chars().take_while(char::is_ascii_alphanumeric).collect();
                let (start, end) = written.element(&id);
                out.push_str(&start);
                match tag.ends_with("/>") {
                    true => out.push_str(&end),
                    false => open.push(end),
                }
            }
            continue;
        }
        let entity = ENTITIES.iter().find(|(name, _)| rest.starts_with(name));
        let (text, length) = entity.map_or((c, c.len_utf8()), |(name, text)| (*text, name.len()));
        out.push(text);
        rest = &rest[length..];
    }
    out
}

/// Character references that services return.
const ENTITIES: [(&str, char); 7] = [
    ("&amp;", '&'),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&quot;", '"'),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&nbsp;", '\u{a0}'),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(term: &str, translation: &str) -> TermRule {
        TermRule {
            term: term.into(),
            translation: translation.into(),
            case_sensitive: false,
            note: String::new(),
        }
    }

    #[test]
    fn segment_is_parsed_from_its_html_with_translated_terms() {
        let rules = [rule("space", "espace"), rule("change request", "demande")];
        for (segment, read_back) in [
            ("a < b & c > d", "a < b & c > d"),
            ("see ⟦1⟧ and ⟦2⟧the ⟦3⟧big⟦/3⟧ guide⟦/2⟧", "see ⟦1⟧ and ⟦2⟧the ⟦3⟧big⟦/3⟧ guide⟦/2⟧"),
            ("a Space, a ⟦1⟧change request⟦/1⟧", "a espace, a ⟦1⟧demande⟦/1⟧"),
            ("spaces", "spaces"),
            ("", ""),
        ] {
            let written = write(segment, &Glossary::new(&rules));
            assert_eq!(read(&written.html, &written), read_back, "{}", written.html);
        }
    }
}
