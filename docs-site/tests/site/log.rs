//! The request log.

use std::cell::RefCell;

use docs_core::model::{CreateShareLink, SiteVisibility};
use poem::http::StatusCode;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use crate::world::{World, path_of};

thread_local! {
    /// The log of the current thread.
    static LINES: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A subscriber that records the log of each thread separately. It is installed for the whole process, because
/// `tracing` caches the interest in a log line when any thread first uses it.
struct Log;

fn taken() -> String {
    LINES.with(RefCell::take)
}

impl Subscriber for Log {
    fn enabled(&self, of: &Metadata<'_>) -> bool {
        of.target().starts_with("docs_site")
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        struct Line<'l>(&'l mut String);
        impl Visit for Line<'_> {
            fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
                self.0.push_str(&format!("{}={value:?} ", field.name()));
            }
        }
        LINES.with_borrow_mut(|lines| event.record(&mut Line(lines)));
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn logs_hold_public_paths_but_no_share_link_keys() {
    let w = World::new().await;
    let space = w.space("Guide").await;
    w.page(&space, "First", "Start.").await;
    w.page(&space, "Second", "More.").await;
    let (site, path) = w.site("Docs", &space).await;
    tracing::subscriber::set_global_default(Log).expect("the only one");
    tracing::callsite::rebuild_interest_cache();
    taken();
    for page in ["second", "nothing"] {
        w.get(&format!("{path}{page}")).await;
        let line = taken();
        assert!(line.contains(&format!("http.path=\"{path}{page}\"")), "{line}");
    }
    w.show(&site, SiteVisibility::ShareLink).await;
    let new = CreateShareLink { name: "For reviewers".parse().expect("a name") };
    let link = w.me().org(&w.org).site(&site).share_links().create(new).await.expect("a link");
    let opened = path_of(link.urls.published.as_deref().expect("an address"));
    let key = opened.trim_matches('/').rsplit('/').next().expect("a key").to_owned();
    let first = w.html(&opened).await;
    let asset = first.split('"').find(|part| part.contains("/~site/site.")).expect("an asset").to_owned();
    let asset = format!("{opened}{}", &asset[asset.find("~site").expect("an asset")..]);
    for (page, status) in [
        (opened.as_str(), StatusCode::OK),
        (asset.as_str(), StatusCode::OK),
        (&format!("{opened}second"), StatusCode::OK),
        (&format!("{opened}nothing"), StatusCode::NOT_FOUND),
        (&format!("{opened}~/changes/1/"), StatusCode::UNAUTHORIZED),
        (&format!("{opened}?jwt_token=x"), StatusCode::TEMPORARY_REDIRECT),
    ] {
        taken();
        assert_eq!(w.get(page).await.status, status, "{page}");
        let line = taken();
        assert!(line.contains("http.path=") && !line.contains(&key), "{line}");
    }
}
