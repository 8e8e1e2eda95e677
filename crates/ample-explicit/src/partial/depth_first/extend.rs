//! When the transitions that were chosen in a state turn out to be too few.

use std::borrow::Borrow;

use ample_model::outcome::Reason;

use super::super::labels::contains;
use super::super::reduction::Proviso;
use super::super::visited::Visited;
use super::super::{Label, Labelled, Partial};
use super::Search;
use crate::space::Buffer;
use crate::store::Handle;

impl<S, V> Search<'_, S, V>
where
    S: Partial,
    V: Visited<S::State>,
    Buffer<S>: Default,
{
    /// All that was chosen in the last state has been taken. Chooses more if the proviso demands it.
    #[inline]
    pub(super) fn extend(&mut self) -> bool {
        match self.reduction.proviso {
            Proviso::Components => self.serve_ignored(),
            Proviso::Stack => self.escape(),
            Proviso::None | Proviso::Queue => false,
        }
    }

    /// A transition ended in a fault: everything else is taken as well, and it does not fall asleep.
    #[cold]
    pub(super) fn expand_fully(&mut self) {
        self.counts.extended += u64::from(self.frames.choose_rest());
        if let Some(frame) = self.frames.last_mut() {
            frame.tired = None;
        }
    }

    /// The transition that is taken has led into an atomic sequence with several ways on: can it leave the stack? Not
    /// through a state that is on it: where that leads to may be searched only after this state.
    pub(super) fn look_ahead(&mut self, out: &Buffer<S>) {
        let visited = &self.visited;
        let is_off_stack =
            |state: &S::State| visited.find(state).is_none_or(|state| !visited.mark(state).is_on_stack());
        let escapes = self.ahead.ends_in(self.space, visited.store(), out.borrow(), is_off_stack, is_off_stack);
        if let Some(frame) = self.frames.last_mut() {
            frame.has_escaped |= escapes;
        }
    }

    /// The proviso on the stack: if everything that was taken leads to states on it, takes more.
    #[inline]
    fn escape(&mut self) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        if frame.has_escaped || frame.is_whole {
            return false;
        }
        let state = self.visited.get(frame.state);
        let is_open = |position| self.frames.is_open(position);
        let added = match self.space.may_matter(state) {
            true => self.choice.smallest(self.space, state, self.frames.enabled(), is_open, is_open),
            false => &[],
        };
        added.iter().for_each(|&position| self.frames.choose(position));
        self.counts.extended += u64::from(!added.is_empty());
        if added.is_empty()
            && let Some(frame) = self.frames.last_mut()
        {
            frame.is_whole = true;
        }
        !added.is_empty()
    }

    /// The proviso on components: if the last state is the first of a terminal one, and something is enabled in it that
    /// was never taken inside, takes that.
    #[inline]
    fn serve_ignored(&mut self) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        if !self.components.is_root(self.visited.mark(frame.state).place()) {
            return false;
        }
        let Some(taken) = self.components.taken() else { return false };
        if frame.is_transient {
            let taken = taken.to_vec();
            return self.serve_behind(&taken);
        }
        let enabled = self.frames.enabled();
        if enabled.iter().all(|transition| contains(taken, transition.label)) {
            return false;
        }
        let state = self.visited.get(frame.state);
        if !self.space.may_matter(state) {
            return false;
        }
        let is_ignored = |position: u32| !contains(taken, enabled[position as usize].label);
        let is_open = |position| self.frames.is_open(position);
        let added = self.choice.smallest(self.space, state, enabled, is_ignored, is_open);
        added.iter().for_each(|&position| self.frames.choose(position));
        self.counts.extended += 1;
        true
    }

    /// The same where the component begins inside an atomic sequence: goes on to a state after it.
    #[cold]
    fn serve_behind(&mut self, taken: &[Label]) -> bool {
        let Some(path) = self.path_out() else { return false };
        let Some(&(_, _, end)) = path.last() else { return false };
        self.enabled.clear();
        self.space.enabled(self.visited.get(end), &mut self.enabled);
        let is_ignored = |transition: &Labelled<S::Transition>| !contains(taken, transition.label);
        if !self.enabled.iter().any(is_ignored) || !self.space.may_matter(self.visited.get(end)) {
            return false;
        }
        if (self.frames.len() + path.len()) as u64 > self.safety.options.max_depth {
            self.safety.ended.get_or_insert(Reason::Depth);
            return false;
        }
        let last = path.len() - 1;
        for (index, (transition, _, to)) in path.into_iter().enumerate() {
            let Some(frame) = self.frames.last_mut() else { return false };
            frame.current = Some(transition);
            let steps = frame.steps + 1;
            self.push(to, steps, index < last, self.frames.sleep_end());
        }
        let state = self.visited.get(end);
        let is_seed = |position: u32| is_ignored(&self.enabled[position as usize]);
        let added = self.choice.smallest(self.space, state, &self.enabled, is_seed, |_| true);
        added.iter().for_each(|&position| self.frames.choose(position));
        if let Some(frame) = self.frames.last_mut() {
            frame.is_whole = false;
        }
        self.counts.extended += 1;
        true
    }

    /// The steps from the last state, which is inside an atomic sequence, to a state after it: for each the transition,
    /// the step before it, and where it leads. None if the sequence cannot be left.
    fn path_out(&mut self) -> Option<Vec<Step<S::Transition>>> {
        let mut met: Vec<Step<S::Transition>> = Vec::new();
        let mut out = Buffer::<S>::default();
        let mut from = (None, self.frames.last()?.state);
        loop {
            let (before, state) = from;
            self.enabled.clear();
            self.space.enabled(self.visited.get(state), &mut self.enabled);
            for &transition in &self.enabled {
                self.space.target(self.visited.get(state), &transition.transition, &mut out);
                if self.space.is_dead() {
                    continue;
                }
                let Some(to) = self.visited.find(out.borrow()) else { continue };
                if met.iter().any(|&(_, _, other)| other == to) {
                    continue;
                }
                met.push((transition, before, to));
                if !self.space.is_transient(self.visited.get(to)) {
                    return Some(retrace(&met));
                }
            }
            let next = before.map_or(0, |before| before + 1);
            from = (Some(next), met.get(next)?.2);
        }
    }
}

/// A step of a search: the transition, the number of the step before it, and where it leads.
type Step<T> = (Labelled<T>, Option<usize>, Handle);

/// The steps that lead to the last one, and that one.
fn retrace<T: Copy>(met: &[Step<T>]) -> Vec<Step<T>> {
    let mut path = Vec::new();
    let mut place = met.len().checked_sub(1);
    while let Some(step) = place.and_then(|place| met.get(place)) {
        path.push(*step);
        place = step.1;
    }
    path.reverse();
    path
}
