//! What the thesis proves and computes by hand, shown by the algorithms on small systems (spec 001 §6, lines 1–29, 35, 36
//! and 40), and its theorems on random ones.
//!
//! `AMPLE_SEED=n` looks at one random system only; `AMPLE_SYSTEMS=n` is the number of random systems.

mod thesis {
    pub mod models;
    pub mod oracle;
    pub mod random;
    pub mod search;
    pub mod system;

    mod examples;
    mod relations;
    mod scaling;
    mod sleep;
    mod stubborn;
    mod theorems;
}
