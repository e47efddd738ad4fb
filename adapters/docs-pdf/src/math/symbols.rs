//! The commands of TeX that stand for something.

/// The character of a command, and whether what is below it stands under it.
pub(super) fn symbol(name: &str) -> Option<(char, bool)> {
    let large = LARGE.iter().find(|(known, _)| *known == name);
    if let Some((_, c)) = large {
        return Some((*c, true));
    }
    SYMBOLS.iter().find(|(known, _)| *known == name).map(|(_, c)| (*c, false))
}

/// Tells for a named function whether what is below it stands under it.
pub(super) fn function(name: &str) -> Option<bool> {
    const UNDER: [&str; 12] =
        ["lim", "limsup", "liminf", "max", "min", "sup", "inf", "det", "gcd", "Pr", "argmax", "argmin"];
    const BESIDE: [&str; 24] = [
        "sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "arcsin", "arccos",
        "arctan", "log", "ln", "lg", "exp", "dim", "ker", "hom", "arg", "deg", "bmod", "mod",
    ];
    if UNDER.contains(&name) { Some(true) } else { BESIDE.contains(&name).then_some(false) }
}

/// A named function as it is written.
pub(super) fn words(name: &str) -> &str {
    match name {
        "limsup" => "lim sup",
        "liminf" => "lim inf",
        "argmax" => "arg max",
        "argmin" => "arg min",
        "bmod" => "mod",
        name => name,
    }
}

/// The width of a space, in em.
pub(super) fn space(name: &str) -> Option<f64> {
    Some(match name {
        "," | "thinspace" => 0.17,
        ":" | ">" | "medspace" => 0.22,
        ";" | "thickspace" => 0.28,
        "!" | "negthinspace" => -0.17,
        " " | "space" | "enspace" => 0.33,
        "quad" => 1.0,
        "qquad" => 2.0,
        _ => return None,
    })
}

/// The accent of a command.
pub(super) fn accent(name: &str) -> Option<&'static str> {
    Some(match name {
        "hat" | "widehat" => "\u{302}",
        "bar" => "\u{304}",
        "vec" | "overrightarrow" => "\u{20d7}",
        "dot" => "\u{307}",
        "ddot" => "\u{308}",
        "tilde" | "widetilde" => "\u{303}",
        "acute" => "\u{301}",
        "grave" => "\u{300}",
        "check" => "\u{30c}",
        "breve" => "\u{306}",
        "mathring" => "\u{30a}",
        _ => return None,
    })
}

/// The alphabet of a command.
pub(super) fn face(name: &str) -> Option<&'static str> {
    Some(match name {
        "mathbb" => "bb",
        "mathcal" => "cal",
        "mathscr" => "scr",
        "mathfrak" => "frak",
        "mathbf" | "boldsymbol" | "bm" | "bold" => "bold",
        "mathrm" | "rm" => "upright",
        "mathsf" => "sans",
        "mathtt" => "mono",
        "mathit" | "mathnormal" => "italic",
        _ => return None,
    })
}

/// What a command draws above or below.
pub(super) fn over(name: &str) -> Option<&'static str> {
    Some(match name {
        "overline" => "overline",
        "underline" => "underline",
        "overbrace" => "overbrace",
        "underbrace" => "underbrace",
        "boxed" | "fbox" => "box",
        "cancel" => "cancel",
        _ => return None,
    })
}

/// The bracket of a command.
pub(super) fn bracket(name: &str) -> Option<char> {
    Some(match name {
        "{" | "lbrace" => '{',
        "}" | "rbrace" => '}',
        "|" | "Vert" | "lVert" | "rVert" => '‖',
        "vert" | "lvert" | "rvert" => '|',
        "langle" => '⟨',
        "rangle" => '⟩',
        "lfloor" => '⌊',
        "rfloor" => '⌋',
        "lceil" => '⌈',
        "rceil" => '⌉',
        "lbrack" => '[',
        "rbrack" => ']',
        "uparrow" => '↑',
        "downarrow" => '↓',
        "backslash" => '\\',
        _ => return None,
    })
}

/// Commands that only say how large something is.
#[rustfmt::skip]
pub(super) const IGNORED: &[&str] = &[
    "displaystyle", "textstyle", "scriptstyle", "scriptscriptstyle", "big", "Big", "bigg", "Bigg", "bigl", "bigr",
    "Bigl", "Bigr", "biggl", "biggr", "bigm", "middle", "mathop", "mathbin", "mathrel", "mathord", "mathopen",
    "mathclose", "mathpunct", "mathinner", "nonumber", "notag", "hline", "allowbreak", "/",
];

/// Symbols with limits.
#[rustfmt::skip]
const LARGE: &[(&str, char)] = &[
    ("sum", '∑'), ("prod", '∏'), ("coprod", '∐'), ("bigcup", '⋃'), ("bigcap", '⋂'), ("bigsqcup", '⨆'),
    ("bigvee", '⋁'), ("bigwedge", '⋀'), ("bigoplus", '⨁'), ("bigotimes", '⨂'), ("bigodot", '⨀'), ("biguplus", '⨄'),
];

#[rustfmt::skip]
const SYMBOLS: &[(&str, char)] = &[
    ("alpha", 'α'), ("beta", 'β'), ("gamma", 'γ'), ("delta", 'δ'), ("epsilon", 'ϵ'), ("varepsilon", 'ε'), ("zeta", 'ζ'),
    ("eta", 'η'), ("theta", 'θ'), ("vartheta", 'ϑ'), ("iota", 'ι'), ("kappa", 'κ'), ("lambda", 'λ'), ("mu", 'μ'),
    ("nu", 'ν'), ("xi", 'ξ'), ("omicron", 'ο'), ("pi", 'π'), ("varpi", 'ϖ'), ("rho", 'ρ'), ("varrho", 'ϱ'),
    ("sigma", 'σ'), ("varsigma", 'ς'), ("tau", 'τ'), ("upsilon", 'υ'), ("phi", 'ϕ'), ("varphi", 'φ'), ("chi", 'χ'),
    ("psi", 'ψ'), ("omega", 'ω'), ("Gamma", 'Γ'), ("Delta", 'Δ'), ("Theta", 'Θ'), ("Lambda", 'Λ'), ("Xi", 'Ξ'),
    ("Pi", 'Π'), ("Sigma", 'Σ'), ("Upsilon", 'Υ'), ("Phi", 'Φ'), ("Psi", 'Ψ'), ("Omega", 'Ω'),
    ("int", '∫'), ("iint", '∬'), ("iiint", '∭'), ("oint", '∮'),
    ("pm", '±'), ("mp", '∓'), ("times", '×'), ("div", '÷'), ("cdot", '⋅'), ("ast", '∗'), ("star", '⋆'), ("circ", '∘'),
    ("bullet", '∙'), ("oplus", '⊕'), ("ominus", '⊖'), ("otimes", '⊗'), ("oslash", '⊘'), ("odot", '⊙'), ("cup", '∪'),
    ("cap", '∩'), ("sqcup", '⊔'), ("sqcap", '⊓'), ("uplus", '⊎'), ("vee", '∨'), ("lor", '∨'), ("wedge", '∧'),
    ("land", '∧'), ("setminus", '∖'), ("wr", '≀'), ("dagger", '†'), ("ddagger", '‡'), ("amalg", '⨿'),
    ("leq", '≤'), ("le", '≤'), ("geq", '≥'), ("ge", '≥'), ("leqslant", '⩽'), ("geqslant", '⩾'), ("neq", '≠'), ("ne", '≠'),
    ("equiv", '≡'), ("approx", '≈'), ("sim", '∼'), ("simeq", '≃'), ("cong", '≅'), ("propto", '∝'), ("ll", '≪'),
    ("gg", '≫'), ("prec", '≺'), ("succ", '≻'), ("preceq", '⪯'), ("succeq", '⪰'), ("asymp", '≍'), ("doteq", '≐'),
    ("coloneqq", '≔'), ("models", '⊨'), ("vdash", '⊢'), ("dashv", '⊣'), ("perp", '⟂'), ("parallel", '∥'), ("mid", '∣'),
    ("nmid", '∤'), ("in", '∈'), ("notin", '∉'), ("ni", '∋'), ("subset", '⊂'), ("supset", '⊃'), ("subseteq", '⊆'),
    ("supseteq", '⊇'), ("subsetneq", '⊊'), ("supsetneq", '⊋'), ("sqsubseteq", '⊑'), ("sqsupseteq", '⊒'),
    ("lt", '<'), ("gt", '>'), ("bowtie", '⋈'), ("smile", '⌣'), ("frown", '⌢'),
    ("to", '→'), ("rightarrow", '→'), ("leftarrow", '←'), ("gets", '←'), ("leftrightarrow", '↔'), ("Rightarrow", '⇒'),
    ("Leftarrow", '⇐'), ("Leftrightarrow", '⇔'), ("implies", '⟹'), ("impliedby", '⟸'), ("iff", '⟺'), ("mapsto", '↦'),
    ("longmapsto", '⟼'), ("longrightarrow", '⟶'), ("longleftarrow", '⟵'), ("longleftrightarrow", '⟷'),
    ("Longrightarrow", '⟹'), ("Longleftarrow", '⟸'), ("hookrightarrow", '↪'), ("hookleftarrow", '↩'), ("uparrow", '↑'),
    ("downarrow", '↓'), ("updownarrow", '↕'), ("Uparrow", '⇑'), ("Downarrow", '⇓'), ("nearrow", '↗'), ("searrow", '↘'),
    ("swarrow", '↙'), ("nwarrow", '↖'), ("rightharpoonup", '⇀'), ("leftharpoonup", '↼'), ("rightleftharpoons", '⇌'),
    ("leadsto", '⇝'), ("rightsquigarrow", '⇝'),
    ("forall", '∀'), ("exists", '∃'), ("nexists", '∄'), ("neg", '¬'), ("lnot", '¬'), ("top", '⊤'), ("bot", '⊥'),
    ("emptyset", '∅'), ("varnothing", '∅'), ("infty", '∞'), ("partial", '∂'), ("nabla", '∇'), ("triangle", '△'),
    ("square", '□'), ("Box", '□'), ("blacksquare", '■'), ("diamond", '⋄'), ("Diamond", '◇'), ("lozenge", '◊'),
    ("angle", '∠'), ("measuredangle", '∡'), ("therefore", '∴'), ("because", '∵'), ("aleph", 'ℵ'), ("beth", 'ℶ'),
    ("hbar", 'ℏ'), ("ell", 'ℓ'), ("wp", '℘'), ("Re", 'ℜ'), ("Im", 'ℑ'), ("imath", 'ı'), ("jmath", 'ȷ'), ("prime", '′'),
    ("degree", '°'), ("dots", '…'), ("ldots", '…'), ("cdots", '⋯'), ("vdots", '⋮'), ("ddots", '⋱'), ("dotsc", '…'),
    ("dotsb", '⋯'), ("colon", ':'), ("checkmark", '✓'), ("surd", '√'), ("S", '§'), ("P", '¶'), ("copyright", '©'),
    ("pounds", '£'), ("%", '%'), ("#", '#'), ("$", '$'), ("&", '&'), ("_", '_'), ("{", '{'), ("}", '}'), ("|", '‖'),
    ("lbrace", '{'), ("rbrace", '}'), ("langle", '⟨'), ("rangle", '⟩'), ("lfloor", '⌊'), ("rfloor", '⌋'), ("lceil", '⌈'),
    ("rceil", '⌉'), ("vert", '|'), ("Vert", '‖'), ("lvert", '|'), ("rvert", '|'), ("lVert", '‖'), ("rVert", '‖'),
    ("lbrack", '['), ("rbrack", ']'), ("backslash", '\\'), ("complement", '∁'), ("ltimes", '⋉'), ("rtimes", '⋊'),
    ("trianglelefteq", '⊴'), ("triangleleft", '◁'), ("triangleright", '▷'), ("flat", '♭'), ("sharp", '♯'), ("natural", '♮'),
    ("clubsuit", '♣'), ("diamondsuit", '♢'), ("heartsuit", '♡'), ("spadesuit", '♠'), ("R", 'ℝ'), ("N", 'ℕ'), ("Z", 'ℤ'),
    ("Q", 'ℚ'), ("C", 'ℂ'),
];
