//! Sorts, constants and variables of a symmetric net, and its terms in a normal form.
//!
//! A sort is a list of simple sorts: one for a plain sort, several for a product, and a product of products is the
//! product of all of them. A value is a list of numbers below the sizes of the simple sorts. A term, a bag of values,
//! becomes a sum of [`Summand`]s with a [`Part`] for every simple sort; bags inside of tuples are multiplied out.

use std::collections::HashMap;
use std::sync::Arc;

use super::document::{MAX_TOKENS, MOST_CANDIDATES};
use super::xml::{Element, Read};
use crate::diagnostic::{Diagnostic, closest};

/// A simple sort: a number in [`Colours::simple`].
pub type Simple = usize;

/// At most so many summands in a term, after multiplying out.
const MAX_SUMMANDS: usize = 1_000_000;
/// The simple sort `dot`, which has one value.
const DOT: Simple = 0;

/// Values that are not made of others.
#[derive(Debug)]
pub struct Values {
    /// How many.
    pub size: u32,
    kind: ValueKind,
    /// There is a value after the last one: the first.
    is_cyclic: bool,
}

#[derive(Debug)]
enum ValueKind {
    Dot,
    Named(Vec<String>),
    Range(i64),
}

/// One component of a value, as a term says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// This value.
    Constant(u32),
    /// The value of a slot, a component of a variable, so many places further on in a circle of that size.
    Slot { slot: usize, shift: u32, size: u32 },
    /// Each of so many values.
    All(u32),
}

/// So many times a value, or values.
#[derive(Clone, Debug)]
pub struct Summand {
    pub count: i64,
    pub parts: Vec<Part>,
}

/// A part that a condition compares; a partition may stand between.
#[derive(Clone, Debug)]
pub struct Compared {
    pub part: Part,
    pub through: Option<Arc<[u32]>>,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// A condition of a transition.
#[derive(Clone, Debug)]
pub enum Guard {
    Const(bool),
    Not(Box<Guard>),
    And(Vec<Guard>),
    Or(Vec<Guard>),
    Compare(Comparison, Vec<Compared>, Vec<Compared>),
}

/// A variable with the number of its first slot.
#[derive(Debug)]
struct Variable {
    first: usize,
    sort: Vec<Simple>,
}

#[derive(Debug)]
struct Partition {
    of: Simple,
    elements: Simple,
    /// The element that each value belongs to.
    table: Arc<[u32]>,
}

/// All that is declared.
#[derive(Debug)]
pub struct Colours {
    pub simple: Vec<Values>,
    /// The simple sort of every slot.
    pub slots: Vec<Simple>,
    sorts: HashMap<String, Vec<Simple>>,
    constants: HashMap<String, (Simple, u32)>,
    variables: HashMap<String, Variable>,
    partitions: HashMap<String, Partition>,
    ranges: HashMap<(i64, i64), Simple>,
}

impl Values {
    /// How a value is called; `None` if there is only one, without a name.
    pub fn name(&self, value: u32) -> Option<String> {
        match &self.kind {
            ValueKind::Dot => None,
            ValueKind::Named(names) => names.get(value as usize).cloned(),
            ValueKind::Range(low) => Some((low + i64::from(value)).to_string()),
        }
    }
}

impl Colours {
    /// Reads declarations, in any order.
    pub fn read(declarations: &[Element<'_>]) -> Read<Colours> {
        let dot = Values { size: 1, kind: ValueKind::Dot, is_cyclic: false };
        let mut colours = Colours {
            simple: vec![dot],
            slots: Vec::new(),
            sorts: HashMap::new(),
            constants: HashMap::new(),
            variables: HashMap::new(),
            partitions: HashMap::new(),
            ranges: HashMap::new(),
        };
        colours.declared_sorts(declarations)?;
        for declaration in declarations {
            match declaration.name {
                "namedsort" | "partition" => {}
                "variabledecl" => colours.variable(declaration)?,
                name => return Err(declaration.error(format!("declarations of the kind `<{name}>` are not supported"))),
            }
        }
        Ok(colours)
    }

    /// Sorts are made of sorts, which may be declared later; a partition is a sort, too.
    fn declared_sorts(&mut self, declarations: &[Element<'_>]) -> Read<()> {
        let is_sort = |one: &&Element<'_>| matches!(one.name, "namedsort" | "partition");
        let mut open: Vec<&Element<'_>> = declarations.iter().filter(is_sort).collect();
        while !open.is_empty() {
            let before = open.len();
            let mut missing = None;
            let mut later = Vec::new();
            for declaration in open {
                let declared = match declaration.name {
                    "partition" => self.partition(declaration),
                    _ => self.named_sort(declaration),
                };
                match declared {
                    Ok(()) => {}
                    Err(Unready::Wrong(error)) => return Err(error),
                    Err(Unready::Missing(error)) => {
                        missing = Some(error);
                        later.push(declaration);
                    }
                }
            }
            open = later;
            if open.len() == before {
                return missing.map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    fn named_sort(&mut self, declaration: &Element<'_>) -> Result<(), Unready> {
        let id = declaration.required("id").map_err(Unready::Wrong)?;
        let [sort] = declaration.children.as_slice() else {
            return Err(Unready::Wrong(declaration.error(format!("the sort `{id}` must be one sort"))));
        };
        let sort = self.sort(sort)?;
        self.name_sort(declaration, &id, sort).map_err(Unready::Wrong)
    }

    fn name_sort(&mut self, declaration: &Element<'_>, id: &str, sort: Vec<Simple>) -> Read<()> {
        match self.sorts.insert(id.to_owned(), sort) {
            Some(_) => Err(declaration.error(format!("a second sort `{id}`"))),
            None => Ok(()),
        }
    }

    /// The sort that an element names or describes.
    pub fn place_sort(&mut self, element: &Element<'_>) -> Read<Vec<Simple>> {
        self.sort(element).map_err(Unready::into)
    }

    fn sort(&mut self, element: &Element<'_>) -> Result<Vec<Simple>, Unready> {
        match element.name {
            "dot" => Ok(vec![DOT]),
            "usersort" => self.user_sort(element),
            "productsort" => {
                let mut parts = Vec::new();
                for child in &element.children {
                    parts.extend(self.sort(child)?);
                }
                match parts.is_empty() {
                    true => Err(Unready::Wrong(element.error("a product of no sorts"))),
                    false => Ok(parts),
                }
            }
            "cyclicenumeration" | "finiteenumeration" => self.enumeration(element).map_err(Unready::Wrong),
            "finiteintrange" => Ok(vec![self.range(element).map_err(Unready::Wrong)?]),
            name => {
                let help = "dot, enumerations, ranges of numbers and products are";
                let error = element.error(format!("the sort `<{name}>` is not supported")).with_help(help);
                Err(Unready::Wrong(error))
            }
        }
    }

    fn user_sort(&self, element: &Element<'_>) -> Result<Vec<Simple>, Unready> {
        let id = element.required("declaration").map_err(Unready::Wrong)?;
        match self.sorts.get(&*id) {
            Some(sort) => Ok(sort.clone()),
            // Some files use it without a declaration.
            None if id == "dot" => Ok(vec![DOT]),
            None => Err(Unready::Missing(unknown(element, "sort", &id, self.sorts.keys()))),
        }
    }

    fn enumeration(&mut self, element: &Element<'_>) -> Read<Vec<Simple>> {
        let number = self.simple.len();
        let mut names = Vec::new();
        for child in &element.children {
            if child.name != "feconstant" {
                return Err(child.error(format!("expected `<feconstant>`, found `<{}>`", child.name)));
            }
            self.constant(child, (number, names.len() as u32))?;
            names.push(name_of(child)?);
        }
        if names.is_empty() {
            return Err(element.error("an enumeration without values"));
        }
        let is_cyclic = element.name == "cyclicenumeration";
        self.simple.push(Values { size: names.len() as u32, kind: ValueKind::Named(names), is_cyclic });
        Ok(vec![number])
    }

    fn constant(&mut self, element: &Element<'_>, value: (Simple, u32)) -> Read<()> {
        let id = element.required("id")?;
        match self.constants.insert(id.to_string(), value) {
            Some(_) => Err(element.error(format!("a second constant `{id}`"))),
            None => Ok(()),
        }
    }

    fn range(&mut self, element: &Element<'_>) -> Read<Simple> {
        let bound = |name: &str| -> Read<i64> {
            let text = element.required(name)?;
            text.trim().parse().map_err(|_| element.error(format!("`{text}` is not a number")))
        };
        let (low, high) = (bound("start")?, bound("end")?);
        let size = high.checked_sub(low).and_then(|size| u32::try_from(size.checked_add(1)?).ok());
        let size = match size {
            Some(0) | None if high < low => return Err(element.error("this range has no values")),
            Some(size) if size < i32::MAX as u32 => size,
            _ => return Err(element.error("this range is too large")),
        };
        let simple = &mut self.simple;
        Ok(*self.ranges.entry((low, high)).or_insert_with(|| {
            simple.push(Values { size, kind: ValueKind::Range(low), is_cyclic: false });
            simple.len() - 1
        }))
    }

    fn variable(&mut self, declaration: &Element<'_>) -> Read<()> {
        let id = declaration.required("id")?;
        let [sort] = declaration.children.as_slice() else {
            return Err(declaration.error(format!("the variable `{id}` must have one sort")));
        };
        let sort = self.sort(sort).map_err(Diagnostic::from)?;
        let first = self.slots.len();
        self.slots.extend(&sort);
        match self.variables.insert(id.to_string(), Variable { first, sort }) {
            Some(_) => Err(declaration.error(format!("a second variable `{id}`"))),
            None => Ok(()),
        }
    }

    fn partition(&mut self, declaration: &Element<'_>) -> Result<(), Unready> {
        let id = declaration.required("id").map_err(Unready::Wrong)?;
        let of = match declaration.children.iter().find(|child| child.name != "partitionelement") {
            Some(child) => self.sort(child)?,
            None => return Err(Unready::Wrong(declaration.error(format!("the partition `{id}` has no sort")))),
        };
        match of[..] {
            [of] => self.partition_of(declaration, &id, of).map_err(Unready::Wrong),
            _ => Err(Unready::Wrong(declaration.error(format!("the partition `{id}` is one of a product")))),
        }
    }

    fn partition_of(&mut self, declaration: &Element<'_>, id: &str, of: Simple) -> Read<()> {
        let number = self.simple.len();
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for child in declaration.children.iter().filter(|child| child.name == "partitionelement") {
            self.constant(child, (number, names.len() as u32))?;
            for value in operands(child)? {
                values.push((self.value(value)?, names.len() as u32, value.span));
            }
            names.push(name_of(child)?);
        }
        let mut table = vec![u32::MAX; self.simple[of].size as usize];
        for ((sort, value), element, span) in values {
            if sort != of || std::mem::replace(&mut table[value as usize], element) != u32::MAX {
                return Err(Diagnostic::error(span, "a value of another sort, or of two elements of the partition"));
            }
        }
        if table.contains(&u32::MAX) {
            return Err(declaration.error(format!("the partition `{id}` leaves out values of its sort")));
        }
        self.simple.push(Values { size: names.len() as u32, kind: ValueKind::Named(names), is_cyclic: false });
        self.name_sort(declaration, id, vec![number])?;
        self.partitions.insert(id.to_owned(), Partition { of, elements: number, table: table.into() });
        Ok(())
    }

    /// A value that is written down.
    fn value(&mut self, element: &Element<'_>) -> Read<(Simple, u32)> {
        let (sum, sort) = self.term(element)?;
        match (sum.as_slice(), sort.as_slice()) {
            ([Summand { count: 1, parts }], [sort]) => match parts.as_slice() {
                [Part::Constant(value)] => Ok((*sort, *value)),
                _ => Err(element.error("expected a constant")),
            },
            _ => Err(element.error("expected a constant")),
        }
    }

    // Terms.

    /// A term that must be a bag of values of a sort.
    pub fn bag(&mut self, element: &Element<'_>, sort: &[Simple]) -> Read<Vec<Summand>> {
        let (sum, found) = self.term(element)?;
        self.spread(element, sum, &found, sort)
    }

    /// A bag of a sort, if need be with the values of each element of a partition in its place: among the values of the
    /// sort that it divides, an element stands for all that belong to it.
    fn spread(
        &self,
        element: &Element<'_>,
        sum: Vec<Summand>,
        found: &[Simple],
        sort: &[Simple],
    ) -> Read<Vec<Summand>> {
        if found.len() != sort.len() {
            return Err(self.mismatch(element, sort, found));
        }
        let mut whole = sum;
        for at in (0..sort.len()).filter(|at| found[*at] != sort[*at]) {
            let Some(partition) = self.partition_between(found[at], sort[at]) else {
                return Err(self.mismatch(element, sort, found));
            };
            let mut parts = Vec::new();
            for summand in whole {
                let Part::Constant(wanted) = summand.parts[at] else {
                    return Err(self.mismatch(element, sort, found));
                };
                let members = partition.table.iter().enumerate().filter(|(_, of)| **of == wanted);
                for (value, _) in members {
                    let mut one = summand.clone();
                    one.parts[at] = Part::Constant(value as u32);
                    parts.push(one);
                }
                if parts.len() > MAX_SUMMANDS {
                    return Err(element.error("this term stands for too many values"));
                }
            }
            whole = parts;
        }
        Ok(whole)
    }

    /// The partition with these elements of a sort.
    fn partition_between(&self, elements: Simple, of: Simple) -> Option<&Partition> {
        self.partitions.values().find(|one| one.elements == elements && one.of == of)
    }

    fn mismatch(&self, element: &Element<'_>, expected: &[Simple], found: &[Simple]) -> Diagnostic {
        let message =
            format!("expected a term of the sort {}, found {}", self.describe(expected), self.describe(found));
        element.error(message)
    }

    fn describe(&self, sort: &[Simple]) -> String {
        let named = self.sorts.iter().filter(|(_, one)| **one == *sort).map(|(name, _)| name).min();
        match (named, sort) {
            (Some(name), _) => format!("`{name}`"),
            (None, [DOT]) => "`dot`".to_owned(),
            (None, [one]) => match &self.simple[*one].kind {
                ValueKind::Range(low) => format!("{low} to {}", low + i64::from(self.simple[*one].size) - 1),
                _ => "of an enumeration".to_owned(),
            },
            (None, parts) => {
                let parts: Vec<String> = parts.iter().map(|part| self.describe(&[*part])).collect();
                format!("({})", parts.join(", "))
            }
        }
    }

    fn term(&mut self, element: &Element<'_>) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let single = |part, sort| Ok((vec![Summand { count: 1, parts: vec![part] }], vec![sort]));
        match element.name {
            "dotconstant" => single(Part::Constant(0), DOT),
            "useroperator" => {
                let id = element.required("declaration")?;
                match self.constants.get(&*id) {
                    Some((sort, value)) => single(Part::Constant(*value), *sort),
                    None => Err(unknown(element, "constant", &id, self.constants.keys())),
                }
            }
            "finiteintrangeconstant" => {
                let (value, sort) = self.range_constant(element)?;
                single(Part::Constant(value), sort)
            }
            "variable" => self.use_of_variable(element),
            "successor" => self.shifted(element, 1),
            "predecessor" => self.shifted(element, -1),
            "tuple" => self.tuple(element),
            "all" | "empty" => {
                let [sort] = element.children.as_slice() else {
                    return Err(element.error(format!("`<{}>` must have one sort", element.name)));
                };
                let sort = self.sort(sort).map_err(Diagnostic::from)?;
                let parts = sort.iter().map(|simple| Part::All(self.simple[*simple].size)).collect();
                let sum = if element.name == "all" { vec![Summand { count: 1, parts }] } else { Vec::new() };
                Ok((sum, sort))
            }
            "numberof" | "scalarproduct" => self.multiplied(element),
            "add" | "subtract" => self.sum(element),
            name => Err(element.error(format!("`<{name}>` is not supported here"))),
        }
    }

    fn range_constant(&mut self, element: &Element<'_>) -> Read<(u32, Simple)> {
        let text = element.required("value")?;
        let Some(range) = element.child("finiteintrange") else {
            return Err(element.error("`<finiteintrangeconstant>` has no `<finiteintrange>`"));
        };
        let sort = self.range(range)?;
        let ValueKind::Range(low) = self.simple[sort].kind else { return Err(element.error("not a range")) };
        let value = text.trim().parse::<i64>().ok().and_then(|value| u32::try_from(value.checked_sub(low)?).ok());
        match value.filter(|value| *value < self.simple[sort].size) {
            Some(value) => Ok((value, sort)),
            None => Err(element.error(format!("`{text}` is not in the range"))),
        }
    }

    fn use_of_variable(&self, element: &Element<'_>) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let id = element.required("refvariable")?;
        let Some(variable) = self.variables.get(&*id) else {
            return Err(unknown(element, "variable", &id, self.variables.keys()));
        };
        let slot = |(number, simple): (usize, &Simple)| Part::Slot {
            slot: variable.first + number,
            shift: 0,
            size: self.simple[*simple].size,
        };
        let parts = variable.sort.iter().enumerate().map(slot).collect();
        Ok((vec![Summand { count: 1, parts }], variable.sort.clone()))
    }

    /// The value before or after another.
    fn shifted(&mut self, element: &Element<'_>, by: i64) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let [inner] = operands(element)?[..] else { return Err(element.error("expected one operand")) };
        let (mut sum, sort) = self.term(inner)?;
        let [simple] = sort[..] else { return Err(element.error("tuples have no order")) };
        if !self.simple[simple].is_cyclic {
            let message = format!("`<{}>` of a value of a sort that is not cyclic", element.name);
            return Err(element.error(message).with_help("only `<cyclicenumeration>` goes round in a circle"));
        }
        let circle = i64::from(self.simple[simple].size);
        let moved = |value: u32| (i64::from(value) + by).rem_euclid(circle) as u32;
        for part in sum.iter_mut().flat_map(|summand| &mut summand.parts) {
            match part {
                Part::Constant(value) => *value = moved(*value),
                Part::Slot { shift, .. } => *shift = moved(*shift),
                Part::All(_) => {}
            }
        }
        Ok((sum, sort))
    }

    fn tuple(&mut self, element: &Element<'_>) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let mut sum = vec![Summand { count: 1, parts: Vec::new() }];
        let mut sort = Vec::new();
        for operand in operands(element)? {
            let (factor, simple) = self.term(operand)?;
            sort.extend(simple);
            if sum.len().saturating_mul(factor.len()) > MAX_SUMMANDS {
                return Err(element.error("this tuple stands for too many values"));
            }
            let mut product = Vec::with_capacity(sum.len() * factor.len());
            for left in &sum {
                for right in &factor {
                    let parts = left.parts.iter().chain(&right.parts).copied().collect();
                    product.push(Summand { count: times(element, left.count, right.count)?, parts });
                }
            }
            sum = product;
        }
        match sort.is_empty() {
            true => Err(element.error("a tuple of nothing")),
            false => Ok((sum, sort)),
        }
    }

    fn multiplied(&mut self, element: &Element<'_>) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let (number, term) = match operands(element)?[..] {
            [term] => (1, term),
            [number, term] => (count(number)?, term),
            _ => return Err(element.error(format!("`<{}>` has a number and a term", element.name))),
        };
        let (mut sum, sort) = self.term(term)?;
        for summand in &mut sum {
            summand.count = times(element, summand.count, number)?;
        }
        sum.retain(|summand| summand.count != 0);
        Ok((sum, sort))
    }

    fn sum(&mut self, element: &Element<'_>) -> Read<(Vec<Summand>, Vec<Simple>)> {
        let mut whole: Option<(Vec<Summand>, Vec<Simple>)> = None;
        for operand in operands(element)? {
            let (mut sum, sort) = self.term(operand)?;
            let Some((all, first)) = &mut whole else {
                whole = Some((sum, sort));
                continue;
            };
            if *first != sort {
                let divided = self.divided(operand, first, &sort)?;
                *all = self.spread(element, std::mem::take(all), first, &divided)?;
                sum = self.spread(operand, sum, &sort, &divided)?;
                *first = divided;
            }
            if element.name == "subtract" {
                sum.iter_mut().for_each(|summand| summand.count = -summand.count);
            }
            all.append(&mut sum);
            if all.len() > MAX_SUMMANDS {
                return Err(element.error("this term stands for too many values"));
            }
        }
        whole.ok_or_else(|| element.error(format!("`<{}>` of nothing", element.name)))
    }

    /// The sort of a sum of two terms: where one is of a partition of the other's sort, it is that.
    fn divided(&self, element: &Element<'_>, first: &[Simple], second: &[Simple]) -> Read<Vec<Simple>> {
        let pairs = first.iter().zip(second);
        let sort =
            pairs.map(|(first, second)| match first == second || self.partition_between(*second, *first).is_some() {
                true => Some(*first),
                false => self.partition_between(*first, *second).map(|_| *second),
            });
        match sort.collect() {
            Some(sort) if first.len() == second.len() => Ok(sort),
            _ => Err(self.mismatch(element, first, second)),
        }
    }

    // Conditions.

    /// A condition.
    pub fn guard(&mut self, element: &Element<'_>) -> Read<Guard> {
        let comparison = match element.name {
            "equality" => Comparison::Equal,
            "inequality" => Comparison::NotEqual,
            "lessthan" | "ltp" => Comparison::Less,
            "lessthanorequal" => Comparison::LessEqual,
            "greaterthan" | "gtp" => Comparison::Greater,
            "greaterthanorequal" => Comparison::GreaterEqual,
            _ => return self.connective(element),
        };
        let [left, right] = operands(element)?[..] else {
            return Err(element.error(format!("`<{}>` compares two terms", element.name)));
        };
        let ((left, sort), (right, other)) = (self.compared(left)?, self.compared(right)?);
        if sort != other {
            return Err(self.mismatch(element, &sort, &other));
        }
        if sort.len() > 1 && !matches!(comparison, Comparison::Equal | Comparison::NotEqual) {
            return Err(element.error("tuples have no order"));
        }
        Ok(Guard::Compare(comparison, left, right))
    }

    fn connective(&mut self, element: &Element<'_>) -> Read<Guard> {
        let mut parts = |element: &Element<'_>| -> Read<Vec<Guard>> {
            operands(element)?.into_iter().map(|operand| self.guard(operand)).collect()
        };
        match element.name {
            "and" => Ok(Guard::And(parts(element)?)),
            "or" => Ok(Guard::Or(parts(element)?)),
            "not" => match <[Guard; 1]>::try_from(parts(element)?) {
                Ok([inner]) => Ok(Guard::Not(Box::new(inner))),
                Err(_) => Err(element.error("`<not>` has one operand")),
            },
            "imply" => match <[Guard; 2]>::try_from(parts(element)?) {
                Ok([left, right]) => Ok(Guard::Or(vec![Guard::Not(Box::new(left)), right])),
                Err(_) => Err(element.error("`<imply>` has two operands")),
            },
            "booleanconstant" => match &*element.required("value")? {
                "true" => Ok(Guard::Const(true)),
                "false" => Ok(Guard::Const(false)),
                other => Err(element.error(format!("`{other}` is neither true nor false"))),
            },
            name => Err(element.error(format!("`<{name}>` is not supported in a condition"))),
        }
    }

    fn compared(&mut self, element: &Element<'_>) -> Read<(Vec<Compared>, Vec<Simple>)> {
        if element.name == "partitionelementof" {
            let id = element.required("refpartition")?;
            let [operand] = operands(element)?[..] else { return Err(element.error("expected one operand")) };
            let (parts, sort) = self.compared(operand)?;
            let Some(partition) = self.partitions.get(&*id) else {
                return Err(unknown(element, "partition", &id, self.partitions.keys()));
            };
            return match (<[Compared; 1]>::try_from(parts), sort == [partition.of]) {
                (Ok([Compared { part, through: None }]), true) => {
                    let through = Some(partition.table.clone());
                    Ok((vec![Compared { part, through }], vec![partition.elements]))
                }
                _ => Err(self.mismatch(operand, &[partition.of], &sort)),
            };
        }
        let (sum, sort) = self.term(element)?;
        match sum.as_slice() {
            [Summand { count: 1, parts }] if !parts.iter().any(|part| matches!(part, Part::All(_))) => {
                let compared = |part: &Part| Compared { part: *part, through: None };
                Ok((parts.iter().map(compared).collect(), sort))
            }
            _ => Err(element.error("only single values can be compared")),
        }
    }
}

/// Why there is no sort.
enum Unready {
    /// It may be declared later.
    Missing(Diagnostic),
    Wrong(Diagnostic),
}

impl From<Unready> for Diagnostic {
    fn from(unready: Unready) -> Diagnostic {
        match unready {
            Unready::Missing(error) | Unready::Wrong(error) => error,
        }
    }
}

fn unknown<'n>(element: &Element<'_>, what: &str, id: &str, names: impl Iterator<Item = &'n String>) -> Diagnostic {
    let error = element.error(format!("there is no {what} `{id}`"));
    match closest(id, names.map(String::as_str).take(MOST_CANDIDATES)) {
        Some(near) => error.with_help(format!("did you mean `{near}`?")),
        None => error,
    }
}

/// The name of a constant, for people.
fn name_of(element: &Element<'_>) -> Read<String> {
    match element.attribute("name") {
        Some(name) if !name.trim().is_empty() => Ok(name.trim().to_owned()),
        _ => element.required("id").map(|id| id.to_string()),
    }
}

/// The operands of a term: what is in its subterms.
pub fn operands<'e, 't>(element: &'e Element<'t>) -> Read<Vec<&'e Element<'t>>> {
    let operand = |child: &'e Element<'t>| match (child.name, child.children.as_slice()) {
        ("subterm", [inner]) => Ok(inner),
        ("subterm", _) => Err(child.error("`<subterm>` must hold one term")),
        _ => Ok(child),
    };
    element.children.iter().map(operand).collect()
}

/// How many.
fn count(element: &Element<'_>) -> Read<i64> {
    if element.name != "numberconstant" {
        return Err(element.error(format!("expected a number, found `<{}>`", element.name)));
    }
    let text = element.required("value")?;
    match text.trim().parse::<u64>() {
        Ok(number) if number <= MAX_TOKENS => Ok(number as i64),
        Ok(_) => Err(element.error("more than 2^48 tokens are not supported")),
        Err(_) => Err(element.error(format!("`{text}` is not a number of tokens"))),
    }
}

fn times(element: &Element<'_>, left: i64, right: i64) -> Read<i64> {
    let product = left.checked_mul(right).filter(|product| product.unsigned_abs() <= MAX_TOKENS);
    product.ok_or_else(|| element.error("more than 2^48 tokens are not supported"))
}
