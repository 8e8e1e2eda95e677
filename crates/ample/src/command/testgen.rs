//! `ample testgen`: tests for circuits, SMV models and programs.

mod formats;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use ample::testgen::{
    self, CodeCoverage, Outcome, Runs, Signal, Target, TargetResult, Test, Tests, latch_targets, transition_targets,
};
use ample::{Budget, Diagnostic, LoadError, Loaded, Reason, Rejected, Source, Span, Trace};
use ample_model::SourceId;

use super::arguments::{Coverage, TestFormat, Testgen};
use super::layout::{Extent, padded, shortened, width};
use super::progress::Display;
use super::steps::{Columns, Steps};
use super::{Context, Exit, complain, failed, load, load_options, output, print, print_json, refused};

/// A table of signals is at most that wide; otherwise signals are listed.
const TABLE: usize = 120;

/// What was found.
enum Found {
    Tests(Tests),
    Runs(Runs),
}

/// Generates tests, and shows or writes them.
pub fn testgen(arguments: &Testgen, context: &Context) -> Exit {
    let outputs: Vec<&Path> = arguments.output.iter().map(PathBuf::as_path).collect();
    let inputs: Vec<&Path> = [&arguments.file].into_iter().chain(&arguments.sequence).map(PathBuf::as_path).collect();
    if let Some(why) = output::conflict(&outputs, &inputs) {
        return failed(context, &arguments.file, &why);
    }
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let targets = match targets(&loaded, arguments, &budget) {
        Ok(targets) => targets,
        Err(Refused::Text(error)) => return refused(context, &arguments.file, &error),
        Err(Refused::Call(why)) => return failed(context, &arguments.file, &why),
    };
    let display = Arc::new(Display::new(arguments.progress, context.quiet));
    let shown = Arc::clone(&display);
    let found = find(&loaded, &targets, arguments, &budget.clone().with_sink(move |progress| shown.show(progress)));
    display.finish();
    match found {
        Ok(found) => show(&loaded, &found, arguments, context),
        Err(Reason::Unsupported(why)) => failed(context, &arguments.file, &why),
        Err(why) => {
            failed(context, &arguments.file, &format!("{}: unknown: {why}", arguments.file.display()));
            Exit::Undecided
        }
    }
}

fn find(loaded: &Loaded, targets: &[Target], arguments: &Testgen, budget: &Budget) -> Result<Found, Reason> {
    let system = &loaded.system;
    match arguments.coverage {
        Some(Coverage::Statements) => testgen::statements(system, CodeCoverage::Statements, budget).map(Found::Runs),
        Some(Coverage::Branches) => testgen::statements(system, CodeCoverage::Branches, budget).map(Found::Runs),
        None if system.synchronous().is_none() => testgen::run_to(system, &targets[0], budget).map(Found::Runs),
        _ => testgen::generate(system, targets, &arguments.options, budget).map(Found::Tests),
    }
}

/// Why there are no targets.
enum Refused {
    /// An expression is wrong.
    Text(LoadError),
    /// The call is.
    Call(String),
}

impl From<LoadError> for Refused {
    fn from(error: LoadError) -> Refused {
        Refused::Text(error)
    }
}

fn targets(loaded: &Loaded, arguments: &Testgen, budget: &Budget) -> Result<Vec<Target>, Refused> {
    let is_synchronous = loaded.system.synchronous().is_some();
    match arguments.coverage {
        Some(Coverage::Latches | Coverage::Transitions) if !is_synchronous => Err(Refused::Call(
            "latches and transitions are those of circuits and SMV models; programs have `--coverage statements` and \
             `--coverage branches`"
                .into(),
        )),
        Some(Coverage::Latches) => match latch_targets(&loaded.system) {
            targets if targets.is_empty() => Err(Refused::Call("the model has no latches: nothing is covered".into())),
            targets => Ok(targets),
        },
        Some(Coverage::Transitions) => transition_targets(&loaded.system, &arguments.automaton).map_err(Refused::Call),
        Some(Coverage::Statements | Coverage::Branches) => Ok(Vec::new()),
        None if !arguments.automaton.is_empty() => {
            Err(Refused::Call("`--automaton` is for `--coverage transitions`".into()))
        }
        None => {
            let (name, conditions) = match &arguments.sequence {
                Some(path) => (path.display().to_string(), sequence(loaded, path, arguments, budget)?),
                None => {
                    let read = |text: &String| loaded.expression_within(text, budget);
                    let conditions = arguments.target.iter().map(read).collect::<Result<Vec<_>, _>>()?;
                    (arguments.target.join("; "), conditions)
                }
            };
            Ok(vec![Target::new(name, conditions)])
        }
    }
}

/// The expressions of a file, one in a line.
fn sequence(
    loaded: &Loaded,
    path: &Path,
    arguments: &Testgen,
    budget: &Budget,
) -> Result<Vec<ample_model::Expr>, Refused> {
    let text = ample::read_text(path, &load_options(&arguments.common, budget))?;
    let mut conditions = Vec::new();
    let mut begin = 0;
    for line in text.split_inclusive('\n') {
        let said = line.split('#').next().unwrap_or("");
        if !said.trim().is_empty() {
            let read = loaded.expression_within(said, budget);
            conditions.push(read.map_err(|error| in_file(error, path, &text, begin, said))?);
        }
        begin += line.len();
    }
    if conditions.is_empty() {
        return Err(Refused::Call(format!("{} has no expressions: one in a line is expected", path.display())));
    }
    Ok(conditions)
}

/// What is wrong with an expression, at its place in the file.
fn in_file(error: LoadError, path: &Path, text: &str, begin: usize, said: &str) -> LoadError {
    let LoadError::Rejected(rejected) = error else { return error };
    let moved = |diagnostic: Diagnostic| {
        let inside = diagnostic.span.map_or(0..said.trim_end().len() as u32, |span| span.start..span.end);
        let begin = begin as u32;
        let span = Span { source: SourceId(0), start: begin + inside.start, end: begin + inside.end };
        Diagnostic { span: Some(span), ..diagnostic }
    };
    let source = Source { path: path.display().to_string(), text: text.to_owned() };
    Rejected::new(vec![source], rejected.diagnostics.into_iter().map(moved).collect()).into()
}

fn show(loaded: &Loaded, found: &Found, arguments: &Testgen, context: &Context) -> Exit {
    let results = match found {
        Found::Tests(tests) => &tests.results,
        Found::Runs(runs) => &runs.results,
    };
    let exit = results.iter().map(|result| exit_of(&result.outcome)).min().unwrap_or(Exit::Fine);
    let format = arguments.format.unwrap_or_else(|| match &arguments.output {
        Some(path) => formats::of_extension(path),
        None if context.json => TestFormat::Json,
        None => TestFormat::Text,
    });
    let texts = match (format, found) {
        (TestFormat::Text, _) => {
            let mut text = Vec::new();
            // Writing into memory does not fail.
            let _ = describe(&mut text, loaded, found, &Context { out: paint(arguments, context), ..context.clone() });
            Ok(vec![text])
        }
        (TestFormat::Json, Found::Tests(tests)) => Ok(vec![line(&formats::tests_json(loaded, tests, arguments))]),
        (TestFormat::Json, Found::Runs(runs)) => Ok(vec![line(&formats::runs_json(loaded, runs))]),
        (TestFormat::Vcd, Found::Tests(tests)) => {
            Ok(tests.tests.iter().map(|test| formats::vcd(loaded, tests, test).into_bytes()).collect())
        }
        (TestFormat::Stimulus, Found::Tests(tests)) => {
            tests.tests.iter().map(|test| formats::stimulus(loaded, tests, test).map(String::into_bytes)).collect()
        }
        (TestFormat::Vcd | TestFormat::Stimulus, Found::Runs(_)) => {
            Err("a run of a program is written as text or JSON".to_owned())
        }
    };
    let texts = match texts {
        Ok(texts) => texts,
        Err(why) => return failed(context, &arguments.file, &why),
    };
    if format == TestFormat::Stimulus
        && let Found::Tests(tests) = found
    {
        warn_of_first_values(tests, context);
    }
    match &arguments.output {
        Some(path) => {
            for (number, text) in texts.iter().enumerate() {
                let path = if texts.len() == 1 { path.clone() } else { formats::numbered(path, number + 1) };
                if let Err(why) = output::write(&path, text) {
                    return failed(context, &arguments.file, &why);
                }
            }
            if context.json {
                match found {
                    Found::Tests(tests) => print_json(&formats::tests_json(loaded, tests, arguments)),
                    Found::Runs(runs) => print_json(&formats::runs_json(loaded, runs)),
                }
            } else {
                print(|out| summary(out, loaded, found, context));
            }
        }
        None => print(|out| texts.iter().try_for_each(|text| out.write_all(text))),
    }
    exit
}

/// Colours are for the terminal.
fn paint(arguments: &Testgen, context: &Context) -> super::Paint {
    if arguments.output.is_some() { super::Paint(false) } else { context.out }
}

fn line(value: &serde_json::Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Reached { .. } => Exit::Fine,
        Outcome::Unreachable => Exit::Violated,
        Outcome::Unknown(_) => Exit::Undecided,
    }
}

/// Of values that a list of inputs cannot give.
fn warn_of_first_values(tests: &Tests, context: &Context) {
    let first = |test: &Test, number: usize| test.cycles.first().is_some_and(|cycle| cycle.state[number].is_some());
    let open = tests
        .state
        .iter()
        .enumerate()
        .filter(|(number, signal)| signal.is_open_initially && tests.tests.iter().any(|test| first(test, *number)));
    let names: Vec<&str> = open.map(|(_, signal)| signal.name.as_str()).collect();
    if !names.is_empty() {
        let message =
            format!("the tests choose first values of latches, which a stimulus cannot: {}", names.join(", "));
        complain(|out| writeln!(out, "{} {}", context.err.yellow("Warning:"), shortened(&message, 400)));
    }
}

fn describe(out: &mut impl Write, loaded: &Loaded, found: &Found, context: &Context) -> io::Result<()> {
    summary(out, loaded, found, context)?;
    if context.quiet {
        return Ok(());
    }
    match found {
        Found::Tests(tests) => {
            for (number, test) in tests.tests.iter().enumerate() {
                writeln!(out)?;
                table(out, tests, (number, test), context)?;
            }
            writeln!(out)?;
            statistics(out, tests)
        }
        Found::Runs(runs) => {
            for (number, run) in runs.runs.iter().enumerate() {
                writeln!(out)?;
                show_run(out, loaded, (number, run), context)?;
            }
            writeln!(out, "\n{:>12} states\n{:.3} seconds", runs.states, runs.took.as_secs_f64())
        }
    }
}

/// What became of each target.
fn summary(out: &mut impl Write, loaded: &Loaded, found: &Found, context: &Context) -> io::Result<()> {
    let (results, tests) = match found {
        Found::Tests(tests) => (&tests.results, tests.tests.len()),
        Found::Runs(runs) => (&runs.results, runs.runs.len()),
    };
    writeln!(out, "{}", context.out.bold(&loaded.system.name))?;
    let columns = results.iter().map(|result| width(&result.name)).max().unwrap_or(0).min(context.extent().text);
    let is_single = results.len() == 1;
    let extent = context.extent();
    let shown = results.len().min(extent.cells);
    for TargetResult { name, outcome } in &results[..shown] {
        let name = shortened(name, columns);
        match outcome {
            Outcome::Reached { .. } if is_single => writeln!(out, "  {}   {name}", context.out.green("reached"))?,
            Outcome::Reached { test, cycle } => {
                let name = padded(&name, columns);
                let place = match found {
                    Found::Tests(_) => format!("test {}, cycle {cycle}", test + 1),
                    Found::Runs(_) => format!("run {}", test + 1),
                };
                writeln!(out, "  {}      {name}  {}", context.out.green("reached"), context.out.dim(place))?;
            }
            Outcome::Unreachable => writeln!(out, "  {}  {name}", context.out.red("unreachable"))?,
            Outcome::Unknown(why) => writeln!(out, "  {}      {name}: {why}", context.out.yellow("unknown"))?,
        }
    }
    if shown < results.len() {
        writeln!(out, "  … {} targets are left out (--full shows all)", results.len() - shown)?;
    }
    if !is_single {
        let count = |wanted: Exit| results.iter().filter(|result| exit_of(&result.outcome) == wanted).count();
        let (reached, not) = (count(Exit::Fine), count(Exit::Violated));
        let unknown = results.len() - reached - not;
        let tests = if tests == 1 { "1 test".to_owned() } else { format!("{tests} tests") };
        let total = results.len();
        writeln!(out, "{reached} of {total} targets reached by {tests}, {not} unreachable, {unknown} unknown")?;
    }
    Ok(())
}

/// A test, cycle by cycle.
fn table(out: &mut impl Write, tests: &Tests, (number, test): (usize, &Test), context: &Context) -> io::Result<()> {
    let (values, open) = test.values();
    let cycles = test.cycles.len();
    let length = if cycles == 1 { "1 cycle".to_owned() } else { format!("{cycles} cycles") };
    writeln!(out, "test {}: {length}, {open} of {values} input values open (x)", number + 1)?;
    let columns = Layout::of(tests, test);
    let middle = context.extent().middle(cycles);
    if !columns.fits {
        return listed(out, tests, test, context.extent());
    }
    writeln!(out, "{}", context.out.dim(columns.heading(tests)))?;
    for (number, cycle) in test.cycles.iter().enumerate() {
        if middle.contains(&number) {
            if number == middle.start {
                writeln!(out, "  {}", context.extent().left_out(middle.len(), "cycle", "cycles"))?;
            }
            continue;
        }
        let mut line = format!("{number:>7}");
        let groups = [
            (&columns.inputs, cycle.inputs.clone()),
            (&columns.state, cycle.state.clone()),
            (&columns.outputs, cycle.outputs.iter().map(|value| value.map(bit)).collect()),
        ];
        for (widths, values) in groups {
            if !widths.is_empty() {
                line.push_str(" |");
            }
            for (columns, value) in widths.iter().zip(values) {
                let value = value.unwrap_or_else(|| "x".into());
                line.push_str(&format!(" {}{value}", " ".repeat(columns.saturating_sub(width(&value)))));
            }
        }
        // The first bar stands behind the numbers.
        writeln!(out, "{line}")?;
    }
    Ok(())
}

fn bit(value: bool) -> String {
    if value { "1".into() } else { "0".into() }
}

/// The widths of the columns of a table.
struct Layout {
    inputs: Vec<usize>,
    state: Vec<usize>,
    outputs: Vec<usize>,
    fits: bool,
}

impl Layout {
    fn of(tests: &Tests, test: &Test) -> Layout {
        let columns = |signals: &[Signal], values: fn(&ample::testgen::Cycle) -> &[Option<String>]| {
            let widest = |(number, signal): (usize, &Signal)| {
                let shown = test.cycles.iter().map(|cycle| values(cycle)[number].as_deref().map_or(1, width));
                shown.max().unwrap_or(1).max(width(&signal.name))
            };
            signals.iter().enumerate().map(widest).collect::<Vec<usize>>()
        };
        let inputs = columns(&tests.inputs, |cycle| &cycle.inputs);
        let mut state = columns(&tests.state, |cycle| &cycle.state);
        let mut outputs: Vec<usize> = tests.outputs.iter().map(|name| width(name)).collect();
        let total = |widths: &[usize]| widths.iter().map(|width| width + 1).sum::<usize>() + 3;
        if total(&inputs) + total(&state) + total(&outputs) + 7 > TABLE {
            // The inputs are what matters, then the outputs.
            state.clear();
        }
        if total(&inputs) + total(&state) + total(&outputs) + 7 > TABLE {
            outputs.clear();
        }
        let fits = total(&inputs) + 7 <= TABLE;
        Layout { inputs, state, outputs, fits }
    }

    fn heading(&self, tests: &Tests) -> String {
        let mut line = "  cycle".to_owned();
        let names = |signals: &[Signal]| signals.iter().map(|signal| signal.name.clone()).collect::<Vec<_>>();
        let groups = [
            (&self.inputs, names(&tests.inputs)),
            (&self.state, names(&tests.state)),
            (&self.outputs, tests.outputs.clone()),
        ];
        for (widths, names) in groups {
            if !widths.is_empty() {
                line.push_str(" |");
            }
            for (columns, name) in widths.iter().zip(names) {
                line.push_str(&format!(" {}{name}", " ".repeat(columns.saturating_sub(width(&name)))));
            }
        }
        line
    }
}

/// The inputs that have values, where a table would be too wide.
fn listed(out: &mut impl Write, tests: &Tests, test: &Test, extent: Extent) -> io::Result<()> {
    let middle = extent.middle(test.cycles.len());
    for (number, cycle) in test.cycles.iter().enumerate() {
        if middle.contains(&number) {
            if number == middle.start {
                writeln!(out, "  {}", extent.left_out(middle.len(), "cycle", "cycles"))?;
            }
            continue;
        }
        let given = tests.inputs.iter().zip(&cycle.inputs);
        let given = given.filter_map(|(signal, value)| Some(format!("{}={}", signal.name, value.as_ref()?)));
        let given: Vec<String> = given.collect();
        let shown = given.len().min(extent.cells);
        let rest = if shown < given.len() { format!(", … {} more", given.len() - shown) } else { String::new() };
        let text = if given.is_empty() { "any inputs".to_owned() } else { super::layout::listed(&given[..shown], 9) };
        writeln!(out, "{number:>7}  {text}{rest}")?;
    }
    Ok(())
}

fn statistics(out: &mut impl Write, tests: &Tests) -> io::Result<()> {
    let (work, sizes) = (&tests.work, tests.work.sizes);
    writeln!(out, "{:>12} preimages, with a relation of {} nodes on average", sizes.preimages, sizes.average())?;
    writeln!(out, "{:>12} of {} parts of the step relation in one preimage, at most", sizes.max_parts, sizes.parts)?;
    writeln!(out, "{:>12} nodes at the peak, {} reorderings", work.peak_nodes, work.reorderings)?;
    writeln!(out, "{:.3} seconds", tests.took.as_secs_f64())
}

fn show_run(
    out: &mut impl Write,
    loaded: &Loaded,
    (number, run): (usize, &Trace),
    context: &Context,
) -> io::Result<()> {
    writeln!(out, "run {}: {} steps", number + 1, run.prefix.len())?;
    let extent = Extent { hint: "--full shows all, --output FILE.json keeps all", ..context.extent() };
    Steps::new(Columns::fitting(run, &[]), extent, context.out, &loaded.system.language).trace(out, run)
}
