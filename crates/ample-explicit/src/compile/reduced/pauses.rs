//! When it is worth looking for a persistent set.
//!
//! Where nothing can be left out, looking for sets costs time and gains nothing. All enabled transitions together are
//! always a persistent set, so that a search may stop looking at any time and begin again later: after some states in
//! which nearly nothing was left out it does not look for a while, which becomes longer as long as that goes on. States
//! are counted, not time, so that the same search always has the same result.

/// So many choices are looked at together.
const WINDOW: u32 = 64;

/// If fewer of them leave something out, looking does not pay.
const LEAST: u32 = 2;

/// The longest pause, in states with a choice.
const LONGEST_PAUSE: u32 = 1 << 12;

/// How looking for persistent sets has paid lately.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    is_on: bool,
    /// The choices of this window, and those of them that left something out.
    asked: u32,
    left: u32,
    /// How long the last pause was, and how much is left of it.
    pause: u32,
    remaining: u32,
}

impl Pauses {
    /// With pauses, or without.
    pub fn new(is_on: bool) -> Pauses {
        Pauses { is_on, ..Pauses::default() }
    }

    /// Nothing is looked for in the next state with a choice.
    #[inline]
    pub fn is_pause(&mut self) -> bool {
        let is_pause = self.remaining > 0;
        self.remaining -= u32::from(is_pause);
        is_pause
    }

    /// A set was looked for.
    #[inline]
    pub fn note(&mut self, leaves_out: bool) {
        self.asked += u32::from(self.is_on);
        self.left += u32::from(leaves_out);
        if self.asked == WINDOW {
            self.pause = if self.left < LEAST { (2 * self.pause).clamp(WINDOW, LONGEST_PAUSE) } else { 0 };
            self.remaining = self.pause;
            (self.asked, self.left) = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many of so many states are looked at.
    fn looked_at(pauses: &mut Pauses, states: usize, leaves_out: impl Fn(usize) -> bool) -> usize {
        let look = |state: &usize| {
            let looks = !pauses.is_pause();
            if looks {
                pauses.note(leaves_out(*state));
            }
            looks
        };
        (0..states).filter(look).count()
    }

    #[test]
    fn what_does_not_pay_is_looked_at_less_and_less() {
        let mut pauses = Pauses::new(true);
        assert_eq!(looked_at(&mut pauses, 64, |_| false), 64);
        let looked = looked_at(&mut pauses, 100_000, |_| false);
        assert!((1_000..4_000).contains(&looked), "{looked}");
        // It is noticed when it pays again.
        let looked = looked_at(&mut pauses, 100_000, |_| true);
        assert!(looked > 95_000, "{looked}");
    }

    #[test]
    fn what_pays_is_always_looked_at() {
        assert_eq!(looked_at(&mut Pauses::new(true), 10_000, |state| state % 20 == 0), 10_000);
        assert_eq!(looked_at(&mut Pauses::new(false), 10_000, |_| false), 10_000);
    }
}
