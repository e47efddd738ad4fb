//! The HTTP API: an OpenAPI service on poem, mountable in any Rust web application.
//!
//! An endpoint module has one struct per resource. Each method takes the parsed request, calls one platform operation
//! and wraps the result. Types of `docs_core::model` appear directly in signatures, because they implement parsing,
//! serialization and their JSON schema. This crate provides the building blocks of such modules and combines them into
//! an application.
//!
//! ```
//! use std::sync::Arc;
//!
//! use docs_core::model::{CreateSpace, SpaceTitle};
//! use docs_http::{
//!     ApiInfo, HttpConfig,
//!     auth::{Authenticator, RequestActor},
//!     wire::{error::ApiResult, params::{Path, Query}, payload::Optional, reply::{Created, Reply}},
//! };
//! use poem_openapi::OpenApi;
//!
//! struct Me;
//! struct OneToken;
//!
//! #[async_trait::async_trait]
//! impl Authenticator for OneToken {
//!     type Actor = Me;
//!     async fn authenticate(&self, token: &str) -> docs_core::Result<Me> {
//!         let unknown = || docs_core::Error::new(docs_core::ErrorKind::Unauthenticated, "the token is not valid");
//!         (token == "let-me-in").then_some(Me).ok_or_else(unknown)
//!     }
//! }
//!
//! type Auth = RequestActor<Me>;
//!
//! struct Titles;
//!
//! #[OpenApi]
//! impl Titles {
//!     /// Read a title
//!     #[oai(path = "/titles/:id", method = "get", operation_id = "getTitle")]
//!     async fn get(&self, _who: Auth, id: Path<String>, limit: Query<u32>) -> ApiResult<Reply<String>> {
//!         if id.0 != "1" {
//!             return Err(docs_core::Error::not_found("title").into());
//!         }
//!         Ok(Reply(format!("at most {}", limit.0.unwrap_or(100))))
//!     }
//!
//!     /// Make a title
//!     #[oai(path = "/titles", method = "post", operation_id = "createTitle")]
//!     async fn create(&self, _who: Auth, body: Optional<CreateSpace>) -> ApiResult<Created<Option<SpaceTitle>>> {
//!         Ok(Created::new(body.0.title).with_location("/v1/titles/1"))
//!     }
//! }
//!
//! let app = docs_http::assemble(Titles, ApiInfo::new("Titles", "1.0"), HttpConfig::default(), Arc::new(OneToken))?;
//! // `app` is a poem endpoint; `app.into_tower()` is a tower service.
//! # let _ = app;
//! # Ok::<(), docs_http::openapi::Problems>(())
//! ```
//!
//! | module | content |
//! |---|---|
//! | [`wire`] | bodies, parameters, responses, errors, schemas |
//! | [`auth`] | authentication |
//! | [`openapi`] | the decorator of the API: one error format, one path per template, no interrupted writes |
//! | [`middleware`] | middleware of every request |
//! | [`metrics`] | metrics |
//! | `tower` | the service for servers other than poem; feature `tower` |

mod api;
mod app;
pub mod auth;
mod authenticator;
mod conditions;
mod cors;
mod encoding;
mod endpoints;
#[cfg(feature = "explorer")]
mod explorer;
mod files;
mod files_host;
mod idempotency;
pub mod metrics;
pub mod middleware;
mod mount;
pub mod openapi;
mod pdf;
mod preference;
mod rate;
mod reauthentication;
mod representation;
mod response_memory;
mod saml;
mod sign_in;
mod storage_upload;
#[cfg(feature = "tower")]
pub mod tower;
mod trusted_proxies;
mod webhooks;
pub mod wire;

pub use api::Api;
pub use app::{HttpApp, HttpConfig, assemble, service};
pub use cors::{Cors, CorsOrigin, OriginError};
pub use endpoints::HealthCheck;
#[cfg(feature = "tower")]
pub use mount::tower_service;
pub use mount::{open_api_service, routes};
pub use openapi::ApiInfo;
pub use rate::{RateLimit, RateLimitEndpoint, RateLimiter};
pub use response_memory::ResponseMemory;
pub use saml::SamlPages;
pub use sign_in::{HostAuthenticator, HostSignIn, Identity, SignInFailure};
pub use trusted_proxies::{ProxyError, TrustedProxies};
