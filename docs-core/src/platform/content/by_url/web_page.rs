//! Summaries of web pages for embeds: fetches with bounds, and a cache.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use crate::{
    Result,
    content::{
        run_in_place,
        syntax::{
            entity,
            html::{HtmlTag, HtmlToken, TagKind, tokens},
        },
    },
    model::UserId,
    platform::kernel::{platform::Platform, tenant_queue::TenantQueue},
    ports::{FetchMeter, Web, WebError, WebResponse},
};

/// Time for a fetch, including the wait for earlier ones.
const FETCH_WINDOW: Duration = Duration::from_secs(5);
/// Number of concurrent fetches of all users, and of one user.
const CONCURRENT_FETCHES: (usize, usize) = (8, 4);
/// Bytes of a page. A larger page has no summary.
const MAX_EMBEDDED_PAGE_BYTES: usize = 1 << 20;
/// Number of cached summaries.
const CACHED_PAGES: usize = 1_000;
/// Time after which a cached summary is not used. A failed fetch is cached for the same time.
const CACHE_TIME: Duration = Duration::from_secs(60 * 60);
/// Characters of the title, the description and the name of the site. Longer ones are cut.
const TITLE_CHARS: usize = 300;
const DESCRIPTION_CHARS: usize = 1_000;

/// The description of a web page by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WebPageSummary {
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) site: Option<String>,
}

struct CachedSummary {
    fetched_at: DateTime<Utc>,
    summary: Option<WebPageSummary>,
}

struct WebPageCache(quick_cache::sync::Cache<String, Arc<CachedSummary>>);

impl Default for WebPageCache {
    fn default() -> Self {
        Self(quick_cache::sync::Cache::new(CACHED_PAGES))
    }
}

struct FetchTurns(TenantQueue);

impl Default for FetchTurns {
    fn default() -> Self {
        Self(TenantQueue::new(CONCURRENT_FETCHES.0, CONCURRENT_FETCHES.1))
    }
}

/// Rejects pages that are too large.
#[derive(Default)]
struct SizeMeter(AtomicUsize);

#[async_trait]
impl FetchMeter for SizeMeter {
    async fn keep(&self, bytes: usize) -> std::result::Result<(), WebError> {
        let before = self.0.fetch_add(bytes, Ordering::Relaxed);
        match before.saturating_add(bytes) {
            0..=MAX_EMBEDDED_PAGE_BYTES => Ok(()),
            _ => Err(WebError::TooLarge(MAX_EMBEDDED_PAGE_BYTES as u64)),
        }
    }
}

impl Platform {
    /// Returns the summary of a web page, from the cache if possible. Returns `None` if the page cannot be fetched or
    /// is not HTML. Only a user causes a fetch: the summaries of other callers are from the cache.
    pub(super) async fn web_page_summary(
        &self,
        url: &str,
        user: Option<&UserId>,
    ) -> Result<Option<WebPageSummary>> {
        let Some(web) = &self.ports().web else { return Ok(None) };
        let cache = self.inner.memory.get_or_default::<WebPageCache>();
        let now = self.clock().now();
        let is_recent = |cached: &Arc<CachedSummary>| cached.fetched_at + CACHE_TIME > now;
        if let Some(cached) = cache.0.get(url).filter(is_recent) {
            return Ok(cached.summary.clone());
        }
        let Some(user) = user else { return Ok(None) };
        let fetched = tokio::select! {
            biased;
            fetched = self.fetch_web_page(web.as_ref(), url, user) => fetched?,
            () = self.clock().wait_until(now + FETCH_WINDOW) => Err(WebError::TimedOut(FETCH_WINDOW)),
        };
        let summary = match fetched {
            Ok(page) => run_in_place(|| summary_of(&page)),
            Err(error) => {
                tracing::debug!(%error, "describe an embedded URL without its page");
                None
            }
        };
        cache.0.insert(url.to_owned(), Arc::new(CachedSummary { fetched_at: now, summary: summary.clone() }));
        Ok(summary)
    }

    async fn fetch_web_page(
        &self,
        web: &dyn Web,
        url: &str,
        user: &UserId,
    ) -> Result<std::result::Result<WebResponse, WebError>> {
        let _turn = self.inner.memory.get_or_default::<FetchTurns>().0.acquire(user.as_str()).await?;
        Ok(web.get_metered(url, &SizeMeter::default()).await)
    }
}

/// Returns the summary of an HTML page in UTF-8.
fn summary_of(page: &WebResponse) -> Option<WebPageSummary> {
    let kind = page.content_type.as_deref()?;
    let is_html = ["text/html", "application/xhtml+xml"].iter().any(|html| kind.eq_ignore_ascii_case(html));
    let text = std::str::from_utf8(&page.bytes).ok().filter(|_| is_html)?;
    Some(parse_head(text))
}

/// Reads the title and the metadata in the head of a page. Metadata for sharing takes precedence.
fn parse_head(text: &str) -> WebPageSummary {
    let mut summary = WebPageSummary::default();
    let (mut title, mut description) = (None, None);
    let mut is_title = false;
    for token in tokens(text, 0..text.len()) {
        match token {
            HtmlToken::Text(range) if is_title => {
                title = title.or_else(|| clean(&entity::decode(&text[range]), TITLE_CHARS));
                is_title = false;
            }
            HtmlToken::Tag(tag) if tag.is_named("body") => break,
            HtmlToken::Tag(tag) if tag.is_named("head") && tag.kind == TagKind::Closing => break,
            HtmlToken::Tag(tag) => {
                is_title = tag.kind == TagKind::Opening && tag.is_named("title");
                if tag.is_named("meta") {
                    read_meta(&tag, &mut summary, &mut description);
                }
            }
            HtmlToken::Text(_) | HtmlToken::Comment(_) => {}
        }
    }
    summary.title = summary.title.or(title);
    summary.description = summary.description.or(description);
    summary
}

/// Reads a `meta` element. The first of several elements with the same name counts.
fn read_meta(tag: &HtmlTag<'_>, summary: &mut WebPageSummary, description: &mut Option<String>) {
    let value = |name: &str| tag.attribute(name).and_then(|attribute| tag.value(attribute));
    let Some(name) = value("property").or_else(|| value("name")) else { return };
    let (field, chars) = match name.to_ascii_lowercase().as_str() {
        "og:title" => (&mut summary.title, TITLE_CHARS),
        "og:site_name" => (&mut summary.site, TITLE_CHARS),
        "og:description" => (&mut summary.description, DESCRIPTION_CHARS),
        "description" => (description, DESCRIPTION_CHARS),
        _ => return,
    };
    if field.is_none() {
        *field = value("content").and_then(|content| clean(&content, chars));
    }
}

/// Returns a text in one line without control characters, at most `chars` characters of it. Returns `None` for an empty
/// one.
fn clean(text: &str, chars: usize) -> Option<String> {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    let line: String = words.join(" ").chars().take(chars).collect();
    Some(line).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_of_pages_have_a_title_and_metadata() {
        let summary = |title: &str, description: &str, site: &str| {
            let given = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            WebPageSummary { title: given(title), description: given(description), site: given(site) }
        };
        for (html, expected) in [
            ("", summary("", "", "")),
            ("<title> A &amp;\n B </title>", summary("A & B", "", "")),
            ("<title></title><meta name=description content='D'>", summary("", "D", "")),
            ("<svg></svg><TITLE>A</TITLE><title>B</title>", summary("A", "", "")),
            (
                "<title>A</title><meta property='og:title' content='O'><meta name=description content=D>\
                 <META PROPERTY=og:description CONTENT='&lt;E&gt;'><meta property=og:site_name content=S>",
                summary("O", "<E>", "S"),
            ),
            ("<title></title>text", summary("", "", "")),
            ("<head></head><title>A</title>", summary("", "", "")),
            ("<body><title>A</title>", summary("", "", "")),
            ("<script>'<title>A</title>'</script><meta name=description>", summary("", "", "")),
        ] {
            assert_eq!(parse_head(html), expected, "{html}");
        }
        let long = format!("<title>{}</title>", "ä".repeat(TITLE_CHARS + 1));
        assert_eq!(parse_head(&long).title, Some("ä".repeat(TITLE_CHARS)));
    }
}
