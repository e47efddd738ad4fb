//! Pages of the SAML sign-in. They have no scripts and external resources, and are not cached.

use docs_core::platform::SamlSession;
use maud::{DOCTYPE, Markup, html};
use poem::{
    Response,
    http::{HeaderMap, HeaderValue, StatusCode, header},
};
use serde_json::json;

use super::page_error::SamlPageError;
use crate::wire::reply::JSON;

/// Content security policy of these pages. They can only submit a form to their own origin.
const POLICY: &str = "default-src 'none'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// The response format that a client accepts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ResponseFormat {
    Html,
    /// A JSON object, for programs.
    Json,
}

impl ResponseFormat {
    /// Determines the format. Browsers always accept HTML, so only programs get JSON.
    pub(crate) fn from_headers(headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
        match accept.contains("application/json") && !accept.contains("text/html") {
            true => Self::Json,
            false => Self::Html,
        }
    }
}

/// Returns a response without a body, with the common headers.
pub(crate) fn empty_response(status: StatusCode) -> Response {
    let mut response = Response::builder().status(status).finish();
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CACHE_CONTROL, "no-store"),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::VARY, "Accept"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

fn page_response(status: StatusCode, media_type: &'static str, body: String) -> Response {
    let mut response = empty_response(status);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    response.set_body(body);
    response
}

fn page(status: StatusCode, title: &str, content: &Markup) -> Response {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
            }
            body {
                main {
                    h1 { (title) }
                    (content)
                }
            }
        }
    };
    page_response(status, "text/html; charset=utf-8", page.into_string())
}

/// Returns the page of a completed sign-in. The token is shown only once.
pub(crate) fn sign_in_page(shape: ResponseFormat, session: &SamlSession, end: &str) -> Response {
    let SamlSession { organization, user, token, expires_at, .. } = session;
    if shape == ResponseFormat::Json {
        let body = json!({
            "token": token, "expiresAt": expires_at, "organization": organization, "user": user,
        });
        return page_response(StatusCode::OK, JSON, body.to_string());
    }
    page(
        StatusCode::OK,
        "You are signed in",
        &html! {
            p { "You are " strong { (user.display_name) } " (" (user.email.as_deref().unwrap_or_default()) ")." }
            p {
                label for="token" { "Your API token:" }
                br;
                input id="token" readonly size="64" value=(token);
            }
            p { "Copy it now, because it is not shown again, and keep it secret. It is valid until " (expires_at) "." }
            form method="post" action=(end) {
                input type="hidden" name="token" value=(token);
                button { "Sign out" }
            }
        },
    )
}

/// Returns the page shown after a session ended.
pub(crate) fn sign_out_page(shape: ResponseFormat) -> Response {
    if shape == ResponseFormat::Json {
        return empty_response(StatusCode::NO_CONTENT);
    }
    let said = html! { p { "Your token has been revoked. You can close this page." } };
    page(StatusCode::OK, "You are signed out", &said)
}

/// Returns the page of a refused sign-in.
pub(crate) fn refusal_page(
    shape: ResponseFormat,
    refusal: &SamlPageError,
    start: Option<String>,
) -> Response {
    let SamlPageError { status, message } = refusal;
    if shape == ResponseFormat::Json {
        let body = json!({ "error": { "code": status.as_u16(), "message": message } });
        return page_response(*status, JSON, body.to_string());
    }
    page(
        *status,
        "You are not signed in",
        &html! {
            p { (message) }
            @if let Some(start) = start {
                p { a href=(start) { "Sign in again" } }
            }
            p { "If the problem persists, show this page to an administrator of your organization." }
        },
    )
}
