//! How often a search tells its budget how it goes: every so many steps, but steps may be long.
//!
//! A state of a large model may take a thousand times as long as one of a small model, and limits of time have to hold
//! for both. So the number of steps between two reports follows the time that they took.

use std::time::{Duration, Instant};

/// Reports that lie further apart come too late.
const TOO_LONG: Duration = Duration::from_millis(20);
/// Reports that lie closer together are a waste of time.
const TOO_SHORT: Duration = Duration::from_millis(2);

/// The steps between two reports.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pacing {
    steps: u64,
    most: u64,
    reported: Instant,
}

impl Pacing {
    /// At most so many, and that many where they are short.
    pub fn new(most: u64) -> Pacing {
        let most = most.max(1);
        Pacing { steps: most, most, reported: Instant::now() }
    }

    /// The steps up to the first report.
    pub fn first(&self) -> u64 {
        self.steps
    }

    /// A report is made; the steps up to the next one.
    pub fn next(&mut self) -> u64 {
        let now = Instant::now();
        let took = now.saturating_duration_since(self.reported);
        self.reported = now;
        if took > TOO_LONG {
            self.steps = (self.steps / 4).max(1);
        } else if took < TOO_SHORT {
            self.steps = self.steps.saturating_mul(2).min(self.most);
        }
        self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_steps_make_reports_frequent() {
        let mut pacing = Pacing::new(100);
        assert_eq!((pacing.first(), pacing.next()), (100, 100));
        std::thread::sleep(TOO_LONG + TOO_SHORT);
        assert_eq!(pacing.next(), 25);
        assert_eq!(Pacing::new(0).first(), 1);
    }
}
