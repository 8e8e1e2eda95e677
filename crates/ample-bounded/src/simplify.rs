//! A machine made smaller before it is searched: inputs that are state bits are [inputs again](crate::project), and
//! signals that [correspond](crate::correspond) are one. What is found in the smaller machine is told in terms of the machine
//! that it was made from.

use std::rc::Rc;
use std::time::Duration;

use ample_boolean::Lit;
use ample_budget::{Budget, Interrupted};

use crate::bmc::Path;
use crate::certificate::Fact;
use crate::correspond::{Correspondence, Subject, corresponding};
use crate::ic3::Cube;
use crate::machine::Machine;
use crate::project::{Projected, Requirements};

/// A smaller machine.
pub struct Simplified {
    /// The machine.
    pub machine: Rc<Machine>,
    /// The bad states.
    pub bad: Vec<Lit>,
    /// What holds in all reachable states of the machine that it was made from.
    pub facts: Vec<Fact>,
    /// The time was too short to find the signals that correspond.
    pub is_unfinished: bool,
    projected: Option<Projected>,
}

impl Simplified {
    /// Makes a synchronous machine smaller. So long signals that correspond are looked for.
    pub fn of(
        machine: &Rc<Machine>,
        requirements: &Requirements,
        bad: &[Lit],
        limit: Duration,
        budget: &Budget,
    ) -> Result<Simplified, Interrupted> {
        let mut facts: Vec<Fact> = Vec::new();
        let mut projected = Projected::of(machine, requirements, bad);
        if projected.is_some() {
            facts.extend(requirements.invariant.iter().map(|lit| (*lit, Lit::TRUE)));
        }
        let found = {
            let subject = match &projected {
                Some(projected) => {
                    Subject { machine: &projected.machine, own: projected.own, constraint: projected.constraint, bad }
                }
                None => Subject { machine, own: machine.step, constraint: Lit::TRUE, bad },
            };
            corresponding(&subject, limit, budget)?
        };
        let is_unfinished = matches!(found, Correspondence::Unfinished);
        if let Correspondence::Found(found) = found {
            facts.extend(found.equal);
            return Ok(Simplified { machine: Rc::new(found.machine), bad: found.bad, facts, is_unfinished, projected });
        }
        let (machine, bad) = match &mut projected {
            Some(projected) => {
                let bad = bad.iter().map(|lit| projected.bad(*lit)).collect();
                (Rc::new(projected.machine.clone()), bad)
            }
            None => (Rc::clone(machine), bad.to_vec()),
        };
        Ok(Simplified { machine, bad, facts, is_unfinished, projected })
    }

    /// A run as one of the machine that it was made from.
    pub fn restore(&self, path: Path) -> Path {
        match &self.projected {
            Some(projected) => projected.restore(&path),
            None => path,
        }
    }

    /// Cubes as cubes of the machine that it was made from.
    pub fn restore_cubes(&self, cubes: Vec<Cube>) -> Vec<Cube> {
        let Some(projected) = &self.projected else { return cubes };
        let restored = |cube: Cube| cube.into_iter().map(|(bit, value)| (projected.position(bit), value)).collect();
        cubes.into_iter().map(restored).collect()
    }
}
