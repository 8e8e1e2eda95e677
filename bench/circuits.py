#!/usr/bin/env python3
"""Circuits by ample and by ABC's `pdr`, side by side: verdict and CPU time of each.

    bench/circuits.py FOLDER [--ample PATH] [--abc PATH] [--limit SECONDS] [--options "--engine bounded"]

FOLDER has files of AIGER in its binary form with one bad state or output each. Verdicts that differ are told, and make the
exit code 1. CPU time is that of the whole process.
"""
import argparse
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading


def run(command, limit):
    """The output of a command, and its CPU time in seconds."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, start_new_session=True)
        timer = threading.Timer(limit, lambda: os.killpg(child.pid, signal.SIGKILL))
        timer.start()
        _, _, usage = os.wait4(child.pid, 0)
        timer.cancel()
        child.returncode = 0
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime


def ample(args, file):
    options = [*args.options.split(), "--json", "--time-limit", f"{args.limit}s", "--memory-limit", args.memory]
    text, took = run([args.ample, "check", str(file), *options], args.limit + 20)
    try:
        results = json.loads(text)["results"]
    except (json.JSONDecodeError, KeyError):
        return "failed", None, took
    one = results[0]
    trace = one.get("trace") or {}
    return one["verdict"], len(trace.get("prefix", trace.get("steps", []))), took


def abc(args, file):
    text, took = run([args.abc, "-c", f"read_aiger {file}; fold; pdr"], args.limit)
    if "Property proved" in text:
        return "holds", None, took
    found = re.search(r"asserted in frame (\d+)", text)
    return ("violated", int(found[1]), took) if found else ("unknown", None, took)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ample", default="target/release/ample")
    parser.add_argument("--abc", default="berkeley-abc")
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--options", default="--engine bounded")
    parser.add_argument("--only", choices=["ample", "abc"])
    args = parser.parse_args()
    solved, total, differ = {"ample": 0, "abc": 0}, {"ample": 0.0, "abc": 0.0}, 0
    print(f"{'circuit':24} {'ample':>10} {'s':>8}   {'ABC pdr':>10} {'s':>8}")
    for file in sorted(args.folder.glob("*.aig")):
        line, verdicts = f"{file.stem:24}", []
        for name, checker in (("ample", ample), ("abc", abc)):
            if args.only and args.only != name:
                continue
            verdict, _, took = checker(args, file)
            line += f" {verdict:>10} {took:8.2f}  "
            total[name] += took
            if verdict in ("holds", "violated"):
                solved[name] += 1
                verdicts.append(verdict)
        if len(set(verdicts)) > 1:
            differ += 1
            line += " DIFFERENT"
        print(line, flush=True)
    print(f"solved: ample {solved['ample']} in {total['ample']:.0f} s, ABC {solved['abc']} in {total['abc']:.0f} s")
    return 1 if differ else 0


sys.exit(main())
