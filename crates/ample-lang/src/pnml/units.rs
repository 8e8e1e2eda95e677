//! Units: what a net says about its own structure, for the tool `nupn` (H. Garavel, *Nested-unit Petri nets*, 2019).
//!
//! Places belong to units, and units to units. If the net is marked as unit-safe, at most one place is marked among
//! those of a unit and of all the units around it, and it holds one token. That is a promise, which is not checked
//! here. A promise that the initial marking breaks, or a structure that is none, is not believed: there is a warning,
//! and the net is read as if nothing had been said.

use std::collections::HashMap;

use ample_model::VariableId;

use super::document::Document;
use super::xml::{Element, Read};
use crate::diagnostic::Diagnostic;

/// At most so many entries in all sets of exclusive places together. More would be of no use to anybody.
const MAX_ENTRIES: usize = 2_000_000;

/// What is known from units.
#[derive(Debug, Default)]
pub struct Units {
    /// No place ever holds more than one token.
    pub is_safe: bool,
    /// Sets of places that hold at most one token together.
    pub exclusive: Vec<Vec<VariableId>>,
}

/// What the units of a net say.
pub fn units(document: &Document<'_>, warnings: &mut Vec<Diagnostic>) -> Units {
    let Some(element) = &document.units else { return Units::default() };
    read(document, element).unwrap_or_else(|error| {
        let message = format!("the units of the net are not used: {}", error.message);
        warnings.push(Diagnostic { severity: crate::Severity::Warning, message, ..error });
        Units::default()
    })
}

/// A unit, with numbers of places and of units.
struct Unit<'e, 't> {
    places: Vec<usize>,
    subunits: Vec<usize>,
    element: &'e Element<'t>,
}

fn read(document: &Document<'_>, element: &Element<'_>) -> Read<Units> {
    let structure = match element.child("structure") {
        Some(structure) => structure,
        None => return Err(element.error("there is no `<structure>`")),
    };
    match structure.attribute("safe").map(|safe| &**safe) {
        Some("true") => {}
        Some("false") | None => return Ok(Units::default()),
        Some(other) => return Err(structure.error(format!("`safe` is `{other}`: expected true or false"))),
    }
    let units = collect(document, structure)?;
    let root = structure.required("root")?;
    let at = structure.children.iter().filter(|child| child.name == "unit");
    let ids = at.map(|unit| unit.required("id")).collect::<Read<Vec<_>>>()?;
    let Some(root) = ids.iter().position(|id| *id == root) else {
        return Err(structure.error(format!("there is no unit `{root}`")));
    };
    is_partition(document, structure, &units)?;
    let paths = paths(structure, &units, root)?;
    is_kept_at_first(document, structure, &paths)?;
    let exclusive = paths.into_iter().map(|path| path.into_iter().map(VariableId::from).collect()).collect();
    Ok(Units { is_safe: true, exclusive })
}

fn collect<'e, 't>(document: &Document<'_>, structure: &'e Element<'t>) -> Read<Vec<Unit<'e, 't>>> {
    let elements: Vec<&Element<'_>> = structure.children.iter().filter(|child| child.name == "unit").collect();
    let mut ids = HashMap::new();
    for (number, unit) in elements.iter().enumerate() {
        let id = unit.required("id")?;
        if ids.insert(id.clone(), number).is_some() {
            return Err(unit.error(format!("a second unit `{id}`")));
        }
    }
    let places: HashMap<&str, usize> =
        document.places.iter().enumerate().map(|(number, place)| (&*place.id, number)).collect();
    let mut units = Vec::with_capacity(elements.len());
    for element in elements {
        let words = |name: &str| element.child(name).map_or("", |child| &child.text).split_whitespace();
        let place =
            |id: &str| places.get(id).copied().ok_or_else(|| element.error(format!("there is no place `{id}`")));
        let unit = |id: &str| ids.get(id).copied().ok_or_else(|| element.error(format!("there is no unit `{id}`")));
        units.push(Unit {
            places: words("places").map(place).collect::<Read<_>>()?,
            subunits: words("subunits").map(unit).collect::<Read<_>>()?,
            element,
        });
    }
    Ok(units)
}

/// Every place belongs to one unit.
fn is_partition(document: &Document<'_>, structure: &Element<'_>, units: &[Unit<'_, '_>]) -> Read<()> {
    let mut owned = vec![false; document.places.len()];
    for unit in units {
        for place in &unit.places {
            if std::mem::replace(&mut owned[*place], true) {
                let message = format!("the place `{}` is in two units", document.places[*place].id);
                return Err(unit.element.error(message));
            }
        }
    }
    match owned.iter().position(|owned| !owned) {
        Some(place) => {
            let message = format!("the place `{}` is in no unit", document.places[place].id);
            Err(structure.error(message))
        }
        None => Ok(()),
    }
}

/// For each unit without subunits, its places and those of the units around it. Units that are met twice are an error.
fn paths(structure: &Element<'_>, units: &[Unit<'_, '_>], root: usize) -> Read<Vec<Vec<usize>>> {
    let mut met = vec![false; units.len()];
    let mut paths = Vec::new();
    let mut entries = 0;
    let mut around: Vec<usize> = Vec::new();
    // Units to be entered, and how many places were around them.
    let mut open = vec![(root, 0)];
    while let Some((unit, outside)) = open.pop() {
        if std::mem::replace(&mut met[unit], true) {
            return Err(units[unit].element.error("a unit that is part of two units, or of itself"));
        }
        around.truncate(outside);
        around.extend(&units[unit].places);
        open.extend(units[unit].subunits.iter().rev().map(|inner| (*inner, around.len())));
        if units[unit].subunits.is_empty() && !around.is_empty() && entries + around.len() <= MAX_ENTRIES {
            entries += around.len();
            let mut path = around.clone();
            path.sort_unstable();
            paths.push(path);
        }
    }
    match met.iter().all(|met| *met) {
        true => Ok(paths),
        false => Err(structure.error("a unit that is not part of the root")),
    }
}

/// The initial marking keeps the promise.
fn is_kept_at_first(document: &Document<'_>, structure: &Element<'_>, paths: &[Vec<usize>]) -> Read<()> {
    if let Some(place) = document.places.iter().find(|place| place.tokens > 1) {
        let message = format!("the net is said to be safe, and `{}` holds {} tokens", place.id, place.tokens);
        return Err(structure.error(message));
    }
    let tokens = |path: &Vec<usize>| path.iter().map(|place| document.places[*place].tokens).sum::<u64>();
    match paths.iter().find(|path| tokens(path) > 1) {
        Some(path) => {
            let marked = path.iter().map(|place| &document.places[*place]).filter(|place| place.tokens > 0);
            let names: Vec<String> = marked.map(|place| format!("`{}`", place.id)).collect();
            Err(structure.error(format!("{} are marked at once and in one unit", names.join(" and "))))
        }
        None => Ok(()),
    }
}
