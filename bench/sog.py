#!/usr/bin/env python3
"""Symbolic observation graphs of the scalable nets under models/petri, built by one thread and by several.

    bench/sog.py [--ample PATH] [--threads 2] [--balance steal] [--canonical none] [--repeat 3] [--limit 300] [ROW…]

For each row of the table, a net and what is observed of it, the graph is built in a process of its own with one thread
and with the given number, and the best time of so many runs counts: the time that ample itself reports, without reading
the net. Prints a Markdown table with the number of markings, the aggregates, the arcs, both times and the speed-up, and
says if the two graphs are not of the same size. Run it while nothing else does.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATE = ROOT / "models" / "petri" / "generate.py"


def each(names, n):
    return [f"{name}_{i}" for i in range(n) for name in names]


#: A name, the family, its size, and what is observed.
ROWS = {
    "ring4": ("ring", 4, each(["give", "put"], 4)),
    "ring5": ("ring", 5, each(["give", "put"], 5)),
    "ring6": ("ring", 6, each(["give", "put"], 6)),
    "philo6": ("philosophers", 6, each(["GoEat", "Release"], 6)),
    "philo8": ("philosophers", 8, each(["GoEat", "Release"], 8)),
    "philo10": ("philosophers", 10, each(["GoEat", "Release"], 10)),
    "fms4": ("fms", 4, ["tP1", "tP1M1", "tP2", "tP12M3"]),
    "fms5": ("fms", 5, ["tP1", "tP1M1", "tP2", "tP12M3"]),
    "train2-4": ("trains", 24, ["T0", "T3", "T6", "T9"]),
    "train2-6": ("trains", 24, ["T0", "T3", "T5", "T6", "T9", "T11"]),
    "train2-8": ("trains", 24, [f"T{i}" for i in range(0, 24, 3)]),
    "erk10": ("erk", 10, ["k3", "k5", "k9", "k11"]),
    "erk20": ("erk", 20, ["k3", "k5", "k9", "k11"]),
}


def run(words, limit):
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit + 30)
    return json.loads(done.stdout) if done.returncode == 0 else None


def build(args, net, observed, threads):
    best = None
    for _ in range(args.repeat):
        words = [args.ample, "sog", net, "--observe", ",".join(observed), "--threads", str(threads), "--json",
                 "--balance", args.balance, "--canonical", args.canonical, "--time-limit", f"{args.limit}s"]
        got = run(words, args.limit)
        if got is None:
            return None
        if best is None or got["time_s"] < best["time_s"]:
            best = got
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--balance", default="steal")
    parser.add_argument("--canonical", default="none")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int, default=300)
    parser.add_argument("row", nargs="*", choices=[[], *ROWS])
    args = parser.parse_args()
    print(f"| net | observed | markings | aggregates | arcs | 1 thread | {args.threads} threads | speed-up |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for name in args.row or ROWS:
            family, size, observed = ROWS[name]
            net = f"{folder}/{name}.pnml"
            subprocess.run([sys.executable, GENERATE, family, str(size), "--out", net], check=True)
            counted = run([args.ample, "states", net, "--json", "--time-limit", f"{args.limit}s"], args.limit)
            one, many = build(args, net, observed, 1), build(args, net, observed, args.threads)
            if counted is None or one is None or many is None:
                print(f"| {name} | {len(observed)} | | | | not within {args.limit} s | | |", flush=True)
                continue
            states = int(counted["stats"]["states"])
            size = one["statistics"]
            if size != many["statistics"]:
                print(f"the graphs of {name} differ: {size} {many['statistics']}", file=sys.stderr)
            print(f"| {name} | {len(observed)} | {states:,} | {size['aggregates']:,} | {size['arcs']:,} "
                  f"| {one['time_s']:.3f} s | {many['time_s']:.3f} s | {one['time_s'] / many['time_s']:.2f} |", flush=True)


if __name__ == "__main__":
    main()
