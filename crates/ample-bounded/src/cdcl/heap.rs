//! The variables that have no value, the most active one first.

/// A heap of variables.
#[derive(Default)]
pub(super) struct Heap {
    items: Vec<u32>,
    /// By variable: its place in the heap, plus one; 0 if it is not there.
    places: Vec<u32>,
    activities: Vec<f64>,
    increment: f64,
    is_built: bool,
}

impl Heap {
    pub fn add_variable(&mut self) {
        self.places.push(0);
        self.activities.push(0.0);
    }

    #[inline]
    pub fn is_built(&self) -> bool {
        self.is_built
    }

    pub fn clear(&mut self) {
        for variable in self.items.drain(..) {
            self.places[variable as usize] = 0;
        }
        self.is_built = false;
    }

    pub fn build(&mut self, variables: impl Iterator<Item = u32>) {
        self.items.extend(variables);
        for (place, variable) in (1..).zip(&self.items) {
            self.places[*variable as usize] = place;
        }
        for place in (0..self.items.len() / 2).rev() {
            self.down(place);
        }
        self.is_built = true;
    }

    #[inline]
    pub fn insert(&mut self, variable: u32) {
        if self.places[variable as usize] == 0 {
            self.items.push(variable);
            self.places[variable as usize] = self.items.len() as u32;
            self.up(self.items.len() - 1);
        }
    }

    pub fn pop(&mut self) -> Option<u32> {
        let first = *self.items.first()?;
        let last = self.items.pop()?;
        self.places[first as usize] = 0;
        if last != first {
            self.items[0] = last;
            self.places[last as usize] = 1;
            self.down(0);
        }
        Some(first)
    }

    /// The variable was part of a conflict.
    #[inline]
    pub fn bump(&mut self, variable: u32) {
        self.increment = self.increment.max(1.0);
        self.activities[variable as usize] += self.increment;
        if self.activities[variable as usize] > 1e100 {
            self.activities.iter_mut().for_each(|activity| *activity *= 1e-100);
            self.increment = (self.increment * 1e-100).max(1.0);
        }
        let place = self.places[variable as usize];
        if place > 0 {
            self.up(place as usize - 1);
        }
    }

    /// What was active before counts less.
    pub fn decay(&mut self, factor: f64) {
        self.increment /= factor;
    }

    #[inline]
    fn is_before(&self, one: u32, other: u32) -> bool {
        self.activities[one as usize] > self.activities[other as usize]
    }

    #[inline]
    fn put(&mut self, place: usize, variable: u32) {
        self.items[place] = variable;
        self.places[variable as usize] = place as u32 + 1;
    }

    fn up(&mut self, mut place: usize) {
        let variable = self.items[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if !self.is_before(variable, self.items[parent]) {
                break;
            }
            self.put(place, self.items[parent]);
            place = parent;
        }
        self.put(place, variable);
    }

    fn down(&mut self, mut place: usize) {
        let variable = self.items[place];
        loop {
            let mut child = 2 * place + 1;
            if child >= self.items.len() {
                break;
            }
            if child + 1 < self.items.len() && self.is_before(self.items[child + 1], self.items[child]) {
                child += 1;
            }
            if !self.is_before(self.items[child], variable) {
                break;
            }
            self.put(place, self.items[child]);
            place = child;
        }
        self.put(place, variable);
    }
}
