//! Graphs in files, to check formulas on later.
//!
//! A file begins with what it is, the version of its format, a checksum and the length of what follows: JSON with the names of
//! the actions and the observed conditions, and the graph without the sets of its aggregates. These are not needed for a
//! verdict. For a counterexample, those on its path are computed again from the model: an aggregate has at most one successor by
//! an action and a label, so the path says which they are.

use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use ample_budget::Budget;
use ample_logic::{Atom, Formula as Logic};
use ample_model::expr::{BinaryOp, UnaryOp};
use ample_model::{Expr, Move, System};
use rapidhash::v3::rapidhash_v3;
use serde::{Deserialize, Serialize};

use super::{
    Actions, Built, Check, DiagramKind, Judged, Operation, Said, SogError, SogFormula, SogOptions, with_model,
};
use crate::check;
use crate::graph::Graph;
use crate::model::Model;
use crate::observed::Observed;
use crate::product::Loop;
use crate::{Meaning, Question, Work};

/// What every file begins with, before the version of its format.
const MAGIC: &str = "ample observation graph ";
/// The version that is written and read.
const VERSION: &str = "1";
/// The first line is not longer.
const LONGEST_HEADER: usize = 100;
/// Bytes that are read or written together.
const BLOCK: usize = 1 << 16;

/// A graph without the sets of its aggregates, and what it is a graph of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SavedGraph {
    /// Stands for the model.
    model: String,
    /// All actions: their names, and what they are in the model.
    actions: Vec<(String, Move)>,
    /// The observed conditions, as text and as they are.
    atoms: Vec<(String, Expr)>,
    /// The graph.
    graph: Graph,
}

impl SavedGraph {
    /// What is saved of a graph of that system, which was built with these options.
    pub fn of(system: &System, built: &Built, options: &SogOptions, budget: &Budget) -> Result<SavedGraph, SogError> {
        let refuse = |why: &str| Err(SogError::Formula(why.into()));
        if built.graph.observed.parts > 1 {
            return refuse("a graph whose successors are split into parts cannot be saved: use `--kind event`");
        }
        let actions: Vec<(String, Move)> = built.actions.iter().cloned().zip(built.moves.iter().cloned()).collect();
        let is_twice = |action: &usize| actions.iter().filter(|other| **other == actions[*action]).count() > 1;
        if built.graph.observed.actions.iter().any(is_twice) {
            return refuse(
                "an observed statement belongs to processes of several types with the same id: the graph cannot be saved",
            );
        }
        let mut graph = built.graph.clone();
        graph.aggregates.iter_mut().for_each(|aggregate| aggregate.set = Vec::new());
        graph.is_canonical = false;
        let atoms = built.atoms.iter().cloned().zip(options.atoms.iter().cloned()).collect();
        Ok(SavedGraph { model: digest(system, budget)?, actions, atoms, graph })
    }

    /// The content of a file.
    pub fn to_bytes(&self, budget: &Budget) -> Result<Vec<u8>, SogError> {
        let body = serde_json::to_vec(self).map_err(|error| SogError::Internal(error.to_string()))?;
        let mut bytes = format!("{MAGIC}{VERSION} {:016x} {}\n", checksum(&body), body.len()).into_bytes();
        bytes.extend(body);
        // What is nested too deeply cannot be read again.
        match SavedGraph::parse(&bytes, budget) {
            Ok(_) => Ok(bytes),
            Err(SogError::File(why)) => Err(SogError::Formula(format!("the graph cannot be saved: {why}"))),
            Err(error) => Err(error),
        }
    }

    /// Reads a file.
    pub fn read(path: &Path, budget: &Budget) -> Result<SavedGraph, SogError> {
        let name = path.display();
        let wrong = |error: io::Error| SogError::File(format!("cannot read {name}: {error}"));
        let file = std::fs::File::open(path).map_err(wrong)?;
        let metadata = file.metadata().map_err(wrong)?;
        if !metadata.is_file() {
            return Err(SogError::File(format!("cannot read {name}: it is no file")));
        }
        if budget.room().is_some_and(|room| metadata.len() > room / 4) {
            return Err(SogError::Ended(ample_model::Reason::Memory));
        }
        let mut bytes = Vec::new();
        loop {
            budget.check().map_err(|interrupted| SogError::Ended(interrupted.into()))?;
            let more = (&file).take(BLOCK as u64).read_to_end(&mut bytes).map_err(wrong)?;
            if more == 0 {
                break;
            }
        }
        SavedGraph::parse(&bytes, budget).map_err(|error| match error {
            SogError::File(why) => SogError::File(format!("{name}: {why}")),
            error => error,
        })
    }

    /// Reads the content of a file.
    pub fn parse(bytes: &[u8], budget: &Budget) -> Result<SavedGraph, SogError> {
        let wrong = |why: String| SogError::File(why);
        let Some(rest) = bytes.strip_prefix(MAGIC.as_bytes()) else {
            return Err(wrong("this is no observation graph that `ample sog --save` has written".into()));
        };
        let damaged = || SogError::File("the observation graph is damaged: its first line cannot be read".into());
        let end = rest.iter().take(LONGEST_HEADER).position(|byte| *byte == b'\n');
        let header = end.and_then(|end| std::str::from_utf8(&rest[..end]).ok());
        // A version that is not known may go on in another way.
        let version = std::str::from_utf8(&rest[..rest.len().min(LONGEST_HEADER)]).unwrap_or("");
        let version = version.split_ascii_whitespace().next().unwrap_or("");
        if version != VERSION {
            return Err(wrong(format!(
                "the observation graph is written in version {version:?} of the format, and version {VERSION} is expected"
            )));
        }
        let (header, end) = header.zip(end).ok_or_else(damaged)?;
        let [_, sum, length] = header.split(' ').collect::<Vec<_>>()[..] else { return Err(damaged()) };
        let sum = u64::from_str_radix(sum, 16).map_err(|_| damaged())?;
        let length: usize = length.parse().map_err(|_| damaged())?;
        if header != format!("{VERSION} {sum:016x} {length}") {
            return Err(damaged());
        }
        let body = &rest[end + 1..];
        if body.len() != length {
            let found = body.len();
            let what = if found < length { "truncated" } else { "damaged" };
            return Err(wrong(format!(
                "the observation graph is {what}: {length} bytes are expected after the first line, and there are {found}"
            )));
        }
        budget.check().map_err(|interrupted| SogError::Ended(interrupted.into()))?;
        if checksum(body) != sum {
            return Err(wrong("the observation graph is damaged: its checksum is wrong".into()));
        }
        let saved: SavedGraph = serde_json::from_slice(body)
            .map_err(|error| wrong(format!("the observation graph is damaged: {error}")))?;
        if !saved.is_well_formed() {
            return Err(wrong("the observation graph is damaged: it refers to what it does not contain".into()));
        }
        Ok(saved)
    }

    /// Every number in it is that of something.
    fn is_well_formed(&self) -> bool {
        let Graph { observed, aggregates, initial, .. } = &self.graph;
        let is_aggregate = |number: &usize| *number < aggregates.len();
        let is_action = |number: &usize| *number < self.actions.len();
        let are_arcs = |arcs: &[(Option<usize>, usize)]| {
            arcs.iter()
                .all(|(action, to)| is_aggregate(to) && action.is_none_or(|action| observed.actions.contains(&action)))
        };
        let is_sorted = |numbers: &[usize]| numbers.windows(2).all(|pair| pair[0] < pair[1]);
        observed.actions.iter().all(is_action)
            && is_sorted(&observed.actions)
            && observed.atoms.iter().all(|atom| *atom < self.atoms.len())
            && is_sorted(&observed.atoms)
            && observed.parts == 1
            && initial.iter().all(is_aggregate)
            && aggregates.iter().all(|aggregate| are_arcs(&aggregate.arcs))
    }

    /// Its figures.
    pub fn size(&self) -> crate::Size {
        self.graph.size()
    }

    /// Checks a formula whose conditions and actions the graph observes. The model is needed for a counterexample only.
    pub fn check(
        &self,
        system: &System,
        formula: &SogFormula,
        options: &SogOptions,
        budget: &Budget,
    ) -> Result<Judged, SogError> {
        let begun = Instant::now();
        if digest(system, budget)? != self.model {
            return Err(SogError::File("the observation graph was built from another model".into()));
        }
        let question = self.question(system, formula)?;
        let (found, product) = check::find(&self.graph, &question, options.collapsed, budget)?;
        let count = self.graph.aggregates.len();
        let mut judged = Judged {
            violation: None,
            aggregates: (count, count),
            product,
            size: Some(self.size()),
            work: Work::default(),
            engine: "saved graph",
            has_endless_sequences: false,
            took: begun.elapsed(),
            times: Vec::new(),
        };
        if let Some(found) = found {
            let atoms: Vec<Expr> = self.atoms.iter().map(|(_, expr)| expr.clone()).collect();
            let check = Check { system, formula, options, begun, budget };
            let kind = if options.diagrams == DiagramKind::Both { DiagramKind::Auto } else { options.diagrams };
            let shown = with_model(system, &atoms, kind, budget, Explain { saved: self, check, question, found })?;
            judged.violation = Some(shown);
        }
        let mut judged = super::with_faults(system, formula, judged, budget)?;
        judged.took = begun.elapsed();
        judged.times = vec![(judged.engine, judged.took)];
        Ok(judged)
    }

    /// The formula, over what the graph observes.
    fn question(&self, system: &System, formula: &SogFormula) -> Result<Question, SogError> {
        let mut meanings: Vec<Meaning> = self.graph.observed.atoms.iter().copied().map(Meaning::State).collect();
        let mut values = Vec::new();
        for said in &formula.atoms {
            values.push(match said {
                Said::State(expr) => self.value(expr).ok_or_else(|| self.unobserved(&system.show_expr(None, expr)))?,
                Said::Event(name) => {
                    meanings.push(self.event(system, name)?);
                    Logic::atom(Atom(meanings.len() as u32 - 1))
                }
            });
        }
        let formula = formula.formula.substitute(&mut |atom| values[atom.0 as usize].clone());
        Ok(Question { formula, meanings })
    }

    fn unobserved(&self, condition: &str) -> SogError {
        let names: Vec<&str> = self.graph.observed.atoms.iter().map(|atom| self.atoms[*atom].0.as_str()).collect();
        let observed = if names.is_empty() { "none".into() } else { format!("`{}`", names.join("`, `")) };
        SogError::Formula(format!(
            "the graph does not observe the condition `{condition}`; those that it observes: {observed}"
        ))
    }

    /// A condition, if it is an observed one or put together from these.
    fn value(&self, expr: &Expr) -> Option<Logic> {
        let Graph { observed, .. } = &self.graph;
        if let Some(place) = observed.atoms.iter().position(|atom| self.atoms[*atom].1 == *expr) {
            return Some(Logic::atom(Atom(place as u32)));
        }
        match expr {
            Expr::Const(value) => Some(if *value == 0 { Logic::False } else { Logic::True }),
            Expr::Unary(UnaryOp::Not, operand) => Some(!self.value(operand)?),
            Expr::Binary(BinaryOp::And, one, other) => Some(self.value(one)? & self.value(other)?),
            Expr::Binary(BinaryOp::Or, one, other) => Some(self.value(one)? | self.value(other)?),
            _ => None,
        }
    }

    fn event(&self, system: &System, name: &str) -> Result<Meaning, SogError> {
        let names: Vec<String> = self.actions.iter().map(|(name, _)| name.clone()).collect();
        let actions = super::find(system, &names, name)?;
        if actions.iter().any(|action| !self.graph.observed.actions.contains(action)) {
            let observed: Vec<&str> =
                self.graph.observed.actions.iter().map(|action| names[*action].as_str()).collect();
            let observed = if observed.is_empty() { "none".into() } else { format!("`{}`", observed.join("`, `")) };
            let sentence =
                format!("the graph does not observe the action `{name}`; those that it observes: {observed}");
            return Err(SogError::Formula(sentence));
        }
        Ok(Meaning::Event(actions))
    }
}

/// Makes a run of the model of one through the graph.
struct Explain<'a> {
    saved: &'a SavedGraph,
    check: Check<'a>,
    question: Question,
    found: Loop,
}

impl Operation<super::Counterexample> for Explain<'_> {
    fn perform<M: Model>(self, model: &M, actions: &Actions<'_>) -> Result<super::Counterexample, SogError> {
        let names = model.actions();
        // The model may number its actions in another way, and leave out some that are never taken.
        let number = |action: usize| {
            let (name, taken) = &self.saved.actions[action];
            (0..names.len()).find(|other| names[*other] == *name && actions.moves[*other] == *taken)
        };
        let observed = &self.saved.graph.observed;
        let those: Vec<usize> = observed.actions.iter().filter_map(|action| number(*action)).collect();
        let observed = Observed::events_and_states(names.len(), &those, &observed.atoms)?;
        let is_called = |meaning: &Meaning| match meaning {
            Meaning::State(atom) => Meaning::State(*atom),
            Meaning::Event(actions) => Meaning::Event(actions.iter().filter_map(|action| number(*action)).collect()),
        };
        let meanings = self.question.meanings.iter().map(is_called).collect();
        let question = Question { formula: self.question.formula, meanings };
        let found = self.found.renumbered(&number);
        let found = found.ok_or_else(|| SogError::Internal("an action of the graph is none of the model".into()))?;
        let witness = check::explain_again(model, &self.saved.graph, &observed, &question, &found, self.check.budget)?;
        self.check.validated(&witness, actions, names)
    }
}

/// A number that stands for a model, whatever its file is called and whatever is asked about it.
fn digest(system: &System, budget: &Budget) -> Result<String, SogError> {
    let bare = System { name: String::new(), sources: Vec::new(), properties: Vec::new(), ..system.clone() };
    let mut digest = Digest { sum: 0, block: Vec::with_capacity(BLOCK), budget };
    let written = serde_json::to_writer(&mut digest, &bare).map_err(io::Error::from).and_then(|()| digest.flush());
    budget.check().map_err(|interrupted| SogError::Ended(interrupted.into()))?;
    written.map_err(|error| SogError::Internal(error.to_string()))?;
    Ok(format!("{:016x}", digest.sum))
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(BLOCK).fold(0, chained)
}

/// The checksum of a block, and of what came before it.
fn chained(before: u64, block: &[u8]) -> u64 {
    before.rotate_left(7) ^ rapidhash_v3(block)
}

/// The checksum of what is written.
struct Digest<'a> {
    sum: u64,
    block: Vec<u8>,
    budget: &'a Budget,
}

impl Write for Digest<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let part = &bytes[..bytes.len().min(BLOCK - self.block.len())];
        self.block.extend_from_slice(part);
        if self.block.len() == BLOCK {
            self.budget.check().map_err(|_| io::Error::other("interrupted"))?;
            self.flush()?;
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sum = chained(self.sum, &self.block);
        self.block.clear();
        Ok(())
    }
}
