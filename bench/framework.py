#!/usr/bin/env python3
"""The experiments of M. Kattenbelt, "Towards an Explicit-State Model Checking Framework" (2006), table 6.2, again: PROM+ models
with and without thread symmetry, beside Spin where the model is Promela too.

    bench/framework.py [--ample PATH] [--runs 5] [--philosophers 5,6] [--no-spin]

Every search is depth first and unreduced: `ample states --search dfs --por none`, with `--symmetry lazy` in the rows `Sym`, and
`pan` compiled with -O2 -DSAFETY -DNOREDUCE. Visited are the states, revisited the transitions that lead to a visited state
(transitions − states, where the initial state counts as a transition). Time is the processor time of the process, least of the runs, and beside it the ratio to pan on the
same model; what a run on a trivial model takes is the first line. `--philosophers` adds larger ones, in which the time is
that of the search. Vectors are in bytes, of the largest state. The numbers of states are compared with those of the thesis: if
one differs, the exit code is 1.
"""
import argparse, json, pathlib, re, resource, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The model, the states that were visited without and with symmetry, and those that were revisited, as recomputed.
TABLE = [
    ("peterson", 64, 64, 77), ("peterson_objects", 126, 82, 138), ("dekker", 288, 288, 397), ("dekker_objects", 356, 206, 467),
    ("dijkstra", 860, 860, 1247), ("dijkstra_objects", 942, 498, 1338), ("philosophers_3", 875, 875, 1490),
    ("philosophers_3_objects", 1082, 462, 1861), ("philosophers_4", 8545, 8545, 22288), ("philosophers_4_objects", 11124, 4464, 29539),
]


def philosophers(count, objects):
    """So many philosophers, with variables only or with objects."""
    forks = [f"f{i}" for i in range(1, count + 1)]
    body = "do :: !{l} -> {l} = true; !{r}; {r} = true; {r} = false; {l} = false; od;"
    pairs = list(zip(forks, forks[1:] + forks[:1]))
    if not objects:
        lines = [f"bool {', '.join(forks)};"]
        lines += [f"active [1] proctype P{i}() {{ {body.format(l=l, r=r)} }}" for i, (l, r) in enumerate(pairs)]
        return "\n".join(lines)
    start = ["startGuard = false;", *(f"{f} = new bool;" for f in forks), *(f"*{f} = false;" for f in forks)]
    start += [f"run P({l}, {r});" for l, r in pairs] + [f"reset {f};" for f in forks] + ["startGuard = true;"]
    return (f"bool {', '.join('*' + f for f in forks)}; bool startGuard;\n"
            f"active [0] proctype P(bool *left; bool *right) {{ startGuard; {body.format(l='*left', r='*right')} }}\n"
            f"active [1] proctype Init() {{ {' '.join(start)} }}")


def measured(command, runs, **options):
    """What it printed, and the least of its processor times."""
    best = None
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, capture_output=True, text=True, **options)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        best = took if best is None else min(best, took)
    return done.stdout, best


def run_ample(arguments, model, *more):
    command = [arguments.ample, "states", str(model), "--json", "--search", "dfs", "--por", "none", *more]
    output, took = measured(command, arguments.runs)
    stats = json.loads(output)["stats"]
    states, transitions = int(stats["states"]), int(stats["transitions"])
    return dict(visited=states, revisited=transitions - states, time=took, vector=stats["state_bytes"],
                memory=stats["memory_bytes"] / 2**20)


def run_pan(arguments, model):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["spin", "-a", "-o1", "-o2", "-o3", str(model.resolve())], cwd=folder, capture_output=True)
        flags = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE"]
        if subprocess.run(["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder, capture_output=True).returncode:
            return None
        output, took = measured(["./pan", "-E", "-A", "-n", "-m1000000", "-w20"], arguments.runs, cwd=folder)
    find = lambda pattern: float(re.search(pattern, output)[1])
    return dict(visited=int(find(r"(\d+) states, stored")), revisited=int(find(r"(\d+) states, matched")), time=took,
                vector=int(find(r"State-vector (\d+) byte")), memory=find(r"([\d.]+)\s+total actual memory usage"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target/release/ample"))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--philosophers", default="5,6")
    parser.add_argument("--no-spin", action="store_true")
    arguments = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        trivial = folder / "trivial.promp"
        trivial.write_text("bit x; active [1] proctype P() { x = 1 }")
        print(f"A run on a trivial model: {run_ample(arguments, trivial)['time']:.3f} s\n")
        models = [(ROOT / f"models/promplus/{name}.promp", *numbers) for name, *numbers in TABLE]
        for count in filter(None, arguments.philosophers.split(",")):
            for objects in (False, True):
                file = folder / f"philosophers_{count}{'_objects' if objects else ''}.promp"
                file.write_text(philosophers(int(count), objects))
                models.append((file, None, None, None))
        print("| model | run | visited | revisited | s | × pan | vector, bytes | MB |\n|---|---|---:|---:|---:|---:|---:|---:|")
        for model, plain, symmetric, revisited in models:
            pan = None if arguments.no_spin or model.stem.endswith("objects") else run_pan(arguments, model)
            rows = [("ample", run_ample(arguments, model)), ("Sym", run_ample(arguments, model, "--symmetry", "lazy"))]
            expected = [(plain, revisited), (symmetric, None)]
            if pan:
                rows.append(("Spin", pan))
                expected.append((rows[0][1]["visited"], None))
            for (name, row), (visited, again) in zip(rows, expected):
                if visited not in (None, row["visited"]) or again not in (None, row["revisited"]):
                    wrong = 1
                    print(f"<!-- {model.stem}, {name}: {visited} visited and {again} revisited were expected -->")
                ratio = f"{row['time'] / pan['time']:.2f}" if pan and pan["time"] > 0.02 else ""
                print(f"| {model.stem} | {name} | {row['visited']:,} | {row['revisited']:,} | {row['time']:.3f} | {ratio} "
                      f"| {row['vector']} | {row['memory']:.1f} |", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
