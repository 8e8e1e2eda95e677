//! How large diagrams get and how long they take, on three families of nets:
//! `cargo run --release -p ample-petri --example diagrams -- philosophers 100 saturation`
//! (or `kanban`, `ring`; `chaining`, `bfs`).

use std::time::Instant;

use ample_petri::diagram::{Limits, Method, diagrams as diagrams_of, order, with_stack};
use ample_petri::net::{Net, Place, Transition};
use ample_symbolic::reach::Effort;
use ample_symbolic::{Maybe, Sets};

/// Adds a place.
fn place(net: &mut Net, name: String, initial: u64) -> u32 {
    net.places.push(Place { name, initial, bound: None });
    net.places.len() as u32 - 1
}

/// Adds a transition with arcs of weight one.
fn step(net: &mut Net, takes: &[u32], adds: &[u32]) {
    let arcs = |places: &[u32]| {
        let mut arcs: Vec<(u32, u64)> = places.iter().map(|place| (*place, 1)).collect();
        arcs.sort_unstable();
        arcs
    };
    let name = format!("t{}", net.transitions.len());
    net.transitions.push(Transition { name, takes: arcs(takes), adds: arcs(adds) });
}

fn philosophers(count: u32) -> Net {
    let mut net = Net::default();
    for number in 0..count {
        for (name, initial) in [("Fork", 1), ("Idle", 1), ("WaitL", 0), ("HasL", 0), ("WaitR", 0), ("HasR", 0)] {
            place(&mut net, format!("{name}{number}"), initial);
        }
    }
    for number in 0..count {
        let (fork, next) = (6 * number, 6 * ((number + 1) % count));
        let [idle, wait_left, has_left, wait_right, has_right] = [1, 2, 3, 4, 5].map(|offset| fork + offset);
        step(&mut net, &[idle], &[wait_left, wait_right]);
        step(&mut net, &[wait_left, fork], &[has_left]);
        step(&mut net, &[wait_right, next], &[has_right]);
        step(&mut net, &[has_left, has_right], &[idle, fork, next]);
    }
    net
}

fn kanban(tokens: u32) -> Net {
    let mut net = Net::default();
    let mut cells = Vec::new();
    for cell in 1..=4 {
        let names = [("m", 0), ("back", 0), ("out", 0), ("kan", u64::from(tokens))];
        cells.push(names.map(|(name, initial)| place(&mut net, format!("{name}{cell}"), initial)));
    }
    for [m, back, out, _] in &cells {
        step(&mut net, &[*m], &[*back]);
        step(&mut net, &[*back], &[*m]);
        step(&mut net, &[*m], &[*out]);
    }
    let [[m1, _, out1, kan1], [m2, _, out2, kan2], [m3, _, out3, kan3], [m4, _, out4, kan4]] = cells[..] else {
        return net;
    };
    step(&mut net, &[kan1], &[m1]);
    step(&mut net, &[out1, kan2, kan3], &[kan1, m2, m3]);
    step(&mut net, &[out2, out3, kan4], &[kan2, kan3, m4]);
    step(&mut net, &[out4], &[kan4]);
    net
}

fn ring(count: u32) -> Net {
    let mut net = Net::default();
    for number in 0..count {
        for (letter, initial) in ('A'..='H').zip([0, 0, 1, 0, 1, 0, 0, 0]) {
            place(&mut net, format!("{letter}{number}"), initial);
        }
    }
    for number in 0..count {
        let [a, b, c, d, e, f, g, h] = [0, 1, 2, 3, 4, 5, 6, 7].map(|offset| 8 * number + offset);
        let before = 8 * ((number + count - 1) % count);
        step(&mut net, &[a], &[d]);
        step(&mut net, &[a], &[b]);
        step(&mut net, &[b], &[d]);
        step(&mut net, &[b], &[h]);
        step(&mut net, &[f, h], &[c, e]);
        step(&mut net, &[d, f], &[c, g]);
        step(&mut net, &[before + 2, g], &[before, f]);
        step(&mut net, &[before + 2, e], &[before + 1, f]);
    }
    net
}

fn measure(net: &Net, method: Method) -> Maybe<()> {
    let mut diagrams = diagrams_of(net, &order(net), Limits::default())?;
    let start = Instant::now();
    let reached = diagrams.reachable(method)?;
    let took = start.elapsed();
    let nodes = diagrams.nodes(&reached)?;
    let size = diagrams.size();
    let count = diagrams.count(&reached)?.to_string();
    println!("markings  {}.{}e{}", &count[..1], &count[1..count.len().min(6)], count.len() - 1);
    println!("nodes     {nodes}, at most {}, {} garbage collections", size.peak, size.collections);
    println!("reached   {took:.2?}");
    let start = Instant::now();
    let dead = diagrams.deadlocks(&reached)?;
    println!("dead      {} in {:.2?}", diagrams.count(&dead)?, start.elapsed());
    let start = Instant::now();
    let initial = diagrams.initial()?;
    let home = diagrams.until(&reached, &initial, &reached, &mut Effort::default())?;
    let left = diagrams.minus(&reached, &home)?;
    println!("EF start  fails in {} markings, {:.2?}", diagrams.count(&left)?, start.elapsed());
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let family = arguments.first().map_or("philosophers", String::as_str);
    let scale = arguments.get(1).and_then(|scale| scale.parse().ok()).unwrap_or(10).max(2);
    let net = match family {
        "kanban" => kanban(scale),
        "ring" => ring(scale),
        _ => philosophers(scale),
    };
    let method = match arguments.get(2).map(String::as_str) {
        Some("bfs") => Method::Bfs,
        Some("chaining") => Method::Chaining,
        _ => Method::Saturation,
    };
    println!("{family} {scale}: {} places, {} transitions, {method:?}", net.places.len(), net.transitions.len());
    if let Err(stop) = with_stack(net.places.len(), || measure(&net, method)) {
        println!("{stop}");
    }
}
