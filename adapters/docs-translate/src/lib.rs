//! Machine translation adapters for the documentation platform.
//!
//! * [`ChatTranslator`] uses the OpenAI chat completions API of OpenAI or a compatible service.
//! * [`LibreTranslate`] uses a LibreTranslate server.
//!
//! Both implement the port [`Translator`](docs_ports::Translator). The operator configures the URL, which may therefore
//! point to a private network. Errors and log messages never contain the API key.

mod chat;
mod html;
mod libre;
mod service;

pub use chat::ChatTranslator;
pub use libre::LibreTranslate;
pub use service::{ApiKey, NotAService, ServiceLimits};
