//! The generic layer as a whole: adapters, nested strategies, adaptors over transformations, quotients, several abstract
//! layers under the same algorithms, and all of it combined.

#[path = "../generic_graph/mod.rs"]
mod generic_graph;
#[path = "../../examples/layers/mod.rs"]
mod layers;
#[path = "../software/models.rs"]
#[allow(dead_code)] // Not all of them are needed.
mod models;

mod abstract_layers;
mod adaptors;
mod composition;
mod handlers;
