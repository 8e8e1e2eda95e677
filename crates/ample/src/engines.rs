//! The engines that there are: a line in [`ENGINES`] for each, and its options beside those of the others.

use std::time::Duration;

use ample_bounded::engine::Bounded;
use ample_engine::portfolio::Later;
use ample_engine::registry::{Choice, Entry, Refusal};
use ample_explicit::engine::options::Explicit;
use ample_petri::engine::{Petri, PetriOptions};
use ample_sog::engine::Sog;
use ample_symbolic::engine::Symbolic;
use ample_symbolic::engine::modular::Modular;
use clap::Args;

/// How the engines work. Each has its own options, which its crate owns.
#[derive(Args, Clone, Copy, Debug, Default, PartialEq, Eq)]
#[group(skip)]
pub struct EngineOptions {
    /// The explicit engine.
    #[command(flatten)]
    pub explicit: Explicit,
    /// The symbolic engine.
    #[command(flatten)]
    pub symbolic: Symbolic,
    /// The modular engine.
    #[command(flatten)]
    pub modular: Modular,
    /// The engine for Petri nets.
    #[command(flatten)]
    pub petri: PetriOptions,
    /// The bounded engine.
    #[command(flatten)]
    pub bounded: Bounded,
}

impl From<Explicit> for EngineOptions {
    fn from(explicit: Explicit) -> EngineOptions {
        EngineOptions { explicit, ..EngineOptions::default() }
    }
}

impl From<Symbolic> for EngineOptions {
    fn from(symbolic: Symbolic) -> EngineOptions {
        EngineOptions { symbolic, ..EngineOptions::default() }
    }
}

impl From<Modular> for EngineOptions {
    fn from(modular: Modular) -> EngineOptions {
        EngineOptions { modular, ..EngineOptions::default() }
    }
}

impl From<PetriOptions> for EngineOptions {
    fn from(petri: PetriOptions) -> EngineOptions {
        EngineOptions { petri, ..EngineOptions::default() }
    }
}

impl From<Bounded> for EngineOptions {
    fn from(bounded: Bounded) -> EngineOptions {
        EngineOptions { bounded, ..EngineOptions::default() }
    }
}

/// The engines, the first one that takes a model first: who works with `--engine auto`, and who joins whom.
pub(crate) const ENGINES: &[Entry<EngineOptions>] = &[
    Entry {
        name: Petri::NAME,
        about: "Petri nets: structure, single markings and list decision diagrams, side by side",
        stands_for: Petri::STANDS_FOR,
        leads: |_| true,
        joins: &[],
        options: |all| &all.petri,
        engine: |all, task, choice, budget| match all.explicit.search.is_directed() {
            true => Err(Refusal::Unsuitable(DIRECTED.to_owned())),
            false => Petri::engine(all.petri, all.symbolic, task, choice, budget),
        },
    },
    Entry {
        name: "explicit",
        about: "Explicit-state search",
        stands_for: &[],
        leads: |task| task.system.synchronous().is_none(),
        joins: &[("symbolic", AFTER_DIAGRAMS)],
        options: |all| &all.explicit,
        engine: |all, _, _, _| Ok(Box::new(all.explicit)),
    },
    Entry {
        name: "modular",
        about: "Sequential programs, part by part: CTL, decision diagrams for each part",
        stands_for: &[],
        leads: |_| false,
        joins: &[("explicit", BEFORE_SYMBOLIC)],
        options: |all| &all.modular,
        engine: |all, task, choice, _| all.modular.engine(task, choice),
    },
    Entry {
        name: "symbolic",
        about: "Decision diagrams: sets of states at once",
        stands_for: &[],
        leads: |task| task.system.synchronous().is_some(),
        joins: &[("explicit", AFTER_EXPLICIT)],
        options: |all| &all.symbolic,
        engine: |all, _, _, _| Ok(Box::new(all.symbolic)),
    },
    Entry {
        name: "sog",
        about: "Symbolic observation graphs: formulas of LTL without X",
        stands_for: &[],
        leads: |_| false,
        joins: &[(Petri::NAME, AFTER_PETRI), ("explicit", AFTER_SYMBOLIC)],
        options: |_| &Sog,
        engine: |_, _, _, _| Ok(Box::new(Sog)),
    },
    Entry {
        name: "bounded",
        about: "SAT solving: runs of growing length, and proofs by induction",
        stands_for: &[],
        leads: |_| true,
        joins: &[("symbolic", BESIDE_DIAGRAMS), ("explicit", AFTER_OTHERS)],
        options: |all| &all.bounded,
        engine: |all, _, _, _| Ok(Box::new(all.bounded)),
    },
];

/// Of searches that the engine for nets has too, in another form.
const DIRECTED: &str = "directed searches are those of the explicit engine for all models";

/// The head start of the first engine, where it leaves a core idle. Nobody notices it, it is enough for most models, and what
/// an engine alone answers is told in the same way every time.
const HEAD_START: Duration = Duration::from_millis(20);
/// When the symbolic engine joins the explicit one.
const AFTER_EXPLICIT: Later =
    Later { after: HEAD_START, after_busy: Duration::from_millis(200), memory_share: 4, time_share: 1 };
/// When the modular engine joins the explicit one: where it takes a program, its diagrams are small.
const BEFORE_SYMBOLIC: Later =
    Later { after: Duration::from_millis(10), after_busy: Duration::from_millis(20), ..AFTER_EXPLICIT };
/// When the explicit engine joins the symbolic one, which begins where the system is synchronous: a state has as many
/// successors as there are inputs then.
const AFTER_DIAGRAMS: Later = Later { after_busy: Duration::from_millis(1000), ..AFTER_EXPLICIT };
/// When observation graphs join the explicit engine: with less than the symbolic engine.
const AFTER_SYMBOLIC: Later = Later { after_busy: Duration::from_millis(3000), memory_share: 6, ..AFTER_EXPLICIT };
/// When observation graphs join the engine for nets, whose workers use all cores.
const AFTER_PETRI: Later =
    Later { after_busy: Duration::from_millis(300), memory_share: 5, time_share: 2, ..AFTER_EXPLICIT };
/// When the bounded engine joins the symbolic one, which begins where the system is synchronous: diagrams may be large from
/// the beginning.
const BESIDE_DIAGRAMS: Later = Later { memory_share: 2, ..AFTER_EXPLICIT };
/// When the bounded engine joins the explicit one on other systems.
const AFTER_OTHERS: Later = Later { after_busy: Duration::from_millis(5000), ..AFTER_EXPLICIT };

/// The engines and what they are, as `--engine` names them.
///
/// ```
/// assert!(ample::engines().any(|(name, _)| name == "explicit"));
/// ```
pub fn engines() -> impl Iterator<Item = (&'static str, &'static str)> {
    ENGINES.iter().map(|entry| (entry.name, entry.about))
}

/// The choice of that name: `auto`, or an engine.
///
/// ```
/// use ample::Choice;
///
/// assert_eq!(ample::engine("auto"), Some(Choice::Auto));
/// assert_eq!(ample::engine("symbolic"), Some(Choice::Named("symbolic")));
/// assert_eq!(ample::engine("quantum"), None);
/// ```
pub fn engine(name: &str) -> Option<Choice> {
    if name == Choice::AUTO {
        return Some(Choice::Auto);
    }
    engines().find(|(one, _)| *one == name).map(|(one, _)| Choice::Named(one))
}

#[cfg(test)]
mod tests {
    use ample_budget::Budget;
    use ample_engine::engine::Task;
    use ample_engine::registry::Team;
    use ample_engine::settings::PartialOrder;
    use ample_explicit::engine::options::Search;
    use ample_model::{Property, Question};
    use ample_petri::engine::DiagramKind;
    use ample_symbolic::engine::Reach;

    use super::*;
    use crate::{Asked, CheckOptions};

    fn depth_first() -> Explicit {
        Explicit { search: Search::DepthFirst, ..Explicit::default() }
    }

    fn chosen(engine: Choice, engines: EngineOptions, partial_order: PartialOrder) -> Result<Choice, String> {
        CheckOptions { engine, engines, partial_order, ..CheckOptions::default() }.chosen_engine(Asked::Answers)
    }

    #[test]
    fn every_engine_has_a_name_of_its_own_and_joins_one_that_exists() {
        let names: Vec<&str> = engines().map(|(name, _)| name).collect();
        for (number, entry) in ENGINES.iter().enumerate() {
            assert!(!names[..number].contains(&entry.name), "{}", entry.name);
            assert!(entry.joins.iter().all(|(whom, _)| names.contains(whom)), "{}", entry.name);
            assert!(entry.stands_for.iter().all(|name| names.contains(name)), "{}", entry.name);
        }
        assert!(!names.contains(&Choice::AUTO));
    }

    /// Who works on a model with `--engine auto`, the first one first.
    fn team(file: &str, text: &str, formula: Option<&str>, asked: Asked, threads: usize) -> Vec<&'static str> {
        let loaded = crate::load_text(file, text.into(), &crate::LoadOptions::default()).unwrap();
        let mut properties = crate::stated(&loaded.system);
        properties.extend(formula.map(|formula| Property {
            question: Question::Ltl(loaded.ltl(formula).unwrap()),
            ..Property::assertions()
        }));
        let (settings, budget) = (CheckOptions::default().settings(), Budget::unlimited().with_threads(threads));
        let task = Task { system: &loaded.system, properties: &properties, settings: &settings };
        let team = Team::of(ENGINES, &EngineOptions::default(), &task, Choice::Auto, asked, &budget);
        let Ok(team) = team else { panic!("an engine takes the model") };
        team.members().iter().map(|member| member.engine.name()).collect()
    }

    #[test]
    fn observation_graphs_take_part_in_formulas_without_next_in_every_language() {
        let promela = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }";
        let milestones = "ACTIONS a; END VARIABLES g : 4; END MAIN CASE [a] true: g := g + 1; END END";
        let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
            <place id="p"><initialMarking><text>1</text></initialMarking></place></page></net></pnml>"#;
        let on_promela = |formula, asked, threads| team("m.pml", promela, formula, asked, threads);
        let all = ["explicit", "symbolic", "sog", "bounded"];
        let without = ["explicit", "symbolic", "bounded"];
        assert_eq!(on_promela(Some("[] <> (x == 0)"), Asked::Answers, 2), all);
        assert_eq!(team("m.mil", milestones, Some("G F g == 0"), Asked::Answers, 2), all);
        assert_eq!(team("m.pnml", net, Some("G p > 0"), Asked::Answers, 2), [Petri::NAME, "sog"]);
        assert_eq!(on_promela(Some("X (x == 0)"), Asked::Answers, 2), without);
        assert_eq!(on_promela(None, Asked::Answers, 2), without);
        assert_eq!(on_promela(Some("[] <> (x == 0)"), Asked::Count, 2), all[..2]);
        assert_eq!(on_promela(Some("[] <> (x == 0)"), Asked::Answers, 1), all[..1]);
    }

    #[test]
    fn sequential_programs_with_blocks_are_for_the_modular_engine_before_the_symbolic_one() {
        let softver = "int x; { x := 1; while x < 3 do x := x + 1; od; } SPEC AF x = 3";
        assert_eq!(team("m.softver", softver, None, Asked::Answers, 2), ["explicit", "modular", "symbolic", "bounded"]);
        assert_eq!(team("m.softver", softver, None, Asked::Count, 2), ["explicit", "symbolic"]);
        assert_eq!(team("m.softver", softver, None, Asked::Answers, 1), ["explicit"]);
    }

    #[test]
    fn synchronous_systems_are_for_the_symbolic_engine_first() {
        let smv = "MODULE main VAR x : 0..3; ASSIGN init(x) := 0; next(x) := (x + 1) mod 4;";
        let on_smv = |asked, threads| team("m.smv", smv, Some("G F x = 0"), asked, threads);
        assert_eq!(on_smv(Asked::Answers, 2), ["symbolic", "bounded", "explicit"]);
        assert_eq!(on_smv(Asked::Count, 2), ["symbolic", "explicit"]);
        assert_eq!(on_smv(Asked::Answers, 1), ["symbolic"]);
        let circuit = "INPUT(a)\nOUTPUT(b)\nb = DFF(c)\nc = AND(a, b)\n";
        let members = team("m.bench", circuit, Some("G !b"), Asked::Answers, 2);
        assert_eq!(members[..2], ["symbolic", "bounded"]);
    }

    #[test]
    fn an_option_of_one_engine_is_a_choice_of_it() {
        let (explicit, symbolic) = (Choice::Named("explicit"), Choice::Named("symbolic"));
        let chaining = Symbolic { reach: Reach::Chaining, ..Symbolic::default() };
        let (none, auto) = (EngineOptions::default(), PartialOrder::Auto);
        assert_eq!(chosen(Choice::Auto, none, auto), Ok(Choice::Auto));
        assert_eq!(chosen(Choice::Auto, none, PartialOrder::None), Ok(Choice::Auto));
        assert_eq!(chosen(Choice::Auto, depth_first().into(), auto), Ok(explicit));
        assert_eq!(chosen(Choice::Auto, chaining.into(), auto), Ok(symbolic));
        assert_eq!(chosen(Choice::Auto, none, PartialOrder::Sleep), Ok(explicit));
        assert_eq!(chosen(Choice::Auto, none, PartialOrder::Improviso), Ok(symbolic));
        assert_eq!(chosen(symbolic, chaining.into(), PartialOrder::Static), Ok(symbolic));
    }

    #[test]
    fn what_cannot_be_combined_is_refused_with_a_sentence() {
        let (none, auto) = (EngineOptions::default(), PartialOrder::Auto);
        let chaining = Symbolic { reach: Reach::Chaining, ..Symbolic::default() };
        let binary = PetriOptions { diagrams: DiagramKind::Binary, ..PetriOptions::default() };
        let both = EngineOptions { explicit: depth_first(), symbolic: chaining, ..none };
        let cached = Explicit { cache: Some(100), ..Explicit::default() };
        for (engine, engines, partial_order, why) in [
            (Choice::Named("explicit"), chaining.into(), auto, "`--reach` is for the symbolic engine"),
            (Choice::Named("explicit"), none, PartialOrder::Areduce, "`--por areduce` is for the symbolic engine"),
            (Choice::Named("symbolic"), depth_first().into(), auto, "`--search` is for the explicit engine"),
            (Choice::Named("symbolic"), none, PartialOrder::TwoPhase, "`--por two-phase` is for the explicit engine"),
            (Choice::Named("sog"), depth_first().into(), auto, "`--search` is for the explicit engine"),
            (Choice::Auto, both, auto, "`--search` is for the explicit engine, and `--reach` for the symbolic engine"),
            (Choice::Auto, binary.into(), auto, "`--diagrams binary` is for the symbolic engine"),
            (Choice::Auto, cached.into(), PartialOrder::TwoPhase, "`--por two-phase` has no other algorithm"),
            (Choice::Named("quantum"), none, auto, "there is no engine `quantum`"),
        ] {
            let refused = chosen(engine, engines, partial_order).unwrap_err();
            assert!(refused.starts_with(why), "{refused}");
        }
    }
}
