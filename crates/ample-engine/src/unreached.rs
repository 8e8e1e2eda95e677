//! Unreached code: the statements that no run executes, as Spin's verifiers list them.
//!
//! A search that leaves out nothing tells which edges it has taken ([`Coverage`]); what is left are the statements that are
//! not executed in any run. With partial-order reduction that is still so if the persistent sets obey a proviso: every
//! transition that is executable in some reachable state is taken somewhere in the reduced space (P. Godefroid,
//! *Partial-Order Methods for the Verification of Concurrent Systems*, chapter 6: reachability of local states). Static
//! reductions merge edges; what was taken of them is told of the edges of the original system.

use std::collections::{BTreeMap, HashMap, HashSet};

use ample_model::{Action, Edge, EdgeId, Expr, Instruction, ProcessId, ProcessType, Role, Span, System};
use serde::Serialize;

/// What became of an edge in a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taken {
    /// It was never executable.
    #[default]
    Never,
    /// It was executed, and always a run-time error: what comes after it was not reached by it.
    Failed,
    /// It was executed.
    Completed,
}

/// Which edges of a system a search has taken, one that has taken every edge that is executable in a reachable state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// By process type and edge.
    taken: Vec<Vec<Taken>>,
}

impl Coverage {
    /// What became of an edge.
    pub fn of(&self, process: ProcessId, edge: EdgeId) -> Taken {
        let edges = self.taken.get(process.index());
        edges.and_then(|edges| edges.get(edge.index())).copied().unwrap_or_default()
    }

    /// An edge was taken.
    pub fn note(&mut self, process: ProcessId, edge: EdgeId, taken: Taken) {
        if self.taken.len() <= process.index() {
            self.taken.resize(process.index() + 1, Vec::new());
        }
        let edges = &mut self.taken[process.index()];
        if edges.len() <= edge.index() {
            edges.resize(edge.index() + 1, Taken::Never);
        }
        edges[edge.index()] = taken.max(edges[edge.index()]);
    }

    /// The same of the system that this one is a reduction of, or of itself. Of a path that is one edge, only the first
    /// step can be a run-time error.
    pub fn of_source(self, system: &System) -> Coverage {
        if system.original.is_none() {
            return self;
        }
        let mut all = Coverage::default();
        for (number, process) in system.processes.iter().enumerate() {
            let id = ProcessId::from(number);
            for (number, edge) in process.edges.iter().enumerate() {
                let taken = self.of(id, number.into());
                let itself = [EdgeId::from(number)];
                let origin = if edge.origin.is_empty() { &itself[..] } else { &edge.origin };
                let executed = if taken == Taken::Completed { origin.len() } else { 1 };
                origin.iter().take(executed).for_each(|edge| all.note(id, *edge, taken));
            }
        }
        all
    }
}

/// A statement that no run executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unreached {
    /// The process type.
    pub process: String,
    /// The statement in the words of the source; `-end-` is the end of a process.
    pub statement: String,
    /// The file, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// Control comes to it, but it is never executable. Otherwise no run comes to it.
    pub reached: bool,
    /// What comes after it is listed as unreached, so that it need not be named to be found.
    #[serde(skip)]
    pub is_implied: bool,
}

/// What is known of a statement, which may be several edges: an inline is expanded wherever it is called.
#[derive(Default)]
struct Statement {
    is_executed: bool,
    is_reached: bool,
    /// It is listed only if it is not reached.
    may_wait: bool,
    /// Where its edges lead.
    targets: Vec<usize>,
    /// Where they begin.
    sources: Vec<usize>,
}

/// The statements of a system that are never executed, by process type and then in the order of the source. The coverage
/// is that of the system [itself](System::source_system) or of a reduction of it.
pub fn unreached(system: &System, coverage: Coverage) -> Vec<Unreached> {
    let coverage = coverage.of_source(system);
    let system = system.source_system();
    let created = created(system, &coverage);
    let mut found: Vec<(Unreached, Option<Span>)> = Vec::new();
    for (number, process) in system.processes.iter().enumerate() {
        if process.role == Role::Process {
            let id = ProcessId::from(number);
            found.extend(statements(process, id, &coverage, created.contains(&id)));
        }
    }
    let places = positions(system, found.iter().filter_map(|(_, span)| *span));
    for (statement, span) in &mut found {
        let Some(span) = span else { continue };
        let Some((line, column)) = places.get(&(span.source.index(), span.start)) else { continue };
        statement.file = Some(system.sources[span.source.index()].path.clone());
        (statement.line, statement.column) = (Some(*line), Some(*column));
    }
    found.into_iter().map(|(statement, _)| statement).collect()
}

/// The statements of a process type that are never executed, and where they are.
fn statements(
    process: &ProcessType,
    id: ProcessId,
    coverage: &Coverage,
    is_created: bool,
) -> Vec<(Unreached, Option<Span>)> {
    let reached = reached(process, id, coverage, is_created);
    let mut all: BTreeMap<(Option<Span>, &str), Statement> = BTreeMap::new();
    for (number, edge) in process.edges.iter().enumerate().filter(|(_, edge)| !is_jump(edge)) {
        let statement = all.entry((edge.span, &edge.label)).or_default();
        statement.is_executed |= coverage.of(id, number.into()) != Taken::Never;
        statement.is_reached |= reached[edge.from.index()];
        statement.may_wait |= edge.ends_process() || edge.guard.contains(&Expr::Const(0));
        statement.targets.push(edge.to.index());
        statement.sources.push(edge.from.index());
    }
    for dead in &process.dead_code {
        all.entry((dead.span, &dead.label)).or_default();
    }
    all.retain(|_, statement| !(statement.is_executed || statement.is_reached && statement.may_wait));
    let listed: HashSet<usize> = all
        .values()
        .filter(|statement| !statement.is_reached)
        .flat_map(|statement| statement.sources.clone())
        .collect();
    all.into_iter()
        .map(|((span, label), statement)| {
            let is_implied = statement.is_reached && statement.targets.iter().any(|to| listed.contains(to));
            let (reached, process) = (statement.is_reached, process.name.clone());
            let statement = label.to_owned();
            (Unreached { process, statement, file: None, line: None, column: None, reached, is_implied }, span)
        })
        .collect()
}

/// A jump that the control flow has made a step of its own; nobody has written it as a statement.
fn is_jump(edge: &Edge) -> bool {
    edge.effect.is_empty() && edge.guard.is_empty() && edge.communication.is_none() && edge.label == "goto"
}

/// The locations at which a process of that type stands in some run.
fn reached(process: &ProcessType, id: ProcessId, coverage: &Coverage, is_created: bool) -> Vec<bool> {
    let mut reached = vec![false; process.locations.len()];
    reached[process.initial.index()] = is_created;
    for (number, edge) in process.edges.iter().enumerate() {
        match coverage.of(id, number.into()) {
            Taken::Never => {}
            Taken::Failed => reached[edge.from.index()] = true,
            Taken::Completed => {
                reached[edge.from.index()] = true;
                reached[edge.to.index()] = true;
            }
        }
    }
    reached
}

/// The process types of which there are processes in some run; those that a deterministic step may create are counted too.
fn created(system: &System, coverage: &Coverage) -> HashSet<ProcessId> {
    let mut created: HashSet<ProcessId> = system.start.iter().map(|instance| instance.process).collect();
    for (number, process) in system.processes.iter().enumerate() {
        let was_taken = |edge: usize| coverage.of(number.into(), edge.into()) != Taken::Never;
        let taken = process.edges.iter().enumerate().filter(|(edge, _)| was_taken(*edge));
        created.extend(taken.flat_map(|(_, edge)| &edge.effect).filter_map(|instruction| match instruction {
            Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) => {
                Some(*process)
            }
            _ => None,
        }));
    }
    created
}

/// Lines and columns of where spans begin, in one pass over each source.
fn positions(system: &System, spans: impl Iterator<Item = Span>) -> HashMap<(usize, u32), (usize, usize)> {
    let mut starts: Vec<(usize, u32)> = spans.map(|span| (span.source.index(), span.start)).collect();
    starts.sort_unstable();
    starts.dedup();
    let mut places = HashMap::new();
    let mut wanted = starts.into_iter().peekable();
    while let Some(&(source, _)) = wanted.peek() {
        let Some(text) = system.sources.get(source).map(|source| &source.text) else { break };
        let (mut line, mut column) = (1, 1);
        for (offset, character) in text.char_indices().chain([(text.len(), ' ')]) {
            while let Some(start) = wanted.next_if(|(other, start)| *other == source && *start as usize <= offset) {
                places.insert(start, (line, column));
            }
            (line, column) = if character == '\n' { (line + 1, 1) } else { (line, column + 1) };
        }
        // Nothing begins after the end.
        while wanted.next_if(|(other, _)| *other == source).is_some() {}
    }
    places
}
