//! Rebuilding expressions: what was only a reference while bodies were read becomes the thing itself.

use ample_model::visit::{Folder, Made, fold_edge, fold_expr};
use ample_model::{Expr, Initial, Question, Shared, System};

/// Rebuilds expressions from the inside out.
struct Rebuild<'c> {
    change: &'c mut dyn FnMut(Expr) -> Expr,
    made: Made,
}

impl<'c> Rebuild<'c> {
    fn new(change: &'c mut dyn FnMut(Expr) -> Expr) -> Rebuild<'c> {
        Rebuild { change, made: Made::default() }
    }
}

impl Folder for Rebuild<'_> {
    fn expr(&mut self, expr: &Expr) -> Expr {
        let rebuilt = fold_expr(self, expr);
        (self.change)(rebuilt)
    }

    fn shared(&mut self, shared: &Shared) -> Expr {
        self.made.get(shared).unwrap_or_else(|| {
            let made = self.expr(shared);
            self.made.keep(shared, made)
        })
    }
}

/// Rebuilds an expression from the inside out.
pub(super) fn map(e: Expr, change: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    Rebuild::new(change).expr(&e)
}

fn in_place(e: &mut Expr, change: &mut dyn FnMut(Expr) -> Expr) {
    *e = Rebuild::new(change).expr(e);
}

/// Rebuilds every expression of the system.
pub(super) fn system(system: &mut System, change: &mut dyn FnMut(Expr) -> Expr) {
    for variable in &mut system.globals {
        for (_, initial) in &mut variable.initial {
            if let Initial::Value(e) = initial {
                in_place(e, change);
            }
        }
    }
    for process in &mut system.processes {
        for (_, initial) in process.locals.iter_mut().flat_map(|v| &mut v.initial) {
            if let Initial::Value(e) = initial {
                in_place(e, change);
            }
        }
        if let Some(e) = &mut process.provided {
            in_place(e, change);
        }
        for edge in &mut process.edges {
            *edge = fold_edge(&mut Rebuild::new(change), edge);
        }
    }
    for property in &mut system.properties {
        match &mut property.question {
            Question::Invariant(e) | Question::Bound(e) => in_place(e, change),
            Question::Ltl(f) | Question::Ctl(f) => f.map_atoms(&mut |e| map(e, change)),
            Question::Automaton(automaton) => automaton.atoms.iter_mut().for_each(|e| in_place(e, change)),
            Question::Distance(distance) => distance.atoms.iter_mut().for_each(|e| in_place(e, change)),
            Question::Deadlock
            | Question::Assertions
            | Question::Never(_)
            | Question::Acceptance
            | Question::Progress => {}
        }
    }
}
