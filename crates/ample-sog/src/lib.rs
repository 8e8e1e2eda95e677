//! Symbolic observation graphs.
