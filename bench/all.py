#!/usr/bin/env python3
"""Everything side by side with the peers, in one run on one machine: the performance record in docs/speed.md.

    bench/all.py [--ample FILE] [--sections search,verdict,ltl,philosophers] [--limit 120] [--repeat 1] [--write]

search        all states, reductions off: `pan -O3`, and ample with one thread and with two
verdict       from the file to the verdict, default reductions: `spin -a`, `gcc -O2`, `pan`; `ample check`
ltl           verdicts on formulas: ample with one thread and with two, beside `pan -a`
philosophers  16 dining philosophers: ample, pan and Stateright (a crate, built in bench/stateright), one thread and two

The models are ours (`models/promela`) and those of the corpus beside the project (`../shared/corpora`), if it is there.
Prints Markdown. With --write it replaces what stands between the lines `<!-- bench/all.py: NAME -->` and
`<!-- end -->` of docs/speed.md, and writes the plots (docs/speed-*.svg): a point for each model, pan's time against
ample's, on logarithmic scales; below the diagonal ample is faster.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import spin

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
PHILOSOPHERS = """#define N 16
bool fork[N];
active [N] proctype philosopher() {
  do
  :: atomic { !fork[_pid] -> fork[_pid] = true };
     atomic { !fork[(_pid + 1) % N] -> fork[(_pid + 1) % N] = true };
     atomic { fork[_pid] = false; fork[(_pid + 1) % N] = false }
  od
}
"""


def models(least):
    """Models with at least so many states: ours, and those of the corpus."""
    for file in sorted((ROOT / "models" / "promela").glob("*.pml")):
        found = re.search(r"expect states:\s*(\d+)", file.read_text())
        if found and int(found[1]) >= least:
            yield file
    table = CORPORA / "promela.csv"
    if not table.exists():
        print("bench: no corpus beside the project; only its own models", file=sys.stderr)
        return
    with open(table, newline="") as rows:
        for row in csv.DictReader(rows):
            if row["states_plain"].isdigit() and int(row["states_plain"]) >= least:
                yield CORPORA / row["model"]


def states(ample, model, threads, limit):
    """Search seconds, total seconds, states, bytes a state; or why not."""
    command = [ample, "states", model, "--engine", "explicit", "--threads", str(threads), "--json", "--quiet",
               "--time-limit", f"{limit}s"]
    try:
        total, done = spin.timed(command, timeout=limit + 30)
        answer = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return "ample does not finish"
    if not answer.get("complete"):
        return "ample does not finish"
    stats = answer["stats"]
    return dict(search=stats["time_s"], total=total, states=int(stats["states"]),
                per_state=stats["store_bytes"] / max(1, int(stats["states"])))


def best(runs, repeat):
    """The fastest of several runs of each, in turns."""
    found = {}
    for _ in range(repeat):
        for name, run in runs.items():
            result = run()
            if isinstance(result, str):
                found.setdefault(name, result)
            elif name not in found or isinstance(found[name], str) or result["search"] < found[name]["search"]:
                found[name] = result
    return found


def ratio(one, other):
    return max(one, 0.01) / max(other, 0.01)


def search(arguments):
    lines = ["| model | states | pan | ample, 1 thread | ample, 2 threads | speed | speed-up | pan bytes | ample bytes |",
             "|---|---:|---:|---:|---:|---:|---:|---:|---:|"]
    rows = []
    for model in models(arguments.min_states):
        found = best({"pan": lambda: spin.run_spin(model, arguments.limit, "3"),
                      "one": lambda: states(arguments.ample, model, 1, arguments.limit),
                      "two": lambda: states(arguments.ample, model, 2, arguments.limit)}, arguments.repeat)
        why = [result for result in found.values() if isinstance(result, str)]
        if why:
            lines.append(f"| {model.name} | {why[0]} | | | | | | | |")
            continue
        pan, one, two = found["pan"], found["one"], found["two"]
        differs = "" if pan["states"] == one["states"] == two["states"] else " **counts differ**"
        rows.append(dict(model=model.name, pan=pan["search"], ample=one["search"], two=two["search"],
                         speed=ratio(pan["search"], one["search"]), up=ratio(one["search"], two["search"]),
                         memory=one["per_state"] / max(1, pan["per_state"])))
        lines.append(f"| {model.name} | {one['states']:,}{differs} | {pan['search']:.2f} s | {one['search']:.2f} s | "
                     f"{two['search']:.2f} s | {rows[-1]['speed']:.2f} | {rows[-1]['up']:.2f} | "
                     f"{pan['per_state']:.0f} | {one['per_state']:.0f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    if rows:
        long = [row["up"] for row in rows if row["ample"] >= 1]
        lines += ["", f"Medians of {len(rows)} models: {statistics.median(row['speed'] for row in rows):.2f} times as fast as pan "
                  f"on one thread (worst {min(row['speed'] for row in rows):.2f}), "
                  f"{statistics.median(row['memory'] for row in rows):.2f} of its bytes a state"
                  + (f"; on two threads {statistics.median(long):.2f} times as fast as on one where that takes a second "
                     f"or more ({len(long)} models)" if long else "") + "."]
    return lines, rows


def default_pan(model, limit):
    """As a user of Spin would: `spin -a`, `gcc -O2`, `pan`, from the file to the verdict."""
    with tempfile.TemporaryDirectory() as folder:
        begun = time.monotonic()
        subprocess.run(["spin", "-a", model], cwd=folder, capture_output=True)
        if not (pathlib.Path(folder) / "pan.c").exists():
            return "spin refuses it"
        flags = ["-O2", "-w", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=4096", "-DMEMLIM=16000"]
        if subprocess.run(["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder, capture_output=True).returncode:
            return "gcc refuses it"
        try:
            done = subprocess.run(["./pan", "-m10000000", "-w24"], cwd=folder, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            return "pan does not finish"
        if "errors:" not in done.stdout:
            return "pan stops early"
        return dict(search=time.monotonic() - begun, violated=not re.search(r"errors: 0", done.stdout))


def default_ample(ample, model, limit):
    command = [ample, "check", model, "--deadlock", "--assertions", "--json", "--quiet", "--time-limit", f"{limit}s"]
    begun = time.monotonic()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit + 30)
        answers = json.loads(done.stdout)["results"]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError):
        return "ample does not finish"
    verdicts = {answer["verdict"] for answer in answers}
    if "unknown" in verdicts and "violated" not in verdicts:
        return "ample does not finish"
    return dict(search=time.monotonic() - begun, violated="violated" in verdicts)


def verdict(arguments):
    lines = ["| model | verdict | Spin | ample | ratio |", "|---|---|---:|---:|---:|"]
    rows = []
    for model in models(60_000):
        found = best({"pan": lambda: default_pan(model, arguments.limit),
                      "ample": lambda: default_ample(arguments.ample, model, arguments.limit)}, arguments.repeat)
        pan, ample = found["pan"], found["ample"]
        why = [result for result in found.values() if isinstance(result, str)]
        if why:
            lines.append(f"| {model.name} | {why[0]} | | | |")
            continue
        what = "violated" if ample["violated"] else "holds"
        if pan["violated"] != ample["violated"]:
            what = f"**differs**: Spin {'violated' if pan['violated'] else 'holds'}, ample {what}"
        rows.append(dict(model=model.name, pan=pan["search"], ample=ample["search"]))
        lines.append(f"| {model.name} | {what} | {pan['search']:.2f} s | {ample['search']:.2f} s | {ample['search'] / pan['search']:.2f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    if rows:
        ratios = [row["ample"] / row["pan"] for row in rows]
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        lines += ["", f"Geometric mean of {len(rows)}: {mean:.2f} of Spin's time; worst {max(ratios):.2f}."]
    return lines, rows


def ltl(arguments):
    table = CORPORA / "promela-ltl.csv"
    lines = ["| model | formula | verdict | states | pan | ample, 1 thread | ample, 2 threads | speed | speed-up |",
             "|---|---|---|---:|---:|---:|---:|---:|---:|"]
    rows = []
    if not table.exists():
        return ["(The corpus is not there.)"], rows
    options = argparse.Namespace(ltl=str(table), model=[], fair=False, ample=arguments.ample, limit=arguments.limit, optimise="3")
    for model, formula, known in spin.formulas(options):
        def check(threads):
            command = [arguments.ample, "check", model, "--ltl", formula, "--engine", "explicit", "--por", "none",
                       "--threads", str(threads), "--json", "--quiet", "--time-limit", f"{arguments.limit}s"]
            try:
                _, done = spin.timed(command, timeout=arguments.limit + 30)
                result = json.loads(done.stdout)["results"][0]
            except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError, IndexError):
                return "ample does not finish"
            if result["verdict"] == "unknown":
                return "ample does not finish"
            return dict(search=result["stats"]["time_s"], verdict=result["verdict"], states=int(result["stats"]["states"]))
        one = check(1)
        if isinstance(one, str) or one["search"] < 0.2:
            continue
        found = best({"pan": lambda: spin.run_pan(model, formula, options), "one": lambda: check(1), "two": lambda: check(2)},
                     arguments.repeat)
        pan, one, two = found["pan"], found["one"], found["two"]
        if isinstance(two, str) or isinstance(one, str):
            lines.append(f"| {model.name} | {formula} | {two if isinstance(two, str) else one} | | | | | | |")
            continue
        right = one["verdict"] == two["verdict"] == known
        rows.append(dict(model=f"{model.name} {formula}", one=one["search"], two=two["search"], up=ratio(one["search"], two["search"])))
        beside = ("", "") if isinstance(pan, str) else (f"{pan['search']:.2f} s", f"{ratio(pan['search'], one['search']):.2f}")
        lines.append(f"| {model.name} | {formula} | {one['verdict'] if right else '**differs**'} | {one['states']:,} | {beside[0]} | "
                     f"{one['search']:.2f} s | {two['search']:.2f} s | {beside[1]} | {rows[-1]['up']:.2f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    if rows:
        largest = sorted(rows, key=lambda row: -row["one"])[:5]
        lines += ["", f"On two threads the {len(largest)} longest are {statistics.median(row['up'] for row in largest):.2f} times as "
                  "fast as on one (median)."]
    return lines, rows


def philosophers(arguments):
    lines = ["| tool | threads | states | seconds | of pan's time |", "|---|---:|---:|---:|---:|"]
    folder = ROOT / "bench" / "stateright"
    built = subprocess.run(["cargo", "build", "--release", "-q"], cwd=folder).returncode == 0
    with tempfile.TemporaryDirectory() as temporary:
        model = pathlib.Path(temporary) / "philosophers.pml"
        model.write_text(PHILOSOPHERS)
        runs = {("pan -O3", 1): lambda: spin.run_spin(model, arguments.limit, "3"),
                ("ample", 1): lambda: states(arguments.ample, model, 1, arguments.limit),
                ("ample", 2): lambda: states(arguments.ample, model, 2, arguments.limit)}
        if built:
            def stateright(threads):
                done = subprocess.run([folder / "target" / "release" / "stateright-philosophers", "16", str(threads)],
                                      capture_output=True, text=True)
                count, seconds = done.stdout.split()
                return dict(states=int(count), search=float(seconds))
            runs |= {("Stateright", 1): lambda: stateright(1), ("Stateright", 2): lambda: stateright(2)}
        found = best(runs, max(3, arguments.repeat))
    pan = found["pan -O3", 1]
    for (tool, threads), result in found.items():
        if isinstance(result, str):
            lines.append(f"| {tool} | {threads} | {result} | | |")
            continue
        of_pan = "" if isinstance(pan, str) else f"{result['search'] / pan['search']:.2f}"
        lines.append(f"| {tool} | {threads} | {result['states']:,} | {result['search']:.2f} | {of_pan} |")
    return lines, []


def plot(rows, file, title):
    """A point for each model: pan's time and ample's, on logarithmic scales."""
    size, margin = 420, 50
    times = [max(0.01, row[key]) for row in rows for key in ("pan", "ample")]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    def place(seconds):
        return margin + (size - 2 * margin) * (math.log10(max(0.01, seconds)) - low) / max(1, high - low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size} {size}" font-family="sans-serif" font-size="11">',
           f'<rect width="{size}" height="{size}" fill="white"/>',
           f'<text x="{size / 2}" y="20" text-anchor="middle" font-size="13">{title}</text>',
           f'<line x1="{margin}" y1="{size - margin}" x2="{size - margin}" y2="{margin}" stroke="#999" stroke-dasharray="4 3"/>',
           f'<rect x="{margin}" y="{margin}" width="{size - 2 * margin}" height="{size - 2 * margin}" fill="none" stroke="black"/>']
    for power in range(low, high + 1):
        at = place(10 ** power)
        label = f"{10 ** power:g} s"
        out += [f'<text x="{at:.1f}" y="{size - margin + 16}" text-anchor="middle">{label}</text>',
                f'<text x="{margin - 6}" y="{size - at + 4:.1f}" text-anchor="end">{label}</text>']
    out += [f'<text x="{size / 2}" y="{size - 12}" text-anchor="middle">Spin</text>',
            f'<text x="14" y="{size / 2}" text-anchor="middle" transform="rotate(-90 14 {size / 2})">ample</text>']
    for row in rows:
        out.append(f'<circle cx="{place(row["pan"]):.1f}" cy="{size - place(row["ample"]):.1f}" r="4" fill="#1f5fa8" '
                   f'fill-opacity="0.7"><title>{row["model"]}: {row["pan"]:.2f} s, {row["ample"]:.2f} s</title></circle>')
    file.write_text("\n".join(out + ["</svg>", ""]))


SECTIONS = {"search": search, "verdict": verdict, "ltl": ltl, "philosophers": philosophers}
TITLES = {"search": "All states, one thread", "verdict": "From the file to the verdict"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--sections", default=",".join(SECTIONS))
    parser.add_argument("--min-states", type=int, default=100_000)
    parser.add_argument("--limit", type=int, default=120, help="seconds for one search")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    parser.add_argument("--write", action="store_true", help="write tables and plots to docs/")
    arguments = parser.parse_args()
    if not shutil.which("spin") or not shutil.which("gcc"):
        sys.exit("bench: spin and gcc are needed; see scripts/setup")
    page = ROOT / "docs" / "speed.md"
    for name in arguments.sections.split(","):
        lines, rows = SECTIONS[name](arguments)
        print(f"\n## {name}\n\n" + "\n".join(lines), flush=True)
        if not arguments.write:
            continue
        begin, end = f"<!-- bench/all.py: {name} -->", "<!-- end -->"
        text = page.read_text()
        if begin not in text:
            sys.exit(f"bench: {page} has no line {begin}")
        before, rest = text.split(begin, 1)
        after = rest.split(end, 1)[1]
        page.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}")
        if rows and name in TITLES:
            plot(rows, ROOT / "docs" / f"speed-{name}.svg", TITLES[name])


if __name__ == "__main__":
    main()
