//! Control flow: from nested statements to a table of transitions.
//!
//! What counts as a *state* of a Promela process is not in the language reference; it is what Spin makes
//! of a body: which `goto`, `skip` and end-of-selection is a step of its own, where an atomic chain lets
//! go, which state an `end` label marks. A state count can be compared with Spin's only if the automaton
//! is the same, so this module follows Spin's construction (without statement merging) step by step:
//!
//! 1. a body becomes *elements* in *sequences*; selections, loops, blocks and `unless` have
//!    sub-sequences, jumps refer to labels ([`Flow`]);
//! 2. every element gets its successor by *hunting* over jumps and joins, as far as atomicity allows;
//! 3. selections are flattened into the options' first statements, and escapes are put before the
//!    statements they guard ([`Flow::automaton`]).

use std::collections::HashMap;

use ample_model::Span;

use crate::diagnostic::{Diagnostic, closest};
use crate::promela::ast::Name;
use crate::watch::Watch;

/// Index into [`Flow::elements`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ElementId(usize);

/// Index into [`Flow::sequences`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SequenceId(usize);

/// A label as the flow knows it: the user's, or the invisible one of a `break`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum LabelName {
    /// A label of the source.
    Named(String),
    /// The exit of the loop of that number.
    Exit(u32),
}

/// What an element is. `L` is the statement that a leaf performs.
#[derive(Clone, Debug)]
pub(super) enum Node<L> {
    /// A statement.
    Leaf(L),
    /// A statement that is always executable and does nothing.
    Skip,
    /// `else`
    Else,
    /// A jump.
    Goto(LabelName, ScopePath),
    /// The join after a selection, or before a loop.
    Join,
    /// The exit of a loop.
    Exit,
    /// A selection or a loop: the options are in [`Element::sub`].
    Select,
    /// `unless`: the main sequence and the escape are in [`Element::sub`].
    Unless,
    /// `atomic`
    Atomic(SequenceId),
    /// A block, or the expansion of an inline.
    Block(SequenceId),
    /// `d_step`
    DStep(SequenceId),
    /// The end of the body.
    End,
}

/// The blocks around a statement, outermost first.
pub(super) type ScopePath = Vec<u32>;

/// Inside an atomic chain: control is kept after this element.
const ATOMIC: u8 = 1;
/// The last element of an atomic chain.
const LAST_ATOMIC: u8 = 2;
/// Inside a d_step.
const D_STEP: u8 = 4;
/// Its transition has been put into the table.
const DONE: u8 = 8;

/// A node of the control flow.
#[derive(Clone, Debug)]
pub(super) struct Element<L> {
    /// What it is.
    pub(super) node: Node<L>,
    /// Its number in the body: Spin's state number.
    pub(super) number: u32,
    /// Where it is in the source.
    pub(super) span: Span,
    /// The element after it.
    pub(super) next: Option<ElementId>,
    /// Options, or main sequence and escape.
    pub(super) sub: Vec<SequenceId>,
    escapes: Vec<SequenceId>,
    status: u8,
    /// May be dropped from a run of skips (`skip`, `printf`).
    idle: Idle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Idle {
    No,
    Skip,
    Print,
}

/// Elements one after the other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sequence {
    /// The first.
    pub(super) first: Option<ElementId>,
    last: Option<ElementId>,
    /// The last one when the sequence was closed.
    extent: Option<ElementId>,
}

/// Where a label stands.
#[derive(Clone, Debug)]
pub(super) struct Label {
    /// Its name.
    pub(super) name: LabelName,
    /// The element it names.
    pub(super) element: ElementId,
    /// The blocks around it.
    scope: ScopePath,
    /// Where its name is written; of an exit, where the loop is.
    span: Span,
}

/// The labels of a body, in the order in which they were put; found by name and by element.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    all: Vec<Label>,
    by_name: HashMap<LabelName, Vec<usize>>,
    by_element: HashMap<ElementId, Vec<usize>>,
}

impl Labels {
    fn push(&mut self, label: Label) {
        let number = self.all.len();
        self.by_name.entry(label.name.clone()).or_default().push(number);
        self.by_element.entry(label.element).or_default().push(number);
        self.all.push(label);
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Label> {
        self.all.iter()
    }

    /// Those of that name.
    pub(super) fn named(&self, name: &LabelName) -> impl DoubleEndedIterator<Item = &Label> {
        self.by_name.get(name).into_iter().flatten().map(|number| &self.all[*number])
    }

    /// Those on an element.
    fn on(&self, element: ElementId) -> impl Iterator<Item = &Label> {
        self.by_element.get(&element).into_iter().flatten().map(|number| &self.all[*number])
    }

    /// Puts the labels of an element on another one, which has none.
    fn shift(&mut self, from: ElementId, to: ElementId) {
        let Some(numbers) = self.by_element.remove(&from) else { return };
        for number in &numbers {
            self.all[*number].element = to;
        }
        self.by_element.insert(to, numbers);
    }
}

/// The control flow of one body while it is built.
#[derive(Clone, Debug)]
pub(super) struct Flow<L> {
    elements: Vec<Element<L>>,
    sequences: Vec<Sequence>,
    /// All labels.
    pub(super) labels: Labels,
    open: Vec<SequenceId>,
    exits: Vec<u32>,
    next_exit: u32,
    next_number: u32,
}

/// Where a sequence is closed: decides whether a label may stand at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Closing {
    /// The body.
    Body,
    /// The escape of an `unless`.
    Escape,
    /// The main part of an `unless`.
    Main,
    /// `atomic`
    Atomic,
    /// `d_step`
    DStep,
    /// `{ … }`
    Block,
    /// An option.
    Option,
}

/// A transition of the finished automaton.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    /// The element that is executed.
    pub(super) element: ElementId,
    /// The state after it; 0 after the end of the process.
    pub(super) target: u32,
    /// Control is kept.
    pub(super) keeps_control: bool,
    /// The state where its escape starts; 0 if it is not one. Transitions of different escapes exclude
    /// each other, the earlier ones first.
    pub(super) escape: u32,
    escapes: Vec<u32>,
}

/// Marks that labels put on states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// `end…`, or the end of the body.
    pub(super) end: bool,
    /// `progress…`
    pub(super) progress: bool,
    /// `accept…`
    pub(super) accept: bool,
}

impl Marks {
    fn join(&mut self, other: Marks) {
        self.end |= other.end;
        self.progress |= other.progress;
        self.accept |= other.accept;
    }
}

/// The finished automaton: for every state number its transitions in the order they are tried.
#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// Indexed by state number; 0 is not a state.
    pub(super) transitions: Vec<Vec<Transition>>,
    /// Indexed by state number.
    pub(super) marks: Vec<Marks>,
    /// The first state.
    pub(super) start: u32,
}

#[derive(Clone, Debug)]
enum Entry {
    None,
    One(Transition),
    /// Choose among the transitions of these states.
    Among(Vec<u32>),
}

type Result<T> = std::result::Result<T, Diagnostic>;

impl<L> Flow<L> {
    /// An empty body, its sequence open.
    pub(super) fn new() -> Self {
        let mut flow = Flow {
            elements: Vec::new(),
            sequences: Vec::new(),
            labels: Labels::default(),
            open: Vec::new(),
            exits: Vec::new(),
            next_exit: 0,
            next_number: 1,
        };
        flow.open_sequence();
        flow
    }

    /// The element of that id.
    pub(super) fn element(&self, id: ElementId) -> &Element<L> {
        &self.elements[id.0]
    }

    /// The sequence of that id.
    pub(super) fn sequence(&self, id: SequenceId) -> Sequence {
        self.sequences[id.0]
    }

    /// Is it inside a d_step?
    pub(super) fn in_d_step(&self, id: ElementId) -> bool {
        self.elements[id.0].status & D_STEP != 0
    }

    /// Starts a sub-sequence.
    pub(super) fn open_sequence(&mut self) {
        self.sequences.push(Sequence::default());
        self.open.push(SequenceId(self.sequences.len() - 1));
    }

    fn current(&self) -> SequenceId {
        *self.open.last().expect("a sequence is open while a body is built")
    }

    /// Ends the innermost sequence.
    pub(super) fn close_sequence(&mut self, closing: Closing, span: Span) -> Result<SequenceId> {
        let id = self.open.pop().expect("a sequence is open while a body is built");
        let sequence = &mut self.sequences[id.0];
        sequence.extent = sequence.last;
        let Some(first) = sequence.first else {
            return Err(Diagnostic::error(span, "a sequence must have at least one statement"));
        };
        if let Some(label) = self.labels.on(first).next() {
            let LabelName::Named(name) = &label.name else { return Ok(id) };
            let advice = match closing {
                Closing::Body | Closing::Option => return Ok(id),
                Closing::Escape => "the first statement of an escape cannot be jumped to".to_string(),
                Closing::Main => format!("write `{name}: {{ statement unless statement }}`"),
                Closing::Atomic => format!("write `{name}: atomic {{ statement … }}`"),
                Closing::DStep => format!("write `{name}: d_step {{ statement … }}`"),
                Closing::Block => format!("write `{name}: {{ statement … }}`"),
            };
            let message = format!("label `{name}` is placed incorrectly");
            return Err(Diagnostic::error(label.span, message).with_help(advice));
        }
        Ok(id)
    }

    fn new_element(&mut self, node: Node<L>, span: Span) -> ElementId {
        let idle = if matches!(node, Node::Skip) { Idle::Skip } else { Idle::No };
        self.elements.push(Element {
            node,
            number: self.next_number,
            span,
            next: None,
            sub: Vec::new(),
            escapes: Vec::new(),
            status: 0,
            idle,
        });
        self.next_number += 1;
        ElementId(self.elements.len() - 1)
    }

    /// Appends an element that has no sub-sequences of its own, and puts the labels on it.
    pub(super) fn add(&mut self, node: Node<L>, span: Span, labels: &[(Name, ScopePath)]) -> Result<ElementId> {
        let id = self.new_element(node, span);
        self.put_labels(id, labels)?;
        self.append(id, self.current());
        Ok(id)
    }

    /// Appends a `printf`: like a statement, but a `skip` beside it in an option may go.
    pub(super) fn add_print(&mut self, leaf: L, span: Span, labels: &[(Name, ScopePath)]) -> Result<ElementId> {
        let id = self.add(Node::Leaf(leaf), span, labels)?;
        self.elements[id.0].idle = Idle::Print;
        Ok(id)
    }

    fn put_labels(&mut self, id: ElementId, labels: &[(Name, ScopePath)]) -> Result<()> {
        for (Name { text, span }, scope) in labels.iter().rev() {
            let name = LabelName::Named(text.clone());
            if self.labels.named(&name).any(|l| l.scope == *scope) {
                return Err(Diagnostic::error(*span, format!("label `{text}` is declared twice")));
            }
            self.labels.push(Label { name, element: id, scope: scope.clone(), span: *span });
        }
        Ok(())
    }

    fn append(&mut self, id: ElementId, sequence: SequenceId) {
        if matches!(self.elements[id.0].node, Node::Goto(..)) && self.has_special_label(id) {
            // A marked state must be one in which the process can be found: put a skip under the label.
            let span = self.elements[id.0].span;
            let skip = self.new_element(Node::Skip, span);
            self.labels.shift(id, skip);
            self.append(skip, sequence);
        }
        let sequence = &mut self.sequences[sequence.0];
        match sequence.last {
            None => sequence.first = Some(id),
            Some(last) => self.elements[last.0].next = Some(id),
        }
        sequence.last = Some(id);
    }

    fn has_label(&self, id: ElementId) -> bool {
        self.labels.on(id).next().is_some()
    }

    fn has_special_label(&self, id: ElementId) -> bool {
        let is_special = |name: &str| ["accept", "end", "progress"].iter().any(|prefix| name.starts_with(prefix));
        self.labels.on(id).any(|l| matches!(&l.name, LabelName::Named(name) if is_special(name)))
    }

    /// A loop begins: `break` inside it leads to a new exit.
    pub(super) fn push_exit(&mut self) {
        self.exits.push(self.next_exit);
        self.next_exit += 1;
    }

    /// Where a `break` leads.
    pub(super) fn exit(&self) -> Option<LabelName> {
        self.exits.last().map(|e| LabelName::Exit(*e))
    }

    /// Drops runs of skips inside options, as Spin does.
    fn prune(&mut self, sequence: SequenceId) {
        let Sequence { first, last, extent } = self.sequences[sequence.0];
        let mut previous: Option<ElementId> = None;
        let mut run = 0;
        let mut at = first;
        while let Some(id) = at {
            let next = self.elements[id.0].next;
            let idle = self.elements[id.0].idle;
            if idle != Idle::No && !self.has_label(id) {
                run += 1;
                let inner = Some(id) != first && Some(id) != last && Some(id) != extent;
                if run > 1 && idle == Idle::Skip && inner {
                    if let Some(previous) = previous {
                        self.elements[previous.0].next = next;
                    }
                    at = next;
                    continue;
                }
            } else {
                run = 0;
            }
            previous = Some(id);
            at = next;
        }
    }

    /// Appends a selection (or, with `repeat`, a loop whose exit was pushed before its options).
    ///
    /// An `else` option goes last. `prune` is false inside claims.
    pub(super) fn add_select(
        &mut self,
        mut options: Vec<SequenceId>,
        repeat: bool,
        prune: bool,
        span: Span,
        labels: &[(Name, ScopePath)],
    ) -> Result<ElementId> {
        if prune {
            for &option in &options {
                self.prune(option);
            }
        }
        let select = self.new_element(Node::Select, span);
        let mut join = self.new_element(Node::Join, span);
        let is_else = |flow: &Self, s: SequenceId| {
            flow.sequences[s.0].first.is_some_and(|f| matches!(flow.elements[f.0].node, Node::Else))
        };
        let elses: Vec<usize> = (0..options.len()).filter(|&i| is_else(self, options[i])).collect();
        if let [_, second, ..] = elses[..] {
            let first = self.sequences[options[second].0].first.expect("an else option has a statement");
            return Err(Diagnostic::error(self.elements[first.0].span, "a selection can have only one `else`"));
        }
        if let [only] = elses[..] {
            let option = options.remove(only);
            options.push(option);
        }
        for &option in &options {
            self.append(join, option);
        }
        self.elements[select.0].sub = options;
        let current = self.current();
        if repeat {
            self.append(join, current);
            join = self.new_element(Node::Exit, span);
            let exit = self.exits.pop().expect("a loop pushes its exit first");
            self.labels.push(Label { name: LabelName::Exit(exit), element: join, scope: Vec::new(), span });
        }
        self.append(select, current);
        self.append(join, current);
        self.put_labels(select, labels)?;
        Ok(select)
    }

    /// Appends `main unless escape`.
    pub(super) fn add_unless(
        &mut self,
        main: SequenceId,
        escape: SequenceId,
        span: Span,
        labels: &[(Name, ScopePath)],
    ) -> Result<ElementId> {
        let unless = self.new_element(Node::Unless, span);
        let join = self.new_element(Node::Join, span);
        self.elements[unless.0].sub = vec![main, escape];
        self.append(join, main);
        self.append(join, escape);
        self.attach_escape(main, escape);
        let current = self.current();
        self.append(unless, current);
        self.append(join, current);
        self.put_labels(unless, labels)?;
        Ok(unless)
    }

    fn attach_escape(&mut self, sequence: SequenceId, escape: SequenceId) {
        let Sequence { first, extent, .. } = self.sequences[sequence.0];
        let mut at = first;
        while let Some(id) = at {
            self.escape_element(id, escape);
            if Some(id) == extent {
                break;
            }
            at = self.elements[id.0].next;
        }
    }

    fn escape_element(&mut self, id: ElementId, escape: SequenceId) {
        if self.elements[id.0].escapes.contains(&escape) {
            return;
        }
        for inner in self.elements[id.0].escapes.clone() {
            self.attach_escape(inner, escape);
        }
        self.elements[id.0].escapes.insert(0, escape);
        match &self.elements[id.0].node {
            Node::Unless => {
                let main = self.elements[id.0].sub[0];
                self.attach_escape(main, escape);
            }
            Node::Select => {
                for option in self.elements[id.0].sub.clone() {
                    self.attach_escape(option, escape);
                }
            }
            &Node::DStep(inner) => {
                if let Some(first) = self.sequences[inner.0].first {
                    self.escape_element(first, escape);
                }
            }
            &(Node::Atomic(inner) | Node::Block(inner)) => self.attach_escape(inner, escape),
            _ => {}
        }
    }

    /// Marks the inside of a closed `atomic` (or, with `deterministic`, of a `d_step`).
    pub(super) fn make_atomic(&mut self, sequence: SequenceId, deterministic: bool) {
        let added = if deterministic { D_STEP } else { 0 };
        let mut sequence = sequence;
        loop {
            let Sequence { first, last, .. } = self.sequences[sequence.0];
            let (Some(first), Some(last)) = (first, last) else { return };
            self.walk_atomic(first, last, added);
            match &self.elements[last.0].node {
                &(Node::Block(inner) | Node::Atomic(inner)) => sequence = inner,
                Node::Unless => sequence = self.elements[last.0].sub[0],
                _ => {
                    let status = &mut self.elements[last.0].status;
                    *status = *status & !ATOMIC | LAST_ATOMIC;
                    return;
                }
            }
        }
    }

    fn walk_atomic(&mut self, first: ElementId, last: ElementId, added: u8) {
        let mut at = Some(first);
        while let Some(id) = at {
            self.elements[id.0].status |= ATOMIC | added;
            let inner = match self.elements[id.0].node {
                Node::Atomic(s) | Node::Block(s) => Some(s),
                Node::DStep(s) if added != 0 => Some(s),
                _ => None,
            };
            if let Some(inner) = inner {
                self.elements[id.0].node = Node::Block(inner);
                self.walk_sequence(inner, added);
            }
            for sub in self.elements[id.0].sub.clone() {
                self.walk_sequence(sub, added);
            }
            if id == last {
                break;
            }
            at = self.elements[id.0].next;
        }
    }

    fn walk_sequence(&mut self, sequence: SequenceId, added: u8) {
        let Sequence { first, last, .. } = self.sequences[sequence.0];
        if let (Some(first), Some(last)) = (first, last) {
            self.walk_atomic(first, last, added);
        }
    }

    /// The element that a jump means: the label in the same block, else in a block around it, else any.
    pub(super) fn find_label(&self, name: &LabelName, scope: &ScopePath) -> Option<ElementId> {
        let mut enclosing: Option<&Label> = None;
        let mut anywhere = None;
        for label in self.labels.named(name).rev() {
            if label.scope == *scope {
                return Some(label.element);
            }
            if scope.starts_with(&label.scope) {
                if enclosing.is_none_or(|e| e.scope.len() < label.scope.len()) {
                    enclosing = Some(label);
                }
            } else if anywhere.is_none() {
                anywhere = Some(label);
            }
        }
        enclosing.or(anywhere).map(|l| l.element)
    }

    fn jump_target(&self, id: ElementId) -> Result<Option<ElementId>> {
        let Node::Goto(name, scope) = &self.elements[id.0].node else { return Ok(None) };
        match self.find_label(name, scope) {
            Some(target) => {
                if (self.elements[id.0].status ^ self.elements[target.0].status) & D_STEP != 0
                    && self.elements[target.0].status & D_STEP != 0
                {
                    return Err(Diagnostic::error(self.elements[id.0].span, "jump into a d_step sequence"));
                }
                Ok(Some(target))
            }
            None => Err(self.undefined_label(name, self.elements[id.0].span)),
        }
    }

    fn undefined_label(&self, name: &LabelName, span: Span) -> Diagnostic {
        let LabelName::Named(name) = name else {
            return Diagnostic::error(span, "the end of the loop cannot be reached from here");
        };
        let known = self.labels.iter().filter_map(|label| match &label.name {
            LabelName::Named(known) => Some(known.as_str()),
            LabelName::Exit(_) => None,
        });
        let error = Diagnostic::error(span, format!("undefined label `{name}`"));
        match closest(name, known) {
            Some(near) => error.with_help(format!("did you mean `{near}`?")),
            None => error,
        }
    }

    /// A label that is referred to from outside must be a state: a jump under it gets a skip.
    pub(super) fn fix_remote_label(&mut self, element: ElementId) {
        if !matches!(self.elements[element.0].node, Node::Goto(..)) {
            return;
        }
        let span = self.elements[element.0].span;
        let jump = self.new_element(Node::Skip, span);
        let node = std::mem::replace(&mut self.elements[element.0].node, Node::Skip);
        self.elements[jump.0].node = node;
        self.elements[jump.0].next = self.elements[element.0].next;
        self.elements[jump.0].status = self.elements[element.0].status;
        self.elements[element.0].next = Some(jump);
    }

    fn huntstart(&self, from: ElementId) -> Result<ElementId> {
        let mut at = from;
        for _ in 0..200 {
            let element = &self.elements[at.0];
            at = match element.node {
                Node::Join => match element.next {
                    Some(next) => next,
                    None => return Ok(at),
                },
                Node::Unless => match self.sequences[element.sub[0].0].first {
                    Some(first) => first,
                    None => return Ok(at),
                },
                _ => return Ok(at),
            };
        }
        Err(Diagnostic::error(self.elements[from.0].span, "confusing control structure"))
    }

    /// Follows jumps and joins, but leaves an atomic chain (`status` has [`ATOMIC`]) by an explicit step only.
    fn hunt(&self, from: ElementId, status: u8) -> Result<ElementId> {
        let mut at = from;
        for _ in 0..500 {
            let element = &self.elements[at.0];
            let next = match element.node {
                Node::Goto(..) => match self.jump_target(at)? {
                    Some(target) if target == at => {
                        return Err(Diagnostic::error(element.span, "infinite goto loop"));
                    }
                    Some(target) => target,
                    None => return Ok(at),
                },
                Node::Join | Node::Exit => match element.next {
                    Some(next) => next,
                    None => return Ok(at),
                },
                Node::Unless => match self.sequences[element.sub[0].0].first {
                    Some(first) => self.hunt(first, status)?,
                    None => return Ok(at),
                },
                _ => return Ok(at),
            };
            if status & ATOMIC != 0 && self.elements[next.0].status & ATOMIC == 0 {
                return Ok(at);
            }
            at = next;
        }
        Err(Diagnostic::error(self.elements[from.0].span, "infinite goto loop"))
    }

    fn tie_loose_ends(&mut self) {
        for index in (0..self.elements.len()).rev() {
            let (&Node::Atomic(inner) | &Node::Block(inner) | &Node::DStep(inner)) = &self.elements[index].node else {
                continue;
            };
            let mut follow = self.elements[index].next;
            while let Some(id) = follow {
                if !matches!(self.elements[id.0].node, Node::Join) {
                    break;
                }
                follow = self.elements[id.0].next;
            }
            if self.elements[index].next.is_none() {
                continue;
            }
            let Some(last) = self.sequences[inner.0].last else { continue };
            match self.elements[last.0].next {
                None => self.elements[last.0].next = follow,
                Some(next) if matches!(self.elements[next.0].node, Node::Goto(..)) => {
                    self.sequences[inner.0].last = Some(next);
                }
                Some(_) => {}
            }
        }
    }

    /// A jump out of an atomic chain ends it; one into another chain bridges the two.
    fn patch_atomic(&mut self, sequence: SequenceId, watch: &Watch<'_>) -> Result<()> {
        let Sequence { first, extent, .. } = self.sequences[sequence.0];
        let mut at = first;
        while let Some(id) = at {
            watch.step()?;
            if let Some(target) = self.jump_target(id)? {
                let chained = |s: u8| s & (ATOMIC | LAST_ATOMIC) != 0;
                let into = chained(self.elements[target.0].status);
                let status = &mut self.elements[id.0].status;
                if chained(*status) && !into {
                    *status = *status & !ATOMIC | LAST_ATOMIC;
                }
                if *status & LAST_ATOMIC != 0 && into {
                    *status = *status & !LAST_ATOMIC | ATOMIC;
                }
            } else {
                for sub in self.elements[id.0].sub.clone() {
                    self.patch_atomic(sub, watch)?;
                }
            }
            if Some(id) == extent {
                break;
            }
            at = self.elements[id.0].next;
        }
        Ok(())
    }

    fn put_sequence(
        &mut self,
        sequence: SequenceId,
        table: &mut Vec<Entry>,
        dead: &dyn Fn(&Node<L>) -> bool,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let mut at = self.sequences[sequence.0].first;
        while let Some(id) = at {
            watch.step()?;
            if self.elements[id.0].status & DONE == 0 {
                self.elements[id.0].status |= DONE;
                self.put_element(id, table, dead, watch)?;
            }
            if Some(id) == self.sequences[sequence.0].last {
                break;
            }
            at = self.elements[id.0].next;
        }
        Ok(())
    }

    fn put_element(
        &mut self,
        id: ElementId,
        table: &mut Vec<Entry>,
        dead: &dyn Fn(&Node<L>) -> bool,
        watch: &Watch<'_>,
    ) -> Result<()> {
        match self.elements[id.0].node {
            Node::Unless => {
                let main = self.elements[id.0].sub[0];
                self.put_sequence(main, table, dead, watch)
            }
            Node::Select => {
                let mut among = Vec::new();
                for option in self.elements[id.0].sub.clone() {
                    let Some(first) = self.sequences[option.0].first else { continue };
                    let start = self.huntstart(first)?;
                    let element = &self.elements[start.0];
                    if dead(&element.node) && element.escapes.is_empty() {
                        continue;
                    }
                    among.push(element.number);
                }
                self.enter(table, id, Entry::Among(among));
                for option in self.elements[id.0].sub.clone() {
                    self.put_sequence(option, table, dead, watch)?;
                }
                Ok(())
            }
            Node::Atomic(inner) | Node::Block(inner) => {
                self.patch_atomic(inner, watch)?;
                let Some(first) = self.sequences[inner.0].first else { return Ok(()) };
                let start = self.elements[self.huntstart(first)?.0].number;
                self.tie_last(inner, id);
                self.enter(table, id, Entry::Among(vec![start]));
                self.put_sequence(inner, table, dead, watch)
            }
            Node::DStep(inner) => {
                self.patch_atomic(inner, watch)?;
                self.tie_last(inner, id);
                let target = match self.elements[id.0].next {
                    Some(next) => self.elements[self.hunt(next, self.elements[id.0].status)?.0].number,
                    None => 0,
                };
                self.enter_transition(table, id, target, dead, watch)
            }
            _ => {
                let status = self.elements[id.0].status;
                let target = match (self.jump_target(id)?, self.elements[id.0].next) {
                    (Some(target), _) => self.elements[self.hunt(target, status)?.0].number,
                    (None, Some(next)) => self.elements[self.hunt(next, status)?.0].number,
                    (None, None) => 0,
                };
                self.enter_transition(table, id, target, dead, watch)
            }
        }
    }

    fn tie_last(&mut self, inner: SequenceId, outer: ElementId) {
        if let Some(last) = self.sequences[inner.0].last {
            self.elements[last.0].next = self.elements[outer.0].next;
        }
    }

    fn enter(&self, table: &mut Vec<Entry>, id: ElementId, entry: Entry) {
        let number = self.elements[id.0].number as usize;
        if table.len() <= number {
            table.resize(number + 1, Entry::None);
        }
        table[number] = entry;
    }

    fn enter_transition(
        &mut self,
        table: &mut Vec<Entry>,
        id: ElementId,
        target: u32,
        dead: &dyn Fn(&Node<L>) -> bool,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let status = self.elements[id.0].status;
        let mut escapes = Vec::new();
        let attached = if matches!(self.elements[id.0].node, Node::Join) {
            Vec::new()
        } else {
            self.elements[id.0].escapes.clone()
        };
        for &escape in &attached {
            let Some(first) = self.sequences[escape.0].first else { continue };
            escapes.push(self.elements[self.hunt(first, status)?.0].number);
        }
        let transition = Transition { element: id, target, keeps_control: status & ATOMIC != 0, escape: 0, escapes };
        self.enter(table, id, Entry::One(transition));
        for escape in attached {
            self.put_sequence(escape, table, dead, watch)?;
        }
        Ok(())
    }

    /// The finished automaton. `dead` says which nodes can never be executed (`:: false ->`).
    pub(super) fn automaton(&mut self, dead: &dyn Fn(&Node<L>) -> bool, watch: &Watch<'_>) -> Result<Automaton> {
        let body = self.open[0];
        let Some(first) = self.sequences[body.0].first else {
            return Ok(Automaton { transitions: Vec::new(), marks: Vec::new(), start: 0 });
        };
        self.tie_loose_ends();
        let start = self.hunt(first, self.elements[first.0].status)?;
        let mut table = Vec::new();
        self.put_sequence(body, &mut table, dead, watch)?;
        table.resize(self.next_number as usize, Entry::None);
        let mut marks = self.marks();
        flatten(&mut table, &mut marks, watch)?;
        let mut transitions = resolve(&table, &mut marks, watch)?;
        insert_escapes(&mut transitions, watch)?;
        for (number, out) in transitions.iter().enumerate() {
            if let [only] = &out[..]
                && matches!(self.elements[only.element.0].node, Node::Join)
                && marks[number].end
            {
                marks[only.target as usize].end = true;
            }
        }
        Ok(Automaton { transitions, marks, start: self.elements[start.0].number })
    }

    fn marks(&self) -> Vec<Marks> {
        let mut marks = vec![Marks::default(); self.next_number as usize];
        for element in &self.elements {
            if matches!(element.node, Node::End) {
                marks[element.number as usize].end = true;
            }
        }
        for label in self.labels.iter() {
            let LabelName::Named(name) = &label.name else { continue };
            let mark = &mut marks[self.elements[label.element.0].number as usize];
            mark.end |= name.starts_with("end");
            mark.progress |= name.starts_with("progress");
            mark.accept |= name.starts_with("accept");
        }
        marks
    }
}

/// Replaces an option that is itself a selection by that selection's options, until none is left.
fn flatten(table: &mut [Entry], marks: &mut [Marks], watch: &Watch<'_>) -> Result<()> {
    // A selection that contains itself through jumps only would never end; Spin loops there too.
    for _ in 0..table.len() + 1 {
        let mut changed = false;
        for number in 1..table.len() {
            let Entry::Among(options) = &table[number] else { continue };
            watch.steps(options.len())?;
            if !options.iter().any(|o| matches!(table[*o as usize], Entry::Among(_))) {
                continue;
            }
            let mut flat: Vec<u32> = Vec::new();
            for &option in options {
                match &table[option as usize] {
                    Entry::Among(inner) => {
                        watch.steps(inner.len())?;
                        for &leaf in inner {
                            let mark = marks[option as usize];
                            marks[leaf as usize].join(mark);
                            flat.push(leaf);
                        }
                        changed = true;
                    }
                    _ => flat.push(option),
                }
            }
            table[number] = Entry::Among(flat);
        }
        if !changed {
            break;
        }
    }
    Ok(())
}

fn resolve(table: &[Entry], marks: &mut [Marks], watch: &Watch<'_>) -> Result<Vec<Vec<Transition>>> {
    let mut transitions = Vec::with_capacity(table.len());
    for entry in table {
        transitions.push(match entry {
            Entry::None => Vec::new(),
            Entry::One(transition) => vec![transition.clone()],
            Entry::Among(options) => {
                watch.steps(options.len())?;
                let mut out = Vec::with_capacity(options.len());
                for &option in options {
                    let Entry::One(transition) = &table[option as usize] else { continue };
                    let mark = marks[option as usize];
                    marks[transition.target as usize].join(mark);
                    out.push(transition.clone());
                }
                out
            }
        });
    }
    Ok(transitions)
}

fn insert_escapes(transitions: &mut [Vec<Transition>], watch: &Watch<'_>) -> Result<()> {
    let mut present: HashMap<ElementId, ()> = HashMap::new();
    for number in 1..transitions.len() {
        watch.steps(transitions[number].len())?;
        let own = transitions[number].clone();
        present.clear();
        present.extend(own.iter().map(|t| (t.element, ())));
        let mut front: Vec<Transition> = Vec::new();
        for transition in &own {
            for &escape in transition.escapes.iter().rev() {
                watch.steps(transitions[escape as usize].len())?;
                for candidate in transitions[escape as usize].clone() {
                    if present.insert(candidate.element, ()).is_none() {
                        front.push(Transition { escape, ..candidate });
                    }
                }
            }
        }
        if !front.is_empty() {
            // Each was put before all that was there, so the last comes first.
            front.reverse();
            front.extend(own);
            transitions[number] = front;
        }
    }
    Ok(())
}
