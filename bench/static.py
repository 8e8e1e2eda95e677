#!/usr/bin/env python3
"""Static reductions: the table of K. Yorav, "Exploiting Syntactic Structure for Automatic Verification" (2000, table 3.2), for
the versions of its programs under models/promela.

    bench/static.py [--ample FILE] [--csv FILE.csv] [--limit SECONDS] [MODEL…]

For each model and each of no reduction, path reduction, dead variables, both, and all with slicing: `ample check --deadlock
--assertions --engine explicit --por none --reductions …`, so that nothing else reduces. Printed are states, transitions and
seconds of processor time, and the states as a percentage of those without reduction; at the end the mean percentages. The
verdicts must be the same in every row of a model: if they are not, a reduction is unsound, and the exit code is 1.

A model is a file, with macros to set after colons: `row_of_maxima.pml:N=3:TOP=3`. The thesis has path reduction at 8 to 67 %
of the states, 37 % on most, and both at 33 % on most.
"""
import argparse, csv, os, pathlib, re, resource, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["sliding_window.pml", "row_of_maxima.pml", "row_of_maxima.pml:TOP=3", "leader_dolev_klawe_rodeh.pml", "request_switch.pml",
          "request_switch.pml:TOP=6"]
REDUCTIONS = [("none", "–"), ("paths", "path"), ("dead", "dead"), ("paths,dead", "both"), ("all", "all")]


def instance(model, folder):
    """The file of a model with its macros set."""
    name, *macros = model.split(":")
    path = pathlib.Path(name)
    text = (path if path.exists() else ROOT / "models/promela" / name).read_text()
    for macro in macros:
        macro, value = macro.split("=")
        text, count = re.subn(rf"(?m)^(#define\s+{macro}\s+)\S+", rf"\g<1>{value}", text)
        if not count:
            sys.exit(f"{model}: no macro {macro}")
    file = folder / (path.stem + ".pml")
    file.write_text(text)
    return file


def run(arguments, file, reductions):
    """States, transitions, processor time and verdicts; states are None where the limit was reached."""
    command = [arguments.ample, "check", "--deadlock", "--assertions", "--engine", "explicit", "--por", "none",
               "--time-limit", str(arguments.limit), "--reductions", reductions, file]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = subprocess.run(command, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    states = re.search(r"(\d+) states, stored", text)
    transitions = re.search(r"(\d+) transitions", text)
    verdicts = re.findall(r"(?m)^\s*(assertions|deadlock)\s+(\w+)", text)
    is_complete = states and all(verdict in ("holds", "violated") for _, verdict in verdicts)
    return (int(states[1]) if is_complete else None, int(transitions[1]) if transitions else None,
            after.ru_utime - before.ru_utime, verdicts)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target/release/ample"))
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=600)
    parser.add_argument("models", nargs="*", default=MODELS)
    arguments = parser.parse_args()
    rows, differing, ratios = [], [], {}
    print("| model | reduction | states | | transitions | CPU seconds |\n|---|---|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for model in arguments.models:
            file, full, known = instance(model, pathlib.Path(folder)), None, None
            for reductions, name in REDUCTIONS:
                states, transitions, seconds, verdicts = run(arguments, file, reductions)
                full = states if reductions == "none" else full
                ratio = 100 * states / full if states and full else None
                if ratio and reductions != "none":
                    ratios.setdefault(name, []).append(ratio)
                known = known or verdicts
                if states and verdicts != known:
                    differing.append((model, name))
                shown = "" if ratio is None or reductions == "none" else f"{ratio:.1f} %"
                label = model.replace(".pml", "").replace(":", " ") if reductions == "none" else ""
                print(f"| {label} | {name} | {f'{states:,}' if states else 'limit'} | {shown} | "
                      f"{f'{transitions:,}' if transitions else ''} | {seconds:.2f} |", flush=True)
                rows.append([model, name, states, transitions, f"{seconds:.2f}"])
    means = ", ".join(f"{name} {statistics.mean(values):.1f} %" for name, values in ratios.items())
    print(f"\nMean of the percentages: {means}")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            csv.writer(file).writerows([["model", "reduction", "states", "transitions", "cpu_s"], *rows])
    for model, name in differing:
        print(f"{model}: other verdicts with {name}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
