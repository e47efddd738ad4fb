//! Space counts over HTTP exclude deleted spaces, and include them again once restored.

use serde_json::{Value, json};

use crate::{
    server::{Server, id},
    teams,
};

/// Returns the number of spaces of a site, a team and a member, both from their lists and from the resources.
async fn counted(s: &Server, site: &str, team: &str, user: &str) -> [Value; 6] {
    let (org, last) =
        (format!("/v1/orgs/{}", s.org), |path: &str| path.rsplit('/').next().map(str::to_owned));
    let in_list = |list: Value, wanted: String, count: &str| {
        let items = list["items"].as_array().expect("items").clone();
        let found = items.iter().find(|item| item["id"] == *wanted).unwrap_or_else(|| panic!("{wanted}"));
        found[count].clone()
    };
    let (site_id, team_id) = (last(site).expect("an id"), last(team).expect("an id"));
    [
        s.get(site).await["siteSpaces"].clone(),
        in_list(s.get(&format!("{org}/sites")).await, site_id, "siteSpaces"),
        s.get(team).await["spaces"].clone(),
        in_list(s.get(&format!("{org}/teams")).await, team_id, "spaces"),
        s.get(&format!("{org}/members/{user}")).await["spaces"].clone(),
        in_list(s.get(&format!("{org}/members")).await, user.to_owned(), "spaces"),
    ]
}

#[tokio::test]
async fn counts_of_spaces_exclude_deleted_ones() {
    let s = Server::new().await;
    let (one, other) = (s.space().await, s.space().await);
    let site = s.site("Docs", &[&one, &other]).await;
    let team = teams::team(&s, "Writers").await;
    let (user, _) = s.joining("Cat", None).await;
    let team_id = team.rsplit('/').next().expect("an id");
    for space in [&one, &other] {
        let invite = json!({ "role": "edit", "users": [&user], "teams": [team_id] });
        s.post(&format!("/v1/spaces/{space}/permissions"), 204, invite).await;
    }
    let all = |n: u64| [(); 6].map(|()| json!(n));
    assert_eq!(counted(&s, &site, &team, user.as_str()).await, all(2));
    s.ask("DELETE", &format!("/v1/spaces/{one}"), &s.admin, None).await.is(204, "deleted");
    assert_eq!(counted(&s, &site, &team, user.as_str()).await, all(1), "one is deleted");
    s.ask("DELETE", &format!("/v1/spaces/{other}"), &s.admin, None).await.is(204, "deleted");
    assert_eq!(counted(&s, &site, &team, user.as_str()).await, all(0), "both are deleted");
    s.post(&format!("/v1/spaces/{one}/restore"), 200, json!({})).await;
    assert_eq!(counted(&s, &site, &team, user.as_str()).await, all(1), "one is back");
    s.check().await;
    // Purging a deleted space does not decrement the counts a second time.
    s.clock.advance(std::time::Duration::from_secs(8 * 24 * 3600));
    s.platform.settle().await.expect("settled");
    assert_eq!(counted(&s, &site, &team, user.as_str()).await, all(1), "one is gone for good");
    let again = s.post(&format!("/v1/spaces/{one}/duplicate"), 201, json!({})).await.body;
    s.post(&format!("{site}/site-spaces"), 201, json!({ "spaceId": id(&again) })).await;
    assert_eq!(counted(&s, &site, &team, user.as_str()).await[0], 2);
    s.check().await;
}
