//! `ample sog`: the symbolic observation graph of a model, and formulas on it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use ample::sog::{
    self, Built, Counterexample, DiagramKind, Judged, Names, SavedGraph, SogError, SogFormula, SogOptions,
};
use ample::{Budget, LoadError, Loaded, Progress, Question, SogSpread, Workers, pictures};
use serde_json::{Value, json};

use super::arguments::{Common, Sog};
use super::cluster::{self, Forming, Leading, Part};
use super::layout::Extent;
use super::progress::Display;
use super::state;
use super::steps::{Columns, Steps};
use super::text::{bytes, group_size};
use super::{Context, Exit, complain, diagnostics, failed, load, output, print, print_json};

/// Builds the graph, or checks formulas while it is being built, or on one that was saved.
pub fn sog(arguments: &Sog, context: &Context) -> Exit {
    let outputs = arguments.dot.iter().chain(&arguments.svg).chain(&arguments.save).chain(&arguments.costs);
    let outputs: Vec<&Path> = outputs.map(PathBuf::as_path).collect();
    if let Some(first) = outputs.first()
        && let Some(why) = output::conflict(&outputs, &[&arguments.file])
    {
        return failed(context, first, &why);
    }
    let forming =
        Forming { options: &arguments.cluster, common: &arguments.common, threads: arguments.threads, asked: "" };
    if let Some(exit) = cluster::follow(&arguments.file, &forming, context) {
        return exit;
    }
    if arguments.cluster.is_asked()
        && let Some(why) = not_distributed(arguments)
    {
        return failed(context, &arguments.file, why);
    }
    if let Some(graph) = &arguments.graph {
        let (formulas, options) = (&arguments.ltl, &arguments.options);
        return on_saved_graph(&arguments.file, graph, formulas, options, &arguments.common, context);
    }
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let options = match options(&loaded, arguments, &budget) {
        Ok(options) => options,
        Err(message) => return failed(context, &arguments.file, &message),
    };
    let asked = format!("{:?} {options:?}", arguments.ltl);
    let leading =
        match cluster::join(&arguments.file, Some(&loaded.system), &Forming { asked: &asked, ..forming }, context) {
            Ok(Part::Alone) => None,
            Ok(Part::First(leading)) => Some(leading),
            Ok(Part::Done(exit)) | Err(exit) => return exit,
        };
    let workers = leading.as_ref().map(Leading::workers);
    let told = Told::new(arguments, workers.clone(), context);
    let budget = told.listening(&budget);
    let exit = if arguments.ltl.is_empty() {
        let built = match &workers {
            None => sog::build(&loaded.system, &options, &budget).map(|built| (built, None)),
            Some(Workers(cluster)) => {
                let built = cluster.build_sog(&loaded.system, &options, &budget);
                built.map(|(built, spread)| (built, Some(spread)))
            }
        };
        match built {
            Ok((built, spread)) => match save(&loaded, &built, &options, arguments, &budget) {
                Ok(()) => {
                    told.finish();
                    show_graph(&loaded, &built, spread.as_ref(), arguments, context)
                }
                Err(error) => told.undecided(&error, &arguments.file, context),
            },
            Err(error) => told.undecided(&error, &arguments.file, context),
        }
    } else {
        let check = |formula: &SogFormula| match &workers {
            None => sog::check(&loaded.system, formula, &options, &budget).map(|judged| (judged, None)),
            Some(Workers(cluster)) => {
                let judged = cluster.check_sog(&loaded.system, formula, &options, options.on_demand, &budget);
                judged.map(|(judged, spread)| (judged, Some(spread)))
            }
        };
        check_formulas(&loaded, &arguments.ltl, &budget, &check, &told, context)
    };
    if let Some(leading) = leading {
        leading.finish();
    }
    exit
}

/// Why several processes cannot do what is asked, if they cannot.
fn not_distributed(arguments: &Sog) -> Option<&'static str> {
    if arguments.graph.is_some() {
        return Some("a graph that was saved is checked within one process, not with `--processes` or `--hosts`");
    }
    if arguments.costs.is_some() {
        return Some("`--costs` measures one thread, and works without `--processes` and `--hosts`");
    }
    (arguments.options.diagrams == DiagramKind::Both)
        .then_some("`--diagrams both` works within one process, not with `--processes` or `--hosts`")
}

/// Checks formulas on a graph that was saved.
pub fn on_saved_graph(
    file: &Path,
    graph: &Path,
    formulas: &[String],
    options: &SogOptions,
    common: &Common,
    context: &Context,
) -> Exit {
    let budget = context.budget(file, common);
    let loaded = match load(file, common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let saved = match SavedGraph::read(graph, &budget) {
        Ok(saved) => saved,
        Err(error) => {
            failed(context, file, &error.to_string());
            return exit_of(&error);
        }
    };
    let check = |formula: &SogFormula| {
        let named = |why: String| SogError::File(format!("{}: {why}", graph.display()));
        saved.check(&loaded.system, formula, options, &budget).map(|judged| (judged, None)).map_err(|error| match error
        {
            SogError::File(why) => named(why),
            error => error,
        })
    };
    check_formulas(&loaded, formulas, &budget, &check, &Told::default(), context)
}

/// How far a graph has come.
#[derive(Default)]
struct Told {
    display: Option<Arc<Display>>,
    last: Arc<Mutex<Progress>>,
}

impl Told {
    fn new(arguments: &Sog, workers: Option<Workers>, context: &Context) -> Told {
        let display = Display::new(arguments.progress, context.quiet).of(workers);
        Told { display: Some(Arc::new(display)), last: Arc::default() }
    }

    /// The budget of work that tells it.
    fn listening(&self, budget: &Budget) -> Budget {
        let (display, last) = (self.display.clone(), Arc::clone(&self.last));
        budget.clone().with_sink(move |progress| {
            if progress.aggregates > 0 {
                *last.lock().unwrap_or_else(PoisonError::into_inner) = *progress;
            }
            display.iter().for_each(|display| display.show(progress));
        })
    }

    /// Nothing more comes of this graph.
    fn finish(&self) -> Progress {
        self.display.iter().for_each(|display| display.finish());
        std::mem::take(&mut *self.last.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// There is no graph.
    fn undecided(&self, error: &SogError, file: &Path, context: &Context) -> Exit {
        let last = self.finish();
        let message = error.to_string();
        if context.json {
            complain(|out| writeln!(out, "{} {message}", context.err.red("Error:")));
            print_json(&json!({
                "schema": ample::SCHEMA, "model": file.display().to_string(), "complete": false, "results": [],
                "error": message, "diagnostics": [], "aggregates": counted(&last),
            }));
        } else {
            failed(context, file, &message);
            show_counted(&last);
        }
        exit_of(error)
    }
}

/// What there was of a graph when it ended early.
fn counted(last: &Progress) -> Value {
    json!({"found": last.aggregates, "expanded": last.aggregates.saturating_sub(last.pending), "complete": false})
}

fn show_counted(last: &Progress) {
    if last.aggregates > 0 {
        let (found, expanded) = (last.aggregates, last.aggregates.saturating_sub(last.pending));
        print(|out| {
            writeln!(out, "{found:>9} aggregates so far, {expanded} of them expanded; the graph is not complete")
        });
    }
}

/// What comes of a formula, and how the work was spread if several processes did it.
type Checked = Result<(Judged, Option<SogSpread>), SogError>;

/// Reads formulas, checks them, and shows what was found.
fn check_formulas(
    loaded: &Loaded,
    formulas: &[String],
    budget: &Budget,
    check: &dyn Fn(&SogFormula) -> Checked,
    told: &Told,
    context: &Context,
) -> Exit {
    let mut exit = Exit::Fine;
    for text in formulas {
        let one = match of_file(loaded, text).map_or_else(|| sog::formula_within(loaded, text, budget), Ok) {
            Ok(formula) => match check(&formula) {
                Ok((judged, spread)) => {
                    told.finish();
                    show_verdict(loaded, text, &judged, spread.as_ref(), context)
                }
                Err(error) => show_unknown(loaded, text, &error, &told.finish(), context),
            },
            Err(error) => show_refused(loaded, text, &error, context),
        };
        exit = exit.min(one);
    }
    exit
}

/// Writes the graph, and what it cost, to files if that is wanted.
fn save(
    loaded: &Loaded,
    built: &Built,
    options: &SogOptions,
    arguments: &Sog,
    budget: &Budget,
) -> Result<(), SogError> {
    if let Some(path) = &arguments.costs {
        let text = serde_json::to_vec(&json!({"aggregates": built.costs})).unwrap_or_default();
        output::write(path, &text).map_err(SogError::File)?;
    }
    let Some(path) = &arguments.save else { return Ok(()) };
    let bytes = SavedGraph::of(&loaded.system, built, options, budget)?.to_bytes(budget)?;
    output::write(path, &bytes).map_err(SogError::File)
}

/// The formula of that name in the file.
fn of_file(loaded: &Loaded, name: &str) -> Option<SogFormula> {
    let property = loaded.system.properties.iter().find(|property| property.name == name)?;
    let Question::Ltl(temporal) = &property.question else { return None };
    temporal.atoms.iter().all(|atom| sog::is_kept(&loaded.system, atom).is_ok()).then(|| SogFormula::stated(temporal))
}

fn options(loaded: &Loaded, arguments: &Sog, budget: &Budget) -> Result<SogOptions, String> {
    let expression =
        |text: &String| loaded.expression_within(text, budget).map_err(|error| format!("`{text}`: {error}"));
    let mut options = SogOptions {
        atoms: arguments.atoms.iter().map(expression).collect::<Result<_, _>>()?,
        threads: arguments.threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from)),
        costs: arguments.costs.is_some(),
        ..arguments.options.clone()
    };
    options.observe.retain(|name| !name.is_empty());
    Ok(options)
}

/// A formula that is refused, which is no reason not to look at the others.
fn show_refused(loaded: &Loaded, formula: &str, error: &LoadError, context: &Context) -> Exit {
    complain(|out| diagnostics::load_error(out, error, context.err));
    let reason = format!("the formula is refused: {error}");
    show_reason(loaded, formula, &reason, diagnostics::of_error(error), &Progress::default(), context);
    Exit::Wrong
}

/// A formula that has no verdict.
fn show_unknown(loaded: &Loaded, formula: &str, error: &SogError, last: &Progress, context: &Context) -> Exit {
    let reason = error.to_string();
    complain(|out| writeln!(out, "{} {reason}", context.err.red("Error:")));
    show_reason(loaded, formula, &reason, Vec::new(), last, context);
    exit_of(error)
}

fn show_reason(
    loaded: &Loaded,
    formula: &str,
    reason: &str,
    diagnostics: Vec<Value>,
    last: &Progress,
    context: &Context,
) {
    let model = &loaded.system.name;
    if context.json {
        print_json(&json!({
            "schema": ample::SCHEMA, "model": model, "formula": formula, "verdict": "unknown", "reason": reason,
            "error": reason, "diagnostics": diagnostics, "aggregates": counted(last),
        }));
        return;
    }
    print(|out| {
        writeln!(out, "{}", context.out.bold(model))?;
        writeln!(out, "  {} {formula}: {reason}", context.out.yellow("unknown"))
    });
    show_counted(last);
}

fn exit_of(error: &SogError) -> Exit {
    match error {
        SogError::NoSuchAction(_) | SogError::Formula(_) | SogError::File(_) => Exit::Wrong,
        SogError::Ended(_) | SogError::Internal(_) => Exit::Undecided,
    }
}

fn show_graph(loaded: &Loaded, built: &Built, spread: Option<&SogSpread>, arguments: &Sog, context: &Context) -> Exit {
    let names = Names { actions: &built.actions, atoms: &built.atoms };
    if let Some(path) = &arguments.dot
        && let Err(error) = std::fs::write(path, sog::dot(&built.graph, names))
    {
        return failed(context, path, &format!("cannot write {}: {error}", path.display()));
    }
    if let Some(path) = &arguments.svg {
        let title = format!("{}: the observation graph", loaded.system.name);
        let svg = pictures::observation_graph(&built.graph, names, &title).svg();
        if let Err(why) = output::write(path, svg.as_bytes()) {
            return failed(context, path, &why);
        }
    }
    if context.json {
        print_json(&with_spread(graph_json(loaded, built, names), spread));
        return Exit::Fine;
    }
    print(|out| {
        writeln!(out, "{}", context.out.bold(&loaded.system.name))?;
        statistics(out, built)?;
        spread.map_or(Ok(()), |spread| cluster_statistics(out, spread))
    });
    tell_endless(built.has_endless_sequences, context);
    Exit::Fine
}

/// What stays in an atomic sequence for ever does not count, which may be a surprise.
fn tell_endless(has_endless_sequences: bool, context: &Context) {
    if has_endless_sequences && !context.quiet {
        complain(|out| writeln!(out, "Note: {}.", sog::ENDLESS));
    }
}

fn statistics(out: &mut impl Write, built: &Built) -> io::Result<()> {
    let size = built.graph.size();
    writeln!(out, "{:>12} aggregates", size.aggregates)?;
    writeln!(out, "{:>12} arcs", size.arcs)?;
    if size.silent > 0 {
        writeln!(out, "{:>12} of them are labelled τ", size.silent)?;
    }
    writeln!(out, "{:>12} aggregates have a dead state", size.dead)?;
    writeln!(out, "{:>12} aggregates have a cycle of unobserved actions", size.divergent)?;
    writeln!(out, "{:>12} states in all aggregates", size.states)?;
    writeln!(out, "{:>12} nodes of all aggregates ({})", size.nodes, built.engine)?;
    writeln!(out, "{:>12} bytes of sets", size.bytes)?;
    seconds(out, built.took, &built.times)
}

/// A report with the figures of the workers, if there were some.
fn with_spread(mut report: Value, spread: Option<&SogSpread>) -> Value {
    if let Some(spread) = spread {
        report["cluster"] = json!(spread);
    }
    report
}

/// How the work was spread over several processes.
fn cluster_statistics(out: &mut impl Write, spread: &SogSpread) -> io::Result<()> {
    let SogSpread { processes, threads, messages, message_bytes, checker_messages, checker_bytes, .. } = spread;
    let (sent, wire) = (bytes(*message_bytes), bytes(spread.wire_bytes));
    writeln!(
        out,
        "{}: {messages} messages with aggregates, {sent}; {wire} over the network",
        group_size(*processes, *threads)
    )?;
    if *checker_messages > 0 {
        writeln!(out, "{checker_messages} messages from and to the checker, {}", bytes(*checker_bytes))?;
    }
    let expanded: Vec<String> = spread.workers.iter().map(|worker| worker.expanded.to_string()).collect();
    writeln!(
        out,
        "Aggregates expanded by worker: {}; balance {:.2} (mean/max), {:.2} of the time busy",
        expanded.join(" "),
        spread.balance,
        spread.busy_balance
    )?;
    let waited: f64 = spread.workers.iter().map(|worker| worker.waited_s).sum();
    let waited = waited / spread.workers.len().max(1) as f64;
    writeln!(out, "A worker has waited for others for {waited:.3} seconds on average")
}

/// The time; with each kind of diagrams, if there were two.
fn seconds(out: &mut impl Write, took: Duration, times: &[(&str, Duration)]) -> io::Result<()> {
    writeln!(out, "{:.3} seconds", took.as_secs_f64())?;
    for (diagrams, time) in times.iter().filter(|_| times.len() > 1) {
        writeln!(out, "{:.3} seconds of them with {diagrams}", time.as_secs_f64())?;
    }
    Ok(())
}

/// The time with each kind of diagrams.
fn times_json(times: &[(&str, Duration)]) -> Value {
    times.iter().map(|(diagrams, time)| json!({"engine": diagrams, "time_s": time.as_secs_f64()})).collect()
}

fn graph_json(loaded: &Loaded, built: &Built, names: Names<'_>) -> Value {
    let size = built.graph.size();
    json!({
        "schema": ample::SCHEMA,
        "model": loaded.system.name,
        "engine": built.engine,
        "endless_sequences": built.has_endless_sequences,
        "time_s": built.took.as_secs_f64(),
        "times": times_json(&built.times),
        "statistics": {
            "aggregates": size.aggregates, "arcs": size.arcs, "silent": size.silent, "dead": size.dead,
            "divergent": size.divergent, "states": size.states.to_string(), "nodes": size.nodes, "bytes": size.bytes,
        },
        "work": built.work,
        "graph": sog::json(&built.graph, names),
    })
}

fn show_verdict(
    loaded: &Loaded,
    formula: &str,
    judged: &Judged,
    spread: Option<&SogSpread>,
    context: &Context,
) -> Exit {
    let exit = if judged.violation.is_some() { Exit::Violated } else { Exit::Fine };
    let (found, expanded) = judged.aggregates;
    let violation = judged.violation.as_ref().map(Counterexample::violation);
    if context.json {
        let judged = json!({
            "schema": ample::SCHEMA,
            "model": loaded.system.name,
            "formula": formula,
            "verdict": if judged.violation.is_some() { "violated" } else { "holds" },
            "violation": violation,
            "end": violation.and_then(|shown| ample::simulate::end_of(&loaded.system, &shown.trace)),
            "engine": judged.engine,
            "endless_sequences": judged.has_endless_sequences,
            "time_s": judged.took.as_secs_f64(),
            "times": times_json(&judged.times),
            "aggregates": {"found": found, "expanded": expanded, "complete": judged.size.is_some()},
            "product": {"states": judged.product.states, "transitions": judged.product.transitions},
            "work": judged.work,
        });
        print_json(&with_spread(judged, spread));
        return exit;
    }
    print(|out| {
        writeln!(out, "{}", context.out.bold(&loaded.system.name))?;
        match violation {
            None => writeln!(out, "  {} {formula}", context.out.green("holds"))?,
            Some(violation) => {
                writeln!(out, "  {} {formula}", context.out.red("violated"))?;
                if !context.quiet {
                    writeln!(out, "  {}", violation.message)?;
                    let columns = Columns::fitting(&violation.trace, &[]);
                    let extent = Extent { hint: "--json has all", ..Extent::SCREEN };
                    Steps::new(columns, extent, context.out, &loaded.system.language).trace(out, &violation.trace)?;
                    if let Some(end) = ample::simulate::end_of(&loaded.system, &violation.trace) {
                        state::at_end(out, &loaded.system, &violation.trace, &end, extent)?;
                    }
                }
            }
        }
        if context.quiet {
            return Ok(());
        }
        let whole = if judged.size.is_some() { ", the whole graph" } else { "" };
        writeln!(out, "{found:>9} aggregates, {expanded} of them expanded{whole}")?;
        writeln!(out, "{:>9} states of the product ({})", judged.product.states, judged.engine)?;
        seconds(out, judged.took, &judged.times)?;
        spread.map_or(Ok(()), |spread| cluster_statistics(out, spread))
    });
    if judged.violation.is_none() && judged.size.is_none() && !context.quiet {
        complain(|out| writeln!(out, "The verdict did not need the rest of the graph."));
    }
    tell_endless(judged.has_endless_sequences, context);
    exit
}
