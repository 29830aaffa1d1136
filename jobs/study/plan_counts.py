#!/usr/bin/env python3
"""Holds what `dkmap plan` says of bytes sent and allocated against the record of the run with --count-comm.

  jobs/study/plan_counts.py PLANS.jsonl RUNS.jsonl [MOST]

Line by line. Bytes sent are those of all phases but reading and saving, the mean of a rank. Prints both with their ratio; exits with 1 where one is off by more
than MOST (0.15)."""
import json
import sys

APART = {"read", "save"}  # of the command, not of the fit


def lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def sent(record):
    return sum(p["mpi"]["outermost_bytes"] for name, p in record["phases"].items() if name not in APART)


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
