//! Spaces.

use serde::{Deserialize, Serialize};

use super::{CHILDREN, Parent, child_rows, counter};
use crate::{
    model::{
        ChangeRequestId, CollectionId, ContentTarget, DefaultLevel, EditMode, Emoji, GitSync,
        GitSyncDirection, GitSyncEvent, OrgId, Rank, RevisionId, SetGitSync, SpaceId, SpaceTitle, Timestamp,
        TranslationLanguage, Url, UserId,
    },
    store::{Entity, Hash, Indexed, Key, KeyBuf, Owner, Row, Value, jobs::SUBJECTS},
};

/// A space.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpaceRecord {
    /// The id.
    pub id: SpaceId,
    /// The organization it belongs to.
    pub organization: OrgId,
    /// The collection it is in.
    #[serde(default)]
    pub parent: Option<CollectionId>,
    /// Its place among what it lies beside; by the time of its creation where it was never moved.
    #[serde(default)]
    pub rank: Option<Rank>,
    /// Where its objects are kept; stays when the space moves to another organization.
    pub domain: String,
    /// The title.
    pub title: SpaceTitle,
    /// The emoji, where one was chosen.
    #[serde(default)]
    pub emoji: Option<Emoji>,
    /// The icon, where one was chosen.
    #[serde(default)]
    pub icon: Option<Url>,
    /// Whether live content may be edited.
    #[serde(default)]
    pub edit_mode: EditMode,
    /// What members who have no grant of their own may do.
    #[serde(default)]
    pub default_level: DefaultLevel,
    /// Who created it.
    pub created_by: UserId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it, or its content, last changed.
    pub updated_at: Timestamp,
    /// When it was deleted.
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
    /// Its removal for good has begun: it cannot be restored any more.
    #[serde(default)]
    pub purging: bool,
    /// The active revision.
    pub head: RevisionId,
    /// The root of the active revision's content.
    pub root: Hash,
    /// How many revisions its history has: the number of the active one.
    #[serde(default)]
    pub revisions: u64,
    /// The repository it is in sync with.
    #[serde(default)]
    pub git: Option<GitState>,
    /// How it is kept in step with a repository, where that was set.
    #[serde(default)]
    pub git_sync: Option<Box<GitSyncState>>,
    /// The language it is written in, where that is known.
    #[serde(default)]
    pub language: Option<TranslationLanguage>,
    /// How many translations there are of it.
    #[serde(default)]
    pub translations: u32,
}

/// How far a space is in sync with its repository.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GitState {
    /// What is shown of the repository.
    pub info: GitSync,
    /// The last commit that was imported or exported.
    #[serde(default)]
    pub oid: Option<String>,
    /// Where that commit came from: URL, ref and folder.
    #[serde(default)]
    pub source: Option<String>,
    /// The time of the event behind the last operation in either direction.
    #[serde(default)]
    pub event_at: Option<Timestamp>,
    /// The revision that is the same as that commit.
    #[serde(default)]
    pub revision: Option<RevisionId>,
    /// What that commit is like apart from the bytes of what was imported, after an import.
    #[serde(default)]
    pub layout: Option<Hash>,
    /// Where that commit has the content.
    #[serde(default)]
    pub places: Option<ContentPlaces>,
}

/// Where a repository has the content of a space, by paths from the project directory: what its configuration says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContentPlaces {
    /// The folder that is read.
    pub root: String,
    /// The first page.
    pub readme: String,
    /// The table of contents.
    pub summary: String,
}

impl GitState {
    /// Tells whether this commit of this source is what the space has.
    #[must_use]
    pub fn is_of(&self, oid: &str, source: &str) -> bool {
        self.oid.as_deref() == Some(oid) && self.source.as_deref() == Some(source)
    }
}

/// How a space is kept in step with a repository.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitSyncState {
    /// What was set; its URL is without credentials.
    pub setting: SetGitSync,
    /// Another one for each change of the setting: who began under one of them stores nothing under another.
    pub generation: String,
    /// The URL with credentials, where it has some.
    #[serde(default)]
    pub credentials: Option<SealedUrl>,
    /// The secret of the webhook, sealed.
    pub sealed_secret: String,
    /// When that was made.
    pub secret_created_at: Timestamp,
    /// Who set it.
    pub by: UserId,
    /// When it was set.
    pub updated_at: Timestamp,
    /// The last import.
    #[serde(default)]
    pub last_import: Option<GitSyncEvent>,
    /// The last export.
    #[serde(default)]
    pub last_export: Option<GitSyncEvent>,
    /// What both sides changed and a merge could not unite.
    #[serde(default)]
    pub conflict: Option<GitSyncConflict>,
}

/// A URL with credentials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SealedUrl {
    /// The URL, sealed.
    pub url: String,
    /// Who gave them.
    pub by: UserId,
}

/// A commit that could not be united with the content of its space: a change request has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GitSyncConflict {
    /// The change request.
    pub request: ChangeRequestId,
    /// What the space was in sync with when it was made; later syncs of other ways make it void.
    #[serde(default)]
    pub since: Option<RevisionId>,
    /// What the space is in sync with once the change request is merged or archived.
    pub then: GitState,
}

impl GitSyncState {
    /// Where the commits come from and go to: URL, ref and folder.
    #[must_use]
    pub fn source(&self) -> String {
        let SetGitSync { url, reference, repo_project_directory, .. } = &self.setting;
        git_source(url, reference, repo_project_directory.as_deref().unwrap_or_default())
    }

    /// Notes an import or an export, if it was of the repository that is set.
    pub fn note(&mut self, done: GitSyncDirection, git: &GitState, at: Timestamp) {
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

/// What is in sync, apart from the commit: the same commit from elsewhere is another one.
#[must_use]
pub fn git_source(url: &str, reference: &str, directory: &str) -> String {
    format!("{url} {reference} {directory}")
}

impl Entity for SpaceRecord {
    const KIND: &'static str = SUBJECTS;
}

impl SpaceRecord {
    /// The key of a space.
    #[must_use]
    pub fn at(id: &SpaceId) -> Key {
        KeyBuf::new(Self::KIND).part(id.as_str()).key()
    }

    /// The spaces of an organization, by the time of their creation; deleted ones are not among them.
    #[must_use]
    pub fn of_org(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.o").part(organization.as_str())
    }

    /// The spaces that were deleted and not yet removed from a collection.
    #[must_use]
    pub fn deleted_in(parent: &CollectionId) -> KeyBuf {
        KeyBuf::new("spc.d").part(parent.as_str())
    }

    /// The deleted spaces of an organization, by when they were deleted.
    #[must_use]
    pub fn deleted_of(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.t").part(organization.as_str())
    }

    /// Tells whether its content is that of the last commit of the repository that it is kept in step with; also
    /// where it is kept in step with none.
    #[must_use]
    pub fn is_in_step(&self) -> bool {
        let Some(sync) = &self.git_sync else { return true };
        self.git_of(&sync.source()).is_some_and(|git| git.revision.as_ref() == Some(&self.head))
    }

    /// What it has in common with a repository; `None` if it was in sync with another one last. See [`git_source`].
    #[must_use]
    pub fn git_of(&self, source: &str) -> Option<&GitState> {
        self.git.as_ref().filter(|git| git.source.as_deref() == Some(source))
    }

    /// Its place among what it lies beside.
    #[must_use]
    pub fn rank(&self) -> Rank {
        self.rank.clone().unwrap_or_else(|| Rank::at_time(self.created_at))
    }

    /// The spaces of an organization that are closed: their default level gives nobody anything. Others are for every
    /// member, unless they lie in a closed collection.
    #[must_use]
    pub fn closed_in(organization: &OrgId) -> KeyBuf {
        KeyBuf::new("spc.c").part(organization.as_str())
    }

    /// How many spaces an organization has.
    #[must_use]
    pub fn count_in(organization: &OrgId) -> Key {
        counter(organization.as_str(), "spaces")
    }
}

impl Indexed for SpaceRecord {
    const INDEXES: &'static [&'static str] = &["spc.o", "spc.c", "spc.d", "spc.t", CHILDREN, "ctr"];
    fn key(&self) -> Key {
        Self::at(&self.id)
    }
    fn rows(&self) -> Vec<Row> {
        if let Some(at) = self.deleted_at {
            let of_parent = self.parent.as_ref().map(Self::deleted_in);
            let of_org = Self::deleted_of(&self.organization).time(at.time());
            let rows = of_parent.into_iter().chain([of_org]).map(|row| row.part(self.id.as_str()));
            return rows.map(|row| Row::Index(row.key(), Value::Unit)).collect();
        }
        let parent = Parent::of(&self.organization, self.parent.as_ref());
        let mut rows = child_rows(parent, &self.rank(), &ContentTarget::Space(self.id.clone()));
        let row = Self::of_org(&self.organization).time(self.created_at.time()).part(self.id.as_str());
        rows.push(Row::Index(row.key(), Value::Unit));
        rows.push(Row::Count(Self::count_in(&self.organization)));
        if self.default_level == DefaultLevel::Nobody {
            let closed = Self::closed_in(&self.organization).part(self.id.as_str());
            rows.push(Row::Index(closed.key(), Value::Unit));
        }
        rows
    }
    fn owner(&self) -> Owner {
        Owner::Organization(self.organization.clone())
    }
}
