//! The 2×2×2 cube: states are configurations, transitions are quarter turns of three faces, in either direction; the
//! corner at the back stays where it is.

use ample_explicit::space::StateSpace;

/// Which corner is where, and how it is twisted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Configuration {
    corners: [u8; 8],
    twists: [u8; 8],
}

impl Configuration {
    pub const SOLVED: Configuration = Configuration { corners: [0, 1, 2, 3, 4, 5, 6, 7], twists: [0; 8] };

    /// After a quarter turn, clockwise.
    fn turn(&self, face: Face) -> Configuration {
        let (from, twist) = match face {
            Face::Up => ([3, 0, 1, 2, 4, 5, 6, 7], [0; 8]),
            Face::Right => ([4, 1, 2, 0, 7, 5, 6, 3], [2, 0, 0, 1, 1, 0, 0, 2]),
            Face::Front => ([1, 5, 2, 3, 0, 4, 6, 7], [1, 2, 0, 0, 2, 1, 0, 0]),
        };
        let mut after = *self;
        for place in 0..8 {
            after.corners[place] = self.corners[from[place]];
            after.twists[place] = (self.twists[from[place]] + twist[place]) % 3;
        }
        after
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Face {
    Up,
    Right,
    Front,
}

/// A turn of a face, clockwise or not.
pub type Turn = (Face, bool);

const TURNS: [Turn; 6] = [
    (Face::Up, true),
    (Face::Up, false),
    (Face::Right, true),
    (Face::Right, false),
    (Face::Front, true),
    (Face::Front, false),
];

/// The cube, from the solved configuration on.
#[derive(Clone, Copy, Debug)]
pub struct Cube;

impl StateSpace for Cube {
    type State = Configuration;
    type Transition = Turn;

    fn initial(&mut self, index: usize, out: &mut Configuration) -> bool {
        *out = Configuration::SOLVED;
        index == 0
    }

    fn first(&mut self, _: &Configuration) -> Option<Turn> {
        Some(TURNS[0])
    }

    fn next(&mut self, _: &Configuration, last: &Turn) -> Option<Turn> {
        TURNS.into_iter().skip_while(|turn| turn != last).nth(1)
    }

    fn target(&mut self, state: &Configuration, (face, clockwise): &Turn, out: &mut Configuration) {
        *out = state.turn(*face);
        if !clockwise {
            *out = out.turn(*face).turn(*face);
        }
    }
}
