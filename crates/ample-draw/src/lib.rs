//! Pictures: graphs and message sequence charts as SVG, and graphs in the language of Graphviz.
//!
//! A [`Graph`] is drawn in layers, from top to bottom, as K. Sugiyama, S. Tagawa and M. Toda proposed (*Methods for visual
//! understanding of hierarchical system structures*, 1981): cycles are broken, nodes get layers, long edges are divided, the order
//! in each layer is chosen so that few edges cross, and nodes move towards their neighbours. A [`Chart`] has a lifeline for each
//! process, and an arrow for each message.
//!
//! ```
//! use ample_draw::{Edge, Graph, Node};
//!
//! let mut graph = Graph::new("a light");
//! let (red, green) = (graph.node(Node::new("red")), graph.node(Node::new("green")));
//! graph.edge(Edge::new(red, green).labelled("go"));
//! graph.edge(Edge::new(green, red).labelled("stop"));
//! assert!(graph.dot().starts_with("digraph \"a light\" {"));
//! assert!(graph.svg().contains("<text"));
//! ```

mod chart;
mod dot;
mod graph;
mod layers;
mod layout;
mod order;
mod placement;
mod svg;

pub use chart::{Arrow, Chart, Event};
pub use graph::{Edge, Graph, Look, Node};
pub use layout::{Layout, Point, Rectangle, Route, layered, truncated};
pub use svg::escaped;
