//! What may be left out of a search, and why nothing is lost: independence of transitions, persistent sets, visibility
//! (spec 001).
//!
//! A system is seen as a [`Scheme`](scheme::Scheme): processes, objects, and transitions that use operations on objects.

pub mod algorithms;
pub mod bits;
pub mod effort;
pub mod guards;
pub mod objects;
pub mod scheme;
pub mod traces;
pub mod unfold;
