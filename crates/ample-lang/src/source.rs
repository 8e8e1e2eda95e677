//! Source files: which are read, how many bytes of them, and in which encodings.
//!
//! Only regular files are read, and standard input where its name `-` is given: a device, a pipe or a directory by name
//! is a mistake, and may have no end. All files of a model together have a size limit, because what is made of a text
//! is many times as large.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use ample_budget::{Budget, Interrupted};
use ample_model::Span;

/// A name in a source file.
#[derive(Clone, Debug)]
pub struct Name {
    /// The identifier.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// The name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// The bytes that all files of a model may have together, if nobody says.
pub const DEFAULT_MAX_BYTES: u64 = 256 << 20;

/// So many bytes are read at once.
const BLOCK: usize = 1 << 20;

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum NotRead {
    /// The operating system says no.
    #[error(transparent)]
    Failed(#[from] std::io::Error),
    /// It is something else than a file.
    #[error("it is {0}, and only regular files are read (and standard input, as `-`)")]
    NotRegular(&'static str),
    /// The files of the model are too large.
    #[error("the files of the model have more than {0} bytes together; `--max-source-size` raises the limit")]
    TooLarge(u64),
    /// The budget is exhausted.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Reads the files of one model, and counts their bytes.
#[derive(Clone, Debug)]
pub struct Files {
    left: u64,
    max: u64,
    budget: Budget,
}

impl Default for Files {
    fn default() -> Self {
        Files::new(DEFAULT_MAX_BYTES, Budget::unlimited())
    }
}

impl Files {
    /// So many bytes may be read, within a budget.
    pub fn new(max_bytes: u64, budget: Budget) -> Files {
        Files { left: max_bytes, max: max_bytes, budget }
    }

    /// The text of a file: UTF-8, or UTF-16 with a byte order mark. Bytes that are neither become replacement
    /// characters: old models have comments in other encodings.
    ///
    /// ```
    /// use ample_lang::source::{Files, NotRead};
    ///
    /// let error = Files::default().read(".".as_ref()).unwrap_err();
    /// assert!(matches!(error, NotRead::NotRegular("a directory")));
    /// ```
    pub fn read(&mut self, path: &Path) -> Result<String, NotRead> {
        if path.as_os_str() == STANDARD_INPUT {
            return self.drain(std::io::stdin().lock());
        }
        // Opening a pipe waits for somebody to write to it, so one looks first.
        is_regular(path)?;
        let file = File::open(path)?;
        // It might be another file by now.
        let kind = file.metadata()?.file_type();
        if !kind.is_file() {
            return Err(NotRead::NotRegular("not a regular file any more"));
        }
        self.drain(file)
    }

    fn drain(&mut self, mut from: impl Read) -> Result<String, NotRead> {
        let mut bytes = Vec::new();
        loop {
            self.budget.check()?;
            let before = bytes.len();
            let wanted = self.left.saturating_add(1).min(BLOCK as u64);
            from.by_ref().take(wanted).read_to_end(&mut bytes)?;
            let got = (bytes.len() - before) as u64;
            if got > self.left {
                return Err(NotRead::TooLarge(self.max));
            }
            self.left -= got;
            if got == 0 {
                return Ok(decode(bytes));
            }
        }
    }
}

fn is_regular(path: &Path) -> Result<(), NotRead> {
    let kind = std::fs::metadata(path)?.file_type();
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(NotRead::NotRegular("a directory"));
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_fifo() {
            return Err(NotRead::NotRegular("a named pipe"));
        }
        if kind.is_char_device() || kind.is_block_device() {
            return Err(NotRead::NotRegular("a device"));
        }
        if kind.is_socket() {
            return Err(NotRead::NotRegular("a socket"));
        }
    }
    Err(NotRead::NotRegular("no regular file"))
}

/// Bytes as text: UTF-16 if they begin with its byte order mark or, in XML, as only UTF-16 does; the encoding that XML
/// declares, if it is Latin-1; a character for every byte of a binary AIGER file; and else UTF-8, whose own mark is left out.
///
/// ```
/// use ample_lang::source::decode;
///
/// assert_eq!(decode(b"\xef\xbb\xbfbyte x".to_vec()), "byte x");
/// assert_eq!(decode(b"\xff\xfeb\0y\0".to_vec()), "by");
/// assert_eq!(decode(b"\xfe\xff\0b\0y".to_vec()), "by");
/// assert_eq!(decode(b"<\0a\0/\0>\0".to_vec()), "<a/>");
/// assert_eq!(decode(b"<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xe9'/>".to_vec()).chars().nth(49), Some('\u{e9}'));
/// ```
pub fn decode(bytes: Vec<u8>) -> String {
    let wide = |from: usize, unit: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[from..].chunks(2).map(|pair| unit([pair[0], *pair.get(1).unwrap_or(&0)])).collect();
        String::from_utf16_lossy(&units)
    };
    match bytes.as_slice() {
        [0xff, 0xfe, ..] => wide(2, u16::from_le_bytes),
        [0xfe, 0xff, ..] => wide(2, u16::from_be_bytes),
        [b'<', 0, ..] => wide(0, u16::from_le_bytes),
        [0, b'<', ..] => wide(0, u16::from_be_bytes),
        // Binary AIGER is no text: each byte is the character of that number.
        [b'a', b'i', b'g', b' ', ..] => bytes.iter().copied().map(char::from).collect(),
        bytes if declares_latin_1(bytes) => bytes.iter().copied().map(char::from).collect(),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // A text that is in order is not copied.
        _ => String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    }
}

/// The declaration at the beginning of XML says so; letters beyond ASCII stand for themselves then.
fn declares_latin_1(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().take(MAX_DECLARATION).position(|byte| *byte == b'>') else { return false };
    let declaration = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let encoding = declaration.strip_prefix("<?xml").and_then(|rest| rest.split_once("encoding"));
    let name = encoding.and_then(|(_, rest)| rest.trim_start().strip_prefix('='));
    let name = name.and_then(|rest| rest.trim_start().split(['"', '\'']).nth(1));
    name.is_some_and(|name| ["iso-8859-1", "iso_8859-1", "latin1", "latin-1", "l1"].contains(&name.trim()))
}

/// The declaration of XML is shorter than that.
const MAX_DECLARATION: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    fn path(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("ample-source-{}-{name}", std::process::id()))
    }

    #[test]
    fn the_files_of_a_model_are_counted_together() {
        let path = path("counted");
        std::fs::write(&path, "0123456789").unwrap();
        let mut files = Files::new(25, Budget::unlimited());
        assert_eq!(files.read(&path).unwrap().len(), 10);
        assert_eq!(files.read(&path).unwrap().len(), 10);
        assert!(matches!(files.read(&path), Err(NotRead::TooLarge(25))));
        let mut exact = Files::new(10, Budget::unlimited());
        assert_eq!(exact.read(&path).unwrap().len(), 10);
        std::fs::remove_file(&path).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_not_read() {
        for device in ["/dev/zero", "/dev/null", "/dev/tty"] {
            if Path::new(device).exists() {
                assert!(matches!(Files::default().read(device.as_ref()), Err(NotRead::NotRegular("a device"))));
            }
        }
    }

    #[test]
    fn half_a_character_is_replaced() {
        assert_eq!(decode(b"a\xe9b".to_vec()), "a\u{fffd}b");
        assert_eq!(decode(b"\xff\xfeb\0y".to_vec()), "by");
    }

    #[test]
    fn reading_obeys_the_budget() {
        let path = path("budget");
        std::fs::write(&path, "x").unwrap();
        let budget = Budget::unlimited().with_time(std::time::Duration::ZERO);
        let read = Files::new(10, budget).read(&path);
        assert!(matches!(read, Err(NotRead::Interrupted(Interrupted::Deadline))), "{read:?}");
        std::fs::remove_file(&path).unwrap();
    }
}
