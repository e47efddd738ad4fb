//! The adapters with conforming and faulty services.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use docs_model::TranslationLanguage;
use docs_ports::{TermRule, TranslateError, TranslationBatch, Translator};
use docs_translate::{ApiKey, ChatTranslator, LibreTranslate, ServiceLimits};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// The response of a service.
#[derive(Clone, Debug)]
enum Answer {
    /// Status, additional headers, and body.
    Full(u16, &'static str, String),
    /// These bytes; the connection is then closed.
    Raw(String),
    /// These bytes; the connection then stays open.
    Stalled(String),
    /// A response that is sent byte by byte and never ends.
    Trickle,
}

/// A response head whose content length exceeds the body.
const LONG: &str = "HTTP/1.1 200 Said\r\ncontent-length: 1900\r\n\r\n";
/// Interval between the bytes of [`Answer::Trickle`].
const DROP: Duration = Duration::from_millis(10);

type Handler = dyn Fn(usize, &Value) -> Answer + Send + Sync;

/// A service on the local machine.
struct Service {
    base: String,
    asked: Arc<std::sync::Mutex<Vec<(String, Value)>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Service {
    async fn new(handler: impl Fn(usize, &Value) -> Answer + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let (notes, handler): (_, Arc<Handler>) = (Arc::clone(&asked), Arc::new(handler));
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            while let Ok((stream, _)) = listener.accept().await {
                open.extend(serve(stream, &notes, &*handler).await);
            }
        });
        Self { base, asked, task }
    }

    fn asked(&self) -> Vec<(String, Value)> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Responds to one request. Returns the connection if it stays open.
async fn serve(
    mut stream: TcpStream,
    notes: &std::sync::Mutex<Vec<(String, Value)>>,
    handler: &Handler,
) -> Option<TcpStream> {
    let mut bytes = Vec::new();
    let (head, body) = loop {
        let mut piece = [0; 4096];
        let n = stream.read(&mut piece).await.ok().filter(|n| *n > 0)?;
        bytes.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length =
            head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        if body.len() >= length.unwrap_or(0_usize) {
            break (head.to_owned(), body.to_owned());
        }
    };
    let body: Value = serde_json::from_str(&body).expect("JSON");
    let number = {
        let mut notes = notes.lock().unwrap_or_else(PoisonError::into_inner);
        notes.push((head, body.clone()));
        notes.len()
    };
    match handler(number, &body) {
        Answer::Raw(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            None
        }
        Answer::Stalled(text) => {
            let _ = stream.write_all(text.as_bytes()).await;
            Some(stream)
        }
        Answer::Trickle => {
            tokio::spawn(trickle(stream));
            None
        }
        Answer::Full(status, headers, text) => {
            let answer = format!(
                "HTTP/1.1 {status} Said\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n{text}",
                text.len()
            );
            let _ = stream.write_all(answer.as_bytes()).await;
            None
        }
    }
}

/// Sends one byte per interval until the client disconnects.
async fn trickle(mut stream: TcpStream) {
    let mut drops = tokio::time::interval(DROP);
    let mut sent = stream.write_all(LONG.as_bytes()).await;
    while sent.is_ok() {
        drops.tick().await;
        sent = stream.write_all(b" ").await;
    }
}

fn ok(body: Value) -> Answer {
    Answer::Full(200, "content-type: application/json\r\n", body.to_string())
}

fn batch(segments: &[&str]) -> TranslationBatch {
    TranslationBatch {
        source: TranslationLanguage::English,
        target: TranslationLanguage::German,
        instructions: "Be formal.".to_owned(),
        glossary: vec![TermRule {
            term: "space".to_owned(),
            translation: "Bereich".to_owned(),
            case_sensitive: false,
            note: "of pages".to_owned(),
        }],
        segments: segments.iter().map(|segment| (*segment).to_owned()).collect(),
    }
}

fn limits() -> ServiceLimits {
    ServiceLimits { time: Duration::from_millis(400), bytes: 2_000, patience: Duration::from_secs(2) }
}

fn chat(service: &Service) -> ChatTranslator {
    let base = format!("{}/v1", service.base);
    ChatTranslator::new(&base, Some(ApiKey::new("the-key")), "a-model")
        .expect("a client")
        .with_limits(limits())
}

fn libre(service: &Service) -> LibreTranslate {
    LibreTranslate::new(&service.base, Some(ApiKey::new("the-key"))).expect("a client").with_limits(limits())
}

fn content(text: impl Into<String>) -> Answer {
    ok(json!({ "choices": [{ "finish_reason": "stop", "message": { "content": text.into() } }] }))
}

/// Responds to a chat request with its input in upper case.
fn capitals(body: &Value) -> Answer {
    let sent: Vec<String> =
        serde_json::from_str(body["messages"][1]["content"].as_str().expect("text")).expect("an array");
    let texts: Vec<String> = sent.iter().map(|text| text.to_uppercase()).collect();
    content(json!(texts).to_string())
}

#[tokio::test]
async fn chat_request_contains_instructions_and_glossary() {
    let service = Service::new(|_, body| capitals(body)).await;
    let answer = chat(&service).translate(&batch(&["a space", "see ⟦1⟧this⟦/1⟧"])).await;
    assert_eq!(answer.expect("translated"), ["A SPACE", "SEE ⟦1⟧THIS⟦/1⟧"]);
    let (head, body) = service.asked().remove(0);
    assert!(
        head.starts_with("POST /v1/chat/completions ") && head.contains("authorization: Bearer the-key"),
        "{head}"
    );
    assert_eq!(body["model"], "a-model");
    let told = body["messages"][0]["content"].as_str().expect("text");
    for part in ["English to German", "2 strings", "- space: Bereich — of pages", "Be formal."] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!format!("{:?}", chat(&service)).contains("the-key"));
}

#[tokio::test]
async fn code_fence_around_the_json_array_is_ignored() {
    let service = Service::new(|_, _| content("Here you are:\n```json\n[\"eins\"]\n```\n")).await;
    assert_eq!(chat(&service).translate(&batch(&["one"])).await.expect("translated"), ["eins"]);
}

#[tokio::test]
async fn libretranslate_preserves_placeholders_and_glossary_terms() {
    let service = Service::new(|_, body| {
        let sent = body["q"].as_array().expect("texts").iter();
        let texts: Vec<String> = sent
            .map(|text| text.as_str().expect("text").replace("see", "siehe").replace("a ", "ein "))
            .collect();
        ok(json!({ "translatedText": texts }))
    })
    .await;
    let answer = libre(&service).translate(&batch(&["see ⟦1⟧ & ⟦2⟧this⟦/2⟧", "a space <b>"])).await;
    assert_eq!(answer.expect("translated"), ["siehe ⟦1⟧ & ⟦2⟧this⟦/2⟧", "ein Bereich <b>"]);
    let (head, body) = service.asked().remove(0);
    assert!(head.starts_with("POST /translate "), "{head}");
    assert_eq!((&body["source"], &body["target"]), (&json!("en"), &json!("de")));
    assert_eq!((&body["format"], &body["api_key"]), (&json!("html"), &json!("the-key")));
    assert!(!body["q"].to_string().contains('⟦'), "{body}");
}

#[tokio::test]
async fn service_is_retried_after_its_stated_delay() {
    let service = Service::new(|number, body| match number {
        1 => Answer::Full(429, "retry-after: 1\r\n", "{}".to_owned()),
        _ => capitals(body),
    })
    .await;
    assert_eq!(chat(&service).translate(&batch(&["one"])).await.expect("translated"), ["ONE"]);
    assert_eq!(service.asked().len(), 2);
    // A delay longer than `patience` is an error that reports the requested time.
    let busy = Service::new(|_, _| Answer::Full(429, "retry-after: 3600\r\n", "{}".to_owned())).await;
    let error = chat(&busy).translate(&batch(&["one"])).await.expect_err("busy");
    assert_eq!(
        error,
        TranslateError::Unavailable {
            reason: "the service responded with 429".to_owned(),
            after: Some(3_600)
        }
    );
    assert_eq!(busy.asked().len(), 1);
    // The reported delay is at most one day.
    let never = "retry-after: 18446744073709551615\r\n";
    let busy = Service::new(move |_, _| Answer::Full(503, never, "{}".to_owned())).await;
    let error = chat(&busy).translate(&batch(&["one"])).await.expect_err("busy");
    assert!(matches!(error, TranslateError::Unavailable { after: Some(86_400), .. }), "{error:?}");
}

/// The two adapters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Adapter {
    Chat,
    Libre,
}

impl Adapter {
    fn at(self, service: &Service) -> Box<dyn Translator> {
        match self {
            Self::Chat => Box::new(chat(service)),
            Self::Libre => Box::new(libre(service)),
        }
    }

    /// Returns a response with these translations, which may be invalid.
    fn says(self, texts: &Value) -> Answer {
        match self {
            Self::Chat => content(texts.to_string()),
            Self::Libre => ok(json!({ "translatedText": texts })),
        }
    }
}

const AWAY: &str = "the translator is temporarily unavailable: ";
const REFUSES: &str = "the translator rejected the request: ";
const UNREADABLE: &str = "the response of the translator is malformed: ";

/// Returns faulty responses, each with the expected error and retry delay.
fn wrongs(adapter: Adapter) -> Vec<(Answer, String, Option<u64>)> {
    let full = |status: u16, body: &str| Answer::Full(status, "", body.to_owned());
    let busy = |status: u16, headers: &'static str| Answer::Full(status, headers, "{}".to_owned());
    let plain = json!({ "error": "the key the-key is wrong\n" }).to_string();
    let nested = json!({ "error": { "message": "the key the-key is wrong\n" } }).to_string();
    let wordless = json!({ "error": { "code": 7 } }).to_string();
    let large = format!("[\"{}\"]", "x".repeat(5_000));
    let endless = format!("HTTP/1.1 200 Said\r\nconnection: close\r\n\r\n{large}");
    let mut all = Vec::new();
    let mut tell = |answer: Answer, kind: &str, why: &str, after: Option<u64>| {
        all.push((answer, format!("{kind}{why}"), after));
    };
    tell(busy(429, ""), AWAY, "the service responded with 429", Some(5));
    tell(busy(429, "retry-after: 3600\r\n"), AWAY, "the service responded with 429", Some(3_600));
    tell(busy(503, "retry-after: 60\r\n"), AWAY, "the service responded with 503", Some(60));
    tell(
        busy(503, "retry-after: Fri, 31 Dec 1999 23:59:59 GMT\r\n"),
        AWAY,
        "the service responded with 503",
        Some(5),
    );
    for status in [500, 502, 504, 408] {
        tell(full(status, "no JSON"), AWAY, &format!("the service responded with {status}"), None);
    }
    for (status, body) in [(400, &plain), (403, &plain), (400, &nested), (401, &nested), (403, &nested)] {
        let why = format!("the service responded with {status}: the key … is wrong");
        tell(full(status, body), REFUSES, &why, None);
    }
    tell(full(400, &wordless), REFUSES, "the service responded with 400", None);
    tell(full(404, "<html>"), REFUSES, "the service responded with 404", None);
    tell(full(302, ""), REFUSES, "the service responded with 302", None);
    tell(full(413, &nested), UNREADABLE, "the service responded with 413: the key … is wrong", None);
    tell(full(200, "no JSON"), UNREADABLE, "the response is not JSON", None);
    tell(full(200, ""), UNREADABLE, "the response is not JSON", None);
    tell(full(200, "{\"choices\": [{\"mess"), UNREADABLE, "the response is not JSON", None);
    for body in ["{}", "[]", "null", "{\"choices\": 1, \"translatedText\": 1}"] {
        tell(full(200, body), UNREADABLE, "the response has no ", None);
    }
    tell(full(200, &large), UNREADABLE, "the response must be at most 2000 bytes", None);
    tell(Answer::Raw(endless), UNREADABLE, "the response must be at most 2000 bytes", None);
    tell(adapter.says(&json!([])), UNREADABLE, "the response has 0 texts instead of 1", None);
    tell(adapter.says(&json!(["a", "b"])), UNREADABLE, "the response has 2 texts instead of 1", None);
    for texts in [json!([1]), json!([null]), json!("sorry"), json!({ "0": "one" })] {
        tell(adapter.says(&texts), UNREADABLE, "the response ", None);
    }
    // An empty response, a partial one, and an endless one; and connections closed before, during and after the head.
    tell(Answer::Stalled(String::new()), AWAY, "", None);
    tell(Answer::Stalled(format!("{LONG}{{\"choices\": [")), AWAY, "", None);
    tell(Answer::Trickle, AWAY, "", None);
    tell(Answer::Raw(String::new()), AWAY, "", None);
    tell(Answer::Raw("HTTP/1.1 200 Sa".to_owned()), AWAY, "", None);
    tell(Answer::Raw(format!("{LONG}{{\"choices\": [")), AWAY, "", None);
    tell(Answer::Raw("this is no HTTP\r\n\r\n".to_owned()), AWAY, "", None);
    all
}

#[tokio::test]
async fn service_faults_are_classified_and_never_expose_the_key() {
    for adapter in [Adapter::Chat, Adapter::Libre] {
        for (answer, told, after) in wrongs(adapter) {
            let what = format!("{adapter:?}: {answer:?}");
            let service = Service::new(move |number, _| match number {
                1 => answer.clone(),
                _ => adapter.says(&json!(["eins"])),
            })
            .await;
            let translator = adapter.at(&service);
            let began = std::time::Instant::now();
            let error = translator.translate(&batch(&["one"])).await.expect_err(&what);
            assert!(began.elapsed() < Duration::from_secs(2), "{what}: it waited");
            assert!(error.to_string().starts_with(&told), "{what}: {told}: {error}");
            let wait = match &error {
                TranslateError::Unavailable { after, .. } => *after,
                _ => None,
            };
            assert_eq!(wait, after, "{what}");
            assert!(!format!("{error} {error:?}").contains("the-key"), "{what}: {error:?}");
            assert_eq!(service.asked().len(), 1, "{what}: it is asked once");
            let next = translator.translate(&batch(&["one"])).await;
            assert_eq!(next.expect("translated"), ["eins"], "{what}");
        }
    }
}

#[tokio::test]
async fn malformed_model_responses_are_errors() {
    for (answer, told) in [
        (content("sorry"), "the response has no JSON array"),
        (content("] and ["), "the response has no JSON array"),
        (content("[1]"), "the response is not a JSON array of strings"),
        (
            ok(json!({ "choices": [{ "finish_reason": "length", "message": { "content": "[" } }] })),
            "the model stopped before the end of its response",
        ),
        (ok(json!({ "choices": [{ "message": { "content": null } }] })), "the response has no message"),
    ] {
        let service = Service::new(move |_, _| answer.clone()).await;
        let error = chat(&service).translate(&batch(&["one"])).await.expect_err(told);
        assert_eq!(error, TranslateError::Malformed(told.to_owned()));
    }
}

#[tokio::test]
async fn unreachable_service_is_unavailable() {
    let all: [Box<dyn Translator>; 2] = [
        Box::new(ChatTranslator::new("http://127.0.0.1:1/v1", None, "m").expect("a client")),
        Box::new(LibreTranslate::new("http://127.0.0.1:1", None).expect("a client")),
    ];
    for nobody in all {
        let error = nobody.translate(&batch(&["one"])).await.expect_err("nobody is there");
        assert!(matches!(error, TranslateError::Unavailable { after: None, .. }), "{error}");
    }
}

#[test]
fn invalid_service_url_is_refused_without_echoing_secrets() {
    for wrong in
        ["", "api.example.com", "ftp://a.example", "https://a.example/?key=x", "https://me:secret@a.example"]
    {
        let error = LibreTranslate::new(wrong, None).expect_err(wrong).to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
