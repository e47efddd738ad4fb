//! What tokens are made of HTML for those who read it as the standard says, with the tokenizer of html5gum.

use html5gum::{Emitter, ForwardingEmitter};

/// Makes the tokens that another emitter makes, without the errors that the tokenizer tells of: they would be kept
/// until the text that they are in ends, and take a hundred times as much as it.
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
