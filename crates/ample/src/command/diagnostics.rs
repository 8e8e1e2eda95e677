//! Diagnostics: what is wrong with an input, with its source line underlined, or as JSON.

use std::io::Write;

use ample::{Diagnostic, LoadError, Severity, Source, Span};
use ariadne::{CharSet, Color, Config, IndexType, Label, Report, ReportKind, sources};
use serde_json::{Value, json};

use super::paint::Paint;

/// More than this help nobody.
const MOST: usize = 20;

/// Writes why there is no model.
pub fn load_error(out: &mut impl Write, error: &LoadError, paint: Paint) -> std::io::Result<()> {
    match error {
        LoadError::Rejected(rejected) => show(out, &rejected.sources, &rejected.diagnostics, paint),
        _ => writeln!(out, "{} {error}", paint.red("Error:")),
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

fn plain(out: &mut impl Write, diagnostic: &Diagnostic, paint: Paint) -> std::io::Result<()> {
    let title = match diagnostic.severity {
        Severity::Error => paint.red("Error:"),
        Severity::Warning => paint.yellow("Warning:"),
    };
    writeln!(out, "{title} {}", diagnostic.message)?;
    match &diagnostic.help {
        Some(help) => writeln!(out, "  help: {help}"),
        None => Ok(()),
    }
}

fn underlined(
    out: &mut impl Write,
    files: &[Source],
    diagnostic: &Diagnostic,
    span: Span,
    paint: Paint,
) -> std::io::Result<()> {
    let (kind, colour) = match diagnostic.severity {
        Severity::Error => (ReportKind::Error, Color::Red),
        Severity::Warning => (ReportKind::Warning, Color::Yellow),
    };
    let source = &files[span.source.index()];
    let place = (source.path.clone(), range(&source.text, span));
    let config = Config::new()
        .with_color(paint.0)
        .with_index_type(IndexType::Byte)
        .with_char_set(if paint.0 { CharSet::Unicode } else { CharSet::Ascii })
        .with_compact(false);
    let mut report = Report::build(kind, place.clone())
        .with_config(config)
        .with_message(&diagnostic.message)
        .with_label(Label::new(place).with_message("here").with_color(colour));
    if let Some(help) = &diagnostic.help {
        report.set_help(help);
    }
    report.finish().write(sources([(source.path.clone(), one_kind_of_line_end(&source.text))]), out)
}

/// The span as a range that lies in the text and on whole characters.
fn range(text: &str, span: Span) -> std::ops::Range<usize> {
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

/// Ariadne ends lines where nobody else does (form feeds, carriage returns, …): blanks of the same length instead.
fn one_kind_of_line_end(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\r' | '\x0b' | '\x0c' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                out.extend(std::iter::repeat_n(' ', c.len_utf8()));
            }
            _ => out.push(c),
        }
    }
    out
}

/// The error as the JSON object that stands for a report.
pub fn load_error_json(model: &str, error: &LoadError) -> Value {
    let diagnostics = match error {
        LoadError::Rejected(rejected) => list(&rejected.sources, &rejected.diagnostics),
        LoadError::Interrupted { .. } => {
            let reason = error.to_string();
            return json!({
                "schema": ample::SCHEMA, "model": model, "complete": false, "results": [], "reason": reason,
            });
        }
        LoadError::Read { path, .. } | LoadError::Language { path, .. } | LoadError::Malformed { path, .. } => {
            vec![json!({"file": path, "line": null, "column": null, "severity": "error", "message": error.to_string()})]
        }
    };
    json!({"schema": ample::SCHEMA, "model": model, "error": error.to_string(), "diagnostics": diagnostics})
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
    diagnostics.iter().take(MOST).map(one).collect()
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
}
