//! What names mean: the variables of a model, found by their names.

use std::collections::{HashMap, HashSet};

use ample_model::{Scalar, System, Type};

use super::super::model::VariableId;

/// A variable, as an expression needs to know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::milestones) struct Known {
    pub id: VariableId,
    pub bits: u8,
}

/// The global variables and the groups of processes.
#[derive(Debug, Default)]
pub(in crate::milestones) struct Names {
    pub globals: HashMap<String, Known>,
    /// For each group, the variables of each of its processes.
    pub groups: HashMap<String, Vec<HashMap<String, Known>>>,
}

impl Names {
    /// The names of a system that was read from a Milestones text: locals are globals there, called `a[0].x`.
    pub fn of(system: &System) -> Names {
        let mut names = Names::default();
        for (index, variable) in system.globals.iter().enumerate().filter(|(_, variable)| !variable.hidden) {
            let Type::Scalar(Scalar::Int { bits, .. }) = variable.ty else { continue };
            let known = Known { id: VariableId(index), bits };
            let Some((group, number, field)) = parts(&variable.name) else {
                names.globals.insert(variable.name.clone(), known);
                continue;
            };
            let instances = names.groups.entry(group.to_owned()).or_default();
            if instances.len() <= number {
                instances.resize_with(number + 1, HashMap::new);
            }
            instances[number].insert(field.to_owned(), known);
        }
        names
    }

    /// The words that are no operators.
    pub fn words(&self) -> HashSet<String> {
        self.globals.keys().chain(self.groups.keys()).cloned().collect()
    }
}

/// The parts of `a[0].x`.
fn parts(name: &str) -> Option<(&str, usize, &str)> {
    let (process, field) = name.split_once('.')?;
    let (group, number) = process.strip_suffix(']')?.split_once('[')?;
    Some((group, number.parse().ok().filter(|number| *number < 1 << 16)?, field))
}
