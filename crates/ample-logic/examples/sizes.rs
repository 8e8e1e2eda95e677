//! The sizes of automata for the formulas of the literature, and of their negations, beside those of Spot.
//!
//! `cargo run --release --example sizes -- DIRECTORY [-v]`, where the directory has `*.ltl` files, a formula a line,
//! and `spot-2.12-sizes.csv`.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use ample_logic::{Acceptance, Atoms, Dialect, Options, parse, translate};

const SETS: [&str; 5] = ["DwyerAC98", "EtessamiH00", "SomenziB00", "Liberouter04", "Pelanek07"];
const MORE: [&str; 3] = ["Parametrised", "Parametrised-Hardness", "SickertEJK16"];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = Path::new(arguments.first().map_or("../shared/corpora/ltl", String::as_str));
    let verbose = arguments.iter().any(|a| a == "-v");
    let mut spot: HashMap<(String, usize, bool), (usize, usize)> = HashMap::new();
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
    println!("{:<22} {:>9} {:>6} {:>6} {:>6} {:>6} {:>9}", "set", "automata", "tgba", "spot", "ba", "spot", "slowest");
    let mut total = [0; 5];
    for (i, set) in SETS.iter().chain(&MORE).enumerate() {
        if i == SETS.len() {
            println!("{:<22} {:>9} {:>6} {:>6} {:>6} {:>6}", "sum", total[0], total[1], total[2], total[3], total[4]);
        }
        let file = format!("{set}.ltl");
        let (mut sums, mut slowest) = ([0; 5], Duration::ZERO);
        for (n, line) in std::fs::read_to_string(directory.join(&file))?.lines().enumerate() {
            let mut atoms = Atoms::new();
            let f = parse(line, Dialect::Plain, &mut atoms)?;
            for negated in [false, true] {
                let f = if negated { !f.clone() } else { f.clone() };
                let Some(&(spot_tgba, spot_ba)) = spot.get(&(file.clone(), n + 1, negated)) else { continue };
                let start = Instant::now();
                let tgba = translate(&f, &atoms, Options::default());
                let middle = Instant::now();
                let ba = translate(&f, &atoms, Options { acceptance: Acceptance::Buchi, ..Options::default() });
                let time = middle.elapsed().max(middle - start);
                slowest = slowest.max(time);
                let (tgba, ba) = match (tgba, ba) {
                    (Ok(a), Ok(b)) => (a.states, b.states),
                    (Err(e), _) | (_, Err(e)) => {
                        println!("{file}:{} {e}", n + 1);
                        continue;
                    }
                };
                if verbose && (tgba, ba) != (spot_tgba, spot_ba) {
                    let sign = if negated { "!" } else { " " };
                    println!(
                        "  {tgba:>3} {spot_tgba:>3}  {ba:>3} {spot_ba:>3} {time:>10.1?} {set}:{} {sign} {line}",
                        n + 1
                    );
                }
                for (sum, x) in sums.iter_mut().zip([1, tgba, spot_tgba, ba, spot_ba]) {
                    *sum += x;
                }
            }
        }
        let [count, tgba, spot_tgba, ba, spot_ba] = sums;
        println!("{set:<22} {count:>9} {tgba:>6} {spot_tgba:>6} {ba:>6} {spot_ba:>6} {slowest:>9.1?}");
        for (sum, x) in total.iter_mut().zip(sums) {
            *sum += x;
        }
    }
    Ok(())
}
