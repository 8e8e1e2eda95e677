//! The formulas of a system against the reference interpreter, state by state.

use std::collections::{HashMap, HashSet, VecDeque};

use ample_boolean::{Bounds, Encoding, Lit, Partition, Unsupported, Values};
use ample_model::interpret::{Explored, Successor};
use ample_model::{Expr, Interpreter, Move, State, System};

/// What was compared.
#[derive(Default, Debug)]
pub struct Compared {
    pub states: usize,
    pub steps: usize,
    pub faults: usize,
    pub overflows: usize,
    pub conditions: usize,
    pub bits: u32,
    pub partitions: usize,
    pub nodes: usize,
}

/// Explores with the interpreter up to so many states and compares everything that the encoding says of them.
pub fn compare(name: &str, system: &System, bounds: &Bounds, limit: usize) -> Result<Compared, Unsupported> {
    compare_in(name, system, &bounds.clone().with_spread_control(), limit)?;
    compare_in(name, system, bounds, limit)
}

/// The same, with one way to say who holds control.
fn compare_in(name: &str, system: &System, bounds: &Bounds, limit: usize) -> Result<Compared, Unsupported> {
    let mut encoding = Encoding::of(system, bounds)?;
    let conditions = conditions(&mut encoding, system);
    let interpreter = Interpreter::new(system);
    let mut compared = Compared {
        bits: encoding.bits,
        partitions: encoding.partitions.len(),
        nodes: encoding.dag.len(),
        ..Compared::default()
    };
    let starts: HashSet<State> =
        interpreter.initial_states().take(1000).flatten().map(|state| interpreter.identity(&state)).collect();
    let mut seen: HashSet<State> = starts.clone();
    let mut open: VecDeque<State> = starts.iter().cloned().collect();
    while let Some(state) = open.pop_front() {
        if compared.states >= limit {
            break;
        }
        compared.states += 1;
        let bits = encoding.bits_of(system, &state).unwrap_or_else(|| panic!("{name}: no bits for {state:?}"));
        let value = |bit: u32| bits[bit as usize];
        assert_eq!(encoding.state(system, &value), state, "{name}: decoding");
        let values = encoding.dag.values(&value);
        let says = |what: &str, lit: Lit, expected: bool| {
            assert_eq!(values.of(lit), expected, "{name}: {what} in {state:?}");
        };
        says("initial", encoding.initial, starts.contains(&state));
        says("visible", encoding.visible, state.control.is_none());
        says("idle", encoding.idle, interpreter.enabled(&state).is_empty());
        says("stuck", encoding.stuck, interpreter.is_deadlock(&state));
        for (expr, holds, fault) in &conditions {
            let expected = interpreter.evaluate(&state, None, expr);
            let sentence = format!("{expr:?}");
            says(&sentence, *fault, expected.is_err());
            says(&sentence, *holds, matches!(expected, Ok(value) if value != 0));
            compared.conditions += 1;
        }
        let successors = interpreter.successors(&state);
        compare_steps(name, &interpreter, &encoding, &state, (&bits, &values), &successors, &mut compared);
        for next in successors.into_iter().filter_map(|(_, successor)| successor.state) {
            let next = interpreter.identity(&next);
            if encoding.bits_of(system, &next).is_some() && seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    Ok(compared)
}

/// Everything that guards, `provided` clauses and assertions ask, asked by nobody.
fn conditions(encoding: &mut Encoding, system: &System) -> Vec<(Expr, Lit, Lit)> {
    let mut out = Vec::new();
    for process in &system.processes {
        let guards = process.edges.iter().flat_map(|edge| edge.expressions());
        for expr in guards.chain(&process.provided).take(40) {
            if let Ok((holds, fault)) = encoding.condition(system, expr) {
                out.push((expr.clone(), holds, fault));
            }
        }
    }
    out
}

fn compare_steps(
    name: &str,
    interpreter: &Interpreter<'_>,
    encoding: &Encoding,
    state: &State,
    (bits, values): (&[bool], &Values),
    successors: &[(Move, Successor)],
    compared: &mut Compared,
) {
    let enabled = |p: &&Partition| [p.guard, p.fault, p.overflow].iter().any(|lit| values.of(*lit));
    let mut partitions: HashMap<Move, &Partition> = HashMap::new();
    for partition in &encoding.partitions {
        let off = [partition.guard, partition.fault, partition.violation, partition.overflow];
        if !enabled(&partition) {
            assert!(!off.iter().any(|lit| values.of(*lit)), "{name}: {partition:?} in {state:?}");
            continue;
        }
        let twice = partitions.insert(partition.taken.clone(), partition);
        assert!(twice.is_none(), "{name}: {:?} twice in {state:?}", partition.taken);
    }
    let moves: HashSet<Move> = successors.iter().map(|(taken, _)| taken.clone()).collect();
    let found: HashSet<Move> = partitions.keys().cloned().collect();
    assert_eq!(found, moves, "{name}: moves of {state:?}");
    for (taken, successor) in successors {
        let partition = partitions[taken];
        let says = |what: &str, lit: Lit, expected: bool| {
            assert_eq!(values.of(lit), expected, "{name}: {what} of {taken:?} in {state:?}: {successor:?}");
        };
        compared.steps += 1;
        // What goes wrong after a step has left the bounds is not known.
        if !values.of(partition.overflow) || successor.violations.is_empty() {
            says("violation", partition.violation, !successor.violations.is_empty());
        }
        let Some(next) = &successor.state else {
            if values.of(partition.overflow) {
                compared.overflows += 1;
                continue;
            }
            compared.faults += 1;
            says("fault", partition.fault, true);
            says("guard", partition.guard, false);
            continue;
        };
        says("fault", partition.fault, false);
        let next = interpreter.identity(next);
        let expected = encoding.bits_of(interpreter.system(), &next);
        says("guard", partition.guard, expected.is_some());
        says("overflow", partition.overflow, expected.is_none());
        let Some(expected) = expected else {
            compared.overflows += 1;
            continue;
        };
        let mut found = bits.to_vec();
        for (bit, lit) in &partition.updates {
            found[*bit as usize] = values.of(*lit);
        }
        if found != expected {
            let found = encoding.state(interpreter.system(), &|bit| found[bit as usize]);
            panic!("{name}: {taken:?} from {state:?}\nleads to {next:?}\nnot to   {found:?}");
        }
    }
}

/// What a search of the encoding finds, and how often it had to begin again with wider bounds.
pub fn search(name: &str, system: &System, bounds: Bounds) -> Result<(Explored, usize), Unsupported> {
    let mut bounds = bounds;
    for tries in 0..200 {
        let encoding = Encoding::of(system, &bounds)?;
        match search_within(system, &encoding) {
            Ok(explored) => return Ok((explored, tries)),
            Err((state, partition)) => {
                let wider = encoding.widen(system, &bounds, &state, partition);
                assert_ne!(wider, bounds, "{name}: {:?} leaves {state:?}", encoding.partitions[partition].taken);
                bounds = wider;
            }
        }
    }
    panic!("{name}: the bounds do not suffice after 200 times");
}

/// Follows the formulas breadth first; an overflow ends it.
fn search_within(system: &System, encoding: &Encoding) -> Result<Explored, (State, usize)> {
    let interpreter = Interpreter::new(system);
    let initial = interpreter.initial_states().flatten();
    let mut open: VecDeque<Vec<bool>> = initial.map(|state| encoding.bits_of(system, &state).unwrap()).collect();
    let mut seen: HashSet<Vec<bool>> = open.iter().cloned().collect();
    let mut explored = Explored { complete: true, ..Explored::default() };
    open = seen.iter().cloned().collect();
    while let Some(bits) = open.pop_front() {
        let value = |bit: u32| bits[bit as usize];
        let values = encoding.dag.values(&value);
        if values.of(encoding.visible) {
            explored.states += 1
        } else {
            explored.transient += 1
        }
        explored.deadlocks += u64::from(values.of(encoding.stuck));
        for (number, partition) in encoding.partitions.iter().enumerate() {
            if values.of(partition.overflow) {
                return Err((encoding.state(system, &value), number));
            }
            explored.violations += u64::from(values.of(partition.violation));
            if !values.of(partition.guard) {
                continue;
            }
            explored.transitions += 1;
            let mut next = bits.clone();
            partition.updates.iter().for_each(|(bit, lit)| next[*bit as usize] = values.of(*lit));
            if seen.insert(next.clone()) {
                open.push_back(next);
            }
        }
    }
    Ok(explored)
}
