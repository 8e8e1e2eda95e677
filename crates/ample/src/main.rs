//! The command `ample`.

mod command;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::Parser;
use command::arguments::Arguments;
use command::{Exit, run};

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
    let arguments = Arguments::parse();
    let interrupt = Arc::new(AtomicBool::new(false));
    if !arguments.command.is_dialogue() {
        listen(&interrupt);
    }
    let arguments = Arc::new(arguments);
    // Where the address space is limited, a small stack has to do.
    for stack in [STACK, STACK / 32] {
        let (arguments, interrupt) = (Arc::clone(&arguments), Arc::clone(&interrupt));
        let work = move || run(&arguments.command, interrupt);
        if let Ok(thread) = std::thread::Builder::new().name("ample".into()).stack_size(stack).spawn(work) {
            let exit = thread.join().unwrap_or(Exit::Undecided);
            return ExitCode::from(exit.code());
        }
    }
    ExitCode::from(run(&arguments.command, interrupt).code())
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
