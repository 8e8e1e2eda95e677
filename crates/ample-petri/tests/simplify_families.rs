//! How much the rules take away from families of nets, and that they keep pace with large ones.

mod simplify_help;

use std::time::Instant;

use ample_budget::Budget;
use ample_petri::net::{Net, Transition};
use ample_petri::simplify::{Keep, Preserve, simplify};
use simplify_help::{Graph, place, transition};

const CLASSES: [Preserve; 5] =
    [Preserve::Deadlock, Preserve::Reach, Preserve::Stutter, Preserve::Branching, Preserve::All];

/// Places and transitions of the simplified net, and the seconds that it took.
fn size(net: &Net, seen: &[u32], what: Preserve) -> (usize, usize, f64) {
    let mut places = vec![false; net.places.len()];
    for place in seen {
        places[*place as usize] = true;
    }
    let start = Instant::now();
    let small = simplify(net, Keep { places: &places, what }, &Budget::unlimited());
    (small.net.places.len(), small.net.transitions.len(), start.elapsed().as_secs_f64())
}

fn report(name: &str, net: &Net, seen: &[u32]) -> Vec<(usize, usize)> {
    println!("{name}: {} places, {} transitions", net.places.len(), net.transitions.len());
    let measure = |what: &Preserve| {
        let (places, transitions, seconds) = size(net, seen, *what);
        println!("  {what:?}: {places} places, {transitions} transitions, {seconds:.2} s");
        (places, transitions)
    };
    CLASSES.iter().map(measure).collect()
}

fn add(net: &mut Net, name: impl ToString, initial: u64) -> u32 {
    net.places.push(place(name, initial));
    net.places.len() as u32 - 1
}

fn connect(net: &mut Net, takes: &[u32], adds: &[u32]) {
    let ones = |places: &[u32]| places.iter().map(|place| (*place, 1)).collect::<Vec<_>>();
    let arcs: Transition = transition(format!("t{}", net.transitions.len()), &ones(takes), &ones(adds));
    net.transitions.push(arcs);
}

/// Philosophers who take one fork after the other, the left one first. Forks are the places `0..count`.
fn philosophers(count: u32) -> Net {
    let mut net = Net::default();
    for number in 0..count {
        add(&mut net, format!("fork{number}"), 1);
    }
    for number in 0..count {
        let (left, right) = (number, (number + 1) % count);
        let thinks = add(&mut net, format!("thinks{number}"), 1);
        let waits = add(&mut net, format!("waits{number}"), 0);
        let eats = add(&mut net, format!("eats{number}"), 0);
        let done = add(&mut net, format!("done{number}"), 0);
        connect(&mut net, &[thinks, left], &[waits]);
        connect(&mut net, &[waits, right], &[eats]);
        connect(&mut net, &[eats], &[done, left]);
        connect(&mut net, &[done], &[thinks, right]);
    }
    net
}

/// Tokens that go round.
fn ring(count: u32, tokens: u64) -> Net {
    let mut net = Net::default();
    for number in 0..count {
        add(&mut net, format!("at{number}"), if number == 0 { tokens } else { 0 });
    }
    for number in 0..count {
        connect(&mut net, &[number], &[(number + 1) % count]);
    }
    net
}

/// Producer, buffers of one, consumer. The first place is full when the consumer has something.
fn chain(count: u32) -> Net {
    let mut net = Net::default();
    let consumed = add(&mut net, "consumed", 0);
    let mut before: Option<u32> = None;
    for number in 0..count {
        let empty = add(&mut net, format!("empty{number}"), 1);
        let full = add(&mut net, format!("full{number}"), 0);
        let busy = add(&mut net, format!("busy{number}"), 0);
        match before {
            Some(before) => connect(&mut net, &[before, empty], &[busy]),
            None => connect(&mut net, &[empty], &[busy]),
        }
        connect(&mut net, &[busy], &[full]);
        let emptied = add(&mut net, format!("emptied{number}"), 0);
        let given = add(&mut net, format!("given{number}"), 0);
        connect(&mut net, &[full], &[emptied, given]);
        connect(&mut net, &[emptied], &[empty]);
        before = Some(given);
    }
    let ready = add(&mut net, "ready", 1);
    connect(&mut net, &[before.unwrap_or(consumed), ready], &[consumed]);
    connect(&mut net, &[consumed], &[ready]);
    net
}

#[test]
fn philosophers_lose_their_inner_places() {
    let net = philosophers(5);
    let sizes = report("philosophers 5", &net, &[]);
    assert!(sizes[0].0 <= 10 && sizes[0].1 <= 10, "{sizes:?}");
    assert_eq!(sizes[4], (25, 20), "nothing is redundant");
    // Two philosophers can still take one fork each.
    let net = philosophers(2);
    let small = simplify(&net, Keep { places: &[false; 10], what: Preserve::Deadlock }, &Budget::unlimited());
    let graph = Graph::of(&small.net, 10_000);
    let dead = (0..graph.markings.len()).find(|state| graph.is_dead(*state)).expect("a dead marking");
    let run = small.expand(&graph.path(dead)).expect("a run");
    assert_eq!(run.len(), 2, "each takes a fork: {run:?}");
}

#[test]
fn rings_become_a_place() {
    for tokens in [1, 7] {
        let sizes = report("ring 50", &ring(50, tokens), &[]);
        assert!(sizes[..4].iter().all(|(places, transitions)| *places <= 1 && *transitions <= 1), "{sizes:?}");
    }
    let sizes = report("ring 50, one place seen", &ring(50, 3), &[7]);
    assert!(sizes[1..4].iter().all(|(places, transitions)| *places <= 2 && *transitions <= 2), "{sizes:?}");
}

#[test]
fn chains_shrink_to_their_ends() {
    let sizes = report("chain 20", &chain(20), &[0]);
    assert!(sizes[..4].iter().all(|(places, transitions)| *places <= 3 && *transitions <= 3), "{sizes:?}");
}

/// With a rule that is quadratic this test would not end.
#[test]
fn large_nets_shrink_as_small_ones_do() {
    let sizes = report("philosophers", &philosophers(12_000), &[0]);
    assert!(sizes[0].0 <= 24_010 && sizes[0].1 <= 24_010, "{sizes:?}");
    let sizes = report("ring", &ring(60_000, 5), &[0]);
    assert!(sizes[..4].iter().all(|(places, transitions)| *places <= 2 && *transitions <= 2), "{sizes:?}");
    let sizes = report("chain", &chain(12_000), &[0]);
    assert!(sizes[..4].iter().all(|(places, transitions)| *places <= 3 && *transitions <= 3), "{sizes:?}");
}

#[test]
fn a_hub_does_not_blow_up() {
    // Everybody goes through one place: joining all who come with all who go would be a product.
    let mut net = Net::default();
    let hub = add(&mut net, "hub", 0);
    let lock = add(&mut net, "lock", 1);
    for number in 0..3000 {
        let (from, to) = (add(&mut net, format!("from{number}"), 1), add(&mut net, format!("to{number}"), 0));
        connect(&mut net, &[from, lock], &[hub]);
        connect(&mut net, &[hub, to], &[lock, from]);
        connect(&mut net, &[hub, from], &[lock, to]);
    }
    for (places, transitions) in report("hub", &net, &[1]) {
        assert!(places <= net.places.len() && transitions <= net.transitions.len());
    }
}
