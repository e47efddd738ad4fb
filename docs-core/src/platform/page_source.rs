//! From a Markdown file to the fields of a page: the same rules for files of a repository and for what clients send.

use crate::{
    content::{
        PagePatch,
        markdown::{CoverSource, PageSource},
    },
    model::{ContentRef, PageCover},
};

/// The fields that a Markdown file gives a page, on top of others: what the file says goes first.
///
/// The title is that of the front matter, else the leading heading, else the one there was.
pub(super) fn fields_of(source: &PageSource<'_>, mut fields: PagePatch) -> PagePatch {
    let front = &source.front.fields;
    if let Some(heading) = &source.heading {
        fields.title = Some(heading.title.clone());
        if let Some(emoji) = &heading.emoji {
            fields.emoji = Some(Some(emoji.clone()));
            fields.icon = None;
        }
    }
    if front.icon.is_some() {
        fields.emoji = None;
    }
    over(&mut fields.title, &front.title);
    over(&mut fields.icon, &front.icon);
    over(&mut fields.description, &front.description);
    over(&mut fields.layout, &front.layout);
    over(&mut fields.hidden, &front.hidden);
    over(&mut fields.no_index, &front.no_index);
    over(&mut fields.no_robots_index, &front.no_robots_index);
    over(&mut fields.variables, &front.variables);
    over(&mut fields.condition, &front.condition);
    over(&mut fields.extra, &front.extra);
    fields
}

/// The cover that front matter names, its pictures looked up by the caller.
pub(super) fn cover_of(
    source: &CoverSource,
    mut find: impl FnMut(&str) -> Option<ContentRef>,
) -> Option<PageCover> {
    let reference = source.light.as_deref().and_then(&mut find);
    let reference_dark = source.dark.as_deref().and_then(&mut find);
    if reference.is_none() && reference_dark.is_none() {
        return None;
    }
    Some(PageCover { reference, reference_dark, y_pos: source.y_pos })
}

/// A destination that is an address on the web.
pub(super) fn web_reference(destination: &str) -> Option<ContentRef> {
    let is_web = destination.starts_with("https://") || destination.starts_with("http://");
    is_web.then(|| ContentRef::Url { url: destination.to_owned() })
}

fn over<T: Clone>(field: &mut Option<T>, value: &Option<T>) {
    if value.is_some() {
        field.clone_from(value);
    }
}
