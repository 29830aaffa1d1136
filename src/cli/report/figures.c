#include "cli/report/figures.h"

#include <math.h>

static int all_positive(dkm_idx count, const double *numbers)
{
    for (dkm_idx k = 0; k < count; k++)
        if (!(numbers[k] > 0))
            return 0;
    return 1;
}

static int draw_lines(FILE *script, const void *what)
{
    const lines_figure *f = what;
    int log_y = 1, log_x = f->logarithmic && all_positive(f->count, f->x);

    fputs("$lines << EOD\n", script);
    for (dkm_idx k = 0; k < f->count; k++) {
        fprintf(script, "%.17g", f->x[k]);
        for (int j = 0; j < f->lines; j++)
            fprintf(script, " %.17g", f->y[j][k]);
        putc('\n', script);
    }
    for (int j = 0; j < f->lines; j++)
        log_y &= all_positive(f->count, f->y[j]);
    fprintf(script, "EOD\nset xlabel '%s'\nset ylabel '%s'\nset key top center\n", f->x_label,
            f->y_label);
    fprintf(script, "%s%s", log_x ? "set logscale x\n" : "", log_y ? "set logscale y\n" : "");
    if (isfinite(f->marked))
        fprintf(script,
                "set arrow from first %.17g, graph 0 to first %.17g, graph 1 nohead "
                "dt 2 lc rgb '#888888'\n",
                f->marked, f->marked);
    for (int j = 0; j < f->lines; j++)
        fprintf(script, "%s$lines using 1:%d with linespoints pt 7 ps %g lw 1.8 lc rgb '%s' %s%s%s",
                j ? ", " : "plot ", j + 2, f->count > 100 ? 0.2 : 0.6, gnuplot_colour(j),
                f->lines > 1 ? "title '" : "notitle", f->lines > 1 ? f->name[j] : "",
                f->lines > 1 ? "'" : "");
    putc('\n', script);
    return 0;
}

drawing lines_drawing(const lines_figure *f)
{
    return (drawing){.draw = draw_lines, .what = f, .width = 560, .height = 380};
}

static int draw_bars(FILE *script, const void *what)
{
    const bars_figure *f = what;
    int spread = 0;

    fputs("set ytics () scale 0\n", script);
    for (int k = 0; k < f->count; k++) {
        fputs("set ytics add (", script);
        gnuplot_text(script, f->name[k], 30);
        fprintf(script, " %d)\n", k);
        spread |= f->most[k] > f->least[k];
    }
    fputs("$bars << EOD\n", script);
    for (int k = 0; k < f->count; k++)
        fprintf(script, "%d %.17g %.17g %.17g\n", k, f->mean[k], f->least[k], f->most[k]);
    fprintf(script,
            "EOD\nset yrange [%g:-0.6]\nset xrange [0:*]\nset xlabel '%s'\nset border 1\n"
            "unset grid\nset grid x back lc rgb '#dddddd' lt 1 lw 0.7\n"
            "plot $bars using ($2/2):1:($2/2):(0.36) with boxxyerror fs solid 0.75 noborder lc "
            "rgb '%s'",
            f->count - 0.4, f->label, gnuplot_colour(0));
    if (spread)
        fprintf(script, ", $bars using 2:1:3:4 with xerrorbars pt 0 lw 1.6 lc rgb '%s'",
                gnuplot_colour(1));
    putc('\n', script);
    return 0;
}

drawing bars_drawing(const bars_figure *f)
{
    return (drawing){
        .draw = draw_bars, .what = f, .width = 560, .height = 110 + 27 * (f->count + 1)};
}
