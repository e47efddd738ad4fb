//! Imports of websites: the start page, then the linked pages below it.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{
    ImportItems,
    gather::{Draft, Gatherer, MAX_PAGES, conversion_error, is_html},
    links,
    page_url::{PageUrl, Scope},
    warnings::ImportWarnings,
};
use crate::{
    Error, Result,
    content::{run_in_place, yield_to_others},
    model::PageId,
    ports::{ConvertedPage, DocumentFormat, WebResponse},
};

/// Maximum number of requests per import, including those that do not return a page.
const MAX_REQUESTS: usize = 2 * MAX_PAGES;
/// Maximum number of remembered URLs. Larger sites exceed the limits of an import anyway.
const MAX_KNOWN_URLS: usize = 10_000;

/// A breadth-first crawl of a site.
struct Crawl {
    scope: Scope,
    queue: VecDeque<String>,
    /// The keys of all queued URLs.
    seen: HashSet<String>,
    /// The pages in order of discovery.
    pages: Vec<CrawledPage>,
    /// The page index of each URL, for requested URLs and for the URLs they redirect to.
    by_key: HashMap<String, usize>,
    /// The number of discovered pages that could not be fetched.
    missed: u64,
    warnings: ImportWarnings,
}

struct CrawledPage {
    page: ConvertedPage,
    /// The segments of the path.
    parts: Vec<String>,
}

impl Gatherer<'_> {
    /// Crawls a website breadth-first from its start page.
    pub(super) async fn website(&self, url: &str) -> Result<ImportItems> {
        let start = self.get_first(url).await?;
        if !is_html(&start) {
            let told = start.content_type.as_deref().unwrap_or("of an unknown type");
            let what = format!("must be the address of an HTML page, is {told}; choose a matching `source`");
            return Err(Error::invalid("url", what));
        }
        let address =
            PageUrl::parse(&start.url).ok_or_else(|| Error::internal("the final address has no host"))?;
        let mut crawl = Crawl::new(Scope::from_start(&address));
        let page = self.convert(&start, DocumentFormat::Html).await?.map_err(conversion_error)?;
        crawl.seen.insert(address.key());
        crawl.add(&[url, &start.url], page);
        let mut asked = 1;
        while crawl.pages.len() < MAX_PAGES && asked < MAX_REQUESTS {
            let Some(next) = crawl.queue.pop_front() else { break };
            asked += 1;
            match self.get(&next).await? {
                Ok(found) => self.take(&mut crawl, &next, found).await?,
                Err(error) => {
                    crawl.warnings.add(format!("page not imported: {next}: {error}"));
                    crawl.missed += 1;
                }
            }
        }
        if !crawl.queue.is_empty() {
            let count = crawl.queue.len();
            crawl.warnings.add(format!("{count} pages beyond the limits of an import are left out"));
        }
        self.collect(crawl).await
    }

    /// Adds a fetched page if it is new and within the scope of the crawl.
    async fn take(&self, crawl: &mut Crawl, asked: &str, found: WebResponse) -> Result<()> {
        let Some(address) = PageUrl::parse(&found.url).filter(|address| crawl.scope.contains(address)) else {
            return Ok(());
        };
        if let Some(known) = crawl.by_key.get(&address.key()) {
            let known = *known;
            crawl.name(asked, known);
            return Ok(());
        }
        if !is_html(&found) {
            return Ok(());
        }
        match self.convert(&found, DocumentFormat::Html).await? {
            Ok(page) => crawl.add(&[asked, &found.url], page),
            Err(error) => {
                crawl.warnings.add(format!("page not imported: {asked}: {error}"));
                crawl.missed += 1;
            }
        }
        Ok(())
    }

    /// Returns the pages as a tree, with their images.
    async fn collect(&self, mut crawl: Crawl) -> Result<ImportItems> {
        let mut gathered = ImportItems {
            imported: crawl.pages.len() as u64,
            total: crawl.pages.len() as u64 + crawl.missed + crawl.queue.len() as u64,
            warnings: std::mem::take(&mut crawl.warnings),
            ..ImportItems::default()
        };
        let files = self.store_images(crawl.pages.iter().map(|found| &found.page), &mut gathered).await?;
        let ids: Vec<PageId> = crawl.pages.iter().map(|_| self.platform.id()).collect();
        let known = |destination: &str| {
            if let Some(file) = files.get(destination) {
                return Some(format!("/files/{file}"));
            }
            let at = crawl.by_key.get(&PageUrl::parse(destination)?.key())?;
            Some(format!("/pages/{}", ids.get(*at)?))
        };
        for at in crawl.order() {
            let (Some(found), Some(id)) = (crawl.pages.get(at), ids.get(at)) else { continue };
            let markdown = links::rewrite_known_links(&found.page.markdown, known);
            let draft = Draft {
                id: id.clone(),
                parent: crawl.parent(at).and_then(|parent| ids.get(parent).cloned()),
                title: &found.page.title,
                slug: found.parts.last().filter(|_| at > 0).map(|part| links::slug_from_segment(part)),
                markdown: &markdown,
            };
            gathered.push_text(run_in_place(|| draft.edit()));
            yield_to_others().await;
        }
        Ok(gathered)
    }
}

impl Crawl {
    fn new(scope: Scope) -> Self {
        Self {
            scope,
            queue: VecDeque::new(),
            seen: HashSet::new(),
            pages: Vec::new(),
            by_key: HashMap::new(),
            missed: 0,
            warnings: ImportWarnings::default(),
        }
    }

    /// Adds a page under its URLs, of which the last is the final one, and queues its links.
    fn add(&mut self, addresses: &[&str], page: ConvertedPage) {
        let at = self.pages.len();
        for warning in &page.warnings {
            let address = addresses.last().copied().unwrap_or_default();
            self.warnings.add(format!("{address}: {warning}"));
        }
        for address in addresses {
            self.name(address, at);
        }
        for link in &page.links {
            let Some(address) = PageUrl::parse(link).filter(|address| address.is_page()) else { continue };
            if self.seen.len() < MAX_KNOWN_URLS
                && self.scope.contains(&address)
                && self.seen.insert(address.key())
            {
                self.queue.push_back(link.clone());
            }
        }
        let last = addresses.last().and_then(|address| PageUrl::parse(address));
        let parts = last.iter().flat_map(PageUrl::parts).map(str::to_owned).collect();
        self.pages.push(CrawledPage { page, parts });
    }

    fn name(&mut self, url: &str, page: usize) {
        if let Some(address) = PageUrl::parse(url) {
            self.seen.insert(address.key());
            self.by_key.entry(address.key()).or_insert(page);
        }
    }

    /// Returns the parent of a page: the page whose path is the longest prefix of the page's path. The start page is
    /// the first top-level page, like a README, and has no children.
    fn parent(&self, at: usize) -> Option<usize> {
        let parts = &self.pages.get(at)?.parts;
        let others = self.pages.iter().enumerate().skip(1).filter(|_| at > 0);
        let above =
            others.filter(|(_, other)| other.parts.len() < parts.len() && parts.starts_with(&other.parts));
        above.max_by_key(|(_, other)| other.parts.len()).map(|(at, _)| at)
    }

    /// Returns the pages in an order with parents before their children: the start page, then by depth.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.pages.len()).collect();
        order.sort_by_key(|at| (*at > 0, self.pages.get(*at).map_or(0, |found| found.parts.len())));
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_beyond_the_bound_are_not_remembered() {
        let start = "https://a.test/";
        let mut crawl = Crawl::new(Scope::from_start(&PageUrl::parse(start).expect("an address")));
        let links = (0..=MAX_KNOWN_URLS).map(|number| format!("{start}{number}")).collect();
        crawl.add(&[start], ConvertedPage { links, ..ConvertedPage::default() });
        // The start page counts towards the limit.
        assert_eq!((crawl.seen.len(), crawl.queue.len()), (MAX_KNOWN_URLS, MAX_KNOWN_URLS - 1));
    }
}
