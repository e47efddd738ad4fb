//! `cargo bench -p docs-benches --bench people`: the first page of an organization's members, with each filter. The
//! cost should not depend on the number of members.

use std::{hint::black_box, sync::Arc};

use chrono::{DateTime, TimeDelta};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use docs_benches::Outcome;
use docs_core::{
    Actor, Platform,
    model::{ListOrder, MemberRole, MemberSort, OrgId, Role, Timestamp, UserId},
    platform::{MemberFilter, NewUser},
    store::{
        Mode, PageRequest, Store, Tx,
        records::{MemberRecord, UserRecord},
    },
};
use docs_memstore::{MemObjects, MemStore, SeededIds};

const FIRST: [&str; 8] = ["Ada", "Grace", "Edsger", "Barbara", "Alan", "Annie", "Donald", "Leslie"];
const LAST: [&str; 7] = ["Lovelace", "Hopper", "Dijkstra", "Liskov", "Turing", "Easley", "Knuth"];
const ROLES: [Option<Role>; 4] = [Some(Role::Read), Some(Role::Edit), None, Some(Role::Create)];
/// Number of members created per transaction.
const CHUNK: usize = 10;

/// Returns the n-th member. Names repeat, but e-mail addresses do not. Every tenth member has been active.
fn member(org: &OrgId, n: usize) -> Outcome<(UserRecord, MemberRecord)> {
    let at = Timestamp::new(DateTime::UNIX_EPOCH + TimeDelta::milliseconds(1_000 * i64::try_from(n)?));
    let (first, last) = (FIRST[n % FIRST.len()], LAST[n % LAST.len()]);
    let user = UserRecord {
        id: format!("user{n}").parse::<UserId>()?,
        display_name: format!("{first} {last}"),
        email: format!("{first}.{last}.{n}@example.com").to_lowercase(),
        photo: None,
        created_at: at,
    };
    let mut member = MemberRecord::new(org, &user, ROLES[n % ROLES.len()], at);
    member.last_seen_at = n.is_multiple_of(10).then_some(at);
    Ok((user, member))
}

/// Returns the numbers of members. A test run uses small ones.
fn sizes() -> Vec<usize> {
    let is_measured = std::env::args().any(|argument| argument == "--bench");
    if is_measured { vec![1_000, 10_000, 100_000] } else { vec![1_000] }
}

async fn filled(members: usize) -> Outcome<(Platform, OrgId, Actor)> {
    let store = Arc::new(MemStore::new());
    let platform = Platform::builder(Arc::clone(&store) as Arc<dyn Store>, Arc::new(MemObjects::new()))
        .ids(SeededIds::new(3))
        .build();
    let admin = NewUser { display_name: "Admin".parse()?, email: "admin@example.com".parse()? };
    let admin = platform.as_platform().users().create(admin).await?.id;
    let org = platform.as_platform().orgs().create("Bench".parse()?, &admin).await?.id;
    for start in (0..members).step_by(CHUNK) {
        let mut tx = Tx::new(store.begin(Mode::Write, &[]).await?);
        for n in start..members.min(start + CHUNK) {
            let (user, member) = member(&org, n)?;
            tx.create(user);
            tx.create(member);
        }
        tx.commit().await?;
    }
    Ok((platform, org, Actor::User(admin)))
}

fn filters() -> Outcome<Vec<(&'static str, MemberFilter)>> {
    let searching = |text: &str| -> Outcome<MemberFilter> {
        Ok(MemberFilter { search: Some(text.parse()?), ..MemberFilter::default() })
    };
    let reading = Some(MemberRole::from(Role::Read));
    Ok(vec![
        ("all", MemberFilter::default()),
        ("oldest first", MemberFilter { order: ListOrder::Asc, ..MemberFilter::default() }),
        ("role", MemberFilter { role: reading, ..MemberFilter::default() }),
        ("last seen", MemberFilter { sort: MemberSort::LastSeenAt, ..MemberFilter::default() }),
        ("search that many match", searching("lovelace")?),
        ("search that one matches", searching(".777@")?),
        ("search that nobody matches", searching("nobody")?),
        ("search of one letter", searching("g")?),
        ("search and role", MemberFilter { role: reading, ..searching("annie")? }),
        ("search, last seen", MemberFilter { sort: MemberSort::LastSeenAt, ..searching("ada")? }),
    ])
}

fn members(c: &mut Criterion) {
    first_pages(c).expect("a platform in memory does not fail");
}

fn first_pages(c: &mut Criterion) -> Outcome<()> {
    let rt = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut group = c.benchmark_group("first page of members");
    for members in sizes() {
        let (platform, org, admin) = rt.block_on(filled(members))?;
        let first = PageRequest::default();
        for (name, filter) in filters()? {
            group.bench_function(BenchmarkId::new(name, members), |b| {
                b.iter(|| {
                    let page = platform.as_actor(&admin).org(&org).members().list(&filter, &first);
                    black_box(rt.block_on(page)).expect("a page")
                });
            });
        }
    }
    group.finish();
    Ok(())
}

criterion_group! {
    name = benches;
    config = Criterion::default().sample_size(10);
    targets = members
}
criterion_main!(benches);
