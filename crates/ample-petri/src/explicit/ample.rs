//! The state space of a net in which only the transitions of a stubborn set leave a marking.
//!
//! For products with automata: the others are [postponed](Postponed), and the search asks for them where it closes a
//! cycle ([`rest`](Checked::rest)).

use ample_explicit::liveness::{Concurrent, Processes};
use ample_explicit::partial::{Postponed, Taken};
use ample_explicit::space::{Checked, StateSpace};
use ample_model::Move;

use super::space::{Fire, NetSpace};
use super::stubborn::Stubborn;

/// A net with stubborn sets.
pub(super) struct Ample {
    space: NetSpace,
    stubborn: Stubborn,
    postponed: Postponed<Fire>,
    enabled: Vec<Fire>,
    kept: Vec<u32>,
    puts_off: bool,
}

impl Ample {
    /// The sets must be for runs.
    pub fn new(space: NetSpace, stubborn: Stubborn) -> Ample {
        Ample {
            space,
            stubborn,
            postponed: Postponed::default(),
            enabled: Vec::new(),
            kept: Vec::new(),
            puts_off: true,
        }
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
    type Transition = Taken<Fire>;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.space.initial(index, out)
    }

    fn first(&mut self, state: &[u8]) -> Option<Taken<Fire>> {
        if !self.puts_off {
            return self.space.first(state).map(|first| self.postponed.of_all(first));
        }
        self.choose(state);
        if self.kept.len() == self.enabled.len() {
            return self.enabled.first().map(|first| self.postponed.of_all(*first));
        }
        let kept = &self.kept;
        let are = |is_chosen: bool| {
            let these = self.enabled.iter().copied();
            these.filter(move |fire| kept.binary_search(&fire.transition).is_ok() == is_chosen)
        };
        self.postponed.push(are(true), are(false))
    }

    fn next(&mut self, state: &[u8], last: &Taken<Fire>) -> Option<Taken<Fire>> {
        self.postponed.return_to(last);
        if last.is_of_all() {
            return self.space.next(state, &last.transition).map(|transition| last.with(transition));
        }
        self.postponed.next(last)
    }

    fn target(&mut self, state: &[u8], taken: &Taken<Fire>, out: &mut Vec<u8>) {
        self.space.target(state, &taken.transition, out);
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

    fn rest(&mut self, _: &[u8], last: &Taken<Fire>) -> Option<Taken<Fire>> {
        self.postponed.rest(last)
    }

    fn put_off(&mut self, may: bool) {
        self.puts_off = may;
    }
}

impl Concurrent for Ample {
    fn mover(&self, _: &Taken<Fire>) -> Option<u32> {
        None
    }

    fn participants(&self) -> Processes {
        Processes::NONE
    }

    fn note_participants(&mut self) {}

    fn actions(&mut self, _: &[u8], _: &Taken<Fire>) -> Vec<Move> {
        Vec::new()
    }
}
