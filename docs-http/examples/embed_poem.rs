//! The API next to other routes of a poem application.
//!
//! `cargo run --example embed_poem`, then `curl -i http://127.0.0.1:4010/hello` and
//! `curl -i http://127.0.0.1:4010/docs-api/healthz`.

mod shared;

use std::error::Error;

use docs_http::HttpConfig;
use poem::{EndpointExt, Route, Server, get, handler, listener::TcpListener};

#[handler]
fn hello() -> &'static str {
    "the host's own page\n"
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let (platform, token) = shared::in_memory("http://127.0.0.1:4010/docs-api").await?;
    let app = Route::new()
        .at("/hello", get(hello))
        .nest("/docs-api", docs_http::routes(&platform, HttpConfig::default())?.boxed());

    // The embedding application runs background work as a task.
    let worker = platform.clone();
    tokio::spawn(async move { worker.work(std::future::pending()).await });

    println!("http://127.0.0.1:4010/docs-api/v1/user with the token {token}");
    Server::new(TcpListener::bind("127.0.0.1:4010")).run(app).await?;
    Ok(())
}
