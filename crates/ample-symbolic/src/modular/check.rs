//! `CheckGraph`: what holds at the entry of a part, given what holds at its exit (§3.2.3).
//!
//! The parts of a sequence are checked from the last to the first, all branches of a choice with the same assumptions, and the bodies of
//! a loop again and again: a formula with `U` is a least fixpoint over the states at the head of the loop. Only one node is in memory as
//! diagrams at a time. What was found for a node is kept, by subformula, with the assumptions that it was found under: a
//! call with the same ones reads it, and one with larger ones goes on from there.

use ample_model::LocationId;

use super::assumptions::{Assumptions, Keeper, Saved};
use super::closure::{Closure, Subformula};
use super::head::{Head, Sets};
use super::partition::{Fork, Kind, Part, To};
use super::structure::{Limits, Source, States, Structure, order};
use super::{Failure, Options, Reachability, Statistics};
use crate::diagram::{Bdd, Maybe};

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
    /// For a node: its number among the nodes, from 1.
    node: usize,
    /// It was checked.
    is_done: bool,
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
    /// The iterates at the heads of loops, one after the other: part, subformula, whether it is the first one, and the set.
    #[cfg(test)]
    pub iterates: Vec<(usize, usize, bool, Saved)>,
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
        let mut parts: Vec<Known> = (0..graph.count()).map(|_| known()).collect();
        let nodes = graph.nodes();
        nodes.iter().zip(1..).for_each(|(node, number)| parts[node.number].node = number);
        let nodes = nodes.len();
        Ok(Checker {
            source,
            limits,
            options,
            keeper: Keeper::new(options.in_files),
            known: parts,
            loaded: None,
            is_in_loop,
            is_operand: source.closure.is_operand(),
            order: order(source, limits)?,
            heads: 0,
            statistics: Statistics { nodes, largest_node: graph.largest(), ..Statistics::default() },
            tell,
            #[cfg(test)]
            iterates: Vec::new(),
        })
    }

    /// The valuations that matter at the locations of a node.
    #[cfg(test)]
    pub fn domains(&self, part: &Part) -> &[Saved] {
        &self.known[part.number].domains
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
                Kind::Choice(fork) => self.choice(part, fork, given, &misses)?,
                Kind::Loop(fork) => self.loops(part, fork, given, &misses)?,
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
        self.statistics.node = self.known[part.number].node;
        (self.tell)(&self.statistics);
        let mut loaded = self.load(part, locations, order_of(given))?;
        self.statistics.checks += 1;
        let result = self.node_loaded(part.number, &mut loaded, given, misses);
        if !std::mem::replace(&mut self.known[part.number].is_done, true) {
            self.statistics.done += 1;
        }
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
            structure.confine(domains)?;
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

    fn choice(&mut self, part: &Part, fork: &Fork, given: &Assumptions, misses: &[bool]) -> Result<(), Failure> {
        let mut results = Vec::new();
        for branch in &fork.parts {
            results.push(self.check(branch, given)?);
        }
        let head = self.head(part, order_of(results.first().unwrap_or(given)))?;
        let closure = self.closure();
        let mut edges = Vec::new();
        for (step, to) in fork.edges.iter().enumerate() {
            let there = match to {
                To::Part(number) => &results[*number],
                To::Exit | To::Head => given,
            };
            edges.push(head.step_edge(closure, step, &head.load(there)?)?);
        }
        let none = || head.diagrams.constant(false);
        let mut found: Sets = vec![None; given.len()];
        for (number, subformula) in
            closure.subformulas.iter().enumerate().filter(|(number, _)| given[*number].is_some())
        {
            let set = head.joined(closure, subformula, &|f| found[f].clone().unwrap_or_else(none), &|step| {
                Ok(edges[step][number].clone().unwrap_or_else(none))
            })?;
            if misses[number] {
                self.known[part.number].result[number] = Some(self.keeper.save(&set, &head.diagrams)?);
            }
            found[number] = Some(set);
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

    fn loops(&mut self, part: &Part, fork: &Fork, given: &Assumptions, misses: &[bool]) -> Result<(), Failure> {
        let head = self.head(part, order_of(given))?;
        let closure = self.closure();
        let after = head.load(given)?;
        let mut past = Vec::new();
        for (step, to) in fork.edges.iter().enumerate() {
            past.push(if *to == To::Exit { head.step_edge(closure, step, &after)? } else { Vec::new() });
        }
        drop(after);
        let mut at_head = AtHead { fork, past, sets: vec![None; given.len()], given: vec![None; given.len()] };
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
                        let into = self.bodies(&head, fork, &at_head.given)?;
                        at_head.step(&head, closure, number, &into)?
                    }
                };
                at_head.set(number, set, &head, &mut self.keeper)?;
            }
            if !untils.is_empty() {
                self.least(part, &head, &mut at_head, &untils, (given, misses))?;
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

    /// What holds where the bodies begin.
    fn bodies(&mut self, head: &Head, fork: &Fork, given: &Assumptions) -> Result<Vec<Sets>, Failure> {
        let nodes = head.diagrams.size().nodes;
        self.heads += nodes;
        let into: Result<Vec<Assumptions>, Failure> = fork.parts.iter().map(|body| self.check(body, given)).collect();
        self.heads -= nodes;
        into?.iter().map(|into| head.load(into)).collect()
    }

    /// The least fixpoints of formulas of equal length with `U`, at the head of a loop.
    fn least(
        &mut self,
        part: &Part,
        head: &Head,
        at_head: &mut AtHead<'_>,
        untils: &[usize],
        (given, misses): (&Assumptions, &[bool]),
    ) -> Result<(), Failure> {
        let closure = self.closure();
        for number in untils {
            let subformula = &closure.subformulas[*number];
            let goal = subformula.operands().last().map_or_else(|| at_head.known(head, 0), |g| at_head.known(head, g));
            // What holds past the loop, and where it is not entered again.
            let known = |f: usize| at_head.known(head, f);
            let mut start =
                head.joined(closure, subformula, &known, &|step| match at_head.past[step].get(*number) {
                    Some(past) => Ok(past.clone().unwrap_or_else(|| head.diagrams.constant(false))),
                    None => goal.and(&head.guards[step]),
                })?;
            if self.may_go_on(part.number, *number, misses)
                && let (Some(old), Some(new)) = (&self.known[part.number].given[*number], &given[*number])
                && let Some(result) = &self.known[part.number].result[*number]
                && old.load(&head.diagrams)?.is_subset(&new.load(&head.diagrams)?)?
            {
                start = start.or(&result.load(&head.diagrams)?)?;
            }
            at_head.set(*number, start, head, &mut self.keeper)?;
            #[cfg(test)]
            self.iterates.extend(at_head.given[*number].clone().map(|set| (part.number, *number, true, set)));
        }
        loop {
            self.statistics.iterations += 1;
            let into = self.bodies(head, at_head.fork, &at_head.given)?;
            let mut is_stable = true;
            for number in untils {
                let before = at_head.known(head, *number);
                let after = at_head.step(head, closure, *number, &into)?;
                debug_assert!(before.is_subset(&after)?, "iterates grow");
                if after != before {
                    is_stable = false;
                    at_head.set(*number, after, head, &mut self.keeper)?;
                    #[cfg(test)]
                    self.iterates.extend(at_head.given[*number].clone().map(|set| (part.number, *number, false, set)));
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
            Kind::Choice(fork) => {
                self.known[part.number].domains = vec![entry.clone()];
                let head = self.head(part, Some(entry.order()))?;
                let [back, past] = self.reach_parts(fork, &head)?;
                self.keeper.save(&back.or(&past)?, &head.diagrams)
            }
            Kind::Loop(fork) => self.reach_loop(part, fork, entry),
        }
    }

    /// The valuations at the exits of the parts that are decided for at a head, and those that its steps lead past them with.
    fn reach_parts(&mut self, fork: &Fork, head: &Head) -> Result<[Bdd; 2], Failure> {
        let none = head.diagrams.constant(false);
        let (mut into, mut back, mut past) = (vec![none.clone(); fork.parts.len()], none.clone(), none);
        for (step, to) in fork.edges.iter().enumerate() {
            let image = head.image(step)?;
            let set = match to {
                To::Part(number) => &mut into[*number],
                To::Head => &mut back,
                To::Exit => &mut past,
            };
            *set = set.or(&image)?;
        }
        for (part, into) in fork.parts.iter().zip(&into) {
            let entry = self.keeper.save(into, &head.diagrams)?;
            back = back.or(&self.reach(part, &entry)?.load(&head.diagrams)?)?;
        }
        Ok([back, past])
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
            Reachability::Auto | Reachability::None | Reachability::Local => structure.reachable_locally(&entry)?,
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

    fn reach_loop(&mut self, part: &Part, fork: &Fork, entry: &Saved) -> Result<Saved, Failure> {
        if self.options.reachability == Reachability::Full {
            let mut domain = entry.clone();
            let mut before = self.known[part.number].domains.pop();
            loop {
                self.known[part.number].domains = vec![domain.clone()];
                let mut head = self.head(part, Some(domain.order()))?;
                if let Some(before) = before.take() {
                    head.domain = head.domain.or(&before.load(&head.diagrams)?)?;
                }
                let [back, past] = self.reach_parts(fork, &head)?;
                let grown = head.domain.or(&back)?;
                let is_stable = grown == head.domain;
                domain = self.keeper.save(&grown, &head.diagrams)?;
                if is_stable {
                    self.known[part.number].domains = vec![domain];
                    return self.keeper.save(&past, &head.diagrams);
                }
            }
        }
        let head = self.head(part, Some(entry.order()))?;
        let [_, past] = self.reach_parts(fork, &head)?;
        self.keeper.save(&past, &head.diagrams)
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
struct AtHead<'f> {
    fork: &'f Fork,
    /// By step: what holds along it, if it leads past the loop.
    past: Vec<Sets>,
    /// So far.
    sets: Sets,
    /// The same, for the bodies.
    given: Assumptions,
}

impl AtHead<'_> {
    fn known(&self, head: &Head, subformula: usize) -> Bdd {
        self.sets[subformula].clone().unwrap_or_else(|| head.diagrams.constant(false))
    }

    fn set(&mut self, subformula: usize, set: Bdd, head: &Head, keeper: &mut Keeper) -> Result<(), Failure> {
        self.given[subformula] = Some(keeper.save(&set, &head.diagrams)?);
        self.sets[subformula] = Some(set);
        Ok(())
    }

    /// What holds at the head by all step edges, given what holds where the bodies begin.
    fn step(&self, head: &Head, closure: &Closure, number: usize, into: &[Sets]) -> Maybe<Bdd> {
        let none = || head.diagrams.constant(false);
        let known = |f: usize| self.known(head, f);
        let subformula = &closure.subformulas[number];
        head.joined(closure, subformula, &known, &|step| match self.fork.edges[step] {
            To::Exit => Ok(self.past[step][number].clone().unwrap_or_else(none)),
            To::Head => head.step(subformula, step, &known, &known, &known(number)),
            To::Part(body) => {
                let next = |f: usize| into[body][f].clone().unwrap_or_else(none);
                head.step(subformula, step, &known, &next, &next(number))
            }
        })
    }
}

/// The order in which the assumption on the longest subformula was written: a table with the same one reads it fast.
fn order_of(given: &Assumptions) -> Option<&[u32]> {
    given.iter().rev().flatten().next().map(Saved::order)
}

fn note_loops(part: &Part, is_inside: bool, is_in_loop: &mut [bool]) {
    is_in_loop[part.number] = is_inside;
    let is_inside = is_inside || matches!(part.kind, Kind::Loop(_));
    part.kind.parts().iter().for_each(|part| note_loops(part, is_inside, is_in_loop));
}
