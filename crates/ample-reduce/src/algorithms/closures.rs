//! The four algorithms, as closures of a seed under what it needs in a state.

use super::relations::Relations;
use super::{Algorithm, Choice, Interference, count_new};
use crate::bits::Bits;
use crate::scheme::{ConditionNumber, ProcessNumber, Scheme, TransitionNumber, View};

/// Everything that an algorithm asks about a state.
pub(super) struct State<'s, V: View + ?Sized> {
    pub(super) relations: &'s Relations,
    pub(super) scheme: &'s Scheme,
    pub(super) view: &'s mut V,
}

static NOTHING: Bits = Bits::new();

/// The memory of a closure.
#[derive(Clone, Debug, Default)]
pub(super) struct Closure {
    /// The enabled transitions of the state.
    enabled: Bits,
    /// The transitions that may occur before one that is enabled: those of the future, without those that wait for
    /// `timeout`, since what is enabled in the closure stays enabled until one of its members is executed.
    possible: Bits,
    /// Transitions, or processes, that are in the closure.
    members: Bits,
    /// Those whose needs have not been looked at.
    work: Vec<u32>,
    /// What one of them needs.
    row: Bits,
    /// A set of transitions that may enable a disabled one, and the best so far.
    option: Bits,
}

impl Closure {
    /// Notes which transitions are enabled, and which may occur. False if all that are enabled must be executed.
    pub(super) fn see_enabled<V: View + ?Sized>(&mut self, state: &State<V>) -> bool {
        self.enabled.clear();
        state.view.enabled().iter().for_each(|number| {
            self.enabled.insert(*number);
        });
        self.possible.clear();
        self.possible.extend(state.view.alive().unwrap_or(state.relations.all()));
        state.relations.timeouts().iter().for_each(|number| self.possible.remove(number));
        !self.enabled.meets(state.relations.timeouts())
    }

    /// The transition is enabled.
    pub(super) fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.enabled.contains(transition)
    }

    /// The persistent set that an algorithm finds from a seed.
    pub(super) fn persistent<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        if !self.see_enabled(state) {
            out.clear();
            out.extend_from_slice(state.view.enabled());
            return;
        }
        match algorithm {
            Algorithm::Overman(interference) => self.overman(interference, state, seed, out),
            _ => self.transitions(algorithm, state, seed, out),
        }
    }

    /// Algorithms 1, 3 and 4: transitions need transitions.
    fn transitions<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        out.clear();
        if self.close(algorithm, state, seed, u32::MAX) {
            out.extend(state.view.enabled().iter().filter(|number| self.members.contains(**number)));
        } else {
            out.extend_from_slice(state.view.enabled());
        }
    }

    /// The set that Algorithm 3 or 4 finds from a seed, if it has fewer transitions than there are, or only one. To be called after
    /// [`see_enabled`](Self::see_enabled).
    pub(super) fn improve<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        if self.close(algorithm, state, seed, (out.len() as u32).max(2)) {
            out.clear();
            out.extend(state.view.enabled().iter().filter(|number| self.members.contains(**number)));
        }
    }

    /// Makes the members a closure of the seed. False if it takes all that is enabled, or as many enabled transitions as
    /// the limit says.
    fn close<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        seed: TransitionNumber,
        limit: u32,
    ) -> bool {
        self.begin();
        self.add(seed);
        while let Some(transition) = self.work.pop() {
            if !self.is_below(limit) || !self.find_needs(algorithm, state, transition) {
                return false;
            }
            self.add_row();
        }
        self.is_below(limit)
    }

    /// There are fewer enabled members than the limit says.
    fn is_below(&self, limit: u32) -> bool {
        limit == u32::MAX || count_new(&self.members, &self.enabled, &NOTHING) < limit
    }

    /// Algorithm 2: processes need processes.
    fn overman<V: View + ?Sized>(
        &mut self,
        interference: Interference,
        state: &mut State<V>,
        seed: TransitionNumber,
        out: &mut Vec<TransitionNumber>,
    ) {
        out.clear();
        self.begin();
        self.set_row(state.relations.active(seed));
        self.add_row();
        while let Some(process) = self.work.pop() {
            self.find_processes(interference, state, process);
            self.add_row();
        }
        let is_member = |number: &&TransitionNumber| state.relations.active(**number).is_within(&self.members);
        out.extend(state.view.enabled().iter().filter(is_member));
    }

    fn begin(&mut self) {
        self.members.clear();
        self.work.clear();
    }

    fn add(&mut self, number: u32) {
        if self.members.insert(number) {
            self.work.push(number);
        }
    }

    fn add_row(&mut self) {
        let row = std::mem::take(&mut self.row);
        row.iter().for_each(|number| self.add(number));
        self.row = row;
    }

    /// Finds what a transition needs; false if that is all that is enabled.
    fn find_needs<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        transition: TransitionNumber,
    ) -> bool {
        match algorithm {
            Algorithm::Conflicting(_) if !self.is_enabled(transition) => return false,
            Algorithm::Conflicting(Interference::Possible) => self.set_row(state.relations.clash(transition)),
            Algorithm::Conflicting(Interference::First) => self.find_interference(state, transition),
            Algorithm::Stubborn(choice) if !self.is_enabled(transition) => {
                self.find_enabling(choice, Interference::Possible, state, transition);
            }
            Algorithm::Conditional(choice) if !self.is_enabled(transition) => {
                self.find_enabling(choice, Interference::First, state, transition);
            }
            Algorithm::Stubborn(_) => self.set_row(state.relations.discord(transition)),
            Algorithm::Conditional(_) => self.find_interference(state, transition),
            Algorithm::Overman(_) => {}
        }
        self.row.retain(&self.possible);
        true
    }

    /// What a transition needs, or a process for Algorithm 2, on its own: without regard to a closure. None if that is
    /// all that is enabled. To be called after [`see_enabled`](Self::see_enabled).
    pub(super) fn needs<V: View + ?Sized>(
        &mut self,
        algorithm: Algorithm,
        state: &mut State<V>,
        number: u32,
    ) -> Option<&Bits> {
        if let Algorithm::Overman(interference) = algorithm {
            self.find_processes(interference, state, number);
            return Some(&self.row);
        }
        self.find_needs(algorithm, state, number).then_some(&self.row)
    }

    fn set_row(&mut self, row: &Bits) {
        self.row.clear();
        self.row.extend(row);
    }

    /// Conflicts, and parallel transitions that disturb it first.
    fn find_interference<V: View + ?Sized>(&mut self, state: &mut State<V>, transition: TransitionNumber) {
        let relations = state.relations;
        if relations.is_global(transition) {
            self.set_row(relations.clash(transition));
            return;
        }
        self.set_row(relations.globals());
        for operation in relations.used(transition) {
            let fill = state.view.fill(operation.object);
            let disturbers = relations.disturbers(state.scheme, *operation, fill);
            disturbers.for_each(|users| self.row.extend(&users.transitions));
        }
        self.row.retain(relations.parallel(transition));
        self.row.extend(relations.conflict(transition));
    }

    /// A set of transitions of which one has to come before the disabled transition is enabled (Def. 4.14): those that
    /// bring one of its processes where it must stand, or those that may change a condition that does not hold. If
    /// neither is found, everything.
    fn find_enabling<V: View + ?Sized>(
        &mut self,
        choice: Choice,
        interference: Interference,
        state: &mut State<V>,
        transition: TransitionNumber,
    ) {
        let mut best = None;
        let mut stands = true;
        let relations = state.relations;
        for step in &state.scheme.transitions[transition as usize].steps {
            let location = state.view.location(step.process);
            if location == Some(step.from) {
                continue;
            }
            stands = false;
            self.option.clear();
            self.option.extend(relations.globals());
            self.option.extend(relations.starting(step.process));
            if location.is_some() {
                self.option.extend(relations.arriving(step.process, step.from));
            }
            self.weigh(choice, &mut best);
        }
        self.find_changing(choice, interference, state, transition, stands, &mut best);
        if best.is_none() {
            self.set_row(relations.all());
        }
    }

    /// The sets of transitions that may change a condition that does not hold. Where the processes of the transition do
    /// not stand where they must, not every condition can be asked for.
    fn find_changing<V: View + ?Sized>(
        &mut self,
        choice: Choice,
        interference: Interference,
        state: &mut State<V>,
        transition: TransitionNumber,
        stands: bool,
        best: &mut Option<(u32, u32)>,
    ) {
        if state.relations.is_global(transition) {
            return;
        }
        for &condition in &state.scheme.transitions[transition as usize].conditions {
            let is_asked = stands || state.view.asks_ahead(transition, condition);
            if !is_asked || state.view.holds(transition, condition) {
                continue;
            }
            self.option.clear();
            match interference {
                Interference::First => self.add_disturbers(state, condition),
                Interference::Possible => self.option.extend(state.relations.changing(condition)),
            }
            self.weigh(choice, best);
        }
    }

    /// Whatever disturbs an operation of the condition first.
    fn add_disturbers<V: View + ?Sized>(&mut self, state: &mut State<V>, condition: ConditionNumber) {
        self.option.extend(state.relations.globals());
        for operation in &state.scheme.conditions[condition as usize].operations {
            let fill = state.view.fill(operation.object);
            let disturbers = state.relations.disturbers(state.scheme, *operation, fill);
            disturbers.for_each(|users| self.option.extend(&users.transitions));
        }
    }

    /// Takes the option if it is the first, or adds less than the best so far: to the closure, or on its own.
    fn weigh(&mut self, choice: Choice, best: &mut Option<(u32, u32)>) {
        self.option.retain(&self.possible);
        let known = if choice == Choice::Greedy { &self.members } else { &NOTHING };
        let weight = (count_new(&self.option, &self.enabled, known), count_new(&self.option, &self.option, known));
        if best.is_none_or(|best| weight < best) {
            *best = Some(weight);
            std::mem::swap(&mut self.option, &mut self.row);
        }
    }

    /// The processes that Algorithm 2 adds for a process.
    fn find_processes<V: View + ?Sized>(
        &mut self,
        interference: Interference,
        state: &mut State<V>,
        process: ProcessNumber,
    ) {
        self.row.clear();
        let relations = state.relations;
        let Some(location) = state.view.location(process) else {
            let starters = relations.starting(process).iter().chain(relations.globals().iter());
            let possible = starters.filter(|starter| self.possible.contains(*starter));
            possible.for_each(|starter| self.row.extend(relations.active(starter)));
            return;
        };
        for &transition in relations.leaving(process, location) {
            if self.possible.contains(transition) {
                self.row.extend(relations.active(transition));
                self.add_interfering_processes(interference, state, transition);
            }
        }
    }

    /// The processes of the parallel transitions that can interfere with the transition. What is not parallel has a
    /// process that is there already.
    fn add_interfering_processes<V: View + ?Sized>(
        &mut self,
        interference: Interference,
        state: &mut State<V>,
        transition: TransitionNumber,
    ) {
        let relations = state.relations;
        if interference == Interference::Possible || relations.is_global(transition) {
            return self.add_processes_of(relations, relations.clash(transition), transition);
        }
        self.add_processes_of(relations, relations.globals(), transition);
        for operation in relations.used(transition) {
            let fill = state.view.fill(operation.object);
            for users in relations.disturbers(state.scheme, *operation, fill) {
                self.add_processes_of(relations, &users.transitions, transition);
            }
        }
    }

    /// The processes of those of the transitions that may occur and are parallel to the transition.
    fn add_processes_of(&mut self, relations: &Relations, others: &Bits, transition: TransitionNumber) {
        for other in others.iter() {
            if self.possible.contains(other) && relations.are_parallel(transition, other) {
                self.row.extend(relations.active(other));
            }
        }
    }
}
