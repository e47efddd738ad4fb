//! Operations on change requests and content.

use docs_core::{
    content::Evaluated,
    model::{ChangeRequestStatus, ContentFormat, CreateChangeRequest, UpdateChangeRequest, UpdateContent},
    platform::{ContentOptions, ContentVersion, RequestFilter},
    store::Hash,
};
use serde_json::{Map, Value, json};

use super::{
    super::{
        known::{KnownSpace, id, one},
        program::What,
    },
    Act, Answer, bounded, read, told, walk,
};

const LINES: &[&str] =
    &["alpha\n", "beta\n", "gamma ß漢\n", "delta\n", "* item\n", "> note\n", "```\ncode\n```\n"];
const FRONT: &[&str] = &[
    "# From Markdown\n\n",
    "---\ndescription: \"told: {\\\"a\\\": 1}\"\nhidden: true\n---\n\n",
    "---\ncover: https://x.org/c.png\ncoverY: -0.5\nlayout:\n  title:\n    visible: false\n---\n\n# 🚨 Cover\n\n",
    "---\nnot: [closed\n---\n",
];

impl Act<'_> {
    pub(super) async fn requests(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let (space, name) = match what {
            What::ListRequests | What::CreateRequest => {
                (self.known.space_id(&mut self.dice, what), String::new())
            }
            _ => self.known.request(&mut self.dice),
        };
        Ok(match what {
            What::ListRequests => {
                let filter = self.filter();
                walk(self.list(), |page| {
                    let (me, space, filter) = (me.clone(), space.clone(), filter.clone());
                    async move { p.as_actor(&me).space(&space).change_requests().list(&filter, &page).await }
                })
                .await
            }
            What::CreateRequest => {
                let mut new = Map::new();
                let subject = self.text();
                self.field(&mut new, "subject", &[subject.into()]);
                self.field(&mut new, "agentTaskId", &["task".into()]);
                let new: CreateChangeRequest = read(new)?;
                told(p.as_actor(&me).space(&space).change_requests().create(new).await)
            }
            What::GetRequest => told(p.as_actor(&me).space(&space).change_request(&name).get().await),
            What::PatchRequest => {
                let mut change = Map::new();
                let subject = self.text();
                self.field(&mut change, "subject", &[subject.into()]);
                let status = *self.dice.of(&["draft", "open", "open", "archived", "merged"]);
                self.field(&mut change, "status", &[status.into()]);
                let change: UpdateChangeRequest = read(change)?;
                told(p.as_actor(&me).space(&space).change_request(&name).update(change).await)
            }
            What::Edit => {
                let known = self.known.spaces.iter().find(|known| known.id == space.as_str());
                let update: UpdateContent = read(self.edits(known.unwrap_or(&KnownSpace::default())))?;
                told(p.as_actor(&me).space(&space).change_request(&name).edit(update).await)
            }
            What::Pull => told(p.as_actor(&me).space(&space).change_request(&name).pull().await),
            _ => told(p.as_actor(&me).space(&space).change_request(&name).merge().await),
        })
    }

    pub(super) async fn content(&mut self, what: What) -> Answer {
        let (p, me) = (self.p, self.me.clone());
        let (mut space, mut name) = self.known.request(&mut self.dice);
        let mut live = self.dice.chance(60);
        // Read the latest edit, which must be visible.
        if let Some((last, request)) = self.known.edited.as_ref().filter(|_| self.dice.chance(50)) {
            (space, name, live) = (id(last), request.clone(), false);
        }
        let of = if live {
            ContentVersion::space(space.clone())
        } else {
            ContentVersion::request(space.clone(), &name)
        };
        let nowhere = KnownSpace::default();
        let known = self.known.spaces.iter().find(|known| known.id == space.as_str()).unwrap_or(&nowhere);
        let format = if self.dice.chance(80) { ContentFormat::Markdown } else { ContentFormat::Document };
        let shown = ContentOptions {
            git: self.dice.chance(50),
            format,
            evaluated: *self.dice.of(&[Evaluated::No, Evaluated::Yes, Evaluated::DeterministicOnly]),
            ..ContentOptions::default()
        };
        Ok(match what {
            What::GetRevision => told(p.as_actor(&me).content(&of).get(shown).await),
            What::ListPages => told(p.as_actor(&me).content(&of).list_pages(shown).await),
            What::GetPage => told(
                p.as_actor(&me).content(&of).get_page(&id(one(&mut self.dice, &known.pages)), shown).await,
            ),
            What::GetPageByPath => {
                let path = self.dice.near(&known.paths).map_or("", String::as_str);
                let path = if self.dice.chance(20) { path.to_uppercase() } else { path.to_owned() };
                told(p.as_actor(&me).content(&of).get_page_by_path(&path, shown).await)
            }
            What::ListFiles => {
                walk(self.list(), |page| {
                    let (me, of) = (me.clone(), of.clone());
                    async move { p.as_actor(&me).content(&of).list_files(shown, &page).await }
                })
                .await
            }
            What::GetFile => told(
                p.as_actor(&me).content(&of).get_file(&id(one(&mut self.dice, &known.files)), shown).await,
            ),
            _ => {
                let Some((from, sealed)) = self.dice.near(&self.known.downloads) else {
                    return Ok(Value::Null);
                };
                let space = if self.dice.chance(90) { id(from) } else { space };
                let bytes = match p.find_file(&space, sealed).await {
                    Ok(file) => p.file_bytes(&file, None).await,
                    Err(error) => Err(error),
                };
                told(bytes.map(|bytes| (bytes.len(), Hash::compute(&bytes))))
            }
        })
    }

    fn filter(&mut self) -> RequestFilter {
        use ChangeRequestStatus::{Archived, Draft, Merged, Open};
        let mut filter = RequestFilter::default();
        if self.dice.chance(50) {
            filter.status = Some(*self.dice.of(&[Draft, Open, Archived, Merged]));
        }
        if self.dice.chance(25) {
            filter.contributor = Some(self.somebody());
        }
        if self.dice.chance(25) {
            filter.creator = Some(self.somebody());
        }
        filter
    }

    fn edits(&mut self, space: &KnownSpace) -> Value {
        let most = *self.dice.of(&[1, 1, 1, 2, 4]);
        let count = if self.dice.chance(2) { 60 } else { 1 + self.dice.below(most) };
        let changes: Vec<Value> = (0..count).map(|at| self.change(space, at)).collect();
        json!({ "changes": changes })
    }

    fn change(&mut self, space: &KnownSpace, at: usize) -> Value {
        let page = one(&mut self.dice, &space.pages).to_owned();
        let kind = if space.pages.is_empty() { 0 } else { self.dice.below(20) };
        match kind {
            0..=6 => {
                let mut insert = self.page_fields(space);
                insert.retain(|name, value| !value.is_null() || name != "into");
                insert.insert("operation".to_owned(), "insert_page".into());
                insert.insert("document".to_owned(), json!({ "markdown": self.markdown(space) }));
                if self.dice.chance(30) {
                    insert.insert("ref".to_owned(), format!("ref-{}", at.min(3)).into());
                }
                insert.into()
            }
            7..=13 => {
                let mut update = self.page_fields(space);
                update.insert("operation".to_owned(), "update_page".into());
                update.insert("page".to_owned(), page.into());
                if self.dice.chance(60) {
                    update.insert("document".to_owned(), json!({ "markdown": self.markdown(space) }));
                }
                update.into()
            }
            14 => json!({ "operation": "delete_page", "page": page }),
            15 | 16 => {
                let mut revert = Map::new();
                revert.insert("operation".to_owned(), "revert_page".into());
                revert.insert("page".to_owned(), page.into());
                if self.dice.chance(50) {
                    revert.insert("revision".to_owned(), one(&mut self.dice, &space.revisions).into());
                }
                if self.dice.chance(5) {
                    revert.insert("block".to_owned(), json!(["a"]));
                }
                revert.into()
            }
            _ => {
                let count = 1 + self.dice.below(3);
                let files: Vec<Value> = (0..count).map(|n| self.file(n)).collect();
                json!({ "operation": "insert_files", "files": files })
            }
        }
    }

    fn page_fields(&mut self, space: &KnownSpace) -> Map<String, Value> {
        let mut fields = Map::new();
        let text = self.text();
        let title = bounded::<1, 1000>(text).map_or("Page", |_| text);
        self.field(&mut fields, "title", &[title.into(), "Page".into(), "Guide".into()]);
        for (name, values) in [
            ("slug", vec!["page".into(), "Über uns".into(), "".into(), "a/b".into()]),
            ("emoji", vec!["📘".into()]),
            ("icon", vec!["star".into()]),
            ("description", vec![text.into()]),
            ("condition", vec!["visitor.claims.x".into(), "".into()]),
            ("at", vec![0.into(), 1.into(), 7.into()]),
            ("hidden", vec![true.into(), false.into()]),
        ] {
            if self.dice.chance(40) {
                self.field(&mut fields, name, &values);
            }
        }
        if self.dice.chance(85) {
            fields.retain(|name, value| !value.is_null() || ["emoji", "icon"].contains(&name.as_str()));
        }
        // Only an existing page can be moved to the top.
        let places = [one(&mut self.dice, &space.pages).into(), "ref-0".into(), Value::Null];
        if self.dice.chance(25) {
            fields.insert("into".to_owned(), self.dice.of(&places).clone());
        }
        fields
    }

    /// Draws text from a few distinct lines, so that two change requests conflict on the same page.
    fn markdown(&mut self, space: &KnownSpace) -> String {
        let mut text = String::new();
        if self.dice.chance(25) {
            text.push_str(self.dice.of::<&str>(FRONT));
        }
        for _ in 0..self.dice.below(8) {
            text.push_str(self.dice.of::<&str>(LINES));
            text.push('\n');
        }
        match self.dice.below(8) {
            0 => text.push_str("[next](./ref-0) ![pic](file-0)\n"),
            1 => text.push_str(&format!("[page](/pages/{})\n", one(&mut self.dice, &space.pages))),
            2 => text.push_str(&format!("![file](/files/{})\n", one(&mut self.dice, &space.files))),
            3 => text.push_str(&format!("[path](./{}.md#top)\n", one(&mut self.dice, &space.paths))),
            4 => text.push_str(self.text()),
            _ => {}
        }
        text
    }

    fn file(&mut self, n: usize) -> Value {
        let mut file = Map::new();
        let names = ["a.svg", "b c.txt", "漢字.png", "%00.bin"];
        file.insert("name".to_owned(), (*self.dice.of(&names)).into());
        match self.dice.below(20) {
            0..=2 => drop(file.insert("url".to_owned(), "https://web.example/pic.svg".into())),
            3 => drop(file.insert("url".to_owned(), "https://web.example/gone".into())),
            4 => {}
            5 => drop(file.insert("base64".to_owned(), "no base64".into())),
            // Exceeds the size that databases store within a row.
            6 => drop(file.insert("base64".to_owned(), "QUJD".repeat(60_000).into())),
            _ => drop(file.insert("base64".to_owned(), "PHN2Zy8+".repeat(1 + self.dice.below(3)).into())),
        }
        if self.dice.chance(90) {
            file.insert(
                "contentType".to_owned(),
                (*self.dice.of(&["image/svg+xml", "text/plain", "text/plain", "image/png", "x"])).into(),
            );
        }
        if self.dice.chance(25) {
            file.insert("ref".to_owned(), format!("file-{n}").into());
        }
        file.into()
    }
}
