//! The sizes of automata for the formulas of the literature, and of their negations, beside those of Spot.
//!
//! `cargo run --release --example sizes -- DIRECTORY [-v]`, where the directory has `*.ltl` files, a formula a line,
//! and `spot-2.12-sizes.csv`. With `-v`, every formula whose automata have other sizes than Spot's is listed.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use ample_logic::{Acceptance, Atoms, Dialect, Formula, Options, TranslateError, parse, translate};

const SETS: [&str; 5] = ["DwyerAC98", "EtessamiH00", "SomenziB00", "Liberouter04", "Pelanek07"];
const MORE: [&str; 3] = ["Parametrised", "Parametrised-Hardness", "SickertEJK16"];

/// The states of Spot's automata, by file, line and sign.
type Spot = HashMap<(String, usize, bool), (usize, usize)>;

/// A formula, and what became of it.
struct Measured {
    /// Where it stands, and whether it is negated.
    place: String,
    text: String,
    states: Result<(usize, usize), TranslateError>,
    spot: Option<(usize, usize)>,
    /// The longer one of the two translations.
    time: Duration,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = Path::new(arguments.first().map_or("../shared/corpora/ltl", String::as_str));
    let verbose = arguments.iter().any(|a| a == "-v");
    let spot = read_spot(directory)?;
    println!(
        "{:<22} {:>9} {:>6} {:>6} {:>6} {:>6} {:>9} {:>9}",
        "set", "automata", "tgba", "spot", "ba", "spot", "slowest", "time"
    );
    let mut all = Vec::new();
    for (i, set) in SETS.iter().chain(&MORE).enumerate() {
        if i == SETS.len() {
            print_row("sum", &all);
        }
        let measured = measure(directory, set, &spot)?;
        for m in measured.iter().filter(|m| verbose && m.spot.is_some() && m.states.ok() != m.spot) {
            println!("  {:?} {:?} {:.1?} {} {}", m.states, m.spot, m.time, m.place, m.text);
        }
        print_row(set, &measured);
        all.extend(measured);
    }
    println!("\nwithout figures of Spot:");
    for m in all.iter().filter(|m| m.spot.is_none()) {
        println!("  {:?} {:.1?} {} {:.80}", m.states, m.time, m.place, m.text);
    }
    println!("\nfailed:");
    for (m, error) in all.iter().filter_map(|m| m.states.err().map(|error| (m, error))) {
        println!("  {} {error}", m.place);
    }
    println!("\nslowest:");
    all.sort_by_key(|m| std::cmp::Reverse(m.time));
    for m in all.iter().take(10) {
        println!("  {:>9.1?} {:?} {:?} {} {:.80}", m.time, m.states, m.spot, m.place, m.text);
    }
    Ok(())
}

fn read_spot(directory: &Path) -> Result<Spot, Box<dyn std::error::Error>> {
    let mut spot = Spot::new();
    for line in std::fs::read_to_string(directory.join("spot-2.12-sizes.csv"))?.lines().skip(1) {
        let fields: Vec<&str> = line.split(',').collect();
        // what took Spot too long is left empty
        if let [file, number, negated, tgba, _, _, ba, ..] = fields[..]
            && !tgba.is_empty()
            && !ba.is_empty()
        {
            spot.insert((file.to_owned(), number.parse()?, negated == "1"), (tgba.parse()?, ba.parse()?));
        }
    }
    Ok(spot)
}

fn measure(directory: &Path, set: &str, spot: &Spot) -> Result<Vec<Measured>, Box<dyn std::error::Error>> {
    let file = format!("{set}.ltl");
    let mut measured = Vec::new();
    for (n, line) in std::fs::read_to_string(directory.join(&file))?.lines().enumerate() {
        let mut atoms = Atoms::new();
        let f = parse(line, Dialect::Plain, &mut atoms)?;
        for negated in [false, true] {
            let (states, time) = sizes(&if negated { !f.clone() } else { f.clone() }, &atoms);
            let spot = spot.get(&(file.clone(), n + 1, negated)).copied();
            let place = format!("{set}:{}{}", n + 1, if negated { " negated" } else { "" });
            measured.push(Measured { place, text: line.to_owned(), states, spot, time });
        }
    }
    Ok(measured)
}

fn sizes(f: &Formula, atoms: &Atoms) -> (Result<(usize, usize), TranslateError>, Duration) {
    let start = Instant::now();
    let tgba = translate(f, atoms, Options::default());
    let middle = Instant::now();
    let ba = translate(f, atoms, Options { acceptance: Acceptance::Buchi, ..Options::default() });
    let time = middle.elapsed().max(middle - start);
    (tgba.and_then(|a| Ok((a.states, ba?.states))), time)
}

/// The sums over all formulas for which there are both our figures and Spot's; the times are those of all.
fn print_row(name: &str, measured: &[Measured]) {
    let mut sums = [0; 5];
    for (ours, spot) in measured.iter().filter_map(|m| Some((m.states.ok()?, m.spot?))) {
        for (sum, x) in sums.iter_mut().zip([1, ours.0, spot.0, ours.1, spot.1]) {
            *sum += x;
        }
    }
    let slowest = measured.iter().map(|m| m.time).max().unwrap_or_default();
    let time: Duration = measured.iter().map(|m| m.time).sum();
    let [count, tgba, spot_tgba, ba, spot_ba] = sums;
    println!("{name:<22} {count:>9} {tgba:>6} {spot_tgba:>6} {ba:>6} {spot_ba:>6} {slowest:>9.1?} {time:>9.1?}");
}
