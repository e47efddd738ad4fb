//! Feedback that AI agents submit about the content of a site and about the tools that they use.

#[cfg(feature = "schema")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::{
    AgentFeedbackId, BoundedText, BoundedVec, PageId, SpaceId, Timestamp, Url, list::constants,
    typed_value::part,
};

constants! {
    /// `agent-feedback`.
    AgentFeedbackObject = "agent-feedback",
}

/// The broader task that an agent works on for its user.
pub type AgentGoal = BoundedText<0, 1024>;
/// A short summary of feedback.
pub type AgentFeedbackSummary = BoundedText<1, 256>;
/// The explanation of feedback.
pub type AgentFeedbackDetail = BoundedText<0, 4096>;

/// Feedback of an AI agent about a tool, a command, an endpoint or a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFeedbackInput {
    /// The agent that reports the feedback.
    #[serde(default)]
    pub reported_by: Option<AgentFeedbackReportedBy>,
    pub subject: AgentFeedbackSubject,
    pub feedback: AgentFeedbackContent,
}

/// The agent that reports feedback. It must not identify the user of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFeedbackReportedBy {
    /// The model of the agent, as reported by the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<BoundedText<0, 100>>,
    /// The user agent of the agent, such as `claude-code/1.2.3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<BoundedText<0, 512>>,
    /// The id of the reported call in the logs of the surface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<BoundedText<0, 100>>,
    /// `true` if the user asked the agent for the feedback.
    #[serde(default)]
    pub on_demand: bool,
}

/// The subject of feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum AgentFeedbackSubject {
    /// A tool of an MCP server.
    McpTool(AgentFeedbackMcpTool),
    /// A command of a command line interface.
    CliCommand(AgentFeedbackCliCommand),
    /// An API endpoint that the agent called directly.
    ApiEndpoint(AgentFeedbackApiEndpoint),
    /// Published documentation.
    Documentation(AgentFeedbackDocumentation),
    /// Nothing in particular, such as a capability that the agent did not find.
    Generic,
}

impl AgentFeedbackSubject {
    /// Returns the kind as in the wire format.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::McpTool(_) => "mcp-tool",
            Self::CliCommand(_) => "cli-command",
            Self::ApiEndpoint(_) => "api-endpoint",
            Self::Documentation(_) => "documentation",
            Self::Generic => "generic",
        }
    }
}

/// The tag of [`AgentFeedbackSubject`], parsed separately because derived tagged enums lose the path of an invalid
/// field.
#[derive(Deserialize)]
struct Tagged {
    kind: SubjectKind,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SubjectKind {
    McpTool,
    CliCommand,
    ApiEndpoint,
    Documentation,
    Generic,
}

impl<'de> Deserialize<'de> for AgentFeedbackSubject {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        let Tagged { kind } = part(value.clone())?;
        Ok(match kind {
            SubjectKind::McpTool => Self::McpTool(part(value)?),
            SubjectKind::CliCommand => Self::CliCommand(part(value)?),
            SubjectKind::ApiEndpoint => Self::ApiEndpoint(part(value)?),
            SubjectKind::Documentation => Self::Documentation(part(value)?),
            SubjectKind::Generic => Self::Generic,
        })
    }
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFeedbackMcpTool {
    /// The name of the tool.
    pub tool_name: BoundedText<0, 200>,
    /// The id of the operation that the tool invoked, for a tool that invokes other operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<BoundedText<0, 200>>,
}

/// A command of a command line interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentFeedbackCliCommand {
    /// The command without its arguments.
    pub command: BoundedText<0, 200>,
    /// The names of the flags, without their values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flags: Option<BoundedVec<BoundedText<0, 100>, 0, 50>>,
}

/// An API endpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentFeedbackApiEndpoint {
    pub method: AgentFeedbackMethod,
    /// The path with parameters in braces, such as `/v1/orders/{orderId}`, and without a query.
    pub path: BoundedText<0, 500>,
}

/// The HTTP method of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentFeedbackMethod {
    Get,
    Post,
    Put,
    Patch,
    Delete,
    Head,
    Options,
}

/// Published documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentFeedbackDocumentation {
    /// The URL of the content.
    pub url: Url,
}

/// The content of feedback. It must not contain values of parameters, bodies of requests, credentials, or anything that
/// identifies the user of the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentFeedbackContent {
    pub category: AgentFeedbackCategory,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<AgentFeedbackSeverity>,
    /// The broader task of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<AgentGoal>,
    /// A short summary of the problem.
    pub summary: AgentFeedbackSummary,
    /// The explanation of the problem.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<AgentFeedbackDetail>,
    /// The workaround of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workaround: Option<BoundedText<0, 2048>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<AgentFeedbackMetrics>,
}

/// The category of feedback.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum AgentFeedbackCategory {
    /// The subject was hard to understand or to use correctly.
    Usability,
    /// The subject failed, behaved inconsistently, or returned unusable results.
    Reliability,
    /// The description of the subject was missing, unclear or misleading.
    Documentation,
    /// The outcome took more calls or tokens than it should.
    Efficiency,
    /// The subject could not be combined with other tools or formats.
    Interoperability,
    /// Nothing available to the agent could accomplish the task.
    CouldNotAccomplish,
}

/// The degree to which a problem impeded the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentFeedbackSeverity {
    Low,
    Medium,
    High,
}

/// The uses of the subject before the feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFeedbackMetrics {
    /// The number of uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_count: Option<u64>,
    /// The number of uses with a usable result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success_count: Option<u64>,
    /// The number of uses that repeated a failed one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_count: Option<u64>,
}

/// Confirms that feedback was stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
pub struct AgentFeedbackReceipt {
    /// The id of the feedback.
    pub id: AgentFeedbackId,
    /// A message for the agent.
    pub result: String,
}

/// Feedback of an AI agent about a page of a site.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteAgentFeedbackInput {
    /// The feedback.
    pub feedback: BoundedText<1, 2048>,
    /// The broader task of the agent.
    #[serde(default)]
    pub goal: Option<AgentGoal>,
    /// The URL of the page.
    pub url: Url,
    /// The id of the space of the page.
    pub space_id: SpaceId,
    /// The id of the page.
    pub page_id: PageId,
    /// The surface that the agent used.
    #[serde(default)]
    pub source: Option<AgentFeedbackSource>,
}

/// The surface of a site that an agent used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum AgentFeedbackSource {
    /// The MCP server of the site.
    Mcp,
    /// The assistant of the site.
    Assistant,
}

/// Feedback that an AI agent submitted to a site. Its texts are those of the agent: they are not verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SiteAgentFeedback {
    /// Always `agent-feedback`.
    pub object: AgentFeedbackObject,
    pub id: AgentFeedbackId,
    /// The time of the submission.
    pub created_at: Timestamp,
    /// The agent that reported the feedback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reported_by: Option<AgentFeedbackReportedBy>,
    pub subject: AgentFeedbackSubject,
    pub feedback: AgentFeedbackContent,
    /// The page, if it was submitted with `submitSiteAgentFeedback`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<AgentFeedbackPage>,
}

/// The page of feedback that was submitted with `submitSiteAgentFeedback`. The page may not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AgentFeedbackPage {
    /// The id of the space of the page.
    pub space_id: SpaceId,
    /// The id of the page.
    pub page_id: PageId,
    /// The surface that the agent used; absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<AgentFeedbackSource>,
}

impl SiteAgentFeedbackInput {
    /// Converts the feedback to the form for all subjects. A text that is longer than a summary is also the detail.
    #[must_use]
    pub fn into_parts(self) -> (AgentFeedbackInput, AgentFeedbackPage) {
        let summary: AgentFeedbackSummary = self.feedback.truncated();
        let is_cut = summary.as_str() != self.feedback.as_str();
        let feedback = AgentFeedbackContent {
            category: AgentFeedbackCategory::Documentation,
            severity: None,
            goal: self.goal,
            summary,
            detail: is_cut.then(|| self.feedback.truncated()),
            workaround: None,
            metrics: None,
        };
        let subject = AgentFeedbackSubject::Documentation(AgentFeedbackDocumentation { url: self.url });
        (
            AgentFeedbackInput { reported_by: None, subject, feedback },
            AgentFeedbackPage { space_id: self.space_id, page_id: self.page_id, source: self.source },
        )
    }
}
