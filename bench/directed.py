#!/usr/bin/env python3
"""Directed search: how many states the searches of the explicit engine expand until they find a deadlock.

Runs `ample check --deadlock` on models of ours that are scaled by `-D`, without partial-order reduction, by breadth-first and
depth-first search, by greedy best-first search and by A*, each within a time and a memory limit. Of each search: the states that
were stored, the time, and the steps of the counterexample; or which limit was reached. For A* also the states expanded.

    bench/directed.py [--ample PATH] [--time 60] [--memory 4G] [--only NAME] [--default]

With --default the default search, with partial-order reduction, is measured too. Writes a table in Markdown to standard output.
"""
import argparse, json, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = [  # the file, its parameters, the heuristic
    ("philosophers_deadlock", ["N=30"], None),
    ("lock_upgrade", ["N=20"], None),
    ("telephones", ["N=12"], None),
    ("lost_wakeup", ["CUSTOMERS=10"], None),
    ("store_and_forward", ["NODES=6", "B=1"], None),
    ("bounded_buffer_deadlock", ["SLOTS=4", "PRODUCERS=8", "CONSUMERS=6"], None),
]
SEARCHES = [("bfs", ["--search", "bfs", "--por", "none"]), ("dfs", ["--search", "dfs", "--por", "none"]),
            ("best-first", ["--search", "best-first"]), ("A*", ["--search", "a-star"])]


def run(program, model, parameters, options, limits):
    command = [program, "check", "--json", "--deadlock", *options, "--time-limit", f"{limits.time}s", "--memory-limit", limits.memory]
    for parameter in parameters:
        command += ["-D", parameter]
    done = subprocess.run(command + [str(model)], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    result, stats = report["results"][0], report["stats"]
    steps = len(result["trace"]["prefix"]) if result["verdict"] == "violated" else None
    return {"verdict": result["verdict"], "why": result.get("reason"), "steps": steps, "states": stats.get("states"),
            "expanded": stats.get("expanded"), "time": stats["time_s"]}


def number(value):
    return f"{int(value):,}" if value is not None else "–"


def cell(outcome, is_directed):
    states = number(outcome["states"])
    if is_directed and outcome["expanded"] is not None:
        states += f" ({number(outcome['expanded'])})"
    if outcome["steps"] is None:
        return f"{states} | – | –"
    return f"{states} | {outcome['time']:.2f} | {outcome['steps']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target/release/ample"))
    parser.add_argument("--time", type=int, default=60)
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--only")
    parser.add_argument("--default", action="store_true")
    limits = parser.parse_args()
    searches = SEARCHES + ([("default", [])] if limits.default else [])
    print("| model | " + " | ".join(f"{name}: states | s | steps" for name, _ in searches) + " |")
    print("|---|" + "---:|---:|---:|" * len(searches))
    for name, parameters, heuristic in MODELS:
        if limits.only and limits.only not in name:
            continue
        cells = []
        for search, options in searches:
            is_directed = search in ("best-first", "A*")
            own = options + (["--heuristic", heuristic] if heuristic and is_directed else [])
            outcome = run(limits.ample, ROOT / f"models/promela/{name}.pml", parameters, own, limits)
            print(f"{name} {search}: {outcome}", file=sys.stderr)
            cells.append(cell(outcome, is_directed))
        print(f"| `{name}` {', '.join(parameters)} | " + " | ".join(cells) + " |", flush=True)


main()
