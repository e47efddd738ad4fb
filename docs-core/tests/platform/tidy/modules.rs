//! The modules of a crate and the names that each takes from another, read from the tokens of its source.
//!
//! Paths in `use` lines, in code, in macros and in the strings of attributes are resolved through re-exports to the
//! file that defines the name. Methods are not resolved: a type can have methods in several files, which call each
//! other. A name that nothing in the source defines, such as one made by a macro, belongs to the module that its path
//! ends in.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The keywords that the name of an item follows.
const DEFINING: &[&str] = &["const", "enum", "fn", "static", "struct", "trait", "type", "union"];

/// One name that a `use` line brings into scope; `*` for all names of a module.
struct Import {
    name: String,
    path: Vec<String>,
    kind: ImportKind,
}

#[derive(Clone, Copy, PartialEq)]
enum ImportKind {
    Private,
    /// With a visibility. It counts as a use only if the code of its module contains the name.
    Reexport,
}

/// A module with a file of its own, or an inline module.
struct Module {
    parent: Option<usize>,
    file: usize,
    /// The folder with the files of its submodules.
    folder: PathBuf,
    children: BTreeMap<String, usize>,
    defined: BTreeSet<String>,
    macros: BTreeSet<String>,
    imports: Vec<Import>,
    /// The paths with at least two segments outside `use` lines.
    paths: BTreeSet<Vec<String>>,
    /// The identifiers outside `use` lines that do not follow a dot, `::` or `fn`.
    words: BTreeSet<String>,
    /// Those of `words` that are not the first segment of a longer path.
    single_words: BTreeSet<String>,
    macro_calls: BTreeSet<String>,
}

enum Target {
    Module(usize),
    Item { file: usize },
}

/// The module tree of one crate, without its tests.
pub(super) struct Modules {
    pub(super) files: Vec<PathBuf>,
    modules: Vec<Module>,
}

impl Modules {
    /// Reads a crate from the file of its root module.
    pub(super) fn read(root: &Path) -> Self {
        let mut modules = Self { files: Vec::new(), modules: Vec::new() };
        let folder = root.parent().expect("a folder").to_owned();
        modules.read_file(root, None, folder);
        modules
    }

    /// Every use of a name in another file of the crate: the file that uses it, the file that defines it, and a path
    /// as written.
    pub(super) fn uses(&self) -> BTreeMap<(usize, usize), BTreeSet<String>> {
        let mut uses = BTreeMap::<_, BTreeSet<String>>::new();
        for (at, module) in self.modules.iter().enumerate() {
            for (path, targets) in self.uses_of(at) {
                for target in targets {
                    if let Target::Item { file } = target
                        && file != module.file
                    {
                        uses.entry((module.file, file)).or_default().insert(path.clone());
                    }
                }
            }
        }
        uses
    }

    fn uses_of(&self, at: usize) -> Vec<(String, Vec<Target>)> {
        let module = &self.modules[at];
        let mut uses = Vec::new();
        for path in &module.paths {
            uses.push((path.join("::"), self.follow(at, path, &mut BTreeSet::new())));
        }
        for import in &module.imports {
            if import.name == "*" {
                for target in self.follow(at, &import.path, &mut BTreeSet::new()) {
                    match target {
                        Target::Module(of) => uses.extend(
                            module.words.iter().filter(|word| self.is_visible(of, word, at)).map(|word| {
                                (
                                    word.clone(),
                                    self.lookup(of, word, &mut BTreeSet::from([(at, word.clone())])),
                                )
                            }),
                        ),
                        item => uses.push((import.path.join("::"), vec![item])),
                    }
                }
            } else if import.kind == ImportKind::Private || module.words.contains(&import.name) {
                let mut targets = self.follow(at, &import.path, &mut BTreeSet::new());
                // A name can be both a module and an item, and only the module may be used.
                let has_module = targets.iter().any(|target| matches!(target, Target::Module(_)));
                if has_module && !module.single_words.contains(&import.name) {
                    targets.clear();
                }
                uses.push((import.path.join("::"), targets));
            }
        }
        uses.extend(
            module.macro_calls.iter().map(|name| (format!("{name}!"), self.macro_in_scope(at, name))),
        );
        uses
    }

    /// The module that a macro without a path is defined in: this one or one around it.
    fn macro_in_scope(&self, at: usize, name: &str) -> Vec<Target> {
        let mut around = Some(at);
        while let Some(module) = around.map(|module| &self.modules[module]) {
            if module.macros.contains(name) {
                return vec![Target::Item { file: module.file }];
            }
            around = module.parent;
        }
        Vec::new()
    }

    /// Resolves a path as written in a module. A path into another crate has no target.
    fn follow(&self, at: usize, path: &[String], seen: &mut BTreeSet<(usize, String)>) -> Vec<Target> {
        let Some((first, rest)) = path.split_first() else { return vec![Target::Module(at)] };
        let mut targets = match first.as_str() {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(at)],
            "super" => vec![Target::Module(self.modules[at].parent.unwrap_or(0))],
            name => self.lookup(at, name, seen),
        };
        for segment in rest {
            let mut next = Vec::new();
            if targets.iter().any(|target| matches!(target, Target::Module(_))) {
                targets.retain(|target| matches!(target, Target::Module(_)));
            }
            for target in targets {
                match target {
                    Target::Module(of) if segment == "self" => next.push(Target::Module(of)),
                    Target::Module(of) if segment == "super" => {
                        next.push(Target::Module(self.modules[of].parent.unwrap_or(0)));
                    }
                    Target::Module(of) => {
                        let found = self.lookup(of, segment, seen);
                        if found.is_empty() && !self.is_imported(of, segment) {
                            next.push(Target::Item { file: self.modules[of].file });
                        }
                        next.extend(found);
                    }
                    item => next.push(item),
                }
            }
            targets = next;
        }
        targets
    }

    /// Tests if a name without a target comes from another crate.
    fn is_imported(&self, at: usize, name: &str) -> bool {
        self.modules[at].imports.iter().any(|import| {
            import.name == name
                || (import.name == "*" && self.follow(at, &import.path, &mut BTreeSet::new()).is_empty())
        })
    }

    /// Tests if a glob import can bring a name of one module into another: private imports are visible below only.
    fn is_visible(&self, of: usize, name: &str, to: usize) -> bool {
        let is_private = |import: &&Import| import.kind == ImportKind::Private;
        let mut around = Some(to);
        while let Some(module) = around {
            if module == of {
                return true;
            }
            around = self.modules[module].parent;
        }
        !self.modules[of].imports.iter().filter(is_private).any(|import| import.name == name)
    }

    fn lookup(&self, at: usize, name: &str, seen: &mut BTreeSet<(usize, String)>) -> Vec<Target> {
        if !seen.insert((at, name.to_owned())) {
            return Vec::new();
        }
        let module = &self.modules[at];
        let mut found = Vec::new();
        found.extend(module.children.get(name).map(|child| Target::Module(*child)));
        if module.defined.contains(name) {
            found.push(Target::Item { file: module.file });
        }
        for import in module.imports.iter().filter(|import| import.name == name) {
            found.extend(self.follow(at, &import.path, seen));
        }
        if found.is_empty() {
            for import in module.imports.iter().filter(|import| import.name == "*") {
                for target in self.follow(at, &import.path, seen) {
                    if let Target::Module(of) = target
                        && self.is_visible(of, name, at)
                    {
                        found.extend(self.lookup(of, name, seen));
                    }
                }
            }
        }
        seen.remove(&(at, name.to_owned()));
        found
    }

    fn read_file(&mut self, path: &Path, parent: Option<usize>, folder: PathBuf) -> usize {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let tokens = text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        self.files.push(path.to_owned());
        self.read_module(tokens, parent, self.files.len() - 1, folder)
    }

    fn read_module(
        &mut self,
        tokens: TokenStream,
        parent: Option<usize>,
        file: usize,
        folder: PathBuf,
    ) -> usize {
        let at = self.modules.len();
        self.modules.push(Module {
            parent,
            file,
            folder,
            children: BTreeMap::new(),
            defined: BTreeSet::new(),
            macros: BTreeSet::new(),
            imports: Vec::new(),
            paths: BTreeSet::new(),
            words: BTreeSet::new(),
            single_words: BTreeSet::new(),
            macro_calls: BTreeSet::new(),
        });
        self.read_items(at, &without_tests(tokens));
        at
    }

    /// Reads the definitions of a module, its submodules, and the code between them.
    fn read_items(&mut self, at: usize, tokens: &[TokenTree]) {
        let mut i = 0;
        while i < tokens.len() {
            let word = ident(tokens.get(i)).unwrap_or_default();
            let name = ident(tokens.get(i + 1));
            match (word.as_str(), name) {
                ("mod", Some(name)) => {
                    self.read_submodule(at, &name, tokens.get(i + 2));
                    i += 3;
                    continue;
                }
                ("macro_rules", _) => {
                    let name = ident(tokens.get(i + 2)).expect("the name of a macro");
                    self.modules[at].macros.insert(name.clone());
                    self.modules[at].defined.insert(name);
                }
                (keyword, Some(name)) if DEFINING.contains(&keyword) => {
                    self.modules[at].defined.insert(name);
                }
                _ => {}
            }
            i = self.read_token(at, tokens, i);
        }
    }

    fn read_submodule(&mut self, at: usize, name: &str, body: Option<&TokenTree>) {
        let folder = self.modules[at].folder.join(name);
        let child = if let Some(TokenTree::Group(body)) = body {
            self.read_module(body.stream(), Some(at), self.modules[at].file, folder)
        } else {
            let path = folder.with_extension("rs");
            let path = if path.is_file() { path } else { folder.join("mod.rs") };
            self.read_file(&path, Some(at), folder)
        };
        self.modules[at].children.insert(name.to_owned(), child);
    }

    fn read_code(&mut self, at: usize, tokens: &[TokenTree]) {
        let mut i = 0;
        while i < tokens.len() {
            i = self.read_token(at, tokens, i);
        }
    }

    /// Records the use that begins at a token, and returns the index after it.
    fn read_token(&mut self, at: usize, tokens: &[TokenTree], i: usize) -> usize {
        match &tokens[i] {
            TokenTree::Group(group) => {
                self.read_code(at, &without_tests(group.stream()));
                i + 1
            }
            TokenTree::Ident(word)
                if word == "use" && !matches!(tokens.get(i + 1), Some(token) if is(token, '<')) =>
            {
                let end = (i..tokens.len()).find(|i| is(&tokens[*i], ';')).unwrap_or(tokens.len());
                let kind = match &tokens[..i] {
                    [.., TokenTree::Ident(word)] if word == "pub" => ImportKind::Reexport,
                    [.., TokenTree::Ident(word), TokenTree::Group(_)] if word == "pub" => {
                        ImportKind::Reexport
                    }
                    _ => ImportKind::Private,
                };
                let imports = &mut self.modules[at].imports;
                read_use(&tokens[i + 1..end], &[], &mut |name, path| {
                    imports.push(Import { name, path, kind });
                });
                end
            }
            TokenTree::Ident(_) => self.read_path(at, tokens, i),
            TokenTree::Literal(literal) => {
                self.read_path_in_string(at, &literal.to_string());
                i + 1
            }
            TokenTree::Punct(_) => i + 1,
        }
    }

    fn read_path(&mut self, at: usize, tokens: &[TokenTree], i: usize) -> usize {
        let before = i.checked_sub(1).map(|before| &tokens[before]);
        let continues = before.is_some_and(|token| {
            is(token, '.') || is(token, ':') && i > 1 && is(&tokens[i - 2], ':') || is(token, '\'')
        });
        let is_defined = matches!(before, Some(TokenTree::Ident(word)) if word == "fn");
        if continues || is_defined {
            return i + 1;
        }
        let mut path = vec![ident(tokens.get(i)).expect("an identifier")];
        let mut end = i + 1;
        while tokens.get(end).is_some_and(|token| is(token, ':'))
            && tokens.get(end + 1).is_some_and(|token| is(token, ':'))
            && let Some(next) = ident(tokens.get(end + 2))
        {
            path.push(next);
            end += 3;
        }
        let module = &mut self.modules[at];
        if path.len() == 1 && tokens.get(end).is_some_and(|token| is(token, '!')) {
            module.macro_calls.insert(path[0].clone());
        }
        module.words.insert(path[0].clone());
        if path.len() > 1 {
            module.paths.insert(path);
        } else {
            module.single_words.extend(path);
        }
        end
    }

    /// Records a path that is the whole of a string, as in `#[serde(with = "crate::bytes")]`.
    fn read_path_in_string(&mut self, at: usize, literal: &str) {
        let text = literal.trim_matches('"');
        let is_name = |part: &str| {
            part.chars().all(|c| c.is_alphanumeric() || c == '_') && !part.starts_with(char::is_numeric)
        };
        let path: Vec<String> = text.split("::").map(str::to_owned).collect();
        if path.len() > 1 && path.iter().all(|part| !part.is_empty() && is_name(part)) {
            self.modules[at].paths.insert(path);
        }
    }
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(ident)) => Some(ident.to_string()),
        _ => None,
    }
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// Calls `found` with each name and path of a `use` tree.
fn read_use(tokens: &[TokenTree], prefix: &[String], found: &mut dyn FnMut(String, Vec<String>)) {
    for tree in tokens.split(|token| is(token, ',')) {
        let mut path = prefix.to_vec();
        let mut name = None;
        let mut rest = tree.iter();
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => name = ident(rest.next()),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Group(group) => {
                    let inner: Vec<TokenTree> = group.stream().into_iter().collect();
                    read_use(&inner, &path, found);
                    path.clear();
                }
                token if is(token, '*') => name = Some("*".to_owned()),
                _ => {}
            }
        }
        // `{self}` imports the module, even if an item has the same name.
        if let Some(last) = path.iter().rev().find(|segment| *segment != "self").or(path.last()) {
            found(name.unwrap_or_else(|| last.clone()), path);
        }
    }
}

/// The tokens without the items that are compiled for tests only, and without attributes of documentation.
fn without_tests(tokens: TokenStream) -> Vec<TokenTree> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut kept = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let attribute = match (&tokens[i], tokens.get(i + 1)) {
            (hash, Some(TokenTree::Group(group)))
                if is(hash, '#') && group.delimiter() == Delimiter::Bracket =>
            {
                Some(group.stream().to_string().replace(' ', ""))
            }
            _ => None,
        };
        match attribute {
            Some(text) if text == "cfg(test)" || text.starts_with("cfg(all(test,") => {
                i = after_item(&tokens, i + 2);
            }
            Some(text) if text.starts_with("doc=") => i += 2,
            _ => {
                kept.push(tokens[i].clone());
                i += 1;
            }
        }
    }
    kept
}

/// The index after the item, field or statement that begins at a token.
fn after_item(tokens: &[TokenTree], mut i: usize) -> usize {
    let words: Vec<String> = tokens[i..]
        .iter()
        .map_while(|token| match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => Some("()".to_owned()),
            token => ident(Some(token)),
        })
        .collect();
    let head: Vec<&str> =
        words.iter().map(String::as_str).filter(|word| !["pub", "()"].contains(word)).collect();
    let ends_with_semicolon = matches!(head[..], ["use" | "static" | "let" | "type", ..])
        || matches!(head[..], ["const", second, ..] if second != "fn");
    let is_field = head.len() == 1 && tokens.get(i + words.len()).is_some_and(|token| is(token, ':'));
    while i < tokens.len() {
        let token = &tokens[i];
        i += 1;
        let is_body = matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if is(token, ';') || (is_body && !ends_with_semicolon) || (is_field && is(token, ',')) {
            break;
        }
    }
    i
}
