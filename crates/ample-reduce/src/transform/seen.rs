//! What of a process is seen from outside: by properties and by other processes.

use std::collections::HashSet;

use ample_model::facts::{Cells, ChannelOperation, ChannelUse, EdgeFacts, Facts, Lens, Traits, Usage};
use ample_model::visit::{Visitor, walk_expr};
use ample_model::{
    Action, ChannelId, Expr, Initial, Instruction, LocationId, Pattern, ProcessId, Property, Question, Role, Scope,
    Shared, System, Variable, VariableId,
};

/// What is seen from outside.
pub(super) struct Seen {
    /// Global variables that properties or the monitor read.
    pub globals: HashSet<VariableId>,
    /// Local variables that properties or other processes read.
    pub locals: HashSet<(ProcessId, VariableId)>,
    /// Locations that somebody asks for by name, or sees because a handshake becomes possible there.
    pub locations: HashSet<(ProcessId, LocationId)>,
    /// Kinds of channels whose messages properties or the monitor look at; all kinds, if it is not known which.
    pub messages: HashSet<ChannelId>,
    /// Somebody asks where a process stands by number, whether it is enabled, or who has moved last: every step is seen.
    pub every_step: bool,
    /// Properties ask for the number of processes.
    pub process_count: bool,
    /// The global variable is read by a `provided` clause, or for the first value of a local one.
    is_shared: Vec<bool>,
    /// The process type whose only process alone uses the global variable, if there is one and nobody else sees it.
    owners: Vec<Option<ProcessId>>,
    /// The global variable is assigned somewhere.
    assigned: Vec<bool>,
}

impl Seen {
    /// By these properties, of runs on which these conditions hold again and again, and by the system itself.
    pub fn of(system: &System, facts: &Facts, properties: &[Property], justice: &[Expr]) -> Seen {
        let mut seen = Seen {
            globals: HashSet::new(),
            locals: HashSet::new(),
            locations: HashSet::new(),
            messages: HashSet::new(),
            every_step: system.uses_last || system.uses_priorities,
            process_count: false,
            is_shared: vec![false; system.globals.len()],
            owners: Vec::new(),
            assigned: vec![false; system.globals.len()],
        };
        let mut asked: Vec<&Expr> = justice.iter().chain(properties.iter().flat_map(expressions)).collect();
        if let Some(monitor) = &system.monitor {
            seen.messages.extend((0..system.channels.len()).map(ChannelId::from));
            asked.extend(monitor.observed.iter().map(|(_, channel)| channel));
            for edge in monitor.locations.iter().flatten() {
                asked.push(&edge.channel);
                asked.extend(edge.patterns.iter().filter_map(|pattern| match pattern {
                    Pattern::Match(expr) => Some(expr),
                    Pattern::Bind(_) | Pattern::Ignore => None,
                }));
            }
        }
        let lens = Lens::new(system);
        for expr in asked {
            // Without a process there are no locals, so that any type will do.
            let usage = lens.expr(ProcessId(0), expr);
            seen.globals.extend(usage.reads.iter().filter(|cells| cells.scope == Scope::Global).map(|c| c.variable));
            seen.usage(&usage);
            seen.messages.extend(looked_at(system, &usage));
            seen.asked_locations(expr);
            // What can be done where, and the labels of locations, change with steps that change nothing else.
            let Traits { timeout, non_progress, accepting, priority, process_count, .. } = usage.traits;
            seen.process_count |= process_count;
            seen.every_step |= timeout || non_progress || accepting || priority;
        }
        for (number, process) in system.processes.iter().enumerate() {
            if process.role == Role::Claim {
                continue;
            }
            process.provided.iter().for_each(|condition| seen.asked_locations(condition));
            facts.provided(number.into()).into_iter().for_each(|usage| seen.usage(usage));
            for edge in &process.edges {
                edge.expressions().into_iter().for_each(|expr| seen.asked_locations(expr));
            }
        }
        facts.edges().filter(|edge| system.process(edge.process).role == Role::Process).for_each(|edge| {
            seen.usage(&edge.all);
        });
        if waits_for_handshakes(system, facts) {
            seen.locations.extend(handshake_locations(system, facts));
        }
        seen.find_owners(system, facts);
        seen
    }

    fn usage(&mut self, usage: &Usage) {
        self.locals.extend(usage.remote_reads.iter().map(|(process, cells)| (*process, cells.variable)));
        let traits = &usage.traits;
        self.every_step |= traits.enabled || traits.location_of || traits.last_mover || traits.heap;
    }

    fn asked_locations(&mut self, expr: &Expr) {
        struct Locations<'s>(&'s mut HashSet<(ProcessId, LocationId)>, HashSet<usize>);
        impl<'a> Visitor<'a> for Locations<'_> {
            fn expr(&mut self, expr: &'a Expr) {
                if let Expr::At { of, locations, .. } = expr {
                    self.0.extend(locations.iter().map(|location| (*of, *location)));
                }
                walk_expr(self, expr);
            }

            fn shared(&mut self, shared: &'a Shared) {
                if self.1.insert(shared.address()) {
                    self.expr(shared);
                }
            }
        }
        Locations(&mut self.locations, HashSet::new()).expr(expr);
    }

    /// Finds the global variables that only one process uses.
    fn find_owners(&mut self, system: &System, facts: &Facts) {
        let lens = Lens::new(system);
        let mut users: Vec<HashSet<ProcessId>> = vec![HashSet::new(); system.globals.len()];
        for edge in facts.edges() {
            let is_global = |cells: &&Cells| cells.scope == Scope::Global;
            for cells in edge.all.reads.iter().chain(&edge.all.writes).filter(is_global) {
                users[cells.variable.index()].insert(edge.process);
            }
            for cells in edge.all.writes.iter().filter(is_global) {
                self.assigned[cells.variable.index()] = true;
            }
        }
        for (number, process) in system.processes.iter().enumerate() {
            let outside = facts.provided(number.into()).into_iter().flat_map(|usage| &usage.reads);
            outside
                .filter(|cells| cells.scope == Scope::Global)
                .for_each(|c| self.is_shared[c.variable.index()] = true);
            let first_values = process.locals.iter().flat_map(first_values);
            for expr in first_values {
                let usage = lens.expr(number.into(), expr);
                let globals = usage.reads.iter().filter(|cells| cells.scope == Scope::Global);
                globals.for_each(|cells| self.is_shared[cells.variable.index()] = true);
            }
        }
        let spawned = spawned(system);
        let alone: HashSet<ProcessId> = (0..system.processes.len())
            .map(ProcessId::from)
            .filter(|id| {
                let started = system.start.iter().filter(|instance| instance.process == *id).count();
                system.process(*id).role == Role::Process && started == 1 && !spawned.contains(id)
            })
            .collect();
        let owner = |variable: usize| {
            let user = users[variable].iter().next().filter(|_| users[variable].len() == 1)?;
            let is_seen = self.is_shared[variable] || self.globals.contains(&VariableId::from(variable));
            (!is_seen && alone.contains(user)).then_some(*user)
        };
        self.owners = (0..system.globals.len()).map(owner).collect();
    }

    /// Nobody but this process can tell what happens to the cells.
    pub fn is_private(&self, process: ProcessId, cells: &Cells) -> bool {
        match cells.scope {
            Scope::Local => !self.locals.contains(&(process, cells.variable)),
            Scope::Global => self.owners[cells.variable.index()] == Some(process),
        }
    }

    /// The cells do not change unless this process changes them.
    pub fn is_stable(&self, process: ProcessId, cells: &Cells) -> bool {
        match cells.scope {
            Scope::Local => true,
            Scope::Global => !self.assigned[cells.variable.index()] || self.is_private(process, cells),
        }
    }

    /// The global variable is read by a `provided` clause, or for the first value of a local one.
    pub fn is_read_outside(&self, variable: VariableId) -> bool {
        self.is_shared[variable.index()]
    }

    /// The process of that type that alone uses the global variable.
    pub fn owner(&self, variable: VariableId) -> Option<ProcessId> {
        self.owners[variable.index()]
    }
}

/// The kinds of channels whose messages are looked at in passing.
pub(super) fn looked_at(system: &System, usage: &Usage) -> Vec<ChannelId> {
    let polls = usage.channels.iter().filter(|channel| channel.operation == ChannelOperation::Poll);
    let kinds = |channel: &ChannelUse| match &channel.kinds {
        Some(kinds) => kinds.clone(),
        None => (0..system.channels.len()).map(ChannelId::from).collect(),
    };
    polls.flat_map(kinds).collect()
}

/// The communication of the edge may be a handshake.
pub(super) fn may_shake_hands(system: &System, facts: &EdgeFacts) -> bool {
    let Some(usage) = &facts.communication else { return false };
    usage.channels.iter().any(|channel| match &channel.kinds {
        Some(kinds) => kinds.iter().any(|kind| system.channels[kind.index()].capacity == 0),
        None => true,
    })
}

/// Some edge is executable only where a handshake is not possible: it sees that another process comes to a location where
/// it offers one.
fn waits_for_handshakes(system: &System, facts: &Facts) -> bool {
    facts
        .edges()
        .any(|edge| edge.all.blocked.iter().any(|other| may_shake_hands(system, facts.edge(edge.process, *other))))
}

/// The locations where a process offers a handshake.
fn handshake_locations(system: &System, facts: &Facts) -> Vec<(ProcessId, LocationId)> {
    let offers = facts.edges().filter(|edge| may_shake_hands(system, edge));
    offers.map(|edge| (edge.process, system.process(edge.process).edges[edge.edge.index()].from)).collect()
}

/// The state expressions of a property.
pub(super) fn expressions(property: &Property) -> &[Expr] {
    match &property.question {
        Question::Invariant(expr) | Question::Bound(expr) => std::slice::from_ref(expr),
        Question::Ltl(temporal) | Question::Ctl(temporal) => &temporal.atoms,
        Question::Automaton(automaton) => &automaton.atoms,
        Question::Distance(distance) => &distance.atoms,
        Question::Deadlock | Question::Assertions | Question::Never(_) | Question::Acceptance | Question::Progress => {
            &[]
        }
    }
}

/// The expressions that a variable starts with.
fn first_values(variable: &Variable) -> impl Iterator<Item = &Expr> {
    variable.initial.iter().filter_map(|(_, initial)| match initial {
        Initial::Value(expr) => Some(expr),
        _ => None,
    })
}

/// The process types that are spawned.
fn spawned(system: &System) -> HashSet<ProcessId> {
    let instructions = system.processes.iter().flat_map(|process| &process.edges).flat_map(|edge| &edge.effect);
    let spawned = instructions.filter_map(|instruction| match instruction {
        Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) => {
            Some(*process)
        }
        _ => None,
    });
    spawned.collect()
}
