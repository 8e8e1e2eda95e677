//! Processes, objects and transitions that a search has met, and who disturbs whom, in words.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use crate::compile::Reduced;
use ample_model::{Interpreter, System};
use serde::Serialize;

use crate::engine::reduction::Algorithm;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Process {
    /// Its number.
    pub number: u32,
    /// What to call it: `name(id)`.
    pub name: String,
    /// Its id; none if it stands for all that may still be created. A process that comes with other parameters, or among
    /// other channels, is another one here.
    pub id: Option<u32>,
    /// The locations that it can leave.
    pub locations: Vec<u32>,
    /// Those of them where it can be let go alone, whatever the others do.
    pub alone: Vec<u32>,
}

/// A variable, a channel, or something else that transitions share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Object {
    /// Its number.
    pub number: u32,
    /// What to call it.
    pub name: String,
    /// Whether it is a channel.
    pub is_channel: bool,
}

/// What a transition does to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The object; none if it may be any channel.
    pub object: Option<u32>,
    /// What is done: `read`, `write`, `set(1)`, `add(-1)`, `send`, `receive`, …
    pub verb: String,
}

/// What a transition waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Its number.
    pub number: u32,
    /// In the words of the source.
    pub text: String,
    /// The objects that it looks at.
    pub objects: Vec<u32>,
    /// The transitions that may make it true.
    pub enablers: Vec<u32>,
    /// The transitions that may make it false.
    pub disablers: Vec<u32>,
}

/// What a transition does to the control of a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// The process.
    pub process: u32,
    /// The location that it leaves.
    pub from: u32,
    /// Where it may be afterwards: in several places after an atomic sequence.
    pub to: Vec<u32>,
    /// `file:line`, where known.
    pub at: Option<String>,
    /// The statement.
    pub text: String,
}

/// Does a transition accord with all of other processes?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Safety {
    /// With all.
    Always,
    /// With all that there are, but not with all that may still be created.
    Later,
    /// There is one that it does not accord with.
    Never,
}

/// A transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Transition {
    /// Its number.
    pub number: u32,
    /// What it does to control: one step, or two in a rendez-vous.
    pub steps: Vec<Step>,
    /// The statement, or both.
    pub text: String,
    /// What it waits for.
    pub conditions: Vec<u32>,
    /// What it does to which objects.
    pub operations: Vec<Operation>,
    /// It may do anything.
    pub is_global: bool,
    /// It can never be taken: a statement that needs a partner and has none, or whose condition is never true.
    pub is_dead: bool,
    /// Does it accord with all of other processes?
    pub safe: Safety,
    /// The transitions that it does not accord with.
    pub discord: Vec<u32>,
}

/// Do two transitions depend on each other, by the relation that was chosen?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dependence {
    /// In no state.
    Never,
    /// In some states, by the number of messages in a channel.
    Sometimes,
    /// In every state.
    Always,
}

/// Why two transitions do not accord. "It" is the first of the two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Why {
    /// A letter for it.
    #[serde(skip)]
    pub letter: char,
    /// The object that it is about, if it is about one.
    pub object: Option<u32>,
    /// In words.
    pub text: String,
}

/// Hears a reason: its letter, its object, and how to put it.
type Say<'s> = dyn FnMut(char, Option<u32>, &dyn Fn() -> String) + 's;

/// What was met of a model.
pub struct Scheme<'a> {
    pub(super) system: &'a System,
    pub(super) space: Reduced<'a>,
    pub(super) algorithm: Algorithm,
    processes: Vec<Process>,
    objects: Vec<Object>,
    transitions: Vec<Transition>,
}

impl<'a> Scheme<'a> {
    pub(super) fn new(system: &'a System, space: Reduced<'a>, algorithm: Algorithm) -> Scheme<'a> {
        let mut scheme =
            Scheme { system, space, algorithm, processes: Vec::new(), objects: Vec::new(), transitions: Vec::new() };
        scheme.read();
        scheme
    }

    /// Reads what the space knows by now.
    pub(super) fn read(&mut self) {
        self.processes = processes(self.system, &self.space);
        self.objects = objects(self.system, &self.space);
        let rows = rows(&self.space);
        let count = self.space.unfolding().scheme().transitions.len() as u32;
        self.transitions = (0..count).map(|number| self.transition(number, &rows[number as usize])).collect();
        for number in 0..count {
            let safe = self.safety(number);
            self.transitions[number as usize].safe = safe;
        }
        for number in 0..self.processes.len() {
            let mut leaving: BTreeMap<u32, Vec<&Transition>> = BTreeMap::new();
            for transition in self.transitions.iter().filter(|transition| !transition.is_dead) {
                for step in transition.steps.iter().filter(|step| step.process as usize == number) {
                    leaving.entry(step.from).or_default().push(transition);
                }
            }
            let alone = leaving.iter().filter(|(_, transitions)| self.is_alone(transitions)).map(|(from, _)| *from);
            let alone = alone.collect();
            let locations = leaving.keys().copied().collect();
            let process = &mut self.processes[number];
            (process.locations, process.alone) = (locations, alone);
        }
    }

    /// The transitions of a location accord with all of other processes, and nobody else decides which are enabled.
    fn is_alone(&self, transitions: &[&Transition]) -> bool {
        let (unfolding, guards) = (self.space.unfolding(), self.space.guards());
        let is_own = |transition: &Transition| {
            let others = |enabler: u32| concerns_others(transition, &self.transitions[enabler as usize]);
            transition.steps.len() == 1
                && !unfolding.detail(transition.number).timeout
                && !transition.conditions.iter().any(|number| guards.enablers(*number).iter().any(others))
        };
        let is_safe = |transition: &&Transition| transition.safe == Safety::Always;
        transitions.iter().all(is_safe) && (transitions.len() == 1 || transitions.iter().all(|one| is_own(one)))
    }

    /// The processes.
    pub fn processes(&self) -> &[Process] {
        &self.processes
    }

    /// The objects.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The transitions.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// The transitions of processes that there are, without those that can never be taken.
    pub fn living(&self) -> impl Iterator<Item = &Transition> {
        self.transitions.iter().filter(|transition| !transition.is_dead && !self.is_unborn(transition))
    }

    /// Do the transitions depend on each other, by the dependency of the algorithms of Godefroid's thesis?
    pub fn dependence(&self, one: u32, other: u32) -> Dependence {
        let (scheme, relations) = (self.space.unfolding().scheme(), self.space.relations());
        if relations.are_independent(one, other) {
            Dependence::Never
        } else if relations.may_be_independent(scheme, one, other) {
            Dependence::Sometimes
        } else {
            Dependence::Always
        }
    }

    /// The objects that both transitions use, each with what the one and the other do to it.
    pub fn common(&self, one: u32, other: u32) -> Vec<(&Object, String, String)> {
        let relations = self.space.relations();
        let mut common = Vec::new();
        for object in &self.objects {
            let verbs = |transition: u32| {
                let used = relations.used(transition).iter().filter(|operation| operation.object == object.number);
                used.map(|operation| word(&operation.verb)).collect::<Vec<_>>().join(", ")
            };
            let (first, second) = (verbs(one), verbs(other));
            if !first.is_empty() && !second.is_empty() {
                common.push((object, first, second));
            }
        }
        common
    }

    /// Of the pairs of transitions of different processes: how many there are, how many are dependent, and how many of
    /// these in some states only.
    pub fn dependent_pairs(&self) -> (usize, usize, usize) {
        let living: Vec<&Transition> = self.living().collect();
        let (mut all, mut dependent, mut sometimes) = (0, 0, 0);
        for (place, one) in living.iter().enumerate() {
            for other in
                living[place + 1..].iter().filter(|other| self.space.relations().are_parallel(one.number, other.number))
            {
                let dependence = self.dependence(one.number, other.number);
                all += 1;
                dependent += usize::from(dependence != Dependence::Never);
                sometimes += usize::from(dependence == Dependence::Sometimes);
            }
        }
        (all, dependent, sometimes)
    }

    /// The conditions.
    pub fn conditions(&self) -> Vec<Condition> {
        let (unfolding, guards) = (self.space.unfolding(), self.space.guards());
        let mut all = Vec::new();
        for (condition, number) in unfolding.scheme().conditions.iter().zip(0..) {
            all.push(Condition {
                number,
                text: condition.text.clone(),
                objects: unfolding.question(number).objects.clone(),
                enablers: guards.enablers(number).iter().collect(),
                disablers: guards.disablers(number).iter().collect(),
            });
        }
        all
    }

    /// It is of a process that has yet to be created.
    pub fn is_unborn(&self, transition: &Transition) -> bool {
        transition.steps.iter().any(|step| self.processes[step.process as usize].id.is_none())
    }

    /// The processes of a transition, in words.
    pub fn actors(&self, transition: &Transition) -> String {
        let names = transition.steps.iter().map(|step| self.processes[step.process as usize].name.as_str());
        names.collect::<Vec<_>>().join(" and ")
    }

    /// The text of a condition.
    pub(super) fn condition(&self, number: u32) -> String {
        self.space.unfolding().scheme().conditions[number as usize].text.clone()
    }

    fn transition(&self, number: u32, row: &[u32]) -> Transition {
        let unfolding = self.space.unfolding();
        let (transition, detail) = (&unfolding.scheme().transitions[number as usize], unfolding.detail(number));
        // The halves of a rendez-vous are transitions of their own, with the numbers of their edges.
        let halves = detail.halves.map_or(vec![number], |(sender, receiver)| vec![sender, receiver]);
        let steps = transition.steps.iter().zip(halves).map(|(step, half)| {
            let member = unfolding.member(step.process);
            let edge = &self.system.process(member.process).edges[(half - member.first) as usize];
            Step {
                process: step.process,
                from: step.from,
                to: step.to.clone(),
                at: edge.span.map(|span| self.system.place_of(span)),
                text: edge.label.clone(),
            }
        });
        let known = detail
            .command
            .iter()
            .map(|operation| Operation { object: Some(operation.object), verb: word(&operation.verb) });
        let unknown = detail.wild.iter().map(|verb| Operation { object: None, verb: word(verb) });
        let is_dead = transition.conditions.iter().any(|number| word(&unfolding.question(*number).test) == "never");
        Transition {
            number,
            steps: steps.collect(),
            text: transition.label.clone(),
            conditions: transition.conditions.clone(),
            operations: known.chain(unknown).collect(),
            is_global: detail.is_global,
            is_dead,
            safe: Safety::Always,
            discord: row.to_vec(),
        }
    }

    fn safety(&self, number: u32) -> Safety {
        let this = &self.transitions[number as usize];
        let mut safety = if this.is_global { Safety::Never } else { Safety::Always };
        for other in this.discord.iter().map(|other| &self.transitions[*other as usize]) {
            if safety == Safety::Never || other.is_dead || !concerns_others(this, other) {
                continue;
            }
            safety = if self.is_unborn(other) { Safety::Later } else { Safety::Never };
        }
        safety
    }

    /// Why two transitions do not accord.
    pub fn why(&self, first: u32, second: u32) -> Vec<Why> {
        let mut all = Vec::new();
        self.quarrel(first, second, &mut |letter, object, text| {
            let why = Why { letter, object, text: text() };
            if !all.contains(&why) {
                all.push(why);
            }
        });
        if all.is_empty() {
            all.push(Why { letter: '#', object: None, text: "what they do together is not known well enough".into() });
        }
        all
    }

    /// Says why two transitions do not accord.
    fn quarrel(&self, first: u32, second: u32, say: &mut Say<'_>) {
        let (one, other) = (&self.transitions[first as usize], &self.transitions[second as usize]);
        if one.is_global {
            say('a', None, &|| "it may do anything".into());
        }
        if other.is_global {
            say('a', None, &|| "the other may do anything".into());
        }
        let alternative = |step: &&Step| other.steps.iter().any(|o| (o.process, o.from) == (step.process, step.from));
        if let Some(step) = one.steps.iter().find(alternative) {
            say('=', None, &|| format!("alternatives of {}", self.processes[step.process as usize].name));
        }
        self.by_condition(first, second, say);
        self.by_objects(one, other, say);
        self.by_hope(first, second, say);
    }

    fn by_condition(&self, first: u32, second: u32, say: &mut Say<'_>) {
        let (unfolding, guards) = (self.space.unfolding(), self.space.guards());
        let disabled = |whose: u32, by: u32| {
            let conditions = &self.transitions[whose as usize].conditions;
            conditions.iter().copied().filter(move |condition| guards.disablers(*condition).contains(by))
        };
        let object = |condition: u32, by: u32| {
            let used = |object: &&u32| unfolding.detail(by).command.iter().any(|o| o.object == **object);
            unfolding.question(condition).objects.iter().find(used).copied()
        };
        for condition in disabled(first, second) {
            say('d', object(condition, second), &|| {
                format!("the other may make `{}` false", self.condition(condition))
            });
        }
        for condition in disabled(second, first) {
            let text = || format!("it may make `{}` of the other false", self.condition(condition));
            say('d', object(condition, first), &text);
        }
    }

    fn by_objects(&self, one: &Transition, other: &Transition, say: &mut Say<'_>) {
        let unfolding = self.space.unfolding();
        let [first, second] = [one, other].map(|transition| unfolding.detail(transition.number));
        for operation in &first.command {
            for o in second.command.iter().filter(|o| o.object == operation.object) {
                if self.space.guards().commute(operation.verb, o.verb) {
                    continue;
                }
                let object = &self.objects[operation.object as usize];
                let letter = if object.is_channel { 'c' } else { 'v' };
                let text = || both(&word(&operation.verb), &word(&o.verb), &object.name);
                say(letter, Some(object.number), &text);
            }
        }
        if !(first.wild.is_empty() && second.wild.is_empty()) {
            say('c', None, &|| "a channel is used that is not known before the run".into());
        }
        for (detail, who, whose) in [(first, "it", other), (second, "the other", one)] {
            if let Some((process, _)) = detail.reaches.iter().find(|(process, _)| whose.steps[0].process == *process) {
                let name = &self.processes[*process as usize].name;
                say('c', None, &|| format!("{who} may hand a message to {name} inside an atomic sequence"));
            }
        }
    }

    /// What happens inside of an atomic sequence depends on a channel.
    fn by_hope(&self, first: u32, second: u32, say: &mut Say<'_>) {
        let unfolding = self.space.unfolding();
        for (who, helper, it, they) in [(first, second, "it", "the other"), (second, first, "the other", "it")] {
            for (object, hope) in &unfolding.detail(who).hopes {
                let used = unfolding.detail(helper).command.iter().any(|operation| operation.object == *object);
                if !used && unfolding.detail(helper).wild.is_empty() {
                    continue;
                }
                let hopes_for_message = word(hope) == "message";
                let (what, gives) = if hopes_for_message { ("a message", "sends one") } else { ("room", "makes it") };
                let name = &self.objects[*object as usize].name;
                let text =
                    || format!("what {it} does depends on whether there is {what} in {name}, and {they} {gives}");
                say('c', Some(*object), &text);
            }
        }
    }

    /// Who disturbs most: how many pairs of transitions of different processes do not accord because of an object; the
    /// worst first.
    pub fn shared(&self) -> Vec<(&Object, usize)> {
        let mut pairs = vec![0; self.objects.len()];
        for one in self.living() {
            for other in one.discord.iter().map(|other| &self.transitions[*other as usize]) {
                let counts = other.number > one.number && !other.is_dead && !self.is_unborn(other);
                if !counts || !concerns_others(one, other) {
                    continue;
                }
                let mut objects = BTreeSet::new();
                self.quarrel(one.number, other.number, &mut |_, object, _| objects.extend(object));
                objects.iter().for_each(|object| pairs[*object as usize] += 1);
            }
        }
        let mut shared: Vec<_> = self.objects.iter().zip(pairs).filter(|(_, pairs)| *pairs > 0).collect();
        shared.sort_by_key(|(_, pairs)| std::cmp::Reverse(*pairs));
        shared
    }

    /// The transitions of other processes, that there are, that one does not accord with.
    pub fn disturbed_by<'s>(&'s self, transition: &'s Transition) -> impl Iterator<Item = &'s Transition> {
        let others = transition.discord.iter().map(|other| &self.transitions[*other as usize]);
        others.filter(|other| !other.is_dead && !self.is_unborn(other) && concerns_others(transition, other))
    }

    /// What makes transitions have to do with nearly all others: each with a sentence.
    pub fn hindrances(&self) -> Vec<(&Transition, &'static str)> {
        let mut all = Vec::new();
        for transition in self.living() {
            let detail = self.space.unfolding().detail(transition.number);
            if transition.is_global {
                all.push((transition, "may do anything: it asks for more than the values of variables and channels"));
            } else if detail.timeout {
                all.push((transition, "waits for `timeout`, and so for every step that is possible"));
            } else if !detail.wild.is_empty() {
                all.push((transition, "uses a channel that is not known before the run, and so may use any"));
            }
        }
        all
    }
}

/// The other one has a process that the first has not.
fn concerns_others(first: &Transition, other: &Transition) -> bool {
    other.steps.iter().any(|o| !first.steps.iter().any(|step| step.process == o.process))
}

/// The name of something in lower case: what the reductions call it is what is told.
pub(super) fn word(thing: &impl Debug) -> String {
    let text = format!("{thing:?}");
    let end = text.find(' ').unwrap_or(text.len());
    let mut out = String::new();
    for (number, c) in text[..end].chars().enumerate() {
        if c.is_uppercase() && number > 0 {
            out.push(' ');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// What two transitions do to one object.
fn both(first: &str, second: &str, name: &str) -> String {
    let [one, other] = [first, second].map(|verb| verb.split('(').next().unwrap_or(verb));
    let writes = |verb: &str| matches!(verb, "write" | "set" | "add" | "complement");
    match (one, other) {
        (one, other) if writes(one) && writes(other) => format!("both write {name}"),
        ("send" | "send sorted", "send" | "send sorted") => format!("both send to {name}"),
        ("receive" | "receive anywhere", "receive" | "receive anywhere") => format!("both receive from {name}"),
        _ => format!("it {}, the other {}", doing(one, name), doing(other, "it")),
    }
}

fn doing(verb: &str, name: &str) -> String {
    match verb {
        "read" => format!("reads {name}"),
        "write" | "set" | "add" | "complement" => format!("writes {name}"),
        "send" | "send sorted" => format!("sends to {name}"),
        "receive" | "receive anywhere" => format!("receives from {name}"),
        "peek" | "search" => format!("looks into {name}"),
        _ => format!("asks for the length of {name}"),
    }
}

fn processes(system: &System, space: &Reduced<'_>) -> Vec<Process> {
    let unfolding = space.unfolding();
    let mut all: Vec<Process> = Vec::new();
    for number in 0..unfolding.scheme().processes.len() as u32 {
        let member = unfolding.member(number);
        let ty = &system.process(member.process).name;
        let mut name = member.id.map_or_else(|| format!("{ty} (to come)"), |id| format!("{ty}({id})"));
        // The same id with other parameters, or among other channels.
        let forms =
            all.iter().filter(|other| other.name == name || other.name.starts_with(&format!("{name} "))).count();
        if forms > 0 {
            name = format!("{name} #{}", forms + 1);
        }
        all.push(Process { number, name, id: member.id, locations: Vec::new(), alone: Vec::new() });
    }
    all
}

fn objects(system: &System, space: &Reduced<'_>) -> Vec<Object> {
    let interpreter = Interpreter::new(system);
    let start = interpreter.initial_state(0).and_then(Result::ok);
    let unfolding = space.unfolding();
    let mut all = Vec::new();
    for (object, number) in unfolding.scheme().objects.iter().zip(0..) {
        let handle = unfolding.handle(number);
        let known = handle.zip(start.as_ref()).filter(|(handle, start)| start.channel((*handle).into()).is_some());
        let name = known.map_or(object.name.clone(), |(handle, start)| interpreter.channel_name(start, handle));
        all.push(Object { number, name, is_channel: handle.is_some() });
    }
    all
}

/// For each transition those that it does not accord with, as far as both can be there at once.
fn rows(space: &Reduced<'_>) -> Vec<Vec<u32>> {
    let (unfolding, guards) = (space.unfolding(), space.guards());
    let count = unfolding.scheme().transitions.len() as u32;
    let steps = |number: u32| &unfolding.scheme().transitions[number as usize].steps;
    let id = |process: u32| unfolding.member(process).id;
    // One id, but not one process: they are never there together.
    let excluded = |first: u32, second: u32| {
        let other = |process: u32| {
            steps(second).iter().any(|o| o.process != process && id(process).is_some() && id(o.process) == id(process))
        };
        steps(first).iter().any(|step| other(step.process))
    };
    let mut rows = vec![Vec::new(); count as usize];
    for first in 0..count {
        let all = unfolding.detail(first).is_global.then_some(0..count);
        let others = guards.discord(first).iter().filter(|_| all.is_none());
        for second in others.chain(all.clone().into_iter().flatten()) {
            if first != second && !excluded(first, second) {
                rows[first as usize].push(second);
                rows[second as usize].push(first);
            }
        }
    }
    for row in &mut rows {
        row.sort_unstable();
        row.dedup();
    }
    rows
}
