//! Diagnostics: what is wrong with an input, where, and what was expected.

use std::fmt;

use ample_model::{Interrupted, Source, Span};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The model is refused.
    Error,
    /// The model is taken, but the user should know.
    Warning,
}

/// One message about the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in a sentence without a full stop.
    pub message: String,
    /// The text that is meant.
    pub span: Option<Span>,
    /// What to write instead, or why it is so.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Error, message: message.into(), span: Some(span), help: None }
    }

    /// A warning at a place.
    pub fn warning(span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, message: message.into(), span: Some(span), help: None }
    }

    /// The same with a line of help.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
}

/// The input was refused: all that is wrong with it, and the sources to show it in.
#[derive(Clone, Debug)]
pub struct Rejected {
    /// The files read.
    pub sources: Vec<Source>,
    /// Errors, and warnings given on the way.
    pub diagnostics: Vec<Diagnostic>,
    /// Nothing is known to be wrong with it: its budget was exhausted before it was read.
    pub interrupted: Option<Interrupted>,
}

impl Rejected {
    /// With what is wrong with it.
    pub fn new(sources: Vec<Source>, diagnostics: Vec<Diagnostic>) -> Rejected {
        Rejected { sources, diagnostics, interrupted: None }
    }
}

impl From<Interrupted> for Rejected {
    fn from(interrupted: Interrupted) -> Rejected {
        Rejected { sources: Vec::new(), diagnostics: Vec::new(), interrupted: Some(interrupted) }
    }
}

/// The first error: what was warned of before it is not why the input was refused.
impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(interrupted) = self.interrupted {
            return interrupted.fmt(f);
        }
        let mut errors = self.diagnostics.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        f.write_str(errors.next().map_or("invalid input", |error| &error.message))
    }
}

impl std::error::Error for Rejected {}

/// A number of things: `1 argument`, `2 arguments`.
pub fn counted(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// The candidate nearest to a misspelt name, if one is near enough to be meant.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Of a name of one or two letters, only another case is near.
    let limit = name.chars().count() / 3;
    let near = candidates.map(|c| (distance(name, c), c)).filter(|(d, _)| *d <= limit);
    near.min_by_key(|(d, c)| (*d, c.len())).map(|(_, c)| c)
}

/// Edit distance: insertions, deletions, substitutions, and swaps of two neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let same = |x: &char, y: &char| x.eq_ignore_ascii_case(y);
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let changed = row[j] + usize::from(!same(x, y));
            let mut least = changed.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && same(x, &b[j - 1]) && same(&a[i - 1], y) {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn the_name_that_was_meant_is_near() {
        for (name, meant) in [
            ("cuont", Some("count")),
            ("Count", Some("count")),
            ("counter", Some("count")),
            ("discount", None),
            ("y", None),
            ("P", Some("p")),
        ] {
            assert_eq!(closest(name, ["x", "p", "count", "total"].into_iter()), meant, "{name}");
        }
    }
}
