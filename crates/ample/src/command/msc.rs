//! A run as a message sequence chart in text: a column per process, an arrow per message.
//!
//! A handshake is one arrow. Through a buffer, sending is a mark in the sender's column, and the arrow is drawn
//! when the message is received. Steps without messages are left out, and so is the middle of a long chart; numbers
//! are those of the run.

use std::io::{self, Write};

use ample::Trace;
use ample::pictures;
use ample_draw::Event;
use unicode_width::UnicodeWidthChar;

use super::layout::{Extent, fitting, shortened, width};

/// Columns are at least and at most that wide.
const WIDTHS: std::ops::RangeInclusive<usize> = 14..=40;

/// A line of a chart is that wide, if not all is to be shown.
const LINE: usize = 240;

/// Writes the chart.
pub fn chart(out: &mut impl Write, trace: &Trace, extent: Extent) -> io::Result<()> {
    let chart = Chart::of(trace, if extent == Extent::FULL { usize::MAX } else { LINE });
    writeln!(out, "{}", chart.heading())?;
    let mut rows: Vec<String> = (0..chart.drawn.events.len()).map(|event| chart.event(event)).collect();
    let cycle = rows.split_off(chart.drawn.cycle.unwrap_or(rows.len()));
    part(out, &rows, extent)?;
    if chart.drawn.cycle.is_some() {
        writeln!(out, "        <<<<<START OF CYCLE>>>>>")?;
    }
    part(out, &cycle, extent)
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
    drawn: ample_draw::Chart,
    /// How wide a column is.
    width: usize,
    /// A row is not drawn beyond that column.
    line: usize,
}

impl Chart {
    fn of(trace: &Trace, line: usize) -> Chart {
        let drawn = pictures::chart(trace);
        let messages = drawn.events.iter().filter(|(_, event)| !matches!(event, Event::Local { .. }));
        let texts = messages.map(|(_, event)| event.text()).chain(drawn.lanes.iter().map(String::as_str));
        let width = (texts.map(width).max().unwrap_or(0) + 6).clamp(*WIDTHS.start(), *WIDTHS.end());
        Chart { drawn, width, line }
    }

    fn heading(&self) -> String {
        let mut line = vec![Some(' '); self.drawn.lanes.len() * self.width];
        for (column, name) in self.drawn.lanes.iter().enumerate() {
            self.write(&mut line, column * self.width..(column + 1) * self.width, self.width - 2, name);
        }
        format!("        {}", self.drawn(&line))
    }

    /// The row of an event.
    fn event(&self, event: usize) -> String {
        let (number, event) = &self.drawn.events[event];
        match event {
            Event::Handshake(arrow) => self.arrow(*number, arrow.from, arrow.to, &arrow.text),
            Event::Sent { lane, text } => self.mark(*number, *lane, text),
            Event::Received { lane, text, .. } => {
                self.arrow(*number, self.drawn.sender(event).unwrap_or(*lane), *lane, text)
            }
            Event::Local { text, .. } => self.row(*number, &self.lifelines(), &shortened(text, self.line)),
        }
    }

    fn centre(&self, column: usize) -> usize {
        column * self.width + self.width / 2
    }

    fn lifelines(&self) -> Row {
        let mut line = vec![Some(' '); self.drawn.lanes.len() * self.width];
        for column in 0..self.drawn.lanes.len() {
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
    use ample::{EventKind, Message, Move, Step};

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
