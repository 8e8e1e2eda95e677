//! What is asked about a file: properties, and formulas that are refused.
//!
//! A formula that is refused has a result like the others, which says why; the others are answered all the same.

use std::collections::HashMap;
use std::path::Path;

use ample::{
    Answer, Budget, Diagnostic, Formulas, LoadError, LoadOptions, Loaded, Property, Question, Refused as Unsupported,
    RefusedFormula, Rejected, Report, Severity, Source, Statistics, System,
};
use ample_lang::diagnostic::closest;
use serde_json::{Value, json};

use super::arguments::Check;
use super::diagnostics;

/// The engine of what nobody has looked at.
const NO_ENGINE: &str = "none";

/// A question, in the order in which they are asked.
pub enum Asked {
    /// One that can be answered.
    Property(Property),
    /// One with which nothing is wrong, but that is not looked at.
    Unsupported(Unsupported),
    /// One that cannot.
    Refused(Refused),
}

impl Asked {
    fn property(&self) -> Option<&Property> {
        match self {
            Asked::Property(property) => Some(property),
            Asked::Unsupported(_) | Asked::Refused(_) => None,
        }
    }
}

/// A formula that is refused.
pub struct Refused {
    /// What the property would be called.
    property: String,
    /// The text.
    formula: String,
    /// Why.
    pub error: LoadError,
}

/// All that is asked about a file.
#[derive(Default)]
pub struct Questions {
    /// In the order in which they are asked.
    asked: Vec<Asked>,
    /// What properties of the Model Checking Contest are called in reports, by their ids.
    contest: HashMap<String, String>,
}

impl Questions {
    /// The questions of the command line; all that the file states if there are none. It is an error if the budget was
    /// exhausted while they were read.
    pub fn of(loaded: &Loaded, arguments: &Check, options: &LoadOptions) -> Result<Questions, LoadError> {
        let mut asked = named(loaded, arguments, &options.budget)?;
        asked.extend(automata(loaded, arguments, options)?);
        let of_contest = of_contest(loaded, arguments, options)?;
        let contest = of_contest.iter().filter_map(Asked::property).map(|one| (one.id(), one.name.clone())).collect();
        asked.extend(of_contest);
        if asked.is_empty() {
            asked.extend(ample::stated(&loaded.system).into_iter().map(Asked::Property));
            asked.extend(loaded.refused.iter().map(|one| Asked::Refused(block(loaded, one))));
        }
        Ok(Questions { asked, contest })
    }

    /// The properties to be checked.
    pub fn properties(&self) -> Vec<Property> {
        self.asked.iter().filter_map(Asked::property).cloned().collect()
    }

    /// The formulas of the file that are refused and that nobody asks about.
    pub fn refused_unasked<'a>(&'a self, loaded: &'a Loaded) -> impl Iterator<Item = &'a RefusedFormula> {
        let is_asked = |one: &RefusedFormula| self.refused().any(|refused| refused.property == one.property);
        loaded.refused.iter().filter(move |one| !is_asked(one))
    }

    /// What is refused.
    pub fn refused(&self) -> impl Iterator<Item = &Refused> {
        self.asked.iter().filter_map(|asked| match asked {
            Asked::Refused(refused) => Some(refused),
            Asked::Property(_) | Asked::Unsupported(_) => None,
        })
    }

    /// Refuses what cannot be answered because a condition of `--justice` is refused.
    pub fn refuse_runs(&mut self, loaded: &Loaded, text: &str, error: LoadError) {
        let about_runs = |property: &Property| {
            !matches!(property.question, Question::Deadlock | Question::Assertions | Question::Invariant(_))
        };
        for asked in &mut self.asked {
            if let Asked::Property(property) = asked
                && about_runs(property)
            {
                let reason = format!("the condition `{text}` of --justice is refused");
                let error = LoadError::Language { path: loaded.system.name.clone(), reason };
                *asked = Asked::Refused(Refused { property: property.id(), formula: property.text.clone(), error });
            }
        }
        self.asked.push(Asked::Refused(Refused::new("justice", text, error)));
    }

    /// Puts the results of what was not looked at where they belong. The formulas of the contest get the names that the
    /// contest gave them.
    pub fn complete(&self, report: &mut Report) {
        for answer in &mut report.answers {
            if let Some(name) = self.contest.get(&answer.property) {
                answer.property.clone_from(name);
            }
        }
        let mut answers = std::mem::take(&mut report.answers).into_iter();
        for asked in &self.asked {
            match asked {
                Asked::Property(_) => report.answers.extend(answers.next()),
                Asked::Unsupported(one) => {
                    report.answers.push(Answer::unsupported(one.name.clone(), one.why.clone()));
                }
                Asked::Refused(refused) => report.answers.push(refused.answer()),
            }
        }
        report.answers.extend(answers);
    }

    /// The report as JSON, with the diagnostics of what is refused.
    pub fn json(&self, report: &Report) -> serde_json::Result<Value> {
        let mut value = serde_json::to_value(report)?;
        let mut all = Vec::new();
        let mut answers = report.answers.iter().enumerate();
        for refused in self.refused() {
            let diagnostics = diagnostics::of_error(&refused.error);
            if let Some((number, _)) = answers.find(|(_, answer)| refused.is_answered_by(answer))
                && let Some(result) = value["results"].get_mut(number)
            {
                result["diagnostics"] = Value::Array(diagnostics.clone());
            }
            all.extend(diagnostics);
        }
        if let Some(first) = self.refused().next() {
            value["error"] = json!(first.error.to_string());
            value["diagnostics"] = Value::Array(all);
        }
        Ok(value)
    }
}

impl Refused {
    fn new(kind: &str, text: &str, error: LoadError) -> Refused {
        Refused { property: format!("{kind}:{text}"), formula: text.to_owned(), error }
    }

    fn answer(&self) -> Answer {
        let why = match &self.error {
            LoadError::Language { reason, .. } => reason.clone(),
            error if self.property.starts_with("automaton:") => format!("the automaton is refused: {error}"),
            error => format!("the formula is refused: {error}"),
        };
        let formula = self.formula.clone();
        Answer { formula, engine: NO_ENGINE, ..Answer::unsupported(self.property.clone(), why) }
    }

    fn is_answered_by(&self, answer: &Answer) -> bool {
        answer.engine == NO_ENGINE && answer.property == self.property
    }
}

/// A report about a model of which nothing is to be checked.
pub fn empty_report(system: &System) -> Report {
    Report {
        model: system.name.clone(),
        language: system.language.clone(),
        answers: Vec::new(),
        ended: None,
        statistics: Statistics { complete: true, ..Statistics::default() },
        reduction: None,
        symmetry: None,
        static_reduction: None,
        diagrams: None,
        solving: None,
        choice: None,
        cut: None,
        unreached: None,
        unreached_except: Vec::new(),
        cluster: None,
    }
}

/// A property that was typed on the command line, and has no other name.
pub fn typed(text: &str, question: Question) -> Property {
    Property { name: text.to_owned(), question, text: text.to_owned(), span: None }
}

/// The questions that are named on the command line.
fn named(loaded: &Loaded, arguments: &Check, budget: &Budget) -> Result<Vec<Asked>, LoadError> {
    let system = &loaded.system;
    let asked = &arguments.properties;
    let mut all = Vec::new();
    if asked.assertions {
        all.push(Asked::Property(Property::assertions()));
    }
    if asked.deadlock {
        all.push(Asked::Property(Property::deadlock()));
    }
    for text in &asked.invariant {
        all.push(match loaded.expression_within(text, budget) {
            Ok(condition) => Asked::Property(typed(text, Question::Invariant(condition))),
            Err(error @ LoadError::Interrupted { .. }) => return Err(error),
            Err(error) => Asked::Refused(Refused::new("invariant", text, error)),
        });
    }
    if asked.acceptance {
        all.push(Asked::Property(Property::acceptance()));
    }
    if asked.non_progress {
        all.push(Asked::Property(Property::progress()));
    }
    if asked.never {
        all.extend(claims(system));
    }
    for text in &asked.ltl {
        all.push(formula(loaded, text, Logic::Linear, budget)?);
    }
    for text in &asked.ctl {
        all.push(formula(loaded, text, Logic::Branching, budget)?);
    }
    Ok(all)
}

/// The never claims of the file.
fn claims(system: &System) -> Vec<Asked> {
    let is_claim = |property: &&Property| matches!(property.question, Question::Never(_));
    let claims: Vec<Asked> = system.properties.iter().filter(is_claim).cloned().map(Asked::Property).collect();
    if !claims.is_empty() {
        return claims;
    }
    let reason = "there is no never claim in this file".to_owned();
    let error = LoadError::Language { path: system.name.clone(), reason };
    vec![Asked::Refused(Refused { property: "never".into(), formula: "never claim".into(), error })]
}

/// The automata in files.
fn automata(loaded: &Loaded, arguments: &Check, options: &LoadOptions) -> Result<Vec<Asked>, LoadError> {
    let mut all = Vec::new();
    for path in &arguments.properties.automaton {
        let name = path.display().to_string();
        let read =
            ample::read_text(path, options).and_then(|text| loaded.automaton_within(&name, &text, &options.budget));
        all.push(match read {
            Ok(automaton) => {
                let question = Question::Automaton(Box::new(automaton));
                Asked::Property(typed(&name, question))
            }
            Err(error @ LoadError::Interrupted { .. }) => return Err(error),
            Err(error) => {
                let property = format!("automaton:{name}");
                Asked::Refused(Refused { property, formula: String::new(), error })
            }
        });
    }
    Ok(all)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Logic {
    Linear,
    Branching,
}

impl Logic {
    /// What ids begin with.
    fn prefix(self) -> &'static str {
        if self == Logic::Linear { "ltl" } else { "ctl" }
    }

    fn holds(self, property: &Property) -> bool {
        match property.question {
            Question::Ltl(_) => self == Logic::Linear,
            Question::Ctl(_) => self == Logic::Branching,
            _ => false,
        }
    }
}

/// A formula, or the name of one in the file.
fn formula(loaded: &Loaded, text: &str, logic: Logic, budget: &Budget) -> Result<Asked, LoadError> {
    let name = text.trim();
    let is_it = |property: &&Property| logic.holds(property) && property.name == name;
    if let Some(property) = loaded.system.properties.iter().find(is_it) {
        return Ok(Asked::Property(property.clone()));
    }
    let id = format!("{}:{name}", logic.prefix());
    if let Some(refused) = loaded.refused.iter().find(|refused| refused.property == id) {
        return Ok(Asked::Refused(block(loaded, refused)));
    }
    let read = match logic {
        Logic::Linear => loaded.ltl_within(text, budget).map(Question::Ltl),
        Logic::Branching => loaded.ctl_within(text, budget).map(Question::Ctl),
    };
    Ok(match read {
        Ok(question) => Asked::Property(typed(text, question)),
        Err(error @ LoadError::Interrupted { .. }) => return Err(error),
        Err(error) => Asked::Refused(Refused::new(logic.prefix(), text, with_near_name(loaded, name, logic, error))),
    })
}

/// The error with the name of a formula of the file that may have been meant.
fn with_near_name(loaded: &Loaded, text: &str, logic: Logic, mut error: LoadError) -> LoadError {
    let is_name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    let LoadError::Rejected(Rejected { diagnostics, .. }) = &mut error else { return error };
    let Some(first) = diagnostics.iter_mut().find(|one| one.severity == Severity::Error && is_name) else {
        return error;
    };
    let stated = || loaded.system.properties.iter();
    let refused = loaded.refused.iter().filter_map(|one| one.property.strip_prefix(logic.prefix())?.strip_prefix(':'));
    let names = stated().filter(|property| logic.holds(property)).map(|property| property.name.as_str()).chain(refused);
    let is_other =
        |property: &Property| property.name == text && matches!(property.question, Question::Ltl(_) | Question::Ctl(_));
    if stated().any(is_other) {
        let option = if logic == Logic::Linear { "--ctl" } else { "--ltl" };
        first.help = Some(format!("the formula `{text}` of the file is checked with {option}"));
    } else if let Some(near) = closest(text, names) {
        first.help = Some(match first.help.take() {
            Some(help) => format!("{help} Or the formula `{near}`?"),
            None => format!("did you mean the formula `{near}`?"),
        });
    }
    error
}

/// A formula of the file that is refused.
fn block(loaded: &Loaded, refused: &RefusedFormula) -> Refused {
    of_file(&loaded.system.sources, refused)
}

fn of_file(sources: &[Source], refused: &RefusedFormula) -> Refused {
    let rejected = Rejected::new(sources.to_vec(), refused.diagnostics.clone());
    Refused { property: refused.property.clone(), formula: refused.text.clone(), error: rejected.into() }
}

/// Warnings about formulas of the file that are refused.
pub fn warnings<'a>(refused: impl Iterator<Item = &'a RefusedFormula>) -> Vec<Diagnostic> {
    let warning = |one: &RefusedFormula, diagnostic: &Diagnostic| Diagnostic {
        severity: Severity::Warning,
        message: format!("{} is refused: {}", one.property, diagnostic.message),
        ..diagnostic.clone()
    };
    refused.flat_map(|one| one.diagnostics.iter().map(move |diagnostic| warning(one, diagnostic))).collect()
}

/// The properties of formula files, and the questions about a whole net.
fn of_contest(loaded: &Loaded, arguments: &Check, options: &LoadOptions) -> Result<Vec<Asked>, LoadError> {
    let mut all = Vec::new();
    for path in &arguments.properties.formulas {
        let name = path.display().to_string();
        match of_formula_file(loaded, path, &name, options) {
            Ok(asked) => all.extend(asked),
            Err(error @ LoadError::Interrupted { .. }) => return Err(error),
            Err(error) => all.push(Asked::Refused(Refused { property: name, formula: String::new(), error })),
        }
    }
    for examination in &arguments.properties.examination {
        let name = examination.name().to_owned();
        all.push(match loaded.examination_within(*examination, &options.budget) {
            Ok(property) => Asked::Property(property),
            Err(error @ LoadError::Interrupted { .. }) => return Err(error),
            Err(error) => Asked::Refused(Refused { property: name.clone(), formula: name, error }),
        });
    }
    Ok(all)
}

fn of_formula_file(loaded: &Loaded, path: &Path, name: &str, options: &LoadOptions) -> Result<Vec<Asked>, LoadError> {
    let text = ample::read_text(path, options)?;
    let Formulas { properties, refused, faulty } = loaded.formulas_within(name, &text, &options.budget)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let sources = [Source { path: name.to_owned(), text }];
    let properties = properties.into_iter().map(Asked::Property);
    let faulty = faulty.iter().map(|one| Asked::Refused(of_file(&sources, one)));
    Ok(properties.chain(refused.into_iter().map(Asked::Unsupported)).chain(faulty).collect())
}
