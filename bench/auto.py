#!/usr/bin/env python3
"""The regret of `--engine auto`: how much longer it takes than the engine that would have been best, question by question.

    bench/auto.py [--ample PATH] [--corpus NAME]… [--match REGEX] [--sample N] [--seed 1] [--limit 10] [--csv FILE]

A question is a model and one property. The corpora are `models` (all that the models of this project state) and, where
../shared/corpora exists, `promela`, `ltl` (formulas of Promela models), `smv`, `circuits` and `petri` (nets and formulas of
the Model Checking Contest). With --sample only so many questions of each corpus are asked, chosen by the seed.

Each question is asked in a process of its own: first of `auto`, then of every engine that accepts it, whose times count,
start of the process and reading included. Only who is faster than `auto` matters, so that the time limit of an engine is
what `auto` took, and where `auto` took less than 50 ms no other engine is asked (--all asks all, within the limit). A
question that seems to be beyond the bound is asked again, of `auto` and of the best engine in turn, --repeat times, and the
shortest times count, so that other work on the machine disturbs less.

Prints a Markdown table of the questions that took longest beyond the best engine: the time of `auto`, the time and the name
of the best engine, and the ratio (auto − 50 ms) / best; those above 2 are beyond the bound. Then for each corpus the number of
questions, how many are beyond the bound, how many `auto` left undecided though an engine decides them, and the geometric
mean of (auto + 50 ms) / (best + 50 ms). Says where verdicts differ, and ends with an error then.
"""
import argparse, csv, json, math, os, pathlib, random, re, subprocess, sys, tempfile, time
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPORA = ROOT.parent / "shared" / "corpora"
ENGINES = ["explicit", "symbolic", "bounded", "sog", "modular", "petri"]
#: Nobody notices so many seconds.
FREE = 0.05
#: Beyond that, `auto` may take so many times as long as the best engine.
BOUND = 2
#: Seconds for finding out what a file states.
LISTING = 1
LANGUAGES = {".pml", ".mil", ".smv", ".pnml", ".promp", ".softver", ".bench", ".blif", ".aag"}
EXAMINATIONS = {"OneSafe", "QuasiLiveness", "StableMarking", "Liveness"}


class Question:
    """A model, one property, and the options that ask for it."""

    def __init__(self, corpus, model, name, options):
        self.corpus, self.model, self.name, self.options = corpus, pathlib.Path(model), name, options

    def __str__(self):
        folder = CORPORA if self.model.is_relative_to(CORPORA) else ROOT / "models"
        return f"{self.model.relative_to(folder) if self.model.is_relative_to(folder) else self.model} {self.name}"


def table(name):
    file = CORPORA / name
    if not file.exists():
        print(f"bench: skipped: {file} is not there", file=sys.stderr)
        return []
    with open(file, newline="") as rows:
        return list(csv.DictReader(rows))


def stated(corpus, model, arguments):
    """The properties that a file states, one by one; ample tells them even if there is no time to check them."""
    words = [arguments.ample, "check", str(model), "--json", "--time-limit", f"{LISTING}s"]
    done = subprocess.run(words, capture_output=True, text=True)
    try:
        results = json.loads(done.stdout)["results"]
    except (json.JSONDecodeError, KeyError):
        return []
    names = {result["property"]: result["formula"] for result in results}
    return [Question(corpus, model, name, options(name, formula)) for name, formula in names.items()
            if options(name, formula)]


def options(name, formula):
    """The options that ask for one stated property."""
    kind, _, label = name.partition(":")
    if kind in ("ctl", "ltl", "invariant"):
        return [f"--{kind}", formula if label.isdigit() or kind == "invariant" else label]
    known = {"progress": "--non-progress", "non-progress": "--non-progress"}
    return [known.get(kind, f"--{kind}")] if kind in ("deadlock", "assertions", "acceptance", "never", *known) else None


def own_questions(arguments):
    models = sorted(p for p in (ROOT / "models").rglob("*") if p.suffix in LANGUAGES)
    return [lambda model=model: stated("models", model, arguments) for model in models]


def promela_questions(_):
    for row in table("promela.csv"):
        for column, name in (("deadlock", "deadlock"), ("assertion", "assertions")):
            if row[column] in ("yes", "no"):
                yield lambda row=row, name=name: [Question("promela", CORPORA / row["model"], name, [f"--{name}"])]


def ltl_questions(_):
    fairness = {"ltl_noreduce": [], "ltl_noreduce_fair": ["--fairness", "weak"]}
    for row in table("promela-ltl.csv"):
        if row["config"] in fairness and row["verdict"] in ("holds", "violated"):
            words = ["--ltl", row["ltl"], *fairness[row["config"]]]
            yield lambda row=row, words=words: [Question("ltl", CORPORA / row["model"], " ".join(words[1:]), words)]


def smv_questions(arguments):
    rows = [row for row in table("smv.csv") if row["status"] == "ok"]
    return [lambda row=row: stated("smv", CORPORA / row["model"], arguments) for row in rows]


def circuit_questions(_):
    quoted = lambda name: name if re.fullmatch(r"[A-Za-z_]\w*", name) else f'"{name}"'
    for row in table("circuits.csv"):
        condition = " && ".join(map(quoted, row["never"].split(" && ")))
        words = ["--invariant", f"!({condition})"]
        yield lambda row=row, words=words: [Question("circuits", CORPORA / "circuits" / row["circuit"], words[1], words)]


def petri_questions(arguments):
    for row in table("petri-verdicts.csv"):
        net = CORPORA / "petri" / row["instance"] / "model.pnml"
        if "-COL-" not in row["instance"]:
            yield lambda row=row, net=net: [net_question(net, row["examination"], row["formula"], arguments)]


def net_question(net, examination, formula, arguments):
    if examination == "ReachabilityDeadlock":
        return Question("petri", net, "deadlock", ["--deadlock"])
    if examination in EXAMINATIONS:
        return Question("petri", net, examination, ["--examination", examination])
    # A file with this formula alone.
    namespace = "http://mcc.lip6.fr/"
    ET.register_namespace("", namespace)
    formulas = ET.parse(net.with_name(f"{examination}.xml"))
    for one in list(formulas.getroot()):
        if one.findtext(f"{{{namespace}}}id") != formula:
            formulas.getroot().remove(one)
    file = pathlib.Path(arguments.folder) / f"{formula}.xml"
    formulas.write(file)
    return Question("petri", net, formula.removeprefix(f"{net.parent.name}-"), ["--formulas", str(file)])


QUESTIONS = {"models": own_questions, "promela": promela_questions, "ltl": ltl_questions, "smv": smv_questions,
             "circuits": circuit_questions, "petri": petri_questions}


def ask(question, engine, limit, arguments):
    """The verdict, none if there is none, and seconds."""
    words = [arguments.ample, "check", str(question.model), *question.options, "--engine", engine, "--json",
             "--no-vacuity", "--time-limit", f"{math.ceil(limit * 1000)}ms"]
    begun = time.perf_counter()
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit + 30)
    taken = time.perf_counter() - begun
    try:
        results = json.loads(done.stdout)["results"]
    except (json.JSONDecodeError, KeyError):
        return None, taken
    verdict = results[0]["verdict"] if len(results) == 1 else None
    return None if verdict == "unknown" else verdict, taken


def compare(question, arguments):
    """What `auto` and the best engine took; none if nobody answers."""
    verdict, auto = ask(question, "auto", arguments.limit, arguments)
    row = dict(corpus=question.corpus, question=str(question), verdict=verdict, auto_s=auto, best="auto", best_s=auto,
               note="")
    verdicts = {verdict} - {None}
    if verdict is None or auto > FREE or arguments.all:
        for engine in ENGINES:
            limit = arguments.limit if arguments.all or verdict is None else max(auto, FREE)
            other, seconds = ask(question, engine, limit, arguments)
            if other is not None:
                verdicts.add(other)
                if seconds < row["best_s"] or verdict is None and row["best"] == "auto":
                    row.update(best=engine, best_s=seconds)
    if not verdicts:
        return None
    row["verdict"] = " / ".join(sorted(verdicts))
    if len(verdicts) > 1:
        row["note"] = "DIFFERS"
    if verdict is None:
        row["note"] = "undecided"
        return row
    for _ in range(arguments.repeat if is_beyond(row) else 0):
        if not is_beyond(row):
            break
        best = ask(question, row["best"], arguments.limit, arguments)[1]
        row.update(best_s=min(row["best_s"], best),
                   auto_s=min(row["auto_s"], ask(question, "auto", arguments.limit, arguments)[1]))
    return row


def ratio(row):
    return max(row["auto_s"] - FREE, 0) / row["best_s"]


def is_beyond(row):
    return row["note"] == "undecided" or ratio(row) > BOUND


def summary(rows, name):
    if not rows:
        return
    mean = math.exp(sum(math.log((r["auto_s"] + FREE) / (min(r["best_s"], r["auto_s"]) + FREE)) for r in rows) / len(rows))
    beyond = [r for r in rows if is_beyond(r)]
    undecided = sum(r["note"] == "undecided" for r in rows)
    print(f"| {name} | {len(rows)} | {len(beyond)} | {undecided} | {mean:.3f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--corpus", action="append", choices=list(QUESTIONS), help="only these corpora")
    parser.add_argument("--match", default="", help="only models and properties in whose name this regular expression is found")
    parser.add_argument("--sample", type=int, help="so many questions of each corpus (default: all)")
    parser.add_argument("--seed", type=int, default=1, help="chooses the sample")
    parser.add_argument("--limit", type=float, default=10, help="seconds for one run")
    parser.add_argument("--repeat", type=int, default=2, help="runs more where the bound seems to be exceeded")
    parser.add_argument("--all", action="store_true", help="ask all engines, also where it cannot matter")
    parser.add_argument("--rows", type=int, default=20, help="so many rows of the table (default: 20)")
    parser.add_argument("--csv", help="write the figures of all questions here")
    arguments = parser.parse_args()
    if not os.access(arguments.ample, os.X_OK):
        sys.exit(f"bench: {arguments.ample}: not there; build it with cargo build --release")
    rows = []
    with tempfile.TemporaryDirectory() as arguments.folder:
        for corpus in arguments.corpus or QUESTIONS:
            rows += measure(corpus, arguments)
    rows.sort(key=lambda row: (row["note"] != "undecided", -ratio(row)))
    print("\n| question | verdict | auto | best | | ratio beyond 50 ms | |\n|---|---|---:|---:|---|---:|---|")
    for row in rows[:arguments.rows]:
        text = row["question"].replace("|", "\\|")
        print(f"| {text} | {row['verdict']} | {row['auto_s']:.2f} s | {row['best_s']:.2f} s | {row['best']} "
              f"| {ratio(row):.1f} | {row['note']} |")
    print(f"\n| corpus | questions | beyond {BOUND}x + {FREE * 1000:.0f} ms | undecided | geometric mean |\n|---|---:|---:|---:|---:|")
    for corpus in QUESTIONS:
        summary([row for row in rows if row["corpus"] == corpus], corpus)
    summary(rows, "all")
    if rows and arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            writer = csv.DictWriter(out, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    sys.exit(1 if any(row["note"] == "DIFFERS" for row in rows) else 0)


def measure(corpus, arguments):
    """Asks the questions of a corpus, or a sample of them."""
    chosen = list(QUESTIONS[corpus](arguments))
    random.Random(arguments.seed).shuffle(chosen)
    rows, asked = [], 0
    for make in chosen:
        for question in make():
            if not re.search(arguments.match, str(question)):
                continue
            if arguments.sample is not None and asked >= arguments.sample:
                return rows
            asked += 1
            row = compare(question, arguments)
            if row:
                rows.append(row)
                if is_beyond(row) or row["note"]:
                    print(f"{row['question']}: auto {row['auto_s']:.2f} s, {row['best']} {row['best_s']:.2f} s "
                          f"{row['note']}", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
