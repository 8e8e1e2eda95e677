//! Where vertices stand from left to right, when their order is known.
//!
//! Each vertex wants to stand where its neighbours are on average. In one layer, the places with the least sum of squared distances
//! from what is wanted, in the given order and not too near to each other, are those of an isotonic regression, found by
//! pooling adjacent violators (M. Ayer et al., *An empirical distribution function for sampling with incomplete information*, 1955).

use crate::layers::Layers;

/// So often all layers are placed.
const SWEEPS: usize = 8;

/// The middle of each vertex, if they reach so far to the left and to the right of it and have that much between them. The first
/// so many vertices are nodes.
pub(crate) fn place(layers: &Layers, nodes: usize, reach: &[(f64, f64)], gap: f64) -> Vec<f64> {
    let mut x = vec![0.0; layers.layer.len()];
    for layer in &layers.layers {
        let mut at = 0.0;
        for vertex in layer {
            x[*vertex] = at + reach[*vertex].0;
            at = x[*vertex] + reach[*vertex].1 + gap;
        }
    }
    // Long edges shall be straight.
    let weight = |one: usize, other: usize| match (one < nodes, other < nodes) {
        (true, true) => 1.0,
        (false, false) => 8.0,
        _ => 2.0,
    };
    let height = layers.layers.len();
    for sweep in 0..=SWEEPS {
        let (is_down, is_last) = (sweep % 2 == 0, sweep == SWEEPS);
        for step in 0..height {
            let layer = &layers.layers[if is_down { step } else { height - 1 - step }];
            let wanted: Vec<(f64, f64)> = layer
                .iter()
                .map(|&vertex| {
                    let above = layers.above[vertex].iter().filter(|_| is_down || is_last);
                    let below = layers.below[vertex].iter().filter(|_| !is_down || is_last);
                    let (mut sum, mut total) = (0.0, 0.0);
                    for other in above.chain(below) {
                        sum += weight(vertex, *other) * x[*other];
                        total += weight(vertex, *other);
                    }
                    if total > 0.0 { (sum / total, total) } else { (x[vertex], 0.1) }
                })
                .collect();
            for (vertex, place) in layer.iter().zip(fitted(layer, &wanted, reach, gap)) {
                x[*vertex] = place;
            }
        }
    }
    x
}

/// The places of a layer that are nearest to what is wanted, with weights.
fn fitted(layer: &[usize], wanted: &[(f64, f64)], reach: &[(f64, f64)], gap: f64) -> Vec<f64> {
    // How far each is from the first one at least.
    let mut offsets = Vec::with_capacity(layer.len());
    let mut offset = 0.0;
    for (position, vertex) in layer.iter().enumerate() {
        if position > 0 {
            offset += reach[layer[position - 1]].1 + gap + reach[*vertex].0;
        }
        offsets.push(offset);
    }
    // Blocks of neighbours that touch each other: the sum and the weight of what they want, and how many they are.
    let mut blocks: Vec<(f64, f64, usize)> = Vec::with_capacity(layer.len());
    for ((place, weight), offset) in wanted.iter().zip(&offsets) {
        let mut block = (weight * (place - offset), *weight, 1);
        while let Some(last) = blocks.last()
            && last.0 / last.1 > block.0 / block.1
        {
            block = (block.0 + last.0, block.1 + last.1, block.2 + last.2);
            blocks.pop();
        }
        blocks.push(block);
    }
    let places = blocks.into_iter().flat_map(|(sum, weight, count)| std::iter::repeat_n(sum / weight, count));
    places.zip(offsets).map(|(place, offset)| place + offset).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_wants_the_same_place_stands_side_by_side() {
        let reach = [(5.0, 5.0); 3];
        let places = fitted(&[0, 1, 2], &[(10.0, 1.0), (10.0, 1.0), (100.0, 1.0)], &reach, 2.0);
        assert_eq!(places, [4.0, 16.0, 100.0]);
    }

    #[test]
    fn a_parent_stands_above_the_middle_of_its_children() {
        let layers = Layers::of(4, &[(0, 1), (0, 2), (0, 3)]);
        let x = place(&layers, 4, &[(10.0, 10.0); 7], 5.0);
        assert!((x[0] - x[2]).abs() < 1e-6 && (x[2] - x[1] - 25.0).abs() < 1e-6, "{x:?}");
    }

    #[test]
    fn a_long_edge_is_straight() {
        let layers = Layers::of(4, &[(0, 1), (1, 2), (2, 3), (3, 0)]);
        let x = place(&layers, 4, &vec![(10.0, 10.0); layers.layer.len()], 5.0);
        let chain = &layers.chains[3];
        let inner = &chain[1..chain.len() - 1];
        assert!(inner.windows(2).all(|pair| (x[pair[0]] - x[pair[1]]).abs() < 2.0), "{x:?}");
    }
}
