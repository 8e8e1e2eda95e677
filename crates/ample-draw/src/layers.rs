//! Layers: which nodes are drawn at the same height, and what long edges pass on the way.
//!
//! An edge leads down if its target is farther from where the drawing begins than its source, or as far and found later; the others
//! are turned round, which breaks all cycles. A node's layer is twice the length of the longest path to it, so that there is a layer for
//! the texts of edges between two layers with nodes. Edges are divided by a vertex in each layer between, unless they are very long:
//! those are drawn beside everything else.

/// Edges over more layers are not divided.
const LONGEST: usize = 32;
/// So many vertices are added for each node and edge on average, at most.
const MOST_ADDED: usize = 8;

/// A graph whose edges lead from each layer to the next one. Its vertices are the nodes, and behind them those of long edges.
#[derive(Debug, Default)]
pub(crate) struct Layers {
    /// The vertices of each layer, from left to right.
    pub(crate) layers: Vec<Vec<usize>>,
    /// The layer of each vertex.
    pub(crate) layer: Vec<usize>,
    /// The vertices above and below each vertex that it has an edge with, one entry for each edge.
    pub(crate) above: Vec<Vec<usize>>,
    pub(crate) below: Vec<Vec<usize>>,
    /// The vertices that each edge passes, from top to bottom; none if it is drawn beside everything.
    pub(crate) chains: Vec<Vec<usize>>,
}

impl Layers {
    /// Divides so many nodes, with those edges, none of which is a loop.
    pub(crate) fn of(nodes: usize, edges: &[(usize, usize)]) -> Layers {
        let rank = ranks(nodes, edges);
        let down: Vec<(usize, usize)> =
            edges.iter().map(|&(from, to)| if rank[from] < rank[to] { (from, to) } else { (to, from) }).collect();
        let layer = longest_paths(&rank, &down).into_iter().map(|length| 2 * length).collect();
        let mut layers =
            Layers { above: vec![Vec::new(); nodes], below: vec![Vec::new(); nodes], layer, ..Layers::default() };
        let mut left = MOST_ADDED * (nodes + edges.len());
        layers.chains = down.iter().map(|&(top, bottom)| layers.divide(top, bottom, &mut left)).collect();
        let height = layers.layer.iter().map(|layer| layer + 1).max().unwrap_or(0);
        layers.layers = vec![Vec::new(); height];
        // In the order in which they were found, which puts together what belongs together.
        let mut order: Vec<usize> = (0..layers.layer.len()).collect();
        order.sort_by_key(|vertex| rank.get(*vertex).copied().unwrap_or(usize::MAX));
        for vertex in order {
            layers.layers[layers.layer[vertex]].push(vertex);
        }
        layers
    }

    /// Divides an edge.
    fn divide(&mut self, top: usize, bottom: usize, left: &mut usize) -> Vec<usize> {
        let added = self.layer[bottom] - self.layer[top] - 1;
        if added >= LONGEST || added > *left {
            return Vec::new();
        }
        *left -= added;
        let mut chain = vec![top];
        for layer in self.layer[top] + 1..self.layer[bottom] {
            chain.push(self.layer.len());
            self.layer.push(layer);
            self.above.push(Vec::new());
            self.below.push(Vec::new());
        }
        chain.push(bottom);
        for pair in chain.windows(2) {
            self.below[pair[0]].push(pair[1]);
            self.above[pair[1]].push(pair[0]);
        }
        chain
    }
}

/// The order in which nodes are found breadth first: from those that nothing leads to, and then from the first that is left.
fn ranks(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    let (mut successors, mut is_root) = (vec![Vec::new(); nodes], vec![true; nodes]);
    for (from, to) in edges {
        successors[*from].push(*to);
        is_root[*to] = false;
    }
    let mut rank = vec![usize::MAX; nodes];
    let mut order: Vec<usize> = Vec::with_capacity(nodes);
    let mut expanded = 0;
    let mut find = |node: usize, order: &mut Vec<usize>| {
        if rank[node] == usize::MAX {
            rank[node] = order.len();
            order.push(node);
        }
    };
    for root in (0..nodes).filter(|node| is_root[*node]) {
        find(root, &mut order);
    }
    for root in 0..=nodes {
        while let Some(node) = order.get(expanded).copied() {
            expanded += 1;
            successors[node].iter().for_each(|next| find(*next, &mut order));
        }
        if root < nodes {
            find(root, &mut order);
        }
    }
    rank
}

/// The length of the longest path to each node, along edges that lead to higher ranks. Where nothing leads, a node moves down to its
/// successors.
fn longest_paths(rank: &[usize], down: &[(usize, usize)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rank.len()).collect();
    order.sort_unstable_by_key(|node| rank[*node]);
    let (mut below, mut has_above) = (vec![Vec::new(); rank.len()], vec![false; rank.len()]);
    for (top, bottom) in down {
        below[*top].push(*bottom);
        has_above[*bottom] = true;
    }
    let mut layer = vec![0; rank.len()];
    for node in &order {
        for next in &below[*node] {
            layer[*next] = layer[*next].max(layer[*node] + 1);
        }
    }
    for node in 0..rank.len() {
        if let (false, Some(nearest)) = (has_above[node], below[node].iter().map(|next| layer[*next]).min()) {
            layer[node] = nearest - 1;
        }
    }
    layer
}

#[cfg(test)]
mod tests {
    use ample_random::Random;

    use super::*;

    #[test]
    fn a_cycle_goes_down_and_one_edge_leads_back() {
        let layers = Layers::of(3, &[(0, 1), (1, 2), (2, 0)]);
        assert_eq!(layers.layer[..3], [0, 2, 4]);
        assert_eq!(layers.chains, [vec![0, 3, 1], vec![1, 4, 2], vec![0, 5, 6, 7, 2]]);
        assert_eq!(layers.layers, [vec![0], vec![3, 5], vec![1, 6], vec![4, 7], vec![2]]);
    }

    #[test]
    fn a_start_stands_just_above_what_it_leads_to() {
        let layers = Layers::of(4, &[(0, 1), (1, 2), (3, 2)]);
        assert_eq!(layers.layer[..4], [0, 2, 4, 2]);
    }

    #[test]
    fn very_long_edges_are_not_divided() {
        let mut edges: Vec<(usize, usize)> = (0..40).map(|node| (node, node + 1)).collect();
        edges.push((40, 0));
        let layers = Layers::of(41, &edges);
        assert_eq!((layers.layer.len(), layers.chains[40].len()), (81, 0));
    }

    #[test]
    fn edges_of_random_graphs_lead_from_each_layer_to_the_next() {
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let nodes = 1 + random.below(30_usize);
            let edges: Vec<(usize, usize)> = (0..random.below(80))
                .map(|_| (random.below(nodes), random.below(nodes)))
                .filter(|(from, to)| from != to)
                .collect();
            let layers = Layers::of(nodes, &edges);
            for (edge, chain) in edges.iter().zip(&layers.chains) {
                let ends = chain.first().copied().zip(chain.last().copied());
                assert!(ends.is_none_or(|(top, bottom)| (top, bottom) == *edge || (bottom, top) == *edge), "{seed}");
                assert!(chain.windows(2).all(|pair| layers.layer[pair[0]] + 1 == layers.layer[pair[1]]), "{seed}");
            }
            assert_eq!(layers.layers.iter().map(Vec::len).sum::<usize>(), layers.layer.len(), "{seed}");
            assert!(layers.layers.iter().step_by(2).all(|layer| !layer.is_empty()), "{seed}");
        }
    }
}
