//! What can be said on the command line.

use std::path::PathBuf;
use std::time::Duration;

use super::focus::Focus;
use super::formats::Format;
use ample::ClusterOptions;
use ample::sog::SogOptions;
use ample::testgen::TestgenOptions;
use ample::{Algorithm, Choice, Dependency, EngineOptions, Fairness, PartialOrder, StaticReduction};
use ample_lang::LANGUAGES;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

/// A model checker for concurrent systems.
#[derive(Debug, Parser)]
#[command(version, about, propagate_version = true, after_help = EXIT_CODES)]
pub struct Arguments {
    #[command(subcommand)]
    pub task: Task,
}

/// Work on models, or what is to be known about the command itself.
#[derive(Debug, Subcommand)]
pub enum Task {
    #[command(flatten)]
    Work(Box<Command>),
    /// Print a script with which a shell completes commands, options and names of files
    Completions(Completions),
    /// Print the manual page of ample, or write those of all commands into a folder
    Man(Man),
}

#[derive(Debug, Args)]
pub struct Completions {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// Write `ample.1`, `ample-check.1` and so on into this folder, which is made if it is not there
    #[arg(short, long, value_name = "FOLDER")]
    pub output: Option<PathBuf>,
}

/// What the number means with which the command ends.
pub const EXIT_CODES: &str = "Exit codes: 0 everything holds, 1 something is violated, \
                          2 the input or the call is wrong, 3 not decided.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Check all that the files state: assertions, deadlock, every property; or just what is named
    Check(Box<Check>),
    /// Count the states and transitions of a model; nothing is checked, and nothing is left out unless `--por` says so
    States(States),
    /// Step through a model: at random, interactively, or along a trace
    Simulate(Simulate),
    /// Show what partial-order reduction leaves out, what it chooses in a state, and what stands in its way
    Reduce(Reduce),
    /// Write a model in another language: for NuSMV, as a circuit, or as Promela
    Convert(Convert),
    /// Write the Büchi automaton of a formula: in the HOA format, as a never claim, or for Graphviz
    Automaton(Automaton),
    /// Build the symbolic observation graph: what is left of a model if only some actions or conditions are observed
    Sog(Sog),
    /// Generate tests: inputs that lead a circuit or an SMV model to a state, through a sequence of states, or over all
    /// transitions; runs that execute all statements of a program
    Testgen(Testgen),
}

#[derive(Debug, Args)]
pub struct Check {
    /// The models
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub properties: Properties,
    #[command(flatten)]
    pub temporal: Temporal,
    #[command(flatten)]
    pub reductions: Reductions,
    #[command(flatten)]
    pub unreached: Unreached,
    #[command(flatten)]
    pub search: Search,
    /// End at the first violation, whatever it is of
    #[arg(long)]
    pub stop_at_first: bool,
    /// Check the formulas of `--ltl` on a symbolic observation graph that `ample sog --save` has written: it must observe
    /// what they name
    #[arg(long, value_name = "GRAPH", requires = "ltl", conflicts_with_all = [
        "deadlock", "assertions", "invariant", "ctl", "formulas", "examination", "automaton", "never", "acceptance",
        "non_progress", "fairness", "justice", "engine", "unreached", "witness", "trace", "certificate", "msc", "format",
    ])]
    pub graph: Option<PathBuf>,
    /// How the answers are written
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t, conflicts_with = "json")]
    pub format: Format,
    /// Write what is known of a circuit's properties to a file, in AIGER's format for witnesses
    #[arg(long, value_name = "FILE")]
    pub witness: Option<PathBuf>,
    /// Write the counterexamples to a file, as JSON; `ample simulate --trace` replays it
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Write the certificates of proofs to a file: only the bounded engine has some. As JSON; as a witness circuit if the
    /// name ends in `.aag` or `.aig`
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Show counterexamples as message sequence charts; or draw them into a file (SVG): `--msc=chart.svg`. A second one goes
    /// to `chart-2.svg`
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub msc: Option<Option<PathBuf>>,
    /// Show all of a long counterexample, and of a large state
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub focus: Focus,
    /// What a directed search (`--search best-first`, `hill-climbing`, `a-star`, `beam`, `random-walk`) goes by: `auto`, the
    /// distance from a violation of the property; `deadlock`, `blocked`, `assertion` or `formula`, that from one of these; or
    /// an expression over the model's variables, which is smaller nearer to a violation [default: auto]
    #[arg(long, value_name = "HEURISTIC", allow_hyphen_values = true, help_heading = "Explicit engine")]
    pub heuristic: Option<String>,
    #[command(flatten)]
    pub common: Common,
}

/// What to check; all that the file states if nothing is named.
#[derive(Debug, Args)]
#[command(next_help_heading = "Properties (none named: all that the file states)")]
pub struct Properties {
    /// Check that no reachable state is stuck (invalid end states)
    #[arg(long)]
    pub deadlock: bool,
    /// Check the assertions, and that no step is a fault
    #[arg(long)]
    pub assertions: bool,
    /// Check that an expression over the model's variables holds in every reachable state
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub invariant: Vec<String>,
    /// Check that every run satisfies a formula: `[] (x > 3 -> <> y)`, `G (x > 3 -> F y)`; or the name of an ltl block
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub ltl: Vec<String>,
    /// Check that the initial state satisfies a branching-time formula: `AG (x > 3 -> EF y)`; or the name of one in the
    /// file
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true)]
    pub ctl: Vec<String>,
    /// Check the formulas in a file of the Model Checking Contest, about a Petri net
    #[arg(long, value_name = "FILE")]
    pub formulas: Vec<PathBuf>,
    /// Check a question of the contest about a whole Petri net: it holds where the contest's answer is TRUE
    #[arg(long, value_name = "NAME", value_parser = examination)]
    pub examination: Vec<ample::Examination>,
    /// Check that no run is accepted by the Büchi automaton in a HOA file: like a never claim, it describes the runs that
    /// are wrong (`ample automaton --negate FORMULA` writes that of a formula). Its atomic propositions are expressions
    #[arg(long, value_name = "FILE")]
    pub automaton: Vec<PathBuf>,
    /// Check the file's never claim
    #[arg(long)]
    pub never: bool,
    /// Check that no run passes labels `accept` for ever
    #[arg(long)]
    pub acceptance: bool,
    /// Check that no run goes on for ever without passing labels `progress`
    #[arg(long)]
    pub non_progress: bool,
}

/// How to look for endless runs.
#[derive(Debug, Args)]
#[command(next_help_heading = "Temporal properties")]
pub struct Temporal {
    /// Which runs count
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub fairness: Fairness,
    /// Only runs on which the expression holds again and again count, for formulas and labels `accept`; may be given
    /// several times
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub justice: Vec<String>,
    /// Do not ask whether a property holds only because what it speaks of never happens
    #[arg(long)]
    pub no_vacuity: bool,
}

/// Statements that no run executes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Unreached code")]
pub struct Unreached {
    /// List the statements that no run executes, by a search of its own if the others do not tell [default: if they tell]
    #[arg(long, conflicts_with = "no_unreached")]
    pub unreached: bool,
    /// Do not list the statements that no run executes
    #[arg(long)]
    pub no_unreached: bool,
}

/// What is made of the model first.
#[derive(Debug, Args)]
#[command(next_help_heading = "Static reductions")]
pub struct Reductions {
    /// What is made of the model before it is checked, as far as the properties allow: `all`, `none`, or some of `paths`
    /// (path reduction), `dead` (dead variables) and `slice` (slicing), with commas
    #[arg(long, value_name = "REDUCTIONS", default_value = "all", value_parser = reductions)]
    pub reductions: StaticReductions,
}

/// Static reductions, as they are named in an option.
#[derive(Clone, Debug)]
pub struct StaticReductions(pub Vec<StaticReduction>);

fn reductions(text: &str) -> Result<StaticReductions, String> {
    let one = |name: &str| StaticReduction::from_str(name.trim(), false);
    match text {
        "all" => Ok(StaticReductions(StaticReduction::ALL.to_vec())),
        "none" => Ok(StaticReductions(Vec::new())),
        list => match list.split(',').map(one).collect() {
            Ok(reductions) => Ok(StaticReductions(reductions)),
            Err(_) => Err("expected `all`, `none`, or some of `paths`, `dead`, `slice`, with commas".into()),
        },
    }
}

#[derive(Debug, Args)]
pub struct States {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub picture: Picture,
    #[command(flatten)]
    pub common: Common,
}

/// The state graph as a picture.
#[derive(Debug, Args)]
#[command(next_help_heading = "Picture of the state graph")]
pub struct Picture {
    /// Draw the states and steps into a file (SVG) instead of counting them
    #[arg(long, value_name = "FILE", conflicts_with_all = COUNTING)]
    pub svg: Option<PathBuf>,
    /// Write the states and steps for Graphviz instead of counting them
    #[arg(long, value_name = "FILE", conflicts_with_all = COUNTING)]
    pub dot: Option<PathBuf>,
    /// How many states are drawn at most, breadth first
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..=MOST_NODES))]
    pub max_nodes: u32,
}

/// So many states can be drawn.
const MOST_NODES: i64 = 20_000;

/// What is said about counting.
const COUNTING: [&str; 8] = ["engine", "por", "threads", "max_depth", "checkpoint", "stats", "processes", "hosts"];

/// How to search.
#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
pub struct Search {
    /// Which engine checks
    #[arg(long, value_name = "ENGINE", default_value = Choice::AUTO, value_parser = engines())]
    pub engine: Choice,
    /// Partial-order reduction: which orders of independent steps are left out, as many as keep every answer, or by these
    /// methods [default: auto; states: none]
    #[arg(long, value_enum, value_name = "METHODS", default_value_t, hide_default_value = true)]
    pub por: PartialOrder,
    /// How many threads search at once, for different properties or together [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Do not expand states that many steps from the start
    #[arg(long, value_name = "N")]
    pub max_depth: Option<u64>,
    /// Save the explicit search to a file from time to time, and go on from there if the file exists
    #[arg(long, value_name = "FILE")]
    pub checkpoint: Option<PathBuf>,
    /// The time between two savings
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s", requires = "checkpoint")]
    pub checkpoint_every: Duration,
    /// Show the progress on standard error: auto is a line on a terminal
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Progress::Auto)]
    pub progress: Progress,
    /// Show the size of the decision diagrams
    #[arg(long)]
    pub stats: bool,
    #[command(flatten)]
    pub engines: EngineOptions,
    #[command(flatten)]
    pub cluster: ClusterOptions,
}

#[derive(Debug, Args)]
pub struct Simulate {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Choose each move by hand
    #[arg(short, long, conflicts_with = "trace")]
    pub interactive: bool,
    /// Replay the model's counterexample in a file that `ample check --trace` or `--json` wrote
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Which of the file's counterexamples, by its property
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub property: Option<String>,
    /// The seed of a random run; the same seed gives the same run
    #[arg(long, value_name = "N", conflicts_with_all = ["interactive", "trace"])]
    pub seed: Option<u64>,
    /// How many steps a random run takes at most
    #[arg(long, value_name = "N", default_value_t = 1000, conflicts_with_all = ["interactive", "trace"])]
    pub steps: u64,
    /// Show the run as a message sequence chart; or draw it into a file (SVG): `--msc=chart.svg`
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub msc: Option<Option<PathBuf>>,
    /// Write the last state as a graph, for Graphviz: processes, objects, and what refers to what
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Show all of a long trace, and of a large state
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub focus: Focus,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct Reduce {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Show every transition: whether it is safe, and which others it does not accord with, and why
    #[arg(long)]
    pub explain: bool,
    /// How persistent sets are computed [default: guards; with `--dependency`: conditional]
    #[arg(long, value_enum, value_name = "NAME")]
    pub por_algorithm: Option<Algorithm>,
    /// Which transitions count as dependent, for the algorithms of Godefroid's thesis (all but `guards`) [default:
    /// conditional]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub dependency: Option<Dependency>,
    /// Print the trace automaton, for Graphviz: the graph that a search with persistent sets, sleep sets and the proviso
    /// explores
    #[arg(long, conflicts_with_all = ["explain", "after", "state", "trace"])]
    pub traces: bool,
    /// Show the sleep sets of the trace automaton
    #[arg(long, requires = "traces")]
    pub sleep_sets: bool,
    /// Look at that many states at most, with reduction and without [default: 100000; with `--traces`: 1000]
    #[arg(long, value_name = "N")]
    pub max_states: Option<u64>,
    #[command(flatten)]
    pub place: Place,
    #[command(flatten)]
    pub common: Common,
}

/// The state to look at.
#[derive(Debug, Args)]
#[command(next_help_heading = "One state")]
pub struct Place {
    /// What is chosen in the state after these moves, as `ample simulate --interactive` numbers them: 2,1,1
    #[arg(long, value_name = "MOVES", value_parser = moves, conflicts_with_all = ["state", "trace"])]
    pub after: Option<Moves>,
    /// What is chosen in the state of that number, breadth first; the initial state is number 0
    #[arg(long, value_name = "N", conflicts_with = "trace")]
    pub state: Option<u64>,
    /// What is chosen on a counterexample in a file that `ample check --trace` or `--json` wrote
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
    /// Which of the file's counterexamples, by its property
    #[arg(long, value_name = "NAME", requires = "trace")]
    pub property: Option<String>,
    /// After how many of its steps [default: all]
    #[arg(long, value_name = "N", requires = "trace")]
    pub step: Option<usize>,
}

#[derive(Debug, Args)]
pub struct Convert {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The language
    #[arg(long, value_enum, value_name = "LANGUAGE")]
    pub to: Target,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// A condition that becomes a bad state of a circuit where it does not hold; may be repeated
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub invariant: Vec<String>,
    /// Write the order of the variables too, as NuSMV reads it with `-i`
    #[arg(long, value_name = "FILE")]
    pub order_file: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
pub struct Automaton {
    /// The formula of LTL: `G (a -> F b)`, `[] (a -> <> b)`. Atoms are identifiers, or any text in quotes: `G "x > 3"`
    #[arg(value_name = "FORMULA", allow_hyphen_values = true, required_unless_present = "also")]
    pub formula: Option<String>,
    /// The formula, as for `spin -f` and `ltl2tgba -f`
    #[arg(
        short = 'f',
        long = "formula",
        value_name = "FORMULA",
        allow_hyphen_values = true,
        conflicts_with = "formula"
    )]
    pub also: Option<String>,
    /// The format
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = AutomatonFormat::Hoa)]
    pub to: AutomatonFormat,
    /// The automaton of the words that do not satisfy the formula
    #[arg(long, alias = "negated")]
    pub negate: bool,
    /// One set of accepting states, in place of acceptance sets of edges; never claims have it anyway
    #[arg(short = 'B', long, alias = "ba")]
    pub buchi: bool,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub common: Common,
}

/// A format of automata.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AutomatonFormat {
    /// The Hanoi omega-automata format
    Hoa,
    /// A never claim, as `spin -f` writes it
    Never,
    /// A graph for Graphviz
    Dot,
    /// A picture
    Svg,
}

impl AutomatonFormat {
    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            AutomatonFormat::Hoa => "hoa",
            AutomatonFormat::Never => "never",
            AutomatonFormat::Dot => "dot",
            AutomatonFormat::Svg => "svg",
        }
    }
}

#[derive(Debug, Args)]
pub struct Sog {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// A condition on states that is observed; may be repeated
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub atoms: Vec<String>,
    /// Check a formula without X while the graph is being built; what it names is observed. Atoms are conditions (in
    /// quotes unless they are a name) and names of actions
    #[arg(long, value_name = "FORMULA", allow_hyphen_values = true, conflicts_with_all = ["observe", "atoms", "dot", "svg"])]
    pub ltl: Vec<String>,
    #[command(flatten)]
    pub options: SogOptions,
    /// How many threads build [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = threads)]
    pub threads: Option<usize>,
    /// Write the graph to a file, for Graphviz
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Draw the graph into a file (SVG)
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the graph to a file, from which `--graph` checks formulas without building it again
    #[arg(long, value_name = "GRAPH", conflicts_with = "ltl")]
    pub save: Option<PathBuf>,
    /// Write what each aggregate costs, measured with one thread, to a file (JSON): for `bench/growth.py`, which simulates the
    /// construction by many workers
    #[arg(long, value_name = "FILE", conflicts_with = "ltl")]
    pub costs: Option<PathBuf>,
    /// Check the formulas on a graph that `--save` has written: it must observe what they name
    #[arg(long, value_name = "GRAPH", requires = "ltl")]
    pub graph: Option<PathBuf>,
    /// Show the progress on standard error: auto is a line on a terminal
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Progress::Auto)]
    pub progress: Progress,
    #[command(flatten)]
    pub cluster: ClusterOptions,
    #[command(flatten)]
    pub common: Common,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["target", "sequence", "coverage"])))]
pub struct Testgen {
    /// The model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// An expression over the model's variables, inputs and outputs that is to hold; several of them are to hold in
    /// consecutive cycles
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub target: Vec<String>,
    /// A file of such expressions, one in a line, that are to hold in consecutive cycles; what comes after `#` is a comment
    #[arg(long, value_name = "FILE")]
    pub sequence: Option<PathBuf>,
    /// What the tests are to cover together
    #[arg(long, value_enum, value_name = "WHAT")]
    pub coverage: Option<Coverage>,
    /// The state variables of the control automaton whose transitions are covered, with commas
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required_if_eq("coverage", "transitions"))]
    pub automaton: Vec<String>,
    #[command(flatten)]
    pub options: TestgenOptions,
    /// Write the tests to a file; if there are several that its format has to keep apart, to several files with a number in
    /// their names
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The format [default: that of the file's extension: .json, .vcd, .stim, .aiw; else text]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub format: Option<TestFormat>,
    /// Show the progress on standard error: auto is a line on a terminal
    #[arg(long, value_enum, value_name = "HOW", default_value_t = Progress::Auto)]
    pub progress: Progress,
    /// Show all of a long test
    #[arg(long)]
    pub full: bool,
    #[command(flatten)]
    pub common: Common,
}

/// What tests cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Coverage {
    /// Every latch changes from 0 to 1 and from 1 to 0
    Latches,
    /// Every transition of a control automaton (`--automaton`)
    Transitions,
    /// Every statement of a program is executed
    Statements,
    /// Every alternative of a program's selections and loops is taken
    Branches,
}

/// How tests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TestFormat {
    /// Tables
    Text,
    /// One JSON object
    Json,
    /// Value change dump, for wave viewers
    Vcd,
    /// The inputs of a circuit, a line for each cycle, as AIGER's simulator reads them
    Stimulus,
}

/// A language that models are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// The language of NuSMV: of any model, bit by bit unless it is one of Milestones
    Smv,
    /// Promela, one process that chooses among all actions
    Promela,
    /// Promela, a process for each of the model's and one for the global actions
    PromelaProcesses,
    /// A circuit as AIGER text: any model, bit by bit unless it is a circuit
    Aag,
    /// A circuit in AIGER's binary form
    Aig,
    /// A circuit in the Berkeley Logic Interchange Format
    Blif,
}

impl Target {
    /// As it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Target::Smv => "smv",
            Target::Promela => "promela",
            Target::PromelaProcesses => "promela-processes",
            Target::Aag => "aag",
            Target::Aig => "aig",
            Target::Blif => "blif",
        }
    }
}

/// Numbers of moves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moves(pub Vec<usize>);

/// What means the same everywhere.
#[derive(Debug, Args)]
#[command(next_help_heading = "Common")]
pub struct Common {
    /// Define a macro, as `#define NAME VALUE` would (VALUE is 1 if left out)
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = define)]
    pub defines: Vec<(String, String)>,
    /// Read models in that language, whatever their names and contents look like: promela, prom+, milestones, pnml,
    /// smv, softver, aiger, blif, bench
    #[arg(long, value_name = "NAME", value_parser = language)]
    pub language: Option<&'static str>,
    /// Process ids of PROM+ have so many bits; while all of them are taken, `run` waits
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(0..=8))]
    pub pid_bits: u8,
    /// References of PROM+ have so many bits; one object more than they can name is a run-time error
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=16))]
    pub ref_bits: u8,
    /// End after that time: 500ms, 60s, 2m, 1h; a plain number is seconds
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub time_limit: Option<Duration>,
    /// End before the process uses more memory than that: 512M, 4G; a plain number is bytes
    /// [default: nine tenths of what is free]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub memory_limit: Option<u64>,
    /// Read at most so many bytes of a model, the files that it includes counted: 512M, 4G [default: 256M]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_source_size: Option<u64>,
    /// Print one JSON object (one per file) on standard output, and nothing else there
    #[arg(long)]
    pub json: bool,
    /// Print the verdicts only, and warnings on standard error: no traces, statistics or progress (simulate: the model's
    /// own output only)
    #[arg(short, long)]
    pub quiet: bool,
    /// Colours
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Colour::Auto)]
    pub color: Colour,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Progress {
    /// A line if standard error is a terminal
    Auto,
    /// Nothing
    Never,
    /// JSON lines
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Colour {
    /// If it goes to a terminal and NO_COLOR is not set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Command {
    /// It waits for the user's answers; Ctrl-C ends it at once.
    pub fn is_dialogue(&self) -> bool {
        matches!(self, Command::Simulate(simulate) if simulate.interactive)
    }

    /// How its answers are written.
    pub fn format(&self) -> Format {
        match self {
            _ if self.common().json => Format::Json,
            Command::Check(check) => check.format,
            _ => Format::Text,
        }
    }

    /// The models.
    pub fn files(&self) -> &[PathBuf] {
        use std::slice::from_ref;
        match self {
            Command::Check(check) => &check.files,
            Command::States(states) => from_ref(&states.file),
            Command::Simulate(simulate) => from_ref(&simulate.file),
            Command::Reduce(reduce) => from_ref(&reduce.file),
            Command::Convert(convert) => from_ref(&convert.file),
            Command::Sog(sog) => from_ref(&sog.file),
            Command::Testgen(testgen) => from_ref(&testgen.file),
            Command::Automaton(_) => &[],
        }
    }

    pub fn common(&self) -> &Common {
        match self {
            Command::Check(check) => &check.common,
            Command::States(states) => &states.common,
            Command::Simulate(simulate) => &simulate.common,
            Command::Reduce(reduce) => &reduce.common,
            Command::Convert(convert) => &convert.common,
            Command::Sog(sog) => &sog.common,
            Command::Testgen(testgen) => &testgen.common,
            Command::Automaton(automaton) => &automaton.common,
        }
    }
}

/// `NAME` or `NAME=VALUE`.
fn define(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let mut characters = name.chars();
    let starts_well = characters.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !characters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(format!("`{name}` is not a name"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// One of the contest's names, whatever the case.
fn language(text: &str) -> Result<&'static str, String> {
    let names = || LANGUAGES.iter().map(|language| language.name());
    let found = names().find(|name| name.eq_ignore_ascii_case(text));
    found.ok_or_else(|| format!("`{text}` is none of {}", names().collect::<Vec<_>>().join(", ")))
}

fn examination(text: &str) -> Result<ample::Examination, String> {
    let mut all = ample::Examination::ALL.into_iter();
    all.find(|one| one.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
        let names: Vec<&str> = ample::Examination::ALL.into_iter().map(ample::Examination::name).collect();
        format!("`{text}` is none of {}; formula files are given with `--formulas`", names.join(", "))
    })
}

/// `2,1,1`; nothing is the start.
fn moves(text: &str) -> Result<Moves, String> {
    let words = text.split([',', ' ']).filter(|word| !word.is_empty());
    let number = |word: &str| match word.parse() {
        Ok(0) | Err(_) => Err(format!("`{word}` is not the number of a move: they count from 1")),
        Ok(number) => Ok(number),
    };
    words.map(number).collect::<Result<_, _>>().map(Moves)
}

/// One of the engines, or `auto`.
fn engines() -> impl TypedValueParser<Value = Choice> {
    let auto = PossibleValue::new(Choice::AUTO).help("Those that suit the model");
    let named = ample::engines().map(|(name, about)| PossibleValue::new(name).help(about));
    PossibleValuesParser::new([auto].into_iter().chain(named)).map(|name| ample::engine(&name).unwrap_or_default())
}

fn threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(format!("`{text}` is not a number of threads")),
        Ok(threads) => Ok(threads),
    }
}

/// A number and the unit behind it.
fn quantity(text: &str) -> Result<(f64, &str), String> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..end].parse().map_err(|_| format!("`{text}` does not begin with a number"))?;
    Ok((number, text[end..].trim()))
}

fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = quantity(text)?;
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" | "sec" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(format!("`{unit}` is not a unit of time: ms, s, m or h")),
    };
    Duration::try_from_secs_f64(number * factor).map_err(|error| error.to_string())
}

fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = quantity(text)?;
    let unit = unit.to_ascii_lowercase();
    let shift = match unit.strip_suffix("ib").or(unit.strip_suffix('b')).unwrap_or(&unit) {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(format!("`{unit}` is not a unit of memory: K, M, G or T")),
    };
    Ok((number * (1u64 << shift) as f64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("2m"), Ok(Duration::from_secs(120)));
        assert_eq!(duration("1h"), Ok(Duration::from_secs(3600)));
        assert_eq!(duration("1.5"), Ok(Duration::from_millis(1500)));
        for wrong in ["", "s", "-1s", "3 fortnights", "1..2s", "1e999999h"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn moves_are_numbers_from_one_on() {
        assert_eq!(moves("2,1, 13"), Ok(Moves(vec![2, 1, 13])));
        assert_eq!(moves(""), Ok(Moves(Vec::new())));
        assert!(moves("1,0").is_err() && moves("x").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(size("4G"), Ok(4 << 30));
        assert_eq!(size("4GiB"), Ok(4 << 30));
        assert_eq!(size("64m"), Ok(64 << 20));
        assert_eq!(size("1.5K"), Ok(1536));
        assert_eq!(size("1000"), Ok(1000));
        assert!(size("4X").is_err());
        assert!(size("G").is_err());
    }

    #[test]
    fn defines_are_names_with_values() {
        assert_eq!(define("N=3"), Ok(("N".into(), "3".into())));
        assert_eq!(define("FAST"), Ok(("FAST".into(), "1".into())));
        assert_eq!(define("E="), Ok(("E".into(), String::new())));
        assert!(define("=3").is_err());
        assert!(define("2x").is_err());
    }
}
