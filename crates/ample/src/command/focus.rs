//! What of a run is shown: which of its steps, and the states between them.

use std::ops::RangeInclusive;

use ample::evidence::EndState;
use ample::{Step, System};
use clap::Args;

/// Options about the runs that are shown.
#[derive(Args, Clone, Debug, Default, PartialEq, Eq)]
#[group(skip)]
#[command(next_help_heading = "Runs that are shown")]
pub struct Focus {
    /// Show the whole state after each step
    #[arg(long)]
    pub full_state: bool,
    /// Show only the steps of these processes, named as in the run or without their numbers: `P,Q(2)`
    #[arg(long, value_name = "PROCESSES", value_delimiter = ',')]
    pub only_processes: Vec<String>,
    /// Show only the steps that change one of these variables or use one of these channels, and of states only these:
    /// `x,y[0],P(1):z,c`
    #[arg(long, value_name = "VARIABLES", value_delimiter = ',')]
    pub only_variables: Vec<String>,
    /// Show only these steps: `10..20`, `90..`, `..5`, `7`
    #[arg(long, value_name = "RANGE", value_parser = steps)]
    pub only_steps: Option<RangeInclusive<usize>>,
}

/// So many names are listed.
const LISTED: usize = 20;

/// `x[2].y` is part of `x`, `x[2]` and `x[2].y`.
fn is_part(name: &str, of: &str) -> bool {
    name.strip_prefix(of).is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
}

/// A range of steps, both ends included.
fn steps(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str, default: usize| match text.trim() {
        "" => Some(default),
        text => text.parse().ok(),
    };
    let ends = match text.split_once("..") {
        Some((from, to)) => number(from, 1).zip(number(to.trim_start_matches('='), usize::MAX)),
        None => text.trim().parse().ok().map(|only| (only, only)),
    };
    ends.filter(|(from, to)| from <= to)
        .map(|(from, to)| from..=to)
        .ok_or_else(|| "expected steps such as `10..20`, `90..`, `..5` or `7`".into())
}

impl Focus {
    /// Whether a step is shown. What goes wrong is shown in any case, unless it is outside of the range.
    pub fn shows(&self, number: usize, step: &Step) -> bool {
        if self.only_steps.as_ref().is_some_and(|steps| !steps.contains(&number)) {
            return false;
        }
        step.violation.is_some() || self.is_of_processes(step) && self.is_about_variables(step)
    }

    /// Whether the state that a run begins in is shown.
    pub fn shows_start(&self) -> bool {
        self.full_state && self.only_steps.as_ref().is_none_or(|steps| *steps.start() <= 1)
    }

    fn is_of_processes(&self, step: &Step) -> bool {
        if self.only_processes.is_empty() {
            return true;
        }
        let partner = step.partner.iter().map(|(name, ..)| name);
        let others = step.participants.iter().map(|(name, ..)| name);
        [&step.process].into_iter().chain(partner).chain(others).any(|name| self.has_process(name))
    }

    /// `P(2)` is meant by `P(2)` and by `P`.
    fn has_process(&self, name: &str) -> bool {
        let only = |asked: &String| {
            let rest = name.strip_prefix(asked.trim());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
        };
        self.only_processes.is_empty() || self.only_processes.iter().any(only)
    }

    fn is_about_variables(&self, step: &Step) -> bool {
        self.only_variables.is_empty()
            || step.changes.iter().any(|change| self.has_variable(&change.name))
            || step.messages.iter().any(|message| self.has_variable(&message.channel))
            || step.inputs.iter().any(|input| self.has_variable(&input.name))
    }

    /// `P(1):x[2].y` is meant by itself, `P(1):x[2]`, `P(1):x`, and the same without the process.
    fn has_variable(&self, name: &str) -> bool {
        let local = name.rsplit_once("):").map_or(name, |(_, local)| local);
        let only = |asked: &String| [name, local].iter().any(|name| is_part(name, asked.trim()));
        self.only_variables.is_empty() || self.only_variables.iter().any(only)
    }

    /// What is asked for and does not exist, in a sentence.
    pub fn refused(&self, system: &System) -> Option<String> {
        let unknown = |asked: &[String], known: &dyn Fn(&str) -> bool| {
            asked.iter().map(|asked| asked.trim()).find(|asked| !known(asked)).map(str::to_owned)
        };
        let types = || system.processes.iter().map(|process| process.name.as_str());
        let is_process = |asked: &str| types().any(|name| name == asked.split('(').next().unwrap_or(asked));
        if let Some(asked) = unknown(&self.only_processes, &is_process) {
            let names: Vec<&str> = types().take(LISTED).collect();
            return Some(format!("`--only-processes`: there is no process `{asked}`; there are {}", names.join(", ")));
        }
        let locals = system.processes.iter().flat_map(|process| &process.locals);
        let variables = system.globals.iter().chain(locals).map(|variable| variable.name.as_str());
        let signals = system.signals.iter().map(|signal| signal.name.as_str());
        let fields = system.records.iter().flat_map(|record| &record.fields).map(|(name, _)| name.as_str());
        let names: Vec<&str> = variables.chain(signals).chain(fields).collect();
        let is_variable = |asked: &str| {
            let asked = asked.rsplit_once("):").map_or(asked, |(_, local)| local);
            // Objects have numbers: `#1.next`.
            asked.starts_with('#') || names.iter().any(|name| is_part(name, asked) || is_part(asked, name))
        };
        unknown(&self.only_variables, &is_variable)
            .map(|asked| format!("`--only-variables`: there is no variable or channel `{asked}`"))
    }

    /// The part of a state that is asked for.
    pub fn part_of(&self, mut state: EndState) -> EndState {
        state.processes.retain(|standing| self.has_process(&standing.process));
        if !self.only_variables.is_empty() {
            state.channels.retain(|channel| self.has_variable(&channel.channel));
            state.variables.retain(|cell| self.has_variable(&cell.name));
        }
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_steps_are_read() {
        assert_eq!(steps("10..20"), Ok(10..=20));
        assert_eq!(steps("10..=20"), Ok(10..=20));
        assert_eq!(steps("..5"), Ok(1..=5));
        assert_eq!(steps("90.."), Ok(90..=usize::MAX));
        assert_eq!(steps(" 7 "), Ok(7..=7));
        for wrong in ["", "x", "5..2", "1..2..3", "-1"] {
            assert!(steps(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn names_are_meant_with_and_without_processes_and_subscripts() {
        let focus = Focus {
            only_variables: ["x", "P(1):y", "a[2]"].map(String::from).to_vec(),
            only_processes: vec!["P".into(), "Q(2)".into()],
            ..Focus::default()
        };
        for name in ["x", "x[3]", "x.f", "P(7):x", "P(1):y", "P(1):y[0]", "a[2]", "a[2].f"] {
            assert!(focus.has_variable(name), "{name}");
        }
        for name in ["xx", "y", "P(2):y", "a", "a[20]"] {
            assert!(!focus.has_variable(name), "{name}");
        }
        assert!(["P(0)", "P", "Q(2)"].iter().all(|name| focus.has_process(name)));
        assert!(["PP(0)", "Q(1)", "Q(22)", "Q"].iter().all(|name| !focus.has_process(name)));
    }
}
