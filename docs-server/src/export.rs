//! `docs-server export SITE --to DIR [--url URL]`: exports a public site as static files.

use std::{
    fs::{File, create_dir_all},
    io::{self, Write as _},
    path::{Component, Path, PathBuf},
};

use docs_core::{Platform, model::Site, platform::SiteFilter, store::PageRequest};
use docs_site::{ExportOptions, ExportTarget, SiteConfig, Sites};
use url::Url;

use crate::{ServerConfig, ServerError, adapters};

/// Exports a site as files into an empty or new folder, and prints a summary.
///
/// # Errors
/// - [`ServerError::Flag`] for a flag with an invalid value.
/// - `NotFound` if the site does not exist, `Forbidden` if it is not public.
pub(crate) async fn export(
    config: &ServerConfig,
    site: &str,
    to: &Path,
    url_of_copy: Option<Url>,
) -> Result<(), ServerError> {
    let options = url_of_copy.map_or_else(ExportOptions::default, ExportOptions::for_url);
    let platform = adapters::export_platform(config).await?;
    let url = find_site_url(&platform, site).await?;
    let path = Url::parse(&url).map_err(ServerError::from_error)?.path().to_owned();
    let mut folder = Folder::new(to)?;
    let done = Sites::new(&platform, SiteConfig::default())?.export(&path, &options, &mut folder).await?;
    for link in &done.broken {
        eprintln!("/{}: broken link to {}", link.page, link.target);
    }
    println!(
        "{}: {} pages and {} files of {url}; {} broken links",
        to.display(),
        done.pages,
        done.files,
        done.broken.len()
    );
    Ok(())
}

/// Returns the URL of the site with this id or URL name.
async fn find_site_url(platform: &Platform, site: &str) -> Result<String, ServerError> {
    let mut orgs = PageRequest::default();
    loop {
        let page = platform.as_platform().orgs().list(&orgs).await?;
        for org in &page.items {
            if let Some(found) = find(platform, &org.id, site).await? {
                let why = || ServerError::from_error(format!("{site}: the site is not published"));
                return found.urls.published.ok_or_else(why);
            }
        }
        orgs.page = page.next;
        if orgs.page.is_none() {
            return Err(ServerError::from_error(format!(
                "{site}: must be the id of a site or the name in its address"
            )));
        }
    }
}

async fn find(
    platform: &Platform,
    org: &docs_core::model::OrgId,
    wanted: &str,
) -> Result<Option<Site>, ServerError> {
    let (filter, mut page) = (SiteFilter::default(), PageRequest::default());
    loop {
        let sites = platform.as_platform().org(org).sites().list(&filter, &page).await?;
        let is_wanted = |site: &Site| {
            let name = site.urls.published.as_deref().map(|url| url.trim_end_matches('/').rsplit('/').next());
            site.id.as_str() == wanted || name.flatten() == Some(wanted)
        };
        if let Some(site) = sites.items.into_iter().find(is_wanted) {
            return Ok(Some(site));
        }
        page.page = sites.next;
        if page.page.is_none() {
            return Ok(None);
        }
    }
}

/// The folder for exported files.
struct Folder {
    root: PathBuf,
    /// The file being written, because its content may arrive in chunks.
    open: Option<(String, File)>,
}

impl Folder {
    fn new(root: &Path) -> Result<Self, ServerError> {
        let cannot =
            |why: io::Error| ServerError::for_flag("--to", format_args!("{}: {why}", root.display()));
        create_dir_all(root).map_err(cannot)?;
        if std::fs::read_dir(root).map_err(cannot)?.next().is_some() {
            let why = format_args!("{}: must be empty or new", root.display());
            return Err(ServerError::for_flag("--to", why));
        }
        Ok(Self { root: root.to_owned(), open: None })
    }
}

impl ExportTarget for Folder {
    fn write(&mut self, path: &str, bytes: &[u8]) -> io::Result<()> {
        if self.open.as_ref().is_none_or(|(open, _)| open != path) {
            let below = Path::new(path);
            // Paths are derived from page titles and must not escape the folder.
            if !below.components().all(|part| matches!(part, Component::Normal(_))) {
                return Err(io::Error::other(format!("{path}: must be a path within the folder")));
            }
            let place = self.root.join(below);
            if let Some(folder) = place.parent() {
                create_dir_all(folder)?;
            }
            self.open = Some((path.to_owned(), File::create(place)?));
        }
        match &mut self.open {
            Some((_, file)) => file.write_all(bytes),
            None => Ok(()),
        }
    }
}
