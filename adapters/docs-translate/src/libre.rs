//! Translation through LibreTranslate servers.

use async_trait::async_trait;
use docs_model::TranslationLanguage;
use docs_ports::{TranslateError, TranslationBatch, Translator};
use serde_json::{Value, json};

use crate::{
    html,
    service::{ApiKey, KeyLocation, NotAService, Service, ServiceLimits},
};

/// A translator that uses a LibreTranslate server.
///
/// Segments are sent as HTML, with elements for placeholders. LibreTranslate has no glossary, so this adapter
/// substitutes the terms. Instructions are ignored.
#[derive(Clone, Debug)]
pub struct LibreTranslate {
    service: Service,
}

impl LibreTranslate {
    /// Creates a translator for the server at a base URL, such as `http://127.0.0.1:5000`.
    ///
    /// # Errors
    /// If the URL is invalid, or TLS cannot be initialized.
    pub fn new(base: &str, key: Option<ApiKey>) -> Result<Self, NotAService> {
        Ok(Self { service: Service::new(base, key)? })
    }

    /// Replaces the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: ServiceLimits) -> Self {
        self.service.limits = limits;
        self
    }
}

#[async_trait]
impl Translator for LibreTranslate {
    fn name(&self) -> String {
        format!("libretranslate {}", self.service.host())
    }

    async fn translate(&self, batch: &TranslationBatch) -> Result<Vec<String>, TranslateError> {
        let glossary = html::Glossary::new(&batch.glossary);
        let written: Vec<html::HtmlSegment> =
            batch.segments.iter().map(|segment| html::write(segment, &glossary)).collect();
        let texts: Vec<&str> = written.iter().map(|written| written.html.as_str()).collect();
        let mut body = json!({
            "q": texts,
            "source": code(batch.source),
            "target": code(batch.target),
            "format": "html",
        });
        if let Some(key) = self.service.key() {
            body["api_key"] = key.expose().into();
        }
        let answer = self.service.post("translate", &body, KeyLocation::InBody).await?;
        let texts = answer["translatedText"].as_array();
        let texts: Option<Vec<&str>> = texts.and_then(|texts| texts.iter().map(Value::as_str).collect());
        let texts = texts
            .ok_or_else(|| TranslateError::Malformed("the response has no `translatedText`".to_owned()))?;
        if texts.len() != written.len() {
            let why = format!("the response has {} texts instead of {}", texts.len(), written.len());
            return Err(TranslateError::Malformed(why));
        }
        Ok(written.iter().zip(texts).map(|(written, text)| html::read(text, written)).collect())
    }
}

/// Returns the LibreTranslate code of a language.
const fn code(language: TranslationLanguage) -> &'static str {
    match language {
        TranslationLanguage::BrazilianPortuguese => "pt-BR",
        TranslationLanguage::Norwegian => "nb",
        other => other.as_str(),
    }
}
