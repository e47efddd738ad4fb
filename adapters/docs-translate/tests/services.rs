//! The adapters against services that speak their protocols, and some that do not.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use docs_model::TranslationLanguage;
use docs_ports::{TermRule, TranslateError, TranslationBatch, Translator};
use docs_translate::{ChatTranslator, Key, LibreTranslate, ServiceLimits};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

/// What a service answers.
#[derive(Clone)]
enum Answer {
    /// Status, further headers and body.
    Full(u16, &'static str, String),
    /// Nothing, and the connection stays open.
    Silence,
}

type Handler = dyn Fn(usize, &Value) -> Answer + Send + Sync;

/// A service on this machine.
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

/// Answers one request; the connection where it stays open.
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
        Answer::Silence => Some(stream),
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
    ServiceLimits { time: Duration::from_millis(200), bytes: 2_000, patience: Duration::from_secs(2) }
}

fn chat(service: &Service) -> ChatTranslator {
    let base = format!("{}/v1", service.base);
    ChatTranslator::new(&base, Some(Key::new("the-key")), "a-model").expect("a client").with_limits(limits())
}

fn libre(service: &Service) -> LibreTranslate {
    LibreTranslate::new(&service.base, Some(Key::new("the-key"))).expect("a client").with_limits(limits())
}

fn content(text: impl Into<String>) -> Answer {
    ok(json!({ "choices": [{ "finish_reason": "stop", "message": { "content": text.into() } }] }))
}

/// Answers a chat with what it was sent, in capitals.
fn capitals(body: &Value) -> Answer {
    let sent: Vec<String> =
        serde_json::from_str(body["messages"][1]["content"].as_str().expect("text")).expect("an array");
    let texts: Vec<String> = sent.iter().map(|text| text.to_uppercase()).collect();
    content(json!(texts).to_string())
}

#[tokio::test]
async fn a_model_is_told_instructions_and_terms_and_answers_an_array() {
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
async fn a_fence_around_the_array_is_no_part_of_it() {
    let service = Service::new(|_, _| content("Here you are:\n```json\n[\"eins\"]\n```\n")).await;
    assert_eq!(chat(&service).translate(&batch(&["one"])).await.expect("translated"), ["eins"]);
}

#[tokio::test]
async fn libretranslate_gets_html_and_keeps_placeholders_and_terms() {
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
async fn a_service_that_wants_to_be_left_alone_is_asked_again_after_its_time() {
    let service = Service::new(|number, body| match number {
        1 => Answer::Full(429, "retry-after: 1\r\n", "{}".to_owned()),
        _ => capitals(body),
    })
    .await;
    assert_eq!(chat(&service).translate(&batch(&["one"])).await.expect("translated"), ["ONE"]);
    assert_eq!(service.asked().len(), 2);
    // No longer than the patience lasts: then the caller is told for how long.
    let busy = Service::new(|_, _| Answer::Full(429, "retry-after: 3600\r\n", "{}".to_owned())).await;
    let error = chat(&busy).translate(&batch(&["one"])).await.expect_err("busy");
    assert_eq!(
        error,
        TranslateError::Unavailable { reason: "it answered 429".to_owned(), after: Some(3_600) }
    );
    assert_eq!(busy.asked().len(), 1);
    // Nor does anybody wait for longer than a day.
    let never = "retry-after: 18446744073709551615\r\n";
    let busy = Service::new(move |_, _| Answer::Full(503, never, "{}".to_owned())).await;
    let error = chat(&busy).translate(&batch(&["one"])).await.expect_err("busy");
    assert!(matches!(error, TranslateError::Unavailable { after: Some(86_400), .. }), "{error:?}");
}

#[tokio::test]
async fn what_a_service_does_wrong_is_told_by_its_kind() {
    let full = |status: u16, body: &str| Answer::Full(status, "", body.to_owned());
    let said = json!({ "error": { "message": "the key the-key is wrong\n" } }).to_string();
    let large = format!("[\"{}\"]", "x".repeat(5_000));
    for (answer, told) in [
        (full(500, "no JSON"), "the translator cannot be used now: it answered 500"),
        (full(401, &said), "the translator refuses: it answered 401: the key … is wrong"),
        (full(302, ""), "the translator refuses: it answered 302"),
        (full(200, "no JSON"), "the translator's answer cannot be read: it is no JSON"),
        (full(200, "{}"), "the translator's answer cannot be read: it has no message"),
        (full(200, &large), "the translator's answer cannot be read: it has more than 2000 bytes"),
        (content("sorry"), "the translator's answer cannot be read: it is no JSON array"),
        (content("[1]"), "the translator's answer cannot be read: it is no JSON array of strings"),
        (content("[\"a\", \"b\"]"), "the translator's answer cannot be read: it has 2 texts instead of 1"),
        (
            ok(json!({ "choices": [{ "finish_reason": "length", "message": { "content": "[" } }] })),
            "the translator's answer cannot be read: the model stopped before the end",
        ),
        (Answer::Silence, "the translator cannot be used now: "),
    ] {
        let service = Service::new(move |_, _| answer.clone()).await;
        let error = chat(&service).translate(&batch(&["one"])).await.expect_err(told);
        assert!(error.to_string().starts_with(told), "{error}");
    }
    let nobody = ChatTranslator::new("http://127.0.0.1:1/v1", None, "m").expect("a client");
    let error = nobody.translate(&batch(&["one"])).await.expect_err("nobody is there");
    assert!(matches!(error, TranslateError::Unavailable { after: None, .. }), "{error}");
    let service = Service::new(|_, _| ok(json!({ "translatedText": "one" }))).await;
    let error = libre(&service).translate(&batch(&["one"])).await.expect_err("no array");
    assert!(matches!(error, TranslateError::Malformed(_)), "{error}");
}

#[test]
fn an_address_that_is_none_is_refused_without_repeating_it() {
    for wrong in
        ["", "api.example.com", "ftp://a.example", "https://a.example/?key=x", "https://me:secret@a.example"]
    {
        let error = LibreTranslate::new(wrong, None).expect_err(wrong).to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
