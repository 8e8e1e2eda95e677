//! The command `ample`.

mod command;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Sender};
use std::thread::JoinHandle;

use clap::Parser;
use command::arguments::{Arguments, Command, Task};
use command::output::has_failed;
use command::supervisor::{Gate, Unfinished, supervise};
use command::{Exit, run, unknown};
use command::{documents, formats};

#[global_allocator]
static ALLOCATOR: Gate = Gate;

/// Deeply nested models recurse deeply. The memory is only taken when it is used.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        use std::io::Write;
        let _ = writeln!(
            std::io::stderr(),
            "internal error: {panic}\nThis is a bug in ample, please report it with the model: {}/issues",
            env!("CARGO_PKG_REPOSITORY")
        );
    }));
    let exit = match Arguments::parse().task {
        Task::Work(command) => perform(*command),
        Task::Completions(completions) => documents::completions(&completions),
        Task::Man(man) => documents::manual_pages(&man),
    };
    let exit = if has_failed() { exit.min(Exit::Wrong) } else { exit };
    ExitCode::from(exit.code())
}

fn perform(command: Command) -> Exit {
    formats::choose(command.format());
    let interrupt = Arc::new(AtomicBool::new(false));
    if command.is_dialogue() {
        return work(command, interrupt);
    }
    listen(&interrupt);
    let exit = supervised(command, interrupt);
    formats::finish(exit.code());
    exit
}

/// Does the work in this thread, or in one with a large stack.
fn work(command: Command, interrupt: Arc<AtomicBool>) -> Exit {
    let (sender, receiver) = mpsc::channel();
    let thread = start(&Arc::new(command), &interrupt, &sender);
    drop(sender);
    let exit = receiver.recv().unwrap_or(Exit::Undecided);
    if let Some(thread) = thread {
        let _ = thread.join();
    }
    exit
}

/// Does the work in another thread, while this one sees to it that it keeps within its budget.
fn supervised(command: Command, interrupt: Arc<AtomicBool>) -> Exit {
    let (sender, receiver) = mpsc::channel();
    let command = Arc::new(command);
    let thread = start(&command, &interrupt, &sender);
    drop(sender);
    match supervise(&receiver, &interrupt, |file, reason| unknown(&command, file, reason)) {
        Ok(exit) => {
            if let Some(thread) = thread {
                let _ = thread.join();
            }
            exit
        }
        Err(Unfinished::Panicked) => Exit::Undecided,
        Err(Unfinished::Ended(file, reason)) => {
            let left = command.files().iter().skip_while(|other| **other != file).skip(1);
            left.for_each(|file| unknown(&command, file, reason));
            formats::finish(Exit::Undecided.code());
            std::process::exit(Exit::Undecided.code().into())
        }
    }
}

/// Starts the work in a thread of its own; where there cannot be one, it is done at once.
fn start(command: &Arc<Command>, interrupt: &Arc<AtomicBool>, done: &Sender<Exit>) -> Option<JoinHandle<()>> {
    // Where the address space is limited, a small stack has to do.
    for stack in [STACK, STACK / 32] {
        let (command, interrupt, done) = (Arc::clone(command), Arc::clone(interrupt), done.clone());
        let work = move || {
            let _ = done.send(run(&command, interrupt));
        };
        if let Ok(thread) = std::thread::Builder::new().name("ample".into()).stack_size(stack).spawn(work) {
            return Some(thread);
        }
    }
    let _ = done.send(run(command, Arc::clone(interrupt)));
    None
}

/// The first Ctrl-C sets the flag, the second ends the process.
fn listen(interrupt: &Arc<AtomicBool>) {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        // Without a handler Ctrl-C does what it always does.
        let _ = signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(interrupt));
        let _ = signal_hook::flag::register(signal, Arc::clone(interrupt));
    }
}
