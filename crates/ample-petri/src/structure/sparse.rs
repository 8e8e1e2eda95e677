//! Sparse vectors of integers, sorted by position, without zeros. Whatever does not fit into 64 bits is `None`.

pub(crate) type Sparse = Vec<(u32, i64)>;

pub(crate) fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}

/// The greatest number that divides `start` and all entries; stops as soon as it is 1.
pub(crate) fn common_divisor(start: u64, terms: &[(u32, i64)]) -> u64 {
    let mut common = start;
    for (_, factor) in terms {
        if common == 1 {
            break;
        }
        common = gcd(common, factor.unsigned_abs());
    }
    common
}

/// Divides all entries by a number that divides them.
pub(crate) fn divide(terms: &mut [(u32, i64)], by: u64) {
    if let (2.., Ok(by)) = (by, i64::try_from(by)) {
        terms.iter_mut().for_each(|term| term.1 /= by);
    }
}

/// `left · by + right · times`
pub(crate) fn combine(left: &[(u32, i64)], by: i64, right: &[(u32, i64)], times: i64) -> Option<Sparse> {
    let mut sum = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        let from_left = left.get(i).map_or(u32::MAX, |term| term.0);
        let from_right = right.get(j).map_or(u32::MAX, |term| term.0);
        let at = from_left.min(from_right);
        let mut value = 0i64;
        if from_left == at && i < left.len() {
            value = left[i].1.checked_mul(by)?;
            i += 1;
        }
        if from_right == at && j < right.len() {
            value = value.checked_add(right[j].1.checked_mul(times)?)?;
            j += 1;
        }
        if value != 0 {
            sum.push((at, value));
        }
    }
    Some(sum)
}

/// The entry at a position, 0 if there is none.
pub(crate) fn at(terms: &[(u32, i64)], position: u32) -> i64 {
    terms.binary_search_by_key(&position, |term| term.0).map_or(0, |index| terms[index].1)
}

/// Sorted, entries of the same position added up, zeros left out.
pub(crate) fn collected(mut parts: Vec<(u32, i128)>) -> Option<Vec<(u32, i128)>> {
    parts.sort_unstable_by_key(|part| part.0);
    let mut kept: Vec<(u32, i128)> = Vec::with_capacity(parts.len());
    for (position, value) in parts {
        match kept.last_mut() {
            Some(last) if last.0 == position => last.1 = last.1.checked_add(value)?,
            _ => kept.push((position, value)),
        }
    }
    kept.retain(|part| part.1 != 0);
    Some(kept)
}
