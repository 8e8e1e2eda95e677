//! The preprocessor: C's directives and macros, on tokens, as Spin gets them from the C compiler.
//!
//! It works on tokens rather than on text so that every token that reaches the parser still knows where it was
//! written; a token from a macro has the place where the macro is used. Macros are expanded with a stack of
//! frames: while a macro's frame is on the stack its name is not expanded again, which is C's rule against
//! recursion. What a program makes (expanded tokens, included files) is counted, so that a short text cannot
//! fill the memory.

mod condition;
mod expand;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use ample_budget::Budget;
use ample_model::{Source, SourceId, Span};

use super::lexer::{Bad, Kind, Op, Symbol, Symbols, Token, classify, tokenize_within};
use crate::diagnostic::{Diagnostic, Severity, closest};
use crate::source::Files;
use crate::watch::Watch;
use expand::{Frame, Macro};

/// The most tokens that preprocessing may make, those on the way included.
const MAX_TOKENS: usize = 4_000_000;
/// How deep files may include each other.
const MAX_INCLUDES: usize = 64;
/// How many files a model may have, each counted as often as it is included.
const MAX_FILES: usize = 10_000;
/// The longest file, so that a place fits the 32 bits of a [`Span`].
const MAX_FILE: usize = 1 << 30;
/// What the source of the macros is called that are given on the command line.
const OPTIONS: &str = "<command line>";
/// How many errors are reported.
pub(super) const MAX_ERRORS: usize = 20;

/// The directives that do something.
const DIRECTIVES: [&str; 11] =
    ["if", "ifdef", "ifndef", "elif", "else", "endif", "define", "undef", "include", "error", "warning"];

/// Where included files come from.
pub trait Loader {
    /// The path to show and the text of the file called `path`, included by the file shown as `from`.
    fn load(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String>;
}

/// Reads files from disk: beside the including file, then in the current directory.
#[derive(Clone, Copy, Debug, Default)]
pub struct FileLoader;

impl Loader for FileLoader {
    fn load(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        Files::default().load(path, from)
    }
}

/// As [`FileLoader`], but the bytes of all files count, and reading has a budget.
impl Loader for Files {
    fn load(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let beside = from.and_then(|from| Path::new(from).parent()).map(|directory| directory.join(path));
        let mut failure = String::new();
        for candidate in beside.into_iter().chain([Path::new(path).to_owned()]) {
            match self.read(&candidate) {
                Ok(text) => return Ok((candidate.display().to_string(), text)),
                // A file that is there and cannot be read is the one that is meant.
                Err(error) if candidate.exists() => return Err(error.to_string()),
                Err(error) => failure = error.to_string(),
            }
        }
        Err(failure)
    }
}

/// Files held in memory, by their paths.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    /// The text of each file.
    pub files: HashMap<String, String>,
}

impl Loader for MemoryLoader {
    fn load(&mut self, path: &str, _from: Option<&str>) -> Result<(String, String), String> {
        let text = self.files.get(path).ok_or_else(|| "there is no such file".to_owned())?;
        Ok((path.to_owned(), text.clone()))
    }
}

/// A preprocessed model.
#[derive(Debug)]
pub struct Preprocessed {
    /// The tokens, keywords distinguished from names, with a [`Kind::End`] at the end.
    pub tokens: Vec<Token>,
    /// The texts of the tokens.
    pub symbols: Symbols,
    /// The files read; the first is the main one.
    pub sources: Vec<Source>,
    /// Errors and warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Preprocesses a file that is already read. `defines` are names and values given on the command line.
pub fn preprocess(path: &str, text: String, loader: &mut dyn Loader, defines: &[(String, String)]) -> Preprocessed {
    preprocess_within(path, text, loader, defines, &Watch::new(&Budget::unlimited()))
}

/// As [`preprocess`]; when the budget is exhausted, the rest is left out.
pub(super) fn preprocess_within(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
    watch: &Watch<'_>,
) -> Preprocessed {
    let mut preprocessor = Preprocessor::new(loader, watch);
    let mut tokens = Vec::new();
    // A stop has been reported where it happened.
    let _ = preprocessor.run(path, text, defines, &mut tokens);
    preprocessor.finish(tokens)
}

/// Splits words into tokens, given which names are macros.
type Cut<'a> = dyn FnMut(&[Token], &mut Symbols, &dyn Fn(Symbol) -> bool) -> Vec<Token> + 'a;

/// Preprocesses a formula over a model that has been read: the macros that are defined at the model's end are known
/// in it. `sources` are the model's files as [`preprocess`] gave them. `cut` may cut the words of the formula. When the
/// budget is exhausted, the rest is left out.
pub(super) fn preprocess_formula(
    path: &str,
    text: String,
    sources: &[Source],
    cut: &mut Cut<'_>,
    watch: &Watch<'_>,
) -> Preprocessed {
    let mut loader = SourceLoader { sources };
    let mut preprocessor = Preprocessor::new(&mut loader, watch);
    let mut tokens = Vec::new();
    if let Ok((id, raw)) = preprocessor.add_source(path.to_owned(), text) {
        // The model has been accepted with whatever there is to say about it.
        let _ = preprocessor.replay(sources);
        preprocessor.forget_all_but_macros();
        let macros = &preprocessor.macros;
        let raw = cut(&raw, &mut preprocessor.symbols, &|name| macros.contains_key(&name));
        let _ = preprocessor.open((id, raw.into())).and_then(|()| preprocessor.drain(&mut tokens));
    }
    // A token from a macro has the place where the macro is used, so that nothing speaks of the model's files.
    preprocessor.sources.truncate(1);
    preprocessor.finish(tokens)
}

/// The files of a model that has been read, found by the places where [`FileLoader`] looks.
struct SourceLoader<'a> {
    sources: &'a [Source],
}

impl Loader for SourceLoader<'_> {
    fn load(&mut self, path: &str, from: Option<&str>) -> Result<(String, String), String> {
        let beside = from.and_then(|from| Path::new(from).parent()).map(|directory| directory.join(path));
        let shown = beside.map(|path| path.display().to_string()).into_iter().chain([path.to_owned()]);
        let found = shown.into_iter().find_map(|path| self.sources.iter().find(|source| source.path == path));
        let source = found.ok_or_else(|| "it is not part of the model".to_owned())?;
        Ok((source.path.clone(), source.text.clone()))
    }
}

/// A token of which nothing but its kind and its place is known.
fn blank(kind: Kind, span: Span) -> Token {
    Token { kind, span, site: span, newline: false, line_start: false, space: false, painted: false, distance: 0 }
}

/// From the one to the other, or only the one if they do not stand in this order in one file.
pub(super) fn join(first: Span, last: Span) -> Span {
    if first.source == last.source && first.start <= last.start && first.end <= last.end {
        Span { end: last.end, ..first }
    } else {
        first
    }
}

/// Preprocessing cannot go on; the reason has been reported, or the budget is exhausted.
#[derive(Debug)]
struct Aborted;

/// A file being read.
struct File {
    tokens: Rc<[Token]>,
    next: usize,
    source: SourceId,
    conditions: Vec<Condition>,
}

/// An `#if` that is not closed yet.
struct Condition {
    span: Span,
    /// The text around it is not skipped.
    reachable: bool,
    /// One of its groups has been chosen.
    chosen: bool,
    /// The present group is the chosen one.
    active: bool,
    /// Its `#else` has been seen.
    in_else: bool,
}

struct Preprocessor<'a> {
    loader: &'a mut dyn Loader,
    watch: &'a Watch<'a>,
    symbols: Symbols,
    sources: Vec<Source>,
    /// The files read so far by their shown paths, to read and cut up each only once.
    known: HashMap<String, (SourceId, Rc<[Token]>)>,
    diagnostics: Vec<Diagnostic>,
    macros: HashMap<Symbol, Rc<Macro>>,
    /// The macros whose frames are on the stack.
    active: HashSet<Symbol>,
    frames: Vec<Frame>,
    files: Vec<File>,
    /// Files included so far.
    included: usize,
    /// A line ended in what was swallowed since the last token.
    newline: bool,
    /// Tokens made so far.
    made: usize,
    /// How many macro arguments are being expanded inside each other.
    nesting: usize,
}

impl<'a> Preprocessor<'a> {
    fn new(loader: &'a mut dyn Loader, watch: &'a Watch<'a>) -> Self {
        Preprocessor {
            loader,
            watch,
            symbols: Symbols::default(),
            sources: Vec::new(),
            known: HashMap::new(),
            diagnostics: Vec::new(),
            macros: HashMap::new(),
            active: HashSet::new(),
            frames: Vec::new(),
            files: Vec::new(),
            included: 0,
            newline: false,
            made: 0,
            nesting: 0,
        }
    }

    fn run(
        &mut self,
        path: &str,
        text: String,
        defines: &[(String, String)],
        out: &mut Vec<Token>,
    ) -> Result<(), Aborted> {
        let main = self.add_source(path.to_owned(), text)?;
        if !defines.is_empty() {
            let lines: String = defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
            let options = self.add_source(OPTIONS.to_owned(), lines)?;
            self.open(options)?;
            self.drain(out)?;
        }
        self.open(main)?;
        self.drain(out)
    }

    /// Reads a model again for the sake of its macros.
    fn replay(&mut self, sources: &[Source]) -> Result<(), Aborted> {
        let Some(main) = sources.first() else { return Ok(()) };
        let main_file = self.add_source(main.path.clone(), main.text.clone())?;
        let mut out = Vec::new();
        if let Some(options) = sources.get(1).filter(|source| source.path == OPTIONS) {
            let file = self.add_source(OPTIONS.to_owned(), options.text.clone())?;
            self.open(file)?;
            self.drain(&mut out)?;
        }
        self.open(main_file)?;
        self.drain(&mut out)
    }

    fn forget_all_but_macros(&mut self) {
        self.diagnostics.clear();
        self.frames.clear();
        self.files.clear();
        self.active.clear();
        self.newline = false;
        self.made = 0;
        self.nesting = 0;
    }

    fn finish(self, mut tokens: Vec<Token>) -> Preprocessed {
        let end = self.sources.first().map_or(0, |source| source.text.len() as u32);
        let span = Span { source: SourceId(0), start: end, end };
        tokens.push(Token { line_start: true, newline: true, ..blank(Kind::End, span) });
        Preprocessed { tokens, symbols: self.symbols, sources: self.sources, diagnostics: self.diagnostics }
    }

    fn drain(&mut self, out: &mut Vec<Token>) -> Result<(), Aborted> {
        loop {
            let token = self.next_expanded()?;
            if token.kind == Kind::End {
                return Ok(());
            }
            out.push(Token { kind: classify(token.kind), ..token });
        }
    }

    fn add_source(&mut self, path: String, text: String) -> Result<(SourceId, Rc<[Token]>), Aborted> {
        let id = SourceId(self.sources.len() as u32);
        let too_long = text.len() > MAX_FILE;
        let text = if too_long { String::new() } else { text };
        let tokens: Rc<[Token]> = tokenize_within(id, &text, &mut self.symbols, self.watch).into();
        self.sources.push(Source { path: path.clone(), text });
        if too_long {
            return Err(self.fatal(Span { source: id, start: 0, end: 0 }, format!("`{path}` is too long")));
        }
        self.known.insert(path, (id, tokens.clone()));
        Ok((id, tokens))
    }

    fn open(&mut self, (source, tokens): (SourceId, Rc<[Token]>)) -> Result<(), Aborted> {
        let span = tokens.first().map_or(Span { source, start: 0, end: 0 }, |token| token.span);
        self.count(tokens.len() + 1, span)?;
        self.files.push(File { tokens, next: 0, source, conditions: Vec::new() });
        Ok(())
    }

    fn error(&mut self, span: Span, message: impl Into<String>) -> Result<(), Aborted> {
        self.report(Diagnostic::error(span, message))
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Result<(), Aborted> {
        self.diagnostics.push(diagnostic);
        let errors = self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count();
        if errors < MAX_ERRORS { Ok(()) } else { Err(Aborted) }
    }

    fn fatal(&mut self, span: Span, message: impl Into<String>) -> Aborted {
        self.diagnostics.push(Diagnostic::error(span, message));
        Aborted
    }

    fn count(&mut self, tokens: usize, span: Span) -> Result<(), Aborted> {
        self.watch.steps(tokens).map_err(|_| Aborted)?;
        self.made = self.made.saturating_add(tokens);
        if self.made <= MAX_TOKENS {
            return Ok(());
        }
        Err(self.fatal(span, format!("preprocessing makes more than {MAX_TOKENS} tokens")))
    }

    /// The next token of the files, after all directives before it.
    fn next_from_files(&mut self) -> Result<Token, Aborted> {
        loop {
            self.watch.step().map_err(|_| Aborted)?;
            let Some(file) = self.files.last_mut() else {
                return Ok(blank(Kind::End, Span { source: SourceId(0), start: 0, end: 0 }));
            };
            let skipping = file.conditions.last().is_some_and(|condition| !condition.active);
            match file.tokens.get(file.next).copied() {
                None => self.close()?,
                Some(token) if token.line_start && token.kind == Kind::Op(Op::Hash) => self.directive(skipping)?,
                Some(token) => {
                    file.next += 1;
                    // An open comment swallows the rest of the file, skipped or not.
                    if !skipping || token.kind == Kind::Bad(Bad::Comment) {
                        return Ok(token);
                    }
                    self.newline |= token.newline;
                }
            }
        }
    }

    fn close(&mut self) -> Result<(), Aborted> {
        let Some(file) = self.files.pop() else { return Ok(()) };
        self.newline = true;
        for condition in file.conditions {
            self.error(condition.span, "this conditional has no `#endif`")?;
        }
        Ok(())
    }

    /// The tokens from the next one to the end of its line.
    fn take_line(&mut self) -> Vec<Token> {
        let Some(file) = self.files.last_mut() else { return Vec::new() };
        let rest = file.tokens.get(file.next..).unwrap_or(&[]);
        let length = rest.iter().skip(1).position(|token| token.line_start).map_or(rest.len(), |at| at + 1);
        file.next += length;
        rest[..length].to_vec()
    }

    fn directive(&mut self, skipping: bool) -> Result<(), Aborted> {
        let line = self.take_line();
        self.newline = true;
        let (Some(&hash), Some(&word)) = (line.first(), line.get(1)) else { return Ok(()) };
        let Kind::Name(symbol) = word.kind else {
            // `# 12 "file"` says where generated text came from; our places are those of the text itself.
            let marker = skipping || matches!(word.kind, Kind::Number(_));
            return if marker { Ok(()) } else { self.error(word.span, "expected a directive after `#`") };
        };
        let (name, rest) = (self.symbols.text(symbol).to_owned(), &line[2..]);
        let whole = join(hash.span, line.last().map_or(word.span, |token| token.span));
        match name.as_str() {
            "if" | "ifdef" | "ifndef" => self.begin_condition(&name, word.span, rest, skipping),
            "elif" | "else" | "endif" => self.continue_condition(&name, word.span, rest),
            _ if skipping => Ok(()),
            "define" => self.define(word.span, rest),
            "undef" => self.undefine(word.span, rest),
            "include" => self.include(word.span, rest),
            "error" => self.error(whole, format!("#error {}", self.source_text(rest))),
            "warning" => self.report(Diagnostic::warning(whole, format!("#warning {}", self.source_text(rest)))),
            "line" | "pragma" | "ident" => Ok(()),
            _ => self.unknown_directive(word.span, &name),
        }
    }

    fn unknown_directive(&mut self, span: Span, name: &str) -> Result<(), Aborted> {
        let error = Diagnostic::error(span, format!("unknown directive `#{name}`"));
        self.report(match closest(name, DIRECTIVES.iter().copied()) {
            Some(near) => error.with_help(format!("did you mean `#{near}`?")),
            None => error,
        })
    }

    /// The text from the first to the last of some tokens, as written.
    fn source_text(&self, tokens: &[Token]) -> String {
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else { return String::new() };
        let span = join(first.span, last.span);
        let text = self.sources.get(span.source.index()).map_or("", |source| &source.text);
        text.get(span.start as usize..span.end as usize).unwrap_or("").to_owned()
    }

    fn begin_condition(&mut self, name: &str, span: Span, rest: &[Token], skipping: bool) -> Result<(), Aborted> {
        let value = match name {
            _ if skipping => false,
            "if" => self.condition(span, rest)?,
            _ => match rest.first().map(|token| token.kind) {
                Some(Kind::Name(symbol)) => self.macros.contains_key(&symbol) == (name == "ifdef"),
                _ => {
                    self.error(span, format!("`#{name}` needs the name of a macro"))?;
                    false
                }
            },
        };
        let condition = Condition { span, reachable: !skipping, chosen: value, active: value, in_else: false };
        if let Some(file) = self.files.last_mut() {
            file.conditions.push(condition);
        }
        Ok(())
    }

    fn continue_condition(&mut self, name: &str, span: Span, rest: &[Token]) -> Result<(), Aborted> {
        let Some(mut condition) = self.files.last_mut().and_then(|file| file.conditions.pop()) else {
            return self.error(span, format!("`#{name}` without an `#if` before it"));
        };
        if name == "endif" {
            return Ok(());
        }
        if condition.in_else {
            self.error(span, format!("`#{name}` after `#else`"))?;
        }
        condition.in_else = name == "else";
        let open = condition.reachable && !condition.chosen;
        condition.active = open && (condition.in_else || self.condition(span, rest)?);
        condition.chosen |= condition.active;
        if let Some(file) = self.files.last_mut() {
            file.conditions.push(condition);
        }
        Ok(())
    }

    /// Whether the expression after `#if` or `#elif` holds; a malformed one is reported and does not.
    fn condition(&mut self, span: Span, rest: &[Token]) -> Result<bool, Aborted> {
        let tokens = self.answer_defined(rest)?;
        let expanded = self.expand_all(tokens)?;
        match condition::evaluate(&expanded, span, &self.symbols) {
            Ok(value) => Ok(value != 0),
            Err((span, message)) => self.error(span, message).map(|()| false),
        }
    }

    /// Replaces `defined X` and `defined(X)` by 1 or 0.
    fn answer_defined(&mut self, tokens: &[Token]) -> Result<Vec<Token>, Aborted> {
        let mut out = Vec::new();
        let mut rest = tokens;
        while let Some((&token, after)) = rest.split_first() {
            rest = after;
            let Kind::Name(symbol) = token.kind else {
                out.push(token);
                continue;
            };
            if self.symbols.text(symbol) != "defined" {
                out.push(token);
                continue;
            }
            let kinds: Vec<Kind> = after.iter().take(3).map(|token| token.kind).collect();
            let (name, length) = match kinds.as_slice() {
                [Kind::Name(name), ..] => (*name, 1),
                [Kind::Op(Op::OpenParen), Kind::Name(name), Kind::Op(Op::CloseParen)] => (*name, 3),
                _ => {
                    self.error(token.span, "`defined` needs the name of a macro")?;
                    continue;
                }
            };
            let answer = if self.macros.contains_key(&name) { "1" } else { "0" };
            out.push(Token { kind: Kind::Number(self.symbols.intern(answer)), ..token });
            rest = &after[length..];
        }
        Ok(out)
    }

    fn define(&mut self, span: Span, rest: &[Token]) -> Result<(), Aborted> {
        let Some((&name, body)) = rest.split_first() else {
            return self.error(span, "`#define` needs a name");
        };
        let Kind::Name(symbol) = name.kind else {
            return self.error(name.span, "a macro's name must be an identifier");
        };
        let definition = match expand::definition(body, &mut self.symbols) {
            Ok(definition) => Rc::new(definition),
            Err((bad, message)) => return self.error(bad.unwrap_or(name.span), message),
        };
        let same = |old: &Rc<Macro>| old.same_as(&definition);
        if self.macros.get(&symbol).is_some_and(|old| !same(old)) {
            let message = format!("`{}` is defined again, differently", self.symbols.text(symbol));
            self.report(Diagnostic::warning(name.span, message))?;
        }
        self.macros.insert(symbol, definition);
        Ok(())
    }

    fn undefine(&mut self, span: Span, rest: &[Token]) -> Result<(), Aborted> {
        let Some(Kind::Name(symbol)) = rest.first().map(|token| token.kind) else {
            return self.error(span, "`#undef` needs the name of a macro");
        };
        self.macros.remove(&symbol);
        Ok(())
    }

    fn include(&mut self, span: Span, rest: &[Token]) -> Result<(), Aborted> {
        let named = match self.included_path(rest) {
            Some(named) => Some(named),
            None => {
                let expanded = self.expand_all(rest.to_vec())?;
                self.included_path(&expanded)
            }
        };
        let Some((path, span)) = named else {
            return self.error(span, "`#include` needs a file, as in `#include \"file\"`");
        };
        if self.files.len() >= MAX_INCLUDES {
            return Err(self.fatal(span, format!("files include each other more than {MAX_INCLUDES} deep")));
        }
        self.included += 1;
        if self.included > MAX_FILES {
            return Err(self.fatal(span, format!("more than {MAX_FILES} files are included")));
        }
        let from = self.files.last().and_then(|file| self.sources.get(file.source.index()));
        let from = from.map(|source| source.path.clone());
        let (shown, text) = match self.loader.load(&path, from.as_deref()) {
            Ok(loaded) => loaded,
            Err(reason) => return self.error(span, format!("cannot include `{path}`: {reason}")),
        };
        let file = match self.known.get(&shown) {
            Some(known) => known.clone(),
            None => self.add_source(shown, text)?,
        };
        self.open(file)
    }

    fn included_path(&self, tokens: &[Token]) -> Option<(String, Span)> {
        let first = tokens.first()?;
        if let Kind::Text(symbol) = first.kind {
            return Some((self.symbols.text(symbol).to_owned(), first.span));
        }
        let close = tokens.iter().position(|token| token.kind == Kind::Op(Op::Greater))?;
        let inside = tokens.get(1..close).filter(|_| first.kind == Kind::Op(Op::Less))?;
        Some((self.source_text(inside), join(first.span, tokens[close].span)))
    }
}

#[cfg(test)]
mod tests;
