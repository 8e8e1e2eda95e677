//! The transitions of the states on a depth-first path: first those of the set that was chosen in a state, then the rest,
//! which are postponed until the search [asks for them](crate::space::Checked::rest) where it closes a cycle.
//!
//! A transition knows its place on this stack, so that a space over it keeps nothing else for a state.

/// What was chosen in the states on the path, and what was not.
#[derive(Clone, Debug)]
pub struct Postponed<T> {
    frames: Vec<Frame>,
    /// Those of all frames: first what is in the set, then the rest.
    transitions: Vec<T>,
}

/// The transitions of a state.
#[derive(Clone, Copy, Debug)]
struct Frame {
    start: u32,
    /// So many are in the set.
    chosen: u32,
}

/// A transition, and where those after it are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken<T> {
    /// The transition.
    pub transition: T,
    /// So many frames are below its own, if there is one.
    frame: u32,
    /// Its place in the frame.
    position: u32,
}

/// The place of a transition of a state where nothing is postponed.
const NO_FRAME: u32 = u32::MAX;

impl<T> Taken<T> {
    /// Nothing is postponed in its state.
    pub fn is_of_all(&self) -> bool {
        self.position == NO_FRAME
    }

    /// Another transition in its place.
    #[inline]
    pub fn with(&self, transition: T) -> Taken<T> {
        Taken { transition, frame: self.frame, position: self.position }
    }
}

impl<T> Default for Postponed<T> {
    fn default() -> Self {
        Postponed { frames: Vec::new(), transitions: Vec::new() }
    }
}

impl<T: Copy> Postponed<T> {
    /// A transition of a state where nothing is postponed.
    #[inline]
    pub fn of_all(&self, transition: T) -> Taken<T> {
        Taken { transition, frame: self.frames.len() as u32, position: NO_FRAME }
    }

    /// A state where only some are chosen; the first of them.
    pub fn push(&mut self, chosen: impl IntoIterator<Item = T>, rest: impl IntoIterator<Item = T>) -> Option<Taken<T>> {
        let start = self.transitions.len();
        self.transitions.extend(chosen);
        let count = self.transitions.len() - start;
        self.transitions.extend(rest);
        self.frames.push(Frame { start: start as u32, chosen: count as u32 });
        self.at(self.frames.len() as u32 - 1, 0)
    }

    /// Forgets the states that the search has left when it goes on after a transition.
    #[inline]
    pub fn return_to(&mut self, last: &Taken<T>) {
        let own = if last.is_of_all() { last.frame as usize } else { last.frame as usize + 1 };
        if let Some(above) = self.frames.get(own) {
            self.transitions.truncate(above.start as usize);
            self.frames.truncate(own);
        }
    }

    /// The next one of its set; or, behind the set, the next one of the rest.
    #[inline]
    pub fn next(&self, last: &Taken<T>) -> Option<Taken<T>> {
        let chosen = self.frames.get(last.frame as usize)?.chosen;
        let position = last.position + 1;
        let goes_on = position < chosen || last.position >= chosen;
        if goes_on { self.at(last.frame, position) } else { None }
    }

    /// The next one after it, though it may be postponed.
    pub fn rest(&self, last: &Taken<T>) -> Option<Taken<T>> {
        if last.is_of_all() { None } else { self.at(last.frame, last.position + 1) }
    }

    /// The transitions of its state that come after it, though they may be postponed.
    pub fn rest_of(&self, taken: &Taken<T>) -> &[T] {
        let Some(frame) = self.frames.get(taken.frame as usize).filter(|_| !taken.is_of_all()) else { return &[] };
        &self.transitions[(frame.start + taken.position + 1) as usize..self.end_of(taken.frame) as usize]
    }

    /// Nothing is postponed any more in the state that the transition leaves.
    pub fn choose_all(&mut self, taken: &Taken<T>) {
        if taken.is_of_all() {
            return;
        }
        let end = self.end_of(taken.frame);
        let frame = &mut self.frames[taken.frame as usize];
        frame.chosen = end - frame.start;
    }

    #[inline]
    fn end_of(&self, frame: u32) -> u32 {
        self.frames.get(frame as usize + 1).map_or(self.transitions.len() as u32, |next| next.start)
    }

    #[inline]
    fn at(&self, frame: u32, position: u32) -> Option<Taken<T>> {
        let at = self.frames.get(frame as usize)?.start + position;
        (at < self.end_of(frame)).then(|| Taken { transition: self.transitions[at as usize], frame, position })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_comes_only_where_it_is_asked_for() {
        let mut stack = Postponed::default();
        let first = stack.push([1, 2], [3, 4]).unwrap();
        let second = stack.next(&first).unwrap();
        assert_eq!((first.transition, second.transition), (1, 2));
        assert_eq!(stack.next(&second), None);
        let third = stack.rest(&second).unwrap();
        let fourth = stack.next(&third).unwrap();
        assert_eq!((third.transition, fourth.transition), (3, 4));
        assert_eq!(stack.next(&fourth), None);
        stack.choose_all(&second);
        assert_eq!(stack.next(&second), Some(third));
    }

    #[test]
    fn what_lies_above_is_forgotten() {
        let mut stack = Postponed::default();
        let low = stack.push([1], [2]).unwrap();
        let high = stack.push([3], [4]).unwrap();
        let above = stack.of_all(5);
        stack.return_to(&above);
        assert_eq!(stack.rest(&high).map(|taken| taken.transition), Some(4));
        stack.return_to(&low);
        assert_eq!(stack.rest(&high), None);
        assert_eq!(stack.rest(&low).map(|taken| taken.transition), Some(2));
    }
}
