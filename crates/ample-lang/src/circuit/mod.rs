//! Circuits: the formats [AIGER](Format::Aiger), [BLIF](Format::Blif) and [bench](Format::Bench).
//!
//! All three describe the same: inputs, latches, gates, outputs. A reader makes a `netlist` of the text, and `lower` a
//! synchronous [`System`] of that. Names are kept as the file has them; those that are no identifiers are written between
//! double quotes in formulas.

mod aiger;
mod bench;
mod blif;
mod formula;
mod lower;
mod netlist;

use ample_budget::Budget;
use ample_model::{Source, SourceId, Span, System};

use self::netlist::{Netlist, Place};
use crate::diagnostic::{Diagnostic, Rejected};
use crate::watch::Watch;

pub use formula::{ctl, expression, ltl, quoted};

type Read<T> = Result<T, Diagnostic>;

/// A circuit has at most so many inputs and latches.
const MAX_CELLS: u32 = ample_model::check::MAX_SLOTS - 1;

/// A format of circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// And-inverter graphs, as text or binary.
    Aiger,
    /// The Berkeley Logic Interchange Format.
    Blif,
    /// The format of the ISCAS'89 benchmarks.
    Bench,
}

impl Format {
    /// Its name, in small letters.
    pub fn name(self) -> &'static str {
        match self {
            Format::Aiger => "aiger",
            Format::Blif => "blif",
            Format::Bench => "bench",
        }
    }

    /// A text is likely to be in this format.
    pub fn looks_like(self, text: &str) -> bool {
        match self {
            Format::Aiger => aiger::looks_like(text),
            Format::Blif => blif::looks_like(text),
            Format::Bench => bench::looks_like(text),
        }
    }
}

/// A circuit that was accepted.
#[derive(Clone, Debug)]
pub struct Circuit {
    /// The system.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Reads a circuit; `name` is what reports call it. The text of a binary AIGER file has one character for each byte, as
/// [`decode`](crate::source::decode) gives it.
///
/// ```
/// use ample_lang::circuit::{Format, read};
///
/// let text = "INPUT(up)\nOUTPUT(high)\nlow = DFF(next)\nnext = XOR(low, up)\nhigh = NOT(low)\n";
/// let circuit = read(Format::Bench, "toggle.bench", text)?;
/// assert_eq!(circuit.system.globals.len(), 2);
/// assert_eq!(circuit.system.signals[0].name, "high");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read(format: Format, name: &str, text: &str) -> Result<Circuit, Rejected> {
    read_within(format, name, text, &Budget::unlimited())
}

/// As [`read`], within a budget.
pub fn read_within(format: Format, name: &str, text: &str, budget: &Budget) -> Result<Circuit, Rejected> {
    budget.check()?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_binary = format == Format::Aiger && text.starts_with("aig");
    let source = |text: &str| Source { path: name.to_owned(), text: text.to_owned() };
    if u32::try_from(text.len()).is_err() {
        let start = Span { source: SourceId(0), start: 0, end: 0 };
        let diagnostics = vec![Diagnostic::error(start, "files of more than 4 GiB are not read")];
        return Err(Rejected::new(vec![source("")], diagnostics));
    }
    let watch = Watch::new(budget);
    // Nobody can read binary text: of it the first line is kept.
    let shown = if is_binary { text.lines().next().unwrap_or("") } else { text };
    let mut warnings = Vec::new();
    let read = watch.room(text.len()).and_then(|()| {
        let decoded: Vec<u8>;
        let bytes = match is_binary {
            true => {
                decoded = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap_or(b'?')).collect();
                &decoded
            }
            false => text.as_bytes(),
        };
        let mut reader = Reader { bytes, at: 0, path: name, is_binary, watch: &watch, warnings: &mut warnings };
        let netlist = netlist_of(format, text, &mut reader)?;
        check_size(&netlist)?;
        let located = |diagnostic: Diagnostic| if is_binary { reader.in_binary(diagnostic) } else { diagnostic };
        let mut system = lower::system(name, format.name(), source(shown), &netlist, &watch).map_err(located)?;
        if is_binary {
            forget_places(&mut system);
        }
        Ok(system)
    });
    watch.finish(match read {
        Ok(system) => Ok(Circuit { system, warnings }),
        Err(error) => {
            let diagnostics = std::iter::once(error).chain(warnings).collect();
            Err(Rejected::new(vec![source(shown)], diagnostics))
        }
    })
}

fn netlist_of(format: Format, text: &str, reader: &mut Reader<'_, '_>) -> Read<Netlist> {
    match format {
        Format::Aiger => aiger::read(reader),
        Format::Blif => blif::read(text, reader),
        Format::Bench => bench::read(text, reader.watch, reader.warnings),
    }
}

fn check_size(netlist: &Netlist) -> Read<()> {
    let cells = netlist.inputs.len() + netlist.latches.len();
    match cells > MAX_CELLS as usize {
        true => {
            let message = format!("it has {cells} inputs and latches, and at most {MAX_CELLS} are read");
            Err(Diagnostic::error(Place::default().span(), message))
        }
        false => Ok(()),
    }
}

/// In a binary file there are no lines to point at.
fn forget_places(system: &mut System) {
    system.globals.iter_mut().for_each(|variable| variable.span = None);
    system.signals.iter_mut().for_each(|signal| signal.span = None);
    system.properties.iter_mut().for_each(|property| property.span = None);
    if let ample_model::Coupling::Synchronous(synchronous) = &mut system.coupling {
        synchronous.definitions.iter_mut().for_each(|definition| definition.span = None);
    }
}

/// Reads lines of numbers, and what binary files have besides.
struct Reader<'t, 'b> {
    bytes: &'t [u8],
    at: usize,
    path: &'t str,
    is_binary: bool,
    watch: &'b Watch<'b>,
    warnings: &'b mut Vec<Diagnostic>,
}

impl Reader<'_, '_> {
    fn error(&self, start: usize, end: usize, message: &str) -> Diagnostic {
        self.error_at(Place::new(start, end.min(self.bytes.len()).max(start.min(self.bytes.len()))), message)
    }

    fn error_at(&self, at: Place, message: &str) -> Diagnostic {
        let diagnostic = Diagnostic::error(at.span(), message);
        if self.is_binary { self.in_binary(diagnostic) } else { diagnostic }
    }

    /// What is wrong with a binary file, with the byte where it is.
    fn in_binary(&self, diagnostic: Diagnostic) -> Diagnostic {
        let Some(span) = diagnostic.span else { return diagnostic };
        let message = format!("{}, byte {}: {}", self.path, span.start, diagnostic.message);
        Diagnostic { message, span: None, ..diagnostic }
    }

    fn skip_blanks(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Nothing else is on the line.
    fn at_line_end(&mut self) -> bool {
        self.skip_blanks();
        matches!(self.bytes.get(self.at), None | Some(b'\n'))
            || self.bytes[self.at] == b'\r' && matches!(self.bytes.get(self.at + 1), None | Some(b'\n'))
    }

    /// Goes to the next line.
    fn end_line(&mut self) -> Read<()> {
        if !self.at_line_end() {
            let end = self.word_end();
            return Err(self.error(self.at, end, "expected the end of the line"));
        }
        if self.bytes.get(self.at) == Some(&b'\r') {
            self.at += 1;
        }
        self.at = self.bytes.len().min(self.at + 1);
        Ok(())
    }

    /// Where the word here ends.
    fn word_end(&self) -> usize {
        let rest = &self.bytes[self.at..];
        let blank = rest.iter().position(|byte| byte.is_ascii_whitespace());
        (self.at + blank.unwrap_or(rest.len())).max(self.character_end())
    }

    /// Where the character here ends.
    fn character_end(&self) -> usize {
        let mut end = self.bytes.len().min(self.at + 1);
        while !self.is_binary && self.bytes.get(end).is_some_and(|byte| byte & 0xc0 == 0x80) {
            end += 1;
        }
        end
    }

    fn number(&mut self, what: &str) -> Read<(u64, Place)> {
        if self.at_line_end() {
            let message = match self.at >= self.bytes.len() {
                true => format!("expected {what}, but the file ends here"),
                false => format!("expected {what}, but the line ends here"),
            };
            return Err(self.error(self.at, self.at, &message));
        }
        let (start, end) = (self.at, self.word_end());
        let word = &self.bytes[start..end];
        if !word.iter().all(u8::is_ascii_digit) {
            let message = format!("expected {what}, but `{}` is no number", String::from_utf8_lossy(word));
            return Err(self.error(start, end, &message));
        }
        let value =
            word.iter().fold(0u64, |value, digit| value.saturating_mul(10).saturating_add(u64::from(digit - b'0')));
        self.at = end;
        Ok((value, Place::new(start, end)))
    }

    /// The text up to the end of the line.
    fn rest_of_line(&mut self) -> (String, Place) {
        self.skip_blanks();
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let text = String::from_utf8_lossy(&rest[..length]).trim_end().to_owned();
        let place = Place::new(self.at, self.at + rest[..length].trim_ascii_end().len());
        self.at = self.bytes.len().min(self.at + length + 1);
        (text, place)
    }
}

/// A word of a line, with its place.
#[derive(Clone, Copy, Debug)]
struct Word<'t> {
    text: &'t str,
    at: Place,
}
