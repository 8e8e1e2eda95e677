//! The questions about whole nets that the Model Checking Contest calls global properties.
//!
//! A property *holds* where the contest's answer is *true*. Of a coloured net the nodes that are meant are those of the
//! file, and the tokens of a place are counted whatever their colour: a place is stable if the number of all its tokens
//! never changes, a transition is live if again and again it can fire under some binding.

use ample_budget::Budget;
use ample_logic::Formula;
use ample_model::{AtomTable, BinaryOp, EdgeId, Expr, Initial, Property, Question, System, Temporal, VariableId};

use super::Names;
use super::atoms::{Atoms, Problem, balanced, joined};
use crate::watch::Watch;

/// A question about a whole net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Examination {
    /// No place ever holds more than one token, whatever the colours of its tokens.
    OneSafe,
    /// The number of tokens in some place never changes, whatever their colours.
    StableMarking,
    /// Every transition can fire in some reachable marking.
    QuasiLiveness,
    /// Every transition can, from every reachable marking, fire again some time.
    Liveness,
    /// A marking can be reached in which nothing can fire.
    ReachabilityDeadlock,
}

impl Examination {
    /// All of them.
    pub const ALL: [Examination; 5] = [
        Examination::OneSafe,
        Examination::StableMarking,
        Examination::QuasiLiveness,
        Examination::Liveness,
        Examination::ReachabilityDeadlock,
    ];

    /// As the contest calls it.
    pub fn name(self) -> &'static str {
        match self {
            Examination::OneSafe => "OneSafe",
            Examination::StableMarking => "StableMarking",
            Examination::QuasiLiveness => "QuasiLiveness",
            Examination::Liveness => "Liveness",
            Examination::ReachabilityDeadlock => "ReachabilityDeadlock",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Examination::OneSafe => "no place ever holds more than one token",
            Examination::StableMarking => "the number of tokens in some place never changes",
            Examination::QuasiLiveness => "every transition can fire some time",
            Examination::Liveness => "every transition can fire again some time, whatever happens before",
            Examination::ReachabilityDeadlock => "EF deadlock",
        }
    }

    /// The question as a property of a net. `None` if it would be too large to be written down.
    ///
    /// ```
    /// use ample_lang::pnml::{self, Examination};
    /// let text = r#"<pnml><net id="n" type="http://www.pnml.org/version-2009/grammar/ptnet"><page id="p">
    ///   <place id="p"/><transition id="t"/><arc id="a" source="t" target="p"/></page></net></pnml>"#;
    /// let net = pnml::read("n.pnml", text)?;
    /// let property = Examination::OneSafe.property(&net.system, &net.names);
    /// assert_eq!(property.map(|property| property.name), Some("OneSafe".into()));
    /// # Ok::<(), ample_lang::Rejected>(())
    /// ```
    pub fn property(self, system: &System, names: &Names) -> Option<Property> {
        self.property_within(system, names, &Budget::unlimited())
    }

    /// As [`property`](Examination::property), within a budget: `None` also if that is exhausted before.
    pub fn property_within(self, system: &System, names: &Names, budget: &Budget) -> Option<Property> {
        let watch = Watch::new(budget);
        let mut atoms = Atoms::new(system, names, &watch);
        let question = match self {
            Examination::OneSafe => one_safe(names, &mut atoms),
            Examination::StableMarking => stable(system, names, &mut atoms),
            Examination::QuasiLiveness => live(names, &mut atoms, exists_eventually),
            Examination::Liveness => live(names, &mut atoms, |fires| exists_eventually(fires).globally().all()),
            Examination::ReachabilityDeadlock => atoms.deadlock().map(|dead| {
                let dead = Temporal::state(dead);
                Question::Ctl(dead.with(exists_eventually(dead.formula.clone())))
            }),
        };
        let question = question.ok()?;
        Some(Property { name: self.name().to_owned(), question, text: self.text().to_owned(), span: None })
    }
}

fn exists_eventually(f: Formula) -> Formula {
    f.finally().exists()
}

/// The places of the file, in their order.
fn places(names: &Names) -> Vec<(&String, &[VariableId])> {
    let mut places: Vec<(&String, &[VariableId])> =
        names.places.iter().map(|(id, variables)| (id, variables.as_slice())).collect();
    // A place that never holds a token has no variables.
    places.sort_unstable_by_key(|(id, variables)| (variables.first().copied(), *id));
    places
}

fn one_safe(names: &Names, atoms: &mut Atoms<'_>) -> Result<Question, Problem> {
    let at_most_one = |(id, _): (&String, &[VariableId])| {
        atoms.spend(3)?;
        Ok(Expr::binary(BinaryOp::LessEqual, atoms.tokens(&[id])?, Expr::Const(1)))
    };
    let safe = places(names).into_iter().map(at_most_one).collect::<Result<_, Problem>>()?;
    Ok(Question::Invariant(balanced(BinaryOp::And, safe).unwrap_or(Expr::TRUE)))
}

fn stable(system: &System, names: &Names, atoms: &mut Atoms<'_>) -> Result<Question, Problem> {
    let first = |variable: &VariableId| match system.globals[variable.index()].initial.as_slice() {
        [(0, Initial::Value(Expr::Const(tokens)))] => *tokens,
        _ => 0,
    };
    let places = places(names);
    let mut table = AtomTable::new();
    let mut parts = Vec::with_capacity(places.len());
    for (id, variables) in places {
        atoms.spend(3)?;
        let at_first = variables.iter().map(first).fold(0, i64::saturating_add);
        let same = Expr::binary(BinaryOp::Equal, atoms.tokens(&[id])?, Expr::Const(at_first));
        parts.push(table.formula(same).globally().all());
    }
    let formula = joined(parts, &mut |left, right| left | right).unwrap_or(Formula::False);
    Ok(Question::Ctl(Temporal::new(formula, table)))
}

fn live(names: &Names, atoms: &mut Atoms<'_>, formula: impl Fn(Formula) -> Formula) -> Result<Question, Problem> {
    let mut transitions: Vec<(&Vec<EdgeId>, &String)> =
        names.transitions.iter().map(|(id, edges)| (edges, id)).collect();
    transitions.sort_unstable();
    let mut table = AtomTable::new();
    let mut parts = Vec::with_capacity(transitions.len());
    for (_, id) in transitions {
        parts.push(formula(table.formula(atoms.fireable(&[id])?)));
    }
    let formula = joined(parts, &mut |left, right| left & right).unwrap_or(Formula::True);
    Ok(Question::Ctl(Temporal::new(formula, table)))
}
