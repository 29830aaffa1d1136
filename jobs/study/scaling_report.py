#!/usr/bin/env python3
"""The report of scaling studies: see jobs/study/scaling_study.sh. Needs nothing but Python and gnuplot.

From the records of each study it takes the fastest repeat of each rank count, and tells seconds,
efficiency, flop rate, the share of time in MPI calls, and memory. A model of flops, memory, latency
and bandwidth for kernel matrices of n rows on p ranks,

    t = flops / (r p) + c n^2 / p + a (n / 64) log2(p) + b n^2 log2(p) / sqrt(p),

is fitted to the measured times of all studies given, with no negative term and equal weight to
relative errors: r is the rate of a rank, c what else each element costs, a the latency of a message a
block of columns, b the time of a number on its way. Points with more ranks than cores are shown, and
left out of the fit. Curves of the model are drawn apart from what was measured.
"""
import base64
import html
import itertools
import json
import math
import os
import shutil
import subprocess
import sys

MODEL_RANKS = [1 << k for k in range(13)]
TERMS = ("work", "elements", "latency", "bandwidth")


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
    return record.get("seconds") or sum(p["seconds"]["max"] for p in record["phases"].values())


def flops(record):
    return record.get("flop_rate", 0) * seconds(record) or sum(
        p.get("flops", 0.0) for p in record["phases"].values())


def outer_phases(record):
    """Phases without those that lie within others: their times are in the outer ones."""
    inner = {"checkpoint"} | ({"factor"} if "solve" in record["phases"] else set())
    return {n: p for n, p in record["phases"].items() if n not in inner}


def communication(record):
    phases = outer_phases(record)
    whole = sum(p["seconds"]["mean"] for p in phases.values())
    return sum(p.get("communication", 0.0) for p in phases.values()) / whole if whole else 0.0


class Study:
    def __init__(self, folder, cores):
        about = open(os.path.join(folder, "about")).read().split("\n")
        self.folder, self.kind, self.command = folder, about[0], about[1]
        self.points = read_points(folder)
        if not self.points:
            sys.exit("scaling_report.py: no records in %s yet" % folder)
        first = min(self.points)
        base = seconds(self.points[first])
        # Weak: memory a rank stays, and the work of a rank grows with the rows.
        each = flops(self.points[first]) / first
        self.rows = []
        for p, record in self.points.items():
            t, work = seconds(record), flops(record)
            ideal = base * (work / p / each if self.kind == "weak" and each else first / p)
            self.rows.append({
                "ranks": p, "n": record.get("n") or record.get("m") or 0, "seconds": t, "ideal": ideal,
                "efficiency": ideal / t, "flops": work, "gflops": work / t / 1e9,
                "communication": communication(record), "crowded": p > cores,
                "memory": record["peak_resident_bytes"]["max"] / 2**30,
                "phases": {n: (q["seconds"]["max"], q.get("communication", 0.0))
                           for n, q in record["phases"].items()}})


def terms(work, n, p):
    log = math.log2(p)
    return [work / p, n * n / p, n / 64.0 * log, n * n * log / math.sqrt(p)]


def least_squares(A, t, active):
    n = len(active)
    G = [[sum(r[i] * r[j] for r in A) for j in active] for i in active]
    b = [sum(r[i] * s for r, s in zip(A, t)) for i in active]
    scale = [math.sqrt(G[k][k]) or 1.0 for k in range(n)]
    G = [[G[i][j] / scale[i] / scale[j] for j in range(n)] for i in range(n)]
    b = [b[i] / scale[i] for i in range(n)]
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(G[i][k]))
        if abs(G[pivot][k]) < 1e-9:
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
    return [v / s for v, s in zip(x, scale)]


def fit(studies):
    """The best of all sets of terms whose weights are not negative."""
    rows = [r for s in studies for r in s.rows if not r["crowded"]] or studies[0].rows
    A = [[v / r["seconds"] for v in terms(r["flops"], r["n"], r["ranks"])] for r in rows]
    best = None
    for count in range(1, 5):
        for active in itertools.combinations(range(4), count):
            x = least_squares(A, [1.0] * len(A), active) if count <= len(A) and 0 in active else None
            if x is None or min(x) < 0:
                continue
            error = sum((sum(r[i] * w for i, w in zip(active, x)) - 1.0) ** 2 for r in A)
            if best is None or error < best[0] - 1e-12:
                best = (error, dict(zip(active, x)))
    weights = [best[1].get(i, 0.0) for i in range(4)]
    off = max(abs(sum(w * v for w, v in zip(weights, r)) - 1.0) for r in A)
    return weights, off, len(A)


def model_at(study, weights, p):
    first = study.rows[0]
    grow = math.sqrt(p / first["ranks"]) if study.kind == "weak" else 1.0
    parts = terms(first["flops"] * grow**3, first["n"] * grow, p)
    return [w * v for w, v in zip(weights, parts)]


def write_data(out, study, weights):
    name = study.kind
    with open(os.path.join(out, "measured_%s.dat" % name), "w") as file:
        for r in study.rows:
            file.write("%d %.6g %.6g %.4f %.4f %d\n" % (r["ranks"], r["seconds"], r["ideal"], r["efficiency"],
                                                        r["communication"], r["crowded"]))
    with open(os.path.join(out, "model_%s.dat" % name), "w") as file:
        for p in MODEL_RANKS:
            parts = model_at(study, weights, p)
            file.write("%d %.6g %.6g %.6g\n" % (p, sum(parts), parts[0] + parts[1], parts[2] + parts[3]))


COLOURS = {"strong": "#1f5fa8", "weak": "#c2562d"}


def curves(kinds, columns, ideal):
    """Lines through all points; those with a core for each rank are filled, the others hollow."""
    said = []
    for kind in kinds:
        data, colour = '"measured_%s.dat"' % kind, COLOURS[kind]
        said.append("%s u 1:%s w l lw 4 lc rgb '%s' t '%s scaling'" % (data, columns, colour, kind))
        said.append("%s u ($6==0?$1:1/0):%s w p pt 7 ps 2 lc rgb '%s' notitle" % (data, columns, colour))
        said.append("%s u ($6==1?$1:1/0):%s w p pt 6 ps 1.8 lw 2 lc rgb '%s' notitle" % (data, columns, colour))
        if ideal:
            said.append("%s u 1:3 w l dt 3 lw 2 lc rgb '#888888' t '%s'" % (
                data, "ideal" if kind == kinds[0] else ""))
    return ", ".join(said)


def model_curves(kinds):
    said = []
    for kind in kinds:
        colour = COLOURS[kind]
        said.append("'model_%s.dat' u 1:2 w l dt 2 lw 3 lc rgb '%s' t '%s scaling, model'" % (kind, colour, kind))
        said.append("'model_%s.dat' u 1:4 w l dt 4 lw 2 lc rgb '%s' t 'its communication, model'" % (kind, colour))
        said.append("'measured_%s.dat' u ($6==0?$1:1/0):2 w p pt 7 ps 1.8 lc rgb '%s' t '%s scaling, measured'" % (kind, colour, kind))
    return ", ".join(said)


def plots_of(kinds, cores, counts):
    most = max(counts)
    share = "set object 1 rect from %g,graph 0 to graph 1,graph 1 fc rgb '#f0f0f0' fs noborder behind; " \
            "set label 1 \"more ranks\\nthan cores\" at %g,graph 0.12 center tc rgb '#666666'" % (
                cores * 1.2, math.sqrt(cores * 1.2 * most * 1.2))
    shaded = share if most > cores else ""
    log = "set logscale x 2; set xrange [%g:%g]; set xtics (%s); " % (
        0.85, most * 1.2, ", ".join("'%d' %d" % (n, n) for n in counts))
    return {
        "time": ("Time to solution", "seconds", log + "set logscale y; " + shaded,
                 curves(kinds, "2", True)),
        "efficiency": ("Parallel efficiency", "share of ideal",
                       log + "set yrange [0:1.15]; " + shaded,
                       curves(kinds, "4", False) + ", 1 w l dt 3 lw 2 lc rgb '#888888' notitle"),
        "communication": ("Time in MPI calls, waiting included", "share of the run",
                          log + "set yrange [0:1]; " + shaded, curves(kinds, "5", False)),
        "model": ("A model, not a measurement: flops + latency + bandwidth", "seconds",
                  "set logscale x 2; set logscale y; set format y '10^{%T}'; set xrange [0.85:5000]", model_curves(kinds))}


def draw(out, kinds, cores, counts):
    if not shutil.which("gnuplot"):
        print("no plots: gnuplot is not here")
        return []
    made = []
    for name, (title, label, scale, what) in plots_of(kinds, cores, counts).items():
        for ending, terminal in (("svg", "svg size 720,480 font 'Helvetica,14' enhanced background 'white'"),
                                 ("png", "pngcairo size 1440,960 font 'Helvetica,26' enhanced")):
            script = "\n".join([
                "set terminal " + terminal, "set output '%s.%s'" % (name, ending), "set title '{/:Bold %s}'" % title,
                "set xlabel 'MPI ranks'", "set ylabel '%s'" % label, "set grid lt 1 lw 1 lc rgb '#d8d8d8'", "set border 3",
                "set tics nomirror", "set key below center horizontal Left reverse samplen 3 spacing 1.3 width 1", scale, "plot " + what])
            done = subprocess.run(["gnuplot"], input=script, text=True, cwd=out, capture_output=True)
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


def main_table(rows):
    head = ["ranks", "rows", "seconds", "efficiency", "GF/s", "in MPI calls", "GiB a rank", ""]
    body = [["%d" % r["ranks"], "%d" % r["n"], "%.3g" % r["seconds"], "%.2f" % r["efficiency"], "%.3g" % r["gflops"],
             "%.0f %%" % (100 * r["communication"]), "%.3g" % r["memory"],
             "ranks share cores" if r["crowded"] else ""] for r in rows]
    return head, body


def as_markdown(head, body):
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head)] + body)


def as_html(head, body):
    cells = lambda tag, line: "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(c), tag) for c in line) + "</tr>"
    return "<table>" + cells("th", head) + "".join(cells("td", line) for line in body) + "</table>"


STYLE = """body{font:16px/1.5 Helvetica,Arial,sans-serif;max-width:62em;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:right}
img{width:49%}figure{margin:1em 0}.model{border:2px dashed #7a4fa3;padding:1em}.model img{width:75%}code{background:#f4f4f4}"""


def say_model(weights, off, count):
    rate = 1.0 / weights[0] / 1e9
    return ("fitted to %d points with a core for each rank, the worst of them %.0f %% off: %.3g GF/s a rank, %.2g ns "
            "an element, %.2g us a message, %.2g ns a number sent" % (count, 100 * off, rate, weights[1] * 1e9,
                                                                    weights[2] * 1e6, weights[3] * 1e9))


def page(out, studies, shown, model, plots, machine):
    picture = lambda n: '<img alt="%s" src="data:image/svg+xml;base64,%s">' % (
        n, base64.b64encode(open(os.path.join(out, n + ".svg"), "rb").read()).decode())
    tables = "".join(
        "<h2>%s scaling</h2><p><code>dkmap %s</code></p>%s<p>By phase: seconds of the slowest rank, and the share of "
        "them in MPI calls (waiting included); inner phases are part of outer ones.</p>%s" % (
            s.kind.capitalize(), html.escape(s.command), as_html(*main_table(s.rows)), as_html(*phase_table(s.rows)))
        for s in studies)
    return ("<!doctype html><html lang=en><meta charset=utf-8><title>Scaling of dkmap</title><style>%s</style>"
            "<h1>Scaling of dkmap</h1><p>%s</p><figure>%s</figure>%s"
            "<div class=model><h2>A model, not a measurement</h2><p>t(n, p) = flops / (r p) + c n&sup2; / p + "
            "a (n / 64) log&#8322; p + b n&sup2; log&#8322; p / &radic;p, %s. Curves to 4096 ranks say what these terms "
            "would come to on more such cores, and no more than that.</p>%s</div></html>" % (
                STYLE, html.escape(machine), "".join(picture(n) for n in plots if n != "model"), tables,
                html.escape(say_model(*model)), picture("model") if "model" in plots else ""))


def main():
    cores = int(os.environ.get("CORES", 0))
    studies = [Study(folder, cores or os.cpu_count()) for folder in sys.argv[1:]]
    hosts = {r.get("host") for s in studies for r in s.points.values()}
    if not cores and len(hosts) > 1:
        studies = [Study(folder, 10**9) for folder in sys.argv[1:]]
    out = studies[0].folder
    shown = {s.kind: s for s in reversed(studies)}  # the first of each kind is drawn
    kinds = [k for k in ("strong", "weak") if k in shown]
    model = fit(studies)
    for study in shown.values():
        write_data(out, study, model[0])
    plots = draw(out, kinds, cores or os.cpu_count(), sorted({r["ranks"] for s in shown.values() for r in s.rows}))
    first = next(iter(studies[0].points.values()))
    machine = "%d cores, dkmap %s, %s" % (cores or os.cpu_count(), first.get("version", ""), first.get("date", "")[:10])
    with open(os.path.join(out, "report.md"), "w") as file:
        for s in studies:
            file.write("%s scaling of `dkmap %s`\n\n%s\n\n%s\n\n" % (
                s.kind.capitalize(), s.command, as_markdown(*main_table(s.rows)), as_markdown(*phase_table(s.rows))))
        file.write("Model: %s.\n" % say_model(*model))
    with open(os.path.join(out, "report.html"), "w") as file:
        file.write(page(out, studies, shown, model, plots, machine))
    print(open(os.path.join(out, "report.md")).read())
    print(os.path.join(out, "report.html"))


main()
