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
const AND_EXISTS: u32 = 6;
const UNPRIMED: u32 = 7;
const RESTRICT: u32 = 12;

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

    /// The relational product: `∃ cube. f ∧ g`, without the conjunction.
    pub fn and_exists(&mut self, f: Edge, g: Edge, cube: Edge) -> Maybe<Edge> {
        if f == FALSE || g == FALSE || f == g ^ 1 {
            return Ok(FALSE);
        }
        if f == TRUE || f == g {
            return self.exists(g, cube);
        }
        if g == TRUE {
            return self.exists(f, cube);
        }
        let (f, g) = if f < g { (f, g) } else { (g, f) };
        let level = self.level(f).min(self.level(g));
        let mut cube = cube;
        while self.level(cube) < level {
            cube = self.table.nodes[(cube >> 1) as usize].hi;
        }
        if cube == TRUE {
            return self.and(f, g);
        }
        if let Some(known) = self.recall3(AND_EXISTS, f, g, cube) {
            return Ok(known);
        }
        self.look()?;
        let ((f0, f1), (g0, g1)) = (self.cofactors(f, level), self.cofactors(g, level));
        let result = if self.level(cube) == level {
            let rest = self.table.nodes[(cube >> 1) as usize].hi;
            let lo = self.and_exists(f0, g0, rest)?;
            // What does not depend on the rest of the cube contains every conjunction with it.
            if lo == TRUE || lo == f1 || lo == g1 {
                lo
            } else {
                let hi = self.and_exists(f1, g1, rest)?;
                self.or(lo, hi)?
            }
        } else {
            let lo = self.and_exists(f0, g0, cube)?;
            let hi = self.and_exists(f1, g1, cube)?;
            self.make(level, lo, hi)?
        };
        self.remember3(AND_EXISTS, f, g, cube, result);
        Ok(result)
    }

    /// A function that is equal to `f` where `care` holds, and smaller if it can be (O. Coudert and J. C. Madre's restrict).
    pub fn restrict(&mut self, f: Edge, care: Edge) -> Maybe<Edge> {
        if care == TRUE || care == FALSE || f >> 1 == 0 {
            return Ok(f);
        }
        if f >> 1 == care >> 1 {
            return Ok(if f == care { TRUE } else { FALSE });
        }
        // The sign of the function is the sign of the result.
        let (sign, f) = (f & 1, f & !1);
        if let Some(known) = self.recall(RESTRICT, f, care) {
            return Ok(known ^ sign);
        }
        self.look()?;
        let level = self.level(care);
        let (c0, c1) = self.cofactors(care, level);
        let result = if level < self.level(f) {
            let either = self.or(c0, c1)?;
            self.restrict(f, either)?
        } else {
            let level = self.level(f);
            let (f0, f1) = self.cofactors(f, level);
            let (c0, c1) = self.cofactors(care, level);
            if c0 == FALSE {
                self.restrict(f1, c1)?
            } else if c1 == FALSE {
                self.restrict(f0, c0)?
            } else {
                let lo = self.restrict(f0, c0)?;
                let hi = self.restrict(f1, c1)?;
                self.make(level, lo, hi)?
            }
        };
        self.remember(RESTRICT, f, care, result);
        Ok(result ^ sign)
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

    /// Every bit of the next state replaced by its partner now. The function must speak of the next state only.
    pub fn unprimed(&mut self, f: Edge) -> Maybe<Edge> {
        if f >> 1 == 0 {
            return Ok(f);
        }
        if let Some(known) = self.recall(UNPRIMED, f, f) {
            return Ok(known);
        }
        self.look()?;
        let level = self.level(f);
        let (f0, f1) = self.cofactors(f, level);
        let lo = self.unprimed(f0)?;
        let hi = self.unprimed(f1)?;
        let result = self.make(level & !1, lo, hi)?;
        self.remember(UNPRIMED, f, f, result);
        Ok(result)
    }

    pub fn nodes_of(&self, roots: &[Edge]) -> usize {
        let mut nodes = 0;
        self.visit(roots.iter().copied(), |_| nodes += 1);
        nodes
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
        let pairs: std::collections::BTreeSet<u32> = self.literals(f).into_iter().map(|(pair, _)| pair).collect();
        pairs.into_iter().collect()
    }

    /// The variables that it depends on: pairs, and whether the bit is that of the next state.
    pub fn literals(&self, f: Edge) -> Vec<(u32, bool)> {
        let mut found = vec![false; self.order.len() * 2];
        self.visit([f], |node| found[node.level as usize] = true);
        let levels = (0..found.len()).filter(|level| found[*level]);
        levels.map(|level| (self.order[level / 2], level % 2 == 1)).collect()
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

    /// Values of the bits now and of those of the next state with which it holds.
    pub fn pick_step(&self, f: Edge) -> Option<[Vec<bool>; 2]> {
        self.pick_step_with(f, &mut || false)
    }

    /// The same, with `coin` for values that there is a choice of.
    pub fn pick_step_with(&self, f: Edge, coin: &mut dyn FnMut() -> bool) -> Option<[Vec<bool>; 2]> {
        if f == FALSE {
            return None;
        }
        let mut values = || self.order.iter().map(|_| coin()).collect::<Vec<bool>>();
        let mut step = [values(), values()];
        let mut at = f;
        while at >> 1 != 0 {
            let level = self.level(at);
            let (lo, hi) = self.cofactors(at, level);
            let value = &mut step[level as usize % 2][self.order[level as usize / 2] as usize];
            *value = lo == FALSE || hi != FALSE && *value;
            at = if *value { hi } else { lo };
        }
        Some(step)
    }

    pub fn only(&mut self, state: &[bool]) -> Maybe<Edge> {
        let mut edge = TRUE;
        for position in (0..self.order.len()).rev() {
            let Some(value) = state.get(self.order[position] as usize).copied() else { continue };
            let (lo, hi) = if value { (FALSE, edge) } else { (edge, FALSE) };
            edge = self.make(position as u32 * 2, lo, hi)?;
        }
        Ok(edge)
    }
}
