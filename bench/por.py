#!/usr/bin/env python3
"""Partial-order reduction: ample check against Spin's pan, like with like.

Of Spin's reductions only this one is on: `spin -a -o1 -o2 -o3` (no statement merging, no dead variables), `gcc -O2 -DSAFETY
-DNOCLAIM`, `pan -c0 -n`, which goes on after errors, so that the whole reduced space is counted. Of ample: `ample check
--deadlock --assertions --reductions none --por SETTING`, once for each of the settings; `default` is without the option --por, and a setting that
begins with -- is taken as it is ("--por stubborn --search dfs"). A search for both properties goes to its end unless both are
violated.

    bench/por.py --settings default,none,… [--cache FILE.csv] [--csv FILE.csv] [--markdown] [MODEL…]
    bench/por.py --only-spin --cache FILE.csv

Without MODEL, all models of the table are taken (columns model, states_plain, deadlock, assertion; the models lie beside it),
and with --ours those under models/promela. Spin's figures are kept in the cache and not computed again, unless a search was
ended by a smaller limit than the present one. Its times are those of the machine and the day when it was filled: for a
comparison of times begin with a fresh one.

The summary is over the models whose search is complete on both sides and where pan reports no error: the geometric mean of
ample's states divided by Spin's (below 1: ample reduces more), the models where ample has more states than Spin, the median of
the ratio of total times (for Spin with translation and compilation). Models with errors are marked and counted apart: where
ample's search went to the end nevertheless (one of the two properties holds) its states can be compared, with care: Spin goes
on looking for deadlocks when it has found one. Verdicts that are not those of the table, or not the same for all settings, are
named at the end: then a reduction is unsound.
"""
import argparse, csv, json, math, os, pathlib, re, shlex, shutil, signal, statistics, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
from spin import ROOT, number, timed

DEPTH = 10_000_000
# status: complete, time, memory, depth, no reduction (pan does not reduce), or why there is nothing. error: the first one.
SPIN = ["model", "options", "limit", "memory", "status", "states", "transitions", "errors", "error", "pan_s", "total_s"]


def run_pan(folder, limit):
    """Wall-clock seconds, whether it was in time, and what pan prints; interrupted, it prints what it has."""
    began = time.monotonic()
    with open(folder / "output", "w+", errors="replace") as output:
        pan = subprocess.Popen(["./pan", "-c0", "-n", f"-m{DEPTH}", "-w24"], cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=output, stderr=subprocess.STDOUT)
        in_time = True
        try:
            pan.wait(limit)
        except subprocess.TimeoutExpired:
            in_time = False
            pan.send_signal(signal.SIGINT)
            try:
                pan.wait(10)
            except subprocess.TimeoutExpired:
                pass
        finally:
            pan.kill()
            pan.wait()
        took = time.monotonic() - began
        output.seek(0)
        return took, in_time, output.read()


def run_spin(model, arguments):
    row = dict.fromkeys(SPIN, "") | dict(options=arguments.spin_options, limit=arguments.limit, memory=arguments.memory)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        translate, done = timed(["spin", "-a", *shlex.split(arguments.spin_options), model], cwd=folder, stdin=subprocess.DEVNULL)
        if not (folder / "pan.c").exists():
            return row | dict(status="spin refuses it")
        flags = [f"-O{arguments.optimise}", "-w", "-DSAFETY", "-DNOCLAIM", "-DVECTORSZ=4096", f"-DMEMLIM={arguments.memory}"]
        compilation, done = timed(["gcc", *flags, "-o", "pan", "pan.c"], cwd=folder)
        if done.returncode:
            return row | dict(status="gcc refuses it")
        search, in_time, text = run_pan(folder, arguments.limit)
    states = number(r"(\d+) states, stored", text)
    first = re.search(r"^pan:\d+: (.*?)(?: \(at depth \d+\))?$", text, re.M)
    if states is None:
        return row | dict(status="pan fails: " + (first[1] if first else (text.strip().splitlines() or ["nothing"])[-1])[:80])
    if not in_time:
        status = "time"
    elif "max search depth" in text or (number(r"depth reached (\d+)", text) or 0) >= DEPTH - 2:
        status = "depth"
    elif "Search not completed" in text:
        status = "memory" if "memory" in text.split("(Spin Version")[0] else "stops early"
    else:
        status = "complete" if "+ Partial Order Reduction" in text else "no reduction"
    errors = int(number(r"errors: (\d+)", text) or 0)
    error = "" if not errors else "reduction invalid" if "partial order reduction invalid" in text else kind(first[1] if first else "")
    return row | dict(status=status, states=int(states), transitions=int(number(r"(\d+) transitions", text) or 0), errors=errors,
                      error=error, pan_s=number(r"elapsed time ([\d.e+-]+) seconds", text) or 0,
                      total_s=round(translate + compilation + search, 3))


def kind(message):
    return "deadlock" if message.startswith("invalid end state") else "assertion" if message.startswith("assertion violated") else message[:80]


class Cache:
    """Spin's rows, by model; written after each model."""

    def __init__(self, file, arguments):
        self.file, self.arguments, self.rows = file, arguments, {}
        if file and os.path.exists(file):
            with open(file, newline="") as rows:
                for row in csv.DictReader(rows):
                    for key in ("states", "transitions", "errors"):
                        row[key] = int(row[key]) if row[key] else ""
                    for key in ("limit", "memory", "pan_s", "total_s"):
                        row[key] = float(row[key]) if row[key] else ""
                    self.rows[row["model"], row["options"]] = row

    def get(self, name, model):
        key = name, self.arguments.spin_options
        row = self.rows.get(key)
        if row and not (row["status"] == "time" and row["limit"] < self.arguments.limit
                        or row["status"] == "memory" and row["memory"] < self.arguments.memory):
            return row
        runs = [run_spin(model, self.arguments) for _ in range(self.arguments.repeat)]
        row = min(runs, key=lambda r: (r["status"] != "complete", r["total_s"] or 0)) | dict(model=name)
        self.rows[key] = row
        if self.file:
            with open(self.file + ".new", "w", newline="") as out:
                writer = csv.DictWriter(out, fieldnames=SPIN)
                writer.writeheader()
                writer.writerows(self.rows.values())
            os.replace(self.file + ".new", self.file)
        return row


def options_of(setting):
    return [] if setting == "default" else shlex.split(setting) if setting.startswith("--") else ["--por", setting]


def run_ample(model, setting, arguments):
    """status (complete, or why not), the verdicts, states, transitions, search and total seconds."""
    command = [arguments.ample, "check", model, "--deadlock", "--assertions", "--reductions", arguments.reductions,
               *options_of(setting), "--json", "--quiet", "--time-limit", f"{arguments.limit}s", "--memory-limit", f"{arguments.memory}M"]
    try:
        total, done = timed(command, timeout=arguments.limit + 30, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return dict(status="does not finish", verdicts={})
    try:
        answer = json.loads(done.stdout)
    except json.JSONDecodeError:
        if done.returncode == 2:
            sys.exit(f"bench: {shlex.join(map(str, command))}: {(done.stderr.strip().splitlines() or ['refused'])[0]}")
        return dict(status=f"fails with {done.returncode}", verdicts={})
    if "stats" not in answer:
        return dict(status="ample refuses it", verdicts={})
    stats = answer["stats"]
    verdicts = {result["property"]: result["verdict"] for result in answer["results"]}
    # With both violated, the search has ended before its end.
    status = "not complete" if not answer.get("complete") or "unknown" in verdicts.values() else "complete" if "holds" in verdicts.values() else "ended"
    return dict(status=status, verdicts=verdicts, states=int(stats["states"]), transitions=int(stats["transitions"]),
                search_s=stats["time_s"], total_s=round(total, 4))


def models(arguments):
    """Name, file, plain states (or None) and the known verdicts."""
    word = dict(yes="violated", no="holds")
    table, known, chosen = pathlib.Path(arguments.table).resolve(), {}, []
    if table.exists():
        with open(table, newline="") as rows:
            for row in csv.DictReader(rows):
                file = (table.parent / row["model"]).resolve()
                plain = int(row["states_plain"]) if row["states_plain"].isdigit() else None
                verdicts = {"deadlock": word.get(row["deadlock"]), "assertions": word.get(row["assertion"])}
                known[file] = row["model"], file, plain, verdicts
    elif not arguments.model and not arguments.ours:
        sys.exit(f"bench: {table} is not there; name models, or a table with --table, or take ours with --ours")
    for file in sorted((ROOT / "models" / "promela").glob("*.pml")):
        text = file.read_text()
        plain = re.search(r"expect states:\s*(\d+)", text)
        verdicts = {name: found[1] for name in ("deadlock", "assertions") if (found := re.search(rf"expect {name}:\s*(\w+)", text))}
        known[file] = str(file.relative_to(ROOT)), file, int(plain[1]) if plain else None, verdicts
        if arguments.ours:
            chosen.append(known[file])
    if arguments.model:
        chosen += [known.get(file, (name, file, None, {})) for name in arguments.model for file in [pathlib.Path(name).resolve()]]
    elif not arguments.ours:
        chosen = [entry for entry in known.values() if entry[1].is_relative_to(table.parent)]
    for entry in chosen:
        plain = entry[2]
        if arguments.match and not re.search(arguments.match, entry[0]):
            continue
        if arguments.max_states and (plain is None or plain > arguments.max_states) or arguments.min_states and (plain or 0) < arguments.min_states:
            continue
        yield entry


def compare(arguments, settings):
    cache, rows = Cache(arguments.cache, arguments), []
    for name, file, plain, known in models(arguments):
        spin = cache.get(name, file)
        runs, notes = {}, []
        if arguments.complete and spin["status"] not in ("complete", "no reduction"):
            continue
        for setting in settings:
            tries = [run_ample(file, setting, arguments) for _ in range(arguments.repeat)]
            run = runs[setting] = min(tries, key=lambda r: r.get("total_s", math.inf))
            for verdict_of, verdict in run["verdicts"].items():
                if verdict != "unknown" and known.get(verdict_of) not in (None, verdict):
                    notes.append(f"{setting}: {verdict_of} {verdict}, but known as {known[verdict_of]}")
            if spin["status"] in ("complete", "no reduction") and not spin["errors"] and "violated" in run["verdicts"].values():
                notes.append(f"{setting}: violated, but pan finds no error")
        for verdict_of in ("deadlock", "assertions"):
            said = {run["verdicts"].get(verdict_of) for run in runs.values()} - {None, "unknown"}
            if len(said) > 1:
                notes.append(f"the settings do not agree on {verdict_of}")
        rows.append(dict(name=name, plain=plain, spin=spin, runs=runs, notes=notes))
        show(rows[-1], settings, arguments)
    return rows


def count(value):
    return "" if value in (None, "") else f"{value:,}"


def bound(spin):
    """Pan's states; of a search that was cut off, a lower bound."""
    return (">" if spin["states"] != "" and spin["status"] not in ("complete", "no reduction") else "") + count(spin["states"])


def remark(row):
    spin = row["spin"]
    said = [] if spin["status"] == "complete" else [f"Spin: {spin['status']}"]
    if spin["errors"]:
        said.append(f"{spin['errors']} errors ({spin['error']})")
    for setting, run in row["runs"].items():
        if run["status"] != "complete":
            said.append(f"{setting}: {run['status']}")
    return "; ".join(said + (["VERDICTS DIFFER"] if row["notes"] else []))


def head(settings, arguments):
    if arguments.markdown:
        print("| model | plain | Spin | Spin total |" + "".join(f" {s} | of Spin's | total |" for s in settings) + " |")
        print("|---|---:|---:|---:|" + "---:|---:|---:|" * len(settings) + "---|", flush=True)
    else:
        print("%-34s %11s %11s %9s" % ("model", "plain", "Spin", "total s") + "".join(" | %11s %7s %8s" % (s[:11], "ratio", "total s") for s in settings), flush=True)


def show(row, settings, arguments):
    spin, cells = row["spin"], []
    for setting in settings:
        run = row["runs"][setting]
        ratio = f"{run['states'] / max(1, spin['states']):.3f}" if run["status"] == "complete" and spin["status"] in ("complete", "no reduction") else ""
        cells.append((count(run.get("states")), ratio, f"{run['total_s']:.2f}" if "total_s" in run else ""))
    total = f"{spin['total_s']:.2f}" if spin["total_s"] != "" else ""
    name = "/".join(pathlib.PurePath(row["name"]).parts[-2:])
    if arguments.markdown:
        print(f"| {name} | {count(row['plain'])} | {bound(spin)} | {total} |" + "".join(f" {a} | {b} | {c} |" for a, b, c in cells) + f" {remark(row)} |", flush=True)
    else:
        print("%-34s %11s %11s %9s" % (name[-34:], count(row["plain"]), bound(spin), total) + "".join(" | %11s %7s %8s" % c for c in cells) + ("  " + remark(row)).rstrip(), flush=True)


def mean(ratios):
    return math.exp(statistics.fmean(math.log(ratio) for ratio in ratios))


def summary(rows, settings):
    # Spin alone.
    complete = [row for row in rows if row["spin"]["status"] == "complete"]
    clean = [row for row in complete if not row["spin"]["errors"]]
    kinds = {}
    for row in complete:
        if row["spin"]["errors"]:
            kinds[row["spin"]["error"]] = kinds.get(row["spin"]["error"], 0) + 1
    print(f"\nSpin: {len(rows)} models, {len(complete)} complete, {len(clean)} of them without errors" +
          (" (errors: " + ", ".join(f"{n} {k}" for k, n in sorted(kinds.items(), key=lambda e: -e[1])) + ")" if kinds else "") + ".")
    for row in rows:
        if row["spin"]["status"] != "complete":
            print(f"  {row['name']}: {row['spin']['status']} {bound(row['spin'])}".rstrip())
    reduced = [(row["spin"]["states"] / row["plain"], row) for row in clean if row["plain"]]
    if reduced:
        print(f"Spin's states divided by the plain ones, without errors: geometric mean {mean([r for r, _ in reduced]):.3f} of {len(reduced)}; "
              f"no reduction at all in {sum(r >= 1 for r, _ in reduced)}.")
    # Ample, setting by setting.
    for setting in settings:
        for title, chosen in (("no error", [row for row in clean]),
                              ("errors, but searched to the end by both", [row for row in complete if row["spin"]["errors"] and row["spin"]["error"] != "reduction invalid"])):
            pairs = [(row["runs"][setting]["states"] / max(1, row["spin"]["states"]), row) for row in chosen if row["runs"][setting]["status"] == "complete"]
            if not pairs:
                continue
            large = [r for r, row in pairs if (row["plain"] or math.inf) >= 1000]
            worse = sorted(((r, row) for r, row in pairs if r > 1), key=lambda pair: -pair[0])
            print(f"\n{setting} ({title}): {len(pairs)} models, states/Spin's: geometric mean {mean([r for r, _ in pairs]):.3f}" +
                  (f" (of {len(large)} with 1000 plain states or more: {mean(large):.3f})" if large else "") +
                  f"; fewer in {sum(r < 1 for r, _ in pairs)}, equal in {sum(r == 1 for r, _ in pairs)}, more in {len(worse)}; "
                  f"total time/Spin's: median {statistics.median(row['runs'][setting]['total_s'] / row['spin']['total_s'] for _, row in pairs):.3f}.")
            for ratio, row in worse:
                print(f"  more: {row['name']}: {row['runs'][setting]['states']:,}, Spin {row['spin']['states']:,} ({ratio:.2f})")
    differ = [(row["name"], note) for row in rows for note in row["notes"]]
    if settings:
        print("\nVerdicts: " + (f"{len(differ)} DIFFER" if differ else "all as known, and the same for all settings") + ".")
    for name, note in differ:
        print(f"  {name}: {note}")


def reductions(rows, n):
    clean = sorted(((row["spin"]["states"] / row["plain"], row) for row in rows
                    if row["spin"]["status"] == "complete" and not row["spin"]["errors"] and row["plain"] and row["plain"] >= 1000), key=lambda pair: pair[0])
    n = min(n, len(clean) // 2)
    for title, part in ("most", clean[:n]), ("least", clean[len(clean) - n:]):
        print(f"\nReduced {title} by Spin (1000 plain states or more, no errors):")
        for ratio, row in part:
            print(f"  {ratio:8.5f}  {row['name']}: {row['plain']:,} to {row['spin']['states']:,}")


def write(rows, settings, file):
    with open(file, "w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(["model", "states_plain", "spin_por_states", "spin_por_transitions", "spin_total_s", "pan_s", "spin_status", "errors", "error"] +
                        [f"{s}_{c}" for s in settings for c in ("states", "transitions", "search_s", "total_s", "status", "deadlock", "assertions")] + ["notes"])
        for row in rows:
            line = [row["name"], row["plain"]] + [row["spin"][k] for k in ("states", "transitions", "total_s", "pan_s", "status", "errors", "error")]
            for setting in settings:
                run = row["runs"][setting]
                line += [run.get(k, "") for k in ("states", "transitions", "search_s", "total_s", "status")]
                line += [run["verdicts"].get(k, "") for k in ("deadlock", "assertions")]
            writer.writerow(line + ["; ".join(row["notes"])])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*")
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--settings", default="default", help="values of --por, comma between them; default: without the option")
    parser.add_argument("--table", default=str(ROOT.parent / "shared" / "corpora" / "promela.csv"))
    parser.add_argument("--ours", action="store_true", help="the models under models/promela instead of the table's")
    parser.add_argument("--match", help="only models whose name has this regular expression")
    parser.add_argument("--max-states", type=int, help="only models with at most so many plain states, as far as known")
    parser.add_argument("--min-states", type=int, help="only models with at least so many plain states")
    parser.add_argument("--limit", type=int, default=60, help="seconds for one search (default %(default)s)")
    parser.add_argument("--memory", type=int, default=4000, help="megabytes for one search (default %(default)s)")
    parser.add_argument("--optimise", default="2", help="gcc's -O")
    parser.add_argument("--spin-options", default="-o1 -o2 -o3", help="of spin -a; \"\" lets it merge statements too (default %(default)s)")
    parser.add_argument("--reductions", default="none", help="static reductions of ample; all beside --spin-options \"\" compares "
                        "both tools with everything that they have (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    parser.add_argument("--cache", help="keep Spin's results in this CSV, and take them from it")
    parser.add_argument("--only-spin", action="store_true", help="do not run ample")
    parser.add_argument("--complete", action="store_true", help="leave out models that pan does not finish")
    parser.add_argument("--csv", help="write the figures here")
    parser.add_argument("--markdown", action="store_true", help="the table in Markdown")
    arguments = parser.parse_args()
    if not shutil.which("spin") or not shutil.which("gcc"):
        sys.exit("bench: spin and gcc are needed; see scripts/setup")
    settings = [] if arguments.only_spin else [s.strip() for s in arguments.settings.split(",") if s.strip()]
    head(settings, arguments)
    rows = compare(arguments, settings)
    summary(rows, settings)
    if not settings:
        reductions(rows, 20)
    if arguments.csv:
        write(rows, settings, arguments.csv)


if __name__ == "__main__":
    main()
