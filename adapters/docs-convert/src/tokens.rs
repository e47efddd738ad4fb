//! HTML as tokens, on a stack of fixed depth.
//!
//! The states of html5gum are functions that call one another. Where an attribute has a value in double quotes they do
//! so in a circle: value, after the value, before a name, name, before a value, value. One tag with some thousand such
//! attributes fills the stack of a thread, and the process is aborted. The circle is broken where the tokenizer reads:
//! it returns to its caller when its reader fails, and goes on in the same state when it is asked for the next token.
//! So a reader that fails once before each value takes the stack back, and changes no token.

use std::{error::Error, fmt};

use docs_markup::syntax::emitter::WithoutErrors;
use html5gum::{Emitter, Readable as _, Reader, StringReader, Tokenizer};

/// The bytes that the state for a value in double quotes looks for. No other state looks for the same. It is entered
/// through a change of state, so that it is the one to go on with.
const VALUE_ENDS: [u8; 3] = [b'"', b'&', b'\0'];

/// The tokens of an HTML text, but for what the standard calls errors. However many attributes a tag has, the stack is
/// as deep as for one.
pub(crate) fn tokens<E: Emitter>(html: &str, emitter: E) -> impl Iterator<Item = E::Token> {
    let reader = Pausing { reader: html.to_reader(), is_due: true };
    // A failure is a pause and nothing else: the text is in memory.
    Tokenizer::new_with_emitter(reader, WithoutErrors(emitter)).filter_map(Result::ok)
}

/// Fails once before each read within a value in double quotes.
struct Pausing<'a> {
    reader: StringReader<'a>,
    /// Tells whether the next such read fails.
    is_due: bool,
}

/// Makes the tokenizer return to its caller.
#[derive(Debug)]
struct Pause;

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tokenizer pauses")
    }
}

impl Error for Pause {}

impl Reader for Pausing<'_> {
    type Error = Pause;

    fn read_byte(&mut self) -> Result<Option<u8>, Pause> {
        let Ok(byte) = self.reader.read_byte();
        Ok(byte)
    }

    fn try_read_string(&mut self, text: &[u8], case_sensitive: bool) -> Result<bool, Pause> {
        let Ok(found) = self.reader.try_read_string(text, case_sensitive);
        Ok(found)
    }

    fn read_until<'b>(
        &'b mut self,
        needle: &[u8],
        buffer: &'b mut [u8; 4],
    ) -> Result<Option<&'b [u8]>, Pause> {
        if needle.starts_with(&VALUE_ENDS) {
            self.is_due = !self.is_due;
            if !self.is_due {
                return Err(Pause);
            }
        }
        let Ok(read) = self.reader.read_until(needle, buffer);
        Ok(read)
    }
}
