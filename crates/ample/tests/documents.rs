//! Completions for shells, and manual pages.

mod support;

use std::io::Write;
use std::process::{Command, Stdio};

use support::Folder;

/// The commands that `ample --help` lists.
fn commands() -> Vec<String> {
    let output = support::command(&["--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let list = help.split("Commands:").nth(1).unwrap().split("\nOptions:").next().unwrap();
    let first =
        |line: &str| line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()).map(str::to_owned);
    list.lines().filter_map(first).filter(|name| name != "help").collect()
}

#[test]
fn every_shell_completes_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = support::command(&["completions", shell]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        let script = String::from_utf8(output.stdout).unwrap();
        for word in commands().iter().map(String::as_str).chain(["time-limit", "max-nodes"]) {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    let output = support::command(&["completions", "tcsh"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// What bash offers behind some words, if there is bash.
#[test]
fn bash_completes() {
    let script = support::command(&["completions", "bash"]).output().unwrap().stdout;
    let ask = "COMP_WORDS=(ample states --max-n); COMP_CWORD=2; _ample ample --max-n states; echo \"${COMPREPLY[@]}\"";
    let Ok(mut bash) = Command::new("bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        eprintln!("skipped: there is no bash");
        return;
    };
    let mut input = bash.stdin.take().unwrap();
    input.write_all(&[&script[..], b"\n", ask.as_bytes(), b"\n"].concat()).unwrap();
    drop(input);
    let output = bash.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().trim(), "--max-nodes", "{:?}", output.stderr);
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let folder = Folder::new("man");
    let pages = folder.0.join("man1");
    let output = support::command(&["man", "--output", pages.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let page = |name: &str| std::fs::read_to_string(pages.join(name)).unwrap();
    let main = page("ample.1");
    for command in commands() {
        assert!(main.contains(&format!("ample\\-{command}(1)")), "{command}\n{main}");
        let page = page(&format!("ample-{command}.1"));
        assert!(page.contains(".TH") && page.contains(&format!("AMPLE-{}", command.to_uppercase())), "{page}");
        assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH OPTIONS"), "{page}");
    }
    assert_eq!(std::fs::read_dir(&pages).unwrap().count(), commands().len() + 1);
    let printed = support::command(&["man"]).output().unwrap();
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), main);
    let output = support::command(&["man", "--output", "/dev/null"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("Error: cannot make /dev/null"));
}
