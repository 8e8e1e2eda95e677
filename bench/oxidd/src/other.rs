//! OxiDD: the relational product and a substitution, as its interface has it. Variable 2k is bit k now, 2k + 1 the same bit
//! in the next state.

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::SatCountCache;
use oxidd::util::num::F64;
use oxidd::{
    BooleanFunction, BooleanFunctionQuant, BooleanOperator, Function, FunctionSubst, Manager, ManagerRef, Subst,
};

use crate::Package;

pub struct OxiDD {
    manager: BDDManagerRef,
    bits: u32,
}

impl OxiDD {
    pub fn new(bits: u32) -> OxiDD {
        let manager = new_manager(1 << 24, 1 << 20, 1);
        manager.with_manager_exclusive(|manager| drop(manager.add_vars(2 * bits)));
        OxiDD { manager, bits }
    }

    fn variable(&self, number: u32) -> BDDFunction {
        self.manager.with_manager_shared(|manager| BDDFunction::var(manager, number).unwrap())
    }
}

pub struct Relation {
    function: BDDFunction,
    /// The conjunction of the bits that it writes, now.
    quantified: BDDFunction,
    rename: Subst<BDDFunction>,
}

impl Package for OxiDD {
    type Function = BDDFunction;
    type Relation = Relation;

    fn constant(&self, value: bool) -> BDDFunction {
        self.manager.with_manager_shared(|manager| if value { BDDFunction::t(manager) } else { BDDFunction::f(manager) })
    }

    fn now(&self, bit: u32) -> BDDFunction {
        self.variable(2 * bit)
    }

    fn next(&self, bit: u32) -> BDDFunction {
        self.variable(2 * bit + 1)
    }

    fn not(&self, f: &BDDFunction) -> BDDFunction {
        f.not().unwrap()
    }

    fn and(&self, f: &BDDFunction, g: &BDDFunction) -> BDDFunction {
        f.and(g).unwrap()
    }

    fn or(&self, f: &BDDFunction, g: &BDDFunction) -> BDDFunction {
        f.or(g).unwrap()
    }

    fn relation(&self, function: BDDFunction, writes: &[u32]) -> Relation {
        let mut quantified = self.constant(true);
        for bit in writes {
            quantified = self.and(&quantified, &self.now(*bit));
        }
        let next = writes.iter().map(|bit| 2 * bit + 1).collect::<Vec<_>>();
        let now = writes.iter().map(|bit| self.now(*bit)).collect::<Vec<_>>();
        Relation { function, quantified, rename: Subst::new(next, now) }
    }

    fn image(&self, set: &BDDFunction, relation: &Relation) -> BDDFunction {
        let product = set.apply_exists(BooleanOperator::And, &relation.function, &relation.quantified).unwrap();
        product.substitute(&relation.rename).unwrap()
    }

    fn saturated(&self, _: &BDDFunction, _: &[Relation]) -> Option<BDDFunction> {
        None
    }

    fn nodes(&self, f: &BDDFunction) -> usize {
        f.node_count()
    }

    fn count(&self, f: &BDDFunction) -> f64 {
        let mut cache: SatCountCache<F64, std::hash::RandomState> = SatCountCache::default();
        // A function of the bits now: the others double the number.
        f.sat_count(2 * self.bits, &mut cache).0 / 2f64.powi(self.bits as i32)
    }
}
