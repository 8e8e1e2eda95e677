#!/usr/bin/env python3
"""Writes the Milestones models that have a size: turntables, elevators, cash points, producers and consumers.

    generate.py turntable DRILLS
    generate.py producers_consumers MEMBERS
    generate.py elevators FLOORS ELEVATORS USERS
    generate.py cash_points ACCOUNTS MACHINES [fixed]
    generate.py all                                  every file of this folder

One model goes to standard output; `all` writes files. The numbers of states are formulas where one is known, and
otherwise those of STATES, which were counted.
"""

import itertools
import pathlib
import sys
import textwrap

LICENCE = "SPDX-License-Identifier: MIT OR Apache-2.0"

# Counted by enumeration, the large elevators by decision diagrams.
STATES = {
    ("elevators", 4, 1, 2): 15040,
    ("elevators", 12, 3, 4): 5608561352704,
    ("cash_points", 1, 2, False): 1024,
    ("cash_points", 1, 2, True): 700,
    ("cash_points", 3, 4, False): 12932164,
    ("cash_points", 3, 4, True): 6912676,
}

# The sizes of elevators whose verdicts a test checks. Those of the large ones are what `ample check --engine symbolic`
# says, after some minutes.
CHECKED_ELEVATORS = {(4, 1, 2)}


def header(text, expectations):
    """The comment that a model begins with, and the lines in it that a test reads."""
    lines = text.strip().splitlines() + [""]
    lines += [f"expect {what}: {value}" for what, value in expectations if value is not None]
    lines += ["", LICENCE]
    return "".join(("-- " + line).rstrip() + "\n" for line in lines) + "\n"


def folded(line):
    """A line that may be too long, on several."""
    indent = " " * (len(line) - len(line.lstrip()))
    lines = textwrap.wrap(line.strip(), 116, initial_indent=indent, subsequent_indent=indent + "    ",
                          break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def section(keyword, items, indent=""):
    """`KEYWORD a; b; END`, one item a line."""
    return f"{indent}{keyword}\n" + "".join(f"{indent}  {item};\n" for item in items) + f"{indent}END\n"


def local(name, actions, variables, commands, sync):
    """A process type; a command is (pc, action, guard, assignments)."""
    cases = [folded(f"    [{pc}] [{action}] {guard} : {' '.join(a + ';' for a in assignments)}")
             for pc, action, guard, assignments in commands]
    parts = [f"LOCAL {name}\n"]
    if actions:
        parts.append(folded("  ACTIONS " + " ".join(f"{action};" for action in actions) + " END"))
    parts.append("  VARIABLES " + " ".join(f"{variable};" for variable in variables) + " END\n")
    parts.append("  CASE\n" + "".join(cases) + "  END\n")
    if sync:
        parts.append(folded("  SYNC " + " ".join(f"{action};" for action in sync) + " END"))
    return "".join(parts) + "END\n\n"


def main(instances, commands):
    """The process that owns the global actions; a command is (action, guard, assignments)."""
    cases = [folded(f"    [{action}] {guard} : {' '.join(a + ';' for a in assignments)}")
             for action, guard, assignments in commands]
    members = folded("  PROC " + " ".join(f"{name} : {kind}[{number}];" for name, kind, number in instances) + " END")
    return f"GLOBAL\n{members}  CASE\n" + "".join(cases) + "  END\nEND\n\n"


def formulas(kind, named):
    """A section of properties; each is (name, formula, verdict or None)."""
    return section(kind, [f"{name} : {formula}" for name, formula, _ in named])


def verdicts(ctl, ltl):
    """What a header says about the properties."""
    return ([(f"ctl {name}", verdict) for name, _, verdict in ctl]
            + [(f"ltl {name}", verdict) for name, _, verdict in ltl])


def names(actions):
    """A long list of actions on one line."""
    return folded("ACTIONS " + " ".join(f"{action};" for action in actions) + " END")


# Producers and consumers

def producers_consumers(members):
    m = members
    states = 7 * 81**m + 12 * 9**m * (2**m + 2) + 5 * ((2**m + 2)**2 - 4**m)
    ctl = [
        ("always_empty", "AG (buffer = 0)", "violated"),
        ("always_again_full", "AG AF (buffer > 1)", "violated"),
        ("bounded", "AG (buffer <= 6)", "holds"),
        ("can_fill", "AG EF (buffer = 6)", "holds"),
        ("alone", "AG (mutex = 1 -> empty + full <= 6)", "holds"),
    ]
    ltl = [
        ("p1", "G (buffer = 0)", "violated"),
        ("p2", "G F (buffer > 1)", "violated"),
        ("bounded", "G (buffer <= 6)", "holds"),
        ("works", "G F (mutex = 0)", "holds"),
    ]
    steps = [f"w{i}" for i in range(8)]

    def member(name, start, enter, lock, step, unlock, leave):
        commands = [(i, action, "true", [f"pc := {i + 1}"]) for i, action in enumerate(steps)]
        chain = [(8, enter, 9), (9, lock, 10), (10, step, 11), (11, unlock, 12), (12, leave, 0)]
        commands += [(pc, action, "true", [f"pc := {to}"]) for pc, action, to in chain]
        return local(name, steps + [step], [f"pc : 4 := {start}"], commands, [enter, lock, unlock, leave])

    text = f"""
Producers and consumers, {m} of each, with a buffer of six places.

Source: J. Vander Meulen, "Symbolic model checking and partial-order reduction", PhD thesis, UCLouvain, 2012,
section 7.5, where P1 and P2 are the formulas p1 and p2. The model was reconstructed from the numbers given there.

All producers work on each item: eight steps of their own, then together they wait for a place, take the mutex,
add the item, give the mutex back and announce the item. The consumers do the same the other way round.
Semaphores are global variables, and each operation on one is a rendez-vous of a whole group.

There are 7*81^m + 12*9^m*(2^m+2) + 5*((2^m+2)^2-4^m) states for m members in each group. The steps w0 to w7, put
and take are safe and linear; a search that takes them one process after the other sees 376m+83 states.

p1 fails because producers produce; p2 fails because consumers may always be faster. Both groups can never stop
for good (works), and the buffer can always be filled (can_fill).
"""
    globals_ = ["empty : 3 := 6", "full : 3 := 0", "mutex : 1 := 1", "buffer : 3 := 0"]
    actions = ["pEmpty", "pMutexP", "vMutexP", "vFull", "pFull", "pMutexC", "vMutexC", "vEmpty"]
    commands = [
        ("pEmpty", "empty > 0", ["empty := empty - 1"]),
        ("pMutexP", "mutex = 1", ["mutex := 0", "buffer := buffer + 1"]),
        ("vMutexP", "true", ["mutex := 1"]),
        ("vFull", "true", ["full := full + 1"]),
        ("pFull", "full > 0", ["full := full - 1"]),
        ("pMutexC", "mutex = 1", ["mutex := 0", "buffer := buffer - 1"]),
        ("vMutexC", "true", ["mutex := 1"]),
        ("vEmpty", "true", ["empty := empty + 1"]),
    ]
    expectations = [("deadlock", "holds"), ("states", states)] + verdicts(ctl, ltl)
    return "".join([
        header(text, expectations), names(actions), section("VARIABLES", globals_), "\n",
        member("Consumer", 8, "pFull", "pMutexC", "take", "vMutexC", "vEmpty"),
        member("Producer", 0, "pEmpty", "pMutexP", "put", "vMutexP", "vFull"),
        main([("c", "Consumer", m), ("p", "Producer", m)], commands),
        formulas("CTL", ctl), formulas("LTL", ltl),
    ])


# The turntable

def chain(first, actions):
    """Local steps one after the other, from a place on."""
    return [(first + i, action, "true", [f"pc := {first + i + 1}"]) for i, action in enumerate(actions)]


def turntable(drills):
    n = drills
    states = TURNTABLE_WORKING * 7**n + TURNTABLE_TURNING
    ctl = [
        ("p6", "!EF (wd = 1 & E[turn = 0 U turn = 1 & E[rem = 0 U rea = 1]])", "holds"),
        ("p11", "!EF (test = 1 & !EF rem = 1) & !EF (test = 1 & E[rem = 0 U turn = 1])", "holds"),
        ("alarm_is_possible", "AG EF (rea = 1)", "holds"),
        ("alarm_before_removal", "AG !(ok = 0 & rea = 0 & rem = 1)", "holds"),
        ("no_false_alarm", "AG (rea = 1 -> ok = 0)", "holds"),
        ("still_while_working", "AG (turn = 1 -> test = 0 & rem = 0)", "holds"),
        ("all_good", "AG (wd = 1)", "violated"),
        ("alarm_comes", "AF (rea = 1)", "violated"),
    ]
    ltl = [
        ("t1", "G F (turn = 1)", "holds"),
        ("t2", "G F (rem = 1)", "holds"),
        ("t3", "G (F (wd = 0) -> F (rea = 1))", "holds"),
        ("t4", "G (test = 1 -> F (rem = 1))", "holds"),
        ("t5", "G F (rea = 1)", "violated"),
        ("t6", "F G (wd = 1)", "violated"),
    ]
    text = f"""
A turntable with {n} drill{'s' if n > 1 else ''}.

Source: E. Bortnik and others, "Analyzing a chi model of a turntable system using Spin, CADP and Uppaal", Journal
of Logic and Algebraic Programming 65, 2005; in this shape J. Vander Meulen's thesis, UCLouvain, 2012, section
7.2, where p6, p11 and t3 are the formulas of these names. The model is ours.

A round table carries a piece in each of its {n + 3} slots: input, drills, tester, output. In a round each station
does its work by itself; then the table turns by one slot, and the next round begins. Drilling may fail, which
nobody sees before the tester: so what comes to the tester is well drilled or not, as it happens. A piece that
is not makes the output sound the alarm before it removes it.

  wd    the piece in the tester is well drilled (while the table turns: the one that leaves it)
  test  it has been tested
  ok    the piece at the output is well drilled
  rea   the alarm sounds
  rem   the piece at the output has been removed
  turn  the table has turned and does not stand yet

There are {TURNTABLE_WORKING}*7^n + {TURNTABLE_TURNING} states for n drills. The steps of a drill are safe and linear,
so that letting one drill work after the other makes the number grow by the same amount with each drill.

t5 and t6 fail: pieces may all be good, or all bad.
"""
    globals_ = ["wd : 1 := 1", "ok : 1 := 1", "turn : 1 := 1", "test : 1 := 0", "rea : 1 := 0", "rem : 1 := 0"]
    both = ["start", "rotate"]

    def station(name, actions, commands, last):
        ends = [(0, "start", "true", ["pc := 1"]), (last, "rotate", "true", ["pc := 0"])]
        return local(name, actions, ["pc : 3 := 0"], ends[:1] + commands + ends[1:], both)

    drill = ["lock", "down", "drill", "up", "unlock", "report"]
    table = [
        (0, "start", "true", ["pc := 1"]),
        (1, "rotate", "true", ["pc := 2"]),
        (2, "turning", "true", ["pc := 3"]),
        (3, "brake", "true", ["pc := 0"]),
    ]
    tester = [
        (1, "lower", "true", ["pc := 2"]),
        (2, "measure", "true", ["pc := 3", "test := 1"]),
        (3, "raise", "true", ["pc := 4"]),
    ]
    output = [
        (1, "accept", "ok = 1", ["pc := 2"]),
        (1, "alarm", "ok = 0", ["pc := 2", "rea := 1"]),
        (2, "grip", "true", ["pc := 3"]),
        (3, "remove", "true", ["pc := 4", "rem := 1"]),
        (4, "release", "true", ["pc := 5"]),
    ]
    commands = [
        ("start", "true", ["turn := 0", "wd := 1"]),
        ("start", "true", ["turn := 0", "wd := 0"]),
        ("rotate", "true", ["turn := 1", "ok := wd", "test := 0", "rea := 0", "rem := 0"]),
    ]
    instances = [("input", "Input", 1), ("drill", "Drill", n), ("tester", "Tester", 1), ("output", "Output", 1),
                 ("table", "Turntable", 1)]
    expectations = [("deadlock", "holds"), ("states", states)] + verdicts(ctl, ltl)
    return "".join([
        header(text, expectations), names(["start", "rotate"]), section("VARIABLES", globals_), "\n",
        station("Input", ["fetch", "place"], chain(1, ["fetch", "place"]), 3),
        station("Drill", drill, chain(1, drill), 7),
        station("Tester", ["lower", "measure", "raise"], tester, 4),
        station("Output", ["accept", "alarm", "grip", "remove", "release"], output, 5),
        local("Turntable", ["turning", "brake"], ["pc : 2 := 0"], table, both),
        main(instances, commands), formulas("CTL", ctl), formulas("LTL", ltl),
    ])


# While the stations work: 3 places of the input, 4 of the tester with 2 qualities, 5 of the output with 2; while the
# table turns: 3 places of the table with 2 qualities of the piece that leaves the tester.
TURNTABLE_WORKING = 240
TURNTABLE_TURNING = 6


# Elevators

def nearest(level, others, floor):
    """That `level` is no farther from `floor` than the free ones among the others."""
    def closer(other):
        a, b, c = level, other[0], floor
        cases = [
            f"{a} >= {c} & {b} >= {c} & {a} <= {b}",
            f"{a} < {c} & {b} < {c} & {a} >= {b}",
            f"{a} >= {c} & {b} < {c} & {a} - {c} <= {c} - {b}",
            f"{a} < {c} & {b} >= {c} & {c} - {a} <= {b} - {c}",
        ]
        return f"({other[1]} = 0 | " + " | ".join(f"({case})" for case in cases) + ")"
    return " & ".join(closer(other) for other in others)


def user(i, floors, lifts, bits):
    """A process type. Only of user 0 a global says that he waits: the formulas ask about no other."""
    waits = ["wait_u0 := 1"] if i == 0 else []
    enter = ["pc := 1"] + ([f"floor := floor % {floors}"] if floors != 1 << bits else [])
    commands = [(0, "enter", "true", enter), (1, "walk", "true", ["pc := 2"]), (2, "call", "true", ["pc := 3"] + waits),
                (3, f"ask_{i}", "true", ["pc := 4", "floor := 0"])]
    commands += [(4, f"board_{i}_{j}", "true", ["pc := 5", f"lift := {j}"]) for j in range(lifts)]
    commands += [(5, f"leave_{i}_{j}", f"lift = {j}", ["pc := 6", "lift := 0"]) for j in range(lifts)]
    away = ["step_out", "walk_away", "sit_down", "work", "think", "get_up", "walk_back"]
    commands += chain(6, away)
    again = [f"call{f}" for f in range(floors)]
    commands += [(13, name, "true", ["pc := 3", f"floor := {f}"] + waits) for f, name in enumerate(again)]
    wide = max(1, (lifts - 1).bit_length())
    return local(f"User{i}", ["enter", "walk", "call"] + away + again,
                 ["pc : 4 := 0", f"floor : {bits}", f"lift : {wide} := 0"], commands,
                 [f"ask_{i}"] + [f"{verb}_{i}_{j}" for verb in ("board", "leave") for j in range(lifts)])


def elevator(j, floors, users, bits, between):
    """A process type; `left` is the number of floors that may still be in the way."""
    level, dest = f"level_e{j}", f"dest_e{j}"
    everyone = range(users)
    far = f"left := {floors - 1}"
    ready = ["left := 0", f"free_e{j} := 1"]
    commands = [
        (0, "ready", f"left < {floors}", ["pc := 1", f"{level} := left", f"{dest} := left"] + ready),
        (0, "ready", f"left >= {floors}", ["pc := 1"] + ready),
        (1, f"send_{j}", "true", ["pc := 2", far]),
        (1, "round", "true", []),
    ]
    commands += ride(2, "come", level, dest)
    commands += [(5, f"board_{i}_{j}", "true", ["pc := 6"]) for i in everyone]
    buttons = [f"button{f}" for f in range(floors)]
    commands += [(6, name, f"{level} != {f}", ["pc := 7", f"{dest} := {f}", f"{level} := {between}", far])
                 for f, name in enumerate(buttons)]
    commands += [(7, "shut", "true", ["pc := 8"])] + ride(8, "go", level, dest)
    commands += [(11, f"leave_{i}_{j}", "true", ["pc := 12"]) for i in everyone]
    commands += [(12, "close", "true", ["pc := 13"]), (13, "round", "true", ["pc := 1"])]
    rides = [f"{name}_{verb}" for name in ("come", "go") for verb in ("on", "brake", "arrive", "open")]
    return local(f"Elevator{j}", ["ready"] + rides + buttons + ["shut", "close"],
                 ["pc : 4 := 0", f"left : {bits}"], commands,
                 [f"send_{j}", "round"] + [f"{verb}_{i}_{j}" for verb in ("board", "leave") for i in everyone])


def ride(pc, name, level, dest):
    """Floor by floor, and only then the sign changes and the doors open."""
    return [
        (pc, f"{name}_on", "left > 0", ["left := left - 1"]),
        (pc, f"{name}_brake", "left = 0", [f"pc := {pc + 1}"]),
        (pc + 1, f"{name}_arrive", "true", [f"pc := {pc + 2}", f"{level} := {dest}"]),
        (pc + 2, f"{name}_open", "true", [f"pc := {pc + 3}"]),
    ]


def scheduler(ask, send, board):
    """One call at a time; from a call on there is a round, until all elevators are back."""
    commands = [(pc, action, "true", ["pc := 1"]) for pc in (0, 3) for action in ask]
    commands += [(1, action, "true", ["pc := 2"]) for action in send]
    commands += [(2, action, "true", ["pc := 3"]) for action in board]
    commands += [(3, "round", "true", ["pc := 0"])]
    return local("Scheduler", [], ["pc : 2 := 0"], commands, ask + send + board + ["round"])


def elevators(floors, lifts, users):
    bits = floors.bit_length()
    between = (1 << bits) - 1
    pairs = list(itertools.product(range(users), range(lifts)))
    board, leave = ([f"{verb}_{i}_{j}" for i, j in pairs] for verb in ("board", "leave"))
    ask = [f"ask_{i}" for i in range(users)]
    send = [f"send_{j}" for j in range(lifts)]
    busy = " & ".join(f"free_e{j} = 0" for j in range(lifts))
    ctl = [
        ("p7_9", "!EF EG (wait_u0 = 1)", "violated" if users > 1 else None),
        ("p7_11", "!EF EG (dest_e0 != level_e0)", "holds"),
        ("p7_13", f"!EF EG ({busy})", "holds"),
        ("can_be_served", "AG (wait_u0 = 1 -> EF (wait_u0 = 0))", "holds"),
        ("in_the_building", f"AG (level_e0 < {floors} | level_e0 = {between})", "holds"),
    ]
    ltl = [
        ("p7_10", "!F G (wait_u0 = 1)", "violated" if users > 1 else None),
        ("p7_12", "!F G (dest_e0 != level_e0)", "holds"),
        ("p7_14", f"!F G ({busy})", "holds"),
        ("in_the_building", f"G (level_e0 < {floors} | level_e0 = {between})", "holds"),
    ]
    text = f"""
Elevators: {floors} floors, {lifts} elevator{'s' if lifts > 1 else ''}, {users} users and a scheduler.

Source: J. Vander Meulen's thesis, UCLouvain, 2012, section 7.3, where the formulas have the numbers 7.9 to 7.14.
The model is ours.

A user walks to the doors and calls. The scheduler takes one call at a time and sends the nearest free elevator, any
of the nearest if there are several. It comes, the user gets in and presses a button, it goes there, the user gets
out, works, takes the stairs or not, and calls again from some floor. Nobody knows where users and elevators are in
the beginning, so there are many initial states. The doors, the way of an elevator and the ways of a user are steps
of their own process that nobody else sees. The sign level_eK shows the floor, or {between} while the elevator is
under way. A ride takes {floors - 1} such steps, the longest way, however far it is: what is forgotten keeps
diagrams small.

The scheduler works in rounds: it sends an elevator once, and a new round begins when all that were sent are back.
Nothing else is fair between processes: without rounds one of several elevators could stand still for ever while
others go to and fro.

Every process has a type of its own: a type cannot say "my variable" of a global one, and formulas speak of globals.

A user may wait for ever (p7_9, p7_10 fail), because the scheduler may always choose another. No elevator is under
way for ever, and never are all of them busy for ever: whatever goes on for ever needs rounds that end.
"""
    globals_ = ["wait_u0 : 1 := 0", f"call : {bits} := 0"]
    for j in range(lifts):
        globals_ += [f"level_e{j} : {bits} := 0", f"dest_e{j} : {bits} := 0", f"free_e{j} : 1 := 0"]
    parts = [user(i, floors, lifts, bits) for i in range(users)]
    parts += [elevator(j, floors, users, bits, between) for j in range(lifts)]
    parts.append(scheduler(ask, send, board))
    some = " | ".join(f"free_e{j} = 1" for j in range(lifts))
    commands = [(action, some, [f"call := u{i}.floor"]) for i, action in enumerate(ask)]
    for j, action in enumerate(send):
        others = [(f"level_e{k}", f"free_e{k}") for k in range(lifts) if k != j]
        guards = [f"free_e{j} = 1"] + ([nearest(f"level_e{j}", others, "call")] if others else [])
        commands.append((action, " & ".join(guards),
                         [f"free_e{j} := 0", f"dest_e{j} := call", f"level_e{j} := {between}", "call := 0"]))
    commands += [(action, "true", ["wait_u0 := 0"] if i == 0 else []) for (i, _), action in zip(pairs, board)]
    commands += [(action, "true", []) for action in leave]
    commands.append(("round", "true", [f"free_e{j} := 1" for j in range(lifts)]))
    instances = [(f"u{i}", f"User{i}", 1) for i in range(users)] + [(f"e{j}", f"Elevator{j}", 1) for j in range(lifts)]
    size = (floors, lifts, users)
    expectations = [("states", STATES.get(("elevators", *size)))]
    if size in CHECKED_ELEVATORS:
        expectations = [("deadlock", "holds")] + expectations + verdicts(ctl, ltl)
    return "".join([
        header(text, expectations),
        names(ask + send + board + leave + ["round"]), section("VARIABLES", globals_), "\n", *parts,
        main(instances + [("s", "Scheduler", 1)], commands), formulas("CTL", ctl), formulas("LTL", ltl),
    ])


# Cash points

def cash_points(accounts, machines, fixed):
    shared = " | ".join(f"uc{k} > 1" for k in range(accounts))
    bad = "holds" if fixed or machines == 1 else "violated"
    ctl = [
        ("p7_15", "!EF (uds > 2)", "holds"),
        ("p7_17", f"!EF ({shared})", bad),
        ("p7_19", "!EF EG (op0 != 0)", "violated"),
        ("can_be_idle", "AG EF (" + " & ".join(f"uc{k} = 0" for k in range(accounts)) + " & op0 = 0)", "holds"),
        ("account_is_held", "AG (op0 != 0 -> " + " | ".join(f"uc{k} > 0" for k in range(accounts)) + ")", "holds"),
    ]
    ltl = [
        ("p7_16", "!F (uds > 2)", "holds"),
        ("p7_18", f"!F ({shared})", bad),
        ("p7_20", "!F G (op0 != 0)", "violated"),
        ("account_is_held", "G (op0 != 0 -> " + " | ".join(f"uc{k} > 0" for k in range(accounts)) + ")", "holds"),
        ("stays_up", "F G (up = 1)", "violated"),
    ]
    repaired = """
The account is looked at and marked in one step, when the server accepts the request. So no two machines have one
account."""
    broken = """
The server looks whether an account is free when it accepts a request, and marks it as taken when it answers. As it
serves two requests at once, both may find one account free: p7_17 and p7_18 fail. The repaired model is the one
whose name ends in "fixed"."""
    several = "s" if accounts > 1 else ""
    state = "repaired" if fixed else "with an error to be found"
    text = f"""
Cash points: {machines} machines, a server with {accounts} account{several}, and a fault detector; {state}.

Source: J. Vander Meulen's thesis, UCLouvain, 2012, section 7.4, where the formulas have the numbers 7.15 to 7.20.
The model is ours.

A customer puts in a card (there are several for an account) and types the PIN; the machine asks the server for the
account. Then the customer asks for the balance, for money or for a statement, as often as it pleases, and gets the
card back, which frees the account. The server works on at most two requests at once (uds counts them). It may
be down for a while, and then the fault detector answers in its place.
{repaired if fixed else broken}

p7_19 and p7_20 fail, in both: a machine may wait for an answer for ever, while others are served or the server goes
down again and again.
"""
    wide = max(1, (accounts - 1).bit_length())
    count = (machines + 1).bit_length()
    globals_ = ["up : 1 := 1", "uds : 2 := 0"] + [f"uc{k} : {count} := 0" for k in range(accounts)]
    globals_ += [f"op{a} : 2 := 0" for a in range(machines)]
    verbs = ["open", "opened", "ask", "answer", "free", "fault"]
    parts, commands = [], []
    for a in range(machines):
        mine = [f"{verb}_{a}" for verb in verbs]
        cards = [(0, f"card{k}", "true", ["pc := 1", f"card := {k}"]) for k in range(accounts)]
        steps = cards + chain(1, ["pin1", "pin2", "enter"]) + [
            (4, f"open_{a}", "true", ["pc := 5"]),
            (4, f"fault_{a}", "true", ["pc := 8"]),
            (5, f"opened_{a}", "true", ["pc := 6"]),
            (6, "balance", "true", ["pc := 7", f"op{a} := 1"]),
            (6, "money", "true", ["pc := 7", f"op{a} := 2"]),
            (6, "statement", "true", ["pc := 7", f"op{a} := 3"]),
            (6, f"free_{a}", "true", ["pc := 8"]),
            (7, f"ask_{a}", "true", ["pc := 10"]),
            (7, f"fault_{a}", "true", ["pc := 6"]),
            (8, "eject", "true", ["pc := 9", "card := 0"]),
            (9, "take", "true", ["pc := 0"]),
            (10, f"answer_{a}", "true", ["pc := 11"]),
            (11, "show", "true", ["pc := 6"]),
        ]
        actions = [f"card{k}" for k in range(accounts)] + ["pin1", "pin2", "enter", "balance", "money", "statement"]
        parts.append(local(f"Machine{a}", actions + ["eject", "take", "show"], ["pc : 4 := 0", f"card : {wide} := 0"],
                           steps, mine))
        for k in range(accounts):
            card = f"m{a}.card = {k}"
            take, mark = f"uc{k} := uc{k} + 1", "uds := uds + 1"
            commands.append((f"open_{a}", f"uds < 2 & uc{k} = 0 & {card}", [mark] + ([take] if fixed else [])))
            if not fixed:
                commands.append((f"opened_{a}", card, ["uds := uds - 1", take]))
            commands.append((f"free_{a}", card, [f"uc{k} := uc{k} - 1"]))
        if fixed:
            commands.append((f"opened_{a}", "true", ["uds := uds - 1"]))
        commands.append((f"ask_{a}", "uds < 2", ["uds := uds + 1"]))
        commands.append((f"answer_{a}", "true", ["uds := uds - 1", f"op{a} := 0"]))
        commands.append((f"fault_{a}", "up = 0", [f"op{a} := 0"]))
    served = [f"{verb}_{a}" for a in range(machines) for verb in verbs[:5]]
    server = [(0, "crash", "true", ["pc := 1", "up := 0"]), (1, "recover", "true", ["pc := 0", "up := 1"])]
    server += [(0, action, "true", []) for action in served]
    faults = [f"fault_{a}" for a in range(machines)]
    parts.append(local("Server", ["crash", "recover"], ["pc : 1 := 0"], server, served))
    detector = [(0, fault, "true", ["pc := 1"]) for fault in faults] + [(1, "log", "true", ["pc := 0"])]
    parts.append(local("Detector", ["log"], ["pc : 1 := 0"], detector, faults))
    instances = [(f"m{a}", f"Machine{a}", 1) for a in range(machines)] + [("s", "Server", 1), ("d", "Detector", 1)]
    expectations = [("deadlock", "holds"), ("states", STATES.get(("cash_points", accounts, machines, fixed)))]
    return "".join([
        header(text, expectations + verdicts(ctl, ltl)), names(served + faults), section("VARIABLES", globals_), "\n",
        *parts, main(instances, commands), formulas("CTL", ctl), formulas("LTL", ltl),
    ])


def everything():
    """The files of this folder: (name, text)."""
    for m in (1, 2, 3, 4, 10, 20):
        yield f"producers_consumers_{m}", producers_consumers(m)
    for n in (1, 2, 3, 4, 10, 20, 40):
        yield f"turntable_{n}", turntable(n)
    yield "elevators", elevators(12, 3, 4)
    yield "elevators_small", elevators(4, 1, 2)
    for fixed in (False, True):
        ending = "_fixed" if fixed else ""
        yield f"cash_points{ending}", cash_points(3, 4, fixed)
        yield f"cash_points_small{ending}", cash_points(1, 2, fixed)


def run(arguments):
    match arguments:
        case ["turntable", n]:
            sys.stdout.write(turntable(int(n)))
        case ["producers_consumers", m]:
            sys.stdout.write(producers_consumers(int(m)))
        case ["elevators", floors, lifts, users]:
            sys.stdout.write(elevators(int(floors), int(lifts), int(users)))
        case ["cash_points", accounts, machines, *fixed] if fixed in ([], ["fixed"]):
            sys.stdout.write(cash_points(int(accounts), int(machines), bool(fixed)))
        case ["all"]:
            folder = pathlib.Path(__file__).resolve().parent
            for name, text in everything():
                (folder / f"{name}.mil").write_text(text)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    run(sys.argv[1:])
