//! Records of spaces.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CHILDREN, Parent, child_rows, counter};
use crate::{
    model::{
        ChangeRequestId, CollectionId, ContentTarget, DefaultLevel, EditMode, Emoji, GitInstallationStatus,
        GitProvider, GitSync, GitSyncDirection, GitSyncEvent, OrgId, Rank, RevisionId, SetGitSync, SpaceId,
        SpaceMergeRules, SpaceTitle, Timestamp, TranslationLanguage, Url, UserId, web_url,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value, jobs::SUBJECTS},
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpaceRecord {
    pub id: SpaceId,
    pub organization: OrgId,
    /// The parent collection, or `None` at the top level of the organization.
    #[serde(default)]
    pub parent: Option<CollectionId>,
    /// The position among siblings. `None` for a space that was never moved, which is ordered by creation time.
    #[serde(default)]
    pub rank: Option<Rank>,
    /// The storage domain of its objects. It does not change when the space moves to another organization.
    pub domain: String,
    pub title: SpaceTitle,
    /// The emoji, if any.
    #[serde(default)]
    pub emoji: Option<Emoji>,
    /// The icon, if any.
    #[serde(default)]
    pub icon: Option<Url>,
    /// Restricts direct edits of the live content.
    #[serde(default)]
    pub edit_mode: EditMode,
    /// The default role of members without a grant.
    #[serde(default)]
    pub default_level: DefaultLevel,
    pub created_by: UserId,
    pub created_at: Timestamp,
    /// The time of the last change to the space or its content.
    pub updated_at: Timestamp,
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
    /// `true` once permanent removal has begun. The space can no longer be restored.
    #[serde(default)]
    pub purging: bool,
    pub head: RevisionId,
    /// Root hash of the content of `head`.
    pub root: Hash,
    /// Number of revisions in the history. Equals the number of the head revision.
    #[serde(default)]
    pub revisions: u64,
    /// The last Git import or export.
    #[serde(default)]
    pub git: Option<GitState>,
    /// The Git sync configuration, if any.
    #[serde(default)]
    pub git_sync: Option<Box<GitSyncState>>,
    /// The language of the content, if known.
    #[serde(default)]
    pub language: Option<TranslationLanguage>,
    /// Number of translations of the space.
    #[serde(default)]
    pub translations: u32,
    /// The rules for merging change requests.
    #[serde(default)]
    pub merge_rules: SpaceMergeRules,
}

/// The repository information of a space, as stated by the last Git import or export.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GitInfo {
    /// The name of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repo_name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub installation_provider: Option<GitProvider>,
    /// The URL of the repository, without credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(default, rename = "repoTreeURL", skip_serializing_if = "Option::is_none")]
    pub repo_tree_url: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<Timestamp>,
}

/// The result of the last Git import or export of a space.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GitState {
    /// The repository information displayed to users.
    pub info: GitInfo,
    /// The last imported or exported commit.
    #[serde(default)]
    pub oid: Option<String>,
    /// The source of the commit: URL, ref and folder.
    #[serde(default)]
    pub source: Option<String>,
    /// The time of the event that triggered the last import or export.
    #[serde(default)]
    pub event_at: Option<Timestamp>,
    /// The revision with the same content as the commit.
    #[serde(default)]
    pub revision: Option<RevisionId>,
    /// After an import, the hash of everything in the commit that determines the content, except the bytes of imported
    /// files.
    #[serde(default)]
    pub layout: Option<Hash>,
    /// The paths of the content in the commit.
    #[serde(default)]
    pub places: Option<ContentPaths>,
}

/// The paths of a space's content in a repository, relative to the project directory, as set in its configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentPaths {
    /// The content folder.
    pub root: String,
    /// The first page.
    pub readme: String,
    /// The table of contents.
    pub summary: String,
    /// The project directory. It is unknown for paths that an earlier version stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The settings of a book of mdBook or HonKit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book: Option<BookSettings>,
}

/// The program that a repository of a book is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookProgram {
    MdBook,
    HonKit,
}

/// The settings of a book that exports to other repositories write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BookSettings {
    pub program: BookProgram,
    /// The values that pages can contain, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, String>,
}

impl GitState {
    /// Returns `true` if the last synced commit is this commit from this source.
    #[must_use]
    pub fn is_synced_to(&self, oid: &str, source: &str) -> bool {
        self.oid.as_deref() == Some(oid) && self.source.as_deref() == Some(source)
    }
}

/// The Git sync configuration of a space and its state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitSyncState {
    /// The settings. Their URL contains no credentials.
    pub setting: SetGitSync,
    /// A unique value that changes with each change of the settings. A job started under an earlier generation stores
    /// nothing.
    pub generation: String,
    /// The URL with credentials, if it has any.
    #[serde(default)]
    pub credentials: Option<SealedUrl>,
    /// The sealed webhook secret.
    pub sealed_secret: String,
    /// The creation time of the webhook secret.
    pub secret_created_at: Timestamp,
    /// The user who last changed the settings.
    pub by: UserId,
    /// The time when the synchronization was set up. Records of earlier versions have none.
    #[serde(default)]
    pub created_at: Option<Timestamp>,
    /// The time of the last change to the settings.
    pub updated_at: Timestamp,
    #[serde(default)]
    pub last_import: Option<GitSyncEvent>,
    #[serde(default)]
    pub last_export: Option<GitSyncEvent>,
    /// A pending change request for conflicting changes on both sides.
    #[serde(default)]
    pub conflict: Option<GitSyncConflict>,
}

/// A URL with credentials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealedUrl {
    pub url: String,
    /// The user who supplied the credentials.
    pub by: UserId,
}

/// A commit that conflicts with the content of its space, imported into a change request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitSyncConflict {
    pub request: ChangeRequestId,
    /// The last synced revision at the time of the conflict. If the space is synced in another way later, the conflict
    /// is obsolete.
    #[serde(default)]
    pub since: Option<RevisionId>,
    /// The Git state of the space after the change request is merged or archived.
    pub then: GitState,
}

impl GitSyncState {
    /// Returns the source and target of commits: URL, ref and folder.
    #[must_use]
    pub fn source(&self) -> String {
        let SetGitSync { url, reference, repo_project_directory, .. } = &self.setting;
        git_source(url, reference, repo_project_directory.as_deref().unwrap_or_default())
    }

    /// Records an import or an export. Ignored if its repository is not the configured one.
    pub fn record(&mut self, done: GitSyncDirection, git: &GitState, at: Timestamp) {
        if git.source.as_ref() != Some(&self.source()) {
            return;
        }
        let (Some(commit), Some(revision)) = (git.oid.clone(), git.revision.clone()) else { return };
        let event = Some(GitSyncEvent { at, commit, revision });
        if done.imports() {
            self.last_import = event;
        } else {
            self.last_export = event;
        }
    }
}

/// Identifies a sync source, without the commit. The same commit id from a different source is treated as a different
/// commit.
#[must_use]
pub fn git_source(url: &str, reference: &str, directory: &str) -> String {
    format!("{url} {reference} {directory}")
}

impl Entity for SpaceRecord {
    const KIND: &'static str = SUBJECTS;
}

impl SpaceRecord {
    #[must_use]
    pub fn key_for(id: &SpaceId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// Index of the spaces of an organization, excluding deleted ones, by creation time.
    #[must_use]
    pub fn by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.o").part(organization.as_str())
    }

    /// Index of the deleted spaces of a collection that have not been removed from it yet.
    #[must_use]
    pub fn deleted_by_parent(parent: &CollectionId) -> KeyBuf {
        KeyBuf::new("spc.d").part(parent.as_str())
    }

    /// Index of the deleted spaces of an organization, by deletion time.
    #[must_use]
    pub fn deleted_by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.t").part(organization.as_str())
    }

    /// Returns `true` if the content equals the last commit of the configured repository, or if no repository is
    /// configured.
    #[must_use]
    pub fn is_in_sync(&self) -> bool {
        let Some(sync) = &self.git_sync else { return true };
        self.git_state_for(&sync.source()).is_some_and(|git| git.revision.as_ref() == Some(&self.head))
    }

    /// Returns the view of the space's repository, or `None` if the space was never in sync with one.
    #[must_use]
    pub fn git_view(&self) -> Option<GitSync> {
        let info = &self.git.as_ref()?.info;
        Some(GitSync {
            installation_id: self.id.clone(),
            installation_status: match self.git_sync {
                Some(_) => GitInstallationStatus::Active,
                None => GitInstallationStatus::Pending,
            },
            installation_provider: self.git_provider(info.url.as_deref()),
            repo_name: info.repo_name.clone(),
            integration: None,
            url: info.url.clone(),
            repo_tree_url: info.repo_tree_url.clone(),
            updated_at: info.updated_at,
        })
    }

    /// Returns the hosting service of the repository of the space: the stated one, or the one of the URL.
    #[must_use]
    pub fn git_provider(&self, url: Option<&str>) -> GitProvider {
        let is_github = url.and_then(web_url).is_some_and(|url| {
            url.host_str().is_some_and(|host| host.strip_prefix("www.").unwrap_or(host) == "github.com")
        });
        let derived = if is_github { GitProvider::Github } else { GitProvider::Gitlab };
        self.git.as_ref().and_then(|git| git.info.installation_provider).unwrap_or(derived)
    }

    /// Returns the Git state for a source, or `None` if the last sync used a different source. See [`git_source`].
    #[must_use]
    pub fn git_state_for(&self, source: &str) -> Option<&GitState> {
        self.git.as_ref().filter(|git| git.source.as_deref() == Some(source))
    }

    /// Returns the position among siblings.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.rank.clone().unwrap_or_else(|| Rank::from_time(self.created_at))
    }

    /// Index of the closed spaces of an organization, whose default level hides content from members. All members can
    /// see other spaces, unless an ancestor collection is closed.
    #[must_use]
    pub fn closed_by_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.c").part(organization.as_str())
    }

    /// Counter of the spaces of an organization.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "spaces")
    }
}

impl Indexed for SpaceRecord {
    const INDEXES: &'static [&'static str] = &["spc.o", "spc.c", "spc.d", "spc.t", CHILDREN, "ctr"];
    fn key(&self) -> Key {
        Self::key_for(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        if let Some(at) = self.deleted_at {
            let of_parent = self.parent.as_ref().map(Self::deleted_by_parent);
            let of_org = Self::deleted_by_org(&self.organization).time(at.time());
            let rows = of_parent.into_iter().chain([of_org]).map(|row| row.part(self.id.as_str()));
            return rows.map(|row| Row::Index(row.key(), Value::Unit)).collect();
        }
        let parent = Parent::new(&self.organization, self.parent.as_ref());
        let mut rows = child_rows(parent, &self.rank(), &ContentTarget::Space(self.id.clone()));
        let row = Self::by_org(&self.organization).time(self.created_at.time()).part(self.id.as_str());
        rows.push(Row::Index(row.key(), Value::Unit));
        rows.push(Row::Count(Self::count_in(&self.organization)));
        if self.default_level == DefaultLevel::Nobody {
            let closed = Self::closed_by_org(&self.organization).part(self.id.as_str());
            rows.push(Row::Index(closed.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
