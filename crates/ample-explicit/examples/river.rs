//! The farmer, the wolf, the goat and the cabbage: a puzzle as a state space.
//!
//!     cargo run -p ample-explicit --example river

use ample_explicit::search::breadth_first;
use ample_explicit::search::handlers::{Accept, Always, Goal, Handlers, Insert};
use ample_explicit::simulate::{AtMost, Guided, Random, SimulationObserver, simulate};
use ample_explicit::space::StateSpace;
use ample_explicit::store::{HashStore, Parent, Store};

/// Who is across the river.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Across {
    farmer: bool,
    wolf: bool,
    goat: bool,
    cabbage: bool,
}

/// What the farmer takes along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cargo {
    Nothing,
    Wolf,
    Goat,
    Cabbage,
}

const CARGOES: [Cargo; 4] = [Cargo::Nothing, Cargo::Wolf, Cargo::Goat, Cargo::Cabbage];

impl Across {
    /// The state after the farmer has crossed with that cargo, if he can and nobody gets eaten.
    fn cross(self, cargo: Cargo) -> Option<Across> {
        let mut after = Across { farmer: !self.farmer, ..self };
        let passenger = match cargo {
            Cargo::Nothing => return after.is_safe().then_some(after),
            Cargo::Wolf => &mut after.wolf,
            Cargo::Goat => &mut after.goat,
            Cargo::Cabbage => &mut after.cabbage,
        };
        if *passenger != self.farmer {
            return None;
        }
        *passenger = !self.farmer;
        after.is_safe().then_some(after)
    }

    fn is_safe(self) -> bool {
        self.farmer == self.goat || (self.wolf != self.goat && self.goat != self.cabbage)
    }
}

impl std::fmt::Display for Across {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all = [('F', self.farmer), ('W', self.wolf), ('G', self.goat), ('C', self.cabbage)];
        let bank = |across: bool| all.map(|(name, there)| if there == across { name } else { ' ' });
        write!(f, "{} ~~~~ {}", String::from_iter(bank(false)), String::from_iter(bank(true)))
    }
}

struct River;

impl StateSpace for River {
    type State = Across;
    type Transition = Cargo;

    fn initial(&mut self, index: usize, out: &mut Across) -> bool {
        *out = Across::default();
        index == 0
    }

    fn first(&mut self, state: &Across) -> Option<Cargo> {
        CARGOES.into_iter().find(|&cargo| state.cross(cargo).is_some())
    }

    fn next(&mut self, state: &Across, last: &Cargo) -> Option<Cargo> {
        CARGOES.into_iter().skip(*last as usize + 1).find(|&cargo| state.cross(cargo).is_some())
    }

    fn target(&mut self, state: &Across, cargo: &Cargo, out: &mut Across) {
        *out = state.cross(*cargo).unwrap_or(*state);
    }
}

/// Prints every step of a simulation.
struct Print;

impl SimulationObserver<River> for Print {
    fn started(&mut self, state: &Across) {
        println!("{state}");
    }

    fn taken(&mut self, cargo: &Cargo, state: &Across) {
        println!("{state}   {cargo:?}");
    }
}

fn main() {
    let all = Across { farmer: true, wolf: true, goat: true, cabbage: true };
    let mut feedback =
        Handlers::new().on_explore(Accept(|state: &Across| *state == all), Goal).on_explore(Always, Insert);
    let mut store: HashStore<Across, Parent> = HashStore::default();
    let Some(path) = breadth_first(&mut River, &mut store, &mut feedback).goal() else {
        println!("there is no way");
        return;
    };
    println!("a shortest way, {} crossings, after a look at {} states:", path.len(), store.len());
    simulate(&mut River, &mut Guided::along(0, &path), &mut Print);
    println!("\nten crossings by chance:");
    simulate(&mut River, &mut AtMost::new(10, Random::new(1)), &mut Print);
}
