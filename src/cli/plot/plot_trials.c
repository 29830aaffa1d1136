#include "cli/plot/plot_trials.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 12, PANELS_A_ROW = 3, VALUE_LENGTH = 64, VALUES_NAMED = 8 };

/* Where one trial stands on an axis. */
typedef struct plot_point {
    double x;
    char text[VALUE_LENGTH];
    dkm_idx trial;
} plot_point;

typedef struct axis {
    char name[VALUE_LENGTH];
    int numbers, logarithmic;
    dkm_idx count;
    plot_point *point; /* by value */
} axis;

static int count_axes(const char *label)
{
    int count = 1;

    for (const char *c = label; (c = strchr(c, ',')); c++)
        count++;
    return count < AXES ? count : AXES;
}

/* The k-th "name=value" of a label. */
static void take_piece(const char *label, int k, char name[VALUE_LENGTH], char text[VALUE_LENGTH])
{
    const char *from = label, *equals;
    size_t length;

    while (k-- > 0 && strchr(from, ','))
        from = strchr(from, ',') + 1;
    length = strcspn(from, ",");
    equals = memchr(from, '=', length);
    snprintf(name, VALUE_LENGTH, "%.*s", equals ? (int)(equals - from) : 7,
             equals ? from : "setting");
    from = equals ? equals + 1 : from;
    snprintf(text, VALUE_LENGTH, "%.*s", (int)strcspn(from, ","), from);
}

static int by_value(const void *a, const void *b)
{
    const plot_point *p = a, *q = b;
    int texts = strcmp(p->text, q->text);

    return p->x != q->x ? (p->x < q->x ? -1 : 1) : texts ? texts : p->trial < q->trial ? -1 : 1;
}

/* Words stand side by side. */
static void place_words(axis *a)
{
    double at = 0;

    for (dkm_idx k = 0; k < a->count; k++) {
        at += k > 0 && strcmp(a->point[k].text, a->point[k - 1].text) != 0;
        a->point[k].x = at;
    }
}

static int axis_open(axis *a, const trials *t, int k)
{
    *a = (axis){.numbers = 1, .count = t->count};
    a->point = malloc((size_t)t->count * sizeof *a->point);
    if (!a->point)
        return -1;
    for (dkm_idx p = 0; p < t->count; p++) {
        plot_point *here = &a->point[p];
        char *end;
        take_piece(t->trial[p].label, k, a->name, here->text);
        here->x = strtod(here->text, &end);
        here->trial = p;
        a->numbers &= end > here->text && *end == '\0' && isfinite(here->x);
    }
    for (dkm_idx p = 0; !a->numbers && p < t->count; p++)
        a->point[p].x = 0;
    qsort(a->point, (size_t)t->count, sizeof *a->point, by_value);
    if (!a->numbers)
        place_words(a);
    a->logarithmic =
        a->numbers && a->point[0].x > 0 && a->point[t->count - 1].x >= 8 * a->point[0].x;
    return 0;
}

static void put_point(FILE *script, const axis *a, dkm_idx k, const trials *t)
{
    const trial *here = &t->trial[a->point[k].trial];

    fprintf(script, "%.17g %.17g %.17g\n", a->point[k].x, here->mean, here->stderror);
}

static int is_better(const trials *t, dkm_idx a, dkm_idx b)
{
    double x = t->trial[a].mean, y = t->trial[b].mean;

    return t->greater_is_better ? x > y : x < y;
}

/* Least and greatest loss that the frame must hold. */
typedef struct frame {
    double low, high;
} frame;

/* Of each value the best trial; returns how many values there are. */
static dkm_idx put_best(FILE *script, const axis *a, const trials *t, frame *y)
{
    dkm_idx values = 0;

    for (dkm_idx k = 0, best; k < a->count; values++) {
        best = k;
        for (dkm_idx first = k; k < a->count && a->point[k].x == a->point[first].x; k++)
            if (is_better(t, a->point[k].trial, a->point[best].trial))
                best = k;
        put_point(script, a, best, t);
        const trial *shown = &t->trial[a->point[best].trial];
        y->low = fmin(y->low, shown->mean - shown->stderror);
        y->high = fmax(y->high, shown->mean + shown->stderror);
    }
    return values;
}

/* Values as they were typed, where they stand. */
static void put_values(FILE *script, const axis *a)
{
    fputs("set xtics ()\n", script);
    for (dkm_idx k = 0; k < a->count; k++)
        if (k == 0 || a->point[k].x > a->point[k - 1].x) {
            fputs("set xtics add (", script);
            gnuplot_text(script, a->point[k].text, 24);
            fprintf(script, " %.17g)\n", a->point[k].x);
        }
}

/* Room on both sides: dots far beyond the best of all values would flatten the curve, and are left
 * out. */
static void put_ranges(FILE *script, const axis *a, const frame *y)
{
    double first = a->point[0].x, last = a->point[a->count - 1].x;
    double margin = y->high > y->low ? 0.3 * (y->high - y->low) : 0.1 * fabs(y->high) + 1e-300;

    fprintf(script, "%s logscale x\n", a->logarithmic ? "set" : "unset");
    if (a->logarithmic)
        fprintf(script, "set xrange [%.17g:%.17g]\n", first * pow(first / last, 0.08),
                last * pow(last / first, 0.08));
    else
        fprintf(script, "set xrange [%.17g:%.17g]\n",
                first - (last > first ? 0.08 * (last - first) : 1),
                last + (last > first ? 0.08 * (last - first) : 1));
    if (isfinite(y->low) && isfinite(y->high))
        fprintf(script, "set yrange [%.17g:%.17g]\n", y->low - margin, y->high + margin);
}

/* Lines join the best of each value; where no two trials share a value, as in a random search, they
 * would join what does not belong together. */
static void draw_panel(FILE *script, const axis *a, const trials *t, int axes)
{
    frame y = {INFINITY, -INFINITY};
    dkm_idx values;

    fputs("$all << EOD\n", script);
    for (dkm_idx k = 0; k < a->count; k++)
        put_point(script, a, k, t);
    fputs("EOD\n$best << EOD\n", script);
    values = put_best(script, a, t, &y);
    fputs("EOD\n$chosen << EOD\n", script);
    for (dkm_idx k = 0; k < a->count; k++)
        if (a->point[k].trial == t->best)
            put_point(script, a, k, t);
    fputs("EOD\nset xlabel ", script);
    gnuplot_text(script, a->name, VALUE_LENGTH);
    fputs("\nset xtics autofreq\n", script);
    put_ranges(script, a, &y);
    if (!a->numbers || (a->logarithmic && values <= VALUES_NAMED))
        put_values(script, a);
    fprintf(script,
            "plot $all using 1:2 with points pt 7 ps 0.45 lc rgb '#a8a8a8', "
            "$best using 1:2:3 with %s pt 7 ps 0.9 lw 1.8 lc rgb '%s', "
            "$chosen using 1:2 with points pt 6 ps 2.2 lw 2 lc rgb '%s'\n",
            axes > 1 && values == t->count ? "yerrorbars" : "yerrorlines", gnuplot_colour(0),
            gnuplot_colour(1));
}

static int draw_trials(FILE *script, const void *what)
{
    const trials *t = what;
    int axes = count_axes(t->trial[0].label);
    int columns = axes < PANELS_A_ROW ? axes : PANELS_A_ROW;
    char title[200];

    fprintf(script, "set multiplot layout %d,%d title ", (axes + columns - 1) / columns, columns);
    snprintf(title, sizeof title, "best: %s", t->trial[t->best].label);
    gnuplot_text(script, title, 90);
    fputs("\nset ylabel ", script);
    gnuplot_text(script, t->loss, VALUE_LENGTH);
    putc('\n', script);
    for (int k = 0; k < axes; k++) {
        axis a;
        if (axis_open(&a, t, k) != 0)
            return -1;
        draw_panel(script, &a, t, axes);
        free(a.point);
    }
    fputs("unset multiplot\n", script);
    return 0;
}

drawing trials_drawing(const trials *t)
{
    int axes = t->count > 0 ? count_axes(t->trial[0].label) : 1;
    int columns = axes < PANELS_A_ROW ? axes : PANELS_A_ROW;

    return (drawing){.draw = draw_trials,
                     .what = t,
                     .width = columns == 1 ? 640 : 440 * columns,
                     .height = 420 * ((axes + columns - 1) / columns)};
}
