//! A good order of the variables before anything is built: what is used together stands together.
//!
//! The heuristic is FORCE (Aloul, Markov and Sakallah): each group of things that are used together pulls them to
//! their common centre, again and again, and the order in which the groups span the least is kept.

/// How often the cells are moved at most.
const MAX_ROUNDS: usize = 60;
/// With fewer groups no cell is shared by many.
const MIN_GROUPS: usize = 8;

/// An order for saturation: as by [`force`], but cells that most groups have in common stand at the bottom.
///
/// Such a cell says nothing about which others belong together. At the bottom it makes no event start higher than its
/// other cells do, so that events still fire within small parts of the diagram; anywhere else, all events of the cells
/// below would start at its level.
pub fn order_of(cells: usize, groups: &[Vec<usize>], should_stop: &dyn Fn() -> bool) -> Vec<usize> {
    let mut uses = vec![0; cells];
    groups.iter().flatten().for_each(|cell| uses[*cell] += 1);
    let is_shared = |cell: &usize| groups.len() >= MIN_GROUPS && uses[*cell] * 2 > groups.len();
    let others = |group: &Vec<usize>| group.iter().copied().filter(|cell| !is_shared(cell)).collect();
    let mut apart: Vec<Vec<usize>> = groups.iter().map(others).filter(|group: &Vec<usize>| group.len() > 1).collect();
    apart.sort_unstable();
    apart.dedup();
    let mut order = force(cells, &apart, should_stop);
    order.sort_by_key(is_shared);
    order
}

/// An order of so many cells; `groups` are those that are used together. If it has to end, the best order so far will do.
pub fn force(cells: usize, groups: &[Vec<usize>], should_stop: &dyn Fn() -> bool) -> Vec<usize> {
    let mut order: Vec<usize> = (0..cells).collect();
    let mut best = (span(&order, groups), order.clone());
    for _ in 0..MAX_ROUNDS {
        if should_stop() {
            break;
        }
        let position = positions(&order);
        let mut pull = vec![(0.0, 0.0); cells];
        for group in groups {
            // A group of many says little about each.
            let weight = 1.0 / group.len() as f64;
            let centre = group.iter().map(|cell| position[*cell] as f64).sum::<f64>() / group.len() as f64;
            for cell in group {
                pull[*cell].0 += centre * weight;
                pull[*cell].1 += weight;
            }
        }
        let place = |cell: usize| {
            let (sum, weight) = pull[cell];
            if weight > 0.0 { sum / weight } else { position[cell] as f64 }
        };
        let before = order.clone();
        order.sort_by(|x, y| place(*x).total_cmp(&place(*y)));
        let length = span(&order, groups);
        if length < best.0 {
            best = (length, order.clone());
        }
        if order == before {
            break;
        }
    }
    best.1
}

fn positions(order: &[usize]) -> Vec<usize> {
    let mut position = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, cell)| position[*cell] = place);
    position
}

/// How far the groups reach, all together; small ones count for more.
fn span(order: &[usize], groups: &[Vec<usize>]) -> f64 {
    let position = positions(order);
    let reach = |group: &Vec<usize>| {
        let places = group.iter().map(|cell| position[*cell]);
        let (first, last) = (places.clone().min().unwrap_or(0), places.max().unwrap_or(0));
        (last - first) as f64 / group.len() as f64
    };
    groups.iter().map(reach).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_together_stands_together() {
        // Cell k works with cell k + 8 only.
        let groups: Vec<Vec<usize>> = (0..8).map(|k| vec![k, k + 8]).collect();
        let order = force(16, &groups, &|| false);
        assert!(span(&order, &groups) < span(&(0..16).collect::<Vec<_>>(), &groups) / 4.0, "{order:?}");
    }

    #[test]
    fn what_all_have_in_common_stands_at_the_bottom() {
        // A ring of cells, and cell 4 in every group.
        let groups: Vec<Vec<usize>> = (0..10).map(|k| vec![4, 10 + k, 10 + (k + 1) % 10]).collect();
        let order = order_of(20, &groups, &|| false);
        assert_eq!(order.last(), Some(&4), "{order:?}");
        assert_eq!(order.len(), 20);
    }

    #[test]
    fn every_cell_has_a_place() {
        let mut order = force(5, &[vec![0, 4], vec![2]], &|| false);
        order.sort_unstable();
        assert_eq!(order, [0, 1, 2, 3, 4]);
    }
}
