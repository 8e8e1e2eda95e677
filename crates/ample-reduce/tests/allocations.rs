//! Persistent sets are computed without allocations, once the memory is there.

use ample_reduce::algorithms::{Algorithm, Chooser};
use ample_reduce::objects::Table;
use ample_reduce::scheme::{
    Condition, ConditionNumber, Kind, Object, Operation, ProcessNumber, Scheme, Step, Transition, TransitionNumber,
    Verb, View,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: everything is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: the layout is the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the pointer came from `alloc` with that layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Every process stands at its first location, and every channel holds one message.
struct Start {
    enabled: Vec<TransitionNumber>,
}

impl View for Start {
    fn location(&self, _: ProcessNumber) -> Option<u32> {
        Some(0)
    }

    fn enabled(&self) -> &[TransitionNumber] {
        &self.enabled
    }

    fn is_enabled(&self, transition: TransitionNumber) -> bool {
        self.enabled.contains(&transition)
    }

    fn holds(&mut self, _: TransitionNumber, _: ConditionNumber) -> bool {
        false
    }

    fn fill(&mut self, _: u32) -> u32 {
        1
    }
}

/// Processes in a ring that send to the next and receive from the one before, and could do something else.
fn ring(number: u32) -> (Scheme, Start) {
    let mut scheme = Scheme::default();
    let mut start = Start { enabled: Vec::new() };
    for process in 0..number {
        scheme.processes.push(String::new());
        scheme.objects.push(Object { kind: Kind::Channel { capacity: 2 }, name: String::new() });
        let look = Operation { object: process, verb: Verb::Full };
        scheme.conditions.push(Condition { operations: vec![look], is_definedness: false, text: String::new() });
        let mut add = |from, conditions, command| {
            let steps = vec![Step { process, from, to: vec![1 - from] }];
            let label = String::new();
            scheme.transitions.push(Transition {
                steps,
                conditions,
                command,
                is_global: false,
                is_timeout: false,
                label,
            });
            scheme.transitions.len() as TransitionNumber - 1
        };
        start.enabled.push(add(0, vec![], vec![Operation { object: process, verb: Verb::Send }]));
        add(0, vec![process], vec![]);
        add(1, vec![], vec![Operation { object: (process + 1) % number, verb: Verb::Receive }]);
    }
    (scheme, start)
}

#[test]
fn nothing_is_allocated_for_a_set() {
    let (scheme, mut view) = ring(100);
    let mut chooser = Chooser::new(Table::Conditional);
    chooser.update(&scheme);
    let mut set = Vec::new();
    let mut all = |set: &mut Vec<TransitionNumber>| {
        for algorithm in Algorithm::ALL {
            chooser.smallest(algorithm, &scheme, &mut view, set);
            for place in 0..view.enabled.len() {
                let seed = view.enabled[place];
                chooser.persistent(algorithm, &scheme, &mut view, seed, set);
            }
        }
    };
    all(&mut set);
    all(&mut set);
    let before = ALLOCATIONS.get();
    all(&mut set);
    assert_eq!(ALLOCATIONS.get() - before, 0);
}
