//! PROM+: Promela's processes and statements, with pointers and objects on a heap.
//!
//! The language of M. Kattenbelt's tool (*Towards an Explicit-State Model Checking Framework*, 2006, section 6.1 and figure
//! 6.1). What it shares with Promela, which is most of it, is read by the front end of [Promela](crate::promela): tokens,
//! expressions, control flow, formulas. Its own are pointers (`byte *p`, `*p`), `p = new byte`, `reset p`, and a `run` that
//! waits while all process ids are taken. What it does not have is refused by `restrict`.
//!
//! An object of a basic type is one of a record with a single field. Beyond the thesis's tool, objects may be records
//! (`typedef`), whose fields may be pointers, and there are the functions of its abstract layer.

mod functions;
pub mod random;
mod restrict;

use ample_budget::Budget;
use ample_model::{Expr, System, Temporal};

use crate::diagnostic::Rejected;
use crate::promela::preprocess::Loader;
use crate::promela::{self, Lowered, lower, parser};
use crate::refused::{RefusedFormula, read_apart};
use crate::watch::Watch;

/// What [`System::language`] calls it.
pub const NAME: &str = "prom+";

/// How many bits process ids and references have: they limit how many processes and objects there are.
///
/// ```
/// use ample_lang::promplus::Widths;
///
/// let widths = Widths { pid_bits: 2, ref_bits: 4 };
/// assert_eq!((widths.processes(), widths.objects()), (4, 15));
/// // One id is needed for "nobody".
/// assert_eq!(Widths::default().processes(), 255);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Widths {
    /// Of a process id: 0 to 8. While all ids are taken, `run` waits.
    pub pid_bits: u8,
    /// Of a reference: 1 to 16. One of its values refers to nothing; an object more than there are others is a run-time
    /// error.
    pub ref_bits: u8,
}

impl Default for Widths {
    fn default() -> Widths {
        Widths { pid_bits: 8, ref_bits: 8 }
    }
}

impl Widths {
    /// How many processes there may be.
    pub fn processes(self) -> u32 {
        (1 << self.pid_bits.min(8)).min(255)
    }

    /// How many objects there may be.
    pub fn objects(self) -> u32 {
        (1 << self.ref_bits.clamp(1, 16)) - 1
    }
}

/// Reads a model: `text` is the content of the file shown as `path`, `loader` finds what it includes, `defines` are macros
/// defined from outside.
///
/// ```
/// use ample_lang::promela::preprocess::FileLoader;
/// use ample_lang::promplus::{self, Widths};
/// use ample_model::Budget;
///
/// let text = "int *x; active [1] proctype Main() { x = new int; *x = 4; assert(*x == 4); reset x; }";
/// let budget = Budget::unlimited();
/// let lowered = promplus::read_within("main.promp", text.into(), &mut FileLoader, &[], Widths::default(), &budget)?;
/// assert_eq!(lowered.system.records[0].name, "int");
///
/// let text = "int x; active [1] proctype Main() { *x = 4; }";
/// let rejected = promplus::read_within("main.promp", text.into(), &mut FileLoader, &[], Widths::default(), &budget);
/// assert_eq!(rejected.unwrap_err().to_string(), "`x` is not a pointer");
/// # Ok::<(), ample_lang::Rejected>(())
/// ```
pub fn read_within(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
    widths: Widths,
    budget: &Budget,
) -> Result<Lowered, Rejected> {
    let watch = Watch::new(budget);
    let parsed = parser::parse_with_pointers(path, text, loader, defines, &watch);
    let mut parsed = watch.finish(parsed)?;
    let errors = restrict::errors(&parsed.model);
    if !errors.is_empty() {
        return Err(Rejected::new(parsed.sources, errors));
    }
    parsed.model = match functions::expand(parsed.model) {
        Ok(model) => model,
        Err(errors) => return Err(Rejected::new(parsed.sources, errors)),
    };
    watch.finish(lower::lower_as(parsed, path, Some(widths), &watch))
}

/// As [`read_within`], but an `ltl` block that is refused is no reason to refuse the model: it is left out.
pub fn read_apart_from_refused(
    path: &str,
    text: String,
    loader: &mut dyn Loader,
    defines: &[(String, String)],
    widths: Widths,
    budget: &Budget,
) -> Result<(Lowered, Vec<RefusedFormula>), Rejected> {
    let mut once = |text: String| {
        read_within(path, text, loader, defines, widths, budget).map(|lowered| (lowered.system, lowered.warnings))
    };
    let ((system, warnings), refused) = read_apart(&text, promela::blocks, &mut once)?;
    Ok((Lowered { system, warnings }, refused))
}

/// A condition on the states of a system that was read from PROM+, as in [Promela](promela::expression), with pointers.
pub fn expression_within(system: &System, text: &str, budget: &Budget) -> Result<Expr, Rejected> {
    promela::expression_within(system, text, budget)
}

/// A formula of linear temporal logic over a system that was read from PROM+, as in [Promela](promela::ltl).
pub fn ltl_within(system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
    promela::ltl_within(system, text, budget)
}

/// A formula of computation tree logic over a system that was read from PROM+, as in [Promela](promela::ctl).
pub fn ctl_within(system: &System, text: &str, budget: &Budget) -> Result<Temporal, Rejected> {
    promela::ctl_within(system, text, budget)
}
