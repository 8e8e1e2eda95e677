//! Small concurrent systems, written down in a test: processes with locations, variables, guards (P. Godefroid's
//! thesis, §2.1).

use std::collections::{HashMap, HashSet};

use ample_explicit::partial::{Label, Labelled, Partial};
use ample_explicit::space::{Checked, StateSpace};
use ample_random::Random;

/// A variable and a value.
pub type Test = (usize, u8);

/// What is done to a variable.
#[derive(Clone, Copy, Debug)]
pub enum Effect {
    Set(usize, u8),
    /// One more, modulo three.
    Next(usize),
    Up(usize),
    Down(usize),
}

impl Effect {
    pub fn variable(self) -> usize {
        match self {
            Effect::Set(variable, _) | Effect::Next(variable) | Effect::Up(variable) | Effect::Down(variable) => {
                variable
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Rule {
    pub process: usize,
    pub from: u8,
    pub to: u8,
    /// Variables that must have these values.
    pub is: Vec<Test>,
    /// Variables that must not.
    pub is_not: Vec<Test>,
    pub effects: Vec<Effect>,
    /// Violates an assertion if the variable has that value.
    pub assertion: Option<Test>,
    /// Ends in a fault if the variable has that value.
    pub fault: Option<Test>,
}

/// How persistent sets are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// By processes, after Overman (Algorithm 2).
    Closure,
    /// The smallest one by the definition, with rules that depend on each other by what they read and write.
    Definition,
    /// The same, with rules that depend on each other only if they do in the state.
    Semantic,
}

#[derive(Clone, Debug)]
pub struct System {
    pub processes: usize,
    /// The first value of each variable.
    pub variables: Vec<u8>,
    pub rules: Vec<Rule>,
    /// Locations in which a process keeps control, as long as it can move.
    pub atomic: HashSet<(usize, u8)>,
    /// An atomic sequence is passed over where there is only one way on.
    pub passes: bool,
    /// The variables that must not have these values at once.
    pub never: Option<Vec<Test>>,
    pub method: Method,
    pub last: Last,
    pub footprints: Vec<Footprint>,
    /// The steps that were taken, if that is asked for.
    pub log: Option<Vec<(Vec<u8>, u16)>>,
}

/// What the last step did.
#[derive(Clone, Debug, Default)]
pub struct Last {
    violation: Option<String>,
    dead: bool,
    passed: u32,
}

/// What a rule, and the atomic sequence that it begins, reads and writes: a bit for each variable.
#[derive(Clone, Copy, Debug, Default)]
pub struct Footprint {
    reads: u64,
    writes: u64,
}

/// Stands for the value of the invariant.
const INVARIANT: u64 = 1 << 63;

impl System {
    pub fn new(processes: usize, variables: Vec<u8>, rules: Vec<Rule>) -> System {
        let mut system = System {
            processes,
            variables,
            rules,
            atomic: HashSet::new(),
            passes: false,
            never: None,
            method: Method::Closure,
            last: Last::default(),
            footprints: Vec::new(),
            log: None,
        };
        system.prepare();
        system
    }

    /// To be called after a change.
    pub fn prepare(&mut self) {
        self.footprints = (0..self.rules.len()).map(|rule| self.footprint(rule)).collect();
    }

    fn footprint(&self, rule: usize) -> Footprint {
        let mut footprint = Footprint::default();
        let mut sequence = vec![rule];
        let mut next = 0;
        while let Some(&number) = sequence.get(next) {
            next += 1;
            let rule = &self.rules[number];
            let tests = rule.is.iter().chain(&rule.is_not).chain(&rule.assertion).chain(&rule.fault);
            footprint.reads |= tests.fold(0, |bits, (variable, _)| bits | 1 << variable);
            for effect in &rule.effects {
                footprint.writes |= 1 << effect.variable();
                if self.never.iter().flatten().any(|&(variable, _)| variable == effect.variable()) {
                    footprint.writes |= INVARIANT;
                }
            }
            if self.atomic.contains(&(rule.process, rule.to)) {
                let on =
                    |&number: &usize| self.rules[number].process == rule.process && self.rules[number].from == rule.to;
                let on: Vec<usize> = (0..self.rules.len()).filter(on).filter(|n| !sequence.contains(n)).collect();
                sequence.extend(on);
            }
        }
        footprint
    }

    fn depend(&self, first: usize, second: usize) -> bool {
        let (a, b) = (self.footprints[first], self.footprints[second]);
        self.rules[first].process == self.rules[second].process
            || a.writes & (b.reads | b.writes) != 0
            || b.writes & a.reads != 0
    }

    fn value(&self, state: &[u8], variable: usize) -> u8 {
        state[self.processes + variable]
    }

    fn holder(&self, state: &[u8]) -> u8 {
        state[state.len() - 1]
    }

    pub fn is_enabled(&self, state: &[u8], number: usize) -> bool {
        let rule = &self.rules[number];
        let is = |&(variable, value): &Test| self.value(state, variable) == value;
        state[rule.process] == rule.from
            && (self.holder(state) == 0 || self.holder(state) == rule.process as u8 + 1)
            && rule.is.iter().all(is)
            && !rule.is_not.iter().any(is)
    }

    fn from(&self, state: &[u8], start: usize) -> Option<usize> {
        (start..self.rules.len()).find(|&rule| self.is_enabled(state, rule))
    }

    /// One step. False if it is a fault.
    fn apply(&mut self, number: usize, state: &mut [u8]) -> bool {
        let rule = self.rules[number].clone();
        let has = |state: &[u8], test: Option<Test>| test.is_some_and(|(v, value)| state[self.processes + v] == value);
        if has(state, rule.fault) {
            self.last.violation.get_or_insert(format!("fault of {number}"));
            self.last.dead = true;
            return false;
        }
        if has(state, rule.assertion) {
            self.last.violation.get_or_insert(format!("assertion of {number}"));
        }
        for effect in rule.effects {
            let cell = &mut state[self.processes + effect.variable()];
            *cell = match effect {
                Effect::Set(_, value) => value,
                Effect::Next(_) => (*cell + 1) % 3,
                Effect::Up(_) => *cell + 1,
                Effect::Down(_) => *cell - 1,
            };
        }
        state[rule.process] = rule.to;
        let control = state.len() - 1;
        state[control] = 0;
        if self.atomic.contains(&(rule.process, rule.to)) {
            state[control] = rule.process as u8 + 1;
            if self.from(state, 0).is_none() {
                state[control] = 0;
            }
        }
        true
    }

    /// The states that a rule leads to, at the end of the atomic sequence that it begins.
    fn outcomes(&mut self, state: &[u8], rule: usize) -> Vec<Vec<u8>> {
        let mut ends = Vec::new();
        let mut met: Vec<(Vec<u8>, Option<usize>)> = vec![(state.to_vec(), Some(rule))];
        let mut next = 0;
        while let Some((state, rule)) = met.get(next).cloned() {
            next += 1;
            for number in (0..self.rules.len()).filter(|&number| rule.is_none_or(|rule| rule == number)) {
                let mut out = state.clone();
                if !self.is_enabled(&state, number) || !self.apply(number, &mut out) {
                    continue;
                }
                let place = if self.holder(&out) == 0 { None } else { Some((out.clone(), None)) };
                match place {
                    None => ends.push(out),
                    Some(place) if met.contains(&place) => {}
                    Some(place) => met.push(place),
                }
            }
        }
        ends
    }

    fn all_enabled(&self, state: &[u8]) -> Vec<usize> {
        (0..self.rules.len()).filter(|&rule| self.is_enabled(state, rule)).collect()
    }

    /// Def. 3.17, for systems without atomic sequences and faults.
    fn commute(&mut self, state: &[u8], first: usize, second: usize) -> bool {
        if self.rules[first].process == self.rules[second].process {
            return false;
        }
        let step = |system: &mut System, state: &[u8], rule| {
            let mut out = state.to_vec();
            system.is_enabled(state, rule).then(|| {
                system.apply(rule, &mut out);
                out
            })
        };
        match (step(self, state, first), step(self, state, second)) {
            (Some(one), Some(other)) => {
                let both = step(self, &one, second);
                both.is_some() && both == step(self, &other, first)
            }
            (Some(one), None) => !self.is_enabled(&one, second),
            (None, Some(other)) => !self.is_enabled(&other, first),
            (None, None) => true,
        }
    }

    /// Def. 4.1: nothing that can happen without a member of the set depends on one.
    pub fn is_persistent(&mut self, state: &[u8], set: &[usize]) -> bool {
        let mut met = HashSet::from([state.to_vec()]);
        let mut stack = vec![state.to_vec()];
        while let Some(state) = stack.pop() {
            for rule in self.all_enabled(&state) {
                if set.contains(&rule) {
                    continue;
                }
                for &member in set {
                    let depend = match self.method {
                        Method::Semantic => !self.commute(&state, rule, member),
                        Method::Closure | Method::Definition => self.depend(rule, member),
                    };
                    if depend {
                        return false;
                    }
                }
                for end in self.outcomes(&state, rule) {
                    if met.insert(end.clone()) {
                        stack.push(end);
                    }
                }
            }
        }
        true
    }

    fn smallest(&mut self, state: &[u8], enabled: &[Labelled<u16>], member: Option<u32>) -> Vec<u32> {
        let last = std::mem::take(&mut self.last);
        let all = enabled.len() as u32;
        let mut sets: Vec<u32> = (1..1u32 << all.min(6)).collect();
        sets.sort_by_key(|set| set.count_ones());
        for set in sets {
            let positions: Vec<u32> = (0..all).filter(|&position| position < 6 && set >> position & 1 != 0).collect();
            let rules: Vec<usize> = positions.iter().map(|&p| enabled[p as usize].label as usize).collect();
            if member.is_none_or(|member| positions.contains(&member)) && self.is_persistent(state, &rules) {
                self.last = last;
                return positions;
            }
        }
        self.last = last;
        (0..all).collect()
    }

    fn closure(&self, state: &[u8], enabled: &[Labelled<u16>], seed: u32) -> Vec<u32> {
        let mut members = vec![self.rules[enabled[seed as usize].label as usize].process];
        let mut next = 0;
        while let Some(&process) = members.get(next) {
            next += 1;
            for here in (0..self.rules.len())
                .filter(|&rule| self.rules[rule].process == process && self.rules[rule].from == state[process])
            {
                for there in 0..self.rules.len() {
                    let other = self.rules[there].process;
                    if self.depend(here, there) && !members.contains(&other) {
                        members.push(other);
                    }
                }
            }
        }
        let belongs =
            |position: &u32| members.contains(&self.rules[enabled[*position as usize].label as usize].process);
        (0..enabled.len() as u32).filter(belongs).collect()
    }

    /// Which location each process of a state is at.
    pub fn local_states(&self, state: &[u8]) -> Vec<(usize, u8)> {
        (0..self.processes).map(|process| (process, state[process])).collect()
    }
}

impl StateSpace for System {
    type State = [u8];
    type Transition = u16;

    fn initial(&mut self, index: usize, out: &mut Vec<u8>) -> bool {
        self.last = Last::default();
        out.clear();
        out.resize(self.processes, 0);
        out.extend_from_slice(&self.variables);
        out.push(0);
        index == 0
    }

    fn first(&mut self, state: &[u8]) -> Option<u16> {
        self.from(state, 0).map(|rule| rule as u16)
    }

    fn next(&mut self, state: &[u8], transition: &u16) -> Option<u16> {
        self.from(state, *transition as usize + 1).map(|rule| rule as u16)
    }

    fn target(&mut self, state: &[u8], transition: &u16, out: &mut Vec<u8>) {
        self.last = Last::default();
        if let Some(log) = &mut self.log {
            log.push((state.to_vec(), *transition));
        }
        out.clear();
        out.extend_from_slice(state);
        let mut alive = self.apply(*transition as usize, out);
        while alive && self.passes && self.holder(out) != 0 && self.last.passed < 5 {
            let [only] = self.all_enabled(out)[..] else { break };
            self.last.passed += 1;
            alive = self.apply(only, out);
        }
        if !alive {
            // What a fault leaves behind may look like a state.
            out.truncate(0);
            out.extend_from_slice(state);
        }
    }
}

impl Checked for System {
    fn is_valid_end(&mut self, state: &[u8]) -> bool {
        self.processes > 1 && state[0] == 2
    }

    fn violation(&self) -> Option<String> {
        self.last.violation.clone()
    }

    fn is_dead(&self) -> bool {
        self.last.dead
    }

    fn is_transient(&self, state: &[u8]) -> bool {
        self.holder(state) != 0
    }

    fn atomic_steps(&self) -> u32 {
        self.last.passed
    }

    fn invariant(&mut self, _: usize, state: &[u8]) -> bool {
        let Some(never) = &self.never else { return true };
        never.iter().any(|&(variable, value)| self.value(state, variable) != value)
    }
}

impl Partial for System {
    fn enabled(&mut self, state: &[u8], out: &mut Vec<Labelled<u16>>) {
        let label = |rule| Labelled { transition: rule as u16, label: rule as Label };
        out.extend(self.all_enabled(state).into_iter().map(label));
    }

    fn persistent(&mut self, state: &[u8], enabled: &[Labelled<u16>], out: &mut Vec<u32>) {
        let set = match self.method {
            Method::Closure => (0..enabled.len() as u32)
                .map(|seed| self.closure(state, enabled, seed))
                .min_by_key(Vec::len)
                .unwrap_or_default(),
            Method::Definition | Method::Semantic => self.smallest(state, enabled, None),
        };
        out.extend(set);
    }

    fn persistent_with(&mut self, state: &[u8], enabled: &[Labelled<u16>], member: u32, out: &mut Vec<u32>) {
        let set = match self.method {
            Method::Closure => self.closure(state, enabled, member),
            Method::Definition | Method::Semantic => self.smallest(state, enabled, Some(member)),
        };
        assert!(set.contains(&member));
        out.extend(set);
    }

    fn independent(&mut self, state: &[u8], first: Label, second: Label) -> bool {
        for rule in [first, second] {
            assert!(self.is_enabled(state, rule as usize), "{rule} sleeps but is not enabled in {state:?}");
        }
        match self.method {
            Method::Semantic => self.commute(state, first as usize, second as usize),
            Method::Closure | Method::Definition => !self.depend(first as usize, second as usize),
        }
    }
}

/// Rules by what they mean: process, from, to, tests that must be true, effects.
pub fn rule(process: usize, from: u8, to: u8, is: &[Test], effects: &[Effect]) -> Rule {
    Rule { process, from, to, is: is.to_vec(), effects: effects.to_vec(), ..Rule::default() }
}

/// Philosophers, each of whom takes the fork of his number first.
pub fn philosophers(count: usize) -> System {
    let mut rules = Vec::new();
    for own in 0..count {
        let other = (own + 1) % count;
        rules.push(rule(own, 0, 1, &[(own, 0)], &[Effect::Set(own, 1)]));
        rules.push(rule(own, 1, 2, &[(other, 0)], &[Effect::Set(other, 1)]));
        rules.push(rule(own, 2, 3, &[], &[Effect::Set(own, 0)]));
        rules.push(rule(own, 3, 0, &[], &[Effect::Set(other, 0)]));
    }
    System::new(count, vec![0; count], rules)
}

/// Ex. 5.1.
pub fn example_5_1() -> System {
    let rules = vec![
        rule(0, 0, 1, &[], &[Effect::Set(0, 0)]),
        rule(0, 1, 2, &[], &[Effect::Set(1, 0)]),
        rule(1, 0, 1, &[], &[Effect::Set(1, 1)]),
        rule(1, 1, 2, &[], &[Effect::Set(0, 1)]),
    ];
    System::new(2, vec![0, 0], rules)
}

/// Ex. 5.5.
pub fn example_5_5() -> System {
    let rules = vec![
        rule(0, 0, 1, &[], &[Effect::Set(0, 1)]),
        rule(0, 1, 2, &[], &[Effect::Set(0, 0)]),
        rule(1, 0, 1, &[], &[Effect::Set(1, 1)]),
        rule(1, 1, 2, &[], &[Effect::Set(1, 0)]),
    ];
    System::new(2, vec![0, 0], rules)
}

/// Ex. 6.1.
pub fn example_6_1() -> System {
    let rules = vec![
        rule(0, 0, 1, &[], &[Effect::Set(0, 1)]),
        rule(0, 1, 0, &[], &[Effect::Set(0, 0)]),
        rule(1, 0, 1, &[], &[Effect::Set(1, 1)]),
    ];
    System::new(2, vec![0, 0], rules)
}

/// A process that goes round and round through a choice inside an atomic sequence, and another one with a single step.
pub fn around_a_choice() -> System {
    let rules = vec![
        rule(0, 0, 1, &[], &[]),
        rule(0, 1, 2, &[], &[]),
        rule(0, 1, 3, &[], &[]),
        rule(0, 2, 1, &[], &[]),
        rule(0, 3, 1, &[], &[]),
        rule(1, 0, 1, &[], &[Effect::Set(0, 1)]),
    ];
    let mut system = System::new(2, vec![0], rules);
    system.atomic = HashSet::from([(0, 1)]);
    system.never = Some(vec![(0, 1)]);
    system.prepare();
    system
}

/// The fixture of P. Godefroid's thesis, chapter 5, which needs what slept to be woken up.
pub fn revisited() -> System {
    let rules = vec![
        rule(0, 0, 1, &[(0, 0)], &[Effect::Set(0, 0)]),
        rule(0, 1, 0, &[(0, 0)], &[]),
        rule(1, 0, 2, &[], &[]),
        rule(1, 0, 1, &[(0, 1)], &[Effect::Set(0, 1)]),
        rule(2, 0, 1, &[], &[]),
        rule(2, 0, 1, &[(0, 0)], &[]),
        rule(2, 1, 0, &[(0, 0)], &[]),
    ];
    System::new(3, vec![0], rules)
}

/// A producer and a consumer with room for so many between them (Ex. 8.1).
pub fn producer_consumer(room: u8) -> System {
    let produce = Rule { is_not: vec![(0, room)], ..rule(0, 0, 0, &[], &[Effect::Up(0)]) };
    let consume = Rule { is_not: vec![(0, 0)], ..rule(1, 0, 0, &[], &[Effect::Down(0)]) };
    let mut system = System::new(2, vec![0], vec![consume, produce]);
    system.method = Method::Semantic;
    system
}

/// A random system with faults, assertions, atomic sequences and an invariant.
pub fn random(seed: u64) -> System {
    let mut random = Random::new(seed);
    let processes = 2 + random.below(3);
    let variables = 1 + random.below(4);
    let locations = 2 + random.below(3);
    let (faults, atomic) = (random.one_in(2), random.one_in(2));
    let mut rules = Vec::new();
    for process in 0..processes {
        for _ in 0..2 + random.below(locations + 1) {
            rules.push(random_rule(&mut random, process, variables, locations, faults));
        }
    }
    let mut system = System::new(processes, vec![0; variables], rules);
    if atomic {
        let all = (0..processes).flat_map(|process| (1..locations as u8).map(move |location| (process, location)));
        system.atomic = all.filter(|_| random.one_in(4)).collect();
        system.passes = random.one_in(2);
    }
    let never = (0..1 + random.below(2)).map(|_| (random.below(variables), random.below(3) as u8));
    system.never = Some(never.collect::<HashMap<_, _>>().into_iter().collect());
    if random.one_in(8) && system.rules.len() < 12 {
        system.method = Method::Definition;
    }
    system.prepare();
    system
}

fn random_rule(random: &mut Random, process: usize, variables: usize, locations: usize, faults: bool) -> Rule {
    // Every process has some variables that it likes best, or nothing would be independent.
    let variable = |random: &mut Random| {
        if random.one_in(3) { random.below(variables) } else { process % variables }
    };
    let test = |random: &mut Random| (variable(random), random.below(3) as u8);
    let mut rule =
        Rule { process, from: random.below(locations) as u8, to: random.below(locations) as u8, ..Rule::default() };
    match random.below(6) {
        0 | 1 => rule.is.push((variable(random), random.below(2) as u8)),
        2 => rule.is_not.push(test(random)),
        _ => {}
    }
    match random.below(5) {
        0 | 1 => rule.effects.push(Effect::Set(variable(random), random.below(3) as u8)),
        2 => rule.effects.push(Effect::Next(variable(random))),
        _ => {}
    }
    if random.one_in(8) {
        rule.assertion = Some(test(random));
    }
    if faults && random.one_in(5) {
        rule.fault = Some(test(random));
    }
    rule
}
