#!/usr/bin/env python3
"""ample states against Spin's pan, on the same models, one after the other on the same machine.

Every reduction is off on both sides: `spin -a -o1 -o2 -o3`, `gcc -O2 -DSAFETY -DNOREDUCE`, `pan -c0 -n`, and
`ample states`. Prints, for each model, the states per second of the search, the total time from the file to the
count (for Spin with translation and compilation) and the memory per state, each as a ratio ample/Spin (below 1 is
better for time and memory; the speed ratio is above 1 where ample is faster), then the medians.

    bench/spin.py [--models DIR] [--min-states 100000] [--limit 120] [--csv FILE] [MODEL…]

Without MODEL, the models under models/promela that say `expect states: N` with N large enough are taken, and, with
--table FILE.csv (columns model, states_plain), those of a corpus beside it.

    bench/spin.py --ltl [FILE.csv] [--fair] [--limit 120] [--csv FILE] [MODEL…]

compares how long a verdict on an ltl formula takes: FILE.csv (columns model, ltl, config, verdict; the models lie beside
it) names the formulas, and those with config ltl_noreduce and a verdict are taken (with --fair those with
ltl_noreduce_fair, with weak fairness on both sides), of these MODELs if there are any. Again pan reduces nothing: `spin -a
-o1 -o2 -o3`, `gcc -O2 -DNOREDUCE` (and -DNOFAIR without fairness), `pan -a -n` (and -f), both end at the first violation.
The table is Markdown. The automata of the two differ, so the states do too.
"""
import argparse, csv, json, pathlib, re, shutil, statistics, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent


def timed(command, **options):
    began = time.monotonic()
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace", **options)
    return time.monotonic() - began, done


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def run_spin(model, limit, optimise):
    """Search seconds, total seconds, states, bytes per state and peak bytes; or a string that says why not."""
    with tempfile.TemporaryDirectory() as folder:
        translate, done = timed(["spin", "-a", "-o1", "-o2", "-o3", model], cwd=folder)
        if not (pathlib.Path(folder) / "pan.c").exists():
            return "spin refuses it"
        flags = [f"-O{optimise}", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=4096", "-DMEMLIM=16000"]
        compile_time, done = timed(["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder)
        if done.returncode:
            return "gcc refuses it"
        # A depth that is always enough, a hash table that fits: pan at its best.
        try:
            search, done = timed(["./pan", "-c0", "-n", "-m10000000", "-w24"], cwd=folder, timeout=limit)
        except subprocess.TimeoutExpired:
            return "pan does not finish"
    text = done.stdout
    states = number(r"(\d+) states, stored", text)
    if states is None or "Search not completed" in text:
        return "pan stops early"
    elapsed = number(r"elapsed time ([\d.e+-]+) seconds", text) or search
    vector = number(r"State-vector (\d+) byte", text) or 0
    # What pan itself reports for the stored states and the hash table; the search stack is not counted.
    stored = number(r"([\d.]+)\s+actual memory usage for states", text)
    if stored is None:
        stored = number(r"([\d.]+)\s+equivalent memory usage for states", text) or 0
    table = number(r"([\d.]+)\s+memory used for hash table", text) or 0
    return dict(search=elapsed, total=translate + compile_time + search, states=int(states), vector=vector,
                per_state=stored * 2**20 / states, with_table=(stored + table) * 2**20 / states)


def run_ample(ample, model, limit):
    try:
        total, done = timed([ample, "states", model, "--engine", "explicit", "--json", "--time-limit", f"{limit}s", "--quiet"], timeout=limit + 30)
        answer = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return "ample does not finish"
    if not answer.get("complete"):
        return "ample does not finish"
    stats = answer["stats"]
    return dict(search=stats["time_s"], total=total, states=int(stats["states"]),
                per_state=stats.get("store_bytes", stats["memory_bytes"]) / max(1, int(stats["states"])))


def models(arguments):
    if arguments.model:
        return [pathlib.Path(m).resolve() for m in arguments.model]
    chosen = []
    for file in sorted((ROOT / "models" / "promela").glob("*.pml")):
        found = re.search(r"expect states:\s*(\d+)", file.read_text())
        if found and int(found[1]) >= arguments.min_states:
            chosen.append(file)
    if arguments.table:
        table = pathlib.Path(arguments.table).resolve()
        with open(table, newline="") as rows:
            for row in csv.DictReader(rows):
                if row["states_plain"].isdigit() and int(row["states_plain"]) >= arguments.min_states:
                    chosen.append(table.parent / row["model"])
    return chosen


def formulas(arguments):
    """Model, name of the formula and the verdict that is known."""
    table = pathlib.Path(arguments.ltl).resolve()
    chosen = {pathlib.Path(m).resolve() for m in arguments.model}
    with open(table, newline="") as rows:
        for row in csv.DictReader(rows):
            model = (table.parent / row["model"]).resolve()
            if row["config"] == ("ltl_noreduce_fair" if arguments.fair else "ltl_noreduce") and row["verdict"] in ("holds", "violated") and (not chosen or model in chosen):
                yield model, row["ltl"], row["verdict"]


def run_pan(model, formula, arguments):
    """Verdict, search seconds, total seconds, states and transitions; or a string that says why not."""
    with tempfile.TemporaryDirectory() as folder:
        total, done = timed(["spin", "-a", "-o1", "-o2", "-o3", model], cwd=folder)
        if not (pathlib.Path(folder) / "pan.c").exists():
            return "spin refuses it"
        name = ["-N", formula] if "choose which one" in done.stdout else []
        fairness = ["-DNFAIR=2"] if arguments.fair else ["-DNOFAIR"]
        while True:
            flags = [f"-O{arguments.optimise}", "-w", "-DNOREDUCE", "-DVECTORSZ=4096", "-DMEMLIM=16000", *fairness]
            compile_time, done = timed(["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder)
            if done.returncode:
                return "gcc refuses it"
            try:
                search, done = timed(["./pan", "-a", "-n", "-m10000000", "-w24", *(["-f"] if arguments.fair else []), *name], cwd=folder, timeout=arguments.limit)
            except subprocess.TimeoutExpired:
                return "pan does not finish"
            text = done.stdout
            wanted = re.search(r"recompile with (-DNFAIR=\d+)", text)
            if not wanted:
                break
            fairness = [wanted[1]]
    first = re.search(r"^pan:\d+: (.*)", text, re.M)
    states = number(r"(\d+) states, stored", text)
    early = "max search depth" in text or (number(r"depth reached (\d+)", text) or 0) >= 10_000_000 - 2
    if states is None or first is None and ("Search not completed" in text or early):
        return "pan stops early"
    if first and not re.match("acceptance cycle|accept stutter|end state in claim|assertion violated", first[1]):
        return f"pan finds something else: {first[1]}"
    return dict(verdict="violated" if first else "holds", search=number(r"elapsed time ([\d.e+-]+) seconds", text) or 0,
                total=total + compile_time + search, states=int(states), transitions=int(number(r"(\d+) transitions", text) or 0))


def run_check(model, formula, arguments):
    command = [arguments.ample, "check", model, "--ltl", formula, "--json", "--quiet", "--time-limit", f"{arguments.limit}s",
               "--fairness", "weak" if arguments.fair else "none"]
    try:
        total, done = timed(command, timeout=arguments.limit + 30)
        result = json.loads(done.stdout)["results"][0]
    except (subprocess.TimeoutExpired, json.JSONDecodeError, KeyError, IndexError):
        return "ample does not finish"
    if result["verdict"] not in ("holds", "violated"):
        return f"ample: {result.get('reason', result['verdict'])}"
    stats = result["stats"]
    return dict(verdict=result["verdict"], search=stats["time_s"], total=total, states=int(stats["states"]), transitions=int(stats["transitions"]))


def compare_formulas(arguments):
    print(f"`spin -a -o1 -o2 -o3`, `gcc -O{arguments.optimise} -DNOREDUCE{'' if arguments.fair else ' -DNOFAIR'}`, `pan -a -n{' -f' if arguments.fair else ''}`; "
          f"`ample check --ltl{' --fairness weak' if arguments.fair else ''}`; best of {arguments.repeat}.\n")
    print("| model | formula | verdict | pan states | ample states | pan | ample | speed | pan total | ample total | total |")
    print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|", flush=True)
    rows = []
    for model, formula, known in formulas(arguments):
        best = {}
        for _ in range(arguments.repeat):
            for name, run in (("pan", run_pan), ("ample", run_check)):
                result = run(model, formula, arguments)
                if isinstance(result, str) or name not in best or isinstance(best[name], str) or result["search"] < best[name]["search"]:
                    best[name] = result
        pan, ample = best["pan"], best["ample"]
        failed = [result for result in (pan, ample) if isinstance(result, str)]
        if failed:
            times = [" " if isinstance(result, str) else f" {result['search']:.2f} s " for result in (pan, ample)]
            print(f"| {model.name} | {formula} | {', '.join(failed)} | | |{times[0]}|{times[1]}| | | | |", flush=True)
            continue
        verdict = pan["verdict"] if pan["verdict"] == ample["verdict"] == known else f"DIFFERS: pan {pan['verdict']}, ample {ample['verdict']}, table {known}"
        # Pan counts hundredths of a second.
        row = dict(model=model.name, formula=formula, verdict=verdict, pan_states=pan["states"], ample_states=ample["states"],
                   pan_transitions=pan["transitions"], ample_transitions=ample["transitions"], pan_s=pan["search"], ample_s=ample["search"],
                   speed=max(pan["search"], 0.01) / max(ample["search"], 0.01), pan_total=pan["total"], ample_total=ample["total"],
                   total=ample["total"] / pan["total"])
        rows.append(row)
        print("| {model} | {formula} | {verdict} | {pan_states:,} | {ample_states:,} | {pan_s:.2f} s | {ample_s:.2f} s | {speed:.2f} | {pan_total:.2f} s | {ample_total:.2f} s | {total:.2f} |".format(**row), flush=True)
    if rows:
        print(f"\nMedian of all {len(rows)}: {statistics.median(r['total'] for r in rows):.2f} of pan's total time.")
        for verdict in "holds", "violated":
            long = [r for r in rows if r["verdict"] == verdict and max(r["pan_s"], r["ample_s"]) >= 0.1]
            if long:
                print(f"Median of the {len(long)} that take a tenth of a second or more where the formula is {'satisfied' if verdict == 'holds' else verdict}: "
                      f"search {statistics.median(r['speed'] for r in long):.2f} times as fast as pan, {statistics.median(r['total'] for r in long):.2f} of its total time.")
    return rows


def write(rows, file):
    if rows and file:
        with open(file, "w", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*")
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--table", help="a CSV with columns model and states_plain; models lie beside it")
    parser.add_argument("--ltl", nargs="?", metavar="FILE.csv", const=str(ROOT.parent / "shared" / "corpora" / "promela-ltl.csv"),
                        help="compare verdicts on the ltl formulas that the table names (%(const)s)")
    parser.add_argument("--fair", action="store_true", help="with --ltl: with weak fairness")
    parser.add_argument("--min-states", type=int, default=100_000)
    parser.add_argument("--limit", type=int, default=120, help="seconds for one search")
    parser.add_argument("--optimise", default="2", help="gcc's -O")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    parser.add_argument("--csv", help="write the figures here too")
    arguments = parser.parse_args()
    if not shutil.which("spin") or not shutil.which("gcc"):
        sys.exit("bench: spin and gcc are needed; see scripts/setup")
    if arguments.ltl:
        return write(compare_formulas(arguments), arguments.csv)
    rows = []
    header = ("model", "states", "pan s", "ample s", "speed", "pan total", "ample total", "total", "pan B", "ample B", "memory")
    print("%-34s %10s %8s %8s %7s %9s %11s %7s %7s %7s %7s" % header)
    for model in models(arguments):
        best = {}
        for _ in range(arguments.repeat):
            for name, run in (("spin", lambda: run_spin(model, arguments.limit, arguments.optimise)),
                              ("ample", lambda: run_ample(arguments.ample, model, arguments.limit))):
                result = run()
                if isinstance(result, str) or name not in best or isinstance(best[name], str) or result["search"] < best[name]["search"]:
                    best[name] = result
        spin, ample = best["spin"], best["ample"]
        if isinstance(spin, str) or isinstance(ample, str):
            print("%-34s %s" % (model.name[:34], spin if isinstance(spin, str) else ample), flush=True)
            continue
        note = "" if spin["states"] == ample["states"] else f"  COUNTS DIFFER: {spin['states']}"
        row = dict(model=model.name, states=ample["states"], pan_s=spin["search"], ample_s=ample["search"],
                   speed=max(spin["search"], 0.01) / max(ample["search"], 0.0001),
                   pan_total=spin["total"], ample_total=ample["total"], total=ample["total"] / spin["total"],
                   pan_bytes=spin["with_table"], pan_bytes_states=spin["per_state"], ample_bytes=ample["per_state"],
                   memory=ample["per_state"] / max(spin["per_state"], 1))
        rows.append(row)
        print("%-34s %10d %8.2f %8.2f %7.2f %9.2f %11.2f %7.2f %7.0f %7.0f %7.2f%s" % (
            row["model"][:34], row["states"], row["pan_s"], row["ample_s"], row["speed"], row["pan_total"],
            row["ample_total"], row["total"], row["pan_bytes_states"], row["ample_bytes"], row["memory"], note), flush=True)
    if not rows:
        return
    print("median: speed %.2f, total %.2f, memory per state %.2f" % tuple(
        statistics.median(r[k] for r in rows) for k in ("speed", "total", "memory")))
    write(rows, arguments.csv)


if __name__ == "__main__":
    main()
