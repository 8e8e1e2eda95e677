//! Explicit search and symbolic observation graphs over several processes, on one machine or many.
//!
//! The processes of a group are connected and watched by [`group`] and [`control`]; a [`mesh`] runs workers in all of them,
//! threads of one process or of several, which exchange what they find by [timely dataflow](timely): see [`exchange`]. What
//! they do is one [job](session) after the other, at the orders of process 0.

mod connect;
pub mod control;
pub mod exchange;
mod explicit;
pub mod group;
pub mod link;
pub mod mesh;
pub mod session;
pub mod sog;

pub use group::{ClusterOptions, Group, GroupError};
pub use mesh::{End, Identity, Mesh, Tallies, Tally, TallySnapshot, Traffic};
pub use session::Cluster;
pub use sog::{SogShare, SogSpread};
