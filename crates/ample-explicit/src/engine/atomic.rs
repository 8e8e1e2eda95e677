//! Whether an atomic sequence may go on for ever, as far as the control-flow graphs tell.
//!
//! Who holds control keeps it along edges that say so, and in a handshake it passes to the receiver if the receiver's
//! edge says so. Where such steps form no cycle, every atomic sequence comes to its end.

use ample_model::{Communication, Role, System};

/// A run may get lost in an atomic sequence.
pub fn may_be_endless(system: &System) -> bool {
    let handshakes = system.channels.iter().any(|channel| channel.capacity == 0);
    // Locations, numbered through all processes, after one node that stands for all handshakes.
    const MEETING: usize = 0;
    let mut next: Vec<Vec<usize>> = vec![Vec::new()];
    for process in system.processes.iter().filter(|process| process.role == Role::Process) {
        let first = next.len();
        next.resize(first + process.locations.len(), Vec::new());
        for edge in &process.edges {
            let (from, to) = (first + edge.from.index(), first + edge.to.index());
            if edge.keeps_control {
                next[from].push(to);
            }
            match edge.communication {
                Some(Communication::Send { .. }) if handshakes => next[from].push(MEETING),
                Some(Communication::Receive { .. }) if handshakes && edge.keeps_control => next[MEETING].push(to),
                _ => {}
            }
        }
    }
    has_cycle(&next)
}

/// Nodes to which nothing leads are taken away, again and again: what is left lies on cycles or behind them.
fn has_cycle(next: &[Vec<usize>]) -> bool {
    let mut incoming = vec![0; next.len()];
    next.iter().flatten().for_each(|to| incoming[*to] += 1);
    let mut pending: Vec<usize> = (0..next.len()).filter(|node| incoming[*node] == 0).collect();
    let mut taken = 0;
    while let Some(node) = pending.pop() {
        taken += 1;
        for to in &next[node] {
            incoming[*to] -= 1;
            if incoming[*to] == 0 {
                pending.push(*to);
            }
        }
    }
    taken < next.len()
}

#[cfg(test)]
mod tests {
    use ample_lang::promela::{self, preprocess::FileLoader};

    use super::*;

    fn is_endless(text: &str) -> bool {
        may_be_endless(&promela::read("m.pml", text.into(), &mut FileLoader, &[]).unwrap().system)
    }

    #[test]
    fn a_loop_inside_an_atomic_sequence_may_be_endless() {
        assert!(!is_endless("byte x; active proctype P() { do :: x = 1 - x od }"));
        assert!(!is_endless("byte x; active proctype P() { do :: atomic { x = 1; x = 0 } od }"));
        assert!(is_endless("byte x; active proctype P() { atomic { do :: x = 1 - x od } }"));
        assert!(is_endless("byte x; active proctype P() { atomic { do :: x < 2 -> x++ :: else -> break od }; x = 0 }"));
    }

    #[test]
    fn control_may_be_handed_round() {
        let model = |capacity: u32| {
            format!(
                "chan r = [{capacity}] of {{ bit }}; chan s = [{capacity}] of {{ bit }};
                active proctype P() {{ r!0; do :: atomic {{ s?0; r!0 }} od }}
                active proctype Q() {{ do :: atomic {{ r?0; s!0 }} od }}"
            )
        };
        assert!(is_endless(&model(0)));
        assert!(!is_endless(&model(1)));
    }
}
