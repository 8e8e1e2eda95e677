#!/usr/bin/env python3
"""Bounded partial exploration on producers and consumers: tables 7.10 to 7.12 of Vander Meulen's thesis.

For each number m of members and each number n of safe steps in turn, the length k of the first run that violates P1
(`G buffer = 0`) and P2 (`G F buffer > 1`), pauses included, with how many schedules these are, the conflicts of the solver
and the processor time; n = 0 is bounded model checking. Beside it the k of the thesis.

    bench/partial.py [--ample PATH] [--limit 120] [--members 1 2 3 4]

Prints the tables of docs/bounded.md.
"""
import argparse, json, pathlib, resource, subprocess, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
THESIS = {  # by property, m and n; of the row n = 3 of P1 the thesis prints 39, which is no multiple of its schedule
    ("p1", 1): {0: 10, 8: 34}, ("p1", 2): {0: 18, 1: 35, 2: 45, 3: 39, 4: 51, 5: 63, 6: 75, 7: 87, 8: 66, 9: 74},
    ("p1", 3): {0: 26, 8: 98}, ("p1", 4): {8: 130}, ("p1", 5): {8: 162}, ("p1", 6): {8: 194}, ("p1", 7): {8: 226},
    ("p2", 1): {0: 26, 8: 153}, ("p2", 2): {0: 44, 1: 95, 2: 135, 3: 169, 4: 187, 5: 231, 6: 275, 7: 319, 8: 297, 9: 333},
    ("p2", 3): {8: 441}, ("p2", 4): {8: 585}, ("p2", 5): {8: 729}, ("p2", 6): {8: 873}, ("p2", 7): {8: 1017},
}


def used():
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def model(folder, members):
    """The model with so many members, made from the one with one of each."""
    text = (ROOT / "models" / "milestones" / "producers_consumers_1.mil").read_text()
    text = text.replace("Consumer[1]", f"Consumer[{members}]").replace("Producer[1]", f"Producer[{members}]")
    file = pathlib.Path(folder) / f"producers_consumers_{members}.mil"
    file.write_text(text)
    return file


def measure(args, file, prop, steps):
    """k, conflicts and time; none if there is no answer in time."""
    method = ["--sat-method", "partial", "--partial-steps", str(steps)] if steps else ["--sat-method", "bmc"]
    command = [args.ample, "check", file, "--ltl", prop, "--engine", "bounded", *method, "--json",
               "--time-limit", f"{args.limit}s"]
    before = used()
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    report = json.loads(done.stdout)
    if report["results"][0]["verdict"] != "violated":
        return None
    solving = report["solving"]
    return solving["bound"], solving["conflicts"], used() - before


def row(args, file, members, steps):
    schedule = 2 * members * steps + 1
    cells = [str(members), str(steps)]
    for prop in ("p1", "p2"):
        found = measure(args, file, prop, steps)
        thesis = THESIS.get((prop, members), {}).get(steps, "–")
        if found is None:
            cells += [f"> {args.limit} s", str(thesis), "", "", ""]
        else:
            bound, conflicts, seconds = found
            cells += [str(bound), str(thesis), str(bound // schedule), f"{conflicts:,}", f"{seconds:.1f} s"]
    print("| " + " | ".join(cells) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--limit", type=int, default=120)
    parser.add_argument("--members", type=int, nargs="*", default=[1, 2, 3, 4, 5, 6, 7])
    args = parser.parse_args()
    half = "k | thesis | schedules | conflicts | time"
    with tempfile.TemporaryDirectory() as folder:
        for title, rows in (("Tables 7.10 and 7.11", [(m, n) for m in args.members for n in (0, 8) if n or m <= 3]),
                            ("Table 7.12", [(2, n) for n in range(10)])):
            print(f"\n{title}\n\n| m | n | P1: {half} | P2: {half} |\n|" + "---|" * 12)
            for members, steps in rows:
                row(args, model(folder, members), members, steps)


main()
