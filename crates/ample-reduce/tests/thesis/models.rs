//! The systems of the thesis. Transition number `n` is the thesis's t`n + 1`, unless said otherwise.

use super::system::{System, is, says, write};
use ample_reduce::objects::Value;
use ample_reduce::scheme::{Kind, Verb};

/// A system with two processes at these locations and two variables.
fn two_processes(a: u32, b: u32) -> System {
    let mut system = System::new();
    for location in [a, b] {
        system.process(location);
        system.variable();
    }
    system
}

const A: u32 = 0;
const B: u32 = 1;
const X: u32 = 0;
const Y: u32 = 1;

pub fn example_4_8() -> System {
    let mut system = two_processes(0, 0);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(A, 1, 2)], &[], &[write(Y, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system
}

pub fn example_4_11() -> System {
    let mut system = two_processes(0, 0);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(A, 0, 3)], &[is(X, 1)], &[write(X, 0)]);
    system.transition(&[(A, 1, 2)], &[], &[write(Y, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system
}

pub fn example_4_19() -> System {
    let mut system = two_processes(1, 1);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(A, 1, 2)], &[], &[write(Y, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system.transition(&[(B, 1, 0)], &[], &[write(X, 0)]);
    system
}

/// A channel with three of five messages.
pub fn example_4_30() -> System {
    let mut system = two_processes(0, 0);
    let queue = system.channel(5, &[1, 1, 1]);
    system.transition(&[(A, 0, 1)], &[], &[(queue, Verb::Receive, 0)]);
    system.transition(&[(A, 1, 0)], &[], &[write(X, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(B, 1, 2)], &[says(queue, Verb::Empty, true)], &[]);
    system.transition(&[(B, 1, 3)], &[says(queue, Verb::Empty, false)], &[]);
    system
}

pub fn example_5_1() -> System {
    let mut system = two_processes(0, 0);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 0)]);
    system.transition(&[(A, 1, 2)], &[], &[write(Y, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system.transition(&[(B, 1, 2)], &[], &[write(X, 1)]);
    system
}

pub fn example_5_5() -> System {
    let mut system = two_processes(0, 0);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(A, 1, 2)], &[], &[write(X, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system.transition(&[(B, 1, 2)], &[], &[write(Y, 0)]);
    system
}

/// The location `l` is 1 of the second process.
pub fn example_6_1() -> System {
    let mut system = two_processes(0, 0);
    system.transition(&[(A, 0, 1)], &[], &[write(X, 1)]);
    system.transition(&[(A, 1, 0)], &[], &[write(X, 0)]);
    system.transition(&[(B, 0, 1)], &[], &[write(Y, 1)]);
    system
}

/// A system for sleep sets (ch. 5): without waking up, some orders lose states.
pub fn revisits() -> System {
    let mut system = System::new();
    for _ in 0..3 {
        system.process(0);
    }
    system.variable();
    system.transition(&[(0, 0, 1)], &[is(X, 0)], &[write(X, 0)]);
    system.transition(&[(0, 1, 0)], &[is(X, 0)], &[]);
    system.transition(&[(1, 0, 2)], &[], &[]);
    system.transition(&[(1, 0, 1)], &[is(X, 1)], &[write(X, 1)]);
    system.transition(&[(2, 0, 1)], &[], &[]);
    system.transition(&[(2, 0, 1)], &[is(X, 0)], &[]);
    system.transition(&[(2, 1, 0)], &[is(X, 0)], &[]);
    system
}

/// Philosopher `i` takes fork `i`, then the next one, and gives them back in that order.
pub fn philosophers(number: u32) -> System {
    let mut system = System::new();
    for _ in 0..number {
        system.process(0);
        system.variable();
    }
    for philosopher in 0..number {
        let (left, right) = (philosopher, (philosopher + 1) % number);
        system.transition(&[(philosopher, 0, 1)], &[is(left, 0)], &[write(left, 1)]);
        system.transition(&[(philosopher, 1, 2)], &[is(right, 0)], &[write(right, 1)]);
        system.transition(&[(philosopher, 2, 3)], &[], &[write(left, 0)]);
        system.transition(&[(philosopher, 3, 0)], &[], &[write(right, 0)]);
    }
    system
}

/// How the producer and the consumer wait for room and for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waiting {
    /// By the send and the receive themselves.
    Implicit,
    /// By conditions of their own.
    Literal,
}

/// Ex. 8.1, the consumer first: it is preferred where both would do.
pub fn producer_and_consumer(capacity: u32, waiting: Waiting) -> System {
    let mut system = System::new();
    let (consumer, producer) = (system.process(0), system.process(0));
    let queue = system.channel(capacity, &[]);
    let guards = |verb| if waiting == Waiting::Literal { vec![says(queue, verb, false)] } else { vec![] };
    system.transition(&[(consumer, 0, 0)], &guards(Verb::Empty), &[(queue, Verb::Receive, 0)]);
    system.transition(&[(producer, 0, 0)], &guards(Verb::Full), &[(queue, Verb::Send, 1)]);
    system
}

/// Processes that take their turns: nothing is independent of anything.
pub fn turns(number: u32) -> System {
    let mut system = System::new();
    let turn = system.variable();
    for process in 0..number {
        system.process(0);
        let next = i64::from((process + 1) % number);
        system.transition(&[(process, 0, 1)], &[is(turn, i64::from(process))], &[write(turn, next)]);
        system.transition(&[(process, 1, 0)], &[is(turn, i64::from(process))], &[write(turn, next)]);
    }
    system
}

/// Two processes that meet, a third that guards a critical section with a semaphore.
pub fn meeting() -> System {
    let mut system = System::new();
    for _ in 0..3 {
        system.process(0);
    }
    let semaphore = system.object(Kind::Semaphore { most: 1 }, Value::Number(1));
    system.transition(&[(0, 0, 1), (1, 0, 1)], &[], &[]);
    system.transition(&[(0, 1, 2)], &[], &[(semaphore, Verb::Down, 0)]);
    system.transition(&[(0, 2, 0), (1, 1, 0)], &[], &[(semaphore, Verb::Up, 0)]);
    system.transition(&[(2, 0, 1)], &[], &[(semaphore, Verb::Down, 0)]);
    system.transition(&[(2, 1, 0)], &[], &[(semaphore, Verb::Up, 0)]);
    system
}
