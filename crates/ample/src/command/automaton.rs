//! `ample automaton`: the Büchi automaton of a formula.

use std::io::Write;
use std::path::Path;

use ample::{Diagnostic, LoadError, Rejected, Source, Span};
use ample_logic::{Acceptance, Atoms, Automaton, Dialect, Options, TranslateError, dot, hoa, never};
use ample_model::SourceId;
use serde_json::json;

use super::arguments::{Automaton as Arguments, AutomatonFormat};
use super::{Context, Exit, failed, output, print, print_json, refused};

/// What the text of the formula is called in messages.
pub const LABEL: &str = "<formula>";

pub fn automaton(arguments: &Arguments, context: &Context) -> Exit {
    let written = arguments.formula.as_ref().or(arguments.also.as_ref()).map_or("", String::as_str);
    let budget = context.budget(Path::new(LABEL), &arguments.common);
    let mut atoms = Atoms::new();
    let formula = match ample_logic::parse(written, Dialect::Plain, &mut atoms) {
        Ok(formula) => formula,
        Err(error) => {
            let length = written[error.offset..].chars().next().map_or(0, char::len_utf8);
            return wrong(context, written, error.offset, error.offset + length, error.message);
        }
    };
    let (formula, name) = match arguments.negate {
        true => (!formula, format!("!({written})")),
        false => (formula, written.to_owned()),
    };
    let is_simple = arguments.buchi || arguments.to == AutomatonFormat::Never;
    let acceptance = if is_simple { Acceptance::Buchi } else { Acceptance::Generalised };
    let options = Options { acceptance, ..Options::default() };
    let automaton = match ample_logic::translate_within(&formula, &atoms, options, &budget) {
        Ok(automaton) => automaton,
        Err(TranslateError::Interrupted(reason)) => {
            return refused(context, Path::new(LABEL), &LoadError::Interrupted { path: LABEL.to_owned(), reason });
        }
        Err(error) => return wrong(context, written, 0, written.len(), error.to_string()),
    };
    let text = match text_of(&automaton, &name, &atoms, arguments.to) {
        Ok(text) => text,
        Err(why) => return failed(context, Path::new(LABEL), &why),
    };
    if let Some(path) = &arguments.output
        && let Err(error) = output::write(path, text.as_bytes())
    {
        return failed(context, Path::new(LABEL), &error);
    }
    let is_written = arguments.output.is_some();
    if context.json {
        let text = (!is_written).then_some(text);
        print_json(&json!({
            "schema": ample::SCHEMA, "formula": name, "format": arguments.to.name(), "states": automaton.states,
            "edges": automaton.edges.len(), "acceptance_sets": automaton.sets, "text": text,
        }));
    } else if !is_written {
        print(|out| out.write_all(text.as_bytes()));
    }
    Exit::Fine
}

fn text_of(automaton: &Automaton, name: &str, atoms: &Atoms, format: AutomatonFormat) -> Result<String, String> {
    match format {
        AutomatonFormat::Hoa => Ok(hoa::write(automaton, name)),
        AutomatonFormat::Dot => Ok(dot::write(automaton, name)),
        AutomatonFormat::Svg => Ok(ample::pictures::automaton(automaton, name).svg()),
        AutomatonFormat::Never => {
            never::write(automaton, name, &mut |atom| atoms.label(atom)).map_err(|error| error.to_string())
        }
    }
}

/// Tells what is wrong with the formula, with the place underlined.
fn wrong(context: &Context, text: &str, start: usize, end: usize, message: String) -> Exit {
    let span = Span { source: SourceId(0), start: start as u32, end: end as u32 };
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    let rejected = Rejected::new(vec![source], vec![Diagnostic::error(span, message)]);
    refused(context, Path::new(LABEL), &LoadError::from(rejected))
}
