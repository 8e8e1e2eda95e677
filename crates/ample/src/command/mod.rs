//! The command: what is said on the command line becomes calls of the library, and its answers become text.

pub mod arguments;
mod automaton;
mod check;
mod cluster;
mod convert;
mod diagnostics;
pub mod documents;
mod focus;
pub mod formats;
mod layout;
mod msc;
pub mod output;
mod paint;
mod pictures;
mod progress;
mod questions;
mod reduce;
mod simulate;
mod sog;
mod state;
mod steps;
pub mod supervisor;
mod testgen;
mod text;
mod traces;

use std::io::{Write, stderr, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ample::{Budget, Interrupted, LoadError, LoadOptions, Loaded, RefusedFormula, Verdict};
use ample_lang::promplus::Widths;
use ample_lang::source::DEFAULT_MAX_BYTES;
use ample_lang::{LANGUAGES, Language};
use serde_json::{Value, json};

use arguments::{Command, Common};
use focus::Focus;
use formats::Format;
use layout::Extent;
use output::{complain, print};
use paint::Paint;

/// How the command ended, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// The input or the call is wrong.
    Wrong,
    /// Something is violated.
    Violated,
    /// Not decided.
    Undecided,
    /// Everything holds.
    Fine,
}

impl Exit {
    pub fn code(self) -> u8 {
        match self {
            Exit::Fine => 0,
            Exit::Violated => 1,
            Exit::Wrong => 2,
            Exit::Undecided => 3,
        }
    }
}

impl From<Verdict> for Exit {
    fn from(verdict: Verdict) -> Exit {
        match verdict {
            Verdict::Holds | Verdict::Computed => Exit::Fine,
            Verdict::Violated => Exit::Violated,
            Verdict::Unknown => Exit::Undecided,
        }
    }
}

/// What all subcommands share.
#[derive(Clone)]
pub struct Context {
    pub out: Paint,
    pub err: Paint,
    pub json: bool,
    pub quiet: bool,
    /// Nothing is left out of what is long.
    pub full: bool,
    /// What of a run is shown.
    pub focus: Focus,
    /// Set by the first Ctrl-C.
    pub interrupt: Arc<AtomicBool>,
}

impl Context {
    /// How much of something long is shown.
    fn extent(&self) -> Extent {
        if self.full { Extent::FULL } else { Extent::SCREEN }
    }

    /// What the work on a file may take, from now on. The supervisor sees to it that no phase of it takes more.
    pub fn budget(&self, file: &Path, common: &Common) -> Budget {
        let mut budget = Budget::unlimited().with_cancellation(&Arc::clone(&self.interrupt).into());
        if let Some(time) = common.time_limit {
            budget = budget.with_time(time);
        }
        if let Some(limit) = common.memory_limit.or_else(ample::sensible_memory_limit) {
            budget = budget.with_memory(limit);
        }
        supervisor::begin(file, &budget);
        budget
    }
}

/// Runs the command.
pub fn run(command: &Command, interrupt: Arc<AtomicBool>) -> Exit {
    let common = command.common();
    let context = Context {
        out: Paint::on(common.color, &stdout()),
        err: Paint::on(common.color, &stderr()),
        json: command.format() != Format::Text,
        quiet: common.quiet,
        full: match command {
            Command::Check(arguments) => arguments.full,
            Command::Simulate(arguments) => arguments.full,
            Command::Testgen(arguments) => arguments.full,
            _ => false,
        },
        focus: match command {
            Command::Check(arguments) => arguments.focus.clone(),
            Command::Simulate(arguments) => arguments.focus.clone(),
            _ => Focus::default(),
        },
        interrupt,
    };
    match command {
        Command::Check(arguments) => check::check(arguments, &context),
        Command::States(arguments) => guarded(&context, &arguments.file, || check::states(arguments, &context)),
        Command::Simulate(arguments) => guarded(&context, &arguments.file, || simulate::simulate(arguments, &context)),
        Command::Reduce(arguments) => guarded(&context, &arguments.file, || reduce::reduce(arguments, &context)),
        Command::Convert(arguments) => guarded(&context, &arguments.file, || convert::convert(arguments, &context)),
        Command::Automaton(arguments) => {
            guarded(&context, Path::new(automaton::LABEL), || automaton::automaton(arguments, &context))
        }
        Command::Sog(arguments) => guarded(&context, &arguments.file, || sog::sog(arguments, &context)),
        Command::Testgen(arguments) => guarded(&context, &arguments.file, || testgen::testgen(arguments, &context)),
    }
}

/// Reports that nothing is known of a file, because the work on it had to be ended before there was an answer.
pub fn unknown(command: &Command, file: &Path, reason: Interrupted) {
    let is_json = command.format() != Format::Text;
    not_reached(file, reason, (is_json, Paint::on(command.common().color, &stderr())));
}

/// The same, as JSON or in that paint.
fn not_reached(file: &Path, reason: Interrupted, (is_json, paint): (bool, Paint)) {
    let (file, reason) = (file.display(), format!("{reason} before there was an answer"));
    if is_json {
        print_json(&json!({
            "schema": ample::SCHEMA, "model": file.to_string(), "complete": false, "results": [], "reason": reason,
        }));
    }
    complain(|out| writeln!(out, "{} {file}: unknown: {reason}", paint.red("Error:")));
}

/// The last line of defence: a panic about one model is reported, and is not an answer.
fn guarded(context: &Context, model: &Path, work: impl FnOnce() -> Exit) -> Exit {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        if context.json {
            let error = "internal error: this is a bug in ample, please report it with the model";
            print_json(&json!({
                "schema": ample::SCHEMA, "model": model.display().to_string(), "complete": false,
                "results": [], "error": error,
            }));
        }
        Exit::Undecided
    })
}

/// Reads the model; what is wrong with it is reported. Formulas that are refused are no matter here.
fn load(path: &Path, common: &Common, context: &Context, budget: &Budget) -> Result<Loaded, Exit> {
    let loaded = load_model(path, common, context, budget)?;
    show_refused(context, &loaded, loaded.refused.iter());
    Ok(loaded)
}

/// Warns of formulas in the file that are refused, where nobody asks about them.
fn show_refused<'a>(context: &Context, loaded: &Loaded, refused: impl Iterator<Item = &'a RefusedFormula>) {
    let warnings = questions::warnings(refused);
    complain(|out| diagnostics::show(out, &loaded.system.sources, &warnings, context.err));
}

/// Reads the model, without its formulas that are refused; what else is wrong with it is reported.
fn load_model(path: &Path, common: &Common, context: &Context, budget: &Budget) -> Result<Loaded, Exit> {
    let options = LoadOptions { without_refused: true, ..load_options(common, budget) };
    let loaded = ample::load(path, &options).map_err(|error| refused(context, path, &error))?;
    complain(|out| diagnostics::show(out, &loaded.system.sources, &loaded.warnings, context.err));
    Ok(loaded)
}

/// How files are read.
fn load_options(common: &Common, budget: &Budget) -> LoadOptions {
    let is_named = |language: &&dyn Language| common.language.is_none_or(|name| language.name() == name);
    LoadOptions {
        languages: LANGUAGES.iter().copied().filter(is_named).collect(),
        defines: common.defines.clone(),
        max_source_bytes: common.max_source_size.unwrap_or(DEFAULT_MAX_BYTES),
        budget: budget.clone(),
        widths: Widths { pid_bits: common.pid_bits, ref_bits: common.ref_bits },
        ..LoadOptions::default()
    }
}

/// Reports what is wrong with an input.
fn refused(context: &Context, model: &Path, error: &LoadError) -> Exit {
    complain(|out| diagnostics::load_error(out, error, context.err));
    if context.json {
        print_json(&diagnostics::load_error_json(&model.display().to_string(), error));
    }
    if matches!(error, LoadError::Interrupted { .. }) { Exit::Undecided } else { Exit::Wrong }
}

/// So much of a message without a place is shown, which may list what there is.
const LONG_MESSAGE: usize = 4000;

/// An error that has no place in a source.
fn failed(context: &Context, model: &Path, message: &str) -> Exit {
    complain(|out| writeln!(out, "{} {}", context.err.red("Error:"), layout::shortened(message, LONG_MESSAGE)));
    if context.json {
        let model = model.display().to_string();
        print_json(&json!({
            "schema": ample::SCHEMA, "model": model, "complete": false, "results": [], "error": message,
            "diagnostics": [],
        }));
    }
    Exit::Wrong
}

/// One JSON value on a line of its own, or what it becomes in another format.
fn print_json(value: &Value) {
    formats::give(value);
}
