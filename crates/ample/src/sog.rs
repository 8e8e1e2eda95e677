//! Formulas over states and events.
//!
//! A formula that names no action is one of the model's own language. In the others, atoms are names of actions and
//! conditions on states. Both have names of the model that may begin like operators: a name that the model has is that
//! name, and what is ambiguous is refused.

use std::collections::HashSet;

use ample_budget::Budget;
use ample_lang::{Diagnostic, Rejected, pnml};
use ample_logic::{Atom, Dialect, ParseError, declared_atom, parse_with};
use ample_model::{Expr, Source, SourceId, Span, System};

use ample_sog::engine::Said;
pub use ample_sog::engine::{
    Balance, Built, Canonical, Counterexample, DiagramKind, ENDLESS, Graph, Judged, Kind, Names, ProductSize, Rule,
    SavedGraph, Size, SogError, SogFormula, SogOptions, Work, build, check, dot, is_kept, json,
};

use crate::load::{LoadError, Loaded, language_of};

/// What the text of a formula is called in messages.
const LABEL: &str = "<formula>";

/// Reads a formula in the notation of the model's own formulas, over its states; or one whose atoms are names of actions
/// and conditions on states, these in quotes unless they are a name: `G ("x > 3" -> F send)`.
///
/// ```
/// let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x == 3 -> x = 0 od }";
/// let model = ample::load_text("count.pml", text.into(), &Default::default())?;
/// assert!(ample::sog::formula(&model, "G (x <= 3)").is_ok());
/// assert!(ample::sog::formula(&model, r#"G ("x == 3" -> F "x = 0")"#).is_ok());
/// assert!(ample::sog::formula(&model, "G F y").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn formula(loaded: &Loaded, text: &str) -> Result<SogFormula, LoadError> {
    formula_within(loaded, text, &Budget::unlimited())
}

/// As [`formula`], within a budget.
pub fn formula_within(loaded: &Loaded, text: &str, budget: &Budget) -> Result<SogFormula, LoadError> {
    let read = read(loaded, text, budget);
    // Without a budget nothing is known of a word.
    budget.check().map_err(|interrupted| LoadError::from(Rejected::from(interrupted)))?;
    read
}

fn read(loaded: &Loaded, text: &str, budget: &Budget) -> Result<SogFormula, LoadError> {
    let names = Vocabulary::of(loaded, budget);
    if names.mentions_action(text) {
        return names.read(text).map_err(|refusal| refusal.rejected.into());
    }
    let error = match loaded.ltl_within(text, budget) {
        Ok(formula) => return over_states(loaded, text, SogFormula::stated(&formula)),
        Err(error) => error,
    };
    // A text in quotes may be an action; a name that is not known may have been meant as one.
    match names.read(text) {
        Ok(formula) if text.contains('"') => Ok(formula),
        Err(refusal) if refusal.is_unknown_name || text.contains('"') => Err(refusal.rejected.into()),
        _ => Err(error),
    }
}

fn over_states(loaded: &Loaded, text: &str, formula: SogFormula) -> Result<SogFormula, LoadError> {
    for expr in formula.conditions() {
        is_kept(&loaded.system, &expr).map_err(|why| rejected(text, 0, text.len(), why))?;
    }
    Ok(formula)
}

fn rejected(text: &str, from: usize, to: usize, message: String) -> Rejected {
    let span = Span { source: SourceId(0), start: from as u32, end: to as u32 };
    let source = Source { path: LABEL.to_owned(), text: text.to_owned() };
    Rejected::new(vec![source], vec![Diagnostic::error(span, message)])
}

/// The names of all actions of a model.
pub(super) fn action_names(system: &System) -> impl Iterator<Item = &str> {
    system.processes.iter().flat_map(|process| process.edges.iter().map(|edge| edge.label.as_str()))
}

/// Why a formula over states and events is refused.
struct Refusal {
    rejected: Rejected,
    /// A name in it is that of nothing.
    is_unknown_name: bool,
}

/// What a formula can speak of.
struct Vocabulary<'a> {
    loaded: &'a Loaded,
    budget: &'a Budget,
    actions: HashSet<&'a str>,
    /// The places, if the model is a net.
    places: Option<pnml::Names>,
}

impl<'a> Vocabulary<'a> {
    fn of(loaded: &'a Loaded, budget: &'a Budget) -> Vocabulary<'a> {
        let places = loaded.net.as_ref().map(|names| {
            let mut all = pnml::Names::of(&loaded.system);
            all.places.extend(names.places.clone());
            all
        });
        Vocabulary { loaded, budget, actions: action_names(&loaded.system).collect(), places }
    }

    /// Whether a word of the formula, or what is left of it behind operators, is an action.
    fn mentions_action(&self, text: &str) -> bool {
        let unquoted = text.split('"').step_by(2);
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '@' | '$');
        let mut words = unquoted.flat_map(|part| part.split(move |c: char| !is_part(c)));
        words.any(|word| {
            let letters = word.bytes().take_while(|byte| b"FGX".contains(byte)).count();
            (0..=letters).any(|length| self.is_only_action(&word[length..]))
        })
    }

    /// Whether a word is an action. Where statements are text and have no names, a name is that of a variable if it can be.
    fn is_only_action(&self, word: &str) -> bool {
        self.actions.contains(word) && (language_of(&self.loaded.system).names_statements() || !self.is_condition(word))
    }

    /// Whether a word says something about states.
    fn is_condition(&self, word: &str) -> bool {
        let is_constant = ["true", "false"].iter().any(|constant| word.eq_ignore_ascii_case(constant))
            || word.starts_with(|c: char| c.is_ascii_digit());
        match &self.places {
            Some(names) => names.places.contains_key(word),
            None => !is_constant && self.loaded.expression_within(word, self.budget).is_ok(),
        }
    }

    fn is_declared(&self, word: &str) -> bool {
        // A variable that is a number says nothing alone, but it is a name.
        let is_variable = || self.loaded.system.globals.iter().any(|variable| variable.name == word);
        self.actions.contains(word) || is_variable() || self.is_condition(word)
    }

    /// The condition that a name or a text in quotes is.
    fn condition(&self, text: &str) -> Result<Expr, LoadError> {
        match &self.places {
            Some(names) if names.places.contains_key(text) => {
                self.loaded.expression_within(&pnml::quoted(text), self.budget)
            }
            _ => self.loaded.expression_within(text, self.budget),
        }
    }

    /// Operators bind as in the formulas over states alone, which are in the language of the model.
    fn dialect(&self) -> Dialect {
        language_of(&self.loaded.system).dialect()
    }

    /// Reads a formula over states and events.
    fn read(&self, text: &str) -> Result<SogFormula, Refusal> {
        let mut known: Vec<(String, bool)> = Vec::new();
        let mut atoms = Vec::new();
        let mut is_unknown_name = false;
        let dialect = self.dialect();
        let parsed = parse_with(text, dialect, &mut |rest: &str| {
            let Some((length, name)) = declared_atom(rest, dialect, &|word| self.is_declared(word))? else {
                return Ok(None);
            };
            let is_quoted = rest.starts_with('"');
            if let Some(number) = known.iter().position(|k| *k == (name.clone(), is_quoted)) {
                return Ok(Some((length, Atom(number as u32))));
            }
            let said = match (self.actions.contains(name.as_str()), self.condition(&name)) {
                (true, Ok(_)) if !is_quoted => {
                    return Err(format!(
                        "`{name}` is an action and also says something about states: write `\"{name}\"` for the latter"
                    ));
                }
                (_, Ok(expr)) => {
                    is_kept(&self.loaded.system, &expr)?;
                    Said::State(expr)
                }
                (true, Err(_)) => Said::Event(name.clone()),
                (false, Err(error)) => {
                    is_unknown_name = true;
                    return Err(format!("`{name}` is no action, and as a condition: {error}"));
                }
            };
            known.push((name, is_quoted));
            atoms.push(said);
            Ok(Some((length, Atom(atoms.len() as u32 - 1))))
        });
        match parsed {
            Ok(formula) => Ok(SogFormula::over(formula, atoms)),
            Err(ParseError { offset, message }) => {
                let rest = text.get(offset..).unwrap_or("");
                let word = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                let length = word.max(rest.chars().next().map_or(0, char::len_utf8));
                Err(Refusal { rejected: rejected(text, offset, offset + length, message), is_unknown_name })
            }
        }
    }
}
