//! Visits: a visitor's view of a site.

use std::{collections::HashMap, sync::Arc};

use docs_core::{
    Actor, Error, ErrorKind, Platform, Result,
    content::Evaluated,
    model::{
        Customization, ElsewhereTarget, FileId, PageId, PublishedUrl, RedirectSource, ResolveUrl,
        ResolveVisitor, ResolvedContent, ResolvedElsewhere, ResolvedRedirect, ResolvedUrl, RevisionFile,
        RevisionId, SearchSite, SiteSpaceId, SpaceId,
    },
    platform::{
        AnonymousViewVersion, ConditionBudgets, ContentHandle, ContentOptions, ContentSnapshot, EntityTag,
        OpenSite, ShownDocument, SiteHandle, SpaceHandle, Tenant, Visitor,
    },
    store::PageRequest,
};

use crate::{
    address::{Addresses, ImageSchemes, SitePlace, find_place, places},
    claims::claims,
    known_site::KnownSite,
    page_tree::PageTree,
    page_tree_cache::PageTreeKey,
    preview::Preview,
    preview_route::Version,
    request::SiteRequest,
    site_cache::{SiteCaches, SiteStart},
    space_files::SpaceFiles,
};

/// The result of resolving a request.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// Content of a site.
    Here(Box<Visit>),
    /// A redirect to other content, which is valid until the site changes.
    Moved(String),
    /// A redirect to the sign-in.
    SignIn(String),
}

/// The cache access of an anonymous request.
#[derive(Debug)]
pub(crate) struct CacheScope<'c> {
    /// The store version when the request arrived, determined before any other read.
    pub(crate) moment: AnonymousViewVersion,
    pub(crate) caches: &'c SiteCaches,
    /// The part of the URL that may identify a site.
    pub(crate) start: SiteStart,
}

/// A visitor's view of a site.
#[derive(Debug)]
pub(crate) struct Visit {
    platform: Platform,
    actor: Actor,
    pub(crate) found: ResolvedContent,
    pub(crate) site: Arc<KnownSite>,
    /// For an anonymous visitor, a store version that is not newer than the data.
    pub(crate) moment: Option<AnonymousViewVersion>,
    /// The cached access grant of a public site.
    open: Option<Arc<OpenSite>>,
    /// A key shared by visitors with the same view.
    audience: Arc<str>,
    /// `true` if the view is the same for all visitors, so that shared caches may store the response.
    pub(crate) is_for_all: bool,
    /// The preview that replaces the live content of a space.
    pub(crate) preview: Option<Preview>,
    /// The static export that pages are rendered for, if any.
    pub(crate) copy: Option<StaticExport>,
    /// The budgets for the conditions of all spaces that the request reads.
    budgets: ConditionBudgets,
}

/// A static export of a site.
#[derive(Clone, Debug)]
pub(crate) struct StaticExport {
    /// The future URL of the export with a trailing slash, or `None` if it is unknown.
    pub(crate) url: Option<String>,
}

impl Arrival {
    /// Converts a redirect to other content or to the sign-in.
    fn from_redirect(to: ResolvedElsewhere) -> Self {
        match to.target {
            ElsewhereTarget::External => Self::SignIn(to.redirect),
            ElsewhereTarget::Application | ElsewhereTarget::Content => Self::Moved(to.redirect),
        }
    }
}

/// Finds the site of resolved content, from the cache if possible.
async fn find_site(
    platform: &Platform,
    actor: &Actor,
    content: &ResolvedContent,
    kept: Option<&CacheScope<'_>>,
) -> Result<Arc<KnownSite>> {
    if let Some(site) = kept.and_then(|kept| kept.caches.site(&content.site, kept.moment)) {
        return Ok(site);
    }
    let site = platform.as_actor(actor).org(&content.organization).site(&content.site);
    let site = KnownSite::new(site.with_share_key(content.share_key.as_deref()).published().await?)?;
    Ok(match kept {
        Some(kept) => kept.caches.store_site(&content.site, kept.moment, site),
        None => Arc::new(site),
    })
}

/// Resolves the URL of a preview of a site for its token, or for the token of a member.
async fn resolve_preview(
    platform: &Platform,
    asked: &SiteRequest<'_>,
    url: PublishedUrl,
    token: Option<String>,
) -> Result<ResolvedUrl> {
    let actor = match token.or_else(|| asked.member_token()) {
        Some(token) => platform.authenticate(&token).await?,
        None => Actor::Visitor(Visitor::anonymous()),
    };
    let visitor = ResolveVisitor { jwt_token: None, unsigned_claims: Some(claims(asked)) };
    let ask = ResolveUrl { url, redirect_on_error: None, visitor: Some(visitor) };
    platform.as_actor(&actor).resolve_url(&ask).await
}

/// Returns the audience of anonymous visitors: the site and the share link that they used.
fn anonymous_audience(content: &ResolvedContent) -> String {
    format!("{} {}", content.site, content.share_key.as_deref().unwrap_or_default())
}

/// Returns the options for page trees, which show no variables.
fn page_tree_options() -> ContentOptions {
    ContentOptions { variables: false, ..ContentOptions::default() }
}

/// Builds the page tree of the content of a space.
async fn build_page_tree(content: &ContentSnapshot) -> Result<PageTree> {
    let pages = content.pages(page_tree_options()).await?;
    tokio::task::spawn_blocking(|| PageTree::from_pages(pages)).await.map_err(Error::internal)
}

impl Visit {
    /// Resolves a request. `kept` gives anonymous requests access to the caches.
    ///
    /// # Errors
    /// `NotFound` if nothing is published at the URL or nothing is visible to this visitor; `Unauthenticated` if a
    /// token that a sign-in has just passed is invalid.
    pub(crate) async fn resolve(
        platform: &Platform,
        asked: &SiteRequest<'_>,
        path: &str,
        kept: Option<CacheScope<'_>>,
    ) -> Result<Arrival> {
        let url = PublishedUrl::new(format!("{}{path}", asked.origin));
        let url = url.map_err(|_| Error::not_found("published content"))?;
        if let Some(kept) = &kept
            && let Some(arrival) = Self::resolve_open_site(platform, &url, kept).await?
        {
            return Ok(arrival);
        }
        let handed = asked.parameter_token().or_else(|| asked.visitor_token());
        let token = handed.clone().or_else(|| asked.cookie_token());
        let has_token = token.is_some();
        let resolved = match asked.is_preview {
            true => resolve_preview(platform, asked, url, token).await?,
            false => {
                let visitor = ResolveVisitor { jwt_token: token, unsigned_claims: Some(claims(asked)) };
                // A visitor with an expired token is redirected to the sign-in. For a new but invalid token, this would
                // be a redirect loop.
                let redirect_on_error = Some(handed.is_none());
                platform.resolve_url(&ResolveUrl { url, redirect_on_error, visitor: Some(visitor) }).await?
            }
        };
        let content = match resolved {
            ResolvedUrl::Content(content) => *content,
            ResolvedUrl::Redirect(to) => return Ok(Arrival::from_redirect(to)),
        };
        let actor = platform.authenticate(&content.api_token).await?;
        let is_known = has_token || content.context_id.is_some() || content.preview.is_some();
        let kept = kept.as_ref().filter(|_| !is_known && content.share_key.is_none());
        let site = find_site(platform, &actor, &content, kept).await?;
        let audience = match is_known {
            // File URLs contain the token of an authenticated visitor, so content is cached per token. The context id
            // covers the effect of the visitor's claims.
            true => {
                let context = content.context_id.as_deref().unwrap_or_default();
                let known = format!("{} {context}", content.api_token);
                blake3::hash(known.as_bytes()).to_hex().to_string()
            }
            false => anonymous_audience(&content),
        };
        Ok(Arrival::Here(Box::new(Self {
            platform: platform.clone(),
            actor,
            moment: kept.map(|kept| kept.moment),
            open: None,
            audience: audience.into(),
            is_for_all: site.site.visibility.is_for_everybody() && !is_known,
            preview: None,
            copy: None,
            budgets: ConditionBudgets::default(),
            found: content,
            site,
        })))
    }

    /// Resolves an anonymous request to a public site. The access grant is read once per store version.
    /// Returns `None` if the site is not public.
    async fn resolve_open_site(
        platform: &Platform,
        url: &PublishedUrl,
        kept: &CacheScope<'_>,
    ) -> Result<Option<Arrival>> {
        let open = match kept.caches.open_site(&kept.start, kept.moment) {
            Some(open) => open,
            None => {
                let open = OpenSite::find(platform, url).await?.map(Arc::new);
                kept.caches.store_open_site(kept.start.clone(), kept.moment, open.clone());
                open
            }
        };
        let Some(open) = open else { return Ok(None) };
        let content = match open.resolve(url).await? {
            Some(ResolvedUrl::Content(content)) => *content,
            Some(ResolvedUrl::Redirect(to)) => return Ok(Some(Arrival::from_redirect(to))),
            None => return Ok(None),
        };
        let actor = Actor::Visitor(open.visitor().clone());
        let site = find_site(platform, &actor, &content, Some(kept)).await?;
        Ok(Some(Arrival::Here(Box::new(Self {
            platform: platform.clone(),
            actor,
            moment: Some(kept.moment),
            open: Some(open),
            audience: anonymous_audience(&content).into(),
            is_for_all: site.site.visibility.is_for_everybody(),
            preview: None,
            copy: None,
            budgets: ConditionBudgets::default(),
            found: content,
            site,
        }))))
    }

    /// Returns the customization of a space.
    pub(crate) fn customization(&self, space: &SiteSpaceId) -> &Customization {
        self.site.customization(space)
    }

    /// Returns the title of the site in a customization.
    pub(crate) fn site_title<'v>(&'v self, look: &'v Customization) -> &'v str {
        let title = look.title.as_ref().unwrap_or(&self.site.site.title).as_str();
        let language = look.internationalization.locale.language();
        look.localized_title.as_ref().map_or(title, |variants| variants.choose(language, title))
    }

    /// Returns the title of the site.
    pub(crate) fn title(&self) -> &str {
        self.site_title(&self.site.customizations.site)
    }

    /// Returns the handle for further reads of the site.
    fn handle(&self) -> SiteHandle<'_> {
        let site = self.platform.as_actor(&self.actor).org(&self.found.organization).site(&self.found.site);
        site.with_share_key(self.found.share_key.as_deref())
    }

    /// Returns the organization of the site for a queue.
    pub(crate) async fn tenant(&self) -> Result<Tenant> {
        self.platform.tenant(&self.found.organization).await
    }

    /// Converts the visit for a static export.
    pub(crate) fn into_export(self, copy: StaticExport) -> Self {
        Self { copy: Some(copy), ..self }
    }

    /// Returns `true` if the URL of the site is known. It may be unknown for a static export.
    pub(crate) fn has_address(&self) -> bool {
        self.copy.as_ref().is_none_or(|copy| copy.url.is_some())
    }

    /// Returns `true` if the site can be searched. A static export has no search. The search index only covers live
    /// content, so a preview cannot be searched.
    pub(crate) const fn is_searched(&self) -> bool {
        self.copy.is_none() && self.preview.is_none()
    }

    /// Returns the URL of a path below the site. In a static export, the URLs of pages are folders with a trailing
    /// slash.
    pub(crate) fn address(&self, base: &str, below: &str) -> String {
        let (path, anchor) = below.split_at(below.find('#').unwrap_or(below.len()));
        let is_folder = self.copy.is_some() && !path.is_empty() && !path.ends_with('/');
        format!("{base}{path}{}{anchor}", if is_folder { "/" } else { "" })
    }

    pub(crate) const fn actor(&self) -> &Actor {
        &self.actor
    }

    pub(crate) const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// Replaces the live content of one space with a preview.
    pub(crate) fn with_preview(mut self, preview: Preview) -> Self {
        let whole = self.found.canonical_url.as_str();
        let base = whole.strip_suffix(self.found.pathname.as_str()).unwrap_or(whole).trim_end_matches('/');
        self.found.canonical_url = format!("{base}/{}", preview.path);
        self.found.pathname = "/".to_owned();
        self.found.base_path.push_str(&preview.path);
        Self { is_for_all: false, preview: Some(preview), ..self }
    }

    /// Returns the content of a space.
    pub(crate) fn content<'v>(&'v self, space: &'v SpaceId) -> ContentHandle<'v> {
        match self.preview.as_ref().filter(|preview| preview.space == *space) {
            None => self.platform.as_actor(&self.actor).space(space).content(),
            Some(preview) => match &preview.version {
                Version::Request(name) => self.member_space(preview).change_request(name).content(),
                Version::Revision(id) => self.member_space(preview).revision(id),
            },
        }
    }

    /// Finds the content of a space for reads of its parts. The conditions of all spaces that a request reads share
    /// their budgets. Each space of a static export has its own.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the space.
    pub(crate) async fn snapshot(&self, space: &SpaceId) -> Result<ContentSnapshot> {
        match &self.copy {
            Some(_) => self.content(space).snapshot().await,
            None => self.content(space).snapshot_within(&self.budgets).await,
        }
    }

    /// Returns `true` if the budgets for conditions are used up, so that content may be missing. The response must then
    /// not be cached.
    pub(crate) fn is_limited(&self) -> bool {
        self.budgets.are_exhausted()
    }

    /// Returns the space of a preview, with the access of the member.
    pub(crate) fn member_space<'v>(&'v self, preview: &'v Preview) -> SpaceHandle<'v> {
        self.platform.as_actor(&preview.actor).space(&preview.space)
    }

    /// Returns the document of a page as seen by the visitor, at the given revision or a later one. Returns `None` for
    /// a page without content.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the page.
    pub(crate) async fn page_document(
        &self,
        space: &SpaceId,
        revision: &RevisionId,
        page: &PageId,
    ) -> Result<Option<ShownDocument>> {
        // The cached grant is only used if it covers the revision. Otherwise, older content would be cached under the
        // key of the newer revision.
        match self.open.as_ref().filter(|open| self.is_live() && open.shows(space, revision)) {
            Some(open) => open.find_page_document(space, page, Evaluated::Yes).await,
            None => self.content(space).find_page_document(page, Evaluated::Yes).await,
        }
    }

    /// Returns `true` if the visit is neither a preview nor a static export.
    pub(crate) const fn is_live(&self) -> bool {
        self.preview.is_none() && self.copy.is_none()
    }

    /// Returns the spaces of the site.
    pub(crate) fn places(&self) -> Vec<SitePlace<'_>> {
        let mut places = places(&self.site);
        if let Some(preview) = &self.preview {
            let previewed = places.iter_mut().filter(|place| place.space.space.id == preview.space);
            previewed.for_each(|place| place.path.push_str(&preview.path));
        }
        places
    }

    /// Returns the space of the requested URL.
    ///
    /// # Errors
    /// `NotFound` if the space was removed from the site in the meantime.
    pub(crate) fn place(&self) -> Result<SitePlace<'_>> {
        let places = self.places();
        let place = find_place(&places, &self.found.site_space).cloned();
        place.ok_or_else(|| Error::not_found("published content"))
    }

    /// Returns the URLs of the site, as seen from one of its spaces.
    pub(crate) fn addresses(&self, place: &SitePlace<'_>) -> Addresses {
        let addresses = Addresses::new(&self.places(), &self.found.site_base_path, &place.space.space.id);
        addresses.with_image_schemes(self.loads())
    }

    /// Returns the URL schemes of external images that pages load. http is allowed if the site itself is served over
    /// http, or if the URL of an export is unknown.
    pub(crate) fn loads(&self) -> ImageSchemes {
        let served = match &self.copy {
            Some(copy) => copy.url.as_deref().unwrap_or("http:"),
            None => self.platform.urls().base(),
        };
        if served.starts_with("http:") { ImageSchemes::Any } else { ImageSchemes::Encrypted }
    }

    /// Returns the canonical URL of the site with a trailing slash, or an empty string if it is unknown.
    pub(crate) fn canonical_base(&self, place: &SitePlace<'_>) -> String {
        if let Some(copy) = &self.copy {
            return copy.url.clone().unwrap_or_default();
        }
        let whole = self.found.canonical_url.as_str();
        let base = whole.strip_suffix(self.found.pathname.as_str()).unwrap_or(whole);
        let base = format!("{}/", base.trim_end_matches('/'));
        base.strip_suffix(&place.path).unwrap_or(&base).to_owned()
    }

    /// Returns the page tree of a space.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the space.
    pub(crate) async fn page_tree(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
    ) -> Result<Arc<PageTree>> {
        Ok(self.keyed_page_tree(caches, place).await?.1)
    }

    /// Returns the cache key of the page tree of a space without computed pages.
    pub(crate) fn page_tree_key(&self, place: &SitePlace<'_>) -> PageTreeKey {
        PageTreeKey {
            audience: Arc::clone(&self.audience),
            space: place.space.space.id.clone(),
            revision: place.space.space.revision.clone(),
            computed: None,
        }
    }

    /// Returns the page tree of a space, with its cache key.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the space.
    pub(crate) async fn keyed_page_tree(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
    ) -> Result<(PageTreeKey, Arc<PageTree>)> {
        if let Some(cached) = self.cached_page_tree(caches, place) {
            return Ok(cached);
        }
        let content = self.snapshot(&place.space.space.id).await?;
        self.page_tree_of(caches, place, &content).await
    }

    /// Returns the page tree of a space without computed pages, with its cache key, if it is cached.
    pub(crate) fn cached_page_tree(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
    ) -> Option<(PageTreeKey, Arc<PageTree>)> {
        // Only trees without computed pages are cached under a key without the ETag.
        let key = self.page_tree_key(place);
        let frame = caches.known_page_tree(&key).filter(|_| !self.is_previewed(&key.space))?;
        Some((key, frame))
    }

    /// Returns the page tree of the content of a space, with its cache key.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn page_tree_of(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
        content: &ContentSnapshot,
    ) -> Result<(PageTreeKey, Arc<PageTree>)> {
        if self.is_previewed(&place.space.space.id) {
            // The tag depends on the content and the visible pages, not on the revision in the site record.
            let tag = content.pages_tag(page_tree_options()).await?;
            return Ok((self.page_tree_key(place), self.tagged_page_tree(caches, &tag, content).await?));
        }
        let (key, tag) = self.pages_tag(caches, place, content).await?;
        Ok((key, self.tagged_page_tree(caches, &tag, content).await?))
    }

    /// Returns the page tree of the content of a space, whose pages have this [tag](Self::pages_tag).
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn tagged_page_tree(
        &self,
        caches: &SiteCaches,
        tag: &EntityTag,
        content: &ContentSnapshot,
    ) -> Result<Arc<PageTree>> {
        caches.frames.get_or_build(tag, &self.tenant().await?, build_page_tree(content)).await
    }

    /// Returns the tag of the pages of a space that the visitor sees, with the cache key of its page tree. Visitors
    /// with different claims have equal tags if they see the same pages.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn pages_tag(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
        content: &ContentSnapshot,
    ) -> Result<(PageTreeKey, EntityTag)> {
        // The content may be newer than the site record.
        let (computed, revision) = (content.computed_tag().await?, content.revision().clone());
        let key = PageTreeKey { computed, revision, ..self.page_tree_key(place) };
        if let Some(tag) = caches.page_tags.get(&key) {
            return Ok((key, tag));
        }
        let tag = content.pages_tag(page_tree_options()).await?;
        if !self.is_limited() {
            caches.page_tags.insert(key.clone(), tag.clone());
        }
        Ok((key, tag))
    }

    fn is_previewed(&self, space: &SpaceId) -> bool {
        self.preview.as_ref().is_some_and(|preview| preview.space == *space)
    }

    /// Looks up files of a space. `content` is the content of the space, if it is already open.
    ///
    /// # Errors
    /// `NotFound` if the visitor cannot access the space.
    pub(crate) async fn files(
        &self,
        caches: &SiteCaches,
        place: &SitePlace<'_>,
        content: Option<&ContentSnapshot>,
        ids: Vec<FileId>,
    ) -> Result<SpaceFiles> {
        let base = self.page_tree_key(place);
        let is_cached = !self.is_previewed(&base.space);
        let (mut found, mut missing) = (SpaceFiles::default(), Vec::new());
        for id in ids {
            match caches.file(&base, &id).filter(|_| is_cached) {
                Some(file) => found.insert(id, file),
                None => missing.push(id),
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let opened;
        let content = match content {
            Some(content) => content,
            None => {
                opened = self.snapshot(&base.space).await?;
                &opened
            }
        };
        let read = content.files_by_id(&missing, ContentOptions::default()).await?;
        let mut read: HashMap<FileId, Arc<RevisionFile>> =
            read.into_iter().map(|file| (file.id.clone(), Arc::new(file))).collect();
        // The content may be newer than the site record.
        let key = PageTreeKey { revision: content.revision().clone(), ..base };
        for id in missing {
            let file = read.remove(&id);
            if is_cached && !self.is_limited() {
                caches.store_file(&key, &id, file.clone());
            }
            found.insert(id, file);
        }
        Ok(found)
    }

    /// Resolves a redirect of the site for a path below the site.
    ///
    /// # Errors
    /// Errors of the platform, except `NotFound`, which means that there is no redirect.
    pub(crate) async fn redirect(&self, path: &str) -> Result<Option<ResolvedRedirect>> {
        let Ok(source) = RedirectSource::new(path.trim_end_matches('/')) else { return Ok(None) };
        match self.handle().resolve_redirect(&source).await {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Searches the site.
    ///
    /// # Errors
    /// Errors of the platform.
    pub(crate) async fn search(
        &self,
        search: &SearchSite,
        page: &PageRequest,
    ) -> Result<Vec<docs_core::model::SearchSpaceResult>> {
        Ok(self.handle().search(search, page).await?.items)
    }
}
