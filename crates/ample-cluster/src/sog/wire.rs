//! What messages about aggregates look like.

use ample_sog::aggregate::Facts;
use ample_sog::observed::Label;

use super::table::{Arcs, Entry};
use crate::explicit::{read_number, write_number};

/// An aggregate on its way to its owner.
pub(super) struct Parcel<'a> {
    pub(super) label: Label,
    /// Where the bytes are representatives only.
    pub(super) digest: Option<u128>,
    pub(super) bytes: &'a [u8],
}

impl<'a> Parcel<'a> {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        write_number(self.label, out);
        write_number((self.bytes.len() as u64) << 1 | u64::from(self.digest.is_some()), out);
        out.extend(self.digest.iter().flat_map(|digest| digest.to_le_bytes()));
        out.extend_from_slice(self.bytes);
    }

    /// The first of some; none where the bytes end, or are none of a message.
    pub(super) fn read(bytes: &mut &'a [u8]) -> Option<Parcel<'a>> {
        let label = read_number(bytes)?;
        let length = read_number(bytes)?;
        let digest = if length & 1 == 1 { Some(read_digest(bytes)?) } else { None };
        let bytes = read_bytes(bytes, length >> 1)?;
        Some(Parcel { label, digest, bytes })
    }
}

/// Where an aggregate leads, for the checker.
pub(super) struct Expanded {
    pub(super) digest: u128,
    pub(super) label: Label,
    pub(super) may_stay: bool,
    pub(super) arcs: Arcs,
}

impl Expanded {
    pub(super) fn write(digest: u128, label: Label, facts: &Facts, arcs: &Arcs, out: &mut Vec<u8>) {
        out.extend_from_slice(&digest.to_le_bytes());
        write_number(label, out);
        out.push(u8::from(facts.dead || facts.divergent));
        write_arcs(arcs, out);
    }

    pub(super) fn read(bytes: &mut &[u8]) -> Option<Expanded> {
        let digest = read_digest(bytes)?;
        let label = read_number(bytes)?;
        let may_stay = read_number(bytes)? != 0;
        Some(Expanded { digest, label, may_stay, arcs: read_arcs(bytes)? })
    }
}

/// All that is known of an aggregate.
pub(super) struct Whole<'a> {
    pub(super) digest: u128,
    pub(super) label: Label,
    pub(super) bytes: &'a [u8],
    pub(super) expansion: Option<(Facts, Arcs)>,
}

impl<'a> Whole<'a> {
    pub(super) fn write(entry: &Entry, out: &mut Vec<u8>) {
        out.extend_from_slice(&entry.digest.to_le_bytes());
        write_number(entry.label, out);
        write_number(entry.bytes.len() as u64, out);
        out.extend_from_slice(&entry.bytes);
        out.push(u8::from(entry.expansion.is_some()));
        if let Some((facts, arcs)) = &entry.expansion {
            out.push(u8::from(facts.dead) | u8::from(facts.divergent) << 1);
            out.extend_from_slice(&facts.states.to_le_bytes());
            write_number(facts.nodes as u64, out);
            write_arcs(arcs, out);
        }
    }

    pub(super) fn read(bytes: &mut &'a [u8]) -> Option<Whole<'a>> {
        let digest = read_digest(bytes)?;
        let label = read_number(bytes)?;
        let length = read_number(bytes)?;
        let set = read_bytes(bytes, length)?;
        let expansion = if read_number(bytes)? == 0 { None } else { Some(read_expansion(bytes)?) };
        Some(Whole { digest, label, bytes: set, expansion })
    }
}

fn read_expansion(bytes: &mut &[u8]) -> Option<(Facts, Arcs)> {
    let flags = read_number(bytes)?;
    let states = read_digest(bytes)?;
    let nodes = read_number(bytes)? as usize;
    let facts = Facts { dead: flags & 1 == 1, divergent: flags & 2 == 2, states, nodes };
    Some((facts, read_arcs(bytes)?))
}

fn write_arcs(arcs: &Arcs, out: &mut Vec<u8>) {
    write_number(arcs.len() as u64, out);
    for (action, to) in arcs {
        write_number(action.map_or(0, |action| action as u64 + 1), out);
        out.extend_from_slice(&to.to_le_bytes());
    }
}

fn read_arcs(bytes: &mut &[u8]) -> Option<Arcs> {
    let count = read_number(bytes)?;
    let arc = |_| Some((read_number(bytes)?.checked_sub(1).map(|action| action as usize), read_digest(bytes)?));
    (0..count).map(arc).collect()
}

pub(super) fn read_digest(bytes: &mut &[u8]) -> Option<u128> {
    let (digest, rest) = bytes.split_first_chunk::<16>()?;
    *bytes = rest;
    Some(u128::from_le_bytes(*digest))
}

fn read_bytes<'a>(bytes: &mut &'a [u8], length: u64) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(usize::try_from(length).ok()?)?;
    *bytes = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let arcs = vec![(None, 7), (Some(0), u128::MAX), (Some(300), 1 << 100)];
        let facts = Facts { dead: true, divergent: false, states: u128::MAX - 1, nodes: 9 };
        let mut entry = Entry {
            digest: 5,
            label: 1 << 63 | 3,
            bytes: vec![1; 200].into(),
            is_whole: true,
            is_claimed: true,
            expansion: None,
        };
        let mut out = Vec::new();
        Whole::write(&entry, &mut out);
        entry.expansion = Some((facts.clone(), arcs.clone()));
        Whole::write(&entry, &mut out);
        Expanded::write(8, 2, &facts, &arcs, &mut out);
        for digest in [None, Some(77)] {
            Parcel { label: 4, digest, bytes: &[6; 130] }.write(&mut out);
        }
        let mut rest = out.as_slice();
        for expansion in [None, Some((facts, arcs.clone()))] {
            let whole = Whole::read(&mut rest).unwrap();
            assert_eq!((whole.digest, whole.label, whole.bytes), (5, 1 << 63 | 3, &[1; 200][..]));
            assert_eq!(whole.expansion, expansion);
        }
        let expanded = Expanded::read(&mut rest).unwrap();
        assert_eq!((expanded.digest, expanded.label, expanded.may_stay), (8, 2, true));
        assert_eq!(expanded.arcs, arcs);
        for digest in [None, Some(77)] {
            let parcel = Parcel::read(&mut rest).unwrap();
            assert_eq!((parcel.label, parcel.digest, parcel.bytes), (4, digest, &[6; 130][..]));
        }
        assert!(rest.is_empty());
        for length in 0..out.len() {
            assert!(Whole::read(&mut &out[..length.min(200)]).is_none());
        }
    }
}
