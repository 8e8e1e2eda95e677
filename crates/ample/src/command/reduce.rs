//! `ample reduce`: what partial-order reduction leaves out of a model, and why it does not leave out more.

use std::collections::BTreeMap;
use std::io::{self, Write};

use ample::reduce::{
    Choice, Closure, Count, Dependence, Object, Point, Process, ReduceError, ReduceOptions, Reduction, Safety, Scheme,
    Step, TraceAutomaton, Transition,
};
use ample::{Algorithm, Dependency, LoadOptions, OWN_DEPENDENCY, System};
use serde_json::{Value, json};

use super::arguments::Reduce;
use super::layout::Extent;
use super::paint::Paint;
use super::state;
use super::steps::{one_line, place};
use super::{Context, Exit, failed, load, load_options, print, print_json, traces};

/// So many of the worst are named in a summary.
const WORST: usize = 5;

/// So many transitions fit beside each other.
const WIDE: usize = 96;

pub fn reduce(arguments: &Reduce, context: &Context) -> Exit {
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let system = &loaded.system;
    let point = match point(arguments, system, &load_options(&arguments.common, &budget)) {
        Ok(point) => point,
        Err(message) => return failed(context, &arguments.file, &message),
    };
    let options = match options(arguments) {
        Ok(options) => options,
        Err(message) => return failed(context, &arguments.file, &message),
    };
    if arguments.traces {
        return match ample::reduce::trace_automaton(system, &options, &budget) {
            Ok((scheme, automaton)) => show_traces(system, &scheme, &automaton, arguments, context),
            Err(error) => refused(system, arguments, context, &error),
        };
    }
    if let Some(point) = point {
        return match ample::reduce::choice(system, &point, &options, &budget) {
            Ok((scheme, choice)) => show_choice(system, &scheme, &choice, arguments, context),
            Err(error) => refused(system, arguments, context, &error),
        };
    }
    let reduction = match ample::reduce::reduce(system, &options, &budget) {
        Ok(reduction) => reduction,
        Err(error) => return refused(system, arguments, context, &error),
    };
    let cut = |count: &Count| count.ended.is_some() && !count.is_enough;
    let is_cut = cut(&reduction.whole) || reduction.reduced.as_ref().is_some_and(cut);
    let exit = if is_cut { Exit::Undecided } else { Exit::Fine };
    if context.json {
        print_json(&to_json(system, &reduction, arguments));
        return exit;
    }
    let report = Text { paint: context.out };
    print(|out| {
        writeln!(out, "{}", context.out.bold(&system.name))?;
        report.summary(out, &reduction, &options, arguments.dependency.is_some(), context.quiet)?;
        match &reduction.scheme {
            Ok(scheme) if arguments.explain => report.explanation(out, scheme, arguments.dependency),
            _ => Ok(()),
        }
    });
    exit
}

/// What is asked for. The default algorithm has a dependency of its own.
fn options(arguments: &Reduce) -> Result<ReduceOptions, String> {
    let algorithm = match (arguments.por_algorithm, arguments.dependency) {
        (Some(Algorithm::Guards), Some(_)) => return Err(OWN_DEPENDENCY.into()),
        (Some(algorithm), _) => algorithm,
        (None, Some(_)) => Algorithm::Conditional,
        (None, None) => Algorithm::default(),
    };
    let most = if arguments.traces { ample::reduce::MOST_TRACE_STATES } else { ample::reduce::MOST_STATES };
    let dependency = arguments.dependency.unwrap_or_default();
    Ok(ReduceOptions { algorithm, dependency, most_states: arguments.max_states.unwrap_or(most) })
}

fn show_traces(
    system: &System,
    scheme: &Scheme<'_>,
    automaton: &TraceAutomaton,
    arguments: &Reduce,
    context: &Context,
) -> Exit {
    if context.json {
        let mut value = head(system);
        value["traces"] = json!(automaton);
        value["processes"] = json!(scheme.processes());
        value["transitions"] = json!(scheme.transitions());
        print_json(&value);
        return Exit::Fine;
    }
    print(|out| write!(out, "{}", dot(system, scheme, automaton, arguments.sleep_sets)));
    Exit::Fine
}

/// A trace automaton in the language of Graphviz.
fn dot(system: &System, scheme: &Scheme<'_>, automaton: &TraceAutomaton, shows_sleep: bool) -> String {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
    let label = |transition: u32| match scheme.transitions().get(transition as usize) {
        Some(transition) => format!("{}: {}", scheme.actors(transition), one_line(&transition.text)),
        None => String::new(),
    };
    let mut out = format!("digraph \"{}\" {{\n  node [shape=circle];\n", quoted(&system.name));
    out.push_str("  start [shape=none, label=\"\"];\n  start -> s0;\n");
    for (number, state) in automaton.states.iter().enumerate() {
        let mut text = number.to_string();
        if shows_sleep && !state.sleep.is_empty() {
            let sleep: Vec<String> = state.sleep.iter().map(|label| format!("[{label}]")).collect();
            text.push_str(&format!("\\nsleep: {}", sleep.join(" ")));
        }
        let style = match state {
            state if state.is_transient => ", style=dashed",
            state if state.is_dead => ", shape=doublecircle",
            _ => "",
        };
        out.push_str(&format!("  s{number} [label=\"{text}\"{style}];\n"));
    }
    if automaton.steps.iter().any(|step| step.to.is_none()) {
        out.push_str("  error [shape=octagon, label=\"run-time error\"];\n");
    }
    for step in &automaton.steps {
        let to = step.to.map_or("error".into(), |to| format!("s{to}"));
        let text = match step.transition {
            Some(number) if shows_sleep => format!("[{number}] {}", label(number)),
            Some(number) => label(number),
            None => String::new(),
        };
        out.push_str(&format!("  s{} -> {to} [label=\"{}\"];\n", step.from, quoted(&text)));
    }
    out.push_str("}\n");
    out
}

fn show_choice(system: &System, scheme: &Scheme<'_>, choice: &Choice, arguments: &Reduce, context: &Context) -> Exit {
    if context.json {
        let mut value = head(system);
        describe(&mut value, scheme, arguments);
        value["choice"] = json!(choice);
        print_json(&value);
        return Exit::Fine;
    }
    print(|out| {
        writeln!(out, "{}", context.out.bold(&system.name))?;
        Text { paint: context.out }.choice(out, system, scheme, choice)
    });
    Exit::Fine
}

fn refused(system: &System, arguments: &Reduce, context: &Context, error: &ReduceError) -> Exit {
    if let ReduceError::Irreducible(why) = error {
        let mut value = head(system);
        value["off"] = json!(why);
        let text = format!("{}\n  {error}", context.out.bold(&system.name));
        print(|out| if context.json { writeln!(out, "{value}") } else { writeln!(out, "{text}") });
        return Exit::Fine;
    }
    let exit = failed(context, &arguments.file, &error.to_string());
    if matches!(error, ReduceError::NoSuchState(_)) { exit } else { Exit::Undecided }
}

/// The state that is asked for.
fn point(arguments: &Reduce, system: &System, options: &LoadOptions) -> Result<Option<Point>, String> {
    let place = &arguments.place;
    if let Some(path) = &place.trace {
        let recorded = traces::read(path, system, place.property.as_deref(), options)?;
        return Ok(Some(Point::Trace(Box::new(recorded.trace), place.step)));
    }
    let moves = place.after.as_ref().map(|moves| Point::Moves(moves.0.clone()));
    Ok(moves.or(place.state.map(Point::Number)))
}

fn head(system: &System) -> Value {
    json!({"schema": ample::SCHEMA, "model": system.name, "language": system.language, "off": null})
}

fn to_json(system: &System, reduction: &Reduction<'_>, arguments: &Reduce) -> Value {
    let mut value = head(system);
    value["off"] = json!(reduction.scheme.as_ref().err());
    value["whole"] = json!(reduction.whole);
    value["reduced"] = json!(reduction.reduced);
    value["choices"] = json!({"asked": reduction.choices.0, "left_out": reduction.choices.1});
    if let Ok(scheme) = &reduction.scheme {
        describe(&mut value, scheme, arguments);
    }
    value
}

/// All that is known of processes, objects and transitions.
fn describe(value: &mut Value, scheme: &Scheme<'_>, arguments: &Reduce) {
    let safe = |safety: Safety| scheme.living().filter(|transition| transition.safe == safety).count();
    let options = options(arguments).unwrap_or_default();
    value["algorithm"] = json!(options.algorithm.to_string());
    if arguments.dependency.is_some() {
        value["dependency"] = json!(options.dependency.to_string());
        value["dependent"] = dependent(scheme);
    }
    value["safe"] = json!({
        "always": safe(Safety::Always), "later": safe(Safety::Later), "never": safe(Safety::Never),
    });
    value["processes"] = json!(scheme.processes());
    value["objects"] = json!(scheme.objects());
    value["conditions"] = json!(scheme.conditions());
    value["transitions"] = json!(scheme.transitions());
    if arguments.explain {
        value["reasons"] = reasons(scheme);
    }
}

/// The pairs of transitions of different processes that depend on each other, each once.
fn dependent(scheme: &Scheme<'_>) -> Value {
    let pairs = scheme.living().flat_map(|one| {
        let others = scheme.living().filter(move |other| other.number > one.number && is_of_another(one, other));
        others.filter_map(move |other| match scheme.dependence(one.number, other.number) {
            Dependence::Never => None,
            when => Some(json!({"pair": [one.number, other.number], "when": when})),
        })
    });
    pairs.collect()
}

/// The transitions have no process in common.
fn is_of_another(one: &Transition, other: &Transition) -> bool {
    !one.steps.iter().any(|step| other.steps.iter().any(|their| their.process == step.process))
}

/// Why transitions do not accord, each pair once.
fn reasons(scheme: &Scheme<'_>) -> Value {
    let pairs = scheme.living().flat_map(|one| {
        let others = one.discord.iter().copied().filter(move |other| *other > one.number);
        others.map(move |other| json!({"pair": [one.number, other], "why": scheme.why(one.number, other)}))
    });
    pairs.collect()
}

/// Writes for people.
struct Text {
    paint: Paint,
}

impl Text {
    fn summary(
        &self,
        out: &mut impl Write,
        reduction: &Reduction<'_>,
        options: &ReduceOptions,
        shows_dependency: bool,
        quiet: bool,
    ) -> io::Result<()> {
        let Reduction { whole, reduced, choices: (asked, left), scheme } = reduction;
        let scheme = match scheme {
            Ok(scheme) => scheme,
            Err(why) => {
                writeln!(out, "  {}, because {why}", self.paint.yellow("nothing can be left out"))?;
                return self.counts(out, "without reduction", whole);
            }
        };
        let forms = scheme.processes().iter().filter(|process| process.id.is_some()).count();
        let different = scheme.processes().iter().filter(|process| is_first_form(process)).count();
        let mut processes = plural(different, "process", "processes");
        if different < forms {
            processes.push_str(&format!(" in {forms} forms"));
        }
        let shared: Vec<_> = scheme.shared();
        let objects = plural(shared.len(), "object is shared", "objects are shared");
        let count = scheme.living().count();
        writeln!(out, "  {processes}, {}, {objects}", plural(count, "transition", "transitions"))?;
        let safe = |safety: Safety| scheme.living().filter(|transition| transition.safe == safety).count();
        let always = safe(Safety::Always);
        let verb = if always == 1 { "is" } else { "are" };
        write!(out, "  {always} {verb} {} (in accord with all of other processes)", self.paint.green("safe"))?;
        match safe(Safety::Later) {
            0 => writeln!(out)?,
            later => writeln!(out, ", {later} more once all processes have been created")?,
        }
        let there = || scheme.processes().iter().filter(|process| process.id.is_some());
        let locations: usize = there().map(|process| process.locations.len()).sum();
        let alone: usize = there().map(|process| process.alone.len()).sum();
        writeln!(out, "  at {alone} of {locations} locations a process can be let go alone")?;
        self.counts(out, "without reduction", whole)?;
        if let Some(reduced) = reduced {
            self.counts(out, "with reduction", reduced)?;
        }
        if quiet {
            return Ok(());
        }
        writeln!(out, "  {}: in {left} of {asked} states with a choice something is left out", options.algorithm)?;
        if shows_dependency {
            return self.dependent_pairs(out, scheme, options.dependency);
        }
        self.obstacles(out, scheme, &shared)?;
        self.hindrances(out, scheme)
    }

    fn dependent_pairs(&self, out: &mut impl Write, scheme: &Scheme<'_>, dependency: Dependency) -> io::Result<()> {
        let (all, dependent, sometimes) = scheme.dependent_pairs();
        let pairs = plural(all, "pair", "pairs");
        write!(out, "  {dependency}: {dependent} of {pairs} of transitions of different processes are dependent")?;
        match sometimes {
            0 => writeln!(out),
            _ => writeln!(out, ", {sometimes} of them only in some states"),
        }
    }

    fn counts(&self, out: &mut impl Write, name: &str, count: &Count) -> io::Result<()> {
        let Count { states, transitions, ended, .. } = count;
        write!(out, "  {name:<17} {states:>9} states, {transitions:>9} transitions")?;
        match ended {
            Some(why) => writeln!(out, "  {}", self.paint.yellow(format!("(cut: {why})"))),
            None => writeln!(out),
        }
    }

    /// What stands in the way of a better reduction.
    fn obstacles(&self, out: &mut impl Write, scheme: &Scheme<'_>, shared: &[(&Object, usize)]) -> io::Result<()> {
        if !shared.is_empty() {
            writeln!(
                out,
                "\n{}",
                self.paint.bold("Shared by most: pairs of transitions that do not accord because of")
            )?;
            let width = shared.iter().take(WORST).map(|(object, _)| object.name.chars().count()).max().unwrap_or(0);
            for (object, pairs) in shared.iter().take(WORST) {
                writeln!(out, "  {:width$}  {pairs:>6}", object.name)?;
            }
        }
        let mut worst: Vec<(usize, &Transition)> = scheme
            .living()
            .map(|one| (scheme.disturbed_by(one).count(), one))
            .filter(|(count, _)| *count > 0)
            .collect();
        worst.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
        if worst.is_empty() {
            return Ok(());
        }
        let all = scheme.living().count();
        writeln!(
            out,
            "\n{}",
            self.paint.bold("In the way of most: transitions, and how many they do not accord with")
        )?;
        for (count, transition) in worst.iter().take(WORST) {
            let anything = if transition.is_global { ": may do anything" } else { "" };
            writeln!(out, "  {}  {count} of {all}{anything}", self.named(scheme, transition))?;
        }
        Ok(())
    }

    fn hindrances(&self, out: &mut impl Write, scheme: &Scheme<'_>) -> io::Result<()> {
        let all = scheme.hindrances();
        if all.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n{}", self.paint.bold("In the way of all"))?;
        for (transition, why) in all.iter().take(WORST) {
            writeln!(out, "  {}\n        {why}", self.named(scheme, transition))?;
        }
        match all.len().saturating_sub(WORST) {
            0 => Ok(()),
            more => writeln!(out, "  and {more} more"),
        }
    }

    /// `[3]  P(0)  model.pml:12  x = 1`
    fn named(&self, scheme: &Scheme<'_>, transition: &Transition) -> String {
        let actors = self.paint.bold(scheme.actors(transition));
        let place = self.paint.dim(places(&transition.steps));
        format!("[{}]  {actors}  {place}  {}", transition.number, one_line(&transition.text))
    }

    fn explanation(&self, out: &mut impl Write, scheme: &Scheme<'_>, dependency: Option<Dependency>) -> io::Result<()> {
        for process in scheme.processes().iter().filter(|process| process.id.is_some()) {
            writeln!(out, "\n{}", self.paint.bold(&process.name))?;
            let mut locations: BTreeMap<u32, Vec<&Transition>> = BTreeMap::new();
            for transition in scheme.living() {
                for step in transition.steps.iter().filter(|step| step.process == process.number) {
                    locations.entry(step.from).or_default().push(transition);
                }
            }
            for (location, transitions) in locations {
                let alone = process.alone.contains(&location);
                let alone = if alone { self.paint.green(": let go alone") } else { String::new() };
                writeln!(out, "  location {location}{alone}")?;
                for transition in transitions {
                    match dependency {
                        Some(_) => self.dependence(out, scheme, transition)?,
                        None => self.transition(out, scheme, transition)?,
                    }
                }
            }
        }
        writeln!(out)?;
        match dependency {
            Some(dependency) => self.dependence_matrix(out, scheme, dependency),
            None => self.matrix(out, scheme),
        }
    }

    /// A transition, and those of other processes that depend on it.
    fn dependence(&self, out: &mut impl Write, scheme: &Scheme<'_>, transition: &Transition) -> io::Result<()> {
        let place = self.paint.dim(places(&transition.steps));
        writeln!(out, "    [{}]  {place}  {}", transition.number, one_line(&transition.text))?;
        for other in scheme.living().filter(|other| is_of_another(transition, other)) {
            let when = match scheme.dependence(transition.number, other.number) {
                Dependence::Never => continue,
                Dependence::Sometimes => "dependent in some states",
                Dependence::Always => "dependent",
            };
            let common: Vec<String> = scheme
                .common(transition.number, other.number)
                .into_iter()
                .map(|(object, one, other)| format!("{}: {one} / {other}", object.name))
                .collect();
            writeln!(out, "         {when}  {}", self.named(scheme, other))?;
            if !common.is_empty() {
                writeln!(out, "           {}", common.join("; "))?;
            }
        }
        Ok(())
    }

    fn dependence_matrix(&self, out: &mut impl Write, scheme: &Scheme<'_>, dependency: Dependency) -> io::Result<()> {
        let all: Vec<&Transition> = scheme.living().collect();
        if all.len() > WIDE {
            return Ok(());
        }
        writeln!(out, "{}", self.paint.bold(format!("Who depends on whom: {dependency}")))?;
        let width = all.iter().map(|one| one.number.to_string().len()).max().unwrap_or(1) + 2;
        let names = all.iter().map(|one| scheme.actors(one).chars().count()).max().unwrap_or(0);
        for one in &all {
            let cell = |other: &&Transition| match scheme.dependence(one.number, other.number) {
                _ if other.number == one.number => '\\',
                _ if !is_of_another(one, other) => '=',
                Dependence::Never => '.',
                Dependence::Sometimes => 's',
                Dependence::Always => 'D',
            };
            let row: String = all.iter().map(cell).collect();
            writeln!(out, "  {:>width$}  {:names$}  {row}", format!("[{}]", one.number), scheme.actors(one))?;
        }
        writeln!(out, "  . independent   D dependent   s dependent in some states   = of the same process")
    }

    fn transition(&self, out: &mut impl Write, scheme: &Scheme<'_>, transition: &Transition) -> io::Result<()> {
        let place = self.paint.dim(places(&transition.steps));
        let safe = match transition.safe {
            Safety::Always => self.paint.green("safe"),
            Safety::Later => self.paint.green("safe once all processes have been created"),
            Safety::Never => self.paint.yellow("not safe"),
        };
        writeln!(out, "    [{}]  {place}  {}  {safe}", transition.number, one_line(&transition.text))?;
        let mut reasons: BTreeMap<String, Vec<&Transition>> = BTreeMap::new();
        for other in &transition.discord {
            let partner = &scheme.transitions()[*other as usize];
            if partner.is_dead || scheme.is_unborn(partner) {
                continue;
            }
            let why: Vec<String> = scheme.why(transition.number, *other).into_iter().map(|why| why.text).collect();
            reasons.entry(why.join("; ")).or_default().push(partner);
        }
        for (why, partners) in reasons {
            writeln!(out, "         {why}")?;
            for partner in partners {
                writeln!(out, "           {}", self.named(scheme, partner))?;
            }
        }
        Ok(())
    }

    fn matrix(&self, out: &mut impl Write, scheme: &Scheme<'_>) -> io::Result<()> {
        let all: Vec<&Transition> = scheme.living().collect();
        writeln!(out, "{}", self.paint.bold("Who does not accord with whom"))?;
        if all.len() > WIDE {
            return self.pairs(out, scheme, &all);
        }
        let width = all.iter().map(|one| one.number.to_string().len()).max().unwrap_or(1) + 2;
        let names = all.iter().map(|one| scheme.actors(one).chars().count()).max().unwrap_or(0);
        for one in &all {
            let cell = |other: &&Transition| match one.discord.contains(&other.number) {
                _ if other.number == one.number => '\\',
                true => scheme.why(one.number, other.number)[0].letter,
                false => '.',
            };
            let row: String = all.iter().map(cell).collect();
            writeln!(out, "  {:>width$}  {:names$}  {row}", format!("[{}]", one.number), scheme.actors(one))?;
        }
        writeln!(
            out,
            "  . accord   = alternatives   d one may disable the other   v same variable   c same channel   \
             a may do anything"
        )
    }

    /// A matrix of processes, with the numbers of pairs of their transitions.
    fn pairs(&self, out: &mut impl Write, scheme: &Scheme<'_>, all: &[&Transition]) -> io::Result<()> {
        let mut pairs: BTreeMap<(u32, u32), usize> = BTreeMap::new();
        for one in all {
            for other in scheme.disturbed_by(one).filter(|other| other.number > one.number) {
                let (first, second) = (one.steps[0].process, other.steps[0].process);
                *pairs.entry((first.min(second), first.max(second))).or_default() += 1;
            }
        }
        let name = |process: u32| scheme.processes()[process as usize].name.as_str();
        let own = |process: u32| all.iter().filter(|one| one.steps[0].process == process).count();
        for ((first, second), count) in pairs {
            let most = own(first) * own(second);
            writeln!(out, "  {} and {}: {count} of {most} pairs", name(first), name(second))?;
        }
        Ok(())
    }

    fn choice(&self, out: &mut impl Write, system: &System, scheme: &Scheme<'_>, choice: &Choice) -> io::Result<()> {
        let after: Vec<String> = choice.after.iter().map(usize::to_string).collect();
        let steps = plural(after.len(), "move", "moves");
        let path = if after.is_empty() { String::new() } else { format!(": {}", after.join(",")) };
        writeln!(out, "  after {steps}{path}")?;
        let extent = Extent { hint: "--json has all", ..Extent::SCREEN };
        state::state(out, system, &choice.state, extent)?;
        let taken = choice.enabled.iter().filter(|one| one.taken).count();
        let count = choice.enabled.len();
        writeln!(out, "\n{}", self.paint.bold(format!("{count} enabled, {taken} taken")))?;
        for one in &choice.enabled {
            let mark = if one.taken { self.paint.green("taken   ") } else { self.paint.yellow("left out") };
            let number = one.transition.map_or(String::new(), |number| format!("[{number}]"));
            let (process, place) = (self.paint.bold(&one.process), self.paint.dim(place(&one.at)));
            writeln!(out, "  {:>3}  {mark}  {number:>5}  {process}  {place}  {}", one.number, one_line(&one.text))?;
        }
        if let Some(note) = &choice.note {
            writeln!(out, "  {note}")?;
        }
        if let Some(closure) = choice.chosen.and_then(|chosen| choice.closures.get(chosen)) {
            writeln!(out, "\n{}", self.paint.bold("How the set came about"))?;
            return self.closure(out, scheme, closure);
        }
        let Some(closure) = choice.closures.iter().min_by_key(|closure| closure.members.len()) else { return Ok(()) };
        writeln!(out, "\n{}", self.paint.bold("Whatever a set begins with, it comes to all of them; for one"))?;
        self.closure(out, scheme, closure)
    }

    fn closure(&self, out: &mut impl Write, scheme: &Scheme<'_>, closure: &Closure) -> io::Result<()> {
        for member in &closure.members {
            let transition = &scheme.transitions()[member.transition as usize];
            let enabled = if member.enabled { self.paint.green("enabled ") } else { self.paint.dim("disabled") };
            writeln!(out, "  {enabled}  {}", self.named(scheme, transition))?;
            writeln!(out, "            {}", member.why)?;
        }
        Ok(())
    }
}

fn plural(number: usize, one: &str, more: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { more })
}

/// The places of all steps: `file:line`, or `file:line,line`.
fn places(steps: &[Step]) -> String {
    let mut text = String::new();
    for place in steps.iter().map(|step| place(&step.at)) {
        match place.rsplit_once(':') {
            Some((file, line)) if text.starts_with(&format!("{file}:")) => text.push_str(&format!(",{line}")),
            _ if text.is_empty() => text.push_str(place),
            _ => text.push_str(&format!(" {place}")),
        }
    }
    text
}

/// Of the processes with one id and several forms it is the first.
fn is_first_form(process: &Process) -> bool {
    process.id.is_some() && !process.name.contains(" #")
}
