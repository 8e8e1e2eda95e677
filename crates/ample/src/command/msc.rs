//! A run as a message sequence chart in text: a column per process, an arrow per message.
//!
//! A handshake is one arrow. Through a buffer, sending is a mark in the sender's column, and the arrow is drawn
//! when the message is received. Steps without messages are left out; numbers are those of the run.

use std::collections::{HashMap, VecDeque};
use std::io::{self, Write};

use ample::{EventKind, Message, Step, Trace};

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

/// Writes the chart.
pub fn chart(out: &mut impl Write, trace: &Trace) -> io::Result<()> {
    let mut chart = Chart::of(trace);
    chart.heading(out)?;
    for (number, step) in trace.prefix.iter().chain(&trace.cycle).enumerate() {
        if number == trace.prefix.len() {
            writeln!(out, "        <<<<<START OF CYCLE>>>>>")?;
        }
        chart.step(out, number + 1, step)?;
    }
    Ok(())
}

struct Chart {
    /// The processes in the order of their ids.
    processes: Vec<(u32, String)>,
    width: usize,
    /// Messages on their way: for every channel who sent what.
    sent: HashMap<u32, VecDeque<(usize, Vec<String>)>>,
}

impl Chart {
    fn of(trace: &Trace) -> Chart {
        let mut processes = Vec::new();
        let mut longest = 0;
        for step in trace.prefix.iter().chain(&trace.cycle) {
            processes.push((step.taken.process, step.process.clone()));
            if let (Some((id, _)), Some((name, ..))) = (step.taken.partner, &step.partner) {
                processes.push((id, name.clone()));
            }
            longest = step.messages.iter().map(|message| label(message).chars().count()).fold(longest, usize::max);
        }
        processes.sort();
        processes.dedup();
        let longest = processes.iter().map(|(_, name)| name.chars().count()).fold(longest, usize::max);
        let width = (longest + 6).clamp(*WIDTHS.start(), *WIDTHS.end());
        Chart { processes, width, sent: HashMap::new() }
    }

    fn column(&self, id: u32, name: &str) -> usize {
        let exactly = self.processes.iter().position(|(other, called)| *other == id && called == name);
        exactly.or_else(|| self.processes.iter().position(|(other, _)| *other == id)).unwrap_or(0)
    }

    fn heading(&self, out: &mut impl Write) -> io::Result<()> {
        let names: String =
            self.processes.iter().map(|(_, name)| format!("{name:^width$}", width = self.width)).collect();
        writeln!(out, "        {}", names.trim_end())
    }

    fn step(&mut self, out: &mut impl Write, number: usize, step: &Step) -> io::Result<()> {
        let mover = self.column(step.taken.process, &step.process);
        let partner = step.taken.partner.zip(step.partner.as_ref()).map(|((id, _), (name, ..))| self.column(id, name));
        for message in &step.messages {
            match (partner, message.kind) {
                (Some(partner), EventKind::Send) => self.arrow(out, number, mover, partner, &label(message))?,
                (Some(_), EventKind::Receive) => {}
                (None, EventKind::Send) => {
                    self.sent.entry(message.handle).or_default().push_back((mover, message.fields.clone()));
                    self.mark(out, number, mover, &label(message))?;
                }
                (None, EventKind::Receive) => {
                    let sender = self.sender(message).unwrap_or(mover);
                    self.arrow(out, number, sender, mover, &label(message))?;
                }
            }
        }
        match &step.violation {
            Some(violation) => self.row(out, number, &self.lifelines(), violation),
            None => Ok(()),
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

    fn lifelines(&self) -> Vec<char> {
        let mut line = vec![' '; self.processes.len() * self.width];
        for column in 0..self.processes.len() {
            line[self.centre(column)] = '|';
        }
        line
    }

    fn row(&self, out: &mut impl Write, number: usize, line: &[char], remark: &str) -> io::Result<()> {
        let line: String = line.iter().collect();
        let remark = if remark.is_empty() { String::new() } else { format!("  {remark}") };
        writeln!(out, "{number:>6}  {}{remark}", line.trim_end())
    }

    fn mark(&self, out: &mut impl Write, number: usize, column: usize, text: &str) -> io::Result<()> {
        let mut line = self.lifelines();
        let text = clipped(&format!("[{text}]"), self.width - 2);
        let start = self.centre(column) - text.len() / 2;
        line[start..start + text.len()].copy_from_slice(&text);
        self.row(out, number, &line, "")
    }

    fn arrow(&self, out: &mut impl Write, number: usize, from: usize, to: usize, text: &str) -> io::Result<()> {
        if from == to {
            return self.mark(out, number, to, text);
        }
        let mut line = self.lifelines();
        let (left, right) = (self.centre(from.min(to)), self.centre(from.max(to)));
        line[left + 1..right].fill('-');
        let head = if from < to { (right - 1, '>') } else { (left + 1, '<') };
        line[head.0] = head.1;
        let text = clipped(text, right - left - 4);
        let start = left + 1 + (right - left - 1 - text.len()) / 2;
        line[start..start + text.len()].copy_from_slice(&text);
        self.row(out, number, &line, "")
    }
}

fn clipped(text: &str, width: usize) -> Vec<char> {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.len() > width {
        characters.truncate(width.saturating_sub(1));
        characters.push('…');
    }
    characters
}

#[cfg(test)]
mod tests {
    use ample::Move;

    use super::*;

    fn message(kind: EventKind, process: u32) -> Message {
        Message { kind, process, channel: "c".into(), handle: 1, fields: vec!["7".into()] }
    }

    fn step(process: u32, messages: Vec<Message>) -> Step {
        Step {
            taken: Move { process, edge: 0.into(), partner: None },
            process: format!("P({process})"),
            text: String::new(),
            at: None,
            partner: None,
            changes: Vec::new(),
            messages,
            printed: String::new(),
            violation: None,
        }
    }

    fn drawn(prefix: Vec<Step>) -> String {
        let mut out = Vec::new();
        chart(&mut out, &Trace { start: 0, prefix, cycle: Vec::new() }).unwrap();
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
        shake.taken.partner = Some((0, 0.into()));
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
}
