#!/usr/bin/env python3
# SPDX-FileCopyrightText: Trikkos contributors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the results of Trikkos_PerfTests as a Markdown table.

  compare.py new.json                    every case, and the speedup over its fastest baseline
  compare.py old.json new.json           also the change of each median; exit status 1 if one of them
                                         grew by more than --tolerance percent
A failed or missing benchmark makes the exit status 1 too, files from different machines 2. Of
repetitions, the median counts."""

import argparse
import json
import re
import statistics
import sys

BASELINES = ("lapack_", "cusparse_", "kokkos_kernels_")


class Result:
    """A benchmark: median of its repetitions, or what went wrong."""

    def __init__(self, runs):
        self.error = next((r["error_message"] for r in runs if r.get("error_occurred")), None)
        if self.error is None:
            def median(key):
                return statistics.median(r[key] for r in runs) if key in runs[0] else None
            self.ms = median("real_time")
            self.ns_per_row = median("ns/row")
            self.gb_per_s = median("GB/s")
            self.of_floor = median("of_floor")
            self.eta = max(r["eta"] for r in runs) if "eta" in runs[0] else None


def read(path):
    """The context and {name: Result}, sizes in order and the solvers of a case together."""
    with open(path) as file:
        data = json.load(file)
    runs = {}
    for run in data["benchmarks"]:
        if run.get("run_type", "iteration") == "iteration":
            name = re.sub(r"/(iterations:\d+|repeats:\d+|manual_time)", "", run["name"])
            runs.setdefault(name, []).append(run)
    def natural(name):
        return [(part.isdigit(), int(part) if part.isdigit() else 0, part)
                for part in re.split(r"(\d+)", name)]
    return data["context"], {name: Result(runs[name]) for name in sorted(runs, key=natural)}


def fastest_baseline(name, results):
    """The fastest baseline of the case, ms; None where there is none."""
    case, solver = name.rsplit("/", 1)
    times = [r.ms for other, r in results.items() if r.error is None and other.startswith(case + "/")
             and other.rsplit("/", 1)[1].startswith(BASELINES)]
    return min(times) if times and not solver.startswith(BASELINES) else None


def cell(value, form):
    return "" if value is None else format(value, form)


def print_table(header, rows):
    widths = [max(len(row[i]) for row in [header] + rows) for i in range(len(header))]
    def line(cells):
        first, *rest = zip(cells, widths)
        return "| " + " | ".join([first[0].ljust(first[1])] + [c.rjust(w) for c, w in rest]) + " |"
    print(line(header))
    print("|" + "|".join(["-" * (widths[0] + 2)] + ["-" * (w + 1) + ":" for w in widths[1:]]) + "|")
    for row in rows:
        print(line(row))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="file.json", help="one file, or old and new")
    parser.add_argument("--tolerance", type=float, default=10, help="percent; default: 10")
    parser.add_argument("--filter", default="", help="only names that match this regular expression")
    arguments = parser.parse_args()
    if len(arguments.files) > 2:
        parser.error("one file, or two")

    context, results = read(arguments.files[-1])
    old = None
    if len(arguments.files) == 2:
        old_context, old = read(arguments.files[0])
        for key in ("processor", "kokkos_backend", "kokkos_concurrency", "trikkos_caches"):
            if old_context.get(key) != context.get(key):
                print(f"Not comparable: {key} was {old_context.get(key)}, is {context.get(key)}",
                      file=sys.stderr)
                return 2
    keys = ("processor", "kokkos_backend", "kokkos_concurrency", "kokkos_version",
            "trikkos_version", "trikkos_commit", "trikkos_caches", "date")
    print(", ".join(f"{key} {context[key]}" for key in keys if key in context) + "\n")

    header = ["case", "ms", "ns/row", "GB/s", "of floor", "eta", "speedup"]
    rows, bad = [], []
    if old is not None:
        header.append("change")
        bad += [f"{name}: missing" for name in old
                if name not in results and re.search(arguments.filter, name)]
    for name, r in results.items():
        if not re.search(arguments.filter, name):
            continue
        if r.error is not None:
            bad.append(f"{name}: {r.error}")
            rows.append([name, "failed"] + [""] * (len(header) - 2))
            continue
        baseline = fastest_baseline(name, results)
        row = [name, cell(r.ms, ".4g"), cell(r.ns_per_row, ".3g"), cell(r.gb_per_s, ".4g"),
               cell(r.of_floor, ".2f"), cell(r.eta, ".1e"),
               cell(baseline and baseline / r.ms, ".1f")]
        if old is not None:
            before = old.get(name)
            change = (r.ms / before.ms - 1) * 100 if before and before.error is None else None
            row.append(cell(change, "+.1f") + (" %" if change is not None else "new"))
            if change is not None and change > arguments.tolerance:
                bad.append(f"{name}: {change:+.1f} %")
        rows.append(row)

    print_table(header, rows)
    if bad:
        print("\nFailed, missing or slower than before:", *bad, sep="\n  ", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
