//! Runs step by step: number, process, place, statement, what changed, in columns.

use std::io::{self, Write};

use ample::evidence::EndState;
use ample::pictures;
use ample::{Branch, Source, Step, System, Trace};
use ample_model::{Interpreter, State};

use super::focus::Focus;
use super::layout::{Extent, first, padded, shortened, width};
use super::paint::Paint;
use super::state;

/// How wide the columns are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Columns {
    process: usize,
    place: usize,
    statement: usize,
}

/// The column of the statements is at least and at most that wide. What a longer statement does is shown below it.
const STATEMENT: (usize, usize) = (28, 44);

impl Columns {
    /// To fit a system's names, for a run that is still to be made.
    pub fn of(system: &System) -> Columns {
        // The id is written behind the name.
        let process = system.processes.iter().map(|process| width(&process.name) + 4).max();
        let place = system.sources.iter().map(widest_place).max();
        let labels = system.processes.iter().flat_map(|process| &process.edges);
        let statement = labels.map(|edge| width(&one_line(&edge.label))).filter(|width| *width <= STATEMENT.1).max();
        Columns { process: process.unwrap_or(0), place: place.unwrap_or(0), statement: statement.unwrap_or(0) }
    }

    /// To fit a run and all that branches off it.
    pub fn fitting(trace: &Trace, branches: &[Branch]) -> Columns {
        let mut columns = Columns::default();
        for step in trace.prefix.iter().chain(&trace.cycle) {
            columns.widen(&step.process, &step.at, &step.text);
            for (process, text, at) in step.partner.iter().chain(&step.participants) {
                columns.widen(process, at, text);
            }
        }
        for branch in branches {
            let Columns { process, place, statement } = Columns::fitting(&branch.trace, &branch.branches);
            columns.process = columns.process.max(process);
            columns.place = columns.place.max(place);
            columns.statement = columns.statement.max(statement);
        }
        columns
    }

    fn widen(&mut self, process: &str, at: &Option<String>, text: &str) {
        self.process = self.process.max(width(process));
        self.place = self.place.max(width(place(at)));
        let statement = width(&one_line(text));
        if statement <= STATEMENT.1 {
            self.statement = self.statement.max(statement);
        }
    }
}

/// Writes steps, one below the other. A process is named where it begins to move and not again as long as it goes on.
pub struct Steps {
    paint: Paint,
    extent: Extent,
    columns: Columns,
    number: usize,
    previous: String,
    cycle: &'static str,
    focus: Focus,
    /// Steps that were not shown since the last one that was.
    hidden: usize,
}

/// The states of a run, the first of which it begins in.
pub struct States<'a> {
    interpreter: Interpreter<'a>,
    states: Vec<State>,
    /// What the first of them is.
    begin: &'static str,
}

impl<'a> States<'a> {
    /// Those of a run that begins there; in its initial state if nobody says.
    pub fn of(system: &'a System, trace: &Trace, from: Option<&State>) -> States<'a> {
        let interpreter = Interpreter::new(system);
        let begin = if from.is_some() { "first state" } else { "initial state" };
        let initial = || interpreter.initial_state(&trace.start).and_then(Result::ok);
        let mut states: Vec<State> = from.cloned().or_else(initial).into_iter().collect();
        for step in trace.prefix.iter().chain(&trace.cycle) {
            // A fault has no state, and is the last step.
            let Some(next) = states.last().and_then(|state| interpreter.step(state, &step.taken).state) else { break };
            states.push(next);
        }
        States { interpreter, states, begin }
    }

    /// The state after so many steps.
    pub fn after(&self, steps: usize) -> Option<&State> {
        self.states.get(steps)
    }

    fn in_words(&self, steps: usize) -> Option<EndState> {
        self.after(steps).map(|state| EndState::of(&self.interpreter, state))
    }
}

/// The line before the steps that are repeated for ever, as users of that language know it.
pub fn start_of_cycle(language: &str) -> &'static str {
    match language {
        "smv" => "-- Loop starts here",
        _ => "<<<<<START OF CYCLE>>>>>",
    }
}

impl Steps {
    /// In these columns, the first step being number 1.
    pub fn new(columns: Columns, extent: Extent, paint: Paint, language: &str) -> Steps {
        let Columns { process, place, statement } = columns;
        let columns = Columns {
            process: process.min(extent.name),
            place: place.min(extent.name),
            statement: statement.max(STATEMENT.0),
        };
        let (previous, cycle, focus) = (String::new(), start_of_cycle(language), Focus::default());
        Steps { paint, extent, columns, number: 0, previous, cycle, focus, hidden: 0 }
    }

    /// With what is to be shown.
    pub fn focused(self, focus: &Focus) -> Steps {
        Steps { focus: focus.clone(), ..self }
    }

    /// A whole run; the middle of a long one is left out.
    pub fn trace(&mut self, out: &mut impl Write, trace: &Trace) -> io::Result<()> {
        self.part(out, &trace.prefix, None)?;
        if !trace.cycle.is_empty() {
            self.turn(out)?;
        }
        self.part(out, &trace.cycle, None)
    }

    /// The same, with states.
    pub fn trace_with_states(
        &mut self,
        out: &mut impl Write,
        system: &System,
        trace: &Trace,
        states: &States<'_>,
    ) -> io::Result<()> {
        if let Some(start) = states.in_words(0).filter(|_| self.focus.shows_start()) {
            writeln!(out, "     0  {}", self.paint.dim(states.begin))?;
            self.state(out, system, start)?;
        }
        self.part(out, &trace.prefix, Some((system, states)))?;
        if !trace.cycle.is_empty() {
            self.turn(out)?;
        }
        self.part(out, &trace.cycle, Some((system, states)))
    }

    fn part(&mut self, out: &mut impl Write, steps: &[Step], states: Option<(&System, &States<'_>)>) -> io::Result<()> {
        let begin = self.number;
        let chosen = (0..steps.len()).filter(|at| self.focus.shows(begin + at + 1, &steps[*at]));
        let chosen: Vec<usize> = chosen.collect();
        let middle = self.extent.middle(chosen.len());
        for (position, at) in chosen.iter().enumerate().filter(|(position, _)| !middle.contains(position)) {
            self.skip(out, begin + at - self.number, position == middle.end && !middle.is_empty())?;
            self.step(out, &steps[*at])?;
            if let Some((system, states)) = states
                && let Some(state) = states.in_words(self.number)
            {
                self.state(out, system, state)?;
            }
        }
        self.skip(out, begin + steps.len() - self.number, false)
    }

    /// Some steps are not shown.
    fn skip(&mut self, out: &mut impl Write, steps: usize, is_long: bool) -> io::Result<()> {
        if steps == 0 {
            return Ok(());
        }
        self.number += steps;
        self.previous.clear();
        let text = match (is_long, steps) {
            (true, _) => self.extent.left_out(steps, "step", "steps"),
            (false, 1) => "… 1 step is not shown".into(),
            (false, _) => format!("… {steps} steps are not shown"),
        };
        writeln!(out, "       {}", self.paint.dim(text))
    }

    /// A step of a run that is not yet known to its end, and the state after it.
    pub fn next(
        &mut self,
        out: &mut impl Write,
        system: &System,
        step: &Step,
        state: impl FnOnce() -> EndState,
    ) -> io::Result<()> {
        if !self.focus.shows(self.number + self.hidden + 1, step) {
            self.hidden += 1;
            return Ok(());
        }
        let hidden = std::mem::take(&mut self.hidden);
        self.skip(out, hidden, false)?;
        self.step(out, step)?;
        if self.focus.full_state { self.state(out, system, state()) } else { Ok(()) }
    }

    /// The run has come to its end.
    pub fn finish(&mut self, out: &mut impl Write) -> io::Result<()> {
        let hidden = std::mem::take(&mut self.hidden);
        self.skip(out, hidden, false)
    }

    fn state(&mut self, out: &mut impl Write, system: &System, state: EndState) -> io::Result<()> {
        // The next step is not right below.
        self.previous.clear();
        state::state(out, system, &self.focus.part_of(state), self.extent)
    }

    /// The steps from here on repeat for ever.
    fn turn(&mut self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "       {}", self.paint.yellow(self.cycle))
    }

    /// The last step is taken back.
    pub fn back(&mut self) {
        match self.hidden.checked_sub(1) {
            Some(hidden) => self.hidden = hidden,
            None => self.number = self.number.saturating_sub(1),
        }
        self.previous.clear();
    }

    /// One step.
    fn step(&mut self, out: &mut impl Write, step: &Step) -> io::Result<()> {
        self.number += 1;
        let number = self.number.to_string();
        let repeated = step.process == self.previous && step.partner.is_none();
        let process = if repeated { "" } else { step.process.as_str() };
        let partner = step.partner.as_ref().map(|(name, ..)| name.as_str());
        self.line(out, &number, process, &step.at, &step.text, &effects(step, &step.process, partner))?;
        if let Some((name, text, at)) = &step.partner {
            self.line(out, "", name, at, text, &received(step, name))?;
        }
        for (name, text, at) in &step.participants {
            self.line(out, "", name, at, text, &[])?;
        }
        let alone = step.partner.is_none() && step.participants.is_empty();
        self.previous = if alone { step.process.clone() } else { String::new() };
        self.printed(out, &step.printed)?;
        match &step.violation {
            Some(violation) => {
                writeln!(out, "         {}", self.paint.red(shortened(&one_line(violation), self.extent.text)))
            }
            None => Ok(()),
        }
    }

    /// What the model prints.
    fn printed(&self, out: &mut impl Write, text: &str) -> io::Result<()> {
        let lines: Vec<&str> = text.lines().collect();
        let (shown, more) = first(self.extent.items, &lines);
        for line in shown {
            writeln!(out, "         {} {}", self.paint.dim(">"), shortened(line, self.extent.text))?;
        }
        if more > 0 {
            writeln!(out, "         {}", self.paint.dim(self.extent.left_out(more, "line", "lines")))?;
        }
        Ok(())
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
        let Columns { process: processes, place: places, statement: statements } = self.columns;
        let process = padded(&shortened(process, processes), processes);
        let place = padded(&shortened(place(at), places), places);
        let statement = shortened(&one_line(statement), self.extent.text);
        let head = format!("{number:>6}  {}  {}", self.paint.bold(process), self.paint.dim(place));
        if effects.is_empty() {
            return writeln!(out, "{head}  {statement}");
        }
        let (shown, more) = first(self.extent.items, effects);
        let shown: Vec<String> = shown.iter().map(|effect| shortened(effect, self.extent.text)).collect();
        let more = if more > 0 { format!("; … and {more} more") } else { String::new() };
        let effects = self.paint.cyan(format!("{}{more}", shown.join("; ")));
        if width(&statement) <= statements {
            return writeln!(out, "{head}  {}  {effects}", padded(&statement, statements));
        }
        writeln!(out, "{head}  {statement}")?;
        writeln!(out, "{:1$}{effects}", "", 6 + 2 + processes + 2 + places + 2 + statements + 2)
    }
}

/// `file:line` without the directories.
pub fn place(at: &Option<String>) -> &str {
    let at = at.as_deref().unwrap_or("");
    at.rsplit(['/', '\\']).next().unwrap_or(at)
}

/// A statement may be written over several lines.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn widest_place(source: &Source) -> usize {
    let name = source.path.rsplit(['/', '\\']).next().unwrap_or("");
    let lines = source.text.matches('\n').count() + 1;
    width(name) + 1 + lines.to_string().len()
}

/// Messages and changes of a step, without those of the partner.
fn effects(step: &Step, process: &str, partner: Option<&str>) -> Vec<String> {
    let mut effects = Vec::new();
    for message in step.messages.iter().filter(|message| step.taken.mover() == Some(message.process)) {
        effects.push(pictures::message(message));
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
    let others =
        step.messages.iter().filter(|message| step.taken.mover() != Some(message.process)).map(pictures::message);
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
