//! A scanner for tags like `{% include "a.md" %}`.

use std::ops::Range;

/// A tag.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Tag<'a> {
    /// Its first word.
    pub(super) name: &'a str,
    /// Its values in quotes: the name of the attribute, empty where there is none, and where the value is.
    pub(super) values: Vec<(&'a str, Range<usize>)>,
}

/// Longest tag that is read.
const MAX_TAG: usize = 4 * 1024;

/// All tags that begin outside of the ranges to skip, which are ordered and do not overlap.
pub(super) fn tags<'a>(text: &'a str, skip: &[Range<usize>]) -> Vec<Tag<'a>> {
    let mut found = Vec::new();
    let mut skip = skip.iter().peekable();
    let mut at = 0;
    while let Some(start) = text[at..].find("{%").map(|offset| at + offset) {
        at = start + 2;
        while skip.next_if(|range| range.end <= start).is_some() {}
        if let Some(range) = skip.peek().filter(|range| range.start <= start) {
            at = at.max(range.end);
            continue;
        }
        if text[..start].ends_with('\\') {
            continue;
        }
        if let Some(end) = end_of(text, at) {
            found.push(read(text, at..end));
            at = end + 2;
        }
    }
    found
}

/// Where the `%}` of a tag is: outside of quotes, before an empty line.
fn end_of(text: &str, from: usize) -> Option<usize> {
    let mut is_quoted = false;
    let mut before = ' ';
    for (offset, c) in text[from..].char_indices().take_while(|(offset, _)| *offset < MAX_TAG) {
        match c {
            '"' => is_quoted = !is_quoted,
            '}' if before == '%' && !is_quoted && offset > 0 => return Some(from + offset - 1),
            '\n' if before == '\n' => return None,
            _ => {}
        }
        before = c;
    }
    None
}

fn read(text: &str, inside: Range<usize>) -> Tag<'_> {
    let body = &text[inside.clone()];
    let name = body.split_whitespace().next().unwrap_or_default();
    let mut values = Vec::new();
    let mut at = 0;
    while let Some(open) = body[at..].find('"').map(|offset| at + offset + 1) {
        let Some(length) = body[open..].find('"') else { break };
        let before = &body[at..open - 1];
        let key = before
            .strip_suffix('=')
            .map_or("", |before| before.rsplit(char::is_whitespace).next().unwrap_or(before));
        values.push((key, inside.start + open..inside.start + open + length));
        at = open + length + 1;
    }
    Tag { name, values }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> Vec<(String, Vec<(String, String)>)> {
        tags(text, &[])
            .into_iter()
            .map(|tag| {
                let values =
                    tag.values.into_iter().map(|(key, at)| (key.to_owned(), text[at].to_owned())).collect();
                (tag.name.to_owned(), values)
            })
            .collect()
    }

    fn values(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn tags_are_found() {
        assert_eq!(
            parse("{% include \"a b.md\" %} x {%file src=\"b.pdf\" title=\"50 %} off\"%}\n{% endfile %}"),
            [
                ("include".to_owned(), values(&[("", "a b.md")])),
                ("file".to_owned(), values(&[("src", "b.pdf"), ("title", "50 %} off")])),
                ("endfile".to_owned(), values(&[])),
            ]
        );
        assert_eq!(parse("{% embed\n url=\"x\"\n%}"), [("embed".to_owned(), values(&[("url", "x")]))]);
    }

    #[test]
    fn what_is_no_tag_is_passed_over() {
        for text in
            ["\\{% include \"a\" %}", "{% include \"a\" ", "{% include\n\n \"a\" %}", "{%", "%}", "{%}"]
        {
            assert_eq!(parse(text), [], "{text}");
        }
        assert_eq!(tags("`{% a \"x\" %}` {% b %} `{% c %}`", &[0..13, 22..31]).len(), 1);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(\\{%|%\\}|\"|=| |\\n|include|src|ä|\\PC){0,80}") {
            for tag in tags(&text, &[]) {
                for (_, value) in tag.values {
                    prop_assert!(text.get(value).is_some());
                }
            }
        }
    }
}
