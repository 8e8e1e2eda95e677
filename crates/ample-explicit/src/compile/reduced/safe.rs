//! Which steps of a compiled system may be safe (J. Vander Meulen's thesis, 2012): what
//! [`TwoPhase`](crate::partial::TwoPhase) asks beside persistent sets.
//!
//! The thesis calls a command safe if it mentions local variables only. Here a step is one that the stubborn sets choose
//! alone, so that it may use whatever nobody else uses before it, and the hole in the thesis's rule (somebody's guard
//! looks at a local variable of a process that takes no part) is closed where all looks are: in the objects that
//! conditions look at.
//!
//! Persistent sets for deadlocks and linear time are content with less than branching time: processes that begin and end
//! in different orders may have different ids, if nobody can tell. So a step that creates a process is not safe, nor the
//! end of one while others may be created; unless nothing else is enabled.

use ample_model::Move;

use super::{Reduced, Transition, UNKNOWN};
use crate::liveness::{Concurrent, Processes};
use crate::partial::{Label, Labelled, ProcessModel};

impl ProcessModel for Reduced<'_> {
    fn owner(&self, transition: &Transition) -> u32 {
        transition.process()
    }

    fn is_invisible(&mut self, _: &[u8], one: &Labelled<Transition>, is_alone: bool) -> bool {
        if self.now.full {
            self.tally.full.store(true, std::sync::atomic::Ordering::Relaxed);
            return false;
        }
        if one.label & UNKNOWN != 0 || self.visible.contains(one.label) {
            return false;
        }
        is_alone || self.is_plain(one.label)
    }
}

impl Reduced<'_> {
    /// The transition changes places exactly with all that it accords with.
    fn is_plain(&self, label: Label) -> bool {
        let detail = self.unfolding.detail(label);
        let may_be_created =
            || self.now.alive.iter().any(|transition| !self.unfolding.detail(transition).spawns.is_empty());
        !detail.is_global
            && !detail.timeout
            && detail.spawns.is_empty()
            && detail.reaches.is_empty()
            && !(detail.ends && may_be_created())
    }
}

impl Concurrent for Reduced<'_> {
    fn mover(&self, transition: &Transition) -> Option<u32> {
        self.space.mover(transition)
    }

    fn participants(&self) -> Processes {
        self.space.participants()
    }

    fn note_participants(&mut self) {
        self.space.note_participants();
    }

    fn actions(&mut self, state: &[u8], transition: &Transition) -> Vec<Move> {
        self.space.expand(state, transition)
    }
}
