//! A minimal browser for sign-in: it stores cookies, follows redirects, and submits forms.

use std::collections::BTreeMap;

use http_body_util::{BodyExt as _, Full};
use hyper::{Request, body::Bytes};
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use url::{Url, form_urlencoded};

/// Maximum number of consecutive redirects.
const MAX_REDIRECTS: usize = 5;

/// A browser with its cookies.
#[derive(Clone)]
pub(crate) struct Browser {
    http: Client<HttpConnector, Full<Bytes>>,
    /// Cookie values, keyed by origin, path and name.
    cookies: BTreeMap<(String, String, String), String>,
}

/// A loaded page.
#[derive(Debug)]
pub(crate) struct Shown {
    pub(crate) url: Url,
    pub(crate) status: u16,
    pub(crate) body: String,
}

#[derive(Clone, Debug)]
pub(crate) struct Form {
    pub(crate) action: Url,
    pub(crate) fields: BTreeMap<String, String>,
}

impl Browser {
    pub(crate) fn new() -> Self {
        Self { http: Client::builder(TokioExecutor::new()).build_http(), cookies: BTreeMap::new() }
    }

    /// Opens a URL.
    pub(crate) async fn open(&mut self, url: &str) -> Shown {
        self.go(Url::parse(url).expect("an address"), None).await
    }

    /// Submits a form.
    pub(crate) async fn send(&mut self, form: &Form) -> Shown {
        let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(&form.fields).finish();
        self.go(form.action.clone(), Some(body)).await
    }

    async fn go(&mut self, mut url: Url, mut form: Option<String>) -> Shown {
        for _ in 0..MAX_REDIRECTS {
            let mut request = Request::builder().uri(url.as_str()).header("accept", "text/html,*/*;q=0.8");
            if let Some(cookies) = self.cookies_of(&url) {
                request = request.header("cookie", cookies);
            }
            if form.is_some() {
                request = request.method("POST").header("content-type", "application/x-www-form-urlencoded");
            }
            let body = Full::new(form.take().unwrap_or_default().into());
            let answer = self.http.request(request.body(body).expect("a request")).await.expect("an answer");
            let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
            for cookie in headers.get_all("set-cookie") {
                self.keep(&url, cookie.to_str().expect("text"));
            }
            if let (303, Some(to)) = (status, headers.get("location")) {
                url = url.join(to.to_str().expect("text")).expect("an address");
                continue;
            }
            let body = answer.into_body().collect().await.expect("a body").to_bytes();
            return Shown { url, status, body: String::from_utf8(body.to_vec()).expect("text") };
        }
        panic!("more than {MAX_REDIRECTS} redirects to {url}");
    }

    fn cookies_of(&self, url: &Url) -> Option<String> {
        let origin = url.origin().ascii_serialization();
        let fits = |path: &str| {
            url.path() == path || url.path().starts_with(&format!("{}/", path.trim_end_matches('/')))
        };
        let cookies = self.cookies.iter().filter(|((of, path, _), _)| *of == origin && fits(path));
        let cookies: Vec<String> = cookies.map(|((_, _, name), value)| format!("{name}={value}")).collect();
        (!cookies.is_empty()).then(|| cookies.join("; "))
    }

    fn keep(&mut self, url: &Url, cookie: &str) {
        let mut parts = cookie.split(';').map(str::trim);
        let (name, value) = parts.next().and_then(|pair| pair.split_once('=')).expect("a cookie");
        let attributes: Vec<&str> = parts.collect();
        let path = attributes.iter().find_map(|it| it.strip_prefix("Path=")).unwrap_or("/");
        let key = (url.origin().ascii_serialization(), path.to_owned(), name.to_owned());
        match attributes.contains(&"Max-Age=0") {
            true => drop(self.cookies.remove(&key)),
            false => drop(self.cookies.insert(key, value.to_owned())),
        }
    }
}

impl Shown {
    /// Returns the first form of the page.
    #[track_caller]
    pub(crate) fn form(&self) -> Form {
        let (_, form) = self.body.split_once("<form ").unwrap_or_else(|| panic!("a form: {}", self.body));
        let form = form.split("</form>").next().expect("its end");
        let action = attribute(form.split('>').next().expect("a tag"), "action").expect("where it goes");
        let inputs = form.split("<input ").skip(1).map(|rest| rest.split('>').next().expect("a tag"));
        let fields = inputs
            .filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value").unwrap_or_default())));
        Form { action: self.url.join(&action).expect("an address"), fields: fields.collect() }
    }
}

/// Returns the unescaped value of an attribute of a tag.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    let value = rest.split('"').next()?;
    let value =
        value.replace("&quot;", "\"").replace("&#x27;", "'").replace("&lt;", "<").replace("&gt;", ">");
    Some(value.replace("&amp;", "&"))
}
