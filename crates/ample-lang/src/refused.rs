//! Models some of whose formulas are refused: the model, and its other formulas, are read without them.
//!
//! A front end answers with all that is wrong with a text. Where all of it lies in formulas, these are replaced by
//! `true`, at the same place and of the same length, so that nothing else moves, and the text is read again.

use std::collections::BTreeMap;
use std::ops::Range;

use ample_model::{Property, System};

use crate::diagnostic::{Diagnostic, Rejected, Severity};

/// A formula of a model, or of a formula file, that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedFormula {
    /// What the property would be called: `ltl:NAME`.
    pub property: String,
    /// The formula, as it is written.
    pub text: String,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

/// A formula in the text of a model.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// All of it, with its name.
    pub whole: Range<usize>,
    /// The formula alone.
    pub formula: Range<usize>,
    /// `ltl` or `ctl`.
    pub logic: &'static str,
    /// The name that it was given.
    pub name: Option<String>,
    /// Whether `true` can stand in its place.
    pub replaceable: bool,
}

/// What a front end makes of a text: a system, and warnings.
type Accepted = (System, Vec<Diagnostic>);

/// What has been done to a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    Replaced,
    Removed,
}

/// Reads a text without those formulas that are refused. If something else is wrong, the text is refused.
pub(crate) fn read_apart(
    text: &str,
    find_blocks: impl FnOnce(&str) -> Vec<Block>,
    read: &mut dyn FnMut(String) -> Result<Accepted, Rejected>,
) -> Result<(Accepted, Vec<RefusedFormula>), Rejected> {
    let rejected = match read(text.to_owned()) {
        Ok(accepted) => return Ok((accepted, Vec::new())),
        Err(interrupted) if interrupted.interrupted.is_some() => return Err(interrupted),
        Err(rejected) => rejected,
    };
    let blocks = find_blocks(text);
    let mut apart = Apart { text, blocks: &blocks, done: BTreeMap::new(), diagnostics: BTreeMap::new() };
    let mut faults = rejected.clone();
    loop {
        if !apart.take_out(&faults) {
            return Err(rejected);
        }
        match read(apart.changed()) {
            Ok(accepted) => return Ok(apart.finish(accepted)),
            Err(more) if more.interrupted.is_some() => return Err(more),
            Err(more) => faults = more,
        }
    }
}

struct Apart<'a> {
    text: &'a str,
    blocks: &'a [Block],
    done: BTreeMap<usize, Done>,
    diagnostics: BTreeMap<usize, Vec<Diagnostic>>,
}

impl Apart<'_> {
    /// Takes out the formulas that errors are in; false if one is elsewhere.
    fn take_out(&mut self, rejected: &Rejected) -> bool {
        let mut faulty: BTreeMap<usize, Vec<Diagnostic>> = BTreeMap::new();
        for diagnostic in rejected.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error) {
            let Some(block) = self.block_of(diagnostic) else { return false };
            faulty.entry(block).or_default().push(diagnostic.clone());
        }
        for (&block, diagnostics) in &faulty {
            let Block { formula, name, replaceable, .. } = &self.blocks[block];
            let fits = *replaceable && truth_in(&self.text[formula.clone()]).is_some();
            let done = match self.done.get(&block) {
                None if fits => Done::Replaced,
                // A formula without a name has a number, by which others are counted.
                None | Some(Done::Replaced) if name.is_some() => Done::Removed,
                _ => return false,
            };
            self.done.insert(block, done);
            // What is still wrong without the formula has been said.
            let known = self.diagnostics.entry(block).or_default();
            let new: Vec<Diagnostic> = diagnostics.iter().filter(|one| !known.contains(one)).cloned().collect();
            known.extend(new);
        }
        !faulty.is_empty()
    }

    fn block_of(&self, diagnostic: &Diagnostic) -> Option<usize> {
        let span = diagnostic.span.filter(|span| span.source.index() == 0)?;
        // What is missing at the end is missed there.
        let within = |block: &Block| (block.whole.start..=block.whole.end).contains(&(span.start as usize));
        self.blocks.iter().position(within)
    }

    /// The text without what has been taken out.
    fn changed(&self) -> String {
        let mut text = String::with_capacity(self.text.len());
        let mut at = 0;
        for (&block, done) in &self.done {
            let Block { whole, formula, .. } = &self.blocks[block];
            let range = if *done == Done::Removed { whole } else { formula };
            text.push_str(&self.text[at..range.start]);
            let written = &self.text[range.clone()];
            match truth_in(written).filter(|_| *done == Done::Replaced) {
                Some(with_truth) => text.push_str(&with_truth),
                None => text.push_str(&blank(written)),
            }
            at = range.end;
        }
        text.push_str(&self.text[at..]);
        text
    }

    fn finish(self, (mut system, warnings): Accepted) -> (Accepted, Vec<RefusedFormula>) {
        let mut refused = Vec::new();
        for (block, diagnostics) in self.diagnostics {
            let Block { whole, formula, logic, name, .. } = &self.blocks[block];
            let is_it = |property: &Property| {
                property.span.is_some_and(|s| s.source.index() == 0 && whole.contains(&(s.start as usize)))
            };
            let stated = system.properties.iter().position(is_it).map(|number| system.properties.remove(number));
            let property = match (stated, name) {
                (Some(property), _) => property.id(),
                (None, name) => format!("{logic}:{}", name.as_deref().unwrap_or("")),
            };
            let text = self.text[formula.clone()].split_whitespace().collect::<Vec<_>>().join(" ");
            refused.push(RefusedFormula { property, text, diagnostics });
        }
        if let Some(source) = system.sources.first_mut() {
            self.text.clone_into(&mut source.text);
        }
        ((system, warnings), refused)
    }
}

/// Blanks of the same length, with the same line ends.
fn blank(text: &str) -> String {
    text.chars().flat_map(|c| std::iter::repeat_n(if c == '\n' { '\n' } else { ' ' }, c.len_utf8())).collect()
}

/// `true` in the place of a text, if it fits in there.
fn truth_in(text: &str) -> Option<String> {
    let mut blank = blank(text);
    let at = blank.find("    ")?;
    blank.replace_range(at..at + 4, "true");
    Some(blank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_keeps_its_length_and_its_lines() {
        assert_eq!(truth_in("a\n[] é b"), Some("a\n[] é b".replace('a', " ").replace("[] é b", "true   ")));
        assert_eq!(truth_in("a\nb"), None);
        assert_eq!(blank("é\nx"), "  \n ");
    }
}
