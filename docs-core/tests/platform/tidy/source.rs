//! What a source file shows to everybody: its public functions and types, with what is said of them.

/// A public function or a documented type of a source file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// The type or the trait that a function is of; empty for one of a module, and for a type.
    pub(super) of: String,
    pub(super) name: String,
    /// The parameters of a function, as they are written; `None` for a type.
    pub(super) parameters: Option<Vec<String>>,
    /// Its rustdoc.
    pub(super) said: String,
}

impl Item {
    /// The types of the parameters, without `self`.
    pub(super) fn types(&self) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter().flatten();
        parameters.filter_map(|parameter| Some(parameter.split_once(':')?.1.trim()))
    }
}

/// The public functions of a file, those of public traits among them, and its documented types.
pub(super) fn items(text: &str) -> Vec<Item> {
    let (mut of, mut said, mut found) = (String::new(), String::new(), Vec::new());
    let (mut in_trait, mut rest) = (false, text);
    while let Some(line) = rest.lines().next() {
        let start = rest;
        rest = rest.get(line.len() + 1..).unwrap_or_default();
        let code = line.trim_start();
        if let Some(more) = code.strip_prefix("///") {
            said.push_str(more.trim());
            said.push('\n');
        } else if code.starts_with("#[") {
            // An attribute stands between an item and what is said of it, on as many lines as it needs.
            if !line.ends_with(']') {
                rest = rest.split_once("]\n").map_or(rest, |(_, behind)| behind);
            }
        } else {
            let said = std::mem::take(&mut said);
            if line.starts_with("impl") || line.starts_with("pub trait ") {
                in_trait = line.starts_with("pub");
                of = owner(line);
            } else if line == "}" {
                (of, in_trait) = (String::new(), false);
            } else if let Some((name, parameters)) = function(code, start, in_trait) {
                found.push(Item { of: of.clone(), name, parameters: Some(parameters), said });
            } else if !said.is_empty() {
                let named = ["pub struct ", "pub enum "].iter().find_map(|word| code.strip_prefix(word));
                let name = identifier(named.unwrap_or(code));
                // A macro declares types as `Name { … }`; what goes on otherwise is a field, a variant or a constant.
                let is_type =
                    code[code.find(&name).unwrap_or_default() + name.len()..].starts_with([' ', '<']);
                if is_type && name.starts_with(char::is_uppercase) {
                    found.push(Item { of: String::new(), name, parameters: None, said });
                }
            }
        }
    }
    found
}

/// The name that a text begins with.
fn identifier(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The type of an `impl`, or the trait that a line declares.
fn owner(line: &str) -> String {
    match line.strip_prefix("pub trait ") {
        Some(name) => identifier(name),
        None => identifier(line.trim_end_matches(" {").rsplit(' ').next().unwrap_or_default()),
    }
}

/// The name and the parameters of the function that a line begins, if everybody may call it.
fn function(code: &str, text: &str, in_trait: bool) -> Option<(String, Vec<String>)> {
    let public = code.strip_prefix("pub ");
    let (qualifiers, head) = public.or(in_trait.then_some(code))?.split_once("fn ")?;
    if !qualifiers.split_whitespace().all(|word| ["const", "async", "unsafe"].contains(&word)) {
        return None;
    }
    let name = identifier(head);
    let (_, behind) = text.split_once(&format!("fn {name}"))?;
    let behind = if behind.starts_with('<') { brackets(behind)?.1 } else { behind };
    Some((name, parts(brackets(behind)?.0)))
}

/// What is between the bracket that a text begins with and the one that closes it, and what is behind.
fn brackets(text: &str) -> Option<(&str, &str)> {
    let (mut depth, mut before) = (0, ' ');
    for (at, c) in text.char_indices() {
        depth += step(c, before);
        if depth == 0 {
            return Some((&text[1..at], &text[at + 1..]));
        }
        before = c;
    }
    None
}

/// How much deeper a character leads. The end of an arrow is no bracket.
fn step(c: char, before: char) -> i32 {
    match c {
        '(' | '[' | '{' | '<' => 1,
        '>' if before == '-' || before == '=' => 0,
        ')' | ']' | '}' | '>' => -1,
        _ => 0,
    }
}

/// The parts of a list, between the commas that stand in no brackets.
fn parts(list: &str) -> Vec<String> {
    let (mut depth, mut before, mut found) = (0, ' ', vec![String::new()]);
    for c in list.chars() {
        depth += step(c, before);
        before = c;
        match found.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => found.push(String::new()),
        }
    }
    let found = found.iter().map(|part| part.trim().to_owned());
    found.filter(|part| !part.is_empty()).collect()
}

#[test]
fn public_functions_are_found_with_their_parameters_and_what_is_said_of_them() {
    let text = r#"
/// Spaces.
pub struct Spaces<'p> {
    /// The caller.
    caller: Caller<'p>,
}

impl<'p> Spaces<'p> {
    /// Lists.
    #[expect(
        clippy::something,
        reason = "of (any) kind"
    )]
    pub async fn list<F: Fn(u8) -> bool>(
        self,
        fits: F,
        pair: (u8, u16),
    ) -> Vec<u8> {
    }
    pub(crate) fn hidden(self, on: bool) {}
    fn own(self) {}
}

pub trait Store {
    /// Reads.
    async fn read(&self, fits: impl Fn(u8) -> bool, twice: bool);
}

pub const fn alone(a: &[(u8, u8)]) {}
pub type Made = fn(bool);
"#;
    let found = items(text);
    let functions: Vec<(&str, &str, Vec<&str>)> = found
        .iter()
        .filter(|item| item.parameters.is_some())
        .map(|item| (item.of.as_str(), item.name.as_str(), item.types().collect()))
        .collect();
    assert_eq!(
        functions,
        [
            ("Spaces", "list", vec!["F", "(u8, u16)"]),
            ("Store", "read", vec!["impl Fn(u8) -> bool", "bool"]),
            ("", "alone", vec!["&[(u8, u8)]"]),
        ]
    );
    let said = |name: &str| found.iter().find(|item| item.name == name).map(|item| item.said.as_str());
    assert_eq!(
        (said("Spaces"), said("list"), said("read")),
        (Some("Spaces.\n"), Some("Lists.\n"), Some("Reads.\n"))
    );
    assert_eq!(said("alone"), Some(""));
}
