//! Events that readers of a site cause, such as page views.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{BoundedVec, Timestamp};

/// Events of a site to count.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct TrackSiteEvents {
    pub events: BoundedVec<SiteEvent, 0, 1_000>,
}

/// An event of a site. Fields that only some types of events have are ignored.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct SiteEvent {
    #[serde(rename = "type")]
    pub kind: SiteEventType,
    pub session: SiteEventSession,
    pub location: SiteEventLocation,
    /// Time of the event. Events are counted at the time of the request.
    pub timestamp: Option<Timestamp>,
}

macro_rules! event_types {
    ($($name:ident = $text:literal,)*) => {
        /// The type of an event of a site.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(JsonSchema))]
        pub enum SiteEventType {
            $(
                #[doc = concat!("`", $text, "`.")]
                #[serde(rename = $text)]
                $name,
            )*
        }

        impl SiteEventType {
            /// Returns the type as in the wire format.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

event_types! {
    PageView = "page_view",
    PageMarkdownRequest = "page_markdown_request",
    SearchOpen = "search_open",
    SearchTypeQuery = "search_type_query",
    SearchOpenResult = "search_open_result",
    PagePostFeedback = "page_post_feedback",
    PagePostFeedbackComment = "page_post_feedback_comment",
    AgentFeedback = "agent_feedback",
    AskQuestion = "ask_question",
    AskView = "ask_view",
    AskRateResponse = "ask_rate_response",
    LinkClick = "link_click",
    ApiClientOpen = "api_client_open",
    ApiClientRequest = "api_client_request",
    TrademarkClick = "trademark_click",
    AdClick = "ad_click",
    AdDisplay = "ad_display",
    LlmsRequest = "llms_request",
    McpRequest = "mcp_request",
    RssRequest = "rss_request",
}

/// The session of a reader. The platform does not store it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteEventSession {
    /// The client's id of the reader.
    pub visitor_id: String,
    /// The client's id of the session.
    pub session_id: String,
    /// The cookies of the reader.
    pub cookies: Map<String, Value>,
    /// The user agent of the reader.
    pub user_agent: String,
    /// The language of the reader.
    pub language: Option<String>,
    /// The page that linked to the site.
    pub referrer: Option<String>,
}

/// The location of an event on a site. The platform does not store it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteEventLocation {
    /// The URL that the reader opened.
    pub url: String,
    /// The id of the site section.
    pub site_section: Option<String>,
    /// The id of the site space.
    pub site_space: Option<String>,
    /// The key of the share link.
    pub site_share_key: Option<String>,
    /// The id of the space.
    pub space: Option<String>,
    /// The id of the revision.
    pub revision: Option<String>,
    /// The id of the page.
    pub page: Option<String>,
}
