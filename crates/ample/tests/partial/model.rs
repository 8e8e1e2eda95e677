//! A Promela model as a tree, so that one that fails can be made smaller.

use std::fmt::{self, Write};

/// A model and what is asked about it.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// Lines before the processes.
    pub globals: Vec<String>,
    pub processes: Vec<Process>,
    /// What may always hold.
    pub invariant: String,
}

/// A process type.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Up to the brace: `active [2] proctype P()`.
    pub head: String,
    pub locals: Vec<String>,
    pub body: Vec<Statement>,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Statement {
    pub label: Option<String>,
    pub form: Form,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub enum Form {
    /// One of which nothing is known but its text.
    Plain(String),
    /// `if` with its options.
    Select(Vec<Vec<Statement>>),
    /// `do` with its options.
    Repeat(Vec<Vec<Statement>>),
    /// `atomic`, `d_step`, or nothing, and braces.
    Block(&'static str, Vec<Statement>),
    /// `{ … } unless { … }`.
    Unless(Vec<Statement>, Vec<Statement>),
}

impl Statement {
    pub fn plain(text: impl Into<String>) -> Statement {
        Form::Plain(text.into()).into()
    }
}

impl From<Form> for Statement {
    fn from(form: Form) -> Statement {
        Statement { label: None, form }
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.globals {
            writeln!(f, "{line};")?;
        }
        for Process { head, locals, body } in &self.processes {
            writeln!(f, "{head} {{")?;
            for line in locals {
                writeln!(f, "  {line};")?;
            }
            let mut text = String::new();
            write_sequence(body, 1, &mut text)?;
            writeln!(f, "{text}}}")?;
        }
        Ok(())
    }
}

fn write_sequence(sequence: &[Statement], depth: usize, out: &mut String) -> fmt::Result {
    for (number, statement) in sequence.iter().enumerate() {
        write_statement(statement, depth, out)?;
        out.push_str(if number + 1 < sequence.len() { ";\n" } else { "\n" });
    }
    Ok(())
}

fn write_statement(statement: &Statement, depth: usize, out: &mut String) -> fmt::Result {
    let margin = "  ".repeat(depth);
    out.push_str(&margin);
    if let Some(label) = &statement.label {
        write!(out, "{label}: ")?;
    }
    match &statement.form {
        Form::Plain(text) => out.push_str(text),
        Form::Select(options) => write_options(["if", "fi"], options, depth, out)?,
        Form::Repeat(options) => write_options(["do", "od"], options, depth, out)?,
        Form::Block(kind, body) => {
            writeln!(out, "{kind} {{")?;
            write_sequence(body, depth + 1, out)?;
            write!(out, "{margin}}}")?;
        }
        Form::Unless(body, escape) => {
            out.push_str("{\n");
            write_sequence(body, depth + 1, out)?;
            writeln!(out, "{margin}}} unless {{")?;
            write_sequence(escape, depth + 1, out)?;
            write!(out, "{margin}}}")?;
        }
    }
    Ok(())
}

fn write_options([open, close]: [&str; 2], options: &[Vec<Statement>], depth: usize, out: &mut String) -> fmt::Result {
    let margin = "  ".repeat(depth);
    writeln!(out, "{open}")?;
    for option in options {
        let mut text = String::new();
        write_sequence(option, depth + 1, &mut text)?;
        writeln!(out, "{margin}:: {}", text.trim())?;
    }
    write!(out, "{margin}{close}")
}

/// One place after the other where a model can be made smaller; the change is made at the one with that number.
struct Edit(usize);

impl Edit {
    /// It is here.
    fn is_here(&mut self) -> bool {
        self.0 = self.0.wrapping_sub(1);
        self.0 == usize::MAX
    }

    fn remove_one<T>(&mut self, items: &mut Vec<T>, least: usize) -> bool {
        for place in (0..items.len()).rev() {
            if items.len() > least && self.is_here() {
                items.remove(place);
                return true;
            }
        }
        false
    }

    fn sequence(&mut self, sequence: &mut Vec<Statement>) -> bool {
        if self.remove_one(sequence, 1) {
            return true;
        }
        for place in 0..sequence.len() {
            for inner in sequence[place].parts() {
                if self.is_here() {
                    sequence.splice(place..=place, inner);
                    return true;
                }
            }
            if self.statement(&mut sequence[place]) {
                return true;
            }
        }
        false
    }

    fn statement(&mut self, statement: &mut Statement) -> bool {
        if statement.label.is_some() && self.is_here() {
            statement.label = None;
            return true;
        }
        match &mut statement.form {
            Form::Plain(text) => {
                let is_open = !matches!(text.as_str(), "skip" | "else" | "break");
                let shortened = is_open && self.is_here();
                if shortened {
                    *text = "skip".into();
                }
                shortened
            }
            Form::Select(options) | Form::Repeat(options) => {
                self.remove_one(options, 1) || options.iter_mut().any(|option| self.sequence(option))
            }
            Form::Block(_, body) => self.sequence(body),
            Form::Unless(body, escape) => self.sequence(body) || self.sequence(escape),
        }
    }
}

impl Statement {
    /// What it is made of, if that could stand in its place.
    fn parts(&self) -> Vec<Vec<Statement>> {
        match &self.form {
            Form::Plain(_) => Vec::new(),
            Form::Select(options) | Form::Repeat(options) => options.clone(),
            Form::Block(_, body) => vec![body.clone()],
            Form::Unless(body, escape) => vec![body.clone(), escape.clone()],
        }
    }
}

impl Model {
    /// A model that is smaller in one place; none if there are not so many places.
    fn smaller(&self, place: usize) -> Option<Model> {
        let mut edit = Edit(place);
        let mut model = self.clone();
        let changed = edit.remove_one(&mut model.processes, 1)
            || model.processes.iter_mut().any(|process| {
                let counted = process.head.starts_with("active [") && edit.is_here();
                if counted && let Some((_, rest)) = process.head.split_once(']') {
                    process.head = format!("active{rest}");
                    return true;
                }
                edit.sequence(&mut process.body) || edit.remove_one(&mut process.locals, 0)
            })
            || edit.remove_one(&mut model.globals, 0);
        changed.then_some(model)
    }

    /// The smallest model that is found for which that is still so.
    pub fn shrunk(mut self, still: impl Fn(&Model) -> bool) -> Model {
        let mut place = 0;
        let mut is_better = false;
        loop {
            match self.smaller(place) {
                Some(model) if still(&model) => {
                    self = model;
                    is_better = true;
                }
                Some(_) => place += 1,
                None if is_better => (place, is_better) = (0, false),
                None => return self,
            }
        }
    }

    /// How long its text is.
    pub fn size(&self) -> usize {
        self.to_string().len()
    }
}
