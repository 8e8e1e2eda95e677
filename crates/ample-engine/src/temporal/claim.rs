//! Never claims as automata.
//!
//! A claim moves once for each visible state of the system, and reads that state. An atomic sequence in it is one
//! such move. A claim that comes to its end has seen what must not be; so has one whose assertion fails, and one that
//! tries to evaluate a condition that is a fault there.
//!
//! A claim that only observes is an automaton ([`read`]). One that assigns to variables is performed beside the system
//! as the process that it is ([`Acting`]).

use std::collections::HashMap;

use ample_model::facts::Lens;
use ample_model::{Action, BinaryOp, EdgeId, Expr, Instruction, LocationId, ProcessId, ProcessType, Role, System};

use super::{ClaimAutomaton, Edge};

/// So many ways through the atomic sequences of a claim are followed.
const MAX_WAYS: usize = 10_000;
/// And so deep are its conditions and sequences.
const MAX_DEPTH: usize = 100;

/// The automaton of a never claim.
pub fn read(system: &System, id: ProcessId) -> Result<ClaimAutomaton, String> {
    let claim = system.process(id);
    let mut reader = Reader::new(system, id);
    let seen = reader.seen;
    let mut edges = Vec::new();
    for number in 0..claim.locations.len() {
        edges.push(reader.location(LocationId::from(number))?);
    }
    for all in [seen, seen + 1, seen + 2] {
        edges.push(vec![Edge { when: vec![vec![]], to: all, marks: 1 }]);
    }
    let initial = if claim.locations[claim.initial.index()].end { seen } else { claim.initial.0 };
    Ok(ClaimAutomaton { edges, initial, sets: 1, atoms: reader.atoms, stutters: true, end: seen })
}

/// A never claim that changes the state, to be performed move by move.
pub struct Acting {
    /// Which it is.
    pub id: ProcessId,
    /// The guards of its edges, and whether a process stands at a label `accept`.
    pub atoms: Vec<Expr>,
    /// What leads out of each location.
    pub locations: Vec<ActingLocation>,
    /// Where it begins.
    pub initial: u32,
    /// The atom that says that a process stands at a label `accept`, if those count.
    pub accepting: Option<u32>,
}

/// A location of such a claim.
#[derive(Clone)]
pub struct ActingLocation {
    /// Its edges.
    pub edges: Vec<ActingEdge>,
    /// It is accepting.
    pub accept: bool,
    /// The claim has come to its end.
    pub end: bool,
}

/// An edge of such a claim.
#[derive(Clone, Copy)]
pub struct ActingEdge {
    /// Which it is.
    pub id: EdgeId,
    /// The atom that is its guard.
    pub guard: u32,
    /// Where it leads.
    pub to: u32,
    /// The claim goes on at once.
    pub keeps_control: bool,
    /// It depends on what other edges can do.
    pub is_else: bool,
    /// It does something.
    pub acts: bool,
}

impl Acting {
    /// The claim, if it changes the state.
    pub fn of(system: &System, id: ProcessId) -> Result<Option<Acting>, String> {
        let claim = system.process(id);
        let instructions = claim.edges.iter().flat_map(|edge| &edge.effect);
        if !instructions.clone().any(is_assignment) {
            return Ok(None);
        }
        if !claim.locals.is_empty() {
            return Err("a never claim cannot have variables of its own".into());
        }
        let mut reader = Reader::new(system, id);
        let mut locations = Vec::new();
        for location in &claim.locations {
            let mut edges = Vec::new();
            for id in &location.edges {
                edges.push(reader.acting_edge(*id)?);
            }
            locations.push(ActingLocation { edges, accept: location.accept, end: location.end });
        }
        let accepting = reader.accepts.then(|| reader.atom(&Expr::Accepting));
        Ok(Some(Acting { id, atoms: reader.atoms, locations, initial: claim.initial.0, accepting }))
    }
}

fn is_assignment(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => {
            matches!(action, Action::Assign(..) | Action::AssignAll(_))
        }
        Instruction::Jump(_) | Instruction::Fail(_) => false,
    }
}

/// What a claim may do beside looking.
fn may_act(instruction: &Instruction) -> bool {
    match instruction {
        Instruction::Do(action) | Instruction::Try(action, _) => {
            let assigns = matches!(action, Action::Assign(..) | Action::AssignAll(_));
            assigns || matches!(action, Action::Test(_) | Action::Assert { .. } | Action::Print { .. })
        }
        Instruction::Jump(_) | Instruction::Fail(_) => true,
    }
}

struct Reader<'a> {
    id: ProcessId,
    claim: &'a ProcessType,
    lens: Lens<'a>,
    atoms: Vec<Expr>,
    numbers: HashMap<Expr, u32>,
    /// The state in which the claim has come to its end; after it come the one in which an assertion has failed, and the
    /// one in which a condition was a fault.
    seen: u32,
    /// Processes have accept labels too: they count like those of the claim.
    accepts: bool,
    ways: usize,
}

/// A conjunction of literals.
type Cube = Vec<(u32, bool)>;

impl<'a> Reader<'a> {
    fn new(system: &'a System, id: ProcessId) -> Self {
        let labelled = system.processes.iter().filter(|process| process.role == Role::Process);
        let accepts = labelled.flat_map(|process| &process.locations).any(|location| location.accept);
        let claim = system.process(id);
        let (seen, lens) = (claim.locations.len() as u32, Lens::new(system));
        Reader { id, claim, lens, atoms: Vec::new(), numbers: HashMap::new(), seen, accepts, ways: 0 }
    }

    fn acting_edge(&mut self, id: EdgeId) -> Result<ActingEdge, String> {
        let claim = self.claim;
        let edge = &claim.edges[id.index()];
        if edge.communication.is_some() {
            return Err("a never claim cannot send or receive".into());
        }
        if !edge.effect.iter().all(may_act) {
            return Err(format!("`{}` in the never claim is not supported", edge.label));
        }
        let guard = self.condition(id, 0)?;
        let guard = self.atom(&guard);
        let is_else = edge.guard.iter().any(|condition| matches!(condition, Expr::Blocked(_)));
        let acts = !edge.effect.is_empty();
        Ok(ActingEdge { id, guard, to: edge.to.0, keeps_control: edge.keeps_control, is_else, acts })
    }

    fn location(&mut self, id: LocationId) -> Result<Vec<Edge>, String> {
        let claim = self.claim;
        let location = &claim.locations[id.index()];
        let mut ways = Vec::new();
        self.ways_from(id, &Vec::new(), 0, &mut ways)?;
        let mut edges = Vec::new();
        for (when, to) in ways {
            if location.accept {
                edges.push(Edge { when: vec![when], to, marks: 1 });
            } else if self.accepts {
                let accepting = self.atom(&Expr::Accepting);
                for value in [true, false] {
                    let when = when.iter().copied().chain([(accepting, value)]).collect();
                    edges.push(Edge { when: vec![when], to, marks: value.into() });
                }
            } else {
                edges.push(Edge { when: vec![when], to, marks: 0 });
            }
        }
        Ok(edges)
    }

    /// The ways out of a location, to the end of an atomic sequence if one begins there.
    fn ways_from(
        &mut self,
        id: LocationId,
        before: &Cube,
        depth: usize,
        out: &mut Vec<(Cube, u32)>,
    ) -> Result<(), String> {
        if depth > MAX_DEPTH {
            return Err("an atomic sequence of the never claim may go on without end".into());
        }
        let claim = self.claim;
        for edge in &claim.locations[id.index()].edges {
            self.ways += 1;
            if self.ways > MAX_WAYS {
                return Err("the never claim has too many ways through its atomic sequences".into());
            }
            let edge = &claim.edges[edge.index()];
            let mut when = before.clone();
            if !self.guard(edge, &mut when, out)? {
                continue;
            }
            for instruction in &edge.effect {
                match instruction {
                    Instruction::Do(Action::Print { .. }) => {}
                    Instruction::Do(Action::Test(condition)) => {
                        self.fault(condition, &when, out);
                        when.push((self.atom(condition), true));
                    }
                    Instruction::Do(Action::Assert { condition, .. }) => {
                        self.fault(condition, &when, out);
                        let atom = self.atom(condition);
                        out.push((when.iter().copied().chain([(atom, false)]).collect(), self.seen + 1));
                        when.push((atom, true));
                    }
                    _ => return Err(format!("`{}` in the never claim is not supported", edge.label)),
                }
            }
            let target = &claim.locations[edge.to.index()];
            if target.end {
                out.push((when, self.seen));
            } else if edge.keeps_control {
                self.ways_from(edge.to, &when, depth + 1, out)?;
            } else {
                out.push((when, edge.to.0));
            }
        }
        Ok(())
    }

    /// Adds the way to a fault, where a condition that is evaluated after others may be one. An atom that is a fault
    /// counts as false, and so does one that would be true for either value of the condition.
    fn fault(&mut self, condition: &Expr, before: &Cube, out: &mut Vec<(Cube, u32)>) {
        if !self.lens.expr(self.id, condition).traits.may_fault {
            return;
        }
        let evaluated = self.atom(&Expr::binary(BinaryOp::Or, condition.clone(), Expr::TRUE));
        out.push((before.iter().copied().chain([(evaluated, false)]).collect(), self.seen + 2));
    }

    /// Adds the guard of an edge; false if it is never true.
    fn guard(&mut self, edge: &ample_model::Edge, when: &mut Cube, out: &mut Vec<(Cube, u32)>) -> Result<bool, String> {
        if edge.communication.is_some() {
            return Err("a never claim cannot send or receive".into());
        }
        for condition in &edge.guard {
            match condition {
                Expr::Const(0) => return Ok(false),
                Expr::Const(_) => {}
                Expr::Blocked(edges) => {
                    for other in edges {
                        match self.condition(*other, 0)? {
                            Expr::Const(0) => {}
                            Expr::Const(_) => return Ok(false),
                            condition => when.push((self.atom(&condition), false)),
                        }
                    }
                }
                condition => {
                    self.fault(condition, when, out);
                    when.push((self.atom(condition), true));
                }
            }
        }
        Ok(true)
    }

    /// When an edge can be taken, as one expression.
    fn condition(&self, edge: EdgeId, depth: usize) -> Result<Expr, String> {
        if depth > MAX_DEPTH {
            return Err("the conditions of the never claim are nested too deep".into());
        }
        let mut all = Expr::TRUE;
        for condition in &self.claim.edges[edge.index()].guard {
            let condition = match condition {
                Expr::Blocked(edges) => {
                    let mut none = Expr::TRUE;
                    for other in edges {
                        let other = self.condition(*other, depth + 1)?;
                        none = and(none, Expr::unary(ample_model::UnaryOp::Not, other));
                    }
                    none
                }
                condition => condition.clone(),
            };
            all = and(all, condition);
        }
        Ok(all)
    }

    fn atom(&mut self, expr: &Expr) -> u32 {
        let next = self.atoms.len() as u32;
        let number = *self.numbers.entry(expr.clone()).or_insert(next);
        if number == next {
            self.atoms.push(expr.clone());
        }
        number
    }
}

fn and(left: Expr, right: Expr) -> Expr {
    match (left, right) {
        (Expr::Const(1), x) | (x, Expr::Const(1)) => x,
        (x, y) => Expr::binary(BinaryOp::And, x, y),
    }
}
