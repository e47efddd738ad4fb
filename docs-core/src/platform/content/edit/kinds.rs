//! Validates fields by page kind, and resolves link targets.

use super::links::RequestNames;
use crate::{
    Error, Result,
    content::{PageKind, View},
    model::{ContentRef, PageFields, PageType},
};

/// Returns the kind of a new page.
pub(super) fn parse_kind(kind: Option<PageType>) -> Result<PageKind> {
    Ok(match kind {
        None | Some(PageType::Document) => PageKind::Document,
        Some(PageType::Group) => PageKind::Group,
        Some(PageType::Link) => PageKind::Link,
        Some(PageType::Computed) => {
            return Err(Error::invalid(
                "type",
                "must be `document`, `group` or `link`; computed pages come from specifications",
            ));
        }
    })
}

/// Rejects a type that differs from that of the page. The type is immutable.
pub(super) fn check_kind(given: Option<PageType>, kind: PageKind) -> Result<()> {
    match given {
        Some(given) if given != PageType::from(kind) => {
            Err(Error::invalid("type", "cannot be changed; insert another page instead"))
        }
        _ => Ok(()),
    }
}

/// Rejects fields that pages of this kind never display. Clearing such a field succeeds.
pub(super) fn check_fields(kind: PageKind, fields: &PageFields) -> Result<()> {
    let is_link = kind == PageKind::Link;
    let given = [
        (
            kind != PageKind::Document && fields.description.as_deref().is_some_and(|it| !it.is_empty()),
            "description",
        ),
        (is_link && fields.slug.is_some(), "slug"),
        (is_link && fields.no_index == Some(true), "noIndex"),
        (is_link && fields.no_robots_index == Some(true), "noRobotsIndex"),
    ];
    match given.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, "description")) => Err(Error::invalid("description", "is allowed for documents only")),
        Some((_, field)) => Err(Error::invalid(field, "is allowed for documents and groups only")),
        None => Ok(()),
    }
}

/// Resolves the target of a link page. Pages and files may be referenced by their names in the request. A target in the
/// same space must exist.
pub(super) async fn resolve_target(
    target: &ContentRef,
    names: &RequestNames,
    view: &View,
) -> Result<ContentRef> {
    let mut target = target.clone();
    let missing = |field: &str| Err(Error::invalid(field, "the content has no item with this id"));
    match &mut target {
        ContentRef::Page { page, space: None } | ContentRef::Anchor { page: Some(page), space: None, .. } => {
            *page = names.page_id("target.page", page.as_str())?;
            if !names.inserts(page) && view.page(page).await?.is_none() {
                return missing("target.page");
            }
        }
        ContentRef::File { file } => {
            *file = names.file_by_name(file.as_str()).unwrap_or_else(|| file.clone());
            if !names.inserts_file(file) && view.file(file).await?.is_none() {
                return missing("target.file");
            }
        }
        ContentRef::ReusableContent { reusable_content, space: None }
            if view.reusable(reusable_content).await?.is_none() =>
        {
            return missing("target.reusableContent");
        }
        ContentRef::Anchor { page: None, space: None, .. } => {
            return Err(Error::invalid("target.page", "is required, as a link page has no headings"));
        }
        _ => {}
    }
    Ok(target)
}
