#!/usr/bin/env python3
"""Symbolic observation graphs of the scalable nets under models/petri, built by one thread and by several.

    bench/sog.py [--ample PATH] [--threads 2] [--balance order] [--canonical none] [--repeat 3] [--limit 300] [ROW…]
    bench/sog.py --ltl [--ample PATH] [--limit 60] [FAMILY…]

For each row of the table, a net and what is observed of it, the graph is built in a process of its own with one thread
and with the given number, and the best time of so many runs counts: the time that ample itself reports, without reading
the net. Prints a Markdown table with the number of markings, the aggregates, the arcs, both times and the speed-up, and
says if the two graphs are not of the same size. Run it while nothing else does.

With --ltl, formulas without X are checked on nets of each family by observation graphs, by explicit search, by decision
diagrams and by what ample chooses itself, each within the limit. Prints verdicts and seconds of processor time, and
ends with an error if two verdicts differ.
"""
import argparse
import json
import pathlib
import resource
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

#: A family, two sizes, and formulas.
FORMULAS = {
    "philosophers": ((8, 20), ["G (WaitL_0 -> F HasL_0)", "(!HasR_0) W WaitR_0", "G F Idle_0",
                               "G (HasL_0 & HasR_0 -> !(HasL_1 & HasR_1))"]),
    "ring": ((5, 8), ["G (B_0 -> F (D_0 | H_0))", "(!G_0) W D_0", "G F C_0"]),
    "fms": ((5, 10), ["G (P1M1 >= 1 -> F P1d >= 1)", "(P12 < 1) W (P1wP2 >= 1 & P2wP1 >= 1)", "F P12s >= 1"]),
    "erk": ((10, 30), ["G (RRE >= 1 -> F RKIPP >= 1)", "(RRE < 1) W (EPP >= 1)", "F G RPR < 1"]),
    "trains": ((18, 30), ["G (Section_0 -> F Section_1)", "Section_0 U Section_1", "G !(Section_0 & Section_1)"]),
    "token_ring": ((6, 12), ["F G State_0_0", "State_0_0 W State_0_1", "G (State_1_0 -> F State_1_1)"]),
    "pool": ((1, 4), ["G (Undress >= 1 -> F InBath >= 1)", "(InBath < 1) W (Undress >= 1)", "G F Out >= 1"]),
}

#: The engines side by side; the last is what ample chooses.
ENGINES = ["sog", "explicit", "symbolic", "auto"]


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


def ask(args, net, formula, engine):
    """The verdict, and seconds of processor time; no verdict if there is none within the limit."""
    words = [args.ample, "check", net, "--ltl", formula, "--engine", engine, "--json", "--time-limit", f"{args.limit}s"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=args.limit * 4 + 30)
    except subprocess.TimeoutExpired:
        return None, float(args.limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict = {0: "holds", 1: "violated"}.get(done.returncode)
    if done.returncode == 2:
        print(f"{net}: {formula}: {done.stderr.strip()}", file=sys.stderr)
    return verdict, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ltl(args):
    """The table of formulas; whether all engines agree."""
    agree = True
    print("| net | formula | verdict | " + " | ".join(ENGINES) + " |")
    print("|---|---|---|" + "---:|" * len(ENGINES), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for family in args.row or FORMULAS:
            sizes, formulas = FORMULAS[family]
            for size in sizes:
                net = f"{folder}/{family}_{size}.pnml"
                subprocess.run([sys.executable, GENERATE, family, str(size), "--out", net], check=True)
                for formula in formulas:
                    answers = [ask(args, net, formula, engine) for engine in ENGINES]
                    verdicts = {verdict for verdict, _ in answers if verdict}
                    if len(verdicts) > 1:
                        agree = False
                        print(f"verdicts differ: {family} {size} {formula}: {answers}", file=sys.stderr)
                    cells = [f"{seconds:.2f}" if verdict else "–" for verdict, seconds in answers]
                    text = formula.replace("|", "\\|")
                    verdict = " / ".join(sorted(verdicts)) or "–"
                    print(f"| {family} {size} | `{text}` | {verdict} | {' | '.join(cells)} |", flush=True)
    return agree


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--balance", default="order", choices=["order", "steal", "min-load"])
    parser.add_argument("--canonical", default="none")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--ltl", action="store_true")
    parser.add_argument("row", nargs="*")
    args = parser.parse_args()
    args.limit = args.limit or (60 if args.ltl else 300)
    known = FORMULAS if args.ltl else ROWS
    for name in args.row:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    if args.ltl:
        sys.exit(0 if ltl(args) else 1)
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
