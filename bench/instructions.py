#!/usr/bin/env python3
"""How many instructions the inner loops take: a guard against regressions that a busy machine does not disturb.

    bench/instructions.py [--ample FILE] [--check] [--record]

Runs `ample states` and `ample check` on small models of ours under `valgrind --tool=callgrind`, with one thread, and prints
the instructions for each transition, without what the same command takes on a model with no transitions. --record writes them to
bench/instructions.json with the version of the compiler and the profile; --check fails if one is more than a tenth
(with native code three tenths) above what was recorded. Counts of another compiler or processor are not compared; neither is anything if valgrind is not installed: it says so.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "bench" / "instructions.json"
TOLERANCE = 1.1
#: When native code is ready depends on how threads are scheduled.
TOLERANCES = {"native": 1.3}
#: Name, command, model and options.
RUNS = [
    ("evaluator", "states", "leader_dolev_klawe_rodeh.pml", ["--no-native"]),
    ("native", "states", "leader_dolev_klawe_rodeh.pml", []),
    ("evaluator, locks", "states", "szymanski.pml", ["--no-native"]),
    ("depth first", "states", "szymanski.pml", ["--no-native", "--search", "dfs"]),
    ("tree store", "states", "szymanski.pml", ["--no-native", "--store", "tree"]),
    ("partial orders", "check", "leader_dolev_klawe_rodeh.pml", ["--no-native", "--assertions"]),
]
EMPTY = "init { skip }\n"


def processor():
    """What libraries choose their code by."""
    try:
        words = set(pathlib.Path("/proc/cpuinfo").read_text().split())
    except OSError:
        words = set()
    return " ".join(sorted({"avx2", "avx512f", "bmi2", "erms"} & words))


def count(ample, command, model, options):
    """Instructions of a run, and the transitions that it reports."""
    arguments = [ample, command, model, "--engine", "explicit", "--threads", "1", "--json", "--quiet", *options]
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--smc-check=all-non-file", *map(str, arguments)],
                          capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if not found:
        sys.exit(f"instructions: valgrind fails: {done.stderr[-500:]}")
    answer = json.loads(done.stdout)
    return int(found[1]), int(answer["stats"]["transitions"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--check", action="store_true", help="fail if there is a regression")
    parser.add_argument("--record", action="store_true", help="write bench/instructions.json")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        print("instructions: valgrind is not installed; nothing is compared")
        return
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip() + f", {processor()}"
    profile = pathlib.Path(arguments.ample).resolve().parent.name
    recorded = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    known = recorded.get(profile, {})
    comparable = known.get("compiler") == compiler
    if not comparable and not arguments.record:
        print(f"instructions: recorded with {known.get('compiler', 'nothing')}, and this is {compiler}: nothing is compared")
    measured, failed = {}, []
    with tempfile.TemporaryDirectory() as folder:
        empty = pathlib.Path(folder) / "empty.pml"
        empty.write_text(EMPTY)
        for name, command, model, options in RUNS:
            start, _ = count(arguments.ample, command, empty, options)
            all_of_them, transitions = count(arguments.ample, command, ROOT / "models" / "promela" / model, options)
            each = round((all_of_them - start) / max(1, transitions))
            measured[name] = each
            before = known.get("instructions", {}).get(name) if comparable else None
            note = "" if before is None else f" ({each / before:.2f} of {before})"
            print(f"{name:20} {each:7} instructions for each of {transitions} transitions{note}", flush=True)
            if before is not None and each > TOLERANCES.get(name, TOLERANCE) * before:
                failed.append(name)
    if arguments.record:
        recorded[profile] = dict(compiler=compiler, instructions=measured)
        RECORD.write_text(json.dumps(recorded, indent=2) + "\n")
    if arguments.check and failed:
        sys.exit(f"instructions: more than allowed above what was recorded: {', '.join(failed)}; "
                 "if that is meant, `bench/instructions.py --record`")


if __name__ == "__main__":
    main()
