//! Four abstract layers over one generic layer: the same search, store and simulation run on Petri nets, graph rewriting, a
//! cube and software, and how many lines of code each layer has to itself.
//!
//! `cargo run --release -p ample-explicit --example abstract_layers`; with `--cube`, all configurations of the cube are
//! counted.

mod layers;

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use ample_explicit::search::handlers::{Always, Handlers, Insert};
use ample_explicit::search::{BreadthFirst, depth_first};
use ample_explicit::simulate::{AtMost, Random, SimulationObserver, simulate};
use ample_explicit::software::data::Integer;
use ample_explicit::software::expression::{Arithmetic, Literal, NumericalExpression, TypeError, Value};
use ample_explicit::software::flow::Code;
use ample_explicit::software::statement::Assign;
use ample_explicit::software::types::{TypeGraph, TypeId};
use ample_explicit::software::{BitvectorModel, SoftwareModel};
use ample_explicit::space::{Buffer, StateSpace};
use ample_explicit::store::{ExactStore, FlatStore, HashStore, Parent};
use layers::cube::Cube;
use layers::petri::Net;
use layers::rewriting::Grammar;

/// Counts the steps of a run.
struct Steps(usize);

impl<S: StateSpace> SimulationObserver<S> for Steps {
    fn taken(&mut self, _: &S::Transition, _: &S::State) {
        self.0 += 1;
    }
}

/// All that is done with a layer is done here, and knows none of them.
fn explore<S, St>(name: &str, mut space: S, store: impl Fn() -> St, max_depth: u64)
where
    S: StateSpace,
    St: ExactStore<S::State, Side = Parent>,
    Buffer<S>: Default,
{
    let mut breadth = store();
    let mut feedback = Handlers::new().on_explore(Always, Insert);
    BreadthFirst { max_depth, ..Default::default() }.run(&mut space, &mut breadth, &mut feedback);
    let mut steps = Steps(0);
    simulate(&mut space, &mut AtMost::new(100, Random::new(1)), &mut steps);
    let within = if max_depth == u64::MAX { String::new() } else { format!(" within {max_depth} steps") };
    print!("{name}: {} states{within}, a random run of {} steps", breadth.len(), steps.0);
    if max_depth == u64::MAX {
        let mut depth = store();
        depth_first(&mut space, &mut depth, &mut Handlers::new().on_explore(Always, Insert));
        print!(", {} states depth-first", depth.len());
    }
    println!();
}

/// Two processes that count up to four, each in two steps.
fn counters() -> Result<SoftwareModel, TypeError> {
    let mut types = TypeGraph::new();
    let byte = types.data(Integer::unsigned("byte", 8));
    types.variable(TypeId::GLOBAL, "x", byte);
    let process = types.process("P");
    let x = types.place(process, "x")?;
    let sum = NumericalExpression(Arc::new(Value(x.clone())), Arithmetic::Add, Arc::new(Literal::Number(1)));
    let step = Code::step(Assign(x, Arc::new(sum)));
    types.set_body(process, &[step.clone(), step]);
    SoftwareModel::new(types, &[process, process])
}

/// The lines of code below a path: without those that are empty or comments, and without tests.
fn lines(path: &Path) -> io::Result<usize> {
    if path.is_dir() {
        return fs::read_dir(path)?.map(|entry| lines(&entry?.path())).sum();
    }
    let text = fs::read_to_string(path)?;
    let code = text.split("#[cfg(test)]").next().unwrap_or_default().lines().map(str::trim);
    Ok(code.filter(|line| !line.is_empty() && !line.starts_with("//")).count())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let all = std::env::args().any(|argument| argument == "--cube");
    let model = counters()?;
    explore("Petri net", Net::buffer(10), FlatStore::<Parent>::default, u64::MAX);
    explore("Graph rewriting", Grammar::token_ring(8), HashStore::default, u64::MAX);
    explore("2x2x2 cube", Cube, HashStore::default, if all { u64::MAX } else { 7 });
    explore("Software, graphs", model.clone(), HashStore::default, u64::MAX);
    explore("Software, vectors", BitvectorModel::new(model), FlatStore::<Parent>::default, u64::MAX);

    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let generic = ["space.rs", "search", "store", "simulate.rs", "transform", "check.rs"];
    let shared = generic.iter().map(|part| lines(&root.join("src").join(part))).sum::<io::Result<usize>>()?;
    println!("generic layer, shared by all: {shared} lines of code");
    for (name, path) in [
        ("Petri nets", "examples/layers/petri.rs"),
        ("graph rewriting", "examples/layers/rewriting.rs"),
        ("2x2x2 cube", "examples/layers/cube.rs"),
        ("software", "src/software"),
    ] {
        println!("{name}: {} lines of code", lines(&root.join(path))?);
    }
    Ok(())
}
