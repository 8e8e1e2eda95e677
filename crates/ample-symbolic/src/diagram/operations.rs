//! Boolean operations, quantification, and what can be asked of a function.

use std::collections::HashMap;

use num_bigint::BigUint;

use super::Maybe;
use super::core::{BOTTOM, Core, Edge, FALSE, TRUE};

const AND: u32 = 1;
const XOR: u32 = 2;
const EXISTS: u32 = 3;
const DISJOINT: u32 = 4;
const PRIMED: u32 = 5;

impl Core {
    pub fn and(&mut self, f: Edge, g: Edge) -> Maybe<Edge> {
        if f == g || g == TRUE {
            return Ok(f);
        }
        if f == TRUE {
            return Ok(g);
        }
        if f == FALSE || g == FALSE || f == g ^ 1 {
            return Ok(FALSE);
        }
        let (f, g) = if f < g { (f, g) } else { (g, f) };
        if let Some(known) = self.recall(AND, f, g) {
            return Ok(known);
        }
        self.look()?;
        let level = self.level(f).min(self.level(g));
        let ((f0, f1), (g0, g1)) = (self.cofactors(f, level), self.cofactors(g, level));
        let lo = self.and(f0, g0)?;
        let hi = self.and(f1, g1)?;
        let result = self.make(level, lo, hi)?;
        self.remember(AND, f, g, result);
        Ok(result)
    }

    pub fn or(&mut self, f: Edge, g: Edge) -> Maybe<Edge> {
        Ok(self.and(f ^ 1, g ^ 1)? ^ 1)
    }

    pub fn xor(&mut self, f: Edge, g: Edge) -> Maybe<Edge> {
        if f >> 1 == g >> 1 {
            return Ok(if f == g { FALSE } else { TRUE });
        }
        // The sign of the operands is the sign of the result.
        let sign = (f ^ g) & 1;
        let (f, g) = if f < g { (f & !1, g & !1) } else { (g & !1, f & !1) };
        if f == TRUE {
            return Ok(g ^ 1 ^ sign);
        }
        if let Some(known) = self.recall(XOR, f, g) {
            return Ok(known ^ sign);
        }
        self.look()?;
        let level = self.level(f).min(self.level(g));
        let ((f0, f1), (g0, g1)) = (self.cofactors(f, level), self.cofactors(g, level));
        let lo = self.xor(f0, g0)?;
        let hi = self.xor(f1, g1)?;
        let result = self.make(level, lo, hi)?;
        self.remember(XOR, f, g, result);
        Ok(result ^ sign)
    }

    pub fn exists(&mut self, f: Edge, cube: Edge) -> Maybe<Edge> {
        let level = self.level(f);
        let mut cube = cube;
        while self.level(cube) < level {
            cube = self.table.nodes[(cube >> 1) as usize].hi;
        }
        if level == BOTTOM || cube == TRUE {
            return Ok(f);
        }
        if let Some(known) = self.recall(EXISTS, f, cube) {
            return Ok(known);
        }
        self.look()?;
        let (f0, f1) = self.cofactors(f, level);
        let result = if self.level(cube) == level {
            let rest = self.table.nodes[(cube >> 1) as usize].hi;
            match self.exists(f0, rest)? {
                TRUE => TRUE,
                lo => {
                    let hi = self.exists(f1, rest)?;
                    self.or(lo, hi)?
                }
            }
        } else {
            let lo = self.exists(f0, cube)?;
            let hi = self.exists(f1, cube)?;
            self.make(level, lo, hi)?
        };
        self.remember(EXISTS, f, cube, result);
        Ok(result)
    }

    pub fn is_disjoint(&mut self, f: Edge, g: Edge) -> Maybe<bool> {
        if f == FALSE || g == FALSE || f == g ^ 1 {
            return Ok(true);
        }
        if f == g || f == TRUE || g == TRUE {
            return Ok(false);
        }
        let (f, g) = if f < g { (f, g) } else { (g, f) };
        if let Some(known) = self.recall(AND, f, g) {
            return Ok(known == FALSE);
        }
        if let Some(known) = self.recall(DISJOINT, f, g) {
            return Ok(known == TRUE);
        }
        self.look()?;
        let level = self.level(f).min(self.level(g));
        let ((f0, f1), (g0, g1)) = (self.cofactors(f, level), self.cofactors(g, level));
        let result = self.is_disjoint(f0, g0)? && self.is_disjoint(f1, g1)?;
        self.remember(DISJOINT, f, g, if result { TRUE } else { FALSE });
        Ok(result)
    }

    /// Every bit replaced by its partner in the next state. The function must speak of the state now only.
    pub fn primed(&mut self, f: Edge) -> Maybe<Edge> {
        if f >> 1 == 0 {
            return Ok(f);
        }
        if let Some(known) = self.recall(PRIMED, f, f) {
            return Ok(known);
        }
        self.look()?;
        let level = self.level(f);
        let (f0, f1) = self.cofactors(f, level);
        let lo = self.primed(f0)?;
        let hi = self.primed(f1)?;
        let result = self.make(level | 1, lo, hi)?;
        self.remember(PRIMED, f, f, result);
        Ok(result)
    }

    pub fn nodes_of(&self, roots: &[Edge]) -> usize {
        let mut seen = std::collections::HashSet::new();
        let mut stack: Vec<u32> = roots.iter().map(|edge| edge >> 1).collect();
        while let Some(number) = stack.pop() {
            if number != 0 && seen.insert(number) {
                let node = &self.table.nodes[number as usize];
                stack.extend([node.lo >> 1, node.hi >> 1]);
            }
        }
        seen.len()
    }

    /// The number of states, that is, of values of the bits now, for which it holds.
    pub fn count(&self, f: Edge) -> BigUint {
        let mut known = HashMap::new();
        let pairs = self.order.len() as u32;
        let position = |edge: Edge| if edge >> 1 == 0 { pairs } else { self.level(edge) / 2 };
        self.count_below(f, pairs, &mut known) << position(f)
    }

    /// The number of values of the pairs from its root's on.
    fn count_below(&self, f: Edge, pairs: u32, known: &mut HashMap<Edge, BigUint>) -> BigUint {
        match f {
            TRUE => return BigUint::from(1u8),
            FALSE => return BigUint::ZERO,
            _ => {}
        }
        if let Some(count) = known.get(&f) {
            return count.clone();
        }
        let here = self.level(f) / 2;
        let mut sum = BigUint::ZERO;
        for child in <[Edge; 2]>::from(self.cofactors(f, self.level(f))) {
            let below = if child >> 1 == 0 { pairs } else { self.level(child) / 2 };
            sum += self.count_below(child, pairs, known) << (below - here - 1);
        }
        known.insert(f, sum.clone());
        sum
    }

    pub fn evaluate(&self, f: Edge, value: &dyn Fn(u32, bool) -> bool) -> bool {
        let mut at = f;
        while at >> 1 != 0 {
            let level = self.level(at);
            let (lo, hi) = self.cofactors(at, level);
            at = if value(self.order[level as usize / 2], level % 2 == 1) { hi } else { lo };
        }
        at == TRUE
    }

    pub fn support(&self, f: Edge) -> Vec<u32> {
        let mut pairs = std::collections::BTreeSet::new();
        let mut seen = std::collections::HashSet::new();
        let mut stack = vec![f >> 1];
        while let Some(number) = stack.pop() {
            if number != 0 && seen.insert(number) {
                let node = &self.table.nodes[number as usize];
                pairs.insert(self.order[node.level as usize / 2]);
                stack.extend([node.lo >> 1, node.hi >> 1]);
            }
        }
        pairs.into_iter().collect()
    }

    pub fn pick(&self, f: Edge) -> Option<Vec<bool>> {
        if f == FALSE {
            return None;
        }
        let mut state = vec![false; self.order.len()];
        let mut at = f;
        while at >> 1 != 0 {
            let level = self.level(at);
            let (lo, hi) = self.cofactors(at, level);
            state[self.order[level as usize / 2] as usize] = lo == FALSE;
            at = if lo == FALSE { hi } else { lo };
        }
        Some(state)
    }

    pub fn only(&mut self, state: &[bool]) -> Maybe<Edge> {
        let mut edge = TRUE;
        for position in (0..self.order.len()).rev() {
            let value = state[self.order[position] as usize];
            let (lo, hi) = if value { (FALSE, edge) } else { (edge, FALSE) };
            edge = self.make(position as u32 * 2, lo, hi)?;
        }
        Ok(edge)
    }
}
