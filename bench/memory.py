#!/usr/bin/env python3
"""How much memory a command needs, measured as in section 5.4 of K. Yorav, "Exploiting Syntactic Structure for Automatic
Verification" (2000): the limit on its address space is bisected until the command fails with l bytes, succeeds with h, and
h − l is less than one percent of h. Counting nodes between operations misses the peaks inside of them.

    bench/memory.py [--high 4G] [--limit 600] [--trivial MODEL] -- ample check FILE --engine modular --json

The address space has the stacks of all threads, most of which is never touched. With `--trivial` the same is measured with that
model in place of FILE, and what is more than that is told, to one percent.

A run succeeds if it ends with 0 or 1 and no answer in its report is unknown. Prints h, with the peak of nodes that ample
reports beside it where the command writes JSON.
"""
import argparse, json, os, resource, subprocess, sys

UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def size(text):
    return int(float(text[:-1]) * UNITS[text[-1]]) if text[-1] in UNITS else int(text)


def succeeds(command, limit, seconds):
    """The report if it does, empty if it writes none; None if it does not."""
    bound = lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=bound)
    except (subprocess.TimeoutExpired, OSError, subprocess.SubprocessError):
        return None
    if done.returncode not in (0, 1):
        return None
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return None if "unknown" in done.stdout else {}
    return None if any(answer["verdict"] == "unknown" for answer in report["results"]) else report


def bisected(command, high, base, seconds):
    """The least limit with which a command succeeds, and its report."""
    low, report = 0, succeeds(command, high, seconds)
    if report is None:
        sys.exit(f"bench: it does not succeed with {high} bytes")
    while high - low >= max((high - base) / 100, 1 << 16):
        middle = (low + high) // 2
        found = succeeds(command, middle, seconds)
        if found is None:
            low = middle
        else:
            high, report = middle, found
    return high, report


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--high", type=size, default=size("4G"))
    parser.add_argument("--limit", type=int, default=600, help="seconds for a run")
    parser.add_argument("--trivial", metavar="MODEL")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    arguments = parser.parse_args()
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    base = 0
    if arguments.trivial:
        model = next(place for place, word in enumerate(command) if place > 1 and os.path.isfile(word))
        trivial = [*command[:model], arguments.trivial, *command[model + 1:]]
        # As exact as it can be: all the others are measured from here.
        base, _ = bisected(trivial, arguments.high, arguments.high, arguments.limit)
    high, report = bisected(command, arguments.high, base, arguments.limit)
    diagrams = report.get("diagrams") or {}
    nodes = (diagrams.get("modular") or {}).get("peak_together", diagrams.get("peak_nodes"))
    beyond = " beyond the trivial model" if arguments.trivial else ""
    print(f"{(high - base) / (1 << 20):.1f} MiB{beyond}" + (f", {nodes} nodes at the peak" if nodes is not None else ""))


if __name__ == "__main__":
    main()
