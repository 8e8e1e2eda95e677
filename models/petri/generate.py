#!/usr/bin/env python3
"""Scalable Petri nets, written as PNML.

    generate.py FAMILY N [--out FILE]      one net
    generate.py --all DIRECTORY            the nets that lie in this directory
    generate.py FAMILY N --count           enumerate its markings (small nets only)

Families: philosophers (both forks asked for at once; markings: the Lucas number L(3N)), dining (one fork after the
other; 3^N), ring (slotted ring), fms (flexible manufacturing system), kanban, erk (a signalling pathway), trains (N
sections, N/3 trains), pool (swimming pool), token_ring (Dijkstra's self-stabilising ring, N+1 machines),
readers_writers (ten readers and N writers, each a process of its own; wide, with few markings: 1024 + N), robot
(processes that move robots; markings: 2 C(2N+9, 9)), cloud (a cloud's containers, operating systems, servers and
applications; N of each application, N/2 containers).

robot and cloud are RobotManipulation and CloudOpsManagement of the Model Checking Contest. H. Ouni's thesis measures them
but prints neither the nets nor what is observed. The nets here are those of the contest, compared with the example files
of the thesis's tool (PMC-SOG, repository chihebabid/mc-sog), from which the scale is known as well: robotN has 2N + 1
processes and 2N robots, CloudXbyY has X applications of each of three kinds and Y = X/2 containers (rounded down). The
numbers of markings are those that the thesis prints, for each size that it prints.
"""
import argparse
import sys
from xml.sax.saxutils import quoteattr


class Net:
    """Places with their tokens, and transitions with what they take and add."""

    def __init__(self, name):
        self.name, self.places, self.transitions = name, {}, {}

    def place(self, name, tokens=0):
        self.places[name] = tokens
        return name

    def transition(self, name, takes, adds):
        """Arcs are names of places, or pairs of a name and a weight."""
        self.transitions[name] = [dict(a if isinstance(a, tuple) else (a, 1) for a in side) for side in (takes, adds)]


def philosophers(n):
    net = Net(f"philosophers-{n}")
    for i in range(n):
        net.place(f"Fork_{i}", 1)
        net.place(f"Idle_{i}", 1)
        for kind in ("WaitL", "HasL", "WaitR", "HasR"):
            net.place(f"{kind}_{i}")
    for i in range(n):
        left, right = f"Fork_{i}", f"Fork_{(i + 1) % n}"
        net.transition(f"GoEat_{i}", [f"Idle_{i}"], [f"WaitL_{i}", f"WaitR_{i}"])
        net.transition(f"GetL_{i}", [f"WaitL_{i}", left], [f"HasL_{i}"])
        net.transition(f"GetR_{i}", [f"WaitR_{i}", right], [f"HasR_{i}"])
        net.transition(f"Release_{i}", [f"HasL_{i}", f"HasR_{i}"], [f"Idle_{i}", left, right])
    return net


def dining(n):
    net = Net(f"dining-{n}")
    for i in range(n):
        net.place(f"Think_{i}", 1)
        net.place(f"Fork_{i}", 1)
        for kind in ("Catch1", "Catch2", "Eat"):
            net.place(f"{kind}_{i}")
    for i in range(n):
        left, right = f"Fork_{i}", f"Fork_{(i + 1) % n}"
        net.transition(f"FF1a_{i}", [f"Think_{i}", left], [f"Catch1_{i}"])
        net.transition(f"FF1b_{i}", [f"Catch1_{i}", right], [f"Eat_{i}"])
        net.transition(f"FF2a_{i}", [f"Think_{i}", right], [f"Catch2_{i}"])
        net.transition(f"FF2b_{i}", [f"Catch2_{i}", left], [f"Eat_{i}"])
        net.transition(f"End_{i}", [f"Eat_{i}"], [f"Think_{i}", left, right])
    return net


def ring(n):
    net = Net(f"ring-{n}")
    for i in range(n):
        for kind in "ABCDEFGH":
            net.place(f"{kind}_{i}", 1 if kind in "CE" else 0)
    for i in range(n):
        here = {kind: f"{kind}_{i}" for kind in "ABCDEFGH"}
        before = {kind: f"{kind}_{(i - 1) % n}" for kind in "ABC"}
        net.transition(f"other_{i}", [here["A"]], [here["D"]])
        net.transition(f"owner_{i}", [here["A"]], [here["B"]])
        net.transition(f"write_{i}", [here["B"]], [here["D"]])
        net.transition(f"go_{i}", [here["B"]], [here["H"]])
        net.transition(f"give_{i}", [here["F"], here["H"]], [here["C"], here["E"]])
        net.transition(f"put_{i}", [here["D"], here["F"]], [here["C"], here["G"]])
        net.transition(f"used_{i}", [before["C"], here["G"]], [before["A"], here["F"]])
        net.transition(f"free_{i}", [before["C"], here["E"]], [before["B"], here["F"]])
    return net


def fms(n):
    net = Net(f"fms-{n}")
    for name, tokens in (("P1", n), ("P2", n), ("P3", n), ("M1", 3), ("M2", 1), ("M3", 2)):
        net.place(name, tokens)
    for name in ("P1wM1 P1M1 P1d P1s P1wP2 P2wM2 P2M2 P2d P2s P2wP1 P12 P12wM3 P12M3 P12s P3M2 P3s").split():
        net.place(name)
    for name, takes, adds in (
        ("tP1", "P1", "P1wM1"), ("tM1", "P1wM1 M1", "P1M1"), ("tP1M1", "P1M1", "M1 P1d"),
        ("tP1e", "P1d", "P1s"), ("tP1j", "P1d", "P1wP2"), ("tP1s", "P1s", "P1"),
        ("tP2", "P2", "P2wM2"), ("tM2", "P2wM2 M2", "P2M2"), ("tP2M2", "P2M2", "M2 P2d"),
        ("tP2e", "P2d", "P2s"), ("tP2j", "P2d", "P2wP1"), ("tP2s", "P2s", "P2"),
        ("tx", "P1wP2 P2wP1", "P12"), ("tP12", "P12", "P12wM3"), ("tM3", "P12wM3 M3", "P12M3"),
        ("tP12M3", "P12M3", "M3 P12s"), ("tP12s", "P12s", "P1 P2"),
        ("tP3", "P3", "P3M2"), ("tP3M2", "P3M2 M2", "M2 P3s"), ("tP3s", "P3s", "P3"),
    ):
        net.transition(name, takes.split(), adds.split())
    return net


def kanban(n):
    net = Net(f"kanban-{n}")
    for i in range(1, 5):
        for kind in ("m", "back", "kan", "out"):
            net.place(f"{kind}{i}", n if kind == "kan" else 0)
    for i in range(1, 5):
        net.transition(f"tr{i}", [f"m{i}"], [f"back{i}"])
        net.transition(f"tb{i}", [f"back{i}"], [f"m{i}"])
        net.transition(f"tg{i}", [f"m{i}"], [f"out{i}"])
    net.transition("tin1", ["kan1"], ["m1"])
    net.transition("tsplit", ["out1", "kan2", "kan3"], ["kan1", "m2", "m3"])
    net.transition("tjoin", ["out2", "out3", "kan4"], ["kan2", "kan3", "m4"])
    net.transition("tout4", ["out4"], ["kan4"])
    return net


def erk(n):
    net = Net(f"erk-{n}")
    for name in "Raf RKIP ERK MEK RP".split():
        net.place(name, n)
    for name in "RR RRE EPP ME RKIPP RPR".split():
        net.place(name)
    for name, takes, adds in (
        ("k1", "Raf RKIP", "RR"), ("k2", "RR", "Raf RKIP"), ("k3", "RR EPP", "RRE"), ("k4", "RRE", "RR EPP"),
        ("k5", "RRE", "Raf ERK RKIPP"), ("k6", "ERK MEK", "ME"), ("k7", "ME", "ERK MEK"), ("k8", "ME", "MEK EPP"),
        ("k9", "RKIPP RP", "RPR"), ("k10", "RPR", "RKIPP RP"), ("k11", "RPR", "RKIP RP"),
    ):
        net.transition(name, takes.split(), adds.split())
    return net


def trains(n):
    net = Net(f"trains-{n}")
    at = {i for i in range(0, n, 3)}
    for i in range(n):
        net.place(f"Section_{i}", 1 if i in at else 0)
        net.place(f"F_{i}", 0 if i in at else 1)
    for i in range(n):
        after, before = (i + 1) % n, (i - 1) % n
        net.transition(f"T{i}", [f"Section_{i}", f"F_{after}"], [f"Section_{after}", f"F_{before}"])
    return net


def pool(n):
    net = Net(f"pool-{n}")
    for name, tokens in (("Out", 20 * n), ("Bags", 15 * n), ("Cabins", 10 * n)):
        net.place(name, tokens)
    for name in "Entered WaitBag Undress InBath Dress Dressed".split():
        net.place(name)
    for name, takes, adds in (
        ("Enter", "Out", "Entered"), ("GetKey", "Entered Cabins", "WaitBag"), ("GetBag", "WaitBag Bags", "Undress"),
        ("RelKey", "Undress", "InBath Cabins"), ("GetKey2", "InBath Cabins", "Dress"),
        ("RelBag", "Dress", "Dressed Bags"), ("RelKey2", "Dressed", "Out Cabins"),
    ):
        net.transition(name, takes.split(), adds.split())
    return net


def token_ring(n):
    net = Net(f"token_ring-{n}")
    values = range(n + 1)
    for i in values:
        for v in values:
            net.place(f"State_{i}_{v}", 1 if i == v else 0)
    for v in values:
        first, last, up = f"State_0_{v}", f"State_{n}_{v}", f"State_0_{(v + 1) % (n + 1)}"
        net.transition(f"Main_{v}", [first, last], [up, last])
    for i in range(1, n + 1):
        for v in values:
            for w in values:
                if v != w:
                    before, here, after = f"State_{i - 1}_{w}", f"State_{i}_{v}", f"State_{i}_{w}"
                    net.transition(f"Other_{i}_{v}_{w}", [before, here], [before, after])
    return net


def readers_writers(n, readers=10):
    net = Net(f"readers_writers-{n}")
    net.place("Permits", readers)
    for kind, count, needs in (("Reader", readers, 1), ("Writer", n, readers)):
        for i in range(count):
            idle, busy = net.place(f"{kind}_idle_{i}", 1), net.place(f"{kind}_busy_{i}")
            net.transition(f"{kind}_begins_{i}", [idle, ("Permits", needs)], [busy])
            net.transition(f"{kind}_ends_{i}", [busy], [idle, ("Permits", needs)])
    return net


def robot(n):
    net = Net(f"robot-{n}")
    for name, tokens in (("p_i1", 2 * n + 1), ("r_stopped", 2 * n), ("access", 2 * n)):
        net.place(name, tokens)
    for name in "p_i2 p_rdy p_sc p_m p_rel r_active r_moving initialize initialized move moved off".split():
        net.place(name)
    for name, takes, adds in (
        ("p_start", "p_i1", "p_i2 initialize"), ("r_starts", "r_stopped initialize", "r_active initialized"),
        ("p_started", "p_i2 initialized", "p_rdy"), ("p_intoSC", "p_rdy access", "p_sc"), ("p_move", "p_sc", "p_m move"),
        ("r_begin_move", "r_active move", "r_moving"), ("r_end_move", "r_moving", "r_active moved"),
        ("p_moved", "p_m moved", "p_rel"), ("p_relSC", "p_rel", "p_rdy access"), ("p_sop", "p_rdy", "p_i1 off"),
        ("r_stops", "r_active off", "r_stopped"),
    ):
        net.transition(name, takes.split(), adds.split())
    return net


def cloud(n):
    net = Net(f"cloud-{n}")
    for name in "ContainerDown OsNotInstalled ScUnavailable".split():
        net.place(name, n // 2)
    for name in "Wsr1NotDeployed Wsr2NotDeployed Wsr3NotDeployed Bounder1 Bounder2".split():
        net.place(name, n)
    layers = "ContainerUp Container OsContainer OsAvailable OsRunning SwContainer ServerContainer ScStopped ScWorking"
    for name in f"{layers} WebAppRuntime".split():
        net.place(name)
    for name, takes, adds in (
        ("StartContainer", "ContainerDown Bounder2", "ContainerUp Container"),
        ("StopContainer", "ContainerUp Container", "ContainerDown Bounder2"),
        ("tlink0", "Container", "OsContainer"), ("tlink1", "OsContainer", "Container"),
        ("InstallOs", "OsNotInstalled Bounder2", "OsAvailable OsContainer"),
        ("UninstallOs", "OsContainer OsAvailable", "OsContainer OsNotInstalled"),
        ("StartOs", "OsContainer OsAvailable", "OsRunning SwContainer Bounder2"),
        ("ShutdownOs", "OsRunning SwContainer Bounder2", "OsContainer OsAvailable"),
        ("tlink2", "SwContainer", "ServerContainer Bounder1"), ("tlink3", "ServerContainer Bounder1", "SwContainer"),
        ("SetupSc", "ScUnavailable Bounder1", "ScStopped ServerContainer"),
        ("UninstallSc", "ServerContainer ScStopped", "ServerContainer ScUnavailable"),
        ("RunSc", "ScStopped ServerContainer", "ScWorking WebAppRuntime Bounder1"),
        ("StopSc", "ScWorking WebAppRuntime Bounder1", "ServerContainer ScStopped"),
        ("ConfigureSc", "ScWorking", "ScWorking"),
        ("tlink4", "WebAppRuntime", "WsRuntime1 WsRuntime2 WsRuntime3"),
        ("tlink5", "WsRuntime1 WsRuntime2 WsRuntime3", "WebAppRuntime"),
    ):
        net.transition(name, takes.split(), adds.split())
    for i in (1, 2, 3):
        for kind in ("WsRuntime", "Deployed", "Started"):
            net.place(f"{kind}{i}" if kind == "WsRuntime" else f"Wsr{i}{kind}")
        runtime, idle, deployed = f"WsRuntime{i}", f"Wsr{i}NotDeployed", f"Wsr{i}Deployed"
        net.transition(f"DeployWsr{i}", [runtime, idle], [deployed])
        net.transition(f"UndeployWsr{i}", [deployed], [runtime, idle])
        net.transition(f"StartWsr{i}", [deployed], [f"Wsr{i}Started"])
        net.transition(f"StopWsr{i}", [f"Wsr{i}Started"], [deployed])
    return net


FAMILIES = {
    f.__name__: f
    for f in (philosophers, dining, ring, fms, kanban, erk, trains, pool, token_ring, readers_writers, robot, cloud)
}
#: The nets that lie beside this program, with the number of their markings.
KEPT = [
    ("philosophers", 4, 322), ("dining", 4, 81), ("ring", 3, 504), ("fms", 2, 3444), ("kanban", 2, 4600),
    ("erk", 4, 798), ("trains", 12, 195), ("pool", 1, 89621), ("token_ring", 5, 166),
    ("readers_writers", 20, 1044), ("robot", 2, 1430), ("cloud", 2, 3857),
]


def pnml(net, out):
    """Writes the net."""
    grammar = "http://www.pnml.org/version-2009/grammar"
    out.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    out.write(f'<pnml xmlns="{grammar}/pnml">\n  <net id={quoteattr(net.name)} type="{grammar}/ptnet">\n')
    out.write(f'    <name><text>{net.name}</text></name>\n    <page id="page">\n')
    for name, tokens in net.places.items():
        out.write(f"      <place id={quoteattr(name)}><name><text>{name}</text></name>")
        if tokens:
            out.write(f"<initialMarking><text>{tokens}</text></initialMarking>")
        out.write("</place>\n")
    for name in net.transitions:
        out.write(f"      <transition id={quoteattr(name)}><name><text>{name}</text></name></transition>\n")
    number = 0
    for name, (takes, adds) in net.transitions.items():
        arcs = [(place, name, weight) for place, weight in takes.items()]
        arcs += [(name, place, weight) for place, weight in adds.items()]
        for source, target, weight in arcs:
            out.write(f'      <arc id="a{number}" source={quoteattr(source)} target={quoteattr(target)}')
            out.write("/>\n" if weight == 1 else f"><inscription><text>{weight}</text></inscription></arc>\n")
            number += 1
    out.write("    </page>\n  </net>\n</pnml>\n")


def count(net):
    """The number of its markings, by enumeration."""
    places = list(net.places)
    index = {name: number for number, name in enumerate(places)}
    moves = []
    for takes, adds in net.transitions.values():
        needs = [(index[p], w) for p, w in takes.items()]
        change = {}
        for sign, arcs in ((-1, takes), (1, adds)):
            for p, w in arcs.items():
                change[index[p]] = change.get(index[p], 0) + sign * w
        moves.append((needs, [(p, d) for p, d in change.items() if d]))
    start = tuple(net.places.values())
    seen, stack = {start}, [start]
    while stack:
        marking = stack.pop()
        for needs, change in moves:
            if all(marking[p] >= w for p, w in needs):
                after = list(marking)
                for p, d in change:
                    after[p] += d
                after = tuple(after)
                if after not in seen:
                    seen.add(after)
                    stack.append(after)
    return len(seen)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", nargs="?", choices=sorted(FAMILIES))
    parser.add_argument("n", nargs="?", type=int)
    parser.add_argument("--out", help="the file to write; standard output otherwise")
    parser.add_argument("--count", action="store_true", help="enumerate the markings instead")
    parser.add_argument("--all", metavar="DIRECTORY", help="write all kept nets into this directory")
    args = parser.parse_args()
    if args.all:
        for family, n, _ in KEPT:
            with open(f"{args.all}/{family}_{n}.pnml", "w", encoding="utf-8") as out:
                pnml(FAMILIES[family](n), out)
        return
    if not args.family or not args.n or args.n < 1:
        parser.error("a family and a positive number, or --all")
    net = FAMILIES[args.family](args.n)
    if args.count:
        print(count(net))
    elif args.out:
        with open(args.out, "w", encoding="utf-8") as out:
            pnml(net, out)
    else:
        pnml(net, sys.stdout)


if __name__ == "__main__":
    main()
