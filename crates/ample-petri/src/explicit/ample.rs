//! The state space of a net in which only the transitions of a stubborn set leave a marking.
//!
//! For products with automata: the others are put off, and the search asks for them where it closes a cycle
//! ([`rest`](Checked::rest)). Which ones those are is remembered as long as the search is on its way below the state.

use ample_explicit::liveness::{Concurrent, Processes};
use ample_explicit::space::{Checked, StateSpace};
use ample_model::Move;

use super::space::{Fire, NetSpace};
use super::stubborn::Stubborn;

/// A net with stubborn sets.
pub(super) struct Ample {
    space: NetSpace,
    stubborn: Stubborn,
    frames: Vec<Frame>,
    /// Those of all frames: first what is in the set, then the rest.
    transitions: Vec<Fire>,
    enabled: Vec<Fire>,
    kept: Vec<u32>,
    puts_off: bool,
}

/// The transitions of a state.
#[derive(Clone, Copy)]
struct Frame {
    start: u32,
    /// So many are in the set.
    chosen: u32,
}

/// A transition, and where those after it are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub fire: Fire,
    /// So many frames are below its own, if there is one.
    frame: u32,
    /// Its place in the frame.
    position: u32,
}

/// The place of a transition of a state where nothing is put off.
const WHOLE: u32 = u32::MAX;

impl Ample {
    /// The sets must be for runs.
    pub fn new(space: NetSpace, stubborn: Stubborn) -> Ample {
        Ample {
            space,
            stubborn,
            frames: Vec::new(),
            transitions: Vec::new(),
            enabled: Vec::new(),
            kept: Vec::new(),
            puts_off: true,
        }
    }

    fn whole(&self, fire: Fire) -> Taken {
        Taken { fire, frame: self.frames.len() as u32, position: WHOLE }
    }

    fn end_of(&self, frame: u32) -> u32 {
        self.frames.get(frame as usize + 1).map_or(self.transitions.len() as u32, |next| next.start)
    }

    fn at(&self, frame: u32, position: u32) -> Option<Taken> {
        let at = self.frames.get(frame as usize)?.start + position;
        (at < self.end_of(frame)).then(|| Taken { fire: self.transitions[at as usize], frame, position })
    }

    /// Finds the enabled transitions and those of them that are enough.
    fn choose(&mut self, state: &[u8]) {
        self.enabled.clear();
        self.kept.clear();
        let mut cursor = self.space.first(state);
        while let Some(fire) = cursor {
            self.enabled.push(fire);
            self.kept.push(fire.transition);
            cursor = self.space.next(state, &fire);
        }
        self.stubborn.keep_packed(&self.space.table.layout, state, &mut self.kept);
        self.kept.sort_unstable();
    }
}

impl StateSpace for Ample {
    type State = [u8];
    type Transition = Taken;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.space.initial(index, out)
    }

    fn first(&mut self, state: &[u8]) -> Option<Taken> {
        if !self.puts_off {
            return self.space.first(state).map(|first| self.whole(first));
        }
        self.choose(state);
        if self.kept.len() == self.enabled.len() {
            return self.enabled.first().map(|first| self.whole(*first));
        }
        let start = self.transitions.len() as u32;
        for is_chosen in [true, false] {
            let kept = &self.kept;
            let these = self.enabled.iter().filter(|f| kept.binary_search(&f.transition).is_ok() == is_chosen);
            self.transitions.extend(these);
        }
        self.frames.push(Frame { start, chosen: self.kept.len() as u32 });
        self.at(self.frames.len() as u32 - 1, 0)
    }

    fn next(&mut self, state: &[u8], last: &Taken) -> Option<Taken> {
        // What lies above belongs to states that the search has left.
        let own = if last.position == WHOLE { last.frame as usize } else { last.frame as usize + 1 };
        if let Some(above) = self.frames.get(own) {
            self.transitions.truncate(above.start as usize);
            self.frames.truncate(own);
        }
        if last.position == WHOLE {
            return self.space.next(state, &last.fire).map(|fire| Taken { fire, ..*last });
        }
        let chosen = self.frames.get(last.frame as usize)?.chosen;
        let position = last.position + 1;
        let goes_on = position < chosen || last.position >= chosen;
        self.at(last.frame, position).filter(|_| goes_on)
    }

    fn target(&mut self, state: &[u8], taken: &Taken, out: &mut Vec<u8>) {
        self.space.target(state, &taken.fire, out);
    }
}

impl Checked for Ample {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.space.is_valid_end(state)
    }

    fn violation(&self) -> Option<String> {
        None
    }

    fn is_dead(&self) -> bool {
        self.space.is_dead()
    }

    fn is_transient(&self, _: &[u8]) -> bool {
        false
    }

    fn atomic_steps(&self) -> u32 {
        0
    }

    fn invariant(&mut self, number: usize, state: &[u8]) -> bool {
        self.space.invariant(number, state)
    }

    fn rest(&mut self, _: &[u8], last: &Taken) -> Option<Taken> {
        if last.position == WHOLE { None } else { self.at(last.frame, last.position + 1) }
    }

    fn put_off(&mut self, may: bool) {
        self.puts_off = may;
    }
}

impl Concurrent for Ample {
    fn mover(&self, _: &Taken) -> Option<u32> {
        None
    }

    fn participants(&self) -> Processes {
        Processes::NONE
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &[u8], _: &Taken) -> Vec<Move> {
        Vec::new()
    }
}
