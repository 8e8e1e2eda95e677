//! `CheckGraph`: what holds at the entry of a part, given what holds at its exit (§3.2.3).
//!
//! The parts of a sequence are checked from the last to the first, both branches of a condition with the same assumptions, and the body of
//! a loop again and again: a formula with `U` is a least fixpoint over the states at the head of the loop. Only one node is in memory as
//! diagrams at a time. What was found for a node is kept, by subformula, with the assumptions that it was found under: a
//! call with the same ones reads it, and one with larger ones goes on from there.

use ample_model::LocationId;

use super::assumptions::{Assumptions, Keeper, Saved};
use super::closure::{Closure, Subformula};
use super::head::{Head, Sets};
use super::partition::{Kind, Part};
use super::structure::{Limits, Source, States, Structure, order};
use super::{Failure, Options, Reachability, Statistics};
use crate::diagram::Bdd;

/// What is known of a part.
#[derive(Default)]
struct Known {
    /// By subformula: what it was found under.
    given: Assumptions,
    /// And what was found at the entry.
    result: Assumptions,
    /// For a node: what was found at all its locations, if it is no longer loaded.
    inner: Vec<Option<Vec<Saved>>>,
    /// The order of the variables that a node had last.
    order: Option<Vec<u32>>,
    /// With local reachability: the valuations that matter, by location.
    domains: Vec<Saved>,
}

/// The node that is in memory.
struct Loaded {
    number: usize,
    structure: Structure,
    /// By subformula: the states that satisfy it under the assumptions of the last call, if they are known.
    states: Vec<Option<States>>,
}

/// Checks one formula on the parts of a program.
pub struct Checker<'a> {
    source: Source<'a>,
    limits: &'a Limits,
    options: Options,
    keeper: Keeper,
    known: Vec<Known>,
    loaded: Option<Loaded>,
    /// By part: it may be checked again.
    is_in_loop: Vec<bool>,
    is_operand: Vec<bool>,
    /// An order of the variables for the whole program.
    order: Vec<u32>,
    /// Nodes of the tables of conditions that are in use.
    heads: usize,
    /// What was done.
    pub statistics: Statistics,
    tell: &'a dyn Fn(&Statistics),
}

impl<'a> Checker<'a> {
    /// For that partition graph.
    pub fn new(
        source: Source<'a>,
        graph: &Part,
        limits: &'a Limits,
        options: Options,
        tell: &'a dyn Fn(&Statistics),
    ) -> Result<Checker<'a>, Failure> {
        let subformulas = source.closure.subformulas.len();
        let known = || Known {
            given: vec![None; subformulas],
            result: vec![None; subformulas],
            inner: vec![None; subformulas],
            ..Known::default()
        };
        let mut is_in_loop = vec![false; graph.count()];
        note_loops(graph, false, &mut is_in_loop);
        let nodes = graph.nodes().len();
        Ok(Checker {
            source,
            limits,
            options,
            keeper: Keeper::new(options.in_files),
            known: (0..graph.count()).map(|_| known()).collect(),
            loaded: None,
            is_in_loop,
            is_operand: source.closure.is_operand(),
            order: order(source, limits)?,
            heads: 0,
            statistics: Statistics { nodes, largest_node: graph.largest(), ..Statistics::default() },
            tell,
        })
    }

    /// The assumptions with which the last part of a program is checked: there are no states at its exit.
    pub fn nothing(&mut self) -> Result<Assumptions, Failure> {
        let diagrams = self.limits.table(self.source.program.encoding.bits, &self.order);
        let set = self.keeper.save(&diagrams.constant(false), &diagrams)?;
        Ok(vec![Some(set); self.closure().subformulas.len()])
    }

    fn closure(&self) -> &'a Closure {
        self.source.closure
    }

    /// What holds at the entry of a part, given what holds at its exit.
    pub fn check(&mut self, part: &Part, given: &Assumptions) -> Result<Assumptions, Failure> {
        match &part.kind {
            Kind::Empty => return Ok(given.clone()),
            Kind::Sequence(parts) => {
                let mut after = given.clone();
                for part in parts.iter().rev() {
                    after = self.check(part, &after)?;
                }
                return Ok(after);
            }
            Kind::Node(_) | Kind::Choice(_) | Kind::Loop(_) => {}
        }
        let misses = self.misses(part.number, given);
        if misses.iter().any(|is_missed| *is_missed) {
            self.limits.budget.check().map_err(crate::SetError::from)?;
            match &part.kind {
                Kind::Node(locations) => self.node(part, locations, given, &misses)?,
                Kind::Choice(branches) => self.choice(part, branches, given, &misses)?,
                Kind::Loop(body) => self.loops(part, body, given, &misses)?,
                Kind::Empty | Kind::Sequence(_) => {}
            }
            self.note(part.number, given, &misses);
            (self.tell)(&self.statistics);
        } else {
            self.statistics.cache_hits += 1;
        }
        let known = &self.known[part.number];
        let result = given.iter().zip(&known.result);
        Ok(result.map(|(given, result)| given.as_ref().and(result.clone())).collect())
    }

    /// By subformula: whether it has to be found under these assumptions.
    fn misses(&self, number: usize, given: &Assumptions) -> Vec<bool> {
        let known = &self.known[number];
        let mut is_known: Vec<bool> = Vec::new();
        for (number, subformula) in self.closure().subformulas.iter().enumerate() {
            let is_same = match (&given[number], &known.given[number]) {
                (Some(given), Some(known)) => given.is_same(known),
                _ => false,
            };
            let caches = !self.options.no_cache;
            is_known.push(caches && is_same && subformula.operands().all(|operand| is_known[operand]));
        }
        given.iter().zip(is_known).map(|(given, is_known)| given.is_some() && !is_known).collect()
    }

    /// The missed ones are known now. What was found with other operands is no longer.
    fn note(&mut self, number: usize, given: &Assumptions, misses: &[bool]) {
        let subformulas = &self.closure().subformulas;
        let known = &mut self.known[number];
        let mut is_changed = misses.to_vec();
        for (number, subformula) in subformulas.iter().enumerate() {
            if misses[number] {
                known.given[number].clone_from(&given[number]);
            } else if subformula.operands().any(|operand| is_changed[operand]) {
                is_changed[number] = true;
                known.given[number] = None;
            }
        }
    }

    /// What was known before may serve as a start: the assumptions have grown, and the operands are as they were.
    fn may_go_on(&self, number: usize, subformula: usize, misses: &[bool]) -> bool {
        let closure = self.closure();
        !self.options.no_cache
            && matches!(closure.subformulas[subformula], Subformula::Until(..))
            && self.known[number].given[subformula].is_some()
            && closure.subformulas[subformula].operands().all(|operand| !misses[operand])
    }

    /// Model checking under assumptions in a node.
    fn node(
        &mut self,
        part: &Part,
        locations: &[LocationId],
        given: &Assumptions,
        misses: &[bool],
    ) -> Result<(), Failure> {
        let mut loaded = self.load(part, locations, order_of(given))?;
        self.statistics.checks += 1;
        let result = self.node_loaded(part.number, &mut loaded, given, misses);
        self.note_size(&loaded);
        self.loaded = Some(loaded);
        result
    }

    fn node_loaded(
        &mut self,
        number: usize,
        loaded: &mut Loaded,
        given: &Assumptions,
        misses: &[bool],
    ) -> Result<(), Failure> {
        let closure = self.closure();
        let mut before: Vec<Option<States>> = Vec::new();
        for (subformula, is_missed) in misses.iter().enumerate() {
            let old = if *is_missed { loaded.states[subformula].take() } else { None };
            before.push(old);
        }
        // What was found with other operands is of no use.
        let mut is_stale = misses.to_vec();
        for (subformula, one) in closure.subformulas.iter().enumerate() {
            if !misses[subformula] && one.operands().any(|operand| is_stale[operand]) {
                is_stale[subformula] = true;
                loaded.states[subformula] = None;
                self.known[number].inner[subformula] = None;
            }
        }
        for (subformula, is_missed) in misses.iter().enumerate() {
            if !is_missed {
                continue;
            }
            let Some(assumed) = &given[subformula] else { continue };
            let below = match self.may_go_on(number, subformula, misses) {
                true => self.below(number, loaded, before[subformula].take(), subformula, assumed)?,
                false => None,
            };
            self.known[number].inner[subformula] = None;
            self.find(number, loaded, given, subformula, below.as_deref())?;
            let Some(states) = &loaded.states[subformula] else { continue };
            let saved = self.keeper.save(&states.inner[0], &loaded.structure.diagrams)?;
            self.known[number].result[subformula] = Some(saved);
        }
        Ok(())
    }

    /// The states that were found before, if the assumptions have grown since.
    fn below(
        &mut self,
        number: usize,
        loaded: &Loaded,
        before: Option<States>,
        subformula: usize,
        assumed: &Saved,
    ) -> Result<Option<Vec<Bdd>>, Failure> {
        let diagrams = &loaded.structure.diagrams;
        let Some(known) = &self.known[number].given[subformula] else { return Ok(None) };
        if !known.load(diagrams)?.is_subset(&assumed.load(diagrams)?)? {
            return Ok(None);
        }
        match (before, &self.known[number].inner[subformula]) {
            (Some(states), _) => Ok(Some(states.inner)),
            (None, Some(inner)) => Ok(Some(inner.iter().map(|set| set.load(diagrams)).collect::<Result<_, _>>()?)),
            (None, None) => Ok(None),
        }
    }

    /// Finds the states of the node that satisfy a subformula, after those of its operands.
    fn find(
        &mut self,
        number: usize,
        loaded: &mut Loaded,
        given: &Assumptions,
        subformula: usize,
        below: Option<&[Bdd]>,
    ) -> Result<(), Failure> {
        let closure = self.closure();
        let assumed = match &given[subformula] {
            Some(assumed) => assumed.load(&loaded.structure.diagrams)?,
            None => loaded.structure.diagrams.constant(false),
        };
        if let Some(inner) = self.known[number].inner[subformula].take() {
            let diagrams = &loaded.structure.diagrams;
            let inner = inner.iter().map(|set| set.load(diagrams)).collect::<Result<_, _>>()?;
            loaded.states[subformula] = Some(States { inner, exit: assumed });
            return Ok(());
        }
        for operand in closure.subformulas[subformula].operands() {
            if loaded.states[operand].is_none() {
                self.find(number, loaded, given, operand, None)?;
            }
        }
        let Loaded { structure, states, .. } = loaded;
        let none = States { inner: Vec::new(), exit: structure.diagrams.constant(false) };
        let known = |operand: usize| states[operand].clone().unwrap_or_else(|| none.clone());
        let stopped = |structure: &Structure, f: usize, place: usize| structure.stopped(closure, f, place);
        let before = structure.preimages;
        let found = structure.check(&closure.subformulas[subformula], &known, &stopped, assumed, below)?;
        self.statistics.preimages += structure.preimages - before;
        states[subformula] = Some(found);
        Ok(())
    }

    /// The node as diagrams; another one that was in memory goes.
    fn load(&mut self, part: &Part, locations: &[LocationId], given: Option<&[u32]>) -> Result<Loaded, Failure> {
        if let Some(loaded) = self.loaded.take() {
            if loaded.number == part.number {
                return Ok(loaded);
            }
            self.unload(loaded)?;
        }
        self.statistics.loads += 1;
        let known = &self.known[part.number];
        let order = known.order.as_deref().or(given).unwrap_or(&self.order);
        let mut structure = Structure::of(self.source, locations, part.exit, order, self.limits)?;
        if !known.domains.is_empty() {
            let domains = known.domains.iter().map(|set| set.load(&structure.diagrams)).collect::<Result<_, _>>()?;
            structure.confine(domains);
        }
        let nodes = structure.relation_nodes();
        self.statistics.relation_nodes = self.statistics.relation_nodes.max(nodes);
        let states = vec![None; self.closure().subformulas.len()];
        Ok(Loaded { number: part.number, structure, states })
    }

    /// What was found in a node is kept, if the node may be checked again.
    fn unload(&mut self, loaded: Loaded) -> Result<(), Failure> {
        let Loaded { number, structure, mut states } = loaded;
        self.statistics.reorderings += structure.diagrams.size().reorderings;
        if !self.is_in_loop[number] || self.options.no_cache {
            return Ok(());
        }
        self.known[number].order = Some(structure.diagrams.order());
        // To find it again there takes no longer than to read it.
        if structure.is_acyclic() {
            return Ok(());
        }
        for (subformula, states) in states.iter_mut().enumerate() {
            let kind = &self.closure().subformulas[subformula];
            let is_needed = matches!(kind, Subformula::Until(..))
                || self.is_operand[subformula] && !matches!(kind, Subformula::Condition(_));
            let Some(states) = states.take().filter(|_| is_needed) else { continue };
            let mut inner = Vec::new();
            for set in &states.inner {
                inner.push(self.keeper.save(set, &structure.diagrams)?);
            }
            self.known[number].inner[subformula] = Some(inner);
        }
        Ok(())
    }

    /// No node is in memory any more.
    pub fn finish(&mut self) {
        if let Some(loaded) = self.loaded.take() {
            self.statistics.reorderings += loaded.structure.diagrams.size().reorderings;
        }
        self.statistics.largest_set = self.keeper.largest;
        self.statistics.written = self.keeper.written;
    }

    fn note_size(&mut self, loaded: &Loaded) {
        let peak = loaded.structure.diagrams.size().peak;
        let statistics = &mut self.statistics;
        statistics.peak_nodes = statistics.peak_nodes.max(peak);
        statistics.peak_together = statistics.peak_together.max(peak + self.heads);
    }

    fn head(&self, part: &Part, order: Option<&[u32]>) -> Result<Head, Failure> {
        let order = order.unwrap_or(&self.order);
        Head::of(self.source, part.entry, self.known[part.number].domains.first(), order, self.limits)
    }

    fn choice(
        &mut self,
        part: &Part,
        branches: &[Part; 2],
        given: &Assumptions,
        misses: &[bool],
    ) -> Result<(), Failure> {
        let results = [self.check(&branches[0], given)?, self.check(&branches[1], given)?];
        let head = self.head(part, order_of(&results[0]))?;
        let closure = self.closure();
        let yes = head.step_edge(closure, 0, &head.load(&results[0])?)?;
        let no = head.step_edge(closure, 1, &head.load(&results[1])?)?;
        for (number, (yes, no)) in yes.iter().zip(&no).enumerate() {
            if let (true, Some(yes), Some(no)) = (misses[number], yes, no) {
                let saved = self.keeper.save(&yes.or(no)?, &head.diagrams)?;
                self.known[part.number].result[number] = Some(saved);
            }
        }
        self.note_head(&head);
        Ok(())
    }

    fn note_head(&mut self, head: &Head) {
        let peak = head.diagrams.size().peak;
        let loaded = self.loaded.as_ref().map_or(0, |loaded| loaded.structure.diagrams.size().nodes);
        let statistics = &mut self.statistics;
        statistics.peak_nodes = statistics.peak_nodes.max(peak);
        statistics.peak_together = statistics.peak_together.max(peak + loaded + self.heads);
        statistics.reorderings += head.diagrams.size().reorderings;
    }

    fn loops(&mut self, part: &Part, body: &Part, given: &Assumptions, misses: &[bool]) -> Result<(), Failure> {
        let head = self.head(part, order_of(given))?;
        let closure = self.closure();
        let mut at_head = AtHead {
            past: head.step_edge(closure, 1, &head.load(given)?)?,
            sets: vec![None; given.len()],
            given: vec![None; given.len()],
        };
        for batch in closure.batches() {
            let mut untils = Vec::new();
            for number in batch.into_iter().filter(|number| given[*number].is_some()) {
                if !misses[number] {
                    let result = self.known[part.number].result[number].clone();
                    at_head.sets[number] = result.as_ref().map(|set| set.load(&head.diagrams)).transpose()?;
                    at_head.given[number] = result;
                    continue;
                }
                let subformula = &closure.subformulas[number];
                let known = |f: usize| at_head.known(&head, f);
                let set = match head.here(subformula, &known)? {
                    Some(set) => set,
                    None if matches!(subformula, Subformula::Until(..)) => {
                        untils.push(number);
                        continue;
                    }
                    None => {
                        let into = self.body(&head, body, &at_head.given)?;
                        at_head.step(&head, subformula, number, &into)?
                    }
                };
                at_head.set(number, set, &head, &mut self.keeper)?;
            }
            if !untils.is_empty() {
                self.least(part, body, &head, &mut at_head, &untils, (given, misses))?;
            }
        }
        for (number, is_missed) in misses.iter().enumerate() {
            if *is_missed {
                self.known[part.number].result[number] = at_head.given[number].take();
            }
        }
        self.note_head(&head);
        Ok(())
    }

    /// What holds where the body begins.
    fn body(&mut self, head: &Head, body: &Part, given: &Assumptions) -> Result<Sets, Failure> {
        let nodes = head.diagrams.size().nodes;
        self.heads += nodes;
        let into = self.check(body, given);
        self.heads -= nodes;
        head.load(&into?)
    }

    /// The least fixpoints of formulas of equal length with `U`, at the head of a loop.
    fn least(
        &mut self,
        part: &Part,
        body: &Part,
        head: &Head,
        at_head: &mut AtHead,
        untils: &[usize],
        (given, misses): (&Assumptions, &[bool]),
    ) -> Result<(), Failure> {
        let closure = self.closure();
        for number in untils {
            let subformula = &closure.subformulas[*number];
            let goal = subformula.operands().last().map_or_else(|| at_head.known(head, 0), |g| at_head.known(head, g));
            let past = at_head.past[*number].clone().unwrap_or_else(|| head.diagrams.constant(false));
            let mut start = past.or(&goal.and(&head.outcomes[0])?)?;
            if self.may_go_on(part.number, *number, misses)
                && let (Some(old), Some(new)) = (&self.known[part.number].given[*number], &given[*number])
                && let Some(result) = &self.known[part.number].result[*number]
                && old.load(&head.diagrams)?.is_subset(&new.load(&head.diagrams)?)?
            {
                start = start.or(&result.load(&head.diagrams)?)?;
            }
            at_head.set(*number, start, head, &mut self.keeper)?;
        }
        loop {
            self.statistics.iterations += 1;
            let into = self.body(head, body, &at_head.given)?;
            let mut is_stable = true;
            for number in untils {
                let before = at_head.known(head, *number);
                let after = at_head.step(head, &closure.subformulas[*number], *number, &into)?;
                debug_assert!(before.is_subset(&after)?, "iterates grow");
                if after != before {
                    is_stable = false;
                    at_head.set(*number, after, head, &mut self.keeper)?;
                }
            }
            if is_stable {
                return Ok(());
            }
        }
    }

    /// The valuations that matter, part by part in the order of the source, from those at the entry; those at the exit. With
    /// local reachability (§5.5) all matter at the head of a loop; else those that are reachable, by a fixpoint.
    pub fn reach(&mut self, part: &Part, entry: &Saved) -> Result<Saved, Failure> {
        self.limits.budget.check()?;
        match &part.kind {
            Kind::Empty => Ok(entry.clone()),
            Kind::Sequence(parts) => parts.iter().try_fold(entry.clone(), |entry, part| self.reach(part, &entry)),
            Kind::Node(locations) => self.reach_node(part, locations, entry),
            Kind::Choice(branches) => {
                self.known[part.number].domains = vec![entry.clone()];
                let head = self.head(part, Some(entry.order()))?;
                let mut exits = head.diagrams.constant(false);
                for (outcome, branch) in branches.iter().enumerate() {
                    let entry = self.keeper.save(&head.image(outcome)?, &head.diagrams)?;
                    exits = exits.or(&self.reach(branch, &entry)?.load(&head.diagrams)?)?;
                }
                self.keeper.save(&exits, &head.diagrams)
            }
            Kind::Loop(body) => self.reach_loop(part, body, entry),
        }
    }

    fn reach_node(&mut self, part: &Part, locations: &[LocationId], entry: &Saved) -> Result<Saved, Failure> {
        let before = std::mem::take(&mut self.known[part.number].domains);
        let loaded = self.load(part, locations, Some(entry.order()))?;
        let structure = &loaded.structure;
        let diagrams = &structure.diagrams;
        let entry = entry.load(diagrams)?;
        let (reached, exit) = match self.options.reachability {
            Reachability::Full => {
                // What was reached with less at the entry is reached now.
                let mut known: Vec<Bdd> = before.iter().map(|set| set.load(diagrams)).collect::<Result<_, _>>()?;
                known.resize_with(locations.len(), || diagrams.constant(false));
                known[0] = known[0].or(&entry)?;
                structure.reachable(known)?
            }
            Reachability::None | Reachability::Local => structure.reachable_locally(&entry)?,
        };
        let mut domains = Vec::new();
        for set in &reached {
            domains.push(self.keeper.save(set, diagrams)?);
        }
        let exit = self.keeper.save(&exit, diagrams)?;
        self.known[part.number].domains = domains;
        self.note_size(&loaded);
        // It is loaded again with its domains.
        self.unload(loaded)?;
        Ok(exit)
    }

    fn reach_loop(&mut self, part: &Part, body: &Part, entry: &Saved) -> Result<Saved, Failure> {
        if self.options.reachability == Reachability::Full {
            let mut domain = entry.clone();
            let mut before = self.known[part.number].domains.pop();
            loop {
                self.known[part.number].domains = vec![domain.clone()];
                let mut head = self.head(part, Some(domain.order()))?;
                if let Some(before) = before.take() {
                    head.domain = head.domain.or(&before.load(&head.diagrams)?)?;
                }
                let into = self.keeper.save(&head.image(0)?, &head.diagrams)?;
                let back = self.reach(body, &into)?.load(&head.diagrams)?;
                let grown = head.domain.or(&back)?;
                let is_stable = grown == head.domain;
                domain = self.keeper.save(&grown, &head.diagrams)?;
                if is_stable {
                    self.known[part.number].domains = vec![domain];
                    return self.keeper.save(&head.image(1)?, &head.diagrams);
                }
            }
        }
        let head = self.head(part, Some(entry.order()))?;
        let into = self.keeper.save(&head.image(0)?, &head.diagrams)?;
        self.reach(body, &into)?;
        self.keeper.save(&head.image(1)?, &head.diagrams)
    }

    /// The valuations that a program begins with, for other tables.
    pub fn start(&mut self) -> Result<Saved, Failure> {
        let diagrams = self.limits.table(self.source.program.encoding.bits, &self.order);
        let mut builder = crate::build::Builder::new(self.source.program.dag(), &diagrams);
        let set = builder.diagram(self.source.program.valuations)?;
        self.keeper.save(&set, &diagrams)
    }

    /// A valuation that the program begins with and that is not in the set.
    pub fn outside(&mut self, set: &Saved) -> Result<Option<Vec<bool>>, Failure> {
        let diagrams = self.limits.table(self.source.program.encoding.bits, set.order());
        let start = self.start()?.load(&diagrams)?;
        Ok(start.minus(&set.load(&diagrams)?)?.pick())
    }
}

/// What is known at the head of a loop.
struct AtHead {
    /// By the step edge past the loop.
    past: Sets,
    /// So far.
    sets: Sets,
    /// The same, for the body.
    given: Assumptions,
}

impl AtHead {
    fn known(&self, head: &Head, subformula: usize) -> Bdd {
        self.sets[subformula].clone().unwrap_or_else(|| head.diagrams.constant(false))
    }

    fn set(&mut self, subformula: usize, set: Bdd, head: &Head, keeper: &mut Keeper) -> Result<(), Failure> {
        self.given[subformula] = Some(keeper.save(&set, &head.diagrams)?);
        self.sets[subformula] = Some(set);
        Ok(())
    }

    /// What holds at the head by both step edges, given what holds where the body begins.
    fn step(&self, head: &Head, subformula: &Subformula, number: usize, into: &Sets) -> Result<Bdd, Failure> {
        let none = || head.diagrams.constant(false);
        let there = into[number].clone().unwrap_or_else(none);
        let next = |f: usize| into[f].clone().unwrap_or_else(none);
        let by_body = head.step(subformula, 0, &|f| self.known(head, f), &next, &there)?;
        Ok(by_body.or(&self.past[number].clone().unwrap_or_else(none))?)
    }
}

/// The order in which the assumption on the longest subformula was written: a table with the same one reads it fast.
fn order_of(given: &Assumptions) -> Option<&[u32]> {
    given.iter().rev().flatten().next().map(Saved::order)
}

fn note_loops(part: &Part, is_inside: bool, is_in_loop: &mut [bool]) {
    is_in_loop[part.number] = is_inside;
    match &part.kind {
        Kind::Empty | Kind::Node(_) => {}
        Kind::Sequence(parts) => parts.iter().for_each(|part| note_loops(part, is_inside, is_in_loop)),
        Kind::Choice(branches) => branches.iter().for_each(|part| note_loops(part, is_inside, is_in_loop)),
        Kind::Loop(body) => note_loops(body, true, is_in_loop),
    }
}
