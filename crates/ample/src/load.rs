//! From a file to a [`System`]: which language it is in, and what is wrong with it.

use std::ffi::OsStr;
use std::path::Path;

use ample_budget::{Budget, Interrupted};
use ample_lang::language::{Given, LANGUAGES, Language, Promela, Read};
use ample_lang::promplus::Widths;
use ample_lang::source::{self, Files, NotRead};
use ample_lang::{Diagnostic, RefusedFormula, Rejected, Severity, pnml};
use ample_model::{Expr, Property, PropertyAutomaton, Source, SourceId, Span, System, Temporal};

/// How to read a model.
#[derive(Clone)]
pub struct LoadOptions {
    /// Macros that are defined before the first line, with their values.
    pub defines: Vec<(String, String)>,
    /// The bytes that all files of the model may have together.
    pub max_source_bytes: u64,
    /// What reading may take.
    pub budget: Budget,
    /// Read a model without those of its formulas that are refused, which are then [`Loaded::refused`]. Otherwise one
    /// of them is enough to refuse the model.
    pub without_refused: bool,
    /// How many bits process ids and references of PROM+ have.
    pub widths: Widths,
    /// The languages that are known; if it is only one, every text is taken for it.
    pub languages: Vec<&'static dyn Language>,
}

impl Default for LoadOptions {
    fn default() -> Self {
        let (defines, max_source_bytes) = (Vec::new(), source::DEFAULT_MAX_BYTES);
        let languages = LANGUAGES.to_vec();
        let (budget, widths) = (Budget::unlimited(), Widths::default());
        LoadOptions { defines, max_source_bytes, budget, without_refused: false, widths, languages }
    }
}

impl LoadOptions {
    fn files(&self) -> Files {
        Files::new(self.max_source_bytes, self.budget.clone())
    }
}

/// A model that was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The model.
    pub system: System,
    /// What the user should know all the same.
    pub warnings: Vec<Diagnostic>,
    /// What became of the nodes of a Petri net, if it is one.
    pub net: Option<pnml::Names>,
    /// The formulas of its text that were left out, see [`LoadOptions::without_refused`].
    pub refused: Vec<RefusedFormula>,
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
        source: NotRead,
    },
    /// The budget was exhausted before the model was read.
    #[error("{path}: {reason} while it was being read")]
    Interrupted {
        /// The file.
        path: String,
        /// What ended it.
        reason: Interrupted,
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
    Rejected(Rejected),
    /// The front end made a system that is not well-formed: a bug in ample.
    #[error("internal error: {path} was translated into a malformed system: {problem}")]
    Malformed {
        /// The file.
        path: String,
        /// The first thing that is wrong.
        problem: String,
    },
}

impl From<Rejected> for LoadError {
    fn from(rejected: Rejected) -> LoadError {
        match rejected.interrupted {
            Some(reason) => LoadError::Interrupted { path: "the formula".into(), reason },
            None => LoadError::Rejected(rejected),
        }
    }
}

/// A file that was not read, or a text that is no model.
fn not_read(path: &str, error: NotRead) -> LoadError {
    match error {
        NotRead::Interrupted(reason) => LoadError::Interrupted { path: path.to_owned(), reason },
        source => LoadError::Read { path: path.to_owned(), source },
    }
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
    let mut files = options.files();
    let text = files.read(path).map_err(|error| not_read(&name, error))?;
    match language(path, &text, options) {
        Some(language) => read(language, &name, text, files, options),
        None => {
            let titles: Vec<&str> = options.languages.iter().rev().map(|language| language.title()).collect();
            let reason = match titles.split_last() {
                Some((last, others)) if !others.is_empty() => format!("{} and {last}", others.join(", ")),
                _ => titles.concat(),
            };
            let reason = format!("not a language that ample reads; it reads {reason}");
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
    let language = language(Path::new(name), &text, options).unwrap_or(&Promela);
    read(language, name, text, options.files(), options)
}

/// Reads a text file that is not a model, such as a trace, within a budget.
pub fn read_text(path: &Path, options: &LoadOptions) -> Result<String, LoadError> {
    options.files().read(path).map_err(|error| not_read(&path.display().to_string(), error))
}

fn read(
    language: &dyn Language,
    name: &str,
    text: String,
    mut files: Files,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    let LoadOptions { defines, budget, without_refused, widths, .. } = options;
    let (loader, without_refused, widths) = (&mut files, *without_refused, *widths);
    let given = Given { name, text, loader, defines, budget, widths, without_refused };
    let read = language.read(given).map_err(LoadError::from).map_err(|error| match error {
        LoadError::Interrupted { reason, .. } => LoadError::Interrupted { path: name.to_owned(), reason },
        error => error,
    })?;
    let Read { system, warnings, net, refused } = read;
    let loaded = Loaded { system, warnings, net, refused };
    if let Err(problems) = ample_model::check::check(&loaded.system) {
        let problem = problems.first().map_or_else(String::new, ToString::to_string);
        return Err(LoadError::Malformed { path: name.to_owned(), problem });
    }
    Ok(loaded)
}

/// By extension. A file without one is taken for Promela unless it looks like something else; one with another extension
/// must look like one of the languages.
fn language(path: &Path, text: &str, options: &LoadOptions) -> Option<&'static dyn Language> {
    if let [only] = options.languages.as_slice() {
        return Some(*only);
    }
    let languages = || options.languages.iter().copied();
    let extension = path.extension().and_then(OsStr::to_str).map(str::to_ascii_lowercase);
    let known = |language: &&dyn Language| extension.as_deref().is_some_and(|e| language.extensions().contains(&e));
    let like = |language: &&dyn Language| language.looks_like(text);
    let by_default = extension.is_none().then_some(&Promela as &dyn Language);
    languages().find(known).or_else(|| languages().find(like)).or(by_default)
}

/// The language of a model.
pub fn language_of(system: &System) -> &'static dyn Language {
    LANGUAGES.iter().copied().find(|language| language.name() == system.language).unwrap_or(&Promela)
}

impl Loaded {
    /// As [`expression`]; of a coloured net the nodes have the names that the file gives them, too.
    pub fn expression(&self, text: &str) -> Result<Expr, LoadError> {
        self.expression_within(text, &Budget::unlimited())
    }

    /// As [`expression`](Loaded::expression), within a budget.
    pub fn expression_within(&self, text: &str, budget: &Budget) -> Result<Expr, LoadError> {
        match &self.net {
            Some(names) => self.in_either(names, text, pnml::expression),
            None => Ok(language_of(&self.system).expression(&self.system, text, budget)?),
        }
    }

    /// As [`ltl`]; of a coloured net the nodes have the names that the file gives them, too.
    pub fn ltl(&self, text: &str) -> Result<Temporal, LoadError> {
        self.ltl_within(text, &Budget::unlimited())
    }

    /// As [`ltl`](Loaded::ltl), within a budget.
    pub fn ltl_within(&self, text: &str, budget: &Budget) -> Result<Temporal, LoadError> {
        match &self.net {
            Some(names) => self.in_either(names, text, pnml::ltl),
            None => Ok(language_of(&self.system).ltl(&self.system, text, budget)?),
        }
    }

    /// As [`ctl`]; of a coloured net the nodes have the names that the file gives them, too.
    pub fn ctl(&self, text: &str) -> Result<Temporal, LoadError> {
        self.ctl_within(text, &Budget::unlimited())
    }

    /// As [`ctl`](Loaded::ctl), within a budget.
    pub fn ctl_within(&self, text: &str, budget: &Budget) -> Result<Temporal, LoadError> {
        match &self.net {
            Some(names) => self.in_either(names, text, pnml::ctl),
            None => Ok(language_of(&self.system).ctl(&self.system, text, budget)?),
        }
    }

    /// Reads an automaton in the HOA format whose atomic propositions are expressions over the model. As a property it
    /// says that no run of the model is accepted: it is the automaton of the runs that violate what is wanted. `name`
    /// is what messages call the text.
    ///
    /// ```
    /// let text = "byte x; active proctype P() { do :: x < 3 -> x++ :: x = 0 od }";
    /// let model = ample::load_text("m.pml", text.into(), &Default::default())?;
    /// // G F (x == 3) is violated by runs on which it is false from some moment on.
    /// let hoa = r#"HOA: v1 States: 2 Start: 0 AP: 1 "x == 3" Acceptance: 1 Inf(0) --BODY--
    ///     State: 0 [t] 0 [!0] 1 State: 1 {0} [!0] 1 --END--"#;
    /// let automaton = model.automaton("never.hoa", hoa)?;
    /// assert_eq!(automaton.automaton.states, 2);
    /// # Ok::<(), ample::LoadError>(())
    /// ```
    pub fn automaton(&self, name: &str, text: &str) -> Result<PropertyAutomaton, LoadError> {
        self.automaton_within(name, text, &Budget::unlimited())
    }

    /// As [`automaton`](Loaded::automaton), within a budget.
    pub fn automaton_within(&self, name: &str, text: &str, budget: &Budget) -> Result<PropertyAutomaton, LoadError> {
        let source = || vec![Source { path: name.to_owned(), text: text.to_owned() }];
        let at = |range: std::ops::Range<usize>| Span {
            source: SourceId(0),
            start: range.start as u32,
            end: range.end as u32,
        };
        let mut names = ample_logic::Atoms::new();
        let automaton = ample_logic::hoa::read(text, &mut names).map_err(|error| {
            let length = text[error.offset..].chars().next().map_or(0, char::len_utf8);
            let span = at(error.offset..error.offset + length);
            Rejected::new(source(), vec![Diagnostic::error(span, error.message)])
        })?;
        let mut atoms = Vec::new();
        for (proposition, place) in automaton.names.iter().zip(ample_logic::hoa::propositions(text)) {
            match self.expression_within(proposition, budget) {
                Ok(expr) => atoms.push(expr),
                Err(LoadError::Rejected(rejected)) => {
                    return Err(Rejected::new(source(), vec![in_proposition(rejected, proposition, at(place))]).into());
                }
                Err(error) => return Err(error),
            }
        }
        Ok(PropertyAutomaton { automaton, atoms })
    }

    /// Reads something with the names of the file, and those of single colours where the file has no such names.
    fn in_either<T>(
        &self,
        names: &pnml::Names,
        text: &str,
        read: impl Fn(&System, &pnml::Names, &str) -> Result<T, Rejected>,
    ) -> Result<T, LoadError> {
        let mut all = pnml::Names::of(&self.system);
        all.places.extend(names.places.clone());
        all.transitions.extend(names.transitions.clone());
        Ok(read(&self.system, &all, text)?)
    }

    /// The properties in a formula file of the Model Checking Contest about this net; `name` is what reports call it.
    ///
    /// ```
    /// let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
    ///   <place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
    /// let loaded = ample::load_text("n.pnml", net.into(), &Default::default())?;
    /// let text = "<property-set><property><id>b</id><formula><place-bound><place>p</place></place-bound></formula>\
    ///   </property></property-set>";
    /// assert_eq!(loaded.formulas("b.xml", text)?[0].id(), "bound:b");
    /// # Ok::<(), ample::LoadError>(())
    /// ```
    pub fn formulas(&self, name: &str, text: &str) -> Result<Vec<Property>, LoadError> {
        match &self.net {
            Some(names) => Ok(pnml::formulas(&self.system, names, name, text)?),
            None => Err(self.no_net()),
        }
    }

    /// As [`formulas`](Loaded::formulas), within a budget, and with formulas that are too large to be checked beside
    /// the others.
    pub fn formulas_within(&self, name: &str, text: &str, budget: &Budget) -> Result<pnml::Formulas, LoadError> {
        let Some(names) = &self.net else { return Err(self.no_net()) };
        pnml::formulas_within(&self.system, names, name, text, budget).map_err(|rejected| match rejected.interrupted {
            Some(reason) => LoadError::Interrupted { path: name.to_owned(), reason },
            None => LoadError::Rejected(rejected),
        })
    }

    /// One of the contest's questions about whole nets.
    ///
    /// ```
    /// let net = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="g">
    ///   <place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
    /// let loaded = ample::load_text("n.pnml", net.into(), &Default::default())?;
    /// assert_eq!(loaded.examination(ample::Examination::Liveness)?.id(), "ctl:Liveness");
    /// # Ok::<(), ample::LoadError>(())
    /// ```
    pub fn examination(&self, examination: pnml::Examination) -> Result<Property, LoadError> {
        self.examination_within(examination, &Budget::unlimited())
    }

    /// As [`examination`](Loaded::examination), within a budget.
    pub fn examination_within(&self, examination: pnml::Examination, budget: &Budget) -> Result<Property, LoadError> {
        let Some(names) = &self.net else { return Err(self.no_net()) };
        let path = || self.system.name.clone();
        examination.property_within(&self.system, names, budget).ok_or_else(|| match budget.check() {
            Err(reason) => LoadError::Interrupted { path: path(), reason },
            Ok(()) => {
                let reason = format!("the net is too large for {}", examination.name());
                LoadError::Language { path: path(), reason }
            }
        })
    }

    fn no_net(&self) -> LoadError {
        let reason = "this is no Petri net, and formula files and examinations are about those".to_owned();
        LoadError::Language { path: self.system.name.clone(), reason }
    }
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
    Ok(language_of(system).expression(system, text, &Budget::unlimited())?)
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
    if system.synchronous().is_some() {
        return;
    }
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
pub fn ltl(system: &System, text: &str) -> Result<Temporal, LoadError> {
    Ok(language_of(system).ltl(system, text, &Budget::unlimited())?)
}

/// Reads a branching-time formula over the model's names. Its atoms are in the language of the model.
///
/// ```
/// let model = ample::load_text("m.pml", "byte x; active proctype P() { x = 1 }".into(), &Default::default())?;
/// assert!(ample::ctl(&model.system, "AG EF (x == 1)").is_ok());
/// assert!(ample::ctl(&model.system, "AG F (x == 1)").is_err());
/// # Ok::<(), ample::LoadError>(())
/// ```
pub fn ctl(system: &System, text: &str) -> Result<Temporal, LoadError> {
    Ok(language_of(system).ctl(system, text, &Budget::unlimited())?)
}

/// What is wrong with an atomic proposition, at its place in the text of the automaton.
fn in_proposition(rejected: Rejected, proposition: &str, place: Span) -> Diagnostic {
    let first = rejected.diagnostics.into_iter().find(|one| one.severity == Severity::Error);
    let (message, help, span) = first.map_or_else(Default::default, |first| (first.message, first.help, first.span));
    // Where it was written without escapes, the place inside is known.
    let inside = span.filter(|_| place.end - place.start == proposition.len() as u32 + 2);
    let span = inside.map_or(place, |inside| Span {
        start: place.start + 1 + inside.start,
        end: (place.start + 1 + inside.end).max(place.start + 2 + inside.start).min(place.end),
        ..place
    });
    let message = format!("the atomic proposition `{proposition}` is no expression of the model: {message}");
    Diagnostic { help, ..Diagnostic::error(span, message) }
}
