//! Modules to instances: which variables, definitions and parts there are, with the names that they have from `main`.
//!
//! Parameters are passed by reference: a name of a parameter stands for the expression that was given, with the names of
//! the instance that gave it. Sizes and bounds of types are constants, and evaluated here.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use ample_model::Span;

use super::ast::{Binary, Chain, Declaration, Item, Kind, Module, Node, Section, TypeKind, TypeNode, Unary, Value};
use super::parser::MAX_BITS;
use crate::diagnostic::{Diagnostic, closest, counted};
use crate::watch::Watch;

/// What analysing gives.
pub type Analysed<T> = Result<T, Diagnostic>;

/// The code of the first symbol. Integers are their own codes, and smaller.
pub const SYMBOLS: i64 = 1 << 40;

/// The name of the input that says which process runs.
pub const SELECTOR: &str = "_process_selector_";

/// How deep instances may be nested.
const MAX_NESTING: usize = 60;

/// How deep constants may depend on each other.
const MAX_CONSTANT_DEPTH: u32 = 60;

/// An array may have so many elements.
const MAX_ARRAY: i64 = 1 << 16;

/// Which values a variable may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The truth values.
    Boolean,
    /// Integers from the first to the second.
    Range(i64, i64),
    /// These, by their codes; they are stored by their positions.
    Values(Rc<[i64]>),
    /// A word.
    Word {
        /// How many bits.
        bits: u32,
        /// Two's complement.
        signed: bool,
    },
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Its name, as seen from `main`.
    pub name: String,
    /// Its values.
    pub domain: Domain,
    /// What it is.
    pub section: Section,
    /// Where it is declared.
    pub span: Span,
}

/// The cells of a variable.
#[derive(Clone, Debug)]
pub enum Tree {
    /// One, by its number.
    Cell(usize),
    /// Several, by an index that begins with that number.
    Array(i64, Vec<Tree>),
}

/// What a name of an instance stands for.
#[derive(Clone, Debug)]
pub enum Symbol<'a> {
    /// A variable.
    Cells(Tree),
    /// A definition.
    Define(&'a Node),
    /// Another instance.
    Instance(usize),
    /// Several, by an index that begins with that number.
    Instances(i64, Vec<usize>),
}

/// An instance of a module.
#[derive(Debug)]
pub struct Instance<'a> {
    /// The name of the module.
    pub module: &'a str,
    /// Its name, as seen from `main`, whose own is empty.
    pub name: String,
    /// What its parameters stand for, and in which instance.
    pub parameters: HashMap<&'a str, (&'a Node, usize)>,
    /// What is declared in it.
    pub symbols: HashMap<&'a str, Symbol<'a>>,
    /// The process that it belongs to.
    pub process: usize,
    /// Its parts, with those of the modules that it includes.
    pub items: Vec<&'a Item>,
}

impl Instance<'_> {
    /// The name of something in it, as seen from `main`.
    pub fn name_of(&self, name: &str) -> String {
        if self.name.is_empty() { name.to_owned() } else { format!("{}.{name}", self.name) }
    }
}

/// All instances of a model.
#[derive(Debug)]
pub struct Flat<'a> {
    /// The first one is `main`.
    pub instances: Vec<Instance<'a>>,
    /// The variables.
    pub cells: Vec<Cell>,
    /// Names of `main` that are symbols as well.
    pub ambiguous: HashSet<&'a str>,
    /// The symbols, in the order of their codes.
    pub symbols: Vec<String>,
    /// Their codes.
    pub codes: HashMap<String, i64>,
    /// The names of the processes; the first one is `main`.
    pub processes: Vec<String>,
    /// What is declared by a name with several parts, `u.ack` or `x[2]`: by the name as seen from `main`, the instance and
    /// the name there. It belongs to the instance that the first parts name, as if it were declared in it.
    pub composed: HashMap<String, (usize, String)>,
}

impl Flat<'_> {
    /// A value in words.
    pub fn show(&self, code: i64) -> String {
        let symbol = code.checked_sub(SYMBOLS).and_then(|at| self.symbols.get(usize::try_from(at).ok()?));
        symbol.cloned().unwrap_or_else(|| code.to_string())
    }

    /// The code of a symbol, which is new or not.
    pub fn code(&mut self, symbol: &str) -> i64 {
        let next = SYMBOLS + self.symbols.len() as i64;
        let code = *self.codes.entry(symbol.to_owned()).or_insert(next);
        if code == next {
            self.symbols.push(symbol.to_owned());
        }
        code
    }
}

/// Makes instances of the modules, beginning with `main`.
pub fn flatten<'a>(modules: &'a [Module], whole: Span, watch: &Watch<'_>) -> Result<Flat<'a>, Vec<Diagnostic>> {
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut errors = Vec::new();
    for (number, module) in modules.iter().enumerate() {
        if by_name.insert(&module.name.text, number).is_some() {
            errors.push(Diagnostic::error(module.name.span, format!("module `{}` is defined twice", module.name.text)));
        }
    }
    let Some(&main) = by_name.get("main") else {
        errors.push(Diagnostic::error(whole, "there is no module `main`"));
        return Err(errors);
    };
    if let Some(parameter) = modules[main].parameters.first() {
        errors.push(Diagnostic::error(parameter.span, "module `main` has no parameters"));
    }
    let flat = Flat {
        instances: Vec::new(),
        cells: Vec::new(),
        ambiguous: HashSet::new(),
        symbols: Vec::new(),
        codes: HashMap::new(),
        processes: vec!["main".into()],
        composed: HashMap::new(),
    };
    let mut work = Flatten { modules, by_name, flat, errors, open: Vec::new(), watch };
    work.instance(main, String::new(), HashMap::new(), 0);
    work.collisions();
    // The input that selects a process has their names for values.
    if work.flat.processes.len() > 1 {
        let names = work.flat.processes.clone();
        names.iter().for_each(|name| {
            work.flat.code(name);
        });
    }
    if work.errors.is_empty() { Ok(work.flat) } else { Err(work.errors) }
}

struct Flatten<'a, 'w> {
    modules: &'a [Module],
    by_name: HashMap<&'a str, usize>,
    flat: Flat<'a>,
    errors: Vec<Diagnostic>,
    /// The modules that are being instantiated.
    open: Vec<usize>,
    watch: &'w Watch<'w>,
}

impl<'a> Flatten<'a, '_> {
    fn instance(
        &mut self,
        module: usize,
        name: String,
        parameters: HashMap<&'a str, (&'a Node, usize)>,
        process: usize,
    ) -> usize {
        let number = self.flat.instances.len();
        let mut items = Vec::new();
        let of = &self.modules[module];
        if let Err(error) = self.items(module, &mut items, &mut Vec::new()) {
            self.errors.push(error);
        }
        let symbols = HashMap::new();
        self.flat.instances.push(Instance {
            module: &of.name.text,
            name,
            parameters,
            symbols,
            process,
            items: items.clone(),
        });
        self.open.push(module);
        let done = self.declare(number, &items);
        self.open.pop();
        if let Err(error) = done {
            self.errors.push(error);
        }
        number
    }

    /// A name of `main` that is a symbol as well means nothing: an error where it is used.
    fn collisions(&mut self) {
        let Some(main) = self.flat.instances.first() else { return };
        for item in &main.items {
            let name = match item {
                Item::Declaration(Declaration { ty: TypeNode { kind: TypeKind::Module { .. }, .. }, .. }) => continue,
                Item::Declaration(declaration) => &declaration.name,
                Item::Define(name, _) => name,
                _ => continue,
            };
            if self.flat.codes.contains_key(&name.text) {
                self.flat.ambiguous.insert(name.text.as_str());
            }
        }
    }

    /// The parts of a module and of those that it includes by `ISA`.
    fn items(&self, module: usize, items: &mut Vec<&'a Item>, open: &mut Vec<usize>) -> Analysed<()> {
        open.push(module);
        for item in &self.modules[module].items {
            let Item::Isa(name) = item else {
                items.push(item);
                continue;
            };
            let Some(&included) = self.by_name.get(name.text.as_str()) else {
                return Err(self.unknown_module(&name.text, name.span));
            };
            if open.contains(&included) {
                return Err(Diagnostic::error(name.span, format!("module `{}` includes itself", name.text)));
            }
            self.items(included, items, open)?;
        }
        open.pop();
        Ok(())
    }

    fn unknown_module(&self, name: &str, span: Span) -> Diagnostic {
        let error = Diagnostic::error(span, format!("there is no module `{name}`"));
        match closest(name, self.by_name.keys().copied().chain(["boolean"])) {
            Some(near) => error.with_help(format!("is `{near}` meant?")),
            None => error,
        }
    }

    /// Definitions first, because types may use them.
    fn declare(&mut self, instance: usize, items: &[&'a Item]) -> Analysed<()> {
        for item in items {
            match item {
                Item::Define(name, node) => self.symbol(instance, &name.text, name.span, Symbol::Define(node)),
                Item::Constant(name) => {
                    self.flat.code(&name.text);
                }
                _ => {}
            }
        }
        for item in items {
            let Item::Declaration(declaration) = item else { continue };
            self.watch.step()?;
            match self.variable(instance, declaration) {
                Ok(symbol) => self.symbol(instance, &declaration.name.text, declaration.name.span, symbol),
                Err(error) => self.errors.push(error),
            }
            if self.errors.len() >= 20 || self.watch.ended().is_some() {
                break;
            }
        }
        Ok(())
    }

    fn symbol(&mut self, instance: usize, name: &'a str, span: Span, symbol: Symbol<'a>) {
        if name.contains(['.', '[']) {
            let absolute = self.absolute(instance, name.to_owned());
            self.flat.composed.insert(absolute, (instance, name.to_owned()));
        }
        let of = &mut self.flat.instances[instance];
        if of.parameters.contains_key(name) || of.symbols.insert(name, symbol).is_some() {
            let module = of.module;
            self.errors.push(Diagnostic::error(span, format!("`{name}` is declared twice in module `{module}`")));
        }
    }

    /// A name of several parts as seen from `main`: the first one may be a parameter, which stands for something elsewhere.
    fn absolute(&self, mut instance: usize, mut name: String) -> String {
        for _ in 0..MAX_NESTING {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            let of = &self.flat.instances[instance];
            let Some((node, giver)) = of.parameters.get(&name[..end]) else { break };
            let Some(path) = node.path() else { break };
            name = path + &name[end..];
            instance = *giver;
        }
        self.flat.instances[instance].name_of(&name)
    }

    fn variable(&mut self, instance: usize, declaration: &'a Declaration) -> Analysed<Symbol<'a>> {
        let name = self.flat.instances[instance].name_of(&declaration.name.text);
        self.of_type(instance, declaration, &declaration.ty, name)
    }

    fn of_type(
        &mut self,
        instance: usize,
        declaration: &'a Declaration,
        ty: &'a TypeNode,
        name: String,
    ) -> Analysed<Symbol<'a>> {
        self.watch.step()?;
        let (section, span) = (declaration.section, declaration.name.span);
        let domain = match &ty.kind {
            TypeKind::Boolean => Domain::Boolean,
            TypeKind::Word { signed, width } => {
                let bits = self.constant(width, instance, 0)?;
                let bits = u32::try_from(bits).ok().filter(|bits| (1..=MAX_BITS).contains(bits));
                let bits =
                    bits.ok_or_else(|| Diagnostic::error(width.span, format!("a word may have 1 to {MAX_BITS} bits")))?;
                Domain::Word { bits, signed: *signed }
            }
            TypeKind::Range(low, high) => {
                let (least, most) = (self.constant(low, instance, 0)?, self.constant(high, instance, 0)?);
                if least > most {
                    return Err(Diagnostic::error(ty.span, format!("the range {least}..{most} is empty")));
                }
                Domain::Range(least, most)
            }
            TypeKind::Enumeration(values) => self.enumeration(values, ty.span)?,
            TypeKind::Array(low, high, element) => {
                let (least, most) = (self.constant(low, instance, 0)?, self.constant(high, instance, 0)?);
                if least > most {
                    return Err(Diagnostic::error(ty.span, format!("an array over the empty range {least}..{most}")));
                }
                if most - least >= MAX_ARRAY {
                    return Err(Diagnostic::error(ty.span, format!("an array may have {MAX_ARRAY} elements")));
                }
                return self.array(instance, declaration, element, &name, (least, most));
            }
            TypeKind::Module { name: module, arguments, process } => {
                if section != Section::State {
                    return Err(Diagnostic::error(ty.span, "instances of modules are declared in `VAR`"));
                }
                let number = self.module_instance(instance, module, arguments, *process, name)?;
                return Ok(Symbol::Instance(number));
            }
        };
        self.flat.cells.push(Cell { name, domain, section, span });
        Ok(Symbol::Cells(Tree::Cell(self.flat.cells.len() - 1)))
    }

    fn array(
        &mut self,
        instance: usize,
        declaration: &'a Declaration,
        element: &'a TypeNode,
        name: &str,
        (least, most): (i64, i64),
    ) -> Analysed<Symbol<'a>> {
        let (mut trees, mut instances) = (Vec::new(), Vec::new());
        for number in least..=most {
            match self.of_type(instance, declaration, element, format!("{name}[{number}]"))? {
                Symbol::Cells(tree) => trees.push(tree),
                Symbol::Instance(number) => instances.push(number),
                Symbol::Instances(..) | Symbol::Define(_) => {
                    return Err(Diagnostic::error(element.span, "arrays of arrays of instances are not supported"));
                }
            }
        }
        Ok(if instances.is_empty() {
            Symbol::Cells(Tree::Array(least, trees))
        } else {
            Symbol::Instances(least, instances)
        })
    }

    fn module_instance(
        &mut self,
        instance: usize,
        module: &'a super::ast::Name,
        arguments: &'a [Node],
        process: bool,
        name: String,
    ) -> Analysed<usize> {
        let Some(&number) = self.by_name.get(module.text.as_str()) else {
            return Err(self.unknown_module(&module.text, module.span));
        };
        if self.open.contains(&number) {
            return Err(Diagnostic::error(module.span, format!("module `{}` contains itself", module.text)));
        }
        if self.open.len() >= MAX_NESTING {
            return Err(Diagnostic::error(module.span, format!("instances may be nested {MAX_NESTING} deep")));
        }
        let parameters = &self.modules[number].parameters;
        if parameters.len() != arguments.len() {
            let (wanted, given) = (counted(parameters.len(), "parameter"), arguments.len());
            let message = format!("module `{}` has {wanted}, but {given} given", module.text);
            return Err(Diagnostic::error(module.span, message));
        }
        let bound = parameters.iter().zip(arguments);
        let bound = bound.map(|(parameter, node)| (parameter.text.as_str(), (node, instance))).collect();
        let mut of = self.flat.instances[instance].process;
        if process {
            of = self.flat.processes.len();
            self.flat.processes.push(name.clone());
        }
        Ok(self.instance(number, name, bound, of))
    }

    fn enumeration(&mut self, values: &'a [Value], span: Span) -> Analysed<Domain> {
        let mut codes = Vec::new();
        let truths = values.iter().filter(|value| matches!(value, Value::Boolean(..))).count();
        if truths > 0 {
            return match truths == values.len() && truths == 2 {
                true => Ok(Domain::Boolean),
                false => Err(Diagnostic::error(span, "`TRUE` and `FALSE` together are the type `boolean`")),
            };
        }
        for value in values {
            let (code, at) = match value {
                Value::Symbol(name) => (self.flat.code(&name.text), name.span),
                Value::Number(value, span) => (*value, *span),
                Value::Boolean(_, span) => return Err(Diagnostic::error(*span, "a truth value among others")),
            };
            if codes.contains(&code) {
                return Err(Diagnostic::error(at, format!("`{}` is listed twice", self.flat.show(code))));
            }
            codes.push(code);
        }
        let contiguous = codes.windows(2).all(|pair| pair[1] == pair[0] + 1) && codes[codes.len() - 1] < SYMBOLS;
        Ok(if contiguous { Domain::Range(codes[0], codes[codes.len() - 1]) } else { Domain::Values(codes.into()) })
    }

    /// The value of a constant: of numbers, parameters and definitions.
    fn constant(&self, node: &'a Node, instance: usize, depth: u32) -> Analysed<i64> {
        self.watch.step()?;
        let wrong = || Diagnostic::error(node.span, "expected a constant integer");
        if depth > MAX_CONSTANT_DEPTH {
            return Err(Diagnostic::error(node.span, "a constant that depends on too many others"));
        }
        let of = |node: &'a Node| self.constant(node, instance, depth + 1);
        let exact = |value: Option<i64>| {
            value
                .filter(|value| value.abs() <= i64::from(i32::MAX))
                .ok_or_else(|| Diagnostic::error(node.span, "a constant beyond 2147483647"))
        };
        match &node.kind {
            Kind::Number(value) => Ok(*value),
            Kind::Unary(Unary::Negate, x) => Ok(-of(x)?),
            Kind::Chain(Chain::Add, operands) => {
                operands.iter().try_fold(0i64, |sum, node| exact(sum.checked_add(of(node)?)))
            }
            Kind::Chain(Chain::Multiply, operands) => {
                operands.iter().try_fold(1i64, |product, node| exact(product.checked_mul(of(node)?)))
            }
            Kind::Binary(Binary::Subtract, x, y) => exact(of(x)?.checked_sub(of(y)?)),
            Kind::Binary(Binary::Divide, x, y) => exact(of(x)?.checked_div(of(y)?)),
            Kind::Binary(Binary::Mod, x, y) => exact(of(x)?.checked_rem(of(y)?)),
            Kind::Name(name) => {
                let of = &self.flat.instances[instance];
                if let Some((node, giver)) = of.parameters.get(name.as_str()) {
                    return self.constant(node, *giver, depth + 1);
                }
                match of.symbols.get(name.as_str()) {
                    Some(Symbol::Define(node)) => self.constant(node, instance, depth + 1),
                    _ => Err(wrong()),
                }
            }
            _ => Err(wrong()),
        }
    }
}
