//! A flattened model to a [`System`]: assignments become definitions of next values, constraints relations.
//!
//! A normal assignment `x := e` is a first value and a definition of the next one, in which all values are next ones. With
//! processes, an input says which of them runs; the assignments of the others keep their variables as they are, and what no
//! process assigns is free, as in NuSMV.

use ample_model::{
    Alternative, AtomTable, Coupling, Definition, Distance, Expr, Initial, NextValue, Notation, Overflow, Property,
    Question, Scalar, Source, Span, Synchronous, System, Temporal, Type, Variable, VariableId, VariableKind,
};

use super::ast::{Assignment, Item, Kind, Logic, Module, Node, Section, Specification, When};
use super::build::{self, Val, and, balanced, not, or, shared};
use super::expression::{Lowered as Value, Lowerer, Ty, expected, place, scalar};
use super::flatten::{Analysed, Domain, Flat, SELECTOR, SYMBOLS, flatten};
use super::formula::Formulas;
use super::range::{self, Wrong, WrongKind};
use crate::diagnostic::{Diagnostic, Rejected, Severity};
use crate::watch::Watch;

/// A model, and what the user should know of it.
#[derive(Debug)]
pub struct Lowered {
    /// The model.
    pub system: System,
    /// Warnings.
    pub warnings: Vec<Diagnostic>,
}

/// How deep an expression of the model may be.
const MAX_HEIGHT: u32 = 490;

/// Makes a system of modules.
pub fn lower(source: &Source, modules: &[Module], whole: Span, watch: &Watch<'_>) -> Result<Lowered, Rejected> {
    let rejected = |diagnostics| Rejected::new(vec![source.clone()], diagnostics);
    let flat = flatten(modules, whole, watch).map_err(rejected)?;
    let selector = (flat.processes.len() > 1).then(|| VariableId::from(flat.cells.len()));
    let lowerer = Lowerer::new(&flat, watch, selector);
    let parts = Synchronous { only_stated: true, observes_inputs: true, ..Synchronous::default() };
    let assigned = vec![Assigned::default(); flat.cells.len()];
    let (errors, warnings, properties) = (Vec::new(), Vec::new(), Vec::new());
    let compassion = None;
    let mut work =
        Lower { source, flat: &flat, lowerer, parts, assigned, properties, errors, warnings, compassion, watch };
    work.items();
    work.circles();
    work.warn();
    let variables = if work.errors.is_empty() { work.variables() } else { Vec::new() };
    let Lower { mut parts, properties, errors, mut warnings, .. } = work;
    if !errors.is_empty() {
        warnings.extend(errors);
        return Err(rejected(warnings));
    }
    parts.notations = notations(&flat);
    // What only assigns has a next state always.
    parts.infinite_runs = !parts.relations.is_empty() || !parts.invariant.is_empty();
    let mut system = System::new(&source.path, "smv");
    system.sources = vec![source.clone()];
    system.globals = variables;
    system.properties = properties;
    system.exact_types = true;
    system.coupling = Coupling::Synchronous(parts);
    match ample_model::check::check(&system) {
        Ok(()) => Ok(Lowered { system, warnings }),
        Err(problems) => {
            let of = |problem: &ample_model::check::Malformed| {
                let message = problem.to_string();
                Diagnostic { severity: Severity::Error, message, span: Some(whole), help: None }
            };
            Err(rejected(problems.iter().take(5).map(of).collect()))
        }
    }
}

/// How the values of the variables are written.
fn notations(flat: &Flat<'_>) -> Vec<Notation> {
    let of = |domain: &Domain| match domain {
        Domain::Boolean => Notation::Truth,
        Domain::Range(..) => Notation::Number,
        Domain::Values(codes) => Notation::Names(codes.iter().map(|code| flat.show(*code)).collect()),
        Domain::Word { bits, signed } => Notation::Word { bits: *bits as u8, signed: *signed },
    };
    let mut notations: Vec<Notation> = flat.cells.iter().map(|cell| of(&cell.domain)).collect();
    if flat.processes.len() > 1 {
        notations.push(Notation::Names(flat.processes.clone()));
    }
    notations
}

/// What is assigned to a cell.
#[derive(Clone, Default)]
struct Assigned {
    now: Option<(Value, Span)>,
    init: Option<(Value, Span)>,
    /// One for each process.
    next: Vec<(usize, Value, Span)>,
    /// The same as `now`, of next values.
    now_next: Option<Value>,
}

/// Where an expression stands: what it may read.
#[derive(Clone, Copy)]
struct May {
    what: &'static str,
    next: bool,
    input: bool,
}

struct Lower<'a, 'w> {
    source: &'w Source,
    flat: &'w Flat<'a>,
    lowerer: Lowerer<'a, 'w>,
    parts: Synchronous,
    assigned: Vec<Assigned>,
    properties: Vec<Property>,
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// Where the first `COMPASSION` is.
    compassion: Option<Span>,
    watch: &'w Watch<'w>,
}

impl<'a, 'w> Lower<'a, 'w> {
    fn items(&mut self) {
        let flat: &'w Flat<'a> = self.flat;
        for (number, instance) in flat.instances.iter().enumerate() {
            for item in &instance.items {
                if let Err(error) = self.item(item, number) {
                    self.fail(error);
                }
                if self.errors.len() >= 20 || self.watch.ended().is_some() {
                    return;
                }
            }
        }
    }

    /// What is wrong in a module is wrong in all its instances.
    fn fail(&mut self, error: Diagnostic) {
        if !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// What holds for a reason that the user may not know.
    fn warn(&mut self) {
        let branches = |property: &Property| matches!(property.question, Question::Ctl(_) | Question::Distance(_));
        if let Some(span) = self.compassion.filter(|_| self.properties.iter().any(branches)) {
            let message = "`COMPASSION` does not count for `CTLSPEC` and `COMPUTE`, as in NuSMV";
            self.warnings.push(Diagnostic::warning(span, message).with_help("write the specification as `LTLSPEC`"));
        }
    }

    fn item(&mut self, item: &'a Item, instance: usize) -> Analysed<()> {
        self.watch.step()?;
        match item {
            Item::Declaration(_) | Item::Constant(_) | Item::Isa(_) => Ok(()),
            // Its names and types are checked even if nobody uses it.
            Item::Define(_, node) => match &node.kind {
                Kind::Array(_) => Ok(()),
                Kind::Name(_) | Kind::Dot(..) | Kind::Index(..) | Kind::Itself => self.lowerer.resolve(node, instance),
                _ => self.lowerer.lower(node, instance).map(|_| ()),
            },
            Item::Assign(assignment) => self.assign(assignment, instance),
            Item::Init(node) => {
                let may = May { what: "INIT", next: false, input: false };
                let conjuncts = self.conjuncts(node, instance, may)?;
                self.parts.init.extend(conjuncts);
                Ok(())
            }
            Item::Invariant(node) => {
                let may = May { what: "INVAR", next: false, input: false };
                let conjuncts = self.conjuncts(node, instance, may)?;
                self.parts.invariant.extend(conjuncts);
                Ok(())
            }
            Item::Trans(node) => {
                let conjuncts = self.conjuncts(node, instance, May { what: "TRANS", next: true, input: true })?;
                self.parts.relations.extend(conjuncts);
                Ok(())
            }
            Item::Justice(node) => {
                let may = May { what: "FAIRNESS", next: false, input: true };
                let condition = self.condition(node, instance, may)?;
                self.parts.justice.push(condition);
                Ok(())
            }
            Item::Compassion(first, second) => {
                let may = May { what: "COMPASSION", next: false, input: true };
                let pair = (self.condition(first, instance, may)?, self.condition(second, instance, may)?);
                self.parts.compassion.push(pair);
                self.compassion.get_or_insert(first.span);
                Ok(())
            }
            Item::Specification(specification) => self.specification(specification, instance),
        }
    }

    fn allowed(&self, value: &Value, node: &Node, may: May) -> Analysed<()> {
        if value.reads_next && !may.next {
            return Err(Diagnostic::error(node.span, format!("`next` is not allowed in `{}`", may.what)));
        }
        if value.reads_input && !may.input {
            let message = format!("inputs are not allowed in `{}`, which speaks of states", may.what);
            return Err(Diagnostic::error(node.span, message));
        }
        Ok(())
    }

    fn condition(&mut self, node: &'a Node, instance: usize, may: May) -> Analysed<Expr> {
        let (condition, value) = self.lowerer.condition(node, instance)?;
        self.allowed(&value, node, may)?;
        self.possible(None, &condition, None, node.span, None)?;
        Ok(condition)
    }

    /// The conjuncts of a condition.
    fn conjuncts(&mut self, node: &'a Node, instance: usize, may: May) -> Analysed<Vec<Expr>> {
        let mut conjuncts = Vec::new();
        let mut open = vec![node];
        while let Some(part) = open.pop() {
            if let Kind::Chain(super::ast::Chain::And, operands) = &part.kind {
                open.extend(operands.iter().rev());
                continue;
            }
            let condition = self.conjunct(part, instance, may)?;
            if let Err(error) = self.possible(None, &condition, None, part.span, None) {
                // It may have no value where another conjunct is false.
                let condition = self.conjunct(node, instance, may)?;
                let is_possible = self.possible(None, &condition, None, node.span, None).is_ok();
                return if is_possible { Ok(vec![condition]) } else { Err(error) };
            }
            if condition != Expr::TRUE {
                conjuncts.push(condition);
            }
        }
        Ok(conjuncts)
    }

    /// A condition as it is. One that is a set is satisfied if one of its values is true.
    fn conjunct(&mut self, node: &'a Node, instance: usize, may: May) -> Analysed<Expr> {
        let value = self.lowerer.lower(node, instance)?;
        if value.ty != Ty::Boolean {
            return Err(expected(node, "a truth value", value.ty));
        }
        self.allowed(&value, node, may)?;
        let holds = |one: &super::expression::Alternative| {
            let holds = one.value.plain();
            one.when.clone().map_or(holds.clone(), |when| and(when, holds))
        };
        Ok(balanced(value.alternatives.iter().map(holds).collect(), Expr::FALSE, &or))
    }

    fn assign(&mut self, assignment: &'a Assignment, instance: usize) -> Analysed<()> {
        let tree = self.lowerer.tree_of(&assignment.target, instance)?;
        let values = self.lowerer.values_for(&tree, &assignment.value, instance, false)?;
        let nexts = match assignment.when {
            When::Now => self.lowerer.values_for(&tree, &assignment.value, instance, true)?,
            _ => Vec::new(),
        };
        let mut nexts = nexts.into_iter().map(|(_, next)| next);
        for (cell, value) in values {
            self.assign_cell(assignment, instance, cell, value, nexts.next())?;
        }
        Ok(())
    }

    /// Assigns one cell; `now_next` is what a normal assignment says of next values.
    fn assign_cell(
        &mut self,
        assignment: &'a Assignment,
        instance: usize,
        cell: usize,
        value: Value,
        now_next: Option<Value>,
    ) -> Analysed<()> {
        let of = &self.flat.cells[cell];
        let name = of.name.clone();
        let wrong = |message: String| Err(Diagnostic::error(assignment.target.span, message));
        match (of.section, assignment.when) {
            (Section::Input, _) => return wrong(format!("the input `{name}` cannot be assigned")),
            (Section::Frozen, When::Next | When::Now) => {
                return wrong(format!("`{name}` is frozen: only its first value can be assigned"));
            }
            _ => {}
        }
        self.fits(&value, &of.domain, &assignment.value, &name)?;
        let may = match assignment.when {
            When::Now => May { what: "the assignment of a current value", next: false, input: false },
            When::Init => May { what: "init", next: false, input: false },
            When::Next => May { what: "next", next: true, input: true },
        };
        self.allowed(&value, &assignment.value, may)?;
        for one in &value.alternatives {
            let stored = stored(&one.value, &of.domain);
            self.possible(one.when.as_ref(), &stored, Some(scalar(&of.domain)), assignment.value.span, Some(cell))?;
        }
        let process = self.flat.instances[instance].process;
        let assigned = &mut self.assigned[cell];
        let span = assignment.span;
        let twice = match assignment.when {
            When::Now => assigned.now.is_some() || assigned.init.is_some() || !assigned.next.is_empty(),
            When::Init => assigned.now.is_some() || assigned.init.is_some(),
            When::Next => assigned.now.is_some() || assigned.next.iter().any(|(other, ..)| *other == process),
        };
        if twice {
            return wrong(format!("`{name}` is assigned twice"));
        }
        match assignment.when {
            When::Now => (assigned.now, assigned.now_next) = (Some((value, span)), now_next),
            When::Init => assigned.init = Some((value, span)),
            When::Next => assigned.next.push((process, value, span)),
        }
        Ok(())
    }

    /// The type of the value is that of the variable.
    fn fits(&self, value: &Value, domain: &Domain, node: &Node, name: &str) -> Analysed<()> {
        let fits = match (domain, value.ty) {
            (Domain::Boolean, ty) => ty == Ty::Boolean,
            (Domain::Range(..), ty) => ty == Ty::Integer,
            (Domain::Values(codes), Ty::Integer) => codes.iter().any(|code| *code < SYMBOLS),
            (Domain::Values(codes), ty) => ty == Ty::Symbolic && codes.iter().any(|code| *code >= SYMBOLS),
            (Domain::Word { bits, signed }, ty) => ty == Ty::Word { bits: *bits, signed: *signed },
        };
        if fits {
            return Ok(());
        }
        let what = match domain {
            Domain::Boolean => "boolean".into(),
            Domain::Range(low, high) => format!("{low}..{high}"),
            Domain::Values(codes) => self.names(codes),
            Domain::Word { bits, signed } => Ty::Word { bits: *bits, signed: *signed }.name(),
        };
        let found = value.ty.name();
        let error = Diagnostic::error(node.span, format!("`{name}` is of type {what}, but this is of type {found}"));
        Err(match (domain, value.ty) {
            (Domain::Boolean, Ty::Integer) => error.with_help("0 and 1 are no truth values: write `FALSE` and `TRUE`"),
            _ => error,
        })
    }

    fn names(&self, codes: &[i64]) -> String {
        let mut names: Vec<String> = codes.iter().take(8).map(|code| self.flat.show(*code)).collect();
        if codes.len() > 8 {
            names.push("…".into());
        }
        format!("{{{}}}", names.join(", "))
    }

    /// Refuses an expression that has no value, or one that does not fit, for some values of the variables.
    fn possible(
        &mut self,
        when: Option<&Expr>,
        value: &Expr,
        scalar: Option<Scalar>,
        span: Span,
        target: Option<usize>,
    ) -> Analysed<()> {
        if build::height(value) > MAX_HEIGHT {
            return Err(Diagnostic::error(span, "this expression is too deep").with_help("give names to its parts"));
        }
        let Some(Wrong { kind, values }) = range::find(when, value, scalar, self.watch)? else { return Ok(()) };
        let shown: Vec<String> = values.iter().map(|(variable, value)| self.shown(*variable, *value)).collect();
        let condition = if shown.is_empty() { String::new() } else { format!(" if {}", shown.join(", ")) };
        let message = match (kind, target) {
            (WrongKind::Case, _) => "the conditions of the `case` are not exhaustive".to_owned(),
            (WrongKind::Element, _) => "an index is outside of its array".to_owned(),
            (WrongKind::Shift, _) => "a shift by more bits than the word has".to_owned(),
            (WrongKind::Division, _) => "a division by zero".to_owned(),
            (WrongKind::Overflow, _) => "a number beyond 64 bits".to_owned(),
            (WrongKind::Outside(value), Some(cell)) => {
                let of = &self.flat.cells[cell];
                match &of.domain {
                    Domain::Range(low, high) => format!("`{}` is in {low}..{high}, but this may be {value}", of.name),
                    Domain::Values(codes) => {
                        format!("`{}` is one of {}, but this may be another value", of.name, self.names(codes))
                    }
                    _ => format!("`{}` cannot have this value", of.name),
                }
            }
            (WrongKind::Outside(value), None) => format!("a value out of range: {value}"),
        };
        let error = Diagnostic::error(span, message);
        Err(if condition.is_empty() { error } else { error.with_help(format!("that is so{condition}")) })
    }

    fn shown(&self, (cell, next): (usize, bool), value: i64) -> String {
        let (name, text) = match self.flat.cells.get(cell) {
            Some(of) => (of.name.clone(), show(self.flat, &of.domain, value)),
            None => (SELECTOR.to_owned(), self.flat.processes.get(value as usize).cloned().unwrap_or_default()),
        };
        if next { format!("next({name}) = {text}") } else { format!("{name} = {text}") }
    }

    // Assignments that depend on each other.

    /// Refuses assignments of first values, and of next values, that depend on each other in a circle.
    fn circles(&mut self) {
        let first = |assigned: &Assigned| {
            let values = assigned.init.iter().chain(&assigned.now);
            values.map(|(value, span)| (value.clone(), *span)).collect::<Vec<_>>()
        };
        let next = |assigned: &Assigned| {
            let now = assigned.now.iter().filter_map(|(_, span)| Some((assigned.now_next.clone()?, *span)));
            now.chain(assigned.next.iter().map(|(_, value, span)| (value.clone(), *span))).collect::<Vec<_>>()
        };
        let firsts: Vec<_> = self.assigned.iter().map(first).collect();
        let nexts: Vec<_> = self.assigned.iter().map(next).collect();
        self.circle(&firsts, false);
        self.circle(&nexts, true);
    }

    fn circle(&mut self, assigned: &[Vec<(Value, Span)>], next: bool) {
        let uses: Vec<Vec<usize>> = assigned
            .iter()
            .map(|values| {
                let mut cells: Vec<usize> = values.iter().flat_map(|(value, _)| range::reads(value, next)).collect();
                cells.retain(|cell| assigned.get(*cell).is_some_and(|values| !values.is_empty()));
                cells.sort_unstable();
                cells.dedup();
                cells
            })
            .collect();
        // 0: not seen; 1: on the path; 2: done.
        let mut marks = vec![0u8; uses.len()];
        for root in 0..uses.len() {
            let mut path = vec![(root, 0)];
            if marks[root] != 0 {
                continue;
            }
            marks[root] = 1;
            while let Some((cell, at)) = path.last_mut() {
                let Some(&used) = uses[*cell].get(*at) else {
                    marks[*cell] = 2;
                    path.pop();
                    continue;
                };
                *at += 1;
                match marks[used] {
                    0 => {
                        marks[used] = 1;
                        path.push((used, 0));
                    }
                    1 => {
                        let from = path.iter().position(|(cell, _)| *cell == used).unwrap_or(0);
                        let names: Vec<String> =
                            path[from..].iter().map(|(cell, _)| format!("`{}`", self.flat.cells[*cell].name)).collect();
                        let span = assigned[used].first().map(|(_, span)| *span);
                        let message = format!("a circular assignment of {}", names.join(", "));
                        self.fail(Diagnostic { severity: Severity::Error, message, span, help: None });
                        return;
                    }
                    _ => {}
                }
            }
        }
    }

    // Variables.

    fn variables(&mut self) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (number, cell) in self.flat.cells.iter().enumerate() {
            let kind = match cell.section {
                Section::State => VariableKind::State,
                Section::Input => VariableKind::Input,
                Section::Frozen => VariableKind::Frozen,
            };
            let mut variable = Variable::new(&cell.name, Type::Scalar(scalar(&cell.domain)));
            variable.kind = kind;
            variable.span = Some(cell.span);
            let assigned = std::mem::take(&mut self.assigned[number]);
            if let Some((value, _)) = assigned.init.as_ref().or(assigned.now.as_ref()) {
                self.first_value(number, value, &mut variable);
            }
            self.next_value(number, &assigned);
            variables.push(variable);
        }
        if self.lowerer.selector.is_some() {
            let high = self.flat.processes.len() as i64 - 1;
            let selector = Scalar::Range { low: 0, high, overflow: Overflow::Fault };
            let mut variable = Variable::new(SELECTOR, Type::Scalar(selector));
            variable.kind = VariableKind::Input;
            variables.push(variable);
        }
        variables
    }

    fn first_value(&mut self, number: usize, value: &Value, variable: &mut Variable) {
        let domain = &self.flat.cells[number].domain;
        if let Some(single) = value.single() {
            variable.initial = vec![(0, Initial::Value(stored(single, domain)))];
            return;
        }
        if let Some(constants) = constants(value, domain) {
            if !is_whole(&constants, domain) {
                variable.initial = vec![(0, Initial::AnyOf(constants))];
            }
            return;
        }
        let read = Expr::Read(place(number, domain));
        let is_one = value.alternatives.iter().map(|one| {
            let same = build::binary(ample_model::BinaryOp::Equal, read.clone(), stored(&one.value, domain));
            one.when.clone().map_or(same.clone(), |when| and(when, same))
        });
        self.parts.init.push(balanced(is_one.collect(), Expr::FALSE, &or));
    }

    fn next_value(&mut self, number: usize, assigned: &Assigned) {
        let domain = &self.flat.cells[number].domain;
        let (next, span) = match (&assigned.now_next, &assigned.now, &assigned.next[..]) {
            (Some(value), Some((_, span)), _) => (self.next_of(value, domain), *span),
            (_, _, []) => return,
            (_, _, [(_, value, span)]) if self.lowerer.selector.is_none() => (self.next_of(value, domain), *span),
            (_, _, all @ [(_, _, span), ..]) => (Some(self.of_processes(number, all)), *span),
        };
        if let Some(next) = next {
            let variable = VariableId::from(number);
            self.parts.definitions.push(Definition { variable, slot: 0, next, span: Some(span) });
        }
    }

    fn next_of(&self, value: &Value, domain: &Domain) -> Option<NextValue> {
        if let Some(single) = value.single() {
            return Some(NextValue::Function(stored(single, domain)));
        }
        if constants(value, domain).is_some_and(|constants| is_whole(&constants, domain)) {
            return None;
        }
        let alternatives = value.alternatives.iter();
        let alternatives =
            alternatives.map(|one| Alternative { when: one.when.clone(), value: stored(&one.value, domain) });
        Some(NextValue::Choice(alternatives.collect()))
    }

    /// The process that runs assigns; otherwise the variable keeps its value.
    fn of_processes(&self, number: usize, all: &[(usize, Value, Span)]) -> NextValue {
        let domain = &self.flat.cells[number].domain;
        let keep = Expr::Read(place(number, domain));
        if all.iter().all(|(_, value, _)| value.single().is_some()) {
            let branches = all
                .iter()
                .filter_map(|(process, value, _)| Some((self.lowerer.runs(*process), stored(value.single()?, domain))));
            return NextValue::Function(build::first_of(branches.collect(), keep));
        }
        let mut alternatives = Vec::new();
        let mut idle = Vec::new();
        for (process, value, _) in all {
            let runs = self.lowerer.runs(*process);
            idle.push(not(runs.clone()));
            for one in &value.alternatives {
                let when = one.when.clone().map_or(runs.clone(), |when| and(runs.clone(), when));
                alternatives.push(Alternative { when: Some(when), value: stored(&one.value, domain) });
            }
        }
        let when = Some(shared(balanced(idle, Expr::TRUE, &and)));
        alternatives.push(Alternative { when, value: keep });
        NextValue::Choice(alternatives)
    }

    // Specifications.

    fn specification(&mut self, specification: &'a Specification, instance: usize) -> Analysed<()> {
        let instance = match &specification.context {
            Some(node) => self.lowerer.instance_of(node, instance)?,
            None => instance,
        };
        let Some(node) = specification.formulas.first() else { return Ok(()) };
        let table = AtomTable::new();
        let mut formulas = Formulas { lowerer: &mut self.lowerer, table, logic: specification.logic };
        let formula = formulas.formula(node, instance)?;
        let to = match specification.formulas.get(1) {
            Some(node) => Some(formulas.formula(node, instance)?),
            None => None,
        };
        let temporal = Temporal::new(formula, formulas.table);
        for atom in &temporal.atoms {
            self.possible(None, atom, None, node.span, None)?;
        }
        let question = match (specification.logic, to) {
            (Logic::Ltl, _) => Question::Ltl(temporal),
            (Logic::Invariant, _) => match temporal.state_expr(&temporal.formula) {
                Some(expr) => Question::Invariant(expr),
                None => return Ok(()),
            },
            (logic, Some(to)) => {
                let Temporal { formula: from, atoms } = temporal;
                Question::Distance(Distance { longest: logic == Logic::Max, from, to, atoms })
            }
            (_, None) => Question::Ctl(temporal),
        };
        let of = &self.flat.instances[instance];
        let number = self.properties.len() + 1;
        let name = specification.name.as_ref().map_or_else(|| number.to_string(), |name| of.name_of(&name.text));
        let taken = self.properties.iter().any(|other| other.name == name);
        let name = if taken { format!("{name}.{number}") } else { name };
        let words = |node: &Node| {
            let text = &self.source.text[node.span.start as usize..node.span.end as usize];
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let mut text = match (specification.logic, specification.formulas.get(1)) {
            (Logic::Max, Some(to)) => format!("MAX [{}, {}]", words(node), words(to)),
            (_, Some(to)) => format!("MIN [{}, {}]", words(node), words(to)),
            _ => words(node),
        };
        if !of.name.is_empty() {
            text = format!("{text} IN {}", of.name);
        }
        self.properties.push(Property { name, question, text, span: Some(specification.span) });
        Ok(())
    }
}

/// A value as a cell of that domain stores it. One that is not in it is outside of the cell's type.
fn stored(value: &Val, domain: &Domain) -> Expr {
    match domain {
        Domain::Values(codes) => value.position(codes),
        _ => value.plain(),
    }
}

/// The values of a set, if all are constants that the domain has.
fn constants(value: &Value, domain: &Domain) -> Option<Vec<i64>> {
    let scalar = scalar(domain);
    let mut constants: Vec<i64> = Vec::new();
    for one in &value.alternatives {
        match (&one.when, stored(&one.value, domain)) {
            (None, Expr::Const(value)) if scalar.fit(value) == Some(value) => constants.push(value),
            _ => return None,
        }
    }
    constants.sort_unstable();
    constants.dedup();
    Some(constants)
}

fn is_whole(constants: &[i64], domain: &Domain) -> bool {
    let size = match domain {
        Domain::Boolean => 2,
        Domain::Range(low, high) => high.abs_diff(*low).saturating_add(1),
        Domain::Values(codes) => codes.len() as u64,
        Domain::Word { bits, .. } => 1 << bits,
    };
    constants.len() as u64 == size
}

/// A stored value in words.
fn show(flat: &Flat<'_>, domain: &Domain, value: i64) -> String {
    match domain {
        Domain::Boolean => if value != 0 { "TRUE" } else { "FALSE" }.into(),
        Domain::Values(codes) => codes.get(value as usize).map_or_else(|| value.to_string(), |code| flat.show(*code)),
        Domain::Range(..) => value.to_string(),
        Domain::Word { bits, signed } => Notation::Word { bits: *bits as u8, signed: *signed }.show(value),
    }
}

/// A condition or a formula over the names of a model.
pub struct Named {
    modules: Vec<Module>,
    whole: Span,
}

impl Named {
    /// Of the modules of a model.
    pub fn new(modules: Vec<Module>, whole: Span) -> Named {
        Named { modules, whole }
    }

    /// A formula over its names.
    pub fn temporal(&self, node: &Node, logic: Logic, watch: &Watch<'_>) -> Result<Temporal, Vec<Diagnostic>> {
        let flat = flatten(&self.modules, self.whole, watch)?;
        let selector = (flat.processes.len() > 1).then(|| VariableId::from(flat.cells.len()));
        let mut lowerer = Lowerer::new(&flat, watch, selector);
        let mut formulas = Formulas { lowerer: &mut lowerer, table: AtomTable::new(), logic };
        let formula = formulas.formula(node, 0).map_err(|error| vec![error])?;
        Ok(Temporal::new(formula, formulas.table))
    }
}
