//! Explicit search and symbolic observation graphs over several processes, on one machine or many.
//!
//! The processes of a group are connected and watched by [`group`], [`connect`], [`control`] and [`link`]; a [`mesh`] runs
//! workers in all of them, which exchange what they find by [timely dataflow](timely).

pub mod control;
pub mod group;
pub mod mesh;

pub use group::{ClusterOptions, Group, GroupError};
pub use mesh::{End, Identity, Mesh, Tallies, Tally, TallySnapshot, Traffic};
