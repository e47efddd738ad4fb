//! The page about a specification as a whole.

use crate::ports::{SpecLink, SpecOutline, SpecScheme};

/// Returns the page as Markdown: the version, the description, links, servers and security schemes.
pub(super) fn markdown(outline: &SpecOutline) -> String {
    let mut text = format!("{} {}", label(&outline.title), code(&outline.version));
    text = format!("{}\n", text.trim());
    if let Some(description) = &outline.description {
        text.push_str(&format!("\n{}", escape_text(description)));
    }
    if !outline.links.is_empty() {
        let links = outline.links.iter().map(|of| format!("* {}\n", link(of)));
        text.push_str(&format!("\n{}", links.collect::<String>()));
    }
    if !outline.servers.is_empty() {
        let servers = outline.servers.iter().map(|server| format!("* {}\n", code(server)));
        text.push_str(&format!("\n## Servers\n\n{}", servers.collect::<String>()));
    }
    if !outline.schemes.is_empty() {
        text.push_str("\n## Authentication\n");
        text.extend(outline.schemes.iter().map(scheme));
    }
    text
}

fn scheme(of: &SpecScheme) -> String {
    let mut text = format!("\n### {}\n\n", label(&of.name));
    if let Some(description) = &of.description {
        text.push_str(&format!("{}\n", escape_text(description)));
    }
    let kind = [("type".to_owned(), of.kind.clone())];
    for (name, value) in kind.iter().chain(&of.fields) {
        let value = match web_address(value) {
            Some(address) => format!("<{address}>"),
            None => code(value),
        };
        text.push_str(&format!("* {}: {value}\n", label(name)));
    }
    for (name, description) in &of.scopes {
        text.push_str(&format!("* scope {} {}\n", code(name), label(description)));
    }
    text
}

/// Escapes text from a specification so that it contains no template tags.
pub(super) fn escape_text(text: &str) -> String {
    let text = text.trim();
    if text.is_empty() { String::new() } else { format!("{}\n", text.replace("{%", "\\{%")) }
}

/// Escapes a title as link text.
pub(super) fn label(title: &str) -> String {
    let is_special = |c: char| c.is_ascii_punctuation();
    title.chars().flat_map(|c| is_special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Returns a link as Markdown, or its text if it has no address on the web.
pub(super) fn link(of: &SpecLink) -> String {
    match of.address.as_deref().and_then(web_address) {
        Some(address) => format!("[{}](<{address}>)", label(&of.text)),
        None => label(&of.text),
    }
}

/// Returns a normalized address if it is absolute and a page may link to it.
fn web_address(text: &str) -> Option<String> {
    let address = url::Url::parse(text).ok()?;
    let is_allowed = matches!(address.scheme(), "http" | "https" | "mailto");
    is_allowed.then(|| String::from(address).replace(['<', '>', '\\'], ""))
}

/// Returns a text as code on one line.
fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() {
        return text;
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{}{space}{fence}", text.replace("{%", "{ %"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_specification_are_no_markup() {
        assert_eq!(code("a `b``"), "``` a `b`` ```");
        assert_eq!(code(" a\n{% b"), "`a { % b`");
        let of =
            |text: &str, address: &str| SpecLink { text: text.to_owned(), address: Some(address.to_owned()) };
        assert_eq!(
            link(&of("a*](b)", "https://a.example/x>y")),
            "[a\\*\\]\\(b\\)](<https://a.example/x%3Ey>)"
        );
        assert_eq!(link(&of("a", "javascript:alert(1)")), "a");
        assert_eq!(link(&of("a", "relative")), "a");
    }
}
