//! Test generation: inputs that lead a circuit, or a model in which all moves at once, to what is to be tested.
//!
//! What is to be reached is a list of [`Target`]s, each a sequence of conditions that hold in consecutive cycles: given by the
//! user, or every change of every latch ([`latch_targets`]), or every transition of a control automaton
//! ([`transition_targets`]). [`generate`] finds a test for each, where one test may serve several, or proves that there is
//! none. A test leaves inputs open that do not matter, and was performed by the reference interpreter, with the open inputs
//! chosen at random, before it is shown.
//!
//! Of systems of processes a test is a run: [`statements`] looks for runs that execute every statement or every branch.
//!
//! ```
//! use ample::testgen::{Outcome, Target, TestgenOptions, generate};
//!
//! let text = "INPUT(in)\nINPUT(other)\nOUTPUT(out)\nq = DFF(in)\nout = BUF(q)\n";
//! let model = ample::load_text("q.bench", text.into(), &Default::default())?;
//! let target = Target::new("out", vec![model.expression("out")?]);
//! let tests = generate(&model.system, &[target], &TestgenOptions::default(), &ample::Budget::unlimited()).unwrap();
//! assert_eq!(tests.results[0].outcome, Outcome::Reached { test: 0, cycle: 1 });
//! // In the first cycle `in` is 1 and `other` is open.
//! assert_eq!(tests.tests[0].cycles[0].inputs, [Some("1".to_owned()), None]);
//! # Ok::<(), ample::LoadError>(())
//! ```

use std::time::{Duration, Instant};

use ample_boolean::Lit;
use ample_budget::Budget;
use ample_engine::settings::UnreachedCode;
use ample_engine::workers::with_deep_stack;
use ample_explicit::engine::covering;
use ample_model::{
    BinaryOp, Edge, EdgeId, Expr, Interpreter, NextValue, Place, ProcessId, Property, Question, Reason, Role, Scalar,
    Scope, System, Trace, UnaryOp, VariableId, VariableKind,
};
use ample_symbolic::joint::Relations;
pub use ample_symbolic::joint::Sizes;
pub use ample_symbolic::testgen::Work;
use ample_symbolic::testgen::{Generated, Generator, Options, Sequence, with_inputs};
use clap::{Args, ValueEnum};

use crate::check::CheckOptions;

/// The most transitions of a control automaton that are looked for.
const MAX_TRANSITIONS: u64 = 4096;
/// Of many targets each gets so much time first; those that are left share the rest.
const FIRST_TURN: Duration = Duration::from_secs(5);

/// How tests are looked for.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Test generation")]
#[group(skip)]
pub struct TestgenOptions {
    /// The transition relation of the backward search
    #[arg(long, value_enum, value_name = "METHOD", default_value_t)]
    pub method: Method,
    /// The first target comes at most so many cycles after the initial state
    #[arg(long, value_name = "N")]
    pub max_cycles: Option<u64>,
    /// A test is simulated so many times, with its open inputs chosen at random
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub completions: u32,
    /// The seed of these random inputs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Keep the initial variable order: no dynamic reordering
    #[arg(long)]
    pub no_reorder: bool,
}

impl Default for TestgenOptions {
    fn default() -> TestgenOptions {
        let Options { max_cycles, completions, seed, no_reorder, .. } = Options::default();
        TestgenOptions { method: Method::default(), max_cycles, completions, seed, no_reorder }
    }
}

impl TestgenOptions {
    fn options(&self) -> Options {
        let relations = match self.method {
            Method::Dynamic => Relations::Dynamic,
            Method::Static => Relations::Static,
            Method::Monolithic => Relations::Monolithic,
        };
        let TestgenOptions { max_cycles, completions, seed, no_reorder, .. } = *self;
        Options { relations, max_cycles, no_reorder, completions, seed }
    }
}

/// The transition relation of the backward search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Method {
    /// In every step the next-state functions that the set of states depends on
    #[default]
    Dynamic,
    /// All next-state functions in every step, in clusters
    Static,
    /// All next-state functions in every step, as one diagram
    Monolithic,
}

impl Method {
    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Dynamic => "dynamic",
            Method::Static => "static",
            Method::Monolithic => "monolithic",
        }
    }
}

/// What a test is to reach.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// What reports call it.
    pub name: String,
    /// What holds in consecutive cycles.
    pub conditions: Vec<Expr>,
    /// It is left out if no state begins such a run, be it reachable or not: a transition that there is not.
    pub is_optional: bool,
}

impl Target {
    /// Conditions that are to hold in consecutive cycles.
    pub fn new(name: impl Into<String>, conditions: Vec<Expr>) -> Target {
        Target { name: name.into(), conditions, is_optional: false }
    }
}

/// What became of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A test reaches it.
    Reached {
        /// The number of the test, from 0.
        test: usize,
        /// The cycle in which its first condition holds, or the number of the step that executes it, from 1.
        cycle: usize,
    },
    /// No run reaches it.
    Unreachable,
    /// Neither is known.
    Unknown(Reason),
}

/// A target, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetResult {
    /// The target.
    pub name: String,
    /// What became of it.
    pub outcome: Outcome,
}

/// A test of a synchronous system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Test {
    /// From the initial state on.
    pub cycles: Vec<Cycle>,
}

/// A cycle of a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The values of inputs, in the words of the source; what is open may have any value.
    pub inputs: Vec<Option<String>>,
    /// The values of state variables, as far as they follow.
    pub state: Vec<Option<String>>,
    /// The values of outputs, as far as they follow.
    pub outputs: Vec<Option<bool>>,
}

impl Test {
    /// How many values of inputs there are in all cycles, and how many of them are open.
    pub fn values(&self) -> (usize, usize) {
        let values = || self.cycles.iter().flat_map(|cycle| &cycle.inputs);
        (values().count(), values().filter(|value| value.is_none()).count())
    }
}

/// What a name in a test is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Its values are 0 and 1.
    pub is_bit: bool,
    /// A variable of the state that has a choice in every step; a test gives it a value like an input.
    pub is_choice: bool,
    /// The test chooses its first value, which the model leaves open.
    pub is_open_initially: bool,
}

/// Tests of a synchronous system.
#[derive(Clone, Debug)]
pub struct Tests {
    /// What each target came to.
    pub results: Vec<TargetResult>,
    /// The tests.
    pub tests: Vec<Test>,
    /// The inputs, and the state variables that have a choice.
    pub inputs: Vec<Signal>,
    /// The other state variables.
    pub state: Vec<Signal>,
    /// The outputs.
    pub outputs: Vec<String>,
    /// What it took.
    pub work: Work,
    /// How long it took.
    pub took: Duration,
}

fn read(variable: usize, offset: u32, scalar: Scalar) -> Expr {
    let (scope, variable) = (Scope::Global, VariableId::from(variable));
    Expr::Read(Place { scope, variable, offset, indices: Vec::new(), scalar })
}

/// The cells with a definition, with their names: latches of a circuit.
fn defined_cells(system: &System) -> Vec<(usize, u32, Scalar, String)> {
    let Some(synchronous) = system.synchronous() else { return Vec::new() };
    let cell = |variable: usize, slot: u32| {
        let declared = system.globals.get(variable)?;
        let scalar = system.scalars(&declared.ty).get(slot as usize).copied()?;
        Some((variable, slot, scalar, system.slot_name(declared, slot)))
    };
    synchronous.definitions.iter().filter_map(|one| cell(one.variable.index(), one.slot)).collect()
}

fn is_boolean(scalar: Scalar) -> bool {
    matches!(scalar, Scalar::Range { low: 0, high: 1, .. }) || scalar == Scalar::BOOL
}

/// Every latch (a state variable of two values whose next value is defined) changes from 0 to 1 and from 1 to 0: two targets
/// for each.
pub fn latch_targets(system: &System) -> Vec<Target> {
    let mut targets = Vec::new();
    for (variable, slot, scalar, name) in defined_cells(system) {
        if !is_boolean(scalar) {
            continue;
        }
        let one = read(variable, slot, scalar);
        let zero = Expr::unary(UnaryOp::Not, one.clone());
        targets.push(Target::new(format!("{name} 0 -> 1"), vec![zero.clone(), one.clone()]));
        targets.push(Target::new(format!("{name} 1 -> 0"), vec![one, zero]));
    }
    targets
}

/// The values that a cell may have, by its type.
fn values_of(system: &System, scalar: Scalar) -> Option<Vec<i64>> {
    match scalar {
        Scalar::Range { low, high, .. } if high.checked_sub(low)? < 1 << 12 => Some((low..=high).collect()),
        Scalar::Enumeration(id) => {
            let values = system.enumerations.get(id.index())?.values.iter();
            Some(values.map(|(_, value)| *value).collect())
        }
        scalar if scalar == Scalar::BOOL => Some(vec![0, 1]),
        _ => None,
    }
}

/// Every transition of a control automaton, which is given by the names of its state variables: from each combination of their
/// values to each. Where no state has such a step, there is no transition, and the target is optional.
///
/// # Errors
///
/// A sentence: a name is unknown, or there are too many combinations.
pub fn transition_targets(system: &System, names: &[String]) -> Result<Vec<Target>, String> {
    let mut cells = Vec::new();
    for name in names {
        let found = system.globals.iter().enumerate().find_map(|(number, variable)| {
            let scalars = system.scalars(&variable.ty);
            let slot = (0..).zip(&scalars).find(|(slot, _)| system.slot_name(variable, *slot) == *name);
            slot.map(|(slot, scalar)| (number, slot, *scalar))
        });
        let Some((variable, slot, scalar)) = found else {
            return Err(format!("the automaton names `{name}`, and the model has no such state variable"));
        };
        if system.globals[variable].kind == VariableKind::Input {
            return Err(format!("the automaton names `{name}`, which is an input and not a part of the state"));
        }
        let values = values_of(system, scalar);
        cells.push((read(variable, slot, scalar), scalar, values.ok_or(format!("`{name}` has too many values"))?));
    }
    let states = cells.iter().try_fold(1u64, |product, (_, _, values)| product.checked_mul(values.len() as u64));
    if states.is_none_or(|states| states.checked_mul(states).is_none_or(|pairs| pairs > MAX_TRANSITIONS)) {
        let most = MAX_TRANSITIONS.isqrt();
        return Err(format!("the automaton has more than {most} states; fewer variables are possible"));
    }
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for (_, _, values) in &cells {
        all = all.iter().flat_map(|state| values.iter().map(|value| [&state[..], &[*value]].concat())).collect();
    }
    let named = |state: &[i64]| {
        let shown = cells.iter().zip(state).map(|((_, scalar, _), value)| system.show_value(*scalar, *value));
        shown.collect::<Vec<_>>().join(",")
    };
    let condition = |state: &[i64]| {
        let parts = cells.iter().zip(state);
        let equal = |((cell, _, _), value): (&(Expr, Scalar, Vec<i64>), &i64)| {
            Expr::binary(BinaryOp::Equal, cell.clone(), Expr::Const(*value))
        };
        parts.map(equal).reduce(|x, y| Expr::binary(BinaryOp::And, x, y)).unwrap_or(Expr::TRUE)
    };
    let pair = |from: &Vec<i64>, to: &Vec<i64>| Target {
        name: format!("{} -> {}", named(from), named(to)),
        conditions: vec![condition(from), condition(to)],
        is_optional: true,
    };
    Ok(all.iter().flat_map(|from| all.iter().map(move |to| (from, to))).map(|(from, to)| pair(from, to)).collect())
}

/// Tests of a synchronous system for these targets, or the proof that there are none.
///
/// # Errors
///
/// The system cannot be encoded, or the work ended before any target was looked at.
pub fn generate(
    system: &System,
    targets: &[Target],
    options: &TestgenOptions,
    budget: &Budget,
) -> Result<Tests, Reason> {
    if system.synchronous().is_none() {
        return Err(Reason::Unsupported(ONLY_SYNCHRONOUS.into()));
    }
    let begun = Instant::now();
    let kept = with_inputs(system);
    let mut tests = with_deep_stack("test generation", || generate_all(system, &kept, targets, options, budget))??;
    tests.took = begun.elapsed();
    Ok(tests)
}

const ONLY_SYNCHRONOUS: &str = "inputs are those of a circuit or of an SMV model, in which all moves at once; of other \
                                models `--coverage statements` and `--coverage branches` generate runs";

fn generate_all(
    system: &System,
    kept: &System,
    targets: &[Target],
    options: &TestgenOptions,
    budget: &Budget,
) -> Result<Tests, Reason> {
    let mut generator = Generator::new(kept, &options.options(), budget)?;
    let mut results: Vec<Option<Outcome>> = vec![None; targets.len()];
    let mut formulas: Vec<Vec<Lit>> = Vec::new();
    for target in targets {
        formulas.push(generator.formulas(&target.conditions)?);
    }
    let mut sequences: Vec<Sequence> = Vec::new();
    let mut is_left_out = vec![false; targets.len()];
    // For each sequence the targets that it reaches, with their cycles.
    let mut reached: Vec<Vec<(usize, usize)>> = Vec::new();
    let turns: &[Option<Duration>] = if targets.len() > 1 { &[Some(FIRST_TURN), None] } else { &[None] };
    for turn in turns {
        for (number, target) in targets.iter().enumerate() {
            if !matches!(results[number], None | Some(Outcome::Unknown(Reason::Time))) || budget.check().is_err() {
                continue;
            }
            let part = turn.map_or(budget.clone(), |time| budget.clone().with_time(time));
            generator.set_budget(&part);
            let generated = generator.generate(&target.conditions);
            generator.set_budget(budget);
            results[number] = Some(match generated {
                Ok(Generated::Unreachable { is_contradictory, .. }) => {
                    is_left_out[number] = target.is_optional && is_contradictory;
                    Outcome::Unreachable
                }
                Err(why @ Reason::Internal(_)) => return Err(why),
                Err(why) => Outcome::Unknown(why),
                Ok(Generated::Sequence(sequence)) => {
                    let test = sequences.len();
                    let mut here = reached_by(&generator, &sequence, &formulas);
                    here.retain(|(other, _)| *other != number);
                    here.push((number, sequence.before));
                    for (other, cycle) in &here {
                        if matches!(results[*other], None | Some(Outcome::Unknown(_))) {
                            results[*other] = Some(Outcome::Reached { test, cycle: *cycle });
                        }
                    }
                    let cycle = sequence.before;
                    sequences.push(sequence);
                    reached.push(here);
                    Outcome::Reached { test, cycle }
                }
            });
        }
    }
    let sequences = few(sequences, &reached, &mut results);
    // What no turn came to was not begun.
    let ended = budget.check().err().map_or(Reason::Interrupted, Reason::from);
    let result = |(target, outcome): (&Target, Option<Outcome>)| TargetResult {
        name: target.name.clone(),
        outcome: outcome.unwrap_or_else(|| Outcome::Unknown(ended.clone())),
    };
    let results = targets.iter().zip(results).zip(is_left_out).filter(|(_, left_out)| !left_out);
    let results = results.map(|(both, _)| result(both)).collect();
    let work = generator.work();
    Told::new(system, kept, &mut generator)?.tests(&sequences, results, work)
}

/// The targets that a sequence reaches, whatever its open inputs are, each with the cycle of its first condition.
fn reached_by(generator: &Generator<'_>, sequence: &Sequence, formulas: &[Vec<Lit>]) -> Vec<(usize, usize)> {
    let all: Vec<Lit> = formulas.iter().flatten().copied().collect();
    let values = generator.values(sequence, &all);
    let (mut reached, mut first) = (Vec::new(), 0);
    for (number, formulas) in formulas.iter().enumerate() {
        let places = first..first + formulas.len();
        first = places.end;
        if places.is_empty() {
            continue;
        }
        let holds = |window: &[Vec<Option<bool>>]| {
            window.iter().zip(places.clone()).all(|(values, place)| values[place] == Some(true))
        };
        if let Some(cycle) = values.windows(places.len()).position(holds) {
            reached.push((number, cycle));
        }
    }
    reached
}

/// Some of the sequences that reach all that all of them reach, by a greedy choice: the one that reaches most of what is left.
fn few(sequences: Vec<Sequence>, reached: &[Vec<(usize, usize)>], results: &mut [Option<Outcome>]) -> Vec<Sequence> {
    let mut is_open: Vec<bool> = results.iter().map(|result| matches!(result, Some(Outcome::Reached { .. }))).collect();
    let mut chosen = Vec::new();
    loop {
        let gain = |number: &usize| reached[*number].iter().filter(|(target, _)| is_open[*target]).count();
        // Of equally good ones the first.
        let Some(best) = (0..sequences.len()).rev().max_by_key(gain).filter(|best| gain(best) > 0) else { break };
        for (target, cycle) in &reached[best] {
            if std::mem::replace(&mut is_open[*target], false) {
                results[*target] = Some(Outcome::Reached { test: chosen.len(), cycle: *cycle });
            }
        }
        chosen.push(best);
    }
    chosen.into_iter().map(|number| sequences[number].clone()).collect()
}

/// Tests in the words of the source.
struct Told<'a, 'g> {
    system: &'a System,
    generator: &'a Generator<'g>,
    /// The cells: variable, its slot, the slot among all, and the type.
    inputs: Vec<(usize, u32, usize, Scalar)>,
    state: Vec<(usize, u32, usize, Scalar)>,
    outputs: Vec<(String, Lit)>,
}

impl<'a, 'g> Told<'a, 'g> {
    fn new(system: &'a System, kept: &System, generator: &'a mut Generator<'g>) -> Result<Told<'a, 'g>, Reason> {
        // A latch or an input that is an output under its own name is shown already.
        let is_cell = |name: &str| system.globals.iter().any(|variable| variable.name == name);
        let is_shown = |signal: &&ample_model::Signal| signal.is_output && !is_cell(&signal.name);
        let declared: Vec<_> = kept.signals.iter().filter(is_shown).collect();
        let values: Vec<Expr> = declared.iter().map(|signal| signal.value.clone()).collect();
        let formulas = generator.formulas(&values)?;
        let outputs = declared.iter().map(|signal| signal.name.clone()).zip(formulas).collect();
        let mut cells = (Vec::new(), Vec::new());
        let mut number = 0;
        for (variable, declared) in system.globals.iter().enumerate() {
            for (slot, scalar) in (0..).zip(system.scalars(&declared.ty)) {
                let is_input = declared.kind == VariableKind::Input || has_choice(system, variable, slot);
                let part = if is_input { &mut cells.0 } else { &mut cells.1 };
                part.push((variable, slot, number, scalar));
                number += 1;
            }
        }
        Ok(Told { system, generator, inputs: cells.0, state: cells.1, outputs })
    }

    fn tests(&self, sequences: &[Sequence], results: Vec<TargetResult>, work: Work) -> Result<Tests, Reason> {
        let literals: Vec<Lit> = self.outputs.iter().map(|(_, lit)| *lit).collect();
        let test = |sequence: &Sequence| {
            let outputs = self.generator.values(sequence, &literals);
            let cycle = |(number, outputs): (usize, Vec<Option<bool>>)| {
                let cells = self.generator.cells(sequence, number);
                let values = |part: &[(usize, u32, usize, Scalar)]| {
                    let shown = |(variable, _, slot, scalar): &(usize, u32, usize, Scalar)| {
                        cells[*slot].map(|value| self.shown(*variable, *scalar, value))
                    };
                    part.iter().map(shown).collect()
                };
                Cycle { inputs: values(&self.inputs), state: values(&self.state), outputs }
            };
            Test { cycles: outputs.into_iter().enumerate().map(cycle).collect() }
        };
        let signal = |(variable, slot, _, scalar): &(usize, u32, usize, Scalar)| {
            let declared = &self.system.globals[*variable];
            Signal {
                name: self.system.slot_name(declared, *slot),
                is_bit: is_boolean(*scalar),
                is_choice: declared.kind != VariableKind::Input && !is_circuit(self.system),
                is_open_initially: false,
            }
        };
        let mut state: Vec<Signal> = self.state.iter().map(signal).collect();
        for (signal, (variable, slot, ..)) in state.iter_mut().zip(&self.state) {
            let initial = &self.system.globals[*variable].initial;
            let first = initial.iter().find(|(place, _)| place == slot).map(|(_, value)| value);
            signal.is_open_initially = !matches!(first, Some(ample_model::Initial::Value(_)));
            signal.is_choice = false;
        }
        Ok(Tests {
            results,
            tests: sequences.iter().map(test).collect(),
            inputs: self.inputs.iter().map(signal).collect(),
            state,
            outputs: self.outputs.iter().map(|(name, _)| name.clone()).collect(),
            work,
            took: Duration::ZERO,
        })
    }

    /// Bits are shown as 0 and 1 in circuits.
    fn shown(&self, variable: usize, scalar: Scalar, value: i64) -> String {
        self.system.show_global(variable, scalar, value)
    }
}

/// The model is a circuit: state variables without a definition are inputs that constraints read.
pub fn is_circuit(system: &System) -> bool {
    ["aiger", "blif", "bench"].contains(&system.language.as_str())
}

/// A cell of the state whose next value is not a function of the state and the inputs.
fn has_choice(system: &System, variable: usize, slot: u32) -> bool {
    let Some(synchronous) = system.synchronous() else { return false };
    if system.globals[variable].kind != VariableKind::State {
        return false;
    }
    let mut definitions = synchronous.definitions.iter();
    let own = definitions.find(|one| one.variable.index() == variable && one.slot == slot);
    own.is_none_or(|own| matches!(own.next, NextValue::Choice(_)))
}

/// What is to be executed of a system of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeCoverage {
    /// Every statement.
    Statements,
    /// Every alternative of every selection and loop.
    Branches,
}

/// Runs of a system of processes.
#[derive(Clone, Debug)]
pub struct Runs {
    /// What each statement came to.
    pub results: Vec<TargetResult>,
    /// The runs.
    pub runs: Vec<Trace>,
    /// How many states the search found.
    pub states: usize,
    /// How long it took.
    pub took: Duration,
}

/// Runs that execute every statement, or every branch; each was replayed by the reference interpreter.
///
/// ```
/// use ample::testgen::{CodeCoverage, statements};
///
/// let text = "byte x; active proctype P() { if :: x = 1 :: x = 2 fi; x = 0 }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let runs = statements(&model.system, CodeCoverage::Branches, &ample::Budget::unlimited()).unwrap();
/// assert_eq!((runs.results.len(), runs.runs.len()), (2, 2));
/// # Ok::<(), ample::LoadError>(())
/// ```
///
/// # Errors
///
/// The system has no processes, or cannot be compiled.
pub fn statements(system: &System, coverage: CodeCoverage, budget: &Budget) -> Result<Runs, Reason> {
    if system.synchronous().is_some() {
        return Err(Reason::Unsupported(ONLY_PROCESSES.into()));
    }
    let begun = Instant::now();
    let wanted = wanted(system, coverage);
    let edges: Vec<(ProcessId, EdgeId)> = wanted.iter().flat_map(|(_, edges)| edges.clone()).collect();
    let mut found = covering::cover(system, &edges, &most_of(budget))?;
    let of_use = of_use(&found.runs, &wanted);
    let mut number = 0;
    found.runs.retain(|_| {
        number += 1;
        of_use[number - 1]
    });
    let interpreter = Interpreter::new(system);
    let mut runs = Vec::new();
    for run in &found.runs {
        if let Err(why) = budget.check() {
            found.ended.get_or_insert(why.into());
            break;
        }
        let trace = interpreter.run_trace(run.start.clone(), &run.moves);
        runs.push(trace.map_err(|error| Reason::Internal(format!("a run cannot be replayed: {error}")))?);
    }
    found.runs.truncate(runs.len());
    let outcome = |edges: &[(ProcessId, EdgeId)]| {
        let step = |run: &covering::CoveringRun| {
            run.covers.iter().filter(|(edge, _)| edges.contains(edge)).map(|(_, step)| *step).min()
        };
        let first = found.runs.iter().enumerate().find_map(|(test, run)| Some((test, step(run)?)));
        match (first, &found.ended) {
            (Some((test, cycle)), _) => Outcome::Reached { test, cycle },
            (None, Some(why)) => Outcome::Unknown(why.clone()),
            (None, None) => Outcome::Unreachable,
        }
    };
    let results = wanted.into_iter().map(|(name, edges)| TargetResult { outcome: outcome(&edges), name }).collect();
    Ok(Runs { results, runs, states: found.states, took: begun.elapsed() })
}

/// The budget of a search after which what it has found is replayed and shown.
fn most_of(budget: &Budget) -> Budget {
    let Some(deadline) = budget.deadline() else { return budget.clone() };
    let now = Instant::now();
    budget.clone().with_deadline(now + deadline.saturating_duration_since(now) * 7 / 8)
}

/// Which runs execute something that no run before them does.
fn of_use(runs: &[covering::CoveringRun], wanted: &[(String, Vec<(ProcessId, EdgeId)>)]) -> Vec<bool> {
    let mut of_use = vec![false; runs.len()];
    for (_, edges) in wanted {
        let executes = |run: &covering::CoveringRun| run.covers.iter().any(|(edge, _)| edges.contains(edge));
        if let Some(first) = runs.iter().position(executes) {
            of_use[first] = true;
        }
    }
    of_use
}

const ONLY_PROCESSES: &str = "statements and branches are those of processes; of circuits and SMV models `--target`, \
                              `--coverage latches` and `--coverage transitions` generate tests";

/// The statements or branches, each with its name and its edges: an inline is expanded wherever it is called.
fn wanted(system: &System, coverage: CodeCoverage) -> Vec<(String, Vec<(ProcessId, EdgeId)>)> {
    let mut all: Vec<(String, Vec<(ProcessId, EdgeId)>)> = Vec::new();
    for (number, process) in system.processes.iter().enumerate().filter(|(_, process)| process.role == Role::Process) {
        let is_wanted = |edge: &Edge| match coverage {
            CodeCoverage::Statements => edge.label != "goto" && !edge.ends_process(),
            CodeCoverage::Branches => process.locations[edge.from.index()].edges.len() > 1,
        };
        // In the order of the source.
        let mut edges: Vec<(usize, &Edge)> = process.edges.iter().enumerate().collect();
        edges.retain(|(_, edge)| is_wanted(edge));
        edges.sort_by_key(|(place, edge)| (edge.span.map(|span| (span.source.index(), span.start)), *place));
        for (place, edge) in edges {
            let at = edge.span.map_or_else(String::new, |span| format!(" ({})", system.place_of(span)));
            let text = edge.label.split_whitespace().collect::<Vec<_>>().join(" ");
            let name = format!("{}: {text}{at}", process.name);
            let id = (ProcessId::from(number), EdgeId::from(place));
            match all.iter_mut().find(|(other, _)| *other == name) {
                Some((_, edges)) => edges.push(id),
                None => all.push((name, vec![id])),
            }
        }
    }
    all
}

/// A run of a system of processes to a state in which a condition holds, by the engines that `ample check` takes.
///
/// ```
/// use ample::testgen::{Outcome, Target, run_to};
///
/// let text = "byte x; active proctype P() { do :: x < 9 -> x++ od }";
/// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
/// let to = |text: &str| Target::new(text, vec![model.expression(text).unwrap()]);
/// let run = run_to(&model.system, &to("x == 3"), &ample::Budget::unlimited()).unwrap();
/// assert_eq!(run.results[0].outcome, Outcome::Reached { test: 0, cycle: 6 });
/// let run = run_to(&model.system, &to("x > 9"), &ample::Budget::unlimited()).unwrap();
/// assert_eq!(run.results[0].outcome, Outcome::Unreachable);
/// # Ok::<(), ample::LoadError>(())
/// ```
///
/// # Errors
///
/// The target has several conditions: the cycles of a system of processes are not those of all processes.
pub fn run_to(system: &System, target: &Target, budget: &Budget) -> Result<Runs, Reason> {
    let [condition] = &target.conditions[..] else {
        return Err(Reason::Unsupported(ONE_CONDITION.into()));
    };
    let begun = Instant::now();
    let question = Question::Invariant(Expr::unary(UnaryOp::Not, condition.clone()));
    let property = Property { name: target.name.clone(), question, text: target.name.clone(), span: None };
    let mut system = system.clone();
    crate::adapt(&mut system, std::slice::from_ref(&property));
    let options = CheckOptions {
        properties: Some(vec![property]),
        budget: budget.clone(),
        no_vacuity: true,
        unreached: UnreachedCode::Ignored,
        ..CheckOptions::default()
    };
    let report = crate::check(&system, &options);
    let mut runs = Vec::new();
    let outcome = match report.answers.first().map(|answer| &*answer.outcome) {
        Some(ample_model::Outcome::Violated(violation)) => {
            let cycle = violation.trace.prefix.len();
            runs.push(violation.trace.clone());
            Outcome::Reached { test: 0, cycle }
        }
        Some(ample_model::Outcome::Holds(_)) => Outcome::Unreachable,
        Some(ample_model::Outcome::Unknown(why)) => Outcome::Unknown(why.clone()),
        None => Outcome::Unknown(Reason::Interrupted),
    };
    let results = vec![TargetResult { name: target.name.clone(), outcome }];
    Ok(Runs { results, runs, states: report.statistics.states as usize, took: begun.elapsed() })
}

const ONE_CONDITION: &str = "a sequence of targets is for circuits and SMV models, in which all moves at once; of other models \
                             one `--target` is possible";
