//! What does not depend on the state: who is in conflict with whom, who can depend on whom, who leaves and who arrives
//! where, who can change a condition.
//!
//! All of it grows with the scheme. A transition that is global interferes with every other one, and may be what any
//! other one waits for.

use crate::bits::{Bits, Matrix};
use crate::effort::Effort;
use crate::objects::{self, Table};
use crate::scheme::{
    ConditionNumber, Kind, ObjectNumber, Operation, ProcessNumber, Scheme, TransitionNumber, Verb, View,
};

/// The transitions that use an operation.
#[derive(Clone, Debug)]
pub(super) struct Users {
    pub(super) verb: Verb,
    pub(super) transitions: Bits,
}

/// A location of a process.
#[derive(Clone, Debug, Default)]
struct Place {
    leaving: Vec<TransitionNumber>,
    arriving: Bits,
}

/// Relations between the transitions of a scheme that are the same in all states.
///
/// ```
/// use ample_reduce::algorithms::Relations;
/// use ample_reduce::objects::Table;
/// use ample_reduce::scheme::{Scheme, Step, Transition};
///
/// let step = |from| Step { process: 0, from, to: vec![1] };
/// let transition = |from| Transition {
///     steps: vec![step(from)],
///     conditions: vec![],
///     command: vec![],
///     is_global: false,
///     is_timeout: false,
///     label: String::new(),
/// };
/// let transitions = vec![transition(0), transition(0), transition(1)];
/// let scheme = Scheme { processes: vec!["A".into()], transitions, ..Scheme::default() };
/// let mut relations = Relations::new(Table::Conditional);
/// relations.update(&scheme);
/// assert!(relations.are_in_conflict(0, 1) && !relations.are_in_conflict(0, 2));
/// assert!(!relations.are_parallel(0, 2));
/// ```
#[derive(Clone, Debug)]
pub struct Relations {
    table: Table,
    used: Vec<Vec<Operation>>,
    active: Vec<Bits>,
    members: Vec<Bits>,
    places: Vec<Vec<Place>>,
    users: Vec<Vec<Users>>,
    changers: Vec<Bits>,
    starts: Vec<Bits>,
    globals: Bits,
    timeouts: Bits,
    all: Bits,
    parallel: Matrix,
    conflict: Matrix,
    clash: Matrix,
    discord: Matrix,
}

static NOTHING: Bits = Bits::new();

impl Relations {
    /// Of no transitions, with that dependency.
    pub fn new(table: Table) -> Relations {
        Relations {
            table,
            used: Vec::new(),
            active: Vec::new(),
            members: Vec::new(),
            places: Vec::new(),
            users: Vec::new(),
            changers: Vec::new(),
            starts: Vec::new(),
            globals: Bits::new(),
            timeouts: Bits::new(),
            all: Bits::new(),
            parallel: Matrix::new(),
            conflict: Matrix::new(),
            clash: Matrix::new(),
            discord: Matrix::new(),
        }
    }

    /// The dependency that is meant.
    pub fn table(&self) -> Table {
        self.table
    }

    /// The number of transitions that are known.
    pub fn len(&self) -> usize {
        self.used.len()
    }

    /// Is none known?
    pub fn is_empty(&self) -> bool {
        self.used.is_empty()
    }

    /// Takes notice of the transitions, conditions, objects and starts that the scheme has more than it had.
    pub fn update(&mut self, scheme: &Scheme) {
        self.update_within(scheme, &Effort::unlimited());
    }

    /// As [`update`](Self::update). Where that takes more than the effort allows, it ends before all is known.
    pub fn update_within(&mut self, scheme: &Scheme, effort: &Effort) {
        let new = self.used.len() as TransitionNumber..scheme.transitions.len() as TransitionNumber;
        let width = scheme.transitions.len() / 64 + 1;
        self.users.resize(scheme.objects.len().max(self.users.len()), Vec::new());
        for number in new.clone() {
            self.register(scheme, number);
            let used = self.used.last().map_or(0, Vec::len);
            if !effort.spend(20 + used * used / 8) {
                return;
            }
        }
        for number in new.clone() {
            if !effort.spend(20 + scheme.transitions.len()) {
                return;
            }
            self.find_parallel(scheme, number);
            self.find_conflicts(scheme, number);
        }
        for number in new {
            if !effort.spend(20 + self.used[number as usize].len() * width / 4 + scheme.transitions.len()) {
                return;
            }
            self.find_dependent(scheme, number);
        }
        self.changers.clear();
        for condition in &scheme.conditions {
            if !effort.spend(20 + condition.operations.len() * width / 4) {
                return;
            }
            let changers = self.changers_of(scheme, &condition.operations);
            self.changers.push(changers);
        }
        self.starts = scheme.starts.iter().map(|starters| starters.iter().copied().collect()).collect();
    }

    /// Enters the transition where its processes, locations and operations are looked up.
    fn register(&mut self, scheme: &Scheme, number: TransitionNumber) {
        let transition = &scheme.transitions[number as usize];
        self.all.insert(number);
        if transition.is_timeout {
            self.timeouts.insert(number);
        } else if transition.is_global {
            self.globals.insert(number);
        }
        for step in &transition.steps {
            entry(&mut self.members, step.process).insert(number);
            self.place_mut(step.process, step.from).leaving.push(number);
            for &to in &step.to {
                self.place_mut(step.process, to).arriving.insert(number);
            }
        }
        let active: Bits = transition.steps.iter().map(|step| step.process).collect();
        let used = scheme.used(number);
        for operation in &used {
            let users = users_mut(&mut self.users[operation.object as usize], operation.verb);
            users.transitions.insert(number);
        }
        self.active.push(active);
        self.used.push(used);
    }

    fn place_mut(&mut self, process: ProcessNumber, location: u32) -> &mut Place {
        entry(entry(&mut self.places, process), location)
    }

    fn place(&self, process: ProcessNumber, location: u32) -> Option<&Place> {
        self.places.get(process as usize)?.get(location as usize)
    }

    fn find_parallel(&mut self, scheme: &Scheme, number: TransitionNumber) {
        let mut row = self.all.clone();
        for step in &scheme.transitions[number as usize].steps {
            self.members[step.process as usize].iter().for_each(|other| row.remove(other));
        }
        insert_row(&mut self.parallel, number, &row);
    }

    fn find_conflicts(&mut self, scheme: &Scheme, number: TransitionNumber) {
        let mut row = Bits::new();
        for step in &scheme.transitions[number as usize].steps {
            row.extend(&self.leaving(step.process, step.from).iter().copied().collect());
        }
        insert_row(&mut self.conflict, number, &row);
    }

    /// Finds what the transition can depend on, and what it does not accord with.
    fn find_dependent(&mut self, scheme: &Scheme, number: TransitionNumber) {
        let table = self.table;
        let possible =
            self.related(scheme, number, |kind, one, other| objects::can_be_dependent(kind, one, other, table));
        let discord = self.related(scheme, number, |kind, one, other| objects::do_not_accord(kind, one, other, table));
        for (matrix, mut row) in [(&mut self.clash, possible), (&mut self.discord, discord)] {
            row.extend(self.conflict.row(number));
            insert_row(matrix, number, &row);
        }
    }

    /// The parallel transitions with an operation that is related to one of the transition's.
    fn related(&self, scheme: &Scheme, number: TransitionNumber, related: impl Fn(Kind, Verb, Verb) -> bool) -> Bits {
        let mut row = if self.is_global(number) { self.all.clone() } else { self.globals.clone() };
        row.extend(&self.timeouts);
        for operation in &self.used[number as usize] {
            let kind = scheme.objects[operation.object as usize].kind;
            let users = self.users[operation.object as usize].iter();
            users
                .filter(|users| related(kind, operation.verb, users.verb))
                .for_each(|users| row.extend(&users.transitions));
        }
        row.retain(self.parallel.row(number));
        row
    }

    /// The transitions that can change what the operations answer, or whether they are defined.
    fn changers_of(&self, scheme: &Scheme, operations: &[Operation]) -> Bits {
        let mut changers = self.globals.clone();
        for operation in operations {
            let kind = scheme.objects[operation.object as usize].kind;
            for users in &self.users[operation.object as usize] {
                if objects::can_be_dependent(kind, operation.verb, users.verb, self.table) {
                    changers.extend(&users.transitions);
                }
            }
        }
        changers
    }

    /// Nothing is independent of the transition.
    #[inline]
    pub fn is_global(&self, transition: TransitionNumber) -> bool {
        self.globals.contains(transition) || self.timeouts.contains(transition)
    }

    /// They leave the same location of the same process.
    #[inline]
    pub fn are_in_conflict(&self, one: TransitionNumber, other: TransitionNumber) -> bool {
        self.conflict.contains(one, other)
    }

    /// They have no process in common.
    #[inline]
    pub fn are_parallel(&self, one: TransitionNumber, other: TransitionNumber) -> bool {
        self.parallel.contains(one, other)
    }

    /// They are independent in every state.
    #[inline]
    pub fn are_independent(&self, one: TransitionNumber, other: TransitionNumber) -> bool {
        self.parallel.contains(one, other) && !self.clash.contains(one, other)
    }

    /// They have no process in common, and in some state they may both be enabled and dependent.
    #[inline]
    pub fn do_not_accord(&self, one: TransitionNumber, other: TransitionNumber) -> bool {
        self.parallel.contains(one, other) && self.discord.contains(one, other)
    }

    /// They are independent in some state, as far as the number of messages in each channel tells.
    pub fn may_be_independent(&self, scheme: &Scheme, one: TransitionNumber, other: TransitionNumber) -> bool {
        if self.are_independent(one, other) {
            return true;
        }
        let (ones, others) = (&self.used[one as usize], &self.used[other as usize]);
        let is_free = |object: ObjectNumber| {
            let kind = scheme.objects[object as usize].kind;
            let fills = match kind {
                Kind::Channel { capacity } | Kind::Semaphore { most: capacity } => 0..=capacity,
                Kind::Lock => 0..=1,
                Kind::Variable => 0..=0,
            };
            let on = |operations: &[Operation]| -> Vec<Verb> {
                operations
                    .iter()
                    .filter(|operation| operation.object == object)
                    .map(|operation| operation.verb)
                    .collect()
            };
            let (first, second) = (on(ones), on(others));
            let at = |fill: u32| {
                let dependent = |a: &Verb| second.iter().any(|b| objects::dependent(kind, *a, *b, fill, self.table));
                !first.iter().any(dependent)
            };
            fills.into_iter().any(at)
        };
        self.are_parallel(one, other)
            && !self.is_global(one)
            && !self.is_global(other)
            && ones.iter().all(|operation| is_free(operation.object))
    }

    /// They are independent in the state (Def. 3.21): the same as [`independent`](super::independent), and faster.
    pub fn are_independent_in<V: View + ?Sized>(
        &self,
        scheme: &Scheme,
        view: &mut V,
        one: TransitionNumber,
        other: TransitionNumber,
    ) -> bool {
        if self.are_independent(one, other) {
            return true;
        }
        !matches!(self.table, Table::Objects | Table::Constant)
            && self.are_parallel(one, other)
            && !self.is_global(one)
            && !self.is_global(other)
            && self.used[one as usize].iter().all(|first| {
                let used = self.used[other as usize].iter();
                used.copied().all(|second| super::are_independent(scheme, view, *first, second, self.table))
            })
    }

    /// The operations that the transition uses.
    #[inline]
    pub fn used(&self, transition: TransitionNumber) -> &[Operation] {
        &self.used[transition as usize]
    }

    /// The transitions that leave the location.
    #[inline]
    pub fn leaving(&self, process: ProcessNumber, location: u32) -> &[TransitionNumber] {
        self.place(process, location).map_or(&[], |place| &place.leaving)
    }

    /// The transitions that may arrive at the location.
    #[inline]
    pub fn arriving(&self, process: ProcessNumber, location: u32) -> &Bits {
        self.place(process, location).map_or(&NOTHING, |place| &place.arriving)
    }

    /// The transitions that may start the process.
    #[inline]
    pub fn starting(&self, process: ProcessNumber) -> &Bits {
        self.starts.get(process as usize).unwrap_or(&NOTHING)
    }

    /// The transitions that can change the condition.
    #[inline]
    pub fn changing(&self, condition: ConditionNumber) -> &Bits {
        &self.changers[condition as usize]
    }

    /// The transitions that are in conflict with the transition, or parallel to it and possibly dependent on it.
    #[inline]
    pub(super) fn clash(&self, transition: TransitionNumber) -> &Bits {
        self.clash.row(transition)
    }

    /// The transitions that are in conflict with the transition, or parallel to it and do not accord with it.
    #[inline]
    pub(super) fn discord(&self, transition: TransitionNumber) -> &Bits {
        self.discord.row(transition)
    }

    #[inline]
    pub(super) fn conflict(&self, transition: TransitionNumber) -> &Bits {
        self.conflict.row(transition)
    }

    #[inline]
    pub(super) fn parallel(&self, transition: TransitionNumber) -> &Bits {
        self.parallel.row(transition)
    }

    #[inline]
    pub(super) fn active(&self, transition: TransitionNumber) -> &Bits {
        &self.active[transition as usize]
    }

    /// The transitions that nothing is independent of, without those that wait for `timeout`.
    #[inline]
    pub(super) fn globals(&self) -> &Bits {
        &self.globals
    }

    #[inline]
    pub(super) fn timeouts(&self) -> &Bits {
        &self.timeouts
    }

    #[inline]
    pub(super) fn all(&self) -> &Bits {
        &self.all
    }

    /// The operations of the object that are used, that disturb the operation from this fill on.
    pub(super) fn disturbers<'r>(
        &'r self,
        scheme: &Scheme,
        operation: Operation,
        fill: u32,
    ) -> impl Iterator<Item = &'r Users> + use<'r> {
        let kind = scheme.objects[operation.object as usize].kind;
        let table = self.table;
        let users = self.users[operation.object as usize].iter();
        users.filter(move |users| objects::disturbs(kind, operation.verb, users.verb, fill, table))
    }
}

/// The entry with that number, made if it is not there.
fn entry<T: Clone + Default>(entries: &mut Vec<T>, number: u32) -> &mut T {
    let number = number as usize;
    if number >= entries.len() {
        entries.resize(number + 1, T::default());
    }
    &mut entries[number]
}

fn users_mut(users: &mut Vec<Users>, verb: Verb) -> &mut Users {
    let place = users.iter().position(|users| users.verb == verb).unwrap_or_else(|| {
        users.push(Users { verb, transitions: Bits::new() });
        users.len() - 1
    });
    &mut users[place]
}

/// Relates the transition to all of the row, and all of the row to it.
fn insert_row(matrix: &mut Matrix, number: TransitionNumber, row: &Bits) {
    matrix.row_mut(number).extend(row);
    row.iter().for_each(|other| matrix.insert(other, number));
}
