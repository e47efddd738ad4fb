//! The change requests of an organization.

use docs_core::{
    ErrorKind,
    model::{ChangeRequestOrder, SpaceId},
    platform::OrgRequestFilter,
    store::{Batch, MAX_SCANNED, Mode, Op, PageRequest, Value, records::SpaceRecord},
};

use crate::support::{Refused, World};

#[tokio::test]
async fn order_by_change_is_rejected_for_very_many_spaces() {
    let w = World::new().await;
    let space = w.space().await;
    let number = w.request(&space).await;
    let list = async |filter: OrgRequestFilter| {
        let filter = OrgRequestFilter { order: ChangeRequestOrder::UpdatedAt, ..filter };
        w.as_admin().org(&w.org).list_change_requests(&filter, &PageRequest::default()).await
    };
    // Index rows suffice, because their number decides. The space created above is the first of them.
    let add = async |numbers: std::ops::Range<usize>| {
        let rows = numbers.map(|n| {
            let id: SpaceId = format!("space-{n}").parse().expect("an id");
            let row = SpaceRecord::by_org(&w.org).time(w.clock_now().time()).part(id.as_str());
            Op::Put(row.key(), Value::Unit)
        });
        let batch = Batch { ops: rows.collect(), feed: Vec::new() };
        let store = w.platform.store();
        store.begin(Mode::Write, &[]).await.expect("begins").commit(batch).await.expect("commits");
    };
    for from in (1..MAX_SCANNED).step_by(1_000) {
        add(from..MAX_SCANNED.min(from + 1_000)).await;
    }
    let listed = list(OrgRequestFilter::default()).await.expect("at the limit");
    assert_eq!(listed.items.len(), 1);
    add(MAX_SCANNED..MAX_SCANNED + 1).await;
    let refused = list(OrgRequestFilter::default()).await.refused(ErrorKind::Invalid);
    assert!(refused.message().starts_with("orderBy: must be `createdAt`"), "{refused}");
    let of_space = OrgRequestFilter { space: Some(space.to_string()), ..OrgRequestFilter::default() };
    let listed = list(of_space).await.expect("a space is selected");
    assert_eq!(listed.items[0].number.to_string(), number);
}
