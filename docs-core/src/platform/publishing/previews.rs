//! The URLs of previews of sites.

use docs_macros::boxed;
use serde_json::{Map, Value};

use crate::{
    Error, ErrorKind, Result,
    model::{PreviewSite, ResolveUrl, ResolvedContent, ResolvedUrl, SiteId, SitePreviewUrl, SiteSpaceId},
    platform::{
        kernel::{
            actor::{Actor, Visitor},
            platform::Platform,
            urls::percent_encode,
        },
        nouns::{Caller, SiteHandle, SiteRef},
        publishing::{
            address::WebAddress,
            resolve::{RequestedAddress, check_claims_size, no_published_content, serialize_unsigned_claims},
            visitors::{Visit, preview::PreviewOptions},
        },
    },
    store::{Tx, records::SiteRecord},
};

/// The segment that separates the path of a space from the version of its content in a preview.
const VERSION_SEPARATOR: &str = "~";
const CHANGES: &str = "changes";
const REVISIONS: &str = "revisions";

impl<'p> Caller<'p> {
    /// Resolves a URL like [`Platform::resolve_url`], and also the preview URLs of sites.
    ///
    /// The URL of a preview, `preview/` and the id of a site below the base URL, resolves for the members with access
    /// to the site, and for the visitors identified by the token of a preview. The site need not be published. The path
    /// of a space can be followed by `~/changes/` and the number or id of a change request, or by `~/revisions/` and
    /// the id of a revision.
    ///
    /// # Errors
    ///
    /// Same as [`Platform::resolve_url`]; `NotFound` for a preview if the caller has no access to the site.
    #[boxed]
    pub async fn resolve_url(self, ask: &'p ResolveUrl) -> Result<ResolvedUrl> {
        let address = WebAddress::parse("url", ask.url.as_str())?;
        match self.platform.find_preview(&address)? {
            Some((site, used)) => {
                self.platform.resolve_preview(&self.actor(), ask, &site, address, used).await
            }
            None => self.platform.resolve_url(ask).await,
        }
    }
}

impl<'p> SiteHandle<'p> {
    /// Returns a URL that shows the site as the actor would publish it, for an hour and without further credentials.
    ///
    /// The preview shows the spaces that the actor may read, even if the site is not published. It ends earlier if the
    /// actor loses access to the site.
    ///
    /// # Errors
    ///
    /// `Forbidden` for an actor without a user; `NotFound`; `Invalid` for a space that the preview does not show, or a
    /// target outside the site.
    #[boxed]
    pub async fn preview(self, asked: &'p PreviewSite) -> Result<SitePreviewUrl> {
        let (platform, ref actor, at) = (self.caller.platform, self.caller.actor(), self.at);
        let tx = platform.read().await?;
        let claims = asked.claims.clone().unwrap_or_default();
        check_claims_size("claims", &Value::Object(claims.clone()).to_string())?;
        let options = PreviewOptions { drafts: asked.draft.unwrap_or(true), claims };
        let (site, visitor) = platform.preview_visitor(&tx, actor, at, options).await?;
        let rest = match &asked.target {
            Some(target) => platform.path_in_site(&tx, &site, target.as_str()).await?,
            None => String::new(),
        };
        let visit = platform.visit(&tx, &visitor, site).await?.ok_or_else(|| Error::not_found("site"))?;
        let names = match &asked.site_space {
            Some(id) if asked.target.is_none() => names_of(&visit, id)?,
            Some(_) => return Err(Error::invalid("target", "must not be combined with `siteSpace`")),
            None => Vec::new(),
        };
        let url = platform.urls().preview_below(at.site, &names);
        let token = percent_encode(&platform.content_token(&visit)?);
        Ok(SitePreviewUrl { url: format!("{url}{rest}?token={token}") })
    }
}

/// Returns the path segments of a space of a previewed site.
fn names_of<'v>(visit: &'v Visit, id: &SiteSpaceId) -> Result<Vec<&'v str>> {
    let unknown = || Error::invalid("siteSpace", "must be the id of a space of the site that you may read");
    Ok(visit.outline.place_segments(visit.outline.place(id).ok_or_else(unknown)?))
}

impl Platform {
    /// Returns the site of a preview URL, and the number of its segments that identify the site.
    fn find_preview(&self, address: &WebAddress) -> Result<Option<(SiteId, usize)>> {
        let base = WebAddress::parse("base", &self.urls().previews())?;
        let below =
            (address.host == base.host).then(|| address.segments.strip_prefix(&*base.segments)).flatten();
        let site = below.and_then(|below| below.first()).and_then(|id| id.parse().ok());
        Ok(site.map(|site| (site, base.segments.len() + 1)))
    }

    /// Returns the percent-encoded path of a URL below its site, without a leading slash.
    async fn path_in_site(&self, tx: &Tx, site: &SiteRecord, target: &str) -> Result<String> {
        let address = WebAddress::parse("target", target)?;
        let used = match self.find_preview(&address)? {
            Some((id, used)) => (id == site.id).then_some(used),
            None => {
                self.find_mount(tx, &address).await?.filter(|(found, _)| found.id == site.id).map(|it| it.1)
            }
        };
        let used =
            used.ok_or_else(|| Error::invalid("target", "must be a URL of the site or of its preview"))?;
        Ok(address.rest(used).trim_start_matches('/').to_owned())
    }

    /// Resolves a preview URL.
    async fn resolve_preview(
        &self,
        actor: &Actor,
        ask: &ResolveUrl,
        id: &SiteId,
        mut address: WebAddress,
        used: usize,
    ) -> Result<ResolvedUrl> {
        let version = PreviewedVersion::split_off(&mut address, used);
        let tx = self.read().await?;
        let site = tx.get::<SiteRecord>(&SiteRecord::key_for(id)).await?.ok_or_else(no_published_content)?;
        let mut visitor = self.previewing_visitor(&tx, actor, &site).await?;
        let given = ask.visitor.clone().unwrap_or_default();
        if given.unsigned_claims.as_ref().is_some_and(|claims| !claims.is_empty()) {
            visitor.unsigned = serialize_unsigned_claims(&given)?;
        }
        let parts = self.site_parts(&tx, &visitor, site).await?.ok_or_else(no_published_content)?;
        drop(tx);
        let visit = parts.visible().await?;
        let found = self.resolve_address(&visit, RequestedAddress { address, used, key: None }).await?;
        match version {
            Some(version) => version.apply(found),
            None => Ok(found),
        }
    }

    /// Returns the visitor of a preview: the one identified by the caller's token, or the member.
    async fn previewing_visitor(&self, tx: &Tx, actor: &Actor, site: &SiteRecord) -> Result<Visitor> {
        match actor {
            Actor::Visitor(visitor) if visitor.preview.is_some() => Ok(visitor.clone()),
            Actor::Visitor(_) => {
                let message =
                    "a preview requires the token of a member, or of `getSitePublishingPreviewById`";
                Err(Error::new(ErrorKind::Unauthenticated, message))
            }
            Actor::User(_) | Actor::Token(_) | Actor::Platform => {
                let at = SiteRef { org: &site.organization, site: &site.id };
                let options = PreviewOptions { drafts: true, claims: Map::new() };
                Ok(self.preview_visitor(tx, actor, at, options).await?.1)
            }
        }
    }
}

/// A version of the content of a space in a preview URL, and the path of the page below it.
struct PreviewedVersion {
    /// `true` for a change request, `false` for a revision.
    is_request: bool,
    name: String,
    /// The path of the version below the space, with a trailing slash.
    base: String,
    /// The path of the page below the version, with a leading slash.
    pathname: String,
}

impl PreviewedVersion {
    /// Removes the version from an address, if it has one below its first `used` segments.
    fn split_off(address: &mut WebAddress, used: usize) -> Option<Self> {
        let below = address.segments.get(used..)?;
        let at = used + below.iter().position(|segment| segment == VERSION_SEPARATOR)?;
        let is_request = match address.segments.get(at + 1)?.as_str() {
            CHANGES => true,
            REVISIONS => false,
            _ => return None,
        };
        let name = address.segments.get(at + 2)?.clone();
        let pathname = address.rest(at + 3);
        let base: String = address.raw[at..at + 3].iter().map(|segment| format!("{segment}/")).collect();
        address.raw.truncate(at);
        address.segments.truncate(at);
        Some(Self { is_request, name, base, pathname })
    }

    /// Adds the version to a resolved URL of its space.
    fn apply(self, found: ResolvedUrl) -> Result<ResolvedUrl> {
        let Self { is_request, name, base, pathname } = self;
        let page = pathname.trim_start_matches('/');
        match found {
            ResolvedUrl::Redirect(mut to) => {
                to.redirect = format!("{}/{base}{page}", to.redirect.trim_end_matches('/'));
                Ok(ResolvedUrl::Redirect(to))
            }
            ResolvedUrl::Content(content) if content.pathname == "/" => {
                Ok(ResolvedUrl::Content(Box::new(ResolvedContent {
                    change_request: is_request.then(|| name.clone()),
                    revision: (!is_request).then_some(name),
                    base_path: content.base_path.clone() + &base,
                    canonical_url: format!("{}/{base}{page}", content.canonical_url.trim_end_matches('/')),
                    pathname,
                    complete: true,
                    ..*content
                })))
            }
            ResolvedUrl::Content(_) => Err(no_published_content()),
        }
    }
}
