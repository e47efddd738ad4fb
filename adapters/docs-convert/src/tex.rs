//! TeX of formulas: characters, commands and their spacing.

use std::fmt::Write as _;

/// The font of letters in a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum MathFont {
    #[default]
    Italic,
    Roman,
    /// Text within a formula, whose spaces are significant.
    Text,
    Bold,
    BoldItalic,
    Script,
    Fraktur,
    DoubleStruck,
    SansSerif,
    Monospace,
}

impl MathFont {
    const fn command(self) -> &'static str {
        match self {
            Self::Italic => "",
            Self::Roman => "\\mathrm",
            Self::Text => "\\text",
            Self::Bold => "\\mathbf",
            Self::BoldItalic => "\\boldsymbol",
            Self::Script => "\\mathcal",
            Self::Fraktur => "\\mathfrak",
            Self::DoubleStruck => "\\mathbb",
            Self::SansSerif => "\\mathsf",
            Self::Monospace => "\\mathtt",
        }
    }
}

/// Functions that have a command of their own.
const FUNCTIONS: [&str; 32] = [
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp",
    "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec",
    "sin", "sinh", "sup", "tan", "tanh",
];

/// Length of the longest command with a preceding line break in bytes, rounded up.
const MAX_COMMAND_BYTES: usize = 32;

/// Appends a command, a brace or other TeX. Separates a letter from a preceding command.
pub(crate) fn push(out: &mut String, tex: &str) {
    if tex.starts_with(|c: char| c.is_ascii_alphabetic()) && ends_with_command(out) {
        out.push(' ');
    }
    out.push_str(tex);
}

/// Returns `true` if the text ends with a command of letters.
fn ends_with_command(text: &str) -> bool {
    let tail = &text.as_bytes()[text.len().saturating_sub(MAX_COMMAND_BYTES)..];
    let letters = tail.iter().rev().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let stem = &tail[..tail.len() - letters];
    // `\\` is a line break, not the begin of a command.
    letters > 0 && stem.ends_with(b"\\") && !stem.ends_with(b"\\\\")
}

/// Appends the argument of a command or script, in braces.
pub(crate) fn push_group(out: &mut String, tex: &str) {
    out.push('{');
    out.push_str(tex.trim());
    out.push('}');
}

/// Appends the base of a script: in braces unless it is one symbol.
pub(crate) fn push_base(out: &mut String, tex: &str) {
    let tex = tex.trim();
    let is_symbol = tex.chars().count() == 1
        || tex.strip_prefix('\\').is_some_and(|name| name.chars().all(|c| c.is_ascii_alphabetic()));
    if is_symbol { push(out, tex) } else { push_group(out, tex) }
}

/// Appends the name of a function.
pub(crate) fn push_function(out: &mut String, name: &str) {
    if FUNCTIONS.contains(&name) {
        push(out, &format!("\\{name}"));
    } else {
        out.push_str("\\operatorname");
        push_group(out, name);
    }
}

/// Returns `true` if text is the name of a function with limits or arguments.
pub(crate) fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name)
}

/// Appends text of a formula in a font.
pub(crate) fn push_text(out: &mut String, text: &str, font: MathFont) {
    if font == MathFont::Text {
        out.push_str("\\text{");
        text.chars().for_each(|c| push_text_char(out, c));
        out.push('}');
        return;
    }
    // Only letters and digits have a font.
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let has_font = |c: char| decoded(c).0.is_ascii_alphanumeric();
        let end = match has_font(first) {
            true => {
                let font = decoded(first).1;
                rest.find(|c: char| !has_font(c) || decoded(c).1 != font).unwrap_or(rest.len())
            }
            false => rest.find(has_font).unwrap_or(rest.len()),
        };
        let (run, after) = rest.split_at(end);
        rest = after;
        if !has_font(first) {
            run.chars().for_each(|c| push_char(out, c));
            continue;
        }
        let plain: String = run.chars().map(|c| decoded(c).0).collect();
        let font = decoded(first).1.unwrap_or(font);
        let is_number = plain.bytes().all(|byte| byte.is_ascii_digit());
        match font.command() {
            "" => push(out, &plain),
            "\\mathrm" if is_number => push(out, &plain),
            command => {
                out.push_str(command);
                push_group(out, &plain);
            }
        }
    }
}

/// Returns the plain letter or digit of a mathematical alphanumeric symbol, and its font.
fn decoded(c: char) -> (char, Option<MathFont>) {
    const FONTS: [MathFont; 13] = [
        MathFont::Bold,
        MathFont::Italic,
        MathFont::BoldItalic,
        MathFont::Script,
        MathFont::Script,
        MathFont::Fraktur,
        MathFont::DoubleStruck,
        MathFont::Fraktur,
        MathFont::SansSerif,
        MathFont::SansSerif,
        MathFont::SansSerif,
        MathFont::SansSerif,
        MathFont::Monospace,
    ];
    const DIGIT_FONTS: [MathFont; 5] = [
        MathFont::Bold,
        MathFont::DoubleStruck,
        MathFont::SansSerif,
        MathFont::SansSerif,
        MathFont::Monospace,
    ];
    let code = u32::from(c);
    let at = |alphabet: &[u8], place: u32| {
        usize::try_from(place).ok().and_then(|place| alphabet.get(place)).map(|byte| char::from(*byte))
    };
    let font = |fonts: &[MathFont], place: u32| {
        usize::try_from(place).ok().and_then(|place| fonts.get(place)).copied()
    };
    let found = match code {
        0x1_D400..=0x1_D6A3 => {
            let place = code - 0x1_D400;
            let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
            at(letters, place % 52).zip(font(&FONTS, place / 52))
        }
        0x1_D7CE..=0x1_D7FF => {
            let place = code - 0x1_D7CE;
            at(b"0123456789", place % 10).zip(font(&DIGIT_FONTS, place / 10))
        }
        0x2102 => Some(('C', MathFont::DoubleStruck)),
        0x210E => Some(('h', MathFont::Italic)),
        0x2115 => Some(('N', MathFont::DoubleStruck)),
        0x2119 => Some(('P', MathFont::DoubleStruck)),
        0x211A => Some(('Q', MathFont::DoubleStruck)),
        0x211D => Some(('R', MathFont::DoubleStruck)),
        0x2124 => Some(('Z', MathFont::DoubleStruck)),
        _ => None,
    };
    found.map_or((c, None), |(letter, font)| (letter, Some(font)))
}

/// Appends a character of a formula.
pub(crate) fn push_char(out: &mut String, c: char) {
    if let Some(command) = command_of(c) {
        push(out, command);
        return;
    }
    match c {
        '{' | '}' | '#' | '%' | '&' | '$' | '_' => {
            out.push('\\');
            out.push(c);
        }
        '\u{2061}'..='\u{2064}' | '\u{200b}' => {}
        c if c.is_whitespace() => {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        }
        c if c.is_control() => {}
        c => push(out, c.encode_utf8(&mut [0; 4])),
    }
}

/// Appends a character of text within a formula.
fn push_text_char(out: &mut String, c: char) {
    match c {
        '{' | '}' | '#' | '%' | '&' | '$' | '_' => {
            out.push('\\');
            out.push(c);
        }
        '\\' | '^' | '~' => out.push(' '),
        c if c.is_whitespace() => out.push(' '),
        c if c.is_control() => {}
        c => out.push(c),
    }
}

/// Appends a delimiter for `\left`, `\middle` or `\right`.
pub(crate) fn push_delimiter(out: &mut String, delimiter: &str) {
    let tex = match delimiter {
        "" => ".",
        "{" => "\\{",
        "}" => "\\}",
        "⟨" | "〈" | "<" => "\\langle",
        "⟩" | "〉" | ">" => "\\rangle",
        "‖" | "∥" => "\\|",
        "⌊" => "\\lfloor",
        "⌋" => "\\rfloor",
        "⌈" => "\\lceil",
        "⌉" => "\\rceil",
        "∣" => "|",
        "(" | ")" | "[" | "]" | "|" | "/" => delimiter,
        "\\" => "\\backslash",
        _ => ".",
    };
    out.push_str(tex);
}

/// Appends a matrix or an array of equations.
pub(crate) fn push_rows(out: &mut String, environment: &str, rows: &[Vec<String>]) {
    let _ = write!(out, "\\begin{{{environment}}}");
    for (at, row) in rows.iter().enumerate() {
        out.push_str(if at > 0 { " \\\\ " } else { " " });
        for (at, cell) in row.iter().enumerate() {
            out.push_str(if at > 0 { " & " } else { "" });
            out.push_str(cell.trim());
        }
    }
    let _ = write!(out, " \\end{{{environment}}}");
}

/// Returns the environment of a matrix within delimiters, or `None` if there is none for them.
pub(crate) fn matrix_environment(begin: &str, end: &str) -> Option<&'static str> {
    match (begin, end) {
        ("(", ")") => Some("pmatrix"),
        ("[", "]") => Some("bmatrix"),
        ("{", "}") => Some("Bmatrix"),
        ("|", "|") | ("∣", "∣") => Some("vmatrix"),
        ("‖", "‖") | ("∥", "∥") => Some("Vmatrix"),
        ("{", "") => Some("cases"),
        _ => None,
    }
}

/// Returns the command of an accent above its base, for one character and for several.
pub(crate) fn accent(mark: char) -> Option<(&'static str, &'static str)> {
    Some(match mark {
        '\u{302}' | '^' | 'ˆ' => ("\\hat", "\\widehat"),
        '\u{303}' | '~' | '˜' | '∼' => ("\\tilde", "\\widetilde"),
        '\u{304}' | '¯' | '‾' | 'ˉ' => ("\\bar", "\\overline"),
        '\u{305}' | '_' => ("\\overline", "\\overline"),
        '\u{306}' | '˘' => ("\\breve", "\\breve"),
        '\u{307}' | '˙' | '.' => ("\\dot", "\\dot"),
        '\u{308}' | '¨' => ("\\ddot", "\\ddot"),
        '\u{20db}' | '\u{20dc}' => ("\\dddot", "\\dddot"),
        '\u{30c}' | 'ˇ' => ("\\check", "\\check"),
        '\u{301}' | '´' => ("\\acute", "\\acute"),
        '\u{300}' | '`' => ("\\grave", "\\grave"),
        '\u{30a}' | '˚' => ("\\mathring", "\\mathring"),
        '\u{20d7}' | '→' | '⇀' => ("\\vec", "\\overrightarrow"),
        '\u{20d6}' | '←' => ("\\overleftarrow", "\\overleftarrow"),
        '\u{20e1}' | '↔' => ("\\overleftrightarrow", "\\overleftrightarrow"),
        '⏞' | '︷' => ("\\overbrace", "\\overbrace"),
        _ => return None,
    })
}

/// Returns `true` if TeX is higher than a line, so that its delimiters grow with it.
pub(crate) fn is_tall(tex: &str) -> bool {
    [
        "\\frac", "\\begin", "\\sum", "\\prod", "\\int", "\\left", "\\sqrt", "\\over", "\\under", "\\binom",
        "\\oint", "^",
    ]
    .iter()
    .any(|command| tex.contains(command))
}

/// Normalizes the TeX that a page contains: without comments and line breaks, so that it fits on one line.
pub(crate) fn normalize(tex: &str) -> String {
    let mut out = String::with_capacity(tex.len());
    for line in tex.lines() {
        for word in without_comment(line).split_whitespace() {
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(word);
        }
    }
    // Two dollar signs would end the formula.
    while out.contains("$$") {
        out = out.replace("$$", "$ $");
    }
    out
}

fn without_comment(line: &str) -> &str {
    let mut is_escaped = false;
    for (at, c) in line.char_indices() {
        match c {
            '%' if !is_escaped => return &line[..at],
            '\\' => is_escaped = !is_escaped,
            _ => is_escaped = false,
        }
    }
    line
}

/// Returns the command of a symbol.
fn command_of(c: char) -> Option<&'static str> {
    COMMANDS.iter().find(|(symbol, _)| *symbol == c).map(|(_, command)| *command)
}

/// Symbols with their commands.
const COMMANDS: &[(char, &str)] = &[
    ('α', "\\alpha"),
    ('β', "\\beta"),
    ('γ', "\\gamma"),
    ('δ', "\\delta"),
    ('ε', "\\varepsilon"),
    ('ϵ', "\\epsilon"),
    ('ζ', "\\zeta"),
    ('η', "\\eta"),
    ('θ', "\\theta"),
    ('ϑ', "\\vartheta"),
    ('ι', "\\iota"),
    ('κ', "\\kappa"),
    ('λ', "\\lambda"),
    ('μ', "\\mu"),
    ('µ', "\\mu"),
    ('ν', "\\nu"),
    ('ξ', "\\xi"),
    ('π', "\\pi"),
    ('ϖ', "\\varpi"),
    ('ρ', "\\rho"),
    ('σ', "\\sigma"),
    ('ς', "\\varsigma"),
    ('τ', "\\tau"),
    ('υ', "\\upsilon"),
    ('φ', "\\varphi"),
    ('ϕ', "\\phi"),
    ('χ', "\\chi"),
    ('ψ', "\\psi"),
    ('ω', "\\omega"),
    ('Γ', "\\Gamma"),
    ('Δ', "\\Delta"),
    ('Θ', "\\Theta"),
    ('Λ', "\\Lambda"),
    ('Ξ', "\\Xi"),
    ('Π', "\\Pi"),
    ('Σ', "\\Sigma"),
    ('Υ', "\\Upsilon"),
    ('Φ', "\\Phi"),
    ('Ψ', "\\Psi"),
    ('Ω', "\\Omega"),
    ('−', "-"),
    ('∗', "*"),
    ('×', "\\times"),
    ('÷', "\\div"),
    ('±', "\\pm"),
    ('∓', "\\mp"),
    ('⋅', "\\cdot"),
    ('·', "\\cdot"),
    ('∙', "\\bullet"),
    ('•', "\\bullet"),
    ('∘', "\\circ"),
    ('°', "^{\\circ}"),
    ('≤', "\\le"),
    ('≥', "\\ge"),
    ('≠', "\\ne"),
    ('≈', "\\approx"),
    ('≅', "\\cong"),
    ('≃', "\\simeq"),
    ('≡', "\\equiv"),
    ('∼', "\\sim"),
    ('~', "\\sim"),
    ('∝', "\\propto"),
    ('≪', "\\ll"),
    ('≫', "\\gg"),
    ('≔', ":="),
    ('∞', "\\infty"),
    ('∂', "\\partial"),
    ('∇', "\\nabla"),
    ('√', "\\surd"),
    ('∑', "\\sum"),
    ('∏', "\\prod"),
    ('∐', "\\coprod"),
    ('∫', "\\int"),
    ('∬', "\\iint"),
    ('∭', "\\iiint"),
    ('∮', "\\oint"),
    ('⋃', "\\bigcup"),
    ('⋂', "\\bigcap"),
    ('⋁', "\\bigvee"),
    ('⋀', "\\bigwedge"),
    ('⨁', "\\bigoplus"),
    ('⨂', "\\bigotimes"),
    ('∈', "\\in"),
    ('∉', "\\notin"),
    ('∋', "\\ni"),
    ('⊂', "\\subset"),
    ('⊃', "\\supset"),
    ('⊆', "\\subseteq"),
    ('⊇', "\\supseteq"),
    ('∪', "\\cup"),
    ('∩', "\\cap"),
    ('∅', "\\emptyset"),
    ('∖', "\\setminus"),
    ('∀', "\\forall"),
    ('∃', "\\exists"),
    ('¬', "\\neg"),
    ('∧', "\\wedge"),
    ('∨', "\\vee"),
    ('⊕', "\\oplus"),
    ('⊗', "\\otimes"),
    ('⊥', "\\perp"),
    ('∥', "\\parallel"),
    ('∣', "\\mid"),
    ('‖', "\\|"),
    ('∠', "\\angle"),
    ('→', "\\rightarrow"),
    ('←', "\\leftarrow"),
    ('↔', "\\leftrightarrow"),
    ('⇒', "\\Rightarrow"),
    ('⇐', "\\Leftarrow"),
    ('⇔', "\\Leftrightarrow"),
    ('↦', "\\mapsto"),
    ('↑', "\\uparrow"),
    ('↓', "\\downarrow"),
    ('⟶', "\\longrightarrow"),
    ('⟵', "\\longleftarrow"),
    ('⟹', "\\Longrightarrow"),
    ('⟺', "\\Longleftrightarrow"),
    ('⇌', "\\rightleftharpoons"),
    ('∴', "\\therefore"),
    ('∵', "\\because"),
    ('…', "\\ldots"),
    ('⋯', "\\cdots"),
    ('⋮', "\\vdots"),
    ('⋱', "\\ddots"),
    ('′', "'"),
    ('″', "''"),
    ('ℏ', "\\hbar"),
    ('ℓ', "\\ell"),
    ('ℜ', "\\Re"),
    ('ℑ', "\\Im"),
    ('ℵ', "\\aleph"),
    ('⟨', "\\langle"),
    ('⟩', "\\rangle"),
    ('⌊', "\\lfloor"),
    ('⌋', "\\rfloor"),
    ('⌈', "\\lceil"),
    ('⌉', "\\rceil"),
    ('⊢', "\\vdash"),
    ('⊨', "\\models"),
    ('\\', "\\backslash"),
    ('^', "\\wedge"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_become_separated_commands() {
        for (text, font, expected) in [
            ("x=1", MathFont::Italic, "x=1"),
            ("αx≤β2", MathFont::Italic, "\\alpha x\\le\\beta2"),
            ("if x", MathFont::Text, "\\text{if x}"),
            ("50%_", MathFont::Text, "\\text{50\\%\\_}"),
            ("dx+2", MathFont::Roman, "\\mathrm{dx}+2"),
            ("𝑥𝐀", MathFont::Italic, "x\\mathbf{A}"),
            ("ℝ", MathFont::Italic, "\\mathbb{R}"),
            ("{a}#$", MathFont::Italic, "\\{a\\}\\#\\$"),
        ] {
            let mut out = String::new();
            push_text(&mut out, text, font);
            assert_eq!(out, expected, "{text}");
        }
    }

    #[test]
    fn formula_of_a_page_fits_on_one_line() {
        for (tex, expected) in [
            ("a\n  + b", "a + b"),
            ("a % note\n+ 5\\% % x", "a + 5\\%"),
            ("\\text{$$}", "\\text{$ $}"),
            ("\\\\% x", "\\\\"),
        ] {
            assert_eq!(normalize(tex), expected);
        }
    }
}
