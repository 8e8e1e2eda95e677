//! Explicit search and symbolic observation graphs over several processes, on one machine or many.
//!
//! The processes of a [`group`] are connected and watched as a [`mesh`], which runs workers in all of them: threads of one
//! process or of several. They exchange what they find by [timely dataflow](timely): see [`exchange`].

mod control;
pub mod exchange;
pub mod group;
pub mod mesh;
