//! The API in an axum application with its own cookie sessions.
//!
//! `cargo run --example host_session`, then
//! `curl -i -c cookies -H 'content-type: text/plain' -d 'ada@example.com open sesame' http://127.0.0.1:4030/sign-in`
//! and `curl -i -b cookies http://127.0.0.1:4030/docs-api/v1/user`. A token of the platform works too.

mod shared;

use std::{
    collections::HashMap,
    error::Error,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::post,
};
use docs_core::{
    Platform,
    model::UserId,
    ports::{Ids, RandomIds, id_text},
};
use docs_http::{
    HostAuthenticator, HostSignIn, HttpConfig, Identity, SignInFailure, auth::RequestHead, openapi::Problems,
};

/// Base URL of the application.
const ORIGIN: &str = "http://127.0.0.1:4030";
const COOKIE: &str = "session";

/// Sessions of the embedding application, keyed by the secret in the cookie. A real application would persist them in
/// its database, keyed by a hash of the secret.
#[derive(Clone, Default)]
pub(crate) struct Sessions(Arc<Mutex<HashMap<String, UserId>>>);

impl Sessions {
    fn begin(&self, user: UserId) -> String {
        let secret = format!("{}{}", id_text(RandomIds.next()), id_text(RandomIds.next()));
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(secret.clone(), user);
        secret
    }

    fn user(&self, secret: &str) -> Option<UserId> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(secret).cloned()
    }

    /// Ends a session. Requests with its cookie are anonymous from now on.
    fn end(&self, secret: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(secret);
    }
}

#[async_trait::async_trait]
impl HostAuthenticator for Sessions {
    async fn authenticate(&self, request: RequestHead<'_>) -> Result<Identity, SignInFailure> {
        let Some(secret) = cookie(request.headers()) else { return Ok(Identity::Nobody) };
        // Browsers also send the cookie with requests that other sites initiate. Such requests must not write.
        let origin = request.headers().get(header::ORIGIN);
        if !request.method().is_safe() && origin.is_some_and(|origin| origin != ORIGIN) {
            return Err(SignInFailure::refused("a page of another site cannot write with this session"));
        }
        let user = self
            .user(secret)
            .ok_or_else(|| SignInFailure::refused("the session has ended; sign in again"))?;
        Ok(Identity::User(user))
    }

    fn challenge(&self) -> HeaderValue {
        HeaderValue::from_static("Cookie realm=\"docs\"")
    }
}

/// Returns the secret in the session cookie.
fn cookie(headers: &HeaderMap) -> Option<&str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, secret)| secret)
}

/// `POST /sign-in` with an e-mail address and a password. A real application would check the password; here all users
/// share one.
async fn sign_in(State((platform, sessions)): State<(Platform, Sessions)>, body: String) -> Response {
    let (email, password) = body.trim().split_once(' ').unwrap_or_default();
    let user = match platform.as_platform().users().by_email(email).await {
        Ok(user) if password == "open sesame" => user.id,
        _ => return (StatusCode::UNAUTHORIZED, "no such user, or another password\n").into_response(),
    };
    let cookie = format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Lax", sessions.begin(user));
    (StatusCode::NO_CONTENT, [(header::SET_COOKIE, cookie)]).into_response()
}

/// `POST /sign-out`.
async fn sign_out(State((_, sessions)): State<(Platform, Sessions)>, headers: HeaderMap) -> StatusCode {
    if let Some(secret) = cookie(&headers) {
        sessions.end(secret);
    }
    StatusCode::NO_CONTENT
}

/// The embedding application, with the API nested at `/docs-api`.
///
/// # Errors
/// The errors of mounting the API.
pub(crate) fn application(platform: &Platform, sessions: &Sessions) -> Result<Router, Problems> {
    let sign_in_of_host = Some(HostSignIn::with_tokens(sessions.clone()));
    let config = HttpConfig { sign_in: sign_in_of_host, ..HttpConfig::default() };
    Ok(Router::new()
        .route("/sign-in", post(sign_in))
        .route("/sign-out", post(sign_out))
        .with_state((platform.clone(), sessions.clone()))
        .nest_service("/docs-api", docs_http::tower_service(platform, config)?))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (platform, token) = shared::in_memory(&format!("{ORIGIN}/docs-api")).await?;
    let app = application(&platform, &Sessions::default())?;
    let worker = platform.clone();
    tokio::spawn(async move { worker.work(std::future::pending()).await });

    println!("{ORIGIN}/docs-api/v1/user with a session, or with the token {token}");
    axum::serve(tokio::net::TcpListener::bind("127.0.0.1:4030").await?, app).await?;
    Ok(())
}
