#!/usr/bin/env python3
"""The stores of the explicit engine: bytes per state and speed, beside Spin's pan with -DCOLLAPSE and -DMA.

    bench/stores.py [--ample PATH] [--stores exact,tree,…] [--search bfs] [--limit 120] [--no-spin] [--csv FILE] MODEL…

Every reduction is off on both sides, and all models are run one after the other on the same machine. For each model: the
states, and for each store the bytes that the visited set takes per state (states inside atomic sequences that had to be
stored count as states here) and its speed relative to the exact store of the same run. Then the medians over the models
with at least --min-states states. An exact store that counts other states than `exact` is reported, and the exit code is 1.

    bench/stores.py --bitstate [--bits N] MODEL…

compares the coverage of bit-state hashing with its estimate: for each model the array has about as many bits as `--ratio`
times the number of states, so that states are omitted. `estimated` is the part of the states that the estimate says was
visited, `actual` the part that was.

    bench/stores.py --disk [--memory 160] [MODEL…]

counts with the exact store and without a limit, then on disk with that many megabytes of memory: states of at least three
times the limit should give the same counts, and the process should stay within the limit. Without a model, one is made
whose 4,826,809 states have 110 bytes each.
"""
import argparse, csv, json, math, os, pathlib, re, resource, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXACT = ["exact", "collapse", "tree", "automaton", "disk"]
ALL = [*EXACT, "compact", "bitstate"]


def measured(command, **options):
    """What a process printed, and the seconds of processor time that it took: other jobs do not stretch those."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run_ample(ample, model, options, limit):
    command = [str(ample), "states", str(model), "--json", "--quiet", "--time-limit", f"{limit}s", *options]
    try:
        done, seconds = measured(command, timeout=limit + 60)
        answer = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, json.JSONDecodeError):
        return None
    if not answer.get("complete"):
        return None
    stats = answer["stats"]
    stored = int(stats["states"]) + int(stats.get("atomic_states") or 0)
    return dict(states=int(stats["states"]), stored=stored, transitions=int(stats["transitions"]), time=max(seconds, 1e-3),
                bytes=int(stats["store_bytes"]) / max(1, stored), memory=int(stats["memory_bytes"]),
                omitted=stats.get("omitted"), vector=stats["state_bytes"])


def number(pattern, text):
    found = re.search(pattern, text)
    return float(found[1]) if found else None


def run_pan(model, flags, limit):
    """Seconds, states and bytes per state as pan reports them."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["spin", "-a", "-o1", "-o2", "-o3", str(model.resolve())], cwd=folder, capture_output=True)
        if not (pathlib.Path(folder) / "pan.c").exists():
            return None
        base = ["-O2", "-w", "-DSAFETY", "-DNOREDUCE", "-DNOCLAIM", "-DVECTORSZ=4096", "-DMEMLIM=8000"]
        done = subprocess.run(["gcc", *base, *flags, "-o", "pan", "pan.c"], cwd=folder, capture_output=True)
        if done.returncode:
            return None
        try:
            done, seconds = measured(["./pan", "-c0", "-n", "-m2000000", "-w20"], cwd=folder, timeout=limit)
        except subprocess.TimeoutExpired:
            return None
    text = done.stdout
    states = number(r"(\d+) states, stored", text)
    if not states or "Search not completed" in text:
        return None
    stored = number(r"([\d.]+)\s+actual memory usage for states", text)
    minimised = number(r"([\d.]+)\s+memory used for (?:minimized )?automaton", text)
    total = number(r"([\d.]+)\s+total actual memory usage", text)
    table = number(r"([\d.]+)\s+memory used for hash table", text) or 0
    stack = number(r"([\d.]+)\s+memory used for DFS stack", text) or 0
    if any(flag.startswith("-DMA") for flag in flags):
        held = minimised if minimised is not None else total - stack
    else:
        held = (stored + table) if stored is not None else total - stack
    vector = number(r"State-vector (\d+) byte", text)
    return dict(states=int(states), time=max(seconds, 1e-3), bytes=held * 2**20 / states, vector=vector)


def compare(arguments):
    stores = arguments.stores.split(",")
    columns = [(store, ["--store", store]) for store in stores]
    rows, wrong = [], 0
    header = ["model", "states", "vector", *stores]
    if not arguments.no_spin:
        header += ["pan", "pan COLLAPSE", "pan MA"]
    print("| " + " | ".join(header) + " |")
    print("|---" + "|---:" * (len(header) - 1) + "|")
    for model in arguments.models:
        exact = run_ample(arguments.ample, model, ["--store", "exact", "--search", arguments.search], arguments.limit)
        if exact is None:
            print(f"<!-- {model.name}: not within the limit -->")
            continue
        row = dict(model=model.name, states=exact["states"], vector=exact["vector"])
        for store, options in columns:
            search = "bfs" if store == "disk" else arguments.search
            done = exact if store == "exact" else run_ample(arguments.ample, model, [*options, "--search", search], arguments.limit)
            if done is None:
                continue
            if store in EXACT and (done["states"], done["transitions"]) != (exact["states"], exact["transitions"]):
                print(f"<!-- {model.name}: {store} counts {done['states']} states -->")
                wrong += 1
            row[store] = (done["bytes"], exact["time"] / max(done["time"], 1e-3))
        if not arguments.no_spin:
            plain = run_pan(model, [], arguments.limit)
            vector = int(plain["vector"]) if plain and plain["vector"] else 0
            for name, flags in [("pan", []), ("pan COLLAPSE", ["-DCOLLAPSE"]), ("pan MA", [f"-DMA={vector}"])]:
                done = plain if name == "pan" else run_pan(model, flags, arguments.limit) if vector else None
                if done:
                    row[name] = (done["bytes"], plain["time"] / done["time"])
        rows.append(row)
        cells = [f"{row[name][0]:.1f} ({row[name][1]:.2f})" if name in row else "" for name in header[3:]]
        print(f"| {row['model']} | {row['states']:,} | {row['vector']} | " + " | ".join(cells) + " |", flush=True)
    large = [row for row in rows if row["states"] >= arguments.min_states]
    for name in header[3:]:
        figures = [row[name] for row in large if name in row]
        if figures:
            size, speed = (statistics.median(column) for column in zip(*figures))
            print(f"{name}: median {size:.1f} bytes a state, {speed:.2f} of the plain speed, over {len(figures)} models "
                  f"of {arguments.min_states} states and more")
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["model", "states", "vector", *(f"{name} {what}" for name in header[3:] for what in ("bytes", "speed"))])
            for row in rows:
                figures = [figure for name in header[3:] for figure in row.get(name, ("", ""))]
                writer.writerow([row["model"], row["states"], row["vector"], *figures])
    return 1 if wrong else 0


def bitstate(arguments):
    print("| model | states | bits | visited | omitted by estimate | estimated coverage | actual coverage |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    errors = []
    for model in arguments.models:
        exact = run_ample(arguments.ample, model, ["--search", arguments.search], arguments.limit)
        if exact is None:
            continue
        bits = arguments.bits or max(10, round(math.log2(arguments.ratio * exact["stored"])))
        done = run_ample(arguments.ample, model, ["--store", "bitstate", "--hash-bits", str(bits), "--search", arguments.search], arguments.limit)
        if done is None:
            continue
        estimated = done["stored"] / (done["stored"] + done["omitted"])
        actual = done["stored"] / exact["stored"]
        errors.append(abs(estimated - actual))
        print(f"| {model.name} | {exact['states']:,} | 2^{bits} | {done['states']:,} | {done['omitted']:,.0f} | "
              f"{100 * estimated:.2f} % | {100 * actual:.2f} % |", flush=True)
    if errors:
        print(f"{len(errors)} models, largest difference {100 * max(errors):.2f} points, median {100 * statistics.median(errors):.2f}")
    return 0


COUNTERS = """
byte count[6];
int constants[24];
active [6] proctype Count() {
end:
  do
  :: d_step { count[_pid] < 12 -> count[_pid]++ }
  :: d_step { count[_pid] == 12 -> count[_pid] = 0 }
  od
}
"""


def peak(command):
    """What a process printed as JSON, its processor time, and the most memory that it held, in bytes."""
    with tempfile.TemporaryFile() as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0
        out.seek(0)
        answer = json.load(out)
    return answer["stats"], answer["complete"], usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def disk(arguments):
    """Exit code 1 if a count differs, or if the limit was not kept."""
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder) / "counters.pml"
        counters.write_text(COUNTERS)
        print("| model | states | MB of states | limit | exact: peak, s | disk: peak, s | same counts |")
        print("|---|---:|---:|---:|---:|---:|---|")
        for model in arguments.models or [counters]:
            base = [str(arguments.ample), "states", str(model), "--json", "--quiet", "--search", "bfs", "--time-limit", f"{arguments.limit}s"]
            exact, is_whole, seconds, held = peak([*base, "--store", "exact"])
            other, is_complete, other_seconds, other_held = peak(
                [*base, "--store", "disk", "--memory-limit", f"{arguments.memory}M"])
            counts = [(stats["states"], stats["transitions"], stats["depth"]) for stats in (exact, other)]
            is_same = is_whole and is_complete and counts[0] == counts[1]
            wrong += not is_same or other_held > arguments.memory * 2**20
            states = exact["states"] * exact["state_bytes"] / 1e6
            print(f"| {model.name} | {exact['states']:,} | {states:,.0f} | {arguments.memory} MB | {held / 1e6:,.0f} MB, {seconds:.0f} | "
                  f"{other_held / 1e6:,.0f} MB, {other_seconds:.0f} | {'yes' if is_same else 'no'} |", flush=True)
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--ample", type=pathlib.Path, default=ROOT / "target/release/ample")
    parser.add_argument("--stores", default=",".join(ALL))
    parser.add_argument("--search", default="bfs")
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--min-states", type=int, default=100_000)
    parser.add_argument("--no-spin", action="store_true")
    parser.add_argument("--csv")
    parser.add_argument("--bitstate", action="store_true")
    parser.add_argument("--bits", type=int)
    parser.add_argument("--ratio", type=float, default=16)
    parser.add_argument("--disk", action="store_true")
    parser.add_argument("--memory", type=int, default=160)
    arguments = parser.parse_args()
    if arguments.disk:
        return disk(arguments)
    return bitstate(arguments) if arguments.bitstate else compare(arguments)


if __name__ == "__main__":
    sys.exit(main())
