//! Table cells in HTML notation that do not contain text.

use docs_model::{CellValue, ContentRef, TableColumnKind};

use super::{
    html::{self, Element, Html},
    targets,
};

/// Parses the value of a non-text cell.
pub(super) fn read_cell(kind: &TableColumnKind, source: &str) -> Option<CellValue> {
    let whole = format!("<td>{source}</td>");
    match html::tree(&whole)?.as_slice() {
        [Html::Element(cell)] => value(kind, cell),
        _ => None,
    }
}

/// Returns the value of a non-text cell.
pub(super) fn value(kind: &TableColumnKind, cell: &Element<'_>) -> Option<CellValue> {
    let text = cell.text();
    if cell.children.is_empty() {
        return Some(CellValue::Empty(()));
    }
    let links = || -> Option<Vec<String>> {
        let links = cell.elements()?;
        let is_link = |link: &&Element<'_>| link.name() == "a" && link.open.has("href");
        links
            .iter()
            .all(is_link)
            .then(|| links.iter().filter_map(|link| link.open.get("href").map(str::to_owned)).collect())
    };
    Some(match kind {
        TableColumnKind::Number | TableColumnKind::Rating { .. } => {
            let number: f64 = text.parse().ok()?;
            (number.to_string() == text).then_some(CellValue::Number(number))?
        }
        TableColumnKind::Checkbox => CellValue::Checked(text.parse().ok()?),
        TableColumnKind::Files => CellValue::Ids(links()?.iter().map(|url| file_id(url)).collect()),
        TableColumnKind::Users { .. } => CellValue::Ids(
            links()?.iter().map(|url| url.strip_prefix("/users/").unwrap_or(url).to_owned()).collect(),
        ),
        TableColumnKind::Select { .. } => {
            let options = cell.elements()?;
            let ids = options.iter().map(|option| option.open.get("data-option").map(str::to_owned));
            CellValue::Ids(ids.collect::<Option<_>>()?)
        }
        TableColumnKind::ContentRef => {
            let [url] = links()?.try_into().ok()?;
            CellValue::Reference(targets::read(&url))
        }
        TableColumnKind::Image => image(cell)?,
        TableColumnKind::Text { .. } => return None,
    })
}

pub(super) fn file_id(url: &str) -> String {
    match targets::read(url) {
        ContentRef::File { file } => file.to_string(),
        _ => url.to_owned(),
    }
}

pub(super) fn image(cell: &Element<'_>) -> Option<CellValue> {
    let [link] = cell.elements()?.try_into().ok()?;
    let target = targets::read(link.open.get("href").filter(|_| link.name() == "a")?);
    let attribute = |name: &str| link.open.get(name).map(str::to_owned);
    Some(match (attribute("data-object-fit"), attribute("data-alt")) {
        (None, None) => CellValue::Reference(target),
        (object_fit, alt) => CellValue::Image { target, object_fit, alt },
    })
}

/// Returns the known attributes of a table tag: the view, its options and the width.
pub(super) fn tag(source: &str) -> Option<[Option<String>; 9]> {
    let (html::TagToken::Open(open), length) = html::tag_at(source)? else { return None };
    let names = [
        "data-view",
        "data-card-size",
        "data-full-width",
        "data-header-hidden",
        "data-column-title-hidden",
        "data-search",
        "data-sticky-header",
        "data-sticky-first-column",
        "data-wrap",
    ];
    let value = |name: &str| match name {
        // Every other value means medium.
        "data-card-size" => open.get(name).filter(|size| *size == "large").map(str::to_owned),
        "data-header-hidden" | "data-column-title-hidden" => open.has(name).then(String::new),
        name => open.get(name).map(str::to_owned),
    };
    (open.name == "table" && length == source.len()).then(|| names.map(value))
}
