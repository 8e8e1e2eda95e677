//! What is to be known about the command itself: completions for shells, and manual pages.

use std::io::{self, Write};
use std::path::Path;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::Exit;
use super::arguments::{self, Arguments};
use super::output::{self, complain, print};

/// Prints the script for a shell.
pub fn completions(arguments: &arguments::Completions) -> Exit {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "ample", &mut script);
    print(|out| out.write_all(&script));
    Exit::Fine
}

/// Prints the manual page, or writes those of all commands.
pub fn manual_pages(arguments: &arguments::Man) -> Exit {
    let mut command = Arguments::command();
    command.build();
    let done = match &arguments.output {
        None => {
            page(&command, "ample").map(|page| print(|out| out.write_all(&page))).map_err(|error| error.to_string())
        }
        Some(folder) => write_pages(&command, folder),
    };
    match done {
        Ok(()) => Exit::Fine,
        Err(why) => {
            complain(|out| writeln!(out, "Error: {why}"));
            Exit::Wrong
        }
    }
}

fn write_pages(command: &Command, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let subcommands = command.get_subcommands().filter(|sub| sub.get_name() != "help");
    let pages = subcommands.map(|sub| (sub, format!("ample-{}", sub.get_name())));
    for (command, name) in [(command, "ample".to_owned())].into_iter().chain(pages) {
        let page = page(command, &name).map_err(|error| error.to_string())?;
        output::write(&folder.join(format!("{name}.1")), &page)?;
    }
    Ok(())
}

fn page(command: &Command, name: &str) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone()).title(name.to_uppercase()).source(concat!("ample ", env!("CARGO_PKG_VERSION")));
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    // All options would be a screen full.
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim().replace('-', "\\-");
    writeln!(page, ".SH SYNOPSIS\n{usage}")?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    writeln!(page, ".SH EXIT STATUS\n{}", arguments::EXIT_CODES)?;
    man.render_version_section(&mut page)?;
    Ok(page)
}
