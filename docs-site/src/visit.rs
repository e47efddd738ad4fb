//! A visit: who came to which site, and what of it they may read.

use std::{
    collections::HashMap,
    ops::Deref,
    sync::{Arc, OnceLock},
};

use docs_core::{
    Actor, Error, ErrorKind, Platform, Result,
    content::Evaluated,
    model::{
        Customization, ElsewhereTarget, PageId, PublishedSite, PublishedUrl, RedirectSource, ResolveUrl,
        ResolveVisitor, ResolvedContent, ResolvedElsewhere, ResolvedUrl, RevisionId, SearchSite, SiteSpaceId,
        SpaceId,
    },
    platform::{ContentHandle, Moment, OpenSite, Shown, ShownDocument, SiteHandle, SpaceHandle},
    store::PageRequest,
};

use crate::{
    address::{Addresses, Loads, Place, find_place, places},
    cache::{Caches, FrameKey, SiteStart},
    claims::claims,
    frame::Frame,
    preview::{Preview, Version},
    request::Asked,
    theme::Sheet,
};

/// What a request leads to.
#[derive(Debug)]
pub(crate) enum Arrival {
    /// Content of a site.
    Here(Box<Visit>),
    /// Other content, for good until the site changes.
    Moved(String),
    /// Where visitors sign in.
    SignIn(String),
}

/// What is kept for strangers.
#[derive(Debug)]
pub(crate) struct Kept<'c> {
    /// When they came: it was asked for before anything was read.
    pub(crate) moment: Moment,
    /// What was found out in that moment.
    pub(crate) caches: &'c Caches,
    /// Where their request may begin to name a site.
    pub(crate) start: SiteStart,
}

/// Who came to which site, and what of it they may read.
#[derive(Debug)]
pub(crate) struct Visit {
    platform: Platform,
    actor: Actor,
    pub(crate) found: ResolvedContent,
    pub(crate) site: Arc<KnownSite>,
    /// When it was found out, or before, where the visitor is a stranger.
    pub(crate) moment: Option<Moment>,
    /// What lets them in, where that is kept for the moment.
    open: Option<Arc<OpenSite>>,
    /// Equal for visitors who are told the same.
    audience: Arc<str>,
    /// Whether everybody is told the same, so that shared caches may keep it.
    pub(crate) is_for_all: bool,
    /// What is shown in place of the live content of a space.
    pub(crate) preview: Option<Preview>,
    /// What is made where pages become files, which no server of ours answers.
    pub(crate) copy: Option<Copied>,
}

/// All that a visitor is told of a site, and what follows from it.
#[derive(Debug)]
pub(crate) struct KnownSite {
    published: PublishedSite,
    /// Names all that is known of the site.
    pub(crate) hash: blake3::Hash,
    /// How many bytes it has as JSON.
    size: usize,
    /// The style sheet of the site, and of each space that has a look of its own, once one was asked for.
    sheets: HashMap<Option<SiteSpaceId>, OnceLock<Sheet>>,
}

impl Deref for KnownSite {
    type Target = PublishedSite;

    fn deref(&self) -> &PublishedSite {
        &self.published
    }
}

impl KnownSite {
    fn of(published: PublishedSite) -> Result<Self> {
        let known = serde_json::to_vec(&published).map_err(Error::internal)?;
        let own = published.customizations.site_spaces.keys().cloned().map(Some);
        let sheets = own.chain([None]).map(|look| (look, OnceLock::new())).collect();
        Ok(Self { hash: blake3::hash(&known), size: known.len(), sheets, published })
    }

    /// The site that an address leads to, as it is kept or as it is read.
    async fn find(
        platform: &Platform,
        (actor, content): (&Actor, &ResolvedContent),
        kept: Option<&Kept<'_>>,
    ) -> Result<Arc<Self>> {
        if let Some(site) = kept.and_then(|kept| kept.caches.site(&content.site, kept.moment)) {
            return Ok(site);
        }
        let site = platform.as_actor(actor).org(&content.organization).site(&content.site);
        let site = Self::of(site.with_share_key(content.share_key.as_deref()).published().await?)?;
        Ok(match kept {
            Some(kept) => kept.caches.keep_site(&content.site, kept.moment, site),
            None => Arc::new(site),
        })
    }

    /// How a space of the site looks.
    fn look(&self, space: &SiteSpaceId) -> &Customization {
        let looks = &self.published.customizations;
        looks.site_spaces.get(space).unwrap_or(&looks.site)
    }

    /// The style sheet of a space of the site.
    pub(crate) fn sheet(&self, space: &SiteSpaceId) -> Sheet {
        let own = self.sheets.get(&Some(space.clone())).or_else(|| self.sheets.get(&None));
        let sheet = || Sheet::of(self.look(space));
        own.map_or_else(sheet, |kept| kept.get_or_init(sheet).clone())
    }

    /// About how many bytes it takes: less than as JSON, but for its style sheets.
    pub(crate) fn weight(&self) -> usize {
        self.size + self.sheets.len() * 2048
    }
}

/// A copy of a site as files.
#[derive(Clone, Debug)]
pub(crate) struct Copied {
    /// Where it will be served, with a slash at its end, as far as that is known.
    pub(crate) url: Option<String>,
}

impl Arrival {
    /// Where something else is, or where visitors sign in.
    fn elsewhere(to: ResolvedElsewhere) -> Self {
        match to.target {
            ElsewhereTarget::External => Self::SignIn(to.redirect),
            ElsewhereTarget::Application | ElsewhereTarget::Content => Self::Moved(to.redirect),
        }
    }
}

/// The audience of all of whom nothing is known: the site, and the share link that they came in by.
fn unknown_audience(content: &ResolvedContent) -> String {
    format!("{} {}", content.site, content.share_key.as_deref().unwrap_or_default())
}

impl Visit {
    /// Finds out what a request leads to, for a stranger with what is `kept` for them.
    ///
    /// # Errors
    /// `NotFound` where nothing is published, or nothing for this visitor; `Unauthenticated` for a token that a sign-in
    /// has just handed over and that is not valid.
    pub(crate) async fn of(
        platform: &Platform,
        asked: &Asked<'_>,
        path: &str,
        kept: Option<Kept<'_>>,
    ) -> Result<Arrival> {
        let url = PublishedUrl::new(format!("{}{path}", asked.origin));
        let url = url.map_err(|_| Error::not_found("published content"))?;
        if let Some(kept) = &kept
            && let Some(arrival) = Self::of_open(platform, &url, kept).await?
        {
            return Ok(arrival);
        }
        let handed = asked.handed_token().or_else(|| asked.visitor_token());
        let token = handed.clone().or_else(|| asked.kept_token());
        let has_token = token.is_some();
        let ask = ResolveUrl {
            url,
            // Who came with an old token signs in again; one that is new and wrong would lead round in circles.
            redirect_on_error: Some(handed.is_none()),
            visitor: Some(ResolveVisitor { jwt_token: token, unsigned_claims: Some(claims(asked)) }),
        };
        let content = match platform.resolve_url(&ask).await? {
            ResolvedUrl::Content(content) => *content,
            ResolvedUrl::Redirect(to) => return Ok(Arrival::elsewhere(to)),
        };
        let actor = platform.authenticate(&content.api_token).await?;
        let is_known = has_token || content.context_id.is_some();
        let kept = kept.as_ref().filter(|_| !is_known && content.share_key.is_none());
        let site = KnownSite::find(platform, (&actor, &content), kept).await?;
        let audience = match is_known {
            // Addresses of files end with the token of a visitor who is known, so what holds them is kept as long. What
            // their claims decide is in the id of the context.
            true => {
                let context = content.context_id.as_deref().unwrap_or_default();
                let known = format!("{} {context}", content.api_token);
                blake3::hash(known.as_bytes()).to_hex().to_string()
            }
            false => unknown_audience(&content),
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
            found: content,
            site,
        })))
    }

    /// The same for a stranger on a site that everybody may read: what lets them in is read once in a moment. `None`
    /// for what is no such site.
    async fn of_open(platform: &Platform, url: &PublishedUrl, kept: &Kept<'_>) -> Result<Option<Arrival>> {
        let open = match kept.caches.open(&kept.start, kept.moment) {
            Some(open) => open,
            None => {
                let open = OpenSite::find(platform, url).await?.map(Arc::new);
                kept.caches.keep_open(kept.start.clone(), kept.moment, open.clone());
                open
            }
        };
        let Some(open) = open else { return Ok(None) };
        let content = match open.resolve(url).await? {
            Some(ResolvedUrl::Content(content)) => *content,
            Some(ResolvedUrl::Redirect(to)) => return Ok(Some(Arrival::elsewhere(to))),
            None => return Ok(None),
        };
        let actor = Actor::Visitor(open.visitor().clone());
        let site = KnownSite::find(platform, (&actor, &content), Some(kept)).await?;
        Ok(Some(Arrival::Here(Box::new(Self {
            platform: platform.clone(),
            actor,
            moment: Some(kept.moment),
            open: Some(open),
            audience: unknown_audience(&content).into(),
            is_for_all: site.site.visibility.is_for_everybody(),
            preview: None,
            copy: None,
            found: content,
            site,
        }))))
    }

    /// How a space of the site looks.
    pub(crate) fn look(&self, space: &SiteSpaceId) -> &Customization {
        self.site.look(space)
    }

    /// What the site is called where it looks so.
    pub(crate) fn title_of<'v>(&'v self, look: &'v Customization) -> &'v str {
        look.title.as_ref().unwrap_or(&self.site.site.title).as_str()
    }

    /// What the site is called.
    pub(crate) fn title(&self) -> &str {
        self.title_of(&self.site.customizations.site)
    }

    /// The site, to ask for more of it.
    fn handle(&self) -> SiteHandle<'_> {
        let site = self.platform.as_actor(&self.actor).org(&self.found.organization).site(&self.found.site);
        site.with_share_key(self.found.share_key.as_deref())
    }

    /// The same site for pages that become files.
    pub(crate) fn into_files(self, copy: Copied) -> Self {
        Self { copy: Some(copy), ..self }
    }

    /// Tells whether it is known where the site is: of a copy that may be unknown.
    pub(crate) fn has_address(&self) -> bool {
        self.copy.as_ref().is_none_or(|copy| copy.url.is_some())
    }

    /// Tells whether the site can be searched: a copy has no server that does, and of a preview it finds what is live.
    pub(crate) const fn is_searched(&self) -> bool {
        self.copy.is_none() && self.preview.is_none()
    }

    /// The address of what is below an address of the site. Pages that are files have the addresses of their folders.
    pub(crate) fn address(&self, base: &str, below: &str) -> String {
        let (path, anchor) = below.split_at(below.find('#').unwrap_or(below.len()));
        let is_folder = self.copy.is_some() && !path.is_empty() && !path.ends_with('/');
        format!("{base}{path}{}{anchor}", if is_folder { "/" } else { "" })
    }

    /// The platform that the site is of.
    pub(crate) const fn platform(&self) -> &Platform {
        &self.platform
    }

    /// The same site with a preview in place of the live content of one space.
    pub(crate) fn with_preview(mut self, preview: Preview) -> Self {
        let whole = self.found.canonical_url.as_str();
        let base = whole.strip_suffix(self.found.pathname.as_str()).unwrap_or(whole).trim_end_matches('/');
        self.found.canonical_url = format!("{base}/{}", preview.path);
        self.found.pathname = "/".to_owned();
        self.found.base_path.push_str(&preview.path);
        Self { is_for_all: false, preview: Some(preview), ..self }
    }

    /// The content of a space.
    pub(crate) fn content<'v>(&'v self, space: &'v SpaceId) -> ContentHandle<'v> {
        match self.preview.as_ref().filter(|preview| preview.space == *space) {
            None => self.platform.as_actor(&self.actor).space(space).content(),
            Some(preview) => match &preview.version {
                Version::Request(name) => self.member_space(preview).change_request(name).content(),
                Version::Revision(id) => self.member_space(preview).revision(id),
            },
        }
    }

    /// The space of a preview as its member reads it.
    pub(crate) fn member_space<'v>(&'v self, preview: &'v Preview) -> SpaceHandle<'v> {
        self.platform.as_actor(&preview.actor).space(&preview.space)
    }

    /// The document of a page as the visitor sees it, of a revision of a space or a later one; `None` for a page
    /// without content.
    ///
    /// # Errors
    /// `NotFound` where the page is none of the visitor's.
    pub(crate) async fn page_document(
        &self,
        (space, revision): (&SpaceId, &RevisionId),
        page: &PageId,
    ) -> Result<Option<ShownDocument>> {
        // What was kept before the revision came must not be kept as what that shows.
        match self.open.as_ref().filter(|open| self.is_live() && open.shows(space, revision)) {
            Some(open) => open.find_page_document(space, page, Evaluated::Yes).await,
            None => self.content(space).find_page_document(page, Evaluated::Yes).await,
        }
    }

    /// Tells whether the site is shown as it is, and by this server.
    pub(crate) const fn is_live(&self) -> bool {
        self.preview.is_none() && self.copy.is_none()
    }

    /// The spaces of the site.
    pub(crate) fn places(&self) -> Vec<Place<'_>> {
        let mut places = places(&self.site);
        if let Some(preview) = &self.preview {
            let previewed = places.iter_mut().filter(|place| place.space.space.id == preview.space);
            previewed.for_each(|place| place.path.push_str(&preview.path));
        }
        places
    }

    /// The space that the address is of.
    ///
    /// # Errors
    /// `NotFound` where it was taken from the site just now.
    pub(crate) fn place(&self) -> Result<Place<'_>> {
        let places = self.places();
        let place = find_place(&places, &self.found.site_space).cloned();
        place.ok_or_else(|| Error::not_found("published content"))
    }

    /// The addresses of the site as one of its spaces has them.
    pub(crate) fn addresses(&self, place: &Place<'_>) -> Addresses {
        let addresses = Addresses::new(&self.places(), &self.found.site_base_path, &place.space.space.id);
        addresses.loading(self.loads())
    }

    /// How pages load the pictures of others: where nobody knows from where files will be served, in any way.
    pub(crate) fn loads(&self) -> Loads {
        let served = match &self.copy {
            Some(copy) => copy.url.as_deref().unwrap_or("http:"),
            None => self.platform.urls().base(),
        };
        if served.starts_with("http:") { Loads::Any } else { Loads::Encrypted }
    }

    /// The address of the site that it has besides others, with a slash at its end; blank where it is not known.
    pub(crate) fn canonical_base(&self, place: &Place<'_>) -> String {
        if let Some(copy) = &self.copy {
            return copy.url.clone().unwrap_or_default();
        }
        let whole = self.found.canonical_url.as_str();
        let base = whole.strip_suffix(self.found.pathname.as_str()).unwrap_or(whole);
        let base = format!("{}/", base.trim_end_matches('/'));
        base.strip_suffix(&place.path).unwrap_or(&base).to_owned()
    }

    /// The content of a space of the site.
    ///
    /// # Errors
    /// `NotFound` where it is none of the visitor's.
    pub(crate) async fn frame(&self, caches: &Caches, place: &Place<'_>) -> Result<Arc<Frame>> {
        Ok(self.named_frame(caches, place).await?.1)
    }

    /// The content of a space of the site, with what names it for the caches.
    ///
    /// # Errors
    /// `NotFound` where it is none of the visitor's.
    pub(crate) async fn named_frame(
        &self,
        caches: &Caches,
        place: &Place<'_>,
    ) -> Result<(FrameKey, Arc<Frame>)> {
        let mut key = FrameKey {
            audience: Arc::clone(&self.audience),
            space: place.space.space.id.clone(),
            revision: place.space.space.revision.clone(),
            computed: None,
        };
        let content = self.content(&place.space.space.id);
        if self.preview.as_ref().is_some_and(|preview| preview.space == key.space) {
            return Ok((key, Arc::new(Frame::of(content.get(Shown::default()).await?))));
        }
        // Only what nothing is computed of is kept without that.
        if let Some(frame) = caches.frames.get(&key) {
            return Ok((key, frame));
        }
        key.computed = content.computed_tag().await?;
        let build = async {
            let revision = content.get(Shown::default()).await?;
            let id = revision.id.clone();
            let frame = tokio::task::spawn_blocking(|| Frame::of(revision)).await.map_err(Error::internal)?;
            Ok((id, frame))
        };
        caches.frames.get_or_build(key, build).await
    }

    /// Where a redirect of the site leads from a path below it.
    ///
    /// # Errors
    /// The platform's, but for `NotFound`, which is no redirect.
    pub(crate) async fn redirect(&self, path: &str) -> Result<Option<String>> {
        let Ok(source) = RedirectSource::new(path.trim_end_matches('/')) else { return Ok(None) };
        match self.handle().resolve_redirect(&source).await {
            Ok(found) => Ok(Some(found.target)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Searches the site.
    ///
    /// # Errors
    /// The platform's.
    pub(crate) async fn search(
        &self,
        search: &SearchSite,
        page: &PageRequest,
    ) -> Result<Vec<docs_core::model::SearchSpaceResult>> {
        Ok(self.handle().search(search, page).await?.items)
    }
}
