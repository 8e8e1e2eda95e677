//! From a file to a [`System`]: which language it is in, and what is wrong with it.

use std::ffi::OsStr;
use std::path::Path;

use ample_lang::promela::{self, preprocess::FileLoader};
use ample_lang::{Diagnostic, Rejected};
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
    if !is_promela(path, &text) {
        let reason = "not a language that ample reads; it reads Promela (.pml)".to_owned();
        return Err(LoadError::Language { path: name, reason });
    }
    load_text(&name, text, options)
}

/// Reads a Promela model from a text; `name` is what reports call it, and what includes are relative to.
///
/// ```
/// let loaded = ample::load_text("one.pml", "active proctype P() { skip }".into(), &Default::default())?;
/// assert_eq!(loaded.system.language, "promela");
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn load_text(name: &str, text: String, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let lowered = promela::read(name, text, &mut FileLoader, &options.defines)?;
    if let Err(problems) = ample_model::check::check(&lowered.system) {
        let problem = problems.first().map_or_else(String::new, ToString::to_string);
        return Err(LoadError::Malformed { path: name.to_owned(), problem });
    }
    Ok(Loaded { system: lowered.system, warnings: lowered.warnings })
}

/// By extension; a file without one is taken for Promela, one with another must look like it.
fn is_promela(path: &Path, text: &str) -> bool {
    match path.extension().and_then(OsStr::to_str) {
        None => true,
        Some(extension) if PROMELA.contains(&extension.to_ascii_lowercase().as_str()) => true,
        Some(_) => text.contains("proctype") || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "init"),
    }
}

/// Reads an expression over the model's names: an invariant from the command line.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert!(ample::expression(&model.system, "x < 2").is_ok());
/// assert!(ample::expression(&model.system, "y < 2").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn expression(system: &System, text: &str) -> Result<Expr, LoadError> {
    Ok(promela::expression(system, text)?)
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

/// Reads a linear-time formula over the model's names, in the notation of Spin or with letters.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert_eq!(ample::ltl(&model.system, "[] <> (x == 1)")?, ample::ltl(&model.system, "G F (x == 1)")?);
/// assert!(ample::ltl(&model.system, "AG (x == 1)").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn ltl(system: &System, text: &str) -> Result<Formula, LoadError> {
    Ok(promela::ltl(system, text)?)
}

/// Reads a branching-time formula over the model's names.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert!(ample::ctl(&model.system, "AG EF (x == 1)").is_ok());
/// assert!(ample::ctl(&model.system, "AG F (x == 1)").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn ctl(system: &System, text: &str) -> Result<Formula, LoadError> {
    Ok(promela::ctl(system, text)?)
}
