//! Claims in the query of a request, in Rison: a form of JSON with few characters that URLs have to encode.

use docs_core::model::MAX_CLAIM_LEVELS;
use serde_json::{Map, Number, Value};

/// Maximum number of levels: the object, the levels of its claims, and a value at the lowest one.
const LEVELS: usize = MAX_CLAIM_LEVELS + 2;
/// Characters that end a bare word.
const SPECIAL: &str = " '!:(),*@$";

/// Parses an object in Rison, like `(plan:pro,beta:!t,teams:!(a,b),name:'Ada L.')`, or in JSON.
pub(crate) fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    let wrong = || "must be an object in Rison, like (plan:pro,beta:!t)".to_owned();
    let value = match text.starts_with('{') {
        true => serde_json::from_str(text).ok(),
        false => {
            let mut parser = Parser { rest: text };
            parser.value(LEVELS).filter(|_| parser.rest.is_empty())
        }
    };
    match value {
        Some(Value::Object(object)) => Ok(object),
        _ => Err(wrong()),
    }
}

struct Parser<'t> {
    rest: &'t str,
}

impl<'t> Parser<'t> {
    /// Removes a character from the beginning, if it is there.
    fn take(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(wanted)?;
        Some(())
    }

    fn value(&mut self, levels: usize) -> Option<Value> {
        let levels = levels.checked_sub(1)?;
        match self.rest.chars().next()? {
            '(' => self.object(levels),
            '\'' => self.quoted().map(Value::String),
            '!' => {
                self.take('!')?;
                let kind = self.rest.chars().next()?;
                self.take(kind)?;
                match kind {
                    't' => Some(Value::Bool(true)),
                    'f' => Some(Value::Bool(false)),
                    'n' => Some(Value::Null),
                    '(' => self.items(levels),
                    _ => None,
                }
            }
            first if first == '-' || first.is_ascii_digit() => {
                self.word()?.parse::<Number>().ok().map(Value::Number)
            }
            _ => self.word().map(|word| Value::String(word.to_owned())),
        }
    }

    fn object(&mut self, levels: usize) -> Option<Value> {
        self.take('(')?;
        let mut object = Map::new();
        while self.take(')').is_none() {
            if !object.is_empty() {
                self.take(',')?;
            }
            let name = match self.rest.starts_with('\'') {
                true => self.quoted()?,
                false => self.word()?.to_owned(),
            };
            self.take(':')?;
            let value = self.value(levels)?;
            if object.insert(name, value).is_some() {
                return None;
            }
        }
        Some(Value::Object(object))
    }

    /// Parses the items of an array, after its opening parenthesis.
    fn items(&mut self, levels: usize) -> Option<Value> {
        let mut items = Vec::new();
        while self.take(')').is_none() {
            if !items.is_empty() {
                self.take(',')?;
            }
            items.push(self.value(levels)?);
        }
        Some(Value::Array(items))
    }

    fn quoted(&mut self) -> Option<String> {
        self.take('\'')?;
        let mut text = String::new();
        loop {
            let end = self.rest.find(['\'', '!'])?;
            text.push_str(self.rest.get(..end)?);
            let is_end = self.rest.get(end..)?.starts_with('\'');
            self.rest = self.rest.get(end + 1..)?;
            if is_end {
                return Some(text);
            }
            let escaped = self.rest.chars().next().filter(|c| matches!(c, '\'' | '!'))?;
            self.take(escaped)?;
            text.push(escaped);
        }
    }

    fn word(&mut self) -> Option<&'t str> {
        let end = self.rest.find(|c| SPECIAL.contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!word.is_empty()).then_some(word)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn rison_and_json_objects_are_parsed() {
        let claims = "(beta:!t,half:-1.5e3,n:!n,name:'Ada !'L!! (x)',no:!f,none:(),place:(eu:1),plan:pro,teams:!(a,'b c'))";
        let expected = json!({
            "beta": true, "half": -1500.0, "n": null, "name": "Ada 'L! (x)", "no": false, "none": {},
            "place": { "eu": 1 }, "plan": "pro", "teams": ["a", "b c"],
        });
        assert_eq!(parse_object(claims).map(Value::Object), Ok(expected.clone()));
        assert_eq!(parse_object(&expected.to_string()).map(Value::Object), Ok(expected));
        assert_eq!(parse_object("('a b':Über)").map(Value::Object), Ok(json!({ "a b": "Über" })));
    }

    #[test]
    fn malformed_rison_is_rejected() {
        let deep = format!("{}1{}", "(a:".repeat(LEVELS), ")".repeat(LEVELS));
        for text in [
            "",
            "plan",
            "!t",
            "!(a)",
            "(a)",
            "(a:)",
            "(a:1",
            "(a:1,)",
            "(,a:1)",
            "(a:1 )",
            "(a:1)x",
            "(a:!x)",
            "(a:1x)",
            "(a:'b)",
            "(a:'!b')",
            "(a:1,a:2)",
            "{\"a\":1",
            "[1]",
            &deep,
        ] {
            assert!(parse_object(text).is_err(), "{text}");
        }
    }
}
