//! The formula files of the Model Checking Contest.
//!
//! A file does not say which logic it is in: `all-paths globally p` may stand in files of either. What stands in one of
//! them only decides for the others, too. It makes a difference where a formula says `all-paths next`: where nothing
//! can fire there is no next state in branching time, and the same one again in linear time.

use ample_budget::Budget;
use ample_model::{BinaryOp, Expr, Property, Question, Source, Span, System, UnaryOp};

use super::atoms::{Atoms, Problem, TOO_LARGE, balanced};
use super::tree::Tree;
use super::xml::{Element, Item, Read, Reader};
use super::{MAX_ERRORS, Names, typed};
use crate::diagnostic::{Diagnostic, Rejected};
use crate::refused::RefusedFormula;
use crate::watch::Watch;

/// Reads a formula file of the Model Checking Contest about a net; `name` is what reports call it.
///
/// A property is named by the formula's `id`. Formulas of linear time are [`Question::Ltl`], without the quantifier in
/// front, all others [`Question::Ctl`], and bounds of places [`Question::Bound`].
///
/// ```
/// use ample_lang::pnml;
/// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
///   <place id="p"><initialMarking><text>2</text></initialMarking></place>
///   <transition id="t"/><arc id="a" source="p" target="t"/>
/// </page></net></pnml>"#;
/// let net = pnml::read("n.pnml", text)?;
/// let text = "<property-set><property><id>one</id><formula><exists-path><finally>
///   <negation><is-fireable><transition>t</transition></is-fireable></negation>
/// </finally></exists-path></formula></property></property-set>";
/// let properties = pnml::formulas(&net.system, &net.names, "formulas.xml", text)?;
/// assert_eq!(properties[0].id(), "ctl:one");
/// assert_eq!(properties[0].text, "EF !fireable(t)");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn formulas(system: &System, names: &Names, name: &str, text: &str) -> Result<Vec<Property>, Rejected> {
    let read = formulas_within(system, names, name, text, &Budget::unlimited())?;
    let mut diagnostics: Vec<Diagnostic> = read.faulty.into_iter().flat_map(|one| one.diagnostics).collect();
    diagnostics.truncate(MAX_ERRORS);
    let refused = read.refused.iter().map(|one| start_of_file(&format!("`{}`: {}", one.name, one.why)));
    diagnostics.extend(refused.take(usize::from(diagnostics.is_empty())));
    match diagnostics.is_empty() {
        true => Ok(read.properties),
        false => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
            Err(Rejected::new(vec![Source { path: name.to_owned(), text }], diagnostics))
        }
    }
}

/// The formulas of a file.
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    /// Those that can be checked.
    pub properties: Vec<Property>,
    /// Those that cannot, though nothing is wrong with them.
    pub refused: Vec<Refused>,
    /// Those with which something is wrong, with places in the text without its byte order mark.
    pub faulty: Vec<RefusedFormula>,
}

/// A formula that cannot be checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its `id`.
    pub name: String,
    /// Why not.
    pub why: String,
}

/// As [`formulas`], within a budget. A formula that is faulty, or too large when it is written out, does not spoil the
/// others.
pub fn formulas_within(
    system: &System,
    names: &Names,
    name: &str,
    text: &str,
    budget: &Budget,
) -> Result<Formulas, Rejected> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let rejected =
        |diagnostics| Err(Rejected::new(vec![Source { path: name.to_owned(), text: text.to_owned() }], diagnostics));
    if u32::try_from(text.len()).is_err() {
        return rejected(vec![start_of_file("files of more than 4 GiB are not read")]);
    }
    let watch = Watch::new(budget);
    let atoms = Atoms::new(system, names, &watch);
    let mut file = File { atoms, watch: &watch, stated: Vec::new(), refused: Vec::new(), faulty: Vec::new() };
    let read = file.read(text);
    if let Some(interrupted) = watch.ended() {
        return Err(interrupted.into());
    }
    if let Err(error) = read {
        let before = file.faulty.into_iter().flat_map(|one| one.diagnostics).take(MAX_ERRORS - 1);
        return rejected(before.chain([error]).collect());
    }
    file.refuse_undecided();
    let (refused, faulty) = (std::mem::take(&mut file.refused), std::mem::take(&mut file.faulty));
    let properties = file.properties();
    match watch.ended() {
        None => Ok(Formulas { properties, refused, faulty }),
        Some(interrupted) => Err(interrupted.into()),
    }
}

fn start_of_file(message: &str) -> Diagnostic {
    Diagnostic::error(Span { source: ample_model::SourceId(0), start: 0, end: 0 }, message)
}

/// Making a property takes as long as so many steps.
const PROPERTY_STEPS: usize = 32;

struct File<'n> {
    atoms: Atoms<'n>,
    watch: &'n Watch<'n>,
    stated: Vec<Stated>,
    refused: Vec<Refused>,
    faulty: Vec<RefusedFormula>,
}

/// A formula with its name.
struct Stated {
    name: String,
    asked: Asked,
}

enum Asked {
    Formula(Tree),
    Bound(Expr, String),
}

impl File<'_> {
    fn read(&mut self, text: &str) -> Read<()> {
        let mut reader = Reader::new(text, self.watch);
        match reader.next()? {
            Item::Open(root) if root.name == "property-set" => {}
            Item::Open(root) => {
                let error = root.error(format!("expected `<property-set>`, found `<{}>`", root.name));
                return Err(error.with_help("this is no formula file of the Model Checking Contest"));
            }
            _ => return Err(start_of_file("the file has no XML element: it is no formula file")),
        }
        while let Item::Open(element) = reader.next()? {
            if element.name != "property" {
                reader.skip()?;
                continue;
            }
            let element = reader.whole(element)?;
            self.atoms.next_formula();
            match self.property(&element) {
                Ok(stated) => self.stated.push(stated),
                Err(error) => {
                    let name = element.child("id").map_or_else(String::new, |id| id.text.to_string());
                    match self.atoms.was_too_large() {
                        true => self.refused.push(Refused { name, why: TOO_LARGE.to_owned() }),
                        false => {
                            let (property, text) = (name, String::new());
                            self.faulty.push(RefusedFormula { property, text, diagnostics: vec![error] });
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn property(&mut self, element: &Element<'_>) -> Read<Stated> {
        let name = match element.child("id") {
            Some(id) if !id.text.is_empty() => id.text.to_string(),
            _ => return Err(element.error("a property without `<id>`")),
        };
        let Some(formula) = element.child("formula") else {
            return Err(element.error(format!("the property `{name}` has no `<formula>`")));
        };
        let [formula] = formula.children.as_slice() else {
            return Err(formula.error(format!("the `<formula>` of `{name}` must be one formula")));
        };
        if formula.name == "place-bound" {
            let (bound, text) = self.tokens(formula)?;
            return Ok(Stated { name, asked: Asked::Bound(bound, text) });
        }
        let tree = self.formula(formula)?;
        if !tree.is_ltl() && !tree.is_ctl() {
            let error = formula.error(format!("the formula `{name}` is neither one of LTL nor one of CTL"));
            return Err(error.with_help("in CTL each of the operators about paths stands right behind a quantifier"));
        }
        Ok(Stated { name, asked: Asked::Formula(tree) })
    }

    /// Refuses formulas that mean something else in each logic, where those that are refused may have said which it is.
    fn refuse_undecided(&mut self) {
        let decides =
            |stated: &Stated| matches!(&stated.asked, Asked::Formula(tree) if !tree.is_ctl() || !tree.is_ltl());
        if self.refused.is_empty() && self.faulty.is_empty() || self.stated.iter().any(decides) {
            return;
        }
        let is_open = |stated: &mut Stated| matches!(&stated.asked, Asked::Formula(tree) if tree.has_next());
        for Stated { name, .. } in self.stated.extract_if(.., is_open) {
            let why = "whether it is in linear or in branching time depends on formulas that are refused".to_owned();
            self.refused.push(Refused { name, why });
        }
    }

    /// Gives every formula its logic.
    fn properties(self) -> Vec<Property> {
        let any = |test: &dyn Fn(&Tree) -> bool| {
            self.stated.iter().any(|stated| matches!(&stated.asked, Asked::Formula(tree) if test(tree)))
        };
        let is_linear = any(&|tree| !tree.is_ctl()) && !any(&|tree| !tree.is_ltl());
        let property = |Stated { name, asked }: Stated| {
            let (text, question) = match asked {
                Asked::Bound(bound, text) => (text, Question::Bound(bound)),
                Asked::Formula(tree) => {
                    // The reading ends here, and what is left out is not asked for.
                    if self.watch.steps(PROPERTY_STEPS).is_err() {
                        return None;
                    }
                    let is_linear = !tree.is_ctl() || is_linear && !tree.is_plain();
                    let text = tree.text();
                    (text, if is_linear { Question::Ltl(tree.linear()) } else { Question::Ctl(tree.branching()) })
                }
            };
            Some(Property { name, question, text, span: None })
        };
        self.stated.into_iter().map_while(property).collect()
    }

    // Formulas.

    fn formula(&mut self, element: &Element<'_>) -> Read<Tree> {
        self.watch.step()?;
        match element.name {
            "true" => Ok(Tree::Const(true)),
            "false" => Ok(Tree::Const(false)),
            "negation" => Ok(Tree::Not(self.operand(element)?)),
            "conjunction" => Ok(Tree::And(self.operands(element)?)),
            "disjunction" => Ok(Tree::Or(self.operands(element)?)),
            "implication" => self.two(element).map(|(f, g)| Tree::Implies(f, g)),
            "equivalence" => self.two(element).map(|(f, g)| Tree::Iff(f, g)),
            "exclusive-disjunction" => self.two(element).map(|(f, g)| Tree::Not(Box::new(Tree::Iff(f, g)))),
            "all-paths" => Ok(Tree::All(self.operand(element)?)),
            "exists-path" => Ok(Tree::Exists(self.operand(element)?)),
            "next" => {
                one_step(element)?;
                Ok(Tree::Next(self.operand(element)?))
            }
            "globally" => Ok(Tree::Globally(self.operand(element)?)),
            "finally" => Ok(Tree::Finally(self.operand(element)?)),
            "until" => self.until(element),
            _ => self.atom(element),
        }
    }

    fn operands(&mut self, element: &Element<'_>) -> Read<Vec<Tree>> {
        if element.children.is_empty() {
            return Err(element.error(format!("`<{}>` of nothing", element.name)));
        }
        element.children.iter().map(|child| self.formula(child)).collect()
    }

    fn operand(&mut self, element: &Element<'_>) -> Read<Box<Tree>> {
        match element.children.iter().filter(|child| !is_step(child)).collect::<Vec<_>>()[..] {
            [one] => self.formula(one).map(Box::new),
            _ => Err(element.error(format!("`<{}>` must have one operand", element.name))),
        }
    }

    fn two(&mut self, element: &Element<'_>) -> Read<(Box<Tree>, Box<Tree>)> {
        match element.children.as_slice() {
            [first, second] => Ok((Box::new(self.formula(first)?), Box::new(self.formula(second)?))),
            _ => Err(element.error(format!("`<{}>` must have two operands", element.name))),
        }
    }

    fn until(&mut self, element: &Element<'_>) -> Read<Tree> {
        let (Some(before), Some(reach), 2) = (element.child("before"), element.child("reach"), element.children.len())
        else {
            return Err(element.error("`<until>` must have `<before>` and `<reach>`"));
        };
        Ok(Tree::Until(self.operand(before)?, self.operand(reach)?))
    }

    // Atoms.

    fn atom(&mut self, element: &Element<'_>) -> Read<Tree> {
        let (op, sign) = match element.name {
            "integer-le" => (BinaryOp::LessEqual, "<="),
            "integer-lt" => (BinaryOp::Less, "<"),
            "integer-ge" => (BinaryOp::GreaterEqual, ">="),
            "integer-gt" => (BinaryOp::Greater, ">"),
            "integer-eq" => (BinaryOp::Equal, "="),
            "integer-ne" => (BinaryOp::NotEqual, "!="),
            "is-fireable" => return self.fireable(element),
            "deadlock" | "is-deadlock" => {
                let deadlock = self.atoms.deadlock().map_err(at(element))?;
                return Ok(Tree::Atom(deadlock, "deadlock".to_owned()));
            }
            "place-bound" => return Err(element.error("`<place-bound>` is a question of its own, and no condition")),
            name => return Err(element.error(format!("`<{name}>` is not known in formulas"))),
        };
        let [left, right] = element.children.as_slice() else {
            return Err(element.error(format!("`<{}>` compares two numbers", element.name)));
        };
        let ((left, written), (right, other)) = (self.number(left)?, self.number(right)?);
        Ok(Tree::Atom(Expr::binary(op, left, right), format!("{written} {sign} {other}")))
    }

    fn fireable(&mut self, element: &Element<'_>) -> Read<Tree> {
        let ids = named(element, "transition")?;
        let expr = self.atoms.fireable(&ids).map_err(at(element))?;
        let names: Vec<String> = ids.iter().map(|id| typed::quoted(id)).collect();
        Ok(Tree::Atom(expr, format!("fireable({})", names.join(", "))))
    }

    fn tokens(&mut self, element: &Element<'_>) -> Read<(Expr, String)> {
        let ids = named(element, "place")?;
        let expr = self.atoms.tokens(&ids).map_err(at(element))?;
        let names: Vec<String> = ids.iter().map(|id| typed::quoted(id)).collect();
        Ok((expr, names.join(" + ")))
    }

    fn number(&mut self, element: &Element<'_>) -> Read<(Expr, String)> {
        match element.name {
            "tokens-count" => self.tokens(element),
            "integer-constant" => match element.text.parse::<i64>() {
                Ok(number) if number.unsigned_abs() <= i64::MAX as u64 / 4 => {
                    Ok((Expr::Const(number), number.to_string()))
                }
                _ => Err(element.error(format!("`{}` is not a number, or too large", element.text))),
            },
            "integer-sum" | "integer-difference" => {
                let parts = element.children.iter().map(|child| self.number(child)).collect::<Read<Vec<_>>>()?;
                let is_sum = element.name == "integer-sum";
                if parts.is_empty() || !is_sum && parts.len() != 2 {
                    return Err(element.error(format!("`<{}>` has the wrong number of operands", element.name)));
                }
                let (mut exprs, texts): (Vec<Expr>, Vec<String>) = parts.into_iter().unzip();
                if is_sum {
                    return Ok((balanced(BinaryOp::Add, exprs).unwrap_or(Expr::Const(0)), texts.join(" + ")));
                }
                let text = format!("{} - ({})", texts[0], texts[1]);
                let (right, left) = (exprs.pop().unwrap_or(Expr::Const(0)), exprs.pop().unwrap_or(Expr::Const(0)));
                Ok((Expr::binary(BinaryOp::Subtract, left, right), text))
            }
            "integer-negation" => match element.children.as_slice() {
                [one] => {
                    let (expr, text) = self.number(one)?;
                    Ok((Expr::unary(UnaryOp::Negate, expr), format!("-({text})")))
                }
                _ => Err(element.error("`<integer-negation>` must have one operand")),
            },
            name => Err(element.error(format!("`<{name}>` is not a number"))),
        }
    }
}

/// Old files say how many steps `next` means.
fn is_step(element: &Element<'_>) -> bool {
    matches!(element.name, "if-no-successor" | "steps")
}

fn one_step(element: &Element<'_>) -> Read<()> {
    match element.children.iter().find(|child| is_step(child)) {
        Some(step) if step.name != "steps" || step.text != "1" => {
            Err(step.error(format!("`<{}>` is not supported", step.name)))
        }
        _ => Ok(()),
    }
}

/// The ids in an atom.
fn named<'e>(element: &'e Element<'_>, what: &str) -> Read<Vec<&'e str>> {
    if element.children.is_empty() {
        return Err(element.error(format!("`<{}>` names no {what}", element.name)));
    }
    let id = |child: &'e Element<'_>| match child.name == what {
        true => Ok(&*child.text),
        false => Err(child.error(format!("expected `<{what}>`, found `<{}>`", child.name))),
    };
    element.children.iter().map(id).collect()
}

/// A problem as an error at an element.
fn at(element: &Element<'_>) -> impl FnOnce(Problem) -> Diagnostic {
    let span = element.span;
    move |problem| Diagnostic { help: problem.help, ..Diagnostic::error(span, problem.message) }
}
