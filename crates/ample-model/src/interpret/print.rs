//! The text that a print action makes.

use super::Fault;
use super::evaluate::Context;
use crate::expr::Expr;
use crate::system::Scalar;

/// The format with its conversions replaced; one without an argument is left as it is.
pub(super) fn format_text(context: &Context<'_>, format: &str, arguments: &[Expr]) -> Result<String, Fault> {
    let mut text = String::new();
    let mut arguments = arguments.iter();
    let mut characters = format.chars().peekable();
    while let Some(c) = characters.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        let conversion = match characters.peek().copied() {
            Some('%') => {
                characters.next();
                text.push('%');
                continue;
            }
            Some(conversion @ ('d' | 'u' | 'x' | 'o' | 'c' | 'e')) => conversion,
            _ => {
                text.push('%');
                continue;
            }
        };
        let Some(argument) = arguments.next() else {
            text.push('%');
            continue;
        };
        characters.next();
        text.push_str(&converted(context, conversion, argument)?);
    }
    Ok(text)
}

fn converted(context: &Context<'_>, conversion: char, argument: &Expr) -> Result<String, Fault> {
    let value = context.value(argument)?;
    Ok(match conversion {
        'u' => (value as u32).to_string(),
        'x' => format!("{:x}", value as u32),
        'o' => format!("{:o}", value as u32),
        'c' => char::from(value as u8).to_string(),
        'e' => named(context, argument, value),
        _ => value.to_string(),
    })
}

/// The name of an enumeration's value: of the argument's own type if that is plain to see, else of the
/// first enumeration that has the value.
fn named(context: &Context<'_>, argument: &Expr, value: i64) -> String {
    let system = context.interpreter.system;
    match argument {
        Expr::Read(place) if matches!(place.scalar, Scalar::Enumeration(_)) => system.show_value(place.scalar, value),
        Expr::Cast(scalar @ Scalar::Enumeration(_), _) => system.show_value(*scalar, value),
        _ => {
            let mut values = system.enumerations.iter().flat_map(|e| &e.values);
            values.find(|(_, v)| *v == value).map_or_else(|| value.to_string(), |(name, _)| name.clone())
        }
    }
}
