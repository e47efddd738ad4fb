//! Resolution of paths through redirects, and of the destinations that requests select.

use std::{slice, sync::Arc};

use docs_macros::boxed;

use super::record::{find, missing_redirect, unknown_destination, view};
use crate::{
    Error, ErrorKind, Result,
    content::View,
    model::{
        PageId, RedirectDestination, RedirectDestinationInput, RedirectId, RedirectSource, ResolvedRedirect,
        SiteId, SiteVisibility, web_url,
    },
    platform::{
        access,
        kernel::{actor::Actor, platform::Platform, urls::percent_encode},
        nouns::{SiteHandle, SiteRef},
        publishing::{share_links, visitors::ContentReader},
        sites::view::VisibleSite,
    },
    policy::SiteAction,
    store::{
        Key, Tx,
        records::{RedirectRecord, SpaceRecord, linked_id},
    },
};

impl<'p> SiteHandle<'p> {
    /// Resolves a path of a site through its redirects to a URL: on the site's mount, unless the destination is
    /// external. If the site is accessed through a share link, a URL on the mount contains its key. A redirect with the
    /// exact path takes precedence over those with a wildcard, and a longer wildcard over a shorter one. Drafts are
    /// ignored.
    ///
    /// # Errors
    ///
    /// `NotFound` if there is no such redirect, or if its destination is deleted or not visible to the actor.
    #[boxed]
    pub async fn resolve_redirect(self, source: &'p RedirectSource) -> Result<ResolvedRedirect> {
        let (platform, ref actor, at, share_key) = self.parts();
        let of = at.with_share_key(share_key);
        let tx = platform.read().await?;
        let opened = platform.load_visible_site(&tx, actor, of).await?;
        let RedirectMatch { redirect, captured } =
            find_match(&tx, of.site, source).await?.ok_or_else(missing_redirect)?;
        if let RedirectDestination::External { url } = &redirect.destination {
            // In the form of a `Location` header, without characters that need encoding.
            let url = web_url::web_url(url.as_str()).ok_or_else(missing_redirect)?;
            let target = append_captured(url.as_str(), &captured);
            return Ok(ResolvedRedirect { redirect: view(&redirect), target });
        }
        let found =
            platform.destination(&tx, &opened, &redirect.destination).await?.ok_or_else(missing_redirect)?;
        // An invalid key has no effect, and sites with another visibility need no key.
        let key = of.share_key.filter(|_| opened.site.visibility == SiteVisibility::ShareLink);
        let key = match key {
            Some(key) => share_links::share_key(&tx, of.site, key).await?.map(|_| key),
            None => None,
        };
        drop(tx);
        let path = found.path().await?.ok_or_else(missing_redirect)?;
        let names: Vec<&str> = found.names.iter().map(String::as_str).collect();
        let path: Vec<String> = path.split('/').map(percent_encode).collect();
        let target = platform.canonical(&opened.site, key, &names) + &path.join("/");
        let target = append_captured(&target, &captured);
        Ok(ResolvedRedirect { redirect: view(&redirect), target })
    }
}

impl Platform {
    /// Returns the destination that a request selects. Rejects one that is not on the site or not visible to the actor.
    pub(super) async fn check_destination(
        &self,
        actor: &Actor,
        of: SiteRef<'_>,
        input: RedirectDestinationInput,
    ) -> Result<RedirectDestination> {
        let tx = self.read().await?;
        access::require_site(&tx, actor, of, SiteAction::Manage).await?;
        let opened = self.load_visible_site(&tx, actor, of.into()).await?;
        self.select_destination(tx, &opened, input).await
    }

    /// Returns the destination that a request selects on a site that was read before.
    pub(super) async fn select_destination(
        &self,
        tx: Tx,
        opened: &VisibleSite,
        input: RedirectDestinationInput,
    ) -> Result<RedirectDestination> {
        let destination = match input {
            RedirectDestinationInput::SiteSection { site_section_id } => {
                RedirectDestination::SiteSection { site_section_id }
            }
            RedirectDestinationInput::SiteSpace { site_space_id } => {
                RedirectDestination::SiteSpace { site_space_id }
            }
            RedirectDestinationInput::SitePage { site_space_id, page_id } => {
                RedirectDestination::SitePage { site_space_id, page_id }
            }
            RedirectDestinationInput::External { url } => return Ok(RedirectDestination::External { url }),
            RedirectDestinationInput::Path { space_id, path } => {
                self.page_at_path(&tx, opened, &space_id, &path).await?
            }
        };
        let found = self.destination(&tx, opened, &destination).await?;
        drop(tx);
        let found = found.ok_or_else(|| unknown_destination(&destination))?;
        match found.path().await? {
            Some(_) => Ok(destination),
            None => Err(Error::invalid("destination.pageId", "must be the id of a page with a path")),
        }
    }

    /// Returns the page with a path in a space on the site.
    async fn page_at_path(
        &self,
        tx: &Tx,
        opened: &VisibleSite,
        space: &str,
        path: &str,
    ) -> Result<RedirectDestination> {
        let unknown = || Error::invalid("destination.spaceId", "must be a space on the site");
        let places = opened.outline.all_places();
        let place = places.into_iter().find(|place| place.space.as_str() == space).ok_or_else(unknown)?;
        let seen = self.view_places(tx, opened, slice::from_ref(&place.id)).await?;
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&place.space)).await?;
        let space = space.filter(|_| seen.place(place).is_some()).ok_or_else(unknown)?;
        let view = self.content().view(&space.domain, space.root);
        let missing = || Error::invalid("destination.path", "must be the path of a page of the space");
        let (page_id, entry) = view.find(path.trim_matches('/')).await?.ok_or_else(missing)?;
        match not_found_to_none(
            seen.reader(place).content_filter(&view).await?.require(&page_id, &entry).await,
        )? {
            Some(()) => Ok(RedirectDestination::SitePage { site_space_id: place.id.clone(), page_id }),
            None => Err(missing()),
        }
    }

    /// Resolves a destination. Returns `None` if it does not exist or is not visible to the reader.
    async fn destination<'d>(
        &self,
        tx: &Tx,
        opened: &VisibleSite,
        destination: &'d RedirectDestination,
    ) -> Result<Option<ResolvedDestination<'d>>> {
        let outline = &opened.outline;
        let (place, names, page) = match destination {
            RedirectDestination::SiteSection { site_section_id: id } => {
                let names = outline.section(id).map(|section| outline.section_segments(section));
                (outline.default_place_in(Some(id)), names, None)
            }
            RedirectDestination::SiteSpace { site_space_id: id } => (outline.place(id), None, None),
            RedirectDestination::SitePage { site_space_id: id, page_id } => {
                (outline.place(id), None, Some(page_id))
            }
            RedirectDestination::External { .. } => return Ok(None),
        };
        let Some(place) = place else { return Ok(None) };
        let seen = self.view_places(tx, opened, slice::from_ref(&place.id)).await?;
        if seen.place(place).is_none() {
            return Ok(None);
        }
        let names = names.unwrap_or_else(|| outline.place_segments(place));
        let names = names.into_iter().map(str::to_owned).collect();
        let Some(page) = page else { return Ok(Some(ResolvedDestination { names, page: None })) };
        let space: Option<Arc<SpaceRecord>> = tx.get(&SpaceRecord::key_for(&place.space)).await?;
        let Some(space) = space else { return Ok(None) };
        let view = self.content().view(&space.domain, space.root);
        Ok(Some(ResolvedDestination { names, page: Some((view, page, seen.reader(place))) }))
    }
}

/// A resolved destination: the path segments of a place in the site, and the page if the destination is a page there.
struct ResolvedDestination<'d> {
    names: Vec<String>,
    page: Option<(View, &'d PageId, ContentReader)>,
}

impl ResolvedDestination<'_> {
    /// Returns the path of the page, or `None` if it does not exist or is not visible to the reader.
    async fn path(&self) -> Result<Option<String>> {
        let Some((view, id, reader)) = &self.page else { return Ok(Some(String::new())) };
        let Some(entry) = view.page(id).await? else { return Ok(None) };
        match not_found_to_none(reader.content_filter(view).await?.require(id, &entry).await)? {
            Some(()) => Ok(view.path_of(id).await?),
            None => Ok(None),
        }
    }
}

fn not_found_to_none<T>(found: Result<T>) -> Result<Option<T>> {
    match found {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// A redirect that applies to a path.
struct RedirectMatch {
    redirect: Arc<RedirectRecord>,
    /// The text to append to the destination. Empty unless the redirect captures the text of its wildcard.
    captured: String,
}

/// Returns the redirect that applies to a path.
async fn find_match(tx: &Tx, site: &SiteId, path: &RedirectSource) -> Result<Option<RedirectMatch>> {
    let mut sources = vec![(path.normalized(), String::new())];
    if tx.number(&RedirectRecord::count_wildcards_in(site)).await? > 0 {
        sources.extend(path.wildcards());
    }
    let keys: Vec<Key> = sources.iter().map(|(source, _)| RedirectRecord::by_source(site, source)).collect();
    let found = tx.get_values(&keys).await?;
    for (id, (_, matched)) in found.into_iter().zip(sources) {
        let Some(id) = id else { continue };
        let id: RedirectId = linked_id(&id)?;
        let redirect = find(tx, site, &id).await?;
        let captured = match redirect.capture_wildcard && !matched.is_empty() {
            true if redirect.source.as_str().ends_with("/*") => format!("/{matched}"),
            true => matched,
            false => String::new(),
        };
        return Ok(Some(RedirectMatch { redirect, captured }));
    }
    Ok(None)
}

/// Appends text to the path of a URL, before its query and fragment. The text never becomes a part of the host.
fn append_captured(url: &str, captured: &str) -> String {
    if captured.is_empty() {
        return url.to_owned();
    }
    let (path, rest) = url.split_at(url.find(['?', '#']).unwrap_or(url.len()));
    let is_bare_host = path.split_once("://").is_none_or(|(_, rest)| !rest.contains('/'));
    let (path, separator) = match captured.starts_with('/') {
        true => (path.strip_suffix('/').unwrap_or(path), ""),
        false => (path, if is_bare_host { "/" } else { "" }),
    };
    format!("{path}{separator}{captured}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn captured_text_extends_the_path_and_never_the_host() {
        for (url, captured, expected) in [
            ("https://x.example/a", "/b/c", "https://x.example/a/b/c"),
            ("https://x.example/a/", "/b", "https://x.example/a/b"),
            ("https://x.example/a?q=/#f/", "/b", "https://x.example/a/b?q=/#f/"),
            ("https://x.example/a", "-old", "https://x.example/a-old"),
            ("https://x.example/a/", "-old", "https://x.example/a/-old"),
            ("https://x.example", ".evil.example", "https://x.example/.evil.example"),
            ("https://x.example?q", "/b", "https://x.example/b?q"),
            ("https://x.example", "/b", "https://x.example/b"),
            ("https://x.example/a", "", "https://x.example/a"),
        ] {
            assert_eq!(append_captured(url, captured), expected, "{url} {captured}");
        }
    }
}
