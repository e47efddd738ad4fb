//! Open fields of a paragraph.

use crate::{dom::Id, html::MAX_ATTRIBUTE};

/// Maximum length in bytes of an address, an alternative text and the instruction of a field, as of an attribute of
/// HTML. A page may contain each of them many times.
pub(super) const MAX_VALUE: usize = MAX_ATTRIBUTE;

/// Maximum depth of fields. Deeper ones have no instruction, and their results are text of the field around them.
const MAX_FIELDS: usize = 32;

/// The open fields of a paragraph.
#[derive(Default)]
pub(super) struct OpenFields {
    /// Outermost first.
    open: Vec<Field>,
    /// Number of open fields that are too deep to be stored.
    beyond: usize,
}

/// A field: its instruction, and the innermost link around its result.
#[derive(Default)]
struct Field {
    instruction: String,
    is_separated: bool,
    link: Option<Id>,
}

impl OpenFields {
    pub(super) fn clear(&mut self) {
        self.open.clear();
        self.beyond = 0;
    }

    /// Returns the innermost link around the results of all open fields.
    pub(super) fn link(&self) -> Option<Id> {
        self.open.last()?.link
    }

    pub(super) fn begin(&mut self) {
        if self.open.len() < MAX_FIELDS {
            self.open.push(Field { link: self.link(), ..Field::default() });
        } else {
            self.beyond += 1;
        }
    }

    /// Adds text to the instruction of the innermost field. Returns `false` if the instruction was cut at
    /// [`MAX_VALUE`].
    pub(super) fn add_instruction(&mut self, text: &str) -> bool {
        let Some(field) = self.innermost() else { return true };
        let room = MAX_VALUE.saturating_sub(field.instruction.len());
        let added = &text[..text.floor_char_boundary(room)];
        field.instruction.push_str(added);
        added.len() == text.len()
    }

    /// Begins the result of the innermost field. Returns its target if the field is a hyperlink. A field has one
    /// result.
    pub(super) fn separate(&mut self) -> Option<String> {
        let field = self.innermost()?;
        let is_repeated = std::mem::replace(&mut field.is_separated, true);
        if is_repeated { None } else { hyperlink(&field.instruction) }
    }

    /// Sets the link around the result of the innermost field.
    pub(super) fn set_link(&mut self, link: Id) {
        if let Some(field) = self.innermost() {
            field.link = Some(link);
        }
    }

    pub(super) fn end(&mut self) {
        match self.beyond.checked_sub(1) {
            Some(beyond) => self.beyond = beyond,
            None => drop(self.open.pop()),
        }
    }

    fn innermost(&mut self) -> Option<&mut Field> {
        self.open.last_mut().filter(|_| self.beyond == 0)
    }
}

/// Returns the target of a hyperlink field: `HYPERLINK "address"` or `HYPERLINK \l "bookmark"`.
pub(super) fn hyperlink(instruction: &str) -> Option<String> {
    let rest = instruction.trim_start().strip_prefix("HYPERLINK")?;
    let quoted = rest.split('"').nth(1)?;
    let is_place = rest.split('"').next().is_some_and(|switches| switches.contains("\\l"));
    Some(if is_place { format!("#{quoted}") } else { quoted.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_beyond_the_bound_have_no_instruction() {
        let mut fields = OpenFields::default();
        for _ in 0..=MAX_FIELDS {
            fields.begin();
            assert!(fields.add_instruction("HYPERLINK \"x\""));
        }
        assert_eq!((fields.open.len(), fields.separate()), (MAX_FIELDS, None));
        fields.end();
        assert_eq!(fields.separate().as_deref(), Some("x"));
        fields.set_link(7);
        fields.begin();
        assert_eq!(fields.beyond, 1);
        fields.end();
        fields.end();
        fields.begin();
        assert_eq!((fields.open.len(), fields.link()), (MAX_FIELDS, None));
    }

    #[test]
    fn fields_inherit_the_link_of_the_field_around_them() {
        let mut fields = OpenFields::default();
        fields.begin();
        fields.set_link(7);
        fields.begin();
        assert_eq!(fields.link(), Some(7));
        fields.set_link(8);
        assert_eq!(fields.link(), Some(8));
        fields.end();
        assert_eq!(fields.link(), Some(7));
    }

    #[test]
    fn instructions_are_cut_and_have_one_result() {
        let mut fields = OpenFields::default();
        fields.begin();
        assert!(fields.add_instruction("HYPERLINK \"a\" "));
        assert!(!fields.add_instruction(&"ä".repeat(MAX_VALUE)));
        assert!(!fields.add_instruction("b"));
        let length = fields.open[0].instruction.len();
        assert!((MAX_VALUE - 1..=MAX_VALUE).contains(&length), "{length}");
        assert_eq!(fields.separate().as_deref(), Some("a"));
        assert_eq!(fields.separate(), None);
    }
}
