//! The stack of a depth-first search. What is enabled, chosen and asleep in the states on it lies on three stacks of
//! their own, in which the last frame owns the end; so nothing is allocated for a state.

use super::super::labels::{self, contains};
use super::super::{Label, Labelled};
use crate::store::Handle;

/// A state on the stack.
pub(super) struct Frame<T> {
    pub(super) state: Handle,
    /// The steps up to it, those inside atomic sequences included.
    pub(super) steps: u64,
    /// The transition that the search follows.
    pub(super) current: Option<Labelled<T>>,
    pub(super) is_transient: bool,
    /// There is nothing to add to what is chosen: it is all that is enabled and not asleep.
    pub(super) is_whole: bool,
    /// The proviso on the stack is satisfied, or is not asked for.
    pub(super) has_escaped: bool,
    /// What falls asleep before the next transition is taken.
    pub(super) tired: Option<Label>,
    /// Where its part of each stack begins.
    enabled: usize,
    chosen: usize,
    sleep: usize,
    /// The next one of those chosen.
    next: usize,
}

/// The stack.
pub(super) struct Frames<T> {
    frames: Vec<Frame<T>>,
    enabled: Vec<Labelled<T>>,
    /// Positions among the enabled transitions.
    chosen: Vec<u32>,
    /// Labels, sorted for each frame.
    sleep: Vec<Label>,
}

impl<T: Copy> Frames<T> {
    pub(super) fn new() -> Self {
        Frames { frames: Vec::new(), enabled: Vec::new(), chosen: Vec::new(), sleep: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    #[inline]
    pub(super) fn last(&self) -> Option<&Frame<T>> {
        self.frames.last()
    }

    #[inline]
    pub(super) fn last_mut(&mut self) -> Option<&mut Frame<T>> {
        self.frames.last_mut()
    }

    /// The steps of the path that the search is on.
    pub(super) fn path(&self) -> Vec<(Handle, T)> {
        self.frames.iter().filter_map(|frame| Some((frame.state, frame.current?.transition))).collect()
    }

    /// A new last frame, without anything chosen. Its sleep set is what lies on the stack from `sleep` on.
    pub(super) fn push(
        &mut self,
        state: Handle,
        steps: u64,
        is_transient: bool,
        enabled: &[Labelled<T>],
        sleep: usize,
    ) {
        self.frames.push(Frame {
            state,
            steps,
            current: None,
            is_transient,
            is_whole: true,
            has_escaped: true,
            tired: None,
            enabled: self.enabled.len(),
            chosen: self.chosen.len(),
            sleep,
            next: self.chosen.len(),
        });
        self.enabled.extend_from_slice(enabled);
    }

    pub(super) fn pop(&mut self) -> Option<Frame<T>> {
        let frame = self.frames.pop()?;
        self.enabled.truncate(frame.enabled);
        self.chosen.truncate(frame.chosen);
        self.sleep.truncate(frame.sleep);
        Some(frame)
    }

    /// The next chosen transition of the last frame.
    #[inline]
    pub(super) fn pick(&mut self) -> Option<Labelled<T>> {
        let frame = self.frames.last_mut()?;
        let position = *self.chosen.get(frame.next)?;
        frame.next += 1;
        if let Some(label) = frame.tired.take() {
            labels::insert(&mut self.sleep, frame.sleep, label);
        }
        let taken = self.enabled[frame.enabled + position as usize];
        frame.current = Some(taken);
        Some(taken)
    }

    /// What is enabled in the last state.
    #[inline]
    pub(super) fn enabled(&self) -> &[Labelled<T>] {
        &self.enabled[self.frames.last().map_or(0, |frame| frame.enabled)..]
    }

    /// What is chosen there.
    #[inline]
    pub(super) fn chosen(&self) -> &[u32] {
        &self.chosen[self.frames.last().map_or(0, |frame| frame.chosen)..]
    }

    /// What sleeps there.
    #[inline]
    pub(super) fn sleep(&self) -> &[Label] {
        &self.sleep[self.frames.last().map_or(0, |frame| frame.sleep)..]
    }

    /// The transition at that position is neither chosen nor asleep in the last state.
    #[inline]
    pub(super) fn is_open(&self, position: u32) -> bool {
        !self.chosen().contains(&position) && !contains(self.sleep(), self.enabled()[position as usize].label)
    }

    /// Chooses a transition, unless it sleeps.
    #[inline]
    pub(super) fn choose(&mut self, position: u32) {
        if !contains(self.sleep(), self.enabled()[position as usize].label) {
            self.chosen.push(position);
        }
    }

    /// Chooses all that are neither chosen nor asleep. True if there were any.
    pub(super) fn choose_rest(&mut self) -> bool {
        let before = self.chosen.len();
        for position in 0..self.enabled().len() as u32 {
            if self.is_open(position) {
                self.chosen.push(position);
            }
        }
        if let Some(frame) = self.last_mut() {
            frame.is_whole = true;
        }
        self.chosen.len() > before
    }

    /// The end of the stack of sleep sets, where the next one begins.
    #[inline]
    pub(super) fn sleep_end(&self) -> usize {
        self.sleep.len()
    }

    /// The labels on the stack of sleep sets from there on.
    #[inline]
    pub(super) fn sleep_from(&self, start: usize) -> &[Label] {
        &self.sleep[start..]
    }

    #[inline]
    pub(super) fn truncate_sleep(&mut self, end: usize) {
        self.sleep.truncate(end);
    }

    /// Copies to the end of the stack of sleep sets what sleeps in the last state and passes.
    #[inline]
    pub(super) fn inherit(&mut self, mut passes: impl FnMut(Label) -> bool) {
        let end = self.sleep.len();
        for place in end - self.sleep().len()..end {
            let label = self.sleep[place];
            if passes(label) {
                self.sleep.push(label);
            }
        }
    }

    /// Gives the last frame another sleep set.
    pub(super) fn replace_sleep(&mut self, sleep: &[Label]) {
        if let Some(frame) = self.frames.last() {
            self.sleep.truncate(frame.sleep);
        }
        self.sleep.extend_from_slice(sleep);
    }

    /// Expands the last state again because it was left with a larger sleep set: chooses what slept then and does not
    /// now. Inside an atomic sequence that may be enabled only after it, and everything is chosen. What sleeps is what
    /// slept then and now.
    pub(super) fn wake(&mut self, stored: &[Label]) {
        let Some(frame) = self.frames.last_mut() else { return };
        (frame.tired, frame.next, frame.is_whole, frame.has_escaped) = (None, frame.chosen, frame.is_transient, true);
        let (is_transient, start) = (frame.is_transient, frame.sleep);
        self.chosen.truncate(frame.chosen);
        for position in 0..self.enabled().len() as u32 {
            let label = self.enabled()[position as usize].label;
            if is_transient || (contains(stored, label) && !contains(self.sleep(), label)) {
                self.chosen.push(position);
            }
        }
        let mut kept = start;
        for place in start..self.sleep.len() {
            if contains(stored, self.sleep[place]) {
                self.sleep[kept] = self.sleep[place];
                kept += 1;
            }
        }
        self.sleep.truncate(kept);
    }

    pub(super) fn bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame<T>>()
            + self.enabled.capacity() * size_of::<Labelled<T>>()
            + self.chosen.capacity() * size_of::<u32>()
            + self.sleep.capacity() * size_of::<Label>()
    }
}
