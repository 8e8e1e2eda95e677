//! Expressions that several others have a part in, so that all of them together are a graph.
//!
//! The tree that such a graph stands for may be larger than any memory: sixty levels, each the sum of the one before with
//! itself, are 2^60 leaves. Whoever goes through an expression goes through every shared one once; what is asked for most
//! often (a hash, the height, the bounds of the values) is found out when the expression is made, from that of its parts.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use serde::de::value::{EnumAccessDeserializer, MapAccessDeserializer, StrDeserializer};
use serde::de::{EnumAccess, Error as _, MapAccess, SeqAccess};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::Expr;
use crate::facts::Bounds;
use crate::visit::{MAX_RECURSION, Seen, Visitor, walk_expr};

/// An expression that several others have a part in. Copies are cheap, and so is the comparison with a copy.
///
/// ```
/// use ample_model::{BinaryOp, Expr, Shared};
///
/// let sum = Shared::new(Expr::binary(BinaryOp::Add, Expr::Const(1), Expr::Const(2)));
/// let twice = Expr::binary(BinaryOp::Multiply, Expr::Shared(sum.clone()), Expr::Shared(sum.clone()));
/// assert_eq!(sum, Shared::new((*sum).clone()));
/// # let _ = twice;
/// ```
///
/// In JSON it looks like the expression itself. If there are shared ones inside it, it is the list of all of them, each
/// after those inside it, and inside the list they are told by their positions.
#[derive(Clone)]
pub struct Shared(Arc<Kept>);

struct Kept {
    hash: u64,
    height: u32,
    local_height: u32,
    is_nested: bool,
    value: Option<i64>,
    bounds: Bounds,
    expr: Expr,
}

impl Shared {
    /// Keeps an expression.
    pub fn new(expr: Expr) -> Shared {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        expr.hash(&mut hasher);
        let mut survey = Survey::default();
        survey.expr(&expr);
        Shared(Arc::new(Kept {
            hash: hasher.finish(),
            height: survey.height,
            local_height: survey.local_height,
            is_nested: survey.is_nested,
            value: expr.constant(),
            bounds: Bounds::exact(&expr),
            expr,
        }))
    }

    /// A number that copies have in common, and no other expression that is alive.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// How many levels there are inside it: none if it is a constant.
    pub fn height(&self) -> u32 {
        self.0.height
    }

    /// The same where shared expressions inside it count as constants do.
    pub fn local_height(&self) -> u32 {
        self.0.local_height
    }

    /// There are shared expressions inside it.
    pub fn is_nested(&self) -> bool {
        self.0.is_nested
    }

    /// [`Expr::constant`]
    pub(super) fn known_value(&self) -> Option<i64> {
        self.0.value
    }

    /// Between which values its exact value lies.
    pub(crate) fn bounds(&self) -> Bounds {
        self.0.bounds
    }
}

/// Finds out how high an expression is, and whether there are shared ones inside.
#[derive(Default)]
struct Survey {
    depth: u32,
    height: u32,
    local_height: u32,
    is_nested: bool,
}

impl<'a> Visitor<'a> for Survey {
    fn expr(&mut self, expr: &'a Expr) {
        self.height = self.height.max(self.depth);
        self.local_height = self.local_height.max(self.depth);
        self.depth += 1;
        walk_expr(self, expr);
        self.depth -= 1;
    }

    fn shared(&mut self, shared: &'a Shared) {
        self.is_nested = true;
        self.height = self.height.max(self.depth.saturating_add(shared.height()));
    }
}

/// Expressions may be nested deeper than calls: what nobody else keeps is taken apart without recursion.
impl Drop for Kept {
    fn drop(&mut self) {
        if self.height <= MAX_RECURSION || matches!(self.expr, Expr::Const(_)) {
            return;
        }
        let mut open = vec![std::mem::replace(&mut self.expr, Expr::FALSE)];
        while let Some(expr) = open.pop() {
            match expr {
                Expr::Shared(Shared(kept)) => {
                    let last = Arc::into_inner(kept);
                    open.extend(last.map(|mut kept| std::mem::replace(&mut kept.expr, Expr::FALSE)));
                }
                Expr::Unary(_, x) | Expr::Cast(_, x) => open.push(*x),
                Expr::Binary(_, x, y) => open.extend([*x, *y]),
                Expr::Conditional(condition, x, y) => open.extend([*condition, *x, *y]),
                Expr::Read(place) | Expr::Next(place) => open.extend(place.indices.into_iter().map(|index| index.at)),
                Expr::Field(object, field) => {
                    open.push(*object);
                    open.extend(field.indices.into_iter().map(|index| index.at));
                }
                _ => {}
            }
        }
    }
}

impl Deref for Shared {
    type Target = Expr;

    fn deref(&self) -> &Expr {
        &self.0.expr
    }
}

thread_local! {
    /// While shared expressions are compared: the pairs that were, or will be.
    static COMPARED: RefCell<Option<Comparison>> = const { RefCell::new(None) };
    /// While one is written: the positions of those inside it.
    static WRITTEN: RefCell<Option<HashMap<usize, u64>>> = const { RefCell::new(None) };
    /// While one is read: those inside it that were.
    static READ: RefCell<Option<Vec<Shared>>> = const { RefCell::new(None) };
}

/// A comparison of two expressions with shared ones inside.
#[derive(Default)]
struct Comparison {
    seen: HashSet<(usize, usize)>,
    open: Vec<(Shared, Shared)>,
}

impl PartialEq for Shared {
    fn eq(&self, other: &Shared) -> bool {
        if Arc::ptr_eq(&self.0, &other.0) {
            return true;
        }
        if self.0.hash != other.0.hash || self.0.height != other.0.height {
            return false;
        }
        if !self.0.is_nested {
            return self.0.expr == other.0.expr;
        }
        // All pairs have to be equal for two expressions to be, so that each is looked at once, and at any time.
        let is_outermost = COMPARED.with_borrow_mut(|comparison| {
            let is_outermost = comparison.is_none();
            let comparison = comparison.get_or_insert_default();
            if comparison.seen.insert((self.address(), other.address())) {
                comparison.open.push((self.clone(), other.clone()));
            }
            is_outermost
        });
        if !is_outermost {
            return true;
        }
        let mut equal = true;
        while let Some((one, other)) = COMPARED.with_borrow_mut(|comparison| comparison.as_mut()?.open.pop()) {
            equal = one.0.expr == other.0.expr;
            if !equal {
                break;
            }
        }
        COMPARED.set(None);
        equal
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.is_nested {
            true => write!(f, "{:016x}, {} levels", self.0.hash, self.0.height),
            false => self.0.expr.fmt(f),
        }
    }
}

impl Serialize for Shared {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(position) = WRITTEN.with_borrow(|all| all.as_ref()?.get(&self.address()).copied()) {
            return serializer.serialize_u64(position);
        }
        if !self.0.is_nested {
            return self.0.expr.serialize(serializer);
        }
        let inside = Seen::default().unseen(self);
        WRITTEN.set(Some(inside.iter().map(|shared| shared.address()).zip(0..).collect()));
        let written = write_all(serializer, &inside);
        WRITTEN.set(None);
        written
    }
}

fn write_all<S: Serializer>(serializer: S, all: &[&Shared]) -> Result<S::Ok, S::Error> {
    let mut list = serializer.serialize_seq(Some(all.len()))?;
    for shared in all {
        list.serialize_element(&shared.0.expr)?;
    }
    list.end()
}

impl<'de> Deserialize<'de> for Shared {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Shared, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> de::Visitor<'de> for Reading {
    type Value = Shared;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an expression, a list of expressions, or the position of one in such a list")
    }

    fn visit_u64<E: de::Error>(self, position: u64) -> Result<Shared, E> {
        let found = READ.with_borrow(|read| read.as_ref()?.get(usize::try_from(position).ok()?).cloned());
        found.ok_or_else(|| E::custom("a shared expression that was not there before"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shared, A::Error> {
        let before = READ.replace(Some(Vec::new()));
        let ended = loop {
            match list.next_element::<Expr>() {
                Ok(Some(expr)) => READ.with_borrow_mut(|read| read.get_or_insert_default().push(Shared::new(expr))),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        let read = READ.replace(before);
        ended?;
        read.and_then(|mut read| read.pop()).ok_or_else(|| A::Error::custom("an empty list of shared expressions"))
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Shared, E> {
        Expr::deserialize(StrDeserializer::new(name)).map(Shared::new)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Shared, A::Error> {
        Expr::deserialize(MapAccessDeserializer::new(map)).map(Shared::new)
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Shared, A::Error> {
        Expr::deserialize(EnumAccessDeserializer::new(data)).map(Shared::new)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::check::{MAX_DEPTH, check};
    use crate::facts::Facts;
    use crate::interpret::Interpreter;
    use crate::samples::*;
    use crate::system::{Coupling, Definition, NextValue, Scalar, Synchronous, System};
    use crate::visit::{Folder, Made, fold_expr};
    use crate::{BinaryOp, UnaryOp};

    /// Written out, this would have 2^levels leaves. Its value is that of the leaf, if that is 0 or 1.
    fn graph(leaf: Expr, levels: u32) -> Expr {
        (0..levels).fold(leaf, |expr, level| {
            let shared = Expr::Shared(Shared::new(expr));
            let (one, two) = (Box::new(shared.clone()), Box::new(shared));
            match level % 4 {
                0 => Expr::Binary(BinaryOp::And, one, two),
                1 => Expr::Binary(BinaryOp::Or, one, two),
                2 => Expr::Conditional(one.clone(), two.clone(), one),
                _ => Expr::Binary(BinaryOp::BitAnd, one, two),
            }
        })
    }

    fn quickly<T>(what: &str, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        assert!(begin.elapsed() < Duration::from_secs(1), "{what}: {:?}", begin.elapsed());
        done
    }

    #[test]
    fn deep_graphs_are_as_large_as_their_parts() {
        let mut system = System::empty();
        let x = system.global("x", Scalar::BOOL);
        let edge = edge(0, 0).when(graph(read(&x), 60)).sets(&x, Expr::unary(UnaryOp::Not, graph(read(&x), 60)));
        system.start(process("p", vec![], vec![edge], &[]));
        assert_eq!(quickly("check", || check(&system)), Ok(()));
        let facts = quickly("facts", || Facts::of(&system));
        assert_eq!(facts.edges().next().map(|edge| edge.all.reads.len()), Some(1));
        assert!(facts.edges().all(|edge| !edge.all.traits.may_fault));
        let interpreter = Interpreter::new(&system);
        let state = interpreter.initial_states().next().unwrap().unwrap();
        let (guard, value) = (graph(read(&x), 60), graph(Expr::binary(BinaryOp::Equal, read(&x), Expr::Const(0)), 60));
        assert_eq!(quickly("interpreter", || interpreter.enabled(&state).len()), 0);
        assert_eq!(quickly("interpreter", || interpreter.evaluate(&state, None, &guard)), Ok(0));
        assert_eq!(quickly("interpreter", || interpreter.evaluate(&state, None, &value)), Ok(1));
        let moved = crate::State { globals: vec![1], ..state };
        let next = quickly("effect", || interpreter.successors(&moved));
        assert_eq!(next[0].1.state.as_ref().map(|state| state.globals[0]), Some(0));
        let text = quickly("show", || system.show_expr(None, &guard));
        assert!(text.len() < 200_000 && text.contains('…'), "{} bytes", text.len());
        assert!(quickly("debug", || format!("{guard:?}")).len() < 1_000);
        let mut parts = 0;
        quickly("walk", || guard.walk(&mut |_| parts += 1));
        assert!((60..1_000).contains(&parts), "{parts}");
        assert!(quickly("equality", || guard == graph(read(&x), 60)));
        assert!(quickly("equality", || guard != graph(read(&x), 59)));
        assert!(quickly("equality", || guard != graph(Expr::TRUE, 60)));
        let json = quickly("json", || serde_json::to_string(&system).unwrap());
        assert!(json.len() < 100_000, "{} bytes", json.len());
        assert_eq!(quickly("json", || serde_json::from_str::<System>(&json).unwrap()), system);
    }

    #[test]
    fn deep_graphs_step_together() {
        let mut system = System::empty();
        let x = system.global("x", Scalar::BOOL);
        let sum = (0..40).fold(read(&x), |sum, _| {
            let shared = Expr::Shared(Shared::new(sum));
            Expr::binary(BinaryOp::Add, shared.clone(), shared)
        });
        let next = NextValue::Function(Expr::binary(BinaryOp::Equal, sum.clone(), Expr::Const(0)));
        let definition = Definition { variable: x.variable, slot: 0, next, span: None };
        let below = Expr::binary(BinaryOp::LessEqual, sum, Expr::Const(1 << 40));
        system.coupling = Coupling::Synchronous(Synchronous {
            definitions: vec![definition],
            invariant: vec![below],
            ..Synchronous::default()
        });
        assert_eq!(quickly("check", || check(&system)), Ok(()));
        let facts = quickly("facts", || Facts::of(&system));
        assert!(!facts.joint().definitions[0].traits.may_fault);
        assert_eq!(quickly("explore", || crate::interpret::explore(&system, 100)).states, 2);
    }

    #[test]
    fn constants_and_heights_are_known() {
        let twice = (0..60).fold(Expr::Const(1), |sum, _| {
            let shared = Expr::Shared(Shared::new(sum));
            Expr::binary(BinaryOp::Add, shared.clone(), shared)
        });
        assert_eq!(twice.constant(), Some(1 << 60));
        let Expr::Binary(_, x, _) = &twice else { panic!() };
        let Expr::Shared(x) = &**x else { panic!() };
        assert_eq!((x.height(), x.is_nested()), (118, true));
        let tower = |levels: u32| {
            let shared = (0..levels).fold(Expr::Const(1), |x, _| Expr::unary(UnaryOp::Not, x));
            let shared = Expr::Shared(Shared::new(shared));
            // It is checked where it stands high first.
            let deep = (0..levels).fold(shared.clone(), |x, _| Expr::unary(UnaryOp::Not, x));
            let mut system = System::empty();
            let edge = edge(0, 0).when(Expr::binary(BinaryOp::And, shared, deep));
            system.start(process("p", vec![], vec![edge], &[]));
            check(&system)
        };
        assert_eq!(tower(MAX_DEPTH / 2 - 10), Ok(()));
        assert_eq!(tower(MAX_DEPTH / 2 + 10).unwrap_err()[0].problem, "an expression that is nested too deep");
    }

    /// Negates what is read.
    #[derive(Default)]
    struct Negate(Made);

    impl Folder for Negate {
        fn expr(&mut self, expr: &Expr) -> Expr {
            match expr {
                Expr::Read(_) => Expr::unary(UnaryOp::Not, expr.clone()),
                _ => fold_expr(self, expr),
            }
        }

        fn shared(&mut self, shared: &Shared) -> Expr {
            self.0.get(shared).unwrap_or_else(|| {
                let made = self.expr(shared);
                self.0.keep(shared, made)
            })
        }
    }

    #[test]
    fn what_is_made_of_shared_expressions_is_shared() {
        let mut system = System::empty();
        let x = read(&system.global("x", Scalar::BOOL));
        let negated = quickly("fold", || Negate::default().expr(&graph(x.clone(), 60)));
        assert_eq!(negated, graph(Expr::unary(UnaryOp::Not, x), 60));
    }

    #[test]
    fn json_of_flat_ones_is_that_of_the_expression() {
        let flat = Expr::Shared(Shared::new(Expr::SelfId));
        assert_eq!(serde_json::to_string(&flat).unwrap(), r#"{"Shared":"SelfId"}"#);
        let nested = Expr::Shared(Shared::new(Expr::unary(UnaryOp::Not, flat.clone())));
        let text = r#"{"Shared":["SelfId",{"Unary":["Not",{"Shared":0}]}]}"#;
        assert_eq!(serde_json::to_string(&nested).unwrap(), text);
        for expr in [flat, nested] {
            let text = serde_json::to_string(&expr).unwrap();
            assert_eq!(serde_json::from_str::<Expr>(&text).unwrap(), expr);
        }
        for wrong in [r#"{"Shared":0}"#, r#"{"Shared":[]}"#, r#"{"Shared":[{"Unary":["Not",{"Shared":0}]}]}"#] {
            assert!(serde_json::from_str::<Expr>(wrong).is_err(), "{wrong}");
        }
    }
}
