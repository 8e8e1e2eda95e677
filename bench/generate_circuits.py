#!/usr/bin/env python3
"""Writes families of circuits in AIGER's binary form, one bad state each, for `bench/circuits.py`.

    bench/generate_circuits.py FOLDER

The families: shift registers with parity, counters with limits, pairs of counters, two implementations of a FIFO, arbiters with
a token, multipliers with exchanged operands, locks with a code, pipelined adders, token rings with a constraint on inputs, Gray
counters beside binary ones, state machines in two encodings, and random logic.
"""
import pathlib
import random
import sys


class Aig:
    """An and-inverter graph; literals are even numbers, complements odd ones, 0 is false."""

    def __init__(self):
        self.variables, self.inputs, self.latches, self.gates = 0, [], {}, []
        self.known = {}

    def _variable(self):
        self.variables += 1
        return 2 * self.variables

    def input(self):
        self.inputs.append(self._variable())
        return self.inputs[-1]

    def inputs_of(self, width):
        return [self.input() for _ in range(width)]

    def register(self, width, value=0):
        """Latches that start with the bits of a value; their next values are given by `drive`."""
        bits = [self._variable() for _ in range(width)]
        for place, bit in enumerate(bits):
            self.latches[bit] = [0, value >> place & 1]
        return bits

    def drive(self, bits, values):
        for bit, value in zip(bits, values):
            self.latches[bit][0] = value

    def and_(self, x, y):
        x, y = min(x, y), max(x, y)
        if x == 0 or x == y ^ 1:
            return 0
        if x == 1 or x == y:
            return y
        if (x, y) not in self.known:
            self.known[x, y] = self._variable()
            self.gates.append((self.known[x, y], y, x))
        return self.known[x, y]

    def or_(self, x, y):
        return self.and_(x ^ 1, y ^ 1) ^ 1

    def xor(self, x, y):
        return self.or_(self.and_(x, y ^ 1), self.and_(x ^ 1, y))

    def all(self, literals):
        result = 1
        for literal in literals:
            result = self.and_(result, literal)
        return result

    def any(self, literals):
        return self.all(literal ^ 1 for literal in literals) ^ 1

    def two_of(self, literals):
        return self.any(self.and_(x, y) for place, x in enumerate(literals) for y in literals[:place])

    def choose(self, condition, then, otherwise):
        return [self.or_(self.and_(condition, x), self.and_(condition ^ 1, y)) for x, y in zip(then, otherwise)]

    def add(self, xs, ys, carry=0):
        total = []
        for x, y in zip(xs, ys):
            either = self.xor(x, y)
            total.append(self.xor(either, carry))
            carry = self.or_(self.and_(x, y), self.and_(either, carry))
        return total, carry

    def plus(self, xs, value):
        return self.add(xs, constant(value, len(xs)))[0]

    def equal(self, xs, ys):
        return self.all(self.xor(x, y) ^ 1 for x, y in zip(xs, ys))

    def is_(self, xs, value):
        return self.equal(xs, constant(value, len(xs)))

    def less(self, xs, ys):
        result = 0
        for x, y in zip(xs, ys):
            result = self.or_(self.and_(x ^ 1, y), self.and_(self.xor(x, y) ^ 1, result))
        return result

    def binary(self, bad, constraints=()):
        """The file, with inputs, latches and gates numbered in this order."""
        order = [*self.inputs, *self.latches, *(gate for gate, _, _ in self.gates)]
        number = {0: 0, **{old: 2 * place for place, old in enumerate(order, 1)}}

        def literal(old):
            return number[old & ~1] | old & 1

        counts = [len(order), len(self.inputs), len(self.latches), 0, len(self.gates), 1]
        counts += [len(constraints)] if constraints else []
        lines = ["aig " + " ".join(map(str, counts))]
        lines += [f"{literal(after)} {value}" for after, value in self.latches.values()]
        lines += [str(literal(one)) for one in (bad, *constraints)]
        out = bytearray("\n".join([*lines, ""]).encode())
        for gate, x, y in self.gates:
            own, high, low = literal(gate), max(literal(x), literal(y)), min(literal(x), literal(y))
            for difference in (own - high, high - low):
                while difference > 127:
                    out.append(difference & 127 | 128)
                    difference >>= 7
                out.append(difference)
        return bytes(out)


def constant(value, width):
    return [value >> place & 1 for place in range(width)]


def parity(length):
    """The parity of a shift register, kept beside it."""
    aig = Aig()
    data, enable = aig.inputs_of(2)
    shift, kept = aig.register(length), aig.register(1)
    aig.drive(shift, aig.choose(enable, [data, *shift[:-1]], shift))
    aig.drive(kept, aig.choose(enable, [aig.xor(kept[0], aig.xor(data, shift[-1]))], kept))
    computed = 0
    for bit in shift:
        computed = aig.xor(computed, bit)
    return aig, aig.xor(computed, kept[0])


def counter(width, limit, bad):
    """A counter that stops at a limit, and can be cleared."""
    aig = Aig()
    enable, clear = aig.inputs_of(2)
    count = aig.register(width)
    counts = aig.and_(enable, aig.is_(count, limit) ^ 1)
    aig.drive(count, [aig.and_(bit, clear ^ 1) for bit in aig.choose(counts, aig.plus(count, 1), count)])
    return aig, aig.is_(count, bad)


def pair(width):
    """Two counters whose difference is limited by a third."""
    aig = Aig()
    up, down = aig.inputs_of(2)
    first, second, difference = aig.register(width), aig.register(width), aig.register(5)
    up, down = aig.and_(up, aig.is_(difference, 16) ^ 1), aig.and_(down, aig.is_(difference, 0) ^ 1)
    aig.drive(first, aig.choose(up, aig.plus(first, 1), first))
    aig.drive(second, aig.choose(down, aig.plus(second, 1), second))
    after = aig.choose(up, aig.plus(difference, 1), difference)
    aig.drive(difference, aig.choose(down, aig.plus(after, 31), after))
    computed, _ = aig.add(first, [bit ^ 1 for bit in second], 1)
    return aig, aig.or_(aig.less(constant(16, width), computed), aig.xor(computed[0], difference[0]))


def fifo(address, width):
    """A circular buffer beside a shift register."""
    aig, size = Aig(), 1 << address
    push, pop = aig.inputs_of(2)
    data = aig.inputs_of(width)
    memory, read, write = [aig.register(width) for _ in range(size)], aig.register(address), aig.register(address)
    shift = [aig.register(width) for _ in range(size)]
    counts = [aig.register(address + 1) for _ in range(2)]
    pushes, pops = [], []
    for count in counts:
        pushes.append(aig.and_(push, aig.is_(count, size) ^ 1))
        pops.append(aig.and_(pop, aig.is_(count, 0) ^ 1))
        after = aig.choose(pushes[-1], aig.plus(count, 1), count)
        aig.drive(count, aig.choose(pops[-1], aig.plus(after, 2 * size - 1), after))
    for place in range(size):
        here = aig.and_(pushes[0], aig.is_(write, place))
        aig.drive(memory[place], aig.choose(here, data, memory[place]))
    aig.drive(write, aig.choose(pushes[0], aig.plus(write, 1), write))
    aig.drive(read, aig.choose(pops[0], aig.plus(read, 1), read))
    end = aig.choose(pops[1], aig.plus(counts[1], 2 * size - 1), counts[1])
    for place in range(size):
        behind = shift[place + 1] if place + 1 < size else constant(0, width)
        moved = aig.choose(pops[1], behind, shift[place])
        aig.drive(shift[place], aig.choose(aig.and_(pushes[1], aig.is_(end, place)), data, moved))
    shown = constant(0, width)
    for place in range(size):
        shown = aig.choose(aig.is_(read, place), memory[place], shown)
    return aig, aig.and_(aig.is_(counts[0], 0) ^ 1, aig.equal(shown, shift[0]) ^ 1)


def arbiter(size):
    """Grants to who asks and has the token, which goes round."""
    aig = Aig()
    requests = aig.inputs_of(size)
    token, grants, held = aig.register(size, 1), aig.register(size), aig.register(size)
    aig.drive(token, [token[-1], *token[:-1]])
    aig.drive(held, [aig.and_(r, aig.or_(h, t)) for r, h, t in zip(requests, held, token)])
    others = [aig.any(grants[:place] + grants[place + 1:]) for place in range(size)]
    aig.drive(grants, [aig.all([h, t, o ^ 1]) for h, t, o in zip(held, token, others)])
    return aig, aig.two_of(grants)


def multiplier(width):
    """Two sequential multipliers, with the operands exchanged."""
    aig = Aig()
    start, x, y = aig.input(), aig.inputs_of(width), aig.inputs_of(width)
    count = aig.register(width.bit_length() + 1)
    idle = aig.is_(count, 0)
    begins, products = aig.and_(start, idle), []
    for one, other in ((x, y), (y, x)):
        left, right, product = aig.register(2 * width), aig.register(width), aig.register(2 * width)
        total, _ = aig.add(product, [aig.and_(bit, right[0]) for bit in left])
        aig.drive(left, aig.choose(begins, one + constant(0, width), [0, *left[:-1]]))
        aig.drive(right, aig.choose(begins, other, [*right[1:], 0]))
        aig.drive(product, aig.choose(begins, constant(0, 2 * width), aig.choose(idle, product, total)))
        products.append(product)
    less = aig.choose(idle, count, aig.plus(count, 2 ** len(count) - 1))
    aig.drive(count, aig.choose(begins, constant(width, len(count)), less))
    return aig, aig.and_(idle, aig.equal(*products) ^ 1)


def lock(length, width):
    """It opens after a sequence of codes; a wrong one begins anew."""
    aig, numbers = Aig(), random.Random(length * 100 + width)
    code, place = aig.inputs_of(width), aig.register(length.bit_length())
    right = [aig.and_(aig.is_(place, step), aig.is_(code, numbers.randrange(1 << width))) for step in range(length)]
    aig.drive(place, aig.choose(aig.any(right), aig.plus(place, 1), constant(0, len(place))))
    return aig, aig.is_(place, length)


def pipeline(width, part):
    """An adder in stages beside one whose sum is delayed."""
    aig = Aig()
    valid, x, y = aig.input(), aig.inputs_of(width), aig.inputs_of(width)
    delayed, _ = aig.add(x, y)
    total, carry, xs, ys = [], 0, x, y
    while xs:
        low, carry = aig.add(xs[:part], ys[:part], carry)
        stage = [*total, *low, carry, valid, *xs[part:], *ys[part:]]
        kept, done = aig.register(len(stage)), len(total) + len(low)
        aig.drive(kept, stage)
        total, carry, valid = kept[:done], kept[done], kept[done + 1]
        rest = kept[done + 2:]
        xs, ys = rest[:len(rest) // 2], rest[len(rest) // 2:]
        after = aig.register(width)
        aig.drive(after, delayed)
        delayed = after
    return aig, aig.and_(valid, aig.equal(total, delayed) ^ 1)


def ring(size):
    """A token ring, in which neighbours do not ask at the same time."""
    aig = Aig()
    requests, moves = aig.inputs_of(size), aig.input()
    token, critical = aig.register(size, 1), aig.register(size)
    enters = [aig.or_(c, aig.and_(r, t)) for c, r, t in zip(critical, requests, token)]
    aig.drive(critical, [aig.and_(e, aig.or_(r, moves ^ 1)) for e, r in zip(enters, requests)])
    leaves = [aig.all([moves, t, e ^ 1]) for t, e in zip(token, enters)]
    aig.drive(token, [aig.or_(leaves[place - 1], aig.and_(token[place], leaves[place] ^ 1)) for place in range(size)])
    together = aig.any(aig.and_(requests[place], requests[place - 1]) for place in range(size))
    return aig, aig.two_of(critical), [together ^ 1]


def gray(width):
    """A Gray counter beside a binary one."""
    aig = Aig()
    enable, binary, code = aig.input(), aig.register(width), aig.register(width)

    def coded(bits):
        return [aig.xor(x, y) for x, y in zip(bits, [*bits[1:], 0])]

    decoded, above = [], 0
    for bit in reversed(code):
        above = aig.xor(above, bit)
        decoded.insert(0, above)
    aig.drive(binary, aig.choose(enable, aig.plus(binary, 1), binary))
    aig.drive(code, coded(aig.choose(enable, aig.plus(decoded, 1), decoded)))
    return aig, aig.equal(code, coded(binary)) ^ 1


def one_hot(states):
    """A random state machine, with a bit for each state and with numbers."""
    aig, numbers = Aig(), random.Random(states)
    select = aig.inputs_of(2)
    letters = [aig.is_(select, letter) for letter in range(4)]
    hot, code = aig.register(states, 1), aig.register((states - 1).bit_length())
    targets = [[numbers.randrange(states) for _ in letters] for _ in range(states)]
    for bits, at in ((hot, hot), (code, [aig.is_(code, state) for state in range(states)])):
        after = [0] * len(bits)
        for state, row in enumerate(targets):
            for letter, target in zip(letters, row):
                taken = aig.and_(at[state], letter)
                entered = [target] if bits is hot else [place for place in range(len(code)) if target >> place & 1]
                for place in entered:
                    after[place] = aig.or_(after[place], taken)
        aig.drive(bits, after)
    return aig, aig.any(aig.and_(hot[state], aig.is_(code, state) ^ 1) for state in range(states))


def noise(seed, latches, gates):
    """Random logic, and a conjunction of a few latches."""
    aig, numbers = Aig(), random.Random(seed)
    state = aig.register(latches, numbers.getrandbits(latches))
    nodes = aig.inputs_of(6 + seed % 7) + state
    for _ in range(gates):
        x, y = numbers.choice(nodes[-60:] if numbers.random() < 0.6 else nodes), numbers.choice(nodes)
        signs = numbers.getrandbits(2)
        nodes.append(aig.and_(x ^ signs & 1, y ^ signs >> 1) if numbers.random() < 0.7 else aig.xor(x, y))
    aig.drive(state, [numbers.choice(nodes[-gates:]) ^ numbers.getrandbits(1) for _ in state])
    return aig, aig.all(numbers.choice(state) ^ numbers.getrandbits(1) for _ in range(5))


FAMILIES = {
    parity: [(8,), (16,), (32,), (64,)],
    counter: [(6, 50, 60), (8, 200, 250), (12, 3000, 4000), (8, 200, 150), (10, 600, 599)],
    pair: [(8,), (12,), (16,)],
    fifo: [(1, 4), (2, 2), (2, 4), (2, 8), (3, 2), (3, 8)],
    arbiter: [(4,), (8,), (16,), (32,), (64,)],
    multiplier: [(3,), (4,), (5,), (6,)],
    lock: [(10, 4), (20, 8), (40, 8), (100, 8)],
    pipeline: [(8, 2), (16, 4), (24, 4), (32, 8), (64, 8)],
    ring: [(4,), (8,), (12,), (20,), (48,)],
    gray: [(6,), (8,), (10,), (14,), (20,)],
    one_hot: [(10,), (20,), (40,), (60,), (150,)],
    noise: [(seed, 20 + 3 * seed, 150 + 40 * seed) for seed in range(24)],
}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for family, sizes in FAMILIES.items():
        for size in sizes:
            aig, *properties = family(*size)
            name = "_".join([family.__name__, *map(str, size)])
            (folder / f"{name}.aig").write_bytes(aig.binary(*properties))


if __name__ == "__main__":
    main()
