//! Where the nodes and edges of a graph are.

use std::collections::HashMap;

use unicode_width::UnicodeWidthStr;

use crate::layers::Layers;
use crate::{Graph, Look, order, placement};

/// Sizes are in pixels, for a monospaced font of 12 pixels.
pub(crate) const LINE: f64 = 15.0;
const LETTER: f64 = 7.25;
const PADDING: f64 = 8.0;
/// Between the nodes of a layer, and between layers.
const GAP: f64 = 22.0;
const LAYER_GAP: f64 = 20.0;
pub(crate) const MARGIN: f64 = 16.0;
/// The size of a node without text.
const POINT: f64 = 8.0;
/// How far a loop reaches, and the next one beyond it.
const LOOP: f64 = 26.0;
/// Between an edge and its text.
const BESIDE: f64 = 5.0;
/// So many long edges are drawn beside each other.
const MOST_BESIDE: u32 = 20;
/// Edges of a node are so far from each other, if there is room.
const PORTS: f64 = 18.0;
/// So many texts of edges between the same nodes are shown.
const LABELS: usize = 4;
/// Texts of edges are truncated to so many columns.
const LABEL: usize = 48;

/// A place.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// The place of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rectangle {
    /// Its middle.
    pub middle: Point,
    /// How wide it is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
}

/// The route of one or several edges between the same nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Route {
    /// From which node to which.
    pub ends: (usize, usize),
    /// How they look.
    pub look: Look,
    /// Through which points; four of a curve if `is_beside`.
    pub points: Vec<Point>,
    /// It is a loop, or so long that it is drawn beside everything else: one curve with two control points in the middle.
    pub is_beside: bool,
    /// Their texts.
    pub labels: Vec<String>,
    /// Where the middle of the texts is.
    pub label_at: Point,
}

/// Where everything is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// How wide the picture is.
    pub width: f64,
    /// How high it is.
    pub height: f64,
    /// The nodes.
    pub nodes: Vec<Rectangle>,
    /// The edges; those between the same nodes that look alike share a route.
    pub routes: Vec<Route>,
}

/// How wide a text is.
pub(crate) fn text_width(text: &str) -> f64 {
    text.width() as f64 * LETTER
}

/// A text of at most so many columns of a terminal, or of a monospaced font.
///
/// ```
/// assert_eq!(ample_draw::truncated("a long text", 6), "a lon…");
/// ```
pub fn truncated(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut short = String::new();
    for c in text.chars() {
        if short.width() + 2 > columns {
            break;
        }
        short.push(c);
    }
    short + "…"
}

/// Lays a graph out in layers, from top to bottom.
pub fn layered(graph: &Graph) -> Layout {
    let nodes: Vec<(f64, f64)> = graph.nodes.iter().map(|node| size(&node.lines, node.look)).collect();
    let (mut loops, mut routes): (Vec<Route>, Vec<Route>) =
        routes(graph).into_iter().partition(|route| route.ends.0 == route.ends.1);
    let edges: Vec<(usize, usize)> = routes.iter().map(|route| route.ends).collect();
    let mut layers = Layers::of(nodes.len(), &edges);
    order::sort(&mut layers);
    let labels: Vec<Option<usize>> =
        routes.iter().zip(&layers.chains).map(|(route, chain)| label_vertex(route, chain)).collect();
    let grid = Grid::of(layers, &nodes, (&routes, &labels), &loops);
    let mut layout = Layout::default();
    for (node, (width, height)) in nodes.iter().enumerate() {
        layout.nodes.push(Rectangle { middle: grid.middle(node), width: *width, height: *height });
    }
    let ports = Ports::of(&grid.layers, &grid.x, &layout.nodes);
    let mut beside = 0;
    for (edge, route) in routes.iter_mut().enumerate() {
        if grid.layers.chains[edge].is_empty() {
            beside = beside % MOST_BESIDE + 1;
            pass_by(route, &layout.nodes, grid.right + GAP * f64::from(beside));
            continue;
        }
        route.points = grid.points(edge, &ports, &layout.nodes);
        if grid.layers.chains[edge][0] != route.ends.0 {
            route.points.reverse();
        }
        if let Some(vertex) = labels[edge] {
            let middle = grid.middle(vertex);
            route.label_at = Point { x: middle.x + labels_width(&route.labels) / 2.0 + BESIDE, y: middle.y };
        }
    }
    let mut counts: HashMap<usize, u32> = HashMap::new();
    for route in &mut loops {
        let count = counts.entry(route.ends.0).or_default();
        *count += 1;
        turn_back(route, &layout.nodes[route.ends.0], f64::from(*count));
    }
    layout.routes = routes;
    layout.routes.extend(loops);
    layout.fit();
    layout
}

/// The vertex at which the texts of an edge are: the first one behind its source.
fn label_vertex(route: &Route, chain: &[usize]) -> Option<usize> {
    match chain {
        [top, first, ..] if *top == route.ends.0 => Some(*first),
        [.., last, _] => Some(*last),
        _ => None,
    }
}

/// Where vertices are.
struct Grid {
    layers: Layers,
    x: Vec<f64>,
    /// The middle and the height of each layer.
    rows: Vec<(f64, f64)>,
    /// How far everything reaches to the right.
    right: f64,
}

impl Grid {
    fn of(
        layers: Layers,
        nodes: &[(f64, f64)],
        (routes, labels): (&[Route], &[Option<usize>]),
        loops: &[Route],
    ) -> Grid {
        let mut sizes = nodes.to_vec();
        sizes.resize(layers.layer.len(), (0.0, 0.0));
        for (route, label) in routes.iter().zip(labels) {
            if let Some(vertex) = label {
                sizes[*vertex] = (labels_width(&route.labels), route.labels.len() as f64 * LINE);
            }
        }
        let mut reach: Vec<(f64, f64)> = sizes.iter().map(|(width, _)| (width / 2.0, width / 2.0)).collect();
        // Loops and their texts are to the right of a node, texts of other edges to the right of the edge.
        for route in loops {
            reach[route.ends.0].1 += LOOP + labels_width(&route.labels);
        }
        for vertex in labels.iter().flatten().filter(|vertex| sizes[**vertex].0 > 0.0) {
            reach[*vertex] = (2.0, sizes[*vertex].0 + 2.0 * BESIDE);
        }
        let x = placement::place(&layers, nodes.len(), &reach, GAP);
        let right = x.iter().zip(&reach).map(|(x, reach)| x + reach.1).fold(0.0, f64::max);
        Grid { x, rows: rows(&layers, &sizes), right, layers }
    }

    fn middle(&self, vertex: usize) -> Point {
        Point { x: self.x[vertex], y: self.rows[self.layers.layer[vertex]].0 }
    }

    /// The route of an edge from top to bottom. Through the layers between its nodes it goes straight.
    fn points(&self, edge: usize, ports: &Ports, nodes: &[Rectangle]) -> Vec<Point> {
        let chain = &self.layers.chains[edge];
        let (top, bottom) = (nodes[chain[0]], nodes[chain[chain.len() - 1]]);
        let mut points = vec![Point { x: ports.below[&edge], y: top.middle.y + top.height / 2.0 }];
        for vertex in &chain[1..chain.len() - 1] {
            let (middle, height) = self.rows[self.layers.layer[*vertex]];
            let through = [middle - height / 2.0, middle + height / 2.0];
            points.extend(through.map(|y| Point { x: self.x[*vertex], y }));
        }
        points.push(Point { x: ports.above[&edge], y: bottom.middle.y - bottom.height / 2.0 });
        points
    }
}

/// The size of a node.
fn size(lines: &[String], look: Look) -> (f64, f64) {
    if look == Look::Start {
        return (POINT, POINT);
    }
    let width = lines.iter().map(|line| text_width(line)).fold(2.0 * LETTER, f64::max);
    (width + 2.0 * PADDING, lines.len().max(1) as f64 * LINE + PADDING)
}

/// Edges between the same nodes that look alike, together.
fn routes(graph: &Graph) -> Vec<Route> {
    let mut numbers: HashMap<(usize, usize, Look), usize> = HashMap::new();
    let mut routes: Vec<Route> = Vec::new();
    let mut left_out: Vec<usize> = Vec::new();
    for edge in &graph.edges {
        let number = *numbers.entry((edge.from, edge.to, edge.look)).or_insert_with(|| {
            routes.push(Route { ends: (edge.from, edge.to), look: edge.look, ..Route::default() });
            left_out.push(0);
            routes.len() - 1
        });
        let labels = &mut routes[number].labels;
        let label = truncated(&edge.label, LABEL);
        if label.is_empty() || labels.contains(&label) {
        } else if labels.len() < LABELS {
            labels.push(label);
        } else {
            left_out[number] += 1;
        }
    }
    for (route, more) in routes.iter_mut().zip(left_out) {
        if more > 0 {
            route.labels.push(format!("… {more} more"));
        }
    }
    routes
}

fn labels_width(labels: &[String]) -> f64 {
    labels.iter().map(|label| text_width(label)).fold(0.0, f64::max)
}

/// The middle and the height of each layer.
fn rows(layers: &Layers, sizes: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut at = 0.0;
    let mut rows = Vec::with_capacity(layers.layers.len());
    for layer in &layers.layers {
        let height = layer.iter().map(|vertex| sizes[*vertex].1).fold(0.0, f64::max);
        rows.push((at + height / 2.0, height));
        at += height + LAYER_GAP;
    }
    rows
}

/// Where edges leave and enter nodes: beside each other, in the order of what they lead to.
struct Ports {
    below: HashMap<usize, f64>,
    above: HashMap<usize, f64>,
}

impl Ports {
    fn of(layers: &Layers, x: &[f64], nodes: &[Rectangle]) -> Ports {
        let mut below: Vec<Vec<(f64, usize)>> = vec![Vec::new(); nodes.len()];
        let mut above = below.clone();
        for (edge, chain) in layers.chains.iter().enumerate().filter(|(_, chain)| !chain.is_empty()) {
            let last = chain.len() - 1;
            below[chain[0]].push((x[chain[1]], edge));
            above[chain[last]].push((x[chain[last - 1]], edge));
        }
        let spread = |ends: Vec<Vec<(f64, usize)>>| {
            let mut ports = HashMap::new();
            for (mut ends, node) in ends.into_iter().zip(nodes) {
                ends.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
                let step = PORTS.min(node.width / (ends.len() + 1) as f64);
                let first = node.middle.x - step * (ends.len().saturating_sub(1)) as f64 / 2.0;
                ports.extend(ends.iter().enumerate().map(|(at, (_, edge))| (*edge, first + step * at as f64)));
            }
            ports
        };
        Ports { below: spread(below), above: spread(above) }
    }
}

/// A long edge goes to the right of everything.
fn pass_by(route: &mut Route, nodes: &[Rectangle], x: f64) {
    let (from, to) = (nodes[route.ends.0], nodes[route.ends.1]);
    let side = |node: Rectangle| Point { x: node.middle.x + node.width / 2.0, y: node.middle.y };
    let (from, to) = (side(from), side(to));
    route.points = vec![from, Point { x, y: from.y }, Point { x, y: to.y }, to];
    route.is_beside = true;
    // The middle of the curve.
    route.label_at = Point { x: (from.x + to.x + 6.0 * x) / 8.0, y: (from.y + to.y) / 2.0 };
}

/// A loop is at the right side of its node, a further one around it.
fn turn_back(route: &mut Route, node: &Rectangle, number: f64) {
    let x = node.middle.x + node.width / 2.0;
    let (y, half) = (node.middle.y, (node.height / 4.0).min(5.0 + 2.0 * number));
    let out = x + LOOP * number;
    route.points = vec![
        Point { x, y: y - half },
        Point { x: out, y: y - 2.5 * half },
        Point { x: out, y: y + 2.5 * half },
        Point { x, y: y + half },
    ];
    route.is_beside = true;
    route.label_at = Point { x: out + labels_width(&route.labels) / 2.0, y };
}

impl Layout {
    /// Moves everything so that it begins at the margin, and finds out how large the picture is.
    fn fit(&mut self) {
        let (mut left, mut right, mut top, mut bottom) = (f64::MAX, 0.0_f64, f64::MAX, 0.0_f64);
        let mut see = |from: Point, to: Point| {
            (left, top) = (left.min(from.x), top.min(from.y));
            (right, bottom) = (right.max(to.x), bottom.max(to.y));
        };
        for node in &self.nodes {
            let (x, y) = (node.width / 2.0, node.height / 2.0);
            let Point { x: middle_x, y: middle_y } = node.middle;
            see(Point { x: middle_x - x, y: middle_y - y }, Point { x: middle_x + x, y: middle_y + y });
        }
        for route in &self.routes {
            route.points.iter().for_each(|point| see(*point, *point));
            let (x, y) = (labels_width(&route.labels) / 2.0, route.labels.len() as f64 * LINE / 2.0);
            if !route.labels.is_empty() {
                let at = route.label_at;
                see(Point { x: at.x - x, y: at.y - y }, Point { x: at.x + x, y: at.y + y });
            }
        }
        if self.nodes.is_empty() {
            (left, top) = (0.0, 0.0);
        }
        let moved = |point: &mut Point| *point = Point { x: point.x - left + MARGIN, y: point.y - top + MARGIN };
        self.nodes.iter_mut().for_each(|node| moved(&mut node.middle));
        for route in &mut self.routes {
            route.points.iter_mut().for_each(moved);
            moved(&mut route.label_at);
        }
        (self.width, self.height) = (right - left + 2.0 * MARGIN, bottom - top + 2.0 * MARGIN);
    }
}

#[cfg(test)]
mod tests {
    use ample_random::Random;

    use super::*;
    use crate::{Edge, Node};

    fn overlap(one: &Rectangle, other: &Rectangle) -> bool {
        (one.middle.x - other.middle.x).abs() < (one.width + other.width) / 2.0
            && (one.middle.y - other.middle.y).abs() < (one.height + other.height) / 2.0
    }

    #[test]
    fn no_graph_is_a_picture_with_margins() {
        let layout = layered(&Graph::new(""));
        assert_eq!((layout.width, layout.height), (2.0 * MARGIN, 2.0 * MARGIN));
    }

    #[test]
    fn edges_between_the_same_nodes_have_one_way_and_some_texts() {
        let mut graph = Graph::new("");
        let (one, two) = (graph.node(Node::new("1")), graph.node(Node::new("2")));
        for label in ["a", "b", "a", "c", "d", "e", "f"] {
            graph.edge(Edge::new(one, two).labelled(label));
        }
        graph.edge(Edge::new(two, one).labelled("x".repeat(100)));
        let layout = layered(&graph);
        assert_eq!(layout.routes.len(), 2);
        assert_eq!(layout.routes[0].labels, ["a", "b", "c", "d", "… 2 more"]);
        assert_eq!(layout.routes[1].labels, [format!("{}…", "x".repeat(LABEL - 1))]);
        // The two do not lie upon each other.
        let end = layout.routes[1].points.last().unwrap();
        assert!((layout.routes[0].points[0].x - end.x).abs() > 4.0);
    }

    #[test]
    fn nodes_of_random_graphs_do_not_overlap_and_everything_is_in_the_picture() {
        for seed in 0..150 {
            let mut random = Random::new(seed);
            let mut graph = Graph::new("random");
            let count = 1 + random.below(40_usize);
            for _ in 0..count {
                let lines = vec!["word ".repeat(random.below(4) + 1); 1 + random.below(3_usize)];
                graph.node(Node { lines, ..Node::default() });
            }
            for number in 0..random.below(90_usize) {
                let (from, to) = (random.below(count), random.below(count));
                graph.edge(Edge::new(from, to).labelled(format!("step {number}")));
            }
            let layout = layered(&graph);
            for (number, one) in layout.nodes.iter().enumerate() {
                assert!(layout.nodes[..number].iter().all(|other| !overlap(one, other)), "{seed}");
            }
            let points = layout.routes.iter().flat_map(|route| &route.points);
            for point in points.chain(layout.nodes.iter().map(|node| &node.middle)) {
                let Point { x, y } = *point;
                assert!((0.0..=layout.width).contains(&x) && (0.0..=layout.height).contains(&y), "{seed}: {point:?}");
            }
        }
    }

    /// Thousands of nodes take seconds at most, without optimisation too.
    #[test]
    fn large_graphs_are_laid_out() {
        let mut graph = Graph::new("a grid");
        let side = 40;
        for number in 0..side * side {
            graph.node(Node::new(&number.to_string()));
        }
        for number in 0..side * side {
            if number % side + 1 < side {
                graph.edge(Edge::new(number, number + 1));
            }
            if number + side < side * side {
                graph.edge(Edge::new(number, number + side));
            }
            graph.edge(Edge::new(number, 0).labelled("again"));
        }
        let layout = layered(&graph);
        assert_eq!((layout.nodes.len(), layout.routes.len()), (1600, 1600 + 2 * 39 * 40));
    }
}
