//! Resolves a URL to published content for a visitor.

use std::sync::Arc;

use docs_macros::boxed;
use serde_json::{Map, Value};

use crate::{
    Error, ErrorKind, Result,
    model::{
        ElsewhereTarget, ProxyOrigin, ResolveUrl, ResolveVisitor, ResolvedContent, ResolvedElsewhere,
        ResolvedUrl, SiteId, SiteVisibility,
    },
    platform::{
        kernel::{
            actor::{Pass, Signer, Visitor},
            platform::Platform,
            urls::percent_encode,
        },
        publishing::{
            address::WebAddress,
            keys::{fingerprint, signing_key},
            outline::OutlineMatch,
            share_links::share_key,
            visitors::{ContentReader, UNSIGNED, Visit, jwt},
        },
    },
    store::{
        Key, MAX_KEY, Tx,
        records::{SiteAuthRecord, SiteRecord, linked_id},
    },
};

/// Maximum size of a visitor's unsigned claims, and of the claims of a preview, as JSON, in bytes.
pub(in crate::platform) const MAX_CLAIMS_BYTES: usize = 8 * 1024;
/// Maximum number of path segments in a mount.
const MAX_MOUNT_SEGMENTS: usize = 16;
/// Claims that concern the validity of a token rather than the visitor, and the reserved name of unsigned claims.
const TOKEN_CLAIMS: [&str; 4] = ["exp", "iat", "nbf", UNSIGNED];

impl Platform {
    /// Resolves a URL to the content published there, with the tokens to read it.
    ///
    /// On the platform's own host, the base name of a site takes precedence. Otherwise, the longest mount that is a
    /// prefix of the URL determines the site. It is followed by an optional share link key, section and space, and by a
    /// page path. The page need not exist. Content hidden by conditions is not found. If the URL would redirect because
    /// it contains the path of a default, or a former path of a section or space, an existing page takes precedence.
    ///
    /// # Errors
    ///
    /// `NotFound` if nothing is published there for this visitor; `Unauthenticated` for an invalid token on a site for
    /// authenticated visitors; `Invalid` for a malformed URL or too many claims.
    ///
    /// # Example
    ///
    /// ```
    /// # use docs_core::{Platform, model::ResolvedUrl};
    /// # async fn example(platform: &Platform) -> Result<(), Box<dyn std::error::Error>> {
    /// let ask = serde_json::from_value(serde_json::json!({ "url": "https://docs.example.com/guide" }))?;
    /// if let ResolvedUrl::Content(found) = platform.resolve_url(&ask).await? {
    ///     println!("{} of {}", found.pathname, found.space);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed('a)]
    pub async fn resolve_url<'a>(&'a self, ask: &'a ResolveUrl) -> Result<ResolvedUrl> {
        let address = WebAddress::parse("url", ask.url.as_str())?;
        let given = ask.visitor.clone().unwrap_or_default();
        let unsigned = serialize_unsigned_claims(&given)?;
        let tx = self.read().await?;
        let (site, mut used) = self.find_mount(&tx, &address).await?.ok_or_else(no_published_content)?;
        if !site.published {
            return Err(no_published_content());
        }
        let mut visitor = Visitor {
            site: Some(site.id.clone()),
            pass: Pass::None,
            signed_by: None,
            until: None,
            signed: Arc::default(),
            unsigned,
            is_user: false,
            preview: None,
        };
        let mut key = None;
        if site.visibility == SiteVisibility::ShareLink {
            let given = address.segments.get(used).ok_or_else(no_published_content)?;
            let link = share_key(&tx, &site.id, given).await?.ok_or_else(no_published_content)?;
            visitor.pass = Pass::ShareLink(link.id.clone());
            key = Some(given.clone());
            used += 1;
        }
        match self.verify_sign_in(&tx, &site, &given).await? {
            TokenCheck::Verified(signer, claims) => {
                visitor.until = jwt::expiry(&claims, self.signer_clock(&signer));
                visitor.signed_by = Some(signer);
                let claims: Map<String, Value> =
                    claims.into_iter().filter(|(name, _)| !TOKEN_CLAIMS.contains(&name.as_str())).collect();
                visitor.signed = Value::Object(claims).to_string().into();
            }
            TokenCheck::Unverified(_) if site.visibility != SiteVisibility::VisitorAuth => {}
            TokenCheck::Unverified(Some(refused)) if ask.redirect_on_error != Some(true) => {
                let message = format!("visitor.jwtToken: {refused}");
                return Err(Error::new(ErrorKind::Unauthenticated, message));
            }
            TokenCheck::Unverified(_) => {
                return self.redirect_to_sign_in(&tx, &site, &address.rest(used)).await;
            }
        }
        let parts = self.site_parts(&tx, &visitor, site).await?.ok_or_else(no_published_content)?;
        // The conditions may wait for those of other requests, so close the transaction first.
        drop(tx);
        let visit = parts.visible().await?;
        self.resolve_address(&visit, RequestedAddress { address, used, key }).await
    }

    /// Returns the base of the platform's own site URLs.
    pub(in crate::platform) fn published_base(&self) -> Result<WebAddress> {
        WebAddress::parse("base", &self.urls().published(""))
    }

    /// Returns the site mounted at the longest prefix of the URL, and the number of segments in that mount.
    pub(in crate::platform) async fn find_mount(
        &self,
        tx: &Tx,
        address: &WebAddress,
    ) -> Result<Option<(Arc<SiteRecord>, usize)>> {
        let base = self.published_base()?;
        let below =
            (address.host == base.host).then(|| address.segments.strip_prefix(&*base.segments)).flatten();
        let own = below.and_then(|below| below.first());
        let mut mounts: Vec<(Key, usize)> = Vec::new();
        // On the platform's own host, a base name takes precedence over mounts.
        if let Some(basename) = own {
            mounts.push((SiteRecord::by_basename(basename), base.segments.len() + 1));
        }
        let most = address.segments.len().min(MAX_MOUNT_SEGMENTS);
        // Without a path, this matches the host name of a site.
        let most = if self.site_hosts().is_own(&address.host) { None } else { Some(most) };
        for used in most.into_iter().flat_map(|most| (0..=most).rev()) {
            let origin = format!("{}/{}", address.host, address.segments[..used].join("/"));
            mounts.push((SiteRecord::by_proxy(&origin), used));
        }
        // Longer keys cannot be stored.
        mounts.retain(|(key, _)| key.len() <= MAX_KEY);
        let keys: Vec<Key> = mounts.iter().map(|(key, _)| Key::clone(key)).collect();
        let values = tx.get_values(&keys).await?;
        for (value, (key, used)) in values.into_iter().zip(mounts) {
            let Some(value) = value else { continue };
            let id: SiteId = linked_id(&value)?;
            let site: Option<Arc<SiteRecord>> = tx.get(&SiteRecord::key_for(&id)).await?;
            let Some(site) = site else { continue };
            let is_proxy =
                site.proxy.as_ref().is_some_and(|proxy| SiteRecord::by_proxy(proxy.as_str()) == key);
            if !is_proxy || self.allowed_proxy(&site).is_some() {
                return Ok(Some((site, used)));
            }
        }
        Ok(None)
    }

    /// Returns the proxy of a site, unless a rule has excluded it since it was stored.
    fn allowed_proxy<'s>(&self, site: &'s SiteRecord) -> Option<&'s ProxyOrigin> {
        let proxy = site.proxy.as_ref()?;
        let (host, path) = proxy.as_str().split_once('/')?;
        let segment = path.split('/').next()?;
        self.site_hosts().check(&site.organization, host, segment).is_ok().then_some(proxy)
    }

    /// Verifies the visitor's token, which was signed by the site's sign-in backend, or by the platform for a member.
    async fn verify_sign_in(&self, tx: &Tx, site: &SiteRecord, given: &ResolveVisitor) -> Result<TokenCheck> {
        let Some(token) = given.jwt_token.as_deref().filter(|token| !token.is_empty()) else {
            return Ok(TokenCheck::Unverified(None));
        };
        let verify = |key: &[u8], clock| jwt::verify(key, token, jwt::MAX_TOKEN, clock);
        if let Some(key) = signing_key(self.secrets(), tx, &site.id).await? {
            match verify(key.as_bytes(), jwt::Clock::Foreign(self.now())) {
                Ok(claims) => return Ok(TokenCheck::Verified(Signer::Key(fingerprint(&key)), claims)),
                Err(jwt::JwtError::Signature) => {}
                Err(refused) => return Ok(TokenCheck::Unverified(Some(refused.to_string()))),
            }
        }
        let org = &site.organization;
        let claims = match verify(&self.member_key(org)?, jwt::Clock::Own(self.now())) {
            Ok(claims) => claims,
            Err(refused) => return Ok(TokenCheck::Unverified(Some(refused.to_string()))),
        };
        if let Some(signer) = Signer::from_claims(&claims)
            && signer.role(tx, org).await?.is_some()
        {
            return Ok(TokenCheck::Verified(signer, claims));
        }
        let why = "its user is not a member, or the organization requires another sign-in";
        Ok(TokenCheck::Unverified(Some(why.to_owned())))
    }

    /// Returns the clock used by a signer.
    fn signer_clock(&self, signer: &Signer) -> jwt::Clock {
        match signer {
            Signer::Key(_) => jwt::Clock::Foreign(self.now()),
            Signer::Member(_) | Signer::Session(_) | Signer::Host(_) => jwt::Clock::Own(self.now()),
        }
    }

    /// Redirects to the sign-in page of a site.
    async fn redirect_to_sign_in(&self, tx: &Tx, site: &SiteRecord, path: &str) -> Result<ResolvedUrl> {
        let auth: Option<Arc<SiteAuthRecord>> = tx.get(&SiteAuthRecord::key_for(&site.id)).await?;
        let url = auth.as_ref().and_then(|auth| auth.fallback_url.as_ref()).ok_or_else(|| {
            let message = "the site requires authentication, and has no sign-in address";
            Error::new(ErrorKind::NotFound, message)
        })?;
        let location = percent_encoding::utf8_percent_encode(path, percent_encoding::NON_ALPHANUMERIC);
        let (url, fragment) =
            url.as_str().split_once('#').map_or((url.as_str(), None), |(url, f)| (url, Some(f)));
        let joint = if url.contains('?') { '&' } else { '?' };
        let fragment = fragment.map(|fragment| format!("#{fragment}")).unwrap_or_default();
        Ok(ResolvedUrl::Redirect(ResolvedElsewhere {
            target: ElsewhereTarget::External,
            site: Some(site.id.clone()),
            redirect: format!("{url}{joint}location={location}{fragment}"),
        }))
    }

    /// Resolves a URL within a site.
    pub(in crate::platform) async fn resolve_address(
        &self,
        visit: &Visit,
        asked: RequestedAddress,
    ) -> Result<ResolvedUrl> {
        let RequestedAddress { address, used: site_used, key } = asked;
        let segments = address.segments_after(site_used);
        let outline = &visit.outline;
        let (found, is_contested) = self.find_place(visit, &segments).await?;
        let used = site_used + found.used;
        let names = outline.place_segments(found.place);
        let pathname = address.rest(used);
        let canonical = match &visit.visitor.preview {
            Some(_) => self.urls().preview_below(&visit.site.id, &names),
            None => self.canonical(&visit.site, key.as_deref(), &names),
        };
        let canonical_url = format!("{}{pathname}", canonical.trim_end_matches('/'));
        if segments[..found.used] != names {
            // The request used a segment that is not part of the canonical URL, or a different spelling.
            return Ok(ResolvedUrl::Redirect(ResolvedElsewhere {
                target: ElsewhereTarget::Content,
                site: None,
                redirect: canonical_url,
            }));
        }
        // A default space also has a path, so the remaining segments may begin with its current or former path. They
        // are a page path only after a non-default space, or after a segment that matches nothing.
        let names_place = !outline.is_default(found.place);
        let complete = names_place || (segments.len() > found.used && !is_contested);
        let section = found.section.map(|section| section.id.clone());
        let token = visit.token.get_or_create(|| self.content_token(visit))?;
        Ok(ResolvedUrl::Content(Box::new(ResolvedContent {
            organization: visit.site.organization.clone(),
            site: visit.site.id.clone(),
            site_section: section,
            site_space: found.place.id.clone(),
            space: found.place.space.clone(),
            pathname,
            base_path: address.base(used),
            site_base_path: address.base(site_used),
            api_token: token,
            share_key: key,
            complete,
            context_id: visit.context_id(),
            canonical_url,
            change_request: None,
            revision: None,
            preview: visit.visitor.preview.is_some().then_some(true),
        })))
    }

    /// Resolves the segments to a space. Also returns whether a page takes precedence over a redirecting path. Below
    /// such a page, the path still redirects.
    async fn find_place<'v>(&self, visit: &'v Visit, segments: &[&str]) -> Result<(OutlineMatch<'v>, bool)> {
        let outline = &visit.outline;
        let now = outline.find(segments).ok_or_else(no_published_content)?;
        if segments[..now.used] != outline.place_segments(now.place)
            && let Some(page) = outline.find_canonical(segments)
            && self.is_page(visit, &page, segments).await?
        {
            return Ok((page, true));
        }
        if let Some(former) = outline.find_former(segments) {
            return Ok(if self.is_page(visit, &now, segments).await? {
                (now, true)
            } else {
                (former, false)
            });
        }
        Ok((now, false))
    }

    /// Returns `true` if the URL refers to a page visible to the visitor.
    async fn is_page(&self, visit: &Visit, found: &OutlineMatch<'_>, segments: &[&str]) -> Result<bool> {
        let Some(space) = visit.spaces.get(&found.place.space) else { return Ok(false) };
        let path = segments[found.used..].join("/");
        if path.is_empty() {
            return Ok(false);
        }
        let view = self.content().view(&space.domain, space.root);
        let Some((id, entry)) = view.find(&path).await? else { return Ok(false) };
        // The visit may be cached, so its budgets are those of an earlier request.
        ContentReader::Visitor(visit.claims.renewed()).content_filter(&view).await?.shows(&id, &entry).await
    }

    /// Returns the canonical URL of content of a site, with a trailing slash: on the site's proxy if it has one,
    /// otherwise on its own host.
    pub(in crate::platform) fn canonical(
        &self,
        site: &SiteRecord,
        key: Option<&str>,
        names: &[&str],
    ) -> String {
        let names: Vec<&str> = key.into_iter().chain(names.iter().copied()).collect();
        let below = |start: String| names.iter().fold(start, |url, name| url + &percent_encode(name) + "/");
        match self.allowed_proxy(site) {
            Some(origin) => below(format!("https://{origin}/")),
            None => match &site.hostname {
                Some(hostname) => below(format!("https://{hostname}/")),
                None => self.urls().published_below(site.basename.as_str(), &names),
            },
        }
    }
}

/// A URL, the number of its segments that identify the site, and the share link key in it.
pub(in crate::platform) struct RequestedAddress {
    pub(in crate::platform) address: WebAddress,
    pub(in crate::platform) used: usize,
    pub(in crate::platform) key: Option<String>,
}

enum TokenCheck {
    /// A verified token, as its signer and claims.
    Verified(Signer, Map<String, Value>),
    /// No token, or a rejected one with the reason for its rejection.
    Unverified(Option<String>),
}

pub(super) fn serialize_unsigned_claims(given: &ResolveVisitor) -> Result<Arc<str>> {
    let claims = Value::Object(given.unsigned_claims.clone().unwrap_or_default()).to_string();
    check_claims_size("visitor.unsignedClaims", &claims)?;
    Ok(claims.into())
}

/// Rejects claims that are too large, as JSON.
pub(super) fn check_claims_size(field: &str, claims: &str) -> Result<()> {
    if claims.len() > MAX_CLAIMS_BYTES {
        let most = format_args!("must be at most {MAX_CLAIMS_BYTES} bytes of JSON, has {}", claims.len());
        return Err(Error::invalid(field, most));
    }
    Ok(())
}

pub(super) fn no_published_content() -> Error {
    Error::not_found("published content")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsigned_claims_larger_than_the_bound_are_refused() {
        let claims = |bytes: usize| {
            let text = Value::String("x".repeat(bytes - r#"{"a":""}"#.len()));
            let unsigned_claims = Some(Map::from_iter([("a".to_owned(), text)]));
            serialize_unsigned_claims(&ResolveVisitor { unsigned_claims, ..ResolveVisitor::default() })
        };
        assert!(claims(MAX_CLAIMS_BYTES).is_ok());
        let error = claims(MAX_CLAIMS_BYTES + 1).expect_err("refused");
        assert!(error.message().starts_with("visitor.unsignedClaims: must be at most"), "{error}");
    }
}
