//! Function literals: arrow functions, and `function` with a single `return`.

use std::sync::Arc;

use super::{ParseResult, Parser, RESERVED};
use crate::{
    ast::{FunctionNode, Node, NodeId, Parameter},
    token::TokenKind,
};

impl Parser<'_> {
    pub(super) fn at_arrow(&self) -> bool {
        let token = self.token();
        let after = match &token.kind {
            TokenKind::Name(name) if !RESERVED.contains(&&**name) => self.at + 1,
            TokenKind::Sign("(") => token.closes + 1,
            _ => return false,
        };
        self.tokens.get(after).is_some_and(|next| next.kind == TokenKind::Sign("=>") && !next.newline)
    }

    pub(super) fn arrow(&mut self) -> ParseResult<NodeId> {
        let start = self.token().at;
        let parameters = if self.is_at_sign("(") { self.parameters()? } else { vec![self.parameter()?] };
        self.check_names(&parameters)?;
        self.expect("=>")?;
        let body = if self.is_at_sign("{") {
            self.function_body()?
        } else {
            Some(self.with_nesting(Self::assignment)?)
        };
        let span = start..self.tokens[self.at - 1].end;
        Ok(self.push(Node::Function(FunctionNode { name: None, parameters, body, span })))
    }

    pub(super) fn function(&mut self) -> ParseResult<NodeId> {
        let start = self.token().at;
        self.at += 1;
        if self.is_at_sign("*") {
            return Err(self.error("begins a generator, which is not supported"));
        }
        let name = if self.is_at_sign("(") { None } else { Some(self.plain_name()?) };
        let parameters = self.parameters()?;
        // Non-strict functions may have duplicate parameter names. The last one takes precedence.
        if parameters.iter().any(|parameter| parameter.rest || parameter.default.is_some()) {
            self.check_names(&parameters)?;
        }
        let body = self.function_body()?;
        let span = start..self.tokens[self.at - 1].end;
        Ok(self.push(Node::Function(FunctionNode { name, parameters, body, span })))
    }

    fn parameters(&mut self) -> ParseResult<Vec<Parameter>> {
        self.expect("(")?;
        let mut parameters: Vec<Parameter> = Vec::new();
        while !self.eat(")") {
            if parameters.last().is_some_and(|last| last.rest) {
                return Err(self.unexpected());
            }
            if self.eat("...") {
                let name = self.plain_name()?;
                parameters.push(Parameter { name, default: None, rest: true });
                if !self.is_at_sign(")") {
                    return Err(self.unexpected());
                }
                continue;
            }
            let mut parameter = self.parameter()?;
            if self.eat("=") {
                parameter.default = Some(self.with_nesting(Self::assignment)?);
            }
            parameters.push(parameter);
            if !self.is_at_sign(")") {
                self.expect(",")?;
            }
        }
        Ok(parameters)
    }

    fn check_names(&self, parameters: &[Parameter]) -> ParseResult<()> {
        let is_known = |(at, parameter): (usize, &Parameter)| {
            parameters[..at].iter().any(|it| it.name == parameter.name)
        };
        if parameters.iter().enumerate().any(is_known) {
            return Err(self.error("follows a duplicate parameter name"));
        }
        Ok(())
    }

    fn parameter(&mut self) -> ParseResult<Parameter> {
        Ok(Parameter { name: self.plain_name()?, default: None, rest: false })
    }

    fn plain_name(&mut self) -> ParseResult<Arc<str>> {
        match &self.token().kind {
            TokenKind::Name(name) if !RESERVED.contains(&&**name) => self.member_name(),
            TokenKind::Sign("{" | "[") => {
                Err(self.error("is a destructured parameter, which is not supported"))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Parses the body of a function, which is empty or a single `return`.
    fn function_body(&mut self) -> ParseResult<Option<NodeId>> {
        self.expect("{")?;
        if self.eat("}") {
            return Ok(None);
        }
        if !self.is_word("return") {
            return Err(self.error("is a statement; a function body can only be `return` with a value"));
        }
        self.at += 1;
        let bare = self.is_at_sign(";") || self.is_at_sign("}") || self.token().newline;
        let body = if bare { None } else { Some(self.with_nesting(Self::sequence)?) };
        self.eat(";");
        if !self.is_at_sign("}") {
            return Err(self.error("follows the `return` of a function"));
        }
        self.at += 1;
        Ok(body)
    }
}
