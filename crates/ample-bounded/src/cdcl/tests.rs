//! Random questions, whose answers are compared with those of an enumeration, or of another solver.

use ample_boolean::{Dag, Lit};
use ample_random::Random;

use super::*;
use crate::clauses::Clauses;
use crate::solver::Batsat;

fn clause(random: &mut Random, variables: u32) -> Vec<Literal> {
    let length = 1 + random.below(4u32).max(random.below(4u32));
    (0..length).map(|_| Literal(random.below(2 * variables))).collect()
}

fn satisfies(valuation: u32, clause: &[Literal]) -> bool {
    clause.iter().any(|literal| (valuation >> literal.variable() & 1 == 1) != literal.is_negated())
}

/// Clauses of frames come, move and go, and questions have clauses of their own.
#[test]
fn every_question_has_the_answer_of_an_enumeration() {
    for seed in 0..400 {
        let (mut random, variables) = (Random::new(seed), 8);
        let mut solver = Cdcl::default();
        (0..variables).for_each(|_| {
            solver.new_variable();
        });
        let mut always: Vec<Vec<Literal>> = Vec::new();
        let mut lemmas: Vec<(Vec<Literal>, Frame, Lemma)> = Vec::new();
        for step in 0..60 {
            match random.below(6u32) {
                0 if always.len() < 14 => {
                    let made = clause(&mut random, variables);
                    solver.add(&made);
                    always.push(made);
                }
                1 if lemmas.len() < 14 => {
                    let (made, frame) = (clause(&mut random, variables), 1 + random.below(5u32));
                    lemmas.push((made.clone(), frame, solver.add_lemma(&made, frame)));
                }
                2 if !lemmas.is_empty() => {
                    let number = random.below(lemmas.len());
                    let (_, frame, lemma) = &mut lemmas[number];
                    *frame += 1;
                    solver.raise(*lemma, *frame);
                }
                3 if !lemmas.is_empty() => {
                    // It is replaced by a part of it.
                    let (mut part, frame, lemma) = lemmas.swap_remove(random.below(lemmas.len()));
                    if part.len() > 1 {
                        part.swap_remove(random.below(part.len()));
                    }
                    lemmas.push((part.clone(), frame, solver.add_lemma(&part, frame)));
                    solver.remove(lemma);
                }
                _ => {}
            }
            let frame = 1 + random.below(6u32);
            let assumptions: Vec<Literal> =
                (0..random.below(4u32)).map(|_| Literal(random.below(2 * variables))).collect();
            let own = random.one_in(2).then(|| clause(&mut random, variables));
            let holds = |valuation: u32, assumed: &dyn Fn(Literal) -> bool| {
                let active = lemmas.iter().filter(|(_, until, _)| *until >= frame).map(|(clause, ..)| clause);
                always.iter().chain(active).chain(&own).all(|clause| satisfies(valuation, clause))
                    && assumptions.iter().filter(|one| assumed(**one)).all(|one| satisfies(valuation, &[*one]))
            };
            let expected = (0..1 << variables).any(|valuation| holds(valuation, &|_| true));
            let roots: Vec<Literal> = (0..variables).map(|number| Literal(2 * number)).collect();
            let roots = random.one_in(2).then_some(&roots[..]);
            let query = Query { frame, assumptions: &assumptions, clause: own.as_deref(), roots };
            let what = format!("seed {seed}, step {step}");
            assert_eq!(solver.ask(&query, &Budget::unlimited()), Ok(expected), "{what}");
            if expected {
                let value = |number: u32| solver.model(Literal(2 * number)) == Some(true);
                let found = (0..variables).fold(0, |all, number| all | u32::from(value(number)) << number);
                assert!(holds(found, &|_| true), "{what}");
            } else {
                let in_core = |assumption: Literal| solver.is_in_core(assumption);
                assert!(!(0..1 << variables).any(|valuation| holds(valuation, &in_core)), "{what}: core");
            }
        }
    }
}

/// Of random circuits only a part is in the domain of a question.
#[test]
fn gates_outside_of_the_domain_do_not_matter() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let mut dag = Dag::new();
        let mut lits: Vec<Lit> = (0..8).map(|bit| dag.input(bit)).collect();
        for _ in 0..60 {
            let (x, y, z) = (random.pick(&lits), random.pick(&lits), random.pick(&lits));
            let made = match random.below(3u32) {
                0 => dag.and(x, !y),
                1 => dag.ite(x, y, z),
                _ => dag.xor(x, z),
            };
            lits.push(made);
        }
        let budget = Budget::unlimited();
        let (mut solver, mut clauses) = (Cdcl::default(), Clauses::default());
        let (mut other, mut other_clauses) = (Batsat::default(), Clauses::default());
        let mine: Vec<Literal> =
            lits.iter().map(|lit| clauses.literal(&dag, *lit, &mut solver, &budget).unwrap()).collect();
        let theirs: Vec<Literal> =
            lits.iter().map(|lit| other_clauses.literal(&dag, *lit, &mut other, &budget).unwrap()).collect();
        for number in 0..40 {
            if random.one_in(4) {
                let cube: Vec<(usize, bool)> = (0..3).map(|_| (random.below(8usize), random.one_in(2))).collect();
                let of = |all: &[Literal]| -> Vec<Literal> {
                    cube.iter().map(|(bit, value)| all[*bit].negated_if(*value)).collect()
                };
                solver.add_lemma(&of(&mine), 3);
                other.add(&of(&theirs));
            }
            let asked: Vec<(usize, bool)> = (0..3).map(|_| (random.below(lits.len()), random.one_in(2))).collect();
            let of = |all: &[Literal]| -> Vec<Literal> {
                asked.iter().map(|(number, negated)| all[*number].negated_if(*negated)).collect()
            };
            let (assumptions, expected) = (of(&mine), other.solve(&of(&theirs), &budget));
            let query = Query { frame: 3, assumptions: &assumptions, clause: None, roots: Some(&[]) };
            assert_eq!(solver.ask(&query, &budget), expected, "seed {seed}, question {number}");
            if expected == Ok(true) {
                // Inputs without a value may have any.
                let values = dag.values(&|bit| solver.model(mine[bit as usize]) == Some(true));
                let is_right = |(number, negated): &(usize, bool)| values.of(lits[*number]) != *negated;
                assert!(asked.iter().all(is_right), "seed {seed}, question {number}");
            }
        }
    }
}

#[test]
fn restarts_are_those_of_luby() {
    let numbers: Vec<u64> = (0..15).map(luby).collect();
    assert_eq!(numbers, [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8]);
}
