//! XML with places: elements of a text, one after the other or as small trees.
//!
//! A net can be large, but what it consists of is small: so a reader walks over the outer elements and takes a place, a
//! transition or an arc as a tree, which it forgets before the next one. Prefixes of namespaces are left out of names.
//! Only the five entities that XML itself knows are replaced, so that no text grows by reading it.

use std::borrow::Cow;

use ample_model::{SourceId, Span};
use quick_xml::XmlVersion;
use quick_xml::errors::{Error, IllFormedError, SyntaxError};
use quick_xml::events::Event;
use quick_xml::events::attributes::Attributes;

use crate::diagnostic::Diagnostic;
use crate::watch::Watch;

/// What reading gives.
pub type Read<T> = Result<T, Diagnostic>;

/// How deep elements may nest, so that no text can exhaust the stack of those who walk over trees.
const MAX_DEPTH: usize = 1000;

/// An element.
#[derive(Clone, Debug)]
pub struct Element<'t> {
    /// Its name, without a prefix.
    pub name: &'t str,
    /// Its attributes, with names without prefixes.
    pub attributes: Vec<(&'t str, Cow<'t, str>)>,
    /// The text directly inside, without the blanks around it.
    pub text: Cow<'t, str>,
    /// The elements directly inside.
    pub children: Vec<Element<'t>>,
    /// The tag that opens it.
    pub span: Span,
}

impl<'t> Element<'t> {
    /// The value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&Cow<'t, str>> {
        self.attributes.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The value of an attribute that must be there.
    pub fn required(&self, name: &str) -> Read<Cow<'t, str>> {
        match self.attribute(name) {
            Some(value) => Ok(value.clone()),
            None => Err(self.error(format!("`<{}>` has no attribute `{name}`", self.name))),
        }
    }

    /// The first element of that name directly inside.
    pub fn child(&self, name: &str) -> Option<&Element<'t>> {
        self.children.iter().find(|child| child.name == name)
    }

    /// An error at this element.
    pub fn error(&self, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(self.span, message)
    }
}

/// What comes next in a text.
#[derive(Debug)]
pub enum Item<'t> {
    /// An element begins; its text and its children are still to be read.
    Open(Element<'t>),
    /// The element that was opened last ends.
    Close,
    /// The text ends.
    End,
}

/// A reader of a text.
pub struct Reader<'t> {
    inner: quick_xml::Reader<&'t [u8]>,
    text: &'t str,
    /// The elements that are open.
    open: Vec<(&'t str, Span)>,
    /// The characters since the last tag.
    characters: Cow<'t, str>,
    watch: &'t Watch<'t>,
}

impl<'t> Reader<'t> {
    /// Starts at the beginning of a text, which must be shorter than 4 GiB.
    pub fn new(text: &'t str, watch: &'t Watch<'t>) -> Reader<'t> {
        let mut inner = quick_xml::Reader::from_str(text);
        inner.config_mut().expand_empty_elements = true;
        Reader { inner, text, open: Vec::new(), characters: Cow::Borrowed(""), watch }
    }

    /// The next beginning or end of an element.
    pub fn next(&mut self) -> Read<Item<'t>> {
        self.characters = Cow::Borrowed("");
        loop {
            self.watch.step()?;
            let start = self.position();
            let event = match self.inner.read_event() {
                Ok(event) => event,
                Err(error) => return Err(self.faulty(start, &error)),
            };
            let (from, to) = (start, self.position());
            match event {
                Event::Start(tag) => return self.opened(from, to, tag.name().0.len()),
                Event::End(_) => {
                    self.open.pop();
                    return Ok(Item::Close);
                }
                Event::Eof => return self.ended(),
                Event::Text(_) => self.append(Cow::Borrowed(self.text.get(from..to).unwrap_or(""))),
                Event::CData(data) => self.append(Cow::Owned(data.to_string())),
                Event::GeneralRef(name) => {
                    let replaced = self.reference(&name, from, to)?;
                    self.append(Cow::Owned(replaced));
                }
                Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
                Event::Empty(_) => {}
            }
        }
    }

    /// Reads the rest of an element that was opened last.
    pub fn whole(&mut self, opened: Element<'t>) -> Read<Element<'t>> {
        let mut stack = Vec::new();
        let mut current = opened;
        loop {
            let item = self.next()?;
            if !self.characters.trim().is_empty() {
                let more = trimmed(&self.characters);
                current.text =
                    if current.text.is_empty() { more } else { Cow::Owned(format!("{}{more}", current.text)) };
            }
            match item {
                Item::Open(child) => stack.push(std::mem::replace(&mut current, child)),
                Item::Close => match stack.pop() {
                    Some(parent) => {
                        let child = std::mem::replace(&mut current, parent);
                        current.children.push(child);
                    }
                    None => return Ok(current),
                },
                // An end within an element is an error.
                Item::End => return Ok(current),
            }
        }
    }

    /// Passes over the rest of the element that was opened last.
    pub fn skip(&mut self) -> Read<()> {
        let depth = self.open.len();
        while self.open.len() >= depth {
            if matches!(self.next()?, Item::End) {
                break;
            }
        }
        Ok(())
    }

    fn position(&self) -> usize {
        self.inner.buffer_position() as usize
    }

    fn span(&self, from: usize, to: usize) -> Span {
        let end = self.text.len();
        let from = from.min(end);
        Span { source: SourceId(0), start: from as u32, end: to.clamp(from, end) as u32 }
    }

    fn append(&mut self, more: Cow<'t, str>) {
        if self.characters.is_empty() {
            self.characters = more;
        } else {
            self.characters.to_mut().push_str(&more);
        }
    }

    fn opened(&mut self, from: usize, to: usize, name: usize) -> Read<Item<'t>> {
        let span = self.span(from, to);
        if self.open.len() >= MAX_DEPTH {
            return Err(Diagnostic::error(span, "elements are nested too deeply"));
        }
        // What the reader calls a tag lies between the angle brackets.
        let tag = self.text.get(from + 1..to.saturating_sub(1)).unwrap_or("");
        let tag = tag.strip_suffix('/').unwrap_or(tag);
        let full = tag.get(..name).unwrap_or(tag);
        let mut attributes = Vec::new();
        for attribute in Attributes::new(tag, full.len()) {
            let attribute = attribute.map_err(|error| {
                Diagnostic::error(span, format!("the attributes of `<{full}>` are not right: {error}"))
            })?;
            let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|error| {
                Diagnostic::error(span, format!("the attribute `{}` is not right: {error}", attribute.key.0))
            })?;
            attributes.push((local(attribute.key.0), value));
        }
        let name = local(full);
        self.open.push((name, span));
        Ok(Item::Open(Element { name, attributes, text: Cow::Borrowed(""), children: Vec::new(), span }))
    }

    fn ended(&self) -> Read<Item<'t>> {
        match self.open.last() {
            Some((name, span)) => {
                let message = format!("the file ends before `</{name}>`");
                Err(Diagnostic::error(*span, message).with_help("this element is not closed"))
            }
            None => Ok(Item::End),
        }
    }

    fn reference(&self, name: &str, from: usize, to: usize) -> Read<String> {
        let character = match name.strip_prefix('#') {
            Some(number) => {
                let code = match number.strip_prefix('x') {
                    Some(digits) => u32::from_str_radix(digits, 16).ok(),
                    None => number.parse().ok(),
                };
                code.and_then(char::from_u32).filter(|character| *character != '\0').map(String::from)
            }
            None => quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned),
        };
        character.ok_or_else(|| Diagnostic::error(self.span(from, to), format!("`&{name};` is not known")))
    }

    fn faulty(&self, start: usize, error: &Error) -> Diagnostic {
        let from = (self.inner.error_position() as usize).max(start.min(self.text.len()));
        let line = self.text.get(from..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        let span = self.span(from, from + line.clamp(1, 80));
        match error {
            Error::IllFormed(IllFormedError::MismatchedEndTag { expected, found }) => {
                let message = format!("expected `</{expected}>`, found `</{found}>`");
                Diagnostic::error(span, message).with_help(self.opened_where())
            }
            Error::IllFormed(IllFormedError::UnmatchedEndTag(found)) => {
                Diagnostic::error(span, format!("`</{found}>` closes nothing"))
            }
            Error::Syntax(SyntaxError::UnclosedComment) => Diagnostic::error(span, "this comment is not closed"),
            error => Diagnostic::error(span, format!("this is not XML: {error}")),
        }
    }

    fn opened_where(&self) -> String {
        let Some((name, span)) = self.open.last() else { return "nothing is open here".to_owned() };
        let line = self.text.get(..span.start as usize).unwrap_or("").matches('\n').count() + 1;
        format!("`<{name}>` was opened in line {line}")
    }
}

/// A name without its prefix.
fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn trimmed<'t>(text: &Cow<'t, str>) -> Cow<'t, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim()),
        Cow::Owned(text) => Cow::Owned(text.trim().to_owned()),
    }
}
