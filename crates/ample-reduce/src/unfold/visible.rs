//! Visibility: which transitions may change what a property looks at (Godefroid's thesis, §7.3).

use std::sync::Arc;

use ample_model::{Expr, ProcessId};

use super::fold::Fold;
use super::operations::Site;
use super::tests::Test;
use super::{Irreducible, Key, Unfolding};
use crate::bits::Bits;
use crate::scheme::{Kind, ObjectNumber, Step, TransitionNumber};

/// What an expression of a property looks at.
#[derive(Clone, Debug)]
pub struct Watch {
    test: Test,
    objects: Vec<ObjectNumber>,
    is_wild: bool,
    /// Process types and locations: whether somebody stands there.
    places: Vec<(ProcessId, Vec<bool>)>,
}

impl Unfolding<'_> {
    /// What an expression over whole states looks at.
    pub fn watch(&mut self, expr: &Expr) -> Result<Watch, Irreducible> {
        let mut places = Vec::new();
        let mut why = None;
        let system = self.system;
        let marked = |which: fn(&ample_model::system::Location) -> bool| {
            let processes = system.processes.iter().enumerate();
            processes.map(move |(number, ty)| (ProcessId::from(number), ty.locations.iter().map(which).collect()))
        };
        expr.walk(&mut |part| match part {
            Expr::At { of, locations, .. } => {
                let mut here = vec![false; system.process(*of).locations.len()];
                locations.iter().for_each(|location| here[location.index()] = true);
                places.push((*of, here));
            }
            Expr::NonProgress => places.extend(marked(|location| location.progress)),
            Expr::Accepting => places.extend(marked(|location| location.accept)),
            Expr::Enabled(_) => why = Some("asks whether a process is enabled"),
            Expr::LocationOf(_) => why = Some("asks for the number of a location"),
            Expr::Timeout => why = Some("uses `timeout`"),
            Expr::Blocked(_) => why = Some("asks whether a statement is blocked"),
            Expr::LastMover => why = Some("uses `_last`"),
            Expr::Priority(_) => why = Some("asks for a priority"),
            _ => {}
        });
        if let Some(why) = why {
            return Err(Irreducible(format!("the property {why}, which any step may change")));
        }
        let lens = Arc::clone(&self.lens);
        let fold = Fold {
            system: self.system,
            lens: &lens,
            id: None,
            constants: Default::default(),
            made: Default::default(),
        };
        let folded = fold.expr(expr);
        let site = Site { process: ProcessId(0), number: 0, edges: &[], fold: &fold, channels: &[], own: &[] };
        let (test, objects, is_wild) = self.seen(&site, &folded);
        // Where a process stands follows from its steps.
        let objects = objects.into_iter().filter(|object| !self.is_place(*object)).collect();
        Ok(Watch { test, objects, is_wild, places })
    }

    fn is_place(&self, object: ObjectNumber) -> bool {
        self.objects.iter().any(|(key, number)| *number == object && matches!(key, Key::Place(_)))
    }

    /// The transitions that may change one of these, as far as transitions are known.
    pub fn visible(&self, watches: &[Watch]) -> Bits {
        let numbers = 0..self.scheme.transitions.len() as TransitionNumber;
        numbers.filter(|number| watches.iter().any(|watch| self.changes(*number, watch))).collect()
    }

    fn changes(&self, number: TransitionNumber, watch: &Watch) -> bool {
        let (transition, detail) = (&self.scheme.transitions[number as usize], &self.details[number as usize]);
        if detail.is_global {
            return true;
        }
        let by_command = detail.command.iter().any(|operation| {
            let is_channel = matches!(self.scheme.objects[operation.object as usize].kind, Kind::Channel { .. });
            let seen = watch.objects.contains(&operation.object) || watch.is_wild && is_channel;
            seen && watch.test.changed_by(operation.verb, None) != (false, false)
        });
        let sees_channels = watch.is_wild
            || watch.objects.iter().any(|o| matches!(self.scheme.objects[*o as usize].kind, Kind::Channel { .. }));
        by_command
            || sees_channels && !detail.wild.is_empty()
            || transition.steps.iter().any(|step| self.moves(step, detail.ends, watch))
            || watch.places.iter().any(|(process, _)| {
                let reached = |(number, _): &(u32, u32)| self.members[*number as usize].process == *process;
                detail.spawns.contains(process) || detail.reaches.iter().any(reached)
            })
    }

    /// The step enters or leaves one of the watched locations.
    fn moves(&self, step: &Step, ends: bool, watch: &Watch) -> bool {
        let process = self.members[step.process as usize].process;
        watch.places.iter().filter(|(of, _)| *of == process).any(|(_, here)| {
            let before = here[step.from as usize];
            ends || step.to.iter().any(|to| here[*to as usize] != before)
        })
    }
}
