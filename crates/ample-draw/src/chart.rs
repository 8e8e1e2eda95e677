//! Message sequence charts.

use std::fmt::Write;

use crate::layout::{LINE, MARGIN, text_width, truncated};
use crate::svg::{escaped, head, texts};
use crate::{Look, Point};

/// Between two events.
const ROW: f64 = 30.0;
/// The boxes with the names of processes.
const BOX: f64 = 26.0;
/// The numbers of steps are left of everything.
const NUMBERS: f64 = 48.0;
/// Lanes are at least that wide, and texts at most so many columns.
const LANE: f64 = 110.0;
const TEXT: usize = 48;

/// A run as a chart: a lifeline for each process, and what happens from top to bottom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// The processes.
    pub lanes: Vec<String>,
    /// What happens, each with the number of its step.
    pub events: Vec<(usize, Event)>,
    /// With which event the cycle begins.
    pub cycle: Option<usize>,
    /// So many events were left out at the end.
    pub left_out: usize,
}

/// Something that happens. Processes are places among the lanes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A message that is handed over at once.
    Handshake(Arrow),
    /// A message that is put into a channel.
    Sent {
        /// Who sends.
        lane: usize,
        /// The message.
        text: String,
    },
    /// A message that was in a channel.
    Received {
        /// The number of the event in which it was sent, if that is in the chart.
        sent: Option<usize>,
        /// Who receives.
        lane: usize,
        /// The message.
        text: String,
    },
    /// Something that one process does alone, or that is wrong.
    Local {
        /// Who does it.
        lane: usize,
        /// What it does.
        text: String,
        /// How it looks.
        look: Look,
    },
}

/// A message from one process to another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Who sends.
    pub from: usize,
    /// Who receives.
    pub to: usize,
    /// The message.
    pub text: String,
}

impl Event {
    /// The message, or what it says.
    pub fn text(&self) -> &str {
        match self {
            Event::Handshake(arrow) => &arrow.text,
            Event::Sent { text, .. } | Event::Received { text, .. } | Event::Local { text, .. } => text,
        }
    }
}

impl Chart {
    /// At most so many events from the beginning.
    #[must_use]
    pub fn cut(mut self, most: usize) -> Chart {
        self.left_out += self.events.len().saturating_sub(most);
        self.events.truncate(most);
        self.cycle = self.cycle.filter(|cycle| *cycle < most);
        self
    }

    /// Who sent the message that is received in an event, if that is in the chart.
    pub fn sender(&self, event: &Event) -> Option<usize> {
        let Event::Received { sent: Some(sent), .. } = event else { return None };
        match self.events.get(*sent) {
            Some((_, Event::Sent { lane, .. })) => Some(*lane),
            _ => None,
        }
    }

    /// The chart as SVG.
    ///
    /// ```
    /// use ample_draw::{Arrow, Chart, Event};
    ///
    /// let arrow = Arrow { from: 0, to: 1, text: "c!hello".into() };
    /// let events = vec![(1, Event::Handshake(arrow))];
    /// let chart = Chart { lanes: vec!["client".into(), "server".into()], events, ..Chart::default() };
    /// assert!(chart.svg().contains("c!hello"));
    /// ```
    pub fn svg(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// How wide a lane is: a text between two neighbours has room.
    fn lane_width(&self) -> f64 {
        let texts = self.events.iter().map(|(_, event)| text_width(&truncated(event.text(), TEXT)));
        let names = self.lanes.iter().map(|name| text_width(&truncated(name, TEXT)) + 16.0);
        texts.chain(names).fold(LANE, f64::max) + 16.0
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let lane_width = self.lane_width();
        let x = |lane: usize| MARGIN + NUMBERS + lane_width * (lane as f64 + 0.5);
        let top = MARGIN + BOX;
        let y = |event: usize| top + ROW * (event as f64 + 1.0);
        let rows = self.events.len() + usize::from(self.left_out > 0);
        let bottom = top + ROW * (rows as f64 + 0.7);
        let width = 2.0 * MARGIN + NUMBERS + lane_width * self.lanes.len().max(1) as f64;
        head(out, &self.title, width, bottom + MARGIN)?;
        for (lane, name) in self.lanes.iter().enumerate() {
            let (x, name) = (x(lane), truncated(name, TEXT));
            writeln!(out, "<line class=\"life\" x1=\"{x:.1}\" y1=\"{top:.1}\" x2=\"{x:.1}\" y2=\"{bottom:.1}\"/>")?;
            let width = text_width(&name) + 16.0;
            writeln!(
                out,
                "<rect class=\"node\" x=\"{:.1}\" y=\"{MARGIN:.1}\" width=\"{width:.1}\" height=\"{BOX:.1}\" rx=\"5\"/>",
                x - width / 2.0
            )?;
            texts(out, "", &[name], Point { x, y: MARGIN + BOX / 2.0 })?;
        }
        if let Some(cycle) = self.cycle.filter(|cycle| *cycle <= self.events.len()) {
            let (from, to) = (y(cycle) - ROW * 0.6, y(self.events.len()) - ROW * 0.6);
            writeln!(
                out,
                "<g><title>the cycle</title><rect class=\"edge dashed\" x=\"{:.1}\" y=\"{from:.1}\" width=\"{:.1}\" \
                 height=\"{:.1}\" rx=\"5\"/></g>",
                MARGIN / 2.0,
                width - MARGIN,
                (to - from).max(ROW / 2.0)
            )?;
        }
        for (number, (step, event)) in self.events.iter().enumerate() {
            let row = y(number);
            texts(out, "label", &[step.to_string()], Point { x: MARGIN + NUMBERS / 2.0, y: row })?;
            let text = [truncated(event.text(), TEXT)];
            match event {
                Event::Handshake(arrow) => self.arrow(out, &text, (x(arrow.from), row), (x(arrow.to), row))?,
                Event::Sent { lane, .. } => {
                    dot(out, x(*lane), row)?;
                    texts(out, "label", &text, Point { x: x(*lane), y: row - LINE / 2.0 - 1.0 })?;
                }
                Event::Received { sent: Some(sent), lane, .. } => {
                    let from = self.sender(event).unwrap_or(*lane);
                    self.arrow(out, &text, (x(from), y(*sent)), (x(*lane), row))?;
                }
                Event::Received { sent: None, lane, .. } => {
                    self.arrow(out, &text, (x(*lane) - lane_width / 3.0, row), (x(*lane), row))?;
                }
                Event::Local { lane, look, .. } => {
                    let class = if *look == Look::Wrong { "label wrong" } else { "label" };
                    dot(out, x(*lane), row)?;
                    texts(out, class, &text, Point { x: x(*lane), y: row - LINE / 2.0 - 1.0 })?;
                }
            }
        }
        if self.left_out > 0 {
            let text = format!("… {} more", self.left_out);
            texts(out, "label", &[text], Point { x: width / 2.0, y: y(self.events.len()) })?;
        }
        writeln!(out, "</svg>")
    }

    /// An arrow with its text where it ends; one to the same process turns back.
    fn arrow(&self, out: &mut String, text: &[String], from: (f64, f64), to: (f64, f64)) -> std::fmt::Result {
        let (title, (x1, y1), (x2, y2)) = (escaped(&text.join("\n")), from, to);
        let path = if (x1 - x2).abs() < 1.0 {
            let out = x1 + 28.0;
            let y1 = if (y1 - y2).abs() < 1.0 { y1 - 10.0 } else { y1 };
            format!("M{x1:.1} {y1:.1} C{out:.1} {y1:.1} {out:.1} {y2:.1} {x2:.1} {y2:.1}")
        } else {
            format!("M{x1:.1} {y1:.1} L{x2:.1} {y2:.1}")
        };
        writeln!(out, "<g><title>{title}</title><path class=\"edge\" d=\"{path}\" marker-end=\"url(#tip)\"/></g>")?;
        let at = if (y1 - y2).abs() < 1.0 {
            Point { x: (x1 + x2) / 2.0, y: y2 - LINE / 2.0 - 1.0 }
        } else {
            // Below the arrow, which comes from above.
            Point { x: x2 + (x1 - x2) * 0.25, y: y2 + LINE / 2.0 }
        };
        texts(out, "label", text, at)
    }
}

fn dot(out: &mut String, x: f64, y: f64) -> std::fmt::Result {
    writeln!(out, "<circle class=\"start\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3\"/>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_arrows_and_what_is_not_received_is_not() {
        let sent = |lane, text: &str| Event::Sent { lane, text: text.into() };
        let events = vec![
            (1, sent(0, "c!1")),
            (2, sent(0, "c!2")),
            (4, Event::Received { sent: Some(0), lane: 1, text: "c?1".into() }),
            (5, Event::Handshake(Arrow { from: 1, to: 0, text: "d!<3>".into() })),
            (6, Event::Local { lane: 1, text: "assertion violated".into(), look: Look::Wrong }),
        ];
        let lanes = vec!["sender".into(), "receiver".into()];
        let svg = Chart { title: "run".into(), lanes, events, cycle: Some(3), left_out: 7 }.svg();
        assert_eq!(svg.matches("<path class=\"edge\"").count(), 2);
        assert_eq!(svg.matches("<circle").count(), 3);
        for text in ["sender", "d!&lt;3&gt;", "class=\"label wrong\"", "the cycle", "… 7 more"] {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
    }
}
