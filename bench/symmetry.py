#!/usr/bin/env python3
"""Symmetry: states and time with and without it.

    bench/symmetry.py [--ample FILE] [--limit SECONDS] [MODEL…]

For each model and each of `none`, `lazy` and `canonical`: `ample states --search dfs --symmetry …`, and `ample check --deadlock
--assertions --engine explicit --por none --symmetry …`. Printed are the states of the first, the processor time of both, and what
was recognised. The verdicts must be the same in every row of a model: if they are not, the exit code is 1.
"""
import argparse, pathlib, re, resource, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODELS = ["promplus/peterson_objects.promp", "promplus/dekker_objects.promp", "promplus/dijkstra_objects.promp",
          "promplus/philosophers_3_objects.promp", "promplus/philosophers_4_objects.promp", "promela/philosophers_deadlock.pml",
          "promela/peterson.pml", "promela/szymanski.pml", "promela/readers_writers.pml"]


def run(arguments, *words):
    """What the command printed, and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [arguments.ample, *words, "--time-limit", str(arguments.limit)]
    text = subprocess.run(command, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return text, after.ru_utime - before.ru_utime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target/release/ample"))
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("models", nargs="*", default=MODELS)
    arguments = parser.parse_args()
    differing = []
    print("| model | symmetry | states | s | check s | recognised |\n|---|---|---:|---:|---:|---|")
    for model in arguments.models:
        path = pathlib.Path(model)
        file = path if path.exists() else ROOT / "models" / model
        expected = None
        for symmetry in ("none", "lazy", "canonical"):
            options = ["--engine", "explicit", "--symmetry", symmetry]
            counted, seconds = run(arguments, "states", *options, "--search", "dfs", file)
            checked, check = run(arguments, "check", "--deadlock", "--assertions", "--por", "none", *options, file)
            states = re.search(r"(\d+) states, stored", counted)
            recognised = re.search(r"(?m)^Symmetry: (.*)$", counted)
            verdicts = re.findall(r"(?m)^\s*(assertions|deadlock)\s+(\w+)", checked)
            expected = expected or verdicts
            if verdicts != expected:
                differing.append((model, symmetry, verdicts))
            print(f"| {path.name} | {symmetry} | {states[1] if states else '–'} | {seconds:.2f} | {check:.2f} "
                  f"| {recognised[1] if recognised else ''} |", flush=True)
    for model, symmetry, verdicts in differing:
        print(f"{model}: other verdicts with {symmetry}: {verdicts}", file=sys.stderr)
    sys.exit(bool(differing))


if __name__ == "__main__":
    main()
