//! The nouns that an organization leads to, and a collection.

use super::{
    CollectionHandle, Collections, GrantTarget, InviteHandle, Invites, MemberHandle, Members,
    OpenApiSpecHandle, OpenApiSpecVersionHandle, OpenApiSpecs, OrgHandle, Permissions, SamlProviderHandle,
    SamlProviders, SiteHandle, SiteRef, Sites, Spaces, TeamHandle, Teams, TranslationHandle, Translations,
};
use crate::model::{InviteId, OpenApiSpecVersionId, SamlProviderId, SiteId, TeamId, TranslationId, UserId};

impl<'p> OrgHandle<'p> {
    /// The members.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, MemberFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let members = me.org(org).members();
    /// let page = members.list(&MemberFilter::default(), &PageRequest::default()).await?;
    /// println!("{} members", page.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn members(self) -> Members<'p> {
        Members { caller: self.caller, org: self.org }
    }

    /// The membership of a user.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, UserId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, grace: &UserId) -> Result<()> {
    /// println!("{:?}", me.org(org).member(grace).get().await?.role);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn member(self, user: &'p UserId) -> MemberHandle<'p> {
        MemberHandle { caller: self.caller, org: self.org, user }
    }

    /// The teams.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, TeamFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let teams = me.org(org).teams().list(&TeamFilter::default(), &PageRequest::default()).await?;
    /// println!("{} teams", teams.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn teams(self) -> Teams<'p> {
        Teams { caller: self.caller, org: self.org }
    }

    /// A team.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, TeamId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, team: &TeamId) -> Result<()> {
    /// println!("{}", me.org(org).team(team).get().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn team(self, team: &'p TeamId) -> TeamHandle<'p> {
        TeamHandle { caller: self.caller, org: self.org, team }
    }

    /// The invites.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let links = me.org(org).invites().list_links(&PageRequest::default()).await?;
    /// println!("{} links", links.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn invites(self) -> Invites<'p> {
        Invites { caller: self.caller, org: self.org }
    }

    /// An invite.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{InviteId, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, invite: &InviteId) -> Result<()> {
    /// me.org(org).invite(invite).join().await?;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn invite(self, invite: &'p InviteId) -> InviteHandle<'p> {
        InviteHandle { caller: self.caller, org: self.org, invite }
    }

    /// The SAML providers.
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
    #[must_use]
    pub const fn saml_providers(self) -> SamlProviders<'p> {
        SamlProviders { caller: self.caller, org: self.org }
    }

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
    #[must_use]
    pub const fn saml_provider(self, provider: &'p SamlProviderId) -> SamlProviderHandle<'p> {
        SamlProviderHandle { caller: self.caller, org: self.org, provider }
    }

    /// The OpenAPI specifications.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let specs = me.org(org).openapi_specs().list(&PageRequest::default()).await?;
    /// println!("{} specifications", specs.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn openapi_specs(self) -> OpenApiSpecs<'p> {
        OpenApiSpecs { caller: self.caller, org: self.org }
    }

    /// An OpenAPI specification, by its slug.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// println!("{}", me.org(org).openapi_spec("pets").get().await?.id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn openapi_spec(self, slug: &'p str) -> OpenApiSpecHandle<'p> {
        OpenApiSpecHandle { caller: self.caller, org: self.org, slug }
    }

    /// The collections.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, Reach}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let top = me.org(org).collections().list(Reach::Direct, &PageRequest::default()).await?;
    /// println!("{} collections at the top", top.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn collections(self) -> Collections<'p> {
        Collections { caller: self.caller, org: self.org }
    }

    /// The spaces.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let spaces = me.org(org).spaces().list(&PageRequest::default()).await?;
    /// println!("{} spaces", spaces.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn spaces(self) -> Spaces<'p> {
        Spaces { caller: self.caller, org: self.org }
    }

    /// The translations.
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
    #[must_use]
    pub const fn translations(self) -> Translations<'p> {
        Translations { caller: self.caller, org: self.org }
    }

    /// A translation.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, TranslationId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, translation: &TranslationId) -> Result<()> {
    /// println!("{:?}", me.org(org).translation(translation).get().await?.status);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn translation(self, translation: &'p TranslationId) -> TranslationHandle<'p> {
        TranslationHandle { caller: self.caller, org: self.org, translation }
    }

    /// The sites.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::{Caller, SiteFilter}, store::PageRequest};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// let sites = me.org(org).sites().list(&SiteFilter::default(), &PageRequest::default()).await?;
    /// println!("{} sites", sites.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn sites(self) -> Sites<'p> {
        Sites { caller: self.caller, org: self.org }
    }

    /// A site.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OrgId, SiteId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, site: &SiteId) -> Result<()> {
    /// println!("{}", me.org(org).site(site).get().await?.title);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn site(self, site: &'p SiteId) -> SiteHandle<'p> {
        SiteHandle { caller: self.caller, at: SiteRef { org: self.org, site }, share_key: None }
    }
}

impl<'p> OpenApiSpecHandle<'p> {
    /// The latest version.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::OrgId, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId) -> Result<()> {
    /// println!("{}", me.org(org).openapi_spec("pets").latest_version().get().await?.id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn latest_version(self) -> OpenApiSpecVersionHandle<'p> {
        OpenApiSpecVersionHandle { caller: self.caller, org: self.org, slug: self.slug, version: None }
    }

    /// A version.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::{OpenApiSpecVersionId, OrgId}, platform::Caller};
    /// # async fn example(me: Caller<'_>, org: &OrgId, version: &OpenApiSpecVersionId) -> Result<()> {
    /// println!("{}", me.org(org).openapi_spec("pets").version(version).get().await?.url);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn version(self, version: &'p OpenApiSpecVersionId) -> OpenApiSpecVersionHandle<'p> {
        OpenApiSpecVersionHandle {
            caller: self.caller,
            org: self.org,
            slug: self.slug,
            version: Some(version),
        }
    }
}

impl<'p> CollectionHandle<'p> {
    /// The roles that users and teams have in it.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{Result, model::CollectionId, platform::Caller, store::PageRequest};
    /// # async fn example(me: Caller<'_>, collection: &CollectionId) -> Result<()> {
    /// let given = me.collection(collection).permissions().list_users(&PageRequest::default()).await?;
    /// println!("{} people have a role by name", given.items.len());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub const fn permissions(self) -> Permissions<'p> {
        Permissions { caller: self.caller, content: GrantTarget::Collection(self.collection) }
    }
}
