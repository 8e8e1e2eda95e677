//! What a system has that not every engine knows: engines ask before they begin, and refuse with a sentence.

use std::fmt;

use crate::system::{Initial, Scalar, System, Type};

/// Something that not every engine knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Everything moves at once.
    Synchronous,
    /// Several processes take an action together.
    Actions,
    /// There are objects on a heap.
    Heap,
    /// Local variables may start with one of several values.
    LocalChoices,
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Feature::Synchronous => "synchronous systems, in which everything moves at once",
            Feature::Actions => "actions that several processes take together",
            Feature::Heap => "references to objects on a heap",
            Feature::LocalChoices => "local variables that may start with one of several values",
        })
    }
}

impl System {
    /// What it has that not every engine knows.
    ///
    /// ```
    /// use ample_model::{Coupling, Feature, Synchronous, System};
    ///
    /// let mut system = System::new("nothing", "by hand");
    /// assert!(system.features().is_empty());
    /// system.coupling = Coupling::Synchronous(Synchronous::default());
    /// assert_eq!(system.features(), [Feature::Synchronous]);
    /// ```
    pub fn features(&self) -> Vec<Feature> {
        let locals = self.processes.iter().flat_map(|process| &process.locals);
        let mut initials = locals.flat_map(|variable| &variable.initial);
        let chooses = |(_, initial): &(u32, Initial)| initial.choice().is_some();
        let features = [
            (Feature::Synchronous, self.synchronous().is_some()),
            (Feature::Actions, !self.actions.is_empty()),
            (Feature::Heap, self.has_heap()),
            (Feature::LocalChoices, initials.any(chooses)),
        ];
        features.into_iter().filter(|(_, has)| *has).map(|(feature, _)| feature).collect()
    }

    /// Some variable may refer to an object. Without one nothing on a heap can be reached.
    fn has_heap(&self) -> bool {
        let locals = self.processes.iter().flat_map(|process| &process.locals);
        let mut types = self.globals.iter().chain(locals).map(|variable| &variable.ty);
        types.any(|ty| self.refers(ty))
    }

    fn refers(&self, ty: &Type) -> bool {
        match ty {
            Type::Scalar(scalar) => matches!(scalar, Scalar::Reference(_)),
            Type::Array { element, .. } => self.refers(element),
            Type::Record(record) => self.records[record.index()].fields.iter().any(|(_, ty)| self.refers(ty)),
        }
    }
}
