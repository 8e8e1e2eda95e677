//! From a file to a [`System`]: which language it is in, and what is wrong with it.

use std::ffi::OsStr;
use std::path::Path;

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_lang::{Diagnostic, Rejected, Severity, milestones};
use ample_model::{Expr, Formula, Property, System};

/// How to read a model.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Macros that are defined before the first line, with their values.
    pub defines: Vec<(String, String)>,
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
}

/// Why there is no model.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: String,
        /// Why not.
        source: std::io::Error,
    },
    /// The file is in a language that is not read.
    #[error("{path}: {reason}")]
    Language {
        /// The file.
        path: String,
        /// What it seems to be.
        reason: String,
    },
    /// The text is not a model.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The front end made a system that is not well-formed: a bug in ample.
    #[error("internal error: {path} was translated into a malformed system: {problem}")]
    Malformed {
        /// The file.
        path: String,
        /// The first thing that is wrong.
        problem: String,
    },
}

/// Extensions of Promela files in the wild.
const PROMELA: [&str; 9] = ["pml", "prom", "prm", "promela", "pr", "pm", "sumo", "spin", "model"];
/// Extensions of Milestones files.
const MILESTONES: [&str; 3] = ["mil", "milestones", "ms"];

/// The languages that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Promela,
    Milestones,
}

/// Reads a model from a file. The language is known by the file's extension, or else by its content.
///
/// ```no_run
/// let loaded = ample::load("mutex.pml".as_ref(), &ample::LoadOptions::default())?;
/// println!("{} process types", loaded.system.processes.len());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|source| LoadError::Read { path: name.clone(), source })?;
    // Old models have comments in other encodings; their bytes do not matter.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    match language(path, &text) {
        Some(language) => read(language, &name, text, options),
        None => {
            let reason = "not a language that ample reads; it reads Promela (.pml) and Milestones (.mil)".to_owned();
            Err(LoadError::Language { path: name, reason })
        }
    }
}

/// Reads a model from a text; `name` is what reports call it, and what includes are relative to. The language is known
/// by the extension of the name, or else by the text; a text that looks like none is taken for Promela.
///
/// ```
/// let loaded = ample::load_text("one.pml", "active proctype P() { skip }".into(), &Default::default())?;
/// assert_eq!(loaded.system.language, "promela");
/// let text = "VARIABLE g:2:=0; END ACTION up; END MAIN CASE [up] true: g := g + 1; END END";
/// let loaded = ample::load_text("up.mil", text.into(), &Default::default())?;
/// assert_eq!(loaded.system.language, "milestones");
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn load_text(name: &str, text: String, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let language = language(Path::new(name), &text).unwrap_or(Language::Promela);
    read(language, name, text, options)
}

fn read(language: Language, name: &str, text: String, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let loaded = match language {
        Language::Promela => {
            let lowered = promela::read(name, text, &mut FileLoader, &options.defines)?;
            Loaded { system: lowered.system, warnings: lowered.warnings }
        }
        Language::Milestones => {
            let mut lowered = milestones::read(name, &text)?;
            lowered.warnings.extend(unused_macros(options));
            Loaded { system: lowered.system, warnings: lowered.warnings }
        }
    };
    if let Err(problems) = ample_model::check::check(&loaded.system) {
        let problem = problems.first().map_or_else(String::new, ToString::to_string);
        return Err(LoadError::Malformed { path: name.to_owned(), problem });
    }
    Ok(loaded)
}

/// A warning that macros mean nothing in a language that has none.
fn unused_macros(options: &LoadOptions) -> Option<Diagnostic> {
    let (name, _) = options.defines.first()?;
    let message = format!("the macro `{name}` is not used: Milestones has no macros");
    Some(Diagnostic { severity: Severity::Warning, message, span: None, help: None })
}

/// By extension. A file without one is taken for Promela unless it looks like Milestones; one with another extension
/// must look like one of the languages.
fn language(path: &Path, text: &str) -> Option<Language> {
    let extension = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    match extension.as_deref() {
        Some(extension) if PROMELA.contains(&extension) => Some(Language::Promela),
        Some(extension) if MILESTONES.contains(&extension) => Some(Language::Milestones),
        _ if looks_like_milestones(text) => Some(Language::Milestones),
        Some(_) if !looks_like_promela(text) => None,
        _ => Some(Language::Promela),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

fn looks_like_promela(text: &str) -> bool {
    text.contains("proctype") || words(text).any(|word| word == "init")
}

/// Sections have an end, and there is one that says what happens.
fn looks_like_milestones(text: &str) -> bool {
    let has = |some: &[&str]| words(text).any(|word| some.contains(&word));
    !text.contains("proctype")
        && has(&["END"])
        && has(&["CASE"])
        && has(&["LOCAL", "MAIN", "GLOBAL"])
        && has(&["ACTION", "ACTIONS", "VARIABLE", "VARIABLES"])
}

fn is_milestones(system: &System) -> bool {
    system.language == "milestones"
}

/// Reads an expression over the model's names, in the language of the model: an invariant from the command line.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert!(ample::expression(&model.system, "x < 2").is_ok());
/// assert!(ample::expression(&model.system, "y < 2").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn expression(system: &System, text: &str) -> Result<Expr, LoadError> {
    Ok(if is_milestones(system) { milestones::expression(system, text)? } else { promela::expression(system, text)? })
}

/// Makes a model keep what properties ask about that were not stated in its text: who moved last, and priorities.
///
/// ```
/// let mut model = ample::load_text("m.pml", "active [2] proctype P() { skip }".into(), &Default::default())?;
/// let question = ample::Question::Ltl(ample::ltl(&model.system, "<> (_last == 1)")?);
/// let property = ample::Property { name: "one".into(), question, text: String::new(), span: None };
/// ample::adapt(&mut model.system, &[property]);
/// assert!(model.system.uses_last);
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn adapt(system: &mut System, properties: &[Property]) {
    for property in properties {
        property.walk(&mut |expr| match expr {
            Expr::LastMover => system.uses_last = true,
            Expr::Priority(_) => system.uses_priorities = true,
            _ => {}
        });
    }
}

/// Reads a linear-time formula over the model's names, in the notation of Spin or with letters. Its atoms are in the
/// language of the model.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert_eq!(ample::ltl(&model.system, "[] <> (x == 1)")?, ample::ltl(&model.system, "G F (x == 1)")?);
/// assert!(ample::ltl(&model.system, "AG (x == 1)").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn ltl(system: &System, text: &str) -> Result<Formula, LoadError> {
    Ok(if is_milestones(system) { milestones::ltl(system, text)? } else { promela::ltl(system, text)? })
}

/// Reads a branching-time formula over the model's names. Its atoms are in the language of the model.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert!(ample::ctl(&model.system, "AG EF (x == 1)").is_ok());
/// assert!(ample::ctl(&model.system, "AG F (x == 1)").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn ctl(system: &System, text: &str) -> Result<Formula, LoadError> {
    Ok(if is_milestones(system) { milestones::ctl(system, text)? } else { promela::ctl(system, text)? })
}
