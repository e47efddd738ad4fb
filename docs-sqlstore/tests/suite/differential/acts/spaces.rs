//! Operations on spaces, their Git synchronization and their jobs.

use docs_core::model::{CreateSpace, ImportGitRepository, UpdateSpace};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{id, one},
        program::What,
    },
    Act, Answer, read, told, walk,
};

impl Act<'_> {
    pub(super) async fn spaces(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        if matches!(what, What::ListSpaces | What::CreateSpace) {
            let org = self.known.org(&mut self.dice);
            if what == What::CreateSpace {
                let new: CreateSpace = read(self.new_space())?;
                return Ok(told(p.as_actor(&me).org(&org).spaces().create(new).await));
            }
            let list = walk(self.list(), |page| {
                let (me, org) = (me.clone(), org.clone());
                async move { p.as_actor(&me).org(&org).spaces().list(&page).await }
            });
            return Ok(list.await);
        }
        let mut space = self.known.space_id(&mut self.dice, what);
        if matches!(what, What::GitInfo | What::JobsOfSpace) && self.dice.chance(60) {
            space = self.known.imported.as_deref().map_or(space, id);
        }
        Ok(match what {
            What::GetSpace => told(p.as_actor(&me).space(&space).get().await),
            What::DeleteSpace => told(p.as_actor(&me).space(&space).delete().await),
            What::RestoreSpace => told(p.as_actor(&me).space(&space).restore().await),
            What::DuplicateSpace => told(p.as_actor(&me).space(&space).duplicate().await),
            What::PurgeSpace => told(p.as_actor(&me).space(&space).purge().await),
            What::ImportGit => {
                let request: ImportGitRepository = read(self.import())?;
                told(p.as_actor(&me).space(&space).import_git(request).await)
            }
            What::GitInfo => told(p.as_actor(&me).space(&space).git_info().await),
            What::JobsOfSpace => {
                let list = walk(self.list(), |page| {
                    let (me, space) = (me.clone(), space.clone());
                    async move { p.as_actor(&me).space(&space).list_jobs(&page).await }
                });
                list.await
            }
            _ => {
                let change: UpdateSpace = read(self.space_change())?;
                told(p.as_actor(&me).space(&space).update(change).await)
            }
        })
    }

    fn new_space(&mut self) -> Value {
        let mut new = Map::new();
        let title = self.text();
        self.field(&mut new, "title", &[title.into(), "Docs".into()]);
        self.field(&mut new, "emoji", &["🚀".into()]);
        self.field(&mut new, "editMode", &["live".into(), "locked".into()]);
        if self.dice.chance(40) {
            new.insert("parent".to_owned(), one(&mut self.dice, &self.known.collections).into());
        }
        new.into()
    }

    fn space_change(&mut self) -> Value {
        let mut change = Map::new();
        let title = self.text();
        self.field(&mut change, "title", &[title.into(), "Docs".into()]);
        let levels = ["inherit", "inherit", "read", "edit", "review", "create", "wrong"].map(Value::from);
        self.field(&mut change, "defaultLevel", &levels);
        self.field(&mut change, "emoji", &["🚀".into(), "a\nb".into()]);
        self.field(&mut change, "icon", &["https://x.org/i.png".into()]);
        self.field(&mut change, "editMode", &["live".into(), "locked".into()]);
        if self.dice.chance(85) {
            change.retain(|name, value| !value.is_null() || !["title", "editMode"].contains(&name.as_str()));
        }
        change.into()
    }

    fn import(&mut self) -> Value {
        let urls = [
            "https://git.example/docs.git",
            "https://me:secret@git.example/docs",
            "file:///srv/docs",
            "ssh://git.example/x",
        ];
        let url = if self.dice.chance(70) { urls[0] } else { *self.dice.of(&urls) };
        let mut request = Map::new();
        request.insert("url".to_owned(), url.into());
        let reference = if self.dice.chance(90) { "refs/heads/main" } else { "main" };
        request.insert("ref".to_owned(), reference.into());
        let times = [
            "0000-01-01T00:00:00Z",
            "2025-01-01T00:00:00Z",
            "2025-01-09T00:00:00Z",
            "2026-06-01T12:00:00.5+02:00",
            "9999-12-31T23:59:59.9999Z",
            "soon",
        ];
        for (name, values) in [
            ("timestamp", times.map(Value::from).to_vec()),
            ("force", vec![true.into()]),
            ("standalone", vec![true.into()]),
            ("repoProjectDirectory", vec!["guides".into(), "../x".into(), "".into()]),
            ("repoCommitURL", vec!["https://git.example/commit/".into()]),
            ("repoTreeURL", vec!["https://git.example/tree/ß".into(), "https://me@git.example".into()]),
            ("gitInfo", vec![json!({ "provider": "github", "url": "https://git.example/other" })]),
        ] {
            if self.dice.chance(25) {
                self.field(&mut request, name, &values);
            }
        }
        request.into()
    }

    /// Draws a user for a filter.
    pub(super) fn somebody(&mut self) -> String {
        if self.dice.chance(10) {
            "no/id".to_owned()
        } else {
            one(&mut self.dice, &self.known.users).to_owned()
        }
    }
}
