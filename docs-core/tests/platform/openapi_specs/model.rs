//! Random histories of specifications, compared with a naive model, on a failing store.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::{
    faults::{Outside, READER_FAULTS, ReaderFault, rigged},
    *,
};
use crate::support::{block_on, failing};

/// The content of a URL or text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Said {
    /// A specification with this title.
    Right(u8),
    /// A specification that references the other file.
    WithPart(u8),
    Broken,
    TimedOut,
    Gone,
}

/// An action on a specification.
#[derive(Clone, Copy, Debug)]
enum Change {
    PutText(u8, Said),
    PutUrl(u8, u8),
    Delete(u8),
    Publish(u8, bool),
}

#[derive(Clone, Debug)]
enum Act {
    Change(Change),
    /// Runs all due jobs, and performs a change while one of them is blocked at the web or the reader, after a number
    /// of passes.
    During(usize, Change),
    /// Changes the content of a URL.
    Web(u8, Said),
    /// Changes the content of the URL that [`Said::WithPart`] references.
    Part(Said),
    /// Sets the fault of the reader.
    Reader(Option<ReaderFault>),
    Advance(u64),
    Settle,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let said = || {
        prop_oneof![
            4 => (0_u8..3).prop_map(Said::Right),
            2 => (0_u8..3).prop_map(Said::WithPart),
            1 => Just(Said::Broken),
            1 => Just(Said::TimedOut),
            1 => Just(Said::Gone),
        ]
    };
    let change = move || {
        prop_oneof![
            2 => (0_u8..3, said()).prop_map(|(slug, said)| Change::PutText(slug, said)),
            3 => (0_u8..3, 0_u8..2).prop_map(|(slug, url)| Change::PutUrl(slug, url)),
            1 => (0_u8..3).prop_map(Change::Delete),
            1 => (0_u8..3, any::<bool>()).prop_map(|(slug, public)| Change::Publish(slug, public)),
        ]
    };
    let fault = prop_oneof![
        3 => Just(None),
        1 => proptest::sample::select(READER_FAULTS.to_vec()).prop_map(Some),
    ];
    let act = prop_oneof![
        7 => change().prop_map(Act::Change),
        3 => (0_usize..4, change()).prop_map(|(passes, change)| Act::During(passes, change)),
        1 => fault.prop_map(Act::Reader),
        3 => (0_u8..2, said()).prop_map(|(url, said)| Act::Web(url, said)),
        2 => said().prop_map(Act::Part),
        2 => (1_u64..5).prop_map(Act::Advance),
        5 => Just(Act::Settle),
    ];
    proptest::collection::vec(act, 1..25)
}

const PART: &str = "https://api.example/part.json";

fn address(url: u8) -> String {
    format!("https://api.example/{url}.json")
}

/// Returns the text of the content, if any.
fn text(said: Said) -> String {
    match said {
        Said::Right(n) => titled(&n.to_string()),
        Said::WithPart(n) => {
            let paths = json!({ "/a": { "$ref": PART } });
            let info = json!({ "title": n.to_string(), "version": "1" });
            json!({ "openapi": "3.0.0", "info": info, "paths": paths }).to_string()
        }
        Said::Broken | Said::TimedOut | Said::Gone => "openapi: [".to_owned(),
    }
}

fn say(web: &MemWeb, address: &str, said: Said) {
    match said {
        Said::TimedOut => web.fail(address, WebError::TimedOut(Duration::from_secs(1))),
        Said::Gone => web.fail(address, WebError::Status(404)),
        said => web.put(address, "application/json", text(said)),
    }
}

/// A specification in the model.
#[derive(Clone, Debug, Default)]
struct Modelled {
    /// The text, or the number of the URL.
    source: Option<std::result::Result<Said, u8>>,
    public: bool,
    /// The time of the next processing, in hours.
    due: Option<u64>,
    is_pending: bool,
    /// The content of each version.
    versions: Vec<(Said, Option<Said>)>,
    error: Option<SpecErrorCode>,
}

#[derive(Default)]
struct Model {
    specs: BTreeMap<u8, Modelled>,
    web: [Option<Said>; 2],
    part: Option<Said>,
    /// `true` if the reader fails.
    is_reader_out: bool,
    now: u64,
}

impl Model {
    /// Returns the fetched content, or the expected error.
    fn fetched(said: Option<Said>) -> std::result::Result<Said, SpecErrorCode> {
        match said {
            None | Some(Said::Gone) => Err(SpecErrorCode::FetchError),
            Some(Said::TimedOut) => Err(SpecErrorCode::FetchTimeout),
            Some(said) => Ok(said),
        }
    }

    fn processed(
        &self,
        source: std::result::Result<Said, u8>,
    ) -> std::result::Result<(Said, Option<Said>), SpecErrorCode> {
        let said = match source {
            Ok(text) => text,
            Err(url) => Self::fetched(self.web[usize::from(url)])?,
        };
        match said {
            _ if self.is_reader_out => Err(SpecErrorCode::ParseError),
            Said::Right(_) => Ok((said, None)),
            Said::WithPart(_) => match Self::fetched(self.part)? {
                Said::Broken => Err(SpecErrorCode::ParseError),
                part => Ok((said, Some(part))),
            },
            Said::Broken | Said::TimedOut | Said::Gone => Err(SpecErrorCode::ParseError),
        }
    }

    /// Returns the due specifications.
    fn due(&self) -> Vec<u8> {
        let due = self.specs.iter().filter(|(_, spec)| spec.due.is_some_and(|due| due <= self.now));
        due.map(|(slug, _)| *slug).collect()
    }

    fn settle(&mut self) {
        self.process(self.due());
    }

    fn process(&mut self, due: Vec<u8>) {
        for slug in due {
            let Some(source) = self.specs[&slug].source else { continue };
            let processed = self.processed(source);
            let now = self.now;
            let Some(spec) = self.specs.get_mut(&slug) else { continue };
            spec.is_pending = false;
            spec.due = source.is_err().then_some(now + 6);
            spec.error = processed.err();
            if let Ok(found) = processed
                && spec.versions.last() != Some(&found)
            {
                spec.versions.push(found);
            }
        }
    }
}

fn name(slug: u8) -> String {
    format!("spec-{slug}")
}

async fn change(w: &World, model: &mut Model, change: Change) {
    let org = w.as_admin().org(&w.org);
    match change {
        Change::PutText(slug, said) => {
            w.put_spec(&name(slug), SpecSource::Text(text(said))).await;
            let spec = model.specs.entry(slug).or_default();
            (spec.source, spec.due, spec.is_pending) = (Some(Ok(said)), Some(model.now), true);
        }
        Change::PutUrl(slug, at) => {
            w.put_spec(&name(slug), url(&address(at))).await;
            let spec = model.specs.entry(slug).or_default();
            (spec.source, spec.due, spec.is_pending) = (Some(Err(at)), Some(model.now), true);
        }
        Change::Delete(slug) => {
            let existed = org.openapi_spec(&name(slug)).delete().await.expect("deleted");
            assert_eq!(existed, model.specs.remove(&slug).is_some());
        }
        Change::Publish(slug, public) => {
            let visibility = if public { SpecVisibility::Public } else { SpecVisibility::Private };
            let done = org.openapi_spec(&name(slug)).update(UpdateOpenApiSpec { visibility }).await;
            match model.specs.get_mut(&slug) {
                Some(spec) => {
                    done.expect("changed");
                    spec.public = public;
                }
                None => drop(done.refused(ErrorKind::NotFound)),
            }
        }
    }
}

/// Runs all due jobs, and performs a change while one of them is blocked.
async fn change_during(w: &World, outside: &Outside, model: &mut Model, passes: usize, what: Change) {
    outside.gate.close_after(passes);
    let settle = w.platform.settle();
    tokio::pin!(settle);
    let settled = tokio::select! {
        biased;
        settled = &mut settle => Some(settled),
        () = outside.gate.asked() => None,
    };
    if let Some(settled) = settled {
        settled.expect("settled");
        outside.gate.open();
        model.settle();
        return change(w, model, what).await;
    }
    // Results of completed processing remain valid. Results for a changed specification are discarded.
    let mut done = Vec::new();
    for slug in model.due() {
        let spec = w.spec(&name(slug)).await;
        let is_done = spec.last_processed_at == Some(w.clock_now());
        if spec.processing_state == SpecProcessingState::Complete && is_done {
            done.push(slug);
        }
    }
    model.process(done);
    change(w, model, what).await;
    outside.gate.go();
    settle.await.expect("settled");
    model.settle();
}

async fn act(w: &World, outside: &Outside, model: &mut Model, act: &Act) {
    match act {
        Act::Change(what) => change(w, model, *what).await,
        Act::During(passes, what) => change_during(w, outside, model, *passes, *what).await,
        Act::Web(at, said) => {
            say(&outside.web, &address(*at), *said);
            model.web[usize::from(*at)] = Some(*said);
        }
        Act::Part(said) => {
            say(&outside.web, PART, *said);
            model.part = Some(*said);
        }
        Act::Reader(fault) => {
            outside.read_with(*fault);
            model.is_reader_out = fault.is_some();
        }
        Act::Advance(hours) => {
            w.clock.advance(Duration::from_secs(hours * 3_600));
            model.now += hours;
        }
        Act::Settle => {
            w.settled().await;
            model.settle();
        }
    }
}

async fn compare(w: &World, model: &Model) {
    let org = w.as_admin().org(&w.org);
    let listed = org.openapi_specs().list(&PageRequest::default()).await.expect("listed");
    assert_eq!(listed.count, Some(model.specs.len() as u64));
    let names: Vec<String> = listed.items.iter().map(|spec| spec.slug.to_string()).collect();
    for (slug, expected) in &model.specs {
        let name = format!("spec-{slug}");
        assert!(names.contains(&name));
        let spec = w.spec(&name).await;
        let state =
            if expected.is_pending { SpecProcessingState::Pending } else { SpecProcessingState::Complete };
        assert_eq!(spec.processing_state, state, "{name}");
        assert_eq!(spec.last_process_error_code, expected.error, "{name}: {spec:?}");
        assert_eq!(spec.last_processed_errors.is_some(), expected.error.is_some());
        assert_eq!(w.spec_versions(&name).await, expected.versions.len(), "{name}");
        assert_eq!(spec.last_version.is_some(), !expected.versions.is_empty());
        let is_published = expected.public && !expected.versions.is_empty();
        assert_eq!(spec.urls.published.is_some(), is_published);
        assert_eq!(w.platform.find_published_spec(&w.org, &name).await.is_ok(), is_published);
        if let Some((said, _)) = expected.versions.last() {
            let content = w.spec_content(&name).await;
            let (Said::Right(n) | Said::WithPart(n)) = said else { panic!("{said:?} is no version") };
            let files = content.as_object().expect("files").values();
            let entry = files.clone().find(|file| file["isEntrypoint"] == true).expect("an entry");
            assert_eq!(entry["specification"]["info"]["title"], n.to_string());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn specifications_equal_a_naive_model_under_faults(acts in acts()) {
        block_on(async {
            let (w, outside) = rigged(failing()).await;
            let mut model = Model::default();
            for each in &acts {
                act(&w, &outside, &mut model, each).await;
                compare(&w, &model).await;
            }
            w.check().await;
        });
    }
}
