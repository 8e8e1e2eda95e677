//! Diagnostics: what is wrong with an input, where, and what was expected.

use ample_model::{Source, Span};

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
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", self.diagnostics.first().map_or("invalid input", |d| d.message.as_str()))]
pub struct Rejected {
    /// The files read.
    pub sources: Vec<Source>,
    /// Errors, and warnings given on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// The candidate nearest to a misspelt name, if one is near enough to be meant.
pub fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let limit = (name.chars().count() / 3).max(1);
    let near = candidates.map(|c| (distance(name, c), c)).filter(|(d, _)| *d <= limit);
    near.min_by_key(|(d, c)| (*d, c.len())).map(|(_, c)| c)
}

/// Edit distance: insertions, deletions, substitutions.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(!x.eq_ignore_ascii_case(y));
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
