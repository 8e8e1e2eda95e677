//! Colours, where they are wanted.

use std::fmt::Display;
use std::io::IsTerminal;

use super::arguments::Colour;

/// Whether to colour what is written to one place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Paint(pub bool);

impl Paint {
    /// For something that is written to `place`.
    pub fn on(colour: Colour, place: &impl IsTerminal) -> Paint {
        Paint(match colour {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => place.is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()),
        })
    }

    fn with(self, code: &str, text: impl Display) -> String {
        if self.0 { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }

    pub fn bold(self, text: impl Display) -> String {
        self.with("1", text)
    }

    pub fn dim(self, text: impl Display) -> String {
        self.with("2", text)
    }

    pub fn red(self, text: impl Display) -> String {
        self.with("1;31", text)
    }

    pub fn green(self, text: impl Display) -> String {
        self.with("32", text)
    }

    pub fn yellow(self, text: impl Display) -> String {
        self.with("33", text)
    }

    pub fn cyan(self, text: impl Display) -> String {
        self.with("36", text)
    }
}
