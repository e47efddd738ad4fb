//! Crashes of the server at any step of a run: the next run reaches the same result.

use docs_core::{
    model::ChangeRequestStatus,
    platform::{ContentOptions, ContentVersion},
    store::jobs::DEFAULT_LEASE,
};

use super::*;
use crate::job_states::Mortal;

/// The scenario of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Story {
    /// Merges the changes of both sides.
    Unite,
    /// Creates a change request.
    Conflict,
    /// Adds a commit to the change request.
    Renewal,
    /// Starts from a scheduled poll.
    Look,
}

/// The final state.
#[derive(PartialEq, Eq, Debug)]
struct End {
    texts: Vec<String>,
    files: std::collections::BTreeMap<String, String>,
    commits: Vec<Vec<String>>,
    in_step: bool,
    /// The texts of the open change request, and the number of all change requests.
    asked: Vec<String>,
    requests: usize,
}

/// Performs all steps before the run.
async fn begin(story: Story, mortal: &Arc<Mortal>) -> (World, MemGit, SpaceId) {
    let remote = repository(FILES);
    let git = Arc::new(remote.clone());
    let w = World::build(mortal.store(), |builder| builder.git(git)).await;
    let space = w.space().await;
    let more = if story == Story::Look { json!({ "schedule": 15 }) } else { json!({}) };
    put(&w, &space, more).await;
    settle(&w).await;
    if story == Story::Look {
        remote.put("limits.md", "# Limits\n\nTheirs.\n");
        w.clock.advance(Duration::from_secs(15 * 60));
        return (w, remote, space);
    }
    let ours = if story == Story::Unite { "readme" } else { "limits" };
    let page = at(&w, &space, ours).await;
    change(&w, &space, set(&page, "Ours.\n")).await;
    push(&w, &space, &remote, ("limits.md", "# Limits\n\nTheirs.\n")).await;
    if story == Story::Renewal {
        settle(&w).await;
        push(&w, &space, &remote, ("limits.md", "# Limits\n\nTheirs, again.\n")).await;
    }
    (w, remote, space)
}

async fn end(w: &World, remote: &MemGit, space: &SpaceId) -> End {
    let state = state(w, space).await.state;
    let jobs = jobs(w, space).await;
    assert!(jobs.iter().all(|job| job.state == JobState::Done), "{jobs:#?}");
    let (every, page) = (Default::default(), PageRequest::default());
    let all = w.as_admin().space(space).change_requests().list(&every, &page).await;
    let from_git = |subject: &str| subject.starts_with("Changes from Git ");
    let all: Vec<_> = all.expect("listed").items.into_iter().filter(|it| from_git(&it.subject)).collect();
    let mut asked = Vec::new();
    for request in all.iter().filter(|request| request.status == ChangeRequestStatus::Open) {
        let of = ContentVersion::request(space.clone(), request.id.as_str());
        let shown =
            ContentOptions { format: docs_core::model::ContentFormat::Markdown, ..ContentOptions::default() };
        let pages = w.as_admin().content(&of).list_pages(shown).await.expect("read").pages;
        for page in &pages {
            let page = serde_json::to_value(page).expect("JSON");
            let id = page["id"].as_str().expect("an id").parse().expect("an id");
            let page = serde_json::to_value(crate::support::page(w, &of, &id).await).expect("JSON");
            asked.push(page["markdown"].as_str().unwrap_or_default().to_owned());
        }
    }
    w.check().await;
    End {
        texts: vec![text(w, space, "readme").await, text(w, space, "limits").await],
        files: files(remote),
        commits: remote.commits().into_iter().map(|commit| commit.written).collect(),
        in_step: state.in_step,
        asked,
        requests: all.len(),
    }
}

#[tokio::test]
async fn sync_result_is_unaffected_by_a_crash_at_any_step() {
    for story in [Story::Unite, Story::Conflict, Story::Renewal, Story::Look] {
        let mortal = Mortal::new();
        let (w, remote, space) = begin(story, &mortal).await;
        settle_all(&w).await;
        let undisturbed = end(&w, &remote, &space).await;
        let waits = matches!(story, Story::Conflict | Story::Renewal);
        assert_eq!((undisturbed.in_step, undisturbed.requests), (!waits, usize::from(waits)), "{story:?}");
        let mut deaths = 0;
        for steps in 1.. {
            let mortal = Mortal::new();
            let (w, remote, space) = begin(story, &mortal).await;
            w.clock.advance(Duration::from_millis(1));
            let is_over = mortal.until_death(steps, w.platform.settle()).await;
            w.clock.advance(Duration::from_secs(DEFAULT_LEASE.num_seconds().unsigned_abs() + 1));
            settle_all(&w).await;
            assert_eq!(end(&w, &remote, &space).await, undisturbed, "{story:?} {steps}");
            if is_over {
                break;
            }
            deaths += 1;
        }
        assert!(deaths >= 6, "{story:?}: {deaths}");
    }
}
