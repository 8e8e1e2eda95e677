#!/usr/bin/env python3
"""Distributed construction of an observation graph, simulated for more workers than there are cores.

    bench/growth.py COSTS.json [--workers 1,2,…,144] [--threads 12] [--repeated 0.15] [--scale-to SECONDS] […]
    bench/growth.py --run ROW… [--ample PATH] [--write]
    bench/growth.py --check

A discrete-event simulation: every aggregate has an owner, which is a process, chosen by the digest of its content; a worker
of the owner expands it, that is, computes its successors one after the other, and sends those that others own, once each. The
costs are measured: `ample sog FILE --costs COSTS.json` writes

    {"aggregates": [{"id": 0, "build_s": 0.01, "bytes": 1234, "owner_digest": "9e10…", "successors": [1, 2]}, …]}

with the seconds in which an aggregate was computed for the first time, the bytes of its set as they are sent, the digest
(hexadecimal) that chooses the owner, and the aggregates that its arcs lead to, in the order in which they are computed,
one entry for each arc. The aggregate with `id` 0 is the initial one. What is assumed is in docs/sog-growth.md.

With --run, rows of bench/sog.py (ring6, robot6, …) are measured with `--costs` and simulated. The work that several
workers do is measured as well, as processor time, which needs no more cores than there are; the simulation is compared
with it, and, for 1 and 2 workers, with times on the wall. With --write the tables go to docs/sog-growth.md.

--check tests the simulation and the reader on graphs with known answers. Files that are not of this form end it with
status 2.
"""
import argparse
import heapq
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
from collections import deque
from dataclasses import dataclass, field, replace

import sog

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "sog-growth.md"
WORKERS = [1, 2, 4, 8, 12, 24, 48, 72, 96, 120, 144]
#: Rows that say something: many aggregates, and the largest speed-ups of the thesis.
USUAL = ["ring6", "philo10", "robot5", "train2-8", "fms4"]


class BadCosts(Exception):
    """A file with costs that cannot be used, and why."""


@dataclass
class Costs:
    """What was measured, for each aggregate."""
    build: list
    bytes: list
    digest: list
    successors: list

    def __len__(self):
        return len(self.build)

    def arcs(self):
        return sum(map(len, self.successors))

    def scaled(self, factor):
        return replace(self, build=[seconds * factor for seconds in self.build])


@dataclass
class Cluster:
    """Workers in processes, and what lies between them. Seconds, and bytes in a second."""
    workers: int = 1
    #: In each process.
    threads: int = 12
    #: Between processes; the links of a process send one message after the other.
    latency: float = 2e-6
    bandwidth: float = 3.2e9
    #: Between workers of one process.
    local_latency: float = 2e-7
    #: Processor time of a message for sender and receiver each, and of each byte that is written or read.
    message: float = 1e-6
    byte: float = 2e-9
    #: What an aggregate costs that this worker has computed before, as a part of the first time.
    repeated: float = 0.15
    #: The digest chooses a process; its workers share memory, and a new aggregate goes to the one with the fewest waiting. A
    #: process sends an aggregate once. Otherwise it chooses a worker, which shares nothing.
    hybrid: bool = True
    #: As in the thesis: who receives an aggregate computes its closure again, and only then sees if it is known.
    closes: bool = False

    def process(self, worker):
        return worker // self.threads

    def processes(self):
        return -(-self.workers // self.threads)


@dataclass
class Run:
    """What a simulation saw."""
    seconds: float = 0.0
    busy: list = field(default_factory=list)
    expanded: list = field(default_factory=list)
    built: int = 0
    messages: int = 0
    bytes: int = 0
    remote: int = 0


class Simulation:
    """The construction from the initial aggregate until the last worker knows that it is over."""

    def __init__(self, costs, cluster):
        self.costs, self.cluster = costs, cluster
        workers = cluster.workers
        parts = cluster.processes() if cluster.hybrid else workers
        #: The worker that owns an aggregate; the process, if its workers share what they own.
        self.owner = [digest % parts for digest in costs.digest]
        self.run = Run(busy=[0.0] * workers, expanded=[0] * workers)
        self.known = bytearray(len(costs))
        self.queues = [deque() for _ in range(workers)]
        self.idle = [True] * workers
        self.computed, self.sent = set(), set()
        self.link = [0.0] * cluster.processes()
        self.events, self.number = [], 0

    def at(self, time, kind, worker, aggregate):
        self.number += 1
        heapq.heappush(self.events, (time, self.number, kind, worker, aggregate))

    def compute(self, target, worker):
        """Seconds in which a worker computes an aggregate."""
        if (target, worker) in self.computed:
            return self.costs.build[target] * self.cluster.repeated
        self.computed.add((target, worker))
        self.run.built += 1
        return self.costs.build[target]

    def work(self, worker, now):
        """Takes what waits, first come first served, until an aggregate is expanded; returns when the worker is free."""
        costs, cluster, queue, time = self.costs, self.cluster, self.queues[worker], now
        here = cluster.process(worker) if cluster.hybrid else worker
        while queue:
            aggregate, received = queue.popleft()
            if received:
                time += cluster.message
                if cluster.closes:
                    time += costs.bytes[aggregate] * cluster.byte + self.compute(aggregate, worker)
                if self.known[aggregate]:
                    continue
                self.known[aggregate] = 1
                if not cluster.closes:
                    time += costs.bytes[aggregate] * cluster.byte
            self.run.expanded[worker] += 1
            for target in costs.successors[aggregate]:
                time += self.compute(target, worker)
                if self.owner[target] == here:
                    if cluster.hybrid:
                        self.at(time, "made", worker, target)
                    elif not self.known[target]:
                        self.known[target] = 1
                        queue.append((target, False))
                elif (target, here) not in self.sent:
                    self.sent.add((target, here))
                    time += cluster.message + costs.bytes[target] * cluster.byte
                    self.at(time, "send", worker, target)
            break
        self.run.busy[worker] += time - now
        return time

    def least(self, process):
        """The worker of a process with the fewest waiting."""
        first = process * self.cluster.threads
        workers = range(first, min(first + self.cluster.threads, self.cluster.workers))
        return min(workers, key=lambda worker: len(self.queues[worker]) + (not self.idle[worker]))

    def send(self, now, worker, aggregate):
        cluster, run, size = self.cluster, self.run, self.costs.bytes[aggregate]
        process, to = cluster.process(worker), self.owner[aggregate]
        run.messages += 1
        run.bytes += size
        if process == (to if cluster.hybrid else cluster.process(to)):
            self.at(now + cluster.local_latency, "arrive", to, aggregate)
            return
        run.remote += 1
        self.link[process] = max(self.link[process], now) + size / cluster.bandwidth
        self.at(self.link[process] + cluster.latency, "arrive", to, aggregate)

    def wake(self, worker, now):
        """A worker that has nothing to do looks at its queue."""
        self.idle[worker] = not self.queues[worker]
        if self.queues[worker]:
            self.at(self.work(worker, now), "free", worker, 0)

    def go(self):
        costs, cluster, run = self.costs, self.cluster, self.run
        # Everyone computes the initial aggregate, to know whose it is.
        begin = now = costs.build[0]
        run.built += cluster.workers
        run.busy = [begin] * cluster.workers
        self.computed.update((0, worker) for worker in range(cluster.workers))
        self.known[0] = 1
        first = self.least(self.owner[0]) if cluster.hybrid else self.owner[0]
        self.queues[first].append((0, False))
        self.at(begin, "free", first, 0)
        while self.events:
            now, _, kind, worker, aggregate = heapq.heappop(self.events)
            if kind == "send":
                self.send(now, worker, aggregate)
            elif kind == "free":
                self.wake(worker, now)
            elif kind == "arrive" or not self.known[aggregate]:
                received = kind == "arrive"
                if not received:
                    self.known[aggregate] = 1
                    worker = cluster.process(worker)
                to = self.least(worker) if cluster.hybrid else worker
                self.queues[to].append((aggregate, received))
                if self.idle[to]:
                    self.wake(to, now)
        # Two waves round a ring of processes find that no message is under way.
        ring = cluster.processes()
        run.seconds = now + (2 * ring * (cluster.latency + cluster.message) if ring > 1 else 0.0)
        if sum(run.expanded) != reachable(costs):
            raise AssertionError("an aggregate was expanded twice, or not at all")
        return run


def simulate(costs, cluster):
    """What happens to a graph on a cluster."""
    return Simulation(costs, cluster).go()


def reachable(costs):
    """How many aggregates are reached from the first one."""
    seen, stack = {0}, [0]
    while stack:
        for target in costs.successors[stack.pop()]:
            if target not in seen:
                seen.add(target)
                stack.append(target)
    return len(seen)


def longest(costs):
    """Seconds that no number of workers can do without: until the last aggregate is expanded by someone who was free."""
    first, heap = {0: costs.build[0]}, [(costs.build[0], 0)]
    end = 0.0
    while heap:
        time, aggregate = heapq.heappop(heap)
        if time > first[aggregate]:
            continue
        for target in costs.successors[aggregate]:
            time += costs.build[target]
            if time < first.get(target, float("inf")):
                first[target] = time
                heapq.heappush(heap, (time, target))
        end = max(end, time)
    return end


def sequential(costs, repeated):
    """Seconds of one worker without messages."""
    arcs = [0] * len(costs)
    arcs[0] = 1
    for targets in costs.successors:
        for target in targets:
            arcs[target] += 1
    return sum(seconds * (1 + (n - 1) * repeated) for seconds, n in zip(costs.build, arcs) if n)


def read(path):
    """Costs from a file; it is checked."""
    try:
        text = pathlib.Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadCosts(f"{path}: {error}") from None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise BadCosts(f"{path}: not JSON: {error}") from None
    rows = value.get("aggregates") if isinstance(value, dict) else None
    if not isinstance(rows, list) or not rows:
        raise BadCosts(f"{path}: expected an object with a list `aggregates` that is not empty")
    costs = Costs([], [], [], [])
    for place, row in enumerate(rows):
        def wrong(what):
            return BadCosts(f"{path}: aggregate {place}: {what}")
        if not isinstance(row, dict) or row.get("id") != place:
            raise wrong(f"expected an object with `id` {place}")
        seconds, size, digest = row.get("build_s"), row.get("bytes"), row.get("owner_digest")
        if not isinstance(seconds, (int, float)) or isinstance(seconds, bool) or not 0 <= seconds < float("inf"):
            raise wrong("expected `build_s`, seconds that are not negative")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise wrong("expected `bytes`, a whole number that is not negative")
        try:
            digest = int(digest, 16)
        except (TypeError, ValueError):
            raise wrong("expected `owner_digest`, a hexadecimal number as text") from None
        targets = row.get("successors")
        if not isinstance(targets, list) or not all(type(t) is int and 0 <= t < len(rows) for t in targets):
            raise wrong(f"expected `successors`, a list of numbers below {len(rows)}")
        costs.build.append(float(seconds))
        costs.bytes.append(size)
        costs.digest.append(digest)
        costs.successors.append(targets)
    return costs


def write_costs(costs, path):
    """The form that `read` reads."""
    rows = [{"id": i, "build_s": costs.build[i], "bytes": costs.bytes[i], "owner_digest": f"{costs.digest[i]:032x}",
             "successors": costs.successors[i]} for i in range(len(costs))]
    pathlib.Path(path).write_text(json.dumps({"aggregates": rows}), encoding="utf-8")


def generated(kind, size, seconds=1e-3, seed=0):
    """Costs of a made-up graph: a chain, a star, or a random one in which everything is reachable."""
    source = random.Random(f"{kind} {size} {seed}")
    digests = [source.getrandbits(128) for _ in range(size)]
    if kind == "chain":
        successors = [[i + 1] if i + 1 < size else [] for i in range(size)]
    elif kind == "star":
        # Leaves have one successor each, the last aggregate, which makes them cost something.
        successors = [list(range(1, size - 1))] + [[size - 1]] * (size - 2) + [[]]
    else:
        successors = [[] for _ in range(size)]
        for i in range(1, size):
            successors[source.randrange(i)].append(i)
        for _ in range(3 * size):
            successors[source.randrange(size)].append(source.randrange(size))
    build = [seconds * source.uniform(0.2, 1.8) if kind == "random" else seconds for _ in range(size)]
    return Costs(build, [source.randrange(50, 2000) for _ in range(size)], digests, successors)


def table(costs, cluster, workers, thesis=None, extra=()):
    """Lines of Markdown; `thesis` has speed-ups by the number of workers."""
    base = sequential(costs, cluster.repeated)
    header = ["workers", "processes", "seconds", "speed-up", *(["thesis"] if thesis else []), "busy", "computed per aggregate",
              "messages", "MB"]
    rows = []
    for count in workers:
        run = simulate(costs, replace(cluster, workers=count))
        shown = [f"{thesis[count]:.1f}" if count in thesis else ""] if thesis else []
        busy = sum(run.busy) / (count * run.seconds)
        rows.append([count, replace(cluster, workers=count).processes(), f"{run.seconds:.4g}",
                     f"{base / run.seconds:.1f}", *shown, f"{busy:.0%}", f"{run.built / len(costs):.2f}",
                     f"{run.messages:,}", f"{run.bytes / 1e6:.1f}"])
    return sog.table(header, rows)


def thesis_speed_ups(row):
    """By workers: threads of one process, then processes of 12 threads."""
    figures = sog.THESIS.get(row)
    if not figures:
        return {}
    one = figures["one"][1]
    found = dict(zip((2, 4, 6, 8, 10, 12), (one / t for t in figures["threads"])))
    return found | dict(zip((24, 48, 72, 96, 120, 144), (one / t for t in figures["hybrid"])))


class Measured:
    """A row of bench/sog.py, built by ample."""

    def __init__(self, args, row, folder):
        self.args, self.row = args, row
        family, size, self.observed = sog.ROWS[row]
        self.net, self.folder = f"{folder}/{row}.pnml", folder
        subprocess.run([sys.executable, sog.GENERATE, family, str(size), "--out", self.net], check=True)

    def build(self, *options, repeat=None):
        """The best of some builds by processor time: what it printed, seconds on the wall, of the processor, and of both
        outside of the build. Nothing if ample refuses it."""
        best = None
        for _ in range(repeat or self.args.repeat):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([self.args.ample, "sog", self.net, "--observe", ",".join(self.observed), "--json", *options],
                                  capture_output=True, text=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if done.returncode != 0:
                if "unexpected argument" in done.stderr or "invalid value" in done.stderr:
                    return None
                raise SystemExit(f"growth.py: {self.row}: {' '.join(options)}: {done.stderr.strip()}")
            got = json.loads(done.stdout)
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            if best is None or cpu < best[2]:
                best = got, got["time_s"], cpu
        return best

    def costs(self):
        """What each aggregate costs, the least of several builds: an interruption by something else takes longer than most
        computations."""
        file = f"{self.folder}/{self.row}.costs"
        least = None
        for _ in range(3 * self.args.repeat):
            if self.build("--costs", file, repeat=1) is None:
                raise SystemExit("growth.py: this ample does not have `--costs`")
            costs = read(file)
            if least is None:
                least = costs
            elif (least.digest, least.successors) != (costs.digest, costs.successors):
                raise SystemExit(f"growth.py: {self.row}: two builds with `--costs` differ")
            least.build = [min(pair) for pair in zip(least.build, costs.build)]
        return least

    def work(self, workers):
        """Seconds of the wall and of the processor for a build by so many threads, without reading the net and printing.

        New aggregates go to the thread with the fewest, which spreads them without regard to what they are like, as a digest
        does."""
        got, wall, cpu = self.build("--threads", str(workers), "--balance", "min-load")
        return wall, cpu, len(got["graph"]["aggregates"])

    def distributed(self, workers):
        got = self.build("--processes", str(workers), "--threads", "1")
        return None if got is None else got[1]


def fitted(costs, cluster, goal):
    """The part that a repeated computation costs, so that the processor time of so many workers, in terms of that of one,
    is as measured: {workers: ratio}. By bisection on the largest number of workers, since the ratio falls with it."""
    workers = max(goal)

    def ratio(repeated):
        run = simulate(costs, replace(cluster, workers=workers, repeated=repeated))
        return sum(run.busy) / sequential(costs, repeated)
    low, high = 0.0, 1.0
    for _ in range(12):
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) > goal[workers] else (low, middle)
    return (low + high) / 2


def row_lines(args, row, folder):
    """What is measured and simulated of a row."""
    measured = Measured(args, row, folder)
    costs = measured.costs()
    work = {n: measured.work(n) for n in args.measure}
    one_wall, one_cpu, _ = work[1]
    outside = max(0.0, one_cpu - one_wall)
    cpu = {n: max(1e-9, found[1] - outside) for n, found in work.items()}
    # In one process nothing is sent through a network, and reading costs what it costs there.
    here = Cluster(threads=max(args.measure))

    # `--costs` measures another order than that of the threads, whose caches are of more use to the sorted one.
    def scaled(repeated):
        return costs.scaled(one_wall / sequential(costs, repeated))
    first = sum(costs.build)
    repeated = args.repeated
    if repeated is None:
        repeated = 0.15
        for _ in range(2):
            repeated = fitted(scaled(repeated), here, {n: cpu[n] / cpu[1] for n in cpu})
    costs = scaled(repeated)
    base = sequential(costs, repeated)
    lines = [f"{len(costs):,} aggregates, {costs.arcs():,} arcs; first computations {first:.3f} s by `--costs`; sequential "
             f"{one_wall:.3f} s, to which the costs are scaled. A repeated computation costs {repeated:.2f} of the first.", ""]
    print("\n".join(lines))
    rows = []
    for count in sorted(work):
        run = simulate(costs, replace(here, workers=count, repeated=repeated))
        simulated, found = sum(run.busy) / base, cpu[count] / cpu[1]
        far = measured.distributed(count) if count <= 2 else None
        cores = os.cpu_count() or 1
        rows.append([count, f"{found:.2f}", f"{simulated:.2f}", f"{simulated / found - 1:+.0%}",
                     f"{work[count][0]:.3f}" if count <= cores else "", "" if far is None else f"{far:.3f}",
                     f"{run.seconds:.3f}"])
    lines += sog.table(["workers", "work, measured", "work, simulated", "difference", "seconds, threads",
                        "seconds, processes", "seconds, simulated"], rows)
    lines.append("")
    cluster = replace(args.cluster, repeated=repeated)
    bound = base / longest(costs)
    text = f"With ample's costs (no number of workers is more than {bound:.0f} times as fast as one):"
    print(f"\n{text}\n")
    lines += [text, "", *table(costs, cluster, args.workers, thesis_speed_ups(row)), ""]
    if row in sog.THESIS:
        # Two of its threads are twice as fast as one or nearly so: there, computing again costs what it costs the first time.
        seconds, again = sog.THESIS[row]["one"][1], replace(cluster, repeated=1.0, hybrid=True, closes=True)
        text = f"The thesis's algorithm (`--closes --repeated 1`), costs scaled to its sequential time, {seconds:,} s:"
        print(f"\n{text}\n")
        scaled_up = costs.scaled(seconds / sequential(costs, 1.0))
        lines += [text, "", *table(scaled_up, again, args.workers, thesis_speed_ups(row)), ""]
    return lines


def check():
    """The simulation on graphs with known answers, and the reader on good and bad files."""
    free = Cluster(hybrid=False, latency=0, bandwidth=1e30, local_latency=0, message=0, byte=0, repeated=0)
    chain, star = generated("chain", 50), generated("star", 1002)
    alone = simulate(chain, free)
    assert abs(alone.seconds - 50e-3) < 1e-9 and alone.messages == 0 and alone.built == 50
    # Who waits for the one before cannot be faster.
    many = simulate(chain, replace(free, workers=24))
    assert abs(many.seconds - 50e-3) < 1e-9 and abs(longest(chain) - 50e-3) < 1e-9
    far = simulate(chain, replace(free, workers=24, threads=1, latency=1e-2))
    assert far.remote == far.messages and abs(far.seconds - (50e-3 + far.messages * 1e-2 + 48e-2)) < 1e-9
    # Leaves are independent, but one worker computes them one after the other.
    one = sequential(star, 1.0)
    assert abs(one - 2.001) < 1e-6 and abs(simulate(star, replace(free, repeated=1.0)).seconds - one) < 1e-6
    many = simulate(star, replace(free, workers=8, repeated=1.0))
    # The first aggregate's owner expands its own leaves, an eighth or so, when it has sent the others theirs.
    assert longest(star) + 0.1 <= many.seconds < longest(star) + 0.15, many.seconds
    for seed in range(20):
        graph = generated("random", 300, seed=seed)
        for repeated, hybrid, closes in ((0.0, False, False), (0.3, False, False), (0.3, True, False), (1.0, True, True)):
            base = sequential(graph, repeated)
            for workers in (1, 2, 7, 144):
                cluster = replace(free, workers=workers, threads=5, repeated=repeated, hybrid=hybrid, closes=closes)
                run = simulate(graph, cluster)
                assert sum(run.expanded) == 300 and run.messages <= graph.arcs()
                assert workers > 1 or abs(run.seconds - base) < 1e-9 * base
                assert run.seconds * workers >= sum(run.busy) - 1e-9
                # Each aggregate is computed by someone in full.
                assert sum(run.busy) >= sum(graph.build) - 1e-9
                slow = simulate(graph, replace(cluster, latency=1e-3, message=1e-4, byte=1e-8, bandwidth=1e8))
                assert workers == 1 or slow.seconds > run.seconds * 0.9
                # Workers of one process send nothing there.
                assert not hybrid or workers > 5 or run.messages == 0
                assert simulate(graph, cluster).seconds == run.seconds
    with tempfile.TemporaryDirectory() as folder:
        path, graph = f"{folder}/costs.json", generated("random", 30)
        write_costs(graph, path)
        assert read(path) == graph
        good = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        worse = [None, [], {}, {"aggregates": []}, {"aggregates": 3}]
        for key, values in {"id": [7, None], "build_s": [-1, "x", None, True], "bytes": [-1, 1.5, None],
                            "owner_digest": ["xyz", 5, None], "successors": [None, [30], [-1], ["0"], [True]]}.items():
            for value in values:
                bad = json.loads(json.dumps(good))
                bad["aggregates"][1][key] = value
                worse.append(bad)
        for bad in [*map(json.dumps, worse), "{", "\xff", '{"aggregates": [{"id": 0, "build_s": Infinity}]}']:
            pathlib.Path(path).write_text(bad, encoding="latin-1")
            try:
                read(path)
            except BadCosts as error:
                assert path in str(error)
            else:
                raise AssertionError(f"accepted: {bad[:80]}")
        try:
            read(f"{folder}/none")
        except BadCosts:
            pass
        else:
            raise AssertionError("accepted a file that is not there")
    print("growth.py: all checks passed")


def write(lines):
    page = PAGE.read_text(encoding="utf-8")
    begin, end = "<!-- bench/growth.py -->\n", "<!-- end -->"
    before, rest = page.split(begin, 1)
    PAGE.write_text(before + begin + "\n".join(lines) + "\n" + end + rest.split(end, 1)[1], encoding="utf-8")


def numbers(text):
    found = [int(part) for part in text.split(",")]
    if min(found) < 1:
        raise ValueError
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("costs", nargs="*", help="a file with costs; with --run, rows")
    parser.add_argument("--run", action="store_true", help="measure rows of bench/sog.py, and simulate them")
    parser.add_argument("--check", action="store_true", help="test the simulation")
    parser.add_argument("--ample", default=str(sog.ROOT / "target" / "release" / "ample"))
    parser.add_argument("--write", action="store_true", help="with --run, replace the tables of docs/sog-growth.md")
    parser.add_argument("--note", default="", help="what else the page shall say about this run")
    parser.add_argument("--workers", type=numbers, default=WORKERS, metavar="N,…")
    parser.add_argument("--measure", type=numbers, default=[1, 2, 4, 8, 16], metavar="N,…")
    parser.add_argument("--repeat", type=int, default=3, help="builds of which the best counts")
    usual = Cluster()
    parser.add_argument("--threads", type=int, default=usual.threads, help="workers of a process")
    parser.add_argument("--latency", type=float, default=usual.latency, help="between processes, seconds")
    parser.add_argument("--bandwidth", type=float, default=usual.bandwidth, help="of a process, bytes in a second")
    parser.add_argument("--local-latency", type=float, default=usual.local_latency, help="in a process, seconds")
    parser.add_argument("--message", type=float, default=usual.message, help="processor seconds of a message, at each end")
    parser.add_argument("--byte", type=float, default=usual.byte, help="processor seconds of a byte, at each end")
    parser.add_argument("--repeated", type=float, help="cost of computing an aggregate again, as a part of the first time")
    parser.add_argument("--apart", action="store_true", help="workers of a process share nothing")
    parser.add_argument("--closes", action="store_true",
                        help="who receives an aggregate computes its closure, and only then sees if it is known, as in the thesis")
    parser.add_argument("--scale-to", type=float, metavar="SECONDS", help="scale the costs to this sequential time")
    args = parser.parse_args()
    if args.threads < 1 or args.bandwidth <= 0 or min(args.latency, args.local_latency, args.message, args.byte) < 0:
        parser.error("--threads and --bandwidth have to be positive, times must not be negative")
    args.cluster = Cluster(threads=args.threads, latency=args.latency, bandwidth=args.bandwidth,
                           local_latency=args.local_latency, message=args.message, byte=args.byte,
                           hybrid=not args.apart, closes=args.closes)
    if args.check:
        check()
        return
    if args.run:
        lines = ["", f"Measured: {sog.machine(args.ample)}, the best of {args.repeat} runs"
                 + (f"; {args.note}" if args.note else "") + "."]
        with tempfile.TemporaryDirectory() as folder:
            for row in args.costs or USUAL:
                if row not in sog.ROWS:
                    parser.error(f"{row} is none of {', '.join(sog.ROWS)}")
                print(f"\n### {row}\n")
                lines += ["", f"### {row}", "", *row_lines(args, row, folder)]
        if args.write:
            write(lines)
        return
    if len(args.costs) != 1:
        parser.error("a file with costs, --run, or --check")
    try:
        costs = read(args.costs[0])
    except BadCosts as error:
        print(f"growth.py: {error}", file=sys.stderr)
        sys.exit(2)
    cluster = replace(args.cluster, repeated=0.15 if args.repeated is None else args.repeated)
    if args.scale_to is not None:
        costs = costs.scaled(args.scale_to / sequential(costs, cluster.repeated))
    table(costs, cluster, args.workers)


if __name__ == "__main__":
    main()
