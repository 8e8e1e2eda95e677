#!/usr/bin/env python3
"""ample's symbolic engine against NuSMV, on the same Milestones models, one after the other on the same machine.

Each model is written for NuSMV with `ample convert --to smv --order-file`. Then both are asked the same questions, each
in a process of its own: how many states can be reached, and every formula of the file (or those that --only names).
Times are processor time of the whole process, user and system, reading the model and building its diagrams included, so
that other work on the machine disturbs them little (both use one core); the conversion is not counted. NuSMV runs in
several settings, and the best counts: with the given order of variables and with dynamic reordering, without the
reachable states and within them (`-df`, `-df -dynamic`, `-f -dynamic`), always without counterexamples (`-dcx`). A
setting is given up when another was faster. ample runs in one, `ample check --engine symbolic` (with --ample-options,
more is said to it), and looks for the counterexample too. Prints a Markdown table with the ratio of the times
(ample/NuSMV: below 1 ample is faster) and the medians, and says where answers differ.

    bench/nusmv.py [--only REGEX] [--limit 60] [--repeat 1] [--csv FILE] [MODEL…]

With --smv the models are SMV files (or folders of such), which both read as they are. Each is asked everything at once:
all specifications of the file and the number of reachable states. NuSMV runs in the settings `-r` and `-dynamic -r`, and
the best counts; ample answers with `check` and `states`, whose times are added. A file is worth a ratio if NuSMV takes
more than 0.1 seconds.

    bench/nusmv.py --smv [--limit 60] [--csv FILE] FILE…

NuSMV is the program that AMPLE_NUSMV names, or the one on the path, or where `scripts/setup --peers` puts it. Without
MODEL, small and middle-sized models under models/milestones are taken.
"""
import argparse, csv, json, math, os, pathlib, re, resource, shutil, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ("running_example producers_consumers_1 producers_consumers_2 producers_consumers_4 turntable_1 turntable_2 "
          "turntable_4 turntable_10 turntable_20 cash_points_small cash_points elevators_small").split()
SETTINGS = ("-df", "-df -dynamic", "-f -dynamic")
STATES = "states"


def find_nusmv():
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    for place in (os.environ.get("AMPLE_NUSMV"), "NuSMV", cache / "ample" / "nusmv" / "NuSMV"):
        found = place and shutil.which(str(place))
        if found:
            return found
    sys.exit("bench: NuSMV is needed; see scripts/setup --peers")


def used():
    """Processor time of all processes that were started and have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def timed(command, limit):
    """Seconds of processor time and what it printed; or a string that says why there is no end."""
    seconds = max(1, math.ceil(limit))
    # The system ends it after so many seconds of processor time; waiting is limited too.
    end = lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    before = used()
    try:
        done = subprocess.run([str(c) for c in command], capture_output=True, text=True, errors="replace",
                              timeout=20 * seconds, preexec_fn=end)
    except subprocess.TimeoutExpired:
        return f"> {seconds} s"
    taken = used() - before
    if taken > limit or done.returncode < 0 and taken > 0.95 * seconds:
        return f"> {seconds} s"
    return (taken, done.stdout) if done.returncode >= 0 else f"ended by signal {-done.returncode}"


def questions(text):
    """The formulas of a Milestones file, in its order: kind (ctl or ltl), name, text, place among its kind."""
    text = re.sub(r"--.*|//.*", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))
    found = []
    for kind, section in re.findall(r"\b(CTL|LTL)\b(.*?)(?=\bEND\b|\bCTL\b|\bLTL\b|\Z)", text, flags=re.S):
        for formula in filter(None, map(str.strip, section.split(";"))):
            name = re.match(r"(\w+)\s*:(?!=)\s*(.*)", formula, flags=re.S)
            place = sum(other == kind.lower() for other, *_ in found)
            name, formula = name.groups() if name else (f"{kind.lower()}{place + 1}", formula)
            found.append((kind.lower(), name, " ".join(formula.split()), place))
    return found


def convert(model, folder, arguments):
    """The files for NuSMV, and the kinds of its formulas in their order; or a string that says why not."""
    file, order = folder / "model.smv", folder / "model.ord"
    command = [arguments.ample, "convert", model, "--to", "smv", "-o", file, "--order-file", order]
    if isinstance(timed(command, arguments.limit), str) or not file.exists():
        return "it cannot be written for NuSMV"
    return file, order, re.findall(r"^(CTL|LTL)SPEC\b", file.read_text(), flags=re.M)


def ask_nusmv(nusmv, exported, question, arguments):
    """Answer, seconds and setting of the best run; or a string that says why not."""
    file, order, kinds = exported
    kind, place = question[0], question[3]
    if kind == STATES:
        ask = "print_reachable_states"
    else:
        # NuSMV counts them all; a formula of CTL and one of LTL may have the same name.
        ask = f"check_property -n {[n for n, other in enumerate(kinds) if other.lower() == kind][place]}"
    script = file.with_name("script")
    script.write_text(f"go\n{ask}\nquit\n")
    best, why = None, "no answer"
    for setting in arguments.settings:
        limit = min(arguments.limit, best[1]) if best else arguments.limit
        run = timed([nusmv, *setting.split(), "-dcx", "-i", order, "-source", script, file], limit)
        answer = None if isinstance(run, str) else nusmv_answer(kind, run[1])
        if isinstance(run, str):
            why = run
        if answer is not None and (best is None or run[0] < best[1]):
            best = answer, run[0], setting
    return best or why


def nusmv_answer(kind, text):
    if kind == STATES:
        # Large numbers are rounded to six digits.
        found = re.search(r"^reachable states: (\S+)", text, flags=re.M)
        return found and float(found[1])
    found = re.search(r"^-- specification .* is (true|false)\s*$", text, flags=re.M)
    return found and {"true": "holds", "false": "violated"}[found[1]]


def ask_ample(model, question, arguments):
    """Answer and seconds; or a string that says why not."""
    kind, name, formula, _ = question
    what = ["states"] if kind == STATES else ["check", "--ctl", formula] if kind == "ctl" else ["check", "--ltl", name]
    command = [arguments.ample, *what, "--engine", "symbolic", "--json", *arguments.ample_options.split(), model]
    run = timed(command, arguments.limit)
    if isinstance(run, str):
        return run
    try:
        report = json.loads(run[1])
        if kind == STATES:
            answer = int(report["stats"]["states"]) if report["complete"] else None
        else:
            answer = {"holds": "holds", "violated": "violated"}.get(report["results"][0]["verdict"])
    except (KeyError, IndexError, json.JSONDecodeError):
        return "no answer"
    return (answer, run[0]) if answer is not None else "no answer"


def same(kind, one, other):
    return abs(one - other) <= 1e-5 * other if kind == STATES else one == other


def fastest(ask, times):
    runs = [ask() for _ in range(times)]
    done = [run for run in runs if not isinstance(run, str)]
    return min(done, key=lambda run: run[1]) if done else runs[0]


def compare(model, question, nusmv, exported, arguments):
    kind, name, *_ = question
    theirs = fastest(lambda: ask_nusmv(nusmv, exported, question, arguments), arguments.repeat)
    ours = fastest(lambda: ask_ample(model, question, arguments), arguments.repeat)
    row = dict(model=model.stem, question=name, kind=kind, answer="", nusmv_s="", setting="", ample_s="", ratio="",
               note="")
    if not isinstance(theirs, str):
        row.update(answer=theirs[0], nusmv_s=theirs[1], setting=theirs[2])
    if not isinstance(ours, str):
        row.update(answer=ours[0], ample_s=ours[1])
    if row["nusmv_s"] and row["ample_s"]:
        row["ratio"] = row["ample_s"] / row["nusmv_s"]
        if not same(kind, theirs[0], ours[0]):
            row["note"] = f"DIFFERS: NuSMV {theirs[0]}, ample {ours[0]}"
    show(row, theirs, ours, arguments)
    return row


def show(row, theirs, ours, arguments):
    answer = row["answer"]
    if row["kind"] == STATES and answer != "":
        answer = f"{answer:,.0f}" if answer < 10**12 else f"{float(answer):.3g}"
    seconds = [run if isinstance(run, str) else f"{run[1]:.2f} s" for run in (theirs, ours)]
    ratio = ""
    if row["ratio"]:
        ratio = f"{row['ratio']:.2f}" if row["ratio"] >= 0.01 else "< 0.01"
    elif row["ample_s"] and theirs.startswith(">"):
        ratio = f"< {max(row['ample_s'] / arguments.limit, 0.01):.2f}"
    elif row["nusmv_s"] and ours.startswith(">"):
        ratio = f"> {arguments.limit / row['nusmv_s']:.1f}"
    question = row["question"] if row["kind"] == STATES else f"{row['kind']} {row['question']}"
    setting = f"`{row['setting']}`" if row["setting"] else ""
    cells = row["model"], question, row["note"] or answer, seconds[0], setting, seconds[1], ratio
    print("| " + " | ".join(cells) + " |", flush=True)


def smv_files(places):
    for place in map(pathlib.Path, places):
        yield from sorted(place.rglob("*.smv")) if place.is_dir() else [place]


def nusmv_on_file(nusmv, file, arguments):
    """True and false specifications and reachable states, seconds, and setting; or a string that says why not."""
    best, why = None, "no answer"
    for setting in ("-r", "-dynamic -r"):
        limit = min(arguments.limit, best[1]) if best else arguments.limit
        run = timed([nusmv, "-dcx", *setting.split(), file], limit)
        if isinstance(run, str):
            why = run
            continue
        verdicts = re.findall(r"^-- (?:specification|invariant) .* is (true|false)\s*$", run[1], flags=re.M)
        states = re.search(r"^reachable states: (\S+)", run[1], flags=re.M)
        if states and (best is None or run[0] < best[1]):
            answer = verdicts.count("true"), verdicts.count("false"), float(states[1])
            best = answer, run[0], setting
    return best or why


def ample_on_file(file, arguments):
    """The same of ample."""
    taken, reports = 0, []
    for what in (["check"], ["states"]):
        command = [arguments.ample, *what, "--json", *arguments.ample_options.split(), file]
        run = timed(command, arguments.limit)
        if isinstance(run, str):
            return run
        taken += run[0]
        try:
            reports.append(json.loads(run[1]))
        except json.JSONDecodeError:
            return "no answer"
    verdicts = [result["verdict"] for result in reports[0].get("results", [])]
    if "unknown" in verdicts or not reports[1].get("complete"):
        return "no answer"
    states = reports[1]["stats"]["states"]
    return ((verdicts.count("holds"), verdicts.count("violated"), float(states)), taken) if states is not None else "no answer"


def compare_files(nusmv, arguments):
    print("| file | true | false | states | NuSMV | its setting | ample | ratio |")
    print("|---|---:|---:|---:|---:|---|---:|---:|", flush=True)
    rows = []
    for file in smv_files(arguments.model):
        theirs, ours = nusmv_on_file(nusmv, file, arguments), ample_on_file(file, arguments)
        row = dict(file=str(file), nusmv_s="", setting="", ample_s="", ratio="", note="")
        if not isinstance(theirs, str):
            row.update(nusmv_s=theirs[1], setting=theirs[2])
        if not isinstance(ours, str):
            row.update(ample_s=ours[1])
        if isinstance(theirs, str) and isinstance(ours, str):
            continue
        answer = theirs[0] if isinstance(ours, str) else ours[0]
        if not isinstance(theirs, str) and not isinstance(ours, str):
            row["ratio"] = ours[1] / theirs[1]
            if theirs[0][:2] != ours[0][:2] or abs(theirs[0][2] - ours[0][2]) > 1e-5 * theirs[0][2]:
                row["note"] = f"DIFFERS: NuSMV {theirs[0]}, ample {ours[0]}"
        rows.append(row)
        seconds = [run if isinstance(run, str) else f"{run[1]:.2f} s" for run in (theirs, ours)]
        cells = (file.name, str(answer[0]), str(answer[1]), row["note"] or f"{answer[2]:.6g}", seconds[0], row["setting"],
                 seconds[1], row["ratio"] and f"{row['ratio']:.2f}")
        print("| " + " | ".join(cells) + " |", flush=True)
    timed_rows = [row for row in rows if row["ratio"] and row["nusmv_s"] > 0.1]
    faster = sum(1 for row in timed_rows if row["ratio"] < 1)
    alone = [sum(1 for row in rows if row[mine] and not row[other])
             for mine, other in (("ample_s", "nusmv_s"), ("nusmv_s", "ample_s"))]
    print(f"\n{len(rows)} files; of {len(timed_rows)} for which NuSMV takes more than 0.1 seconds ample is faster on {faster}"
          + (f", median of the ratio {statistics.median(row['ratio'] for row in timed_rows):.2f}" if timed_rows else "")
          + f"; by ample alone {alone[0]}, by NuSMV alone {alone[1]}, within {arguments.limit} seconds. "
          + f"{sum(1 for row in rows if row['note'])} answers differ.")
    return rows


def summary(rows, limit):
    for title, kinds in ("states", [STATES]), ("CTL", ["ctl"]), ("LTL", ["ltl"]):
        chosen = [row for row in rows if row["kind"] in kinds]
        both = [row["ratio"] for row in chosen if row["ratio"]]
        if not chosen:
            continue
        alone = [sum(1 for row in chosen if row[mine] and not row[other])
                 for mine, other in (("ample_s", "nusmv_s"), ("nusmv_s", "ample_s"))]
        print(f"\n{title}: {len(chosen)} questions, {len(both)} answered by both" +
              (f", ample's time divided by NuSMV's: median {statistics.median(both):.2f}, "
               f"at most {max(both):.2f}" if both else "") +
              f"; by ample alone {alone[0]}, by NuSMV alone {alone[1]}, within {limit} seconds.")
    differ = [row for row in rows if row["note"]]
    print("\nAnswers: " + (f"{len(differ)} DIFFER." if differ else "all the same where both have one."))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*")
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--ample-options", default="", help="more options for ample, in one word")
    parser.add_argument("--settings", default=",".join(SETTINGS),
                        help="NuSMV's, comma between them (default %(default)s)")
    parser.add_argument("--only", help="only formulas whose name has this regular expression (states: the count)")
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time a run (default %(default)s)")
    parser.add_argument("--repeat", type=int, default=1, help="take the best of this many runs")
    parser.add_argument("--smv", action="store_true", help="the models are SMV files, or folders of such")
    parser.add_argument("--csv", help="write the figures here too")
    arguments = parser.parse_args()
    arguments.settings = [setting.strip() for setting in arguments.settings.split(",")]
    nusmv = find_nusmv()
    if arguments.smv:
        write_csv(compare_files(nusmv, arguments), arguments.csv)
        return
    print("| model | question | answer | NuSMV | its setting | ample | ratio |")
    print("|---|---|---|---:|---|---:|---:|", flush=True)
    rows = []
    for model in arguments.model or [ROOT / "models" / "milestones" / f"{name}.mil" for name in MODELS]:
        model = pathlib.Path(model).resolve()
        with tempfile.TemporaryDirectory() as folder:
            exported = convert(model, pathlib.Path(folder), arguments)
            if isinstance(exported, str):
                print(f"| {model.stem} | | {exported} | | | | |", flush=True)
                continue
            asked = [(STATES, STATES, "", 0), *questions(model.read_text())]
            asked = [question for question in asked if re.search(arguments.only or "", question[1])]
            rows += [compare(model, question, nusmv, exported, arguments) for question in asked]
    summary(rows, arguments.limit)
    write_csv(rows, arguments.csv)


def write_csv(rows, file):
    if rows and file:
        with open(file, "w", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
