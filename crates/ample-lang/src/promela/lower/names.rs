//! Names and types: what an identifier means at a place, and how declarations become variables.

use std::collections::HashMap;

use ample_model::{
    Channel, ChannelId, Enumeration, EnumerationId, Expr, Initial, ProcessId, ProcessType, Record, RecordId, Scalar,
    Scope, Span, System, Type, Variable, VariableId, VariableKind,
};

use super::{Lower, Result};
use crate::diagnostic::{Diagnostic, closest};
use crate::promela::ast::{self, Declaration, Initializer, Name, TypeName, Unit, Visibility};

/// The only field of an object of a basic type.
pub(super) const VALUE: &str = "value";

/// More cells than this in one variable cannot become a state that anybody searches.
const MAX_SLOTS: u32 = 1 << 20;

/// All that is declared at the top level.
#[derive(Default)]
pub(super) struct Globals {
    pub(super) mtypes: HashMap<String, (EnumerationId, i64)>,
    subtypes: HashMap<String, EnumerationId>,
    pub(super) records: HashMap<String, RecordId>,
    /// For every record: how its slots start, beside 0.
    record_initial: Vec<Vec<(u32, Initial)>>,
    /// In PROM+, the types of objects: all records by their names, before their fields are known, and for a pointer to a
    /// basic type a record with one field.
    pub(super) objects: HashMap<String, RecordId>,
    pub(super) variables: HashMap<String, VariableId>,
    pub(super) processes: HashMap<String, ProcessId>,
    /// The constants that globals start with (else 0): they may serve as array lengths.
    constants: HashMap<String, i64>,
}

impl Globals {
    /// What an existing system declares.
    pub(super) fn of(system: &System) -> Globals {
        let mut globals = Globals::default();
        for (index, enumeration) in system.enumerations.iter().enumerate() {
            let id = EnumerationId::from(index);
            globals.mtypes.extend(enumeration.values.iter().map(|(name, value)| (name.clone(), (id, *value))));
            globals.subtypes.insert(enumeration.name.clone(), id);
        }
        let named = |(index, record): (usize, &Record)| (record.name.clone(), RecordId::from(index));
        globals.objects = system.records.iter().enumerate().map(named).collect();
        let named = |(index, variable): (usize, &Variable)| (variable.name.clone(), VariableId::from(index));
        globals.variables = system.globals.iter().enumerate().map(named).collect();
        let named = |(index, process): (usize, &ProcessType)| (process.name.clone(), ProcessId::from(index));
        globals.processes = system.processes.iter().enumerate().map(named).collect();
        globals
    }
}

/// The locals of the process type that is being lowered.
pub(super) struct Locals {
    pub(super) variables: Vec<Variable>,
    /// The blocks that are open, each with its number and the names declared in it.
    scopes: Vec<(u32, HashMap<String, VariableId>)>,
    next_scope: u32,
}

impl Locals {
    pub(super) fn new() -> Locals {
        Locals { variables: Vec::new(), scopes: vec![(0, HashMap::new())], next_scope: 1 }
    }

    pub(super) fn open_scope(&mut self) {
        self.scopes.push((self.next_scope, HashMap::new()));
        self.next_scope += 1;
    }

    pub(super) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// The numbers of the open blocks, outermost first.
    pub(super) fn scope_path(&self) -> Vec<u32> {
        self.scopes.iter().map(|(number, _)| *number).collect()
    }

    fn find(&self, name: &str) -> Option<VariableId> {
        self.scopes.iter().rev().find_map(|(_, names)| names.get(name).copied())
    }

    fn declare(&mut self, name: &Name, variable: Variable) -> Result<VariableId> {
        let id = VariableId::from(self.variables.len());
        // The body's own scope is that of the parameters, for who may be called what.
        let innermost = if self.scopes.len() == 2 { 0 } else { self.scopes.len() - 1 };
        if self.scopes[innermost..].iter().any(|(_, names)| names.contains_key(&name.text)) {
            return Err(Diagnostic::error(name.span, format!("`{}` is declared twice", name.text)));
        }
        let (_, names) = self.scopes.last_mut().expect("a scope is open while a body is lowered");
        names.insert(name.text.clone(), id);
        self.variables.push(variable);
        Ok(id)
    }
}

/// Spin initialises globals by type, in this order; channel handles are numbered on the way.
fn rank(ty: &TypeName) -> u8 {
    match ty {
        TypeName::Unsigned => 0,
        TypeName::Bit | TypeName::Bool => 1,
        TypeName::Byte | TypeName::Pid => 2,
        TypeName::Chan => 3,
        TypeName::Mtype(_) => 4,
        TypeName::Short => 5,
        TypeName::Int => 6,
        TypeName::User(_) => 7,
    }
}

impl Lower<'_> {
    /// mtypes, typedefs, process names and global variables, so that a body may use what comes later.
    pub(super) fn collect_globals(&mut self, model: &ast::Model) {
        for unit in &model.units {
            if self.watch.step().is_err() {
                return;
            }
            if let Unit::Mtype { subtype, names } = unit {
                let done = self.add_mtype(subtype.as_ref(), names);
                self.keep_error(done);
            }
        }
        if self.widths.is_some() {
            self.declare_objects(model);
        }
        for unit in &model.units {
            if self.watch.step().is_err() {
                return;
            }
            let done = match unit {
                Unit::Typedef { name, fields } => self.add_record(name, fields),
                Unit::Declaration(declaration) => {
                    self.note_constants(declaration);
                    Ok(())
                }
                _ => Ok(()),
            };
            self.keep_error(done);
        }
        let mut declared: Vec<(u8, &Declaration, &ast::Declarator)> = Vec::new();
        for unit in &model.units {
            if let Unit::Declaration(declaration) = unit {
                let rank = rank(&declaration.ty);
                declared.extend(declaration.variables.iter().map(|v| (rank, declaration, v)));
            }
        }
        declared.sort_by_key(|(rank, ..)| *rank);
        for (_, declaration, declarator) in &declared {
            if self.watch.step().is_err() {
                return;
            }
            let done = self.add_global(declaration, declarator);
            self.keep_error(done);
        }
        for (_, declaration, declarator) in &declared {
            if self.watch.step().is_err() {
                return;
            }
            let done = self.initialise_global(declaration, declarator);
            self.keep_error(done);
        }
    }

    fn note_constants(&mut self, declaration: &Declaration) {
        for variable in &declaration.variables {
            let value = match &variable.initial {
                Some(Initializer::Value(value)) => self.constant(value).unwrap_or(0),
                _ => 0,
            };
            self.globals.constants.insert(variable.name.text.clone(), value);
        }
    }

    fn add_mtype(&mut self, subtype: Option<&Name>, names: &[Name]) -> Result<()> {
        let id = self.enumeration(subtype);
        let known = self.system.enumerations[id.index()].values.len();
        for (index, name) in names.iter().enumerate() {
            if known + index >= 255 {
                return Err(Diagnostic::error(name.span, "an mtype can have at most 255 names"));
            }
            let before = names[..index].iter().any(|earlier| earlier.text == name.text);
            if before || self.globals.mtypes.contains_key(&name.text) {
                let message = format!("`{}` appears twice in mtype declarations", name.text);
                return Err(Diagnostic::error(name.span, message));
            }
        }
        // The names of one declaration are numbered from the last to the first, after all earlier ones.
        for name in names.iter().rev() {
            let values = &mut self.system.enumerations[id.index()].values;
            let value = values.len() as i64 + 1;
            values.push((name.text.clone(), value));
            self.globals.mtypes.insert(name.text.clone(), (id, value));
        }
        Ok(())
    }

    fn enumeration(&mut self, subtype: Option<&Name>) -> EnumerationId {
        let key = subtype.map_or("", |s| s.text.as_str());
        if let Some(id) = self.globals.subtypes.get(key) {
            return *id;
        }
        let id = EnumerationId::from(self.system.enumerations.len());
        self.system.enumerations.push(Enumeration { name: key.into(), values: Vec::new() });
        self.globals.subtypes.insert(key.into(), id);
        id
    }

    fn add_record(&mut self, name: &Name, declarations: &[Declaration]) -> Result<()> {
        let mut fields: Vec<(String, Type)> = Vec::new();
        let mut initial = Vec::new();
        let mut offset = 0_u32;
        for declaration in declarations {
            for declarator in &declaration.variables {
                let ty = self.declared_type(declaration, declarator);
                if fields.iter().any(|(n, _)| *n == declarator.name.text) {
                    let text = &declarator.name.text;
                    let error = Diagnostic::error(declarator.name.span, format!("field `{text}` is declared twice"));
                    self.diagnostics.push(error);
                    continue;
                }
                let slots = self.initial_slots(declaration, declarator, &ty).unwrap_or_else(|error| {
                    self.diagnostics.push(error);
                    Vec::new()
                });
                initial.extend(slots.into_iter().map(|(slot, value)| (offset.saturating_add(slot), value)));
                offset = offset.saturating_add(self.system.slots(&ty));
                fields.push((declarator.name.text.clone(), ty));
            }
        }
        if offset > MAX_SLOTS {
            return Err(Diagnostic::error(
                name.span,
                format!("`{}` has {offset} cells, more than a state can have", name.text),
            ));
        }
        if self.globals.records.contains_key(&name.text) {
            return Err(Diagnostic::error(name.span, format!("type `{}` is declared twice", name.text)));
        }
        let id = match self.globals.objects.get(&name.text) {
            Some(id) => *id,
            None => {
                self.system.records.push(Record { name: name.text.clone(), fields: Vec::new() });
                RecordId::from(self.system.records.len() - 1)
            }
        };
        self.globals.records.insert(name.text.clone(), id);
        self.system.records[id.index()].fields = fields;
        self.globals.record_initial.resize(self.system.records.len(), Vec::new());
        self.globals.record_initial[id.index()] = initial;
        Ok(())
    }

    /// Gives all records their numbers, so that pointers may refer to those that come later.
    fn declare_objects(&mut self, model: &ast::Model) {
        for unit in &model.units {
            let Unit::Typedef { name, .. } = unit else { continue };
            let id = RecordId::from(self.system.records.len());
            if self.globals.objects.insert(name.text.clone(), id).is_none() {
                self.system.records.push(Record { name: name.text.clone(), fields: Vec::new() });
            }
        }
    }

    /// Objects of that type have a single value, of a basic type.
    pub(super) fn is_basic(&self, record: RecordId) -> bool {
        let name = self.system.records[record.index()].name.as_str();
        matches!(name, "bit" | "bool" | "byte" | "short" | "int" | "pid")
    }

    /// The type of the objects that a pointer to this type refers to.
    pub(super) fn object_type(&mut self, ty: &TypeName, span: Span) -> Result<RecordId> {
        let name = match ty {
            TypeName::User(name) => {
                let unknown = || Diagnostic::error(name.span, format!("unknown type `{}`", name.text));
                return self.globals.objects.get(&name.text).copied().ok_or_else(unknown);
            }
            TypeName::Bit => "bit",
            TypeName::Bool => "bool",
            TypeName::Byte => "byte",
            TypeName::Short => "short",
            TypeName::Int => "int",
            TypeName::Pid => "pid",
            TypeName::Unsigned | TypeName::Mtype(_) | TypeName::Chan => {
                let message = "a pointer refers to a bit, bool, byte, pid, short, int or a record";
                return Err(Diagnostic::error(span, message));
            }
        };
        if let Some(id) = self.globals.objects.get(name) {
            return Ok(*id);
        }
        let Some(scalar) = self.scalar(ty, None, true) else {
            return Err(Diagnostic::error(span, "unknown type"));
        };
        let id = RecordId::from(self.system.records.len());
        self.globals.objects.insert(name.into(), id);
        let fields = vec![(VALUE.into(), Type::Scalar(scalar))];
        self.system.records.push(Record { name: name.into(), fields });
        self.globals.record_initial.resize(self.system.records.len(), Vec::new());
        Ok(id)
    }

    /// The type of one cell. `alone`: neither an array element nor the only field of a message, where Spin
    /// keeps a bit in a byte (and so does not cut off the other seven).
    fn scalar(&mut self, ty: &TypeName, width: Option<i64>, alone: bool) -> Option<Scalar> {
        Some(match ty {
            TypeName::Bit | TypeName::Bool if alone => Scalar::BOOL,
            TypeName::Bit | TypeName::Bool | TypeName::Byte => Scalar::BYTE,
            TypeName::Pid => Scalar::Process,
            TypeName::Short => Scalar::SHORT,
            TypeName::Int => Scalar::INT,
            TypeName::Unsigned => Scalar::Int { bits: width.unwrap_or(16) as u8, signed: false },
            TypeName::Mtype(subtype) => Scalar::Enumeration(self.enumeration(subtype.as_ref())),
            TypeName::Chan => Scalar::Channel,
            TypeName::User(_) => return None,
        })
    }

    fn variable_type(&mut self, declaration: &Declaration, declarator: &ast::Declarator) -> Result<Type> {
        let width = match (&declaration.ty, declarator.width) {
            (TypeName::Unsigned, Some((width, span))) => {
                if !(1..=31).contains(&width) {
                    return Err(Diagnostic::error(
                        span,
                        format!("the width of `{}` must be 1 to 31 bits", declarator.name.text),
                    ));
                }
                Some(width)
            }
            (TypeName::Unsigned, None) => {
                self.warn(
                    declarator.name.span,
                    format!("unsigned `{}` without a width has 16 bits", declarator.name.text),
                );
                None
            }
            (_, Some((_, span))) => {
                return Err(Diagnostic::error(span, "only an unsigned can have a width"));
            }
            (_, None) => None,
        };
        let element = match &declaration.ty {
            ty if declarator.pointer.is_some() => {
                let object = self.object_type(ty, declarator.pointer.unwrap_or(declarator.name.span))?;
                Type::Scalar(Scalar::Reference(object))
            }
            TypeName::User(name) => match self.globals.records.get(&name.text) {
                Some(id) => Type::Record(*id),
                None if self.globals.objects.contains_key(&name.text) => {
                    let message = format!("a record of type `{}` cannot contain itself", name.text);
                    let help = "a pointer to another one can be part of it: put a `*` before the name";
                    return Err(Diagnostic::error(name.span, message).with_help(help));
                }
                None => return Err(Diagnostic::error(name.span, format!("unknown type `{}`", name.text))),
            },
            ty => {
                if let TypeName::Mtype(Some(name)) = ty
                    && !self.globals.subtypes.contains_key(&name.text)
                {
                    self.unknown_subtype(name);
                }
                let scalar = self.scalar(ty, width, declarator.length.is_none());
                Type::Scalar(scalar.expect("only user types are not scalar"))
            }
        };
        let Some(length) = &declarator.length else { return Ok(element) };
        let value = self.array_length(length)?;
        let slots = u64::from(self.system.slots(&element)) * value;
        if slots > u64::from(MAX_SLOTS) {
            let text = &declarator.name.text;
            return Err(Diagnostic::error(
                length.span,
                format!("`{text}` has {slots} cells, more than a state can have"),
            ));
        }
        Ok(Type::Array { element: Box::new(element), length: value as u32 })
    }

    /// Spin takes a subtype that has no names, but hardly anyone means it.
    fn unknown_subtype(&mut self, name: &Name) {
        let warning = Diagnostic::warning(name.span, format!("no names are declared for `mtype:{}`", name.text));
        let known = self.globals.subtypes.keys().filter(|known| !known.is_empty());
        let warning = match closest(&name.text, known.map(String::as_str)) {
            Some(near) => warning.with_help(format!("did you mean `mtype:{near}`?")),
            None => warning,
        };
        self.diagnostics.push(warning);
    }

    /// The type of a variable; of a faulty declaration, one that its uses may go on with.
    fn declared_type(&mut self, declaration: &Declaration, declarator: &ast::Declarator) -> Type {
        let error = match self.variable_type(declaration, declarator) {
            Ok(ty) => return ty,
            Err(error) => error,
        };
        self.diagnostics.push(error);
        let element = match &declaration.ty {
            TypeName::Chan => Type::Scalar(Scalar::Channel),
            TypeName::User(name) => {
                self.globals.records.get(&name.text).map_or(Type::Scalar(Scalar::INT), |id| Type::Record(*id))
            }
            _ => Type::Scalar(Scalar::INT),
        };
        match declarator.length {
            Some(_) => Type::Array { element: Box::new(element), length: 1 },
            None => element,
        }
    }

    fn array_length(&mut self, length: &ast::Expr) -> Result<u64> {
        if let ast::ExprKind::Var(var) = &*length.kind
            && let [(name, None)] = &var.parts[..]
            && !self.globals.mtypes.contains_key(&name.text)
            && let Some(value) = self.first_value(&name.text)
        {
            let value = if value > 0 { value } else { 8 };
            self.warn(length.span, format!("`{}` in an array bound is taken as {value}", name.text));
            return Ok(value as u64);
        }
        let value = self.constant(length)?;
        if value < 1 {
            return Err(Diagnostic::error(length.span, format!("an array cannot have {value} elements")));
        }
        Ok(value as u64)
    }

    /// The constant that a variable starts with, 0 if it is not one: what Spin takes for an array bound.
    fn first_value(&self, name: &str) -> Option<i64> {
        if let Some(body) = &self.body
            && let Some(id) = body.locals.find(name)
        {
            let initial = &body.locals.variables[id.index()].initial;
            return Some(match initial.first() {
                Some((_, Initial::Value(Expr::Const(value)))) => *value,
                _ => 0,
            });
        }
        self.globals.constants.get(name).copied()
    }

    fn add_global(&mut self, declaration: &Declaration, declarator: &ast::Declarator) -> Result<()> {
        let name = &declarator.name;
        self.refuse_reserved(name)?;
        let ty = self.declared_type(declaration, declarator);
        let id = VariableId::from(self.system.globals.len());
        if let Some(before) = self.globals.variables.get(&name.text) {
            let before = self.declared_before(self.system.globals[before.index()].span);
            let error = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
            return Err(error.with_help(before));
        }
        let hidden = declaration.visibility == Visibility::Hidden;
        if hidden && matches!(declaration.ty, TypeName::Chan) {
            let error = Diagnostic::error(name.span, format!("channel `{}` cannot be hidden", name.text));
            self.diagnostics.push(error);
        }
        self.globals.variables.insert(name.text.clone(), id);
        self.system.globals.push(Variable {
            name: name.text.clone(),
            ty,
            initial: Vec::new(),
            hidden,
            kind: VariableKind::State,
            span: Some(name.span),
        });
        Ok(())
    }

    fn initialise_global(&mut self, declaration: &Declaration, declarator: &ast::Declarator) -> Result<()> {
        let Some(id) = self.globals.variables.get(&declarator.name.text).copied() else { return Ok(()) };
        if self.system.globals[id.index()].span != Some(declarator.name.span) {
            return Ok(());
        }
        let ty = self.system.globals[id.index()].ty.clone();
        self.system.globals[id.index()].initial = self.initial_slots(declaration, declarator, &ty)?;
        Ok(())
    }

    fn refuse_reserved(&self, name: &Name) -> Result<()> {
        if self.globals.mtypes.contains_key(&name.text) {
            let message = format!("`{}` is an mtype name and cannot be a variable", name.text);
            return Err(Diagnostic::error(name.span, message));
        }
        if matches!(name.text.as_str(), "_" | "_pid" | "_nr_pr" | "_last" | "_priority" | "_p") {
            return Err(Diagnostic::error(name.span, format!("`{}` is predefined", name.text)));
        }
        Ok(())
    }

    /// How the slots of a variable start, from its type and its initialiser.
    fn initial_slots(
        &mut self,
        declaration: &Declaration,
        declarator: &ast::Declarator,
        ty: &Type,
    ) -> Result<Vec<(u32, Initial)>> {
        let length = match ty {
            Type::Array { length, .. } => *length,
            _ => 1,
        };
        if let (TypeName::User(name), None) = (&declaration.ty, declarator.pointer) {
            if declarator.initial.is_some() {
                let message = format!("the first value of a variable of type `{}` is ignored", name.text);
                self.warn(declarator.name.span, message);
            }
            let Some(id) = self.globals.records.get(&name.text).copied() else { return Ok(Vec::new()) };
            let size = self.system.slots(&Type::Record(id));
            let one = self.globals.record_initial[id.index()].clone();
            let all = (0..length).flat_map(|i| one.iter().map(move |(slot, v)| (i * size + slot, v.clone())));
            return Ok(all.collect());
        }
        match &declarator.initial {
            None => Ok(Vec::new()),
            Some(Initializer::Value(value)) => {
                let value = self.expression(value)?;
                if value == Expr::Const(0) {
                    return Ok(Vec::new());
                }
                Ok((0..length).map(|slot| (slot, Initial::Value(value.clone()))).collect())
            }
            Some(Initializer::List(values)) => {
                if declarator.length.is_none() {
                    let message = format!("`{}` must be an array to have a list of values", declarator.name.text);
                    return Err(Diagnostic::error(declarator.name.span, message));
                }
                let mut lowered = Vec::new();
                for value in values {
                    lowered.push(self.expression(value)?);
                }
                let Some(last) = lowered.last().cloned() else { return Ok(Vec::new()) };
                // The last value serves for the elements that are left.
                Ok((0..length)
                    .map(|slot| {
                        let value = lowered.get(slot as usize).unwrap_or(&last);
                        (slot, Initial::Value(value.clone()))
                    })
                    .collect())
            }
            Some(Initializer::Channel { capacity, fields, span }) => {
                if !matches!(declaration.ty, TypeName::Chan) {
                    let message =
                        format!("`{}` is not a channel and cannot be initialised as one", declarator.name.text);
                    return Err(Diagnostic::error(*span, message));
                }
                let id = self.add_channel(&declarator.name, capacity, fields)?;
                Ok((0..length).map(|slot| (slot, Initial::Channel(id))).collect())
            }
        }
    }

    fn add_channel(
        &mut self,
        name: &Name,
        capacity: &ast::Expr,
        fields: &[(TypeName, ample_model::Span)],
    ) -> Result<ChannelId> {
        let size = self.constant(capacity)?;
        if !(0..=1 << 16).contains(&size) {
            let error = Diagnostic::error(capacity.span, format!("a channel cannot have {size} slots"));
            return Err(error.with_help("it can have 0 (a rendezvous) to 65536"));
        }
        let mut scalars = Vec::new();
        for (ty, span) in fields {
            match ty {
                TypeName::User(user) => match self.globals.records.get(&user.text) {
                    Some(id) => scalars.extend(self.system.scalars(&Type::Record(*id))),
                    None => return Err(Diagnostic::error(user.span, format!("unknown type `{}`", user.text))),
                },
                TypeName::Unsigned => {
                    return Err(Diagnostic::error(*span, "unsigned cannot be a message field")
                        .with_help("use byte, short or int"));
                }
                ty => scalars.extend(self.scalar(ty, None, fields.len() > 1)),
            }
        }
        if (size as u64).max(1) * scalars.len() as u64 > u64::from(MAX_SLOTS) {
            return Err(Diagnostic::error(
                capacity.span,
                format!("channel `{}` is larger than a state can be", name.text),
            ));
        }
        let id = ChannelId::from(self.system.channels.len());
        let span = Some(name.span);
        self.system.channels.push(Channel { name: name.text.clone(), capacity: size as u32, fields: scalars, span });
        Ok(id)
    }

    /// Declares a local. Without `initialise`, its slots start with 0 (the body assigns to it).
    pub(super) fn add_local(
        &mut self,
        declaration: &Declaration,
        declarator: &ast::Declarator,
        initialise: bool,
    ) -> Result<VariableId> {
        let name = &declarator.name;
        self.refuse_reserved(name)?;
        if declaration.visibility == Visibility::Hidden {
            let error = Diagnostic::error(name.span, format!("only globals can be hidden, not `{}`", name.text));
            self.diagnostics.push(error);
        }
        let ty = self.declared_type(declaration, declarator);
        let initial = if initialise || matches!(declaration.ty, TypeName::User(_)) {
            self.initial_slots(declaration, declarator, &ty)
        } else {
            Ok(Vec::new())
        };
        let initial = initial.unwrap_or_else(|error| {
            self.diagnostics.push(error);
            Vec::new()
        });
        let variable = Variable {
            name: name.text.clone(),
            ty,
            initial,
            hidden: false,
            kind: VariableKind::State,
            span: Some(name.span),
        };
        let body = self.body.as_mut().expect("locals are declared inside a body");
        body.locals.declare(name, variable)
    }

    /// A counter that the source does not show.
    pub(super) fn add_hidden_local(&mut self, name: Name, scalar: Scalar) -> Result<VariableId> {
        let ty = Type::Scalar(scalar);
        let variable = Variable {
            name: name.text.clone(),
            ty,
            initial: Vec::new(),
            hidden: false,
            kind: VariableKind::State,
            span: None,
        };
        self.body.as_mut().expect("locals are declared inside a body").locals.declare(&name, variable)
    }

    /// The variable a name means here: a local of an open block, else a global.
    pub(super) fn find_variable(&self, name: &str) -> Option<(Scope, VariableId)> {
        if let Some(body) = &self.body
            && let Some(id) = body.locals.find(name)
        {
            return Some((Scope::Local, id));
        }
        self.globals.variables.get(name).map(|id| (Scope::Global, *id))
    }

    pub(super) fn variable(&self, scope: Scope, id: VariableId) -> &Variable {
        match (scope, &self.body) {
            (Scope::Local, Some(body)) => &body.locals.variables[id.index()],
            _ => &self.system.globals[id.index()],
        }
    }

    /// Names that could have been meant, for a help line.
    pub(super) fn similar_name(&self, name: &str) -> Option<String> {
        let mut names: Vec<&str> = self.globals.variables.keys().map(String::as_str).collect();
        names.extend(self.globals.mtypes.keys().map(String::as_str));
        if let Some(body) = &self.body {
            names.extend(body.locals.variables.iter().map(|v| v.name.as_str()));
        }
        closest(name, names.into_iter()).map(str::to_string)
    }
}
