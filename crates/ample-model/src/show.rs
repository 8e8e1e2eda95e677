//! Expressions as text, in a notation close to that of the source, for reports.

use std::cell::Cell;

use crate::expr::{BinaryOp, Expr, Field, Index, Pattern, Place, Scope, UnaryOp};
use crate::system::{ProcessId, Scalar, System, Type, Variable};

/// How deep an expression is shown.
const MAX_DEPTH: u32 = 50;

/// How many parts of an expression are shown: one with shared parts may be larger than any memory if it is written out.
const MAX_PARTS: u32 = 5_000;

impl System {
    /// An expression as text. `of` is the process type whose locals it reads, if any.
    pub fn show_expr(&self, of: Option<ProcessId>, expr: &Expr) -> String {
        Show { system: self, of, depth: 0, left: &Cell::new(MAX_PARTS) }.expr(expr)
    }
}

#[derive(Clone, Copy)]
struct Show<'a> {
    system: &'a System,
    of: Option<ProcessId>,
    depth: u32,
    /// So many parts may still be shown.
    left: &'a Cell<u32>,
}

impl Show<'_> {
    fn expr(&self, expr: &Expr) -> String {
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if self.depth > MAX_DEPTH || left == 0 {
            return "…".into();
        }
        let deeper = Show { depth: self.depth + 1, ..*self };
        let show = |x: &Expr| deeper.expr(x);
        match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Read(place) => deeper.place(place),
            Expr::Field(object, field) if self.system.language == "prom+" => {
                // Objects of basic types are records that are called like them, which no other record can be.
                let name = self.system.records.get(field.record.index()).map_or("", |record| &record.name);
                let is_basic = matches!(name, "bit" | "bool" | "byte" | "pid" | "short" | "int");
                let (object, field) = (deeper.operand(object), deeper.field(field));
                if is_basic { format!("*{object}") } else { format!("{object}.{field}") }
            }
            Expr::Field(object, field) => format!("{}->{}", deeper.operand(object), deeper.field(field)),
            Expr::Next(place) => format!("next({})", deeper.place(place)),
            Expr::Unary(op, x) => format!("{}{}", unary(*op), deeper.operand(x)),
            Expr::Binary(op, x, y) => {
                let (left, right) = (deeper.side(x, y), deeper.side(y, x));
                format!("{left} {} {right}", deeper.binary(*op))
            }
            Expr::Cast(_, x) => show(x),
            Expr::Conditional(c, x, y) => {
                let then = if self.is_smv() { "?" } else { "->" };
                format!("({} {then} {} : {})", show(c), show(x), show(y))
            }
            Expr::SelfId => "_pid".into(),
            Expr::ProcessCount => "_nr_pr".into(),
            Expr::LastMover => "_last".into(),
            Expr::Timeout => "timeout".into(),
            Expr::Blocked(_) => "else".into(),
            Expr::Enabled(x) => format!("enabled({})", show(x)),
            Expr::LocationOf(x) => format!("pc_value({})", show(x)),
            Expr::At { process, of, locations } => {
                let ty = self.system.process(*of);
                let location = locations.first().and_then(|location| ty.locations.get(location.index()));
                let label = location.and_then(|location| location.labels.first().cloned());
                let label = label.or(location.map(|location| location.number.to_string())).unwrap_or_default();
                format!("{}@{label}", deeper.process(process.as_deref(), *of))
            }
            Expr::Remote { process, of, place } => {
                let name = deeper.process(process.as_deref(), *of);
                format!("{name}:{}", Show { of: Some(*of), ..deeper }.place(place))
            }
            Expr::NonProgress => "np_".into(),
            Expr::Accepting => "accepting".into(),
            Expr::Length(x) => format!("len({})", show(x)),
            Expr::Full(x) => format!("full({})", show(x)),
            Expr::Poll { channel, patterns, anywhere } => {
                let fields: Vec<String> = patterns.iter().map(|pattern| deeper.pattern(pattern)).collect();
                format!("{}{}[{}]", show(channel), if *anywhere { "??" } else { "?" }, fields.join(","))
            }
            Expr::Priority(x) => format!("get_priority({})", show(x)),
            Expr::Shared(x) => show(x),
        }
    }

    /// Is the model written in SMV? Its users know other operators than those of C.
    fn is_smv(&self) -> bool {
        self.system.language == "smv"
    }

    fn binary(&self, op: BinaryOp) -> &'static str {
        match op {
            BinaryOp::Equal if self.is_smv() => "=",
            BinaryOp::And if self.is_smv() => "&",
            BinaryOp::Or if self.is_smv() => "|",
            BinaryOp::BitXor if self.is_smv() => "xor",
            BinaryOp::Remainder if self.is_smv() => "mod",
            op => binary(op),
        }
    }

    /// An operand, in parentheses if it is made of several parts.
    fn operand(&self, expr: &Expr) -> String {
        match expr {
            Expr::Cast(_, x) => self.operand(x),
            Expr::Shared(x) => self.operand(x),
            Expr::Binary(..) => format!("({})", self.expr(expr)),
            _ => self.expr(expr),
        }
    }

    /// One side of a comparison: a number compared with an enumeration is shown by its name.
    fn side(&self, expr: &Expr, other: &Expr) -> String {
        match (expr, other) {
            (Expr::Const(value), Expr::Read(Place { scalar: scalar @ Scalar::Enumeration(_), .. })) => {
                self.system.show_value(*scalar, *value)
            }
            (Expr::Const(value), Expr::Read(place)) if place.scope == Scope::Global => {
                self.system.show_global(place.variable.index(), place.scalar, *value)
            }
            _ => self.operand(expr),
        }
    }

    fn process(&self, process: Option<&Expr>, of: ProcessId) -> String {
        let name = &self.system.process(of).name;
        process.map_or_else(|| name.clone(), |id| format!("{name}[{}]", self.expr(id)))
    }

    fn pattern(&self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Match(x @ Expr::Const(_)) => self.expr(x),
            Pattern::Match(x) => format!("eval({})", self.expr(x)),
            Pattern::Bind(place) => self.place(place),
            Pattern::Ignore => "_".into(),
        }
    }

    fn variable(&self, place: &Place) -> Option<&Variable> {
        match (place.scope, self.of) {
            (Scope::Global, _) => self.system.globals.get(place.variable.index()),
            (Scope::Local, Some(of)) => self.system.process(of).locals.get(place.variable.index()),
            (Scope::Local, None) => None,
        }
    }

    fn place(&self, place: &Place) -> String {
        let Some(variable) = self.variable(place) else { return format!("local {}", place.variable.0) };
        self.part(variable.name.clone(), &variable.ty, place.offset, &place.indices)
    }

    fn field(&self, field: &Field) -> String {
        let whole = self.part(String::new(), &Type::Record(field.record), field.offset, &field.indices);
        whole.trim_start_matches('.').to_owned()
    }

    /// A part of something of that name and type.
    fn part<'t>(&'t self, mut name: String, mut ty: &'t Type, mut offset: u32, indices: &[Index]) -> String {
        let mut indices = indices.iter().peekable();
        loop {
            match ty {
                Type::Scalar(_) => return name,
                Type::Array { element, .. } => {
                    let stride = self.system.slots(element).max(1);
                    let index = match indices.next_if(|index| index.stride == stride) {
                        Some(index) => self.expr(&index.at),
                        None => (offset / stride).to_string(),
                    };
                    name.push_str(&format!("[{index}]"));
                    offset %= stride;
                    ty = element;
                }
                Type::Record(record) => {
                    let fields = &self.system.records[record.index()].fields;
                    let field = fields.iter().find(|(_, ty)| {
                        let size = self.system.slots(ty);
                        let here = offset < size;
                        offset -= if here { 0 } else { size };
                        here
                    });
                    let Some((field, field_ty)) = field else { return name };
                    name = format!("{name}.{field}");
                    ty = field_ty;
                }
            }
        }
    }
}

fn unary(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Negate => "-",
        UnaryOp::Not => "!",
        UnaryOp::Complement => "~",
    }
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitOr => "|",
        BinaryOp::BitXor => "^",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_those_of_the_language() {
        let two = |op| Expr::binary(op, Expr::SelfId, Expr::Const(3));
        let expr = Expr::binary(BinaryOp::And, two(BinaryOp::Equal), two(BinaryOp::NotEqual));
        let shown = |language| System::new("model", language).show_expr(None, &expr);
        assert_eq!(shown("promela"), "(_pid == 3) && (_pid != 3)");
        assert_eq!(shown("smv"), "(_pid = 3) & (_pid != 3)");
    }
}
