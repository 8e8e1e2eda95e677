//! What a transition of a simplified net stands for: a firing sequence of the net before, which may depend on the marking.
//!
//! Sequences are made of sequences, and nested as deep as the net, so that they are fired with a stack of their own. What
//! is longer than a limit is given up.

use crate::net::Net;

/// The number of a firing sequence.
pub(super) type SequenceId = u32;

/// No run is expanded to more transitions.
pub(super) const LONGEST: usize = 20_000_000;

/// How a transition is fired in the net before.
#[derive(Clone, Debug)]
enum Sequence {
    /// A transition of that net.
    Step(u32),
    /// One after the other, each so many times.
    Then(Vec<(SequenceId, u64)>),
    /// The first for which one of the places has the tokens that are given beside it.
    Either(Vec<(Vec<(u32, u64)>, SequenceId)>),
}

/// All firing sequences of a simplification.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequences {
    sequences: Vec<Sequence>,
    /// The first and the last transition of each, for names.
    ends: Vec<(u32, u32)>,
}

impl Sequences {
    fn push(&mut self, sequence: Sequence, ends: (u32, u32)) -> SequenceId {
        self.sequences.push(sequence);
        self.ends.push(ends);
        self.sequences.len() as u32 - 1
    }

    /// A transition of the net before.
    pub fn step(&mut self, transition: u32) -> SequenceId {
        self.push(Sequence::Step(transition), (transition, transition))
    }

    /// One after the other; there is at least one.
    pub fn then(&mut self, parts: Vec<(SequenceId, u64)>) -> SequenceId {
        let end = |part: Option<&(SequenceId, u64)>| part.map_or((0, 0), |part| self.ends[part.0 as usize]);
        let ends = (end(parts.first()).0, end(parts.last()).1);
        self.push(Sequence::Then(parts), ends)
    }

    /// The one whose place has tokens; there is at least one.
    pub fn either(&mut self, options: Vec<(Vec<(u32, u64)>, SequenceId)>) -> SequenceId {
        let ends = options.first().map_or((0, 0), |option| self.ends[option.1 as usize]);
        self.push(Sequence::Either(options), ends)
    }

    /// A name for a transition with that sequence.
    pub fn name(&self, sequence: SequenceId, net: &Net) -> String {
        let name = |transition: u32| net.transitions[transition as usize].name.as_str();
        let (first, last) = self.ends[sequence as usize];
        match &self.sequences[sequence as usize] {
            Sequence::Then(_) if first != last => format!("{}…{}", name(first), name(last)),
            _ => name(first).to_string(),
        }
    }

    /// Fires the sequence, so many times; `None` if it cannot be fired, or is too long.
    pub fn fire(&self, sequence: SequenceId, times: u64, firing: &mut Firing<'_>) -> Option<()> {
        let mut stack = vec![(sequence, times)];
        while let Some((sequence, times)) = stack.pop() {
            if times == 0 {
                continue;
            }
            match &self.sequences[sequence as usize] {
                Sequence::Step(transition) => {
                    for _ in 0..times {
                        firing.fire(*transition)?;
                    }
                }
                Sequence::Then(parts) => {
                    stack.push((sequence, times - 1));
                    stack.extend(parts.iter().rev());
                }
                Sequence::Either(options) => {
                    let has_tokens =
                        |places: &[(u32, u64)]| places.iter().any(|(place, unit)| firing.tokens(*place) >= *unit);
                    let (_, chosen) = options.iter().find(|(places, _)| has_tokens(places))?;
                    stack.push((sequence, times - 1));
                    stack.push((*chosen, 1));
                }
            }
        }
        Some(())
    }
}

/// Fires transitions of a net one after the other and writes them down.
#[derive(Clone, Debug)]
pub(super) struct Firing<'net> {
    net: &'net Net,
    marking: Vec<u64>,
    run: Vec<u32>,
}

impl<'net> Firing<'net> {
    /// At the start of the net.
    pub fn new(net: &'net Net) -> Firing<'net> {
        Firing { net, marking: net.initial(), run: Vec::new() }
    }

    pub fn net(&self) -> &'net Net {
        self.net
    }

    /// Where it is now.
    pub fn marking(&self) -> &[u64] {
        &self.marking
    }

    /// What was fired so far.
    pub fn run(&self) -> &[u32] {
        &self.run
    }

    pub fn into_run(self) -> Vec<u32> {
        self.run
    }

    /// The tokens of a place.
    pub fn tokens(&self, place: u32) -> u64 {
        self.marking[place as usize]
    }

    /// Fires; `None` if that is not possible.
    pub fn fire(&mut self, transition: u32) -> Option<()> {
        let arcs = self.net.transitions.get(transition as usize)?;
        let fits = |(place, tokens): &(u32, u64)| self.marking[*place as usize].checked_add(*tokens).is_some();
        if self.run.len() >= LONGEST || !arcs.is_enabled(&self.marking) || !arcs.adds.iter().all(fits) {
            return None;
        }
        for (place, tokens) in &arcs.takes {
            self.marking[*place as usize] -= tokens;
        }
        for (place, tokens) in &arcs.adds {
            self.marking[*place as usize] += tokens;
        }
        self.run.push(transition);
        Some(())
    }

    /// Takes back what was fired after the first `length` transitions.
    pub fn back_to(&mut self, length: usize) {
        while self.run.len() > length {
            let Some(transition) = self.run.pop() else { return };
            let arcs = &self.net.transitions[transition as usize];
            for (place, tokens) in &arcs.adds {
                self.marking[*place as usize] -= tokens;
            }
            for (place, tokens) in &arcs.takes {
                self.marking[*place as usize] += tokens;
            }
        }
    }

    /// No transition can fire.
    pub fn is_dead(&self) -> bool {
        !self.net.transitions.iter().any(|transition| transition.is_enabled(&self.marking))
    }
}
