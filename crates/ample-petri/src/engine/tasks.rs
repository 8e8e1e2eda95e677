//! From properties to tasks: what has to be found out about a net.
//!
//! A property is taken apart as far as logic allows: into conditions that some reachable marking satisfies or none does,
//! for which there are many and fast methods, and what is left of it. The same condition in several properties is one
//! task.

use std::collections::HashMap;

use crate::net::{Condition, Conditions, Net, Sum};
use crate::simplify::{Keep, Preserve, Simplified, simplify};
use ample_budget::Budget;
use ample_logic::{Atom, Binary, Formula as Logic, Unary, fold_constants};
use ample_model::{Expr, Property, Question, Reason, Temporal};

/// Of automata.
pub(super) const NO_AUTOMATA: &str = "decision diagrams take no automata as properties; `--engine explicit` does";

/// Something that has to be found out.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// A marking that satisfies the condition can be reached.
    Reach(Condition),
    /// A dead marking can be reached.
    Dead,
    /// How large the sum gets: the number of it.
    Bound(usize),
    /// The formula of branching time holds at the start.
    Branching(Logic),
    /// Every run satisfies the formula of linear time.
    Linear(Logic),
}

/// How an answer follows from what was found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// It is known.
    Const(bool),
    /// It follows from the structure of the net.
    Proved(bool),
    /// What the task says.
    Task(usize),
    /// The opposite.
    Not(Box<Wanted>),
    /// All of them.
    All(Vec<Wanted>),
    /// Some of them.
    Any(Vec<Wanted>),
}

impl Wanted {
    fn not(self) -> Wanted {
        match self {
            Wanted::Const(value) => Wanted::Const(!value),
            Wanted::Not(inner) => *inner,
            wanted => Wanted::Not(Box::new(wanted)),
        }
    }

    fn all(parts: Vec<Wanted>) -> Wanted {
        if parts.contains(&Wanted::Const(false)) {
            return Wanted::Const(false);
        }
        let mut parts: Vec<Wanted> = parts.into_iter().filter(|part| *part != Wanted::Const(true)).collect();
        match parts.len() {
            0 => Wanted::Const(true),
            1 => parts.remove(0),
            _ => Wanted::All(parts),
        }
    }

    fn any(parts: Vec<Wanted>) -> Wanted {
        Wanted::all(parts.into_iter().map(Wanted::not).collect()).not_deep()
    }

    /// The opposite, with the negation pushed inside conjunctions.
    fn not_deep(self) -> Wanted {
        match self {
            Wanted::All(parts) => Wanted::Any(parts.into_iter().map(Wanted::not).collect()),
            wanted => wanted.not(),
        }
    }

    /// The value, where the tasks that are known decide it.
    pub fn value(&self, known: &dyn Fn(usize) -> Option<bool>) -> Option<bool> {
        match self {
            Wanted::Const(value) | Wanted::Proved(value) => Some(*value),
            Wanted::Task(task) => known(*task),
            Wanted::Not(inner) => inner.value(known).map(|value| !value),
            Wanted::All(parts) => some_or_all(parts, known, false),
            Wanted::Any(parts) => some_or_all(parts, known, true),
        }
    }

    /// It is false if the task is true.
    pub fn is_refuted_by(&self, task: usize) -> bool {
        match self {
            Wanted::Not(inner) => **inner == Wanted::Task(task),
            Wanted::All(parts) => parts.iter().any(|part| part.is_refuted_by(task)),
            Wanted::Const(_) | Wanted::Proved(_) | Wanted::Task(_) | Wanted::Any(_) => false,
        }
    }

    /// It is true if the task is, or at least in part because of it. Where all of many parts have to be true, none of
    /// them is worth showing.
    pub fn is_proved_by(&self, task: usize) -> bool {
        const FEW: usize = 8;
        match self {
            Wanted::Task(one) => *one == task,
            Wanted::Any(parts) => parts.iter().any(|part| part.is_proved_by(task)),
            Wanted::All(parts) => parts.len() <= FEW && parts.iter().any(|part| part.is_proved_by(task)),
            Wanted::Const(_) | Wanted::Proved(_) | Wanted::Not(_) => false,
        }
    }

    fn tasks(&self, into: &mut Vec<usize>) {
        match self {
            Wanted::Const(_) | Wanted::Proved(_) => {}
            Wanted::Task(task) => into.push(*task),
            Wanted::Not(inner) => inner.tasks(into),
            Wanted::All(parts) | Wanted::Any(parts) => parts.iter().for_each(|part| part.tasks(into)),
        }
    }

    /// The tasks that can still make a difference.
    pub fn open(&self, known: &dyn Fn(usize) -> Option<bool>, into: &mut Vec<usize>) {
        if self.value(known).is_some() {
            return;
        }
        match self {
            Wanted::Const(_) | Wanted::Proved(_) => {}
            Wanted::Task(task) => into.push(*task),
            Wanted::Not(inner) => inner.open(known, into),
            Wanted::All(parts) | Wanted::Any(parts) => parts.iter().for_each(|part| part.open(known, into)),
        }
    }
}

/// `decisive` if a part has that value, its opposite if all have.
fn some_or_all(parts: &[Wanted], known: &dyn Fn(usize) -> Option<bool>, decisive: bool) -> Option<bool> {
    let mut all_known = true;
    for part in parts {
        match part.value(known) {
            Some(value) if value == decisive => return Some(decisive),
            Some(_) => {}
            None => all_known = false,
        }
    }
    all_known.then_some(!decisive)
}

/// What a property comes to.
#[derive(Clone, Debug)]
pub enum Answerable {
    /// True or false.
    Truth(Wanted),
    /// The largest value of a sum, which the task tells.
    Value(usize),
    /// It is not about nets.
    Not(String),
    /// The budget was exhausted before it was looked at.
    Ended(Reason),
}

impl Answerable {
    /// Adds the tasks that it depends on.
    pub fn tasks(&self, into: &mut Vec<usize>) {
        match self {
            Answerable::Truth(wanted) => wanted.tasks(into),
            Answerable::Value(task) => into.push(*task),
            Answerable::Not(_) | Answerable::Ended(_) => {}
        }
    }
}

/// All tasks, each once, and the conditions that are atoms of formulas.
#[derive(Clone, Default)]
pub struct Tasks {
    /// The tasks.
    pub all: Vec<Task>,
    numbers: HashMap<Task, usize>,
    /// What atoms stand for.
    pub atoms: Vec<Condition>,
    atom_numbers: HashMap<Condition, u32>,
    /// What expressions are that several formulas share.
    conditions: Conditions,
    /// The sums whose bounds are asked for.
    pub sums: Vec<Sum>,
    initial: Vec<u64>,
    /// Conditions that have the same value in all markings that can be reached.
    constants: HashMap<Condition, bool>,
}

impl Tasks {
    /// For a net.
    pub fn new(net: &Net) -> Tasks {
        Tasks::knowing(net, HashMap::new())
    }

    /// The same, where some conditions are known to have one value in all markings that can be reached.
    pub fn knowing(net: &Net, constants: HashMap<Condition, bool>) -> Tasks {
        Tasks { initial: net.initial(), constants, ..Tasks::default() }
    }

    /// The conditions in the formula of a task, with the larger ones before their parts.
    pub fn conditions(&self, task: usize, into: &mut Vec<Condition>) {
        if let Task::Branching(formula) | Task::Linear(formula) = &self.all[task] {
            self.conditions_in(formula, into);
        }
    }

    fn conditions_in(&self, formula: &Logic, into: &mut Vec<Condition>) {
        into.extend(self.plain(formula));
        formula.operands().for_each(|operand| self.conditions_in(operand, into));
    }

    /// The formula with what is known of its conditions.
    pub fn decided(&self, formula: &Logic) -> Logic {
        fold_constants(&self.with_constants(formula))
    }

    fn with_constants(&self, formula: &Logic) -> Logic {
        if !self.constants.is_empty()
            && let Some(value) = self.plain(formula).and_then(|condition| self.constants.get(&condition))
        {
            return if *value { Logic::True } else { Logic::False };
        }
        match formula {
            Logic::Atom(atom) => match self.atoms[atom.0 as usize] {
                Condition::Const(true) => Logic::True,
                Condition::Const(false) => Logic::False,
                _ => formula.clone(),
            },
            Logic::True | Logic::False => formula.clone(),
            Logic::Unary(op, f) => Logic::unary(*op, self.with_constants(f)),
            Logic::Binary(op, f, g) => Logic::binary(*op, self.with_constants(f), self.with_constants(g)),
        }
    }

    /// The places that a task reads, and what a simpler net must keep for it.
    fn keeps(&self, task: &Task, see: &mut dyn FnMut(u32)) -> Preserve {
        match task {
            Task::Reach(condition) => {
                condition.places(see);
                Preserve::Reach
            }
            Task::Dead => Preserve::Deadlock,
            Task::Bound(number) => {
                self.sums[*number].terms.keys().for_each(|place| see(*place));
                Preserve::Reach
            }
            Task::Branching(formula) | Task::Linear(formula) => {
                formula.atoms().iter().for_each(|atom| self.atoms[atom.0 as usize].places(see));
                match (formula.has_next(), matches!(task, Task::Linear(_))) {
                    (true, _) => Preserve::All,
                    (false, true) => Preserve::Stutter,
                    (false, false) => Preserve::Branching,
                }
            }
        }
    }

    /// A smaller net with the same answers to these tasks.
    pub fn simplified(&self, net: &Net, tasks: &[usize], budget: &Budget) -> Simplified {
        let mut seen = vec![false; net.places.len()];
        let mut what: Option<Preserve> = None;
        for task in tasks {
            let one = self.keeps(&self.all[*task], &mut |place| seen[place as usize] = true);
            what = Some(what.map_or(one, |all| both(all, one)));
        }
        simplify(net, Keep { places: &seen, what: what.unwrap_or(Preserve::All) }, budget)
    }

    /// The atoms that a formula has, on a simplified net; the others are never looked at.
    pub fn translated(&self, small: &Simplified, formula: &Logic) -> Option<Vec<Condition>> {
        let mut atoms = vec![Condition::Const(false); self.atoms.len()];
        for atom in formula.atoms() {
            atoms[atom.0 as usize] = small.translate(&self.atoms[atom.0 as usize])?;
        }
        Some(atoms)
    }

    /// A sum on a simplified net; `None` where it has become a number.
    pub fn translated_sum(&self, small: &Simplified, number: usize) -> Option<Sum> {
        let whole = self.sums[number].clone();
        // The sum is at most 0 where the translation is at most the new right side.
        match small.translate(&whole.at_most(0)?)? {
            Condition::AtMost { terms, most } => Some(Sum { terms: terms.into_iter().collect(), plus: -most }),
            _ => None,
        }
    }

    fn task(&mut self, task: Task) -> Wanted {
        let next = self.all.len();
        let number = *self.numbers.entry(task.clone()).or_insert(next);
        if number == next {
            self.all.push(task);
        }
        Wanted::Task(number)
    }

    fn reach(&mut self, condition: Condition) -> Wanted {
        match condition {
            Condition::Const(value) => Wanted::Const(value),
            condition if condition.holds(&self.initial) => Wanted::Const(true),
            condition => self.task(Task::Reach(condition)),
        }
    }

    /// Takes a property apart.
    pub fn add(&mut self, property: &Property) -> Answerable {
        match &property.question {
            Question::Deadlock => Answerable::Truth(self.task(Task::Dead).not()),
            // A net has no assertions; what may go wrong is a number of tokens beyond 64 bits, which ends a search.
            Question::Assertions | Question::Acceptance | Question::Progress => Answerable::Truth(Wanted::Const(true)),
            Question::Never(_) => Answerable::Not("a net has no never claim".into()),
            Question::Automaton(_) => Answerable::Not(NO_AUTOMATA.into()),
            Question::Distance(_) => Answerable::Not("distances are computed in synchronous systems only".into()),
            Question::Invariant(expr) => match self.conditions.of(expr) {
                Some(condition) => Answerable::Truth(self.reach(condition.negated()).not()),
                None => Answerable::Not(not_linear()),
            },
            Question::Bound(expr) => match Sum::of(expr) {
                Some(sum) => {
                    self.sums.push(sum);
                    let task = self.task(Task::Bound(self.sums.len() - 1));
                    match task {
                        Wanted::Task(number) => Answerable::Value(number),
                        _ => Answerable::Not(not_linear()),
                    }
                }
                None => Answerable::Not(not_linear()),
            },
            Question::Ctl(temporal) => self.formula_of(temporal, Tasks::branching),
            Question::Ltl(temporal) => self.formula_of(temporal, Tasks::linear),
        }
    }

    fn formula_of(&mut self, temporal: &Temporal, wanted: fn(&mut Tasks, &Logic) -> Wanted) -> Answerable {
        let Some(formula) = self.formula(temporal) else { return Answerable::Not(not_linear()) };
        let decided = self.decided(&formula);
        Answerable::Truth(match decided {
            Logic::True | Logic::False if !self.constants.is_empty() => Wanted::Proved(decided == Logic::True),
            // What the text of a formula of branching time decides is shown as all else is.
            Logic::True | Logic::False if formula.is_ltl() => Wanted::Const(decided == Logic::True),
            Logic::True | Logic::False => wanted(self, &formula),
            decided => wanted(self, &decided),
        })
    }

    /// A formula over our own atoms.
    fn formula(&mut self, temporal: &Temporal) -> Option<Logic> {
        let mut numbers = Vec::new();
        for atom in &temporal.atoms {
            numbers.push(self.atom(atom)?);
        }
        Some(temporal.formula.substitute(&mut |atom: Atom| Logic::Atom(Atom(numbers[atom.0 as usize]))))
    }

    /// The number of an atom; `None` if it is not about nets.
    pub(super) fn atom(&mut self, expr: &Expr) -> Option<u32> {
        let condition = self.conditions.of(expr)?;
        let next = self.atoms.len() as u32;
        let number = *self.atom_numbers.entry(condition.clone()).or_insert(next);
        if number == next {
            self.atoms.push(condition);
        }
        Some(number)
    }

    /// A formula without temporal operators as a condition.
    fn plain(&self, formula: &Logic) -> Option<Condition> {
        Some(match formula {
            Logic::True => Condition::Const(true),
            Logic::False => Condition::Const(false),
            Logic::Atom(atom) => self.atoms[atom.0 as usize].clone(),
            Logic::Unary(Unary::Not, f) => self.plain(f)?.negated(),
            Logic::Unary(..) => return None,
            Logic::Binary(op, f, g) => {
                let (f, g) = (self.plain(f)?, self.plain(g)?);
                match op {
                    Binary::And => Condition::all(vec![f, g]),
                    Binary::Or => Condition::any(vec![f, g]),
                    Binary::Implies => Condition::any(vec![f.negated(), g]),
                    Binary::Iff => Condition::any(vec![
                        Condition::all(vec![f.clone(), g.clone()]),
                        Condition::all(vec![f.negated(), g.negated()]),
                    ]),
                    Binary::Xor => Condition::any(vec![
                        Condition::all(vec![f.clone(), g.negated()]),
                        Condition::all(vec![f.negated(), g]),
                    ]),
                    _ => return None,
                }
            }
        })
    }

    fn fails_at_start(&self, formula: &Logic) -> bool {
        self.plain(formula).is_some_and(|condition| !condition.holds(&self.initial))
    }

    fn holds_at_start(&self, formula: &Logic) -> bool {
        self.plain(formula).is_some_and(|condition| condition.holds(&self.initial))
    }

    /// A formula of branching time, at the start.
    pub(super) fn branching(&mut self, formula: &Logic) -> Wanted {
        if let Some(condition) = self.plain(formula) {
            return Wanted::Const(condition.holds(&self.initial));
        }
        match formula {
            Logic::Unary(Unary::Not, f) => self.branching(f).not(),
            Logic::Binary(op, f, g) if !is_temporal(*op) => {
                let (f, g) = (self.branching(f), self.branching(g));
                combined(*op, f, g)
            }
            Logic::Unary(Unary::Exists, path) => match &**path {
                Logic::Unary(Unary::Finally, f) => self.can_reach(f, formula),
                // EX EF f is EF f, where f does not hold at the start.
                Logic::Unary(Unary::Next, f) => match later(f, Unary::Exists, Unary::Finally) {
                    Some(f) if self.fails_at_start(f) => self.branching(&f.clone().finally().exists()),
                    _ => self.task(Task::Branching(formula.clone())),
                },
                Logic::Unary(Unary::Globally, f) => match self.plain(f) {
                    Some(f) if !f.holds(&self.initial) => Wanted::Const(false),
                    _ => self.task(Task::Branching(formula.clone())),
                },
                Logic::Binary(Binary::Until, f, g) if **f == Logic::True => self.can_reach(g, formula),
                Logic::Binary(Binary::Until, _, g) => match self.plain(g) {
                    Some(g) if g.holds(&self.initial) => Wanted::Const(true),
                    _ => self.task(Task::Branching(formula.clone())),
                },
                _ => self.task(Task::Branching(formula.clone())),
            },
            Logic::Unary(Unary::All, path) => match &**path {
                // AX AG f is AG f, where f holds at the start.
                Logic::Unary(Unary::Next, f) => match later(f, Unary::All, Unary::Globally) {
                    Some(f) if self.holds_at_start(f) => self.branching(&f.clone().globally().all()),
                    _ => self.task(Task::Branching(formula.clone())),
                },
                Logic::Unary(Unary::Globally, f) => {
                    let opposite = (!(**f).clone()).finally().exists();
                    self.can_reach(&!(**f).clone(), &opposite).not()
                }
                Logic::Unary(Unary::Finally, f) | Logic::Binary(Binary::Until, _, f) => match self.plain(f) {
                    Some(f) if f.holds(&self.initial) => Wanted::Const(true),
                    _ => self.task(Task::Branching(formula.clone())),
                },
                _ => self.task(Task::Branching(formula.clone())),
            },
            _ => self.task(Task::Branching(formula.clone())),
        }
    }

    /// `EF f`, which is also given as a whole.
    fn can_reach(&mut self, f: &Logic, whole: &Logic) -> Wanted {
        if let Some(condition) = self.plain(f) {
            return self.reach(condition);
        }
        // EF EX f is EF f, where f does not hold at the start; and so is EF ¬AX ¬f.
        if let Some(next) = has_next_with(f)
            && self.fails_at_start(&next)
        {
            return self.can_reach(&next, &next.clone().finally().exists());
        }
        match f {
            // EF EF f is EF f, EF (f ∨ g) is EF f ∨ EF g.
            Logic::Unary(Unary::Exists, path) => {
                if let Logic::Unary(Unary::Finally, f) = &**path {
                    return self.can_reach(f, &(**f).clone().finally().exists());
                }
                self.task(Task::Branching(whole.clone()))
            }
            Logic::Unary(Unary::Not, inner) => match &**inner {
                Logic::Unary(Unary::Not, f) => self.can_reach(f, &(**f).clone().finally().exists()),
                Logic::Unary(Unary::All, path) => {
                    if let Logic::Unary(Unary::Globally, f) = &**path {
                        let opposite = !(**f).clone();
                        return self.can_reach(&opposite, &opposite.clone().finally().exists());
                    }
                    self.task(Task::Branching(whole.clone()))
                }
                Logic::Binary(Binary::And, f, g) => self.can_reach_either(&!(**f).clone(), &!(**g).clone()),
                Logic::Binary(Binary::Implies, f, g) if self.plain(f).is_none() || self.plain(g).is_none() => {
                    self.task(Task::Branching(((**f).clone() & !(**g).clone()).finally().exists()))
                }
                _ => self.task(Task::Branching(whole.clone())),
            },
            Logic::Binary(Binary::Or, f, g) => self.can_reach_either(f, g),
            Logic::Binary(Binary::Implies, f, g) => self.can_reach_either(&!(**f).clone(), g),
            _ => self.task(Task::Branching(whole.clone())),
        }
    }

    fn can_reach_either(&mut self, f: &Logic, g: &Logic) -> Wanted {
        let parts = [f, g].map(|f| self.can_reach(f, &f.clone().finally().exists()));
        Wanted::any(parts.into())
    }

    /// A formula of linear time, on all runs.
    fn linear(&mut self, formula: &Logic) -> Wanted {
        if let Some(condition) = self.plain(formula) {
            return Wanted::Const(condition.holds(&self.initial));
        }
        match formula {
            Logic::Binary(Binary::And, f, g) => {
                let parts = vec![self.linear(f), self.linear(g)];
                Wanted::all(parts)
            }
            Logic::Unary(Unary::Globally, f) => match self.plain(f) {
                Some(f) => self.reach(f.negated()).not(),
                None => match &**f {
                    Logic::Unary(Unary::Globally, _) => self.linear(f),
                    // What holds at the start and ever after holds always.
                    Logic::Unary(Unary::Next, next) if self.holds_at_start(next) => {
                        self.linear(&(**next).clone().globally())
                    }
                    // G (f ∧ g) is G f ∧ G g.
                    Logic::Binary(Binary::And, f, g) => {
                        let parts = [f, g].map(|f| self.linear(&(**f).clone().globally()));
                        Wanted::all(parts.into())
                    }
                    _ => self.task(Task::Linear(formula.clone())),
                },
            },
            // X G f is G f, where f holds at the start.
            Logic::Unary(Unary::Next, f) => match &**f {
                Logic::Unary(Unary::Globally, inner) if self.holds_at_start(inner) => self.linear(f),
                Logic::Unary(Unary::Finally, inner) if self.fails_at_start(inner) => self.linear(f),
                Logic::Binary(Binary::And, f, g) => {
                    let parts = [f, g].map(|f| self.linear(&(**f).clone().next()));
                    Wanted::all(parts.into())
                }
                _ => self.task(Task::Linear(formula.clone())),
            },
            Logic::Unary(Unary::Finally, f) | Logic::Binary(Binary::Until, _, f) => match self.plain(f) {
                Some(f) if f.holds(&self.initial) => Wanted::Const(true),
                _ => self.task(Task::Linear(formula.clone())),
            },
            _ => self.task(Task::Linear(formula.clone())),
        }
    }
}

/// What preserves both.
fn both(one: Preserve, other: Preserve) -> Preserve {
    match (one, other) {
        _ if one == other => one,
        (Preserve::All, _) | (_, Preserve::All) => Preserve::All,
        _ => Preserve::Branching,
    }
}

fn not_linear() -> String {
    "on a net, conditions are comparisons of sums of tokens".into()
}

fn is_temporal(op: Binary) -> bool {
    matches!(op, Binary::Until | Binary::Release | Binary::WeakUntil | Binary::StrongRelease)
}

fn combined(op: Binary, f: Wanted, g: Wanted) -> Wanted {
    match op {
        Binary::And => Wanted::all(vec![f, g]),
        Binary::Or => Wanted::any(vec![f, g]),
        Binary::Implies => Wanted::any(vec![f.not(), g]),
        Binary::Xor => combined(Binary::Iff, f, g).not_deep(),
        _ => {
            let both = Wanted::all(vec![f.clone(), g.clone()]);
            let neither = Wanted::all(vec![f.not(), g.not()]);
            Wanted::any(vec![both, neither])
        }
    }
}

/// The operand of a quantified operator.
fn later(formula: &Logic, quantifier: Unary, operator: Unary) -> Option<&Logic> {
    let Logic::Unary(first, path) = formula else { return None };
    match &**path {
        Logic::Unary(second, f) if *first == quantifier && *second == operator => Some(f),
        _ => None,
    }
}

/// `f` if it is `EX f`, `¬f` if it is `¬AX f`.
fn has_next_with(formula: &Logic) -> Option<Logic> {
    match formula {
        Logic::Unary(Unary::Not, inner) => later(inner, Unary::All, Unary::Next).map(|f| !f.clone()),
        formula => later(formula, Unary::Exists, Unary::Next).cloned(),
    }
}
