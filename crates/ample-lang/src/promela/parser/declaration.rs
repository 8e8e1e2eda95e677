//! Declarations: variables, parameters, channels, typedefs and mtype names.

use super::super::ast::{Declaration, Declarator, Initializer, TypeName, Unit, Visibility};
use super::super::lexer::{Keyword, Kind, Op, Symbol};
use super::{Failed, Parse, Parser};
use crate::cursor::Cursor;
use crate::diagnostic::{Diagnostic, closest};
use ample_model::Span;

fn visibility(kind: Kind) -> Visibility {
    match kind {
        Kind::Keyword(Keyword::Hidden) => Visibility::Hidden,
        Kind::Keyword(Keyword::Show) => Visibility::Show,
        Kind::Keyword(Keyword::Local) => Visibility::Local,
        _ => Visibility::Plain,
    }
}

fn basic_type(kind: Kind) -> Option<TypeName> {
    Some(match kind {
        Kind::Keyword(Keyword::Bit) => TypeName::Bit,
        Kind::Keyword(Keyword::Bool) => TypeName::Bool,
        Kind::Keyword(Keyword::Byte) => TypeName::Byte,
        Kind::Keyword(Keyword::Pid) => TypeName::Pid,
        Kind::Keyword(Keyword::Short) => TypeName::Short,
        Kind::Keyword(Keyword::Int) => TypeName::Int,
        Kind::Keyword(Keyword::Unsigned) => TypeName::Unsigned,
        Kind::Keyword(Keyword::Mtype) => TypeName::Mtype(None),
        Kind::Keyword(Keyword::Chan) => TypeName::Chan,
        _ => return None,
    })
}

/// The types that need no declaration.
const BASIC_TYPES: [&str; 9] = ["bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan"];

impl Parser<'_> {
    /// Whether a declaration begins here.
    pub(super) fn at_declaration(&self) -> bool {
        let kind = self.peek().kind;
        visibility(kind) != Visibility::Plain || basic_type(kind).is_some() || self.at_user_type()
    }

    fn at_user_type(&self) -> bool {
        let is_pointer = self.pointers && self.op_at(1, Op::Star) && self.name_at(2).is_some();
        self.name_at(0).is_some_and(|name| self.typedefs.contains(&name)) && (self.name_at(1).is_some() || is_pointer)
    }

    pub(super) fn unknown_type(&mut self, ty: Symbol) -> Failed {
        let (span, name) = (self.peek().span, self.symbols.text(ty).to_owned());
        let later = self
            .tokens
            .windows(2)
            .any(|pair| pair[0].kind == Kind::Keyword(Keyword::Typedef) && pair[1].kind == Kind::Name(ty));
        let message = format!("`{name}` is not a type");
        if later {
            return self.error_with_help(span, message, format!("the typedef of `{name}` must stand before its use"));
        }
        let known = self.typedefs.iter().map(|known| self.symbols.text(*known));
        match closest(&name, known.chain(BASIC_TYPES)).map(str::to_owned) {
            Some(near) => self.error_with_help(span, message, format!("did you mean `{near}`?")),
            None => self.error(span, message),
        }
    }

    /// `vis type a, b, …`
    pub(super) fn declaration(&mut self) -> Parse<Declaration> {
        let start = self.next;
        let visibility = visibility(self.peek().kind);
        if visibility != Visibility::Plain {
            self.take();
        }
        let ty = self.type_name()?;
        let mut variables = vec![self.declarator()?];
        while self.eat(Op::Comma) {
            variables.push(self.declarator()?);
        }
        Ok(Declaration { visibility, ty, variables, span: self.span_from(start) })
    }

    pub(super) fn type_name(&mut self) -> Parse<TypeName> {
        let kind = self.peek().kind;
        if let Some(basic) = basic_type(kind) {
            self.take();
            let subtype = matches!(basic, TypeName::Mtype(None)) && self.eat(Op::Colon);
            return Ok(if subtype {
                TypeName::Mtype(Some(self.expect_name("the name of an mtype's subtype")?))
            } else {
                basic
            });
        }
        match kind {
            Kind::Name(name) if self.typedefs.contains(&name) => Ok(TypeName::User(self.expect_name("a type")?)),
            Kind::Name(name) => Err(self.unknown_type(name)),
            _ => Err(self.unexpected("a type")),
        }
    }

    fn declarator(&mut self) -> Parse<Declarator> {
        if basic_type(self.peek().kind).is_some() {
            let span = self.peek().span;
            return Err(self.error_with_help(
                span,
                "expected the name of a variable, found a type",
                "declarations of different types are separated by `;`",
            ));
        }
        let star = self.peek().span;
        let pointer = (self.pointers && self.eat(Op::Star)).then_some(star);
        if pointer.is_some() && self.at(Op::Star) {
            let span = self.peek().span;
            return Err(self.error(span, "PROM+ has no pointers to pointers"));
        }
        let name = self.expect_name("the name of a variable")?;
        let width = if self.eat(Op::Colon) { Some(self.width()?) } else { None };
        let length = if self.eat(Op::OpenBracket) {
            let length = self.expression()?;
            self.expect(Op::CloseBracket, "after the length")?;
            Some(length)
        } else {
            None
        };
        let initial = if self.eat(Op::Assign) { Some(self.initializer()?) } else { None };
        Ok(Declarator { name, pointer, width, length, initial })
    }

    fn width(&mut self) -> Parse<(i64, Span)> {
        let start = self.next;
        match self.constant()? {
            Some(width) => Ok((width, self.span_from(start))),
            None => Err(self.unexpected("a number of bits")),
        }
    }

    fn initializer(&mut self) -> Parse<Initializer> {
        let start = self.next;
        if self.eat(Op::OpenBrace) {
            let mut values = vec![self.expression()?];
            while self.eat(Op::Comma) {
                values.push(self.expression()?);
            }
            self.expect(Op::CloseBrace, "after the values")?;
            return Ok(Initializer::List(values));
        }
        if !self.eat(Op::OpenBracket) {
            return self.expression().map(Initializer::Value);
        }
        let capacity = self.expression()?;
        self.expect(Op::CloseBracket, "after the capacity")?;
        if !self.eat_keyword(Keyword::Of) {
            return Err(self.unexpected("`of` after the capacity"));
        }
        self.expect(Op::OpenBrace, "before the types of the message fields")?;
        let mut fields = vec![self.field_type()?];
        while self.eat(Op::Comma) {
            fields.push(self.field_type()?);
        }
        self.expect(Op::CloseBrace, "after the types of the message fields")?;
        Ok(Initializer::Channel { capacity, fields, span: self.span_from(start) })
    }

    fn field_type(&mut self) -> Parse<(TypeName, Span)> {
        let start = self.next;
        let ty = self.type_name()?;
        let span = self.span_from(start);
        if matches!(ty, TypeName::Unsigned) {
            return Err(self.error(span, "`unsigned` cannot be the type of a message field"));
        }
        Ok((ty, span))
    }

    /// The parameters of a proctype, without the parentheses.
    pub(super) fn parameters(&mut self) -> Parse<Vec<Declaration>> {
        let mut parameters = Vec::new();
        while !self.at(Op::CloseParen) {
            let declaration = self.declaration()?;
            if let Some(with) = declaration.variables.iter().find(|variable| variable.initial.is_some()) {
                let span = with.name.span;
                return Err(self.error(span, "a parameter cannot have an initial value"));
            }
            parameters.push(declaration);
            if !self.eat(Op::Semicolon) && !self.at(Op::CloseParen) {
                return Err(self.unexpected("`;` or `)` after a parameter"));
            }
        }
        Ok(parameters)
    }

    pub(super) fn typedef(&mut self) -> Parse<Unit> {
        self.take();
        let symbol = self.name_at(0);
        let name = self.expect_name("the name of the type")?;
        self.expect(Op::OpenBrace, "before the fields")?;
        if self.pointers {
            // An object may refer to others of its type.
            self.typedefs.extend(symbol);
        }
        let mut fields = vec![self.declaration()?];
        loop {
            let separated = self.separators() || self.peek().newline;
            if self.eat(Op::CloseBrace) {
                break;
            }
            if !separated {
                return Err(self.unexpected("`;` or `}` after a field"));
            }
            fields.push(self.declaration()?);
        }
        self.typedefs.extend(symbol);
        Ok(Unit::Typedef { name, fields })
    }

    /// Whether `mtype = { … }` begins here, with all that may stand between.
    pub(super) fn at_mtype_list(&self) -> bool {
        let mut ahead = usize::from(visibility(self.peek().kind) != Visibility::Plain);
        if self.token_at(ahead).kind != Kind::Keyword(Keyword::Mtype) {
            return false;
        }
        ahead += 1;
        if self.op_at(ahead, Op::Colon) && self.name_at(ahead + 1).is_some() {
            ahead += 2;
        }
        ahead += usize::from(self.op_at(ahead, Op::Assign));
        self.op_at(ahead, Op::OpenBrace)
    }

    pub(super) fn mtype_list(&mut self) -> Parse<Unit> {
        if visibility(self.peek().kind) != Visibility::Plain {
            let token = self.take();
            let message = format!("`{}` means nothing here", self.symbols.spelling(token.kind));
            self.diagnostics.push(Diagnostic::warning(token.span, message));
        }
        self.take();
        let subtype = if self.eat(Op::Colon) { Some(self.expect_name("the name of the subtype")?) } else { None };
        self.eat(Op::Assign);
        self.expect(Op::OpenBrace, "before the names")?;
        let mut names = vec![self.expect_name("a name")?];
        while !self.eat(Op::CloseBrace) {
            if !self.eat(Op::Comma) {
                names.push(self.expect_name("a name, `,` or `}`")?);
            }
        }
        Ok(Unit::Mtype { subtype, names })
    }
}
