#!/usr/bin/env python3
# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws results of Trikkos_PerfTests as a picture (SVG).

  plot.py results.json picture.svg --filter '^tridiagonal/single/double/.*/random/'
      cases that differ in n: nanoseconds a row against n, a line for each solver, and the floor
  plot.py results.json picture.svg --filter '^triangular/.*/L/(automatic|cusparse_spsv)'
      other cases: a row of marks each, the time of each solver"""

import argparse
import math
import re
import sys
from xml.sax.saxutils import escape

from compare import read

WIDTH, MARGIN_LEFT, MARGIN_RIGHT, MARGIN_TOP, MARGIN_BOTTOM = 760, 60, 170, 44, 48
COLOURS = ("#0b6e99", "#d9730d", "#448361", "#9065b0", "#c14c8a", "#9f6b53", "#787774", "#cb912f")
TEXT, GRID = "#37352f", "#e3e2e0"


class Axis:
    """A logarithmic axis from `begin` to `end` in pixels, over the values given."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.log10(min(values)) - 0.05, math.log10(max(values)) + 0.05
        self.begin, self.end = begin, end

    def __call__(self, value):
        part = (math.log10(value) - self.low) / (self.high - self.low)
        return self.begin + part * (self.end - self.begin)

    def ticks(self):
        decades = range(math.floor(self.low), math.ceil(self.high) + 1)
        steps = (1, 2, 5) if self.high - self.low < 3 else (1,)
        ticks = [s * 10.0**d for d in decades for s in steps]
        return [t for t in ticks if self.low <= math.log10(t) <= self.high]


class Picture:
    def __init__(self, height, title):
        self.height = height
        self.parts = []
        self.text(MARGIN_LEFT, 22, title, size=14)

    def line(self, x0, y0, x1, y1, colour, width=1):
        self.parts.append(f'<line x1="{x0:.1f}" y1="{y0:.1f}" x2="{x1:.1f}" y2="{y1:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"/>')

    def curve(self, points, colour, dashes=""):
        at = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{at}" fill="none" stroke="{colour}" '
                          f'stroke-width="2" stroke-dasharray="{dashes}"/>')

    def mark(self, x, y, colour):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>')

    def text(self, x, y, text, anchor="start", colour=TEXT, size=12):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
                          f'font-size="{size}">{escape(text)}</text>')

    def write(self, path):
        with open(path, "w") as file:
            file.write(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
                       f'height="{self.height}" font-family="sans-serif">\n'
                       f'<rect width="100%" height="100%" fill="white"/>\n'
                       + "\n".join(self.parts) + "\n</svg>\n")


def labels_apart(ends, least=14):
    """The ends of lines, (y, ...), moved down where their labels would lie on each other."""
    moved = []
    for y, *rest in sorted(ends):
        moved.append((max(y, moved[-1][0] + least) if moved else y, *rest))
    return moved


def draw_sizes(results, title):
    """results: {(n, solver): Result}"""
    floor = {}
    for (n, _), r in results.items():
        if r.of_floor:
            floor[n] = min(floor.get(n, math.inf), r.ns_per_row * r.of_floor)
    height = 440
    x = Axis([n for n, _ in results], MARGIN_LEFT, WIDTH - MARGIN_RIGHT)
    y = Axis([r.ns_per_row for r in results.values()] + list(floor.values()),
             height - MARGIN_BOTTOM, MARGIN_TOP)
    picture = Picture(height, title)
    for tick in x.ticks():
        picture.line(x(tick), y.begin, x(tick), y.end, GRID)
        picture.text(x(tick), y.begin + 18, f"{tick:.0e}".replace("e+0", "e"), "middle")
    for tick in y.ticks():
        picture.line(x.begin, y(tick), x.end, y(tick), GRID)
        picture.text(x.begin - 8, y(tick) + 4, f"{tick:g}", "end")
    picture.text((x.begin + x.end) / 2, height - 10, "rows", "middle")
    picture.text(8, MARGIN_TOP - 6, "ns a row")
    ends = []
    solvers = sorted({solver for _, solver in results})
    for k, solver in enumerate(solvers + (["floor"] if floor else [])):
        values = floor if k == len(solvers) else {
            n: r.ns_per_row for (n, s), r in results.items() if s == solver}
        colour = TEXT if k == len(solvers) else COLOURS[k % len(COLOURS)]
        points = [(x(n), y(v)) for n, v in sorted(values.items())]
        picture.curve(points, colour, "4 4" if k == len(solvers) else "")
        for point in points if k < len(solvers) else []:
            picture.mark(*point, colour)
        ends.append((points[-1][1], points[-1][0], solver, colour))
    for at, from_x, solver, colour in labels_apart(ends):
        picture.text(from_x + 10, at + 4, solver, colour=colour)
    return picture


def draw_cases(results, title):
    """results: {(case, solver): Result}, the fastest case first"""
    best = {}
    for (case, _), r in results.items():
        best[case] = min(best.get(case, math.inf), r.ms)
    cases = sorted(best, key=best.get)
    words = [case.split("/") for case in cases]  # what all have in common is left out
    kept = [k for k in range(min(map(len, words))) if len({w[k] for w in words}) > 1]
    label = {case: "/".join(w[k] for k in kept) or case for case, w in zip(cases, words)}
    solvers = sorted({solver for _, solver in results})
    left = 20 + 7 * max(map(len, label.values()))
    height = MARGIN_TOP + MARGIN_BOTTOM + 22 * len(cases)
    x = Axis([1000 * r.ms for r in results.values()], min(left, WIDTH // 2), WIDTH - MARGIN_RIGHT)
    picture = Picture(height, title)
    for tick in x.ticks():
        picture.line(x(tick), MARGIN_TOP, x(tick), height - MARGIN_BOTTOM, GRID)
        picture.text(x(tick), height - MARGIN_BOTTOM + 18, f"{tick:g}", "middle")
    picture.text((x.begin + x.end) / 2, height - 10, "microseconds", "middle")
    for row, case in enumerate(cases):
        at = MARGIN_TOP + 22 * row + 11
        picture.text(x.begin - 8, at + 4, label[case], "end")
        for k, solver in enumerate(solvers):
            if (case, solver) in results:
                picture.mark(x(1000 * results[case, solver].ms), at, COLOURS[k % len(COLOURS)])
    for k, solver in enumerate(solvers):
        colour, at = COLOURS[k % len(COLOURS)], MARGIN_TOP + 16 * k + 10
        picture.mark(x.end + 16, at - 4, colour)
        picture.text(x.end + 26, at, solver, colour=colour)
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="results.json")
    parser.add_argument("picture", metavar="picture.svg")
    parser.add_argument("--filter", default="", help="only names that match this regular expression")
    parser.add_argument("--title", help="above the picture; else machine, commit and date")
    arguments = parser.parse_args()

    context, results = read(arguments.file)
    results = {name: r for name, r in results.items()
               if r.error is None and re.search(arguments.filter, name)}
    if not results:
        print("No results to draw", file=sys.stderr)
        return 1
    keys = ("processor", "trikkos_commit", "date")
    title = arguments.title or ", ".join(context[key][:16] for key in keys if key in context)
    sizes = {}
    for name, r in results.items():
        case, solver = name.rsplit("/", 1)
        found = re.search(r"/n:(\d+)(/|$)", case)
        if found and r.ns_per_row:
            sizes[int(found[1]), solver] = r
    if len({n for n, _ in sizes}) > 1:
        picture = draw_sizes(sizes, title)
    else:
        picture = draw_cases({tuple(name.rsplit("/", 1)): r for name, r in results.items()}, title)
    picture.write(arguments.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
