//! HTML tokenization with bounded stack depth.
//!
//! The states of html5gum are functions that call one another. For an attribute value in double quotes, they do so in a
//! cycle: value, after value, before name, name, before value, value. A tag with several thousand such attributes
//! overflows the stack of a thread and aborts the process. The cycle is broken in the reader: the tokenizer returns to
//! its caller when its reader fails, and continues in the same state when the next token is requested. A reader that
//! fails once before each value therefore unwinds the stack without changing any token.

use std::{error::Error, fmt};

use docs_markup::syntax::emitter::WithoutErrors;
use html5gum::{Emitter, Readable as _, Reader, StringReader, Tokenizer};

/// The bytes that the tokenizer searches for within a double-quoted value. No other state searches for the same bytes.
/// The tokenizer switches to this state before the read, so it resumes there.
const VALUE_ENDS: [u8; 3] = [b'"', b'&', b'\0'];

/// Tokenizes HTML, without parse errors. The stack depth is independent of the number of attributes.
pub(crate) fn tokens<E: Emitter>(html: &str, emitter: E) -> impl Iterator<Item = E::Token> {
    let reader = PausingReader { reader: html.to_reader(), is_due: true };
    // The reader fails only to pause, because the text is in memory.
    Tokenizer::new_with_emitter(reader, WithoutErrors(emitter)).filter_map(Result::ok)
}

/// A reader that fails once before each read within a double-quoted value.
struct PausingReader<'a> {
    reader: StringReader<'a>,
    /// `true` if the next such read fails.
    is_due: bool,
}

/// The error that makes the tokenizer return to its caller.
#[derive(Debug)]
struct Pause;

impl fmt::Display for Pause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the tokenizer paused")
    }
}

impl Error for Pause {}

impl Reader for PausingReader<'_> {
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
