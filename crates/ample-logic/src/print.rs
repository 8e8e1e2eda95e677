//! Formulas as text, in the notation of each dialect, such that [`crate::parse()`] reads the same formula again.
//!
//! Operators that a dialect lacks are first written with those it has: [`expressible`].

use crate::dialect::Dialect;
use crate::formula::{Atom, Atoms, Binary, Formula, Unary};
use crate::words::is_reserved;

/// A formula that a dialect cannot say.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this formula cannot be written for {tool}: {reason}")]
pub struct PrintError {
    /// The tool whose dialect was asked for.
    pub tool: &'static str,
    /// What cannot be said.
    pub reason: &'static str,
}

/// Writes a formula.
///
/// ```
/// use ample_logic::{Atoms, Dialect, parse, print};
/// let mut atoms = Atoms::new();
/// let f = parse("G(a -> F(b & \"x = 1\"))", Dialect::Plain, &mut atoms)?;
/// assert_eq!(print(&f, &atoms, Dialect::Spin)?, "[](a -> <>(b && \"x = 1\"))");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn print(f: &Formula, atoms: &Atoms, dialect: Dialect) -> Result<String, PrintError> {
    print_with(f, dialect, &mut |atom| name(&atoms.label(atom), dialect))
}

/// Writes a formula whose atoms the caller writes.
pub fn print_with(f: &Formula, dialect: Dialect, atom: &mut dyn FnMut(Atom) -> String) -> Result<String, PrintError> {
    let f = expressible(f, dialect)?;
    let mut text = String::new();
    write(&f, dialect, atom, 0, &mut text);
    Ok(text)
}

/// The formula with the operators that the dialect lacks replaced by others of the same meaning: `xor`, `W`, `M`.
/// A formula that needs no replacement comes back as it is.
pub fn expressible(f: &Formula, dialect: Dialect) -> Result<Formula, PrintError> {
    use Binary::*;
    if dialect == Dialect::Spin && !f.is_ltl() {
        return Err(PrintError { tool: "Spin", reason: "it has path quantifiers" });
    }
    if dialect == Dialect::Smv && !f.is_ltl() && !f.is_ctl() {
        return Err(PrintError { tool: "NuSMV", reason: "it is neither LTL nor CTL" });
    }
    Ok(rewrite(f, &|op| match dialect {
        Dialect::Spin => matches!(op, Xor | StrongRelease),
        Dialect::Smv => matches!(op, WeakUntil | StrongRelease),
        Dialect::Plain | Dialect::Promela | Dialect::Milestones => false,
    }))
}

fn rewrite(f: &Formula, missing: &impl Fn(Binary) -> bool) -> Formula {
    match f {
        Formula::Unary(op, f) => Formula::unary(*op, rewrite(f, missing)),
        Formula::Binary(op, f, g) => {
            let (f, g) = (rewrite(f, missing), rewrite(g, missing));
            match op {
                Binary::Xor if missing(*op) => !f.iff(g),
                Binary::WeakUntil if missing(*op) => g.clone().release(f | g),
                Binary::StrongRelease if missing(*op) => g.clone().until(f & g),
                _ => Formula::binary(*op, f, g),
            }
        }
        _ => f.clone(),
    }
}

/// A name as an atom of the dialect: as it is if it can be read so, between quotation marks otherwise.
fn name(name: &str, dialect: Dialect) -> String {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let plain = name.starts_with(|c: char| c.is_alphabetic() || c == '_') && name.chars().all(word);
    if plain && !is_reserved(name, dialect) {
        return name.to_owned();
    }
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// How tightly the printed form binds; what is looser than its context gets parentheses. `xor` gets them wherever it
/// meets `|`, so that it does not matter which of the two binds stronger. Each operator of equal
/// strength beside another one gets them as well, so that nobody has to remember on which side it groups; only
/// chains of `&` and of `|` are left open on the side on which they group.
fn strength(f: &Formula) -> u8 {
    match f {
        Formula::Binary(Binary::Implies | Binary::Iff | Binary::Xor, ..) => 1,
        Formula::Binary(Binary::Or, ..) => 2,
        Formula::Binary(Binary::And, ..) => 3,
        Formula::Binary(..) => 4,
        _ => 5,
    }
}

fn write(f: &Formula, dialect: Dialect, atom: &mut dyn FnMut(Atom) -> String, least: u8, out: &mut String) {
    if strength(f) < least {
        out.push('(');
        write(f, dialect, atom, 0, out);
        out.push(')');
        return;
    }
    match f {
        Formula::True => out.push_str(if dialect == Dialect::Smv { "TRUE" } else { "true" }),
        Formula::False => out.push_str(if dialect == Dialect::Smv { "FALSE" } else { "false" }),
        Formula::Atom(a) => out.push_str(&atom(*a)),
        Formula::Unary(op @ (Unary::All | Unary::Exists), path) if dialect == Dialect::Smv => {
            out.push(if *op == Unary::All { 'A' } else { 'E' });
            match path.as_ref() {
                Formula::Binary(until, f, g) => {
                    out.push_str(" [ ");
                    write(f, dialect, atom, 5, out);
                    out.push_str(infix(*until, dialect));
                    write(g, dialect, atom, 5, out);
                    out.push_str(" ]");
                }
                path => write(path, dialect, atom, 5, out),
            }
        }
        Formula::Unary(op, f) => {
            let start = out.len();
            out.push_str(prefix(*op, dialect));
            let mark = out.len();
            write(f, dialect, atom, 5, out);
            let symbol = |c: char| !(c.is_alphanumeric() || c == '_' || c == '"');
            let glued = out[start..mark].ends_with(symbol) || out[mark..].starts_with(symbol);
            if !glued {
                out.insert(mark, ' ');
            }
        }
        Formula::Binary(op, f, g) => {
            let mine = strength(&Formula::binary(*op, Formula::True, Formula::True));
            let chain = matches!(op, Binary::And | Binary::Or)
                && matches!(f.as_ref(), Formula::Binary(below, ..) if below == op);
            // NuSMV reads `xor` and `|` at the same level, Spot reads `xor` as the stronger one
            let inner = if *op == Binary::Xor { 3 } else { mine + 1 };
            write(f, dialect, atom, if chain { mine } else { inner }, out);
            out.push_str(infix(*op, dialect));
            write(g, dialect, atom, inner, out);
        }
    }
}

fn prefix(op: Unary, dialect: Dialect) -> &'static str {
    match (op, dialect) {
        (Unary::Not, _) => "!",
        (Unary::Next, _) => "X",
        (Unary::Finally, Dialect::Spin) => "<>",
        (Unary::Globally, Dialect::Spin) => "[]",
        (Unary::Finally, _) => "F",
        (Unary::Globally, _) => "G",
        (Unary::Previous, _) => "Y",
        (Unary::WeakPrevious, _) => "Z",
        (Unary::Once, _) => "O",
        (Unary::Historically, _) => "H",
        (Unary::All, _) => "A",
        (Unary::Exists, _) => "E",
    }
}

fn infix(op: Binary, dialect: Dialect) -> &'static str {
    let spin = dialect == Dialect::Spin;
    match op {
        Binary::And => {
            if spin {
                " && "
            } else {
                " & "
            }
        }
        Binary::Or => {
            if spin {
                " || "
            } else {
                " | "
            }
        }
        Binary::Implies => " -> ",
        Binary::Iff => " <-> ",
        Binary::Xor => " xor ",
        Binary::Since => " S ",
        Binary::Triggered => " T ",
        Binary::Until => " U ",
        Binary::WeakUntil => " W ",
        Binary::Release => {
            if matches!(dialect, Dialect::Spin | Dialect::Smv) {
                " V "
            } else {
                " R "
            }
        }
        Binary::StrongRelease => " M ",
    }
}
