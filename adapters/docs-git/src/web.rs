//! Git's protocol over HTTP.

use std::time::Duration;

use docs_ports::GitError;
use docs_web::{Credentials, Dialer, Guard, reason};
use reqwest::{
    Client, RequestBuilder, Response, StatusCode,
    header::{ACCEPT, CONTENT_TYPE, LOCATION},
};
use url::Url;

use crate::{
    Limits,
    address::{self, host_error},
    line::{Answer, Ask, Asks},
    meter::Meter,
};

/// Answers what libgit2 asks of a repository over HTTP, until it asks no more.
pub(crate) async fn serve(mut session: Session, mut asks: Asks) -> Result<(), GitError> {
    while let Some(ask) = asks.recv().await {
        match ask {
            Ask::Refs(answer) => session.refs(answer).await?,
            Ask::Exchange(body, answer) => session.exchange(body, answer).await?,
            Ask::Open(_) | Ask::Send(_) => return Err(GitError::Broken("this is not a daemon".to_owned())),
        }
    }
    Ok(())
}

/// A repository while it is fetched.
pub(crate) struct Session {
    guard: Guard,
    dialer: Dialer,
    idle: Duration,
    meter: Meter,
    /// Where the repository is; a redirect of the first request moves it.
    base: Url,
    credentials: Option<Credentials>,
    /// The client for the host of `base`.
    client: Option<Client>,
}

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 3;

/// The path and the query of the list of refs.
const REFS: &str = "/info/refs";
const SERVICE: &str = "service=git-upload-pack";

/// Some hosts answer programs whose name begins like this only.
pub(crate) const USER_AGENT: &str = concat!("git/2.0 (docs-git ", env!("CARGO_PKG_VERSION"), ")");

impl Session {
    pub(crate) fn new(address: address::Web, guard: Guard, dialer: Dialer, limits: Limits) -> Self {
        Self {
            guard,
            dialer,
            idle: limits.idle,
            meter: Meter::new(limits.total_bytes),
            base: address.url,
            credentials: address.credentials,
            client: None,
        }
    }

    async fn refs(&mut self, answer: Answer) -> Result<(), GitError> {
        let mut url = with_path(&self.base, REFS);
        url.set_query(Some(SERVICE));
        for _ in 0..=MAX_REDIRECTS {
            let client = self.client().await?;
            let response = self.send(client.get(url.clone()).header(ACCEPT, "*/*")).await?;
            if response.status().is_redirection() {
                url = self.follow(&url, &response)?;
                continue;
            }
            check_status(response.status())?;
            if !has_type(&response, "application/x-git-upload-pack-advertisement") {
                // A page of a website, or a server that offers plain files.
                return Err(GitError::NoRepository);
            }
            return self.forward(response, answer).await;
        }
        Err(GitError::Refused(format!("the server redirects more than {MAX_REDIRECTS} times")))
    }

    async fn exchange(&mut self, body: Vec<u8>, answer: Answer) -> Result<(), GitError> {
        let url = with_path(&self.base, "/git-upload-pack");
        let client = self.client().await?;
        let request = client
            .post(url)
            .header(CONTENT_TYPE, "application/x-git-upload-pack-request")
            .header(ACCEPT, "application/x-git-upload-pack-result")
            .body(body);
        let response = self.send(request).await?;
        if response.status().is_redirection() {
            return Err(GitError::Refused("the server redirects in the middle of a fetch".to_owned()));
        }
        check_status(response.status())?;
        if !has_type(&response, "application/x-git-upload-pack-result") {
            return Err(GitError::Broken("the server does not answer as a Git server".to_owned()));
        }
        self.forward(response, answer).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, GitError> {
        let request = match &self.credentials {
            Some(credentials) => credentials.sign(request),
            None => request,
        };
        request.send().await.map_err(|error| unreachable(&error))
    }

    /// Moves to where a redirect leads.
    fn follow(&mut self, from: &Url, response: &Response) -> Result<Url, GitError> {
        let location =
            response.headers().get(LOCATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let mut to = from.join(location).map_err(|_| {
            GitError::Broken("the server redirects to something that is not a URL".to_owned())
        })?;
        let is_worse = from.scheme() == "https" && to.scheme() != "https";
        if is_worse || !matches!(to.scheme(), "http" | "https") {
            return Err(GitError::Refused(
                "the server redirects to a kind of URL that is not allowed".to_owned(),
            ));
        }
        // What a redirect says about who asks is not from the user.
        if to.set_username("").is_err() || to.set_password(None).is_err() {
            return Err(GitError::Broken("the server redirects to a URL without a host".to_owned()));
        }
        let Some(path) = to.path().strip_suffix(REFS).filter(|_| to.query() == Some(SERVICE)) else {
            // To a page for people: the repository is not there, or not for everyone.
            return Err(GitError::NoRepository);
        };
        let mut base = to.clone();
        base.set_path(path);
        base.set_query(None);
        if !Credentials::stay(&self.base, &base) {
            self.credentials = None;
        }
        if self.base.origin() != base.origin() {
            self.client = None;
        }
        self.base = base;
        Ok(to)
    }

    /// The client for the host of `base`, which connects to checked addresses only.
    async fn client(&mut self) -> Result<Client, GitError> {
        if let Some(client) = &self.client {
            return Ok(client.clone());
        }
        let client = self.dialer.client(&self.guard, &self.base, self.idle).await.map_err(host_error)?;
        Ok(self.client.insert(client).clone())
    }

    /// Passes the body of a response on, as far as it is read.
    async fn forward(&mut self, mut response: Response, answer: Answer) -> Result<(), GitError> {
        while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&error))? {
            self.meter.add(piece.len())?;
            if answer.send(Some(piece)).await.is_err() {
                return Ok(());
            }
        }
        // Nobody may be left who wants to know that this was the end.
        let _ = answer.send(None).await;
        Ok(())
    }
}

fn with_path(base: &Url, path: &str) -> Url {
    let mut url = base.clone();
    url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
    url
}

fn has_type(response: &Response, expected: &str) -> bool {
    let value =
        response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().is_some_and(|value| value.trim().eq_ignore_ascii_case(expected))
}

fn check_status(status: StatusCode) -> Result<(), GitError> {
    match status {
        StatusCode::OK => Ok(()),
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(GitError::Credentials),
        StatusCode::NOT_FOUND | StatusCode::GONE => Err(GitError::NoRepository),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT => {
            Err(GitError::Unreachable(format!("the server answered {status}")))
        }
        status if status.is_server_error() => {
            Err(GitError::Unreachable(format!("the server answered {status}")))
        }
        status => Err(GitError::Broken(format!("the server answered {status}"))),
    }
}

fn unreachable(error: &reqwest::Error) -> GitError {
    GitError::Unreachable(reason(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn statuses_have_their_meaning() {
        for (status, error) in
            [(401, GitError::Credentials), (403, GitError::Credentials), (404, GitError::NoRepository)]
        {
            assert_eq!(check_status(StatusCode::from_u16(status).unwrap()), Err(error));
        }
        for status in [429, 500, 502, 503] {
            assert!(check_status(StatusCode::from_u16(status).unwrap()).unwrap_err().may_pass());
        }
        assert!(!check_status(StatusCode::IM_A_TEAPOT).unwrap_err().may_pass());
        assert_eq!(check_status(StatusCode::OK), Ok(()));
    }

    #[test]
    fn paths_are_added_to_the_repository() {
        assert_eq!(with_path(&url("https://a.test/x.git"), REFS).as_str(), "https://a.test/x.git/info/refs");
        assert_eq!(with_path(&url("https://a.test"), REFS).as_str(), "https://a.test/info/refs");
    }
}
