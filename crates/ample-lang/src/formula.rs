//! Messages about formulas, the same in every language that reads them by the [grammar] of the logic.
//!
//! [grammar]: ample_logic::grammar

use ample_logic::grammar::{Arity, Problem};
use ample_model::Span;

use crate::diagnostic::Diagnostic;

/// Where a formula of the other logic belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Elsewhere {
    /// To another option of the command.
    Option,
    /// Into another section of the model.
    Section,
    /// Behind another word: `SPEC`, `LTLSPEC`.
    Spec,
}

/// What is wrong with a formula, and what to write instead. `written` is the operator that is at fault.
pub(crate) fn refused<P: Copy>(problem: Problem<P>, span: Span, written: &str, elsewhere: Elsewhere) -> Diagnostic {
    let diagnostic = Diagnostic::error(span, problem.message(written));
    match help(problem, written, elsewhere) {
        Some(help) => diagnostic.with_help(help),
        None => diagnostic,
    }
}

fn help<P: Copy>(problem: Problem<P>, written: &str, elsewhere: Elsewhere) -> Option<String> {
    let ltl = match elsewhere {
        Elsewhere::Option => "check the formula with --ltl",
        Elsewhere::Section => "write the formula under LTL",
        Elsewhere::Spec => "write the formula behind LTLSPEC",
    };
    Some(match (problem, elsewhere) {
        (Problem::Past(_), _) => "the operators are `X F G U W R M`, about the future".to_owned(),
        (Problem::QuantifierInLtl(_), Elsewhere::Option) => "a formula of CTL is checked with --ctl".to_owned(),
        (Problem::QuantifierInLtl(_), Elsewhere::Section) => "write it under CTL".to_owned(),
        (Problem::QuantifierInLtl(_), Elsewhere::Spec) => "write it behind SPEC".to_owned(),
        (Problem::QuantifierAlone(_), _) => {
            let others = match elsewhere {
                Elsewhere::Option => "other formulas are for --ltl",
                Elsewhere::Section => "other formulas stand under LTL",
                Elsewhere::Spec => "other formulas stand behind LTLSPEC",
            };
            format!("in CTL they come in pairs, as in `AG` or `A [ f U g ]`; {others}")
        }
        (Problem::Unquantified(_, Arity::Binary), _) => {
            format!("write `A [ f {written} g ]` or `E [ f {written} g ]`, or {ltl}")
        }
        (Problem::Unquantified(_, Arity::Unary), _) => {
            let gap = if written.len() > 2 { " " } else { "" };
            format!("write `A{gap}{written}` or `E{gap}{written}`, or {ltl}")
        }
        (Problem::TooDeep(_) | Problem::TooHigh { .. } | Problem::NoUntil, _) => return None,
    })
}
