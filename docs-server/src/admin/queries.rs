//! Arguments and list handling shared by several commands.

use std::ops::RangeInclusive;

use docs_core::{
    Platform,
    model::{Timestamp, UserId},
    store::{Page, PageRequest},
};

use crate::ServerError;

pub(super) type AdminResult<T> = Result<T, ServerError>;

/// Calls `show` for every item of a paginated list.
pub(super) async fn for_each_item<T>(
    mut list: impl AsyncFnMut(PageRequest) -> docs_core::Result<Page<T>>,
    mut show: impl FnMut(T),
) -> AdminResult<()> {
    let mut page = PageRequest::default();
    loop {
        let found = list(page.clone()).await?;
        found.items.into_iter().for_each(&mut show);
        page.page = found.next;
        if page.page.is_none() {
            return Ok(());
        }
    }
}

pub(super) fn parse_time(flag: &'static str, text: &str) -> AdminResult<Timestamp> {
    let wrong = |_| {
        ServerError::for_flag(
            flag,
            format_args!(
                "`{text}` is not a valid time; use a form like \
                                                  2030-12-31T00:00:00Z"
            ),
        )
    };
    serde_json::from_value(text.into()).map_err(wrong)
}

pub(super) async fn find_user(platform: &Platform, email: &str) -> AdminResult<UserId> {
    let found = platform.as_platform().users().by_email(email).await;
    Ok(found.map_err(|why| ServerError::from_error(format!("{email}: {why}")))?.id)
}

/// Returns text that a terminal shows as it is: control characters, which a terminal interprets, and characters that
/// change the direction of text are replaced.
pub(super) fn printable(text: &str) -> String {
    const DIRECTIONS: [RangeInclusive<char>; 4] =
        ['\u{61c}'..='\u{61c}', '\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    let is_shown = |c: &char| !c.is_control() && DIRECTIONS.iter().all(|range| !range.contains(c));
    text.chars().map(|c| if is_shown(&c) { c } else { char::REPLACEMENT_CHARACTER }).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn printed_names_have_no_control_characters() {
        assert_eq!(printable("Zoë\u{1b}[2J\n\u{202e}x"), "Zoë\u{fffd}[2J\u{fffd}\u{fffd}x");
    }
}
