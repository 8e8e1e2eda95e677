//! Dining philosophers: a deadlock, how to avoid it, and who may go hungry for ever.
//!
//!     cargo run -p ample-explicit --example philosophers

use ample_explicit::model::{Check, Fairness, Model};

/// So many philosophers at a round table, with a fork between any two. The last one may take the other fork first.
struct Philosophers {
    count: usize,
    last_is_left_handed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Philosopher {
    Thinking,
    HasOneFork,
    Eating,
}

#[derive(Clone, Debug)]
enum Action {
    TakeFork(usize),
    Eat(usize),
    Leave(usize),
}

impl Philosophers {
    /// The fork that is taken first, and the other.
    fn forks(&self, philosopher: usize) -> (usize, usize) {
        let (right, left) = (philosopher, (philosopher + 1) % self.count);
        if self.last_is_left_handed && philosopher + 1 == self.count { (left, right) } else { (right, left) }
    }

    fn is_free(&self, state: &[Philosopher], fork: usize) -> bool {
        !(0..self.count).any(|i| match state[i] {
            Philosopher::Thinking => false,
            Philosopher::HasOneFork => self.forks(i).0 == fork,
            Philosopher::Eating => self.forks(i).0 == fork || self.forks(i).1 == fork,
        })
    }
}

impl Model for Philosophers {
    type State = Vec<Philosopher>;
    type Action = Action;

    fn init(&self) -> Vec<Vec<Philosopher>> {
        vec![vec![Philosopher::Thinking; self.count]]
    }

    fn actions(&self, _: &Vec<Philosopher>) -> Vec<Action> {
        (0..self.count).flat_map(|i| [Action::TakeFork(i), Action::Eat(i), Action::Leave(i)]).collect()
    }

    fn next(&self, state: &Vec<Philosopher>, action: &Action) -> Option<Vec<Philosopher>> {
        use Philosopher::{Eating, HasOneFork, Thinking};
        let (i, after) = match *action {
            Action::TakeFork(i) if state[i] == Thinking && self.is_free(state, self.forks(i).0) => (i, HasOneFork),
            Action::Eat(i) if state[i] == HasOneFork && self.is_free(state, self.forks(i).1) => (i, Eating),
            Action::Leave(i) if state[i] == Eating => (i, Thinking),
            _ => return None,
        };
        let mut next = state.clone();
        next[i] = after;
        Some(next)
    }

    fn process(&self, action: &Action) -> Option<u8> {
        let (Action::TakeFork(i) | Action::Eat(i) | Action::Leave(i)) = action;
        Some(*i as u8)
    }

    fn properties<'m>(&'m self, check: Check<'m, Self>) -> Check<'m, Self> {
        check
            .condition("first eats", |s| s[0] == Philosopher::Eating)
            .deadlock_free()
            .ltl("first eats again and again", "always eventually \"first eats\"")
    }
}

fn main() {
    println!("{}", Philosophers { count: 3, last_is_left_handed: false }.check().run());
    let table = Philosophers { count: 3, last_is_left_handed: true };
    println!("{}", table.check().fairness(Fairness::Weak).run());
    println!("{}", table.check().fairness(Fairness::Strong).run());
}
