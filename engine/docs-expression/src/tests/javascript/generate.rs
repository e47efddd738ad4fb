//! A generator of random expressions in two forms: in our language and in equivalent JavaScript. The forms differ as
//! follows:
//!
//! * members and calls of `undefined` are `undefined`: JavaScript always uses `?.`, while ours may use `.`;
//! * nothing is modified: `x++` is applied to context values, which are frozen in JavaScript; `delete` only returns a
//!   value; methods that sort or reverse are those that return a new array;
//! * `in`, `=~` and `instanceof` are functions in the engine's script, and `new` and `this` are `undefined`;
//! * strings are Unicode: unpaired surrogates are U+FFFD, and patterns have the flag `u`;
//! * the source of functions and patterns is that in our language.
//!
//! The generator does not produce members that exist only in JavaScript (`name`, `index`, `call`), objects with their
//! own conversions (`valueOf`), parameters that are modified or read before they are set, array holes, inconsistent
//! comparison functions, unpaired surrogates in literals, `\B` (which the engine finds within pairs), locale-dependent
//! results, and powers for which math libraries disagree.

use super::{Random, kinds::Kind, pools};

/// An expression in our language and in JavaScript.
#[derive(Clone, Debug)]
pub(super) struct Both {
    pub(super) ours: String,
    pub(super) theirs: String,
}

impl Both {
    pub(super) fn same(text: impl Into<String>) -> Self {
        let ours = text.into();
        Self { theirs: ours.clone(), ours }
    }

    /// Replaces each `§` in both strings by the next part.
    pub(super) fn of(ours: &str, theirs: &str, parts: &[&Self]) -> Self {
        let fill = |pattern: &str, part: fn(&Self) -> &str| {
            let mut parts = parts.iter();
            let pieces = pattern.split('§').map(str::to_owned);
            pieces
                .reduce(|all, piece| all + parts.next().map_or("", |it| part(it)) + &piece)
                .unwrap_or_default()
        };
        Self { ours: fill(ours, |it| &it.ours), theirs: fill(theirs, |it| &it.theirs) }
    }
}

/// The binding power of the outermost operator.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Binds {
    Sequence,
    Assignment,
    Nullish,
    Or,
    And,
    BitOr,
    BitXor,
    BitAnd,
    Equality,
    Relation,
    Shift,
    Sum,
    Product,
    Power,
    Unary,
    Postfix,
    Link,
    Operand,
}

/// An expression and its binding power.
#[derive(Clone, Debug)]
pub(super) struct Made(pub(super) Both, pub(super) Binds);

/// A binary operator: its sign, its binding power, and those required of its operands.
type Infix = (&'static str, Binds, Binds, Binds);

pub(super) const COMPARISONS: [Infix; 8] = [
    ("==", Binds::Equality, Binds::Equality, Binds::Relation),
    ("!=", Binds::Equality, Binds::Equality, Binds::Relation),
    ("===", Binds::Equality, Binds::Equality, Binds::Relation),
    ("!==", Binds::Equality, Binds::Equality, Binds::Relation),
    ("<", Binds::Relation, Binds::Relation, Binds::Shift),
    ("<=", Binds::Relation, Binds::Relation, Binds::Shift),
    (">", Binds::Relation, Binds::Relation, Binds::Shift),
    (">=", Binds::Relation, Binds::Relation, Binds::Shift),
];

pub(super) const ARITHMETIC: [Infix; 11] = [
    ("+", Binds::Sum, Binds::Sum, Binds::Product),
    ("-", Binds::Sum, Binds::Sum, Binds::Product),
    ("*", Binds::Product, Binds::Product, Binds::Power),
    ("/", Binds::Product, Binds::Product, Binds::Power),
    ("%", Binds::Product, Binds::Product, Binds::Power),
    ("<<", Binds::Shift, Binds::Shift, Binds::Sum),
    (">>", Binds::Shift, Binds::Shift, Binds::Sum),
    (">>>", Binds::Shift, Binds::Shift, Binds::Sum),
    ("&", Binds::BitAnd, Binds::BitAnd, Binds::Equality),
    ("|", Binds::BitOr, Binds::BitOr, Binds::BitXor),
    ("^", Binds::BitXor, Binds::BitXor, Binds::BitAnd),
];

pub(super) const LOGICAL: [Infix; 3] = [
    ("&&", Binds::And, Binds::And, Binds::BitOr),
    ("||", Binds::Or, Binds::Or, Binds::And),
    ("??", Binds::Nullish, Binds::BitOr, Binds::BitOr),
];

/// The generator of an expression.
pub(super) struct Generator<'r> {
    pub(super) random: &'r mut Random,
    /// The remaining number of nodes to generate.
    pub(super) fuel: usize,
    /// Parameters in scope.
    pub(super) names: Vec<String>,
    /// The number of parameters that have been named so far.
    named: usize,
}

impl<'r> Generator<'r> {
    pub(super) fn expression(random: &'r mut Random) -> Both {
        let most = random.pick(&[6, 12, 16, 16, 16, 40]);
        let fuel = 1 + random.below(most);
        let mut generator = Self { random, fuel, names: Vec::new(), named: 0 };
        let made = generator.value(Kind::Any);
        let mut both = generator.within(made, Binds::Sequence);
        if both.ours.starts_with(['{']) || both.ours.starts_with("function") {
            both = Both::of("(§)", "(§)", &[&both]);
        }
        let (before, after) = (generator.blank(), generator.random.pick(&["", "", "", "", ";", " ; // end"]));
        both.ours = format!("{before}{}{after}", both.ours);
        both
    }

    /// Adds parentheses if the expression binds less tightly than `least`, or at random.
    pub(super) fn within(&mut self, made: Made, least: Binds) -> Both {
        let Made(both, binds) = made;
        if binds < least || self.random.one_in(15) { Both::of("(§)", "(§)", &[&both]) } else { both }
    }

    /// Generates an operand with a binding power of at least `least`.
    pub(super) fn operand(&mut self, kind: Kind, least: Binds) -> Both {
        let made = self.value(kind);
        self.within(made, least)
    }

    /// Generates insignificant characters between two tokens.
    pub(super) fn blank(&mut self) -> &'static str {
        match self.random.below(40) {
            0 => "\n",
            1 => "/* a\nb */",
            2 => " // c\n",
            3 => "\t\u{a0}\u{feff}",
            4..20 => " ",
            _ => "",
        }
    }

    pub(super) fn infix(&mut self, (sign, binds, left, right): Infix, kinds: (Kind, Kind)) -> Made {
        let a = self.operand(kinds.0, left);
        // A chain of `??` needs no parentheses but cannot be mixed with other logical operators.
        let b = self.operand(kinds.1, right);
        // These signs would form other tokens together with adjacent characters.
        let (before, after) = match sign {
            "+" | "-" | "/" | "<" | "<<" => (" ", " "),
            _ => (self.blank(), self.blank()),
        };
        let text = format!("§{before}{sign}{after}§");
        Made(Both::of(&text, &text, &[&a, &b]), binds)
    }

    /// Generates powers whose results are exact or well-defined.
    pub(super) fn power(&mut self) -> Made {
        let base = self
            .random
            .pick(&["0", "1", "2", "3", "10", "0.5", "(-1)", "(-2)", "(0/0)", "(1/0)", "'2'", "null", "2n"]);
        let exponent = self
            .random
            .pick(&["0", "1", "2", "3", "10", "-0", "-1", "(1/0)", "(0/0)", "-(1/0)", "'3'", "[]", "3n"]);
        let chain = self.random.pick(&["", "", "", " ** 1", " ** 2"]);
        let exponent = if chain.is_empty() { exponent } else { "2" };
        Made(Both::same(format!("{base}{}**{}{exponent}{chain}", self.blank(), self.blank())), Binds::Power)
    }

    pub(super) fn unary(&mut self, kind: Kind) -> Made {
        let sign = match kind {
            Kind::Boolean => "!",
            Kind::Text => "typeof ",
            Kind::Number => self.random.pick(&["-", "+", "~"]),
            _ => self.random.pick(&["-", "+", "~", "!", "typeof ", "void ", "delete "]),
        };
        let operand = self.operand(Kind::Any, Binds::Unary);
        let gap = if operand.ours.starts_with(['+', '-']) { " " } else { "" };
        let theirs = if sign == "delete " { "!void " } else { sign };
        Made(Both::of(&format!("{sign}{gap}§"), &format!("{theirs}{gap}§"), &[&operand]), Binds::Unary)
    }

    /// Generates `++` and `--` applied to context values.
    pub(super) fn update(&mut self) -> Made {
        let sign = self.random.pick(&["++", "--"]);
        let place = self.random.pick(&[
            "visitor.claims.seats",
            "visitor.claims.unsigned.count",
            "space.vars.limit",
            "unknown",
            "visitor.claims['plan']",
        ]);
        if self.random.one_in(2) {
            Made(Both::same(format!("{sign}{place}")), Binds::Unary)
        } else {
            Made(Both::same(format!("{place}{sign}")), Binds::Postfix)
        }
    }

    pub(super) fn conditional(&mut self, kind: Kind) -> Made {
        let test = self.operand(Kind::Boolean, Binds::Nullish);
        let yes = self.operand(kind, Binds::Assignment);
        let no = self.operand(kind, Binds::Assignment);
        let text = format!("§{}?{}§{}:{}§", self.blank(), self.blank(), self.blank(), self.blank());
        Made(Both::of(&text, &text, &[&test, &yes, &no]), Binds::Assignment)
    }

    pub(super) fn sequence(&mut self, kind: Kind) -> Made {
        let first = self.operand(Kind::Any, Binds::Assignment);
        let last = self.operand(kind, Binds::Assignment);
        Made(Both::of("§, §", "§, §", &[&first, &last]), Binds::Sequence)
    }

    /// Generates `in`, `=~` and, rarely, `instanceof`.
    pub(super) fn extension(&mut self) -> Made {
        match self.random.below(20) {
            0..10 => {
                let what = self.operand(Kind::Any, Binds::Relation);
                let kind = self.random.pick(&[Kind::Array, Kind::Text, Kind::Object]);
                let of = self.operand(kind, Binds::Shift);
                Made(Both::of("§ in §", "$what(§) in $of(§)", &[&what, &of]), Binds::Relation)
            }
            10..19 => {
                let what = self.operand(Kind::Text, Binds::Equality);
                let pattern = self.operand(Kind::Pattern, Binds::Relation);
                Made(Both::of("§ =~ §", "$matches(§, §)", &[&what, &pattern]), Binds::Equality)
            }
            _ => {
                let what = self.operand(Kind::Any, Binds::Relation);
                Made(Both::of("§ instanceof Date", "$instance(§)", &[&what]), Binds::Relation)
            }
        }
    }

    /// Generates a value with members. A number requires parentheses before the dot.
    pub(super) fn receiver(&mut self, kind: Kind) -> Both {
        let made = self.value(kind);
        let both = self.within(made, Binds::Link);
        let needs = both.ours.starts_with(|c: char| c.is_ascii_digit() || c == '.');
        if needs { Both::of("(§)", "(§)", &[&both]) } else { both }
    }

    /// Generates a member access on any value.
    pub(super) fn member(&mut self) -> Made {
        let kind = self.random.pick(&[Kind::Object, Kind::Object, Kind::Array, Kind::Text, Kind::Any]);
        let of = self.receiver(kind);
        let link = self.random.pick(&[".", "?."]);
        match self.random.below(4) {
            0 => {
                let name = self.random.pick(&["plan", "beta", "seats", "tags", "nope", "if"]);
                Made(Both::of(&format!("§{link}{name}"), &format!("§?.{name}"), &[&of]), Binds::Link)
            }
            // In JavaScript, most functions are methods and therefore have different lengths.
            1 if !matches!(kind, Kind::Any) => {
                Made(Both::of(&format!("§{link}length"), "§?.length", &[&of]), Binds::Link)
            }
            _ => {
                let key = match self.random.below(3) {
                    0 => self.operand(Kind::Number, Binds::Sequence),
                    1 => Both::same(format!("'{}'", self.random.pick(&pools::NAMES))),
                    _ => self.operand(Kind::Text, Binds::Sequence),
                };
                let link = if link == "." { "" } else { "?." };
                Made(Both::of(&format!("§{link}[§]"), "$whole(§?.[§])", &[&of, &key]), Binds::Link)
            }
        }
    }

    /// Generates a function that is usually called with `parameters` arguments.
    pub(super) fn function(&mut self, parameters: usize, body: Kind) -> Made {
        let outer = self.names.len();
        let mut list = Vec::new();
        for at in 0..parameters {
            self.named += 1;
            let name = format!("{}{}", self.random.pick(&["x", "y", "it", "$", "_", "of"]), self.named);
            let parameter = match self.random.below(12) {
                0 if at + 1 == parameters => Both::same(format!("...{name}")),
                1 => {
                    let default = self.operand(Kind::Any, Binds::Assignment);
                    Both::of(&format!("{name} = §"), &format!("{name} = §"), &[&default])
                }
                _ => Both::same(name.clone()),
            };
            self.names.push(name);
            list.push(parameter);
        }
        let is_plain = list.len() == 1 && list[0].ours == self.names[outer];
        let parts: Vec<&Both> = list.iter().collect();
        let marks = vec!["§"; parts.len()].join(", ");
        let list = Both::of(&marks, &marks, &parts);
        let body = self.operand(body, Binds::Assignment);
        self.names.truncate(outer);
        let (text, binds) = self.function_text(is_plain, body.ours.starts_with('{'));
        let made = Both::of(&text, &text, &[&list, &body]);
        let source = serde_json::to_string(&made.ours).unwrap();
        let theirs = format!("$function({}, {source})", made.theirs);
        Made(Both { ours: made.ours, theirs }, binds)
    }

    fn function_text(&mut self, is_plain: bool, is_object: bool) -> (String, Binds) {
        let parameters = if is_plain && !self.random.one_in(4) { "§" } else { "(§)" };
        let arrow = |body: &str| (format!("{parameters} => {body}"), Binds::Assignment);
        match self.random.below(10) {
            0 => arrow("{ return §; }"),
            1 => arrow("{ return (§) }"),
            2 => ("function (§) { return § }".to_owned(), Binds::Operand),
            3 => ("function f(§) { return §; }".to_owned(), Binds::Operand),
            _ if is_object => arrow("(§)"),
            _ => arrow("§"),
        }
    }

    /// Generates an immediately called function.
    pub(super) fn called(&mut self, kind: Kind) -> Made {
        let parameters = self.random.below(4);
        let Made(function, _) = self.function(parameters, kind);
        let mut arguments = Vec::new();
        for _ in 0..self.random.below(parameters + 2) {
            arguments.push(self.operand(Kind::Any, Binds::Assignment));
        }
        let marks = vec!["§"; arguments.len()].join(",");
        let parts: Vec<&Both> = std::iter::once(&function).chain(&arguments).collect();
        Made(Both::of(&format!("(§)({marks})"), &format!("(§)?.({marks})"), &parts), Binds::Link)
    }
}
