#!/usr/bin/env python3
"""Table 8.1 of Godefroid's thesis, row by row, beside the same searches of ample.

The thesis measures six searches on four protocols, with "an algorithm similar to Algorithm 2", here `--por-algorithm overman`.
Its models were never published. For DTP and PFTP there are models of the same protocols among Spin's examples, and that of DTP
has as many states and transitions as the thesis's; they are read from a folder beside the project, if it is there. MULOG3 is
compared with our own model of the same algorithm, models/promela/trehel_naimi.pml; of ABRA there is none. Only shares of the
full search can be compared, except for DTP.

    bench/thesis.py [--ample PATH] [--corpus FOLDER] [--limit 120]

Prints the table of docs/partial-orders.md.
"""
import argparse, json, pathlib, subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEARCHES = [  # the thesis's name, the options
    ("DFS", ["--por", "none", "--search", "dfs"]),
    ("SLEEP", ["--por", "sleep"]),
    ("PS", ["--por", "persistent", "--proviso", "none"]),
    ("PS+SLEEP", ["--por", "persistent+sleep", "--proviso", "none"]),
    ("PS+PROV", ["--por", "persistent", "--proviso", "stack"]),
    ("PS+SLEEP+PROV", ["--por", "persistent+sleep", "--proviso", "stack"]),
]
THESIS = {  # states and transitions of table 8.1
    "PFTP": [(446982, 1257317), (446982, 622364), (276722, 482722), (249994, 351633), (279808, 490228), (250514, 352371)],
    "MULOG3": [(38181, 111668), (38181, 38241), (18537, 38906), (17984, 18057), (18537, 38906), (17984, 18057)],
    "ABRA": [(149816, 372010), (149816, 176469), (32289, 40931), (27781, 34381), (40472, 52355), (36913, 46934)],
    "DTP": [(251409, 648467), (251409, 269912), (9904, 10351), (9904, 10351), (9904, 10351), (9904, 10351)],
}


def models(corpus):
    return {"PFTP": corpus / "spin" / "LTL" / "pftp.pml", "MULOG3": ROOT / "models" / "promela" / "trehel_naimi.pml", "ABRA": None,
            "DTP": corpus / "spin" / "dtp.pml"}


def count(program, model, options, limit):
    """States and transitions; none if the search is not over in time."""
    algorithm = ["--por-algorithm", "overman"] if "persistent" in options[1] else []
    command = [program, "states", *options, *algorithm, "--time-limit", f"{limit}s", "--json", str(model)]
    done = subprocess.run(command, capture_output=True, text=True)
    report = json.loads(done.stdout)
    return (int(report["stats"]["states"]), int(report["stats"]["transitions"])) if report["complete"] else None


def cells(counts, full):
    if counts is None or full is None:
        return ["–"] * 3
    return [f"{counts[0]:,}", f"{counts[1]:,}", f"{100 * counts[0] / full[0]:.1f} / {100 * counts[1] / full[1]:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT.parent / "shared" / "corpora" / "promela")
    parser.add_argument("--limit", type=int, default=120, help="seconds for one search (default %(default)s)")
    arguments = parser.parse_args()
    print("| protocol | search | thesis: states | transitions | % | ample: states | transitions | % |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for protocol, rows in THESIS.items():
        model = models(arguments.corpus)[protocol]
        there = model is not None and model.exists()
        ours = [count(arguments.ample, model, options, arguments.limit) if there else None for _, options in SEARCHES]
        for (search, _), row, mine in zip(SEARCHES, rows, ours):
            print("| " + " | ".join([protocol, search, *cells(row, rows[0]), *cells(mine, ours[0])]) + " |")


main()
