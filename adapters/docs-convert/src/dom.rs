//! A small tree of elements and texts, from HTML and from Word documents alike.

/// Most elements and texts of a document.
pub(crate) const MAX_NODES: usize = 500_000;
/// Most levels of elements; what is deeper is taken to be on the last one. Whatever walks the tree may recurse.
pub(crate) const MAX_DEPTH: usize = 200;

/// A place in the tree.
pub(crate) type Id = usize;

/// The top of every tree.
pub(crate) const ROOT: Id = 0;

#[derive(Debug)]
pub(crate) enum Kind {
    Element { name: Box<str>, attributes: Vec<(Box<str>, Box<str>)> },
    Text(String),
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    children: Vec<Id>,
    /// Tells whether an element that stands on lines of its own is somewhere below.
    has_block: bool,
}

/// The tree. Children come after their parents, so that going backwards everything below is done.
#[derive(Debug)]
pub(crate) struct Dom {
    nodes: Vec<Node>,
}

impl Dom {
    pub(crate) fn new() -> Self {
        let kind = Kind::Element { name: "root".into(), attributes: Vec::new() };
        Self { nodes: vec![Node { kind, children: Vec::new(), has_block: false }] }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() >= MAX_NODES
    }

    pub(crate) fn element(&mut self, parent: Id, name: &str, attributes: Vec<(Box<str>, Box<str>)>) -> Id {
        self.add(parent, Kind::Element { name: name.into(), attributes })
    }

    /// Adds text; right behind other text it becomes part of it.
    pub(crate) fn text(&mut self, parent: Id, text: &str) {
        let last = self.children(parent).last().copied();
        if let Some(Kind::Text(before)) =
            last.and_then(|last| self.nodes.get_mut(last)).map(|node| &mut node.kind)
        {
            before.push_str(text);
            return;
        }
        self.add(parent, Kind::Text(text.to_owned()));
    }

    fn add(&mut self, parent: Id, kind: Kind) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node { kind, children: Vec::new(), has_block: false });
        if let Some(parent) = self.nodes.get_mut(parent) {
            parent.children.push(id);
        }
        id
    }

    /// Learns where blocks are, once everything is there.
    pub(crate) fn finish(&mut self) {
        for id in (0..self.nodes.len()).rev() {
            let below = self.children(id).iter().any(|child| self.is_block(*child) || self.has_block(*child));
            if let Some(node) = self.nodes.get_mut(id) {
                node.has_block = below;
            }
        }
    }

    pub(crate) fn kind(&self, id: Id) -> &Kind {
        &self.nodes[id].kind
    }

    pub(crate) fn children(&self, id: Id) -> &[Id] {
        &self.nodes[id].children
    }

    /// The name of an element; nothing for a text.
    pub(crate) fn name(&self, id: Id) -> &str {
        match self.kind(id) {
            Kind::Element { name, .. } => name,
            Kind::Text(_) => "",
        }
    }

    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        match self.kind(id) {
            Kind::Element { attributes, .. } => {
                attributes.iter().find(|(name, _)| &**name == wanted).map(|(_, value)| &**value)
            }
            Kind::Text(_) => None,
        }
    }

    /// The classes of an element, in lower case.
    pub(crate) fn classes(&self, id: Id) -> Vec<String> {
        let class = self.attribute(id, "class").unwrap_or_default();
        class.split_whitespace().take(50).map(str::to_ascii_lowercase).collect()
    }

    /// Tells whether an element stands on lines of its own.
    pub(crate) fn is_block(&self, id: Id) -> bool {
        is_block(self.name(id))
    }

    pub(crate) fn has_block(&self, id: Id) -> bool {
        self.nodes[id].has_block
    }

    /// Everything below, parents first, in the order of the document; below what `skip` says is not looked.
    pub(crate) fn below(&self, top: Id, skip: impl Fn(Id) -> bool) -> impl Iterator<Item = Id> {
        let mut todo: Vec<Id> = self.children(top).iter().rev().copied().collect();
        std::iter::from_fn(move || {
            loop {
                let id = todo.pop()?;
                if !skip(id) {
                    todo.extend(self.children(id).iter().rev());
                    return Some(id);
                }
            }
        })
    }

    /// All text below.
    pub(crate) fn text_of(&self, top: Id, skip: impl Fn(Id) -> bool) -> String {
        let mut out = String::new();
        let texts = std::iter::once(top).chain(self.below(top, skip));
        for id in texts {
            match self.kind(id) {
                Kind::Text(text) => out.push_str(text),
                Kind::Element { .. } if self.is_block(id) || self.name(id) == "br" => out.push(' '),
                Kind::Element { .. } => {}
            }
        }
        out
    }
}

/// Tells whether elements of a name stand on lines of their own.
pub(crate) fn is_block(name: &str) -> bool {
    matches!(
        name,
        "address"
            | "article"
            | "aside"
            | "blockquote"
            | "body"
            | "center"
            | "dd"
            | "details"
            | "dialog"
            | "div"
            | "dl"
            | "dt"
            | "fieldset"
            | "figcaption"
            | "figure"
            | "footer"
            | "form"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "header"
            | "hgroup"
            | "hr"
            | "html"
            | "iframe"
            | "legend"
            | "li"
            | "main"
            | "menu"
            | "nav"
            | "note"
            | "ol"
            | "p"
            | "pre"
            | "root"
            | "section"
            | "summary"
            | "table"
            | "tbody"
            | "td"
            | "tfoot"
            | "th"
            | "thead"
            | "tr"
            | "ul"
    )
}
