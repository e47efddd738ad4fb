//! The nouns of the API. A call selects the caller, then the noun, then the operation.
//!
//! [`Platform::as_user`], [`as_visitor`](Platform::as_visitor) and [`as_platform`](Platform::as_platform) return a
//! [`Caller`]. Its methods return nouns, whose methods are the operations. All of them are small `Copy` values that
//! borrow the platform and the ids; creating one reads nothing.
//!
//! The methods that lead from noun to noun are in the submodules; the operations are in the module of their noun.

pub(in crate::platform) mod addresses;
mod caller;
pub(in crate::platform) mod filters;
pub(in crate::platform) mod list_identities;
mod of_caller;
mod org;
mod site;
mod space;

pub(super) use self::addresses::{ContentAddress, GrantTarget};
pub(crate) use self::addresses::{RequestRef, SiteRef};
pub use self::caller::Caller;
use crate::{
    model::{
        CollectionId, CommentId, CommentReplyId, ExternalLinkId, InviteId, OpenApiSpecVersionId, OrgId,
        RedirectId, SamlProviderId, SectionGroupId, SectionId, ShareLinkId, SiteFindingId, SiteSpaceId,
        SpaceId, TeamId, TranslationId, UserId,
    },
    platform::kernel::{actor::Actor, platform::Platform},
};

/// Defines a noun: a type with the fields that identify it.
macro_rules! nouns {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'p> {
            pub(super) caller: Caller<'p>,
            $(pub(super) $field: $type,)*
        }

        impl<'p> $name<'p> {
            /// Returns the platform, the actor and the fields: the values needed by each operation.
            #[allow(dead_code, reason = "some nouns have no operations of their own")]
            pub(super) fn parts(self) -> (&'p Platform, Actor, $($type),*) {
                (self.caller.platform, self.caller.actor(), $(self.$field),*)
            }
        }
    )*};
}

nouns! {
    /// The users of the platform. See [`UserHandle`] for a single user.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result};
    /// # async fn example(platform: &Platform) -> Result<()> {
    /// let grace = platform.as_platform().users().by_email("grace@example.com").await?;
    /// println!("{}", grace.display_name);
    /// # Ok(())
    /// # }
    /// ```
    Users {}
    /// A user of the platform, and their API tokens.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Platform, Result, model::UserId, store::PageRequest};
    /// # async fn example(platform: &Platform, ada: &UserId) -> Result<()> {
    /// for token in platform.as_user(ada).user(ada).list_tokens(&PageRequest::default()).await?.items {
    ///     println!("{}", token.label);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    UserHandle { user: &'p UserId }
    /// The organizations of the platform. See [`OrgHandle`] for a single organization.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>) -> Result<()> {
    /// for org in me.orgs().list(&PageRequest::default()).await?.items {
    ///     println!("{}", org.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Orgs {}
    /// An organization, and access to everything that belongs to it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let org = me.org(org);
    /// println!("{}", org.get().await?.title);
    /// println!("{} spaces on a page", org.spaces().list(&PageRequest::default()).await?.items.len());
    /// # Ok(())
    /// # }
    /// ```
    OrgHandle { org: &'p OrgId }
    /// The members of an organization. See [`MemberHandle`] for a single member.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, MemberFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let members = me.org(org).members();
    /// let page = members.list(&MemberFilter::default(), &PageRequest::default()).await?;
    /// println!("{} of {:?} members", page.items.len(), page.count);
    /// # Ok(())
    /// # }
    /// ```
    Members { org: &'p OrgId }
    /// The membership of a user in an organization.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, UserId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// let grace = me.org(org).member(grace);
    /// println!("{} teams", grace.get().await?.teams);
    /// # Ok(())
    /// # }
    /// ```
    MemberHandle { org: &'p OrgId, user: &'p UserId }
    /// The teams of an organization. See [`TeamHandle`] for a single team.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, TeamFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let teams = me.org(org).teams().list(&TeamFilter::default(), &PageRequest::default()).await?;
    /// for team in teams.items {
    ///     println!("{}", team.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Teams { org: &'p OrgId }
    /// A team and its members.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, TeamId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, team: &TeamId) -> Result<()> {
    /// let writers = me.org(org).team(team);
    /// println!("{}", writers.get().await?.title);
    /// println!("{} members on a page", writers.list_members(&PageRequest::default()).await?.items.len());
    /// # Ok(())
    /// # }
    /// ```
    TeamHandle { org: &'p OrgId, team: &'p TeamId }
    /// The invites to an organization, by e-mail address and by link. See [`InviteHandle`] for a single link.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let invites = me.org(org).invites();
    /// let waiting = invites.list_emails(&PageRequest::default()).await?.items.len();
    /// println!("{waiting} people are invited");
    /// # Ok(())
    /// # }
    /// ```
    Invites { org: &'p OrgId }
    /// An invite link.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{InviteId, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, invite: &InviteId) -> Result<()> {
    /// me.org(org).invite(invite).join().await?;
    /// # Ok(())
    /// # }
    /// ```
    InviteHandle { org: &'p OrgId, invite: &'p InviteId }
    /// The OpenAPI specifications of an organization. See [`OpenApiSpecHandle`] for a single specification.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// for spec in me.org(org).openapi_specs().list(&PageRequest::default()).await?.items {
    ///     println!("{}", spec.slug);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    OpenApiSpecs { org: &'p OrgId }
    /// An OpenAPI specification, identified by its slug.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// println!("{:?}", me.org(org).openapi_spec("pets").get().await?.last_version);
    /// # Ok(())
    /// # }
    /// ```
    OpenApiSpecHandle { org: &'p OrgId, slug: &'p str }
    /// A version of an OpenAPI specification, by id or the latest.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OpenApiSpecVersionId, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, version: &OpenApiSpecVersionId) -> Result<()> {
    /// println!("{}", me.org(org).openapi_spec("pets").version(version).get().await?.created_at);
    /// # Ok(())
    /// # }
    /// ```
    OpenApiSpecVersionHandle { org: &'p OrgId, slug: &'p str, version: Option<&'p OpenApiSpecVersionId> }
    /// The SAML providers of an organization. See [`SamlProviderHandle`] for a single provider.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let providers = me.org(org).saml_providers().list(&PageRequest::default()).await?;
    /// println!("{} providers", providers.items.len());
    /// # Ok(())
    /// # }
    /// ```
    SamlProviders { org: &'p OrgId }
    /// A SAML provider.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SamlProviderId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, provider: &SamlProviderId) -> Result<()> {
    /// println!("{}", me.org(org).saml_provider(provider).get().await?.label);
    /// # Ok(())
    /// # }
    /// ```
    SamlProviderHandle { org: &'p OrgId, provider: &'p SamlProviderId }
    /// The collections of an organization. See [`CollectionHandle`] for a single collection.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, Reach}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let all = me.org(org).collections().list(Reach::Nested, &PageRequest::default()).await?;
    /// for collection in all.items {
    ///     println!("{}", collection.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Collections { org: &'p OrgId }
    /// A collection, its content and the roles on it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// let handbooks = me.collection(collection);
    /// println!("{}", handbooks.get().await?.title);
    /// println!("{} spaces", handbooks.list_spaces(&PageRequest::default()).await?.items.len());
    /// # Ok(())
    /// # }
    /// ```
    CollectionHandle { collection: &'p CollectionId }
    /// The spaces of an organization. See [`SpaceHandle`] for a single space.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CreateSpace, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let space = me.org(org).spaces().create(CreateSpace::default()).await?;
    /// println!("{}", space.id);
    /// # Ok(())
    /// # }
    /// ```
    Spaces { org: &'p OrgId }
    /// A space, and access to its content, change requests and permissions.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, ContentOptions}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let manual = me.space(space);
    /// println!("{}", manual.get().await?.title);
    /// println!("{} pages at the top", manual.content().list_pages(ContentOptions::default()).await?.pages.len());
    /// # Ok(())
    /// # }
    /// ```
    SpaceHandle { space: &'p SpaceId }
    /// The history of a space: the revisions that were its live content.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let history = me.space(space).revisions();
    /// for revision in history.list(&PageRequest::default()).await?.items {
    ///     println!("{} by {}", revision.created_at, revision.created_by.display_name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Revisions { space: &'p SpaceId }
    /// The explicit roles of users and teams on a space, a collection or a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let given = me.space(space).permissions().list_users(&PageRequest::default()).await?;
    /// println!("{} people have a role by name", given.items.len());
    /// # Ok(())
    /// # }
    /// ```
    Permissions { target: GrantTarget<'p> }
    /// The change requests of a space. See [`ChangeRequestHandle`] for a single request.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CreateChangeRequest, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let request = me.space(space).change_requests().create(CreateChangeRequest::default()).await?;
    /// println!("#{}", request.number);
    /// # Ok(())
    /// # }
    /// ```
    ChangeRequests { space: &'p SpaceId }
    /// A change request, its content and its reviews.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let request = me.space(space).change_request("3");
    /// println!("{}", request.get().await?.subject);
    /// request.merge().await?;
    /// # Ok(())
    /// # }
    /// ```
    ChangeRequestHandle { at: RequestRef<'p> }
    /// The live content of a space, or the content of a change request or revision.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{RevisionId, SpaceId}, platform::{Caller, ContentOptions}};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, revision: &RevisionId) -> Result<()> {
    /// let now = me.space(space).content();
    /// let then = me.space(space).revision(revision);
    /// println!("{}", now.get(ContentOptions::default()).await?.id);
    /// println!("{}", then.get(ContentOptions::default()).await?.created_at);
    /// # Ok(())
    /// # }
    /// ```
    ContentHandle { of: ContentAddress<'p> }
    /// The comments on a space or change request. See [`CommentHandle`] for a single comment.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::SpaceId, platform::{Caller, CommentQuery}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, space: &SpaceId) -> Result<()> {
    /// let comments = me.space(space).change_request("3").content().comments();
    /// let page = comments.list(&CommentQuery::default(), &PageRequest::default()).await?;
    /// println!("{} comments", page.items.len());
    /// # Ok(())
    /// # }
    /// ```
    Comments { of: ContentAddress<'p> }
    /// A comment and its replies.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{CommentId, ContentFormat, SpaceId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, space: &SpaceId, comment: &CommentId) -> Result<()> {
    /// let comment = me.space(space).content().comment(comment);
    /// println!("{} replies", comment.get(ContentFormat::Markdown).await?.replies);
    /// # Ok(())
    /// # }
    /// ```
    CommentHandle { of: ContentAddress<'p>, comment: &'p CommentId }
    /// A reply to a comment.
    ///
    /// # Example
    /// ```
    /// # use docs_core::Result;
    /// # use docs_core::model::{CommentId, CommentReplyId, ContentFormat, SpaceId};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, space: &SpaceId, comment: &CommentId, reply: &CommentReplyId,
    /// # ) -> Result<()> {
    /// let reply = me.space(space).content().comment(comment).reply(reply);
    /// println!("{}", reply.get(ContentFormat::Markdown).await?.posted_at);
    /// # Ok(())
    /// # }
    /// ```
    ReplyHandle { of: ContentAddress<'p>, comment: &'p CommentId, reply: &'p CommentReplyId }
    /// The sites of an organization. See [`SiteHandle`] for a single site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, SiteFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let sites = me.org(org).sites().list(&SiteFilter::default(), &PageRequest::default()).await?;
    /// for site in sites.items {
    ///     println!("{}", site.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    Sites { org: &'p OrgId }
    /// A site, its settings, and access to its sections and spaces.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let site = me.org(org).site(site);
    /// site.publish().await?;
    /// println!("{} sections", site.sections().list(&PageRequest::default()).await?.items.len());
    /// # Ok(())
    /// # }
    /// ```
    SiteHandle { at: SiteRef<'p>, share_key: Option<&'p str> }
    /// The sections of a site. See [`SectionHandle`] for a single section.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let sections = me.org(org).site(site).sections().list(&PageRequest::default()).await?;
    /// println!("{} sections", sections.items.len());
    /// # Ok(())
    /// # }
    /// ```
    Sections { at: SiteRef<'p>, share_key: Option<&'p str> }
    /// A section of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SectionId, SiteId, UpdateSection}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, section: &SectionId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let change = UpdateSection { title: Some("Reference".parse()?), ..Default::default() };
    /// println!("/{}", me.org(org).site(site).section(section).update(change).await?.path);
    /// # Ok(())
    /// # }
    /// ```
    SectionHandle { at: SiteRef<'p>, section: &'p SectionId }
    /// The section groups of a site. See [`SectionGroupHandle`] for a single group.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let groups = me.org(org).site(site).section_groups().list(&PageRequest::default()).await?;
    /// println!("{} groups", groups.items.len());
    /// # Ok(())
    /// # }
    /// ```
    SectionGroups { at: SiteRef<'p>, share_key: Option<&'p str> }
    /// A section group of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SectionGroupId, SiteId, UpdateSectionGroup}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, group: &SectionGroupId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let change = UpdateSectionGroup { title: Some("Products".parse()?), ..Default::default() };
    /// println!("{}", me.org(org).site(site).section_group(group).update(change).await?.title);
    /// # Ok(())
    /// # }
    /// ```
    SectionGroupHandle { at: SiteRef<'p>, group: &'p SectionGroupId }
    /// The external links of a site. See [`ExternalLinkHandle`] for a single link.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{OrgId, SiteId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let new = serde_json::json!({ "title": "Forum", "url": "https://forum.example/" });
    /// let link = me.org(org).site(site).external_links().create(serde_json::from_value(new)?).await?;
    /// println!("{}", link.id);
    /// # Ok(())
    /// # }
    /// ```
    ExternalLinks { at: SiteRef<'p> }
    /// An external link of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{ExternalLinkId, OrgId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, link: &ExternalLinkId) -> Result<()> {
    /// me.org(org).site(site).external_link(link).delete().await?;
    /// # Ok(())
    /// # }
    /// ```
    ExternalLinkHandle { at: SiteRef<'p>, link: &'p ExternalLinkId }
    /// The spaces on a site. See [`SiteSpaceHandle`] for a single one.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::{Caller, SiteSpaceFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let others = SiteSpaceFilter { default: Some(false) };
    /// let others = me.org(org).site(site).spaces().list(others, &PageRequest::default()).await?;
    /// println!("{} spaces besides the one that the site begins with", others.items.len());
    /// # Ok(())
    /// # }
    /// ```
    SiteSpaces { at: SiteRef<'p>, share_key: Option<&'p str> }
    /// A space on a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId, SiteSpaceId}, platform::Caller};
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, site_space: &SiteSpaceId,
    /// # ) -> Result<()> {
    /// let reference = me.org(org).site(site).space(site_space);
    /// println!("{:?}", reference.get_customization().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    SiteSpaceHandle { at: SiteRef<'p>, site_space: &'p SiteSpaceId }
    /// The redirects of a site. See [`RedirectHandle`] for a single redirect.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, store::PageRequest};
    /// # use docs_core::platform::{Caller, RedirectFilter};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let filter = RedirectFilter::default();
    /// let redirects = me.org(org).site(site).redirects().list(&filter, &PageRequest::default()).await?;
    /// println!("{} redirects", redirects.items.len());
    /// # Ok(())
    /// # }
    /// ```
    Redirects { at: SiteRef<'p> }
    /// A redirect of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::model::{OrgId, RedirectId, RedirectSource, SiteId, UpdateSiteRedirect};
    /// # use docs_core::platform::Caller;
    /// # async fn example(
    /// #     me: Caller<'_>, org: &OrgId, site: &SiteId, redirect: &RedirectId,
    /// # ) -> Result<(), Box<dyn std::error::Error>> {
    /// let change = UpdateSiteRedirect { source: Some(RedirectSource::new("/v1")?), ..Default::default() };
    /// println!("{}", me.org(org).site(site).redirect(redirect).update(change).await?.source);
    /// # Ok(())
    /// # }
    /// ```
    RedirectHandle { at: SiteRef<'p>, redirect: &'p RedirectId }
    /// The share links of a site. See [`ShareLinkHandle`] for a single link.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let links = me.org(org).site(site).share_links().list(None, &PageRequest::default()).await?;
    /// println!("{} links", links.items.len());
    /// # Ok(())
    /// # }
    /// ```
    ShareLinks { at: SiteRef<'p> }
    /// A share link of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, ShareLinkId, SiteId, UpdateShareLink}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, link: &ShareLinkId) -> Result<()> {
    /// let off = UpdateShareLink { active: Some(false), ..Default::default() };
    /// println!("{} is off", me.org(org).site(site).share_link(link).update(off).await?.name);
    /// # Ok(())
    /// # }
    /// ```
    ShareLinkHandle { at: SiteRef<'p>, share_link: &'p ShareLinkId }
    /// The findings about the content of a site. See [`SiteFindingHandle`] for a single finding.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::{Caller, SiteFindingFilter}};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// let stats = me.org(org).site(site).findings().stats(&SiteFindingFilter::default()).await?;
    /// println!("{} broken links", stats.total);
    /// # Ok(())
    /// # }
    /// ```
    SiteFindings { at: SiteRef<'p> }
    /// A finding about the content of a site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::model::{OrgId, SettableFindingStatus, SiteFindingId, SiteId, UpdateSiteFinding};
    /// # use docs_core::{Result, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId, finding: &SiteFindingId) -> Result<()> {
    /// let dismissed = UpdateSiteFinding { status: SettableFindingStatus::Canceled };
    /// println!("{}", me.org(org).site(site).finding(finding).update(dismissed).await?.title);
    /// # Ok(())
    /// # }
    /// ```
    SiteFindingHandle { at: SiteRef<'p>, finding: &'p SiteFindingId }
    /// The translations of an organization. See [`TranslationHandle`] for a single translation.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let page = me.org(org).translations().list(&PageRequest::default()).await?;
    /// println!("{} translations", page.items.len());
    /// # Ok(())
    /// # }
    /// ```
    Translations { org: &'p OrgId }
    /// A translation of a space.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, TranslationId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, translation: &TranslationId) -> Result<()> {
    /// println!("{:?}", me.org(org).translation(translation).get().await?.status);
    /// # Ok(())
    /// # }
    /// ```
    TranslationHandle { org: &'p OrgId, translation: &'p TranslationId }
}
