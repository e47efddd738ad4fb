//! The content at URLs of published sites and of the application, and the description of embedded URLs.

mod web_page;

use docs_macros::boxed;

use self::web_page::WebPageSummary;
use crate::{
    Error, ErrorKind, Result,
    model::{CollectionId, ContentByUrl, Embed, EmbedType, PublishedUrl, RevisionPage, SiteVisibility},
    platform::{
        content::read::ContentOptions,
        kernel::{
            content_version::{ContentVersion, Version},
            platform::Platform,
        },
        nouns::{Caller, SpaceHandle},
        publishing::{address::WebAddress, outline::SiteOutline, share_links::share_key},
    },
};

/// The target of a URL. The caller need not have access to it.
enum UrlTarget {
    Collection(CollectionId),
    /// A page path within content; empty for the content as a whole.
    Content(ContentVersion, String),
}

impl<'p> Caller<'p> {
    /// Finds the collection, space, change request or page at a URL of the application or of a published site.
    ///
    /// # Errors
    /// `NotFound` for other URLs, and for content that is not visible to the actor; `Invalid` for a malformed URL.
    ///
    /// # Example
    /// ```
    /// # use docs_core::{model::{ContentByUrl, PublishedUrl}, platform::Caller};
    /// # async fn example(me: Caller<'_>) -> Result<(), Box<dyn std::error::Error>> {
    /// let url = PublishedUrl::new("https://docs.example.com/sites/guide/start")?;
    /// if let ContentByUrl::Space { space, .. } = me.find_content(&url).await? {
    ///     println!("{}", space.title);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[boxed]
    pub async fn find_content(self, url: &'p PublishedUrl) -> Result<ContentByUrl> {
        let target = self.platform.url_target(url).await?;
        self.content_at(target.ok_or_else(|| Error::not_found("content at this URL"))?).await
    }

    /// Returns the target of a URL if it is visible to the actor.
    async fn content_at(self, target: UrlTarget) -> Result<ContentByUrl> {
        match target {
            UrlTarget::Collection(id) => {
                let collection = Box::new(self.collection(&id).get().await?);
                Ok(ContentByUrl::Collection { collection })
            }
            UrlTarget::Content(of, path) => {
                let space = Box::new(self.space(&of.space).get().await?);
                let change_request = match &of.version {
                    Version::Request(request) => {
                        Some(Box::new(self.space(&of.space).change_request(request).get().await?))
                    }
                    Version::Live | Version::Revision(_) => None,
                };
                let page = match path.as_str() {
                    "" => None,
                    path => Some(self.content(&of).get_page_by_path(path, ContentOptions::default()).await?),
                };
                let page =
                    page.filter(|page| matches!(page, RevisionPage::Document(_) | RevisionPage::Group(_)));
                Ok(ContentByUrl::Space { space, change_request, page: page.map(Box::new) })
            }
        }
    }

    /// Describes a URL that is embedded in a page. Content of the platform has a title if it is visible to the actor.
    /// The web page at another URL is fetched for its title, description and site, within bounds of time and size, and
    /// cached for an hour. An actor that is not a user reads cached pages only. Without a page, the title is the URL
    /// without scheme, query and fragment.
    ///
    /// # Errors
    /// `Invalid` for a malformed URL.
    #[boxed]
    pub async fn embed(self, url: &'p PublishedUrl) -> Result<Embed> {
        let address = WebAddress::parse("url", url.as_str())?;
        let mut summary = WebPageSummary::default();
        match self.platform.url_target(url).await? {
            Some(target) => match self.content_at(target).await {
                Ok(content) => summary.title = Some(title_of(content)),
                Err(error) if is_hidden(&error) => {}
                Err(error) => return Err(error),
            },
            None if self.platform.is_own_host(&address)? => {}
            None => {
                let actor = self.actor();
                let page = url.as_str().split('#').next().unwrap_or_default();
                let fetched = self.platform.web_page_summary(page, actor.require_user().ok()).await?;
                summary = fetched.unwrap_or_default();
            }
        }
        let WebPageSummary { title, description, site } = summary;
        let title = title.unwrap_or_else(|| {
            let path: String = address.segments.iter().flat_map(|segment| ["/", segment]).collect();
            format!("{}{path}", address.host).chars().filter(|c| !c.is_control()).collect()
        });
        Ok(Embed { kind: EmbedType::Is, title, description, site: site.unwrap_or(address.host) })
    }
}

/// Returns the title of the most specific content at a URL.
fn title_of(content: ContentByUrl) -> String {
    match content {
        ContentByUrl::Collection { collection } => collection.title.to_string(),
        ContentByUrl::Space { page: Some(page), .. } => page.base().title.clone(),
        ContentByUrl::Space { space, page: None, .. } => space.title.to_string(),
    }
}

/// Returns `true` for the errors of content that is not visible to the actor.
fn is_hidden(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Unauthenticated | ErrorKind::Forbidden)
}

impl<'p> SpaceHandle<'p> {
    /// Describes a URL that is embedded in a page of a space, like [`embed`](Caller::embed).
    ///
    /// # Errors
    /// `NotFound` for the space; `Invalid` for a malformed URL.
    #[boxed]
    pub async fn embed(self, url: &'p PublishedUrl) -> Result<Embed> {
        self.get().await?;
        self.caller.embed(url).await
    }
}

impl Platform {
    /// Returns `true` for an address on the host of the application, which serves no foreign pages.
    fn is_own_host(&self, address: &WebAddress) -> Result<bool> {
        Ok(WebAddress::parse("base", &self.urls().app_base())?.host == address.host)
    }

    /// Returns the target of a URL, or `None` if it is neither one of the application nor of a published site.
    async fn url_target(&self, url: &PublishedUrl) -> Result<Option<UrlTarget>> {
        let address = WebAddress::parse("url", url.as_str())?;
        let app = WebAddress::parse("base", &self.urls().app_base())?;
        let below = (address.host == app.host).then(|| address.segments.strip_prefix(&*app.segments));
        match below.flatten() {
            Some(below) => Ok(app_target(&below.iter().map(String::as_str).collect::<Vec<_>>())),
            None => self.site_target(&address).await,
        }
    }

    async fn site_target(&self, address: &WebAddress) -> Result<Option<UrlTarget>> {
        let tx = self.read().await?;
        let Some((site, mut used)) = self.find_mount(&tx, address).await? else { return Ok(None) };
        if !site.published {
            return Ok(None);
        }
        if site.visibility == SiteVisibility::ShareLink
            && let Some(given) = address.segments.get(used)
            && share_key(&tx, &site.id, given).await?.is_some()
        {
            used += 1;
        }
        let outline = SiteOutline::load(&tx, &site).await?;
        let segments: Vec<&str> = address.segments.iter().skip(used).map(String::as_str).collect();
        let found = outline.find(&segments).filter(|found| !outline.is_draft_place(found.place));
        Ok(found.map(|found| {
            let of = ContentVersion::space(found.place.space.clone());
            UrlTarget::Content(of, segments[found.used..].join("/"))
        }))
    }
}

/// Returns the target of these segments below the address of the application.
fn app_target(segments: &[&str]) -> Option<UrlTarget> {
    let (of, path) = match segments {
        ["c", id] => return id.parse().ok().map(UrlTarget::Collection),
        ["s", space, "~", "changes", request, path @ ..] => {
            (ContentVersion::request(space.parse().ok()?, request), path)
        }
        ["s", space, "~", "revisions", revision, path @ ..] => {
            (ContentVersion::revision(space.parse().ok()?, revision.parse().ok()?), path)
        }
        ["s", space, path @ ..] => (ContentVersion::space(space.parse().ok()?), path),
        _ => return None,
    };
    Some(UrlTarget::Content(of, path.join("/")))
}
