//! Translates text for the documentation platform.
//!
//! * [`ChatTranslator`] asks a service with the chat completions of OpenAI: OpenAI itself, or one of the many programs
//!   and services that speak the same.
//! * [`LibreTranslate`] asks a server of LibreTranslate.
//!
//! Both are the port [`Translator`](docs_ports::Translator). The address is the operator's, so that it may lead into a
//! private network. No error and no line in a log holds the key.

mod chat;
mod html;
mod libre;
mod service;

pub use chat::ChatTranslator;
pub use libre::LibreTranslate;
pub use service::{Key, NotAService, ServiceLimits};
