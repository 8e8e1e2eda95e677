#!/usr/bin/env python3
"""Groups of processes beside one process: the same counts, the same verdicts, the same graphs, and what they take.

    bench/cluster.py [--ample PATH] [--groups 1x1,1x2,2x1,2x2,4x1,4x2] [--repeat 3] [--max-states 2000000] [--limit 60]
                     [--delay MS] [--parts states,verdicts,graphs,formulas,speed] [--write] [MODEL…]

A group is PxT: P processes with T workers each. Everything is asked of one thread first, and then of each group as often as
--repeat says.

states    `ample states`: states, transitions, atomic steps, depth; the states of all workers add up to the states
verdicts  `ample check`, with and without partial-order reduction: the verdict on each property
graphs    `ample sog` on the nets of bench/sog.py: the whole graph, without and with canonical aggregates
formulas  `ample sog --ltl` on these nets: the verdict on some formulas, on demand too
speed     states and graphs that take long enough: seconds of one process without a group, and of each group (with --write in
          docs/cluster.md)

Models are those of models/promela and, if ../shared/corpora is there, those of promela.csv (columns model, states_plain) with at
most so many states. With --delay each read from another process takes so many milliseconds more. Ends with an error if
something differs. What a group does not decide within the limit is counted and named; it is no difference.
"""
import argparse
import csv
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
PAGE = ROOT / "docs" / "cluster.md"
COUNTS = ["states", "transitions", "atomic_steps", "depth"]

spec = importlib.util.spec_from_file_location("sog", ROOT / "bench" / "sog.py")
sog = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sog)

#: Nets whose graphs are compared as a whole.
NETS = ["ring4", "ring5", "philo6", "philo8", "fms4", "robot4", "train2-4", "train2-6", "train2-8", "erk10"]
#: Nets and models that take long enough to be measured.
FAST = ["ring6", "ring6-12", "philo10", "fms5-4", "robot5", "robot6", "erk20"]


class Bench:
    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.compared, self.differing, self.undecided = 0, [], []
        self.sog = sog.Bench(args, folder)

    def run(self, *words):
        """What ample prints as JSON (a list if it is several), and how it ended."""
        environment = {**os.environ, "AMPLE_CLUSTER_DELAY": str(self.args.delay)} if self.args.delay else None
        words = [self.args.ample, *map(str, words), "--json", "--time-limit", f"{self.args.limit}s"]
        try:
            done = subprocess.run(words, capture_output=True, text=True, timeout=self.args.limit + 30, env=environment)
        except subprocess.TimeoutExpired:
            return "it has not ended in time", None
        try:
            return json.loads(done.stdout), done.returncode
        except ValueError:
            return f"exit {done.returncode}: {done.stderr.strip()[:300]}", done.returncode

    def same(self, what, expected, found):
        """Notes whether a group has found the same."""
        self.compared += 1
        if found is None:
            self.undecided.append(what)
            print(f"undecided: {what}", flush=True)
        elif expected != found:
            self.differing.append(what)
            print(f"DIFFERENT: {what}: {short(expected)} alone, {short(found)} by the group", flush=True)

    def groups(self):
        for processes, threads in self.args.groups:
            for _ in range(self.args.repeat):
                yield f"{processes}x{threads}", ("--processes", processes, "--threads", threads)

    # What is compared.

    def states(self, models):
        for model in models:
            alone, code = self.run("states", model, "--engine", "explicit", "--threads", 1)
            if code != 0 or not alone["complete"]:
                continue
            expected = [alone["stats"][part] for part in COUNTS]
            for name, group in self.groups():
                got, code = self.run("states", model, *group)
                found = None
                if code == 0 and got["complete"]:
                    found = [got["stats"][part] for part in COUNTS]
                    shares = sum(worker["states"] for worker in got["cluster"]["workers"])
                    if shares != int(got["stats"]["states"]):
                        found = f"{shares} states of workers"
                elif not isinstance(got, dict):
                    found = got
                self.same(f"states {model} {name}", expected, found)

    def verdicts(self, models):
        for model in models:
            for por in ([], ["--por", "none"]):
                alone, code = self.run("check", model, "--engine", "explicit", "--threads", 1, *por)
                if code not in (0, 1):
                    continue
                expected = dict(judged(alone))
                for name, group in self.groups():
                    got, code = self.run("check", model, *group, *por)
                    if not isinstance(got, dict):
                        self.same(f"check {model} {' '.join(por)} {name}", "verdicts", got)
                        continue
                    for prop, verdict in judged(got):
                        # CTL is for one process.
                        if not prop.startswith("ctl"):
                            found = None if verdict == "unknown" else verdict
                            self.same(f"check {model} {' '.join(por)} {prop} {name}", expected.get(prop), found)

    def graphs(self, rows):
        for row in rows:
            family, size, observed = sog.ROWS[row]
            words = ["sog", self.sog.net(family, size), "--observe", ",".join(observed)]
            for canonical in ("none", "send", "full"):
                alone, code = self.run(*words, "--threads", 1, "--canonical", canonical)
                if code != 0:
                    continue
                for name, group in self.groups():
                    got, code = self.run(*words, *group, "--canonical", canonical)
                    found = got["graph"] if code == 0 else None if code == 3 else got
                    self.same(f"graph {row} {canonical} {name}", alone["graph"], found)

    def formulas(self, families):
        for family in families:
            sizes, formulas = sog.FORMULAS[family]
            net = self.sog.net(family, sizes[0])
            for formula in formulas:
                words = ["sog", net, "--ltl", formula]
                alone, code = self.run(*words, "--threads", 1)
                if code not in (0, 1):
                    continue
                for way in ([], ["--on-demand"], ["--canonical", "full"], ["--compare-labels"]):
                    for name, group in self.groups():
                        got, code = self.run(*words, *group, *way)
                        found = got["verdict"] if code in (0, 1) else None if code == 3 else got
                        self.same(f"formula {family} {formula} {' '.join(way)} {name}", alone["verdict"], found)

    # What is measured.

    def best(self, seconds, *words):
        """The run of some that took the least time."""
        best = None
        for _ in range(self.args.repeat):
            got, code = self.run(*words)
            if code != 0:
                return None
            if best is None or seconds(got) < seconds(best):
                best = got
        return best

    def speed(self, models, rows):
        groups = self.args.groups
        header = ["", "states or aggregates", "alone", *(f"{p} × {t}" for p, t in groups), "balance", "messages", "MB",
                  "waited"]
        lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
        print("\n".join(lines), flush=True)
        for model in models:
            def seconds(got):
                return got["stats"]["time_s"]
            words = ("states", model, "--engine", "explicit")
            alone = self.best(seconds, *words, "--threads", 1)
            if alone is None or seconds(alone) < self.args.min_seconds:
                continue
            found = [self.best(seconds, "states", model, "--processes", p, "--threads", t) for p, t in groups]
            lines.append(self.line(pathlib.Path(model).stem, int(alone["stats"]["states"]), alone, found, seconds))
        for row in rows:
            family, size, observed = sog.ROWS[row]
            def seconds(got):
                return got["time_s"]
            words = ("sog", self.sog.net(family, size), "--observe", ",".join(observed))
            alone = self.best(seconds, *words, "--threads", 1)
            if alone is None:
                continue
            found = [self.best(seconds, *words, "--processes", p, "--threads", t) for p, t in groups]
            lines.append(self.line(f"{row} (graph)", alone["statistics"]["aggregates"], alone, found, seconds))
        return lines

    def line(self, name, size, alone, found, seconds):
        cells = [name, f"{size:,}", f"{seconds(alone):.2f}"]
        cells += [f"{seconds(got):.2f} ({seconds(alone) / seconds(got):.2f})" if got else "–" for got in found]
        last = next((got["cluster"] for got in reversed(found) if got), None)
        if last:
            waited = [worker.get("waited_s") or 0 for worker in last["workers"]]
            cells += [f"{last['balance']:.2f}", f"{last['messages']:,}", f"{last['message_bytes'] / 1e6:.1f}",
                      f"{sum(waited) / len(waited):.2f}"]
        print("| " + " | ".join(cells) + " |", flush=True)
        return "| " + " | ".join(cells) + " |"


def short(value):
    text = json.dumps(value)
    return text if len(text) < 200 else text[:200] + "…"


def judged(report):
    return [(one["property"], one["verdict"]) for one in report["results"]]


def models(args):
    if args.model:
        return args.model
    found = sorted((ROOT / "models" / "promela").glob("*.pml"))
    table = CORPORA / "promela.csv"
    if not table.is_file():
        print("cluster.py: the corpus is not there: models/promela only", file=sys.stderr)
        return found
    with open(table, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["states_plain"].isdigit()]
    return found + [CORPORA / row["model"] for row in rows if int(row["states_plain"]) <= args.max_states]


def pairs(text):
    return [tuple(int(number) for number in part.split("x")) for part in text.split(",")]


def write(lines, note):
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- bench/cluster.py -->", "<!-- end -->"
    before, rest = page.split(begin + "\n", 1)
    after = rest.split(end, 1)[1]
    PAGE.write_text(f"{before}{begin}\n{note}\n\n" + "\n".join(lines) + f"\n{end}{after}", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--groups", type=pairs, default=pairs("1x1,1x2,2x1,2x2,4x1,4x2"), metavar="PxT,…")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--max-states", type=int, default=2_000_000)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--delay", type=int, default=0)
    parser.add_argument("--min-seconds", type=float, default=0.5)
    parser.add_argument("--parts", default="states,verdicts,graphs,formulas")
    parser.add_argument("--note", default="", help="what else the page shall say about this run")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("model", nargs="*")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        for part in args.parts.split(","):
            if part == "states":
                bench.states(models(args))
            elif part == "verdicts":
                bench.verdicts(models(args))
            elif part == "graphs":
                bench.graphs(NETS)
            elif part == "formulas":
                bench.formulas(sog.FORMULAS)
            elif part == "speed":
                lines = bench.speed(models(args), FAST)
                if args.write:
                    note = f"; {args.note}" if args.note else ""
                    write(lines, f"{sog.machine(args.ample)}, the best of {args.repeat} runs{note}.")
            else:
                parser.error(f"no part is called {part}")
            print(f"{part}: {bench.compared} comparisons so far, {len(bench.differing)} different, "
                  f"{len(bench.undecided)} undecided", flush=True)
    sys.exit(1 if bench.differing else 0)


if __name__ == "__main__":
    main()
