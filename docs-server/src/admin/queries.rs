//! Arguments and list handling shared by several commands.

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
