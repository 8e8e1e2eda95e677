//! Which edges a search has taken, and which it may have ignored: what is left are the statements that no run executes.
//!
//! A search with persistent sets takes every transition that is executable in a reachable state if a proviso keeps it from
//! ignoring one for ever (P. Godefroid's thesis, chapter 6). Where the proviso is waived, because nothing that is looked
//! for lies ahead, only edges that lie ahead of that state can be ignored: those on the paths through the control-flow
//! graphs from where its processes stand, and of the processes that are created on them. So it is enough to remember these
//! locations; or, if all edges are looked for, not to waive the proviso while one of those ahead has not been taken.

use ample_engine::unreached::{Coverage, Taken};
use ample_model::{Action, EdgeId, Instruction, ProcessId, Role, System};
use ample_reduce::bits::Bits;

use super::Transition;
use super::program::{EdgeCode, Program};

/// Sets of edges, by their number in the program. Nothing is noted unless that is asked for.
#[derive(Clone, Debug, Default)]
pub(super) struct Executed {
    completed: Vec<u64>,
    failed: Vec<u64>,
}

impl Executed {
    /// No edge of so many was taken.
    pub(super) fn of(edges: usize) -> Executed {
        let words = vec![0; edges.div_ceil(64)];
        Executed { completed: words.clone(), failed: words }
    }

    /// A transition was taken; if it has failed, it was a run-time error.
    #[inline(always)]
    pub(super) fn note(&mut self, transition: &Transition, has_failed: bool) {
        let set = if has_failed { &mut self.failed } else { &mut self.completed };
        insert(set, transition.edge());
        if let Some((_, edge)) = transition.partner() {
            insert(set, edge);
        }
    }

    /// The same of an edge that was taken without a fault.
    #[cfg(feature = "native")]
    #[inline]
    pub(super) fn note_edge(&mut self, edge: u32) {
        insert(&mut self.completed, edge);
    }

    /// Something is to be noted.
    #[cfg(feature = "native")]
    pub(super) fn is_noted(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Takes over what another search of the same program has noted.
    pub(super) fn absorb(&mut self, other: &Executed) {
        let join = |own: &mut Vec<u64>, other: &[u64]| own.iter_mut().zip(other).for_each(|(own, other)| *own |= other);
        join(&mut self.completed, &other.completed);
        join(&mut self.failed, &other.failed);
    }

    fn contains(&self, edge: u32) -> bool {
        contains(&self.completed, edge) || contains(&self.failed, edge)
    }

    /// An edge of a process was not taken.
    pub(super) fn has_open(&self, program: &Program, system: &System) -> bool {
        let is_process = |edge: &EdgeCode| system.processes[usize::from(edge.process)].role == Role::Process;
        let mut edges = program.edges.iter().enumerate();
        edges.any(|(number, edge)| is_process(edge) && !self.contains(number as u32))
    }

    /// The same by process types; `None` if nothing was noted.
    pub(super) fn coverage(&self, program: &Program) -> Option<Coverage> {
        if self.completed.len() * 64 < program.edges.len() {
            return None;
        }
        let mut coverage = Coverage::default();
        for (number, edge) in program.edges.iter().enumerate() {
            let taken = match number as u32 {
                number if contains(&self.completed, number) => Taken::Completed,
                number if contains(&self.failed, number) => Taken::Failed,
                _ => Taken::Never,
            };
            coverage.note(ProcessId(edge.process.into()), EdgeId(edge.id), taken);
        }
        Some(coverage)
    }
}

#[inline(always)]
fn insert(set: &mut [u64], number: u32) {
    if let Some(word) = set.get_mut(number as usize / 64) {
        *word |= 1 << (number % 64);
    }
}

fn contains(set: &[u64], number: u32) -> bool {
    set.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 != 0)
}

/// What a reduced search does about edges that it has not taken yet.
#[derive(Debug, Default)]
pub(super) enum Pending {
    /// Nothing.
    #[default]
    Unasked,
    /// It remembers where the proviso was waived.
    Waived(ControlFlow, Bits),
    /// The proviso is not waived before they are taken.
    Awaited(ControlFlow, Awaited),
}

impl Pending {
    /// In a state in which the proviso need not hold for anything else that is looked for, processes stand at these
    /// locations: must it hold because of an edge that has not been taken yet?
    pub(super) fn demands(&mut self, executed: &Executed, mut locations: impl Iterator<Item = u32>) -> bool {
        match self {
            Pending::Unasked => false,
            Pending::Waived(_, waived) => {
                locations.for_each(|location| {
                    waived.insert(location);
                });
                false
            }
            Pending::Awaited(flow, awaited) => locations.any(|location| awaited.is_ahead(location, flow, executed)),
        }
    }

    /// An edge that was not taken may have been ignored.
    pub(super) fn ignores_some(&self, executed: &Executed) -> bool {
        match self {
            Pending::Unasked => true,
            Pending::Waived(flow, waived) => flow.first_ahead(waived.iter(), executed).is_some(),
            Pending::Awaited(..) => false,
        }
    }
}

/// The edges ahead that have not been taken yet.
#[derive(Debug, Default)]
pub(super) struct Awaited {
    /// By location: one of them, when that was last asked.
    known: Vec<Option<u32>>,
    /// The locations ahead of which there is none, and will not be.
    done: Bits,
}

impl Awaited {
    /// There is one ahead of the location.
    fn is_ahead(&mut self, location: u32, flow: &ControlFlow, executed: &Executed) -> bool {
        if self.done.contains(location) {
            return false;
        }
        let place = location as usize;
        if self.known.len() <= place {
            self.known.resize(place + 1, None);
        }
        if self.known[place].is_some_and(|edge| !executed.contains(edge)) {
            return true;
        }
        self.known[place] = flow.first_ahead([location].into_iter(), executed);
        if self.known[place].is_none() {
            self.done.insert(location);
        }
        self.known[place].is_some()
    }
}

/// The control-flow graphs of all process types.
#[derive(Debug)]
pub(super) struct ControlFlow {
    /// By location of the program: its edges, each with the locations to which it leads, those where processes that it
    /// creates begin among them.
    edges: Vec<Vec<(u32, Vec<u32>)>>,
}

impl ControlFlow {
    pub(super) fn of(system: &System, program: &Program) -> ControlFlow {
        let segments = &program.layout.segments;
        let begins = |process: ProcessId| segments[process.index()].first_location + system.process(process).initial.0;
        let leads = |number: u32| {
            let code = &program.edges[number as usize];
            let edge = &system.processes[usize::from(code.process)].edges[code.id as usize];
            let to = segments[usize::from(code.process)].first_location + edge.to.0;
            let created = edge.effect.iter().filter_map(|instruction| match instruction {
                Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) => {
                    Some(begins(*process))
                }
                _ => None,
            });
            (number, [to].into_iter().chain(created).collect())
        };
        let edges =
            program.locations.iter().map(|location| (location.first_edge..location.end_edge).map(leads).collect());
        ControlFlow { edges: edges.collect() }
    }

    /// The first edge ahead of one of these locations that has not been taken.
    fn first_ahead(&self, from: impl Iterator<Item = u32>, executed: &Executed) -> Option<u32> {
        let mut seen = Bits::new();
        let mut open: Vec<u32> = from.filter(|location| seen.insert(*location)).collect();
        while let Some(location) = open.pop() {
            for (edge, to) in self.edges.get(location as usize).into_iter().flatten() {
                if !executed.contains(*edge) {
                    return Some(*edge);
                }
                open.extend(to.iter().copied().filter(|location| seen.insert(*location)));
            }
        }
        None
    }
}
