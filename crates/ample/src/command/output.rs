//! Writing: to standard output and to files, never over an input, and never without a word where it fails.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write, stderr, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use super::supervisor;

/// Something could not be written.
static FAILED: AtomicBool = AtomicBool::new(false);

/// Whether something could not be written that should have been.
pub fn has_failed() -> bool {
    FAILED.load(Ordering::Relaxed)
}

/// Writes to standard error. That nobody listens is no reason to stop. The text is made before it is written, so that
/// nobody who waits for memory keeps others from writing.
pub fn complain(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    let mut text = Vec::new();
    let _ = write(&mut text);
    let _ = stderr().write_all(&text);
}

/// Writes to standard output. That nobody listens any more (`ample … | head`) is no reason to stop, or to complain.
pub fn print(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) {
    supervisor::report();
    print_meanwhile(write);
}

/// The same for work that prints as it goes, and that the supervisor may still have to end.
pub fn print_meanwhile(write: impl FnOnce(&mut BufWriter<io::StdoutLock<'static>>) -> io::Result<()>) {
    let mut out = BufWriter::new(stdout().lock());
    supervisor::writes();
    if let Err(error) = write(&mut out).and_then(|()| out.flush())
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        FAILED.store(true, Ordering::Relaxed);
        complain(|out| writeln!(out, "Error: cannot write to standard output: {error}"));
    }
    // Whatever is left in the buffer has nowhere to go.
    let _ = out.into_parts();
}

/// Writes a file; what went wrong, in a sentence.
pub fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    let written = File::create(path).and_then(|mut file| {
        file.write_all(content)?;
        // Some file systems tell only now that there is no room.
        if file.metadata()?.is_file() { file.sync_all() } else { Ok(()) }
    });
    written.map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Why these outputs cannot be written: one of them is an input, or two of them are the same file.
pub fn conflict(outputs: &[&Path], inputs: &[&Path]) -> Option<String> {
    for (number, output) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| is_same(output, input)) {
            let (output, input) = (output.display(), input.display());
            return Some(format!("`{output}` would be written over, and it is an input (`{input}`)"));
        }
        if outputs[..number].iter().any(|other| is_same(output, other)) {
            return Some(format!("`{}` would be written twice", output.display()));
        }
    }
    None
}

/// Whether two paths lead to the same file. Of files that are not there yet, only the paths can be compared.
fn is_same(one: &Path, other: &Path) -> bool {
    match (fs::metadata(one), fs::metadata(other)) {
        (Ok(a), Ok(b)) => a.is_file() && b.is_file() && identity(&a, one) == identity(&b, other),
        (Err(_), Err(_)) => one == other,
        _ => false,
    }
}

/// Hard links lead to the same file, too.
#[cfg(unix)]
fn identity(metadata: &fs::Metadata, _: &Path) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &fs::Metadata, path: &Path) -> Option<std::path::PathBuf> {
    path.canonicalize().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_is_recognised_by_every_path() {
        let folder = std::env::temp_dir().join(format!("ample-output-{}", std::process::id()));
        fs::create_dir_all(folder.join("sub")).unwrap();
        let model = folder.join("m.pml");
        fs::write(&model, "").unwrap();
        let around = folder.join("sub").join("..").join("m.pml");
        assert!(conflict(&[&around], &[&model]).unwrap().contains("is an input"));
        let new = folder.join("new.json");
        assert_eq!(conflict(&[&new], &[&model]), None);
        assert!(conflict(&[&new, &new], &[&model]).unwrap().contains("twice"));
        #[cfg(unix)]
        {
            let link = folder.join("link.pml");
            std::os::unix::fs::symlink(&model, &link).unwrap();
            assert!(conflict(&[&link], &[&model]).is_some());
            assert_eq!(conflict(&["/dev/null".as_ref()], &["/dev/null".as_ref()]), None);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
