//! The reader of one part of a specification, with its limits.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use super::{
    files::{SpecDocument, SpecValue},
    json::Json,
    model::{ExampleDetail, MAX_EXAMPLE, MAX_EXAMPLES, MAX_SCHEMAS, MAX_TEXT},
};

/// Maximum number of characters of a value that is shown within a line.
pub(super) const MAX_LINE: usize = 200;

/// The direction of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Request,
    Response,
    /// A schema on its own.
    Both,
}

impl Direction {
    /// The direction of the answer to a body.
    pub(super) const fn opposite(self) -> Self {
        match self {
            Self::Request => Self::Response,
            Self::Response => Self::Request,
            Self::Both => Self::Both,
        }
    }
}

/// The reader of one part of a specification.
pub(super) struct DetailReader<'s, 'f> {
    pub(super) files: &'s SpecDocument<'f>,
    /// The number of schemas read so far.
    read: Cell<usize>,
    /// The number of fields that the current body may still show.
    pub(super) fields_left: Cell<usize>,
    /// The number of characters that further examples may have.
    examples_left: Cell<usize>,
    /// `true` if a limit was reached.
    is_cut: Cell<bool>,
    /// The origins of the enclosing schemas.
    enclosing: RefCell<Vec<Rc<str>>>,
}

impl<'s, 'f> DetailReader<'s, 'f> {
    pub(super) const fn new(files: &'s SpecDocument<'f>) -> Self {
        Self {
            files,
            read: Cell::new(0),
            fields_left: Cell::new(0),
            examples_left: Cell::new(MAX_EXAMPLES),
            is_cut: Cell::new(false),
            enclosing: RefCell::new(Vec::new()),
        }
    }

    pub(super) fn count_schema(&self) {
        self.read.set(self.read.get() + 1);
    }

    /// Returns `true` if a further schema is within the limit.
    pub(super) fn has_room(&self) -> bool {
        let is_within = self.read.get() < MAX_SCHEMAS;
        if !is_within {
            self.mark_cut();
        }
        is_within
    }

    /// Records that parts are left out.
    pub(super) fn mark_cut(&self) {
        self.is_cut.set(true);
    }

    /// Returns `true` if a limit was reached since the last call.
    pub(super) fn take_cut(&self) -> bool {
        self.is_cut.take()
    }

    /// Returns `true` if a schema with one of these origins encloses the current one.
    pub(super) fn is_enclosing(&self, origins: &[Rc<str>]) -> bool {
        let enclosing = self.enclosing.borrow();
        origins.iter().any(|origin| enclosing.contains(origin))
    }

    /// Runs `read` with a schema as the enclosing one.
    pub(super) fn within<T>(&self, origins: &[Rc<str>], read: impl FnOnce() -> T) -> T {
        let before = self.enclosing.borrow().len();
        self.enclosing.borrow_mut().extend(origins.iter().cloned());
        let value = read();
        self.enclosing.borrow_mut().truncate(before);
        value
    }

    /// Returns an example within the limits. `None` if the limit of all examples was reached.
    pub(super) fn example_detail(&self, value: &Json) -> Option<ExampleDetail> {
        let (value, is_cut) = value.to_sent_text(MAX_EXAMPLE);
        self.count_example(ExampleDetail { value, is_cut, ..ExampleDetail::default() })
    }

    /// Counts an example. Returns `None` if the limit of all examples was reached.
    pub(super) fn count_example(&self, example: ExampleDetail) -> Option<ExampleDetail> {
        self.count_text(&example.value)?;
        Some(example)
    }

    /// Counts the text of an example or of a sample request. Returns `None` if the limit of all of them was reached.
    pub(super) fn count_text(&self, text: &str) -> Option<()> {
        let left = self.examples_left.get().checked_sub(text.len());
        match left {
            Some(left) => self.examples_left.set(left),
            None => self.mark_cut(),
        }
        left.map(drop)
    }

    /// Returns the examples of a body, a parameter or a header: those of `examples`, or the single one.
    pub(super) fn told_examples(&self, of: &SpecValue, most: usize) -> Vec<ExampleDetail> {
        let mut all = Vec::new();
        let named = of.get("examples").map(|all| all.fields(most)).unwrap_or_default();
        for (name, example) in named {
            let example = self.files.follow_references(example);
            let title = text(example.value.get("summary")).or_else(|| text(Some(&Json::Text(name.into()))));
            let description = text(example.value.get("description"));
            let address = text(example.value.get("externalValue"));
            let detail = match example.value.get("value").or_else(|| example.value.get("dataValue")) {
                Some(value) => self.example_detail(value),
                None => address.is_some().then(ExampleDetail::default),
            };
            all.extend(detail.map(|detail| ExampleDetail { title, description, address, ..detail }));
        }
        if all.is_empty()
            && let Some(value) = of.value.get("example")
        {
            all.extend(self.example_detail(value));
        }
        all
    }
}

/// Returns a non-blank text, cut at [`MAX_TEXT`].
pub(super) fn text(of: Option<&Json>) -> Option<String> {
    let text = of?.as_text()?.trim();
    (!text.is_empty()).then(|| text.chars().take(MAX_TEXT).collect())
}

/// Returns a title, cut at [`MAX_LINE`].
pub(super) fn title(of: &str) -> Option<String> {
    let title = of.trim();
    (!title.is_empty()).then(|| title.chars().take(MAX_LINE).collect())
}

/// Returns a value on one line.
pub(super) fn line(value: &Json) -> String {
    value.to_line(MAX_LINE)
}
