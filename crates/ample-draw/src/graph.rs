//! What is drawn.

/// A directed graph with texts in its nodes and at its edges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// What it shows.
    pub title: String,
    /// The nodes, in the order in which they are drawn where it does not matter otherwise.
    pub nodes: Vec<Node>,
    /// The edges.
    pub edges: Vec<Edge>,
}

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// The lines in it.
    pub lines: Vec<String>,
    /// What is told when one points at it.
    pub more: String,
    /// How it looks.
    pub look: Look,
}

/// An edge between two nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    /// The number of the node that it leaves.
    pub from: usize,
    /// The number of the node that it enters.
    pub to: usize,
    /// The text at it.
    pub label: String,
    /// How it looks; a double edge is a thick one.
    pub look: Look,
}

/// How a node or an edge looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Look {
    /// A line around it.
    #[default]
    Plain,
    /// Two lines around it.
    Double,
    /// A dashed line.
    Dashed,
    /// In the colour of what is wrong.
    Wrong,
    /// A filled point without text, where runs begin.
    Start,
    /// Text only.
    Bare,
}

impl Graph {
    /// A graph without nodes.
    pub fn new(title: impl Into<String>) -> Graph {
        Graph { title: title.into(), ..Graph::default() }
    }

    /// Adds a node, and tells its number.
    pub fn node(&mut self, node: Node) -> usize {
        self.nodes.push(node);
        self.nodes.len() - 1
    }

    /// Adds an edge.
    ///
    /// # Panics
    /// If there are no such nodes.
    pub fn edge(&mut self, edge: Edge) {
        assert!(edge.from.max(edge.to) < self.nodes.len(), "an edge between nodes that are not there");
        self.edges.push(edge);
    }

    /// The graph in the language of Graphviz.
    pub fn dot(&self) -> String {
        crate::dot::write(self)
    }

    /// The graph as a picture that stands for itself: SVG with a style for light and dark backgrounds.
    pub fn svg(&self) -> String {
        crate::svg::graph(self, &crate::layered(self))
    }
}

impl Node {
    /// A node with a text of one or several lines.
    pub fn new(text: &str) -> Node {
        Node { lines: text.lines().map(str::to_owned).collect(), ..Node::default() }
    }

    /// Where runs begin.
    pub fn start() -> Node {
        Node::default().looking(Look::Start)
    }

    /// With another look.
    #[must_use]
    pub fn looking(self, look: Look) -> Node {
        Node { look, ..self }
    }

    /// With something that is told when one points at it.
    #[must_use]
    pub fn telling(self, more: impl Into<String>) -> Node {
        Node { more: more.into(), ..self }
    }
}

impl Edge {
    /// An edge without a text.
    pub fn new(from: usize, to: usize) -> Edge {
        Edge { from, to, ..Edge::default() }
    }

    /// With a text.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Edge {
        Edge { label: label.into(), ..self }
    }

    /// With another look.
    #[must_use]
    pub fn looking(self, look: Look) -> Edge {
        Edge { look, ..self }
    }
}
