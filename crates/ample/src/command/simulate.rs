//! `ample simulate`: at random, by hand, or along a trace; always with the reference interpreter.

use std::io::{self, BufRead, Write};
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use ample::simulate::{Bookmark, Ending, Random, Simulation};
use ample::{Move, Reason, Step, System, Trace};
use serde_json::json;

use super::arguments::Simulate;
use super::text::{self, Steps};
use super::{Context, Exit, complain, failed, load, load_options, msc, print, traces};

/// Why a run is over.
enum Over {
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
    Steps(&'a mut W, Steps),
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
}

impl<W: Write> Run<'_, W> {
    /// Takes a move; the violation if there is one.
    fn take(&mut self, taken: &Move) -> io::Result<Option<String>> {
        let step = self.simulation.take(taken);
        match &mut self.sink {
            Sink::Steps(out, steps) => steps.step(out, &step)?,
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
    let options = load_options(&arguments.common, &budget);
    let given = match arguments.trace.as_ref().map(|path| traces::read(path, arguments.property.as_deref(), &options)) {
        Some(Err(message)) => return failed(context, &arguments.file, &message),
        Some(Ok(trace)) => Some(trace),
        None => None,
    };
    let start = given.as_ref().map_or(0, |trace| trace.start);
    let simulation = match Simulation::new(system, start) {
        Ok(simulation) => simulation,
        Err(None) => {
            return failed(context, &arguments.file, &format!("the model has no initial state number {start}"));
        }
        Err(Some(fault)) => {
            complain(|out| writeln!(out, "{} the initial state is a fault: {fault}", context.err.red("Error:")));
            return Exit::Violated;
        }
    };
    if let Some(trace) = &given
        && let Err(why) = fits(system, trace)
    {
        return failed(context, &arguments.file, &format!("the trace does not fit the model: {why}"));
    }
    let mut exit = Exit::Fine;
    print(|out| {
        exit = walk(arguments, context, system, simulation, given.as_ref(), out)?;
        Ok(())
    });
    exit
}

fn walk(
    arguments: &Simulate,
    context: &Context,
    system: &System,
    simulation: Simulation<'_>,
    given: Option<&Trace>,
    out: &mut impl Write,
) -> io::Result<Exit> {
    let seed = arguments.seed.unwrap_or_else(any_seed);
    let start = given.map_or(0, |trace| trace.start);
    let at_random = given.is_none() && !arguments.interactive;
    if at_random && !context.json && !context.quiet {
        writeln!(out, "{}", context.out.bold(format!("{}: a random run, --seed {seed}", system.name)))?;
    }
    let sink = match (context.json || arguments.msc, context.quiet) {
        (true, _) => Sink::Nowhere,
        (false, true) => Sink::Output(&mut *out),
        (false, false) => Sink::Steps(&mut *out, Steps::of(system, context.out)),
    };
    let trace = Trace { start, ..Trace::default() };
    let mut run = Run { simulation, trace, keep: context.json || arguments.msc, sink };
    let over = match given {
        Some(given) => follow(&mut run, given)?,
        None if arguments.interactive => by_hand(&mut run, context)?,
        None => randomly(&mut run, seed, arguments, context)?,
    };
    let Run { simulation, mut trace, .. } = run;
    if let Some(given) = given {
        trace.cycle = trace.prefix.split_off(given.prefix.len().min(trace.prefix.len()));
    }
    let end = simulation.state();
    let (ending, reason, exit) = told(&over);
    if context.json {
        let seed = at_random.then_some(seed);
        let answer = json!({
            "schema": ample::SCHEMA, "model": system.name, "language": system.language, "seed": seed,
            "ending": ending, "reason": reason, "trace": trace, "end": end,
        });
        writeln!(out, "{answer}")?;
        return Ok(exit);
    }
    if arguments.msc {
        msc::chart(out, &trace)?;
    }
    if !context.quiet {
        let reason = if exit == Exit::Violated { context.out.red(&reason) } else { reason };
        writeln!(out, "{reason}")?;
        let verb = if matches!(over, Over::Ended(_)) { "waits for" } else { "stands before" };
        if !matches!(over, Over::Ended(Ending::EndState)) {
            text::standings(out, &end, verb)?;
        }
    }
    Ok(exit)
}

fn told(over: &Over) -> (&'static str, String, Exit) {
    match over {
        Over::Ended(Ending::EndState) => ("end", "valid end state".into(), Exit::Fine),
        Over::Ended(Ending::Deadlock) => ("deadlock", "invalid end state: no process can move".into(), Exit::Violated),
        Over::Ended(Ending::Fault(fault)) => ("fault", fault.clone(), Exit::Violated),
        Over::Violated(sentence) => ("violation", sentence.clone(), Exit::Violated),
        Over::Stopped(why) => ("stopped", why.clone(), Exit::Fine),
    }
}

/// A seed that nobody has chosen; small enough to be typed.
fn any_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Random::new(now.as_nanos() as u64).below(1_000_000_000) as u64
}

fn randomly<W: Write>(run: &mut Run<'_, W>, seed: u64, arguments: &Simulate, context: &Context) -> io::Result<Over> {
    let begun = Instant::now();
    let mut random = Random::new(seed);
    for _ in 0..arguments.steps {
        if context.interrupt.load(Ordering::Relaxed) {
            return Ok(Over::Stopped("interrupted".into()));
        }
        if arguments.common.time_limit.is_some_and(|limit| begun.elapsed() >= limit) {
            return Ok(Over::Stopped(Reason::Time.to_string()));
        }
        let moves = run.simulation.moves();
        if moves.is_empty() {
            break;
        }
        if let Some(violation) = run.take(&moves[random.below(moves.len())])? {
            return Ok(Over::Violated(violation));
        }
    }
    Ok(match run.simulation.ending() {
        Some(ending) => Over::Ended(ending),
        None => Over::Stopped(format!("stopped after {} steps", arguments.steps)),
    })
}

/// Along a trace that is known to fit.
fn follow<W: Write>(run: &mut Run<'_, W>, given: &Trace) -> io::Result<Over> {
    let mut violation = None;
    for (number, step) in given.prefix.iter().chain(&given.cycle).enumerate() {
        if number == given.prefix.len()
            && let Sink::Steps(out, steps) = &mut run.sink
        {
            steps.turn(out)?;
        }
        violation = run.take(&step.taken)?;
    }
    Ok(match (violation, run.simulation.ending()) {
        (Some(violation), _) => Over::Violated(violation),
        (None, Some(ending)) => Over::Ended(ending),
        (None, None) => Over::Stopped("the trace ends here".into()),
    })
}

/// A trace fits if it replays, and if it tells of the statements that it takes: an edge of another model may happen
/// to have the same number.
fn fits(system: &System, trace: &Trace) -> Result<(), String> {
    let mut simulation =
        Simulation::new(system, trace.start).map_err(|_| "there is no such initial state".to_owned())?;
    for (number, step) in trace.prefix.iter().chain(&trace.cycle).enumerate() {
        let refuse = |why: String| Err(format!("step {}: {why}", number + 1));
        if !simulation.allows(&step.taken) {
            return refuse(format!("{} cannot take `{}` there", step.process, text::one_line(&step.text)));
        }
        let taken = simulation.take(&step.taken);
        if (&taken.process, &taken.text) != (&step.process, &step.text) {
            let (told, does) = (text::one_line(&step.text), text::one_line(&taken.text));
            return refuse(format!("the trace has {} `{told}`, the model {} `{does}`", step.process, taken.process));
        }
        if taken.violation != step.violation {
            let told = |violation: &Option<String>| violation.clone().unwrap_or_else(|| "nothing goes wrong".into());
            return refuse(format!("the trace says: {}; the model: {}", told(&step.violation), told(&taken.violation)));
        }
    }
    Ok(())
}

/// What the user says.
enum Choice {
    Take(usize),
    Back,
    Quit,
}

fn by_hand<W: Write>(run: &mut Run<'_, W>, context: &Context) -> io::Result<Over> {
    let mut lines = io::stdin().lock().lines();
    let mut history: Vec<Bookmark> = Vec::new();
    loop {
        let moves = run.simulation.moves();
        let steps: Vec<Step> = moves.iter().map(|taken| run.simulation.preview(taken)).collect();
        let ending = run.simulation.ending();
        menu(run, &steps, ending.as_ref(), context)?;
        match ask(run, &mut lines, moves.len())? {
            Choice::Quit => return Ok(ending.map_or_else(|| Over::Stopped("stopped here".into()), Over::Ended)),
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
    for (number, step) in steps.iter().enumerate() {
        let place = step.at.as_deref().unwrap_or("");
        let statement = text::one_line(&step.text);
        let partner = match &step.partner {
            Some((name, text, _)) => format!("  with {name} {}", text::one_line(text)),
            None => String::new(),
        };
        let process = context.out.bold(&step.process);
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
        say(run, &format!("choose ({range}b back, q quit): "))?;
        let Some(line) = lines.next() else {
            say(run, "\n")?;
            return Ok(Choice::Quit);
        };
        match line?.trim() {
            "q" | "quit" => return Ok(Choice::Quit),
            "b" | "back" => return Ok(Choice::Back),
            answer => match answer.parse::<usize>() {
                Ok(number) if (1..=moves).contains(&number) => return Ok(Choice::Take(number - 1)),
                _ => say(run, &format!("`{answer}` is none of these.\n"))?,
            },
        }
    }
}
