//! Attacks on SAML sign-in, with the server's adapter. Each is rejected with a reason and creates no session, although
//! the targeted account exists, is linked, and belongs to an administrator.

use std::{io::Read as _, sync::Arc, time::Duration};

use data_encoding::BASE64;
use docs_core::{Platform, model::AuditEntry, platform::AuditFilter, store::PageRequest};
use docs_http::{HttpApp, HttpConfig, SamlPages};
use docs_memstore::SeededIds;
use docs_saml::{MAX_RESPONSE_BYTES, XmlSaml};
use flate2::read::DeflateDecoder;
use poem::test::{TestClient, TestRequestBuilder};
use serde_json::{Value, json};
use url::{Url, form_urlencoded};

use crate::{
    saml_pages::{deflate_bomb, header, shown},
    server::{Server, id},
};

#[path = "../../../adapters/docs-saml/tests/saml/attacks.rs"]
mod attacks;
#[expect(dead_code, reason = "the tests of the adapter use the rest")]
#[path = "../../../adapters/docs-saml/tests/saml/idp.rs"]
mod idp;

use attacks::{Attack, cut_addresses, entities, known_wrappings, other_wrappings};
use idp::{Asked, EMAIL, HERE, ISSUER, Parts, Scheme, at, certificate, conditions, confirmation, now, sign};

/// The attacker's own account, a guest.
const OWN: &str = "gus@example.com";
const FORM: &str = "application/x-www-form-urlencoded";
/// Time between attempts, short enough that the valid response does not expire.
const LATER: Duration = Duration::from_secs(3);

/// An organization with a provider linked to two of its members, and a browser with a pending login.
struct World {
    s: Server,
    client: TestClient<HttpApp>,
    /// Path of the provider in the application.
    path: String,
    asked: Asked,
    cookie: String,
}

/// An attempt and its expected result.
struct Row {
    what: String,
    form: String,
    cookie: String,
    status: u16,
    said: &'static str,
}

impl World {
    async fn new() -> Self {
        let s = Server::new().await;
        s.clock.set(now());
        let provider = json!({
            "label": "Staff", "entityID": ISSUER, "certificate": certificate("provider"),
            "ssoURL": "https://id.example.com/sso", "defaultRole": "read",
        });
        let provider = s.post(&format!("/v1/orgs/{}/saml", s.org), 201, provider).await.body;
        for (token, email) in [(&s.admin, EMAIL), (&s.guest, OWN)] {
            let user = s.ask("GET", "/v1/user", token, None).await.is(200, "a user");
            assert_eq!(user["email"], email);
            let link = format!("/v1/orgs/{}/members/{}/sso", s.org, id(&user));
            s.ask("POST", &link, &s.admin, None).await.is(200, "linked");
        }
        let platform = Platform::builder(Arc::new(s.faults.clone()), s.objects.clone())
            .clock(s.clock.clone())
            .ids(SeededIds::new(12))
            .saml(Arc::new(XmlSaml))
            .base_url("https://docs.example")
            .build();
        let config = HttpConfig { saml: Some(SamlPages { rate_limit: None }), ..HttpConfig::default() };
        let client = TestClient::new(docs_http::routes(&platform, config).expect("routes"));
        let path = format!("/saml/{}", id(&provider));
        let start = client.get(format!("{path}/start")).send().await;
        assert_eq!(start.0.status().as_u16(), 303);
        let cookie = header(&start, "set-cookie");
        let address = |name: &str| provider["service"][name].as_str().expect("an address").to_owned();
        let asked = Asked {
            audience: address("entityID"),
            recipient: address("acsURL"),
            request: request_of(&header(&start, "location")),
        };
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        Self { s, client, path, asked, cookie }
    }

    /// Returns a valid response for the administrator.
    fn right(&self) -> Parts {
        Parts::of(&self.asked, EMAIL)
    }

    /// Creates an attempt from the browser with the pending login.
    fn row(&self, (what, xml, said): Attack) -> Row {
        let what = what.to_owned();
        Row { what, form: form_of(&xml), cookie: self.cookie.clone(), status: 403, said }
    }

    /// Posts a form from a browser. Returns the status and the response.
    async fn bring(&self, form: String, cookie: &str) -> (u16, Value) {
        let request = self.client.post(format!("{}/acs", self.path)).content_type(FORM).body(form);
        self.send(request, cookie).await
    }

    async fn send(&self, request: TestRequestBuilder<'_, HttpApp>, cookie: &str) -> (u16, Value) {
        let request = request.header("accept", "application/json").header("cookie", cookie);
        let shown = shown(request.send().await).await;
        (shown.status, serde_json::from_str(&shown.body).expect("JSON"))
    }

    /// Returns the records relevant to authentication: users, members, invites, tokens, and consumed SAML responses.
    async fn standing(&self) -> Vec<(String, String)> {
        const KINDS: [&str; 6] = ["usr", "mem", "ive", "tok", "sma", "u"];
        let is_of = |key: &str| key.split(['!', '.']).next().is_some_and(|kind| KINDS.contains(&kind));
        let stored = self.s.stored().await;
        stored.shown().filter(|(key, _)| is_of(key)).collect()
    }

    /// Returns the rejections in the audit log of the organization, newest first.
    async fn refusals(&self) -> Vec<AuditEntry> {
        let filter = AuditFilter {
            organization: Some(self.s.org.parse().expect("an id")),
            operation: Some("saml_login_refuse".to_owned()),
            ..AuditFilter::default()
        };
        let page = PageRequest { limit: Some(100), ..PageRequest::default() };
        self.s.platform.as_platform().audit_log(&filter, &page).await.expect("the log").items
    }
}

/// Returns the request id in the redirect location.
fn request_of(location: &str) -> String {
    let url = Url::parse(location).expect("an address");
    let (_, sent) = url.query_pairs().find(|(name, _)| name == "SAMLRequest").expect("a request");
    let deflated = BASE64.decode(sent.as_bytes()).expect("base64");
    let mut xml = String::new();
    DeflateDecoder::new(&deflated[..]).read_to_string(&mut xml).expect("deflated");
    let document = roxmltree::Document::parse(&xml).expect("XML");
    document.root_element().attribute("ID").expect("an id").to_owned()
}

/// Returns the form that carries a response.
fn form_of(xml: &str) -> String {
    let response = BASE64.encode(xml.as_bytes());
    form_urlencoded::Serializer::new(String::new()).append_pair("SAMLResponse", &response).finish()
}

/// Returns responses without a valid signature of the provider.
fn forged(w: &World) -> Vec<Attack> {
    let right = w.right();
    let with =
        |scheme: Scheme| right.around("_r", &sign(&right.assertion("_a"), "_a", &scheme)).replace(HERE, "");
    let signature = |name: &str| with(Scheme { signature: name.to_owned(), ..Scheme::default() });
    let digest = |name: &str| with(Scheme { digest: name.to_owned(), ..Scheme::default() });
    let own: String = certificate("other").lines().filter(|line| !line.contains("---")).collect();
    let more = format!(
        "<ds:KeyInfo><ds:X509Data><ds:X509Certificate>{own}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>"
    );
    let unsigned = right.around("_r", &right.assertion("_a")).replace(HERE, "");
    let changed = Parts::of(&w.asked, OWN).signed().replace(OWN, EMAIL);
    let (weak, no_digest) = ("signature algorithm is not supported", "digest algorithm is not supported");
    vec![
        ("unsigned", unsigned, "it is not signed"),
        ("another key", with(Scheme { key: "other", ..Scheme::default() }), "does not verify with the key"),
        (
            "a key that it brings along",
            with(Scheme { key: "other", more, ..Scheme::default() }),
            "does not verify with the key",
        ),
        ("SHA-1", signature("http://www.w3.org/2000/09/xmldsig#rsa-sha1"), weak),
        ("a shared secret", signature("http://www.w3.org/2001/04/xmldsig-more#hmac-sha256"), weak),
        ("the algorithm none", signature("none"), weak),
        ("no algorithm", signature(""), weak),
        ("a digest of SHA-1", digest("http://www.w3.org/2000/09/xmldsig#sha1"), no_digest),
        ("the digest none", digest("none"), no_digest),
        ("another address", changed, "changed after it was signed"),
    ]
}

/// Returns responses that the provider signed for another service, browser or time.
fn misplaced(w: &World) -> Vec<Attack> {
    let right = w.right();
    let Asked { audience, recipient, request } = &w.asked;
    let answers = format!("InResponseTo=\"{request}\"");
    let valid = |from, until, audience: &str| {
        Parts { conditions: conditions(&at(from), &at(until), audience), ..right.clone() }.signed()
    };
    let confirmed = |recipient: &str, answers: &str, until| {
        Parts { confirmation: confirmation(recipient, answers, &at(until)), ..right.clone() }.signed()
    };
    let other = "https://other.example";
    let elsewhere = Parts { destination: format!("Destination=\"{other}\""), ..right.clone() }.signed();
    let foreign = Parts::of(&Asked { request: "_other".to_owned(), ..w.asked.clone() }, EMAIL).signed();
    let differing = Parts { answers: Some("_other".to_owned()), ..right.clone() }.signed();
    let unasked =
        Parts { answers: None, confirmation: confirmation(recipient, "", &at(300)), ..right.clone() };
    let [one, two] = ["_a", "_b"].map(|id| sign(&right.assertion(id), id, &Scheme::default()));
    let both = right.around("_r", &format!("{one}{two}")).replace(HERE, "");
    let issuer = Parts { issuer: other.to_owned(), ..right.clone() }.signed();
    vec![
        ("expired", valid(-7_200, -3_600, audience), "it has expired"),
        ("confirmed too long ago", confirmed(recipient, &answers, -3_600), "it has expired"),
        ("not yet valid", valid(3_600, 7_200, audience), "it is not valid yet"),
        ("another audience", valid(-60, 300, other), "its Audience is"),
        ("another recipient", confirmed(other, &answers, 300), "its Recipient is"),
        ("another destination", elsewhere, "its Destination must be"),
        ("another issuer", issuer, "its Issuer must be"),
        ("an answer to a request of nobody", foreign, "answers no request of this browser"),
        (
            "answers to two requests",
            differing,
            "the InResponseTo of the response and of its assertion differ",
        ),
        ("an answer that was not asked for", unasked.signed(), "must not start a sign-in"),
        ("two assertions, both rightly signed", both, "more than one assertion"),
    ]
}

/// Returns all attempts that post a form.
fn rows(w: &World) -> Vec<Row> {
    let (own, right) = (Parts::of(&w.asked, OWN), w.right());
    let longer = Parts::of(&w.asked, &format!("{EMAIL}.evil.example"));
    let attacks = [
        forged(w),
        misplaced(w),
        known_wrappings(&own, &right),
        other_wrappings(&own, &right),
        cut_addresses(&longer, EMAIL),
        entities(&right.signed()),
    ];
    let mut rows: Vec<Row> = attacks.into_iter().flatten().map(|attack| w.row(attack)).collect();
    let padding = " ".repeat(MAX_RESPONSE_BYTES);
    let padded = right.signed().replace("</samlp:Response>", &format!("{padding}</samlp:Response>"));
    rows.push(w.row(("more than a response may have", padded, "at most 262144 bytes")));
    rows.push(Row {
        what: "ten megabytes".to_owned(),
        form: format!("SAMLResponse={}", "a".repeat(10 << 20)),
        cookie: w.cookie.clone(),
        status: 413,
        said: "the body: must be at most",
    });
    let bomb = format!("SAMLResponse={}", deflate_bomb());
    rows.push(Row { form: bomb, ..w.row(("a deflate bomb", String::new(), "it is not XML in UTF-8")) });
    let stranger = w.row(("another browser", right.signed(), "answers no request of this browser"));
    rows.push(Row { cookie: String::new(), ..stranger });
    rows
}

#[tokio::test]
async fn attacks_are_rejected_and_valid_response_is_accepted_once() {
    let w = World::new().await;
    let (before, mut noted) = (w.standing().await, w.refusals().await.len());
    for row in rows(&w) {
        let Row { what, form, cookie, status, said } = row;
        w.s.clock.advance(LATER);
        let (found, answer) = w.bring(form, &cookie).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(found, status, "{what}: {answer}");
        assert!(message.contains(said), "{what}: {answer}");
        assert_eq!(answer.as_object().map(|fields| fields.len()), Some(1), "{what}: no token: {answer}");
        assert!(w.standing().await == before, "{what}: nobody is made, and nobody is let in");
        let refusals = w.refusals().await;
        noted += 1;
        assert_eq!(refusals.len(), noted, "{what}");
        let detail = refusals[0].detail.as_deref().unwrap_or_default();
        assert!(detail.ends_with(message), "{what}: an administrator reads why: {detail}");
    }
    let right = form_of(&w.right().signed());
    let (status, session) = w.bring(right.clone(), &w.cookie).await;
    assert_eq!((status, &session["user"]["email"]), (200, &json!(EMAIL)), "{session}");
    let token = session["token"].as_str().expect("a token");
    assert_eq!(w.s.ask("GET", "/v1/user", token, None).await.is(200, "a session")["email"], EMAIL);
    let after = w.standing().await;
    assert!(after != before, "a token, and an assertion that was used");
    w.s.clock.advance(LATER);
    let (status, again) = w.bring(right, &w.cookie).await;
    let message = again["error"]["message"].as_str().unwrap_or_default();
    assert!(status == 403 && message.contains("was used before"), "{again}");
    assert!(w.standing().await == after, "a replay makes no session");
    let refusals = w.refusals().await;
    assert_eq!(refusals.len(), noted + 1);
    let detail = refusals[0].detail.as_deref().unwrap_or_default();
    assert!(detail.starts_with(&format!("{EMAIL}: ")), "the provider vouched for whom: {detail}");
    let log = format!("/v1/orgs/{}/audit-log?operation=saml_login_refuse&limit=1", w.s.org);
    assert_eq!(w.s.get(&log).await["items"][0]["detail"], detail, "the API shows it");
    w.s.check().await;
}

#[tokio::test]
async fn responses_in_the_url_are_never_read() {
    let w = World::new().await;
    let before = w.standing().await;
    let form = form_of(&w.right().signed());
    for query in [format!("SAMLResponse={}", deflate_bomb()), form.clone()] {
        let request = w.client.get(format!("{}/acs?{query}", w.path));
        let (status, answer) = w.send(request, &w.cookie).await;
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(status == 405 && message.contains("must be sent by HTTP-POST"), "{answer}");
        assert!(w.standing().await == before, "nobody is let in");
        assert_eq!(w.refusals().await[0].detail.as_deref(), Some(message));
    }
    assert_eq!(w.bring(form, &w.cookie).await.0, 200, "by the other binding it is right");
}
