//! Unique paths derived from titles. They do not change when the title changes.

use std::sync::Arc;

use crate::{
    Error, Result,
    content::slugify,
    model::{Basename, SectionId, SiteId, SitePath, Timestamp},
    platform::publishing::outline::is_same_path,
    store::{
        Key, Tx,
        records::{FormerPath, SectionRecord, SiteRecord, SiteSpaceRecord},
    },
};

/// Number of numbered names tried before the fallback.
const NAMES_TRIED: usize = 20;
/// Maximum length of a name, in characters.
const MAX_NAME_CHARS: usize = 100;
/// Number of former paths stored per section or space.
const MAX_FORMER_PATHS: usize = 10;

/// Changes the path of a part of a site and records the previous path.
pub(super) fn rename(path: &mut SitePath, former: &mut Vec<FormerPath>, wanted: SitePath, now: Timestamp) {
    let left = std::mem::replace(path, wanted);
    if is_same_path(left.as_str(), path.as_str()) {
        return;
    }
    former.retain(|old| {
        [path.as_str(), left.as_str()].iter().all(|name| !is_same_path(old.path.as_str(), name))
    });
    former.insert(0, FormerPath { path: left, until: now });
    former.truncate(MAX_FORMER_PATHS);
}

/// Returns a path for a space that is not taken in its section, or in a site without sections.
pub(in crate::platform) async fn free_place_path(
    tx: &Tx,
    site: &SiteId,
    section: Option<&SectionId>,
    title: &str,
    id: &str,
) -> Result<SitePath> {
    let names = candidates(&slug_or_default(title, "space"));
    let taken = |name: &String| SiteSpaceRecord::by_path(site, section, name);
    SitePath::new(first_unused(tx, names, taken).await?.unwrap_or_else(|| id.to_owned()))
        .map_err(Error::internal)
}

/// Returns a path for a section that is not taken on its site and does not shadow a space in the default section.
pub(super) async fn free_section_path(
    tx: &Tx,
    site: &SiteId,
    beside: &[Arc<SiteSpaceRecord>],
    title: &str,
    id: &str,
) -> Result<SitePath> {
    let names = candidates(&slug_or_default(title, "section")).into_iter();
    let is_free = |name: &String| !beside.iter().any(|place| is_same_path(place.path.as_str(), name));
    let taken = |name: &String| SectionRecord::by_path(site, name);
    let name = first_unused(tx, names.filter(is_free).collect(), taken).await?;
    SitePath::new(name.unwrap_or_else(|| id.to_owned())).map_err(Error::internal)
}

/// Returns a base name not taken by any site.
pub(in crate::platform) async fn free_basename(tx: &Tx, title: &str, salt: uuid::Uuid) -> Result<Basename> {
    let slug: String =
        slugify(title).chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let slug = slug.trim_matches('-');
    let names = candidates(if slug.is_empty() { "docs" } else { slug });
    let name = first_unused(tx, names, |name| SiteRecord::by_basename(name)).await?;
    let name = name.unwrap_or_else(|| format!("docs-{}", crate::ports::id_text(salt)));
    Basename::new(name).map_err(Error::internal)
}

/// Returns the slug of a title if it is a valid path, otherwise the default.
fn slug_or_default(title: &str, otherwise: &str) -> String {
    let slug = slugify(title);
    if SitePath::new(slug.as_str()).is_ok() { slug } else { otherwise.to_owned() }
}

/// Returns the first name that is not taken.
async fn first_unused(tx: &Tx, names: Vec<String>, key: impl Fn(&String) -> Key) -> Result<Option<String>> {
    let keys: Vec<Key> = names.iter().map(key).collect();
    let taken = tx.get_values(&keys).await?;
    Ok(names.into_iter().zip(taken).find(|(_, taken)| taken.is_none()).map(|(name, _)| name))
}

/// Returns a name, followed by the name with the suffixes 2, 3, and so on.
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
    fn former_paths_exclude_the_current_and_are_limited_to_ten() {
        let at = Timestamp::new(chrono::DateTime::from_timestamp_millis(0).expect("a time"));
        let new = |path: &str| SitePath::new(path).expect("a path");
        let (mut path, mut former) = (new("p0"), Vec::new());
        let mut go = |to: &str| {
            rename(&mut path, &mut former, new(to), at);
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
