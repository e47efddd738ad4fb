//! Path parameters.

use std::{marker::PhantomData, ops::Deref, str::FromStr};

use docs_core::model::{
    CollectionId, CommentId, CommentReplyId, ExternalLinkId, FileId, GlossaryTermId, InviteId, JobId,
    OpenApiSpecVersionId, OrgId, PageId, RedirectId, ReusableId, ReviewId, RevisionId, SamlProviderId,
    SectionGroupId, SectionId, ShareLinkId, SiteFindingId, SiteId, SiteSpaceId, SpaceId, TeamId,
    TranslationId, UserId,
};
use poem::{IntoResponse as _, Request, RequestBody, http::StatusCode};
use poem_openapi::{
    ApiExtractor, ApiExtractorType, ExtractParamOptions,
    param::Path as TextPath,
    registry::{MetaParamIn, MetaSchemaRef},
    types::Type,
};

use crate::wire::error::ApiError;

/// A resource id in a path. In the OpenAPI document it is a string.
///
/// The poem-openapi macro recognizes path parameters by the type name `Path`.
///
/// # Errors
///
/// For text that is not an id, the same response as for an id that does not exist: see [`Absence`].
pub(super) struct Path<N: Noun, A = Missing>(pub(super) N::Id, PhantomData<A>);

/// A kind of resource that paths identify. Most kinds have their own id type, which implements this trait itself.
pub(super) trait Noun: 'static {
    /// The id type, or `String` if the platform parses the ids.
    type Id: FromStr + Send;
    /// Name of the resource kind in error messages.
    const NOUN: &'static str;
}

/// The response if the resource does not exist.
pub(super) trait Absence: Send + 'static {
    fn response(noun: &str) -> poem::Error;
}

/// 404.
pub(super) struct Missing;

/// 204, because a deletion succeeds if the resource does not exist.
pub(super) struct Deleted;

impl Absence for Missing {
    fn response(noun: &str) -> poem::Error {
        ApiError::from(docs_core::Error::not_found(noun)).into()
    }
}

impl Absence for Deleted {
    fn response(_: &str) -> poem::Error {
        poem::Error::from_response(StatusCode::NO_CONTENT.into_response())
    }
}

impl<N: Noun, A> Deref for Path<N, A> {
    type Target = N::Id;

    fn deref(&self) -> &N::Id {
        &self.0
    }
}

impl<'a, N: Noun, A: Absence> ApiExtractor<'a> for Path<N, A> {
    const TYPES: &'static [ApiExtractorType] = &[ApiExtractorType::Parameter];
    const PARAM_IS_REQUIRED: bool = true;
    type ParamType = String;
    type ParamRawType = String;

    fn param_in() -> Option<MetaParamIn> {
        Some(MetaParamIn::Path)
    }

    fn param_schema_ref() -> Option<MetaSchemaRef> {
        Some(String::schema_ref())
    }

    fn param_raw_type(&self) -> Option<&String> {
        None
    }

    async fn from_request(
        request: &'a Request,
        body: &mut RequestBody,
        options: ExtractParamOptions<String>,
    ) -> poem::Result<Self> {
        let TextPath(text) = TextPath::<String>::from_request(request, body, options).await?;
        let id = text.parse().map_err(|_| A::response(N::NOUN))?;
        Ok(Self(id, PhantomData))
    }
}

/// An audit event, whose id is a UUID.
pub(super) enum AuditEventText {}

/// A user as a member of an organization.
pub(super) enum OrgMember {}

/// The explicit role of a user.
pub(super) enum UserRole {}

/// The explicit role of a team.
pub(super) enum TeamRole {}

macro_rules! nouns {
    ($($Noun:ty: $Id:ty, $noun:literal;)*) => {$(
        impl Noun for $Noun {
            type Id = $Id;
            const NOUN: &'static str = $noun;
        }
    )*};
}

nouns! {
    AuditEventText: String, "audit event";
    CollectionId: Self, "collection";
    CommentId: Self, "comment";
    CommentReplyId: Self, "reply";
    FileId: Self, "file";
    InviteId: Self, "invite";
    JobId: Self, "job";
    OrgMember: UserId, "member";
    OpenApiSpecVersionId: Self, "version of the OpenAPI specification";
    OrgId: Self, "organization";
    PageId: Self, "page";
    RedirectId: Self, "redirect";
    ReusableId: Self, "reusable content";
    ReviewId: Self, "review";
    RevisionId: Self, "revision";
    SamlProviderId: Self, "SAML provider";
    ExternalLinkId: Self, "external link";
    SectionGroupId: Self, "section group";
    SectionId: Self, "section";
    ShareLinkId: Self, "share link";
    SiteFindingId: Self, "finding";
    SiteId: Self, "site";
    SiteSpaceId: Self, "site space";
    SpaceId: Self, "space";
    String: Self, "resource"; // every text parses
    TeamId: Self, "team";
    TeamRole: TeamId, "permission";
    TranslationId: Self, "translation";
    GlossaryTermId: Self, "glossary entry";
    UserId: Self, "user";
    UserRole: UserId, "permission";
}
