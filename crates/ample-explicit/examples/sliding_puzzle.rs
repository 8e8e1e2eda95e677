//! The sliding puzzle on three by three squares: a shortest solution is a witness.
//!
//!     cargo run --release -p ample-explicit --example sliding_puzzle

use ample_explicit::model::Model;

/// The tiles row by row, the empty square being zero.
struct Puzzle([u8; 9]);

/// Where the empty square goes.
#[derive(Clone, Copy, Debug)]
enum Slide {
    Up,
    Down,
    Left,
    Right,
}

impl Model for Puzzle {
    type State = [u8; 9];
    type Action = Slide;

    fn init(&self) -> Vec<[u8; 9]> {
        vec![self.0]
    }

    fn actions(&self, _: &[u8; 9]) -> Vec<Slide> {
        vec![Slide::Up, Slide::Down, Slide::Left, Slide::Right]
    }

    fn next(&self, state: &[u8; 9], slide: &Slide) -> Option<[u8; 9]> {
        let empty = state.iter().position(|tile| *tile == 0)?;
        let other = match slide {
            Slide::Up => empty.checked_sub(3)?,
            Slide::Down => Some(empty + 3).filter(|square| *square < 9)?,
            Slide::Left => empty.checked_sub(1).filter(|_| empty % 3 > 0)?,
            Slide::Right => Some(empty + 1).filter(|_| empty % 3 < 2)?,
        };
        let mut next = *state;
        next.swap(empty, other);
        Some(next)
    }
}

fn main() {
    let puzzle = Puzzle([1, 4, 2, 3, 5, 8, 6, 7, 0]);
    let report = puzzle.check().sometimes("solved", |s| *s == [0, 1, 2, 3, 4, 5, 6, 7, 8]).assert();
    print!("{}", report.path("solved").expect("it holds because of a path"));

    // All boards, and the half of all that cannot be reached.
    let report = puzzle.check().always("two tiles are not swapped", |s| *s != [0, 2, 1, 3, 4, 5, 6, 7, 8]).assert();
    println!("{} of {} boards can be reached", report.states(), (1..=9).product::<u32>());
}
