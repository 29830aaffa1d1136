#include "cli/plot/plot_confusion.h"

#include <string.h>

enum { COUNTED = 25, NAME_LENGTH = 48 };

void confusion_name(const dkm_confusion *counts, const dkm_categories *names, dkm_idx k, char *out,
                    size_t size)
{
    dkm_idx length;

    if (names) {
        const char *name = dkm_categories_name(names, counts->label[k], &length);
        snprintf(out, size, "%.*s", length < 40 ? (int)length : 40, name);
    } else {
        snprintf(out, size, "%lld", (long long)counts->label[k]);
    }
}

/* Of many classes every so manieth is named; names below the matrix are turned where they would
 * touch. */
static void put_names(FILE *script, const confusion_picture *c)
{
    dkm_idx step = c->counts->classes / 50 + 1;
    char name[NAME_LENGTH];
    size_t longest = 0;

    fputs("set xtics () scale 0\nset ytics () scale 0\n", script);
    for (dkm_idx k = 0; k < c->counts->classes; k += step) {
        confusion_name(c->counts, c->names, k, name, sizeof name);
        for (int side = 0; side < 2; side++) {
            fprintf(script, "set %s add (", side ? "ytics" : "xtics");
            gnuplot_text(script, name, 16);
            fprintf(script, " %lld)\n", (long long)k);
        }
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    if (longest * (size_t)(c->counts->classes / step) > 50)
        fputs("set xtics rotate by 40 right\n", script);
}

static void put_cells(FILE *script, const dkm_confusion *c)
{
    fputs("$cells << EOD\n", script);
    for (dkm_idx i = 0; i < c->classes; i++) {
        const dkm_idx *row = c->count + i * c->classes;
        dkm_idx all = 0;
        for (dkm_idx j = 0; j < c->classes; j++)
            all += row[j];
        for (dkm_idx j = 0; j < c->classes; j++)
            fprintf(script, "%lld %lld %.6g %lld\n", (long long)j, (long long)i,
                    all > 0 ? (double)row[j] / (double)all : 0.0, (long long)row[j]);
    }
    fputs("EOD\n", script);
}

/* Counts are white on dark squares. */
static int draw_confusion(FILE *script, const void *what)
{
    const confusion_picture *c = what;
    double last = (double)c->counts->classes - 0.5;
    double size = c->counts->classes > 12 ? 0.7 : 1.0;

    put_cells(script, c->counts);
    fprintf(script,
            "unset grid\nset border 0\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]\n"
            "set xlabel 'predicted'\nset ylabel 'true'\nset size ratio 1\n"
            "set palette defined (0 '#f4f8fb', 1 '#003f66')\nset cbrange [0:1]\n"
            "set cblabel 'share of the true class'\n",
            last, last);
    put_names(script, c);
    fputs("plot $cells using 1:2:3 with image pixels", script);
    if (c->counts->classes <= COUNTED)
        fprintf(script,
                ", $cells using 1:2:($3 < 0.5 ? strcol(4) : '') with labels font ',%g' tc rgb "
                "'#222222', $cells using 1:2:($3 < 0.5 ? '' : strcol(4)) with labels font ',%g' tc "
                "rgb 'white'",
                13 * size, 13 * size);
    putc('\n', script);
    return 0;
}

drawing confusion_drawing(const confusion_picture *c)
{
    dkm_idx classes = c->counts->classes;
    int side = classes <= 12 ? 640 : classes <= 50 ? 860 : 1000;

    return (drawing){.draw = draw_confusion, .what = c, .width = side + 120, .height = side};
}
