//! The command: what is said on the command line becomes calls of the library, and its answers become text.

pub mod arguments;
mod check;
mod convert;
mod diagnostics;
mod msc;
mod paint;
mod progress;
mod questions;
mod reduce;
mod simulate;
mod sog;
mod text;
mod traces;

use std::io::{self, BufWriter, Write, stderr, stdout};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use ample::{LoadError, LoadOptions, Loaded, RefusedFormula, Verdict};
use serde_json::{Value, json};

use arguments::{Command, Common};
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
            Verdict::Holds => Exit::Fine,
            Verdict::Violated => Exit::Violated,
            Verdict::Unknown => Exit::Undecided,
        }
    }
}

/// What all subcommands share.
pub struct Context {
    pub out: Paint,
    pub err: Paint,
    pub json: bool,
    pub quiet: bool,
    /// Set by the first Ctrl-C.
    pub interrupt: Arc<AtomicBool>,
}

/// Runs the command.
pub fn run(command: &Command, interrupt: Arc<AtomicBool>) -> Exit {
    let common = command.common();
    let context = Context {
        out: Paint::on(common.color, &stdout()),
        err: Paint::on(common.color, &stderr()),
        json: common.json,
        quiet: common.quiet,
        interrupt,
    };
    match command {
        Command::Check(arguments) => check::check(arguments, &context),
        Command::States(arguments) => guarded(&context, &arguments.file, || check::states(arguments, &context)),
        Command::Simulate(arguments) => guarded(&context, &arguments.file, || simulate::simulate(arguments, &context)),
        Command::Reduce(arguments) => guarded(&context, &arguments.file, || reduce::reduce(arguments, &context)),
        Command::Convert(arguments) => guarded(&context, &arguments.file, || convert::convert(arguments, &context)),
        Command::Sog(arguments) => guarded(&context, &arguments.file, || sog::sog(arguments, &context)),
    }
}

/// The last line of defence: a panic about one model is told, and is not an answer.
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

/// Reads the model; what is wrong with it is told. Formulas that are refused are no matter here.
fn load(path: &Path, common: &Common, context: &Context) -> Option<Loaded> {
    let loaded = load_model(path, common, context)?;
    show_refused(context, &loaded, loaded.refused.iter());
    Some(loaded)
}

/// Tells of formulas in the file that are refused, where nobody asks about them.
fn show_refused<'a>(context: &Context, loaded: &Loaded, refused: impl Iterator<Item = &'a RefusedFormula>) {
    let warnings = questions::warnings(refused);
    complain(|out| diagnostics::show(out, &loaded.system.sources, &warnings, context.err));
}

/// Reads the model, without its formulas that are refused; what else is wrong with it is told.
fn load_model(path: &Path, common: &Common, context: &Context) -> Option<Loaded> {
    let options = LoadOptions { defines: common.defines.clone(), without_refused: true };
    match ample::load(path, &options) {
        Ok(loaded) => {
            complain(|out| diagnostics::show(out, &loaded.system.sources, &loaded.warnings, context.err));
            Some(loaded)
        }
        Err(error) => {
            refused(context, path, &error);
            None
        }
    }
}

/// Tells what is wrong with an input.
fn refused(context: &Context, model: &Path, error: &LoadError) -> Exit {
    complain(|out| diagnostics::load_error(out, error, context.err));
    if context.json {
        print_json(&diagnostics::load_error_json(&model.display().to_string(), error));
    }
    Exit::Wrong
}

/// An error that has no place in a source.
fn failed(context: &Context, model: &Path, message: &str) -> Exit {
    complain(|out| writeln!(out, "{} {message}", context.err.red("Error:")));
    if context.json {
        let model = model.display().to_string();
        print_json(&json!({"schema": ample::SCHEMA, "model": model, "error": message, "diagnostics": []}));
    }
    Exit::Wrong
}

/// Writes to standard error. That nobody listens is no reason to stop.
fn complain(write: impl FnOnce(&mut BufWriter<io::StderrLock<'static>>) -> io::Result<()>) {
    let mut out = BufWriter::new(stderr().lock());
    let _ = write(&mut out).and_then(|()| out.flush());
}

/// Writes to standard output. That nobody listens any more (`ample … | head`) is no reason to stop, or to complain.
fn print(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) {
    let mut out = BufWriter::new(stdout().lock());
    if let Err(error) = write(&mut out).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        complain(|out| writeln!(out, "cannot write to standard output: {error}"));
    }
    // Whatever is left in the buffer has nowhere to go.
    let _ = out.into_parts();
}

/// One JSON value on a line of its own.
fn print_json(value: &Value) {
    print(|out| writeln!(out, "{value}"));
}
