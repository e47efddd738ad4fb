//! Languages of code blocks: comment syntax, string delimiters and keywords.

/// The lexer mode of a language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexerMode {
    /// Words, numbers, strings and comments.
    Code,
    /// Like `Code`, with `$name` for variables, and comments only at the start of a word.
    Shell,
    /// Keys before `:` or `=` at the start of lines, and values.
    Data,
    /// Property names before `:`, values, and at-rules.
    Style,
    /// Elements with attributes.
    Markup,
    /// A diff with added and removed lines.
    Difference,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Language {
    pub(super) way: LexerMode,
    /// The names of the language in documents, in lower case.
    names: &'static [&'static str],
    /// The tokens that start a line comment.
    pub(super) line: &'static [&'static str],
    /// The tokens that begin and end a block comment.
    pub(super) block: &'static [(&'static str, &'static str)],
    /// The string delimiters. Delimiters of three characters come first; their strings may span lines.
    pub(super) quotes: &'static [&'static str],
    /// The keywords, separated by spaces.
    keywords: &'static str,
}

/// Constants that most languages share.
const CONSTANTS: [&str; 14] = [
    "true",
    "false",
    "null",
    "nil",
    "None",
    "True",
    "False",
    "undefined",
    "NaN",
    "NULL",
    "this",
    "self",
    "nullptr",
    "inf",
];

impl Language {
    const fn new(names: &'static [&'static str], keywords: &'static str) -> Self {
        let (line, block): (&[&str], &[(&str, &str)]) = (&["//"], &[("/*", "*/")]);
        Self { way: LexerMode::Code, names, line, block, quotes: &["\"", "'"], keywords }
    }

    const fn with_hash_comments(names: &'static [&'static str], keywords: &'static str) -> Self {
        Self { line: &["#"], block: &[], ..Self::new(names, keywords) }
    }

    const fn quotes(self, quotes: &'static [&'static str]) -> Self {
        Self { quotes, ..self }
    }

    const fn comments(
        self,
        line: &'static [&'static str],
        block: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { line, block, ..self }
    }

    const fn mode(self, way: LexerMode) -> Self {
        Self { way, ..self }
    }

    /// Finds a language by its name, ignoring case.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        let name = name.to_ascii_lowercase();
        LANGUAGES.iter().find(|language| language.names.contains(&name.as_str()))
    }

    /// Returns `true` if a word is a keyword.
    pub(super) fn is_keyword(&self, word: &str) -> bool {
        // Compares bytes, because this runs for each word of a code block.
        let mut keywords = self.keywords.as_bytes().split(|byte| *byte == b' ');
        match self.ignores_case() {
            true => keywords.any(|keyword| keyword.eq_ignore_ascii_case(word.as_bytes())),
            false => keywords.any(|keyword| keyword == word.as_bytes()),
        }
    }

    /// Returns `true` if a word is a predefined constant.
    pub(super) fn is_constant(&self, word: &str) -> bool {
        CONSTANTS.contains(&word)
            || (self.ignores_case() && CONSTANTS.iter().any(|it| it.eq_ignore_ascii_case(word)))
    }

    fn ignores_case(&self) -> bool {
        matches!(self.names.first(), Some(&("sql" | "dockerfile" | "powershell")))
    }

    /// Returns `true` if a single quote may begin something other than a string, such as a lifetime in Rust.
    pub(super) fn has_lifetimes(&self) -> bool {
        self.names.first() == Some(&"rust")
    }
}

const JS: &str = "abstract as async await break case catch class const continue debugger declare default delete do else \
    enum export extends finally for from function get if implements import in instanceof interface is keyof let \
    namespace new of private protected public readonly return satisfies set static super switch throw try type typeof \
    var void while with yield";
const C: &str = "alignas alignof asm auto bool break case catch char class concept const const_cast constexpr continue \
    co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern final \
    float for friend goto if inline int long mutable namespace new noexcept operator override private protected public \
    register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct \
    switch template thread_local throw try typedef typename union unsigned using virtual void volatile wchar_t while";
const SHELL: &str = "break case cd continue declare do done echo elif else esac eval exec exit export fi for function if \
    in local printf read readonly return set shift source sudo test then trap unset until while";

/// The supported languages.
static LANGUAGES: [Language; 34] = [
    Language::new(&["rust", "rs"], "as async await break const continue crate dyn else enum extern fn for if impl in \
        let loop macro_rules match mod move mut pub ref return static struct super trait type union unsafe use where \
        while yield").quotes(&["\"", "'"]),
    Language::new(&["javascript", "js", "jsx", "mjs", "cjs", "typescript", "ts", "tsx", "mts"], JS)
        .quotes(&["\"", "'", "`"]),
    Language::with_hash_comments(&["python", "py", "python3", "ipython"], "and as assert async await break case class continue def \
        del elif else except finally for from global if import in is lambda match nonlocal not or pass raise return \
        try while with yield").quotes(&["\"\"\"", "'''", "\"", "'"]),
    Language::new(&["java", "groovy", "gradle"], "abstract assert boolean break byte case catch char class const \
        continue def default do double else enum extends final finally float for if implements import instanceof int \
        interface long native new package permits private protected public record return sealed short static strictfp \
        super switch synchronized throw throws transient try var void volatile while yield").quotes(&["\"\"\"", "\"", "'"]),
    Language::new(&["kotlin", "kt", "kts"], "abstract annotation as break by class companion const constructor continue \
        data do else enum final for fun if import in infix init inline inner interface internal is lateinit object open \
        operator out override package private protected public reified return sealed super suspend tailrec throw try \
        typealias val var vararg when where while").quotes(&["\"\"\"", "\"", "'"]),
    Language::new(&["swift"], "actor any as associatedtype async await break case catch class continue default defer \
        deinit do else enum extension fallthrough fileprivate final for func guard if import in init inout internal is \
        lazy let mutating open operator private protocol public repeat required rethrows return some static struct \
        subscript super switch throw throws try typealias var weak where while").quotes(&["\"\"\"", "\""]),
    Language::new(&["c", "h", "cpp", "c++", "cc", "hpp", "objective-c", "objectivec", "objc", "arduino", "cuda"], C),
    Language::new(&["csharp", "c#", "cs"], "abstract as async await base bool break byte case catch char checked class \
        const continue decimal default delegate do double else enum event explicit extern finally fixed float for \
        foreach get if implicit in init int interface internal is lock long namespace new object operator out override \
        params private protected public readonly record ref required return sbyte sealed set short sizeof stackalloc \
        static string struct switch throw try typeof uint ulong unchecked unsafe ushort using var virtual void volatile \
        when where while with yield").quotes(&["\"\"\"", "\"", "'"]),
    Language::new(&["go", "golang"], "any bool break byte case chan complex128 const continue default defer else error \
        fallthrough float32 float64 for func go goto if import int int32 int64 interface map package range return rune \
        select string struct switch type uint uint64 var").quotes(&["\"", "'", "`"]),
    Language::with_hash_comments(&["ruby", "rb"], "alias and begin break case class def defined? do else elsif end ensure extend for \
        if in include module next not or raise redo require require_relative rescue retry return super then undef \
        unless until when while yield attr_accessor attr_reader private protected public"),
    Language::new(&["php"], "abstract and array as break callable case catch class clone const continue declare default \
        do echo else elseif enum extends final finally fn for foreach function global goto if implements include \
        include_once instanceof insteadof int interface match namespace new or print private protected public readonly \
        require require_once return static string switch throw trait try unset use var void while xor yield")
        .comments(&["//", "#"], &[("/*", "*/")]),
    Language::new(&["scala"], "abstract case catch class def do else enum extends extension final finally for forSome \
        given if implicit import lazy match new object override package private protected return sealed super then throw \
        trait try type using val var while with yield").quotes(&["\"\"\"", "\"", "'"]),
    Language::new(&["dart"], JS),
    Language::with_hash_comments(&["elixir", "ex", "exs"], "after alias and case catch cond def defmacro defmodule defp defstruct do \
        else end fn for if import in not or quote raise receive require rescue try unless unquote use when with")
        .quotes(&["\"\"\"", "\"", "'"]),
    Language::new(&["haskell", "hs", "elm"], "as case class data deriving do else forall hiding if import in infix \
        instance let module newtype of qualified then type where").comments(&["--"], &[("{-", "-}")]).quotes(&["\""]),
    Language::new(&["lua"], "and break do else elseif end for function goto if in local not or repeat return then until \
        while").comments(&["--"], &[("--[[", "]]")]),
    Language::with_hash_comments(&["r"], "break else for function if in library next repeat require return source while"),
    Language::with_hash_comments(&["perl", "pl"], "and default do else elsif eval for foreach given if last local my next no or our \
        package print redo require return sub unless until use when while"),
    Language::new(&["zig"], "align allowzero and anyframe anytype asm async await break callconv catch comptime const \
        continue defer else enum errdefer error export extern fn for if inline noalias opaque or orelse packed pub \
        resume return struct suspend switch test threadlocal try union unreachable usingnamespace var volatile while"),
    Language::new(&["solidity", "sol"], "abstract address bool break bytes calldata case constant constructor continue \
        contract delete do else emit enum error event external fallback for function if immutable import indexed \
        interface internal is library mapping memory modifier new override payable pragma private public pure receive \
        return returns storage string struct uint uint256 unchecked using view virtual while"),
    Language::new(&["sql", "mysql", "postgresql", "postgres", "pgsql", "plsql", "sqlite", "tsql"], "add all alter and as \
        asc begin between bigint boolean by cascade case check column commit constraint create cross database date \
        default delete desc distinct drop else end except exists explain false foreign from full function grant group \
        having if ilike in index inner insert int integer intersect into is join key left like limit not numeric offset \
        on or order outer over partition primary procedure references replace returning revoke right rollback schema \
        select serial set table text then timestamp to transaction trigger truncate union unique update using values \
        varchar view when where window with").comments(&["--", "#"], &[("/*", "*/")]).quotes(&["'", "\"", "`"]),
    Language::with_hash_comments(&["shell", "bash", "sh", "zsh", "fish", "console", "shellscript", "shell-session", "shellsession",
        "terminal", "cli", "ksh"], SHELL).mode(LexerMode::Shell),
    Language::with_hash_comments(&["powershell", "ps1", "pwsh", "ps"], "begin break catch class continue data do dynamicparam else \
        elseif end enum exit filter finally for foreach from function if in param process return switch throw trap try \
        until using while").comments(&["#"], &[("<#", "#>")]).mode(LexerMode::Shell),
    Language::new(&["json", "jsonc", "json5", "jsonl", "ndjson", "geojson"], "").mode(LexerMode::Data),
    Language::with_hash_comments(&["yaml", "yml", "docker-compose"], "").mode(LexerMode::Data),
    Language::with_hash_comments(&["toml", "ini", "properties", "env", "dotenv", "editorconfig", "cfg", "conf"], "")
        .comments(&["#", ";"], &[]).quotes(&["\"\"\"", "'''", "\"", "'"]).mode(LexerMode::Data),
    Language::with_hash_comments(&["dockerfile", "docker"], "add arg as cmd copy entrypoint env expose from healthcheck label \
        maintainer onbuild run shell stopsignal user volume workdir").mode(LexerMode::Shell),
    Language::with_hash_comments(&["makefile", "make", "mk", "cmake", "nginx", "apache"], SHELL).mode(LexerMode::Shell),
    Language::with_hash_comments(&["hcl", "terraform", "tf"], "data for if in locals module output provider resource terraform \
        variable").comments(&["#", "//"], &[("/*", "*/")]),
    Language::with_hash_comments(&["graphql", "gql"], "directive enum extend fragment implements input interface mutation on query \
        scalar schema subscription type union").quotes(&["\"\"\"", "\""]),
    Language::new(&["protobuf", "proto"], "bool bytes double enum extend fixed32 fixed64 float import int32 int64 map \
        message oneof option optional package public repeated required reserved returns rpc service stream string \
        syntax uint32 uint64"),
    Language::new(&["css", "scss", "sass", "less", "stylus"], "").mode(LexerMode::Style),
    Language::new(&["html", "xml", "svg", "xhtml", "vue", "svelte", "astro", "markup", "plist", "rss", "xsl", "jsp", "erb",
        "handlebars", "hbs", "liquid", "jinja", "jinja2", "twig"], "").comments(&[], &[("<!--", "-->")]).mode(LexerMode::Markup),
    Language::new(&["diff", "patch"], "").comments(&[], &[]).mode(LexerMode::Difference),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn language_names_are_unique_and_lowercase() {
        let mut names: Vec<_> = LANGUAGES.iter().flat_map(|language| language.names).collect();
        let all = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert!(names.iter().all(|name| name.to_ascii_lowercase() == **name));
    }

    #[test]
    fn longer_quotes_precede_their_prefixes() {
        for language in &LANGUAGES {
            for (at, quote) in language.quotes.iter().enumerate() {
                let later = &language.quotes[at + 1..];
                assert!(!later.iter().any(|later| later.starts_with(quote)), "{:?}", language.names);
            }
        }
    }
}
