//! Explicit search and symbolic observation graphs over several processes, on one machine or many.
//!
//! The processes of a group are connected and watched by [`group`] and [`control`]; a [`mesh`] runs workers in all of them,
//! threads of one process or of several, which exchange what they find by [timely dataflow](timely): see [`exchange`].

pub mod control;
pub mod exchange;
pub mod group;
pub mod mesh;

pub use group::{ClusterOptions, Group, GroupError};
pub use mesh::{End, Identity, Mesh, Tallies, Tally, TallySnapshot, Traffic};
