//! `ample check` and `ample states`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ample::{
    Algorithm, Board, Budget, Cache, CheckOptions, DiagramKind, Direction, Emptiness, Engine, Exploration, Fairness,
    Limits, Method, Methods, PartialOrder, Preserve, Proviso, Question, Reach, Reorder, Replacement, Report, Search,
    Symbolic, System, Variant,
};

use super::arguments::{self, Check, Por, States};
use super::progress::Display;
use super::questions::{Questions, empty_report, typed};
use super::text::{self, View};
use super::{
    Context, Exit, complain, diagnostics, failed, guarded, load, load_model, load_options, print, print_json, refused,
    show_refused, traces,
};
use super::{output, supervisor};

/// Checks the files one after the other.
pub fn check(arguments: &Check, context: &Context) -> Exit {
    if let Some(trace) = &arguments.trace {
        let inputs =
            arguments.files.iter().chain(&arguments.properties.formulas).chain(&arguments.properties.automaton);
        let inputs: Vec<&Path> = inputs.map(PathBuf::as_path).collect();
        if let Some(why) = output::conflict(&[trace], &inputs) {
            return failed(context, trace, &why);
        }
    }
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    for file in &arguments.files {
        let one = guarded(context, file, || match check_file(file, arguments, context) {
            Ok((report, exit)) => {
                // Only what goes into the trace file is needed again.
                if arguments.trace.is_some() {
                    reports.push(report);
                }
                exit
            }
            Err(exit) => exit,
        });
        exit = exit.min(one);
        if context.interrupt.load(std::sync::atomic::Ordering::Relaxed) {
            exit = exit.min(Exit::Undecided);
            break;
        }
    }
    match &arguments.trace {
        Some(path) => exit.min(write_traces(path, &reports, context)),
        None => exit,
    }
}

fn check_file(file: &Path, arguments: &Check, context: &Context) -> Result<(Report, Exit), Exit> {
    is_consistent(&arguments.search, file, context)?;
    let budget = context.budget(file, &arguments.common);
    let mut loaded = load_model(file, &arguments.common, context, &budget)?;
    let questions = Questions::of(&loaded, arguments, &load_options(&arguments.common, &budget));
    let mut questions = questions.map_err(|error| refused(context, file, &error))?;
    show_refused(context, &loaded, questions.refused_unasked(&loaded));
    let mut justice = Vec::new();
    for text in &arguments.temporal.justice {
        match loaded.expression(text) {
            Ok(condition) => justice.push(condition),
            Err(error) => questions.refuse_runs(&loaded, text, error),
        }
    }
    for refused in questions.refused() {
        complain(|out| diagnostics::load_error(out, &refused.error, context.err));
    }
    let properties = questions.properties();
    ample::adapt(&mut loaded.system, &properties);
    for condition in &justice {
        ample::adapt(&mut loaded.system, &[typed("", Question::Invariant(condition.clone()))]);
    }
    let (system, questions) = (Arc::new(loaded.system), Arc::new(questions));
    let nothing_left = properties.is_empty();
    let view = match (context.quiet || nothing_left, arguments.msc) {
        (true, _) => View::Nothing,
        (false, true) => View::Chart,
        (false, false) => View::Steps,
    };
    let board = supervised(&system, &questions, view, context);
    let options = CheckOptions {
        board: Some(Arc::clone(&board)),
        properties: Some(properties),
        stop_at_first: arguments.stop_at_first,
        fairness: match arguments.temporal.fairness {
            arguments::Fairness::None => Fairness::None,
            arguments::Fairness::Weak => Fairness::Weak,
            arguments::Fairness::Strong => Fairness::Strong,
        },
        justice,
        emptiness: match arguments.temporal.emptiness {
            arguments::Emptiness::Auto => Emptiness::Auto,
            arguments::Emptiness::Components => Emptiness::Components,
            arguments::Emptiness::Nested => Emptiness::Nested,
        },
        no_vacuity: arguments.temporal.no_vacuity,
        ..options(&arguments.search, &budget)
    };
    let mut report = match nothing_left {
        true => empty_report(&system),
        false => search(&budget, &board, &arguments.search, context, |limits| ample::check(&system, &options, limits)),
    };
    questions.complete(&mut report);
    show_answers(&system, &questions, &report, view, context);
    show_diagrams(&report, &arguments.search, context);
    let verdict: Exit = report.verdict().into();
    let exit = if questions.refused().next().is_some() { Exit::Wrong } else { verdict };
    Ok((report, exit))
}

/// Where answers are posted. If the supervisor has to end the work, it tells what is on it.
fn supervised(system: &Arc<System>, questions: &Arc<Questions>, view: View, context: &Context) -> Arc<Board> {
    let board = Arc::new(Board::default());
    let (seen, system, context) = (Arc::clone(&board), Arc::clone(system), context.clone());
    let questions = Arc::clone(questions);
    supervisor::tell_at_the_end(move |reason| {
        let mut report = seen.report(&system, &reason.into());
        questions.complete(&mut report);
        report.statistics.memory_bytes = ample::peak_memory().unwrap_or(0);
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
    if let Err(exit) = is_consistent(&arguments.search, &arguments.file, context) {
        return exit;
    }
    let budget = context.budget(&arguments.file, &arguments.common);
    let loaded = match load(&arguments.file, &arguments.common, context, &budget) {
        Ok(loaded) => loaded,
        Err(exit) => return exit,
    };
    if arguments.search.engine == arguments::Engine::Sog {
        let why = "an observation graph has aggregates, whose states are not counted: `ample sog` builds the graph, and \
                   `--engine auto` counts states";
        return failed(context, &arguments.file, why);
    }
    let system = Arc::new(loaded.system);
    let board = supervised(&system, &Arc::default(), View::Steps, context);
    let options = options(&arguments.search, &budget);
    let report = search(&budget, &board, &arguments.search, context, |limits| ample::states(&system, &options, limits));
    show(&system, &report, View::Steps, context);
    show_diagrams(&report, &arguments.search, context);
    report.verdict().into()
}

fn options(search: &arguments::Search, budget: &Budget) -> CheckOptions {
    CheckOptions {
        engine: match search.engine {
            arguments::Engine::Auto if is_exploration(search) || search.symbolic.liveness_to_safety => Engine::Symbolic,
            arguments::Engine::Auto => Engine::Auto,
            arguments::Engine::Explicit => Engine::Explicit,
            arguments::Engine::Symbolic => Engine::Symbolic,
            arguments::Engine::Sog => Engine::Sog,
        },
        symbolic: symbolic(search),
        search: match search.search {
            arguments::Order::Auto => Search::Auto,
            arguments::Order::Bfs => Search::BreadthFirst,
            arguments::Order::Dfs => Search::DepthFirst,
        },
        partial_order: partial_order(search),
        max_depth: search.max_depth,
        threads: search.threads,
        time: budget.time_left(),
        memory_limit: budget.memory_limit(),
        budget: budget.clone(),
        ..CheckOptions::default()
    }
}

/// A reduction of the symbolic engine is asked for.
fn is_exploration(search: &arguments::Search) -> bool {
    symbolic(search).exploration.is_some()
}

/// Options that contradict each other are refused.
fn is_consistent(search: &arguments::Search, file: &Path, context: &Context) -> Result<(), Exit> {
    if search.engine == arguments::Engine::Explicit && is_exploration(search) {
        let why = "this reduction is one of the symbolic engine: `--engine symbolic`, or another `--por`";
        return Err(failed(context, file, why));
    }
    if search.engine == arguments::Engine::Explicit && search.symbolic.liveness_to_safety {
        return Err(failed(context, file, "`--liveness-to-safety` is for the symbolic engine: `--engine symbolic`"));
    }
    if search.symbolic.diagrams == arguments::Diagrams::Binary && search.engine != arguments::Engine::Symbolic {
        return Err(failed(context, file, "`--diagrams binary` is for the symbolic engine: `--engine symbolic`"));
    }
    let by_states = matches!(search.por, Some(Por::Persistent | Por::Sleep | Por::PersistentSleep | Por::TwoPhase))
        || search.cache.is_some();
    if search.engine == arguments::Engine::Symbolic && by_states {
        let why = "this reduction is one of the explicit engine: `--por exploration` is for the symbolic one";
        return Err(failed(context, file, why));
    }
    let has_methods = search.por_algorithm != arguments::Algorithm::Guards
        || search.proviso != arguments::Proviso::Auto
        || search.cache.is_some();
    if search.por == Some(Por::TwoPhase) && has_methods {
        let why = "`--por two-phase` has no other algorithm, needs no proviso, and keeps all its states";
        return Err(failed(context, file, why));
    }
    Ok(())
}

/// How decision diagrams are used.
fn symbolic(search: &arguments::Search) -> Symbolic {
    let asked = &search.symbolic;
    Symbolic {
        reach: match asked.reach {
            arguments::Reach::Saturation => Reach::Auto,
            arguments::Reach::Chaining => Reach::By(Method::Chaining),
            arguments::Reach::Frontier => Reach::By(Method::Frontier),
            arguments::Reach::Whole => Reach::By(Method::Whole),
            arguments::Reach::None => Reach::Not,
        },
        direction: match asked.direction {
            arguments::Direction::Auto => Direction::Auto,
            arguments::Direction::Backward => Direction::Backward,
            arguments::Direction::Forward => Direction::Forward,
        },
        exploration: match search.por {
            Some(arguments::Por::Exploration) => Some(Exploration::Partial(Variant::All)),
            Some(arguments::Por::ExplorationNew) => Some(Exploration::Partial(Variant::New)),
            Some(arguments::Por::ExplorationUnexpanded) => Some(Exploration::Partial(Variant::NotExpanded)),
            Some(arguments::Por::Improviso) => Some(Exploration::ImProviso),
            Some(arguments::Por::Areduce) => Some(Exploration::AReduce),
            Some(arguments::Por::Static) => Some(Exploration::Static),
            _ => None,
        },
        preserve: match asked.preserve {
            arguments::Preserve::Deadlocks => Preserve::Deadlocks,
            arguments::Preserve::Ltl => Preserve::Ltl,
            arguments::Preserve::Ctl => Preserve::Ctl,
        },
        reorder: if asked.no_reorder { Reorder::Never } else { Reorder::Auto },
        liveness_to_safety: asked.liveness_to_safety,
        diagrams: match asked.diagrams {
            arguments::Diagrams::Lists => DiagramKind::Lists,
            arguments::Diagrams::Binary => DiagramKind::Binary,
        },
    }
}

/// What may be left out.
fn partial_order(search: &arguments::Search) -> PartialOrder {
    let is_named = search.por_algorithm != arguments::Algorithm::Guards || search.proviso != arguments::Proviso::Auto;
    let (persistent, sleep) = match search.por {
        // A cache is of use where states are not visited often.
        None if search.cache.is_some() => (
            true,
            matches!(search.proviso, arguments::Proviso::Auto | arguments::Proviso::None | arguments::Proviso::Stack),
        ),
        None if is_named => (true, false),
        None => return PartialOrder::Auto,
        Some(arguments::Por::Auto) if search.cache.is_none() && !is_named => return PartialOrder::Auto,
        Some(arguments::Por::None) if search.cache.is_none() => return PartialOrder::None,
        Some(arguments::Por::None) => (false, false),
        Some(arguments::Por::Auto | arguments::Por::Persistent) => (true, false),
        Some(arguments::Por::TwoPhase) => return PartialOrder::TwoPhase,
        Some(arguments::Por::Sleep) => (false, true),
        Some(arguments::Por::PersistentSleep) => (true, true),
        // These are for the symbolic engine.
        Some(
            arguments::Por::Exploration
            | arguments::Por::ExplorationNew
            | arguments::Por::ExplorationUnexpanded
            | arguments::Por::Improviso
            | arguments::Por::Areduce
            | arguments::Por::Static,
        ) => return PartialOrder::None,
    };
    let algorithm = match search.por_algorithm {
        arguments::Algorithm::Guards => Algorithm::Guards,
        arguments::Algorithm::Conflicting => Algorithm::Conflicting,
        arguments::Algorithm::Overman => Algorithm::Overman,
        arguments::Algorithm::Stubborn => Algorithm::Stubborn,
        arguments::Algorithm::Conditional => Algorithm::Conditional,
    };
    let proviso = match search.proviso {
        arguments::Proviso::Auto => Proviso::Auto,
        arguments::Proviso::None => Proviso::None,
        arguments::Proviso::Stack => Proviso::Stack,
        arguments::Proviso::Components => Proviso::Components,
        arguments::Proviso::Queue => Proviso::Queue,
    };
    let replacement = match search.cache_policy {
        arguments::Replacement::Oldest => Replacement::Oldest,
        arguments::Replacement::Random => Replacement::Random,
        arguments::Replacement::LeastVisited => Replacement::LeastVisited,
    };
    let cache = search.cache.map(|states| Cache { states, replacement });
    PartialOrder::By(Methods { persistent: persistent.then_some(algorithm), sleep, proviso, cache })
}

/// Runs a search within the limits of the command line, and shows how it goes.
fn search(
    budget: &Budget,
    board: &Board,
    search: &arguments::Search,
    context: &Context,
    work: impl FnOnce(&mut Limits<'_>) -> Report,
) -> Report {
    let mut display = Display::new(search.progress, context.quiet);
    let mut show = |progress: &_, elapsed| {
        board.note(progress);
        display.show(progress, elapsed);
    };
    let mut limits = Limits::from(budget.clone()).show(&mut show);
    let mut report = work(&mut limits);
    display.finish();
    let statistics = &mut report.statistics;
    statistics.memory_bytes = ample::peak_memory().unwrap_or(statistics.memory_bytes);
    report
}

fn show(system: &System, report: &Report, view: View, context: &Context) {
    print(|out| {
        use std::io::Write;
        if context.json {
            serde_json::to_writer(&mut *out, report)?;
            writeln!(out)
        } else {
            text::report(out, system, report, view, context.extent(), context.out)
        }
    });
}

fn show_diagrams(report: &Report, search: &arguments::Search, context: &Context) {
    if let Some(diagrams) = &report.diagrams
        && search.symbolic.stats
        && !context.json
    {
        print(|out| text::diagram_statistics(out, diagrams));
    }
}

fn write_traces(path: &Path, reports: &[Report], context: &Context) -> Exit {
    let written = traces::to_json(reports).map_err(|error| error.to_string());
    let Err(error) = written.and_then(|text| output::write(path, &text).map_err(|error| error.to_string())) else {
        return Exit::Fine;
    };
    complain(|out| {
        use std::io::Write;
        writeln!(out, "{} {error}", context.err.red("Error:"))
    });
    Exit::Wrong
}
