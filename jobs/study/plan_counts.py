#!/usr/bin/env python3
"""Holds what `dkmap plan` says of bytes sent and allocated against the record of the run with --count-comm.

  jobs/study/plan_counts.py PLANS.jsonl RUNS.jsonl [MOST]

Line by line. Bytes sent are those of all phases but reading and saving, the mean of a rank; a phase
inside another is counted with that one. Prints both with their ratio; exits with 1 where one is off by more
than MOST (0.15)."""
import json
import sys

APART = {"read", "save"}  # of the command, not of the fit
INSIDE = {"solve": {"factor"}, "sketch": {"strips"}, "iterate": {"strips"},
          "jkm": {"gram", "oracle", "constraints", "program"}}


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def sent(record):
    phases = {name: p["mpi"]["bytes"]["mean"] for name, p in record["phases"].items() if name not in APART}
    inside = set().union(*(INSIDE.get(name, set()) for name in phases)) if phases else set()
    return sum(b for name, b in phases.items() if name not in inside)


def main():
    plans, runs = lines(sys.argv[1]), lines(sys.argv[2])
    most = float(sys.argv[3]) if len(sys.argv) > 3 else 0.15
    bad = len(plans) != len(runs) or not plans
    for plan, run in zip(plans, runs):
        pairs = (("sent", plan["sent_bytes"], sent(run)),
                 ("allocated", plan["allocated_bytes"], run["peak_allocated_bytes"]["max"]))
        for name, planned, counted in pairs:
            off = planned / counted - 1 if counted else 0.0
            print(f"{run['command']} on {run['ranks']} ranks, {name}: plan {planned:.4g}, "
                  f"run {counted:.4g}, off by {100 * off:+.1f} %")
            bad = bad or abs(off) > most
    return 1 if bad else 0


sys.exit(main())
