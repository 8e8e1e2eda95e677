//! The relations that stubborn sets by guards are computed from: who may make a condition true or false, who may disable
//! a transition, and who does not accord with it.
//!
//! A row of a relation is computed when it is first asked for: a search asks for those of the transitions that it meets,
//! and most models have many more. Only conditions that wait for siblings to be blocked are computed at once, because
//! they depend on each other.

use std::cell::OnceCell;

use super::fair::WeakFairness;
use crate::bits::Bits;
use crate::scheme::{ConditionNumber, Kind, ObjectNumber, Operation, ProcessNumber, Step, TransitionNumber, Verb};
use crate::unfold::{Hope, Question, Test, Unfolding};

/// The relations between the transitions of an unfolding.
#[derive(Default)]
pub(super) struct Relations {
    /// Per condition: who may change it.
    changes: Vec<OnceCell<Changes>>,
    /// Per transition: who may disable it.
    disable: Vec<OnceCell<Bits>>,
    /// Per transition: who does not accord with it.
    discord: Vec<OnceCell<Bits>>,
    /// Per transition: who else does not accord with it while the channel has no message, or no room.
    hopes: Vec<OnceCell<Vec<Hoped>>>,
    /// Per process and location: the transitions that may still be taken, by it or by those that it may create.
    future: Vec<Vec<OnceCell<Bits>>>,
    /// Per process: its transitions that end it.
    pub ends: Vec<Bits>,
    /// Per process and location: the transitions that lead to it, and those that leave it or begin there.
    pub arriving: Vec<Vec<Bits>>,
    pub leaving: Vec<Vec<Bits>>,
    /// Per process: the transitions in which it takes a step.
    pub own: Vec<Bits>,
    /// Per process: the transitions that create it.
    pub starting: Vec<Bits>,
    /// Transitions that may do anything.
    pub globals: Bits,
    /// Transitions that all have to be taken in the same order.
    pub visible: Bits,
    uses: Uses,
    /// Per object: the conditions that look at it.
    looked_at: Vec<Vec<ConditionNumber>>,
    /// Conditions that look at channels that nobody knows.
    wild_looks: Vec<ConditionNumber>,
    /// Conditions that wait for siblings to be blocked.
    waiting: Vec<ConditionNumber>,
    /// Per condition: whose it is.
    owners: Vec<Vec<TransitionNumber>>,
    /// Per object: the transitions that hope for something of it.
    hopers: Vec<Vec<(TransitionNumber, Hope)>>,
    /// Per process: the atomic sequences of others that may hand it a message.
    reachers: Vec<Vec<TransitionNumber>>,
    /// What is known for weak fairness, if runs have to be fair.
    pub fairness: Option<WeakFairness>,
}

/// What a transition hopes for, and who makes it come true.
pub(super) type Hoped = (ObjectNumber, Hope, Bits);

/// Who may change a condition.
pub(super) struct Changes {
    pub enablers: Bits,
    /// Who may make it true while the channel is not empty, if it waits for a message.
    pub later: Option<Bits>,
    pub disablers: Bits,
}

/// The relations of a transition as it is in some states.
pub(super) struct Rows {
    pub discord: Bits,
    pub hopes: Vec<Hoped>,
    /// Per condition of which more is known: who may change it.
    pub changes: Vec<Option<Changes>>,
}

/// Who uses what.
#[derive(Default)]
struct Uses {
    /// Per object: the transitions whose commands use it, and how.
    users: Vec<Vec<(TransitionNumber, Verb)>>,
    /// Uses of channels that nobody knows.
    wild: Vec<(TransitionNumber, Verb)>,
    /// Uses of channels that are known.
    tame: Vec<(TransitionNumber, Verb)>,
}

impl Uses {
    fn of(&self, object: ObjectNumber) -> &[(TransitionNumber, Verb)] {
        self.users.get(object as usize).map_or(&[], Vec::as_slice)
    }

    /// Who may change what is asked.
    fn changes(&self, unfolding: &Unfolding<'_>, question: &Question) -> Changes {
        let (mut enablers, mut later, mut disablers) = (Bits::new(), Bits::new(), Bits::new());
        let mut note = |user: TransitionNumber, verb: Verb, sent: Option<&[Option<i64>]>| {
            let (enables, disables) = question.test.changed_by(verb, sent);
            if enables {
                enablers.insert(user);
                if verb != Verb::Send {
                    later.insert(user);
                }
            }
            if disables {
                disablers.insert(user);
            }
        };
        for object in &question.objects {
            for (user, verb) in self.of(*object) {
                note(*user, *verb, sent_to(unfolding, *user, *object));
            }
        }
        if question.objects.iter().any(|object| is_channel(unfolding, *object)) || question.is_wild {
            self.wild.iter().for_each(|(user, verb)| note(*user, *verb, None));
        }
        if question.is_wild {
            self.tame.iter().for_each(|(user, verb)| note(*user, *verb, None));
        }
        let waits = matches!(question.test, Test::Message { anywhere: false, .. });
        Changes { enablers, later: waits.then_some(later), disablers }
    }

    /// Who uses the same objects by operations that do not commute.
    fn clashes(&self, unfolding: &Unfolding<'_>, command: &[Operation], wild: &[Verb], row: &mut Bits) {
        let mut note = |users: &[(TransitionNumber, Verb)], verb: Verb| {
            for (user, other) in users {
                if !commute(verb, *other) {
                    row.insert(*user);
                }
            }
        };
        for operation in command {
            note(self.of(operation.object), operation.verb);
            if is_channel(unfolding, operation.object) {
                note(&self.wild, operation.verb);
            }
        }
        for verb in wild {
            note(&self.wild, *verb);
            note(&self.tame, *verb);
        }
    }

    /// Who makes a hope come true.
    fn helpers(&self, object: ObjectNumber, hope: Hope) -> Bits {
        let users = self.of(object).iter().chain(&self.wild);
        users.filter(|(_, verb)| hope.is_helped_by(*verb)).map(|(user, _)| *user).collect()
    }
}

/// The message that a transition sends to a channel; of several messages nothing is known.
fn sent_to<'u>(
    unfolding: &'u Unfolding<'_>,
    user: TransitionNumber,
    object: ObjectNumber,
) -> Option<&'u [Option<i64>]> {
    let mut sent = unfolding.detail(user).sent.iter().filter(|sent| sent.object == object);
    let (first, several) = (sent.next(), sent.next().is_some());
    first.filter(|_| !several).map(|sent| sent.fields.as_slice())
}

fn is_channel(unfolding: &Unfolding<'_>, object: ObjectNumber) -> bool {
    matches!(unfolding.scheme().objects[object as usize].kind, Kind::Channel { .. })
}

fn cells<T>(count: usize) -> Vec<OnceCell<T>> {
    (0..count).map(|_| OnceCell::new()).collect()
}

impl Relations {
    /// Gets ready for what is known so far; none if that takes too much effort.
    pub fn of(unfolding: &Unfolding<'_>, visible: &Bits, is_fair: bool) -> Option<Relations> {
        let scheme = unfolding.scheme();
        let (transitions, processes) = (scheme.transitions.len(), scheme.processes.len());
        let mut relations = Relations {
            changes: cells(scheme.conditions.len()),
            disable: cells(transitions),
            discord: cells(transitions),
            hopes: cells(transitions),
            owners: vec![Vec::new(); scheme.conditions.len()],
            looked_at: vec![Vec::new(); scheme.objects.len()],
            hopers: vec![Vec::new(); scheme.objects.len()],
            ends: vec![Bits::new(); processes],
            own: vec![Bits::new(); processes],
            reachers: vec![Vec::new(); processes],
            visible: visible.clone(),
            ..Relations::default()
        };
        relations.uses.users = vec![Vec::new(); scheme.objects.len()];
        unfolding.effort().spend(20 * transitions + 10 * scheme.conditions.len()).then_some(())?;
        for number in 0..transitions as TransitionNumber {
            relations.add_transition(unfolding, number);
        }
        for condition in 0..scheme.conditions.len() as ConditionNumber {
            let question = unfolding.question(condition);
            question.objects.iter().for_each(|object| relations.looked_at[*object as usize].push(condition));
            relations.wild_looks.extend(question.is_wild.then_some(condition));
            relations.waiting.extend(matches!(question.test, Test::Blocked(_)).then_some(condition));
        }
        relations.add_locations(unfolding);
        relations.blocked(unfolding)?;
        relations.fairness = if is_fair { Some(relations.weak_fairness(unfolding)?) } else { None };
        Some(relations)
    }

    fn add_transition(&mut self, unfolding: &Unfolding<'_>, number: TransitionNumber) {
        let scheme = unfolding.scheme();
        let (transition, detail) = (&scheme.transitions[number as usize], unfolding.detail(number));
        for operation in &detail.command {
            self.uses.users[operation.object as usize].push((number, operation.verb));
            if is_channel(unfolding, operation.object) {
                self.uses.tame.push((number, operation.verb));
            }
        }
        self.uses.wild.extend(detail.wild.iter().map(|verb| (number, *verb)));
        detail.hopes.iter().for_each(|(object, hope)| self.hopers[*object as usize].push((number, *hope)));
        transition.conditions.iter().for_each(|condition| self.owners[*condition as usize].push(number));
        for step in &transition.steps {
            self.own[step.process as usize].insert(number);
        }
        for (process, _) in &detail.reaches {
            let reachers = &mut self.reachers[*process as usize];
            if reachers.last() != Some(&number) {
                reachers.push(number);
            }
        }
        if detail.is_global {
            self.globals.insert(number);
        }
        if detail.ends {
            let reached = detail.reaches.iter().map(|(process, _)| *process);
            for process in transition.steps.iter().map(|step| step.process).chain(reached) {
                self.ends[process as usize].insert(number);
            }
        }
    }

    fn add_locations(&mut self, unfolding: &Unfolding<'_>) {
        let rows = |lists: &[Vec<TransitionNumber>]| lists.iter().map(|list| list.iter().copied().collect()).collect();
        for process in 0..unfolding.scheme().processes.len() {
            let member = unfolding.member(process as ProcessNumber);
            self.arriving.push(rows(&member.arriving));
            self.leaving.push(rows(&member.leaving));
            self.future.push(cells(member.leaving.len()));
            let starts = unfolding.scheme().starts.get(process);
            self.starting.push(starts.into_iter().flatten().copied().collect());
        }
    }

    /// The words of a row.
    pub fn width(&self) -> usize {
        self.disable.len() / 64 + 1
    }

    /// Who may change a condition.
    pub fn changes(&self, unfolding: &Unfolding<'_>, condition: ConditionNumber) -> &Changes {
        self.changes[condition as usize].get_or_init(|| {
            let question = unfolding.question(condition);
            let users = question.objects.iter().map(|object| self.uses.of(*object).len()).sum::<usize>();
            let wild = if question.is_wild { self.uses.tame.len() } else { 0 };
            unfolding.effort().spend(20 + 4 * (users + wild + self.uses.wild.len()));
            self.uses.changes(unfolding, question)
        })
    }

    /// Who may disable a transition.
    pub fn disable(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber) -> &Bits {
        self.disable[transition as usize].get_or_init(|| {
            let mut row = self.globals.clone();
            let this = &unfolding.scheme().transitions[transition as usize];
            unfolding.effort().spend(20 + this.conditions.len() * self.width() / 4);
            for condition in &this.conditions {
                row.extend(&self.changes(unfolding, *condition).disablers);
            }
            self.leavers(unfolding, transition, &mut row);
            row
        })
    }

    /// A condition that waits for siblings to be blocked changes with them. They may wait for siblings themselves.
    fn blocked(&mut self, unfolding: &Unfolding<'_>) -> Option<()> {
        let mut found: Vec<Changes> =
            self.waiting.iter().map(|condition| self.uses.changes(unfolding, unfolding.question(*condition))).collect();
        loop {
            let mut changed = false;
            for position in 0..self.waiting.len() {
                let condition = self.waiting[position];
                let question = unfolding.question(condition);
                let Test::Blocked(siblings) = &question.test else { continue };
                let (mut enablers, mut disablers) = (Bits::new(), Bits::new());
                if question.may_fault {
                    self.all_writers(question, &mut enablers);
                    self.all_writers(question, &mut disablers);
                }
                for sibling in siblings {
                    for transition in [sibling].into_iter().chain(&unfolding.detail(*sibling).handshakes) {
                        unfolding.effort().spend(20 + self.width()).then_some(())?;
                        self.able(unfolding, *transition, &found, &mut enablers, &mut disablers);
                    }
                }
                let known = &mut found[position];
                changed |= !enablers.is_within(&known.enablers) || !disablers.is_within(&known.disablers);
                known.enablers.extend(&enablers);
                known.disablers.extend(&disablers);
            }
            if !changed {
                break;
            }
        }
        for (condition, changes) in self.waiting.iter().zip(found) {
            self.changes[*condition as usize] = changes.into();
        }
        Some(())
    }

    /// Who may disable a transition, and who may enable one that its process, or the first of the two, is ready for;
    /// given what is known so far of conditions that wait for siblings.
    pub fn able(
        &self,
        unfolding: &Unfolding<'_>,
        transition: TransitionNumber,
        waiting: &[Changes],
        disable: &mut Bits,
        enable: &mut Bits,
    ) {
        let this = &unfolding.scheme().transitions[transition as usize];
        disable.extend(&self.globals);
        enable.extend(&self.globals);
        for condition in &this.conditions {
            let known = self.waiting.binary_search(condition).ok().and_then(|position| waiting.get(position));
            let changes = known.unwrap_or_else(|| self.changes(unfolding, *condition));
            disable.extend(&changes.disablers);
            enable.extend(&changes.enablers);
        }
        self.leavers(unfolding, transition, disable);
        for step in this.steps.iter().filter(|_| this.steps.len() > 1) {
            enable.extend(&self.arriving[step.process as usize][step.from as usize]);
            enable.extend(&self.starting[step.process as usize]);
            for other in &unfolding.member(step.process).leaving[step.from as usize] {
                let steps = &unfolding.scheme().transitions[*other as usize].steps;
                if steps.iter().any(|other| other.process == step.process && other.to.contains(&step.from)) {
                    enable.insert(*other);
                }
            }
            self.reachers[step.process as usize].iter().for_each(|other| {
                enable.insert(*other);
            });
        }
    }

    /// Whoever changes anything that a condition looks at.
    fn all_writers(&self, question: &Question, out: &mut Bits) {
        let users = question.objects.iter().flat_map(|object| self.uses.of(*object));
        let wild = if question.is_wild { &self.uses.tame[..] } else { &[] };
        for (user, verb) in users.chain(wild).chain(&self.uses.wild) {
            if Test::Other.changed_by(*verb, None) != (false, false) {
                out.insert(*user);
            }
        }
    }

    /// The transitions that may still be taken by a process at a location, or by those that it may create.
    pub fn future(&self, unfolding: &Unfolding<'_>, process: ProcessNumber, location: u32) -> &Bits {
        self.future[process as usize][location as usize].get_or_init(|| {
            let mut row = Bits::new();
            self.add_future(unfolding, process, location, &mut row);
            // Whom it creates, and whom they create.
            let mut born: Vec<ProcessNumber> = Vec::new();
            loop {
                unfolding.effort().spend(10 * row.len());
                let spawns = |number: u32| unfolding.detail(number).spawns.iter().copied();
                let types: Vec<_> = row.iter().flat_map(spawns).collect();
                let new = unfolding.unborn().find(|(ty, number)| types.contains(ty) && !born.contains(number));
                let Some((ty, number)) = new else { return row };
                born.push(number);
                self.add_future(unfolding, number, unfolding.system().process(ty).initial.0, &mut row);
            }
        })
    }

    fn add_future(&self, unfolding: &Unfolding<'_>, process: ProcessNumber, location: u32, row: &mut Bits) {
        let member = unfolding.member(process);
        for (from, leaving) in self.leaving[process as usize].iter().enumerate() {
            if unfolding.reaches(member.process, location, from as u32) {
                row.extend(leaving);
            }
        }
    }

    /// Who does not accord with a transition.
    pub fn discord(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber) -> &Bits {
        self.discord[transition as usize].get_or_init(|| {
            if self.globals.contains(transition) {
                let all = 0..self.discord.len() as TransitionNumber;
                return all.filter(|other| *other != transition).collect();
            }
            let detail = unfolding.detail(transition);
            let mut row = self.disable(unfolding, transition).clone();
            self.uses.clashes(unfolding, &detail.command, &detail.wild, &mut row);
            let sent = |object: ObjectNumber| sent_to(unfolding, transition, object);
            self.disabled_by(unfolding, transition, &detail.command, &detail.wild, &sent, &mut row);
            self.add_helped(&detail.command, &detail.wild, &mut row);
            for (process, _) in &detail.reaches {
                self.leaving[*process as usize].iter().for_each(|leaving| row.extend(leaving));
            }
            self.finish(unfolding, transition, &self.tests(unfolding, transition), row)
        })
    }

    /// What it hopes for, and who makes that come true and may be enabled at the same time. For them it is not enough to
    /// look at the state: others may take the messages first.
    pub fn hopes(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber) -> &[Hoped] {
        self.hopes[transition as usize].get_or_init(|| {
            let hopes = &unfolding.detail(transition).hopes;
            if hopes.is_empty() {
                return Vec::new();
            }
            let tests = self.tests(unfolding, transition);
            let hoped =
                |(object, hope): &(ObjectNumber, Hope)| self.hoped(unfolding, transition, &tests, *object, *hope);
            hopes.iter().map(hoped).collect()
        })
    }

    fn hoped(
        &self,
        unfolding: &Unfolding<'_>,
        transition: TransitionNumber,
        tests: &[&Test],
        object: ObjectNumber,
        hope: Hope,
    ) -> Hoped {
        let mut helpers = self.uses.helpers(object, hope);
        helpers.remove(transition);
        unfolding.effort().spend(10 * helpers.len());
        let met = helpers.iter().filter(|other| self.may_meet(unfolding, transition, tests, *other));
        (object, hope, met.collect())
    }

    fn tests<'u>(&self, unfolding: &'u Unfolding<'_>, transition: TransitionNumber) -> Vec<&'u Test> {
        let conditions = &unfolding.scheme().transitions[transition as usize].conditions;
        conditions.iter().map(|condition| &unfolding.question(*condition).test).collect()
    }

    /// Adds what does not depend on what a transition does, and keeps what may be enabled together with it.
    fn finish(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber, tests: &[&Test], mut row: Bits) -> Bits {
        for step in &unfolding.scheme().transitions[transition as usize].steps {
            if step.to != [step.from] {
                row.extend(&self.leaving[step.process as usize][step.from as usize]);
            }
            self.reachers[step.process as usize].iter().for_each(|other| {
                row.insert(*other);
            });
        }
        if self.visible.contains(transition) {
            row.extend(&self.visible);
        }
        if let Some(fairness) = &self.fairness {
            row.extend(&fairness.discord[transition as usize]);
        }
        row.remove(transition);
        unfolding.effort().spend(20 + 10 * row.len());
        row.iter().filter(|other| self.may_meet(unfolding, transition, tests, *other)).collect()
    }

    /// Whose hopes are fulfilled by these operations.
    fn add_helped(&self, command: &[Operation], wild: &[Verb], row: &mut Bits) {
        for operation in command {
            let hopers = self.hopers.get(operation.object as usize).into_iter().flatten();
            for (other, _) in hopers.filter(|(_, hope)| hope.is_helped_by(operation.verb)) {
                row.insert(*other);
            }
        }
        for (other, hope) in self.hopers.iter().flatten().filter(|_| !wild.is_empty()) {
            if wild.iter().any(|verb| hope.is_helped_by(*verb)) {
                row.insert(*other);
            }
        }
    }

    /// Whom a transition may disable by these operations.
    fn disabled_by<'s>(
        &self,
        unfolding: &Unfolding<'_>,
        transition: TransitionNumber,
        command: &[Operation],
        wild: &[Verb],
        sent: &dyn Fn(ObjectNumber) -> Option<&'s [Option<i64>]>,
        row: &mut Bits,
    ) {
        let mut add = |condition: ConditionNumber| {
            self.owners[condition as usize].iter().for_each(|owner| {
                row.insert(*owner);
            });
        };
        let disables = |condition: ConditionNumber, verb: Verb, sent: Option<&[Option<i64>]>| {
            let test = &unfolding.question(condition).test;
            !matches!(test, Test::Blocked(_)) && test.changed_by(verb, sent).1
        };
        for operation in command {
            let known = self.looked_at.get(operation.object as usize).into_iter().flatten();
            unfolding.effort().spend(4 * known.clone().count());
            known.filter(|c| disables(**c, operation.verb, sent(operation.object))).for_each(|c| add(*c));
            if is_channel(unfolding, operation.object) {
                self.wild_looks.iter().filter(|c| disables(**c, operation.verb, None)).for_each(|c| add(*c));
            }
        }
        for verb in wild {
            self.wild_looks.iter().filter(|c| disables(**c, *verb, None)).for_each(|c| add(*c));
            for (object, conditions) in self.looked_at.iter().enumerate() {
                if is_channel(unfolding, object as ObjectNumber) {
                    conditions.iter().filter(|c| disables(**c, *verb, None)).for_each(|c| add(*c));
                }
            }
        }
        for condition in &self.waiting {
            if self.changes(unfolding, *condition).disablers.contains(transition) {
                add(*condition);
            }
        }
    }

    /// The relations of a transition whose unknowns have these values.
    pub fn rows(&self, unfolding: &mut Unfolding<'_>, transition: TransitionNumber, values: &[i64]) -> Rows {
        let variant = unfolding.variant(transition, values);
        let unfolding = &*unfolding;
        let this = &unfolding.scheme().transitions[transition as usize];
        let mut row = self.globals.clone();
        self.leavers(unfolding, transition, &mut row);
        let mut changes = Vec::new();
        let mut tests: Vec<&Test> = Vec::new();
        for (condition, question) in this.conditions.iter().zip(&variant.questions) {
            match question {
                Some(question) => {
                    let known = self.uses.changes(unfolding, question);
                    row.extend(&known.disablers);
                    changes.push(Some(known));
                    tests.push(&question.test);
                }
                None => {
                    row.extend(&self.changes(unfolding, *condition).disablers);
                    changes.push(None);
                    tests.push(&unfolding.question(*condition).test);
                }
            }
        }
        self.uses.clashes(unfolding, &variant.command, &variant.wild, &mut row);
        self.disabled_by(unfolding, transition, &variant.command, &variant.wild, &|_| None, &mut row);
        self.add_helped(&variant.command, &variant.wild, &mut row);
        let hoped = |(object, hope): &(ObjectNumber, Hope)| self.hoped(unfolding, transition, &tests, *object, *hope);
        let hopes = variant.hopes.iter().map(hoped).collect();
        Rows { discord: self.finish(unfolding, transition, &tests, row), hopes, changes }
    }

    /// Transitions that take a process of this one away.
    fn leavers(&self, unfolding: &Unfolding<'_>, transition: TransitionNumber, row: &mut Bits) {
        for step in &unfolding.scheme().transitions[transition as usize].steps {
            let leaving = &unfolding.member(step.process).leaving[step.from as usize];
            unfolding.effort().spend(4 * leaving.len());
            for other in leaving {
                if *other != transition && leaves(unfolding, *other, step) {
                    row.insert(*other);
                }
            }
        }
    }

    /// A transition with these conditions and another may both be enabled in one state.
    fn may_meet(
        &self,
        unfolding: &Unfolding<'_>,
        first: TransitionNumber,
        tests: &[&Test],
        second: TransitionNumber,
    ) -> bool {
        let scheme = unfolding.scheme();
        let (one, other) = (&scheme.transitions[first as usize], &scheme.transitions[second as usize]);
        if self.globals.contains(first) || self.globals.contains(second) {
            return true;
        }
        let unborn = |process: ProcessNumber| unfolding.member(process).id.is_none();
        for step in &one.steps {
            for o in other.steps.iter().filter(|o| o.process == step.process && !unborn(o.process)) {
                if o.from != step.from {
                    return false;
                }
            }
        }
        for test in tests {
            if other.conditions.iter().any(|condition| !test.agrees(&unfolding.question(*condition).test)) {
                return false;
            }
        }
        // Only one process is the youngest.
        let waits = |test: &Test| matches!(test, Test::Youngest);
        let both = tests.iter().any(|test| waits(test))
            && other.conditions.iter().any(|condition| waits(&unfolding.question(*condition).test));
        !(both && one.is_parallel(other) && !one.steps.iter().any(|step| unborn(step.process)))
    }
}

/// A transition takes the process of a step away from where the step begins.
fn leaves(unfolding: &Unfolding<'_>, transition: TransitionNumber, step: &Step) -> bool {
    let steps = &unfolding.scheme().transitions[transition as usize].steps;
    steps.iter().any(|other| other.process == step.process && other.to != [step.from])
        || unfolding.detail(transition).reaches.contains(&(step.process, step.from))
}

/// Where both are enabled, the order of two operations on one object makes no difference.
pub(super) fn commute(first: Verb, second: Verb) -> bool {
    use Verb::*;
    let looks = |verb: Verb| matches!(verb, Read | Peek | Search | Length | Empty | Full | Zero | Held);
    match (first, second) {
        (x, y) if looks(x) && looks(y) => true,
        (Set(x), Set(y)) => x == y,
        (Add(_), Add(_)) | (Complement, Complement) => true,
        // A message at the end does not change which one is first.
        (Send, Receive | ReceiveAnywhere | Peek) | (Receive | ReceiveAnywhere | Peek, Send) => true,
        _ => false,
    }
}
