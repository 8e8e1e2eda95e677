//! How fast the explicit engine for nets is: run with `--release -- --ignored --nocapture --test-threads 1`.

use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_petri::explicit::Limits;
use ample_petri::explicit::reduced::{Strategy, deadlock, reach};
use ample_petri::explicit::search::{Questions, count, explore};
use ample_petri::explicit::walk::{Patience, walk};
use ample_petri::net::{Condition, Net, Place, Transition};

fn place(name: &str, initial: u64, bound: u64) -> Place {
    Place { name: name.into(), initial, bound: Some(bound) }
}

fn transition(takes: &[u32], adds: &[u32]) -> Transition {
    let arcs = |places: &[u32]| {
        let mut arcs: Vec<(u32, u64)> = places.iter().map(|place| (*place, 1)).collect();
        arcs.sort_unstable();
        arcs
    };
    Transition { name: String::new(), takes: arcs(takes), adds: arcs(adds) }
}

/// Philosophers who take one fork after the other, in any order: five places and five transitions each.
fn philosophers(count: u32) -> Net {
    let mut net = Net::default();
    for at in 0..count {
        let [think, left, right, eat, fork] = [0, 1, 2, 3, 4].map(|kind| 5 * at + kind);
        let other = (5 * (at + 1) + 4) % (5 * count);
        for (name, initial) in [("think", 1), ("left", 0), ("right", 0), ("eat", 0), ("fork", 1)] {
            net.places.push(place(name, initial, 1));
        }
        net.transitions.push(transition(&[think, fork], &[left]));
        net.transitions.push(transition(&[think, other], &[right]));
        net.transitions.push(transition(&[left, other], &[eat]));
        net.transitions.push(transition(&[right, fork], &[eat]));
        net.transitions.push(transition(&[eat], &[think, fork, other]));
    }
    net
}

/// The Kanban system with so many cards: four cells of four places.
fn kanban(cards: u64) -> Net {
    let mut net = Net::default();
    for _ in 0..4 {
        for (name, initial) in [("cards", cards), ("work", 0), ("back", 0), ("out", 0)] {
            net.places.push(place(name, initial, cards));
        }
    }
    for cell in 0..4 {
        let [work, back, out] = [4 * cell + 1, 4 * cell + 2, 4 * cell + 3];
        net.transitions.push(transition(&[work], &[back]));
        net.transitions.push(transition(&[back], &[work]));
        net.transitions.push(transition(&[work], &[out]));
    }
    net.transitions.push(transition(&[0], &[1]));
    net.transitions.push(transition(&[3, 4, 8], &[0, 5, 9]));
    net.transitions.push(transition(&[7, 11, 12], &[4, 8, 13]));
    net.transitions.push(transition(&[15], &[12]));
    net
}

/// The processor time of this thread, or the time if that is not known.
fn clock(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds = text.split_whitespace().next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |number| number / 1e9)
}

fn timed<R>(what: &str, work: impl FnOnce() -> R, amount: impl Fn(&R) -> u64) -> R {
    let start = Instant::now();
    let before = clock(start);
    let result = work();
    let seconds = clock(start) - before;
    let amount = amount(&result);
    println!("{what}: {amount} in {seconds:.2} s, {:.2} million a second", amount as f64 / seconds / 1e6);
    result
}

#[test]
#[ignore = "measures"]
fn states_a_second() {
    let limits = Limits { memory: 6 << 30, ..Limits::default() };
    for (name, net, states) in [
        ("philosophers 12", philosophers(12), None),
        ("kanban 5", kanban(5), Some(2_546_432)),
        ("kanban 6", kanban(6), Some(11_261_376)),
    ] {
        let counts = timed(&format!("{name}, states"), || count(&net, &limits, &Budget::unlimited()), |c| c.states);
        println!("  {} transitions, {} bytes a state", counts.transitions, counts.statistics.state_bytes);
        println!("  {} MB", counts.statistics.memory_bytes >> 20);
        assert!(states.is_none_or(|states| states == counts.states));
    }
    let net = kanban(5);
    let goals: Vec<Condition> =
        (0..16).map(|at| Condition::AtMost { terms: vec![(at, -1), ((at + 5) % 16, -1)], most: -11 }).collect();
    let goals: Vec<Condition> = goals.into_iter().map(|goal| sorted(&goal)).collect();
    let questions = Questions { goals: &goals, deadlock: true, ..Questions::default() };
    let explored = || explore(&net, &questions, &limits, &Budget::unlimited());
    timed("kanban 5, 16 goals and deadlock, states", explored, |a| a.statistics.states);
}

fn sorted(goal: &Condition) -> Condition {
    let Condition::AtMost { terms, most } = goal else { return goal.clone() };
    let mut terms = terms.clone();
    terms.sort_unstable();
    Condition::AtMost { terms, most: *most }
}

#[test]
#[ignore = "measures"]
fn what_stubborn_sets_save() {
    let limits = Limits { memory: 6 << 30, ..Limits::default() };
    for size in [9, 30] {
        let net = philosophers(size);
        // Neighbours eat together: never.
        let goal = Condition::AtMost { terms: vec![(3, -1), (8, -1)], most: -2 };
        for stubborn in [false, true] {
            if !stubborn && size > 12 {
                continue;
            }
            let strategy = Strategy { stubborn, ..Strategy::default() };
            let what = format!("philosophers {size}, stubborn {stubborn}");
            let run = || deadlock(&net, strategy, &limits, &Budget::unlimited());
            let found = timed(&format!("{what}, deadlock, states"), run, |r| r.statistics.states);
            assert!(found.run.is_some());
            if size > 12 {
                continue;
            }
            let run = || reach(&net, &goal, strategy, &limits, &Budget::unlimited());
            let found = timed(&format!("{what}, neighbours, states"), run, |r| r.statistics.states);
            assert!(found.run.is_none() && found.ended.is_none());
        }
    }
}

#[test]
#[ignore = "measures"]
fn firings_a_second() {
    let net = philosophers(20);
    let never = [Condition::AtMost { terms: vec![(3, -1), (8, -1)], most: -2 }];
    let patience = Patience { time: Duration::from_secs(4), ..Patience::default() };
    for (what, questions) in [
        ("nothing", Questions { deadlock: false, goals: &[Condition::Const(false)], ..Questions::default() }),
        ("an impossible goal", Questions { goals: &never, ..Questions::default() }),
    ] {
        let walked = || walk(&net, &questions, patience, &Budget::unlimited());
        timed(&format!("100 places, {what}, firings"), walked, |a| a.statistics.transitions);
    }
}
