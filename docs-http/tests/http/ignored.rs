//! Unknown fields and parameters of a request are ignored, and reported in response headers.

use serde_json::json;

use crate::{
    matrix::ready,
    refusals::World,
    server::{Answer, Server},
};

const PARAMETERS: &str = "ignored-parameters";
const FIELDS: &str = "ignored-fields";

fn told(answer: &Answer) -> (Option<&str>, Option<&str>) {
    (answer.header(PARAMETERS), answer.header(FIELDS))
}

#[tokio::test]
async fn every_operation_reports_unknown_fields_and_ignores_them() {
    let w = World::new().await;
    let saved = w.s.store.save();
    for op in w.ops() {
        w.s.store.rewind(&saved);
        ready(&w, &op).await;
        let prepared = w.s.store.save();
        let path = w.path(&op);
        let plain = w.send(&op, &path, Some(&w.may(&op))).await;
        assert!(plain.status < 300, "{}: {plain:?}", op.id);
        assert_eq!(told(&plain), (None, None), "{}", op.id);
        w.s.store.rewind(&prepared);
        let mut more = op.clone();
        if let (true, Some(body)) = (op.takes_json, &mut more.body) {
            body["unknwon"] = json!({ "inside": "secret" });
        }
        let path = format!("{path}{}formta=secret&%C3%A4=", if path.contains('?') { '&' } else { '?' });
        let answer = w.send(&more, &path, Some(&w.may(&op))).await;
        assert_eq!(answer.status, plain.status, "{}: {answer:?}", op.id);
        let fields = (op.takes_json && more.body.is_some()).then_some("unknwon");
        assert_eq!(told(&answer), (Some("formta, %C3%A4"), fields), "{}", op.id);
    }
}

#[tokio::test]
async fn error_response_reports_ignored_names_too() {
    let s = Server::new().await;
    let org = format!("/v1/orgs/{}", s.org);
    // The required field was sent with a misspelt name.
    let teams = s.ask("PUT", &format!("{org}/teams?titel=x"), &s.admin, Some(json!({ "titel": "x" }))).await;
    assert_eq!(teams.refused(400, "no title"), "title: is required");
    assert_eq!(told(&teams), (Some("titel"), Some("titel")));
    let nobody = s.send("GET", &format!("{org}/members?roles=edit"), None, None).await;
    nobody.refused(401, "nobody");
    assert_eq!(told(&nobody), (Some("roles"), None));
    let half = Some(("application/json", r#"{"titel":"x","title":"#.to_owned()));
    let authorization = format!("Bearer {}", s.admin);
    let half = s.send("PUT", &format!("{org}/teams"), Some(&authorization), half).await;
    half.refused(400, "half a body");
    assert_eq!(told(&half), (None, Some("titel")));
}

#[tokio::test]
async fn ignored_field_is_reported_with_its_path() {
    let s = Server::new().await;
    let space = s.space().await;
    let request = s.request(&space).await;
    let page =
        json!({ "operation": "insert_page", "document": { "markdown": "# A", "html": "" }, "emojis": [] });
    let answer = s.post(&format!("{request}/content"), 200, json!({ "changes": [page] })).await;
    assert_eq!(told(&answer), (None, Some("changes[0].document.html, changes[0].emojis")));
}

#[tokio::test]
async fn report_of_ignored_names_is_bounded_and_ascii() {
    let s = Server::new().await;
    let fields: serde_json::Map<String, _> =
        (0..5_000).map(|n| (format!("{n}\r\nX-Evil: ä{}", "x".repeat(300)), json!("secret"))).collect();
    let path = format!("/v1/orgs/{}/spaces?{}", s.org, "a%0d%0aX-Evil:1=secret&".repeat(50));
    let answer = s.post(&path, 201, fields.into()).await;
    let (parameters, fields) = told(&answer);
    assert_eq!(parameters, Some("a%0D%0AX-Evil%3A1"));
    let fields = fields.expect("names");
    assert!(fields.len() < 3_000 && fields.ends_with(", ..."), "{} characters", fields.len());
    assert!(fields.bytes().all(|byte| byte.is_ascii_graphic() || byte == b' ') && !fields.contains("secret"));
}
