//! Nouns that belong to an organization or a collection.

use super::{
    CollectionHandle, Collections, GrantTarget, InviteHandle, Invites, MemberHandle, Members,
    OpenApiSpecHandle, OpenApiSpecVersionHandle, OpenApiSpecs, OrgHandle, Permissions, SamlProviderHandle,
    SamlProviders, SiteHandle, SiteRef, Sites, Spaces, TeamHandle, Teams, TranslationHandle, Translations,
};
use crate::model::{InviteId, OpenApiSpecVersionId, SamlProviderId, SiteId, TeamId, TranslationId, UserId};

impl<'p> OrgHandle<'p> {
    #[must_use]
    pub const fn members(self) -> Members<'p> {
        Members { caller: self.caller, org: self.org }
    }

    /// Returns the membership of a user.
    #[must_use]
    pub const fn member(self, user: &'p UserId) -> MemberHandle<'p> {
        MemberHandle { caller: self.caller, org: self.org, user }
    }

    #[must_use]
    pub const fn teams(self) -> Teams<'p> {
        Teams { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn team(self, team: &'p TeamId) -> TeamHandle<'p> {
        TeamHandle { caller: self.caller, org: self.org, team }
    }

    #[must_use]
    pub const fn invites(self) -> Invites<'p> {
        Invites { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn invite(self, invite: &'p InviteId) -> InviteHandle<'p> {
        InviteHandle { caller: self.caller, org: self.org, invite }
    }

    #[must_use]
    pub const fn saml_providers(self) -> SamlProviders<'p> {
        SamlProviders { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn saml_provider(self, provider: &'p SamlProviderId) -> SamlProviderHandle<'p> {
        SamlProviderHandle { caller: self.caller, org: self.org, provider }
    }

    #[must_use]
    pub const fn openapi_specs(self) -> OpenApiSpecs<'p> {
        OpenApiSpecs { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn openapi_spec(self, slug: &'p str) -> OpenApiSpecHandle<'p> {
        OpenApiSpecHandle { caller: self.caller, org: self.org, slug }
    }

    #[must_use]
    pub const fn collections(self) -> Collections<'p> {
        Collections { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn spaces(self) -> Spaces<'p> {
        Spaces { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn translations(self) -> Translations<'p> {
        Translations { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn translation(self, translation: &'p TranslationId) -> TranslationHandle<'p> {
        TranslationHandle { caller: self.caller, org: self.org, translation }
    }

    #[must_use]
    pub const fn sites(self) -> Sites<'p> {
        Sites { caller: self.caller, org: self.org }
    }

    #[must_use]
    pub const fn site(self, site: &'p SiteId) -> SiteHandle<'p> {
        SiteHandle { caller: self.caller, at: SiteRef { org: self.org, site }, share_key: None }
    }
}

impl<'p> OpenApiSpecHandle<'p> {
    #[must_use]
    pub const fn latest_version(self) -> OpenApiSpecVersionHandle<'p> {
        OpenApiSpecVersionHandle { caller: self.caller, org: self.org, slug: self.slug, version: None }
    }

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
    /// Returns the explicit roles of users and teams on the collection.
    #[must_use]
    pub const fn permissions(self) -> Permissions<'p> {
        Permissions { caller: self.caller, target: GrantTarget::Collection(self.collection) }
    }
}
