//! Breadth-first search with batch expansion, for a visited set on disk (M. Kattenbelt's thesis, §5.5.1).
//!
//! States are expanded level by level. What they lead to is collected, and looked up on disk together; so a state is known
//! to be new only some time after the search has arrived at it. The store is the queue. A path is found again level by
//! level, from its end to its beginning: in each level the search looks for a state from which a step leads to the one
//! behind.

use std::io;

use ample_budget::Budget;
use ample_model::outcome::Reason;

use crate::check::{Options, Report, Safety, Violation};
use crate::search::Path;
use crate::space::Checked;
use crate::store::{DiskStore, Offered, Store};

/// Why a search has ended.
enum End {
    /// Its result is recorded.
    Terminated,
    /// The disk is full, say.
    Failed(io::Error),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> End {
        End::Failed(error)
    }
}

/// Checks breadth-first with a store on disk, which must be empty. The paths to violations are shortest ones, in handles of
/// the states that the store has [kept](DiskStore::kept). A disk that cannot be written ends the search.
pub fn breadth_first<S>(
    space: &mut S,
    store: &mut DiskStore,
    options: &Options,
    budget: &Budget,
) -> Report<S::Transition>
where
    S: Checked<State = [u8]>,
{
    let safety = Safety::new(options, budget);
    let mut search = Search { space, store, safety, levels: Vec::new(), depth: 0 };
    if let Err(End::Failed(error)) = search.run() {
        search.safety.ended = Some(match error.kind() {
            io::ErrorKind::OutOfMemory => Reason::Memory,
            _ => Reason::Unsupported(format!("the states could not be kept on disk: {error}")),
        });
    }
    let Search { safety, store, .. } = search;
    safety.report(store.bytes(), store.state_bytes())
}

struct Search<'a, S: Checked> {
    space: &'a mut S,
    store: &'a mut DiskStore,
    safety: Safety<'a, S::Transition>,
    /// Where the levels begin in the queue.
    levels: Vec<u64>,
    /// The depth of the states that are expanded.
    depth: u64,
}

impl<S: Checked<State = [u8]>> Search<'_, S> {
    fn run(&mut self) -> Result<(), End> {
        let (mut state, mut out) = (Vec::new(), Vec::new());
        self.levels.push(0);
        for index in 0.. {
            if !self.space.initial(index, &mut out) {
                break;
            }
            self.arrive(&out, None)?;
        }
        self.resolve(0)?;
        let mut level_end = self.store.end();
        self.levels.push(level_end);
        while let Some(place) = self.next(&mut state)? {
            if place >= level_end {
                self.depth += 1;
                level_end = self.store.end();
            }
            self.expand(&state, &mut out)?;
            // All that the level leads to has to be known before the next one begins.
            if self.store.at() >= level_end {
                self.resolve(self.depth + 1)?;
                self.levels.push(self.store.end());
            }
        }
        Ok(())
    }

    fn next(&mut self, state: &mut Vec<u8>) -> Result<Option<u64>, End> {
        Ok(self.store.next(state)?)
    }

    fn expand(&mut self, state: &[u8], out: &mut Vec<u8>) -> Result<(), End> {
        let mut cursor = self.space.first(state);
        if cursor.is_none() {
            return self.leaf(state);
        }
        if self.depth >= self.safety.options.max_depth {
            self.safety.ended.get_or_insert(Reason::Depth);
            return Ok(());
        }
        while let Some(transition) = cursor {
            self.space.target(state, &transition, out);
            self.arrive(out, Some((state, transition)))?;
            cursor = self.space.next(state, &transition);
        }
        Ok(())
    }

    /// Arrives at a state, or at a fault.
    fn arrive(&mut self, out: &[u8], by: Option<(&[u8], S::Transition)>) -> Result<(), End> {
        let note = self.safety.note(self.space);
        let depth = self.depth + u64::from(by.is_some());
        self.safety.statistics.atomic_steps += u64::from(note.atomic_steps);
        if let Some(message) = note.violation
            && self.safety.asks_assertions()
        {
            let path = match by {
                Some((source, transition)) => self.path(source, self.depth, Some(transition))?,
                None => self.path(out, 0, None)?,
            };
            self.safety.assertions = Some(Violation { message: message.into(), path });
            self.check_done()?;
        }
        if !note.dead {
            let is_transient = self.space.is_transient(out);
            let statistics = &mut self.safety.statistics;
            *if is_transient { &mut statistics.atomic_steps } else { &mut statistics.transitions } += 1;
            let offered = match self.store.offer(out)? {
                Some(offered) => Some(offered),
                None => {
                    self.resolve(depth)?;
                    self.store.offer(out)?
                }
            };
            match offered {
                Some(Offered::New) => self.found(out, depth)?,
                Some(Offered::Seen | Offered::Pending) => {}
                None => return Err(End::Failed(io::ErrorKind::OutOfMemory.into())),
            }
        }
        self.safety.countdown -= 1;
        if self.safety.countdown == 0 {
            let waiting = self.store.len().saturating_sub(self.safety.statistics.states);
            if self.safety.report_progress(waiting, self.store.bytes()) {
                return Err(End::Terminated);
            }
        }
        Ok(())
    }

    /// Looks up what is pending; what is new lies at that depth.
    fn resolve(&mut self, depth: u64) -> Result<(), End> {
        let (mut states, mut ends) = (Vec::new(), Vec::new());
        self.store.resolve(|state| {
            states.extend_from_slice(state);
            ends.push(states.len());
        })?;
        let mut start = 0;
        for end in ends {
            self.found(&states[start..end], depth)?;
            start = end;
        }
        Ok(())
    }

    /// A state is new.
    fn found(&mut self, state: &[u8], depth: u64) -> Result<(), End> {
        let is_transient = self.space.is_transient(state);
        let statistics = &mut self.safety.statistics;
        *if is_transient { &mut statistics.atomic_states } else { &mut statistics.states } += 1;
        statistics.depth = statistics.depth.max(depth);
        if is_transient {
            return Ok(());
        }
        let mut next = 0;
        while let Some(&number) = self.safety.open.get(next) {
            if self.space.invariant(number, state) {
                next += 1;
                continue;
            }
            let path = self.path(state, depth, None)?;
            self.safety.invariants[number] = Some(Violation { message: "invariant violated".to_owned(), path });
            self.safety.open.remove(next);
            self.check_done()?;
        }
        Ok(())
    }

    fn leaf(&mut self, state: &[u8]) -> Result<(), End> {
        if !self.safety.asks_deadlock() || self.space.is_transient(state) || self.space.is_valid_end(state) {
            return Ok(());
        }
        let path = self.path(state, self.depth, None)?;
        self.safety.deadlock = Some(Violation { message: "invalid end state".to_owned(), path });
        self.check_done()
    }

    /// Ends the search if there is nothing left to look for.
    fn check_done(&mut self) -> Result<(), End> {
        if self.safety.is_done() { Err(End::Terminated) } else { Ok(()) }
    }

    /// The path to a state at that depth, with one more step behind it if there is one.
    #[cold]
    fn path(&mut self, end: &[u8], depth: u64, last: Option<S::Transition>) -> Result<Path<S::Transition>, End> {
        let mut steps = Vec::new();
        let mut child = end.to_vec();
        let keep = |store: &mut DiskStore, state: &[u8]| store.kept.insert(state).handle();
        let ending = keep(self.store, end);
        if let (Some(handle), Some(transition)) = (ending, last) {
            steps.push((handle, transition));
        }
        let mut out = Vec::new();
        for level in (0..depth as usize).rev() {
            let from = self.levels[level];
            let to = self.levels.get(level + 1).copied().unwrap_or(self.store.end());
            let (space, mut taken) = (&mut *self.space, None);
            let goal = self.store.key(&child).to_vec();
            let key = self.store.keys();
            let parent = self.store.scan(from, to, |state| {
                let mut cursor = space.first(state);
                while let Some(transition) = cursor {
                    space.target(state, &transition, &mut out);
                    if !space.is_dead() && key.of(&out) == goal {
                        taken = Some(transition);
                        return true;
                    }
                    cursor = space.next(state, &transition);
                }
                false
            })?;
            let (Some(parent), Some(transition)) = (parent, taken) else { break };
            steps.extend(keep(self.store, &parent).map(|handle| (handle, transition)));
            child = parent;
        }
        steps.reverse();
        Ok(Path { steps, end: if last.is_some() { None } else { ending } })
    }
}
