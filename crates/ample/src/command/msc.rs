//! A run as a message sequence chart in text: a column per process, an arrow per message.
//!
//! A handshake is one arrow. Through a buffer, sending is a mark in the sender's column, and the arrow is drawn
//! when the message is received. Steps without messages are left out, and so is the middle of a long chart; numbers
//! are those of the run.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};

use ample::{EventKind, Message, Move, Step, Trace};
use unicode_width::UnicodeWidthChar;

use super::layout::{Extent, fitting, shortened, width};

/// Columns are at least and at most that wide.
const WIDTHS: std::ops::RangeInclusive<usize> = 14..=40;

/// A message as the source would write it: `c!1,2` or `c?1,2`.
pub fn label(message: &Message) -> String {
    let operator = match message.kind {
        EventKind::Send => '!',
        EventKind::Receive => '?',
    };
    format!("{}{operator}{}", message.channel, message.fields.join(","))
}

/// A line of a chart is that wide, if not all is to be shown.
const LINE: usize = 240;

/// Writes the chart.
pub fn chart(out: &mut impl Write, trace: &Trace, extent: Extent) -> io::Result<()> {
    let mut chart = Chart::of(trace);
    chart.line = if extent == Extent::FULL { usize::MAX } else { LINE };
    writeln!(out, "{}", chart.heading())?;
    let rows = chart.rows(&trace.prefix, 0);
    part(out, &rows, extent)?;
    if !trace.cycle.is_empty() {
        writeln!(out, "        <<<<<START OF CYCLE>>>>>")?;
    }
    let rows = chart.rows(&trace.cycle, trace.prefix.len());
    part(out, &rows, extent)
}

fn part(out: &mut impl Write, rows: &[String], extent: Extent) -> io::Result<()> {
    let middle = extent.middle(rows.len());
    rows[..middle.start].iter().try_for_each(|row| writeln!(out, "{row}"))?;
    if !middle.is_empty() {
        writeln!(out, "        {}", extent.left_out(middle.len(), "message", "messages"))?;
    }
    rows[middle.end..].iter().try_for_each(|row| writeln!(out, "{row}"))
}

/// What is drawn in a row, by columns of the terminal. The second column of a wide character is empty.
type Row = Vec<Option<char>>;

struct Chart {
    /// The processes in the order of their ids.
    processes: Vec<(u32, String)>,
    width: usize,
    /// A row is not drawn beyond that column.
    line: usize,
    /// Messages on their way: for every channel who sent what.
    sent: HashMap<u32, VecDeque<(usize, Vec<String>)>>,
}

/// Who takes part in a step, the one that begins first. What is no process's comes last among the columns.
fn parties(step: &Step) -> Vec<(u32, &str)> {
    let names = [step.process.as_str()].into_iter().chain(step.partner.iter().map(|(name, ..)| name.as_str()));
    let several = step.participants.iter().map(|(name, ..)| name.as_str());
    let ids = step.taken.movers().map(|(id, _)| id);
    match step.taken {
        Move::Process { .. } | Move::Handshake { .. } => ids.zip(names).collect(),
        Move::Action { .. } => ids.zip(several).collect(),
        Move::Joint { .. } | Move::Claim { .. } => vec![(u32::MAX, step.process.as_str())],
    }
}

impl Chart {
    fn of(trace: &Trace) -> Chart {
        let mut processes = Vec::new();
        let mut longest = 0;
        for step in trace.prefix.iter().chain(&trace.cycle) {
            processes.extend(parties(step).into_iter().map(|(id, name)| (id, name.to_owned())));
            longest = step.messages.iter().map(|message| width(&label(message))).fold(longest, usize::max);
        }
        processes.sort();
        processes.dedup();
        let longest = processes.iter().map(|(_, name)| width(name)).fold(longest, usize::max);
        let width = (longest + 6).clamp(*WIDTHS.start(), *WIDTHS.end());
        Chart { processes, width, line: usize::MAX, sent: HashMap::new() }
    }

    fn column(&self, id: u32, name: &str) -> usize {
        let exactly = self.processes.iter().position(|(other, called)| *other == id && called == name);
        exactly.or_else(|| self.processes.iter().position(|(other, _)| *other == id)).unwrap_or(0)
    }

    fn heading(&self) -> String {
        let mut line = vec![Some(' '); self.processes.len() * self.width];
        for (column, (_, name)) in self.processes.iter().enumerate() {
            self.write(&mut line, column * self.width..(column + 1) * self.width, self.width - 2, name);
        }
        format!("        {}", self.drawn(&line))
    }

    /// The rows of some steps, before which there are others.
    fn rows(&mut self, steps: &[Step], before: usize) -> Vec<String> {
        let mut rows = Vec::new();
        for (number, step) in steps.iter().enumerate() {
            self.step(&mut rows, before + number + 1, step);
        }
        rows
    }

    fn step(&mut self, rows: &mut Vec<String>, number: usize, step: &Step) {
        let columns: Vec<usize> = parties(step).into_iter().map(|(id, name)| self.column(id, name)).collect();
        let mover = columns.first().copied().unwrap_or(0);
        let partner = columns.get(1).copied().filter(|_| step.partner.is_some());
        for message in &step.messages {
            match (partner, message.kind) {
                (Some(partner), EventKind::Send) => rows.push(self.arrow(number, mover, partner, &label(message))),
                (Some(_), EventKind::Receive) => {}
                (None, EventKind::Send) => {
                    self.sent.entry(message.handle).or_default().push_back((mover, message.fields.clone()));
                    rows.push(self.mark(number, mover, &label(message)));
                }
                (None, EventKind::Receive) => {
                    let sender = self.sender(message).unwrap_or(mover);
                    rows.push(self.arrow(number, sender, mover, &label(message)));
                }
            }
        }
        if let Some(violation) = &step.violation {
            rows.push(self.row(number, &self.lifelines(), &shortened(violation, self.line)));
        }
    }

    /// Who sent the message that is received; it is on its way no more.
    fn sender(&mut self, message: &Message) -> Option<usize> {
        let sent = self.sent.get_mut(&message.handle)?;
        let at = sent.iter().position(|(_, fields)| *fields == message.fields)?;
        sent.remove(at).map(|(sender, _)| sender)
    }

    fn centre(&self, column: usize) -> usize {
        column * self.width + self.width / 2
    }

    fn lifelines(&self) -> Row {
        let mut line = vec![Some(' '); self.processes.len() * self.width];
        for column in 0..self.processes.len() {
            line[self.centre(column)] = Some('|');
        }
        line
    }

    /// Writes a text into the middle of some columns; what does not fit is left out.
    fn write(&self, line: &mut Row, within: std::ops::Range<usize>, columns: usize, text: &str) {
        let text = if width(text) > columns {
            fitting(text.chars(), columns.saturating_sub(1)).chain(['…']).collect()
        } else {
            text.to_owned()
        };
        let mut at = within.start + within.len().saturating_sub(width(&text)) / 2;
        for c in text.chars() {
            let columns = c.width().unwrap_or(0);
            if columns == 0 || at + columns > line.len() {
                continue;
            }
            line[at] = Some(c);
            line[at + 1..at + columns].fill(None);
            at += columns;
        }
    }

    /// The row as text, as far as a line goes.
    fn drawn(&self, line: &Row) -> String {
        let end = line.len().min(self.line);
        let text: String = line[..end].iter().flatten().collect();
        let beyond = line[end..].iter().flatten().any(|c| *c != ' ');
        format!("{}{}", text.trim_end(), if beyond { " …" } else { "" })
    }

    fn row(&self, number: usize, line: &Row, remark: &str) -> String {
        let remark = if remark.is_empty() { String::new() } else { format!("  {remark}") };
        format!("{number:>6}  {}{remark}", self.drawn(line))
    }

    fn mark(&self, number: usize, column: usize, text: &str) -> String {
        let mut line = self.lifelines();
        let columns = column * self.width..(column + 1) * self.width;
        self.write(&mut line, columns, self.width - 2, &format!("[{text}]"));
        self.row(number, &line, "")
    }

    fn arrow(&self, number: usize, from: usize, to: usize, text: &str) -> String {
        if from == to {
            return self.mark(number, to, text);
        }
        let mut line = self.lifelines();
        let (left, right) = (self.centre(from.min(to)), self.centre(from.max(to)));
        line[left + 1..right].fill(Some('-'));
        let head = if from < to { (right - 1, '>') } else { (left + 1, '<') };
        line[head.0] = Some(head.1);
        self.write(&mut line, left + 1..right, right - left - 4, text);
        self.row(number, &line, "")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: EventKind, process: u32) -> Message {
        Message { kind, process, channel: "c".into(), handle: 1, fields: vec!["7".into()] }
    }

    fn step(process: u32, messages: Vec<Message>) -> Step {
        Step {
            taken: Move::Process { process, edge: 0.into() },
            process: format!("P({process})"),
            text: String::new(),
            at: None,
            partner: None,
            participants: Vec::new(),
            inputs: Vec::new(),
            changes: Vec::new(),
            messages,
            printed: String::new(),
            violation: None,
        }
    }

    fn drawn(prefix: Vec<Step>) -> String {
        let mut out = Vec::new();
        chart(&mut out, &Trace { start: 0.into(), prefix, cycle: Vec::new() }, Extent::SCREEN).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_buffered_message_is_a_mark_and_then_an_arrow() {
        let text =
            drawn(vec![step(0, vec![message(EventKind::Send, 0)]), step(1, vec![message(EventKind::Receive, 1)])]);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].contains("P(0)") && lines[0].contains("P(1)"), "{text}");
        assert!(lines[1].contains("[c!7]"), "{text}");
        assert!(lines[2].contains("|-----c?7---->|"), "{text}");
    }

    #[test]
    fn a_handshake_is_one_arrow() {
        let mut shake = step(1, vec![message(EventKind::Send, 1), message(EventKind::Receive, 0)]);
        shake.taken = Move::of(1, 0.into(), Some((0, 0.into())));
        shake.partner = Some(("P(0)".into(), String::new(), None));
        let text = drawn(vec![shake]);
        assert_eq!(text.lines().count(), 2, "{text}");
        assert!(text.contains("|<----c!7-----|"), "{text}");
    }

    #[test]
    fn long_names_and_empty_runs_are_no_trouble() {
        assert_eq!(drawn(vec![]).lines().count(), 1);
        let mut long = message(EventKind::Send, 0);
        long.channel = "x".repeat(100);
        assert!(drawn(vec![step(0, vec![long])]).contains('…'));
    }

    #[test]
    fn wide_names_keep_the_columns() {
        let names = ["P", "日本語", "ü"];
        for (one, other) in names.iter().flat_map(|one| names.map(|other| (*one, other))) {
            let mut send = step(0, vec![message(EventKind::Send, 0)]);
            let mut receive = step(1, vec![message(EventKind::Receive, 1)]);
            (send.process, receive.process) = (one.into(), other.into());
            send.messages[0].channel = other.into();
            let text = drawn(vec![send, receive]);
            let bars: Vec<usize> = text.lines().skip(1).map(|line| width(&line[..line.rfind('|').unwrap()])).collect();
            assert!(bars.iter().all(|at| *at == bars[0]), "{bars:?}\n{text}");
        }
    }

    #[test]
    fn the_middle_of_a_long_chart_is_left_out() {
        let sends: Vec<Step> = (0..1000).map(|_| step(0, vec![message(EventKind::Send, 0)])).collect();
        let text = drawn(sends);
        assert!(text.lines().count() < 110 && text.contains("900 messages are left out"), "{text}");
        assert!(text.lines().last().unwrap().trim_start().starts_with("1000 "), "{text}");
        let many: Vec<Step> = (0..300).map(|process| step(process, vec![message(EventKind::Send, process)])).collect();
        assert!(drawn(many).lines().all(|line| width(line) < LINE + 12));
    }
}
