//! Tests of the recognition of tags and their ends.

use proptest::prelude::*;

use super::*;

/// The name of a tag, and the names and values of its attributes.
type Read = (String, Vec<(String, Option<String>)>);

/// Returns the opening tags of `html`.
fn opened(html: &str) -> Vec<Read> {
    let mut out = Vec::new();
    for token in tokens(html, 0..html.len()) {
        let HtmlToken::Tag(tag) = token else { continue };
        if tag.kind == TagKind::Opening {
            let own = |it: &Attribute<'_>| (it.name.to_owned(), tag.value(it).map(Cow::into_owned));
            out.push((tag.name.to_owned(), tag.attributes.iter().map(own).collect()));
        }
    }
    out
}

fn tag(name: &str, attributes: &[(&str, Option<&str>)]) -> Read {
    let own = |(name, value): &(&str, Option<&str>)| ((*name).to_owned(), value.map(str::to_owned));
    (name.to_owned(), attributes.iter().map(own).collect())
}

#[test]
fn attributes_are_parsed_in_every_syntax() {
    for (html, name, value) in [
        ("<img src=\"a b.png\">", "src", Some("a b.png")),
        ("<img src='x > \"y'>", "src", Some("x > \"y")),
        ("<img src=a.png>", "src", Some("a.png")),
        ("<img src=a/b.png/>", "src", Some("a/b.png/")),
        ("<img\nsrc = \t'a.png' />", "src", Some("a.png")),
        ("<IMG SRC=\"a&amp;b\">", "SRC", Some("a&b")),
        ("<img src=\"\">", "src", Some("")),
        ("<img src=>", "src", Some("")),
        ("<img src>", "src", None),
        ("<img/src=a>", "src", Some("a")),
        ("<o:p src=a>", "src", Some("a")),
    ] {
        let found = opened(html);
        let [(_, attributes)] = found.as_slice() else { panic!("{html}: {found:?}") };
        assert_eq!(attributes.as_slice(), [(name.to_owned(), value.map(str::to_owned))], "{html}");
    }
    assert_eq!(
        opened("<figure><img alt='x' hidden src=y><a href=c.md>t</a></figure>"),
        [
            tag("figure", &[]),
            tag("img", &[("alt", Some("x")), ("hidden", None), ("src", Some("y"))]),
            tag("a", &[("href", Some("c.md"))])
        ]
    );
    let twice = tag_at("<a href=x HREF=y>", 0).unwrap();
    assert_eq!(twice.attribute("Href").and_then(|href| twice.value(href)).as_deref(), Some("x"));
}

#[test]
fn invalid_tags_are_text() {
    for html in [
        "a < b src=\"c\" >",
        "<1 src=\"x\">",
        "<img src=\"a.png",
        "<img src=\"a.png\"",
        "<a href",
        "<a <",
        "<",
        "</",
        "</ a>",
        "<\u{e4}>",
    ] {
        let all: Vec<_> = tokens(html, 0..html.len()).collect();
        assert_eq!(all, [HtmlToken::Text(0..html.len())], "{html}");
    }
    assert_eq!(opened("<a <b>"), [tag("b", &[])]);
    let long = format!("<img src=\"{}\"><a href=b>", "x".repeat(MAX_TAG));
    assert_eq!(opened(&long), [tag("a", &[("href", Some("b"))])]);
}

#[test]
fn comments_and_raw_text_elements_contain_no_tags() {
    for html in [
        "<!-- <img src=\"a.png\"> -->",
        "<!-- never closed <img src=\"a.png\">",
        "<?php echo \"<img src='a'>\" ?>",
        "<![CDATA[ <img src='a'> ]]>",
        "<!DOCTYPE html>",
    ] {
        assert_eq!(
            tokens(html, 0..html.len()).collect::<Vec<_>>(),
            [HtmlToken::Comment(0..html.len())],
            "{html}"
        );
    }
    assert_eq!(opened("<!--><b>--><!---><i>").len(), 2);
    assert_eq!(opened("<script>'<img src=a>' </scripts> </Script ><b>"), [tag("script", &[]), tag("b", &[])]);
    assert_eq!(opened("<title><b></title><style/><i></style><u>").len(), 3);
    assert_eq!(opened("<textarea><b>"), [tag("textarea", &[])]);
}

#[test]
fn is_strict_marks_tags_that_are_valid_in_markdown() {
    for html in ["<a>", "</a >", "<a\n b = 'c' d=e f/>", "<a-b _x:y.z-1=\"\">", "<br />"] {
        assert!(tag_at(html, 0).unwrap().is_strict, "{html}");
    }
    for html in [
        "<a/b>",
        "<a b='c'd>",
        "<a b=c=d>",
        "<a b=\"c\"/ >",
        "<a b=>",
        "<a \"b\">",
        "</a b>",
        "<o:p>",
        "<a 1>",
    ] {
        assert!(!tag_at(html, 0).unwrap().is_strict, "{html}");
    }
}

#[test]
fn unclosed_constructs_take_bounded_work() {
    for part in
        ["<a ", "<a b=\"", "<a b='\"", "<!-", "<!a", "<?", "<!--", "</script", "<script>", "<a b='<a c=\""]
    {
        let html = part.repeat(1_000_000 / part.len());
        assert!(tokens(&html, 0..html.len()).count() < 1_000_000, "{part}");
    }
}

proptest! {
    #[test]
    fn tokens_cover_the_whole_text(
        html in "(<|>|=|\"|'|/|!--|-->|<!|<\\?|\\?>|img|src|script|</b>|<b>| |\\n|&amp;|ä|\\PC){0,60}"
    ) {
        let mut at = 0;
        for token in tokens(&html, 0..html.len()) {
            let range = match &token {
                HtmlToken::Text(range) | HtmlToken::Comment(range) => range.clone(),
                HtmlToken::Tag(tag) => tag.range.clone(),
            };
            prop_assert!(range.start == at && range.end > at && html.get(range.clone()).is_some());
            at = range.end;
            if let HtmlToken::Tag(tag) = token {
                prop_assert!(tag.source().starts_with('<') && tag.source().ends_with('>'));
                for attribute in &tag.attributes {
                    let is_inside = attribute.value.as_ref().is_none_or(|value| html.get(value.clone()).is_some());
                    prop_assert!(is_inside);
                }
            }
        }
        prop_assert_eq!(at, html.len());
    }

    #[test]
    fn strict_tags_match_pulldown_cmark(
        html in "<(/|)(a|b1|x-y|1|é| )(( |\n|/|)(a|_b:c|1|\"|=)(=| = |= |)(\"v\"|'w'|v|\"|<|`|)){0,3}( |)(/|)(>|)"
    ) {
        let text = format!("x {html} y");
        let is_html = |event: &pulldown_cmark::Event<'_>| {
            matches!(event, pulldown_cmark::Event::InlineHtml(found) if **found == *html)
        };
        let is_markdown = pulldown_cmark::Parser::new(&text).any(|event| is_html(&event));
        let is_strict = tag_at(&text, 2).is_some_and(|tag| tag.is_strict && tag.source() == html);
        prop_assert_eq!(is_strict, is_markdown, "{}", text);
    }

    #[test]
    fn srcset_candidates_are_ranges_of_the_set(set in "(,| |a|\\.png|1x|ä|\n|\\PC){0,30}") {
        for range in candidates(&set) {
            prop_assert!(set.get(range).is_some_and(|url| !url.is_empty() && !url.contains([' ', '\n'])));
        }
    }
}

#[test]
fn strict_parsing_rejects_tags_invalid_in_markdown() {
    for text in ["<a/b=<a/b=<a/b=>", "<a b=<c>", "<a b=\"1\"c>", "<a b==>", "<a b=c'd>"] {
        assert!(tag_at(text, 0).is_none_or(|tag| !tag.is_strict), "{text}");
        assert_eq!(strict_tag_at(text, 0), None, "{text}");
    }
    assert!(strict_tag_at("<a b=c d='e' />", 0).is_some());
}

proptest! {
    #[test]
    fn strict_parsing_finds_exactly_the_strict_tags(text in "<(a|/a|b-c)[ a-c=\"'`<>/\n]{0,30}") {
        let lenient = tag_at(&text, 0).filter(|tag| tag.is_strict);
        prop_assert_eq!(strict_tag_at(&text, 0), lenient);
    }
}
