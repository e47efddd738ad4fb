//! Tests of titles.

use super::*;

#[test]
fn comments_and_definitions_may_precede_the_title() {
    for (text, body) in [
        ("<!--\nA licence.\n\nMore.\n-->\n\n# Title\n\nText", "<!--\nA licence.\n\nMore.\n-->\n\nText"),
        ("<!-- a --> <!-- b -->\n\n  <!-->\n# Title\nText", "<!-- a --> <!-- b -->\n\n  <!-->\n\nText"),
        ("[x]: y.md\n\n[z]: w\n# Title\n\"Text\"", "[x]: y.md\n\n[z]: w\n\n\"Text\""),
        ("[x]:\n  <y>\n  'a title'\n<!-- a -->\n\nTitle\n===\n", "[x]:\n  <y>\n  'a title'\n<!-- a -->\n\n"),
        ("---\nx: 1\n---\r\n<!-- a -->\r\n\r\n# Title\r\n", "<!-- a -->\r\n\r\n"),
    ] {
        let page = parse_page(text);
        assert_eq!(page.heading.map(|heading| heading.title).as_deref(), Some("Title"), "{text}");
        assert_eq!(page.body, body);
    }
    for text in [
        "<!-- a --> text\n\n# Title\n",
        "<!-- a\n\n# Title\n",
        "    <!-- a -->\n\n# Title\n",
        "[^x]: note\n\n# Title\n",
        "[x]: y z\n\n# Title\n",
        "[x](y)\n# Title\n",
        "<p></p>\n\n# Title\n",
        "<!-- a -->\n\n## Second\n",
    ] {
        let page = parse_page(text);
        assert_eq!((&*page.body, page.heading), (text, None));
    }
}

#[test]
fn names_of_emoji_in_titles_are_emoji() {
    for (line, title, emoji) in [
        ("# :rocket: Go\n", "Go", Some("🚀")),
        ("# Go :white_check_mark:\n", "Go ✅", None),
        ("# x *:tada:* a:+1:b\n", "x 🎉 a👍b", None),
        ("# [:book: Guide](x.md)\n", "Guide", Some("📖")),
        ("# `:rocket:` \\:rocket: :no_such: 10:30:45\n", ":rocket: :rocket: :no_such: 10:30:45", None),
        ("# a\\\\:rocket:\n", "a\\🚀", None),
        (":rocket:\n===\n", "🚀", None),
    ] {
        let heading = parse_page(line).heading.unwrap();
        assert_eq!((heading.title.as_str(), heading.emoji.as_deref()), (title, emoji), "{line}");
    }
}

#[test]
fn attributes_are_not_part_of_the_title() {
    for (text, title) in [
        ("# Title {#id}\n\nText", "Title"),
        ("Title { .class #id }\n===\n", "Title"),
        ("# The {#id} of a title\n", "The {#id} of a title"),
        ("# Title {id}\n", "Title {id}"),
    ] {
        assert_eq!(parse_page(text).heading.map(|heading| heading.title).as_deref(), Some(title), "{text}");
    }
}

#[test]
fn invisible_lines_before_the_title_are_kept() {
    for (text, title) in [
        ("<meta name=\"a\" content=\"b\" />\n\n# Title\n", Some("Title")),
        ("<link rel=\"canonical\" href=\"/a\">\n\n<!-- c -->\n# Title\n", Some("Title")),
        ("{% set a = \"b\" %}\n# Title\n", Some("Title")),
        // The heading is part of the HTML block, or text precedes it.
        ("<meta name=\"a\" />\n# Title\n", None),
        ("<meta name=\"a\" /> Text\n\n# Title\n", None),
        ("{% set a = 1 %} {{ a }}\n# Title\n", None),
        ("{% settle %}\n# Title\n", None),
    ] {
        let page = parse_page(text);
        assert_eq!(page.heading.as_ref().map(|heading| heading.title.as_str()), title, "{text}");
    }
}

#[test]
fn leading_heading_is_split_from_the_body() {
    for (text, title, emoji, body) in [
        ("# Title\n\nText\n", Some("Title"), None, "Text\n"),
        ("\n\n# Title #\nText", Some("Title"), None, "Text"),
        ("# 🚀 Launch *now* <a href=\"#x\" id=\"x\"></a>\n", Some("Launch now"), Some("🚀"), ""),
        ("# 👩🏽‍💻Code `x` [link](a.md)\n\n\n  text", Some("Code x link"), Some("👩🏽‍💻"), "  text"),
        ("# 🚀\n", Some("🚀"), None, ""),
        ("Title\nof two lines\n===\nText", Some("Title of two lines"), None, "Text"),
        ("## Second\n", None, None, "## Second\n"),
        ("Text\n\n# Later\n", None, None, "Text\n\n# Later\n"),
        ("#\n\nText", None, None, "#\n\nText"),
        ("    # code\n", None, None, "    # code\n"),
        ("# 5 things\n", Some("5 things"), None, ""),
        ("# ™ mark\n", Some("™ mark"), None, ""),
    ] {
        let page = parse_page(text);
        let heading = page.heading.as_ref();
        assert_eq!(heading.map(|h| h.title.as_str()), title, "{text}");
        assert_eq!(heading.and_then(|h| h.emoji.as_deref()), emoji, "{text}");
        assert_eq!(page.body, body, "{text}");
    }
}

#[test]
fn leading_emoji_sequences_are_recognized() {
    for emoji in ["🚀", "❤️", "☎️", "🇩🇪", "1️⃣", "👨‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "👍🏿", "✅", "🥳", "©️"]
    {
        let text = format!("{emoji} rest");
        assert_eq!(leading_emoji(&text), Some((emoji, " rest")), "{emoji}");
    }
    for text in ["a", "1", "#", "©", "→ x", "", "é", "中", "🇩"] {
        assert_eq!(leading_emoji(text), None, "{text}");
    }
}

#[test]
fn a_heading_longer_than_its_bound_is_text() {
    let titled = |bytes: usize| parse_page(&format!("# {}\n", "a".repeat(bytes - 3))).heading.is_some();
    assert_eq!((titled(MAX_HEADING_BYTES), titled(MAX_HEADING_BYTES + 1)), (true, false));
}

#[test]
fn title_directive_precedes_the_heading_or_replaces_it() {
    let page = parse_page("{{#title Other}}\n# Heading\n\nText.\n");
    assert_eq!(page.heading.as_ref().map(|it| it.title.as_str()), Some("Heading"));
    assert_eq!(page.body, "{{#title Other}}\n\nText.\n");
    assert_eq!(page.repository_fields(BookFormat::MdBook).title.as_deref(), Some("Heading"));
    let page = parse_page("{{#title Other}}\n\nText.\n");
    let titles = [BookFormat::MdBook, BookFormat::HonKit, BookFormat::Native]
        .map(|format| page.repository_fields(format).title);
    assert_eq!((page.fields().title, titles), (None, [Some("Other".to_owned()), None, None]));
}
