#!/usr/bin/env python3
"""A visited set that forgets: how many transitions a search explores if it keeps fewer states.

Redraws Fig. 8.3 of Godefroid's thesis for a model of ours. `ample check --deadlock --search dfs --cache N` is run for a range of
N, given as shares of all states, once for each value of --por: without reduction, with persistent sets, with sleep sets, with
both. What a state that was forgotten costs if the search comes back to it is transitions, so these are counted; they do not
depend on the machine. A search that is not over within the limit ends its curve: with still fewer states it would take longer.

    bench/caching.py [--ample PATH] [--limit 10] [--svg FILE.svg] [--csv FILE.csv] [MODEL]

The picture is written to docs/images/caching.svg, a table in Markdown to standard output.
"""
import argparse, csv, json, math, pathlib, subprocess, sys
from xml.sax.saxutils import escape

ROOT = pathlib.Path(__file__).resolve().parent.parent
SHARES = [1, .8, .65, .5, .45, .4, .35, .3, .25, .2, .15, .1, .07, .05, .035, .025, .016, .012, .008, .006, .005, .004, .0035]
SHOWN = [1, .5, .4, .3, .2, .1, .05, .025, .016, .008, .0035]
SEARCHES = [  # --por, the name in the picture, its colour
    ("none", "no reduction", "#666666"),
    ("sleep", "sleep sets", "#0072b2"),
    ("persistent", "persistent sets", "#d55e00"),
    ("persistent+sleep", "persistent and sleep sets", "#007a56"),
]


def ample(program, command, *options):
    done = subprocess.run([program, command, *options, "--json"], capture_output=True, text=True)
    try:
        return json.loads(done.stdout)
    except json.JSONDecodeError:
        sys.exit(f"{program} {command} {' '.join(options)}: {done.stderr.strip() or done.stdout.strip()}")


def measure(program, model, limit):
    """The number of states, and for each search the points (share, states kept, transitions, is complete)."""
    states = int(ample(program, "states", model)["stats"]["states"])
    curves = {}
    for por, name, _ in SEARCHES:
        points = curves[por] = []
        for share in SHARES:
            kept = round(states * share)
            options = ["--deadlock", "--reductions", "none", "--search", "dfs", "--por", por, "--cache", str(kept), "--cache-policy", "oldest", "--time-limit", f"{limit}s"]
            report = ample(program, "check", *options, model)
            points.append((share, kept, int(report["stats"]["transitions"]), report["complete"]))
            print(f"{name}, {kept} states: {points[-1][2]} transitions", file=sys.stderr)
            if not report["complete"]:
                break
    return states, curves


def percent(share):
    return f"{100 * share:.2g} %" if share < 1 else "100 %"


def table(states, curves):
    lines = ["| states kept | " + " | ".join(name for _, name, _ in SEARCHES) + " |", "|---:|" + "---:|" * len(SEARCHES)]
    for share in SHOWN:
        cells = []
        for por, _, _ in SEARCHES:
            point = next((point for point in curves[por] if point[0] == share), None)
            cells.append(f"{point[2]:,}" if point and point[3] else "–")
        lines.append(f"| {round(share * states):,} ({percent(share)}) | " + " | ".join(cells) + " |")
    return "\n".join(lines)


class Picture:
    """A plot with logarithmic axes. From left to right less and less is kept."""

    WIDTH, HEIGHT = 876, 460
    LEFT, RIGHT, TOP, BOTTOM = 92, 192, 24, 62

    def __init__(self, shares, transitions):
        self.shares = min(shares), max(shares)
        self.powers = math.floor(math.log10(min(transitions))), math.ceil(math.log10(max(transitions)))
        self.parts = []

    def x(self, share):
        low, high = map(math.log10, self.shares)
        return self.LEFT + (high - math.log10(share)) / (high - low) * (self.WIDTH - self.LEFT - self.RIGHT)

    def y(self, transitions):
        low, high = self.powers
        return self.HEIGHT - self.BOTTOM - (math.log10(transitions) - low) / (high - low) * (self.HEIGHT - self.TOP - self.BOTTOM)

    def line(self, x1, y1, x2, y2, colour, width=1.0, more=""):
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"{more}/>')

    def text(self, x, y, words, anchor="start", colour="#333333", more=""):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"{more}>{escape(words)}</text>')

    def axes(self):
        bottom, right = self.HEIGHT - self.BOTTOM, self.WIDTH - self.RIGHT
        for power in range(self.powers[0], self.powers[1] + 1):
            y = self.y(10 ** power)
            self.line(self.LEFT, y, right, y, "#dddddd" if power > self.powers[0] else "#888888")
            self.text(self.LEFT - 8, y + 4, f"{10 ** power:,}", "end")
        for share in [1, .5, .2, .1, .05, .02, .01, .005]:
            if share >= self.shares[0]:
                x = self.x(share)
                self.line(x, bottom, x, bottom + 5, "#888888")
                self.text(x, bottom + 20, percent(share), "middle")
        self.text((self.LEFT + right) / 2, self.HEIGHT - 14, "states kept, of all there are", "middle")
        middle = (self.TOP + bottom) / 2
        self.text(18, middle, "transitions explored", "middle", more=f' transform="rotate(-90 18 {middle:.1f})"')

    def curve(self, points, name, colour, limit):
        complete = [(self.x(point[0]), self.y(point[2])) for point in points if point[3]]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in complete)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>')
        self.parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in complete]
        if points[-1][3]:
            self.text(complete[-1][0] + 10, complete[-1][1] + 4, name, "start", colour)
            return
        # It would go on beyond the limit: an arrow to as far as it came.
        (x1, y1), (x2, y2) = complete[-1], (self.x(points[-1][0]), self.y(points[-1][2]))
        self.line(x1, y1, x2, y2, colour, 2, ' stroke-dasharray="5 4"')
        self.parts.append(f'<path d="M{x2 - 5:.1f},{y2:.1f} h10 l-5,-9 z" fill="{colour}"/>')
        self.text(x2 + 12, y2 - 2, f"{name}: not over after {limit} s", "start", colour)

    def svg(self, title):
        head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.WIDTH} {self.HEIGHT}" role="img" '
                f'font-family="Helvetica, Arial, sans-serif" font-size="13">')
        ground = f'<rect width="{self.WIDTH}" height="{self.HEIGHT}" fill="#ffffff"/>'
        return "\n".join([head, f"<title>{escape(title)}</title>", ground, *self.parts, "</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default=str(ROOT / "models" / "promela" / "trehel_naimi.pml"))
    parser.add_argument("--ample", default=str(ROOT / "target" / "release" / "ample"))
    parser.add_argument("--limit", type=int, default=10, help="seconds for one search (default %(default)s)")
    parser.add_argument("--svg", default=str(ROOT / "docs" / "images" / "caching.svg"), help="the picture (default docs/images/caching.svg)")
    parser.add_argument("--csv", help="write the figures here too")
    arguments = parser.parse_args()
    states, curves = measure(arguments.ample, arguments.model, arguments.limit)
    every = [point for points in curves.values() for point in points]
    picture = Picture([point[0] for point in every], [point[2] for point in every])
    picture.axes()
    for por, name, colour in SEARCHES:
        picture.curve(curves[por], name, colour, arguments.limit)
    file = pathlib.Path(arguments.svg)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(picture.svg(f"Transitions explored with a cache of states: {pathlib.Path(arguments.model).name}"))
    if arguments.csv:
        with open(arguments.csv, "w", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["por", "share", "kept", "transitions", "complete"])
            writer.writerows([por, *point] for por, points in curves.items() for point in points)
    print(table(states, curves))


if __name__ == "__main__":
    main()
