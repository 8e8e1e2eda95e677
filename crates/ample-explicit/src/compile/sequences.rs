//! Which process types can be alive together, in the order of their creation, and a number for each such sequence.
//!
//! The sequence of live process types determines where everything lies in a state, and a state begins with its number.
//! That number follows from the sequence alone, so that the bytes of a state mean the same to every search, thread and
//! process that compiles the same model: it is the rank of the sequence among all that the text of the model allows,
//! the shorter ones first, then in the order of the process types.
//!
//! The sequences that the text allows are the words of a small automaton: a part of the processes of the start, then
//! processes that were created later, in an order in which one process can come by the edges that create them. That keeps
//! the numbers small: an `init` that creates ten processes of different types, one after the other, has a thousand
//! sequences, and one that creates any number of processes of one type has 256. Where there are very many, a rank of more
//! than 31 bits is replaced by a hash of the sequence.

use std::collections::{BTreeMap, HashMap, HashSet};

use ample_budget::{Interrupted, Pace};
use ample_model::{Action, EdgeId, Instruction, ProcessType, System};

/// The number of a sequence: what a state begins with.
pub type SequenceNumber = u32;

/// The bit of a number that is a hash.
const HASHED: SequenceNumber = 1 << 31;

/// The order of more edges that create processes is not looked at.
const MAX_SITES: usize = 64;

/// An automaton with more nodes is replaced by one that knows less.
const MAX_NODES: usize = 512;

/// An edge that creates a process.
struct Site {
    /// The type of the process.
    creates: u16,
    /// The type of the process that takes the edge.
    by: usize,
    edge: usize,
}

/// A node of the automaton: by process type, which node comes next.
type Node = Vec<(u16, u32)>;

/// All sequences of live process types that a model allows.
#[derive(Debug)]
pub struct Sequences {
    /// The automaton. Its first node has read nothing.
    nodes: Vec<Node>,
    /// How many words of that length lead on from that node.
    words: Vec<Vec<u64>>,
    /// How many words are shorter than that.
    shorter: Vec<u64>,
}

impl Sequences {
    /// Finds out what can be created when.
    pub fn of(system: &System, pace: &mut Pace<'_>) -> Result<Sequences, Interrupted> {
        let start: Vec<u16> = system.start.iter().map(|instance| instance.process.index() as u16).collect();
        let sites = sites(system, pace)?;
        let most = if sites.is_empty() { start.len() } else { start.len().max(system.max_processes.min(255) as usize) };
        let nodes = match follows(system, &sites, pace)? {
            Some(follows) => automaton(&start, &sites, Some(&follows), pace)?,
            None => None,
        };
        let nodes = match nodes {
            Some(nodes) => nodes,
            None => automaton(&start, &one_for_each_type(sites), None, pace)?.unwrap_or_default(),
        };
        let mut words = vec![vec![1; nodes.len()]];
        let mut shorter: Vec<u64> = vec![0, 1];
        for length in 0..most {
            pace.steps(nodes.len())?;
            let on =
                |node: &Node| node.iter().fold(0u64, |sum, (_, to)| sum.saturating_add(words[length][*to as usize]));
            let next: Vec<u64> = nodes.iter().map(on).collect();
            shorter.push(next.first().map_or(0, |all| shorter[length + 1].saturating_add(*all)));
            words.push(next);
        }
        Ok(Sequences { nodes, words, shorter })
    }

    /// How many bytes a number takes.
    pub fn number_bytes(&self) -> u32 {
        let all = self.shorter.last().copied().unwrap_or(0);
        if all <= 1 << 16 { 2 } else { 4 }
    }

    /// The number of a sequence; none if the model does not allow it.
    pub fn number(&self, sequence: &[u16]) -> Option<SequenceNumber> {
        let mut rank = *self.shorter.get(sequence.len()).filter(|_| sequence.len() < self.words.len())?;
        let mut node = 0;
        for (position, process) in sequence.iter().enumerate() {
            let rest = &self.words[sequence.len() - position - 1];
            let next = &self.nodes[node];
            let found = next.binary_search_by_key(process, |(by, _)| *by).ok()?;
            rank = next[..found].iter().fold(rank, |rank, (_, to)| rank.saturating_add(rest[*to as usize]));
            node = next[found].1 as usize;
        }
        Some(if rank < u64::from(HASHED) { rank as SequenceNumber } else { HASHED | hash(sequence) })
    }

    /// No number is a hash.
    pub fn are_ranked(&self) -> bool {
        self.shorter.last().is_none_or(|all| *all <= u64::from(HASHED))
    }

    /// The number is a hash, from which the sequence cannot be told.
    pub fn is_hash(&self, number: SequenceNumber) -> bool {
        number & HASHED != 0
    }

    /// The sequence of that number; none if there is none, or if the number is a hash.
    pub fn sequence(&self, number: SequenceNumber) -> Option<Vec<u16>> {
        let mut rank = u64::from(number);
        if self.is_hash(number) || self.shorter.last().is_none_or(|all| rank >= *all) {
            return None;
        }
        let length = self.shorter.partition_point(|shorter| *shorter <= rank) - 1;
        rank -= self.shorter[length];
        let mut sequence = Vec::with_capacity(length);
        let mut node = 0;
        for rest in (0..length).rev() {
            let (process, to) = *self.nodes[node].iter().find(|(_, to)| {
                let words = self.words[rest][*to as usize];
                let is_there = rank < words;
                rank -= if is_there { 0 } else { words };
                is_there
            })?;
            sequence.push(process);
            node = to as usize;
        }
        Some(sequence)
    }
}

fn hash(sequence: &[u16]) -> SequenceNumber {
    // FNV-1a, which is the same on every machine.
    let step = |hash: u64, process: &u16| (hash ^ u64::from(*process)).wrapping_mul(0x0100_0000_01b3);
    (sequence.iter().fold(0xcbf2_9ce4_8422_2325, step) >> 33) as SequenceNumber
}

/// All edges that create processes.
fn sites(system: &System, pace: &mut Pace<'_>) -> Result<Vec<Site>, Interrupted> {
    let mut sites = Vec::new();
    for (by, process) in system.processes.iter().enumerate() {
        for (edge, code) in process.edges.iter().enumerate() {
            pace.steps(1 + code.effect.len())?;
            let mut here: Vec<u16> = code.effect.iter().filter_map(created).collect();
            here.sort_unstable();
            here.dedup();
            sites.extend(here.into_iter().map(|creates| Site { creates, by, edge }));
        }
    }
    Ok(sites)
}

/// The type of the process that an instruction creates.
fn created(instruction: &Instruction) -> Option<u16> {
    match instruction {
        Instruction::Do(Action::Spawn { process, .. }) | Instruction::Try(Action::Spawn { process, .. }, _) => {
            Some(process.index() as u16)
        }
        _ => None,
    }
}

/// As many sites as there are types that are created.
fn one_for_each_type(mut sites: Vec<Site>) -> Vec<Site> {
    sites.sort_by_key(|site| site.creates);
    sites.dedup_by_key(|site| site.creates);
    sites
}

/// For each edge those that may create a process after it. Of the edges of a process that is there only once, those that
/// can be reached from it. None if there are too many.
fn follows(system: &System, sites: &[Site], pace: &mut Pace<'_>) -> Result<Option<Vec<Vec<usize>>>, Interrupted> {
    if sites.len() > MAX_SITES {
        return Ok(None);
    }
    let is_single = |process: usize| {
        system.start.iter().filter(|instance| instance.process.index() == process).count() == 1
            && sites.iter().all(|site| usize::from(site.creates) != process)
    };
    let mut follows = Vec::new();
    for one in sites {
        let after =
            if is_single(one.by) { Some(edges_after(&system.processes[one.by], one.edge, pace)?) } else { None };
        let may_follow = |other: &Site| match &after {
            Some(after) => other.by != one.by || other.edge == one.edge || after.contains(&other.edge),
            None => true,
        };
        follows.push((0..sites.len()).filter(|number| may_follow(&sites[*number])).collect());
    }
    Ok(Some(follows))
}

/// The edges that a process can take after that one.
fn edges_after(process: &ProcessType, edge: usize, pace: &mut Pace<'_>) -> Result<HashSet<usize>, Interrupted> {
    let mut edges = HashSet::new();
    let mut open = vec![process.edges[edge].to];
    let mut seen = HashSet::from([process.edges[edge].to]);
    while let Some(location) = open.pop() {
        let Some(location) = process.locations.get(location.index()) else { continue };
        pace.steps(1 + location.edges.len())?;
        for edge in location.edges.iter().map(|edge: &EdgeId| edge.index()) {
            let Some(to) = process.edges.get(edge).map(|edge| edge.to) else { continue };
            edges.insert(edge);
            if seen.insert(to) {
                open.push(to);
            }
        }
    }
    Ok(edges)
}

/// The deterministic automaton of the sequences; none if it is too large. It reads the processes of the start one after
/// the other, and from anywhere there on those that are created: in any order, unless it is known what may follow what.
fn automaton(
    start: &[u16],
    sites: &[Site],
    follows: Option<&[Vec<usize>]>,
    pace: &mut Pace<'_>,
) -> Result<Option<Vec<Node>>, Interrupted> {
    // What may have been read last: so many of the start, or a process created by the site of that number beyond them.
    let first_site = start.len() + 1;
    let everything: Vec<usize> = (0..sites.len()).collect();
    let most = MAX_NODES + start.len();
    let mut numbers: HashMap<Vec<usize>, u32> = HashMap::from([(vec![0], 0)]);
    let mut open = vec![vec![0]];
    let mut nodes: Vec<Node> = Vec::new();
    while nodes.len() < open.len() {
        if open.len() > most && follows.is_some() {
            return Ok(None);
        }
        let mut next: BTreeMap<u16, Vec<usize>> = BTreeMap::new();
        for last in &open[nodes.len()] {
            if let Some(process) = start.get(*last) {
                next.entry(*process).or_default().push(last + 1);
            }
            let created = match (follows, last.checked_sub(first_site)) {
                (Some(follows), Some(site)) => &follows[site],
                _ => &everything,
            };
            pace.steps(1 + created.len())?;
            for site in created {
                let read = if follows.is_some() { first_site + site } else { first_site };
                next.entry(sites[*site].creates).or_default().push(read);
            }
        }
        let mut edges = Vec::new();
        for (process, mut set) in next {
            set.sort_unstable();
            set.dedup();
            let fresh = numbers.len() as u32;
            let number = *numbers.entry(set.clone()).or_insert(fresh);
            if number == fresh {
                open.push(set);
            }
            edges.push((process, number));
        }
        nodes.push(edges);
    }
    Ok(Some(nodes))
}
