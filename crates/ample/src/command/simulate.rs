//! `ample simulate`: at random, by hand, or along a trace; always with the reference interpreter.

use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

use ample::evidence::EndState;
use ample::simulate::{Bookmark, Ending, Random, Simulation, first_start};
use ample::{Branch, Budget, Move, Step, System, Trace};
use serde::Serialize;

use super::arguments::Simulate;
use super::layout::{Extent, padded, shortened, width};
use super::output::print_meanwhile;
use super::steps::{Columns, Steps, one_line, place};
use super::text::{Evidence, View};
use super::traces::{self, Recorded};
use super::{Context, Exit, complain, failed, load, load_options, msc, pictures, state, supervisor};

/// A run as JSON. It is written as it is, since a state may be large.
#[derive(Serialize)]
struct Answer<'a> {
    schema: u32,
    model: &'a str,
    language: &'a str,
    seed: Option<u64>,
    ending: &'static str,
    reason: &'a str,
    trace: &'a Trace,
    end: &'a EndState,
    #[serde(skip_serializing_if = "Option::is_none")]
    property: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    branches: Option<&'a [Branch]>,
}

/// Why a run has ended.
enum RunEnd {
    /// It cannot go on, or went wrong.
    Ended(Ending),
    /// An assertion was violated.
    Violated(String),
    /// The user or a limit ended it.
    Stopped(String),
}

/// Where the steps of a run go as they are taken.
enum Sink<'a, W: Write> {
    /// To the terminal, at once.
    Steps(&'a mut W, Box<Steps>),
    /// What the model prints goes to the terminal.
    Output(&'a mut W),
    /// Only into the trace.
    Nowhere,
}

/// A run, with what is kept and what is shown of it.
struct Run<'a, W: Write> {
    simulation: Simulation<'a>,
    trace: Trace,
    keep: bool,
    sink: Sink<'a, W>,
    extent: Extent,
}

impl<W: Write> Run<'_, W> {
    /// Takes a move; the violation if there is one.
    fn take(&mut self, taken: &Move) -> io::Result<Option<String>> {
        let step = self.simulation.take(taken);
        match &mut self.sink {
            Sink::Steps(out, steps) => {
                steps.next(out, self.simulation.system(), &step, || self.simulation.state())?;
            }
            Sink::Output(out) => out.write_all(step.printed.as_bytes())?,
            Sink::Nowhere => {}
        }
        let violation = step.violation.clone();
        if self.keep {
            self.trace.prefix.push(step);
        }
        Ok(violation)
    }
}

pub fn simulate(arguments: &Simulate, context: &Context) -> Exit {
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let system = &loaded.system;
    if let Some(why) = context.focus.refused(system) {
        return failed(context, &arguments.file, &why);
    }
    let options = load_options(&arguments.common, &budget);
    let path = arguments.trace.as_ref();
    let given = match path.map(|path| traces::read(path, system, arguments.property.as_deref(), &options)) {
        Some(Err(message)) => return failed(context, &arguments.file, &message),
        Some(Ok(recorded)) => Some(recorded),
        None => None,
    };
    let start = match &given {
        Some(given) => given.trace.start.clone(),
        None => match first_start(system, &budget) {
            Ok(start) => start.unwrap_or_default(),
            Err(interrupted) => return failed(context, &arguments.file, &interrupted.to_string()),
        },
    };
    let simulation = match Simulation::new(system, &start) {
        Ok(simulation) => simulation.within(&budget),
        Err(None) => {
            return failed(context, &arguments.file, &format!("the model has no initial state number {start}"));
        }
        Err(Some(fault)) => {
            complain(|out| writeln!(out, "{} the initial state is a fault: {fault}", context.err.red("Error:")));
            return Exit::Violated;
        }
    };
    let mut exit = Exit::Fine;
    print_meanwhile(|out| {
        exit = walk(arguments, context, (system, &budget), simulation, given.as_ref(), out)?;
        Ok(())
    });
    exit
}

fn walk(
    arguments: &Simulate,
    context: &Context,
    (system, budget): (&System, &Budget),
    simulation: Simulation<'_>,
    given: Option<&Recorded>,
    out: &mut impl Write,
) -> io::Result<Exit> {
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let start = simulation.start().clone();
    let at_random = given.is_none() && !arguments.interactive;
    let extent = if context.full { Extent::FULL } else { Extent::OF_FILE };
    if !context.json && !context.quiet {
        heading(out, system, given, at_random.then_some(seed), context)?;
    }
    // A trace is shown when it has been followed: its length is known then.
    let is_chart = arguments.msc == Some(None);
    let sink = match (context.json || is_chart || given.is_some(), context.quiet) {
        (true, false) => Sink::Nowhere,
        (true, true) if context.json || is_chart => Sink::Nowhere,
        (_, true) => Sink::Output(&mut *out),
        (false, false) => {
            let steps = Steps::new(Columns::of(system), Extent::FULL, context.out, &system.language);
            Sink::Steps(&mut *out, Box::new(steps.focused(&context.focus)))
        }
    };
    let trace = Trace { start, ..Trace::default() };
    let mut run =
        Run { simulation, trace, keep: context.json || arguments.msc.is_some() || given.is_some(), sink, extent };
    let run_end = match given {
        Some(given) => follow(&mut run, &given.trace)?,
        None if arguments.interactive => by_hand(&mut run, system, context)?,
        None => randomly(&mut run, seed, arguments.steps, budget)?,
    };
    supervisor::report();
    if let Sink::Steps(out, steps) = &mut run.sink {
        steps.finish(out)?;
    }
    let Run { simulation, mut trace, .. } = run;
    if let Some(given) = given {
        trace.cycle = trace.prefix.split_off(given.trace.prefix.len().min(trace.prefix.len()));
    }
    if let Some(path) = &arguments.dot
        && let Err(error) = std::fs::write(path, simulation.picture())
    {
        let message = format!("{} cannot be written: {error}", path.display());
        return Ok(failed(context, &arguments.file, &message));
    }
    if let Some(Some(path)) = &arguments.msc
        && let Err(message) = pictures::write_chart(path, &trace, system.name.clone(), context)
    {
        return Ok(failed(context, &arguments.file, &message));
    }
    let end = simulation.state();
    let (ending, reason, exit) = described(&run_end);
    if context.json {
        let answer = Answer {
            schema: ample::SCHEMA,
            model: &system.name,
            language: &system.language,
            seed: at_random.then_some(seed),
            ending,
            reason: &reason,
            trace: &trace,
            end: &end,
            property: given.map(|given| &*given.property),
            branches: given.map(|given| &*given.branches),
        };
        serde_json::to_writer(&mut *out, &answer)?;
        writeln!(out)?;
        return Ok(exit);
    }
    if context.quiet {
        return if is_chart { msc::chart(out, &trace, extent).map(|()| exit) } else { Ok(exit) };
    }
    let view = if is_chart { View::Chart } else { View::Steps };
    let evidence = Evidence { system, view, extent, paint: context.out, focus: &context.focus };
    let branches = given.map_or(&[][..], |given| &given.branches);
    let columns = Columns::fitting(&trace, branches);
    let mut states = None;
    if given.is_some() || is_chart {
        states = evidence.run(out, &trace, columns, None)?;
    }
    let reason = if exit == Exit::Violated { context.out.red(&reason) } else { reason };
    writeln!(out, "{reason}")?;
    state::state(out, system, &end, extent)?;
    evidence.branches(out, branches, given.map_or("", |given| &given.property), columns, states.as_ref())?;
    Ok(exit)
}

/// What run it is.
fn heading(
    out: &mut impl Write,
    system: &System,
    given: Option<&Recorded>,
    seed: Option<u64>,
    context: &Context,
) -> io::Result<()> {
    let name = &system.name;
    let text = match (given, seed) {
        (Some(Recorded { property, .. }), _) if property.is_empty() => format!("{name}: a run from a file"),
        (Some(Recorded { property, of: 1, .. }), _) => format!("{name}: the run for {property}"),
        (Some(Recorded { property, of, .. }), _) => {
            format!("{name}: the run for {property}, one of {of} (--property NAME chooses)")
        }
        (None, Some(seed)) => format!("{name}: a random run, --seed {seed}"),
        (None, None) => return Ok(()),
    };
    writeln!(out, "{}", context.out.bold(shortened(&text, Extent::SCREEN.text)))
}

fn described(end: &RunEnd) -> (&'static str, String, Exit) {
    match end {
        RunEnd::Ended(Ending::EndState) => ("end", "valid end state".into(), Exit::Fine),
        RunEnd::Ended(Ending::Deadlock) => {
            ("deadlock", "invalid end state: no process can move".into(), Exit::Violated)
        }
        RunEnd::Ended(Ending::Fault(fault)) => ("fault", fault.clone(), Exit::Violated),
        RunEnd::Violated(sentence) => ("violation", sentence.clone(), Exit::Violated),
        RunEnd::Stopped(why) => ("stopped", why.clone(), Exit::Fine),
    }
}

/// A seed that nobody has chosen; small enough to be typed.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Random::new(now.as_nanos() as u64).below(1_000_000_000) as u64
}

fn randomly<W: Write>(run: &mut Run<'_, W>, seed: u64, steps: u64, budget: &Budget) -> io::Result<RunEnd> {
    let mut random = Random::new(seed);
    for _ in 0..steps {
        if let Err(interrupted) = budget.check() {
            return Ok(RunEnd::Stopped(interrupted.to_string()));
        }
        let moves = run.simulation.moves();
        if moves.is_empty() {
            break;
        }
        if let Some(violation) = run.take(&moves[random.below(moves.len())])? {
            return Ok(RunEnd::Violated(violation));
        }
    }
    Ok(match run.simulation.ending() {
        Some(ending) => RunEnd::Ended(ending),
        None => RunEnd::Stopped(format!("stopped after {steps} steps")),
    })
}

/// Along a trace that is known to fit.
fn follow<W: Write>(run: &mut Run<'_, W>, given: &Trace) -> io::Result<RunEnd> {
    let mut violation = None;
    for step in given.prefix.iter().chain(&given.cycle) {
        violation = run.take(&step.taken)?;
    }
    Ok(match (violation, run.simulation.ending()) {
        (Some(violation), _) => RunEnd::Violated(violation),
        (None, Some(ending)) => RunEnd::Ended(ending),
        (None, None) if given.cycle.is_empty() => RunEnd::Stopped("the trace ends here".into()),
        (None, None) => RunEnd::Stopped("here the cycle begins again".into()),
    })
}

/// What the user says.
enum Choice {
    Take(usize),
    Back,
    State,
    Help,
    Quit,
}

const HELP: &str = "  a number  takes that move
  b         goes one move back
  v         shows the state: where the processes stand, the channels, the variables
  h, ?      shows this
  q         quits, as the end of the input does
";

fn by_hand<W: Write>(run: &mut Run<'_, W>, system: &System, context: &Context) -> io::Result<RunEnd> {
    let mut lines = io::stdin().lock().lines();
    let mut history: Vec<Bookmark> = Vec::new();
    loop {
        let moves = run.simulation.moves();
        let steps: Vec<Step> = moves.iter().map(|taken| run.simulation.preview(taken)).collect();
        let ending = run.simulation.ending();
        menu(run, &steps, ending.as_ref(), context)?;
        match ask(run, &mut lines, moves.len())? {
            Choice::Quit => return Ok(ending.map_or_else(|| RunEnd::Stopped("stopped here".into()), RunEnd::Ended)),
            Choice::Back => match history.pop() {
                Some(bookmark) => {
                    run.simulation.return_to(bookmark);
                    run.trace.prefix.pop();
                    if let Sink::Steps(_, steps) = &mut run.sink {
                        steps.back();
                    }
                }
                None => say(run, "This is the beginning.\n")?,
            },
            Choice::Take(number) => {
                history.push(run.simulation.bookmark());
                run.take(&moves[number])?;
            }
            Choice::State => {
                let mut text = Vec::new();
                state::state(&mut text, system, &run.simulation.state(), run.extent)?;
                say(run, &String::from_utf8_lossy(&text))?;
            }
            Choice::Help => say(run, HELP)?,
        }
    }
}

/// The dialogue goes to standard output, or to standard error if something else is to be written there.
fn say<W: Write>(run: &mut Run<'_, W>, text: &str) -> io::Result<()> {
    match &mut run.sink {
        Sink::Steps(out, _) | Sink::Output(out) => write!(out, "{text}").and_then(|()| out.flush()),
        Sink::Nowhere => {
            let mut out = io::stderr().lock();
            write!(out, "{text}").and_then(|()| out.flush())
        }
    }
}

fn menu<W: Write>(run: &mut Run<'_, W>, steps: &[Step], ending: Option<&Ending>, context: &Context) -> io::Result<()> {
    let mut text = String::new();
    match ending {
        Some(Ending::EndState) => text.push_str("Valid end state: no more moves.\n"),
        Some(Ending::Deadlock) => text.push_str("Invalid end state: no more moves.\n"),
        Some(Ending::Fault(fault)) => text.push_str(&format!("There is no way on: {fault}.\n")),
        None => {}
    }
    let most = Extent::SCREEN.name;
    let processes = steps.iter().map(|step| width(&step.process)).max().unwrap_or(0).min(most);
    let places = steps.iter().map(|step| width(place(&step.at))).max().unwrap_or(0).min(most);
    for (number, step) in steps.iter().enumerate() {
        let process = context.out.bold(padded(&shortened(&step.process, processes), processes));
        let place = context.out.dim(padded(&shortened(place(&step.at), places), places));
        let statement = shortened(&one_line(&step.text), run.extent.text);
        let partner = match &step.partner {
            Some((name, text, _)) => format!("  with {name} {}", shortened(&one_line(text), run.extent.text)),
            None => String::new(),
        };
        text.push_str(&format!("  {:>3}  {process}  {place}  {statement}{partner}\n", number + 1));
    }
    say(run, &text)
}

/// Asks until there is an answer; the end of the input is one.
fn ask<W: Write>(
    run: &mut Run<'_, W>,
    lines: &mut impl Iterator<Item = io::Result<String>>,
    moves: usize,
) -> io::Result<Choice> {
    loop {
        let range = if moves == 0 { String::new() } else { format!("1-{moves}, ") };
        say(run, &format!("choose ({range}b back, v state, h help, q quit): "))?;
        let Some(line) = lines.next() else {
            say(run, "\n")?;
            return Ok(Choice::Quit);
        };
        match line?.trim() {
            "q" | "quit" => return Ok(Choice::Quit),
            "b" | "back" => return Ok(Choice::Back),
            "v" | "state" => return Ok(Choice::State),
            "h" | "?" | "help" => return Ok(Choice::Help),
            answer => match answer.parse::<usize>() {
                Ok(number) if (1..=moves).contains(&number) => return Ok(Choice::Take(number - 1)),
                _ => say(run, &format!("`{}` is none of these; h shows what can be said.\n", shortened(answer, 40)))?,
            },
        }
    }
}
