#include "cli/plot/plot_coordinates.h"

#include "cli/plot/plot_scatter.h"

/* The points of one class, or all of them. */
static void put_points(FILE *script, const coordinates_picture *c, dkm_idx class)
{
    fprintf(script, "$points%lld << EOD\n", (long long)class);
    for (dkm_idx k = 0; k < c->points->count; k++) {
        const double *row = c->points->values + k * c->points->width;
        if (c->classes > 0 && row[2] != (double)c->label[class])
            continue;
        if (c->coordinates == 2)
            fprintf(script, "%.6g %.6g %.6g\n", row[0], row[1], row[2]);
        else
            fprintf(script, "%lld %.6g %.6g\n", (long long)(k * c->points->m / c->points->count),
                    row[0], row[2]);
    }
    fputs("EOD\n", script);
}

static void put_name(FILE *script, const coordinates_picture *c, dkm_idx class)
{
    char name[48];
    dkm_idx length;

    if (c->names) {
        const char *text = dkm_categories_name(c->names, c->label[class], &length);
        snprintf(name, sizeof name, "%.*s", length < 40 ? (int)length : 40, text);
    } else {
        snprintf(name, sizeof name, "%lld", (long long)c->label[class]);
    }
    gnuplot_text(script, name, 24);
}

/* Classes beyond the eighth have the colours again with another shape. */
static void plot_classes(FILE *script, const coordinates_picture *c, double size)
{
    static const int shapes[] = {7, 9};

    for (dkm_idx k = 0; k < c->classes; k++) {
        fprintf(script, "%s$points%lld using 1:2 with points pt %d ps %g lc rgb '#40%s' title ",
                k ? ", " : "plot ", (long long)k, shapes[k / 8 % 2], size,
                gnuplot_colour((int)k) + 1);
        put_name(script, c, k);
    }
    putc('\n', script);
}

static int draw_coordinates(FILE *script, const void *what)
{
    const coordinates_picture *c = what;
    double size = c->points->count > 1000 ? 0.4 : 0.6;

    fputs("set title '", script);
    scatter_put_title(script, c->points);
    fprintf(script, "'\nset xlabel '%s'\nset ylabel '%s'\nset key outside right top samplen 1\n",
            c->coordinates == 2 ? "first coordinate" : "row",
            c->coordinates == 2 ? "second coordinate" : "coordinate");
    for (dkm_idx k = 0; k < (c->classes > 0 ? c->classes : 1); k++)
        put_points(script, c, k);
    if (c->classes > 0)
        plot_classes(script, c, size);
    else if (c->coloured)
        fprintf(script,
                "set palette defined (0 '#440154', 1 '#3b528b', 2 '#21918c', 3 '#5ec962', "
                "4 '#fde725')\nplot $points0 using 1:2:3 with points pt 7 ps %g lc palette\n",
                size);
    else
        fprintf(script, "plot $points0 using 1:2 with points pt 7 ps %g lc rgb '#40%s'\n", size,
                gnuplot_colour(0) + 1);
    return 0;
}

drawing coordinates_drawing(const coordinates_picture *c)
{
    return (drawing){
        .draw = draw_coordinates, .what = c, .width = c->coloured ? 800 : 680, .height = 600};
}
