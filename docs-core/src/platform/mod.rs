//! The operations of the platform, one module per noun.
//!
//! A call selects the caller, then the noun, then the operation. An operation validates its input, checks permissions,
//! runs in one transaction, and returns the result.
//!
//! # Errors
//! Unless documented otherwise, an operation returns `NotFound` for an item that does not exist or is not visible to
//! the caller, `Invalid` for a malformed cursor or limit, and the errors of the store.
//!
//! # Cancel safety
//! A write is one transaction. If its future is dropped, the change is made entirely or not at all, unless documented
//! otherwise.

mod access;
mod content;
mod exchange;
mod host;
mod jobs;
mod kernel;
mod library;
mod nouns;
mod people;
mod publishing;
mod search;
mod sites;

pub use content::{
    edit::upload::{FileUpload, NewUpload},
    files::{Disposition, FileReach, StoredFile, media_type},
    links::RequestLinkFilter,
    openapi_specs::{
        AlternativeDetail, BodyDetail, CallbackDetail, ChoiceDetail, CodeSampleDetail, ExampleDetail,
        ExternalDocsDetail, FieldDetail, FieldName, FlowDetail, FormFieldDetail, LinkDetail, LinkedOperation,
        OperationDetail, ParameterDetail, RequestDetail, ResponseDetail, SampleDetails, SchemaDetail,
        SchemaLimit, SchemeDetail, SchemeKind, ScopeDetail, ServerDetail, ShownSpec, SpecDetail, SpecSubject,
        ValueDetail, VariableDetail,
    },
    read::{
        ContentOptions, ContentSnapshot, CountedPage, DocumentOptions, MarkdownRefs, PageAddress,
        PageRedirect, ShownDocument, TaggedRevision, open_site::OpenSite,
    },
};
pub use exchange::{
    git::{GitDelivery, GitHostEvent, GitWebhook, GitWebhookAnswer},
    import::{
        stored::StorageUpload,
        upload::{FolderFile, ImportUpload},
    },
    pdf::{PDF_WINDOW, PdfAnswer, PdfFile, PdfPart},
};
pub use host::{
    builder::Builder,
    cache_budget::CacheBudget,
    collect::{CollectMode, CollectionStats},
    limits::{Amount, LIMITS, Limit, LimitGroup},
    setup::{SetUp, SetUpResult, load_or_create_sealing_key},
};
pub use kernel::{
    actor::{Actor, Visitor},
    answer_memory::{AnswerMemory, UnlimitedMemory},
    audit_log::AuditLog,
    compression::compression_turn,
    content_version::{ContentVersion, Version},
    idempotency::IDEMPOTENCY_WINDOW,
    json_answer::JsonAnswer,
    metrics, own_paths,
    platform::Platform,
    request::{EntityTag, IdempotencyKey, IdempotentRequest, NotAnIdempotencyKey, Precondition, Tags},
    site_hosts::{NotASiteHost, SiteHostRule, SiteHosts},
    tenant::Tenant,
    tenant_queue::{TenantQueue, WorkPermit},
    token_user::TokenUser,
    urls::Urls,
    write_window::{COLLECT_WINDOW, MAX_CLOCK_SKEW, OBJECT_GRACE_PERIOD, WRITE_WINDOW},
};
pub use library::head::RESTORE_WINDOW;
pub use nouns::{
    Caller, ChangeRequestHandle, ChangeRequests, CollectionHandle, Collections, CommentHandle, Comments,
    ContentHandle, ExternalLinkHandle, ExternalLinks, InviteHandle, Invites, MemberHandle, Members,
    OpenApiSpecHandle, OpenApiSpecVersionHandle, OpenApiSpecs, OrgHandle, Orgs, Permissions, RedirectHandle,
    Redirects, ReplyHandle, Revisions, SamlProviderHandle, SamlProviders, SectionGroupHandle, SectionGroups,
    SectionHandle, Sections, ShareLinkHandle, ShareLinks, SiteFindingHandle, SiteFindings, SiteHandle,
    SiteSpaceHandle, SiteSpaces, Sites, SpaceHandle, Spaces, TeamHandle, Teams, TranslationHandle,
    Translations, UserHandle, Users,
    addresses::Thread,
    filters::{
        AuditEventFilter, AuditFilter, CommentQuery, ImportRunFilter, OrgRequestFilter, Reach,
        RedirectFilter, RequestFilter, ReviewQuery, SiteFilter, SiteFindingFilter, SitePermissionFilter,
        TeamFilter,
    },
};
pub use people::{
    email_invites::INVITE_WINDOW,
    members::MemberFilter,
    saml::{SamlAnswer, SamlSession, SamlStart},
    users::{NewToken, NewUser, TokenInfo, TokenSecret},
};
pub use publishing::{
    page_search::PageSearch,
    visitors::{AnonymousViewVersion, ConditionBudgets},
};
pub use sites::structure::places::SiteSpaceFilter;
