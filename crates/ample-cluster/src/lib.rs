//! Explicit search and symbolic observation graphs over several processes, on one machine or many.
//!
//! The processes of a group are connected and watched by [`group`], [`connect`], [`control`] and [`link`]; a [`mesh`] runs
//! workers in all of them, which exchange what they find by [timely dataflow](timely).
