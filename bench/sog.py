#!/usr/bin/env python3
"""Observation graphs beside H. Ouni's thesis: its tables A to H, with what this ample measures on this machine.

    bench/sog.py [--ample PATH] [--tables A,B,…] [--quick] [--write] [--repeat 3] [--limit 300] [--threads 2,4]
                 [--processes 2,4] [--hybrid 2x2] [--balance order] [ROW…]
    bench/sog.py --ltl [--ample PATH] [--limit 60] [FAMILY…]

A  the nets, what is observed of them, the size of the graph; seconds with one thread, with list and with binary diagrams
B  seconds and speed-up by the number of threads
C  … by the number of processes, which pass messages (`--processes N --threads 1`)
D  … by the number of processes with several threads each (hybrid)
E  the best of B, C and D, without and with canonical aggregates
F  nodes and bytes of all aggregates, without and with canonical aggregates
G  messages and bytes between 4 processes: `--canonical none`, `send`, `full`
H  formulas: observation graphs built on the fly, beside other engines

Each build is a process of its own; the best time of so many (`--repeat`) counts, as ample itself reports it, without
reading the net. With one thread it is the processor time of the whole process if that is less, which other work on the
machine lengthens little. Nets are made by models/petri/generate.py. Prints Markdown; with --write it replaces what stands between
the lines `<!-- bench/sog.py: A -->` and `<!-- end -->` of docs/sog-tables.md. With --quick the large nets are left out,
and everything is run once. Where ample refuses an option, the cell says "not supported by this ample". Ends with an error
if two builds of a graph differ in size, if a size is not the expected one, or if two verdicts differ. Run it while
nothing else does.

With --ltl, formulas without X are checked on nets of each family by observation graphs, by explicit search, by decision
diagrams and by what ample chooses itself, each within the limit. Prints verdicts and seconds of processor time, and
ends with an error if two verdicts differ.
"""
import argparse
import json
import os
import pathlib
import platform
import random
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATE = ROOT / "models" / "petri" / "generate.py"
PAGE = ROOT / "docs" / "sog-tables.md"
NOT_SUPPORTED = "not supported by this ample"
NOT_FINISHED = "–"


def each(names, n):
    return [f"{name}_{i}" for i in range(n) for name in names]


ROBOT = ["p_sop", "r_stops", "p_start", "p_started", "r_end_move", "p_moved"]
FMS = ["tM1", "tM2", "tM3", "tP1"]

#: A name, the family, its size, and what is observed: the sets of the example files of the thesis's tool, or, for erk20,
#: six of them and two more, which gives the printed number of aggregates.
ROWS = {
    "ring4": ("ring", 4, each(["give", "put"], 4)),
    "ring5": ("ring", 5, each(["give", "put"], 5)),
    "ring6": ("ring", 6, each(["give", "put"], 5)),
    "ring6-12": ("ring", 6, each(["give", "put"], 6)),
    "philo6": ("philosophers", 6, each(["GoEat", "Release"], 6)),
    "philo8": ("philosophers", 8, each(["GoEat", "Release"], 8)),
    "philo10": ("philosophers", 10, each(["GoEat", "Release"], 10)),
    "fms4": ("fms", 4, FMS),
    "fms5": ("fms", 5, FMS + ["tP12", "tP2", "tP3", "tP1M1"]),
    "fms5-4": ("fms", 5, FMS),
    "robot4": ("robot", 4, ROBOT),
    "robot5": ("robot", 5, ROBOT),
    "robot6": ("robot", 6, ROBOT),
    "robot7": ("robot", 7, ROBOT),
    "train2-4": ("trains", 24, ["T1", "T4", "T7", "T10"]),
    "train2-6": ("trains", 24, ["T1", "T3", "T5", "T7", "T9", "T11"]),
    "train2-8": ("trains", 24, [f"T{i}" for i in range(1, 24, 3)]),
    "erk10": ("erk", 10, ["k3", "k5", "k9", "k11"]),
    "erk20": ("erk", 20, ["k1", "k2", "k3", "k5", "k7", "k9", "k10", "k11"]),
}
QUICK = ["ring4", "ring5", "philo6", "philo8", "fms4", "robot4", "train2-4", "train2-6", "train2-8", "erk10"]

#: The sizes that are expected: markings, aggregates, arcs.
EXPECTED = {
    "ring4": (5136, 304, 1280), "ring5": (53856, 1632, 8320), "ring6": (575296, 3805, 20698),
    "ring6-12": (575296, 9024, 53760), "philo6": (5778, 64, 384), "philo8": (103682, 256, 2048),
    "philo10": (1860498, 1024, 10240), "fms4": (438600, 266, 830), "fms5": (2895018, 93280, 519972),
    "fms5-4": (2895018, 535, 1735), "robot4": (48620, 2574, 11649), "robot5": (184756, 6006, 28600),
    "robot6": (587860, 12376, 61061), "robot7": (1634380, 23256, 117776), "train2-4": (86515, 81, 188),
    "train2-6": (86515, 178, 448), "train2-8": (86515, 1660, 6696), "erk10": (47047, 505, 1803),
    "erk20": (1696618, 21230, 151297),
}

#: What the thesis prints. Tables 3.1 and 3.2: observed, aggregates, arcs, seconds with BuDDy and with Sylvan, and with 2, 4,
#: 6, 8, 10, 12 threads. Tables 4.1 and 5.1: with 8, 16, 24, 32, 40 processes; with 2, 4, 6, 8, 10, 12 processes of 12
#: threads. Tables 6.1 to 6.5: seconds with canonical aggregates, sequential and the best of processes, threads and hybrid;
#: the best without; nodes without and with; bytes of messages between four processes without and with.
THESIS = {
    "ring4": dict(
        size=(8, 304, 1280), one=(2.18, 2.15), threads=(1.17, .65, .50, .46, .43, .42),
        processes=(.92, .84, .87, .65, .95), hybrid=(.57, .68, .70, .70, .77, .71),
        canonical=(4.56, .67, .84, .38), best=(.64, .42, .57), nodes=(29052, 9728), bytes=(281022, 16286)),
    "ring5": dict(
        size=(10, 1632, 8320), one=(85.8, 43.46), threads=(22.20, 11.28, 8.54, 6.80, 6.04, 5.71),
        processes=(15.14, 13.60, 14.57, 11.39, 16.29), hybrid=(4.39, 4.13, 4.28, 4.25, 3.84, 3.98),
        canonical=(94.42, 10.73, 15.49, 2.96), best=(11.39, 5.71, 3.98), nodes=(200440, 65280), bytes=(4961128, 114408)),
    "ring6": dict(
        size=(12, 3805, 20698), one=(609.75, 870.87), threads=(437.61, 227.32, 172.73, 137.93, 109.09, 87.70),
        processes=(490.64, 323.76, 452.14, 347.36, 463.04), hybrid=(71.34, 37.16, 28.51, 23.44, 21.05, 18.66),
        canonical=(2100.41, 226.06, 429.58, 77.55), best=(243.13, 87.71, 18.66), nodes=(773383, 187320),
        bytes=(63188686, 217390)),
    "philo6": dict(
        size=(12, 64, 384), one=(.21, .47), threads=(.29, .19, .15, .12, .11, .11),
        processes=(.29, .34, .29, .30, .25), hybrid=(.17, .23, .26, .24, .26, .37),
        canonical=(.95, .21, .31, .20), best=(.28, .12, .17), nodes=(5232, 2268)),
    "philo8": dict(
        size=(16, 256, 2048), one=(4.42, 11.94), threads=(6.18, 3.53, 2.77, 2.29, 2.19, 1.89),
        processes=(8.00, 5.63, 7.12, 6.69, 9.23), hybrid=(1.07, .94, 1.11, 1.14, 1.21, 1.29),
        canonical=(23.32, 3.92, 4.56, 1.27), best=(5.63, 1.89, .94), nodes=(28224, 12288), bytes=(5076252, 33900)),
    "philo10": dict(
        size=(20, 1024, 10240), one=(73.98, 311.10), threads=(160.74, 88.97, 61.35, 52.49, 49.78, 36.67),
        processes=(219.53, 209.75, 149.07, 176.83, 238.44), hybrid=(22.62, 19.23, 17.18, 14.42, 13.91, 14.58),
        canonical=(586.03, 75.82, 97.07, 15.82), best=(168.03, 36.67, 13.91), nodes=(142080, 61440),
        bytes=(118986364, 176824)),
    "fms4": dict(
        size=(4, 266, 830), one=(260.77, 208.11), threads=(90.15, 58.75, 28.18, 24.66, 22.03, 21.85),
        processes=(181.01, 164.13, 171.55, 172.36, 179.85), hybrid=(22.84, 23.15, 23.88, 26.89, 26.14, 31.34),
        canonical=(559.83, 103.10, 159.53, 46.27), best=(162.74, 21.85, 22.84), nodes=(41983, 8904)),
    "fms5": dict(
        size=(4, 93280, 519972), one=(1622.89, 2088.75), threads=(933.15, 476.36, 381.50, 282.70, 229.80, 222.82),
        processes=(1699.14, 1733.08, 1633.87, 1614.88, 1779.79), hybrid=(502.95, 473.68, 406.51, 343.22, 481.73, 524.64),
        canonical=(7433.16, 1168.79, 1270.56, 315.16), best=(1543.52, 222.82, 406.50), nodes=(115633, 19339)),
    "robot4": dict(
        size=(6, 2574, 11649), one=(40.37, 7.10), threads=(3.21, 1.77, 1.35, 1.23, 1.01, .92),
        processes=(4.26, 3.70, 4.60, 3.93, 4.91), hybrid=(1.14, 1.19, 2.31, 3.08, 3.42, 3.37),
        canonical=(14.60, 2.72, 2.00, .68), best=(3.03, .92, 1.14), nodes=(615472, 38610), bytes=(4694292, 92457)),
    "robot5": dict(
        size=(6, 6006, 28600), one=(226.47, 36.16), threads=(16.26, 8.62, 6.81, 5.48, 5.21, 4.86),
        processes=(22.67, 18.26, 19.64, 16.94, 24.75), hybrid=(4.06, 3.28, 4.63, 4.77, 5.98, 5.73),
        canonical=(80.80, 12.53, 9.66, 3.21), best=(16.94, 4.86, 3.28), nodes=(2457884, 90090), bytes=(22755426, 221391)),
    "robot6": dict(
        size=(6, 12376, 61061), one=(1043.26, 135.09), threads=(66.94, 35.72, 26.63, 22.46, 19.64, 17.75),
        processes=(105.8, 88.41, 90.05, 79.53, 99.85), hybrid=(36.47, 34.72, 23.66, 21.12, 17.52, 20.45),
        canonical=(312.74, 49.05, 38.97, 7.72), best=(70.67, 17.75, 17.52), nodes=(8236228, 185640),
        bytes=(88153511, 466106)),
    "robot7": dict(
        size=(6, 23256, 117776), one=(3995.65, 505.90), threads=(229.06, 118.81, 91.27, 76.42, 67.69, 61.97),
        hybrid=(48.87, 32.89, 37.52, 43.27, 49.66, 53.15), canonical=(1005.91, 166.99, 136.96, 22.4),
        best=(311.78, 61.97, 32.89), nodes=(24110012, 348840), bytes=(155362177, 835567)),
    "train2-4": dict(
        size=(4, 81, 188), one=(468.43, 42.49), threads=(26.31, 14.87, 14.29, 13.10, 13.08, 12.58),
        processes=(30.99, 31.30, 36.34, 39.09, 40.04), hybrid=(8.45, 7.99, 8.39, 9.41, 9.97, 10.86),
        canonical=(101.28, 26.33, 26.21, 14.19), best=(28.88, 12.58, 7.99), nodes=(2860268, 3888), bytes=(6694448, 5600)),
    "train2-6": dict(
        size=(6, 178, 448), one=(323.18, 29.64), threads=(18.22, 9.90, 7.78, 6.37, 6.28, 5.83),
        processes=(18.89, 18.11, 19.21, 18.69, 20.26), hybrid=(4.12, 4.23, 4.51, 4.26, 5.17, 4.55),
        canonical=(82.59, 14.63, 12.57, 6.64), best=(16.10, 5.83, 4.12), nodes=(2838971, 8544), bytes=(6684946, 12850)),
    "train2-8": dict(
        size=(8, 1660, 6696), one=(1136.14, 26.73), threads=(13.75, 7.15, 5.35, 4.11, 3.48, 2.96),
        processes=(11.16, 10.73, 11.63, 10.74, 11.16), hybrid=(3.23, 3.51, 3.50, 3.45, 3.35, 3.47),
        canonical=(41.64, 7.18, 5.53, 1.94), best=(10.73, 2.86, 3.23), nodes=(1849162, 79680), bytes=(4807590, 75000)),
    "erk10": dict(
        size=(4, 505, 1803), one=(38.72, 46.63), threads=(28.06, 14.18, 9.78, 7.82, 6.23, 5.11),
        processes=(28.98, 19.87, 19.70, 23.69, 28.97), hybrid=(3.95, 3.48, 3.16, 3.08, 3.64, 4.00),
        canonical=(264.80, 34.02, 27.43, 12.10), best=(18.84, 5.11, 3.08), nodes=(307404, 11555), bytes=(8676325, 16773)),
    "erk20": dict(
        size=(8, 21230, 15297), one=(1223.68, 957.68), threads=(474.09, 241.48, 162.33, 123.89, 101.24, 86.44),
        processes=(587.35, 468.12, 397.23, 511.26, 589.38), hybrid=(62.15, 58.33, 51.71, 53.67, 57.32, 60.84),
        canonical=(5978.54, 657.47, 567.82, 94.86), best=(397.23, 86.44, 51.71), nodes=(12936794, 461929),
        bytes=(181569699, 1081666)),
}

#: Table H. A name, the family, its size, the markings, and the thesis's seconds for ten random formulas, which it does not
#: list: PMC-SOG with POSIX threads, with Sylvan's, LTSmin, PMC-SOG hybrid. The thesis's SPool3, 4 and 5 have the markings of
#: N = 2, 3, 5, and its kanban50 those of N = 20.
CHECKED = {
    "Cloud5by2": ("cloud", 5, "1.61e6", (4.94, 4.12, 3.54, 4.36)),
    "Cloud10by5": ("cloud", 10, "1.07e10", (527.65, 238.18, 1376.23, 344.15)),
    "Cloud20by10": ("cloud", 20, None, (2429.88, 1014.69, 13073.75, 1457.62)),
    "Cloud40by20": ("cloud", 40, None, (None, None, None, 16921.48)),
    "philo10": ("dining", 10, "59049", (5.23, 3.82, .28, 13.47)),
    "philo20": ("dining", 20, "3.48e9", (1011.91, 852.56, 108.42, 923.56)),
    "robot5": ("robot", 5, "184756", (.26, .14, .49, .15)),
    "robot10": ("robot", 10, "2.00e7", (3.72, 2.03, 50.79, 1.62)),
    "robot20": ("robot", 20, "4.10e9", (10.77, 10.83, 35.17, 4.23)),
    "robot50": ("robot", 50, None, (29.19, 30.72, None, 12.7)),
    "SPool2": ("pool", 1, "89621", (2.87, 3.45, 7.07, 3.54)),
    "SPool3": ("pool", 2, "3408031", (34.87, 19.07, 21.26, 24.62)),
    "SPool4": ("pool", 3, "3.22e7", (105.77, 91.7, 152.13, 110.56)),
    "SPool5": ("pool", 5, "5.91e8", (267.95, 103.21, 336.36, 176.98)),
    "TRing10": ("token_ring", 10, "58905", (112.59, 42.13, .18, 32.80)),
    "TRing15": ("token_ring", 15, "3.53e7", (1015.66, 924.87, 206.17, 653.36)),
    "TRing20": ("token_ring", 20, "2.44e10", (None, None, None, 1384.07)),
    "train24": ("trains", 24, "86515", (2.82, 2.23, .34, 2.19)),
    "train48": ("trains", 48, "2.39e10", (18.23, 18.55, 267.62, 25.43)),
    "train96": ("trains", 96, "2.59e21", (None, None, None, 1178.65)),
    "kanban5": ("kanban", 5, "2.54e6", (9.19, 10.43, 7.52, 8.87)),
    "kanban10": ("kanban", 10, "1.00e9", (1055.27, 845.65, 370.09, 614.77)),
    "kanban50": ("kanban", 20, "8.05e11", (None, None, None, 3694.42)),
}
CHECKED_QUICK = ["Cloud5by2", "philo10", "robot5", "robot10", "SPool2", "TRing10", "train24", "kanban5"]

#: A family, two sizes, and formulas.
FORMULAS = {
    "philosophers": ((8, 20), ["G (WaitL_0 -> F HasL_0)", "(!HasR_0) W WaitR_0", "G F Idle_0",
                               "G (HasL_0 & HasR_0 -> !(HasL_1 & HasR_1))"]),
    "ring": ((5, 8), ["G (B_0 -> F (D_0 | H_0))", "(!G_0) W D_0", "G F C_0"]),
    "fms": ((5, 10), ["G (P1M1 >= 1 -> F P1d >= 1)", "(P12 < 1) W (P1wP2 >= 1 & P2wP1 >= 1)", "F P12s >= 1"]),
    "erk": ((10, 30), ["G (RRE >= 1 -> F RKIPP >= 1)", "(RRE < 1) W (EPP >= 1)", "F G RPR < 1"]),
    "trains": ((18, 30), ["G (Section_0 -> F Section_1)", "Section_0 U Section_1", "G !(Section_0 & Section_1)"]),
    "token_ring": ((6, 12), ["F G State_0_0", "State_0_0 W State_0_1", "G (State_1_0 -> F State_1_1)"]),
    "pool": ((1, 4), ["G (Undress >= 1 -> F InBath >= 1)", "(InBath < 1) W (Undress >= 1)", "G F Out >= 1"]),
}

#: The engines side by side; the last is what ample chooses.
ENGINES = ["sog", "explicit", "symbolic", "auto"]


class Refused(Exception):
    """This ample does not have an option."""


def processor_time():
    """Seconds that processes which have ended took."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Bench:
    """Runs ample on the nets, once for each set of options, and remembers what it said and what differed."""

    def __init__(self, args, folder):
        self.args, self.folder = args, folder
        self.built, self.refused, self.problems = {}, set(), []

    def problem(self, text):
        self.problems.append(text)
        print(f"sog.py: {text}", file=sys.stderr)

    def net(self, family, size):
        path = f"{self.folder}/{family}_{size}.pnml"
        if not os.path.exists(path):
            subprocess.run([sys.executable, GENERATE, family, str(size), "--out", path], check=True)
        return path

    def run(self, words):
        """What ample prints as JSON, and how it ended; nothing if it was ended at the limit."""
        try:
            done = subprocess.run([self.args.ample, *words, "--json", "--time-limit", f"{self.args.limit}s"],
                                  capture_output=True, text=True, timeout=self.args.limit * 2 + 30)
        except subprocess.TimeoutExpired:
            return None, None
        if done.returncode == 2 and ("unexpected argument" in done.stderr or "invalid value" in done.stderr):
            raise Refused(done.stderr.splitlines()[0])
        try:
            return json.loads(done.stdout), done.returncode
        except ValueError:
            if done.returncode not in (0, 1, 3):
                self.problem(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[:200]}")
            return None, done.returncode

    def graph(self, row, *options):
        """The fastest of several builds; nothing if one is not finished within the limit."""
        key = (row, options)
        names = tuple(word for word in options if word.startswith("--"))
        if names in self.refused:
            raise Refused
        if key in self.built:
            return self.built[key]
        family, size, observed = ROWS[row]
        best = None
        for _ in range(self.args.repeat):
            words = ["sog", self.net(family, size), "--observe", ",".join(observed), "--balance", self.args.balance]
            before = processor_time()
            try:
                got, code = self.run([*words, *options])
            except Refused:
                self.refused.add(names)
                raise
            if got is None or code != 0:
                best = None
                break
            got.pop("graph", None)
            if options[:2] == ("--threads", "1"):
                got["time_s"] = min(got["time_s"], processor_time() - before)
            if best is None or got["time_s"] < best["time_s"]:
                best = got
        if best is not None:
            found = best["statistics"]
            if (found["aggregates"], found["arcs"]) != EXPECTED[row][1:]:
                self.problem(f"{row} {' '.join(options)}: {found['aggregates']} aggregates and {found['arcs']} arcs "
                             f"instead of {EXPECTED[row][1:]}")
            first = self.built.get((row, ("--threads", "1")))
            for part in ("dead", "divergent"):
                if first and found[part] != first["statistics"][part]:
                    self.problem(f"{row} {' '.join(options)}: {found[part]} aggregates are {part}, not "
                                 f"{first['statistics'][part]}")
        self.built[key] = best
        return best

    def states(self, row):
        family, size, _ = ROWS[row]
        got, code = self.run(["states", self.net(family, size)])
        if got is None or code != 0:
            return None
        states = int(got["stats"]["states"])
        if states != EXPECTED[row][0]:
            self.problem(f"{row}: {states} markings instead of {EXPECTED[row][0]}")
        return states

    def cell(self, row, show, *options):
        """What a build shows, or why there is none."""
        try:
            got = self.graph(row, *options)
        except Refused:
            return NOT_SUPPORTED
        return NOT_FINISHED if got is None else show(got)

    def seconds(self, row, *options):
        return self.cell(row, lambda got: f"{got['time_s']:.3f}", *options)

    def time(self, row, *options):
        """Seconds, or nothing."""
        try:
            got = self.graph(row, *options)
        except Refused:
            return None
        return got and got["time_s"]

    def with_speed_up(self, row, *options):
        one = self.time(row, "--threads", "1")
        return self.cell(row, lambda got: f"{got['time_s']:.3f} ({one / got['time_s']:.2f})" if one else "–", *options)


def printed(row, key, index=None):
    """A figure of the thesis, or nothing."""
    found = THESIS.get(row, {}).get(key)
    return found if found is None or index is None else found[index]


def number(value):
    return "" if value is None else f"{value:,}"


def duration(value):
    """Seconds of the thesis."""
    return "" if value is None else f"{value:.2f}"


def table(header, rows):
    """Markdown; the first column is left-aligned. Rows are printed as they come."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    print("\n".join(lines), flush=True)
    for row in rows:
        lines.append("| " + " | ".join(str(cell) for cell in row) + " |")
        print(lines[-1], flush=True)
    return lines


def printed_time(row, key, index):
    """A time of the thesis with its speed-up against the sequential one."""
    found = printed(row, key, index)
    return "" if found is None else f"{found:.2f} ({printed(row, 'one', 1) / found:.1f})"


def fastest(row, key):
    """The index of the shortest time in a row of the thesis."""
    times = printed(row, key)
    return times.index(min(times)) if times else 0


def cluster(got):
    """What is said about the processes of a build."""
    return got.get("cluster") or got["statistics"].get("cluster") or {}


def table_a(bench, rows):
    def line(row):
        states, size = bench.states(row), printed(row, "size") or (None,) * 3
        one = printed(row, "one") or (None,) * 2
        graph = bench.cell(row, lambda got: got["statistics"], "--threads", "1")
        found = [f"{graph[part]:,}" for part in ("aggregates", "arcs")] if isinstance(graph, dict) else [graph] * 2
        return [row, number(size[0]), len(ROWS[row][2]), number(states), number(size[1]), found[0], number(size[2]),
                found[1], duration(one[0]), duration(one[1]), bench.seconds(row, "--threads", "1"),
                bench.seconds(row, "--threads", "1", "--diagrams", "lists"),
                bench.seconds(row, "--threads", "1", "--diagrams", "binary")]
    return table(["net", "observed, thesis", "observed", "markings", "aggregates, thesis", "aggregates", "arcs, thesis",
                  "arcs", "BuDDy, thesis", "Sylvan, thesis", "ample", "`--diagrams lists`", "`--diagrams binary`"],
                 map(line, rows))


def table_b(bench, rows):
    counts = bench.args.threads
    def line(row):
        return [row, duration(printed(row, "one", 1)), *(printed_time(row, "threads", i) for i in (0, 1, 5)),
                bench.seconds(row, "--threads", "1"),
                *(bench.with_speed_up(row, "--threads", str(n)) for n in counts)]
    return table(["net", "thesis, 1", "thesis, 2", "thesis, 4", "thesis, 12", "ample, 1", *(f"ample, {n}" for n in counts)],
                 map(line, rows))


def table_c(bench, rows):
    counts = bench.args.processes
    def line(row):
        return [row, duration(printed(row, "one", 1)), printed_time(row, "processes", 0),
                printed_time(row, "processes", fastest(row, "processes")), bench.seconds(row, "--threads", "1"),
                *(bench.with_speed_up(row, "--processes", str(n), "--threads", "1") for n in counts)]
    return table(["net", "thesis, 1", "thesis, 8", "thesis, best of 8 to 40", "ample, 1", *(f"ample, {n}" for n in counts)],
                 map(line, rows))


def table_d(bench, rows):
    def balance(got):
        shown = cluster(got).get("balance")
        return "" if shown is None else f"{shown:.2f}"
    def line(row):
        cells = [row, duration(printed(row, "one", 1)), printed_time(row, "hybrid", 0),
                 printed_time(row, "hybrid", fastest(row, "hybrid")), bench.seconds(row, "--threads", "1")]
        for processes, threads in bench.args.hybrid:
            options = ("--processes", str(processes), "--threads", str(threads))
            cells += [bench.with_speed_up(row, *options), bench.cell(row, balance, *options)]
        return cells
    header = ["net", "thesis, 1", "thesis, 2 × 12", "thesis, best of 2 to 12 × 12", "ample, 1"]
    for processes, threads in bench.args.hybrid:
        header += [f"ample, {processes} × {threads}", "balance (mean/max)"]
    return table(header, map(line, rows))


def table_e(bench, rows):
    args = bench.args
    ways = [[("--threads", "1")], [("--processes", str(n), "--threads", "1") for n in args.processes],
            [("--threads", str(n)) for n in args.threads],
            [("--processes", str(p), "--threads", str(t)) for p, t in args.hybrid]]

    def best(row, options, canonical):
        """The shortest time, as text."""
        cells = [(bench.time(row, *way, *canonical), bench.seconds(row, *way, *canonical)) for way in options]
        known = [seconds for seconds, _ in cells if seconds is not None]
        return f"{min(known):.3f}" if known else cells[0][1]

    def line(row):
        plain = (printed(row, "one", 1), *(printed(row, "best") or (None,) * 3))
        canonical = printed(row, "canonical") or (None,) * 4
        cells = [row]
        for way, before, after in zip(ways, plain, canonical):
            cells.append("" if before is None else f"{before:.2f} → {after:.2f}")
            mine = [best(row, way, ()), best(row, way, ("--canonical", "full"))]
            cells.append(NOT_SUPPORTED if NOT_SUPPORTED in mine else " → ".join(mine))
        return cells
    header = ["net"]
    for way in ("sequential", "processes", "threads", "hybrid"):
        header += [f"{way}, thesis", f"{way}, ample"]
    return table(header, map(line, rows))


def table_f(bench, rows):
    def line(row):
        thesis = printed(row, "nodes")
        cells = [row, *(["", "", ""] if thesis is None else [*map(number, thesis), f"{thesis[0] / thesis[1]:.1f}"])]
        sizes = [bench.cell(row, lambda got: got["statistics"], "--threads", "1", *canonical)
                 for canonical in ((), ("--canonical", "full"))]
        for part in ("nodes", "bytes"):
            cells += [f"{size[part]:,}" if isinstance(size, dict) else size for size in sizes]
            known = [size[part] for size in sizes if isinstance(size, dict)]
            cells.append(f"{known[0] / known[1]:.1f}" if len(known) == 2 else "")
        return cells
    return table(["net", "nodes, thesis", "canonical, thesis", "factor, thesis", "nodes", "canonical", "factor", "bytes",
                  "canonical", "factor"], map(line, rows))


def table_g(bench, rows):
    def sent(got):
        parts = [cluster(got).get(part) for part in ("messages", "message_bytes", "wire_bytes")]
        return " / ".join("?" if part is None else f"{part:,}" for part in parts)
    def line(row):
        found = printed(row, "bytes") or (None, None)
        options = ("--processes", "4", "--threads", "1")
        return [row, number(found[0]), number(found[1]), bench.cell(row, sent, *options),
                bench.cell(row, sent, *options, "--canonical", "send"),
                bench.cell(row, sent, *options, "--canonical", "full")]
    return table(["net", "bytes, thesis", "canonical, thesis", "`none`: messages / their bytes / bytes sent", "`send`",
                  "`full`"], map(line, rows))


def random_formulas(family, places, count=10):
    """Formulas without X over places: the same ones each time, with two to four atoms."""
    source = random.Random(f"sog {family}")

    def make(depth):
        if depth == 0:
            return f"({source.choice(places)} >= 1)"
        kind = source.randrange(8)
        one = make(depth - 1)
        if kind < 4:
            return f"({('G', 'F', 'G F', '!')[kind]} {one})"
        return f"({one} {('U', 'W', '->', '&')[kind - 4]} {make(depth - 1)})"
    formulas = []
    while len(formulas) < count:
        text = make(3)
        if text.count(">=") in (2, 3, 4) and any(operator in text for operator in ("G", "F ", " U ", " W ")):
            formulas.append(text)
    return formulas


def table_h(bench, rows):
    verdicts = {0: "holds", 1: "violated"}
    ways = [("sog", "--threads", "1"), ("sog", "--threads", str(bench.args.threads[0])),
            ("sog", "--threads", "1", "--on-demand"), ("sog", "--processes", "2", "--threads", "1"),
            ("explicit", "--threads", "1"), ("symbolic",)]

    def total(net, formulas, way, seen):
        """Seconds for all formulas, and how many have no verdict; agreement with the other engines is checked."""
        seconds, missing = 0.0, 0
        for formula in formulas:
            command = ["sog", net] if way[0] == "sog" else ["check", net, "--engine", way[0]]
            begin = time.monotonic()
            try:
                _, code = bench.run([*command, "--ltl", formula, *way[1:]])
            except Refused:
                return NOT_SUPPORTED
            seconds += time.monotonic() - begin
            if code in verdicts:
                known = seen.setdefault(formula, verdicts[code])
                if known != verdicts[code]:
                    bench.problem(f"{net}: {formula}: {known} and, {' '.join(way)}, {verdicts[code]}")
            else:
                missing += 1
        return f"{seconds:.2f}" + (f" ({missing} without verdict)" if missing else "")

    def line(row):
        family, size, states, thesis = CHECKED[row]
        net, seen = bench.net(family, size), {}
        text = pathlib.Path(net).read_text(encoding="utf-8")
        places = [part.split('"')[0] for part in text.split('<place id="')[1:]]
        # Formulas speak of few places, those that a net of any size has, so that the sizes can be compared.
        smallest = pathlib.Path(bench.net(family, min(s for f, s, *_ in CHECKED.values() if f == family)))
        common = [p for p in places if f'<place id="{p}"' in smallest.read_text(encoding="utf-8")]
        formulas = random_formulas(family, common)
        cells = [total(net, formulas, way, seen) for way in ways]
        violated = sum(verdict == "violated" for verdict in seen.values())
        shown = [NOT_FINISHED if seconds is None else f"{seconds:.2f}" for seconds in thesis]
        return [row, states or "", f"{len(seen) - violated} / {violated}", *shown, *cells]
    names = ["`" + " ".join(way) + "`" for way in ways]
    return table(["net", "markings, thesis", "hold / violated", "thesis, threads", "thesis, Sylvan", "LTSmin, thesis",
                  "thesis, hybrid", *names], map(line, rows))


TABLES = {"A": table_a, "B": table_b, "C": table_c, "D": table_d, "E": table_e, "F": table_f, "G": table_g, "H": table_h}


def write(letter, lines):
    """Replaces one table of the page."""
    page = PAGE.read_text(encoding="utf-8")
    begin, end = f"<!-- bench/sog.py: {letter} -->", "<!-- end -->"
    before, rest = page.split(begin + "\n", 1)
    after = rest.split(end, 1)[1]
    PAGE.write_text(f"{before}{begin}\n" + "\n".join(lines) + f"\n{end}{after}", encoding="utf-8")


def machine(ample):
    """Which ample, on what."""
    model = platform.processor() or platform.machine()
    try:
        names = [line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
        model = names[0] if names else model
    except OSError:
        pass
    version = subprocess.run([ample, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    return f"{version}, {os.cpu_count()} cores ({model})"


def measured(args):
    """How it was measured."""
    times = "once" if args.repeat == 1 else f"the best of {args.repeat} runs"
    note = f"; {args.note}" if args.note else ""
    return f"{machine(args.ample)}, {times}, within {args.limit} s, `--balance {args.balance}`{note}."


def run(words, limit):
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit + 30)
    return json.loads(done.stdout) if done.returncode == 0 else None


def ask(args, net, formula, engine):
    """The verdict, and seconds of processor time; no verdict if there is none within the limit."""
    words = [args.ample, "check", net, "--ltl", formula, "--engine", engine, "--json", "--time-limit", f"{args.limit}s"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=args.limit * 4 + 30)
    except subprocess.TimeoutExpired:
        return None, float(args.limit)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    verdict = {0: "holds", 1: "violated"}.get(done.returncode)
    if done.returncode == 2:
        print(f"{net}: {formula}: {done.stderr.strip()}", file=sys.stderr)
    return verdict, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ltl(args):
    """The table of formulas; whether all engines agree."""
    agree = True
    print("| net | formula | verdict | " + " | ".join(ENGINES) + " |")
    print("|---|---|---|" + "---:|" * len(ENGINES), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for family in args.row or FORMULAS:
            sizes, formulas = FORMULAS[family]
            for size in sizes:
                net = f"{folder}/{family}_{size}.pnml"
                subprocess.run([sys.executable, GENERATE, family, str(size), "--out", net], check=True)
                for formula in formulas:
                    answers = [ask(args, net, formula, engine) for engine in ENGINES]
                    verdicts = {verdict for verdict, _ in answers if verdict}
                    if len(verdicts) > 1:
                        agree = False
                        print(f"verdicts differ: {family} {size} {formula}: {answers}", file=sys.stderr)
                    cells = [f"{seconds:.2f}" if verdict else "–" for verdict, seconds in answers]
                    text = formula.replace("|", "\\|")
                    verdict = " / ".join(sorted(verdicts)) or "–"
                    print(f"| {family} {size} | `{text}` | {verdict} | {' | '.join(cells)} |", flush=True)
    return agree


def tables(args):
    """All tables that are asked for; whether everything was as expected."""
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(args, folder)
        for letter in args.tables:
            known, quick = (CHECKED, CHECKED_QUICK) if letter == "H" else (ROWS, QUICK)
            rows = [row for row in args.row if row in known] or (quick if args.quick else list(known))
            print(f"\n{letter}\n", flush=True)
            lines = TABLES[letter](bench, rows)
            if args.write:
                write(letter, lines)
        if args.write:
            write("machine", [measured(args)])
        return not bench.problems


def numbers(text):
    return [int(part) for part in text.split(",")]


def pairs(text):
    return [tuple(int(number) for number in part.split("x")) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--tables", default="".join(TABLES), help="letters, with or without commas")
    parser.add_argument("--quick", action="store_true", help="small nets only, each build once")
    parser.add_argument("--write", action="store_true", help="replace the tables of docs/sog-tables.md")
    parser.add_argument("--note", default="", help="what else the page shall say about this run")
    parser.add_argument("--threads", type=numbers, default=[2, 4], metavar="N,…")
    parser.add_argument("--processes", type=numbers, default=[2, 4], metavar="N,…")
    parser.add_argument("--hybrid", type=pairs, default=[(2, 2)], metavar="PxT,…")
    parser.add_argument("--balance", default="order", choices=["order", "steal", "min-load"])
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--ltl", action="store_true")
    parser.add_argument("row", nargs="*")
    args = parser.parse_args()
    args.limit = args.limit or (60 if args.ltl or args.quick else 300)
    args.repeat = args.repeat or (1 if args.quick else 3)
    args.tables = [letter for letter in args.tables.upper() if letter != ","]
    for letter in args.tables:
        if letter not in TABLES:
            parser.error(f"{letter} is none of {', '.join(TABLES)}")
    known = FORMULAS if args.ltl else {**ROWS, **CHECKED}
    for name in args.row:
        if name not in known:
            parser.error(f"{name} is none of {', '.join(known)}")
    sys.exit(0 if (ltl if args.ltl else tables)(args) else 1)


if __name__ == "__main__":
    main()
