//! Clusters of conjuncts, and the order in which an image takes them.

use crate::diagram::{Bdd, Diagrams, Maybe};

/// A bit: the number of its pair, and whether it is the one of the next state.
pub type Literal = (u32, bool);

/// A cluster has at most so many nodes.
const MAX_CLUSTER: usize = 2000;

/// The weights of Ranjan et al.: of bits that can be quantified at once, of bits that are to be quantified, of bits that
/// are introduced, and of how deep in the order the bits stand.
const WEIGHTS: [f64; 4] = [6.0, 1.0, 1.0, 2.0];

/// Which bits of a step are quantified.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// The current state: what remains is the next one.
    Image,
    /// The next state: what remains is the current one.
    Preimage,
}

/// A part of the step relation, with the bits it depends on.
#[derive(Clone, Debug)]
pub struct Conjunct {
    /// The relation.
    pub relation: Bdd,
    literals: Vec<Literal>,
}

impl Conjunct {
    /// Of that relation.
    pub fn new(relation: Bdd) -> Conjunct {
        let literals = relation.literals();
        Conjunct { relation, literals }
    }

    /// The bits that it depends on.
    pub fn literals(&self) -> &[Literal] {
        &self.literals
    }
}

/// Clusters, each with the bits that are quantified once it has been taken.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The bits that no cluster reads.
    first: Bdd,
    clusters: Vec<(Bdd, Bdd)>,
}

impl Schedule {
    /// The conjunction of a set with all clusters, over what remains.
    pub fn product(&self, set: &Bdd) -> Maybe<Bdd> {
        let mut product = set.exists(&self.first)?;
        for (relation, quantified) in &self.clusters {
            product = product.and_exists(relation, quantified)?;
        }
        Ok(product)
    }

    /// The clusters.
    pub fn relations(&self) -> impl Iterator<Item = &Bdd> {
        self.clusters.iter().map(|(relation, _)| relation)
    }

    /// The same for products that only states of `care` matter in: with smaller relations, where there are any. None depends
    /// on bits that it did not depend on before.
    pub fn simplified(&self, care: &Bdd) -> Maybe<Schedule> {
        let mut clusters = Vec::with_capacity(self.clusters.len());
        for (relation, quantified) in &self.clusters {
            let smaller = relation.restrict(care)?;
            let relation = if smaller.nodes() < relation.nodes() { &smaller } else { relation };
            clusters.push((relation.clone(), quantified.clone()));
        }
        Ok(Schedule { first: self.first.clone(), clusters })
    }

    /// The conjuncts in a good order; `bits` pairs are those of states.
    pub fn of(diagrams: &Diagrams, conjuncts: &[Conjunct], bits: u32, direction: Direction) -> Maybe<Schedule> {
        let is_quantified = quantified(bits, direction);
        let order = ordered(diagrams, conjuncts, &is_quantified);
        let pairs = diagrams.pairs();
        let all = (0..pairs).flat_map(|pair| [(pair, false), (pair, true)]).filter(|literal| is_quantified(*literal));
        // After which cluster a bit is not read any more.
        let mut last = vec![[None; 2]; pairs as usize];
        for (place, number) in order.iter().enumerate() {
            for (pair, is_next) in &conjuncts[*number].literals {
                last[*pair as usize][usize::from(*is_next)] = Some(place);
            }
        }
        let mut first = Vec::new();
        let mut after = vec![Vec::new(); order.len()];
        for (pair, is_next) in all {
            match last[pair as usize][usize::from(is_next)] {
                Some(place) => after[place].push((pair, is_next)),
                None => first.push((pair, is_next)),
            }
        }
        let mut clusters = Vec::new();
        for (number, literals) in order.iter().zip(after) {
            clusters.push((conjuncts[*number].relation.clone(), diagrams.cube_of(&literals)?));
        }
        Ok(Schedule { first: diagrams.cube_of(&first)?, clusters })
    }
}

/// Whether a bit is quantified: inputs always are.
fn quantified(bits: u32, direction: Direction) -> impl Fn(Literal) -> bool {
    move |(pair, is_next)| pair >= bits || is_next == (direction == Direction::Preimage)
}

/// Puts conjuncts together as long as they stay small, in the order of images.
pub fn clustered(diagrams: &Diagrams, conjuncts: &[Conjunct], bits: u32) -> Maybe<Vec<Conjunct>> {
    let order = ordered(diagrams, conjuncts, &quantified(bits, Direction::Image));
    let mut clusters: Vec<Bdd> = Vec::new();
    let mut size = 0;
    for number in order {
        let relation = &conjuncts[number].relation;
        let nodes = relation.nodes();
        if let Some(last) = clusters.last_mut()
            && size + nodes <= MAX_CLUSTER
        {
            let both = last.and(relation)?;
            let together = both.nodes();
            if together <= MAX_CLUSTER {
                (*last, size) = (both, together);
                continue;
            }
        }
        clusters.push(relation.clone());
        size = nodes;
    }
    Ok(clusters.into_iter().map(Conjunct::new).collect())
}

/// The conjuncts as Ranjan et al. order them: the one with the largest benefit next.
fn ordered(diagrams: &Diagrams, conjuncts: &[Conjunct], is_quantified: &dyn Fn(Literal) -> bool) -> Vec<usize> {
    let pairs = diagrams.pairs() as usize;
    let index = |(pair, is_next): Literal| pair as usize * 2 + usize::from(is_next);
    let mut depth = vec![0; pairs];
    diagrams.order().iter().enumerate().for_each(|(place, pair)| depth[*pair as usize] = place + 1);
    // How many of the conjuncts that are left read each bit.
    let mut readers = vec![0usize; pairs * 2];
    for literal in conjuncts.iter().flat_map(|conjunct| &conjunct.literals) {
        readers[index(*literal)] += 1;
    }
    let is_read = |readers: &[usize], wanted: bool| {
        let literals = (0..pairs as u32).flat_map(|pair| [(pair, false), (pair, true)]);
        literals.filter(|literal| readers[index(*literal)] > 0 && is_quantified(*literal) == wanted).count()
    };
    let (mut to_quantify, mut to_introduce) = (is_read(&readers, true), is_read(&readers, false));
    let mut is_introduced = vec![false; pairs * 2];
    let mut left: Vec<usize> = (0..conjuncts.len()).collect();
    let mut order = Vec::with_capacity(conjuncts.len());
    while !left.is_empty() {
        let deepest = |literals: &[Literal]| {
            literals.iter().filter(|literal| is_quantified(**literal)).map(|(pair, _)| depth[*pair as usize]).max()
        };
        let deepest_of_all = left.iter().filter_map(|number| deepest(&conjuncts[*number].literals)).max().unwrap_or(1);
        let benefit = |number: usize| {
            let literals = &conjuncts[number].literals;
            let (mut read, mut last, mut new) = (0, 0, 0);
            for literal in literals {
                if is_quantified(*literal) {
                    read += 1;
                    last += usize::from(readers[index(*literal)] == 1);
                } else {
                    new += usize::from(!is_introduced[index(*literal)]);
                }
            }
            let share = |part: usize, whole: usize| part as f64 / whole.max(1) as f64;
            let depth = share(deepest(literals).unwrap_or(0), deepest_of_all);
            WEIGHTS[0] * share(last, read) + WEIGHTS[1] * share(read, to_quantify)
                - WEIGHTS[2] * share(new, to_introduce)
                + WEIGHTS[3] * depth
        };
        let place = (0..left.len())
            .map(|place| (place, benefit(left[place])))
            .reduce(|best, other| if other.1 > best.1 { other } else { best })
            .map_or(0, |(place, _)| place);
        let number = left.remove(place);
        for literal in &conjuncts[number].literals {
            readers[index(*literal)] -= 1;
            if is_quantified(*literal) {
                to_quantify -= usize::from(readers[index(*literal)] == 0);
            } else if !std::mem::replace(&mut is_introduced[index(*literal)], true) {
                to_introduce -= 1;
            }
        }
        order.push(number);
    }
    order
}
