//! The MCP endpoint of a site: the Model Context Protocol over streamable HTTP, with the official SDK.
//!
//! Requests are stateless: there are no sessions, and every request checks the visitor's access through the platform.

use std::sync::Arc;

use bytes::Bytes;
use docs_core::{ErrorKind, Result};
use http_body_util::{BodyExt as _, Full};
use poem::{
    Response,
    http::{Request as HttpRequest, StatusCode, header},
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        InitializeResult, JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, Tool,
        ToolAnnotations,
    },
    service::RequestContext,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value, json};

use super::{
    listed_spaces::ListedSpaces,
    markdown::{markdown_page, one_line},
};
use crate::{
    page::{Caches, SearchHit, SearchOutcome, search},
    page_redirect::find_redirect,
    page_tree::EntryKind,
    request::SiteRequest,
    visit::Visit,
};

/// The maximum size in bytes of a request message.
pub(crate) const MAX_MESSAGE: usize = 32 * 1024;
/// The maximum size in bytes of a response, which is buffered as a whole.
const MAX_RESPONSE: usize = 16 * 1024 * 1024;
/// The maximum size in bytes of the Markdown of a page in a response, which has up to six bytes for each of its bytes.
const MAX_PAGE: usize = MAX_RESPONSE / 8;
/// The maximum number of pages in one list result.
const LISTED_PAGES: usize = 200;

/// Handles a message from an agent.
///
/// # Errors
/// `Internal` if the SDK's response cannot be forwarded.
pub(crate) async fn handle_message(
    asked: &SiteRequest<'_>,
    visit: Visit,
    caches: Arc<Caches>,
    sent: Bytes,
) -> Result<Response> {
    let (visit, caches) = (Arc::new(visit), caches);
    let tools = move || Ok(Tools { visit: Arc::clone(&visit), caches: Arc::clone(&caches) });
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_MESSAGE)
        // The request was already routed to the site by its host.
        .disable_allowed_hosts();
    let service = StreamableHttpService::new(tools, Arc::new(NeverSessionManager::default()), config);
    let mut request = HttpRequest::builder().method(asked.method.clone()).uri("/");
    for (name, value) in asked.headers {
        // The visitor has already been authenticated.
        if !matches!(*name, header::COOKIE | header::AUTHORIZATION) {
            request = request.header(name, value);
        }
    }
    let request = request.body(Full::new(sent)).map_err(docs_core::Error::internal)?;
    let (parts, body) = service.handle(request).await.into_parts();
    let body = read_body(body).await?;
    let mut response = Response::builder().status(parts.status).body(body);
    for name in [header::CONTENT_TYPE, header::ALLOW] {
        if let Some(value) = parts.headers.get(&name) {
            response.headers_mut().insert(name, value.clone());
        }
    }
    if response.status() == StatusCode::OK || response.status() == StatusCode::ACCEPTED {
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, poem::http::HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// Reads the body of a response.
///
/// # Errors
/// `Internal` if it has more than [`MAX_RESPONSE`] bytes or cannot be read.
async fn read_body<B>(body: B) -> Result<Bytes>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let body = http_body_util::Limited::new(body, MAX_RESPONSE);
    Ok(body.collect().await.map_err(docs_core::Error::internal)?.to_bytes())
}

/// The tools of a site: search, list and read pages.
struct Tools {
    visit: Arc<Visit>,
    caches: Arc<Caches>,
}

impl ServerHandler for Tools {
    fn get_info(&self) -> InitializeResult {
        let title = self.title();
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(
                Implementation::new("docs-site", env!("CARGO_PKG_VERSION")).with_title(title.clone()),
            )
            .with_instructions(format!(
                "The documentation “{title}”. Search it first, then read pages by the URLs in search \
                 results and lists."
            ))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> std::result::Result<CallToolResponse, ErrorData> {
        let arguments = call.arguments.unwrap_or_default();
        let done = match &*call.name {
            "search" => self.search(&arguments).await,
            "read_page" => self.read(&arguments).await,
            "list_pages" => self.list(&arguments).await,
            name => return Err(ErrorData::invalid_params(format!("unknown tool `{name}`"), None)),
        };
        let result = match done {
            Ok(Ok(result)) => result,
            Ok(Err(why)) => CallToolResult::error(vec![ContentBlock::text(why)]),
            Err(error) if matches!(error.kind(), ErrorKind::Internal) => {
                tracing::error!(?error, "MCP tool of site failed");
                return Err(ErrorData::internal_error("internal server error", None));
            }
            Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
        };
        Ok(result.into())
    }
}

/// The output of a tool, or a message that explains to the agent how to correct its call.
type ToolOutcome = Result<std::result::Result<CallToolResult, String>>;

impl Tools {
    fn title(&self) -> String {
        one_line(self.visit.title())
    }

    async fn search(&self, arguments: &JsonObject) -> ToolOutcome {
        let Some(query) = text(arguments, "query") else {
            return Ok(Err("query: must be a string".to_owned()));
        };
        let found = match search(&self.visit, query).await? {
            SearchOutcome::Hits(found) => found,
            SearchOutcome::InvalidQuery => return Ok(Err("query: must not be blank".to_owned())),
            SearchOutcome::IndexOutdated => {
                return Ok(Err("The search is not ready yet; try again in a moment.".to_owned()));
            }
        };
        let origin = self.base()?;
        let pages: Vec<Value> = found.iter().map(|page| self.result_json(page, &origin)).collect();
        Ok(Ok(CallToolResult::structured(json!({ "pages": pages }))))
    }

    fn result_json(&self, page: &SearchHit, base: &str) -> Value {
        let url = |href: &str| match href.strip_prefix(self.visit.found.site_base_path.as_str()) {
            Some(below) => format!("{base}{below}"),
            None => href.to_owned(),
        };
        let places: Vec<Value> = page
            .places
            .iter()
            .map(|(title, body, href)| json!({ "heading": title, "excerpt": body, "url": url(href) }))
            .collect();
        json!({ "title": page.title, "url": url(&page.href), "space": page.of, "sections": places })
    }

    async fn read(&self, arguments: &JsonObject) -> ToolOutcome {
        let Some(asked) = text(arguments, "page") else {
            return Ok(Err("page: must be the URL or the path of a page".to_owned()));
        };
        let base = self.base()?;
        let path = asked.split(['#', '?']).next().unwrap_or_default();
        let path = path.strip_prefix(base.trim_end_matches('/')).unwrap_or(path);
        let own = self.visit.found.site_base_path.as_str();
        let path = path.strip_prefix(own).unwrap_or(path).trim_matches('/');
        let path = path.strip_suffix(".md").unwrap_or(path);
        let wanted = percent_encoding::percent_decode_str(path).decode_utf8_lossy().into_owned();
        // The longest matching path of a space takes precedence; the default space has an empty path.
        let mut places = self.visit.places();
        places.sort_by_key(|place| std::cmp::Reverse(place.path.len()));
        for place in places {
            let prefix = percent_encoding::percent_decode_str(&place.path).decode_utf8_lossy().into_owned();
            let below = match wanted.strip_prefix(&prefix) {
                Some(below) => below,
                None if format!("{wanted}/") == prefix => "",
                None => continue,
            };
            let below = if below == "index" { "" } else { below };
            let frame = self.visit.page_tree(&self.caches.sites, &place).await?;
            let found = frame.find(below).filter(|at| frame.entries[*at].kind == EntryKind::Document);
            let found = match found {
                Some(at) => Some(at),
                None => find_redirect(&self.visit, &place, &frame, below).await?.map(|moved| moved.at),
            };
            if let Some(at) = found {
                let page = markdown_page(&self.visit, &self.caches, place, &frame.entries[at].id).await?;
                let bytes = page.body.bytes.len();
                if bytes > MAX_PAGE {
                    let what = format!("page: must have at most {MAX_PAGE} bytes of Markdown, has {bytes}");
                    return Ok(Err(format!("{what}; its links may be long. Open its URL instead.")));
                }
                let text = String::from_utf8_lossy(&page.body.bytes);
                return Ok(Ok(CallToolResult::success(vec![ContentBlock::text(text)])));
            }
        }
        Ok(Err(format!("page: `{path}` does not exist; use a URL from `list_pages`")))
    }

    async fn list(&self, arguments: &JsonObject) -> ToolOutcome {
        let skipped = match arguments.get("offset") {
            None | Some(Value::Null) => 0,
            Some(offset) => match offset.as_u64().and_then(|offset| usize::try_from(offset).ok()) {
                Some(offset) => offset,
                None => return Ok(Err("offset: must be a whole number".to_owned())),
            },
        };
        let base = self.base()?;
        let (mut pages, mut seen) = (Vec::new(), 0);
        for (place, summary) in ListedSpaces::new(&self.visit).all(&self.caches.sites).await? {
            let (passed, room) = (skipped.saturating_sub(seen), LISTED_PAGES - pages.len());
            seen += summary.listed;
            if passed >= summary.listed || room == 0 {
                continue;
            }
            let frame = self.visit.page_tree(&self.caches.sites, &place).await?;
            for at in frame.listed_pages().skip(passed).take(room) {
                let (page, path) = (&frame.entries[at], frame.address(at));
                pages.push(json!({ "title": page.title, "description": page.description_text(),
                    "url": format!("{base}{}{path}", place.path), "space": place.space.title }));
            }
        }
        let next = skipped + pages.len();
        let next = (next < seen).then_some(next);
        Ok(Ok(CallToolResult::structured(json!({ "pages": pages, "total": seen, "nextOffset": next }))))
    }

    /// Returns the URL of the site, with a trailing slash.
    fn base(&self) -> Result<String> {
        Ok(self.visit.canonical_base(&self.visit.place()?))
    }
}

/// Returns a text argument without surrounding whitespace, or `None` if it is blank.
fn text<'a>(arguments: &'a JsonObject, name: &str) -> Option<&'a str> {
    arguments.get(name)?.as_str().map(str::trim).filter(|text| !text.is_empty())
}

/// Returns the tool definitions that agents receive.
fn tools() -> Vec<Tool> {
    let tool = |name: &'static str, about: &str, schema: Value| {
        let schema = schema.as_object().cloned().unwrap_or_default();
        Tool::new(name, about.to_owned(), schema)
            .with_annotations(ToolAnnotations::new().read_only(true).open_world(false))
    };
    vec![
        tool(
            "search",
            "Searches the documentation. Returns matching pages with matching headings and excerpts, best \
             match first.",
            json!({ "type": "object", "required": ["query"], "properties": {
                "query": { "type": "string", "minLength": 1, "maxLength": 512, "description": "Search terms." } } }),
        ),
        tool(
            "read_page",
            "Reads one page as Markdown.",
            json!({ "type": "object", "required": ["page"], "properties": {
                "page": { "type": "string", "description": "URL of the page, or its path within the site." } } }),
        ),
        tool(
            "list_pages",
            &format!("Lists the pages in site order with their URLs, at most {LISTED_PAGES} per response."),
            json!({ "type": "object", "properties": {
                "offset": { "type": "integer", "minimum": 0, "description": "Number of pages to skip: \
                                                                             `nextOffset` of the previous \
                                                                             response." } } }),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn responses_larger_than_the_bound_fail() {
        for (bytes, is_sent) in [(MAX_RESPONSE, true), (MAX_RESPONSE + 1, false)] {
            let read = read_body(Full::new(Bytes::from(vec![b' '; bytes]))).await;
            assert_eq!(read.is_ok(), is_sent, "{bytes} bytes");
            assert!(read.is_ok_and(|body| body.len() == bytes) == is_sent);
        }
    }
}
