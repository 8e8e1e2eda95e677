//! PNML, the language in which Petri nets are exchanged (ISO/IEC 15909-2), and the formulas of the Model Checking
//! Contest.
//!
//! A file goes through `xml` and `document`, which puts the nodes of all pages into one net. A place/transition net
//! is lowered (`lower`) as it is; a symmetric net, whose tokens have colours, is unfolded (`unfold`) into one first: a
//! place for every place and every colour that may lie on it, a transition for every transition and every binding of
//! its variables. [`Names`] keeps what became of each node, for the [formulas](formulas()), which speak of nodes of the
//! file.

mod atoms;
mod colours;
mod document;
mod examination;
mod formulas;
mod lower;
mod tree;
mod typed;
mod unfold;
mod units;
mod xml;

use std::collections::HashMap;

use ample_budget::{Budget, Interrupted};
use ample_model::{EdgeId, Source, SourceId, Span, System, VariableId};

use crate::diagnostic::{Diagnostic, Rejected};
use crate::watch::Watch;
use document::Kind;

pub use examination::Examination;
pub use formulas::{Formulas, Refused, formulas, formulas_within};
pub use typed::{ctl, expression, ltl, quoted};

/// After so many errors the rest of a file is not looked at.
const MAX_ERRORS: usize = 20;

/// What became of the nodes of a net: of a place its variables, of a transition its edges. Without colours it is one
/// each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// The variables of each place, by its id. A colour that never lies on the place has none.
    pub places: HashMap<String, Vec<VariableId>>,
    /// The edges of each transition, by its id. A binding under which it never fires has none.
    pub transitions: HashMap<String, Vec<EdgeId>>,
}

/// A net that was accepted, without colours.
#[derive(Clone, Debug)]
pub struct Unfolded {
    /// The system.
    pub system: System,
    /// Where the nodes of the file are in it.
    pub names: Names,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a net; `name` is what reports call it.
///
/// ```
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
///   <place id="p"><initialMarking><text>2</text></initialMarking></place>
///   <transition id="t"/>
///   <arc id="a" source="p" target="t"/>
/// </page></net></pnml>"#;
/// let net = ample_lang::pnml::read("n.pnml", text)?;
/// assert_eq!(net.system.globals[0].name, "p");
/// assert_eq!(net.names.transitions["t"].len(), 1);
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read(name: &str, text: &str) -> Result<Unfolded, Rejected> {
    read_within(name, text, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(name: &str, text: &str, budget: &Budget) -> Result<Unfolded, Rejected> {
    budget.check()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if u32::try_from(text.len()).is_err() {
        let start = Span { source: SourceId(0), start: 0, end: 0 };
        let source = Source { path: name.to_owned(), text: String::new() };
        let diagnostics = vec![Diagnostic::error(start, "files of more than 4 GiB are not read")];
        return Err(Rejected::new(vec![source], diagnostics));
    }
    let (mut errors, mut warnings) = (Vec::new(), Vec::new());
    let watch = Watch::new(budget);
    let unfolded = document::read(text, &watch, &mut errors, &mut warnings).and_then(|document| {
        let flat = match document.kind {
            Kind::Symmetric => {
                unfold::unfold(&document, &watch, &mut errors).map(|(net, names)| (net, names, units::Units::default()))
            }
            Kind::PlaceTransition => lower::Flat::of(&document, &watch).ok().map(|net| {
                let names = Names::plain(&net);
                (net, names, units::units(&document, &mut warnings))
            }),
        };
        let (net, names, units) = flat?;
        Some((lower::lowered(net, &units, &watch).ok()?, names, units))
    });
    if let Some(interrupted) = watch.ended() {
        return Err(interrupted.into());
    }
    watch.room(text.len()).map_err(|_| Rejected::from(watch.ended().unwrap_or(Interrupted::Memory)))?;
    let source = Source { path: name.to_owned(), text: text.to_owned() };
    match unfolded {
        Some((lowered, names, units)) if errors.is_empty() => {
            Ok(Unfolded { system: lower::system(name, source, lowered, units), names, warnings })
        }
        _ => Err(Rejected::new(vec![source], errors.into_iter().chain(warnings).collect())),
    }
}

impl Names {
    /// Those of the variables and edges of a system that is a net, whatever they were before it was unfolded.
    pub fn of(system: &System) -> Names {
        let places = system.globals.iter().enumerate();
        let edges = system.processes.first().map_or(&[][..], |net| &net.edges).iter().enumerate();
        Names {
            places: places.map(|(number, place)| (place.name.clone(), vec![VariableId::from(number)])).collect(),
            transitions: edges.map(|(number, edge)| (edge.label.clone(), vec![EdgeId::from(number)])).collect(),
        }
    }

    /// Those of a net that had no colours.
    fn plain(net: &lower::Flat) -> Names {
        let places = net.places.iter().enumerate();
        let transitions = net.transitions.iter().enumerate();
        Names {
            places: places.map(|(number, place)| (place.name.clone(), vec![VariableId::from(number)])).collect(),
            transitions: transitions.map(|(number, t)| (t.name.clone(), vec![EdgeId::from(number)])).collect(),
        }
    }
}
