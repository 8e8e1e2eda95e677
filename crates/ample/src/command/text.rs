//! Reports and runs as text for people, in Spin's vocabulary where they know it.

use std::io::{self, Write};

use ample::evidence::{EndState, Standing};
use ample::{
    Answer, Branch, Certainty, DiagramStatistics, Outcome, Reason, Report, Source, Statistics, Step, System, Trace,
};

use super::msc;
use super::paint::Paint;

/// How to show counterexamples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum View {
    /// Not at all.
    Nothing,
    /// Step by step.
    Steps,
    /// As a message sequence chart.
    Chart,
}

/// The verdicts, then the counterexamples, then the statistics.
pub fn report(out: &mut impl Write, system: &System, report: &Report, view: View, paint: Paint) -> io::Result<()> {
    verdicts(out, report, paint)?;
    if view == View::Nothing {
        return Ok(());
    }
    for answer in &report.answers {
        let Some(violation) = answer.shown() else { continue };
        let does = if answer.trace().is_some() { "violates" } else { "shows" };
        let trace = &violation.trace;
        let steps = plural(length(trace), "step");
        if length(trace) == 0 && answer.property.starts_with("ctl:") && violation.branches.is_empty() {
            continue;
        }
        let shows = if length(trace) == 0 && !violation.branches.is_empty() {
            format!("what {does} it")
        } else {
            format!("a run of {steps} that {does} it")
        };
        writeln!(out, "\n{}", paint.bold(format!("{}: {shows}", answer.property)))?;
        run(out, system, trace, view, paint)?;
        ending(out, answer, paint)?;
        branches(out, system, &violation.branches, &answer.property, view, paint)?;
    }
    writeln!(out)?;
    if let Some(choice) = &report.choice {
        writeln!(out, "{choice}")?;
    }
    match &report.diagrams {
        Some(diagrams) => symbolic_statistics(out, report, diagrams),
        None => statistics(out, &report.statistics, report.reduction.as_deref(), report.ended.as_ref()),
    }
}

/// What the symbolic engine did.
fn symbolic_statistics(out: &mut impl Write, report: &Report, diagrams: &DiagramStatistics) -> io::Result<()> {
    if let Some(reason) = &report.ended {
        writeln!(out, "The search did not come to its end: {}.", because(reason))?;
    }
    if let Some(reduction) = &report.reduction {
        writeln!(out, "Partial-order reduction: {reduction}")?;
    }
    let Statistics { states, many_states, time_s, memory_bytes, .. } = &report.statistics;
    if *states > 0 {
        let states = many_states.clone().unwrap_or_else(|| states.to_string());
        let so_far = if report.statistics.complete { "" } else { " so far" };
        writeln!(out, "{states:>9} states{so_far}, in {} nodes", diagrams.reached_nodes)?;
    }
    let DiagramStatistics { bits, relations, relation_nodes, peak_nodes, .. } = diagrams;
    if *bits > 0 {
        writeln!(
            out,
            "{bits:>9} bits, {relations} relations of {relation_nodes} nodes, {peak_nodes} nodes at the peak"
        )?;
    } else {
        writeln!(out, "{peak_nodes:>9} nodes at the peak")?;
    }
    writeln!(out, "{} used, {time_s:.3} seconds", bytes(*memory_bytes))
}

/// All figures about the decision diagrams.
pub fn diagram_statistics(out: &mut impl Write, diagrams: &DiagramStatistics) -> io::Result<()> {
    let rows = [
        ("bits of a state", diagrams.bits as usize),
        ("relations", diagrams.relations),
        ("nodes of all relations", diagrams.relation_nodes),
        ("nodes of the largest relation", diagrams.max_relation_nodes),
        ("nodes of the reached set", diagrams.reached_nodes),
        ("images (#post)", diagrams.posts),
        ("nodes of a frontier on average", diagrams.average_frontier),
        ("nodes of the largest frontier", diagrams.max_frontier),
        ("nodes at the peak", diagrams.peak_nodes),
        ("reorderings", diagrams.reorderings),
        ("restarts with more room", diagrams.restarts),
    ];
    writeln!(out, "Decision diagrams:")?;
    rows.into_iter().try_for_each(|(what, number)| writeln!(out, "{number:>12} {what}"))?;
    for (number, (states, nodes)) in diagrams.rounds.iter().enumerate() {
        writeln!(out, "{number:>12} images: {states} states, in {nodes} nodes")?;
    }
    Ok(())
}

fn run(out: &mut impl Write, system: &System, trace: &Trace, view: View, paint: Paint) -> io::Result<()> {
    match view {
        View::Chart => msc::chart(out, trace),
        _ => Steps::of(system, paint).trace(out, trace),
    }
}

/// What branches off a run, each with the path of branches that leads to it.
fn branches(
    out: &mut impl Write,
    system: &System,
    branches: &[Branch],
    of: &str,
    view: View,
    paint: Paint,
) -> io::Result<()> {
    for (number, branch) in branches.iter().enumerate() {
        let name = format!("{of}, branch {}", number + 1);
        let after = plural(branch.after, "step");
        let steps = length(&branch.trace);
        let tail = if steps == 0 { String::new() } else { format!(": a run of {}", plural(steps, "step")) };
        writeln!(out, "\n{}", paint.bold(format!("{name}, after {after}{tail}")))?;
        writeln!(out, "{}", branch.message)?;
        run(out, system, &branch.trace, view, paint)?;
        self::branches(out, system, &branch.branches, &name, view, paint)?;
    }
    Ok(())
}

fn length(trace: &Trace) -> usize {
    trace.prefix.len() + trace.cycle.len()
}

fn verdicts(out: &mut impl Write, report: &Report, paint: Paint) -> io::Result<()> {
    writeln!(out, "{}", paint.bold(&report.model))?;
    let width = report.answers.iter().map(|answer| answer.property.chars().count()).max().unwrap_or(0).min(40);
    for answer in &report.answers {
        writeln!(out, "  {:width$}  {}", answer.property, verdict(answer, paint))?;
        if let Some(note) = &answer.note {
            writeln!(out, "  {:width$}  {}", "", paint.dim(format!("({note})")))?;
        }
        for warning in &answer.warnings {
            writeln!(out, "  {:width$}  {} {warning}", "", paint.yellow("warning:"))?;
        }
    }
    Ok(())
}

fn verdict(answer: &Answer, paint: Paint) -> String {
    match &answer.outcome {
        Outcome::Holds(Certainty::Proved) => match answer.value {
            Some(value) => paint.green(format!("at most {value}, which is reached")),
            None => paint.green("holds"),
        },
        Outcome::Holds(Certainty::Bounded(bound)) => paint.green(format!("holds for runs of up to {bound} steps")),
        Outcome::Holds(Certainty::Probable(omission)) => {
            paint.green(format!("probably holds (chance that a state was missed: {omission:.1e})"))
        }
        Outcome::Violated(violation) => {
            let (violated, message) = (paint.red("violated"), &violation.message);
            let trace = &violation.trace;
            match (trace.prefix.len(), trace.cycle.len()) {
                // What no run can show.
                (0, 0) if answer.end.is_none() || answer.property.starts_with("ctl:") => {
                    format!("{violated}: {message}")
                }
                (steps, 0) => format!("{violated}: {message}, after {}", plural(steps, "step")),
                (0, cycle) => format!("{violated}: {message}, in a cycle of {}", plural(cycle, "step")),
                (steps, cycle) => {
                    format!("{violated}: {message}, {} and then a cycle of {cycle}", plural(steps, "step"))
                }
            }
        }
        Outcome::Unknown(Reason::Unsupported(why)) => format!("{}: {why}", paint.yellow("unknown")),
        Outcome::Unknown(reason) => format!("{}, because {}", paint.yellow("unknown"), because(reason)),
    }
}

fn plural(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn because(reason: &Reason) -> String {
    match reason {
        Reason::Interrupted => "it was interrupted".into(),
        _ => reason.to_string(),
    }
}

/// What the run has shown.
fn ending(out: &mut impl Write, answer: &Answer, paint: Paint) -> io::Result<()> {
    let Some(violation) = answer.shown() else { return Ok(()) };
    if answer.property == "deadlock" {
        let Some(end) = &answer.end else { return writeln!(out, "{}", paint.red("invalid end state")) };
        // A net has no processes to stand anywhere.
        if end.processes.is_empty() && !end.variables.is_empty() {
            writeln!(out, "{}: no transition can fire", paint.red("dead marking"))?;
            return values(out, "", end);
        }
        writeln!(out, "{}: no process can move", paint.red("invalid end state"))?;
        return standings(out, end, "waits for");
    }
    if answer.property == "assertions" {
        // The last step has said it, unless there is none.
        return if violation.trace.prefix.is_empty() {
            writeln!(out, "{}", paint.red(&violation.message))
        } else {
            Ok(())
        };
    }
    // What is wrong with a claim or a label is said by its name.
    let told =
        !["acceptance", "progress"].contains(&answer.property.as_str()) && !answer.property.starts_with("never:");
    let formula = if told { format!(": {}", answer.formula) } else { String::new() };
    let message = match &answer.outcome {
        Outcome::Violated(_) => paint.red(&violation.message),
        _ => paint.green(&violation.message),
    };
    writeln!(out, "{message}{formula}")?;
    let Some(end) = &answer.end else { return Ok(()) };
    values(out, if violation.trace.cycle.is_empty() { "" } else { "where the cycle begins: " }, end)
}

/// Where each process stands, and what the channels hold. `verb` comes before the statements.
pub fn standings(out: &mut impl Write, end: &EndState, verb: &str) -> io::Result<()> {
    let names = end.processes.iter().map(|standing| standing.process.chars().count()).max().unwrap_or(0);
    let places = end.processes.iter().map(|standing| place(&standing.at).chars().count()).max().unwrap_or(0);
    for standing in &end.processes {
        writeln!(
            out,
            "    {:names$}  {:places$}  {}",
            standing.process,
            place(&standing.at),
            situation(standing, verb)
        )?;
    }
    for channel in &end.channels {
        let messages: String = channel.messages.iter().map(|fields| format!("[{}]", fields.join(","))).collect();
        let state = match channel.messages.len() {
            0 => "empty".into(),
            held if held >= channel.capacity as usize => format!("{messages} (full)"),
            _ => messages,
        };
        writeln!(out, "    channel {}: {state}", channel.channel)?;
    }
    Ok(())
}

fn situation(standing: &Standing, verb: &str) -> String {
    if standing.finished {
        return "has finished, and waits for younger processes to end".into();
    }
    let valid = if standing.valid_end { " (a valid end)" } else { "" };
    format!("{verb}  {}{valid}", standing.waits_for.join("  or  "))
}

/// The cells that are not 0.
fn values(out: &mut impl Write, when: &str, end: &EndState) -> io::Result<()> {
    let shown: Vec<String> = end
        .variables
        .iter()
        .filter(|cell| cell.value != "0")
        .map(|cell| format!("{} = {}", cell.name, cell.value))
        .collect();
    let shown = if shown.is_empty() { "all variables are 0".into() } else { shown.join(", ") };
    writeln!(out, "    {when}{shown}")
}

/// What the search did.
pub fn statistics(
    out: &mut impl Write,
    statistics: &Statistics,
    reduction: Option<&str>,
    ended: Option<&Reason>,
) -> io::Result<()> {
    if let Some(reason) = ended {
        writeln!(out, "The search did not come to its end: {}.", because(reason))?;
    }
    if let Some(reduction) = reduction {
        writeln!(out, "Partial-order reduction: {reduction}")?;
    }
    let Statistics { states, transitions, atomic_states, atomic_steps, depth, time_s, .. } = statistics;
    writeln!(out, "State-vector {} byte, depth reached {depth}", statistics.state_bytes)?;
    writeln!(out, "{states:>9} states, stored")?;
    writeln!(out, "{:>9} states, matched", transitions.saturating_sub(*states))?;
    writeln!(out, "{transitions:>9} transitions (= stored+matched)")?;
    writeln!(out, "{atomic_steps:>9} atomic steps")?;
    if *atomic_states > 0 {
        writeln!(out, "{atomic_states:>9} states inside atomic sequences, stored beside the others")?;
    }
    let rate = if *time_s > 0.0 { (*states as f64 / time_s) as u64 } else { 0 };
    writeln!(out, "{} used, {time_s:.3} seconds, {} states/second", bytes(statistics.memory_bytes), count(rate))
}

/// A number of bytes, for people.
pub fn bytes(number: u64) -> String {
    match number {
        0..1024 => format!("{number} B"),
        1024..1_048_576 => format!("{:.1} KB", number as f64 / 1024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MB", number as f64 / 1_048_576.0),
        _ => format!("{:.2} GB", number as f64 / 1_073_741_824.0),
    }
}

/// A large number, for people.
pub fn count(number: u64) -> String {
    match number {
        0..100_000 => number.to_string(),
        100_000..10_000_000 => format!("{}k", number / 1000),
        _ => format!("{:.1}M", number as f64 / 1e6),
    }
}

/// `file:line` without the directories.
fn place(at: &Option<String>) -> &str {
    let at = at.as_deref().unwrap_or("");
    at.rsplit(['/', '\\']).next().unwrap_or(at)
}

/// Writes steps, one below the other: number, process, place, statement, what changed.
/// A process is named where it begins to move and not again as long as it goes on.
pub struct Steps {
    paint: Paint,
    process_width: usize,
    place_width: usize,
    number: usize,
    previous: String,
}

/// How wide the column of the statements is; longer ones stick out.
const STATEMENT_WIDTH: usize = 28;

impl Steps {
    /// With columns that fit the system's names.
    pub fn of(system: &System, paint: Paint) -> Steps {
        let longest = system.processes.iter().map(|process| process.name.chars().count()).max().unwrap_or(0);
        let places = system.sources.iter().map(widest_place).max().unwrap_or(0);
        Steps { paint, process_width: longest + 4, place_width: places, number: 0, previous: String::new() }
    }

    /// A whole run.
    pub fn trace(&mut self, out: &mut impl Write, trace: &Trace) -> io::Result<()> {
        for step in &trace.prefix {
            self.step(out, step)?;
        }
        if !trace.cycle.is_empty() {
            self.turn(out)?;
        }
        for step in &trace.cycle {
            self.step(out, step)?;
        }
        Ok(())
    }

    /// The steps from here on repeat for ever.
    pub fn turn(&mut self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "       {}", self.paint.yellow("<<<<<START OF CYCLE>>>>>"))
    }

    /// The last step is taken back.
    pub fn back(&mut self) {
        self.number = self.number.saturating_sub(1);
        self.previous.clear();
    }

    /// One step.
    pub fn step(&mut self, out: &mut impl Write, step: &Step) -> io::Result<()> {
        self.number += 1;
        let number = self.number.to_string();
        let repeated = step.process == self.previous && step.partner.is_none();
        let process = if repeated { "" } else { step.process.as_str() };
        let partner = step.partner.as_ref().map(|(name, ..)| name.as_str());
        self.line(out, &number, process, &step.at, &step.text, &effects(step, &step.process, partner))?;
        if let Some((name, text, at)) = &step.partner {
            self.line(out, "", name, at, text, &received(step, name))?;
        }
        self.previous = if step.partner.is_some() { String::new() } else { step.process.clone() };
        for line in step.printed.lines() {
            writeln!(out, "         {} {line}", self.paint.dim(">"))?;
        }
        match &step.violation {
            Some(violation) => writeln!(out, "         {}", self.paint.red(violation)),
            None => Ok(()),
        }
    }

    fn line(
        &self,
        out: &mut impl Write,
        number: &str,
        process: &str,
        at: &Option<String>,
        statement: &str,
        effects: &[String],
    ) -> io::Result<()> {
        let statement = one_line(statement);
        let (processes, places) = (self.process_width, self.place_width);
        let head = format!("{number:>6}  {}  ", self.paint.bold(format!("{process:processes$}")));
        let place = self.paint.dim(format!("{:places$}", place(at)));
        if effects.is_empty() {
            return writeln!(out, "{head}{place}  {statement}");
        }
        writeln!(out, "{head}{place}  {statement:STATEMENT_WIDTH$}  {}", self.paint.cyan(effects.join("; ")))
    }
}

/// A statement may be written over several lines.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn widest_place(source: &Source) -> usize {
    let name = source.path.rsplit(['/', '\\']).next().unwrap_or("");
    let lines = source.text.matches('\n').count() + 1;
    name.chars().count() + 1 + lines.to_string().len()
}

/// Messages and changes of a step, without those of the partner.
fn effects(step: &Step, process: &str, partner: Option<&str>) -> Vec<String> {
    let mut effects = Vec::new();
    for message in step.messages.iter().filter(|message| message.process == step.taken.process) {
        effects.push(msc::label(message));
    }
    let theirs = partner.map(|name| format!("{name}:"));
    for change in &step.changes {
        if theirs.as_ref().is_some_and(|theirs| change.name.starts_with(theirs.as_str())) {
            continue;
        }
        effects.push(changed(change, process));
    }
    effects
}

/// Messages and changes of the partner in a handshake.
fn received(step: &Step, partner: &str) -> Vec<String> {
    let prefix = format!("{partner}:");
    let others = step.messages.iter().filter(|message| message.process != step.taken.process).map(msc::label);
    let changes = step.changes.iter().filter(|change| change.name.starts_with(&prefix));
    others.chain(changes.map(|change| changed(change, partner))).collect()
}

/// `x: 1 → 2`; the name of the process that moves is left out.
fn changed(change: &ample::Change, process: &str) -> String {
    let name = change.name.strip_prefix(process).and_then(|rest| rest.strip_prefix(':')).unwrap_or(&change.name);
    let shown = |value: &str| if value.is_empty() { "empty".to_owned() } else { value.to_owned() };
    match &change.before {
        Some(before) => format!("{name}: {} → {}", shown(before), shown(&change.after)),
        None => format!("{name}: {}", shown(&change.after)),
    }
}
