//! Diagnostics: what is wrong with an input, with its place in the source underlined, or as JSON.
//!
//! Of a place only as much is shown as can be looked over: a part of a long line, the first and the last line of a place
//! that goes over many.

use std::io::Write;
use std::ops::Range;

use ample::{Diagnostic, LoadError, Severity, Source, Span};
use serde_json::{Value, json};

use unicode_width::UnicodeWidthChar;

use super::layout::shortened;
use super::paint::Paint;

/// More than this help nobody.
const MOST: usize = 20;

/// Writes why there is no model.
pub fn load_error(out: &mut impl Write, error: &LoadError, paint: Paint) -> std::io::Result<()> {
    match error {
        LoadError::Rejected(rejected) => show(out, &rejected.sources, &rejected.diagnostics, paint),
        _ => writeln!(out, "{} {}", paint.red("Error:"), shortened(&error.to_string(), MESSAGE)),
    }
}

/// Writes the diagnostics, the first twenty of them.
pub fn show(out: &mut impl Write, files: &[Source], diagnostics: &[Diagnostic], paint: Paint) -> std::io::Result<()> {
    for diagnostic in diagnostics.iter().take(MOST) {
        match diagnostic.span.filter(|span| span.source.index() < files.len()) {
            Some(span) => underlined(out, files, diagnostic, span, paint)?,
            None => plain(out, diagnostic, paint)?,
        }
    }
    if diagnostics.len() > MOST {
        writeln!(out, "… and {} more", diagnostics.len() - MOST)?;
    }
    Ok(())
}

/// A message that quotes a long text is shown without its middle.
const MESSAGE: usize = 600;

/// So many columns of a line are shown, and so many of them before the place.
const LINE: usize = 120;
const BEFORE: usize = 60;

fn plain(out: &mut impl Write, diagnostic: &Diagnostic, paint: Paint) -> std::io::Result<()> {
    title(out, diagnostic, paint)?;
    match &diagnostic.help {
        Some(help) => writeln!(out, "  help: {}", shortened(help, MESSAGE)),
        None => Ok(()),
    }
}

fn title(out: &mut impl Write, diagnostic: &Diagnostic, paint: Paint) -> std::io::Result<()> {
    let title = match diagnostic.severity {
        Severity::Error => paint.red("Error:"),
        Severity::Warning => paint.yellow("Warning:"),
    };
    writeln!(out, "{title} {}", shortened(&diagnostic.message, MESSAGE))
}

fn underlined(
    out: &mut impl Write,
    files: &[Source],
    diagnostic: &Diagnostic,
    span: Span,
    paint: Paint,
) -> std::io::Result<()> {
    let source = &files[span.source.index()];
    let text = source.text.as_str();
    let range = range(text, span);
    let (line, column) = source.position(range.start as u32);
    let first = line_of(text, range.start);
    // A place that ends with a line ends on it.
    let last = line_of(text, if range.end > range.start { last_character(text, &range) } else { range.end });
    let last_line = line + text[first.start..last.start].matches('\n').count();
    let margin = last_line.to_string().len();
    let [corner, bar, end] = if paint.0 { ["╭─", "│", "╯"] } else { [",-", "|", "'"] };
    let dash = if paint.0 { "─" } else { "-" };
    title(out, diagnostic, paint)?;
    let dim = |text: String| paint.dim(text);
    writeln!(out, "{}", dim(format!("{:margin$} {corner}[ {}:{line}:{column} ]", "", source.path)))?;
    let mark = |text: &str| match diagnostic.severity {
        Severity::Error => paint.red(text),
        Severity::Warning => paint.yellow(text),
    };
    let mut shown = |number: usize, line: &Range<usize>| {
        let (excerpt, marks) = excerpt(text, line, &range);
        writeln!(out, "{} {excerpt}", dim(format!("{number:>margin$} {bar}")))?;
        writeln!(out, "{} {}", dim(format!("{:margin$} {bar}", "")), mark(&marks))
    };
    shown(line, &first)?;
    if last.start > first.start {
        shown(last_line, &last)?;
    }
    if let Some(between) = (last_line - line).checked_sub(2).map(|between| between + 1) {
        let lines = if between == 1 { "line is" } else { "lines are" };
        writeln!(out, "{} ({between} {lines} between them)", dim(format!("{:margin$} {bar}", "")))?;
    }
    if let Some(help) = &diagnostic.help {
        writeln!(out, "{} help: {}", dim(format!("{:margin$} {bar}", "")), shortened(help, MESSAGE))?;
    }
    writeln!(out, "{}", dim(format!("{}{end}", dash.repeat(margin + 1))))
}

/// Where the last character of a range begins that is not the end of a line.
fn last_character(text: &str, range: &Range<usize>) -> usize {
    let within = text[range.clone()].trim_end_matches(['\n', '\r']);
    range.start + within.char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The line that a place is on, without its end.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text[..at].rfind('\n').map_or(0, |before| before + 1);
    let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
    start..end
}

/// As much of a line as is shown, and below it marks under what is in the range.
fn excerpt(text: &str, line: &Range<usize>, range: &Range<usize>) -> (String, String) {
    let place = range.start.clamp(line.start, line.end);
    let mut columns = 0;
    let is_near = |c: &(usize, char)| {
        columns += shown_as(c.1).1;
        columns < BEFORE
    };
    let before = text[line.start..place].char_indices().rev().take_while(is_near).last();
    let start = before.map_or(place, |(at, _)| line.start + at);
    let mut excerpt = String::new();
    let mut marks = String::new();
    let mut mark = |at: usize, columns: usize| {
        let is_marked = range.contains(&at) || (at == place && range.is_empty());
        marks.push_str(&(if is_marked { "^" } else { " " }).repeat(columns));
    };
    if start > line.start {
        excerpt.push('…');
        mark(usize::MAX, 1);
    }
    let mut used = 0;
    for (at, c) in text[start..line.end].char_indices() {
        let (shown, columns) = shown_as(c);
        used += columns;
        if used > LINE {
            excerpt.push('…');
            break;
        }
        excerpt.push_str(&shown);
        mark(start + at, columns);
    }
    if place == line.end {
        mark(place, usize::from(range.is_empty() || range.start >= line.end));
    }
    (excerpt.trim_end().to_owned(), marks.trim_end().to_owned())
}

/// A character as it is shown, and how many columns it takes then: what a terminal would obey is a blank.
fn shown_as(c: char) -> (String, usize) {
    match c {
        '\t' => ("    ".into(), 4),
        c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => (" ".into(), 1),
        c => (c.into(), c.width().unwrap_or(0)),
    }
}

/// The span as a range that lies in the text and on whole characters.
fn range(text: &str, span: Span) -> Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

/// The error as the JSON object that stands for a report.
pub fn load_error_json(model: &str, error: &LoadError) -> Value {
    let message = error.to_string();
    match error {
        LoadError::Interrupted { .. } => json!({
            "schema": ample::SCHEMA, "model": model, "complete": false, "results": [], "reason": message,
        }),
        _ => json!({
            "schema": ample::SCHEMA, "model": model, "complete": false, "results": [], "error": message,
            "diagnostics": of_error(error),
        }),
    }
}

/// The diagnostics of an error.
pub fn of_error(error: &LoadError) -> Vec<Value> {
    match error {
        LoadError::Rejected(rejected) => list(&rejected.sources, &rejected.diagnostics),
        LoadError::Interrupted { .. } => Vec::new(),
        LoadError::Read { path, .. } | LoadError::Language { path, .. } | LoadError::Malformed { path, .. } => {
            vec![json!({"file": path, "line": null, "column": null, "severity": "error", "message": error.to_string()})]
        }
    }
}

fn list(files: &[Source], diagnostics: &[Diagnostic]) -> Vec<Value> {
    let one = |diagnostic: &Diagnostic| {
        let source = diagnostic.span.and_then(|span| Some((files.get(span.source.index())?, span)));
        let position = source.map(|(source, span)| source.position(span.start));
        json!({
            "file": source.map(|(source, _)| &source.path),
            "line": position.map(|(line, _)| line),
            "column": position.map(|(_, column)| column),
            "severity": match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            "message": diagnostic.message,
            "help": diagnostic.help,
        })
    };
    diagnostics.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, start: u32, end: u32) -> String {
        let source = Source { path: "m.pml".into(), text: text.into() };
        let span = Span { source: 0.into(), start, end };
        let mut out = Vec::new();
        show(&mut out, &[source], &[Diagnostic::error(span, "oops").with_help("try again")], Paint(false)).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_place_is_told_and_underlined() {
        let text = shown("byte x;\nbite y;\n", 8, 12);
        assert!(text.contains("oops") && text.contains("m.pml:2:1") && text.contains("bite y;"), "{text}");
        assert!(text.contains("try again") && !text.contains('\x1b'), "{text}");
    }

    #[test]
    fn odd_spans_and_odd_texts_are_shown_all_the_same() {
        for text in ["", "\n", "x", "é", "a\r\nb", "a\x0cb\u{2028}c", "\t\tx\n\n", "日本語\nx"] {
            let length = text.len() as u32;
            for start in 0..=length + 2 {
                for end in start.saturating_sub(1)..=length + 2 {
                    assert!(shown(text, start, end).contains("oops"));
                }
            }
        }
    }

    #[test]
    fn form_feeds_do_not_count_as_lines() {
        assert!(shown("a\x0c\x0c\nb", 4, 5).contains("m.pml:2:1"));
    }

    #[test]
    fn unread_files_are_errors_too() {
        let source = std::io::Error::from(std::io::ErrorKind::NotFound).into();
        let json = load_error_json("m.pml", &LoadError::Read { path: "m.pml".into(), source });
        assert_eq!(json["diagnostics"][0]["severity"], "error");
    }

    #[test]
    fn the_marks_are_below_the_place() {
        for (text, start, end, line, marks) in [
            ("byte x;\nbite y;\n", 8, 12, "2 | bite y;", "  | ^^^^"),
            ("\tx = 日本;", 5, 11, "1 |     x = 日本;", "  |         ^^^^"),
            ("x", 1, 1, "1 | x", "  |  ^"),
            ("ab\ncd", 2, 3, "1 | ab", "  |   ^"),
        ] {
            let shown = shown(text, start, end);
            let lines: Vec<&str> = shown.lines().collect();
            let at = lines.iter().position(|one| *one == line).unwrap_or_else(|| panic!("{shown}"));
            assert_eq!(lines[at + 1], marks, "{shown}");
        }
    }

    #[test]
    fn no_place_is_too_large_to_be_shown() {
        let wide = format!("{}oops;{}", "x = 1; ".repeat(100_000), " y = 2;".repeat(100_000));
        let high = "x = 1;\n".repeat(10_000);
        let long = "a".repeat(1_000_000);
        for (text, start, end) in [
            (&wide, 700_000, 700_004),
            (&wide, 0, wide.len()),
            (&high, 7, high.len()),
            (&high, 0, 14),
            (&long, 0, long.len()),
            (&long, 500_000, 500_001),
        ] {
            let shown = shown(text, start as u32, end as u32);
            assert!(shown.lines().count() <= 10 && shown.lines().all(|line| line.chars().count() < 150), "{shown}");
        }
        assert!(shown(&wide, 700_000, 700_004).contains("…") && shown(&wide, 700_000, 700_004).contains("oops;"));
        assert!(shown(&high, 7, high.len() as u32).contains("(9997 lines are between them)"));
        let message = Diagnostic::error(Span { source: 0.into(), start: 0, end: 1 }, long);
        let mut out = Vec::new();
        show(&mut out, &[], &[message], Paint(false)).unwrap();
        assert!(out.len() < 1000);
    }
}
