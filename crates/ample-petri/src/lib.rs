//! Petri nets: what makes them a kind of model of their own.
//!
//! A net reaches this crate as a [`System`](ample_model::System) like any other model. [`Net::of`](net::Net::of)
//! recognises it, whatever language it was written in: one process with one location, whose edges take from and add to
//! variables. Everything here works on the net that it finds, which keeps only places, transitions and arcs.

pub mod diagram;
pub mod engine;
pub mod evidence;
pub mod explicit;
pub mod net;
pub mod simplify;
pub mod structure;
