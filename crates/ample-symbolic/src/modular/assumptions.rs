//! Assumption functions: for each subformula the border states that satisfy it, or nothing where that is not known (§3.2.1).
//!
//! The border states of a location are valuations of the variables. Their sets outlive the diagrams that they were made in,
//! so they are kept as bytes, in memory or in files; another node may read them into an order of its own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::Failure;
use crate::diagram::{Bdd, Diagrams};
use crate::error::SetError;

/// Sets of fewer bytes are kept in memory in any case.
const WORTH_A_FILE: usize = 4096;

/// By subformula: the states that satisfy it; `None` is ⊥.
pub type Assumptions = Vec<Option<Saved>>;

/// A set of valuations that is in no table.
#[derive(Clone, Debug)]
pub struct Saved {
    /// The order of the variables in which the bytes were written.
    order: Rc<[u32]>,
    kept: Rc<Kept>,
}

#[derive(Debug)]
enum Kept {
    Memory(Box<[u8]>),
    File(PathBuf),
}

impl Drop for Kept {
    fn drop(&mut self) {
        if let Kept::File(path) = self {
            // Whoever cannot remove it cannot help it.
            let _ = fs::remove_file(path);
        }
    }
}

impl Kept {
    fn bytes(&self) -> io::Result<std::borrow::Cow<'_, [u8]>> {
        match self {
            Kept::Memory(bytes) => Ok((&**bytes).into()),
            Kept::File(path) => fs::read(path).map(Into::into),
        }
    }
}

/// Keeps sets, and counts the bytes.
#[derive(Debug, Default)]
pub struct Keeper {
    /// Large sets are kept in files.
    in_files: bool,
    /// The order of the last set, which the next one often has too.
    order: Option<Rc<[u32]>>,
    /// The bytes of the largest set.
    pub largest: usize,
    /// The bytes that were written to files.
    pub written: u64,
}

impl Keeper {
    /// Keeps large sets in files if asked to.
    pub fn new(in_files: bool) -> Keeper {
        Keeper { in_files, ..Keeper::default() }
    }

    /// The set, for other tables.
    pub fn save(&mut self, set: &Bdd, diagrams: &Diagrams) -> Result<Saved, Failure> {
        let order = diagrams.order();
        let order = match &self.order {
            Some(last) if **last == *order => Rc::clone(last),
            _ => order.into(),
        };
        self.order = Some(Rc::clone(&order));
        let bytes = set.to_bytes();
        self.largest = self.largest.max(bytes.len());
        let kept = if self.in_files && bytes.len() >= WORTH_A_FILE {
            self.written += bytes.len() as u64;
            let path = fresh_path();
            fs::write(&path, &bytes).map_err(|error| Failure::File(error.to_string()))?;
            Kept::File(path)
        } else {
            Kept::Memory(bytes.into())
        };
        Ok(Saved { order, kept: Rc::new(kept) })
    }
}

/// A file of its own in the directory for temporary files.
fn fresh_path() -> PathBuf {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("ample-{}-{number}.bdd", process::id()))
}

impl Saved {
    /// The order of the variables in the table that it is from.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// The set in a table, whatever the order of its variables.
    pub fn load(&self, diagrams: &Diagrams) -> Result<Bdd, Failure> {
        let bytes = self.kept.bytes().map_err(|error| Failure::File(error.to_string()))?;
        Ok(diagrams.from_bytes_in(&self.order, &bytes)?.ok_or(SetError::Foreign)?)
    }

    /// It is seen at once that both are the same set. Where the orders differ, that is not looked for.
    pub fn is_same(&self, other: &Saved) -> bool {
        if Rc::ptr_eq(&self.kept, &other.kept) {
            return true;
        }
        let (Ok(here), Ok(there)) = (self.kept.bytes(), other.kept.bytes()) else { return false };
        self.order == other.order && here == there
    }
}
