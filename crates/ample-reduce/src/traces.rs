//! Mazurkiewicz traces (Godefroid's thesis, §3.2): words of transitions, up to the order of neighbours that are independent.
//!
//! Independence is given as a function. Where it is the same everywhere, letters are looked for from the front and must
//! commute with all before them. Where it depends on the state (the functions that end in `_from`), two neighbours may
//! change places only if they are independent in the state where they occur, and the class is built by changing places
//! until nothing new comes: it may be no partial order, and it is exponential, so these are for small words.

use std::collections::HashSet;
use std::hash::Hash;

/// Do the two words belong to the same trace?
///
/// ```
/// use ample_reduce::traces::same_trace;
/// let independent = |a: char, b: char| a != b && a != 'a' && b != 'a';
/// assert!(same_trace(&['a', 'b', 'c', 'a'], &['a', 'c', 'b', 'a'], independent));
/// assert!(!same_trace(&['a', 'b', 'c', 'a'], &['b', 'a', 'c', 'a'], independent));
/// ```
pub fn same_trace<L: Copy + PartialEq>(one: &[L], other: &[L], independent: impl FnMut(L, L) -> bool) -> bool {
    one.len() == other.len() && is_prefix(one, other, independent)
}

/// Is the word a prefix of a member of the other word's trace, `w ∈ Pref([w′])`?
///
/// ```
/// use ample_reduce::traces::is_prefix;
/// assert!(is_prefix(&[3], &[1, 2, 3], |a, b| a != b));
/// assert!(!is_prefix(&[3], &[1, 2, 3], |a, b| (a, b) != (2, 3) && (a, b) != (3, 2)));
/// ```
pub fn is_prefix<L: Copy + PartialEq>(word: &[L], of: &[L], mut independent: impl FnMut(L, L) -> bool) -> bool {
    let mut rest = of.to_vec();
    word.iter().all(|letter| {
        let Some(place) = rest.iter().position(|other| other == letter) else { return false };
        let is_free = rest[..place].iter().all(|before| independent(*before, *letter));
        rest.remove(place);
        is_free
    })
}

/// The members of the word's trace.
///
/// ```
/// use ample_reduce::traces::members;
/// assert_eq!(members(&[1, 2], |_, _| true).len(), 2);
/// ```
pub fn members<L: Copy + Eq + Hash>(word: &[L], independent: impl Fn(L, L) -> bool) -> Vec<Vec<L>> {
    members_from(&(), word, |(), _| Some(()), |(), one, other| independent(one, other))
}

/// The members of the word's conditional trace `[w]ₛ`. `step` is the state after a transition, if it is enabled.
pub fn members_from<S, L: Copy + Eq + Hash>(
    state: &S,
    word: &[L],
    step: impl Fn(&S, L) -> Option<S>,
    independent: impl Fn(&S, L, L) -> bool,
) -> Vec<Vec<L>> {
    let mut seen = HashSet::from([word.to_vec()]);
    let mut members = vec![word.to_vec()];
    let mut next = 0;
    while let Some(member) = members.get(next).cloned() {
        next += 1;
        for place in swaps(state, &member, &step, &independent) {
            let mut other = member.clone();
            other.swap(place, place + 1);
            if seen.insert(other.clone()) {
                members.push(other);
            }
        }
    }
    members
}

/// The places at which two different neighbours are independent in the state where they occur.
fn swaps<S, L: Copy + Eq>(
    state: &S,
    word: &[L],
    step: impl Fn(&S, L) -> Option<S>,
    independent: impl Fn(&S, L, L) -> bool,
) -> Vec<usize> {
    let mut places = Vec::new();
    let mut here = None;
    for (place, pair) in word.windows(2).enumerate() {
        let before = here.as_ref().unwrap_or(state);
        if pair[0] != pair[1] && independent(before, pair[0], pair[1]) {
            places.push(place);
        }
        here = step(before, pair[0]);
        if here.is_none() {
            break;
        }
    }
    places
}

/// Do the two words from that state belong to the same conditional trace?
pub fn same_trace_from<S, L: Copy + Eq + Hash>(
    state: &S,
    one: &[L],
    other: &[L],
    step: impl Fn(&S, L) -> Option<S>,
    independent: impl Fn(&S, L, L) -> bool,
) -> bool {
    one.len() == other.len() && is_prefix_from(state, one, other, step, independent)
}

/// Is the word a prefix of a member of the other word's conditional trace, `w ∈ Pref([w′]ₛ)`?
pub fn is_prefix_from<S, L: Copy + Eq + Hash>(
    state: &S,
    word: &[L],
    of: &[L],
    step: impl Fn(&S, L) -> Option<S>,
    independent: impl Fn(&S, L, L) -> bool,
) -> bool {
    word.iter().all(|letter| of.contains(letter))
        && members_from(state, of, step, independent).iter().any(|member| member.starts_with(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ex. 3.9: t1 depends on t2 and t3, which are independent of each other.
    #[test]
    fn the_trace_of_the_thesis_has_two_members() {
        let independent = |one: u32, other: u32| one != other && one != 1 && other != 1;
        let mut trace = members(&[1, 2, 3, 1], independent);
        trace.sort();
        assert_eq!(trace, [[1, 2, 3, 1], [1, 3, 2, 1]]);
        assert!(same_trace(&trace[0], &trace[1], independent));
        assert!(is_prefix(&[1, 3], &trace[0], independent) && !is_prefix(&[3], &trace[0], independent));
    }

    #[test]
    fn members_are_the_words_of_the_same_trace() {
        let independent = |one: u32, other: u32| one.abs_diff(other) == 2;
        let word = [1, 3, 2, 1, 3, 4, 2];
        let trace = members(&word, independent);
        for member in &trace {
            assert!(same_trace(member, &word, independent));
            assert!((0..=word.len()).all(|end| is_prefix(&member[..end], &word, independent)));
        }
        assert!(trace.len() > 1 && !same_trace(&[3, 1, 2, 1, 4, 3, 2], &word, independent));
    }

    /// A send and a receive commute only while the channel is neither empty nor full.
    #[test]
    fn conditional_traces_ask_at_the_state() {
        let step = |fill: &u32, letter: char| match letter {
            's' => (*fill < 2).then_some(fill + 1),
            _ => fill.checked_sub(1),
        };
        let independent = |fill: &u32, one: char, other: char| one != other && *fill == 1;
        assert_eq!(members_from(&1, &['s', 'r'], step, independent).len(), 2);
        assert_eq!(members_from(&0, &['s', 'r'], step, independent).len(), 1);
        assert!(same_trace_from(&0, &['s', 's', 'r'], &['s', 'r', 's'], step, independent));
        assert!(!is_prefix_from(&0, &['s', 'r', 'r'], &['s', 's', 'r'], step, independent));
    }
}
