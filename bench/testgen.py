#!/usr/bin/env python3
"""Test generation and CTL with static and with dynamic transition relations: tables 4.1 and 4.2 of K. Yorav's thesis, again.

    bench/testgen.py [--ample PATH] [--corpus FOLDER] [--memory SIZE] [--limit SECONDS] [--only TEXT] [--tables 1,2]

The designs of the thesis are not public. Table 1 has circuits of local dependency, which are made here (pipelines, a bus with
devices, rings of nodes, queues), and published ones if there is a FOLDER with `iscas89` and `mcnc`. Each is given a sequence of
targets, and `ample testgen` looks for inputs by three methods: one diagram for the whole relation (as in the thesis), the whole
relation in clusters, dynamic relations. Table 2 checks CTL by the symbolic engine with `--relations static` and `dynamic`. Time
is CPU time of the process, memory its peak; `time` or `memory` in the place of a time is the limit that was reached.
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

# Published circuits, with targets over their signals.
PUBLISHED = [
    ("iscas89/s344.bench", ["CNTVCO2", "!CNTVCO2"]),
    ("iscas89/s382.bench", ["GRN2", "!GRN2"]),
    ("iscas89/s420.1.bench", ["Z"]),
    ("iscas89/s820.bench", ["G290"]),
    ("iscas89/s1494.bench", ["v13_D_24"]),
    ("mcnc/mm9a.blif", None),
    ("mcnc/mult32a.blif", None),
]

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


def generated(args, file, targets, method):
    options = [word for target in targets for word in ("--target", target)]
    options += ["--method", method, "--json", "--memory-limit", args.memory, "--time-limit", f"{args.limit}s"]
    output, took, memory = run([args.ample, "testgen", str(file), *options], args.limit + 20)
    try:
        answer = json.loads(output)
    except json.JSONDecodeError:
        return {"outcome": "failed"}
    if not answer["results"]:
        return {"outcome": "unknown", "why": answer.get("reason") or answer.get("error")}
    first = answer["results"][0]
    if first["outcome"] == "unknown":
        return {**answer["statistics"], "outcome": "unknown", "why": first["reason"]}
    return {"outcome": first["outcome"], "cycle": first.get("cycle"), "took": took, "memory": memory, **answer["statistics"]}


def shown(result, key, form="{}"):
    if result["outcome"] in ("reached", "unreachable"):
        return form.format(result[key])
    why = result.get("why") or "failed"
    return next((word for word in ("time", "memory") if word in why), why) if key == "took" else "–"


def table_1(args, folder):
    print("| circuit | latches | targets | outcome | time, one diagram | clusters | dynamic | MB, one diagram | clusters | dynamic "
          "| peak nodes, one diagram | clusters | dynamic | relation, one diagram | clusters | dynamic | functions |")
    print("|---" * 17 + "|")
    instances = []
    for name, members in FAMILIES.items():
        for make, sizes in members:
            aig, outputs, targets = make(*sizes)
            file = folder / f"{name}_{'_'.join(map(str, sizes))}.aag"
            file.write_text(text(aig, outputs))
            instances.append((file, len(aig.latches), targets))
    for name, targets in PUBLISHED if args.corpus else []:
        file = args.corpus / name
        if file.exists():
            instances.append((file, None, targets))
    shares, only_dynamic = [], []
    for file, latches, targets in instances:
        if args.only and args.only not in file.name:
            continue
        if targets is None:
            targets = [first_output(args, file)]
        results = [generated(args, file, targets, method) for method in METHODS]
        decided = {(r["outcome"], r["cycle"]) for r in results if r["outcome"] in ("reached", "unreachable")}
        if len(decided) > 1:
            sys.exit(f"{file}: the methods disagree: {decided}")
        outcome = " in cycle ".join(str(part) for part in decided.pop() if part is not None) if decided else "unknown"
        dynamic = results[2]
        row = [file.stem, latches or dynamic.get("parts", ""), len(targets), outcome]
        for key, form in (("took", "{:.2f}"), ("memory", "{:.0f}"), ("peak_nodes", "{}"), ("average_relation_nodes", "{}")):
            row += [shown(result, key, form) for result in results]
        row.append(f"{dynamic.get('max_parts', '')}/{dynamic.get('parts', '')}")
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
        if dynamic["outcome"] in ("reached", "unreachable"):
            if results[0]["outcome"] not in ("reached", "unreachable"):
                only_dynamic.append(file.stem)
            elif results[0]["average_relation_nodes"]:
                shares.append(dynamic["average_relation_nodes"] / results[0]["average_relation_nodes"])
    if shares:
        print(f"\nDynamic relations have {100 * sum(shares) / len(shares):.0f} % of the nodes of one diagram, on average over "
              f"{len(shares)} circuits that both finish; {len(only_dynamic)} are finished by dynamic relations only: "
              f"{', '.join(only_dynamic)}.")


def first_output(args, file):
    """The name of the first output."""
    for line in file.read_text().splitlines():
        if line.startswith(".outputs"):
            return '"' + line.split()[1] + '"'
    sys.exit(f"{file} has no outputs")


CHECKED = [
    ("models/smv/cache.smv", []),
    ("models/smv/elevator.smv", []),
    ("models/smv/fifo.smv", []),
    ("models/smv/philosophers.smv", []),
    ("models/smv/sender.smv", []),
    ("models/circuits/arbiter.blif", ["--ctl", "AG (ask1 -> EF grant1)"]),
]


def table_2(args, folder):
    print("| model | time, static | dynamic | peak nodes, static | dynamic | relation, static | dynamic | functions, all/most |")
    print("|---" * 8 + "|")
    instances = list(CHECKED)
    for make, sizes in [(tokens, (16,)), (queue, (2, 2)), (ring, (8, 2, 1)), (bus, (4, 3))]:
        aig, outputs, targets = make(*sizes)
        file = folder / f"{make.__name__}_{'_'.join(map(str, sizes))}.aag"
        file.write_text(text(aig, outputs))
        instances.append((str(file), ["--ctl", f"AG ({targets[0].split()[0]} -> EF {targets[-1].split()[0]})"]))
    shares = []
    for file, options in instances:
        if args.only and args.only not in file:
            continue
        results, verdicts = [], []
        for relations in ("static", "dynamic"):
            command = [args.ample, "check", file, "--engine", "symbolic", "--relations", relations, *options, "--json",
                       "--memory-limit", args.memory, "--time-limit", f"{args.limit}s"]
            output, took, _ = run(command, args.limit + 20)
            answer = json.loads(output)
            verdicts.append([one["verdict"] for one in answer["results"]])
            results.append((took, answer.get("diagrams") or {}))
        if verdicts[0] != verdicts[1]:
            sys.exit(f"{file}: verdicts differ")
        (static_time, static), (dynamic_time, dynamic) = results
        used = dynamic.get("dynamic") or {}
        print(f"| {pathlib.Path(file).stem} | {static_time:.2f} | {dynamic_time:.2f} | {static.get('peak_nodes')} "
              f"| {dynamic.get('peak_nodes')} | {static.get('relation_nodes')} | {used.get('average_nodes')} "
              f"| {used.get('parts')}/{used.get('max_parts')} |", flush=True)
        if static.get("relation_nodes") and used.get("preimages"):
            shares.append(used["average_nodes"] / static["relation_nodes"])
    if shares:
        print(f"\nDynamic relations have {100 * sum(shares) / len(shares):.0f} % of the nodes of the clusters, on average.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default="target/release/ample")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--memory", default="1G")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--only")
    parser.add_argument("--tables", default="1,2")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number, table in (("1", table_1), ("2", table_2)):
            if number in args.tables.split(","):
                table(args, pathlib.Path(folder))
                print()


if __name__ == "__main__":
    main()
