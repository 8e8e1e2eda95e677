//! What P. Godefroid's thesis (*Partial-Order Methods for the Verification of Concurrent Systems*) proves and computes by
//! hand, shown by the algorithms on small systems, and its theorems on random ones. Chapters and sections are the thesis's.
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
