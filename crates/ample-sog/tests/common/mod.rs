//! Nets of the literature, random nets and formulas, and a plain check to compare with.

#![allow(dead_code)]

use std::collections::{BTreeMap, HashMap};

use ample_logic::{Atom, Atoms, Formula, Options, translate};
use ample_model::{
    Action, BinaryOp, Coupling, Edge, Expr, Initial, Instance, Instruction, Location, LocationId, Place as Cell,
    ProcessType, Role, Scalar, Scope, System, Type, Variable, VariableKind,
};
use ample_petri::net::{Condition, Net, Place, Transition};
use ample_random::Random;

/// Puts nets together by names.
#[derive(Default)]
pub struct NetBuilder {
    net: Net,
    places: HashMap<String, u32>,
}

impl NetBuilder {
    pub fn place(&mut self, name: impl Into<String>, initial: u64) {
        let name = name.into();
        self.places.insert(name.clone(), self.net.places.len() as u32);
        self.net.places.push(Place { name, initial, bound: None });
    }

    /// `from` and `to` are names of places with spaces between them.
    pub fn transition(&mut self, name: impl Into<String>, from: &str, to: &str) {
        let arcs = |names: &str| {
            let mut arcs: BTreeMap<u32, u64> = BTreeMap::new();
            names.split_whitespace().for_each(|name| *arcs.entry(self.places[name]).or_default() += 1);
            arcs.into_iter().collect()
        };
        let (takes, adds) = (arcs(from), arcs(to));
        self.net.transitions.push(Transition { name: name.into(), takes, adds });
    }

    pub fn done(self) -> Net {
        self.net
    }
}

/// The slotted ring of Ciardo, Lüttgen and Siminiceanu.
pub fn ring(n: usize) -> Net {
    let mut net = NetBuilder::default();
    for i in 0..n {
        for place in "ABCDEFGH".chars() {
            net.place(format!("{place}{i}"), u64::from("CE".contains(place)));
        }
    }
    for i in 0..n {
        let p = (i + n - 1) % n;
        net.transition(format!("other{i}"), &format!("A{i}"), &format!("D{i}"));
        net.transition(format!("owner{i}"), &format!("A{i}"), &format!("B{i}"));
        net.transition(format!("write{i}"), &format!("B{i}"), &format!("D{i}"));
        net.transition(format!("go{i}"), &format!("B{i}"), &format!("H{i}"));
        net.transition(format!("give{i}"), &format!("F{i} H{i}"), &format!("C{i} E{i}"));
        net.transition(format!("put{i}"), &format!("D{i} F{i}"), &format!("C{i} G{i}"));
        net.transition(format!("used{i}"), &format!("C{p} G{i}"), &format!("A{p} F{i}"));
        net.transition(format!("free{i}"), &format!("C{p} E{i}"), &format!("B{p} F{i}"));
    }
    net.done()
}

/// Philosophers who wait for both forks at once.
pub fn philosophers(n: usize) -> Net {
    let mut net = NetBuilder::default();
    for i in 0..n {
        for place in ["Fork", "Idle", "WaitL", "HasL", "WaitR", "HasR"] {
            net.place(format!("{place}{i}"), u64::from(["Fork", "Idle"].contains(&place)));
        }
    }
    for i in 0..n {
        let j = (i + 1) % n;
        net.transition(format!("GoEat{i}"), &format!("Idle{i}"), &format!("WaitL{i} WaitR{i}"));
        net.transition(format!("GetL{i}"), &format!("WaitL{i} Fork{i}"), &format!("HasL{i}"));
        net.transition(format!("GetR{i}"), &format!("WaitR{i} Fork{j}"), &format!("HasR{i}"));
        net.transition(format!("Release{i}"), &format!("HasL{i} HasR{i}"), &format!("Idle{i} Fork{i} Fork{j}"));
    }
    net.done()
}

/// The flexible manufacturing system.
pub fn fms(n: u64) -> Net {
    let mut net = NetBuilder::default();
    let places = "P1 P1wM1 P1M1 M1 P1d P1s P1wP2 P12 P12wM3 P12M3 M3 P12s P2 P2wM2 P2M2 M2 P2d P2wP1 P2s P3 P3M2 P3s";
    for place in places.split_whitespace() {
        let initial = match place {
            "P1" | "P2" | "P3" => n,
            "M1" => 3,
            "M2" => 1,
            "M3" => 2,
            _ => 0,
        };
        net.place(place, initial);
    }
    for (name, from, to) in [
        ("tP1", "P1", "P1wM1"),
        ("tM1", "P1wM1 M1", "P1M1"),
        ("tP1M1", "P1M1", "M1 P1d"),
        ("tP1e", "P1d", "P1s"),
        ("tP1j", "P1d", "P1wP2"),
        ("tP1s", "P1s", "P1"),
        ("tP2", "P2", "P2wM2"),
        ("tM2", "P2wM2 M2", "P2M2"),
        ("tP2M2", "P2M2", "M2 P2d"),
        ("tP2e", "P2d", "P2s"),
        ("tP2j", "P2d", "P2wP1"),
        ("tP2s", "P2s", "P2"),
        ("tx", "P1wP2 P2wP1", "P12"),
        ("tP12", "P12", "P12wM3"),
        ("tM3", "P12wM3 M3", "P12M3"),
        ("tP12M3", "P12M3", "P12s M3"),
        ("tP12s", "P12s", "P1 P2"),
        ("tP3", "P3", "P3M2"),
        ("tP3M2", "P3M2 M2", "M2 P3s"),
        ("tP3s", "P3s", "P3"),
    ] {
        net.transition(name, from, to);
    }
    net.done()
}

/// The ERK pathway.
pub fn erk(n: u64) -> Net {
    let mut net = NetBuilder::default();
    for place in "Raf RKIP RR RRE ERK RKIPP MEK ME EPP RP RPR".split_whitespace() {
        net.place(place, if ["Raf", "RKIP", "ERK", "MEK", "RP"].contains(&place) { n } else { 0 });
    }
    for (name, from, to) in [
        ("k1", "Raf RKIP", "RR"),
        ("k2", "RR", "Raf RKIP"),
        ("k3", "RR EPP", "RRE"),
        ("k4", "RRE", "RR EPP"),
        ("k5", "RRE", "Raf ERK RKIPP"),
        ("k6", "ERK MEK", "ME"),
        ("k7", "ME", "ERK MEK"),
        ("k8", "ME", "MEK EPP"),
        ("k9", "RKIPP RP", "RPR"),
        ("k10", "RPR", "RKIPP RP"),
        ("k11", "RPR", "RKIP RP"),
    ] {
        net.transition(name, from, to);
    }
    net.done()
}

/// Trains on a circle of sections.
pub fn trains(sections: usize) -> Net {
    let mut net = NetBuilder::default();
    for i in 0..sections {
        net.place(format!("S{i}"), u64::from(i % 3 == 0));
        net.place(format!("F{i}"), u64::from(i % 3 != 0));
    }
    for i in 0..sections {
        let (next, before) = ((i + 1) % sections, (i + sections - 1) % sections);
        net.transition(format!("T{i}"), &format!("S{i} F{next}"), &format!("S{next} F{before}"));
    }
    net.done()
}

/// The numbers of the transitions whose names satisfy a condition.
pub fn named(net: &Net, wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    net.transitions.iter().enumerate().filter(|(_, t)| wanted(&t.name)).map(|(number, _)| number).collect()
}

/// At least one token.
pub fn marked(place: u32) -> Condition {
    Condition::AtMost { terms: vec![(place, -1)], most: -1 }
}

/// The net as a system, and places with a token as expressions.
pub fn system(net: &Net) -> System {
    let cell = |place: u32| Cell {
        scope: Scope::Global,
        variable: (place as usize).into(),
        offset: 0,
        indices: vec![],
        scalar: Scalar::Unbounded,
    };
    let edge = |transition: &Transition| {
        let guard = transition.takes.iter().map(|(place, weight)| {
            Expr::binary(BinaryOp::GreaterEqual, Expr::Read(cell(*place)), Expr::Const(*weight as i64))
        });
        let effect = transition.effect().into_iter().map(|(place, change)| {
            let op = if change > 0 { BinaryOp::Add } else { BinaryOp::Subtract };
            let value = Expr::binary(op, Expr::Read(cell(place)), Expr::Const(change.abs()));
            Instruction::Do(Action::Assign(cell(place), value))
        });
        Edge {
            from: LocationId(0),
            to: LocationId(0),
            guard: guard.collect(),
            communication: None,
            effect: effect.collect(),
            keeps_control: false,
            action: None,
            origin: Vec::new(),
            span: None,
            label: transition.name.clone(),
        }
    };
    let edges: Vec<Edge> = net.transitions.iter().map(edge).collect();
    let variable = |place: &Place| Variable {
        name: place.name.clone(),
        ty: Type::Scalar(Scalar::Unbounded),
        initial: vec![(0, Initial::Value(Expr::Const(place.initial as i64)))],
        hidden: false,
        kind: VariableKind::State,
        span: None,
    };
    let location = Location {
        number: 0,
        edges: (0..edges.len()).map(Into::into).collect(),
        end: false,
        accept: false,
        progress: false,
        span: None,
        labels: Vec::new(),
    };
    System {
        name: "net".into(),
        language: "petri".into(),
        sources: vec![],
        enumerations: vec![],
        records: vec![],
        channels: vec![],
        globals: net.places.iter().map(variable).collect(),
        processes: vec![ProcessType {
            name: "net".into(),
            role: Role::Process,
            parameters: 0,
            locals: vec![],
            locations: vec![location],
            edges,
            initial: LocationId(0),
            provided: None,
            priority: 1,
            unreachable_labels: Vec::new(),
            dead_code: Vec::new(),
            structure: None,
            span: None,
        }],
        start: vec![Instance { process: 0.into(), arguments: vec![], priority: None }],
        max_processes: 1,
        max_objects: ample_model::interpret::MAX_OBJECTS,
        monitor: None,
        properties: vec![],
        uses_last: false,
        uses_priorities: false,
        exclusive: vec![],
        dead_ends: false,
        coupling: Coupling::Interleaving,
        actions: Vec::new(),
        exact_types: false,
        signals: Vec::new(),
        original: None,
    }
}

/// A place has a token, as an expression of the system.
pub fn is_marked(place: u32) -> Expr {
    let cell = Cell {
        scope: Scope::Global,
        variable: (place as usize).into(),
        offset: 0,
        indices: vec![],
        scalar: Scalar::Unbounded,
    };
    Expr::binary(BinaryOp::GreaterEqual, Expr::Read(cell), Expr::Const(1))
}

/// What tests make at random.
pub trait Generate {
    /// A net in which tokens never get more.
    fn net(&mut self) -> Net;

    /// A formula without X over so many atoms.
    fn formula(&mut self, size: usize, atoms: usize) -> Formula;
}

impl Generate for Random {
    fn net(&mut self) -> Net {
        let places = 2 + self.below(4);
        let mut net = NetBuilder::default();
        (0..places).for_each(|p| net.place(format!("p{p}"), self.below(3) as u64));
        for t in 0..2 + self.below(5) {
            let takes = 1 + self.below(2);
            let adds = if self.below(4) == 0 { self.below(takes + 1) } else { takes };
            let mut some = |count: usize| {
                let names: Vec<String> = (0..count).map(|_| format!("p{}", self.below(places))).collect();
                names.join(" ")
            };
            let (from, to) = (some(takes), some(adds));
            net.transition(format!("t{t}"), &from, &to);
        }
        net.done()
    }

    fn formula(&mut self, size: usize, atoms: usize) -> Formula {
        if size <= 1 {
            return match self.below(12) {
                0 => Formula::True,
                _ => Formula::atom(Atom(self.below(atoms) as u32)),
            };
        }
        let left = 1 + self.below(size - 1);
        match self.below(9) {
            0 => !self.formula(size - 1, atoms),
            1 | 2 => self.formula(size - 1, atoms).finally(),
            3 | 4 => self.formula(size - 1, atoms).globally(),
            5 => self.formula(left, atoms) & self.formula(size - left, atoms),
            6 => self.formula(left, atoms).implies(self.formula(size - left, atoms)),
            7 => self.formula(left, atoms).until(self.formula(size - left, atoms)),
            _ => self.formula(left, atoms).weak_until(self.formula(size - left, atoms)),
        }
    }
}

/// What an atom of a formula stands for.
#[derive(Clone, Debug)]
pub enum Says {
    State(Condition),
    Event(usize),
}

/// All markings of a net with their steps, one by one.
pub struct Space {
    pub markings: Vec<Vec<u64>>,
    /// The transition and where it leads.
    pub steps: Vec<Vec<(usize, usize)>>,
}

impl Space {
    pub fn of(net: &Net) -> Space {
        let mut numbers = HashMap::from([(net.initial(), 0)]);
        let mut space = Space { markings: vec![net.initial()], steps: vec![] };
        while space.steps.len() < space.markings.len() {
            let marking = space.markings[space.steps.len()].clone();
            let mut steps = Vec::new();
            for (number, transition) in net.transitions.iter().enumerate().filter(|(_, t)| t.is_enabled(&marking)) {
                let after = transition.fire(&marking).unwrap();
                let next = space.markings.len();
                let to = *numbers.entry(after.clone()).or_insert(next);
                if to == next {
                    space.markings.push(after);
                }
                steps.push((number, to));
            }
            space.steps.push(steps);
        }
        space
    }

    /// Whether all runs satisfy the formula. With `collapsed`, steps without an event that keep the label are not there.
    pub fn satisfies(&self, formula: &Formula, says: &[Says], collapsed: bool) -> bool {
        let automaton = translate(&!formula.clone(), &Atoms::new(), Options::default()).unwrap();
        let label = |state: usize| -> Vec<bool> {
            let holds = |s: &Says| matches!(s, Says::State(c) if c.holds(&self.markings[state]));
            says.iter().map(holds).collect()
        };
        let labels: Vec<Vec<bool>> = (0..self.markings.len()).map(label).collect();
        let letter = |state: usize, action: Option<usize>| {
            let value = |atom: &Atom| match &says[atom.0 as usize] {
                Says::State(_) => labels[state][atom.0 as usize],
                Says::Event(event) => action == Some(*event),
            };
            automaton.atoms.iter().enumerate().filter(|(_, a)| value(a)).fold(0u64, |l, (bit, _)| l | 1 << bit)
        };
        let is_event = |action: usize| says.iter().any(|s| matches!(s, Says::Event(e) if *e == action));
        let is_left_out =
            |from: usize, action: usize, to: usize| collapsed && !is_event(action) && labels[from] == labels[to];
        let silent = |state: usize| self.steps[state].iter().filter(move |(t, to)| is_left_out(state, *t, *to));
        // The states from which left-out steps can go on for ever.
        let mut endless = vec![true; self.markings.len()];
        loop {
            let next: Vec<bool> =
                (0..endless.len()).map(|s| endless[s] && silent(s).any(|(_, to)| endless[*to])).collect();
            if next == endless {
                break;
            }
            endless = next;
        }
        // The product: a state, one of the automaton, and whether nothing happens any more.
        let something = 1u64 << 40;
        let all = u64::from(automaton.all_marks()) | something;
        let mut numbers = HashMap::from([((0, automaton.initial, false), 0)]);
        let mut nodes = vec![(0, automaton.initial, false)];
        let mut edges: Vec<Vec<(usize, u64)>> = Vec::new();
        while edges.len() < nodes.len() {
            let (state, q, stays) = nodes[edges.len()];
            let mut targets = Vec::new();
            let mut read = |letter: u64, to: usize, stays: bool| {
                for edge in automaton.successors(q).iter().filter(|e| e.label.iter().any(|c| c.matches(letter))) {
                    targets.push(((to, edge.to, stays), u64::from(edge.marks) | something));
                }
            };
            if self.steps[state].is_empty() || endless[state] {
                read(letter(state, None), state, true);
            }
            if !stays {
                for (action, to) in &self.steps[state] {
                    if !is_left_out(state, *action, *to) {
                        read(letter(state, Some(*action)), *to, false);
                    }
                }
                targets.extend(silent(state).map(|(_, to)| ((*to, q, false), 0)));
            }
            let mut out = Vec::new();
            for (node, marks) in targets {
                let next = nodes.len();
                let number = *numbers.entry(node).or_insert(next);
                if number == next {
                    nodes.push(node);
                }
                out.push((number, marks));
            }
            edges.push(out);
        }
        !components(&edges).iter().any(|component| {
            let inside = |n: &usize| edges[*n].iter().filter(|(to, _)| component.contains(to));
            component.iter().flat_map(inside).fold(0, |marks, (_, m)| marks | m) & all == all
        })
    }
}

/// Strongly connected components, by two searches.
fn components(edges: &[Vec<(usize, u64)>]) -> Vec<std::collections::HashSet<usize>> {
    let mut order = Vec::new();
    let mut seen = vec![false; edges.len()];
    for root in 0..edges.len() {
        let mut stack = vec![(root, 0)];
        if std::mem::replace(&mut seen[root], true) {
            continue;
        }
        while let Some((node, next)) = stack.pop() {
            match edges[node].get(next) {
                Some((to, _)) => {
                    stack.push((node, next + 1));
                    if !std::mem::replace(&mut seen[*to], true) {
                        stack.push((*to, 0));
                    }
                }
                None => order.push(node),
            }
        }
    }
    let mut back = vec![Vec::new(); edges.len()];
    for (from, out) in edges.iter().enumerate() {
        out.iter().for_each(|(to, _)| back[*to].push(from));
    }
    let mut seen = vec![false; edges.len()];
    let mut all = Vec::new();
    for root in order.into_iter().rev() {
        if seen[root] {
            continue;
        }
        seen[root] = true;
        let mut component = std::collections::HashSet::from([root]);
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            for from in &back[node] {
                if !std::mem::replace(&mut seen[*from], true) {
                    component.insert(*from);
                    stack.push(*from);
                }
            }
        }
        all.push(component);
    }
    all
}
