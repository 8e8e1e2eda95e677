#!/usr/bin/env python3
"""Modular checking of sequential programs against checking them as a whole: table 3.1 of K. Yorav, "Exploiting Syntactic
Structure for Automatic Verification" (2000), on our versions of her programs, which are written here in any size.

    bench/modular.py [--only REGEX] [--sizes sort=5,6 learn=3,4 wait=4,6] [--limit 300] [--memory 4G] [--csv FILE]
    bench/modular.py --portfolio [FILE …] [--sizes …] [--limit 20]

Each program is checked in a process of its own, in several ways:

    whole      `--engine symbolic`: relations with a program counter, reachable states first
    none       `--engine modular --modular-partition none`: one node
    moderate   `--modular-partition marks`: the modules of the source
    extensive  `--modular-size 4`: split until no node has more locations

the modular ones with every kind of reachability (lr: none and local as in the thesis, full, or auto, which tries none and full) and reordering (reo). Times are seconds of processor time, user
and system. Memory is the largest resident set beyond that of a trivial program; nodes are the most in use at one time in
all tables of diagrams together. Prints a Markdown table, the best result of each partitioning against that of the whole,
and says where answers differ. With `--portfolio`: seconds of wall-clock time of `--engine auto` and of each engine alone, with
all that a plain `ample check` asks, on the same programs and on files; the best of three runs. For memory by bisection of a limit, as in section 5.4, see memory.py.
"""
import argparse, csv, json, os, pathlib, re, resource, subprocess, sys, tempfile, time

ROOT = pathlib.Path(__file__).resolve().parent.parent
SIZES = {"sort": [4, 5, 6], "learn": [3, 4, 5], "wait": [4, 6, 8]}


def bits(number):
    return max(1, number.bit_length())


def sort(cells):
    """Bubble sort of so many cells, of which the last one keeps its initial value."""
    order = " && ".join(f"a[{i}] <= a[{i + 1}]" for i in range(cells - 1))
    values = ", ".join(str(i) for i in range(cells - 1))
    return f"""#INTEGER_LENGTH# {bits(cells)}
int tmp, index, sub_ind; boolean flag; int a[{cells}];
{{
#MODULE#
    index := 0;
    while index < {cells - 1} do tmp := {{{values}}}; a[index] := tmp; index := index + 1; od;
    flag := TRUE; index := {cells - 1};
#MODULE#
    while flag && index > 0 do
        #MODULE#
        sub_ind := 0; flag := FALSE;
        #MODULE#
        while sub_ind < index do
            #MODULE#
            if a[sub_ind] > a[sub_ind + 1] then
                tmp := a[sub_ind]; a[sub_ind] := a[sub_ind + 1]; a[sub_ind + 1] := tmp; flag := TRUE;
            else skip; fi;
            sub_ind := sub_ind + 1;
        od;
        #MODULE#
        index := index - 1;
    od;
#MODULE#
    label halt;
}}
SPEC sorts := AF (label(halt) && {order})
"""


def learn(variables):
    """A monomial over so many variables is learnt from examples by elimination."""
    loop = lambda condition, body: f"i := 0; while {condition}i < {variables} do {body} i := i + 1; od;"
    false = lambda yes, no: f"{yes}[i] && !example[i] || {no}[i] && example[i]"
    rejects = lambda yes, no, flag: loop("", f"if {false(yes, no)} then {flag} := FALSE; else skip; fi;")
    return f"""#INTEGER_LENGTH# {bits(variables)}
boolean yes[{variables}], no[{variables}], may_yes[{variables}], may_no[{variables}], example[{variables}];
boolean bit, positive, accepted; int i;
{{
#MODULE#
    {loop("", "may_yes[i] := TRUE; may_no[i] := TRUE;")}
#MODULE#
    while TRUE do
        #MODULE#
        {loop("", "bit := {FALSE, TRUE}; example[i] := bit;")}
        #MODULE#
        positive := TRUE; {rejects("yes", "no", "positive")}
        #MODULE#
        {loop("positive && ", "if example[i] then may_no[i] := FALSE; else may_yes[i] := FALSE; fi;")}
        #MODULE#
        accepted := TRUE; {rejects("may_yes", "may_no", "accepted")}
        label round;
    od;
}}
SPEC no_false_negative := AG (label(round) && positive -> accepted)
"""


def wait(length):
    """The stop-and-wait protocol with messages numbered in so many bits, and a buffer of what was received."""
    return f"""#INTEGER_LENGTH# {length}
int current, received, data, last; boolean sequence, expected, data_there, data_bit, ack_there, ack_bit, lost;
{{
#MODULE#
    current := 0; received := 0; sequence := FALSE; expected := FALSE; data_there := FALSE; ack_there := FALSE;
#MODULE#
    while TRUE do
        #MODULE#
        if ack_there then
            ack_there := FALSE;
            if ack_bit = sequence then label advance; current := current + 1; sequence := !sequence; else skip; fi;
        else skip; fi;
        data := current; data_bit := sequence; lost := {{FALSE, TRUE}}; data_there := !lost;
        #MODULE#
        if data_there then
            data_there := FALSE;
            if data_bit = expected then last := data; received := data + 1; expected := !expected; else skip; fi;
            ack_bit := data_bit; lost := {{FALSE, TRUE}}; ack_there := !lost;
        else skip; fi;
    od;
}}
SPEC received_before := AG (label(advance) -> received = current + 1)
"""


def settings(base):
    """Partitionings, each without and with local reachability and reordering."""
    for partition, words in (("none", ["--modular-partition", "none"]), ("moderate", ["--modular-partition", "marks"]),
                             ("extensive", ["--modular-size", "4"])):
        for lr in ("auto", "none", "local", "full"):
            for reo in (False, True):
                more = ["--modular-reach", lr] + ["--modular-no-reorder"] * (not reo)
                yield partition, lr, reo, ["--engine", "modular", *words, *more]
    for reo in (False, True):
        yield "whole", "full", reo, ["--engine", "symbolic"] + ["--no-reorder"] * (not reo)


def run(ample, file, words, limit, memory):
    """Processor time, resident bytes, nodes and answers; or a string."""
    command = [ample, "check", file, *words, "--json", "--no-vacuity", "--time-limit", str(limit), "--memory-limit", memory]
    command += [word for name in re.findall(r"^SPEC (\w+)", open(file).read(), re.M) for word in ("--ctl", name)]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, errors = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    try:
        report = json.loads(out)
    except ValueError:
        return errors.strip().splitlines()[-1:] or [f"exit {process.returncode}"]
    diagrams = report.get("diagrams") or {}
    nodes = (diagrams.get("modular") or {}).get("peak_together") or diagrams.get("peak_nodes", 0)
    answers = {answer["property"]: answer["verdict"] for answer in report["results"]}
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, nodes, answers


def elapsed(ample, file, engine, limit):
    """Seconds of wall-clock time, the best of three runs; None if something is not answered in time."""
    best = None
    for _ in range(3):
        begun = time.monotonic()
        command = [ample, "check", file, "--engine", engine, "--json", "--no-vacuity", "--time-limit", limit]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
        took = time.monotonic() - begun
        try:
            verdicts = [answer["verdict"] for answer in json.loads(done.stdout)["results"]]
        except ValueError:
            return None
        if "unknown" in verdicts:
            return None
        best = took if best is None else min(best, took)
        if took > 2:
            break
    return best


def portfolio(arguments, files):
    """`--engine auto` against each engine alone."""
    engines = ["explicit", "modular", "symbolic", "bounded"]
    print(f"| program | auto | {' | '.join(engines)} | auto / best |\n|---|---|{'---|' * len(engines)}---|")
    for name, file in files:
        auto = elapsed(arguments.ample, file, "auto", arguments.limit)
        alone = [elapsed(arguments.ample, file, engine, arguments.limit) for engine in engines]
        best = min((took for took in alone if took is not None), default=None)
        cell = lambda took: "–" if took is None else f"{took:.2f}"
        ratio = f"{auto / best:.1f}" if auto and best else "–"
        print(f"| {name} | {cell(auto)} | {' | '.join(map(cell, alone))} | {ratio} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=ROOT / "target" / "release" / "ample")
    parser.add_argument("--only", default="", help="settings and programs whose names match")
    parser.add_argument("--sizes", nargs="*", default=[], metavar="NAME=N,…")
    parser.add_argument("--limit", type=int, default=300, help="seconds of wall-clock time for a run")
    parser.add_argument("--memory", default="4G")
    parser.add_argument("--csv")
    parser.add_argument("--portfolio", nargs="*", metavar="FILE", help="compare engines, also on these files")
    arguments = parser.parse_args()
    sizes = dict(SIZES, **{name: [int(n) for n in numbers.split(",")]
                           for name, numbers in (size.split("=") for size in arguments.sizes)})
    if arguments.sizes:
        sizes = {name: sizes[name] for name, _ in (size.split("=") for size in arguments.sizes)}
    if arguments.portfolio is not None:
        with tempfile.TemporaryDirectory() as folder:
            files = [(pathlib.Path(file).name, file) for file in arguments.portfolio]
            for name, numbers in sizes.items():
                for number in numbers:
                    file = pathlib.Path(folder) / f"{name}_{number}.softver"
                    file.write_text(globals()[name](number))
                    files.append((f"{name} {number}", file))
            return portfolio(arguments, [one for one in files if re.search(arguments.only, one[0])])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        trivial = pathlib.Path(folder) / "trivial.softver"
        trivial.write_text("boolean b;\n{ b := TRUE; }\nSPEC ends := AF b\n")
        base = run(arguments.ample, trivial, ["--engine", "symbolic"], 60, "4G")[1]
        print("| program | partition | lr | reo | seconds | MB | nodes | answers |\n|---|---|---|---|---|---|---|---|")
        for name, numbers in sizes.items():
            for number in numbers:
                file = pathlib.Path(folder) / f"{name}_{number}.softver"
                file.write_text(globals()[name](number))
                for partition, lr, reo, words in settings(base):
                    if not re.search(arguments.only, f"{name}_{number} {partition} {lr} {'reo' * reo}"):
                        continue
                    done = run(arguments.ample, file, words, arguments.limit, arguments.memory)
                    sign = lambda flag: "+" if flag else "−"
                    if isinstance(done, list):
                        print(f"| {name} {number} | {partition} | {lr} | {sign(reo)} | {' '.join(done)} |||", flush=True)
                        continue
                    seconds, resident, nodes, answers = done
                    told = ", ".join(sorted(set(answers.values())))
                    mb = max(resident - base, 0) / 1e6
                    rows.append((name, number, partition, lr, reo, seconds, mb, nodes, told))
                    print(f"| {name} {number} | {partition} | {lr} | {sign(reo)} | {seconds:.2f} | {mb:.1f} "
                          f"| {nodes} | {told} |", flush=True)
    tell_best(rows)
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow("program size partition lr reo seconds mb nodes answers".split())
            writer.writerows(rows)


def tell_best(rows):
    """Of each program: the best run of each partitioning, by memory, against the best runs as a whole."""
    print("\n| program | partition | seconds | MB | nodes | time / none | MB / none | nodes / none | time / whole | MB / whole |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for program in dict.fromkeys(row[:2] for row in rows):
        known = [row for row in rows if row[:2] == program and row[8] in ("holds", "violated")]
        best = {}
        for row in known:
            if row[2] not in best or row[7] < best[row[2]][7]:
                best[row[2]] = row
        ratio = lambda row, other, column: f"{row[column] / max(other[column], 0.001):.2f}" if other else "–"
        for partition, row in best.items():
            none, whole = best.get("none"), best.get("whole")
            print(f"| {program[0]} {program[1]} | {partition} | {row[5]:.2f} | {row[6]:.1f} | {row[7]} | {ratio(row, none, 5)} "
                  f"| {ratio(row, none, 6)} | {ratio(row, none, 7)} | {ratio(row, whole, 5)} | {ratio(row, whole, 6)} |")
        if len({row[8] for row in known}) > 1:
            sys.exit(f"bench: answers differ for {program[0]} {program[1]}")


if __name__ == "__main__":
    main()
