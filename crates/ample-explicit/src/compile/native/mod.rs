//! Native code: guards and effects translated to machine code, for long searches.
//!
//! The bytecode of a [`Program`] is the reference and the fallback; here what a search spends its time on is compiled by
//! Cranelift. There is a function for each location, which looks at its edges in their order and lists the executable
//! ones, another that performs them as well ([`listing`]), and one for each edge, which performs its effect. All offsets, types and constants are part of the code. What is
//! rare has no native code: a location or an edge with an instruction that [`translate`](self::translate) does not know
//! is left to the [evaluator](super::machine), and so is every step that turns out to be a fault or violates an
//! assertion: native code only reports that it is not responsible, and the evaluator does it once more from the
//! beginning and says what went wrong.
//!
//! Compiling costs about as much as a few thousand states, so that it is begun when a search has become long, in a
//! thread of its own, and used by all searches over the system as soon as it is there.

mod listing;
mod translate;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use cranelift_jit::JITModule;

use super::program::Program;
use super::state_layout::{ChannelPlace, Frame, StateLayout};
use super::successors::Transition;
pub(super) use listing::Listing;
use listing::Message;

/// Programs with more instructions are not translated.
const MOST_OPS: usize = 200_000;

/// What native code reads besides the state. Offsets of the fields are part of the code.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Context {
    /// The channels of the state.
    channels: *const ChannelPlace,
    channel_count: u64,
    /// Where the executable transitions are written to.
    out: *mut Transition,
    /// What is the same in all transitions of a process: its id, no partner, and the flags.
    mark: u64,
    /// The process that moves.
    me: u64,
    /// How many processes there are.
    processes: u64,
    /// Where the hidden tail begins, and the part of the process.
    hidden: [u64; 2],
    /// `timeout` is true.
    timeout: u64,
    /// Where the messages of handshakes are written to, or the one that is on offer.
    messages: *mut Message,
    /// The number of the next slot for a target, and where it is.
    slot: u64,
    address: *mut u8,
    /// Bytes of a slot.
    size: u64,
}

/// The offsets of the fields of a [`Context`].
mod field {
    use super::Context;
    use std::mem::offset_of;

    pub const CHANNELS: i32 = offset_of!(Context, channels) as i32;
    pub const CHANNEL_COUNT: i32 = offset_of!(Context, channel_count) as i32;
    pub const OUT: i32 = offset_of!(Context, out) as i32;
    pub const MARK: i32 = offset_of!(Context, mark) as i32;
    pub const ME: i32 = offset_of!(Context, me) as i32;
    pub const PROCESSES: i32 = offset_of!(Context, processes) as i32;
    pub const HIDDEN: i32 = offset_of!(Context, hidden) as i32;
    pub const TIMEOUT: i32 = offset_of!(Context, timeout) as i32;
    pub const MESSAGES: i32 = offset_of!(Context, messages) as i32;
    pub const SLOT: i32 = offset_of!(Context, slot) as i32;
    pub const ADDRESS: i32 = offset_of!(Context, address) as i32;
    pub const SIZE: i32 = offset_of!(Context, size) as i32;
}

/// Lists the executable edges of a location: how many, or [`NOT_RESPONSIBLE`]. If it lists successors, which kinds there are is
/// in the upper half.
type GuardFn = unsafe extern "C" fn(context: *mut Context, state: *const u8, local: *const u8) -> i64;

/// Performs the effect of an edge: 0, or [`NOT_RESPONSIBLE`].
type EffectFn = unsafe extern "C" fn(context: *mut Context, state: *mut u8, local: *mut u8) -> i64;

/// The evaluator has to do it.
const NOT_RESPONSIBLE: i64 = -1;

/// The native code of a program.
pub(super) struct NativeCode {
    /// By location, among those of all process types.
    guards: Box<[Option<GuardFn>]>,
    /// The same with targets.
    successors: Box<[Option<GuardFn>]>,
    /// Those that list which edges can receive a message.
    receivers: Box<[Option<GuardFn>]>,
    /// By edge.
    effects: Box<[Option<EffectFn>]>,
    /// The same as one half of a handshake.
    halves: Box<[Option<EffectFn>]>,
    /// By edge: the edges that are taken together with it, in lists.
    chains: Box<[Box<[u32]>]>,
    /// The most edges of a location.
    widest: usize,
    /// Keeps the code; given back in [`Drop`].
    module: Option<JITModule>,
}

// SAFETY: the code is not changed any more, and reads and writes nothing but what it is given. The module is only kept
// to be dropped.
unsafe impl Send for NativeCode {}
// SAFETY: as above.
unsafe impl Sync for NativeCode {}

impl std::fmt::Debug for NativeCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let guards = self.guards.iter().flatten().count();
        let effects = self.effects.iter().flatten().count();
        write!(f, "NativeCode {{ guards: {guards}, effects: {effects} }}")
    }
}

impl Drop for NativeCode {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: the functions are reachable through this value only, which nobody uses any more.
            unsafe { module.free_memory() };
        }
    }
}

/// The process whose edges are looked at, in its state.
pub(super) struct Site<'a> {
    /// The state.
    pub(super) state: &'a [u8],
    /// Where everything lies in it.
    pub(super) layout: &'a StateLayout,
    /// The process.
    pub(super) frame: &'a Frame,
    /// Its id.
    pub(super) process: u32,
}

impl Context {
    fn of(layout: &StateLayout, frame: &Frame, process: u32) -> Context {
        Context {
            me: process.into(),
            hidden: [frame.bases[2].into(), frame.bases[3].into()],
            ..Context::of_all(layout)
        }
    }

    /// No process in particular.
    fn of_all(layout: &StateLayout) -> Context {
        Context {
            channels: layout.channels.as_ptr(),
            channel_count: layout.channels.len() as u64,
            out: std::ptr::null_mut(),
            mark: 0,
            me: 0,
            processes: layout.frames.len() as u64,
            hidden: [0; 2],
            timeout: 0,
            messages: std::ptr::null_mut(),
            slot: 0,
            address: std::ptr::null_mut(),
            size: 0,
        }
    }
}

impl NativeCode {
    /// Translates a program; `None` if it cannot be done on this machine, or is not worth it.
    pub(super) fn new(program: &Program, part: Part) -> Option<NativeCode> {
        if program.monitor.is_some() || program.joint.is_some() || program.ops.len() > MOST_OPS {
            return None;
        }
        translate::translate(program, part)
    }

    /// Appends the executable edges of the location where a process stands, which may only be a part of them if it needs
    /// a partner ([`Transition::HANDSHAKE`]). False if the evaluator has to look at them; nothing is appended then.
    #[inline]
    pub(super) fn executable(&self, site: &Site<'_>, location: usize, flags: u8, out: &mut Vec<Transition>) -> bool {
        let mut looking = self.look(site.state, site.layout, flags, out);
        looking.executable(site.frame, site.process, location)
    }

    /// Gets ready to look at the processes of a state.
    #[inline]
    pub(super) fn look<'a>(
        &'a self,
        state: &'a [u8],
        layout: &'a StateLayout,
        flags: u8,
        out: &'a mut Vec<Transition>,
    ) -> Looking<'a> {
        let context = Context { timeout: Transition::is_timeout(flags).into(), ..Context::of_all(layout) };
        Looking { code: self, state, layout, flags, out, context }
    }

    /// Performs the effect of an edge of a process, in its state. False if the evaluator has to do it, with a fresh copy
    /// of the state.
    #[inline]
    pub(super) fn perform(
        &self,
        edge: u32,
        state: &mut [u8],
        layout: &StateLayout,
        frame: &Frame,
        process: u32,
    ) -> bool {
        let Some(effect) = self.effects[edge as usize] else { return false };
        let mut context = Context::of(layout, frame, process);
        // SAFETY: as above; the state is writable.
        unsafe {
            let state = state.as_mut_ptr();
            effect(&mut context, state, state.add(frame.offset() as usize)) != NOT_RESPONSIBLE
        }
    }
}

/// The processes of a state, one after the other.
pub(super) struct Looking<'a> {
    code: &'a NativeCode,
    state: &'a [u8],
    layout: &'a StateLayout,
    flags: u8,
    /// What was found.
    pub(super) out: &'a mut Vec<Transition>,
    context: Context,
}

impl Looking<'_> {
    /// Appends the executable edges of a process that stands there, as [`NativeCode::executable`].
    #[inline(always)]
    pub(super) fn executable(&mut self, frame: &Frame, process: u32, location: usize) -> bool {
        let Some(guards) = self.code.guards[location] else { return false };
        self.out.reserve(self.code.widest);
        let before = self.out.len();
        self.context.me = process.into();
        self.context.mark = Transition::mark(process, self.flags);
        self.context.hidden = [frame.bases[2].into(), frame.bases[3].into()];
        debug_assert!(self.layout.length as usize <= self.state.len());
        // SAFETY: the state has the length of its layout, in which the segment of the process lies; the code reads no
        // cell outside of them, as was verified. There is room for as many transitions as the location has edges.
        unsafe {
            self.context.out = self.out.as_mut_ptr().add(before);
            let state = self.state.as_ptr();
            let count = guards(&mut self.context, state, state.add(frame.offset() as usize));
            if count == NOT_RESPONSIBLE {
                return false;
            }
            self.out.set_len(before + count as usize);
        }
        true
    }
}

/// What native code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// For searches that take all transitions of a state: [`Listing`].
    Lists,
    /// For others: [`NativeCode::executable`], [`NativeCode::perform`].
    Steps,
}

/// The native code of a system that all its searches share: there is none at first.
#[derive(Debug, Default)]
pub(super) struct SharedCode {
    lists: SharedPart,
    steps: SharedPart,
}

#[derive(Debug, Default)]
struct SharedPart {
    begun: AtomicBool,
    code: OnceLock<Option<Arc<NativeCode>>>,
}

impl SharedCode {
    fn part(&self, part: Part) -> &SharedPart {
        match part {
            Part::Lists => &self.lists,
            Part::Steps => &self.steps,
        }
    }

    /// The code, if it is there.
    pub(super) fn get(&self, part: Part) -> Option<&Arc<NativeCode>> {
        self.part(part).code.get()?.as_ref()
    }

    /// There is none, and will be none.
    pub(super) fn is_vain(&self, part: Part) -> bool {
        self.part(part).code.get().is_some_and(Option::is_none)
    }

    /// Begins to compile, unless that was done before.
    pub(super) fn begin(self: &Arc<Self>, program: &Arc<Program>, part: Part) {
        if self.part(part).begun.swap(true, Ordering::Relaxed) {
            return;
        }
        let (this, program) = (Arc::clone(self), Arc::clone(program));
        let compile = move || {
            // Whatever goes wrong in there, the evaluator can do without.
            let code = std::panic::catch_unwind(|| NativeCode::new(&program, part)).unwrap_or_default();
            let _ = this.part(part).code.set(code.map(Arc::new));
        };
        // Without a thread there is no native code.
        let _ = std::thread::Builder::new().name("native code".into()).spawn(compile);
    }

    /// Compiles now.
    #[cfg(test)]
    pub(super) fn complete(&self, program: &Program) {
        for part in [Part::Lists, Part::Steps] {
            self.part(part).begun.store(true, Ordering::Relaxed);
            let _ = self.part(part).code.set(NativeCode::new(program, part).map(Arc::new));
        }
    }
}
