//! Names that are made from titles: unique, and kept when the title changes.

use std::sync::Arc;

use super::outline::is_same;
use crate::{
    Error, Result,
    content::slugify,
    model::{Basename, SectionId, SiteId, SitePath, Timestamp},
    store::{
        Key, Tx,
        records::{FormerPath, SectionRecord, SiteRecord, SiteSpaceRecord},
    },
};

/// Names tried before chance decides.
const NAMES_TRIED: usize = 20;
/// Most characters of a name.
const MAX_NAME_CHARS: usize = 100;
/// Former paths that are kept of a section or a space.
const FORMER_KEPT: usize = 10;

/// Gives a part of a site another path; the one it had is kept among the former ones.
pub(super) fn rename(
    (path, former): (&mut SitePath, &mut Vec<FormerPath>),
    wanted: SitePath,
    now: Timestamp,
) {
    let left = std::mem::replace(path, wanted);
    if is_same(left.as_str(), path.as_str()) {
        return;
    }
    former.retain(|old| [path.as_str(), left.as_str()].iter().all(|name| !is_same(old.path.as_str(), name)));
    former.insert(0, FormerPath { path: left, until: now });
    former.truncate(FORMER_KEPT);
}

/// A path for a space that its section, or a site without sections, does not have yet.
pub(super) async fn free_place_path(
    tx: &Tx,
    (site, section): (&SiteId, Option<&SectionId>),
    title: &str,
    id: &str,
) -> Result<SitePath> {
    let names = candidates(&named_after(title, "space"));
    let taken = |name: &String| SiteSpaceRecord::by_path(site, section, name);
    SitePath::new(free(tx, names, taken).await?.unwrap_or_else(|| id.to_owned())).map_err(Error::internal)
}

/// A path for a section that its site does not have yet, and that is no address of a space in the default section.
pub(super) async fn free_section_path(
    tx: &Tx,
    site: &SiteId,
    beside: &[Arc<SiteSpaceRecord>],
    title: &str,
    id: &str,
) -> Result<SitePath> {
    let names = candidates(&named_after(title, "section")).into_iter();
    let is_free = |name: &String| !beside.iter().any(|place| is_same(place.path.as_str(), name));
    let taken = |name: &String| SectionRecord::by_path(site, name);
    let name = free(tx, names.filter(is_free).collect(), taken).await?;
    SitePath::new(name.unwrap_or_else(|| id.to_owned())).map_err(Error::internal)
}

/// A base name that no site has yet.
pub(super) async fn free_basename(tx: &Tx, title: &str, salt: uuid::Uuid) -> Result<Basename> {
    let slug: String =
        slugify(title).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let slug = slug.trim_matches('-');
    let names = candidates(if slug.is_empty() { "docs" } else { slug });
    let name = free(tx, names, |name| SiteRecord::by_basename(name)).await?;
    let name = name.unwrap_or_else(|| format!("docs-{}", crate::ports::id_text(salt)));
    Basename::new(name).map_err(Error::internal)
}

/// The slug of a title, where that is a path.
fn named_after(title: &str, otherwise: &str) -> String {
    let slug = slugify(title);
    if SitePath::new(slug.as_str()).is_ok() { slug } else { otherwise.to_owned() }
}

/// The first of these names that leads to nothing yet.
async fn free(tx: &Tx, names: Vec<String>, key: impl Fn(&String) -> Key) -> Result<Option<String>> {
    let keys: Vec<Key> = names.iter().map(key).collect();
    let taken = tx.get_values(&keys).await?;
    Ok(names.into_iter().zip(taken).find(|(_, taken)| taken.is_none()).map(|(name, _)| name))
}

/// A name, and the name with 2, 3 … behind it.
fn candidates(name: &str) -> Vec<String> {
    (1..=NAMES_TRIED)
        .map(|number| {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let kept: String = name.chars().take(MAX_NAME_CHARS - suffix.len()).collect();
            format!("{}{suffix}", kept.trim_end_matches('-'))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ten_paths_are_kept_and_one_that_is_back_leaves_them() {
        let at = Timestamp::new(chrono::DateTime::from_timestamp_millis(0).expect("a time"));
        let new = |path: &str| SitePath::new(path).expect("a path");
        let (mut path, mut former) = (new("p0"), Vec::new());
        let mut go = |to: &str| {
            rename((&mut path, &mut former), new(to), at);
            former.iter().map(|old| old.path.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(go("p1"), ["p0"]);
        assert_eq!(go("P1"), ["p0"], "the case makes no other address");
        assert_eq!(go("p2"), ["P1", "p0"]);
        assert_eq!(go("P0"), ["p2", "P1"]);
        assert_eq!(go("p2"), ["P0", "P1"]);
        for n in 3..20 {
            go(&format!("p{n}"));
        }
        let last: Vec<String> = (10..20).rev().map(|n| format!("p{n}")).collect();
        assert_eq!(go("p20"), last);
    }
}
