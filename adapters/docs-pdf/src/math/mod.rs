//! Formulas: the mathematics of TeX as a tree.
//!
//! What is read is what pages use: letters and symbols, scripts, fractions, roots, brackets, matrices, accents and
//! alphabets. A formula with anything else is none, and is shown as its source.

mod parse;
mod symbols;

use crate::shown::Parts;

/// Longest formula that is read.
const LENGTH: usize = 4_000;

/// The parts of a formula; `None` when it is not understood.
pub(crate) fn formula(tex: &str) -> Option<Parts> {
    if tex.len() > LENGTH {
        return None;
    }
    let parts = parse::Parser::new(tex).all()?;
    (!parts.is_empty()).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(tex: &str) -> String {
        serde_json::to_string(&formula(tex)).expect("JSON")
    }

    #[test]
    fn formulas_of_pages_are_understood() {
        for tex in [
            r"E = mc^2",
            r"\frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
            r"\sum_{i=0}^{n} x_i' + \int_0^\infty e^{-x}\,dx",
            r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
            r"f(x) = \begin{cases} 1 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
            r"\left( \frac{1}{2} \right]^{\mathbb{R}} \cdot \vec{v} \ne \hat y",
            r"a &= b \\ c &= d",
            r"\lim_{x \to 0} \operatorname{sinc} x = 1 \quad \forall x \in \mathcal{X}",
            r"\sqrt[3]{x} \le \overline{AB} + \underbrace{a+b}_{2}",
            r"50\% \{a\} \alpha\beta\Gamma",
        ] {
            assert!(formula(tex).is_some(), "{tex}");
        }
    }

    #[test]
    fn scripts_belong_to_what_stands_before_them() {
        assert_eq!(
            json("x_1^2"),
            r#"[{"t":"attach","c":[{"t":"sym","v":"x"}],"up":[{"t":"upright","v":"2"}],"down":[{"t":"upright","v":"1"}],"lim":false}]"#
        );
        assert_eq!(json("x_1^2"), json("{x}^{2}_{1}"));
    }

    #[test]
    fn what_is_no_formula_is_none() {
        for tex in [
            "",
            "   ",
            r"\nosuchcommand",
            r"\frac{1}",
            "{",
            "}",
            "x^",
            "x^1^2",
            r"\left(",
            r"\begin{pmatrix} a",
            r"\begin{table} a \end{table}",
            r"\input{/etc/passwd}",
            "#eval(1)\0",
            "日本",
            "ab🚀",
        ] {
            assert_eq!(json(tex), "null", "{tex}");
        }
        assert!(formula(&"{".repeat(3_999)).is_none());
        assert!(formula(&"x".repeat(4_001)).is_none());
        assert!(formula(&r"\frac".repeat(700)).is_none());
        assert!(formula(&format!("{}x{}", "{".repeat(1_900), "}".repeat(1_900))).is_none());
    }
}
