//! The binary diagrams of ample beside OxiDD's, on the same problems with the same variable order and one thread.
//!
//! `chaining`: the reachable states of N dining philosophers who take either fork first, 3^N states in three bits each;
//! one relation for each philosopher, all from the states so far until nothing is new. `saturation`: the same states, by
//! the operation that only ample has. `queens`: the placements of N queens, conjunctions and negations alone.
//!
//!     diagrams-beside-oxidd ample|oxidd chaining|saturation|queens N
//!
//! Prints the number of solutions, the nodes of their set, and the processor time in seconds. One problem a process, so
//! that peak memory can be measured from outside.

mod ample;
mod other;

use std::time::Instant;

/// What a problem needs of a package. A variable is a bit of the state, now or in the next state.
pub trait Package {
    /// A Boolean function.
    type Function: Clone + PartialEq;
    /// A relation, with the bits that it writes.
    type Relation;

    fn constant(&self, value: bool) -> Self::Function;
    fn now(&self, bit: u32) -> Self::Function;
    fn next(&self, bit: u32) -> Self::Function;
    fn not(&self, f: &Self::Function) -> Self::Function;
    fn and(&self, f: &Self::Function, g: &Self::Function) -> Self::Function;
    fn or(&self, f: &Self::Function, g: &Self::Function) -> Self::Function;
    fn relation(&self, function: Self::Function, writes: &[u32]) -> Self::Relation;
    fn image(&self, set: &Self::Function, relation: &Self::Relation) -> Self::Function;
    /// The set, closed under the relations; `None` if the package has no such operation.
    fn saturated(&self, set: &Self::Function, relations: &[Self::Relation]) -> Option<Self::Function>;
    fn nodes(&self, f: &Self::Function) -> usize;
    /// How many values of the bits now satisfy it.
    fn count(&self, f: &Self::Function) -> f64;

    fn literal(&self, variable: Self::Function, value: bool) -> Self::Function {
        if value { variable } else { self.not(&variable) }
    }
}

/// A step of a philosopher: bits that have to have these values, and the values of bits after it.
type Step = (Vec<(u32, bool)>, Vec<(u32, bool)>);

/// The bits of philosopher i: his left fork lies on the table; he holds it; he holds the right one.
fn steps(i: u32, n: u32) -> Vec<Step> {
    let (left, right) = (3 * i, 3 * ((i + 1) % n));
    let (has_left, has_right) = (3 * i + 1, 3 * i + 2);
    vec![
        (vec![(left, true), (has_left, false)], vec![(left, false), (has_left, true)]),
        (vec![(right, true), (has_right, false)], vec![(right, false), (has_right, true)]),
        (
            vec![(has_left, true), (has_right, true)],
            vec![(has_left, false), (has_right, false), (left, true), (right, true)],
        ),
    ]
}

fn relation<P: Package>(package: &P, i: u32, n: u32) -> P::Relation {
    let mut writes = vec![3 * i, 3 * i + 1, 3 * i + 2, 3 * ((i + 1) % n)];
    writes.sort_unstable();
    let mut all = package.constant(false);
    for (guard, effect) in steps(i, n) {
        let mut step = package.constant(true);
        for (bit, value) in guard {
            step = package.and(&step, &package.literal(package.now(bit), value));
        }
        for bit in &writes {
            let next = package.next(*bit);
            let condition = match effect.iter().find(|(written, _)| written == bit) {
                Some((_, value)) => package.literal(next, *value),
                None => {
                    let now = package.now(*bit);
                    let both = package.and(&now, &next);
                    package.or(&both, &package.and(&package.not(&now), &package.not(&next)))
                }
            };
            step = package.and(&step, &condition);
        }
        all = package.or(&all, &step);
    }
    package.relation(all, &writes)
}

fn philosophers<P: Package>(package: &P, n: u32) -> (P::Function, Vec<P::Relation>) {
    let mut initial = package.constant(true);
    for bit in (0..3 * n).rev() {
        initial = package.and(&initial, &package.literal(package.now(bit), bit % 3 == 0));
    }
    (initial, (0..n).map(|i| relation(package, i, n)).collect())
}

fn chaining<P: Package>(package: &P, n: u32) -> P::Function {
    let (mut reached, relations) = philosophers(package, n);
    loop {
        let before = reached.clone();
        for relation in &relations {
            reached = package.or(&reached, &package.image(&reached, relation));
        }
        if reached == before {
            return reached;
        }
    }
}

fn saturation<P: Package>(package: &P, n: u32) -> Option<P::Function> {
    let (initial, relations) = philosophers(package, n);
    package.saturated(&initial, &relations)
}

fn queens<P: Package>(package: &P, n: u32) -> P::Function {
    let square = |row: u32, column: u32| package.now(row * n + column);
    let mut all = package.constant(true);
    for row in 0..n {
        let mut some = package.constant(false);
        for column in 0..n {
            some = package.or(&some, &square(row, column));
        }
        all = package.and(&all, &some);
    }
    for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
        let mut alone = package.constant(true);
        for (r, c) in (0..n).flat_map(|r| (0..n).map(move |c| (r, c))) {
            let attacks = r == row || c == column || r.abs_diff(row) == c.abs_diff(column);
            if attacks && (r, c) != (row, column) {
                alone = package.and(&alone, &package.not(&square(r, c)));
            }
        }
        let here = square(row, column);
        all = package.and(&all, &package.or(&package.not(&here), &alone));
    }
    all
}

fn measure<P: Package>(package: &P, problem: &str, n: u32) {
    let start = Instant::now();
    let found = match problem {
        "chaining" => Some(chaining(package, n)),
        "saturation" => saturation(package, n),
        "queens" => Some(queens(package, n)),
        _ => None,
    };
    let Some(found) = found else { return eprintln!("no such problem: {problem}") };
    let seconds = start.elapsed().as_secs_f64();
    println!("{:e} {} {seconds:.4}", package.count(&found), package.nodes(&found));
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [package, problem, n] = &arguments[..] else { return eprintln!("ample|oxidd chaining|saturation|queens N") };
    let Ok(n) = n.parse() else { return eprintln!("not a number: {n}") };
    let bits = if problem == "queens" { n * n } else { 3 * n };
    match package.as_str() {
        "ample" => measure(&ample::Ample::new(bits), problem, n),
        "oxidd" => measure(&other::OxiDD::new(bits), problem, n),
        _ => eprintln!("no such package: {package}"),
    }
}
