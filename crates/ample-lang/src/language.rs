//! What a language is, and which there are.
//!
//! A language is a module that implements [`Language`], and an entry in [`LANGUAGES`]. Nobody else knows its name.

use ample_logic::Dialect;
use ample_model::{Budget, Expr, System, Temporal};

use crate::diagnostic::{Diagnostic, Rejected, Severity};
use crate::promela::preprocess::Loader;
use crate::refused::RefusedFormula;
use crate::{circuit, milestones, pnml, promela, promplus, smv, softver};

/// A text to be read.
pub struct Given<'a> {
    /// What reports call it, and what includes are relative to.
    pub name: &'a str,
    /// The text.
    pub text: String,
    /// Reads what it includes.
    pub loader: &'a mut dyn Loader,
    /// Macros that are defined before the first line, with their values.
    pub defines: &'a [(String, String)],
    /// What reading may take.
    pub budget: &'a Budget,
    /// How many bits process ids and references of PROM+ have.
    pub widths: promplus::Widths,
    /// Leave out formulas that are refused; otherwise one of them is enough to refuse the model.
    pub without_refused: bool,
}

/// A model that was read.
#[derive(Debug)]
pub struct Read {
    /// The model.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
    /// What became of the nodes of a Petri net, if it is one.
    pub net: Option<pnml::Names>,
    /// The formulas that were left out.
    pub refused: Vec<RefusedFormula>,
}

/// A language that models are written in.
pub trait Language: Sync {
    /// Its name, which [`System::language`] gives.
    fn name(&self) -> &'static str;

    /// Its name and its usual extension, for people.
    fn title(&self) -> &'static str;

    /// The extensions of its files, in small letters.
    fn extensions(&self) -> &'static [&'static str];

    /// A text without one of these extensions is likely to be in this language.
    fn looks_like(&self, text: &str) -> bool;

    /// Its statements have names of their own, and are not just text.
    fn names_statements(&self) -> bool {
        true
    }

    /// Its user thinks of processes, each of which stands somewhere.
    fn has_processes(&self) -> bool {
        true
    }

    /// What a model states is all that is asked about it: a state without a next one is no mistake.
    fn states_all(&self) -> bool {
        false
    }

    /// Reads a model.
    fn read(&self, given: Given<'_>) -> Result<Read, Rejected>;

    /// Reads a condition on states, over the names of a model in this language.
    fn expression(&self, system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected>;

    /// Reads a formula of linear time.
    fn ltl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected>;

    /// Reads a formula of branching time.
    fn ctl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected>;

    /// How the operators of its formulas are written and bind, for formulas with atoms of another kind.
    fn dialect(&self) -> Dialect {
        Dialect::Plain
    }
}

/// All languages; a text may look like several, and is then taken for the first.
pub static LANGUAGES: &[&dyn Language] = &[
    &Circuit(circuit::Format::Bench),
    &Circuit(circuit::Format::Blif),
    &Circuit(circuit::Format::Aiger),
    &Pnml,
    &Milestones,
    &SoftVer,
    &Smv,
    &PromPlus,
    &Promela,
];

/// Promela, Spin's language.
pub struct Promela;

impl Language for Promela {
    fn name(&self) -> &'static str {
        "promela"
    }

    fn title(&self) -> &'static str {
        "Promela (.pml)"
    }

    /// Those in the wild.
    fn extensions(&self) -> &'static [&'static str] {
        &["pml", "prom", "prm", "promela", "pr", "pm", "sumo", "spin", "model"]
    }

    fn looks_like(&self, text: &str) -> bool {
        text.contains("proctype") || words(text).any(|word| word == "init")
    }

    fn names_statements(&self) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let Given { name, text, loader, defines, budget, without_refused, .. } = given;
        let (lowered, refused) = match without_refused {
            true => promela::read_apart_from_refused(name, text, loader, defines, budget)?,
            false => (promela::read_within(name, text, loader, defines, budget)?, Vec::new()),
        };
        Ok(Read { system: lowered.system, warnings: lowered.warnings, net: None, refused })
    }

    fn expression(&self, system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected> {
        promela::expression_within(system, text, budget)
    }

    fn ltl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        promela::ltl_within(system, text, budget)
    }

    fn ctl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        promela::ctl_within(system, text, budget)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Promela
    }
}

/// PROM+: Promela's processes with pointers and objects.
pub struct PromPlus;

impl Language for PromPlus {
    fn name(&self) -> &'static str {
        promplus::NAME
    }

    fn title(&self) -> &'static str {
        "PROM+ (.promp)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["promp", "prom+", "promplus"]
    }

    /// Promela without an `init`, with an object that is created.
    fn looks_like(&self, text: &str) -> bool {
        let mut before = "";
        let types = ["bit", "bool", "byte", "short", "int"];
        let is_new = |word: &str, before: &str| before == "new" && types.contains(&word);
        let mut all = words(text).filter(|word| !word.is_empty());
        text.contains("proctype") && all.any(|word| is_new(word, std::mem::replace(&mut before, word)))
    }

    fn names_statements(&self) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let Given { name, text, loader, defines, budget, widths, without_refused } = given;
        let (lowered, refused) = match without_refused {
            true => promplus::read_apart_from_refused(name, text, loader, defines, widths, budget)?,
            false => (promplus::read_within(name, text, loader, defines, widths, budget)?, Vec::new()),
        };
        Ok(Read { system: lowered.system, warnings: lowered.warnings, net: None, refused })
    }

    fn expression(&self, system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected> {
        promplus::expression_within(system, text, budget)
    }

    fn ltl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        promplus::ltl_within(system, text, budget)
    }

    fn ctl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        promplus::ctl_within(system, text, budget)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Promela
    }
}

/// The language of Milestones.
pub struct Milestones;

impl Language for Milestones {
    fn name(&self) -> &'static str {
        "milestones"
    }

    fn title(&self) -> &'static str {
        "Milestones (.mil)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mil", "milestones", "ms"]
    }

    /// Sections have an end, and there is one that says what happens.
    fn looks_like(&self, text: &str) -> bool {
        let has = |some: &[&str]| words(text).any(|word| some.contains(&word));
        !text.contains("proctype")
            && has(&["END"])
            && has(&["CASE"])
            && has(&["LOCAL", "MAIN", "GLOBAL"])
            && has(&["ACTION", "ACTIONS", "VARIABLE", "VARIABLES"])
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let (mut lowered, refused) = match given.without_refused {
            true => milestones::read_apart_from_refused(given.name, &given.text, given.budget)?,
            false => (milestones::read_within(given.name, &given.text, given.budget)?, Vec::new()),
        };
        lowered.warnings.extend(unused_macros(given.defines, "Milestones has no macros"));
        Ok(Read { system: lowered.system, warnings: lowered.warnings, net: None, refused })
    }

    fn expression(&self, system: &System, text: &str, _: &Budget) -> Result<Expr, Rejected> {
        milestones::expression(system, text)
    }

    fn ltl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        milestones::ltl(system, text)
    }

    fn ctl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        milestones::ctl(system, text)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Milestones
    }
}

/// The Petri Net Markup Language.
pub struct Pnml;

impl Language for Pnml {
    fn name(&self) -> &'static str {
        "pnml"
    }

    fn title(&self) -> &'static str {
        "Petri nets (.pnml)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pnml"]
    }

    /// XML, with the element of a net near its beginning or, where that is missing, formulas: their reader gives a better message.
    fn looks_like(&self, text: &str) -> bool {
        let text = text.trim_start_matches('\u{feff}').trim_start();
        let mut end = text.len().min(4096);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.starts_with('<') && (text[..end].contains("<pnml") || text[..end].contains(":pnml"))
    }

    fn has_processes(&self) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let mut unfolded = pnml::read_within(given.name, &given.text, given.budget)?;
        unfolded.warnings.extend(unused_macros(given.defines, "a net has no macros"));
        let (system, warnings, net) = (unfolded.system, unfolded.warnings, Some(unfolded.names));
        Ok(Read { system, warnings, net, refused: Vec::new() })
    }

    fn expression(&self, system: &System, text: &str, _: &Budget) -> Result<Expr, Rejected> {
        pnml::expression(system, &pnml::Names::of(system), text)
    }

    fn ltl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        pnml::ltl(system, &pnml::Names::of(system), text)
    }

    fn ctl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        pnml::ctl(system, &pnml::Names::of(system), text)
    }
}

/// A format of circuits.
pub struct Circuit(pub circuit::Format);

impl Language for Circuit {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn title(&self) -> &'static str {
        match self.0 {
            circuit::Format::Aiger => "AIGER (.aag, .aig)",
            circuit::Format::Blif => "BLIF (.blif)",
            circuit::Format::Bench => "ISCAS circuits (.bench)",
        }
    }

    fn extensions(&self) -> &'static [&'static str] {
        match self.0 {
            circuit::Format::Aiger => &["aag", "aig"],
            circuit::Format::Blif => &["blif"],
            circuit::Format::Bench => &["bench"],
        }
    }

    fn looks_like(&self, text: &str) -> bool {
        self.0.looks_like(text)
    }

    fn has_processes(&self) -> bool {
        false
    }

    fn states_all(&self) -> bool {
        true
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let circuit::Circuit { system, mut warnings } =
            circuit::read_within(self.0, given.name, &given.text, given.budget)?;
        warnings.extend(unused_macros(given.defines, "a circuit has no macros"));
        Ok(Read { system, warnings, net: None, refused: Vec::new() })
    }

    fn expression(&self, system: &System, text: &str, _: &Budget) -> Result<Expr, Rejected> {
        circuit::expression(system, text)
    }

    fn ltl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        circuit::ltl(system, text)
    }

    fn ctl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        circuit::ctl(system, text)
    }
}

/// SMV, the language of NuSMV.
pub struct Smv;

impl Language for Smv {
    fn name(&self) -> &'static str {
        "smv"
    }

    fn title(&self) -> &'static str {
        "SMV (.smv)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["smv", "nusmv"]
    }

    fn looks_like(&self, text: &str) -> bool {
        let mut before = "";
        words(text).filter(|word| !word.is_empty()).any(|word| std::mem::replace(&mut before, word) == "MODULE")
    }

    fn has_processes(&self) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let (mut lowered, refused) = match given.without_refused {
            true => smv::read_apart_from_refused(given.name, &given.text, given.budget)?,
            false => (smv::read_within(given.name, &given.text, given.budget)?, Vec::new()),
        };
        lowered.warnings.extend(unused_macros(given.defines, "SMV has no macros"));
        Ok(Read { system: lowered.system, warnings: lowered.warnings, net: None, refused })
    }

    fn expression(&self, system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected> {
        smv::expression_within(system, text, budget)
    }

    fn ltl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        smv::ltl_within(system, text, budget)
    }

    fn ctl(&self, system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
        smv::ctl_within(system, text, budget)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Smv
    }
}

/// SoftVer, the language of K. Yorav's model checker.
pub struct SoftVer;

impl Language for SoftVer {
    fn name(&self) -> &'static str {
        "softver"
    }

    fn title(&self) -> &'static str {
        "SoftVer (.softver)"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["softver", "swv"]
    }

    /// Assignments as in Pascal, and a mark or a bracketed statement that other languages do not have.
    fn looks_like(&self, text: &str) -> bool {
        let has = |some: &[&str]| words(text).any(|word| some.contains(&word));
        text.contains(":=")
            && !text.contains("proctype")
            && (text.contains("#MODULE#")
                || text.contains("#INTEGER_LENGTH#")
                || has(&["int", "boolean"]) && has(&["od", "fi"]))
    }

    fn names_statements(&self) -> bool {
        false
    }

    fn read(&self, given: Given<'_>) -> Result<Read, Rejected> {
        let (mut lowered, refused) = match given.without_refused {
            true => softver::read_apart_from_refused(given.name, &given.text, given.budget)?,
            false => (softver::read_within(given.name, &given.text, given.budget)?, Vec::new()),
        };
        lowered.warnings.extend(unused_macros(given.defines, "SoftVer has no macros"));
        Ok(Read { system: lowered.system, warnings: lowered.warnings, net: None, refused })
    }

    fn expression(&self, system: &System, text: &str, _: &Budget) -> Result<Expr, Rejected> {
        softver::expression(system, text)
    }

    fn ltl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        softver::ltl(system, text)
    }

    fn ctl(&self, system: &System, text: &str, _: &Budget) -> Result<Temporal, Rejected> {
        softver::ctl(system, text)
    }

    fn dialect(&self) -> Dialect {
        Dialect::Milestones
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// A warning that macros mean nothing in a language that has none.
fn unused_macros(defines: &[(String, String)], why: &str) -> Option<Diagnostic> {
    let (name, _) = defines.first()?;
    let message = format!("the macro `{name}` is not used: {why}");
    Some(Diagnostic { severity: Severity::Warning, message, span: None, help: None })
}
