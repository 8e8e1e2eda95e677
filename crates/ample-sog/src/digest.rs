//! The digest of an aggregate: MD5 of its label and of its bytes, as H. Ouni's thesis has it (Chapter 5).
//!
//! It depends on nothing but the content, so that all processes compute the same one: it names an aggregate among them, and
//! tells which process owns it.

use crate::bytes::put;
use crate::observed::Label;

/// The digest of an aggregate.
pub fn digest(label: Label, bytes: &[u8]) -> u128 {
    let mut prefix = Vec::with_capacity(10);
    put(&mut prefix, label);
    md5(&[&prefix, bytes])
}

/// The process that owns the aggregate, one of so many.
pub fn owner(digest: u128, processes: usize) -> usize {
    (digest % processes.max(1) as u128) as usize
}

/// The thread of the owner that messages about the aggregate go to, one of so many.
pub fn receiver(digest: u128, processes: usize, threads: usize) -> usize {
    owner(digest / processes.max(1) as u128, threads)
}

const SHIFTS: [[u32; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The integer parts of 2³² · |sin i|, for i from 1 to 64.
const SINES: [u32; 64] = [
    0xd76a_a478,
    0xe8c7_b756,
    0x2420_70db,
    0xc1bd_ceee,
    0xf57c_0faf,
    0x4787_c62a,
    0xa830_4613,
    0xfd46_9501,
    0x6980_98d8,
    0x8b44_f7af,
    0xffff_5bb1,
    0x895c_d7be,
    0x6b90_1122,
    0xfd98_7193,
    0xa679_438e,
    0x49b4_0821,
    0xf61e_2562,
    0xc040_b340,
    0x265e_5a51,
    0xe9b6_c7aa,
    0xd62f_105d,
    0x0244_1453,
    0xd8a1_e681,
    0xe7d3_fbc8,
    0x21e1_cde6,
    0xc337_07d6,
    0xf4d5_0d87,
    0x455a_14ed,
    0xa9e3_e905,
    0xfcef_a3f8,
    0x676f_02d9,
    0x8d2a_4c8a,
    0xfffa_3942,
    0x8771_f681,
    0x6d9d_6122,
    0xfde5_380c,
    0xa4be_ea44,
    0x4bde_cfa9,
    0xf6bb_4b60,
    0xbebf_bc70,
    0x289b_7ec6,
    0xeaa1_27fa,
    0xd4ef_3085,
    0x0488_1d05,
    0xd9d4_d039,
    0xe6db_99e5,
    0x1fa2_7cf8,
    0xc4ac_5665,
    0xf429_2244,
    0x432a_ff97,
    0xab94_23a7,
    0xfc93_a039,
    0x655b_59c3,
    0x8f0c_cc92,
    0xffef_f47d,
    0x8584_5dd1,
    0x6fa8_7e4f,
    0xfe2c_e6e0,
    0xa301_4314,
    0x4e08_11a1,
    0xf753_7e82,
    0xbd3a_f235,
    0x2ad7_d2bb,
    0xeb86_d391,
];

/// MD5 (RFC 1321) of the parts, one after the other; its first byte is the most significant one of the number.
fn md5(parts: &[&[u8]]) -> u128 {
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    let mut block = [0_u8; 64];
    let (mut used, mut length) = (0, 0_u64);
    let mut add = |mut bytes: &[u8]| {
        while !bytes.is_empty() {
            if used == 0
                && let Some((whole, rest)) = bytes.split_first_chunk::<64>()
            {
                mix(&mut state, whole);
                bytes = rest;
                continue;
            }
            let count = bytes.len().min(64 - used);
            block[used..used + count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            used += count;
            if used == 64 {
                mix(&mut state, &block);
                used = 0;
            }
        }
        used
    };
    for part in parts {
        add(part);
        length = length.wrapping_add(part.len() as u64 * 8);
    }
    let mut used = add(&[0x80]);
    while used != 56 {
        used = add(&[0]);
    }
    add(&length.to_le_bytes());
    let [a, b, c, d] = state.map(|word| u128::from(word.swap_bytes()));
    a << 96 | b << 64 | c << 32 | d
}

fn mix(state: &mut [u32; 4], block: &[u8; 64]) {
    let mut words = [0_u32; 16];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (value, word) = match step / 16 {
            0 => (b & c | !b & d, step),
            1 => (d & b | !d & c, (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), 7 * step % 16),
        };
        let sum = a.wrapping_add(value).wrapping_add(SINES[step]).wrapping_add(words[word]);
        (a, d, c) = (d, c, b);
        b = b.wrapping_add(sum.rotate_left(SHIFTS[step / 16][step % 4]));
    }
    for (word, more) in state.iter_mut().zip([a, b, c, d]) {
        *word = word.wrapping_add(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        let of = |text: &str| format!("{:032x}", md5(&[text.as_bytes()]));
        assert_eq!(of(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(of("message digest"), "f96b697d7cb7938d525a2f31aaf161d0");
        assert_eq!(of("The quick brown fox jumps over the lazy dog"), "9e107d9d372bb6826bd81d3542a419d6");
        let digits = "12345678901234567890123456789012345678901234567890123456789012345678901234567890";
        assert_eq!(of(digits), "57edf4a22be3c955ac49da2e2107b67a");
        for cut in 0..digits.len() {
            let (one, other) = digits.split_at(cut);
            assert_eq!(md5(&[one.as_bytes(), other.as_bytes()]), md5(&[digits.as_bytes()]));
        }
    }

    #[test]
    fn owners_have_about_equally_many() {
        let mut counts = [0; 12];
        (0..12_000_u32).for_each(|number| counts[owner(digest(0, &number.to_le_bytes()), 12)] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
        let mut counts = [[0; 3]; 4];
        (0..12_000_u32).for_each(|number| {
            let digest = digest(0, &number.to_le_bytes());
            counts[owner(digest, 4)][receiver(digest, 4, 3)] += 1;
        });
        assert!(counts.iter().flatten().all(|count| (900..1100).contains(count)), "{counts:?}");
    }
}
