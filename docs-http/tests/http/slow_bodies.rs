//! Callers that lose their rights while the body of their request arrives.

use std::{io, time::Duration};

use bytes::Bytes;
use docs_core::{platform::NewToken, ports::Clock as _};
use futures_util::{StreamExt as _, stream};
use poem::Body;
use serde_json::json;
use tokio::sync::oneshot;

use crate::server::{Answer, Server};

/// A request whose body changes something.
struct Write<'w> {
    path: &'w str,
    headers: &'w [(&'w str, &'w str)],
    body: &'w str,
}

/// An event while a body arrives.
#[derive(Clone, Copy, Debug)]
enum Event {
    Nothing,
    TokenRevoked,
    TokenExpired,
    MemberRemoved,
}

const EVENTS: [(Event, u16); 4] = [
    (Event::Nothing, 201),
    (Event::TokenRevoked, 401),
    (Event::TokenExpired, 401),
    (Event::MemberRemoved, 404),
];

/// Sends the first half of a body. Sends the other half after the event, when a second has passed.
async fn send(s: &Server, write: &Write<'_>, event: Event) -> Answer {
    let user = s.platform.authenticate(&s.both).await.expect("a token").user().expect("a user").clone();
    let expires_at = Some((s.clock.now() + Duration::from_secs(3_600)).into());
    let new = NewToken { label: "slow".parse().expect("a label"), secret: None, expires_at };
    let token = s.platform.as_platform().user(&user).issue_token(new).await.expect("a token");
    let (begun, wait_until_begun) = oneshot::channel();
    let (end, wait_for_end) = oneshot::channel();
    let (first, second) = write.body.as_bytes().split_at(write.body.len() / 2);
    let (first, second) = (Bytes::copy_from_slice(first), Bytes::copy_from_slice(second));
    let rest = async move {
        begun.send(()).expect("the test waits");
        wait_for_end.await.expect("the test continues");
        Ok(second)
    };
    let parts = stream::iter([Ok::<_, io::Error>(first)]).chain(stream::once(rest));
    let mut request = s.client.post(write.path).header("authorization", format!("Bearer {}", token.secret));
    for (name, value) in write.headers {
        request = request.header(*name, *value);
    }
    let sending = request.body(Body::from_bytes_stream(Box::pin(parts))).send();
    let lose_rights = async {
        wait_until_begun.await.expect("the body is read");
        let platform = s.platform.as_platform();
        match event {
            Event::Nothing => {}
            Event::TokenRevoked => platform.user(&user).revoke_token(&token.id).await.expect("revoked"),
            Event::TokenExpired => s.clock.advance(Duration::from_secs(3_600)),
            Event::MemberRemoved => {
                platform.org(&s.org.parse().expect("an id")).member(&user).remove().await.expect("removed");
            }
        }
        tokio::time::advance(Duration::from_secs(1)).await;
        end.send(()).expect("the body is read");
    };
    let (response, ()) = tokio::join!(sending, lose_rights);
    let (status, headers) = (response.0.status().as_u16(), response.0.headers().clone());
    let bytes = response.0.into_body().into_bytes().await.expect("a body");
    Answer { status, headers, body: serde_json::from_slice(&bytes).expect("JSON") }
}

/// Returns the number of items of a list.
async fn count(s: &Server, path: &str) -> usize {
    s.get(path).await["items"].as_array().map_or(0, Vec::len)
}

#[tokio::test(start_paused = true)]
async fn a_slow_body_without_a_valid_token_at_its_end_writes_nothing() {
    let json = [("content-type", "application/json")];
    let with_key = [("content-type", "application/json"), ("idempotency-key", "a")];
    let form =
        "--b\r\ncontent-disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\ntext\r\n--b--\r\n";
    for (event, status) in EVENTS {
        for (is_file, headers, body) in [
            (false, &json[..], "{\"title\":\"Slow\"}"),
            (false, &with_key, "{\"title\":\"Slow\"}"),
            (true, &[("content-type", "text/plain")], "some text"),
            (true, &[("content-type", "multipart/form-data; boundary=b")], form),
            (true, &[("content-type", "text/plain"), ("idempotency-key", "a")], "some text"),
        ] {
            let s = Server::new().await;
            let space = format!("/v1/spaces/{}", s.space().await);
            s.patch(&space, json!({ "editMode": "live" })).await;
            let list = match is_file {
                true => format!("{space}/content/files"),
                false => format!("/v1/orgs/{}/spaces", s.org),
            };
            let query = if is_file { "?name=a.txt" } else { "" };
            let before = count(&s, &list).await;
            let answer = send(&s, &Write { path: &format!("{list}{query}"), headers, body }, event).await;
            assert_eq!(answer.status, status, "{event:?} {headers:?}: {:?}", answer.body);
            let created = usize::from(status == 201);
            assert_eq!(count(&s, &list).await - before, created, "{event:?} {headers:?}");
            if status == 401 {
                assert_eq!(answer.header("www-authenticate"), Some("Bearer"), "{event:?}");
            }
            s.check().await;
        }
    }
}
