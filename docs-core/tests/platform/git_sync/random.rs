//! Random histories of a space and its repository: despite edits and faults, both sides converge to the union of all
//! edits.

use docs_memstore::MemPushFault;
use proptest::prelude::*;

use super::*;
use crate::support::block_on;

/// The initial pages on both sides.
const PAGES: [&str; 3] = ["readme", "one", "two"];
const REPOSITORY: &[(&str, &str)] = &[
    ("SUMMARY.md", "* [Start](README.md)\n* [One](one.md)\n* [Two](two.md)\n"),
    ("README.md", "# Start\n\nA first line.\n\nA second line.\n\nA third line.\n"),
    ("one.md", "# One\n\nIt begins.\n\nIt ends.\n"),
    ("two.md", "# Two\n\nAlone.\n"),
];

#[derive(Clone, Debug)]
enum Act {
    /// Adds a paragraph to a page, in the space or in the repository.
    Write {
        side: Side,
        page: usize,
        place: usize,
    },
    /// Creates a page.
    Add(Side),
    /// Resolves the conflict.
    Decide,
    Fault(Fault),
    /// Runs all due jobs, and the retries too if `long` is set.
    Settle {
        long: bool,
    },
}

#[derive(Clone, Copy, Debug)]
enum Side {
    Space,
    Repository,
}

#[derive(Clone, Copy, Debug)]
enum Fault {
    AnswerLost,
    Unreachable,
    Overtaken,
}

fn act() -> impl Strategy<Value = Act> {
    let side = || prop_oneof![Just(Side::Space), Just(Side::Repository)];
    prop_oneof![
        6 => (side(), 0..PAGES.len(), 0..4_usize)
            .prop_map(|(side, page, place)| Act::Write { side, page, place }),
        2 => side().prop_map(Act::Add),
        1 => Just(Act::Decide),
        1 => prop_oneof![Just(Fault::AnswerLost), Just(Fault::Unreachable), Just(Fault::Overtaken)].prop_map(Act::Fault),
        4 => any::<bool>().prop_map(|long| Act::Settle { long }),
    ]
}

/// A space and its repository, with the words added to either side.
struct Pair {
    w: World,
    remote: MemGit,
    space: SpaceId,
    written: Vec<String>,
}

impl Pair {
    fn word(&mut self, side: Side) -> String {
        let word = format!("{side:?}-{}.", self.written.len());
        self.written.push(word.clone());
        word
    }

    fn file(path: &str) -> String {
        if path == "readme" { "README.md".to_owned() } else { format!("{path}.md") }
    }

    async fn act(&mut self, act: &Act) {
        match act {
            Act::Write { side, page, place } => {
                let (word, path) = (self.word(*side), PAGES[*page]);
                match side {
                    Side::Space => {
                        let text = inserted(&text(&self.w, &self.space, path).await, *place, &word);
                        let page = at(&self.w, &self.space, path).await;
                        change(&self.w, &self.space, set(&page, &text)).await;
                    }
                    Side::Repository => {
                        let old = files(&self.remote)[&Self::file(path)].clone();
                        let (title, body) = old.split_once("\n\n").expect("a title");
                        let body = inserted(body, *place, &word);
                        let (file, new) = (Self::file(path), format!("{title}\n\n{body}"));
                        push(&self.w, &self.space, &self.remote, (&file, &new)).await;
                    }
                }
            }
            Act::Add(side) => {
                let word = self.word(*side);
                let name = format!("page-{}", self.written.len());
                match side {
                    Side::Space => {
                        drop(
                            change(&self.w, &self.space, json!([insert(&name, &format!("{word}\n"))])).await,
                        );
                    }
                    Side::Repository => {
                        self.remote.put(&format!("{name}.md"), format!("# {name}\n\n{word}\n"));
                        let summary = format!("{}* [{name}]({name}.md)\n", files(&self.remote)["SUMMARY.md"]);
                        push(&self.w, &self.space, &self.remote, ("SUMMARY.md", &summary)).await;
                    }
                }
            }
            Act::Decide => self.decide().await,
            Act::Fault(fault) => {
                let fault = match fault {
                    Fault::AnswerLost => MemPushFault::AnswerLost,
                    Fault::Unreachable => MemPushFault::Unreachable,
                    Fault::Overtaken => {
                        MemPushFault::Overtaken(format!("notes/{}.txt", self.written.len()), "x".into())
                    }
                };
                self.remote.edit(|repository| repository.push_faults.push_back(fault));
            }
            Act::Settle { long: false } => settle(&self.w).await,
            Act::Settle { long: true } => settle_all(&self.w).await,
        }
        self.w.clock.advance(Duration::from_millis(1_500));
    }

    /// Merges the change request that the space waits for, including the changes of both sides.
    async fn decide(&self) {
        let Some(request) = state(&self.w, &self.space).await.state.change_request else { return };
        let request = request.to_string();
        let handle = || self.w.as_admin().space(&self.space).change_request(&request);
        handle().pull().await.expect("pulled");
        for path in PAGES {
            let mut all = text(&self.w, &self.space, path).await;
            let theirs = files(&self.remote)[&Self::file(path)].clone();
            let (_, body) = theirs.split_once("\n\n").expect("a title");
            for line in body.split("\n\n").map(str::trim).filter(|line| !line.is_empty()) {
                if !all.contains(line) {
                    all = format!("{}\n\n{line}\n", all.trim_end());
                }
            }
            let page = at(&self.w, &self.space, path).await;
            let update = serde_json::from_value(json!({ "changes": set(&page, &all) })).expect("changes");
            handle().edit(update).await.expect("edited");
        }
        handle().merge().await.expect("merged");
    }

    /// Returns the content of the space.
    async fn said(&self) -> String {
        content(&self.w, &self.space).await.to_string()
    }
}

/// Inserts a paragraph into `text`.
fn inserted(text: &str, place: usize, word: &str) -> String {
    let mut parts: Vec<&str> = text.split("\n\n").map(str::trim).filter(|part| !part.is_empty()).collect();
    parts.insert(place.min(parts.len()), word);
    format!("{}\n", parts.join("\n\n"))
}

/// Returns the number of random histories: `DOCS_SYNC_CASES`, or 24.
fn cases() -> u32 {
    std::env::var("DOCS_SYNC_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(24)
}

async fn history(acts: &[Act]) {
    let (w, remote, space) = in_step(REPOSITORY, json!({})).await;
    let mut pair = Pair { w, remote, space, written: Vec::new() };
    for act in acts {
        pair.act(act).await;
    }
    // A pending fault may occur in any of the following rounds.
    for _ in 0..acts.len() + 2 {
        settle_all(&pair.w).await;
        pair.w.as_admin().space(&pair.space).run_git_sync().await.expect("enqueued");
        settle_all(&pair.w).await;
        pair.decide().await;
    }
    let shown = state(&pair.w, &pair.space).await;
    assert!(shown.state.in_step && shown.state.change_request.is_none(), "{shown:#?}");
    let (said, there) = (pair.said().await, files(&pair.remote));
    let all: String = there.values().map(String::as_str).collect();
    for word in &pair.written {
        assert!(said.contains(word), "the space lost {word}: {said}");
        assert!(all.contains(word), "the repository lost {word}: {there:#?}");
    }
    // The content of the repository equals that of the space.
    let request = json!({ "url": URL, "ref": "refs/heads/main", "force": true });
    let request = serde_json::from_value(request).expect("a request");
    pair.w.clock.advance(Duration::from_millis(1));
    pair.w.as_admin().space(&pair.space).import_git(request).await.expect("enqueued");
    pair.w.platform.settle().await.expect("settled");
    assert_eq!(pair.said().await, said);
    pair.w.check().await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn both_sides_converge_without_losing_writes(acts in proptest::collection::vec(act(), 1..14)) {
        block_on(history(&acts));
    }
}
