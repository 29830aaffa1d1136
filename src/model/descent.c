/* A point is a row of numbers, so that points can move between ranks:
 *   x (d)          the best so far
 *   trial (d)      where to look next, x + step direction
 *   direction (d)
 *   a few scalars, the indices of its starts, and its coordinates z (p) */
#include "model/descent.h"

#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "kernel/slopes.h"

#define ROUNDS    2000
#define TOLERANCE 1e-8  /* of a step, relative to the size of the objects */
#define NOISE     1e-14 /* of a value, relative to its parts */

enum { STARTS = 5 };
enum { VALUE, STEP, STATE, TRIED, START, SCALARS = START + STARTS };
enum { FRESH, WALKING, LOST, SETTLED, FAILED };

typedef struct descent {
    dkm_preimage *pre;
    const dkm_descent_rule *rule;
    dkm_idx d, width, starts;
    int rounds; /* left */
} descent;

static double *scalars(const descent *s, double *row)
{
    return row + 3 * s->d;
}

static int at_work(const descent *s, double *row)
{
    return scalars(s, row)[STATE] < SETTLED;
}

static double dot(const double *a, const double *b, dkm_idx d)
{
    double sum = 0;

    for (dkm_idx k = 0; k < d; k++)
        sum += a[k] * b[k];
    return sum;
}

/* Look next at x + step direction; a step too small to matter settles the point. */
static void set_trial(const descent *s, double *row)
{
    double *x = row, *trial = row + s->d, *direction = row + 2 * s->d, *c = scalars(s, row);
    double length = c[STEP] * sqrt(dot(direction, direction, s->d));

    for (dkm_idx k = 0; k < s->d; k++)
        trial[k] = x[k] + c[STEP] * direction[k];
    if (!(length > TOLERANCE * s->pre->expansion.size))
        c[STATE] = SETTLED;
}

/* The step that would have been right for the last one (Barzilai and Borwein). */
static double learn_step(const descent *s, const double *old, const double *new, double step)
{
    double along = dot(old, old, s->d), change = along - dot(old, new, s->d);

    return change > 0 ? step * along / change : 2.0 * step;
}

static double first_step(const descent *s, const double *direction)
{
    double length = sqrt(dot(direction, direction, s->d));

    return s->rule->whole_steps ? 1.0 : length > 0 ? 0.1 * s->pre->expansion.size / length : 0.0;
}

/* The trial is the best so far: turn to where to go from there. */
static void accept(const descent *s, const dkm_descent_point *point, double value, double *row,
                   double *next)
{
    double *direction = row + 2 * s->d, *c = scalars(s, row);

    memcpy(row, point->t, (size_t)s->d * sizeof *row);
    c[VALUE] = value;
    if (s->rule->direction(point, next)) {
        c[STATE] = LOST;
        return;
    }
    c[STEP] = s->rule->whole_steps || c[STATE] == FRESH ? first_step(s, next)
                                                        : learn_step(s, direction, next, c[STEP]);
    c[STATE] = WALKING;
    memcpy(direction, next, (size_t)s->d * sizeof *next);
    set_trial(s, row);
}

/* What to do with a point, now that its trial is known. */
static void advance(const descent *s, const dkm_descent_point *point, double *row, double *next)
{
    double *c = scalars(s, row), value = point->self - 2.0 * point->inner;
    double noise = NOISE * (fabs(point->self) + 2.0 * fabs(point->inner));

    if (c[STATE] == FRESH ? isfinite(value) : value <= c[VALUE] + noise) {
        accept(s, point, value, row, next);
    } else if (c[STATE] == FRESH) {
        c[STATE] = LOST;
    } else {
        c[STEP] *= 0.5;
        set_trial(s, row);
    }
}

static dkm_local open_pull(dkm_ctx *ctx, dkm_idx n, dkm_idx d, dkm_pull *pull)
{
    dkm_local local = DKM_LOCAL_OK;

    DKM_STEP(dkm_alloc(ctx, n, &pull->inner));
    DKM_STEP(dkm_alloc(ctx, n, &pull->by_a));
    DKM_STEP(dkm_alloc(ctx, n * d, &pull->by_s));
out:
    return local;
}

static void close_pull(dkm_pull *pull)
{
    DKM_FREE(pull->inner);
    DKM_FREE(pull->by_a);
    DKM_FREE(pull->by_s);
}

/* T is room for the next directions, now that its trials are known. */
static void advance_all(const descent *s, dkm_data *T, dkm_data *points, dkm_pull *pull)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++) {
        double *row = dkm_data_values(points) + i * s->width, *next = dkm_data_values(T) + i * s->d;
        double by_s, by_a = 0, self = 0, aa = dot(row + s->d, row + s->d, s->d);
        dkm_dots same = {1, &aa, &aa, &aa};
        dkm_slopes slopes = {&self, &by_s, &by_a};
        if (!at_work(s, row))
            continue;
        dkm_kernel_slopes(s->pre->e->base.kernel, &same, &slopes);
        dkm_descent_point point = {s->d,          row + s->d, pull->by_s + i * s->d, pull->inner[i],
                                   pull->by_a[i], self,       by_s + 2.0 * by_a};
        advance(s, &point, row, next);
    }
}

static void take_trials(const descent *s, dkm_data *points, dkm_data *T)
{
    for (dkm_idx i = 0; i < dkm_data_local_rows(T); i++)
        memcpy(dkm_data_values(T) + i * s->d, dkm_data_values(points) + i * s->width + s->d,
               (size_t)s->d * sizeof(double));
}

/* Bring the lost points of this rank to their next starts; without one left they have failed. */
static dkm_status begin_anew(const descent *s, dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->base.ctx;
    dkm_idx n = dkm_data_local_rows(points), count = 0, *wanted = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, n, &wanted));
    for (dkm_idx i = 0; i < n; i++) {
        double *c = scalars(s, dkm_data_values(points) + i * s->width);
        if (c[STATE] == LOST)
            wanted[count++] = (dkm_idx)c[START + (dkm_idx)fmod(c[TRIED], (double)s->starts)];
    }
    DKM_TRY(dkm_data_fetch(s->pre->e->base.X, count, wanted, &got));
    count = 0;
    for (dkm_idx i = 0; i < n; i++) {
        double *row = dkm_data_values(points) + i * s->width, *c = scalars(s, row);
        if (c[STATE] != LOST)
            continue;
        memcpy(row, got.values + count * s->d, (size_t)s->d * sizeof *row);
        memcpy(row + s->d, got.values + count++ * s->d, (size_t)s->d * sizeof *row);
        c[STATE] = c[TRIED] < (double)s->starts ? FRESH : FAILED;
        c[TRIED] += 1;
    }
out:
    dkm_objs_clear(&got);
    DKM_FREE(wanted);
    return status;
}

/* How many points, over all ranks, are at work, and how many of them are lost. */
static void count_points(const descent *s, dkm_data *points, dkm_idx counts[2])
{
    counts[0] = counts[1] = 0;
    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++) {
        double *row = dkm_data_values(points) + i * s->width;
        counts[0] += at_work(s, row);
        counts[1] += scalars(s, row)[STATE] == LOST;
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(points)));
}

/* Rounds until no more than half of the points are at work, or the rounds are over. */
static dkm_status walk(descent *s, dkm_data *points, const dkm_dmat *A, dkm_idx *left)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->base.ctx;
    dkm_idx n = dkm_data_rows(points), counts[2];
    dkm_data *T = NULL;
    dkm_pull pull = {0};

    DKM_TRY(dkm_data_create_dense(ctx, n, s->d, &T));
    DKM_AGREE(ctx, open_pull(ctx, dkm_data_local_rows(T), s->d, &pull));
    for (count_points(s, points, counts); 2 * counts[0] > n && s->rounds > 0; s->rounds--) {
        if (counts[1] > 0)
            DKM_TRY(begin_anew(s, points));
        take_trials(s, points, T);
        DKM_TRY(dkm_expansion_pull(&s->pre->expansion, T, A, &pull));
        advance_all(s, T, points, &pull);
        count_points(s, points, counts);
    }
    *left = counts[0];
out:
    close_pull(&pull);
    dkm_data_destroy(&T);
    return status;
}

/* The points still at work, on every rank. */
static void list_at_work(const descent *s, dkm_data *points, dkm_idx *list)
{
    dkm_ctx *ctx = dkm_data_ctx(points);
    dkm_idx mine = 0, before = 0, all = 0;

    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++)
        mine += at_work(s, dkm_data_values(points) + i * s->width);
    MPI_Scan(&mine, &before, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
    memset(list, 0, (size_t)all * sizeof *list);
    before -= mine;
    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++)
        if (at_work(s, dkm_data_values(points) + i * s->width))
            list[before++] = dkm_data_local_first(points) + i;
    MPI_Allreduce(MPI_IN_PLACE, list, (int)all, MPI_INT64_T, MPI_SUM, dkm_ctx_comm(ctx));
}

/* Rows of @p some, which are those of @p points named in the list, back to where they came from. */
static dkm_status put_back(const descent *s, const dkm_data *some, const dkm_idx *list,
                           dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(points);
    dkm_idx first = dkm_data_local_first(points), end = first + dkm_data_local_rows(points);
    dkm_idx count = 0, *wanted = NULL;
    dkm_objs got = {0};

    DKM_AGREE(ctx, dkm_alloc(ctx, end - first, &wanted));
    for (dkm_idx k = 0; k < dkm_data_rows(some); k++)
        if (list[k] >= first && list[k] < end)
            wanted[count++] = k;
    DKM_TRY(dkm_data_fetch(some, count, wanted, &got));
    for (dkm_idx k = 0; k < count; k++)
        memcpy(dkm_data_values(points) + (list[wanted[k]] - first) * s->width,
               got.values + k * s->width, (size_t)s->width * sizeof(double));
out:
    dkm_objs_clear(&got);
    DKM_FREE(wanted);
    return status;
}

static dkm_status weights(const descent *s, dkm_data *points, dkm_dmat **A)
{
    dkm_status status = DKM_OK;
    dkm_idx p = s->pre->e->p;
    dkm_data *Z = NULL;

    DKM_TRY(dkm_data_create_dense(dkm_data_ctx(points), dkm_data_rows(points), p, &Z));
    for (dkm_idx i = 0; i < dkm_data_local_rows(Z); i++)
        memcpy(dkm_data_values(Z) + i * p, dkm_data_values(points) + (i + 1) * s->width - p,
               (size_t)p * sizeof(double));
    DKM_TRY(dkm_expansion_weights(s->pre->e, Z, A));
out:
    dkm_data_destroy(&Z);
    return status;
}

static dkm_status descend(descent *s, dkm_data *points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = s->pre->e->base.ctx;
    dkm_idx left = 0, *list = NULL;
    dkm_data *some = NULL;
    dkm_dmat *A = NULL;

    DKM_TRY(weights(s, points, &A));
    DKM_TRY(walk(s, points, A, &left));
    dkm_dmat_destroy(&A);
    if (left == 0 || s->rounds == 0)
        goto out;
    DKM_AGREE(ctx, dkm_alloc(ctx, left, &list));
    list_at_work(s, points, list);
    DKM_TRY(dkm_data_select(points, left, list, &some));
    DKM_TRY(descend(s, some));
    DKM_TRY(put_back(s, some, list, points));
out:
    dkm_data_destroy(&some);
    DKM_FREE(list);
    dkm_dmat_destroy(&A);
    return status;
}

/* Every point lost, with the training objects nearest to its Psi as starts. */
static dkm_status make_points(const descent *s, const dkm_data *Z, dkm_data **points)
{
    dkm_status status = DKM_OK;
    dkm_ctx *ctx = dkm_data_ctx(Z);
    dkm_idx n = dkm_data_local_rows(Z), p = dkm_data_cols(Z), *index = NULL;
    double *distance = NULL;

    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->starts, &index));
    DKM_AGREE(ctx, dkm_alloc(ctx, n * s->starts, &distance));
    DKM_TRY(dkm_nearest(Z, &s->pre->candidates, s->starts, index, distance));
    DKM_TRY(dkm_data_create_dense(ctx, dkm_data_rows(Z), s->width, points));
    for (dkm_idx i = 0; i < n; i++) {
        double *row = dkm_data_values(*points) + i * s->width, *c = scalars(s, row);
        c[STATE] = LOST;
        for (dkm_idx k = 0; k < s->starts; k++)
            c[START + k] = (double)index[i * s->starts + k];
        memcpy(row + s->width - p, dkm_data_values_const(Z) + i * p, (size_t)p * sizeof *row);
    }
out:
    DKM_FREE(distance);
    DKM_FREE(index);
    return status;
}

static void report(const descent *s, dkm_data *points)
{
    dkm_idx counts[2] = {0, 0};

    for (dkm_idx i = 0; i < dkm_data_local_rows(points); i++) {
        double *row = dkm_data_values(points) + i * s->width;
        counts[0] += scalars(s, row)[STATE] == FAILED;
        counts[1] += at_work(s, row);
    }
    MPI_Allreduce(MPI_IN_PLACE, counts, 2, MPI_INT64_T, MPI_SUM,
                  dkm_ctx_comm(dkm_data_ctx(points)));
    if (counts[0] > 0)
        dkm_say(dkm_data_ctx(points), DKM_WARN,
                "%s found no way from any start for %lld of %lld points: they get the nearest "
                "training object",
                s->rule->name, (long long)counts[0], (long long)dkm_data_rows(points));
    if (counts[1] > 0)
        dkm_say(dkm_data_ctx(points), DKM_WARN,
                "%s had not settled after %d rounds for %lld of %lld points", s->rule->name, ROUNDS,
                (long long)counts[1], (long long)dkm_data_rows(points));
}

dkm_status dkm_descent_prepare(dkm_preimage *pre)
{
    dkm_status status = DKM_OK;

    DKM_TRY(dkm_preimage_use_training(pre));
    DKM_TRY(dkm_expansion_open(&pre->expansion, pre->e));
out:
    return status;
}

dkm_idx dkm_descent_width(const dkm_preimage *pre)
{
    const dkm_embedding *e = pre->e;

    return 2 * dkm_data_rows(e->base.X) + 6 * dkm_data_cols(e->base.X) + SCALARS + e->p;
}

dkm_status dkm_descent_solve(dkm_preimage *pre, const dkm_descent_rule *rule, const dkm_data *Z,
                             dkm_data **Y)
{
    dkm_status status = DKM_OK;
    dkm_idx d = dkm_data_cols(pre->e->base.X), m = dkm_data_rows(pre->e->base.X);
    descent s = {pre, rule, d, 3 * d + SCALARS + pre->e->p, m < STARTS ? m : STARTS, ROUNDS};
    dkm_data *points = NULL, *found = NULL;

    DKM_TRY(make_points(&s, Z, &points));
    DKM_TRY(begin_anew(&s, points));
    DKM_TRY(descend(&s, points));
    report(&s, points);
    DKM_TRY(dkm_data_create_dense(pre->e->base.ctx, dkm_data_rows(Z), d, &found));
    for (dkm_idx i = 0; i < dkm_data_local_rows(found); i++)
        memcpy(dkm_data_values(found) + i * d, dkm_data_values(points) + i * s.width,
               (size_t)d * sizeof(double));
    *Y = found;
    found = NULL;
out:
    dkm_data_destroy(&found);
    dkm_data_destroy(&points);
    return status;
}
