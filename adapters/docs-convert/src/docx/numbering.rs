//! List definitions, and the numbers of list items.

use std::{
    collections::{HashMap, HashSet},
    rc::Rc,
};

use super::xml::{Element, Xml};

/// Number of list levels in Word.
const LIST_LEVELS: usize = 9;
/// Maximum length of the text of a number in characters.
const MAX_NUMBER_TEXT: usize = 100;

/// The lists of a document.
#[derive(Debug, Default)]
pub(super) struct ListDefinitions {
    kinds: HashMap<String, Rc<[ListLevel]>>,
    lists: HashMap<String, ListDefinition>,
}

/// A list: an instance of a kind, with levels that differ from it.
#[derive(Debug, Default)]
struct ListDefinition {
    kind: String,
    /// For a level, the number at which its first item starts.
    starts: HashMap<usize, u32>,
    /// Levels that replace those of the kind.
    levels: HashMap<usize, ListLevel>,
}

#[derive(Clone, Debug, Default)]
struct ListLevel {
    format: NumberFormat,
    start: u32,
    /// The text of a number, such as `%1.%2`.
    text: String,
    /// The highest level, counting from 1, whose items restart the numbers. `None`: all levels above.
    restart: Option<usize>,
}

/// The appearance of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum NumberFormat {
    /// A bullet, or nothing.
    #[default]
    Bullet,
    Decimal,
    LowerLetter,
    UpperLetter,
    LowerRoman,
    UpperRoman,
}

impl ListDefinitions {
    pub(super) fn read(xml: &Xml) -> Self {
        let mut read = Self::default();
        let (mut by_style, mut of_style) = (HashMap::new(), Vec::new());
        for kind in xml.root().descendants().filter(|element| element.name() == "abstractNum") {
            let Some(id) = kind.id("abstractNumId") else { continue };
            let value = |name: &str| kind.child(name).and_then(|link| link.value());
            by_style.extend(value("styleLink").map(|style| (style, id)));
            of_style.extend(value("numStyleLink").map(|style| (style, id)));
            let levels = kind.children().filter(|child| child.name() == "lvl");
            read.kinds.insert(id.to_owned(), levels.take(LIST_LEVELS).map(ListLevel::read).collect());
        }
        for (style, id) in of_style {
            let levels = by_style.get(style).and_then(|kind| read.kinds.get(*kind)).cloned();
            read.kinds.extend(levels.map(|levels| (id.to_owned(), levels)));
        }
        for list in xml.root().descendants().filter(|element| element.name() == "num") {
            let kind = list.child("abstractNumId").and_then(|kind| kind.id("val"));
            let (Some(id), Some(kind)) = (list.id("numId"), kind) else { continue };
            let mut definition = ListDefinition { kind: kind.to_owned(), ..ListDefinition::default() };
            for change in list.children().filter(|child| child.name() == "lvlOverride").take(LIST_LEVELS) {
                let Some(level) = change.attribute("ilvl").and_then(|level| level.parse().ok()) else {
                    continue;
                };
                let start = change.child("startOverride").and_then(number);
                definition.starts.extend(start.map(|start| (level, start)));
                definition.levels.extend(change.child("lvl").map(|own| (level, ListLevel::read(own))));
            }
            read.lists.insert(id.to_owned(), definition);
        }
        read
    }

    /// Returns the number format of a level, or `None` if the list does not exist.
    pub(super) fn format(&self, list: &str, level: usize) -> Option<NumberFormat> {
        let list = self.lists.get(list)?;
        let kind = self.kinds.get(&list.kind)?;
        Some(list.level(kind, level).map_or(NumberFormat::Bullet, |level| level.format))
    }
}

impl ListDefinition {
    /// Returns a level. Levels beyond the last one are equal to it.
    fn level<'a>(&'a self, kind: &'a [ListLevel], level: usize) -> Option<&'a ListLevel> {
        self.levels.get(&level).or_else(|| kind.get(level).or(kind.last()))
    }
}

impl ListLevel {
    fn read(level: Element<'_>) -> Self {
        let value = |name: &str| level.child(name).and_then(|child| child.value());
        Self {
            format: value("numFmt").map_or(NumberFormat::Bullet, NumberFormat::read),
            start: level.child("start").and_then(number).unwrap_or(1),
            text: value("lvlText").unwrap_or_default().chars().take(MAX_NUMBER_TEXT).collect(),
            restart: value("lvlRestart").and_then(|restart| restart.parse().ok()),
        }
    }

    /// Returns `true` if an item of the level `used` restarts the numbers of this level.
    fn is_restarted_by(&self, used: usize) -> bool {
        self.restart.is_none_or(|restart| used <= restart)
    }
}

impl NumberFormat {
    fn read(format: &str) -> Self {
        match format {
            "bullet" | "none" => Self::Bullet,
            "lowerLetter" => Self::LowerLetter,
            "upperLetter" => Self::UpperLetter,
            "lowerRoman" => Self::LowerRoman,
            "upperRoman" => Self::UpperRoman,
            _ => Self::Decimal,
        }
    }

    pub(super) const fn is_numbered(self) -> bool {
        !matches!(self, Self::Bullet)
    }

    fn write(self, number: u32) -> String {
        match self {
            Self::Bullet => String::new(),
            Self::Decimal => number.to_string(),
            Self::LowerLetter => letters(number),
            Self::UpperLetter => letters(number).to_ascii_uppercase(),
            Self::LowerRoman => roman(number),
            Self::UpperRoman => roman(number).to_ascii_uppercase(),
        }
    }
}

fn number(element: Element<'_>) -> Option<u32> {
    // Numbers of Markdown lists have at most nine digits.
    element.value()?.parse().ok().map(|number: u32| number.min(999_999_999))
}

/// Returns a number as Word writes it in letters: `a` to `z`, then `aa`, `bb`.
fn letters(number: u32) -> String {
    let Some(place) = number.checked_sub(1) else { return "0".to_owned() };
    let letter = u8::try_from(place % 26).map_or('a', |offset| char::from(b'a' + offset));
    letter.to_string().repeat(usize::try_from(place / 26 + 1).unwrap_or(1).min(10))
}

fn roman(number: u32) -> String {
    const SIGNS: [(u32, &str); 13] = [
        (1_000, "m"),
        (900, "cm"),
        (500, "d"),
        (400, "cd"),
        (100, "c"),
        (90, "xc"),
        (50, "l"),
        (40, "xl"),
        (10, "x"),
        (9, "ix"),
        (5, "v"),
        (4, "iv"),
        (1, "i"),
    ];
    if !(1..4_000).contains(&number) {
        return number.to_string();
    }
    let mut left = number;
    let mut out = String::new();
    for (value, sign) in SIGNS {
        while left >= value {
            out.push_str(sign);
            left -= value;
        }
    }
    out
}

/// The numbers of the items read so far. Lists of the same kind share their numbers.
#[derive(Debug, Default)]
pub(super) struct ItemNumbers {
    kinds: HashMap<String, [Option<u32>; LIST_LEVELS]>,
    /// The lists and levels whose start number was applied.
    started: HashSet<(String, usize)>,
}

impl ItemNumbers {
    /// Counts an item and returns its number. `None` for a list that is not defined.
    pub(super) fn next(&mut self, lists: &ListDefinitions, list: &str, level: usize) -> Option<u32> {
        let definition = lists.lists.get(list)?;
        let levels = lists.kinds.get(&definition.kind)?;
        let numbers = self.kinds.entry(definition.kind.clone()).or_default();
        let own = definition.level(levels, level)?;
        let start = definition.starts.get(&level);
        let is_first = start.is_some() && self.started.insert((list.to_owned(), level));
        let number = match (start.filter(|_| is_first), numbers.get(level).copied().flatten()) {
            (Some(start), _) => *start,
            (None, Some(last)) => last.saturating_add(1).min(999_999_999),
            (None, None) => own.start,
        };
        *numbers.get_mut(level)? = Some(number);
        for (below, number) in numbers.iter_mut().enumerate().skip(level + 1) {
            if definition.level(levels, below).is_some_and(|below| below.is_restarted_by(level + 1)) {
                *number = None;
            }
        }
        Some(number)
    }

    /// Returns the number of the last counted item as Word shows it, such as `2.1`.
    pub(super) fn label(&self, lists: &ListDefinitions, list: &str, level: usize) -> Option<String> {
        let definition = lists.lists.get(list)?;
        let levels = lists.kinds.get(&definition.kind)?;
        let numbers = self.kinds.get(&definition.kind)?;
        let mut label = definition.level(levels, level)?.text.clone();
        for place in 0..=level {
            let Some(of) = definition.level(levels, place) else { continue };
            let number = numbers.get(place).copied().flatten().unwrap_or(of.start);
            label = label.replace(&format!("%{}", place + 1), &of.format.write(number));
        }
        Some(label.trim().to_owned()).filter(|label| !label.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lists(kind: &str, lists: &str) -> ListDefinitions {
        let kind = format!("<w:abstractNum w:abstractNumId=\"1\">{kind}</w:abstractNum>");
        ListDefinitions::read(
            &Xml::read(&format!("<w:numbering>{kind}{lists}</w:numbering>")).expect("a part"),
        )
    }

    fn level(format: &str, inside: &str) -> String {
        format!("<w:lvl><w:numFmt w:val=\"{format}\"/>{inside}</w:lvl>")
    }

    fn list(id: &str, inside: &str) -> String {
        format!("<w:num w:numId=\"{id}\"><w:abstractNumId w:val=\"1\"/>{inside}</w:num>")
    }

    #[test]
    fn levels_beyond_the_bound_are_like_the_last_level() {
        let levels = level("decimal", "").repeat(LIST_LEVELS) + &level("bullet", "");
        let lists = lists(&levels, &list("2", ""));
        assert_eq!(lists.kinds["1"].len(), LIST_LEVELS);
        assert_eq!(lists.format("2", LIST_LEVELS), Some(NumberFormat::Decimal));
    }

    #[test]
    fn texts_of_numbers_are_cut_at_the_bound() {
        let label = |characters: usize| {
            let text = format!("<w:lvlText w:val=\"{}\"/>", "a".repeat(characters));
            let lists = lists(&level("decimal", &text), &list("1", ""));
            let mut numbers = ItemNumbers::default();
            numbers.next(&lists, "1", 0);
            numbers.label(&lists, "1", 0).expect("a number").len()
        };
        assert_eq!([MAX_NUMBER_TEXT, MAX_NUMBER_TEXT + 1].map(label), [MAX_NUMBER_TEXT, MAX_NUMBER_TEXT]);
    }

    #[test]
    fn a_kind_of_a_style_has_the_levels_of_the_style() {
        let kind = |id: u8, inside: &str| {
            format!("<w:abstractNum w:abstractNumId=\"{id}\">{inside}</w:abstractNum>")
        };
        let linked = kind(1, "<w:numStyleLink w:val=\"S\"/>");
        let style = kind(2, &format!("<w:styleLink w:val=\"S\"/>{}", level("decimal", "")));
        let xml = format!("<w:numbering>{linked}{style}{}</w:numbering>", list("1", ""));
        let lists = ListDefinitions::read(&Xml::read(&xml).expect("a part"));
        assert_eq!(lists.format("1", 0), Some(NumberFormat::Decimal));
        assert!(Rc::ptr_eq(&lists.kinds["1"], &lists.kinds["2"]), "the levels are not copied");
    }

    #[test]
    fn lists_of_one_kind_share_numbers_until_a_start() {
        let start = "<w:lvlOverride w:ilvl=\"0\"><w:startOverride w:val=\"7\"/></w:lvlOverride>";
        let all = list("1", "") + &list("2", "") + &list("3", start);
        let lists = lists(&level("decimal", "<w:start w:val=\"3\"/>"), &all);
        let mut numbers = ItemNumbers::default();
        let next = ["1", "1", "2", "3", "3", "1"].map(|list| numbers.next(&lists, list, 0));
        assert_eq!(next, [3, 4, 5, 7, 8, 9].map(Some));
        assert_eq!(numbers.next(&lists, "unknown", 0), None);
    }

    #[test]
    fn numbers_restart_below_an_item_by_default() {
        let levels = [
            level("decimal", "<w:lvlText w:val=\"%1.\"/>"),
            level("lowerLetter", "<w:lvlText w:val=\"%1.%2\"/>"),
            level("upperRoman", "<w:lvlText w:val=\"(%3)\"/><w:lvlRestart w:val=\"0\"/>"),
        ];
        let lists = lists(&levels.concat(), &list("1", ""));
        let mut numbers = ItemNumbers::default();
        let labels = [0, 1, 1, 2, 0, 1, 2].map(|level| {
            numbers
                .next(&lists, "1", level)
                .and_then(|_| numbers.label(&lists, "1", level))
                .expect("a number")
        });
        assert_eq!(labels, ["1.", "1.a", "1.b", "(I)", "2.", "2.a", "(II)"]);
    }

    #[test]
    fn numbers_in_letters_and_roman_numerals() {
        assert_eq!([0, 1, 26, 27, 53].map(letters), ["0", "a", "z", "aa", "aaa"]);
        assert_eq!(
            [0, 1, 4, 9, 44, 1_994, 4_000].map(roman),
            ["0", "i", "iv", "ix", "xliv", "mcmxciv", "4000"]
        );
    }
}
