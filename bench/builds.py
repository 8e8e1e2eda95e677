#!/usr/bin/env python3
"""Two builds of ample side by side: the same questions, one run after the other in turn, on the same machine.

    bench/builds.py OLD NEW [--groups states,por,ltl,symbolic,sog,nets] [--repeat 3] [--limit 60] [--table FILE.csv] [--csv FILE]

The groups are what the other benchmarks ask ample: the count of states and the default check of Promela models (as in
spin.py and por.py), their ltl blocks, the symbolic engine on Milestones models (as in nusmv.py), observation graphs and
LTL on nets (as in sog.py). With --table, a CSV with columns model and states_plain, the models of a corpus beside it
are taken too. Times are seconds of processor time, the best of so many runs of each build; a question that both builds
answer in less than 0.05 s is left out of the medians, because it measures the start of a process. Prints a Markdown
table of the medians and of the worst ratios (new/old: below 1 the new build is faster), and names answers that differ.
"""
import argparse, csv, json, math, pathlib, re, statistics, subprocess, sys, tempfile

sys.dont_write_bytecode = True
from nusmv import questions, timed
from sog import FORMULAS, GENERATE, ROOT, ROWS

SMALL = 0.05


def promela(arguments):
    """Files with a number of states that is neither tiny nor out of reach."""
    for file in sorted((ROOT / "models" / "promela").glob("*.pml")):
        found = re.search(r"expect states: (\d+)", file.read_text())
        if found and int(found[1]) >= 20_000:
            yield file
    if arguments.table:
        table = pathlib.Path(arguments.table)
        with open(table, newline="") as rows:
            for row in csv.DictReader(rows):
                if row["states_plain"].isdigit() and 100_000 <= int(row["states_plain"]) <= 3_000_000:
                    yield table.parent / row["model"]


def milestones():
    return [file for file in sorted((ROOT / "models" / "milestones").glob("*.mil"))
            if file.stem not in ("elevators", "cash_points", "cash_points_fixed")]


def net(folder, family, size):
    file = pathlib.Path(folder) / f"{family}_{size}.pnml"
    if not file.exists():
        subprocess.run([sys.executable, GENERATE, family, str(size), "--out", file], check=True)
    return file


def asked(group, folder, arguments):
    """What is run, as words after the name of the command."""
    if group == "states":
        return [["states", file] for file in promela(arguments)]
    if group == "por":
        return [["check", file, "--deadlock", "--assertions"] for file in promela(arguments)]
    if group == "ltl":
        return [["check", file, "--ltl", name] for file in promela(arguments)
                for name in re.findall(r"^\s*ltl\s+(\w+)", file.read_text(errors="replace"), re.M)]
    if group == "symbolic":
        found = []
        for file in milestones():
            found.append(["states", file, "--engine", "symbolic"])
            for kind, name, formula, _ in questions(file.read_text()):
                found.append(["check", file, f"--{kind}", name if kind == "ltl" else formula, "--engine", "symbolic"])
        return found
    if group == "sog":
        return [["sog", net(folder, family, size), "--observe", ",".join(observed)]
                for name, (family, size, observed) in ROWS.items() if name != "fms5"]
    return [["check", net(folder, family, size), "--ltl", formula]
            for family, (sizes, formulas) in FORMULAS.items() for size in sizes for formula in formulas]


def answer(text):
    """What must be the same in both builds."""
    try:
        report = json.loads(text)
    except json.JSONDecodeError:
        return None
    if "results" in report and report["results"]:
        return [result.get("verdict") for result in report["results"]]
    return report.get("aggregates") or report.get("stats", {}).get("states")


def compare(words, arguments):
    """The answers and the best times of both builds; None as a time if there is no end within the limit."""
    best, answers = [None, None], [None, None]
    for _ in range(arguments.repeat):
        for build, program in enumerate((arguments.old, arguments.new)):
            run = timed([program, *words, "--json", "--quiet"], arguments.limit)
            if isinstance(run, str):
                continue
            answers[build] = answer(run[1])
            best[build] = run[0] if best[build] is None else min(best[build], run[0])
        if None in best or max(best) > arguments.limit / 4:
            break
    return answers, best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--groups", default="states,por,ltl,symbolic,sog,nets")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60, help="seconds of processor time a run (default 60)")
    parser.add_argument("--table", help="a CSV with columns model and states_plain; models lie beside it")
    parser.add_argument("--csv", help="write every question's figures here")
    arguments = parser.parse_args()
    rows, differ = [], False
    print("| group | questions | measured | median | geometric mean | worst |\n|---|---:|---:|---:|---:|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for group in arguments.groups.split(","):
            ratios, count = [], 0
            for words in asked(group, folder, arguments):
                words = list(map(str, words))
                answers, times = compare(words, arguments)
                count += 1
                rows.append([group, " ".join(words), *times])
                if None not in times and answers[0] != answers[1]:
                    differ = True
                    print(f"answers differ: {' '.join(words)}: {answers[0]} and {answers[1]}", file=sys.stderr)
                if (times[0] is None) != (times[1] is None):
                    print(f"only one ends: {' '.join(words)}: {times}", file=sys.stderr)
                if None not in times and max(times) >= SMALL:
                    ratios.append((times[1] / max(times[0], 0.001), words[1].split("/")[-1] + " " + " ".join(words[2:])))
            if ratios:
                values = [ratio for ratio, _ in ratios]
                mean = math.exp(statistics.fmean(map(math.log, values)))
                worst = "; ".join(f"{ratio:.2f} `{what}`" for ratio, what in sorted(ratios, reverse=True)[:3])
                print(f"| {group} | {count} | {len(values)} | {statistics.median(values):.2f} | {mean:.2f} | {worst} |", flush=True)
            else:
                print(f"| {group} | {count} | 0 | – | – | – |", flush=True)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            csv.writer(out).writerows([["group", "question", "old_s", "new_s"], *rows])
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
