//! Detection of hints by the classes of an element.

/// Words in the class names of hints, and the resulting hint style.
const HINTS: [(&str, &str); 12] = [
    ("note", "info"),
    ("info", "info"),
    ("important", "info"),
    ("seealso", "info"),
    ("tip", "success"),
    ("hint", "success"),
    ("success", "success"),
    ("warning", "warning"),
    ("caution", "warning"),
    ("attention", "warning"),
    ("danger", "danger"),
    ("error", "danger"),
];

/// Classes that mark an element as a hint.
const HINT_CLASSES: [&str; 9] = [
    "admonition",
    "alert",
    "callout",
    "confluence-information-macro",
    "custom-block",
    "hint",
    "markdown-alert",
    "notecard",
    "theme-admonition",
];

/// Returns the hint style for the classes of an element, or `None` if it is not a hint.
pub(crate) fn hint_style(classes: &[String]) -> Option<&'static str> {
    let is_hint =
        |class: &&str| classes.iter().any(|own| own == class || own.starts_with(&format!("{class}-")));
    HINT_CLASSES.iter().find(|class| is_hint(class))?;
    if classes.iter().any(|class| class.starts_with("confluence-information-macro-body")) {
        return None;
    }
    let words = classes.iter().flat_map(|class| class.split(['-', '_']));
    // Classes such as `hint` name the kind of the element, not the style.
    let style = words.filter(|word| !matches!(*word, "hint" | "alert")).find_map(style_of);
    Some(style.unwrap_or("info"))
}

/// Returns the hint style for a word such as `caution`.
pub(crate) fn style_of(word: &str) -> Option<&'static str> {
    HINTS.iter().find(|(known, _)| *known == word).map(|(_, style)| *style)
}
