#!/usr/bin/env python3
"""Which diagrams for Petri nets: lists with a level for each place, or binary ones over units.

All markings of a net are counted by `ample states --engine symbolic`, once with `--diagrams lists` and once with
`--diagrams binary`: the families of models/petri/generate.py at growing sizes, and the P/T nets of a directory of the
Model Checking Contest where there is one (NAME/model.pnml). Processor time and peak memory of the whole process are
measured, not time on the wall; both have to count the same. A net that both count within a hundredth of a second says
nothing about time and is left out of the means.

    bench/diagrams.py [--ample PATH] [--limit 60] [--corpus DIR] [--families NAME,…] [--csv FILE.csv]
    bench/diagrams.py --oxidd

With `--oxidd` the binary diagrams are compared with those of OxiDD, by the program in bench/oxidd: the same problems, with
the same order and algorithm.

A table in Markdown for the families, and a summary for the corpus, are written to standard output.
"""
import argparse, csv, json, math, os, pathlib, resource, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
GENERATE = ROOT / "models" / "petri" / "generate.py"
SIZES = {
    "philosophers": [10, 50, 200], "dining": [10, 50, 200], "ring": [5, 10, 20], "fms": [3, 6, 12],
    "kanban": [5, 10, 30], "erk": [10, 30, 100], "trains": [30, 90, 180], "pool": [1, 2, 4], "token_ring": [5, 8, 12],
}
KINDS = ["lists", "binary"]
#: Both diagrams are in no time.
NOTHING = 0.01


def measured(command, limit):
    """What a command prints, its processor time in seconds and its peak memory in MiB; it is ended at the limit."""
    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (limit + 5, limit + 5))
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, text=True, preexec_fn=limited)
        # On a busy machine the wall clock says little: what counts is the processor's.
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            if used(process.pid) > limit:
                process.kill()
            time.sleep(0.005)
        process.returncode = status
        out.seek(0)
        return out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def used(pid):
    """The processor time of a running process."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    except (OSError, IndexError):
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def count(program, net, kind, limit):
    """The number of markings or None, time and memory."""
    command = [program, "states", "--engine", "symbolic", "--diagrams", kind, "--json", str(net)]
    text, seconds, memory = measured(command, limit)
    try:
        report = json.loads(text)
    except json.JSONDecodeError:
        return None, seconds, memory
    if not report.get("complete"):
        return None, seconds, memory
    return str(report["stats"].get("many_states") or report["stats"]["states"]), seconds, memory


def compare(program, net, name, limit):
    row = {"net": name}
    for kind in KINDS:
        row[kind] = count(program, net, kind, limit)
    counts = {row[kind][0] for kind in KINDS if row[kind][0]}
    if len(counts) > 1:
        sys.exit(f"{name}: the diagrams disagree: {row}")
    row["markings"] = counts.pop() if counts else None
    print(f"{name}: {row}", file=sys.stderr)
    return row


def ratio(row):
    """Time of binary diagrams over that of lists; None unless both came to their end and one took some time."""
    (lists, fast, _), (binary, slow, _) = (row[kind] for kind in KINDS)
    return slow / max(fast, 0.001) if lists and binary and max(fast, slow) >= NOTHING else None


def short(markings):
    if markings is None:
        return "?"
    return f"{int(markings):,}" if len(markings) <= 7 else f"{markings[0]}.{markings[1]}·10^{len(markings) - 1}"


def table(rows):
    lines = ["| net | markings | lists | | binary | | binary / lists |", "|---|---:|---:|---:|---:|---:|---:|"]
    for row in rows:
        cells = []
        for kind in KINDS:
            markings, seconds, memory = row[kind]
            cells += [f"{seconds:.2f} s" if markings else "–", f"{memory:,.0f} MiB" if markings else "–"]
        times = ratio(row)
        cells.append(f"{times:.2g}" if times and times < 10 else f"{times:.0f}" if times else "–")
        lines.append(f"| {row['net']} | {short(row['markings'])} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def summary(rows):
    ratios = [times for times in map(ratio, rows) if times]
    solved = {kind: sum(1 for row in rows if row[kind][0]) for kind in KINDS}
    lines = [f"{len(rows)} nets; counted by lists {solved['lists']}, by binary diagrams {solved['binary']}."]
    if ratios:
        faster = sum(1 for times in ratios if times < 1)
        lines.append(f"Both counted {len(ratios)} (and not in no time): binary takes {mean(ratios):.2g} times as long "
                     f"(geometric mean; from {min(ratios):.2g} to {max(ratios):.3g}), and is faster on {faster}.")
        memory = [row["binary"][2] / row["lists"][2] for row in rows if ratio(row)]
        lines.append(f"It takes {mean(memory):.2g} times as much memory (geometric mean).")
    return "\n".join(lines)


#: What both packages are asked; OxiDD has no saturation.
PROBLEMS = [("chaining", 50), ("chaining", 100), ("chaining", 160), ("saturation", 100), ("queens", 8), ("queens", 9),
            ("queens", 10)]


def beside_oxidd(limit):
    """Processor time and peak memory of both packages, as a table."""
    folder = ROOT / "bench" / "oxidd"
    subprocess.run(["cargo", "build", "--release"], cwd=folder, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", folder / "target"))
    program = target / "release" / "diagrams-beside-oxidd"
    lines = ["| problem | solutions | ample | | OxiDD | |", "|---|---:|---:|---:|---:|---:|"]
    for problem, size in PROBLEMS:
        cells, counts = [], set()
        for package in ("ample", "oxidd"):
            text, seconds, memory = measured([program, package, problem, str(size)], limit)
            # Sums of floating-point numbers differ in the last digits.
            counts |= {f"{float(text.split()[0]):.6g}"} if text else set()
            cells += [f"{seconds:.2f} s", f"{memory:,.0f} MiB"] if text else ["–", "–"]
        if len(counts) > 1:
            sys.exit(f"{problem} {size}: the packages disagree: {counts}")
        lines.append(f"| {problem} {size} | {counts.pop() if counts else '?'} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def families(program, names, limit, folder):
    rows = []
    for family in names:
        for size in SIZES[family]:
            net = pathlib.Path(folder) / f"{family}_{size}.pnml"
            subprocess.run([sys.executable, GENERATE, family, str(size), "--out", net], check=True)
            rows.append(compare(program, net, f"{family} {size}", limit))
            if all(rows[-1][kind][0] is None for kind in KINDS):
                break
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--limit", type=int, default=60, help="seconds of processor time for each count")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared" / "corpora" / "petri")
    parser.add_argument("--families", default=",".join(SIZES))
    parser.add_argument("--csv", type=pathlib.Path)
    parser.add_argument("--oxidd", action="store_true", help="compare the binary diagrams with OxiDD's instead")
    arguments = parser.parse_args()
    if arguments.oxidd:
        print(beside_oxidd(arguments.limit))
        return
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        names = [name for name in arguments.families.split(",") if name]
        if names:
            rows = families(arguments.ample, names, arguments.limit, folder)
            print(table(rows), summary(rows), sep="\n\n")
    nets = sorted(arguments.corpus.glob("*-PT-*/model.pnml")) if arguments.corpus.is_dir() else []
    if nets:
        more = [compare(arguments.ample, net, net.parent.name, arguments.limit) for net in nets]
        print("\nThe contest's nets:", summary(more), sep="\n\n")
        rows += more
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["net", "markings"] + [f"{kind} {what}" for kind in KINDS for what in ("s", "MiB", "all")])
            for row in rows:
                figures = [[f"{seconds:.3f}", f"{memory:.1f}", bool(markings)]
                           for markings, seconds, memory in (row[kind] for kind in KINDS)]
                writer.writerow([row["net"], row["markings"] or "", *figures[0], *figures[1]])


if __name__ == "__main__":
    main()
