//! A net without colours to a [`System`].
//!
//! Each place is a global variable and each transition an edge of one process, which stands at its one location for
//! ever: guarded by the tokens that it needs, with an assignment for every place whose tokens really change.

use ample_model::{
    Action, BinaryOp, Coupling, Edge, Expr, Initial, Instance, Instruction, LocationId, Overflow, Place, ProcessId,
    ProcessType, Scalar, Scope, Source, Span, System, Type, Variable, VariableId, VariableKind,
};

use super::document::{Direction, Document};
use super::units::Units;
use super::xml::Read;
use crate::watch::Watch;

/// A net without colours.
#[derive(Debug, Default)]
pub struct Flat {
    pub places: Vec<FlatPlace>,
    pub transitions: Vec<FlatTransition>,
}

/// A place with its first tokens.
#[derive(Debug)]
pub struct FlatPlace {
    pub name: String,
    pub tokens: u64,
    pub span: Span,
}

/// A transition: places with the tokens that it takes and adds, sorted and each place once, as [`merged`] leaves them.
#[derive(Debug)]
pub struct FlatTransition {
    pub name: String,
    pub takes: Vec<(u32, u64)>,
    pub adds: Vec<(u32, u64)>,
    pub span: Span,
}

impl Flat {
    /// The net of a file without colours.
    pub fn of(document: &Document<'_>, watch: &Watch<'_>) -> Read<Flat> {
        let places = document.places.iter();
        let place = |place: &super::document::Place<'_>| FlatPlace {
            name: place.id.to_string(),
            tokens: place.tokens,
            span: place.span,
        };
        let transition = |transition: &super::document::Transition<'_>| FlatTransition {
            name: transition.id.to_string(),
            takes: Vec::new(),
            adds: Vec::new(),
            span: transition.span,
        };
        let mut transitions: Vec<FlatTransition> = document.transitions.iter().map(transition).collect();
        for arc in &document.arcs {
            watch.step()?;
            let transition = &mut transitions[arc.transition];
            let arcs = match arc.direction {
                Direction::Input => &mut transition.takes,
                Direction::Output => &mut transition.adds,
            };
            arcs.push((arc.place as u32, arc.weight));
        }
        for transition in &mut transitions {
            watch.step()?;
            merged(&mut transition.takes);
            merged(&mut transition.adds);
        }
        Ok(Flat { places: places.map(place).collect(), transitions })
    }
}

/// Sorts arcs by place and makes one of those with the same place.
pub fn merged(arcs: &mut Vec<(u32, u64)>) {
    arcs.sort_unstable();
    arcs.dedup_by(|next, first| {
        let is_same = next.0 == first.0;
        if is_same {
            first.1 = first.1.saturating_add(next.1);
        }
        is_same
    });
}

/// The variables and the edges that the places and the transitions of a net become.
pub fn lowered(net: Flat, units: &Units, watch: &Watch<'_>) -> Read<(Vec<Variable>, Vec<Edge>)> {
    let scalar = match units.is_safe {
        true => Scalar::Range { low: 0, high: 1, overflow: Overflow::Fault },
        false => Scalar::Unbounded,
    };
    let mut variables = Vec::with_capacity(net.places.len());
    for place in net.places {
        watch.step()?;
        variables.push(Variable {
            name: place.name,
            ty: Type::Scalar(scalar),
            initial: vec![(0, Initial::Value(Expr::Const(place.tokens as i64)))],
            hidden: false,
            kind: VariableKind::State,
            span: Some(place.span),
        });
    }
    let mut edges = Vec::with_capacity(net.transitions.len());
    for transition in net.transitions {
        watch.steps(1 + transition.takes.len() + transition.adds.len())?;
        edges.push(edge(transition, scalar));
    }
    Ok((variables, edges))
}

/// The system that a net is.
pub fn system(name: &str, source: Source, (globals, edges): (Vec<Variable>, Vec<Edge>), units: Units) -> System {
    let process = ProcessType::of_edges("net", edges);
    System {
        name: name.to_owned(),
        language: "pnml".to_owned(),
        sources: vec![source],
        enumerations: Vec::new(),
        records: Vec::new(),
        channels: Vec::new(),
        globals,
        processes: vec![process],
        start: vec![Instance { process: ProcessId(0), arguments: Vec::new(), priority: None }],
        max_processes: 1,
        max_objects: ample_model::interpret::MAX_OBJECTS,
        monitor: None,
        properties: Vec::new(),
        uses_last: false,
        uses_priorities: false,
        exclusive: units.exclusive,
        dead_ends: true,
        coupling: Coupling::Interleaving,
        actions: Vec::new(),
        exact_types: false,
        signals: Vec::new(),
        original: None,
    }
}

fn cell(place: u32, scalar: Scalar) -> Place {
    Place { scope: Scope::Global, variable: VariableId(place), offset: 0, indices: Vec::new(), scalar }
}

fn edge(transition: FlatTransition, scalar: Scalar) -> Edge {
    let needs = |(place, weight): &(u32, u64)| {
        Expr::binary(BinaryOp::GreaterEqual, Expr::Read(cell(*place, scalar)), Expr::Const(*weight as i64))
    };
    let changes = changes(&transition.takes, &transition.adds).into_iter();
    Edge {
        from: LocationId(0),
        to: LocationId(0),
        guard: transition.takes.iter().map(needs).collect(),
        communication: None,
        effect: changes.map(|(place, change)| assignment(place, change, scalar)).collect(),
        keeps_control: false,
        action: None,
        origin: Vec::new(),
        span: Some(transition.span),
        label: transition.name,
    }
}

fn assignment(place: u32, change: i64, scalar: Scalar) -> Instruction {
    let op = if change > 0 { BinaryOp::Add } else { BinaryOp::Subtract };
    let read = Expr::Read(cell(place, scalar));
    let value = Expr::binary(op, read, Expr::Const(change.saturating_abs()));
    Instruction::Do(Action::Assign(cell(place, scalar), value))
}

/// How the tokens of places change; what is taken and put back is left out.
fn changes(takes: &[(u32, u64)], adds: &[(u32, u64)]) -> Vec<(u32, i64)> {
    let (mut takes, mut adds) = (takes.iter().peekable(), adds.iter().peekable());
    let mut out = Vec::with_capacity(takes.len() + adds.len());
    loop {
        let place = match (takes.peek(), adds.peek()) {
            (Some(take), Some(add)) => take.0.min(add.0),
            (Some(one), None) | (None, Some(one)) => one.0,
            (None, None) => return out,
        };
        let taken = takes.next_if(|take| take.0 == place).map_or(0, |take| take.1 as i64);
        let added = adds.next_if(|add| add.0 == place).map_or(0, |add| add.1 as i64);
        if added != taken {
            out.push((place, added.saturating_sub(taken)));
        }
    }
}
