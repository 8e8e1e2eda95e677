//! Rebuilding expressions: what was only a reference while bodies were read becomes the thing itself.

use ample_model::{Action, Communication, Expr, Index, Initial, Instruction, Pattern, Place, Question, System};

/// Rebuilds an expression from the inside out.
pub(super) fn map(e: Expr, change: &mut dyn FnMut(Expr) -> Expr) -> Expr {
    let mut go = |e: Box<Expr>| Box::new(map(*e, change));
    let rebuilt = match e {
        Expr::Read(p) => Expr::Read(map_place(p, change)),
        Expr::Unary(op, x) => Expr::Unary(op, go(x)),
        Expr::Binary(op, x, y) => {
            let x = go(x);
            Expr::Binary(op, x, go(y))
        }
        Expr::Cast(scalar, x) => Expr::Cast(scalar, go(x)),
        Expr::Conditional(c, x, y) => {
            let (c, x) = (go(c), go(x));
            Expr::Conditional(c, x, go(y))
        }
        Expr::Enabled(x) => Expr::Enabled(go(x)),
        Expr::LocationOf(x) => Expr::LocationOf(go(x)),
        Expr::Length(x) => Expr::Length(go(x)),
        Expr::Full(x) => Expr::Full(go(x)),
        Expr::Priority(x) => Expr::Priority(go(x)),
        Expr::At { process, of, locations } => Expr::At { process: process.map(go), of, locations },
        Expr::Remote { process, of, place } => {
            let process = process.map(go);
            Expr::Remote { process, of, place: map_place(place, change) }
        }
        Expr::Poll { channel, patterns, anywhere } => {
            let channel = go(channel);
            let patterns = patterns.into_iter().map(|p| map_pattern(p, change)).collect();
            Expr::Poll { channel, patterns, anywhere }
        }
        e => e,
    };
    change(rebuilt)
}

fn map_place(mut place: Place, change: &mut dyn FnMut(Expr) -> Expr) -> Place {
    place.indices = place.indices.into_iter().map(|i| Index { at: map(i.at, change), ..i }).collect();
    place
}

fn map_pattern(pattern: Pattern, change: &mut dyn FnMut(Expr) -> Expr) -> Pattern {
    match pattern {
        Pattern::Match(e) => Pattern::Match(map(e, change)),
        Pattern::Bind(place) => Pattern::Bind(map_place(place, change)),
        Pattern::Ignore => Pattern::Ignore,
    }
}

fn in_place(e: &mut Expr, change: &mut dyn FnMut(Expr) -> Expr) {
    *e = map(std::mem::replace(e, Expr::FALSE), change);
}

fn place_in_place(place: &mut Place, change: &mut dyn FnMut(Expr) -> Expr) {
    for index in &mut place.indices {
        in_place(&mut index.at, change);
    }
}

fn communication(c: &mut Communication, change: &mut dyn FnMut(Expr) -> Expr) {
    match c {
        Communication::Send { channel, values, .. } => {
            in_place(channel, change);
            values.iter_mut().for_each(|v| in_place(v, change));
        }
        Communication::Receive { channel, patterns, .. } => {
            in_place(channel, change);
            for pattern in patterns {
                match pattern {
                    Pattern::Match(e) => in_place(e, change),
                    Pattern::Bind(place) => place_in_place(place, change),
                    Pattern::Ignore => {}
                }
            }
        }
    }
}

fn action(a: &mut Action, change: &mut dyn FnMut(Expr) -> Expr) {
    match a {
        Action::Test(e) => in_place(e, change),
        Action::Assign(place, e) => {
            place_in_place(place, change);
            in_place(e, change);
        }
        Action::Communicate(c) => communication(c, change),
        Action::Spawn { arguments, .. } | Action::Print { arguments, .. } => {
            arguments.iter_mut().for_each(|a| in_place(a, change));
        }
        Action::Assert { condition, .. } => in_place(condition, change),
        Action::SetPriority(x, y) => {
            in_place(x, change);
            in_place(y, change);
        }
        Action::End => {}
    }
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
            edge.guard.iter_mut().for_each(|e| in_place(e, change));
            if let Some(c) = &mut edge.communication {
                communication(c, change);
            }
            for instruction in &mut edge.effect {
                if let Instruction::Do(a) | Instruction::Try(a, _) = instruction {
                    action(a, change);
                }
            }
        }
    }
    for property in &mut system.properties {
        match &mut property.question {
            Question::Invariant(e) | Question::Bound(e) => in_place(e, change),
            Question::Ltl(f) | Question::Ctl(f) => f.map_atoms(&mut |e| map(e, change)),
            Question::Automaton(automaton) => automaton.atoms.iter_mut().for_each(|e| in_place(e, change)),
            Question::Deadlock
            | Question::Assertions
            | Question::Never(_)
            | Question::Acceptance
            | Question::Progress => {}
        }
    }
}
