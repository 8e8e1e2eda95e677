//! Structural analysis on nets whose answers are known.

use std::time::{Duration, Instant};

use ample_budget::Budget;
use ample_petri::net::{Condition, Net, Place, Transition};
use ample_petri::structure::bounds::bounds;
use ample_petri::structure::equation::{Answer, Effort, Equation, deadlock, enabled, refute};
use ample_petri::structure::semiflows::{Limits, invariants, semiflows};
use ample_petri::structure::traps::{Arcs, has_marked_traps, maximal_siphon, maximal_trap, never_fires};
use ample_petri::structure::units::{order, order_by_units, span, units};
use ample_petri::structure::{is_conservative, is_free_choice, is_ordinary};

/// Nothing is left of it.
fn over() -> Budget {
    Budget::unlimited().with_time(Duration::ZERO)
}

fn go_on() -> Budget {
    Budget::unlimited()
}

type Weights = Vec<(u32, u64)>;

fn net(initial: &[u64], transitions: &[(&[u32], &[u32])]) -> Net {
    let weighted: Vec<(Weights, Weights)> = transitions.iter().map(|(takes, adds)| (arcs(takes), arcs(adds))).collect();
    weighted_net(initial, weighted)
}

fn arcs(places: &[u32]) -> Vec<(u32, u64)> {
    let mut arcs: Vec<(u32, u64)> = Vec::new();
    let mut places = places.to_vec();
    places.sort_unstable();
    for place in places {
        match arcs.last_mut() {
            Some(last) if last.0 == place => last.1 += 1,
            _ => arcs.push((place, 1)),
        }
    }
    arcs
}

fn weighted_net(initial: &[u64], transitions: Vec<(Weights, Weights)>) -> Net {
    let place = |(number, initial): (usize, &u64)| Place { name: format!("p{number}"), initial: *initial, bound: None };
    let transition = |(number, (takes, adds))| Transition { name: format!("t{number}"), takes, adds };
    Net {
        places: initial.iter().enumerate().map(place).collect(),
        transitions: transitions.into_iter().enumerate().map(transition).collect(),
        exclusive: Vec::new(),
    }
}

fn at_least(place: u32, tokens: i64) -> Condition {
    Condition::AtMost { terms: vec![(place, -1)], most: -tokens }
}

/// Philosopher `i` thinks (4i), holds the left fork (4i + 1), eats (4i + 2); fork `i` is 4i + 3. If `last_is_left` the
/// last one takes its forks in the other order.
fn philosophers(count: u32, last_is_left: bool) -> Net {
    let mut initial = Vec::new();
    let mut transitions: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    for i in 0..count {
        initial.extend([1, 0, 0, 1]);
        let (think, one, eat) = (4 * i, 4 * i + 1, 4 * i + 2);
        let (mut first, mut second) = (4 * i + 3, 4 * ((i + 1) % count) + 3);
        if last_is_left && i + 1 == count {
            (first, second) = (second, first);
        }
        transitions.push((vec![think, first], vec![one]));
        transitions.push((vec![one, second], vec![eat]));
        transitions.push((vec![eat], vec![think, first, second]));
    }
    let borrowed: Vec<(&[u32], &[u32])> = transitions.iter().map(|(takes, adds)| (&takes[..], &adds[..])).collect();
    net(&initial, &borrowed)
}

#[test]
fn semiflows_of_philosophers_are_those_of_forks_and_people() {
    for count in [2u32, 5, 40] {
        let net = philosophers(count, false);
        let found = semiflows(&net, Limits::default(), &go_on());
        assert!(found.complete);
        assert_eq!(found.flows.len(), 2 * count as usize);
        assert!(found.flows.iter().all(|flow| flow.tokens == 1));
        let all = invariants(&net, &go_on());
        assert_eq!(all.rank, Some(2 * count as usize));
        assert_eq!(all.basis.len(), 2 * count as usize);
    }
}

#[test]
fn a_weighted_invariant_is_found_and_bounds_by_its_weights() {
    // Two of p0 become one p1, one p1 becomes two p0: p0 + 2·p1 = 5.
    let net = weighted_net(&[5, 0], vec![(vec![(0, 2)], vec![(1, 1)]), (vec![(1, 1)], vec![(0, 2)])]);
    let found = semiflows(&net, Limits::default(), &go_on());
    assert_eq!(found.flows.len(), 1);
    assert_eq!(found.flows[0].weights, [(0, 1), (1, 2)]);
    assert_eq!(bounds(&net, &go_on()), [Some(5), Some(2)]);
}

#[test]
fn programs_bound_what_no_semiflow_bounds() {
    // Tokens get lost, so that nothing is invariant; a third place grows without end.
    let net = net(&[2, 0, 0], &[(&[0], &[1]), (&[1], &[]), (&[], &[2])]);
    assert!(semiflows(&net, Limits::default(), &go_on()).flows.is_empty());
    assert_eq!(bounds(&net, &go_on()), [Some(2), Some(2), None]);
}

#[test]
fn exclusive_sets_bound_unless_they_are_wrong_at_the_start() {
    let mut net = net(&[1, 0, 3], &[(&[], &[0, 1, 2])]);
    net.exclusive = vec![vec![0, 1], vec![0, 2], vec![77]];
    assert_eq!(bounds(&net, &go_on()), [Some(1), Some(1), None]);
}

#[test]
fn mutual_exclusion_is_proved_by_the_equation() {
    let net = philosophers(6, false);
    let mut equation = Equation::new(&net).expect("small numbers");
    for i in 0..6 {
        let neighbour = (i + 1) % 6;
        let both = Condition::And(vec![at_least(4 * i + 2, 1), at_least(4 * neighbour + 2, 1)].into());
        assert!(equation.refute(&both, Effort::new(&go_on())).is_refuted());
        let distant = Condition::And(vec![at_least(4 * i + 2, 1), at_least(4 * ((i + 2) % 6) + 2, 1)].into());
        let Answer::Maybe(Some(solution)) = equation.refute(&distant, Effort::new(&go_on())) else {
            panic!("two that do not share a fork can eat")
        };
        let mut marking: Vec<i64> = net.places.iter().map(|place| place.initial as i64).collect();
        for (transition, count) in solution {
            let effect = net.transitions[transition as usize].effect();
            effect.iter().for_each(|(place, by)| marking[*place as usize] += by * count as i64);
        }
        assert!(distant.holds(&marking.iter().map(|tokens| *tokens as u64).collect::<Vec<_>>()));
    }
}

#[test]
fn deadlock_freedom_of_philosophers_with_a_left_hander() {
    for count in [3, 6, 12] {
        let free = philosophers(count, true);
        assert!(refute(&free, &deadlock(&free).expect("small"), Effort::new(&go_on())).is_refuted(), "{count}");
        assert!(has_marked_traps(&free, 100_000, &go_on()), "{count}");
        let stuck = philosophers(count, false);
        assert!(!refute(&stuck, &deadlock(&stuck).expect("small"), Effort::new(&go_on())).is_refuted());
        assert!(!has_marked_traps(&stuck, 100_000, &go_on()));
    }
}

#[test]
fn a_trap_refutes_what_the_equation_allows() {
    // The token goes round between p0 and p1; t2 needs both places to be empty once it has taken p2 twice: the trap
    // {p0, p1} is marked, but two changes of opposite sign let the plain equation lose its token.
    let net = net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[0]), (&[0, 1], &[0]), (&[0], &[0, 1])]);
    let empty = Condition::AtMost { terms: vec![(0, 1), (1, 1)], most: 0 };
    assert!(refute(&net, &empty, Effort::new(&go_on())).is_refuted());
}

#[test]
fn whoever_waits_for_itself_never_fires() {
    // p1 is only filled by a transition that reads p1, p2 by one that needs p1.
    let net = net(&[1, 0, 0], &[(&[0, 1], &[1, 2]), (&[2], &[1, 0])]);
    assert_eq!(never_fires(&net), [true, true]);
    // With a helper that the goal's own solution does not contain.
    let helped = self::net(&[1, 0, 0, 0], &[(&[0, 1], &[1, 2]), (&[3], &[1]), (&[2, 1], &[3])]);
    assert_eq!(never_fires(&helped), [true, true, true]);
    assert!(refute(&helped, &at_least(2, 1), Effort::new(&go_on())).is_refuted());
}

#[test]
fn the_order_of_firing_refutes_where_counting_does_not() {
    // t0 makes p1 from p0 but reads the lock p2; t1 gives the lock for the same single token of p0.
    let net = net(&[1, 0, 0], &[(&[0, 2], &[1, 2]), (&[0], &[2])]);
    assert_eq!(never_fires(&net), [false, false]);
    assert!(refute(&net, &at_least(1, 1), Effort::new(&go_on())).is_refuted());
    let mut equation = Equation::new(&net).expect("small numbers");
    assert!(!equation.is_dead(1, Effort::new(&go_on())));
    assert!(equation.is_dead(0, Effort::new(&go_on())));
}

#[test]
fn whole_numbers_refute_where_fractions_do_not() {
    // Two tokens at a time: p1 is even.
    let net = weighted_net(&[9, 0], vec![(vec![(0, 2)], vec![(1, 2)]), (vec![(1, 2)], vec![(0, 2)])]);
    let three = Condition::And(vec![at_least(1, 3), Condition::AtMost { terms: vec![(1, 1)], most: 3 }].into());
    assert!(refute(&net, &three, Effort::new(&go_on())).is_refuted());
}

#[test]
fn siphons_and_traps_are_the_greatest() {
    let net = net(&[1, 0, 0], &[(&[0], &[1]), (&[1], &[0]), (&[1], &[2])]);
    let arcs = Arcs::of(&net);
    assert_eq!(maximal_siphon(&net, &arcs, &[true, true, true]), [true, true, true]);
    assert_eq!(maximal_siphon(&net, &arcs, &[true, false, true]), [false, false, false]);
    assert_eq!(maximal_siphon(&net, &arcs, &[true, true, false]), [true, true, false]);
    assert_eq!(maximal_trap(&net, &arcs, &[true, true, true]), [true, true, true]);
    assert_eq!(maximal_trap(&net, &arcs, &[true, true, false]), [false, false, false]);
    assert_eq!(maximal_trap(&net, &arcs, &[false, false, true]), [false, false, true]);
}

#[test]
fn kinds_of_nets_are_told_apart() {
    let net = philosophers(3, false);
    assert!(is_ordinary(&net) && !is_free_choice(&net) && !is_conservative(&net));
    let choice = self::net(&[1, 0], &[(&[0], &[1]), (&[0], &[0]), (&[1], &[0])]);
    assert!(is_ordinary(&choice) && is_free_choice(&choice) && is_conservative(&choice));
    let heavy = weighted_net(&[1, 0], vec![(vec![(0, 2)], vec![(1, 2)])]);
    assert!(!is_ordinary(&heavy) && is_conservative(&heavy));
}

#[test]
fn numbers_beyond_64_bits_are_unknown_and_not_a_panic() {
    let big = u64::MAX;
    let nets = [
        weighted_net(&[big, 0], vec![(vec![(0, 1)], vec![(1, 1)])]),
        weighted_net(&[1, 0], vec![(vec![(0, big)], vec![(1, 1)])]),
        weighted_net(&[1 << 62, 1 << 62], vec![(vec![(0, 1 << 62)], vec![(1, (1 << 62) - 1)])]),
        weighted_net(&[1 << 62, 3], vec![(vec![(0, 3)], vec![(1, 1 << 61)]), (vec![(1, 7)], vec![(0, 1 << 60)])]),
        weighted_net(
            &[i64::MAX as u64, 1],
            vec![(vec![(0, i64::MAX as u64)], vec![(1, 5)]), (vec![(1, 9)], vec![(0, 8)])],
        ),
    ];
    for net in &nets {
        bounds(net, &go_on());
        invariants(net, &go_on());
        for goal in [at_least(0, i64::MAX), at_least(1, i64::MAX), at_least(1, -i64::MAX), at_least(9, 1)] {
            refute(net, &goal, Effort::new(&go_on()));
        }
        let extreme = Condition::AtMost { terms: vec![(0, i64::MIN), (1, i64::MAX)], most: i64::MIN };
        refute(net, &extreme, Effort::new(&go_on()));
        if let Some(mut equation) = Equation::new(net) {
            equation.is_at_most(&[(0, i64::MIN)], i64::MAX, Effort::new(&go_on()));
            equation.is_at_most(&[(0, 1)], i64::MIN, Effort::new(&go_on()));
            equation.is_dead(0, Effort::new(&go_on()));
            equation.is_dead(99, Effort::new(&go_on()));
        }
    }
    assert_eq!(enabled(&nets[1], 0), None);
    assert_eq!(deadlock(&nets[1]), None);
}

#[test]
fn nets_without_places_or_transitions_are_fine() {
    let empty = Net::default();
    assert!(bounds(&empty, &go_on()).is_empty() && order(&empty, &go_on()).is_empty());
    assert_eq!(refute(&empty, &Condition::Const(true), Effort::new(&go_on())), Answer::Maybe(Some(vec![])));
    assert!(refute(&empty, &Condition::Const(false), Effort::new(&go_on())).is_refuted());
    assert!(!refute(&empty, &deadlock(&empty).expect("small"), Effort::new(&go_on())).is_refuted());
    assert!(!has_marked_traps(&empty, 10, &go_on()));
    let still = net(&[3], &[]);
    assert_eq!(bounds(&still, &go_on()), [Some(3)]);
}

#[test]
fn stopping_at_once_says_nothing_wrong() {
    let net = philosophers(20, false);
    assert!(!refute(&net, &at_least(0, 2), Effort::new(&over())).is_refuted());
    assert!(bounds(&net, &over()).iter().flatten().all(|bound| *bound >= 1));
    let mut sorted = order(&net, &over());
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..net.places.len() as u32));
}

#[test]
fn units_of_philosophers_hold_one_token_each_and_stay_together() {
    let net = philosophers(10, false);
    let found = units(&net, &semiflows(&net, Limits::default(), &go_on()));
    let mut places: Vec<u32> = found.iter().flatten().copied().collect();
    places.sort_unstable();
    assert!(places.into_iter().eq(0..40));
    assert!(found.len() <= 20, "{} units of 40 places", found.len());
    let ordered = order_by_units(&net, &found, &go_on());
    for unit in &found {
        let at: Vec<usize> = unit.iter().filter_map(|place| ordered.iter().position(|other| other == place)).collect();
        let (first, last) = (at.iter().min().expect("a place"), at.iter().max().expect("a place"));
        assert_eq!(last - first + 1, unit.len());
    }
}

#[test]
fn a_shuffled_chain_is_put_in_order_again() {
    // 53 and 500 have no common divisor, so this is a permutation.
    let at = |number: u32| number * 53 % 500;
    let steps: Vec<([u32; 1], [u32; 1])> = (0..499).map(|number| ([at(number)], [at(number + 1)])).collect();
    let borrowed: Vec<(&[u32], &[u32])> = steps.iter().map(|(takes, adds)| (&takes[..], &adds[..])).collect();
    let net = net(&[0; 500], &borrowed);
    let written: Vec<u32> = (0..500).collect();
    assert_eq!(span(&net, &order(&net, &go_on())), 499);
    assert!(span(&net, &written) > 10_000);
}

#[test]
fn nets_of_tens_of_thousands_of_places_take_seconds() {
    let net = philosophers(10_000, false);
    let start = Instant::now();
    let stop = Budget::unlimited().with_time(Duration::from_secs(60));
    let found = semiflows(&net, Limits::default(), &stop);
    println!("{} semiflows of {} places: {:?}", found.flows.len(), net.places.len(), start.elapsed());
    assert_eq!(found.flows.len(), 20_000);
    assert!(bounds(&net, &stop).iter().all(|bound| *bound == Some(1)));
    println!("bounds: {:?}", start.elapsed());
    assert_eq!(invariants(&net, &stop).rank, Some(20_000));
    println!("invariants: {:?}", start.elapsed());
    assert_eq!(units(&net, &found).iter().map(Vec::len).sum::<usize>(), 40_000);
    println!("units: {:?}", start.elapsed());
    order(&net, &stop);
    println!("order: {:?}", start.elapsed());
    let both = Condition::And(vec![at_least(2, 1), at_least(6, 1)].into());
    assert!(refute(&net, &both, Effort::new(&stop)).is_refuted());
    println!("equation: {:?}", start.elapsed());
    assert!(start.elapsed() < Duration::from_secs(60));
}

#[test]
fn middle_sized_nets_are_answered_without_a_limit_of_time() {
    for count in [50, 200, 500] {
        let net = philosophers(count, true);
        let mut equation = Equation::new(&net).expect("small numbers");
        let start = Instant::now();
        assert!(equation.excludes_deadlock(Effort::new(&go_on())), "{count}");
        println!("{count}: deadlocks: {:?}", start.elapsed());
        let start = Instant::now();
        let eating: Vec<(u32, i64)> = (0..count).map(|i| (4 * i + 2, 1)).collect();
        assert!(equation.is_at_most(&eating, i64::from(count / 2), Effort::new(&go_on())), "{count}");
        println!("{count}: how many eat: {:?}", start.elapsed());
        // A solution, so that it is the equation that does not refute and not a limit.
        let start = Instant::now();
        for number in (0..net.transitions.len() as u32).step_by(25) {
            let goal = enabled(&net, number).expect("small");
            let answer = equation.refute(&goal, Effort::new(&go_on()));
            assert!(matches!(answer, Answer::Maybe(Some(_))), "{count}, transition {number}: {answer:?}");
        }
        println!("{count}: every 25th transition: {:?}", start.elapsed());
    }
}
