//! The engine for workers that share no memory: a system is prepared once in each process, and where the graph is built does
//! not matter to what is made of it.

use std::time::Instant;

use ample_budget::Budget;
use ample_engine::workers::with_deep_stack;
use ample_model::{Expr, Interpreter, Move, StartNumber, System};
use ample_petri::net::{Condition, Net};

use super::{Build, Built, Check, DEFAULT_MEMORY, DiagramKind, ENGINE, Judged, SogError, SogFormula, SogOptions};
use crate::binary::Arrangement;
use crate::{Binary, Checked, Graph, Lists, Model, Observed, Work};

/// A system with conditions on its states, ready for sets to be made.
#[derive(Debug)]
pub struct Prepared(Encoded);

#[derive(Debug)]
enum Encoded {
    Lists(Box<Lists>),
    Binary(Box<Binary>),
}

/// What is known of actions beside their names.
pub struct Actions<'a> {
    pub(super) moves: Vec<Move>,
    pub(super) start: &'a dyn Fn(&[u64]) -> Option<StartNumber>,
    pub(super) engine: &'static str,
    pub(super) has_endless_sequences: bool,
}

/// What is done with a model, whatever its sets are.
pub trait Operation<T> {
    /// Does it.
    fn perform<M: Model>(self, model: &M, actions: &Actions<'_>) -> Result<T, SogError>;
}

impl Prepared {
    /// List diagrams for nets, binary ones for all other systems.
    pub fn new(system: &System, atoms: &[Expr], diagrams: DiagramKind, budget: &Budget) -> Result<Prepared, SogError> {
        let memory = budget.room().unwrap_or(DEFAULT_MEMORY) / 2;
        let named = |expr: &Expr| (system.show_expr(None, expr), expr.clone());
        let condition = |expr: &Expr| Some((system.show_expr(None, expr), Condition::of(expr)?));
        let net = match diagrams {
            DiagramKind::Binary => None,
            _ => Net::within(system, budget).map_err(|interrupted| SogError::Ended(interrupted.into()))?,
        };
        if let Some(net) = net
            && let Some(conditions) = atoms.iter().map(condition).collect::<Option<Vec<_>>>()
        {
            return Ok(Prepared(Encoded::Lists(Box::new(Lists::new(net, conditions, memory)))));
        }
        if matches!(diagrams, DiagramKind::Lists | DiagramKind::Both) {
            return Err(SogError::Formula(
                "list diagrams are for Petri nets and linear conditions on their tokens: `--diagrams binary` is for all \
                 models"
                    .into(),
            ));
        }
        let atoms: Vec<(String, Expr)> = atoms.iter().map(named).collect();
        // Encoding looks at all reachable states, with diagrams as deep as there are bits.
        let encoded = with_deep_stack(ENGINE, || Binary::new(system, &atoms, memory, budget));
        Ok(Prepared(Encoded::Binary(Box::new(encoded.map_err(SogError::Ended)??))))
    }

    /// What another process needs to give the same bytes to the same set; nothing if all do so anyway.
    pub fn arrangement(&self) -> Option<Arrangement> {
        match &self.0 {
            Encoded::Lists(_) => None,
            Encoded::Binary(binary) => Some(binary.arrangement()),
        }
    }

    /// As another process has prepared it; an error if the two have not encoded the system alike.
    pub fn arranged(self, as_there: Option<Arrangement>) -> Result<Prepared, SogError> {
        match (self.0, as_there) {
            (Encoded::Lists(lists), None) => Ok(Prepared(Encoded::Lists(lists))),
            (Encoded::Binary(binary), Some(as_there)) => {
                Ok(Prepared(Encoded::Binary(Box::new(binary.arranged(as_there)?))))
            }
            _ => Err(SogError::Internal("the processes do not use the same diagrams".into())),
        }
    }

    /// Does something with the model.
    pub fn perform<T>(&self, system: &System, task: impl Operation<T>) -> Result<T, SogError> {
        match &self.0 {
            Encoded::Lists(lists) => {
                let moves = (0..lists.actions().len()).map(|edge| Move::Process { process: 0, edge: edge.into() });
                let actions = Actions {
                    moves: moves.collect(),
                    start: &|_| Some(StartNumber::default()),
                    engine: "list diagrams",
                    has_endless_sequences: false,
                };
                task.perform(&**lists, &actions)
            }
            Encoded::Binary(binary) => {
                let start = |bits: &[u64]| Interpreter::new(system).number_of(&binary.state(system, bits));
                let actions = Actions {
                    moves: binary.moves().to_vec(),
                    start: &start,
                    engine: "binary diagrams",
                    has_endless_sequences: binary.has_endless_sequences(),
                };
                task.perform(&**binary, &actions)
            }
        }
    }
}

/// What the options observe of a model where there is no formula.
pub fn observed<M: Model>(system: &System, model: &M, options: &SogOptions) -> Result<Observed, SogError> {
    super::observed(system, model, options)
}

/// A graph that was built somewhere, with its names.
pub fn built<M: Model>(model: &M, actions: &Actions<'_>, graph: Graph, work: Work, begun: Instant) -> Built {
    Build::built(model, actions, graph, work, begun)
}

/// The verdict on a formula that was checked somewhere: a run that violates it is validated.
pub fn judged<M: Model>(
    (system, formula, options): (&System, &SogFormula, &SogOptions),
    checked: Checked,
    (model, actions): (&M, &Actions<'_>),
    begun: Instant,
    budget: &Budget,
) -> Result<Judged, SogError> {
    Check { system, formula, options, begun, budget }.judged(checked, model, actions)
}

/// The verdict if the conditions of the formula may be faults, which the graph takes for false.
pub fn with_faults(system: &System, formula: &SogFormula, judged: Judged, budget: &Budget) -> Result<Judged, SogError> {
    super::with_faults(system, formula, judged, budget)
}

/// What is asked about is part of the states of the system.
pub fn accept(system: &System, options: &SogOptions) -> Result<(), SogError> {
    options.atoms.iter().try_for_each(|expr| super::is_kept(system, expr)).map_err(SogError::Formula)
}
