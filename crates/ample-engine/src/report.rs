//! Reports: what was asked about a model, the answers, and what it took; as Rust data and as JSON (schema 1).

use std::ops::Deref;

use ample_model::{
    Branch, Certainty, EdgeId, Outcome, ProcessId, Property, Reason, Statistics, System, Trace, Violation,
};
use serde::{Serialize, Serializer};

use crate::evidence::EndState;
use crate::unreached::Unreached;

/// The version of the JSON form.
pub const SCHEMA: u32 = 1;

/// All answers about one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The model's name: its path usually.
    pub model: String,
    /// Its language.
    pub language: String,
    /// One answer per property, in the order asked.
    pub answers: Vec<Answer>,
    /// Why the search ended early, if it did.
    pub ended: Option<Reason>,
    /// What the search did.
    pub statistics: Statistics,
    /// Which orders of independent steps were left out, or why none.
    pub reduction: Option<String>,
    /// Which symmetry was used, or why none, if it was asked for.
    pub symmetry: Option<String>,
    /// What static reductions have made of the model, if something.
    pub static_reduction: Option<String>,
    /// What the decision diagrams were like, where there were some.
    pub diagrams: Option<DiagramStatistics>,
    /// What SAT solvers did, where there were some.
    pub solving: Option<SolvingStatistics>,
    /// Which engine was chosen and why, where there was a choice.
    pub choice: Option<String>,
    /// The steps that are run-time errors, if some were met.
    pub cut: Option<Cut>,
    /// The statements that no run executes, or why they are not known; none if nobody was asked.
    pub unreached: Option<Result<Vec<Unreached>, String>>,
    /// The process types that they do not include, because slicing has left out their processes.
    pub unreached_except: Vec<String>,
    /// How the work was spread over the workers of several processes, where there were some.
    pub cluster: Option<Spread>,
}

/// How evenly work was spread over workers, and what they have sent each other.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// How many processes there are.
    pub processes: usize,
    /// How many workers each of them has.
    pub threads: usize,
    /// Messages between workers.
    pub messages: u64,
    /// The bytes in them.
    pub message_bytes: u64,
    /// What has gone over the network.
    pub wire_bytes: u64,
    /// Rounds of messages: so often all workers have waited for each other.
    pub rounds: u64,
    /// The figures of each worker.
    pub workers: Vec<WorkerShare>,
    /// What an average worker has, compared to the one that has most: 1 is even.
    pub balance: f64,
}

/// What a worker has done.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WorkerShare {
    /// Its process.
    pub process: usize,
    /// Its number in the process.
    pub worker: usize,
    /// The states that it owns, in explicit search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub states: Option<u64>,
    /// The aggregates that it owns, of an observation graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aggregates: Option<u64>,
    /// The aggregates that it has expanded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expanded: Option<u64>,
    /// How many seconds it has waited for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waited_s: Option<f64>,
    /// How many seconds it was busy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy_s: Option<f64>,
}

/// What the diagrams were like: the figures that are usual in the literature.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiagramStatistics {
    /// Bits of a state.
    pub bits: u32,
    /// Relations, one for each statement of each process.
    pub relations: usize,
    /// Nodes of all relations.
    pub relation_nodes: usize,
    /// Nodes of the largest relation.
    pub max_relation_nodes: usize,
    /// Nodes of the set of reachable states.
    pub reached_nodes: usize,
    /// Images and preimages taken, of all relations together or of those of one process.
    pub posts: usize,
    /// Nodes of a frontier on average.
    pub average_frontier: usize,
    /// Nodes of the largest frontier.
    pub max_frontier: usize,
    /// The most nodes that there were at once.
    pub peak_nodes: usize,
    /// How often variables were moved.
    pub reorderings: usize,
    /// How often it started again with more room.
    pub restarts: usize,
    /// What modular checking did, if it was that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modular: Option<ModularStatistics>,
    /// Layer by layer: the states so far, in decimal, and the nodes of their set.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<(String, usize)>,
    /// Preimages by dynamic transition relations, if there were some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dynamic: Option<DynamicStatistics>,
}

/// Preimages by dynamic transition relations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DynamicStatistics {
    /// How many there were.
    pub preimages: u64,
    /// Nodes of their relations on average.
    pub average_nodes: u64,
    /// The most parts of the step relation, such as next-state functions, that one of them took.
    pub max_parts: usize,
    /// How many parts there are.
    pub parts: usize,
}

/// What modular checking did. A table of diagrams is that of one node of the partition graph.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ModularStatistics {
    /// Nodes of the partition graph.
    pub nodes: usize,
    /// Locations of the largest of them.
    pub largest_node: usize,
    /// Calls of model checking under assumptions.
    pub checks: u64,
    /// Calls whose result was known.
    pub cache_hits: u64,
    /// Iterations at the heads of loops that are split.
    pub iterations: u64,
    /// How often a node was built as diagrams.
    pub loads: u64,
    /// The most nodes that the tables in use at one time had together.
    pub peak_together: usize,
    /// Bytes of the largest set between nodes.
    pub largest_set: usize,
    /// Bytes that were written to files.
    pub written: u64,
}

/// What SAT solvers did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct SolvingStatistics {
    /// Bits of a state.
    pub bits: usize,
    /// The length of the longest runs that were looked at.
    pub bound: u64,
    /// The frames of proofs.
    pub frames: u64,
    /// The clauses in them.
    pub lemmas: u64,
    /// The clauses that solvers were given.
    pub clauses: u64,
    /// Their conflicts.
    pub conflicts: u64,
    /// How often it started again with more room.
    pub restarts: usize,
}

/// Steps that are run-time errors, such as a division by zero: a run ends there, and what would come after it is not
/// searched. A failed assertion is none of them; the run goes on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cut {
    /// How many steps out of reachable states.
    pub steps: u64,
    /// There may be more, because not all orders of steps were looked at or the search ended early.
    pub at_least: bool,
    /// The same for each statement.
    pub by: Vec<CutBy>,
}

/// A statement that can be a run-time error.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CutBy {
    /// The process type; empty if the initial state itself is the error.
    pub process: String,
    /// The statement.
    pub statement: String,
    /// `file:line`, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// What goes wrong in one of the states.
    pub error: String,
    /// How many steps.
    #[serde(serialize_with = "count")]
    pub steps: u64,
}

impl Cut {
    /// Puts together what was met for each statement; `None` if that is nothing.
    pub fn of(
        system: &System,
        met: impl IntoIterator<Item = (Option<(ProcessId, EdgeId)>, String, u64)>,
        at_least: bool,
    ) -> Option<Cut> {
        let mut cut = Cut { at_least, ..Cut::default() };
        for (statement, error, steps) in met {
            cut.steps = cut.steps.saturating_add(steps);
            cut.by.push(match statement {
                Some((process, edge)) => {
                    let process = system.process(process);
                    let edge = &process.edges[edge.index()];
                    let at = edge.span.map(|span| system.place_of(span));
                    CutBy { process: process.name.clone(), statement: edge.label.clone(), at, error, steps }
                }
                None => CutBy { statement: "the initial state".into(), error, steps, ..CutBy::default() },
            });
        }
        (!cut.by.is_empty()).then_some(cut)
    }

    /// What has to be said beside an answer that something holds for all runs.
    fn stops(&self) -> String {
        format!("a run that stops at a run-time error stays in the state before it: {}", self.few())
    }

    fn few(&self) -> String {
        let few = self.by.iter().take(NAMED).map(CutBy::text).collect::<Vec<_>>().join(", ");
        if self.by.len() > NAMED { few + ", …" } else { few }
    }

    /// What has to be said beside an answer that something holds in all states.
    fn note(&self) -> String {
        let at_least = if self.at_least { "at least " } else { "" };
        let (are, them) =
            if self.steps == 1 { ("step is a run-time error", "it") } else { ("steps are run-time errors", "them") };
        format!("{at_least}{} {are}, and nothing after {them} was searched: {}", self.steps, self.few())
    }

    /// Says so with each answer that something holds.
    pub fn tell(&self, answers: &mut [Answer]) {
        for answer in answers.iter_mut().filter(|answer| answer.verdict() == Verdict::Holds) {
            let before = answer.note.take().map_or(String::new(), |note| format!("{note}; "));
            let is_about_states = answer.property == "deadlock" || answer.property.starts_with("invariant:");
            answer.note = Some(before + &if is_about_states { self.note() } else { self.stops() });
        }
    }
}

/// So many statements are named beside an answer.
const NAMED: usize = 3;

impl CutBy {
    fn text(&self) -> String {
        let CutBy { process, statement, at, error, .. } = self;
        match at {
            Some(at) => format!("{error} in `{statement}` ({at})"),
            None if process.is_empty() => format!("{error} in {statement}"),
            None => format!("{error} in `{statement}` of {process}"),
        }
    }
}

/// The answer to one property.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The property's name: `deadlock`, `assertions`, `invariant:NAME`, `ltl:NAME`, ….
    pub property: String,
    /// What it says.
    pub formula: String,
    /// The answer itself.
    pub outcome: ValidOutcome,
    /// Who gave it.
    pub engine: &'static str,
    /// The largest value that was asked for.
    pub value: Option<u64>,
    /// The number of steps that was asked for.
    pub length: Option<Length>,
    /// Where it holds because of certain runs, such runs.
    pub witness: Option<Box<Violation>>,
    /// The state at the end of the counterexample or witness, or where its cycle begins.
    pub end: Option<EndState>,
    /// What the user should know beside it.
    pub note: Option<String>,
    /// Why it holds although it may not be what was meant: it is vacuously true.
    pub warnings: Vec<String>,
    /// What the search for this property alone did, if there was one.
    pub statistics: Option<Statistics>,
    /// Which orders of independent steps that search left out, or why none.
    pub reduction: Option<String>,
    /// Which symmetry it used, or why none, if it was asked for.
    pub symmetry: Option<String>,
    /// Where it is proved: a certificate that can be verified, as JSON.
    pub certificate: Option<String>,
}

/// An outcome that may be told: a violation in it has been validated. Whoever has found a violation has it from
/// [`evidence`](crate::evidence) only; that something holds, or is not known, can be said by everybody.
///
/// ```
/// use ample_engine::report::ValidOutcome;
/// use ample_model::{Certainty, Outcome, Reason};
///
/// assert_eq!(*ValidOutcome::from(Certainty::Proved), Outcome::Holds(Certainty::Proved));
/// assert_eq!(*ValidOutcome::from(Reason::Time), Outcome::Unknown(Reason::Time));
/// ```
///
/// ```compile_fail
/// use ample_engine::report::ValidOutcome;
/// use ample_model::{Outcome, Violation};
///
/// fn claim(violation: Violation) -> ValidOutcome {
///     ValidOutcome::from(Outcome::Violated(Box::new(violation)))
/// }
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ValidOutcome(Outcome);

impl ValidOutcome {
    pub(crate) fn violated(violation: Violation) -> ValidOutcome {
        ValidOutcome(Outcome::Violated(Box::new(violation)))
    }

    /// The outcome itself.
    pub fn into_inner(self) -> Outcome {
        self.0
    }
}

impl Deref for ValidOutcome {
    type Target = Outcome;

    fn deref(&self) -> &Outcome {
        &self.0
    }
}

/// It holds.
impl From<Certainty> for ValidOutcome {
    fn from(certainty: Certainty) -> ValidOutcome {
        ValidOutcome(Outcome::Holds(certainty))
    }
}

/// It is not known.
impl From<Reason> for ValidOutcome {
    fn from(reason: Reason) -> ValidOutcome {
        ValidOutcome(Outcome::Unknown(reason))
    }
}

/// A number of steps, of the shortest or the longest way from states of one kind to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many.
    Steps(u64),
    /// The other states are not reached, or not on all runs.
    Infinite,
    /// There are no such states.
    Undefined,
}

impl std::fmt::Display for Length {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Length::Steps(steps) => write!(f, "{steps}"),
            Length::Infinite => f.write_str("infinity"),
            Length::Undefined => f.write_str("undefined"),
        }
    }
}

/// The answers of a report in one word, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Something is violated.
    Violated,
    /// Something is not decided.
    Unknown,
    /// Everything holds.
    Holds,
    /// A number was asked for, and computed.
    Computed,
}

impl Answer {
    /// An answer to a property whose name and text are not filled in yet.
    pub fn open(outcome: impl Into<ValidOutcome>) -> Answer {
        Answer {
            property: String::new(),
            formula: String::new(),
            outcome: outcome.into(),
            engine: "explicit",
            value: None,
            length: None,
            witness: None,
            end: None,
            note: None,
            warnings: Vec::new(),
            statistics: None,
            reduction: None,
            symmetry: None,
            certificate: None,
        }
    }

    /// An answer to a property, by an engine.
    pub fn to(property: &Property, engine: &'static str, outcome: impl Into<ValidOutcome>) -> Answer {
        Answer { property: property.id(), formula: property.text.clone(), engine, ..Answer::open(outcome) }
    }

    /// An answer to something that is not looked at, for a reason.
    pub fn unsupported(property: String, why: String) -> Answer {
        Answer { property, ..Answer::open(Reason::Unsupported(why)) }
    }

    /// The answer in one word.
    pub fn verdict(&self) -> Verdict {
        match *self.outcome {
            Outcome::Holds(_) if self.length.is_some() => Verdict::Computed,
            Outcome::Holds(_) => Verdict::Holds,
            Outcome::Violated(_) => Verdict::Violated,
            Outcome::Unknown(_) => Verdict::Unknown,
        }
    }

    /// The counterexample.
    pub fn trace(&self) -> Option<&Trace> {
        match &*self.outcome {
            Outcome::Violated(violation) => Some(&violation.trace),
            _ => None,
        }
    }
}

impl Answer {
    /// What is shown for it: the counterexample, or the witness. Where it is the absence of runs that violates a
    /// property, there is nothing to show.
    pub fn shown(&self) -> Option<&Violation> {
        let shown = match &*self.outcome {
            Outcome::Violated(violation) => Some(&**violation),
            _ => self.witness.as_deref(),
        };
        shown.filter(|shown| self.end.is_some() || shown.trace != Trace::default() || !shown.branches.is_empty())
    }

    /// What branches off the counterexample.
    pub fn branches(&self) -> &[Branch] {
        match &*self.outcome {
            Outcome::Violated(violation) => &violation.branches,
            _ => &[],
        }
    }
}

impl Report {
    /// Of work that ended before it had counted anything.
    pub fn unfinished(system: &System, answers: Vec<Answer>, reason: Reason) -> Report {
        Report { answers, ended: Some(reason), ..Report::of(system) }
    }

    /// Of a system, with nothing in it yet.
    pub fn of(system: &System) -> Report {
        Report {
            model: system.name.clone(),
            language: system.language.clone(),
            answers: Vec::new(),
            ended: None,
            statistics: Statistics::default(),
            reduction: None,
            symmetry: None,
            static_reduction: None,
            diagrams: None,
            solving: None,
            choice: None,
            cut: None,
            unreached: None,
            unreached_except: Vec::new(),
            cluster: None,
        }
    }

    /// The worst of the answers; not decided if the search did not come to its end.
    pub fn verdict(&self) -> Verdict {
        let unfinished = if self.ended.is_some() { Verdict::Unknown } else { Verdict::Holds };
        self.answers.iter().map(Answer::verdict).chain([unfinished]).min().unwrap_or(Verdict::Holds)
    }

    /// The answer to the property of that name.
    pub fn answer(&self, property: &str) -> Option<&Answer> {
        self.answers.iter().find(|answer| answer.property == property)
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    schema: u32,
    model: &'a str,
    language: &'a str,
    complete: bool,
    results: &'a [Answer],
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetry: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    static_reduction: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a str>,
    stats: JsonStatistics<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<JsonCut<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    unreached: Option<&'a [Unreached]>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unreached_except: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    unreached_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    diagrams: Option<&'a DiagramStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    solving: Option<&'a SolvingStatistics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a Spread>,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let report = JsonReport {
            schema: SCHEMA,
            model: &self.model,
            language: &self.language,
            complete: self.ended.is_none(),
            results: &self.answers,
            reduction: self.reduction.as_deref(),
            symmetry: self.symmetry.as_deref(),
            static_reduction: self.static_reduction.as_deref(),
            choice: self.choice.as_deref(),
            stats: JsonStatistics(&self.statistics),
            cut: self.cut.as_ref().map(|Cut { steps, at_least, by }| JsonCut { steps: *steps, exact: !at_least, by }),
            unreached: self.unreached.as_ref().and_then(|known| known.as_deref().ok()),
            unreached_except: &self.unreached_except,
            unreached_reason: self.unreached.as_ref().and_then(|known| known.as_ref().err()).map(String::as_str),
            diagrams: self.diagrams.as_ref(),
            solving: self.solving.as_ref(),
            cluster: self.cluster.as_ref(),
        };
        report.serialize(serializer)
    }
}

#[derive(Serialize)]
struct JsonCut<'a> {
    #[serde(serialize_with = "count")]
    steps: u64,
    exact: bool,
    by: &'a [CutBy],
}

/// A number, or a word in its place.
#[derive(Serialize)]
#[serde(untagged)]
enum JsonValue {
    Number(u64),
    Word(String),
}

impl From<Length> for JsonValue {
    fn from(length: Length) -> JsonValue {
        match length {
            Length::Steps(steps) => JsonValue::Number(steps),
            other => JsonValue::Word(other.to_string()),
        }
    }
}

#[derive(Serialize)]
struct JsonAnswer<'a> {
    property: &'a str,
    formula: &'a str,
    verdict: Verdict,
    #[serde(skip_serializing_if = "Option::is_none")]
    certainty: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    omission: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<JsonValue>,
    engine: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end: Option<&'a EndState>,
    #[serde(skip_serializing_if = "<[Branch]>::is_empty")]
    branches: &'a [Branch],
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    symmetry: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stats: Option<JsonStatistics<'a>>,
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut answer = JsonAnswer {
            property: &self.property,
            formula: &self.formula,
            verdict: self.verdict(),
            certainty: None,
            bound: None,
            omission: None,
            reason: None,
            value: self.length.map(JsonValue::from).or(self.value.map(JsonValue::Number)),
            engine: self.engine,
            trace: self.shown().map(|shown| &shown.trace),
            end: self.end.as_ref(),
            branches: self.shown().map_or(&[], |shown| &shown.branches),
            note: self.note.as_deref(),
            warnings: &self.warnings,
            reduction: self.reduction.as_deref(),
            symmetry: self.symmetry.as_deref(),
            stats: self.statistics.as_ref().map(JsonStatistics),
        };
        match &*self.outcome {
            Outcome::Holds(Certainty::Proved) => answer.certainty = Some("proved"),
            Outcome::Holds(Certainty::Bounded(bound)) => {
                (answer.certainty, answer.bound) = (Some("bounded"), Some(*bound));
            }
            Outcome::Holds(Certainty::Probable(omission)) => {
                (answer.certainty, answer.omission) = (Some("probable"), Some(*omission));
            }
            Outcome::Violated(violation) => answer.reason = Some(violation.message.clone()),
            Outcome::Unknown(reason) => answer.reason = Some(reason.to_string()),
        }
        answer.serialize(serializer)
    }
}

impl Serialize for Verdict {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Verdict::Holds => "holds",
            Verdict::Violated => "violated",
            Verdict::Unknown => "unknown",
            Verdict::Computed => "computed",
        })
    }
}

/// A count: a number, or a decimal string where it exceeds what a double holds exactly.
struct Count(u64);

impl Serialize for Count {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 <= 1 << 53 { serializer.serialize_u64(self.0) } else { serializer.serialize_str(&self.0.to_string()) }
    }
}

fn count<S: Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    Count(*number).serialize(serializer)
}

struct JsonStatistics<'a>(&'a Statistics);

impl Serialize for JsonStatistics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeMap;
        let Statistics {
            states,
            many_states,
            atomic_states,
            transitions,
            atomic_steps,
            depth,
            time_s,
            memory_bytes,
            store_bytes,
            state_bytes,
            complete: _,
            counts_transitions,
            counts_depth,
            expanded,
            reopened,
            omitted,
        } = self.0;
        let counted = |count: &u64| counts_transitions.then_some(Count(*count));
        // There is no model without a state, and no state without a byte.
        let positive = |count: &u64| Some(Count(*count)).filter(|count| count.0 > 0);
        let mut map = serializer.serialize_map(None)?;
        match many_states {
            Some(many) => map.serialize_entry("states", many)?,
            None => map.serialize_entry("states", &positive(states))?,
        }
        map.serialize_entry("transitions", &counted(transitions))?;
        map.serialize_entry("depth", &counts_depth.then_some(depth))?;
        map.serialize_entry("time_s", time_s)?;
        map.serialize_entry("memory_bytes", memory_bytes)?;
        map.serialize_entry("atomic_states", &counted(atomic_states))?;
        map.serialize_entry("atomic_steps", &counted(atomic_steps))?;
        map.serialize_entry("store_bytes", &positive(store_bytes))?;
        map.serialize_entry("state_bytes", &positive(state_bytes))?;
        for (name, number) in [("expanded", expanded), ("reopened", reopened)] {
            if let Some(number) = number {
                map.serialize_entry(name, &Count(*number))?;
            }
        }
        if let Some(omitted) = omitted {
            map.serialize_entry("omitted", omitted)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(property: &str, outcome: impl Into<ValidOutcome>) -> Answer {
        Answer { property: property.into(), ..Answer::open(outcome) }
    }

    fn report(answers: Vec<Answer>) -> Report {
        let statistics =
            Statistics { states: 3, transitions: 1 << 60, counts_transitions: true, ..Statistics::default() };
        Report {
            model: "m.pml".into(),
            language: "promela".into(),
            answers,
            ended: None,
            statistics,
            reduction: None,
            symmetry: None,
            static_reduction: None,
            diagrams: None,
            unreached: None,
            unreached_except: Vec::new(),
            cluster: None,
            solving: None,
            choice: None,
            cut: None,
        }
    }

    #[test]
    fn the_json_form_is_that_of_the_design() {
        let report = report(vec![answer("deadlock", Certainty::Proved), answer("assertions", Reason::Time)]);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["schema"], 1);
        assert_eq!(json["complete"], true);
        assert_eq!(json["results"][0]["verdict"], "holds");
        assert_eq!(json["results"][0]["certainty"], "proved");
        assert_eq!(json["results"][1]["reason"], "the time limit was reached");
        assert_eq!(json["stats"]["states"], 3);
        assert_eq!(json["stats"]["transitions"], (1u64 << 60).to_string());
        assert_eq!(json["stats"]["depth"], serde_json::Value::Null);
    }

    #[test]
    fn the_worst_answer_counts() {
        assert_eq!(report(vec![]).verdict(), Verdict::Holds);
        let open = answer("deadlock", Reason::Memory);
        assert_eq!(report(vec![open]).verdict(), Verdict::Unknown);
    }
}
