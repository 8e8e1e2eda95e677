//! Every operation against plain enumeration, on random functions, before and after variables were moved.

use ample_budget::{Budget, Cancellation};

use num_bigint::BigUint;

use ample_random::Random;

use super::{Bdd, Diagrams, SetError};

const PAIRS: u32 = 5;
/// The number of values of all bits, now and next.
const VALUES: usize = 1 << (2 * PAIRS);

/// A function by its values: bit `pair` of the number is the pair's bit now, bit `pair + PAIRS` the next one.
type Table = Vec<bool>;

fn diagrams() -> Diagrams {
    Diagrams::new(PAIRS, 1 << 20, Budget::unlimited())
}

fn value(bdd: &Bdd, number: usize) -> bool {
    let core = bdd.core.borrow();
    core.evaluate(bdd.edge(), &|pair, next| number >> (pair + if next { PAIRS } else { 0 }) & 1 == 1)
}

fn assert_same(bdd: &Bdd, table: &Table, what: &str) {
    for (number, expected) in table.iter().enumerate() {
        assert_eq!(value(bdd, number), *expected, "{what} at {number:b}");
    }
}

/// A random function with its table; `next` says whether it may speak of the next state.
fn random(diagrams: &Diagrams, random_number: &mut Random, next: bool) -> (Bdd, Table) {
    let mut stack: Vec<(Bdd, Table)> = Vec::new();
    for _ in 0..12 {
        let pair = random_number.below(PAIRS);
        let is_next = next && random_number.below(2) == 1;
        let bit = pair + if is_next { PAIRS } else { 0 };
        let literal = if is_next { diagrams.next(pair) } else { diagrams.now(pair) }.unwrap();
        let table: Table = (0..VALUES).map(|n| n >> bit & 1 == 1).collect();
        stack.push((literal, table));
        while stack.len() > 1 && random_number.below(3) > 0 {
            let ((f, x), (g, y)) = (stack.pop().unwrap(), stack.pop().unwrap());
            let both = x.iter().zip(&y);
            stack.push(match random_number.below(4) {
                0 => (f.and(&g).unwrap(), both.map(|(a, b)| *a && *b).collect()),
                1 => (f.or(&g).unwrap(), both.map(|(a, b)| *a || *b).collect()),
                2 => (f.xor(&g).unwrap(), both.map(|(a, b)| a != b).collect()),
                _ => (f.minus(&g.not()).unwrap(), both.map(|(a, b)| *a && *b).collect()),
            });
        }
    }
    stack.pop().unwrap()
}

fn now(number: usize) -> usize {
    number & ((1 << PAIRS) - 1)
}

#[test]
fn operations_agree_with_enumeration_wherever_the_variables_stand() {
    for seed in 0..300 {
        let mut numbers = Random::new(seed);
        let diagrams = diagrams();
        let (f, x) = random(&diagrams, &mut numbers, true);
        let (g, y) = random(&diagrams, &mut numbers, true);
        if seed % 3 == 0 {
            diagrams.sift().unwrap();
        }
        assert_same(&f, &x, "f");
        let table = |op: fn(bool, bool) -> bool| -> Table { x.iter().zip(&y).map(|(a, b)| op(*a, *b)).collect() };
        assert_same(&f.and(&g).unwrap(), &table(|a, b| a && b), "and");
        assert_same(&f.xor(&g).unwrap(), &table(|a, b| a != b), "xor");
        assert_same(&f.minus(&g).unwrap(), &table(|a, b| a && !b), "minus");
        assert_eq!(f.is_disjoint(&g).unwrap(), !table(|a, b| a && b).contains(&true));
        assert_eq!(f.is_subset(&g).unwrap(), !table(|a, b| a && !b).contains(&true));
        let pairs = [numbers.below(PAIRS), numbers.below(PAIRS)];
        let mask = pairs.iter().fold(0usize, |mask, pair| mask | 1 << pair);
        let exists: Table = (0..VALUES).map(|n| (0..VALUES).any(|m| m & !mask == n & !mask && x[m])).collect();
        assert_same(&f.exists(&diagrams.cube(&pairs).unwrap()).unwrap(), &exists, "exists");
    }
}

#[test]
fn images_agree_with_enumeration_wherever_the_variables_stand() {
    for seed in 0..300 {
        let mut numbers = Random::new(seed + 1000);
        let diagrams = diagrams();
        let (set, x) = random(&diagrams, &mut numbers, false);
        let (relation, y) = random(&diagrams, &mut numbers, true);
        let pairs: Vec<u32> = (0..PAIRS).filter(|_| numbers.below(2) == 1).collect();
        let mask = pairs.iter().fold(0usize, |mask, pair| mask | 1 << pair);
        // A relation says nothing about the next value of what it does not write.
        let unwritten: Vec<u32> = (0..PAIRS).filter(|pair| !pairs.contains(pair)).collect();
        let mut freed = relation;
        let mut freed_table = y;
        for pair in &unwritten {
            let literal = diagrams.next(*pair).unwrap();
            freed = freed.exists(&literal).unwrap();
            let bit = 1usize << (pair + PAIRS);
            freed_table = (0..VALUES).map(|n| freed_table[n & !bit] || freed_table[n | bit]).collect();
        }
        if seed % 3 == 0 {
            diagrams.sift().unwrap();
        }
        let written = diagrams.written(&pairs);
        let steps = |from: usize, to: usize| from & !mask == to & !mask && freed_table[from | to << PAIRS];
        let states = 0..1usize << PAIRS;
        let image: Vec<bool> = states.clone().map(|to| states.clone().any(|from| x[from] && steps(from, to))).collect();
        let preimage: Vec<bool> =
            states.clone().map(|from| states.clone().any(|to| x[to] && steps(from, to))).collect();
        let spread = |by_state: &[bool]| -> Table { (0..VALUES).map(|n| by_state[now(n)]).collect() };
        assert_same(&set.image(&freed, written).unwrap(), &spread(&image), "image");
        assert_same(&set.preimage(&freed, written).unwrap(), &spread(&preimage), "preimage");
        let (within, z) = random(&diagrams, &mut numbers, false);
        let part: Vec<bool> = preimage.iter().zip(&z).map(|(x, y)| *x && *y).collect();
        assert_same(&set.preimage_within(&freed, written, &within).unwrap(), &spread(&part), "preimage within");
        let mut reached: Vec<bool> = x[..1 << PAIRS].to_vec();
        for _ in 0..1 << PAIRS {
            let more: Vec<bool> = states
                .clone()
                .map(|to| reached[to] || states.clone().any(|from| reached[from] && steps(from, to)))
                .collect();
            reached = more;
        }
        let saturated = set.saturated(&[(freed.clone(), written)]).unwrap();
        assert_same(&saturated, &spread(&reached), "saturation");
        let count = reached.iter().filter(|is_in| **is_in).count();
        assert_eq!(saturated.count(), BigUint::from(count));
    }
}

#[test]
fn a_state_that_is_picked_is_in_the_set() {
    for seed in 0..100 {
        let mut numbers = Random::new(seed + 5000);
        let diagrams = diagrams();
        let (set, table) = random(&diagrams, &mut numbers, false);
        match set.pick() {
            None => assert!(!table.contains(&true)),
            Some(state) => {
                assert!(set.contains(&state));
                let only = set.only(&state).unwrap();
                assert_eq!(only.count(), BigUint::from(1u8));
                assert!(only.is_subset(&set).unwrap());
            }
        }
    }
}

#[test]
fn sifting_finds_the_order_of_a_sum_of_products() {
    let pairs = 24;
    let diagrams = Diagrams::new(pairs, 1 << 20, Budget::unlimited());
    let mut sum = diagrams.constant(false);
    for pair in 0..pairs / 2 {
        let product = diagrams.now(pair).unwrap().and(&diagrams.now(pair + pairs / 2).unwrap()).unwrap();
        sum = sum.or(&product).unwrap();
    }
    let before = (sum.nodes(), sum.count());
    diagrams.sift().unwrap();
    assert!(before.0 > 4000, "{}", before.0);
    assert_eq!(sum.nodes(), 24);
    assert_eq!(sum.count(), before.1);
}

#[test]
fn a_full_table_and_a_wish_to_stop_end_an_operation() {
    let cancellation = Cancellation::new();
    let diagrams = Diagrams::new(40, 5000, Budget::unlimited().with_cancellation(&cancellation));
    let build = || {
        let mut sum = diagrams.constant(false);
        for pair in 0..20 {
            let product = diagrams.now(pair)?.and(&diagrams.now(pair + 20)?)?;
            sum = sum.or(&product)?;
        }
        Ok(sum)
    };
    assert_eq!(build().map(|sum: Bdd| sum.nodes()), Err(SetError::Memory));
    cancellation.cancel();
    assert_eq!(build().map(|sum: Bdd| sum.nodes()), Err(SetError::Cancelled));
}

#[test]
fn relational_products_and_restrictions_agree_with_enumeration() {
    for seed in 0..200 {
        let mut numbers = Random::new(seed);
        let diagrams = diagrams();
        let (f, x) = random(&diagrams, &mut numbers, true);
        let (g, y) = random(&diagrams, &mut numbers, true);
        if seed % 3 == 0 {
            diagrams.sift().unwrap();
        }
        let literals: Vec<(u32, bool)> = (0..3).map(|_| (numbers.below(PAIRS), numbers.below(2) == 1)).collect();
        let bit = |(pair, next): &(u32, bool)| 1 << (pair + if *next { PAIRS } else { 0 });
        let mask = literals.iter().fold(0usize, |mask, literal| mask | bit(literal));
        let product: Table = (0..VALUES).map(|n| (0..VALUES).any(|m| m & !mask == n & !mask && x[m] && y[m])).collect();
        let cube = diagrams.cube_of(&literals).unwrap();
        assert_same(&f.and_exists(&g, &cube).unwrap(), &product, "and_exists");
        let restricted = f.restrict(&g).unwrap();
        for number in (0..VALUES).filter(|number| y[*number]) {
            assert_eq!(value(&restricted, number), x[number], "restrict at {number:b}, seed {seed}");
        }
        let (state, _) = random(&diagrams, &mut numbers, false);
        assert_eq!(state.primed().unwrap().unprimed().unwrap(), state);
        if let Some([now, next]) = f.pick_step() {
            let number = (0..PAIRS as usize).fold(0, |number, pair| {
                number | usize::from(now[pair]) << pair | usize::from(next[pair]) << (pair + PAIRS as usize)
            });
            assert!(x[number], "pick_step, seed {seed}");
        }
    }
}

#[test]
fn variables_are_moved_in_the_midst_of_an_operation() {
    const HALF: u32 = 20;
    let diagrams = Diagrams::new(2 * HALF, 1 << 24, Budget::unlimited());
    diagrams.reorder_when_large(true);
    diagrams.reorder_early(100);
    // In the first order the diagram has a node for each value of the upper half.
    let mut parts: Vec<Bdd> =
        (0..HALF).map(|bit| diagrams.now(bit).unwrap().iff(&diagrams.now(bit + HALF).unwrap()).unwrap()).collect();
    while parts.len() > 1 {
        let (one, other) = (parts.remove(0), parts.remove(0));
        parts.push(one.and(&other).unwrap());
    }
    assert_eq!(parts[0].count(), BigUint::from(1u32) << HALF);
    assert!(diagrams.size().reorderings > 0, "{:?}", diagrams.size());
    assert!(parts[0].nodes() < 1000, "{} nodes", parts[0].nodes());
    assert!(diagrams.size().peak < 1 << HALF, "{:?}", diagrams.size());
}
