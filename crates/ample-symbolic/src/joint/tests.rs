//! Dynamic transition relations against the whole one, on random synchronous systems.

use ample_boolean::JointEncoding;
use ample_budget::Budget;
use ample_model::random::synchronous;
use ample_random::Random;

use super::*;

fn built(seed: u64, faults: bool) -> (JointEncoding, Diagrams, JointSpace) {
    let system = synchronous(seed, faults);
    let mut encoding = JointEncoding::unproved_within(&system, &Budget::unlimited()).unwrap();
    let diagrams = Diagrams::new(encoding.inputs.end, 1 << 22, Budget::unlimited());
    let space = build(&mut encoding, &diagrams, false, false).unwrap();
    (encoding, diagrams, space)
}

/// A set over a few bits of the state.
fn random_set(diagrams: &Diagrams, random: &mut Random, bits: u32) -> Bdd {
    let mut set = diagrams.constant(random.one_in(2));
    for _ in 0..random.below(4) + 1 {
        let bit = diagrams.now(random.below(bits)).unwrap();
        let bit = if random.one_in(2) { bit.not() } else { bit };
        set = match random.below(3) {
            0 => set.and(&bit),
            1 => set.or(&bit),
            _ => set.xor(&bit),
        }
        .unwrap();
    }
    set
}

#[test]
fn dynamic_relations_have_the_same_preimages_as_the_whole_one() {
    let mut fewer = 0;
    for seed in 0..400 {
        let (encoding, diagrams, space) = built(seed, seed % 2 == 1);
        let mut random = Random::new(seed);
        let mut kinds = [Relations::Dynamic, Relations::Static, Relations::Monolithic]
            .map(|kind| Parts::new(&encoding, &diagrams, kind).unwrap());
        for _ in 0..10 {
            let set = random_set(&diagrams, &mut random, encoding.bits);
            let expected = space.pre(&set, &diagrams.constant(true)).unwrap();
            for parts in &mut kinds {
                assert_eq!(parts.preimage(&set).unwrap(), expected, "seed {seed}");
            }
        }
        let [dynamic, all, _] = kinds.map(|parts| parts.sizes());
        assert!(dynamic.max_parts <= all.max_parts && dynamic.nodes <= all.nodes, "seed {seed}");
        fewer += u64::from(dynamic.nodes < all.nodes);
    }
    assert!(fewer > 200, "{fewer}");
}

#[test]
fn images_are_exact_or_contain_the_exact_one() {
    let mut strict = 0;
    for seed in 0..400 {
        let (encoding, diagrams, space) = built(seed, seed % 2 == 1);
        let mut random = Random::new(seed);
        let mut parts = Parts::new(&encoding, &diagrams, Relations::Dynamic).unwrap();
        for _ in 0..10 {
            let set = random_set(&diagrams, &mut random, encoding.bits);
            let expected = space.post(&set).unwrap();
            assert_eq!(parts.image(&set).unwrap(), expected, "seed {seed}");
            let over = parts.image_over(&set).unwrap();
            assert!(expected.is_subset(&over).unwrap(), "seed {seed}");
            strict += u64::from(over != expected);
        }
    }
    assert!(strict > 100, "{strict}");
}

/// Latches with these next values, over four bits.
fn latches(functions: impl Fn(&mut ample_boolean::Dag) -> Vec<(u32, ample_boolean::Lit)>) -> (JointEncoding, Diagrams) {
    let mut encoding = JointEncoding::within(&synchronous(0, false), &Budget::unlimited()).unwrap();
    (encoding.bits, encoding.inputs, encoding.next_bits) = (4, 4..4, 4..8);
    (encoding.relations, encoding.chosen) = (Vec::new(), Vec::new());
    encoding.functions = functions(&mut encoding.dag);
    (encoding, Diagrams::new(4, 1 << 16, Budget::unlimited()))
}

#[test]
fn only_the_functions_that_a_set_depends_on_take_part() {
    // v0' = v1, v1' = v2, v2' = v3, v3' = v0.
    let (encoding, diagrams) = latches(|dag| (0..4).map(|bit| (bit, dag.input((bit + 1) % 4))).collect());
    let mut parts = Parts::new(&encoding, &diagrams, Relations::Dynamic).unwrap();
    assert_eq!(parts.needed(&[(2, true)]).unwrap(), [2]);
    let before = parts.preimage(&diagrams.now(2).unwrap()).unwrap();
    assert_eq!(before, diagrams.now(3).unwrap());
    assert_eq!((parts.sizes().max_parts, parts.sizes().parts), (1, 4));
}

#[test]
fn functions_that_are_left_out_still_restrict_each_other() {
    // a' = a, v1' = v2' = w, and w is free; the bits are a, v1, v2, w.
    let (encoding, diagrams) = latches(|dag| vec![(0, dag.input(0)), (1, dag.input(3)), (2, dag.input(3))]);
    let mut parts = Parts::new(&encoding, &diagrams, Relations::Dynamic).unwrap();
    let a = diagrams.now(0).unwrap();
    let same = diagrams.now(1).unwrap().iff(&diagrams.now(2).unwrap()).unwrap();
    // What reads a, or shares a bit with what does, is a' = a alone: eight states, and four are right.
    assert_eq!(parts.image_over(&a).unwrap(), a);
    assert_eq!(parts.image(&a).unwrap(), a.and(&same).unwrap());
}
