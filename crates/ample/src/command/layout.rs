//! How much is shown, and how wide it is: columns on a terminal, and `…` for what is left out of something long.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How much of something long is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// A run that is longer is shown without its middle.
    pub steps: usize,
    /// So many steps are left on each side of it.
    pub ends: usize,
    /// The runs of a tree.
    pub branches: usize,
    /// The variables, processes or channels of a state.
    pub cells: usize,
    /// The changes in a step, the alternatives of a process.
    pub items: usize,
    /// The statements of a list.
    pub statements: usize,
    /// The columns of a statement, a message, a name in a sentence.
    pub text: usize,
    /// The columns of a name in a table.
    pub name: usize,
    /// How to see what is left out.
    pub hint: &'static str,
}

impl Extent {
    /// What can be looked over.
    pub const SCREEN: Extent = Extent {
        steps: 200,
        ends: 50,
        branches: 20,
        cells: 200,
        items: 12,
        statements: 20,
        text: 160,
        name: 40,
        hint: "--full shows all, --trace FILE keeps all",
    };
    /// The same, where there is a trace file already.
    pub const OF_FILE: Extent = Extent { hint: "--full shows all", ..Extent::SCREEN };
    /// Everything.
    pub const FULL: Extent = Extent {
        steps: usize::MAX,
        ends: usize::MAX,
        branches: usize::MAX,
        cells: usize::MAX,
        items: usize::MAX,
        statements: usize::MAX,
        text: usize::MAX,
        name: usize::MAX,
        hint: "",
    };

    /// The places in a run of that length that are left out.
    pub fn middle(&self, length: usize) -> std::ops::Range<usize> {
        if length <= self.steps { length..length } else { self.ends..length - self.ends }
    }

    /// `… 300 steps are left out (--full shows all)`
    pub fn left_out(&self, number: usize, one: &str, more: &str) -> String {
        let what = if number == 1 { format!("{one} is") } else { format!("{more} are") };
        format!("… {number} {what} left out ({})", self.hint)
    }
}

/// The first items, and how many there are beyond them.
pub fn first<T>(most: usize, items: &[T]) -> (&[T], usize) {
    let shown = items.len().min(most);
    (&items[..shown], items.len() - shown)
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// The text and blanks, to fill the columns.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{:1$}", "", columns.saturating_sub(width(text)))
}

/// The text on one line, without its middle if it takes more columns than that.
pub fn shortened(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let left = columns.saturating_sub(1) - columns.saturating_sub(1) / 3;
    let right = columns.saturating_sub(1) / 3;
    let tail: Vec<char> = fitting(text.chars().rev(), right).collect();
    fitting(text.chars(), left).chain(['…']).chain(tail.into_iter().rev()).collect()
}

/// As many of the characters as fit into the columns.
pub fn fitting(characters: impl Iterator<Item = char>, columns: usize) -> impl Iterator<Item = char> {
    let mut used = 0;
    characters.take_while(move |c| {
        // A control character counts as one, as in the width of a text.
        used += c.width().unwrap_or(1);
        used <= columns
    })
}

/// How wide a line of a list may become.
pub const LINE: usize = 110;

/// A list with commas, broken into lines that begin after the indentation.
pub fn listed(items: &[String], indentation: usize) -> String {
    let mut text = String::new();
    let mut column = indentation;
    for (number, item) in items.iter().enumerate() {
        let comma = if number + 1 < items.len() { "," } else { "" };
        let needed = width(item) + comma.len();
        if number > 0 && column + 1 + needed > LINE {
            text.push_str(&format!("\n{:indentation$}", ""));
            column = indentation;
        } else if number > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(item);
        text.push_str(comma);
        column += needed;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_long_loses_its_middle_and_nothing_else() {
        assert_eq!(shortened("abc", 3), "abc");
        assert_eq!(shortened("abcdefghij", 7), "abcd…ij");
        for columns in 0..12 {
            for text in ["", "abcdefghij", "日本語日本語", "e\u{301}e\u{301}e\u{301}", "\t\u{7f}"] {
                assert!(width(&shortened(text, columns)) <= columns.max(1), "{text} {columns}");
            }
        }
    }

    #[test]
    fn wide_characters_fill_two_columns() {
        assert_eq!(padded("日本", 6), "日本  ");
        assert_eq!(padded("abc", 2), "abc");
    }

    #[test]
    fn lists_are_broken_between_items() {
        let items: Vec<String> = (0..40).map(|number| format!("x[{number}] = {number}")).collect();
        let text = listed(&items, 4);
        assert!(text.lines().count() > 3 && text.lines().all(|line| width(line) <= LINE), "{text}");
        assert_eq!(text.split_whitespace().collect::<Vec<_>>().join(" "), items.join(", "));
    }
}
