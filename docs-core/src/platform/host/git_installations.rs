//! Git Sync settings of spaces as installations.

use std::sync::Arc;

use docs_macros::boxed;

use crate::{
    Error, Result,
    model::{
        GitInstallation, GitInstallationConfiguration, GitInstallationObject, GitInstallationStatus,
        GitInstallationTarget, GitInstallationTargetType, GitInstallationUrls, GitProvider,
    },
    platform::{
        access::{self, AccessResolver},
        kernel::platform::Platform,
        nouns::{SiteHandle, SpaceHandle},
        publishing::outline::{SiteOutline, live_spaces},
    },
    policy::{SiteAction, SpaceAction},
    store::{
        Page,
        records::{GitSyncState, SpaceRecord},
    },
};

impl<'p> SpaceHandle<'p> {
    /// Reads the Git Sync setting of a space as an installation, whose id is that of the space.
    ///
    /// # Errors
    /// `NotFound`, also for a space without Git Sync; `Forbidden` without the `create` role.
    #[boxed]
    pub async fn git_installation(self) -> Result<GitInstallation> {
        let (platform, ref actor, space) = self.parts();
        let tx = platform.read().await?;
        let proof = access::space(&tx, actor, space).await?.require(SpaceAction::Manage)?;
        let sync = proof.space().git_sync.as_ref().ok_or_else(|| Error::not_found("Git installation"))?;
        Ok(platform.git_installation_view(proof.space(), sync))
    }
}

impl<'p> SiteHandle<'p> {
    /// Lists the installations of the spaces of a site, in the order of the site. Spaces on which the actor does not
    /// have the `create` role are omitted.
    ///
    /// # Errors
    /// `NotFound`; `Forbidden` for guests.
    #[boxed]
    pub async fn git_installations(self) -> Result<Page<GitInstallation>> {
        let (platform, ref actor, at, _) = self.parts();
        let tx = platform.read().await?;
        let (org, site) = access::require_site(&tx, actor, at, SiteAction::View).await?;
        let outline = SiteOutline::load(&tx, &site).await?;
        let live = live_spaces(&tx, &outline).await?;
        let mut spaces: Vec<Option<Arc<SpaceRecord>>> = Vec::new();
        for place in outline.all_places() {
            let space = live.get(&place.space).filter(|space| space.git_sync.is_some());
            if let Some(space) = space
                && spaces.iter().flatten().all(|known| known.id != space.id)
            {
                spaces.push(Some(Arc::clone(space)));
            }
        }
        let access = AccessResolver::new(org, actor).spaces(&tx, spaces).await?;
        let managed = access.into_iter().flatten().filter_map(|it| it.require(SpaceAction::Manage).ok());
        let items: Vec<GitInstallation> = managed
            .filter_map(|proof| {
                let sync = proof.space().git_sync.as_ref()?;
                Some(platform.git_installation_view(proof.space(), sync))
            })
            .collect();
        let count = Some(items.len() as u64);
        Ok(Page { items, next: None, count })
    }
}

impl Platform {
    fn git_installation_view(&self, space: &SpaceRecord, sync: &GitSyncState) -> GitInstallation {
        let branch = sync.setting.reference.to_string();
        GitInstallation {
            object: GitInstallationObject::Is,
            id: space.id.clone(),
            target: GitInstallationTarget { kind: GitInstallationTargetType::Is, space_id: space.id.clone() },
            status: GitInstallationStatus::Active,
            provider: match space.git_provider(Some(&*sync.setting.url)) {
                GitProvider::GithubLegacy => GitProvider::Github,
                provider => provider,
            },
            provider_configuration: GitInstallationConfiguration {
                branch: Some(branch).filter(|branch| branch.starts_with("refs/heads/")),
            },
            project_directory: sync.setting.repo_project_directory.as_ref().map(ToString::to_string),
            commit_message_template: sync.setting.commit_message.as_ref().map(ToString::to_string),
            created_at: sync.created_at.unwrap_or(sync.secret_created_at),
            created_by: sync.by.clone(),
            updated_at: sync.updated_at,
            urls: GitInstallationUrls { location: self.urls().git_installation(&space.id) },
        }
    }
}
