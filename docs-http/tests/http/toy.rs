//! A small API for tests. Two of its objects share a path but name its parameter differently.

use std::sync::Arc;

use async_trait::async_trait;
use docs_core::{
    Error, ErrorKind,
    model::{
        CreateSpace, ImportGitRepository, List, RevisionPage, SitePointer, SiteType, SpaceId, SpaceTitle,
        UpdateContent, UpdateSpace,
    },
};
use docs_http::{
    ApiInfo, HttpApp, HttpConfig, assemble,
    auth::{Authenticator, MaybeRequestActor, RequestActor},
    wire::{
        error::ApiResult,
        params::{Path, Query, RequiredQuery},
        payload::{BodyLimit, Optional, Strict},
        reply::{Created, Deletion, Empty, EmptyCreated, NoContent, Reply},
    },
};
use poem::{
    Endpoint, Response,
    test::{TestClient, TestRequestBuilder},
};
use poem_openapi::OpenApi;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Notify;

/// Maximum size of a request body in bytes.
pub(crate) const LIMIT: usize = 1000;

#[derive(Debug)]
pub(crate) struct Person(pub String);

/// Accepts the token `good`. For the token `later`, authentication is unavailable.
pub(crate) struct Tokens;

#[async_trait]
impl Authenticator for Tokens {
    type Actor = Person;

    async fn authenticate(&self, token: &str) -> docs_core::Result<Person> {
        match token {
            "good" => Ok(Person("ada".to_owned())),
            "later" => {
                Err(Error::new(ErrorKind::Unavailable, "tokens cannot be checked now; try again later"))
            }
            _ => Err(Error::new(ErrorKind::Unauthenticated, "the token is not valid; make a new one")),
        }
    }
}

type Auth = RequestActor<Person>;

/// A space in responses of this API.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Sketch {
    /// The id of the space.
    pub id: SpaceId,
    /// The title of the space.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<SpaceTitle>,
    /// The name of the caller.
    pub asked_by: String,
}

/// Synchronization points of a slow write.
#[derive(Clone, Default)]
pub(crate) struct Slow {
    pub begun: Arc<Notify>,
    pub go: Arc<Notify>,
    pub done: Arc<Notify>,
}

pub(crate) struct Reads;

#[OpenApi]
impl Reads {
    /// Shows a space
    ///
    /// A longer text.
    #[oai(path = "/spaces/:id", method = "get", operation_id = "getSpace")]
    async fn get(&self, who: Auth, id: Path<String>) -> ApiResult<Reply<Sketch>> {
        let id: SpaceId = id.0.parse().map_err(|_| Error::not_found("space"))?;
        match id.as_str() {
            "secret" => Err(Error::forbidden("reading this space needs the role `read`").into()),
            "broken" => Err(Error::internal("the disk is on fire").into()),
            _ => Ok(Reply(Sketch { id, title: None, asked_by: who.0.0 })),
        }
    }

    /// Lists spaces
    #[oai(path = "/spaces", method = "get", operation_id = "listSpaces")]
    async fn list(
        &self,
        _who: Auth,
        /// At most so many.
        limit: Query<u32>,
        /// Only spaces of these types.
        #[oai(name = "type")]
        types: Query<Vec<SiteType>>,
        /// Includes deleted spaces.
        deleted: Query<bool>,
    ) -> ApiResult<Reply<List<String>>> {
        let items = vec![format!("{:?} {:?} {:?}", limit.0, types.0, deleted.0)];
        Ok(Reply(List { next: None, count: Some(1), items }))
    }

    /// Searches spaces
    #[oai(path = "/search", method = "get", operation_id = "search")]
    async fn search(
        &self,
        who: MaybeRequestActor<Person>,
        query: RequiredQuery<String>,
    ) -> ApiResult<Reply<String>> {
        let name = who.0.map_or("nobody".to_owned(), |who| who.0);
        Ok(Reply(format!("{name} looks for {}", query.0)))
    }

    /// Shows a page
    #[oai(path = "/pages/:id", method = "get", operation_id = "getPage")]
    async fn page(
        &self,
        _who: Auth,
        #[oai(name = "id")] _id: Path<String>,
    ) -> ApiResult<Reply<RevisionPage>> {
        Err(Error::not_found("page").into())
    }

    /// Panics
    #[oai(path = "/panic", method = "get", operation_id = "panicRead")]
    async fn panic_read(&self) -> ApiResult<NoContent> {
        panic!("the secret is 42")
    }

    /// The root
    #[oai(path = "/", method = "get", operation_id = "getRoot")]
    async fn root(&self) -> ApiResult<Reply<String>> {
        Ok(Reply("root".to_owned()))
    }
}

/// An API object with a parameter in its prefix.
pub(crate) struct Pages;

#[OpenApi(prefix_path = "/spaces/:spaceId/pages")]
impl Pages {
    /// Shows a page of a space
    #[oai(path = "/:pageId", method = "get", operation_id = "getPageOfSpace")]
    async fn get(
        &self,
        #[oai(name = "spaceId")] space: Path<String>,
        #[oai(name = "pageId")] page: Path<String>,
    ) -> ApiResult<Reply<String>> {
        Ok(Reply(format!("page {} of space {}", page.0, space.0)))
    }
}

pub(crate) struct Writes(pub Slow);

#[OpenApi]
impl Writes {
    /// Changes a space
    #[oai(path = "/spaces/:spaceId", method = "patch", operation_id = "updateSpace")]
    async fn update(
        &self,
        who: Auth,
        #[oai(name = "spaceId")] id: Path<String>,
        change: Strict<UpdateSpace>,
    ) -> ApiResult<Reply<Sketch>> {
        let id = id.0.parse().map_err(|_| Error::not_found("space"))?;
        Ok(Reply(Sketch { id, title: change.0.title, asked_by: who.0.0 }))
    }

    /// Creates a space
    #[oai(path = "/spaces", method = "post", operation_id = "createSpace")]
    async fn create(&self, who: Auth, body: Optional<CreateSpace>) -> ApiResult<Created<Sketch>> {
        let id = "new".parse().map_err(Error::internal)?;
        let sketch = Sketch { id, title: body.0.title, asked_by: who.0.0 };
        Ok(Created::new(sketch).with_location("/v1/spaces/new"))
    }

    /// Deletes a space
    #[oai(path = "/spaces/:spaceId", method = "delete", operation_id = "deleteSpace")]
    async fn delete(&self, _who: Auth, #[oai(name = "spaceId")] id: Path<String>) -> ApiResult<Deletion> {
        Ok(if id.0 == "known" { Deletion::Deleted } else { Deletion::Absent })
    }

    /// Deletes a page of a space
    #[oai(path = "/spaces/:id/pages/:page", method = "delete", operation_id = "deletePageOfSpace")]
    async fn delete_page(&self, id: Path<String>, page: Path<String>) -> ApiResult<Reply<String>> {
        Ok(Reply(format!("no page {} of space {}", page.0, id.0)))
    }

    /// Changes content
    #[oai(path = "/content", method = "post", operation_id = "updateContent")]
    async fn content(&self, _who: Auth, body: Strict<UpdateContent>) -> ApiResult<Reply<usize>> {
        Ok(Reply(body.0.changes.len()))
    }

    /// Imports
    #[oai(path = "/import", method = "post", operation_id = "import")]
    async fn import(
        &self,
        _who: Auth,
        body: Strict<ImportGitRepository>,
    ) -> ApiResult<Reply<ImportGitRepository>> {
        Ok(Reply(body.0))
    }

    /// Sets a pointer
    #[oai(path = "/pointer", method = "put", operation_id = "putPointer")]
    async fn pointer(&self, _who: Auth, body: Strict<SitePointer>) -> ApiResult<Reply<SitePointer>> {
        Ok(Reply(body.0))
    }

    /// Creates a resource without a body
    #[oai(path = "/empty", method = "post", operation_id = "createEmpty")]
    async fn empty(&self) -> ApiResult<EmptyCreated> {
        Ok(Empty)
    }

    /// Accepts any list
    #[oai(path = "/names", method = "post", operation_id = "postNames")]
    async fn names(&self, body: Strict<Vec<String>>) -> ApiResult<Reply<Vec<String>>> {
        Ok(Reply(body.0))
    }

    /// Returns a conflict
    #[oai(path = "/conflict", method = "post", operation_id = "conflict")]
    async fn conflict(&self) -> ApiResult<NoContent> {
        Err(Error::conflict("the change request is archived; reopen it first").into())
    }

    /// Panics
    #[oai(path = "/panic", method = "post", operation_id = "panicWrite")]
    async fn panic_write(&self) -> ApiResult<NoContent> {
        panic!("the secret is 42")
    }

    /// Waits for the test
    #[oai(path = "/slow", method = "post", operation_id = "slowWrite")]
    async fn slow(&self) -> ApiResult<NoContent> {
        self.0.begun.notify_one();
        self.0.go.notified().await;
        self.0.done.notify_one();
        Ok(Empty)
    }
}

/// Returns the API as an application.
pub(crate) fn app(slow: Slow) -> HttpApp {
    let config = HttpConfig { body_limit: BodyLimit(LIMIT), ..HttpConfig::default() };
    assemble((Reads, Pages, Writes(slow)), ApiInfo::new("Toy", "1.2.3"), config, Arc::new(Tokens))
        .expect("no problems")
}

pub(crate) fn client() -> TestClient<HttpApp> {
    TestClient::new(app(Slow::default()))
}

/// Adds a valid token to a request.
pub(crate) fn signed<E: Endpoint>(request: TestRequestBuilder<'_, E>) -> TestRequestBuilder<'_, E> {
    request.header("authorization", "Bearer good")
}

/// Returns the headers and the body of a response.
pub(crate) async fn parts(mut response: Response) -> (Response, String) {
    let body = response.take_body().into_string().await.expect("a body of text");
    (response, body)
}

/// Asserts that a response is an error in the common format. Returns the message.
pub(crate) async fn failure(response: Response, status: u16) -> String {
    let (response, body) = parts(response).await;
    assert_eq!(response.status().as_u16(), status, "{body}");
    assert_eq!(response.content_type(), Some("application/json"), "{body}");
    let body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("no JSON: {body:?}"));
    let error = body.as_object().filter(|body| body.len() == 1).and_then(|body| body.get("error"));
    let error = error.and_then(Value::as_object).expect("an object with `error` only");
    assert_eq!(error.keys().collect::<Vec<_>>(), ["code", "message"]);
    assert_eq!(error["code"], status);
    error["message"].as_str().expect("a message").to_owned()
}
