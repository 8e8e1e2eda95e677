//! BLIF, the Berkeley Logic Interchange Format (University of California, Berkeley, 1992).
//!
//! A file has models, the first of which is the circuit; the others are put in where `.subckt` uses them, and their signals
//! are called `model.number.signal`, where the number counts the uses of that model around it. A gate is a cover: rows of
//! `0`, `1` and `-` under which it is 1 (or under which it is 0, if that is what all rows say). Latches start at 0, at 1, or,
//! where the file says 2, 3 or nothing, at either. All latches change at the same time, whatever their clocks are.

use std::collections::{BTreeSet, HashMap};

use super::bench::undriven;
use super::netlist::{Driver, Function, Latch, Literal, Named, Netlist, Place, Reset};
use super::{Read, Reader, Word};
use crate::diagnostic::{Diagnostic, closest};
use crate::watch::Watch;

/// What is about delays, areas and drawings.
const IGNORED: [&str; 24] = [
    ".area",
    ".attrib",
    ".attr",
    ".param",
    ".cname",
    ".clock",
    ".clock_event",
    ".cycle",
    ".delay",
    ".default_input_arrival",
    ".default_input_drive",
    ".default_max_input_load",
    ".default_output_load",
    ".default_output_required",
    ".input_arrival",
    ".input_drive",
    ".input_required",
    ".latch_order",
    ".max_input_load",
    ".no_merge",
    ".output_arrival",
    ".output_load",
    ".output_required",
    ".wire_load_slope",
];

/// All commands that mean something, to guess what was meant.
const COMMANDS: [&str; 10] =
    [".model", ".inputs", ".outputs", ".names", ".latch", ".subckt", ".end", ".exdc", ".conn", ".clock"];

pub(super) fn looks_like(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.next().is_some_and(|line| line.split_whitespace().next() == Some(".model"))
}

pub(super) fn read(text: &str, reader: &mut Reader<'_, '_>) -> Read<Netlist> {
    let watch = reader.watch;
    let mut parser =
        Parser { models: Vec::new(), state: State::Outside, warnings: reader.warnings, warned: BTreeSet::new() };
    let mut lines = Lines { text, at: 0 };
    while let Some(words) = lines.next_line() {
        watch.steps(1 + words.len())?;
        if !words.is_empty() {
            parser.line(&words)?;
        }
    }
    if parser.models.is_empty() {
        let end = Place::new(text.len(), text.len());
        return Err(Diagnostic::error(end.span(), "there is no `.model` in this file"));
    }
    let Parser { models, warnings, .. } = parser;
    Flat::new(&models).flatten(watch, warnings)
}

/// Lines as they are meant: without comments, and with what is continued on the next one.
struct Lines<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Lines<'t> {
    /// The words of the next line.
    fn next_line(&mut self) -> Option<Vec<Word<'t>>> {
        let mut words = Vec::new();
        if self.at >= self.text.len() {
            return None;
        }
        while self.at < self.text.len() {
            let start = self.at;
            let length = self.text[start..].find('\n').map_or(self.text.len() - start, |at| at + 1);
            self.at += length;
            let line = self.text[start..start + length].split('#').next().unwrap_or("").trim_end();
            let (line, is_continued) = match line.strip_suffix('\\') {
                Some(line) => (line, true),
                None => (line, false),
            };
            let offset = |word: &str| start + (word.as_ptr() as usize - line.as_ptr() as usize);
            words.extend(line.split_whitespace().map(|text| {
                let from = offset(text);
                Word { text, at: Place::new(from, from + text.len()) }
            }));
            if !is_continued {
                break;
            }
        }
        Some(words)
    }
}

/// A gate.
struct Cover<'t> {
    inputs: Vec<Word<'t>>,
    output: Word<'t>,
    /// The rows of its inputs.
    rows: Vec<&'t str>,
    /// What the gate is in the rows; none as long as no row says so.
    value: Option<bool>,
}

struct LatchLine<'t> {
    input: Word<'t>,
    output: Word<'t>,
    reset: Reset,
}

/// A use of another model.
struct Instance<'t> {
    model: Word<'t>,
    /// How many uses of the model there are before it.
    number: usize,
    /// What its inputs and outputs are called here.
    bindings: Vec<(Word<'t>, Word<'t>)>,
}

#[derive(Default)]
struct Model<'t> {
    name: Option<Word<'t>>,
    inputs: Vec<Word<'t>>,
    outputs: Vec<Word<'t>>,
    covers: Vec<Cover<'t>>,
    latches: Vec<LatchLine<'t>>,
    instances: Vec<Instance<'t>>,
    /// The clocks and kinds of its latches.
    clocks: BTreeSet<(&'t str, &'t str)>,
    first_clock: Option<Place>,
}

/// Where in a file one is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first model, or behind `.end`.
    Outside,
    /// In a model.
    Inside,
    /// Behind `.names`, where rows are.
    Rows,
    /// In a network of don't-care conditions.
    Ignored,
}

struct Parser<'t, 'w> {
    models: Vec<Model<'t>>,
    state: State,
    warnings: &'w mut Vec<Diagnostic>,
    /// What was warned of.
    warned: BTreeSet<&'static str>,
}

impl<'t> Parser<'t, '_> {
    fn line(&mut self, words: &[Word<'t>]) -> Read<()> {
        let command = words[0];
        if !command.text.starts_with('.') {
            return match self.state {
                State::Rows => self.row(words),
                State::Ignored => Ok(()),
                State::Inside | State::Outside => {
                    let message = format!("expected a command that begins with a dot, but found `{}`", command.text);
                    Err(Diagnostic::error(command.at.span(), message))
                }
            };
        }
        let name = command.text;
        if self.state == State::Ignored && name != ".end" && name != ".model" {
            return Ok(());
        }
        if name == ".model" {
            return self.model(words);
        }
        if self.state == State::Outside {
            if !self.models.is_empty() {
                let message = format!("expected `.model`, but found `{name}` behind `.end`");
                return Err(Diagnostic::error(command.at.span(), message));
            }
            self.models.push(Model::default());
        }
        self.state = State::Inside;
        match name {
            ".inputs" | ".input" => self.last().inputs.extend_from_slice(&words[1..]),
            ".outputs" | ".output" => self.last().outputs.extend_from_slice(&words[1..]),
            ".names" => return self.names(words),
            ".latch" => return self.latch(words),
            ".subckt" => return self.subckt(words),
            ".conn" => return self.conn(words),
            ".end" => self.state = State::Outside,
            ".exdc" => {
                self.state = State::Ignored;
                self.warn(".exdc", command, "don't-care conditions are left out: the circuit does what its gates say");
            }
            name if IGNORED.contains(&name) => {}
            _ => return Err(refused(command)),
        }
        Ok(())
    }

    fn last(&mut self) -> &mut Model<'t> {
        if self.models.is_empty() {
            self.models.push(Model::default());
        }
        let last = self.models.len() - 1;
        &mut self.models[last]
    }

    fn warn(&mut self, what: &'static str, at: Word<'_>, message: &str) {
        if self.warned.insert(what) {
            self.warnings.push(Diagnostic::warning(at.at.span(), message));
        }
    }

    fn model(&mut self, words: &[Word<'t>]) -> Read<()> {
        // A model may have no name.
        let name = words.get(1).copied();
        if let Some(more) = words.get(2) {
            return Err(Diagnostic::error(more.at.span(), "a model has one name"));
        }
        let is_same = |model: &Model<'_>| model.name.zip(name).is_some_and(|(one, other)| one.text == other.text);
        if let Some(name) = name
            && self.models.iter().any(is_same)
        {
            return Err(Diagnostic::error(name.at.span(), format!("there are two models called `{}`", name.text)));
        }
        self.models.push(Model { name, ..Model::default() });
        self.state = State::Inside;
        Ok(())
    }

    fn names(&mut self, words: &[Word<'t>]) -> Read<()> {
        let [_, inputs @ .., output] = words else {
            return Err(Diagnostic::error(words[0].at.span(), "`.names` has the name of an output at least"));
        };
        let cover = Cover { inputs: inputs.to_vec(), output: *output, rows: Vec::new(), value: None };
        self.last().covers.push(cover);
        self.state = State::Rows;
        Ok(())
    }

    /// A row of the last cover.
    fn row(&mut self, words: &[Word<'t>]) -> Read<()> {
        let Some(cover) = self.models.last_mut().and_then(|model| model.covers.last_mut()) else { return Ok(()) };
        let width = cover.inputs.len();
        let (row, output) = match words {
            [output] if width == 0 => (Word { text: "", at: output.at }, *output),
            [row, output] if width > 0 => (*row, *output),
            _ => {
                let parts = if width == 0 { "an output value" } else { "input values and an output value" };
                let last = words[words.len() - 1];
                let at = Place { start: words[0].at.start, end: last.at.end };
                return Err(Diagnostic::error(at.span(), format!("a row of `{}` has {parts}", cover.output.text)));
            }
        };
        let count = row.text.chars().count();
        if count != width {
            let message =
                format!("a row of `{}` has {width} input values, and this one has {count}", cover.output.text);
            return Err(Diagnostic::error(row.at.span(), message));
        }
        if let Some((at, wrong)) = row.text.char_indices().find(|(_, c)| !"01-".contains(*c)) {
            let start = row.at.start as usize + at;
            let place = Place::new(start, start + wrong.len_utf8());
            return Err(Diagnostic::error(place.span(), format!("an input value is 0, 1 or -, not `{wrong}`")));
        }
        let value = match output.text {
            "0" => false,
            "1" => true,
            "-" | "x" | "X" => {
                let message = "rows whose output does not matter are left out";
                self.warn("rows", output, message);
                return Ok(());
            }
            other => {
                let message = format!("the output value of a row is 0 or 1, not `{other}`");
                return Err(Diagnostic::error(output.at.span(), message));
            }
        };
        if cover.value.is_some_and(|other| other != value) {
            let message = format!("the rows of `{}` do not all have the same output value", cover.output.text);
            return Err(Diagnostic::error(output.at.span(), message));
        }
        cover.value = Some(value);
        cover.rows.push(row.text);
        Ok(())
    }

    /// `.latch input output [type control] [init]`
    fn latch(&mut self, words: &[Word<'t>]) -> Read<()> {
        let (input, output, clock, init) = match words {
            [_, input, output] => (input, output, None, None),
            [_, input, output, init] => (input, output, None, Some(init)),
            [_, input, output, kind, control] => (input, output, Some((kind, control)), None),
            [_, input, output, kind, control, init] => (input, output, Some((kind, control)), Some(init)),
            [.., last] => {
                let message = "a latch is `.latch input output [type control] [init]`";
                return Err(Diagnostic::error(last.at.span(), message));
            }
            [] => return Ok(()),
        };
        let reset = match init.map(|init| init.text) {
            Some("0") => Reset::Value(false),
            Some("1") => Reset::Value(true),
            Some("2" | "3") | None => Reset::Any,
            Some(other) => {
                let at = init.map_or(output.at, |init| init.at);
                let message = format!("a latch starts with 0, 1, 2 (either) or 3 (unknown), not with `{other}`");
                return Err(Diagnostic::error(at.span(), message));
            }
        };
        if let Some((kind, control)) = clock {
            match kind.text {
                "re" | "fe" => {}
                "ah" | "al" | "as" => {
                    self.warn(
                        "latches",
                        *kind,
                        "latches of the types `ah`, `al` and `as` are taken for edge-triggered ones",
                    );
                }
                other => {
                    let message = format!("the type of a latch is `re`, `fe`, `ah`, `al` or `as`, not `{other}`");
                    return Err(Diagnostic::error(kind.at.span(), message));
                }
            }
            let model = self.last();
            model.clocks.insert((kind.text, control.text));
            model.first_clock.get_or_insert(kind.at);
        }
        self.last().latches.push(LatchLine { input: *input, output: *output, reset });
        Ok(())
    }

    /// `.subckt model formal=actual …`
    fn subckt(&mut self, words: &[Word<'t>]) -> Read<()> {
        let [_, model, bindings @ ..] = words else {
            return Err(Diagnostic::error(words[0].at.span(), "`.subckt` has the name of a model"));
        };
        let mut bound = Vec::with_capacity(bindings.len());
        for binding in bindings {
            // An indexed name may have the sign in its brackets, but nobody does that.
            let Some((formal, actual)) = binding.text.split_once('=').filter(|(f, a)| !f.is_empty() && !a.is_empty())
            else {
                let message = format!("expected `formal=actual`, but found `{}`", binding.text);
                return Err(Diagnostic::error(binding.at.span(), message));
            };
            let start = binding.at.start as usize;
            let middle = start + formal.len();
            let formal = Word { text: formal, at: Place::new(start, middle) };
            let actual = Word { text: actual, at: Place::new(middle + 1, binding.at.end as usize) };
            bound.push((formal, actual));
        }
        let last = self.last();
        let number = last.instances.iter().filter(|one| one.model.text == model.text).count();
        last.instances.push(Instance { model: *model, number, bindings: bound });
        Ok(())
    }

    /// `.conn from to`: another name of a signal.
    fn conn(&mut self, words: &[Word<'t>]) -> Read<()> {
        let [_, from, to] = words else {
            return Err(Diagnostic::error(words[0].at.span(), "`.conn` has the names of two signals"));
        };
        let cover = Cover { inputs: vec![*from], output: *to, rows: vec!["1"], value: Some(true) };
        self.last().covers.push(cover);
        Ok(())
    }
}

fn refused(command: Word<'_>) -> Diagnostic {
    let name = command.text;
    let error = |message: &str| Diagnostic::error(command.at.span(), message);
    match name {
        ".gate" | ".mlatch" | ".cell" => error("gates of a technology library are not read").with_help(
            "write the circuit with `.names` and `.latch`, as `abc -c \"read …; strash; write_blif …\"` does",
        ),
        ".search" => error("other files are not read").with_help("put the models into one file"),
        ".start_kiss" | ".kiss" => error("state tables (KISS) are not read")
            .with_help("encode the states, as `sis` and `abc` do, and write the circuit with `.names` and `.latch`"),
        ".blackbox" => error("a black box has no meaning here").with_help("give the model its gates"),
        _ => {
            let diagnostic = error(&format!("`{name}` is no command of BLIF that is read"));
            match closest(name, COMMANDS.into_iter()) {
                Some(near) => diagnostic.with_help(format!("is `{near}` meant?")),
                None => diagnostic,
            }
        }
    }
}

/// A model where it is used.
struct Frame<'m, 't> {
    model: &'m Model<'t>,
    /// What its signals begin with.
    prefix: String,
    /// The signals around it that its inputs and outputs are.
    bindings: HashMap<&'t str, String>,
    /// The frame around it.
    around: Option<usize>,
}

impl Frame<'_, '_> {
    /// What a signal of the model is called in the circuit.
    fn name(&self, name: &str) -> String {
        self.bindings.get(name).cloned().unwrap_or_else(|| format!("{}{name}", self.prefix))
    }
}

/// The circuit that is put together from its models.
struct Flat<'m, 't> {
    models: &'m [Model<'t>],
    netlist: Netlist,
    defined: HashMap<String, u32>,
    frames: Vec<Frame<'m, 't>>,
}

impl<'m, 't> Flat<'m, 't> {
    fn new(models: &'m [Model<'t>]) -> Flat<'m, 't> {
        Flat { models, netlist: Netlist::new(), defined: HashMap::new(), frames: Vec::new() }
    }

    fn flatten(mut self, watch: &Watch<'_>, warnings: &mut Vec<Diagnostic>) -> Read<Netlist> {
        let main = &self.models[0];
        for input in &main.inputs {
            watch.step()?;
            let signal = self.define(input.text.to_owned(), Driver::Input, input.at)?;
            self.netlist.inputs.push(signal);
        }
        self.frames.push(Frame { model: main, prefix: String::new(), bindings: HashMap::new(), around: None });
        // By frame: the signals of its latches and covers.
        let mut signals = Vec::new();
        let mut clocks = BTreeSet::new();
        let mut number = 0;
        while number < self.frames.len() {
            signals.push(self.drivers(number, watch)?);
            self.instances(number, watch)?;
            let model = self.frames[number].model;
            clocks.extend(model.clocks.iter().copied());
            number += 1;
        }
        for (number, (latches, covers)) in signals.into_iter().enumerate() {
            self.resolve(number, &latches, &covers, watch)?;
        }
        for output in &main.outputs {
            let literal = self.signal(0, *output)?;
            self.netlist.outputs.push(Named { name: output.text.to_owned(), literal, at: output.at });
        }
        warnings.extend(several_clocks(self.models, &clocks));
        Ok(self.netlist)
    }

    fn define(&mut self, name: String, driver: Driver, at: Place) -> Read<u32> {
        if self.defined.contains_key(&name) {
            return Err(Diagnostic::error(at.span(), format!("`{name}` is driven twice")));
        }
        let signal = self.netlist.add(driver, Some(name.clone()), at);
        self.defined.insert(name, signal);
        Ok(signal)
    }

    /// The signals that the latches and the covers of a frame drive.
    fn drivers(&mut self, frame: usize, watch: &Watch<'_>) -> Read<(Vec<u32>, Vec<u32>)> {
        let model = self.frames[frame].model;
        let (mut latches, mut covers) = (Vec::new(), Vec::new());
        for latch in &model.latches {
            watch.step()?;
            let name = self.frames[frame].name(latch.output.text);
            latches.push(self.define(name, Driver::Latch, latch.output.at)?);
        }
        for cover in &model.covers {
            watch.step()?;
            let name = self.frames[frame].name(cover.output.text);
            covers.push(self.define(name, Driver::Constant, cover.output.at)?);
        }
        Ok((latches, covers))
    }

    /// The frames inside a frame.
    fn instances(&mut self, frame: usize, watch: &Watch<'_>) -> Read<()> {
        let model = self.frames[frame].model;
        for instance in &model.instances {
            watch.steps(1 + instance.bindings.len())?;
            let inner = self.model_of(instance, frame)?;
            let mut bindings = HashMap::new();
            for (formal, actual) in &instance.bindings {
                let is_known = |name: &Word<'_>| name.text == formal.text;
                if !inner.inputs.iter().any(is_known) && !inner.outputs.iter().any(is_known) {
                    let message =
                        format!("the model `{}` has no input or output `{}`", instance.model.text, formal.text);
                    return Err(Diagnostic::error(formal.at.span(), message));
                }
                if bindings.insert(formal.text, self.frames[frame].name(actual.text)).is_some() {
                    let message = format!("`{}` is connected twice", formal.text);
                    return Err(Diagnostic::error(formal.at.span(), message));
                }
            }
            if let Some(open) = inner.inputs.iter().find(|input| !bindings.contains_key(input.text)) {
                let message =
                    format!("the input `{}` of the model `{}` is not connected", open.text, instance.model.text);
                return Err(Diagnostic::error(instance.model.at.span(), message));
            }
            let prefix = format!("{}{}.{}.", self.frames[frame].prefix, instance.model.text, instance.number);
            self.frames.push(Frame { model: inner, prefix, bindings, around: Some(frame) });
        }
        Ok(())
    }

    /// The model that is used, which must not use itself.
    fn model_of(&self, instance: &Instance<'_>, frame: usize) -> Read<&'m Model<'t>> {
        let name = instance.model.text;
        let is_it = |model: &&Model<'_>| model.name.is_some_and(|one| one.text == name);
        let Some(model) = self.models.iter().find(is_it) else {
            let diagnostic = Diagnostic::error(instance.model.at.span(), format!("there is no model `{name}`"));
            let names = self.models.iter().filter_map(|model| model.name).map(|name| name.text);
            return Err(match closest(name, names) {
                Some(near) => diagnostic.with_help(format!("is `{near}` meant?")),
                None => diagnostic,
            });
        };
        let mut around = Some(frame);
        while let Some(outer) = around {
            if std::ptr::eq(self.frames[outer].model, model) {
                let message = format!("the model `{name}` uses itself");
                return Err(Diagnostic::error(instance.model.at.span(), message));
            }
            around = self.frames[outer].around;
        }
        Ok(model)
    }

    fn signal(&self, frame: usize, name: Word<'_>) -> Read<Literal> {
        let frame = &self.frames[frame];
        let found = match frame.bindings.is_empty() && frame.prefix.is_empty() {
            true => self.defined.get(name.text),
            false => self.defined.get(&frame.name(name.text)),
        };
        match found {
            Some(signal) => Ok(Literal::new(*signal, false)),
            None => Err(undriven(name, self.defined.keys().map(String::as_str))),
        }
    }

    fn resolve(&mut self, frame: usize, latches: &[u32], covers: &[u32], watch: &Watch<'_>) -> Read<()> {
        let model = self.frames[frame].model;
        for (latch, signal) in model.latches.iter().zip(latches) {
            let next = self.signal(frame, latch.input)?;
            self.netlist.latches.push(Latch { signal: *signal, next, reset: latch.reset });
        }
        for (cover, signal) in model.covers.iter().zip(covers) {
            watch.steps(1 + cover.inputs.len())?;
            let inputs = cover.inputs.iter().map(|name| self.signal(frame, *name)).collect::<Read<Vec<_>>>()?;
            let mut products = Vec::with_capacity(cover.rows.len());
            for row in &cover.rows {
                watch.steps(1 + inputs.len())?;
                products.push(product(row, &inputs));
            }
            let is_inverted = cover.value == Some(false);
            self.netlist.signals[*signal as usize].driver =
                Driver::Gate(Box::new(Function::Sum(products)), is_inverted);
        }
        Ok(())
    }
}

/// What a row stands for.
fn product(row: &str, inputs: &[Literal]) -> Vec<Literal> {
    let literals = row.bytes().zip(inputs).filter_map(|(value, input)| match value {
        b'1' => Some(*input),
        b'0' => Some(!*input),
        _ => None,
    });
    literals.collect()
}

fn several_clocks(models: &[Model<'_>], clocks: &BTreeSet<(&str, &str)>) -> Option<Diagnostic> {
    if clocks.len() < 2 {
        return None;
    }
    let at = models.iter().find_map(|model| model.first_clock)?;
    let named: Vec<String> = clocks.iter().take(5).map(|(kind, control)| format!("{kind} {control}")).collect();
    let message = format!("latches with different clocks ({}) are taken to change at the same time", named.join(", "));
    Some(Diagnostic::warning(at.span(), message))
}
