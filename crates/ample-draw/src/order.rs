//! The order of the vertices in each layer: few edges shall cross.
//!
//! Layer by layer, down and up again, vertices are sorted by the mean position of their neighbours in the layer before; the order
//! with the fewest crossings is kept.

use crate::layers::Layers;

/// So often all layers are sorted, down or up.
const SWEEPS: usize = 12;

/// Chooses the order.
pub(crate) fn sort(layers: &mut Layers) {
    let mut position = vec![0; layers.layer.len()];
    number(layers, &mut position);
    let mut best = (crossings(layers, &position), layers.layers.clone());
    for sweep in 0..SWEEPS {
        if best.0 == 0 {
            break;
        }
        let is_down = sweep % 2 == 0;
        let height = layers.layers.len();
        for step in 1..height {
            let at = if is_down { step } else { height - 1 - step };
            let neighbours = if is_down { &layers.above } else { &layers.below };
            let key = |vertex: usize| {
                let near = &neighbours[vertex];
                let sum: usize = near.iter().map(|other| position[*other]).sum();
                // Without a neighbour it stays where it is.
                if near.is_empty() { position[vertex] as f64 } else { sum as f64 / near.len() as f64 }
            };
            let mut sorted: Vec<(f64, usize)> =
                layers.layers[at].iter().map(|vertex| (key(*vertex), *vertex)).collect();
            sorted.sort_by(|one, other| one.0.total_cmp(&other.0));
            for (place, (_, vertex)) in sorted.into_iter().enumerate() {
                layers.layers[at][place] = vertex;
                position[vertex] = place;
            }
        }
        let count = crossings(layers, &position);
        if count < best.0 {
            best = (count, layers.layers.clone());
        }
    }
    layers.layers = best.1;
}

fn number(layers: &Layers, position: &mut [usize]) {
    for layer in &layers.layers {
        for (place, vertex) in layer.iter().enumerate() {
            position[*vertex] = place;
        }
    }
}

/// How many pairs of edges cross.
fn crossings(layers: &Layers, position: &[usize]) -> u64 {
    let mut count = 0;
    for (layer, next) in layers.layers.iter().zip(layers.layers.iter().skip(1)) {
        // How many edges from the left end where, as a tree of sums (P. Fenwick, 1994).
        let mut tree = vec![0_u64; next.len() + 1];
        let mut before = 0;
        for vertex in layer {
            let ends = layers.below[*vertex].iter().map(|end| position[*end]);
            for end in ends.clone() {
                count += before - sum(&tree, end + 1);
            }
            for end in ends {
                add(&mut tree, end);
                before += 1;
            }
        }
    }
    count
}

/// How many are in the first places.
fn sum(tree: &[u64], mut places: usize) -> u64 {
    let mut sum = 0;
    while places > 0 {
        sum += tree[places];
        places &= places - 1;
    }
    sum
}

fn add(tree: &mut [u64], place: usize) {
    let mut at = place + 1;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use ample_random::Random;

    use super::*;

    fn counted(layers: &Layers) -> u64 {
        let mut position = vec![0; layers.layer.len()];
        number(layers, &mut position);
        crossings(layers, &position)
    }

    /// By looking at all pairs.
    fn slowly(layers: &Layers) -> u64 {
        let mut position = vec![0; layers.layer.len()];
        number(layers, &mut position);
        let mut edges = Vec::new();
        for chain in &layers.chains {
            edges.extend(chain.windows(2).map(|pair| (layers.layer[pair[0]], position[pair[0]], position[pair[1]])));
        }
        let cross = |one: &(usize, usize, usize), other: &(usize, usize, usize)| {
            one.0 == other.0 && one.1 < other.1 && one.2 > other.2
        };
        edges.iter().map(|one| edges.iter().filter(|other| cross(one, other)).count() as u64).sum()
    }

    #[test]
    fn two_edges_that_cross_are_untangled() {
        let mut layers = Layers::of(5, &[(0, 1), (0, 2), (1, 4), (2, 3)]);
        layers.layers[4] = vec![3, 4];
        assert_eq!(counted(&layers), 1);
        sort(&mut layers);
        assert_eq!(counted(&layers), 0);
    }

    #[test]
    fn crossings_of_random_graphs_are_counted_and_not_increased() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let nodes = 2 + random.below(25_usize);
            let edges: Vec<(usize, usize)> = (0..random.below(60))
                .map(|_| (random.below(nodes), random.below(nodes)))
                .filter(|(from, to)| from != to)
                .collect();
            let mut layers = Layers::of(nodes, &edges);
            let before = counted(&layers);
            assert_eq!(before, slowly(&layers), "{seed}");
            let mut vertices: Vec<usize> = layers.layers.concat();
            sort(&mut layers);
            assert!(counted(&layers) <= before, "{seed}");
            let mut sorted = layers.layers.concat();
            vertices.sort_unstable();
            sorted.sort_unstable();
            assert_eq!(vertices, sorted, "{seed}");
        }
    }
}
