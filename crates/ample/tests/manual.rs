//! The transcripts in the README and in the manual: every command that is printed there is run, and what it prints is
//! compared with what the page shows.
//!
//! A fenced block with lines `$ ample …` is a transcript. In it, a line `…` stands for any lines, and `…` within a line for
//! any text; time, memory and what depends on them are not compared. A comment before a fence says what else there is
//! to know about a block: `<!-- file: lock.pml -->` names the model that it holds, for later commands of the page, and
//! `<!-- not run: why -->` is for commands that need something else, or depend on the machine.

mod support;

use std::path::{Path, PathBuf};
use support::Folder;

/// A fenced block.
struct Block {
    /// The line of its fence.
    line: usize,
    /// What the comment before it says.
    comment: Option<String>,
    text: Vec<String>,
}

/// A command and what the page says that it prints.
struct Transcript {
    command: String,
    shown: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md")];
    for folder in ["docs", "models/promela", "models/milestones", "models/petri", "models/circuits", "models/softver"] {
        let files = std::fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        pages.extend(files.filter(|path| path.extension().is_some_and(|extension| extension == "md")));
    }
    pages.sort();
    pages
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open = false;
    let mut comment = None;
    for (number, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            if !open {
                blocks.push(Block { line: number + 1, comment: comment.take(), text: Vec::new() });
            }
            open = !open;
        } else if open {
            blocks.last_mut().unwrap().text.push(line.to_owned());
        } else if let Some(words) = line.strip_prefix("<!--").and_then(|rest| rest.strip_suffix("-->")) {
            comment = Some(words.trim().to_owned());
        } else if !line.trim().is_empty() {
            comment = None;
        }
    }
    blocks
}

fn transcripts(block: &Block) -> Vec<Transcript> {
    let mut transcripts: Vec<Transcript> = Vec::new();
    for line in &block.text {
        match (line.strip_prefix("$ "), transcripts.last_mut()) {
            (Some(command), _) => transcripts.push(Transcript { command: command.to_owned(), shown: Vec::new() }),
            (None, Some(transcript)) => transcript.shown.push(line.clone()),
            (None, None) => {}
        }
    }
    transcripts
}

/// A folder with the models, in which commands are run as they would be in that of the project.
fn folder_with_models(name: &str) -> Folder {
    let folder = Folder::new(name);
    copy(&root().join("models"), &folder.0.join("models"));
    folder
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The words of a command, as a shell would split them.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, ' ') => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// Runs the command; what it prints on standard output.
fn run(command: &str, folder: &Path) -> Result<Vec<String>, String> {
    let words = words(command);
    let Some(("ample", arguments)) = words.split_first().map(|(first, rest)| (first.as_str(), rest)) else {
        return Err("this is not a command of ample: mark the block as not run".into());
    };
    let output = support::command(&[]).args(arguments).current_dir(folder).output().unwrap();
    if output.status.code() == Some(2) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// A line without what differs from run to run.
fn normalised(line: &str) -> String {
    let timing = line.contains(" used, ") && line.contains(" seconds");
    let bare = line.trim().strip_suffix(" seconds").is_some_and(|number| number.parse::<f64>().is_ok());
    if timing || bare { "(time and memory)".into() } else { line.trim_end().to_owned() }
}

/// The lines are those shown, `…` being any text within a line, and any lines on one of its own.
fn matches(shown: &[String], printed: &[String]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, printed) => printed.is_none(),
        (Some((line, rest)), _) if line.trim() == "…" => {
            (0..=printed.len()).any(|skipped| matches(rest, &printed[skipped..]))
        }
        (Some(_), None) => false,
        (Some((line, rest)), Some((first, others))) => is_like(line, first) && matches(rest, others),
    }
}

fn is_like(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (normalised(shown), normalised(printed));
    let Some((before, _)) = shown.split_once('…') else { return shown == printed };
    let Some(mut left) = printed.strip_prefix(before) else { return false };
    let parts: Vec<&str> = shown.split('…').skip(1).collect();
    for part in &parts[..parts.len() - 1] {
        match left.find(part) {
            Some(at) => left = &left[at + part.len()..],
            None => return false,
        }
    }
    left.ends_with(parts[parts.len() - 1])
}

/// What is wrong with the transcripts of a page, and how many there are.
fn check(page: &Path) -> (Vec<String>, usize) {
    let name = page.strip_prefix(root()).unwrap().display().to_string();
    let text = std::fs::read_to_string(page).unwrap();
    let folder = folder_with_models(&name.replace(['/', '\\'], "-"));
    let (mut wrong, mut count) = (Vec::new(), 0);
    for block in blocks(&text) {
        let comment = block.comment.as_deref().unwrap_or_default();
        if let Some(file) = comment.strip_prefix("file: ") {
            std::fs::write(folder.0.join(file), block.text.join("\n") + "\n").unwrap();
        }
        if comment.starts_with("not run: ") {
            eprintln!("{name}:{}: {comment}", block.line);
            continue;
        }
        for Transcript { command, shown } in transcripts(&block) {
            count += 1;
            match run(&command, &folder.0) {
                Ok(printed) if matches(&shown, &printed) => {}
                Ok(printed) => wrong.push(format!(
                    "{name}:{}: $ {command}\n--- the page shows\n{}\n--- it prints\n{}\n",
                    block.line,
                    shown.join("\n"),
                    printed.join("\n")
                )),
                Err(why) => wrong.push(format!("{name}:{}: $ {command}\n{why}", block.line)),
            }
        }
    }
    (wrong, count)
}

#[test]
fn every_transcript_is_what_the_command_prints() {
    let results: Vec<(Vec<String>, usize)> = pages().iter().map(|page| check(page)).collect();
    let wrong: Vec<&String> = results.iter().flat_map(|(wrong, _)| wrong).collect();
    assert!(
        wrong.is_empty(),
        "{} transcripts are stale\n\n{}",
        wrong.len(),
        wrong.iter().map(|s| s.as_str()).collect::<Vec<_>>().join("\n")
    );
    let count: usize = results.iter().map(|(_, count)| count).sum();
    assert!(count >= 25, "only {count} transcripts were found");
}

#[test]
fn a_stale_figure_is_noticed() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let printed = lines("m.pml\n  deadlock  holds\n\n      224 states, stored\n6.2 MB used, 0.001 seconds");
    for (shown, is_same) in [
        ("m.pml\n  deadlock  holds\n\n      224 states, stored\n9 MB used, 7.3 seconds", true),
        ("m.pml\n…\n      224 states, stored\n…", true),
        ("m.pml\n  dead…holds\n…\n6.2 MB used, 0.001 seconds", true),
        ("m.pml\n…\n      225 states, stored\n…", false),
        ("m.pml\n  deadlock  holds\n\n      224 states, stored", false),
        ("m.pml\n  deadlock  violated…\n…", false),
        ("m.pml\n…\n      …4 states, store\n…", false),
    ] {
        assert_eq!(matches(&lines(shown), &printed), is_same, "{shown}");
    }
    assert_eq!(words("ample check --ctl 'AG (x == 1)' \"\" m.pml").len(), 6);
}
