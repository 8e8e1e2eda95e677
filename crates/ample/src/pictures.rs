//! Pictures of a model: its state graph, and runs as message sequence charts.
//!
//! Both are made by the reference interpreter, and drawn by [`ample_draw`].

use std::collections::{HashMap, HashSet, VecDeque};

use ample_draw::{Arrow, Chart, Edge, Event, Graph, Look, Node, truncated};
use ample_logic::Automaton;
use ample_model::{Budget, EndState, EventKind, Interpreter, Interrupted, Message, Move, State, Step, System, Trace};
use ample_sog::output::Names;

/// How much of a state is written into its node.
const LINES: usize = 12;
const COLUMNS: usize = 40;
/// How much is told of a state at which one points.
const TOLD: usize = 200;
/// For each state so many steps are drawn, on average.
const STEPS: usize = 20;

/// A part of the state graph, breadth first.
#[derive(Clone, Debug, Default)]
pub struct StateGraph {
    /// States and steps. Deadlocks and violations are in the colour of what is wrong, valid end states have two lines around them, and
    /// states inside atomic sequences a dashed one.
    pub graph: Graph,
    /// How many states are drawn.
    pub states: usize,
    /// How many steps.
    pub steps: usize,
    /// How many of the states have steps or successors that are not drawn.
    pub open: usize,
    /// Nothing is left out.
    pub complete: bool,
    /// What ended it, unless it was the number of states.
    pub interrupted: Option<Interrupted>,
}

/// Explores a system, up to so many states.
///
/// ```
/// use ample::{Budget, LoadOptions};
///
/// let text = "bool b; active proctype P() { do :: b = !b od }";
/// let model = ample::load_text("m.pml", text.into(), &LoadOptions::default())?;
/// let drawn = ample::pictures::state_graph(&model.system, 100, &Budget::unlimited());
/// assert_eq!((drawn.states, drawn.steps, drawn.complete), (2, 2, true));
/// assert!(drawn.graph.svg().contains("b = 1"));
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn state_graph(system: &System, most_states: usize, budget: &Budget) -> StateGraph {
    let interpreter = Interpreter::new(system);
    let mut search = Search {
        interpreter: &interpreter,
        most_states,
        numbers: HashMap::new(),
        found: Vec::new(),
        frontier: VecDeque::new(),
        looks: Vec::new(),
        edges: Vec::new(),
        starts: Vec::new(),
        wrong: Vec::new(),
        open: HashSet::new(),
        is_cut: false,
    };
    let interrupted = search.explore(budget).err();
    search.drawn(interrupted)
}

struct Search<'a> {
    interpreter: &'a Interpreter<'a>,
    most_states: usize,
    numbers: HashMap<State, usize>,
    found: Vec<State>,
    frontier: VecDeque<usize>,
    looks: Vec<Look>,
    /// From which state, to which one or to which of the things that are wrong.
    edges: Vec<(usize, Target, String, Look)>,
    starts: Vec<Target>,
    /// What is wrong, where there is no state.
    wrong: Vec<String>,
    /// States some of whose successors are not drawn.
    open: HashSet<usize>,
    /// An initial state is not drawn.
    is_cut: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Target {
    State(usize),
    Wrong(usize),
}

impl Search<'_> {
    fn explore(&mut self, budget: &Budget) -> Result<(), Interrupted> {
        let interpreter = self.interpreter;
        for start in interpreter.starts_within(budget) {
            let target = match start?.1 {
                Ok(state) => self.number(state).map(Target::State),
                Err(fault) => Some(self.fault(fault.to_string())),
            };
            match target {
                Some(target) => self.starts.push(target),
                None => {
                    self.is_cut = true;
                    break;
                }
            }
        }
        while let Some(number) = self.frontier.pop_front() {
            budget.check()?;
            // Whoever is not expanded, because this is interrupted, has successors that are not drawn.
            self.open.insert(number);
            if self.expand(number, budget)? {
                self.open.remove(&number);
            }
        }
        Ok(())
    }

    /// Takes all steps of a state. False if some are not drawn.
    fn expand(&mut self, number: usize, budget: &Budget) -> Result<bool, Interrupted> {
        let interpreter = self.interpreter;
        let state = self.found[number].clone();
        let (mut is_all, mut has_steps) = (true, false);
        let mut known: HashSet<(Target, String)> = HashSet::new();
        for found in interpreter.steps_within(&state, budget) {
            let (taken, successor) = found?;
            has_steps = true;
            if self.edges.len() >= STEPS * self.most_states {
                return Ok(false);
            }
            let step = interpreter.describe(&state, &taken, &successor);
            let look = if step.violation.is_some() { Look::Wrong } else { Look::Plain };
            let target = match successor.state {
                Some(next) => self.number(next).map(Target::State),
                None => Some(self.fault(step.violation.clone().unwrap_or_else(|| "run-time error".into()))),
            };
            let label = label(interpreter.system(), &step);
            match target {
                // Several steps may look alike.
                Some(target) if known.insert((target, label.clone())) => self.edges.push((number, target, label, look)),
                Some(_) => {}
                None => is_all = false,
            }
        }
        if !has_steps && self.looks[number] == Look::Plain {
            let is_end = interpreter.is_end_state(&state);
            self.looks[number] = if is_end { Look::Double } else { Look::Wrong };
        }
        Ok(is_all)
    }

    /// The number of a state; none if it is one too many.
    fn number(&mut self, state: State) -> Option<usize> {
        let identity = self.interpreter.identity(&state);
        if let Some(number) = self.numbers.get(&identity) {
            return Some(*number);
        }
        let number = self.found.len();
        if number >= self.most_states {
            return None;
        }
        let control = identity.control;
        self.looks.push(if control.is_some() { Look::Dashed } else { Look::Plain });
        self.numbers.insert(identity, number);
        self.found.push(State { control, ..state });
        self.frontier.push_back(number);
        Some(number)
    }

    /// Something that is wrong, beside the state in which it happens.
    fn fault(&mut self, message: String) -> Target {
        self.wrong.push(message);
        Target::Wrong(self.wrong.len() - 1)
    }

    fn drawn(mut self, interrupted: Option<Interrupted>) -> StateGraph {
        self.open.extend(self.frontier.drain(..));
        let system = self.interpreter.system();
        let ends: Vec<EndState> = self.found.iter().map(|state| EndState::of(self.interpreter, state)).collect();
        let texts: Vec<Vec<(String, String)>> = ends.iter().map(facts).collect();
        let differing = differing(&texts);
        let mut graph = Graph::new(format!("{}: the state graph", system.name));
        for (number, facts) in texts.iter().enumerate() {
            let mut lines = vec![number.to_string()];
            let shown: Vec<String> = facts.iter().filter(|(name, _)| differing.contains(name)).map(written).collect();
            lines.extend(limited(shown, LINES).into_iter().map(|line| truncated(&line, COLUMNS)));
            if self.open.contains(&number) {
                lines.push("…".into());
            }
            let more = limited(facts.iter().map(written).collect(), TOLD).join("\n");
            graph.node(Node { lines, more: format!("state {number}\n{more}"), look: self.looks[number] });
        }
        let first_wrong = graph.nodes.len();
        for message in &self.wrong {
            graph.node(Node::new(message).looking(Look::Wrong));
        }
        let place = |target: Target| match target {
            Target::State(number) => number,
            Target::Wrong(number) => first_wrong + number,
        };
        for target in &self.starts {
            let start = graph.node(Node::start());
            graph.edge(Edge::new(start, place(*target)));
        }
        let steps = self.edges.len();
        for (from, target, label, look) in self.edges {
            graph.edge(Edge { from, to: place(target), label, look });
        }
        let complete = self.open.is_empty() && !self.is_cut && interrupted.is_none();
        StateGraph { graph, states: ends.len(), steps, open: self.open.len(), complete, interrupted }
    }
}

/// A step in a few words.
fn label(system: &System, step: &Step) -> String {
    let text = one_line(&step.text);
    if !crate::language_of(system).has_processes() || step.process.is_empty() {
        return text;
    }
    match &step.partner {
        Some((partner, theirs, _)) => format!("{}: {text} → {partner}: {}", step.process, one_line(theirs)),
        None => format!("{}: {text}", step.process),
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What there is to say of a state, by name.
fn facts(end: &EndState) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    for standing in &end.processes {
        let line = standing.at.as_ref().and_then(|at| at.rsplit_once(':')).map(|(_, line)| format!("line {line}"));
        let before = match &standing.waits_for[..] {
            [] => None,
            [only] => Some(one_line(only)),
            [first, ..] => Some(format!("{} …", one_line(first))),
        };
        let at = match (line, before) {
            _ if standing.finished || standing.statements.is_empty() => "ended".into(),
            (Some(line), Some(before)) => format!("{line}: {before}"),
            (line, before) => line.or(before).unwrap_or_default(),
        };
        facts.push((standing.process.clone(), at));
    }
    for channel in &end.channels {
        let messages: String = channel.messages.iter().map(|fields| format!("[{}]", fields.join(","))).collect();
        facts.push((channel.channel.clone(), if messages.is_empty() { "empty".into() } else { messages }));
    }
    facts.extend(end.variables.iter().map(|cell| (cell.name.clone(), cell.value.clone())));
    facts
}

/// What is not the same in all states that have it.
fn differing(states: &[Vec<(String, String)>]) -> HashSet<String> {
    let mut values: HashMap<&str, &str> = HashMap::new();
    let mut differing = HashSet::new();
    for (name, value) in states.iter().flatten() {
        if values.entry(name).or_insert(value) != value {
            differing.insert(name.clone());
        }
    }
    differing
}

fn written((name, value): &(String, String)) -> String {
    format!("{name} = {value}")
}

fn limited(mut lines: Vec<String>, most: usize) -> Vec<String> {
    let more = lines.len().saturating_sub(most);
    if more > 1 {
        lines.truncate(most);
        lines.push(format!("({more} more)"));
    }
    lines
}

/// An automaton: accepting states have two lines around them, or edges name their acceptance sets.
///
/// ```
/// use ample_logic::{Atoms, Dialect, Options, parse, translate};
///
/// let mut atoms = Atoms::new();
/// let formula = parse("G F a", Dialect::Plain, &mut atoms)?;
/// let automaton = translate(&formula, &atoms, Options::default())?;
/// assert_eq!(ample::pictures::automaton(&automaton, "G F a").edges.len(), automaton.edges.len() + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn automaton(automaton: &Automaton, name: &str) -> Graph {
    let mut graph = Graph::new(name);
    for state in 0..automaton.states {
        let is_accepting = automaton.state_based && automaton.is_accepting(state);
        let look = if is_accepting { Look::Double } else { Look::Plain };
        graph.node(Node::new(&state.to_string()).looking(look));
    }
    let start = graph.node(Node::start());
    graph.edge(Edge::new(start, automaton.initial));
    for edge in &automaton.edges {
        let label = ample_logic::dot::label(automaton, edge);
        graph.edge(Edge::new(edge.from, edge.to).labelled(label));
    }
    graph
}

/// An observation graph: aggregates with a dead state have two lines around them, those with a cycle of unobserved actions a dashed
/// one.
pub fn observation_graph(of: &ample_sog::Graph, names: Names<'_>, title: &str) -> Graph {
    let mut graph = Graph::new(title);
    for (number, aggregate) in of.aggregates.iter().enumerate() {
        let facts = &aggregate.facts;
        let look = match (facts.dead, facts.divergent) {
            (true, _) => Look::Double,
            (false, true) => Look::Dashed,
            (false, false) => Look::Plain,
        };
        let mut lines = vec![format!("{number}: {} states", facts.states)];
        lines.extend(limited(names.label(of, aggregate.label), LINES).iter().map(|line| truncated(line, COLUMNS)));
        let says = |is: bool, what| if is { what } else { "" };
        let more = format!(
            "aggregate {number}: {} states{}{}",
            facts.states,
            says(facts.dead, ", one of them dead"),
            says(facts.divergent, ", a cycle of unobserved actions")
        );
        graph.node(Node { lines, more, look });
    }
    for number in &of.initial {
        let start = graph.node(Node::start());
        graph.edge(Edge::new(start, *number));
    }
    for (number, aggregate) in of.aggregates.iter().enumerate() {
        for (action, to) in &aggregate.arcs {
            graph.edge(Edge::new(number, *to).labelled(names.action(*action)));
        }
    }
    graph
}

/// A run as a message sequence chart. Steps without messages are left out, unless something is wrong in them.
///
/// ```
/// use ample::{CheckOptions, LoadOptions};
///
/// let text = "chan c = [1] of { byte }; byte x;
///     active proctype P() { c!7 } active proctype Q() { c?x; assert(x == 0) }";
/// let model = ample::load_text("m.pml", text.into(), &LoadOptions::default())?;
/// let report = ample::check(&model.system, &CheckOptions::default());
/// let trace = report.answer("assertions").unwrap().trace().unwrap();
/// let chart = ample::pictures::chart(trace);
/// assert_eq!(chart.lanes, ["P(0)", "Q(1)"]);
/// assert!(chart.svg().contains("c?7"));
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn chart(trace: &Trace) -> Chart {
    let mut processes: Vec<(u32, &str)> = trace.prefix.iter().chain(&trace.cycle).flat_map(parties).collect();
    processes.sort_unstable();
    processes.dedup();
    let lanes = processes.iter().map(|(_, name)| (*name).to_owned()).collect();
    let mut drawing = Drawing { chart: Chart { lanes, ..Chart::default() }, processes, sent: HashMap::new() };
    for (number, step) in trace.prefix.iter().enumerate() {
        drawing.step(number + 1, step);
    }
    if !trace.cycle.is_empty() {
        drawing.chart.cycle = Some(drawing.chart.events.len());
    }
    for (number, step) in trace.cycle.iter().enumerate() {
        drawing.step(trace.prefix.len() + number + 1, step);
    }
    drawing.chart
}

/// Who takes part in a step, the one that begins first. What is no process's comes last among the lifelines.
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

struct Drawing<'a> {
    chart: Chart,
    processes: Vec<(u32, &'a str)>,
    /// The events in which messages on their way were sent, for every channel.
    sent: HashMap<u32, VecDeque<(usize, Vec<String>)>>,
}

impl Drawing<'_> {
    fn step(&mut self, number: usize, step: &Step) {
        let lanes: Vec<usize> = parties(step).iter().map(|party| self.lane(party)).collect();
        let mover = lanes.first().copied().unwrap_or(0);
        let partner = lanes.get(1).copied().filter(|_| step.partner.is_some());
        for message in &step.messages {
            let text = self::message(message);
            let event = match (partner, message.kind) {
                (Some(to), EventKind::Send) => Event::Handshake(Arrow { from: mover, to, text }),
                (Some(_), EventKind::Receive) => continue,
                (None, EventKind::Send) => {
                    let sent = self.sent.entry(message.handle).or_default();
                    sent.push_back((self.chart.events.len(), message.fields.clone()));
                    Event::Sent { lane: mover, text }
                }
                (None, EventKind::Receive) => Event::Received { sent: self.sender(message), lane: mover, text },
            };
            self.chart.events.push((number, event));
        }
        if let Some(violation) = &step.violation {
            let event = Event::Local { lane: mover, text: violation.clone(), look: Look::Wrong };
            self.chart.events.push((number, event));
        }
    }

    fn lane(&self, party: &(u32, &str)) -> usize {
        self.processes.iter().position(|other| other == party).unwrap_or(0)
    }

    /// In which event a message was sent that is received; it is on its way no more.
    fn sender(&mut self, message: &Message) -> Option<usize> {
        let sent = self.sent.get_mut(&message.handle)?;
        let at = sent.iter().position(|(_, fields)| *fields == message.fields)?;
        sent.remove(at).map(|(event, _)| event)
    }
}

/// A message as the source would write it: `c!1,2` or `c?1,2`.
pub fn message(message: &Message) -> String {
    let operator = match message.kind {
        EventKind::Send => '!',
        EventKind::Receive => '?',
    };
    format!("{}{operator}{}", message.channel, message.fields.join(","))
}
