//! Views of findings and their pages.

use std::collections::{BTreeMap, HashMap};

use super::examination::{Examination, Finding};
use crate::{
    Error, Result,
    model::{
        Block, BlockKind, ChangedPage, Document, Leaf, MarkKind, Node, PageId, SiteFinding,
        SiteFindingObject, SiteFindingPage, SiteFindingPageObject, SiteFindingTitle, SiteFindingType,
        SiteFindingUrls, TextNode,
    },
    platform::{kernel::platform::Platform, nouns::SiteRef},
};

impl Platform {
    /// Builds the views of findings, in their order. The paths of pages are read in one batch per space.
    pub(super) async fn finding_views(
        &self,
        at: SiteRef<'_>,
        examination: &Examination,
        findings: &[&Finding],
    ) -> Result<Vec<SiteFinding>> {
        let mut wanted: BTreeMap<usize, Vec<PageId>> = BTreeMap::new();
        for finding in findings {
            let page = finding.target.anchor.iter().map(|(page, _)| page.clone());
            wanted.entry(finding.target.space).or_default().extend(page);
        }
        let mut paths: HashMap<(usize, PageId), String> = HashMap::new();
        for (space, pages) in wanted {
            let found = examination.spaces.get(space).1.pages_with_paths(&pages).await?;
            let found = pages.into_iter().zip(found);
            paths.extend(found.filter_map(|(page, found)| Some(((space, page), found?.1))));
        }
        let view = |finding: &&Finding| {
            let label = match &finding.target.anchor {
                Some((page, anchor)) => {
                    let path = paths.get(&(finding.target.space, page.clone()));
                    path.map(|path| format!("/{path}#{anchor}"))
                }
                None => None,
            };
            let label = label.unwrap_or_else(|| finding.target.destination.clone());
            self.labelled_finding_view(at, examination, finding, &label)
        };
        findings.iter().map(view).collect()
    }

    /// Builds the view of a finding.
    pub(super) async fn finding_view(
        &self,
        at: SiteRef<'_>,
        examination: &Examination,
        finding: &Finding,
    ) -> Result<SiteFinding> {
        let mut views = self.finding_views(at, examination, &[finding]).await?;
        views.pop().ok_or_else(|| Error::internal("a finding has a view"))
    }

    fn labelled_finding_view(
        &self,
        at: SiteRef<'_>,
        examination: &Examination,
        finding: &Finding,
        label: &str,
    ) -> Result<SiteFinding> {
        let title = SiteFindingTitle::from_truncated(&format!("Broken link to {label}"));
        let location = self.urls().site_part(at.org, at.site, &format!("findings/{}", finding.id));
        Ok(SiteFinding {
            object: SiteFindingObject::Is,
            id: finding.id.clone(),
            scan: examination.spaces.get(finding.target.space).0.head.clone(),
            topic: None,
            title: title.ok_or_else(|| Error::internal("a title is not empty"))?,
            change_requests: 0,
            pages: finding.target.pages.len() as u64,
            records: 0,
            questions: 0,
            status: finding.status,
            kind: SiteFindingType::BrokenLink,
            severity: finding.severity,
            description: description(finding, label),
            auto_fixable: false,
            created_at: finding.created_at,
            updated_at: finding.updated_at,
            urls: SiteFindingUrls { location },
        })
    }
}

/// Explains a finding in a paragraph.
fn description(finding: &Finding, label: &str) -> Document {
    let sources = match finding.target.pages.len() {
        1 => "1 page links".to_owned(),
        pages => format!("{pages} pages link"),
    };
    let (problem, repair) = match finding.target.anchor {
        Some(_) => ("an anchor that its page does not have", "add the anchor to the page"),
        None => ("a target that does not exist or that you cannot access", "restore the target"),
    };
    let leaves = vec![
        Leaf::new(format!("{sources} to {problem}: "), Vec::new()),
        Leaf::new(label, vec![MarkKind::Code.into()]),
        Leaf::new(format!(". Change or remove the links, or {repair}."), Vec::new()),
    ];
    let text = Node::Text(TextNode::new(leaves));
    Document::new(vec![Block::new(BlockKind::Paragraph { align: None }, vec![text])])
}

/// Builds the views of pages of a finding.
pub(super) async fn pages(
    examination: &Examination,
    finding: &Finding,
    ids: Vec<PageId>,
) -> Result<Vec<SiteFindingPage>> {
    let (space, view) = examination.spaces.get(finding.target.space);
    let found = view.pages_with_paths(&ids).await?;
    let page = |(id, found): (PageId, Option<_>)| {
        let (entry, path): (crate::content::PageEntry, String) = found?;
        let path = Some(path).filter(|path| !path.is_empty());
        let page = ChangedPage { id, kind: entry.kind.into(), title: entry.title, path };
        Some(SiteFindingPage { object: SiteFindingPageObject::Is, space_id: space.id.clone(), page })
    };
    Ok(ids.into_iter().zip(found).filter_map(page).collect())
}
