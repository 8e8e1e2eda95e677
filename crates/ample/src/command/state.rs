//! One state: where the processes stand and what they wait for, what the channels hold, the values of the variables.

use std::io::{self, Write};

use ample::evidence::{Cell, Contents, EndState, Standing, Statement};
use ample::{System, Trace};

use super::layout::{self, Extent, first, listed, padded, shortened, width};
use super::steps::{one_line, place};

/// Everything below a state is indented by that.
const INDENTATION: usize = 4;

/// The whole state.
pub fn state(out: &mut impl Write, system: &System, end: &EndState, extent: Extent) -> io::Result<()> {
    if is_net(system) {
        enabled(out, end, extent)?;
    } else if system.synchronous().is_none() {
        standings(out, end, extent)?;
    }
    channels(out, end, extent)?;
    values(out, system, end, extent)
}

/// The state at the end of a run, or where its cycle begins.
pub fn at_end(out: &mut impl Write, system: &System, trace: &Trace, end: &EndState, extent: Extent) -> io::Result<()> {
    if !trace.cycle.is_empty() {
        writeln!(out, "  where the cycle begins:")?;
    }
    state(out, system, end, extent)
}

/// A net is one process that stands before all its transitions: nothing that its user knows.
pub fn is_net(system: &System) -> bool {
    !ample::language_of(system).has_processes() && system.synchronous().is_none()
}

/// The transitions that can fire, where they are known.
fn enabled(out: &mut impl Write, end: &EndState, extent: Extent) -> io::Result<()> {
    let Some(standing) = end.processes.first() else { return Ok(()) };
    let statements = standing.statements.iter().filter(|statement| statement.executable);
    let names: Vec<String> = statements.map(|statement| shortened(&one_line(&statement.text), extent.text)).collect();
    if names.is_empty() {
        return writeln!(out, "    no transition can fire");
    }
    writeln!(out, "    can fire: {}", listed(&limited(names, extent), INDENTATION))
}

/// Where each process stands.
fn standings(out: &mut impl Write, end: &EndState, extent: Extent) -> io::Result<()> {
    let (shown, more) = first(extent.cells, &end.processes);
    let names = shown.iter().map(|standing| width(&standing.process)).max().unwrap_or(0).min(extent.name);
    let places = shown.iter().map(|standing| width(place(&standing.at))).max().unwrap_or(0).min(extent.name);
    for standing in shown {
        let name = padded(&shortened(&standing.process, names), names);
        let place = padded(&shortened(place(&standing.at), places), places);
        let column = INDENTATION + names + 2 + places + 2;
        writeln!(out, "    {name}  {place}  {}", situation(standing, column, extent))?;
    }
    if more > 0 {
        writeln!(out, "    {}", extent.left_out(more, "process", "processes"))?;
    }
    Ok(())
}

/// What a process stands before, beginning in that column; if that is much, one below the other.
fn situation(standing: &Standing, column: usize, extent: Extent) -> String {
    if standing.statements.is_empty() {
        return if standing.valid_end { "has terminated" } else { "has no statement of its own to execute" }.into();
    }
    if standing.finished {
        return "has finished, and waits for younger processes to end".into();
    }
    let verb =
        if standing.statements.iter().any(|statement| statement.executable) { "stands before" } else { "waits for" };
    let valid = if standing.valid_end { "  (a valid end)" } else { "" };
    let (shown, more) = first(extent.items, &standing.statements);
    let mut shown: Vec<String> = shown.iter().map(|statement| blocked(statement, extent)).collect();
    if more > 0 {
        shown.push(format!("… {more} more"));
    }
    let line = format!("{verb}  {}{valid}", shown.join("  or  "));
    if column + width(&line) <= layout::LINE {
        return line;
    }
    let next = format!("\n{:1$}or  ", "", column + width(verb) - 2);
    format!("{verb}  {}{valid}", shown.join(&next))
}

/// A statement, and behind it the values that keep it from being executable.
fn blocked(statement: &Statement, extent: Extent) -> String {
    let (shown, more) = first(extent.items, &statement.reads);
    let mut reasons: Vec<String> = statement.because.iter().cloned().chain(shown.iter().map(equation)).collect();
    if more > 0 {
        reasons.push(format!("… {more} more"));
    }
    let text = shortened(&one_line(&statement.text), extent.text);
    if reasons.is_empty() { text } else { format!("{text}  ({})", shortened(&reasons.join(", "), extent.text)) }
}

fn equation(cell: &Cell) -> String {
    format!("{} = {}", cell.name, cell.value)
}

/// What the channels hold.
fn channels(out: &mut impl Write, end: &EndState, extent: Extent) -> io::Result<()> {
    let (shown, more) = first(extent.cells, &end.channels);
    for channel in shown {
        writeln!(out, "    channel {}: {}", shortened(&channel.channel, extent.text), contents(channel, extent))?;
    }
    if more > 0 {
        writeln!(out, "    {}", extent.left_out(more, "channel", "channels"))?;
    }
    Ok(())
}

fn contents(channel: &Contents, extent: Extent) -> String {
    let (shown, more) = first(extent.items, &channel.messages);
    let mut messages: String = shown.iter().map(|fields| format!("[{}]", fields.join(","))).collect();
    if more > 0 {
        messages.push_str(&format!(" … {more} more"));
    }
    let messages = shortened(&messages, extent.text);
    match channel.messages.len() {
        0 => "empty".into(),
        held if held >= channel.capacity as usize => format!("{messages} (full)"),
        _ => messages,
    }
}

/// The values of the variables. What is 0 is summed up in one line.
fn values(out: &mut impl Write, system: &System, end: &EndState, extent: Extent) -> io::Result<()> {
    if end.variables.is_empty() {
        return Ok(());
    }
    let (what, zero) = if is_net(system) { ("places", "empty") } else { ("variables", "0") };
    let nonzero: Vec<&Cell> = end.variables.iter().filter(|cell| cell.value != "0").collect();
    if nonzero.is_empty() {
        return writeln!(out, "    all {what} are {zero}");
    }
    let has_others = nonzero.len() < end.variables.len();
    let mut shown = limited(nonzero.into_iter().map(|cell| shortened(&equation(cell), extent.text)).collect(), extent);
    if has_others {
        shown.push(format!("all other {what} are {zero}"));
    }
    writeln!(out, "    {}", listed(&shown, INDENTATION))
}

/// As many as are shown, and how many more there are.
fn limited(mut items: Vec<String>, extent: Extent) -> Vec<String> {
    let more = items.len().saturating_sub(extent.cells);
    if more > 0 {
        items.truncate(extent.cells);
        items.push(format!("… {more} more ({})", extent.hint));
    }
    items
}
