//! The instructions that guards, communications and effects are compiled to.
//!
//! A register machine: the compiler knows at every point how many intermediate values are alive, so that
//! an operand is a fixed register and nothing is pushed or popped. Registers hold `i64`. What happens most
//! often has an instruction of its own: a comparison of a cell with a constant is a test of an interval,
//! whatever the operator was, and a guard that fails simply returns.

use super::layout::{Base, Cell, Kind};

/// How many registers there are. An expression that needs more is refused by the compiler.
pub const REGISTERS: usize = 64;

/// How many fields a message may have.
pub const FIELDS: usize = 48;

/// A register.
pub type Register = u8;

/// A position in the code.
pub type Pc = u32;

/// No such code: nothing to test, or nothing to do.
pub const NOWHERE: Pc = Pc::MAX;

/// In place of a register: 0.
pub const ZERO: Register = Register::MAX;

/// The fast way to [`Expr::Blocked`](ample_model::Expr::Blocked) is not open.
pub const NO_BIT: u8 = u8::MAX;

/// An array with one subscript: element `i` lies at `offset + i * stride`.
#[derive(Clone, Copy, Debug)]
pub struct Array {
    /// Of the first element, from the base.
    pub offset: u32,
    /// How many elements.
    pub length: u32,
    /// Bytes from one element to the next.
    pub stride: u16,
    /// What the offset is relative to.
    pub base: Base,
    /// What an element is.
    pub kind: Kind,
}

/// An instruction. `to` is the register that gets the result; where it is also an operand, the comment
/// calls it `x`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[rustfmt::skip]
pub enum Op {
    // Values.
    Const { to: Register, value: i32 },
    /// A constant of more than 32 bits, from the pool.
    Wide { to: Register, index: u32 },
    /// A cell of [`Kind::Bits`].
    Byte { to: Register, cell: Cell },
    Load { to: Register, cell: Cell },
    /// An element; a fault if the subscript is outside.
    ByteAt { to: Register, index: Register, array: Array },
    LoadAt { to: Register, index: Register, array: Array },
    /// A subscript becomes a distance: `x * stride`; a fault if it is not below `length`.
    Scale { to: Register, length: u32, stride: u32 },
    /// A whole cell, that many bytes further on; never more than `limit`.
    LoadFrom { to: Register, distance: Register, cell: Cell, limit: u32 },

    // Arithmetic; the plain forms where the compiler has seen that nothing can overflow.
    Add { to: Register, with: Register },
    Sub { to: Register, with: Register },
    Mul { to: Register, with: Register },
    AddChecked { to: Register, with: Register },
    SubChecked { to: Register, with: Register },
    MulChecked { to: Register, with: Register },
    Div { to: Register, with: Register },
    Rem { to: Register, with: Register },
    BitAnd { to: Register, with: Register },
    BitOr { to: Register, with: Register },
    BitXor { to: Register, with: Register },
    Shl { to: Register, with: Register },
    Shr { to: Register, with: Register },
    AddConst { to: Register, value: i32 },
    AddWide { to: Register, index: u32 },
    Negate { to: Register },
    Complement { to: Register },
    /// To 32 bits, signed.
    Int { to: Register },
    /// Drop that many upper bits.
    Wrap { to: Register, shift: u8, signed: bool },
    /// By the rule of a type, from the pool.
    Fit { to: Register, scalar: u32 },

    // Comparisons and truth.
    Equal { to: Register, with: Register },
    NotEqual { to: Register, with: Register },
    Less { to: Register, with: Register },
    LessEqual { to: Register, with: Register },
    /// `low <= x <= high`
    In { to: Register, low: i32, high: i32 },
    NotIn { to: Register, low: i32, high: i32 },
    /// The same for a cell of [`Kind::Bits`].
    ByteIn { to: Register, cell: Cell, low: i32, high: i32 },
    ByteNotIn { to: Register, cell: Cell, low: i32, high: i32 },
    Not { to: Register },
    Truth { to: Register },

    // Control.
    Jump { to: Pc },
    JumpIfZero { test: Register, to: Pc },
    JumpIfNotZero { test: Register, to: Pc },
    /// The values of shared expressions are to be computed anew.
    Fresh,
    /// The value of a shared expression; if it is not known, its code is run first, with registers of its own.
    Share { to: Register, shared: u32 },
    /// The value in register 0 is that of the shared expression; goes on where it was asked for.
    Keep { shared: u32 },

    // The state as a whole.
    SelfId { to: Register },
    ProcessCount { to: Register },
    Timeout { to: Register },
    /// By the bit of the list of edges, or by looking at them again.
    Blocked { to: Register, bit: u8, list: u32 },
    /// Process `x` is enabled.
    Enabled { to: Register },
    /// The location number of process `x`.
    LocationOf { to: Register },
    /// The priority of process `x`.
    Priority { to: Register },
    /// Process `x` is of that type; else go on there.
    Subject { to: Register, of: u16, otherwise: Pc },
    /// The first process of that type; if there is none, go on there.
    FirstOf { to: Register, of: u16, otherwise: Pc },
    /// Process `x` (a [`Op::Subject`]) stands at one of these locations.
    StandsAt { to: Register, set: u32 },
    /// A local cell of process `x` (a [`Op::Subject`]).
    LoadRemote { to: Register, distance: Register, of: u16, cell: Cell, limit: u32 },
    NonProgress { to: Register },
    Accepting { to: Register },

    // Objects. One that was found is its offset, in a register.
    /// The object of the type at that place that the value refers to; a fault if there is none.
    Object { to: Register, from: Register, object: u16 },
    /// A cell of it, that many bytes further on.
    LoadField { to: Register, object: Register, distance: Register, cell: Cell, limit: u32 },

    // Channels. An open channel is its offset and its kind, in a register.
    /// A fault if there is no such handle.
    Open { to: Register, handle: Register },
    /// While a process gets its first values: only that many of its own channels are there.
    OpenOlder { to: Register, handle: Register, own: u32 },
    /// A channel that the compiler knows.
    Fixed { to: Register, base: Base, kind: u16, offset: u32 },
    /// How many messages channel `x` holds.
    Length { to: Register },
    Full { to: Register },
    /// A fault if messages of the channel have fewer fields, or just not as many.
    Arity { channel: Register, given: u16, exact: bool },
    /// The channel holds more messages than `position`.
    HasMessage { to: Register, channel: Register, position: Register },
    /// A field of a message; a whole cell.
    Field { to: Register, channel: Register, position: Register, field: u16 },
    /// A fault if it is a handshake channel.
    NoHandshake { channel: Register, polls: bool },
    /// The value as that field would keep it.
    FitField { to: Register, channel: Register, field: u16 },

    // Conditions of a guard: if one does not hold, the guard does not.
    Require { test: Register },
    RequireNot { test: Register },
    RequireByteIn { cell: Cell, low: i32, high: i32 },
    RequireByteNotIn { cell: Cell, low: i32, high: i32 },
    RequireEqual { x: Register, with: Register },
    RequireLess { x: Register, with: Register },
    RequireLessEqual { x: Register, with: Register },
    RequireTimeout,
    RequireBlocked { bit: u8, list: u32 },
    /// There is room in the channel; or it is a handshake channel, then the guard is done but for a partner.
    RequireRoom { channel: Register, handle: Register },
    /// There is a message; never so in a handshake channel.
    RequireMessage { channel: Register, keep: bool },
    /// The handle is that of the message on offer.
    RequireOffered { handle: Register },
    /// A fault if the message on offer has fewer fields, or just not as many.
    OfferArity { given: u16, exact: bool },
    /// A field of the message on offer, or of the message just received.
    Offered { to: Register, field: u8 },
    /// The value becomes a field of the message on offer, as its channel would keep it.
    Offer { from: Register, field: u8 },
    /// The guard holds.
    Yes,
    No,

    // Effects.
    SetByte { cell: Cell, value: u8 },
    Set { cell: Cell, value: i32 },
    /// `cell + value`, where the cell's own width does the wrapping.
    Bump { cell: Cell, value: i32 },
    Move { from: Cell, to: Cell },
    Store { from: Register, cell: Cell },
    StoreAt { from: Register, index: Register, array: Array },
    StoreTo { from: Register, distance: Register, cell: Cell, limit: u32 },
    StoreField { from: Register, object: Register, distance: Register, cell: Cell, limit: u32 },
    /// A reference to a new object; a fault if there are too many.
    Allocate { to: Register, object: u16 },
    /// The handle of one of the process's own channels.
    StoreHandle { cell: Cell, number: u32 },
    /// A field of a received message, where storing is enough.
    Bind { field: u8, cell: Cell },
    /// There is room: 1 or 0.
    HasRoom { to: Register, channel: Register },
    /// Put the values in registers from `first` on into the channel.
    Send { channel: Register, handle: Register, first: Register, sorted: bool },
    /// Look at a message: it becomes the message received.
    Peek { channel: Register, position: Register },
    /// Remove it.
    Remove { channel: Register, handle: Register, position: Register },
    /// A new process; the arguments are in the first registers.
    Spawn { process: u16, priority: u8 },
    /// Note a violation if the test is 0.
    Assert { test: Register, text: u32 },
    SetPriority { process: Register, priority: Register },
    /// The process is the youngest.
    IsYoungest { to: Register },
    /// The process is gone, and the effect with it.
    End,
    /// A fault from the pool.
    Trap { fault: u32 },
    /// One of the instructions of an effect that can loop.
    Tick,
    /// The value is in register 0, or the effect is done.
    Done,
}

/// Twenty bytes: two cells and what is to be done with them.
const _: () = assert!(size_of::<Op>() == 20);
