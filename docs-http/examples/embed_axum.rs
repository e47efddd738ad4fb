//! The API nested in an axum application.
//!
//! `cargo run --example embed_axum`, then `curl -i http://127.0.0.1:4020/hello` and
//! `curl -i http://127.0.0.1:4020/docs-api/healthz`.

mod shared;

use std::error::Error;

use axum::{Router, routing::get};
use docs_http::HttpConfig;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (platform, token) = shared::in_memory("http://127.0.0.1:4020/docs-api").await?;
    let app = Router::new()
        .route("/hello", get(|| async { "the host's own page\n" }))
        .nest_service("/docs-api", docs_http::tower_service(&platform, HttpConfig::default())?);

    // The embedding application runs background work as a task.
    let worker = platform.clone();
    tokio::spawn(async move { worker.work(std::future::pending()).await });

    println!("http://127.0.0.1:4020/docs-api/v1/user with the token {token}");
    axum::serve(tokio::net::TcpListener::bind("127.0.0.1:4020").await?, app).await?;
    Ok(())
}
