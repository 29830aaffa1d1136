/* Random search (Bergstra and Bengio 2012, JMLR 13:281-305): of every name and list a value by
 * itself. In N trials each setting takes N values, where a grid of N points repeats few of each.
 *
 * The numbers behind draw t are dkm_random_uniform(seed, STREAM, t, axis), the same on any number of
 * ranks. Kernels and settings that were drawn are listed once each; which of them go together is
 * stored in a table of kernels x settings, replicated. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dkmap/random.h>

#include "cli/param_search/grid_search.h"

#define STREAM   0x747269616c73u
#define ATTEMPTS 50 /* per trial, where draws repeat */

typedef struct draws {
    int names, lists, width; /* values per trial: those of the names, then those of the lists */
    int64_t count;
    const char **text; /* of each trial and value */
    char *made;        /* RANGE_TEXT bytes for each of them */
} draws;

static const search_axis *axis_at(const grid_search *s, int k)
{
    int names = s->param_grid.names;

    return k < names ? &s->param_grid.name[k].axis : &s->axis[k - names];
}

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether trials a and b agree in values [first, last). */
static int same_values(const draws *d, int64_t a, int64_t b, int first, int last)
{
    for (int k = first; k < last; k++)
        if (!same_text(d->text[a * d->width + k], d->text[b * d->width + k]))
            return 0;
    return 1;
}

/* The first trial that agrees with t in those values. */
static int64_t first_same(const draws *d, int64_t t, int first, int last)
{
    int64_t other = 0;

    while (!same_values(d, other, t, first, last))
        other++;
    return other;
}

static void draw_all(const grid_search *s, int64_t trials, draws *d)
{
    uint64_t seed = dkm_ctx_seed(s->r->ctx);

    for (int64_t a = 0; a < ATTEMPTS * trials && d->count < trials; a++) {
        for (int k = 0; k < d->width; k++) {
            int64_t at = d->count * d->width + k;
            const search_axis *axis = axis_at(s, k);
            double u = dkm_random_uniform(seed, STREAM, (uint64_t)a, (uint64_t)k);
            d->text[at] = axis->count ? search_axis_draw(axis, u, d->made + at * RANGE_TEXT) : NULL;
        }
        d->count += first_same(d, d->count, 0, d->width) == d->count;
    }
}

/* Number the distinct tuples of values [first, last); returns how many there are.
 * @param[out] number  of each trial, that of its tuple */
static int64_t number_tuples(const draws *d, int first, int last, int64_t *number)
{
    int64_t distinct = 0;

    for (int64_t t = 0; t < d->count; t++) {
        int64_t same = first_same(d, t, first, last);
        number[t] = same < t ? number[same] : distinct++;
    }
    return distinct;
}

static void copy_tuples(const draws *d, int first, int last, const int64_t *number, const char **to)
{
    for (int64_t t = 0; t < d->count; t++)
        for (int k = first; k < last; k++)
            to[number[t] * (last - first) + k - first] = d->text[t * d->width + k];
}

/* List what was drawn. */
static int take_draws(grid_search *s, const draws *d, int64_t *kernel, int64_t *setting)
{
    param_grid *t = &s->param_grid;

    s->kernels = t->count = number_tuples(d, 0, d->names, kernel);
    s->settings = number_tuples(d, d->names, d->width, setting);
    free(t->value);
    t->value = calloc((size_t)(t->count * d->names) + 1, sizeof *t->value);
    s->value = calloc((size_t)(s->settings * d->lists) + 1, sizeof *s->value);
    s->point = calloc((size_t)d->count, sizeof *s->point);
    s->wanted = calloc((size_t)(s->kernels * s->settings), 1);
    if (!t->value || !s->value || !s->point || !s->wanted)
        return 0;
    copy_tuples(d, 0, d->names, kernel, t->value);
    copy_tuples(d, d->names, d->width, setting, s->value);
    s->trials = d->count;
    for (int64_t k = 0; k < d->count; k++) {
        s->point[k] = kernel[k] * s->settings + setting[k];
        s->wanted[s->point[k]] = 1;
    }
    return 1;
}

int grid_search_is_covered(const grid_search *s, int64_t trials)
{
    for (int k = 0; k < s->param_grid.names + grid_search_lists(s); k++)
        if (search_axis_has_range(axis_at(s, k)))
            return 0;
    return s->kernels * s->settings <= trials;
}

static dkm_local draw(grid_search *s, int64_t trials)
{
    draws d = {.names = s->param_grid.names, .lists = grid_search_lists(s)};
    int64_t *number = calloc((size_t)trials * 2, sizeof *number);
    size_t values;
    int stored = 0;

    d.width = d.names + d.lists;
    values = (size_t)(trials + 1) * (size_t)d.width + 1;
    d.text = calloc(values, sizeof *d.text);
    d.made = calloc(values, RANGE_TEXT);
    if (number && d.text && d.made) {
        draw_all(s, trials, &d);
        stored = take_draws(s, &d, number, number + trials);
    }
    s->drawn = d.made;
    free(d.text);
    free(number);
    return stored ? DKM_LOCAL_OK
                  : dkm_fail(s->r->ctx, DKM_ERR_MEMORY, "no memory for %lld trials",
                             (long long)trials);
}

dkm_status grid_search_draw(grid_search *s, int64_t trials)
{
    return dkm_agree(s->r->ctx, draw(s, trials));
}
