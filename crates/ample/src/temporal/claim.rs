//! Never claims as automata.
//!
//! A claim moves once for each visible state of the system, and reads that state. An atomic sequence in it is one
//! such move. A claim that comes to its end has seen what must not be; so has one whose assertion fails, and one that
//! tries to evaluate a condition that is a fault there.

use std::collections::HashMap;

use ample_explicit::liveness::Edge;
use ample_model::facts::Lens;
use ample_model::{Action, BinaryOp, EdgeId, Expr, Instruction, LocationId, ProcessId, ProcessType, Role, System};

use super::Forbidden;

/// So many ways through the atomic sequences of a claim are followed.
const MAX_WAYS: usize = 10_000;
/// And so deep are its conditions and sequences.
const MAX_DEPTH: usize = 100;

/// The automaton of a never claim.
pub fn read(system: &System, id: ProcessId) -> Result<Forbidden, String> {
    let claim = system.process(id);
    let labelled = system.processes.iter().filter(|process| process.role == Role::Process);
    let accepts = labelled.flat_map(|process| &process.locations).any(|location| location.accept);
    let seen = claim.locations.len() as u32;
    let lens = Lens::new(system);
    let mut reader = Reader { id, claim, lens, atoms: Vec::new(), numbers: HashMap::new(), seen, accepts, ways: 0 };
    let mut edges = Vec::new();
    for number in 0..claim.locations.len() {
        edges.push(reader.location(LocationId::from(number))?);
    }
    for all in [seen, seen + 1, seen + 2] {
        edges.push(vec![Edge { when: vec![vec![]], to: all, marks: 1 }]);
    }
    let initial = if claim.locations[claim.initial.index()].end { seen } else { claim.initial.0 };
    Ok(Forbidden { edges, initial, sets: 1, atoms: reader.atoms, stutters: true, end: seen })
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

impl Reader<'_> {
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
                    _ => {
                        let why = "the never claim changes the state, which is not supported: a claim only observes";
                        return Err(format!("{why} (`{}`)", edge.label));
                    }
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
