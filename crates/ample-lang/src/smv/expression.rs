//! Expressions: names resolved, types checked, and each made an expression of the model, or a set of them.
//!
//! Where a set stands, each of its values is an alternative, and operators are applied to all combinations of
//! alternatives, as NuSMV does. Definitions are lowered once for current and once for next values, each after those that it
//! uses, so that neither a long chain of them takes a deep stack nor a wide graph of them becomes a tree.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ample_model::{BinaryOp, Expr, Overflow, Place, Scalar, Scope, Span, VariableId};

use super::ast::{Binary, Chain, Function, Kind, Name, Node, Section, Unary};
use super::build::{self, Failing, Missing, Val, and, balanced, conditional, first_of, impossible, not, or, shared};
use super::flatten::{Analysed, Domain, Flat, SELECTOR, Symbol, Tree};
use super::words;
use crate::diagnostic::{Diagnostic, closest};
use crate::watch::Watch;

/// A set may stand for so many alternatives.
const MAX_ALTERNATIVES: usize = 4096;

/// An expression of the model may be so high: less than [`ample_model::check::MAX_DEPTH`], with room for what is around it.
const MAX_HEIGHT: u32 = 460;

/// What is higher is made a shared part.
const HIGH: u32 = 150;

/// How deep definitions may depend on each other where that is found out by recursion.
const MAX_RECURSION: u32 = 150;

/// A type of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// A truth value.
    Boolean,
    /// A number.
    Integer,
    /// A symbol, or a value of an enumeration with symbols and numbers.
    Symbolic,
    /// A word.
    Word {
        /// How many bits.
        bits: u32,
        /// Two's complement.
        signed: bool,
    },
}

impl Ty {
    /// In words.
    pub fn name(self) -> String {
        match self {
            Ty::Boolean => "boolean".into(),
            Ty::Integer => "integer".into(),
            Ty::Symbolic => "symbolic".into(),
            Ty::Word { bits, signed } => format!("{} word[{bits}]", if signed { "signed" } else { "unsigned" }),
        }
    }
}

/// One of the values of an expression.
#[derive(Clone, Debug)]
pub struct Alternative {
    /// Only if this holds.
    pub when: Option<Expr>,
    /// The value.
    pub value: Val,
}

/// An expression, lowered.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Its type.
    pub ty: Ty,
    /// Its values: one without a condition, unless it is a set.
    pub alternatives: Vec<Alternative>,
    /// It may have several values.
    pub is_set: bool,
    /// It reads an input.
    pub reads_input: bool,
    /// It reads next values.
    pub reads_next: bool,
}

impl Lowered {
    fn one(ty: Ty, value: Expr) -> Lowered {
        Lowered::of(ty, Val::Plain(value))
    }

    fn of(ty: Ty, value: Val) -> Lowered {
        let alternatives = vec![Alternative { when: None, value }];
        Lowered { ty, alternatives, is_set: false, reads_input: false, reads_next: false }
    }

    /// The value, if it is only one.
    pub fn single(&self) -> Option<&Val> {
        match &self.alternatives[..] {
            [Alternative { when: None, value }] if !self.is_set => Some(value),
            _ => None,
        }
    }

    fn flags(mut self, of: &[&Lowered]) -> Lowered {
        self.reads_input |= of.iter().any(|other| other.reads_input);
        self.reads_next |= of.iter().any(|other| other.reads_next);
        self.is_set |= of.iter().any(|other| other.is_set);
        self
    }

    /// The same, each of its values as one shared part.
    fn flat(self) -> Lowered {
        let alternatives = self.alternatives.into_iter().map(|one| {
            let value = match one.value {
                Val::Coded(x, codes) => Val::Coded(shared(x), codes),
                value => Val::Plain(shared(value.plain())),
            };
            Alternative { when: one.when.map(shared), value }
        });
        Lowered { alternatives: alternatives.collect(), ..self }
    }

    /// The same with its parts kept once.
    fn kept(self) -> Lowered {
        let keep = |value: Val| match value {
            Val::Plain(x) => Val::Plain(shared(x)),
            Val::If(..) if value.size() > 16 => Val::Plain(shared(value.plain())),
            other => other,
        };
        let alternatives = self.alternatives.into_iter();
        let alternatives =
            alternatives.map(|one| Alternative { when: one.when.map(shared), value: keep(one.value) }).collect();
        Lowered { alternatives, ..self }
    }
}

/// What a name stands for.
enum Thing<'a> {
    Value(Lowered),
    Cells(Tree),
    /// The value of an array that is defined: its elements, in an instance, of current or next values.
    Elements(&'a [Node], usize, bool),
    Instance(usize),
    Instances(i64, Vec<usize>),
    /// One of these, by an index.
    Chosen(Lowered, Vec<(i64, Thing<'a>)>),
}

/// Where an expression stands: in which instance, and whether it means next values.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct At {
    instance: usize,
    next: bool,
}

/// A definition, or what a parameter stands for.
type Key = (*const Node, At);

/// Lowers expressions.
pub struct Lowerer<'a, 'w> {
    /// The model.
    pub flat: &'w Flat<'a>,
    watch: &'w Watch<'w>,
    known: HashMap<Key, Lowered>,
    /// Definitions that are wrong, and why.
    faulty: HashMap<Key, Diagnostic>,
    open: HashSet<Key>,
    recursion: u32,
    /// What may have no value; nothing, as long as there was no reason for it.
    failing: RefCell<Option<Failing>>,
    /// The variable that says which process runs.
    pub selector: Option<VariableId>,
}

impl<'a, 'w> Lowerer<'a, 'w> {
    /// For expressions of this model.
    pub fn new(flat: &'w Flat<'a>, watch: &'w Watch<'w>, selector: Option<VariableId>) -> Lowerer<'a, 'w> {
        Lowerer {
            flat,
            watch,
            known: HashMap::new(),
            faulty: HashMap::new(),
            open: HashSet::new(),
            recursion: 0,
            failing: RefCell::default(),
            selector,
        }
    }

    /// An expression of an instance.
    pub fn lower(&mut self, node: &'a Node, instance: usize) -> Analysed<Lowered> {
        // What an error has left open is not open any more.
        self.open.clear();
        self.recursion = 0;
        self.at(node, At { instance, next: false })
    }

    /// Looks up a name, which may stand for a value, an array or an instance.
    pub fn resolve(&mut self, node: &'a Node, instance: usize) -> Analysed<()> {
        self.open.clear();
        self.recursion = 0;
        self.thing(node, At { instance, next: false }).map(|_| ())
    }

    /// A condition: a truth value, and only one.
    pub fn condition(&mut self, node: &'a Node, instance: usize) -> Analysed<(Expr, Lowered)> {
        let lowered = self.lower(node, instance)?;
        if lowered.ty != Ty::Boolean {
            return Err(expected(node, "a truth value", lowered.ty));
        }
        match lowered.single() {
            Some(value) => Ok((value.plain(), lowered.clone())),
            None => Err(Diagnostic::error(node.span, "expected one truth value, but this is a set")),
        }
    }

    /// The cells that a name stands for.
    pub fn tree_of(&mut self, node: &'a Node, instance: usize) -> Analysed<Tree> {
        match self.cells_of(node, At { instance, next: false })? {
            Some(Thing::Cells(tree)) => Ok(tree),
            _ => Err(Diagnostic::error(node.span, "only variables can be assigned")),
        }
    }

    /// What each of some cells is assigned by an expression, of current or of next values: that of an array has elements.
    pub fn values_for(
        &mut self,
        tree: &Tree,
        node: &'a Node,
        instance: usize,
        next: bool,
    ) -> Analysed<Vec<(usize, Lowered)>> {
        if let (Tree::Cell(cell), false) = (tree, next) {
            return Ok(vec![(*cell, self.lower(node, instance)?)]);
        }
        let at = At { instance, next };
        if let Tree::Cell(cell) = tree {
            return Ok(vec![(*cell, self.at(node, at)?)]);
        }
        let thing = self.thing(node, at)?;
        let mut values = Vec::new();
        self.pair(tree, thing, node.span, &mut values)?;
        Ok(values)
    }

    fn pair(&mut self, tree: &Tree, thing: Thing<'a>, span: Span, out: &mut Vec<(usize, Lowered)>) -> Analysed<()> {
        self.watch.step()?;
        let (low, trees) = match tree {
            Tree::Cell(cell) => {
                out.push((*cell, self.value(thing, span)?));
                return Ok(());
            }
            Tree::Array(low, trees) => (*low, trees),
        };
        if let Thing::Value(_) | Thing::Instance(_) = thing {
            return Err(Diagnostic::error(span, "expected an array, since the variable is one")
                .with_help("assign its elements one by one"));
        }
        let elements = self.elements(thing, span)?;
        let is_alike = elements.len() == trees.len() && elements.first().is_some_and(|(first, _)| *first == low);
        if !is_alike {
            return Err(Diagnostic::error(span, "an array with other indices than those of the variable"));
        }
        trees.iter().zip(elements).try_for_each(|(tree, (_, thing))| self.pair(tree, thing, span, out))
    }

    /// The instance that a name stands for.
    pub fn instance_of(&mut self, node: &'a Node, instance: usize) -> Analysed<usize> {
        match self.cells_of(node, At { instance, next: false })? {
            Some(Thing::Instance(number)) => Ok(number),
            _ => Err(Diagnostic::error(node.span, "expected the name of an instance")),
        }
    }

    /// What a path stands for, without reading values; through parameters that are paths.
    fn cells_of(&mut self, node: &'a Node, at: At) -> Analysed<Option<Thing<'a>>> {
        match &node.kind {
            Kind::Name(name) => match self.find(name, at.instance) {
                Some(Found::Parameter(given, giver)) => self.cells_of(given, At { instance: giver, ..at }),
                Some(Found::Symbol(Symbol::Cells(tree), _)) => Ok(Some(Thing::Cells(tree.clone()))),
                Some(Found::Symbol(Symbol::Instance(number), _)) => Ok(Some(Thing::Instance(*number))),
                Some(Found::Symbol(Symbol::Instances(low, all), _)) => Ok(Some(Thing::Instances(*low, all.clone()))),
                // An alias of a variable can be assigned.
                Some(Found::Symbol(Symbol::Define(_), _)) => Ok(None),
                None => Err(self.undefined(name, node.span, at.instance)),
            },
            Kind::Itself => Ok(Some(Thing::Instance(at.instance))),
            Kind::Dot(base, name) => match self.cells_of(base, at)? {
                Some(Thing::Instance(number)) => {
                    let inner = self.member(number, name)?;
                    self.symbol_thing(inner)
                }
                _ => Ok(None),
            },
            Kind::Index(base, index) => {
                let Some(thing) = self.cells_of(base, at)? else { return Ok(None) };
                let index_value = self.constant(index, at)?;
                let Some(number) = index_value else {
                    return Err(Diagnostic::error(index.span, "expected a constant index"));
                };
                self.element(thing, number, index.span).map(Some)
            }
            _ => Ok(None),
        }
    }

    fn symbol_thing(&mut self, found: Found<'a, 'w>) -> Analysed<Option<Thing<'a>>> {
        Ok(match found {
            Found::Parameter(node, giver) => return self.cells_of(node, At { instance: giver, next: false }),
            Found::Symbol(Symbol::Cells(tree), _) => Some(Thing::Cells(tree.clone())),
            Found::Symbol(Symbol::Instance(number), _) => Some(Thing::Instance(*number)),
            Found::Symbol(Symbol::Instances(low, all), _) => Some(Thing::Instances(*low, all.clone())),
            Found::Symbol(Symbol::Define(_), _) => None,
        })
    }

    fn element(&self, thing: Thing<'a>, number: i64, span: Span) -> Analysed<Thing<'a>> {
        let outside = |low: i64, count: usize| {
            let message = format!("the index {number} is outside of {low}..{}", low + count as i64 - 1);
            Diagnostic::error(span, message)
        };
        let at = |low: i64, count: usize| {
            let position = usize::try_from(number - low).ok().filter(|at| *at < count);
            position.ok_or_else(|| outside(low, count))
        };
        Ok(match thing {
            Thing::Cells(Tree::Array(low, trees)) => Thing::Cells(trees[at(low, trees.len())?].clone()),
            Thing::Instances(low, all) => Thing::Instance(all[at(low, all.len())?]),
            Thing::Elements(nodes, instance, next) => {
                let node = &nodes[at(0, nodes.len())?];
                match &node.kind {
                    Kind::Array(inner) => Thing::Elements(inner, instance, next),
                    _ => Thing::Elements(std::slice::from_ref(node), instance, next),
                }
            }
            _ => return Err(Diagnostic::error(span, "only arrays have an index")),
        })
    }

    fn constant(&mut self, node: &'a Node, at: At) -> Analysed<Option<i64>> {
        let lowered = self.at(node, at)?;
        Ok(match (lowered.ty, lowered.single()) {
            (Ty::Integer, Some(Val::Plain(value))) => value.constant(),
            _ => None,
        })
    }

    // Names.

    fn find(&self, name: &str, instance: usize) -> Option<Found<'a, 'w>> {
        let flat: &'w Flat<'a> = self.flat;
        let of = &flat.instances[instance];
        if let Some((node, giver)) = of.parameters.get(name) {
            return Some(Found::Parameter(node, *giver));
        }
        if let Some(symbol) = of.symbols.get(name) {
            return Some(Found::Symbol(symbol, instance));
        }
        if flat.composed.is_empty() {
            return None;
        }
        let (declaring, name) = flat.composed.get(&of.name_of(name))?;
        flat.instances[*declaring].symbols.get(name.as_str()).map(|symbol| Found::Symbol(symbol, *declaring))
    }

    fn member(&self, instance: usize, name: &Name) -> Analysed<Found<'a, 'w>> {
        self.find(&name.text, instance).ok_or_else(|| self.undefined(&name.text, name.span, instance))
    }

    fn undefined(&self, name: &str, span: Span, instance: usize) -> Diagnostic {
        let of = &self.flat.instances[instance];
        let message = format!("`{name}` is not declared in module `{}`", of.module);
        let error = Diagnostic::error(span, message);
        let names = of.symbols.keys().chain(of.parameters.keys()).copied();
        let names = names.chain(self.flat.symbols.iter().map(String::as_str));
        match (name, closest(name, names)) {
            ("true" | "false", _) => error.with_help("truth values are `TRUE` and `FALSE`"),
            (_, Some(near)) => error.with_help(format!("is `{near}` meant?")),
            _ => error,
        }
    }

    fn thing(&mut self, node: &'a Node, at: At) -> Analysed<Thing<'a>> {
        match &node.kind {
            Kind::Name(name) => match self.find(name, at.instance) {
                Some(_) if at.instance == 0 && self.flat.ambiguous.contains(name.as_str()) => Err(Diagnostic::error(
                    node.span,
                    format!("`{name}` is a variable or a definition, and a symbol as well"),
                )),
                Some(found) => self.found(found, at),
                None => self.other_name(name, node.span, at).map(Thing::Value),
            },
            Kind::Itself => Ok(Thing::Instance(at.instance)),
            // Something may be declared with such a name.
            Kind::Dot(..) | Kind::Index(..) if self.declared(node, at).is_some() => match self.declared(node, at) {
                Some(found) => self.found(found, at),
                None => Err(too_deep(node)),
            },
            Kind::Dot(base, name) => match self.thing(base, at)? {
                Thing::Instance(number) => self.member_thing(number, name, at.next),
                _ => Err(Diagnostic::error(base.span, "only instances of modules have parts")),
            },
            Kind::Index(base, index) => {
                let thing = self.thing(base, at)?;
                self.indexed(thing, base, index, at)
            }
            Kind::Next(inner) => {
                if at.next {
                    return Err(Diagnostic::error(node.span, "`next` inside of `next`"));
                }
                self.thing(inner, At { next: true, ..at })
            }
            _ => self.at(node, at).map(Thing::Value),
        }
    }

    /// A variable that is declared as `a[1]` or `a.b`.
    fn declared(&self, node: &Node, at: At) -> Option<Found<'a, 'w>> {
        if self.flat.composed.is_empty() {
            return None;
        }
        self.find(&node.path()?, at.instance)
    }

    fn found(&mut self, found: Found<'a, 'w>, at: At) -> Analysed<Thing<'a>> {
        Ok(match found {
            Found::Parameter(node, giver) => return self.definition(node, At { instance: giver, ..at }),
            Found::Symbol(Symbol::Define(node), instance) => return self.definition(node, At { instance, ..at }),
            Found::Symbol(Symbol::Cells(tree), _) => self.cells(tree.clone(), at.next)?,
            Found::Symbol(Symbol::Instance(number), _) => Thing::Instance(*number),
            Found::Symbol(Symbol::Instances(low, all), _) => Thing::Instances(*low, all.clone()),
        })
    }

    fn member_thing(&mut self, instance: usize, name: &Name, next: bool) -> Analysed<Thing<'a>> {
        if name.text == "running" && self.selector.is_some() && self.find("running", instance).is_none() {
            return self.running(instance, next, name.span).map(Thing::Value);
        }
        let found = self.member(instance, name)?;
        self.found(found, At { instance, next })
    }

    /// A name that is declared in no module: a symbol, or whether the process runs.
    fn other_name(&mut self, name: &str, span: Span, at: At) -> Analysed<Lowered> {
        if let Some(code) = self.flat.codes.get(name) {
            return Ok(Lowered::one(Ty::Symbolic, Expr::Const(*code)));
        }
        if name == "running" && self.selector.is_some() {
            return self.running(at.instance, at.next, span);
        }
        if name == SELECTOR && !at.next && self.selector.is_some() {
            return Ok(self.selected());
        }
        Err(self.undefined(name, span, at.instance))
    }

    fn running(&self, instance: usize, next: bool, span: Span) -> Analysed<Lowered> {
        if next {
            return Err(Diagnostic::error(span, "`running` has no next value: it is an input"));
        }
        let condition = self.runs(self.flat.instances[instance].process);
        Ok(Lowered { reads_input: true, ..Lowered::one(Ty::Boolean, condition) })
    }

    /// The name of the process that runs.
    fn selected(&self) -> Lowered {
        let codes = self.flat.processes.iter().filter_map(|name| self.flat.codes.get(name).copied());
        let value = Val::Coded(self.selector_value().unwrap_or(Expr::Const(0)), codes.collect());
        Lowered { reads_input: true, ..Lowered::of(Ty::Symbolic, value) }
    }

    fn selector_value(&self) -> Option<Expr> {
        let most = self.flat.processes.len() as i64 - 1;
        let scalar = Scalar::Range { low: 0, high: most, overflow: Overflow::Fault };
        let variable = self.selector?;
        Some(Expr::Read(Place { scope: Scope::Global, variable, offset: 0, indices: Vec::new(), scalar }))
    }

    /// That this process runs.
    pub fn runs(&self, process: usize) -> Expr {
        match self.selector_value() {
            Some(selected) => build::binary(BinaryOp::Equal, selected, Expr::Const(process as i64)),
            None => Expr::TRUE,
        }
    }

    fn cells(&self, tree: Tree, next: bool) -> Analysed<Thing<'a>> {
        match tree {
            Tree::Cell(number) => self.read(number, next).map(Thing::Value),
            tree @ Tree::Array(..) => Ok(Thing::Cells(if next { return Ok(self.next_cells(tree)) } else { tree })),
        }
    }

    /// Arrays of next values are marked by what they consist of.
    fn next_cells(&self, tree: Tree) -> Thing<'a> {
        match tree {
            Tree::Array(low, trees) => {
                let index = Lowered::one(Ty::Integer, Expr::Const(0));
                let all = trees.into_iter().enumerate();
                let inner = all.map(|(at, tree)| (low + at as i64, self.next_cells(tree))).collect();
                Thing::Chosen(Lowered { is_set: true, ..index }, inner)
            }
            Tree::Cell(number) => match self.read(number, true) {
                Ok(value) => Thing::Value(value),
                Err(_) => Thing::Cells(Tree::Cell(number)),
            },
        }
    }

    /// The value of a variable.
    pub fn read(&self, number: usize, next: bool) -> Analysed<Lowered> {
        let cell = &self.flat.cells[number];
        let is_input = cell.section == Section::Input;
        if next && is_input {
            let message = format!("the input `{}` has no next value", cell.name);
            return Err(Diagnostic::error(cell.span, message));
        }
        let place = place(number, &cell.domain);
        let expr = if next { Expr::Next(place) } else { Expr::Read(place) };
        let mut lowered = match &cell.domain {
            Domain::Boolean => Lowered::one(Ty::Boolean, expr),
            Domain::Range(..) => Lowered::one(Ty::Integer, expr),
            Domain::Word { bits, signed } => Lowered::one(Ty::Word { bits: *bits, signed: *signed }, expr),
            Domain::Values(codes) => {
                let is_number = codes.iter().all(|code| *code < super::flatten::SYMBOLS);
                let value = Val::Coded(expr, codes.clone());
                if is_number { Lowered::one(Ty::Integer, value.plain()) } else { Lowered::of(Ty::Symbolic, value) }
            }
        };
        lowered.reads_input = is_input;
        lowered.reads_next = next;
        Ok(lowered)
    }

    fn indexed(&mut self, thing: Thing<'a>, base: &Node, index: &'a Node, at: At) -> Analysed<Thing<'a>> {
        let position = self.at(index, at)?;
        if position.ty != Ty::Integer {
            return Err(expected(index, "an index, which is an integer", position.ty));
        }
        let known = match position.single() {
            Some(Val::Plain(value)) => value.constant(),
            _ => None,
        };
        self.select(thing, &position, known, base.span, index.span)
    }

    fn select(
        &mut self,
        thing: Thing<'a>,
        position: &Lowered,
        known: Option<i64>,
        base: Span,
        span: Span,
    ) -> Analysed<Thing<'a>> {
        let outside = |number: i64, low: i64, high: i64| {
            Err(Diagnostic::error(span, format!("the index {number} is outside of {low}..{high}")))
        };
        let elements = match thing {
            // An array inside of an array, of which an index has chosen one.
            Thing::Chosen(outer, inner) if !outer.is_set => {
                let mut chosen = Vec::new();
                for (number, thing) in inner {
                    chosen.push((number, self.select(thing, position, known, base, span)?));
                }
                return Ok(Thing::Chosen(outer, chosen));
            }
            thing => self.elements(thing, base)?,
        };
        let Some(number) = known else {
            return Ok(Thing::Chosen(Lowered { is_set: false, ..position.clone() }, elements));
        };
        let (low, high) = (elements[0].0, elements[elements.len() - 1].0);
        match elements.into_iter().find(|(at, _)| *at == number) {
            Some((_, thing)) => Ok(thing),
            None => outside(number, low, high),
        }
    }

    /// The elements of an array, with their indices.
    fn elements(&mut self, thing: Thing<'a>, base: Span) -> Analysed<Vec<(i64, Thing<'a>)>> {
        Ok(match thing {
            Thing::Cells(Tree::Array(low, trees)) => {
                let all = trees.into_iter().enumerate();
                all.map(|(at, tree)| Ok((low + at as i64, self.cells(tree, false)?))).collect::<Analysed<_>>()?
            }
            Thing::Instances(low, all) => {
                all.into_iter().enumerate().map(|(at, one)| (low + at as i64, Thing::Instance(one))).collect()
            }
            Thing::Elements(nodes, instance, next) => {
                let mut elements = Vec::new();
                for (number, node) in nodes.iter().enumerate() {
                    let thing = match &node.kind {
                        Kind::Array(inner) => Thing::Elements(inner, instance, next),
                        _ => self.definition(node, At { instance, next })?,
                    };
                    elements.push((number as i64, thing));
                }
                elements
            }
            // The elements of an array of next values, which nothing has chosen from yet.
            Thing::Chosen(marker, elements) if marker.is_set => elements,
            Thing::Value(Lowered { ty: Ty::Word { .. }, .. }) => {
                return Err(
                    Diagnostic::error(base, "a word has no elements").with_help("bits are selected by `[high : low]`")
                );
            }
            _ => return Err(Diagnostic::error(base, "only arrays have an index")),
        })
    }

    /// The value of a thing.
    fn value(&mut self, thing: Thing<'a>, span: Span) -> Analysed<Lowered> {
        match thing {
            Thing::Value(value) => Ok(value),
            Thing::Cells(Tree::Cell(number)) => self.read(number, false),
            Thing::Cells(Tree::Array(..)) | Thing::Elements(..) | Thing::Instances(..) => {
                Err(Diagnostic::error(span, "an array where a single value is expected")
                    .with_help("select an element by its index"))
            }
            Thing::Instance(number) => {
                let name = &self.flat.instances[number].module;
                Err(Diagnostic::error(span, format!("an instance of module `{name}` where a value is expected")))
            }
            Thing::Chosen(marker, _) if marker.is_set => {
                Err(Diagnostic::error(span, "an array where a single value is expected"))
            }
            Thing::Chosen(position, elements) => {
                let Some(Val::Plain(at)) = position.single() else {
                    return Err(Diagnostic::error(span, "an index that is a set"));
                };
                let at = shared(at.clone());
                let mut branches = Vec::new();
                for (number, thing) in elements {
                    self.watch.step()?;
                    let condition = build::binary(BinaryOp::Equal, at.clone(), Expr::Const(number));
                    branches.push((condition, self.value(thing, span)?));
                }
                self.chosen(branches, span, None, Missing::Element).map(|lowered| lowered.flags(&[&position]))
            }
        }
    }

    // Definitions.

    /// The value of a definition or of a parameter, which is lowered once.
    fn definition(&mut self, node: &'a Node, at: At) -> Analysed<Thing<'a>> {
        match &node.kind {
            Kind::Array(elements) => return Ok(Thing::Elements(elements, at.instance, at.next)),
            // What may be an instance or an array is looked up again.
            Kind::Name(_) | Kind::Dot(..) | Kind::Index(..) | Kind::Itself => {
                if self.recursion >= MAX_RECURSION {
                    return Err(too_deep(node));
                }
                let key = (std::ptr::from_ref(node), at);
                if !self.open.insert(key) {
                    return Err(Diagnostic::error(node.span, "a definition that depends on itself"));
                }
                self.recursion += 1;
                let thing = self.thing(node, at);
                self.recursion -= 1;
                self.open.remove(&key);
                return thing;
            }
            _ => {}
        }
        let key = (std::ptr::from_ref(node), at);
        if !self.known.contains_key(&key) {
            let mut stack = vec![(node, at, false)];
            if let Err(error) = self.learn(&mut stack) {
                // What waits for it is wrong for the same reason, which is told once.
                for (node, at, _) in stack.into_iter().filter(|(_, _, is_ready)| *is_ready).chain([(node, at, true)]) {
                    let key = (std::ptr::from_ref(node), at);
                    self.open.remove(&key);
                    self.faulty.entry(key).or_insert_with(|| error.clone());
                }
                return Err(error);
            }
        }
        match self.known.get(&key) {
            Some(lowered) => Ok(Thing::Value(lowered.clone())),
            None => Err(too_deep(node)),
        }
    }

    /// Lowers the definitions on the stack after those that they use. What is left there is not known; those that are ready
    /// wait for others.
    fn learn(&mut self, stack: &mut Vec<(&'a Node, At, bool)>) -> Analysed<()> {
        while let Some((node, at, is_ready)) = stack.pop() {
            self.watch.step()?;
            let key = (std::ptr::from_ref(node), at);
            if let Some(error) = self.faulty.get(&key) {
                return Err(error.clone());
            }
            if is_ready {
                let lowered = self.at(node, at);
                self.open.remove(&key);
                let lowered = lowered?.kept();
                if lowered.alternatives.iter().any(|one| height_of(one) > MAX_HEIGHT) {
                    return Err(too_deep(node));
                }
                self.known.insert(key, lowered);
                continue;
            }
            if self.known.contains_key(&key) {
                continue;
            }
            if !self.open.insert(key) {
                return Err(Diagnostic::error(node.span, "a definition that depends on itself"));
            }
            stack.push((node, at, true));
            let mut uses = Vec::new();
            self.uses(node, at, &mut uses);
            for (used, at) in uses {
                let key = (std::ptr::from_ref(used), at);
                if self.open.contains(&key) {
                    return Err(Diagnostic::error(node.span, "a definition that depends on itself"));
                }
                if !self.known.contains_key(&key) {
                    stack.push((used, at, false));
                }
            }
        }
        Ok(())
    }

    /// The definitions that an expression names.
    fn uses(&self, node: &'a Node, at: At, out: &mut Vec<(&'a Node, At)>) {
        match &node.kind {
            Kind::Name(_) | Kind::Dot(..) | Kind::Itself => {
                if let Some((used, at)) = self.used(node, at, 0) {
                    out.push((used, at));
                }
            }
            Kind::Next(inner) => self.uses(inner, At { next: true, ..at }, out),
            _ => node.children(&mut |child| self.uses(child, at, out)),
        }
    }

    /// The definition that a path leads to.
    fn used(&self, node: &'a Node, at: At, depth: u32) -> Option<(&'a Node, At)> {
        if depth > MAX_RECURSION {
            return None;
        }
        let found = match &node.kind {
            Kind::Name(name) => self.find(name, at.instance)?,
            Kind::Dot(base, name) => {
                let instance = self.used_instance(base, at.instance, depth + 1)?;
                self.find(&name.text, instance)?
            }
            _ => return None,
        };
        let (node, instance) = match found {
            Found::Parameter(node, giver) => (node, giver),
            Found::Symbol(Symbol::Define(node), declaring) => (*node, declaring),
            Found::Symbol(..) => return None,
        };
        let at = At { instance, ..at };
        match &node.kind {
            Kind::Name(_) | Kind::Dot(..) => self.used(node, at, depth + 1),
            Kind::Array(_) | Kind::Index(..) | Kind::Itself => None,
            _ => Some((node, at)),
        }
    }

    fn used_instance(&self, node: &'a Node, instance: usize, depth: u32) -> Option<usize> {
        if depth > MAX_RECURSION {
            return None;
        }
        let found = match &node.kind {
            Kind::Itself => return Some(instance),
            Kind::Name(name) => self.find(name, instance)?,
            Kind::Dot(base, name) => {
                let instance = self.used_instance(base, instance, depth + 1)?;
                self.find(&name.text, instance)?
            }
            _ => return None,
        };
        match found {
            Found::Symbol(Symbol::Instance(number), _) => Some(*number),
            Found::Symbol(Symbol::Define(node), declaring) => self.used_instance(node, declaring, depth + 1),
            Found::Parameter(node, giver) => self.used_instance(node, giver, depth + 1),
            Found::Symbol(..) => None,
        }
    }

    // Operators.

    /// What is high is kept as shared parts, between which no part is high: engines go along these without recursion.
    fn at(&mut self, node: &'a Node, at: At) -> Analysed<Lowered> {
        let lowered = self.operation(node, at)?;
        Ok(if lowered.alternatives.iter().any(is_high) { lowered.flat() } else { lowered })
    }

    fn operation(&mut self, node: &'a Node, at: At) -> Analysed<Lowered> {
        self.watch.step()?;
        match &node.kind {
            Kind::Boolean(value) => Ok(Lowered::one(Ty::Boolean, Expr::Const((*value).into()))),
            Kind::Number(value) => Ok(Lowered::one(Ty::Integer, Expr::Const(*value))),
            Kind::Word { value, bits, signed } => {
                Ok(Lowered::one(Ty::Word { bits: *bits, signed: *signed }, Expr::Const(*value)))
            }
            Kind::Name(_) | Kind::Itself | Kind::Dot(..) | Kind::Index(..) => {
                let thing = self.thing(node, at)?;
                // An instance and a symbol may have the same name.
                let code = match (&thing, &node.kind) {
                    (Thing::Instance(_), Kind::Name(name)) => self.flat.codes.get(name),
                    // So may a process, which is a value of the selector.
                    (Thing::Instance(number), _) => self.flat.codes.get(&self.flat.instances[*number].name),
                    _ => None,
                };
                match code {
                    Some(code) => Ok(Lowered::one(Ty::Symbolic, Expr::Const(*code))),
                    None => self.value(thing, node.span),
                }
            }
            Kind::Next(inner) => {
                if at.next {
                    return Err(Diagnostic::error(node.span, "`next` inside of `next`"));
                }
                let lowered = self.at(inner, At { next: true, ..at })?;
                Ok(Lowered { reads_next: true, ..lowered })
            }
            Kind::Unary(op, x) => {
                let x = (self.at(x, at)?, &**x);
                self.unary(*op, x)
            }
            Kind::Binary(Binary::In, x, y) => {
                let (a, b) = (self.at(x, at)?, self.at(y, at)?);
                self.membership(&a, &b, x, y)
            }
            Kind::Binary(op, x, y) => {
                let (a, b) = (self.at(x, at)?, self.at(y, at)?);
                self.binary(*op, (a, x), (b, y), node)
            }
            Kind::Chain(Chain::Union, operands) | Kind::Set(operands) => self.union(operands, at, node),
            Kind::Chain(op, operands) => self.chain(*op, operands, at, node),
            Kind::Range(low, high) => self.range(low, high, at, node),
            Kind::Conditional(c, x, y) => {
                let (c, x, y) = (self.at(c, at)?, (self.at(x, at)?, &**x), (self.at(y, at)?, &**y));
                let Kind::Conditional(condition, ..) = &node.kind else { return Err(too_deep(node)) };
                let condition_expr = self.truth(&c, condition)?;
                agree(&[(x.0.ty, x.1), (y.0.ty, y.1)])?;
                let branches = vec![(condition_expr, x.0), (Expr::TRUE, y.0)];
                Ok(self.chosen(branches, node.span, None, Missing::Case)?.flags(&[&c]))
            }
            Kind::Case(branches) => self.case(branches, at, node),
            Kind::Call(function, arguments) => self.call(*function, arguments, at, node),
            Kind::Bits(x, high, low) => {
                let (a, high_value, low_value) = (self.at(x, at)?, self.constant(high, at)?, self.constant(low, at)?);
                let Ty::Word { bits, signed } = a.ty else { return Err(expected(x, "a word", a.ty)) };
                let (Some(h), Some(l)) = (high_value, low_value) else {
                    return Err(Diagnostic::error(high.span, "the bits to select must be constants"));
                };
                if !(0..=h).contains(&l) || h >= i64::from(bits) {
                    let message = format!("bits {h} to {l} of a word with the bits {} to 0", bits - 1);
                    return Err(Diagnostic::error(node.span, message));
                }
                let width = (h - l + 1) as u32;
                let ty = Ty::Word { bits: width, signed: false };
                Ok(map(ty, &a, &|x| words::select(x, bits, signed, l as u32, width)))
            }
            Kind::Array(_) => Err(Diagnostic::error(node.span, "an array where a single value is expected")),
            Kind::Prefix(..) | Kind::Infix(..) | Kind::Quantified(..) | Kind::Until(..) => {
                Err(Diagnostic::error(node.span, "a temporal operator where a value is expected")
                    .with_help("these are for `SPEC`, `LTLSPEC` and `CTLSPEC`"))
            }
        }
    }

    /// Operands of a conjunction or a disjunction, those that may have no value last.
    fn failing_last(&self, operands: Vec<Expr>) -> Vec<Expr> {
        match &mut *self.failing.borrow_mut() {
            Some(failing) => failing.last(operands),
            None => operands,
        }
    }

    /// From here on, some expressions may have no value.
    fn note_failing(&self) {
        self.failing.borrow_mut().get_or_insert_default();
    }

    fn truth(&self, lowered: &Lowered, node: &Node) -> Analysed<Expr> {
        if lowered.ty != Ty::Boolean {
            return Err(expected(node, "a truth value", lowered.ty));
        }
        match lowered.single() {
            Some(value) => Ok(value.plain()),
            None => Err(Diagnostic::error(node.span, "expected one truth value, but this is a set")),
        }
    }

    fn unary(&self, op: Unary, (x, node): (Lowered, &Node)) -> Analysed<Lowered> {
        no_set(&x, node)?;
        match (op, x.ty) {
            (Unary::Not, Ty::Boolean) => Ok(map(Ty::Boolean, &x, &not)),
            (Unary::Not, Ty::Word { bits, signed }) => Ok(map(x.ty, &x, &|x| words::complement(x, bits, signed))),
            (Unary::Not, ty) => Err(expected(node, "a truth value or a word", ty)),
            (Unary::Negate, Ty::Integer) => Ok(map(Ty::Integer, &x, &|x| match x {
                Expr::Const(value) => Expr::Const(-value),
                x => build::binary(BinaryOp::Subtract, Expr::Const(0), x),
            })),
            (Unary::Negate, Ty::Word { bits, signed }) => Ok(map(x.ty, &x, &|x| words::negate(x, bits, signed))),
            (Unary::Negate, ty) => Err(expected(node, "an integer or a word", ty)),
        }
    }

    fn binary(&self, op: Binary, (a, x): (Lowered, &Node), (b, y): (Lowered, &Node), node: &Node) -> Analysed<Lowered> {
        no_set(&a, x)?;
        no_set(&b, y)?;
        match op {
            Binary::Equal | Binary::NotEqual => {
                agree(&[(a.ty, x), (b.ty, y)])?;
                let equal = self.combined(Ty::Boolean, &a, &b, node, &|x, y| x.equals(y))?;
                Ok(if op == Binary::Equal { equal } else { map(Ty::Boolean, &equal, &not) })
            }
            Binary::Xor | Binary::Xnor | Binary::Implies | Binary::Iff => match (a.ty, b.ty) {
                (Ty::Boolean, Ty::Boolean) => self.combine(Ty::Boolean, &a, &b, node, &|x, y| match op {
                    Binary::Xor => build::binary(BinaryOp::NotEqual, x, y),
                    Binary::Implies => balanced(self.failing_last(vec![not(x), y]), Expr::FALSE, &or),
                    _ => build::binary(BinaryOp::Equal, x, y),
                }),
                (Ty::Word { bits, signed }, other) if other == a.ty => self.combine(a.ty, &a, &b, node, &|x, y| {
                    let complement = |x| words::complement(x, bits, signed);
                    match op {
                        Binary::Xor => build::binary(BinaryOp::BitXor, x, y),
                        Binary::Implies => build::binary(BinaryOp::BitOr, complement(x), y),
                        _ => complement(build::binary(BinaryOp::BitXor, x, y)),
                    }
                }),
                (Ty::Boolean | Ty::Word { .. }, ty) => {
                    Err(expected(y, &format!("a value of type {}", a.ty.name()), ty))
                }
                (ty, _) => Err(expected(x, "a truth value or a word", ty)),
            },
            Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
                let op = match op {
                    Binary::Less => BinaryOp::Less,
                    Binary::LessEqual => BinaryOp::LessEqual,
                    Binary::Greater => BinaryOp::Greater,
                    _ => BinaryOp::GreaterEqual,
                };
                numbers(&a, &b, x, y)?;
                self.combine(Ty::Boolean, &a, &b, node, &|x, y| build::binary(op, x, y))
            }
            Binary::Subtract | Binary::Divide | Binary::Mod => {
                let ty = numbers(&a, &b, x, y)?;
                if op != Binary::Subtract {
                    self.note_failing();
                }
                self.combine(ty, &a, &b, node, &|x, y| arithmetic(op, ty, x, y))
            }
            Binary::ShiftLeft | Binary::ShiftRight => {
                let Ty::Word { bits, signed } = a.ty else { return Err(expected(x, "a word", a.ty)) };
                if !matches!(b.ty, Ty::Integer | Ty::Word { signed: false, .. }) {
                    return Err(expected(y, "a number of bits: an integer or an unsigned word", b.ty));
                }
                self.note_failing();
                self.combine(a.ty, &a, &b, node, &|x, y| words::shift(op == Binary::ShiftLeft, x, y, bits, signed))
            }
            Binary::In => Err(too_deep(node)),
        }
    }

    fn chain(&mut self, op: Chain, operands: &'a [Node], at: At, node: &Node) -> Analysed<Lowered> {
        let mut lowered = Vec::with_capacity(operands.len());
        for operand in operands {
            lowered.push(self.at(operand, at)?);
        }
        lowered.iter().zip(operands).try_for_each(|(one, node)| no_set(one, node))?;
        let first = lowered[0].ty;
        let ty = match op {
            Chain::And | Chain::Or => {
                for (operand, node) in lowered.iter().zip(operands) {
                    match (first, operand.ty) {
                        (Ty::Boolean, Ty::Boolean) => {}
                        (Ty::Word { .. }, ty) if ty == first => {}
                        (Ty::Boolean, ty) => return Err(expected(node, "a truth value", ty)),
                        (Ty::Word { .. }, ty) => {
                            return Err(expected(node, &format!("a value of type {}", first.name()), ty));
                        }
                        (ty, _) => return Err(expected(node, "a truth value or a word", ty)),
                    }
                }
                first
            }
            Chain::Add | Chain::Multiply => {
                for (operand, node) in lowered.iter().zip(operands) {
                    numbers(&lowered[0], operand, &operands[0], node)?;
                }
                first
            }
            Chain::Concatenate => return self.concatenation(&lowered, operands, node),
            Chain::Union => first,
        };
        // Long chains of truth values become flat trees; arithmetic is done from left to right.
        if lowered.iter().all(|one| one.single().is_some()) && matches!(op, Chain::And | Chain::Or) {
            let values: Vec<Expr> = lowered.iter().filter_map(|one| one.single().map(Val::plain)).collect();
            let values = if ty == Ty::Boolean { self.failing_last(values) } else { values };
            let value = match (op, ty) {
                (Chain::And, Ty::Boolean) => balanced(values, Expr::TRUE, &and),
                (Chain::Or, Ty::Boolean) => balanced(values, Expr::FALSE, &or),
                (Chain::And, _) => balanced(values, Expr::TRUE, &|x, y| build::binary(BinaryOp::BitAnd, x, y)),
                _ => balanced(values, Expr::TRUE, &|x, y| build::binary(BinaryOp::BitOr, x, y)),
            };
            return Ok(Lowered::one(ty, value).flags(&lowered.iter().collect::<Vec<_>>()));
        }
        let mut all = lowered.into_iter();
        let mut result = all.next().ok_or_else(|| too_deep(node))?;
        for next in all {
            result = self.combine(ty, &result, &next, node, &|x, y| match (op, ty) {
                (Chain::And, Ty::Boolean) => and(x, y),
                (Chain::Or, Ty::Boolean) => or(x, y),
                (Chain::And, _) => build::binary(BinaryOp::BitAnd, x, y),
                (Chain::Or, _) => build::binary(BinaryOp::BitOr, x, y),
                (Chain::Add, Ty::Word { bits, signed }) => {
                    words::wrap(build::binary(BinaryOp::Add, x, y), bits, signed)
                }
                (Chain::Multiply, Ty::Word { bits, signed }) => words::multiply(x, y, bits, signed),
                (Chain::Multiply, _) => build::binary(BinaryOp::Multiply, x, y),
                _ => build::binary(BinaryOp::Add, x, y),
            })?;
        }
        Ok(result)
    }

    fn concatenation(&self, lowered: &[Lowered], nodes: &[Node], node: &Node) -> Analysed<Lowered> {
        let mut result: Option<(Lowered, u32)> = None;
        for (operand, own) in lowered.iter().zip(nodes) {
            let Ty::Word { bits, signed } = operand.ty else { return Err(expected(own, "a word", operand.ty)) };
            let unsigned = map(Ty::Word { bits, signed: false }, operand, &|x| words::unsigned(x, bits, signed));
            result = Some(match result {
                None => (unsigned, bits),
                Some((before, width)) => {
                    let all = width + bits;
                    if all > super::parser::MAX_BITS {
                        let message = format!("a word may have 1 to {} bits, not {all}", super::parser::MAX_BITS);
                        return Err(Diagnostic::error(node.span, message));
                    }
                    let ty = Ty::Word { bits: all, signed: false };
                    let joined = self.combine(ty, &before, &unsigned, node, &|x, y| {
                        let high = build::binary(BinaryOp::Multiply, x, Expr::Const(1 << bits));
                        build::binary(BinaryOp::Add, high, y)
                    })?;
                    (joined, all)
                }
            });
        }
        result.map(|(lowered, _)| lowered).ok_or_else(|| too_deep(node))
    }

    fn union(&mut self, operands: &'a [Node], at: At, node: &Node) -> Analysed<Lowered> {
        let mut lowered = Vec::new();
        for operand in operands {
            lowered.push((self.at(operand, at)?, operand));
        }
        if let [(single, _)] = &lowered[..] {
            return Ok(single.clone());
        }
        let ty = agree(&lowered.iter().map(|(lowered, node)| (lowered.ty, *node)).collect::<Vec<_>>())?;
        if let Ty::Word { .. } = ty {
            let help = "the values of a set are truth values, integers or symbols";
            return Err(Diagnostic::error(node.span, "a set of words").with_help(help));
        }
        let mut alternatives: Vec<Alternative> = Vec::new();
        let mut seen = HashSet::new();
        for (one, _) in &lowered {
            for alternative in &one.alternatives {
                if let (None, Val::Plain(Expr::Const(code))) = (&alternative.when, &alternative.value)
                    && !seen.insert(*code)
                {
                    continue;
                }
                alternatives.push(alternative.clone());
            }
        }
        self.few(alternatives.len(), node)?;
        let of: Vec<&Lowered> = lowered.iter().map(|(lowered, _)| lowered).collect();
        let result = Lowered { ty, alternatives, is_set: true, reads_input: false, reads_next: false };
        Ok(result.flags(&of))
    }

    fn few(&self, count: usize, node: &Node) -> Analysed<()> {
        if count <= MAX_ALTERNATIVES {
            return Ok(());
        }
        Err(Diagnostic::error(node.span, format!("a set of more than {MAX_ALTERNATIVES} alternatives")))
    }

    fn range(&mut self, low: &'a Node, high: &'a Node, at: At, node: &Node) -> Analysed<Lowered> {
        let (Some(least), Some(most)) = (self.constant(low, at)?, self.constant(high, at)?) else {
            return Err(Diagnostic::error(node.span, "the bounds of a range must be constant integers"));
        };
        if least > most {
            return Err(Diagnostic::error(node.span, format!("the range {least}..{most} is empty")));
        }
        self.few(usize::try_from(most - least + 1).unwrap_or(usize::MAX), node)?;
        let alternatives =
            (least..=most).map(|value| Alternative { when: None, value: Val::Plain(Expr::Const(value)) });
        Ok(Lowered { is_set: true, alternatives: alternatives.collect(), ..Lowered::one(Ty::Integer, Expr::Const(0)) })
    }

    /// `a in b`: every value of `a` is one of `b`.
    fn membership(&self, a: &Lowered, b: &Lowered, x: &Node, y: &Node) -> Analysed<Lowered> {
        agree(&[(a.ty, x), (b.ty, y)])?;
        let holds = |one: &Alternative| {
            let same = b.alternatives.iter().map(|other| {
                let equal = one.value.equals(&other.value);
                other.when.clone().map_or(equal.clone(), |when| and(when, equal))
            });
            let is_in = balanced(same.collect(), Expr::FALSE, &or);
            one.when.clone().map_or(is_in.clone(), |when| or(not(when), is_in))
        };
        let all = balanced(a.alternatives.iter().map(holds).collect(), Expr::TRUE, &and);
        let mut result = Lowered::one(Ty::Boolean, all).flags(&[a, b]);
        result.is_set = false;
        Ok(result)
    }

    fn case(&mut self, branches: &'a [(Node, Node)], at: At, node: &Node) -> Analysed<Lowered> {
        let mut chosen = Vec::new();
        let mut conditions = Vec::new();
        let mut types = Vec::new();
        for (condition, value) in branches {
            let lowered = self.at(condition, at)?;
            let holds = self.truth(&lowered, condition)?;
            conditions.push(lowered);
            let lowered = self.at(value, at)?;
            types.push((lowered.ty, value));
            chosen.push((shared(holds), lowered));
        }
        let ty = agree(&types)?;
        let lowered = self.chosen(chosen, node.span, Some(ty), Missing::Case)?;
        Ok(lowered.flags(&conditions.iter().collect::<Vec<_>>()))
    }

    /// The first of these whose condition holds. That none does is a fault.
    fn chosen(&self, branches: Vec<(Expr, Lowered)>, span: Span, ty: Option<Ty>, why: Missing) -> Analysed<Lowered> {
        let mut kept: Vec<(Expr, Lowered)> = Vec::new();
        let mut is_complete = false;
        for (condition, lowered) in branches {
            if is_complete || condition == Expr::FALSE {
                continue;
            }
            is_complete = condition.constant().is_some_and(|value| value != 0);
            kept.push((if is_complete { Expr::TRUE } else { condition }, lowered));
        }
        let Some((_, first)) = kept.first() else {
            return Err(Diagnostic::error(span, "none of the conditions can hold"));
        };
        if !is_complete {
            self.note_failing();
        }
        let ty = ty.unwrap_or(first.ty);
        let is_symbolic = ty == Ty::Symbolic;
        let flags: Vec<Lowered> =
            kept.iter().map(|(_, lowered)| Lowered { alternatives: vec![], ..lowered.clone() }).collect();
        let flags: Vec<&Lowered> = flags.iter().collect();
        if kept.iter().all(|(_, lowered)| lowered.single().is_some()) {
            let values = kept.iter().filter_map(|(c, lowered)| Some((c.clone(), lowered.single()?.clone())));
            let values: Vec<(Expr, Val)> = values.collect();
            let value = match is_symbolic && values.len() <= 100 {
                true => symbolic_choice(values, is_complete, why),
                false => {
                    let mut values: Vec<(Expr, Expr)> = values.into_iter().map(|(c, x)| (c, x.plain())).collect();
                    let last = if is_complete { values.pop().map(|(_, x)| x) } else { None };
                    Val::Plain(first_of(values, last.unwrap_or_else(|| impossible(why))))
                }
            };
            return Ok(Lowered::of(ty, value).flags(&flags));
        }
        let mut alternatives = Vec::new();
        let mut none_before: Option<Expr> = None;
        for (condition, lowered) in kept.iter() {
            let condition = shared(condition.clone());
            let here = match none_before.clone() {
                Some(none) => shared(and(none, condition.clone())),
                None => condition.clone(),
            };
            for alternative in &lowered.alternatives {
                let when = alternative.when.clone().map_or(here.clone(), |when| and(here.clone(), when));
                let when = (when != Expr::TRUE).then_some(when);
                alternatives.push(Alternative { when, value: alternative.value.clone() });
            }
            none_before = Some(match none_before {
                Some(none) => shared(and(none, not(condition))),
                None => shared(not(condition)),
            });
        }
        if !is_complete {
            alternatives.push(Alternative { when: none_before, value: Val::Plain(impossible(why)) });
        }
        if alternatives.len() > MAX_ALTERNATIVES {
            return Err(Diagnostic::error(span, format!("a set of more than {MAX_ALTERNATIVES} alternatives")));
        }
        let result = Lowered { ty, alternatives, is_set: true, reads_input: false, reads_next: false };
        Ok(result.flags(&flags))
    }

    fn call(&mut self, function: Function, arguments: &'a [Node], at: At, node: &Node) -> Analysed<Lowered> {
        let wanted = match function {
            Function::Count => arguments.len().max(1),
            Function::Extend
            | Function::Resize
            | Function::UnsignedConstant
            | Function::SignedConstant
            | Function::Max
            | Function::Min => 2,
            _ => 1,
        };
        if arguments.len() != wanted {
            let message = format!("expected {wanted} argument{}", if wanted == 1 { "" } else { "s" });
            return Err(Diagnostic::error(node.span, format!("{message}, but {} given", arguments.len())));
        }
        let first = self.at(&arguments[0], at)?;
        let x = &arguments[0];
        let word = |lowered: &Lowered| match lowered.ty {
            Ty::Word { bits, signed } => Ok((bits, signed)),
            ty => Err(expected(x, "a word", ty)),
        };
        Ok(match function {
            Function::Bool => match first.ty {
                Ty::Boolean => first,
                Ty::Integer | Ty::Word { bits: 1, .. } => {
                    map(Ty::Boolean, &first, &|x| build::binary(BinaryOp::NotEqual, x, Expr::Const(0)))
                }
                ty => return Err(expected(x, "an integer or a word of one bit", ty)),
            },
            Function::Word1 => match first.ty {
                Ty::Boolean => map(Ty::Word { bits: 1, signed: false }, &first, &|x| x),
                ty => return Err(expected(x, "a truth value", ty)),
            },
            Function::Signed => {
                let (bits, signed) = word(&first)?;
                map(Ty::Word { bits, signed: true }, &first, &|x| words::signed(x, bits, signed))
            }
            Function::Unsigned => {
                let (bits, signed) = word(&first)?;
                map(Ty::Word { bits, signed: false }, &first, &|x| words::unsigned(x, bits, signed))
            }
            Function::Extend | Function::Resize => {
                let (bits, signed) = word(&first)?;
                let amount = self.constant(&arguments[1], at)?;
                let width =
                    amount.map(|amount| if function == Function::Extend { i64::from(bits) + amount } else { amount });
                let width = width.and_then(|width| u32::try_from(width).ok());
                let limits = if function == Function::Extend { bits } else { 1 };
                let Some(width) = width.filter(|width| (limits..=super::parser::MAX_BITS).contains(width)) else {
                    let most = super::parser::MAX_BITS;
                    let message = format!("expected a constant such that the word has 1 to {most} bits");
                    return Err(Diagnostic::error(arguments[1].span, message));
                };
                map(Ty::Word { bits: width, signed }, &first, &|x| words::resize(x, bits, width, signed))
            }
            Function::SizeOf => Lowered::one(Ty::Integer, Expr::Const(word(&first)?.0.into())),
            Function::ToInt => match first.ty {
                Ty::Word { .. } => map(Ty::Integer, &first, &|x| x),
                Ty::Integer => first,
                Ty::Boolean => map(Ty::Integer, &first, &|x| x),
                ty => return Err(expected(x, "a word", ty)),
            },
            Function::UnsignedConstant | Function::SignedConstant => {
                let (value, width) = (self.constant(x, at)?, self.constant(&arguments[1], at)?);
                let signed = function == Function::SignedConstant;
                let bits = width.and_then(|width| u32::try_from(width).ok());
                let bits = bits.filter(|bits| (1..=super::parser::MAX_BITS).contains(bits));
                let (Some(value), Some(bits)) = (value, bits) else {
                    let message = format!("expected constants: a value, and 1 to {} bits", super::parser::MAX_BITS);
                    return Err(Diagnostic::error(node.span, message));
                };
                let fits = if signed { words::fits(value, bits, true) } else { words::fits(value, bits, false) };
                if !fits {
                    return Err(Diagnostic::error(x.span, format!("{value} does not fit into {bits} bits")));
                }
                Lowered::one(Ty::Word { bits, signed }, Expr::Const(value))
            }
            Function::Count => {
                let mut sum = Vec::new();
                let mut of = Vec::new();
                for argument in arguments {
                    let lowered = self.at(argument, at)?;
                    sum.push(self.truth(&lowered, argument)?);
                    of.push(lowered);
                }
                let total = balanced(sum, Expr::Const(0), &|x, y| build::binary(BinaryOp::Add, x, y));
                Lowered::one(Ty::Integer, total).flags(&of.iter().collect::<Vec<_>>())
            }
            Function::Abs => {
                let ty = numbers(&first, &first, x, x)?;
                map(ty, &first, &|x| {
                    let x = shared(x);
                    let below = build::binary(BinaryOp::Less, x.clone(), Expr::Const(0));
                    let negative = build::binary(BinaryOp::Subtract, Expr::Const(0), x.clone());
                    conditional(below, negative, x)
                })
            }
            Function::Max | Function::Min => {
                let second = self.at(&arguments[1], at)?;
                let ty = numbers(&first, &second, x, &arguments[1])?;
                let op = if function == Function::Max { BinaryOp::GreaterEqual } else { BinaryOp::LessEqual };
                self.combine(ty, &first, &second, node, &|x, y| {
                    let (x, y) = (shared(x), shared(y));
                    conditional(build::binary(op, x.clone(), y.clone()), x, y)
                })?
            }
        })
    }

    /// An operator on all combinations of alternatives.
    fn combine(
        &self,
        ty: Ty,
        a: &Lowered,
        b: &Lowered,
        node: &Node,
        join: &dyn Fn(Expr, Expr) -> Expr,
    ) -> Analysed<Lowered> {
        self.combined(ty, a, b, node, &|x, y| join(x.plain(), y.plain()))
    }

    fn combined(
        &self,
        ty: Ty,
        a: &Lowered,
        b: &Lowered,
        node: &Node,
        join: &dyn Fn(&Val, &Val) -> Expr,
    ) -> Analysed<Lowered> {
        self.few(a.alternatives.len().saturating_mul(b.alternatives.len()), node)?;
        let mut alternatives = Vec::new();
        for one in &a.alternatives {
            for other in &b.alternatives {
                let when = match (one.when.clone(), other.when.clone()) {
                    (Some(x), Some(y)) => Some(and(x, y)),
                    (x, y) => x.or(y),
                };
                let value = Val::Plain(join(&one.value, &other.value));
                alternatives.push(Alternative { when, value });
            }
        }
        let result = Lowered { ty, alternatives, is_set: false, reads_input: false, reads_next: false };
        Ok(result.flags(&[a, b]))
    }
}

/// What a name stands for in the instance in which it is looked up.
#[derive(Clone, Copy)]
enum Found<'a, 'w> {
    Parameter(&'a Node, usize),
    /// With the instance that declares it.
    Symbol(&'w Symbol<'a>, usize),
}

fn symbolic_choice(mut values: Vec<(Expr, Val)>, is_complete: bool, why: Missing) -> Val {
    let last = if is_complete { values.pop().map(|(_, value)| value) } else { None };
    let last = last.unwrap_or_else(|| Val::Plain(impossible(why)));
    values.into_iter().rev().fold(last, |rest, (c, value)| match c {
        Expr::Const(0) => rest,
        Expr::Const(_) => value,
        c => Val::If(c, Rc::new(value), Rc::new(rest)),
    })
}

fn map(ty: Ty, a: &Lowered, change: &dyn Fn(Expr) -> Expr) -> Lowered {
    let alternatives = a
        .alternatives
        .iter()
        .map(|one| Alternative { when: one.when.clone(), value: Val::Plain(change(one.value.plain())) });
    Lowered { ty, alternatives: alternatives.collect(), ..a.clone() }
}

fn arithmetic(op: Binary, ty: Ty, x: Expr, y: Expr) -> Expr {
    let op = match op {
        Binary::Subtract => BinaryOp::Subtract,
        Binary::Divide => BinaryOp::Divide,
        _ => BinaryOp::Remainder,
    };
    let result = build::binary(op, x, y);
    match ty {
        Ty::Word { bits, signed } => words::wrap(result, bits, signed),
        _ => result,
    }
}

/// The common type of several values.
fn agree(types: &[(Ty, &Node)]) -> Analysed<Ty> {
    let Some((mut ty, _)) = types.first().copied() else { return Ok(Ty::Boolean) };
    for (other, node) in &types[1..] {
        ty = match (ty, *other) {
            (a, b) if a == b => a,
            (Ty::Integer | Ty::Symbolic, Ty::Integer | Ty::Symbolic) => Ty::Symbolic,
            (a, b) => {
                let error = expected(node, &format!("a value of type {}", a.name()), b);
                return Err(match (a, b) {
                    (Ty::Boolean, Ty::Integer) | (Ty::Integer, Ty::Boolean) => {
                        error.with_help("0 and 1 are no truth values: write `FALSE` and `TRUE`")
                    }
                    _ => error,
                });
            }
        };
    }
    Ok(ty)
}

/// Two operands that are integers, or words of one type.
fn numbers(a: &Lowered, b: &Lowered, x: &Node, y: &Node) -> Analysed<Ty> {
    match (a.ty, b.ty) {
        (Ty::Integer, Ty::Integer) => Ok(Ty::Integer),
        (Ty::Word { .. }, ty) if ty == a.ty => Ok(ty),
        (Ty::Integer | Ty::Word { .. }, ty) => Err(expected(y, &format!("a value of type {}", a.ty.name()), ty)),
        (ty, _) => Err(expected(x, "an integer or a word", ty)),
    }
}

/// Something else was expected.
pub fn expected(node: &Node, what: &str, found: Ty) -> Diagnostic {
    let error = Diagnostic::error(node.span, format!("expected {what}, but this is of type {}", found.name()));
    match (&node.kind, found) {
        (Kind::Number(0 | 1), Ty::Integer) if what.contains("truth") => {
            error.with_help("0 and 1 are no truth values: write `FALSE` and `TRUE`")
        }
        _ => error,
    }
}

/// A set has no place among the operands of an operator on values.
fn no_set(lowered: &Lowered, node: &Node) -> Analysed<()> {
    if !lowered.is_set {
        return Ok(());
    }
    let help = "whether a value is in a set is said by `in`";
    Err(Diagnostic::error(node.span, "expected one value, but this is a set").with_help(help))
}

fn too_deep(node: &Node) -> Diagnostic {
    Diagnostic::error(node.span, "definitions depend on each other too deeply here")
}

/// Whether it is time to share it. One operation adds far less than there is up to [`MAX_HEIGHT`].
fn is_high(alternative: &Alternative) -> bool {
    fn of(value: &Val, most: u32) -> bool {
        match value {
            Val::Plain(x) | Val::Coded(x, _) => build::is_higher(x, most),
            Val::If(c, x, y) => match most.checked_sub(1) {
                Some(most) => build::is_higher(c, most) || of(x, most) || of(y, most),
                None => true,
            },
        }
    }
    of(&alternative.value, HIGH) || alternative.when.as_ref().is_some_and(|when| build::is_higher(when, HIGH))
}

fn height_of(alternative: &Alternative) -> u32 {
    fn of(value: &Val) -> u32 {
        match value {
            Val::Plain(x) | Val::Coded(x, _) => build::height(x),
            Val::If(c, x, y) => 1 + build::height(c).max(of(x)).max(of(y)),
        }
    }
    of(&alternative.value).max(alternative.when.as_ref().map_or(0, build::height))
}

/// Where a cell is in the model, with the type that stores its domain.
pub fn place(number: usize, domain: &Domain) -> Place {
    let scalar = scalar(domain);
    Place { scope: Scope::Global, variable: VariableId::from(number), offset: 0, indices: Vec::new(), scalar }
}

/// The type of a cell.
pub fn scalar(domain: &Domain) -> Scalar {
    match domain {
        Domain::Boolean => Scalar::BOOL,
        Domain::Range(low, high) => Scalar::Range { low: *low, high: *high, overflow: Overflow::Fault },
        Domain::Values(codes) => Scalar::Range { low: 0, high: codes.len() as i64 - 1, overflow: Overflow::Fault },
        Domain::Word { bits, signed } => words::scalar(*bits, *signed),
    }
}
