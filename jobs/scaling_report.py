#!/usr/bin/env python3
"""The report of a scaling study: see jobs/scaling_study.sh. Needs nothing but Python and gnuplot.

From the records of all points it takes the fastest repeat of each rank count, and tells seconds,
efficiency, flop rate, the share of time in MPI calls, and memory. A model of three terms,

    t(p) = w / (r p) + a log2(p) + b / sqrt(p),

is fitted to the measured times by least squares with no negative term: w / r is the work at the rate
of one rank, a latency, b bandwidth. Its curves are drawn apart from what was measured. Points with
more ranks than cores are shown and left out of the fit.
"""
import base64
import html
import json
import math
import os
import shutil
import subprocess
import sys

MODEL_RANKS = [1 << k for k in range(13)]


def read_points(study):
    points = {}
    for folder, _, files in os.walk(study):
        if "record.jsonl" not in files:
            continue
        with open(os.path.join(folder, "record.jsonl")) as lines:
            for line in lines:
                record = json.loads(line)
                points.setdefault(record["ranks"], []).append(record)
    return {p: min(records, key=seconds) for p, records in sorted(points.items())}


def seconds(record):
    return record.get("results", {}).get("seconds") or record.get("seconds") or sum(
        phase["seconds"]["max"] for phase in record["phases"].values())


def phase_sum(record, name):
    return sum(phase.get(name, 0.0) for phase in record["phases"].values())


def outer_phases(record):
    """Phases without those that lie within others: their times are in the outer ones."""
    inner = {"factor", "checkpoint", "gram"} if "solve" in record["phases"] else {"checkpoint"}
    return {n: p for n, p in record["phases"].items() if n not in inner or n == "gram"}


def communication(record):
    phases = outer_phases(record)
    whole = sum(p["seconds"]["mean"] for p in phases.values())
    return sum(p.get("communication", 0.0) for p in phases.values()) / whole if whole else 0.0


def rows_of(points, weak):
    base_ranks = min(points)
    base = seconds(points[base_ranks])
    rows = []
    for p, record in points.items():
        t = seconds(record)
        ideal = base if weak else base * base_ranks / p
        rows.append({
            "ranks": p, "seconds": t, "efficiency": ideal / t,
            "gflops": phase_sum(record, "flops") / t / 1e9,
            "communication": communication(record),
            "memory": record["peak_resident_bytes"]["max"] / 2**30,
            "phases": {n: (q["seconds"]["max"], q.get("communication", 0.0))
                       for n, q in record["phases"].items()},
        })
    return rows


def basis(p, weak):
    work = math.sqrt(p) if weak else 1.0  # m^3 work on p ranks, m growing with the root of p
    return [work / (1.0 if weak else p), math.log2(p) if p > 1 else 0.0, 1.0 / math.sqrt(p) if p > 1 else 0.0]


def solve_least_squares(A, t, active):
    n = len(active)
    G = [[sum(r[i] * r[j] for r in A) for j in active] for i in active]
    b = [sum(r[i] * s for r, s in zip(A, t)) for i in active]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(G[i][k]))
        if abs(G[pivot][k]) < 1e-14:
            return None
        G[k], G[pivot], b[k], b[pivot] = G[pivot], G[k], b[pivot], b[k]
        for i in range(k + 1, n):
            f = G[i][k] / G[k][k]
            b[i] -= f * b[k]
            for j in range(k, n):
                G[i][j] -= f * G[k][j]
    x = [0.0] * n
    for k in reversed(range(n)):
        x[k] = (b[k] - sum(G[k][j] * x[j] for j in range(k + 1, n))) / G[k][k]
    return x


def fit(rows, cores, weak):
    """The best of all sets of terms whose weights are not negative."""
    real = [r for r in rows if r["ranks"] <= cores] or rows
    A = [basis(r["ranks"], weak) for r in real]
    t = [r["seconds"] for r in real]
    best = None
    for active in ([0], [0, 1], [0, 2], [0, 1, 2]):
        if len(active) > len(real):
            continue
        x = solve_least_squares(A, t, active)
        if x is None or min(x) < 0:
            continue
        error = sum((sum(r[i] * w for i, w in zip(active, x)) - s) ** 2 for r, s in zip(A, t))
        if best is None or error < best[0] - 1e-18:
            best = (error, dict(zip(active, x)))
    weights = best[1] if best else {0: t[0] * real[0]["ranks"]}
    return lambda p: sum(weights.get(i, 0.0) * v for i, v in enumerate(basis(p, weak))), weights


def write_data(study, rows, model):
    with open(os.path.join(study, "measured.dat"), "w") as out:
        for r in rows:
            out.write("{ranks} {seconds:.6g} {efficiency:.4f} {gflops:.4g} {communication:.4f} "
                      "{memory:.4f}\n".format(**r))
    with open(os.path.join(study, "model.dat"), "w") as out:
        for p in MODEL_RANKS:
            out.write("%d %.6g\n" % (p, model(p)))


PLOTS = {
    "time": ("Time", "seconds", "set logscale xy 2; set logscale y 10",
             '"measured.dat" u 1:2 w lp ls 1 t "measured", "measured.dat" u 1:({ideal}) w l ls 3 t "ideal"'),
    "efficiency": ("Efficiency", "share of ideal", "set logscale x 2; set yrange [0:1.1]",
                   '"measured.dat" u 1:3 w lp ls 1 t "measured", 1 w l ls 3 t "ideal"'),
    "communication": ("Time in MPI calls", "share of the run", "set logscale x 2; set yrange [0:1]",
                      '"measured.dat" u 1:5 w lp ls 2 t "measured"'),
    "model": ("A model, not a measurement", "seconds", "set logscale xy 2; set logscale y 10",
              '"model.dat" u 1:2 w l ls 4 dt 2 t "model: work / p + latency + bandwidth", '
              '"measured.dat" u 1:2 w p ls 1 t "measured, for comparison"'),
}


def draw(study, rows, weak):
    if not shutil.which("gnuplot"):
        print("no plots: gnuplot is not here")
        return []
    base = rows[0]["seconds"] if weak else rows[0]["seconds"] * rows[0]["ranks"]
    ideal = "%.8g" % base if weak else "%.8g/$1" % base
    made = []
    for name, (title, label, scale, what) in PLOTS.items():
        for ending, terminal in (("svg", "svg size 720,480 font 'Helvetica,14' enhanced background 'white'"),
                                 ("png", "pngcairo size 1440,960 font 'Helvetica,24' enhanced")):
            script = "\n".join([
                "set terminal " + terminal, "set output '%s.%s'" % (name, ending),
                "set title '%s'" % title, "set xlabel 'MPI ranks'", "set ylabel '%s'" % label,
                "set grid lc rgb '#dddddd'", "set border 3", "set tics nomirror", "set key top right box lc rgb '#cccccc'",
                "set style line 1 lc rgb '#1f5fa8' lw 3 pt 7 ps 1.4", "set style line 2 lc rgb '#c2562d' lw 3 pt 5 ps 1.4",
                "set style line 3 lc rgb '#999999' lw 2", "set style line 4 lc rgb '#7a4fa3' lw 3",
                scale, "plot " + what.replace("{ideal}", ideal)])
            done = subprocess.run(["gnuplot"], input=script, text=True, cwd=study, capture_output=True)
            if done.returncode:
                print("gnuplot: " + done.stderr.strip())
            elif ending == "svg":
                made.append(name)
    return made


def phase_table(rows):
    names = sorted({n for r in rows for n in r["phases"]}, key=lambda n: -rows[0]["phases"].get(n, (0, 0))[0])[:8]
    head = ["ranks"] + ["%s s (MPI)" % n for n in names]
    body = [[str(r["ranks"])] + ["%.3g (%.0f %%)" % (r["phases"][n][0], 100 * r["phases"][n][1] / r["phases"][n][0])
                                 if n in r["phases"] and r["phases"][n][0] > 0 else "-" for n in names] for r in rows]
    return head, body


def main_table(rows, cores):
    head = ["ranks", "seconds", "efficiency", "GF/s", "in MPI calls", "GiB a rank", ""]
    body = [["%d" % r["ranks"], "%.3g" % r["seconds"], "%.2f" % r["efficiency"], "%.3g" % r["gflops"],
             "%.0f %%" % (100 * r["communication"]), "%.3g" % r["memory"],
             "more ranks than cores" if r["ranks"] > cores else ""] for r in rows]
    return head, body


def as_markdown(head, body):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head)] + body)


def as_html(head, body):
    cells = lambda tag, line: "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(c), tag) for c in line) + "</tr>"
    return "<table>" + cells("th", head) + "".join(cells("td", line) for line in body) + "</table>"


STYLE = """body{font:16px/1.5 Helvetica,Arial,sans-serif;max-width:60em;margin:2em auto;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:right}
img{width:48%}figure{margin:1em 0}.model{border:2px dashed #7a4fa3;padding:1em}.model img{width:60%}code{background:#f4f4f4}"""


def page(study, about, rows, cores, weights, plots, machine):
    picture = lambda n: '<img alt="%s" src="data:image/svg+xml;base64,%s">' % (
        n, base64.b64encode(open(os.path.join(study, n + ".svg"), "rb").read()).decode())
    measured = "".join(picture(n) for n in plots if n != "model")
    model = picture("model") if "model" in plots else ""
    terms = "work %.3g s, latency %.3g s a doubling, bandwidth %.3g s" % tuple(weights.get(k, 0.0) for k in range(3))
    return ("<!doctype html><meta charset=utf-8><title>Scaling of dkmap</title><style>%s</style><h1>%s scaling</h1>"
            "<p><code>dkmap %s</code><br>%s</p>%s<figure>%s</figure><h2>By phase</h2><p>Seconds of the slowest rank, "
            "and the share of them in MPI calls (waiting included); inner phases are part of outer ones.</p>%s"
            "<div class=model><h2>Model, not measured</h2><p>t(p) fitted to the points with a core for each rank: %s. "
            "Curves to 4096 ranks say what these terms would come to on more such cores, and no more than that.</p>"
            "%s</div>" % (STYLE, about[0].capitalize(), html.escape(about[1]), html.escape(machine),
                          as_html(*main_table(rows, cores)), measured, as_html(*phase_table(rows)), terms, model))


def main():
    study = sys.argv[1]
    about = open(os.path.join(study, "about")).read().split("\n")
    points = read_points(study)
    if not points:
        sys.exit("scaling_report.py: no records in %s yet" % study)
    weak = about[0] == "weak"
    cores = int(os.environ.get("CORES", os.cpu_count() if len({r.get("host") for r in points.values()}) == 1 else 10**9))
    rows = rows_of(points, weak)
    model, weights = fit(rows, cores, weak)
    first = next(iter(points.values()))
    machine = "%s, dkmap %s, %s" % (first.get("host", "?"), first.get("version", ""), first.get("date", ""))
    write_data(study, rows, model)
    plots = draw(study, rows, weak)
    with open(os.path.join(study, "report.md"), "w") as out:
        out.write("%s scaling of `dkmap %s`\n\n%s\n\n%s\n" % (about[0].capitalize(), about[1],
                  as_markdown(*main_table(rows, cores)), as_markdown(*phase_table(rows))))
    with open(os.path.join(study, "report.html"), "w") as out:
        out.write(page(study, about, rows, cores, weights, plots, machine))
    print(as_markdown(*main_table(rows, cores)))
    print(os.path.join(study, "report.html"))


main()
