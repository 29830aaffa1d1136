#include "cli/plot/plot_scatter.h"

void scatter_put_title(FILE *script, const sample *points)
{
    if (points->count < points->m)
        fprintf(script, "%lld of %lld rows", (long long)points->count, (long long)points->m);
    else
        fprintf(script, "%lld rows", (long long)points->m);
}

static void draw_panel(FILE *script, const scatter_picture *s, int panel)
{
    const sample *points = s->points;

    fputs("$points << EOD\n", script);
    for (dkm_idx k = 0; k < points->count; k++) {
        const double *row = points->values + k * points->width;
        fprintf(script, "%.6g %.6g\n", row[panel], row[s->panels + panel]);
    }
    fputs("EOD\nset title '", script);
    if (s->columns > 1)
        fprintf(script, "column %d of %lld, ", panel, (long long)s->columns);
    scatter_put_title(script, points);
    fprintf(script,
            "'\nplot $points using 1:2 with points pt 7 ps %g lc rgb '#60%s', "
            "$points using 1:1 with lines lw 1.2 lc rgb '#555555'\n",
            points->count > 1000 ? 0.35 : 0.5, gnuplot_colour(0) + 1);
}

static int draw_scatter(FILE *script, const void *what)
{
    const scatter_picture *s = what;
    int panels = s->panels + (s->intervals != NULL), columns = panels == 1 ? 1 : 2;

    fprintf(script,
            "set multiplot layout %d,%d\nset xlabel 'true'\nset ylabel 'predicted'\n"
            "set size ratio 1\n",
            (panels + columns - 1) / columns, columns);
    for (int k = 0; k < s->panels; k++)
        draw_panel(script, s, k);
    if (s->intervals)
        reliability_draw_intervals(script, s->intervals);
    fputs("unset multiplot\n", script);
    return 0;
}

drawing scatter_drawing(const scatter_picture *s)
{
    int panels = s->panels + (s->intervals != NULL), columns = panels == 1 ? 1 : 2;

    return (drawing){.draw = draw_scatter,
                     .what = s,
                     .width = columns == 1 ? 640 : 1000,
                     .height = (columns == 1 ? 600 : 500) * ((panels + columns - 1) / columns)};
}
