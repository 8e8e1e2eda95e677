//! Where states come from.

use ample_explicit::store::{Handle, Side};

/// The state that this one was first reached from, and the worker that owns that one; none for an initial state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin(pub(super) Option<(u16, Handle)>);

/// How many bytes a handle takes.
pub(super) const HANDLE: usize = 5;

impl Side for Origin {
    const SIZE: usize = 2 + HANDLE;

    fn fresh(parent: Option<Handle>) -> Origin {
        Origin(parent.map(|parent| (0, parent)))
    }

    #[inline]
    fn write(self, bytes: &mut [u8]) {
        let (worker, handle) = self.0.map_or((0, 0), |(worker, handle)| (worker, handle.number()));
        bytes[..2].copy_from_slice(&worker.to_le_bytes());
        bytes[2..].copy_from_slice(&handle.to_le_bytes()[..HANDLE]);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Origin {
        let worker = u16::from_le_bytes([bytes[0], bytes[1]]);
        Origin(handle(&bytes[2..]).map(|handle| (worker, handle)))
    }
}

/// States that were sent to their owners not long ago: they need not be sent again. One that is here was sent; one that was sent
/// need not be here.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The hash and the length of the state in each place; no length if there is none.
    places: Vec<(u64, u32)>,
    bytes: Vec<u8>,
}

/// How many states are remembered.
const PLACES: usize = 1 << 13;
/// Larger states are not remembered.
const LARGEST: usize = 256;

impl Recent {
    /// Whether the state has to be sent, as far as that is known; it is remembered.
    #[inline]
    pub(super) fn is_new(&mut self, state: &[u8], hash: u64, is_same: impl FnOnce(&[u8], &[u8]) -> bool) -> bool {
        if state.len() > LARGEST {
            return true;
        }
        if self.places.is_empty() {
            self.places = vec![(0, u32::MAX); PLACES];
            self.bytes = vec![0; PLACES * LARGEST];
        }
        // Bits that neither the owner nor the slots of tables depend on alone.
        let place = (hash >> 17) as usize % PLACES;
        let (known, length) = self.places[place];
        let bytes = &mut self.bytes[place * LARGEST..][..LARGEST];
        if length != u32::MAX && known == hash && is_same(&bytes[..length as usize], state) {
            return false;
        }
        self.places[place] = (hash, state.len() as u32);
        bytes[..state.len()].copy_from_slice(state);
        true
    }
}

/// So many states are looked up together: the memory answers many requests at once.
pub(super) const TOGETHER: usize = 32;

/// A state in some bytes, on its way to its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    pub(super) hash: u64,
    pub(super) source: Option<Handle>,
    start: usize,
    length: usize,
    /// What the search has to know of it.
    pub(super) numbers: [u64; 2],
}

impl Arriving {
    /// A state that is added to other bytes.
    #[inline]
    pub(super) fn added(state: &[u8], hash: u64, source: Handle, bytes: &mut Vec<u8>) -> Arriving {
        let start = bytes.len();
        bytes.extend_from_slice(state);
        Arriving { hash, source: Some(source), start, length: state.len(), numbers: [0; 2] }
    }

    /// The next state of a message, which has so many numbers in front of it, and where it ends; none behind the last one. The
    /// hash is still to be computed.
    #[inline]
    pub(super) fn read(bytes: &[u8], at: usize, count: usize) -> Option<(Arriving, usize)> {
        let (source, mut rest) = bytes.get(at..)?.split_at_checked(HANDLE)?;
        let mut numbers = [0; 2];
        for number in &mut numbers[..count] {
            *number = read_number(&mut rest)?;
        }
        let length = usize::try_from(read_number(&mut rest)?).ok()?;
        let start = bytes.len() - rest.len();
        let end = start.checked_add(length).filter(|end| *end <= bytes.len())?;
        Some((Arriving { hash: 0, source: handle(source), start, length, numbers }, end))
    }

    /// The state.
    #[inline]
    pub(super) fn state(self, bytes: &[u8]) -> &[u8] {
        &bytes[self.start..self.start + self.length]
    }
}

/// A handle from its bytes; none where they are zero.
#[inline]
pub(super) fn handle(bytes: &[u8]) -> Option<Handle> {
    let mut number = [0; 8];
    number[..HANDLE].copy_from_slice(&bytes[..HANDLE]);
    Handle::from_number(u64::from_le_bytes(number))
}

/// Writes a small number in as few bytes as it needs.
#[inline]
pub(crate) fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads what [`write_number`] wrote, and goes on behind it; none where the bytes end.
#[inline]
pub(crate) fn read_number(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sent_lately_is_known_and_nothing_else() {
        let mut recent = Recent::default();
        let mut is_new = |state: &[u8], hash| recent.is_new(state, hash, |one, other| one == other);
        assert!(is_new(b"one", 1));
        assert!(!is_new(b"one", 1));
        // Another state with the same hash takes the place.
        assert!(is_new(b"two", 1));
        assert!(is_new(b"one", 1));
        // And one with another hash, but in the same place.
        assert!(is_new(b"one", 2));
        assert!(is_new(b"", 3 << 17) && !is_new(b"", 3 << 17));
        let large = [7; LARGEST + 1];
        assert!(is_new(&large, 5 << 17) && is_new(&large, 5 << 17));
        assert!(is_new(&large[1..], 5 << 17) && !is_new(&large[1..], 5 << 17));
    }

    #[test]
    fn what_is_written_is_read() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            write_number(number, &mut bytes);
            let mut rest = bytes.as_slice();
            assert_eq!(read_number(&mut rest), Some(number));
            assert!(rest.is_empty());
        }
        assert_eq!(read_number(&mut &[0x80][..]), None);
        let source = Handle::from_number(77);
        let mut bytes = source.map_or(0, Handle::number).to_le_bytes()[..HANDLE].to_vec();
        [5, 300, 3].iter().for_each(|number| write_number(*number, &mut bytes));
        bytes.extend_from_slice(b"abc");
        let message = [&bytes[..], &bytes].concat();
        let (first, end) = Arriving::read(&message, 0, 2).unwrap();
        let (second, last) = Arriving::read(&message, end, 2).unwrap();
        for state in [first, second] {
            assert_eq!((state.source, state.numbers, state.state(&message)), (source, [5, 300], &b"abc"[..]));
        }
        assert_eq!((end, last), (bytes.len(), message.len()));
        assert!((0..bytes.len()).all(|length| Arriving::read(&bytes[..length], 0, 2).is_none()));
        for origin in [Origin(None), Origin(Handle::from_number(1 << 39).map(|handle| (65_535, handle)))] {
            let mut bytes = [0; Origin::SIZE];
            origin.write(&mut bytes);
            assert_eq!(Origin::read(&bytes), origin);
        }
    }
}
