//! Generators for values by kind: literals, context values and method calls.

use super::{
    generate::{ARITHMETIC, Binds, Both, COMPARISONS, Generator, LOGICAL, Made},
    pools,
};

/// The intended kind of an expression. It is not enforced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Any,
    Text,
    Number,
    Boolean,
    Array,
    Object,
    Pattern,
    Function,
}

const KINDS: [Kind; 7] =
    [Kind::Text, Kind::Number, Kind::Boolean, Kind::Array, Kind::Object, Kind::Pattern, Kind::Function];

/// A method: the kind of its receiver, its name, its arguments and the kind of its result.
///
/// Argument codes: `t` string, `n` number, `s` small number, `a` array, `x` any value, `p` pattern, `m` pattern or
/// string, `r` replacement, `1` function of an item, `2` function of an accumulator and an item.
struct Method(Kind, &'static str, &'static str, Kind);

const METHODS: [Method; 74] = [
    Method(Kind::Text, "at", "s", Kind::Text),
    Method(Kind::Text, "charAt", "s", Kind::Text),
    Method(Kind::Text, "charCodeAt", "s", Kind::Number),
    Method(Kind::Text, "codePointAt", "s", Kind::Number),
    Method(Kind::Text, "concat", "tx", Kind::Text),
    Method(Kind::Text, "endsWith", "ts", Kind::Boolean),
    Method(Kind::Text, "includes", "ts", Kind::Boolean),
    Method(Kind::Text, "indexOf", "ts", Kind::Number),
    Method(Kind::Text, "lastIndexOf", "ts", Kind::Number),
    Method(Kind::Text, "match", "m", Kind::Array),
    Method(Kind::Text, "padEnd", "st", Kind::Text),
    Method(Kind::Text, "padStart", "st", Kind::Text),
    Method(Kind::Text, "repeat", "s", Kind::Text),
    Method(Kind::Text, "replace", "mr", Kind::Text),
    Method(Kind::Text, "replace", "mr", Kind::Text),
    Method(Kind::Text, "replaceAll", "mr", Kind::Text),
    Method(Kind::Text, "search", "m", Kind::Number),
    Method(Kind::Text, "slice", "ss", Kind::Text),
    Method(Kind::Text, "split", "ms", Kind::Array),
    Method(Kind::Text, "split", "t", Kind::Array),
    Method(Kind::Text, "startsWith", "ts", Kind::Boolean),
    Method(Kind::Text, "substr", "ss", Kind::Text),
    Method(Kind::Text, "substring", "ss", Kind::Text),
    Method(Kind::Text, "toLocaleLowerCase", "", Kind::Text),
    Method(Kind::Text, "toLocaleUpperCase", "", Kind::Text),
    Method(Kind::Text, "toLowerCase", "", Kind::Text),
    Method(Kind::Text, "toString", "", Kind::Text),
    Method(Kind::Text, "toUpperCase", "", Kind::Text),
    Method(Kind::Text, "trim", "", Kind::Text),
    Method(Kind::Text, "trimEnd", "", Kind::Text),
    Method(Kind::Text, "trimLeft", "", Kind::Text),
    Method(Kind::Text, "trimRight", "", Kind::Text),
    Method(Kind::Text, "trimStart", "", Kind::Text),
    Method(Kind::Text, "valueOf", "", Kind::Text),
    Method(Kind::Array, "at", "s", Kind::Any),
    Method(Kind::Array, "concat", "ax", Kind::Array),
    Method(Kind::Array, "every", "1", Kind::Boolean),
    Method(Kind::Array, "filter", "1", Kind::Array),
    Method(Kind::Array, "find", "1", Kind::Any),
    Method(Kind::Array, "findIndex", "1", Kind::Number),
    Method(Kind::Array, "findLast", "1", Kind::Any),
    Method(Kind::Array, "findLastIndex", "1", Kind::Number),
    Method(Kind::Array, "flat", "s", Kind::Array),
    Method(Kind::Array, "flatMap", "1", Kind::Array),
    Method(Kind::Array, "forEach", "1", Kind::Any),
    Method(Kind::Array, "includes", "xs", Kind::Boolean),
    Method(Kind::Array, "indexOf", "xs", Kind::Number),
    Method(Kind::Array, "join", "t", Kind::Text),
    Method(Kind::Array, "lastIndexOf", "xs", Kind::Number),
    Method(Kind::Array, "map", "1", Kind::Array),
    Method(Kind::Array, "map", "1", Kind::Array),
    Method(Kind::Array, "reduce", "2x", Kind::Any),
    Method(Kind::Array, "reduceRight", "2x", Kind::Any),
    Method(Kind::Array, "reverse", "", Kind::Array),
    Method(Kind::Array, "slice", "ss", Kind::Array),
    Method(Kind::Array, "some", "1", Kind::Boolean),
    Method(Kind::Array, "sort", "", Kind::Array),
    Method(Kind::Array, "toReversed", "", Kind::Array),
    Method(Kind::Array, "toSorted", "", Kind::Array),
    Method(Kind::Array, "toString", "", Kind::Text),
    Method(Kind::Array, "valueOf", "", Kind::Array),
    Method(Kind::Array, "with", "sx", Kind::Array),
    Method(Kind::Number, "toFixed", "s", Kind::Text),
    Method(Kind::Number, "toString", "s", Kind::Text),
    Method(Kind::Number, "toString", "", Kind::Text),
    Method(Kind::Number, "valueOf", "", Kind::Number),
    Method(Kind::Boolean, "toString", "", Kind::Text),
    Method(Kind::Boolean, "valueOf", "", Kind::Boolean),
    Method(Kind::Object, "hasOwnProperty", "t", Kind::Boolean),
    Method(Kind::Object, "toString", "", Kind::Text),
    Method(Kind::Object, "valueOf", "", Kind::Object),
    Method(Kind::Pattern, "test", "t", Kind::Boolean),
    Method(Kind::Pattern, "exec", "t", Kind::Array),
    Method(Kind::Function, "toString", "", Kind::Text),
];

impl Generator<'_> {
    /// Generates a value that is usually of the given kind.
    pub(super) fn value(&mut self, kind: Kind) -> Made {
        let kind = if kind == Kind::Any || self.random.one_in(10) { self.random.pick(&KINDS) } else { kind };
        if self.fuel == 0 {
            return self.leaf(kind);
        }
        self.fuel -= 1;
        match self.random.below(30) {
            0 => self.conditional(kind),
            1 | 2 => {
                let operator = self.random.pick(&LOGICAL);
                self.infix(operator, (kind, kind))
            }
            3 => self.sequence(kind),
            4 => self.called(kind),
            5 | 6 => self.member(),
            7 => self.update(),
            8 => self.unary(kind),
            9..13 => self.leaf(kind),
            13..22 => self.method(kind),
            _ => self.combined(kind),
        }
    }

    /// Generates a value without nested values.
    fn leaf(&mut self, kind: Kind) -> Made {
        let operand = |text: &str| Made(Both::same(text), Binds::Operand);
        let link = |text: &str| Made(Both::same(text), Binds::Link);
        if !self.names.is_empty() && self.random.one_in(2) {
            let at = self.random.below(self.names.len());
            return operand(&self.names[at]);
        }
        if self.random.one_in(25) {
            return self.nothing();
        }
        let place = |names: &[&'static str], random: &mut super::Random| link(random.pick(names));
        match kind {
            Kind::Text if self.random.one_in(3) => place(
                &[
                    "visitor.claims.plan",
                    "visitor.claims.unsigned.text",
                    "space.vars.version",
                    "page.vars.title",
                ],
                self.random,
            ),
            Kind::Text => self.text(),
            Kind::Number if self.random.one_in(4) => place(
                &[
                    "visitor.claims.seats",
                    "visitor.claims.unsigned.count",
                    "space.vars.limit",
                    "page.vars.level",
                ],
                self.random,
            ),
            Kind::Number if self.random.one_in(12) => operand(self.random.pick(&pools::BIG)),
            Kind::Number if self.random.one_in(10) => {
                Made(Both::same(self.random.pick(&["0 / 0", "1 / 0", "-1 / 0", "0 / -1"])), Binds::Product)
            }
            Kind::Number if self.random.one_in(6) => operand(&pools::double(self.random)),
            Kind::Number => operand(self.random.pick(&pools::NUMBERS)),
            Kind::Boolean if self.random.one_in(2) => place(
                &["visitor.claims.beta", "visitor.claims.unsigned.flag", "space.vars.on", "page.vars.on"],
                self.random,
            ),
            Kind::Boolean => operand(self.random.pick(&["true", "false"])),
            Kind::Array if self.random.one_in(2) => {
                place(&["visitor.claims.tags", "visitor.claims['unsigned'].list"], self.random)
            }
            Kind::Array => operand(self.random.pick(&[
                "[]",
                "[1,2,3]",
                "['a','b','ab']",
                "[3,1,null,2]",
                "[null,[1,[2]]]",
            ])),
            Kind::Object if self.random.one_in(2) => place(
                &["visitor.claims.team", "visitor.claims.unsigned", "space.vars", "visitor.claims"],
                self.random,
            ),
            Kind::Object => operand(self.random.pick(&["{}", "{plan:1}", "{'b c':[1],0:'a'}"])),
            Kind::Pattern => self.pattern(),
            Kind::Function | Kind::Any => operand(self.random.pick(&["unknown", "undefined", "null"])),
        }
    }

    /// Generates `undefined` or `null`: unknown names, and names of JavaScript globals.
    fn nothing(&mut self) -> Made {
        let (ours, theirs) = self.random.pick(&[
            ("undefined", "undefined"),
            ("null", "null"),
            ("unknown", "unknown"),
            ("NaN", "NaN"),
            ("Math", "Math"),
            ("Math.max(1, 2)", "Math?.max(1, 2)"),
            ("parseInt('1')", "parseInt?.('1')"),
            ("this", "(void 0)"),
            ("new Date(1)", "(void 0)"),
            ("(new a.b.C)", "(void 0)"),
        ]);
        Made(Both { ours: ours.to_owned(), theirs: theirs.to_owned() }, Binds::Link)
    }

    /// Generates a value composed of other values without a method call.
    fn combined(&mut self, kind: Kind) -> Made {
        match kind {
            Kind::Text if self.random.one_in(2) => self.template(),
            Kind::Text => self.infix(ARITHMETIC[0], (Kind::Text, Kind::Any)),
            Kind::Number if self.random.one_in(8) => self.power(),
            Kind::Number => {
                let operator = self.random.pick(&ARITHMETIC);
                let second = if self.random.one_in(4) { Kind::Any } else { Kind::Number };
                self.infix(operator, (Kind::Number, second))
            }
            Kind::Boolean if self.random.one_in(4) => self.extension(),
            Kind::Boolean if self.random.one_in(20) => self.methods(),
            Kind::Boolean => {
                let operator = self.random.pick(&COMPARISONS);
                let first = self.random.pick(&[Kind::Text, Kind::Number, Kind::Any]);
                let second = if self.random.one_in(3) { Kind::Any } else { first };
                self.infix(operator, (first, second))
            }
            Kind::Array => self.array(),
            Kind::Object => self.object(),
            Kind::Function => {
                let parameters = self.random.below(4);
                self.function(parameters, Kind::Any)
            }
            Kind::Pattern => self.pattern(),
            Kind::Any => self.member(),
        }
    }

    /// Generates method references without a call.
    fn methods(&mut self) -> Made {
        let all = [
            "'a'.slice",
            "'b'.slice",
            "[].slice",
            "[].map",
            "(1).toString",
            "1n.toString",
            "1n.toFixed",
            "true.valueOf",
        ];
        let sign = self.random.pick(&["===", "==", "!=="]);
        let text = format!("{} {sign} {}", self.random.pick(&all), self.random.pick(&all));
        Made(Both::same(text), Binds::Equality)
    }

    fn array(&mut self) -> Made {
        let mut parts = Vec::new();
        let mut marks = Vec::new();
        for _ in 0..self.random.below(5) {
            let (mark, kind) = match self.random.below(6) {
                0 => ("...§", self.random.pick(&[Kind::Array, Kind::Text])),
                _ => ("§", Kind::Any),
            };
            marks.push(mark);
            parts.push(self.operand(kind, Binds::Assignment));
        }
        let end = if !marks.is_empty() && self.random.one_in(6) { "," } else { "" };
        let text = format!("[{}{end}]", marks.join(", "));
        Made(Both::of(&text, &text, &parts.iter().collect::<Vec<_>>()), Binds::Operand)
    }

    fn object(&mut self) -> Made {
        let mut parts = Vec::new();
        let mut marks = Vec::new();
        for _ in 0..self.random.below(4) {
            marks.push(match self.random.below(6) {
                0 => "...§".to_owned(),
                1 => {
                    parts.push(self.operand(Kind::Text, Binds::Assignment));
                    "[§]: §".to_owned()
                }
                2 if !self.names.is_empty() => {
                    let at = self.random.below(self.names.len());
                    marks.push(self.names[at].clone());
                    continue;
                }
                3 => format!("{:?}: §", self.random.pick(&pools::NAMES)),
                _ => format!(
                    "{}: §",
                    self.random.pick(&["plan", "beta", "if", "1", "0x10", "1.50", "2n", "seats"])
                ),
            });
            let kind = if marks.last().is_some_and(|mark| mark == "...§") {
                self.random.pick(&[Kind::Object, Kind::Array, Kind::Text, Kind::Any])
            } else {
                Kind::Any
            };
            parts.push(self.operand(kind, Binds::Assignment));
        }
        let text = format!("{{{}}}", marks.join(", "));
        Made(Both::of(&text, &text, &parts.iter().collect::<Vec<_>>()), Binds::Operand)
    }

    /// Generates a call of a method that returns a value of the given kind.
    fn method(&mut self, kind: Kind) -> Made {
        let fits = |method: &&Method| method.3 == kind || method.3 == Kind::Any;
        let all: Vec<&Method> = METHODS.iter().filter(fits).collect();
        if self.random.one_in(12) {
            return self.sorted();
        }
        let Method(of, name, arguments, _) = all[self.random.below(all.len())];
        let (of, mut name, mut arguments) = (*of, *name, (*arguments).to_owned());
        // Sometimes pass too few or too many arguments.
        if self.random.one_in(8) {
            arguments.pop();
        } else if self.random.one_in(20) && !["sort", "toSorted"].contains(&name) {
            arguments.push('x');
        }
        let receiver = self.receiver(of);
        // A receiver of another kind can have the method too, so mutating methods are replaced in JavaScript.
        let theirs = match name {
            "sort" | "toSorted" => "toSorted",
            "reverse" | "toReversed" => "toReversed",
            "test" => "$test",
            "exec" => "$exec",
            // In JavaScript these would accept a locale.
            "toLocaleLowerCase" => "toLowerCase",
            "toLocaleUpperCase" => "toUpperCase",
            name => name,
        };
        // In our language, only objects have this method.
        if name == "hasOwnProperty" && !receiver.ours.starts_with('{') {
            name = "toString";
        }
        let theirs = if name == "toString" { "toString" } else { theirs };
        let given: Vec<Both> = arguments.chars().map(|argument| self.argument(argument)).collect();
        let marks = vec!["§"; given.len()].join(", ");
        let parts: Vec<&Both> = std::iter::once(&receiver).chain(&given).collect();
        let link = match self.random.below(8) {
            0 => format!("§?.{name}"),
            1 => format!("§[\"{name}\"]"),
            2 => format!("§.{name}?."),
            _ => format!("§.{name}"),
        };
        Made(Both::of(&format!("{link}({marks})"), &format!("§?.{theirs}?.({marks})"), &parts), Binds::Link)
    }

    /// Generates numbers sorted by a consistent comparison function.
    fn sorted(&mut self) -> Made {
        let (name, order) = (
            self.random.pick(&["sort", "toSorted"]),
            self.random.pick(&["a - b", "b - a", "0", "a % 3 - b % 3"]),
        );
        let items: Vec<&str> =
            (0..self.random.below(9)).map(|_| self.random.pick(&["3", "1", "20", "0.5", "7", "4"])).collect();
        let items = items.join(",");
        let text = |name| format!("[{items}].{name}((a, b) => {order})");
        Made(Both { ours: text(name), theirs: text("toSorted") }, Binds::Link)
    }

    fn argument(&mut self, argument: char) -> Both {
        if self.random.one_in(12) {
            return self.operand(Kind::Any, Binds::Assignment);
        }
        let kind = match argument {
            's' if !self.random.one_in(4) => {
                let text = self.random.pick(&[
                    "0",
                    "1",
                    "2",
                    "3",
                    "4",
                    "-1",
                    "-2",
                    "-3",
                    "10",
                    "16",
                    "36",
                    "1.7",
                    "-0.5",
                    "undefined",
                    "null",
                    "'1'",
                ]);
                return Both::same(text);
            }
            't' => Kind::Text,
            'n' | 's' => Kind::Number,
            'a' => Kind::Array,
            'p' => Kind::Pattern,
            'm' => self.random.pick(&[Kind::Text, Kind::Pattern]),
            'r' if self.random.one_in(2) => {
                return Both::same(format!(
                    "'{}'",
                    self.random.pick(&pools::REPLACEMENTS).replace('\'', "\\'")
                ));
            }
            'r' => {
                let parameters = self.random.below(6);
                let Made(function, _) = self.function(parameters, Kind::Any);
                return function;
            }
            '1' => {
                let parameters = 1 + self.random.below(3);
                let Made(function, _) = self.function(parameters, Kind::Any);
                return function;
            }
            '2' => {
                let Made(function, _) = self.function(2, Kind::Any);
                return function;
            }
            _ => Kind::Any,
        };
        self.operand(kind, Binds::Assignment)
    }
}
