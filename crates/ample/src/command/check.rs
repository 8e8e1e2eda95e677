//! `ample check` and `ample states`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use ample::sog::SogOptions;
use ample::witness_circuits;
use ample::{
    Asked, Board, Budget, CheckOptions, Checkpoint, HeuristicKind, Interrupted, LoadError, Property, Question, Report,
    System, UnreachedCode, Verdict,
};
use ample_lang::export::aig::Aig;
use ample_lang::export::witness::{Status, label, witness};
use ample_model::Expr;
use clap::ValueEnum;

use super::arguments::{self, Check, States};
use super::cluster::{self, Forming, Leading, Part};
use super::progress::Display;
use super::questions::{Questions, empty_report, typed};
use super::text::{self, View};
use super::{
    Context, Exit, complain, diagnostics, failed, guarded, load, load_model, load_options, not_reached, print,
    print_json, refused, show_refused, traces,
};
use super::{formats, output, pictures, sog, supervisor};

/// Checks the files one after the other.
pub fn check(arguments: &Check, context: &Context) -> Exit {
    if let Some(graph) = &arguments.graph {
        return match &arguments.files[..] {
            [file] => {
                let formulas = &arguments.properties.ltl;
                sog::on_saved_graph(file, graph, formulas, &SogOptions::default(), &arguments.common, context)
            }
            [_, second, ..] => {
                let why = format!("--graph {} is of one model, and there is another one", graph.display());
                failed(context, second, &why)
            }
            [] => Exit::Fine,
        };
    }
    let charts = arguments.msc.iter().flatten();
    let outputs = arguments.trace.iter().chain(&arguments.certificate).chain(&arguments.witness).chain(charts.clone());
    let outputs: Vec<&Path> = outputs.map(PathBuf::as_path).collect();
    if let Some(first) = outputs.first() {
        let inputs =
            arguments.files.iter().chain(&arguments.properties.formulas).chain(&arguments.properties.automaton);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        if let Some(why) = output::conflict(&outputs, &inputs) {
            return failed(context, first, &why);
        }
    }
    if let (Some(witness), [_, second, ..]) = (&arguments.witness, &arguments.files[..]) {
        let why = format!("--witness {} is for one circuit, and there is another one", witness.display());
        return failed(context, second, &why);
    }
    if let (Some(path), [_, second, ..]) = (&arguments.certificate, &arguments.files[..])
        && is_circuit(path)
    {
        let why = format!("--certificate {} is for one circuit, and there is another one", path.display());
        return failed(context, second, &why);
    }
    if let (true, [_, second, ..]) = (arguments.search.cluster.is_asked(), &arguments.files[..]) {
        return failed(context, second, "a group of processes checks one model, and there is another one");
    }
    if let (Some(path), [_, second, ..]) = (&arguments.search.checkpoint, &arguments.files[..]) {
        let why = format!("--checkpoint {} is for one model, and there is another one", path.display());
        return failed(context, second, &why);
    }
    if let (Some(path), [_, second, ..]) = (charts.last(), &arguments.files[..]) {
        let why = format!("--msc={} is for one model, and there is another one", path.display());
        return failed(context, second, &why);
    }
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    for (number, file) in arguments.files.iter().enumerate() {
        let one = guarded(context, file, || match check_file(file, arguments, context) {
            Ok((report, exit)) => {
                // Only what goes into files is needed again.
                if arguments.trace.is_some() || arguments.certificate.is_some() {
                    reports.push(report);
                }
                exit
            }
            Err(exit) => exit,
        });
        exit = exit.min(one);
        if context.interrupt.load(std::sync::atomic::Ordering::Relaxed) {
            exit = exit.min(Exit::Undecided);
            let left = &arguments.files[number + 1..];
            left.iter().for_each(|file| not_reached(file, Interrupted::Cancelled, (context.json, context.err)));
            break;
        }
    }
    if let Some(path) = &arguments.trace {
        let text = traces::to_json(&reports).map_err(|error| error.to_string());
        exit = exit.min(write(path, text, context));
    }
    if let Some(path) = arguments.certificate.as_ref().filter(|path| !is_circuit(path)) {
        exit = exit.min(write(path, Ok(certificates(&reports).into_bytes()), context));
    }
    exit
}

/// All certificates of some reports, as a list in JSON.
fn certificates(reports: &[Report]) -> String {
    let answers = reports.iter().flat_map(|report| &report.answers);
    let all: Vec<&str> = answers.filter_map(|answer| Some(answer.certificate.as_ref()?.trim_end())).collect();
    format!("[{}]\n", all.join(",\n"))
}

/// The file is to be a circuit in AIGER's format.
fn is_circuit(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "aag" || extension == "aig")
}

/// Writes the proof of one property of a circuit as a witness circuit, which is verified before.
fn write_witness_circuit(
    path: &Path,
    (file, system): (&Path, &System),
    properties: &[Property],
    report: &Report,
    budget: &Budget,
) -> Result<(), String> {
    let proved: Vec<_> = report.answers.iter().filter(|answer| answer.verdict() == Verdict::Holds).collect();
    let answer = match proved[..] {
        [] => return Ok(()),
        [answer] => answer,
        _ => return Err("a witness circuit is for one property, and several hold: name one of them".into()),
    };
    let Some(certificate) = &answer.certificate else {
        return Err(format!("the {} engine has no certificates; `--engine bounded` has", answer.engine));
    };
    let Some(property) = properties.iter().find(|property| property.id() == answer.property) else { return Ok(()) };
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let model = witness_circuits::model(system, property, budget).map_err(|why| why.to_string())?;
    let numbering = witness_circuits::Numbering::of(&model, &String::from_utf8_lossy(&bytes));
    let circuit = witness_circuits::witness_circuit(&model, &numbering, certificate).map_err(|why| why.to_string())?;
    let (name, label) = (file.display().to_string(), label(system, &answer.property));
    // What is written is read again to be verified.
    let text = witness_circuits::written(&circuit, false, &label, &name);
    let read = ample::load_text("witness.aag", String::from_utf8_lossy(&text).into_owned(), &Default::default());
    let read = read.map_err(|error| error.to_string())?;
    let read = Aig::of(&read.system, &[], budget).map_err(|why| why.to_string())?;
    witness_circuits::verify(&model, &numbering, &read, budget).map_err(|why| why.to_string())?;
    let is_binary = path.extension().is_some_and(|extension| extension == "aig");
    output::write(path, &witness_circuits::written(&circuit, is_binary, &label, &name)).map_err(|why| why.to_string())
}

fn check_file(file: &Path, arguments: &Check, context: &Context) -> Result<(Report, Exit), Exit> {
    if let Some(exit) = cluster::follow(file, &forming(&arguments.search, &arguments.common, ""), context) {
        return Err(exit);
    }
    // An expression is read when there is a model; until then any will do.
    let kind = arguments.heuristic.as_deref().map(|text| HeuristicKind::from_str(text.trim(), false).map_err(|_| text));
    let heuristic = if matches!(kind, Some(Err(_))) { Some(Expr::TRUE) } else { None };
    let mut asked = options(&arguments.search, &Budget::unlimited());
    if let Some(Ok(kind)) = kind {
        asked.engines.explicit.heuristic = kind;
    }
    let consistent = CheckOptions { heuristic, ..asked.clone() }.chosen_engine(Asked::Answers);
    consistent.map_err(|why| failed(context, file, &why))?;
    if arguments.search.cluster.is_asked() {
        let asked = CheckOptions {
            unreached: unreached_code(arguments),
            fairness: arguments.temporal.fairness,
            ..asked.clone()
        };
        asked.not_distributed(Asked::Answers).map_or(Ok(()), |why| Err(failed(context, file, &why)))?;
    }
    let budget = context.budget(file, &arguments.common);
    let mut loaded = load_model(file, &arguments.common, context, &budget)?;
    if let Some(why) = context.focus.refused(&loaded.system) {
        return Err(failed(context, file, &why));
    }
    let questions = Questions::of(&loaded, arguments, &load_options(&arguments.common, &budget));
    let mut questions = questions.map_err(|error| refused(context, file, &error))?;
    show_refused(context, &loaded, questions.refused_unasked(&loaded));
    let mut justice = Vec::new();
    for text in &arguments.temporal.justice {
        match loaded.expression_within(text, &budget) {
            Ok(condition) => justice.push(condition),
            Err(error @ LoadError::Interrupted { .. }) => return Err(refused(context, file, &error)),
            Err(error) => questions.refuse_runs(&loaded, text, error),
        }
    }
    for refused in questions.refused() {
        complain(|out| diagnostics::load_error(out, &refused.error, context.err));
    }
    let heuristic = match kind {
        Some(Err(text)) => {
            Some(loaded.expression_within(text, &budget).map_err(|error| refused(context, file, &error))?)
        }
        _ => None,
    };
    let properties = questions.properties();
    ample::adapt(&mut loaded.system, &properties);
    for condition in justice.iter().chain(&heuristic) {
        ample::adapt(&mut loaded.system, &[typed("", Question::Invariant(condition.clone()))]);
    }
    let questions_asked = format!("{properties:?} {justice:?}");
    let forming = forming(&arguments.search, &arguments.common, &questions_asked);
    let leading = match cluster::join(file, Some(&loaded.system), &forming, context)? {
        Part::Alone => None,
        Part::First(leading) => Some(leading),
        Part::Done(exit) => return Err(exit),
    };
    let (system, questions) = (Arc::new(loaded.system), Arc::new(questions));
    let nothing_left = properties.is_empty();
    let view = match (context.quiet || nothing_left, &arguments.msc) {
        (true, _) => View::Nothing,
        (false, Some(None)) => View::Chart,
        (false, None | Some(Some(_))) => View::Steps,
    };
    let board = supervised(&system, &questions, view, context);
    let options = CheckOptions {
        board: Some(Arc::clone(&board)),
        properties: Some(properties),
        stop_at_first: arguments.stop_at_first,
        fairness: arguments.temporal.fairness,
        justice,
        heuristic,
        no_vacuity: arguments.temporal.no_vacuity,
        unreached: unreached_code(arguments),
        reductions: arguments.reductions.reductions.0.clone(),
        cluster: leading.as_ref().map(Leading::workers),
        ..options(&arguments.search, &budget)
    };
    let mut options = options;
    options.engines.explicit = asked.engines.explicit;
    prepare_checkpoint(&mut options, &system, context)?;
    options.engines.bounded.invariants_only = arguments.certificate.as_ref().is_some_and(|path| is_circuit(path));
    let mut report = match nothing_left {
        true => empty_report(&system),
        false => search(options, &board, &arguments.search, context, |options| ample::check(&system, options)),
    };
    report.cluster = leading.map(Leading::finish);
    questions.complete(&mut report);
    show_answers(&system, &questions, &report, view, context);
    show_diagrams(&report, &arguments.search, context);
    let is_all_executed = matches!(&report.unreached, Some(Ok(statements)) if statements.is_empty());
    if arguments.unreached.unreached && is_all_executed && view != View::Nothing && !context.json {
        print(|out| std::io::Write::write_all(out, b"\nunreached: none, every statement is executed in some run\n"));
    }
    if let Some(Some(path)) = &arguments.msc {
        write_charts(path, &system, &report, context).map_err(|why| failed(context, file, &why))?;
    }
    if let Some(path) = &arguments.witness {
        write_witness(path, &system, &questions.properties(), &report).map_err(|why| failed(context, file, &why))?;
    }
    if let Some(path) = arguments.certificate.as_ref().filter(|path| is_circuit(path)) {
        let written = write_witness_circuit(path, (file, &system), &questions.properties(), &report, &budget);
        written.map_err(|why| failed(context, file, &why))?;
    }
    let verdict: Exit = report.verdict().into();
    let exit = if questions.refused().next().is_some() { Exit::Wrong } else { verdict };
    Ok((report, exit))
}

/// Where answers are posted. If the supervisor has to end the work, it reports what is on it.
fn supervised(system: &Arc<System>, questions: &Arc<Questions>, view: View, context: &Context) -> Arc<Board> {
    let board = Arc::new(Board::default());
    let (seen, system, context) = (Arc::clone(&board), Arc::clone(system), context.clone());
    let (questions, begun) = (Arc::clone(questions), Instant::now());
    supervisor::report_at_the_end(move |reason| {
        let mut report = seen.report(&system, &reason.into());
        questions.complete(&mut report);
        report.statistics.memory_bytes = ample::peak_memory().unwrap_or(0);
        report.statistics.time_s = begun.elapsed().as_secs_f64();
        show_answers(&system, &questions, &report, view, &context);
    });
    board
}

/// Shows a report with what is refused in it.
fn show_answers(system: &System, questions: &Questions, report: &Report, view: View, context: &Context) {
    if context.json
        && questions.refused().next().is_some()
        && let Ok(value) = questions.json(report)
    {
        return print_json(&value);
    }
    show(system, report, view, context);
}

/// Counts the states.
pub fn states(arguments: &States, context: &Context) -> Exit {
    if arguments.picture.svg.is_some() || arguments.picture.dot.is_some() {
        return pictures::state_graph(arguments, context);
    }
    let forming = forming(&arguments.search, &arguments.common, "");
    if let Some(exit) = cluster::follow(&arguments.file, &forming, context) {
        return exit;
    }
    if let Err(exit) = is_consistent(&arguments.search, Asked::Count, &arguments.file, context) {
        return exit;
    }
    if arguments.search.cluster.is_asked()
        && let Some(why) = options(&arguments.search, &Budget::unlimited()).not_distributed(Asked::Count)
    {
        return failed(context, &arguments.file, &why);
    }
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    let leading = match cluster::join(&arguments.file, Some(&loaded.system), &forming, context) {
        Ok(Part::Alone) => None,
        Ok(Part::First(leading)) => Some(leading),
        Ok(Part::Done(exit)) | Err(exit) => return exit,
    };
    let system = Arc::new(loaded.system);
    let board = supervised(&system, &Arc::default(), View::Steps, context);
    let cluster = leading.as_ref().map(Leading::workers);
    let mut options = CheckOptions { cluster, ..options(&arguments.search, &budget) };
    if let Err(exit) = prepare_checkpoint(&mut options, &system, context) {
        return exit;
    }
    let mut report = search(options, &board, &arguments.search, context, |options| ample::states(&system, options));
    report.cluster = leading.map(Leading::finish);
    show(&system, &report, View::Steps, context);
    show_diagrams(&report, &arguments.search, context);
    report.verdict().into()
}

/// How a group of processes is to be formed, if one is asked for.
fn forming<'a>(search: &'a arguments::Search, common: &'a arguments::Common, asked: &'a str) -> Forming<'a> {
    Forming { options: &search.cluster, common, threads: search.threads, asked }
}

/// Whether the statements that no run executes are asked for.
fn unreached_code(arguments: &Check) -> UnreachedCode {
    match (arguments.unreached.unreached, arguments.unreached.no_unreached) {
        (true, _) => UnreachedCode::Required,
        (false, true) => UnreachedCode::Ignored,
        (false, false) => UnreachedCode::IfKnown,
    }
}

fn options(search: &arguments::Search, budget: &Budget) -> CheckOptions {
    CheckOptions {
        engine: search.engine,
        engines: search.engines,
        partial_order: search.por,
        max_depth: search.max_depth,
        checkpoint: search.checkpoint.as_ref().map(|path| Checkpoint {
            path: path.clone(),
            every: search.checkpoint_every,
            subject: 0,
        }),
        budget: match search.threads {
            Some(threads) => budget.clone().with_threads(threads),
            None => budget.clone(),
        },
        ..CheckOptions::default()
    }
}

/// Makes sure that the search can go on from its checkpoint, if it has one.
fn prepare_checkpoint(options: &mut CheckOptions, system: &System, context: &Context) -> Result<(), Exit> {
    let path = options.checkpoint.as_ref().map(|checkpoint| checkpoint.path.clone()).unwrap_or_default();
    options.prepare_checkpoint(system).map_err(|why| failed(context, &path, &why.to_string()))
}

/// Options that contradict each other, or an engine that cannot do what is asked, are refused.
fn is_consistent(search: &arguments::Search, asked: Asked, file: &Path, context: &Context) -> Result<(), Exit> {
    let chosen = options(search, &Budget::unlimited()).chosen_engine(asked);
    chosen.map(|_| ()).map_err(|why| failed(context, file, &why))
}

/// Runs a search, and shows how it goes.
fn search(
    mut options: CheckOptions,
    board: &Arc<Board>,
    search: &arguments::Search,
    context: &Context,
    work: impl FnOnce(&CheckOptions) -> Report,
) -> Report {
    let display = Arc::new(Display::new(search.progress, context.quiet).of(options.cluster.clone()));
    let (shown, seen) = (Arc::clone(&display), Arc::clone(board));
    options.budget = options.budget.with_sink(move |progress| {
        seen.note(progress);
        shown.show(progress);
    });
    let mut report = work(&options);
    display.finish();
    let statistics = &mut report.statistics;
    statistics.memory_bytes = ample::peak_memory().unwrap_or(statistics.memory_bytes);
    report
}

fn show(system: &System, report: &Report, view: View, context: &Context) {
    if formats::is_converted()
        && let Ok(value) = serde_json::to_value(report)
    {
        return formats::give(&value);
    }
    print(|out| {
        use std::io::Write;
        if context.json {
            serde_json::to_writer(&mut *out, report)?;
            writeln!(out)
        } else {
            text::report(out, system, report, view, context)
        }
    });
}

fn show_diagrams(report: &Report, search: &arguments::Search, context: &Context) {
    if let Some(diagrams) = &report.diagrams
        && search.stats
        && !context.json
    {
        print(|out| text::diagram_statistics(out, diagrams));
    }
}

/// Draws counterexamples as message sequence charts, the first one into the file that is named.
fn write_charts(path: &Path, system: &System, report: &Report, context: &Context) -> Result<(), String> {
    let shown = report.answers.iter().filter_map(|answer| Some((answer, answer.shown()?)));
    for (number, (answer, violation)) in shown.enumerate() {
        let path = if number == 0 { path.to_owned() } else { pictures::numbered(path, number + 1) };
        let title = format!("{}: {}", system.name, answer.property);
        pictures::write_chart(&path, &violation.trace, title, context)?;
    }
    Ok(())
}

/// What is known of each property of a circuit, as a witness.
fn write_witness(path: &Path, system: &System, properties: &[Property], report: &Report) -> Result<(), String> {
    if system.synchronous().is_none() {
        return Err("witnesses in AIGER's format are for circuits".into());
    }
    // The runs are those of a system with the inputs that are asked about in its states.
    let mut system = system.clone();
    system.keep_inputs(properties.iter().flat_map(Property::expressions));
    let mut text = String::new();
    for answer in &report.answers {
        let status = match (answer.verdict(), answer.trace()) {
            (Verdict::Violated, Some(trace)) => Status::Violated(trace),
            (Verdict::Holds, _) => Status::Holds,
            _ => Status::Unknown,
        };
        text.push_str(&witness(&system, &answer.property, status).map_err(|error| error.to_string())?);
    }
    output::write(path, text.as_bytes()).map_err(|error| error.to_string())
}

/// Writes a file, or says why not.
fn write(path: &Path, text: Result<Vec<u8>, String>, context: &Context) -> Exit {
    let Err(error) = text.and_then(|text| output::write(path, &text)) else {
        return Exit::Fine;
    };
    complain(|out| {
        use std::io::Write;
        writeln!(out, "{} {error}", context.err.red("Error:"))
    });
    Exit::Wrong
}
