//! The file: its net, with the nodes of all pages in one list each.
//!
//! What a node looks like is passed over; what changes its meaning and is not known is refused, since a net that is
//! read without it would be another net.

use std::borrow::Cow;
use std::collections::HashMap;

use ample_model::Span;

use super::MAX_ERRORS;
use super::xml::{Element, Item, Read, Reader};
use crate::diagnostic::{Diagnostic, closest};
use crate::watch::Watch;

/// The largest number of tokens in a marking or on an arc. Sums of many such numbers still fit.
pub const MAX_TOKENS: u64 = 1 << 48;

/// What tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All alike.
    PlaceTransition,
    /// Values of finite sorts.
    Symmetric,
}

/// A place.
#[derive(Debug)]
pub struct Place<'t> {
    pub id: Cow<'t, str>,
    pub span: Span,
    /// Its first tokens, if they are all alike.
    pub tokens: u64,
    /// What it holds, otherwise.
    pub colours: Option<Box<Colours<'t>>>,
}

/// The sort of a place and its first marking.
#[derive(Debug)]
pub struct Colours<'t> {
    pub sort: Element<'t>,
    pub marking: Option<Element<'t>>,
}

/// A transition.
#[derive(Debug)]
pub struct Transition<'t> {
    pub id: Cow<'t, str>,
    pub span: Span,
    pub condition: Option<Box<Element<'t>>>,
}

/// The direction of an arc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the place to the transition.
    Input,
    /// From the transition to the place.
    Output,
}

/// An arc.
#[derive(Debug)]
pub struct Arc<'t> {
    pub place: usize,
    pub transition: usize,
    pub direction: Direction,
    /// How many tokens, if they are all alike.
    pub weight: u64,
    pub inscription: Option<Box<Element<'t>>>,
    pub span: Span,
}

/// A net, as it is written.
#[derive(Debug)]
pub struct Document<'t> {
    pub kind: Kind,
    pub places: Vec<Place<'t>>,
    pub transitions: Vec<Transition<'t>>,
    pub arcs: Vec<Arc<'t>>,
    /// The declarations of sorts, variables and the like.
    pub declarations: Vec<Element<'t>>,
    /// What the tool `nupn` says about units.
    pub units: Option<Element<'t>>,
}

/// Reads a file. Errors and warnings are added to the lists; without a net there is at least one error.
pub fn read<'t>(
    text: &'t str,
    watch: &'t Watch<'t>,
    errors: &mut Vec<Diagnostic>,
    warnings: &mut Vec<Diagnostic>,
) -> Option<Document<'t>> {
    let mut reading =
        Reading { reader: Reader::new(text, watch), errors, warnings, net: None, loose: Loose::default() };
    if let Err(error) = reading.file() {
        reading.errors.push(error);
        return None;
    }
    let Reading { mut net, loose, errors, .. } = reading;
    if let Some(net) = &mut net {
        connect(net, loose, watch, errors);
    }
    net.filter(|_| errors.is_empty())
}

/// What has names that are still to be looked up.
#[derive(Debug, Default)]
struct Loose<'t> {
    arcs: Vec<(Cow<'t, str>, Cow<'t, str>, Arc<'t>)>,
    references: Vec<Reference<'t>>,
}

/// A node that stands for another one.
#[derive(Debug)]
struct Reference<'t> {
    id: Cow<'t, str>,
    to: Cow<'t, str>,
    is_place: bool,
    span: Span,
}

struct Reading<'t, 'r> {
    reader: Reader<'t>,
    errors: &'r mut Vec<Diagnostic>,
    warnings: &'r mut Vec<Diagnostic>,
    net: Option<Document<'t>>,
    loose: Loose<'t>,
}

impl<'t> Reading<'t, '_> {
    fn file(&mut self) -> Read<()> {
        let root = match self.reader.next()? {
            Item::Open(root) => root,
            _ => return Err(nowhere("the file has no XML element: it is no PNML")),
        };
        if root.name != "pnml" {
            let message = format!("expected `<pnml>`, found `<{}>`", root.name);
            return Err(match root.name {
                "property-set" => root.error(message).with_help("these are formulas, not a net: `--formulas FILE`"),
                _ => root.error(message),
            });
        }
        while let Item::Open(element) = self.reader.next()? {
            match (element.name, &self.net) {
                ("net", Some(_)) => {
                    return Err(element.error("a second net in one file").with_help("only one is read"));
                }
                ("net", None) => self.net(element)?,
                _ => self.reader.skip()?,
            }
        }
        if self.net.is_none() {
            return Err(root.error("there is no `<net>` in this file"));
        }
        match self.reader.next()? {
            Item::Open(more) => Err(more.error("the file goes on after `</pnml>`")),
            _ => Ok(()),
        }
    }

    fn net(&mut self, net: Element<'t>) -> Read<()> {
        self.net = Some(Document {
            kind: kind(&net)?,
            places: Vec::new(),
            transitions: Vec::new(),
            arcs: Vec::new(),
            declarations: Vec::new(),
            units: None,
        });
        // Pages are opened and closed like the net itself; all they do is hold nodes.
        let mut open = 1;
        while open > 0 && self.errors.len() < MAX_ERRORS {
            match self.reader.next()? {
                Item::Open(element) if element.name == "page" => open += 1,
                Item::Open(element) => self.part(element)?,
                Item::Close => open -= 1,
                Item::End => break,
            }
        }
        if open > 0 { Err(nowhere("too many errors: the rest of the file is not looked at")) } else { Ok(()) }
    }

    /// A part of the net or of a page. Only errors of XML end the reading.
    fn part(&mut self, element: Element<'t>) -> Read<()> {
        match element.name {
            "place" | "transition" | "arc" | "referencePlace" | "referenceTransition" | "declaration" => {
                let element = self.reader.whole(element)?;
                if let Err(error) = self.node(element) {
                    self.errors.push(error);
                }
                Ok(())
            }
            "toolspecific" if element.attribute("tool").is_some_and(|tool| tool == "nupn") => {
                let element = self.reader.whole(element)?;
                if let Some(net) = &mut self.net {
                    net.units = Some(element);
                }
                Ok(())
            }
            "name" | "graphics" | "toolspecific" => self.reader.skip(),
            other => {
                let warning = format!("`<{other}>` is not known, and left out");
                self.warnings.push(Diagnostic::warning(element.span, warning));
                self.reader.skip()
            }
        }
    }

    fn node(&mut self, element: Element<'t>) -> Read<()> {
        let Some(net) = &mut self.net else { return Ok(()) };
        match element.name {
            "place" => net.places.push(place(net.kind, element, self.warnings)?),
            "transition" => net.transitions.push(transition(net.kind, element, self.warnings)?),
            "arc" => self.loose.arcs.push(arc(net.kind, element, self.warnings)?),
            "declaration" => declarations(net, element)?,
            name => self.loose.references.push(Reference {
                id: element.required("id")?,
                to: element.required("ref")?,
                is_place: name == "referencePlace",
                span: element.span,
            }),
        }
        Ok(())
    }
}

/// An error that concerns the file as a whole.
fn nowhere(message: &str) -> Diagnostic {
    let start = Span { source: ample_model::SourceId(0), start: 0, end: 0 };
    Diagnostic::error(start, message)
}

/// The kind of net that a type, an address in the web, speaks of.
fn kind(net: &Element<'_>) -> Read<Kind> {
    let address = net.required("type")?;
    let last = address.trim_end_matches(['/', '#']).rsplit(['/', '#']).next().unwrap_or("").to_ascii_lowercase();
    match last.as_str() {
        "ptnet" => Ok(Kind::PlaceTransition),
        "symmetricnet" => Ok(Kind::Symmetric),
        _ => {
            let message = format!("nets of the type `{address}` are not read");
            let help = "place/transition nets (`…/ptnet`) and symmetric nets (`…/symmetricnet`) are";
            Err(net.error(message).with_help(help))
        }
    }
}

fn declarations<'t>(net: &mut Document<'t>, mut element: Element<'t>) -> Read<()> {
    if net.kind == Kind::PlaceTransition {
        return Err(element.error("declarations of sorts in a place/transition net"));
    }
    let take = |children: &mut Vec<Element<'t>>, name: &str| {
        let at = children.iter().position(|child| child.name == name);
        at.map(|at| children.swap_remove(at))
    };
    let structure = take(&mut element.children, "structure");
    let list = structure.and_then(|mut structure| take(&mut structure.children, "declarations"));
    match list {
        Some(list) => net.declarations.extend(list.children),
        None => return Err(element.error("a `<declaration>` without `<structure>` and `<declarations>`")),
    }
    Ok(())
}

/// Labels of other tools that change what a net does.
const MEANINGFUL: [&str; 9] =
    ["capacity", "delay", "interval", "priority", "rate", "staticInterval", "timed", "timeinterval", "weight"];

/// A child of a node that its kind does not have.
fn foreign(element: &Element<'_>, child: &Element<'_>, warnings: &mut Vec<Diagnostic>) -> Read<()> {
    let coloured = ["hlinitialMarking", "hlinscription", "condition", "type"];
    let plain = ["initialMarking", "inscription"];
    let owner = element.name;
    match child.name {
        "name" | "graphics" | "toolspecific" => {}
        name if coloured.contains(&name) => {
            return Err(child.error(format!("`<{name}>` at a `<{owner}>` of a place/transition net")));
        }
        name if plain.contains(&name) => {
            let message = format!("`<{name}>` at a `<{owner}>` of a symmetric net");
            return Err(child.error(message).with_help(format!("write `<hl{name}>`")));
        }
        name if MEANINGFUL.contains(&name) => {
            let message = format!("`<{name}>` at a `<{owner}>` is not supported");
            return Err(child
                .error(message)
                .with_help("it is not part of PNML, and without it this would be another net"));
        }
        name => {
            let message = format!("`<{name}>` at a `<{owner}>` is not known, and left out");
            warnings.push(Diagnostic::warning(child.span, message));
        }
    }
    Ok(())
}

fn place<'t>(kind: Kind, mut element: Element<'t>, warnings: &mut Vec<Diagnostic>) -> Read<Place<'t>> {
    let mut place = Place { id: element.required("id")?, span: element.span, tokens: 0, colours: None };
    let (mut sort, mut marking) = (None, None);
    for child in std::mem::take(&mut element.children) {
        match (child.name, kind) {
            ("initialMarking", Kind::PlaceTransition) => place.tokens = number(&child, 0, "the initial marking")?,
            ("type", Kind::Symmetric) => sort = Some(structure(child)?),
            ("hlinitialMarking", Kind::Symmetric) => marking = marking_of(child)?,
            _ => foreign(&element, &child, warnings)?,
        }
    }
    place.colours = match (kind, sort) {
        (Kind::PlaceTransition, _) => None,
        (Kind::Symmetric, Some(sort)) => Some(Box::new(Colours { sort, marking })),
        (Kind::Symmetric, None) => return Err(element.error(format!("the place `{}` has no `<type>`", place.id))),
    };
    Ok(place)
}

/// An initial marking may be there and be empty.
fn marking_of(element: Element<'_>) -> Read<Option<Element<'_>>> {
    match element.child("structure") {
        Some(inner) if inner.children.is_empty() => Ok(None),
        None if element.child("text").is_none_or(|text| text.text.is_empty()) => Ok(None),
        _ => structure(element).map(Some),
    }
}

fn transition<'t>(kind: Kind, mut element: Element<'t>, warnings: &mut Vec<Diagnostic>) -> Read<Transition<'t>> {
    let mut transition = Transition { id: element.required("id")?, span: element.span, condition: None };
    for child in std::mem::take(&mut element.children) {
        match (child.name, kind) {
            ("condition", Kind::Symmetric) => {
                let is_empty = child.child("structure").is_some_and(|inner| inner.children.is_empty());
                if !is_empty {
                    transition.condition = Some(Box::new(structure(child)?));
                }
            }
            _ => foreign(&element, &child, warnings)?,
        }
    }
    Ok(transition)
}

type LooseArc<'t> = (Cow<'t, str>, Cow<'t, str>, Arc<'t>);

fn arc<'t>(kind: Kind, mut element: Element<'t>, warnings: &mut Vec<Diagnostic>) -> Read<LooseArc<'t>> {
    is_normal(&element)?;
    let (source, target) = (element.required("source")?, element.required("target")?);
    let mut arc =
        Arc { place: 0, transition: 0, direction: Direction::Input, weight: 1, inscription: None, span: element.span };
    for child in std::mem::take(&mut element.children) {
        match (child.name, kind) {
            ("inscription", Kind::PlaceTransition) => arc.weight = number(&child, 1, "the weight of an arc")?,
            ("hlinscription", Kind::Symmetric) => arc.inscription = Some(Box::new(structure(child)?)),
            // What kind of arc it is was looked at before.
            ("type" | "arctype", _) => {}
            _ => foreign(&element, &child, warnings)?,
        }
    }
    Ok((source, target, arc))
}

/// Arcs of other tools that test, forbid or empty are no arcs of PNML.
fn is_normal(arc: &Element<'_>) -> Read<()> {
    let written = |child: &Element<'_>| {
        let text = child.child("text").map_or(&child.text, |text| &text.text);
        child.attribute("value").unwrap_or(text).to_string()
    };
    let inside = arc.children.iter().find(|child| matches!(child.name, "type" | "arctype")).map(written);
    let kind = arc.attribute("type").map(|kind| kind.to_string()).or(inside);
    match kind.as_deref() {
        None | Some("normal" | "") => Ok(()),
        Some(kind) => {
            let message = format!("arcs of the type `{kind}` are not supported");
            Err(arc.error(message).with_help("only arcs that take tokens from a place or add tokens to one are"))
        }
    }
}

/// The term of a label of a symmetric net.
fn structure(mut label: Element<'_>) -> Read<Element<'_>> {
    let at = label.children.iter().position(|child| child.name == "structure");
    let Some(at) = at else {
        let message = format!("`<{}>` has no `<structure>`", label.name);
        return Err(label.error(message).with_help("the text of a label is for people; what counts is its structure"));
    };
    let mut structure = label.children.swap_remove(at);
    match structure.children.len() {
        1 => Ok(structure.children.swap_remove(0)),
        0 => Err(structure.error(format!("the `<structure>` of `<{}>` is empty", label.name))),
        _ => Err(structure.error(format!("the `<structure>` of `<{}>` holds more than one term", label.name))),
    }
}

/// The number in the text of a label.
fn number(label: &Element<'_>, least: u64, what: &str) -> Read<u64> {
    let text = label.child("text").unwrap_or(label);
    let written = text.text.trim();
    let digits = written.strip_prefix('+').unwrap_or(written);
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    match digits.parse::<u64>() {
        Ok(number) if is_number && number < least => {
            Err(text.error(format!("{what} is {number}, and must be at least {least}")))
        }
        Ok(number) if is_number && number <= MAX_TOKENS => Ok(number),
        _ if is_number => Err(text.error(format!("{what} is {digits}: more than 2^48 tokens are not supported"))),
        _ if written.is_empty() => Err(text.error(format!("{what} is empty: expected a number"))),
        _ => Err(text.error(format!("{what} is `{written}`: expected a number that is not negative"))),
    }
}

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Place(usize),
    Transition(usize),
    Reference(usize),
}

/// Looks up the ends of arcs.
fn connect<'t>(net: &mut Document<'t>, loose: Loose<'t>, watch: &Watch<'_>, errors: &mut Vec<Diagnostic>) {
    let Document { places, transitions, arcs, .. } = net;
    let names = nodes(places, transitions, &loose.references, errors);
    let targets: Vec<Option<Node>> =
        (0..loose.references.len()).map(|start| target(start, &loose.references, &names, errors)).collect();
    arcs.reserve(loose.arcs.len());
    for (source, to, mut arc) in loose.arcs {
        if errors.len() >= MAX_ERRORS {
            return;
        }
        if let Err(ended) = watch.step() {
            return errors.push(ended);
        }
        let mut end = |id: &str| {
            let node = names.get(id).copied();
            if node.is_none() {
                errors.push(unknown(arc.span, id, &names));
            }
            match node? {
                Node::Reference(number) => targets.get(number).copied().flatten(),
                node => Some(node),
            }
        };
        let ends = (end(&source), end(&to));
        let (place, transition, direction) = match ends {
            (Some(Node::Place(place)), Some(Node::Transition(transition))) => (place, transition, Direction::Input),
            (Some(Node::Transition(transition)), Some(Node::Place(place))) => (place, transition, Direction::Output),
            (Some(Node::Place(_)), Some(Node::Place(_))) => {
                errors.push(between(&arc, &source, &to, "places"));
                continue;
            }
            (Some(_), Some(_)) => {
                errors.push(between(&arc, &source, &to, "transitions"));
                continue;
            }
            _ => continue,
        };
        (arc.place, arc.transition, arc.direction) = (place, transition, direction);
        arcs.push(arc);
    }
}

fn between(arc: &Arc<'_>, source: &str, target: &str, what: &str) -> Diagnostic {
    let message = format!("an arc between two {what}, `{source}` and `{target}`");
    Diagnostic::error(arc.span, message).with_help("arcs are between a place and a transition")
}

fn unknown(span: Span, id: &str, names: &HashMap<&str, Node>) -> Diagnostic {
    let error = Diagnostic::error(span, format!("there is no node `{id}`"));
    match closest(id, names.keys().copied().take(MOST_CANDIDATES)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// So many names are compared with one that is not known.
pub const MOST_CANDIDATES: usize = 10_000;

/// All ids of nodes. An id that is there twice is an error.
fn nodes<'n>(
    places: &'n [Place<'_>],
    transitions: &'n [Transition<'_>],
    references: &'n [Reference<'_>],
    errors: &mut Vec<Diagnostic>,
) -> HashMap<&'n str, Node> {
    let mut names = HashMap::with_capacity(places.len() + transitions.len() + references.len());
    let places = places.iter().enumerate().map(|(number, place)| (&place.id, place.span, Node::Place(number)));
    let transitions = transitions.iter().enumerate().map(|(number, t)| (&t.id, t.span, Node::Transition(number)));
    let references = references.iter().enumerate().map(|(number, r)| (&r.id, r.span, Node::Reference(number)));
    for (id, span, node) in places.chain(transitions).chain(references) {
        let id: &'n str = id;
        if names.insert(id, node).is_some() && errors.len() < MAX_ERRORS {
            errors.push(Diagnostic::error(span, format!("a second node with the id `{id}`")));
        }
    }
    names
}

/// The node at the end of a chain of references.
fn target(
    start: usize,
    references: &[Reference<'_>],
    names: &HashMap<&str, Node>,
    errors: &mut Vec<Diagnostic>,
) -> Option<Node> {
    let first = references.get(start)?;
    let mut current = first;
    // A chain that is longer than there are references is cyclic.
    for _ in 0..=references.len().min(MAX_CHAIN) {
        match names.get(&*current.to) {
            Some(Node::Reference(next)) => current = references.get(*next)?,
            Some(node) if matches!(node, Node::Place(_)) == first.is_place => return Some(*node),
            Some(_) => {
                let (kind, other) = if first.is_place { ("place", "transition") } else { ("transition", "place") };
                let message = format!("the reference `{}` to a {kind} leads to the {other} `{}`", first.id, current.to);
                errors.push(Diagnostic::error(first.span, message));
                return None;
            }
            None => {
                errors.push(unknown(current.span, &current.to, names));
                return None;
            }
        }
    }
    errors.push(Diagnostic::error(first.span, format!("the reference `{}` leads to no node", first.id)));
    None
}

/// A chain of references has at most so many members.
const MAX_CHAIN: usize = 1000;
