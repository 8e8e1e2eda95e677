//! The heap: a canonical form, so that states which differ only in the numbers of their objects are the same.

use super::state::{Object, State};
use super::{Interpreter, Layout};

impl Interpreter<'_> {
    /// The state with its objects numbered in the order in which they are discovered, breadth first, from the globals and
    /// then from the locals of each process; those that cannot be reached are left out.
    pub fn canonical(&self, state: State) -> State {
        self.renumbered(state).0
    }

    /// The [canonical](Self::canonical) state, and for each object as it was its new reference, which is 0 for garbage.
    pub(super) fn renumbered(&self, state: State) -> (State, Vec<i64>) {
        if state.heap.is_empty() {
            return (state, Vec::new());
        }
        let mut state = state;
        let old = std::mem::take(&mut state.heap);
        let mut discovery = Discovery { numbers: vec![0; old.len()], order: Vec::new() };
        discovery.cells(&mut state.globals, &self.globals);
        for process in &mut state.processes {
            discovery.cells(&mut process.locals, self.locals(process.process));
        }
        let mut next = 0;
        while let Some(number) = discovery.order.get(next) {
            let Object { record, mut cells } = old[*number].clone();
            for slot in &self.references[record.index()] {
                discovery.discover(&mut cells[*slot]);
            }
            state.heap.push(Object { record, cells });
            next += 1;
        }
        (state, discovery.numbers)
    }
}

/// New numbers for objects.
struct Discovery {
    /// By old number: the new reference; 0 if there is none yet.
    numbers: Vec<i64>,
    /// The old numbers, in the order of discovery.
    order: Vec<usize>,
}

impl Discovery {
    fn cells(&mut self, cells: &mut [i64], layout: &Layout) {
        for slot in &layout.references {
            self.discover(&mut cells[*slot]);
        }
    }

    /// Replaces an old reference by the new one.
    fn discover(&mut self, reference: &mut i64) {
        let Some(number) = usize::try_from(*reference).ok().and_then(|reference| reference.checked_sub(1)) else {
            return;
        };
        let Some(new) = self.numbers.get_mut(number) else { return };
        if *new == 0 {
            self.order.push(number);
            *new = self.order.len() as i64;
        }
        *reference = *new;
    }
}
