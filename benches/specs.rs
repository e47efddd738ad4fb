//! `cargo bench -p docs-benches --bench specs`: a 5 MB OpenAPI specification, in JSON and in YAML, from the `PUT`
//! request to the new version.
//!
//! The limits are two seconds and 200 MB. An optimized build fails if it exceeds the time, any build if it exceeds the
//! memory. The process does nothing else, so the measured memory includes the round and its in-memory store and
//! objects.

use std::{
    fmt::Write as _,
    sync::Arc,
    time::{Duration, Instant},
};

use criterion::{Criterion, criterion_group, criterion_main};
use docs_benches::Outcome;
use docs_core::{
    Actor, Platform,
    model::{OrgId, PutOpenApiSpec, SpecProcessingState, SpecSource},
    platform::NewUser,
};
use docs_memstore::{MemObjects, MemStore, SeededIds};
use docs_openapi::OpenApiReader;
use peak_alloc::PeakAlloc;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Minimum size of the document in bytes.
const BYTES: usize = 5_000_000;
/// Time limit per round.
const MOST_TIME: Duration = Duration::from_secs(2);
/// Memory limit per round in megabytes.
const MOST_MEMORY: f32 = 200.0;

/// Returns a synthetic large specification.
fn likeness() -> Outcome<String> {
    let mut text =
        String::from("{\"openapi\":\"3.1.0\",\"info\":{\"title\":\"Large\",\"version\":\"1\"},\"paths\":{");
    let mut n = 0;
    while text.len() < BYTES {
        let comma = if n == 0 { "" } else { "," };
        let operation = json!({
            "operationId": format!("get{n}"),
            "tags": [format!("tag{}", n % 40)],
            "summary": format!("Gets thing {n}"),
            "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "string" } }],
            "responses": { "200": { "description": "A thing", "content": { "application/json": {
                "schema": { "$ref": "#/components/schemas/Thing" },
            } } } },
        });
        write!(text, "{comma}\"/things/{n}/{{id}}\":{{\"get\":{operation}}}")?;
        n += 1;
    }
    text.push_str("},\"components\":{\"schemas\":{\"Thing\":{\"type\":\"object\"}}}}");
    Ok(text)
}

/// Returns a platform with a specification parser, an organization and its administrator.
async fn platform() -> Outcome<(Platform, OrgId, Actor)> {
    let builder = Platform::builder(Arc::new(MemStore::new()), Arc::new(MemObjects::new()));
    let platform = builder.ids(SeededIds::new(3)).spec_reader(Arc::new(OpenApiReader)).build();
    let user = NewUser { display_name: "Bench".parse()?, email: "bench@example.com".parse()? };
    let user = platform.as_platform().users().create(user).await?;
    let org = platform.as_platform().orgs().create("Bench".parse()?, &user.id).await?.id;
    Ok((platform, org, Actor::User(user.id)))
}

/// Stores a specification and processes it.
async fn round((platform, org, actor): &(Platform, OrgId, Actor), text: String) -> Outcome<()> {
    let me = platform.as_actor(actor);
    let put = PutOpenApiSpec { source: SpecSource::Text(text) };
    me.org(org).openapi_spec("large").put(put).await?;
    platform.settle().await?;
    let done = me.org(org).openapi_spec("large").get().await?;
    match (done.processing_state, done.last_processed_errors, done.last_version) {
        (SpecProcessingState::Complete, None, Some(_)) => Ok(()),
        (state, errors, _) => Err(format!("it is {state:?}: {errors:?}").into()),
    }
}

fn specs(c: &mut Criterion) {
    measured(c).expect("a round is within its bounds");
}

fn measured(c: &mut Criterion) -> Outcome<()> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let json = likeness()?;
    let yaml = format!("# YAML\n{json}");
    let mut group = c.benchmark_group("a specification of 5 MB");
    group.sample_size(10);
    for (name, text) in [("JSON", json), ("YAML", yaml)] {
        let world = rt.block_on(platform())?;
        let given = text.clone();
        ALLOCATOR.reset_peak_usage();
        let (before, began) = (ALLOCATOR.current_usage_as_mb(), Instant::now());
        rt.block_on(round(&world, given))?;
        let (took, memory) = (began.elapsed(), ALLOCATOR.peak_usage_as_mb() - before);
        println!("{name}: the first round took {took:?} and {memory} MB");
        if memory > MOST_MEMORY {
            return Err(format!("{name}: {memory} MB are more than {MOST_MEMORY}").into());
        }
        if took > MOST_TIME && !cfg!(debug_assertions) {
            return Err(format!("{name}: {took:?} are more than {MOST_TIME:?}").into());
        }
        // An identical document is parsed again, but no new version is stored.
        group.bench_function(name, |b| {
            b.iter(|| rt.block_on(round(&world, text.clone())).expect("it is processed"));
        });
    }
    group.finish();
    Ok(())
}

criterion_group!(benches, specs);
criterion_main!(benches);
