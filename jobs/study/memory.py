#!/usr/bin/env python3
"""The tables of jobs/study/memory.sh, from lines "NAME<tab>RECORD" on standard input.

  jobs/study/memory.py [--falls]

Megabytes of the fullest rank. The constants are those of c / P + constant through the runs on the fewest and on
the most ranks, less the same of the runs named idle, and less the same of the runs named NAME-64. With --falls exits
with 1 where the fullest of more ranks holds more than that of fewer by more than 2 %, or 2 MB, in any of the four
ways to count: so much the pages of libraries and of messages come and go."""
import json
import sys

KINDS = ("allocated", "private", "proportional", "resident")


def constant(runs):
    few, many = runs[0], runs[-1]
    return {k: (many[k] * many["ranks"] - few[k] * few["ranks"]) / (many["ranks"] - few["ranks"]) for k in KINDS}


def main():
    named = {}
    for line in sys.stdin:
        name, text = line.split("\t", 1)
        record = json.loads(text)
        run = {k: record[f"peak_{k}_bytes"]["max"] / 1e6 for k in KINDS}
        named.setdefault(name, []).append({"ranks": record["ranks"], **run})
    print("| run | ranks | allocated | private | proportional | resident |\n|---|---|---|---|---|---|")
    for name, runs in named.items():
        runs.sort(key=lambda run: run["ranks"])
        for run in runs:
            print(f"| {name} | {run['ranks']} | " + " | ".join("%.1f" % run[k] for k in KINDS) + " |")
    if "--falls" in sys.argv:
        return any(b[k] > max(1.02 * a[k], a[k] + 2) for k in KINDS for runs in named.values() for a, b in zip(runs, runs[1:]))
    idle = constant(named.pop("idle"))
    fits = [name for name in named if name + "-64" in named]
    for title, base in (("an idle rank", lambda name: idle), ("a fit of 64 rows", lambda name: constant(named[name + "-64"]))):
        print(f"\n| constant above {title} | allocated | private | proportional | resident |\n|---|---|---|---|---|")
        for name in fits:
            print(f"| {name} | " + " | ".join("%.1f" % (constant(named[name])[k] - base(name)[k]) for k in KINDS) + " |")
    return 0


sys.exit(main())
