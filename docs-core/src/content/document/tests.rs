//! Markdown and documents.
