#!/usr/bin/env python3
"""The report of scaling studies: see jobs/study/scaling_study.sh. Needs nothing but Python and gnuplot.

  scaling_report.py STUDY... [FILE.jsonl...]

A STUDY is a folder of `scaling_study.sh make`: the fastest repeat of each rank count is taken. A FILE holds
records of other runs; what they are for is seen from them:

  bench comm             bytes and messages of a factor, dkmap's own and ScaLAPACK's, against m^2 / sqrt(P)
  any, of several counts memory per rank against c / P; ranks x threads where the product is the same
  simulated ones         efficiency on simulated nodes, in a section of its own
  calibration files (FILE.calibration)   the roofline of Gram matrix, factor and K V

Nothing is fitted and nothing extrapolated. Writes report.md, plots as SVG and report.html, one page that
needs no other file, into the folder of the first study."""
import base64
import html
import json
import math
import os
import shutil
import subprocess
import sys

INNER = {"checkpoint"}
COLORS = ("#1f5fa8", "#c2562d", "#3a7d44", "#7a4fa3", "#8a6d00", "#555555")


# ---- records ----

def read_lines(path):
    with open(path) as file:
        return [json.loads(line) for line in file if line.strip()]


def seconds(record):
    return record.get("seconds") or sum(p["seconds"]["max"] for p in record["phases"].values())


def flops(record):
    return record.get("flop_rate", 0) * seconds(record) or sum(
        p.get("flops", 0.0) for p in record["phases"].values())


def rows_of(record):
    return record.get("n") or record.get("m") or 0


def outer_phases(record):
    """Phases without those that lie within others: their times are in the outer ones."""
    inner = INNER | ({"factor"} if "solve" in record["phases"] else set())
    return {n: p for n, p in record["phases"].items() if n not in inner}


def in_mpi(record):
    phases = outer_phases(record)
    whole = sum(p["seconds"]["mean"] for p in phases.values())
    return sum(p.get("communication", 0.0) for p in phases.values()) / whole if whole else 0.0


def fastest(records):
    best = {}
    for r in records:
        key = r["ranks"]
        if key not in best or seconds(r) < seconds(best[key]):
            best[key] = r
    return dict(sorted(best.items()))


class Study:
    """The records of one folder: strong scaling, or weak with a constant share of the matrix per rank."""

    def __init__(self, folder, cores):
        with open(os.path.join(folder, "about")) as file:
            self.kind, self.command = file.read().split("\n")[:2]
        self.folder, found = folder, []
        for place, _, files in os.walk(folder):
            if "record.jsonl" in files:
                found += read_lines(os.path.join(place, "record.jsonl"))
        if not found:
            sys.exit("scaling_report.py: no records in %s yet" % folder)
        self.repeats = {p: sorted(seconds(r) for r in found if r["ranks"] == p) for p in {r["ranks"] for r in found}}
        self.points, self.cores = fastest(found), cores

    def rows(self):
        first = self.points[min(self.points)]
        base, each = seconds(first), flops(first) / first["ranks"]
        for p, r in self.points.items():
            growth = flops(r) / p / each if each else 1.0
            ideal = base * (growth if self.kind == "weak" else first["ranks"] / p)
            yield {"ranks": p, "n": rows_of(r), "seconds": seconds(r), "slowest": self.repeats[p][-1],
                   "growth": growth, "ideal": ideal, "efficiency": ideal / seconds(r),
                   "gflops": flops(r) / seconds(r) / 1e9, "mpi": in_mpi(r), "crowded": p > self.cores,
                   "resident": r["peak_resident_bytes"]["max"],
                   "allocated": r["peak_allocated_bytes"]["max"], "phases": r["phases"]}


# ---- tables ----

def table(head, body):
    return {"head": head, "body": [[str(c) for c in line] for line in body]}


def as_markdown(t):
    return "\n".join("| " + " | ".join(line) + " |" for line in [t["head"], ["---"] * len(t["head"])] + t["body"])


def as_html(t):
    def line(tag, cells):
        return "<tr>" + "".join("<%s>%s</%s>" % (tag, html.escape(c), tag) for c in cells) + "</tr>"
    return "<div class=table><table>" + line("th", t["head"]) + "".join(line("td", b) for b in t["body"]) + "</table></div>"


def study_table(study):
    head = ["ranks", "rows", "seconds", "slowest repeat", "efficiency", "GF/s", "in MPI calls", "MB per rank", ""]
    body = [["%d" % r["ranks"], "%d" % r["n"], "%.3g" % r["seconds"], "%.3g" % r["slowest"], "%.2f" % r["efficiency"],
             "%.3g" % r["gflops"], "%.0f %%" % (100 * r["mpi"]), "%.0f" % (r["resident"] / 1e6),
             "ranks share cores" if r["crowded"] else ""] for r in study.rows()]
    if study.kind == "weak":
        head.insert(2, "work per rank")
        for line, r in zip(body, study.rows()):
            line.insert(2, "%.2f x" % r["growth"])
    return table(head, body)


def phase_table(study):
    """Efficiency of each phase: its time on the fewest ranks, by its work per rank, against its time."""
    rows = list(study.rows())
    first = rows[0]
    names = sorted(first["phases"], key=lambda n: -first["phases"][n]["seconds"]["max"])[:6]
    body = []
    for r in rows:
        line = ["%d" % r["ranks"]]
        for n in names:
            now, then = r["phases"].get(n), first["phases"][n]
            if not now or now["seconds"]["max"] <= 0:
                line.append("-")
                continue
            work = (now["flops"] / r["ranks"]) / (then["flops"] / first["ranks"]) if then.get("flops") and now.get(
                "flops") else (first["ranks"] / r["ranks"]) * (r["n"] / first["n"]) ** 2
            share = now.get("communication", 0.0) / now["seconds"]["max"]
            line.append("%.3g s, %.2f, %.0f %%" % (now["seconds"]["max"],
                                                   then["seconds"]["max"] * work / now["seconds"]["max"], 100 * share))
        body.append(line)
    return table(["ranks"] + names, body)


def factor_table(records):
    """Bytes of the factor, own and ScaLAPACK's, beside the bound of Ballard et al. 2010 for it."""
    body = []
    for r in sorted(records, key=lambda r: (r["ranks"], r.get("factor", ""))):
        f = r["phases"]["factor"]["mpi"]
        bound = 8.0 * r["n"] ** 2 / math.sqrt(r["ranks"])
        body.append(["%d" % r["ranks"], r.get("factor", "own"), "%d" % r["n"], "%.1f" % (bound / 1e6)] +
                    ["%.1f" % (f["bytes"][k] / 1e6) for k in ("mean", "max")] +
                    ["%.2f" % (f["bytes"]["max"] / bound), "%.0f" % f["messages"]["mean"]])
    return table(["ranks", "factor", "m", "m²/√P words, MB", "sent, mean", "sent, max", "max / bound", "messages"], body)


def memory_table(records):
    """Arrays of the fullest rank, and what they would be if all of one rank's were divided."""
    best = fastest(records)
    first = best[min(best)]
    base = first["peak_allocated_bytes"]["max"] * first["ranks"]
    return table(["ranks", "allocated, MB", "c / P, MB", "beyond c / P"], [
        ["%d" % p, "%.2f" % (r["peak_allocated_bytes"]["max"] / 1e6), "%.2f" % (base / p / 1e6),
         "%.2f MB" % ((r["peak_allocated_bytes"]["max"] - base / p) / 1e6)] for p, r in best.items()])


def simulated_efficiency(record, phase=None):
    """Against the rate of a large product on every rank: m^3 / 3 flops of the factor, the rest is overhead."""
    n, p = record["n"], record["ranks"]
    t = record["phases"][phase]["seconds"]["max"] if phase else seconds(record)
    return n ** 3 / 3.0 / p / record["gemm_rate"] / t


def simulated_table(records):
    one = [r for r in records if r["ranks"] == 1]
    body = []
    for r in sorted(records, key=lambda r: (r["ranks"], r["n"])):
        relative = "%.2f" % (seconds(one[0]) * (r["n"] / one[0]["n"]) ** 3 / r["ranks"] / seconds(r)) if one else "-"
        f, sampled = r["phases"]["factor"], r.get("sampled_panels", 0)
        body.append(["%d%s" % (r["ranks"], " (sampled)" if sampled else ""), "%d" % r["n"], "%.4g" % seconds(r),
                     "%.2f" % simulated_efficiency(r), "%.2f" % simulated_efficiency(r, "factor"), relative] +
                    (["-", "-"] if sampled else
                     ["%.1f / %.1f" % (f["mpi"]["bytes"]["mean"] / 1e6, f["mpi"]["bytes"]["max"] / 1e6),
                      "%.0f" % f["mpi"]["messages"]["mean"]]))
    return table(["ranks", "rows", "seconds", "fit, of gemm", "factor, of gemm", "fit, of one rank",
                  "factor sends, MB mean / max", "messages"], body)


def iso_table(records, want=0.5):
    """Rows at which the simulated fit reaches an efficiency, by interpolation between simulated sizes alone."""
    body = []
    for p in sorted({r["ranks"] for r in records}):
        points = sorted((r["n"], simulated_efficiency(r)) for r in records if r["ranks"] == p)
        for (n0, e0), (n1, e1) in zip(points, points[1:]):
            if (e0 - want) * (e1 - want) <= 0 and e0 != e1:
                n = math.exp(math.log(n0) + (want - e0) / (e1 - e0) * math.log(n1 / n0))
                body.append(["%d" % p, "%.0f" % n, "%.0f" % (n / math.sqrt(p))])
                break
    return table(["ranks", "rows for efficiency %.2f" % want, "rows / √ranks"], body) if body else None


def threads_table(records):
    best = {}
    for r in records:
        key = (r["ranks"] * r.get("threads", 1), r["command"], rows_of(r), r["ranks"], r.get("threads", 1))
        if key not in best or seconds(r) < seconds(best[key]):
            best[key] = r
    body = [["%d x %d" % (k[3], k[4]), k[1], "%d" % k[2], "%.3g" % seconds(r)] for k, r in sorted(best.items())]
    return table(["ranks x threads", "command", "rows", "seconds"], body)


# ---- the roofline ----

def read_calibration(path):
    rates = {}
    with open(path) as file:
        for line in file:
            name, value = line.split()
            rates[name] = float(value)
    return rates


def kernels_of(rates, d=784, s=8, block=256):
    """Flops per byte of memory traffic of a rank, and flops per second as calibrated."""
    column, element = rates["gram_column"], rates["gram_element"]
    return [("Gram matrix, %d columns" % d, 2.0 * d / 16.0, 2.0 * d / (column * d + element) / rates["ranks"]),
            ("Cholesky factor", 2.0 * block / 16.0, 1.0 / rates["double_cube"] / rates["ranks"]),
            ("K V, %d columns" % s, 2.0 * 2.0 * s / 8.0, 2.0 * s / 8.0 * rates["rank_skinny_bytes"])]


def roofline_table(rates):
    peak, memory = rates["rank_gemm_double"], rates["rank_copy_bytes"]
    return table(["kernel", "flops per byte", "roof, GF/s", "calibrated, GF/s", "of the roof"], [
        [name, "%.1f" % x, "%.1f" % (min(peak, x * memory) / 1e9), "%.1f" % (y / 1e9),
         "%.2f" % (y / min(peak, x * memory))] for name, x, y in kernels_of(rates)])


# ---- plots ----

def gnuplot(out, name, title, xlabel, ylabel, setup, what):
    script = "\n".join([
        "set terminal svg size 760,500 font 'Helvetica,17' enhanced background 'white'", "set output '%s.svg'" % name,
        "set title '{/:Bold %s}'" % title, "set xlabel '%s'" % xlabel, "set ylabel '%s'" % ylabel,
        "set grid lt 1 lw 1 lc rgb '#d8d8d8'", "set border 3", "set tics nomirror",
        "set key below center horizontal Left reverse samplen 2 spacing 1.2", setup, "plot " + ", ".join(what)])
    done = subprocess.run(["gnuplot"], input=script, text=True, cwd=out, capture_output=True, check=False)
    if done.returncode:
        sys.exit("scaling_report.py: gnuplot, %s: %s" % (name, done.stderr.strip()))
    return name


def put_data(out, name, lines):
    with open(os.path.join(out, name + ".dat"), "w") as file:
        file.writelines(" ".join("%.8g" % v for v in line) + "\n" for line in lines)
    return "'%s.dat'" % name


def rank_axis(counts):
    counts = sorted(set(counts))
    return "set logscale x 2; set xrange [%g:%g]; set xtics (%s); " % (
        min(counts) * 0.85, max(counts) * 1.2, ", ".join("'%d' %d" % (n, n) for n in counts))


def draw_studies(out, studies):
    made, time, eff, counts = [], [], [], []
    for k, s in enumerate(studies):
        rows = list(s.rows())
        counts += [r["ranks"] for r in rows]
        data = put_data(out, "study%d" % k, [(r["ranks"], r["seconds"], r["ideal"], r["efficiency"], r["crowded"]) for r in rows])
        color, name = COLORS[k % len(COLORS)], "%s %d" % (s.kind, rows[0]["n"])
        time.append("%s u 1:2 w lp pt 7 ps 1.2 lw 4 lc rgb '%s' t '%s'" % (data, color, name))
        time.append("%s u 1:3 w l dt 3 lw 2 lc rgb '%s' t '%s'" % (data, "#888888", "ideal" if k == 0 else ""))
        eff.append("%s u 1:4 w lp pt 7 ps 1.2 lw 4 lc rgb '%s' t '%s'" % (data, color, name))
    made.append(gnuplot(out, "time", "Time to solution", "MPI ranks", "seconds", rank_axis(counts) + "set logscale y", time))
    made.append(gnuplot(out, "efficiency", "Parallel efficiency, measured", "MPI ranks", "share of ideal",
                        rank_axis(counts) + "set yrange [0:1.15]", eff + ["1 w l dt 3 lw 2 lc rgb '#888888' notitle"]))
    return made


def draw_counts(out, records):
    what, counts = [], [r["ranks"] for r in records]
    for k, kind in enumerate(sorted({r.get("factor", "own") for r in records})):
        mine = sorted((r for r in records if r.get("factor", "own") == kind), key=lambda r: r["ranks"])
        data = put_data(out, "factor%d" % k, [(r["ranks"], r["phases"]["factor"]["mpi"]["bytes"]["mean"] / 1e6,
                                               r["phases"]["factor"]["mpi"]["bytes"]["max"] / 1e6) for r in mine])
        name = "dkmap" if kind == "own" else "ScaLAPACK"
        what.append("%s u 1:3 w lp pt 7 lw 4 lc rgb '%s' t '%s, fullest rank'" % (data, COLORS[k], name))
        what.append("%s u 1:2 w lp pt 6 dt 2 lw 3 lc rgb '%s' t 'mean'" % (data, COLORS[k]))
    n = records[0]["n"]
    data = put_data(out, "bound", [(p, 8e-6 * n * n / math.sqrt(p)) for p in sorted(set(counts))])
    what.append("%s w l dt 3 lw 3 lc rgb '#888888' t 'm^2 / sqrt(P) words'" % data)
    return gnuplot(out, "bytes", "Sent by a rank for the factor, m = %d (counted)" % n, "MPI ranks", "MB",
                   rank_axis(counts) + "set logscale y 2", what)


def draw_memory(out, records):
    best = fastest(records)
    first = best[min(best)]
    base = first["peak_allocated_bytes"]["max"] * first["ranks"]
    data = put_data(out, "memory", [(p, r["peak_allocated_bytes"]["max"] / 1e6, base / p / 1e6) for p, r in best.items()])
    return gnuplot(out, "memory_per_rank", "Arrays of the fullest rank (counted)", "MPI ranks", "MB", rank_axis(best) + "set logscale y",
                   ["%s u 1:2 w lp pt 7 lw 4 lc rgb '%s' t 'allocated'" % (data, COLORS[0]),
                    "%s u 1:3 w l dt 3 lw 3 lc rgb '#888888' t 'c / P'" % data])


def draw_roofline(out, rates):
    peak, memory = rates["rank_gemm_double"] / 1e9, rates["rank_copy_bytes"] / 1e9
    what = ["(x * %g < %g ? x * %g : %g) w l lw 4 lc rgb '#888888' t 'memory and gemm'" % (memory, peak, memory, peak)]
    for k, (name, x, y) in enumerate(kernels_of(rates)):
        what.append("%s w p pt 7 ps 2 lc rgb '%s' t '%s'" % (put_data(out, "roof%d" % k, [(x, y / 1e9)]), COLORS[k], name))
    return gnuplot(out, "roofline", "Roofline of one rank (calibrated)", "flops per byte", "GF/s",
                   "set logscale xy; set xrange [0.5:512]; set yrange [1:%g]" % (2 * peak), what)


def draw_simulated(out, records):
    weak = sorted((r for r in records if r["ranks"] > 1), key=lambda r: r["ranks"])
    data = put_data(out, "simulated", [(r["ranks"], simulated_efficiency(r), simulated_efficiency(r, "factor")) for r in weak])
    return gnuplot(out, "simulated", "SIMULATED efficiency, constant memory per rank", "simulated MPI ranks", "share of gemm on all ranks",
                   rank_axis([r["ranks"] for r in weak]) + "set yrange [0:1.1]",
                   ["%s u 1:2 w lp pt 7 dt 2 lw 4 lc rgb '%s' t 'krr fit, simulated'" % (data, COLORS[3]),
                    "%s u 1:3 w lp pt 6 dt 2 lw 4 lc rgb '%s' t 'factor, simulated'" % (data, COLORS[1])])


# ---- the page ----

STYLE = """body{font:16px/1.55 Helvetica,Arial,sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}
h1,h2{line-height:1.2}.table{overflow-x:auto}table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}
td,th{padding:.3em .8em;border-bottom:1px solid #ddd;text-align:right;white-space:nowrap}td:first-child,th:first-child{text-align:left}
img{width:100%;max-width:47em;display:block;margin:1em auto}code{background:#f4f4f4;overflow-wrap:anywhere}
.simulated{border:2px dashed #7a4fa3;padding:0 1em;margin:2em 0}.note{color:#666}"""


class Page:
    def __init__(self, title, about):
        self.html = ["<h1>%s</h1><p class=note>%s</p>" % (html.escape(title), html.escape(about))]
        self.md = ["# %s\n\n%s\n" % (title, about)]

    def head(self, text):
        self.html.append("<h2>%s</h2>" % html.escape(text))
        self.md.append("\n## %s\n" % text)

    def say(self, text):
        self.html.append("<p>%s</p>" % html.escape(text))
        self.md.append(text + "\n")

    def code(self, text):
        self.html.append("<p><code>%s</code></p>" % html.escape(text))
        self.md.append("`%s`\n" % text)

    def table(self, t):
        if t:
            self.html.append(as_html(t))
            self.md.append(as_markdown(t) + "\n")

    def picture(self, out, name):
        with open(os.path.join(out, name + ".svg"), "rb") as file:
            data = base64.b64encode(file.read()).decode()
        self.html.append('<img alt="%s" src="data:image/svg+xml;base64,%s">' % (name, data))

    def write(self, out):
        with open(os.path.join(out, "report.md"), "w") as file:
            file.write("\n".join(self.md))
        with open(os.path.join(out, "report.html"), "w") as file:
            file.write("<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
                       "content='width=device-width'><title>Scaling of dkmap</title><style>%s</style>%s</html>\n" % (
                           STYLE, "\n".join(self.html)))


def add_studies(page, out, studies, plots):
    page.head("Time to solution")
    page.say("Fastest of the repeats of each rank count; the slowest is in the table. Ranks beyond the cores share "
             "them: such runs show that they end, and no more.")
    if plots:
        for name in draw_studies(out, studies):
            page.picture(out, name)
    for s in studies:
        page.head("Weak scaling, constant memory per rank" if s.kind == "weak" else "Strong scaling")
        page.code("dkmap " + s.command)
        if s.kind == "weak":
            page.say("Rows grow with the square root of the ranks, so the work per rank grows too, as the table says; "
                     "efficiency compares with the time of that work.")
        page.table(study_table(s))
        page.say("By phase: seconds of the slowest rank, efficiency, share in MPI calls with waiting; "
                 "phase solve contains factor.")
        page.table(phase_table(s))


def add_counts(page, out, records, plots):
    comm = [r for r in records if r["command"] == "bench comm" and "factor" in r["phases"]]
    if comm:
        page.head("Bytes and messages of the factor, counted")
        page.say("What a rank gives to MPI, the same on any machine. The bound is that of communication-optimal "
                 "factorizations, m²/√P words, constants left out.")
        sending = [r for r in comm if r["ranks"] > 1]
        if plots and sending:
            page.picture(out, draw_counts(out, sending))
        page.table(factor_table(sending))
        own = [r for r in comm if r.get("factor", "own") == "own"]
        if len({r["ranks"] for r in own}) > 1:
            page.head("Memory per rank")
            page.say("Arrays of the fullest rank in that run, against those of the fewest ranks divided evenly; what "
                     "lies beyond are panels that grow with m/√P.")
            if plots:
                page.picture(out, draw_memory(out, own))
            page.table(memory_table(own))
    rest = [r for r in records if r["command"] != "bench comm"]
    if rest:
        page.head("Ranks and threads")
        page.table(threads_table(rest))


def add_simulated(page, out, records, plots):
    krr = [r for r in records if r["command"] == "simulate krr"]
    if not krr:
        return
    page.html.append("<div class=simulated>")
    page.head("Simulated, not measured")
    page.say("The distributed code itself on simulated nodes (%s), its products timed at the calibrated rate of one "
             "rank (%.1f GF/s of a large product). Caches, memory buses, noise and other users are not in it, so these "
             "times are a bound from below; bytes and messages are those of real runs. Efficiency is m³ / 3 flops over "
             "ranks, seconds and that rate." % (krr[0]["simulated"], krr[0]["gemm_rate"] / 1e9))
    if any(r.get("sampled_panels") for r in krr):
        page.say("Sampled: of the factor only panels at a few places were simulated, and their times integrated; "
                 "nothing is counted in those runs.")
    weak = {}
    for r in krr:
        weak.setdefault(round(r["n"] / math.sqrt(r["ranks"])), []).append(r)
    longest = max(weak.values(), key=len)
    if plots and len(longest) > 1:
        page.picture(out, draw_simulated(out, longest))
    page.table(simulated_table(longest))
    others = [r for r in krr if r not in longest]
    if others:
        page.say("Other sizes:")
        page.table(simulated_table(others))
        iso = iso_table(krr)
        if iso:
            page.say("Isoefficiency: rows that keep the fit at an efficiency, between simulated sizes. A factor that "
                     "sends m²/√P words needs rows to grow with √ranks; the last column is then constant.")
            page.table(iso)
    page.html.append("</div>")


def main():
    given = sys.argv[1:]
    if not given or given[0] in ("-h", "--help"):
        print(__doc__)
        return 0 if given else 2
    cores = int(os.environ.get("CORES", 0)) or os.cpu_count()
    studies = [Study(f, cores) for f in given if os.path.isdir(f)]
    records = [r for f in given if f.endswith(".jsonl") for r in read_lines(f)]
    rates = [read_calibration(f) for f in given if f.endswith(".calibration")]
    if not studies:
        sys.exit("scaling_report.py: give the folder of a study")
    out, first = studies[0].folder, next(iter(studies[0].points.values()))
    plots = bool(shutil.which("gnuplot"))
    if not plots:
        print("no plots: gnuplot is not here")
    page = Page("Scaling of dkmap", "%d cores, dkmap %s, %s%s" % (
        cores, first.get("version", ""), first.get("date", "")[:10],
        "; " + os.environ["MACHINE_NOTE"] if os.environ.get("MACHINE_NOTE") else ""))
    add_studies(page, out, studies, plots)
    add_counts(page, out, [r for r in records if "simulated" not in r], plots)
    for r in rates:
        page.head("Roofline")
        page.say("Flops per second of one rank against flops per byte of memory traffic; the roof is a copy's bytes per "
                 "second and the rate of a large product, all of one calibration.")
        if plots:
            page.picture(out, draw_roofline(out, r))
        page.table(roofline_table(r))
    add_simulated(page, out, [r for r in records if "simulated" in r], plots)
    page.write(out)
    print(os.path.join(out, "report.html"))
    return 0


sys.exit(main())
