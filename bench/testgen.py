#!/usr/bin/env python3
"""Test generation and CTL with static and with dynamic transition relations: tables 4.1 and 4.2 of K. Yorav's thesis, again.

    bench/testgen.py [--ample PATH] [--corpus FOLDER] [--smv FOLDER] [--memory SIZE] [--limit SECONDS] [--only TEXT]
                     [--tables 1,2,3,4] [--methods monolithic,static,dynamic]

The designs of the thesis are not public. Table 1 has circuits of local dependency, which are made here (pipelines, a bus with
devices, rings of nodes, queues). Each is given a sequence of targets, and `ample testgen` looks for inputs by three methods: one
diagram for the whole relation (as in the thesis), the whole relation in clusters, dynamic relations. Table 3 has published circuits
(a FOLDER with `iscas89` and `mcnc`): a random simulation finds the combination of values of some latches that occurs last for the
first time, which is the target. Table 4 has larger circuits of the families, without reordering and with 4 GB (unless `--memory`
says otherwise): which methods are complete? Table 2 checks CTL by the symbolic engine, `--relations static` and `dynamic`, each
within the reachable states and over all (`--reach none`); `--smv` adds the models of a FOLDER. Time is CPU time of the process,
memory its peak; `time` or `memory` in the place of a time is the limit that was reached.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from generate_circuits import Aig, arbiter, constant, fifo  # noqa: E402


def text(aig, outputs):
    """The circuit as AIGER text, with names for its outputs."""
    order = [*aig.inputs, *aig.latches, *(gate for gate, _, _ in aig.gates)]
    number = {0: 0, **{old: 2 * place for place, old in enumerate(order, 1)}}

    def literal(old):
        return number[old & ~1] | old & 1

    lines = [f"aag {len(order)} {len(aig.inputs)} {len(aig.latches)} {len(outputs)} {len(aig.gates)}"]
    lines += [str(literal(one)) for one in aig.inputs]
    lines += [f"{literal(latch)} {literal(after)} {value}" for latch, (after, value) in aig.latches.items()]
    lines += [str(literal(one)) for one in outputs.values()]
    lines += [f"{literal(gate)} {max(literal(x), literal(y))} {min(literal(x), literal(y))}" for gate, x, y in aig.gates]
    lines += [f"o{place} {name}" for place, name in enumerate(outputs)]
    return "\n".join([*lines, ""])


def product(aig, xs, ys):
    """The lower half of a product."""
    total = constant(0, len(xs))
    for place, y in enumerate(ys):
        total, _ = aig.add(total, [*constant(0, place), *(aig.and_(x, y) for x in xs[:len(xs) - place])])
    return total


def bus(devices, width):
    """Devices ask for a bus; who has it sends its data, and each device mixes what it has with what it receives."""
    aig = Aig()
    ask, data = aig.inputs_of(devices), aig.inputs_of(width)
    token, grant = aig.register(devices, 1), aig.register(devices)
    kept = [aig.register(width) for _ in range(devices)]
    aig.drive(token, [token[-1], *token[:-1]])
    aig.drive(grant, [aig.and_(a, t) for a, t in zip(ask, token)])
    lines = constant(0, width)
    for has, values in zip(grant, kept):
        lines = [aig.or_(line, aig.and_(has, value)) for line, value in zip(lines, values)]
    for place, values in enumerate(kept):
        mixed = product(aig, [aig.or_(line, one) for line, one in zip(lines, data)], values[::-1])
        aig.drive(values, aig.choose(ask[place], [aig.xor(one, other) for one, other in zip(mixed, data)], values))
    # The last device has the bus, and then the first one.
    return aig, {"last": grant[-1], "first": grant[0]}, ["last", "first"]


def stages(count, width):
    """A pipeline with a multiplication in each stage, and an answer from the last one that decides what the first one takes."""
    aig = Aig()
    valid, xs = aig.input(), aig.inputs_of(width)
    registers = [aig.register(width) for _ in range(count)]
    flags = aig.register(count)
    back = registers[-1]
    first = [aig.xor(x, aig.and_(flags[-1], b)) for x, b in zip(xs, back)]
    for place, register in enumerate(registers):
        before = first if place == 0 else product(aig, registers[place - 1], registers[place - 1][::-1])
        aig.drive(register, [aig.xor(one, x) for one, x in zip(before, xs)] if place else first)
    aig.drive(flags, [valid, *flags[:-1]])
    outputs = {"filled": aig.all(flags[:4]), "pattern": aig.is_(registers[1], 5), "first": aig.is_(registers[0], 3)}
    return aig, outputs, ["first", "filled && pattern"]


def ring(nodes, width, seed):
    """Nodes that each read their own register, their neighbour's, and that of a node far away."""
    numbers, aig = random.Random(seed), Aig()
    inputs = [aig.input() for _ in range(nodes)]
    registers = [aig.register(width) for _ in range(nodes)]
    for place, register in enumerate(registers):
        near, far = registers[place - 1], registers[numbers.randrange(nodes)]
        mixed = [aig.xor(aig.and_(near[bit], far[(bit + 1) % width]), register[(bit + 1) % width]) for bit in range(width)]
        aig.drive(register, [aig.xor(mixed[0], inputs[place]), *mixed[1:]])
    outputs = {"a": aig.any(registers[0]), "b": aig.and_(registers[0][0], registers[1][0]), "c": registers[2][0]}
    return aig, outputs, ["a", "b", "c && !a"]


def queue(address, width):
    """The buffer beside a shift register, which has to fill up."""
    aig, bad = fifo(address, width)
    # The first two latches of the last registers are the counts: full is the highest bit of the first one.
    counts = list(aig.latches)[-2 * (address + 1):]
    full, busy = counts[address], aig.any(counts[:address + 1])
    return aig, {"full": full, "busy": busy, "bad": bad}, ["busy && !full", "full"]


def tokens(size):
    """Grants in turn."""
    aig, _ = arbiter(size)
    grants = list(aig.latches)[size:2 * size]
    return aig, {"one": grants[size // 2], "other": grants[size // 2 + 1]}, ["one", "other"]


FAMILIES = {
    "bus": [(bus, (3, 3)), (bus, (4, 4)), (bus, (6, 10)), (bus, (8, 16))],
    "stages": [(stages, (4, 3)), (stages, (4, 5)), (stages, (8, 12)), (stages, (12, 16))],
    "ring": [(ring, (6, 2, 1)), (ring, (12, 2, 1)), (ring, (40, 3, 3)), (ring, (200, 3, 5))],
    "queue": [(queue, (2, 2)), (queue, (3, 4)), (queue, (4, 8))],
    "tokens": [(tokens, (8,)), (tokens, (32,)), (tokens, (64,))],
}

# Of local dependency, and too large for one diagram in 4 GB.
LARGE = [
    (queue, (4, 8)), (queue, (5, 4)), (queue, (5, 8)), (ring, (150, 3, 8)), (ring, (200, 3, 5)), (ring, (300, 3, 6)), (queue, (4, 12)),
    (bus, (4, 32)),
]

# Published circuits; how many latches, chosen at random, a target is about, and how many cycles.
PUBLISHED = [
    ("iscas89/s344.bench", 6, 2), ("iscas89/s349.bench", 10, 1), ("iscas89/s382.bench", 8, 3),
    ("iscas89/s400.bench", 10, 1), ("iscas89/s420.1.bench", 10, 1), ("iscas89/s444.bench", 6, 5), ("iscas89/s713.bench", 5, 3),
    ("iscas89/s820.bench", 5, 2), ("iscas89/s838.1.bench", 10, 1), ("iscas89/s1238.bench", 8, 3), ("iscas89/s1494.bench", 6, 4),
    ("mcnc/keyb.blif", 5, 2), ("mcnc/mm4a.blif", 6, 2), ("mcnc/mm9a.blif", 5, 2), ("mcnc/mult32a.blif", 8, 3), ("mcnc/planet.blif", 6, 4),
    ("mcnc/sse.blif", 4, 3), ("mcnc/tbk.blif", 5, 2),
]


class Netlist:
    """A circuit in the BENCH format or in BLIF, to be simulated."""

    def __init__(self, file):
        self.inputs, self.latches, self.gates = [], {}, {}
        (self.bench if file.suffix == ".bench" else self.blif)(file.read_text())

    def bench(self, text):
        for line in text.splitlines():
            line = line.split("#")[0].replace(" ", "")
            if line.startswith("INPUT("):
                self.inputs.append(line[6:-1])
            elif "=" in line:
                name, (kind, operands) = line.split("=")[0], line.split("=")[1].rstrip(")").split("(")
                operands = operands.split(",")
                if kind.upper() == "DFF":
                    self.latches[name] = (operands[0], False)
                else:
                    self.gates[name] = (kind.upper(), operands)

    def blif(self, text):
        cover = None
        for line in text.replace("\\\n", " ").splitlines():
            words = line.split("#")[0].split()
            if not words:
                continue
            if words[0] == ".inputs":
                self.inputs += words[1:]
            elif words[0] == ".latch":
                self.latches[words[2]] = (words[1], words[-1] == "1" and len(words) > 3)
            elif words[0] == ".names":
                cover = []
                self.gates[words[-1]] = (cover, words[1:-1])
            elif not words[0].startswith("."):
                cover.append(words)

    def order(self):
        """The gates that next values depend on, each after its operands."""
        order, is_placed = [], {*self.inputs, *self.latches}
        stack = [after for after, _ in self.latches.values()]
        while stack:
            missing = [one for one in self.gates[stack[-1]][1] if one not in is_placed] if stack[-1] not in is_placed else None
            if missing:
                stack += missing
                continue
            name = stack.pop()
            if missing == []:
                is_placed.add(name)
                order.append(name)
        return order

    def value(self, name, values):
        """The value of a gate whose operands are known."""
        kind, operands = self.gates[name]
        given = [values[one] for one in operands]
        if isinstance(kind, list):
            rows = (all(c == "-" or (c == "1") == v for c, v in zip(row[0] if given else "", given)) for row in kind)
            return any(rows) == (not kind or kind[0][-1] == "1")
        plain = {"AND": all, "NAND": all, "OR": any, "NOR": any}.get(kind, lambda bits: sum(bits) % 2 == 1)
        return plain(given) != (kind in ("NAND", "NOR", "NOT", "XNOR"))

    def rare(self, latches, cycles, seed):
        """Values of some latches in consecutive cycles, which a random simulation meets as late as possible."""
        numbers = random.Random(seed)
        chosen = sorted(numbers.sample(sorted(self.latches), min(latches, len(self.latches))))
        state = {name: initial for name, (_, initial) in self.latches.items()}
        seen, trace, last, order = set(), [], 0, self.order()
        for cycle in range(SIMULATED + cycles):
            part = tuple(state[name] for name in chosen)
            trace.append(part)
            if part not in seen and cycle < SIMULATED:
                seen.add(part)
                last = cycle
            values = {**state, **{name: numbers.random() < 0.5 for name in self.inputs}}
            for gate in order:
                values[gate] = self.value(gate, values)
            state = {name: values[after] for name, (after, _) in self.latches.items()}
        literals = [[name if value else "!" + name for name, value in zip((f'"{one}"' for one in chosen), part)]
                    for part in trace[last:last + cycles]]
        return last, [" && ".join(part) for part in literals]


# Cycles of a simulation.
SIMULATED = 1000

METHODS = ["monolithic", "static", "dynamic"]


def run(command, limit):
    """The output of a command, its CPU time in seconds, and its peak memory in MB."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        timer = threading.Timer(limit, lambda: os.killpg(child.pid, signal.SIGKILL))
        timer.start()
        _, _, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = 0
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def generated(args, file, targets, method, options=()):
    words = [word for target in targets for word in ("--target", target)]
    words += ["--method", method, "--json", "--memory-limit", args.memory, "--time-limit", f"{args.limit}s", *options]
    output, took, memory = run([args.ample, "testgen", str(file), *words], args.limit + 20)
    used = {"took": took, "memory": memory}
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:
        return {**used, "outcome": "failed"}
    if not answer.get("results"):
        return {**used, "outcome": "unknown", "why": answer.get("reason") or answer.get("error")}
    first = answer["results"][0]
    if first["outcome"] == "unknown":
        return {**used, **answer["statistics"], "outcome": "unknown", "why": first["reason"]}
    return {**used, "outcome": first["outcome"], "cycle": first.get("cycle"), **answer["statistics"]}


def is_decided(result):
    return result["outcome"] in ("reached", "unreachable")


def shown(result, key, form="{}"):
    if is_decided(result):
        return form.format(result[key])
    why = result.get("why") or "failed"
    return next((word for word in ("time", "memory") if word in why), why) if key == "took" else "–"


def made(folder, make, sizes):
    """A circuit of a family, its number of latches, and its targets."""
    aig, outputs, targets = make(*sizes)
    file = folder / f"{make.__name__}_{'_'.join(map(str, sizes))}.aag"
    file.write_text(text(aig, outputs))
    return file, len(aig.latches), targets


def table_1(args, folder):
    compare(args, [(*made(folder, make, sizes), "") for members in FAMILIES.values() for make, sizes in members])


def table_3(args, folder):
    if not args.corpus:
        sys.exit("table 3 needs --corpus")
    instances = []
    for name, latches, cycles in PUBLISHED:
        file = args.corpus / name
        if file.exists() and (not args.only or args.only in file.name):
            netlist = Netlist(file)
            last, targets = netlist.rare(latches, cycles, 1)
            instances.append((file, len(netlist.latches), targets, f"{latches}, {last}"))
    compare(args, instances)


def table_4(args, folder):
    compare(args, [(*made(folder, make, sizes), "") for make, sizes in LARGE], ["--no-reorder"])


def compare(args, instances, options=()):
    """The three methods on circuits with targets; a remark is put beside the number of latches."""
    print("| circuit | latches | targets | outcome | time, one diagram | clusters | dynamic | MB, one diagram | clusters | dynamic "
          "| peak nodes, one diagram | clusters | dynamic | relation, one diagram | clusters | dynamic | functions |")
    print("|---" * 17 + "|")
    shares, only_dynamic = [], []
    for file, latches, targets, remark in instances:
        if args.only and args.only not in file.name:
            continue
        left_out = {"outcome": "unknown", "why": "–", "took": 0, "memory": 0}
        results = [generated(args, file, targets, method, options) if method in args.methods else left_out for method in METHODS]
        decided = {(r["outcome"], r["cycle"]) for r in results if is_decided(r)}
        if len(decided) > 1:
            sys.exit(f"{file}: the methods disagree: {decided}")
        outcome = " in cycle ".join(str(part) for part in decided.pop() if part is not None) if decided else "unknown"
        dynamic = results[2]
        row = [file.stem, f"{latches} ({remark})" if remark else latches, len(targets), outcome]
        row += [shown(result, "took", "{:.2f}") + ("" if is_decided(result) else f" ({result['took']:.0f})") for result in results]
        row += [f"{result['memory']:.0f}" for result in results]
        for key in ("peak_nodes", "average_relation_nodes"):
            row += [shown(result, key) for result in results]
        row.append(f"{dynamic.get('max_parts', '')}/{dynamic.get('parts', '')}")
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        if is_decided(dynamic):
            if not is_decided(results[0]):
                only_dynamic.append(file.stem)
            elif results[0]["average_relation_nodes"]:
                shares.append(dynamic["average_relation_nodes"] / results[0]["average_relation_nodes"])
    if shares:
        print(f"\nDynamic relations have {100 * sum(shares) / len(shares):.0f} % of the nodes of one diagram, on average over "
              f"{len(shares)} circuits that both finish.")
    print(f"\n{len(only_dynamic)} are finished by dynamic relations and not by one diagram: {', '.join(only_dynamic)}.")


CHECKED = [
    ("models/smv/cache.smv", []),
    ("models/smv/elevator.smv", []),
    ("models/smv/fifo.smv", []),
    ("models/smv/philosophers.smv", []),
    ("models/smv/sender.smv", []),
    ("models/circuits/arbiter.blif", ["--ctl", "AG (ask1 -> EF grant1)"]),
]

# How CTL is checked: within the reachable states, and over all.
WAYS = [("static", []), ("dynamic", []), ("static", ["--reach", "none"]), ("dynamic", ["--reach", "none"])]


def checked(args, file, options, way):
    """The verdicts, the time, and the figures of the diagrams; nothing if it failed."""
    relations, reach = way
    command = [args.ample, "check", file, "--engine", "symbolic", "--relations", relations, *reach, *options, "--json",
               "--no-vacuity", "--memory-limit", args.memory, "--time-limit", f"{args.limit}s"]
    output, took, memory = run(command, args.limit + 20)
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:
        return None
    verdicts = [one["verdict"] for one in answer.get("results", [])]
    return verdicts, took, memory, answer.get("diagrams") or {}


def table_2(args, folder):
    print("| model | time: static | dynamic | static, all states | dynamic, all states | MB, all states: static | dynamic "
          "| peak nodes: static | dynamic | static, all states | dynamic, all states "
          "| relation: static | dynamic | dynamic, all states | functions: all/most | all/most, all states |")
    print("|---" * 16 + "|")
    instances = list(CHECKED)
    for make, sizes in [(tokens, (16,)), (queue, (2, 2)), (ring, (8, 2, 1)), (bus, (4, 3)), (bus, (6, 10)), (stages, (6, 8)),
                        (queue, (4, 8)), (ring, (24, 2, 1))]:
        file, _, targets = made(folder, make, sizes)
        instances.append((str(file), ["--ctl", f"AG ({targets[0].split()[0]} -> EF {targets[-1].split()[0]})"]))
    for file in sorted(args.smv.rglob("*.smv")) if args.smv else []:
        instances.append((str(file), []))
    shares, gains = [], []
    for file, options in instances:
        if args.only and args.only not in file:
            continue
        results = [checked(args, file, options, way) for way in WAYS]
        if None in results or not results[0][0]:
            continue
        known = [[verdict for verdict in verdicts] for verdicts, *_ in results]
        for column in zip(*known):
            if len(set(column) - {"unknown"}) > 1:
                sys.exit(f"{file}: verdicts differ: {known}")
        figures = [diagrams for *_, diagrams in results]
        used = [(one.get("dynamic") or {}) for one in figures]
        if not any(one.get("preimages") for one in used):
            continue
        times = [f"{took:.2f}" + (" (unknown)" if "unknown" in verdicts else "") for verdicts, took, _, _ in results]
        row = [pathlib.Path(file).stem, *times, *(f"{memory:.0f}" for _, _, memory, _ in results[2:])]
        row += [one.get("peak_nodes") for one in figures]
        row += [figures[0].get("relation_nodes"), used[1].get("average_nodes"), used[3].get("average_nodes")]
        row += [f"{used[way].get('parts')}/{used[way].get('max_parts')}" for way in (1, 3)]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        if figures[0].get("relation_nodes"):
            shares.append([used[way]["average_nodes"] / figures[0]["relation_nodes"] for way in (1, 3)
                           if used[way].get("preimages")])
        if not any("unknown" in verdicts for verdicts, *_ in results) and results[2][1] > 0.2:
            gains.append(results[3][1] / results[2][1])
    for name, columns in (("the reachable states", [one[0] for one in shares if one]), ("all", [one[-1] for one in shares if one])):
        if columns:
            print(f"\nOver {name}, dynamic relations have {100 * sum(columns) / len(columns):.0f} % of the nodes of the clusters, "
                  f"on average over {len(columns)} models.")
    if gains:
        print(f"\nOver all states, dynamic relations take {100 * sum(gains) / len(gains):.0f} % of the time on average, of "
              f"{len(gains)} models that take more than 0.2 seconds.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default="target/release/ample")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--smv", type=pathlib.Path)
    parser.add_argument("--memory")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--only")
    parser.add_argument("--methods", type=lambda names: names.split(","), default=METHODS)
    parser.add_argument("--tables", default="1,2")
    args = parser.parse_args()
    memory = args.memory
    with tempfile.TemporaryDirectory() as folder:
        for number, table in (("1", table_1), ("2", table_2), ("3", table_3), ("4", table_4)):
            if number in args.tables.split(","):
                args.memory = memory or ("4G" if number == "4" else "1G")
                table(args, pathlib.Path(folder))
                print()


if __name__ == "__main__":
    main()
