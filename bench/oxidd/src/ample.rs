//! The diagrams of ample.

use ample_budget::Budget;
use ample_symbolic::diagram::{Bdd, Diagrams, Written};

use crate::Package;

pub struct Ample(Diagrams);

impl Ample {
    pub fn new(bits: u32) -> Ample {
        Ample(Diagrams::new(bits, 1 << 26, Budget::unlimited()))
    }
}

impl Package for Ample {
    type Function = Bdd;
    type Relation = (Bdd, Written);

    fn constant(&self, value: bool) -> Bdd {
        self.0.constant(value)
    }

    fn now(&self, bit: u32) -> Bdd {
        self.0.now(bit).unwrap()
    }

    fn next(&self, bit: u32) -> Bdd {
        self.0.next(bit).unwrap()
    }

    fn not(&self, f: &Bdd) -> Bdd {
        f.not()
    }

    fn and(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.and(g).unwrap()
    }

    fn or(&self, f: &Bdd, g: &Bdd) -> Bdd {
        f.or(g).unwrap()
    }

    fn relation(&self, function: Bdd, writes: &[u32]) -> (Bdd, Written) {
        (function, self.0.written(writes))
    }

    fn image(&self, set: &Bdd, relation: &(Bdd, Written)) -> Bdd {
        set.image(&relation.0, relation.1).unwrap()
    }

    fn saturated(&self, set: &Bdd, relations: &[(Bdd, Written)]) -> Option<Bdd> {
        set.saturated(relations).ok()
    }

    fn nodes(&self, f: &Bdd) -> usize {
        f.nodes()
    }

    fn count(&self, f: &Bdd) -> f64 {
        f.count().to_string().parse().unwrap()
    }
}
