//! Reports and runs as text for people, in Spin's vocabulary where they know it.

use std::io::{self, Write};

use ample::{
    Answer, Branch, Certainty, Cut, CutBy, DiagramStatistics, ModularStatistics, Outcome, Reason, Report,
    SolvingStatistics, Spread, Statistics, System, Trace, Unreached, Violation,
};

use ample_model::State;

use super::Context;
use super::focus::Focus;
use super::layout::{Extent, first, padded, shortened, width};
use super::paint::Paint;
use super::steps::{Columns, States, Steps, one_line};
use super::{msc, state};

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
pub fn report(out: &mut impl Write, system: &System, report: &Report, view: View, context: &Context) -> io::Result<()> {
    let (extent, paint) = (context.extent(), context.out);
    verdicts(out, report, extent, paint)?;
    if view == View::Nothing {
        return Ok(());
    }
    let evidence = Evidence { system, view, extent, paint, focus: &context.focus };
    report.answers.iter().try_for_each(|answer| evidence.answer(out, answer))?;
    writeln!(out)?;
    if let Some(choice) = &report.choice {
        writeln!(out, "{choice}")?;
    }
    if let Some(cut) = &report.cut {
        cuts(out, cut)?;
    }
    if let Some(reduction) = &report.static_reduction {
        writeln!(out, "Static reductions: {reduction}")?;
    }
    if let Some(symmetry) = &report.symmetry {
        writeln!(out, "Symmetry: {symmetry}")?;
    }
    match (&report.diagrams, &report.solving) {
        (Some(diagrams), _) => symbolic_statistics(out, report, diagrams)?,
        (None, Some(solving)) => solving_statistics(out, report, solving)?,
        (None, None) => statistics(out, &report.statistics, report.reduction.as_deref(), report.ended.as_ref())?,
    }
    if let Some(spread) = &report.cluster {
        cluster(out, spread)?;
    }
    match &report.unreached {
        Some(Ok(statements)) => {
            unreached(out, statements, &report.language, extent, paint)?;
            not_covered(out, &report.unreached_except, &report.language, paint)
        }
        Some(Err(why)) => writeln!(out, "\nunreached statements: not known, because {why}"),
        None => Ok(()),
    }
}

/// How the work was spread.
fn cluster(out: &mut impl Write, spread: &Spread) -> io::Result<()> {
    let Spread { processes, threads, messages, message_bytes, wire_bytes, rounds, balance, .. } = spread;
    writeln!(
        out,
        "{}: {} messages between workers with {}, {} over the network",
        group_size(*processes, *threads),
        count(*messages),
        bytes(*message_bytes),
        bytes(*wire_bytes)
    )?;
    let states: Vec<String> = spread.workers.iter().map(|worker| count(worker.states.unwrap_or(0))).collect();
    writeln!(out, "States by worker: {}; balance {balance:.2} (mean/max)", states.join(" "))?;
    let waited: f64 = spread.workers.iter().filter_map(|worker| worker.waited_s).sum();
    let waited = waited / spread.workers.len().max(1) as f64;
    writeln!(
        out,
        "{rounds} rounds of messages, in which a worker has waited for others for {waited:.3} seconds on average"
    )
}

/// How many processes there are, and workers in each.
pub fn group_size(processes: usize, threads: usize) -> String {
    let workers = if threads == 1 { "1 worker".to_owned() } else { format!("{threads} workers") };
    if processes == 1 {
        format!("1 process with {workers}")
    } else {
        format!("{processes} processes with {workers} each")
    }
}

/// The statements that no run executes, by process type. One whose successor is listed is found by that.
fn unreached(
    out: &mut impl Write,
    statements: &[Unreached],
    language: &str,
    extent: Extent,
    paint: Paint,
) -> io::Result<()> {
    let mut listed: Vec<&Unreached> = statements.iter().filter(|statement| !statement.is_implied).collect();
    // Within a process type the unreached ones come first.
    let types = listed.chunk_by_mut(|one, other| one.process == other.process);
    types.for_each(|of_type| of_type.sort_by_key(|statement| statement.reached));
    let (shown, more) = first(extent.statements, &listed);
    let places: Vec<String> = shown.iter().map(|statement| place(statement)).collect();
    let columns = places.iter().map(|place| width(place)).max().unwrap_or(0);
    let mut heading = None;
    for (statement, place) in shown.iter().zip(&places) {
        let group = (&statement.process, statement.reached);
        if heading != Some(group) {
            let kind = if statement.reached { "never executed" } else { "unreached" };
            let gap = if heading.is_none() { "\n" } else { "" };
            writeln!(out, "{gap}{kind} in {}", of_type(&statement.process, language))?;
            heading = Some(group);
        }
        let text = shortened(&one_line(&statement.statement), extent.text);
        let gap = if columns > 0 { "  " } else { "" };
        writeln!(out, "  {}{gap}{text}", padded(place, columns))?;
    }
    match more {
        0 => Ok(()),
        more => writeln!(out, "{}", paint.dim(format!("… and {more} more; --full shows all"))),
    }
}

/// The process types whose statements are not listed, because slicing has left out their processes.
fn not_covered(out: &mut impl Write, types: &[String], language: &str, paint: Paint) -> io::Result<()> {
    if types.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = types.iter().map(|process| of_type(process, language)).collect();
    let names = names.join(", ");
    writeln!(
        out,
        "{}",
        paint.dim(format!("(unreached statements of {names}: not known, left out by slicing; --unreached lists all)"))
    )
}

/// A process type as its language calls it.
fn of_type(process: &str, language: &str) -> String {
    match (language, process) {
        ("promela", ":init:") => "init".into(),
        ("promela", process) => format!("proctype {process}"),
        (_, process) => process.into(),
    }
}

/// `file:line:column`, where known.
fn place(statement: &Unreached) -> String {
    match (&statement.file, statement.line, statement.column) {
        (Some(file), Some(line), Some(column)) => format!("{file}:{line}:{column}"),
        _ => String::new(),
    }
}

/// The run-time errors at which runs end.
fn cuts(out: &mut impl Write, cut: &Cut) -> io::Result<()> {
    let at_least = if cut.at_least { ", at least" } else { "" };
    writeln!(
        out,
        "Run-time errors, after which nothing was searched ({}{at_least}):",
        plural(cut.steps as usize, "step")
    )?;
    for CutBy { process, statement, at, error, steps } in &cut.by {
        let place = at.as_deref().map_or_else(|| process.clone(), |at| format!("{process} {at}"));
        writeln!(out, "{steps:>9} {error}: {statement}{}{place}", if place.is_empty() { "" } else { ", " })?;
    }
    Ok(())
}

/// Shows counterexamples and witnesses.
pub struct Evidence<'a> {
    pub system: &'a System,
    pub view: View,
    pub extent: Extent,
    pub paint: Paint,
    pub focus: &'a Focus,
}

impl Evidence<'_> {
    /// What is shown for an answer: a run, what it has come to, and what branches off it.
    fn answer(&self, out: &mut impl Write, answer: &Answer) -> io::Result<()> {
        let Some(violation) = answer.shown() else { return Ok(()) };
        let does = if answer.trace().is_some() { "violates" } else { "shows" };
        let Violation { trace, branches, .. } = violation;
        if length(trace) == 0 && answer.property.starts_with("ctl:") && branches.is_empty() {
            return Ok(());
        }
        let shows = if length(trace) == 0 && !branches.is_empty() {
            format!("what {does} it")
        } else {
            format!("a run of {} that {does} it", plural(length(trace), "step"))
        };
        let property = shortened(&one_line(&answer.property), self.extent.text);
        writeln!(out, "\n{}", self.paint.bold(format!("{property}: {shows}")))?;
        let columns = Columns::fitting(trace, branches);
        let states = self.run(out, trace, columns, None)?;
        self.ending(out, answer, violation)?;
        self.branches(out, branches, &property, columns, states.as_ref())
    }

    /// A run, which begins in that state or in an initial one; its states if they are shown.
    pub fn run(
        &self,
        out: &mut impl Write,
        trace: &Trace,
        columns: Columns,
        from: Option<&State>,
    ) -> io::Result<Option<States<'_>>> {
        if self.view == View::Chart {
            return msc::chart(out, trace, self.extent).map(|()| None);
        }
        let mut steps = Steps::new(columns, self.extent, self.paint, &self.system.language).focused(self.focus);
        if !self.focus.full_state {
            return steps.trace(out, trace).map(|()| None);
        }
        let states = States::of(self.system, trace, from);
        steps.trace_with_states(out, self.system, trace, &states)?;
        Ok(Some(states))
    }

    /// What branches off a run, each with the path of branches that leads to it.
    pub fn branches(
        &self,
        out: &mut impl Write,
        branches: &[Branch],
        of: &str,
        columns: Columns,
        states: Option<&States<'_>>,
    ) -> io::Result<()> {
        let mut left = self.extent.branches;
        self.some_branches(out, branches, of, (columns, states), &mut left)?;
        match tree_size(branches).saturating_sub(self.extent.branches) {
            0 => Ok(()),
            more => writeln!(out, "\n{}", self.paint.dim(self.extent.left_out(more, "branch", "branches"))),
        }
    }

    fn some_branches(
        &self,
        out: &mut impl Write,
        branches: &[Branch],
        of: &str,
        (columns, states): (Columns, Option<&States<'_>>),
        left: &mut usize,
    ) -> io::Result<()> {
        for (number, branch) in branches.iter().enumerate() {
            if *left == 0 {
                return Ok(());
            }
            *left -= 1;
            let name = format!("{of}, branch {}", number + 1);
            let steps = length(&branch.trace);
            let tail = if steps == 0 { String::new() } else { format!(": a run of {}", plural(steps, "step")) };
            let after = plural(branch.after, "step");
            writeln!(out, "\n{}", self.paint.bold(format!("{name}, after {after}{tail}")))?;
            writeln!(out, "{}", shortened(&branch.message, self.extent.text))?;
            let from = states.and_then(|states| states.after(branch.after));
            let states = self.run(out, &branch.trace, columns, from)?;
            if let Some(end) = branch.end.as_deref().filter(|_| steps > 0) {
                state::at_end(out, self.system, &branch.trace, end, self.extent)?;
            }
            self.some_branches(out, &branch.branches, &name, (columns, states.as_ref()), left)?;
        }
        Ok(())
    }

    /// What the run has shown, and the state that it has come to.
    fn ending(&self, out: &mut impl Write, answer: &Answer, violation: &Violation) -> io::Result<()> {
        let (trace, paint) = (&violation.trace, self.paint);
        if answer.property == "deadlock" {
            match &answer.end {
                None => return writeln!(out, "{}", paint.red("invalid end state")),
                Some(_) if state::is_net(self.system) => {
                    writeln!(out, "{}: no transition can fire", paint.red("dead marking"))?;
                }
                Some(_) if self.system.synchronous().is_some() => {
                    writeln!(out, "{}: there is no next state", paint.red("deadlock"))?;
                }
                Some(_) => writeln!(out, "{}: no process can move", paint.red("invalid end state"))?,
            }
        } else if answer.property == "assertions" {
            // The last step has said it, unless there is none.
            if trace.prefix.is_empty() {
                writeln!(out, "{}", paint.red(shortened(&violation.message, self.extent.text)))?;
            }
        } else {
            writeln!(out, "{}", self.reason(answer, violation))?;
        }
        match &answer.end {
            Some(end) => state::at_end(out, self.system, trace, end, self.extent),
            None => Ok(()),
        }
    }

    /// What is wrong, or right, with the run; what is wrong with a claim or a label is said by its name.
    fn reason(&self, answer: &Answer, violation: &Violation) -> String {
        let has_formula =
            !["acceptance", "progress"].contains(&answer.property.as_str()) && !answer.property.starts_with("never:");
        let formula = shortened(&one_line(&answer.formula), self.extent.text);
        let formula = if has_formula { format!(": {formula}") } else { String::new() };
        let message = shortened(&violation.message, self.extent.text);
        let message = match &*answer.outcome {
            Outcome::Violated(_) => self.paint.red(message),
            _ => self.paint.green(message),
        };
        format!("{message}{formula}")
    }
}

/// All branches of a tree.
fn tree_size(branches: &[Branch]) -> usize {
    branches.iter().map(|branch| 1 + tree_size(&branch.branches)).sum()
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
    if *bits > 0 && *relations == 0 {
        // The work ended before they were complete, or none was needed.
        writeln!(out, "{bits:>9} bits, {peak_nodes} nodes at the peak")?;
    } else if *bits > 0 {
        writeln!(
            out,
            "{bits:>9} bits, {relations} relations of {relation_nodes} nodes, {peak_nodes} nodes at the peak"
        )?;
    } else {
        writeln!(out, "{peak_nodes:>9} nodes at the peak")?;
    }
    if let Some(modular) = &diagrams.modular {
        let ModularStatistics { nodes, largest_node, checks, cache_hits, iterations, .. } = modular;
        writeln!(out, "{nodes:>9} nodes of the partition graph, the largest of {largest_node} locations")?;
        writeln!(
            out,
            "{checks:>9} checks under assumptions, {cache_hits} known results, {iterations} iterations of loops"
        )?;
    }
    writeln!(out, "{} used, {time_s:.3} seconds", bytes(*memory_bytes))
}

/// What SAT solvers did.
fn solving_statistics(out: &mut impl Write, report: &Report, solving: &SolvingStatistics) -> io::Result<()> {
    if let Some(reason) = &report.ended {
        writeln!(out, "The search did not come to its end: {}.", because(reason))?;
    }
    let SolvingStatistics { bits, bound, frames, lemmas, clauses, conflicts, .. } = solving;
    writeln!(out, "{bits:>9} bits, runs of up to {bound} steps, {frames} frames with {lemmas} clauses of proofs")?;
    writeln!(out, "{clauses:>9} clauses, {conflicts} conflicts")?;
    let Statistics { time_s, memory_bytes, .. } = &report.statistics;
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
    if let Some(dynamic) = &diagrams.dynamic {
        writeln!(out, "{:>12} preimages by dynamic transition relations", dynamic.preimages)?;
        writeln!(out, "{:>12} nodes of their relations on average", dynamic.average_nodes)?;
        writeln!(
            out,
            "{:>12} of {} parts of the step relation in one of them, at most",
            dynamic.max_parts, dynamic.parts
        )?;
    }
    for (number, (states, nodes)) in diagrams.rounds.iter().enumerate() {
        writeln!(out, "{number:>12} images: {states} states, in {nodes} nodes")?;
    }
    Ok(())
}

fn length(trace: &Trace) -> usize {
    trace.prefix.len() + trace.cycle.len()
}

fn verdicts(out: &mut impl Write, report: &Report, extent: Extent, paint: Paint) -> io::Result<()> {
    writeln!(out, "{}", paint.bold(&report.model))?;
    let named = |answer: &Answer| shortened(&one_line(&answer.property), extent.text);
    let columns = report.answers.iter().map(|answer| width(&named(answer))).max().unwrap_or(0).min(40);
    for answer in &report.answers {
        writeln!(out, "  {}  {}", padded(&named(answer), columns), verdict(answer, extent, paint))?;
        if let Some(note) = &answer.note {
            writeln!(out, "  {:columns$}  {}", "", paint.dim(format!("({note})")))?;
        }
        for warning in &answer.warnings {
            writeln!(out, "  {:columns$}  {} {warning}", "", paint.yellow("warning:"))?;
        }
    }
    Ok(())
}

fn verdict(answer: &Answer, extent: Extent, paint: Paint) -> String {
    match &*answer.outcome {
        Outcome::Holds(Certainty::Proved) => match (answer.value, answer.length) {
            (Some(value), _) => paint.green(format!("at most {value}, which is reached")),
            (None, Some(length)) => paint.green(format!("is {length}")),
            (None, None) if is_numbered(answer) => {
                format!("{}: {}", paint.green("holds"), shortened(&one_line(&answer.formula), extent.text))
            }
            (None, None) => paint.green("holds"),
        },
        Outcome::Holds(Certainty::Bounded(bound)) => paint.green(format!("holds for runs of up to {bound} steps")),
        Outcome::Holds(Certainty::Probable(omission)) => {
            paint.green(format!("probably holds (chance that a state was missed: {omission:.1e})"))
        }
        Outcome::Violated(violation) => {
            let (violated, message) = (paint.red("violated"), shortened(&violation.message, extent.text));
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
        Outcome::Unknown(reason @ (Reason::Unsupported(_) | Reason::Internal(_))) => {
            format!("{}: {reason}", paint.yellow("unknown"))
        }
        Outcome::Unknown(reason) => format!("{}, because {}", paint.yellow("unknown"), because(reason)),
    }
}

/// Is the property named by a number only, so that it takes its text to tell it from others?
fn is_numbered(answer: &Answer) -> bool {
    let number = answer.property.rsplit_once(':').map(|(_, name)| name);
    number.is_some_and(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()))
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
    let used = format!("{} used, {time_s:.3} seconds", bytes(statistics.memory_bytes));
    if *states == 0 {
        if statistics.counts_transitions {
            writeln!(out, "{transitions:>9} transitions")?;
        }
        return writeln!(out, "{used}");
    }
    // Of a search that was ended from outside only the progress is known.
    let vector = (statistics.state_bytes > 0).then(|| format!("State-vector {} byte", statistics.state_bytes));
    let depth = statistics.counts_depth.then(|| format!("depth reached {depth}"));
    let both: Vec<String> = vector.into_iter().chain(depth).collect();
    if !both.is_empty() {
        writeln!(out, "{}", both.join(", "))?;
    }
    writeln!(out, "{states:>9} states, stored")?;
    if statistics.counts_transitions {
        writeln!(out, "{:>9} states, matched", transitions.saturating_sub(*states))?;
        writeln!(out, "{transitions:>9} transitions (= stored+matched)")?;
        writeln!(out, "{atomic_steps:>9} atomic steps")?;
    }
    if let Some(expanded) = statistics.expanded {
        let again = statistics.reopened.filter(|again| *again > 0).map(|again| format!(", {again} of them reopened"));
        writeln!(out, "{expanded:>9} states, expanded{}", again.unwrap_or_default())?;
    }
    if let Some(omitted) = statistics.omitted {
        let coverage = 100.0 * *states as f64 / (*states as f64 + omitted);
        writeln!(out, "{omitted:>9.1e} states omitted by estimate, coverage {coverage:.3} %")?;
    }
    if *atomic_states > 0 {
        writeln!(out, "{atomic_states:>9} states inside atomic sequences, stored beside the others")?;
    }
    let rate = if *time_s > 0.0 { (*states as f64 / time_s) as u64 } else { 0 };
    writeln!(out, "{used}, {} states/second", count(rate))
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
