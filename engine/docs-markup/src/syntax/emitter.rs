//! A token emitter for html5gum, for consumers that need HTML tokens as the standard defines.

use html5gum::{Emitter, ForwardingEmitter};

/// An emitter that wraps another one and drops tokenizer errors. Errors would be buffered until the end of the
/// enclosing text, and take up to a hundred times its size.
///
/// ```
/// use docs_markup::syntax::emitter::WithoutErrors;
/// use html5gum::{DefaultEmitter, Token, Tokenizer};
/// let html = "a &#0; b";
/// let is_error = |token: &Token| matches!(token, Token::Error(_));
/// assert!(Tokenizer::new_with_emitter(html, DefaultEmitter::default()).flatten().any(|token| is_error(&token)));
/// let emitter = WithoutErrors(DefaultEmitter::default());
/// assert!(!Tokenizer::new_with_emitter(html, emitter).flatten().any(|token| is_error(&token)));
/// ```
#[derive(Debug)]
pub struct WithoutErrors<E>(pub E);

impl<E: Emitter> ForwardingEmitter for WithoutErrors<E> {
    type Token = E::Token;

    fn inner(&mut self) -> &mut impl Emitter<Token = E::Token> {
        &mut self.0
    }

    fn emit_error(&mut self, _error: html5gum::Error) {}

    fn should_emit_errors(&mut self) -> bool {
        false
    }
}
